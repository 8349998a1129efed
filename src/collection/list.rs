//! Listing names: in order, streaming, with a bounded number of them in memory.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::Collection;
use crate::disk::{Dir, Kind, PathError};
use crate::identity::{Prefix, RepositoryName};

/// So many names of one year are held at a time; a year of more is listed in several passes.
const WINDOW: usize = 1 << 17;

/// Which names are wanted.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Only those of this prefix.
    pub prefix: Option<Prefix>,
}

/// What is found where only items belong.
#[derive(Clone, Debug)]
pub(crate) enum Listed {
    /// A directory whose path is a name.
    Item(RepositoryName),
    /// Something else.
    Stray(PathBuf),
}

impl Collection {
    /// Calls `visit` for every name of an item, in order of prefix and date.
    ///
    /// A name is a directory at the right depth with a well-formed path; that it is whole is for
    /// `verify` to say.
    pub fn visit_names<E: From<PathError>>(
        &self,
        wanted: &Names,
        mut visit: impl FnMut(RepositoryName) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        self.visit_all(wanted, |listed| match listed {
            Listed::Item(name) => visit(name),
            Listed::Stray(_) => Ok(ControlFlow::Continue(())),
        })
        .map(|_| ())
    }

    /// Calls `visit` for every item and for everything else found among them.
    pub(crate) fn visit_all<E: From<PathError>>(
        &self,
        wanted: &Names,
        mut visit: impl FnMut(Listed) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        let (subdomain, word) = match &wanted.prefix {
            None => (None, None),
            Some(prefix) => {
                let (subdomain, word) = prefix.path_components();
                (Some(subdomain), Some(word))
            }
        };
        let root = self.root();
        for outer in level(root, Path::new(""), subdomain.as_deref(), is_subdomain, &mut visit)? {
            for inner in level(root, &outer, word.as_deref(), is_word, &mut visit)? {
                for year in level(root, &inner, None, is_year, &mut visit)? {
                    if visit_year(root, &year, &mut visit)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The directories of one level that can be part of a name, in order.
fn level<E: From<PathError>>(
    root: &Dir,
    path: &Path,
    only: Option<&str>,
    belongs: fn(&str) -> bool,
    visit: &mut impl FnMut(Listed) -> Result<ControlFlow<()>, E>,
) -> Result<Vec<PathBuf>, E> {
    let Some(dir) = root.open_dir_if_there(path)? else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        match entry.name.to_str() {
            Some(name) if entry.kind == Kind::Directory && belongs(name) => {
                let bare = name.trim_end_matches('.');
                if only.is_none_or(|only| only.eq_ignore_ascii_case(bare)) {
                    names.push(name.to_owned());
                }
            }
            // The root also holds the settings, urepo's own directory and people's files.
            _ if path.as_os_str().is_empty() => {}
            _ => {
                if visit(Listed::Stray(path.join(&entry.name)))?.is_break() {
                    return Ok(Vec::new());
                }
            }
        }
    }
    // Years of five digits come after those of four.
    names.sort_by_cached_key(|name| {
        let digits = if is_year(name) { name.len() } else { usize::MAX };
        (digits, name.clone())
    });
    Ok(names.into_iter().map(|name| path.join(name)).collect())
}

fn visit_year<E: From<PathError>>(
    root: &Dir,
    year: &Path,
    visit: &mut impl FnMut(Listed) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let Some(dir) = root.open_dir_if_there(year)? else { return Ok(ControlFlow::Continue(())) };
    let mut after = None;
    loop {
        let window = next_names(&dir, after.as_deref(), WINDOW)?;
        for name in &window {
            let path = year.join(name);
            let listed = match path.to_str().map(RepositoryName::parse_as_found) {
                Some(Ok((found, _))) => Listed::Item(found),
                _ => Listed::Stray(path),
            };
            if visit(listed)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if window.len() < WINDOW {
            return Ok(ControlFlow::Continue(()));
        }
        after = window.last().cloned();
    }
}

/// The first `limit` entries of `dir` that come after `after`, in order of their bytes, which within
/// a year is the order of dates.
fn next_names(
    dir: &Dir,
    after: Option<&std::ffi::OsStr>,
    limit: usize,
) -> Result<Vec<std::ffi::OsString>, PathError> {
    let mut names = Vec::new();
    for entry in dir.entries()? {
        let name = entry?.name;
        if after.is_none_or(|after| name.as_os_str() > after) {
            names.push(name);
        }
        if names.len() == 2 * limit {
            names.select_nth_unstable(limit);
            names.truncate(limit);
        }
    }
    names.sort_unstable();
    names.truncate(limit);
    Ok(names)
}

fn is_subdomain(name: &str) -> bool {
    !name.starts_with('.') && name.bytes().any(|byte| byte.is_ascii_alphabetic()) && is_word(name)
}

fn is_word(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    !name.is_empty() && name.bytes().all(allowed)
}

/// Whether `name` is a year of a repository name.
pub(super) fn is_year(name: &str) -> bool {
    name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_digit())
}

//! Listing names: in one order, streaming, with a bounded number of them in memory.
//!
//! The order is by folded prefix, then by year as a number, then by the bytes of the last level, however
//! prefixes are spelt. So the lists of several collections can be merged.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::window::Window;
use crate::collection::Collection;
use crate::disk::{Dir, Kind, PathError};
use crate::identity::{Instant, Prefix, RepositoryName};

/// Which names are wanted.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Only those of this prefix.
    pub prefix: Option<Prefix>,
    /// Only those of this date and later ones.
    pub since: Option<Instant>,
    /// Only those of an earlier date.
    pub until: Option<Instant>,
}

impl Names {
    /// Those of `prefix`, of any date.
    pub fn of(prefix: Option<Prefix>) -> Names {
        Names { prefix, ..Names::default() }
    }

    /// Whether every name is wanted.
    pub fn is_all(&self) -> bool {
        self.prefix.is_none() && !self.has_dates()
    }

    /// Whether only names of some dates are wanted.
    pub fn has_dates(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Whether `name` is wanted.
    pub fn contains(&self, name: &RepositoryName) -> bool {
        let prefix = self.prefix.as_ref();
        self.contains_date(name)
            && prefix.is_none_or(|wanted| name.prefix().folded() == wanted.folded())
    }

    fn contains_date(&self, name: &RepositoryName) -> bool {
        !self.has_dates() || {
            let date = name.instant();
            self.since.is_none_or(|since| date >= since)
                && self.until.is_none_or(|until| date < until)
        }
    }
}

/// An entry where only items belong.
#[derive(Debug)]
pub enum Listed {
    /// A directory whose path is a name.
    Item(RepositoryName),
    /// Another entry, by its path in the collection.
    Stray(PathBuf),
    /// A link where a directory above items belongs, by its path in the collection, with the error of listing
    /// it: links are not followed.
    Link(PathBuf, PathError),
    /// A directory above items that cannot be listed; its entries are unknown.
    Unreadable(PathError),
}

/// The order in which names are listed; spellings of one name are equal.
pub(crate) fn listing_order(a: &RepositoryName, b: &RepositoryName) -> Ordering {
    let (a, b) = (a.components(), b.components());
    let folded = |at: usize| lower(a[at]).cmp(lower(b[at]));
    let year = || number(a[2]).cmp(&number(b[2])).then_with(|| a[2].cmp(b[2]));
    folded(0).then_with(|| folded(1)).then_with(year).then_with(|| a[3].cmp(b[3]))
}

impl Collection {
    /// Calls `visit` for every name of an item, in order of prefix and date.
    ///
    /// A name is a directory at the right depth with a well-formed path; whether it is a whole item is for
    /// `verify` to check. A directory that cannot be listed ends the visit with its error; to continue, use
    /// [`Collection::visit_all`].
    pub fn visit_names<E: From<PathError>>(
        &self,
        wanted: &Names,
        mut visit: impl FnMut(RepositoryName) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        self.visit_all(wanted, |listed| match listed {
            Listed::Item(name) => visit(name),
            Listed::Stray(_) => Ok(ControlFlow::Continue(())),
            Listed::Link(_, error) | Listed::Unreadable(error) => Err(error.into()),
        })
        .map(|_| ())
    }

    /// Calls `visit` for every wanted item and every other entry among them, in the same order.
    pub fn visit_all<E>(
        &self,
        wanted: &Names,
        visit: impl FnMut(Listed) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        Walk { root: self.root(), collection: Some(self), visit }.dated(wanted)
    }
}

/// The same for a tree that need not be a collection.
pub(crate) fn visit_tree<E>(
    root: &Dir,
    wanted: &Names,
    visit: impl FnMut(Listed) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    Walk { root, collection: None, visit }.dated(wanted)
}

/// The directories of all years, with the spellings of one together, and the errors of directories above them
/// that could not be listed.
pub(in crate::collection) fn years(
    collection: &Collection,
    wanted: &Names,
) -> (Vec<Vec<PathBuf>>, Vec<PathError>) {
    let (mut years, mut errors) = (Vec::new(), Vec::new());
    let visit = |listed| {
        if let Listed::Link(_, error) | Listed::Unreadable(error) = listed {
            errors.push(error);
        }
        Ok::<_, Infallible>(ControlFlow::Continue(()))
    };
    let mut walk = Walk { root: collection.root(), collection: Some(collection), visit };
    let visited = walk.each_year(wanted, |_, year| {
        years.push(year.to_vec());
        Ok(())
    });
    debug_assert!(visited.is_ok(), "nothing ends it");
    (years, errors)
}

/// Why a visit ends before its end.
enum Stop<E> {
    /// The visitor wants no more.
    Enough,
    Failed(E),
}

struct Walk<'a, V> {
    root: &'a Dir,
    /// The collection of `root`; `None` for a tree that is not a collection.
    collection: Option<&'a Collection>,
    visit: V,
}

/// A level of the tree above the items.
struct Level {
    belongs: fn(&str) -> bool,
    /// The sort key of directories; directories with the same key are spellings of one name.
    key: fn(&str) -> Key,
}

/// The length of a number in digits, the number, and a text.
type Key = (usize, String, String);

const SUBDOMAIN: Level = Level { belongs: is_subdomain, key: folded };
const WORD: Level = Level { belongs: is_word, key: folded };
const YEAR: Level = Level {
    belongs: is_year,
    key: |year| {
        let (digits, number) = number(year);
        (digits, number.to_owned(), year.to_owned())
    },
};

impl<E, V: FnMut(Listed) -> Result<ControlFlow<()>, E>> Walk<'_, V> {
    /// Visits the wanted names; the visit breaks when `visit` does.
    fn dated(self, wanted: &Names) -> Result<ControlFlow<()>, E> {
        let Walk { root, collection, mut visit } = self;
        let visit = |listed| match listed {
            Listed::Item(name) if !wanted.contains_date(&name) => Ok(ControlFlow::Continue(())),
            listed => visit(listed),
        };
        match (Walk { root, collection, visit }).each_year(wanted, Walk::year) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(Stop::Enough) => Ok(ControlFlow::Break(())),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn has_level(&self, path: &Path, name: &str) -> bool {
        self.collection.map_or(!path.as_os_str().is_empty(), |it| it.has_level(path, name))
    }

    /// Calls `visit` with the directories of each year, one for each spelling of its prefix.
    fn each_year(
        &mut self,
        wanted: &Names,
        mut visit: impl FnMut(&mut Self, &[PathBuf]) -> Result<(), Stop<E>>,
    ) -> Result<(), Stop<E>> {
        let (subdomain, word) = wanted.prefix.as_ref().map(Prefix::path_components).unzip();
        let root = [PathBuf::new()];
        for outer in self.level(&root, &SUBDOMAIN, subdomain.as_deref())? {
            for inner in self.level(&outer, &WORD, word.as_deref())? {
                for year in self.level(&inner, &YEAR, None)? {
                    visit(self, &year)?;
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, listed: Listed) -> Result<(), Stop<E>> {
        match (self.visit)(listed) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => Err(Stop::Enough),
            Err(error) => Err(Stop::Failed(error)),
        }
    }

    /// The directories below `above` that can be part of a name, in order, with spellings of one name
    /// together.
    fn level(
        &mut self,
        above: &[PathBuf],
        level: &Level,
        only: Option<&str>,
    ) -> Result<Vec<Vec<PathBuf>>, Stop<E>> {
        let mut found = Vec::new();
        for path in above {
            let before = found.len();
            if let Err(error) = self.directories(path, level, only, &mut found)? {
                found.truncate(before);
                self.tell(Listed::Unreadable(error))?;
            }
        }
        found.sort_unstable();
        let groups = found.chunk_by(|(a, _), (b, _)| a == b);
        Ok(groups.map(|group| group.iter().map(|(_, path)| path.clone()).collect()).collect())
    }

    /// Adds the directories in `path` to `found`; the inner error is that of listing it.
    fn directories(
        &mut self,
        path: &Path,
        level: &Level,
        only: Option<&str>,
        found: &mut Vec<(Key, PathBuf)>,
    ) -> Result<Result<(), PathError>, Stop<E>> {
        let dir = match self.root.open_dir_if_there(path) {
            Ok(Some(dir)) => dir,
            Ok(None) => return Ok(Ok(())),
            Err(error) => return Ok(Err(error)),
        };
        let entries = match dir.entries() {
            Ok(entries) => entries,
            Err(error) => return Ok(Err(error)),
        };
        let is_wanted = |name: &str| {
            only.is_none_or(|only| only.eq_ignore_ascii_case(name.trim_end_matches('.')))
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return Ok(Err(error)),
            };
            match entry.name.to_str() {
                Some(name) if entry.kind == Kind::Directory && (level.belongs)(name) => {
                    if is_wanted(name) {
                        found.push(((level.key)(name), path.join(name)));
                    }
                }
                Some(name)
                    if entry.kind == Kind::Link
                        && (level.belongs)(name)
                        && is_wanted(name)
                        && self.has_level(path, name) =>
                {
                    let path = path.join(name);
                    let error = PathError::link("list", self.root.path_of(&path));
                    self.tell(Listed::Link(path, error))?;
                }
                // The root also holds the settings, urepo's own directory and people's files.
                _ if path.as_os_str().is_empty() => {}
                _ => self.tell(Listed::Stray(path.join(&entry.name)))?,
            }
        }
        Ok(Ok(()))
    }

    /// Visits the entries of the directories of one year, one directory for each spelling of its prefix.
    fn year(&mut self, spellings: &[PathBuf]) -> Result<(), Stop<E>> {
        let mut dirs = Vec::new();
        for path in spellings {
            match self.root.open_dir_if_there(path) {
                Ok(dir) => dirs.push(dir),
                Err(error) => {
                    dirs.push(None);
                    self.tell(Listed::Unreadable(error))?;
                }
            }
        }
        let mut after: Option<(OsString, usize)> = None;
        loop {
            let last = after.as_ref().map(|(name, dir)| (&**name, *dir));
            let listed = dirs.iter().enumerate().filter_map(|(at, dir)| Some((at, dir.as_ref()?)));
            let window = match Window::of(listed, last, Window::LIMIT) {
                Ok(window) => window,
                Err((unreadable, error)) => {
                    dirs[unreadable] = None;
                    self.tell(Listed::Unreadable(error))?;
                    continue;
                }
            };
            for (name, spelling) in window.iter() {
                let path = spellings[spelling].join(name);
                self.tell(match path.to_str().map(RepositoryName::parse_as_found) {
                    Some(Ok((found, _))) => Listed::Item(found),
                    _ => Listed::Stray(path),
                })?;
            }
            if window.len() < Window::LIMIT {
                return Ok(());
            }
            after = window.iter().next_back().map(|(name, dir)| (name.to_owned(), dir));
        }
    }
}

fn folded(name: &str) -> Key {
    (0, name.trim_end_matches('.').to_ascii_lowercase(), String::new())
}

fn lower(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().map(|byte| byte.to_ascii_lowercase())
}

/// A year as a number of any length, so that years of five digits come after those of four.
pub(super) fn number(year: &str) -> (usize, &str) {
    let digits = year.trim_start_matches('0');
    (digits.len(), digits)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_they_are_listed() {
        let names = [
            "br/archive/2009/02.16.17.46",
            "BR/archive.8080/2009/02.16.17.46",
            "inpe.br/b/0999/01.01.00.00",
            "inpe.br/B/2009/02.16.17.46",
            "Inpe.br./b/2009/02.16.17.46.00",
            "inpe.br/b/2009/02.16.17.46.00.5",
            "inpe.br/b/2009/12.31.23.59",
            "INPE.br/b/10000/01.01.00.00",
            "inpe.br/c/2009/02.16.17.46",
        ];
        let read = |text: &str| RepositoryName::parse_as_found(text).expect(text).0;
        for pair in names.windows(2) {
            assert!(listing_order(&read(pair[0]), &read(pair[1])).is_lt(), "{pair:?}");
        }
        let spellings = ["inpe.br/b/2009/02.16.17.46", "INPE.br./B/2009/02.16.17.46"].map(read);
        assert!(listing_order(&spellings[0], &spellings[1]).is_eq());
        assert_eq!(spellings[0], spellings[1]);
    }
}

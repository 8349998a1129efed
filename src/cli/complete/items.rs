//! Items by what was typed of them: a path level by level, or the beginning of a date.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clap_complete::engine::CompletionCandidate;
use urepo::collection::{Collection, Names};
use urepo::disk::{Dir, Kind, PathError};
use urepo::identity::RepositoryName;

/// A person who pressed a key waits no longer.
const PATIENCE: Duration = Duration::from_millis(400);

/// More than these are no help.
const LIMIT: usize = 200;

/// Levels of directories above an item, and its own.
const LEVELS: usize = 4;

pub(super) fn candidates(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(typed), Some(collection)) = (current.to_str(), super::collection()) else {
        return Vec::new();
    };
    let is_date = typed.starts_with(|it: char| it.is_ascii_digit()) && !typed.contains('/');
    let found =
        if is_date { by_date(&collection, typed) } else { by_path(collection.root(), typed) };
    found.into_iter().map(CompletionCandidate::new).collect()
}

/// The ends of identifiers that begin with `typed`, as far as they are found in time.
fn by_date(collection: &Collection, typed: &str) -> Vec<String> {
    let begun = Instant::now();
    let mut found = Vec::new();
    // What was found before an error is offered.
    let _ = collection.visit_names(&Names::default(), |name| {
        let leaf = name.as_str().rsplit('/').next().unwrap_or_default();
        if leaf.starts_with(typed) && !found.iter().any(|it| it == leaf) {
            found.push(leaf.to_owned());
        }
        let is_enough = found.len() >= LIMIT || begun.elapsed() > PATIENCE;
        Ok::<_, PathError>(if is_enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    });
    found
}

/// The directories, or at the last level items, whose paths begin with `typed`. A level with one directory is
/// passed.
fn by_path(root: &Dir, typed: &str) -> Vec<String> {
    let begun = Instant::now();
    let (mut above, mut start) = match typed.rsplit_once('/') {
        Some((above, start)) => (format!("{above}/"), start.to_lowercase()),
        None => (String::new(), typed.to_lowercase()),
    };
    if above.starts_with('.') || above.contains("/.") {
        return Vec::new();
    }
    loop {
        let level = above.matches('/').count();
        if level >= LEVELS || begun.elapsed() > PATIENCE {
            return Vec::new();
        }
        let Ok(dir) = root.open_dir(above.trim_end_matches('/').to_lowercase()) else {
            return Vec::new();
        };
        let Ok(entries) = dir.entries() else { return Vec::new() };
        // Urepo's own directories, and others of no item, are in the root alone.
        let is_dir = |name: &str| !name.starts_with('.') && (level > 0 || name.contains('.'));
        let mut names: Vec<String> = entries
            .take_while(|_| begun.elapsed() < PATIENCE)
            .flatten()
            .filter(|entry| entry.kind == Kind::Directory)
            .filter_map(|entry| entry.name.into_string().ok())
            .filter(|name| name.to_lowercase().starts_with(&start) && is_dir(name))
            .collect();
        names.sort();
        names.truncate(LIMIT);
        if level + 1 == LEVELS {
            let paths = names.into_iter().map(|name| format!("{above}{name}"));
            return paths.filter(|path| path.parse::<RepositoryName>().is_ok()).collect();
        }
        match &names[..] {
            [only] => above += &format!("{only}/"),
            _ => return names.into_iter().map(|name| format!("{above}{name}/")).collect(),
        }
        start.clear();
    }
}

//! Items for a typed beginning: a path level by level, or a date.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clap_complete::engine::CompletionCandidate;
use urepo::collection::{Collection, Names, StoredItem};
use urepo::disk::{Dir, Kind, PathError, Watcher};
use urepo::identity::RepositoryName;

/// Limit on the time after a key press.
const PATIENCE: Duration = Duration::from_millis(400);

/// Limit on candidates.
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

/// The same, and the files of an item after a slash.
pub(super) fn with_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = candidates(current);
    if let (true, Some(typed), Some(collection)) =
        (found.is_empty(), current.to_str(), super::collection())
    {
        let files = files(&collection, typed).unwrap_or_default();
        found.extend(files.into_iter().map(CompletionCandidate::new));
    }
    found
}

/// The files and directories below `doc/` of the item in `typed` that begin with the rest of it.
fn files(collection: &Collection, typed: &str) -> Option<Vec<String>> {
    let slash = |(at, _)| {
        let item = item_of(collection, &typed[..at])?;
        Some((item, at + 1))
    };
    let (item, at) = typed.match_indices('/').find_map(slash)?;
    let (above, start) = typed[at..].rsplit_once('/').unwrap_or(("", &typed[at..]));
    if above.split('/').any(|level| level == "..") {
        return None;
    }
    let before = &typed[..typed.len() - start.len()];
    let dir = Dir::open_no_follow(&item.payload_path().join(above), Watcher::default()).ok()?;
    let begun = Instant::now();
    let entries = dir.entries().ok()?.take_while(|_| begun.elapsed() < PATIENCE).flatten();
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.name.into_string().ok()?;
            let slash = if entry.kind == Kind::Directory { "/" } else { "" };
            let is_meant = name.starts_with(start) && !name.contains(char::is_control);
            is_meant.then(|| format!("{before}{name}{slash}"))
        })
        .collect();
    found.sort();
    found.truncate(LIMIT);
    Some(found)
}

/// The item with the identifier `text`, or the only one whose identifier ends in it.
fn item_of(collection: &Collection, text: &str) -> Option<StoredItem> {
    if let Ok(name) = text.parse::<RepositoryName>() {
        return collection.item(&name).ok();
    }
    let is_date = text.starts_with(|it: char| it.is_ascii_digit()) && !text.contains('/');
    let found = if is_date { names(collection, |leaf| leaf == text) } else { Vec::new() };
    let [name] = &found[..] else { return None };
    collection.item(name).ok()
}

/// The ends of identifiers that begin with `typed`, if found in time.
fn by_date(collection: &Collection, typed: &str) -> Vec<String> {
    let found = names(collection, |leaf| leaf.starts_with(typed));
    let mut leaves: Vec<_> = found.iter().map(|name| leaf_of(name).to_owned()).collect();
    leaves.sort();
    leaves.dedup();
    leaves
}

fn leaf_of(name: &RepositoryName) -> &str {
    name.as_str().rsplit('/').next().unwrap_or_default()
}

/// The identifiers whose last level is `meant`, if found in time.
fn names(collection: &Collection, meant: impl Fn(&str) -> bool) -> Vec<RepositoryName> {
    let begun = Instant::now();
    let mut found = Vec::new();
    // Candidates found before an error are offered.
    let _ = collection.visit_names(&Names::default(), |name| {
        if meant(leaf_of(&name)) {
            found.push(name);
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
        // urepo's own directory, and others without items, are only in the root.
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

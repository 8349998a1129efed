//! Completion in shells: words of the command line, items by their paths or dates, and collections. The script
//! of a shell runs urepo with the words typed so far as arguments.
//!
//! Nothing is written to stderr, and nothing takes long: candidates that are not found in time are not
//! offered.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use urepo::collection::{Collection, Names, discover};
use urepo::disk::{Dir, Kind, PathError, Watcher};
use urepo::identity::RepositoryName;

use super::args::definitions;
use super::config::{self, Config, Given};

/// The variable that requests completion, with the name of a shell. The script of the shell sets it.
pub(super) const VARIABLE: &str = "UREPO_COMPLETE";

/// Limit on the time after a key press.
const PATIENCE: Duration = Duration::from_millis(400);

/// Limit on candidates.
const LIMIT: usize = 200;

/// Levels of directories above an item, and its own.
const LEVELS: usize = 4;

/// Prints candidates if a shell requests them, and returns whether one did.
pub(super) fn answer() -> bool {
    let answered = CompleteEnv::with_factory(|| with_candidates(definitions()))
        .var(VARIABLE)
        .bin("urepo")
        .completer("urepo")
        .try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref());
    // A shell shows nothing if there are no candidates.
    answered.unwrap_or(true)
}

/// Adds candidates to each argument, by the name of its value.
fn with_candidates(command: clap::Command) -> clap::Command {
    command.mut_subcommands(with_candidates).mut_args(|argument| {
        let name =
            argument.get_value_names().unwrap_or_default().first().map_or("", |it| it.as_str());
        let completer: fn(&OsStr) -> Vec<CompletionCandidate> = match name {
            "COLLECTION" => collections,
            "ITEM|COLLECTION" => |it| [collections(it), items(it)].into_iter().flatten().collect(),
            _ if name.split(['|', '[']).any(|it| it == "ITEM") => items,
            _ => return argument,
        };
        argument.add(ArgValueCompleter::new(completer))
    })
}

/// The collections of the settings that begin with the typed text, and directories.
fn collections(current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let known = settings(None).map(|config| config.collections).unwrap_or_default();
    let known = known.into_keys().filter(|name| name.starts_with(&*typed));
    let mut found: Vec<_> = known.map(CompletionCandidate::new).collect();
    found.extend(PathCompleter::dir().complete(current));
    found
}

fn settings(collection: Option<OsString>) -> Option<Config> {
    let given = Given { collection, jobs: None };
    Config::load(&given, |name| std::env::var_os(name), &config::files()).ok()
}

/// The collection of the words typed so far, or else of the settings or the current directory.
fn collection() -> Option<Collection> {
    let config = settings(typed_collection(std::env::args_os()))?;
    let current = std::env::current_dir().ok()?;
    let path = match &config.collection {
        Some(named) => match named.value.to_str().and_then(|name| config.collections.get(name)) {
            Some(known) => known.value.clone(),
            None => current.join(&named.value),
        },
        None => discover::enclosing(&current).ok()?,
    };
    Collection::open(&path, &Watcher::default()).ok()
}

/// The value of `-c` among the words typed so far.
fn typed_collection(words: impl Iterator<Item = OsString>) -> Option<OsString> {
    let mut words = words.skip_while(|word| word != "--").skip(1);
    while let Some(word) = words.next() {
        match word.to_str()? {
            "-c" | "--collection" => return words.next(),
            text => {
                if let Some(value) = text.strip_prefix("--collection=") {
                    return Some(value.into());
                }
            }
        }
    }
    None
}

/// Items for a typed beginning: a path level by level, or a date.
fn items(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(typed), Some(collection)) = (current.to_str(), collection()) else {
        return Vec::new();
    };
    let is_date = typed.starts_with(|it: char| it.is_ascii_digit()) && !typed.contains('/');
    let found =
        if is_date { by_date(&collection, typed) } else { by_path(collection.root(), typed) };
    found.into_iter().map(CompletionCandidate::new).collect()
}

/// The ends of identifiers that begin with `typed`, if found in time.
fn by_date(collection: &Collection, typed: &str) -> Vec<String> {
    let begun = Instant::now();
    let mut leaves = Vec::new();
    // Candidates found before an error are offered.
    let _ = collection.visit_names(&Names::default(), |name| {
        let leaf = name.as_str().rsplit('/').next().unwrap_or_default();
        if leaf.starts_with(typed) {
            leaves.push(leaf.to_owned());
        }
        let is_enough = leaves.len() >= LIMIT || begun.elapsed() > PATIENCE;
        Ok::<_, PathError>(if is_enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    });
    leaves.sort();
    leaves.dedup();
    leaves
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collection_is_the_one_that_was_typed() {
        let typed = |line: &str| typed_collection(line.split(' ').map(OsString::from));
        assert_eq!(typed("urepo -- urepo -c arc show 11"), Some("arc".into()));
        assert_eq!(typed("urepo -- urepo show --collection=arc 11"), Some("arc".into()));
        assert_eq!(typed("urepo -- urepo show 11"), None);
        assert_eq!(typed("urepo -c other -- urepo show"), None);
    }
}

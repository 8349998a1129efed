//! Completion in shells: words of the command line, and existing items, collections, states, terms and pages.
//! The script of a shell runs urepo with the words typed so far as arguments.
//!
//! Nothing is written to stderr, and nothing takes long: candidates that are not found in time are not
//! offered.

use std::ffi::{OsStr, OsString};

use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use urepo::collection::discover;
use urepo::disk::Watcher;
use urepo::sidecar::TERMS;

use super::config::{self, Config, Given};

mod items;

/// The variable that requests completion, with the name of a shell. The script of the shell sets it.
pub(super) const VARIABLE: &str = "UREPO_COMPLETE";

/// Prints candidates if a shell requests them, and returns whether one did.
pub(super) fn answer() -> bool {
    let answered = CompleteEnv::with_factory(|| with_candidates(super::definitions()))
        .var(VARIABLE)
        .bin("urepo")
        .completer("urepo")
        .try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref());
    // A shell shows nothing if there are no candidates.
    answered.unwrap_or(true)
}

/// Adds candidates to each argument, by the name of its value.
fn with_candidates(command: clap::Command) -> clap::Command {
    let is_man = command.get_name() == "man";
    command.mut_subcommands(with_candidates).mut_args(|argument| {
        let id = argument.get_id().as_str();
        let name =
            argument.get_value_names().unwrap_or_default().first().map_or("", |it| it.as_str());
        let completer: fn(&OsStr) -> Vec<CompletionCandidate> = match (id, name) {
            ("page", _) if is_man => |it| among(it, &pages()),
            ("state", _) if argument.get_possible_values().is_empty() => {
                |it| among(it, &["Original", "Copy", "Deleted"])
            }
            (_, "COLLECTION") => collections,
            (_, "ITEM") => items::candidates,
            (_, "ITEM[/FILE]") => items::with_files,
            (_, "ITEM|COLLECTION") => {
                |it| [collections(it), items::candidates(it)].into_iter().flatten().collect()
            }
            (_, "TERM=TEXT" | "KEY=VALUE") => terms,
            (_, "ITEM|KEY=VALUE") => {
                |it| [items::candidates(it), terms(it)].into_iter().flatten().collect()
            }
            (_, "ITEM|KEY") => {
                |it| [items::candidates(it), among(it, &TERMS)].into_iter().flatten().collect()
            }
            (_, "TIME") if matches!(id, "since" | "until") => {
                |it| among(it, &["today", "yesterday", "7d"])
            }
            _ => return argument,
        };
        argument.add(ArgValueCompleter::new(completer))
    })
}

/// The `words` that begin with the typed text, in any case.
fn among(current: &OsStr, words: &[impl AsRef<str>]) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy().to_lowercase();
    let fits = |word: &&str| word.to_lowercase().starts_with(&typed);
    words.iter().map(AsRef::as_ref).filter(fits).map(CompletionCandidate::new).collect()
}

fn terms(current: &OsStr) -> Vec<CompletionCandidate> {
    among(current, &TERMS.map(|term| format!("{term}=")))
}

/// The pages of the manual.
fn pages() -> Vec<String> {
    let mut pages = vec!["urepo.toml".to_owned(), "item.toml".to_owned()];
    for command in super::definitions().get_subcommands() {
        let name = command.get_name();
        pages.push(name.to_owned());
        pages.extend(command.get_subcommands().map(|part| format!("{name}-{}", part.get_name())));
    }
    pages
}

/// The collections of the settings, and directories.
fn collections(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = match settings(None) {
        Some(config) => among(current, &config.collections.keys().collect::<Vec<_>>()),
        None => Vec::new(),
    };
    found.extend(PathCompleter::dir().complete(current));
    found
}

fn settings(collection: Option<OsString>) -> Option<Config> {
    let given = Given { collection, jobs: None, lock_wait: None, max_wait: None };
    Config::load(&given, |name| std::env::var_os(name), &config::files()).ok()
}

/// The collection of the words typed so far, or else of the settings or the current directory.
fn collection() -> Option<urepo::collection::Collection> {
    let config = settings(typed_collection(std::env::args_os()))?;
    let current = std::env::current_dir().ok()?;
    let path = match &config.collection {
        Some(named) => match named.value.to_str().and_then(|name| config.collections.get(name)) {
            Some(known) => known.value.clone(),
            None => current.join(&named.value),
        },
        None => discover::enclosing(&current).ok()?,
    };
    urepo::collection::Collection::open(&path, &Watcher::default()).ok()
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

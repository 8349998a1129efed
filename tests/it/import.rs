//! Imports: each source becomes one item, however often they are run, killed or run beside each other.

mod bags;
mod contradictions;
mod departures;
mod drop_folder;
mod faults;
mod groups;
mod last_moment;
mod leaving_out;
mod manifests;
mod names;
mod properties;
mod relations;
mod removing;
mod reruns;
mod sources;
mod tables;
mod updating;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::clock::Clock;
use urepo::collection::{Collection, Issuer};
use urepo::deposit::SourceRule;
use urepo::digest::Digest;
use urepo::disk::{Dir, Exclusion, Links, Watcher, resolved};
use urepo::holdings::Peers;
use urepo::import::{
    Bags, Became, Candidate, Columns, DefaultTitle, Defaults, Encoding, Event, Format,
    FoundCandidate, ImportError, Importer, KnownSources, Manifest, ManifestReader, Options,
    SourceList, SourceTree, Summary, TableOptions, Units, Update, plan, relate,
};
use urepo::interrupt::Interrupt;
use urepo::progress::NoProgress;
use urepo::sidecar::{Conditions, Metadata, Relations, Sidecar};

use crate::support::{TestClock, agent, issue_options, options, waiter, whole_items};

type Candidates = Box<dyn Iterator<Item = FoundCandidate> + Send>;

fn import_options() -> Options {
    Options {
        deposit: options(),
        skips_same: false,
        bags: Bags::Detect,
        settle: None,
        rejected: None,
        defaults: Defaults {
            metadata: Metadata::default(),
            conditions: Conditions::default(),
            condition_keys: Vec::new(),
            relations: Relations::default(),
            title: DefaultTitle::None,
        },
    }
}

/// Options of an import that treats the sources of items by this rule.
fn with_sources(rule: SourceRule) -> Options {
    let mut options = import_options();
    options.deposit.sources = rule;
    options
}

/// Imports `candidates` and gives what was told.
fn import(
    collection: &Collection,
    candidates: Candidates,
    options: Options,
    clock: &dyn Clock,
) -> Result<(Vec<Event>, Summary), ImportError> {
    let mut events = Vec::new();
    let summary = import_and_tell(collection, candidates, options, clock, &mut events)?;
    Ok((events, summary))
}

fn import_and_tell(
    collection: &Collection,
    candidates: Candidates,
    options: Options,
    clock: &dyn Clock,
    events: &mut Vec<Event>,
) -> Result<Summary, ImportError> {
    let (agent, interrupt) = (agent(), Interrupt::default());
    let known = KnownSources::open(collection, Some(&agent))?;
    let issuer = Issuer::new(collection, &agent, clock, &issue_options())?;
    let writer = collection.writer(&agent, &waiter(clock))?;
    let importer = Importer {
        known,
        issuer,
        writer,
        options,
        peers: Peers::default(),
        clock,
        progress: &NoProgress,
        interrupt: &interrupt,
    };
    let mut tell = |told| {
        events.extend(told);
        Ok(())
    };
    Ok(importer.run(candidates, &mut tell).0)
}

/// What an import would do.
fn planned(
    collection: &Collection,
    candidates: Candidates,
    options: Options,
    clock: &dyn Clock,
) -> (Vec<Event>, Summary) {
    let ledger = KnownSources::open(collection, None).unwrap();
    let mut events = Vec::new();
    let mut tell = |told| {
        events.extend(told);
        Ok(())
    };
    let interrupt = Interrupt::default();
    let summary =
        plan(&ledger, options, Peers::default(), clock, candidates, &mut tell, &interrupt);
    (events, summary)
}

fn tree(path: &Path, units: Units) -> Candidates {
    Box::new(
        SourceTree::open(path, units, Links::Keep, &Exclusion::default(), &Watcher::default())
            .unwrap(),
    )
}

fn write(root: &Path, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = root.join(relative);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The items with where they came from, in the order of their names.
fn origins(collection: &Collection) -> Vec<(String, Sidecar)> {
    let read = |name: String| {
        let item = collection.item(&name.parse().unwrap()).unwrap();
        let (sidecar, _) = item.sidecar().unwrap();
        let source = sidecar.origin.get("source").and_then(|source| source.as_str());
        (source.unwrap_or_default().to_owned(), sidecar)
    };
    whole_items(collection).into_iter().map(read).collect()
}

/// The last name of a source.
fn last(source: &str) -> &str {
    source.rsplit('/').next().unwrap_or_default()
}

/// What was told, in a few words each.
fn words(events: &[Event]) -> Vec<String> {
    let word = |event: &Event| match &event.became {
        Became::Updated { .. } | Became::NotUpdated { .. } => panic!("{event:?}"),
        Became::Planned { .. } | Became::Item(_) => format!("{} imported", last(&event.source)),
        Became::There(_) => format!("{} there", last(&event.source)),
        Became::Left(line) => format!("{} left: {line}", last(&event.source)),
        Became::OtherRules(_) => format!("{} there by other rules", last(&event.source)),
        Became::LeftOut(rule) => format!("{} left out: {rule}", last(&event.source)),
        Became::Twice => format!("{} twice", last(&event.source)),
        Became::Unsettled => format!("{} unsettled", last(&event.source)),
        Became::Failed(error) => match &event.row {
            Some(row) if !error.to_string().starts_with("line ") => {
                format!("line {}: {error}", row.line)
            }
            _ => error.to_string(),
        },
    };
    let mut words: Vec<_> = events.iter().map(word).collect();
    words.sort();
    words
}

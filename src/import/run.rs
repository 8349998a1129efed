//! Carrying out an import, or reporting its plan.

mod feed;
mod known;
mod report;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::candidate::{FoundCandidate, Refused, RowText};
use super::decide::{Criteria, Decision, Planner};
use super::look::Scanner;
use super::sources::Entry;
use super::{Became, Event, KnownSources, Options, RejectDirectory, Summary, Tell};
use crate::clock::Clock;
use crate::collection::{Collection, Issuer, Writer};
use crate::deposit::source_removal::SourceRemover;
use crate::deposit::{self, Depositor, SourcePlace, SourceRule};
use crate::digest::Digest;
use crate::holdings::Peers;
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::progress::{NoProgress, Progress, Scan};
use feed::RequestFeed;

/// Imports into a collection.
pub struct Importer<'a, 'l> {
    /// The ledger.
    pub known: KnownSources<'l>,
    /// The issuer of labels.
    pub issuer: Issuer<'a>,
    /// The right to write.
    pub writer: Writer,
    /// Options of the import.
    pub options: Options,
    /// The collections to check for identifiers in rows.
    pub peers: Peers<'a>,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// A source that is becoming an item.
struct Begun {
    key: Vec<u8>,
    /// The given name of its item.
    name: Option<RepositoryName>,
    /// The end of the ledger when this was decided.
    since: u64,
    place: SourcePlace,
    /// The place of the item's files: for a bag, its payload.
    payload: SourcePlace,
    row: Option<RowText>,
}

/// The shared state of the two sides of a run.
struct RunState<'a, 'l, 't> {
    known: Mutex<KnownSources<'l>>,
    under_way: Mutex<InFlight>,
    output: Mutex<Output<'t>>,
    looker: Scanner,
    rejected: Option<RejectDirectory>,
    /// For sources that are removed once they are items.
    remover: Option<SourceRemover<'a>>,
    skips_same: bool,
    clock: &'a dyn Clock,
    progress: &'a dyn Progress,
    interrupt: &'a Interrupt,
}

/// Sources that are becoming items, by the numbers of their requests.
#[derive(Default)]
struct InFlight {
    next: usize,
    begun: BTreeMap<usize, Begun>,
    keys: HashSet<Vec<u8>>,
    /// Items that are being published, by their content.
    contents: HashMap<Digest, usize>,
}

/// The receiver of outcomes, and their counts.
struct Output<'a> {
    tell: &'a mut dyn Tell,
    summary: Summary,
}

impl Output<'_> {
    fn tell(&mut self, events: Vec<Event>) {
        for event in &events {
            self.summary.count(event);
        }
        if let Err(error) = self.tell.tell(events) {
            self.summary.fatal.get_or_insert(error);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'l> Importer<'_, 'l> {
    /// Makes an item of each candidate without one, and reports the outcome of each. An item is reported
    /// after it is durable and in the ledger, which is returned.
    pub fn run(
        self,
        candidates: impl Iterator<Item = FoundCandidate> + Send,
        tell: &mut dyn Tell,
    ) -> (Summary, KnownSources<'l>) {
        let Importer { known, issuer, writer, mut options, peers, clock, progress, interrupt } =
            self;
        let collection = known.collection();
        let rejected = options.rejected.take();
        let skips_same = options.skips_same;
        let rules = rules(collection, rejected.as_ref(), options);
        // Sources are removed only after their lines are in the ledger.
        let deposit = deposit::Options { sources: SourceRule::Keep, ..rules.deposit };
        let until = (issuer.lock_wait(), interrupt);
        let remover =
            rules.takes_sources.then(|| SourceRemover::new(collection, writer.agent(), until));
        let looker = rules.looker.clone();
        let judge = match Planner::new((collection, peers), clock, rules, (progress, interrupt)) {
            Ok(judge) => judge,
            Err(error) => return (Summary { fatal: Some(error), ..Summary::default() }, known),
        };
        let shared = RunState {
            known: Mutex::new(known),
            under_way: Mutex::default(),
            output: Mutex::new(Output { tell, summary: Summary::default() }),
            looker,
            rejected,
            remover,
            skips_same,
            clock,
            progress,
            interrupt,
        };
        let feed = RequestFeed { shared: &shared, judge, candidates };
        let depositor = Depositor {
            collection,
            issuer,
            writer,
            options: deposit,
            peers,
            known: Some(&shared),
            clock,
            progress,
            interrupt,
        };
        let ended = depositor.run(feed, |outcomes| shared.report(outcomes));
        let RunState { known, output, .. } = shared;
        let mut summary = output.into_inner().unwrap_or_else(PoisonError::into_inner).summary;
        summary.notices = ended.notices;
        if let Some(error) = ended.fatal {
            summary.fatal.get_or_insert(error.into());
        }
        (summary, known.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reports the plan for each candidate.
pub fn plan(
    known: &KnownSources<'_>,
    mut options: Options,
    peers: Peers<'_>,
    clock: &dyn Clock,
    candidates: impl Iterator<Item = FoundCandidate>,
    tell: &mut dyn Tell,
    interrupt: &Interrupt,
) -> Summary {
    let mut output = Output { tell, summary: Summary::default() };
    let rejected = options.rejected.take();
    let rules = rules(known.collection(), rejected.as_ref(), options);
    let place = (known.collection(), peers);
    let mut judge = match Planner::new(place, clock, rules, (&NoProgress, interrupt)) {
        Ok(judge) => judge,
        Err(error) => return Summary { fatal: Some(error), ..Summary::default() },
    };
    let mut keys = HashSet::new();
    for found in candidates {
        if interrupt.requested() || output.summary.fatal.is_some() {
            break;
        }
        let candidate = match found {
            Ok(candidate) => candidate,
            Err(refused) => {
                output.tell(vec![event_of_refused(*refused)]);
                continue;
            }
        };
        let mut left_out = Vec::new();
        let decided = judge.key(&candidate).and_then(|key| {
            let decision =
                judge.decide(&candidate, &key, &|key, fits| known.of_source(key, fits))?;
            if let Decision::Deposit(wanted) = &decision {
                left_out = judge.rehearse(wanted)?;
                // Each source counts once, however often it is named.
                if !keys.insert(fingerprint(&key)) {
                    return Ok(None);
                }
            }
            Ok(Some(decision))
        });
        let became = match decided {
            Ok(Some(Decision::Deposit(wanted))) => {
                Became::Planned { files: wanted.files, bytes: wanted.bytes, left_out }
            }
            Ok(Some(decision)) => match settled(decision) {
                Some((became, _)) => became,
                None => continue,
            },
            Ok(None) => Became::Twice,
            Err(error) => Became::Failed(error),
        };
        output.tell(vec![Event::of(candidate, became)]);
    }
    output.summary
}

/// Finds the totals of an import, including sources that are already items.
pub fn measure(
    collection: &Collection,
    options: &Options,
    candidates: impl Iterator<Item = FoundCandidate>,
    scan: &Scan<'_>,
) -> Option<()> {
    let looker = Scanner { links: options.deposit.links, watcher: collection.watcher() };
    let rejected = options.rejected.as_ref().map(RejectDirectory::path);
    let is_passed = |path: &Path| rejected.is_some_and(|it| path.starts_with(it));
    for found in candidates {
        scan.goes_on()?;
        let bytes = match found {
            Ok(candidate) if is_passed(&candidate.place.path()) => continue,
            Ok(candidate) => looker.measure(&candidate, scan)?,
            Err(_) => 0,
        };
        scan.found(bytes)?;
    }
    Some(())
}

fn rules(
    collection: &Collection,
    rejected: Option<&RejectDirectory>,
    options: Options,
) -> Criteria {
    let Options { deposit, bags, settle, defaults, .. } = options;
    let looker = Scanner { links: deposit.links, watcher: collection.watcher() };
    let rejected = rejected.map(|it| it.path().to_path_buf());
    let takes_sources = deposit.sources == SourceRule::Remove;
    Criteria { looker, deposit, bags, settle, rejected, takes_sources, defaults }
}

/// Half a digest of a key: two keys do not share it.
fn fingerprint(key: &[u8]) -> u128 {
    let text = Digest::of(key).to_string();
    u128::from_str_radix(&text[..32], 16).unwrap_or(0)
}

/// The outcome of a source that needs no work, with the missing line of the ledger. `None` for a source to be skipped.
fn settled(decision: Decision) -> Option<(Became, Option<Entry>)> {
    Some(match decision {
        Decision::There(name, line) => (Became::There(name), line),
        Decision::Taken(name) => (Became::There(name), None),
        Decision::OtherRules(line) => (Became::OtherRules(line.name.clone()), Some(line)),
        Decision::Left(line) => (Became::Left(line), None),
        Decision::LeftOut(rule) => (Became::LeftOut(rule), None),
        Decision::Unsettled => (Became::Unsettled, None),
        Decision::Rejected | Decision::Deposit(_) => return None,
    })
}

fn event_of_refused(refused: Refused) -> Event {
    let Refused { source, path, row, error } = refused;
    Event::new(source, path, row, Became::Failed(error))
}

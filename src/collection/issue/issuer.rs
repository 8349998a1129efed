//! Labels for new items, from the subsystems of a collection.

use std::time::Duration;

use super::spatial::{self, Spread};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::names::tree::PrefixTree;
use crate::collection::{Collection, CollectionError, Event, EventKind, Network, Subsystem};
use crate::disk::{Dir, LockError};
use crate::distributor::{
    ClockTrust, Distributor, DistributorError, HostState, Issued, Names, Notice, Patience, Setting,
};
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::layout;
use crate::sidecar::Metadata;
use crate::wait::Waiter;

/// A label: the two forms of a new identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The uniform repository name.
    pub name: RepositoryName,
    /// Its IBIp, if the subsystem has an address.
    pub ibip: Option<Ibip>,
    /// The date of both.
    pub date: Instant,
}

/// Options for issuing labels.
#[derive(Clone, Debug)]
pub struct IssueOptions {
    /// The subsystem, by name or prefix; by default the one that takes the item.
    pub subsystem: Option<String>,
    /// A granularity in place of the subsystem's.
    pub granularity: Option<Setting>,
    /// How long a request may take.
    pub patience: Patience,
    /// Whether a clock that looks wrong is believed.
    pub trust: ClockTrust,
    /// Ends a wait early.
    pub interrupt: Interrupt,
    /// What this machine remembers of its prefixes.
    pub host_state: HostState,
    /// The purpose of the labels.
    pub purpose: IssuePurpose,
}

/// The purpose of opening the subsystems of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssuePurpose {
    /// Issuing.
    Issue,
    /// A dry run: nothing is written.
    Plan,
    /// Inspecting or raising the memories.
    Care,
}

/// Issues labels of one collection.
pub struct Issuer<'a> {
    pub(super) sources: Vec<LabelSource<'a>>,
    /// Subsystems with lost memories, and the directory of the memories.
    pub(super) lost: Vec<Memory>,
    pub(super) patience: Patience,
    pub(super) collection: &'a Collection,
    agent: &'a Agent,
    clock: &'a dyn Clock,
    /// Whether a person chose the subsystem; then no rule applies.
    is_chosen: bool,
    /// How often each subsystem had its turn in this run.
    turns: Vec<usize>,
}

pub(super) struct LabelSource<'a> {
    subsystem: &'a Subsystem,
    pub(super) distributor: Distributor<'a>,
    pub(super) names: PrefixTree<'a>,
}

impl LabelSource<'_> {
    fn issue(&mut self, count: usize, patience: Patience) -> Result<Issued, DistributorError> {
        self.names.look_again();
        self.distributor.issue(count, &self.names, patience)
    }

    fn label(&self, date: Instant) -> Result<Label, CollectionError> {
        let name = RepositoryName::new(&self.distributor.prefix, date)?;
        let ibip = self.distributor.ibips.as_ref().and_then(|prefix| Ibip::new(prefix, date));
        Ok(Label { name, ibip, date })
    }
}

impl<'a> Issuer<'a> {
    /// The issuer of `collection`, with the subsystems that `options` choose.
    pub fn new(
        collection: &'a Collection,
        agent: &'a Agent,
        clock: &'a dyn Clock,
        options: &IssueOptions,
    ) -> Result<Issuer<'a>, CollectionError> {
        if options.purpose == IssuePurpose::Issue {
            collection
                .rebuild(agent, &Waiter::new(clock, &options.interrupt, options.patience.lock))?;
        }
        let (mut sources, mut lost) = (Vec::new(), Vec::new());
        let subsystems = &collection.settings().subsystems;
        // A machine with a subsystem of its own issues by no other, unless a person chooses it.
        let this = Some(agent.machine_id.as_str());
        let has_own = subsystems.iter().any(|it| it.machine.as_deref() == this);
        let own = if has_own { this } else { None };
        let is_ours = |it: &Subsystem| it.machine.as_deref() == own;
        let has_ours = subsystems.iter().any(is_ours);
        for subsystem in subsystems {
            let wanted = options.subsystem.as_deref();
            let is_passed = wanted.is_none() && has_ours && !is_ours(subsystem);
            if is_passed || !subsystem.is_wanted(wanted)? {
                continue;
            }
            let prefix = subsystem.prefix()?;
            let setting = options.granularity.unwrap_or(subsystem.granularity);
            let Some(dir) = memory_directory(collection, options.purpose)? else {
                lost.push(Memory { prefix, granularity: setting, record: None });
                continue;
            };
            let mut distributor = Distributor::new(prefix.clone(), setting, dir, agent, clock);
            distributor.trust = options.trust;
            distributor.interrupt = options.interrupt.clone();
            distributor.ibips = subsystem.ibip_prefix()?;
            distributor.host_state = options.host_state.clone();
            distributor.collection = Some(collection.id().to_owned());
            let names = PrefixTree::of(collection, prefix);
            sources.push(LabelSource { subsystem, distributor, names });
        }
        if sources.is_empty() && lost.is_empty() && options.purpose != IssuePurpose::Care {
            return Err(no_subsystem(collection, options.subsystem.clone()));
        }
        let (patience, is_chosen) = (options.patience, options.subsystem.is_some());
        let turns = vec![0; sources.len()];
        Ok(Issuer { sources, lost, patience, collection, agent, clock, is_chosen, turns })
    }

    /// The subsystems that may issue a name for an item with this description and size of payload, for
    /// [`Issuer::issue_from`].
    pub(crate) fn choose(&mut self, metadata: &Metadata, bytes: u64) -> Vec<usize> {
        let mut chosen = Vec::new();
        if !self.is_chosen && self.sources.len() > 1 {
            let rules = self.sources.iter().map(|source| source.subsystem.takes.as_ref());
            chosen = spatial::choose(&rules.collect::<Vec<_>>(), metadata, bytes);
        }
        // A subsystem with a lost memory issues nothing.
        if chosen.is_empty() {
            chosen = (0..self.sources.len()).collect();
        }
        self.in_turn(chosen)
    }

    /// Of `among`, the one whose last label is the oldest, if each has its turn. Labels of this run that are chosen and
    /// not yet issued count.
    fn in_turn(&mut self, among: Vec<usize>) -> Vec<usize> {
        if self.collection.settings().spread == Spread::First || among.len() < 2 {
            return among;
        }
        // One that cannot be read says why when it issues.
        let last = |at: usize| self.sources[at].distributor.look().ok().flatten()?.last;
        let oldest = among.into_iter().min_by_key(|at| (self.turns[*at], last(*at)));
        oldest.into_iter().inspect(|at| self.turns[*at] += 1).collect()
    }

    /// Issues up to `count` labels of any subsystem, at least one, without items; durable, in order within a subsystem.
    ///
    /// One line of the ledger has the last of them: no item shows that they were issued.
    pub fn mint(&mut self, count: usize) -> Result<(Vec<Label>, Vec<Notice>), CollectionError> {
        let collection = self.collection;
        let _lock = collection.keep_recovery_away(self.agent, collection.waiter())?;
        // Without its line a label is given up, so none is issued while another process changes the collection.
        drop(collection.lock_ledger()?);
        let among = self.in_turn((0..self.sources.len()).collect());
        let (labels, notices) = self.issue_from(&among, count)?;
        if let Some(last) = labels.last() {
            let event = Event::new(EventKind::Mint, &last.name, self.clock.now(), self.agent);
            let before = labels.len() - 1;
            let note = (before > 0).then(|| format!("and {before} before it"));
            collection.log(&[Event { note, ..event }])?;
        }
        Ok((labels, notices))
    }

    /// Issues up to `count` labels from the first of these subsystems that need not wait.
    pub(crate) fn issue_from(
        &mut self,
        among: &[usize],
        count: usize,
    ) -> Result<(Vec<Label>, Vec<Notice>), CollectionError> {
        let (at, issued) = self.issue_dates(among, count)?;
        let labels = issued.dates.iter().map(|date| self.sources[at].label(*date));
        Ok((labels.collect::<Result<_, _>>()?, issued.notices))
    }

    /// How long it waits for a lock.
    pub(crate) fn lock_wait(&self) -> Duration {
        self.patience.lock
    }

    /// From now on, issues only labels whose dates have come.
    pub(crate) fn stop_waiting(&mut self) {
        let lock = self.patience.lock.min(Duration::from_secs(1));
        self.patience = Patience { lock, date: Some(Duration::ZERO) };
    }

    fn issue_dates(
        &mut self,
        among: &[usize],
        count: usize,
    ) -> Result<(usize, Issued), CollectionError> {
        let at_once = Patience { lock: Duration::ZERO, date: Some(Duration::ZERO) };
        let mut least_wait: Option<(Duration, usize)> = None;
        if among.len() > 1 {
            for &at in among {
                let wait = match self.sources[at].issue(count, at_once) {
                    Ok(issued) => return Ok((at, issued)),
                    Err(DistributorError::TooLong { wait, .. }) => wait,
                    Err(DistributorError::ClockBehind { behind, .. }) => behind,
                    Err(DistributorError::Lock(LockError::Held { .. })) => Duration::from_secs(1),
                    Err(error) => return Err(error.into()),
                };
                if least_wait.is_none_or(|(least, _)| wait < least) {
                    least_wait = Some((wait, at));
                }
            }
        }
        let at = least_wait.map(|(_, at)| at).or(among.first().copied()).unwrap_or(0);
        Ok((at, self.sources[at].issue(count, self.patience)?))
    }

    /// Raises each memory to the latest name on disk, and in `mirrors`.
    pub fn catch_up(&self, mirrors: &[Collection]) -> Result<Vec<Notice>, CollectionError> {
        self.each(mirrors, Distributor::catch_up)
    }

    /// Makes this machine the issuer, after a backup was put back or on another machine.
    pub fn restored(&self, mirrors: &[Collection]) -> Result<Vec<Notice>, CollectionError> {
        self.each(mirrors, Distributor::restored)
    }

    fn each(
        &self,
        mirrors: &[Collection],
        care: impl Fn(&Distributor<'a>, &dyn Names, Patience) -> Result<Vec<Notice>, DistributorError>,
    ) -> Result<Vec<Notice>, CollectionError> {
        let mut notices = Vec::new();
        for LabelSource { distributor, .. } in &self.sources {
            let names = PrefixTree::of(self.collection, distributor.prefix.clone());
            notices.extend(care(distributor, &names.with_mirrors(mirrors), self.patience)?);
        }
        Ok(notices)
    }

    /// Reads each memory, without issuing.
    pub fn look(&self) -> Result<Vec<Memory>, CollectionError> {
        let look = |source: &LabelSource<'_>| {
            Ok(Memory {
                prefix: source.distributor.prefix.clone(),
                granularity: source.distributor.setting,
                record: source.distributor.look()?,
            })
        };
        self.sources.iter().map(look).chain(self.lost.iter().cloned().map(Ok)).collect()
    }
}

pub(super) fn no_subsystem(collection: &Collection, wanted: Option<String>) -> CollectionError {
    CollectionError::NoSubsystem { wanted, path: collection.settings_path() }
}

/// The memory of one subsystem, for display.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The prefix.
    pub prefix: crate::identity::Prefix,
    /// The granularity of dates.
    pub granularity: Setting,
    /// Its record; `None` before the first label, or if it is lost.
    pub record: Option<crate::distributor::slot::MemoryRecord>,
}

/// The directory of memories, if kernel locks work there. `None` if it is lost and no names will
/// be issued.
fn memory_directory(
    collection: &Collection,
    purpose: IssuePurpose,
) -> Result<Option<Dir>, CollectionError> {
    let dir = match collection.own_dir(layout::MEMORY)? {
        Some(dir) => dir,
        None if purpose != IssuePurpose::Issue => return Ok(None),
        None => collection.ensure_own()?.ensure_dir(layout::MEMORY)?,
    };
    if collection.settings().network == Network::Refuse
        && let Some(file_system) = dir.network_file_system()?
    {
        return Err(CollectionError::NetworkFileSystem {
            file_system,
            path: dir.path().to_path_buf(),
        });
    }
    Ok(Some(dir))
}

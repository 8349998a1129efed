//! Labels for new items, from the subsystems of a collection.

use std::time::Duration;

use super::tree::PrefixTree;
use super::{Collection, CollectionError, Network, Subsystem};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::disk::{Dir, LockError};
use crate::distributor::{
    ClockTrust, Distributor, DistributorError, Issued, Notice, Patience, Setting,
};
use crate::identity::{Ibip, IbipPrefix, Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::layout;

/// A label: the two forms of a new identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The uniform repository name.
    pub name: RepositoryName,
    /// Its opaque twin, where the subsystem has an address.
    pub ibip: Option<Ibip>,
    /// The date of both.
    pub date: Instant,
}

/// How labels are issued.
#[derive(Clone, Debug)]
pub struct IssueOptions {
    /// The subsystem, by name or prefix; any that need not wait unless given.
    pub subsystem: Option<String>,
    /// A granularity in place of the subsystem's.
    pub granularity: Option<Setting>,
    /// How long a request may take.
    pub patience: Patience,
    /// Whether a clock that looks wrong is believed.
    pub trust: ClockTrust,
    /// Ends a wait early.
    pub interrupt: Interrupt,
}

/// Issues labels of one collection.
pub struct Issuer<'a> {
    sources: Vec<Source<'a>>,
    patience: Patience,
}

struct Source<'a> {
    distributor: Distributor<'a>,
    tree: PrefixTree<'a>,
    ibip_prefix: Option<IbipPrefix>,
}

impl Source<'_> {
    fn issue(&mut self, count: usize, patience: Patience) -> Result<Issued, DistributorError> {
        self.distributor.issue(count, &self.tree, patience)
    }

    fn label(&self, date: Instant) -> Result<Label, CollectionError> {
        let name = RepositoryName::new(&self.distributor.prefix, date)?;
        let ibip = self.ibip_prefix.as_ref().and_then(|prefix| Ibip::new(prefix, date));
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
        let mut sources = Vec::new();
        for subsystem in &collection.settings().subsystems {
            if !is_wanted(subsystem, options.subsystem.as_deref())? {
                continue;
            }
            let prefix = subsystem.prefix()?;
            let setting = options.granularity.unwrap_or(subsystem.granularity);
            let dir = memory_directory(collection, subsystem)?;
            let mut distributor = Distributor::new(prefix.clone(), setting, dir, agent, clock);
            distributor.trust = options.trust;
            distributor.interrupt = options.interrupt.clone();
            sources.push(Source {
                distributor,
                tree: PrefixTree::new(collection.root(), prefix),
                ibip_prefix: subsystem.ibip_prefix()?,
            });
        }
        if sources.is_empty() {
            return Err(CollectionError::NoSubsystem {
                wanted: options.subsystem.clone(),
                path: collection.settings_path(),
            });
        }
        Ok(Issuer { sources, patience: options.patience })
    }

    /// Gives up to `count` labels, at least one; durable, in order within a subsystem.
    ///
    /// Where there are several subsystems, the first that need not wait gives them.
    pub fn issue(&mut self, count: usize) -> Result<(Vec<Label>, Vec<Notice>), CollectionError> {
        let (at, issued) = self.issue_dates(count)?;
        let labels = issued.dates.iter().map(|date| self.sources[at].label(*date));
        Ok((labels.collect::<Result<_, _>>()?, issued.notices))
    }

    /// Gives only labels that need no wait for their dates from now on.
    pub(crate) fn stop_waiting(&mut self) {
        let lock = self.patience.lock.min(Duration::from_secs(1));
        self.patience = Patience { lock, date: Some(Duration::ZERO) };
    }

    fn issue_dates(&mut self, count: usize) -> Result<(usize, Issued), CollectionError> {
        let at_once = Patience { lock: Duration::ZERO, date: Some(Duration::ZERO) };
        let mut least_wait: Option<(Duration, usize)> = None;
        if self.sources.len() > 1 {
            for (at, source) in self.sources.iter_mut().enumerate() {
                let wait = match source.issue(count, at_once) {
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
        let at = least_wait.map_or(0, |(_, at)| at);
        Ok((at, self.sources[at].issue(count, self.patience)?))
    }

    /// Remembers that everything on disk is known, so that the next run need not read it again.
    pub fn settle(&self) -> Result<(), CollectionError> {
        for source in &self.sources {
            source.distributor.settle(&source.tree, self.patience)?;
        }
        Ok(())
    }

    /// Raises each memory to the newest name on disk.
    pub fn catch_up(&self) -> Result<Vec<Notice>, CollectionError> {
        let mut notices = Vec::new();
        for source in &self.sources {
            notices.extend(source.distributor.catch_up(&source.tree, self.patience)?);
        }
        Ok(notices)
    }

    /// Makes this machine the one that issues.
    pub fn adopt(&self) -> Result<(), CollectionError> {
        for source in &self.sources {
            source.distributor.adopt(&source.tree, self.patience)?;
        }
        Ok(())
    }

    /// What each memory says, without issuing.
    pub fn look(&self) -> Result<Vec<Memory>, CollectionError> {
        let look = |source: &Source<'_>| {
            Ok(Memory {
                prefix: source.distributor.prefix.clone(),
                granularity: source.distributor.setting,
                record: source.distributor.look()?,
            })
        };
        self.sources.iter().map(look).collect()
    }
}

/// The memory of one subsystem, for a person to look at.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Whose it is.
    pub prefix: crate::identity::Prefix,
    /// What dates are rounded to.
    pub granularity: Setting,
    /// What it says; nothing before the first label, or when it is lost.
    pub record: Option<crate::distributor::slot::Record>,
}

fn is_wanted(subsystem: &Subsystem, wanted: Option<&str>) -> Result<bool, CollectionError> {
    let Some(wanted) = wanted else { return Ok(true) };
    let by_name = subsystem.name.as_deref() == Some(wanted);
    Ok(by_name || subsystem.prefix()?.to_string().eq_ignore_ascii_case(wanted))
}

/// The directory of a subsystem's memory, if kernel locks there can be relied upon.
fn memory_directory(
    collection: &Collection,
    subsystem: &Subsystem,
) -> Result<Dir, CollectionError> {
    let dir = match &subsystem.distributor {
        Some(shared) => Dir::open(&collection.root().path_of(shared), collection.root().watcher())?,
        None => collection.own.ensure_dir(layout::DISTRIBUTOR)?,
    };
    if collection.settings().network == Network::Refuse
        && let Some(file_system) = dir.network_file_system()?
    {
        return Err(CollectionError::NetworkFileSystem {
            file_system,
            path: dir.path().to_path_buf(),
        });
    }
    Ok(dir)
}

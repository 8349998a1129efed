//! Creating a collection.

use std::path::Path;

use super::discover::check_outside;
use super::own::{ensure_readme, make_own};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::issue::elsewhere::NamesAround;
use crate::collection::issue::register::{Claimant, keep};
use crate::collection::names::tree::PrefixTree;
use crate::collection::{Collection, CollectionError, Register, Settings, Subsystem, Takeover};
use crate::disk::{Dir, IoContext, Lock, LockMode, Watcher, random_hex, resolved};
use crate::distributor::{Distributor, MissingDates, Notice, Past, Patience};
use crate::layout;
use crate::wait::Waiter;

/// The creator of a collection, and the names that its own names must be later than.
pub struct Founder<'a> {
    /// The creator.
    pub agent: &'a Agent,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// How long to wait for a memory that other collections share.
    pub patience: Patience,
    /// The prefixes that this machine issues.
    pub register: &'a Register,
    /// The rule for a prefix that another collection issues.
    pub takeover: Takeover,
    /// Collections that hold names of the same prefix, or held them: mirrors of a lost collection.
    pub names_from: &'a [Collection],
}

impl Founder<'_> {
    /// A lost or replaced collection may have issued names that no collection holds.
    fn past(&self) -> Past {
        match self.takeover {
            Takeover::Refuse if self.names_from.is_empty() => Past::Known,
            _ => Past::Unknown,
        }
    }

    /// The claim on the register: a caller with a mirror knows that the other collection is lost.
    fn takeover(&self) -> Takeover {
        if self.names_from.is_empty() { self.takeover } else { Takeover::AcceptLost }
    }
}

/// Creates a collection in the directory `root`, an absolute path, which may exist.
///
/// `name` is its name for people. The settings are written last: until then the collection does not exist,
/// and a repetition continues. Notices about its names are returned as well.
pub fn init(
    root: &Path,
    name: &str,
    subsystem: Subsystem,
    founder: &Founder<'_>,
    watcher: &Watcher,
) -> Result<(Collection, Vec<Notice>), CollectionError> {
    // Every possible refusal comes before the first write.
    let (prefix, ibips) = (subsystem.prefix()?, subsystem.ibip_prefix()?);
    check_place(root)?;
    check_prefix(root, &subsystem, founder)?;
    let dir = Dir::make_with_parents(root, watcher)?;
    let own = make_own(&dir)?;
    let memory = match &subsystem.distributor {
        Some(shared) => Dir::make_with_parents(shared, watcher)?,
        None => own.ensure_dir(layout::DISTRIBUTOR)?,
    };
    let (real_root, real_memory) = (resolved(root)?, resolved(memory.path())?);
    let claimant = Claimant {
        prefix: &prefix,
        ibips: ibips.as_ref(),
        id: None,
        root: &real_root,
        memory: &real_memory,
    };
    let Founder { agent, clock, patience, register, .. } = *founder;
    // Held until the collection exists: of two created at once, one gets the prefix.
    let claim = match register.claim(&claimant, founder.takeover(), agent, clock, patience) {
        // A machine may have no place for a register; a notice at the end reports that.
        Err(CollectionError::Disk(error)) if error.is_refusal() => Err(error.into()),
        claim => Ok(claim.map_err(|error| made_meanwhile(root, error))?),
    };
    let mut notices = begin_memory(&dir, memory, &subsystem, founder, &claimant)?;
    let collection = make(&dir, name, vec![subsystem])?;
    notices.extend(keep(claim, collection.id(), &claimant)?);
    Ok((collection, notices))
}

/// Makes sure that a collection at `root` may issue the names of `subsystem`, and their IBIps.
pub fn check_prefix(
    root: &Path,
    subsystem: &Subsystem,
    founder: &Founder<'_>,
) -> Result<(), CollectionError> {
    let (prefix, ibips) = (subsystem.prefix()?, subsystem.ibip_prefix()?);
    subsystem.distributor.as_deref().map_or(Ok(()), check_outside)?;
    let in_root = root.join(layout::OWN).join(layout::DISTRIBUTOR);
    let memory = subsystem.distributor.as_ref().unwrap_or(&in_root);
    let memory = resolved(memory).unwrap_or_else(|_| memory.clone());
    let ibips = ibips.as_ref();
    let claimant = Claimant { prefix: &prefix, ibips, id: None, root, memory: &memory };
    let checked = founder.register.check(&claimant, founder.takeover());
    checked.map_err(|error| made_meanwhile(root, error))
}

/// Another process may have made the same collection, which is not another one that issues its identifiers.
fn made_meanwhile(root: &Path, error: CollectionError) -> CollectionError {
    check_place(root).err().unwrap_or(error)
}

/// Begins the memory of a subsystem, so that a missing memory is not taken for a new one later.
fn begin_memory(
    root: &Dir,
    memory: Dir,
    subsystem: &Subsystem,
    founder: &Founder<'_>,
    claimant: &Claimant<'_>,
) -> Result<Vec<Notice>, CollectionError> {
    // There, no names are issued without permission, and locks may not work at all.
    if memory.network_file_system()?.is_some() {
        return Ok(Vec::new());
    }
    let prefix = subsystem.prefix()?;
    let mut peers = founder.register.peers(claimant)?;
    // Who names a mirror of a lost collection knows that it is not there.
    peers.retain(|peer| match founder.takeover() {
        Takeover::Refuse => false,
        Takeover::AcceptLost => peer.id.is_none(),
        Takeover::Accept => true,
    });
    let tree = PrefixTree::new(root, prefix.clone()).with_mirrors(founder.names_from);
    let (ibips, real_memory) = (claimant.ibips.cloned(), claimant.memory.to_path_buf());
    let names = NamesAround { tree, ibips, memory: real_memory, peers };
    let Founder { agent, clock, patience, .. } = *founder;
    let mut distributor = Distributor::new(prefix, subsystem.granularity, memory, agent, clock);
    if !founder.names_from.is_empty() {
        distributor.missing_dates = MissingDates::Rebuild;
    }
    Ok(distributor.begin(&names, founder.past(), patience)?)
}

/// Creates a collection that issues no names, for items that already have names.
pub fn init_without_names(
    root: &Path,
    name: &str,
    watcher: &Watcher,
) -> Result<Collection, CollectionError> {
    check_place(root)?;
    let dir = Dir::make_with_parents(root, watcher)?;
    make_own(&dir)?;
    make(&dir, name, Vec::new())
}

fn make(dir: &Dir, name: &str, subsystems: Vec<Subsystem>) -> Result<Collection, CollectionError> {
    let id = random_hex::<16>().on("draw a random id from", "/dev/urandom")?;
    let settings = Settings::new(id, name.to_owned(), subsystems);
    let own = dir.open_dir(layout::OWN)?;
    // Of two created here at once, the first one stays: it may have issued names, which belong to its id.
    let _lock = Lock::take_unsigned(&own, layout::LOCK, LockMode::Exclusive, &Waiter::default())
        .map_err(|error| CollectionError::locked(name, error))?;
    if dir.stat(layout::SETTINGS)?.is_some() {
        return Err(CollectionError::ExistsAlready { path: dir.path().to_path_buf() });
    }
    // Only a new collection has no inventory. If it is missing later, it is lost, and rebuilt from the items.
    own.ensure_dir(layout::INVENTORY)?;
    ensure_readme(dir, &own)?;
    dir.replace_file(layout::SETTINGS, settings.to_text().as_bytes())?;
    Collection::open(dir.path(), &dir.watcher())
}

/// Makes sure that a collection can be created at `root`: none exists there, above or below.
pub fn check_place(root: &Path) -> Result<(), CollectionError> {
    match super::discover::enclosing_or_enclosed(root)? {
        None => Ok(()),
        Some(other) if other == root => Err(CollectionError::ExistsAlready { path: other }),
        Some(other) => Err(CollectionError::Nested { other }),
    }
}

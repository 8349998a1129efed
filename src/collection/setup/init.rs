//! Creating a collection.

use std::path::Path;

use super::id::new_id;
use super::own::{ensure_readme, make_own, open_own};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::ledger;
use crate::collection::names::tree::PrefixTree;
use crate::collection::{Collection, CollectionError, Settings, Subsystem};
use crate::disk::{Dir, Lock, LockMode, Watcher};
use crate::distributor::{Distributor, HostState, Notice, Past, Patience};
use crate::layout;
use crate::wait::Waiter;

/// The creator of a collection, and the names that its own names must be later than.
pub struct Founder<'a> {
    /// The creator.
    pub agent: &'a Agent,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// How long to wait for the memory.
    pub patience: Patience,
    /// What this machine remembers of the prefix.
    pub host_state: HostState,
    /// Collections that hold names of the same prefix, or held them: mirrors of a lost collection.
    pub names_from: &'a [Collection],
    /// How many Copies each Original should have.
    pub copies: u32,
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
    check_subsystem(&subsystem)?;
    check_place(root)?;
    let dir = Dir::make_with_parents(root, watcher)?;
    let memory = make_own(&dir)?.ensure_dir(layout::MEMORY)?;
    let notices = begin_memory(&dir, memory, &subsystem, founder)?;
    Ok((make(&dir, name, (vec![subsystem], founder.copies))?, notices))
}

/// Makes sure that identifiers and IBIps can be built from `subsystem`.
pub fn check_subsystem(subsystem: &Subsystem) -> Result<(), CollectionError> {
    subsystem.prefix()?;
    subsystem.ibip_prefix()?;
    Ok(())
}

/// Begins the memory of a subsystem, so that a missing memory is not taken for a new one later.
fn begin_memory(
    root: &Dir,
    memory: Dir,
    subsystem: &Subsystem,
    founder: &Founder<'_>,
) -> Result<Vec<Notice>, CollectionError> {
    // There, no names are issued without permission, and locks may not work at all.
    if memory.network_file_system()?.is_some() {
        return Ok(Vec::new());
    }
    let prefix = subsystem.prefix()?;
    let names = PrefixTree::new(root, prefix.clone()).with_mirrors(founder.names_from);
    let Founder { agent, clock, patience, .. } = *founder;
    let mut distributor = Distributor::new(prefix, subsystem.granularity, memory, agent, clock);
    distributor.host_state = founder.host_state.clone();
    // A lost collection may have issued names that no mirror holds.
    let past = if founder.names_from.is_empty() { Past::Known } else { Past::Unknown };
    Ok(distributor.begin(&names, past, patience)?)
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
    make(&dir, name, (Vec::new(), 0))
}

fn make(
    dir: &Dir,
    name: &str,
    (subsystems, copies): (Vec<Subsystem>, u32),
) -> Result<Collection, CollectionError> {
    let own = dir.open_dir(layout::OWN)?;
    // Of two created here at once, the first one stays: it may have issued names, which belong to its id.
    let _lock = Lock::take_unsigned(&own, layout::LOCK, LockMode::Exclusive, &Waiter::default())
        .map_err(|error| CollectionError::locked(name, error))?;
    if dir.stat(layout::SETTINGS)?.is_some() {
        return Err(CollectionError::ExistsAlready { path: dir.path().to_path_buf() });
    }
    check_ledger(dir)?;
    // Only a new collection has no ledger. If it is missing later, it is lost, and rebuilt from the items.
    let id = ledger::begin(&own, new_id()?)?;
    let mut settings = Settings::new(id, name.to_owned(), subsystems);
    settings.copies = copies;
    ensure_readme(dir, &own)?;
    dir.replace_file(layout::SETTINGS, settings.to_text().as_bytes())?;
    Collection::open(dir.path(), &dir.watcher())
}

/// Makes sure that a collection can be created at `root`: none exists there, above or below, nor has one lost its settings
/// there.
pub fn check_place(root: &Path) -> Result<(), CollectionError> {
    match super::discover::enclosing_or_enclosed(root)? {
        None => match Dir::open(root, Watcher::default()) {
            Ok(dir) => {
                check_ledger(&dir)?;
                // The items alone tell it as well, and lost the ledger with the settings.
                match super::id::holders(&dir)?.len() {
                    1 => Err(CollectionError::SettingsLost { path: root.to_path_buf() }),
                    _ => Ok(()),
                }
            }
            // It is made, or the error is that of making it.
            Err(_) => Ok(()),
        },
        Some(other) if other == root => Err(CollectionError::ExistsAlready { path: other }),
        Some(other) => Err(CollectionError::Nested { other }),
    }
}

/// Makes sure that no ledger in `root` tells of a collection: its Originals would be Copies in one with another id.
fn check_ledger(root: &Dir) -> Result<(), CollectionError> {
    let own = open_own(root)?;
    if own.map_or(Ok(false), |own| ledger::has_lines(&own))? {
        return Err(CollectionError::SettingsLost { path: root.path().to_path_buf() });
    }
    Ok(())
}

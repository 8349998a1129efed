//! Correcting the inventory by the existing items: for a person who has restored an older state of a
//! collection, or gives up vanished items.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::compare::{States, Writers};
use super::{Collection, Discrepancy, InventoryChange, RottenLine};
use crate::agent::Agent;
use crate::collection::{CollectionError, Event, EventKind, Names};
use crate::disk::{Lock, LockMode, PathError};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;
use crate::wait::Waiter;

/// A new line of the inventory, which makes it agree with the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The item.
    pub name: RepositoryName,
    /// The recorded state, if any.
    pub was: Option<State>,
    /// [`InventoryChange::Lost`] for an item that is gone,
    /// [`InventoryChange::Found`] for one that was not recorded, [`InventoryChange::Became`] for one
    /// with another state.
    pub change: InventoryChange,
}

/// The corrections of the inventory.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Corrected {
    /// The lines added.
    pub added: Vec<Correction>,
    /// The damaged lines removed.
    pub removed: Vec<RottenLine>,
    /// The damaged lines that stay, because a directory that may hold items of their year cannot be listed:
    /// without the lines, nothing would show that an item recorded there is lost.
    pub kept: Vec<RottenLine>,
}

/// For the log.
impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let was = self.was.as_ref().map_or("unknown".to_owned(), ToString::to_string);
        match &self.change {
            InventoryChange::Lost => write!(f, "given up as lost, was {was}"),
            InventoryChange::Found(None) => f.write_str("taken in"),
            InventoryChange::Found(Some(here)) => write!(f, "taken in, is {}", here.state),
            InventoryChange::Entered(here) | InventoryChange::Became(here) => {
                write!(f, "was {was}, is {}", here.state)
            }
        }
    }
}

impl Collection {
    /// The corrections that would make the inventory agree with the items, in order of the years.
    ///
    /// Directories that cannot be listed are left out, and so is a missing inventory, which
    /// [`Collection::rebuild`] builds.
    pub fn inventory_corrections(&self) -> Result<Corrected, PathError> {
        let (added, compared) = self.corrections(Writers::Perhaps)?;
        let (removed, kept) = self.rotten_lines(&compared)?;
        Ok(Corrected { added, removed, kept })
    }

    /// Records the corrections in `agreed` that are still needed, here and in the log, and then removes
    /// damaged lines of the years that could be listed, while no other process writes.
    ///
    /// A damaged line may be a departure, so it is removed only after the items have been settled.
    pub fn correct_inventory(
        &self,
        agreed: &[Correction],
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Corrected, CollectionError> {
        let holder = agent.holder(waiter.clock);
        let locked = |error| CollectionError::locked(&self.settings().name, error);
        let own = self.ensure_own()?;
        let _lock =
            Lock::take(own, layout::LOCK, LockMode::Exclusive, &holder, waiter).map_err(locked)?;
        self.rebuild_inventory_alone(own, waiter)?;
        let (mut needed, compared) = self.corrections(Writers::None)?;
        let agreed: HashMap<_, _> = agreed.iter().map(|it| (&it.name, it)).collect();
        needed.retain(|correction| agreed.get(&correction.name) == Some(&correction));
        let changes = needed.iter().map(|it| (it.name.clone(), it.change.clone()));
        self.record(changes, waiter.clock)?;
        let now = waiter.clock.now();
        let events: Vec<_> = needed
            .iter()
            .map(|it| Event {
                note: Some(it.to_string()),
                ..Event::new(EventKind::Correction, &it.name, now, agent)
            })
            .collect();
        self.note(&events);
        let removed = self.remove_rotten_lines(&compared, own, waiter.clock)?;
        let (_, kept) = self.rotten_lines(&compared)?;
        Ok(Corrected { added: needed, removed, kept })
    }

    /// The corrections, and the files with damaged lines among those that could be compared.
    fn corrections(
        &self,
        writers: Writers,
    ) -> Result<(Vec<Correction>, HashSet<PathBuf>), PathError> {
        let (mut corrections, mut compared, mut failed) = (Vec::new(), HashSet::new(), None);
        let mut add = |name, was, change| corrections.push(Correction { name, was, change });
        let _whole =
            self.discrepancies(&Names::default(), (writers, States::Compared), |found| {
                let mut here = Vec::new();
                match found {
                    Discrepancy::NoInventory => {}
                    Discrepancy::Rotten(file, _) => drop(compared.insert(file)),
                    Discrepancy::Missing(name, was, _) => {
                        add(name, was, InventoryChange::Lost);
                    }
                    Discrepancy::Unrecorded(names) => here = names,
                    Discrepancy::Returned(name, _) => here.push(name),
                    Discrepancy::OtherState(name, was, here) => {
                        add(name, was, InventoryChange::Became(here));
                    }
                }
                for name in here {
                    match self.found(&name) {
                        Ok(Some(found)) => add(name, None, found),
                        Ok(None) => {}
                        Err(error) => {
                            failed = Some(error);
                            return ControlFlow::Break(());
                        }
                    }
                }
                ControlFlow::Continue(())
            })?;
        failed.map_or(Ok((corrections, compared)), Err)
    }
}

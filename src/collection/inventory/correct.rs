//! The inventory made to agree with what is there: for a person who has put an older state of a
//! collection back, or has given up what vanished.

use std::ops::ControlFlow;

use super::compare::{States, Writers};
use super::{Collection, Departure, Discrepancy, InventoryChange};
use crate::agent::Agent;
use crate::collection::{CollectionError, Names};
use crate::disk::{Lock, LockMode, PathError};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;
use crate::wait::Waiter;

/// A line of the inventory to be, that makes it agree with what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The item.
    pub name: RepositoryName,
    /// The state that is recorded; nothing where none is.
    pub was: Option<State>,
    /// [`InventoryChange::Left`] with [`Departure::Lost`] for an item that is gone,
    /// [`InventoryChange::Found`] for one that was not recorded, [`InventoryChange::Became`] for one
    /// with another state.
    pub change: InventoryChange,
}

impl Collection {
    /// What would make the inventory agree with what is there, in order of the names' years.
    ///
    /// Nothing is known of directories that cannot be listed, and nothing of a missing inventory, which
    /// [`Collection::rebuild`] builds.
    pub fn inventory_corrections(&self) -> Result<Vec<Correction>, PathError> {
        self.corrections(Writers::Perhaps)
    }

    /// Records those of the corrections in `agreed` that are still needed, while nobody else writes;
    /// returns them.
    pub fn correct_inventory(
        &self,
        agreed: &[Correction],
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Vec<Correction>, CollectionError> {
        let holder = agent.holder(waiter.clock);
        let locked = |error| CollectionError::locked(&self.settings().name, error);
        let own = self.ensure_own()?;
        let _lock =
            Lock::take(own, layout::LOCK, LockMode::Exclusive, &holder, waiter).map_err(locked)?;
        let mut needed = self.corrections(Writers::None)?;
        needed.retain(|correction| agreed.contains(correction));
        let changes = needed.iter().map(|it| (it.name.clone(), it.change.clone()));
        self.record(changes, waiter.clock)?;
        Ok(needed)
    }

    fn corrections(&self, writers: Writers) -> Result<Vec<Correction>, PathError> {
        let (mut corrections, mut failed) = (Vec::new(), None);
        let mut add = |name, was, change| corrections.push(Correction { name, was, change });
        let _whole =
            self.discrepancies(&Names::default(), (writers, States::Compared), |found| {
                match found {
                    Discrepancy::NoInventory | Discrepancy::Rotten(..) => {}
                    Discrepancy::Missing(name, was, _) => {
                        add(name, was, InventoryChange::Left(Departure::Lost));
                    }
                    Discrepancy::Unrecorded(names) => {
                        for name in names {
                            match self.found(&name) {
                                Ok(Some(found)) => add(name, None, found),
                                Ok(None) => {}
                                Err(error) => {
                                    failed = Some(error);
                                    return ControlFlow::Break(());
                                }
                            }
                        }
                    }
                    Discrepancy::OtherState(name, was, state) => {
                        add(name, was, InventoryChange::Became(state));
                    }
                }
                ControlFlow::Continue(())
            })?;
        failed.map_or(Ok(corrections), Err)
    }
}

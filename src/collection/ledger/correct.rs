//! Correcting the ledger by the existing items: for a person who gives up vanished items, or accepts that lines are damaged.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde_json::json;

use super::compare::{States, Writers};
use super::{Actual, Collection, Correction, Discrepancy, Event, EventKind, registration};
use crate::agent::Agent;
use crate::collection::{CollectionError, Lookup, Names, lock_changes};
use crate::disk::{Lock, LockMode, PathError};
use crate::identity::{RepositoryName, SECOND};
use crate::layout;
use crate::wait::Waiter;

/// The corrections of the ledger.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Corrected {
    /// The items whose lines are added.
    pub added: Vec<Correction>,
    /// Number of damaged lines that are accepted.
    pub damaged: u64,
    /// Whether the ledger is accepted though it was shortened or put back since this machine wrote it.
    pub is_put_back: bool,
}

/// For the ledger.
impl Collection {
    /// The corrections that would make the ledger agree with the items.
    ///
    /// Directories that cannot be listed are left out, and so is a missing ledger, which [`Collection::rebuild`] builds.
    pub fn ledger_corrections(&self) -> Result<Corrected, PathError> {
        self.corrections(Writers::Perhaps)
    }

    /// Records the corrections in `agreed` that are still needed, and the damage of the ledger, while no other process
    /// writes.
    pub fn correct_ledger(
        &self,
        agreed: &Corrected,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Corrected, CollectionError> {
        let holder = agent.holder(waiter.clock);
        let locked = |error| CollectionError::locked(&self.settings().name, error);
        let own = self.ensure_own()?;
        self.check_id()?;
        let _lock =
            Lock::take(own, layout::LOCK, LockMode::Exclusive, &holder, waiter).map_err(locked)?;
        self.rebuild_ledger_alone(own, agent, waiter)?;
        let Corrected { added: mut needed, damaged, is_put_back } =
            self.corrections(Writers::None)?;
        let by_name: HashMap<_, _> = agreed.added.iter().map(|it| (&it.name, it)).collect();
        needed.retain(|correction| by_name.get(&correction.name) == Some(&correction));
        let now = waiter.clock.now();
        let event = |it: &Correction| {
            let event = match it.is {
                Actual::Lost => Event::new(EventKind::Loss, &it.name, now, agent),
                Actual::Unreadable | Actual::Here(_) | Actual::Foreign { .. } => {
                    // The source of an import belongs to the line as well.
                    let found = self.found(&it.name)?.unwrap_or_default();
                    registration(&it.name, found, agent, waiter.clock)
                }
            };
            let event = match it.is {
                Actual::Foreign { .. } => Event { event: EventKind::Found, ..event },
                _ => event,
            };
            Ok(Event { note: Some(it.to_string()), ..event })
        };
        let events = needed.iter().map(event).collect::<Result<Vec<_>, PathError>>()?;
        self.log(&events)?;
        let damaged = damaged.min(agreed.damaged);
        if damaged > 0 {
            let (date, Agent { command, user, machine, .. }) = (now.floor(SECOND), agent);
            let line = json!({
                "date": date, "event": "gap", "damaged": damaged, "command": command, "user": user, "machine": machine,
            });
            let _lock = self.lock_ledger()?;
            self.append_lines(&[line.to_string()])?;
        }
        let is_put_back = is_put_back && agreed.is_put_back;
        if is_put_back {
            self.accept_ledger(agent, waiter.clock)?;
        }
        Ok(Corrected { added: needed, damaged, is_put_back })
    }

    /// Gives the item `name` up, by the word of a person: the line says so, and what lies in its place goes to the trash.
    pub(crate) fn give_up(
        &self,
        name: &RepositoryName,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<(), CollectionError> {
        let locks = lock_changes([self], agent, waiter)?;
        if let Some(item) = locks.item(&Lookup::new(self), name)? {
            item.take_out()?;
        }
        let was = self.last_record(name)?.and_then(|line| line.state());
        let correction = Correction { name: name.clone(), was, is: Actual::Lost };
        let event = Event::new(EventKind::Loss, name, waiter.clock.now(), agent);
        let note = Some(correction.to_string());
        Ok(self.record(&locks, &[Event { note, ..event }])?)
    }

    fn corrections(&self, writers: Writers) -> Result<Corrected, PathError> {
        let (mut corrected, mut failed) = (Corrected::default(), None);
        let Corrected { added, damaged: unaccepted, is_put_back } = &mut corrected;
        let _whole =
            self.discrepancies(&Names::default(), (writers, States::Compared), &mut |found| {
                let (mut here, mut returned) = (Vec::new(), false);
                match found {
                    Discrepancy::PutBack => *is_put_back = true,
                    Discrepancy::NoLedger
                    | Discrepancy::NoteFault(_)
                    | Discrepancy::Broken { is_accepted: true, .. } => {}
                    Discrepancy::Broken { damaged, .. } => *unaccepted = damaged,
                    Discrepancy::Missing(name, was) => {
                        added.push(Correction { name, was, is: Actual::Lost });
                    }
                    Discrepancy::Unrecorded(names) => here = names,
                    Discrepancy::Returned(name, _) => (here, returned) = (vec![name], true),
                    Discrepancy::OtherState(name, was, here) => {
                        added.push(Correction { name, was, is: Actual::Here(here) });
                    }
                    Discrepancy::Unlogged(unlogged) => {
                        added.push(Correction::of_unlogged(*unlogged));
                    }
                }
                for name in here {
                    match self.found(&name) {
                        Ok(Some(found)) => {
                            added.push(match found.here {
                                Some(here) if returned => Correction::of_returned(name, here),
                                here => {
                                    let is = here.map_or(Actual::Unreadable, Actual::Here);
                                    Correction { name, was: None, is }
                                }
                            });
                        }
                        Ok(None) => {}
                        Err(error) => {
                            failed = Some(error);
                            return ControlFlow::Break(());
                        }
                    }
                }
                ControlFlow::Continue(())
            })?;
        failed.map_or(Ok(corrected), Err)
    }
}

//! Many items: planned one by one, then locked, and planned again where they changed.

use std::ops::ControlFlow;

use super::{AmendError, Amender, Amendment, Plan, plan};
use crate::agent::Caller;
use crate::collection::{
    self, ChangeLocks, CollectionError, Event, EventKind, Here, Line, Lookup, Outcomes,
    ReadSidecar, Rewrite, StoredItem, Writer, carry_out, lock_changes,
};
use crate::custody::{self, Holding};
use crate::holdings::with_line;
use crate::identity::RepositoryName;
use crate::sidecar::Amended;

/// Receives the result of each item, in order, and says whether to go on.
pub type Report<'r> = dyn FnMut(&RepositoryName, Result<Plan, AmendError>) -> ControlFlow<()> + 'r;

/// A planned change, and what the neighbours have of the item: under the lock they are not asked again.
pub(crate) struct Planned {
    plan: Plan,
    neighbours: Vec<Holding>,
}

impl Amender<'_> {
    /// Changes the items of `amendments`, a group at a time. Every change is durable before `report` receives
    /// it.
    pub fn amend_all<'c>(
        &self,
        amendments: impl IntoIterator<Item = Amendment<'c>>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        carry_out(self, &self.caller, amendments, report)
    }

    /// Changes one item.
    pub fn amend(&self, amendment: Amendment<'_>) -> Result<Plan, AmendError> {
        let mut outcome = Err(AmendError::Interrupted);
        let _ = self.amend_all([amendment], &mut |_, result| {
            outcome = result;
            ControlFlow::Continue(())
        });
        outcome
    }

    /// Plans a change for the item as it is now, with the holdings of the neighbours that `look` finds.
    fn planned(
        &self,
        item: &StoredItem,
        amendment: &Amendment<'_>,
        look: impl FnOnce(&Holding) -> Vec<Holding>,
    ) -> Result<(ReadSidecar, Planned), AmendError> {
        let read = item.read_sidecar()?;
        let mut plan = plan(&read.sidecar, read.seal, &*amendment.change)?;
        if !plan.changes.is_empty() {
            let (id, now) = (self.collection.custody_id()?, self.caller.clock.now());
            let amended = plan.sidecar.amended(id, Amended::Description, now, []);
            plan.sidecar = amended.map_err(|cause| CollectionError::Unchangeable {
                name: item.name().clone(),
                cause,
            })?;
        }
        let own = item.holding(&read, self.collection.id())?;
        let neighbours = look(&own);
        let mut seen = with_line(self.collection, item.name(), &own)?;
        seen.extend(neighbours.iter().cloned());
        custody::may_change(&own, &seen).map_err(|refusal| {
            let (name, refusal) = (item.name().clone(), Box::new(refusal));
            AmendError::Refused { name, refusal }
        })?;
        Ok((read, Planned { plan, neighbours }))
    }

    /// Changes locked items. `outcomes` has their plans, at the places in `changing`.
    fn change(
        &self,
        (writer, locks): (&Writer, &ChangeLocks),
        changing: &[(usize, &Amendment<'_>, &Planned)],
        outcomes: &mut [Result<Plan, AmendError>],
    ) -> Result<(), CollectionError> {
        let (lookup, mut rewrites, mut at_of) = (Lookup::new(self.collection), vec![], vec![]);
        for (at, amendment, planned) in changing {
            // Another process may have changed the item before it was locked.
            let rewrite = self.rewrite((locks, &lookup), amendment, planned);
            outcomes[*at] = rewrite.map(|(rewrite, plan)| {
                at_of.extend(rewrite.iter().map(|_| *at));
                rewrites.extend(rewrite);
                plan
            });
        }
        let ends = writer.rewrite(locks, &rewrites)?;
        for (at, end) in at_of.into_iter().zip(ends) {
            match end {
                Ok(()) => {}
                Err(CollectionError::Changed { name, .. }) => {
                    outcomes[at] = Err(AmendError::Outdated { name });
                }
                Err(error) => outcomes[at] = Err(error.into()),
            }
        }
        Ok(())
    }

    /// The change of the item as it is now, if any, and its plan.
    fn rewrite<'l>(
        &self,
        (locks, lookup): (&'l ChangeLocks, &Lookup<'l>),
        amendment: &Amendment<'_>,
        planned: &Planned,
    ) -> Result<(Option<Rewrite<'l>>, Plan), AmendError> {
        let item = locks.item(lookup, &amendment.name)?;
        let item = item.ok_or_else(|| self.collection.absent(&amendment.name))?;
        let neighbours = |_: &Holding| planned.neighbours.clone();
        let (read, Planned { plan, .. }) = self.planned(&item, amendment, neighbours)?;
        if plan.changes.is_empty() {
            return Ok((None, plan));
        }
        let text = read.rewritten(&plan.name, &plan.sidecar)?;
        let line = Line { event: self.event(&plan), after: Here::of(&plan.sidecar) };
        Ok((Some(Rewrite { item, version: read.version, text, line }), plan))
    }

    fn event(&self, plan: &Plan) -> Event {
        let Caller { agent, clock, .. } = self.caller;
        let event = Event::new(EventKind::Description, &plan.name, clock.now(), agent);
        event.with_digest(plan.sidecar.payload.digest).with_changes(plan.changes.clone())
    }
}

impl<'c> collection::Change<Amendment<'c>> for Amender<'_> {
    type Planned = Planned;
    type Done = Plan;
    type Error = AmendError;

    fn name<'w>(amendment: &'w Amendment<'c>) -> &'w RepositoryName {
        &amendment.name
    }

    fn interrupted() -> AmendError {
        AmendError::Interrupted
    }

    fn plan(&self, amendment: &Amendment<'c>) -> Result<Planned, AmendError> {
        let item = self.collection.named_item(&amendment.name)?;
        let look = |own: &Holding| self.sight.look(item.name(), own);
        let (read, planned) = self.planned(&item, amendment, look)?;
        let plan = &planned.plan;
        if self.writer.is_none() && !plan.changes.is_empty() {
            // A plan refuses what the change would refuse.
            read.rewritten(&plan.name, &plan.sidecar)?;
        }
        Ok(planned)
    }

    fn act(&self, group: &[(&Amendment<'c>, &Planned)]) -> Outcomes<Plan, AmendError> {
        let mut outcomes: Vec<_> = group.iter().map(|(_, it)| Ok(it.plan.clone())).collect();
        let Some(writer) = self.writer else { return Ok(outcomes) };
        let (unchanged, changing): (Vec<_>, Vec<_>) =
            group.iter().enumerate().partition(|(_, (_, it))| it.plan.changes.is_empty());
        if !unchanged.is_empty() {
            // An earlier run may have been killed before it synced their descriptions.
            let names = unchanged.iter().map(|(_, (_, it))| it.plan.name.as_str());
            self.collection.confirm_names(names)?;
        }
        if changing.is_empty() {
            return Ok(outcomes);
        }
        let changing: Vec<_> =
            changing.into_iter().map(|(at, (it, planned))| (at, *it, *planned)).collect();
        if let Some(locks) = self.locks.filter(|locks| locks.cover(self.collection)) {
            self.change((writer, locks), &changing, &mut outcomes)?;
        } else {
            let Caller { agent, .. } = self.caller;
            let locks = lock_changes([self.collection], agent, &self.caller.waiter())?;
            self.change((writer, &locks), &changing, &mut outcomes)?;
        }
        Ok(outcomes)
    }
}

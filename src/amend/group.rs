//! Many items: planned one by one, then locked, and planned again where they changed.

use std::ops::ControlFlow;

use super::{AmendError, Amender, Amendment, Plan, plan};
use crate::agent::Caller;
use crate::collection::{
    self, ChangeLocks, CollectionError, Event, EventKind, Lookup, Outcomes, ReadSidecar, Rewrite,
    StoredItem, Writer, carry_out, lock_changes,
};
use crate::custody::{Holding, Permit};
use crate::holdings::with_line_read;
use crate::identity::RepositoryName;
use crate::sidecar::Amended;

/// Receives the result of each item, in order, and says whether to go on.
pub type Report<'r> = dyn FnMut(&RepositoryName, Result<Plan, AmendError>) -> ControlFlow<()> + 'r;

/// A planned change, and what it was made from: under the lock, neither the neighbours nor an unchanged sidecar are asked
/// again.
pub(crate) struct Planned {
    plan: Plan,
    read: ReadSidecar,
    own: Holding,
    neighbours: Vec<Holding>,
    permit: Permit,
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
    ) -> Result<Planned, AmendError> {
        let read = item.read_sidecar()?;
        let mut plan = plan(&read.sidecar, read.seal, &*amendment.change)?;
        let own = item.holding(&read, self.collection.id())?;
        let neighbours = look(&own);
        let permit = self.permit(&plan.name, &own, &neighbours)?;
        if !plan.changes.is_empty() {
            let now = self.caller.clock.now();
            let amended = plan.sidecar.amended(&permit, Amended::Description, now, []);
            plan.sidecar = amended.map_err(|cause| CollectionError::Unchangeable {
                name: item.name().clone(),
                cause,
            })?;
        }
        Ok(Planned { plan, read, own, neighbours, permit })
    }

    /// The permit for the holding `own`, by the last line of the ledger and by what the neighbours have.
    fn permit(
        &self,
        name: &RepositoryName,
        own: &Holding,
        neighbours: &[Holding],
    ) -> Result<Permit, AmendError> {
        let mut seen = with_line_read(self.collection, name, own)?;
        seen.extend(neighbours.iter().cloned());
        Permit::amend(own, &seen, self.collection.custody_id()?).map_err(|refusal| {
            let refusal = Box::new(self.sight.named(&[self.collection], refusal));
            AmendError::Refused { name: name.clone(), refusal }
        })
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
        let again;
        let Planned { plan, read, permit, .. } = if item.has_version(planned.read.version)? {
            // The line may have been written since.
            self.permit(&planned.plan.name, &planned.own, &planned.neighbours)?;
            planned
        } else {
            let neighbours = |_: &Holding| planned.neighbours.clone();
            again = self.planned(&item, amendment, neighbours)?;
            &again
        };
        if plan.changes.is_empty() {
            return Ok((None, plan.clone()));
        }
        let after = (permit, plan.sidecar.clone());
        let rewrite = Rewrite::new(item, read, after, self.event(plan))?;
        Ok((Some(rewrite), plan.clone()))
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

    fn follow(&self) {
        self.sight.follow();
    }

    fn plan(&self, amendment: &Amendment<'c>) -> Result<Planned, AmendError> {
        let item = self.collection.named_item(&amendment.name)?;
        let look = |own: &Holding| self.sight.look(item.name(), own);
        let planned = self.planned(&item, amendment, look)?;
        let plan = &planned.plan;
        if self.writer.is_none() && !plan.changes.is_empty() {
            // A plan refuses what the change would refuse.
            planned.read.rewritten(&plan.name, &plan.sidecar)?;
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

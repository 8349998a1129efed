//! Many items: planned one by one, then locked, planned again where they changed, and replaced together.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::{AmendError, Amender, Amendment, Plan, plan};
use crate::agent::Caller;
use crate::collection::{
    ChangeLocks, CollectionError, Event, EventKind, Here, LockedItem, Lookup, ReadSidecar,
    StoredItem, Writer, items_at_a_time, lock_changes,
};
use crate::custody;
use crate::disk::Version;
use crate::holdings::with_line;
use crate::identity::RepositoryName;
use crate::sidecar::{Amended, NewText};

/// Receives the result of each item, in order, and says whether to go on.
pub type Report<'r> = dyn FnMut(&RepositoryName, Result<Plan, AmendError>) -> ControlFlow<()> + 'r;

/// An amendment with its place among the outcomes.
type Numbered<'a, 'c> = (usize, &'a Amendment<'c>);

/// An item whose sidecar is to be replaced.
struct Changed<'l> {
    item: LockedItem<'l>,
    /// The version of the sidecar that the change was planned for.
    version: Version,
    text: NewText,
}

impl Amender<'_> {
    /// Changes the items of `amendments`, a group at a time. Every change is durable before `report` receives
    /// it.
    pub fn amend_all<'c>(
        &self,
        amendments: impl IntoIterator<Item = Amendment<'c>>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let most = items_at_a_time();
        let mut group: Vec<Amendment<'c>> = Vec::new();
        let mut names = HashSet::new();
        for amendment in amendments {
            // The second change of an item is planned for the result of the first.
            if group.len() == most || !names.insert(amendment.name.folded()) {
                self.amend_group(&std::mem::take(&mut group), report)?;
                names = HashSet::from([amendment.name.folded()]);
            }
            group.push(amendment);
        }
        self.amend_group(&group, report)
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

    fn amend_group(&self, group: &[Amendment<'_>], report: &mut Report<'_>) -> ControlFlow<()> {
        let (mut outcomes, mut changing, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
        for (at, amendment) in group.iter().enumerate() {
            let item = self.collection.named_item(&amendment.name).map_err(AmendError::from);
            let planned = item.and_then(|item| {
                let (read, plan) = self.plan(&item, amendment)?;
                if self.writer.is_none() && !plan.changes.is_empty() {
                    // A plan refuses what the change would refuse.
                    read.rewritten(&plan.name, &plan.sidecar)?;
                }
                Ok(plan)
            });
            match &planned {
                Ok(plan) if plan.changes.is_empty() => unchanged.push((at, plan.name.clone())),
                Ok(_) => changing.push((at, amendment)),
                Err(_) => {}
            }
            outcomes.push(planned);
        }
        if let Some(writer) = self.writer {
            self.confirm_unchanged(&unchanged, &mut outcomes);
            self.change(writer, &changing, &mut outcomes);
        }
        for (amendment, outcome) in group.iter().zip(outcomes) {
            self.caller.progress.finish_item(amendment.name.as_str());
            report(&amendment.name, outcome)?;
        }
        ControlFlow::Continue(())
    }

    /// Plans a change for the item as it is now.
    fn plan(
        &self,
        item: &StoredItem,
        amendment: &Amendment<'_>,
    ) -> Result<(ReadSidecar, Plan), AmendError> {
        if self.caller.interrupt.requested() {
            return Err(AmendError::Interrupted);
        }
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
        let seen = with_line(self.collection, item.name(), &own)?;
        custody::may_change(&own, &seen).map_err(|refusal| {
            let (name, refusal) = (item.name().clone(), Box::new(refusal));
            AmendError::Refused { name, refusal }
        })?;
        Ok((read, plan))
    }

    /// Makes sure that the descriptions of items which stay unchanged have reached the disk: an earlier run
    /// may have been killed before it synced them.
    fn confirm_unchanged(
        &self,
        items: &[(usize, RepositoryName)],
        outcomes: &mut [Result<Plan, AmendError>],
    ) {
        if items.is_empty() {
            return;
        }
        let synced = self.collection.confirm_names(items.iter().map(|(_, name)| name.as_str()));
        if let Err(error) = synced {
            fail(items.iter().map(|(at, _)| *at), error.into(), outcomes);
        }
    }

    /// Locks the collection and changes items.
    fn change(
        &self,
        writer: &Writer,
        items: &[Numbered<'_, '_>],
        outcomes: &mut [Result<Plan, AmendError>],
    ) {
        if items.is_empty() {
            return;
        }
        if let Some(locks) = self.locks.filter(|locks| locks.cover(self.collection)) {
            return self.change_locked(writer, locks, items, outcomes);
        }
        match lock_changes([self.collection], self.caller.agent, &self.caller.waiter()) {
            Ok(locks) => self.change_locked(writer, &locks, items, outcomes),
            Err(error) => fail(items.iter().map(|(at, _)| *at), error.into(), outcomes),
        }
    }

    fn change_locked(
        &self,
        writer: &Writer,
        locks: &ChangeLocks,
        items: &[Numbered<'_, '_>],
        outcomes: &mut [Result<Plan, AmendError>],
    ) {
        let (lookup, mut ready) = (Lookup::new(self.collection), Vec::new());
        for (at, amendment) in items {
            // Another process may have changed the item before it was locked.
            let planned = self.plan_with_text((locks, &lookup), amendment);
            outcomes[*at] = planned.map(|(changed, plan)| {
                ready.extend(changed.map(|changed| (*at, changed)));
                plan
            });
        }
        self.replace((writer, locks), &ready, outcomes);
    }

    /// Replaces sidecars that are still the ones their changes were planned for, and logs every change that was made.
    fn replace(
        &self,
        (writer, locks): (&Writer, &ChangeLocks),
        ready: &[(usize, Changed<'_>)],
        outcomes: &mut [Result<Plan, AmendError>],
    ) {
        if ready.is_empty() {
            return;
        }
        let staged = match writer.stage_sidecars(ready.iter().map(|(_, changed)| &changed.text)) {
            Ok(staged) => staged,
            Err(error) => return fail(ready.iter().map(|(at, _)| *at), error.into(), outcomes),
        };
        let (mut replaced, mut items) = (Vec::new(), Vec::new());
        let mut events = Vec::new();
        for ((at, Changed { item, version, .. }), staged) in ready.iter().zip(&staged) {
            let Ok(plan) = &outcomes[*at] else { continue };
            // A person who edits it takes no lock.
            let put = match item.has_version(*version) {
                Ok(true) => writer.rename_sidecar(staged, item).map_err(AmendError::from),
                Ok(false) => Err(AmendError::Outdated { name: plan.name.clone() }),
                Err(error) => Err(error.into()),
            };
            match put {
                Ok(()) => {
                    events.push(self.event(plan).leaving(Here::of(&plan.sidecar)));
                    replaced.push(*at);
                    items.push(item);
                }
                Err(error) => outcomes[*at] = Err(error),
            }
        }
        if items.is_empty() {
            return;
        }
        let synced = writer.sync_sidecars(&items);
        // Changed they are, even if the disk does not confirm it.
        let recorded = self.collection.record(locks, &events);
        if let Err(error) = synced.and(recorded) {
            let mut source = Some(error);
            for (at, item) in replaced.into_iter().zip(items) {
                let name = item.name().clone();
                outcomes[at] = Err(match source.take() {
                    Some(source) => AmendError::NotDurable { name, source },
                    None => AmendError::Unconfirmed { name },
                });
            }
        }
    }

    /// The plan for the item as it is now, and the text that its sidecar gets.
    fn plan_with_text<'l>(
        &self,
        (locks, lookup): (&'l ChangeLocks, &Lookup<'l>),
        amendment: &Amendment<'_>,
    ) -> Result<(Option<Changed<'l>>, Plan), AmendError> {
        let item = locks.item(lookup, &amendment.name)?;
        let item = item.ok_or_else(|| self.collection.absent(&amendment.name))?;
        let (read, plan) = self.plan(&item, amendment)?;
        if plan.changes.is_empty() {
            return Ok((None, plan));
        }
        let text = read.rewritten(&plan.name, &plan.sidecar)?;
        Ok((Some(Changed { item, version: read.version, text }), plan))
    }

    fn event(&self, plan: &Plan) -> Event {
        let Caller { agent, clock, .. } = self.caller;
        let event = Event::new(EventKind::Description, &plan.name, clock.now(), agent);
        event.with_digest(plan.sidecar.payload.digest).with_changes(plan.changes.clone())
    }
}

/// The first of these items fails with `error`, the others with it.
fn fail(
    items: impl Iterator<Item = usize>,
    error: AmendError,
    outcomes: &mut [Result<Plan, AmendError>],
) {
    let mut error = Some(error);
    for at in items {
        outcomes[at] = Err(error.take().unwrap_or(AmendError::GroupFailed));
    }
}

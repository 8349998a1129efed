//! Changing items in groups, which share their locks and syncs.
//!
//! Every change of existing items takes the same way. It is planned without a lock ([`Change::plan`]); under the lock it is
//! planned again ([`Change::act`]); then the run notes the names, replaces sidecars ([`Writer::rewrite`]) or whole items
//! ([`Writer::swap`]), syncs, appends the lines, and takes back the note. So a run that ends in between leaves the note, and
//! the next writer adds the lines.
//!
//! What was changed stays changed when the disk fails afterwards. Therefore the outcome of each item says whether the item
//! was reached: [`Stopped`].

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::change_note::ChangeNote;
use crate::agent::Caller;
use crate::collection::{
    ChangeLocks, Collection, CollectionError, Event, Here, LockedItem, ReadSidecar, Stopped,
    Trashed, Writer, Years, items_at_a_time,
};
use crate::custody::Permit;
use crate::disk::{PathError, Version};
use crate::identity::RepositoryName;
use crate::sidecar::{NewText, Sidecar};

/// Limit on the files of the items of one group: the lists of their files may be in memory.
const MOST_FILES: u64 = 1 << 16;

/// The outcome of each item of a group, in its order. An error of the whole group left every item in place.
pub(crate) type Outcomes<D, E> = Result<Vec<Result<D, E>>, CollectionError>;

/// Receives the outcome of each item, in order, and says whether to go on.
pub(crate) type Report<'r, D, E> = dyn FnMut(&RepositoryName, Result<D, E>) -> ControlFlow<()> + 'r;

/// A change of items, each as a `W` says: planned without a lock, one after the other, and made for a group.
pub(crate) trait Change<W> {
    /// An item that can be changed.
    type Planned;
    /// The outcome of an item.
    type Done;
    /// Why an item stays as it is.
    type Error: From<CollectionError> + From<PathError>;

    /// The item of `wanted`.
    fn name(wanted: &W) -> &RepositoryName;

    /// The error of an item that is not begun because a stop was requested.
    fn interrupted() -> Self::Error;

    /// Reads on what all plans of a group ask: the ledgers of the collections in sight.
    fn follow(&self);

    /// Plans the change of an item.
    fn plan(&self, wanted: &W) -> Result<Self::Planned, Self::Error>;

    /// The files of a planned item.
    fn files(_: &Self::Planned) -> u64 {
        0
    }

    /// Changes the items of a group.
    fn act(&self, group: &[(&W, &Self::Planned)]) -> Outcomes<Self::Done, Self::Error>;

    /// Changes one item, perhaps with more room than there is for a group.
    fn act_alone(&self, one: (&W, &Self::Planned)) -> Outcomes<Self::Done, Self::Error> {
        self.act(&[one])
    }
}

/// A line of the ledger about a changed item.
#[derive(Debug)]
pub(crate) struct Line {
    event: Event,
    /// The holding before the change, as the change saw it under the lock.
    before: Here,
    /// The holding after the change.
    after: Here,
    /// Whether the last line is known to say what `before` says: the ledger need not be asked what it lacks.
    pub is_recorded: bool,
}

impl Line {
    /// The line about an item whose sidecar was `before` and becomes `after`, with the custody of `permit`.
    pub(crate) fn new(permit: &Permit, before: &Sidecar, after: &Sidecar, event: Event) -> Line {
        let after = Here::under(permit, after.state, after.changed());
        Line { event, before: Here::of(before), after, is_recorded: false }
    }

    fn event(&self) -> Event {
        self.event.clone().leaving(self.after.clone())
    }
}

/// An item under its lock that gets another sidecar.
#[derive(Debug)]
pub(crate) struct Rewrite<'l> {
    item: LockedItem<'l>,
    /// The version of the sidecar that `text` was made of. A person who edits it takes no lock.
    version: Version,
    text: NewText,
    line: Line,
}

impl<'l> Rewrite<'l> {
    /// The sidecar that was `read` becomes `after`, with the custody of `permit`.
    pub(crate) fn new(
        item: LockedItem<'l>,
        read: &ReadSidecar,
        (permit, after): (&Permit, Sidecar),
        event: Event,
    ) -> Result<Rewrite<'l>, CollectionError> {
        let after = Sidecar { custody: permit.custody().clone(), ..after };
        let text = read.rewritten(item.name(), &after)?;
        let line = Line::new(permit, &read.sidecar, &after, event);
        Ok(Rewrite { item, version: read.version, text, line })
    }

    /// The Copy that was `before`, with a sidecar of this version, gets the text of the sidecar that its source has.
    pub(crate) fn refresh(
        item: LockedItem<'l>,
        (before, version): (Here, Version),
        (text, after): (NewText, Here),
        event: Event,
    ) -> Rewrite<'l> {
        Rewrite { item, version, text, line: Line { event, before, after, is_recorded: false } }
    }
}

/// An item under its lock, and the entry of the trash that is to be in its place.
#[derive(Debug)]
pub(crate) struct Swap<'l> {
    pub item: LockedItem<'l>,
    pub entry: &'l Trashed,
    pub line: Line,
}

/// Changes items in groups, and passes each outcome to `report`, in order, until that ends the run.
pub(crate) fn carry_out<W, C: Change<W>>(
    change: &C,
    caller: &Caller<'_>,
    wanted: impl IntoIterator<Item = W>,
    report: &mut Report<'_, C::Done, C::Error>,
) -> ControlFlow<()> {
    let (mut group, mut names, mut files) = (Vec::new(), HashSet::new(), 0);
    for wanted in wanted {
        let name = C::name(&wanted).folded();
        // The second change of an item is planned for the result of the first.
        if names.contains(&name) {
            close(change, caller, std::mem::take(&mut group), report)?;
            names.clear();
            files = 0;
        }
        if group.is_empty() {
            change.follow();
        }
        let planned =
            if caller.interrupt.requested() { Err(C::interrupted()) } else { change.plan(&wanted) };
        files += planned.as_ref().map_or(0, C::files);
        names.insert(name);
        group.push((wanted, planned));
        if group.len() >= items_at_a_time() || files >= MOST_FILES {
            close(change, caller, std::mem::take(&mut group), report)?;
            names.clear();
            files = 0;
        }
    }
    close(change, caller, group, report)
}

/// A planned item of a group, or why it stays.
type Ready<W, C> = (W, Result<<C as Change<W>>::Planned, <C as Change<W>>::Error>);

fn close<W, C: Change<W>>(
    change: &C,
    caller: &Caller<'_>,
    group: Vec<Ready<W, C>>,
    report: &mut Report<'_, C::Done, C::Error>,
) -> ControlFlow<()> {
    let ready = group.iter().filter_map(|(wanted, planned)| Some((wanted, planned.as_ref().ok()?)));
    let ready: Vec<_> = ready.collect();
    let mut outcomes =
        if caller.interrupt.requested() { Vec::new() } else { act(change, &ready) }.into_iter();
    for (wanted, planned) in group {
        let name = C::name(&wanted);
        let outcome =
            planned.and_then(|_| outcomes.next().unwrap_or_else(|| Err(C::interrupted())));
        caller.progress.finish_item(name.as_str());
        report(name, outcome)?;
    }
    ControlFlow::Continue(())
}

fn act<W, C: Change<W>>(change: &C, group: &[(&W, &C::Planned)]) -> Vec<Result<C::Done, C::Error>> {
    let alone = |one: &(&W, &C::Planned)| {
        let done = change.act_alone(*one).map_err(of_item::<W, C>)?;
        done.into_iter().next().unwrap_or_else(|| Err(C::interrupted()))
    };
    match group {
        [] => Vec::new(),
        [one] => vec![alone(one)],
        all => match change.act(all) {
            Ok(outcomes) => outcomes,
            // One by one, each would wait for the same lock.
            Err(CollectionError::Locked { collection, cause }) => {
                let locked = |_| {
                    let (collection, cause) = (collection.clone(), cause.clone());
                    Err(CollectionError::Locked { collection, cause }.into())
                };
                all.iter().map(locked).collect()
            }
            // One by one, each error is that of its item, and the disk need not have room for all of them.
            Err(_) => all.iter().map(alone).collect(),
        },
    }
}

/// The error of the only item of a group.
fn of_item<W, C: Change<W>>(error: CollectionError) -> C::Error {
    match error {
        CollectionError::Disk(error) => error.into(),
        error => error.into(),
    }
}

/// The end of each item of a group, in its order.
type Ends = Vec<Result<(), CollectionError>>;

impl Writer {
    /// Replaces the sidecars of items of one collection durably, and records that. An error left all of them in place.
    ///
    /// It takes two syncs in all. On a full disk it takes more: replaced sidecars make room for the next ones.
    pub(crate) fn rewrite(
        &self,
        locks: &ChangeLocks,
        rewrites: &[Rewrite<'_>],
    ) -> Result<Ends, PathError> {
        let Some(first) = rewrites.first() else { return Ok(Vec::new()) };
        let items: Vec<_> = rewrites.iter().map(|it| (it.item.name(), &it.line)).collect();
        let collection = first.item.collection();
        let missing = self.missing_lines(collection, &items)?;
        let mut staged = self.stage_as_fits(rewrites)?;
        let announced = self.announce(rewrites.iter().map(|it| it.item.name()));
        let announced = announced.inspect_err(|_| self.discard_sidecars(&staged))?;
        let mut ends = Ends::new();
        let synced = loop {
            let begun = ends.len();
            let batch = rewrites[begun..].iter().zip(&staged);
            ends.extend(batch.map(|(it, staged)| self.put_sidecar(staged, it)));
            let replaced = rewrites[begun..].iter().zip(&ends[begun..]);
            let replaced: Vec<_> =
                replaced.filter(|(_, end)| end.is_ok()).map(|(it, _)| &it.item).collect();
            let synced = self.sync_sidecars(&replaced);
            let rest = &rewrites[ends.len()..];
            if synced.is_err() || rest.is_empty() {
                break synced;
            }
            match self.stage_as_fits(rest) {
                Ok(next) => staged = next,
                Err(error) => {
                    ends.push(Err(error.into()));
                    break Ok(());
                }
            }
        };
        let not_reached =
            |it: &Rewrite<'_>| Err(Stopped::NotReached { name: it.item.name().clone() }.into());
        ends.extend(rewrites[ends.len()..].iter().map(not_reached));
        end((announced, missing), &items, &mut ends, synced, |events| {
            collection.record(locks, events)
        });
        Ok(ends)
    }

    /// Swaps items of one collection with entries of its trash, durably, and records that, on a full disk with the reserve. An
    /// error left all of them in place.
    pub(crate) fn swap(&self, locks: &ChangeLocks, swaps: &[Swap<'_>]) -> Result<Ends, PathError> {
        let Some(first) = swaps.first() else { return Ok(Vec::new()) };
        let collection = first.item.collection();
        let items: Vec<_> = swaps.iter().map(|it| (it.item.name(), &it.line)).collect();
        let missing = self.missing_lines(collection, &items)?;
        let trash = collection.ensure_trash()?;
        let announced = self.announce(swaps.iter().map(|it| it.item.name()))?;
        let mut years = Years::of(collection);
        let mut swap =
            |it: &Swap<'_>| it.item.swap_in(years.place(it.item.name())?, &trash, it.entry.path());
        let mut ends: Ends = swaps.iter().map(&mut swap).collect();
        let synced = collection.sync_swapped(swaps.iter().map(|it| it.item.name()));
        end((announced, missing), &items, &mut ends, synced, |events| {
            collection.with_reserve(|| collection.record(locks, events))
        });
        Ok(ends)
    }

    /// The lines that the ledger lacks about these items as they are, before they are changed: those of an earlier run that
    /// was cut off.
    fn missing_lines(
        &self,
        collection: &Collection,
        items: &[(&RepositoryName, &Line)],
    ) -> Result<Vec<Option<Event>>, PathError> {
        let missing = |(name, line): &(&RepositoryName, &Line)| {
            if line.is_recorded {
                return Ok(None);
            }
            collection.missing_line((name, &line.before), line.event.date, self.agent())
        };
        items.iter().map(missing).collect()
    }

    /// Stages the sidecars of the first of `rewrites`, synced: at least one, and as many as the disk has room for.
    fn stage_as_fits(&self, rewrites: &[Rewrite<'_>]) -> Result<Vec<PathBuf>, PathError> {
        let mut staged = Vec::new();
        let mut stage = || {
            for Rewrite { text, .. } in rewrites {
                match self.stage_sidecar(text) {
                    Err(error) if error.is_full() && !staged.is_empty() => break,
                    sidecar => staged.push(sidecar?),
                }
            }
            self.sync_staged_sidecars(staged.iter().map(PathBuf::as_path))
        };
        match stage() {
            Ok(()) => Ok(staged),
            Err(error) => {
                self.discard_sidecars(&staged);
                Err(error)
            }
        }
    }

    fn put_sidecar(&self, staged: &Path, rewrite: &Rewrite<'_>) -> Result<(), CollectionError> {
        let Rewrite { item, version, .. } = rewrite;
        if item.has_version(*version)? {
            return Ok(self.rename_sidecar(staged, item)?);
        }
        self.discard_sidecar(staged);
        let path = item.collection().path().to_path_buf();
        Err(CollectionError::Changed { name: item.name().clone(), path })
    }

    fn discard_sidecars(&self, staged: &[PathBuf]) {
        for staged in staged {
            self.discard_sidecar(staged);
        }
    }
}

/// Records the items that were changed, even if the disk did not confirm that, and notes in `ends` whether it did.
fn end(
    (announced, missing): (ChangeNote<'_>, Vec<Option<Event>>),
    items: &[(&RepositoryName, &Line)],
    ends: &mut [Result<(), CollectionError>],
    synced: Result<(), PathError>,
    record: impl FnOnce(&[Event]) -> Result<(), PathError>,
) {
    // A rename that failed may have been made.
    let is_unsure = |end: &Result<(), CollectionError>| {
        matches!(end, Err(CollectionError::Disk(_) | CollectionError::Stopped(_)))
    };
    let is_sure = !ends.iter().any(is_unsure);
    let changed = items.iter().zip(missing).zip(&*ends).filter(|(_, end)| end.is_ok());
    let events =
        changed.flat_map(|(((_, line), missing), _)| missing.into_iter().chain([line.event()]));
    let events: Vec<_> = events.collect();
    match synced.and(record(&events)) {
        Ok(()) if is_sure => announced.settle(),
        Ok(()) => {}
        Err(error) => {
            let mut source = Some(error);
            for ((name, _), end) in items.iter().zip(ends).filter(|(_, end)| end.is_ok()) {
                let (name, source) = ((*name).clone(), source.take());
                *end = Err(Stopped::Unconfirmed { name, source }.into());
            }
        }
    }
}

//! The preparing side: staged items get names and sidecars, group by group, while the previous group is
//! synced and published.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use super::group::{Group, LabeledItem, Prepared, Staged, size};
use super::sidecars::SidecarWriter;
use super::{DepositError, DuplicateIndex, Outcome, duplicates};
use crate::clock::Clock;
use crate::collection::{Collection, CollectionError, Here, Issuer, Label, Writer};
use crate::custody::Permit;
use crate::flow::{Flow, Reservation};
use crate::identity::SECOND;
use crate::interrupt::Interrupt;
use crate::item::State;

/// Forms groups of staged items, in the order of the requests.
pub(super) struct Preparer<'a, 'b> {
    pub collection: &'a Collection,
    pub writer: &'a Writer,
    pub issuer: &'a mut Issuer<'b>,
    pub clock: &'a dyn Clock,
    /// Finds duplicates in the collection.
    pub known: Option<&'a dyn DuplicateIndex>,
    /// Number of sidecars written at a time.
    pub jobs: usize,
    pub interrupt: &'a Interrupt,
    pub flow: &'a Flow<Prepared>,
    /// An error has occurred that would stop every group.
    pub is_over: &'a AtomicBool,
    /// The number of the first request of the next group.
    pub next: usize,
}

impl Preparer<'_, '_> {
    /// Passes on groups until all requests are in one, or the other side has ended.
    pub(super) fn run(mut self, groups: &SyncSender<Group>) {
        let flow = self.flow;
        for requests in flow.groups(size) {
            // A failure means that the other side has ended.
            if groups.send(self.prepare(requests)).is_err() {
                return;
            }
        }
    }

    fn prepare(&mut self, requests: Vec<Prepared>) -> Group {
        let mut group = Group { count: requests.len(), ..Group::default() };
        // After a stop is requested, completely staged items are still published, except streams, which may
        // have ended because of the stop. Waiting for a name ends as well.
        let is_stopping = self.interrupt.requested();
        let is_over = self.is_over.load(Ordering::Acquire);
        if is_stopping {
            self.issuer.stop_waiting();
        }
        let mut staged = Vec::with_capacity(requests.len());
        for (number, mut request) in (self.next..).zip(requests) {
            if let Ok(staged) = &mut request {
                group.reserved.extend(staged.reserved.take());
            }
            match request {
                Ok(one) if is_over => group.ended.push(one.fails(DepositError::GroupFailed)),
                Ok(one) if is_stopping && one.is_stream => {
                    group.ended.push(one.fails(DepositError::Interrupted));
                }
                Ok(one) => staged.push(one),
                Err((source, error)) => {
                    group.ended.push(Outcome { number, source, result: Err(error) });
                }
            }
        }
        self.next += group.count;
        if let Some(known) = self.known {
            staged = duplicates::take_out(staged, known, self.writer, &mut group);
        }
        let named = self.name(staged, &mut group);
        self.write_sidecars(named, &mut group);
        if group.fatal.is_some() {
            self.is_over.store(true, Ordering::Release);
        }
        group
    }

    /// Takes labels for all items. If that fails, the items without a label fail.
    fn name(&mut self, staged: Vec<Staged>, group: &mut Group) -> Vec<(Staged, Label)> {
        let mut named = Vec::with_capacity(staged.len());
        let mut waiting: BTreeMap<Vec<usize>, Vec<Staged>> = BTreeMap::new();
        for staged in staged {
            if let Some(label) = staged.given.label.clone() {
                named.push((staged, label));
            } else {
                let subsystems = self.issuer.choose(&staged.metadata, staged.payload.bytes);
                waiting.entry(subsystems).or_default().push(staged);
            }
        }
        let mut failed = false;
        for (subsystems, staged) in waiting {
            let mut waiting = staged.into_iter();
            while waiting.len() > 0 && !failed {
                match self.issuer.issue_from(&subsystems, waiting.len()) {
                    Ok((labels, told)) => {
                        group.notices.extend(told);
                        named.extend(
                            labels.into_iter().zip(&mut waiting).map(|(label, it)| (it, label)),
                        );
                    }
                    Err(CollectionError::Distributor(_)) if self.interrupt.requested() => {
                        failed = true;
                    }
                    Err(error) => {
                        group.fatal = Some(error.into());
                        failed = true;
                    }
                }
            }
            let fails = |staged: Staged| match group.fatal {
                None => staged.fails(DepositError::Interrupted),
                Some(_) => staged.fails(DepositError::GroupFailed),
            };
            let left: Vec<_> = waiting.map(fails).collect();
            group.ended.extend(left);
        }
        named
    }

    fn write_sidecars(&self, labelled: Vec<(Staged, Label)>, group: &mut Group) {
        let now = self.clock.now().floor(SECOND);
        let mut named = Vec::with_capacity(labelled.len());
        for (staged, label) in labelled {
            match self.collection.custody_id() {
                Ok(id) => {
                    let permit = Permit::issue(id, self.collection.id());
                    let here = Here::under(&permit, State::Original, now.max(label.date));
                    named.push(LabeledItem { staged, label, here });
                }
                Err(error) => group.ended.push(staged.fails(DepositError::from(error))),
            }
        }
        let writing = SidecarWriter { writer: self.writer, jobs: self.jobs };
        let written = writing.write_all(&named);
        group.reserved.iter_mut().for_each(Reservation::has_sidecar);
        for (named, written) in named.into_iter().zip(written) {
            match written {
                Ok(()) => group.ready.push(named),
                Err(error) => group.ended.push(named.staged.fails(error)),
            }
        }
    }
}

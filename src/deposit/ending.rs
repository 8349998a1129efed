//! The publishing side: what is staged is gathered, published in groups and reported in order.

use std::collections::BTreeMap;

use super::flow::{Flow, Message, Taken};
use super::group::{Publisher, Staged};
use super::pipeline::Summary;
use super::{DepositError, Deposited, OnError, Options, Outcome, SourceRule, removal};
use crate::collection::Collection;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// A group is published when it has so many items, files or bytes, or when nothing else is under way.
pub(super) const GROUP_ITEMS: usize = 2048;
const GROUP_FILES: usize = 32 * 1024;
const GROUP_BYTES: u64 = 512 * 1024 * 1024;

/// The publishing side: gathers what is staged, publishes it in groups and reports it in order.
pub(super) struct Ending<'a, R> {
    pub summary: &'a mut Summary,
    pub report: &'a mut R,
    pub progress: &'a dyn Progress,
    pub interrupt: &'a Interrupt,
    pub options: Options,
    pub collection: &'a Collection,
    pub flow: &'a Flow,
}

/// What can be published or reported next.
#[derive(Default)]
struct Gathered {
    /// Staged or failed, not yet next in order.
    early: BTreeMap<usize, Result<Staged, (String, DepositError)>>,
    /// Next in order.
    ready: Vec<Result<Staged, (String, DepositError)>>,
    next: usize,
    files: usize,
    bytes: u64,
}

impl Gathered {
    fn add(&mut self, (number, result): Message) {
        self.early.insert(number, result);
        while let Some(result) = self.early.remove(&self.next) {
            self.next += 1;
            if let Ok(staged) = &result {
                self.files += staged.done.entries.len();
                self.bytes += staged.plan.bytes;
            }
            self.ready.push(result);
        }
    }

    fn is_full(&self) -> bool {
        self.ready.len() >= GROUP_ITEMS || self.files >= GROUP_FILES || self.bytes >= GROUP_BYTES
    }
}

impl<R: FnMut(Vec<Outcome>) -> Result<(), DepositError>> Ending<'_, R> {
    pub(super) fn collect(&mut self, publisher: &mut Publisher<'_, '_>) {
        let mut gathered = Gathered::default();
        while let Some(Taken { messages, idle }) = self.flow.take() {
            for message in messages {
                gathered.add(message);
            }
            if gathered.is_full() || idle {
                let Gathered { ready, early, next, .. } = std::mem::take(&mut gathered);
                gathered = Gathered { early, next, ..Gathered::default() };
                self.publish(ready, publisher);
            }
        }
        self.publish(gathered.ready, publisher);
    }

    fn publish(
        &mut self,
        ready: Vec<Result<Staged, (String, DepositError)>>,
        publisher: &mut Publisher<'_, '_>,
    ) {
        let count = ready.len();
        let halted = self.summary.fatal.is_some() || self.interrupt.requested();
        let mut outcomes = BTreeMap::new();
        let mut group = Vec::new();
        for (at, result) in ready.into_iter().enumerate() {
            match result {
                Ok(staged) if halted => {
                    let error = match self.summary.fatal {
                        Some(_) => DepositError::GroupFailed,
                        None => DepositError::Interrupted,
                    };
                    outcomes.insert(at, (staged.source, Err(error)));
                }
                Ok(staged) => group.push((at, staged)),
                Err((source, error)) => {
                    outcomes.insert(at, (source, Err(error)));
                }
            }
        }
        let places: BTreeMap<usize, usize> =
            group.iter().map(|(at, staged)| (staged.number, *at)).collect();
        if !group.is_empty() {
            let group = group.into_iter().map(|(_, staged)| staged).collect();
            let (results, fatal) = publisher.publish(group, &mut self.summary.notices);
            for (staged, result) in results {
                let result = result.map(|deposited| self.remove_source(&staged, deposited));
                outcomes.insert(places[&staged.number], (staged.source, result));
            }
            if let Some(error) = fatal {
                self.stop(error);
            }
        }
        let outcomes: Vec<_> =
            outcomes.into_values().map(|(source, result)| Outcome { source, result }).collect();
        for outcome in &outcomes {
            self.count(outcome);
        }
        if !outcomes.is_empty()
            && let Err(error) = (self.report)(outcomes)
        {
            self.stop(error);
        }
        self.flow.leave(count);
    }

    fn remove_source(&self, staged: &Staged, mut deposited: Deposited) -> Deposited {
        if self.options.sources == SourceRule::Remove {
            let kept =
                removal::remove_source(staged, &deposited.label, self.collection, self.interrupt);
            deposited.left = kept.iter().map(ToString::to_string).collect();
        }
        deposited
    }

    fn count(&mut self, outcome: &Outcome) {
        if let Ok(deposited) = &outcome.result {
            self.summary.deposited += 1;
            self.summary.bytes += deposited.payload.bytes;
        } else {
            self.summary.failed += 1;
            if self.options.on_error == OnError::Stop {
                self.flow.stop();
            }
        }
        self.progress.finish_item(&outcome.source);
    }

    fn stop(&mut self, error: DepositError) {
        self.summary.fatal.get_or_insert(error);
        self.flow.stop();
    }
}

//! The publishing side: what is staged is gathered, published in groups and reported in order.

use std::collections::BTreeMap;

use super::group::{Prepared, Publisher, Staged};
use super::pipeline::Summary;
use super::{DepositError, Deposited, OnError, Options, Outcome, SourceRule, removal};
use crate::collection::Collection;
use crate::flow::{Flow, Gathered, Size, Taken};
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// The publishing side: gathers what is staged, publishes it in groups and reports it in order.
pub(super) struct Ending<'a, R> {
    pub summary: &'a mut Summary,
    pub report: &'a mut R,
    pub progress: &'a dyn Progress,
    pub interrupt: &'a Interrupt,
    pub options: Options,
    pub collection: &'a Collection,
    pub flow: &'a Flow<Prepared>,
    /// How many requests have been reported.
    pub reported: usize,
}

impl<R: FnMut(Vec<Outcome>) -> Result<(), DepositError>> Ending<'_, R> {
    pub(super) fn collect(&mut self, publisher: &mut Publisher<'_, '_>) {
        let mut gathered = Gathered::default();
        while let Some(Taken { messages, idle }) = self.flow.take() {
            for message in messages {
                gathered.add(message, size);
            }
            if gathered.is_full() || idle {
                self.publish(gathered.take(), publisher);
            }
        }
        self.publish(gathered.take(), publisher);
    }

    fn publish(&mut self, ready: Vec<Prepared>, publisher: &mut Publisher<'_, '_>) {
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
        let first = self.reported;
        self.reported += count;
        let outcomes: Vec<_> = outcomes
            .into_iter()
            .map(|(at, (source, result))| Outcome { number: first + at, source, result })
            .collect();
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
        match &outcome.result {
            Ok(deposited) => {
                self.summary.deposited += 1;
                self.summary.bytes += deposited.payload.bytes;
            }
            Err(DepositError::Held(_)) => {}
            Err(_) => {
                self.summary.failed += 1;
                if self.options.on_error == OnError::Stop {
                    self.flow.stop();
                }
            }
        }
        self.progress.finish_item(&outcome.source);
    }

    fn stop(&mut self, error: DepositError) {
        self.summary.fatal.get_or_insert(error);
        self.flow.stop();
    }
}

fn size(prepared: &Prepared) -> Size {
    match prepared {
        Ok(staged) => Size { files: staged.done.entries.len(), bytes: staged.plan.bytes },
        Err(_) => Size::default(),
    }
}

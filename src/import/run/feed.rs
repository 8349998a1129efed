//! Turning candidates into requests, unless nothing needs to be done or an error occurs.

use super::{Begun, RunState, event_of_refused, lock, settled};
use crate::deposit::source_removal::{SourceKept, Times};
use crate::deposit::{Request, SourcePlace, in_words};
use crate::import::candidate::{Candidate, FoundCandidate};
use crate::import::decide::{Decision, PlannedItem, Planner};
use crate::import::sources::Entry;
use crate::import::{Became, Event, ImportError};

/// Produces requests, as fast as they are taken.
pub(super) struct RequestFeed<'s, 'a, 'l, 't, I> {
    pub shared: &'s RunState<'a, 'l, 't>,
    pub judge: Planner<'a>,
    pub candidates: I,
}

impl<I: Iterator<Item = FoundCandidate>> Iterator for RequestFeed<'_, '_, '_, '_, I> {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        loop {
            if self.shared.interrupt.requested()
                || lock(&self.shared.output).summary.fatal.is_some()
            {
                return None;
            }
            let found = self.candidates.next()?;
            let (event, place) = match found {
                Ok(candidate) => {
                    let place = candidate.place.clone();
                    match self.begin(candidate) {
                        Begin::Request(request) => return Some(*request),
                        Begin::Event(event) => (event, Some(place)),
                        Begin::Nothing => continue,
                    }
                }
                Err(refused) => (Box::new(event_of_refused(*refused)), None),
            };
            self.shared.progress.finish_item(&event.source);
            self.shared.tell(vec![(*event, place)]);
        }
    }
}

enum Begin {
    Request(Box<Request>),
    Event(Box<Event>),
    Nothing,
}

impl<I> RequestFeed<'_, '_, '_, '_, I> {
    fn begin(&mut self, candidate: Candidate) -> Begin {
        let since = lock(&self.shared.known).end();
        let mut failed = String::new();
        let decided = loop {
            let decided = self.decide(&candidate);
            let Err(error) = &decided else { break decided };
            let now = error.to_string();
            if now == failed || !error.may_be_of_another() {
                break decided;
            }
            // While another import removes the source, each look finds less of it.
            failed = now;
            if let Err(error) = self.shared.catch_up() {
                break Err(error);
            }
        };
        let (became, line) = match decided {
            Ok((key, Some(Decision::Deposit(wanted)))) => {
                return Begin::Request(Box::new(self.request((candidate, key, since), *wanted)));
            }
            Ok((_, Some(decision))) => match settled(decision) {
                Some(settled) => settled,
                None => return Begin::Nothing,
            },
            Ok((_, None)) => (Became::Twice, None),
            Err(error) => (Became::Failed(error), None),
        };
        if let Some(line) = line {
            let unsynced = (!line.is_same).then(|| line.name.clone());
            let confirmed = lock(&self.shared.known).confirm(unsynced.as_slice());
            let added = confirmed.and_then(|()| self.shared.record(&[line]));
            if let Err(error) = added {
                return self.end(candidate, error);
            }
        }
        let place = candidate.place.clone();
        Begin::Event(Box::new(self.released(Event::of(candidate, became), &place)))
    }

    /// The key of a candidate, and what is to be done; `None` if its source is becoming an item already.
    fn decide(
        &mut self,
        candidate: &Candidate,
    ) -> Result<(Vec<u8>, Option<Decision>), ImportError> {
        let key = self.judge.key(candidate)?;
        if lock(&self.shared.under_way).keys.contains(&key) {
            return Ok((key, None));
        }
        let of_source = |key: &[u8], fits: &dyn Fn(&Entry) -> bool| {
            lock(&self.shared.known).of_source(key, fits)
        };
        let decision = self.judge.decide(candidate, &key, &of_source)?;
        Ok((key, Some(decision)))
    }

    /// Removes the source of an item as requested, and notes failures.
    fn released(&self, mut told: Event, place: &SourcePlace) -> Event {
        let name = match &told.became {
            Became::There(name) | Became::OtherRules(name) => name,
            Became::Left(line) => &line.name,
            _ => return told,
        };
        if self.shared.remover.is_some() {
            told.left = match self.judge.rules.looker.payload(place) {
                Ok(payload) => self.shared.release(name, (place, &payload), Times::Any),
                // An earlier run has removed it.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
                Err(error) => vec![in_words(&SourceKept::from(error))],
            };
        }
        told
    }

    /// A failure to write the rejects ends the run.
    fn end(&self, candidate: Candidate, error: ImportError) -> Begin {
        lock(&self.shared.output).summary.fatal.get_or_insert(error);
        let interrupted = crate::deposit::DepositError::GroupFailed;
        Begin::Event(Box::new(Event::of(candidate, Became::Failed(interrupted.into()))))
    }

    fn request(
        &self,
        (candidate, key, since): (Candidate, Vec<u8>, u64),
        wanted: PlannedItem,
    ) -> Request {
        let name = candidate.label.as_ref().map(|label| label.name.clone());
        let PlannedItem { request, payload, .. } = wanted;
        let Candidate { place, row, .. } = candidate;
        let mut under_way = lock(&self.shared.under_way);
        let number = under_way.next;
        under_way.next += 1;
        under_way.keys.insert(key.clone());
        under_way.begun.insert(number, Begun { key, name, since, place, payload, row });
        request
    }
}

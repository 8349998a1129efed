//! Reporting failures: sources that cannot become items are moved on request, and the same failure is
//! reported once.

use super::{RunState, lock};
use crate::deposit::{SourcePlace, in_words};
use crate::import::after::reject;
use crate::import::failure::{is_of_source, reported};
use crate::import::ledger::ReportedFailure;
use crate::import::{Became, Event};

impl RunState<'_, '_, '_> {
    /// Reports events, each with the place of its source, and then notes the failures among them.
    pub(super) fn tell(&self, told: Vec<(Event, Option<SourcePlace>)>) {
        let mut failures = Vec::new();
        let mut events = Vec::with_capacity(told.len());
        for (mut event, place) in told {
            // A row can be corrected without its source, so it is reported each time.
            let place = place
                .or_else(|| event.path.clone().map(SourcePlace::Path))
                .filter(|_| event.row.is_none());
            if let Some(failure) = place.and_then(|place| self.failure(&mut event, &place)) {
                event.is_known = lock(&self.ledger).is_reported(&failure);
                failures.extend((!event.is_known).then_some(failure));
            }
            events.push(event);
        }
        let is_fatal = {
            let mut output = lock(&self.output);
            output.tell(events);
            output.summary.fatal.is_some()
        };
        if !is_fatal {
            let noted = lock(&self.ledger).add_failures(failures);
            if let Err(error) = noted {
                lock(&self.output).summary.fatal.get_or_insert(error);
            }
        }
    }

    /// The failure in an event, unless its source was moved away.
    fn failure(&self, event: &mut Event, place: &SourcePlace) -> Option<ReportedFailure> {
        let reason = match &event.became {
            Became::Failed(error) if is_of_source(error, &place.path()) => {
                let mut reason = in_words(error);
                match self.rejected.as_ref().map(|to| reject(to, place, &self.looker)) {
                    Some(Ok(moved)) => {
                        event.rejected = Some(Ok(moved));
                        return None;
                    }
                    Some(Err(error)) => {
                        let error = in_words(&error);
                        reason = format!("{reason}\n{error}");
                        event.rejected = Some(Err(error));
                    }
                    None => {}
                }
                reason
            }
            Became::Failed(_) => return None,
            _ if event.left.is_empty() => return None,
            _ => event.left.join("\n"),
        };
        Some(reported(place, &reason, &self.looker))
    }
}

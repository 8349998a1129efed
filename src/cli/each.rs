//! Doing something with each of several items: a bad one does not stop the others.

use serde_json::json;
use urepo::disk::PathError;

use super::Done;
use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;
use super::human;
use super::report::{End, Tally};

/// Does `act` with each of `items`. A single one is a single answer, and ends with its own failure.
pub(crate) fn each(context: &Context, items: &[String], mut act: impl FnMut(&str) -> Done) -> Done {
    if let [only] = items {
        return act(only);
    }
    let mut tally = Tally::new(context, false);
    let done = tally.meant(items, |item| act(item)).len() as u64;
    finish(tally, done)
}

/// Ends a run that read items.
pub(crate) fn finish(tally: Tally<'_>, done: u64) -> Done {
    let failed = tally.failed;
    let partial = (failed > 0).then(|| {
        let items = human::count(failed, "item");
        Failure::new(Exit::Partial, format!("{items} could not be read"))
            .hint("`urepo verify --quick` lists what is wrong")
    });
    let counts = json!({ "items": done, "failed": failed });
    let done = format!("{} read", human::count(done, "item"));
    tally.finish(End { done, partial, counts, ..End::default() })
}

/// Why a visit to many items ends early.
pub(crate) enum Stop {
    Failure(Failure),
    Disk(PathError),
}

impl From<PathError> for Stop {
    fn from(error: PathError) -> Stop {
        Stop::Disk(error)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        match stop {
            Stop::Failure(failure) => failure,
            Stop::Disk(error) => error.into(),
        }
    }
}

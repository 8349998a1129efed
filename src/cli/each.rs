//! Doing something with each of several items: a bad one does not stop the others.

use urepo::disk::PathError;

use super::Done;
use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;
use super::human;

/// Failures met on the way, told as they come.
pub(crate) struct Tally<'a> {
    context: &'a Context,
    failed: u64,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(context: &'a Context) -> Tally<'a> {
        Tally { context, failed: 0 }
    }

    /// Tells a failure and goes on, unless it concerns the whole run.
    pub(crate) fn note(&mut self, done: Done) -> Done {
        match done {
            Err(failure) if failure.ends_the_run() => Err(failure),
            Err(failure) => {
                failure.tell(&self.context.printer);
                self.failed += 1;
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// How the run ended.
    pub(crate) fn finish(self) -> Done {
        match self.failed {
            0 => Ok(()),
            failed => {
                let items = human::count(failed, "item");
                Err(Failure::new(Exit::Partial, format!("{items} could not be read"))
                    .hint("`urepo verify --quick` lists what is wrong"))
            }
        }
    }
}

/// Does `act` with each of `items`; a single one ends with its own failure.
pub(crate) fn each(context: &Context, items: &[String], mut act: impl FnMut(&str) -> Done) -> Done {
    if let [only] = items {
        return act(only);
    }
    let mut tally = Tally::new(context);
    for item in items {
        tally.note(act(item))?;
    }
    tally.finish()
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

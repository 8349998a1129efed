//! How a run ends: what its last record says, and what its exit code is where stdout has failed.

use serde_json::{Value, json};

use super::Done;
use super::exit::Exit;
use super::failure::Failure;
use super::printer::{Printer, Purpose};
use super::record;

/// Writes the summary record of a run over items: what it counted, and the code that it ends with.
pub(crate) fn summary(printer: &Printer, ended: &Done, counts: Value) -> Done {
    let exit = ended.as_ref().err().map_or(Exit::Success, |failure| failure.exit);
    let mut summary = json!({ "type": "summary", "version": 1 });
    record::extend(&mut summary, counts);
    record::extend(&mut summary, json!({ "exit_code": exit.code() }));
    printer.record(&summary)
}

/// Says why a run failed, if it did, and gives its exit code.
pub(crate) fn conclude(done: Done, printer: &Printer) -> Exit {
    let failure = match (done, printer.lost()) {
        (Ok(()), None) => return Exit::Success,
        (Err(failure), None) => failure,
        (Err(failure), Some(_)) if failure.exit == Exit::Interrupted => failure,
        // As `head` expects of those before it in a pipeline.
        (_, Some(lost)) if printer.purpose == Purpose::Answer && lost.reader_left => {
            return Exit::Success;
        }
        (Ok(()), Some(lost)) if printer.purpose == Purpose::Work => {
            Failure::of_stdout(lost).hint("the work itself is done; only its report is lost")
        }
        (Err(failure), Some(_)) if printer.purpose == Purpose::Work => failure,
        (_, Some(lost)) => Failure::of_stdout(lost),
    };
    failure.tell(printer);
    failure.exit
}

//! Telling what became of each item, and how the run ended.

use urepo::collection::Collection;
use urepo::deposit::{DepositError, Deposited, Outcome, Summary};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::printer::{Output, Verbosity};
use crate::cli::report::{End, Tally};
use crate::cli::{Done, human, record};

/// Tells each outcome as it comes.
pub(super) struct Teller<'a> {
    pub(super) context: &'a Context,
    pub(super) collection: &'a Collection,
    pub(super) tally: Tally<'a>,
    /// Items whose source is still there, though it was to go.
    pub(super) left: u64,
}

impl Teller<'_> {
    /// One write for a whole group: the names leave together.
    pub(super) fn tell_all(&mut self, outcomes: Vec<Outcome>) -> Result<(), DepositError> {
        let printer = &self.context.printer;
        let mut output = printer.output();
        for Outcome { source, result, .. } in outcomes {
            match result {
                Ok(deposited) => {
                    self.tell_what_was_not_done(&source, &deposited);
                    if printer.json {
                        output.record(&self.record(&source, &deposited));
                    } else {
                        output.line(deposited.label.name.as_str());
                    }
                }
                Err(error) => self.tell_failure(&mut output, &source, error.into()),
            }
        }
        printer.send(&output).map_err(|failure| failure.into_path_error().into())
    }

    /// Tells a failed item, on stdout as a record.
    fn tell_failure(&mut self, output: &mut Output, source: &str, failure: Failure) {
        let printer = &self.context.printer;
        let tell = |failure: &Failure| {
            printer.error(&format!("`{source}` was not deposited: {}", failure.in_one_line()));
        };
        // The engine knows itself when to stop.
        let _ = self.tally.fails(output, serde_json::json!({ "source": source }), failure, tell);
    }

    fn tell_what_was_not_done(&mut self, source: &str, deposited: &Deposited) {
        let printer = &self.context.printer;
        let lost = deposited.lost;
        if lost.special_modes > 0 {
            let count = human::count(lost.special_modes, "file");
            printer.warning(&format!("special permission bits of {count} in `{source}` not kept"));
        }
        if lost.extended_attributes > 0 {
            let count = human::count(lost.extended_attributes, "file");
            printer.warning(&format!("extended attributes of {count} in `{source}` not kept"));
        }
        self.left += u64::from(!deposited.left.is_empty());
        for left in &deposited.left {
            printer.error(&format!("`{source}` was deposited but not removed: {left}"));
        }
    }

    fn record(&self, source: &str, deposited: &Deposited) -> serde_json::Value {
        let name = &deposited.label.name;
        let ibip = deposited.label.ibip.as_ref().map(ToString::to_string);
        let path = self.collection.root().path_of(urepo::layout::item_directory(name));
        let mut record = record::item(name.as_str(), ibip.as_deref(), &path, Some("Original"));
        let fields = serde_json::json!({
            "source": source, "files": deposited.payload.files, "bytes": deposited.payload.bytes,
            "digest": format!("sha256:{}", deposited.payload.digest),
            "source_left": deposited.left,
        });
        record::extend(&mut record, fields);
        record
    }
}

/// Says how the run ended and with which code.
pub(super) fn finish(
    context: &Context,
    summary: Summary,
    Teller { mut tally, left, .. }: Teller<'_>,
    broken: Option<Failure>,
) -> Done {
    let printer = &context.printer;
    for notice in &summary.notices {
        printer.warning(&notice.to_string());
    }
    let Summary { deposited, bytes, fatal, .. } = summary;
    let failed = tally.failed;
    let fatal = fatal.map(|error| explain_fatal(error, deposited));
    for failure in [broken, fatal].into_iter().flatten() {
        tally.ends(failure);
    }
    let partial = if failed > 0 {
        let of = deposited + failed;
        let message = format!("{failed} of {of} items were not deposited");
        let hint = "the others are; mend what is named above and repeat with those paths only";
        Some(Failure::new(Exit::Partial, message).hint(hint))
    } else {
        (left > 0).then(|| {
            let items = human::count(left, "item");
            Failure::new(Exit::Partial, format!("the sources of {items} are still there")).hint(
                "what is named above is in the collection as well, and can be removed by hand",
            )
        })
    };
    let counts = serde_json::json!({
        "deposited": deposited, "failed": failed, "left": left, "bytes": bytes,
    });
    let done = format!("{} deposited", human::count(deposited, "item"));
    let is_told = !tally.is_single() && printer.verbosity == Verbosity::Verbose;
    let items = human::count(deposited, "item");
    tally.finish(End {
        done,
        hint: Some("every printed name is whole and on the disk; nothing is left of the others"),
        partial,
        counts,
        closing: is_told.then(|| format!("deposited {items}, {}", human::bytes(bytes))),
        ..End::default()
    })
}

/// What ended the whole run before its time.
fn explain_fatal(error: DepositError, deposited: u64) -> Failure {
    let failure = Failure::from(error);
    if deposited == 0 {
        failure
    } else {
        let before = human::count(deposited, "item");
        failure.caused_by(format!("before it {before} came whole to the disk"))
    }
}

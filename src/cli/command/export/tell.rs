//! Telling what became of each item, and how the run ended.

use std::os::unix::ffi::OsStrExt;
use std::sync::PoisonError;

use serde_json::json;
use urepo::export::{ExportError, Exported, Outcome, Summary};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::printer::Verbosity;
use crate::cli::select::{Failures, Meaningless};
use crate::cli::{Done, human, record, report};

/// Tells each outcome as it comes.
pub(super) struct Teller<'a> {
    context: &'a Context,
    /// Whether one item was asked for, which then ends with its own failure.
    is_single: bool,
    is_stream: bool,
    /// The failure that the run ends with.
    last: Option<Failure>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(context: &'a Context, is_single: bool, is_stream: bool) -> Teller<'a> {
        Teller { context, is_single, is_stream, last: None }
    }

    /// Tells the outcomes of a group.
    pub(super) fn tell_all(&mut self, outcomes: Vec<Outcome>) -> Result<(), ExportError> {
        for Outcome { name, result } in outcomes {
            match result {
                Ok(exported) => self.tell(name.as_str(), &exported),
                Err(error) => self.tell_failure(name.as_str(), error.into()),
            }
            .map_err(|failure| ExportError::Stream(failure.into_io_error()))?;
        }
        Ok(())
    }

    fn tell(&self, name: &str, exported: &Exported) -> Done {
        let printer = &self.context.printer;
        let Exported { place, files, bytes, lost } = exported;
        let is_dry = self.context.global.dry_run;
        let told = [
            (lost.links_skipped, "link", "left out"),
            (lost.links_followed, "link", "replaced by what it leads to"),
            (lost.empty_directories, "empty directory", "named in metadata/item.toml alone"),
        ];
        for (count, what, done) in told.into_iter().filter(|(count, ..)| *count > 0) {
            let what = human::count(count, what).replace("directorys", "directories");
            printer.warning(&format!("{name}: {what} {done}"));
        }
        let size = format!("{}, {}", human::count(*files, "file"), human::bytes(*bytes));
        if printer.json {
            let mut record = record::item(name, None, place, None);
            let fields = json!({
                "planned": is_dry, "files": files, "bytes": bytes,
                "links_skipped": lost.links_skipped, "links_followed": lost.links_followed,
                "empty_directories": lost.empty_directories,
            });
            record::extend(&mut record, fields);
            return printer.record(&record);
        }
        if is_dry {
            return printer.line(&format!("would export {name} ({size})"));
        }
        if self.is_stream {
            printer.detail(&format!("exported {name} ({size})"));
            return Ok(());
        }
        printer.exact(&[place.as_os_str().as_bytes(), b"\n"].concat())
    }

    fn tell_failure(&mut self, name: &str, failure: Failure) -> Done {
        let printer = &self.context.printer;
        if failure.exit == Exit::Interrupted || failure.ends_the_run() {
            self.last = Some(failure);
            return Ok(());
        }
        if printer.json {
            let message = failure.in_one_line();
            let error = json!({ "code": failure.exit.code(), "message": message });
            let record = json!({
                "type": "item", "version": 1, "id": name, "ok": false, "error": error,
            });
            printer.record(&record)?;
        }
        if self.is_single {
            self.last = Some(failure);
        } else if !printer.json {
            failure.tell(printer);
        }
        Ok(())
    }

    /// Says how the run ended, with what was met while the items were looked for.
    pub(super) fn finish(mut self, mut summary: Summary, met: &Failures) -> Done {
        let printer = &self.context.printer;
        let met = std::mem::take(&mut *met.lock().unwrap_or_else(PoisonError::into_inner));
        summary.failed += met.len() as u64;
        for Meaningless { failure, .. } in met {
            if self.is_single {
                self.last = Some(failure);
            } else {
                failure.tell(printer);
            }
        }
        let ended = self.failure(&mut summary).map_or(Ok(()), Err);
        if printer.json {
            let counts = json!({
                "exported": summary.exported,
                "failed": summary.failed, "files": summary.files, "bytes": summary.bytes,
                "planned": self.context.global.dry_run,
            });
            report::summary(printer, &ended, counts)?;
        } else if ended.as_ref().err().is_none_or(|failure| failure.exit == Exit::Partial) {
            self.close(&summary);
        }
        ended
    }

    fn close(&self, summary: &Summary) {
        let printer = &self.context.printer;
        if self.context.global.dry_run || printer.verbosity == Verbosity::Quiet {
            return;
        }
        if summary.exported == 0 {
            printer.note("exported nothing");
            return;
        }
        let items = human::count(summary.exported, "item");
        let files = human::count(summary.files, "file");
        printer.note(&format!("exported {items}, {files}, {}", human::bytes(summary.bytes)));
    }

    fn failure(&mut self, summary: &mut Summary) -> Option<Failure> {
        if self.context.interrupt.requested() {
            let done = human::count(summary.exported, "item");
            let message = format!("interrupted; {done} exported before it");
            return Some(Failure::new(Exit::Interrupted, message));
        }
        if let Some(error) = summary.fatal.take() {
            return Some(error.into());
        }
        if let Some(failure) = self.last.take() {
            let is_cut = summary.cut_short && !failure.ends_the_run();
            let cut = "the stream ends in the middle of it; do not use it";
            return Some(if is_cut { failure.caused_by(cut) } else { failure });
        }
        let all = summary.exported + summary.failed;
        if summary.cut_short {
            let message = format!("the stream ends in the middle of item {all}; do not use it");
            return Some(
                Failure::new(Exit::Damage, message)
                    .hint("the reason is named above; leave that item out, or repair it"),
            );
        }
        (summary.failed > 0).then(|| {
            let message = format!("{} of {all} items were not exported", summary.failed);
            Failure::new(Exit::Partial, message).hint("each is named above, with its reason")
        })
    }
}

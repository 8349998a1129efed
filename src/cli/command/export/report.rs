//! Reports the outcome of each item and the end of the run.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use urepo::export::{ExportError, Exported, NamedBy, Outcome, Summary};

use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Item};
use crate::cli::report::{End, Report};
use crate::cli::{Done, human};

/// Reports each outcome as it comes.
pub(super) struct Reporter<'a> {
    context: &'a Context,
    is_stream: bool,
    named_by: NamedBy,
    report: Report<'a>,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(
        context: &'a Context,
        is_single: bool,
        (is_stream, named_by): (bool, NamedBy),
    ) -> Reporter<'a> {
        let report = Report::new(context, Did::Exported, is_single);
        Reporter { context, is_stream, named_by, report }
    }

    /// Reports the outcomes of a group.
    pub(super) fn report_all(&mut self, outcomes: Vec<Outcome>) -> Result<(), ExportError> {
        for Outcome { name, result } in outcomes {
            match result {
                Ok(exported) => self.tell(name.as_str(), &exported),
                // An identifier is the name of no other item; any file may have that of a source.
                Err(ExportError::Exists { path }) if self.named_by == NamedBy::Identifier => {
                    self.leave(name.as_str(), &path)
                }
                Err(error) => {
                    // The engine stops by itself.
                    let _ = self.report.failed(name.as_str(), error.into());
                    Ok(())
                }
            }
            .map_err(|failure| ExportError::Stream(failure.into_io_error()))?;
        }
        Ok(())
    }

    fn leave(&mut self, name: &str, place: &Path) -> Done {
        let printer = &self.context.printer;
        self.report.add(Did::Unchanged, (0, 0));
        if printer.json {
            let path = Some(records::path(place));
            let dry_run = self.context.global.dry_run;
            return printer.record(&Item { path, dry_run, ..Item::became(name, Did::Unchanged) });
        }
        printer.detail(&format!("{} is there already", place.display()));
        Ok(())
    }

    fn tell(&mut self, name: &str, exported: &Exported) -> Done {
        let printer = &self.context.printer;
        let Exported { place, files, bytes, lost } = exported;
        let is_dry = self.context.global.dry_run;
        let told = [
            (lost.links_skipped, "link", "left out"),
            (lost.links_followed, "link", "replaced by what it leads to"),
            (lost.empty_directories, "empty directory", "named in metadata/item.toml alone"),
        ];
        for (count, what, done) in told.into_iter().filter(|(count, ..)| *count > 0) {
            let what = human::count(count, what);
            printer.warning(&format!("{name}: {what} {done}"));
        }
        self.report.add(Did::Exported, (*files, *bytes));
        let size = human::size(*files, *bytes);
        if printer.json {
            return printer.record(&Item {
                path: Some(records::path(place)),
                dry_run: is_dry,
                files: Some(*files),
                bytes: Some(*bytes),
                export: Some(records::Export {
                    links_skipped: lost.links_skipped,
                    links_followed: lost.links_followed,
                    empty_directories: lost.empty_directories,
                }),
                ..Item::became(name, Did::Exported)
            });
        }
        if self.is_stream && !is_dry {
            printer.detail(&format!("exported {name} as {} ({size})", place.display()));
            return Ok(());
        }
        if self.report.is_folded() {
            return Ok(());
        }
        if is_dry {
            return printer.line(&format!("would export {name} as {} ({size})", place.display()));
        }
        printer.exact(&[place.as_os_str().as_bytes(), b"\n"].concat())
    }

    /// Reports the end of the run, with failures of the selection.
    pub(super) fn finish(mut self, summary: Summary) -> Done {
        let Summary { cut_short, fatal, .. } = summary;
        let _ = self.report.unresolved();
        if let Some(error) = fatal {
            self.report.fatal(error.into());
        }
        let all = self.report.number_of(Did::Exported) + self.report.errors();
        if cut_short {
            self.report.caused_by("the stream ends in the middle of it; do not use it");
        }
        let partial = cut_short.then(|| {
            let message = format!("the stream ends in the middle of item {all}; do not use it");
            let hint = "the reason is named above; leave that item out, or repair it";
            Failure::new(Exit::Damage, message).hint(hint)
        });
        self.report.finish(End { partial, ..End::default() })
    }
}

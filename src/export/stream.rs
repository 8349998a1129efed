//! Exporting items into one tar stream, one after the other.

use std::io::Write;
use std::ops::ControlFlow;

use super::name::GivenNames;
use super::part::CheckTime;
use super::run::{Report, exported};
use super::tar::{Stream, Tar};
use super::{
    ExportError, Exported, Exporter, Format, NameFeed, Outcome, RunMode, Summary, Tombstones,
};
use crate::collection::Lookup;
use crate::identity::RepositoryName;

impl Exporter<'_> {
    /// Writes all items that `feed` names into one tar stream, and calls `report` with each outcome.
    ///
    /// An item whose damage is found before its first byte is written is left out. After that, nothing can be
    /// taken back: the stream ends there, so that its reader notices.
    pub fn to_stream(
        &self,
        output: &mut dyn Write,
        feed: Box<NameFeed<'_>>,
        report: &mut Report<'_>,
    ) -> Summary {
        let mut summary = Summary::default();
        if let Err(error) = self.stream(output, feed, report, &mut summary) {
            summary.fatal.get_or_insert(error);
        }
        summary
    }

    fn stream(
        &self,
        output: &mut dyn Write,
        feed: Box<NameFeed<'_>>,
        report: &mut Report<'_>,
        summary: &mut Summary,
    ) -> Result<(), ExportError> {
        let items = Lookup::new(self.collection);
        let mut stream = Stream(output);
        let mut tar = Tar::new(&mut stream);
        let mut names = GivenNames::new(self.options.named_by);
        let mut failure = None;
        let fed = feed(&mut |name| {
            if self.caller.interrupt.requested() {
                failure = Some(ExportError::Interrupted);
                return ControlFlow::Break(());
            }
            tar.has_begun = false;
            let result = self.stream_one(&items, &name, &mut names, &mut tar).transpose();
            let Some(result) = result else { return ControlFlow::Continue(()) };
            summary.cut_short = tar.has_begun && result.is_err();
            let outcome = Outcome { name, result };
            summary.count(&outcome);
            if let Err(error) = report(vec![outcome]) {
                failure = Some(error);
            }
            if failure.is_some() || summary.cut_short {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if let Some(error) = failure.or(fed.err().map(ExportError::from)) {
            summary.cut_short = true;
            tar.cut()?;
            return Err(error);
        }
        // If none of the named items exists, nothing is written, not even an empty stream.
        let has_answer = summary.exported > 0 || self.options.tombstones == Tombstones::Pass;
        if summary.cut_short {
            tar.cut()?;
        } else if has_answer && self.options.mode == RunMode::Act {
            tar.close()?;
        }
        output.flush().map_err(ExportError::Stream)
    }

    fn stream_one(
        &self,
        items: &Lookup<'_>,
        name: &RepositoryName,
        names: &mut GivenNames,
        tar: &mut Tar<'_>,
    ) -> Result<Option<Exported>, ExportError> {
        let Some(source) = self.source(items, name)? else { return Ok(None) };
        let mut write = || {
            let place = self.name_of(&source, Format::Tar);
            names.check(place.as_os_str(), source.name(), &place)?;
            let parts = self.parts(&source, Format::Tar, CheckTime::First)?;
            names.add(place.as_os_str().to_owned(), source.name());
            if self.options.mode == RunMode::Act {
                self.write(&source, &parts, Format::Tar, &place, tar)?;
            }
            Ok(exported(place, &parts))
        };
        let written = write().map_err(|error| source.explain(error, items));
        self.caller.progress.finish_item(name.as_str());
        written.map(Some)
    }
}

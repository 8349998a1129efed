//! The common parts of exports into a directory and into a stream.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::name::{file_name, source_name};
use super::outline::Outline;
use super::part::{CheckTime, Parts};
use super::sink::Sink;
use super::source::SoundItem;
use super::{ExportError, Exported, Exporter, Format, NamedBy, Outcome, Summary, Tombstones};
use crate::collection::Lookup;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;

/// Receives the outcomes. It fails if its output is closed.
pub(super) type Report<'a> = dyn FnMut(Vec<Outcome>) -> Result<(), ExportError> + 'a;

impl Exporter<'_> {
    /// The checked item; `None` if it is not wanted.
    pub(super) fn source(
        &self,
        items: &Lookup<'_>,
        name: &RepositoryName,
    ) -> Result<Option<SoundItem<'_>>, ExportError> {
        let Some(item) = items.item(name)? else {
            return Err(self.collection.absent(name).into());
        };
        let is_passed = self.options.tombstones != Tombstones::Refuse
            && item.stat(layout::SIDECAR)?.is_none()
            && item.is_no_item(self.collection)?;
        if is_passed {
            self.caller.progress.finish_item(name.as_str());
            return Ok(None);
        }
        let source = SoundItem::new(item, self.collection)?;
        let state = source.sidecar().state;
        if self.options.state.is_some_and(|wanted| !wanted.contains(state)) {
            return Ok(None);
        }
        match (state, self.options.tombstones) {
            (State::Deleted | State::Elsewhere, Tombstones::Pass | Tombstones::Bring) => {
                self.caller.progress.skip(source.sidecar().payload.bytes);
                self.caller.progress.finish_item(source.name().as_str());
                Ok(None)
            }
            (State::Deleted, Tombstones::Refuse) => {
                Err(ExportError::Deleted { name: source.name().clone() })
            }
            (State::Elsewhere, Tombstones::Refuse) => {
                let holder = source.sidecar().custody.holder().to_owned();
                Err(ExportError::Elsewhere { name: source.name().clone(), holder })
            }
            (State::Original | State::Copy, _) => Ok(Some(source)),
        }
    }

    /// The name of the item in the destination, without extension.
    pub(super) fn name_of(&self, source: &SoundItem<'_>, format: Format) -> PathBuf {
        let name = self.source_name(source, format);
        name.map_or_else(|| file_name(source.name()).into(), PathBuf::from)
    }

    fn source_name(&self, source: &SoundItem<'_>, format: Format) -> Option<OsString> {
        match self.options.named_by {
            NamedBy::Identifier => None,
            NamedBy::Source => {
                source_name(source.sidecar().origin.get("source")?.as_str()?, format)
            }
        }
    }

    /// The parts of the payload to write.
    pub(super) fn parts<'s>(
        &self,
        source: &'s SoundItem<'_>,
        format: Format,
        check: CheckTime,
    ) -> Result<Parts<'s>, ExportError> {
        match format {
            Format::Bag => Parts::in_bag(source, self.options.links, check),
            Format::Plain | Format::Tar => {
                let parts = Parts::whole(source, check)?;
                let is_described = self.options.sidecar || !self.options.metadata.is_empty();
                let name = self.source_name(source, format).filter(|_| !is_described);
                let is_bare = name.is_some_and(|name| parts.is_only(Path::new(&name)));
                Ok(Parts { is_bare, ..parts })
            }
        }
    }

    pub(super) fn write(
        &self,
        source: &SoundItem<'_>,
        parts: &Parts<'_>,
        format: Format,
        top: &Path,
        sink: &mut dyn Sink,
    ) -> Result<(), ExportError> {
        let (progress, interrupt) = (self.caller.progress, self.caller.interrupt);
        let (files, bytes) = parts.size();
        progress.expect(1, bytes);
        progress.expect_files(files);
        let now = self.caller.clock.now();
        let mut outline = Outline { source, top, sink, progress, interrupt, now };
        match format {
            Format::Plain | Format::Tar => outline.plain(parts, &self.options),
            Format::Bag => outline.bag(parts, &self.options),
        }
    }
}

/// The report on an item with these parts.
pub(super) fn exported(place: PathBuf, parts: &Parts<'_>) -> Exported {
    let (files, bytes) = parts.size();
    Exported { place, files, bytes, lost: parts.lost }
}

impl Summary {
    pub(super) fn count(&mut self, outcome: &Outcome) {
        match &outcome.result {
            Ok(exported) => {
                self.exported += 1;
                self.files += exported.files;
                self.bytes += exported.bytes;
            }
            Err(_) => self.failed += 1,
        }
    }
}

//! The layout of an exported item, below its directory.

use std::path::Path;

use super::part::{Part, Parts};
use super::sink::{Sink, Text, write_text};
use super::source::SoundItem;
use super::{ExportError, Options};
use crate::identity::Instant;
use crate::interrupt::Interrupt;
use crate::layout;
use crate::progress::Progress;
use crate::sidecar::NewText;

/// The mode of additional directories.
const DIRECTORY_MODE: u32 = 0o755;

/// Writes one item to a sink.
pub(super) struct Outline<'a> {
    pub source: &'a SoundItem<'a>,
    /// Its directory or file in the sink.
    pub top: &'a Path,
    pub sink: &'a mut dyn Sink,
    pub progress: &'a dyn Progress,
    pub interrupt: &'a Interrupt,
    pub now: Instant,
}

/// A small file that describes an item: its name and text.
pub(super) type Description = (&'static str, NewText);

/// The sidecar and the requested descriptions, in the order of their names.
pub(super) fn descriptions(
    source: &SoundItem<'_>,
    options: &Options,
    now: Instant,
) -> Result<Vec<Description>, ExportError> {
    let formats = options.metadata.iter();
    let mut texts: Vec<Description> =
        formats.map(|it| (it.file(), NewText::Held(source.rendered(*it, now)))).collect();
    if options.sidecar {
        texts.push((layout::SIDECAR, source.text()?));
    }
    texts.sort_unstable_by_key(|(file, _)| *file);
    texts.dedup_by_key(|(file, _)| *file);
    Ok(texts)
}

impl Outline<'_> {
    /// The payload itself, or `doc` with it beside its descriptions.
    pub(super) fn plain(
        &mut self,
        parts: &Parts<'_>,
        options: &Options,
    ) -> Result<(), ExportError> {
        let descriptions = descriptions(self.source, options, self.now)?;
        if parts.is_bare {
            for (_, part) in &parts.entries {
                self.part(self.top, part)?;
            }
        } else if descriptions.is_empty() {
            self.payload(self.top, parts)?;
        } else {
            self.own_directory(self.top)?;
            self.payload(&self.top.join(layout::PAYLOAD), parts)?;
            for (file, text) in descriptions {
                self.text(&self.top.join(file), &text)?;
            }
        }
        self.sink.finish()
    }

    /// The payload at `path`, which is `doc` itself.
    pub(super) fn payload(&mut self, path: &Path, parts: &Parts<'_>) -> Result<(), ExportError> {
        self.sink.directory(path, &self.source.directory(Path::new(""))?)?;
        for (relative, part) in &parts.entries {
            self.part(&path.join(relative), part)?;
        }
        Ok(())
    }

    fn part(&mut self, path: &Path, part: &Part<'_>) -> Result<(), ExportError> {
        match part {
            Part::Directory(stamp) => self.sink.directory(path, stamp)?,
            Part::Link { target, stamp } => self.sink.link(path, target, stamp)?,
            Part::File(_) => {}
        }
        if let Some(file) = part.file() {
            self.source.copy(&file, path, self.sink, self.progress, self.interrupt)?;
        }
        Ok(())
    }

    /// A directory that does not exist in the collection.
    pub(super) fn own_directory(&mut self, path: &Path) -> Result<(), ExportError> {
        self.sink.directory(path, &Part::directory(DIRECTORY_MODE, self.modified()))
    }

    pub(super) fn text(&mut self, path: &Path, text: &dyn Text) -> Result<(), ExportError> {
        let modified = self.modified();
        write_text(self.sink, path, text, modified)
    }

    /// The time of additional entries, chosen so that the same item gives the same export.
    fn modified(&self) -> Instant {
        self.source.sidecar().changed()
    }
}

//! Exporting items into a directory, in groups, so that many small ones need few syncs.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::name::GivenNames;
use super::part::{CheckTime, Parts};
use super::place::{self, Place};
use super::run::{Report, exported};
use super::source::SoundItem;
use super::tar::{Tar, TarFile};
use super::tree::StagedTree;
use super::{
    Destination, ExportError, Exported, Exporter, Format, NameFeed, Outcome, RunMode, Summary,
};
use crate::collection::Lookup;
use crate::disk::PathError;
use crate::flow::{Footprint, ReorderBuffer, Reservations, Size};
use crate::identity::RepositoryName;

/// Limit on inodes of additional directories and files of a described item or a bag.
const INODES_OF_DESCRIPTIONS: u64 = 16;

/// An item that is complete in the stage, or has failed.
struct Ready {
    outcome: Outcome,
    /// Its place in the stage, and its name in the destination.
    staged: Option<(PathBuf, PathBuf)>,
}

impl Exporter<'_> {
    /// Exports each item that `feed` names as a directory or file, and calls `report` with the outcomes, in
    /// order, group by group.
    ///
    /// Every item reported as exported is complete and durable.
    pub fn to_directory(
        &self,
        destination: &Destination<'_>,
        feed: Box<NameFeed<'_>>,
        report: &mut Report<'_>,
    ) -> Summary {
        let mut run = IntoDirectory {
            exporter: self,
            destination,
            items: Lookup::new(self.collection),
            place: None,
            names: GivenNames::new(self.options.named_by),
            gathered: ReorderBuffer::default(),
            begun: 0,
            report,
            summary: Summary::default(),
        };
        if let Err(error) = run.carry_out(feed) {
            run.summary.fatal.get_or_insert(error);
        }
        run.summary
    }
}

/// A run that exports items into a directory.
struct IntoDirectory<'a, 'r> {
    exporter: &'a Exporter<'a>,
    destination: &'a Destination<'a>,
    items: Lookup<'a>,
    /// Created on first use: a run without exports leaves nothing.
    place: Option<Place>,
    names: GivenNames,
    gathered: ReorderBuffer<Ready>,
    begun: usize,
    report: &'a mut Report<'r>,
    summary: Summary,
}

impl IntoDirectory<'_, '_> {
    fn carry_out(&mut self, feed: Box<NameFeed<'_>>) -> Result<(), ExportError> {
        place::check(self.destination)?;
        if self.exporter.options.mode == RunMode::Act {
            // An entry that cannot be removed does not stop an export.
            let _ = place::remove_left_overs(self.destination);
        }
        let mut failure = None;
        feed(&mut |name| {
            if self.exporter.caller.interrupt.requested() {
                failure = Some(ExportError::Interrupted);
                return ControlFlow::Break(());
            }
            self.take(&name);
            if let Some(group) = self.gathered.take(false)
                && let Err(error) = self.publish(group)
            {
                failure = Some(error);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        // Complete items are published, however the run ends.
        let published = self.gathered.take(true).map_or(Ok(()), |group| self.publish(group));
        failure.map_or(published, Err)
    }

    /// Exports one item to the stage.
    fn take(&mut self, name: &RepositoryName) {
        let number = self.begun;
        let (result, staged) = match self.stage(name, number) {
            Ok(None) => return,
            Ok(Some((exported, staged))) => (Ok(exported), staged),
            Err(error) => (Err(error), None),
        };
        self.begun += 1;
        self.exporter.caller.progress.finish_item(name.as_str());
        let ready = Ready { outcome: Outcome { name: name.clone(), result }, staged };
        self.gathered.add((number, ready), |ready| match &ready.outcome.result {
            Ok(Exported { files, bytes, .. }) => {
                Size { files: usize::try_from(*files).unwrap_or(usize::MAX), bytes: *bytes }
            }
            Err(_) => Size::default(),
        });
    }

    #[expect(clippy::type_complexity, reason = "it is used once, just above")]
    fn stage(
        &mut self,
        name: &RepositoryName,
        number: usize,
    ) -> Result<Option<(Exported, Option<(PathBuf, PathBuf)>)>, ExportError> {
        let exporter = self.exporter;
        let Some(source) = exporter.source(&self.items, name)? else { return Ok(None) };
        let format = self.destination.format;
        let top = exporter.name_of(&source, format);
        let mut file = top.clone().into_os_string();
        file.push(format.extension());
        let path = self.destination.path.join(&file);
        self.names.check(&file, source.name(), &path)?;
        if place::is_taken(self.destination, &file)? {
            return Err(ExportError::Exists { path });
        }
        // The stage hides an item that turns out to be damaged.
        let look = match exporter.options.mode {
            RunMode::Plan => CheckTime::First,
            RunMode::Act => CheckTime::Later,
        };
        let parts = exporter.parts(&source, format, look);
        let parts = parts.map_err(|error| source.explain(error, &self.items))?;
        let exported = exported(path, &parts);
        if exporter.options.mode == RunMode::Plan {
            self.names.add(file, source.name());
            return Ok(Some((exported, None)));
        }
        let place = if let Some(place) = self.place.take() {
            place
        } else {
            let Destination { path, watcher, .. } = *self.destination;
            Place::new(path, watcher, exporter.caller.agent)?
        };
        let place = self.place.insert(place);
        let inodes = exporter.inodes(&parts, format);
        let footprint = Footprint::new(parts.size().1, inodes);
        if let Some(lacking) = Reservations::default().lacking(&place.dir, footprint)? {
            return Err(lacking.of(source.name(), place.dir.path()).into());
        }
        let staged = PathBuf::from(number.to_string());
        if let Err(error) = exporter.make(&source, &parts, &top, format, place, &staged) {
            // An entry that cannot be removed now is removed with the stage.
            let _ = place.stage.dir().remove_tree(&staged);
            return Err(source.explain(error, &self.items));
        }
        self.names.add(file.clone(), source.name());
        Ok(Some((exported, Some((staged, file.into())))))
    }

    /// Publishes the group: one sync for all data, one for the names.
    fn publish(&mut self, mut ready: Vec<Ready>) -> Result<(), ExportError> {
        let mut fatal = None;
        if let Some(place) = &self.place
            && ready.iter().any(|ready| ready.staged.is_some())
        {
            fatal = put_all(place, &mut ready).err();
        }
        let outcomes: Vec<_> = ready.into_iter().map(|ready| ready.outcome).collect();
        for outcome in &outcomes {
            self.summary.count(outcome);
        }
        if !outcomes.is_empty() {
            (self.report)(outcomes)?;
        }
        fatal.map_or(Ok(()), Err)
    }
}

/// An error would also stop later groups.
fn put_all(place: &Place, ready: &mut [Ready]) -> Result<(), ExportError> {
    let staged = ready.iter().filter_map(|ready| Some(&ready.staged.as_ref()?.0));
    if let Err(error) = place.stage.dir().sync_trees(staged) {
        // A failed sync is not repeated: the kernel may have dropped the bytes.
        for Ready { outcome, .. } in ready.iter_mut().filter(|ready| ready.staged.is_some()) {
            outcome.result = Err(ExportError::GroupFailed);
        }
        return Err(error.into());
    }
    let mut placed = Vec::new();
    for Ready { outcome, staged } in ready {
        let Some((from, name)) = staged else { continue };
        match place.put(from, name) {
            Ok(()) => placed.push((outcome, name)),
            Err(error) => outcome.result = Err(error),
        }
    }
    let Err(error) = place.dir.sync() else { return Ok(()) };
    for (outcome, name) in placed {
        let source = std::io::Error::new(error.kind(), error.to_string());
        outcome.result = Err(ExportError::NotDurable {
            path: place.path_of(name),
            source: PathError::new("sync", error.path(), source),
        });
    }
    Err(error.into())
}

impl Exporter<'_> {
    /// Limit on the inodes of an item.
    fn inodes(&self, parts: &Parts<'_>, format: Format) -> u64 {
        let is_described = self.options.sidecar || !self.options.metadata.is_empty();
        match format {
            Format::Tar => 1,
            // The directory of the payload itself.
            Format::Plain if !is_described => parts.count() + 1,
            Format::Plain | Format::Bag => parts.count() + INODES_OF_DESCRIPTIONS,
        }
    }

    /// Exports an item to `staged` in the stage of `place`; in a tar file its directory is called `top`.
    fn make(
        &self,
        source: &SoundItem<'_>,
        parts: &Parts<'_>,
        top: &Path,
        format: Format,
        place: &Place,
        staged: &Path,
    ) -> Result<(), ExportError> {
        if format != Format::Tar {
            return self.write(
                source,
                parts,
                format,
                staged,
                &mut StagedTree::new(place.stage.dir()),
            );
        }
        let mut file = TarFile::new(place.stage.dir().create_file(staged)?);
        let mut tar = Tar::new(&mut file);
        self.write(source, parts, format, top, &mut tar)?;
        tar.close()?;
        file.end()
    }
}

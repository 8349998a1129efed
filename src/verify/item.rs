//! One item: its sidecar, then its payload.

use std::borrow::Borrow;
use std::path::PathBuf;
use std::sync::Arc;

use super::finding::{Finding, Findings, Place, describe};
use super::reading::DigestRun;
use super::{Code, Context, Depth, ItemReport, payload, record};
use crate::collection::{Collection, Here, StoredItem, strays_in};
use crate::disk::{Dir, DirEntry, FileStat, Kind, PathError, ShownModes};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::layout;
use crate::progress::Progress;
use crate::sidecar::Sidecar;

/// Verifies one item, on this thread. `None` if it is interrupted.
pub fn verify_item(
    item: &StoredItem,
    depth: Depth,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Option<ItemReport> {
    let context = Context::new(depth, progress, interrupt);
    let inspection = Inspection::of(item.name().clone(), None, item.dir(), &context)?;
    if let Some(reading) = &inspection.reading {
        reading.read_share(&context);
    }
    (!context.is_stopped()).then(|| inspection.finish())
}

/// The same of an item whose `sidecar` was read a moment ago, and was sealed: the payload alone is looked at.
pub(super) fn verify_as_read(
    item: &StoredItem,
    sidecar: Sidecar,
    depth: Depth,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Option<ItemReport> {
    let context = Context::new(depth, progress, interrupt);
    let (report, dir) = (ItemReport::new(item.name().clone(), Findings::default()), item.dir());
    let mut inspection = Inspection { report, dir, sidecar: None, here: None, reading: None };
    inspection.look_at_payload(sidecar, &context)?;
    if let Some(reading) = &inspection.reading {
        reading.read_share(&context);
    }
    (!context.is_stopped()).then(|| inspection.finish())
}

/// Verifies the payload `doc`, at any place, against the entries of `sidecar`, on this thread. `None` if it
/// is interrupted.
pub fn verify_payload(
    doc: Dir,
    sidecar: &Sidecar,
    depth: Depth,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Option<Findings> {
    let context = Context::new(depth, progress, interrupt);
    let mut findings = Findings::default();
    let shown = ShownModes::default();
    let present = payload::compare(&doc, &sidecar.files, &context, shown, &mut findings)?;
    if depth != Depth::Quick {
        let reading =
            DigestRun::new(sidecar.repository.clone(), doc, sidecar.files.clone(), present);
        reading.read_share(&context);
        findings.append(reading.take_findings());
    }
    findings.sort();
    (!context.is_stopped()).then_some(findings)
}

impl ItemReport {
    /// The report of an item with just one finding.
    pub(super) fn of_one(name: RepositoryName, finding: Finding) -> ItemReport {
        let mut findings = Findings::default();
        findings.push(finding);
        ItemReport::new(name, findings)
    }

    fn new(name: RepositoryName, findings: Findings) -> ItemReport {
        ItemReport {
            name,
            state: None,
            files: 0,
            bytes: 0,
            ibip: None,
            relations: Box::default(),
            language: None,
            findings,
        }
    }

    /// The report of an item whose directory cannot be opened.
    pub(super) fn unopened(name: RepositoryName, error: &PathError) -> ItemReport {
        ItemReport::of_one(name, Finding::of_error(Place::Item, error))
    }
}

/// An item that has been checked except for the bytes of its files.
#[derive(Debug)]
pub(super) struct Inspection<D> {
    report: ItemReport,
    /// Its directory, owned or borrowed.
    dir: D,
    /// The sidecar.
    sidecar: Option<FileStat>,
    /// The holding that it describes.
    pub here: Option<Here>,
    /// The files that remain to be read.
    pub reading: Option<Arc<DigestRun>>,
}

impl<D: Borrow<Dir>> Inspection<D> {
    /// Checks everything but the bytes of the item `name` in `dir`, unless stopped.
    pub(super) fn of(
        name: RepositoryName,
        at: Option<&str>,
        dir: D,
        context: &Context<'_>,
    ) -> Option<Inspection<D>> {
        let mut findings = Findings::default();
        let stamp = dir.borrow().stat(layout::SIDECAR);
        let known = stamp.as_ref().map_or(None, |stamp| *stamp);
        let _admitted = context.admit(known.map_or(0, |stamp| stamp.bytes));
        let sidecar = record::read(&name, at, dir.borrow(), stamp, &mut findings);
        if let Err(error) = tell_strays(dir.borrow(), sidecar.as_ref(), &mut findings) {
            findings.push(Finding::of_error(Place::Item, &error));
        }
        let mut inspection = Inspection {
            report: ItemReport::new(name, findings),
            dir,
            sidecar: known,
            here: sidecar.as_ref().map(Here::of),
            reading: None,
        };
        if let Some(sidecar) = sidecar {
            let changed = sidecar.changed();
            if context.now.is_some_and(|now| changed.is_ahead_of(now)) {
                let detail = format!("its last change is dated {changed}");
                inspection.extend([Finding::new(Code::FutureDate, Place::Item, detail)]);
            }
            inspection.report.state = Some(sidecar.state);
            inspection.report.ibip = sidecar.ibip.clone().map(Box::new);
            inspection.report.relations = sidecar.relations.iter().collect();
            if !inspection.report.relations.is_empty() {
                inspection.report.language = sidecar.metadata.language();
            }
            inspection.look_at_payload(sidecar, context)?;
        }
        Some(inspection)
    }

    /// Whether the directory has nothing of an item, and never had.
    pub(super) fn is_no_item(&self, collection: &Collection) -> bool {
        let is_no_item =
            |dir: Dir| StoredItem::at(self.report.name.clone(), dir).is_no_item(collection);
        self.sidecar.is_none()
            && self.dir.borrow().try_clone().and_then(is_no_item).unwrap_or(false)
    }

    /// The state of the item, unless damage has been found.
    pub(super) fn sound_state(&self) -> Option<State> {
        self.report.state.filter(|_| !self.report.findings.is_damage())
    }

    /// Adds findings from elsewhere.
    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.report.findings.push(finding));
    }

    fn look_at_payload(&mut self, sidecar: Sidecar, context: &Context<'_>) -> Option<()> {
        let place = || Place::Beside(PathBuf::from(layout::PAYLOAD));
        let opened = match sidecar.state {
            State::Elsewhere | State::Deleted => None,
            State::Original | State::Copy => match self.dir.borrow().open_dir(layout::PAYLOAD) {
                Ok(doc) => return self.compare(doc, sidecar, context),
                Err(error) => Some(error),
            },
        };
        let kind =
            self.dir.borrow().stat(layout::PAYLOAD).map(|stamp| stamp.map(|stamp| stamp.kind));
        let finding = match (opened, kind) {
            (_, Err(error)) | (Some(error), Ok(Some(Kind::Directory))) => {
                Finding::of_error(place(), &error)
            }
            (None, Ok(None)) => return Some(()),
            (None, Ok(Some(kind))) => {
                let detail = format!("{} is there", describe(kind));
                Finding::new(Code::PayloadLeft, place(), detail)
            }
            (Some(_), Ok(None)) => {
                let detail = match sidecar.payload.files {
                    1 => "1 file is lost".to_owned(),
                    files => format!("{files} files are lost"),
                };
                Finding::new(Code::PayloadMissing, place(), detail)
            }
            (Some(_), Ok(Some(kind))) => Finding::of_kind(place(), "a directory", kind),
        };
        self.report.findings.push(finding);
        Some(())
    }

    fn compare(&mut self, doc: Dir, sidecar: Sidecar, context: &Context<'_>) -> Option<()> {
        let findings = &mut self.report.findings;
        let mut shown = ShownModes::default();
        shown.extend(self.sidecar);
        let present = payload::compare(&doc, &sidecar.files, context, shown, findings)?;
        self.report.files = present.files.len() as u64;
        self.report.bytes = present.bytes;
        if let Some(links) = &context.links {
            links.symbolic(&self.report.name, &sidecar.files, context, findings);
        }
        if context.depth != Depth::Quick && !present.files.is_empty() {
            let name = self.report.name.clone();
            self.reading = Some(Arc::new(DigestRun::new(name, doc, sidecar.files, present)));
        }
        Some(())
    }

    /// Whether urepo may have changed the item during the check: its sidecar is another one now, or missing.
    /// The payload of a restored item comes back before its sidecar.
    pub(super) fn is_outdated(&mut self) -> bool {
        let is_revived =
            self.report.findings.as_slice().iter().any(|it| it.code == Code::PayloadLeft);
        let is_damage = is_revived
            || self.report.findings.is_damage()
            || self.reading.as_ref().is_some_and(|reading| reading.findings().is_damage());
        if !is_damage {
            return false;
        }
        let stamp = self.dir.borrow().stat(layout::SIDECAR);
        if let Err(error) = &stamp
            && error.shortage().is_some()
        {
            self.report.findings.push(Finding::of_error(Place::Item, error));
        }
        let version = |stat: &Option<FileStat>| stat.as_ref().map(FileStat::version);
        stamp.is_ok_and(|stamp| version(&stamp) != version(&self.sidecar))
    }

    /// The report, once all files have been read.
    pub(super) fn finish(mut self) -> ItemReport {
        if let Some(reading) = &self.reading {
            self.report.findings.append(reading.take_findings());
        }
        self.report.findings.sort();
        self.report
    }
}

/// Reports other entries of the item's directory, except those that adoption left there.
fn tell_strays(
    dir: &Dir,
    sidecar: Option<&Sidecar>,
    findings: &mut Findings,
) -> Result<(), PathError> {
    for entry in strays_in(dir)? {
        let DirEntry { name, kind } = entry?;
        if !sidecar.is_some_and(|it| it.leaves_alone(&name)) {
            let detail = format!("{} in the item", describe(kind));
            findings.push(Finding::new(Code::Stray, Place::Beside(name.into()), detail));
        }
    }
    Ok(())
}

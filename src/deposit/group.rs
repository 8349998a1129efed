//! Publishing many staged items with few syncs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::Plan;
use super::stage::Done;
use super::withheld::Withheld;
use super::{DepositError, Deposited, Given, Known, Metadata, PayloadPath, withheld};
use crate::clock::Clock;
use crate::collection::{Collection, Event, EventKind, Issuer, Label, Lookup, Writer};
use crate::disk::{Dir, PathError};
use crate::distributor::Notice;
use crate::identity::{Instant, SECOND};
use crate::index::Record;
use crate::item::{Content, Shape, State, Totals, content};
use crate::layout;
use crate::sidecar::{MAX_BYTES, Sidecar};

/// An item in the stage: payload whole, no name yet.
pub(super) struct Staged {
    pub number: usize,
    /// Its directory in the stage.
    pub item: PathBuf,
    pub source: String,
    pub origin: Option<PathBuf>,
    pub target: Option<PayloadPath>,
    pub metadata: Metadata,
    pub given: Given,
    pub plan: Arc<Plan>,
    pub done: Done,
    pub payload: Totals,
}

/// What became of a request in the stage: an item, or the source in words and why there is none.
pub(super) type Prepared = Result<Staged, (String, DepositError)>;

/// A staged item with its name.
struct Named {
    staged: Staged,
    label: Label,
}

/// What became of one staged item.
pub(super) type Published = (Staged, Result<Deposited, DepositError>);

/// Where and with what a group is published.
pub(super) struct Publisher<'a, 'b> {
    pub collection: &'a Collection,
    pub writer: &'a Writer,
    pub issuer: &'a mut Issuer<'b>,
    pub clock: &'a dyn Clock,
    /// Finds the items that have the names of new ones.
    pub lookup: &'a Lookup<'a>,
    /// Knows what the collection has already.
    pub known: Option<&'a dyn Known>,
    /// How many sidecars are written at a time.
    pub jobs: usize,
}

impl Publisher<'_, '_> {
    /// Publishes a group: all items durable when this returns, or each with the reason why not.
    ///
    /// The error is one that later groups would meet as well.
    pub(super) fn publish(
        &mut self,
        group: Vec<Staged>,
        notices: &mut Vec<Notice>,
    ) -> (Vec<Published>, Option<DepositError>) {
        let mut results = Vec::new();
        let (group, withheld) = self.withhold(group, &mut results);
        let (named, mut fatal) = self.name(group, notices, &mut results);
        let names = named.iter().map(|named| named.label.name.clone()).collect();
        let mut changing = self.writer.adding(self.collection, names);
        let written = self.write_sidecars(&named, changing.is_heard());
        let mut ready = Vec::new();
        for (named, written) in named.into_iter().zip(written) {
            match written {
                Ok(record) => {
                    if let Some(record) = record {
                        changing.will_be(&named.label.name, record);
                    }
                    ready.push(named);
                }
                Err(error) => results.push((named.staged, Err(error))),
            }
        }
        if let Err(error) = self.writer.stage().sync_file_system() {
            // What failed once is not tried again: the kernel may have dropped the bytes.
            let spoilt = ready.into_iter().map(|it| (it.staged, Err(DepositError::GroupFailed)));
            results.extend(spoilt);
            fatal.get_or_insert(error.into());
        } else {
            changing.begins();
            fatal = self.place_all(ready, &mut results).or(fatal);
        }
        drop(changing);
        withheld::settle(withheld, &mut results);
        results.sort_by_key(|(staged, _)| staged.number);
        self.note(&results);
        (results, fatal)
    }

    /// Notes the new items in the event log.
    fn note(&self, results: &[Published]) {
        let now = self.clock.now();
        let deposited = results.iter().filter_map(|(_, result)| result.as_ref().ok());
        let events: Vec<_> = deposited
            .map(|it| {
                Event::new(EventKind::Ingestion, &it.label.name, now, self.writer.agent())
                    .with_digest(it.payload.digest)
            })
            .collect();
        self.collection.note(&events);
    }

    /// Takes aside what the collection has already.
    fn withhold(
        &self,
        group: Vec<Staged>,
        results: &mut Vec<Published>,
    ) -> (Vec<Staged>, Withheld) {
        match self.known {
            Some(known) => withheld::from(group, known, self.writer, results),
            None => (group, Withheld::new()),
        }
    }

    /// Takes labels for all items; where that fails, the items without one fail too.
    fn name(
        &mut self,
        group: Vec<Staged>,
        notices: &mut Vec<Notice>,
        results: &mut Vec<Published>,
    ) -> (Vec<Named>, Option<DepositError>) {
        let mut named = Vec::with_capacity(group.len());
        let (given, waiting): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|staged| staged.given.label.is_some());
        for staged in given {
            if let Some(label) = staged.given.label.clone() {
                named.push(Named { staged, label });
            }
        }
        let mut waiting = waiting.into_iter();
        while waiting.len() > 0 {
            match self.issuer.issue(waiting.len()) {
                Ok((labels, told)) => {
                    notices.extend(told);
                    for (label, staged) in labels.into_iter().zip(&mut waiting) {
                        named.push(Named { staged, label });
                    }
                }
                Err(error) => {
                    let left = waiting.map(|staged| (staged, Err(DepositError::GroupFailed)));
                    results.extend(left);
                    return (named, Some(error.into()));
                }
            }
        }
        (named, None)
    }

    /// Writes all sidecars, several at a time: creating files is most of the work on small items.
    fn write_sidecars(
        &self,
        named: &[Named],
        is_indexed: bool,
    ) -> Vec<Result<Option<Record>, DepositError>> {
        let now = self.clock.now();
        let writing = SidecarWriter { stage: self.writer.stage(), now, is_indexed };
        let share = named.len().div_ceil(self.jobs).max(LEAST_SHARE);
        if named.len() <= share {
            return named.iter().map(|named| writing.write(named)).collect();
        }
        std::thread::scope(|threads| {
            let shares: Vec<_> = named
                .chunks(share)
                .map(|share| {
                    threads.spawn(|| {
                        share.iter().map(|named| writing.write(named)).collect::<Vec<_>>()
                    })
                })
                .collect();
            shares.into_iter().flat_map(join).collect()
        })
    }

    /// Puts synced items in place and syncs the directories that got them.
    fn place_all(&self, ready: Vec<Named>, results: &mut Vec<Published>) -> Option<DepositError> {
        let mut by_year: BTreeMap<PathBuf, Vec<Named>> = BTreeMap::new();
        for named in ready {
            match self.year_of(&named) {
                Ok(year) => by_year.entry(year).or_default().push(named),
                Err(error) => results.push((named.staged, Err(error.into()))),
            }
        }
        let mut fatal = None;
        for (year, items) in by_year {
            match self.collection.ensure_directory(&year) {
                Ok(dir) => fatal = self.place_in(&dir, items, results).or(fatal),
                Err(error) => {
                    let left =
                        items.into_iter().map(|it| (it.staged, Err(DepositError::GroupFailed)));
                    results.extend(left);
                    fatal = Some(error.into());
                }
            }
        }
        fatal
    }

    /// The directory that an item goes into: one with a name of elsewhere where its prefix is, however
    /// that is spelt.
    fn year_of(&self, named: &Named) -> Result<PathBuf, PathError> {
        let name = &named.label.name;
        if named.staged.given.label.is_some() {
            return Ok(self.lookup.place_of(name)?.0);
        }
        Ok(layout::item_directory(name).parent().map(Path::to_path_buf).unwrap_or_default())
    }

    /// Syncs the directories that items were moved out of, so that none is found in both places.
    fn sync_buckets(&self, placed: &[Named]) -> Result<(), PathError> {
        let buckets: BTreeSet<_> = placed.iter().filter_map(|it| it.staged.item.parent()).collect();
        buckets.iter().try_for_each(|bucket| self.writer.stage().open_dir(bucket)?.sync())
    }

    fn place_in(
        &self,
        year: &Dir,
        items: Vec<Named>,
        results: &mut Vec<Published>,
    ) -> Option<DepositError> {
        let mut placed = Vec::new();
        for named in items {
            let leaf = named.label.name.components()[3].to_owned();
            match self.writer.stage().rename_new(&named.staged.item, year, Path::new(&leaf)) {
                Ok(()) => placed.push(named),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    let name = named.label.name.to_string();
                    results.push((named.staged, Err(DepositError::NameTaken { name })));
                }
                Err(error) => results.push((named.staged, Err(error.into()))),
            }
        }
        let synced = year.sync().and_then(|()| self.sync_buckets(&placed));
        let mut fatal = None;
        for named in placed {
            let result = match &synced {
                Ok(()) => Ok(named.deposited()),
                Err(error) => Err(not_durable(&named.label, error)),
            };
            results.push((named.staged, result));
        }
        if let Err(error) = synced {
            fatal = Some(error.into());
        }
        fatal
    }
}

/// Writes sidecars into the stage.
struct SidecarWriter<'a> {
    stage: &'a Dir,
    now: Instant,
    /// Whether the index is to know what is written.
    is_indexed: bool,
}

impl SidecarWriter<'_> {
    fn write(&self, named: &Named) -> Result<Option<Record>, DepositError> {
        let Named { staged, label } = named;
        let path = staged.item.join(layout::SIDECAR);
        let sidecar = Sidecar {
            state: State::Original,
            repository: label.name.clone(),
            ibip: label.ibip.clone(),
            created: label.date,
            timestamp: self.now.floor(SECOND).max(label.date),
            target: staged.target.clone().or_else(|| only_file(staged)),
            transferable: true,
            metadata: staged.metadata.clone(),
            relations: staged.given.relations.clone(),
            origin: origin(staged),
            handover: None,
            removal: None,
            payload: staged.payload,
            files: Vec::new(),
        };
        let mut file = self.stage.create_file(&path)?;
        let mut bytes = 0;
        sidecar.write_with(&staged.done.entries, |piece| {
            bytes += piece.len() as u64;
            file.write_all(piece)
        })?;
        if bytes > MAX_BYTES {
            return Err(DepositError::TooManyFiles { path: staged.source.clone().into() });
        }
        if !self.is_indexed {
            return Ok(None);
        }
        Ok(Some(Record::of(&sidecar, &staged.done.entries, &file.stamp()?)))
    }
}

/// Fewer sidecars than this are not worth another thread.
const LEAST_SHARE: usize = 32;

/// What a thread returned; its panic goes on in this one.
fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Named {
    fn deposited(&self) -> Deposited {
        Deposited {
            label: self.label.clone(),
            payload: self.staged.payload,
            shape: Shape::of(&self.staged.done.entries),
            content: content(&self.staged.done.entries, &self.staged.payload),
            lost: self.staged.done.lost,
            left: Vec::new(),
        }
    }
}

fn not_durable(label: &Label, error: &PathError) -> DepositError {
    let source = std::io::Error::new(error.kind(), error.to_string());
    DepositError::NotDurable {
        name: label.name.to_string(),
        source: PathError::new("sync", error.path(), source),
    }
}

/// The file that the bare identifier opens when there is no choice.
fn only_file(staged: &Staged) -> Option<PayloadPath> {
    let mut files = staged
        .done
        .entries
        .iter()
        .filter(|entry| matches!(entry.content, Content::File { .. }))
        .map(|entry| &entry.path);
    match (files.next(), files.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

fn origin(staged: &Staged) -> toml::Table {
    use std::os::unix::ffi::OsStrExt;
    let mut origin = toml::Table::new();
    if let Some(source) = &staged.origin {
        let text = crate::item::escape(source.as_os_str().as_bytes()).into_owned();
        origin.insert("source".to_owned(), toml::Value::String(text));
    }
    origin.extend(staged.given.origin.clone());
    origin
}

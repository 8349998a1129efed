//! Adding items to the ledger that were published just before a crash.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{Entry, Ledger, LineKind};
use crate::collection::{Collection, CollectionError, Names};
use crate::digest::Digest;
use crate::identity::{Prefix, RepositoryName};
use crate::import::ImportError;
use crate::item::{Shape, content, unescape};
use crate::sidecar::Sidecar;

/// The key of `[origin]` that only imports write: the beginning of the run.
pub(crate) const IMPORTED: &str = "imported";
/// The key of `[origin]` with the path of the source.
pub(crate) const SOURCE: &str = "source";

/// Lines that are added at a time.
const LINES: usize = 4096;

impl Ledger<'_> {
    /// Adds items that imports have published since the last line.
    ///
    /// Names are issued in the order of their dates, and lines are written in that order. So items that have
    /// a line, or were checked, are not checked again, unless they are dated in the future.
    pub(super) fn catch_up(&mut self) -> Result<(), ImportError> {
        let mut prefixes: BTreeMap<String, Prefix> = BTreeMap::new();
        for subsystem in &self.collection.settings().subsystems {
            let prefix = subsystem.prefix().map_err(CollectionError::from)?;
            prefixes.insert(prefix.folded(), prefix);
        }
        for (folded, prefix) in prefixes {
            self.catch_up_with(&folded, prefix)?;
        }
        Ok(())
    }

    fn catch_up_with(&mut self, folded: &str, prefix: Prefix) -> Result<(), ImportError> {
        let known = self.newest.get(folded).copied();
        let collection = self.collection;
        let (mut last, mut found, mut names) = (None, Vec::new(), Vec::new());
        let wanted = Names::of(Some(prefix));
        collection.visit_names(&wanted, |name| {
            if known.is_none_or(|known| name.instant() > known) {
                let is_past = name.instant() <= self.now;
                let entry = imported(collection, &name)?.filter(|it| is_past || !self.has(it));
                if let Some(entry) = entry {
                    names.push(name.clone());
                    found.push(entry);
                }
                if is_past {
                    last = Some(name);
                }
            }
            if found.len() >= LINES {
                self.confirm(&std::mem::take(&mut names))?;
                self.add(&std::mem::take(&mut found))?;
            }
            Ok::<_, ImportError>(ControlFlow::Continue(()))
        })?;
        self.confirm(&names)?;
        // Other commands deposit as well: their items must not be checked each time.
        let is_import = found.last().is_some_and(|entry| Some(&entry.name) == last.as_ref());
        if let Some(name) = last.filter(|_| !is_import) {
            let none = Digest::of(b"");
            let seen = Entry {
                kind: LineKind::Seen,
                name,
                shape: none,
                content: none,
                bytes: 0,
                source: Vec::new(),
            };
            found.push(seen);
        }
        self.add(&found)
    }

    /// Syncs the names of items: a killed run may not have done that, and the source of an item with a line
    /// may be removed.
    pub(crate) fn confirm(&self, names: &[RepositoryName]) -> Result<(), ImportError> {
        if names.is_empty() || self.lock.is_none() {
            return Ok(());
        }
        Ok(self.collection.confirm_names(names.iter().map(RepositoryName::as_str))?)
    }

    /// Whether there is a line about this item.
    fn has(&self, entry: &Entry) -> bool {
        let mut lines = self.sources.find(&entry.source);
        lines.any(|it| self.line_at(it).is_ok_and(|it| it.is_some_and(|it| it.name == entry.name)))
    }
}

/// The line of an item that an import has made.
fn imported(collection: &Collection, name: &RepositoryName) -> Result<Option<Entry>, ImportError> {
    let item = collection.item(name)?;
    match item.read_sidecar() {
        Ok(read) => Ok(entry_of(&read.sidecar, LineKind::Item)),
        // `verify` reports that.
        Err(CollectionError::Disk(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// The line for the sidecar of an item, if an import made it.
pub(crate) fn entry_of(sidecar: &Sidecar, kind: LineKind) -> Option<Entry> {
    sidecar.origin.get(IMPORTED)?;
    let source = unescape(sidecar.origin.get(SOURCE)?.as_str()?)?;
    Some(Entry {
        kind,
        name: sidecar.repository.clone(),
        shape: Shape::of(&sidecar.files),
        content: content(&sidecar.files, &sidecar.payload),
        bytes: sidecar.payload.bytes,
        source,
    })
}

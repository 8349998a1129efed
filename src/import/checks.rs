//! Checking a source against its row or bag. A source that is already an item is checked by the known digests
//! of the item; files are read only for digests of other algorithms.

use std::collections::BTreeMap;

use super::ImportError;
use super::bag::{self, Bag, BagError};
use super::candidate::Candidate;
use super::look::{Scanner, SourceScan};
use super::source_lookup::{SourceQuery, item_of_source};
use super::sources::Entry;
use crate::collection::{Collection, Lookup, StoredItem};
use crate::deposit::source_removal::{Closeness, SourceKept, Times};
use crate::deposit::{Checks, DepositError, SourcePlace};
use crate::digest::{Algorithm, Checker, Checksum};
use crate::disk::Kind;
use crate::disk::copy::{CopyError, read_and_digest};
use crate::identity::{Identifier, Language};
use crate::interrupt::Interrupt;
use crate::item::{Content, PayloadPath};
use crate::progress::NoProgress;
use crate::sidecar::{Metadata, RelationKind, Sidecar, source_digests};

/// The checks of the bytes of a candidate, if its row has any.
pub(super) fn checks(candidate: &Candidate, look: &SourceScan) -> Checks {
    let Some(sha256) = candidate.sha256 else { return Checks::default() };
    if look.kind == Kind::Directory {
        return Checks { files: None, payload: Some(sha256) };
    }
    let checksum = Checksum::new(Algorithm::Sha256, &sha256.to_string());
    let files = own_name(candidate).zip(checksum);
    let files = files.map(|(name, it)| BTreeMap::from([(name, vec![it])]));
    Checks { files, payload: None }
}

fn own_name(candidate: &Candidate) -> Option<PayloadPath> {
    PayloadPath::new(candidate.place.path().file_name()?.as_ref()).ok()
}

/// A source that is the item of a line of the ledger.
pub(super) struct KnownSource<'a> {
    pub candidate: &'a Candidate,
    pub entry: &'a Entry,
    pub lookup: &'a Lookup<'a>,
    pub looker: &'a Scanner,
    pub interrupt: &'a Interrupt,
}

impl KnownSource<'_> {
    /// Makes sure that it agrees with its row. For a missing source there is no `look`.
    ///
    /// The line has the digest: no sidecar is read, except of a directory that differs from it.
    pub(super) fn check_row(&self, look: Option<&SourceScan>) -> Result<(), ImportError> {
        let Some(sha256) = self.candidate.sha256.filter(|it| *it != self.entry.content) else {
            return Ok(());
        };
        if look.is_some_and(|it| it.kind == Kind::File)
            && let Some(path) = own_name(self.candidate)
        {
            return Err(mismatch(&path, Algorithm::Sha256));
        }
        // For a directory with one file, the line has the digest of that file.
        let is_it = match self.sidecar()? {
            Some(sidecar) => sidecar.payload.digest == sha256,
            None => look.is_none_or(|it| it.files == 1),
        };
        let path = self.candidate.place.path();
        if is_it { Ok(()) } else { Err(DepositError::PayloadMismatch { path }.into()) }
    }

    /// Makes sure that the item agrees with the present `bag`. An item that has left cannot be compared.
    pub(super) fn check_bag(&self, bag: &Bag) -> Result<(), ImportError> {
        let (Some(sidecar), Some(listed)) = (self.sidecar()?, &bag.checks.files) else {
            return Ok(());
        };
        let counted = bag.check_counts(sidecar.payload.bytes, sidecar.payload.files);
        counted.map_err(|cause| wrong_bag(self.candidate, cause))?;
        let files = sidecar.files.iter().filter_map(|entry| match &entry.content {
            Content::File { bytes, digest, .. } => Some((&entry.path, (*bytes, digest))),
            Content::Link { .. } | Content::EmptyDirectory { .. } => None,
        });
        let files: BTreeMap<_, _> = files.collect();
        if let Some(path) = listed.keys().find(|path| !files.contains_key(path)) {
            return Err(DepositError::NotThere { path: path.clone() }.into());
        }
        let mut unknown = Vec::new();
        for (path, (bytes, digest)) in files {
            let known = |algorithm| match algorithm {
                Algorithm::Sha256 => Checksum::new(algorithm, &digest.to_string()),
                _ => source_digests::of_file(&sidecar.origin, path, algorithm),
            };
            let mut of_file = Vec::new();
            for checksum in bag.checks.of(path)? {
                let algorithm = checksum.algorithm();
                match known(algorithm) {
                    None => of_file.push(checksum.clone()),
                    Some(known) if known == *checksum => {}
                    Some(_) => return Err(mismatch(path, algorithm)),
                }
            }
            if !of_file.is_empty() {
                unknown.push((path, bytes, of_file));
            }
        }
        self.read(&unknown)
    }

    /// Compares files of a bag with checksums of kinds that its item does not have.
    fn read(&self, files: &[(&PayloadPath, u64, Vec<Checksum>)]) -> Result<(), ImportError> {
        if files.is_empty() {
            return Ok(());
        }
        let payload = self.candidate.place.join(bag::PAYLOAD);
        let walk = payload.walk(self.looker.links, &self.looker.watcher)?;
        for (path, bytes, checksums) in files {
            let mut checker = Checker::new(checksums);
            let mut file = walk.open_file(path.as_path())?;
            let read =
                read_and_digest(*bytes, &mut file, &NoProgress, self.interrupt, |piece, _| {
                    checker.update(piece);
                    Ok::<_, CopyError>(())
                });
            read.map_err(DepositError::from)?;
            if let Some(algorithm) = checker.mismatch() {
                return Err(mismatch(path, algorithm));
            }
        }
        Ok(())
    }

    /// Whether the files at `place`, which have the sizes of those of the item, have their bytes too. A source that
    /// cannot be read counts as the same: the error is reported when it is to go.
    pub(super) fn has_bytes(&self, place: &SourcePlace) -> Result<bool, ImportError> {
        let Some(sidecar) = self.sidecar()? else { return Ok(true) };
        let how = (Times::Any, Closeness::Bytes, self.interrupt);
        let compared = self.looker.compare(place, &sidecar.files, Some(&|_, _| true), how);
        Ok(!matches!(compared, Err(SourceKept::Changed(_))))
    }

    fn sidecar(&self) -> Result<Option<Sidecar>, ImportError> {
        let item = self.lookup.item(&self.entry.name)?;
        // `verify` reports the faults of a sidecar.
        Ok(item.map_or(Ok(None), |item| item.sidecar_if_sound())?)
    }
}

fn mismatch(path: &PayloadPath, algorithm: Algorithm) -> ImportError {
    DepositError::Mismatch { path: path.clone(), algorithm }.into()
}

/// Makes sure that the relation of a row that is a translation, or has one, can be set at both ends.
///
/// The language of a row without an item is not known yet: such rows are compared when they are related.
pub(super) fn check_translations(
    candidate: &Candidate,
    metadata: &Metadata,
    collection: &Collection,
    known: &SourceQuery<'_>,
) -> Result<(), ImportError> {
    let language = metadata.language();
    let refuse = |original: String, into: Option<Language>| match into {
        Some(into) if language.as_ref() == Some(&into) => {
            Err(ImportError::OwnLanguage { original, language: into })
        }
        _ => Ok(()),
    };
    let given = candidate.relations.iter();
    let mut relations: Vec<_> = given.map(|it| (it.kind, it.to.to_string(), Some(it.to))).collect();
    for (kind, path) in &candidate.references {
        let item = item_of_source(known, path)?.map(Identifier::from);
        relations.push((kind.clone(), path.display().to_string(), item));
    }
    for (kind, to, item) in relations {
        match kind {
            RelationKind::Translation(into) => {
                refuse(candidate.place.path().display().to_string(), Some(into))?;
            }
            RelationKind::TranslationOf if language.is_none() => {
                return Err(ImportError::TranslationLanguage { to });
            }
            RelationKind::TranslationOf => {
                let items = item.map_or(Ok(Vec::new()), |item| collection.items_of(&item))?;
                // `verify` reports the faults of a sidecar.
                let other = items.first().map_or(Ok(None), StoredItem::sidecar_if_sound)?;
                let Some(other) = other else { continue };
                let own = candidate.label.as_ref().map(|label| label.name.clone().into());
                if !other.relations.iter().any(|back| Some(&back.to) == own.as_ref()) {
                    refuse(to, other.metadata.language())?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn wrong_bag(candidate: &Candidate, cause: BagError) -> ImportError {
    // The deposit of a smaller bag finds the same.
    if let BagError::NotThere { path } = cause {
        return DepositError::NotThere { path }.into();
    }
    ImportError::Bag { path: candidate.place.path(), cause: Box::new(cause) }
}

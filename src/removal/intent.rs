//! Intents: the items that a run is going to delete or restore, recorded before anything changes in
//! `.urepo/journal/delete-….toml` and `restore-….toml`.
//!
//! The file holds identifiers and nothing else. The remaining work follows from the items: a tombstone with a
//! payload beside it is between two states; any other item is left alone. A run holds a kernel lock on its
//! file, so a file that can be locked belongs to a run that has ended.

use std::path::PathBuf;

use serde::Deserialize;

use super::{RemovalError, Remover};
use crate::disk::{Dir, IoContext, Lock, PathError, StoredFile, random_hex};
use crate::identity::RepositoryName;
use crate::layout;

/// The work of a run on its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntentKind {
    /// It restores them.
    Restoration,
    /// It deletes them.
    Deletion,
}

impl IntentKind {
    /// The beginning of the names of the files.
    fn begin(self) -> &'static str {
        match self {
            IntentKind::Restoration => "restore-",
            IntentKind::Deletion => "delete-",
        }
    }

    fn comment(self) -> &'static str {
        match self {
            IntentKind::Restoration => "# Items that are being restored; see `urepo recover`.\n",
            IntentKind::Deletion => "# Items that are being deleted; see `urepo recover`.\n",
        }
    }

    fn of(file: &str) -> Option<IntentKind> {
        let kinds = [IntentKind::Restoration, IntentKind::Deletion];
        let file = file.strip_suffix(END)?;
        kinds.into_iter().find(|kind| file.starts_with(kind.begin()))
    }
}

/// The end of the names of the files.
const END: &str = ".toml";

/// Limit on the size of a file: some two million names.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// The intent of a run, written before its first change: a run that is refused leaves no trace.
pub(super) struct Intent<'r> {
    remover: &'r Remover<'r>,
    kind: IntentKind,
    names: &'r [RepositoryName],
    file: Option<IntentFile>,
    /// Whether an item may be left between two states.
    is_unfinished: bool,
}

impl<'r> Intent<'r> {
    pub(super) fn new(
        remover: &'r Remover<'r>,
        kind: IntentKind,
        names: &'r [RepositoryName],
    ) -> Intent<'r> {
        Intent { remover, kind, names, file: None, is_unfinished: false }
    }

    /// The intent of a run that has ended: this one finishes it.
    pub(super) fn inherited(
        remover: &'r Remover<'r>,
        kind: IntentKind,
        file: IntentFile,
    ) -> Intent<'r> {
        Intent { file: Some(file), ..Intent::new(remover, kind, &[]) }
    }

    pub(super) fn remover(&self) -> &'r Remover<'r> {
        self.remover
    }

    /// Whether an item may be left between two states.
    pub(super) fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// An item was changed completely: the unfinished items are those from before.
    pub(super) fn settle(&mut self, was_unfinished: bool) {
        self.is_unfinished = was_unfinished;
    }

    /// Puts the intent on the disk. Until the change is settled, its item counts as unfinished.
    pub(super) fn begin(&mut self) -> Result<(), RemovalError> {
        if self.file.is_none() {
            self.file = Some(IntentFile::write(self.remover, self.kind, self.names)?);
        }
        self.is_unfinished = true;
        Ok(())
    }

    /// Ends the run. Unfinished items stay recorded.
    pub(super) fn finish(self) -> Result<(), PathError> {
        if let (Some(file), false) = (self.file, self.is_unfinished) {
            file.remove()?;
        }
        self.remover.collection.refill_reserve();
        Ok(())
    }
}

/// The file of a run, locked.
pub(super) struct IntentFile {
    pub(super) journal: Dir,
    pub(super) file: PathBuf,
    pub(super) lock: Lock,
}

#[derive(Deserialize)]
struct RawIntent {
    items: Vec<String>,
}

impl IntentFile {
    /// Writes the file, locked and synced; it appears whole.
    fn write(
        remover: &Remover<'_>,
        kind: IntentKind,
        names: &[RepositoryName],
    ) -> Result<IntentFile, RemovalError> {
        let Remover { collection, writer, .. } = remover;
        let journal = collection.ensure_own()?.ensure_lasting_dir(layout::JOURNAL)?;
        let random = random_hex::<8>().on("write to", journal.path())?;
        let file = PathBuf::from(format!("{}{random}{END}", kind.begin()));
        // A name has no character that TOML would escape.
        let mut text = format!("{}items = [\n", kind.comment());
        for name in names {
            text.push_str(&format!("    \"{name}\",\n"));
        }
        text.push_str("]\n");
        let (staged, mut opened) = writer.create_staged_file()?;
        opened.write_all(text.as_bytes())?;
        opened.sync()?;
        let path = opened.path().to_path_buf();
        let lock = Lock::of_file(opened)?
            .ok_or_else(|| PathError::new("lock", path, std::io::ErrorKind::WouldBlock.into()))?;
        writer.put_file(&staged, &journal, &file)?;
        journal.sync()?;
        Ok(IntentFile { journal, file, lock })
    }

    /// Removes the file: nothing is left to do.
    pub(super) fn remove(self) -> Result<(), PathError> {
        self.journal.remove_file_if_there(&self.file)?;
        self.journal.sync()
    }
}

/// The files of all runs, present or interrupted, each with the work of its run: restorations first.
pub(super) fn intent_files(journal: &Dir) -> Result<Vec<(IntentKind, PathBuf)>, PathError> {
    let mut files = Vec::new();
    for entry in journal.entries()? {
        let name = entry?.name;
        if let Some(kind) = name.to_str().and_then(IntentKind::of) {
            files.push((kind, PathBuf::from(name)));
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a run of this kind, present or interrupted, may have changed the item. A file that cannot be read
/// may name any item.
///
/// The answer is exact while the caller has the lock of the item: a run locks an item before it writes its intent.
pub(super) fn may_be_listed(
    journal: &Dir,
    kind: IntentKind,
    name: &RepositoryName,
) -> Result<bool, PathError> {
    let name = name.folded();
    for (_, file) in intent_files(journal)?.into_iter().filter(|(of, _)| *of == kind) {
        let Some(mut opened) = journal.open_file_if_there(&file)? else { continue };
        let is_listed = |names: Vec<RepositoryName>| names.iter().any(|it| it.folded() == name);
        if read_names(&mut opened).map_or(true, is_listed) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The items that a file names.
pub(super) fn read_names(file: &mut StoredFile) -> Result<Vec<RepositoryName>, RemovalError> {
    let bytes = file.read_all(MAX_BYTES)?;
    let malformed =
        |reason: String| RemovalError::Intent { path: file.path().to_path_buf(), reason };
    let text = std::str::from_utf8(&bytes).map_err(|error| malformed(error.to_string()))?;
    let raw: RawIntent =
        toml::from_str(text).map_err(|error| malformed(error.message().replace('\n', ", ")))?;
    raw.items
        .iter()
        .map(|name| RepositoryName::parse_as_found(name).map(|(name, _)| name))
        .collect::<Result<_, _>>()
        .map_err(|error| malformed(error.to_string()))
}

//! The entries of a payload, which several sidecars may share.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use crate::digest::Digest;
use crate::item::{Content, Entry, PayloadPath, manifest, position};

/// The entries of a payload, sorted by path. A clone is free until one of the two changes.
#[derive(Clone, Debug, Default)]
pub struct Files(Arc<EntryList>);

#[derive(Clone, Debug, Default)]
struct EntryList {
    entries: Vec<Entry>,
    /// The digest of the entries, once somebody needed it.
    digest: OnceLock<Digest>,
}

impl PartialEq for Files {
    fn eq(&self, other: &Files) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.entries == other.0.entries
    }
}

impl Eq for Files {}

impl Files {
    /// Whether `path` is a file or link, which a bare identifier can open.
    pub(crate) fn can_open(&self, path: &PayloadPath) -> bool {
        let found = position(self, path.as_path());
        found.is_some_and(|at| !matches!(self[at].content, Content::EmptyDirectory { .. }))
    }

    /// The digest of the contents, computed once for all clones: of many files, that takes longer than a request may.
    pub(crate) fn content_digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| manifest::content_digest(&self.0.entries))
    }
}

impl From<Vec<Entry>> for Files {
    fn from(entries: Vec<Entry>) -> Files {
        Files(Arc::new(EntryList { entries, digest: OnceLock::new() }))
    }
}

impl Deref for Files {
    type Target = Vec<Entry>;

    fn deref(&self) -> &Vec<Entry> {
        &self.0.entries
    }
}

impl DerefMut for Files {
    fn deref_mut(&mut self) -> &mut Vec<Entry> {
        let list = Arc::make_mut(&mut self.0);
        list.digest = OnceLock::new();
        &mut list.entries
    }
}

impl<'a> IntoIterator for &'a Files {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.entries.iter()
    }
}

impl<'a> IntoIterator for &'a mut Files {
    type Item = &'a mut Entry;
    type IntoIter = std::slice::IterMut<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.deref_mut().iter_mut()
    }
}

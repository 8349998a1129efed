//! The entries of a payload, which several sidecars may share.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::item::{Content, Entry, PayloadPath, position};

/// The entries of a payload, sorted by path. A clone is free until one of the two changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(Arc<Vec<Entry>>);

impl Files {
    /// Whether `path` is a file or link, which a bare identifier can open.
    pub(crate) fn can_open(&self, path: &PayloadPath) -> bool {
        let found = position(self, path.as_path());
        found.is_some_and(|at| !matches!(self[at].content, Content::EmptyDirectory { .. }))
    }
}

impl From<Vec<Entry>> for Files {
    fn from(entries: Vec<Entry>) -> Files {
        Files(Arc::new(entries))
    }
}

impl Deref for Files {
    type Target = Vec<Entry>;

    fn deref(&self) -> &Vec<Entry> {
        &self.0
    }
}

impl DerefMut for Files {
    fn deref_mut(&mut self) -> &mut Vec<Entry> {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a> IntoIterator for &'a Files {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Files {
    type Item = &'a mut Entry;
    type IntoIter = std::slice::IterMut<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::make_mut(&mut self.0).iter_mut()
    }
}

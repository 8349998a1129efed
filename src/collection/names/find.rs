//! Finding one item by its name, or by a text that refers to it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::lookup::Lookup;
use crate::collection::{Collection, CollectionError, Names, StoredItem, discover};
use crate::disk::{Kind, PathError, resolved};
use crate::identity::{Identifier, Instant, RepositoryName};
use crate::index::{Index, IndexError, Query, Which};
use crate::layout;

impl Collection {
    /// Whether the payload of the item `name` exists in this spelling. Nothing is opened.
    pub(crate) fn has_payload_of(&self, name: &RepositoryName) -> Result<bool, PathError> {
        let payload = layout::item_directory(name).join(layout::PAYLOAD);
        match self.root().stat(payload) {
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(false),
            stat => Ok(stat?.is_some_and(|stat| stat.kind == Kind::Directory)),
        }
    }

    /// The item called `name`, in whatever case it is spelt on disk.
    pub fn item(&self, name: &RepositoryName) -> Result<StoredItem, CollectionError> {
        Lookup::new(self).item(name)?.ok_or_else(|| CollectionError::NoSuchItem {
            name: name.to_string(),
            path: self.path().to_path_buf(),
        })
    }

    /// The item called `name` in a request: the error says where it has gone.
    pub fn named_item(&self, name: &RepositoryName) -> Result<StoredItem, CollectionError> {
        self.item(name).map_err(|error| match error {
            CollectionError::NoSuchItem { .. } => self.absent(name),
            error => error,
        })
    }

    /// The item that `text` refers to: by any spelling of its identifier, by a link or path that contains
    /// one, or by the end of its name if only one item has it.
    ///
    /// A path in another collection does not refer to an item here, even if one has the same identifier.
    pub fn find(&self, text: &str) -> Result<StoredItem, CollectionError> {
        self.check_own_path(text)?;
        let read = Identifier::read(text);
        if let Ok(Identifier::Repository(name)) = &read {
            return self.named_item(name);
        }
        let mut found = self.items_ending_in(text)?;
        if let (true, Ok(label)) = (found.is_empty(), &read) {
            found = self.items_of(label)?;
        }
        if found.len() > 1 {
            let names = found.into_iter().map(|item| item.name().clone()).collect();
            return Err(CollectionError::Ambiguous { text: text.to_owned(), names });
        }
        match (found.pop(), read) {
            (Some(item), _) => Ok(item),
            (None, Err(error)) if !may_end_a_name(text) => Err(error.into()),
            (None, _) => {
                let end = format!("/{}", text.trim_matches('/').to_ascii_lowercase());
                let displaced = self.displaced(&Names::default())?;
                let meant = displaced.into_iter().find(|name| name.folded().ends_with(&end));
                if let Some(name) = meant {
                    return Err(self.displaced_error(name));
                }
                let mut recorded = self.recorded_names_ending_in(&end)?;
                let meant = recorded.pop_first().filter(|_| recorded.is_empty());
                let (name, path) = (text.to_owned(), self.path().to_path_buf());
                let absent = meant.map(|name| self.absent(&name));
                Err(absent.unwrap_or(CollectionError::NoSuchItem { name, path }))
            }
        }
    }

    /// The name of the item that `text` refers to in any of `collections`. All are searched, to notice an end of a name that
    /// is ambiguous between them.
    pub fn find_in(
        collections: &[Collection],
        text: &str,
    ) -> Result<Option<RepositoryName>, CollectionError> {
        let (mut names, mut failed) = (BTreeSet::new(), None);
        for collection in collections {
            match collection.find(text) {
                Ok(item) => names.extend([item.name().clone()]),
                Err(CollectionError::Ambiguous { names: several, .. }) => names.extend(several),
                Err(error) if error.is_absence() => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match (names.len(), failed) {
            (0, Some(error)) => Err(error),
            (0 | 1, _) => Ok(names.pop_first()),
            _ => Err(CollectionError::Ambiguous {
                text: text.to_owned(),
                names: names.into_iter().collect(),
            }),
        }
    }

    fn check_own_path(&self, text: &str) -> Result<(), CollectionError> {
        let path = Path::new(text);
        if !path.is_absolute() {
            return Ok(());
        }
        // The text may still be the end of a link.
        let Ok(Some(collection)) = discover::around_new(path) else { return Ok(()) };
        if resolved(self.path()).is_ok_and(|own| own == collection) {
            return Ok(());
        }
        Err(CollectionError::OtherCollection { path: path.to_path_buf(), collection })
    }

    /// Items whose name ends in `text`, in whole directory names.
    fn items_ending_in(&self, text: &str) -> Result<Vec<StoredItem>, CollectionError> {
        let text = text.trim_matches('/');
        if !may_end_a_name(text) {
            return Ok(Vec::new());
        }
        let levels = text.split('/').count();
        let mut found = Vec::new();
        for above in self.directories_above(4_usize.saturating_sub(levels))? {
            let path = above.join(text);
            found.extend(self.item_at(&path, None)?);
        }
        Ok(found)
    }

    /// Items with `identifier` in the collection, if any: those with its date, else those in the present index.
    pub(crate) fn items_of(
        &self,
        identifier: &Identifier,
    ) -> Result<Vec<StoredItem>, CollectionError> {
        let date = match identifier {
            Identifier::Repository(name) => {
                return Ok(Lookup::new(self).item(name)?.into_iter().collect());
            }
            Identifier::Ibip(ibip) => ibip.instant(),
            Identifier::Legacy(label) => label.instant(),
        };
        let found = self.items_labelled(date.ok(), identifier.as_str())?;
        if found.is_empty() { self.items_indexed_as(identifier.as_str()) } else { Ok(found) }
    }

    /// Items with an opaque label and its date.
    ///
    /// The prefix of a label cannot be turned into a name, but its suffix is a date, which few items share.
    fn items_labelled(
        &self,
        date: Option<Instant>,
        label: &str,
    ) -> Result<Vec<StoredItem>, CollectionError> {
        let Some(date) = date else { return Ok(Vec::new()) };
        let shortest = date.suffix();
        // A foreign name may spell out seconds that the shortest form omits.
        let mut found = self.items_ending_in(&shortest)?;
        found.extend(self.items_ending_in(&format!("{shortest}.00"))?);
        let mut labelled = Vec::new();
        for item in found {
            // An item with a damaged sidecar counts as one without the label.
            if item.sidecar_if_sound()?.is_some_and(|sidecar| sidecar.is_labelled(label)) {
                labelled.push(item);
            }
        }
        Ok(labelled)
    }

    /// Items with an opaque label, whatever its date, in the present index, which is neither built nor
    /// synchronised.
    fn items_indexed_as(&self, label: &str) -> Result<Vec<StoredItem>, CollectionError> {
        let query = Query::default().identifier(label);
        let index = self.index_path().and_then(|path| Index::open_existing(path).ok()?);
        let names = index.map(|index| {
            let mut names = Vec::new();
            index.tables().search::<IndexError>(&query, Which::All, |name, _| {
                names.push(name);
                Ok(ControlFlow::Continue(()))
            })?;
            Ok::<_, IndexError>(names)
        });
        let (lookup, mut labelled) = (Lookup::new(self), Vec::new());
        // An index that cannot be used finds nothing.
        for name in names.and_then(Result::ok).unwrap_or_default() {
            if let Some(item) = lookup.item(&name)?
                && item.sidecar_if_sound()?.is_some_and(|sidecar| sidecar.is_labelled(label))
            {
                labelled.push(item);
            }
        }
        Ok(labelled)
    }

    /// The directories `depth` levels below the root that can hold items.
    fn directories_above(&self, depth: usize) -> Result<Vec<PathBuf>, CollectionError> {
        let mut level = vec![PathBuf::new()];
        for _ in 0..depth {
            let mut next = Vec::new();
            for path in level {
                let Some(dir) = self.root().open_dir_if_there(&path)? else { continue };
                let names = dir.names_of(Kind::Directory, |name| name != layout::OWN)?;
                next.extend(names.into_iter().map(|name| path.join(name)));
            }
            level = next;
        }
        Ok(level)
    }
}

/// Whether `text` can be the end of a name: directory names, none of them dots.
fn may_end_a_name(text: &str) -> bool {
    let belongs = |c: char| c.is_ascii_alphanumeric() || "-_.@/".contains(c);
    let text = text.trim_matches('/');
    !text.is_empty()
        && text.chars().all(belongs)
        && !text.contains("..")
        && text.split('/').count() < 4
}

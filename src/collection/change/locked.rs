//! Existing items with their locks held: the only form in which they are changed.

use std::ops::Deref;
use std::path::PathBuf;

use crate::collection::{ChangeLocks, Collection, CollectionError, Lookup, StoredItem};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::layout;

/// An item that was opened under the change lock of its collection. Only such an item can be changed.
#[derive(Debug)]
pub(crate) struct LockedItem<'l> {
    collection: &'l Collection,
    item: StoredItem,
}

impl ChangeLocks {
    /// The present item called `name`, if it exists. An error if its collection is not locked.
    pub(crate) fn item<'l>(
        &'l self,
        lookup: &Lookup<'l>,
        name: &RepositoryName,
    ) -> Result<Option<LockedItem<'l>>, CollectionError> {
        let collection = lookup.collection();
        if !self.cover(collection) {
            let (name, path) = (name.clone(), collection.path().to_path_buf());
            return Err(CollectionError::Unlocked { name, path });
        }
        Ok(lookup.item(name)?.map(|item| LockedItem { collection, item }))
    }
}

impl LockedItem<'_> {
    pub(in crate::collection) fn collection(&self) -> &Collection {
        self.collection
    }

    /// The parent of the item's directory, and the name in it.
    pub(in crate::collection) fn place(&self) -> Result<(Dir, PathBuf), PathError> {
        let (year, leaf) = layout::item_place(self.name());
        Ok((self.collection.root().open_dir(year)?, leaf))
    }
}

impl Deref for LockedItem<'_> {
    type Target = StoredItem;

    fn deref(&self) -> &StoredItem {
        &self.item
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::agent::Agent;
    use crate::collection::{Years, init_without_names, lock_changes};
    use crate::disk::Watcher;
    use crate::sidecar::{NewText, SidecarText};
    use crate::wait::Waiter;

    fn agent() -> Agent {
        Agent {
            process: std::process::id(),
            user: "ann".to_owned(),
            user_id: 1000,
            machine: "vault".to_owned(),
            machine_id: "1".to_owned(),
            command: "urepo test".to_owned(),
        }
    }

    fn collection(root: &Path) -> Collection {
        init_without_names(root, "archive", &Watcher::default()).unwrap()
    }

    fn name(leaf: &str) -> RepositoryName {
        format!("example.org/archive/2026/{leaf}").parse().unwrap()
    }

    fn write(dir: &Dir, text: &str) {
        dir.create_file(layout::SIDECAR).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn put(collection: &Collection, name: &RepositoryName) {
        write(&collection.ensure_directory(&layout::item_directory(name)).unwrap(), "old");
    }

    fn lock(collection: &Collection) -> ChangeLocks {
        lock_changes([collection], &agent(), &Waiter::default()).unwrap()
    }

    #[test]
    fn locks_give_out_only_items_of_their_collections() {
        let scratch = tempfile::tempdir().unwrap();
        let own = collection(&scratch.path().join("own"));
        let other = collection(&scratch.path().join("other"));
        let name = name("11.21.02.13");
        put(&own, &name);
        put(&other, &name);
        let locks = lock(&own);
        let item = |collection, name| {
            locks.item(&Lookup::new(collection), name).map(|item| item.unwrap().name().clone())
        };
        assert_eq!(item(&own, &name).unwrap(), name);
        let (in_capitals, _) =
            RepositoryName::parse_as_found("EXAMPLE.org/archive/2026/11.21.02.13").unwrap();
        assert_eq!(item(&own, &in_capitals).unwrap(), name);
        let refused = item(&other, &name).unwrap_err();
        assert!(matches!(refused, CollectionError::Unlocked { .. }), "{refused}");
    }

    #[test]
    fn a_locked_item_is_the_one_that_is_there_now() {
        let scratch = tempfile::tempdir().unwrap();
        let collection = collection(&scratch.path().join("archive"));
        let name = name("11.21.02.13");
        put(&collection, &name);
        let before = collection.item(&name).unwrap();
        let writer = collection.writer(&agent(), &Waiter::default()).unwrap();
        let draft = writer.draft().unwrap();
        draft.write_sidecar(&NewText::Held(b"replaced".to_vec())).unwrap();
        let lookup = Lookup::new(&collection);
        let locks = lock(&collection);
        let other = locks.item(&lookup, &name).unwrap().unwrap();
        writer.swap_item(draft.staged(), &other, &mut Years::of(&collection)).unwrap();
        drop(locks);
        let locks = lock(&collection);
        let item = locks.item(&lookup, &name).unwrap().unwrap();
        let staged = writer.stage_sidecar(&NewText::Held(b"new".to_vec())).unwrap();
        writer.rename_sidecar(&staged, &item).unwrap();
        let text = |item: &StoredItem| item.versioned_text().unwrap().0;
        assert_eq!(text(&collection.item(&name).unwrap()), SidecarText::Held(b"new".to_vec()));
        assert_eq!(text(&before), SidecarText::Held(b"old".to_vec()));
    }
}

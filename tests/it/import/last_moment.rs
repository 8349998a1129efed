//! Sources that change, or resist, at the moment in which they are removed.

use std::sync::Mutex;

use urepo::disk::{Operation, Watch};
use urepo::import::ArchiveDirectory;

use super::removing::run;
use super::*;
use crate::support::{make_collection, scratch};

/// Does something when the first thing below a directory is removed.
struct AtFirstRemoval<F>(PathBuf, Mutex<Option<F>>);

impl<F: FnOnce(&Path) -> std::io::Result<()> + Send> Watch for AtFirstRemoval<F> {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation != Operation::Remove || !path.starts_with(&self.0) {
            return Ok(());
        }
        self.1.lock().unwrap().take().map_or(Ok(()), |act| act(path))
    }
}

fn remove_with(
    act: impl FnOnce(&Path) -> std::io::Result<()> + Send + 'static,
) -> (tempfile::TempDir, Summary) {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    write(&sources, "dir/b.txt", "beta");
    write(&sources, "dir/sub/c.txt", "gamma");
    let watcher = AtFirstRemoval(sources.clone(), Mutex::new(Some(act)));
    let summary = run(&root, &sources, &|| After::Remove, &Watcher::new(Arc::new(watcher)));
    (scratch, summary.unwrap())
}

#[test]
fn what_comes_into_a_source_at_the_last_moment_stays_and_becomes_an_item() {
    for late in ["late.txt", "sub/late.txt", "new/late.txt"] {
        let (scratch, summary) = remove_with(move |removed| {
            let path = removed.parent().unwrap().join(late);
            std::fs::create_dir_all(path.parent().unwrap())?;
            std::fs::write(path, "late")
        });
        assert_eq!((summary.imported, summary.left), (1, 1), "{late}");
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        assert_eq!(std::fs::read(sources.join("dir").join(late)).unwrap(), b"late");
        let summary = run(&root, &sources, &|| After::Remove, &Watcher::default()).unwrap();
        assert_eq!((summary.imported, summary.left), (1, 0), "{late}");
        assert_eq!(crate::support::tree(&sources), [""; 0]);
    }
}

#[test]
fn a_source_that_is_removed_in_part_is_reported() {
    let (scratch, summary) = remove_with(|_| Err(rustix::io::Errno::ACCESS.into()));
    assert_eq!((summary.imported, summary.left), (1, 1));
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    let summary = run(&root, &sources, &|| After::Remove, &Watcher::default()).unwrap();
    assert_eq!((summary.imported, summary.left), (0, 0));
    assert_eq!(crate::support::tree(&sources), [""; 0]);
}

/// A source is saved anew, as editors do: by a rename of another file onto it.
struct AtFirstStep {
    sources: PathBuf,
    replaced: &'static str,
    once: std::sync::Once,
}

impl Watch for AtFirstStep {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let goes = matches!(operation, Operation::Rename | Operation::Remove);
        if goes && (path.starts_with(&self.sources) || path.ends_with("done/source")) {
            self.once.call_once(|| {
                let saved = write(self.sources.parent().unwrap(), "saved", "AFTER!");
                let file = std::fs::File::open(&saved).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
                std::fs::rename(&saved, self.sources.join(self.replaced)).unwrap();
            });
        }
        Ok(())
    }
}

/// Its name, size and time are those that were compared, and its bytes are in no item.
#[test]
fn what_replaces_a_source_as_it_goes_stays() {
    for replaced in ["source", "source/b.txt"] {
        for moves in [false, true] {
            let scratch = scratch();
            let path = |name: &str| scratch.path().join(name);
            let (root, sources, done) = (path("archive"), path("sources"), path("done"));
            make_collection(&root);
            std::fs::create_dir(&done).unwrap();
            let file = std::fs::File::open(write(&sources, replaced, "before")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
            let once = std::sync::Once::new();
            let meddler = Arc::new(AtFirstStep { sources: sources.clone(), replaced, once });
            let watcher = Watcher::new(Arc::clone(&meddler) as Arc<dyn Watch>);
            let after = || match ArchiveDirectory::open(&done, &watcher) {
                Ok(done) if moves => After::Move(done),
                _ => After::Remove,
            };
            let summary = run(&root, &sources, &after, &watcher).unwrap();
            assert!(meddler.once.is_completed(), "{replaced} {moves}");
            assert_eq!((summary.imported, summary.left), (1, 1), "{replaced} {moves}");
            assert_eq!(std::fs::read(sources.join(replaced)).unwrap(), b"AFTER!");
            assert_eq!(std::fs::read_dir(&done).unwrap().count(), 0, "{replaced}");
            assert_eq!(std::fs::read_dir(&sources).unwrap().count(), 1, "{replaced}");
            // The next run takes it.
            let summary = run(&root, &sources, &after, &Watcher::default()).unwrap();
            assert_eq!((summary.imported, summary.left), (1, 0), "{replaced} {moves}");
            assert_eq!(crate::support::tree(&sources), [""; 0]);
        }
    }
}

/// A source changes once it has gone from its name, and another file gets this.
struct AtFirstLook {
    sources: PathBuf,
    once: std::sync::Once,
}

impl Watch for AtFirstLook {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_moved =
            path.ends_with("done/source") || path.to_string_lossy().contains("removing-");
        if is_moved && operation == Operation::Inspect {
            self.once.call_once(|| {
                std::fs::write(path, "AFTER!").unwrap();
                write(&self.sources, "source", "another");
            });
        }
        Ok(())
    }
}

#[test]
fn a_changed_source_whose_name_is_taken_gets_a_number_and_becomes_an_item() {
    for moves in [false, true] {
        let scratch = scratch();
        let path = |name: &str| scratch.path().join(name);
        let (root, sources, done) = (path("archive"), path("sources"), path("done"));
        make_collection(&root);
        std::fs::create_dir(&done).unwrap();
        write(&sources, "source", "before");
        let once = std::sync::Once::new();
        let meddler = Arc::new(AtFirstLook { sources: sources.clone(), once });
        let watcher = Watcher::new(Arc::clone(&meddler) as Arc<dyn Watch>);
        let after = || match ArchiveDirectory::open(&done, &watcher) {
            Ok(done) if moves => After::Move(done),
            _ => After::Remove,
        };
        let summary = run(&root, &sources, &after, &watcher).unwrap();
        assert!(meddler.once.is_completed(), "{moves}");
        assert_eq!((summary.imported, summary.left), (1, 1), "{moves}");
        assert_eq!(crate::support::tree(&sources), ["source 7", "source.1 6"], "{moves}");
        assert_eq!(std::fs::read_dir(&done).unwrap().count(), 0, "{moves}");
        let summary = run(&root, &sources, &after, &Watcher::default()).unwrap();
        assert_eq!((summary.imported, summary.left), (2, 0), "{moves}");
        assert_eq!(crate::support::tree(&sources), [""; 0]);
    }
}

#[test]
fn a_file_that_changed_under_its_hidden_name_is_a_source_again() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    write(&sources, "source", "before");
    let run = || run(&root, &sources, &|| After::Remove, &Watcher::default()).unwrap();
    run();
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let item = crate::support::whole_items(&collection).remove(0);
    write(&sources, &format!(".urepo-removing-{}", item.replace('/', "+")), "after");
    let first = run();
    assert_eq!((first.imported, first.failed), (0, 1));
    assert_eq!(crate::support::tree(&sources), ["source 5"]);
    let second = run();
    assert_eq!((second.imported, second.failed), (1, 0));
    assert_eq!(crate::support::tree(&sources), [""; 0]);
}

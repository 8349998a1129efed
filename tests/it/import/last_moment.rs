//! Sources that change, or resist, at the moment in which they are removed.

use std::sync::Mutex;

use urepo::disk::{Operation, Watch};

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
    let summary = run(&root, &sources, SourceRule::Remove, &Watcher::new(Arc::new(watcher)));
    (scratch, summary.unwrap())
}

#[test]
fn what_comes_into_a_source_at_the_last_moment_stays_and_becomes_an_item() {
    for late in ["late.txt", "sub/late.txt", "new/late.txt"] {
        let (scratch, summary) = remove_with(move |removed| {
            let top = removed.ancestors().find(|it| it.ends_with("dir")).unwrap();
            let path = top.join(late);
            std::fs::create_dir_all(path.parent().unwrap())?;
            std::fs::write(path, "late")
        });
        assert_eq!((summary.imported, summary.left), (1, 1), "{late}");
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        assert_eq!(std::fs::read(sources.join("dir").join(late)).unwrap(), b"late");
        let summary = run(&root, &sources, SourceRule::Remove, &Watcher::default()).unwrap();
        assert_eq!((summary.imported, summary.left), (1, 0), "{late}");
        assert_eq!(crate::support::tree(&sources), [""; 0]);
    }
}

#[test]
fn a_source_that_is_removed_in_part_is_reported() {
    let (scratch, summary) = remove_with(|_| Err(rustix::io::Errno::ACCESS.into()));
    assert_eq!((summary.imported, summary.left), (1, 1));
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    let summary = run(&root, &sources, SourceRule::Remove, &Watcher::default()).unwrap();
    assert_eq!((summary.imported, summary.left), (0, 0));
    assert_eq!(crate::support::tree(&sources), [""; 0]);
}

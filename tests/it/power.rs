//! Every missing sync: the recorded order of operations against the rule "data, directory, parents,
//! then report".

use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::collection::Collection;
use urepo::disk::{Operation, Watcher};

use crate::support::{TestClock, Trace, deposit, make_collection, options, request, scratch};

/// What a disk that only keeps what was synced would have, while a trace is replayed.
#[derive(Default)]
pub(crate) struct Disk {
    /// Files and directories with bytes, names or attributes that a power cut would take.
    pub(crate) volatile: Vec<PathBuf>,
}

impl Disk {
    pub(crate) fn apply(&mut self, operation: Operation, path: &Path) {
        let parent = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        match operation {
            Operation::CreateFile | Operation::MakeDirectory | Operation::MakeLink => {
                self.volatile.push(path.to_path_buf());
                self.volatile.push(parent);
            }
            Operation::Write | Operation::SetAttributes => self.volatile.push(path.to_path_buf()),
            Operation::Rename => self.volatile.push(parent),
            Operation::SyncFile | Operation::SyncDirectory => {
                self.volatile.retain(|volatile| volatile != path);
            }
            Operation::SyncFileSystem => self.volatile.clear(),
            Operation::Remove
            | Operation::Open
            | Operation::List
            | Operation::Inspect
            | Operation::Read
            | Operation::Lock => {}
        }
    }

    /// What would be lost below or at `path`, or of the directories above it up to `root`.
    fn lost(&self, path: &Path, root: &Path) -> Vec<&PathBuf> {
        self.volatile
            .iter()
            .filter(|volatile| {
                volatile.starts_with(path)
                    || (path.starts_with(volatile) && volatile.starts_with(root))
            })
            .collect()
    }
}

#[test]
fn nothing_is_put_in_place_or_reported_before_it_is_on_the_disk() {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    std::fs::create_dir_all(sources.join("dir/sub")).unwrap();
    std::fs::write(sources.join("dir/sub/a"), "a").unwrap();
    std::fs::write(sources.join("b"), "b").unwrap();
    let root = scratch.path().join("archive");
    make_collection(&root);
    let trace = Arc::new(Trace::default());
    let collection = Collection::open(&root, &Watcher::new(Arc::clone(&trace) as _)).unwrap();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let requests = vec![request(sources.join("dir")), request(sources.join("b"))];
    // A report stands in the trace as the opening of a path that nothing else opens.
    let (outcomes, summary) = deposit(&collection, requests, options(), &clock, |outcome| {
        let deposited = outcome.result.as_ref().unwrap();
        let item = urepo::layout::item_directory(&deposited.label.name);
        trace.0.lock().unwrap().push((Operation::Open, root.join(item).join("REPORTED")));
    })
    .unwrap();
    assert!(summary.fatal.is_none());
    assert_eq!(outcomes.len(), 2);
    check(&trace.0.lock().unwrap(), &root);
}

fn check(trace: &[(Operation, PathBuf)], root: &Path) {
    let staging = root.join(".urepo/staging");
    let memory = root.join(".urepo/distributor");
    let mut disk = Disk::default();
    let (mut placed, mut reported) = (0, 0);
    for (operation, path) in trace {
        let into_tree = path.starts_with(root) && !path.starts_with(root.join(".urepo"));
        if *operation == Operation::Rename && into_tree {
            placed += 1;
            let payload: Vec<_> =
                disk.volatile.iter().filter(|it| it.starts_with(&staging)).collect();
            assert!(payload.is_empty(), "{} put in place before {payload:?}", path.display());
            let memory = disk.lost(&memory, &memory);
            assert!(memory.is_empty(), "a name used before its memory was synced: {memory:?}");
        }
        if *operation == Operation::Open && path.ends_with("REPORTED") {
            reported += 1;
            let lost = disk.lost(path.parent().unwrap(), root);
            assert!(lost.is_empty(), "{} reported before {lost:?} was synced", path.display());
        }
        disk.apply(*operation, path);
    }
    assert_eq!((placed, reported), (2, 2));
}

/// The rule itself finds a missing sync: each one left out of the trace is noticed.
#[test]
fn leaving_out_a_sync_is_noticed() {
    let root = Path::new("/archive");
    let stage = root.join(".urepo/staging/1");
    let year = root.join("example.org/archive/2026");
    let whole = [
        (Operation::MakeDirectory, stage.join("0")),
        (Operation::CreateFile, stage.join("0/doc")),
        (Operation::Write, stage.join("0/doc")),
        (Operation::Write, root.join(".urepo/distributor/x.lock")),
        (Operation::SyncFile, root.join(".urepo/distributor/x.lock")),
        (Operation::SyncFileSystem, stage.clone()),
        (Operation::Rename, year.join("11.21.02.13")),
        (Operation::SyncDirectory, year.clone()),
        (Operation::Open, year.join("11.21.02.13/REPORTED")),
        (Operation::Rename, year.join("11.21.02.14")),
        (Operation::SyncDirectory, year.clone()),
        (Operation::Open, year.join("11.21.02.14/REPORTED")),
    ];
    check(&whole, root);
    for left_out in [5, 7, 10] {
        let mut trace = whole.to_vec();
        trace.remove(left_out);
        let noticed = std::panic::catch_unwind(|| check(&trace, root));
        assert!(noticed.is_err(), "leaving out {:?} was not noticed", whole[left_out]);
    }
}

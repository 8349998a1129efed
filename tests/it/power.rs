//! Every missing sync: the recorded order of operations against the rule "data, directory, parents,
//! then report".

use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::collection::{Collection, Subsystem};
use urepo::disk::{Operation, Watch, Watcher};

use crate::support::{
    System, TestClock, Trace, deposit, init, make_collection, options, request, scratch,
};

/// What a disk that only keeps what was synced would have, while a trace is replayed.
#[derive(Default)]
pub(crate) struct Disk {
    /// Files and directories with bytes, names or attributes that a power cut would take.
    pub(crate) volatile: Vec<PathBuf>,
    /// What a link says, and its time, are on the disk when its directory is.
    links: Vec<PathBuf>,
}

impl Disk {
    pub(crate) fn with(volatile: impl IntoIterator<Item = PathBuf>) -> Disk {
        Disk { volatile: volatile.into_iter().collect(), links: Vec::new() }
    }

    pub(crate) fn apply(&mut self, operation: Operation, path: &Path) {
        let parent = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        match operation {
            Operation::CreateFile | Operation::MakeDirectory => {
                self.volatile.push(path.to_path_buf());
                self.volatile.push(parent);
            }
            Operation::MakeLink => {
                self.links.push(path.to_path_buf());
                self.volatile.push(parent);
            }
            Operation::SetAttributes if self.links.iter().any(|link| link == path) => {
                self.volatile.push(parent);
            }
            Operation::Write | Operation::SetAttributes => self.volatile.push(path.to_path_buf()),
            Operation::Rename => self.volatile.push(parent),
            Operation::SyncFile | Operation::SyncDirectory => {
                self.volatile.retain(|volatile| volatile != path);
            }
            Operation::SyncFileSystem => self.volatile.clear(),
            Operation::Remove => self.volatile.retain(|volatile| !volatile.starts_with(path)),
            Operation::Open
            | Operation::List
            | Operation::Inspect
            | Operation::Read
            | Operation::Lock => {}
        }
    }

    /// What would be lost of the items in the stages of the collection at `root`. A stage may be lost
    /// itself, and its notes.
    pub(crate) fn lost_of_stages(&self, root: &Path) -> Vec<&PathBuf> {
        let staging = root.join(".urepo/staging");
        let is_staged = |path: &Path| {
            path.strip_prefix(&staging).is_ok_and(|path| path.components().count() > 1)
                && !["holder", "names"].iter().any(|note| path.ends_with(note))
        };
        self.volatile.iter().filter(|path| is_staged(path)).collect()
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

/// Deposits two items on `system` and returns every step of it.
fn steps(scratch: &Path, root: &Path, system: System) -> Vec<(Operation, PathBuf)> {
    let trace = Arc::new(Trace::on(system));
    steps_of(scratch, root, &trace, &Watcher::new(Arc::clone(&trace) as _))
}

/// The same with a watcher that `trace` hears of.
fn steps_of(
    scratch: &Path,
    root: &Path,
    trace: &Trace,
    watcher: &Watcher,
) -> Vec<(Operation, PathBuf)> {
    let sources = scratch.join("sources");
    std::fs::create_dir_all(sources.join("dir/sub")).unwrap();
    std::fs::write(sources.join("dir/sub/a"), "a").unwrap();
    std::fs::write(sources.join("b"), "b").unwrap();
    let collection = Collection::open(root, watcher).unwrap();
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
    std::mem::take(&mut *trace.0.lock().unwrap())
}

#[test]
fn nothing_is_put_in_place_or_reported_before_it_is_on_the_disk() {
    for system in [System::Own, System::Network, System::Many] {
        let scratch = scratch();
        let root = scratch.path().join("archive");
        make_collection(&root);
        check(&steps(scratch.path(), &root, system), &root, Disk::default());
    }
}

/// The kernel hands `syncfs` to no server in user space, and `CephFS` promises nothing of it.
#[test]
fn nothing_relies_on_one_sync_of_all_where_that_may_do_nothing() {
    const FUSE: i128 = 0x6573_5546;
    const CEPH_FS: i128 = 0x00c3_6400;
    for system in [FUSE, CEPH_FS].map(System::Mounted) {
        let scratch = scratch();
        let root = scratch.path().join("archive");
        let subsystem = Subsystem::new("archive.example.org".parse().unwrap());
        init(&root, "archive", subsystem, &Watcher::new(Arc::new(Trace::on(system)))).unwrap();
        let settings = root.join("urepo.toml");
        let text = std::fs::read_to_string(&settings).unwrap();
        std::fs::write(settings, format!("network = \"trusted\"\n{text}")).unwrap();
        let steps = steps(scratch.path(), &root, system);
        assert!(steps.iter().all(|(done, _)| *done != Operation::SyncFileSystem), "{system:?}");
        check(&steps, &root, Disk::default());
    }
}

/// Another process that makes the directories at the moment in which all else is synced.
struct Meanwhile {
    trace: Arc<Trace>,
    directory: PathBuf,
}

impl Watch for Meanwhile {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::SyncFileSystem {
            std::fs::create_dir_all(&self.directory)?;
        }
        self.trace.before(operation, path)
    }

    fn few(&self) -> Option<usize> {
        self.trace.few()
    }
}

/// Another process has made the directories a moment ago, and has not synced their names.
#[test]
fn directories_that_another_process_has_just_made_are_synced() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    make_collection(&root);
    let year = root.join("example.org/archive/2026");
    let above = year.ancestors().skip(1).take(3).map(Path::to_path_buf).collect::<Vec<_>>();
    assert!(above.contains(&root));
    // Those that are made too late for the sync of all else.
    let trace = Arc::new(Trace::on(System::Many));
    let meanwhile = Meanwhile { trace: Arc::clone(&trace), directory: year.clone() };
    let steps_meanwhile =
        steps_of(scratch.path(), &root, &trace, &Watcher::new(Arc::new(meanwhile)));
    let last = |wanted| steps_meanwhile.iter().rposition(|(done, _)| *done == wanted).unwrap();
    let made = last(Operation::SyncFileSystem) + 1;
    let is_report = |(_, path): &(Operation, PathBuf)| path.ends_with("REPORTED");
    let reported = steps_meanwhile.iter().position(is_report).unwrap();
    for path in &above {
        let sync = (Operation::SyncDirectory, path.clone());
        assert!(steps_meanwhile[made..reported].contains(&sync), "{}", path.display());
    }
    // Those that were there before.
    for system in [System::Network, System::Many, System::Own] {
        let steps = steps(scratch.path(), &root, system);
        check(&steps, &root, Disk::with(above.clone()));
    }
}

/// Where `syncfs` does nothing, and where it would do too much, each file and each directory counts.
#[test]
fn leaving_out_any_sync_of_an_item_is_noticed_where_there_is_no_other() {
    for system in [System::Network, System::Own] {
        let scratch = scratch();
        let root = scratch.path().join("archive");
        make_collection(&root);
        let steps = steps(scratch.path(), &root, system);
        assert!(steps.iter().all(|(done, _)| *done != Operation::SyncFileSystem), "{system:?}");
        let (staging, ledger) = (root.join(".urepo/staging"), root.join(".urepo/ledger"));
        let mut noticed = 0;
        for at in 0..steps.len() {
            let (operation, path) = &steps[at];
            let depth = path.strip_prefix(&staging).map_or(0, |path| path.components().count());
            let is_sync = [Operation::SyncFile, Operation::SyncDirectory].contains(operation);
            // From the directories of items on: what is above them is synced more than once.
            if is_sync && (depth > 2 || path.starts_with(&ledger)) {
                let mut without = steps.clone();
                without.remove(at);
                let found = std::panic::catch_unwind(|| check(&without, &root, Disk::default()));
                let step = format!("{operation:?} {} on {system:?}", path.display());
                assert!(found.is_err(), "leaving out {step} was not noticed");
                noticed += 1;
            }
        }
        // Two items with `doc` and sidecar, of which one has a directory more, and two files; and the file of the ledger.
        assert_eq!(noticed, 2 * 3 + 1 + 2 + 1);
    }
}

fn check(trace: &[(Operation, PathBuf)], root: &Path, mut disk: Disk) {
    let memory = root.join(".urepo/memory");
    let ledger = root.join(".urepo/ledger");
    let (mut placed, mut reported, mut is_recorded) = (0, 0, false);
    for (operation, path) in trace {
        let into_tree = path.starts_with(root) && !path.starts_with(root.join(".urepo"));
        if *operation == Operation::Rename && into_tree {
            placed += 1;
            is_recorded = false;
            let payload = disk.lost_of_stages(root);
            assert!(payload.is_empty(), "{} put in place before {payload:?}", path.display());
            let memory = disk.lost(&memory, &memory);
            assert!(memory.is_empty(), "a name used before its memory was synced: {memory:?}");
        }
        if *operation == Operation::Open && path.ends_with("REPORTED") {
            reported += 1;
            let lost = disk.lost(path.parent().unwrap(), root);
            assert!(lost.is_empty(), "{} reported before {lost:?} was synced", path.display());
            let lost = disk.lost(&ledger, &ledger);
            assert!(is_recorded && lost.is_empty(), "{} reported before {lost:?}", path.display());
        }
        is_recorded |= *operation == Operation::Write && path.starts_with(&ledger);
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
    let ledger = root.join(".urepo/ledger/000001.jsonl");
    let whole = [
        (Operation::MakeDirectory, stage.join("0")),
        (Operation::CreateFile, stage.join("0/doc")),
        (Operation::Write, stage.join("0/doc")),
        (Operation::Write, root.join(".urepo/memory/x")),
        (Operation::SyncFile, root.join(".urepo/memory/x")),
        (Operation::SyncFileSystem, stage.clone()),
        (Operation::Rename, year.join("11.21.02.13")),
        (Operation::SyncDirectory, year.clone()),
        (Operation::Write, ledger.clone()),
        (Operation::SyncFile, ledger.clone()),
        (Operation::Open, year.join("11.21.02.13/REPORTED")),
        (Operation::Rename, year.join("11.21.02.14")),
        (Operation::SyncDirectory, year.clone()),
        (Operation::Write, ledger.clone()),
        (Operation::SyncFile, ledger),
        (Operation::Open, year.join("11.21.02.14/REPORTED")),
    ];
    check(&whole, root, Disk::default());
    for left_out in [5, 7, 8, 9, 12, 13, 14] {
        let mut trace = whole.to_vec();
        trace.remove(left_out);
        let noticed = std::panic::catch_unwind(|| check(&trace, root, Disk::default()));
        assert!(noticed.is_err(), "leaving out {:?} was not noticed", whole[left_out]);
    }
}

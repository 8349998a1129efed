//! Several processes that copy and migrate at once, and such that are killed: one Original, no half
//! item, and whoever comes next goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use urepo::collection::{Collection, Subsystem};
use urepo::disk::Watcher;
use urepo::item::State;

use crate::support::{World, init, staged, tree, whole_items};

/// How many items each source has.
const ITEMS: usize = 1000;

fn make(world: &World, name: &str) -> Collection {
    let subsystem = Subsystem::new(format!("{name}.example.org").parse().unwrap());
    init(&world.path(name), name, subsystem, &Watcher::default()).unwrap()
}

/// Starts the program with the words of `line`.
fn start(world: &World, line: &str) -> Child {
    let mut command = world.command(line.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ends(child: Child) -> (i32, String) {
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    (status.code().unwrap_or(-1), String::from_utf8(stderr).unwrap())
}

/// Writes `count` small files and a list of them, each named after `stem`.
fn sources(world: &World, stem: &str, count: usize) -> String {
    let path = |at| format!("{stem}-files/{at:04}");
    let make = |at| world.write(&path(at), format!("{stem} {at}"));
    (0..count).map(make).for_each(drop);
    (0..count).map(path).collect::<Vec<_>>().join(" ")
}

/// No run has left anything in a collection, and verification finds nothing in it.
#[track_caller]
fn is_clean(world: &World, root: &str) {
    let path = world.path(root);
    assert_eq!(staged(&path), [""; 0], "{root}");
    assert_eq!(below(&path.join(".urepo/journal")), [""; 0], "{root}");
    assert_eq!(below(&path.join(".urepo/partial")), [""; 0], "{root}");
    let ran = world.run(&format!("-c {root} verify"));
    assert_eq!(ran.code, 0, "{root}: {}{}", ran.stdout, ran.stderr);
}

fn below(path: &Path) -> Vec<String> {
    if path.exists() { tree(path) } else { Vec::new() }
}

/// How many of the collections hold the Original of each item that any of them has.
fn originals(collections: &[&Collection]) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for collection in collections {
        for name in whole_items(collection) {
            let item = collection.item(&name.parse().unwrap()).unwrap();
            let is_original = item.sidecar().unwrap().0.state == State::Original;
            *count.entry(name).or_default() += usize::from(is_original);
        }
    }
    count
}

#[test]
fn four_copy_into_one_collection() {
    let world = World::new();
    let names = ["one", "two", "three", "four"];
    let list = sources(&world, "all", ITEMS);
    let deposits = names.map(|name| {
        make(&world, name);
        start(&world, &format!("-c {name} new -q --each {list}"))
    });
    for deposit in deposits {
        assert_eq!(ends(deposit).0, 0);
    }
    make(&world, "all");
    let copies = names.map(|name| start(&world, &format!("-c {name} copy --all --to all")));
    for copy in copies {
        let (code, told) = ends(copy);
        assert_eq!(code, 0, "{told}");
        assert!(told.starts_with("copied 1000 items, 1000 files, "), "{told}");
    }
    let listed = world.run("-c all list");
    assert_eq!(listed.succeeded().lines().count(), names.len() * ITEMS);
    is_clean(&world, "all");
    // There is nothing left to do.
    let again = world.run("-c one copy --all --to all");
    assert_eq!((again.code, again.stderr.as_str()), (0, "nothing to copy; 1000 there already\n"));
}

/// Deposits, copies and migrations of the same items at the same time: whatever one of them meets, each
/// item has one Original, and the same commands again complete it.
#[test]
fn deposits_copies_and_migrations_at_once() {
    let world = World::new();
    let collections = ["archive", "mirror", "third"].map(|name| make(&world, name));
    let first = sources(&world, "first", 200);
    world.run(&format!("-c archive new -q --each {first}")).succeeded();
    let later = sources(&world, "later", 100);
    let lines = [
        format!("-c archive new -q --each {later}"),
        "-c archive copy --all --to third".to_owned(),
        "-c archive migrate --all --leave-copy --to mirror".to_owned(),
        "-c archive migrate --all --to mirror".to_owned(),
        "-c mirror copy --all --to third".to_owned(),
        "-c mirror migrate --all --to archive".to_owned(),
    ];
    let mut printed = BTreeSet::new();
    let runs: Vec<_> = lines.iter().map(|line| start(&world, line)).collect();
    for (run, line) in runs.into_iter().zip(&lines) {
        let output = run.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        // Some items were changed or gone when it was their turn; that is told, and no more than that.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{line}: {told}");
        printed.extend(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned));
    }
    let all = [&collections[0], &collections[1], &collections[2]];
    let found = originals(&all);
    assert_eq!(found.len(), 300);
    let wrong: Vec<_> = found.iter().filter(|(_, count)| **count != 1).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(printed.iter().all(|name| found.contains_key(name)), "a printed name is lost");
    for root in ["archive", "mirror", "third"] {
        is_clean(&world, root);
    }
}

/// Each migration takes the Original for itself, in one step or by a hand-over: one gets it.
#[test]
fn two_migrations_of_one_item() {
    let world = World::with_collection();
    let archive = Collection::open(&world.path("archive"), &Watcher::default()).unwrap();
    let (left, right) = (make(&world, "left"), make(&world, "right"));
    world.write("a.txt", "alpha");
    for round in 0..20 {
        let name = world.run("-c archive new a.txt").line();
        let rest = if round % 2 == 0 { "" } else { "--leave-copy" };
        let runs = ["left", "right"]
            .map(|to| start(&world, &format!("-c archive migrate {name} {rest} --to {to}")));
        let ended = runs.map(ends);
        let won = ended.iter().filter(|(code, _)| *code == 0).count();
        // Gone, or changed meanwhile.
        let lost = ended.iter().filter(|(code, _)| matches!(code, 21 | 23)).count();
        // Who comes when the other one has left a Copy gets a Copy of that.
        let late = won == 2 && round % 2 == 1;
        assert!((won, lost) == (1, 1) || late, "{ended:?}");
        assert_eq!(originals(&[&archive, &left, &right])[&name], 1, "{ended:?}");
    }
    for root in ["archive", "left", "right"] {
        is_clean(&world, root);
    }
}

/// Starts the program twice and lets both go on when both are there.
fn start_twice(world: &World, line: &str) -> [Child; 2] {
    let mut children = [(); 2].map(|()| {
        let mut command = world.shell(&format!("echo ready; read go; exec \"$0\" {line}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    });
    for child in &mut children {
        let mut told = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut told).unwrap();
        assert_eq!(&told, b"ready\n");
    }
    // What each of them waits for is the end of its input.
    for child in &mut children {
        drop(child.stdin.take());
    }
    children
}

/// Whichever is faster, both have nothing to complain of.
#[test]
fn the_same_command_twice_at_once() {
    for (verb, rest) in [("copy", ""), ("migrate", ""), ("migrate", "--leave-copy")] {
        let world = World::new();
        let collections = ["archive", "mirror"].map(|name| make(&world, name));
        let list = sources(&world, "all", 150);
        world.run(&format!("-c archive new -q --each {list}")).succeeded();
        let line = format!("-c archive {verb} --all {rest} --to mirror");
        for (code, told) in start_twice(&world, &line).map(ends) {
            assert_eq!(code, 0, "{line}: {told}");
        }
        let found = originals(&[&collections[0], &collections[1]]);
        assert_eq!(found.len(), 150, "{line}");
        assert!(found.values().all(|count| *count == 1), "{line}: {found:?}");
        assert_eq!(whole_items(&collections[1]).len(), 150, "{line}");
        for root in ["archive", "mirror"] {
            is_clean(&world, root);
        }
    }
}

mod large {
    //! An item so large that what was copied of it is kept when a run is cut short.

    use std::os::unix::fs::MetadataExt;

    use super::*;

    const FILES: u64 = 66;
    const BYTES: u64 = 1024 * 1024;

    /// A world with a large item in `archive`, and an empty `mirror`.
    fn world() -> (World, String) {
        let world = World::with_collection();
        make(&world, "mirror");
        for at in 0..FILES {
            let path = world.write(&format!("large/{at:02}"), [u8::try_from(at).unwrap()]);
            std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(BYTES).unwrap();
        }
        let name = world.run("-c archive new large").line();
        (world, name)
    }

    /// The files that have been copied whole, with their inodes.
    fn copied(world: &World) -> Vec<(String, u64)> {
        let partial = world.path("mirror/.urepo/partial");
        let files = walkdir::WalkDir::new(partial).min_depth(3);
        let whole = files.into_iter().filter_map(Result::ok).filter_map(|entry| {
            let found = entry.metadata().ok()?;
            let name = entry.file_name().to_str()?.to_owned();
            (found.is_file() && found.len() == BYTES).then_some((name, found.ino()))
        });
        whole.collect()
    }

    /// Begins a copy and sends `signal` when some of its files are there. Gives its code and what was
    /// copied by then.
    fn cut_short(world: &World, name: &str, signal: Signal) -> (i32, Vec<(String, u64)>) {
        let mut child = start(world, &format!("-j1 -c archive copy {name} --to mirror"));
        while copied(world).len() < 5 {
            assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be cut short");
            std::thread::yield_now();
        }
        // Whatever it has not done by now, it does not do.
        kill_process(Pid::from_child(&child), signal).unwrap();
        let (code, told) = ends(child);
        assert_eq!(told.contains("interrupted; 0 items copied so far"), signal == Signal::INT);
        (code, copied(world))
    }

    fn inode(path: PathBuf) -> u64 {
        std::fs::metadata(path).unwrap().ino()
    }

    #[test]
    fn a_killed_copy_is_taken_up_again() {
        for (signal, code) in [(Signal::KILL, -1), (Signal::INT, 130)] {
            let (world, name) = world();
            let (ended, whole) = cut_short(&world, &name, signal);
            assert_eq!(ended, code);
            assert!(!world.path("mirror/example.org").exists(), "no half item is seen");
            let ran = world.run(&format!("-c archive copy {name} --to mirror"));
            assert_eq!((ran.code, ran.stderr.as_str()), (0, "copied 1 item, 66 files, 66 MiB\n"));
            let doc = world.path("mirror").join(&name).join("doc");
            for (file, before) in whole {
                assert_eq!(inode(doc.join(&file)), before, "{file} was copied again");
            }
            is_clean(&world, "mirror");
        }
    }

    #[test]
    fn recovery_removes_the_part_of_a_copy() {
        let (world, name) = world();
        cut_short(&world, &name, Signal::KILL);
        let told = world.run("-c mirror recover --dry-run");
        assert!(told.succeeded().contains("[WORLD]/mirror/.urepo/partial/"), "{}", told.stdout);
        world.run("-c mirror recover").succeeded();
        assert_eq!(below(&world.path("mirror/.urepo/partial")), [""; 0]);
        assert_eq!(world.run("-c mirror recover --dry-run").succeeded(), "");
        is_clean(&world, "mirror");
    }
}

//! Sources that are removed once they are items: killed anywhere, none becomes two items.

use std::sync::Mutex;

use urepo::disk::{Operation, Watch};

use super::*;
use crate::support::{
    Faults, Mode, System, World, between_users, first_user, make_collection, scratch, share,
    write_ledger,
};
use crate::unread::failing_once;

/// A directory, a file and a directory without files, to be taken away.
fn make_sources(sources: &Path) {
    write(sources, "a.txt", "alpha");
    write(sources, "dir/b.txt", "beta");
    write(sources, "dir/sub/c.txt", vec![7; 200_000]);
    write(sources, "dir/z.txt", "zeta");
    std::fs::create_dir_all(sources.join("dir/empty")).unwrap();
    std::os::unix::fs::symlink("sub/c.txt", sources.join("dir/link")).unwrap();
    std::fs::create_dir_all(sources.join("hollow/empty")).unwrap();
}

pub(super) fn run(
    root: &Path,
    sources: &Path,
    rule: SourceRule,
    watcher: &Watcher,
) -> Option<Summary> {
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let collection = Collection::open(root, watcher).ok()?;
    let found: Candidates = Box::new(
        SourceTree::open(sources, Units::default(), Links::Keep, &Exclusion::default(), watcher)
            .ok()?,
    );
    import(&collection, found, with_sources(rule), &clock).ok().map(|(_, summary)| summary)
}

#[test]
fn removals_killed_at_any_operation() {
    let scratch = scratch();
    for at in System::Own.points() {
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        make_collection(&root);
        make_sources(&sources);
        share(&sources);
        let faults = Arc::new(Faults::new(&root, at, Mode::Killed).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        first_user(|| run(&root, &sources, SourceRule::Remove, &watcher));
        let context = format!("{at} {:?}", faults.struck());
        // A part of a directory is what is left of its item, and not another source.
        let summary = run(&root, &sources, SourceRule::Remove, &Watcher::default()).unwrap();
        assert_eq!((summary.failed, summary.left), (0, 0), "{context}");
        assert_eq!(crate::support::tree(&sources), [""; 0], "something is left: {context}");
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let items = origins(&collection);
        let mut found: Vec<_> = items.iter().map(|(source, _)| last(source)).collect();
        found.sort_unstable();
        assert_eq!(found, ["a.txt", "dir", "hollow"], "each once: {context}");
        for directory in [&root, &sources] {
            std::fs::remove_dir_all(directory).unwrap();
        }
        if faults.struck().is_none() {
            assert!(at > 30, "only {at} operations");
            break;
        }
    }
}

#[test]
fn between_two_users() {
    between_users(removals_killed_at_any_operation);
}

/// Changes a source in the moment in which an operation on it begins.
struct Meddler {
    operation: Operation,
    of: &'static str,
    change: Box<dyn Fn() + Send + Sync>,
    done: std::sync::Once,
}

impl Watch for Meddler {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == self.operation && path.to_string_lossy().contains(self.of) {
            self.done.call_once(|| (self.change)());
        }
        Ok(())
    }
}

/// What somebody writes into a source after it was read stays, whenever that happens.
#[test]
fn what_changes_between_the_look_and_the_removal_stays() {
    type Case = (Operation, &'static str, fn(&Path));
    let cases: [Case; 3] = [
        // The item is read back: the source has not been compared with it.
        (Operation::Read, "/archive/example.org", |sources| {
            write(sources, "dir/new.txt", "new");
        }),
        (Operation::Read, "/archive/example.org", |sources| {
            write(sources, "dir/z.txt", "ZETA");
        }),
        (Operation::Read, "/archive/example.org", |sources| {
            std::fs::create_dir(sources.join("dir/sub/new")).unwrap();
        }),
    ];
    for (number, (operation, of, change)) in cases.into_iter().enumerate() {
        let scratch = scratch();
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        make_collection(&root);
        make_sources(&sources);
        std::fs::remove_file(sources.join("a.txt")).unwrap();
        std::fs::remove_dir_all(sources.join("hollow")).unwrap();
        let change = {
            let sources = sources.clone();
            Box::new(move || change(&sources))
        };
        let meddler = Meddler { operation, of, change, done: std::sync::Once::new() };
        let watcher = Watcher::new(Arc::new(meddler));
        let summary = run(&root, &sources, SourceRule::Remove, &watcher).unwrap();
        assert_eq!((summary.imported, summary.left), (1, 1), "case {number}");
        for name in ["dir/b.txt", "dir/sub/c.txt", "dir/z.txt"] {
            assert!(sources.join(name).exists(), "case {number}: {name}");
        }
        assert_eq!(std::fs::read_dir(&sources).unwrap().count(), 1, "case {number}");
    }
}

/// Some files of a source may have gone when one is replaced: that one stays, under its name, and becomes an item.
#[test]
fn a_file_that_is_replaced_while_others_are_removed_stays() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    for name in ["dir/a.txt", "dir/b.txt", "dir/sub/c.txt"] {
        write(&sources, name, "before");
    }
    let change = {
        let sources = sources.clone();
        Box::new(move || {
            let saved = write(&sources, "dir/saved", "AFTER!");
            std::fs::rename(saved, sources.join("dir/sub/c.txt")).unwrap();
        })
    };
    let (operation, of) = (Operation::Remove, "sources/dir/b.txt");
    let meddler = Meddler { operation, of, change, done: std::sync::Once::new() };
    let watcher = Watcher::new(Arc::new(meddler));
    let summary = run(&root, &sources, SourceRule::Remove, &watcher).unwrap();
    assert_eq!((summary.imported, summary.left), (1, 1));
    assert_eq!(crate::support::tree(&sources), ["dir/", "dir/sub/", "dir/sub/c.txt 6"]);
    let summary = run(&root, &sources, SourceRule::Remove, &Watcher::default()).unwrap();
    assert_eq!((summary.imported, summary.left), (1, 0));
    assert_eq!(crate::support::tree(&sources), [""; 0]);
}

/// Each name of a file with several has its own entry in the item.
#[test]
fn all_hard_links_of_a_file_go() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    let file = write(&sources, "dir/a.txt", "alpha");
    std::fs::hard_link(file, sources.join("dir/b.txt")).unwrap();
    let summary = run(&root, &sources, SourceRule::Remove, &Watcher::default()).unwrap();
    assert_eq!((summary.imported, summary.left), (1, 0));
    assert_eq!(crate::support::tree(&sources), [""; 0]);
}

/// A list names sources that an earlier run has removed: it may be repeated all the same.
#[test]
fn a_manifest_may_be_repeated() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    let collection = make_collection(&root);
    make_sources(&sources);
    write(&sources, "list", "path\na.txt\ndir\n");
    for (imported, there) in [(2, 0), (0, 2)] {
        let rows =
            super::manifests::read(&sources, "list", Format::Csv, Columns::default()).unwrap();
        let options = with_sources(SourceRule::Remove);
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let (events, summary) = import(&collection, rows, options, &clock).unwrap();
        let counts = (summary.imported, summary.there, summary.failed, summary.left);
        assert_eq!(counts, (imported, there, 0, 0), "{:?}", words(&events));
    }
    assert!(!sources.join("dir").exists() && !sources.join("a.txt").exists());
}

/// A part of a directory is what a killed run left of it, and never another source.
#[test]
fn a_source_is_not_imported_twice_because_its_item_can_not_be_read() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    for file in ["dir/a.txt", "dir/b.txt"] {
        write(&sources, file, file);
    }
    run(&root, &sources, SourceRule::Keep, &Watcher::default()).unwrap();
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let before = crate::support::whole_items(&collection);
    std::fs::remove_file(sources.join("dir/b.txt")).unwrap();
    let sidecar = root.join(&before[0]).join("item.toml");
    let watcher = failing_once(Operation::Open, &sidecar);
    let again = run(&root, &sources, SourceRule::Remove, &watcher);
    assert!(again.is_none_or(|summary| summary.imported == 0));
    assert_eq!(crate::support::whole_items(&collection), before);
    run(&root, &sources, SourceRule::Remove, &Watcher::default()).unwrap();
    assert_eq!(
        (crate::support::whole_items(&collection), crate::support::tree(&sources).len()),
        (before, 0)
    );
}

/// A killed run left a part of a directory; then somebody added a file.
#[test]
fn a_part_of_a_source_with_a_new_file_is_another_source() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    make_sources(&sources);
    run(&root, &sources, SourceRule::Keep, &Watcher::default()).unwrap();
    std::fs::remove_file(sources.join("dir/b.txt")).unwrap();
    write(&sources, "dir/new.txt", "new");
    let summary = run(&root, &sources, SourceRule::Remove, &Watcher::default()).unwrap();
    assert_eq!((summary.there, summary.imported, summary.failed), (2, 1, 0));
    assert_eq!(crate::support::tree(&sources), [""; 0]);
}

/// Hears what is done, in order.
#[derive(Default)]
struct Heard(Mutex<Vec<(Operation, PathBuf)>>);

impl Watch for Heard {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        self.0.lock().unwrap().push((operation, path.to_path_buf()));
        Ok(())
    }
}

/// A killed run may have put them in place, and not have synced them.
#[test]
fn an_item_that_the_ledger_does_not_know_is_durable_before_its_source_goes() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    make_sources(&sources);
    run(&root, &sources, SourceRule::Keep, &Watcher::default()).unwrap();
    let own = root.join(".urepo");
    write_ledger(&root, &[]);
    std::fs::create_dir(own.join("staging/other")).unwrap();
    let heard = Arc::new(Heard::default());
    let watcher = Watcher::new(Arc::clone(&heard) as _);
    let summary = run(&root, &sources, SourceRule::Remove, &watcher).unwrap();
    assert_eq!((summary.there, summary.left), (3, 0));
    let heard = heard.0.lock().unwrap();
    let taken = heard.iter().position(|(operation, path)| {
        matches!(operation, Operation::Rename | Operation::Remove) && path.starts_with(&sources)
    });
    let is_synced = heard[..taken.unwrap()].iter().any(|(operation, path)| {
        matches!(operation, Operation::SyncFileSystem | Operation::SyncDirectory)
            && path.starts_with(&root)
            && !path.starts_with(&own)
    });
    assert!(is_synced, "{heard:?}");
}

/// The relations of rows are set after the last source has gone.
#[test]
fn a_manifest_that_names_itself_goes_as_well() {
    let world = World::with_collection();
    world.write("in/b", "b");
    world.write("in/m.csv", "path,relation.next_edition\nb,row:m.csv\nm.csv,\n");
    let ran = world.run("-c archive import in/m.csv --remove-source --json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.lines().last().unwrap().contains("\"complete\":true"), "{}", ran.stdout);
    assert!(!world.path("in/m.csv").exists() && !world.path("in/b").exists());
    let collection = Collection::open(&world.path("archive"), &Watcher::default()).unwrap();
    let related =
        origins(&collection).iter().filter(|(_, it)| it.relations.iter().count() > 0).count();
    assert_eq!(related, 2);
}

/// A directory that is searched may hold the one for rejected sources; a list may not name what lies in it.
#[test]
fn nothing_in_the_directory_of_rejected_sources_is_imported() {
    let world = World::with_collection();
    world.write("in/a", "a");
    world.write("in/rejected/b", "b");
    world.write("list", "in/a\0in/rejected/b\0");
    let ran = world.run("-c archive import in --reject-dir in/rejected");
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1), "{}", ran.stderr);
    world.write("in/m.csv", "path\na\nrejected/b\n");
    for (named, list) in [("-", " < list"), ("in/m.csv", "")] {
        for more in ["-n", ""] {
            let ran = world
                .run(&format!("-c archive import {named} --reject-dir in/rejected {more}{list}"));
            let reason = "what lies in it is not imported";
            assert!(ran.code == 3 && ran.stderr.contains(reason), "{more}: {}", ran.stderr);
        }
    }
    assert!(world.path("in/rejected/b").exists());
}

#[test]
fn a_source_that_went_with_the_directory_above_it_is_not_said_to_be_there() {
    let world = World::with_collection();
    world.write("in/d/e/b", "b");
    world.write("in/m.csv", "path\nd\nd/e\n");
    let ran = world.run("-c archive import in/m.csv --remove-source");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!world.path("in/d").exists());
}

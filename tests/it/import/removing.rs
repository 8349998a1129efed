//! Sources that are removed or moved once they are items: killed anywhere, none becomes two items.

use std::sync::Mutex;

use urepo::disk::{Operation, Watch};
use urepo::import::ArchiveDirectory;

use super::*;
use crate::support::{
    Faults, Mode, System, World, between_users, first_user, make_collection, scratch, share,
};

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
    after: &dyn Fn() -> After,
    watcher: &Watcher,
) -> Option<Summary> {
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let collection = Collection::open(root, watcher).ok()?;
    let found: Candidates = Box::new(
        SourceTree::open(sources, Units::default(), Links::Keep, &Exclusion::default(), watcher)
            .ok()?,
    );
    let options = Options { after: after(), ..import_options() };
    import(&collection, found, options, &clock).ok().map(|(_, summary)| summary)
}

fn killed_at_every_operation(after: impl Fn(&Path) -> After, least: usize) {
    let scratch = scratch();
    for at in System::Own.points() {
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        let done = scratch.path().join("done");
        make_collection(&root);
        make_sources(&sources);
        std::fs::create_dir(&done).unwrap();
        share(&sources);
        share(&done);
        let before = crate::support::tree(&sources.join("dir"));
        let after = || after(&done);
        let faults = Arc::new(Faults::new(&root, at, Mode::Killed).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        first_user(|| run(&root, &sources, &after, &watcher));
        let context = format!("{at} {:?}", faults.struck());
        if sources.join("dir").exists() {
            assert_eq!(crate::support::tree(&sources.join("dir")), before, "a part: {context}");
        }
        let summary = run(&root, &sources, &after, &Watcher::default()).unwrap();
        assert_eq!((summary.failed, summary.left), (0, 0), "{context}");
        assert_eq!(crate::support::tree(&sources), [""; 0], "something is left: {context}");
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let items = origins(&collection);
        let mut found: Vec<_> = items.iter().map(|(source, _)| last(source)).collect();
        found.sort_unstable();
        assert_eq!(found, ["a.txt", "dir", "hollow"], "each once: {context}");
        for directory in [&root, &sources, &done] {
            std::fs::remove_dir_all(directory).unwrap();
        }
        if faults.struck().is_none() {
            assert!(at > least, "only {at} operations");
            break;
        }
    }
}

#[test]
fn removals_killed_at_any_operation() {
    killed_at_every_operation(|_| After::Remove, 30);
}

#[test]
fn moves_killed_at_any_operation() {
    killed_at_every_operation(
        |done| After::Move(ArchiveDirectory::open(done, &Watcher::default()).unwrap()),
        20,
    );
}

#[test]
fn between_two_users() {
    between_users(removals_killed_at_any_operation);
    between_users(moves_killed_at_any_operation);
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
    let cases: [Case; 4] = [
        // The item is read back: the source has not been looked at again.
        (Operation::Read, "/archive/example.org", |sources| {
            write(sources, "dir/new.txt", "new");
        }),
        (Operation::Read, "/archive/example.org", |sources| {
            write(sources, "dir/z.txt", "ZETA");
        }),
        // It has been looked at, and is going to be renamed.
        (Operation::Rename, ".urepo-removing-", |sources| {
            write(sources, "dir/z.txt", "ZETA");
        }),
        (Operation::Rename, ".urepo-removing-", |sources| {
            std::fs::create_dir(sources.join("dir/sub/new")).unwrap();
        }),
    ];
    // The first two are too early for a source that is there already: its item is read before it is looked at.
    let of_again = cases.into_iter().skip(2).map(|case| (1, case));
    let all = cases.into_iter().map(|case| (0, case)).chain(of_again);
    for (number, (again, (operation, of, change))) in all.enumerate() {
        let scratch = scratch();
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        make_collection(&root);
        make_sources(&sources);
        std::fs::remove_file(sources.join("a.txt")).unwrap();
        std::fs::remove_dir_all(sources.join("hollow")).unwrap();
        if again == 1 {
            // What was dropped again has other times than the item that is there.
            run(&root, &sources, &|| After::Keep, &Watcher::default()).unwrap();
            for name in ["dir/b.txt", "dir/sub/c.txt", "dir/z.txt"] {
                let file = std::fs::File::open(sources.join(name)).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
        }
        let change = {
            let sources = sources.clone();
            Box::new(move || change(&sources))
        };
        let meddler = Meddler { operation, of, change, done: std::sync::Once::new() };
        let watcher = Watcher::new(Arc::new(meddler));
        let summary = run(&root, &sources, &|| After::Remove, &watcher).unwrap();
        assert_eq!((summary.imported, summary.there), (1 - again, again), "case {number}");
        assert_eq!(summary.left, 1, "case {number}");
        for name in ["dir/b.txt", "dir/sub/c.txt", "dir/z.txt"] {
            assert!(sources.join(name).exists(), "case {number}: {name}");
        }
        assert_eq!(std::fs::read_dir(&sources).unwrap().count(), 1, "case {number}");
    }
}

/// While the item is read back, a file and a directory are written to: neither is removed, nor moved as done.
#[test]
fn what_changes_while_its_item_is_read_back_stays() {
    for source in ["a.txt", "dir/z.txt"] {
        for moves in [false, true] {
            let scratch = scratch();
            let path = |name: &str| scratch.path().join(name);
            let (root, sources, done) = (path("archive"), path("sources"), path("done"));
            make_collection(&root);
            write(&sources, source, "before");
            std::fs::create_dir(&done).unwrap();
            share(&sources);
            share(&done);
            let change = {
                let sources = sources.clone();
                Box::new(move || drop(write(&sources, source, "AFTER!")))
            };
            let (operation, of) = (Operation::Read, "/archive/example.org");
            let meddler = Meddler { operation, of, change, done: std::sync::Once::new() };
            let after = || match ArchiveDirectory::open(&done, &Watcher::default()) {
                Ok(done) if moves => After::Move(done),
                _ => After::Remove,
            };
            let watcher = Watcher::new(Arc::new(meddler));
            let summary = run(&root, &sources, &after, &watcher).unwrap();
            assert_eq!((summary.imported, summary.left), (1, 1), "{source} {moves}");
            assert_eq!(std::fs::read(sources.join(source)).unwrap(), b"AFTER!");
            assert_eq!(std::fs::read_dir(&done).unwrap().count(), 0, "{source}");
        }
    }
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
        let options = Options { after: After::Remove, ..import_options() };
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let (events, summary) = import(&collection, rows, options, &clock).unwrap();
        let counts = (summary.imported, summary.there, summary.failed, summary.left);
        assert_eq!(counts, (imported, there, 0, 0), "{:?}", words(&events));
    }
    assert!(!sources.join("dir").exists() && !sources.join("a.txt").exists());
}

/// The part that the item has goes; the rest is reported and becomes a source again.
#[test]
fn a_left_over_is_compared_with_its_item() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    let collection = make_collection(&root);
    make_sources(&sources);
    run(&root, &sources, &|| After::Keep, &Watcher::default()).unwrap();
    let (_, item) = origins(&collection).into_iter().find(|(it, _)| last(it) == "dir").unwrap();
    let aside = format!(".urepo-removing-{}", item.repository.to_string().replace('/', "+"));
    std::fs::rename(sources.join("dir"), sources.join(&aside)).unwrap();
    std::fs::remove_file(sources.join(&aside).join("b.txt")).unwrap();
    write(&sources, &format!("{aside}/new.txt"), "new");
    // Without `--remove-source` it is nobody's source.
    let summary = run(&root, &sources, &|| After::Keep, &Watcher::default()).unwrap();
    assert_eq!((summary.there, summary.imported, summary.failed), (2, 0, 0));
    let summary = run(&root, &sources, &|| After::Remove, &Watcher::default()).unwrap();
    assert_eq!((summary.there, summary.imported, summary.failed), (2, 0, 1));
    assert_eq!(crate::support::tree(&sources), ["dir/", "dir/new.txt 3"]);
    let summary = run(&root, &sources, &|| After::Remove, &Watcher::default()).unwrap();
    assert_eq!((summary.imported, summary.failed), (1, 0));
    assert_eq!(crate::support::tree(&sources), [""; 0]);
    // One of an item that is not here stays.
    write(&sources, ".urepo-removing-example.org+other+2026+11.20/a", "a");
    let summary = run(&root, &sources, &|| After::Remove, &Watcher::default()).unwrap();
    assert_eq!((summary.imported, summary.failed), (0, 1));
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

/// Such a collection is made again from its sources, but these go.
#[test]
fn an_item_of_a_collection_that_is_not_synced_is_durable_before_its_source_goes() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    make_sources(&sources);
    let settings = root.join("urepo.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let text = text.replacen("name =", "durability = \"none\"\nname =", 1);
    std::fs::write(&settings, text).unwrap();
    let heard = Arc::new(Heard::default());
    let watcher = Watcher::new(Arc::clone(&heard) as _);
    let summary = run(&root, &sources, &|| After::Remove, &watcher).unwrap();
    assert_eq!((summary.imported, summary.left), (3, 0));
    let heard = heard.0.lock().unwrap();
    let place_of = |wanted: &dyn Fn(Operation, &Path) -> bool| {
        heard.iter().position(|(operation, path)| wanted(*operation, path)).unwrap()
    };
    let synced = place_of(&|operation, path| {
        matches!(operation, Operation::SyncFileSystem | Operation::SyncFile)
            && path.starts_with(&root)
    });
    let taken = place_of(&|operation, path| {
        matches!(operation, Operation::Rename | Operation::Remove) && path.starts_with(&sources)
    });
    assert!(synced < taken, "{:?}", &heard[..=synced]);
}

/// A killed run may have put them in place, and not have synced them.
#[test]
fn an_item_that_the_ledger_does_not_know_is_durable_before_its_source_goes() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    make_sources(&sources);
    run(&root, &sources, &|| After::Keep, &Watcher::default()).unwrap();
    let own = root.join(".urepo");
    std::fs::remove_file(own.join("import/ledger")).unwrap();
    let heard = Arc::new(Heard::default());
    let watcher = Watcher::new(Arc::clone(&heard) as _);
    let summary = run(&root, &sources, &|| After::Remove, &watcher).unwrap();
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
    for more in ["--remove-source", "--done-dir done"] {
        let world = World::with_collection();
        world.write("in/b", "b");
        world.write("in/m.csv", "path,relation.next_edition\nb,row:m.csv\nm.csv,\n");
        std::fs::create_dir(world.path("done")).unwrap();
        let ran = world.run(&format!("-c archive import --manifest in/m.csv {more} --json"));
        assert_eq!(ran.code, 0, "{more}: {}", ran.stderr);
        assert!(ran.stdout.lines().last().unwrap().contains("\"complete\":true"), "{}", ran.stdout);
        assert!(!world.path("in/m.csv").exists() && !world.path("in/b").exists(), "{more}");
        let collection = Collection::open(&world.path("archive"), &Watcher::default()).unwrap();
        let related =
            origins(&collection).iter().filter(|(_, it)| it.relations.iter().count() > 0).count();
        assert_eq!(related, 2, "{more}");
    }
}

/// A directory that is searched may hold the one for what is done with: a list of it names both.
#[test]
fn a_named_source_that_is_done_with_is_mentioned() {
    let world = World::with_collection();
    world.write("in/a", "a");
    world.write("in/done/b", "b");
    world.write("list", "in/a\0in/done/b\0");
    world.write("in/m.csv", "path\na\ndone/b\n");
    for named in ["--files-from0 list", "--manifest in/m.csv"] {
        let line = format!("-c archive import {named} --done-dir in/done");
        let note = "1 source that lies in the directory of `--done-dir` or `--reject-dir` is done with: not imported\n";
        for more in ["-n", "", "--json"] {
            let ran = world.run(&format!("{line} {more}"));
            assert!(ran.code == 0 && ran.stderr.contains(note), "{more}: {}", ran.stderr);
            assert_eq!(ran.stdout.contains("\"outcome\":\"done\""), more == "--json");
        }
        let ran = world.run(&format!("{line} -v"));
        let expected = "`[WORLD]/in/done/b` is done with: not imported";
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let ran = world.run("-c archive import in --each-file --done-dir in/done");
    assert!(!ran.stderr.contains("done with"), "{}", ran.stderr);
}

#[test]
fn a_source_that_went_with_the_directory_above_it_is_not_said_to_be_there() {
    for more in ["--remove-source", "--done-dir done"] {
        let world = World::with_collection();
        world.write("in/d/e/b", "b");
        world.write("in/m.csv", "path\nd\nd/e\n");
        std::fs::create_dir(world.path("done")).unwrap();
        let ran = world.run(&format!("-c archive import --manifest in/m.csv {more}"));
        assert_eq!(ran.code, 0, "{more}: {}", ran.stderr);
        assert!(!world.path("in/d").exists(), "{more}");
    }
}

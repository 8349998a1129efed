//! Exports in the library: failing at every operation, in the right order, and what descriptions say.

mod descriptions;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use snapbox::str;
use urepo::collection::{Collection, UrlBase};
use urepo::disk::{Operation, Watch, Watcher};
use urepo::export::{
    BagLinks, Destination, ExportError, Exporter, Format, MetadataFormat, NameFeed, NamedBy,
    Options, Outcome, Summary,
};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::sidecar::Metadata;

use crate::support::{
    Faults, Mode, Quicker, System, TestClock, Trace, World, agent, append, caller, deposit,
    options, request, tree,
};

/// A world with one item of a few files, and its name.
fn world_with_item() -> (World, RepositoryName) {
    let world = World::with_collection();
    world.write("source/dir/a.txt", "alpha");
    world.write("source/b.txt", "beta");
    std::os::unix::fs::symlink("dir/a.txt", world.path("source/link")).unwrap();
    std::fs::create_dir(world.path("source/empty")).unwrap();
    let collection = open(&world, &Watcher::default());
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let mut request = request(world.path("source"));
    let metadata = &mut request.metadata;
    for (key, text) in [
        ("title", "R&D <in> {braces}"),
        ("creator", "Silva, Ana"),
        ("creator", "Smith and Sons"),
        ("issued", "1999-12-31"),
        ("type", "dataset"),
        ("identifier", "doi:10.1000/182"),
        ("relation", "https://example.org/other"),
        ("abstract", "50% of $5,\nin two lines"),
        ("language", "en"),
    ] {
        metadata.add(key, text).unwrap();
    }
    deposit(&collection, vec![request], options(), &clock, |_| ()).unwrap();
    (world, "example.org/archive/2026/11.21.02.13".parse().unwrap())
}

fn open(world: &World, watcher: &Watcher) -> Collection {
    Collection::open(&world.path("archive"), watcher).unwrap()
}

/// What is written of an item.
type Form = (Format, NamedBy);

const PLAIN: Form = (Format::Plain, NamedBy::Identifier);
const TAR: Form = (Format::Tar, NamedBy::Identifier);
const BAG: Form = (Format::Bag, NamedBy::Identifier);

/// The file alone.
const BARE: Form = (Format::Plain, NamedBy::Source);

/// Deposits an item of one file.
fn deposit_file(world: &World, collection: &Collection) -> RepositoryName {
    let source = request(world.write("alone.txt", "alone"));
    let clock = TestClock::at("2026-11-21T02:14:00Z");
    deposit(collection, vec![source], options(), &clock, |_| ()).unwrap();
    "example.org/archive/2026/11.21.02.14".parse().unwrap()
}

/// Exports items into `out`, which `watcher` watches.
fn export(
    collection: &Collection,
    names: &[&RepositoryName],
    (format, named_by): Form,
    path: &Path,
    watcher: &Watcher,
    mut reported: impl FnMut(&Outcome),
) -> (Vec<Outcome>, Summary) {
    let (clock, agent) = (TestClock::at("2026-11-22T00:00:00Z"), agent());
    let interrupt = Interrupt::default();
    let exporter = Exporter {
        collection,
        options: Options {
            links: BagLinks::Follow,
            metadata: match named_by {
                NamedBy::Identifier => vec![MetadataFormat::DublinCore],
                NamedBy::Source => Vec::new(),
            },
            named_by,
            ..Options::default()
        },
        caller: caller(&agent, &clock, &interrupt),
    };
    let mut outcomes = Vec::new();
    let destination = Destination { path, format, watcher };
    let names: Vec<_> = names.iter().map(|name| (*name).clone()).collect();
    let feed = move |take: &mut dyn FnMut(RepositoryName) -> std::ops::ControlFlow<()>| {
        let _ = names.into_iter().try_for_each(take);
        Ok(())
    };
    let summary = exporter.to_directory(&destination, Box::new(feed), &mut |group| {
        group.iter().for_each(&mut reported);
        outcomes.extend(group);
        Ok(())
    });
    (outcomes, summary)
}

/// Everything below a directory, with the bytes of the files.
fn contents(root: &Path) -> Vec<String> {
    let mut lines = tree(root);
    for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            lines.push(format!("{:?}", std::fs::read(entry.path()).unwrap()));
        }
    }
    lines
}

/// However it fails: the item is there whole, or not at all, and never said to be there when it is not.
#[test]
fn failing_at_any_operation_leaves_nothing_half_made() {
    let (world, name) = world_with_item();
    let collection = open(&world, &Watcher::default());
    let file = deposit_file(&world, &collection);
    for (name, form) in [(&name, PLAIN), (&name, TAR), (&name, BAG), (&file, BARE)] {
        let good = world.path("good");
        std::fs::create_dir(&good).unwrap();
        let watcher = Watcher::default();
        let (outcomes, _) = export(&collection, &[name], form, &good, &watcher, |_| ());
        assert!(outcomes[0].result.is_ok(), "{outcomes:?}");
        let whole = contents(&good);
        for mode in [Mode::Once(Errno::IO), Mode::Once(Errno::NOSPC), Mode::Killed] {
            for at in System::Own.points() {
                let out = world.path("out");
                std::fs::create_dir(&out).unwrap();
                let faults = Arc::new(Faults::new(&out, at, mode));
                let watcher = Watcher::new(Arc::clone(&faults) as _);
                let (outcomes, _) = export(&collection, &[name], form, &out, &watcher, |_| ());
                let struck = faults.struck();
                let found: Vec<_> = contents_without_stage(&out);
                let is_said = outcomes.first().is_some_and(|outcome| outcome.result.is_ok());
                assert!(found == whole || found.is_empty(), "{mode:?} {struck:?}: {found:?}");
                assert!(!is_said || found == whole, "{mode:?} {struck:?}");
                // A repetition finds it in place, or puts it there, and clears what was left.
                let watcher = Watcher::default();
                let (again, _) = export(&collection, &[name], form, &out, &watcher, |_| ());
                match &again[0].result {
                    Ok(_) => assert!(found.is_empty()),
                    Err(error) => assert!(matches!(error, ExportError::Exists { .. }), "{error}"),
                }
                if again[0].result.is_ok() {
                    assert_eq!(contents(&out), whole);
                }
                std::fs::remove_dir_all(&out).unwrap();
                if struck.is_none() {
                    break;
                }
            }
        }
        std::fs::remove_dir_all(&good).unwrap();
    }
}

/// The contents of a directory but for a stage that could not be removed.
fn contents_without_stage(out: &Path) -> Vec<String> {
    for entry in std::fs::read_dir(out).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_string_lossy().starts_with(".urepo-export-") {
            std::fs::remove_dir_all(entry.path()).unwrap();
        }
    }
    contents(out)
}

#[test]
fn nothing_is_put_in_place_or_reported_before_it_is_on_the_disk() {
    let (world, name) = world_with_item();
    let collection = open(&world, &Watcher::default());
    let file = deposit_file(&world, &collection);
    let forms = [(&name, PLAIN), (&name, TAR), (&name, BAG), (&file, BARE)];
    let systems = [System::Own, System::Network, System::Many];
    for ((name, form), system) in forms.into_iter().flat_map(|it| systems.map(|at| (it, at))) {
        let out = world.path("out");
        let trace = Arc::new(Trace::on(system));
        let watcher = Watcher::new(Arc::clone(&trace) as _);
        let mut disk = crate::power::Disk::default();
        let mut placed = 0;
        let (outcomes, _) = export(&collection, &[name], form, &out, &watcher, |_| {
            for (operation, path) in trace.0.lock().unwrap().iter() {
                if *operation == Operation::Rename {
                    placed += 1;
                    let staged: Vec<_> =
                        disk.volatile.iter().filter(|path| path.parent() != Some(&out)).collect();
                    let of_stage = |path: &&&PathBuf| path.starts_with(&out) && ***path != out;
                    assert!(!staged.iter().any(|p| of_stage(&p)), "{form:?}: {staged:?}");
                }
                disk.apply(*operation, path);
            }
            assert!(disk.volatile.is_empty(), "{form:?}: {:?}", disk.volatile);
        });
        assert!(outcomes[0].result.is_ok());
        assert_eq!(placed, 1);
        std::fs::remove_dir_all(out).unwrap();
    }
}

/// Replaces the item in the moment when one of its files is read.
struct Replacer(PathBuf);

impl Watch for Replacer {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Read && path.ends_with("doc/b.txt") {
            std::fs::write(self.0.join("doc/b.txt"), "BETA")?;
            let text = std::fs::read(self.0.join("item.toml"))?;
            std::fs::write(self.0.join("item.new"), text)?;
            std::fs::rename(self.0.join("item.new"), self.0.join("item.toml"))?;
        }
        Ok(())
    }
}

#[test]
fn an_item_that_changes_meanwhile_is_not_called_damaged() {
    let (world, name) = world_with_item();
    let item = world.path("archive").join(urepo::layout::item_directory(&name));
    let collection = open(&world, &Watcher::new(Arc::new(Replacer(item))));
    let out = world.path("out");
    let (outcomes, _) = export(&collection, &[&name], PLAIN, &out, &Watcher::default(), |_| ());
    let error = outcomes[0].result.as_ref().unwrap_err();
    assert!(matches!(error, ExportError::Changed { .. }), "{error}");
    assert!(!out.exists(), "what was made for it goes again");
}

/// Asks for a stop in the moment when a file is read.
struct Stopper(Interrupt);

impl Watch for Stopper {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Read && path.ends_with("doc/b.txt") {
            self.0.request();
        }
        Ok(())
    }
}

#[test]
fn an_interrupted_run_leaves_nothing_and_a_stream_that_says_so() {
    let (world, name) = world_with_item();
    let (clock, agent) = (TestClock::at("2026-11-22T00:00:00Z"), agent());
    let is_interrupted = |outcomes: &[Outcome]| {
        matches!(outcomes[0].result, Err(ExportError::Interrupted)) && outcomes.len() == 1
    };
    let run = |act: &dyn Fn(&Exporter<'_>, Box<NameFeed<'_>>)| {
        let interrupt = Interrupt::default();
        let collection = open(&world, &Watcher::new(Arc::new(Stopper(interrupt.clone()))));
        let exporter = Exporter {
            collection: &collection,
            options: Options::default(),
            caller: caller(&agent, &clock, &interrupt),
        };
        act(
            &exporter,
            Box::new(|take| {
                let _ = [&name, &name].into_iter().cloned().try_for_each(take);
                Ok(())
            }),
        );
    };
    run(&|exporter, feed| {
        let (path, watcher) = (world.path("out"), Watcher::default());
        let destination = Destination { path: &path, format: Format::Plain, watcher: &watcher };
        let summary = exporter.to_directory(&destination, feed, &mut |outcomes| {
            assert!(is_interrupted(&outcomes), "{outcomes:?}");
            Ok(())
        });
        assert!(matches!(summary.fatal, Some(ExportError::Interrupted)));
        assert!(!path.exists());
    });
    run(&|exporter, feed| {
        let mut stream = Vec::new();
        let summary = exporter.to_stream(&mut stream, feed, &mut |outcomes| {
            assert!(is_interrupted(&outcomes), "{outcomes:?}");
            Ok(())
        });
        assert!(summary.cut_short);
        let path = world.write("cut.tar", stream);
        let tar = std::process::Command::new("tar").arg("-tf").arg(path).output().unwrap();
        assert_eq!(tar.status.code(), Some(2), "{}", String::from_utf8_lossy(&tar.stderr));
    });
}

/// A stage that another process holds is left to it.
#[test]
fn a_destination_that_another_export_makes_meanwhile_is_used() {
    let (world, name) = world_with_item();
    let out = world.path("out");
    let watcher = Watcher::new(Arc::new(Quicker(out.clone())));
    let collection = open(&world, &Watcher::default());
    let (outcomes, summary) = export(&collection, &[&name], PLAIN, &out, &watcher, |_| ());
    assert!(summary.fatal.is_none() && outcomes.len() == 1, "{outcomes:?} {summary:?}");
    assert_eq!(summary.exported, 1, "{outcomes:?}");
}

#[test]
fn exports_at_the_same_time_leave_each_other_alone() {
    let (world, name) = world_with_item();
    let collection = open(&world, &Watcher::default());
    let out = world.path("out");
    let held = out.join(".urepo-export-7-0123456789abcdef");
    std::fs::create_dir_all(held.join("0")).unwrap();
    let stage = urepo::disk::Dir::open(&held, Watcher::default()).unwrap();
    let lock = stage.try_lock().unwrap();
    assert!(lock.is_some());
    let watcher = Watcher::default();
    export(&collection, &[&name], PLAIN, &out, &watcher, |_| ());
    assert!(held.join("0").is_dir());
}

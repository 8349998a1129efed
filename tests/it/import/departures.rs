//! A source whose item has left, or has vanished, does not become another item.

use urepo::disk::{Operation, Watch};

use super::*;
use crate::support::{
    Trace, add_lines, ledger_file, ledger_line, ledger_lines, make_collection, scratch, send_away,
    write_ledger,
};

const TIME: &str = "2026-11-21T02:13:00Z";

/// A collection with the items of some files.
struct World {
    scratch: tempfile::TempDir,
    clock: TestClock,
}

impl World {
    fn new(files: &[&str]) -> World {
        let world = World { scratch: scratch(), clock: TestClock::at(TIME) };
        make_collection(&world.root());
        std::fs::create_dir(world.sources()).unwrap();
        for file in files {
            write(&world.sources(), file, format!("of {file}"));
        }
        assert_eq!(world.run(import_options()).1.imported, files.len() as u64);
        world
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().join("archive")
    }

    fn sources(&self) -> PathBuf {
        self.scratch.path().join("sources")
    }

    fn collection(&self) -> Collection {
        Collection::open(&self.root(), &Watcher::default()).unwrap()
    }

    fn run(&self, options: Options) -> (Vec<Event>, Summary) {
        let sources = tree(&self.sources(), Units::EachFile);
        import(&self.collection(), sources, options, &self.clock).unwrap()
    }

    fn names(&self) -> Vec<String> {
        whole_items(&self.collection())
    }

    /// Makes another item of `a.txt`, by a row that brings an identifier. Returns its name.
    fn import_again(&self) -> String {
        let name = "example.org/archive/1997/02.03.04.05";
        write(&self.sources(), "list", format!("path,identifier\na.txt,{name}\n"));
        let columns = Columns::default();
        let rows = super::manifests::read(&self.sources(), "list", Format::Csv, columns);
        let done = import(&self.collection(), rows.unwrap(), import_options(), &self.clock);
        std::fs::remove_file(self.sources().join("list")).unwrap();
        assert_eq!(done.unwrap().1.imported, 1);
        name.to_owned()
    }
}

const MIGRATED: &str = "a.txt left: its Original is in the collection with the id 60cb73…";

#[test]
fn what_migrated_away_counts_as_imported() {
    let world = World::new(&["a.txt"]);
    send_away(&world.root(), &world.names()[0]);
    let sources = || tree(&world.sources(), Units::EachFile);
    let (told, plan) = planned(&world.collection(), sources(), import_options(), &world.clock);
    assert_eq!((words(&told), plan.there), (vec![MIGRATED.to_owned()], 1));
    let (told, summary) = world.run(import_options());
    assert_eq!((words(&told), summary.there), (vec![MIGRATED.to_owned()], 1));
    // Touched: what it is, is known when it has been read.
    write(&world.sources(), "a.txt", "of a.txt");
    assert_eq!(words(&world.run(import_options()).0), [MIGRATED]);
    // The same bytes from elsewhere, where only these count.
    write(&world.sources(), "b.txt", "of a.txt");
    let by_content = || Options { skips_same: true, ..import_options() };
    let elsewhere = MIGRATED.replace("a.txt", "b.txt");
    assert_eq!(words(&world.run(by_content()).0), [MIGRATED, &elsewhere]);
    assert_eq!(world.names(), [""; 0]);
    // Other bytes are another item, as ever.
    write(&world.sources(), "a.txt", "another");
    assert_eq!(words(&world.run(import_options()).0)[0], "a.txt imported");
}

/// Of two items of one source, the one that is here counts.
#[test]
fn what_migrated_away_and_was_imported_again_is_there() {
    let world = World::new(&["a.txt"]);
    let first = world.names().remove(0);
    let second = world.import_again();
    send_away(&world.root(), &second);
    assert_eq!(words(&world.run(import_options()).0), ["a.txt there"]);
    send_away(&world.root(), &first);
    assert_eq!(words(&world.run(import_options()).0), [MIGRATED]);
}

/// Of two items of one source that are not here, the one counts that should be: the source may be its last
/// copy.
#[test]
fn what_vanished_is_reported_though_another_item_of_it_left() {
    for vanished in 0..2 {
        let world = World::new(&["a.txt"]);
        let names = [world.names().remove(0), world.import_again()];
        std::fs::remove_dir_all(world.root().join(&names[vanished])).unwrap();
        send_away(&world.root(), &names[1 - vanished]);
        for skips_same in [false, true] {
            let (told, summary) = world.run(Options { skips_same, ..import_options() });
            assert_eq!((summary.there, summary.failed), (0, 1), "{told:?}");
            // Touched, it has to be read first.
            write(&world.sources(), "a.txt", "of a.txt");
        }
    }
}

/// However many items of one content have left, each source looks at those it has not looked at before.
#[test]
fn many_items_of_one_content_that_left_are_looked_at_once() {
    const FILES: usize = 24;
    let files: Vec<_> = (0..FILES).map(|at| format!("{at}.txt")).collect();
    let world = World::new(&[]);
    let fill = |prefix: &str| {
        for file in &files {
            write(&world.sources(), &format!("{prefix}{file}"), "the same");
        }
    };
    fill("");
    assert_eq!(world.run(import_options()).1.imported, FILES as u64);
    for name in world.names() {
        send_away(&world.root(), &name);
    }
    fill("again-");
    let trace = Arc::new(Trace::default());
    let watcher = Watcher::new(Arc::clone(&trace) as Arc<dyn Watch>);
    let collection = Collection::open(&world.root(), &watcher).unwrap();
    let options = Options { skips_same: true, ..import_options() };
    let sources = tree(&world.sources(), Units::EachFile);
    let (_, summary) = import(&collection, sources, options, &world.clock).unwrap();
    assert_eq!((summary.imported, summary.there), (0, 2 * FILES as u64));
    let ledger = ledger_file(&world.root());
    let steps = trace.0.lock().unwrap();
    let reads = steps.iter().filter(|step| **step == (Operation::Read, ledger.clone())).count();
    assert!((FILES..=6 * FILES).contains(&reads), "{reads}");
}

/// A list names a source that an earlier run has taken, and whose item has left since.
#[test]
fn a_source_that_is_gone_is_told_to_have_left() {
    let world = World::new(&["a.txt"]);
    send_away(&world.root(), &world.names()[0]);
    let path = world.sources().join("a.txt");
    let text = format!("{}\0", path.display()).into_bytes();
    std::fs::remove_file(&path).unwrap();
    let text = std::io::Cursor::new(text);
    let list = SourceList::new((Box::new(text), 0), "list".to_owned(), "/".into());
    let options = with_sources(SourceRule::Remove);
    let (told, summary) =
        import(&world.collection(), Box::new(list), options, &world.clock).unwrap();
    assert_eq!((words(&told), summary.left), (vec![MIGRATED.to_owned()], 0));
}

#[test]
fn what_vanished_is_reported_and_not_imported_under_another_name() {
    let world = World::new(&["a.txt", "b.txt"]);
    let item = world.root().join(&world.names()[0]);
    let aside = world.scratch.path().join("aside");
    std::fs::rename(&item, &aside).unwrap();
    let sources = || tree(&world.sources(), Units::EachFile);
    let plan = planned(&world.collection(), sources(), import_options(), &world.clock).1;
    assert_eq!((plan.imported, plan.there, plan.failed), (0, 1, 1));
    for skips_same in [false, true] {
        let (told, summary) = world.run(Options { skips_same, ..import_options() });
        assert_eq!((summary.imported, summary.there, summary.failed), (0, 1, 1));
        let told = words(&told);
        assert!(
            told.iter().any(|it| it.ends_with(": it should be here, and is missing")),
            "{told:?}"
        );
        // Touched, it has to be read first.
        write(&world.sources(), "a.txt", "of a.txt");
    }
    assert_eq!(world.names().len(), 1);
    std::fs::rename(&aside, &item).unwrap();
    assert_eq!(words(&world.run(import_options()).0), ["a.txt there", "b.txt there"]);
}

/// Of an item that is not here the source may be the last copy.
#[test]
fn no_source_goes_whose_item_is_not_here() {
    let world = World::new(&["a.txt"]);
    let item = world.root().join(&world.names()[0]);
    let take = |touched: bool| {
        if touched {
            write(&world.sources(), "a.txt", "of a.txt");
        }
        let summary = world.run(with_sources(SourceRule::Remove)).1;
        assert_eq!(std::fs::read(world.sources().join("a.txt")).unwrap(), b"of a.txt");
        (summary.imported, summary.failed, summary.left)
    };
    let aside = world.scratch.path().join("aside");
    std::fs::rename(&item, &aside).unwrap();
    assert_eq!([take(false), take(true)], [(0, 1, 0); 2], "vanished");
    std::fs::rename(&aside, &item).unwrap();
    send_away(&world.root(), &world.names()[0]);
    assert_eq!([take(false), take(true)], [(0, 0, 1); 2], "migrated");
}

/// A list names a source that is gone, and so is its item.
#[test]
fn a_source_that_is_gone_with_its_item_is_reported() {
    let world = World::new(&["a.txt"]);
    std::fs::remove_dir_all(world.root().join(&world.names()[0])).unwrap();
    let path = world.sources().join("a.txt");
    let text = format!("{}\0", path.display()).into_bytes();
    let list =
        SourceList::new((Box::new(std::io::Cursor::new(text)), 0), "list".to_owned(), "/".into());
    std::fs::remove_file(&path).unwrap();
    let options = with_sources(SourceRule::Remove);
    let (told, summary) =
        import(&world.collection(), Box::new(list), options, &world.clock).unwrap();
    assert_eq!((summary.there, summary.failed), (0, 1), "{told:?}");
}

/// The ledger is read once, however many items have left.
#[test]
fn the_ledger_is_read_once() {
    let files: Vec<_> = (0..30).map(|at| format!("{at}.txt")).collect();
    let world = World::new(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let names = world.names();
    let file = ledger_file(&world.root());
    let others: Vec<_> = (0..60 * 60 * 2)
        .map(|at| {
            let (hour, minute, second) = (at / 3600, at / 60 % 60, at % 60);
            let name = format!("example.org/archive/2026/01.01.{hour:02}.{minute:02}.{second:02}");
            ledger_line("loss", &name, None)
        })
        .collect();
    add_lines(&world.root(), &others);
    for name in &names {
        send_away(&world.root(), name);
    }
    let trace = Arc::new(Trace::default());
    let watcher = Watcher::new(Arc::clone(&trace) as Arc<dyn Watch>);
    let collection = Collection::open(&world.root(), &watcher).unwrap();
    let sources = tree(&world.sources(), Units::EachFile);
    let plan = planned(&collection, sources, import_options(), &world.clock).1;
    assert_eq!(plan.there, 30);
    let bytes = usize::try_from(std::fs::metadata(&file).unwrap().len()).unwrap();
    let steps = trace.0.lock().unwrap();
    let reads = steps.iter().filter(|step| **step == (Operation::Read, file.clone())).count();
    assert!(reads <= names.len() + bytes / 4096 && bytes > 8 << 16, "{reads} of {bytes}");
}

/// A row that brings the name of an item that left would make a second Original of it.
#[test]
fn a_name_of_what_is_not_here_any_more_is_not_given_again() {
    let world = World::new(&["a.txt", "b.txt"]);
    let [left, vanished] = <[String; 2]>::try_from(world.names()).unwrap();
    send_away(&world.root(), &left);
    std::fs::remove_dir_all(world.root().join(&vanished)).unwrap();
    let about_it = || {
        let lines = ledger_lines(&world.root()).into_iter();
        lines.filter(|line| line.contains(&left)).collect::<Vec<_>>()
    };
    let before = about_it();
    let free = "example.org/archive/1997/02.03.04.05";
    for name in ["c.txt", "d.txt", "e.txt"] {
        write(&world.sources(), name, "another");
    }
    let rows = format!("path,identifier\nc.txt,{left}\nd.txt,{vanished}\ne.txt,{free}\n");
    write(&world.sources(), "list", rows);
    let rows = || super::manifests::read(&world.sources(), "list", Format::Csv, Columns::default());
    let expected = [
        format!("there is an item `{left}` already"),
        format!("{vanished}` in `{}`: it should be here, and is missing", world.root().display()),
    ];
    let (told, plan) =
        planned(&world.collection(), rows().unwrap(), import_options(), &world.clock);
    assert_eq!(plan.failed, 2, "{told:?}");
    let (told, summary) =
        import(&world.collection(), rows().unwrap(), import_options(), &world.clock).unwrap();
    assert_eq!(summary.failed, 2, "{told:?}");
    let told = words(&told);
    for expected in &expected {
        assert!(told.iter().any(|it| it.contains(expected)), "{told:?}");
    }
    assert_eq!(world.names(), [free]);
    assert_eq!(about_it(), before);
}

/// A collection that was lost is made again from its mirror: what it had imported comes back with the items.
#[test]
fn sources_of_a_lost_collection_are_known_to_the_one_that_takes_its_place() {
    let world = crate::support::World::with_collection();
    world.write("drop/one", "one");
    world.write("drop/two", "two");
    world.run("-c archive import drop").succeeded();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    world.run("init archive --host archive.example.org --with mirror").succeeded();
    world.run("-c archive copy --all --from mirror").succeeded();
    let ran = world.run("-c archive import drop");
    assert!(
        ran.succeeded().is_empty() && ran.stderr.contains("2 there already"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // In a mirror, the same path is another source.
    let ran = world.run("-c mirror import drop");
    assert_eq!(ran.succeeded().lines().count(), 2, "{}", ran.stderr);
}

/// A person accepts what is there: the sources of items whose lines are lost are known afterwards.
#[test]
fn sources_of_items_that_are_recorded_by_hand_are_known() {
    let world = crate::support::World::with_collection();
    world.write("drop/one", "one");
    world.run("-c archive import drop").succeeded();
    write_ledger(&world.path("archive"), &[]);
    let ran = world.run("-c archive recover --accept-loss");
    assert!(ran.succeeded().starts_with("taken in: "), "{}", ran.stdout);
    let ran = world.run("-c archive import drop");
    assert!(ran.succeeded().is_empty() && ran.stderr.contains("1 there already"), "{}", ran.stderr);
}

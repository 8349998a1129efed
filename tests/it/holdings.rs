//! What several collections hold: read from disk, judged, and each item told once.

use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use urepo::collection::{Collection, Names};
use urepo::custody::CustodyId;
use urepo::disk::Watcher;
use urepo::holdings::{Concern, Holdings, Report, Standing, Survey, holdings};
use urepo::identity::Instant;
use urepo::interrupt::Interrupt;
use urepo::item::{Content, Entry, PayloadPath, State, Totals};
use urepo::sidecar::Sidecar;

use crate::support::{
    Faults, Mode, TestClock, World, change_item, copy_item, deposit, make_collection, options,
    request,
};

/// Three collections, `a`, `b` and `c`; the first one has items.
struct Archives {
    world: World,
    names: Vec<String>,
}

impl Archives {
    fn with_items(count: usize) -> Archives {
        let world = World::new();
        for root in ["a", "b", "c"] {
            make_collection(&world.path(root));
        }
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let a = Collection::open(&world.path("a"), &Watcher::default()).unwrap();
        let files = (0..count).map(|number| world.write(&format!("{number}.txt"), [b'x']));
        let requests = files.map(request).collect();
        deposit(&a, requests, options(), &clock, |_| ()).unwrap();
        let names = crate::support::whole_items(&a);
        assert_eq!(names.len(), count);
        Archives { world, names }
    }

    fn root(&self, root: &str) -> std::path::PathBuf {
        self.world.path(root)
    }

    fn item_path(&self, root: &str, name: &str) -> std::path::PathBuf {
        self.root(root).join(name)
    }

    fn open(&self) -> Vec<Collection> {
        ["a", "b", "c"]
            .map(|root| Collection::open(&self.root(root), &Watcher::default()).unwrap())
            .into()
    }

    fn copy(&self, to: &str, name: &str, change: impl FnOnce(&mut Sidecar)) {
        copy_item(&self.root("a"), &self.root(to), name, change);
    }

    fn holdings(&self, name: &str) -> Holdings {
        holdings(&name.parse().unwrap(), &self.open())
    }

    fn told(&self, name: &str) -> String {
        told(&self.holdings(name))
    }
}

/// Which collections hold it, and how: `a original, b stale`.
fn told(holdings: &Holdings) -> String {
    let root = |at: usize| ["a", "b", "c"][at];
    let one = |holding: &urepo::holdings::JudgedHolding| {
        format!("{} {}", root(holding.collection), holding.standing)
    };
    holdings.all.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn later(sidecar: &mut Sidecar) {
    sidecar.timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
    sidecar.custody = sidecar.custody.amended(CustodyId::from(*b"amended!"));
    sidecar.metadata.add("creator", "Ana").unwrap();
}

#[test]
fn of_an_item_are_found_by_its_name_and_compared() {
    let archives = Archives::with_items(1);
    let name = &archives.names[0];
    assert_eq!(archives.told(name), "a original");
    assert_eq!(archives.told("example.org/archive/1999/01.01.00.00"), "");
    archives.copy("b", name, |_| ());
    assert_eq!(archives.told(name), "a original, b current");
    assert_eq!(archives.told(&name.to_uppercase()), "a original, b current");
    let found = archives.holdings(name);
    assert_eq!(found.all[1].path, archives.item_path("b", name));
    assert_eq!(found.all[1].record.as_ref().unwrap().state, State::Copy);
    change_item(&archives.root("a"), name, later);
    archives.copy("c", name, |_| ());
    assert_eq!(archives.told(name), "a original, b behind, c current");
    change_item(&archives.root("a"), name, |sidecar| {
        sidecar.state = State::Deleted;
        let own = sidecar.custody.holder().to_owned();
        sidecar.custody = sidecar.custody.passed_to(&own, CustodyId::from(*b"deleted!"));
    });
    assert_eq!(archives.told(name), "a deleted, b behind, c behind");
}

/// The manifest has lines for files only; a Copy without its link is another payload all the same.
#[test]
fn differ_in_files_links_and_empty_directories() {
    let modified: Instant = "2026-11-21T02:13:05Z".parse().unwrap();
    let extra =
        |text: &str, content| Entry { path: PayloadPath::new(Path::new(text)).unwrap(), content };
    let link = |target: &str| Content::Link { target: target.into() };
    let empty = Content::EmptyDirectory { modified, mode: 0o755 };
    let other_time =
        Content::EmptyDirectory { modified: Instant::from_nanoseconds(0), mode: 0o700 };
    let archives = Archives::with_items(1);
    let name = &archives.names[0];
    let set = |root: &str, entry: Option<Entry>| {
        change_item(&archives.root(root), name, |sidecar| {
            sidecar.files.truncate(1);
            sidecar.files.extend(entry);
            sidecar.payload = Totals::of(&sidecar.files);
        });
    };
    archives.copy("b", name, |_| ());
    for (original, copy, expected) in [
        (None, None, Standing::Current),
        (Some(extra("z", link("0.txt"))), Some(extra("z", link("0.txt"))), Standing::Current),
        (Some(extra("z", link("0.txt"))), None, Standing::Fork),
        (Some(extra("z", link("0.txt"))), Some(extra("z", link("1.txt"))), Standing::Fork),
        (Some(extra("z", empty.clone())), None, Standing::Fork),
        (Some(extra("z", empty.clone())), Some(extra("z", link(""))), Standing::Fork),
        (Some(extra("z", empty)), Some(extra("z", other_time)), Standing::Current),
    ] {
        let shown = format!("{original:?} {copy:?}");
        set("a", original);
        set("b", copy);
        assert_eq!(archives.holdings(name).all[1].standing, expected, "{shown}");
    }
}

#[test]
fn that_can_not_be_read_are_no_absence() {
    let archives = Archives::with_items(1);
    let name = &archives.names[0];
    archives.copy("b", name, |_| ());
    archives.copy("c", name, |_| ());
    let sidecar = archives.item_path("b", name).join("item.toml");
    std::fs::write(&sidecar, "format = ?").unwrap();
    assert_eq!(archives.told(name), "a original, b damaged, c current");
    std::fs::remove_file(&sidecar).unwrap();
    assert_eq!(archives.told(name), "a original, b damaged, c current");
    let found = archives.holdings(name).concerns(|_| 0);
    assert_eq!(found, [Concern::Unreadable(1)]);
    // There is no item behind a link.
    std::fs::remove_dir_all(archives.item_path("c", name)).unwrap();
    symlink(archives.item_path("a", name), archives.item_path("c", name)).unwrap();
    assert_eq!(archives.told(name), "a original, b damaged");
}

/// What a survey reports: the holdings of each item, and the collections that were not listed.
fn survey(collections: &[Collection]) -> (Vec<(String, String)>, Vec<usize>) {
    let (mut items, mut unlisted) = (Vec::new(), Vec::new());
    let names = Names::default();
    let interrupt = Interrupt::default();
    let survey = Survey { collections, names: &names, jobs: 2, interrupt: &interrupt };
    let ended = survey.run(|report| {
        match report {
            Report::Item(holdings) => items.push((holdings.name.to_string(), told(&holdings))),
            Report::Unlisted { collection, .. } => unlisted.push(collection),
        }
        ControlFlow::Continue(())
    });
    assert!(ended.unwrap().is_continue());
    (items, unlisted)
}

#[test]
fn of_all_items_are_told_once_and_in_order() {
    // More than are looked up at a time.
    let archives = Archives::with_items(1100);
    let names = &archives.names;
    for name in &names[..3] {
        archives.copy("b", name, |_| ());
    }
    archives.copy("c", &names[1], |_| ());
    let foreign = "example.org/maps/2020/01.01.00.00";
    let moved = |root: &str| {
        let from = archives.item_path(root, &names[2]);
        let to = archives.item_path(root, foreign);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::rename(from, to).unwrap();
        change_item(&archives.root(root), foreign, |sidecar| {
            sidecar.repository = foreign.parse().unwrap();
        });
    };
    moved("b");
    // A file where an item would be is no item.
    archives.world.write(&format!("c/{}", names[0]), "");
    archives.world.write(&format!("a/{foreign}"), "");
    let (items, unlisted) = survey(&archives.open());
    assert_eq!((items.len(), unlisted.len()), (names.len() + 1, 0));
    let told: Vec<_> = items.iter().map(|(name, _)| name).collect();
    assert!(told[..names.len()].iter().zip(names).all(|(told, name)| *told == name));
    let holdings: Vec<_> = items[..3].iter().map(|(_, told)| told.as_str()).collect();
    assert_eq!(
        holdings,
        ["a original, b current", "a original, b current, c current", "a original"]
    );
    assert_eq!(items[names.len()], (foreign.to_owned(), "b orphan".to_owned()));
}

#[test]
fn survey_stops_when_it_is_told_to() {
    let archives = Archives::with_items(3);
    let collections = archives.open();
    let interrupt = Interrupt::default();
    let names = Names::default();
    let survey =
        Survey { collections: &collections, names: &names, jobs: 1, interrupt: &interrupt };
    let mut seen = 0;
    let ended = survey.run(|_| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert!(ended.unwrap().is_break());
    assert_eq!(seen, 1);
    interrupt.request();
    let ended = survey.run(|_| panic!("nothing is reported after a stop"));
    assert!(ended.unwrap().is_break());
}

/// Whatever can not be read in one collection, for a moment or from then on: every item is told, and
/// none as if that collection did not hold it.
#[test]
fn survey_takes_no_error_for_absence() {
    use rustix::io::Errno;
    let archives = Archives::with_items(2);
    archives.names.iter().for_each(|name| archives.copy("b", name, |_| ()));
    for mode in [Mode::Once(Errno::IO), Mode::Once(Errno::ACCESS), Mode::Killed] {
        let mut run = 0;
        for at in 1.. {
            let faults = Arc::new(Faults::new(&archives.root("a"), at, mode));
            let watcher = Watcher::new(faults.clone());
            let Ok(a) = Collection::open(&archives.root("a"), &watcher) else { continue };
            let collections = [a, archives.open().remove(1)];
            let (items, unlisted) = survey(&collections);
            let Some(struck) = faults.struck() else { break };
            run += 1;
            for name in &archives.names {
                assert!(items.iter().any(|(told, _)| told == name), "{mode:?} {at} {struck:?}");
            }
            for (name, told) in &items {
                assert!(told.starts_with("a "), "{mode:?} {at} {struck:?}: {name}: {told}");
            }
            let is_told = |(_, told): &(String, String)| told.starts_with("a damaged");
            let is_noticed = !unlisted.is_empty() || items.iter().any(is_told);
            if unlisted.is_empty() {
                assert_eq!(
                    items.len(),
                    archives.names.len(),
                    "{mode:?} {at} {struck:?}: {items:?}"
                );
            }
            assert!(is_noticed || mode != Mode::Killed, "{at} {struck:?}");
        }
        assert!(run > 10, "only {run} operations");
    }
}

/// Moves an item while it is looked for: when the second collection is looked into for the first time.
struct Migration {
    trigger: std::path::PathBuf,
    roots: [std::path::PathBuf; 2],
    name: String,
    done: std::sync::Once,
}

impl urepo::disk::Watch for Migration {
    fn before(&self, _: urepo::disk::Operation, path: &Path) -> std::io::Result<()> {
        if path.starts_with(&self.trigger) {
            self.done.call_once(|| move_item(&self.roots, &self.name));
        }
        Ok(())
    }
}

fn move_item([from, to]: &[std::path::PathBuf; 2], name: &str) {
    crate::support::copy_item(from, to, name, |sidecar| sidecar.state = State::Original);
    std::fs::remove_dir_all(from.join(name)).unwrap();
}

#[test]
fn of_an_item_that_migrates_meanwhile_are_those_of_one_moment() {
    for (from, to, expected) in [("a", "b", "b original"), ("b", "a", "a original")] {
        let archives = Archives::with_items(1);
        let name = &archives.names[0];
        let roots = [archives.root(from), archives.root(to)];
        if from == "b" {
            move_item(&[archives.root("a"), archives.root("b")], name);
        }
        let watcher = Watcher::new(Arc::new(Migration {
            trigger: archives.root("b").join("example.org"),
            roots,
            name: name.clone(),
            done: std::sync::Once::new(),
        }));
        let collections =
            ["a", "b"].map(|root| Collection::open(&archives.root(root), &watcher).unwrap());
        let found = holdings(&name.parse().unwrap(), &collections);
        assert_eq!(told(&found), expected);
        assert!(!archives.item_path(from, name).exists(), "it has moved");
    }
}

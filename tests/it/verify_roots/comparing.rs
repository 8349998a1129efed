//! Each disagreement has exactly its fault, whatever the order of the disk and of the roots.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use urepo::collection::{Collection, Names};
use urepo::custody::{Custody, CustodyId};
use urepo::disk::Operation;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::verify::{
    Code, Comparison, Depth, Disagreement, Options, Report, Scope, Severity, compare, verify,
};

use super::{NAME, Roots, hour, write_item};
use crate::support::on;

/// What the comparison tells: root, name and code of each, and its details.
struct Told {
    found: Vec<(usize, Option<String>, Code)>,
    details: Vec<String>,
    summary: Comparison,
}

fn compared(collections: &[Collection]) -> Told {
    let (mut found, mut details) = (Vec::new(), Vec::new());
    let roots: Vec<_> = collections.iter().collect();
    let summary = compare(&roots, &Names::default(), &Interrupt::default(), |told| {
        let Disagreement { root, name, finding, .. } = told;
        found.push((root, name.map(|name| name.to_string()), finding.code));
        details.push(finding.detail);
        ControlFlow::Continue(())
    });
    Told { found, details, summary: summary.unwrap() }
}

impl Roots {
    #[track_caller]
    fn tell<const N: usize>(&self, expected: [(usize, Code); N]) -> Vec<String> {
        let told = compared(&self.open());
        let named = |(root, code)| (root, Some(NAME.to_owned()), code);
        assert_eq!(told.found, expected.map(named), "{:?}", told.details);
        let damage = expected.iter().filter(|(_, code)| code.severity() == Severity::Damage);
        let damage = damage.count() as u64;
        let warnings = N as u64 - damage;
        assert_eq!((told.summary.damage, told.summary.warnings), (damage, warnings));
        // No root has anything wrong with itself.
        for collection in self.open() {
            assert_eq!(codes_of_one(&collection), [], "{}", collection.path().display());
        }
        told.details
    }
}

/// What verifying one root finds.
fn codes_of_one(collection: &Collection) -> Vec<Code> {
    let mut codes = Vec::new();
    let options = Options { depth: Depth::Full, jobs: 1 };
    let names = Names::default();
    let interrupt = Interrupt::default();
    verify(collection, Scope::All(&names), options, &NoProgress, &interrupt, |report| {
        match report {
            Report::Item(item) => codes.extend(item.findings.as_slice().iter().map(|it| it.code)),
            Report::Tree(finding) => codes.push(finding.code),
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    codes
}

#[test]
fn agreement_has_no_findings() {
    let roots = Roots::new(["a", "b", "c"]);
    roots.original("a");
    roots.copy("b");
    roots.copy("c");
    roots.item("c", "example.org/archive/2026/11.21.02.14", "other", |_| {});
    roots.tell([]);
    let told = compared(&roots.open());
    assert_eq!(told.summary, Comparison { names: 2, ..Comparison::default() });
}

#[test]
fn u401_two_originals() {
    let roots = Roots::new(["a", "b"]);
    roots.original("a");
    roots.original("b");
    let details = roots.tell([(1, Code::TwoOriginals)]);
    assert_eq!(details, ["two Originals, in a and b"]);
}

#[test]
fn u402_no_original() {
    let roots = Roots::new(["a", "b"]);
    roots.copy("a");
    let absent = "its Original is in no collection that was compared";
    let far = "it is in the collection with the id 60cb…";
    assert_eq!(roots.tell([(0, Code::NoOriginal)]), [format!("{absent}; {far}")]);
    // One root alone has nothing to be compared with.
    let told = compared(&roots.open()[..1]);
    assert_eq!((told.found, told.summary), (vec![], Comparison::default()));
    roots.item("b", NAME, "content", |sidecar| sidecar.state = State::Deleted);
    let details = roots.tell([(0, Code::NoOriginal)]);
    assert_eq!(details, [format!("{absent}; it was deleted in b; {far}")]);
}

#[test]
fn u402_where_not_all_is_known() {
    let roots = Roots::new(["a", "b"]);
    roots.original("b");
    roots.copy("a");
    let sidecar = roots.path("b").join(NAME).join("item.toml");
    let whole = std::fs::read(&sidecar).unwrap();
    std::fs::write(&sidecar, "format = ?").unwrap();
    let told = compared(&roots.open());
    assert_eq!(told.found, [(0, Some(NAME.to_owned()), Code::NoOriginal)]);
    let detail = "its Original is in no collection that was compared; its sidecar in b cannot be read; it \
                  should be in b";
    assert_eq!(told.details, [detail]);
    std::fs::write(&sidecar, whole).unwrap();
    let watcher = on(Operation::List, &roots.path("b/example.org/archive"), || {
        Err(io::ErrorKind::PermissionDenied.into())
    });
    let second = Collection::open(&roots.path("b"), &watcher).unwrap();
    let first = roots.open().swap_remove(0);
    // What can not be listed may be there: asked for by its name, it is.
    let unread = (1, None, Code::Unreadable);
    assert_eq!(compared(&[first, second]).found, std::slice::from_ref(&unread));
    std::fs::remove_dir_all(roots.path("b").join(NAME)).unwrap();
    let second = Collection::open(&roots.path("b"), &watcher).unwrap();
    let first = roots.open().swap_remove(0);
    let told = compared(&[first, second]);
    assert_eq!(told.found, [unread, (0, Some(NAME.to_owned()), Code::HolderLacks)]);
}

#[test]
fn u403_stale_copy() {
    let roots = Roots::new(["a", "b"]);
    let before = Custody::first(CustodyId::from([1; 8]), &roots.id("a"));
    let after = before.amended(CustodyId::from([2; 8]));
    roots.item("a", NAME, "changed", |sidecar| {
        (sidecar.timestamp, sidecar.custody) = (hour(2), after);
    });
    roots.item("b", NAME, "content", |sidecar| {
        (sidecar.state, sidecar.timestamp, sidecar.custody) = (State::Copy, hour(1), before);
    });
    let details = roots.tell([(1, Code::StaleCopy)]);
    assert_eq!(details, ["the Copy in b is older than the Original"]);
}

#[test]
fn u405_copy_differs() {
    let roots = Roots::new(["a", "b"]);
    roots.original("b");
    roots.item("a", NAME, "altered", |sidecar| sidecar.state = State::Copy);
    let details = roots.tell([(0, Code::CopyDiffers)]);
    assert_eq!(details, ["changed in b and a"]);
}

#[test]
fn u406_one_collection_twice() {
    let roots = Roots::new(["a", "b", "c"]);
    roots.original("a");
    for same in ["urepo.toml", ".urepo/ledger/000001.jsonl"] {
        std::fs::copy(roots.path("a").join(same), roots.path("b").join(same)).unwrap();
    }
    roots.original("b");
    roots.copy("c");
    let told = compared(&roots.open());
    assert_eq!(told.found, [(1, None, Code::SameCollection)]);
    let a = roots.path("a");
    let detail = format!("it has the id of `{}`; the two are not compared", a.display());
    assert_eq!(told.details, [detail]);
    assert_eq!((told.summary.warnings, told.summary.names), (1, 1));
}

#[test]
fn names_are_compared_without_case() {
    let roots = Roots::new(["a", "b"]);
    let shouted = "EXAMPLE.org./Archive/2026/11.21.02.13";
    roots.item("a", shouted, "content", |_| {});
    roots.original("b");
    let told = compared(&roots.open());
    assert_eq!(told.found, [(1, Some(NAME.to_owned()), Code::TwoOriginals)]);
    assert_eq!(told.summary.names, 1);
}

#[test]
fn it_ends_when_asked_to() {
    let roots = Roots::new(["a", "b"]);
    for minute in 10..50 {
        for root in ["a", "b"] {
            roots.item(root, &format!("example.org/archive/2026/11.21.02.{minute}"), "x", |_| {});
        }
    }
    let collections = roots.open();
    let both: Vec<_> = collections.iter().collect();
    let interrupt = Interrupt::default();
    let mut count = 0;
    let summary = compare(&both, &Names::default(), &interrupt, |_| {
        count += 1;
        interrupt.request();
        ControlFlow::Continue(())
    });
    let summary = summary.unwrap();
    assert_eq!((summary.interrupted, summary.damage, count), (true, 1, 1));
    let go_on = Interrupt::default();
    let summary = compare(&both, &Names::default(), &go_on, |_| ControlFlow::Break(())).unwrap();
    assert_eq!((summary.interrupted, summary.damage), (true, 1));
}

/// The Original goes from one root to the other between the readings of their sidecars.
#[test]
fn an_item_that_moves_meanwhile_is_looked_at_again() {
    let roots = Roots::new(["a", "b"]);
    roots.original("a");
    let later = "example.org/archive/2026/11.21.02.14";
    roots.item("a", later, "other", |_| {});
    let custody = Custody::first(CustodyId::from([1; 8]), &roots.id("a"));
    let custody = custody.passed_to(&roots.id("b"), CustodyId::from([2; 8]));
    roots.item("b", NAME, "content", |sidecar| sidecar.custody = custody);
    let was_read = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&was_read);
    let first = on(Operation::Read, &roots.path("a").join(later).join("item.toml"), move || {
        tell.store(true, Ordering::SeqCst);
        Ok(())
    });
    let (root, has_moved) = (roots.path("a"), AtomicBool::new(false));
    let second = on(Operation::Read, &roots.path("b").join(NAME).join("item.toml"), move || {
        while !was_read.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        if !has_moved.swap(true, Ordering::SeqCst) {
            write_item(&root, NAME, "content", |sidecar| sidecar.state = State::Copy);
        }
        Ok(())
    });
    let open = |root: &str, watcher| Collection::open(&roots.path(root), watcher).unwrap();
    assert_eq!(compared(&[open("a", &first), open("b", &second)]).found, []);
}

/// The roots that hold the Original of each name.
type Model = BTreeMap<usize, Vec<bool>>;

/// Names in the order in which they are listed, each in a spelling for each root.
const NAMES: [[&str; 3]; 6] = [
    ["br/archive/2026/11.21.02.13", "BR/archive/2026/11.21.02.13", "br/ARCHIVE/2026/11.21.02.13"],
    ["example.org/archive/2026/11.21.02.13", "example.org./archive/2026/11.21.02.13", NAME],
    ["example.org/archive/2026/11.21.02.13.05", "Example.org/archive/2026/11.21.02.13.05", ""],
    ["example.org/archive/10000/01.01.00.00", "", "example.org/Archive/10000/01.01.00.00"],
    ["example.org/archive.8080/2026/11.21.02.13", "", "EXAMPLE.org/archive.8080/2026/11.21.02.13"],
    ["inpe.br/b/2009/02.16.17.46", "inpe.br/B/2009/02.16.17.46", "INPE.BR/b/2009/02.16.17.46"],
];

fn spelling(name: usize, root: usize) -> &'static str {
    match NAMES[name][root] {
        "" => NAMES[name][0],
        spelt => spelt,
    }
}

/// The findings by the rule as it is written, all names in memory.
fn naive(model: &Model) -> Vec<(usize, Option<String>, Code)> {
    let mut found = Vec::new();
    for (name, held) in model {
        let originals = held.iter().enumerate().filter(|(_, is_held)| **is_held);
        found.extend(
            originals.skip(1).map(|(root, _)| {
                (root, Some(spelling(*name, root).to_owned()), Code::TwoOriginals)
            }),
        );
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn merging_finds_what_comparing_in_memory_does(
        holdings in prop::collection::vec(prop::collection::vec(any::<bool>(), 3), NAMES.len())
    ) {
        let model: Model = holdings.into_iter().enumerate().collect();
        let roots = Roots::new(["a", "b", "c"]);
        for (name, held) in &model {
            for (root, _) in held.iter().enumerate().filter(|(_, is_held)| **is_held) {
                roots.item(roots.names[root], spelling(*name, root), "content", |_| {});
            }
        }
        let told = compared(&roots.open());
        prop_assert_eq!(told.found, naive(&model));
        let names = model.values().filter(|held| held.contains(&true)).count();
        prop_assert_eq!(told.summary.names, names as u64);
    }
}

#[test]
fn u408_deleted_elsewhere() {
    let roots = Roots::new(["a", "b"]);
    roots.original("a");
    let own = roots.id("a");
    roots.item("b", NAME, "content", |sidecar| {
        let custody = Custody::first(CustodyId::from([1; 8]), &own);
        sidecar.custody = custody.passed_to(&own, CustodyId::from([2; 8]));
        sidecar.state = State::Deleted;
    });
    let details = roots.tell([(0, Code::DeletedElsewhere)]);
    assert_eq!(details, ["deleted in b, and a has the Original"]);
}

#[test]
fn u407_another_description() {
    let roots = Roots::new(["a", "b"]);
    roots.original("a");
    roots.item("b", NAME, "content", |sidecar| {
        sidecar.state = State::Copy;
        sidecar.metadata.add("title", "Another title").unwrap();
    });
    let details = roots.tell([(1, Code::DescriptionDiffers)]);
    assert_eq!(details, ["changed in a and b: the description"]);
}

/// What could not be read is no agreement.
#[test]
fn an_error_while_reading_is_never_agreement() {
    use rustix::io::Errno;
    use urepo::disk::Watcher;

    use crate::support::{Faults, Mode};
    let roots = Roots::new(["a", "b"]);
    roots.original("a");
    roots.original("b");
    for at in 1.. {
        let mode = Mode::Once(Errno::IO);
        let faults = Arc::new(Faults::new(roots.scratch.path(), at, mode));
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let open = |root: &str| Collection::open(&roots.path(root), &watcher);
        if let (Ok(a), Ok(b)) = (open("a"), open("b")) {
            let told = compared(&[a, b]);
            assert!(told.summary.damage > 0, "{at}: {:?}", faults.struck());
            let unread: Vec<_> =
                told.found.iter().filter(|(.., code)| *code == Code::Unreadable).collect();
            assert!(unread.len() < 2, "{unread:?}");
        }
        if faults.struck().is_none() {
            assert!(at > 10);
            break;
        }
    }
}

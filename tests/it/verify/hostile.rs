//! Hostile items.

use super::*;

#[test]
fn names_of_any_bytes_are_compared_losslessly() {
    let world = World::with_item();
    for name in [&b"caf\xe9"[..], b"back\\slash", b"new\nline", b"\x1b[2J", b"-rf"] {
        let name = std::ffi::OsStr::from_bytes(name);
        fs::write(world.in_item("doc").join(name), "x").unwrap();
    }
    world.seal(NAME, |_| {});
    assert_eq!(world.codes(), []);
    let odd = world.in_item("doc").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    flip(&odd, 0);
    let told = world.run(Depth::Full);
    let place = told.items[0].findings.as_slice()[0].place.to_path();
    assert_eq!(place.as_os_str().as_bytes(), b"doc/caf\xe9");
}

/// A file and something below it: no tree can be both.
#[test]
fn entries_that_contradict_each_other() {
    let world = World::with_item();
    world.seal(NAME, |sidecar| {
        let mut below = sidecar.files[3].clone();
        assert_eq!(below.path.to_text(), "sub/map.tif");
        below.path = PayloadPath::from_text("report.pdf/below").unwrap();
        sidecar.files.insert(3, below);
        sidecar.payload = Totals::of(&sidecar.files);
    });
    assert_eq!(world.codes(), found([(Code::FileMissing, "doc/report.pdf/below")]));
}

#[test]
fn deep_trees_neither_overflow_nor_open_many_descriptors() {
    let world = World::with_item();
    let mut path = world.in_item("doc");
    // As deep as a path can name it.
    while path.as_os_str().len() < 4000 {
        path.push("d");
        fs::create_dir(&path).unwrap();
    }
    assert!(path.components().count() > 1900);
    assert_eq!(world.codes(), found([(Code::Added, "doc/d")]));
    fs::write(path.join("f"), "deep").unwrap();
    world.seal(NAME, |_| {});
    assert_eq!(world.codes(), []);
}

#[test]
fn a_flood_of_files_is_counted_and_does_not_hide_damage() {
    let world = World::with_item();
    for number in 0..3000 {
        fs::write(world.in_item(&format!("doc/{number}")), "").unwrap();
    }
    for number in 0..1500 {
        fs::write(world.in_item(&format!("stray-{number}")), "").unwrap();
    }
    let told = world.run(Depth::Full);
    let findings = &told.items[0].findings;
    assert_eq!(findings.as_slice().len(), 2000);
    assert_eq!(findings.omitted(), 2500);
    assert_eq!(findings.count(Severity::Damage), 3000);
}

#[test]
fn a_prefix_that_was_asked_for_is_all_that_is_looked_at() {
    let world = World::with_item();
    world.item("sid.inpe.br/mtc-m19/2009/02.16.17.46");
    flip(&world.path("sid.inpe.br/mtc-m19/2009/02.16.17.46/doc/report.pdf"), 0);
    let name: RepositoryName = NAME.parse().unwrap();
    let names = Names::of(Some(name.prefix()));
    let collection = world.open(&Watcher::default());
    let options = Options { depth: Depth::Full, jobs: 2 };
    let told = run(&collection, Scope::All(&names), options);
    assert_eq!((told.codes(), told.summary.items), (vec![], 1));
}

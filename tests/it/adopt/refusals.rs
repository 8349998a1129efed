//! Trees that are not in order, or that the collection has held before.

use super::*;
use crate::support::{add_lines, ledger_line};

/// Refused, with the reason; all the rest of the tree is taken in.
#[test]
fn what_is_not_in_order_is_refused_and_left_alone() {
    type Plant = fn(&World);
    let cases: [(&str, Plant); 7] = [
        ("NoPayload", |world| drop(world.write(&format!("{PAPER}/a.txt"), "a"))),
        ("NotADirectory", |world| drop(world.write(&format!("{PAPER}/doc"), "a"))),
        ("NotADirectory", |world| {
            std::fs::create_dir_all(world.root().join(PAPER)).unwrap();
            symlink("../08.08.00.00/doc", world.root().join(PAPER).join("doc")).unwrap();
        }),
        ("Special", |world| {
            let doc = world.write(&format!("{PAPER}/doc/a"), "a");
            let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
            rustix::fs::mknodat(rustix::fs::CWD, doc.with_file_name("f"), kind, mode, 0).unwrap();
        }),
        ("OtherFile", |world| {
            world.write(&format!("{PAPER}/doc/a"), "a");
            world.write(&format!("{PAPER}/item.toml"), "made by hand");
        }),
        ("OtherFile", |world| {
            world.write(&format!("{PAPER}/doc/a"), "a");
            std::fs::create_dir(world.root().join(PAPER).join("item.toml")).unwrap();
        }),
        ("TwoSpellings", |world| {
            world.write(&format!("{PAPER}/doc/a"), "a");
            world.write("SID.inpe.br/MTC-m18@80/2009/02.16.17.46/doc/a", "a");
        }),
    ];
    for (expected, plant) in cases {
        let world = World::new();
        world.write(&format!("{REPORT}/doc/a"), "a");
        plant(&world);
        let before = everything(&world.root());
        let told = world.adopt();
        let names: Vec<_> = told.taken.keys().map(String::as_str).collect();
        assert_eq!(names, [REPORT], "{expected}");
        let error = format!("{:?}", told.refused[PAPER]);
        assert!(error.starts_with(expected), "{expected}: {error}");
        let count = if expected == "TwoSpellings" { 2 } else { 1 };
        assert_eq!((told.refused.len(), told.summary.refused), (count, count as u64));
        let after = everything(&world.root().join(PAPER));
        for (path, is) in after {
            assert_eq!(is, before[&Path::new(PAPER).join(path)], "{expected}");
        }
    }
}

#[test]
fn what_is_no_item_is_told_and_left_alone() {
    let world = World::new();
    world.write(&format!("{REPORT}/doc/a"), "a");
    world.write("dpi.inpe.br/banon/1995/08.08.00.01", "a file");
    world.write("dpi.inpe.br/banon/1995/02.30.00.01/doc/a", "no such day");
    world.write("dpi.inpe.br/banon/papers/a", "no year");
    let year = world.root().join("dpi.inpe.br/banon/1995");
    std::fs::create_dir_all(year.join("08.08.00.02/.reserved")).unwrap();
    symlink("08.08.00.00", year.join("08.08.00.03")).unwrap();
    let mut told = world.adopt();
    told.strays.sort();
    let expected = [
        "dpi.inpe.br/banon/1995/02.30.00.01",
        "dpi.inpe.br/banon/1995/08.08.00.01",
        "dpi.inpe.br/banon/1995/08.08.00.02",
        "dpi.inpe.br/banon/1995/08.08.00.03",
        "dpi.inpe.br/banon/papers",
    ];
    assert_eq!(told.strays, expected);
    assert_eq!((told.summary.strays, told.taken.len(), told.refused.len()), (5, 1, 0));
}

#[test]
fn what_is_odd_is_told_and_kept() {
    let world = World::new();
    let a = world.write(&format!("{REPORT}/doc/a"), "a");
    world.write(&format!("{REPORT}/doc/A"), "A");
    std::fs::set_permissions(&a, std::fs::Permissions::from_mode(0o4755)).unwrap();
    world.write(&format!("{REPORT}/doc/@reference.bib"), "@misc{k, target = {gone.pdf}}");
    std::fs::create_dir_all(world.root().join(PAPER).join("doc")).unwrap();
    world.write(&format!("{UPPER}/doc/@reference.bib"), vec![b' '; (1 << 20) + 1]);
    world.write(&format!("{UNDERSCORE}/doc/@reference.bib"), "@misc{k, title {never} closed");
    let told = world.adopt();
    assert_eq!(told.refused.len(), 0, "{:?}", told.refused);
    let notes = |name: &str| format!("{:?}", told.taken[name].notes);
    for expected in ["SpecialModes(1)", "Twins", "NoTarget(\"gone.pdf\")"] {
        assert!(notes(REPORT).contains(expected), "{expected}: {}", notes(REPORT));
    }
    assert_eq!(told.taken[PAPER].notes, [Note::Empty]);
    assert!(notes(UPPER).contains("larger than 1 MiB"), "{}", notes(UPPER));
    assert!(notes(UNDERSCORE).contains("NotUnderstood"), "{}", notes(UNDERSCORE));
    let raw = world.sidecar(UNDERSCORE).metadata.table()["x"]["bibtex"].clone();
    assert_eq!(raw.as_str(), Some("title {never} closed"));
    assert_eq!(whole_items(&world.collection(&Watcher::default())).len(), 4);
}

/// Without its sidecar it would come back as a second Original, or as whole whatever it has lost.
#[test]
fn what_the_collection_has_held_before_is_not_taken_in() {
    let world = World::urlib();
    world.adopt();
    for name in [REPORT, PAPER] {
        std::fs::remove_file(world.root().join(name).join("item.toml")).unwrap();
    }
    let collection = world.collection(&Watcher::default());
    add_lines(&world.root(), &[ledger_line("loss", REPORT, None)]);
    let before = everything(&world.root());
    let agent = agent();
    let modes = [
        Mode::Plan { root: collection.root(), collection: Some(&collection) },
        Mode::Act { collection: &collection, agent: &agent, wait: PATIENCE },
    ];
    for mode in modes {
        let told = run(mode, None, 1, |_| ());
        assert_eq!(told.taken.len(), 0);
        assert!(matches!(
            told.refused[REPORT],
            AdoptError::Collection(CollectionError::GivenUp { .. })
        ));
        assert!(matches!(told.refused[PAPER], AdoptError::SidecarLost { .. }));
    }
    assert_eq!(everything(&world.root()), before);
}

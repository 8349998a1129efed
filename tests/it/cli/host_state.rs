//! Notes in the host state that are damaged: what they said is not known, and nobody goes on as if they had said nothing.

use std::fs;
use std::path::PathBuf;

use crate::support::World;

/// The only note whose name begins so.
#[track_caller]
fn note(world: &World, start: &str) -> PathBuf {
    let entries = fs::read_dir(world.path(".state")).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(start);
    let mut found = entries.filter(is_it);
    let path = found.next().expect("a note");
    assert_eq!(found.next(), None);
    path
}

/// Garbage, nothing, and what this user cannot read as a file.
fn damage(path: &PathBuf, how: &str) {
    match how {
        "a directory" => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
        "longer" => {
            fs::write(path, [&fs::read(path).unwrap()[..], b"and more\n"].concat()).unwrap();
        }
        text => fs::write(path, text).unwrap(),
    }
}

#[test]
fn a_damaged_note_about_a_ledger_is_named_until_a_person_accepts_the_ledger() {
    for how in ["", "\0\0\0\0", "urepo-ledger 1 x", "longer"] {
        let world = World::with_collection();
        for name in ["a.txt", "b.txt", "c.txt"] {
            world.write(name, name);
        }
        let name = world.run("-c archive new a.txt").line();
        let path = note(&world, "ledger-");
        damage(&path, how);
        let named = format!("[WORLD]/.state/{}", path.file_name().unwrap().to_string_lossy());
        let commands = [
            "-c archive status".to_owned(),
            "-c archive verify".to_owned(),
            format!("-c archive show {name}"),
            format!("-c archive meta set {name} title=New"),
            "-c archive new b.txt".to_owned(),
            "-c archive import c.txt".to_owned(),
            "-c archive mint".to_owned(),
            format!("-c archive delete {name} --force last --yes"),
            // What was written since has not taken its place.
            "-c archive status".to_owned(),
        ];
        for command in commands {
            let ran = world.run(&command);
            let told = format!("{how:?}: {command}: {} {}{}", ran.code, ran.stdout, ran.stderr);
            assert_eq!((ran.stdout.clone() + &ran.stderr).matches(&named).count(), 1, "{told}");
            assert!(told.contains("recover --restored"), "{told}");
            assert_eq!(ran.code, 0, "{told}");
        }
        let ran = world.run("-c archive verify --json");
        assert!(ran.stdout.contains("U313"), "{}", ran.stdout);
        world.run("-c archive recover --restored").succeeded();
        let ran = world.run("-c archive status");
        assert!(!ran.stderr.contains("damaged"), "{}", ran.stderr);
        // From now on, a ledger that was put back is found again.
        let text = fs::read_to_string(crate::support::ledger_file(&world.path("archive"))).unwrap();
        world.run("-c archive new b.txt").succeeded();
        fs::write(crate::support::ledger_file(&world.path("archive")), text).unwrap();
        assert_eq!(world.run("-c archive verify --quick").code, 20);
    }
}

#[test]
fn a_damaged_note_about_a_collection_that_is_away_is_named() {
    let world = World::with_collection();
    world.run("-q init mirror --host mirror.example.org").succeeded();
    let roots = ["archive", "mirror"].map(|it| format!("{it} = '{}'\n", world.path(it).display()));
    world.write(".config/urepo/config.toml", format!("[collections]\n{}", roots.concat()));
    world.write("a.txt", "alpha");
    world.run("-c archive new a.txt").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    let path = note(&world, "seen-");
    fs::rename(world.path("mirror"), world.path("drawer")).unwrap();
    for how in ["", "urepo-seen 1 x", "longer", "a directory"] {
        if how != "a directory" {
            fs::rename(world.path("drawer"), world.path("mirror")).unwrap();
            world.run("-c archive status").succeeded();
            fs::rename(world.path("mirror"), world.path("drawer")).unwrap();
            assert_eq!(world.run("-c archive status").code, 0);
        }
        damage(&path, how);
        let ran = world.run("-c archive status");
        assert_eq!(ran.code, 3, "{how:?}: {}", ran.stderr);
        assert_eq!(
            ran.stderr.matches("last seen is not known").count(),
            1,
            "{how:?}: {}",
            ran.stderr
        );
    }
}

/// An error says nothing about the note, and is no reason to accept the ledger.
#[test]
fn a_note_about_a_ledger_that_cannot_be_read_is_not_called_damaged() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.run("-c archive new a.txt").succeeded();
    damage(&note(&world, "ledger-"), "a directory");
    for command in ["-c archive status", "-c archive verify"] {
        let ran = world.run(command);
        let told = format!("{command}: {} {}{}", ran.code, ran.stdout, ran.stderr);
        assert!(told.contains("cannot be read") || told.contains("cannot read"), "{told}");
        assert!(!told.contains("recover --restored"), "{told}");
        assert_eq!(ran.code, 0, "{told}");
    }
}

//! An item that a killed run took away, where two names cannot be swapped in one step: every reader says
//! so, and the next writer puts it back.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use urepo::collection::{Collection, Names, lock_changes};
use urepo::disk::Watcher;
use urepo::wait::Waiter;

use crate::support::{TestClock, World, agent, waiter};

/// The program's view of an archive from which an item was displaced by a run that was killed.
struct Displaced {
    world: World,
    name: String,
    item: PathBuf,
}

impl Displaced {
    fn new() -> Displaced {
        let world = World::with_collection();
        world.write("a.txt", "bytes");
        let name = world.run("-c archive new a.txt").line();
        let item = world.path("archive").join(&name);
        let displaced = Displaced { world, name, item };
        displaced.displace("archive");
        displaced
    }

    fn displace(&self, root: &str) {
        let root = self.world.path(root);
        let entry =
            format!(".urepo/trash/{}~019a0000000001234567.aside", self.name.replace('/', "+"));
        fs::create_dir_all(root.join(".urepo/trash")).unwrap();
        fs::rename(root.join(&self.name), root.join(&entry)).unwrap();
        // Its stage.
        fs::create_dir_all(root.join(".urepo/staging/7-0123456789abcdef")).unwrap();
    }

    fn says(&self, line: &str, code: i32, text: &str) {
        let ran = self.world.run(line);
        assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
        assert!((ran.stdout + &ran.stderr).contains(text), "{line}: {}", ran.stderr);
    }
}

#[test]
fn every_reader_says_so() {
    let displaced = Displaced::new();
    let (name, leaf) = (&displaced.name, displaced.name.rsplit('/').next().unwrap());
    displaced.says("-c archive verify", 20, "U110");
    displaced.says(&format!("-c archive verify {name}"), 20, "`urepo -c archive recover`");
    for name in [name, leaf] {
        displaced.says(&format!("-c archive show {name}"), 20, "`urepo -c archive recover`");
    }
    displaced.says(&format!("-c archive status {name}"), 20, "verify --quick");
    displaced.says("-c archive list", 3, "`urepo -c archive recover`");
    displaced.says("-c archive status", 3, "was displaced");
}

/// A repair that was killed is simply repeated.
#[test]
fn a_repair_puts_it_back() {
    for is_named in [true, false] {
        let displaced = Displaced::new();
        let name = if is_named { &*displaced.name } else { "" };
        displaced.says(&format!("-c archive repair {name} --dry-run"), 20, "displaced");
        displaced.says(&format!("-c archive repair {name}"), 0, "");
        assert!(displaced.item.join("item.toml").exists());
        displaced.says("-c archive verify", 0, "");
    }
}

/// What only reads does not put it back, and does not take it for absent, on either side.
#[test]
fn no_transfer_takes_it_for_absent() {
    let displaced = Displaced::new();
    let (world, name) = (&displaced.world, &displaced.name);
    world.run("init mirror --host mirror.example.org").succeeded();
    for (line, collection) in [
        (format!("-c archive copy {name} --to mirror"), "[WORLD]/archive"),
        (format!("-c archive migrate {name} --to mirror --dry-run"), "[WORLD]/archive"),
        (format!("-c archive export {name} --format dir --to out"), "archive"),
    ] {
        displaced.says(&line, 20, "was displaced in");
        displaced.says(&line, 20, &format!("`urepo -c {collection} recover`"));
    }
    world.run("-c archive recover").succeeded();
    world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
    // The one at the destination is not overlooked, though its place is free.
    displaced.displace("mirror");
    let line = format!("-c archive copy {name} --to mirror --dry-run");
    displaced.says(&line, 20, "was displaced in `[WORLD]/mirror`");
}

#[test]
fn a_run_that_is_at_work_has_displaced_nothing() {
    let displaced = Displaced::new();
    let collection =
        Collection::open(&displaced.world.path("archive"), &Watcher::default()).unwrap();
    let names = Names::default();
    assert_eq!(collection.displaced(&names).unwrap().len(), 1);
    let clock = TestClock::at("2026-11-22T00:00:00Z");
    let collection = collection.with_waiter(Waiter::default().up_to(Duration::ZERO));
    let lock = lock_changes([&collection], &agent(), &waiter(&clock)).unwrap();
    assert_eq!(collection.displaced(&names).unwrap(), []);
    drop(lock);
}

/// A bad entry of the trash does not keep the others from being put back, nor does a missing year.
#[test]
fn recovery_puts_it_back_whatever_else_is_there() {
    for command in ["recover", "new a.txt"] {
        let displaced = Displaced::new();
        let trash = displaced.world.path("archive/.urepo/trash");
        let year = displaced.item.parent().unwrap();
        fs::remove_dir(year).unwrap();
        // Nothing can be put where a file is on the way.
        let blocked = trash.join("example.org+blocked+2019+01.02.03.04~019a0000000001234567.aside");
        fs::create_dir_all(blocked).unwrap();
        displaced.world.write("archive/example.org/blocked", "a file");
        displaced.world.run(&format!("-c archive {command}"));
        assert!(displaced.item.join("item.toml").is_file(), "{command}");
        displaced.world.run(&format!("-c archive show {}", displaced.name)).succeeded();
    }
}

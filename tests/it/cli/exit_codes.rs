//! Each exit code, brought about in the ways there are.

use std::time::Duration;

use urepo::clock::SystemClock;
use urepo::disk::{Dir, Lock, LockMode, Watcher};

use super::{bytes_below, leaf, records, world_with_item};
use crate::support::{World, agent, waiter};

/// Runs a line in a world with one item, whose last level `ITEM` stands for.
#[track_caller]
fn ends(code: i32, prepare: impl FnOnce(&World, &str), line: &str) {
    let (world, name) = world_with_item();
    prepare(&world, &name);
    let line = line.replace("ITEM", leaf(&name));
    let ran = world.run(&line);
    assert_eq!(ran.code, code, "{line}\n{}{}", ran.stdout, ran.stderr);
    // The records of a run end with the same number, on whichever stream the last one is.
    let ran = world.run(&format!("{line} --json"));
    assert_eq!(ran.code, code, "{line} --json\n{}{}", ran.stdout, ran.stderr);
    let numbers: Vec<_> =
        records(&ran).iter().filter_map(|record| record["exit_code"].as_i64()).collect();
    assert!(numbers.iter().all(|number| *number == i64::from(code)), "{line}: {numbers:?}");
    if code > 2 || code == 1 {
        let last = ran.stderr.lines().last().map(serde_json::from_str::<serde_json::Value>);
        let told = last.and_then(Result::ok).and_then(|record| record["exit_code"].as_i64());
        assert_eq!(told.or(numbers.last().copied()), Some(i64::from(code)), "{}", ran.stderr);
    }
}

fn nothing(_: &World, _: &str) {}

#[test]
fn success_is_0() {
    for line in ["list", "show ITEM", "show --path ITEM", "mint", "status --machine", "recover"] {
        ends(0, nothing, &format!("-c archive {line}"));
    }
    ends(0, nothing, "-c archive new a.txt");
    ends(0, nothing, "-c archive verify");
    ends(0, nothing, "-c archive repair");
    ends(0, nothing, "-c archive repair ITEM");
    ends(0, nothing, "-c archive status --settings");
    ends(0, nothing, "-c archive status");
    ends(0, nothing, "status ITEM --with archive");
    ends(0, nothing, "resolve --explain 8JMKD3MGP8W/34PGRBS");
}

#[test]
fn failure_is_1() {
    ends(1, nothing, "-c archive new missing.txt");
    ends(1, nothing, "-c archive new a.txt --target b.txt");
    ends(1, nothing, "resolve --explain nonsense");
    ends(1, nothing, "resolve --explain 8JMKD3MGP8W");
    ends(1, nothing, "-c archive mint --subsystem maps");
    ends(1, |world, _| drop(world.write("archive/urepo.toml", "?")), "-c archive list");
}

#[test]
fn usage_is_2() {
    for line in ["", "new", "-c archive new - -", "list --what", "mint --count 0"] {
        ends(2, nothing, line);
    }
}

#[test]
fn a_part_is_3() {
    ends(3, nothing, "-c archive new --each a.txt missing.txt");
    ends(3, nothing, "-c archive status ITEM example.org/maps/2009/02.16.17.46");
    let wish = |world: &World, _: &str| {
        let text = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
        world.write("archive/urepo.toml", format!("copies = 1\n{text}"));
        world.run("init mirror --host mirror.example.org").succeeded();
    };
    ends(3, wish, "-c archive status --with mirror");
    ends(3, damage_sidecar, "-c archive list --long");
    ends(3, nothing, "-c archive delete -y --force last ITEM 2009/02.16.17.46");
}

#[test]
fn no_collection_is_10() {
    ends(10, nothing, "list");
    ends(10, nothing, "-c nowhere verify");
    ends(10, nothing, "-c nowhere new a.txt");
    ends(10, nothing, "status");
    ends(10, nothing, "-c archive status ITEM --with nowhere");
}

#[test]
fn locked_is_11() {
    let (world, _) = world_with_item();
    let own = Dir::open(&world.path("archive/.urepo"), Watcher::default()).unwrap();
    let holder = agent().holder(&SystemClock);
    let wait = Duration::from_secs(10);
    let _lock =
        Lock::take(&own, "lock", LockMode::Exclusive, &holder, &waiter(&SystemClock).up_to(wait))
            .unwrap();
    for line in ["new a.txt", "recover", "new a.txt --json"] {
        assert_eq!(world.run(&format!("UREPO_LOCK_WAIT=0 -c archive {line}")).code, 11, "{line}");
    }
    // Reading waits for nobody.
    for line in ["list", "verify", "status --machine"] {
        assert_eq!(world.run(&format!("UREPO_LOCK_WAIT=0 -c archive {line}")).code, 0, "{line}");
    }
}

/// Every command that changes items, beside another process that has one lock or the other: it says so, and does nothing.
#[test]
fn what_only_waited_is_11() {
    let world = World::with_collection();
    world.run("-q init mirror --host mirror.example.org").succeeded();
    let roots = ["archive", "mirror"].map(|it| format!("{it} = '{}'\n", world.path(it).display()));
    world.write(".config/urepo/config.toml", format!("[collections]\n{}", roots.concat()));
    for name in ["a.txt", "b.txt", "c.txt"] {
        world.write(name, name);
    }
    world.write("made.csv", "path,title\na.txt,One\nb.txt,One\n");
    world.run("-c archive import made.csv").succeeded();
    world.write("made.csv", "path,title\na.txt,Two\nb.txt,Two\n");
    let names: Vec<_> =
        world.run("-c archive list").succeeded().lines().map(str::to_owned).collect();
    let [first, second] = [&names[0], &names[1]];
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run("-c archive meta set --all title=Three -y").succeeded();
    let gone = world.run("-c archive new c.txt").line();
    world.run(&format!("-c archive delete {gone} --force last --yes")).succeeded();
    let lines = [
        "-c archive new c.txt".to_owned(),
        "-c archive new --each a.txt c.txt".to_owned(),
        "-c archive import c.txt".to_owned(),
        "-c archive import --update made.csv".to_owned(),
        "-c archive mint".to_owned(),
        format!("-c archive meta set {first} title=Four"),
        "-c archive meta set --all title=Four -y".to_owned(),
        "-c archive meta set --all subject+=maps -y".to_owned(),
        "-c archive meta import made.csv".to_owned(),
        format!("-c archive meta set {first} part_of={second}"),
        format!("-c archive copy {first} --to mirror"),
        "-c archive copy --all --to mirror".to_owned(),
        "-c mirror copy --all --from archive".to_owned(),
        format!("-c archive migrate {first} --to mirror"),
        "-c archive migrate --all --to mirror --leave-copy".to_owned(),
        format!("-c archive delete {first} --force last --yes"),
        "-c archive delete --all --force last --yes".to_owned(),
        format!("-c archive restore {gone}"),
        "-c archive restore --all".to_owned(),
    ];
    let promote = "-c mirror promote --all --lost archive --yes";
    let mut wrong = Vec::new();
    for lock in ["lock", "change.lock"] {
        let held: Vec<_> = ["archive", "mirror"]
            .map(|root| std::fs::File::open(world.path(root).join(".urepo").join(lock)).unwrap())
            .into();
        for file in &held {
            file.lock().unwrap();
        }
        let before = bytes_below(&world.path("archive/example.org"));
        for line in &lines {
            let ran = world.run(&format!("UREPO_LOCK_WAIT=0 {line}"));
            if ran.code != 11 || bytes_below(&world.path("archive/example.org")) != before {
                wrong.push(format!("{lock}: {line}: {} {}{}", ran.code, ran.stdout, ran.stderr));
            }
        }
        std::fs::rename(world.path("archive"), world.path("drawer")).unwrap();
        assert_eq!(world.run(&format!("UREPO_LOCK_WAIT=0 {promote}")).code, 11, "{lock}");
        std::fs::rename(world.path("drawer"), world.path("archive")).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn damage_is_20() {
    let damage = |world: &World, name: &str| {
        world.write(&format!("archive/{name}/doc/a.txt"), "Alpha");
    };
    ends(20, damage, "-c archive verify");
    ends(20, damage_sidecar, "-c archive show ITEM");
    ends(20, damage_sidecar, "-c archive show --as manifest ITEM");
    let remove = |world: &World, name: &str| {
        std::fs::remove_file(world.path(format!("archive/{name}/item.toml"))).unwrap();
    };
    ends(20, remove, "-c archive show ITEM");
    // All bytes are printed, and then that they are not the right ones.
    let (world, name) = world_with_item();
    damage(&world, &name);
    let ran = world.run(&format!("-c archive cat {name}"));
    assert_eq!((ran.code, ran.stdout.as_str()), (20, "Alpha"));
    let told = format!("error: `a.txt` of `{name}` is damaged: its digest differs\n");
    assert!(ran.stderr.starts_with(&told), "{}", ran.stderr);
    // What has another size or kind is not printed, however long it is.
    let file = world.path(format!("archive/{name}/doc/a.txt"));
    let huge = std::fs::File::options().write(true).open(&file).unwrap();
    huge.set_len(1 << 50).unwrap();
    let ran = world.run(&format!("-c archive cat {name}"));
    assert_eq!((ran.code, ran.stdout.as_str()), (20, ""));
    std::fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
    let ran = world.run(&format!("-c archive cat {name}"));
    assert_eq!((ran.code, ran.stdout.as_str()), (20, ""));
}

#[test]
fn no_item_is_21() {
    ends(21, nothing, "-c archive show example.org/archive/2009/02.16.17.46");
    ends(21, nothing, "-c archive show --path 8JMKD3MGP8W/34PGRBS");
    ends(21, nothing, "-c archive show example.org/maps/2009/02.16.17.46");
    ends(21, nothing, "-c archive cat ITEM/b.txt");
    ends(21, nothing, "-c archive status example.org/maps/2009/02.16.17.46");
}

#[test]
fn deleted_is_22() {
    let delete = |world: &World, name: &str| {
        let path = format!("archive/{name}/item.toml");
        let text = std::fs::read_to_string(world.path(&path)).unwrap();
        world.write(&path, text.replace("\"Original\"", "\"Deleted\""));
    };
    ends(22, delete, "-c archive cat ITEM");
    ends(22, delete, "-c archive resolve ITEM");
    ends(22, delete, "-c archive show --path ITEM/letter.txt");
    let remove = |world: &World, name: &str| {
        world.run(&format!("-c archive delete --force last {name}")).succeeded();
    };
    ends(22, remove, "-c archive delete ITEM");
    let purge = |world: &World, name: &str| {
        remove(world, name);
        world.run("-c archive purge -y").succeeded();
    };
    ends(22, purge, "-c archive restore ITEM");
    ends(0, nothing, "-c archive restore ITEM");
    // What is known of a deleted item is still told.
    ends(0, remove, "-c archive show ITEM");
    ends(0, delete, "-c archive show ITEM");
    ends(0, delete, "-c archive list --state Deleted");
}

#[test]
fn a_conflict_is_23() {
    ends(23, nothing, "init archive --host archive.example.org");
    ends(23, nothing, "init archive/maps --host maps.example.org");
    ends(23, nothing, "-c archive new a.txt --init --host maps.example.org");
    ends(23, nothing, "-c archive delete ITEM");
}

#[test]
fn a_wait_that_is_too_long_is_24() {
    let (world, _) = world_with_item();
    world.set_granularity("archive", "60");
    // The second name of a minute has to wait; a minute may end between two runs, not always.
    let line = "UREPO_MAX_WAIT=0 -c archive mint";
    assert!((0..5).any(|_| world.run(line).code == 24));
    let line = "UREPO_MAX_WAIT=0 -c archive new a.txt";
    assert!((0..5).any(|_| world.run(line).code == 24));
}

fn damage_sidecar(world: &World, name: &str) {
    world.write(&format!("archive/{name}/item.toml"), "format = ?");
}

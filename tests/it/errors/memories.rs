//! Memories of dates that are not in order.

use super::*;

/// The program's own machine, as it names it in memories.
fn this_machine(world: &World) -> Agent {
    let told = world.run("-c archive status --machine --json");
    let record: serde_json::Value = serde_json::from_str(told.succeeded()).unwrap();
    Agent { machine_id: record["machine"]["id"].as_str().unwrap().to_owned(), ..agent() }
}

fn mint(world: &World, agent: &Agent, date: &str) {
    let clock = TestClock::at(date);
    let collection = open(world);
    Issuer::new(&collection, agent, &clock, &issue_options()).unwrap().mint(1).unwrap();
}

/// As `refuses`, and the memory is untouched too.
#[track_caller]
fn keeps_memory(world: &World, line: &str, code: i32) -> Told {
    let machine = this_machine(&World::with_collection()).machine_id;
    let before = std::fs::read(world.path(MEMORY)).unwrap();
    let Ran { code: found, stdout, stderr } = world.run(line);
    assert_eq!((found, stdout.as_str()), (code, ""), "{stderr}");
    let after = std::fs::read(world.path(MEMORY)).unwrap();
    // Behind the slots stands who held the lock last.
    assert!(after[..slot::FILE] == before[..slot::FILE], "the memory was changed");
    assert_eq!(whole_items(&open(world)), [""; 0]);
    assert_eq!(staged(&world.path("archive")), [""; 0]);
    Told(stderr.replace(&machine, "[MACHINE]"))
}

#[test]
fn from_the_future() {
    let world = world_with_file();
    mint(&world, &this_machine(&world), "9998-01-01T00:00:00Z");
    let ran = world.run("-c archive new a.txt");
    let mut lines: Vec<_> = ran.stderr.lines().map(str::to_owned).collect();
    // Only these depend on the time of the test.
    for line in &mut lines {
        *line = without_digits_but(line, "9998/01.01.00");
    }
    same(
        &lines.join("\n"),
        str![[r#"
error: no identifier was issued: the clock is # d # h behind the last identifier of `example.org/archive`
caused by: last identifier 9998/01.01.00.#, clock #/# (UTC)
hint: correct the clock; if it is right, a clock that was ahead has issued the last identifier: go on under another `port` in `urepo.toml`
"#]],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (24, ""));
    assert_eq!(world.run("-c archive mint").code, 24);
    assert_eq!(world.run("UREPO_MAX_WAIT=1d -c archive mint").code, 24);
    assert_eq!(staged(&world.path("archive")), [""; 0]);
}

/// Writes `#` for each number but the one kept.
fn without_digits_but(text: &str, kept: &str) -> String {
    let hide = |text: &str| {
        let mut hidden = String::new();
        for character in text.chars() {
            match character {
                '0'..='9' if hidden.ends_with('#') => {}
                '0'..='9' => hidden.push('#'),
                other => hidden.push(other),
            }
        }
        // A clock at a full minute or second has fewer parts.
        while hidden.contains("#.#") {
            hidden = hidden.replace("#.#", "#");
        }
        hidden
    };
    if kept.is_empty() {
        return hide(text);
    }
    text.split(kept).map(hide).collect::<Vec<_>>().join(kept)
}

#[test]
fn long_before_the_clock() {
    let world = world_with_file();
    mint(&world, &this_machine(&world), "1996-05-01T12:00:00Z");
    let ran = world.run("-c archive new a.txt");
    let stderr = without_digits_but(&ran.stderr, "1996/05.01.12");
    same(
        &stderr,
        str![[r#"
error: no identifier was issued: the clock is # d # h ahead of the last identifier, 1996/05.01.12.#; one from a wrong future would block all others until then
hint: correct the clock; if it is right, repeat with `--force clock`

"#]],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_eq!(staged(&world.path("archive")), [""; 0]);
    assert_eq!(world.run("-c archive new a.txt --force clock").code, 0);
}

#[test]
fn with_a_long_granularity() {
    let world = world_with_file();
    world.set_granularity("archive", "60");
    let line = "UREPO_MAX_WAIT=0 -c archive mint";
    // The second name of a minute has to wait; a minute may end between two runs, not always.
    let ran = (0..5).map(|_| world.run(line)).find(|ran| ran.code == 24).unwrap();
    let newest = ran.stderr.split("last identifier ").nth(1).unwrap();
    let newest = &newest[..newest.find(',').unwrap()];
    let stderr = without_digits_but(&ran.stderr.replace(newest, "[LAST]"), "");
    same(
        &stderr,
        str![[r#"
error: no identifier was issued: the next one of `example.org/archive` is # s away
caused by: last identifier [LAST], clock [LAST].# (UTC)
hint: wait with `UREPO_MAX_WAIT=#s`, or set `granularity = "auto"` in `urepo.toml`

"#]],
    );
    assert_eq!(ran.stdout, "");
}

#[test]
fn from_another_machine() {
    let world = world_with_file();
    std::fs::remove_file(world.path(MEMORY)).unwrap();
    let other = Agent { machine_id: "other-id".into(), ..agent() };
    mint(&world, &other, "2026-01-01T00:00:00Z");
    keeps_memory(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: no identifier was issued: the memory of `example.org/archive` is that of another machine
caused by: it was written as `other-id`, this is `[MACHINE]`
hint: give this machine a `[[subsystem]]` of its own in `urepo.toml`, with `machine = "[MACHINE]"` and another `host` or `port`; a machine without a lasting `/etc/machine-id`, such as a container, needs `UREPO_MACHINE_ID`

"#]]);
    keeps_memory(&world, "-c archive mint", 1).tells(str![[r#"
error: no identifier was issued: the memory of `example.org/archive` is that of another machine
caused by: it was written as `other-id`, this is `[MACHINE]`
hint: give this machine a `[[subsystem]]` of its own in `urepo.toml`, with `machine = "[MACHINE]"` and another `host` or `port`; a machine without a lasting `/etc/machine-id`, such as a container, needs `UREPO_MACHINE_ID`

"#]]);
    // The hint, followed: each machine has its own, without a word on the command line.
    let machine = this_machine(&World::with_collection()).machine_id;
    let settings = world.path("archive/urepo.toml");
    let before = std::fs::read_to_string(&settings).unwrap();
    let own = format!("\n[[subsystem]]\nhost = 'two.example.org'\nmachine = '{machine}'\n");
    std::fs::write(&settings, before.clone() + &own).unwrap();
    assert!(world.run("-c archive mint").succeeded().starts_with("example.org/two/"));
    world.run("-c archive new a.txt").succeeded();
    mint(&world, &other, "2026-01-02T00:00:00Z");
    assert!(world.run("-c archive mint").succeeded().starts_with("example.org/two/"));
    std::fs::write(&settings, before).unwrap();
    assert_eq!(world.run("-c archive recover --restored").code, 0);
    assert_eq!(world.run("-c archive mint").code, 0);
}

#[test]
fn of_another_prefix() {
    let world = world_with_file();
    assert_eq!(world.run("init maps --host maps.example.org").code, 0);
    assert_eq!(world.run("-c maps mint").code, 0);
    let other = world.path("maps/.urepo/memory/example.org+maps");
    std::fs::copy(other, world.path(MEMORY)).unwrap();
    keeps_memory(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: no identifier was issued: the memory of `example.org/archive` is that of `example.org/maps`
hint: put the file back from a backup, or remove it: the next command goes on above all items

"#]]);
}

#[test]
fn of_a_newer_format() {
    let world = world_with_file();
    assert_eq!(world.run("-c archive mint").code, 0);
    let mut bytes = std::fs::read(world.path(MEMORY)).unwrap();
    let record = slot::decode(&bytes[..slot::SLOT]).unwrap();
    let mut later = slot::encode(&record);
    let seal = slot::SLOT - "sha256 ".len() - 64 - 1;
    later["urepo-memory ".len()] = b'2';
    let line = format!("sha256 {}\n", Digest::of(&later[..seal]));
    later[seal..].copy_from_slice(line.as_bytes());
    bytes[..slot::SLOT].copy_from_slice(&later);
    std::fs::write(world.path(MEMORY), bytes).unwrap();
    refuses(&world, "-c archive status --machine", 1).tells(str![[r#"
error: no identifier was issued: the memory of `example.org/archive` was written by a newer urepo
hint: use that version, or a later one

"#]]);
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: no identifier was issued: the memory of `example.org/archive` was written by a newer urepo
hint: use that version, or a later one

"#]]);
}

/// A memory that is lost does not stop the archive: the names on disk stand in for it.
#[test]
fn damaged_or_missing() {
    let world = world_with_file();
    let first = world.run("-c archive new a.txt").line();
    let mut newest = first.strip_prefix("example.org/archive/").unwrap().to_owned();
    let mut names = vec![first.clone()];
    let mut goes_on = |stderr: Inline| {
        let ran = world.run("-c archive new a.txt");
        same(&ran.stderr.replace(&newest, "[NEWEST]"), stderr);
        assert_eq!(ran.code, 0);
        let name = ran.stdout.trim().to_owned();
        newest = name.strip_prefix("example.org/archive/").unwrap().to_owned();
        assert!(!names.contains(&name), "{name} was given twice");
        names.push(name);
        assert_eq!(whole_items(&open(&world)), names, "in the order in which they were given");
    };
    world.write(MEMORY, "\x01garbage\n".repeat(1000));
    goes_on(str![[r#"
warning: the memory of `example.org/archive` is damaged; going on above its newest identifier, [NEWEST]

"#]]);
    std::fs::remove_file(world.path(MEMORY)).unwrap();
    goes_on(str![[r#"
warning: the memory of `example.org/archive` is missing; going on above its newest identifier, [NEWEST]

"#]]);
    // The write of the last record was cut short: the one before is still good.
    let mut bytes = std::fs::read(world.path(MEMORY)).unwrap();
    let newer = if slot::decode(&bytes[..slot::SLOT]).unwrap().sequence == 2 { 0 } else { 4096 };
    bytes[newer + 100..newer + slot::SLOT].fill(0);
    std::fs::write(world.path(MEMORY), bytes).unwrap();
    goes_on(str![]);
    std::fs::write(world.path(MEMORY), "").unwrap();
    goes_on(str![[r#"
warning: the memory of `example.org/archive` is missing; going on above its newest identifier, [NEWEST]

"#]]);
}

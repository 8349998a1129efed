//! Several collections at once.

use super::*;

/// A backup brought back an item that was deleted. The hint deletes it again.
#[test]
fn an_original_that_is_deleted_elsewhere_can_stay_deleted() {
    let world = world();
    copy(&world, NAME);
    world.run(&format!("-c backup delete --force last --yes {NAME}")).succeeded();
    copy_item(&world.path("archive"), &world.path("backup"), OTHER, delete_it);
    let told = world.run("status");
    let line = format!("behind\t{OTHER}\t\t1 Original in main is older than what safe has\n");
    assert!(told.stdout.contains(&line), "{}", told.stdout);
    world.run("-c archive recover --with backup --yes").succeeded();
    assert!(!world.run("status").stdout.contains("behind"));
}

#[test]
fn an_original_that_migrated_to_an_unknown_collection_is_not_lost() {
    let world = world();
    copy(&world, NAME);
    world.run("-q init new --host new.example.org").succeeded();
    world.run(&format!("-c archive migrate {NAME} --to new")).succeeded();
    assert!(!world.run("status").stdout.contains(NAME));
}

#[test]
fn a_collection_that_is_not_there_makes_the_answer_incomplete() {
    let world = world();
    copy(&world, NAME);
    wish(&world, "archive", 0);
    std::fs::rename(world.path("backup"), world.path("unmounted")).unwrap();
    tells(
        &world.run("status"),
        3,
        str![[r#"
main	[WORLD]/archive	2 Originals	0 Copies	10	never read
safe	[WORLD]/backup	not opened

"#]],
        str![[r#"
warning: the collection `safe` cannot be opened: `[WORLD]/backup` is not a collection
error: `safe` not opened
hint: `urepo status --settings` shows where the collections should be

"#]],
    );
    tells(
        &world.run("status -q"),
        3,
        str![[""]],
        str![[r#"
error: `safe` not opened
hint: `urepo status --settings` shows where the collections should be

"#]],
    );
    tells(
        &world.run(&format!("status {NAME}")),
        0,
        str![""],
        str![[r#"
warning: the collection `safe` cannot be opened: `[WORLD]/backup` is not a collection
1 item: all agree

"#]],
    );
    let told = records(&world.run(&format!("status --json {NAME}")));
    let end = told.last().unwrap();
    assert_eq!((&end["complete"], &end["missing"]), (&json!(false), &json!(["safe"])));
    // What is asked for on the command line has to be there.
    assert_eq!(world.run("status --with backup").code, 10);
    assert_eq!(world.run("status -c backup").code, 10);
    assert_eq!(world.run("status -c safe").code, 10);
    // Elsewhere it is the same one.
    assert_eq!(world.run("status --with unmounted").code, 3);
    world.run(&format!("status --with unmounted {NAME}")).succeeded();
}

#[test]
fn a_collection_is_counted_once() {
    let world = world();
    copy(&world, NAME);
    copy(&world, OTHER);
    wish(&world, "archive", 0);
    // By its name, as the one that is meant, by two paths.
    let ran = world.run("-c archive status --with archive --with ./backup/ --with main");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "2 items: all agree\n"));
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    let mut command = world.command(["status"]);
    command.current_dir(world.path("backup"));
    let ran = world.finish(command);
    assert!(ran.stdout.starts_with("safe\t"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    // A clone has nothing to say.
    std::fs::create_dir(world.path("clone")).unwrap();
    std::fs::create_dir(world.path("clone/.urepo")).unwrap();
    std::fs::copy(world.path("backup/urepo.toml"), world.path("clone/urepo.toml")).unwrap();
    tells(
        &world.run("status --with clone"),
        0,
        str![[r#"
main	[WORLD]/archive	2 Originals	0 Copies	10	never read
safe	[WORLD]/backup	0 Originals	2 Copies	10	never read

"#]],
        str![[r#"
warning: `[WORLD]/clone` is a backup of `[WORLD]/backup` and is left aside
2 items: all agree

"#]],
    );
}

#[test]
fn items_are_found_by_any_spelling_in_any_collection() {
    let world = world();
    world.run("init maps --host maps.example.org --ip 192.0.2.7").succeeded();
    world.write("map.png", "a map");
    let made = records(&world.run("-c maps new map.png --json"));
    let (name, ibip) = (made[0]["id"].as_str().unwrap(), made[0]["ibip"].as_str().unwrap());
    for text in [name, &name.to_uppercase(), ibip, name.rsplit('/').next().unwrap()] {
        let ran = world.run(&format!("status --with maps {text}"));
        assert!(ran.stdout.starts_with(&format!("few-copies\t{name}\t")), "{text}: {}", ran.stdout);
        assert_eq!(world.run(&format!("status {text}")).code, 21, "{text}");
    }
    // The end of a name that means one item here and another there means none.
    let twin = "example.org/maps/2026/11.21.02.13";
    copy(&world, NAME);
    let to = world.path("backup").join(twin);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(world.path("backup").join(NAME), to).unwrap();
    change_item(&world.path("backup"), twin, |sidecar| {
        sidecar.repository = twin.parse().unwrap();
    });
    tells(
        &world.run("status 11.21.02.13"),
        21,
        str![[""]],
        str![[r#"
error: `11.21.02.13` is the end of 2 identifiers
  example.org/archive/2026/11.21.02.13
  example.org/maps/2026/11.21.02.13
hint: type more of the identifier

"#]],
    );
}

#[test]
fn records_say_the_same() {
    let world = world();
    copy(&world, NAME);
    make_newer(&world, NAME);
    let ran = world.run("status --json");
    let told = records(&ran);
    assert_eq!(ran.code, 3);
    let kinds: Vec<_> = told.iter().map(|record| record["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["finding", "finding", "collection", "collection", "summary"]);
    assert!(told.iter().all(|record| record["version"] == 1));
    // The Copy that is older is also one too few: the gravest is told.
    assert_eq!((&told[0]["id"], &told[0]["kind"]), (&json!(NAME), &json!("behind")));
    assert_eq!(
        (&told[0]["severity"], &told[1]["severity"]),
        (&json!("warning"), &json!("warning"))
    );
    assert_eq!(told[0]["collections"], json!(["backup", "archive"]));
    assert_eq!(told[0]["collection_ids"][0], open(&world, "backup").settings().id);
    let words = "older: 1 Copy in safe is older than the Original";
    assert_eq!(told[0]["message"], words);
    assert_eq!(told[0]["hint"], format!("urepo -c safe copy {NAME} --from main"));
    assert_eq!(told[0]["remedies"][0]["row"], "7g");
    assert_eq!((&told[1]["id"], &told[1]["kind"]), (&json!(OTHER), &json!("few-copies")));
    assert_eq!((&told[1]["copies"], &told[1]["copies_wanted"]), (&json!(0), &json!(1)));
    assert_eq!(
        (&told[2]["counts"]["originals"], &told[3]["counts"]["copies"]),
        (&json!(2), &json!(1))
    );
    assert_eq!((&told[2]["path"], &told[2]["complete"]), (&json!("[WORLD]/archive"), &json!(true)));
    let summary = &told[4];
    assert_eq!((&summary["counts"]["items"], &summary["exit_code"]), (&json!(2), &json!(3)));
    assert_eq!(
        (&summary["counts"]["few_copies"], &summary["counts"]["behind"]),
        (&json!(1), &json!(1))
    );
    assert_eq!((&summary["complete"], &summary["missing"]), (&json!(true), &json!([])));

    // What each collection has of an item, `show` says.
    let told = records(&world.run(&format!("-c main show --json {NAME}")));
    let held = told[0]["held_by"].as_array().unwrap();
    let standings: Vec<_> = held.iter().map(|record| &record["standing"]).collect();
    assert_eq!(standings, [&json!("original"), &json!("behind")]);
    assert_eq!((&held[1]["state"], &held[1]["collection"]), (&json!("Copy"), &json!("backup")));
    assert_eq!(held[1]["path"], format!("[WORLD]/backup/{NAME}"));
    assert_eq!((&held[1]["bytes"], &held[1]["sealed"]), (&json!(5), &json!(true)));
    let ran = world.run("status --json example.org/archive/1999/01.01.00.00");
    let told = records(&ran);
    assert_eq!((ran.code, &told.last().unwrap()["exit_code"]), (21, &json!(21)));
    assert_eq!(told[0]["id"], "example.org/archive/1999/01.01.00.00");
}

#[test]
fn many_of_one_kind_have_one_command() {
    let world = world();
    wish(&world, "archive", 0);
    let backup = open(&world, "backup");
    for at in 0..7 {
        let source = world.write(&format!("{at}.txt"), "alpha");
        let clock = TestClock::at(&format!("2026-11-21T03:0{at}:00Z"));
        deposit(&backup, vec![request(source)], options(), &clock, |_| ()).unwrap();
    }
    let told = world.run("status");
    assert_eq!(told.code, 3, "{}", told.stderr);
    assert_eq!(told.stdout.matches("few-copies\t").count(), 7, "{}", told.stdout);
    // Together they have one command.
    assert_eq!(
        told.stderr,
        "error: 7 of 9 items need attention\nhint: no Copy: urepo -c safe copy --all --to main\n"
    );
    assert_eq!(records(&world.run("status --json")).len(), 7 + 2 + 1);
}

/// Each of them has two Copies.
#[test]
fn items_with_several_concerns_of_one_kind_are_told_once() {
    let world = World::with_collection();
    for at in 0..4 {
        let source = world.write(&format!("{at}.txt"), "alpha");
        world.run_args(["-c", "archive", "new", source.to_str().unwrap()]).succeeded();
    }
    let mut settings = "[collections]\n".to_owned();
    for root in ["one", "two"] {
        world.run(&format!("init {root} --host {root}.example.org")).succeeded();
        world.run(&format!("-c archive copy --all --to {root}")).succeeded();
        settings += &format!("{root} = \"{}\"\n", world.path(root).display());
    }
    std::fs::create_dir_all(world.path(".config/urepo")).unwrap();
    world.write(".config/urepo/config.toml", settings);
    let told = world.run("status").stdout;
    assert_eq!(told.matches("orphan\texample.org/archive/").count(), 4, "{told}");
    assert!(told.contains("1 Copy in one and two, whose Original is in no collection"), "{told}");
}

/// A name is chosen freely; two machines may choose the same one. Those of the settings are a person's own.
#[test]
fn collections_are_called_as_the_settings_or_their_paths_tell_them_apart() {
    let world = world();
    copy(&world, NAME);
    make_newer(&world, NAME);
    wish(&world, "archive", 0);
    let path = "backup/urepo.toml";
    let text = std::fs::read_to_string(world.path(path)).unwrap();
    world.write(path, text.replace("name = \"backup\"", "name = \"archive\""));
    let told_with = |called: [&str; 2]| {
        let told = world.run("status --with archive --with backup");
        let [from, to] = called;
        assert!(told.stdout.contains(&format!("1 Copy in {to} is older")), "{}", told.stdout);
        let hint = format!("older: urepo -c {to} copy {NAME} --from {from}\n");
        assert!(told.stderr.contains(&hint), "{}", told.stderr);
    };
    told_with(["main", "safe"]);
    world.write(".config/urepo/config.toml", "");
    told_with(["[WORLD]/archive", "[WORLD]/backup"]);
}

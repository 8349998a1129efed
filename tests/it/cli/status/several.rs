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
    let line = format!("Original in `archive` is behind: {OTHER}\n");
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
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
safe     [WORLD]/backup   not opened

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
        str![[r#"
Original	original	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.13

"#]],
        str![[r#"
warning: the collection `safe` cannot be opened: `[WORLD]/backup` is not a collection

"#]],
    );
    let told = records(&world.run(&format!("status --json {NAME}")));
    assert_eq!((&told[1]["complete"], &told[1]["missing"]), (&json!(false), &json!(["safe"])));
    // What is asked for on the command line has to be there.
    assert_eq!(world.run("status --with backup").code, 10);
    assert_eq!(world.run("status -c backup").code, 10);
    assert_eq!(world.run("status -c safe").code, 10);
    // Elsewhere it is the same one.
    assert_eq!(world.run("status --with unmounted").code, 3);
    let told = world.run(&format!("status --with unmounted {NAME}"));
    assert_eq!(told.succeeded().lines().count(), 2, "{}", told.stdout);
}

#[test]
fn a_collection_is_counted_once() {
    let world = world();
    copy(&world, NAME);
    copy(&world, OTHER);
    wish(&world, "archive", 0);
    // By its name, as the one that is meant, by two paths.
    let ran = world.run("-c archive status --with archive --with ./backup/ --with main");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "2 items: all as it should be\n"));
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    let mut command = world.command(["status"]);
    command.current_dir(world.path("backup"));
    let ran = world.finish(command);
    assert!(ran.stdout.starts_with("backup "), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    // A clone has nothing to say.
    std::fs::create_dir(world.path("clone")).unwrap();
    std::fs::create_dir(world.path("clone/.urepo")).unwrap();
    std::fs::copy(world.path("backup/urepo.toml"), world.path("clone/urepo.toml")).unwrap();
    tells(
        &world.run("status --with clone"),
        0,
        str![[r#"
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   0 Original  2 Copy  0 Deleted       10 B

"#]],
        str![[r#"
warning: `[WORLD]/clone` is a backup of `[WORLD]/backup` and is left aside
2 items: all as it should be

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
    let line = format!("Original\toriginal\tmaps\t[WORLD]/maps/{name}");
    for text in [name, &name.to_uppercase(), ibip, name.rsplit('/').next().unwrap()] {
        assert_eq!(world.run(&format!("status --with maps {text}")).line(), line, "{text}");
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
    let expected =
        ["concern", "concern", "concern", "collection", "collection", "remedy", "summary"];
    assert_eq!(kinds, expected);
    assert!(told.iter().all(|record| record["version"] == 1));
    assert_eq!((&told[0]["id"], &told[0]["kind"]), (&json!(NAME), &json!("few-copies")));
    assert_eq!((&told[0]["copies"], &told[0]["copies_wanted"]), (&json!(0), &json!(1)));
    assert_eq!((&told[1]["kind"], &told[1]["collections"]), (&json!("behind"), &json!(["backup"])));
    assert_eq!(told[1]["collection_ids"][0], open(&world, "backup").settings().id);
    assert_eq!((&told[2]["id"], &told[2]["weight"]), (&json!(OTHER), &json!("lack")));
    assert_eq!(
        (&told[3]["counts"]["originals"], &told[4]["counts"]["copies"]),
        (&json!(2), &json!(1))
    );
    assert_eq!((&told[3]["path"], &told[3]["complete"]), (&json!("[WORLD]/archive"), &json!(true)));
    assert_eq!((&told[5]["row"], &told[5]["id"]), (&json!("7g"), &json!(NAME)));
    let summary = &told[6];
    assert_eq!((&summary["counts"]["items"], &summary["exit_code"]), (&json!(2), &json!(3)));
    assert_eq!(
        (&summary["counts"]["few_copies"], &summary["counts"]["behind"]),
        (&json!(2), &json!(1))
    );
    assert_eq!((&summary["complete"], &summary["missing"]), (&json!(true), &json!([])));

    let told = records(&world.run(&format!("status --json {NAME}")));
    let standings: Vec<_> = told.iter().map(|record| &record["standing"]).collect();
    assert_eq!(standings, [&json!("original"), &json!("behind"), &json!("behind"), &json!(null)]);
    let holding = &told[1];
    assert_eq!((&holding["type"], &holding["id"]), (&json!("holding"), &json!(NAME)));
    assert_eq!((&holding["state"], &holding["collection"]), (&json!("Copy"), &json!("backup")));
    assert_eq!(holding["path"], format!("[WORLD]/backup/{NAME}"));
    assert_eq!((&holding["bytes"], &holding["sealed"]), (&json!(5), &json!(true)));
    assert_eq!((&told[3]["counts"]["holdings"], &told[3]["exit_code"]), (&json!(2), &json!(0)));
    let ran = world.run("status --json example.org/archive/1999/01.01.00.00");
    let told = records(&ran);
    assert_eq!((ran.code, &told[1]["exit_code"]), (21, &json!(21)));
    assert_eq!(told[0]["id"], "example.org/archive/1999/01.01.00.00");
}

#[test]
fn many_of_one_kind_are_counted() {
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
    assert_eq!(told.stdout.matches("0 of 1 Copy: ").count(), 5, "{}", told.stdout);
    let rest = "2 more: items with too few Copies; `-v` names each\n";
    assert!(told.stdout.contains(rest), "{}", told.stdout);
    assert!(told.stderr.contains("error: 7 items with too few Copies"), "{}", told.stderr);
    let told = world.run("status -v").stdout;
    assert_eq!((told.matches("0 of 1 Copy: ").count(), told.contains("more")), (7, false));
    assert_eq!(records(&world.run("status --json")).len(), 7 + 2 + 1);
}

/// Each of them has two Copies.
#[test]
fn items_with_several_concerns_of_one_kind_are_counted() {
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
    assert_eq!(told.matches(": example.org/archive/").count(), 5, "{told}");
    assert!(told.contains("3 more: "), "{told}");
}

/// A name is chosen freely; two machines may choose the same one.
#[test]
fn collections_of_one_name_are_told_by_their_paths() {
    let world = world();
    copy(&world, NAME);
    make_newer(&world, NAME);
    wish(&world, "archive", 0);
    let path = "backup/urepo.toml";
    let text = std::fs::read_to_string(world.path(path)).unwrap();
    world.write(path, text.replace("name = \"backup\"", "name = \"archive\""));
    let told = world.run("status");
    let line = format!("Copy in `[WORLD]/backup` is behind: {NAME}\n");
    assert!(told.stdout.contains(&line), "{}", told.stdout);
    let hint = format!("`urepo -c [WORLD]/backup copy {NAME} --from [WORLD]/archive`");
    assert!(told.stderr.contains(&hint), "{}", told.stderr);
}

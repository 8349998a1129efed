//! `verify` over several collections and in rounds, as it is typed.

use serde_json::json;
use snapbox::str;

use super::{leaf, records, world_with_item};
use crate::support::{Ran, World, change_item, copy_tree, forget, make_collection};

/// A world with the collections `archive` and `mirror`, and an Original in the first.
fn two() -> (World, String) {
    let (world, name) = world_with_item();
    world.run("init mirror --host mirror.example.org --name Mirror").succeeded();
    (world, name)
}

/// Copies an item to the mirror by hand, with another state.
fn mirror(world: &World, name: &str, state: &str) {
    let from = world.path("archive").join(name);
    for entry in walkdir::WalkDir::new(&from) {
        let entry = entry.unwrap();
        let to = world.path("mirror").join(name).join(entry.path().strip_prefix(&from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(to).unwrap();
        } else {
            let time = entry.metadata().unwrap().modified().unwrap();
            std::fs::copy(entry.path(), &to).unwrap();
            std::fs::File::open(to).unwrap().set_modified(time).unwrap();
        }
    }
    let path = format!("mirror/{name}/item.toml");
    let text = std::fs::read_to_string(world.path(&path)).unwrap();
    let (text, _) = text.rsplit_once("[seal]\n").unwrap();
    let text = text.replace("state = \"Original\"", &format!("state = \"{state}\""));
    let seal = urepo::digest::Digest::of(text.as_bytes());
    world.write(&path, format!("{text}[seal]\nsha256 = \"{seal}\"\n"));
    if state == "Original" {
        change_item(&world.path("mirror"), name, |_| ());
    }
    // What was copied in by hand is reported until it is recorded.
    world.run("-c mirror recover").succeeded();
}

#[track_caller]
fn same(actual: &str, name: &str, expected: snapbox::data::Inline) {
    let assert = snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    assert.normalize_paths(false).eq(actual.replace(name, "[NAME]"), expected);
}

#[test]
fn collections_that_agree() {
    let (world, name) = two();
    mirror(&world, &name, "Copy");
    let ran = world.run("verify archive mirror");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let told =
        "verified 2 items, 2 files, 10 B, and compared 1 identifier in 2 collections: no damage\n";
    assert_eq!(ran.stderr, told);
    // A root that is named twice is one.
    let ran = world.run("verify archive ./archive archive/");
    assert_eq!(ran.stderr, "verified 1 item, 1 file, 5 B: no damage\n");
    assert_eq!(world.run("-q verify --quick archive mirror").stderr, "");
}

#[test]
fn collections_are_named_as_in_the_settings() {
    let (world, _) = two();
    world.write(".config/urepo/config.toml", "[collections]\nours = \"../../archive\"\n");
    let ran = world.run("verify ours");
    assert_eq!(ran.stderr, "verified 1 item, 1 file, 5 B: no damage\n");
    let ran = world.run("verify ours mirror");
    assert!(ran.stderr.contains("compared 1 identifier in 2 collections"), "{}", ran.stderr);
}

#[test]
fn collections_that_contradict_each_other() {
    let (world, name) = two();
    mirror(&world, &name, "Original");
    let ran = world.run("verify archive mirror");
    assert_eq!(ran.code, 20);
    let found = "damage\t[NAME]\t\tarchive: an item is older than what the ledger, or another collection, \
                 says of it: the Original has moved on, as Mirror shows\tU113\n";
    assert_eq!(ran.stdout.replace(&name, "[NAME]"), found);
    same(
        &ran.stderr,
        &name,
        str![[r#"
error: 1 contradiction between the collections
hint: urepo -c [WORLD]/archive recover --with [WORLD]/mirror

"#]],
    );
    let ran = world.run("-q verify mirror/. archive/");
    assert!(ran.stdout.starts_with("damage\t"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
}

#[test]
fn warnings_are_no_damage() {
    let (world, name) = two();
    mirror(&world, &name, "Copy");
    world.run("init third --host third.example.org").succeeded();
    let ran = world.run("verify mirror third");
    assert_eq!(ran.code, 0);
    let found = "warning\t[NAME]\t\tits Original is in no collection that was compared; it is in the \
                 collection with the id ";
    assert!(ran.stdout.replace(&name, "[NAME]").starts_with(found), "{}", ran.stdout);
    assert_eq!(world.run("-q verify mirror third").stdout, "");
    // A Copy alone is nothing to wonder about.
    assert_eq!(world.run("verify mirror").stdout, "");
    std::fs::remove_dir_all(world.path("third")).unwrap();
    crate::support::copy_tree(&world.path("archive"), &world.path("third"));
    let ran = world.run("verify archive third");
    let found = "warning\t\turepo.toml\t[WORLD]/third: two roots are one collection, ";
    assert!(ran.code == 0 && ran.stdout.starts_with(found), "{}", ran.stdout);
}

#[test]
fn damage_is_told_with_its_collection_where_there_are_several() {
    let (world, name) = two();
    mirror(&world, &name, "Copy");
    world.write(&format!("mirror/{name}/doc/a.txt"), "Alpha");
    let ran = world.run("verify archive mirror");
    assert_eq!(ran.code, 20);
    let begin = format!("damage\t{name}\ta.txt\tMirror: bytes are not those deposited\tU204");
    assert!(ran.stdout.starts_with(&begin), "{}", ran.stdout);
    same(
        &ran.stderr,
        &name,
        str![[r#"
error: 1 of 2 items damaged
hint: urepo -c [WORLD]/mirror repair [NAME] --from [WORLD]/archive

"#]],
    );
    let ran = world.run("verify mirror");
    assert!(ran.stdout.starts_with(&format!("damage\t{name}\ta.txt\t")));
}

#[test]
fn records_name_the_collection() {
    let (world, name) = two();
    mirror(&world, &name, "Original");
    forget(&world.path("mirror"), &name);
    assert!(world.run("verify mirror").stdout.starts_with("warning\t"));
    world.run("-c mirror recover").succeeded();
    assert_eq!(world.run("verify mirror").stdout, "");
    let ran = world.run("verify archive mirror --json");
    assert_eq!(ran.code, 20);
    let told = records(&ran);
    let kinds: Vec<_> = told.iter().map(|record| record["type"].as_str().unwrap()).collect();
    let summaries = ["collection", "collection", "finding", "summary"];
    assert_eq!(kinds[..3], ["item", "item", "finding"]);
    assert_eq!(kinds[3..], summaries);
    let roots = ["archive", "mirror", "archive", "archive", "mirror"];
    for (at, root) in roots.into_iter().enumerate() {
        let path = if at < 3 { "collection_path" } else { "path" };
        assert_eq!(told[at][path], format!("[WORLD]/{root}"), "{}", told[at]);
        let collection = urepo::collection::Collection::open(
            &world.path(root),
            &urepo::disk::Watcher::default(),
        );
        let id = collection.unwrap().settings().id.clone();
        assert_eq!(&told[at]["collection_id"], &json!(id), "{}", told[at]);
    }
    assert_eq!((&told[2]["code"], &told[2]["id"]), (&json!("U113"), &json!(name)));
    let end = &told[6];
    for (what, count) in [
        ("collections", 2),
        ("compared", 1),
        ("contradictions", 1),
        ("items", 2),
        ("damaged", 0),
        ("skipped", 0),
    ] {
        assert_eq!(end["counts"][what], count, "{what}: {end}");
    }
    assert_eq!((&end["complete"], &end["exit_code"]), (&json!(true), &json!(20)));
    assert!(end.get("round").is_none(), "{end}");
    let told = records(&world.run("-c archive verify --json"));
    assert_eq!(told.len(), 2);
    assert!(told[1]["counts"].get("compared").is_none(), "{}", told[1]);
    assert!(told.iter().all(|record| record["collection_path"] == "[WORLD]/archive"));
}

#[test]
fn rounds_go_on_from_run_to_run() {
    let (world, first) = world_with_item();
    let second = world.run("-c archive new a.txt").line();
    let items = |line: &str| {
        let ran = world.run(&format!("-c archive verify --json {line}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let mut told = records(&ran);
        let end = told.pop().unwrap();
        let names: Vec<_> =
            told.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
        (names, end["round"].clone(), end["counts"]["skipped"].as_u64().unwrap())
    };
    let one = "-j 1 --time-limit 0s";
    assert_eq!(items(one), (vec![first.clone()], json!("open"), 0));
    assert_eq!(items(one), (vec![second.clone()], json!("complete"), 1));
    assert_eq!(items("--time-limit 1h").0, [first, second]);
}

#[test]
fn rounds_say_what_the_next_run_will_do() {
    let (world, _) = world_with_item();
    world.run("-c archive new a.txt").line();
    let told = |line: &str| {
        let ran = world.run(&format!("-c archive verify -j 1 {line}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{line}");
        ran.stderr
    };
    snapbox::assert_data_eq!(
        told("--time-limit 0s"),
        str![[r#"
verified 1 item, 1 file, 5 B: no damage
time is up; the next run continues from here

"#]]
    );
    snapbox::assert_data_eq!(
        told("--time-limit 5h"),
        str![[r#"
verified 1 item, 1 file, 5 B: no damage; 1 item skipped, verified earlier in this round
the round is complete; the next run begins another

"#]]
    );
    assert_eq!(told("-q --time-limit 0"), "");
    // Where nothing can be noted there are no rounds.
    std::fs::remove_file(world.path("archive/.urepo/round")).unwrap();
    world.write("archive/.urepo/round/file", "");
    snapbox::assert_data_eq!(
        told("--time-limit 0"),
        str![[r#"
verified 1 item, 1 file, 5 B: no damage
time is up; `[WORLD]/archive/.urepo/round` cannot be written: the next run begins where this one did

"#]]
    );
}

#[test]
fn damage_ends_a_run_that_is_out_of_time_with_20() {
    let (world, name) = world_with_item();
    world.run("-c archive new a.txt").line();
    world.write(&format!("archive/{name}/doc/a.txt"), "Alpha");
    let ran = world.run("-c archive verify -j 1 --time-limit 0");
    assert_eq!(ran.code, 20);
    snapbox::assert_data_eq!(
        ran.stderr.replace(&name, "[NAME]"),
        str![[r#"
time is up; the next run continues from here
error: 1 of 1 item damaged
hint: urepo -c archive repair [NAME] --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss [NAME]

"#]]
    );
}

#[test]
fn each_collection_has_its_share_of_the_time() {
    let (world, name) = two();
    mirror(&world, &name, "Copy");
    world.run("-c archive new a.txt").line();
    let ran = world.run("verify -j 1 --time-limit 0 archive mirror");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    snapbox::assert_data_eq!(
        ran.stderr,
        str![[r#"
verified 2 items, 2 files, 10 B: no damage
[WORLD]/archive: time is up; the next run continues from here
[WORLD]/mirror: the round is complete; the next run begins another
there was no time left to compare the collections

"#]]
    );
}

/// Items that are named are verified, and have no rounds.
#[test]
fn single_items_have_no_rounds() {
    let (world, name) = world_with_item();
    assert_eq!(world.run(&format!("-c archive verify {}", leaf(&name))).code, 0);
    assert_eq!(world.run("-c archive verify --quick").code, 0);
    assert!(!world.path("archive/.urepo/round").exists());
    for flags in [
        format!("--time-limit 5h {name}"),
        format!("--prefix example.org/archive {name}"),
        "--quick --time-limit 5h".to_owned(),
        "--time-limit soon".to_owned(),
    ] {
        assert_eq!(world.run(&format!("-c archive verify {flags}")).code, 2, "{flags}");
    }
}

/// `--quiet` hides no damage.
#[test]
fn items_that_vanished_are_counted() {
    let (world, name) = two();
    world.run("-c archive status").succeeded();
    std::fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    let by_name = format!("-q -c archive verify {name}");
    for verify in ["-q verify archive", "-q verify --quick archive", &by_name] {
        let ran = world.run(verify);
        assert!(ran.stdout.starts_with("damage\t"), "{}", ran.stdout);
        assert_eq!(ran.code, 20, "{verify}");
    }
    let ran = world.run("-q -c archive status");
    let line = format!(
        "vanished\t{name}\t\t1 item is gone from archive; no other collection in sight has it\n"
    );
    assert_eq!((ran.code, ran.stdout), (20, line));
    assert!(ran.stderr.contains("1 of 1 item needs attention"), "{}", ran.stderr);
}

/// A world with the directory of an item from before it was changed, which comes back.
struct Backup {
    world: World,
    name: String,
}

impl Backup {
    fn new() -> Backup {
        let (world, name) = world_with_item();
        make_collection(&world.path("mirror"));
        world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
        copy_tree(&world.path("archive").join(&name), &world.path("backup"));
        Backup { world, name }
    }

    /// Puts it back, and returns what `verify` says of it and its Copy.
    fn put_back(&self) -> Ran {
        let item = self.world.path("archive").join(&self.name);
        std::fs::remove_dir_all(&item).unwrap();
        copy_tree(&self.world.path("backup"), &item);
        self.world.run("verify archive mirror")
    }

    fn runs(&self, line: &str) {
        self.world.run(&line.replace("ITEM", &self.name)).succeeded();
    }
}

#[test]
fn an_original_from_a_backup_that_has_moved_on_becomes_what_it_is_by_now() {
    let backup = Backup::new();
    backup.runs("-c archive migrate ITEM --leave-copy --to mirror");
    let ran = backup.put_back();
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let hint = "urepo -c [WORLD]/archive recover --with [WORLD]/mirror";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    backup.runs("-c archive recover --with mirror -y");
    assert_eq!(backup.world.run("verify archive mirror").succeeded(), "");
}

#[test]
fn an_original_from_a_backup_gets_its_newer_contents_from_a_copy() {
    let backup = Backup::new();
    backup.runs("-c archive meta set ITEM creator=Archivist");
    backup.runs("-c archive copy ITEM --to mirror");
    let ran = backup.put_back();
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    backup.runs("-c archive repair ITEM --from mirror");
    let shown = backup.world.run(&format!("-c archive show {}", backup.name));
    assert!(shown.succeeded().contains("Archivist"), "{}", shown.stdout);
    assert_eq!(backup.world.run("verify archive mirror").succeeded(), "");
}

#[test]
fn damage_is_found_again_however_it_was_found() {
    for how in ["--quick", "{}", "--quick {}", "--since 2020", "--until 0d"] {
        let (world, name) = world_with_item();
        world.write("b.txt", "beta");
        let other = world.run("-c archive new b.txt").line();
        world.run("-c archive verify").succeeded();
        std::fs::remove_file(world.path(format!("archive/{name}/doc/a.txt"))).unwrap();
        let how = how.replace("{}", &name);
        let ran = world.run(&format!("-c archive verify --dry-run {how}"));
        assert_eq!(ran.code, 20, "{how}: {}", ran.stderr);
        assert!(!world.path("archive/.urepo/round").exists());
        assert_eq!(world.run(&format!("-c archive verify {how}")).code, 20);
        let note = std::fs::read_to_string(world.path("archive/.urepo/round")).unwrap();
        assert_eq!(note, format!("damaged {name}\n"), "{how}");
        world.run(&format!("-c archive verify {other}")).succeeded();
    }
}

//! `urepo repair` from outside: what it answers, how it ends, and what it says of what it refuses.

mod refusals;

use std::fs;

use serde_json::{Value, json};
use snapbox::data::Inline;
use snapbox::str;

use super::{copy_tree, digests_below, everything, flip};
use crate::support::{Ran, World, make_collection};

/// A world with a collection of one item, a backup of it, and the item's name.
fn world() -> (World, String) {
    let world = World::with_collection();
    world.write("dir/a.txt", "alpha");
    world.write("dir/b.txt", "beta");
    let name = world.run("-c archive new dir --title Letters").line();
    copy_tree(&world.path("archive"), &world.path("backup"));
    (world, name)
}

fn in_item(world: &World, root: &str, name: &str, file: &str) -> std::path::PathBuf {
    world.path(root).join(name).join(file)
}

/// What was told, with the name of the item hidden.
#[track_caller]
pub(super) fn tells(ran: &Ran, name: &str, code: i32, expected: Inline) {
    assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    let text = format!("{}{}", ran.stdout, ran.stderr).replace(name, "[NAME]");
    let assert = snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    assert.normalize_paths(false).eq(text, expected);
}

/// Runs a line that has to fail and to leave the item and everything else as it was.
#[track_caller]
fn refuses(world: &World, line: &str, name: &str, code: i32, expected: Inline) {
    let before = everything(&world.path(""));
    let ran = world.run(line);
    assert_eq!(everything(&world.path("")), before, "{line} changed something");
    tells(&ran, name, code, expected);
}

fn records(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The collection was put back from a backup: items that came after it are only in the mirror, and have no line here.
#[test]
fn items_that_are_newer_than_the_backup_come_back() {
    let (world, name) = world();
    world.run("init mirror --host mirror.example.org").succeeded();
    let newer = [0, 1].map(|_| world.run("-c archive new dir").line());
    let found_again = world.run("-c archive new dir").line();
    world.run("-c archive copy --all --to mirror").succeeded();
    // One of the mirror's own stays away; one that this collection gave up comes back.
    world.run("-c mirror new dir").line();
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    copy_tree(&world.path("backup"), &world.path("archive"));
    world.run("-c archive recover --restored").succeeded();
    let line = crate::support::line_with("loss", &found_again, None);
    crate::support::add_lines(&world.path("archive"), &[line]);
    assert_eq!(world.run("-c mirror copy --all --to archive").code, 3);
    assert_eq!(world.run(&format!("-c archive repair {}", newer[0])).code, 21);
    let one = world.run(&format!("-c archive repair {} --from mirror", newer[0]));
    assert!(one.succeeded().contains("state Original"), "{}", one.stdout);
    let planned = world.run("-c archive repair --from mirror --dry-run");
    assert!(planned.succeeded().contains(&format!("would restore {}", newer[1])));
    let all = world.run("-c archive repair --from mirror");
    assert_eq!(all.succeeded().lines().count(), 2, "{}", all.stdout);
    let list = world.run("-c archive list --state Original").stdout;
    assert_eq!(list.lines().collect::<Vec<_>>(), [&name, &newer[0], &newer[1], &found_again]);
    assert_eq!(world.run("-c archive verify").code, 0);
}

#[test]
fn tells_what_was_mended() {
    let (world, name) = world();
    tells(
        &world.run("-c archive repair --from backup"),
        &name,
        0,
        str![[r#"
nothing to repair in 1 item

"#]],
    );
    tells(
        &world.run(&format!("-c archive repair {name}")),
        &name,
        0,
        str![[r#"
nothing to repair in [NAME]

"#]],
    );
    let damage = || {
        flip(&in_item(&world, "archive", &name, "doc/a.txt"));
        fs::remove_file(in_item(&world, "archive", &name, "doc/b.txt")).unwrap();
        fs::write(in_item(&world, "archive", &name, "doc/added"), "added").unwrap();
    };
    damage();
    let dry = |line: &str| {
        let before = everything(&world.path(""));
        let ran = world.run(line);
        assert_eq!(everything(&world.path("")), before, "{line} changed something");
        ran
    };
    tells(
        &dry("-c archive repair -n --from backup"),
        &name,
        0,
        str![[r#"
would repair [NAME]:
  take doc/a.txt from [WORLD]/backup
  take doc/b.txt from [WORLD]/backup
  take out doc/added

"#]],
    );
    tells(
        &dry("-c archive repair -n"),
        &name,
        20,
        str![[r#"
would repair a part of [NAME]:
  no good copy of doc/a.txt
  no good copy of doc/b.txt
  take out doc/added
error: 1 item still damaged, 0 repaired
hint: `--from COLLECTION` names more collections; if none has it: `urepo -c archive recover --accept-loss ITEM`

"#]],
    );
    tells(
        &world.run("-c archive repair --quick --from backup"),
        &name,
        0,
        str![[r#"
repaired [NAME]: 2 files from [WORLD]/backup; 1 file taken out, kept in the trash

"#]],
    );
    world.run("-c archive verify").succeeded();
    let trash = digests_below(&world.path("archive/.urepo/trash"), |_| true);
    assert!(trash.contains(&urepo::digest::Digest::of(b"added")));
    // A silent run is silent.
    damage();
    let ran = world.run(&format!("-q -c archive repair {name} --from backup"));
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}

#[test]
fn named_collections_are_donors_unless_others_are_given() {
    let (world, name) = world();
    let config = "[collections]\nspare = \"../../backup\"\nhere = \"../../archive\"\n\
                  gone = \"../../gone\"\n";
    world.write(".config/urepo/config.toml", config);
    flip(&in_item(&world, "archive", &name, "doc/a.txt"));
    tells(
        &world.run("-v -c here repair"),
        &name,
        0,
        str![[r#"
repaired [NAME]: 1 file from [WORLD]/.config/urepo/../../backup
left out gone: `[WORLD]/.config/urepo/../../gone` is not a collection
`[WORLD]/.config/urepo/../../backup` is a backup of `[WORLD]/.config/urepo/../../archive`

"#]],
    );
    make_collection(&world.path("other"));
    flip(&in_item(&world, "archive", &name, "doc/a.txt"));
    assert_eq!(world.run("-c here repair --from other").code, 20);
    assert_eq!(world.run("-c here repair --from other --from spare").code, 0);
}

/// A known collection that holds the Original is seen, though the copies come from another one.
#[test]
fn known_collections_may_hold_the_original_whatever_is_given() {
    let (world, name) = world();
    world.write(".config/urepo/config.toml", "[collections]\nmirror = \"../../mirror\"\n");
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run(&format!("-c archive migrate {name} --to mirror --leave-copy")).succeeded();
    flip(&in_item(&world, "archive", &name, "doc/a.txt"));
    fs::remove_file(in_item(&world, "archive", &name, "item.toml")).unwrap();
    fs::remove_dir_all(world.path("archive/.urepo/ledger")).unwrap();
    let line = format!("-q -c archive repair {name} --from backup");
    tells(
        &world.run(&line[3..]),
        &name,
        0,
        str![[r#"
repaired [NAME]: sidecar built from [WORLD]/backup, state Original; 1 file from [WORLD]/backup
warning: `[WORLD]/archive/.urepo/ledger` was missing and has been rebuilt; the ledger lists the 0 items found, and no item lost before

"#]],
    );
    world.run("status").succeeded();
}

#[test]
fn the_sidecar_is_built_or_sealed() {
    let (world, name) = world();
    let sidecar = in_item(&world, "archive", &name, "item.toml");
    let text = fs::read_to_string(&sidecar).unwrap();
    fs::remove_file(&sidecar).unwrap();
    tells(
        &world.run("-c archive repair --from backup"),
        &name,
        0,
        str![[r#"
repaired [NAME]: sidecar built from [WORLD]/backup, state Original

"#]],
    );
    assert_eq!(fs::read_to_string(&sidecar).unwrap(), text);
    fs::write(&sidecar, text.replace("Letters", "My letters")).unwrap();
    let line = format!("-c archive repair {name} --from backup");
    tells(
        &world.run(&line),
        &name,
        0,
        str![[r#"
repaired [NAME]: sidecar built from [WORLD]/backup, state Original, with metadata.title "Letters" in place of "My letters"

"#]],
    );
    assert_eq!(fs::read_to_string(&sidecar).unwrap(), text);
    fs::write(&sidecar, text.replace("Letters", "My letters")).unwrap();
    tells(
        &world.run(&format!("{line} --reseal")),
        &name,
        0,
        str![[r#"
repaired [NAME]: sidecar sealed again, with the same files as [WORLD]/backup
warning: the sidecar of `[NAME]` has another metadata.title than that in `[WORLD]/backup`, and nothing proves which is right; its own was kept

"#]],
    );
    assert!(world.run(&format!("-c archive show {name}")).stdout.contains("My letters"));
}

#[test]
fn as_much_as_can_be() {
    let (world, name) = world();
    flip(&in_item(&world, "archive", &name, "doc/a.txt"));
    fs::remove_file(in_item(&world, "archive", &name, "doc/b.txt")).unwrap();
    fs::remove_file(in_item(&world, "backup", &name, "doc/b.txt")).unwrap();
    let line = format!("-c archive repair {name} --from backup");
    tells(
        &world.run(&line),
        &name,
        20,
        str![[r#"
repaired a part of [NAME]: 1 file from [WORLD]/backup; no good copy of 1 file
error: 1 item still damaged, 0 repaired
hint: `--from COLLECTION` names more collections; if none has it: `urepo -c archive recover --accept-loss ITEM`

"#]],
    );
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: no good copy of `b.txt` in `[NAME]`
hint: `--from COLLECTION` names more collections; if none has it: `urepo -c archive recover --accept-loss [NAME]`

"#]],
    );
}

#[test]
fn a_bad_item_does_not_stop_the_others() {
    let (world, name) = world();
    world.write("c.txt", "gamma");
    let other = world.run("-c archive new c.txt").line();
    flip(&in_item(&world, "archive", &name, "doc/a.txt"));
    flip(&in_item(&world, "archive", &other, "doc/c.txt"));
    let ran = world.run("-c archive repair --json --from backup");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let told = records(&ran);
    let find = |id: &str| told.iter().find(|record| record["id"] == *id).unwrap();
    let mended = find(&name);
    assert_eq!(&mended["did"], &json!("repaired"));
    assert_eq!(mended["steps"][0]["path"], "a.txt");
    assert_eq!(mended["steps"][0]["action"], "take");
    let failed = find(&other);
    assert_eq!((&failed["did"], &failed["error"]["code"]), (&json!("damaged"), &json!(20)));
    let summary = told.last().unwrap();
    assert_eq!(summary["type"], "summary");
    for (key, value) in [("items", 1), ("skipped", 0), ("damaged", 1), ("failed", 0)] {
        assert_eq!(summary["counts"][key], value, "{summary}");
    }
    assert_eq!(summary["exit_code"], 20);
    let line = format!("-c archive repair {name} 2009/02.16.17.46 --from backup");
    tells(
        &world.run(&line),
        &name,
        3,
        str![[r#"
nothing to repair in [NAME]
error: no item `2009/02.16.17.46` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers
error: 1 of 2 items could not be repaired
hint: each is named above, with its reason

"#]],
    );
}

#[test]
fn damage_that_is_no_items_is_left() {
    let (world, name) = world();
    let (prefix, _) = name.split_once('/').unwrap();
    fs::remove_dir_all(world.path("archive").join(prefix)).unwrap();
    std::os::unix::fs::symlink("/etc", world.path("archive").join(prefix)).unwrap();
    tells(
        &world.run("-c archive repair --from backup"),
        &name,
        20,
        str![[r#"
warning: example.org cannot be repaired: a link is in the place of a part of the tree; it was not followed: a symbolic link where a directory belongs
error: cannot open the directory `[WORLD]/archive/[NAME]`
caused by: it, or a directory on the way to it, is a symbolic link
hint: links are not followed; put a directory in its place, or remove it
error: 1 damaged place outside the items, 0 repaired
hint: list them with `urepo -c archive verify --quick`

"#]],
    );
}

/// An Original that was put back from a backup is older than what its Copies say.
#[test]
fn a_copy_does_not_go_back_to_an_older_description() {
    let (world, name) = world();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    let original = world.path("archive").join(&name);
    fs::remove_dir_all(&original).unwrap();
    copy_tree(&world.path("backup").join(&name), &original);
    let sidecar = format!("mirror/{name}/item.toml");
    let text = fs::read_to_string(world.path(&sidecar)).unwrap();
    world.write(&sidecar, text.replace("Corrected", "Correctep"));
    let before = everything(&world.path("mirror").join(&name));
    assert_eq!(world.run(&format!("-c mirror repair {name} --from archive")).code, 20);
    assert_eq!(everything(&world.path("mirror").join(&name)), before);
}

/// The word in an edited sidecar makes no Original of a Copy.
#[test]
fn of_a_copy_that_calls_itself_the_original_nothing_is_accepted() {
    let (world, name) = world();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    let sidecar = format!("mirror/{name}/item.toml");
    let text = fs::read_to_string(world.path(&sidecar)).unwrap();
    let text = text.replace("state = \"Copy\"", "state = \"Original\"");
    let text = text.replace("Letters", "Lettuce");
    world.write(&sidecar, &text);
    let ran = world.run(&format!("-c mirror repair {name} --accept --yes"));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert_eq!(fs::read_to_string(world.path(&sidecar)).unwrap(), text);
}

/// An item that was copied by hand into another collection is a Copy there: `verify` says that its sidecar says otherwise,
/// and `repair` mends that.
#[test]
fn what_was_copied_by_hand_is_a_copy() {
    let (world, name) = world();
    world.run("init mirror --host mirror.example.org").succeeded();
    let place = world.path("mirror").join(&name);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let status = std::process::Command::new("cp")
        .arg("-a")
        .args([world.path("archive").join(&name), place])
        .status();
    assert!(status.unwrap().success());
    assert_eq!(world.run("-c mirror list --state Copy").line(), name);
    let ran = world.run("-c mirror verify");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("U114") && ran.stdout.contains("it says Original"),
        "{}",
        ran.stdout
    );
    let ran = world.run(&format!("-c mirror repair {name} --dry-run"));
    assert!(ran.succeeded().contains("say Copy in item.toml"), "{}", ran.stdout);
    world.run(&format!("-c mirror repair {name}")).succeeded();
    let ran = world.run("-c mirror verify");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains("U114"), "{}", ran.stdout);
    world.run("verify archive mirror").succeeded();
    // Back in its place it is the Original again, whatever its sidecar says.
    fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    let back = std::process::Command::new("cp")
        .arg("-a")
        .args([world.path("mirror").join(&name), world.path("archive").join(&name)])
        .status();
    assert!(back.unwrap().success());
    world.run(&format!("-c archive repair {name}")).succeeded();
    assert_eq!(world.run("-c archive list --state Original").line(), name);
    world.run("verify archive mirror").succeeded();
}

/// A Copy says what its Original says: nothing else could be right.
#[test]
fn a_copy_gets_the_description_that_its_original_has_by_now() {
    let (world, name) = world();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
    let sidecar = format!("mirror/{name}/item.toml");
    let text = fs::read_to_string(world.path(&sidecar)).unwrap();
    world.write(&sidecar, text.replace("Letters", "Lettuce"));
    assert_eq!(world.run("-c archive copy --all --to mirror").code, 3);
    world.run(&format!("-c mirror repair {name} --from archive")).succeeded();
    assert_eq!(world.run(&format!("-c mirror list {name} --columns title")).line(), "Corrected");
    world.run("verify archive mirror").succeeded();
}

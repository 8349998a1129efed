//! `status` and `whereis`: what several collections hold, as it is told and how it ends.

mod several;

use serde_json::json;
use snapbox::data::Inline;
use snapbox::str;
use urepo::collection::Collection;
use urepo::disk::Watcher;
use urepo::item::State;
use urepo::sidecar::{Handover, Party};

use super::records;
use crate::support::{
    Ran, TestClock, World, change_item, copy_item, deposit, options, request, whole_items,
};

const NAME: &str = "example.org/archive/2026/11.21.02.13";
const OTHER: &str = "example.org/archive/2026/11.21.02.14";

/// A world in which the settings name the collections `archive`, with two items, and `backup`; both
/// wish for one Copy of each of their Originals.
fn world() -> World {
    let world = World::with_collection();
    world.run("-q init backup --host backup.example.org").succeeded();
    let (main, safe) = (world.path("archive"), world.path("backup"));
    let (main, safe) = (main.display(), safe.display());
    let settings = format!("[collections]\nmain = '{main}'\nsafe = '{safe}'\n");
    world.write(".config/urepo/config.toml", settings);
    let archive = open(&world, "archive");
    for (file, date) in [("a.txt", "2026-11-21T02:13:00Z"), ("b.txt", "2026-11-21T02:14:00Z")] {
        let source = world.write(file, "alpha");
        let clock = TestClock::at(date);
        deposit(&archive, vec![request(source)], options(), &clock, |_| ()).unwrap();
    }
    assert_eq!(whole_items(&archive), [NAME, OTHER]);
    wish(&world, "archive", 1);
    wish(&world, "backup", 1);
    world
}

fn open(world: &World, root: &str) -> Collection {
    Collection::open(&world.path(root), &Watcher::default()).unwrap()
}

/// Says in the settings of a collection how many Copies its Originals should have.
fn wish(world: &World, root: &str, copies: u32) {
    let path = format!("{root}/urepo.toml");
    let text = std::fs::read_to_string(world.path(&path)).unwrap();
    let text = text.lines().filter(|line| !line.starts_with("copies")).collect::<Vec<_>>();
    world.write(&path, format!("copies = {copies}\n{}\n", text.join("\n")));
}

fn copy(world: &World, name: &str) {
    copy_item(&world.path("archive"), &world.path("backup"), name, |_| ());
}

fn make_newer(world: &World, name: &str) {
    change_item(&world.path("archive"), name, |sidecar| {
        sidecar.timestamp = "2026-12-24T18:00:00Z".parse().unwrap();
    });
}

/// What was told and how it ended.
#[track_caller]
fn tells(ran: &Ran, code: i32, stdout: Inline, stderr: Inline) {
    let assert = snapbox::Assert::new()
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV)
        .normalize_paths(false);
    assert.eq(ran.stdout.as_str(), stdout);
    assert.eq(ran.stderr.as_str(), stderr);
    assert_eq!(ran.code, code);
}

#[test]
fn all_is_as_it_should_be() {
    let world = world();
    copy(&world, NAME);
    copy(&world, OTHER);
    tells(
        &world.run("status"),
        0,
        str![[r#"
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   0 Original  2 Copy  0 Deleted       10 B

"#]],
        str![[r#"
2 items: all as it should be

"#]],
    );
    tells(&world.run("-q status"), 0, str![[""]], str![[""]]);
    tells(
        &world.run("status --prefix example.org/backup"),
        0,
        str![[r#"
archive  [WORLD]/archive  0 Original  0 Copy  0 Deleted        0 B
backup   [WORLD]/backup   0 Original  0 Copy  0 Deleted        0 B

"#]],
        str![[r#"
0 items: all as it should be

"#]],
    );
}

#[test]
fn copies_are_lacking() {
    let world = world();
    copy(&world, NAME);
    make_newer(&world, NAME);
    wish(&world, "archive", 2);
    tells(
        &world.run("status"),
        3,
        str![[r#"
0 of 2 Copies: example.org/archive/2026/11.21.02.13
stale Copy in `backup`: example.org/archive/2026/11.21.02.13
0 of 2 Copies: example.org/archive/2026/11.21.02.14
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   0 Original  1 Copy  0 Deleted        5 B

"#]],
        str![[r#"
error: 2 items with too few Copies, 1 stale Copy
hint: `urepo -c [WORLD]/archive copy --all --to COLLECTION` makes those that are missing

"#]],
    );
    tells(
        &world.run("-q status"),
        3,
        str![[r#"
0 of 2 Copies: example.org/archive/2026/11.21.02.13
stale Copy in `backup`: example.org/archive/2026/11.21.02.13
0 of 2 Copies: example.org/archive/2026/11.21.02.14

"#]],
        str![[r#"
error: 2 items with too few Copies, 1 stale Copy
hint: `urepo -c [WORLD]/archive copy --all --to COLLECTION` makes those that are missing

"#]],
    );
    // Nobody wishes for any.
    wish(&world, "archive", 0);
    tells(
        &world.run("status"),
        3,
        str![[r#"
stale Copy in `backup`: example.org/archive/2026/11.21.02.13
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   0 Original  1 Copy  0 Deleted        5 B

"#]],
        str![[r#"
error: 1 stale Copy
hint: `urepo -c [WORLD]/backup refresh --from [WORLD]/archive` brings them up to their Originals

"#]],
    );
    tells(
        &world.run("whereis 11.21.02.13"),
        0,
        str![[r#"
Original	original	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.13
Copy	stale	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.13

"#]],
        str![[""]],
    );
}

#[test]
fn two_originals_are_a_conflict() {
    let world = world();
    copy(&world, NAME);
    change_item(&world.path("backup"), NAME, |sidecar| sidecar.state = State::Original);
    tells(
        &world.run("status"),
        23,
        str![[r#"
two Originals, in `archive` and `backup`: example.org/archive/2026/11.21.02.13
0 of 1 Copy: example.org/archive/2026/11.21.02.14
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   1 Original  0 Copy  0 Deleted        5 B

"#]],
        str![[r#"
error: 1 item with two Originals, 1 item with too few Copies
hint: `urepo whereis example.org/archive/2026/11.21.02.13` shows where they are

"#]],
    );
    tells(
        &world.run(&format!("whereis {NAME}")),
        23,
        str![[r#"
Original	original	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.13
Original	original	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.13

"#]],
        str![[r#"
error: `example.org/archive/2026/11.21.02.13` has two Originals
caused by: `[WORLD]/archive` and `[WORLD]/backup` both say that they hold it
hint: compare them: `urepo -c [WORLD]/archive show example.org/archive/2026/11.21.02.13`, `urepo -c [WORLD]/backup show example.org/archive/2026/11.21.02.13`

"#]],
    );
    // Among several items too, none of which is left out.
    let ran = world.run(&format!("whereis {NAME} {OTHER} 01.01.00.00"));
    tells(
        &ran,
        23,
        str![[r#"
Original	original	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.13
Original	original	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.13
Original	original	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.14

"#]],
        str![[r#"
error: `example.org/archive/2026/11.21.02.13` has two Originals
caused by: `[WORLD]/archive` and `[WORLD]/backup` both say that they hold it
hint: compare them: `urepo -c [WORLD]/archive show example.org/archive/2026/11.21.02.13`, `urepo -c [WORLD]/backup show example.org/archive/2026/11.21.02.13`
error: no item `01.01.00.00` in 2 known collections
hint: `urepo config` shows which are known; `--with COLLECTION` adds one
error: 2 of 3 items have problems

"#]],
    );
}

/// The items of a lost collection are promoted together.
#[test]
fn several_copies_without_an_original_are_promoted_by_one_command() {
    let world = world();
    copy(&world, NAME);
    copy(&world, OTHER);
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    let ran = world.run("-c backup status");
    assert!(ran.stderr.contains("2 Copies without an Original"), "{}", ran.stderr);
    assert!(ran.stderr.contains("backup promote --all --lost COLLECTION"), "{}", ran.stderr);
}

#[test]
fn copies_without_an_original_are_a_fault_unless_it_was_deleted() {
    let world = world();
    copy(&world, NAME);
    copy(&world, OTHER);
    std::fs::remove_dir_all(world.path("archive").join(NAME)).unwrap();
    change_item(&world.path("archive"), OTHER, |sidecar| sidecar.state = State::Deleted);
    tells(
        &world.run("status"),
        3,
        str![[r#"
Copy in `backup`, deleted in `archive`: example.org/archive/2026/11.21.02.14
Copy in `backup`, no Original anywhere: example.org/archive/2026/11.21.02.13
vanished from `archive`: example.org/archive/2026/11.21.02.13
archive  [WORLD]/archive  0 Original  0 Copy  1 Deleted        0 B
backup   [WORLD]/backup   0 Original  2 Copy  0 Deleted       10 B

"#]],
        str![[r#"
error: 1 Copy without an Original, 1 item vanished
hint: `--with COLLECTION` names the collection that holds it; `urepo -c [WORLD]/backup promote example.org/archive/2026/11.21.02.13 --lost COLLECTION --reason TEXT` makes a Copy the Original when that is lost

"#]],
    );
    let quiet = world.run("status -q");
    assert_eq!((quiet.code, quiet.stdout.lines().count()), (3, 2), "{}", quiet.stdout);
    tells(
        &world.run(&format!("whereis {NAME} {OTHER}")),
        0,
        str![[r#"
Copy	orphan	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.13
Deleted	deleted	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.14
Copy	orphan	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.14

"#]],
        str![[""]],
    );
    // Deleted everywhere is an answer too.
    std::fs::remove_dir_all(world.path("backup").join(OTHER)).unwrap();
    tells(
        &world.run(&format!("whereis {OTHER}")),
        0,
        str![[r#"
Deleted	deleted	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.14

"#]],
        str![[""]],
    );
}

#[test]
fn a_hand_over_under_way_and_damaged_sidecars_are_told() {
    let world = world();
    copy(&world, NAME);
    copy(&world, OTHER);
    let id = open(&world, "archive").settings().id.clone();
    change_item(&world.path("backup"), NAME, |sidecar| {
        sidecar.handover = Some(Handover { token: "t".to_owned(), party: Party::From(id) });
    });
    let sidecar = world.path("backup").join(OTHER).join("item.toml");
    let text = std::fs::read_to_string(&sidecar).unwrap();
    std::fs::write(&sidecar, text.replace("transferable = true", "transferable = false")).unwrap();
    tells(
        &world.run("status"),
        3,
        str![[r#"
hand-over in progress, in `backup`: example.org/archive/2026/11.21.02.13
broken seal in `backup`: example.org/archive/2026/11.21.02.14
0 of 1 Copy: example.org/archive/2026/11.21.02.14
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   0 Original  2 Copy  0 Deleted       10 B

"#]],
        str![[r#"
error: 1 hand-over in progress, 1 broken seal, 1 item with too few Copies
hint: `urepo -c COLLECTION recover` finishes the hand-overs of the giver COLLECTION; if there is nothing to finish, add `--inventory`

"#]],
    );
    std::fs::write(&sidecar, "format = ?").unwrap();
    tells(
        &world.run("status"),
        3,
        str![[r#"
hand-over in progress, in `backup`: example.org/archive/2026/11.21.02.13
unreadable in `backup`: cannot read the sidecar of `example.org/archive/2026/11.21.02.14`: line 1, column 10: string values must be quoted, expected literal string: example.org/archive/2026/11.21.02.14
0 of 1 Copy: example.org/archive/2026/11.21.02.14
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   0 Original  1 Copy  0 Deleted        5 B  1 unreadable

"#]],
        str![[r#"
error: 1 hand-over in progress, 1 unreadable sidecar, 1 item with too few Copies
hint: `urepo -c COLLECTION recover` finishes the hand-overs of the giver COLLECTION; if there is nothing to finish, add `--inventory`

"#]],
    );
    tells(
        &world.run(&format!("whereis {OTHER}")),
        3,
        str![[r#"
Original	original	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.14
	unreadable	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.14

"#]],
        str![[r#"
error: what `[WORLD]/backup` holds of `example.org/archive/2026/11.21.02.14` cannot be read
caused by: cannot read the sidecar of `example.org/archive/2026/11.21.02.14`: line 1, column 10: string values must be quoted, expected literal string
hint: `urepo -c [WORLD]/backup verify --quick example.org/archive/2026/11.21.02.14` lists what is wrong

"#]],
    );
}

#[test]
fn a_notice_is_not_all_as_it_should_be() {
    let world = world();
    wish(&world, "archive", 0);
    copy(&world, NAME);
    world.run(&format!("-c archive delete --with backup --yes {NAME}")).succeeded();
    tells(
        &world.run("status"),
        0,
        str![[r#"
Copy in `backup`, deleted in `archive`: example.org/archive/2026/11.21.02.13
archive  [WORLD]/archive  1 Original  0 Copy  1 Deleted        5 B
backup   [WORLD]/backup   0 Original  1 Copy  0 Deleted        5 B

"#]],
        str![[r#"
2 items: 1 notice above, nothing needs to be done

"#]],
    );
}

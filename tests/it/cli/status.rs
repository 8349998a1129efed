//! `status`, with items and without: what several collections hold, as it is told and how it ends.

mod away;
mod several;

use serde_json::json;
use snapbox::data::Inline;
use snapbox::str;
use urepo::collection::Collection;
use urepo::custody::CustodyId;
use urepo::disk::Watcher;
use urepo::item::State;
use urepo::sidecar::Sidecar;

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

fn delete_it(sidecar: &mut Sidecar) {
    let own = sidecar.custody.holder().to_owned();
    sidecar.custody = sidecar.custody.passed_to(&own, CustodyId::from(*b"deleted!"));
    sidecar.state = State::Deleted;
}

fn make_newer(world: &World, name: &str) {
    change_item(&world.path("archive"), name, |sidecar| {
        sidecar.timestamp = "2026-12-24T18:00:00Z".parse().unwrap();
        sidecar.custody = sidecar.custody.amended(CustodyId::from(*b"amended!"));
        sidecar.metadata.add("creator", "Ana").unwrap();
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
Copy in `backup` is behind: example.org/archive/2026/11.21.02.13
0 of 2 Copies: example.org/archive/2026/11.21.02.14
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   0 Original  1 Copy  0 Deleted        5 B

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.13: the Copy is behind: `urepo -c [WORLD]/backup copy example.org/archive/2026/11.21.02.13 --from [WORLD]/archive`
error: 2 items with too few Copies, 1 item behind a newer state

"#]],
    );
    tells(
        &world.run("-q status"),
        3,
        str![[r#"
0 of 2 Copies: example.org/archive/2026/11.21.02.13
Copy in `backup` is behind: example.org/archive/2026/11.21.02.13
0 of 2 Copies: example.org/archive/2026/11.21.02.14

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.13: the Copy is behind: `urepo -c [WORLD]/backup copy example.org/archive/2026/11.21.02.13 --from [WORLD]/archive`
error: 2 items with too few Copies, 1 item behind a newer state

"#]],
    );
    // Nobody wishes for any.
    wish(&world, "archive", 0);
    tells(
        &world.run("status"),
        3,
        str![[r#"
Copy in `backup` is behind: example.org/archive/2026/11.21.02.13
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   0 Original  1 Copy  0 Deleted        5 B

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.13: the Copy is behind: `urepo -c [WORLD]/backup copy example.org/archive/2026/11.21.02.13 --from [WORLD]/archive`
error: 1 item behind a newer state

"#]],
    );
    tells(
        &world.run("status 11.21.02.13"),
        0,
        str![[r#"
Original	original	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.13
Copy	behind	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.13

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.13: the Copy is behind: `urepo -c [WORLD]/backup copy example.org/archive/2026/11.21.02.13 --from [WORLD]/archive`

"#]],
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
Original in `archive` is behind: example.org/archive/2026/11.21.02.13
0 of 1 Copy: example.org/archive/2026/11.21.02.14
archive  [WORLD]/archive  2 Original  0 Copy  0 Deleted       10 B
backup   [WORLD]/backup   1 Original  0 Copy  0 Deleted        5 B

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.13: the Original was passed on, or another was promoted: it is behind: `urepo -c [WORLD]/archive recover --with [WORLD]/backup`
error: 1 item with two Originals, 1 item with too few Copies, 1 item behind a newer state

"#]],
    );
    tells(
        &world.run(&format!("status {NAME}")),
        23,
        str![[r#"
Original	behind	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.13
Original	original	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.13

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.13: the Original was passed on, or another was promoted: it is behind: `urepo -c [WORLD]/archive recover --with [WORLD]/backup`
error: `example.org/archive/2026/11.21.02.13` has two Originals
caused by: `[WORLD]/archive` and `[WORLD]/backup` both say that they hold it
hint: the Original was passed on, or another was promoted: it is behind: `urepo -c [WORLD]/archive recover --with [WORLD]/backup`

"#]],
    );
    // Among several items too, none of which is left out.
    let ran = world.run(&format!("status {NAME} {OTHER} 01.01.00.00"));
    tells(
        &ran,
        23,
        str![[r#"
Original	behind	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.13
Original	original	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.13
Original	original	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.14

"#]],
        str![[r#"
error: `example.org/archive/2026/11.21.02.13` has two Originals
caused by: `[WORLD]/archive` and `[WORLD]/backup` both say that they hold it
hint: the Original was passed on, or another was promoted: it is behind: `urepo -c [WORLD]/archive recover --with [WORLD]/backup`
error: no item `01.01.00.00` in 2 known collections
hint: `urepo status --settings` shows which are known; `--with COLLECTION` adds one
hint: example.org/archive/2026/11.21.02.13: the Original was passed on, or another was promoted: it is behind: `urepo -c [WORLD]/archive recover --with [WORLD]/backup`
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
    change_item(&world.path("archive"), OTHER, delete_it);
    tells(
        &world.run("status"),
        3,
        str![[r#"
Copy in `backup`, deleted in `archive`: example.org/archive/2026/11.21.02.14
lost by `archive`, as `backup` shows: example.org/archive/2026/11.21.02.13
vanished from `archive`: example.org/archive/2026/11.21.02.13
archive  [WORLD]/archive  0 Original  0 Copy  1 Deleted        0 B
backup   [WORLD]/backup   0 Original  2 Copy  0 Deleted       10 B

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.13: the item is missing or damaged here, and another collection has it: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13 --from [WORLD]/backup`
error: 1 item lost by its holder, 1 item vanished

"#]],
    );
    let quiet = world.run("status -q");
    assert_eq!((quiet.code, quiet.stdout.lines().count()), (3, 2), "{}", quiet.stdout);
    tells(
        &world.run(&format!("status {NAME} {OTHER}")),
        0,
        str![[r#"
Copy	orphan	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.13
Deleted	deleted	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.14
Copy	behind	backup	[WORLD]/backup/example.org/archive/2026/11.21.02.14

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.13: the item is missing or damaged here, and another collection has it: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13 --from [WORLD]/backup`
hint: example.org/archive/2026/11.21.02.14: a Copy of an item that was deleted: `urepo -c [WORLD]/backup copy example.org/archive/2026/11.21.02.14 --from [WORLD]/archive`

"#]],
    );
    // Deleted everywhere is an answer too.
    std::fs::remove_dir_all(world.path("backup").join(OTHER)).unwrap();
    tells(
        &world.run(&format!("status {OTHER}")),
        0,
        str![[r#"
Deleted	deleted	archive	[WORLD]/archive/example.org/archive/2026/11.21.02.14

"#]],
        str![[r#"
hint: example.org/archive/2026/11.21.02.14: the tombstone is missing, damaged or behind: `urepo -c [WORLD]/backup repair example.org/archive/2026/11.21.02.14`

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

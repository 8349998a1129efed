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
main	[WORLD]/archive	2 Originals	0 Copies	10	never read
safe	[WORLD]/backup	0 Originals	2 Copies	10	never read

"#]],
        str![[r#"
2 items: each has its 1 Copy, and all agree

"#]],
    );
    tells(&world.run("-q status"), 0, str![[""]], str![[""]]);
    tells(
        &world.run("status --prefix example.org/backup"),
        0,
        str![[r#"
main	[WORLD]/archive	0 Originals	0 Copies	0	never read
safe	[WORLD]/backup	0 Originals	0 Copies	0	never read

"#]],
        str![[r#"
0 items: all agree

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
behind	example.org/archive/2026/11.21.02.13		1 Copy in safe is older than the Original
few-copies	example.org/archive/2026/11.21.02.14		1 item, of which there should be 2 Copies
main	[WORLD]/archive	2 Originals	0 Copies	10	never read
safe	[WORLD]/backup	0 Originals	1 Copy	5	never read

"#]],
        str![[r#"
error: 2 of 2 items need attention
hint: older: urepo -c safe copy example.org/archive/2026/11.21.02.13 --from main
hint: no Copy: urepo -c main copy --all --to safe

"#]],
    );
    tells(
        &world.run("-q status"),
        3,
        str![[r#"
behind	example.org/archive/2026/11.21.02.13		1 Copy in safe is older than the Original
few-copies	example.org/archive/2026/11.21.02.14		1 item, of which there should be 2 Copies

"#]],
        str![[r#"
error: 2 of 2 items need attention
hint: older: urepo -c safe copy example.org/archive/2026/11.21.02.13 --from main
hint: no Copy: urepo -c main copy --all --to safe

"#]],
    );
    // Nobody wishes for any.
    wish(&world, "archive", 0);
    tells(
        &world.run("status"),
        3,
        str![[r#"
behind	example.org/archive/2026/11.21.02.13		1 Copy in safe is older than the Original
main	[WORLD]/archive	2 Originals	0 Copies	10	never read
safe	[WORLD]/backup	0 Originals	1 Copy	5	never read

"#]],
        str![[r#"
error: 1 of 2 items needs attention
hint: older: urepo -c safe copy example.org/archive/2026/11.21.02.13 --from main

"#]],
    );
    tells(
        &world.run("status 11.21.02.13"),
        3,
        str![[r#"
behind	example.org/archive/2026/11.21.02.13		1 Copy in safe is older than the Original

"#]],
        str![[r#"
error: 1 of 1 item needs attention
hint: older: urepo -c safe copy example.org/archive/2026/11.21.02.13 --from main

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
two-originals	example.org/archive/2026/11.21.02.13		1 item in main and safe
few-copies	example.org/archive/2026/11.21.02.14		1 item, of which there should be 1 Copy
main	[WORLD]/archive	2 Originals	0 Copies	10	never read
safe	[WORLD]/backup	1 Original	0 Copies	5	never read

"#]],
        str![[r#"
error: 2 of 2 items need attention
hint: two Originals: urepo -c main recover --with safe
hint: no Copy: urepo -c main copy --all --to safe

"#]],
    );
    tells(
        &world.run(&format!("status {NAME}")),
        23,
        str![[r#"
two-originals	example.org/archive/2026/11.21.02.13		1 item in main and safe

"#]],
        str![[r#"
error: 1 of 1 item needs attention
hint: two Originals: urepo -c main recover --with safe

"#]],
    );
    // Among several items too, none of which is left out.
    let ran = world.run(&format!("status {NAME} {OTHER} 01.01.00.00"));
    tells(
        &ran,
        23,
        str![[r#"
two-originals	example.org/archive/2026/11.21.02.13		1 item in main and safe
few-copies	example.org/archive/2026/11.21.02.14		1 item, of which there should be 1 Copy

"#]],
        str![[r#"
error: no item `01.01.00.00` in 2 known collections
hint: `urepo status --settings` shows which are known; `--with COLLECTION` adds one
error: 2 of 2 items need attention
hint: two Originals: urepo -c main recover --with safe
hint: no Copy: urepo -c main copy --all --to safe

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
    assert!(ran.stderr.contains("2 of 2 items need attention"), "{}", ran.stderr);
    assert!(ran.stderr.contains("backup promote --all --lost main"), "{}", ran.stderr);
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
        20,
        str![[r#"
left	example.org/archive/2026/11.21.02.14		1 Copy in safe, deleted in main
vanished	example.org/archive/2026/11.21.02.13		1 item is gone from main; safe has it
main	[WORLD]/archive	0 Originals	0 Copies	0	1 deleted, never read
safe	[WORLD]/backup	0 Originals	2 Copies	10	never read

"#]],
        str![[r#"
error: 1 of 2 items needs attention
hint: missing: urepo -c main repair example.org/archive/2026/11.21.02.13 --from safe
hint: left over: urepo -c safe copy example.org/archive/2026/11.21.02.14 --from main

"#]],
    );
    let quiet = world.run("status -q");
    assert_eq!((quiet.code, quiet.stdout.lines().count()), (20, 1), "{}", quiet.stdout);
    tells(
        &world.run(&format!("status {NAME} {OTHER}")),
        20,
        str![[r#"
vanished	example.org/archive/2026/11.21.02.13		1 item is gone from main; safe has it
left	example.org/archive/2026/11.21.02.14		1 Copy in safe, deleted in main

"#]],
        str![[r#"
error: 1 of 2 items needs attention
hint: missing: urepo -c main repair example.org/archive/2026/11.21.02.13 --from safe
hint: left over: urepo -c safe copy example.org/archive/2026/11.21.02.14 --from main

"#]],
    );
    // A Copy that is gone is missing, though the item was deleted.
    std::fs::remove_dir_all(world.path("backup").join(OTHER)).unwrap();
    tells(
        &world.run(&format!("status {OTHER}")),
        20,
        str![[r#"
vanished	example.org/archive/2026/11.21.02.14		1 item is gone from safe; no other collection in sight has it

"#]],
        str![[r#"
error: 1 of 1 item needs attention
hint: missing: urepo -c safe repair example.org/archive/2026/11.21.02.14

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
left	example.org/archive/2026/11.21.02.13		1 Copy in safe, deleted in main
main	[WORLD]/archive	1 Original	0 Copies	5	1 deleted, never read
safe	[WORLD]/backup	0 Originals	1 Copy	5	never read

"#]],
        str![[r#"
hint: left over: urepo -c safe copy example.org/archive/2026/11.21.02.13 --from main
2 items: all agree

"#]],
    );
}

//! Transfers that the rule of custody refuses.

use super::*;
use urepo::custody::{Custody, CustodyId};

const COPY: &str = "-c archive copy 11.21.02.13 --to mirror";
const MIGRATE: &str = "-c archive migrate 11.21.02.13 --to mirror";

fn newer(sidecar: &mut Sidecar) {
    sidecar.custody = sidecar.custody.amended(CustodyId::from(*b"amended!"));
    sidecar.timestamp = sidecar.timestamp.checked_add(SECOND).unwrap();
}

#[test]
fn of_two_lines() {
    let world = with_copy(|sidecar| {
        // Of equal epochs and dates, the id of the holder decides, which is random.
        sidecar.custody = Custody::first(CustodyId::from(*b"another!"), "00");
    });
    refuses(&world, COPY, 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the item was changed in `[WORLD]/mirror`, too
  source:      [WORLD]/archive
  destination: [WORLD]/mirror
hint: the item was changed in two places: to keep that in [WORLD]/archive: urepo -c archive promote example.org/archive/2026/11.21.02.13 --discard --with [WORLD]/mirror
hint: to keep that in [WORLD]/mirror: urepo -c [WORLD]/mirror promote example.org/archive/2026/11.21.02.13 --discard --with [WORLD]/archive

"#]]);
    refuses(&world, "-c archive migrate --all --to mirror", 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the item was changed in `[WORLD]/mirror`, too
hint: the item was changed in two places: to keep that in [WORLD]/archive: urepo -c archive promote example.org/archive/2026/11.21.02.13 --discard --with [WORLD]/mirror
hint: to keep that in [WORLD]/mirror: urepo -c [WORLD]/mirror promote example.org/archive/2026/11.21.02.13 --discard --with [WORLD]/archive
error: 1 of 1 item could not be migrated
hint: each is named above, with its reason

"#]]);
}

#[test]
fn of_what_is_newer_there() {
    let world = with_copy(newer);
    refuses(&world, COPY, 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: `[WORLD]/mirror` knows a newer state of the item
  source:      [WORLD]/archive
  destination: [WORLD]/mirror
hint: the Original is older, as after a backup was put back: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from [WORLD]/mirror

"#]]);
    change(&world, "archive", |sidecar| sidecar.state = State::Copy);
    refuses(&world, "-c mirror copy 11.21.02.13 --to archive", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the Original belongs to `[WORLD]/archive`, which is behind
  source:      [WORLD]/mirror
  destination: [WORLD]/archive
hint: the item was changed in two places: to keep that in [WORLD]/archive: urepo -c [WORLD]/archive promote example.org/archive/2026/11.21.02.13 --discard --with [WORLD]/mirror
hint: to keep that in [WORLD]/mirror: urepo -c mirror promote example.org/archive/2026/11.21.02.13 --discard --with [WORLD]/archive

"#]]);
}

#[test]
fn of_a_copy_that_goes_to_its_original() {
    let world = with_copy(|_| ());
    refuses(&world, "-c mirror migrate 11.21.02.13 --to archive", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the item is a Copy; the Original belongs to `[WORLD]/archive`
  source:      [WORLD]/mirror
  destination: [WORLD]/archive
hint: `urepo -c [WORLD]/archive show example.org/archive/2026/11.21.02.13` shows its Original

"#]]);
}

#[test]
fn of_what_does_not_migrate() {
    let world = with_mirror();
    change(&world, "archive", |sidecar| sidecar.transferable = false);
    refuses(&world, MIGRATE, 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` is marked as not transferable
hint: `urepo -c archive copy` makes a Copy there; the Original stays

"#]]);
}

#[test]
fn of_what_is_deleted_or_elsewhere() {
    let world = with_mirror();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run("-c archive delete 11.21.02.13 --with mirror").succeeded();
    refuses(&world, MIGRATE, 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the item is deleted
  source:      [WORLD]/archive
  destination: [WORLD]/mirror
hint: `urepo -c archive show example.org/archive/2026/11.21.02.13` says when and why

"#]]);
    refuses(&world, "-c mirror copy 11.21.02.13 --to archive", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: `[WORLD]/archive` knows a newer state of the item
  source:      [WORLD]/mirror
  destination: [WORLD]/archive
hint: a Copy of an item that was deleted: urepo -c mirror copy example.org/archive/2026/11.21.02.13 --from [WORLD]/archive

"#]]);
    world.run("-c archive restore 11.21.02.13").succeeded();
    world.run("init third --host third.example.org").succeeded();
    world.run(MIGRATE).succeeded();
    refuses(&world, "-c archive copy 11.21.02.13 --to third", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the item has moved to the collection with the id [..]
  source:      [WORLD]/archive
  destination: [WORLD]/third
hint: the Original belongs to a collection not in sight, id [..]…: name it in the settings, below `[collections]`

"#]]);
    world.run(MIGRATE).succeeded();
}

#[test]
fn of_what_is_ceded() {
    let world = with_mirror();
    change(&world, "archive", |sidecar| {
        let offered = sidecar.custody.passed_to("60cb", CustodyId::from(*b"received"));
        sidecar.custody = sidecar.custody.ceded_to(&offered, urepo::custody::Leaves::Stub);
        sidecar.state = State::Copy;
    });
    refuses(&world, COPY, 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a move from `[WORLD]/archive` is not finished
  source:      [WORLD]/archive
  destination: [WORLD]/mirror
hint: a migration was interrupted, and the collection that may have the item is not in sight: mount 60cb
hint: if 60cb is lost: urepo -c archive recover --withdraw --with [WORLD]/mirror

"#]]);
    refuses(&world, MIGRATE, 23).tells(str![[r#"
error: the migration of `example.org/archive/2026/11.21.02.13` is open: collection 60cb is not in sight
hint: a migration was interrupted, and the collection that may have the item is not in sight: mount 60cb
hint: if 60cb is lost: urepo -c archive recover --withdraw --with [WORLD]/mirror

"#]]);
    refuses(&world, "-c archive meta set 11.21.02.13 title=New", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a move from `[WORLD]/archive` is not finished
hint: a migration was interrupted, and the collection that may have the item is not in sight: mount 60cb
hint: if 60cb is lost: urepo -c archive recover --withdraw

"#]]);
    refuses(&world, "-c archive delete 11.21.02.13 --force last", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a move from `[WORLD]/archive` is not finished
hint: a migration was interrupted, and the collection that may have the item is not in sight: mount 60cb
hint: if 60cb is lost: urepo -c archive recover --withdraw

"#]]);
    refuses(&world, "-c archive recover", 3).tells(str![[r#"
warning: the migration of example.org/archive/2026/11.21.02.13 is not finished: the migration of `example.org/archive/2026/11.21.02.13` is open: collection 60cb is not in sight
hint: mount 60cb
hint: if 60cb is lost: urepo -c archive recover --withdraw
left 1 item as it is
error: interrupted changes to 1 item could not be completed
hint: repeat the command when the items named above are repaired or reachable

"#]]);
    world.run("-c archive recover --withdraw").succeeded();
    world.run(MIGRATE).succeeded();
}

/// Those of one kind are counted after the first five.
#[test]
fn of_one_kind_are_named_up_to_five_times() {
    let world = with_mirror();
    for number in 0..7 {
        world.write(&format!("in/{number}"), "content");
    }
    let told = world.run("-c archive import in").succeeded().to_owned();
    world.run("-c archive copy --all --to mirror").succeeded();
    for line in told.lines() {
        change_item(&world.path("mirror"), line.split('\t').next().unwrap(), newer);
    }
    let named = |line: &str| {
        let ran = world.run(line);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        (ran.stderr.matches("knows a newer state of the item").count(), ran)
    };
    let more = "error: 2 more with a newer state elsewhere; `-v` names each\n";
    let (count, ran) = named("-c archive copy --all --to mirror");
    assert!(count == 5 && ran.stderr.contains(more), "{}", ran.stderr);
    let (count, ran) = named("-c archive copy --all --to mirror -v");
    assert!(count == 7 && !ran.stderr.contains("more with"), "{}", ran.stderr);
    let (_, ran) = named("-c archive copy --all --to mirror --json");
    assert_eq!(ran.stdout.matches("\"did\":\"failed\"").count(), 7, "{}", ran.stdout);
}

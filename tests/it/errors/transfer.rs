//! What is told when items are not copied, migrated or refreshed.

use super::*;

use urepo::collection::{Subsystem, lock_items};
use urepo::identity::SECOND;
use urepo::item::State;
use urepo::sidecar::{Handover, Party, Sidecar};
use urepo::transfer::TransferError;

use crate::support::{change_item, copy_item, init, waiter};

const NAME: &str = "example.org/archive/2026/11.21.02.13";

/// A world with one item in `archive`, and `mirror` with what `change` makes of its Copy there.
fn with_copy(change: impl FnOnce(&mut Sidecar)) -> World {
    let world = with_mirror();
    copy_item(&world.path("archive"), &world.path("mirror"), NAME, change);
    world
}

/// A world with one item in `archive`, and an empty `mirror` that has been written to.
fn with_mirror() -> World {
    let (world, name) = world_with_item();
    assert_eq!(name, NAME);
    let subsystem = Subsystem::new("mirror.example.org".parse().unwrap());
    init(&world.path("mirror"), "mirror", subsystem, &Watcher::default()).unwrap();
    // The item was deposited on a machine of the tests.
    world.run("-c archive doctor --take-over").succeeded();
    for root in ["archive", "mirror"] {
        world.run(&format!("-c {root} recover")).succeeded();
    }
    world
}

fn change(world: &World, root: &str, change: impl FnOnce(&mut Sidecar)) {
    change_item(&world.path(root), NAME, change);
}

fn later(sidecar: &mut Sidecar) {
    sidecar.timestamp = sidecar.timestamp.checked_add(SECOND).unwrap();
}

/// A mark of a hand-over with a collection that nobody knows.
fn marked(sidecar: &mut Sidecar, party: impl FnOnce(String) -> Party) {
    let party = party("0123456789abcdef".to_owned());
    sidecar.handover = Some(Handover { token: "77".to_owned(), party });
}

mod refusals {
    use super::*;

    #[test]
    fn of_two_originals() {
        let world = with_copy(|sidecar| sidecar.state = State::Original);
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: both collections say that they hold the Original
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: `urepo verify [WORLD]/archive [WORLD]/mirror` tells whether they are the same

"#]]);
        refuses(&world, "-c archive migrate --all --to mirror", 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: both collections say that they hold the Original
hint: `urepo verify [WORLD]/archive [WORLD]/mirror` tells whether they are the same
error: 1 of 1 item could not be migrated
hint: each is named above, with its reason

"#]]);
    }

    #[test]
    fn of_copies_that_are_behind() {
        let world = with_copy(|_| ());
        change(&world, "archive", later);
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the Copy at the destination is older than its Original
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: repeat with `--refresh` to bring it up to date

"#]]);
        change(&world, "archive", |sidecar| sidecar.state = State::Copy);
        refuses(&world, "-c archive copy 11.21.02.13 --refresh --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the Copy at the destination is older, but a Copy is refreshed from its Original only
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: `urepo -c [WORLD]/mirror refresh example.org/archive/2026/11.21.02.13 --from PATH`, where its Original is

"#]]);
    }

    #[test]
    fn of_other_content() {
        let world = with_copy(|sidecar| sidecar.files.clear());
        refuses(&world, "-c archive copy 11.21.02.13 --refresh --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the destination has other content, or another description, under this name
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: `urepo verify [WORLD]/archive [WORLD]/mirror` tells which of them is not as it was

"#]]);
    }

    #[test]
    fn of_a_copy_that_goes_to_its_original() {
        let world = with_copy(|sidecar| sidecar.state = State::Original);
        change(&world, "archive", |sidecar| sidecar.state = State::Copy);
        refuses(&world, "-c archive migrate 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the destination holds the Original
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: `urepo -c [WORLD]/archive delete example.org/archive/2026/11.21.02.13 --with [WORLD]/mirror` removes the Copy here

"#]]);
    }

    #[test]
    fn of_what_does_not_migrate() {
        let world = with_mirror();
        change(&world, "archive", |sidecar| sidecar.transferable = false);
        refuses(&world, "-c archive migrate 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: it is marked as not transferable
hint: `urepo copy` makes a Copy there; the Original stays

"#]]);
    }

    #[test]
    fn of_what_is_deleted() {
        let world = with_copy(|sidecar| sidecar.state = State::Deleted);
        refuses(&world, "-c archive migrate 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: it was deleted at the destination
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: repeat with `--revive` to bring it back there

"#]]);
        refuses(&world, "-c mirror copy 11.21.02.13 --to archive", 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: it is deleted
  source:      [WORLD]/mirror/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/archive/example.org/archive/2026/11.21.02.13
hint: `urepo -c [WORLD]/mirror show example.org/archive/2026/11.21.02.13` tells when and why

"#]]);
        change(&world, "archive", |sidecar| sidecar.state = State::Copy);
        refuses(&world, "-c archive refresh 11.21.02.13 --from mirror", 22).tells(str![[r#"
error: the Original of `example.org/archive/2026/11.21.02.13` was deleted
hint: `urepo -c [WORLD]/mirror show example.org/archive/2026/11.21.02.13` tells when and why

"#]]);
    }

    /// The hint names the collection that gives the item away: only there it can be finished.
    #[test]
    fn of_what_is_in_hand() {
        let world = with_mirror();
        change(&world, "archive", |sidecar| {
            sidecar.state = State::Copy;
            marked(sidecar, Party::To);
        });
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a hand-over of it has begun and is not finished
hint: `urepo -c [WORLD]/archive recover` finishes it

"#]]);
        change(&world, "archive", |sidecar| marked(sidecar, Party::From));
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a hand-over of it has begun and is not finished
hint: `urepo -c PATH recover` finishes it, where PATH is the collection `0123456789abcdef`

"#]]);
        let mirror = std::fs::read_to_string(world.path("mirror/urepo.toml")).unwrap();
        let id = mirror.parse::<toml::Table>().unwrap()["id"].as_str().unwrap().to_owned();
        change(&world, "archive", |sidecar| marked(sidecar, |_| Party::From(id)));
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a hand-over of it has begun and is not finished
hint: `urepo -c [WORLD]/mirror recover` finishes it

"#]]);
    }
}

mod collections {
    use super::*;

    #[test]
    fn that_are_one() {
        let world = with_mirror();
        refuses(&world, "-c archive copy --all --to archive", 23).tells(str![[r#"
error: source and destination are one collection: `[WORLD]/archive`
hint: name another collection with `--to`

"#]]);
        symlink("archive", world.path("alias")).unwrap();
        refuses(&world, "-c archive migrate --all --to alias", 23).tells(str![[r#"
error: source and destination are one collection: `[WORLD]/archive`
hint: name another collection with `--to`

"#]]);
        let clone = std::fs::read(world.path("archive/urepo.toml")).unwrap();
        world.write("clone/urepo.toml", clone);
        std::fs::create_dir_all(world.path("clone/.urepo/staging")).unwrap();
        std::fs::create_dir_all(world.path("clone/.urepo/inventory")).unwrap();
        std::fs::create_dir_all(world.path("clone/.urepo/distributor")).unwrap();
        world.write("clone/.urepo/lock", "");
        refuses(&world, "-c archive copy --all --to clone", 23).tells(str![[r#"
error: `[WORLD]/archive` and `[WORLD]/clone` have the same collection id
hint: if `[WORLD]/clone` is to be a collection of its own, give it another `id` in its `urepo.toml`

"#]]);
    }

    #[test]
    fn that_are_not_there() {
        let world = with_mirror();
        refuses(&world, "-c archive copy --all --to nowhere", 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: `urepo init [WORLD]/nowhere --host FQDN` makes one

"#]]);
        refuses(&world, "-c mirror refresh --from nowhere", 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: `urepo init [WORLD]/nowhere --host FQDN` makes one

"#]]);
        refuses(&world, "-c mirror refresh", 1).tells(str![[r#"
error: no collection is known that may hold Originals
hint: name one with `--from PATH`

"#]]);
        refuses(&world, "-c mirror refresh 11.21.02.13 --from archive", 21).tells(str![[r#"
error: no item `11.21.02.13` in `[WORLD]/mirror`
hint: `urepo list` shows the names there are

"#]]);
    }

    #[test]
    fn with_a_copy_whose_original_is_far() {
        let world = with_copy(|_| ());
        change(&world, "archive", |sidecar| sidecar.state = State::Copy);
        refuses(&world, "-c mirror refresh 11.21.02.13 --from archive", 21).tells(str![[r#"
error: no known collection has the Original of `example.org/archive/2026/11.21.02.13`
hint: name the one that has it with `--from PATH`

"#]]);
    }

    #[test]
    fn that_are_full_or_read_only() {
        let script = "
            $UREPO -q init archive --host archive.example.org
            head -c 4000000 /dev/zero >large
            large=$($UREPO -c archive new large)
            mount -t tmpfs -o size=1m tmpfs mount
            $UREPO -q init mount/mirror --host mirror.example.org
            code=0; $UREPO -c archive copy $large --to mount/mirror 2>told || code=$?
            tell $code | sed \"s|$large|[NAME]|g\"
            mount -o remount,bind,ro mount
            code=0; $UREPO -c archive copy $large --to mount/mirror 2>told || code=$?; tell $code";
        let Some(told) = with_mounts(&World::new(), script) else { return };
        same(
            &told,
            str![[r#"
exit 1
error: no room for `[NAME]`: it takes 3.8 MiB, `[WORLD]/mount/mirror` has 1000 KiB
hint: make room, and repeat the command
exit 1
error: cannot open `[WORLD]/mount/mirror/.urepo/lock`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T .` shows it

"#]],
        );
    }

    /// A source that can not be written to can be copied from, and does not give anything away.
    #[test]
    fn that_can_only_be_read() {
        let script = "
            mount -t tmpfs tmpfs mount
            $UREPO -q init mount/archive --host archive.example.org
            $UREPO -q init mirror --host mirror.example.org
            name=$($UREPO -c mount/archive new a.txt)
            mount -o remount,bind,ro mount
            code=0; $UREPO -c mount/archive migrate --all --to mirror 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive copy --all --to mirror 2>told || code=$?; tell $code";
        let Some(told) = with_mounts(&World::new(), script) else { return };
        same(
            &told,
            str![[r#"
exit 1
error: cannot open `[WORLD]/mount/archive/.urepo/lock`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T .` shows it
exit 0
copied 1 item, 1 file, 1 B

"#]],
        );
    }
}

mod items {
    use super::*;

    #[test]
    fn that_are_damaged() {
        let world = with_mirror();
        let file = world.path("archive").join(NAME).join("doc/a.txt");
        std::fs::write(&file, "b").unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: sha256 3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d, in the sidecar ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
        std::fs::write(&file, "longer").unwrap();
        refuses(&world, "-c archive copy --all --to mirror", 3).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: 6 bytes, in the sidecar 1
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy
error: 1 of 1 item could not be copied
hint: each is named above, with its reason

"#]]);
        std::fs::remove_file(&file).unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: it is missing
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
        symlink("/etc/passwd", &file).unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: a link stands for it
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt` is damaged: it is no file
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
    }

    #[test]
    fn whose_sidecar_is_not_as_it_was() {
        let world = with_mirror();
        let sidecar = world.path("archive").join(NAME).join("item.toml");
        let text = std::fs::read_to_string(&sidecar).unwrap();
        std::fs::write(&sidecar, format!("# by hand\n{text}")).unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: it was changed after it was sealed
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
        let unsealed = text.split("[seal]").next().unwrap();
        std::fs::write(&sidecar, unsealed).unwrap();
        refuses(&world, "-c archive migrate 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: it has no seal
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
        std::fs::write(&sidecar, "format = ?").unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: line 1, column 10: string values must be quoted, expected literal string
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
        std::fs::remove_file(&sidecar).unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml` is damaged: it is missing
hint: `urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
    }

    #[test]
    fn whose_copies_are_damaged() {
        let world = with_copy(|_| ());
        std::fs::write(world.path("mirror").join(NAME).join("doc/a.txt"), "b").unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --checksum --to mirror", 20).tells(str![[r#"
error: `[WORLD]/mirror/example.org/archive/2026/11.21.02.13/doc/a.txt` does not read back as it was written
hint: `urepo -c [WORLD]/mirror verify` tells what else is damaged there

"#]]);
        std::fs::write(world.path("mirror").join(NAME).join("item.toml"), "format = 1").unwrap();
        refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 20).tells(str![[r#"
error: `[WORLD]/mirror/example.org/archive/2026/11.21.02.13/item.toml` is damaged: line 1, column 1: missing field `state`
hint: `urepo -c [WORLD]/mirror repair example.org/archive/2026/11.21.02.13` mends it from a good copy

"#]]);
    }

    #[test]
    fn that_are_not_there() {
        let world = with_mirror();
        let line = "-c archive copy example.org/archive/2009/02.16.17.46 --to mirror";
        refuses(&world, line, 21).tells(str![[r#"
error: no item `example.org/archive/2009/02.16.17.46` in `[WORLD]/archive`
hint: `urepo list` shows the names there are

"#]]);
        refuses(&world, "-c archive migrate nonsense 02.16 --to mirror", 3).tells(str![[r#"
error: no item `nonsense` in `[WORLD]/archive`
hint: `urepo list` shows the names there are
error: no item `02.16` in `[WORLD]/archive`
hint: `urepo list` shows the names there are
error: 2 of 2 items could not be migrated
hint: each is named above, with its reason

"#]]);
        refuses(&world, "-c archive copy --to mirror", 2).tells(str![[r#"
error: no item was given
hint: `urepo copy ITEM… --to COLLECTION`, or `--all` for every item

"#]]);
        refuses(&world, "-c archive copy --items-from missing --to mirror", 1).tells(str![[r#"
error: cannot open `missing`
caused by: No such file or directory (os error 2)

"#]]);
        refuses(&world, "-c archive copy --items-from archive --to mirror", 3).tells(str![[r#"
error: cannot read the list of items `archive`
caused by: Is a directory (os error 21)
error: 1 of 1 item could not be copied
hint: each is named above, with its reason

"#]]);
    }

    #[test]
    fn that_another_process_has_locked() {
        let world = with_mirror();
        let (collection, name) = (open(&world), NAME.parse().unwrap());
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let locks =
            lock_items([(&collection, &name)], &agent(), &waiter(&clock).up_to(PATIENT)).unwrap();
        let line = "--lock-wait 0 -c archive migrate 11.21.02.13 --to mirror";
        refuses(&world, line, 11).tells(str![[r#"
error: an item of the collection `archive` is being changed
caused by: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `--lock-wait 5m`; the lock ends with that process

"#]]);
        let line = "--lock-wait 0 -c archive migrate --all --to mirror";
        refuses(&world, line, 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: an item of the collection `archive` is being changed: held by `urepo new` since 2026-11-21T02:13:00Z (process 4312 on vault)
hint: repeat with `--lock-wait 5m`; the lock ends with that process
error: 1 of 1 item could not be migrated
hint: each is named above, with its reason

"#]]);
        drop(locks);
    }
}

mod hand_overs {
    use super::*;

    /// The record of a hand-over to a collection that is at `path`.
    fn record(world: &World, id: &str, path: &str, rest: &str) {
        let text = format!(
            "format = 1\ntoken = \"77\"\nto = \"{id}\"\nto_path = \"{}\"\nleave_copy = false\n\
             items = [{rest}]\n",
            world.path(path).display()
        );
        world.write("archive/.urepo/journal/handover-77.toml", text);
    }

    fn id_of(world: &World, root: &str) -> String {
        Collection::open(&world.path(root), &Watcher::default()).unwrap().id().to_owned()
    }

    #[test]
    fn to_a_collection_out_of_reach() {
        let world = with_mirror();
        record(&world, "0123456789abcdef", "gone", &format!("\"{NAME}\""));
        refuses(&world, "-c archive recover", 3).tells(str![[r#"
warning: the hand-over of example.org/archive/2026/11.21.02.13 is not finished: `[WORLD]/gone` is not a collection
there is nothing to remove
error: what was begun with 1 item could not be finished
hint: repeat the command when what is named above is mended or within reach

"#]]);
        // What is in its place is another one, and is not touched.
        record(&world, "0123456789abcdef", "mirror", &format!("\"{NAME}\""));
        refuses(&world, "-c archive recover", 3).tells(str![[r#"
warning: the hand-over of example.org/archive/2026/11.21.02.13 is not finished: `[WORLD]/mirror` is another collection than `0123456789abcdef`, which gets the item
there is nothing to remove
error: what was begun with 1 item could not be finished
hint: repeat the command when what is named above is mended or within reach

"#]]);
    }

    #[test]
    fn that_nothing_is_left_of() {
        let world = with_mirror();
        change(&world, "archive", |sidecar| sidecar.state = State::Copy);
        record(&world, &id_of(&world, "mirror"), "mirror", &format!("\"{NAME}\""));
        let ran = world.run("-c archive recover");
        assert_eq!(ran.code, 0);
        same(
            &ran.stderr,
            str![[r#"
withdrew the hand-over of example.org/archive/2026/11.21.02.13: it had not begun
there is nothing to remove

"#]],
        );
    }

    /// It is told, and keeps nobody from doing the rest.
    #[test]
    fn whose_record_can_not_be_read() {
        let world = with_mirror();
        for text in ["format = ?", "format = 2", "\u{0}"] {
            world.write("archive/.urepo/journal/handover-77.toml", text);
            let ran = world.run("-c archive recover");
            assert_eq!(ran.code, 3, "{}", ran.stderr);
        }
        refuses(&world, "-c archive recover", 3).tells(str![[r#"
warning: a hand-over is not finished: cannot use the journal `[WORLD]/archive/.urepo/journal/handover-77.toml`: key with no value, expected `=`
there is nothing to remove
error: what was begun with 1 item could not be finished
hint: repeat the command when what is named above is mended or within reach

"#]]);
        let ran = world.run("-c archive recover -n");
        same(
            ran.succeeded(),
            str![[r#"
could not finish a hand-over: cannot use the journal `[WORLD]/archive/.urepo/journal/handover-77.toml`: key with no value, expected `=`

"#]],
        );
        let ran = world.run("-c archive copy --all --to mirror");
        assert_eq!(ran.code, 0);
        same(
            &ran.stderr,
            str![[r#"
copied 1 item, 1 file, 1 B

"#]],
        );
    }
}

mod streams {
    use super::*;

    #[test]
    fn that_are_full_or_closed() {
        let world = with_mirror();
        let mut command = world.command("-c archive copy --all -v --to mirror".split(' '));
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
        let Ran { code, stderr, .. } = world.finish(command);
        assert_eq!(code, 1);
        same(
            &stderr,
            str![[r#"
copied 1 item, 1 file, 1 B
error: cannot write to stdout
caused by: No space left on device (os error 28)
hint: the work itself is done; only its report is lost

"#]],
        );
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut command = world.command("-c archive copy --all -v --to mirror".split(' '));
        command.stdout(writer);
        let Ran { code, stderr, .. } = world.finish(command);
        same(
            &stderr,
            str![[r#"
nothing to copy; 1 there already
error: cannot write to stdout
caused by: Broken pipe (os error 32)
hint: the work itself is done; only its report is lost

"#]],
        );
        assert_eq!(code, 1);
    }
}

// Those that nothing above can bring about: kept here so that their texts are looked at.
#[test]
fn the_rest() {
    let cause = || urepo::disk::PathError::new("sync", "mirror", rustix::io::Errno::IO.into());
    let name = || NAME.parse().unwrap();
    let errors = [
        TransferError::Changed { name: name() },
        TransferError::NotDurable { name: name(), source: cause() },
        TransferError::Unfinished { name: name(), source: Box::new(cause().into()) },
        TransferError::Interrupted,
        TransferError::GroupFailed,
    ];
    let texts: Vec<_> = errors.iter().map(|error| chain(error)).collect();
    same(
        &texts.join("\n\n"),
        str![[r#"
`example.org/archive/2026/11.21.02.13` was changed by another process meanwhile

`example.org/archive/2026/11.21.02.13` was put in place, but the disk did not confirm it
caused by: cannot sync `mirror`
caused by: Input/output error (os error 5)

the hand-over of `example.org/archive/2026/11.21.02.13` is not finished
caused by: cannot sync `mirror`
caused by: Input/output error (os error 5)

interrupted before it was transferred

not transferred, because of the failure before it
"#]],
    );
}

//! What is told when items are not copied, migrated or refreshed.

mod collections;
mod items;
mod refusals;
mod unrecorded;

use super::*;

use urepo::collection::{Subsystem, lock_items};
use urepo::identity::SECOND;
use urepo::item::State;
use urepo::sidecar::{Handover, Party, Sidecar};
use urepo::transfer::TransferError;

use crate::support::{change_item, copy_item, copy_tree, init, inventory_file, waiter};

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
    world.run("-c archive recover --restored").succeeded();
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

mod hand_overs {
    use super::*;

    /// The record of a hand-over to a collection that is at `path`.
    pub(super) fn record(world: &World, id: &str, path: &str, rest: &str) {
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
error: interrupted changes to 1 item could not be completed
hint: repeat the command when the items named above are repaired or reachable

"#]]);
        // What is in its place is another one, and is not touched.
        record(&world, "0123456789abcdef", "mirror", &format!("\"{NAME}\""));
        refuses(&world, "-c archive recover", 3).tells(str![[r#"
warning: the hand-over of example.org/archive/2026/11.21.02.13 is not finished: `[WORLD]/mirror` is another collection than `0123456789abcdef`, which gets the item
there is nothing to remove
error: interrupted changes to 1 item could not be completed
hint: repeat the command when the items named above are repaired or reachable

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

    /// What was to be received is looked at once by each command.
    #[test]
    fn is_told_of_once() {
        let world = with_copy(|sidecar| sidecar.state = State::Original);
        record(&world, &id_of(&world, "mirror"), "mirror", &format!("\"{NAME}\""));
        let ran = world.run("-c archive migrate --all --to mirror");
        assert_eq!(ran.stderr.matches("is not finished").count(), 1, "{}", ran.stderr);
    }

    /// The mirror was put back from a backup.
    #[test]
    fn of_what_is_in_neither() {
        let world = with_mirror();
        world.run(&format!("-c archive migrate {NAME} --to mirror")).succeeded();
        std::fs::remove_dir_all(world.path("mirror").join(NAME)).unwrap();
        std::fs::remove_file(inventory_file(&world.path("mirror"), NAME)).unwrap();
        record(&world, &id_of(&world, "mirror"), "mirror", &format!("\"{NAME}\""));
        let ran = world.run("-c archive recover");
        assert_eq!(ran.code, 3);
        same(
            &ran.stderr,
            str![[r#"
warning: the hand-over of example.org/archive/2026/11.21.02.13 cannot be finished: its Original is in neither collection any more
hint: `urepo -c archive repair ITEM --from COLLECTION` brings it back from a Copy; if the other collection gets it back from a later backup, `urepo -c archive recover --inventory` gives it up here
there is nothing to remove
error: interrupted changes to 1 item could not be completed
hint: repeat the command when the items named above are repaired or reachable

"#]],
        );
        assert_eq!(world.run("-c archive verify").code, 20);
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
error: interrupted changes to 1 item could not be completed
hint: repeat the command when the items named above are repaired or reachable

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

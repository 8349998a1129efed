//! What is told when items are not copied, migrated or refreshed.

mod collections;
mod items;
mod refusals;

use super::*;

use urepo::collection::{Subsystem, lock_changes};
use urepo::identity::SECOND;
use urepo::item::State;
use urepo::sidecar::Sidecar;
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
    world.run("-c archive recover --restored").succeeded();
    for root in ["archive", "mirror"] {
        world.run(&format!("-c {root} recover")).succeeded();
    }
    world
}

fn change(world: &World, root: &str, change: impl FnOnce(&mut Sidecar)) {
    change_item(&world.path(root), NAME, change);
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
        TransferError::Unfinished {
            name: name(),
            giver: "archive".into(),
            source: Box::new(cause().into()),
        },
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

the migration of `example.org/archive/2026/11.21.02.13` is not finished
caused by: cannot sync `mirror`
caused by: Input/output error (os error 5)

interrupted before it was transferred

not transferred, because of another failure
"#]],
    );
}

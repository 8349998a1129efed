//! Items that arrived and vanished at the receiver, while the giver still has the mark of the migration.

use std::path::PathBuf;

use urepo::custody::Leaves;
use urepo::item::State;
use urepo::layout::item_directory;
use urepo::sidecar::Sidecar;

use crate::support::{World, change_item, copy_tree};

/// Two collections that know each other. The migration of the item from `e` to `g` was killed after it had arrived, before
/// its giver could finish it.
struct Killed {
    world: World,
    item: String,
}

impl Killed {
    fn new() -> Killed {
        let world = World::new();
        world.write("letter.txt", "Dear Ana");
        let settings =
            ["e", "g"].map(|name| format!("{name} = \"{}\"\n", world.path(name).display()));
        world.write(".config/urepo/config.toml", format!("[collections]\n{}", settings.concat()));
        world.run("init e --host e.example.org").succeeded();
        world.run("init g --host g.example.org").succeeded();
        let item = world.run("-c e new letter.txt").succeeded().trim().to_owned();
        copy_tree(&world.path("e"), &world.path("before"));
        world.run(&format!("-c e migrate {item} --to g")).succeeded();
        let killed = Killed { world, item };
        let received = killed.sidecar("g").custody;
        std::fs::remove_dir_all(killed.world.path("e")).unwrap();
        std::fs::rename(killed.world.path("before"), killed.world.path("e")).unwrap();
        change_item(&killed.world.path("e"), &killed.item, |sidecar| {
            sidecar.state = State::Copy;
            sidecar.custody = sidecar.custody.ceded_to(&received, Leaves::Stub);
        });
        // What the machine remembers of a ledger would say that this one was put back.
        std::fs::remove_dir_all(killed.world.path(".state")).unwrap();
        killed
    }

    fn directory(&self, collection: &str) -> PathBuf {
        self.world.path(collection).join(item_directory(&self.item.parse().unwrap()))
    }

    fn sidecar(&self, collection: &str) -> Sidecar {
        let text = std::fs::read(self.directory(collection).join("item.toml")).unwrap();
        Sidecar::read(&text).unwrap().0
    }

    #[track_caller]
    fn run(&self, line: &str, code: i32) -> String {
        let ran = self.world.run(&line.replace("ITEM", &self.item));
        assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
        ran.stdout + &ran.stderr
    }
}

/// Its ledger says that the item arrived and was changed there. Nothing else does, so a withdrawal would drop the change.
#[test]
fn a_change_at_the_receiver_is_not_dropped_in_silence() {
    let killed = Killed::new();
    killed.run("-c g meta set ITEM title=changed", 0);
    std::fs::remove_dir_all(killed.directory("g")).unwrap();
    let told = killed.run("-c e recover", 3);
    assert!(told.contains("has lost it") && told.contains("recover --accept-loss"), "{told}");
    assert!(killed.sidecar("e").custody.ceded().is_some());
    // Only for an item that is named, and only after a person agreed.
    killed.run("-c e recover --accept-loss --yes", 2);
    killed.run("-c e recover --accept-loss ITEM", 2);
    assert!(killed.sidecar("e").custody.ceded().is_some());
    let told = killed.run("-c e recover --accept-loss --yes ITEM", 0);
    assert!(told.contains("what was changed after the item had left"), "{told}");
    let kept = killed.sidecar("e");
    assert_eq!(kept.state, State::Original);
    assert!(kept.custody.epoch() > 1_000);
    killed.run("-c e meta set ITEM title=here", 0);
}

/// Where a giver can mend the receiver, nothing is lost.
#[test]
fn what_can_be_brought_back_is_not_given_up() {
    let killed = Killed::new();
    std::fs::remove_dir_all(killed.directory("g")).unwrap();
    let told = killed.run("-c e recover --accept-loss --yes ITEM", 23);
    assert!(told.contains("repair"), "{told}");
    assert!(killed.sidecar("e").custody.ceded().is_some());
}

/// The giver has the very bytes that arrived.
#[test]
fn what_arrived_is_brought_back_from_its_giver() {
    for is_older in [false, true] {
        let killed = Killed::new();
        let older = killed.sidecar("e");
        std::fs::remove_dir_all(killed.directory("g")).unwrap();
        if is_older {
            // A Copy of the time before, put back by hand.
            copy_tree(&killed.directory("e"), &killed.directory("g"));
            let custody = older.custody.elsewhere();
            change_item(&killed.world.path("g"), &killed.item, |sidecar| sidecar.custody = custody);
        }
        let told = killed.run("-c e recover", 3);
        assert!(
            told.contains("repair ITEM --from".replace("ITEM", &killed.item).as_str()),
            "{told}"
        );
        killed.run("-c g repair ITEM --from e", 0);
        let received = killed.sidecar("g");
        assert_eq!(received.state, State::Original);
        assert_eq!(
            std::fs::read(killed.directory("g").join("doc/letter.txt")).unwrap(),
            b"Dear Ana"
        );
        killed.run("-c e recover", 0);
        assert_eq!(killed.sidecar("e").state, State::Elsewhere);
        killed.run("verify e g", 0);
    }
}

/// The giver becomes the tombstone, and does not point to one.
#[test]
fn a_deletion_at_the_receiver_is_a_tombstone_at_the_giver() {
    let killed = Killed::new();
    killed.run("-c g delete ITEM --force last", 0);
    killed.run("-c e recover", 0);
    assert_eq!(killed.sidecar("e").state, State::Deleted);
    assert_eq!(killed.sidecar("e").custody.id(), killed.sidecar("g").custody.id());
    killed.run("verify e g", 0);
}

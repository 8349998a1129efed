//! Hand-overs to a collection that is lost, and may come back.

use urepo::sidecar::{Handover, Party};

use super::{Sites, id};
use crate::support::change_item;

/// A mirror that was handing its items over when the receiver, the archive, was lost.
struct Interrupted {
    sites: Sites,
    archive: String,
}

impl Interrupted {
    /// A hand-over past its commit point: both sides are marked, and the journal has the record.
    fn new() -> Interrupted {
        let sites = Sites::new();
        let (archive, mirror) = (id(&sites.world, "away"), id(&sites.world, "mirror"));
        let mark = |party| Handover { token: "t".to_owned(), party };
        change_item(&sites.world.path("mirror"), &sites.name, |sidecar| {
            sidecar.handover = Some(mark(Party::To(archive.clone())));
        });
        change_item(&sites.world.path("away"), &sites.name, |sidecar| {
            sidecar.state = urepo::item::State::Copy;
            sidecar.origin.insert("collection".to_owned(), mirror.as_str().into());
            sidecar.handover = Some(mark(Party::From(mirror)));
        });
        let interrupted = Interrupted { sites, archive };
        interrupted.record("handover-2", "t", &interrupted.archive, &interrupted.sites.name);
        interrupted
    }

    fn record(&self, file: &str, token: &str, to: &str, item: &str) {
        let to_path = self.sites.world.path("archive").display().to_string();
        let record = format!(
            "format = 1\ntoken = \"{token}\"\nto = \"{to}\"\nto_path = \"{to_path}\"\n\
             leave_copy = false\nitems = [\"{item}\"]\n",
        );
        self.sites.world.write(&format!("mirror/.urepo/journal/{file}.toml"), record);
    }

    fn journal(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.sites.world.path("mirror/.urepo/journal")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

/// What is left here is all there is. Nobody waits for the receiver any more; but if it comes back, it
/// has its mark still, and loses it.
#[test]
fn a_receiver_that_was_lost_may_come_back_with_its_mark() {
    let interrupted = Interrupted::new();
    let Interrupted { sites, .. } = &interrupted;
    let recover = || sites.world.run("-c mirror recover");
    assert_eq!(recover().code, 3);
    let dry = sites.promote("mirror", "--all --with third --dry-run");
    assert_eq!((dry.code, sites.state("mirror").as_str()), (0, "Copy"), "{}", dry.stderr);
    sites.promote("mirror", "--all --with third").succeeded();
    let after = sites.sidecar("mirror");
    assert_eq!((after.state.to_string().as_str(), after.handover), ("Original", None));
    let told = recover();
    assert_eq!((told.succeeded(), told.stderr.as_str()), ("", "there is nothing to remove\n"));
    assert_eq!(sites.world.run("-c mirror recover --dry-run").succeeded(), "");
    sites.find_again();
    let told = recover();
    told.succeeded();
    assert!(told.stderr.contains("withdrew the hand-over"), "{}", told.stderr);
    let back = sites.sidecar("archive");
    assert_eq!((back.state.to_string().as_str(), back.handover), ("Copy", None));
    assert_eq!(interrupted.journal(), Vec::<String>::new());
    sites.world.run(&format!("-c mirror copy {} --to archive --refresh", sites.name)).succeeded();
}

/// A hand-over to another collection may still be finished, and so is one of an item that cannot be read:
/// it is reported, and the others end.
#[test]
fn one_damaged_item_keeps_only_its_own_hand_over_open() {
    let interrupted = Interrupted::new();
    let Interrupted { sites, archive } = &interrupted;
    sites.world.write("note.txt", "To whom it may concern");
    let damaged = sites.world.run("-c mirror new note.txt").line();
    let sidecar = sites.world.path("mirror").join(&damaged).join("item.toml");
    std::fs::write(sidecar, "format =").unwrap();
    interrupted.record("handover-1", "s", archive, &damaged);
    interrupted.record("handover-3", "r", &"0".repeat(32), &sites.name);
    let ran = sites.promote("mirror", &format!("{} --with third --json", sites.name));
    assert_eq!(sites.state("mirror"), "Original", "{}", ran.stderr);
    assert_ne!(ran.code, 0);
    assert!(ran.stdout.contains(&format!("\"id\":\"{damaged}\"")), "{}", ran.stdout);
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.contains(&format!("\"exit_code\":{}", ran.code)), "{last}");
    let is_lost = |file: &str| {
        let path = sites.world.path(format!("mirror/.urepo/journal/{file}"));
        std::fs::read_to_string(path).unwrap().contains("lost = true")
    };
    let journal = interrupted.journal();
    let lost: Vec<_> = journal.iter().map(|file| is_lost(file)).collect();
    assert_eq!((journal.len(), lost), (3, vec![false, true, false]));
}

/// The receiver had become the Original when it was lost, and comes back when the giver's, promoted, has gone on.
#[test]
fn a_lost_receiver_that_comes_back_as_the_original_is_no_end_of_a_hand_over() {
    let interrupted = Interrupted::new();
    let Interrupted { sites, .. } = &interrupted;
    let world = &sites.world;
    change_item(&world.path("away"), &sites.name, |sidecar| {
        sidecar.state = urepo::item::State::Original;
        sidecar.origin.remove("collection");
        sidecar.handover = None;
    });
    sites.promote("mirror", "--all --with third").succeeded();
    let recover = || world.run("-c mirror recover");
    let refuses = || {
        let ran = recover();
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("demote"), "{}", ran.stderr);
        assert_eq!(interrupted.journal().len(), 1);
    };
    // The giver still has the other Original, or has handed it on.
    sites.find_again();
    refuses();
    sites.lose();
    world.run(&format!("-c mirror migrate {} --to third", sites.name)).succeeded();
    sites.find_again();
    refuses();
    world.run("-c archive demote --all --to-copy-of third -y").succeeded();
    recover().succeeded();
    assert_eq!(interrupted.journal(), Vec::<String>::new());
}

//! A lost site comes back: Copies become Originals, and an Original that turns up again a Copy.

mod discarded;
mod faults;
mod handed_over;
mod mistaken;
mod put_back;
mod trails;
mod vanished;

use urepo::sidecar::Sidecar;

use crate::support::{Ran, World, change_item};

/// An archive that is lost, and two mirrors with Copies of its one item.
struct Sites {
    world: World,
    name: String,
}

impl Sites {
    fn new() -> Sites {
        let world = World::new();
        for root in ["archive", "mirror", "third"] {
            world.run(&format!("init {root} --host {root}.example.org")).succeeded();
        }
        world.write("letter.txt", "Dear all");
        let name = world.run("-c archive new letter.txt --title Letter").line();
        for root in ["mirror", "third"] {
            world.run(&format!("-c archive copy --all --to {root}")).succeeded();
        }
        let sites = Sites { world, name };
        sites.lose();
        sites
    }

    fn lose(&self) {
        std::fs::rename(self.world.path("archive"), self.world.path("away")).unwrap();
    }

    fn find_again(&self) {
        std::fs::rename(self.world.path("away"), self.world.path("archive")).unwrap();
    }

    fn promote(&self, root: &str, more: &str) -> Ran {
        let line = format!("-c {root} promote --lost archive --reason fire -y {more}");
        self.world.run(&line)
    }

    fn sidecar(&self, root: &str) -> Sidecar {
        let path = self.world.path(root).join(&self.name).join("item.toml");
        Sidecar::read(&std::fs::read(path).unwrap()).unwrap().0
    }

    fn state(&self, root: &str) -> String {
        self.sidecar(root).state.to_string()
    }

    #[track_caller]
    fn refuses(&self, ran: &Ran, code: i32, told: &str) {
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert_eq!(self.state("mirror"), "Copy");
    }
}

#[test]
fn a_lost_site_is_replaced_and_comes_back() {
    let sites = Sites::new();
    let world = &sites.world;
    assert_eq!(world.run("-c mirror status --with third").code, 3, "Copies without an Original");
    let before = sites.sidecar("mirror");
    assert_eq!(sites.promote("mirror", "--all --with third --dry-run").code, 0);
    assert_eq!(sites.sidecar("mirror"), before);
    sites.promote("mirror", "--all --with third").succeeded();
    let after = sites.sidecar("mirror");
    assert_eq!(after.state.to_string(), "Original");
    assert!(after.timestamp > before.timestamp);
    let entry = &after.origin["handovers"].as_array().unwrap()[0];
    assert_eq!(entry["from"], before.origin["collection"]);
    assert_eq!((entry["reason"].as_str(), after.origin.get("collection")), (Some("fire"), None));
    let log = world.run("-c mirror log --json");
    assert!(log.succeeded().contains("\"promotion\""), "{}", log.stdout);
    // Again it is done already, and in the other mirror it is too late.
    sites.promote("mirror", &format!("--with third {}", sites.name)).succeeded();
    assert_eq!(sites.sidecar("mirror"), after);
    let ran = sites.promote("third", &format!("--with mirror {}", sites.name));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    // The other Copies follow.
    world.run("-c third refresh --from mirror --all").succeeded();
    world.run("verify mirror third").succeeded();
    world.run("-c mirror status --with third").succeeded();
    assert_eq!(sites.sidecar("third").origin["collection"].as_str(), Some(&*id(world, "mirror")));

    sites.find_again();
    assert_eq!(world.run("verify archive mirror").code, 20);
    assert_eq!(world.run(&format!("-c mirror whereis {} --with archive", sites.name)).code, 23);
    for _ in 0..2 {
        world.run("-c archive demote --all --to-copy-of mirror -y").succeeded();
        assert_eq!(sites.state("archive"), "Copy");
    }
    let verified = world.run("verify archive mirror third");
    assert_eq!(verified.succeeded().lines().filter(|line| line.contains("U4")).count(), 0);
    world.run("-c mirror status --with archive --with third").succeeded();
    let again = world.run("-c mirror copy --all --to archive");
    again.succeeded();
}

fn id(world: &World, root: &str) -> String {
    let text = std::fs::read_to_string(world.path(root).join("urepo.toml")).unwrap();
    text.parse::<toml::Table>().unwrap()["id"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_is_promoted_that_may_have_an_original() {
    let sites = Sites::new();
    let (world, item) = (&sites.world, &sites.name);
    sites.find_again();
    sites.refuses(&sites.promote("mirror", item), 23, "is not lost");
    let by_id = id(world, "archive");
    let line = format!("-c mirror promote {item} --lost {by_id} --reason fire -y --with archive");
    sites.refuses(&world.run(&line), 23, "is not lost");
    sites.lose();
    // A collection of the settings that is not mounted may hold it.
    let unmounted = world.path("unmounted");
    let settings = format!("[collections]\ndisk = \"{}\"\n", unmounted.display());
    world.write(".config/urepo/config.toml", settings);
    sites.refuses(&sites.promote("mirror", item), 23, "`disk` cannot be opened");
    std::fs::remove_file(world.path(".config/urepo/config.toml")).unwrap();
    let another = format!("-c mirror promote {item} --lost {} --reason fire -y", "0".repeat(32));
    sites.refuses(&world.run(&another), 23, "may hold the Original");
    let no_reason = format!("-c mirror promote {item} --lost archive -y --reason=");
    sites.refuses(&world.run(&no_reason), 2, "reason");
}

#[test]
fn a_copy_is_promoted_only_if_no_other_is_better() {
    let sites = Sites::new();
    let promote = || sites.promote("mirror", &format!("--with third {}", sites.name));
    let third = |change: &dyn Fn(&mut Sidecar)| {
        change_item(&sites.world.path("third"), &sites.name, change);
    };
    third(&|sidecar| sidecar.metadata.add("creator", "A. Archivist").unwrap());
    sites.refuses(&promote(), 23, "of the same date and differs");
    third(&|sidecar| sidecar.timestamp = "2100-01-01T00:00:00Z".parse().unwrap());
    sites.refuses(&promote(), 23, "is later than this one");
    third(&|sidecar| sidecar.state = urepo::item::State::Deleted);
    sites.refuses(&promote(), 23, "was deleted in");
    let file = sites.world.path("mirror").join(&sites.name).join("doc/letter.txt");
    std::fs::write(file, "Dear alk").unwrap();
    sites.refuses(&sites.promote("mirror", &sites.name), 20, "is damaged");
}

#[test]
fn an_open_hand_over_is_finished_first() {
    let sites = Sites::new();
    change_item(&sites.world.path("mirror"), &sites.name, |sidecar| {
        let party = urepo::sidecar::Party::From(id(&sites.world, "third"));
        sidecar.handover = Some(urepo::sidecar::Handover { token: "t".to_owned(), party });
    });
    sites.refuses(&sites.promote("mirror", &sites.name), 23, "hand-over");
}

/// Only the giver's journal can finish it.
#[test]
fn the_giver_of_an_open_hand_over_is_named() {
    let sites = Sites::new();
    let giver = "0".repeat(32);
    change_item(&sites.world.path("third"), &sites.name, |sidecar| {
        let party = urepo::sidecar::Party::From(giver.clone());
        sidecar.handover = Some(urepo::sidecar::Handover { token: "t".to_owned(), party });
    });
    let ran = sites.promote("mirror", &format!("--with third {}", sites.name));
    sites.refuses(&ran, 23, &format!("where PATH is the collection `{giver}`"));
}

#[test]
fn an_original_that_differs_is_never_lost() {
    let sites = Sites::new();
    let (world, item) = (&sites.world, &sites.name);
    sites.promote("mirror", "--all --with third").succeeded();
    sites.find_again();
    change_item(&world.path("archive"), item, |sidecar| {
        sidecar.metadata.add("creator", "A. Archivist").unwrap();
    });
    let demote = format!("-c archive demote {item} --to-copy-of mirror -y");
    let ran = world.run(&demote);
    assert_eq!((ran.code, sites.state("archive")), (23, "Original".to_owned()), "{}", ran.stderr);
    world.run(&format!("{demote} --force different")).succeeded();
    assert!(!world.path("archive").join(item).exists());
    // It stays in the trash, and does not become a second Original from there.
    let revive = format!("-c archive restore {item} --with mirror");
    assert_eq!(world.run(&revive).code, 23);
    world.run("-c mirror copy --all --to archive").succeeded();
    world.run("verify archive mirror").succeeded();
    assert_eq!(sites.state("archive"), "Copy");
}

#[test]
fn an_original_does_not_give_way_to_a_damaged_one() {
    let sites = Sites::new();
    let world = &sites.world;
    sites.promote("mirror", "--all --with third").succeeded();
    sites.find_again();
    let file = world.path("mirror").join(&sites.name).join("doc/letter.txt");
    std::fs::write(file, "Dear alk").unwrap();
    let demote = format!("-c archive demote {} --to-copy-of mirror -y", sites.name);
    assert_eq!(world.run(&demote).code, 20);
    assert_eq!(sites.state("archive"), "Original");
    let ran = world.run(&format!("-c archive demote {} --to-copy-of third -y", sites.name));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
}

/// The Original went on from the archive to another site, and the mirror never learned of it.
#[test]
fn a_mirror_need_not_know_where_the_original_went() {
    for leaves_copy in ["", "--leave-copy"] {
        let sites = Sites::new();
        let (world, item) = (&sites.world, &sites.name);
        sites.find_again();
        world.run("init new-site --host new-site.example.org").succeeded();
        world.run(&format!("-c archive migrate {item} {leaves_copy} --to new-site")).succeeded();
        let lost = id(world, "new-site");
        std::fs::rename(world.path("new-site"), world.path("burnt")).unwrap();
        let promote =
            |more: &str| world.run(&format!("-c mirror promote --reason fire -y --all {more}"));
        // The archive may hold it, for all the mirror knows.
        let ran = promote(&format!("--with third --lost {lost}"));
        assert_eq!((ran.code, sites.state("mirror")), (0, "Copy".to_owned()), "{}", ran.stderr);
        let named = format!("-c mirror promote {item} --reason fire -y --with third --lost {lost}");
        sites.refuses(&world.run(&named), 23, &id(world, "archive"));
        let lost_by_path = world.path("new-site").display().to_string();
        promote(&format!("--with third --with archive --lost {lost_by_path}")).succeeded();
        let handovers = sites.sidecar("mirror").origin["handovers"].clone();
        let last = handovers.as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            (sites.state("mirror"), last["from"].as_str()),
            ("Original".into(), Some(&*lost))
        );
    }
}

/// Both collections that the Copies name are lost: both have to be named.
#[test]
fn every_lost_collection_is_named() {
    let sites = Sites::new();
    let (world, item) = (&sites.world, &sites.name);
    let (archive, third) = (id(world, "away"), id(world, "third"));
    change_item(&world.path("mirror"), item, |sidecar| {
        let party = urepo::sidecar::Party::From(third.clone());
        sidecar.handover = Some(urepo::sidecar::Handover { token: "t".to_owned(), party });
    });
    std::fs::rename(world.path("third"), world.path("gone")).unwrap();
    let line = format!("-c mirror promote {item} --reason fire -y --lost");
    sites.refuses(&world.run(&format!("{line} {archive}")), 23, "hand-over");
    sites.refuses(&world.run(&format!("{line} {third}")), 23, &archive);
    world.run(&format!("{line} {archive} --lost {third}")).succeeded();
    let after = sites.sidecar("mirror");
    assert_eq!((after.state.to_string().as_str(), after.handover), ("Original", None));
    world.run("-c mirror verify").succeeded();
}

/// As with `copy --all`, it is no error that all is as it should be.
#[test]
fn of_all_items_there_may_be_nothing_to_promote() {
    let sites = Sites::new();
    let lost = id(&sites.world, "third");
    std::fs::rename(sites.world.path("third"), sites.world.path("gone")).unwrap();
    for dry in ["", "--dry-run"] {
        let line = format!("-c mirror promote --all --lost {lost} --reason fire -y {dry}");
        let ran = sites.world.run(&line);
        assert_eq!((ran.succeeded(), ran.stderr.as_str()), ("", "nothing to promote\n"));
    }
}

//! A lost site is replaced by its mirror, and comes back.

mod faults;

use urepo::custody::{Custody, CustodyId};
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
    sites.refuses(&world.run(&another), 23, "was not seen to have the item");
}

#[test]
fn a_copy_is_promoted_only_if_no_other_is_better() {
    let sites = Sites::new();
    let promote =
        |more: &str| sites.promote("mirror", &format!("--with third {}{more}", sites.name));
    // A line of its own, and a newer state.
    change_item(&sites.world.path("third"), &sites.name, |sidecar| {
        sidecar.metadata.add("creator", "A. Archivist").unwrap();
        sidecar.custody = Custody::first(CustodyId::from(*b"another!"), "elsewhere");
    });
    sites.refuses(&promote(""), 23, "--discard");
    let file = sites.world.path("mirror").join(&sites.name).join("doc/letter.txt");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, "Dear alk").unwrap();
    sites.refuses(&promote(" --discard"), 20, "is damaged");
    std::fs::write(&file, whole).unwrap();
    promote(" --discard").succeeded();
    assert_eq!(sites.state("mirror"), "Original");
    // What was given up is behind now.
    sites.world.run("-c mirror copy --all --to third").succeeded();
    sites.world.run("verify mirror third").succeeded();
}

/// The lost site is found again: its Original is behind, and gives way to a person's word alone.
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
    assert_eq!(after.custody.epoch(), before.custody.epoch() + 1000);
    assert_eq!(
        (after.timestamp, after.custody.holder()),
        (before.timestamp, &*id(world, "mirror"))
    );
    let log = world.run("-c mirror log --json");
    assert!(log.succeeded().contains("\"promotion\""), "{}", log.stdout);
    // Again it is done already, and in the other mirror it is too late.
    sites.promote("mirror", &format!("--with third {}", sites.name)).succeeded();
    assert_eq!(sites.sidecar("mirror"), after);
    let ran = sites.promote("third", &format!("--with mirror {}", sites.name));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    // The other Copies follow.
    world.run("-c mirror copy --all --to third").succeeded();
    world.run("verify mirror third").succeeded();
    world.run("-c mirror status --with third").succeeded();

    sites.find_again();
    assert_eq!(world.run("verify archive mirror").code, 20);
    assert_eq!(world.run(&format!("-c mirror status {} --with archive", sites.name)).code, 23);
    assert_eq!(
        world.run("-c mirror copy --all --to archive").code,
        3,
        "an Original gives way to nobody"
    );
    assert_eq!(sites.state("archive"), "Original");
    assert_eq!(world.run("-c archive recover --with mirror").code, 2, "it cannot ask");
    assert_eq!(sites.state("archive"), "Original");
    for _ in 0..2 {
        world.run("-c archive recover --with mirror -y").succeeded();
        assert_eq!(sites.state("archive"), "Copy");
    }
    world.run("verify archive mirror third").succeeded();
    world.run("-c mirror status --with archive --with third").succeeded();
    world.run("-c mirror copy --all --to archive").succeeded();
}

/// An item that was changed in two collections: a person says which line goes on.
#[test]
fn a_promotion_ends_a_fork() {
    let sites = Sites::new();
    let (world, item) = (&sites.world, &sites.name);
    sites.promote("mirror", "--all --with third").succeeded();
    world.run(&format!("-c mirror meta set {item} title=There")).succeeded();
    sites.find_again();
    world.run(&format!("-c archive meta set {item} title=Here")).succeeded();
    assert_eq!(world.run("verify archive mirror").code, 20);
    let promote = format!("-c archive promote {item} --with mirror -y");
    let ran = world.run(&promote);
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("--discard"), "{}", ran.stderr);
    world.run(&format!("{promote} --discard")).succeeded();
    world.run("-c mirror recover --with archive -y").succeeded();
    assert_eq!(sites.state("mirror"), "Copy");
    assert_eq!(sites.sidecar("mirror").metadata.title(), Some("Here"));
    world.run("verify archive mirror").succeeded();
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

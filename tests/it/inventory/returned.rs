//! Originals that left for another collection and are back, put there by hand.

use serde_json::json;
use urepo::collection::recover;
use urepo::disk::Holder;

use super::{MINUTES, Told, told};
use crate::cli::records;
use crate::support::{
    TestClock, World as Sites, agent, append, copy_tree, inventory_file, inventory_line, waiter,
};

/// An item that migrated from the archive to the mirror, and whose directory is back from a backup.
fn put_back() -> (Sites, String) {
    put_back_after(&["migrate ITEM --to mirror"])
}

/// The same after other commands.
fn put_back_after(commands: &[&str]) -> (Sites, String) {
    let sites = Sites::new();
    sites.run("init archive --host archive.example.org").succeeded();
    sites.run("init mirror --host mirror.example.org").succeeded();
    sites.write("letter.txt", "Dear all");
    let name = sites.run("-c archive new letter.txt").line();
    let item = sites.path("archive").join(&name);
    copy_tree(&item, &sites.path("backup"));
    for command in commands {
        sites.run(&format!("-c archive {}", command.replace("ITEM", &name))).succeeded();
    }
    std::fs::create_dir_all(item.parent().unwrap()).unwrap();
    copy_tree(&sites.path("backup"), &item);
    (sites, name)
}

#[test]
fn it_is_damage_until_a_person_decides() {
    let (sites, name) = put_back();
    for _ in 0..2 {
        let ran = sites.run("-c archive verify");
        assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
        let line = ran.stdout.lines().next().unwrap();
        assert!(line.starts_with(&format!("U112  damage   {name}  ")), "{line}");
        assert!(line.contains("it was migrated to the collection `mirror` ("), "{line}");
    }
    for line in [
        format!("-c archive migrate {name} --to mirror"),
        format!("-c mirror demote {name} --to-copy-of archive -y"),
    ] {
        let ran = sites.run(&line);
        assert_eq!(ran.code, 23, "{}", ran.stderr);
    }
    sites.run(&format!("-c archive demote {name} --to-copy-of mirror -y")).succeeded();
    sites.run("verify archive mirror").succeeded();
}

/// Asked about the item alone, or about all collections, urepo says the same.
#[test]
fn every_command_that_looks_says_so() {
    let (sites, name) = put_back();
    let ran = sites.run(&format!("-c archive verify {name}"));
    assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with(&format!("U112  damage   {name}  ")), "{}", ran.stdout);
    assert!(ran.stdout.contains("it was migrated to the collection `mirror` ("), "{}", ran.stdout);
    assert!(
        ran.stderr.contains(
            "`urepo -c archive demote ITEM --to-copy-of COLLECTION` makes an Original a Copy again;"
        ),
        "{}",
        ran.stderr
    );
    let all = sites.run("-c archive verify");
    assert_eq!(ran.stdout, all.stdout, "of all items as of this one");

    let ran = sites.run(&format!("-c archive verify --quick --json {name}"));
    assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
    let item = &records(&ran)[0];
    assert_eq!((&item["outcome"], &item["state"]), (&json!("damaged"), &json!("Original")));
    assert_eq!(item["findings"][0]["finding"], "U112", "{item}");

    let ran = sites.run("-c archive status");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(&format!("left `archive`, and is back there: {name}\n")));
    assert!(ran.stderr.contains("1 item returned after it had left"), "{}", ran.stderr);
    let told = records(&sites.run("-c archive status --json"));
    let concern = told.iter().find(|it| it["type"] == "concern").unwrap();
    assert_eq!((&concern["kind"], &concern["id"]), (&json!("returned"), &json!(name)));
    assert_eq!(told.last().unwrap()["counts"]["returned"], 1);

    sites.run("-c archive recover --inventory --yes").succeeded();
    sites.run(&format!("-c archive verify {name}")).succeeded();
    sites.run("-c archive status").succeeded();
}

/// A run that takes an item away, or brings one, has recorded it as gone all the while.
#[test]
fn nothing_is_said_of_an_item_while_others_are_at_work() {
    let (sites, name) = put_back();
    let stage = sites.path("archive/.urepo/staging/other");
    std::fs::create_dir(&stage).unwrap();
    for line in [format!("-c archive verify {name}"), "-c archive verify".to_owned()] {
        sites.run(&line).succeeded();
    }
    sites.run("-c archive status").succeeded();
    std::fs::remove_dir(stage).unwrap();
    assert_eq!(sites.run(&format!("-c archive verify {name}")).code, 20);
}

#[test]
fn the_other_original_does_not_give_way_to_it() {
    let (sites, name) = put_back();
    let ran = sites.run(&format!("-c mirror demote {name} --to-copy-of archive -y"));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("archive` no longer holds the Original of"), "{}", ran.stderr);
    // A person knows better.
    let ran = sites.run("-c archive recover --inventory --yes");
    assert_eq!(ran.succeeded(), format!("taken in: {name}, Original\n"));
    sites.run("-c archive verify").succeeded();
    sites.run(&format!("-c mirror demote {name} --to-copy-of archive -y")).succeeded();
}

/// A backup may have the tombstone of an item that was restored and migrated since: no other collection learns
/// from it that the item was deleted.
#[test]
fn a_tombstone_that_is_back_deletes_nothing_elsewhere() {
    let sites = Sites::new();
    for site in ["archive", "mirror", "third"] {
        sites.run(&format!("init {site} --host {site}.example.org")).succeeded();
    }
    sites.write("letter.txt", "Dear all");
    let name = sites.run("-c archive new letter.txt").line();
    sites.run("-c archive copy --all --to third").succeeded();
    sites.run(&format!("-c archive delete {name} --with third --reason error")).succeeded();
    let item = sites.path("archive").join(&name);
    copy_tree(&item, &sites.path("backup"));
    sites.run(&format!("-c archive restore {name}")).succeeded();

    let sidecar = item.join("item.toml");
    let alive = std::fs::read(&sidecar).unwrap();
    std::fs::copy(sites.path("backup/item.toml"), &sidecar).unwrap();
    let ran = sites.run("-c archive copy --all --to third");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("by its inventory, it became Original on "), "{}", ran.stderr);
    std::fs::write(&sidecar, alive).unwrap();

    sites.run(&format!("-c archive migrate {name} --to mirror")).succeeded();
    copy_tree(&sites.path("backup"), &item);
    for target in ["third", "mirror"] {
        sites.run(&format!("-c archive copy --all --to {target}"));
    }
    let ran = sites.run("-c archive copy --all --to third");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("by its inventory, it was migrated to"), "{}", ran.stderr);
    assert_eq!(sites.run(&format!("-c archive verify {name}")).code, 20);
    sites.run("-c mirror copy --all --to third").succeeded();
    sites.run("verify mirror third").succeeded();
}

#[test]
fn it_is_not_deleted() {
    let (sites, name) = put_back();
    let ran = sites.run(&format!("-c archive delete {name} --with mirror --reason error"));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("archive` no longer holds the Original of"), "{}", ran.stderr);
    sites.run(&format!("-c archive demote {name} --to-copy-of mirror -y")).succeeded();
    sites.run(&format!("-c archive delete {name} --with mirror --reason error")).succeeded();
    sites.run("verify archive mirror").succeeded();
}

/// Whatever a killed run left, and however early it began: the other collection has the Original.
#[test]
fn no_recovery_makes_it_a_second_original() {
    let early = Holder {
        since: "2000-01-01T00:00:00Z".parse().unwrap(),
        ..agent().holder(&TestClock::at(MINUTES[0]))
    };
    for note in [None, Some(None), Some(Some(early.to_string()))] {
        let world = super::World::new();
        let name = &world.names[0];
        let line = format!("left {name} migrated 60cb73fd mirror");
        let file = inventory_file(&world.root, name.as_str());
        append(&file, &inventory_line("2026-11-23T10:00:00Z", &line));
        // A killed run has put this one in place.
        let new = world.root.join(world.names[1].as_str());
        let later = new.with_file_name("11.21.02.15.10");
        copy_tree(&new, &later);
        let returned = Told { returned: vec![name.clone()], ..Told::default() };
        let stage = world.root.join(".urepo/staging/killed");
        if let Some(note) = &note {
            std::fs::create_dir_all(&stage).unwrap();
            if let Some(note) = note {
                std::fs::write(stage.join("holder"), note).unwrap();
            }
        }
        let clock = TestClock::at("2027-01-02T00:00:00Z");
        world.collection().writer(&agent(), &waiter(&clock)).unwrap().finish().unwrap();
        recover(&world.collection(), &agent(), &waiter(&clock)).unwrap();
        assert_eq!(told(&world.root), returned, "{note:?}");
    }
}

#[test]
fn it_is_not_changed_after_a_recovery_either() {
    let (sites, name) = put_back();
    sites.run("-c archive recover").succeeded();
    assert_eq!(sites.run(&format!("-c archive meta set {name} title=Other")).code, 23);
    sites.run(&format!("-c mirror meta set {name} title=Other")).succeeded();
    assert_eq!(sites.run("-c archive verify").code, 20);
}

/// The Original migrated and left a Copy here, which was deleted: what was put back since is no Original.
#[test]
fn a_deleted_copy_does_not_come_back_as_the_original() {
    let (sites, name) = put_back_after(&[
        "migrate ITEM --to mirror --leave-copy",
        "delete ITEM --with mirror --yes",
    ]);
    assert_eq!(sites.run("-c archive verify").code, 20);
    assert_eq!(sites.run(&format!("-c archive meta set {name} title=Other")).code, 23);
    sites.run(&format!("-c mirror meta set {name} title=Other")).succeeded();
}

/// A file of it that is damaged as well is repaired, and nothing else.
#[test]
fn no_repair_makes_it_a_second_original() {
    let (sites, name) = put_back();
    sites.write(&format!("archive/{name}/doc/letter.txt"), "Dear none");
    sites.run(&format!("-c archive repair {name} --from mirror")).succeeded();
    let ran = sites.run("-c archive verify");
    assert_eq!((ran.code, ran.stdout.lines().count()), (20, 1), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("U112"), "{}", ran.stdout);
}

/// Another collection may have promoted its Copy since.
#[test]
fn an_original_that_was_given_up_and_is_back() {
    for is_promoted in [true, false] {
        let (sites, name) = put_back_after(&["copy ITEM --to mirror"]);
        let item = sites.path("archive").join(&name);
        std::fs::remove_dir_all(&item).unwrap();
        sites.run("-c archive recover --inventory --yes").succeeded();
        if is_promoted {
            let line = format!("-c mirror promote {name} --lost archive --reason fire -y");
            sites.run(&line).succeeded();
        }
        copy_tree(&sites.path("backup"), &item);
        for line in ["-c archive verify".to_owned(), format!("-c archive verify {name}")] {
            for _ in 0..2 {
                let ran = sites.run(&line);
                assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
                assert!(ran.stdout.starts_with(&format!("U112  damage   {name}  ")), "{line}");
                assert!(ran.stdout.contains("it was given up as lost on "), "{}", ran.stdout);
            }
        }
        if is_promoted {
            sites.run(&format!("-c archive demote {name} --to-copy-of mirror -y")).succeeded();
        } else {
            let ran = sites.run(&format!("-c archive migrate {name} --to mirror"));
            assert_eq!(ran.code, 23, "{}", ran.stderr);
            assert!(ran.stderr.contains("given up as lost"), "{}", ran.stderr);
            sites.run("-c archive recover --inventory --yes").succeeded();
        }
        assert!(!sites.run("verify archive mirror").succeeded().contains("U4"));
    }
}

//! An Original that gave way to another one stays in the trash while any collection may hold that one.

use urepo::collection::{Collection, InventoryChange};
use urepo::disk::Watcher;
use urepo::item::State;

use super::*;

/// The archive, whose Original differed from that of the mirror and is in its trash.
fn discarded() -> Sites {
    let sites = Sites::new();
    sites.promote("mirror", "--all --with third").succeeded();
    sites.find_again();
    change_item(&sites.world.path("archive"), &sites.name, |sidecar| {
        sidecar.metadata.add("creator", "A. Archivist").unwrap();
    });
    discard(&sites).succeeded();
    sites
}

fn discard(sites: &Sites) -> Ran {
    let line = format!("-c archive demote {} --to-copy-of mirror -y --force different", sites.name);
    sites.world.run(&line)
}

fn revive(sites: &Sites, more: &str) -> Ran {
    sites.world.run(&format!("-c archive restore {} {more}", sites.name))
}

#[track_caller]
fn stays(sites: &Sites, ran: &Ran, told: &str) {
    assert_eq!(ran.code, 23, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(!sites.world.path("archive").join(&sites.name).exists());
}

#[test]
fn it_comes_back_only_if_the_other_one_was_looked_for() {
    let sites = discarded();
    let mirror = format!("the collection `mirror` ({})", id(&sites.world, "mirror"));
    for more in ["", "--with third", "--dry-run"] {
        stays(&sites, &revive(&sites, more), &mirror);
    }
    stays(&sites, &revive(&sites, "--with mirror --force missing"), "holds the Original");
    // A person may know that the mirror is gone.
    revive(&sites, "--force missing").succeeded();
    assert_eq!(sites.state("archive"), "Original");
    let archive = Collection::open(&sites.world.path("archive"), &Watcher::default()).unwrap();
    let recorded = archive.last_record(&sites.name.parse().unwrap()).unwrap().unwrap();
    assert_eq!(recorded.line.change, InventoryChange::Entered(State::Original));
}

#[test]
fn a_repeated_run_has_nothing_to_do() {
    let sites = discarded();
    let (_, last_level) = sites.name.rsplit_once('/').unwrap();
    for item in [&*sites.name, last_level] {
        let line = format!("-c archive demote {item} --to-copy-of mirror -y");
        let ran = sites.world.run(&format!("{line} --force different"));
        assert!(ran.code == 0 && ran.stderr.contains("needs no change"), "{}", ran.stderr);
        // Without the rule it is not known to have been meant.
        let ran = sites.world.run(&line);
        assert!(ran.code == 21 && ran.stderr.contains("`mirror`"), "{}", ran.stderr);
    }
}

#[test]
fn the_other_one_is_followed_to_where_it_went() {
    let sites = discarded();
    let world = &sites.world;
    world.run("init next --host next.example.org").succeeded();
    world.run(&format!("-c mirror migrate {} --to next", sites.name)).succeeded();
    stays(&sites, &revive(&sites, "--with mirror"), &id(world, "next"));
    stays(&sites, &revive(&sites, "--with mirror --with next"), "next` holds the Original");
    std::fs::remove_dir_all(world.path("next").join(&sites.name)).unwrap();
    let ran = revive(&sites, "--with mirror --with next");
    assert!(ran.code == 20 && ran.stderr.contains("next` has lost"), "{}", ran.stderr);
}

/// A collection that held the other one, and whose inventory is gone, does not say where that went.
#[test]
fn a_trail_that_breaks_off_is_settled_by_a_person() {
    let sites = discarded();
    let world = &sites.world;
    world.run("init next --host next.example.org").succeeded();
    world.run(&format!("-c mirror migrate {} --to next", sites.name)).succeeded();
    let inventory = crate::support::inventory_file(&world.path("mirror"), &sites.name);
    std::fs::remove_file(inventory).unwrap();
    let told = "mirror` does not say where the Original";
    stays(&sites, &revive(&sites, "--with mirror"), told);
    revive(&sites, "--with mirror --force missing").succeeded();
    assert_eq!(sites.state("archive"), "Original");
}

#[test]
fn one_that_was_deleted_stays_deleted() {
    let sites = discarded();
    let delete = format!("-c mirror delete {} --force last", sites.name);
    sites.world.run(&delete).succeeded();
    stays(&sites, &revive(&sites, "--with mirror"), "was deleted in");
}

/// The last line of the inventory is about a Copy that came later.
#[test]
fn a_later_copy_does_not_hide_where_the_original_went() {
    let sites = discarded();
    let (world, item) = (&sites.world, &sites.name);
    world.run(&format!("-c mirror copy {item} --to archive")).succeeded();
    let delete = || world.run(&format!("-c archive delete {item} --with mirror")).succeeded().len();
    let trashed = |state: &str| {
        let mut entries = std::fs::read_dir(world.path("archive/.urepo/trash")).unwrap();
        let is_meant = |path: &std::path::PathBuf| {
            let text = std::fs::read_to_string(path.join("copy/item.toml")).unwrap();
            text.contains(&format!("state = \"{state}\""))
        };
        entries.find_map(|entry| Some(entry.unwrap().path()).filter(is_meant)).unwrap()
    };
    delete();
    // The newest entry is listed first on some file systems.
    let (original, aside) = (trashed("Original"), world.path("aside"));
    std::fs::rename(&original, &aside).unwrap();
    std::fs::rename(aside, original).unwrap();
    // The Copy comes back: it is no second Original.
    revive(&sites, "").succeeded();
    assert_eq!(sites.state("archive"), "Copy");
    delete();
    std::fs::remove_dir_all(trashed("Copy")).unwrap();
    stays(&sites, &revive(&sites, ""), &id(world, "mirror"));
}

/// What the settings name and cannot be opened may hold the Original.
#[test]
fn no_original_comes_back_while_a_known_collection_is_missing() {
    let sites = Sites::new();
    let world = &sites.world;
    sites.find_again();
    world.run(&format!("-c archive delete {} --with mirror", sites.name)).succeeded();
    let unmounted = world.path("unmounted");
    let settings = format!("[collections]\ndisk = \"{}\"\n", unmounted.display());
    world.write(".config/urepo/config.toml", settings);
    let ran = revive(&sites, "");
    assert!(ran.code == 23 && ran.stderr.contains("the collection `disk` may"), "{}", ran.stderr);
    assert_eq!(sites.state("archive"), "Deleted");
    // A Copy is no second Original.
    world.run(&format!("-c third delete {} --with mirror", sites.name)).succeeded();
    world.run(&format!("-c third restore {}", sites.name)).succeeded();
    revive(&sites, "--force missing").succeeded();
    assert_eq!(sites.state("archive"), "Original");
}

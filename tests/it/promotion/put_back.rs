//! Commands repeated on items that were put back from a backup: the inventory keeps what it says of them.

use super::*;
use crate::support::{append, copy_tree, inventory_file, inventory_line};

fn record(sites: &Sites, root: &str, change: &str) {
    let file = inventory_file(&sites.world.path(root), &sites.name);
    append(&file, &inventory_line("2100-01-01T00:00:00Z", change));
}

#[test]
fn a_promoted_original_that_left_is_not_recorded_as_here() {
    for (changed, code) in [
        ("left NAME migrated 60cb73fd third", "U112"),
        ("became NAME Copy", "U113"),
        ("became NAME Deleted", "U113"),
    ] {
        let sites = Sites::new();
        let world = &sites.world;
        sites.promote("mirror", "--all --with third").succeeded();
        record(&sites, "mirror", &changed.replace("NAME", &sites.name));
        for dry in ["--dry-run", ""] {
            let ran = sites.promote("mirror", &format!("{} --with third {dry}", sites.name));
            assert_eq!(ran.code, 23, "{changed}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("no longer holds the Original"), "{}", ran.stderr);
            let ran = world.run("-c mirror verify");
            assert_eq!(ran.code, 20, "{changed}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains(code), "{}", ran.stdout);
        }
    }
}

#[test]
fn a_copy_is_recorded_only_beside_an_original() {
    let sites = Sites::new();
    let (world, item) = (&sites.world, &sites.name);
    sites.find_again();
    let place = world.path("mirror").join(item);
    copy_tree(&place, &world.path("backup"));
    world.run(&format!("-c archive migrate {item} --to mirror")).succeeded();
    std::fs::remove_dir_all(&place).unwrap();
    copy_tree(&world.path("backup"), &place);
    record(&sites, "mirror", &format!("became {item} Original"));
    let demote = format!("-c mirror demote {item} --to-copy-of archive -y");
    for dry in ["-n ", ""] {
        let ran = world.run(&format!("{dry}{demote}"));
        sites.refuses(&ran, 23, "archive` does not hold the Original of");
        let ran = world.run("-c mirror verify");
        assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("U113"), "{}", ran.stdout);
    }
}

#[test]
fn a_copy_is_recorded_beside_an_original() {
    let sites = Sites::new();
    let (world, item) = (&sites.world, &sites.name);
    sites.find_again();
    record(&sites, "mirror", &format!("became {item} Original"));
    assert_eq!(world.run("-c mirror verify").code, 20);
    world.run(&format!("-c mirror demote {item} --to-copy-of archive -y")).succeeded();
    world.run("verify mirror archive").succeeded();
}

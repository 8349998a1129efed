//! A collection that has lost an item may have held the Original: that comes back, or is given up, first.

use super::*;
use crate::support::{append, inventory_file};

/// The archive is there without the item; the third site is lost.
fn vanished() -> (Sites, String) {
    let sites = Sites::new();
    sites.find_again();
    std::fs::remove_dir_all(sites.world.path("archive").join(&sites.name)).unwrap();
    let lost = id(&sites.world, "third");
    std::fs::rename(sites.world.path("third"), sites.world.path("gone")).unwrap();
    (sites, lost)
}

#[test]
fn nothing_is_promoted_beside_a_lost_original() {
    let (sites, lost) = vanished();
    let (world, item) = (&sites.world, &sites.name);
    let line = format!("-c mirror promote {item} --lost {lost} --reason fire -y --with archive");
    sites.refuses(&world.run(&line), 20, "archive` has lost");
    append(&inventory_file(&world.path("archive"), item), "2026-11-23T10:00:00Z le\u{fffd}t\n");
    sites.refuses(&world.run(&line), 20, "archive` has lost");
    world.run("-c archive recover --inventory -y").succeeded();
    // Nothing says that the third site has ever held the Original.
    sites.refuses(&world.run(&line), 23, "not a Copy from the lost collection");
    // What a person has given up is lost, though its collection is there.
    let line = format!("-c mirror promote {item} --lost archive --reason fire -y --with archive");
    world.run(&line).succeeded();
    assert_eq!(sites.state("mirror"), "Original");
}

#[test]
fn a_lost_copy_is_in_nobodys_way() {
    let sites = Sites::new();
    std::fs::remove_dir_all(sites.world.path("third").join(&sites.name)).unwrap();
    sites.promote("mirror", "--all --with third").succeeded();
    assert_eq!(sites.state("mirror"), "Original");
}

/// Its inventory says so, unless a damaged line leaves that open.
#[test]
fn a_damaged_copy_is_in_nobodys_way() {
    for is_certain in [false, true] {
        let sites = Sites::new();
        let third = sites.world.path("third");
        std::fs::write(third.join(&sites.name).join("item.toml"), "rot").unwrap();
        if !is_certain {
            append(&inventory_file(&third, &sites.name), "2026-11-23T10:00:00Z le\u{fffd}t\n");
        }
        let ran = sites.promote("mirror", &format!("--with third {}", sites.name));
        if is_certain {
            ran.succeeded();
            assert_eq!(sites.state("mirror"), "Original");
        } else {
            sites.refuses(&ran, 20, "may be the Original");
        }
    }
}

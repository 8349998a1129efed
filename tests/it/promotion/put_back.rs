//! Commands repeated on items that were put back from a backup: the inventory keeps what it says of them.

use super::*;
use crate::support::{append, inventory_file, inventory_line};

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

//! `verify` of single items: their findings summed up, and one item over several collections.

use std::fs::{File, Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::UNIX_EPOCH;

use super::records;
use crate::support::{Ran, World};

/// A directory of so many files whose times were lost, and the item's identifier.
fn without_times(files: usize) -> (World, String) {
    let world = World::with_collection();
    for number in 0..files {
        world.write(&format!("many/{number:04}"), "");
    }
    let name = world.run("-c archive new many").line();
    for number in 0..files {
        let path = format!("archive/{name}/doc/{number:04}");
        File::open(world.path(path)).unwrap().set_modified(UNIX_EPOCH).unwrap();
    }
    (world, name)
}

#[test]
fn warnings_of_one_kind_are_summed_up() {
    let (world, name) = without_times(1200);
    let ran = world.run("-c archive verify");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 6, "{}", ran.stdout);
    assert!(lines[4].contains("doc/0004  mode or modification time"), "{}", lines[4]);
    let sum = format!("U305  warning  {name}  and 1195 more in this item; `-v` lists them");
    assert_eq!(lines[5], sum);
    let all = world.run("-c archive -v verify").stdout;
    assert_eq!(all.lines().count(), 1001, "{all}");
    assert!(all.ends_with(&format!("U305  warning  {name}  and 200 more in this item\n")), "{all}");
    let told = records(&world.run("-c archive verify --json"));
    assert_eq!(told[0]["findings"].as_array().unwrap().len(), 1000);
    assert_eq!(told[0]["findings_omitted"], 200);
    assert_eq!(told.last().unwrap()["counts"]["warnings"], 1200);
    assert_eq!(world.run("-q -c archive verify").stdout, "");
}

#[test]
fn damage_is_not_summed_up_and_five_warnings_are_not_either() {
    let (world, name) = without_times(6);
    for number in 0..6 {
        let path = world.path(format!("archive/{name}/doc/{number:04}"));
        set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        world.write(&format!("archive/{name}/doc/{number:04}"), "damaged");
    }
    let ran = world.run("-c archive verify");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let count =
        |ran: &Ran, code: &str| ran.stdout.lines().filter(|it| it.starts_with(code)).count();
    assert_eq!((count(&ran, "U203"), count(&ran, "U305")), (6, 6), "{}", ran.stdout);
    let (world, _) = without_times(5);
    assert_eq!(count(&world.run("-c archive verify"), "U305"), 5);
}

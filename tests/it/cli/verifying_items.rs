//! `verify` of single items: their findings summed up, and one item over several collections.

use std::fs::{File, Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::UNIX_EPOCH;

use urepo::item::State;
use urepo::verify::Code;

use super::{leaf, records, world_with_item};
use crate::support::{Ran, World, change_item, copy_tree};

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
    assert!(lines[4].contains("\t0004\tother time or mode than recorded\tU305"), "{}", lines[4]);
    let sum = format!("warning\t{name}\t\tand 1195 more in this item; `-v` lists up to 1000\tU305");
    assert_eq!(lines[5], sum);
    let all = world.run("-c archive -v verify").stdout;
    assert_eq!(all.lines().count(), 1001, "{all}");
    let rest = format!("warning\t{name}\t\tand 200 more in this item\tU305\n");
    assert!(all.ends_with(&rest), "{all}");
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
    let count = |ran: &Ran, code: &str| ran.stdout.lines().filter(|it| it.ends_with(code)).count();
    assert_eq!((count(&ran, "U203"), count(&ran, "U305")), (6, 6), "{}", ran.stdout);
    let (world, _) = without_times(5);
    assert_eq!(count(&world.run("-c archive verify"), "U305"), 5);
}

/// Of one item, the first thousand findings of a severity are kept.
#[test]
fn findings_of_which_none_is_kept_are_named_by_their_meaning() {
    let (world, name) = without_times(1);
    for number in 1..=1000 {
        world.write(&format!("archive/{name}/doc/{number:04}"), "");
    }
    std::fs::remove_file(world.path(format!("archive/{name}/doc/0000"))).unwrap();
    let found = world.run("-c archive verify --quick").stdout;
    let sum = format!("damage\t{name}\t\t{}: 1 in this item\tU201", Code::FileMissing.meaning());
    assert_eq!(found.lines().last(), Some(&*sum));
}

/// A world with an Original in `archive` and its Copy in `mirror`.
fn two_sites() -> (World, String) {
    let (world, name) = world_with_item();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
    (world, name)
}

#[test]
fn an_item_is_verified_at_two_sites_and_compared() {
    let (world, name) = two_sites();
    world.write("b.txt", "beta");
    let other = world.run("-c archive new b.txt").line();
    let ran = world.run(&format!("verify {name} archive mirror"));
    let told =
        "verified 2 items, 2 files, 10 B, and compared 1 identifier in 2 collections: no damage\n";
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", told));
    // Before, after or between the collections; an item that one of them does not have.
    for line in [
        format!("verify archive {} mirror {other}", leaf(&name)),
        format!("verify archive mirror {name} {other}"),
    ] {
        let told = "verified 3 items, 3 files, 14 B, and compared 2 identifiers in 2 collections: no damage\n";
        let ran = world.run(&line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, told), "{line}");
    }
    world.write("items", format!("{name}\n"));
    let told = records(&world.run("verify --json - archive mirror < items"));
    let states: Vec<_> = told[..2].iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["Original", "Copy"]);
    assert_eq!(told.last().unwrap()["counts"]["compared"], 1);
    // One collection that is named is that of the item.
    let ran = world.run(&format!("verify {name} mirror"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "verified 1 item, 1 file, 5 B: no damage\n"));
}

#[test]
fn what_two_sites_hold_of_an_item_is_found_as_of_all_their_items() {
    let (world, name) = two_sites();
    let damaged = world.path(format!("mirror/{name}/doc/a.txt"));
    std::fs::write(&damaged, "ALPHA").unwrap();
    let both = |line: &str| {
        let [one, all] = [format!("{name} "), String::new()].map(|item| {
            let ran = world.run(&format!("verify {line} {item}archive mirror"));
            (ran.code, ran.stdout, ran.stderr)
        });
        assert_eq!(one, all);
        one
    };
    let (code, found, _) = both("");
    assert_eq!((code, found.matches("U204").count()), (20, 1), "{found}");
    // A Copy whose Original was deleted.
    world.run(&format!("-c archive delete {name} --force last --yes")).succeeded();
    let (code, found, _) = both("--quick");
    assert_eq!((code, found.matches("U403").count()), (0, 1), "{found}");
    // An item that vanished from one of them.
    std::fs::remove_dir_all(world.path(format!("mirror/{name}"))).unwrap();
    let (code, found, _) = both("--quick");
    assert_eq!((code, found.lines().count()), (20, 1), "{found}");
}

#[test]
fn two_originals_of_one_item_are_found() {
    let (world, name) = two_sites();
    change_item(&world.path("mirror"), &name, |sidecar| sidecar.state = State::Original);
    let ran = world.run(&format!("verify --quick {name} archive mirror"));
    assert_eq!((ran.code, ran.stdout.matches("U113").count()), (20, 1), "{}", ran.stdout);
}

#[test]
fn items_that_none_or_several_mean_are_refused() {
    let (world, name) = two_sites();
    let absent = "example.org/archive/2009/02.16.17.46";
    let ran = world.run(&format!("verify {absent} archive mirror"));
    assert_eq!(ran.code, 21, "{}", ran.stderr);
    let ran = world.run(&format!("verify {absent} {name} archive mirror"));
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    // The end of another identifier in each.
    for (root, host) in [("archive", "archive"), ("mirror", "mirror")] {
        let item = format!("{root}/example.org/{host}/2009/02.16.17.46");
        copy_tree(&world.path(format!("{root}/{name}")), &world.path(item));
    }
    let ran = world.run("verify 02.16.17.46 archive mirror");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: give the whole identifier"), "{}", ran.stderr);
}

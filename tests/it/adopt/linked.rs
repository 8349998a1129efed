//! Items that link to each other, as the layout is meant for: what leads to another item of the root still does
//! in every collection that both are copied to.

use std::os::unix::fs::symlink;

use crate::support::World;

const CLASS: &str = "sid.inpe.br/MTC-m13@80/2005/06.02.15.03";
const THESIS: &str = "sid.inpe.br/MTC-m13@80/2005/07.02.15.03";

fn tree() -> World {
    let world = World::new();
    for (item, file) in [(CLASS, "thesis.cls"), (THESIS, "parts/main.tex")] {
        let file = format!("col/{item}/doc/{file}");
        std::fs::create_dir_all(world.path(&file).parent().unwrap()).unwrap();
        world.write(&file, item);
    }
    let leads_to = format!("../../../../../../{CLASS}/doc/thesis.cls");
    symlink(leads_to, world.path(format!("col/{THESIS}/doc/parts/thesis.cls"))).unwrap();
    world
}

#[test]
fn links_and_spellings_survive_copies_and_migrations() {
    let world = tree();
    world.run("adopt col").succeeded();
    world.run("verify col").succeeded();
    world.run("init copies --host copies.example.org").succeeded();
    world.run("init home --host home.example.org").succeeded();
    world.run("-c col copy --all --to copies").succeeded();
    world.run("-c col migrate --all --to home").succeeded();
    for root in ["copies", "home"] {
        world.run(&format!("verify {root}")).succeeded();
        let link = world.path(format!("{root}/{THESIS}/doc/parts/thesis.cls"));
        assert_eq!(std::fs::read_to_string(link).unwrap(), CLASS, "{root}");
    }
}

/// Of several directories of a prefix, an item goes into the one that is spelt as its identifier; otherwise into the
/// one that is there: two spellings side by side would be two places for one name.
#[test]
fn spellings_that_are_there_already_are_kept() {
    let world = tree();
    world.run("adopt col").succeeded();
    let lower = CLASS.to_lowercase();
    for (root, spellings, place) in
        [("one", &[&*lower][..], &*lower), ("both", &[&*lower, CLASS][..], CLASS)]
    {
        world.run(&format!("init {root} --host {root}.example.org")).succeeded();
        for spelling in spellings {
            let path = world.path(format!("{root}/{spelling}"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        world.run(&format!("-c col copy {CLASS} --to {root}")).succeeded();
        assert!(world.path(format!("{root}/{place}/item.toml")).exists(), "{root}");
    }
}

#[test]
fn what_leads_out_of_the_root_or_to_no_item_is_refused() {
    for target in ["../../../../../../etc/passwd", "../../../../../notes", "/etc/passwd"] {
        let world = tree();
        symlink(target, world.path(format!("col/{THESIS}/doc/out"))).unwrap();
        let ran = world.run("adopt col");
        assert_eq!(ran.code, 3, "{target}: {}", ran.stderr);
        assert!(ran.stderr.contains("leads out of the item"), "{}", ran.stderr);
    }
}

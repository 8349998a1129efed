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
    world.run("init col --adopt").succeeded();
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

/// Two spellings of a prefix side by side would be two places for one name.
#[test]
fn spellings_that_are_there_already_are_kept() {
    let world = tree();
    world.run("init col --adopt").succeeded();
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

/// The tree is as it is: an item that is left out would be damage for ever, with no good copy anywhere.
#[test]
fn what_leads_out_of_the_root_or_to_no_item_is_kept() {
    for target in ["../../../../../../etc/passwd", "../../../../../notes", "/etc/passwd"] {
        let world = tree();
        let link = world.path(format!("col/{THESIS}/doc/out"));
        symlink(target, &link).unwrap();
        let ran = world.run("init col --adopt");
        assert_eq!(ran.code, 0, "{target}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("links that lead out of it, kept as they are: 1"),
            "{}",
            ran.stderr
        );
        assert_eq!(std::fs::read_link(&link).unwrap(), std::path::Path::new(target));
        world.run("verify col").succeeded();
        world.run("init copies --host copies.example.org").succeeded();
        world.run("-c col copy --all --to copies").succeeded();
        world.run("verify copies").succeeded();
        for root in ["col", "copies"] {
            let told = world.run(&format!("verify {root}"));
            let expected = format!(
                "warning\t{THESIS}\tout\ta link to another item is broken: `{target}`: it leads to no item of \
                 this collection\tU507\n"
            );
            assert_eq!(told.stdout, expected, "{}", told.stderr);
            assert_eq!(world.run(&format!("verify --quick {root}")).stdout, "");
        }
    }
}

/// One link of each kind, in each kind of file.
#[test]
fn every_link_that_leaves_an_item_is_told() {
    let world = tree();
    let doc = format!("col/{THESIS}/doc");
    let up = "../../../../..";
    let gone = "sid.inpe.br/m/2005/01.01.00.00";
    let lower = CLASS.to_lowercase();
    let md = format!(
        "[x](../{up}/{CLASS}/doc/thesis.cls) ![y](../{up}/{CLASS}/doc/none)\n\n`[z](../{up}/no)`"
    );
    world.write(&format!("{doc}/parts/b.md"), md);
    let html = format!(
        "<!-- <a href='{up}/no'> --><a href=\"{up}/{gone}/doc/a%20b.html#x\">\n<img src='{up}/{lower}/doc/thesis.cls'>\n\
         <a href=\"http://example.org/../x\"> <a href=\"../service/x\"> <a href=\"a.tex\">"
    );
    world.write(&format!("{doc}/c.html"), html);
    world
        .write(&format!("{doc}/d.md"), format!("[x]({up}/notes) [y]({up}/{CLASS}/doc/Thesis.cls)"));
    // No file can be called so.
    let long = format!("{up}/{CLASS}/doc/{}", "x".repeat(300));
    world.write(&format!("{doc}/g.md"), format!("<{long}> [x]({long})"));
    world.write(&format!("{doc}/f.txt"), format!("{up}/{gone}/doc/is/no/link"));
    world.run("init col --adopt").succeeded();
    let ran = world.run(&format!("-v -c col verify {THESIS}"));
    assert_eq!(ran.code, 0, "a warning is no damage: {}", ran.stderr);
    let told = ran
        .stdout
        .replace("warning\t", "")
        .replace("\tU507", "")
        .replace('\t', "  ")
        .replace("a link to another item is broken: ", "")
        .replace(THESIS, "ITEM")
        .replace(CLASS, "CLASS")
        .replace(&format!("../{up}"), "^/..")
        .replace(up, "^");
    let told = told.replace(&"x".repeat(300), "LONG");
    let expected = format!(
        "ITEM  c.html  line 1, `^/{gone}/doc/a%20b.html#x`: this collection has no such item\n\
         ITEM  c.html  line 2, `^/{lower}/doc/thesis.cls`: this collection has no such item\n\
         ITEM  d.md  line 1, `^/CLASS/doc/Thesis.cls`: that item has no such file\n\
         ITEM  d.md  line 1, `^/notes`: it leads to no item of this collection\n\
         ITEM  g.md  line 1, `^/CLASS/doc/LONG`: that item has no such file\n\
         ITEM  parts/b.md  line 1, `^/../CLASS/doc/none`: that item has no such file\n"
    );
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&told), sorted(&expected));
    let broken = crate::cli::records(&world.run("-c col verify --json"));
    let links: Vec<_> =
        broken.iter().filter_map(|it| it["findings"].as_array()).flatten().collect();
    assert!(
        links
            .iter()
            .all(|it| (&it["code"], &it["severity"]) == (&"U507".into(), &"warning".into()))
    );
    assert_eq!((links.len(), &broken.last().unwrap()["counts"]["warnings"]), (6, &6.into()));
    // A link is as it was deposited, and there is nothing to repair.
    assert!(world.run("-c col repair").stdout.is_empty());
    assert_eq!(world.run(&format!("-q -c col verify {THESIS}")).stdout, "");
}

/// The other item is here, and its files are not.
#[test]
fn links_to_items_without_payload_say_why_they_are_broken() {
    let world = tree();
    let up = "../../../../..";
    world.write(
        &format!("col/{THESIS}/doc/a.md"),
        format!("[a]({up}/{CLASS}) [b]({up}/{CLASS}/item.toml)"),
    );
    world.run("init col --adopt").succeeded();
    world.run("init home --host home.example.org").succeeded();
    assert_eq!(world.run(&format!("-c col verify {THESIS}")).stdout, "");
    for (command, fault) in [
        ("migrate ITEM --to home", "that item has migrated"),
        ("-c home delete ITEM --force last -y", "that item is deleted"),
    ] {
        let is_home = command.starts_with("-c");
        let root = if is_home { "home" } else { "col" };
        if is_home {
            world.run(&format!("-c col copy {THESIS} --to home")).succeeded();
        }
        let line = command.replace("ITEM", CLASS);
        world.run(&if is_home { line } else { format!("-c col {line}") }).succeeded();
        let told = world.run(&format!("-c {root} verify {THESIS}"));
        assert_eq!(told.stdout.matches(fault).count(), 2, "{root}: {}", told.stdout);
        assert_eq!(told.stdout.lines().count(), 2, "{root}: {}", told.stdout);
    }
}

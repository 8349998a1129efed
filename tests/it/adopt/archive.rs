//! A tree as the archives have it, with everything at once that is odd in them: adopted, verified, copied, migrated,
//! and resolved.

use super::*;
use crate::support::{Ran, World as Program};

const CLASS: &str = "sid.inpe.br/MTC-m13@80/2005/06.02.15.03";
const THESIS: &str = "sid.inpe.br/MTC-m13@80/2005/07.20.00.37.00";
const NEXT: &str = "sid.inpe.br/mtc-m18/2012/07.12.18.08";
const TRANSLATION: &str = "sid.inpe.br/mtc-m18@80/2009/02.16.18.00";
/// Its IBIp is an hour off.
const HOUR: &str = "sid.inpe.br/mtc-m18@80/2008/12.12.13.43";
/// A Copy, with labels from before 2009.
const MIRRORED: &str = REPORT;
const ITEMS: [&str; 8] = [MIRRORED, CLASS, THESIS, NEXT, HOUR, PAPER, PAPER_METADATA, TRANSLATION];

/// What leads to which item.
const LABELS: [(&str, &str); 10] = [
    ("83LX3pFwXQZeBBx/65ij", MIRRORED),
    ("6RPa7umaZ/UaJFT", MIRRORED),
    ("8JMKD3MGP8W/34PGRBS", PAPER),
    ("8jmkd3mgp8w/34pgrbs", PAPER),
    ("http://urlib.net/8JMKD3MGP8W/34PGRBS", PAPER),
    ("8JMKD3MGP8W/3C9EP6P", NEXT),
    ("8JMKD3MGP8W/34CP87H", HOUR),
    ("sid.inpe.br/mtc-m13@80/2005/06.02.15.03", CLASS),
    ("sid.inpe.br./MTC-m13@80/2005/06.02.15.03", CLASS),
    ("http://urlib.net/sid.inpe.br/MTC-m13@80/2005/07.20.00.37.00", THESIS),
];

fn archive() -> Program {
    let world = Program::new();
    let write =
        |item: &str, path: &str, text: &str| world.write(&format!("col/{item}/{path}"), text);
    for item in ITEMS {
        let version = if item == MIRRORED { "copy" } else { "original" };
        let target = match item {
            PAPER_METADATA => "metadata.cgi",
            CLASS => "thesis.cls",
            THESIS => "parts/main.tex",
            _ => "paper.pdf",
        };
        let record = format!(
            "@misc{{k,\n repository = {{{item}}},\n targetfile = {{{target}}},\n size = {{1 KiB}},\n \
             version = {{{version}}}\n}}\n"
        );
        write(item, ".reserved/@", &record);
        let script = format!("#!/bin/sh\ntouch '{}'\n", world.path("was-run").display());
        let text = match item {
            PAPER_METADATA => &*script,
            THESIS => {
                "\\documentclass{../../../../../../sid.inpe.br/MTC-m13@80/2005/06.02.15.03/doc/thesis}\n"
            }
            item => item,
        };
        write(item, &format!("doc/{target}"), text);
    }
    let script = world.path(format!("col/{PAPER_METADATA}/doc/metadata.cgi"));
    std::fs::set_permissions(script, PermissionsExt::from_mode(0o755)).unwrap();
    for (path, text) in [
        ("service/use", "7 readers"),
        ("not_sent/draft.tex", "stays at home"),
        (".htaccess", "Require all granted"),
        (".reserved/permission", "owner banon"),
    ] {
        write(PAPER, path, text);
    }
    let reference = |item: &str, place: &str, fields: &str| {
        let text = format!("@TechReport{{k, title = {{Title of {item}}}, {fields}}}\n");
        write(item, place, &text);
    };
    let relations = format!(
        "language = {{en}}, ibip = {{8JMKD3MGP8W/34PGRBS}}, nextedition = {{{NEXT}}}, \
         metadatarepository = {{{PAPER_METADATA}}}"
    );
    reference(PAPER, "@reference.bib", &relations);
    let labels = "ibi = {83LX3pFwXQZeBBx/65ij}, oldibi = {6RPa7umaZ/UaJFT}";
    reference(MIRRORED, "doc/@reference.bib", labels);
    let fields =
        format!("ibip = {{8JMKD3MGP8W/3C9EP6P}}, previousedition = {{{PAPER}}}, language = {{en}}");
    reference(NEXT, "@reference.bib", &fields);
    reference(HOUR, "@reference.bib", "ibip = {8JMKD3MGP8W/34CP87H}");
    reference(
        TRANSLATION,
        "doc/@reference.bib",
        &format!("translationof = {{{PAPER}}}, language = {{pt}}"),
    );
    let metadata_of = format!("metadataof = {{{PAPER}}}");
    reference(PAPER_METADATA, "@reference.bib", &metadata_of);
    let class = format!("../../../../../../{CLASS}/doc/thesis.cls");
    symlink(class, world.path(format!("col/{THESIS}/doc/parts/thesis.cls"))).unwrap();
    world
}

fn adopted() -> Program {
    let world = archive();
    world.run("init col --adopt").succeeded();
    // Its reference does not name its translation.
    world.run(&format!("-c col meta set {TRANSLATION} translation_of={PAPER}")).succeeded();
    world
}

/// What verification found, except for notices of odd names.
fn findings(ran: &Ran) -> Vec<&str> {
    ran.succeeded().lines().filter(|line| !line.ends_with("U303")).collect()
}

/// No program of an archive is run, whatever is done.
#[track_caller]
fn nothing_ran(world: &Program) {
    let is_trace = |line: &String| line.contains("was-run");
    assert!(!tree(&world.path("")).iter().any(is_trace));
}

#[test]
fn it_is_adopted_as_it_is() {
    let world = archive();
    let before = tree(&world.path("col"));
    let ran = world.run("init col --adopt");
    assert_eq!(ran.succeeded().lines().count(), ITEMS.len(), "{}", ran.stderr);
    let after = tree(&world.path("col"));
    assert!(before.iter().all(|line| after.contains(line)));
    for item in ITEMS {
        let state = if item == MIRRORED { "Copy" } else { "Original" };
        let shown = world.run(&format!("-c col show {item}"));
        assert!(shown.succeeded().contains(&format!(" {state}\n")), "{}", shown.stdout);
        assert!(shown.stdout.starts_with(&format!("{item}\n")), "{}", shown.stdout);
    }
    assert!(ran.stderr.contains("34CP87H"), "an hour off: {}", ran.stderr);
    let verified = world.run("verify col");
    let [one_sided] = findings(&verified)[..] else { panic!("{}", verified.stdout) };
    assert!(one_sided.ends_with("U503") && one_sided.contains(TRANSLATION), "{one_sided}");
    nothing_ran(&world);
}

#[test]
fn every_label_leads_to_its_item() {
    let world = adopted();
    for (label, item) in LABELS {
        for command in ["show --path", "resolve"] {
            let found = world.run(&format!("-c col {command} {label}"));
            let directory = format!("[WORLD]/col/{item}");
            assert!(found.succeeded().starts_with(&directory), "{label}: {}", found.stdout);
        }
        let shown = world.run(&format!("-c col show {label}"));
        assert!(shown.succeeded().contains(item), "{label}: {}", shown.stdout);
    }
    // A label of another date is in the index only.
    std::fs::remove_dir_all(world.path(".cache")).unwrap();
    for (label, item) in LABELS {
        let found = world.run(&format!("-c col show --path {label}"));
        if found.code == 0 {
            assert_eq!(found.line(), format!("[WORLD]/col/{item}"));
        } else {
            assert_eq!(found.code, 21, "{label}: {}", found.stderr);
            assert!(["6RPa7umaZ/UaJFT", "8JMKD3MGP8W/34CP87H"].contains(&label), "{label}");
            assert!(found.stderr.contains("asks the index"), "{}", found.stderr);
            let resolved = world.run(&format!("-c col resolve {label}"));
            assert!(resolved.stderr.contains("asks the index"), "{}", resolved.stderr);
        }
    }
    nothing_ran(&world);
}

#[test]
fn it_is_copied_and_migrated_to_another_file_system() {
    let world = adopted();
    let far = tempfile::tempdir().unwrap();
    let far = far.path().join("home");
    world.run("init copies --host copies.example.org").succeeded();
    world.run(&format!("init {} --host home.example.org", far.display())).succeeded();
    world.run("-c col copy --all --to copies").succeeded();
    let whole = |root: &Path| {
        tree(root).into_iter().filter(|line| line.contains("/doc/")).collect::<Vec<_>>()
    };
    let payloads = whole(&world.path("col"));
    assert_eq!(whole(&world.path("copies")), payloads);
    world.run(&format!("-c col migrate --all --to {}", far.display())).succeeded();
    assert_eq!(whole(&far), payloads);
    for root in [world.path("copies"), far.clone()] {
        let root = root.display();
        let verified = world.run(&format!("verify {root}"));
        assert_eq!(findings(&verified), [""; 0]);
        world.run(&format!("-c {root} recover --index")).succeeded();
        for (label, item) in LABELS {
            let found = world.run(&format!("-c {root} show --path {label}"));
            assert!(found.succeeded().trim().ends_with(item), "{label}: {}", found.stdout);
        }
    }
    // What no sidecar lists stays at home.
    let kept = tree(&world.path("col/.urepo/trash"));
    for file in ["use 9", "draft.tex 13", ".htaccess 19", "permission 11"] {
        assert!(kept.iter().any(|line| line.ends_with(file)), "{file}: {kept:?}");
    }
    // Both together, each item has one Original: but the one that was a Copy before.
    let verified = world.run(&format!("verify copies {}", far.display()));
    let told = findings(&verified);
    assert!(told.iter().all(|line| line.ends_with("U402") && line.contains(MIRRORED)), "{told:?}");
    nothing_ran(&world);
}

#[test]
fn its_persistent_urls_resolve() {
    let world = adopted();
    world.run("init copies --host copies.example.org").succeeded();
    world.run("-c col copy --all --to copies").succeeded();
    for (root, paper) in [("col", PAPER), ("copies", "8JMKD3MGP8W/34PGRBS")] {
        for (mdf, leads_to) in [
            ("", format!("{PAPER}/doc/paper.pdf")),
            ("!", format!("{NEXT}/doc/paper.pdf")),
            ("+(pt)", format!("{TRANSLATION}/doc/paper.pdf")),
            (":", format!("{PAPER}/item.toml")),
            ("!:", format!("{NEXT}/item.toml")),
            ("/paper.pdf", format!("{PAPER}/doc/paper.pdf")),
        ] {
            let found = world.run(&format!("-c {root} resolve http://urlib.net/{paper}{mdf}"));
            assert_eq!(found.line(), format!("[WORLD]/{root}/{leads_to}"), "{root} {mdf}");
        }
        let described = world.run(&format!("-c {root} resolve {paper}:(oai_dc)"));
        assert!(
            described.succeeded().contains(&format!("Title of {PAPER}")),
            "{}",
            described.stdout
        );
        world.run(&format!("-c {root} resolve --pairs {paper}:")).succeeded();
        world.run(&format!("-c {root} cat {PAPER_METADATA}")).succeeded();
    }
    nothing_ran(&world);
}

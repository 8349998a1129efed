//! `--name source`: items come out as what was deposited, and never in the place of something else.

use super::*;

/// A world with `report.pdf`, the directory `odd` and two directories `twin`, and the names of their items.
fn world_with_sources() -> (World, Vec<String>) {
    let (world, odd) = world_with_odd_item(links_and_long_names);
    world.write("report.pdf", "report");
    std::fs::set_permissions(world.path("report.pdf"), PermissionsExt::from_mode(0o640)).unwrap();
    let touch = Command::new("touch")
        .args(["-d", "1999-02-03 04:05:06.5Z"])
        .arg(world.path("report.pdf"))
        .status();
    assert!(touch.unwrap().success());
    world.write("one/twin/file", "one");
    world.write("two/twin/file", "two");
    let ran = world.run("-c archive new --each report.pdf one/twin two/twin");
    let names = [odd].into_iter().chain(ran.succeeded().lines().map(str::to_owned)).collect();
    (world, names)
}

/// Everything at `path`, which may be a file.
fn everything(path: &Path) -> Vec<String> {
    assert!(path.symlink_metadata().is_ok(), "{}", path.display());
    fingerprint(path)
}

#[test]
fn gives_files_and_directories_back() {
    let (world, names) = world_with_sources();
    let line = format!("-c archive export {} {} --name source --to", names[0], names[1]);
    let ran = world.run(&format!("{line} out"));
    assert_eq!(ran.succeeded(), "[WORLD]/out/odd\n[WORLD]/out/report.pdf\n");
    let output = world.command(format!("{line} - --format tar").split(' ')).output().unwrap();
    untar(&world, &output.stdout, 0);
    let ran = world.run(&format!("{line} tars --format tar"));
    assert_eq!(ran.succeeded(), "[WORLD]/tars/odd.tar\n[WORLD]/tars/report.pdf.tar\n");
    for source in ["odd", "report.pdf"] {
        for place in ["out", "untar"] {
            let place = world.path(place).join(source);
            assert_eq!(everything(&place), everything(&world.path(source)));
            let mut diff = Command::new("diff");
            diff.args(["-r", "--no-dereference"]).args([&world.path(source), &place]);
            assert!(diff.status().unwrap().success());
        }
        let tar = world.path(format!("tars/{source}.tar"));
        let listed = Command::new("tar").arg("-tf").arg(tar).output().unwrap().stdout;
        assert!(listed.starts_with(source.as_bytes()), "{}", String::from_utf8_lossy(&listed));
    }
    assert_eq!(names_in(&world.path("out")), ["odd", "report.pdf"], "no stage is left");
}

/// Beside its description a file is in `doc`, in a bag in `data`.
#[test]
fn names_directories_with_descriptions_and_bags() {
    let (world, names) = world_with_sources();
    let line = format!("-c archive export {} --name source", names[1]);
    world.run(&format!("{line} --as toml --to out")).succeeded();
    assert_eq!(names_in(&world.path("out/report.pdf")), ["doc", "item.toml"]);
    world.run(&format!("{line} --format bag --to bags")).succeeded();
    assert!(world.path("bags/report.pdf/data/report.pdf").is_file());
}

#[test]
fn uses_the_identifier_where_there_is_no_name() {
    let (world, names) = world_with_sources();
    crate::support::change_item(&world.path("archive"), &names[1], |sidecar| {
        sidecar.origin.insert("source".to_owned(), "/home/..".into());
    });
    crate::support::change_item(&world.path("archive"), &names[2], |sidecar| {
        sidecar.origin.remove("source");
    });
    let (first, second) = (file_name(&names[1]), file_name(&names[2]));
    let ran =
        world.run(&format!("-c archive export {} {} --name source --to out", names[1], names[2]));
    assert_eq!(ran.succeeded(), format!("[WORLD]/out/{first}\n[WORLD]/out/{second}\n"));
    assert!(world.path("out").join(first).join("report.pdf").is_file());
}

/// Two items called `twin`: the first one gets the name, in whatever form, and the others go on.
#[test]
fn gives_no_name_to_two_items() {
    let (world, names) = world_with_sources();
    let [_, _, first, second] = &names[..] else { panic!("{names:?}") };
    for (more, to, path) in [
        ("", "out", "[WORLD]/out/twin"),
        ("-n", "dry", "[WORLD]/dry/twin"),
        ("--format tar", "tars", "[WORLD]/tars/twin.tar"),
        ("--format bag --links skip", "bags", "[WORLD]/bags/twin"),
        ("--format tar", "-", "twin"),
    ] {
        let named = format!("{first} {second} {}", names[1]);
        let line = format!("-c archive export {named} --name source {more} --to {to}");
        let ran = world.run(&line);
        let told = format!("error: `{second}` and `{first}` have the same name: `{path}`\n");
        assert!(ran.code == 3 && ran.stderr.contains(&told), "{more}: {} {}", ran.code, ran.stderr);
        assert!(ran.stdout.contains("report.pdf"), "{more}: {}", ran.stdout);
    }
    assert_eq!(std::fs::read(world.path("out/twin/file")).unwrap(), b"one");
    assert!(!world.path("dry").exists());
}

#[test]
fn replaces_nothing() {
    let (world, names) = world_with_sources();
    world.write("out/report.pdf", "somebody's");
    std::fs::create_dir(world.path("out/twin")).unwrap();
    for more in ["", " -n"] {
        let named = names[1..3].join(" ");
        let ran = world.run(&format!("-c archive export {named} --name source --to out{more}"));
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("is there already").count(), 2, "{}", ran.stderr);
    }
    assert_eq!(std::fs::read(world.path("out/report.pdf")).unwrap(), b"somebody's");
    assert_eq!(names_in(&world.path("out/twin")).len(), 0);
}

/// A file called like a stage would be taken for one, and removed by the next export.
#[test]
fn does_not_name_an_item_like_a_stage() {
    let world = World::with_collection();
    let stage = ".urepo-export-7-0123456789abcdef";
    world.write(&format!("{stage}/file"), "kept");
    let name = world.run(&format!("-c archive new {stage}")).line();
    world.run(&format!("-c archive export {name} --name source --to out")).succeeded();
    world.run(&format!("-c archive export {name} --name source --to out"));
    assert_eq!(names_in(&world.path("out")), [file_name(&name)]);
}

#[test]
fn names_with_line_breaks_are_exact() {
    let world = World::with_collection();
    world.write("two\nlines", "alpha");
    world.run_args(["-c", "archive", "new", "two\nlines"]).succeeded();
    let ran = world.run("-c archive export --all --name source --to out");
    assert_eq!(ran.succeeded(), "[WORLD]/out/two\nlines\n");
    assert_eq!(std::fs::read(world.path("out/two\nlines")).unwrap(), b"alpha");
}

//! `urepo list WORD`, `urepo status --counts` and `urepo recover --index` as they are typed.

use std::process::Stdio;

use crate::cli::records;
use crate::support::World;

/// A world with three items, and their names.
fn world() -> (World, Vec<String>) {
    let world = World::with_collection();
    let mut names = Vec::new();
    for (file, title) in [("a.txt", "Rain"), ("b.txt", "Rain and snow"), ("c.csv", "A table")] {
        world.write(file, title);
        names.push(world.run_args(["-c", "archive", "new", file, "--title", title]).line());
    }
    let sidecar = world.path(format!("archive/{}/item.toml", names[1]));
    let text = std::fs::read_to_string(&sidecar).unwrap();
    std::fs::write(sidecar, text.replace("and snow", "and \\u001B[31m snow")).unwrap();
    (world, names)
}

/// What remains of a deleted item is found only on request: its files are not here.
#[test]
fn finds_deleted_items_by_their_state() {
    let (world, names) = world();
    world.run(&format!("-c archive delete {} --force last --yes", names[2])).succeeded();
    let ran = world.run("-c archive list content:c.csv");
    assert_eq!((ran.code, ran.stdout.as_str()), (21, ""));
    assert!(
        ran.stderr.contains("hint: 1 item that is deleted or elsewhere matched: `--state"),
        "{}",
        ran.stderr
    );
    let ran = world.run("-c archive list content:c.csv --state Deleted");
    assert!(ran.succeeded().starts_with(&names[2]), "{}", ran.stdout);
}

#[test]
fn finds() {
    let (world, names) = world();
    let find =
        |arguments: &[&str]| world.run_args(["-c", "archive", "list"].iter().chain(arguments));
    let lines = |ran: crate::support::Ran| -> Vec<String> {
        ran.succeeded().lines().map(str::to_owned).collect()
    };
    assert_eq!(find(&["rain", "-0"]).succeeded(), format!("{}\0{}\0", names[0], names[1]));
    assert_eq!(find(&["rain", "--limit", "1"]).line(), names[0]);
    assert_eq!(find(&["--", "rain", "-snow"]).line(), names[0]);
    let escaped = lines(find(&["snow"]));
    assert!(!escaped[0].contains('\u{1b}'), "{escaped:?}");
    assert!(find(&["table", "-l"]).line().starts_with("Original"));
    assert_eq!(lines(find(&["content:c.csv"])).len(), 1);
    assert_eq!(lines(find(&["file:*.TXT", "title:rain"])).len(), 2);
    for (term, code) in [("title:rain AND", 0), ("title:and rain", 21), ("title:rai", 21)] {
        assert_eq!(find(&[term]).code, code, "{term}: whole words, in order");
    }
    assert_eq!(find(&["rain", "-title:snow"]).line(), names[0]);
    assert_eq!(find(&["rain", &names[1], &names[2]]).line(), names[1], "named items are narrowed");
    let digest = urepo::digest::Digest::of(b"A table").to_string();
    for text in [&digest[..8], &digest[..20], &digest, &format!("sha256:{}", &digest[..12])] {
        assert_eq!(find(&[text]).line(), names[2], "{text}");
    }
    let many: Vec<_> = (0..300).map(|_| format!("part_of:{}", names[0])).collect();
    let ran =
        world.run_args(["-c", "archive", "list"].iter().map(|it| (*it).to_owned()).chain(many));
    assert!(ran.code == 2 && ran.stderr.contains("no more than"), "{}", ran.stderr);
    // The words of other commands, and the values of options, are nobody's search.
    world.write("list", "list");
    let name = world.run_args(["-c", "archive", "new", "list", "--title=-title:abc"]).line();
    assert_eq!(find(&[&name, "--columns", "title"]).line(), "-title:abc");
    assert_eq!(find(&["--prefix", "-x.a:b"]).code, 2);
    world.run(&format!("-c archive delete -y --force last {name}")).succeeded();
    let end = names[2].rsplit('/').next().unwrap();
    for text in [end, &names[2]["example.org/".len()..], &format!("/{end}"), &names[2]] {
        assert_eq!(find(&[text]).line(), names[2], "{text}");
    }
    // A part of an identifier is no word.
    for text in ["example.org", "archive/2026", end.split_once('.').unwrap().1] {
        assert_eq!(find(&[text]).code, 21, "{text}");
    }
    assert_eq!(lines(find(&["file:*", "--state", "Original", "--since", "2020-01-01"])).len(), 3);
    let told = records(&find(&["rain", "--json"]));
    assert_eq!(told.len(), 3);
    assert_eq!((&told[0]["id"], &told[2]["type"]), (&names[0].clone().into(), &"summary".into()));
    assert_eq!((&told[2]["counts"]["items"], &told[2]["exit_code"]), (&2.into(), &0.into()));
    assert_eq!(find(&["rain", "--state", "Deleted"]).code, 21);
    assert_eq!(find(&["rain", "--until", "2020-01-01"]).code, 21);
    let told = records(&find(&["nothing", "--json"]));
    assert_eq!((&told[0]["counts"]["items"], &told[0]["exit_code"]), (&0.into(), &21.into()));
    for usage in [
        &["!!!"][..],
        &["\"open"],
        &["sha256:12"],
        &["bytes:many"],
        &["date:1905..soon"],
        &["-silva"],
        &["--limit", "0"],
        &["rain", "-0", "-l"],
    ] {
        assert_eq!(find(usage).code, 2, "{usage:?}");
    }
    assert_eq!(find(&["content:nowhere"]).code, 1);
}

#[test]
fn counts_one_prefix() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.run("-c archive new a.txt").succeeded();
    let item = world.path("archive/other.org/old/2005/01.02.03.04");
    std::fs::create_dir_all(item.join("doc")).unwrap();
    std::fs::write(item.join("doc/map.tif"), "map").unwrap();
    world.run("init archive --adopt").succeeded();
    let stats = |prefix| {
        let line = ["-c", "archive", "status", "--counts", "--json", "--prefix", prefix];
        records(&world.run_args(line)).remove(0)
    };
    let other = stats("Other.org/old");
    assert_eq!((&other["total"]["items"], &other["total"]["bytes"]), (&1.into(), &3.into()));
    assert_eq!(other["by_prefix"].as_object().unwrap().len(), 1);
    assert_eq!(other["by_ending"].as_object().unwrap().len(), 1);
    assert_eq!(stats("example.org/archive")["total"]["items"], 1);
    assert_eq!(stats("example.org/none")["total"]["items"], 0);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let (world, _) = world();
    world.run("-c archive recover --index").succeeded();
    for line in ["list rain", "list rain --json", "status --counts", "status --counts --json"] {
        let mut command = world.command(format!("-c archive {line}").split(' '));
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = ran.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    }
}

#[test]
fn rebuilds_the_index() {
    let (world, names) = world();
    let recover = |rest: &str| world.run(&format!("-c archive recover --index {rest}"));
    let ran = recover("");
    let closing = "--reseal\nbuilt the index: 3 items\nleft 1 item as it is\n";
    assert!(ran.stderr.ends_with(closing), "{}", ran.stderr);
    std::fs::remove_dir_all(world.path(format!("archive/{}", names[0]))).unwrap();
    assert_eq!(records(&recover("--json")).pop().unwrap()["counts"]["indexed"], 2);
    let planned = recover("-n");
    assert_eq!(planned.stdout, "would build the index\n", "{}", planned.stderr);
    let stats = world.run("-c archive status --counts --json");
    assert_eq!(records(&stats)[0]["total"]["items"], 2);
    assert!(world.run("-c archive status --counts").succeeded().starts_with("total\t\t2\t"));
}

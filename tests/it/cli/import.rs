//! `urepo import` from outside: what it answers, how it ends, what a cron job sees.

use std::fmt::Write as _;

use serde_json::json;

use super::{bytes_below, open, records};
use crate::support::{World, whole_items};

fn world_with_sources() -> World {
    let world = World::with_collection();
    world.write("in/a.txt", "alpha");
    world.write("in/dir/b.txt", "beta");
    world
}

#[test]
fn prints_names_and_sources() {
    let world = world_with_sources();
    let ran = world.run("-c archive import in");
    let lines: Vec<_> =
        ran.succeeded().lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert_eq!(
        lines.iter().map(|it| it.1).collect::<Vec<_>>(),
        ["[WORLD]/in/a.txt", "[WORLD]/in/dir"]
    );
    assert_eq!(lines.iter().map(|it| it.0).collect::<Vec<_>>(), whole_items(&open(&world)));
    assert_eq!(ran.stderr, "imported 2 items, 2 files, 9 B\n");
    let ran = world.run("-c archive import in");
    assert_eq!(
        (ran.succeeded(), ran.stderr.as_str()),
        ("", "nothing to import; 2 there already\n")
    );
}

#[test]
fn says_nothing_if_it_is_to_be_quiet() {
    let world = world_with_sources();
    for _ in 0..2 {
        let ran = world.run("-q -c archive import in");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    }
    world.write("in/bad\\name", "x");
    std::os::unix::fs::symlink("a.txt", world.path("in/link")).unwrap();
    let ran = world.run("-q -c archive import in");
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert!(ran.stderr.contains("in/link` was not imported"), "{}", ran.stderr);
}

#[test]
fn tells_everything_in_json() {
    let world = world_with_sources();
    std::os::unix::fs::symlink("a.txt", world.path("in/link")).unwrap();
    let ran = world.run("--json -c archive import in");
    assert_eq!(ran.code, 3);
    let records = records(&ran);
    let mut became: Vec<_> = records[..3].iter().map(|it| it["did"].as_str().unwrap()).collect();
    became.sort_unstable();
    assert_eq!(became, ["failed", "imported", "imported"]);
    let expected = json!({
        "type": "summary", "version": 1, "complete": true,
        "counts": {
            "items": 2, "files": 2, "bytes": 9, "skipped": 0, "unsettled": 0, "failed": 1,
            "kept_sources": 0, "left_out": 0, "imported": 2,
        },
        "exit_code": 3,
    });
    assert_eq!(records[3], expected);
}

/// A script removes the sources after a code of 0, and these bytes may be nowhere else.
#[test]
fn does_not_count_a_deleted_item_as_there() {
    let world = world_with_sources();
    world.run("-c archive import in").succeeded();
    let name = whole_items(&open(&world))[0].clone();
    world.run(&format!("-c archive delete {name} --force last --yes")).succeeded();
    world.run("-c archive purge --yes").succeeded();
    for options in ["", "-n", "--skip-same", "--remove-source"] {
        let ran = world.run(&format!("-c archive import {options} in/a.txt"));
        assert_eq!(ran.code, 3, "{options}: {}", ran.stderr);
        for text in [
            format!("imported: its item `{name}` was deleted here\n"),
            "1 was deleted here".to_owned(),
            "hint: remove the source, or its row; `urepo -c archive new` makes another item of it\n"
                .to_owned(),
        ] {
            assert!(ran.stderr.contains(&text), "{options}: {text}: {}", ran.stderr);
        }
        assert!(world.path("in/a.txt").exists());
    }
    // Touched, it is the same.
    world.write("in/a.txt", "alpha");
    assert!(world.run("-q -c archive import in").stderr.contains("was deleted here"));
    let records = records(&world.run("--json -c archive import in"));
    let counts = &records.last().unwrap()["counts"];
    assert_eq!(
        (&counts["deleted"], &counts["failed"], &counts["skipped"]),
        (&1.into(), &1.into(), &1.into())
    );
    world.run("-c archive new in/a.txt").succeeded();
    // That is no import of the source.
    assert!(world.run("-q -c archive import in").stderr.contains("was deleted here"));
}

#[test]
fn plans_without_a_trace() {
    let world = world_with_sources();
    world.set_granularity("archive", "60");
    let before = bytes_below(&world.path("archive"));
    let ran = world.run("-c archive import -n in");
    let plan = "would import [WORLD]/in/a.txt: 1 file, 5 B\n\
                would import [WORLD]/in/dir: 1 file, 4 B\n";
    assert_eq!(ran.succeeded(), plan);
    assert_eq!(
        ran.stderr,
        "would import 2 items, 2 files, 9 B; the identifiers take 1 min; nothing was changed\n"
    );
    assert_eq!(bytes_below(&world.path("archive")), before);
}

#[test]
fn writes_what_failed_so_that_it_can_be_fed_back() {
    let world = world_with_sources();
    world.write("list.csv", "path,title\nin/a.txt,A\nin/missing.txt,\"Two\nlines\"\nin/dir,D,?\n");
    let line = "-c archive import list.csv --rejects rejects.csv";
    let ran = world.run(line);
    assert_eq!(ran.code, 3);
    let expected = "wrote the rows that were not imported into `rejects.csv`, a manifest for the same `--root`\n";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    let failed = std::fs::read_to_string(world.path("rejects.csv")).unwrap();
    assert_eq!(failed, "path,title\nin/missing.txt,\"Two\nlines\"\nin/dir,D,?\n");
    world.write("in/missing.txt", "found");
    world.write("rejects.csv", failed.replace(",?", ""));
    let line = "-c archive import rejects.csv --rejects again.csv";
    assert_eq!(world.run(line).succeeded().lines().count(), 2);
    assert!(!world.path("again.csv").exists(), "nothing failed");
    // Of a tree it is a list.
    std::os::unix::fs::symlink("a.txt", world.path("in/link")).unwrap();
    let ran = world.run("-c archive import in --rejects list");
    let expected =
        "wrote what was not imported into `list`: `urepo -c archive import - < list` reads it\n";
    assert!(ran.code == 3 && ran.stderr.contains(expected), "{}", ran.stderr);
    let list = std::fs::read_to_string(world.path("list")).unwrap();
    assert!(list.ends_with("/in/link\0"), "{list:?}");
    std::fs::remove_file(world.path("in/link")).unwrap();
    world.write("in/link", "no link");
    assert_eq!(world.run("-c archive import - < list").succeeded().lines().count(), 1);
}

/// What failed is written as UTF-8, marked so that the encoding of the manifest may be given again.
/// No blank line stands for it.
#[test]
fn a_row_that_is_too_long_is_not_among_the_rejects() {
    let world = World::with_collection();
    world.write("list.csv", format!("path,title\n{},\nmissing,\n", "x".repeat(1 << 21)));
    let ran = world.run("-c archive import list.csv --rejects rejects.csv");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let told = "error: line 2: it is longer than 1 MiB; `--rejects` leaves it out\n";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    let failed = std::fs::read_to_string(world.path("rejects.csv")).unwrap();
    assert_eq!(failed, "path,title\nmissing,\n");
}

#[test]
fn writes_what_failed_in_an_encoding_that_is_read_again() {
    let world = world_with_sources();
    world.write(
        "list.csv",
        b"sep=;\r\nFicheiro;T\xedtulo\r\nin/a.txt;A\r\nin/missing;\x96 \xe7\r\n",
    );
    let line = "-c archive import --encoding windows-1252";
    assert_eq!(world.run(&format!("{line} list.csv --rejects rejects.csv")).code, 3);
    let failed = std::fs::read_to_string(world.path("rejects.csv")).unwrap();
    assert_eq!(failed, "\u{feff}sep=;\nFicheiro;Título\nin/missing;– ç\n");
    world.write("in/missing", "found");
    assert_eq!(world.run(&format!("{line} rejects.csv")).succeeded().lines().count(), 1);
    assert!(world.run("-c archive list --long").succeeded().contains("– ç"));
}

/// A file that is there may be somebody's only copy, or the manifest itself.
#[test]
fn writes_what_failed_into_no_file_that_is_there() {
    let world = world_with_sources();
    let text = "path\nin/a.txt\nin/missing.txt\n";
    world.write("list.csv", text);
    let ran = world.run("-c archive import list.csv --rejects list.csv");
    assert_eq!(ran.code, 1);
    snapbox::assert_data_eq!(
        ran.stderr,
        snapbox::str![[r#"
error: cannot create `list.csv`
caused by: it exists already, and nothing is replaced
hint: name another file, or move that one away first

"#]]
    );
    assert_eq!(std::fs::read_to_string(world.path("list.csv")).unwrap(), text);
    assert_eq!(world.run("-c archive list").succeeded(), "");
    let line = "-c archive import list.csv --rejects new.csv";
    assert_eq!(world.run(line).code, 3);
    let failed = std::fs::read_to_string(world.path("new.csv")).unwrap();
    assert_eq!(failed, "path\nin/missing.txt\n");
    let hidden = std::fs::read_dir(world.path(".")).unwrap();
    let hidden = hidden.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(hidden.filter(|name| name.starts_with(".urepo-new")).count(), 0);
}

/// Three runs at once all succeed, and make one item of each source together: whatever is the same for them, also where
/// each removes the sources that another one is reading.
#[test]
fn overlaps_with_itself() {
    let flags = [
        "in",
        "in --remove-source",
        "in --skip-same",
        "in other third --skip-same",
        "list.csv",
        "list.csv --remove-source",
    ];
    for flags in flags {
        let world = World::with_collection();
        let mut list = "path,identifier\n".to_owned();
        for at in 0..240 {
            for dir in ["in", "other", "third"] {
                world.write(&format!("{dir}/file{at}"), format!("{at}"));
                for part in 0..4 {
                    world.write(&format!("{dir}/dir{at}/{part}"), format!("{at} {part}"));
                }
            }
            let minute = at % 60;
            let hour = at / 60;
            writeln!(list, "in/file{at},example.com/b/1999/01.01.{hour:02}.{minute:02}").unwrap();
            writeln!(list, "in/dir{at},example.com/b/1999/01.02.{hour:02}.{minute:02}").unwrap();
        }
        world.write("list.csv", list);
        let line = format!("UREPO_LOCK_WAIT=10m -q -c archive import {flags}");
        let runs = [(); 3].map(|()| world.command(line.split(' ')).spawn().unwrap());
        for mut run in runs {
            assert_eq!(run.wait().unwrap().code(), Some(0), "{flags}");
        }
        assert_eq!(whole_items(&open(&world)).len(), 480, "{flags}");
        world.run("verify archive").succeeded();
        let left = std::fs::read_dir(world.path("in")).unwrap().count();
        let removed = flags.ends_with("--remove-source");
        assert_eq!(left, if removed { 0 } else { 480 }, "{flags}");
    }
}

/// Lists, descriptions and patterns may come through pipes, also where a scan finds the totals.
#[test]
fn reads_a_pipe_once() {
    let fill = "printf 'in/a.txt\\0in/dir' > list & echo 'creator = \"Anna\"' > described &";
    let flags = "--meta @described --exclude '*.tmp'";
    for command in ["import - < list", "import - --remove-source < list"] {
        let world = world_with_sources();
        world.write("in/dir/c.tmp", "gamma");
        // A pipe that nobody reads does not keep the output open.
        let script = format!(
            "mkfifo list described; {{ {fill} }} > /dev/null 2>&1; \
             UREPO_PROGRESS=always exec timeout 60 \"$0\" -c archive {command} {flags}"
        );
        let ran = world.finish(world.shell(&script));
        // A directory of which something is left out is not removed.
        let code = if command.contains("--remove-source") { 3 } else { 0 };
        assert_eq!((ran.code, ran.stdout.lines().count()), (code, 2), "{command}: {}", ran.stderr);
        let names = whole_items(&open(&world));
        assert_eq!(names.len(), 2, "{command}");
        for name in names {
            let shown = world.run(&format!("-c archive show -v {name}"));
            let shown = shown.succeeded();
            assert!(shown.contains("Anna") && !shown.contains("B  c.tmp"), "{command}: {shown}");
        }
    }
    // Names that may have to be waited for are counted before.
    let world = world_with_sources();
    world.set_granularity("archive", "1");
    let script = "mkfifo described; { echo 'creator = \"Anna\"' > described & } > /dev/null 2>&1; \
        exec timeout 60 \"$0\" -c archive import in/a.txt --meta @described";
    world.finish(world.shell(script)).succeeded();
    let name = world.run("-c archive list").line();
    assert!(world.run(&format!("-c archive show {name}")).succeeded().contains("Anna"));
}

/// The digests of a bag are kept: `show` says which, and not those of each file.
#[test]
fn keeps_the_digests_of_bags() {
    let world = World::with_collection();
    let bag = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/bags/bagit-python");
    world.run_args(["-c", "archive", "import", bag]).succeeded();
    let names = whole_items(&open(&world));
    let shown = world.run(&format!("-c archive show -v {}", names[0]));
    let is_said =
        |line: &str| line.split_whitespace().eq(["origin.digests", "md5,", "sha1,", "sha512"]);
    assert_eq!(shown.succeeded().lines().filter(|line| is_said(line)).count(), 1);
    let record = &records(&world.run(&format!("--json -c archive show {}", names[0])))[0];
    assert_eq!(record["origin"]["digests"]["sha1"].as_object().unwrap().len(), 11);
}

/// What stays in a drop folder though it was to go is said to a cron job, as it makes the run fail.
#[test]
fn says_what_is_still_there_even_if_it_is_to_be_quiet() {
    let world = world_with_sources();
    let bag = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/bags/bagit-python");
    let line = ["-q", "-c", "archive", "import", "--remove-source", "in/a.txt", bag];
    let ran = world.run_args(line);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    let lines: Vec<_> = ran.stderr.lines().collect();
    let reason = "a bag is more than its payload; it is not removed";
    assert!(lines[0].ends_with(&format!("was imported and is still there: {reason}")), "{lines:?}");
    assert_eq!(lines[1], "error: 1 of 2 sources is still in place");
    assert!(!world.path("in/a.txt").exists());
}

#[test]
fn says_what_was_not_kept() {
    use std::os::unix::fs::PermissionsExt;
    let world = world_with_sources();
    let special = std::fs::Permissions::from_mode(0o4755);
    std::fs::set_permissions(world.path("in/a.txt"), special).unwrap();
    let ran = world.run("-c archive import in");
    assert_eq!(ran.code, 0);
    let said = "warning: special permission bits of 1 file not kept\n";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
}

/// A source is a table by its ending, a list by `-`, and a file where that is said.
#[test]
fn a_source_is_what_it_looks_like() {
    let world = World::with_collection();
    for file in ["in/a.txt", "in/b.txt", "odd\nname", "table.csv"] {
        world.write(file, file);
    }
    world.write("list.csv", "path,title\nin/a.txt,A\n");
    world.write("rows", "path;title\nin/b.txt;B\n");
    world.write("lines", "in/a.txt\nin/b.txt\n\n");
    world.write("nul", "odd\nname\0");
    let import = |line: &str| world.run(&format!("-c archive import {line}"));
    let sources = |line: &str| {
        let ran = import(line);
        let sources: Vec<_> =
            ran.succeeded().lines().map(|it| it.split_once('\t').unwrap().1.to_owned()).collect();
        sources.join(" ").replace("[WORLD]/", "")
    };
    assert_eq!(sources("list.csv"), "in/a.txt");
    assert_eq!(sources("rows --format csv"), "in/b.txt");
    assert_eq!(sources("- < lines"), "", "both are there already");
    assert_eq!(sources("- < nul"), "odd\\nname");
    assert_eq!(sources("list.csv --as-files"), "list.csv");
    let titles = world.run("-c archive list --columns title --sort title");
    assert_eq!(titles.succeeded(), "A\nB\nlist.csv\nodd\\nname\n");
    // From a pipe, the format has to be said.
    world.write("more", "path\nlines\n");
    assert_eq!(sources("- --format csv < more"), "lines");
    for (line, code, told) in [
        ("list.csv in", 2, "`--as-files`"),
        ("list.csv --each-file", 2, "`--as-files`"),
        ("in --root .", 2, "belong to a table"),
        ("in --update", 2, "belong to a table"),
        ("table.csv", 1, "table.csv"),
        ("--manifest list.csv", 2, "`urepo import list.csv`"),
        ("list.xlsx", 2, "save it there as CSV"),
        ("missing.csv", 1, "missing.csv"),
    ] {
        let ran = import(line);
        assert_eq!(ran.code, code, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{line}: {}", ran.stderr);
    }
}

/// Trash, previews and swap files beside the files of people.
#[test]
fn leaves_out_what_systems_leave_behind() {
    let world = World::with_collection();
    for path in [
        "in/$Recycle.Bin/S-1-5/$I1.txt",
        "in/System Volume Information/IndexerVolumeGuid",
        "in/@eaDir/a.jpg/SYNOPHOTO_THUMB_M.jpg",
        "in/#recycle/old.txt",
        "in/.@__thumb/a.jpg",
        "in/.Trash-0/files/a",
        "in/.Trash-60123/info/a.trashinfo",
        "in/lost+found/#123",
        "in/.Spotlight-V100/store",
        "in/.Trashes/501/a",
        "in/.nfs000000000c1b2f5f0000002a",
        "in/.fuse_hidden0000001200000001",
        "in/.letter.odt.swp",
        "in/.letter.odt.swo",
        "in/.letter.odt.kate-swp",
        "in/#notes.org#",
        "in/.syncthing.film.mkv.tmp",
    ] {
        world.write(path, "x");
    }
    std::os::unix::fs::symlink("ana@host.1234:1700000000", world.path("in/.#notes.org")).unwrap();
    // Names that only resemble them, and directories of people inside of an item.
    let kept = [".nfsrc", ".movie.swf", "@eaDir.txt", "lost+found.txt", "notes.swp", "#1 letter"];
    for name in kept {
        world.write(&format!("in/{name}"), name);
    }
    let ran = world.run("-c archive import in");
    let mut found: Vec<_> = ran
        .succeeded()
        .lines()
        .map(|line| line.split_once('\t').unwrap().1.rsplit('/').next().unwrap())
        .collect();
    found.sort_unstable();
    let mut expected = kept;
    expected.sort_unstable();
    assert_eq!(found, expected, "{}", ran.stderr);
}

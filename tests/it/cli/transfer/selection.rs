//! Which items are meant.

use super::super::{leaf, records, run_with_input};
use super::{archive_and_mirror, is_clean, listed, make, tells};
use crate::support::{World, tree};

/// Every spelling of an ITEM names it, and it is copied once in however many it is given.
#[test]
fn in_every_spelling() {
    let world = World::new();
    world.run("init archive --host archive.example.org --ip 192.0.2.7").succeeded();
    make(&world, "mirror");
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let shown = &records(&world.run(&format!("-c archive resolve --explain --json {name}")))[0];
    let [ibip, url] = ["ibip", "url"].map(|key| shown["parts"][key].as_str().unwrap().to_owned());
    let upper = name.to_uppercase();
    let spellings = [&name, &upper, leaf(&name), &ibip, &url, &format!("archive/{name}/doc/a.txt")];
    for spelling in spellings.map(str::to_owned) {
        let ran = world.run(&format!("-c archive copy {spelling} --to mirror"));
        tells(&ran, 0, "", "copied 1 item, 1 file, 5 B\n");
        assert_eq!(listed(&world, "mirror"), [name.as_str()], "{spelling}");
        std::fs::remove_dir_all(world.path("mirror/example.org")).unwrap();
    }
    let all = spellings.join(" ");
    let ran = world.run(&format!("-c archive copy {all} --to mirror"));
    tells(&ran, 0, "", "copied 1 item, 1 file, 5 B\n");
    is_clean(&world);
}

/// All go to one directory, as each name has one place.
#[test]
fn of_a_prefix_in_two_spellings() {
    let (world, names) = archive_and_mirror(2);
    let other = names[1].replacen("example.org", "Example.org", 1);
    let [from, to] = [&names[1], &other].map(|name| world.path("archive").join(name));
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(from, to).unwrap();
    make(&world, "third");
    for (verb, root) in [("copy", "mirror"), ("migrate", "third")] {
        let ran = world.run(&format!("-c archive {verb} --all --to {root}"));
        assert_eq!(ran.code, 0, "{verb}: {}", ran.stderr);
        let found = listed(&world, root).join(" ").to_lowercase();
        assert_eq!(found, names.join(" "), "{verb}");
        world.run(&format!("-c {root} verify")).succeeded();
    }
}

#[test]
fn by_what_they_are() {
    let (world, names) = archive_and_mirror(2);
    make(&world, "third");
    let other = {
        world.write("maps.txt", "maps");
        world.run("-c mirror new maps.txt").line()
    };
    world.run(&format!("-c mirror copy {other} --to archive")).succeeded();
    std::fs::remove_dir_all(world.path("mirror")).unwrap();
    let copied = |rest: &str| {
        world.run(&format!("-c archive copy {rest} --to third")).succeeded();
        let found = listed(&world, "third");
        if !found.is_empty() {
            std::fs::remove_dir_all(world.path("third/example.org")).unwrap();
        }
        found
    };
    let both = vec![names[0].clone(), names[1].clone()];
    let all = vec![names[0].clone(), names[1].clone(), other.clone()];
    assert_eq!(copied("--all"), all);
    assert_eq!(copied("--prefix example.org/archive"), both);
    assert_eq!(copied("--prefix EXAMPLE.org/Archive"), both);
    assert_eq!(copied("--prefix example.org/nowhere"), [""; 0]);
    assert_eq!(copied("--state Original"), both);
    assert_eq!(copied("--state Copy"), [other.as_str()]);
    assert_eq!(copied(&format!("{} {other} --state Copy", names[0])), [other.as_str()]);
    assert_eq!(copied("--since 1995-08-01"), all);
    assert_eq!(copied("--since 9999-12-31"), [""; 0]);
    assert_eq!(copied("--since 1995-08-01 --state Original --prefix example.org/archive"), both);
}

#[test]
fn from_lists() {
    let (world, names) = archive_and_mirror(4);
    // Empty lines, blanks, and a last line without an end are nothing to stumble over.
    world.write("list", format!("\n{}\n\n  {}  \n{}", names[0], leaf(&names[1]), names[0]));
    let ran = world.run("-c archive copy - --to mirror < list");
    tells(&ran, 0, "", "copied 2 items, 2 files, 12 B\n");
    assert_eq!(listed(&world, "mirror"), names[..2]);
    let ended_by_nul = format!("{}\0\0{}\0", names[2], names[0]);
    let line = "-c archive copy - --to mirror";
    let ran = run_with_input(&world, line, ended_by_nul.as_bytes());
    tells(&ran, 0, "", "copied 1 item, 1 file, 6 B; 1 there already\n");
    // Beside items that are typed.
    let line = format!("-c archive copy {} - --to mirror", names[3]);
    let ran = run_with_input(&world, &line, names[0].as_bytes());
    tells(&ran, 0, "", "copied 1 item, 1 file, 6 B; 1 there already\n");
    // What another command lists.
    let list = world.run("-c archive list").stdout;
    let ran = run_with_input(&world, "-c archive migrate - --to mirror", list.as_bytes());
    tells(&ran, 0, "", "migrated 4 items, 4 files, 24 B\n");
    // An empty list selects nothing, whatever the command.
    let ran = run_with_input(&world, "-c archive copy - --to mirror", b"\n\n");
    tells(&ran, 0, "", "the list of items is empty\nnothing to copy\n");
    let ran = run_with_input(&world, "-c mirror delete --force last -", b"");
    tells(&ran, 0, "", "the list of items is empty\nnothing to delete\n");
    // A list with columns, and the output of an import.
    world.write("list", format!("{}\ttitle\n{}\t/in/a.txt\n", names[0], names[1]));
    let ran = world.run("-c mirror copy - --to archive -n < list");
    assert_eq!(ran.stdout.lines().count(), 2, "{}{}", ran.stdout, ran.stderr);
    is_clean(&world);
}

/// A list of all items names deleted ones as well, which are no more a failure than with `--all`.
#[test]
fn from_a_list_with_tombstones() {
    let (world, names) = archive_and_mirror(3);
    world.run(&format!("-c archive delete --force last {}", names[0])).succeeded();
    let list = world.run("-c archive list --state any").stdout;
    assert_eq!(list.lines().count(), 3, "{list}");
    let line = "-c archive copy - --to mirror";
    let ran = run_with_input(&world, line, list.as_bytes());
    let told = format!("{} is deleted, and left out\ncopied 2 items, 2 files, 12 B\n", names[0]);
    tells(&ran, 0, "", &told);
    let line = "-c archive export - --to out";
    let ran = run_with_input(&world, line, list.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // One that a person types is asked for.
    let ran = world.run(&format!("-c archive copy {} --to mirror", names[0]));
    assert_eq!(ran.code, 22, "{}", ran.stderr);
    is_clean(&world);
}

/// Lines that mean nothing, that are no text, that are endless: told, and the rest is done.
#[test]
fn past_bad_lines() {
    let (world, names) = archive_and_mirror(2);
    let mut list = format!("nonsense\n{}\n", names[0]).into_bytes();
    list.extend_from_slice(b"\xff\xfe\n");
    list.extend(std::iter::repeat_n(b'x', 200_000));
    list.extend_from_slice(format!("\n{}\n", names[1]).as_bytes());
    let line = "-c archive copy - --to mirror";
    let ran = run_with_input(&world, line, &list);
    assert_eq!(ran.code, 3);
    let told = ran.stderr.replace(&world.path("").display().to_string(), "[WORLD]/");
    assert_eq!(
        told,
        "error: no item `nonsense` in `[WORLD]/archive`\n\
         hint: `urepo -c archive list` lists the identifiers\n\
         error: cannot read a line of the list of items\n\
         caused by: `\\xff\\xfe` is not UTF-8\n\
         error: cannot read a line of the list of items\n\
         caused by: it is longer than any identifier\n\
         copied 2 items, 2 files, 12 B\n\
         error: 3 of 5 items could not be copied\n\
         hint: each is named above, with its reason\n"
    );
    assert_eq!(listed(&world, "mirror"), names);
    let ran = run_with_input(&world, &format!("{line} --json"), &list);
    let told = records(&ran);
    let codes: Vec<_> = told.iter().map(|it| it["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [None, None, Some(21), Some(1), Some(1), None]);
    assert_eq!((&told[2]["id"], &told[2]["did"]), (&"nonsense".into(), &"failed".into()));
    assert_eq!((&told[5]["counts"]["failed"], &told[5]["exit_code"]), (&3.into(), &3.into()));
}

#[test]
fn a_bad_item_does_not_stop_the_rest() {
    let (world, names) = archive_and_mirror(2);
    let absent = "example.org/archive/2009/02.16.17.46";
    for verb in ["copy", "migrate"] {
        let line = format!("-c archive {verb} {} {absent} {} --to mirror", names[0], names[1]);
        let ran = world.run(&line);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.starts_with(&format!("error: no item `{absent}`")), "{}", ran.stderr);
        assert_eq!(listed(&world, "mirror"), names);
    }
}

#[test]
fn of_nothing_is_refused() {
    let (world, names) = archive_and_mirror(1);
    let before = tree(&world.path(""));
    for line in [
        "copy --to mirror".to_owned(),
        "migrate --to mirror".to_owned(),
        format!("copy {}", names[0]),
        format!("copy --all {} --to mirror", names[0]),
        format!("migrate --since 2026-01-01 {} --to mirror", names[0]),
        "copy --all - --to mirror".to_owned(),
        "copy --items-from list --to mirror".to_owned(),
        "copy --state Lost --to mirror".to_owned(),
        format!("copy {} --with archive --to mirror", names[0]),
    ] {
        let ran = world.run(&format!("-c archive {line}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}: {}", ran.stderr);
    }
    assert_eq!(tree(&world.path("")), before);
}

/// Listed items without a payload are left out of what needs one, and named.
#[test]
fn what_a_list_names_and_is_left_out_is_said() {
    for (made, state, why) in [
        ("delete ITEM --force last", "Deleted", "is deleted"),
        ("migrate ITEM --to other", "Elsewhere", "is elsewhere"),
    ] {
        for command in [
            "copy --to mirror",
            "migrate --to mirror",
            "export --to out",
            "repair --accept",
            "delete --force last --yes",
        ] {
            for json in ["", " --json"] {
                let (world, names) = archive_and_mirror(3);
                world.run("-q init other --host other.example.org").succeeded();
                world.run(&format!("-c archive {}", made.replace("ITEM", &names[1]))).succeeded();
                world.write("list", names.join("\n"));
                let ran = world.run(&format!("-c archive {command} -{json} < list"));
                let told = format!("{command}{json}: {} {}{}", ran.code, ran.stdout, ran.stderr);
                assert_eq!(ran.code, 0, "{told}");
                if json.is_empty() {
                    let line = format!("{} {why}, and left out\n", names[1]);
                    assert_eq!(ran.stderr.matches(&line).count(), 1, "{told}");
                } else {
                    let records = records(&ran);
                    let is_it = |it: &&serde_json::Value| {
                        it["id"] == names[1].as_str()
                            && it["did"] == "left_out"
                            && it["state"] == state
                    };
                    assert_eq!(records.iter().filter(is_it).count(), 1, "{told}");
                    let summary = records.last().unwrap();
                    assert!(summary["counts"]["skipped"].as_u64() >= Some(1), "{told}");
                }
            }
        }
    }
}

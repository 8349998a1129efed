//! States after which only a person's word goes on: what is printed can be typed, and the next verification is clean.

use crate::support::{Ran, World, change_item, copy_tree};

/// A world whose settings name `archive`, with an item of two files, and `mirror`, with a Copy; and the item's name.
fn world() -> (World, String) {
    let world = World::with_collection();
    world.run("-q init mirror --host mirror.example.org").succeeded();
    for file in ["a", "b"] {
        world.write(&format!("box/{file}.txt"), file);
    }
    let name = world.run("-c archive new box --title Report").line();
    let roots = ["archive", "mirror"].map(|root| (root, world.path(root)));
    let roots = roots.map(|(root, path)| format!("{root} = '{}'\n", path.display()));
    world.write(".config/urepo/config.toml", format!("[collections]\n{}", roots.concat()));
    world.run("-c archive copy --all --to mirror").succeeded();
    (world, name)
}

/// Edits the title in the sidecar by hand.
fn edit(world: &World, root: &str, name: &str) {
    let path = world.path(root).join(name).join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, text.replace("Report", "Edited")).unwrap();
}

fn remove(world: &World, root: &str, name: &str) {
    std::fs::remove_dir_all(world.path(root).join(name)).unwrap();
}

/// Types the last command that verification prints, as it is printed.
#[track_caller]
fn type_last(world: &World, line: &str, expected: &str) -> Ran {
    let ran = world.run(line);
    let told = ran.stderr.replace("[WORLD]/", "");
    let last = told.lines().filter_map(|line| Some(line.split_once("urepo ")?.1)).next_back();
    let last = last.unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr));
    assert_eq!(last, expected, "{told}");
    let ran = world.run(last);
    ran.succeeded();
    ran
}

#[track_caller]
fn is_clean(world: &World, line: &str) {
    let ran = world.run(line);
    assert_eq!((ran.code, &*ran.stdout), (0, ""), "{}", ran.stderr);
}

fn title(world: &World, root: &str, name: &str) -> String {
    world.run(&format!("-c {root} list {name} --columns title")).line()
}

/// A file has rotten in both collections: what sidecars alone say of the mirror leads nowhere in a circle.
#[test]
fn what_has_rotten_everywhere_is_given_up_and_stays_so() {
    let (world, name) = world();
    for root in ["archive", "mirror"] {
        std::fs::write(world.path(root).join(&name).join("doc/a.txt"), "A").unwrap();
    }
    let refused = |line: &str, code: i32, last: &str| {
        let ran = world.run(line);
        assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
        let told = ran.stderr.replace("[WORLD]/", "");
        assert!(told.trim_end().ends_with(last), "{line}: {told}");
    };
    let accept = format!("recover --accept-loss {name}");
    for root in ["archive", "mirror"] {
        let hint = format!("if none has it: `urepo -c {root} {accept}`");
        refused(&format!("-c {root} repair {name}"), 20, &hint);
    }
    // The collection that has to have the Original says what is lost.
    refused(&format!("-c mirror {accept} -y"), 23, &format!("hint: `urepo -c archive {accept}`"));
    world.run(&format!("-c archive {accept} -y")).succeeded();
    // A part of it would be damage again.
    let before = world.run("-c archive log").stdout;
    for line in ["repair", "repair -n"] {
        let hint = format!("if none has it: `urepo -c archive {accept}`");
        refused(&format!("-c archive {line} {name} --from mirror"), 20, &hint);
    }
    assert_eq!(world.run("-c archive log").stdout, before);
    type_last(&world, "-c mirror verify", &format!("-c mirror repair {name}"));
    is_clean(&world, "verify archive mirror");
}

/// The Original is lost, and somebody has edited the only Copy.
#[test]
fn an_edited_copy_that_is_the_last_one_is_sealed_and_brings_the_original_back() {
    let (world, name) = world();
    edit(&world, "mirror", &name);
    let command = format!("-c mirror repair {name} --reseal");
    // The Original still has it: a Copy is not changed.
    let ran = world.run(&command);
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    remove(&world, "archive", &name);
    let ran = type_last(&world, "verify archive mirror", &command);
    let sealed = "sidecar sealed as it was found, state Copy; nothing shows what was sealed of ";
    assert!(ran.stdout.contains(sealed), "{}", ran.stdout);
    let command = format!("-c archive repair {name} --from mirror");
    type_last(&world, "verify archive mirror", &command);
    is_clean(&world, "verify archive mirror");
    assert_eq!(title(&world, "archive", &name), "Edited");
    world.run(&format!("-c archive meta set {name} title=Again")).succeeded();
}

/// The same while the collection with the Original is away.
#[test]
fn an_edited_copy_is_sealed_and_promoted_after_its_collection_is_lost() {
    for comes_back in ["before", "after"] {
        let (world, name) = world();
        edit(&world, "mirror", &name);
        std::fs::rename(world.path("archive"), world.path("away")).unwrap();
        let command = format!("-c mirror repair {name} --reseal");
        let ran = world.run("-c mirror verify");
        let condition = format!("if archive is lost: urepo {command}\n");
        assert!(ran.stderr.contains(&condition), "{}", ran.stderr);
        world.run(&command).succeeded();
        is_clean(&world, "-c mirror verify");
        let command = if comes_back == "before" {
            format!("-c archive repair {name} --from mirror")
        } else {
            world.run(&format!("-c mirror promote {name} --lost archive -y")).succeeded();
            "-c archive recover --with mirror".to_owned()
        };
        std::fs::rename(world.path("away"), world.path("archive")).unwrap();
        let ran = world.run("verify archive mirror");
        let told = ran.stderr.replace("[WORLD]/", "");
        assert!(told.contains(&format!("urepo {command}\n")), "{told}");
        world.run(&format!("{command} {}", if comes_back == "before" { "" } else { "-y" }));
        is_clean(&world, "verify archive mirror");
        assert_eq!(title(&world, "archive", &name), "Edited");
    }
}

/// A description and files were changed by hand, or have rotted, and nothing else has the item.
#[test]
fn what_lies_there_is_listed_anew_where_files_differ_as_well() {
    for holding in ["archive", "mirror"] {
        let (world, name) = world();
        edit(&world, holding, &name);
        let other = if holding == "archive" { "mirror" } else { "archive" };
        world.write(&format!("{holding}/{name}/doc/a.txt"), "changed");
        std::fs::remove_file(world.path(holding).join(&name).join("doc/b.txt")).unwrap();
        world.write(&format!("{holding}/{name}/doc/c.txt"), "c");
        let command = format!("-c {holding} repair {name} --reseal");
        assert_eq!(world.run(&command).code, 20);
        remove(&world, other, &name);
        if other == "mirror" {
            std::fs::remove_dir_all(world.path(other)).unwrap();
        }
        // It is no matter of the description alone, and says so.
        let ran = world.run(&format!("-c {holding} repair {name} --accept -y"));
        assert!(ran.stderr.contains(&format!("urepo {command}\n")), "{}", ran.stderr);
        let line = if other == "mirror" { "-c archive verify" } else { "verify archive mirror" };
        let told = type_last(&world, line, &command).stdout;
        let [a, b] = [
            "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
            "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",
        ];
        for told_of in [
            format!("in place of sha256 {a}"),
            format!("doc/b.txt nothing in place of sha256 {b}"),
            "in place of nothing".to_owned(),
        ] {
            assert!(told.contains(&told_of), "{told}");
        }
        if other == "archive" {
            type_last(&world, line, &format!("-c archive repair {name} --from mirror"));
        }
        is_clean(&world, line);
        assert_eq!(title(&world, "archive", &name), "Edited");
        assert_eq!(world.run(&format!("-c archive cat {name}/c.txt")).succeeded(), "c");
        assert_eq!(world.run(&format!("-c archive cat {name}/a.txt")).succeeded(), "changed");
    }
}

/// Somebody has edited the custody as well.
#[test]
fn a_sidecar_with_another_custody_is_sealed_where_nothing_else_is_left() {
    let (world, name) = world();
    std::fs::remove_dir_all(world.path("mirror")).unwrap();
    change_item(&world.path("archive"), &name, |sidecar| {
        sidecar.metadata = urepo::sidecar::Metadata::default();
    });
    let path = world.path("archive").join(&name).join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, text.replace("epoch = 1", "epoch = 7")).unwrap();
    let command = format!("-c archive repair {name} --reseal");
    let ran = world.run("-c archive verify");
    assert!(ran.stderr.contains(&format!("urepo {command}\n")), "{}", ran.stderr);
    world.run(&command).succeeded();
    is_clean(&world, "-c archive verify");
}

/// It was given up as lost, and then put back by hand.
#[test]
fn what_was_given_up_and_is_back_is_taken_in_after_a_question() {
    let (world, name) = world();
    std::fs::remove_dir_all(world.path("mirror")).unwrap();
    copy_tree(&world.path("archive").join(&name), &world.path("night"));
    remove(&world, "archive", &name);
    world.run(&format!("-c archive recover --accept-loss {name} -y")).succeeded();
    copy_tree(&world.path("night"), &world.path("archive").join(&name));
    let ran = world.run("-c archive verify");
    assert!(ran.stdout.starts_with("damage\t"), "{}", ran.stdout);
    assert!(ran.stderr.contains("urepo -c archive recover\n"), "{}", ran.stderr);
    let ran = world.run("-c archive recover -n");
    let taken = format!("taken in: {name}, Original\n");
    assert_eq!(ran.succeeded(), format!("would be {taken}"));
    // Nobody is there who could be asked.
    let ran = world.run("-c archive recover");
    assert_eq!((ran.code, &*ran.stdout), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("to be {taken}")), "{}", ran.stderr);
    let ran = world.run("-c archive recover --restored");
    assert_eq!((ran.code, &*ran.stdout), (3, ""), "{}", ran.stderr);
    assert_eq!(world.run("-c archive recover -y").succeeded(), taken);
    is_clean(&world, "-c archive verify");
    world.run(&format!("-c archive meta set {name} title=Again")).succeeded();
}

#[test]
fn a_recovery_that_leaves_items_to_other_commands_is_no_success() {
    let (world, name) = world();
    assert_eq!(world.run("-c archive recover").code, 0);
    remove(&world, "archive", &name);
    let ran = world.run("-c archive recover");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("error: left 1 item as it is\n"), "{}", ran.stderr);
    let command = format!("-c archive repair {name} --from mirror");
    assert!(ran.stderr.replace("[WORLD]/", "").contains(&command), "{}", ran.stderr);
    world.run(&command).succeeded();
    assert_eq!(world.run("-c archive recover").code, 0);
}

/// A copy of a whole collection went on like its original.
#[test]
fn roots_of_one_collection_are_not_compared_and_one_gets_an_id_of_its_own() {
    let (world, name) = world();
    copy_tree(&world.path("archive"), &world.path("clone"));
    let ran = world.run("verify archive clone");
    // As long as it is a backup, it stays one.
    assert!(ran.code == 0 && !ran.stderr.contains("--new-id"), "{}", ran.stderr);
    // No settings name both.
    world.write(".config/urepo/config.toml", "");
    for root in ["archive", "clone"] {
        world.run(&format!("-c {root} meta set {name} title={root}")).succeeded();
    }
    let ran = world.run("verify archive clone");
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("warning\t"), "{}", ran.stdout);
    let told = ran.stderr.replace("[WORLD]/", "");
    assert!(told.contains("`urepo -c clone recover --new-id`"), "{told}");
    world.run("-c clone recover --new-id -y").succeeded();
}

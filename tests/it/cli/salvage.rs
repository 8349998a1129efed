//! What is damaged or lost, and that a repair without ITEM, a backup, or the files of several damaged Copies bring back.

use crate::support::{World, change_item, copy_tree};

/// A world whose settings name `archive`, with an item of three files, `mirror`, with a Copy, and `backup`, which is not there
/// yet; and the item's name.
fn world() -> (World, String) {
    let world = World::with_collection();
    world.run("-q init mirror --host mirror.example.org").succeeded();
    for file in ["a", "b", "c"] {
        world.write(&format!("box/{file}.txt"), file);
    }
    let name = world.run("-c archive new box").line();
    name_in_settings(&world, &["archive", "mirror", "backup"]);
    world.run("-c archive copy --all --to mirror").succeeded();
    (world, name)
}

fn name_in_settings(world: &World, roots: &[&str]) {
    let line = |root: &&str| format!("{root} = '{}'\n", world.path(root).display());
    let lines: String = roots.iter().map(line).collect();
    world.write(".config/urepo/config.toml", format!("[collections]\n{lines}"));
}

/// Types the only command that `ran` prints.
#[track_caller]
fn type_hint(world: &World, stderr: &str) {
    let hints = stderr.lines().filter(|line| line.starts_with("hint: "));
    let mut commands = hints.filter_map(|line| Some(line.split_once("urepo ")?.1));
    let command = commands.next().expect(stderr).replace("[WORLD]/", "");
    assert_eq!(commands.next(), None, "{stderr}");
    world.run(command.split('`').next().unwrap()).succeeded();
}

/// After a backup of the whole collection, ledger included, only the neighbours know what is missing.
#[test]
fn a_repair_of_all_names_what_only_neighbours_show_as_lost() {
    for had_copies in [false, true] {
        let (world, name) = world();
        let other = world.run("-c archive new box").line();
        if had_copies {
            world.run("-c archive copy --all --to mirror").succeeded();
        }
        copy_tree(&world.path("mirror"), &world.path("night"));
        world.run(&format!("-c archive migrate {name} {other} --to mirror")).succeeded();
        std::fs::remove_dir_all(world.path("mirror")).unwrap();
        std::fs::rename(world.path("night"), world.path("mirror")).unwrap();
        world.run("-c mirror recover --restored");
        let other_row = if had_copies { "9a" } else { "9c" };
        for from in ["", " --from archive", " --quick", " --dry-run"] {
            let ran = world.run(&format!("-c mirror repair{from} --json"));
            assert_eq!(ran.code, 20, "{from}: {}{}", ran.stdout, ran.stderr);
            for (name, row) in [(&name, "9a"), (&other, other_row)] {
                let record = ran.stdout.lines().find(|line| line.contains(&**name)).unwrap();
                assert!(record.contains(&format!("\"row\":\"{row}\"")), "{from}: {record}");
            }
        }
        let ran = world.run("-c mirror repair");
        assert!(!ran.stderr.contains("nothing to repair"), "{}", ran.stderr);
        // The stubs of the archive are whole.
        assert_eq!(world.run("-c archive repair").code, 0);
    }
}

/// A collection that names this one as the holder brings nothing here by its word alone; a person names it.
#[test]
fn a_repair_of_all_brings_back_what_a_neighbour_has_if_that_is_named() {
    let (world, name) = world();
    std::fs::remove_dir_all(world.path("mirror")).unwrap();
    copy_tree(&world.path("archive"), &world.path("night"));
    world.run("-q init mirror --host mirror.example.org").succeeded();
    let newer = world.run("-c archive new box").line();
    world.run("-c archive copy --all --to mirror").succeeded();
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    std::fs::rename(world.path("night"), world.path("archive")).unwrap();
    world.run("-c archive recover --restored");
    let ran = world.run("-c archive repair");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let command = format!("urepo -c archive repair {newer} --from mirror");
    assert!(ran.stderr.contains(&command), "{}", ran.stderr);
    assert!(!ran.stderr.contains(&format!("{name}:")), "{}", ran.stderr);
    world.run("-c archive repair --from mirror").succeeded();
    world.run("verify archive mirror").succeeded();
}

/// What a person gave up comes back by a person's word.
#[test]
fn a_repair_of_all_names_what_was_given_up_and_a_mirror_has() {
    let (world, name) = world();
    std::fs::rename(world.path("mirror"), world.path("away")).unwrap();
    std::fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    world.run(&format!("-c archive recover --accept-loss -y {name}")).succeeded();
    std::fs::rename(world.path("away"), world.path("mirror")).unwrap();
    let ran = world.run("-c archive repair");
    assert!(!ran.stderr.contains("nothing to repair"), "{}", ran.stderr);
    type_hint(&world, &ran.stderr);
    world.run("verify archive mirror").succeeded();
}

#[test]
fn more_than_ten_items_that_another_command_brings_up_are_counted() {
    let (world, _) = world();
    for _ in 0..13 {
        world.run("-c archive new box").line();
    }
    world.run("-c archive copy --all --to mirror").succeeded();
    copy_tree(&world.path("archive"), &world.path("night"));
    std::fs::remove_dir_all(world.path("archive/example.org")).unwrap();
    std::fs::remove_dir_all(world.path("archive/.urepo/ledger")).unwrap();
    world.run("-c archive recover --restored");
    let ran = world.run("-c archive repair");
    assert_eq!(ran.stderr.matches("--from mirror\n").count(), 10, "{}", ran.stderr);
    assert!(ran.stderr.contains("and 4 more items; `-v` names each"), "{}", ran.stderr);
    let ran = world.run("-v -c archive repair");
    assert_eq!(ran.stderr.matches("--from mirror\n").count(), 14, "{}", ran.stderr);
}

/// A backup does not speak, but nothing is given up that it has.
#[test]
fn every_command_names_a_backup_that_has_what_is_lost() {
    for is_older_here in [false, true] {
        let (world, name) = world();
        std::fs::remove_dir_all(world.path("mirror")).unwrap();
        let item = world.path("archive").join(&name);
        copy_tree(&item, &world.path("night"));
        world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
        copy_tree(&world.path("archive"), &world.path("backup"));
        std::fs::remove_dir_all(&item).unwrap();
        if is_older_here {
            std::fs::rename(world.path("night"), &item).unwrap();
        }
        let command = format!("urepo -c archive repair {name} --from backup");
        for line in ["show ITEM", "status ITEM", "status", "verify", "recover", "repair -n"] {
            let ran = world.run(&format!("-c archive {}", line.replace("ITEM", &name)));
            let is_repaired = line == "repair -n" && ran.stdout.contains("would re");
            assert!(ran.stderr.contains(&command) || is_repaired, "{line}: {}", ran.stderr);
            assert!(!ran.stderr.contains("--accept-loss"), "{line}: {}", ran.stderr);
        }
        let ran = world.run(&format!("-c archive recover --accept-loss {name} -y"));
        assert_eq!(ran.code, 23, "{}", ran.stderr);
        type_hint(&world, &world.run("-c archive verify").stderr);
        world.run("-c archive verify").succeeded();
        let title = world.run(&format!("-c archive list {name} --columns title"));
        assert_eq!(title.succeeded(), "Corrected\n");
    }
}

/// Each Copy has the files that the others lack: together they have the item.
#[test]
fn nothing_is_given_up_that_several_damaged_copies_have_together() {
    let (world, name) = world();
    world.write(&format!("archive/{name}/doc/a.txt"), "A");
    world.write(&format!("mirror/{name}/doc/b.txt"), "B");
    let ran = world.run(&format!("-c archive recover --accept-loss {name} -y"));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    type_hint(&world, &world.run("verify archive mirror").stderr);
    type_hint(&world, &world.run("verify archive mirror").stderr);
    world.run("verify archive mirror").succeeded();
}

/// An older state of the description has the same files.
#[test]
fn nothing_is_given_up_whose_files_an_older_copy_has() {
    let (world, name) = world();
    world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
    world.write(&format!("archive/{name}/doc/a.txt"), "A");
    type_hint(&world, &world.run("verify archive mirror").stderr);
    let title = world.run(&format!("-c archive list {name} --columns title"));
    assert_eq!(title.succeeded(), "Corrected\n");
    world.run("-c archive verify").succeeded();
}

#[test]
fn what_is_whole_of_a_lost_item_is_named_and_stays_in_the_trash() {
    let (world, name) = world();
    for root in ["archive", "mirror"] {
        world.write(&format!("{root}/{name}/doc/b.txt"), root);
    }
    let ran = world.run(&format!("-c archive recover --accept-loss {name} -y"));
    let words = "1 file is damaged (`b.txt`), 2 whole: all stay in the trash until `urepo -c archive purge`";
    assert!(ran.stdout.contains(words), "{}{}", ran.stdout, ran.stderr);
    let ran = world.run(&format!("-c mirror repair {name}"));
    assert!(ran.stdout.contains("3 files taken out, kept in the trash"), "{}", ran.stdout);
    world.run("verify archive mirror").succeeded();
}

/// No command restores it, so each message says how to get at it.
#[test]
fn what_was_given_up_can_be_had_from_the_trash() {
    let world = World::with_collection();
    world.write("box/a.txt", "a");
    world.write("box/b.txt", "b");
    let name = world.run("-c archive new box").line();
    world.write(&format!("archive/{name}/doc/b.txt"), "rotten");
    let ran = world.run(&format!("-c archive recover --accept-loss {name} -y"));
    let told = ran.stdout + &ran.stderr;
    let entry = told.split("`cp -a ").nth(1).and_then(|it| it.split(" DIRECTORY`").next());
    let entry = entry.expect(&told);
    let path = entry.trim_matches('\'').trim_start_matches("[WORLD]/");
    let file = world.path(path).join("doc/a.txt");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "a", "{told}");
    let ran = world.run(&format!("-c archive restore {name}"));
    assert_eq!(ran.code, 21, "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("`cp -a {entry} DIRECTORY`")), "{}", ran.stderr);
}

/// The sidecars of a clone that got an id of its own still say Original.
#[test]
fn what_only_a_clone_has_issued_comes_back_to_the_first_collection() {
    let (world, _) = world();
    std::fs::remove_dir_all(world.path("mirror")).unwrap();
    copy_tree(&world.path("archive"), &world.path("mirror"));
    world.run("-c mirror recover --restored").succeeded();
    let name = world.run("-c mirror new box").line();
    world.run("-c mirror recover --new-id -y").succeeded();
    let ran = world.run("verify archive mirror");
    assert_eq!(ran.code, 20, "{}", ran.stdout);
    assert!(ran.stderr.contains(&format!("repair {name} --from mirror\n")), "{}", ran.stderr);
    type_hint(&world, &ran.stderr);
    world.run("verify archive mirror").succeeded();
}

/// A wrong clock chooses no line of a fork: of equal epochs, the other is named first.
#[test]
fn a_line_that_is_dated_in_the_future_is_marked_and_named_last() {
    let (world, name) = world();
    std::fs::remove_dir_all(world.path("mirror")).unwrap();
    copy_tree(&world.path("archive"), &world.path("night"));
    change_item(&world.path("archive"), &name, |sidecar| {
        sidecar.described = Some("2999-01-01T00:00:00Z".parse().unwrap());
    });
    world.run("-c archive recover").succeeded();
    world.run(&format!("-c archive meta set {name} title=Far")).succeeded();
    world.run("-q init away --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to away").succeeded();
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    std::fs::rename(world.path("night"), world.path("archive")).unwrap();
    world.run("-c archive recover --restored").succeeded();
    world.run(&format!("-c archive meta set {name} title=Near")).succeeded();
    std::fs::rename(world.path("away"), world.path("mirror")).unwrap();
    name_in_settings(&world, &["archive", "mirror"]);
    let ran = world.run("verify archive mirror");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let first = format!("to keep that in archive: urepo -c archive promote {name} --discard\n");
    assert!(ran.stderr.contains(&first), "{}", ran.stderr);
    let choice = format!(
        "to keep that in mirror: urepo -c mirror promote {name} --discard, which is dated in the future\n"
    );
    assert!(ran.stderr.contains(&choice), "{}", ran.stderr);
}

/// The collection that lost the newest state has a backup, and another one an older Copy.
#[test]
fn a_backup_of_the_holder_is_named_before_an_older_copy_goes_on() {
    let (world, name) = world();
    world.run(&format!("-c archive meta set {name} title=Newest")).succeeded();
    copy_tree(&world.path("archive"), &world.path("backup"));
    world.run("-c archive new box").line();
    std::fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    let refused = world.run(&format!("-c mirror recover --accept-loss {name} --yes"));
    assert_eq!(refused.code, 23, "{}", refused.stderr);
    let ran = world.run("verify archive mirror");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let command = format!("urepo -c archive repair {name} --from backup");
    assert!(ran.stderr.contains(&command), "{}", ran.stderr);
    assert!(refused.stderr.contains(&command), "{}", refused.stderr);
    type_hint(&world, &ran.stderr);
    assert_eq!(world.run(&format!("-c archive list {name} --columns title")).line(), "Newest");
    assert_eq!(world.run("verify archive mirror").code, 0);
}

/// A backup that is older than the ledger says gives back what it has; what is newer is given up by a person's word.
#[test]
fn an_older_backup_is_put_back_and_what_is_newer_given_up() {
    let (world, name) = world();
    std::fs::remove_dir_all(world.path("mirror")).unwrap();
    copy_tree(&world.path("archive"), &world.path("backup"));
    world.run(&format!("-c archive meta set {name} title=Newer")).succeeded();
    std::fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    let accept = format!("-c archive recover --accept-loss {name}");
    let ran = world.run("verify archive");
    assert!(ran.stderr.contains(&format!("recover --accept-loss {name}\n")), "{}", ran.stderr);
    let refused = world.run(&format!("{accept} --yes"));
    assert_eq!(refused.code, 23, "{}", refused.stderr);
    let copy = format!("`cp -a [WORLD]/backup/{name} [WORLD]/archive/{name}`");
    assert!(refused.stderr.contains(&copy), "{}", refused.stderr);
    copy_tree(&world.path("backup").join(&name), &world.path("archive").join(&name));
    let ran = world.run("verify archive");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let given_up = world.run(&format!("{accept} --yes"));
    given_up.succeeded();
    let all = format!("{}{}", given_up.stdout, given_up.stderr);
    assert!(all.contains("title \"Newer\""), "{all}");
    world.run("verify archive").succeeded();
}

/// A disk in a drawer may have what is to be given up.
#[test]
fn a_collection_that_is_not_mounted_is_named_where_something_is_given_up() {
    let (world, name) = world();
    std::fs::rename(world.path("mirror"), world.path("drawer")).unwrap();
    std::fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    for line in ["verify archive", &format!("-c archive show {name}"), "status"] {
        let ran = world.run(line);
        assert!(ran.stderr.contains("`mirror`"), "{line}: {}", ran.stderr);
    }
    let ran = world.run(&format!("-c archive recover --accept-loss {name} --yes"));
    let warning = "warning: `mirror` is not in sight, and may have what is given up";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// A Copy that says the same as the Original is current, by every command.
#[test]
fn a_copy_from_before_a_migration_has_no_row() {
    let (world, name) = world();
    world.run("-q init third --host third.example.org").succeeded();
    world.run(&format!("-c archive migrate {name} --to third")).succeeded();
    name_in_settings(&world, &["archive", "mirror", "third"]);
    for line in [format!("status {name}"), format!("-c mirror show {name}")] {
        let ran = world.run(&line);
        assert!(!ran.stderr.contains("behind"), "{line}: {}", ran.stderr);
    }
}

/// No damage, but not done either.
#[test]
fn verify_and_status_print_the_row_of_what_was_left_open() {
    let (world, name) = world();
    // The ledger as it was before the change, and this machine's note of its end.
    let parts = [("archive/.urepo/ledger", "old-ledger"), (".state", "old-state")];
    for (part, old) in parts {
        copy_tree(&world.path(part), &world.path(old));
    }
    world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
    for (part, old) in parts {
        std::fs::remove_dir_all(world.path(part)).unwrap();
        copy_tree(&world.path(old), &world.path(part));
    }
    let command = "urepo -c archive recover\n";
    for line in ["verify archive mirror", &format!("status {name}")] {
        let ran = world.run(line);
        assert!(ran.stderr.contains(command), "{line}: {}{}", ran.stdout, ran.stderr);
    }
    world.run("-c archive recover").succeeded();
}

/// `promote` asks every collection of the settings, so the row says which one to mount.
#[test]
fn a_fork_waits_for_a_collection_that_is_not_mounted() {
    let (world, name) = world();
    world.run("-q init third --host third.example.org").succeeded();
    let away = |root: &str| std::fs::rename(world.path(root), world.path("away")).unwrap();
    let back = |root: &str| std::fs::rename(world.path("away"), world.path(root)).unwrap();
    away("archive");
    std::fs::remove_dir_all(world.path("third")).unwrap();
    name_in_settings(&world, &["archive", "mirror"]);
    world.run(&format!("-c mirror promote {name} --lost archive --yes")).succeeded();
    world.run(&format!("-c mirror meta set {name} title=InMirror")).succeeded();
    back("archive");
    away("mirror");
    world.run(&format!("-c archive meta set {name} title=InArchive")).succeeded();
    back("mirror");
    name_in_settings(&world, &["archive", "mirror", "third"]);
    let ran = world.run("verify archive mirror");
    assert!(ran.stderr.contains("mount third\n"), "{}", ran.stderr);
    let command = format!("-c mirror promote {name} --discard --lost third");
    assert!(ran.stderr.contains(&format!("if third is lost: urepo {command}\n")), "{}", ran.stderr);
    world.run(&format!("{command} --yes")).succeeded();
}

/// The Copy here names the first collection, which passed the Original on.
#[test]
fn a_lost_collection_is_known_by_its_name_though_the_copy_is_older() {
    let (world, name) = world();
    world.run("-q init third --host third.example.org").succeeded();
    name_in_settings(&world, &["archive", "mirror", "third"]);
    world.run(&format!("-c archive migrate {name} --to third")).succeeded();
    std::fs::remove_dir_all(world.path("third")).unwrap();
    let refused = world.run(&format!("-c mirror promote {name} --yes"));
    assert_eq!(refused.code, 23, "{}", refused.stderr);
    assert!(refused.stderr.contains("`--lost third`"), "{}", refused.stderr);
    world.run(&format!("-c mirror promote {name} --lost third --yes")).succeeded();
    world.run("verify archive mirror").succeeded();
}

/// A cron job that runs `recover` is not told of what the next `copy` does.
#[test]
fn a_copy_that_waits_for_a_deletion_is_no_failure_of_recover() {
    let (world, name) = world();
    world.run(&format!("-c archive delete {name} --with mirror --yes")).succeeded();
    let ran = world.run("-c mirror recover");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("left 1 item as it is"), "{}", ran.stderr);
    std::fs::remove_dir_all(world.path("mirror").join(&name)).unwrap();
    assert_eq!(world.run("-c mirror recover").code, 3);
}

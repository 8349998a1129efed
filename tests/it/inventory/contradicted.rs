//! Items whose sidecar says another state than the inventory: put back by hand, or of a run that was killed.

use std::path::Path;

use crate::cli::records;
use crate::support::{World as Sites, append, copy_tree, inventory_file, inventory_line};

/// An item of the archive, and a Copy of it at the mirror.
fn sites() -> (Sites, String) {
    let sites = Sites::new();
    sites.run("init archive --host archive.example.org").succeeded();
    sites.run("init mirror --host mirror.example.org").succeeded();
    sites.write("letter.txt", "Dear all");
    let name = sites.run("-c archive new letter.txt").line();
    sites.run("-c archive copy --all --to mirror").succeeded();
    (sites, name)
}

/// Runs `line`, and then puts the item of the archive back as it was before.
fn put_back_after(line: &str) -> (Sites, String) {
    let (sites, name) = sites();
    let item = sites.path("archive").join(&name);
    copy_tree(&item, &sites.path("backup"));
    sites.run(&line.replace("NAME", &name)).succeeded();
    std::fs::remove_dir_all(&item).unwrap();
    copy_tree(&sites.path("backup"), &item);
    (sites, name)
}

const LEAVE: &str = "-c archive migrate NAME --to mirror --leave-copy";
const DELETE: &str = "-c archive delete NAME --with mirror --reason error";

#[test]
fn an_original_where_there_was_a_copy_or_a_tombstone_is_damage() {
    for (line, recorded, mended) in [
        (LEAVE, "Copy", "-c archive demote NAME --to-copy-of mirror -y"),
        (LEAVE, "Copy", "-c archive recover --inventory --yes"),
        (DELETE, "Deleted", DELETE),
        (DELETE, "Deleted", "-c archive recover --inventory --yes"),
    ] {
        let (sites, name) = put_back_after(line);
        for verify in ["-c archive verify".to_owned(), format!("-c archive verify {name}")] {
            let ran = sites.run(&verify);
            assert_eq!(ran.code, 20, "{line}: {}{}", ran.stdout, ran.stderr);
            let found = format!("U113  damage   {name}  ");
            assert!(ran.stdout.starts_with(&found), "{}", ran.stdout);
            let detail = format!("it says Original; the inventory says {recorded}: it became");
            assert!(ran.stdout.contains(&detail), "{}", ran.stdout);
            assert!(
                ran.stderr.contains("hint: `urepo -c archive demote ITEM --to-copy-of"),
                "{}",
                ran.stderr
            );
        }
        let ran = sites.run("-c archive status");
        let concern = format!("in another state than `archive` recorded: {name}\n");
        assert!(ran.stdout.contains(&concern), "{}{}", ran.stdout, ran.stderr);
        let told = records(&sites.run("-c archive status --json"));
        assert!(told.iter().any(|it| it["kind"] == "contradicted"), "{told:?}");

        sites.run(&mended.replace("NAME", &name)).succeeded();
        sites.run("-c archive verify").succeeded();
        let ran = sites.run("-c archive status");
        assert!(!ran.stdout.contains("another state"), "{}", ran.stdout);
    }
}

/// It would be handed over as a second Original, its tombstone would delete the one elsewhere, a change would not
/// reach that one, and that one would become a Copy of it.
#[test]
fn an_original_where_there_was_a_copy_does_not_migrate_nor_change() {
    for (line, code) in [
        ("-c archive migrate NAME --to third", 23),
        ("-c archive migrate NAME --to third --dry-run", 23),
        ("-c archive delete NAME --with third --reason error", 23),
        ("-c archive meta set NAME title=Other", 23),
        ("-c mirror demote NAME --to-copy-of archive -y", 23),
        ("-c mirror demote NAME --to-copy-of archive -y --force different", 23),
        ("-c archive copy NAME --to third", 0),
    ] {
        let (sites, name) = put_back_after(LEAVE);
        sites.run("init third --host third.example.org").succeeded();
        let before = crate::support::tree(&sites.path("archive").join(&name));
        let ran = sites.run(&line.replace("NAME", &name));
        assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
        let refused = "no longer holds the Original";
        assert_eq!(ran.stderr.contains(refused), code != 0, "{line}: {}", ran.stderr);
        assert_eq!(crate::support::tree(&sites.path("archive").join(&name)), before);
    }
}

/// Its files are repaired, and that is all.
#[test]
fn no_repair_makes_it_the_recorded_original() {
    for line in [LEAVE, DELETE] {
        let (sites, name) = put_back_after(line);
        sites.write(&format!("archive/{name}/doc/letter.txt"), "Dear none");
        sites.run(&format!("-c archive repair {name} --from mirror")).succeeded();
        let ran = sites.run("-c archive verify");
        assert_eq!((ran.code, ran.stdout.lines().count()), (20, 1), "{line}: {}", ran.stdout);
        assert!(ran.stdout.starts_with("U113"), "{line}: {}", ran.stdout);
    }
}

#[test]
fn nothing_is_said_of_it_while_others_are_at_work() {
    let (sites, name) = put_back_after(LEAVE);
    let stage = sites.path("archive/.urepo/staging/other");
    std::fs::create_dir(&stage).unwrap();
    sites.run("-c archive verify").succeeded();
    sites.run(&format!("-c archive verify {name}")).succeeded();
    std::fs::remove_dir(stage).unwrap();
    assert_eq!(sites.run("-c archive verify").code, 20);
}

/// A Copy in place of the Original that was recorded since.
#[test]
fn less_than_the_recorded_original_is_damage_unless_it_is_newer() {
    for (date, code) in [("2000-01-01T00:00:00Z", 0), ("9000-01-01T00:00:00Z", 20)] {
        let (sites, name) = sites();
        let line = inventory_line(date, &format!("became {name} Original"));
        append(&inventory_file(&sites.path("mirror"), &name), &line);
        let ran = sites.run("-c mirror verify");
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout.contains("U113"), code == 20, "{}", ran.stdout);
    }
}

/// When the Copy is gone, nothing would tell that the Original is lost.
#[test]
fn a_copy_in_the_place_of_the_original_does_not_go() {
    let (sites, name) = sites();
    let line = inventory_line("9000-01-01T00:00:00Z", &format!("became {name} Original"));
    append(&inventory_file(&sites.path("mirror"), &name), &line);
    sites.run("init third --host third.example.org").succeeded();
    for line in [
        "-c mirror delete NAME --with archive --reason error",
        "-c mirror migrate NAME --to third",
        // Where there is the same Copy.
        "-c mirror migrate NAME --to third",
    ] {
        let ran = sites.run(&line.replace("NAME", &name));
        assert_eq!(ran.code, 23, "{line}: {}{}", ran.stdout, ran.stderr);
        let refused = format!("mirror` has a Copy in the place of the Original of `{name}`");
        assert!(ran.stderr.contains(&refused), "{line}: {}", ran.stderr);
        let ran = sites.run("-c mirror verify");
        assert!(ran.stdout.contains("U113"), "{line}");
        assert!(ran.stderr.contains("put the Original back from a backup"), "{}", ran.stderr);
        if line.ends_with("third") {
            sites.run("-c archive copy --all --to third").succeeded();
        }
    }
    sites.run("-c mirror recover --inventory --yes").succeeded();
    sites.run(&format!("-c mirror migrate {name} --to third")).succeeded();
}

/// A run that was killed may have changed a sidecar and not have recorded that.
#[test]
fn a_change_that_was_not_recorded_is_no_contradiction() {
    for (root, lines) in [
        ("mirror", &["-c archive migrate NAME --to mirror"][..]),
        ("archive", &[LEAVE]),
        ("archive", &[DELETE, "-c mirror copy NAME --to archive --revive"]),
        ("archive", &[DELETE, "-c archive restore NAME"]),
    ] {
        let (sites, name) = sites();
        for line in lines {
            sites.run(&line.replace("NAME", &name)).succeeded();
        }
        forget_last_record(&sites.path(root), &name);
        let ran = sites.run(&format!("-c {root} verify"));
        assert_eq!(ran.code, 0, "{lines:?}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_promotion_that_was_not_recorded_is_no_contradiction() {
    let (sites, name) = sites();
    let archive = sites.path("archive");
    let settings = std::fs::read_to_string(archive.join("urepo.toml")).unwrap();
    let id = settings.parse::<toml::Table>().unwrap()["id"].as_str().unwrap().to_owned();
    std::fs::rename(&archive, sites.path("gone")).unwrap();
    sites.run(&format!("-c mirror promote {name} --lost {id} --reason fire -y")).succeeded();
    forget_last_record(&sites.path("mirror"), &name);
    sites.run("-c mirror verify").succeeded();
}

fn forget_last_record(root: &Path, name: &str) {
    let file = inventory_file(root, name);
    let text = std::fs::read_to_string(&file).unwrap();
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    std::fs::write(&file, &text[..last]).unwrap();
}

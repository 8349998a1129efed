//! What is no description is not accepted where something shows that it was changed.

use urepo::identity::{Ibip, IbipPrefix};

use super::*;

/// The Original in `archive`, and its Copy in `mirror`.
fn copied() -> Archive {
    let archive = Archive::new();
    let created = archive.sidecar().created;
    change_item(&archive.world.path("archive"), &archive.name, |sidecar| {
        let prefix: IbipPrefix = "8JMKD3MGP8W".parse().unwrap();
        sidecar.ibip = Ibip::new(&prefix, created);
    });
    archive.world.run("init mirror --host mirror.example.org").succeeded();
    archive.world.run("-c archive copy --all --to mirror").succeeded();
    archive
}

#[track_caller]
fn refuses(archive: &Archive, more: &str, key: &str) {
    let before = archive.text();
    let refused = archive.accept(more);
    let told = format!("differs than its description: {key}\n");
    assert!(refused.code == 20 && refused.stderr.contains(&told), "{key}: {}", refused.stderr);
    assert!(refused.stderr.contains("`urepo -c archive repair"), "{}", refused.stderr);
    assert_eq!(archive.text(), before, "{key}");
}

#[test]
fn what_another_holding_contradicts_is_damage() {
    for (from, to, key) in [
        ("ibip = \"8JMKD3MGP8W", "ibip = \"8JMKD3MGP9W", "ibip"),
        ("created = 2026-11-21T02:13:00Z", "created = 2026-11-21T02:13:01Z", "created"),
        ("\ntimestamp = 2026", "\ntimestamp = 2027", "timestamp"),
        ("\ntimestamp = 2026", "\ntimestamp = 2016", "timestamp"),
        ("letter.txt\"\n\n[payload", "lettes.txt\"\n\n[payload", "origin.source"),
        ("\nsource = ", "\nsourcf = ", "origin.source"),
        ("target = \"letter", "target = \"nosuch", "target"),
    ] {
        let archive = copied();
        archive.edit_by_hand(from, to);
        archive.know_mirror();
        refuses(&archive, "-y", key);
        let before = fs::read_to_string(archive.file()).unwrap();
        archive.world.run("-c archive repair --from mirror").succeeded();
        assert_ne!(archive.text(), before);
    }
}

#[test]
fn what_contradicts_the_name_is_damage() {
    let date = |archive: &Archive| archive.sidecar().ibip.unwrap().suffix().to_owned();
    let archive = copied();
    let (suffix, last) = (date(&archive), date(&archive).pop().unwrap());
    let other = if last == 'B' { 'C' } else { 'B' };
    let rotten = format!("{}{other}\"", &suffix[..suffix.len() - 1]);
    archive.edit_by_hand(&format!("{suffix}\""), &rotten);
    refuses(&archive, "-y", "ibip");
    for (from, to, key) in [
        ("created = 2026", "created = 2027", "created"),
        ("\ntimestamp = 2026", "\ntimestamp = 9026", "timestamp"),
    ] {
        let archive = copied();
        archive.edit_by_hand(from, to);
        refuses(&archive, "-y", key);
    }
}

/// Where nothing shows what they were, the values are shown.
#[test]
fn what_nothing_vouches_for_is_asked_about() {
    let archive = copied();
    archive.edit_by_hand("ibip = \"8JMKD3MGP8W", "ibip = \"8JMKD3MGP9W");
    archive.edit_by_hand("transferable = true", "transferable = true\nshelf = \"B-12\"");
    let edited = archive.text();
    let asked = archive.accept("");
    assert_eq!((asked.code, archive.text()), (2, edited), "{}", asked.stderr);
    for value in
        ["ibip \"8JMKD3MGP9W/", "origin.source \"", "target \"letter.txt\"", "shelf \"B-12\""]
    {
        assert!(asked.stderr.contains(value), "{value}: {}", asked.stderr);
    }
    let shown = archive.accept("--dry-run --json");
    assert!(
        shown.succeeded().contains("{\"after\":\"B-12\",\"key\":\"shelf\"}"),
        "{}",
        shown.stdout
    );
}

/// With a Copy that says the same of the rest, nothing is unproven.
#[test]
fn a_copy_vouches_for_the_rest() {
    let archive = copied();
    archive.entitle("Letter").unwrap();
    archive.edit_by_hand("\"Letter\"", "\"Letters\"");
    archive.edit_by_hand("transferable = true", "transferable = true\nshelf = \"B-12\"");
    // The log has the title that the Copy does not have yet.
    let told = "title: \"Letter\" -> \"Letters\", shelf: nothing -> \"B-12\" (compared with";
    archive.know_mirror();
    let accepted = archive.accept("-y");
    accepted.succeeded();
    assert!(!accepted.stderr.contains("nothing shows"), "{}", accepted.stderr);
    assert!(accepted.stdout.contains(told), "{}", accepted.stdout);
    let events = archive.events();
    let accepted = events.iter().rfind(|it| it.note.is_some()).unwrap();
    let keys: Vec<_> = accepted.changes.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["metadata.title", "shelf"], "{events:?}");
}

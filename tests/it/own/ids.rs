//! Who has an Original hangs on the id of the collection: one lost or mistyped line changes nothing.

use crate::support::{World, copy_tree};

use super::{deposit_one, lose, world};

fn id_of(world: &World, root: &str) -> String {
    let text = std::fs::read_to_string(world.path(root).join("urepo.toml")).unwrap();
    text.split('"').nth(1).unwrap().to_owned()
}

fn lose_settings(world: &World) -> String {
    let id = id_of(world, "archive");
    std::fs::remove_file(world.path("archive/urepo.toml")).unwrap();
    id
}

fn is_original(world: &World, name: &str) {
    world.run(&format!("-c archive meta set {name} title=Letter")).succeeded();
    let ran = world.run("-c archive verify");
    assert!(!ran.succeeded().contains("U114"), "{}", ran.stdout);
}

#[test]
fn lost_settings_are_written_again() {
    let (world, kept, _) = world();
    let id = lose_settings(&world);
    for refused in ["init archive --host archive.example.org", "init archive --adopt"] {
        let ran = world.run(refused);
        assert_eq!(ran.code, 23, "{}", ran.stderr);
        assert!(ran.stderr.contains("`urepo -c [WORLD]/archive recover`"), "{}", ran.stderr);
    }
    let ran = world.run("-c archive recover -n");
    assert!(ran.code == 0 && ran.stderr.contains("would write"), "{}", ran.stderr);
    assert!(!world.path("archive/urepo.toml").exists());
    let ran = world.run("-c archive recover");
    ran.succeeded();
    for guess in ["that of the ledger", "name `archive`", "archive.example.org"] {
        assert!(ran.stderr.contains(guess), "{}", ran.stderr);
    }
    assert_eq!(id_of(&world, "archive"), id);
    is_original(&world, &kept);
    deposit_one(&world, "later.txt");
}

#[test]
fn without_a_ledger_the_originals_tell_the_id() {
    let (world, kept, _) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    let id = lose_settings(&world);
    lose(&world, "ledger");
    world.run("-c archive recover").succeeded();
    assert_eq!(id_of(&world, "archive"), id);
    is_original(&world, &kept);
    // Copies name another collection, and nothing tells the id of a mirror but its ledger.
    std::fs::remove_dir_all(world.path("mirror/.urepo/ledger")).unwrap();
    std::fs::remove_file(world.path("mirror/urepo.toml")).unwrap();
    let ran = world.run("-c mirror recover");
    assert!(ran.code == 23 && ran.stderr.contains("recover --new-id"), "{}", ran.stderr);
    world.run("-c mirror recover --new-id").succeeded();
    assert_eq!(id_of(&world, "archive"), id);
    world.run("-c mirror verify").succeeded();
}

#[test]
fn a_mistyped_id_stops_writers_and_not_readers() {
    let (world, kept, _) = world();
    let id = id_of(&world, "archive");
    let mistyped = format!("{}{}", if id.starts_with('0') { '1' } else { '0' }, &id[1..]);
    let text = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    // A comment is no id.
    let text = format!("# once {id}, {mistyped}\n{}", text.replace(&id, &mistyped));
    world.write("archive/urepo.toml", &text);
    let ran = world.run(&format!("-c archive show {kept}"));
    assert!(ran.succeeded().contains("Original"), "{}", ran.stdout);
    assert!(ran.stderr.contains(&format!("has the id {mistyped}")), "{}", ran.stderr);
    assert!(!world.run("-c archive verify").succeeded().contains("U114"));
    world.write("more.txt", "more");
    let changes = [
        "new more.txt".to_owned(),
        "mint".to_owned(),
        "import more.txt".to_owned(),
        format!("meta set {kept} title=x"),
        format!("delete {kept} --force last --yes"),
        format!("copy {kept} --to mirror"),
        "purge --yes".to_owned(),
    ];
    for change in &changes {
        let ran = world.run(&format!("-c archive {change}"));
        let is_refused =
            ran.code == 23 && ran.stderr.contains("`urepo -c [WORLD]/archive recover`");
        assert!(is_refused || change.starts_with("copy"), "{change}: {} {}", ran.code, ran.stderr);
    }
    world.run("-c archive recover -n").succeeded();
    let ran = world.run("-c archive recover");
    ran.succeeded();
    assert!(ran.stderr.contains(&format!("{id}, in place of {mistyped}")), "{}", ran.stderr);
    let text = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    assert!(text.contains(&format!("\nid = \"{id}\"")) && text.starts_with("# once "), "{text}");
    is_original(&world, &kept);
}

#[test]
fn a_copied_collection_becomes_another() {
    let (world, kept, _) = world();
    copy_tree(&world.path("archive"), &world.path("copied"));
    let old = id_of(&world, "archive");
    let ran = world.run("-c copied recover --new-id");
    assert!(ran.code != 0 && id_of(&world, "copied") == old, "{}", ran.stderr);
    world.run("-c copied recover --new-id -n").succeeded();
    assert_eq!(id_of(&world, "copied"), old);
    let ran = world.run("-c copied recover --new-id --yes");
    ran.succeeded();
    let new = id_of(&world, "copied");
    assert!(new != old && ran.stderr.contains(&format!("{new} now; it was {old}")));
    let header = std::fs::read_to_string(world.path("copied/.urepo/ledger/000002.jsonl")).unwrap();
    assert!(header.starts_with(&format!("{{\"collection\":\"{new}\"")), "{header}");
    assert!(header.contains(&format!("\"was\":\"{old}\"")), "{header}");
    let ran = world.run(&format!("-c copied meta set {kept} title=x"));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    world.run("-c copied repair").succeeded();
    assert!(world.run(&format!("-c copied show {kept}")).stdout.contains("Copy"));
    assert_eq!(world.run("verify archive copied").code, 0);
    is_original(&world, &kept);
    world.run("-c archive copy --all --to copied").succeeded();
}

/// Lists collections in the settings.
fn settings(world: &World, roots: &[&str]) {
    let lines = roots.iter().map(|root| format!("{root} = '{}'\n", world.path(root).display()));
    let text = format!("[collections]\n{}", lines.collect::<String>());
    world.write(".config/urepo/config.toml", text);
}

#[test]
fn a_backup_in_the_settings_goes_on_for_nobody() {
    let (world, kept, _) = world();
    copy_tree(&world.path("archive"), &world.path("backup"));
    settings(&world, &["archive", "backup", "mirror"]);
    // The original goes on, and the backup mends it.
    is_original(&world, &kept);
    deposit_one(&world, "later.txt");
    world.run("-c archive copy --all --to mirror").succeeded();
    for refused in [
        format!("meta set {kept} title=x"),
        format!("delete {kept} --force last --yes"),
        "mint".to_owned(),
        #[cfg(feature = "serve")]
        "serve backup --issue --listen 127.0.0.1:0".to_owned(),
        format!("copy {kept} --to mirror"),
    ] {
        let ran = world.run(&format!("-c backup {refused}"));
        let is_backup = ran.stderr.contains("`[WORLD]/backup` is a backup of `[WORLD]/archive`");
        assert!(
            ran.code == 23 && is_backup || refused.starts_with("copy"),
            "{refused}: {}",
            ran.stderr
        );
    }
    let ran = world.run("-c archive status");
    assert!(ran.stderr.contains("`[WORLD]/backup` is a backup of"), "{}", ran.stderr);
    let directory = format!("archive/{kept}/doc");
    std::fs::remove_dir_all(world.path(&directory)).unwrap();
    world.run(&format!("-c archive repair {kept} --from backup")).succeeded();
    assert!(world.path(&directory).is_dir());
}

#[test]
fn roots_of_one_id_that_went_apart_are_refused_both() {
    let (world, kept, _) = world();
    copy_tree(&world.path("archive"), &world.path("copied"));
    is_original(&world, &kept);
    // The later change of two in one second is decided by random ids: a second one makes the copied root the later.
    for title in ["Other", "Another"] {
        world.run(&format!("-c copied meta set {kept} title={title}")).succeeded();
    }
    settings(&world, &["archive", "copied", "mirror"]);
    for root in ["archive", "copied"] {
        let ran = world.run(&format!("-c {root} meta set {kept} title=x"));
        assert_eq!(ran.code, 23, "{}", ran.stderr);
        assert!(ran.stderr.contains("recover --new-id"), "{}", ran.stderr);
        assert!(world.run(&format!("-c {root} show {kept}")).code == 0);
    }
    world.run("-c copied recover --new-id --yes").succeeded();
    // Each was changed, so a person says which line goes on.
    assert_eq!(world.run(&format!("-c archive meta set {kept} title=x")).code, 23);
    world.run(&format!("-c archive promote {kept} --discard --yes")).succeeded();
    is_original(&world, &kept);
}

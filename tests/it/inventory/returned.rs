//! Originals that left for another collection and are back: put there by hand, or never taken away by a run that
//! was killed.

use urepo::disk::Holder;

use super::{MINUTES, Told, told};
use crate::support::{
    TestClock, World as Sites, agent, append, copy_tree, inventory_file, inventory_line, waiter,
};

/// An item that migrated from the archive to the mirror, and whose directory is back from a backup.
fn put_back() -> (Sites, String) {
    let sites = Sites::new();
    sites.run("init archive --host archive.example.org").succeeded();
    sites.run("init mirror --host mirror.example.org").succeeded();
    sites.write("letter.txt", "Dear all");
    let name = sites.run("-c archive new letter.txt").line();
    let item = sites.path("archive").join(&name);
    copy_tree(&item, &sites.path("backup"));
    sites.run(&format!("-c archive migrate {name} --to mirror")).succeeded();
    std::fs::create_dir_all(item.parent().unwrap()).unwrap();
    copy_tree(&sites.path("backup"), &item);
    (sites, name)
}

#[test]
fn it_is_damage_until_a_person_decides() {
    let (sites, name) = put_back();
    for _ in 0..2 {
        let ran = sites.run("-c archive verify");
        assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
        let line = ran.stdout.lines().next().unwrap();
        assert!(line.starts_with(&format!("U112  damage   {name}  ")), "{line}");
        assert!(line.contains("it was migrated to the collection `mirror` ("), "{line}");
    }
    for line in [
        format!("-c archive migrate {name} --to mirror"),
        format!("-c mirror demote {name} --to-copy-of archive -y"),
    ] {
        let ran = sites.run(&line);
        assert_eq!(ran.code, 23, "{}", ran.stderr);
    }
    sites.run(&format!("-c archive demote {name} --to-copy-of mirror -y")).succeeded();
    sites.run("verify archive mirror").succeeded();
}

#[test]
fn the_other_original_does_not_give_way_to_it() {
    let (sites, name) = put_back();
    let ran = sites.run(&format!("-c mirror demote {name} --to-copy-of archive -y"));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("archive` no longer holds the Original of"), "{}", ran.stderr);
    // A person knows better.
    let ran = sites.run("-c archive recover --inventory --yes");
    assert_eq!(ran.succeeded(), format!("taken in: {name}, Original\n"));
    sites.run("-c archive verify").succeeded();
    sites.run(&format!("-c mirror demote {name} --to-copy-of archive -y")).succeeded();
}

/// A run records that an item leaves before it takes the item away.
#[test]
fn a_killed_run_may_have_left_it() {
    for (begun, is_recorded) in [("2026-11-23T09:59:59Z", true), ("2026-11-23T10:00:01Z", false)] {
        let world = super::World::new();
        let name = &world.names[0];
        let line = format!("left {name} migrated 60cb73fd mirror");
        let file = inventory_file(&world.root, name.as_str());
        append(&file, &inventory_line("2026-11-23T10:00:00Z", &line));
        let returned = Told { returned: vec![name.clone()], ..Told::default() };
        assert_eq!(told(&world.root), returned);
        let stage = world.root.join(".urepo/staging/killed");
        std::fs::create_dir_all(&stage).unwrap();
        let holder =
            Holder { since: begun.parse().unwrap(), ..agent().holder(&TestClock::at(MINUTES[0])) };
        std::fs::write(stage.join("holder"), holder.to_string()).unwrap();
        let clock = TestClock::at("2027-01-02T00:00:00Z");
        world.collection().writer(&agent(), &waiter(&clock)).unwrap().finish().unwrap();
        let expected = if is_recorded { Told::default() } else { returned };
        assert_eq!(told(&world.root), expected, "{begun}");
    }
}

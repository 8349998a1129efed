//! The trail of an Original that went on from the lost collection, as far as inventories tell of it.

use super::*;
use crate::support::inventory_file;

/// The Original went on from the archive to the new site; then the archive is lost, and only the new site
/// knows where the Original went from there.
struct Trail {
    sites: Sites,
    archive: String,
}

impl Trail {
    fn new() -> Trail {
        let sites = Sites::new();
        let world = &sites.world;
        world.run("init new-site --host new-site.example.org").succeeded();
        world.run("init last --host last.example.org").succeeded();
        sites.find_again();
        let archive = id(world, "archive");
        Trail { sites, archive }
    }

    fn migrate(&self, from: &str, to: &str) {
        self.sites
            .world
            .run(&format!("-c {from} migrate {} --to {to}", self.sites.name))
            .succeeded();
    }

    fn promote(&self, selected: &str, more: &str) -> Ran {
        let Trail { sites, archive } = self;
        let line = format!(
            "-c mirror promote {selected} --reason fire -y --with third --lost {archive} {more}"
        );
        sites.world.run(&line)
    }

    /// A dry run ends as the run does.
    fn refuses(&self, more: &str, told: &str) -> Ran {
        let promote = |dry| self.promote(&self.sites.name, &format!("{more} {dry}"));
        let (dry, ran) = (promote("--dry-run"), promote(""));
        assert_eq!((dry.code, dry.stderr), (ran.code, ran.stderr.clone()));
        self.sites.refuses(&ran, 23, told);
        ran
    }

    fn promotes(&self, selected: &str, more: &str) {
        let dry = self.promote(selected, &format!("{more} --dry-run"));
        assert!(dry.succeeded().contains("would become the Original"), "{}", dry.stdout);
        self.promote(selected, more).succeeded();
        assert_eq!(self.sites.state("mirror"), "Original");
    }
}

#[test]
fn an_original_that_went_on_from_the_lost_collection_is_followed() {
    let trail = Trail::new();
    trail.migrate("archive", "new-site");
    trail.migrate("new-site", "last");
    trail.sites.lose();
    let last = id(&trail.sites.world, "last");
    trail.refuses("--with new-site --with last", "last` holds the Original");
    std::fs::rename(trail.sites.world.path("last"), trail.sites.world.path("burnt")).unwrap();
    let ran =
        trail.refuses("--with new-site", &format!("the collection {last} may hold the Original"));
    assert!(ran.stderr.contains(&format!("`--lost {last}`")), "{}", ran.stderr);
    trail.promotes(&trail.sites.name, &format!("--with new-site --lost {last}"));
}

/// This collection once had the Original, and its Copy is one from before.
#[test]
fn the_own_inventory_says_where_the_original_went() {
    let trail = Trail::new();
    let (world, item) = (&trail.sites.world, &trail.sites.name);
    trail.migrate("archive", "mirror");
    trail.migrate("mirror", "last");
    world.run(&format!("-c third copy {item} --to mirror")).succeeded();
    trail.sites.lose();
    let last = id(world, "last");
    std::fs::rename(world.path("last"), world.path("burnt")).unwrap();
    trail.refuses("", &format!("the collection {last} may hold the Original"));
    trail.promotes(&trail.sites.name, &format!("--lost {last}"));
}

/// A mirror that was moved to another disk has never had the Original.
#[test]
fn where_a_copy_went_does_not_matter() {
    let trail = Trail::new();
    let world = &trail.sites.world;
    world.run(&format!("-c third migrate {} --to last", trail.sites.name)).succeeded();
    trail.sites.lose();
    std::fs::rename(world.path("last"), world.path("unplugged")).unwrap();
    trail.promotes("--all", "");
}

/// The new site has nothing of the item, and nothing that says where it went.
#[test]
fn a_trail_that_ends_in_a_known_collection_is_a_persons_to_judge() {
    let trail = Trail::new();
    let (world, item) = (&trail.sites.world, &trail.sites.name);
    trail.migrate("archive", "new-site");
    trail.migrate("new-site", "last");
    trail.sites.lose();
    let made_of = id(world, "new-site");
    change_item(&world.path("third"), item, |sidecar| {
        sidecar.origin.insert("collection".to_owned(), made_of.into());
    });
    std::fs::remove_file(inventory_file(&world.path("new-site"), item)).unwrap();
    let ran = trail.refuses("--with new-site", "new-site` does not say where the Original of");
    assert!(ran.stderr.contains("`--force untraced`"), "{}", ran.stderr);
    // What was said to be lost need not say anything.
    let lost = id(world, "new-site");
    std::fs::rename(world.path("new-site"), world.path("burnt")).unwrap();
    trail.refuses("", &format!("--lost {lost}"));
    assert!(
        trail.promote(item, &format!("--lost {lost} --dry-run")).stdout.contains("would become")
    );
    std::fs::rename(world.path("burnt"), world.path("new-site")).unwrap();
    trail.promotes("--all", "--with new-site --force untraced");
    let entry = trail.sites.sidecar("mirror").origin["handovers"].as_array().unwrap()[0].clone();
    assert_eq!(entry["from"].as_str(), Some(&*trail.archive));
}

/// The sidecar of the Copy on the way is damaged; its inventory says that it is no more than a Copy.
#[test]
fn a_trail_ends_at_a_copy_that_cannot_be_read() {
    let trail = Trail::new();
    let (world, item) = (&trail.sites.world, &trail.sites.name);
    world.run(&format!("-c archive migrate {item} --leave-copy --to new-site")).succeeded();
    world.run(&format!("-c new-site migrate {item} --leave-copy --to last")).succeeded();
    trail.sites.lose();
    std::fs::write(world.path("new-site").join(item).join("item.toml"), "rot").unwrap();
    trail.refuses("--with new-site", "new-site` does not say where the Original of");
    trail.promotes(item, "--with new-site --force untraced");
}

/// Nothing says what the Copy was made of: then the person says which collection is lost.
#[test]
fn a_copy_of_unknown_origin_is_promoted_by_force_only() {
    let trail = Trail::new();
    for root in ["mirror", "third"] {
        change_item(&trail.sites.world.path(root), &trail.sites.name, |sidecar| {
            sidecar.origin.remove("collection");
        });
    }
    trail.sites.lose();
    trail.refuses("", "mirror` does not say where the Original of");
    trail.promotes(&trail.sites.name, "--force untraced");
    let entry = trail.sites.sidecar("mirror").origin["handovers"].as_array().unwrap()[0].clone();
    assert_eq!(entry["from"].as_str(), Some(&*trail.archive));
}

/// A backup from before the Original came was restored in the collection that held it: two Copies name each other.
#[test]
fn of_two_copies_that_name_each_other_one_is_promoted_by_force_only() {
    let world = World::new();
    world.run("init a --host a.example.org").succeeded();
    world.run("init b --host b.example.org").succeeded();
    world.write("letter.txt", "Dear all");
    let name = world.run("-c a new letter.txt").line();
    world.run("-c a copy --all --to b").succeeded();
    crate::support::copy_tree(&world.path("b"), &world.path("backup"));
    world.run(&format!("-c a migrate {name} --to b --leave-copy")).succeeded();
    let promote = format!("-c a promote {name} --lost b --reason rollback -y");
    let refused = world.run(&format!("{promote} --force untraced"));
    assert_eq!(refused.code, 23, "b has the Original: {}", refused.stderr);
    std::fs::remove_dir_all(world.path("b")).unwrap();
    crate::support::copy_tree(&world.path("backup"), &world.path("b"));
    let refused = world.run(&promote);
    assert_eq!(refused.code, 23, "{}", refused.stderr);
    assert!(refused.stderr.contains("`--force untraced`"), "{}", refused.stderr);
    world.run(&format!("{promote} --force untraced")).succeeded();
    world.run("-c a copy --all --to b --refresh").succeeded();
    world.run("verify a b").succeeded();
    assert!(!world.run("verify a b").stdout.contains("U402"));
}

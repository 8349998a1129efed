//! What the seal covers beside the description: where an item came from, and keys of one's own.

use std::fs;
use std::path::PathBuf;

use crate::support::{Ran, World, change_item};

/// The Original of an item in `archive`, and its Copy in `mirror`.
struct Sites {
    world: World,
    name: String,
}

impl Sites {
    fn new() -> Sites {
        let world = World::with_collection();
        world.write("letter.txt", "Dear me");
        let name = world.run("-c archive new letter.txt --title Letter").line();
        world.run("init mirror --host mirror.example.org").succeeded();
        let sites = Sites { world, name };
        change_item(&sites.world.path("archive"), &sites.name, |sidecar| {
            let digests = "md5 = { 'letter.txt' = '0cc175b9c0f1b6a831c399e269772661' }";
            let digests: toml::Table = digests.parse().unwrap();
            sidecar.origin.insert("digests".into(), digests.into());
        });
        sites
    }

    fn copied() -> Sites {
        let sites = Sites::new();
        sites.copy("archive", "mirror");
        sites
    }

    fn copy(&self, from: &str, to: &str) {
        self.world.run(&format!("-c {from} copy --all --to {to}")).succeeded();
    }

    fn file(&self, root: &str) -> PathBuf {
        self.world.path(root).join(&self.name).join("item.toml")
    }

    fn text(&self, root: &str) -> String {
        fs::read_to_string(self.file(root)).unwrap()
    }

    /// Changes what follows `key` in the sidecar, and leaves its seal.
    fn rot(&self, root: &str, key: &str, from: &str, to: &str) {
        let text = self.text(root);
        let (before, after) = text.split_once(key).unwrap_or_else(|| panic!("{key}\n{text}"));
        let rotten = format!("{before}{key}{}", after.replacen(from, to, 1));
        assert_ne!(rotten, text, "{key}");
        fs::write(self.file(root), rotten).unwrap();
    }

    fn repair(&self, root: &str, from: &str) -> Ran {
        self.world.run(&format!("-c {root} repair --from {from}"))
    }

    /// A repair takes the text of the other one.
    #[track_caller]
    fn restores(&self, root: &str, from: &str, before: &str) {
        let ran = self.repair(root, from);
        assert!(ran.succeeded().contains("sidecar built from"), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(self.text(root), before);
        self.world.run(&format!("-c {root} verify")).succeeded();
    }
}

fn digit(text: &str, key: &str) -> (String, String) {
    let (_, value) = text.split_once(key).unwrap();
    let digit = value.chars().find(char::is_ascii_digit).unwrap();
    let other = if digit == '1' { '3' } else { '1' };
    (digit.to_string(), other.to_string())
}

#[test]
fn rot_in_the_origin_is_undone() {
    let sites = Sites::copied();
    for root in ["mirror", "archive"] {
        let before = sites.text(root);
        for key in ["\nsource = ", "[origin.digests.md5]\n"] {
            if !before.contains(key) {
                continue;
            }
            let (from, to) = if key.contains("source") {
                ("letter".to_owned(), "lettes".to_owned())
            } else {
                digit(&before, key)
            };
            sites.rot(root, key, &from, &to);
            sites.restores(root, if root == "mirror" { "archive" } else { "mirror" }, &before);
        }
    }
}

#[test]
fn rot_in_keys_of_ones_own_is_undone() {
    let sites = Sites::new();
    sites.rot("archive", "", "transferable = true", "transferable = true # ?\nshelf = \"B-12\"");
    sites.world.run(&format!("-c archive repair --accept -y {}", sites.name)).succeeded();
    sites.copy("archive", "mirror");
    let before = ["archive", "mirror"].map(|root| sites.text(root));
    sites.rot("archive", "", "B-12", "C-12");
    sites.restores("archive", "mirror", &before[0]);
    sites.rot("mirror", "", "B-12", "C-12");
    sites.restores("mirror", "archive", &before[1]);
}

/// Rot in the seal itself leaves enough of it.
#[test]
fn a_seal_that_rotted_itself_still_proves_the_text() {
    let sites = Sites::copied();
    let before = sites.text("mirror");
    let (from, to) = digit(&before, "[seal]\nsha256 = \"");
    sites.rot("mirror", "[seal]\nsha256 = \"", &from, &to);
    sites.repair("mirror", "archive").succeeded();
    assert_eq!(sites.text("mirror"), before);
}

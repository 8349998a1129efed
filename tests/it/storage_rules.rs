//! The rules of storage [resolution, 5.2; S1 to S9], a test for each sentence of the standard, over collections in
//! the place of Archives.

mod keeping;
mod moving;

use std::path::PathBuf;

use urepo::item::State;
use urepo::sidecar::Sidecar;

use crate::support::{Ran, World, change_item, copy_tree, tree};

/// Three collections, the first with one item.
struct Archives {
    world: World,
    name: String,
}

const ROOTS: [&str; 3] = ["a", "b", "c"];

impl Archives {
    fn new() -> Archives {
        let world = World::new();
        for (at, root) in ROOTS.iter().enumerate() {
            let ip = format!("192.0.2.{}", at + 1);
            world.run(&format!("init {root} --host {root}.example.org --ip {ip}")).succeeded();
        }
        world.write("letter.txt", "Dear all");
        let name = world.run("-c a new letter.txt --title Letter").line();
        Archives { world, name }
    }

    /// Runs `line`, with `ITEM` for the item.
    fn run(&self, line: &str) -> Ran {
        self.world.run(&line.replace("ITEM", &self.name))
    }

    #[track_caller]
    fn done(&self, line: &str) -> String {
        self.run(line).succeeded().to_owned()
    }

    /// Runs `line`, which is refused, and changes nothing in any collection.
    #[track_caller]
    fn refused(&self, line: &str, code: i32, message: &str) {
        let before = self.trees();
        let ran = self.run(line);
        assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(message), "{line}: {}", ran.stderr);
        assert_eq!(self.trees(), before, "{line}");
    }

    /// The items of each collection, without what urepo keeps beside them.
    fn trees(&self) -> Vec<Vec<String>> {
        let items = ROOTS.map(|root| self.world.path(root).join("example.org"));
        items.map(|items| if items.exists() { tree(&items) } else { Vec::new() }).into()
    }

    fn item(&self, root: &str) -> PathBuf {
        self.world.path(root).join(&self.name)
    }

    fn sidecar(&self, root: &str) -> Option<Sidecar> {
        let text = std::fs::read(self.item(root).join("item.toml")).ok()?;
        Some(Sidecar::read(&text).unwrap().0)
    }

    /// The state of the item in each collection.
    fn states(&self) -> [Option<State>; 3] {
        ROOTS.map(|root| self.sidecar(root).map(|sidecar| sidecar.state))
    }

    /// Verifies all collections together, and expects a finding with `code`.
    #[track_caller]
    fn finds(&self, code: &str, exit: i32) {
        let ran = self.run("verify a b c");
        assert_eq!(ran.code, exit, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(code), "{}{}", ran.stdout, ran.stderr);
    }

    /// Verifies all collections together, and expects no finding.
    #[track_caller]
    fn verified(&self) {
        assert_eq!(self.done("verify a b c"), "");
    }

    fn id(&self, root: &str) -> String {
        let text = std::fs::read_to_string(self.world.path(root).join("urepo.toml")).unwrap();
        text.parse::<toml::Table>().unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// Copies the item by hand, as if somebody cloned its directory.
    fn clone_by_hand(&self, from: &str, to: &str) {
        std::fs::create_dir_all(self.item(to)).unwrap();
        copy_tree(&self.item(from), &self.item(to));
    }
}

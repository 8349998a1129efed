//! Collections that are given as lost and are there: broken, or elsewhere.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{Sites, id};

/// Makes a collection one that cannot be read.
type Breakage = fn(&Path);

const BREAKAGES: [(&str, Breakage); 10] = [
    ("a key without a value", |root| settings(root, b"x =\n")),
    ("a later format", |root| settings(root, b"format = 2\n")),
    ("no text", |root| settings(root, b"\xff")),
    ("nothing", |root| settings(root, b"")),
    ("too many bytes", |root| settings(root, &vec![b'#'; 2 << 20])),
    ("settings that may not be read", |root| close(&root.join("urepo.toml"))),
    ("a root that may not be read", close),
    ("own directory that may not be read", |root| close(&root.join(".urepo"))),
    ("a directory of that name", |root| {
        fs::remove_file(root.join("urepo.toml")).unwrap();
        fs::create_dir(root.join("urepo.toml")).unwrap();
    }),
    ("a link that leads nowhere", |root| {
        fs::remove_file(root.join("urepo.toml")).unwrap();
        symlink("elsewhere", root.join("urepo.toml")).unwrap();
    }),
];

fn settings(root: &Path, bytes: &[u8]) {
    fs::write(root.join("urepo.toml"), bytes).unwrap();
}

fn close(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
}

#[test]
fn a_collection_that_cannot_be_read_is_not_lost() {
    for (what, breaks) in BREAKAGES {
        let sites = Sites::new();
        let world = &sites.world;
        sites.find_again();
        let root = world.path("archive");
        let by_id = id(world, "archive");
        breaks(&root);
        let named = format!("[collections]\nsite = \"{}\"\n", root.display());
        let there = "it is there and cannot be read";
        let unseen = "`site` cannot be opened and may hold Originals";
        let lines = [("", "archive", there), (&named, "site", there), (&named, &by_id, unseen)];
        for (settings, lost, refusal) in lines {
            world.write(".config/urepo/config.toml", settings);
            for selected in ["--all", &sites.name] {
                let line = format!("-c mirror promote {selected} --lost {lost} --reason fire -y");
                let ran = world.run_unprivileged(&line);
                assert_eq!(ran.code, 23, "{what}, {lost}: {}", ran.stderr);
                sites.refuses(&ran, 23, refusal);
            }
        }
        // For the test to be removed.
        fs::set_permissions(&root, Permissions::from_mode(0o755)).unwrap();
    }
}

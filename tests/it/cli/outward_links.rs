//! An item whose links lead anywhere (`--links asis`): no command follows them out of the item.

use std::os::unix::fs::symlink;

use crate::support::{Ran, World, tree};

fn world_with_outward_links() -> (World, String) {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.write("secret.txt", "the secret");
    world.write("private/key", "the secret");
    world.write("in/a.txt", "alpha");
    for (name, target) in [
        ("file", "../secret.txt"),
        ("dir", "../private"),
        ("etc", "/etc"),
        ("far", "../../../../../../../../../../../etc/passwd"),
        ("nothing", "../no/such/thing"),
        ("loop", "loop"),
    ] {
        symlink(target, world.path(format!("in/{name}"))).unwrap();
    }
    symlink(world.path("secret.txt"), world.path("in/absolute")).unwrap();
    let name = world.run("-c archive new in --links asis").line();
    (world, name)
}

fn is_well(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn are_kept_by_all_commands_and_followed_by_none() {
    let (world, name) = world_with_outward_links();
    let before = tree(&world.path("in"));
    let holds = |place: &str| {
        let doc = world.path(format!("{place}/{name}/doc"));
        assert_eq!(tree(&doc), before, "{place}");
        std::fs::write(doc.join("a.txt"), "rotten").unwrap();
    };
    is_well(&world.run("-c archive verify"));
    is_well(&world.run("-c archive copy --all --to mirror"));
    is_well(&world.run("verify archive mirror"));
    holds("mirror");
    is_well(&world.run("-c mirror repair --from archive"));
    is_well(&world.run("verify archive mirror"));
    is_well(&world.run("init other --host other.example.org"));
    is_well(&world.run(&format!("-c archive migrate {name} --to other")));
    is_well(&world.run("verify other"));
    holds("other");
    is_well(&world.run(&format!("-c other repair {name} --from mirror")));
    assert_eq!(world.run("-c other links --all").code, 3);
    for (format, out) in [("plain", "out-dir"), ("tar", "out-tar")] {
        std::fs::create_dir(world.path(out)).unwrap();
        is_well(&world.run(&format!("-c other export {name} --format {format} --to {out}")));
    }
    // A bag cannot have links: it refuses them, or leaves those out that lead nowhere inside.
    for links in ["", " --links skip", " --links follow"] {
        let out = format!("out-bag{}", links.trim().replace(' ', ""));
        std::fs::create_dir(world.path(&out)).unwrap();
        world.run(&format!("-c other export {name} --format bagit --to {out}{links}"));
    }
    for file in ["file", "dir/key", "absolute", "etc/passwd"] {
        assert_ne!(world.run(&format!("-c other cat {name} {file}")).code, 0, "{file}");
    }
    is_well(&world.run(&format!("-c other delete {name} --force last --reason test --yes")));
    for out in [
        "out-dir",
        "out-tar",
        "out-bag",
        "out-bag--linksskip",
        "out-bag--linksfollow",
        "other",
        "mirror",
    ] {
        for entry in walkdir::WalkDir::new(world.path(out)) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                let is_secret = bytes.windows(10).any(|it| it == b"the secret");
                assert!(!is_secret, "{}", entry.path().display());
            }
        }
    }
    assert_eq!(std::fs::read_to_string(world.path("secret.txt")).unwrap(), "the secret");
    assert_eq!(std::fs::read_to_string(world.path("private/key")).unwrap(), "the secret");
}

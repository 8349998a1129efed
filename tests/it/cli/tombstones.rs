//! Copying a whole collection in which something was deleted.

use super::{leaf, world_with_item};

#[test]
fn all_items_are_not_those_that_are_deleted() {
    let (world, name) = world_with_item();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.write("b.txt", "beta");
    world.run("-c archive new b.txt").succeeded();
    world.run(&format!("-c archive delete --force last {}", leaf(&name))).succeeded();
    let ran = world.run("-c archive copy --all --to mirror");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr, "copied 1 item, 1 file, 4 B; recorded the deletion of 1 item\n");
    // Asked for by name, or by its state, it is refused.
    for selection in [name.as_str(), "--state deleted"] {
        let ran = world.run(&format!("-c archive copy {selection} --to mirror"));
        assert!(ran.stderr.contains("the item is deleted"), "{}", ran.stderr);
        assert_eq!(ran.code, if selection == name { 22 } else { 3 });
    }
}

/// The tombstone that a mirror learnt of is older than the restoration.
#[test]
fn a_deletion_that_was_undone_removes_no_copy() {
    let (world, name) = world_with_item();
    for root in ["b", "c"] {
        world.run(&format!("init {root} --host {root}.example.org")).succeeded();
        world.run(&format!("-c archive copy {name} --to {root}")).succeeded();
    }
    for line in ["delete {} --with b --yes", "copy --all --to b", "restore {}"] {
        world.run(&format!("-c archive {}", line.replace("{}", &name))).succeeded();
    }
    // Its record, without what others have and the remedies.
    let state_in_c = || {
        let ran = world.run(&format!("-c c show {name} --json"));
        let mut record: serde_json::Value =
            serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
        for key in ["remedies", "held_by"] {
            record.as_object_mut().unwrap().remove(key);
        }
        record.to_string()
    };
    let know = |root: &str| {
        let text = format!("[collections]\nknown = \"{}\"\n", world.path(root).display());
        world.write(".config/urepo/config.toml", text);
    };
    know("archive");
    let before = state_in_c();
    for line in ["-c b copy --all --to c -n", "-c b copy --all --to c"] {
        let ran = world.run(line);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains("knows a newer state of the item"), "{}", ran.stderr);
    }
    assert_eq!(state_in_c(), before);
    // One that cannot be read may be alive as well.
    let sidecar = world.path("archive").join(&name).join("item.toml");
    let text = std::fs::read(&sidecar).unwrap();
    std::fs::write(&sidecar, "").unwrap();
    let ran = world.run("-c b copy --all --to c");
    assert_eq!((ran.code, state_in_c()), (3, before.clone()), "{}", ran.stderr);
    std::fs::write(&sidecar, text).unwrap();
    world.run(&format!("-c archive copy {name} --to b")).succeeded();
    world.run("-c b copy --all --to c").succeeded();
    // One that was not undone travels on.
    for line in ["delete {} --with b --yes", "copy --all --to b"] {
        world.run(&format!("-c archive {}", line.replace("{}", &name))).succeeded();
    }
    world.run("-c b copy --all --to c").succeeded();
    assert_eq!(world.run(&format!("-c c copy {name} --to b")).code, 22);
}

/// An Original that is restored after its deletion has travelled, or promoted in spite of it.
#[test]
fn one_beside_its_original_is_told() {
    let (world, name) = world_with_item();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run(&format!("-c archive delete {name} --with mirror")).succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run(&format!("-c archive restore {name} --from mirror")).succeeded();
    let told = world.run("-c archive status --with mirror");
    assert_eq!(told.code, 3, "{}", told.stderr);
    let line =
        format!("behind\t{name}\ta.txt\t1 tombstone in mirror is older than what archive has\n");
    assert!(told.stdout.contains(&line), "{}", told.stdout);
    let told = world.run("verify archive mirror");
    assert!(told.succeeded().contains("\tU403\n"), "{}", told.stdout);

    let hint = told_command(&world.run("-c archive status --with mirror").stderr);
    world.run(hint.trim_start_matches("urepo ")).succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run("-c archive status --with mirror").succeeded();
    world.run(&format!("-c archive delete {name} --with mirror")).succeeded();
    std::fs::rename(world.path("archive"), world.path("away")).unwrap();
    let lost = world.path("archive");
    let lost = lost.display();
    world.run(&format!("-c mirror promote --all --lost {lost} --reason fire --yes")).succeeded();
    std::fs::rename(world.path("away"), world.path("archive")).unwrap();
    let told = world.run("-c mirror status --with archive");
    assert_eq!(told.code, 23, "{}", told.stderr);
    // Neither knew of the other.
    let line = format!("fork\t{name}\t");
    assert!(told.stdout.contains(&line), "{}", told.stdout);
}

/// The first command that a hint names.
fn told_command(stderr: &str) -> String {
    let (_, hint) = stderr.split_once("hint: ").unwrap();
    let (_, command) = hint.split_once("urepo ").unwrap();
    command.lines().next().unwrap().replace("[WORLD]/", "")
}

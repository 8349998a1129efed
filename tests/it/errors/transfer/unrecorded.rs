//! Hand-overs of which the giver has no record: the named commands end them.

use super::*;

fn id_of(world: &World, root: &str) -> String {
    Collection::open(&world.path(root), &Watcher::default()).unwrap().id().to_owned()
}

/// Makes the item in `root` a Copy of that in `original`, with the mark of a hand-over.
fn mark(world: &World, root: &str, original: &str, party: Party) {
    let made_of = id_of(world, original);
    change(world, root, |sidecar| {
        sidecar.state = State::Copy;
        sidecar.origin.insert("collection".to_owned(), made_of.into());
        sidecar.handover = Some(Handover { token: "77".to_owned(), party });
    });
}

fn mark_giver(world: &World) {
    mark(world, "archive", "mirror", Party::To(id_of(world, "mirror")));
}

fn mark_receiver(world: &World) {
    mark(world, "mirror", "archive", Party::From(id_of(world, "archive")));
}

/// Runs `meta set` before and after the hand-over is ended in `root`.
fn assert_ended(world: &World, root: &str, ended: &str) {
    let set = format!("-c {root} meta set {NAME} title=New");
    let refused = refuses(world, &set, 23);
    assert!(refused.0.contains("recover --inventory` ends it"), "{}", refused.0);
    assert_eq!(world.run(&format!("-c {root} recover")).code, 0);
    let other = if root == "archive" { "mirror" } else { "archive" };
    let recover = format!("-c {root} recover --inventory");
    let unknown = world.run(&recover);
    assert_eq!(unknown.code, 3, "{}", unknown.stderr);
    assert!(
        unknown.stderr.contains("recover --inventory --with COLLECTION`"),
        "{}",
        unknown.stderr
    );
    let recover = format!("{recover} --with {other}");
    let planned = world.run(&format!("{recover} -n"));
    assert!(
        planned.stdout.contains("would finish or withdraw the hand-over"),
        "{}",
        planned.stdout
    );
    // The Original may have gone on before a backup was restored.
    let untraced = world.run(&recover);
    let forced = format!("{recover} --force missing");
    let hint = format!("if none does, `urepo {}`", forced.replacen("-c ", "-c [WORLD]/", 1));
    assert!(untraced.code == 3 && untraced.stderr.contains(&hint), "{}", untraced.stderr);
    let ran = world.run(&forced);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains(ended), "{}", ran.stderr);
    let found = world.run("verify archive mirror");
    assert!(found.code == 0 && !found.stdout.contains("U40"), "{}", found.stdout);
    world.run(&set).succeeded();
}

#[test]
fn with_marks_on_both_sides() {
    let world = with_copy(|_| ());
    mark_giver(&world);
    mark_receiver(&world);
    assert_ended(&world, "mirror", "finished the hand-over");
}

#[test]
fn with_a_mark_at_the_giver() {
    let world = with_copy(|_| ());
    mark_giver(&world);
    assert_ended(&world, "archive", "the Original is here again");
}

#[test]
fn with_a_mark_at_the_receiver_that_has_the_original() {
    let world = with_copy(|_| ());
    world.run(&format!("-c archive migrate {NAME} --to mirror")).succeeded();
    mark_receiver(&world);
    assert_ended(&world, "mirror", "finished the hand-over");
}

/// It may have the Original by now.
#[test]
fn while_another_collection_is_not_mounted() {
    for has_record in [false, true] {
        let world = with_copy(|_| ());
        mark_giver(&world);
        mark_receiver(&world);
        world.write(".config/urepo/config.toml", "[collections]\nthird = \"../../third\"\n");
        let mut recover = "-c [WORLD]/archive recover --inventory --with mirror";
        if has_record {
            let (mirror, name) = (id_of(&world, "mirror"), format!("\"{NAME}\""));
            super::hand_overs::record(&world, &mirror, "mirror", &name);
            recover = "-c [WORLD]/archive recover";
        }
        let run = |line: &str| {
            let root = world.path("").display().to_string();
            world.run(&line.replace("[WORLD]", root.trim_end_matches('/')))
        };
        let open = run(recover);
        let forced = format!("{recover} --force missing");
        let hint = format!("if it is lost permanently, `urepo {forced}`");
        assert!(open.stderr.contains(&hint), "{}", open.stderr);
        assert_eq!(open.code, 3);
        let ran = run(&forced);
        assert!(ran.stderr.contains("finished the hand-over"), "{}", ran.stderr);
        world.run(&format!("-c mirror meta set {NAME} title=New")).succeeded();
    }
}

/// The giver was put back as it was before the commit point, and the Original was deleted elsewhere since.
#[test]
fn of_an_original_that_was_deleted_since() {
    let world = with_copy(|_| ());
    copy_tree(&world.path("archive"), &world.path("backup"));
    let subsystem = Subsystem::new("third.example.org".parse().unwrap());
    init(&world.path("third"), "third", subsystem, &Watcher::default()).unwrap();
    for (from, to) in [("archive", "mirror"), ("mirror", "third")] {
        world.run(&format!("-c {from} migrate {NAME} --to {to}")).succeeded();
    }
    world.run(&format!("-c third delete --yes --force last {NAME}")).succeeded();
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    copy_tree(&world.path("backup"), &world.path("archive"));
    let (mirror, name) = (id_of(&world, "mirror"), format!("\"{NAME}\""));
    super::hand_overs::record(&world, &mirror, "mirror", &name);
    let open = world.run("-c archive recover");
    let hint = format!("if it was deleted since, `urepo -c [WORLD]/archive delete {NAME}`");
    assert!(open.code == 3 && open.stderr.contains(&hint), "{}", open.stderr);
    world.run(&format!("-c archive delete --yes --force last {NAME}")).succeeded();
    world.run("-c archive recover").succeeded();
    world.run("verify archive mirror third").succeeded();
}

//! `urepo meta undo`: descriptions go back the way that they came.

use crate::support::World;

fn world() -> (World, [String; 2]) {
    let world = World::with_collection();
    let names = ["a.txt", "b.txt"].map(|file| {
        world.write(file, file);
        world.run(&format!("-c archive new {file}")).line()
    });
    (world, names)
}

fn described(world: &World, names: &[String; 2]) -> String {
    world
        .run(&format!("-c archive show {} {} --as toml", names[0], names[1]))
        .succeeded()
        .to_owned()
}

#[test]
fn takes_back_one_correction_after_the_other() {
    let (world, names) = world();
    let [a, b] = &names;
    let mut states = vec![described(&world, &names)];
    for edits in [
        "title=Letter subject+=coast subject+=sea".to_owned(),
        "title= x.box=17 x.box=18".to_owned(),
        "access=closed access.allow=192.0.2.0/24 transferable=false target=a.txt".to_owned(),
        format!("edition_of={b} relation.x.seen={b}"),
        "subject-=sea language=pt".to_owned(),
        format!("translation_of={b} edition_of="),
    ] {
        world.run(&format!("-c archive meta set {a} {edits}")).succeeded();
        states.push(described(&world, &names));
    }
    while let Some(last) = states.pop() {
        assert_eq!(described(&world, &names), last);
        let ran = world.run(&format!("-c archive meta undo {a}"));
        if states.is_empty() {
            assert_eq!(ran.code, 23, "{}", ran.stderr);
            assert!(ran.stderr.contains("has no change of the description"), "{}", ran.stderr);
        } else {
            ran.succeeded();
        }
    }
    // The other end went back with it.
    assert_eq!(world.run(&format!("-c archive meta undo {b}")).code, 23);
    world.run("-c archive verify").succeeded();
}

#[test]
fn of_all_items_passes_those_that_were_never_corrected() {
    let (world, names) = world();
    let [a, _] = &names;
    let before = described(&world, &names);
    world.run(&format!("-c archive meta set {a} title=Letter")).succeeded();
    assert_eq!(world.run("-c archive meta undo --all").code, 2, "nobody was asked");
    let ran = world.run("-c archive meta undo --all -n");
    assert_eq!(ran.stderr, "would change 1 item; 1 unchanged; nothing was changed\n");
    world.run("-c archive meta undo --all -y").succeeded();
    assert_eq!(described(&world, &names), before);
}

/// The ledger has a long value by its digest alone.
#[test]
fn a_value_that_the_ledger_does_not_have_stays() {
    let (world, names) = world();
    let [a, _] = &names;
    let long = "w ".repeat(5000);
    let set = |value: &str| {
        let value = format!("description={value}");
        world.run_args(["-c", "archive", "meta", "set", a, &value]).succeeded();
    };
    set(&long);
    set("short");
    let before = described(&world, &names);
    let ran = world.run(&format!("-c archive meta undo {a}"));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("no former value of `metadata.description`"), "{}", ran.stderr);
    assert_eq!(described(&world, &names), before);
}

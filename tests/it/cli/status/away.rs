//! Copies that nothing in sight can have.

use super::*;

fn archive() -> World {
    let world = World::new();
    world.run("init archive --host archive.example.org").succeeded();
    world.run("init mirror --host mirror.example.org").succeeded();
    deposit_file(&world, "a");
    world
}

fn deposit_file(world: &World, file: &str) {
    world.write(file, file);
    world.run(&format!("-c archive new {file}")).succeeded();
}

fn know(world: &World) {
    let line = |root: &str| format!("{root} = '{}'\n", world.path(root).display());
    let text = format!("[collections]\n{}{}", line("archive"), line("mirror"));
    world.write(".config/urepo/config.toml", text);
}

#[test]
fn one_collection_alone_lacks_nothing_that_could_be_there() {
    let world = archive();
    let settings = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    assert!(settings.contains("\ncopies = 1 "), "{settings}");
    let ran = world.run("-c archive status");
    let closing = "1 item, no second collection known: nothing has a Copy\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (0, closing));
    know(&world);
    let ran = world.run("-c archive status");
    assert!(ran.code == 3 && ran.stderr.contains("1 of 1 item needs attention"), "{}", ran.stderr);
}

#[test]
fn a_mirror_on_a_shelf_is_what_it_was() {
    let world = archive();
    know(&world);
    let away = |code: i32, words: &str| {
        std::fs::rename(world.path("mirror"), world.path("shelf")).unwrap();
        let ran = world.run("-c archive status");
        assert!(ran.code == code && ran.stderr.contains(words), "{} {}", ran.code, ran.stderr);
        std::fs::rename(world.path("shelf"), world.path("mirror")).unwrap();
    };
    away(3, "`mirror` not opened");
    world.run("-c archive copy --all --to mirror").succeeded();
    away(0, "`mirror`: not seen since 20");
    away(0, "when it lacked 0");
    deposit_file(&world, "b");
    assert_eq!(world.run("-c archive status").code, 3);
    away(3, "when it lacked 1");
    world.run("-c archive copy --all --to mirror").succeeded();
    assert_eq!(world.run("-c archive status").code, 0);
    away(0, "when it lacked 0");
}

#[test]
fn a_collection_that_is_named_should_have_all() {
    let world = archive();
    wish(&world, "archive", 0);
    let ran = world.run("-c archive status --with mirror");
    assert!(ran.code == 3 && ran.stderr.contains("`mirror` lacks 1 item"), "{}", ran.stderr);
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run("-c archive status --with mirror").succeeded();
}

//! A process may have few files open only; those that were written lately are held open for a while.

use crate::support::World;

#[test]
fn few_are_enough_for_many_large_files() {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    for item in 0..8 {
        for file in 0..8 {
            world.write(&format!("in/{item}/{file}"), vec![7; 300_000]);
        }
    }
    let run = |line: &str| world.run_with_descriptors(32, line).succeeded().to_owned();
    let items: Vec<_> = (0..8).map(|item| format!("in/{item}")).collect();
    let names = run(&format!("-c archive new -j 2 --each {}", items.join(" ")));
    assert_eq!(names.lines().count(), 8);
    run("-c archive copy -j 2 --all --to mirror");
    run(&format!("-c archive export --to out {}", names.replace('\n', " ")));
    for collection in ["archive", "mirror"] {
        assert_eq!(world.run(&format!("-c {collection} verify")).code, 0);
    }
    assert_eq!(walkdir::WalkDir::new(world.path("out")).into_iter().count(), 1 + 8 * 9);
}

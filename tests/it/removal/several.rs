//! Several Copies of one item in the trash.

use super::*;

#[test]
fn the_newest_copy_comes_back_and_the_others_are_named() {
    let world = World::with_copy();
    let collection = world.open("other");
    let before = world.sidecar("other").timestamp;
    let updated = |days: i128| before.checked_add(days * 24 * 3600 * SECOND).unwrap();
    for days in [1, 3, 5, 4, 2] {
        if !world.item("other").exists() {
            copy_tree(&world.item("archive"), &world.item("other"));
        }
        world.rewrite("other", |it| {
            it.state = State::Copy;
            it.timestamp = updated(days);
        });
        world.delete("other", &forced()).unwrap();
    }
    assert_eq!(trash(&collection).len(), 5);
    let interrupt = Interrupt::default();
    let planned =
        plan_restoration(&collection, &world.name, &alone(), &NoProgress, &interrupt).unwrap();
    let restored =
        remover(&collection, &later(), |remover| restore(remover, &world.name, &alone())).unwrap();
    assert_eq!((&planned, restored.kept.len()), (&restored, 4));
    assert_eq!(world.sidecar("other").timestamp, updated(5));
}

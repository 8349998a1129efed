//! Several states of one item in the trash.

use super::*;

#[test]
fn the_deleted_one_comes_back_and_the_others_are_named() {
    let world = World::new();
    let collection = world.open("archive");
    for number in 0..3 {
        // As a repair leaves it.
        let entry =
            format!("{}~0199999999990000000{number}", world.name.as_str().replace('/', "+"));
        let replaced = world.root("archive/.urepo/trash").join(entry);
        std::fs::create_dir_all(replaced.parent().unwrap()).unwrap();
        copy_tree(&world.item("archive"), &replaced);
        std::fs::write(replaced.join("doc/a.txt"), "Alpha").unwrap();
    }
    world.delete("archive", &forced()).unwrap();
    let interrupt = Interrupt::default();
    let planned =
        plan_restoration(&collection, &world.name, &alone(), &NoProgress, &interrupt).unwrap();
    let restored =
        remover(&collection, &later(), |remover| restore(remover, &world.name, &alone())).unwrap();
    assert_eq!((&planned, restored.kept.len()), (&restored, 3));
    assert!(is_whole(&collection, &world.name));
    assert_eq!(trash(&collection).len(), 3);
}

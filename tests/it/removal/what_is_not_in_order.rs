//! Items that are not in order.

use super::*;

#[test]
fn a_broken_seal_is_told_by_the_tombstone() {
    let world = World::new();
    let path = world.item("archive").join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("[payload]", "# by hand\n[payload]")).unwrap();
    let error = world.delete("archive", &forced()).unwrap_err();
    assert!(matches!(error, RemovalError::Damaged { .. }), "{error}");
    world.delete("archive", &Order { damage: DamageRule::Accept, ..forced() }).unwrap();
    let reason = world.sidecar("archive").removal.unwrap().reason.unwrap();
    assert_eq!(reason, "deposited \"twice\" (the sidecar was not as it had been sealed)");
}

#[test]
fn a_missing_file() {
    let world = World::new();
    std::fs::remove_file(world.item("archive").join("doc/a.txt")).unwrap();
    let error = world.delete("archive", &forced()).unwrap_err();
    assert!(matches!(error, RemovalError::Damaged { .. }), "{error}");
    world.delete("archive", &Order { damage: DamageRule::Accept, ..forced() }).unwrap();
    // What was damaged does not come back as if it were good.
    let error = world.restore(&[], DamageRule::Refuse).unwrap_err();
    assert!(matches!(error, RemovalError::TrashDamaged { .. }), "{error}");
    assert_eq!(world.trash(), [TrashContents::Item]);
    world.restore(&[], DamageRule::Accept).unwrap();
    assert!(!is_whole(&world.open("archive"), &world.name));
}

#[test]
fn no_payload_at_all() {
    let world = World::new();
    std::fs::remove_dir_all(world.item("archive").join("doc")).unwrap();
    world.delete("archive", &Order { damage: DamageRule::Accept, ..forced() }).unwrap();
    assert_eq!(world.sidecar("archive").state, State::Deleted);
    let error = world.restore(&[], DamageRule::Accept).unwrap_err();
    assert!(matches!(error, RemovalError::NotInTrash { .. }), "{error}");
}

#[test]
fn rot_in_the_trash_is_noticed() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let trash = world.root("archive/.urepo/trash");
    let entry = std::fs::read_dir(&trash).unwrap().next().unwrap().unwrap().path();
    std::fs::write(entry.join("doc/a.txt"), "Alpha").unwrap();
    let error = world.restore(&[], DamageRule::Refuse).unwrap_err();
    assert!(matches!(error, RemovalError::TrashDamaged { .. }), "{error}");
    assert_eq!(world.sidecar("archive").state, State::Deleted);
}

#[test]
fn what_is_in_place_stays_as_it_is() {
    let world = World::new();
    let restored = world.restore(&[], DamageRule::Refuse).unwrap();
    assert!(restored.was_here && restored.state == State::Original, "{restored:?}");
}

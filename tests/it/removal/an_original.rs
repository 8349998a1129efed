//! Removing an Original.

use super::*;

#[test]
fn leaves_a_tombstone_that_says_all_it_said() {
    let world = World::new();
    let before = world.sidecar("archive");
    world.delete("archive", &forced()).unwrap();
    let after = world.sidecar("archive");
    let removal = Removal {
        by: "ann@vault".into(),
        reason: Some("deposited \"twice\"".into()),
        was: State::Original,
        updated: Some(before.timestamp),
    };
    let expected = Sidecar {
        state: State::Deleted,
        timestamp: "2027-11-21T02:13:00Z".parse().unwrap(),
        removal: Some(removal),
        custody: after.custody.clone(),
        ..before.clone()
    };
    assert_eq!(after, expected);
    assert!(after.custody.epoch() > before.custody.epoch());
    assert!(after.custody.covers(&before.custody));
    assert_eq!(tree(&world.item("archive")).len(), 1, "only the sidecar is left");
    assert_eq!(world.trash(), [TrashContents::Item]);
    assert!(is_whole(&world.open("archive"), &world.name));
}

#[test]
fn comes_back_as_it_was() {
    let world = World::new();
    let payload = world.item("archive").join("doc");
    let (before, files) = (world.sidecar("archive"), tree(&payload));
    world.delete("archive", &forced()).unwrap();
    let revived = world.restore(&[], DamageRule::Refuse).unwrap();
    assert_eq!((revived.state, revived.files), (State::Original, before.payload.files));
    let after = world.sidecar("archive");
    let mut origin = after.origin.clone();
    assert!(origin.remove("restored").is_some_and(|date| date.is_datetime()), "{after:?}");
    assert_eq!(origin, before.origin);
    let (origin, custody) = (after.origin.clone(), after.custody.clone());
    assert!(custody.covers(&before.custody), "its Copies follow it");
    assert_eq!(after, Sidecar { origin, custody, ..before });
    assert_eq!(tree(&payload), files);
    assert!(is_whole(&world.open("archive"), &world.name));
    assert_eq!(world.trash(), []);
}

/// Its date is that of the deletion; a restoration brings back the one that its files had.
#[test]
fn keeps_the_dates_of_its_files_and_its_description() {
    let world = World::new();
    let described = "2027-11-21T02:13:00.005Z".parse().unwrap();
    world.rewrite("archive", |sidecar| sidecar.described = Some(described));
    let before = world.sidecar("archive");
    world.delete("archive", &forced()).unwrap();
    let deleted = world.sidecar("archive");
    assert_eq!((deleted.timestamp, deleted.described), (described, Some(described)));
    assert_eq!(deleted.removal.unwrap().updated, Some(before.timestamp));
    world.restore(&[], DamageRule::Refuse).unwrap();
    let after = world.sidecar("archive");
    assert_eq!((after.timestamp, after.described), (before.timestamp, Some(described)));
}

/// An epoch that stood still would let the next holding with that number win.
#[test]
fn stays_where_its_epoch_cannot_rise() {
    let world = World::new();
    world.rewrite("archive", |sidecar| {
        let (id, holder) = (sidecar.custody.id(), sidecar.custody.holder().to_owned());
        sidecar.custody = Custody::read(1 << 53, id, Vec::new(), holder, None).unwrap();
    });
    let before = world.sidecar("archive");
    let error = world.delete("archive", &forced()).unwrap_err();
    assert!(format!("{error:?}").contains("Custody(Epoch(9007199254740993))"), "{error:?}");
    assert_eq!(world.sidecar("archive"), before);
    assert!(is_whole(&world.open("archive"), &world.name));
}

#[test]
fn goes_and_comes_back_when_its_directory_is_closed() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let payload = world.item("archive").join("doc");
    std::fs::set_permissions(&payload, PermissionsExt::from_mode(0o555)).unwrap();
    world.delete("archive", &forced()).unwrap();
    world.restore(&[], DamageRule::Refuse).unwrap();
    assert_eq!(std::fs::metadata(payload).unwrap().permissions().mode() & 0o777, 0o555);
}

#[test]
fn keeps_what_others_have_written_into_its_sidecar() {
    let world = World::new();
    let path = world.item("archive").join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let (open, _) = text.split_once("[seal]").unwrap();
    let open = format!("# shelf 17\nshelf = 17\n{open}");
    let seal = urepo::digest::Digest::of(open.as_bytes());
    std::fs::write(&path, format!("{open}[seal]\nsha256 = \"{seal}\"\n")).unwrap();
    world.delete("archive", &forced()).unwrap();
    world.restore(&[], DamageRule::Refuse).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("# shelf 17\nshelf = 17\n"), "{text}");
}

#[test]
fn is_not_deleted_twice() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let error = world.delete("archive", &forced()).unwrap_err();
    assert!(matches!(error, RemovalError::AlreadyDeleted { .. }), "{error}");
    assert_eq!(world.trash(), [TrashContents::Item]);
}

#[test]
fn is_put_away_to_the_end_when_its_files_were_left() {
    let world = World::new();
    world.rewrite("archive", |sidecar| sidecar.state = State::Deleted);
    // Nobody is asked: it is deleted already.
    let step = delete(&world.open("archive"), &world.name, &relying_on(Sight::alone())).unwrap();
    assert_eq!(step, Step::Clear);
    assert_eq!(world.trash(), [TrashContents::Item]);
    world.restore(&[], DamageRule::Refuse).unwrap();
    assert_eq!(world.sidecar("archive").state, State::Original);
}

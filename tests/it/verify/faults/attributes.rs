//! Times and modes that differ from the sidecar.

use super::*;

#[test]
fn u305_attributes_differ() {
    let world = World::with_item();
    let path = world.in_item("doc/report.pdf");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4600)).unwrap();
    let file = fs::File::open(world.in_item("doc/empty")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let expected =
        [(Code::AttributesDiffer, "doc/empty"), (Code::AttributesDiffer, "doc/report.pdf")];
    assert_eq!(world.codes(), found(expected));
    let told = world.run(Depth::Quick);
    assert!(told.details()[1].starts_with("mode 4600, in the sidecar 06"));
    assert!(!told.summary.is_damage());
    // FAT has no modes that could differ.
    let told = world.run_watched(Depth::Quick, &mounted(0x4d44));
    assert_eq!(told.codes(), found([(Code::AttributesDiffer, "doc/empty")]));
}

/// A restore does that to every file. One that has another time besides is another matter.
#[test]
fn u305_is_found_once_of_an_item_whose_times_were_rounded() {
    let world = World::with_item();
    let collection = world.open(&Watcher::default());
    let (sidecar, _) = collection.item(&NAME.parse().unwrap()).unwrap().sidecar().unwrap();
    for unit in [1, 2] {
        for entry in &sidecar.files {
            let Some((modified, _)) = entry.content.attributes() else { continue };
            let seconds = u64::try_from(modified.seconds()).unwrap() / unit * unit;
            let file = fs::File::open(world.in_item("doc").join(entry.path.as_path())).unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            file.set_modified(time).unwrap();
        }
        let told = world.run(Depth::Quick);
        assert_eq!(told.codes(), found([(Code::AttributesDiffer, "doc")]), "{unit}");
        assert!(told.details()[0].starts_with("3 modification times were rounded to seconds"));
    }
    let path = world.in_item("doc/report.pdf");
    fs::File::open(path).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(world.codes().len(), 3);
}

/// A disk that rounds times, and gives one mode to all, has the items as they were.
#[test]
fn u305_is_not_found_of_what_a_file_system_does_not_keep() {
    let world = World::with_item();
    for (path, mode) in [("", 0o777), ("item.toml", 0o777), ("doc", 0o777)] {
        fs::set_permissions(world.in_item(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let collection = world.open(&Watcher::default());
    let (sidecar, _) = collection.item(&NAME.parse().unwrap()).unwrap().sidecar().unwrap();
    for entry in &sidecar.files {
        let Some((modified, _)) = entry.content.attributes() else { continue };
        let path = world.in_item("doc").join(entry.path.as_path());
        let seconds = modified.seconds();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        let time =
            std::time::UNIX_EPOCH + std::time::Duration::from_secs(u64::try_from(seconds).unwrap());
        fs::File::open(&path).unwrap().set_modified(time).unwrap();
    }
    const EXFAT: i128 = 0x2011_bab0;
    const FUSE: i128 = 0x6573_5546;
    let codes = |magic| world.run_watched(Depth::Quick, &mounted(magic)).codes();
    for magic in [EXFAT, FUSE, 0xff53_4d42] {
        assert_eq!(codes(magic), [], "{magic:#x}");
    }
    for magic in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994] {
        assert_eq!(codes(magic).len(), 3, "{magic:#x}");
    }
    // Two modes show that whatever is behind FUSE keeps them.
    let other = world.in_item("doc/sub/map.tif");
    fs::set_permissions(other, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(codes(FUSE).len() >= 2, "{:?}", codes(FUSE));
    assert_eq!(codes(EXFAT), []);
}

/// Behind FUSE, files of one mode may be what somebody made of them.
#[test]
fn u305_is_found_of_files_that_were_given_one_mode() {
    let world = World::with_item();
    for path in ["item.toml", "doc/report.pdf", "doc/sub/map.tif"] {
        fs::set_permissions(world.in_item(path), fs::Permissions::from_mode(0o640)).unwrap();
    }
    let told = world.run_watched(Depth::Quick, &mounted(0x6573_5546));
    let changed = ["doc/report.pdf", "doc/sub/map.tif"];
    assert_eq!(told.codes(), found(changed.map(|path| (Code::AttributesDiffer, path))));
}

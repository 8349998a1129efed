//! The fault, and what is found of it at either depth.

mod attributes;
mod sidecars;

use super::*;

type Edit<'a> = &'a dyn Fn(String) -> String;
type Plant<'a> = &'a dyn Fn(&Path);

#[test]
fn u201_file_missing() {
    let world = World::with_item();
    fs::remove_file(world.in_item("doc/report.pdf")).unwrap();
    assert_eq!(world.codes(), found([(Code::FileMissing, "doc/report.pdf")]));
    // With its directory.
    fs::remove_dir_all(world.in_item("doc/sub")).unwrap();
    let both = [(Code::FileMissing, "doc/report.pdf"), (Code::FileMissing, "doc/sub/map.tif")];
    assert_eq!(world.codes(), found(both));
}

#[test]
fn u202_file_added() {
    let world = World::with_item();
    fs::write(world.in_item("doc/sub/new"), "x").unwrap();
    fs::create_dir_all(world.in_item("doc/tree/below")).unwrap();
    fs::write(world.in_item("doc/tree/below/file"), "x").unwrap();
    fifo(&world.in_item("doc/pipe"));
    let added = ["doc/pipe", "doc/sub/new", "doc/tree"];
    assert_eq!(world.codes(), found(added.map(|path| (Code::Added, path))));
    // An empty directory is an entry of its own, and so is what is put into it.
    let world = World::with_item();
    let time = fs::metadata(world.in_item("doc/empty")).unwrap().modified().unwrap();
    fs::write(world.in_item("doc/empty/file"), "x").unwrap();
    fs::File::open(world.in_item("doc/empty")).unwrap().set_modified(time).unwrap();
    assert_eq!(world.codes(), found([(Code::Added, "doc/empty/file")]));
}

#[test]
fn u203_size_differs() {
    let world = World::with_item();
    let path = world.in_item("doc/sub/map.tif");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(1000).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(world.codes(), found([(Code::SizeDiffers, "doc/sub/map.tif")]));
    assert_eq!(world.run(Depth::Quick).details(), ["1000 B, in the sidecar 300000 B"]);
}

#[test]
fn u204_digest_differs() {
    for at in [0, 150_000, 299_999] {
        let world = World::with_item();
        flip(&world.in_item("doc/sub/map.tif"), at);
        assert_eq!(world.run(Depth::Quick).codes(), []);
        let told = world.run(Depth::Full);
        assert_eq!(told.codes(), found([(Code::DigestDiffers, "doc/sub/map.tif")]));
        assert_eq!(told.summary.damaged_items, 1);
    }
}

#[test]
fn u205_link_missing_or_different() {
    let world = World::with_item();
    fs::remove_file(world.in_item("doc/link")).unwrap();
    assert_eq!(world.codes(), found([(Code::LinkDiffers, "doc/link")]));
    symlink("sub/map.tif", world.in_item("doc/link")).unwrap();
    assert_eq!(world.codes(), found([(Code::LinkDiffers, "doc/link")]));
}

#[test]
fn u206_empty_directory_missing() {
    let world = World::with_item();
    fs::remove_dir(world.in_item("doc/empty")).unwrap();
    assert_eq!(world.codes(), found([(Code::EmptyDirectoryMissing, "doc/empty")]));
}

#[test]
fn u207_kind_differs() {
    let changes: [(&str, Plant<'_>); 5] = [
        ("a FIFO where a file belongs", &|path| fifo(path)),
        ("a directory where a file belongs", &|path| fs::create_dir(path).unwrap()),
        ("a symbolic link where a file belongs", &|path| symlink("/etc/passwd", path).unwrap()),
        ("a symbolic link where a file belongs", &|path| symlink("/dev/zero", path).unwrap()),
        ("a socket where a file belongs", &|path| {
            drop(std::os::unix::net::UnixListener::bind(path).unwrap());
        }),
    ];
    for (detail, change) in changes {
        let world = World::with_item();
        let path = world.in_item("doc/report.pdf");
        fs::remove_file(&path).unwrap();
        change(&path);
        assert_eq!(world.codes(), found([(Code::KindDiffers, "doc/report.pdf")]));
        assert_eq!(world.run(Depth::Full).details(), [detail]);
    }
}

#[test]
fn u207_directory_became_a_link_or_a_file() {
    let world = World::with_item();
    let outside = world.scratch.path().join("outside");
    fs::rename(world.in_item("doc/sub"), &outside).unwrap();
    symlink(&outside, world.in_item("doc/sub")).unwrap();
    let codes = [(Code::KindDiffers, "doc/sub"), (Code::FileMissing, "doc/sub/map.tif")];
    assert_eq!(world.codes(), found(codes), "the whole file behind the link is not read");
    // `doc` and the sidecar themselves.
    let world = World::with_item();
    fs::remove_dir_all(world.in_item("doc")).unwrap();
    fs::write(world.in_item("doc"), "").unwrap();
    assert_eq!(world.codes(), found([(Code::KindDiffers, "doc")]));
    fs::remove_file(world.in_item("item.toml")).unwrap();
    fifo(&world.in_item("item.toml"));
    assert_eq!(world.codes(), found([(Code::KindDiffers, "item.toml")]));
}

#[test]
fn u208_unreadable() {
    for (operation, path, found_at) in [
        (Operation::Read, "doc/report.pdf", "doc/report.pdf"),
        (Operation::Open, "doc/report.pdf", "doc/report.pdf"),
        (Operation::Inspect, "doc/report.pdf", "doc/report.pdf"),
        (Operation::Inspect, "doc/link", "doc/link"),
        (Operation::Open, "doc/sub", "doc/sub"),
        (Operation::List, "doc/sub", "doc/sub"),
        (Operation::Open, "doc", "doc"),
        (Operation::List, "doc", "doc"),
        (Operation::Open, "item.toml", "item.toml"),
        (Operation::Read, "item.toml", "item.toml"),
        (Operation::Inspect, "item.toml", "item.toml"),
        (Operation::List, "", ""),
        (Operation::Open, "", ""),
    ] {
        let world = World::with_item();
        let target = if path.is_empty() { world.path(NAME) } else { world.in_item(path) };
        let failing = on(operation, &target, || {
            Err(io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()))
        });
        let told = world.run_watched(Depth::Full, &failing);
        let expected = found([(Code::Unreadable, found_at)]);
        assert_eq!(told.codes(), expected, "{operation:?} {path}");
        assert!(told.details()[0].contains("Input/output error"), "{:?}", told.details());
        assert!(told.summary.is_damage());
    }
}

/// What lies beside and after it is verified all the same.
#[test]
fn u208_level_that_can_not_be_listed() {
    let world = World::with_item();
    for name in ["mtc-m18/2010/01.01.00.00", "mtc-m18/2011/01.01.00.00", "zzz/2009/01.01.00.00"] {
        world.item(&format!("sid.inpe.br/{name}"));
    }
    world.item("zzz.br/zzz/2009/01.01.00.00");
    for (operation, level, items) in [
        (Operation::List, "sid.inpe.br/mtc-m18/2010", 4),
        (Operation::Open, "sid.inpe.br/mtc-m18/2010", 4),
        (Operation::List, "sid.inpe.br/mtc-m18", 2),
        (Operation::Open, "sid.inpe.br/mtc-m18", 2),
        (Operation::List, "sid.inpe.br", 1),
        (Operation::Open, "sid.inpe.br", 1),
        (Operation::List, "", 0),
    ] {
        let path = if level.is_empty() { world.root() } else { world.path(level) };
        let failing = on(operation, &path, || Err(io::ErrorKind::PermissionDenied.into()));
        let told = world.run_watched(Depth::Full, &failing);
        let expected = found([(Code::Unreadable, level)]);
        assert_eq!(told.codes(), expected, "{operation:?} {level}");
        assert!(told.details()[0].ends_with("; the items in it were not verified"));
        assert_eq!((told.summary.items, told.summary.unlisted), (items, true), "{level}");
        assert_eq!(told.summary.unread_places, 1, "{level}");
        assert!(!told.summary.is_damage() && !told.summary.interrupted);
    }
}

#[test]
fn u209_totals_differ() {
    let edits: [Edit<'_>; 4] = [
        &|text| text.replacen("files = 2", "files = 3", 1),
        &|text| text.replacen("bytes = 300008", "bytes = 300007", 1),
        &|text| {
            let (before, after) = text.split_once("[payload]").unwrap();
            let (totals, after) = after.split_once("sha256 = \"").unwrap();
            format!("{before}[payload]{totals}sha256 = \"{:064}{}", 0, &after[64..])
        },
        // Sizes that do not add up to a number.
        &|text| text.replace("bytes = 8\n", &format!("bytes = {}\n", i64::MAX)),
    ];
    for edit in &edits[..3] {
        let world = World::with_item();
        world.edit(edit);
        assert_eq!(world.codes(), found([(Code::TotalsDiffer, "item.toml")]));
    }
    let world = World::with_item();
    for name in ["a", "b"] {
        fs::write(world.in_item("doc").join(name), "8 bytes.").unwrap();
    }
    world.seal(NAME, |_| {});
    world.edit(edits[3]);
    assert_eq!(world.codes()[0], (Code::TotalsDiffer, "item.toml".to_owned()));
}

#[test]
fn u210_target_missing() {
    for (target, is_there) in [("sub/map.tif", true), ("link", true), ("sub", false)] {
        let world = World::with_item();
        let target = PayloadPath::from_text(target).unwrap();
        world.seal(NAME, |sidecar| sidecar.target = Some(target));
        let expected = [(Code::TargetMissing, "item.toml".to_owned())];
        assert_eq!(world.codes(), if is_there { &expected[..0] } else { &expected });
    }
}

#[test]
fn u211_payload_missing() {
    let world = World::with_item();
    fs::remove_dir_all(world.in_item("doc")).unwrap();
    assert_eq!(world.codes(), found([(Code::PayloadMissing, "doc")]));
}

#[test]
fn u212_deleted_item_with_a_payload() {
    let world = World::with_item();
    world.seal(NAME, |sidecar| sidecar.state = State::Deleted);
    assert_eq!(world.codes(), found([(Code::PayloadLeft, "doc")]));
    assert!(!world.run(Depth::Full).summary.is_damage());
    fs::remove_dir_all(world.in_item("doc")).unwrap();
    assert_eq!(world.codes(), [], "a tombstone");
    assert_eq!(world.run(Depth::Full).items[0].state, Some(State::Deleted));
}

#[test]
fn u301_strays() {
    let world = World::with_item();
    let strays = [
        "sid.inpe.br/notes.txt",
        "sid.inpe.br/mtc-m18/backup",
        "sid.inpe.br/mtc-m18/2009/.DS_Store",
        "sid.inpe.br/mtc-m18/2009/02.30.00.00",
        "sid.inpe.br/mtc-m18/2009/03.01.00.00",
    ];
    for stray in strays {
        fs::write(world.path(stray), "x").unwrap();
    }
    fs::write(world.in_item("item.toml.new"), "x").unwrap();
    let mut expected = found(strays.map(|path| (Code::Stray, path)));
    expected.extend(found([(Code::Stray, "item.toml.new")]));
    assert_eq!(world.codes(), expected);
    assert_eq!(world.run(Depth::Quick).summary.warnings, 6);
}

#[test]
fn u302_two_spellings() {
    let world = World::with_item();
    let other = "sid.inpe.br/MTC-m18/2009/02.16.17.46";
    world.item(other);
    world.item("SID.inpe.br/mtc-m18/2009/02.16.17.47");
    let told = world.run(Depth::Full);
    assert_eq!(told.codes(), found([(Code::TwoSpellings, ""), (Code::TwoSpellings, "")]));
    let mut details = told.details();
    details.sort_unstable();
    let detail = |name: &str| format!("it is also there as `{name}`");
    assert_eq!(details, [detail(other), detail(NAME)]);
    assert_eq!(told.summary.items, 3);
    // With a trailing dot, which is read and never written.
    let world = World::with_item();
    world.item("sid.inpe.br./mtc-m18/2009/02.16.17.46");
    flip(&world.path("sid.inpe.br./mtc-m18/2009/02.16.17.46/doc/report.pdf"), 0);
    let codes = world.run(Depth::Full).codes();
    assert_eq!(codes.iter().filter(|(code, _)| *code == Code::TwoSpellings).count(), 2);
    assert!(codes.contains(&(Code::DigestDiffers, "doc/report.pdf".to_owned())), "{codes:?}");
}

#[test]
fn u303_odd_name() {
    let world = World::new();
    world.item("sid.inpe.br/ma_ria/2009/02.16.17.46");
    world.item("sid.inpe.br/ma_ria/2009/02.16.17.47");
    assert_eq!(world.codes(), found([(Code::OddName, "sid.inpe.br/ma_ria")]));
    assert_eq!(world.run(Depth::Quick).summary.notices, 1);
}

#[test]
fn u304_twins() {
    let world = World::with_item();
    fs::write(world.in_item("doc/REPORT.pdf"), "x").unwrap();
    world.seal(NAME, |_| {});
    assert_eq!(world.codes(), found([(Code::Twins, "")]));
    assert!(!world.run(Depth::Quick).summary.is_damage());
}

/// A link of people, where no item belongs, leads away from nothing.
#[test]
fn u301_is_a_link_beside_the_items() {
    let world = World::with_item();
    fs::create_dir(world.path("photos")).unwrap();
    let links = ["photos/link", "sid.inpe.br/mtc-m18/2009/link"];
    for link in links {
        symlink("/nowhere", world.path(link)).unwrap();
    }
    assert_eq!(world.codes(), found(links.map(|link| (Code::Stray, link))));
}

#[test]
fn u306_link_on_the_way() {
    for level in [
        "sid.inpe.br",
        "sid.inpe.br/mtc-m18",
        "sid.inpe.br/mtc-m18/2009",
        "sid.inpe.br/mtc-m18/2009/02.16.17.46",
    ] {
        let world = World::with_item();
        let outside = world.scratch.path().join("outside");
        fs::rename(world.path(level), &outside).unwrap();
        symlink(&outside, world.path(level)).unwrap();
        assert_eq!(world.codes(), found([(Code::LinkOnTheWay, level)]));
        let told = world.run(Depth::Full);
        assert_eq!(told.items.len(), 0, "what is behind the link is not read");
        assert!(told.summary.is_damage());
    }
    for inner in ["doc", "item.toml"] {
        let world = World::with_item();
        let outside = world.scratch.path().join("outside");
        fs::rename(world.in_item(inner), &outside).unwrap();
        symlink(&outside, world.in_item(inner)).unwrap();
        assert_eq!(world.codes(), found([(Code::LinkOnTheWay, inner)]));
    }
}

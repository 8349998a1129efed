//! Faults of sidecars, and of items as a whole.

use super::*;

#[test]
fn u101_sidecar_missing() {
    let world = World::with_item();
    fs::remove_file(world.in_item("item.toml")).unwrap();
    assert_eq!(world.codes(), found([(Code::SidecarMissing, "item.toml")]));
    assert!(world.run(Depth::Quick).summary.is_damage());
}

#[test]
fn u102_sidecar_unreadable() {
    let newer = |text: String| text.replacen("format = 1", "format = 2", 1);
    let cases: [(&str, Edit<'_>); 12] = [
        ("it has format 2; this urepo reads up to format 1", &newer),
        ("`format`: expected 1, found 0", &|it| it.replacen("format = 1", "format = 0", 1)),
        ("`path`: `../x` is not a path below the payload", &|it| {
            it.replace("\"report.pdf\"", "\"../x\"")
        }),
        ("`path`: `/etc/passwd` is not a path below the payload", &|it| {
            it.replace("path = \"report.pdf\"", "path = \"/etc/passwd\"")
        }),
        ("`target`: `a/../../b` is not a path below the payload", &|it| {
            it.replacen("format = 1", "format = 1\ntarget = \"a/../../b\"", 1)
        }),
        ("`path`: `report.pdf` stands twice", &|it| {
            it.replace("\"sub/map.tif\"", "\"report.pdf\"")
        }),
        ("duplicate key", &|it| it.replacen("[payload]", "[payload]\nfiles = 1", 1)),
        ("duplicate key", &|it| format!("{it}[payload]\nfiles = 1\n")),
        ("missing field `state`", &|it| it.replacen("state", "estate", 1)),
        ("expected a SHA-256 digest", &|it| it.replacen("sha256 = \"", "sha256 = \"0", 1)),
        ("`mode`: `77777` is not like", &|it| it.replace("\"0644\"", "\"77777\"")),
        ("line 1, column", &|_| "not [toml\n".to_owned()),
    ];
    for (detail, edit) in cases {
        let world = World::with_item();
        world.edit(edit);
        assert_eq!(world.codes(), found([(Code::SidecarUnreadable, "item.toml")]), "{detail}");
        let told = world.run(Depth::Quick);
        assert!(told.details()[0].contains(detail), "{detail:?}: {:?}", told.details());
    }
}

#[test]
fn u102_sidecar_that_is_hostile_as_a_text() {
    let deep = format!("x = {}1{}\n", "[".repeat(200_000), "]".repeat(200_000));
    let deep_keys = format!("{}z = 1\n", "a.".repeat(200_000));
    let deep_table = format!("[{}z]\n", "a.".repeat(200_000));
    let texts = [b"\xff\xfe".to_vec(), deep.into(), deep_keys.into(), deep_table.into()];
    for text in texts {
        let world = World::with_item();
        fs::write(world.in_item("item.toml"), text).unwrap();
        assert_eq!(world.codes(), found([(Code::SidecarUnreadable, "item.toml")]));
    }
    let world = World::with_item();
    let huge = fs::File::create(world.in_item("item.toml")).unwrap();
    huge.set_len(1 << 40).unwrap();
    assert_eq!(world.codes(), found([(Code::SidecarUnreadable, "item.toml")]));
}

#[test]
fn u103_seal_broken() {
    let world = World::with_item();
    let path = world.in_item("item.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("transferable = true", "transferable = false", 1)).unwrap();
    assert_eq!(world.codes(), found([(Code::SealBroken, "item.toml")]));
}

#[test]
fn u104_seal_missing() {
    let world = World::with_item();
    let path = world.in_item("item.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.rsplit_once("[seal]").unwrap().0).unwrap();
    assert_eq!(world.codes(), found([(Code::SealMissing, "item.toml")]));
}

/// Whatever bit of a sidecar rots, it does not go unnoticed.
#[test]
fn every_byte_of_a_sidecar_is_guarded() {
    let world = World::with_item();
    let path = world.in_item("item.toml");
    let whole = fs::read(&path).unwrap();
    let collection = world.open(&Watcher::default());
    let item = collection.item(&NAME.parse().unwrap()).unwrap();
    for at in 0..whole.len() {
        let mut rotten = whole.clone();
        rotten[at] ^= 1;
        fs::write(&path, &rotten).unwrap();
        let report = verify_item(&item, Depth::Quick, &NoProgress, &Interrupt::default()).unwrap();
        assert!(report.findings.is_damage(), "byte {at}");
    }
}

#[test]
fn u105_sidecar_of_another_item() {
    let world = World::with_item();
    world.edit(|text| text.replacen("02.16.17.46\"", "02.16.17.47\"", 1));
    assert_eq!(world.codes(), found([(Code::OtherItem, "item.toml")]));
}

#[test]
fn u106_item_asked_for_is_missing() {
    let world = World::with_item();
    let names = ["sid.inpe.br/mtc-m18/2011/01.01.00.00", "SID.inpe.br/MTC-m18/2009/02.16.17.46"];
    let names: Vec<RepositoryName> = names.iter().map(|it| it.parse().unwrap()).collect();
    let collection = world.open(&Watcher::default());
    let options = Options { depth: Depth::Full, jobs: 1 };
    let told = run(&collection, Scope::Items(Box::new(names.into_iter())), options);
    assert_eq!(told.codes(), found([(Code::ItemMissing, "")]));
    assert_eq!(told.items[1].name.as_str(), NAME, "the spelling on disk");
    assert!(told.summary.is_damage());
}

/// An item that is removed between being listed and being looked at.
#[test]
fn u107_item_gone() {
    let world = World::with_item();
    let name = world.path(NAME);
    let vanish = on(Operation::Open, &name.clone(), move || {
        let _ = fs::remove_dir_all(&name);
        Ok(())
    });
    let collection = world.open(&vanish);
    let options = Options { depth: Depth::Full, jobs: 1 };
    let told = run(&collection, Scope::All(&Names::default()), options);
    assert_eq!(told.codes(), found([(Code::ItemGone, "")]));
    assert!(!told.summary.is_damage());
}

//! Whether an item is taken in as the Original or as a Copy.

use super::*;

#[test]
fn the_state_is_as_said_or_as_the_tree_says() {
    let archive = "60cb3f0d5a1e4c8897b2f6a1d0e93c47";
    for (said, told, expected) in [
        (None, None, State::Original),
        (None, Some("Copy"), State::Copy),
        (Some(""), None, State::Copy),
        (Some(archive), None, State::Copy),
        (Some(archive), Some("original"), State::Copy),
    ] {
        let world = World::new();
        world.write(&format!("{REPORT}/doc/a"), "a");
        if let Some(told) = told {
            let bib = format!("@misc{{k, original-or-copy = {{{told}}}}}");
            world.write(&format!("{REPORT}/doc/@reference.bib"), bib);
        }
        let collection = world.collection(&Watcher::default());
        adopt(&collection, said, 1);
        let sidecar = world.sidecar(REPORT);
        assert_eq!(sidecar.state, expected, "{said:?} {told:?}");
        let own = if expected == State::Original { collection.id() } else { "" };
        assert_eq!(sidecar.custody.holder(), said.unwrap_or(own), "{said:?} {told:?}");
    }
}

/// What may be a Copy is not made a second Original.
#[test]
fn every_place_of_an_archive_is_asked_for_the_state() {
    use State::{Copy, Original};
    const PLACES: [&str; 3] = [".reserved/@", "doc/@reference.bib", "@reference.bib"];
    let says = |version: &str| Some(format!("@misc{{k, title = {{T}}, version = {{{version}}}}}"));
    let (copy, original) = (says("copy"), says("Original"));
    let edition = says("2.1");
    let silent = Some("@misc{k, title = {T}}".to_owned());
    let twice = Some("@misc{k, version = {original}, originalorcopy = {Copy}}".to_owned());
    let other = Some("@misc{k, originalorcopy = {lent}}".to_owned());
    let torn = Some("@misc{k, repos".to_owned());
    let none = None;
    let (two, unclear) = ([Note::TwoStates], [Note::UnclearState]);
    type Case<'a> = ([&'a Option<String>; 3], State, &'a [Note]);
    let cases: [Case<'_>; 19] = [
        ([&copy, &none, &none], Copy, &[]),
        ([&none, &copy, &none], Copy, &[]),
        ([&none, &none, &copy], Copy, &[]),
        ([&original, &none, &none], Original, &[]),
        ([&none, &original, &none], Original, &[]),
        ([&original, &original, &original], Original, &[]),
        ([&copy, &copy, &none], Copy, &[]),
        ([&copy, &original, &none], Copy, &two),
        ([&original, &copy, &none], Copy, &two),
        ([&original, &original, &copy], Copy, &two),
        ([&copy, &silent, &none], Copy, &[]),
        ([&silent, &copy, &none], Copy, &[]),
        ([&silent, &silent, &none], Original, &[]),
        ([&none, &edition, &none], Original, &[]),
        ([&copy, &edition, &none], Copy, &[]),
        ([&edition, &original, &none], Copy, &unclear),
        ([&torn, &original, &none], Copy, &unclear),
        ([&none, &twice, &none], Copy, &two),
        ([&none, &other, &none], Copy, &unclear),
    ];
    for (texts, state, notes) in cases {
        let world = World::new();
        world.write(&format!("{REPORT}/doc/a"), "a");
        for (place, text) in PLACES.iter().zip(texts) {
            if let Some(text) = text {
                world.write(&format!("{REPORT}/{place}"), text);
            }
        }
        let mut told = world.adopt();
        let plan = told.taken.remove(REPORT).unwrap_or_else(|| panic!("{texts:?}"));
        assert_eq!((plan.state, world.sidecar(REPORT).state), (state, state), "{texts:?}");
        let is_of_state = |note: &Note| matches!(note, Note::TwoStates | Note::UnclearState);
        let found: Vec<_> = plan.notes.into_iter().filter(is_of_state).collect();
        assert_eq!(found, notes, "{texts:?}");
        let version = world.sidecar(REPORT).metadata.values("version").unwrap();
        let is_edition = texts.contains(&&edition);
        let expected = is_edition.then(|| "2.1".to_owned());
        assert_eq!(version, Vec::from_iter(expected), "{texts:?}");
    }
}

/// The record of the service names the target; the reference in the payload describes the work.
#[test]
fn references_complete_each_other() {
    let world = World::new();
    world.write(&format!("{PAPER}/doc/paper.pdf"), "%PDF");
    world.write(&format!("{PAPER}/doc/old.ps"), "%!PS");
    world.write(
        &format!("{PAPER}/doc/@reference.bib"),
        "@TechReport{k, title = {Work}, targetfile = {old.ps}, alias = {83LX3pFwXQZeBBx/65ij}}",
    );
    world.write(
        &format!("{PAPER}/.reserved/@"),
        format!(
            "@misc{{s, repository = {{{PAPER}}}, targetfile = {{paper.pdf}}, version = {{copy}},\n\
             ibi = {{8JMKD3MGP8W/34PGRBS, 83LX3pFwXQZeBBx/65ik}}, title = {{paper.pdf}}}}"
        ),
    );
    let told = world.adopt();
    assert_eq!(told.taken[PAPER].reference, Some("doc/@reference.bib"));
    assert_eq!(told.taken[PAPER].notes, []);
    let sidecar = world.sidecar(PAPER);
    assert_eq!(sidecar.state, State::Copy);
    assert_eq!(sidecar.target.unwrap().to_text(), "paper.pdf");
    assert_eq!(sidecar.ibip, Some("8JMKD3MGP8W/34PGRBS".parse().unwrap()));
    let table = sidecar.metadata.table();
    assert_eq!(table["type"].as_str(), Some("TechReport"));
    assert_eq!(table["title"].as_str(), Some("Work"));
    let aliases: Vec<_> =
        table["identifier"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
    assert_eq!(aliases, ["83LX3pFwXQZeBBx/65ij", "83LX3pFwXQZeBBx/65ik"]);
}

/// Example 6.2: names on disk may be Latin-1, and a reference may write them in TeX.
#[test]
fn the_target_is_found_whatever_its_encoding() {
    let latin: &[u8] = b"Relat\xf3rio Final.pdf";
    let utf_8 = "Relatório Final.pdf".as_bytes();
    let decomposed = "Relato\u{301}rio Final.pdf".as_bytes();
    let other: &[u8] = b"a--b~c.pdf";
    for (on_disk, said) in [
        (latin, b"targetfile = {Relat\xf3rio Final.pdf}".as_slice()),
        (latin, "targetfile = {Relatório Final.pdf}".as_bytes()),
        (latin, b"targetfile = {Relat{\\'o}rio Final.pdf}"),
        (utf_8, b"targetfile = {Relat{\\'o}rio Final.pdf}"),
        (decomposed, "targetfile = {Relatório Final.pdf}".as_bytes()),
        (other, b"targetfile = {a--b~c.pdf}"),
    ] {
        let world = World::new();
        for name in [on_disk, b"Relatorio Final.pdf"] {
            let path = world.write(&format!("{PAPER}/doc/any"), "%PDF");
            std::fs::rename(&path, path.with_file_name(OsStr::from_bytes(name))).unwrap();
        }
        let reference = [b"@misc{k, title = {T}, ", said, b"}"].concat();
        world.write(&format!("{PAPER}/@reference.bib"), reference);
        let told = world.adopt();
        let is_missing = |note: &Note| matches!(note, Note::NoTarget(_));
        assert!(!told.taken[PAPER].notes.iter().any(is_missing), "{said:?}");
        assert_eq!(world.sidecar(PAPER).target.unwrap().as_bytes(), on_disk, "{said:?}");
    }
    // A reference that names no file of the item leaves the only one.
    let world = World::new();
    world.write(&format!("{PAPER}/doc/paper.pdf"), "%PDF");
    world.write(&format!("{PAPER}/@reference.bib"), "@misc{k, targetfile = {gone.pdf}}");
    assert_eq!(world.adopt().taken[PAPER].notes, [Note::NoTarget("gone.pdf".to_owned())]);
    assert_eq!(world.sidecar(PAPER).target.unwrap().to_text(), "paper.pdf");
}

/// A record that nobody can read may say copy.
#[test]
fn a_record_of_the_service_that_is_not_read_leaves_the_state_open() {
    type Plant = fn(&World);
    let cases: [Plant; 4] = [
        |world| drop(world.write(&format!("{REPORT}/.reserved/@"), vec![b' '; (1 << 20) + 1])),
        |world| drop(world.write(&format!("{REPORT}/.reserved/@/file"), "")),
        |world| {
            let path =
                world.write(&format!("{REPORT}/.reserved/record"), "@misc{k, version={original}}");
            symlink("record", path.with_file_name("@")).unwrap();
        },
        |world| {
            world.write("elsewhere/@", "@misc{k, version={original}}");
            symlink(world.root().join("elsewhere"), world.root().join(REPORT).join(".reserved"))
                .unwrap();
        },
    ];
    for (at, plant) in cases.into_iter().enumerate() {
        let world = World::new();
        world.write(&format!("{REPORT}/doc/a"), "a");
        plant(&world);
        let told = world.adopt();
        let plan = &told.taken[REPORT];
        assert_eq!(plan.state, State::Copy, "{at}");
        assert!(
            matches!(plan.notes[..], [Note::Unread { .. }, Note::UnclearState]),
            "{at}: {:?}",
            plan.notes
        );
    }
    // `.reserved` may be anything else.
    let world = World::new();
    world.write(&format!("{REPORT}/doc/a"), "a");
    world.write(&format!("{REPORT}/.reserved"), "a file");
    assert_eq!(world.adopt().taken[REPORT].state, State::Original);
}

/// The services of URLib keep some references in this form.
#[test]
fn a_reference_in_the_form_of_refer_is_understood() {
    let world = World::new();
    world.write(&format!("{REPORT}/doc/a"), "a");
    world.write(&format!("{REPORT}/.reserved/@"), "%0 Report\n%A Ana\n%T On old forms\n%D 2009\n");
    let told = world.adopt();
    assert!(told.taken[REPORT].notes.is_empty(), "{:?}", told.taken[REPORT].notes);
    let sidecar = world.sidecar(REPORT);
    assert_eq!((sidecar.state, sidecar.metadata.title()), (State::Original, Some("On old forms")));
}

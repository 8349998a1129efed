//! Relations between the rows of a manifest belong to Originals: a rerun changes nothing else.

use urepo::item::State;
use urepo::sidecar::Removal;

use super::*;
use crate::support::{World, change_item, make_collection, scratch};

struct Rerun {
    scratch: tempfile::TempDir,
    collection: Collection,
    clock: TestClock,
}

impl Rerun {
    /// A collection with an item of the row `one`, which leads to the row `two`, of which there is no file yet.
    fn new() -> Rerun {
        let scratch = scratch();
        let sources = scratch.path().join("sources");
        write(&sources, "one", "1");
        write(&sources, "list", "path,relation.next_edition\none,row:two\ntwo,\n");
        let collection = make_collection(&scratch.path().join("archive"));
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let rerun = Rerun { scratch, collection, clock };
        assert_eq!(
            rerun.run(),
            ["the relation `next_edition` leads to `TWO`, which is not in the collection"]
        );
        write(&rerun.sources(), "two", "2");
        rerun.clock.set("2026-11-22T02:13:00Z");
        rerun
    }

    fn sources(&self) -> PathBuf {
        self.scratch.path().join("sources")
    }

    fn rows(&self) -> Candidates {
        super::manifests::read(&self.sources(), "list", Format::Csv, Columns::default()).unwrap()
    }

    /// Imports the manifest and sets the relations; what could not be set.
    fn run(&self) -> Vec<String> {
        import(&self.collection, self.rows(), import_options(), &self.clock).unwrap();
        let ledger = KnownSources::open(&self.collection, Some(&agent())).unwrap();
        let mut told = Vec::new();
        let mut tell = |events: Vec<Event>| {
            let is_failed = |event: &Event| matches!(event.became, Became::Failed(_));
            told.extend(words(&events.into_iter().filter(is_failed).collect::<Vec<_>>()));
            Ok(())
        };
        let acting = (&agent(), &waiter(&self.clock));
        let failed = relate(
            (&ledger, urepo::holdings::Sight::alone()),
            self.rows(),
            Update::Act,
            acting,
            &mut tell,
        )
        .unwrap()
        .failed;
        assert_eq!(failed, told.len() as u64);
        let two = resolved(&self.sources()).unwrap().join("two").display().to_string();
        told.iter().map(|word| word.replace(&two, "TWO").replace("line 2: ", "")).collect()
    }

    fn name_of(&self, row: &str) -> String {
        let mut items = origins(&self.collection).into_iter();
        items.find(|(source, _)| last(source) == row).unwrap().1.repository.to_string()
    }

    fn sidecar(&self, name: &str) -> String {
        let path = self.collection.path().join(name).join("item.toml");
        std::fs::read_to_string(path).unwrap()
    }
}

#[test]
fn are_set_in_an_original() {
    let rerun = Rerun::new();
    assert_eq!(rerun.run(), [""; 0]);
    let (one, two) = (rerun.name_of("one"), rerun.name_of("two"));
    assert!(rerun.sidecar(&one).contains(&format!("next_edition = \"{two}\"")));
    assert!(rerun.sidecar(&one).contains("described = 2026-11-22T"));
    // The other end is set as well, and again if it was lost.
    let back = format!("previous_edition = \"{one}\"");
    assert!(rerun.sidecar(&two).contains(&back));
    change_item(rerun.collection.path(), &two, |sidecar| {
        sidecar.relations = urepo::sidecar::Relations::default();
    });
    assert!(!rerun.sidecar(&two).contains(&back));
    assert_eq!(rerun.run(), [""; 0]);
    assert!(rerun.sidecar(&two).contains(&back));
    // What is set is not set again.
    let before = rerun.sidecar(&one);
    rerun.clock.set("2026-11-23T02:13:00Z");
    assert_eq!(rerun.run(), [""; 0]);
    assert_eq!(rerun.sidecar(&one), before);
}

/// The Original of a Copy lies elsewhere and would not have the relation, and the date of a tombstone is that
/// of the removal.
#[test]
fn leave_copies_and_tombstones_as_they_are() {
    for state in [State::Copy, State::Deleted] {
        let rerun = Rerun::new();
        let one = rerun.name_of("one");
        change_item(rerun.collection.path(), &one, |sidecar| {
            sidecar.state = state;
            if state == State::Deleted {
                let by = "test".to_owned();
                sidecar.removal =
                    Some(Removal { by, reason: None, was: State::Original, updated: None });
            }
        });
        let before = rerun.sidecar(&one);
        let expected = format!("the relations of `{one}` were not set: it is {state} here");
        for _ in 0..2 {
            assert_eq!(rerun.run(), [expected.as_str()]);
            assert_eq!(rerun.sidecar(&one), before, "{state}");
        }
    }
}

/// A relation that was set before the item left is no reason to complain.
#[test]
fn that_a_copy_has_are_not_reported() {
    let rerun = Rerun::new();
    assert_eq!(rerun.run(), [""; 0]);
    let one = rerun.name_of("one");
    change_item(rerun.collection.path(), &one, |sidecar| sidecar.state = State::Copy);
    assert_eq!(rerun.run(), [""; 0]);
}

/// One end of a translation says its language; the other could not say another than its own.
#[test]
fn that_could_not_be_set_at_both_ends_keep_a_row_from_becoming_an_item() {
    let world = World::with_collection();
    for file in ["in/a", "in/b", "in/c"] {
        world.write(file, file);
    }
    let original = world.run("-c archive new in/a --language pt").line();
    let import = |rows: &str, more: &str| {
        world.write("in/m.csv", rows);
        world.run(&format!("-c archive import in/m.csv {more}"))
    };
    let items = || world.run("-c archive list").succeeded().lines().count();
    let unknown = "its language is not known\nhint: give its row a `language`, or add `--language TAG` for all of them\n";
    let own = "is in `pt` itself, and has no translation into it\nhint: correct the `language`";
    let of_item = |language: &str| {
        format!("path,language,relation.translation_of\nb,{language},{original}\n")
    };
    for (rows, refusal) in [
        (of_item(""), unknown),
        (of_item("pt"), own),
        ("path,relation.translation_of\nb,row:c\n".to_owned(), unknown),
        ("path,language,relation.translation.pt\nb,pt,row:c\n".to_owned(), own),
    ] {
        for more in ["-n", ""] {
            let ran = import(&rows, more);
            assert!(ran.code == 3 && ran.stderr.contains(refusal), "{rows}: {}", ran.stderr);
            assert_eq!(items(), 1, "{rows}");
        }
    }
    import("path,language\nb,pt\n", "").succeeded();
    let ran = import("path,language,relation.translation_of\nc,pt,row:b\n", "");
    assert!(ran.code == 3 && ran.stderr.contains(own), "{}", ran.stderr);
    import(&of_item("").replace("\nb", "\nc"), "--meta language=en").succeeded();
    let sidecar = std::fs::read_to_string(world.path("archive").join(&original).join("item.toml"));
    assert!(sidecar.unwrap().contains("[relations.translation]\nen = "));
    world.run("-c archive verify").succeeded();
}

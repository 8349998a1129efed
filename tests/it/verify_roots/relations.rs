//! Relations between items: what is wrong at their other ends, and what may be elsewhere.

use std::ops::ControlFlow;

use urepo::collection::Names;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::sidecar::{Relations, Removal};
use urepo::verify::{Depth, Options, RelationCheck, Report, Scope, Severity, verify};

use super::{Roots, write_item};

/// An item of the test, by the minute of its name: `1` of `example.org/archive/2026/11.21.00.01`.
fn name(minute: u32) -> String {
    format!("example.org/archive/2026/11.21.00.{minute:02}")
}

/// Relations as `KEY=MINUTE`, or `KEY=` and an identifier.
fn relations(text: &str) -> Relations {
    let mut relations = Relations::default();
    for word in text.split_whitespace() {
        let (kind, to) = word.split_once('=').unwrap();
        let to = to.parse().map_or_else(|_| to.to_owned(), name);
        relations.add(&kind.parse().unwrap(), &to.parse().unwrap(), None).unwrap();
    }
    relations
}

impl Roots {
    /// An item with these relations.
    fn related(&self, root: &str, minute: u32, text: &str) {
        self.in_state(root, minute, text, State::Original);
    }

    fn in_state(&self, root: &str, minute: u32, text: &str, state: State) {
        write_item(&self.path(root), &name(minute), "content", |sidecar| {
            sidecar.state = state;
            sidecar.relations = relations(text);
            sidecar.ibip = Some(
                format!("8JMKD3MGP8W/4F5R{}", ["L2N", "L2P", "L2R", "L2S"][minute as usize % 4])
                    .parse()
                    .unwrap(),
            );
            if state == State::Deleted {
                let by = "test".to_owned();
                sidecar.removal =
                    Some(Removal { by, reason: None, was: State::Original, updated: None });
            }
        });
    }

    /// What is found, as `ROOT MINUTE CODE` with the detail; of all items or, alike, of each item by itself.
    fn found(&self) -> Vec<(String, String)> {
        let collections = self.open();
        let roots: Vec<_> = collections.iter().collect();
        let (mut check, mut singly, mut names) = (RelationCheck::default(), Vec::new(), Vec::new());
        let told = |it: &urepo::verify::Disagreement| {
            assert_eq!(it.finding.severity(), Severity::Warning, "the exit code stays");
            let minute = it.name.as_ref().unwrap().as_str().rsplit('.').next().unwrap().to_owned();
            (format!("{} {minute} {}", it.root, it.finding.code), it.finding.detail.clone())
        };
        for (at, root) in roots.iter().enumerate() {
            let all = Names::default();
            let options = Options { depth: Depth::Quick, jobs: 2 };
            verify(root, Scope::All(&all), options, &NoProgress, &Interrupt::default(), |report| {
                if let Report::Item(item) = report {
                    check.note(&item);
                    names.push((at, item.name));
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        }
        for (at, name) in &names {
            let _ = RelationCheck::of_item(&roots, *at, name, |it| {
                singly.push(told(&it));
                ControlFlow::Continue(())
            });
        }
        let mut found = Vec::new();
        let flow = check.finish(&roots, &Names::default(), &Interrupt::default(), |it| {
            found.push(told(&it));
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        found.sort();
        singly.sort();
        // Each item of a circle lies on it; of all items one stands for it.
        singly.retain(|it| !it.0.ends_with("U504") || found.contains(it));
        assert_eq!(found, singly);
        found
    }

    #[track_caller]
    fn tell_relations(&self, expected: &[&str]) -> String {
        let found = self.found();
        let codes: Vec<_> = found.iter().map(|(code, _)| code.as_str()).collect();
        assert_eq!(codes, expected, "{found:?}");
        found.into_iter().map(|(_, detail)| detail).collect::<Vec<_>>().join("; ")
    }
}

const FOREIGN: &str = "other.org/archive/2026/11.21.00.01";

#[test]
fn that_agree_or_lead_elsewhere_are_no_findings() {
    let roots = Roots::new(["a", "b"]);
    roots.related("a", 1, &format!("next_edition=2 translation.pt=3 metadata=4 part_of={FOREIGN}"));
    roots.related("b", 2, "previous_edition=1 part_of=1 part_of=3");
    roots.related("a", 3, "translation_of=1");
    // It need not say what it describes.
    roots.related("b", 4, &format!("translation_of={FOREIGN} x.cites=8JMKD3MGP8W/4F5R777"));
    roots.tell_relations(&[]);
    // A Copy has the relations of its Original and is not judged twice.
    roots.in_state("b", 1, "next_edition=3", State::Copy);
    roots.tell_relations(&[]);
}

#[test]
fn that_lead_nowhere() {
    let roots = Roots::new(["a"]);
    roots.related("a", 1, "next_edition=5");
    roots.related("a", 2, "part_of=6 x.cites=7");
    let details = roots.tell_relations(&["0 01 U502", "0 02 U502", "0 02 U502"]);
    assert!(
        details.contains("its next_higher_unit `example.org/archive/2026/11.21.00.06`"),
        "{details}"
    );
    // Deleted items were somewhere, and say no more.
    for minute in [5, 6, 7] {
        roots.in_state("a", minute, "next_edition=9", State::Deleted);
    }
    roots.tell_relations(&[]);
}

#[test]
fn that_one_side_has() {
    let roots = Roots::new(["a", "b"]);
    roots.related("a", 1, "next_edition=2");
    roots.related("b", 2, "");
    let details = roots.tell_relations(&["0 01 U503"]);
    assert_eq!(details, format!("its next_edition `{}`", name(2)));
    roots.related("b", 2, "previous_edition=1");
    roots.related("a", 1, "");
    roots.tell_relations(&["1 02 U503"]);
    roots.related("a", 1, "translation.en=3");
    roots.related("b", 2, "translation_of=1");
    roots.related("a", 3, "metadata_of=1");
    roots.tell_relations(&["0 01 U503", "0 03 U503", "1 02 U503"]);
    roots.related("a", 1, "translation.en=3 translation.pt=2 metadata=3");
    roots.related("a", 3, "metadata_of=1 translation_of=1");
    roots.tell_relations(&[]);
}

#[test]
fn that_contradict_each_other() {
    let roots = Roots::new(["a", "b"]);
    for kind in ["part_of", "translation_of", "metadata_of"] {
        roots.related("a", 1, &format!("{kind}=2"));
        roots.related("b", 2, &format!("{kind}=1"));
        roots.tell_relations(&["0 01 U505", "1 02 U505"]);
    }
    roots.related("a", 1, "x.cites=2");
    roots.related("b", 2, "x.cites=1");
    roots.tell_relations(&[]);
}

#[test]
fn that_are_written_as_ibips() {
    let roots = Roots::new(["a"]);
    // The date of an IBIp is that of the item.
    let ibip = "8JMKD3MGP8W/3HB8JQS";
    let date = ibip.parse::<urepo::identity::Ibip>().unwrap().instant().unwrap();
    let named = format!("example.org/archive/{}", date.suffix());
    let write = |text: &str| {
        write_item(&roots.path("a"), &named, "content", |sidecar| {
            sidecar.ibip = Some(ibip.parse().unwrap());
            sidecar.relations = relations(text);
        });
    };
    roots.related("a", 1, &format!("next_edition={ibip}"));
    write("previous_edition=1");
    roots.tell_relations(&[]);
    write("");
    roots.tell_relations(&["0 01 U503"]);
}

#[test]
fn editions_in_a_circle() {
    let roots = Roots::new(["a", "b"]);
    roots.related("a", 1, "next_edition=2 previous_edition=3");
    roots.related("b", 2, "next_edition=3 previous_edition=1");
    roots.related("a", 3, "next_edition=1 previous_edition=2");
    let found = roots.found();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1, "its next editions lead back to it, after 3 of them");
    roots.related("b", 9, "next_edition=9");
    let found = roots.found();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1], ("1 09 U504".to_owned(), "it is its own next edition".to_owned()));
}

#[test]
fn two_next_editions_of_one_item() {
    let roots = Roots::new(["a"]);
    roots.related("a", 1, "next_edition=2");
    roots.related("a", 2, "previous_edition=1");
    roots.related("a", 3, "previous_edition=1");
    let details = roots.tell_relations(&["0 03 U505"]);
    let (one, two) = (name(1), name(2));
    assert_eq!(
        details,
        format!("`{one}` is its previous_edition, and has `{two}` as its next_edition")
    );
}

/// A resolver finds a translation by the relation, and its reader finds another language.
#[test]
fn translations_into_another_language_than_they_say() {
    let roots = Roots::new(["a", "b"]);
    let write = |root: &str, minute, text: &str, language: &str| {
        write_item(&roots.path(root), &name(minute), "content", |sidecar| {
            sidecar.state = State::Original;
            sidecar.relations = relations(text);
            sidecar.metadata.add("language", language).unwrap();
        });
    };
    write("a", 1, "translation.fr=2 translation.pt=3", "en");
    write("b", 2, "translation_of=1", "fr-CA");
    write("b", 3, "translation_of=1", "pt-BR");
    roots.tell_relations(&[]);
    write("b", 2, "translation_of=1", "de");
    let details = roots.tell_relations(&["0 01 U506"]);
    assert_eq!(details, format!("`{}` is its translation into `fr`, and is in `de`", name(2)));
    write("b", 2, "translation_of=1", "fr");
    write("a", 1, "translation.fr=2 translation.pt=3", "pt");
    roots.tell_relations(&["0 01 U506"]);
}

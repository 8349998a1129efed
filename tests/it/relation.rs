//! Relations at both ends: made, removed, left to another time, and completed after a fault.

mod faults;

use crate::support::{Ran, World};

/// Two collections with two items each, and what their commands print.
struct Two {
    world: World,
    /// Items of `archive`.
    own: [String; 2],
    /// Items of `mirror`.
    other: [String; 2],
}

impl Two {
    fn new() -> Two {
        let world = World::new();
        world.write("one", "1");
        world.write("two", "2");
        let make = |root: &str, ip: &str| {
            world.run(&format!("init {root} --host {root}.example.org --ip {ip}")).succeeded();
            ["one", "two"].map(|file| world.run(&format!("-c {root} new {file}")).line())
        };
        let (own, other) = (make("archive", "192.0.2.7"), make("mirror", "192.0.2.8"));
        Two { world, own, other }
    }

    fn relate(&self, line: &str) -> Ran {
        let [a, b] = &self.own;
        let [c, d] = &self.other;
        let line = line.replace('A', a).replace('B', b).replace('C', c).replace('D', d);
        self.world.run(&format!("-c archive meta set {line}"))
    }

    /// The relations in the sidecar of an item, with letters for the items.
    fn held(&self, root: &str, name: &str) -> String {
        let names = [&self.own[0], &self.own[1], &self.other[0], &self.other[1]];
        let mut names: Vec<_> = names.into_iter().zip(["A", "B", "C", "D"]).collect();
        // One may be the beginning of another.
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let text = self.text(root, name);
        names.into_iter().fold(text, |text, (name, letter)| text.replace(name, letter))
    }

    /// The relations in the sidecar of an item, as they stand there.
    fn text(&self, root: &str, name: &str) -> String {
        let text =
            std::fs::read_to_string(self.world.path(root).join(name).join("item.toml")).unwrap();
        let lines = text.lines().skip_while(|line| !line.starts_with("[relations"));
        let lines = lines.take_while(|line| !line.starts_with("[origin]"));
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn held_here(&self) -> [String; 2] {
        [0, 1].map(|at| self.held("archive", &self.own[at]))
    }

    fn verified(&self) -> String {
        self.world.run("verify archive mirror").succeeded().to_owned()
    }
}

#[test]
fn both_ends_are_linked_and_unlinked() {
    let two = Two::new();
    let rows = [
        ("next_edition", "next_edition = \"B\"", "previous_edition = \"A\""),
        ("edition_of", "previous_edition = \"B\"", "next_edition = \"A\""),
        ("previous_edition", "previous_edition = \"B\"", "next_edition = \"A\""),
        ("metadata", "metadata = \"B\"", "metadata_of = \"A\""),
        ("metadata_of", "metadata_of = \"B\"", "metadata = \"A\""),
        ("part_of", "next_higher_unit = \"B\"", ""),
        ("relation.part_of", "next_higher_unit = \"B\"", ""),
        ("relation.x.review", "[relations.x] review = \"B\"", ""),
        ("translation.PT_br", "[relations.translation] pt-BR = \"B\"", "translation_of = \"A\""),
        (
            "language=por translation_of",
            "translation_of = \"B\"",
            "[relations.translation] pt = \"A\"",
        ),
    ];
    for ((flags, own, other), [link, unlink]) in
        rows.iter().flat_map(|row| [["+=B", "-=B"], ["=B", "="]].map(|signs| (row, signs)))
    {
        two.relate(&format!("A {flags}{link}")).succeeded();
        let header = |text: &str| match text {
            "" => String::new(),
            text if text.starts_with('[') => text.to_owned(),
            text => format!("[relations] {text}"),
        };
        assert_eq!(two.held_here(), [header(own), header(other)], "{flags}");
        let again = two.relate(&format!("A {flags}{link}"));
        assert!(
            again.stdout.is_empty() || again.stdout.contains("stays"),
            "{flags}: {}",
            again.stdout
        );
        assert_eq!(two.held_here(), [header(own), header(other)], "{flags}");
        assert_eq!(two.verified(), "", "{flags}");
        two.relate(&format!("A {flags}{unlink}")).succeeded();
        assert_eq!(two.held_here(), ["", ""], "{flags}");
        two.relate(&format!("A {flags}{unlink}")).succeeded();
    }
}

/// One text may be the translation into Portuguese and into that of Brazil.
#[test]
fn the_last_translation_takes_the_way_back_along() {
    let two = Two::new();
    two.relate("A translation.pt=B").succeeded();
    two.relate("A translation.pt_br=B").succeeded();
    two.relate("A translation.pt_br-=B").succeeded();
    let translated = "[relations.translation] pt = \"B\"";
    assert_eq!(two.held_here(), [translated, "[relations] translation_of = \"A\""]);
    assert_eq!(two.verified(), "");
    two.relate("A translation.pt-=B").succeeded();
    assert_eq!(two.held_here(), ["", ""]);
    two.relate("A translation.pt=B").succeeded();
    two.relate("A translation.pt_br=B").succeeded();
    two.relate("A translation.pt-=B translation.pt_br=").succeeded();
    assert_eq!(two.held_here(), ["", ""]);
}

#[test]
fn the_other_end_may_be_in_another_collection() {
    let two = Two::new();
    let told = two.relate("A next_edition=C");
    told.succeeded();
    assert!(
        told.stderr.contains("is not in a known collection; `urepo -c COLLECTION meta set"),
        "{}",
        told.stderr
    );
    assert!(told.stderr.contains("edition_of+="), "{}", told.stderr);
    assert!(two.verified().contains("U503"));
    let told = two.relate("A next_edition-=C");
    told.succeeded();
    assert!(told.stderr.contains(&format!("edition_of-={}` does", two.own[0])), "{}", told.stderr);
    two.relate("A next_edition=C").succeeded();
    // The same with both at hand completes it.
    two.relate("A next_edition=C --with mirror").succeeded();
    assert_eq!(two.held("archive", &two.own[0]), "[relations] next_edition = \"C\"");
    assert_eq!(two.held("mirror", &two.other[0]), "[relations] previous_edition = \"A\"");
    assert_eq!(two.verified(), "");
    // A Copy has the relations of its Original, and the end of a Copy is left.
    two.world.run(&format!("-c archive copy {} --to mirror", two.own[0])).succeeded();
    assert_eq!(two.held("mirror", &two.own[0]), "[relations] next_edition = \"C\"");
    two.relate("A next_edition= --with mirror").succeeded();
    assert!(two.verified().contains("U403"), "the Copy is stale");
    two.world.run("-c mirror copy --all --from archive").succeeded();
    assert_eq!(two.held("mirror", &two.own[0]), "");
    let line = format!("-c mirror meta set {} part_of={}", two.own[0], two.own[1]);
    let refused = two.world.run(&format!("{line} --with archive"));
    assert_eq!(refused.code, 23, "{}", refused.stderr);
    assert!(refused.stderr.contains("urepo -c [WORLD]/archive show"), "{}", refused.stderr);
    let line = format!("-c mirror meta set {} edition_of={}", two.other[0], two.own[0]);
    let left = two.world.run(&line);
    assert!(left.stderr.contains("the Original of"), "{}", left.stderr);
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_changes() {
    let two = Two::new();
    two.relate("A next_edition=B").succeeded();
    let before = two.held_here();
    for (line, code, expected) in [
        ("A next_edition+=C --with mirror", 23, "next_edition-="),
        // The other end refuses it: the own end stays as well.
        ("B next_edition=C edition_of+=D --with mirror", 23, "` removes that first"),
        ("B next_edition=A", 23, "cannot be an edition after"),
        ("A edition_of=B", 23, "cannot be an edition after"),
        ("A metadata=A", 23, "cannot be related to itself"),
        ("A next_edition-=", 2, "says no value"),
        ("A translation=B", 2, "`translation.TAG` takes a language"),
        ("A translation.klingon=B", 2, "pt-BR"),
        ("A relation.review=B", 2, "`relation.x.NAME`"),
        ("A metadata=B metadata=C", 2, "given twice"),
        ("A part_of=nothing", 21, "no item"),
    ] {
        let refused = two.relate(line);
        assert_eq!(refused.code, code, "{line}: {}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{line}: {}", refused.stderr);
        assert_eq!(two.held_here(), before, "{line}");
        assert_eq!(two.held("mirror", &two.other[0]), "", "{line}");
    }
    let planned = two.relate("A metadata=B --dry-run");
    assert!(planned.succeeded().contains("would change"), "{}", planned.stdout);
    assert_eq!(two.held_here(), before);
    // Without a language of its own, nothing says which translation it is.
    let told = two.relate("A translation_of=C --with mirror");
    assert!(told.stderr.contains("language=TAG` completes it"), "{}", told.stderr);
    two.relate("A translation_of=C language=en --with mirror").succeeded();
    assert_eq!(two.held("mirror", &two.other[0]), "[relations.translation] en = \"A\"");
}

#[test]
fn relations_are_shown_both_ways() {
    let two = Two::new();
    two.relate("A part_of=B next_edition=C").succeeded();
    two.world.run("-c archive recover --index").succeeded();
    let [a, b] = &two.own;
    let show = |name: &str, more: &str| two.world.run(&format!("-c archive show {name}{more}"));
    let shown = show(a, "");
    assert!(shown.succeeded().contains(&format!("next_higher_unit  {b}\n")), "{}", shown.stdout);
    let shown = show(b, "");
    let has_part = |line: &str| line.starts_with("has part ") && line.ends_with(a.as_str());
    assert!(shown.succeeded().lines().any(has_part), "{}", shown.stdout);
    let record: serde_json::Value = serde_json::from_str(show(b, " --json").succeeded()).unwrap();
    assert_eq!(record["referenced_by"][0]["id"], a.as_str());
    assert_eq!(record["referenced_by"][0]["relation"], "next_higher_unit");
}

#[test]
fn another_relation_takes_the_place_of_the_present_one_at_all_three_ends() {
    let two = Two::new();
    two.relate("A next_edition=B title=One").succeeded();
    let changed = two.relate("A next_edition=C title=Two --with mirror");
    assert!(changed.stderr.contains("changed 3 items"), "{}", changed.stderr);
    assert_eq!(two.held_here(), ["[relations] next_edition = \"C\"", ""]);
    assert_eq!(two.held("mirror", &two.other[0]), "[relations] previous_edition = \"A\"");
    let listed = two.world.run(&format!("-c archive list {} --columns title", two.own[0]));
    assert_eq!(listed.succeeded(), "Two\n");
    assert_eq!(two.verified(), "");
}

#[test]
fn many_items_become_parts_and_a_bad_one_is_named() {
    let two = Two::new();
    let ran = two.relate("-y A NONE part_of=B");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("NONE"), "{}", ran.stderr);
    assert_eq!(two.held_here(), ["[relations] next_higher_unit = \"B\"", ""]);
    two.relate("A part_of=").succeeded();
    two.world.write("three", "3");
    two.world.run("-c archive new three").succeeded();
    assert_eq!(two.relate("--all part_of=A").code, 2, "nobody can answer");
    // The unit itself is an item, too: it is named, and the others become its parts.
    let ran = two.relate("--all part_of=A -y");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot be related to itself"), "{}", ran.stderr);
    assert_eq!(two.held("archive", &two.own[1]), "[relations] next_higher_unit = \"A\"");
}

/// A translation whose language was corrected leads back once, and its removal removes every way back.
#[test]
fn a_corrected_language_leaves_no_other_way_back() {
    let two = Two::new();
    two.relate("B translation_of=A language=en").succeeded();
    two.relate("B translation_of=A language=fr").succeeded();
    assert_eq!(two.held("archive", &two.own[0]), "[relations.translation] fr = \"B\"");
    assert_eq!(two.verified(), "");
    // Another program left both.
    let sidecar = two.world.path("archive").join(&two.own[0]).join("item.toml");
    let text = std::fs::read_to_string(&sidecar).unwrap();
    let both = format!("[relations.translation]\nen = \"{}\"", two.own[1]);
    std::fs::write(&sidecar, text.replace("[relations.translation]", &both)).unwrap();
    two.world.run(&format!("-c archive repair {} --accept -y", two.own[0])).succeeded();
    two.relate("B translation_of=").succeeded();
    assert_eq!(two.held_here(), ["", ""]);
}

#[test]
fn relations_of_one_command_do_not_contradict_each_other() {
    let two = Two::new();
    for line in [
        "A edition_of=B next_edition=B",
        "A metadata=B metadata_of=B",
        "A translation_of=B translation.en=B",
        "A next_edition=C edition_of=C --with mirror",
    ] {
        let ran = two.relate(line);
        assert_eq!(ran.code, 23, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("cannot be both"), "{line}: {}", ran.stderr);
        assert_eq!(two.held_here(), ["", ""], "{line}");
    }
    two.relate("A edition_of=B next_edition=C part_of=B --with mirror").succeeded();
    assert_eq!(two.relate("A part_of+=").code, 2);
}

#[test]
fn a_state_narrows_one_item_as_well() {
    let two = Two::new();
    let ran = two.relate("A --state Elsewhere part_of=B");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(two.held_here(), ["", ""]);
}

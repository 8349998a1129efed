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
        self.world.run(&format!("-c archive relate {line}"))
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
        ("--next-edition B", "next_edition = \"B\"", "previous_edition = \"A\""),
        ("--edition-of B", "previous_edition = \"B\"", "next_edition = \"A\""),
        ("--previous-edition B", "previous_edition = \"B\"", "next_edition = \"A\""),
        ("--metadata B", "metadata = \"B\"", "metadata_of = \"A\""),
        ("--metadata-of B", "metadata_of = \"B\"", "metadata = \"A\""),
        ("--part-of B", "next_higher_unit = \"B\"", ""),
        ("--relation x.review=B", "[relations.x] review = \"B\"", ""),
        (
            "--translation PT_br=B",
            "[relations.translation] pt-BR = \"B\"",
            "translation_of = \"A\"",
        ),
        (
            "--translation-of B --language por",
            "translation_of = \"B\"",
            "[relations.translation] pt = \"A\"",
        ),
    ];
    for (flags, own, other) in rows {
        two.relate(&format!("A {flags}")).succeeded();
        let header = |text: &str| match text {
            "" => String::new(),
            text if text.starts_with('[') => text.to_owned(),
            text => format!("[relations] {text}"),
        };
        assert_eq!(two.held_here(), [header(own), header(other)], "{flags}");
        let again = two.relate(&format!("A {flags}"));
        assert!(
            again.stdout.is_empty() || again.stdout.contains("stays"),
            "{flags}: {}",
            again.stdout
        );
        assert_eq!(two.held_here(), [header(own), header(other)], "{flags}");
        assert_eq!(two.verified(), "", "{flags}");
        two.relate(&format!("A {flags} --unlink")).succeeded();
        assert_eq!(two.held_here(), ["", ""], "{flags}");
        two.relate(&format!("A {flags} --unlink")).succeeded();
    }
}

/// One text may be the translation into Portuguese and into that of Brazil.
#[test]
fn the_last_translation_takes_the_way_back_along() {
    let two = Two::new();
    two.relate("A --translation pt=B").succeeded();
    two.relate("A --translation pt_br=B").succeeded();
    two.relate("A --unlink --translation pt_br=B").succeeded();
    let translated = "[relations.translation] pt = \"B\"";
    assert_eq!(two.held_here(), [translated, "[relations] translation_of = \"A\""]);
    assert_eq!(two.verified(), "");
    two.relate("A --unlink --translation pt=B").succeeded();
    assert_eq!(two.held_here(), ["", ""]);
    two.relate("A --translation pt=B").succeeded();
    two.relate("A --translation pt_br=B").succeeded();
    two.relate("A --unlink --translation pt=B --translation pt_br=B").succeeded();
    assert_eq!(two.held_here(), ["", ""]);
}

#[test]
fn the_other_end_may_be_in_another_collection() {
    let two = Two::new();
    let told = two.relate("A --next-edition C");
    told.succeeded();
    assert!(
        told.stderr.contains("is not in a known collection; `urepo -c COLLECTION relate"),
        "{}",
        told.stderr
    );
    assert!(told.stderr.contains("--edition-of"), "{}", told.stderr);
    assert!(two.verified().contains("U503"));
    let told = two.relate("A --next-edition C --unlink");
    told.succeeded();
    assert!(
        told.stderr.contains(&format!("--edition-of {} --unlink` does", two.own[0])),
        "{}",
        told.stderr
    );
    two.relate("A --next-edition C").succeeded();
    // The same with both at hand completes it.
    two.relate("A --next-edition C --with mirror").succeeded();
    assert_eq!(two.held("archive", &two.own[0]), "[relations] next_edition = \"C\"");
    assert_eq!(two.held("mirror", &two.other[0]), "[relations] previous_edition = \"A\"");
    assert_eq!(two.verified(), "");
    // A Copy has the relations of its Original, and the end of a Copy is left.
    two.world.run(&format!("-c archive copy {} --to mirror", two.own[0])).succeeded();
    assert_eq!(two.held("mirror", &two.own[0]), "[relations] next_edition = \"C\"");
    two.relate("A --next-edition C --with mirror --unlink").succeeded();
    assert!(two.verified().contains("U403"), "the Copy is stale");
    two.world.run("-c mirror copy --all --from archive").succeeded();
    assert_eq!(two.held("mirror", &two.own[0]), "");
    let line = format!("-c mirror relate {} --part-of {}", two.own[0], two.own[1]);
    let refused = two.world.run(&format!("{line} --with archive"));
    assert_eq!(refused.code, 23, "{}", refused.stderr);
    assert!(refused.stderr.contains("urepo -c [WORLD]/archive show"), "{}", refused.stderr);
    let line = format!("-c mirror relate {} --edition-of {}", two.other[0], two.own[0]);
    let left = two.world.run(&line);
    assert!(left.stderr.contains("the Original of"), "{}", left.stderr);
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_changes() {
    let two = Two::new();
    two.relate("A --next-edition B").succeeded();
    let before = two.held_here();
    for (line, code, expected) in [
        ("A --next-edition C --with mirror", 23, "--next-edition"),
        // The other end refuses it: the own end stays as well.
        ("B --next-edition C --edition-of D --with mirror", 23, "--unlink` removes that first"),
        ("B --next-edition A", 23, "cannot be an edition after"),
        ("A --edition-of B", 23, "cannot be an edition after"),
        ("A --metadata A", 23, "cannot be related to itself"),
        ("A --unlink", 2, "no relation was given"),
        ("A --translation B", 2, "expected TAG=ITEM"),
        ("A --translation klingon=B", 2, "pt-BR"),
        ("A --relation review=B", 2, "expected x.KEY=ITEM"),
        ("A --part-of nothing", 21, "no item"),
    ] {
        let refused = two.relate(line);
        assert_eq!(refused.code, code, "{line}: {}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{line}: {}", refused.stderr);
        assert_eq!(two.held_here(), before, "{line}");
        assert_eq!(two.held("mirror", &two.other[0]), "", "{line}");
    }
    let planned = two.relate("A --metadata B --dry-run");
    assert!(planned.succeeded().contains("would change"), "{}", planned.stdout);
    assert_eq!(two.held_here(), before);
    // Without a language of its own, nothing says which translation it is.
    let told = two.relate("A --translation-of C --with mirror");
    assert!(told.stderr.contains("--language TAG` completes it"), "{}", told.stderr);
    two.relate("A --translation-of C --language en --with mirror").succeeded();
    assert_eq!(two.held("mirror", &two.other[0]), "[relations.translation] en = \"A\"");
}

#[test]
fn relations_are_listed_both_ways() {
    let two = Two::new();
    two.relate("A --part-of B --next-edition C").succeeded();
    assert_eq!(two.relate("B").succeeded(), "");
    two.world.run("-c archive recover --index").succeeded();
    let [a, b] = &two.own;
    let listed = two.relate("A");
    assert!(listed.succeeded().contains(&format!("next_higher_unit {b}\n")), "{}", listed.stdout);
    assert_eq!(two.relate("B").succeeded(), format!("has part     {a}\n"));
    let record = two.relate("B --json");
    let record: serde_json::Value = serde_json::from_str(record.succeeded()).unwrap();
    assert_eq!(record["referenced_by"][0]["id"], a.as_str());
    assert_eq!(record["referenced_by"][0]["relation"], "next_higher_unit");
}

#[test]
fn new_items_are_linked() {
    let two = Two::new();
    let new = |line: &str| {
        let [a, b] = &two.own;
        let line = line.replace('A', a).replace('B', b).replace('C', &two.other[0]);
        two.world.run(&format!("-c archive new one {line}"))
    };
    let held = |name: &str, of: &str| two.text("archive", of).replace(name, "NEW");
    let [a, b] = &two.own;
    let next = new("--edition-of A --part-of B").line();
    let own = two.held("archive", &next);
    assert!(
        own.contains("previous_edition = \"A\"") && own.contains("next_higher_unit = \"B\""),
        "{own}"
    );
    assert_eq!(held(&next, a), "[relations] next_edition = \"NEW\"");
    let portuguese = new("--translation-of B --language por").line();
    assert_eq!(held(&portuguese, b), "[relations.translation] pt = \"NEW\"");
    let record = new("--metadata-of B").line();
    assert!(held(&record, b).contains("metadata = \"NEW\""));
    assert_eq!(two.verified(), "");
    // The end in a collection that is not known is left, and so is that of several items.
    let other = new("--metadata-of C");
    assert!(
        other.stderr.contains("is not in a known collection; `urepo -c COLLECTION relate"),
        "{}",
        other.stderr
    );
    two.world.run(&format!("-c archive new --each one two --part-of {a}")).succeeded();
    let items = || two.world.run("-c archive list").stdout.lines().count();
    let before = items();
    for (line, code, expected) in [
        ("--edition-of A", 23, "removes that first"),
        ("--translation-of A", 2, "add `--language TAG`"),
        ("--translation-of B --language pt", 23, "removes that first"),
        ("--edition-of nothing", 21, "no item"),
        ("--edition-of A --dry-run", 23, "removes that first"),
        ("--each --edition-of A", 2, "cannot be used with"),
    ] {
        let refused = new(line);
        assert_eq!(refused.code, code, "{line}: {}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{line}: {}", refused.stderr);
    }
    assert_eq!(items(), before, "nothing was deposited");
}

#[test]
fn nothing_is_translated_into_its_own_language() {
    let two = Two::new();
    let run = |line: &str| {
        let [a, b] = &two.own;
        two.world.run(&format!("-c archive {}", line.replace('A', a).replace('B', b)))
    };
    run("meta set A language=pt").succeeded();
    let before = two.held_here();
    for line in [
        "relate A --translation pt=B",
        "relate A --translation por=example.org/elsewhere/2026/01.01.00.00",
        "relate B --translation-of A --language pt",
        "new one --translation-of A --language PT",
        "new one --translation-of A --language PT --dry-run",
    ] {
        let ran = run(line);
        assert_eq!(ran.code, 23, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("is in `pt` itself"), "{line}: {}", ran.stderr);
        assert_eq!(two.held_here(), before, "{line}");
    }
    assert_eq!(run("list").stdout.lines().count(), 2);
    let [a, b] = &two.own;
    two.world.write("two.csv", format!("identifier,relation.translation.pt\n{a},{b}\n"));
    assert_eq!(run("meta import two.csv").code, 1);
    two.world.write("three", "3");
    two.world.write("three.csv", format!("path,language,relation.translation_of\nthree,pt,{a}\n"));
    let ran = run("import --manifest three.csv");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert_eq!(two.held_here(), before);
    run("relate A --translation pt_br=B").succeeded();
    // What exists stays as it is.
    run("meta set A language=pt_br").succeeded();
    run("relate A --translation pt_br=B").succeeded();
    run("relate A --translation pt_br=B --unlink").succeeded();
}

/// A translation is found by its language, so its spelling matters.
#[test]
fn languages_are_normalised_and_unlisted_ones_warned_of() {
    let world = World::with_collection();
    world.write("one", "1");
    world.write("two", "2");
    world.write("list.csv", "path,language\none,PT_br\ntwo,xx\n");
    for (language, stored, is_listed) in
        [("por", "pt", true), ("PT", "pt", true), ("pt-Br", "pt-BR", true), ("xx", "xx", false)]
    {
        let ran = world.run(&format!("-c archive new one --language {language}"));
        let name = ran.succeeded().trim_end();
        assert_eq!(ran.stderr.is_empty(), is_listed, "{language}: {}", ran.stderr);
        let text =
            std::fs::read_to_string(world.path("archive").join(name).join("item.toml")).unwrap();
        assert!(text.contains(&format!("language = \"{stored}\"")), "{language}: {text}");
    }
    let ran = world.run("-c archive import --manifest list.csv");
    ran.succeeded();
    assert_eq!(ran.stderr.matches("`xx` is kept, but").count(), 1, "{}", ran.stderr);
    assert!(!ran.stderr.contains("pt-BR` is kept"), "{}", ran.stderr);
}

/// A resolver goes by the relation, and its reader finds a text in another language.
#[test]
fn a_translation_into_another_language_than_it_says_is_warned_of() {
    let two = Two::new();
    let [a, b] = &two.own;
    two.world.run(&format!("-c archive meta set {b} language=pt-BR")).succeeded();
    let told = two.relate("A --translation pt=B");
    assert_eq!((told.code, told.stderr.contains("warning")), (0, false), "{}", told.stderr);
    two.relate("A --translation pt=B --unlink").succeeded();
    let told = two.relate("A --translation fr=B");
    let warning =
        format!("warning: `{b}` becomes a translation into `fr`, and its description says `pt-BR`");
    assert!(told.code == 0 && told.stderr.contains(&warning), "{}", told.stderr);
    let found = two.verified();
    assert!(found.contains("U506") && found.contains(a.as_str()), "{found}");
}

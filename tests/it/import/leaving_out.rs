//! What imports leave out, and sources that were imported by other rules of links and patterns.

use std::os::unix::fs::symlink;

use urepo::disk::Pattern;

use super::*;
use crate::support::{between_users, make_collection, scratch};

/// How a run looks at its sources.
#[derive(Clone, Copy, Debug)]
struct Leaves {
    links: Links,
    patterns: &'static [&'static str],
    reads_files: bool,
}

const PLAIN: Leaves = Leaves { links: Links::Keep, patterns: &[], reads_files: false };

impl Leaves {
    fn exclusion(self) -> Exclusion {
        let pattern = |text: &&str| Pattern::new(text).unwrap();
        let patterns: Vec<_> = self.patterns.iter().map(pattern).collect();
        Exclusion::new(&[], &patterns, self.reads_files).unwrap()
    }

    fn run(
        self,
        collection: &Collection,
        sources: &Path,
        rule: SourceRule,
    ) -> (Vec<String>, Summary) {
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let watcher = Watcher::default();
        let found =
            SourceTree::open(sources, Units::default(), self.links, &self.exclusion(), &watcher)
                .unwrap();
        let mut options = with_sources(rule);
        options.deposit.links = self.links;
        let (events, summary) = import(collection, Box::new(found), options, &clock).unwrap();
        (words(&events), summary)
    }
}

const JUNK: &[&str] = &[".DS_Store", "*.part"];

fn make_sources(sources: &Path) {
    for path in [".DS_Store", "film.part", "album/1.txt", "album/.DS_Store", "album/sub/x.part"] {
        write(sources, path, path);
    }
    write(sources, "album/sub/2.txt", "two");
    symlink("1.txt", sources.join("album/link")).unwrap();
}

#[test]
fn junk_is_left_out_beside_items_and_in_them() {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    make_sources(&sources);
    let collection = make_collection(&scratch.path().join("archive"));
    let rules = Leaves { patterns: JUNK, ..PLAIN };
    let (told, summary) = rules.run(&collection, &sources, SourceRule::Keep);
    assert_eq!(
        told,
        [".DS_Store left out: .DS_Store", "album imported", "film.part left out: *.part"]
    );
    assert_eq!((summary.imported, summary.failed, summary.files), (1, 0, 2));
    let items = origins(&collection);
    let left_out = items[0].1.origin["left_out"].to_string();
    assert_eq!(left_out, r#"[".DS_Store", "sub/x.part"]"#);
    let (told, _) = rules.run(&collection, &sources, SourceRule::Keep);
    assert_eq!(told[1], "album there");
}

#[test]
fn levels_above_an_item_say_what_is_left_out_of_it() {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    for path in ["x/1.txt", "x/1.bak", "y/1.bak", "y/2.txt", "z.bak", "c/d.txt"] {
        write(&sources, path, path);
    }
    write(&sources, ".urepoignore", "/c\n/x/*.bak\n");
    let rules = Leaves { reads_files: true, ..PLAIN }.exclusion();
    let watcher = Watcher::default();
    let found =
        SourceTree::open(&sources, Units::default(), Links::Keep, &rules, &watcher).unwrap();
    let collection = make_collection(&scratch.path().join("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let (events, _) = import(&collection, Box::new(found), import_options(), &clock).unwrap();
    let expected = [
        ".urepoignore left out: .urepoignore",
        "c left out: /c",
        "x imported",
        "y imported",
        "z.bak imported",
    ];
    assert_eq!(words(&events), expected);
    let left_out = |(source, sidecar): (String, Sidecar)| {
        (last(&source).to_owned(), sidecar.origin.get("left_out").map(ToString::to_string))
    };
    let left_out: Vec<_> = origins(&collection).into_iter().map(left_out).collect();
    assert_eq!(left_out[0], ("x".to_owned(), Some(r#"["1.bak"]"#.to_owned())));
    assert_eq!(left_out[1], ("y".to_owned(), None));
}

/// Whatever the rules were and are: an unchanged source stays one item, a changed one becomes another.
#[test]
fn other_rules_never_import_twice() {
    let all = [
        PLAIN,
        Leaves { patterns: JUNK, ..PLAIN },
        Leaves { patterns: &["*.txt", "!1.txt"], ..PLAIN },
        Leaves { patterns: &["sub"], reads_files: true, ..PLAIN },
        Leaves { links: Links::Follow, ..PLAIN },
        Leaves { links: Links::Skip, ..PLAIN },
        Leaves { links: Links::AsIs, patterns: JUNK, ..PLAIN },
        Leaves { links: Links::Follow, patterns: JUNK, reads_files: true },
    ];
    for (first, second) in all.iter().flat_map(|first| all.map(|second| (*first, second))) {
        for loses_ledger in [false, true] {
            let scratch = scratch();
            let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
            make_sources(&sources);
            write(&sources, "album/.urepoignore", "link\n");
            let collection = make_collection(&root);
            let context = format!("{first:?}, {second:?}, {loses_ledger}");
            let albums = || {
                let is_album = |it: &&(String, Sidecar)| it.0.ends_with("/album");
                origins(&collection).iter().filter(is_album).count()
            };
            first.run(&collection, &sources, SourceRule::Keep);
            if loses_ledger {
                std::fs::remove_dir_all(root.join(".urepo/ledger")).unwrap();
            }
            if [first, second].iter().all(|rules| rules.patterns == JUNK) {
                // What is left out may change, and become more.
                write(&sources, "album/.DS_Store", "other");
                write(&sources, "album/sub/.DS_Store", "new");
            }
            for rules in [second, second, first] {
                let (told, summary) = rules.run(&collection, &sources, SourceRule::Keep);
                let fatal = &summary.fatal;
                assert_eq!((albums(), summary.failed), (1, 0), "{context}: {told:?} {fatal:?}");
            }
            write(&sources, "album/1.txt", "another one");
            second.run(&collection, &sources, SourceRule::Keep);
            assert_eq!(albums(), 2, "{context}");
        }
    }
}

#[test]
fn what_is_named_or_a_bag_is_taken_whole() {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    write(&sources, "bag/data/.DS_Store", "kept");
    write(&sources, "bag/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    let manifest = format!("{}  data/.DS_Store\n", Digest::of(b"kept"));
    write(&sources, "bag/manifest-sha256.txt", manifest);
    let collection = make_collection(&scratch.path().join("archive"));
    let rules = Leaves { patterns: JUNK, reads_files: true, ..PLAIN };
    let (told, _) = rules.run(&collection, &sources, SourceRule::Keep);
    assert_eq!(told, ["bag imported"]);
    let item = whole_items(&collection).remove(0);
    assert!(collection.path().join(item).join("doc/.DS_Store").exists());
}

/// A directory stays whole while something in it is not in the item.
#[test]
fn sources_that_hold_more_than_their_item_stay() {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    make_sources(&sources);
    let before = crate::support::tree(&sources);
    let rules = Leaves { patterns: JUNK, ..PLAIN };
    let collection = make_collection(&scratch.path().join("archive"));
    let (_, summary) = rules.run(&collection, &sources, SourceRule::Remove);
    assert_eq!((summary.imported, summary.left), (1, 1));
    assert_eq!(crate::support::tree(&sources), before);
    let (told, summary) = rules.run(&collection, &sources, SourceRule::Remove);
    assert_eq!((told[1].as_str(), summary.left), ("album there", 1));
    assert_eq!(crate::support::tree(&sources), before);
}

/// A source is looked at again as its item shows that it was: a link that was not followed is not followed now,
/// and where one was, what cannot be read is a change.
#[test]
fn a_rerun_follows_no_link_that_was_not_followed() {
    let suite = || {
        for first in [Links::AsIs, Links::Follow] {
            let scratch = scratch();
            let (sources, outside) =
                (scratch.path().join("sources"), scratch.path().join("outside"));
            write(&sources, "dir/1.txt", "one");
            write(&outside, "closed/2.txt", "two");
            symlink(&outside, sources.join("dir/outside")).unwrap();
            let collection = make_collection(&scratch.path().join("archive"));
            let run =
                |links| Leaves { links, ..PLAIN }.run(&collection, &sources, SourceRule::Keep).0;
            assert_eq!(run(first), ["dir imported"]);
            write(&sources, "dir/1.txt", "changed");
            let closed = outside.join("closed");
            let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&closed, mode(0)).unwrap();
            let told = run(Links::AsIs);
            std::fs::set_permissions(&closed, mode(0o755)).unwrap();
            assert_eq!(told, ["dir imported"], "{first:?}");
        }
    };
    if rustix::process::geteuid().is_root() { between_users(suite) } else { suite() }
}

/// Patterns see what a link leads to, beside items and in them, where links are followed.
#[test]
fn patterns_of_directories_match_links_that_are_followed() {
    let scratch = scratch();
    let (sources, outside) = (scratch.path().join("sources"), scratch.path().join("outside"));
    write(&outside, "build/x", "x");
    write(&outside, "patterns", "build/\n");
    write(&sources, "dir/1.txt", "one");
    symlink("../outside/patterns", sources.join(".urepoignore")).unwrap();
    symlink("../outside/build", sources.join("build")).unwrap();
    symlink("../../outside/build", sources.join("dir/build")).unwrap();
    let collection = make_collection(&scratch.path().join("archive"));
    let rules = Leaves { links: Links::Follow, patterns: &[], reads_files: true };
    let (told, _) = rules.run(&collection, &sources, SourceRule::Keep);
    let expected =
        [".urepoignore left out: .urepoignore", "build left out: build/", "dir imported"];
    assert_eq!(told, expected);
    let items = origins(&collection);
    assert_eq!(items[0].1.origin["left_out"].to_string(), r#"["build"]"#);
}

/// Beyond what a sidecar lists, the patterns of the run say what was left out.
#[test]
fn a_source_without_many_files_is_imported_once() {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    write(&sources, "dir/1.txt", "one");
    symlink("1.txt", sources.join("dir/link")).unwrap();
    for number in 0..1_100 {
        write(&sources, &format!("dir/{number}.part"), "");
    }
    let collection = make_collection(&scratch.path().join("archive"));
    let rules = Leaves { patterns: JUNK, ..PLAIN };
    rules.run(&collection, &sources, SourceRule::Keep);
    let rules = Leaves { links: Links::Skip, ..rules };
    let (told, _) = rules.run(&collection, &sources, SourceRule::Keep);
    assert_eq!(told, ["dir there by other rules"]);
}

/// The second run of an import of which some sources were refused for their links.
#[test]
fn the_rule_of_links_may_change_between_runs() {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    write(&sources, "a/f", "f");
    symlink("f", sources.join("a/l")).unwrap();
    write(&sources, "b/f", "f");
    symlink("../nothing", sources.join("b/l")).unwrap();
    symlink("b", sources.join("c")).unwrap();
    let collection = make_collection(&scratch.path().join("archive"));
    let run = |links| Leaves { links, ..PLAIN }.run(&collection, &sources, SourceRule::Keep).0;
    let told = run(Links::Keep);
    assert_eq!((told[1].as_str(), told.len()), ("a imported", 3));
    let told = run(Links::Follow);
    assert!(told.contains(&"a there by other rules".to_owned()), "{told:?}");
    let told = run(Links::Skip);
    assert_eq!(told, ["a there by other rules", "b imported", "c left out: links"]);
    let told = run(Links::AsIs);
    assert_eq!(&told[1..], ["a there", "b there by other rules"]);
    assert_eq!(origins(&collection).len(), 2);
}

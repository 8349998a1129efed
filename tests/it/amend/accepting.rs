//! Sidecars that were edited by hand.

use super::*;
use crate::support::{ledger_lines, write_ledger};

impl Archive {
    /// Edits the sidecar as a person does, who leaves the seal as it was.
    pub(super) fn edit_by_hand(&self, from: &str, to: &str) {
        let text = self.text();
        assert!(text.contains(from), "{text}");
        fs::write(self.file(), text.replacen(from, to, 1)).unwrap();
    }

    pub(super) fn accept(&self, more: &str) -> crate::support::Ran {
        self.world.run(&format!("-c archive repair {} --accept {more}", self.name))
    }

    /// Names the mirror in the settings.
    pub(super) fn know_mirror(&self) {
        let mirror = self.world.path("mirror");
        let settings = format!("[collections]\nmirror = \"{}\"\n", mirror.display());
        self.world.write(".config/urepo/config.toml", settings);
    }
}

#[test]
fn an_edit_is_shown_and_accepted() {
    let archive = Archive::new();
    let world = &archive.world;
    archive.entitle("Letter").unwrap();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    let before = archive.sidecar();
    archive.edit_by_hand("\"Letter\"", "\"Letters\" # two");
    let verified = world.run("-c archive verify");
    assert_eq!(verified.code, 20);
    assert!(
        verified.stderr.contains("`urepo -c archive repair ITEM --accept`"),
        "{}",
        verified.stderr
    );
    let changing = world.run(&format!("-c archive meta set {} creator=Ana", archive.name));
    assert!(
        changing.stderr.contains(&format!("`urepo -c archive repair {} --accept`", archive.name))
    );
    let edited = archive.text();
    let shown = archive.accept("--dry-run");
    let difference = "title: \"Letter\" -> \"Letters\" (compared with the log, ";
    assert!(shown.succeeded().contains(difference), "{}", shown.stdout);
    archive.know_mirror();
    let shown = archive.accept("--dry-run");
    assert!(shown.succeeded().contains("(compared with `[WORLD]/mirror`)"), "{}", shown.stdout);
    let asked = archive.accept("");
    assert!(
        asked.code == 2 && asked.stderr.contains("\"Letter\" -> \"Letters\" ("),
        "{}",
        asked.stderr
    );
    assert_eq!(archive.text(), edited);
    archive.accept("-y").succeeded();
    let after = archive.sidecar();
    assert_eq!(after.metadata.title(), Some("Letters"));
    assert!(after.changed() > before.changed());
    assert_eq!((after.timestamp, after.described), (before.timestamp, Some(after.changed())));
    assert!(archive.text().contains("# two"));
    let events = archive.events();
    let accepted =
        events.iter().find(|it| it.note.as_deref().is_some_and(|it| it.starts_with("accepted")));
    let [change] = &accepted.unwrap().changes[..] else { panic!("{events:?}") };
    assert_eq!(
        (change.before.clone(), change.after.clone()),
        (Some("Letter".into()), Some("Letters".into()))
    );
    // The Copy is behind now, and follows.
    world.run("-c mirror copy --all --from archive").succeeded();
    world.run("verify archive mirror").succeeded();
    let again = archive.accept("");
    assert!(again.stdout.contains("is as it was sealed"), "{}", again.stderr);
    assert_eq!(archive.sidecar(), after);
}

#[test]
fn more_than_a_description_is_not_accepted() {
    for (from, to) in [
        ("bytes = 8", "bytes = 9"),
        ("path = \"letter.txt\"", "path = \"other.txt\""),
        ("mode = \"0", "mode = \"1"),
    ] {
        let archive = Archive::new();
        archive.edit_by_hand(from, to);
        let before = archive.text();
        let refused = archive.accept("");
        assert_ne!(refused.code, 0, "{from}: {}", refused.stderr);
        assert_eq!(archive.text(), before, "{from}");
    }
    // Other bytes, with the digests that belong to them.
    let archive = Archive::new();
    change_item(&archive.world.path("archive"), &archive.name, |sidecar| {
        let mut files = sidecar.files.to_vec();
        if let urepo::item::Content::File { digest, .. } = &mut files[0].content {
            *digest = urepo::digest::Digest::of(b"Dear you");
        }
        sidecar.files = files.into();
    });
    fs::write(archive.file().with_file_name("doc/letter.txt"), "Dear you").unwrap();
    archive.edit_by_hand("transferable = true", "transferable = false");
    assert_eq!(archive.accept("").code, 20);
    let archive = Archive::new();
    archive.edit_by_hand("[payload]", "[metadata]\ntitle = 'A'\n[payload]");
    fs::write(archive.file().with_file_name("doc/letter.txt"), "Dear you").unwrap();
    assert_eq!(archive.accept("").code, 20);
}

/// Files that a person changed by hand, and sealed by `repair --reseal`, are dated; those of a corrected description are not.
#[test]
fn only_changed_files_get_a_new_date() {
    let archive = Archive::new();
    let world = &archive.world;
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    let before = archive.sidecar();
    archive.edit_by_hand("transferable = true", "transferable = false");
    let reseal = format!("-c archive repair {} --reseal --from mirror", archive.name);
    world.run(&reseal).succeeded();
    let corrected = archive.sidecar();
    assert_eq!(corrected.timestamp, before.timestamp);
    assert!(corrected.described.is_some());
    change_item(&world.path("archive"), &archive.name, |sidecar| {
        let mut files = sidecar.files.to_vec();
        if let urepo::item::Content::File { digest, .. } = &mut files[0].content {
            *digest = urepo::digest::Digest::of(b"Dear you");
        }
        sidecar.files = files.into();
    });
    fs::write(archive.file().with_file_name("doc/letter.txt"), "Dear you").unwrap();
    archive.edit_by_hand("transferable = false", "transferable = true");
    world.run(&reseal).succeeded();
    let changed = archive.sidecar();
    assert!(changed.timestamp > corrected.changed());
    assert_eq!(changed.described, Some(changed.timestamp));
}

#[test]
fn without_any_other_word_the_present_values_are_shown() {
    let archive = Archive::new();
    archive.edit_by_hand("[payload]", "[metadata]\ntitle = 'A'\n\n[payload]");
    let shown = archive.accept("--dry-run");
    let told =
        "nothing shows what was sealed of target \"letter.txt\", title \"A\", origin.source \"";
    assert!(shown.succeeded().contains(told), "{}", shown.stdout);
    let edited = archive.text();
    let refused = archive.accept("");
    assert_eq!((refused.code, archive.text()), (2, edited), "{}", refused.stderr);
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
    archive.accept("-y --json").succeeded();
    // What changed is not known.
    let accepted = archive.events().into_iter().last().unwrap();
    assert!(accepted.note.is_some() && accepted.changes.is_empty(), "{accepted:?}");
    assert_eq!(archive.sidecar().metadata.title(), Some("A"));
}

#[test]
fn a_value_that_the_log_sums_up_is_not_shown_as_changed() {
    let archive = Archive::new();
    let long = "long ".repeat(2000);
    archive
        .amend(|description| {
            description.metadata.set("x.text", &[long.trim()]).unwrap();
            description.metadata.set("title", &["Letter"]).unwrap();
            Ok(())
        })
        .unwrap();
    archive.edit_by_hand("\"Letter\"", "\"Letters\"");
    let shown = archive.accept("--dry-run");
    assert!(shown.succeeded().contains(": title: \"Letter\" -> \"Letters\" ("), "{}", shown.stdout);
    archive.edit_by_hand("long long", "short");
    let shown = archive.accept("--dry-run");
    assert!(shown.succeeded().contains("x.text: "), "{}", shown.stdout);
}

/// The log of a large collection is long.
#[test]
fn the_log_is_read_once_for_all_items() {
    use std::sync::Arc;

    use urepo::repair::{LoggedItems, Options, Repairer, Unsealed};

    use crate::support::{System, Trace};
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    archive.edit_by_hand("\"Letter\"", "\"Letters\"");
    let trace = Arc::new(Trace::on(System::Own));
    let watcher = Watcher::new(Arc::clone(&trace) as _);
    let collection = Collection::open(&archive.world.path("archive"), &watcher).unwrap();
    let name = archive.name.parse().unwrap();
    let (agent, clock) = (agent(), TestClock::at("2026-12-01T00:00:00Z"));
    let interrupt = Interrupt::default();
    let caller = caller(&agent, &clock, &interrupt);
    let options = Options { unsealed: Unsealed::Seal };
    let logged = LoggedItems::of([&name]);
    let repairer = Repairer {
        collection: &collection,
        donors: &[],
        witnesses: &[],
        options,
        logged: &logged,
        caller,
    };
    let reads = || {
        trace.0.lock().unwrap().clear();
        let plan = repairer.examine(&name).unwrap().unwrap();
        assert_eq!(plan.accepted.unwrap().changes.len(), 1);
        let traced = trace.0.lock().unwrap();
        traced.iter().filter(|(_, path)| path.to_string_lossy().contains(".urepo/ledger/")).count()
    };
    let first = reads();
    let next = reads();
    assert!(next < first, "{next} after {first}");
}

/// Items that nobody named are sealed after a question.
#[test]
fn all_edited_sidecars_are_accepted_after_a_question() {
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    archive.edit_by_hand("\"Letter\"", "\"Letters\"");
    let edited = archive.text();
    let ran = archive.world.run("-c archive repair --accept");
    assert_eq!((ran.code, archive.text()), (2, edited), "{}", ran.stderr);
    archive.world.run("-c archive repair --accept --all -y").succeeded();
    assert_eq!(archive.sidecar().metadata.title(), Some("Letters"));
}

/// Without a record of earlier values, no value is shown as a change.
#[test]
fn an_acceptance_is_logged_as_a_change_of_the_description_alone() {
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    let root = archive.world.path("archive");
    let without_values = |line: String| {
        let mut event: serde_json::Value = serde_json::from_str(&line).unwrap();
        event.as_object_mut().unwrap().remove("changes");
        event.to_string()
    };
    let lines: Vec<_> = ledger_lines(&root).into_iter().map(without_values).collect();
    write_ledger(&root, &lines);
    archive.edit_by_hand("\"Letter\"", "\"Letters\"");
    let shown = archive.accept("--dry-run");
    let told = ": nothing shows what was sealed of target \"letter.txt\", title \"Letters\", ";
    assert!(shown.succeeded().contains(told), "{}", shown.stdout);
    archive.accept("-y").succeeded();
    let last = archive.events().pop().unwrap().event;
    assert_eq!(last, urepo::collection::EventKind::Description);
}

/// Nobody could tell any more which of them is meant.
#[test]
fn the_ibip_of_another_item_is_not_accepted() {
    const IBIP: &str = "8JMKD3MGP8W/34PGRBS";
    let world = World::with_collection();
    let names = ["mtc-m18", "mtc-m80"].map(|word| format!("sid.inpe.br/{word}/2009/02.16.17.46"));
    world.write("in/a", "alpha");
    world.write("in/b", "beta");
    let rows = format!("in/a,{},{IBIP}\nin/b,{},\n", names[0], names[1]);
    world.write("list.csv", format!("path,identifier,ibip\n{rows}"));
    world.run("-c archive import list.csv").succeeded();
    let file = world.path("archive").join(&names[1]).join("item.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("repository =", &format!("ibip = \"{IBIP}\"\nrepository ="), 1))
        .unwrap();
    let ran = world.run(&format!("-c archive repair {} --accept -y", names[1]));
    let told = format!("has the IBIp {IBIP}, which `{}` has in", names[0]);
    assert!(ran.code == 23 && ran.stderr.contains(&told), "{} {}", ran.code, ran.stderr);
    assert!(ran.stderr.contains("remove `ibip`"), "{}", ran.stderr);
}

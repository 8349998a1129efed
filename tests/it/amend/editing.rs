//! Descriptions changed in an editor, which is a script here.

use super::*;
use crate::support::Ran;

impl Archive {
    /// Runs `urepo meta edit` with an editor that does `script` to the file `$1`.
    fn edit(&self, script: &str, more: &str) -> Ran {
        self.world.write("editor", format!("#!/bin/sh\nset -e\n{script}\n"));
        let line = format!("-c archive meta edit {} {more}", self.name);
        let mut command = self.world.command(line.split_whitespace());
        fs::create_dir_all(self.world.path("tmp")).unwrap();
        command.env("VISUAL", "sh ./editor").env("TMPDIR", self.world.path("tmp"));
        self.world.finish(command)
    }

    /// The texts that were kept.
    fn kept(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.world.path("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn a_good_text_is_taken() {
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    let ran = archive.edit("sed -i 's/\"Letter\"/\"Letters\"/' \"$1\"", "");
    let changed = format!("changed {}: title: \"Letter\" -> \"Letters\"\n", archive.name);
    assert_eq!(ran.succeeded(), changed);
    assert_eq!(archive.sidecar().metadata.title(), Some("Letters"));
    assert!(archive.kept().is_empty());
    let ran = archive.edit("sed -i 's/\"Letters\"/\"Post\"/' \"$1\"", "--dry-run");
    assert!(ran.succeeded().contains("\"Letters\" -> \"Post\""), "{}", ran.stdout);
    assert_eq!(archive.sidecar().metadata.title(), Some("Letters"));
}

/// A terminal sends Ctrl-C to all that runs in front, also to urepo, whose editor takes it for its own.
#[test]
fn ctrl_c_in_the_editor_does_not_end_urepo() {
    use std::os::unix::process::CommandExt;
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    let press = "trap '' INT; kill -INT 0; kill -INT 0; kill -INT 0";
    let script = format!("{press}\nsed -i 's/\"Letter\"/\"Letters\"/' \"$1\"");
    archive.world.write("editor", format!("#!/bin/sh\n{script}\n"));
    let mut command = archive.world.command(["-c", "archive", "meta", "edit", &archive.name]);
    command.env("VISUAL", "sh ./editor").process_group(0);
    let ran = archive.world.finish(command);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(archive.sidecar().metadata.title(), Some("Letters"));
}

#[test]
fn what_stays_as_it_is_changes_nothing() {
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    let before = archive.text();
    for script in ["true", "echo '# more' >> \"$1\"", ": > \"$1\"", "sed -i '/^[^#]/d' \"$1\""] {
        archive.edit(script, "").succeeded();
        assert_eq!(archive.text(), before, "{script}");
    }
    assert_eq!(archive.edit("exit 3", "").code, 1);
    assert_eq!(archive.text(), before);
    assert!(archive.kept().is_empty());
}

#[test]
fn what_was_saved_before_the_editor_failed_is_kept() {
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    let ran = archive.edit("sed -i 's/\"Letter\"/\"Letters\"/' \"$1\"; exit 3", "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("what was saved is kept"), "{}", ran.stderr);
    assert_eq!(archive.sidecar().metadata.title(), Some("Letter"));
    let [kept] = &archive.kept()[..] else { panic!("{:?}", archive.kept()) };
    let line = format!("-c archive meta edit {} --file {}", archive.name, kept.display());
    archive.world.run(&line).succeeded();
    assert_eq!(archive.sidecar().metadata.title(), Some("Letters"));
}

#[test]
fn a_bad_text_is_kept_and_can_be_corrected() {
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    let before = archive.text();
    let ran = archive.edit("sed -i 's/^title/titel/' \"$1\"", "");
    assert_eq!(ran.code, 1);
    for told in ["line ", "`titel` is not a term", "--file [WORLD]/tmp/"] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    assert_eq!(archive.text(), before);
    let [kept] = &archive.kept()[..] else { panic!("one text") };
    let text = fs::read_to_string(kept).unwrap().replace("titel = \"Letter\"", "title = \"Post\"");
    archive.world.write("corrected", text);
    let line = format!("-c archive meta edit {} --file corrected", archive.name);
    archive.world.run(&line).succeeded();
    assert_eq!(archive.sidecar().metadata.title(), Some("Post"));
    // The text was made of what the item is no more.
    assert_eq!(archive.world.run(&line).code, 23);
}

#[test]
fn a_change_meanwhile_is_noticed() {
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    let urepo = env!("CARGO_BIN_EXE_urepo");
    let rival = format!("{urepo} -c archive meta set {} creator=Rival", archive.name);
    let ran = archive.edit(&format!("sed -i 's/Letter/Post/' \"$1\"\n{rival}"), "");
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("was changed meanwhile"), "{}", ran.stderr);
    assert_eq!(archive.sidecar().metadata.title(), Some("Letter"));
    assert_eq!(archive.kept().len(), 1);
}

/// The date of the files is the same in both texts.
#[test]
fn a_text_of_an_earlier_state_is_refused() {
    let archive = Archive::new();
    archive.edit("cp \"$1\" earlier", "").succeeded();
    let line = format!("-c archive meta set {} creator=Rival", archive.name);
    archive.world.run(&line).succeeded();
    let line = format!("-c archive meta edit {} --file earlier", archive.name);
    let ran = archive.world.run(&line);
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("the text was made of"), "{}", ran.stderr);
    assert_eq!(archive.sidecar().metadata.values("creator").unwrap(), ["Rival"]);
}

#[test]
fn no_editor_is_started_for_a_copy() {
    let archive = Archive::new();
    change_item(&archive.world.path("archive"), &archive.name, |sidecar| {
        sidecar.state = State::Copy;
    });
    let ran = archive.edit("touch started", "");
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(!archive.world.path("started").exists());
}

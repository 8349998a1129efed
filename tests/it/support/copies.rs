//! Items in several collections, written by hand: no command is trusted to have made them.

use std::fs::{File, Metadata as FileMetadata};
use std::path::Path;

use crate::support::{add_lines, ledger_file, ledger_lines, line_with};
use urepo::custody::{Custody, CustodyId};
use urepo::identity::RepositoryName;
use urepo::item::{Entry, State, Totals};
use urepo::layout;
use urepo::sidecar::{Access, Metadata, Relations, Sidecar};

/// Copies an item from one root to another as a Copy, with whatever else `change` makes of its sidecar.
pub(crate) fn copy_item(from: &Path, to: &Path, name: &str, change: impl FnOnce(&mut Sidecar)) {
    let directory = item_directory(name);
    let (source, target) = (from.join(&directory), to.join(&directory));
    for entry in walkdir::WalkDir::new(&source) {
        let entry = entry.unwrap();
        let path = target.join(entry.path().strip_prefix(&source).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(path).unwrap();
        } else {
            std::fs::copy(entry.path(), path).unwrap();
        }
    }
    change_item(to, name, |sidecar| {
        sidecar.state = State::Copy;
        change(sidecar);
    });
}

/// Copies a directory with all that is in it, modes and times too. No other process does it: one that is
/// just starting has our locks.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    // Contents change the time of their directory.
    let mut directories = Vec::new();
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let path = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap();
            std::os::unix::fs::symlink(target, &path).unwrap();
            continue;
        }
        let metadata = entry.metadata().unwrap();
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&path).unwrap();
            directories.push((path, metadata));
        } else {
            let mut source = File::open(entry.path()).unwrap();
            let mut copy = File::create(&path).unwrap();
            std::io::copy(&mut source, &mut copy).unwrap();
            keep(&copy, &metadata);
        }
    }
    for (path, metadata) in directories.into_iter().rev() {
        keep(&File::open(path).unwrap(), &metadata);
    }
}

/// Gives a copy the mode and the time of its source.
fn keep(copy: &File, source: &FileMetadata) {
    copy.set_permissions(source.permissions()).unwrap();
    copy.set_modified(source.modified().unwrap()).unwrap();
}

/// Changes the sidecar of an item, and seals it.
pub(crate) fn change_item(root: &Path, name: &str, change: impl FnOnce(&mut Sidecar)) {
    let path = root.join(item_directory(name)).join(layout::SIDECAR);
    let (before, _) = Sidecar::read(&std::fs::read(&path).unwrap()).unwrap();
    let mut sidecar = before.clone();
    change(&mut sidecar);
    // Whoever makes it an Original or a Copy means a custody that says so.
    if sidecar.custody == before.custody {
        let settings = std::fs::read_to_string(root.join(layout::SETTINGS)).unwrap();
        let settings: toml::Table = settings.parse().unwrap();
        let own = settings["id"].as_str().unwrap();
        let is_own = before.custody.holder() == own;
        if sidecar.state == State::Original && !is_own {
            sidecar.custody = before.custody.passed_to(own, CustodyId::from(*b"promoted"));
        } else if sidecar.state == State::Copy && is_own {
            sidecar.custody = before.custody.passed_to("60cb", CustodyId::from(*b"migrated"));
        }
    }
    // Whoever changes the files means a sidecar that agrees with itself.
    if sidecar.files != before.files && sidecar.payload == before.payload {
        sidecar.payload = Totals::of(&sidecar.files);
    }
    std::fs::write(path, sidecar.to_text()).unwrap();
    record(root, name, &sidecar);
}

/// Adds the line of an item with this sidecar to the ledger, if there is one and no line is as high: a command would have
/// written it.
pub(crate) fn record(root: &Path, name: &str, sidecar: &Sidecar) {
    if !ledger_file(root).exists() {
        return;
    }
    let custody = &sidecar.custody;
    let rank =
        (custody.epoch(), sidecar.changed(), custody.holder().to_owned(), custody.id().to_string());
    let is_as_high = |line: &String| {
        // Most lines are about others: they need no reading, where a test makes a thousand items.
        if !line.contains(name) {
            return false;
        }
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let Some(holding) = line.get("holding").filter(|_| line["id"] == name) else {
            return false;
        };
        let text = |key: &str| holding[key].as_str().unwrap_or_default().to_owned();
        let Ok(changed) = text("changed").parse() else { return false };
        (holding["epoch"].as_u64().unwrap_or(0), changed, text("holder"), text("id")) >= rank
    };
    if !ledger_lines(root).iter().any(is_as_high) {
        add_lines(root, &[line_of("ingestion", name, sidecar)]);
    }
}

/// The line of an item with this sidecar.
pub(crate) fn line_of(event: &str, name: &str, sidecar: &Sidecar) -> String {
    let custody = &sidecar.custody;
    let holding = serde_json::json!({
        "state": sidecar.state.to_string(), "epoch": custody.epoch(), "id": custody.id().to_string(),
        "changed": sidecar.changed().to_string(), "holder": custody.holder(),
    });
    line_with(event, name, Some(holding))
}

/// Leaves a stub of an item, as a migration does.
pub(crate) fn send_away(root: &Path, name: &str) {
    let item = root.join(item_directory(name));
    let (before, _) = Sidecar::read(&std::fs::read(item.join(layout::SIDECAR)).unwrap()).unwrap();
    let custody = before.custody.passed_to("60cb73fd", CustodyId::from(*b"received"));
    let holding = serde_json::json!({
        "state": "Elsewhere", "epoch": custody.epoch(), "id": custody.id().to_string(),
        "changed": before.timestamp.to_string(), "holder": "60cb73fd",
    });
    add_lines(root, &[line_with("transfer", name, Some(holding))]);
    let stub = Sidecar {
        state: State::Elsewhere,
        custody,
        target: None,
        files: Vec::new().into(),
        payload: Totals::of(&[]),
        ..before
    };
    std::fs::remove_dir_all(item.join(layout::PAYLOAD)).unwrap();
    std::fs::write(item.join(layout::SIDECAR), stub.to_text()).unwrap();
}

/// The sidecar of an Original of `files`, without a description.
pub(crate) fn original(name: RepositoryName, files: Vec<Entry>) -> Sidecar {
    Sidecar {
        state: State::Original,
        created: name.instant(),
        timestamp: name.instant(),
        described: None,
        repository: name,
        ibip: None,
        target: None,
        transferable: true,
        access: Access::default(),
        custody: Custody::first(CustodyId::from([1; 8]), "60cb"),
        metadata: Metadata::default(),
        relations: Relations::default(),
        origin: toml::Table::new(),
        removal: None,
        payload: Totals::of(&files),
        files: files.into(),
    }
}

/// Adds text to the end of a file.
pub(crate) fn append(path: &Path, text: &str) {
    let mut all = std::fs::read_to_string(path).unwrap();
    all.push_str(text);
    std::fs::write(path, all).unwrap();
}

fn item_directory(name: &str) -> std::path::PathBuf {
    layout::item_directory(&name.parse::<RepositoryName>().unwrap())
}

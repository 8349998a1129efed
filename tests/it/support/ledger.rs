//! Ledgers that are not as urepo left them.

use std::path::{Path, PathBuf};

use serde_json::json;
use urepo::digest::Digest;

/// The first file of a ledger.
pub(crate) fn ledger_file(root: &Path) -> PathBuf {
    root.join(".urepo/ledger/000001.jsonl")
}

/// A line with a sum, as `docs/format.md` has it, after the line with the sum `before`.
fn chained(before: &str, line: &str) -> (String, String) {
    let open = line.strip_suffix('}').unwrap();
    let sum = Digest::of(format!("{before}\n{open}").as_bytes()).to_string()[..32].to_owned();
    (format!("{open},\"sum\":\"{sum}\"}}\n"), sum)
}

/// Adds lines without a sum to the end of a ledger.
pub(crate) fn add_lines(root: &Path, lines: &[String]) {
    let text = std::fs::read_to_string(ledger_file(root)).unwrap();
    let mut sum = text.trim_end().rsplit('"').nth(1).unwrap().to_owned();
    let mut added = String::new();
    for line in lines {
        let (text, next) = chained(&sum, line);
        added.push_str(&text);
        sum = next;
    }
    std::fs::write(ledger_file(root), text + &added).unwrap();
}

/// The lines about items, without their sums.
pub(crate) fn ledger_lines(root: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(ledger_file(root)).unwrap();
    let bare = |line: &str| format!("{}}}", line.rsplit_once(",\"sum\"").unwrap().0);
    text.lines().skip(1).map(bare).collect()
}

/// Replaces the lines of a ledger, as if they had been written in this way.
pub(crate) fn write_ledger(root: &Path, lines: &[String]) {
    let text = std::fs::read_to_string(ledger_file(root)).unwrap();
    std::fs::write(ledger_file(root), text.split_inclusive('\n').next().unwrap()).unwrap();
    add_lines(root, lines);
    forget_head(root);
}

/// Takes from the machine what it remembers of the ledgers beside this collection, as on a machine that has never written them.
pub(crate) fn forget_head(root: &Path) {
    for entry in std::fs::read_dir(root.with_file_name(".state")).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("ledger-") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// Takes the lines about an item out of a ledger, as if the item had never been recorded.
pub(crate) fn forget(root: &Path, name: &str) {
    let mut lines = ledger_lines(root);
    lines.retain(|line| !line.contains(&format!("\"id\":\"{name}\"")));
    write_ledger(root, &lines);
}

/// A line about the item `name`: an event, and the state of the holding that has a custody below any other.
pub(crate) fn ledger_line(event: &str, name: &str, state: Option<&str>) -> String {
    let holding = state.map(|state| {
        json!({
            "state": state, "epoch": 1, "id": "00000000000000aa", "changed": "1990-01-01T00:00:00Z", "holder": "0",
        })
    });
    line_with(event, name, holding)
}

/// The same with a holding, or with none.
pub(crate) fn line_with(event: &str, name: &str, holding: Option<serde_json::Value>) -> String {
    let mut line = json!({
        "date": "2026-11-23T10:00:00Z", "event": event, "id": name, "command": "urepo test", "machine": "vault",
        "process": 7,
    });
    if let Some(holding) = holding {
        line["holding"] = holding;
    }
    line.to_string()
}

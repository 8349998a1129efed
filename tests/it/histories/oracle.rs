//! What lies on the disk, read without the engines, and what may never be seen there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What one collection has of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holding {
    /// `Original`, `Copy`, `Elsewhere`, `Deleted`, or nothing where there is no sidecar.
    pub(super) state: String,
    /// The changes of its description.
    pub(super) edits: Edits,
    /// Whether the payload is the deposited one, to the last byte.
    pub(super) whole: bool,
    pub(super) payload: bool,
    pub(super) ceded: bool,
}

/// The changes of an item that were acknowledged; 0 is its payload.
pub(super) type Edits = BTreeSet<usize>;

impl Holding {
    /// What is in the directory of the item `name`, whose payload is `bytes`.
    pub(super) fn read(root: &Path, name: &str, bytes: &[u8]) -> Option<Holding> {
        let directory = root.join(name);
        directory.symlink_metadata().ok()?;
        let text = fs::read_to_string(directory.join("item.toml")).unwrap_or_default();
        let file = fs::read(directory.join("doc/letter.txt")).ok();
        Some(Holding {
            state: value(&text, "state").unwrap_or_default(),
            edits: edits(&text),
            whole: file.as_deref() == Some(bytes),
            payload: file.is_some(),
            ceded: value(&text, "ceded").is_some(),
        })
    }

    pub(super) fn is_original(&self) -> bool {
        self.state == "Original"
    }

    /// The edits that it keeps together with the payload.
    pub(super) fn living(&self) -> Edits {
        if !self.whole || !matches!(&*self.state, "Original" | "Copy") {
            return Edits::new();
        }
        self.named()
    }

    /// The edits that its sidecar names, with the payload, whatever is left of that.
    pub(super) fn named(&self) -> Edits {
        self.edits.iter().copied().chain([0]).collect()
    }
}

/// Whether the ledger names the item: a run that was killed before it acknowledged the item may have left no line, or the
/// beginning of one, which was never relied on.
pub(super) fn is_recorded(root: &Path, name: &str) -> bool {
    let id = format!("\"id\":\"{name}\"");
    let files = fs::read_dir(root.join(".urepo/ledger")).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.filter_map(|text| Some(text[..text.rfind('\n')?].contains(&id))).any(|is_named| is_named)
}

fn value(text: &str, key: &str) -> Option<String> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
    Some(rest.trim_matches('"').to_owned())
}

/// The edits that a sidecar names: creators `edit-7`.
fn edits(text: &str) -> Edits {
    let numbers = text.split("\"edit-").skip(1);
    numbers.filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
}

/// What the trash of a collection keeps of the item `name`, whose payload is `bytes`.
pub(super) fn trashed(root: &Path, name: &str, bytes: &[u8]) -> Edits {
    let mut kept = Edits::new();
    // A purge has begun to remove what is condemned.
    let trash = walkdir::WalkDir::new(root.join(".urepo/trash")).into_iter();
    for entry in
        trash.filter_entry(|it| !it.file_name().to_string_lossy().ends_with(".purge")).flatten()
    {
        let Ok(found) = fs::read(entry.path()) else { continue };
        if found == bytes {
            kept.insert(0);
        } else if entry.file_name() == "item.toml" {
            let text = String::from_utf8_lossy(&found);
            if value(&text, "repository").as_deref() == Some(name) {
                kept.extend(edits(&text));
            }
        }
    }
    kept
}

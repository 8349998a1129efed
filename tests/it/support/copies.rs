//! Items in several collections, written by hand: no command is trusted to have made them.

use std::path::Path;

use urepo::identity::RepositoryName;
use urepo::item::{State, Totals};
use urepo::layout;
use urepo::sidecar::Sidecar;

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
    let settings = std::fs::read_to_string(from.join(layout::SETTINGS)).unwrap();
    let settings: toml::Table = settings.parse().unwrap();
    change_item(to, name, |sidecar| {
        sidecar.state = State::Copy;
        sidecar.origin.insert("collection".to_owned(), settings["id"].clone());
        change(sidecar);
    });
}

/// Changes the sidecar of an item, and seals it.
pub(crate) fn change_item(root: &Path, name: &str, change: impl FnOnce(&mut Sidecar)) {
    let path = root.join(item_directory(name)).join(layout::SIDECAR);
    let (before, _) = Sidecar::read(&std::fs::read(&path).unwrap()).unwrap();
    let mut sidecar = before.clone();
    change(&mut sidecar);
    // Whoever changes the files means a sidecar that agrees with itself.
    if sidecar.files != before.files && sidecar.payload == before.payload {
        sidecar.payload = Totals::of(&sidecar.files);
    }
    std::fs::write(path, sidecar.to_text()).unwrap();
}

fn item_directory(name: &str) -> std::path::PathBuf {
    layout::item_directory(&name.parse::<RepositoryName>().unwrap())
}

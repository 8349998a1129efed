//! Several collections at once, and rounds over one: what is told, what is skipped, what is kept.

mod agreeing;
mod comparing;
mod relations;
mod rounds;

use std::path::{Path, PathBuf};

use urepo::collection::{Collection, Subsystem};
use urepo::custody::{Custody, CustodyId};
use urepo::digest::Digest;
use urepo::disk::Watcher;
use urepo::identity::{Instant, RepositoryName, SECOND};
use urepo::item::{Content, Entry, PayloadPath, State};
use urepo::sidecar::Sidecar;

use crate::support::{init, original, record, scratch};

const NAME: &str = "example.org/archive/2026/11.21.02.13";

/// Roots side by side.
struct Roots {
    scratch: tempfile::TempDir,
    names: Vec<&'static str>,
}

impl Roots {
    fn new<const N: usize>(names: [&'static str; N]) -> Roots {
        let roots = Roots { scratch: scratch(), names: names.to_vec() };
        for name in names {
            let subsystem = Subsystem::new("archive.example.org".parse().unwrap());
            let watcher = Watcher::default();
            init(&roots.path(name), name, subsystem, &watcher).unwrap();
        }
        roots
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.scratch.path().join(relative)
    }

    fn open(&self) -> Vec<Collection> {
        let names = self.names.iter();
        names.map(|name| Collection::open(&self.path(name), &Watcher::default()).unwrap()).collect()
    }

    fn id(&self, root: &str) -> String {
        Collection::open(&self.path(root), &Watcher::default()).unwrap().settings().id.clone()
    }

    /// An item of one file with the bytes `content`, in `root`.
    fn item(&self, root: &str, name: &str, content: &str, change: impl FnOnce(&mut Sidecar)) {
        write_item(&self.path(root), name, content, change);
    }

    fn original(&self, root: &str) {
        self.item(root, NAME, "content", |_| {});
    }

    fn copy(&self, root: &str) {
        self.item(root, NAME, "content", |sidecar| sidecar.state = State::Copy);
    }
}

fn write_item(root: &Path, name: &str, content: &str, change: impl FnOnce(&mut Sidecar)) {
    let dir = root.join(name);
    let file = dir.join("doc/a.txt");
    std::fs::create_dir_all(dir.join("doc")).unwrap();
    std::fs::write(&file, content).unwrap();
    let modified = Instant::from_nanoseconds(1_763_691_185 * SECOND);
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_763_691_185);
    std::fs::File::open(&file).unwrap().set_modified(time).unwrap();
    let metadata = std::fs::metadata(&file).unwrap();
    let mode = std::os::unix::fs::MetadataExt::mode(&metadata) & 0o777;
    let bytes = content.len() as u64;
    let digest = Digest::of(content.as_bytes());
    let path = PayloadPath::new(Path::new("a.txt")).unwrap();
    let files = vec![Entry { path, content: Content::File { bytes, digest, modified, mode } }];
    let (repository, _) = RepositoryName::parse_as_found(name).unwrap();
    let mut sidecar = original(repository, files);
    change(&mut sidecar);
    if sidecar.custody.holder() == "60cb" {
        sidecar.custody = custody_at(root, name, sidecar.state);
    }
    if sidecar.state == State::Deleted {
        std::fs::remove_dir_all(dir.join("doc")).unwrap();
    }
    std::fs::write(dir.join("item.toml"), sidecar.to_text()).unwrap();
    record(root, name, &sidecar);
}

/// The custody of an Original in `root`, or of a Copy of the Original in another root beside it.
fn custody_at(root: &Path, name: &str, state: State) -> Custody {
    let id = CustodyId::from([1; 8]);
    if state == State::Original {
        let own = Collection::open(root, &Watcher::default()).unwrap();
        return Custody::first(id, own.id());
    }
    let siblings = std::fs::read_dir(root.parent().unwrap()).unwrap();
    let mut originals = siblings.filter_map(|sibling| {
        let text = std::fs::read(sibling.unwrap().path().join(name).join("item.toml")).ok()?;
        let sidecar = Sidecar::read(&text).ok()?.0;
        (sidecar.state == State::Original).then_some(sidecar.custody)
    });
    originals.next().unwrap_or_else(|| Custody::first(id, "60cb"))
}

fn hour(hour: i64) -> Instant {
    Instant::from_seconds(1_790_000_000 + 3600 * hour)
}

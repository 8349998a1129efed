//! The parts of a payload that an export writes: its entries, except links in a bag.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::source::{SoundItem, SourceFile};
use super::{BagLinks, ExportError};
use crate::disk::{FileStat, Kind};
use crate::identity::Instant;
use crate::item::{Content, Entry, PayloadPath, directories, position};

/// Limit on the links between a link and its target; more form a circle.
const MOST_LINKS: usize = 40;

/// An entry to write. It is small, because an item may have millions.
pub(super) enum Part<'a> {
    Directory(Box<FileStat>),
    /// The file of this entry.
    File(&'a Entry),
    Link {
        target: &'a [u8],
        stamp: Box<FileStat>,
    },
}

/// The parts of a payload, sorted by their paths: each directory before its entries.
pub(super) struct Parts<'a> {
    pub entries: Vec<(&'a Path, Part<'a>)>,
    /// The only part is written as the item itself, not as a directory that contains it.
    pub is_bare: bool,
    pub lost: Lost,
}

/// When the existence and size of files is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckTime {
    /// Before anything is written: a stream cannot be taken back.
    First,
    /// When they are written.
    Later,
}

/// What the format of an export could not keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Links that were left out.
    pub links_skipped: u64,
    /// Links that were replaced by their targets.
    pub links_followed: u64,
    /// Empty directories, which the manifest of a bag cannot list, but its sidecar does.
    pub empty_directories: u64,
}

impl<'a> Parts<'a> {
    /// The unchanged payload.
    pub(super) fn whole(
        source: &'a SoundItem<'_>,
        check: CheckTime,
    ) -> Result<Parts<'a>, ExportError> {
        Parts::of(source, check, |entry, target| {
            let stamp = Box::new(source.link(&entry.path, target)?);
            Ok(Some(Part::Link { target, stamp }))
        })
    }

    /// The payload as a bag can hold it.
    pub(super) fn in_bag(
        source: &'a SoundItem<'_>,
        links: BagLinks,
        check: CheckTime,
    ) -> Result<Parts<'a>, ExportError> {
        let entries = &source.sidecar().files;
        let mut lost = Lost::default();
        for entry in entries {
            if std::str::from_utf8(entry.path.as_bytes()).is_err() {
                let (path, name) = (entry.path.clone(), source.name().clone());
                return Err(ExportError::NotUtf8 { path, name });
            }
            if let Content::EmptyDirectory { .. } = entry.content {
                lost.empty_directories += 1;
            }
        }
        let (mut skipped, mut followed) = (0, 0);
        let parts = Parts::of(source, check, |entry, target| match links {
            BagLinks::Refuse => {
                let (path, name) = (entry.path.clone(), source.name().clone());
                Err(ExportError::Link { path, name })
            }
            BagLinks::Skip => {
                skipped += 1;
                Ok(None)
            }
            BagLinks::Follow => {
                followed += 1;
                source.link(&entry.path, target)?;
                let found =
                    follow(entries, &entry.path, target).filter(|entry| file(entry).is_some());
                let astray = || ExportError::LinkAstray {
                    path: entry.path.clone(),
                    target: crate::item::escape(target).into_owned(),
                    name: source.name().clone(),
                };
                found.map(|entry| Some(Part::File(entry))).ok_or_else(astray)
            }
        })?;
        lost.links_skipped = skipped;
        lost.links_followed = followed;
        Ok(Parts { lost, ..parts })
    }

    fn of(
        source: &'a SoundItem<'_>,
        check: CheckTime,
        mut link: impl FnMut(&'a Entry, &'a [u8]) -> Result<Option<Part<'a>>, ExportError>,
    ) -> Result<Parts<'a>, ExportError> {
        let entries = &source.sidecar().files;
        let directories = directories(entries);
        let mut parts = Vec::with_capacity(directories.len() + entries.len());
        for directory in directories.into_iter().filter(|path| find(entries, path).is_none()) {
            let stamp = Box::new(source.directory(directory)?);
            parts.push((directory, Part::Directory(stamp)));
        }
        for entry in entries {
            let part = match &entry.content {
                Content::Link { target } => link(entry, target)?,
                Content::File { .. } => Some(Part::File(entry)),
                Content::EmptyDirectory { modified, mode } => {
                    let stamp = source.directory(entry.path.as_path())?;
                    let stamp = FileStat { modified: *modified, mode: *mode, ..stamp };
                    Some(Part::Directory(Box::new(stamp)))
                }
            };
            if let Some(part) = part {
                if check == CheckTime::First
                    && let Some(file) = part.file()
                {
                    source.look_at(&file)?;
                }
                parts.push((entry.path.as_path(), part));
            }
        }
        parts.sort_unstable_by_key(|(path, _)| path.as_os_str().as_bytes());
        Ok(Parts { entries: parts, is_bare: false, lost: Lost::default() })
    }

    /// Whether the payload is one file or link called `name`, as after a deposit of a single file.
    pub(super) fn is_only(&self, name: &Path) -> bool {
        matches!(&self.entries[..], [(path, Part::File(_) | Part::Link { .. })] if *path == name)
    }

    /// The files and their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'a Path, SourceFile<'a>)> + Clone {
        self.entries.iter().filter_map(|(path, part)| Some((*path, part.file()?)))
    }

    /// The number of files, and their bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        self.files().fold((0, 0), |(files, bytes), (_, file)| (files + 1, bytes + file.bytes))
    }

    /// The number of inodes needed.
    pub(super) fn count(&self) -> u64 {
        self.entries.len() as u64
    }
}

fn file(entry: &Entry) -> Option<SourceFile<'_>> {
    let Content::File { bytes, digest, modified, mode } = entry.content else { return None };
    Some(SourceFile { from: &entry.path, bytes, digest, modified, mode })
}

/// The entry that a link leads to, through other links and never out of the payload. The disk is not
/// consulted: the entries describe the whole payload.
fn follow<'a>(entries: &'a [Entry], link: &PayloadPath, target: &[u8]) -> Option<&'a Entry> {
    let above = link.as_path().parent().unwrap_or(Path::new(""));
    let mut rest = above.join(std::ffi::OsStr::from_bytes(target));
    let mut place = PathBuf::new();
    for _ in 0..MOST_LINKS {
        let mut components = rest.components();
        let mut met = None;
        while let Some(component) = components.next() {
            match component {
                Component::Normal(name) => place.push(name),
                Component::CurDir => continue,
                Component::ParentDir if place.pop() => continue,
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
            if let Some(Entry { content: Content::Link { target }, .. }) = find(entries, &place) {
                met = Some((target, components.as_path().to_path_buf()));
                break;
            }
        }
        let Some((target, after)) = met else { return find(entries, &place) };
        place.pop();
        rest = Path::new(std::ffi::OsStr::from_bytes(target)).join(after);
    }
    None
}

fn find<'a>(entries: &'a [Entry], path: &Path) -> Option<&'a Entry> {
    position(entries, path).map(|at| &entries[at])
}

impl<'a> Part<'a> {
    /// The file.
    pub(super) fn file(&self) -> Option<SourceFile<'a>> {
        match self {
            Part::File(entry) => file(entry),
            Part::Directory(_) | Part::Link { .. } => None,
        }
    }
}

impl Part<'_> {
    /// An additional directory.
    pub(super) fn directory(mode: u32, modified: Instant) -> FileStat {
        super::sink::stat_of(Kind::Directory, 0, mode, modified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    fn entry(path: &str, target: Option<&str>) -> Entry {
        let content = match target {
            Some(target) => Content::Link { target: target.as_bytes().to_vec() },
            None => Content::File {
                bytes: 0,
                digest: Digest::of(b""),
                modified: Instant::from_seconds(0),
                mode: 0o644,
            },
        };
        Entry { path: PayloadPath::from_text(path).unwrap(), content }
    }

    #[test]
    fn links_are_followed_in_the_payload_only() {
        let mut entries = [
            ("a", None),
            ("d/b", None),
            ("d/up", Some("../a")),
            ("dir", Some("d")),
            ("far", Some("dir/up")),
            ("loop", Some("loop")),
            ("out", Some("../../etc/passwd")),
            ("root", Some("/a")),
            ("back", Some("d/../a")),
            ("gone", Some("nothing")),
        ]
        .map(|(path, target)| entry(path, target));
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        for (link, leads_to) in [
            ("d/up", Some("a")),
            ("far", Some("a")),
            ("back", Some("a")),
            ("dir", None),
            ("loop", None),
            ("out", None),
            ("root", None),
            ("gone", None),
        ] {
            let link = PayloadPath::from_text(link).unwrap();
            let Content::Link { target } = &find(&entries, link.as_path()).unwrap().content else {
                panic!("{link}")
            };
            let found = follow(&entries, &link, target).map(|entry| entry.path.to_string());
            assert_eq!(found.as_deref(), leads_to, "{link}");
        }
    }
}

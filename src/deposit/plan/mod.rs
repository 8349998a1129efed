//! The plan of a deposit, made before a byte is copied.

mod listing;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::link::{LinkFault, RefusedLink, RefusedLinks};
use super::place::DepositTarget;
use super::root::{RootKind, SourceRoot};
use super::{Checks, CollisionRule, DepositError, Options, Request, Source, SourcePlace};
use crate::disk::{
    BrokenLink, Exclusion, ExclusionRule, Kind, Links, PathError, SourceWalk, resolved,
};
use crate::flow::Footprint;
use crate::item::{PayloadPath, twins};
use crate::progress::Progress;

/// The plan of an item.
#[derive(Debug, Default)]
pub struct Plan {
    /// Files, links and directories, sorted by path.
    pub entries: Vec<Planned>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Other entries of the source.
    pub left_out: Vec<LeftOut>,
    pub(super) roots: Vec<SourceRoot>,
}

/// An entry of a source that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path as it would be, relative to `doc/`.
    pub path: PayloadPath,
    /// Why it is left out.
    pub rule: ExclusionRule,
}

/// The sources of the files of an item, for their removal.
#[derive(Debug)]
pub(super) struct Sources {
    pub roots: Vec<SourceRoot>,
    /// Whether the source is one directory, which becomes `doc` itself.
    pub is_one_directory: bool,
}

/// A planned entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its path, relative to `doc/`.
    pub path: PayloadPath,
    /// Its kind.
    pub kind: PlannedKind,
    /// Its root, by number.
    pub(super) root: usize,
    /// The offset in `path` of the part below that root: a plan of many entries holds each path once.
    below: usize,
}

impl Planned {
    /// Its path below its root; empty for the root itself.
    pub(super) fn relative(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.path.as_bytes().get(self.below..).unwrap_or_default()))
    }
}

/// The kind of a planned entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedKind {
    /// A file, with its size in bytes at the time of planning.
    File {
        /// Its size.
        bytes: u64,
    },
    /// A link that says so.
    Link {
        /// The target of the link.
        target: Vec<u8>,
    },
    /// A directory.
    Directory {
        /// Whether it is empty.
        empty: bool,
    },
}

/// The rules for the entries of a plan.
struct Planning<'a> {
    options: &'a Options,
    exclusion: &'a Exclusion,
    place: &'a DepositTarget<'a>,
    progress: &'a dyn Progress,
}

impl Plan {
    /// Inspects the source of `request` and plans the item, if it can be published.
    ///
    /// `progress` receives each file.
    pub fn of_request(
        request: &Request,
        options: &Options,
        place: &DepositTarget<'_>,
        progress: &dyn Progress,
    ) -> Result<Plan, DepositError> {
        place.check_reach(request.given.label.as_ref())?;
        let plan = Plan::of(request, options, place, progress)?;
        plan.check(&request.given.checks)?;
        Ok(plan)
    }

    /// Makes sure that the files are exactly those in `checks`.
    fn check(&self, checks: &Checks) -> Result<(), DepositError> {
        let Some(files) = &checks.files else { return Ok(()) };
        let is_file = |path: &PayloadPath| {
            let found = self.entries.binary_search_by(|entry| entry.path.cmp(path));
            found.is_ok_and(|at| matches!(self.entries[at].kind, PlannedKind::File { .. }))
        };
        let Some(path) = files.keys().find(|path| !is_file(path)) else { return Ok(()) };
        let is_link = self
            .entries
            .iter()
            .any(|entry| entry.path == *path && matches!(entry.kind, PlannedKind::Link { .. }));
        let path = path.clone();
        Err(if is_link {
            DepositError::ListedLink { path }
        } else {
            DepositError::NotThere { path }
        })
    }

    /// Inspects the source of `request` and plans the item.
    ///
    /// A stream has no plan: its content is known only at its end.
    fn of(
        request: &Request,
        options: &Options,
        place: &DepositTarget<'_>,
        progress: &dyn Progress,
    ) -> Result<Plan, DepositError> {
        let mut plan = Plan::default();
        let with = &Planning { options, exclusion: &request.given.exclusion, place, progress };
        let path = match &request.source {
            Source::Stream { .. } => return Ok(plan),
            Source::At(place) => {
                plan.add(place, None, with)?;
                place.path()
            }
            Source::Together(paths) => {
                let mut names = HashSet::new();
                for path in paths {
                    let name = own_name(path)?;
                    if !names.insert(name.to_owned()) {
                        return Err(DepositError::SameName { name: name.display().to_string() });
                    }
                    plan.add(&SourcePlace::Path(path.clone()), Some(name), with)?;
                }
                paths.first().cloned().unwrap_or_default()
            }
        };
        plan.finish();
        plan.check_sidecar(&path)?;
        plan.check_twins(&path, options.twins)?;
        plan.check_target(&path, request.target.as_ref())?;
        place.check_room(&path, Footprint::of_item(plan.bytes, plan.entries.len()))?;
        if plan.entries.is_empty() {
            return Err(match plan.left_out.len() {
                0 => DepositError::Nothing { path },
                entries => DepositError::AllLeftOut { path, entries },
            });
        }
        Ok(plan)
    }

    /// Adds a file or directory: under `name`, or a directory's content right below `doc/`.
    fn add(
        &mut self,
        source: &SourcePlace,
        name: Option<&OsStr>,
        with: &Planning<'_>,
    ) -> Result<(), DepositError> {
        let Planning { options, exclusion, place, progress } = *with;
        let path = &source.path();
        let root_of = |kind| SourceRoot { place: source.clone(), links: options.links, kind };
        place.check_apart(path, options.links, options.sources)?;
        let root = self.roots.len();
        let stamp = source.stat(options.links)?;
        match stamp.kind {
            Kind::Directory => {
                // Before the walk: a source without room need not be inspected further. Its exclusions, if
                // any, may make it smaller.
                if !exclusion.may_leave_out() {
                    place.check_room(path, Footprint::new(source.bytes()?, 0))?;
                }
                let walk = source.walk(options.links, &place.collection.watcher())?;
                if let Some(name) = name {
                    let kind = PlannedKind::Directory { empty: true };
                    self.push_root(name, kind, root);
                }
                self.add_tree(&walk, name, root, with)?;
                self.roots.push(root_of(RootKind::Directory));
            }
            Kind::File => {
                let kind = PlannedKind::File { bytes: stamp.bytes };
                progress.expect_files(1);
                self.push_root(own_name(path)?, kind, root);
                self.roots.push(root_of(RootKind::File));
            }
            Kind::Link => {
                let (above, name) = source.parent(&place.collection.watcher())?;
                let is_absent = |error: PathError| error.kind() == std::io::ErrorKind::NotFound;
                let dangles = resolved(path).is_err_and(is_absent);
                let dangles = dangles.then(|| above.read_link(&name)).transpose()?;
                let (path, dangles) = (path.clone(), dangles.map(PathBuf::from));
                return Err(DepositError::Link { path, dangles });
            }
            Kind::Special(kind) => {
                return Err(DepositError::Special { kind, path: path.clone() });
            }
        }
        Ok(())
    }

    fn add_tree(
        &mut self,
        walk: &SourceWalk,
        name: Option<&OsStr>,
        root: usize,
        with: &Planning<'_>,
    ) -> Result<(), DepositError> {
        let Planning { options, exclusion, progress, .. } = *with;
        let below = name.map_or(0, |name| name.len() + "/".len());
        let source = walk.root().path().to_path_buf();
        let mut refused = RefusedLinks { source, ..RefusedLinks::default() };
        for entry in walk.entries(exclusion) {
            let entry = entry?;
            let full = || walk.root().path_of(&entry.relative);
            let path = payload_path(&Path::new(name.unwrap_or_default()).join(&entry.relative));
            if let Some(rule) = entry.left_out {
                self.left_out.push(LeftOut { path, rule });
                continue;
            }
            let kind = match entry.kind {
                Kind::File => {
                    progress.expect_files(1);
                    PlannedKind::File { bytes: entry.bytes }
                }
                Kind::Directory => PlannedKind::Directory { empty: true },
                Kind::Link => {
                    let target = walk.read_link(&entry.relative)?.into_vec();
                    let fault = match (options.links, entry.broken) {
                        (Links::Refuse, _) => Some(LinkFault::Refused),
                        (_, Some(BrokenLink::Dangling)) => Some(LinkFault::Dangling),
                        (_, Some(BrokenLink::Loop)) => Some(LinkFault::Loop),
                        (Links::AsIs, _) => None,
                        _ => {
                            (!path.link_stays_inside(&target)).then(|| LinkFault::leaving(&full()))
                        }
                    };
                    if let Some(fault) = fault {
                        let target = OsStr::from_bytes(&target).display().to_string();
                        refused.add(RefusedLink { path: full(), target, fault });
                    }
                    PlannedKind::Link { target }
                }
                Kind::Special(kind) => return Err(DepositError::Special { kind, path: full() }),
            };
            self.push(Planned { path, kind, root, below });
        }
        if refused.count == 0 { Ok(()) } else { Err(DepositError::Links(refused)) }
    }

    /// Adds the entry of a root, under its own name.
    fn push_root(&mut self, name: &OsStr, kind: PlannedKind, root: usize) {
        let path = payload_path(Path::new(name));
        self.push(Planned { path, kind, root, below: name.len() });
    }

    fn push(&mut self, entry: Planned) {
        if let PlannedKind::File { bytes } = entry.kind {
            self.bytes += bytes;
        }
        self.entries.push(entry);
    }

    /// Sorts the entries and finds out which directories are empty.
    fn finish(&mut self) {
        self.entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.left_out.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let above: HashSet<PathBuf> = self
            .entries
            .iter()
            .filter_map(|entry| entry.path.parents().next().map(Path::to_path_buf))
            .collect();
        for entry in &mut self.entries {
            if let PlannedKind::Directory { empty } = &mut entry.kind {
                *empty = !above.contains(entry.path.as_path());
            }
        }
    }

    fn check_twins(&self, source: &Path, rule: CollisionRule) -> Result<(), DepositError> {
        if rule == CollisionRule::Keep || self.entries.len() < 2 {
            return Ok(());
        }
        let paths = self.entries.iter().map(|planned| &planned.path);
        match twins::find(paths) {
            None => Ok(()),
            Some(twins::Twins { first, second }) => {
                Err(DepositError::Twins { first, second, source_path: source.to_path_buf() })
            }
        }
    }

    fn check_target(
        &self,
        source: &Path,
        target: Option<&PayloadPath>,
    ) -> Result<(), DepositError> {
        let Some(target) = target else { return Ok(()) };
        let found = self.entries.binary_search_by(|entry| entry.path.cmp(target));
        match found.map(|at| &self.entries[at].kind) {
            Ok(PlannedKind::File { .. } | PlannedKind::Link { .. }) => Ok(()),
            Ok(PlannedKind::Directory { .. }) | Err(_) => {
                Err(DepositError::NoTarget { target: target.clone(), path: source.to_path_buf() })
            }
        }
    }

    /// Whether the source is one directory, for which `doc` itself stands.
    pub(super) fn is_one_directory(&self) -> bool {
        matches!(self.roots.as_slice(), [SourceRoot { kind: RootKind::Directory, .. }])
            && !self.entries.iter().any(|entry| entry.relative().as_os_str().is_empty())
    }

    /// The sources of the files.
    pub(super) fn sources(&self) -> Sources {
        Sources { roots: self.roots.clone(), is_one_directory: self.is_one_directory() }
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry.kind, PlannedKind::File { .. })).count()
    }
}

/// The last name of a path, under which a source is kept.
fn own_name(path: &Path) -> Result<&OsStr, DepositError> {
    path.file_name().ok_or_else(|| DepositError::NoName { path: path.to_path_buf() })
}

fn payload_path(path: &Path) -> PayloadPath {
    PayloadPath::new(path).expect("because names of directory entries are neither empty nor dots")
}

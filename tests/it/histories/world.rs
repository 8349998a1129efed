//! Three collections, what people and machines do to them, and what each step must leave true.

mod cure;
mod judge;

pub(super) use cure::Named;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::agent::Agent;
use urepo::collection::Subsystem;
use urepo::disk::Watcher;
use urepo::identity::RepositoryName;

use super::adapter::{self, Command, Ended};
use super::oracle::{Edits, Holding, is_recorded, trashed};
use super::script::{Deed, End, Item, Kill, Part, SITES, Site, Step};
use crate::support::{Faults, Mode, TestClock, agent, copy_tree, init, scratch};

const PAYLOADS: [&[u8]; 8] = [
    b"Dear all",
    b"Dear Ana",
    b"Dear Ben",
    b"Dear Cyd",
    b"Dear Dan",
    b"Dear Eva",
    b"Dear Flo",
    b"Dear Gus",
];

/// A promise that was broken.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    pub(super) promise: &'static str,
    pub(super) how: String,
}

fn broken<T>(promise: &'static str, how: impl Into<String>) -> Result<T, Broken> {
    Err(Broken { promise, how: how.into() })
}

struct Place {
    root: PathBuf,
    id: String,
    clock: TestClock,
    agent: Agent,
    is_mounted: bool,
    is_hidden: bool,
    backups: Vec<PathBuf>,
}

/// An item that was printed.
struct Known {
    name: RepositoryName,
    bytes: &'static [u8],
    /// What a person gave up: no holding has to have it.
    given_up: Edits,
    /// What a person gave up, trash and all.
    lost: Edits,
    /// What a person deleted with the Original: a travelling deletion may bury it.
    deleted: Edits,
    /// A person has put something back, or made a second Original: two lines may exist, and are reported.
    is_disturbed: bool,
}

/// What lies on all disks of one item.
#[derive(Clone, PartialEq, Eq)]
struct Sight {
    holdings: Vec<Option<Holding>>,
    /// Whether the ledger of each collection names the item.
    recorded: Vec<bool>,
    living: Edits,
    kept: Edits,
}

pub(super) struct World {
    scratch: tempfile::TempDir,
    places: Vec<Place>,
    items: Vec<Known>,
    printed: BTreeSet<String>,
    edits: usize,
    deposits: usize,
    /// A backup of records was put back: what they knew is not known.
    is_forgetful: bool,
    is_damaged: bool,
    /// How often commands were done, refused and killed.
    pub(super) tally: [usize; 3],
    pub(super) refusals: Vec<String>,
    /// How often another line of a remedy was typed than its command.
    pub(super) chosen: usize,
    /// Whether the kill of the last step came before its end.
    pub(super) struck: bool,
}

impl World {
    pub(super) fn new() -> World {
        let scratch = scratch();
        let make = |site: &Site| {
            let root = scratch.path().join(site.to_string());
            let host = format!("{}.example.org", site.to_string().to_lowercase());
            let subsystem = Subsystem::new(host.parse().unwrap());
            let made = init(&root, &site.to_string(), subsystem, &Watcher::default()).unwrap();
            let machine = format!("machine-{site}");
            Place {
                root,
                id: made.id().to_owned(),
                clock: TestClock::at("2027-01-21T02:13:00Z"),
                agent: Agent { machine, ..agent() },
                is_mounted: true,
                is_hidden: false,
                backups: Vec::new(),
            }
        };
        let places = SITES.iter().map(make).collect();
        World {
            scratch,
            places,
            items: Vec::new(),
            printed: BTreeSet::new(),
            edits: 0,
            deposits: 0,
            is_forgetful: false,
            is_damaged: false,
            tally: [0; 3],
            refusals: Vec::new(),
            chosen: 0,
            struck: false,
        }
    }

    fn place(&self, site: Site) -> &Place {
        &self.places[site.0]
    }

    /// Where a collection is now.
    fn at(&self, site: Site) -> PathBuf {
        let place = self.place(site);
        if place.is_mounted { place.root.clone() } else { place.root.with_extension("away") }
    }

    fn look(&self, item: &Known) -> Sight {
        let (mut living, mut kept) = (Edits::new(), Edits::new());
        let (mut holdings, mut recorded) = (Vec::new(), Vec::new());
        for site in SITES {
            let root = self.at(site);
            let held = Holding::read(&root, item.name.as_str(), item.bytes);
            if let Some(held) = &held {
                living.extend(held.living());
                kept.extend(held.edits.iter().copied().chain(held.whole.then_some(0)));
            }
            kept.extend(trashed(&root, item.name.as_str(), item.bytes));
            holdings.push(held);
            recorded.push(is_recorded(&root, item.name.as_str()));
        }
        Sight { holdings, recorded, living, kept }
    }

    /// Performs a step, and judges what it leaves.
    pub(super) fn step(&mut self, step: Step) -> Result<(), Broken> {
        self.struck = false;
        let before: Vec<_> = self.items.iter().map(|item| self.look(item)).collect();
        self.places.iter().for_each(|place| place.clock.jump(61_000));
        if self.is_by_hand(step.deed)? {
            return self.judge_hand(step.deed, &before);
        }
        let Some(ended) = self.command(step)? else { return Ok(()) };
        self.tally[if self.struck { 2 } else { usize::from(ended.is_err()) }] += 1;
        if let Err(reason) = &ended
            && !self.struck
        {
            self.refusals.push(format!(
                "{}: {}",
                step.deed,
                reason.chars().take(160).collect::<String>()
            ));
        }
        if std::env::var_os("HISTORY").is_some() {
            println!("{step}: {ended:?}");
        }
        self.judge(step.deed, &ended, &before)?;
        match (step.end, &ended) {
            (None, _) | (Some(End::Done), Ok(_)) | (Some(End::Refused), Err(_)) => Ok(()),
            (Some(_), Ok(_)) => broken("it is refused", step.to_string()),
            (Some(_), Err(reason)) => broken("it is done", reason.clone()),
        }
    }

    /// What people and machines do without the program.
    fn is_by_hand(&mut self, deed: Deed) -> Result<bool, Broken> {
        match deed {
            Deed::Backup(site) => {
                let place = self.place(site);
                let backup = self.scratch.path().join(format!("{site}-{}", place.backups.len()));
                copy_tree(&self.at(site), &backup);
                self.places[site.0].backups.push(backup);
            }
            Deed::PutBack(site, part, number) => {
                let backups = &self.place(site).backups;
                if backups.is_empty() {
                    return Ok(true);
                }
                let backup = backups[number % backups.len()].clone();
                self.replace(site, part, Some(&backup));
            }
            Deed::Lose(site, part) => self.replace(site, part, None),
            Deed::Rot(site, item) => {
                let Some(item) = self.items.get_mut(item.0) else { return Ok(true) };
                item.is_disturbed = true;
                let name = item.name.as_str().to_owned();
                let file = self.at(site).join(name).join("doc/letter.txt");
                let Ok(mut bytes) = fs::read(&file) else { return Ok(true) };
                bytes[0] ^= 1;
                // Not into a file that another collection shares by a hard link.
                fs::remove_file(&file).unwrap();
                fs::write(&file, bytes).unwrap();
                self.is_damaged = true;
            }
            Deed::Unmount(site) if self.place(site).is_mounted => {
                let root = &self.place(site).root;
                fs::rename(root, root.with_extension("away")).unwrap();
                self.places[site.0].is_mounted = false;
            }
            Deed::Mount(site) if !self.place(site).is_mounted => {
                let root = &self.place(site).root;
                fs::rename(root.with_extension("away"), root).unwrap();
                self.places[site.0].is_mounted = true;
            }
            Deed::Unmount(_) | Deed::Mount(_) => {}
            Deed::Hide(site) => self.places[site.0].is_hidden = true,
            Deed::Show(site) => self.places[site.0].is_hidden = false,
            Deed::Clock(site, by) => self.place(site).clock.jump(by),
            Deed::Verify(site, verdict) => self.expect(site, verdict)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Replaces a part of a collection by what a backup has of it, or takes it away.
    fn replace(&mut self, site: Site, part: Part, backup: Option<&Path>) {
        let root = self.at(site);
        let in_root = |root: &Path| -> Vec<PathBuf> {
            let found = fs::read_dir(root).unwrap();
            found.map(|entry| entry.unwrap().file_name().into()).collect()
        };
        let mut paths: Vec<PathBuf> = match part {
            Part::Root | Part::Tree => in_root(&root),
            Part::Item(item) => match self.items.get(item.0) {
                Some(item) => vec![item.name.as_str().into()],
                None => return,
            },
            part => adapter::files(part).iter().map(PathBuf::from).collect(),
        };
        if matches!(part, Part::Root | Part::Tree) {
            paths.extend(backup.map(in_root).unwrap_or_default());
        }
        if part == Part::Tree {
            paths.retain(|path| !path.starts_with(".urepo") && !path.starts_with("urepo.toml"));
        }
        for path in paths {
            let target = root.join(&path);
            if target.is_dir() {
                fs::remove_dir_all(&target).unwrap();
            } else if target.exists() {
                fs::remove_file(&target).unwrap();
            }
            let Some(source) = backup.map(|backup| backup.join(&path)) else { continue };
            if source.is_dir() {
                fs::create_dir_all(&target).unwrap();
                copy_tree(&source, &target);
            } else if source.exists() {
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::copy(&source, &target).unwrap();
            }
        }
        self.is_forgetful |= matches!(part, Part::Root | Part::Urepo | Part::Ledger);
        self.is_damaged |= !matches!(part, Part::Memory);
        for item in &mut self.items {
            item.is_disturbed |= part != Part::Memory;
        }
    }

    fn command_at(&self, site: Site, watcher: Watcher) -> Command<'_> {
        let is_other = |(at, place): &(usize, &Place)| *at != site.0 && !place.is_hidden;
        let others = self.places.iter().enumerate().filter(is_other);
        let seen = others.filter(|(_, place)| place.is_mounted);
        let place = self.place(site);
        Command {
            own: &place.root,
            others: seen.map(|(_, place)| &*place.root).collect(),
            agent: &place.agent,
            clock: &place.clock,
            watcher,
        }
    }

    /// Runs a command, if its collections and its item are there.
    fn command(&mut self, step: Step) -> Result<Option<Ended<Option<String>>>, Broken> {
        let (site, other, item) = parts(step.deed);
        if !self.place(site).is_mounted || other.is_some_and(|it| !self.place(it).is_mounted) {
            return Ok(None);
        }
        let name = match item.map(|item| self.items.get(item.0)) {
            Some(Some(item)) => Some(item.name.clone()),
            Some(None) => return Ok(None),
            None => None,
        };
        let at = match step.kill {
            Kill::Never | Kill::Anywhere => usize::MAX,
            Kill::At(at) => at,
        };
        self.edits += 1;
        self.deposits += usize::from(matches!(step.deed, Deed::New(_)));
        let faults = Arc::new(Faults::new(self.scratch.path(), at, Mode::Killed).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let command = self.command_at(site, watcher);
        let bytes = PAYLOADS[self.deposits % PAYLOADS.len()];
        let (edit, name) = (format!("edit-{}", self.edits), name.as_ref());
        let to = || &*self.place(other.unwrap()).root;
        let is_meta = matches!(step.deed, Deed::Meta(..));
        let is_refused = is_meta && name.is_some_and(|name| command.stands_against(name));
        let act = || match step.deed {
            Deed::New(_) => command.new_item(bytes).map(Some),
            Deed::Mint(_) => command.mint().map(Some),
            deed => act(&command, deed, name, to, &edit, self).map(|()| None),
        };
        let ended = catch_unwind(AssertUnwindSafe(act)).or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            broken("no panic", text.unwrap_or_else(|| "a panic".to_owned()))
        })?;
        if is_refused && ended.is_ok() {
            return broken("a newer state in sight stops a change", step.to_string());
        }
        self.struck = faults.struck().is_some();
        Ok(Some(ended))
    }
}

fn act<'p>(
    command: &Command<'_>,
    deed: Deed,
    name: Option<&RepositoryName>,
    to: impl Fn() -> &'p Path,
    edit: &str,
    world: &World,
) -> Ended {
    match (deed, name) {
        (Deed::Meta(..), Some(name)) => command.meta(name, edit),
        (Deed::Copy(..), Some(_)) => command.copy(to(), name),
        (Deed::Mirror(..), _) => command.copy(to(), None),
        (Deed::Migrate(_, _, _, leaves), Some(name)) => command.migrate(to(), name, leaves),
        (Deed::Delete(..), Some(name)) => command.delete(name),
        (Deed::Restore(..), Some(name)) => command.restore(name),
        (Deed::Purge(_), _) => command.purge(),
        (Deed::Promote(_, _, lost), Some(name)) => command.promote(name, &world.place(lost).id),
        (Deed::Recover(_), _) => command.recover(false),
        (Deed::RecoverRestored(_), _) => command.recover(true),
        (Deed::Repair(..), Some(name)) => command.repair(name, to()),
        (deed, _) => panic!("`{deed}` is no command"),
    }
}

/// The collection whose machine runs a command, the other one, and the item.
fn parts(deed: Deed) -> (Site, Option<Site>, Option<Item>) {
    match deed {
        Deed::Meta(at, item) | Deed::Delete(at, item) | Deed::Restore(at, item) => {
            (at, None, Some(item))
        }
        Deed::Copy(from, to, item) | Deed::Migrate(from, to, item, _) => {
            (from, Some(to), Some(item))
        }
        Deed::Mirror(from, to) => (from, Some(to), None),
        Deed::Repair(at, item, from) => (at, Some(from), Some(item)),
        Deed::Promote(at, item, _) | Deed::Rot(at, item) => (at, None, Some(item)),
        Deed::New(at)
        | Deed::Mint(at)
        | Deed::Purge(at)
        | Deed::Recover(at)
        | Deed::RecoverRestored(at)
        | Deed::Backup(at)
        | Deed::PutBack(at, ..)
        | Deed::Lose(at, _)
        | Deed::Unmount(at)
        | Deed::Mount(at)
        | Deed::Hide(at)
        | Deed::Show(at)
        | Deed::Clock(at, _) => (at, None, None),
        Deed::Verify(at, _) => (at.unwrap_or(Site(0)), None, None),
    }
}

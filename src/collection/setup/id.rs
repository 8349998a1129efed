//! The id of a collection, which stands in `urepo.toml` and in the ledger.
//!
//! Who has an Original hangs on it, so a lost or mistyped line must not change it: the id is that of the last file of the
//! ledger. While `urepo.toml` has another one, nobody writes.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use super::MAX_BYTES;
use super::own::{ensure_readme, make_own, open_own};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::ledger;
use crate::collection::{Collection, CollectionError, Names, Settings, SettingsError, Subsystem};
use crate::disk::{Dir, IoContext, Kind, Lock, LockMode, PathError, Watcher, random_hex};
use crate::distributor::{Distributor, Setting};
use crate::identity::Prefix;
use crate::item::State;
use crate::layout;
use crate::sidecar::Seal;
use crate::wait::Waiter;

/// The source of an id for settings that are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdSource {
    /// The last file of the ledger.
    Ledger,
    /// The holder that all Originals name.
    Originals,
    /// None: it is new.
    Random,
}

/// The settings of a collection that has lost them, as far as its other files tell.
#[derive(Debug)]
pub struct LostSettings {
    root: Dir,
    /// The settings.
    pub settings: Settings,
    /// The source of their id.
    pub source: IdSource,
}

impl LostSettings {
    /// Looks for traces of the settings in `root`. Without a trace of its id, the collection gets a new one if a person
    /// `accepts_new` ones.
    pub fn look(
        root: &Path,
        accepts_new: bool,
        (agent, clock): (&Agent, &dyn Clock),
        watcher: &Watcher,
    ) -> Result<LostSettings, CollectionError> {
        let not_one = || CollectionError::NotACollection { path: root.to_path_buf() };
        let dir = Dir::open(root, watcher.clone()).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => not_one(),
            _ => error.into(),
        })?;
        let own = open_own(&dir)?;
        let recorded = own.as_ref().map_or(Ok(None), ledger::id_in)?;
        let (id, source) = if let Some(id) = recorded {
            (id, IdSource::Ledger)
        } else {
            let holders = holders(&dir)?;
            match holders.first() {
                Some(holder) if holders.len() == 1 => (holder.clone(), IdSource::Originals),
                _ if own.is_none() => return Err(not_one()),
                _ if accepts_new => (new_id()?, IdSource::Random),
                _ => return Err(CollectionError::NoId { path: root.to_path_buf() }),
            }
        };
        let name = root.file_name().map_or("root".into(), |name| name.to_string_lossy());
        let subsystems = own.map_or(Ok(Vec::new()), |own| subsystems(&own, agent, clock))?;
        let settings = Settings::new(id, name.into_owned(), subsystems);
        Ok(LostSettings { root: dir, settings, source })
    }

    /// Writes them.
    pub fn write(&self, waiter: &Waiter<'_>) -> Result<(), CollectionError> {
        let own = make_own(&self.root)?;
        let _lock = Lock::take_unsigned(&own, layout::LOCK, LockMode::Exclusive, waiter)
            .map_err(|error| CollectionError::locked(&self.settings.name, error))?;
        if self.root.stat(layout::SETTINGS)?.is_some() {
            let path = self.root.path().to_path_buf();
            return Err(CollectionError::ExistsAlready { path });
        }
        ensure_readme(&self.root, &own)?;
        Ok(self.root.replace_file(layout::SETTINGS, self.settings.to_text().as_bytes())?)
    }
}

/// A random id.
pub(super) fn new_id() -> Result<String, PathError> {
    random_hex::<16>().on("draw a random id from", "/dev/urandom")
}

/// The collections that the Originals in `root` name, at most two of them.
pub(super) fn holders(root: &Dir) -> Result<BTreeSet<String>, CollectionError> {
    let mut holders = BTreeSet::new();
    let settings = Settings::new(String::new(), String::new(), Vec::new());
    let tree = Collection::with_settings(root.try_clone()?, settings)?;
    tree.visit_names(&Names::default(), |name| {
        if let Ok(read) = tree.item(&name).and_then(|item| item.read_sidecar())
            && read.seal == Seal::Intact
            && read.written == State::Original
        {
            holders.insert(read.sidecar.custody.holder().to_owned());
        }
        let is_one = holders.len() < 2;
        let go_on = if is_one { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        Ok::<_, PathError>(go_on)
    })?;
    Ok(holders)
}

/// The subsystems that have a memory in `own`.
fn subsystems(own: &Dir, agent: &Agent, clock: &dyn Clock) -> Result<Vec<Subsystem>, PathError> {
    let Some(memory) = own.open_dir_if_there(layout::MEMORY)? else { return Ok(Vec::new()) };
    let mut files = memory.names_of(Kind::File, |_| true)?;
    files.sort_unstable();
    let mut subsystems = Vec::new();
    for file in files {
        let prefix = file.replace('+', "/").parse::<Prefix>();
        let Some(prefix) = prefix.ok().filter(|it| layout::memory_file(it) == file) else {
            continue;
        };
        let (dir, port, host) = (memory.try_clone()?, prefix.port(), prefix.host());
        let record = Distributor::new(prefix, Setting::Auto, dir, agent, clock).look();
        let granularity = record.ok().flatten().map_or(Setting::Auto, |it| it.granularity);
        subsystems.push(Subsystem { port, granularity, ..Subsystem::new(host) });
    }
    subsystems.retain(|subsystem| subsystem.prefix().is_ok());
    Ok(subsystems)
}

impl Collection {
    /// The id in `urepo.toml`, if the ledger has another one.
    pub fn stated_id(&self) -> Option<&str> {
        Some(&*self.settings.id).filter(|id| *id != self.id)
    }

    /// Makes sure that `urepo.toml` and the ledger have one id: what is written names the collection by it.
    pub(in crate::collection) fn check_id(&self) -> Result<(), CollectionError> {
        match self.own()?.map_or(Ok(None), ledger::id_in)? {
            Some(recorded) if recorded != self.settings.id => Err(CollectionError::OtherId {
                path: self.path().to_path_buf(),
                stated: self.settings.id.clone(),
                recorded,
            }),
            _ => Ok(()),
        }
    }

    /// Gives `urepo.toml` the id of the ledger.
    pub fn settle_id(&self, agent: &Agent, waiter: &Waiter<'_>) -> Result<(), CollectionError> {
        let _lock = self.lock_alone(agent, waiter)?;
        self.write_id(self.id())
    }

    /// Makes it another collection: its Originals are Copies of those of the collection that it was. Returns the new id.
    pub fn take_new_id(
        &self,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<String, CollectionError> {
        let own = self.ensure_own()?;
        let _lock = self.lock_alone(agent, waiter)?;
        self.rebuild_ledger_alone(own, agent, waiter)?;
        let id = new_id()?;
        {
            let _lock = self.lock_ledger()?;
            self.begin_with_id(&id)?;
        }
        // Killed before this, the two differ, and the ledger counts.
        self.write_id(&id)?;
        Ok(id)
    }

    /// Locks the collection against all writers.
    fn lock_alone(&self, agent: &Agent, waiter: &Waiter<'_>) -> Result<Lock, CollectionError> {
        let holder = agent.holder(waiter.clock);
        Lock::take(self.ensure_own()?, layout::LOCK, LockMode::Exclusive, &holder, waiter)
            .map_err(|error| CollectionError::locked(&self.settings.name, error))
    }

    /// Replaces the id in `urepo.toml`; the rest of the file stays as people wrote it.
    fn write_id(&self, id: &str) -> Result<(), CollectionError> {
        let refused = |cause: String| CollectionError::Settings {
            path: self.settings_path(),
            cause: SettingsError(cause),
        };
        let bytes = self.root().open_file(layout::SETTINGS)?.read_all(MAX_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|error| refused(error.to_string()))?;
        // A comment may have the same digits.
        let replaced = text.match_indices(&*self.settings.id).map(|(at, old)| {
            let (before, after) = (&text[..at], &text[at + old.len()..]);
            format!("{before}{id}{after}")
        });
        let is_right = |text: &String| Settings::read(text).is_ok_and(|settings| settings.id == id);
        let text = replaced.into_iter().find(is_right);
        let text = text.ok_or_else(|| refused(format!("its `id` is not `{id}`")))?;
        Ok(self.root().replace_file(layout::SETTINGS, text.as_bytes())?)
    }
}

//! The known collections: the one in use, those named in the settings, and those given on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use urepo::collection::{Collection, CollectionError, discover};
use urepo::disk::{PathError, Watcher};
use urepo::holdings::{Peers, Sight, Unseen, UnseenRule};
use urepo::identity::{Identifier, RepositoryName};

use super::config::Origin;
use super::context::Context;
use super::exit::Exit;
use super::explain::label_hint;
use super::failure::Failure;
use super::twins::Twin;
use super::{human, shell};

/// Collections that can be compared, with unique ids.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The one in use first, if any, then those of the settings by name, then those given.
    pub(crate) collections: Vec<Collection>,
    /// Those of the settings that cannot be opened, for which a warning was printed: a disk may not be
    /// mounted.
    pub(crate) missing: Vec<Missing>,
    /// Their names.
    pub(crate) missing_names: Vec<String>,
    /// Other roots of these collections, such as backups.
    pub(crate) twins: Vec<Collection>,
}

/// A collection of the settings that cannot be opened.
#[derive(Debug)]
pub(crate) struct Missing {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

impl Context {
    /// Opens every known collection, with those at `extra`, by path or name, besides.
    ///
    /// Collections given on the command line or in a variable must exist. Those of the settings may be
    /// missing.
    pub(crate) fn known(&self, extra: &[OsString]) -> Result<Known, Failure> {
        let known = self.known_if_any(extra)?;
        if known.collections.is_empty() && known.missing.is_empty() {
            return Err(CollectionError::NotInACollection { path: self.current.clone() }.into());
        }
        Ok(known)
    }

    /// The same, also where none is known.
    pub(crate) fn known_if_any(&self, extra: &[OsString]) -> Result<Known, Failure> {
        let mut known = Known::default();
        match &self.config.collection {
            Some(named) if matches!(named.origin, Origin::File(_)) => {
                let name = named.value.to_string_lossy();
                known.add_named(self, &name, self.collection_path(&named.value))?;
            }
            Some(_) => known.add(self, self.collection()?)?,
            None => match discover::enclosing(&self.current) {
                Ok(path) => known.add(self, self.open(&path)?)?,
                Err(CollectionError::NotInACollection { .. }) => {}
                Err(error) => return Err(error.into()),
            },
        }
        let named = &self.config.collections;
        let opened = self.open_all(named.values().map(|found| found.value.clone()));
        for ((name, found), opened) in named.iter().zip(opened) {
            known.add_opened(self, name, (found.value.clone(), opened))?;
        }
        for text in extra {
            known.add(self, self.open_named(text)?)?;
        }
        Ok(known)
    }

    /// The same without `own`.
    pub(crate) fn known_besides(
        &self,
        own: &Collection,
        extra: &[OsString],
    ) -> Result<Known, Failure> {
        let mut known = self.known(extra)?;
        known.collections.retain(|other| other.id() != own.id());
        Ok(known)
    }

    /// The collections of the settings that can be opened, without `own`.
    pub(crate) fn neighbours(&self, own: &Collection) -> Vec<Collection> {
        let mut found = self.reachable().collections;
        found.retain(|it| it.id() != own.id());
        found
    }

    /// The collections of the settings that can be opened, each once, and their other roots. Of the others, `--verbose` says why: a disk in a drawer is
    /// no news.
    pub(crate) fn reachable(&self) -> Known {
        let (mut known, settings) = (Known::default(), &self.config.collections);
        let opened = self.open_all(settings.values().map(|path| path.value.clone()));
        for (name, opened) in settings.keys().zip(opened) {
            match opened {
                Ok(it) if known.collections.iter().any(|known| known.id() == it.id()) => {
                    known.twins.push(it);
                }
                Ok(collection) => known.collections.push(collection),
                Err(error) => {
                    let reason = Failure::from(error).in_one_line();
                    self.printer.detail(&format!("`{name}` is out of sight: {reason}"));
                    self.note_missing(name);
                    known.missing_names.push(name.clone());
                }
            }
        }
        known
    }

    /// Says which items could not be read at a neighbour, whose ledger spoke for them alone.
    pub(crate) fn tell_unseen(&self, sight: &Sight<'_>) {
        for Unseen { at, first: (name, error), items, .. } in sight.unseen() {
            let at = at.display();
            let what = match items {
                1 => format!("{name} cannot be read in `{at}`, whose ledger spoke for it"),
                items => format!(
                    "{items} items cannot be read in `{at}`, whose ledger spoke for them; the first is \
                     {name}"
                ),
            };
            let cause = error.map(|error| format!(": {}", Failure::from(error).in_one_line()));
            self.printer.warning(&format!("{what}{}", cause.unwrap_or_default()));
        }
    }

    /// Opens collections side by side. One that does not answer in time is out of sight: a disk on a network must not stop the
    /// work on others.
    pub(super) fn open_all(
        &self,
        paths: impl IntoIterator<Item = PathBuf>,
    ) -> Vec<Result<Collection, CollectionError>> {
        let open = |path: PathBuf| {
            let (answer, opened) = mpsc::channel();
            let there = path.clone();
            // Detached: a thread that hangs in the kernel cannot be joined.
            thread::spawn(move || {
                // Nobody waits any more for one that is late.
                let _ = answer.send(Collection::open(&there, &Watcher::default()));
            });
            (path, opened)
        };
        let opening: Vec<_> = paths.into_iter().map(open).collect();
        let deadline = Instant::now() + self.config.peer_wait.value;
        let mut all = Vec::with_capacity(opening.len());
        for (path, opened) in opening {
            let left = deadline.saturating_duration_since(Instant::now());
            let cause = || std::io::Error::from(std::io::ErrorKind::TimedOut);
            let opened: Result<Collection, CollectionError> = opened
                .recv_timeout(left)
                .unwrap_or_else(|_| Err(PathError::new("open", path, cause()).into()));
            all.push(opened.map(|collection| self.checked(collection)));
        }
        all
    }
}

impl Known {
    /// Adds a collection that the settings name, or notes that it is missing.
    fn add_named(&mut self, context: &Context, name: &str, path: PathBuf) -> Result<(), Failure> {
        let opened = context.open(&path);
        self.add_opened(context, name, (path, opened))
    }

    fn add_opened(
        &mut self,
        context: &Context,
        name: &str,
        (path, opened): (PathBuf, Result<Collection, CollectionError>),
    ) -> Result<(), Failure> {
        match opened {
            Ok(collection) => self.add(context, collection),
            // The same collection may be named twice.
            Err(_) if self.missing.iter().any(|missing| missing.path == path) => Ok(()),
            Err(error) => {
                let reason = Failure::from(error).in_one_line();
                let text = format!("the collection `{name}` cannot be opened: {reason}");
                context.printer.warning(&text);
                context.note_missing(name);
                self.missing.push(Missing { name: name.to_owned(), path, reason });
                self.missing_names.push(name.to_owned());
                Ok(())
            }
        }
    }

    /// Adds a collection, unless one with its id exists: then it is the same, or a clone without further
    /// data.
    fn add(&mut self, context: &Context, collection: Collection) -> Result<(), Failure> {
        let has_id = |known: &&Collection| known.id() == collection.id();
        let Some(first) = self.collections.iter().find(has_id) else {
            self.collections.push(collection);
            return Ok(());
        };
        if !first.has_same_root(&collection)? {
            let (first_path, path) = (first.path().display(), collection.path().display());
            context.printer.warning(&match Twin::of(first, &collection)? {
                Twin::Backup => format!("`{path}` is a backup of `{first_path}` and is left aside"),
                Twin::Ahead => format!(
                    "`{first_path}` is a backup of `{path}`, which has gone on and is left aside here"
                ),
                Twin::Apart => format!(
                    "`{path}` has the same id as `{first_path}`, each has changes that the other lacks: `{path}` is left \
                     aside; `urepo recover --new-id` in one of them makes another collection of it"
                ),
            });
            self.twins.push(collection);
        }
        Ok(())
    }

    /// Every root that was opened.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Collection> {
        self.collections.iter().chain(&self.twins)
    }

    /// They as those that are asked before an item becomes an Original.
    pub(crate) fn peers(&self, unseen: UnseenRule) -> Peers<'_> {
        Peers { collections: &self.collections, missing: &self.missing_names, unseen }
    }

    /// The name that `text` refers to: itself if it is a name, else the item that any of the collections
    /// finds.
    pub(crate) fn resolve(&self, text: &str) -> Result<RepositoryName, Failure> {
        if let Ok(Identifier::Repository(name)) = Identifier::read(text) {
            return Ok(name);
        }
        Collection::find_in(&self.collections, text)?.ok_or_else(|| self.no_item(text))
    }

    /// The failure of two collections, given by their numbers, that both say they hold the Original.
    pub(crate) fn two_originals(&self, name: &RepositoryName, at: [usize; 2]) -> Failure {
        let paths = at.map(|at| self.collections[at].path());
        let [first, second] = paths.map(|path| path.display());
        let failure = Failure::new(Exit::Conflict, format!("`{name}` has two Originals"))
            .caused_by(format!("`{first}` and `{second}` both say that they hold it"));
        let [first, second] = paths.map(shell::word);
        failure
            .hint(format!(
                "compare them: `urepo -c {first} show {name}`, `urepo -c {second} show {name}`"
            ))
            .about(name)
    }

    /// The failure of an item that none of the collections has.
    pub(crate) fn no_item(&self, text: &str) -> Failure {
        let searched = human::count(self.collections.len() as u64, "known collection");
        let failure = Failure::new(Exit::NoItem, format!("no item `{text}` in {searched}"));
        let usual = "`urepo status --settings` shows which are known; `--with COLLECTION` adds one";
        let failure = failure.hint(label_hint(text).unwrap_or(usual.to_owned()));
        let failure = self.collections.iter().fold(failure, |failure, collection| match collection
            .find(text)
        {
            Err(error @ (CollectionError::GivenUp { .. } | CollectionError::Vanished { .. })) => {
                failure.caused_by(error.to_string())
            }
            _ => failure,
        });
        let failure = self.missing.iter().fold(failure, |failure, missing| {
            failure.caused_by(format!("`{}` is not opened and may hold it", missing.name))
        });
        match Identifier::read(text) {
            Ok(Identifier::Repository(name)) => failure.about(&name),
            _ => failure,
        }
    }
}

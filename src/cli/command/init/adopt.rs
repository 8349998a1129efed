//! `urepo init ROOT --adopt`: an existing tree becomes a collection, in place.

use std::path::Path;

use urepo::adopt::{Adopter, Mode, has_items, measure};
use urepo::catalog::Catalog;
use urepo::collection::{Collection, CollectionError, Subsystem, check_place};
use urepo::disk::Dir;
use urepo::holdings::{Peers, UnseenRule};
use urepo::progress::{Scan, with_scan};

use super::report;
use super::{PastArgs, check_host, make_without_names, tell_made};
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// An existing tree that becomes a collection.
pub(super) struct Adoption<'a> {
    /// The directory that has the subdomains.
    pub(super) root: &'a Path,
    /// The name of the collection for people, unless that is the directory's.
    pub(super) name: Option<&'a str>,
    /// Issues the identifiers of the collection, if it is to issue some.
    pub(super) wanted: Option<Subsystem>,
    pub(super) past: &'a PastArgs,
    /// The id of the collection whose items these are Copies of; empty if that is unknown.
    pub(super) copies_of: Option<&'a str>,
    /// Whether Originals are taken in though a known collection cannot be opened.
    pub(super) unseen: UnseenRule,
}

/// The state of the root.
enum RootKind {
    Collection(Box<Collection>),
    Tree,
}

/// Names the way on where another run has made the collection since this one looked.
fn made_meanwhile(root: &Path, failure: Failure) -> Failure {
    match check_place(root) {
        Err(CollectionError::ExistsAlready { .. }) => {
            failure.hint("another run has just made it; repeat the command")
        }
        _ => failure,
    }
}

impl Adoption<'_> {
    pub(super) fn run(&self, context: &Context) -> Done {
        let (root, wanted) = (self.root, &self.wanted);
        let dir = Dir::open(root, context.watcher())?;
        let found = match context.open(root) {
            Ok(collection) => RootKind::Collection(Box::new(collection)),
            Err(CollectionError::NotACollection { .. } | CollectionError::NoSettings { .. }) => {
                RootKind::Tree
            }
            Err(error) => return Err(error.into()),
        };
        if let (RootKind::Collection(collection), Some(wanted)) = (&found, wanted) {
            check_host(collection, wanted, "--host")?;
        }
        if matches!(found, RootKind::Tree) {
            let checked = match wanted {
                Some(wanted) => self.past.check(context, root, wanted),
                None => check_place(root).map_err(Failure::from),
            };
            checked.map_err(|failure| made_meanwhile(root, failure))?;
            // Nothing is created in a directory that is not a tree of items.
            if !has_items(&dir)? {
                return Err(report::no_items(root));
            }
        }
        if context.global.dry_run {
            if !matches!(found, RootKind::Collection(_)) && !context.printer.json {
                let root = root.display();
                context.printer.note(&format!("would create the collection `{root}`"));
            }
            let collection = match &found {
                RootKind::Collection(collection) => Some(&**collection),
                RootKind::Tree => None,
            };
            return self.carry_out(context, Mode::Plan { root: &dir, collection });
        }
        if let RootKind::Collection(collection) = &found
            && self.copies_of == Some(collection.id())
        {
            let message = format!("{} is the id of this collection itself", collection.id());
            return Err(
                Failure::usage(message).hint("leave `--copy-of` away: its items are its own")
            );
        }
        let collection = self.open(context, found)?;
        let wait = context.config.lock_wait.value;
        let mode = Mode::Act { collection: &collection, agent: &context.agent, wait };
        self.carry_out(context, mode)
    }

    /// The collection, created if missing.
    fn open(&self, context: &Context, found: RootKind) -> Result<Collection, Failure> {
        let root = self.root;
        let collection = match (found, self.wanted.clone()) {
            (RootKind::Collection(collection), _) => {
                collection.rebuild(&context.agent, &context.waiter())?;
                return Ok(*collection);
            }
            (RootKind::Tree, Some(wanted)) => {
                let made = self.past.make(context, self.name, root, wanted);
                made.map_err(|failure| made_meanwhile(root, failure))?
            }
            (RootKind::Tree, None) => make_without_names(context, self.name, root)
                .map_err(|failure| made_meanwhile(root, failure))?,
        };
        if !context.printer.json {
            tell_made(context, &collection);
        }
        Ok(collection)
    }

    fn carry_out(&self, context: &Context, mode: Mode<'_>) -> Done {
        let (copies_of, jobs) = (self.copies_of, context.config.jobs.value);
        let (clock, interrupt) = (&context.clock, &context.interrupt);
        let root = match mode {
            Mode::Plan { root, .. } => root,
            Mode::Act { collection, .. } => collection.root(),
        };
        let mut reporter = report::Reporter::new(context, root);
        let known = context.known_if_any(&[])?;
        // The tree may be in the settings before it is a collection.
        let missing = known.missing.into_iter().filter(|it| it.path != root.path());
        let missing: Vec<_> = missing.map(|it| it.name).collect();
        let collections = &*known.collections;
        let peers = Peers { collections, missing: &missing, unseen: self.unseen };
        let progress = context.progress();
        let scan = |scan: &Scan<'_>| measure(root, scan);
        let summary = with_scan(&*progress, Some(scan), |progress| {
            let adopter = Adopter { mode, copies_of, peers, jobs, clock, progress, interrupt };
            adopter.run(|outcomes| reporter.report_all(outcomes))
        });
        drop(progress);
        // Only an index leads from old labels to items of another date; reading the sidecars costs little after all files. The
        // items are adopted without it.
        if let Mode::Act { collection, .. } = mode
            && summary.taken > 0
            && collection.index_path().is_some()
        {
            let _ = context.catalog_by(|refresh| Catalog::open(collection, refresh));
        }
        reporter.finish(summary)
    }
}

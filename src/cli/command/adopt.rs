//! `urepo adopt`: an existing tree becomes a collection, in place.

use std::path::PathBuf;

use urepo::adopt::{Adopter, Mode, has_items, measure};
use urepo::catalog::Catalog;
use urepo::collection::{Collection, CollectionError, Subsystem, check_place, init_without_names};
use urepo::disk::Dir;
use urepo::distributor::Setting;
use urepo::holdings::{Peers, UnseenRule};
use urepo::item::State;
use urepo::progress::{Scan, with_scan};

use super::init::{PastArgs, SubsystemArgs, check_host, name_of};
use crate::cli::Done;
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::force::Force;

mod report;

/// Turn an existing tree of items into a collection, in place
///
/// The tree has the four levels of identifiers, subdomain/word/year/date, and the files of each item in its
/// `doc`: such as the `col` of a URLib archive, or a tree made by hand. Nothing in it is moved, renamed or
/// changed. Each item gets a sidecar, `item.toml`, with the digests of its files, and the tree gets the
/// settings of a collection. Other entries are reported and left alone. A repeated run adopts new items only;
/// nothing is ever overwritten.
///
/// An item does not become an Original if a collection of the settings has, or had, it as the Original, or as
/// a Copy that names its collection.
///
/// Title, authors and other terms are read from BibTeX, `doc/@reference.bib`, `@reference.bib` and
/// `.reserved/@`; so is the IBIp, without a check. `version = {copy}` in any of them makes the item a Copy; a
/// warning names items whose references contradict each other, and they become Copies. Without --host the
/// collection issues no identifiers of its own. Try --dry-run first: it prints the same lines and writes
/// nothing.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo adopt --dry-run col
  urepo adopt col
  urepo adopt col --state copy
  urepo adopt theses --host theses.example.org")]
pub(crate) struct Adopt {
    /// The directory that holds the subdomains
    pub(crate) root: PathBuf,
    /// The state of all items; without it, as their BibTeX says, else Original
    #[arg(long, value_name = "STATE", value_parser = one_of(&STATES))]
    state: Option<State>,
    /// The name of the collection for people; the directory's name unless given
    #[arg(long)]
    name: Option<String>,
    /// The fully qualified host name that new identifiers are built from; without it none are issued
    #[arg(long, value_name = "FQDN", help_heading = "New collection")]
    host: Option<String>,
    #[command(flatten)]
    made: SubsystemArgs,
    /// Granularity of dates: auto, or seconds such as 60, 1, 0.1
    #[arg(long, default_value_t = Setting::Auto, requires = "host", help_heading = "New collection")]
    granularity: Setting,
    #[command(flatten)]
    past: PastArgs,
    /// Override a rule: `missing` takes Originals in though a known collection cannot be opened
    #[arg(long, value_name = "RULE", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 1] =
    [("missing", "Take Originals in though a known collection cannot be opened", Force::Missing)];

/// The states that an item can be adopted in.
const STATES: [Choice<State>; 2] = [
    ("original", "The one Original of each", State::Original),
    ("copy", "Copies of Originals elsewhere", State::Copy),
];

/// The state of the root.
enum RootKind {
    Collection(Box<Collection>),
    Tree,
}

/// Names the way on where another run has made the collection since this one looked.
fn made_meanwhile(root: &std::path::Path, failure: Failure) -> Failure {
    match check_place(root) {
        Err(CollectionError::ExistsAlready { .. }) => {
            failure.hint("another run has just made it; repeat the command")
        }
        _ => failure,
    }
}

impl Adopt {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let root = context.absolute(&self.root);
        let host = self.host.as_deref();
        let wanted = host.map(|host| self.made.subsystem(host, self.granularity)).transpose()?;
        if let Some(wanted) = &wanted {
            wanted.prefix()?;
        }
        let dir = Dir::open(&root, context.watcher())?;
        let found = match context.open(&root) {
            Ok(collection) => RootKind::Collection(Box::new(collection)),
            Err(CollectionError::NotACollection { .. } | CollectionError::NoSettings { .. }) => {
                RootKind::Tree
            }
            Err(error) => return Err(error.into()),
        };
        if let (RootKind::Collection(collection), Some(wanted)) = (&found, &wanted) {
            check_host(collection, wanted, "--host")?;
        }
        if matches!(found, RootKind::Tree) {
            let checked = match &wanted {
                Some(wanted) => self.past.check(context, &root, wanted),
                None => check_place(&root).map_err(Failure::from),
            };
            checked.map_err(|failure| made_meanwhile(&root, failure))?;
            // Nothing is created in a directory that is not a tree of items.
            if !has_items(&dir)? {
                return Err(no_items(&root));
            }
        }
        if context.global.dry_run {
            if !matches!(found, RootKind::Collection(_)) && !context.printer.json {
                let root = root.display();
                context.printer.note(&format!("would make the collection `{root}`"));
            }
            let collection = match &found {
                RootKind::Collection(collection) => Some(&**collection),
                RootKind::Tree => None,
            };
            return self.carry_out(context, Mode::Plan { root: &dir, collection });
        }
        let collection = self.open(context, found, wanted, &root)?;
        let wait = context.config.lock_wait.value;
        let mode = Mode::Act { collection: &collection, agent: &context.agent, wait };
        self.carry_out(context, mode)
    }

    /// The collection, created if missing.
    fn open(
        &self,
        context: &Context,
        found: RootKind,
        wanted: Option<Subsystem>,
        root: &std::path::Path,
    ) -> Result<Collection, Failure> {
        let gives_names = wanted.is_some();
        let collection = match (found, wanted) {
            (RootKind::Collection(collection), _) => {
                collection.rebuild(&context.agent, &context.waiter())?;
                return Ok(*collection);
            }
            (RootKind::Tree, Some(wanted)) => {
                let made = self.past.make(context, self.name.clone(), root, wanted);
                made.map_err(|failure| made_meanwhile(root, failure))?
            }
            (RootKind::Tree, None) => {
                let name = self.name.clone().unwrap_or_else(|| name_of(root));
                let made = init_without_names(root, &name, &context.watcher());
                context.attended(made.map_err(|error| made_meanwhile(root, error.into()))?)
            }
        };
        let path = collection.path().display();
        let lack = if gives_names { "" } else { ", which issues no identifiers" };
        if !context.printer.json {
            context.printer.note(&format!("made the collection `{path}`{lack}"));
        }
        Ok(collection)
    }

    fn carry_out(&self, context: &Context, mode: Mode<'_>) -> Done {
        let (state, jobs) = (self.state, context.config.jobs.value);
        let (clock, interrupt) = (&context.clock, &context.interrupt);
        let root = match mode {
            Mode::Plan { root, .. } => root,
            Mode::Act { collection, .. } => collection.root(),
        };
        let reporter =
            report::Reporter { context, root, planned: matches!(mode, Mode::Plan { .. }) };
        let known = context.known_if_any(&[])?;
        // The tree may be in the settings before it is a collection.
        let missing = known.missing.into_iter().filter(|it| it.path != root.path());
        let missing: Vec<_> = missing.map(|it| it.name).collect();
        let unseen = Force::Missing.rule(&self.force, UnseenRule::Accept);
        let collections = &*known.collections;
        let peers = Peers { collections, missing: &missing, unseen };
        let progress = context.progress();
        let scan = |scan: &Scan<'_>| measure(root, scan);
        let summary = with_scan(&*progress, Some(scan), |progress| {
            let adopter = Adopter { mode, state, peers, jobs, clock, progress, interrupt };
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

fn no_items(root: &std::path::Path) -> Failure {
    Failure::new(Exit::Failure, format!("there are no items in `{}`", root.display())).hint(
        "name the directory that holds the subdomains: items lie four levels below it, in \
         subdomain/word/year/month.day.hour.minute",
    )
}

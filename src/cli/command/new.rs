//! `urepo new`: deposit files and directories.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use urepo::collection::{Collection, Issuer, Subsystem};
use urepo::deposit::{CollisionRule, DepositError, Depositor, Options, SourceRule};
use urepo::disk::{Dir, Links, resolved, stat_of};
use urepo::holdings::Peers;
use urepo::identity::RepositoryName;
use urepo::item::PayloadPath;
use urepo::layout;
use urepo::progress::{NoProgress, Progress, scan_first, with_scan};

use super::description::{DescriptionArgs, Given, TermArgs};
use super::init::{PastArgs, subsystem};
use super::mint::{CLOCK, IssueArgs};
use crate::cli::Done;
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::force::Force;
use crate::cli::input::is_stdin;
use crate::cli::leave_out::{ExcludeArgs, LeftOutTally};
use crate::cli::report::Report;

mod dry;
mod relations;
mod report;
mod sources;

/// Deposit files and directories as items
///
/// Makes one item of all paths, or with --each one item of each path, and prints its identifier. Nothing else
/// goes to stdout, so a script can read it. A directory that is the only path becomes the item: its content
/// is kept, not its name. Several paths are kept side by side under their own names. `-` is standard input.
/// When an identifier is printed, its item is complete and synced.
///
/// The title is the name of the file or directory, unless --title gives another one. Several paths
/// that become one item have no such name, and standard input has that of --stdin-name.
///
/// --exclude and files called .urepoignore in the sources leave out files that match their
/// patterns. A named path is always taken. --dry-run and -v name the files that are left out.
///
/// An item keeps bytes, names, modification times, permission bits, empty directories, and symbolic links
/// that stay inside the item (all links with --links asis). It does not keep owners, special permission bits,
/// extended attributes and access control lists; the last three are counted and reported.
#[derive(Debug, clap::Args)]
pub(crate) struct New {
    /// Files and directories; - is standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Make one item of each path
    #[arg(short, long)]
    each: bool,
    /// Name of the file made from standard input [default: data]
    #[arg(long = "stdin-name", value_name = "NAME")]
    stream_name: Option<OsString>,
    /// The file that the bare identifier opens, below `doc/`; the only file unless given
    #[arg(long, value_name = "FILE")]
    target: Option<OsString>,
    /// Remove the source after the item was read back from the disk and found whole
    #[arg(long = "remove-source")]
    remove: bool,
    /// What to do with symbolic links
    #[arg(long, value_name = "RULE", default_value = "keep", value_parser = one_of(&LINKS))]
    links: Links,
    /// Override a rule: `twins` keeps names that differ in case or Unicode form only; `clock` takes the clock for right, though it
    /// is far ahead of the last identifier
    #[arg(long, value_name = "RULE", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
    #[command(flatten)]
    exclude: ExcludeArgs,
    #[command(flatten)]
    terms: TermArgs,
    #[command(flatten)]
    description: DescriptionArgs,
    #[command(flatten)]
    relations: relations::RelationArgs,
    #[command(flatten)]
    issue: IssueArgs,
    /// Create the collection that -c names first if it is missing; needs --host
    #[arg(long, requires = "host", help_heading = "New collection")]
    init: bool,
    /// The fully qualified host name that identifiers are built from
    #[arg(long, value_name = "FQDN[:PORT]", requires = "init", help_heading = "New collection")]
    host: Option<String>,
}

/// The rules for symbolic links.
pub(super) const LINKS: [Choice<Links>; 5] = [
    ("keep", "Keep links that stay inside the item, refuse those that leave it", Links::Keep),
    ("follow", "Deposit what links point to", Links::Follow),
    (
        "asis",
        "Keep every link as it is, also one that leads out of the item or to nothing",
        Links::AsIs,
    ),
    ("skip", "Leave links out", Links::Skip),
    ("error", "Refuse every link", Links::Refuse),
];

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 2] =
    [("twins", "Keep names that some file systems take for one", Force::Twins), CLOCK];

impl New {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let Given { metadata, conditions, relations, title, .. } =
            self.description.read(&self.terms, context)?;
        if let Some(language) = metadata.unlisted_language() {
            context.warn_of_language(language);
        }
        let target = self.target.as_deref().map(payload_path).transpose()?;
        let options = self.options(context);
        let is_single = !self.each;
        let mut requests =
            sources::Requests::new(self, (metadata.clone(), title, conditions), target, context)?;
        let Some(collection) = self.collection(context)? else {
            context.printer.note("would create the collection first, then deposit into it");
            return Ok(());
        };
        let relations =
            self.relations.read(context, &collection, (&metadata, relations), self.each)?;
        if let Some(relations) = &relations {
            requests.relations = relations.of_items()?;
        }
        if context.global.dry_run {
            let issue = self.issue.options(context, &self.force);
            return dry::run(context, &collection, &options, requests, is_single, &issue);
        }
        let name = deposit(context, &collection, self, options, requests, is_single)?;
        match (relations, name) {
            (Some(relations), Some(name)) if is_single => relations.complete(context, &name),
            _ => Ok(()),
        }
    }

    fn options(&self, context: &Context) -> Options {
        Options {
            links: self.links,
            twins: Force::Twins.rule(&self.force, CollisionRule::Keep),
            sources: if self.remove { SourceRule::Remove } else { SourceRule::Keep },
            jobs: context.config.jobs.value,
        }
    }

    /// The subsystem of the collection that `--init` makes.
    fn subsystem(&self) -> Result<Subsystem, Failure> {
        let host = self.host.as_deref().unwrap_or_default();
        subsystem(host, None)
    }

    /// The collection, created with `--init`; `None` in a dry run that would create it.
    fn collection(&self, context: &Context) -> Result<Option<Collection>, Failure> {
        let found = context.collection();
        match found {
            Err(failure) if self.init && failure.exit == Exit::NoCollection => {}
            Err(failure) if failure.exit == Exit::NoCollection => {
                return Err(match &failure.hint {
                    // A disk may not be mounted.
                    Some(hint) if context.config.collection.is_some() => {
                        let hint = format!("{hint}; `--init --host FQDN` creates it first");
                        failure.hint(hint)
                    }
                    _ => failure.hint(MAKES_ONE),
                });
            }
            Ok(collection) if self.init => {
                // A repeated `--init` must refer to the existing collection.
                super::init::check_host(&collection, &self.subsystem()?, "--init")?;
                return Ok(Some(collection));
            }
            found => return found.map(Some),
        }
        let Some(named) = &context.config.collection else {
            let what = "`--init` does not make the current directory a collection";
            return Err(Failure::usage(what).hint(MAKES_ONE));
        };
        // Without the dot of `-c .`.
        let root: PathBuf = context.collection_path(&named.value).components().collect();
        self.check_root(context, &root)?;
        let subsystem = self.subsystem()?;
        if context.global.dry_run {
            return Ok(None);
        }
        let collection = PastArgs::default().make(context, None, &root, subsystem)?;
        context.printer.note(&format!("made the collection `{}`", collection.path().display()));
        Ok(Some(collection))
    }

    /// Makes sure that the new collection at `root` has its directory for itself, and lies in no source.
    fn check_root(&self, context: &Context, root: &Path) -> Done {
        if stat_of(root, Links::Follow).is_ok() {
            let directory = Dir::open(root, context.watcher())?;
            for entry in directory.entries()? {
                let name = entry?.name;
                // A killed run leaves the beginnings of a collection, and a new disk has a directory of its own.
                let beginnings = ["lost+found", layout::OWN, layout::README];
                let is_beginning = beginnings.iter().any(|own| name == *own)
                    || Path::new(&name).extension().is_some_and(|it| it == "new");
                if !is_beginning {
                    let root = root.display();
                    let what =
                        format!("`--init` does not make `{root}` a collection: it is not empty");
                    return Err(Failure::new(Exit::Conflict, what).hint(MAKES_ONE));
                }
            }
        }
        let real = |path: &Path| Some(resolved(path).ok()?.join(root.strip_prefix(path).ok()?));
        let Some(real) = root.ancestors().find_map(real) else { return Ok(()) };
        let holds = |path: &&PathBuf| resolved(path).is_ok_and(|source| real.starts_with(source));
        match self.paths.iter().filter(|path| !is_stdin(path)).find(holds) {
            None => Ok(()),
            Some(path) => {
                let (path, collection) = (path.clone(), root.to_path_buf());
                Err(DepositError::HoldsCollection { path, collection }.into())
            }
        }
    }
}

/// The hint where no collection was named.
const MAKES_ONE: &str = "`-c archive --init --host FQDN` makes the collection `archive` first";

fn payload_path(path: &OsStr) -> Result<PayloadPath, Failure> {
    PayloadPath::new(std::path::Path::new(path)).map_err(|error| {
        Failure::of(Exit::Failure, &error).hint("a path below `doc/`, such as `img/map.png`")
    })
}

/// Deposits the items, and returns the name of the last one.
fn deposit(
    context: &Context,
    collection: &Collection,
    new: &New,
    options: Options,
    requests: sources::Requests,
    is_single: bool,
) -> Result<Option<RepositoryName>, Failure> {
    let issue = new.issue.options(context, &new.force);
    let issuer = Issuer::new(collection, &context.agent, &context.clock, &issue)?;
    let writer = context.writer(collection)?;
    let progress: Box<dyn Progress> =
        if requests.are_typed() { Box::new(NoProgress) } else { context.progress() };
    if is_single {
        progress.announce(1);
    }
    let scan = progress.is_shown().then(|| requests.totals(new, context)).flatten();
    let report = Report::new(context, Did::Deposited, is_single);
    let paths = Mutex::default();
    let mut reporter = report::Reporter {
        context,
        collection,
        report,
        kept_sources: 0,
        left_out: LeftOutTally::default(),
        paths: &paths,
        last: None,
        is_in_doubt: false,
    };
    let requests = requests.enumerate().map(|(number, request)| {
        if let Some(path) = report::path_of(&request.source).filter(|path| path.to_str().is_none())
        {
            paths.lock().unwrap_or_else(PoisonError::into_inner).insert(number, path);
        }
        request
    });
    let interrupt = &context.interrupt;
    let work = |progress: &dyn Progress| {
        // No source has a given name.
        let (peers, known, clock) = (Peers::default(), None, &context.clock);
        let depositor = Depositor {
            collection,
            issuer,
            writer,
            options,
            peers,
            known,
            clock,
            progress,
            interrupt,
        };
        depositor.run(requests, |outcomes| reporter.report_all(outcomes))
    };
    let summary = match options.sources {
        SourceRule::Keep => with_scan(&*progress, scan, work),
        SourceRule::Remove => scan_first(&*progress, scan, (&context.clock, interrupt), work),
    };
    drop(progress);
    let last = reporter.last.take();
    report::finish(summary, reporter)?;
    Ok(last)
}

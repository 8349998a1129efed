//! `urepo import`: many sources become items, each once.

use std::path::PathBuf;
use std::time::Duration;

use urepo::agent::Agent;
use urepo::collection::discover::check_outside;
use urepo::collection::{Collection, Issuer};
use urepo::deposit::{self, OnError, SourceRule};
use urepo::digest::Digest;
use urepo::disk::{HeldBy, Links};
use urepo::holdings::Peers;
use urepo::import::{
    After, Bags, Dedupe, ImportError, Importer, Ledger, Options, measure, plan, waiting,
};
use urepo::progress::{Progress, Scan, scan_first, with_scan};

use super::mint::IssueArgs;
use super::new::{DescriptionArgs, LINKS};
use super::table::TableArgs;
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::leave_out::ExcludeArgs;
use crate::cli::{Done, human};
use sources::Sources;

mod ending;
mod names;
mod rows;
mod sources;
mod tell;

/// Import many sources as items, each once
///
/// A SOURCE is a directory: what is in it becomes items, one of each entry; or with --each-file one of
/// each file below it, or with --depth N one of each entry N levels below it. A file, or a BagIt bag,
/// becomes one item. --manifest reads a table of paths with metadata instead. Prints the identifier of each
/// new item, a tab and its source.
///
/// What systems and programs put beside files, such as `.DS_Store`, `Thumbs.db`, `~$letter.docx` and `*.part`, is left
/// out of directories of items, by the patterns of the setting `exclude`, which `urepo config` shows.
/// --exclude, --exclude-from and files called .urepoignore in the sources add patterns. A row, a path in a
/// list and a bag are always taken, a bag as a whole. --dry-run and -v name what is left out.
///
/// An import may be repeated, after a success or a crash at any point: what is there already is not
/// imported again. A ledger in the collection, .urepo/import/ledger, knows which source became which
/// item; a source whose sizes or times have changed is read, and becomes another item if its content
/// has changed too. With --remove-source or --done-dir any source is read before it goes, and other bytes become another
/// item first. Other patterns, or another rule of --links, make no other item. One import at a time
/// works on a collection.
///
/// A source whose item has migrated away, or was removed, counts as imported. One whose item should be
/// here and is missing is not imported and not removed: `urepo repair` brings the item back under its
/// identifier; `--dedupe none` makes another item of the source.
///
/// A source that cannot be imported does not stop the others: it is reported with its reason, the exit code
/// is 3, and --rejects writes it into a file that can be imported once it is repaired.
///
/// With --remove-source, --done-dir or --reject-dir a source that lies in a collection, or holds one, is
/// refused before anything is copied. The directories may lie in a source, and a source not in them: rows and paths of a
/// list that do are passed over, and counted at the end.
///
/// A manifest has a row for each item, with the columns path; identifier and ibip, of an item that has an
/// identifier already and keeps it, unless another known collection has, or had, an item of it; sha256, which is
/// checked, also of a source that was imported before; terms of Dublin Core (title, creator, dc.identifier and
/// others); keys of your own as x.KEY; and relations as relation.KIND, with an identifier or row:PATH, another row,
/// as value. A KIND is `next_edition`, `previous_edition`, `translation.TAG`, `translation_of`, `metadata`,
/// `metadata_of`, `part_of`, or one of your own as `x.KEY`. A column may occur several times. `subject|` is a
/// column whose cells have several values, as in `maps|letters`; `subject;` likewise. In JSON Lines and TOML
/// ([[item]]) a value may be a list. Paths are beneath the directory of the manifest, or --root.
///
/// Spreadsheets of all countries are read: the delimiter is found among ; , | and tab, names of columns may be
/// Portuguese, German, Spanish or French, and rows of empty cells are ignored. A table is UTF-8, or UTF-16
/// with a byte order mark, unless --encoding says otherwise.
///
/// A row that was corrected after its item was made only adds relations that the item lacks, and the run says how
/// many such rows there are. With --update its columns replace the values of the item; an empty cell leaves them.
///
/// A bag is found by its bagit.txt. Its tag files and all digests of its files (MD5, SHA-1, SHA-2) are
/// checked; its payload becomes the item, bag-info.txt its description. The digests are kept, and a bag
/// that is exported has them again.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo import incoming
  urepo import --each-file scans --creator 'A. Archivist'
  urepo import --dry-run incoming
  urepo import incoming --exclude '*.bak' --exclude /cache/
  urepo import --manifest list.csv --map Author=creator --rejects rejects.csv
  find incoming -type f -print0 | urepo import --files-from0 -
  urepo -q import /srv/drop/ --min-age 60s --done-dir done --time-limit 5h
  urepo import bag")]
pub(crate) struct Import {
    /// Directories of items; a file or a bag is one item
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Make one item of each file, at any depth
    #[arg(long)]
    each_file: bool,
    /// Make one item of what lies N levels below a source; a file or a bag higher up is an item too [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "each_file")]
    depth: Option<std::num::NonZeroUsize>,
    /// Read paths from FILE, or standard input (-), each ended by a NUL byte; each is an item
    #[arg(long, value_name = "FILE")]
    files_from0: Option<PathBuf>,
    /// Every item is a bag; anything else is refused
    #[arg(long)]
    bags: bool,
    /// When a source is not imported again
    #[arg(long, value_name = "RULE", default_value = "source", value_parser = one_of(&DEDUPE))]
    dedupe: Dedupe,
    /// If anything is not imported, write it into FILE, a new one, so that it can be imported later
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// What to do with symbolic links
    #[arg(long, value_name = "RULE", default_value = "keep", value_parser = one_of(&LINKS))]
    links: Links,
    #[command(flatten)]
    force: names::ForceArgs,
    #[command(flatten)]
    manifest: ManifestArgs,
    #[command(flatten)]
    exclude: ExcludeArgs,
    #[command(flatten)]
    drop: DropArgs,
    #[command(flatten)]
    description: DescriptionArgs,
    #[command(flatten)]
    pub(crate) issue: IssueArgs,
}

/// A table of what is imported.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Manifest")]
struct ManifestArgs {
    /// A table of paths and what is known of them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sources", "files_from0", "each_file", "depth"])]
    manifest: Option<PathBuf>,
    /// The directory that paths are beneath, also absolute ones; that of the manifest unless given
    #[arg(long, value_name = "DIR", requires = "manifest")]
    root: Option<PathBuf>,
    #[command(flatten)]
    table: TableArgs,
    /// Correct the descriptions of items that were imported before and differ from their rows
    #[arg(long, requires = "manifest")]
    update: bool,
}

/// What becomes of the sources, for imports that are repeated each night.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Drop folder")]
struct DropArgs {
    /// Move each source into DIR, on the same file system, after its item was read back from the disk; a directory
    /// stays while something in it is not in the item
    #[arg(long, value_name = "DIR", conflicts_with = "remove_source")]
    done_dir: Option<PathBuf>,
    /// Move each source that cannot become an item into DIR, on the same file system
    #[arg(long, value_name = "DIR")]
    reject_dir: Option<PathBuf>,
    /// Remove each source after its item was read back from the disk
    #[arg(long)]
    remove_source: bool,
    /// Skip what changed within TIME, such as 60s: it may still be written
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    min_age: Option<Duration>,
    /// Start no more items after TIME, such as 5h; the next import continues
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    time_limit: Option<Duration>,
}

impl DropArgs {
    /// Whether the import is one that is repeated, and takes what it can.
    fn are_given(&self) -> bool {
        let DropArgs { done_dir, reject_dir, remove_source, min_age, time_limit } = self;
        let moves = done_dir.is_some() || reject_dir.is_some() || *remove_source;
        moves || min_age.is_some() || time_limit.is_some()
    }
}

/// The rules for sources that were imported before.
const DEDUPE: [Choice<Dedupe>; 3] = [
    ("source", "When it was imported before and has not changed since", Dedupe::Source),
    ("content", "When anything imported has the same content", Dedupe::Content),
    ("none", "Never: each run imports all", Dedupe::None),
];

impl Import {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let sources = Sources::new(self, context)?;
        let collection = context.collection()?;
        if context.global.dry_run {
            return self.rehearse(context, &collection, &sources);
        }
        let options = self.options(context, &sources)?;
        let failed = sources.rejects_file(self.rejects.as_deref())?;
        let names = self.count(context, &collection, &sources, &options)?;
        let issue = self.issue.options(context);
        let others = names::others(context, &collection, &sources)?;
        // First: another import holds it until its end.
        let Some(ledger) = self.open_ledger(context, &collection, &sources)? else { return Ok(()) };
        if let Some(names) = names {
            self.tell_waiting(context, &collection, names)?;
        }
        let issuer = Issuer::new(&collection, &context.agent, &context.clock, &issue)?;
        let writer = context.writer(&collection)?;
        let progress = context.progress();
        let mut reporter = tell::Reporter::new(context, &collection, failed);
        let found = sources::warning(context, sources.candidates()?);
        // Nobody knows beforehand what a limit leaves for the next run.
        let is_measured =
            progress.is_shown() && options.time_limit.is_none() && sources.can_be_read_twice();
        let again = is_measured.then(|| sources.candidates().ok()).flatten();
        let scan = again.map(|candidates| {
            let (collection, options) = (&collection, options.clone());
            move |scan: &Scan<'_>| measure(collection, &options, candidates, scan)
        });
        let (clock, interrupt) = (&context.clock, &context.interrupt);
        let takes_sources = !matches!(options.after, After::Keep) || options.rejected.is_some();
        let work = |progress: &dyn Progress| {
            let peers = others.peers(self.force.unseen());
            let importer =
                Importer { ledger, issuer, writer, options, peers, clock, progress, interrupt };
            importer.run(found, &mut reporter)
        };
        let (mut summary, ledger) = if takes_sources {
            scan_first(&*progress, scan, (clock, interrupt), work)
        } else {
            with_scan(&*progress, scan, work)
        };
        drop(progress);
        self.finish_rows(context, (&ledger, &sources), &mut summary, &mut reporter)?;
        reporter.finish(summary, None)
    }

    /// The ledger, unless another run that empties the same drop folder has it.
    fn open_ledger<'a>(
        &self,
        context: &Context,
        collection: &'a Collection,
        sources: &Sources<'_>,
    ) -> Result<Option<Ledger<'a>>, Failure> {
        // The holder leaves a key of its work in the lock: equal runs have the same.
        let work = format!("{:?}", (&context.current, self));
        let key = format!(" #{:.16}", Digest::of(work.as_bytes()).to_string());
        let command = format!("{}{key}", context.agent.command);
        let agent = Agent { command, ..context.agent.clone() };
        match Ledger::open(collection, &agent, &context.waiter()) {
            Ok(ledger) => Ok(Some(ledger)),
            Err(ImportError::Locked { holder, .. })
                if self.drop.are_given()
                    && sources.can_be_read_twice()
                    && holder.0.contains(&key) =>
            {
                let holder = HeldBy(holder.0.replace(&key, ""));
                context.printer.note(&format!("the same import is at work: {holder}"));
                Ok(None)
            }
            Err(ImportError::Locked { collection, holder }) => {
                let key = holder.0.find(" #").and_then(|at| holder.0.get(at..at + 18));
                let holder = HeldBy(holder.0.replace(key.unwrap_or(" #"), ""));
                Err(ImportError::Locked { collection, holder }.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Says what would be done.
    fn rehearse(&self, context: &Context, collection: &Collection, sources: &Sources<'_>) -> Done {
        Issuer::new(collection, &context.agent, &context.clock, &self.issue.options(context))?;
        let ledger = Ledger::look(collection)?;
        let mut reporter = tell::Reporter::new(context, collection, None);
        reporter.after = tell::after(&self.drop);
        let (options, interrupt) = (self.options(context, sources)?, &context.interrupt);
        let found = sources::warning(context, sources.candidates()?);
        let others = names::others(context, collection, sources)?;
        let (peers, clock) = (others.peers(self.force.unseen()), &context.clock);
        let mut summary = plan(&ledger, options, peers, clock, found, &mut reporter, interrupt);
        self.finish_rows(context, (&ledger, sources), &mut summary, &mut reporter)?;
        let wait = self.waiting(collection, summary.imported)?;
        reporter.finish(summary, Some(wait))
    }

    /// How many names are needed, where the run has to wait for them and says so.
    fn count(
        &self,
        context: &Context,
        collection: &Collection,
        sources: &Sources<'_>,
        options: &Options,
    ) -> Result<Option<u64>, Failure> {
        let waits = self.waiting(collection, u64::from(u32::MAX))? > Duration::ZERO;
        if !waits || !sources.can_be_read_twice() || context.global.quiet {
            return Ok(None);
        }
        let ledger = Ledger::look(collection)?;
        let mut silence = |_| Ok(());
        let (options, found) = (options.clone(), sources.candidates()?);
        let (peers, clock, interrupt) = (Peers::default(), &context.clock, &context.interrupt);
        let planned = plan(&ledger, options, peers, clock, found, &mut silence, interrupt);
        Ok(Some(planned.imported))
    }

    fn waiting(&self, collection: &Collection, names: u64) -> Result<Duration, Failure> {
        let IssueArgs { subsystem, granularity, .. } = &self.issue;
        Ok(waiting(collection, subsystem.as_deref(), *granularity, names)?)
    }

    fn tell_waiting(&self, context: &Context, collection: &Collection, names: u64) -> Done {
        let wait = self.waiting(collection, names)?;
        if !wait.is_zero() {
            let (names, wait) = (human::count(names, "identifier"), human::duration(wait));
            context.printer.note(&format!("{names} at this granularity take {wait}"));
        }
        Ok(())
    }

    fn options(&self, context: &Context, sources: &Sources<'_>) -> Result<Options, Failure> {
        for written in [&self.rejects, &self.drop.done_dir, &self.drop.reject_dir] {
            written.as_ref().map_or(Ok(()), |path| check_outside(&context.absolute(path)))?;
        }
        let directory = |path: &PathBuf| sources.archive_directory(path);
        let after = match &self.drop.done_dir {
            Some(path) => After::Move(directory(path)?),
            None if self.drop.remove_source => After::Remove,
            None => After::Keep,
        };
        let rejected = self.drop.reject_dir.as_ref().map(directory).transpose()?;
        Ok(Options {
            deposit: deposit::Options {
                links: self.links,
                twins: self.force.twins(),
                sources: SourceRule::Keep,
                jobs: context.config.jobs.value,
                on_error: OnError::Continue,
            },
            dedupe: self.dedupe,
            bags: if self.bags { Bags::Only } else { Bags::Detect },
            settle: self.drop.min_age,
            time_limit: self.drop.time_limit,
            after,
            rejected,
            metadata: self.description.metadata(context)?,
            title: self.description.default_title(),
        })
    }
}

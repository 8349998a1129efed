//! `urepo import`: many sources become items, each once.

use std::path::PathBuf;
use std::time::Duration;

use urepo::collection::discover::check_outside;
use urepo::collection::{Collection, Issuer};
use urepo::deposit::{self, CollisionRule, SourceRule};
use urepo::disk::Links;
use urepo::holdings::UnseenRule;
use urepo::import::{Bags, Defaults, Importer, KnownSources, Options, measure, plan, waiting};
use urepo::progress::{Progress, Scan, scan_first, with_scan};
use urepo::sidecar::Relations;

use super::description::{DescriptionArgs, Given, TermArgs};
use super::mint::{CLOCK, IssueArgs};
use super::new::LINKS;
use super::relations::At;
use super::table::TableArgs;
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::force::Force;
use crate::cli::leave_out::ExcludeArgs;
use crate::cli::{Done, human};
use sources::Sources;

mod names;
mod report;
mod rows;
mod sources;
mod summary;

/// Import many sources as items, each once
///
/// A SOURCE is a directory: each of its entries becomes an item. With --each-file, each file below it becomes
/// an item. A BagIt bag or a file becomes one item. A file with the ending
/// of a table (.csv, .tsv, .tab, .jsonl, .toml) is read as one: each row is an item, with its path and its description.
/// `-` is a list of paths on standard input, ended by NUL bytes or line breaks. Prints the identifier of each new item,
/// a tab and its source.
///
/// Files that systems and programs put beside yours, such as `.DS_Store`, `Thumbs.db`, `~$letter.docx` and
/// `*.part`, are left out of directories, by the patterns of the setting `exclude`, which `urepo status --settings`
/// shows. --exclude and files called .urepoignore in the sources add patterns. A row, a path
/// in a list and a bag are always taken, a bag as a whole. --dry-run and -v name the files that are left out.
///
/// You can repeat an import, after a success or a crash at any point: no source is imported twice. The ledger
/// of the collection has the source of each item. A source whose sizes or times
/// have changed is read, and becomes another item if its content has changed too. With --remove-source every
/// source is read before it is removed, and other bytes become another item first. Other patterns, or another rule of --links, do not make another item. One import at a time works on a
/// collection.
///
/// A source whose item has migrated away, or was deleted, counts as imported. A source whose item is missing
/// is neither imported nor removed: `urepo repair` brings the item back under its identifier; `urepo new` makes another item
/// of the source.
///
/// A source that cannot be imported does not stop the others: it is reported with its reason, the exit code
/// is 3, and --rejects writes it into a file that can be imported once the source is corrected.
///
/// With --remove-source or --reject-dir, a source that lies in a collection, or contains one, is refused before
/// anything is copied. The directory of --reject-dir may lie in a source; what lies in it is not imported.
///
/// --remove-source removes a source after its item was read back from the disk, and only files that are in the
/// item and have not changed since they were compared with it. Whatever else lies there stays.
///
/// A table has a row for each item, with these columns: path; identifier and ibip, for an item that keeps
/// its identifier, which no other known collection may have, or have had, and whose date lies at least a
/// minute back; sha256, which is checked, even if the source was imported before; terms (title,
/// creator, dc.identifier and others); keys of your own as x.KEY; and relations as relation.KIND, whose value
/// is an identifier or row:PATH, another row. A KIND is `next_edition`, `previous_edition`, `translation.TAG`,
/// `translation_of`, `metadata`, `metadata_of`, `part_of`, or one of your own as `x.KEY`. A column may occur
/// several times. The cells of a column `subject|` have several values, as in `maps|letters`; `subject;` works
/// likewise. In JSON Lines and TOML ([[item]]) a value may be a list. Paths are beneath the directory of the
/// table, or --root.
///
/// A table may come from a spreadsheet program of any country: the delimiter is found among ; , | and tab, column
/// names may be Portuguese, German, Spanish or French, and rows of empty cells are ignored. A table is UTF-8,
/// or UTF-16 with a byte order mark, unless --encoding names another encoding.
///
/// A row that was corrected after its item was made only adds missing relations, and the run counts such
/// rows. With --update its columns replace the values of the item; an empty cell leaves the values unchanged.
///
/// A bag is found by its bagit.txt. Its tag files and all digests of its files (MD5, SHA-1, SHA-2) are
/// checked; its payload becomes the item, bag-info.txt its description. A bag of `urepo export` also gives
/// access and transferable, unless the table does. The digests are kept, and an exported bag contains
/// them again.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it is typed")]
pub(crate) struct Import {
    /// Directories of items, a table, bags, files; - reads paths
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Make one item of each file, at any depth
    #[arg(long)]
    each_file: bool,
    /// Deposit tables themselves, as other files
    #[arg(long)]
    as_files: bool,
    /// Every item is a bag; anything else is refused
    #[arg(long)]
    bags: bool,
    /// Leave out what an imported item has byte by byte, whatever its path
    #[arg(long)]
    skip_same: bool,
    /// Write sources that fail into the new file FILE, so that they can be imported later
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// What to do with symbolic links
    #[arg(long, value_name = "RULE", default_value = "keep", value_parser = one_of(&LINKS))]
    links: Links,
    /// Override a rule: `twins` keeps names that differ in case or Unicode form only; `missing` takes rows with
    /// identifiers though a known collection cannot be opened; `clock` takes the clock for right
    #[arg(long, value_name = "RULE", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
    #[command(flatten)]
    manifest: ManifestArgs,
    #[command(flatten)]
    exclude: ExcludeArgs,
    #[command(flatten)]
    drop: DropArgs,
    #[command(flatten)]
    description: DescriptionArgs,
    #[command(flatten)]
    issue: IssueArgs,
}

/// A table of what is imported.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Table")]
struct ManifestArgs {
    /// The directory above all paths, also absolute ones; that of the table unless given
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    #[command(flatten)]
    table: TableArgs,
    /// Correct the descriptions of items that were imported before and differ from their rows
    #[arg(long)]
    update: bool,
}

impl ManifestArgs {
    /// Whether any of them was given.
    fn are_given(&self) -> bool {
        let ManifestArgs { root, table, update } = self;
        root.is_some() || table.are_given() || *update
    }
}

/// Treatment of the sources, for imports that are repeated each night.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Drop folder")]
struct DropArgs {
    /// Move each source that cannot become an item into DIR, on the same file system
    #[arg(long, value_name = "DIR")]
    reject_dir: Option<PathBuf>,
    /// Remove each source after its item was read back from the disk
    #[arg(long)]
    remove_source: bool,
    /// Skip sources that changed within TIME, such as 60s: they may still be written
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    min_age: Option<Duration>,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 3] = [
    CLOCK,
    ("twins", "Keep names that are the same name on some file systems", Force::Twins),
    (
        "missing",
        "Take rows with identifiers though a known collection cannot be opened",
        Force::Missing,
    ),
];

impl Import {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let sources = Sources::new(self, context)?;
        let collection = context.collection()?;
        if context.global.dry_run {
            return self.rehearse(context, &collection, &sources);
        }
        let options = self.options(context, &collection, &sources)?;
        let failed = sources.rejects_file(self.rejects.as_deref())?;
        let issue = self.issue.options(context, &self.force);
        let others = names::others(context, &collection, &sources)?;
        let issuer = Issuer::new(&collection, &context.agent, &context.clock, &issue)?;
        if self.manifest.update {
            context.check_ledger(&collection)?;
        }
        let writer = context.writer(&collection)?;
        // Behind the lines of killed runs, which the writer finishes.
        let known = KnownSources::open(&collection, Some(&context.agent))?;
        let progress = context.progress();
        let mut reporter = report::Reporter::new(context, &collection, failed);
        let found = sources::warning(context, sources.candidates()?);
        let is_measured = progress.is_shown() && sources.can_be_read_twice();
        let again = is_measured.then(|| sources.candidates().ok()).flatten();
        let scan = again.map(|candidates| {
            let (collection, options) = (&collection, options.clone());
            move |scan: &Scan<'_>| measure(collection, &options, candidates, scan)
        });
        let (clock, interrupt) = (&context.clock, &context.interrupt);
        let takes_sources = self.drop.remove_source || options.rejected.is_some();
        let work = |progress: &dyn Progress| {
            let peers = others.peers(Force::Missing.rule(&self.force, UnseenRule::Accept));
            let importer =
                Importer { known, issuer, writer, options, peers, clock, progress, interrupt };
            importer.run(found, &mut reporter)
        };
        let (mut summary, known) = if takes_sources {
            scan_first(&*progress, scan, (clock, interrupt), work)
        } else {
            with_scan(&*progress, scan, work)
        };
        drop(progress);
        self.finish_rows(context, (&known, &sources), &mut summary, &mut reporter)?;
        reporter.finish(summary, None)
    }

    /// Prints the plan.
    fn rehearse(&self, context: &Context, collection: &Collection, sources: &Sources<'_>) -> Done {
        Issuer::new(
            collection,
            &context.agent,
            &context.clock,
            &self.issue.options(context, &self.force),
        )?;
        let known = KnownSources::open(collection, None)?;
        let mut reporter = report::Reporter::new(context, collection, None);
        reporter.removes_sources = self.drop.remove_source;
        let (options, interrupt) =
            (self.options(context, collection, sources)?, &context.interrupt);
        let found = sources::warning(context, sources.candidates()?);
        let others = names::others(context, collection, sources)?;
        let unseen = Force::Missing.rule(&self.force, UnseenRule::Accept);
        let (peers, clock) = (others.peers(unseen), &context.clock);
        let mut summary = plan(&known, options, peers, clock, found, &mut reporter, interrupt);
        self.finish_rows(context, (&known, sources), &mut summary, &mut reporter)?;
        let subsystem = self.issue.subsystem.as_deref();
        let wait = waiting(collection, subsystem, None, summary.imported)?;
        reporter.finish(summary, Some(wait))
    }

    fn options(
        &self,
        context: &Context,
        collection: &Collection,
        sources: &Sources<'_>,
    ) -> Result<Options, Failure> {
        for written in [&self.rejects, &self.drop.reject_dir] {
            written.as_ref().map_or(Ok(()), |path| check_outside(&context.absolute(path)))?;
        }
        let rejected = self.drop.reject_dir.as_ref();
        let rejected = rejected.map(|path| sources.reject_directory(path)).transpose()?;
        let rule = if self.drop.remove_source { SourceRule::Remove } else { SourceRule::Keep };
        let given = self.description.read(&TermArgs::default(), context)?;
        let relations = relations(context, collection, &given)?;
        let Given { metadata, conditions, condition_keys, title, .. } = given;
        Ok(Options {
            deposit: deposit::Options {
                links: self.links,
                twins: Force::Twins.rule(&self.force, CollisionRule::Keep),
                sources: rule,
                jobs: context.config.jobs.value,
            },
            skips_same: self.skip_same,
            bags: if self.bags { Bags::Only } else { Bags::Detect },
            settle: self.drop.min_age,
            rejected,
            defaults: Defaults { metadata, conditions, condition_keys, relations, title },
        })
    }
}

/// The relations of all items. An edition leads back to one item.
fn relations(
    context: &Context,
    collection: &Collection,
    given: &Given,
) -> Result<Relations, Failure> {
    let mut relations = Relations::default();
    if given.relations.is_empty() {
        return Ok(relations);
    }
    let at = At::new(context, collection, &[])?;
    for (kind, text) in &given.relations {
        if kind.is_single() {
            let key = kind.description_key();
            return Err(Failure::usage(format!("`{key}` leads back to one item, not to each"))
                .hint(format!("a column `relation.{key}` of a table gives each item its own")));
        }
        let added = relations.add(kind, &at.other_end(text)?, None);
        added.map_err(|error| Failure::usage(error.to_string()))?;
    }
    Ok(relations)
}

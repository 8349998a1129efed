//! `urepo whereis`: show the collections that hold an item.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::holdings::{self, Holdings, JudgedHolding, Standing, Survey, holdings};
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::sidecar::Seal;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::in_sight::InSight;
use crate::cli::known::Known;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::table::{HOLDINGS, Table, TableArgs};
use crate::cli::{Done, human, records, shell};

/// Show which collections hold items, and whether their Copies are current
///
/// Prints one line for each holding: the state, its standing among the other holdings, the collection, and
/// the path. A Copy is current, stale (older than its Original), different (other content of the same date),
/// an orphan (its Original is in none of the collections), or disputed (the item has two Originals; the exit
/// code is then 23).
///
/// The collections are those named in the settings, the one of -c or around the current directory,
/// and those of --with. ITEM is an identifier, an IBIp, a link or path that contains one, or the end
/// of an identifier if it is unambiguous.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo whereis 11.21.02.13
  urepo whereis --all --state Copy --sort standing
  urepo whereis 11.21.02.13 --columns id,collection,state,standing
  urepo whereis --json example.org/archive/2026/11.21.02.13")]
pub(crate) struct Whereis {
    #[command(flatten)]
    selection: Selection,
    /// Look into this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
    #[command(flatten)]
    table: TableArgs,
}

const COLUMNS: [&str; 4] = ["state", "standing", "collection", "path"];

impl Whereis {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("whereis ITEM…")?;
        let known = context.known(&self.with)?;
        let own = context.collection().ok().map(|own| own.id().to_owned());
        let in_sight = InSight::of_all(context, own, known.roots(), &known.missing_names);
        let mut search = Search {
            in_sight: &in_sight,
            known: &known,
            table: Table::new(context, &self.table, &HOLDINGS, &COLUMNS)?,
            report: Report::reading(context, "found", self.selection.is_single()),
            state: self.selection.flags.state,
            holdings: 0,
            names_items: self.selection.names_items(),
            odd: BTreeMap::new(),
            has_conflict: false,
        };
        if self.selection.names_items() {
            let find = |text: &str| known.resolve(text);
            let feed = self.selection.named(context, find)?.into_feed();
            let fed = feed(&mut |name| search.visit(&holdings(&name, &known.collections)));
            if let Err(error) = fed {
                search.report.fatal(error.into());
            }
            let _ = search.report.unresolved();
        } else {
            self.visit_all(context, &mut search)?;
        }
        search.finish()
    }

    /// Every item of any of the collections.
    fn visit_all(&self, context: &Context, search: &mut Search<'_>) -> Done {
        let names = self.selection.filter(context);
        let survey = Survey {
            collections: &search.known.collections,
            names: &names,
            jobs: context.config.jobs.value,
            interrupt: &context.interrupt,
        };
        let _ = survey.run(|found| match found {
            holdings::Report::Item(found) => search.visit(&found),
            holdings::Report::Unlisted { error, .. } => search.report.failed("", error.into()),
        })?;
        Ok(())
    }
}

/// The requested items, and their holdings.
struct Search<'a> {
    in_sight: &'a InSight<'a>,
    known: &'a Known,
    table: Table<'a>,
    report: Report<'a>,
    state: Option<State>,
    holdings: u64,
    /// Whether the items were named: the table of remedies is asked about each.
    names_items: bool,
    /// Items whose holdings are not all an Original and its current Copies.
    odd: BTreeMap<RepositoryName, Vec<String>>,
    /// An item has two Originals.
    has_conflict: bool,
}

impl Search<'_> {
    fn visit(&mut self, found: &Holdings) -> ControlFlow<()> {
        let wanted = self.state;
        let is_wanted = |it: &&JudgedHolding| {
            wanted.is_none() || it.record.as_ref().ok().map(|it| it.state) == wanted
        };
        let mut flow = ControlFlow::Continue(());
        for holding in found.all.iter().filter(is_wanted) {
            let row = records::to_json(&record(self.known, found, holding));
            match self.table.row(&row) {
                Ok(next) => {
                    self.holdings += 1;
                    flow = next;
                }
                Err(failure) => {
                    self.report.fatal(failure);
                    return ControlFlow::Break(());
                }
            }
            if flow.is_break() {
                break;
            }
        }
        let is_well =
            |it: &JudgedHolding| matches!(it.standing, Standing::Original | Standing::Current);
        if self.names_items
            || !found.all.iter().all(is_well)
            || found.all.iter().any(|it| it.relies_on.is_some())
        {
            self.odd.insert(found.name.clone(), Vec::new());
        }
        // The limit applies to rows: faults of the last item are reported nevertheless.
        let judged = match judge(self.known, found) {
            Ok(()) => self.report.succeeded(Ok(())),
            Err(failure) => {
                self.has_conflict |= failure.exit == Exit::Conflict;
                let flushed = self.table.flush();
                self.report.written(flushed)?;
                self.report.failed(found.name.as_str(), failure)
            }
        };
        judged?;
        flow
    }

    fn finish(self) -> Done {
        let Search { known, mut table, mut report, holdings, odd, has_conflict, .. } = self;
        if let Err(failure) = table.finish() {
            report.fatal(failure);
        }
        let _ = report.written(self.in_sight.report(&odd).map(|_| ()));
        let failed = report.errors();
        let partial = (failed > 0).then(|| {
            let exit = if has_conflict { Exit::Conflict } else { Exit::Partial };
            let of = human::count(failed + report.summary.counts.items, "item");
            Failure::new(
                exit,
                format!("{failed} of {of} {} problems", if failed == 1 { "has" } else { "have" }),
            )
        });
        report.count("holdings", holdings);
        report.summary.complete = Some(known.missing.is_empty());
        report.summary.missing = Some(known.missing_names.clone());
        let done = Some(format!("{} found", human::count(holdings, "holding")));
        report.finish(End { done, partial, ..End::default() })
    }
}

/// Reports faults of the answer itself.
fn judge(known: &Known, found: &Holdings) -> Done {
    let name = &found.name;
    if found.all.is_empty() {
        return Err(known.no_item(name.as_str()));
    }
    if let [first, second, ..] = found.originals()[..] {
        return Err(known.two_originals(name, [first, second]));
    }
    for holding in &found.all {
        if let Err(error) = &holding.record {
            let path = known.collections[holding.collection].path();
            let message = format!("what `{}` holds of `{name}` cannot be read", path.display());
            let path = shell::word(path);
            return Err(Failure::new(Exit::Partial, message)
                .caused_by(Failure::of(Exit::Partial, error).in_one_line())
                .hint(format!("`urepo -c {path} verify --quick {name}` lists what is wrong")));
        }
    }
    Ok(())
}

fn record(known: &Known, found: &Holdings, holding: &JudgedHolding) -> records::Holding {
    let collection = &known.collections[holding.collection];
    let read = holding.record.as_ref().ok();
    records::Holding {
        id: found.name.to_string(),
        ibip: read.and_then(|it| it.ibip.as_ref()).map(ToString::to_string),
        path: records::path(&holding.path),
        state: read.map(|it| it.state.to_string()),
        error: holding.record.as_ref().err().map(|it| (&Failure::of(Exit::Damage, it)).into()),
        standing: holding.standing.to_string(),
        collection: collection.settings().name.clone(),
        collection_id: collection.id().to_owned(),
        timestamp: read.map(|it| it.timestamp.to_string()),
        files: read.map(|it| it.payload.files),
        bytes: read.map(|it| it.payload.bytes),
        digest: read.map(|it| format!("sha256:{}", it.payload.digest)),
        sealed: read.map(|it| it.seal == Seal::Intact),
        custody: read.map(|it| (&it.rule.custody).into()),
    }
}

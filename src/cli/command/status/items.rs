//! `urepo status ITEM`: which collections hold items, and how each holding stands to the others.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use urepo::holdings::{Holdings, JudgedHolding, holdings};
use urepo::identity::RepositoryName;
use urepo::item::States;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::in_sight::InSight;
use crate::cli::known::Known;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::table::{HOLDINGS, Table, TableArgs};
use crate::cli::{Done, human, records, shell};

const COLUMNS: [&str; 4] = ["state", "standing", "collection", "path"];

/// Prints a line for each holding of the selected items, which are named.
pub(super) fn run(context: &Context, selection: &Selection, known: &Known) -> Done {
    let own = context.collection().ok().map(|own| own.id().to_owned());
    let in_sight = InSight::of_all(context, own, known.roots(), &known.missing_names);
    let mut search = Search {
        in_sight: &in_sight,
        known,
        table: Table::new(context, &TableArgs::default(), &HOLDINGS, &COLUMNS)?,
        report: Report::reading(context, "found", selection.is_single()),
        state: selection.flags.state,
        holdings: 0,
        asked: BTreeMap::new(),
        has_conflict: false,
    };
    let find = |text: &str| known.resolve(text);
    let feed = selection.named(context, find)?.into_feed();
    let fed = feed(&mut |name| search.visit(&holdings(&name, &known.collections)));
    if let Err(error) = fed {
        search.report.fatal(error.into());
    }
    let _ = search.report.unresolved();
    search.finish()
}

/// The requested items, and their holdings.
struct Search<'a> {
    in_sight: &'a InSight<'a>,
    known: &'a Known,
    table: Table<'a>,
    report: Report<'a>,
    state: Option<States>,
    holdings: u64,
    /// The items, of which the table of remedies is asked.
    asked: BTreeMap<RepositoryName, Vec<String>>,
    /// An item has two Originals.
    has_conflict: bool,
}

impl Search<'_> {
    fn visit(&mut self, found: &Holdings) -> ControlFlow<()> {
        let wanted = self.state;
        let is_wanted = |it: &&JudgedHolding| {
            wanted.is_none_or(|wanted| it.record.as_ref().is_ok_and(|it| wanted.contains(it.state)))
        };
        let mut flow = ControlFlow::Continue(());
        for holding in found.all.iter().filter(is_wanted) {
            let collection = &self.known.collections[holding.collection];
            let row = records::to_json(&records::Holding::of(collection, &found.name, holding));
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
        self.asked.insert(found.name.clone(), Vec::new());
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
        let Search { known, mut table, mut report, holdings, asked, has_conflict, .. } = self;
        if let Err(failure) = table.finish() {
            report.fatal(failure);
        }
        let _ = report.written(self.in_sight.report(&asked).map(|_| ()));
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

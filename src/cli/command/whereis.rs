//! `urepo whereis`: which collections hold an item.

use std::ffi::OsString;

use urepo::holdings::{Holding, Holdings, holdings};
use urepo::sidecar::Seal;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::report::{End, Report};
use crate::cli::{Done, escape, human, records, shell};

/// Show which collections hold items, and whether their Copies are current
///
/// Prints one line a holding: the state, how it stands to what the other collections hold, the
/// collection, and the path. A Copy is current, stale (behind its Original), different (with other
/// content, though not behind), an orphan (its Original is in none of the collections), or disputed
/// (there are two Originals, which makes the exit code 23).
///
/// The collections are those named in the settings, the one of -c or around the current directory,
/// and those of --with. ITEM is an identifier, an IBIp, a link or path that contains one, or the end
/// of an identifier if it is unambiguous.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo whereis 11.21.02.13
  urepo whereis --json example.org/archive/2026/11.21.02.13")]
pub(crate) struct Whereis {
    /// The items
    #[arg(value_name = "ITEM", required = true)]
    items: Vec<String>,
    /// Look into this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
}

impl Whereis {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let known = context.known(&self.with)?;
        let mut report = Report::reading(context, "found", self.items.len() == 1);
        let (mut count, mut conflict) = (0, false);
        let found = report.resolve(&self.items, |text| {
            let name = known.resolve(text)?;
            let found = holdings(&name, &known.collections);
            tell(context, &known, &found)?;
            count += found.all.len() as u64;
            let judged = judge(&known, text, &found);
            conflict |= judged.as_ref().is_err_and(|failure| failure.exit == Exit::Conflict);
            judged
        });
        let failed = report.errors();
        let partial = (failed > 0).then(|| {
            let exit = if conflict { Exit::Conflict } else { Exit::Partial };
            let of = human::count(self.items.len() as u64, "item");
            Failure::new(exit, format!("{failed} of {of} are not as they should be"))
        });
        report.summary.counts.items = found.len() as u64;
        report.count("holdings", count);
        report.summary.complete = Some(known.missing.is_empty());
        report.summary.missing = Some(known.missing.iter().map(|it| it.name.clone()).collect());
        let done = Some(format!("{} found", human::count(count, "holding")));
        report.finish(End { done, partial, ..End::default() })
    }
}

/// What is wrong with the answer itself.
fn judge(known: &Known, text: &str, found: &Holdings) -> Done {
    let name = &found.name;
    if found.all.is_empty() {
        return Err(known.no_item(text));
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

fn tell(context: &Context, known: &Known, found: &Holdings) -> Done {
    if context.printer.json {
        return found
            .all
            .iter()
            .try_for_each(|holding| context.printer.record(&record(known, found, holding)));
    }
    let names: Vec<_> = known
        .collections
        .iter()
        .map(|collection| escape::one_line(&collection.settings().name))
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for holding in &found.all {
        let state = state(holding).unwrap_or_else(|| "-".to_owned());
        let (name, path) = (&names[holding.collection], holding.path.display());
        let standing = holding.standing;
        context.printer.line(&format!("{state:<8}  {standing:<10}  {name:<width$}  {path}"))?;
    }
    Ok(())
}

fn state(holding: &Holding) -> Option<String> {
    holding.record.as_ref().ok().map(|record| record.state.to_string())
}

fn record(known: &Known, found: &Holdings, holding: &Holding) -> records::Holding {
    let settings = known.collections[holding.collection].settings();
    let read = holding.record.as_ref().ok();
    records::Holding {
        id: found.name.to_string(),
        ibip: read.and_then(|it| it.ibip.as_ref()).map(ToString::to_string),
        path: records::path(&holding.path),
        state: state(holding),
        error: holding.record.as_ref().err().map(|it| (&Failure::of(Exit::Damage, it)).into()),
        standing: holding.standing.to_string(),
        collection: settings.name.clone(),
        collection_id: settings.id.clone(),
        timestamp: read.map(|it| it.timestamp.to_string()),
        files: read.map(|it| it.payload.files),
        bytes: read.map(|it| it.payload.bytes),
        digest: read.map(|it| format!("sha256:{}", it.payload.digest)),
        sealed: read.map(|it| it.seal == Seal::Intact),
        handover: read.and_then(|it| it.handover.as_ref()).map(Into::into),
    }
}

//! `urepo mint`: issue identifiers without items.

use std::time::Duration;

use urepo::collection::{IssueOptions, Issuer, Label};
use urepo::distributor::{ClockTrust, Setting};

use crate::cli::context::{Context, put_back};
use crate::cli::failure::Failure;
use crate::cli::records::Item;
use crate::cli::report::{End, Report};
use crate::cli::{Done, human};

/// Issue identifiers without depositing anything
///
/// Each identifier is new, and this collection never issues it again.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo mint
  urepo mint --count 1000
  urepo mint --granularity 60")]
pub(crate) struct Mint {
    /// How many identifiers
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    #[command(flatten)]
    pub(crate) issue: IssueArgs,
}

/// Options for issuing identifiers.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "the comments are the help, which has no markup")]
#[command(next_help_heading = "Identifiers")]
pub(crate) struct IssueArgs {
    /// The subsystem that issues the identifiers, by name or prefix
    #[arg(long, value_name = "NAME")]
    pub(super) subsystem: Option<String>,
    /// Granularity of dates: auto, or seconds such as 60, 1, 0.1
    #[arg(long)]
    pub(super) granularity: Option<Setting>,
    /// How long to wait for an identifier, such as 5s or 2m; by default 5s for a clock that is behind, and for a
    /// granularity as long as it takes [env: UREPO_MAX_WAIT]
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    pub(crate) max_wait: Option<Duration>,
    /// The clock is right, though it is far ahead of the last identifier
    #[arg(long)]
    accept_clock: bool,
}

/// Number of identifiers issued under one lock and one sync.
const BATCH: u64 = 10_000;

impl Mint {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.count == 0 {
            return Err(
                Failure::usage("`--count 0` asks for nothing").hint("leave `--count` out for one")
            );
        }
        let collection = context.collection()?;
        let options = self.issue.options(context);
        let mut issuer = Issuer::new(&collection, &context.agent, &context.clock, &options)?;
        let mut report = Report::new(context, "minted", false);
        if context.global.dry_run {
            for memory in issuer.look()?.into_iter().filter(|_| !context.printer.json) {
                let prefix = memory.prefix;
                let names = human::count(self.count, "identifier");
                context.printer.note(&format!("would issue {names} of `{prefix}`"));
            }
            report.summary.counts.items = self.count;
            return report.finish(End::default());
        }
        context.check_twins(&collection)?;
        if context.is_put_back(&collection)? {
            context.printer.warning(&put_back(&collection));
        }
        let mut left = self.count;
        while left > 0 {
            if context.interrupt.requested() {
                break;
            }
            let batch = usize::try_from(left.min(BATCH)).unwrap_or(1);
            let (labels, notices) = issuer.mint(batch)?;
            context.warn_of(&notices);
            left -= labels.len() as u64;
            report.summary.counts.items += labels.len() as u64;
            tell(context, &collection, &labels)?;
        }
        report.finish(End::default())
    }
}

impl IssueArgs {
    pub(super) fn options(&self, context: &Context) -> IssueOptions {
        let trust = if self.accept_clock { ClockTrust::Accept } else { ClockTrust::Judge };
        IssueOptions {
            subsystem: self.subsystem.clone(),
            granularity: self.granularity,
            ..context.issue_options(trust)
        }
    }
}

fn tell(context: &Context, collection: &urepo::collection::Collection, labels: &[Label]) -> Done {
    let mut output = context.printer.output();
    for label in labels {
        if context.printer.json {
            let outcome = Some("minted");
            output.record(&Item { outcome, ..Item::labelled(collection, label) });
        } else {
            output.line(label.name.as_str());
        }
    }
    context.printer.send(&output)
}

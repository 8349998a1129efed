//! `urepo mint`: issue identifiers without items.

use urepo::collection::{IssueOptions, Issuer, Label};
use urepo::distributor::ClockTrust;

use crate::cli::choice::{Choice, one_of};
use crate::cli::context::{Context, put_back};
use crate::cli::did::Did;
use crate::cli::failure::Failure;
use crate::cli::force::Force;
use crate::cli::records::Item;
use crate::cli::report::{End, Report};
use crate::cli::{Done, human};

/// Issue identifiers without depositing anything
///
/// Each identifier is new, and this collection never issues it again.
#[derive(Debug, clap::Args)]
pub(crate) struct Mint {
    /// How many identifiers
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    #[command(flatten)]
    issue: IssueArgs,
    /// Override a rule: `clock` takes the clock for right, though it is far ahead of the last identifier
    #[arg(long, value_name = "RULE", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
}

/// Options for issuing identifiers.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Identifiers")]
pub(crate) struct IssueArgs {
    /// The subsystem that issues the identifiers, by name or prefix
    #[arg(long, value_name = "NAME")]
    pub(super) subsystem: Option<String>,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 1] = [CLOCK];

/// The rule about the clock.
pub(super) const CLOCK: Choice<Force> = (
    "clock",
    "Take the clock for right, though it is far ahead of the last identifier",
    Force::Clock,
);

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
        let options = self.issue.options(context, &self.force);
        let mut issuer = Issuer::new(&collection, &context.agent, &context.clock, &options)?;
        let mut report = Report::new(context, Did::Minted, false);
        if context.global.dry_run {
            for memory in issuer.look()?.into_iter().filter(|_| !context.printer.json) {
                let prefix = memory.prefix;
                let names = human::count(self.count, "identifier");
                context.printer.note(&format!("would issue {names} of `{prefix}`"));
            }
            report.add_all(Did::Minted, self.count, (0, 0));
            return report.finish(end());
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
            report.add_all(Did::Minted, labels.len() as u64, (0, 0));
            tell(context, &collection, &labels)?;
        }
        report.finish(end())
    }
}

impl IssueArgs {
    pub(super) fn options(&self, context: &Context, forced: &[Force]) -> IssueOptions {
        let trust = Force::Clock.rule(forced, ClockTrust::Accept);
        let of_settings = || context.config.subsystem.as_ref().map(|found| found.value.clone());
        let subsystem = self.subsystem.clone().or_else(of_settings);
        IssueOptions { subsystem, ..context.issue_options(trust) }
    }
}

/// The identifiers are the answer.
fn end() -> End {
    End { is_silent: true, ..End::default() }
}

fn tell(context: &Context, collection: &urepo::collection::Collection, labels: &[Label]) -> Done {
    let mut output = context.printer.output();
    for label in labels {
        if context.printer.json {
            let did = Some(Did::Minted);
            output.record(&Item { did, ..Item::labelled(collection, label) });
        } else {
            output.line(label.name.as_str());
        }
    }
    context.printer.send(&output)
}

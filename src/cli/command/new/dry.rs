//! `urepo new --dry-run`: the plan, printed.

use urepo::collection::{Collection, IssueOptions, Issuer};
use urepo::deposit::{DepositTarget, Options, Plan, Request, Source};
use urepo::holdings::Peers;
use urepo::progress::NoProgress;

use super::report::{origin, path_of};
use super::sources::Requests;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::leave_out::LeftOutTally;
use crate::cli::records::{Item, LeftOutPath};
use crate::cli::report::{End, Report};
use crate::cli::{Done, escape, human};

pub(super) fn run(
    context: &Context,
    collection: &Collection,
    options: &Options,
    requests: Requests,
    is_single: bool,
    issue: &IssueOptions,
) -> Done {
    Issuer::new(collection, &context.agent, &context.clock, issue)?;
    let place = DepositTarget::new(collection, Peers::default(), &context.clock)?;
    let mut report = Report::new(context, Did::Deposited, is_single);
    let mut left_out = LeftOutTally::default();
    for request in requests {
        let words = request.source.describe();
        let source = Some(origin(&words, path_of(&request.source).as_deref()));
        let flow = match Plan::of_request(&request, options, &place, &NoProgress) {
            Ok(plan) => {
                for entry in &plan.entries {
                    context.printer.detail(&format!("  doc/{}", entry.path));
                }
                left_out.add(context, &words, &plan.left_out);
                let item = Item {
                    source,
                    left_out: LeftOutPath::all(&plan.left_out),
                    did: Some(Did::Deposited),
                    files: Some(plan.files() as u64),
                    bytes: Some(plan.bytes),
                    ..Item::default()
                };
                let line = format!("{words}: {}", size(&request, &plan));
                report.outcome(item, &escape::one_line(&line), "")
            }
            Err(error) => report.failed_with(Item { source, ..Item::default() }, error.into()),
        };
        if flow.is_break() {
            break;
        }
    }
    report.count("kept_sources", 0);
    report.count("left_out", left_out.total());
    left_out.tell(context);
    report.finish(End::default())
}

fn size(request: &Request, plan: &Plan) -> String {
    if matches!(request.source, Source::Stream { .. }) {
        return "as many bytes as come".to_owned();
    }
    human::size(plan.files() as u64, plan.bytes)
}

//! `urepo new --dry-run`: the plan, printed.

use urepo::collection::Collection;
use urepo::deposit::{DepositTarget, Options, Plan, Request, Source};

use super::sources::Requests;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Tally};
use crate::cli::{Done, human};

pub(super) fn run(
    context: &Context,
    collection: &Collection,
    options: &Options,
    requests: Requests,
    single: bool,
) -> Done {
    let broken = requests.failure();
    let place = DepositTarget::new(collection, &context.clock)?;
    let mut tally = Tally::new(context, single);
    let (mut planned, mut bytes) = (0_u64, 0_u64);
    for request in requests {
        match Plan::of_request(&request, options, &place) {
            Ok(plan) => {
                planned += 1;
                bytes += plan.bytes;
                tell_plan(context, &request, &plan)?;
            }
            Err(error) => {
                let mut output = context.printer.output();
                let fields = serde_json::json!({ "source": request.source.describe() });
                let flow = tally.fails(&mut output, fields, error.into(), |failure| {
                    context.printer.failure(failure);
                });
                context.printer.send(&output)?;
                if flow.is_break() {
                    break;
                }
            }
        }
    }
    if let Some(failure) = broken.take() {
        tally.ends(failure);
    }
    let failed = tally.failed;
    let partial = (failed > 0).then(|| {
        let of = planned + failed;
        let message = format!("{failed} of {of} items would not be deposited");
        Failure::new(Exit::Partial, message)
            .hint("the others would be; mend what is named above, and repeat the command")
    });
    let counts = serde_json::json!({
        "deposited": planned, "failed": failed, "left": 0, "bytes": bytes, "dry_run": true,
    });
    let done = format!("{} planned", human::count(planned, "item"));
    tally.finish(End { done, partial, counts, ..End::default() })
}

fn tell_plan(context: &Context, request: &Request, plan: &Plan) -> Done {
    let source = request.source.describe();
    let printer = &context.printer;

    if printer.json {
        printer.record(&serde_json::json!({
            "type": "plan", "version": 1, "source": source, "files": plan.files(),
            "bytes": plan.bytes, "ok": true, "dry_run": true,
        }))
    } else {
        let size = match request.source {
            Source::Stream { .. } => "as many bytes as come".to_owned(),
            _ => format!(
                "{}, {}",
                human::count(plan.files() as u64, "file"),
                human::bytes(plan.bytes)
            ),
        };
        for entry in &plan.entries {
            printer.detail(&format!("  doc/{}", entry.path));
        }
        printer.line(&format!("would deposit {source}: {size}"))
    }
}

pub(super) fn without_collection(context: &Context) -> Done {
    context.printer.note("would make the collection first, then deposit into it");
    Ok(())
}

//! `urepo new --dry-run`: the plan, printed.

use urepo::collection::Collection;
use urepo::deposit::{Options, Place, Plan, Request, Source};

use super::sources::Requests;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::{Done, human};

pub(super) fn run(
    context: &Context,
    collection: &Collection,
    options: &Options,
    requests: Requests,
) -> Done {
    let broken = requests.failure();
    let place = Place::new(collection)?;
    let mut failed = 0_u64;
    for request in requests {
        match Plan::of(&request.source, request.target.as_ref(), options, &place) {
            Ok(plan) => tell_plan(context, &request, &plan)?,
            Err(error) => {
                failed += 1;
                Failure::from(error).tell(&context.printer);
            }
        }
    }
    match broken.take() {
        Some(failure) => Err(failure),
        None if failed > 0 => Err(Failure::told(Exit::Partial)),
        None => Ok(()),
    }
}

fn tell_plan(context: &Context, request: &Request, plan: &Plan) -> Done {
    let source = request.source.describe();
    let printer = &context.printer;

    if printer.json {
        printer.record(&serde_json::json!({
            "type": "plan", "version": 1, "source": source, "files": plan.files(),
            "bytes": plan.bytes, "ok": true,
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

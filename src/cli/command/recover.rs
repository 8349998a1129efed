//! `urepo recover`: clear up after killed runs.

use serde_json::json;
use urepo::collection::{Issuer, left_overs, recover};
use urepo::distributor::ClockTrust;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::{Done, human};

/// Remove what killed runs left, and raise the memories to the newest names
///
/// What a killed run leaves was never part of the collection. The next run that deposits removes it
/// by itself; this does it now, and fails while others are writing. It may be repeated, and killed, at
/// any time.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo recover
  urepo recover --dry-run")]
pub(crate) struct Recover {}

impl Recover {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        if context.global.dry_run {
            for found in left_overs(&collection)? {
                let holder = found.holder.unwrap_or_else(|| "unknown".to_owned());
                let path = found.path.display();
                context
                    .printer
                    .line(&format!("would remove {path}, of {holder}, unless it is at work"))
                    .map_err(|error| Failure::of_stdout(&error))?;
            }
            return Ok(());
        }
        let wait = context.config.lock_wait.value;
        let removed = recover(&collection, &context.agent, &context.clock, wait)?;
        let mut notices = Vec::new();
        if !collection.settings().subsystems.is_empty() {
            let options = context.issue_options(None, None, ClockTrust::Judge);
            let issuer = Issuer::new(&collection, &context.agent, &context.clock, &options)?;
            notices = issuer.catch_up()?;
        }
        if context.printer.json {
            let notices: Vec<_> = notices.iter().map(ToString::to_string).collect();
            let record = json!({
                "type": "summary", "version": 1, "removed": removed.len(), "notices": notices,
                "exit_code": 0,
            });
            return context.printer.record(&record).map_err(|error| Failure::of_stdout(&error));
        }
        for notice in &notices {
            context.printer.warning(&notice.to_string());
        }
        for found in &removed {
            let holder = found.holder.as_deref().unwrap_or("an unknown run");
            context.printer.detail(&format!("removed the stage of {holder}"));
        }
        let told = match removed.len() as u64 {
            0 => "there is nothing to remove".to_owned(),
            count => format!("removed {}", human::count(count, "left-over stage")),
        };
        context.printer.note(&told);
        Ok(())
    }
}

//! `urepo doctor`: look at what names depend on.

use serde_json::json;
use urepo::clock::Clock as _;
use urepo::collection::{Issuer, Memory, left_overs};
use urepo::distributor::ClockTrust;

use crate::cli::Done;
use crate::cli::context::Context;

/// Show the memories that names come from, the clock, and left-overs
///
/// A memory that is a copy (a copied collection, a restored backup, a cloned disk) gives no names
/// until a person has decided that this one counts: --adopt-clock. Make sure first that the other one
/// gives no more.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo doctor
  urepo doctor --adopt-clock")]
pub(crate) struct Doctor {
    /// From now on names come from here
    #[arg(long)]
    adopt_clock: bool,
}

impl Doctor {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let options = context.issue_options(None, None, ClockTrust::Judge);
        let issuer = Issuer::new(&collection, &context.agent, &context.clock, &options)?;
        if self.adopt_clock && !context.global.dry_run {
            issuer.adopt()?;
        }
        let memories = issuer.look()?;
        let left = left_overs(&collection)?.len();

        if context.printer.json {
            let record = json!({
                "type": "doctor", "version": 1, "clock": context.clock.now().to_string(),
                "machine": context.agent.machine_id, "left_overs": left,
                "memories": memories.iter().map(memory_record).collect::<Vec<_>>(),
            });
            context.printer.record(&record)
        } else {
            let mut text = format!("clock        {}\n", context.clock.now());
            text += &format!("machine      {}\n", context.agent.machine_id);
            for memory in &memories {
                text += &memory_text(memory);
            }
            text += &match left {
                0 => "left-overs   none\n".to_owned(),
                _ => format!("left-overs   {left}; `urepo recover` removes them\n"),
            };
            context.printer.lines(&text)
        }
    }
}

fn memory_text(memory: &Memory) -> String {
    let Memory { prefix, granularity, record } = memory;
    let mut text = format!("\nprefix       {prefix}\ngranularity  {granularity}\n");
    match record {
        None => text += "last         nothing is remembered\n\n",
        Some(record) => {
            text += &format!("last         {}\n", record.last.suffix());
            text += &format!("written on   {} (record {})\n\n", record.host, record.sequence);
        }
    }
    text
}

fn memory_record(memory: &Memory) -> serde_json::Value {
    json!({
        "prefix": memory.prefix.to_string(),
        "granularity": memory.granularity.to_string(),
        "last": memory.record.as_ref().map(|record| record.last.to_string()),
        "machine": memory.record.as_ref().map(|record| record.host.to_string()),
    })
}

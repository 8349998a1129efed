//! `urepo doctor`: show the memories and the clock, on which identifiers depend.

use urepo::clock::Clock as _;
use urepo::collection::{Issuer, Memory, left_overs};
use urepo::distributor::ClockTrust;
use urepo::identity::SECOND;
use urepo::removal::pending;

use super::removal::described;
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::records::{self, Distributor};
use crate::cli::shell;

/// Show the identifier distributors, the clock and temporary files
///
/// Items whose deletion or restoration was interrupted are named; `urepo recover` completes it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo doctor")]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let options = context.care_options(ClockTrust::Judge);
        let issuer = Issuer::new(&collection, &context.agent, &context.clock, &options)?;
        let memories = issuer.look()?;
        let left = left_overs(&collection)?.len();
        let (mut unfinished, failed) = pending(&collection)?;
        unfinished.retain(|item| !item.is_at_work);
        for error in failed {
            context.printer.warning(&Failure::from(error).in_one_line());
        }

        if context.printer.json {
            context.printer.record(&records::Doctor {
                clock: context.clock.now().to_string(),
                machine: context.agent.machine_id.clone(),
                temporary_files: left as u64,
                unfinished: unfinished.iter().map(|item| item.name.to_string()).collect(),
                distributors: memories.iter().map(distributor).collect(),
            })
        } else {
            let now = context.clock.now().floor(SECOND / 1000);
            let mut text = format!("clock        {now}\n");
            text += &format!("machine      {}\n", context.agent.machine_id);
            if memories.is_empty() {
                text += "prefix       none: this collection issues no identifiers\n";
            }
            for memory in &memories {
                text += &memory_text(memory);
            }
            text += &match left {
                0 => "temporary    none\n".to_owned(),
                _ => shell::pasted(&format!(
                    "temporary    {}; `urepo recover` removes what was left\n",
                    human::count(left as u64, "file")
                )),
            };
            for item in &unfinished {
                let (removal, recover) = (described(item), shell::pasted("`urepo recover`"));
                text += &format!("unfinished   {removal}; {recover} finishes it\n");
            }
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
            let last = record.last.map_or("none yet".to_owned(), urepo::identity::Instant::suffix);
            text += &format!("last         {last}\n");
            text += &format!("written on   {} (record {})\n\n", record.host, record.sequence);
        }
    }
    text
}

fn distributor(memory: &Memory) -> Distributor {
    let record = memory.record.as_ref();
    Distributor {
        prefix: memory.prefix.to_string(),
        granularity: memory.granularity.to_string(),
        last: record.and_then(|record| record.last).map(|last| last.to_string()),
        machine: record.map(|record| record.host.to_string()),
    }
}

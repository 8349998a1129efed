//! `urepo status --machine`: the memories and the clock, on which identifiers depend, and what killed runs left.

use urepo::clock::Clock as _;
use urepo::collection::{Issuer, Memory, left_overs};
use urepo::distributor::ClockTrust;
use urepo::identity::SECOND;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::human;
use crate::cli::records::{Distributor, Machine, OneCollection};
use crate::cli::shell;

pub(super) fn run(context: &Context) -> Done {
    let collection = context.collection()?;
    let options = context.care_options(ClockTrust::Judge);
    let issuer = Issuer::new(&collection, &context.agent, &context.clock, &options)?;
    let memories = issuer.look()?;
    let left = left_overs(&collection)?.len();
    if context.printer.json {
        let machine = Some(Machine {
            clock: context.clock.now().to_string(),
            id: context.agent.machine_id.clone(),
            temporary_files: left as u64,
            distributors: memories.iter().map(distributor).collect(),
        });
        context.printer.record(&OneCollection { machine, ..(&collection).into() })
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
        context.printer.lines(&text)
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

//! `urepo doctor`: show the memories and the clock, on which identifiers depend.

use urepo::clock::Clock as _;
use urepo::collection::{Issuer, Memory, left_overs};
use urepo::distributor::{ClockTrust, FutureDate, Unseen};
use urepo::identity::SECOND;
use urepo::removal::pending;

use super::removal::described;
use crate::cli::Done;
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::force::Force;
use crate::cli::human;
use crate::cli::records::{self, Distributor};
use crate::cli::shell;

/// Show the identifier distributors, the clock and temporary files
///
/// A memory that is a copy (a copied collection, a restored backup, a cloned disk) issues no identifiers
/// until a person decides that this one counts: --take-over. First make sure that the other one issues no
/// more. The next identifier is then later than the present, so that none is issued twice.
///
/// A memory that ends in the future, because the clock was once wrong, issues no identifiers before that
/// date: --take-over --forget-future resets it to the present. Existing identifiers with such dates are not
/// issued again when their date comes, even if only another collection has them. urepo looks for them in the
/// collections that share the memory, that issued identifiers of this host or IBIps of this address before,
/// or that `config.toml` names; --names-from adds others. If one that shares the memory or issued
/// identifiers cannot be read, the memory stays as it is, unless you pass --force unseen. Identifiers that
/// were minted without an item are unknown, except the last one, and can be issued a second time.
///
/// The dates to skip are in a file beside the memory. If this file is lost, no identifiers are issued until
/// --take-over --names-from rebuilds it.
///
/// Items whose deletion or restoration was interrupted are named; `urepo recover` completes it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo doctor
  urepo doctor --take-over
  urepo doctor --take-over --forget-future
  urepo doctor --take-over --forget-future --names-from mirror")]
pub(crate) struct Doctor {
    /// Make this collection the one that issues the identifiers from now on
    #[arg(long)]
    take_over: bool,
    /// Reset a memory that ends in the future; existing identifiers with such dates are skipped
    #[arg(long, requires = "take_over")]
    forget_future: bool,
    /// Accept a clock that is far ahead of the last identifier
    #[arg(long, requires = "take_over")]
    accept_clock: bool,
    /// Skip the identifiers dated in the future that this collection holds, or that its inventory records; may
    /// be repeated
    #[arg(long, value_name = "COLLECTION", requires = "take_over")]
    names_from: Vec<String>,
    /// Override a safety rule
    #[arg(long, value_name = "RULE", requires = "take_over", value_parser = one_of(&FORCE))]
    force: Vec<Force>,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 1] = [(
    "unseen",
    "Go on although a collection that shares the memory, or issued identifiers of this host or IBIps of this address, \
     cannot be read, or the file of reserved dates is missing; identifiers dated in the future that are recorded only \
     there can be issued a second time",
    Force::Unseen,
)];

impl Doctor {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let trust = if self.accept_clock { ClockTrust::Accept } else { ClockTrust::Judge };
        let options = context.care_options(trust);
        if self.take_over && !context.global.dry_run {
            collection.rebuild(&context.agent, &context.waiter())?;
        }
        let mut issuer = Issuer::new(&collection, &context.agent, &context.clock, &options)?;
        if self.take_over && !context.global.dry_run {
            let future = if self.forget_future { FutureDate::Forget } else { FutureDate::Keep };
            let unseen = Force::Unseen.rule(&self.force, Unseen::Accept);
            let mirrors = context.opened(&self.names_from)?;
            context.warn_of(&issuer.adopt(future, unseen, &mirrors)?);
        }
        let memories = issuer.look()?;
        if self.take_over && !context.printer.json {
            for memory in &memories {
                self.tell_taken(context, memory);
            }
        }
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

    /// Reports the change of one memory, also in a dry run.
    fn tell_taken(&self, context: &Context, memory: &Memory) {
        let prefix = &memory.prefix;
        let forgotten = if self.forget_future { "; later dates do not count" } else { "" };
        context.printer.note(&if context.global.dry_run {
            format!("this collection would issue the identifiers of `{prefix}`{forgotten}")
        } else {
            format!("this collection issues the identifiers of `{prefix}` from now on{forgotten}")
        });
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

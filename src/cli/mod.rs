//! The command line: arguments become types, one command a file does the work, the outcome becomes
//! text and an exit code. Only here are terminal, environment, clock and current directory known.

mod args;
mod batch;
mod choice;
mod command;
mod complete;
mod config;
mod confirm;
mod context;
mod escape;
mod exit;
mod explain;
mod failure;
mod human;
mod input;
mod known;
mod leave_out;
mod nearest;
mod opener;
mod printer;
mod progress;
mod records;
mod report;
mod select;
mod shell;
mod stalls;
mod table;
mod usage;
mod when;
mod who;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command, Global};
use context::Context;
use exit::Exit;
use failure::Failure;
use printer::{Printer, Purpose, Verbosity};

/// How a command ends: all done, or not.
type Done = Result<(), Failure>;

/// The action of a command.
type Act<'a> = Box<dyn Fn(&Context) -> Done + 'a>;

pub(crate) fn main() -> ExitCode {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !urepo::disk::panic_becomes_error() {
            tell(panic);
        }
    }));
    if complete::answer() {
        return Exit::Success.code().into();
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            return refuse(&error).code().into();
        }
    };
    let Args { global, command } = args;
    let (name, purpose, act) = row(&command);
    let is_check = matches!(command, Command::Verify(_) | Command::Status(_) | Command::Links(_));
    // Also a dry run is an answer.
    let purpose = if global.dry_run && !is_check { Purpose::Answer } else { purpose };
    let printer = context::printer(&global, purpose);
    report::conclude(run(&command, name, &act, global, &printer), &printer).code().into()
}

/// Prints what clap says of arguments that it cannot read, or the help that was asked for.
fn refuse(error: &clap::Error) -> Exit {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
    if exit == Exit::Success {
        return error.print().map_or(Exit::Failure, |()| exit);
    }
    let is_json = std::env::args_os().any(|word| word == "--json");
    let printer =
        Printer::new(Verbosity::Normal, is_json, anstream::ColorChoice::Auto, Purpose::Answer);
    match usage::failure(error) {
        Some(failure) => printer.failure(&failure),
        // The help, where the command is missing.
        None => printer.excerpt(error.render().to_string().trim_end()),
    }
    exit
}

fn run(command: &Command, name: &str, act: &Act<'_>, global: Global, printer: &Printer) -> Done {
    let max_wait = match command {
        Command::New(new) => new.issue.max_wait,
        Command::Import(import) => import.issue.max_wait,
        Command::Mint(mint) => mint.issue.max_wait,
        // These two need nothing of the machine.
        Command::Completions(completions) => return completions.run(printer, global.dry_run),
        Command::Man(man) => return man.run(printer),
        _ => None,
    };
    let context = Context::new(global, printer.clone(), name, max_wait)?;
    let done = act(&context);
    context.tell_unlogged();
    done
}

/// The name of a command, what stdout is to it, and what it does. What has been verified is worth its exit
/// code, even if nobody reads the rest.
fn row(command: &Command) -> (&'static str, Purpose, Act<'_>) {
    use Purpose::{Answer, Work};
    match command {
        Command::Init(it) => ("init", Work, Box::new(|context| it.run(context))),
        Command::Adopt(it) => ("adopt", Work, Box::new(|context| it.run(context))),
        Command::New(it) => ("new", Work, Box::new(|context| it.run(context))),
        Command::Import(it) => ("import", Work, Box::new(|context| it.run(context))),
        Command::List(it) => ("list", Answer, Box::new(|context| it.run(context))),
        Command::Show(it) => ("show", Answer, Box::new(|context| it.run(context))),
        Command::Find(it) => ("find", Answer, Box::new(|context| it.run(context))),
        Command::Relate(it) => ("relate", Work, Box::new(|context| it.run(context))),
        Command::Meta(it) => ("meta", it.purpose(), Box::new(|context| it.run(context))),
        Command::Path(it) => ("path", Answer, Box::new(|context| it.run(context))),
        Command::Cat(it) => ("cat", Answer, Box::new(|context| it.run(context))),
        Command::Open(it) => ("open", Answer, Box::new(|context| it.run(context))),
        Command::Resolve(it) => ("resolve", Answer, Box::new(|context| it.run(context))),
        Command::Manifest(it) => ("manifest", Answer, Box::new(|context| it.run(context))),
        Command::Links(it) => ("links", Work, Box::new(|context| it.run(context))),
        Command::Link(it) => ("link", Answer, Box::new(|context| it.run(context))),
        Command::Verify(it) => ("verify", Work, Box::new(|context| it.run(context))),
        Command::Status(it) => ("status", Work, Box::new(|context| it.run(context))),
        Command::Whereis(it) => ("whereis", Answer, Box::new(|context| it.run(context))),
        Command::Copy(it) => ("copy", Work, Box::new(|context| it.run(context))),
        Command::Migrate(it) => ("migrate", Work, Box::new(|context| it.run(context))),
        Command::Refresh(it) => ("refresh", Work, Box::new(|context| it.run(context))),
        Command::Promote(it) => ("promote", Work, Box::new(|context| it.run(context))),
        Command::Demote(it) => ("demote", Work, Box::new(|context| it.run(context))),
        Command::Export(it) => (
            "export",
            if it.is_stream() { Answer } else { Work },
            Box::new(|context| it.run(context)),
        ),
        Command::Delete(it) => ("delete", Work, Box::new(|context| it.run(context))),
        Command::Restore(it) => ("restore", Work, Box::new(|context| it.run(context))),
        Command::Purge(it) => ("purge", Work, Box::new(|context| it.run(context))),
        Command::Repair(it) => ("repair", Work, Box::new(|context| it.run(context))),
        Command::Stats(it) => ("stats", Answer, Box::new(|context| it.run(context))),
        Command::Log(it) => ("log", Answer, Box::new(|context| it.run(context))),
        Command::Index(it) => ("index", Work, Box::new(|context| it.run(context))),
        Command::Id(it) => ("id", Answer, Box::new(|context| it.run(context))),
        Command::Mint(it) => ("mint", Work, Box::new(|context| it.run(context))),
        Command::Recover(it) => ("recover", Work, Box::new(|context| it.run(context))),
        Command::Doctor(it) => ("doctor", Work, Box::new(|context| it.run(context))),
        Command::Config(it) => ("config", Answer, Box::new(|context| it.run(context))),
        Command::Completions(it) => (
            "completions",
            Answer,
            Box::new(|context| it.run(&context.printer, context.global.dry_run)),
        ),
        Command::Man(it) => ("man", Answer, Box::new(|context| it.run(&context.printer))),
    }
}

/// The command line as clap knows it, for completions and man pages.
fn definitions() -> clap::Command {
    use clap::CommandFactory;
    Args::command()
}

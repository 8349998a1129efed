//! The command line: arguments become types, one command a file does the work, the outcome becomes
//! text and an exit code. Only here are terminal, environment, clock and current directory known.

mod args;
mod command;
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
mod printer;
mod progress;
mod records;
mod report;
mod select;
mod shell;
mod stalls;
mod who;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use context::Context;
use exit::Exit;
use failure::Failure;
use printer::{Printer, Purpose, Verbosity};

/// How a command ends: all done, or not.
type Done = Result<(), Failure>;

pub(crate) fn main() -> ExitCode {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !urepo::disk::panic_becomes_error() {
            tell(panic);
        }
    }));
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            return refuse(&error).code().into();
        }
    };
    let printer = context::printer(&args.global, args.command.purpose(args.global.dry_run));
    report::conclude(run(args, &printer), &printer).code().into()
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
    // Without styles: the arguments in it may contain escape sequences, too.
    let text = error.render().to_string();
    let text = text.trim_end();
    let message = text.strip_prefix("error: ");
    match (is_json, message) {
        (true, _) => {
            let lines = message.unwrap_or(text).lines().take_while(|line| !line.is_empty());
            let lines: Vec<_> = lines.map(str::trim).collect();
            printer.failure(&Failure::usage(lines.join(" ")));
        }
        (false, Some(message)) => printer.usage(message),
        // The help, where the command is missing.
        (false, None) => printer.excerpt(text),
    }
    exit
}

fn run(args: Args, printer: &Printer) -> Done {
    let Args { global, command } = args;
    let (name, max_wait) = match &command {
        Command::Init(_) => ("init", None),
        Command::Adopt(_) => ("adopt", None),
        Command::New(new) => ("new", new.max_wait),
        Command::Import(import) => ("import", import.max_wait),
        Command::List(_) => ("list", None),
        Command::Show(_) => ("show", None),
        Command::Find(_) => ("find", None),
        Command::Path(_) => ("path", None),
        Command::Cat(_) => ("cat", None),
        Command::Manifest(_) => ("manifest", None),
        Command::Verify(_) => ("verify", None),
        Command::Status(_) => ("status", None),
        Command::Whereis(_) => ("whereis", None),
        Command::Copy(_) => ("copy", None),
        Command::Migrate(_) => ("migrate", None),
        Command::Refresh(_) => ("refresh", None),
        Command::Promote(_) => ("promote", None),
        Command::Demote(_) => ("demote", None),
        Command::Export(_) => ("export", None),
        Command::Delete(_) => ("delete", None),
        Command::Restore(_) => ("restore", None),
        Command::Purge(_) => ("purge", None),
        Command::Repair(_) => ("repair", None),
        Command::Stats(_) => ("stats", None),
        Command::Log(_) => ("log", None),
        Command::Index(_) => ("index", None),
        Command::Id(_) => ("id", None),
        Command::Mint(mint) => ("mint", mint.max_wait),
        Command::Recover(_) => ("recover", None),
        Command::Doctor(_) => ("doctor", None),
        Command::Config(_) => ("config", None),
        // These two need nothing of the machine.
        Command::Completions(completions) => return completions.run(printer),
        Command::Man(man) => return man.run(printer),
    };
    let context = Context::new(global, printer.clone(), name, max_wait)?;
    let done = match command {
        Command::Init(init) => init.run(&context),
        Command::Adopt(adopt) => adopt.run(&context),
        Command::New(new) => new.run(&context),
        Command::Import(import) => import.run(&context),
        Command::List(list) => list.run(&context),
        Command::Show(show) => show.run(&context),
        Command::Find(find) => find.run(&context),
        Command::Path(path) => path.run(&context),
        Command::Cat(cat) => cat.run(&context),
        Command::Manifest(manifest) => manifest.run(&context),
        Command::Verify(verify) => verify.run(&context),
        Command::Status(status) => status.run(&context),
        Command::Whereis(whereis) => whereis.run(&context),
        Command::Copy(copy) => copy.run(&context),
        Command::Migrate(migrate) => migrate.run(&context),
        Command::Refresh(refresh) => refresh.run(&context),
        Command::Promote(promote) => promote.run(&context),
        Command::Demote(demote) => demote.run(&context),
        Command::Export(export) => export.run(&context),
        Command::Delete(delete) => delete.run(&context),
        Command::Restore(restore) => restore.run(&context),
        Command::Purge(purge) => purge.run(&context),
        Command::Repair(repair) => repair.run(&context),
        Command::Stats(stats) => stats.run(&context),
        Command::Log(log) => log.run(&context),
        Command::Index(index) => index.run(&context),
        Command::Id(id) => id.run(&context),
        Command::Mint(mint) => mint.run(&context),
        Command::Recover(recover) => recover.run(&context),
        Command::Doctor(doctor) => doctor.run(&context),
        Command::Config(config) => config.run(&context),
        Command::Completions(_) | Command::Man(_) => Ok(()),
    };
    context.tell_unlogged();
    done
}

/// The command line as clap knows it, for completions and man pages.
fn definitions() -> clap::Command {
    use clap::CommandFactory;
    Args::command()
}

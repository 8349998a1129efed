//! The command line: arguments become types, one command a file does the work, the outcome becomes
//! text and an exit code. Only here are terminal, environment, clock and current directory known.

mod agent;
mod args;
mod at_odds;
mod batch;
mod choice;
mod command;
mod complete;
mod config;
mod confirm;
mod context;
mod did;
mod escape;
mod exit;
mod explain;
mod failure;
mod force;
mod global;
mod help;
mod human;
mod in_sight;
mod indexed;
mod input;
mod known;
mod leave_out;
mod nearest;
mod opener;
mod printer;
mod progress;
mod records;
mod remedy;
mod report;
mod salvage;
mod seen;
mod select;
mod shell;
mod table;
mod trace;
mod twins;
mod typed;
mod usage;
mod when;
mod words;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use args::{Args, Command};
use clap::error::ErrorKind;
use config::{Config, Shown};
use context::Context;
use exit::Exit;
use failure::Failure;
use global::Global;
use printer::{Printer, Purpose, Verbosity};

/// The end of a command.
type Done = Result<(), Failure>;

pub(crate) fn main() -> ExitCode {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !urepo::disk::panic_becomes_error() {
            tell(panic);
        }
    }));
    urepo::disk::take_umask();
    urepo::disk::raise_descriptor_limit();
    if complete::answer() {
        return Exit::Success.code().into();
    }
    let words: Vec<_> = std::env::args_os().collect();
    let args = match Args::read(&words) {
        Ok(args) => args,
        Err(error) => {
            return refuse(&error, &words).code().into();
        }
    };
    let Args { global, command, name } = args;
    if let Some(typed) = in_use(&global, &command) {
        shell::set_collection(&typed);
    }
    let is_check = matches!(command, Command::Verify(_) | Command::Status(_));
    // A dry run is an answer, too.
    let purpose = if global.dry_run && !is_check { Purpose::Answer } else { command.purpose() };
    let config = context::config(&global);
    let color = config.as_ref().map_or(Shown::Auto, |config| config.color.value);
    let printer = context::printer(&global, color, purpose);
    if let Some(warning) = trace::start(matches!(&*name, "serve" | "resolver")) {
        printer.warning(&warning);
    }
    for warning in config.as_ref().map_or(&[][..], |config| &config.unreached) {
        printer.warning(warning);
    }
    report::conclude(run(&command, &name, global, config, &printer), &printer).code().into()
}

/// Prints the error of clap about the arguments `words`, or the requested help.
fn refuse(error: &clap::Error, words: &[OsString]) -> Exit {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
    let is_json = words.iter().any(|word| word == "--json");
    let printer =
        Printer::new(Verbosity::Normal, is_json, anstream::ColorChoice::Auto, Purpose::Answer);
    let help = || help::asked(words).unwrap_or_else(|| error.render().to_string());
    match usage::failure(error) {
        _ if error.kind() == ErrorKind::DisplayHelp => {
            return printer.lines(&(help() + "\n")).map_or_else(|failure| failure.exit, |()| exit);
        }
        _ if exit == Exit::Success => return error.print().map_or(Exit::Failure, |()| exit),
        Some(failure) => printer.failure(&failure),
        // The help, if the command is missing.
        None => printer.excerpt(help().trim_end()),
    }
    exit
}

/// The collection as typed; `None` for the one around the current directory.
fn in_use(global: &Global, command: &Command) -> Option<OsString> {
    let root = match command {
        Command::Init(init) => &init.root,
        _ => return global.collection.clone(),
    };
    // A single word may also be a name in the settings.
    let path = if root.is_absolute() { root.clone() } else { Path::new(".").join(root) };
    (root != Path::new(".")).then(|| path.into())
}

fn run(
    command: &Command,
    name: &str,
    global: Global,
    config: Result<Config, Failure>,
    printer: &Printer,
) -> Done {
    let context = Context::new(global, config?, printer.clone(), name)?;
    command.run(&context).map_err(|mut failure| {
        context.advise(&mut failure);
        failure
    })
}

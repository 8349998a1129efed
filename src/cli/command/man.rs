//! `urepo man`: the manual, from the same definitions as the help.

use std::path::PathBuf;

use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::printer::Printer;

mod page;
mod roff;

/// Print a page of the manual
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo man new | man -l -")]
pub(crate) struct Man {
    /// The command; urepo itself unless given
    command: Option<String>,
    /// Write all pages into this directory instead
    #[arg(long, value_name = "DIR", hide = true)]
    write: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self, printer: &Printer) -> Done {
        let mut urepo = crate::cli::definitions();
        // Gives every command the global flags and its full name.
        urepo.build();
        if let Some(dir) = &self.write {
            return write_all(dir, &urepo);
        }
        let text = match self.command.as_deref() {
            None => page::of_urepo(&urepo),
            Some(name) => match urepo.find_subcommand(name) {
                Some(command) => page::of_command(command),
                None => {
                    return Err(Failure::usage(format!("there is no command `{name}`"))
                        .hint("`urepo --help` lists the commands"));
                }
            },
        };
        printer.payload(text.as_bytes())
    }
}

fn write_all(dir: &std::path::Path, urepo: &clap::Command) -> Done {
    let dir = urepo::disk::Dir::open(dir, urepo::disk::Watcher::default())?;
    dir.replace_file("urepo.1", page::of_urepo(urepo).as_bytes())?;
    for command in page::commands(urepo) {
        let name = format!("urepo-{}.1", command.get_name());
        dir.replace_file(&name, page::of_command(command).as_bytes())?;
    }
    Ok(())
}

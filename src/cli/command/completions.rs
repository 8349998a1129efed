//! `urepo completions`: scripts for shells.

use clap_complete::Shell;

use crate::cli::Done;
use crate::cli::printer::Printer;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo completions bash > ~/.local/share/bash-completion/completions/urepo")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, printer: &Printer) -> Done {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut crate::cli::definitions(), "urepo", &mut text);
        printer.payload(&text)
    }
}

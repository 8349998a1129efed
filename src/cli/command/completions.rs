//! `urepo completions`: scripts for shells.

use clap_complete::Shell;

use crate::cli::Done;

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
    pub(crate) fn run(&self) -> Done {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut crate::cli::definitions(), "urepo", &mut text);
        use std::io::Write as _;
        std::io::stdout()
            .lock()
            .write_all(&text)
            .map_err(|error| crate::cli::failure::Failure::of_stdout(&error))
    }
}

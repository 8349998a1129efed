//! The flags of every command.

use std::ffi::OsString;

use clap::ArgAction;

use super::config::parse_jobs;

/// Flags of every command, before or after its name.
#[derive(Clone, Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "the comments are the help, which has no markup")]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The collection: a path, or a name from the settings; else the one around the current
    /// directory [env: UREPO_COLLECTION]
    #[arg(short, long, global = true, value_name = "COLLECTION")]
    pub(crate) collection: Option<OsString>,
    /// Print what would be done, and do nothing
    #[arg(short = 'n', long, global = true)]
    pub(crate) dry_run: bool,
    /// Print only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print JSON: one document, or one record a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// How many files to work on at a time [env: UREPO_JOBS]
    #[arg(short, long, global = true, value_name = "N", value_parser = parse_jobs)]
    pub(crate) jobs: Option<usize>,
}

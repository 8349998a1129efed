//! The flags of every command.

use std::ffi::OsString;
use std::time::Duration;

use anstream::ColorChoice;
use clap::ArgAction;

use super::choice::{Choice, one_of};
use super::config::parse_jobs;
use super::human::parse_duration;

/// Flags of every command, before or after its name.
#[derive(Clone, Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it is typed")]
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
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = one_of(&COLORS))]
    pub(crate) color: ColorChoice,
    /// Show progress even where stderr is not a terminal
    #[arg(long, global = true, overrides_with = "no_progress")]
    pub(crate) progress: bool,
    /// Show no progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    /// How long to wait for a lock, such as 30s or 5m [env: UREPO_LOCK_WAIT]
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) lock_wait: Option<Duration>,
}

/// When to use colour.
const COLORS: [Choice<ColorChoice>; 3] = [
    ("auto", "On a terminal, unless `NO_COLOR` is set", ColorChoice::Auto),
    ("always", "Always", ColorChoice::Always),
    ("never", "Never", ColorChoice::Never),
];

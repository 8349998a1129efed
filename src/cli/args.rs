//! What can be typed: global flags and the list of commands. Help and man pages come from here.

use std::ffi::OsString;
use std::time::Duration;

use clap::{ArgAction, Parser, Subcommand, ValueEnum};

use super::command;
use super::config::parse_jobs;
use super::human::parse_duration;

/// Keeps files in uniform repositories: every item gets a permanent identifier (IBI), which is also its
/// path, needs no registry and no server, and is never issued twice.
#[derive(Debug, Parser)]
#[command(name = "urepo", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "`urepo help COMMAND` says more; the manual is in urepo(1).")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

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
    /// Say what would be done, and do nothing
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
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands, in the order of a first day.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(command::init::Init),
    Adopt(command::adopt::Adopt),
    #[command(visible_aliases = ["add", "deposit"])]
    New(Box<command::new::New>),
    Import(Box<command::import::Import>),
    #[command(visible_alias = "ls")]
    List(command::list::List),
    #[command(visible_alias = "info")]
    Show(command::show::Show),
    #[command(visible_alias = "search")]
    Find(Box<command::find::Find>),
    Meta(command::meta::Meta),
    Relate(command::relate::Relate),
    Path(command::path::Path),
    Cat(command::cat::Cat),
    Open(command::open::Open),
    Resolve(Box<command::resolve::Resolve>),
    Manifest(command::manifest::Manifest),
    Links(command::links::Links),
    Link(command::link::LinkTo),
    #[command(visible_aliases = ["check", "fsck"])]
    Verify(command::verify::Verify),
    Status(command::status::Status),
    Whereis(command::whereis::Whereis),
    #[command(visible_alias = "cp")]
    Copy(Box<command::copy::Copy>),
    #[command(visible_aliases = ["move", "mv"])]
    Migrate(Box<command::migrate::Migrate>),
    Refresh(Box<command::refresh::Refresh>),
    Promote(Box<command::promote::Promote>),
    Demote(Box<command::demote::Demote>),
    Export(Box<command::export::Export>),
    #[command(visible_alias = "rm")]
    Delete(command::delete::Delete),
    Restore(command::restore::Restore),
    Purge(command::purge::Purge),
    Repair(command::repair::Repair),
    Stats(command::stats::Stats),
    Log(command::log::Log),
    Index(command::index::Index),
    Id(command::id::Id),
    Mint(command::mint::Mint),
    Recover(command::recover::Recover),
    Doctor(command::doctor::Doctor),
    Config(command::config::Config),
    Completions(command::completions::Completions),
    Man(command::man::Man),
}

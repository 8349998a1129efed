//! What can be typed: global flags and the list of commands. Help and man pages come from here.

use std::ffi::OsString;
use std::time::Duration;

use clap::{ArgAction, Args as _, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::command;
use super::config::parse_jobs;
use super::human::parse_duration;

/// Keeps files in uniform repositories: every item gets a permanent identifier (IBI), which is also its
/// path, needs no registry and no server, and is never issued twice.
#[derive(Debug, Parser)]
#[command(name = "urepo", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "`urepo help COMMAND` says more; `urepo man` shows the manual.")]
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

impl Args {
    /// Reads the command line `words`.
    ///
    /// To define every command takes longer than most commands take, so the one that is typed is read alone at
    /// first. Words that it can read mean the same among all commands. All others are read again with every
    /// command, which makes the errors and the help.
    pub(crate) fn read(words: &[OsString]) -> Result<Args, clap::Error> {
        let alone = words.iter().skip(1).find_map(|word| Command::alone(word.to_str()?));
        let read = alone.and_then(|alone| {
            let program = Global::augment_args(clap::Command::new("urepo")).subcommand(alone);
            let matches = program.try_get_matches_from(words).ok()?;
            Args::from_arg_matches(&matches).ok()
        });
        read.map_or_else(|| Args::try_parse_from(words), Ok)
    }
}

/// Declares each command with its name and its other names.
macro_rules! commands {
    ($($command:ident($arguments:ty) = $name:literal $(| $alias:literal)*;)*) => {
        /// The commands, in the order of a first day.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[command(name = $name, visible_aliases = &[$($alias),*] as &[&str])]
            $command($arguments),)*
        }

        impl Command {
            /// The definition of the command `name` by itself.
            fn alone(name: &str) -> Option<clap::Command> {
                match name {
                    $($name $(| $alias)* => {
                        let command = clap::Command::new($name).aliases(&[$($alias),*] as &[&str]);
                        Some(<$arguments>::augment_args(command))
                    })*
                    _ => None,
                }
            }

            /// The name.
            pub(crate) fn name(&self) -> &'static str {
                match self {
                    $(Command::$command(_) => $name,)*
                }
            }
        }
    };
}

commands! {
    Init(command::init::Init) = "init";
    Adopt(command::adopt::Adopt) = "adopt";
    New(Box<command::new::New>) = "new" | "add" | "deposit";
    Import(Box<command::import::Import>) = "import";
    List(command::list::List) = "list" | "ls";
    Show(command::show::Show) = "show" | "info";
    Find(Box<command::find::Find>) = "find" | "search";
    Meta(command::meta::Meta) = "meta";
    Relate(command::relate::Relate) = "relate";
    Path(command::path::Path) = "path";
    Cat(command::cat::Cat) = "cat";
    Open(command::open::Open) = "open";
    Resolve(Box<command::resolve::Resolve>) = "resolve";
    Manifest(command::manifest::Manifest) = "manifest";
    Links(command::links::Links) = "links";
    Link(command::link::LinkTo) = "link";
    Verify(command::verify::Verify) = "verify" | "check" | "fsck";
    Status(command::status::Status) = "status";
    Whereis(command::whereis::Whereis) = "whereis";
    Copy(Box<command::copy::Copy>) = "copy" | "cp";
    Migrate(Box<command::migrate::Migrate>) = "migrate" | "move" | "mv";
    Refresh(Box<command::refresh::Refresh>) = "refresh";
    Promote(Box<command::promote::Promote>) = "promote";
    Demote(Box<command::demote::Demote>) = "demote";
    Export(Box<command::export::Export>) = "export";
    Delete(command::delete::Delete) = "delete" | "rm";
    Restore(command::restore::Restore) = "restore";
    Purge(command::purge::Purge) = "purge";
    Repair(command::repair::Repair) = "repair";
    Stats(command::stats::Stats) = "stats";
    Log(command::log::Log) = "log";
    Index(command::index::Index) = "index";
    Id(command::id::Id) = "id";
    Mint(command::mint::Mint) = "mint";
    Recover(command::recover::Recover) = "recover";
    Doctor(command::doctor::Doctor) = "doctor";
    Config(command::config::Config) = "config";
    Completions(command::completions::Completions) = "completions";
    Man(command::man::Man) = "man";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments in a line, or its error, as text.
    fn read(line: &str, by: impl Fn(&[OsString]) -> Result<Args, clap::Error>) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match by(&words) {
            Ok(args) => format!("{args:?}"),
            Err(error) => error.render().to_string(),
        }
    }

    #[test]
    fn a_line_means_the_same_whether_one_command_is_defined_or_all() {
        for line in [
            "urepo",
            "urepo --version",
            "urepo --help",
            "urepo help new",
            "urepo new --help",
            "urepo nwe a",
            "urepo new a b --each -c archive --title T -n",
            "urepo -c new list",
            "urepo -c list new list",
            "urepo -c new -- list",
            "urepo --collection=list add new",
            "urepo new --frobnicate",
            "urepo new --edition-of",
            "urepo ls -qv",
            "urepo -q ls --limit 3 --json",
            "urepo list list",
            "urepo list --state new",
            "urepo path",
            "urepo meta set 11.22.10.15 title=new",
            "urepo meta",
            "urepo meta --help",
            "urepo man new",
            "urepo verify --jobs 0",
        ] {
            assert_eq!(
                read(line, Args::read),
                read(line, |words| Args::try_parse_from(words)),
                "{line}"
            );
        }
    }

    /// The whole definition is only read where a line has no command or an error.
    #[test]
    fn every_command_can_be_read_alone() {
        let all = <Args as clap::CommandFactory>::command();
        for command in all.get_subcommands() {
            for name in command.get_name_and_visible_aliases() {
                let alone = Command::alone(name).unwrap();
                assert_eq!(alone.get_name(), command.get_name());
                assert!(alone.get_arguments().eq(command.get_arguments()), "{name}");
            }
        }
    }
}

//! The command line: the list of commands. Help and man pages come from here.

use std::ffi::OsString;

use clap::{Args as _, FromArgMatches, Parser, Subcommand};

use super::context::Context;
use super::failure::Failure;
use super::global::Global;
use super::printer::{Printer, Purpose};
use super::{Done, command};

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

impl Args {
    /// Reads the command line `words`.
    ///
    /// Defining all commands takes longer than running most of them, so at first only the typed command is
    /// defined. A line that it can read means the same with all commands defined. Any other line is read
    /// again with all commands, for its error or help.
    pub(crate) fn read(words: &[OsString]) -> Result<Args, clap::Error> {
        // `help --help` is `help`, which has no options.
        let is_help = words.get(1).is_some_and(|word| word == "help");
        let is_extra = |word: &&OsString| is_help && (*word == "--help" || *word == "-h");
        let words: Vec<_> = words.iter().filter(|word| !is_extra(word)).collect();
        let alone = words.iter().skip(1).find_map(|word| Command::alone(word.to_str()?));
        let read = alone.and_then(|alone| {
            let program = Global::augment_args(clap::Command::new("urepo")).subcommand(alone);
            let matches = program.try_get_matches_from(&words).ok()?;
            Args::from_arg_matches(&matches).ok()
        });
        read.map_or_else(|| Args::try_parse_from(words), Ok)
    }
}

/// Declares each command with its name, its other names, and the use of stdout. A verification is worth its exit code,
/// even if nobody reads the rest.
macro_rules! commands {
    (
        // The last ones, which need nothing of the machine and only answer.
        alone { $($lone:ident($own:ty) = $lone_name:literal;)* }
        $($command:ident($arguments:ty) = $name:literal $(| $alias:literal)*: $purpose:ident;)*
    ) => {
        /// The commands, in the order of a first day.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[command(name = $name, visible_aliases = &[$($alias),*] as &[&str])]
            $command($arguments),)*
            $(#[command(name = $lone_name)]
            $lone($own),)*
        }

        impl Command {
            /// The definition of the command `name` by itself.
            fn alone(name: &str) -> Option<clap::Command> {
                match name {
                    $($name $(| $alias)* => {
                        let command = clap::Command::new($name).aliases(&[$($alias),*] as &[&str]);
                        Some(<$arguments>::augment_args(command))
                    })*
                    $($lone_name => Some(<$own>::augment_args(clap::Command::new($lone_name))),)*
                    _ => None,
                }
            }

            /// The name.
            pub(crate) fn name(&self) -> &'static str {
                match self {
                    $(Command::$command(_) => $name,)*
                    $(Command::$lone(_) => $lone_name,)*
                }
            }

            /// The use of stdout.
            pub(crate) fn purpose(&self) -> Purpose {
                match self {
                    Command::Meta(it) if it.is_answer() => Purpose::Answer,
                    Command::Export(it) if it.is_stream() => Purpose::Answer,
                    $(Command::$command(_) => Purpose::$purpose,)*
                    $(Command::$lone(_) => Purpose::Answer,)*
                }
            }

            /// Does its work, with `context` unless it needs none.
            pub(crate) fn run(
                &self,
                printer: &Printer,
                is_dry: bool,
                context: impl FnOnce() -> Result<Context, Failure>,
            ) -> Done {
                match self {
                    $(Command::$command(it) => context()?.during(|context| it.run(context)),)*
                    $(Command::$lone(it) => it.run(printer, is_dry),)*
                }
            }
        }
    };
}

commands! {
    alone {
        Completions(command::completions::Completions) = "completions";
        Man(command::man::Man) = "man";
    }
    Init(command::init::Init) = "init": Work;
    Adopt(command::adopt::Adopt) = "adopt": Work;
    New(Box<command::new::New>) = "new" | "add" | "deposit": Work;
    Import(Box<command::import::Import>) = "import": Work;
    List(command::list::List) = "list" | "ls": Answer;
    Show(command::show::Show) = "show" | "info": Answer;
    Find(Box<command::find::Find>) = "find" | "search": Answer;
    Meta(command::meta::Meta) = "meta": Work;
    Relate(command::relate::Relate) = "relate": Work;
    Path(command::path::Path) = "path": Answer;
    Cat(command::cat::Cat) = "cat": Answer;
    Open(command::open::Open) = "open": Answer;
    Resolve(Box<command::resolve::Resolve>) = "resolve": Answer;
    Manifest(command::manifest::Manifest) = "manifest": Answer;
    Links(command::links::Links) = "links": Work;
    Link(command::link::LinkTo) = "link": Answer;
    Verify(command::verify::Verify) = "verify" | "check" | "fsck": Work;
    Status(command::status::Status) = "status": Work;
    Whereis(command::whereis::Whereis) = "whereis": Answer;
    Copy(Box<command::copy::Copy>) = "copy" | "cp": Work;
    Migrate(Box<command::migrate::Migrate>) = "migrate" | "move" | "mv": Work;
    Refresh(Box<command::refresh::Refresh>) = "refresh": Work;
    Promote(Box<command::promote::Promote>) = "promote": Work;
    Demote(Box<command::demote::Demote>) = "demote": Work;
    Export(Box<command::export::Export>) = "export": Work;
    Delete(command::delete::Delete) = "delete" | "rm": Work;
    Restore(command::restore::Restore) = "restore": Work;
    Purge(command::purge::Purge) = "purge": Work;
    Repair(command::repair::Repair) = "repair": Work;
    Stats(command::stats::Stats) = "stats": Answer;
    Log(command::log::Log) = "log": Answer;
    Index(command::index::Index) = "index": Work;
    Id(command::id::Id) = "id": Answer;
    Mint(command::mint::Mint) = "mint": Work;
    Recover(command::recover::Recover) = "recover": Work;
    Doctor(command::doctor::Doctor) = "doctor": Work;
    Config(command::config::Config) = "config": Answer;
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

    /// The whole definition is only used if a line has no command or an error.
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

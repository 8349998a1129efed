//! The command line: the list of commands. Help and man pages come from here.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use urepo::index::Word;

use super::context::Context;
use super::global::Global;
use super::printer::Purpose;
use super::{Done, command};

/// Keeps files in uniform repositories: every item gets a permanent identifier (IBI), which is also its
/// path, needs no registry and no server, and is never issued twice.
#[derive(Debug, Parser)]
#[command(name = "urepo", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Args<C: Subcommand = Command> {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: C,
    /// The name of the command; of several, the one in the help.
    #[arg(skip)]
    pub(crate) name: String,
}

impl Args {
    /// Reads the command line `words`.
    ///
    /// Defining all commands takes longer than running most of them, so only the typed command is defined. A line that is
    /// wrong or asks for help is read again with all of them: what is said of one may depend on the others.
    pub(crate) fn read(words: &[OsString]) -> Result<Args, clap::Error> {
        let words = &unwanted_words(words)[..];
        let read = <Args>::command().try_get_matches_from(words);
        let matches = read.or_else(|_| definitions().try_get_matches_from(words))?;
        let name = matches.subcommand_name().unwrap_or_default().to_owned();
        Ok(Args { name, ..Args::from_arg_matches(&matches)? })
    }
}

/// The options before a command that take a value.
pub(super) const VALUED: [&str; 4] = ["-c", "--collection", "-j", "--jobs"];

/// The command line with `-KEY:` of a search as `not:KEY:`, which is no option.
fn unwanted_words(words: &[OsString]) -> Cow<'_, [OsString]> {
    let mut at = 1;
    while words.get(at).is_some_and(|it| it.as_encoded_bytes().starts_with(b"-")) {
        at += 1 + usize::from(VALUED.iter().any(|valued| words[at] == *valued));
    }
    let is_list = |it: &OsString| ["list", "ls", "find", "search"].iter().any(|word| it == word);
    if !words.get(at).is_some_and(is_list) {
        return words.into();
    }
    let mut is_value = false;
    let mut unwanted = |word: &OsString| {
        let text = word.to_str().unwrap_or_default();
        // The value of an option stays as it is.
        let was_value = std::mem::replace(&mut is_value, text.starts_with("--") && text != "--");
        let text = text.strip_prefix('-').filter(|it| it.contains(':') && !was_value)?;
        let word = Word::of_argument(&format!("not:{text}")).ok()?.into_iter().next()?;
        word.key.map(|_| OsString::from(format!("not:{text}")))
    };
    let end = words.iter().position(|it| it == "--").unwrap_or(words.len());
    let rewritten =
        words[at..end].iter().map(|word| unwanted(word).unwrap_or_else(|| word.clone()));
    let rewritten: Vec<_> = rewritten.collect();
    [&words[..at], &rewritten[..], &words[end..]].concat().into()
}

/// The command line for clap, with the definitions of all commands: for help, completions and man pages.
pub(crate) fn definitions() -> clap::Command {
    Args::<Defined>::command()
}

macro_rules! commands {
    ($(#[$doc:meta])* $name:ident, defer = $defer:tt) => {
        $(#[$doc])*
        #[derive(Debug, Subcommand)]
        #[command(defer = $defer)]
        pub(crate) enum $name {
            Init(command::init::Init),
            #[command(visible_aliases = ["add", "deposit"])]
            New(Box<command::new::New>),
            Import(Box<command::import::Import>),
            #[command(visible_aliases = ["ls", "find", "search"])]
            List(command::list::List),
            #[command(visible_aliases = ["info"])]
            Show(command::show::Show),
            Meta(command::meta::Meta),
            Cat(command::cat::Cat),
            Open(command::open::Open),
            Resolve(Box<command::resolve::Resolve>),
            #[command(visible_aliases = ["check", "fsck"])]
            Verify(command::verify::Verify),
            Status(command::status::Status),
            #[command(visible_aliases = ["cp"])]
            Copy(Box<command::copy::Copy>),
            #[command(visible_aliases = ["move", "mv"])]
            Migrate(Box<command::migrate::Migrate>),
            Promote(Box<command::promote::Promote>),
            Export(Box<command::export::Export>),
            #[command(visible_aliases = ["rm"])]
            Delete(command::delete::Delete),
            Restore(command::restore::Restore),
            Purge(command::purge::Purge),
            Repair(command::repair::Repair),
            Log(command::log::Log),
            Mint(command::mint::Mint),
            #[cfg(feature = "serve")]
            Serve(command::serve::Serve),
            #[cfg(feature = "resolver")]
            Resolver(Box<command::resolver::ResolverCommand>),
            Recover(command::recover::Recover),
            #[command(hide = true)]
            Generate(command::generate::Generate),
        }
    };
}

commands! {
    /// The commands, in the order of a first day. Each is defined when it is typed.
    Command, defer = true
}

commands! {
    /// The same, all defined.
    Defined, defer = false
}

impl Command {
    /// The use of stdout. A verification is worth its exit code, even if nobody reads the rest.
    pub(crate) fn purpose(&self) -> Purpose {
        match self {
            Command::Status(it) if it.is_answer() => Purpose::Answer,
            Command::Export(it) if it.is_stream() => Purpose::Answer,
            #[cfg(feature = "resolver")]
            Command::Resolver(it) if it.is_answer() => Purpose::Answer,
            #[cfg(feature = "serve")]
            Command::Serve(it) if it.is_answer() => Purpose::Answer,
            Command::List(_)
            | Command::Show(_)
            | Command::Cat(_)
            | Command::Open(_)
            | Command::Resolve(_)
            | Command::Log(_) => Purpose::Answer,
            _ => Purpose::Work,
        }
    }

    /// Does its work.
    pub(crate) fn run(&self, context: &Context) -> Done {
        match self {
            Command::Init(it) => it.run(context),
            Command::New(it) => it.run(context),
            Command::Import(it) => it.run(context),
            Command::List(it) => it.run(context),
            Command::Show(it) => it.run(context),
            Command::Meta(it) => it.run(context),
            Command::Cat(it) => it.run(context),
            Command::Open(it) => it.run(context),
            Command::Resolve(it) => it.run(context),
            Command::Verify(it) => it.run(context),
            Command::Status(it) => it.run(context),
            Command::Copy(it) => it.run(context),
            Command::Migrate(it) => it.run(context),
            Command::Promote(it) => it.run(context),
            Command::Export(it) => it.run(context),
            Command::Delete(it) => it.run(context),
            Command::Restore(it) => it.run(context),
            Command::Purge(it) => it.run(context),
            Command::Repair(it) => it.run(context),
            Command::Log(it) => it.run(context),
            Command::Mint(it) => it.run(context),
            #[cfg(feature = "serve")]
            Command::Serve(it) => it.run(context),
            #[cfg(feature = "resolver")]
            Command::Resolver(it) => it.run(context),
            Command::Recover(it) => it.run(context),
            Command::Generate(it) => it.run(context),
        }
    }
}

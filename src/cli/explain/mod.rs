//! Errors of the library as failures, with exit code and next command.

mod adopt;
mod amend;
mod catalog;
mod custody;
mod described;
mod distributor;
mod export;
mod import;
mod original;
mod promotion;
pub(super) mod removal;
pub(crate) mod repair;
mod resolve;
#[cfg(feature = "resolver")]
mod resolver;
#[cfg(feature = "serve")]
mod serve;
mod transfer;

use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;

use urepo::collection::{CollectionError, Stopped};
use urepo::deposit::{DepositError, NoRoom, RefusedLinks};
use urepo::disk::copy::CopyError;
use urepo::disk::{FileFault, PathError};
use urepo::identity::{Identifier, ParseError, RepositoryName};
use urepo::import::column_of;
use urepo::layout;
use urepo::sidecar::{MetadataError, TERMS};

use crate::cli::escape;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::nearest::nearest;
use crate::cli::shell;

/// An error of the library that the command line reports.
pub(super) trait Explain: Error {
    /// The failure with its exit code, and one action that can be typed.
    fn explain(&self) -> Failure;

    /// The failure for a word of the command line: no disk has to be read to see that it is wrong.
    fn explain_word(&self) -> Failure {
        let mut failure = self.explain();
        failure.exit = Exit::Usage;
        failure
    }
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Failure {
        error.explain()
    }
}

impl Explain for ParseError {
    fn explain(&self) -> Failure {
        let hint = match self.kind() {
            "host name" => "a host is fully qualified, such as archive.example.org",
            "persistent URL" => {
                "a persistent URL is an identifier, modifiers such as `!`, `+(pt)` and `:(oai_dc)`, and a path; \
                 put it in quotes"
            }
            "language preference" => "languages are a list such as `pt-BR,pt;q=0.8,en;q=0.5`",
            "address" => {
                "an address is a host and optionally a port, such as `archive.example.org:8080`"
            }
            "URL key" => "a URL key is such as `1426203276-5985125171467764`",
            "IBIp" => "an IBIp is two words of 2-9 and A-U, W and X, such as 8JMKD3MGP8W/34PGRBS",
            _ => "an identifier is subdomain/word/year/month.day.hour.minute[.second], in UTC",
        };
        let mut failure = Failure::of(Exit::Failure, self).hint(hint);
        failure.excerpt = Some(self.excerpt().into());
        failure
    }
}

/// The texts for several items for which a disk has no room, and for items that fail because of an earlier
/// failure.
const WITHOUT_ROOM: &str = "for which there is no room";
const WITH_THE_GROUP: &str = "because of the failure before them";
const WHILE_LOCKED: &str = "repeat with `UREPO_LOCK_WAIT=5m`; the lock ends with that process";
const REPEAT: &str = "repeat the command";

/// The hint for a missing named directory: its disk may not be mounted.
pub(crate) const NOT_MOUNTED: &str = "is it mounted? `findmnt` lists mounted file systems";

/// The hint about bytes that were found damaged: the file system does not know of it, so that no row of the table would fit.
fn verified_by(name: &RepositoryName, collection: &Path) -> String {
    let collection = shell::word(collection);
    format!("`urepo -c {collection} verify {name}` says what is wrong, and what to do")
}

impl Explain for PathError {
    fn explain(&self) -> Failure {
        let failure = Failure::of(Exit::Failure, self);
        // The working directory may be on another file system, and a stage ends with its run.
        let above = || {
            let own = self.path().ancestors().find(|it| it.ends_with(layout::OWN));
            match own.unwrap_or(self.path()).parent() {
                Some(above) if above.as_os_str().is_empty() => ".".to_owned(),
                above => shell::word(above.unwrap_or(self.path())),
            }
        };
        match self.kind() {
            _ if self.is_link() => Failure::new(Exit::Failure, failure.message)
                .caused_by("it, or a directory on the way to it, is a symbolic link")
                .hint("links are not followed; put a directory in its place, or remove it"),
            _ if self.is_full() => failure
                .hint(format!(
                    "make room, `df -h {}` shows how much there is, and repeat the command",
                    above()
                ))
                .in_common(WITHOUT_ROOM),
            _ if self.is_unholdable() => failure.hint(
                "ext4, XFS and Btrfs hold every name; `urepo export ITEM --format tar --to DIR` packs an item into one \
                 file",
            ),
            _ if self.shortage().is_some() => failure
                .hint("`ulimit -n` shows how many files may be open at a time; repeat with more, or `-j 1`"),
            std::io::ErrorKind::FileTooLarge => failure.hint(format!(
                "`ulimit -f` shows how large a file may be here, if not the file system limits it: \
                 `findmnt -T {}`",
                above()
            )),
            std::io::ErrorKind::ReadOnlyFilesystem => failure.hint(format!(
                "the file system is mounted read-only; `findmnt -T {}` shows it",
                above()
            )),
            std::io::ErrorKind::CrossesDevices => failure.hint(format!(
                "a collection has to lie on one file system; `findmnt -T {}` shows what is mounted \
                 in it",
                above()
            )),
            std::io::ErrorKind::PermissionDenied => {
                let path = shell::word(self.path());
                failure.hint(format!("`namei -l {path}` shows who may do what on the way"))
            }
            _ => failure,
        }
    }
}

impl Explain for MetadataError {
    fn explain(&self) -> Failure {
        let failure = Failure::of(Exit::Failure, self);
        match self {
            Self::UnknownTerm(term) => {
                failure.hint(format!(
                    "{}`x.{}` is a key of your own; the terms are {}",
                    meant_term(term),
                    escape::one_line(term.trim_start_matches("x.")),
                    TERMS.join(", ")
                ))
            }
            Self::Date(..) => failure.hint(
                "write it as year, month and day, as far as they are known: `1911-03-12`, `1911-03`, `1911`",
            ),
            Self::OwnKeys(keys) => failure.hint(format!("name them: `{}`", keys.join(" "))),
            Self::Key(_) => failure.hint("name it in such letters, as in `x.shelf-mark`"),
            Self::Empty(_) => failure.hint("leave it out; `urepo meta set ITEM KEY=` removes a key"),
            Self::GivenTwice(_) | Self::Language(_) | Self::Text(_) | Self::Kind(_) => failure,
        }
    }
}

impl Explain for CopyError {
    fn explain(&self) -> Failure {
        match self {
            Self::Disk(error) => error.explain(),
            Self::Interrupted => Failure::told(Exit::Interrupted),
        }
    }
}

impl Explain for CollectionError {
    fn explain(&self) -> Failure {
        match self {
            Self::Parse(error) => error.explain(),
            Self::Distributor(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::NotACollection { .. } => Failure::of(Exit::NoCollection, self).hint(NOT_MOUNTED),
            Self::NoSettings { path } => Failure::of(Exit::NoCollection, self).hint(format!(
                "put it back from a backup; without one, `urepo -c {} recover` writes it again",
                shell::word(path)
            )),
            Self::SettingsLost { path } => Failure::of(Exit::Conflict, self).hint(format!(
                "`urepo -c {} recover` writes it again",
                shell::word(path)
            )),
            Self::OtherId { path, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "`urepo -c {0} recover` gives `urepo.toml` the id of the ledger; if `{0}` is a copy that is to be a \
                 collection of its own, `urepo -c {0} recover --new-id`",
                shell::word(path)
            )),
            Self::NoId { path } => Failure::of(Exit::Conflict, self).hint(format!(
                "put `urepo.toml` back from a backup; without one, `urepo -c {} recover --new-id` makes a new \
                 collection of it, whose items are Copies",
                shell::word(path)
            )),
            Self::NotInACollection { .. } => Failure::of(Exit::NoCollection, self)
                .hint("name one with `-c PATH`, or make one with `urepo init PATH --host FQDN`"),
            Self::ExistsAlready { .. } => {
                Failure::of(Exit::Conflict, self).hint("deposit into it with `urepo new PATH`")
            }
            Self::Nested { .. } => Failure::of(Exit::Conflict, self)
                .hint("choose a place beside it; collections stand side by side"),
            Self::Inside { .. } => Failure::of(Exit::Conflict, self)
                .hint("name a place outside of it: in a collection all is an item or urepo's own"),
            Self::Settings { path, .. } => Failure::of(Exit::Failure, self).hint(format!(
                "correct `{}`; `urepo status --settings` shows the settings",
                shell::word(path)
            )),
            Self::NoSubsystem { path, .. } => Failure::of(Exit::Failure, self).hint(format!(
                "`{}` names the subsystems: host, port and name",
                shell::word(path)
            )),
            Self::NetworkFileSystem { .. } => Failure::of(Exit::Failure, self).hint(
                "set `network = \"trusted\"` in `urepo.toml` if its locks work between machines, and \
                 give each machine a subsystem of its own",
            ),
            Self::Locked { .. } => Failure::of(Exit::Locked, self)
                .hint(WHILE_LOCKED)
                .in_common("in a locked collection"),
            Self::OtherCollection { collection, .. } => Failure::of(Exit::NoItem, self)
                .hint(format!("`-c {}` names that collection", shell::word(collection))),
            Self::NoSuchItem { name, .. } => Failure::of(Exit::NoItem, self)
                .hint(label_hint(name).unwrap_or("`urepo list` lists the identifiers".to_owned())),
            Self::Ambiguous { names, .. } => {
                let names: Vec<_> = names.iter().take(10).map(|name| format!("  {name}")).collect();
                let mut failure =
                    Failure::of(Exit::NoItem, self).hint("type more of the identifier");
                failure.excerpt = Some(names.join("\n").into());
                failure
            }
            Self::GivenUp { line, .. } => Failure::of(Exit::NoItem, self)
                .hint(format!(
                    "`urepo status {}` looks for it in all known collections; `--with COLLECTION` adds one",
                    line.id
                ))
                .elsewhere(&line.id),
            Self::Vanished { line, .. } => Failure::of(Exit::NoItem, self)
                .hint(format!(
                    "`urepo repair {} --from COLLECTION` brings it back from a collection that has it",
                    line.id
                ))
                .about(&line.id),
            Self::Displaced { .. } => {
                Failure::of(Exit::Damage, self).hint("`urepo recover` puts it back")
            }
            Self::Sidecar { name, .. }
            | Self::OtherSidecar { name, .. }
            | Self::NoSidecar { name } => Failure::of(Exit::Damage, self)
                .hint(format!("`urepo verify --quick {name}` lists every problem of this item"))
                .about(name),
            Self::Changed { .. } => Failure::of(Exit::Failure, self).hint(REPEAT),
            Self::Unchangeable { .. } => Failure::of(Exit::Damage, self),
            Self::Stopped(error) => error.explain(),
            // A bug in urepo.
            Self::Unlocked { .. } => Failure::of(Exit::Failure, self),
            Self::Interrupted { .. } => Failure::of(Exit::Interrupted, self),
        }
    }
}

impl Explain for Stopped {
    fn explain(&self) -> Failure {
        match self {
            Self::Unconfirmed { name, .. } => Failure::unconfirmed(self)
                .hint(format!("check the disk, then `urepo verify {name}`")),
            Self::NotReached { .. } => Failure::of(Exit::Failure, self).in_common(WITH_THE_GROUP),
        }
    }
}

/// Names the links that a rule refuses, and the rules that accept them.
fn refused_links(mut failure: Failure, links: &RefusedLinks) -> Failure {
    let RefusedLinks { named, count, lead_nowhere, .. } = links;
    if *count > 1 {
        failure = named.iter().fold(failure, |failure, link| failure.caused_by(link.to_string()));
        if let Some(more @ 1..) = count.checked_sub(named.len()) {
            failure = failure.caused_by(format!("and {}", human::count(more as u64, "more link")));
        }
    }
    failure.hint(match lead_nowhere {
        0 => "`--links follow` deposits what links lead to, `--links asis` keeps them as they are",
        _ => "`--links asis` keeps links as they are, `--links skip` leaves them out",
    })
}

impl Explain for FileFault {
    fn explain(&self) -> Failure {
        Failure::of(Exit::Failure, self).hint(match self {
            Self::Changing(_) => "repeat the command when no program writes to it",
            Self::Time(_) => "`touch` gives it another time",
        })
    }
}

impl Explain for DepositError {
    fn explain(&self) -> Failure {
        match self {
            Self::Original(error) => error.explain(),
            Self::Collection(error) => error.explain(),
            Self::Disk(error) if error.kind() == ErrorKind::NotFound => {
                let above = error.path().parent().filter(|above| !above.as_os_str().is_empty());
                let above = shell::word(above.unwrap_or(Path::new(".")));
                error.explain().hint(format!("`ls -a {above}` lists what is there"))
            }
            Self::Disk(error) => error.explain(),
            Self::File(error) => error.explain(),
            Self::Special { .. } => Failure::of(Exit::Failure, self).hint(
                "move it out of the way: only files, directories and links inside the item are kept",
            ),
            Self::Link { dangles: Some(target), .. } => Failure::of(Exit::Failure, self)
                .caused_by(format!("it is dangling: no `{}`", target.display()))
                .hint("remove it, or correct it"),
            Self::Link { dangles: None, .. } => Failure::of(Exit::Failure, self)
                .hint("`--links follow` deposits what it points to"),
            Self::Links(links) => refused_links(Failure::of(Exit::Failure, self), links),
            Self::Twins { .. } => Failure::of(Exit::Failure, self)
                .hint("rename one; `--force twins` keeps both as they are"),
            Self::SameName { .. } => Failure::of(Exit::Failure, self)
                .hint("deposit the directory that holds them, or one item each with `--each`"),
            Self::NoName { .. } => Failure::of(Exit::Failure, self).hint("name it by its path"),
            Self::Nothing { .. } => {
                Failure::of(Exit::Failure, self).hint("an item has at least one file or link")
            }
            Self::AllLeftOut { .. } => Failure::of(Exit::Failure, self).hint(
                "`--no-ignore` deposits what only `.urepoignore` files and the settings leave out",
            ),
            Self::InCollection { .. } => {
                Failure::of(Exit::Failure, self).hint("what is in a collection has an identifier already")
            }
            Self::Stray { .. } => Failure::of(Exit::Failure, self)
                .hint("move it out of the collection, and repeat with its new path"),
            Self::HoldsCollection { .. } => {
                Failure::of(Exit::Failure, self).hint("deposit what lies beside the collection")
            }
            Self::OfCollection { collection, .. } => Failure::of(Exit::Failure, self).hint(format!(
                "`urepo -c {} migrate ITEM --to OTHER` moves an item; a source that stays may lie in a collection",
                shell::word(collection)
            )),
            Self::NoRoom(error) => error.explain(),
            Self::NoTarget { .. } => {
                Failure::of(Exit::Failure, self).hint("name a file as it will be below `doc/`")
            }
            Self::TooManyFiles { .. } => {
                Failure::of(Exit::Failure, self).hint("divide it into several items")
            }
            Self::NotDurable { name, .. } => Failure::unconfirmed(self)
                .hint(format!("check the disk, then `urepo verify {name}`")),
            Self::Mismatch { .. } | Self::PayloadMismatch { .. } => Failure::of(Exit::Damage, self)
                .hint("it has changed since the digest was taken, or on its way here: fetch it again"),
            Self::ListedLink { .. } => Failure::of(Exit::Failure, self)
                .hint("`--links follow` takes the file that the link leads to"),
            Self::NotListed { .. } | Self::NotThere { .. } => Failure::of(Exit::Failure, self)
                .hint("a bag holds the files that its manifests list: fetch it again"),
            Self::NameExists { name } | Self::IbipExists { name, .. } => {
                Failure::of(Exit::Conflict, self).hint(format!("`urepo show {name}` shows it"))
            }
            Self::DeletedHere { .. } => Failure::of(Exit::Deleted, self).hint(
                "remove the source, or its row; `urepo new` makes another item of it",
            ),
            Self::Held(_) | Self::Overtaken => {
                Failure::of(Exit::Conflict, self).hint("nothing needs to be done")
            }
            Self::NameTaken { .. } => Failure::of(Exit::Conflict, self)
                .hint("repeat the command: the next identifier is another one"),
            Self::GroupFailed => Failure::of(Exit::Failure, self).in_common(WITH_THE_GROUP),
            Self::Stream { .. } => Failure::of(Exit::Failure, self),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}

impl Explain for NoRoom {
    fn explain(&self) -> Failure {
        let NoRoom { item, needed, unit, free, place } = self;
        let amount = |count: &u64| match *unit {
            "bytes" => human::bytes(*count),
            unit => human::count(*count, unit.trim_end_matches('s')),
        };
        let (needed, free, place) = (amount(needed), amount(free), place.display());
        let message = format!("no room for `{item}`: it takes {needed}, `{place}` has {free}");
        Failure::new(Exit::Failure, message)
            .hint("make room, and repeat the command")
            .in_common(WITHOUT_ROOM)
    }
}

/// A question after the term that `typed` is another name of, or nearly its name.
pub(in crate::cli) fn meant_term(typed: &str) -> String {
    let other = column_of(typed).filter(|column| TERMS.contains(column));
    let meant = other.or_else(|| nearest(typed, &TERMS));
    meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "))
}

/// The command that finds an `IBIp` or a label from before 2009 whose date is not that of the name.
pub(super) fn label_hint(text: &str) -> Option<String> {
    let is_label = !matches!(text.parse::<Identifier>(), Ok(Identifier::Repository(_)) | Err(_));
    is_label.then(|| format!("`urepo list {text}` asks the index, which knows all stored labels"))
}

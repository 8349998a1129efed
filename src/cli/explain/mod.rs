//! Errors of the library as failures: which exit code, and what to type next.

mod adopt;
mod catalog;
mod export;
mod import;
mod original;
mod promotion;
mod repair;
pub(super) mod transfer;

use std::path::Path;

use urepo::collection::{CollectionError, FindError};
use urepo::deposit::DepositError;
use urepo::disk::{LockError, PathError};
use urepo::distributor::{DistributorError, Verdict};
use urepo::identity::ParseError;
use urepo::sidecar::MetadataError;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::shell;

pub(super) mod removal;

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Failure {
        let hint = match error.kind() {
            "host name" => "a host is fully qualified, such as archive.example.org",
            "IBIp" => "an IBIp is two words of 2-9 and A-U, W and X, such as 8JMKD3MGP8W/34PGRBS",
            _ => "a name is subdomain/word/year/month.day.hour.minute[.second], in UTC",
        };
        let mut failure = Failure::of(Exit::Failure, &error).hint(hint);
        failure.excerpt = Some(error.excerpt());
        failure
    }
}

/// What is said of several items that a disk has no room for, and of those that a failure before them has
/// taken along.
const WITHOUT_ROOM: &str = "for which there is no room";
const WITH_THE_GROUP: &str = "because of the failure before them";

impl From<PathError> for Failure {
    fn from(error: PathError) -> Failure {
        let failure = Failure::of(Exit::Failure, &error);
        match error.kind() {
            _ if error.is_link() => Failure::new(Exit::Failure, failure.message)
                .caused_by("it, or a directory on the way to it, is a symbolic link")
                .hint("links are not followed; put a directory in its place, or remove it"),
            _ if error.is_full() => failure
                .hint("make room, `df -h .` shows how much there is, and repeat the command")
                .in_common(WITHOUT_ROOM),
            _ if error.shortage().is_some() => failure
                .hint("`ulimit -n` shows how many files may be open at a time; repeat with more, or `-j 1`"),
            std::io::ErrorKind::FileTooLarge => failure.hint(
                "`ulimit -f` shows how large a file may be here, if not the file system limits it: \
                 `findmnt -T .`",
            ),
            std::io::ErrorKind::ReadOnlyFilesystem => {
                failure.hint("the file system is mounted read-only; `findmnt -T .` shows it")
            }
            std::io::ErrorKind::CrossesDevices => {
                let above = shell::word(error.path().parent().unwrap_or(error.path()));
                failure.hint(format!(
                    "a collection has to lie on one file system; `findmnt -T {above}` shows what is \
                     mounted in it"
                ))
            }
            std::io::ErrorKind::PermissionDenied => {
                let path = shell::word(error.path());
                failure.hint(format!("`namei -l {path}` shows who may do what on the way"))
            }
            _ => failure,
        }
    }
}

impl From<MetadataError> for Failure {
    fn from(error: MetadataError) -> Failure {
        let failure = Failure::of(Exit::Failure, &error);
        match &error {
            MetadataError::UnknownTerm(term) => failure.hint(format!(
                "`--meta {}` keeps a key of your own; the terms are {}",
                shell::word(format!("x.{}=…", term.trim_start_matches("x."))),
                urepo::sidecar::TERMS.join(", ")
            )),
            MetadataError::Key(_) => failure.hint("name it in such letters, as in `x.shelf-mark`"),
            _ => failure,
        }
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Failure {
        match error {
            FindError::Collection(error) => error.into(),
            FindError::Ambiguous { ref names, .. } => {
                let names: Vec<_> = names.iter().take(10).map(|name| format!("  {name}")).collect();
                let mut failure =
                    Failure::of(Exit::NoItem, &error).hint("give more of the name you mean");
                failure.excerpt = Some(names.join("\n"));
                failure
            }
        }
    }
}

impl From<CollectionError> for Failure {
    fn from(error: CollectionError) -> Failure {
        match error {
            CollectionError::Parse(error) => error.into(),
            CollectionError::Distributor(error) => error.into(),
            CollectionError::Disk(error) => error.into(),
            error => {
                let failure = Failure::of(exit_of(&error), &error);
                match hint_for(&error) {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
        }
    }
}

fn exit_of(error: &CollectionError) -> Exit {
    match error {
        CollectionError::NotACollection { .. } | CollectionError::NotInACollection { .. } => {
            Exit::NoCollection
        }
        CollectionError::ExistsAlready { .. }
        | CollectionError::Nested { .. }
        | CollectionError::PrefixInUse { .. }
        | CollectionError::PrefixLost { .. } => Exit::Conflict,
        CollectionError::Locked { .. } | CollectionError::ItemLocked { .. } => Exit::Locked,
        CollectionError::Interrupted { .. } => Exit::Interrupted,
        error if error.is_absence() => Exit::NoItem,
        CollectionError::Displaced { .. }
        | CollectionError::Sidecar { .. }
        | CollectionError::NoSidecar { .. }
        | CollectionError::OtherSidecar { .. }
        | CollectionError::Unchangeable { .. } => Exit::Damage,
        _ => Exit::Failure,
    }
}

fn hint_for(error: &CollectionError) -> Option<String> {
    Some(match error {
        CollectionError::NotACollection { path } => {
            format!("`urepo init {} --host FQDN` makes one", shell::word(path))
        }
        CollectionError::NotInACollection { .. } => {
            "name one with `-c PATH`, or make one with `urepo init PATH --host FQDN`".to_owned()
        }
        CollectionError::ExistsAlready { path } => {
            format!("deposit into it with `urepo -c {} new PATH`", shell::word(path))
        }
        CollectionError::Nested { .. } => {
            "choose a place beside it; collections stand side by side".to_owned()
        }
        CollectionError::Settings { path, .. } => {
            format!("correct `{}`; `urepo config` shows what is read", shell::word(path))
        }
        CollectionError::NoSubsystem { path, .. } => {
            format!("`{}` names the subsystems: host, port and name", shell::word(path))
        }
        CollectionError::NetworkFileSystem { .. } => "set `network = \"trusted\"` in `urepo.toml` \
             if its locks work between machines, and give each machine a subsystem of its own"
            .to_owned(),
        CollectionError::PrefixInUse { .. } => {
            "take another `--host`; share one memory with `--distributor DIR` in both; or give names \
             only from here from now on: `--force prefix` with `init`, later `urepo doctor \
             --take-over`"
                .to_owned()
        }
        CollectionError::PrefixLost { .. } => "if it was moved, use it at its new place; if it is \
             lost, `--names-from` a mirror of it, or `--force prefix`"
            .to_owned(),
        CollectionError::MemoryOutside { dir, .. } => format!(
            "if you trust this collection, add `distributors = [{}]` to the settings that \
             `urepo config` shows",
            toml::Value::from(&*dir.to_string_lossy())
        ),
        CollectionError::Locked { .. } | CollectionError::ItemLocked { .. } => {
            "repeat with `--lock-wait 5m`; the lock ends with that process".to_owned()
        }
        CollectionError::NoSuchItem { .. } => "`urepo list` shows the names there are".to_owned(),
        CollectionError::Left { line, .. } => {
            format!("`urepo whereis {}` looks for it in all known collections", line.name)
        }
        CollectionError::Vanished { recorded, .. } => format!(
            "`urepo repair {} --from COLLECTION` brings it back from a collection that has it",
            recorded.line.name
        ),
        CollectionError::Displaced { .. } => "`urepo recover` puts it back".to_owned(),
        CollectionError::Sidecar { name, .. }
        | CollectionError::OtherSidecar { name, .. }
        | CollectionError::NoSidecar { name } => {
            format!("`urepo verify --quick {name}` lists every problem of this item")
        }
        CollectionError::Changed { .. } => "repeat the command".to_owned(),
        CollectionError::Unchangeable { .. }
        | CollectionError::Interrupted { .. }
        | CollectionError::Parse(_)
        | CollectionError::Distributor(_)
        | CollectionError::Disk(_) => {
            return None;
        }
    })
}

impl From<DistributorError> for Failure {
    fn from(error: DistributorError) -> Failure {
        match &error {
            DistributorError::ClockBehind { last, now, behind, .. } => {
                let hours = behind.as_secs() / 3600 + 1;
                let hint = if hours > 24 {
                    "correct the clock; if it is right, `urepo doctor --take-over \
                     --forget-future` takes the memory back to now"
                        .to_owned()
                } else {
                    format!(
                        "correct the clock, or wait with `--max-wait {hours}h`; `urepo doctor` \
                         shows the memory"
                    )
                };
                Failure::of(Exit::WouldWait, &error).caused_by(dates(*last, *now)).hint(hint)
            }
            DistributorError::TooLong { last, now, wait, .. } => {
                let seconds = wait.as_secs() + 1;
                Failure::of(Exit::WouldWait, &error).caused_by(dates(*last, *now)).hint(format!(
                    "wait with `--max-wait {seconds}s`, or take `--granularity auto`"
                ))
            }
            DistributorError::ClockDoubtful { verdict, .. } => {
                let hint = match verdict {
                    Verdict::PastYear9999 { .. } => "correct the clock",
                    _ => "correct the clock; if it is right, repeat with `--accept-clock`",
                };
                Failure::of(Exit::Failure, &error).hint(hint)
            }
            DistributorError::OtherMachine { recorded, this, .. } => {
                Failure::of(Exit::Failure, &error)
                    .caused_by(format!("it was written as `{recorded}`, this is `{this}`"))
                    .hint(
                        "if names of this prefix come from here only from now on, say so with \
                         `urepo doctor --take-over`; a machine without a lasting \
                         `/etc/machine-id`, such as a container, needs `UREPO_MACHINE_ID`",
                    )
            }
            DistributorError::NewerMemory { .. } => {
                Failure::of(Exit::Failure, &error).hint("use that version, or a later one")
            }
            DistributorError::WrongMemory { .. } => Failure::of(Exit::Failure, &error)
                .hint("give each prefix a memory of its own; see `distributor` in `urepo.toml`"),
            DistributorError::Lock(LockError::Held { .. }) => Failure::of(Exit::Locked, &error)
                .hint("repeat with `--lock-wait 5m`; the lock ends with that process"),
            DistributorError::Interrupted { .. }
            | DistributorError::Lock(LockError::Interrupted { .. }) => {
                Failure::of(Exit::Interrupted, &error)
            }
            DistributorError::Lock(LockError::Disk(_)) | DistributorError::Disk(_) => match error {
                DistributorError::Lock(LockError::Disk(error)) | DistributorError::Disk(error) => {
                    error.into()
                }
                error => Failure::of(Exit::Failure, &error),
            },
        }
    }
}

fn dates(last: urepo::identity::Instant, now: urepo::identity::Instant) -> String {
    format!("last name {}, clock {} (UTC)", last.suffix(), now.suffix())
}

impl From<DepositError> for Failure {
    fn from(error: DepositError) -> Failure {
        let exit = match &error {
            DepositError::NameTaken { .. }
            | DepositError::NameExists { .. }
            | DepositError::IbipExists { .. }
            | DepositError::Held(_) => Exit::Conflict,
            DepositError::Mismatch { .. } | DepositError::PayloadMismatch { .. } => Exit::Damage,
            DepositError::Interrupted => Exit::Interrupted,
            _ => Exit::Failure,
        };
        let hint = match &error {
            DepositError::Special { .. } => {
                "move it out of the way: only files, directories and \
                                             links inside the item are kept"
            }
            DepositError::LinkLeaves { .. } | DepositError::Link { .. } => {
                "`--links follow` deposits what it points to"
            }
            DepositError::Twins { .. } => "rename one; `--force twins` keeps both as they are",
            DepositError::SameName { .. } => {
                "deposit the directory that holds them, or one item each with `--each`"
            }
            DepositError::NoName { .. } => "name it by its path",
            DepositError::Nothing { .. } => "an item has at least one file or link",
            DepositError::Changing { .. } => "repeat the command when nobody writes to it",
            DepositError::Time { .. } => "`touch` gives it another time",
            DepositError::InCollection { .. } => "what is in a collection has a name already",
            DepositError::HoldsCollection { .. } => "deposit what lies beside the collection",
            DepositError::NoRoom { path, needed, unit, free, collection } => {
                let room = Room { path, needed: *needed, unit, free: *free, collection };
                return room.lacking(exit);
            }
            DepositError::NoTarget { .. } => "name a file as it will be below `doc/`",
            DepositError::TooManyFiles { .. } => "divide it into several items",
            DepositError::NotDurable { .. } => "check the disk, then `urepo verify` the item",
            DepositError::Mismatch { .. } | DepositError::PayloadMismatch { .. } => {
                "it has changed since the digest was taken, or on its way here: fetch it again"
            }
            DepositError::NotListed { .. } | DepositError::NotThere { .. } => {
                "a bag holds the files that its manifests list: fetch it again"
            }
            DepositError::NameExists { name } | DepositError::IbipExists { name, .. } => {
                return Failure::of(exit, &error).hint(format!("`urepo show {name}` shows it"));
            }
            DepositError::Held(_) => "nothing is to be done",
            DepositError::NameTaken { .. } => "repeat the command: the next name is another one",
            DepositError::Collection(_) | DepositError::Disk(_) => {
                return match error {
                    DepositError::Collection(error) => error.into(),
                    DepositError::Disk(error) => error.into(),
                    error => Failure::of(exit, &error),
                };
            }
            DepositError::GroupFailed => {
                return Failure::of(exit, &error).in_common(WITH_THE_GROUP);
            }
            DepositError::Stream { .. } | DepositError::Interrupted => {
                return Failure::of(exit, &error);
            }
        };
        Failure::of(exit, &error).hint(hint)
    }
}

/// That something takes more room than there is.
struct Room<'a> {
    path: &'a Path,
    needed: u64,
    unit: &'a str,
    free: u64,
    collection: &'a Path,
}

impl Room<'_> {
    fn lacking(&self, exit: Exit) -> Failure {
        let amount = |count| match self.unit {
            "bytes" => human::bytes(count),
            unit => human::count(count, unit.trim_end_matches('s')),
        };
        let (path, collection) = (self.path.display(), self.collection.display());
        let (needed, free) = (amount(self.needed), amount(self.free));
        let message = format!("no room for `{path}`: it takes {needed}, `{collection}` has {free}");
        Failure::new(exit, message)
            .hint("make room, and repeat the command")
            .in_common(WITHOUT_ROOM)
    }
}

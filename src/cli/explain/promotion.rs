//! Why an item keeps its state, and what to do about it.

use urepo::holdings::OriginalError;
use urepo::promotion::PromotionError;
use urepo::sidecar::Party;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for PromotionError {
    fn explain(&self) -> Failure {
        match self {
            Self::Original(OriginalError::Untraced { .. }) => Failure::of(Exit::Conflict, self).hint(
                "name all collections that may hold it with `--with COLLECTION`; if none does, \
                 `--force untraced`",
            ),
            Self::Original(OriginalError::HandoverOpen { party, .. }) => {
                let finished = match party {
                    Party::From(id) => super::transfer::finished_from(id, None, None),
                    Party::To(_) => super::transfer::finished_here(None),
                };
                Failure::of(Exit::Conflict, self).hint(format!(
                    "{finished}; if the other collection is lost, repeat with `--lost {}`",
                    party.id()
                ))
            }
            Self::Original(error) => error.explain(),
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::NotACopy { name, .. }
            | Self::NotAnOriginal { name, .. }
            | Self::NoOriginalThere { name, .. } => Failure::of(Exit::Conflict, self)
                .hint(format!("`urepo whereis {name}` shows which collections hold it")),
            Self::Unseen { holder, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "if that collection is lost as well, repeat with `--lost {holder}`; if not, name it with \
                 `--with`"
            )),
            Self::OfAnother { name } => Failure::of(Exit::Conflict, self)
                .hint(format!("`urepo show {name}` shows what its sidecar says")),
            Self::LaterCopy { name, path } => Failure::of(Exit::Conflict, self).hint(format!(
                "promote that one: `urepo -c {} promote {name} --lost COLLECTION --reason TEXT`",
                shell::word(path)
            )),
            Self::OtherCopy { name, path } => Failure::of(Exit::Conflict, self).hint(format!(
                "`urepo -c {} verify {name}` says whether it is damaged",
                shell::word(path)
            )),
            Self::Different { .. } => Failure::of(Exit::Conflict, self)
                .hint("compare both; `--force different` moves this one to the trash"),
            Self::Damaged { name, path, .. } => {
                Failure::of(Exit::Damage, self).hint(super::mended_by(name, path))
            }
            Self::SameCollection(_) => Failure::of(Exit::Conflict, self)
                .hint("name another collection with `--to-copy-of`"),
            Self::NotTakenBack { .. } => Failure::of(Exit::Failure, self)
                .hint("make room or check the disk, then repeat the command: it ends both"),
            Self::GroupFailed => Failure::of(Exit::Failure, self).in_common(super::WITH_THE_GROUP),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}

//! Why an item is not adopted, and what to do about it.

use urepo::adopt::AdoptError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for AdoptError {
    fn explain(&self) -> Failure {
        match self {
            Self::Original(error) => error.explain(),
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::File(error) => error.explain(),
            Self::NoPayload { name } => Failure::of(Exit::Failure, self)
                .hint(format!("make `{name}/doc`, move the files into it, and repeat the command")),
            Self::NotADirectory { .. } => Failure::of(Exit::Failure, self)
                .hint("put a directory in its place, and repeat the command"),
            Self::Special { .. } => Failure::of(Exit::Failure, self)
                .hint("move it out of the way: items hold files, directories and links"),
            Self::OtherFile { name, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "`urepo verify {name}` says what is wrong with it; it is not overwritten"
            )),
            Self::SidecarLost { name } => Failure::of(Exit::Damage, self).hint(format!(
                "`urepo repair {name} --from COLLECTION` brings it back from a good copy"
            )),
            Self::TwoSpellings { .. } => Failure::of(Exit::Conflict, self)
                .hint("find out which is the true one, move the other away, and repeat"),
            Self::TooManyFiles { .. } => {
                Failure::of(Exit::Failure, self).hint("divide it into several items")
            }
            Self::NotDurable { name, .. } => Failure::unconfirmed(self)
                .hint(format!("check the disk, then `urepo verify {name}`")),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
            Self::GroupFailed => Failure::of(Exit::Failure, self),
        }
    }
}

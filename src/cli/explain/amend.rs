//! Why the description of an item stays unchanged, and what to do about it.

use urepo::amend::{AmendError, EditError};

use urepo::identity::Identifier;
use urepo::relation::{RelateError, RelationAction};
use urepo::sidecar::{MetadataError, RelationError};

use super::Explain;
use crate::cli::command::relations::edit;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for AmendError {
    fn explain(&self) -> Failure {
        match self {
            Self::Refused { name, refusal } => super::custody::refused(self, refusal, name),
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Copy { name } => Failure::of(Exit::Conflict, self).elsewhere(name),
            Self::Deleted { name } => Failure::of(Exit::Deleted, self).hint(format!(
                "`urepo show {name}` says when and why; `urepo restore {name}` brings it back"
            )),
            Self::NotSealed { name } => Failure::of(Exit::Damage, self).hint(format!(
                "`urepo repair {name} --accept` shows what was edited and takes it; `urepo repair {name}` repairs \
                 it from a copy"
            )),
            Self::Edit { cause, .. } => {
                let explained = cause.explain();
                let failure = Failure::of(explained.exit, self);
                match (cause, explained.hint) {
                    (EditError::Metadata(MetadataError::GivenTwice(_)), _) => {
                        failure.hint("it has one value, which `urepo meta set` replaces")
                    }
                    (_, Some(hint)) => failure.hint(hint),
                    (_, None) => failure,
                }
            }
            Self::Relation { name, cause } => {
                let failure = Failure::of(Exit::Conflict, self);
                match &**cause {
                    RelationError::Occupied { kind, held } => {
                        let edit = edit(RelationAction::Unlink, kind, held.as_str());
                        let command = format!("urepo meta set {name} {edit}");
                        failure.hint(format!("`{command}` removes that first"))
                    }
                    _ => failure
                        .hint(format!("`urepo verify --quick {name}` says what is wrong there")),
                }
            }
            Self::NoTarget { name, .. } => Failure::of(Exit::Failure, self)
                .hint(format!("`urepo show {name} --as manifest` lists its files")),
            Self::Outdated { name } => Failure::of(Exit::Conflict, self)
                .hint(format!("`urepo show {name}` shows it as it is now; repeat the command")),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}

impl Explain for EditError {
    fn explain(&self) -> Failure {
        match self {
            Self::Metadata(error) => error.explain(),
            Self::Condition(_) | Self::Target(_) => Failure::of(Exit::Failure, self),
        }
    }
}

impl Explain for RelateError {
    fn explain(&self) -> Failure {
        match self {
            Self::Collection(error) => error.explain(),
            Self::Itself(_) | Self::Both { .. } => Failure::of(Exit::Conflict, self),
            Self::Circle { earlier: item, .. } | Self::Mutual { other: item, .. } => {
                Failure::of(Exit::Conflict, self)
                    .hint(format!("`urepo show {item}` lists its relations"))
            }
            Self::OwnLanguage { original, .. } => Failure::of(Exit::Conflict, self)
                .hint(format!("`urepo meta set {original} language=TAG` corrects its language")),
            Self::TwoOriginals(item) => {
                let failure = Failure::of(Exit::Conflict, self)
                    .hint(format!("`urepo status {item}` shows both"));
                match item {
                    Identifier::Repository(name) => failure.about(name),
                    Identifier::Ibip(_) | Identifier::Legacy(_) => failure,
                }
            }
        }
    }
}

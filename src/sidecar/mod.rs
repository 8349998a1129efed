//! The sidecar, `item.toml`: state, fixity and description of an item, in one sealed text file.
//!
//! [`Sidecar`] has its values. [`write`](Sidecar::write) prints it in a fixed order of keys and ends with the
//! seal. [`Sidecar::read`] takes any spelling of the same TOML and checks the seal. Foreign text is always
//! quoted. [`rewrite`](Sidecar::rewrite) changes a sidecar and keeps comments and unknown keys.
//!
//! A sidecar may be untrusted, and may list hundreds of thousands of files. So its tables are read one at a
//! time, and the text of a long one is not kept in memory (`SidecarText`).
//!
//! # The seal is a table
//!
//! The seal is the last table, `[seal]` with the key `sha256`: after the `[[file]]` tables a bare `seal = …`
//! would be a key of the last file. It covers every byte before the line `[seal]`.

mod access;
pub(crate) mod adopted;
#[cfg(test)]
mod agreement;
mod canonical;
mod copied;
mod custody;
mod datetime;
mod default_title;
mod difference;
pub mod edtf;
mod error;
mod events;
mod files;
mod head;
mod json;
pub(crate) mod license;
mod lines;
mod metadata;
mod plain;
mod print;
mod raw;
mod read;
mod relations;
mod rewrite;
pub(crate) mod source_digests;
mod tag;
mod text;
mod write;

use crate::custody::Custody;
use crate::digest::Digest;
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::item::{PayloadPath, State, Totals};

pub use access::{Access, AccessLevel, ConditionError, Conditions, Network};
pub use difference::KeyChange;
pub use error::SidecarError;
pub(crate) use events::Amended;
pub use events::Removal;
pub use files::Files;
pub use json::{json, json_of};
pub use metadata::{Metadata, MetadataError, TERMS};
pub use relations::{
    RELATION_KEYS, Relation, RelationError, RelationKind, Relations, UnclearRelation,
};
pub(crate) use text::{NewText, SidecarText};

/// The version of the format that is written.
pub const FORMAT: u32 = 1;

/// The largest sidecar that is read or written: an item of some 500,000 files.
pub const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// The contents of the sidecar of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Sidecar {
    /// The state of the item in this collection.
    pub state: State,
    /// The name.
    pub repository: RepositoryName,
    /// The IBIp of the name. Stored data: it cannot be computed from the name.
    pub ibip: Option<Ibip>,
    /// The deposit; of an item that was deposited under an existing name, the instant in that name.
    pub created: Instant,
    /// The last change of the files: the deposit, or the removal.
    pub timestamp: Instant,
    /// The last change of the description since the deposit.
    pub described: Option<Instant>,
    /// The file that the bare identifier opens, relative to `doc/`.
    pub target: Option<PayloadPath>,
    /// Whether the Original may migrate.
    pub transferable: bool,
    /// Who may read it through a service.
    pub access: Access,
    /// Which collection has the Original, as far as this holding knows, and what its contents follow.
    pub custody: Custody,
    /// The description.
    pub metadata: Metadata,
    /// Identifiers of other items, by kind of relation.
    pub relations: Relations,
    /// The origin of the item.
    pub origin: toml::Table,
    /// Its deletion.
    pub removal: Option<Removal>,
    /// Counts and digest of the payload.
    pub payload: Totals,
    /// One entry a file, link or empty directory, sorted by path.
    pub files: Files,
}

impl Sidecar {
    /// All that a name alone says of an Original: no files, no description.
    pub(crate) fn of_name(repository: RepositoryName, custody: Custody) -> Sidecar {
        let created = repository.instant();
        Sidecar {
            state: State::Original,
            repository,
            ibip: None,
            created,
            timestamp: created,
            described: None,
            target: None,
            transferable: true,
            access: Access::default(),
            custody,
            metadata: Metadata::default(),
            relations: Relations::default(),
            origin: toml::Table::new(),
            removal: None,
            payload: Totals::of(&[]),
            files: Files::default(),
        }
    }
}

/// The result of checking the seal against the text before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// The text is unchanged.
    Intact,
    /// The text has been edited, or has rotted.
    Broken {
        /// The digest in the seal.
        sealed: Digest,
        /// The digest of the present text.
        found: Digest,
    },
    /// There is no seal.
    Missing,
}

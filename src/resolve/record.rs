//! The record of an item, and the destinations of verbs.

use std::borrow::Borrow;
use std::fmt;

use crate::identity::{FormatName, Ibip, Identifier, Instant, Language, RepositoryName};
use crate::item::{Content, State, position};
use crate::sidecar::{Relations, Sidecar};

/// The record of an item, for resolving.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemRecord {
    /// The identifier.
    pub name: RepositoryName,
    /// The IBIp.
    pub ibip: Option<Ibip>,
    /// The state.
    pub state: State,
    /// The last change of the files, or the removal.
    pub timestamp: Instant,
    /// When the description last changed.
    pub described: Instant,
    /// The language of the payload.
    pub language: Option<Language>,
    /// Its related items.
    pub relations: Relations,
    /// Whether the target is a program, which is not run here.
    pub is_program: bool,
}

impl ItemRecord {
    /// The record of a sidecar.
    pub fn of(sidecar: &Sidecar) -> ItemRecord {
        let language = sidecar.metadata.table().get("language").and_then(toml::Value::as_str);
        let target = sidecar.target.as_ref();
        let target = target.and_then(|it| position(&sidecar.files, it.as_path()));
        let target = target.map(|at| &sidecar.files[at]);
        let is_program = target.is_some_and(|entry| {
            let path = entry.path.as_bytes();
            path.ends_with(b".cgi")
                || matches!(entry.content, Content::File { mode, .. } if mode & 0o111 != 0)
        });
        ItemRecord {
            name: sidecar.repository.clone(),
            ibip: sidecar.ibip.clone(),
            state: sidecar.state,
            timestamp: sidecar.timestamp,
            described: sidecar.described.unwrap_or(sidecar.timestamp),
            language: language.and_then(|text| Language::normalised(text).ok()),
            relations: sidecar.relations.clone(),
            is_program,
        }
    }

    /// Both forms of the identifier.
    pub fn forms(&self) -> Forms {
        Forms { repository: Some(self.name.clone()), ibip: self.ibip.clone() }
    }
}

/// The forms of an identifier in a list of pairs [resolution, Table 9.4]; none of them for `{}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// The repository name.
    pub repository: Option<RepositoryName>,
    /// The opaque form.
    pub ibip: Option<Ibip>,
}

impl From<Identifier> for Forms {
    /// A label from before 2009 has neither form.
    fn from(identifier: Identifier) -> Forms {
        match identifier {
            Identifier::Repository(name) => Forms { repository: Some(name), ibip: None },
            Identifier::Ibip(ibip) => Forms { repository: None, ibip: Some(ibip) },
            Identifier::Legacy(_) => Forms::default(),
        }
    }
}

impl fmt::Display for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let repository = self.repository.iter().map(|name| format!("rep {name}"));
        let ibip = self.ibip.iter().map(|ibip| format!("ibip {ibip}"));
        f.write_str(&repository.chain(ibip).collect::<Vec<_>>().join(" "))
    }
}

/// Items that can be looked up, and how their metadata is served.
pub trait Items {
    /// An item: its record, and further data for the caller.
    type Item: Borrow<ItemRecord>;
    /// Why an item cannot be looked up.
    type Error;

    /// The item that `identifier` names, if it is here.
    fn item(&self, identifier: &Identifier) -> Result<Option<Self::Item>, Self::Error>;

    /// Whether the file of a metadata item is served as metadata, in the requested format.
    fn serves(&self, metadata: &ItemRecord, format: Option<&FormatName>) -> bool {
        format.is_none() && !metadata.is_program
    }

    /// Whether the description of an item can be rendered in a format.
    fn renders(&self, format: &FormatName) -> bool;
}

/// The destination of verbs.
#[derive(Clone, Debug)]
pub struct Destination<I> {
    /// The item; of a description, the item described.
    pub item: I,
    /// The kind of destination.
    pub kind: DestinationKind,
}

/// The kind of a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DestinationKind {
    /// An item that is not reached as metadata.
    Data,
    /// A metadata item, in a format if one was requested.
    MetadataItem(Option<FormatName>),
    /// The description of an item, in a format if one was requested.
    Description {
        /// The format.
        format: Option<FormatName>,
        /// The metadata item of the item, which is not served.
        item: Option<Identifier>,
    },
}

impl DestinationKind {
    /// When a destination of this kind last changed.
    pub(super) fn timestamp(&self, record: &ItemRecord) -> Instant {
        match self {
            DestinationKind::Description { .. } => record.described,
            DestinationKind::Data | DestinationKind::MetadataItem(_) => record.timestamp,
        }
    }
}

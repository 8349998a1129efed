//! The replay of the ledger: where the last line about each item is.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::chain::{ChainReader, Position};
use crate::custody::CustodyId;
use crate::disk::{Dir, PathError, StoredFile};
use crate::item::State;

/// The last lines about items, as far as the ledger was read: 16 bytes for each item.
///
/// Items have the hash of their names, by a random key: names that were made to collide do not.
#[derive(Debug)]
pub(in crate::collection) struct Replay {
    pub(super) chain: ChainReader,
    /// Device and inode of the directory: those of a replacement differ.
    identity: (u64, u64),
    keys: RandomState,
    last_lines: HashMap<u64, Known>,
    /// The years of the items, folded.
    pub(super) years: BTreeSet<String>,
    /// Number of damaged lines that a person has accepted.
    pub(super) accepted: u64,
    /// For each item, the custody ids of its lines since it was last a stub. Read when they are first asked for.
    ids: Option<HashMap<u64, Vec<CustodyId>>>,
}

/// The last line about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The number of the file, and where the line begins there. A loss has the highest bit of the number.
    file: u32,
    offset: u32,
}

impl Known {
    const LOSS: u32 = 1 << 31;

    fn new(position: Position, is_loss: bool) -> Known {
        let file = position.file | if is_loss { Known::LOSS } else { 0 };
        Known { file, offset: u32::try_from(position.offset).unwrap_or(u32::MAX) }
    }

    pub(super) fn position(self) -> Position {
        Position { file: self.file & !Known::LOSS, offset: self.offset.into() }
    }

    /// Whether the item was given up as lost.
    pub(super) fn is_loss(self) -> bool {
        self.file & Known::LOSS != 0
    }
}

/// The part of a line that its replay needs.
#[derive(Deserialize)]
pub(super) struct LineHead<'l> {
    event: &'l str,
    #[serde(borrow)]
    pub id: std::borrow::Cow<'l, str>,
    holding: Option<IgnoredAny>,
    #[serde(borrow)]
    pub import: Option<&'l RawValue>,
}

/// A line that accepts damage.
#[derive(Deserialize)]
struct Accepted<'l> {
    event: &'l str,
    damaged: u64,
}

impl LineHead<'_> {
    /// The head of a line about an item.
    pub(super) fn of(line: &[u8]) -> Option<LineHead<'_>> {
        serde_json::from_slice(line).ok()
    }

    /// The same if the line is about what the collection has of the item.
    pub(super) fn of_holding(line: &[u8]) -> Option<LineHead<'_>> {
        LineHead::of(line).filter(LineHead::is_of_holding)
    }

    pub(super) fn is_of_holding(&self) -> bool {
        self.holding.is_some() || self.is_loss() || self.event == "registration"
    }

    pub(super) fn is_loss(&self) -> bool {
        self.event == "loss"
    }

    /// The name as [`RepositoryName::folded`](crate::identity::RepositoryName::folded) spells it.
    pub(super) fn folded(&self) -> String {
        fold(&self.id)
    }
}

fn fold(name: &str) -> String {
    let (subdomain, rest) = name.split_once('/').unwrap_or((name, ""));
    format!("{}/{rest}", subdomain.strip_suffix('.').unwrap_or(subdomain)).to_ascii_lowercase()
}

/// Whether a line is about the ledger itself.
pub(super) fn is_structure(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Kind<'l> {
        event: &'l str,
    }
    matches!(serde_json::from_slice(line), Ok(Kind { event: "header" | "gap" | "restored" }))
}

impl Replay {
    /// Reads the ledger in `dir`.
    pub(super) fn of(dir: Dir) -> Result<Replay, PathError> {
        let identity = dir.own_stat()?.identity;
        let mut replay = Replay {
            chain: ChainReader::new(dir),
            identity,
            keys: RandomState::new(),
            last_lines: HashMap::new(),
            years: BTreeSet::new(),
            accepted: 0,
            ids: None,
        };
        replay.read_on()?;
        Ok(replay)
    }

    fn read_on(&mut self) -> Result<(), PathError> {
        let Replay { chain, keys, last_lines, years, accepted, ids, .. } = self;
        *ids = None;
        let mut last_year = String::new();
        chain.read_on(|position, line| {
            let Some(head) = LineHead::of_holding(line) else {
                if let Ok(Accepted { event: "gap", damaged }) = serde_json::from_slice(line) {
                    *accepted = damaged;
                }
                return;
            };
            let name = head.folded();
            let year = name.rsplit_once('/').map_or("", |(year, _)| year);
            if year != last_year {
                year.clone_into(&mut last_year);
                years.insert(last_year.clone());
            }
            last_lines.insert(keys.hash_one(&name), Known::new(position, head.is_loss()));
        })
    }

    /// Reads what was added since; `false` if the lines read are not those of the directory with this device and inode.
    pub(super) fn follow(&mut self, identity: (u64, u64)) -> Result<bool, PathError> {
        if identity != self.identity {
            return Ok(false);
        }
        match self.chain.is_up_to_date()? {
            Some(true) => Ok(true),
            Some(false) => self.read_on().map(|()| true),
            None => Ok(false),
        }
    }

    /// The key of the item with this folded name.
    pub(super) fn key(&self, folded: &str) -> u64 {
        self.keys.hash_one(folded)
    }

    /// The last line about the item with this folded name.
    pub(super) fn find(&self, folded: &str) -> Option<Known> {
        self.last_lines.get(&self.key(folded)).copied()
    }

    /// Calls `visit` for the last line of each item, in their order.
    pub(super) fn visit_last_lines(
        &self,
        mut visit: impl FnMut(u64, Known, &LineHead<'_>),
    ) -> Result<(), PathError> {
        ChainReader::new(self.chain.dir().try_clone()?).read_on(|position, line| {
            let Some(head) = LineHead::of_holding(line) else { return };
            let key = self.key(&head.folded());
            if let Some(known) = self.last_lines.get(&key).filter(|it| it.position() == position) {
                visit(key, *known, &head);
            }
        })
    }

    /// The custody ids of the lines about the item with this folded name since it was last a stub, the oldest first. One pass
    /// over the ledger serves all items.
    pub(super) fn ids_of(&mut self, folded: &str) -> Result<&[CustodyId], PathError> {
        #[derive(Deserialize)]
        struct Line<'l> {
            #[serde(borrow)]
            id: std::borrow::Cow<'l, str>,
            holding: Option<LineHolding>,
        }
        #[derive(Deserialize)]
        struct LineHolding {
            state: String,
            id: String,
        }
        if self.ids.is_none() {
            let (mut ids, stub) = (HashMap::<_, Vec<_>>::new(), State::Elsewhere.to_string());
            ChainReader::new(self.chain.dir().try_clone()?).read_on(|_, line| {
                let Ok(Line { id, holding: Some(holding) }) = serde_json::from_slice(line) else {
                    return;
                };
                let of_item = ids.entry(self.key(&fold(&id))).or_default();
                if holding.state == stub {
                    of_item.clear();
                }
                of_item.extend(holding.id.parse::<CustodyId>());
            })?;
            self.ids = Some(ids);
        }
        let key = self.key(folded);
        Ok(self.ids.as_ref().and_then(|ids| ids.get(&key)).map_or(&[], Vec::as_slice))
    }

    /// Number of items.
    pub(super) fn len(&self) -> usize {
        self.last_lines.len()
    }

    /// The file of a line.
    pub(super) fn file_of(&self, known: Known) -> Option<Arc<StoredFile>> {
        self.chain.file_of(known.position())
    }
}

//! The last line about one item, found by its text: a command about one item need not know the lines of all others.
//!
//! A replay parses each line and computes its sum, which takes half a second for 300,000 items. A scan does so for the few
//! lines with the end of the name in them, and takes the sums of all others as they are stated.

use memchr::memmem::Finder;

use super::chain::ChainReader;
use super::replay::LineHead;
use super::{Event, EventKind};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;

/// The last line about an item, as far as the ledger was read.
#[derive(Debug)]
pub(in crate::collection) struct Scan {
    chain: ChainReader,
    /// Device and inode of the directory: those of a replacement differ.
    identity: (u64, u64),
    /// The name, folded.
    folded: String,
    /// The end of each line's name that may be this one: it has no letters, so that it has one spelling.
    sign: Finder<'static>,
    line: Option<Event>,
    /// The line of its deposit.
    deposit: Option<Event>,
}

impl Scan {
    /// Reads the ledger in `dir`. `None` if a line that may be about the item is damaged: only a replay knows whether it counts.
    pub(super) fn of(dir: Dir, name: &RepositoryName) -> Result<Option<Scan>, PathError> {
        let identity = dir.own_stat()?.identity;
        let (_, end) = name.as_str().split_once('/').unwrap_or_default();
        let (_, end) = end.split_once('/').unwrap_or_default();
        let sign = Finder::new(&format!("/{end}\"")).into_owned();
        let (chain, folded) = (ChainReader::new(dir), name.folded());
        let mut scan = Scan { chain, identity, folded, sign, line: None, deposit: None };
        Ok(scan.read_on()?.then_some(scan))
    }

    /// Whether it is about the item with this folded name.
    pub(super) fn is_about(&self, folded: &str) -> bool {
        self.folded == folded
    }

    pub(super) fn line(&self) -> Option<Event> {
        self.line.clone()
    }

    pub(super) fn into_deposit(self) -> Option<Event> {
        self.deposit
    }

    /// Reads what was added since; `false` if the lines read are not those of the directory with this device and inode, or if
    /// only a replay knows what counts.
    pub(super) fn follow(&mut self, identity: (u64, u64)) -> Result<bool, PathError> {
        if identity != self.identity {
            return Ok(false);
        }
        match self.chain.is_up_to_date()? {
            Some(true) => Ok(true),
            Some(false) => self.read_on(),
            None => Ok(false),
        }
    }

    fn read_on(&mut self) -> Result<bool, PathError> {
        let Scan { chain, folded, sign, line: last, deposit, .. } = self;
        let damaged = chain.damaged;
        chain.read_some(
            |line| sign.find(line).is_some(),
            |_, line| {
                if LineHead::of_holding(line).is_some_and(|head| head.folded() == *folded) {
                    *last = serde_json::from_slice(line).ok();
                    if last.as_ref().is_some_and(|line| line.event == EventKind::Ingestion) {
                        deposit.clone_from(last);
                    }
                }
            },
        )?;
        Ok(chain.damaged == damaged)
    }
}

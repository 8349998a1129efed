//! Accepted losses: a person says that what is nowhere in sight is lost, and the item goes on without it.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::{Loss, PromotionError, Registrar};
use crate::agent::Caller;
use crate::collection::{Collection, Event, Writer};
use crate::custody::Discard;
use crate::custody::remedy::{self, Act, Damage, Row, remedy, speaks};
use crate::holdings::{Sight, places};
use crate::identity::RepositoryName;
use crate::item::PayloadPath;
use crate::transfer::Recovery;
use crate::verify::{self, Depth, Place, ProofError, Severity};

/// What is given up of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// The part of the item.
    pub part: LostPart,
    /// The line that a ledger in sight has of what is lost: its date, id and digest, and the description that changed then.
    pub line: Option<Event>,
    /// What lies in the item's place here, and goes to the trash with it.
    pub remains: Option<Remains>,
    /// The entries of the trash with the item that was given up: no command restores them.
    pub kept: Vec<PathBuf>,
}

/// The payload of an item that is given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remains {
    /// Number of files that are whole.
    pub whole: u64,
    /// Number of entries that are damaged or missing.
    pub damaged: u64,
    /// The first of these.
    pub first: Option<PayloadPath>,
}

/// The part of an item that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostPart {
    /// What was changed after the item had left this collection.
    Changes,
    /// The newest state: the item goes on with an older one.
    Newest,
    /// The item.
    Item,
}

impl Registrar<'_> {
    /// Gives up what is lost of the item `name`, with `others` in sight. Refused unless the table of remedies says so here: what
    /// can be repaired, chosen or waited for is not lost. Without a writer, nothing is changed.
    pub fn accept_loss(
        &self,
        name: &RepositoryName,
        others: &[Collection],
    ) -> Result<GivenUp, PromotionError> {
        let mut unread = Vec::new();
        let mut all: Vec<&Collection> = vec![self.collection];
        all.extend(others);
        let mut places = places(name, &all, &mut unread);
        for place in &mut places {
            let there = all.iter().find(|it| it.id() == place.at);
            let Some(there) = there.filter(|_| place.has_payload()) else { continue };
            if !self.is_whole(name, there)? {
                place.damage(Damage::Payload);
            }
        }
        if let Some((_, error)) = unread.into_iter().next() {
            return Err(error.into());
        }
        let id = self.collection.id();
        let found = remedy(&places, id);
        let Some(found) = found.as_ref().filter(|it| it.act_at(id) == Some(Act::AcceptLoss)) else {
            let there = found.and_then(|it| {
                all.iter().find(|other| it.act_at(other.id()) == Some(Act::AcceptLoss))
            });
            let accepted_in = there.map(|it| it.path().to_owned());
            return Err(PromotionError::NotLost { name: name.clone(), accepted_in });
        };
        let line = lost_line(name, &places, &all)?;
        let part = match found.row {
            Row::CameBackLost | Row::ReceiverLost => LostPart::Changes,
            Row::NewestLost => LostPart::Newest,
            _ => LostPart::Item,
        };
        let remains = if part == LostPart::Item { self.remains(name)? } else { None };
        let mut kept = Vec::new();
        match (part, self.writer) {
            (LostPart::Changes, Some(writer)) => {
                let damaged = places.iter().filter(|it| it.damage == Some(Damage::Payload));
                let damaged: Vec<_> = damaged.map(|it| it.at.clone()).collect();
                self.keep(name, writer, (&all[1..], &damaged))?;
            }
            (LostPart::Newest, _) => self.go_on(name, &places, others)?,
            (LostPart::Item, Some(_)) => {
                self.collection.give_up(name, self.caller.agent, &self.caller.waiter())?;
                kept = self.collection.kept_in_trash(name)?;
            }
            (LostPart::Changes | LostPart::Item, None) => {}
        }
        Ok(GivenUp { part, line, remains, kept })
    }

    /// The payload here.
    fn remains(&self, name: &RepositoryName) -> Result<Option<Remains>, PromotionError> {
        let Caller { progress, interrupt, .. } = &self.caller;
        // What has no sidecar lists no files.
        let Ok(item) = self.collection.item(name) else { return Ok(None) };
        let Ok((sidecar, _)) = item.sidecar() else { return Ok(None) };
        let report = verify::verify_item(&item, Depth::FromDisk, *progress, interrupt);
        let report = report.ok_or(PromotionError::Interrupted)?;
        let mut places = report.findings.as_slice().iter().filter_map(|it| match &it.place {
            Place::Payload(path) if it.is_seen_damage() => Some(path.clone()),
            _ => None,
        });
        let damaged = report.findings.count(Severity::Damage);
        Ok(Some(Remains {
            whole: sidecar.payload.files.saturating_sub(damaged),
            damaged,
            first: places.next(),
        }))
    }

    /// Whether the payload is whole, to the last byte: what has rotted everywhere is lost.
    fn is_whole(&self, name: &RepositoryName, at: &Collection) -> Result<bool, PromotionError> {
        let Caller { progress, interrupt, .. } = &self.caller;
        match verify::prove(&at.item(name)?, Depth::FromDisk, *progress, interrupt) {
            Ok(()) => Ok(true),
            Err(ProofError::Damaged { .. }) => Ok(false),
            Err(ProofError::Disk(error)) => Err(error.into()),
            Err(ProofError::Interrupted) => Err(PromotionError::Interrupted),
        }
    }

    /// Keeps the Original here, whose migration was interrupted.
    fn keep(
        &self,
        name: &RepositoryName,
        writer: &Writer,
        (others, damaged): (&[&Collection], &[String]),
    ) -> Result<(), PromotionError> {
        let (giver, agent, waiter) = (self.collection, self.caller.agent, &self.caller.waiter());
        let recovery = Recovery { giver, writer, others, agent, waiter };
        match recovery.accept_loss(name, damaged) {
            Ok(_) => Ok(()),
            Err(error) => Err(PromotionError::Open(Box::new(error))),
        }
    }

    /// The older state here goes on, above all that is in sight.
    fn go_on(
        &self,
        name: &RepositoryName,
        places: &[remedy::Place],
        others: &[Collection],
    ) -> Result<(), PromotionError> {
        // All others are covered by what is here, or the table would show a fork.
        let others_seen = places.iter().map(|place| place.at.clone());
        let holder = speaks(places).map(|top| top.custody.holder().to_owned());
        let lost: Vec<_> = others_seen.chain(holder).collect();
        let sight = &Sight::of_many(others);
        let loss = Loss {
            collections: &lost,
            reason: "the newest state is lost",
            sight,
            discard: Discard::Refuse,
        };
        let mut outcome = Err(PromotionError::Interrupted);
        let _ = self.promote_all(std::slice::from_ref(name), &loss, &mut |_, result| {
            outcome = result;
            ControlFlow::Continue(())
        });
        outcome.map(drop)
    }
}

/// The line of what speaks of the item `name`, which is lost.
fn lost_line(
    name: &RepositoryName,
    places: &[remedy::Place],
    all: &[&Collection],
) -> Result<Option<Event>, PromotionError> {
    let Some(top) = speaks(places) else { return Ok(None) };
    for collection in all {
        let line = collection.last_record(name)?;
        let is_it = |line: &Event| {
            line.holding.as_ref().is_some_and(|here| here.custody.id() == top.custody.id())
        };
        if let Some(line) = line.filter(is_it) {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

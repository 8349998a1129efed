//! Accepted losses: a person says that what is nowhere in sight is lost, and the item goes on without it.

use std::ops::ControlFlow;

use super::{Loss, PromotionError, Registrar};
use crate::agent::Caller;
use crate::collection::{Collection, Writer};
use crate::custody::Discard;
use crate::custody::remedy::{Act, Damage, Place, Row, remedy, speaks};
use crate::holdings::{Sight, places};
use crate::identity::RepositoryName;
use crate::transfer::Recovery;
use crate::verify::{self, Depth, ProofError};

/// The part of an item that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
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
        let found = remedy(&places, id).filter(|it| it.act_at(id) == Some(Act::AcceptLoss));
        let Some(found) = found else {
            return Err(PromotionError::NotLost { name: name.clone() });
        };
        match (found.row, self.writer) {
            (Row::CameBackLost | Row::ReceiverLost, None) => Ok(GivenUp::Changes),
            (Row::CameBackLost | Row::ReceiverLost, Some(writer)) => {
                let damaged = places.iter().filter(|it| it.damage == Some(Damage::Payload));
                let damaged: Vec<_> = damaged.map(|it| &*it.at).collect();
                self.keep(name, writer, (&all[1..], &damaged))
            }
            (Row::NewestLost, _) => self.go_on(name, &places, others),
            (_, None) => Ok(GivenUp::Item),
            (_, Some(_)) => {
                self.collection.give_up(name, self.caller.agent, &self.caller.waiter())?;
                Ok(GivenUp::Item)
            }
        }
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
        (others, damaged): (&[&Collection], &[&str]),
    ) -> Result<GivenUp, PromotionError> {
        let (giver, agent, waiter) = (self.collection, self.caller.agent, &self.caller.waiter());
        let recovery = Recovery { giver, writer, others, agent, waiter };
        match recovery.accept_loss(name, damaged) {
            Ok(_) => Ok(GivenUp::Changes),
            Err(error) => Err(PromotionError::Open(Box::new(error))),
        }
    }

    /// The older state here goes on, above all that is in sight.
    fn go_on(
        &self,
        name: &RepositoryName,
        places: &[Place],
        others: &[Collection],
    ) -> Result<GivenUp, PromotionError> {
        // All others are covered by what is here, or the table would show a fork.
        let others_seen = places.iter().map(|place| place.at.clone());
        let holder = speaks(places).map(|top| top.custody.holder().to_owned());
        let lost = others_seen.chain(holder).filter(|id| *id != self.collection.id());
        let lost: Vec<_> = lost.collect();
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
        outcome.map(|_| GivenUp::Newest)
    }
}

//! A Copy becomes the Original, because the collection of the Original is lost.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use toml::Value;

use super::group::{Decision, Step};
use super::{Change, PromotionError, Registrar, Report};
use crate::collection::{Collection, Event, EventKind, StoredItem};
use crate::disk::PathError;
use crate::holdings::{
    HoldingRecord, Holdings, OriginalError, Trail, UnseenRule, follow, holdings, refuse_deleted,
    refuse_handover, refuse_second,
};
use crate::identity::{RepositoryName, SECOND};
use crate::item::{State, manifest};
use crate::sidecar::{Party, Seal, Sidecar};

/// A person's statement that collections are lost.
pub struct Loss<'a> {
    /// Their ids.
    pub collections: &'a [String],
    /// Why they count as lost.
    pub reason: &'a str,
    /// All other known collections: none of them may hold the Original, or a later Copy.
    pub others: &'a [Collection],
    /// Whether a Copy is promoted though no inventory says where its Original went.
    pub untraced: UnseenRule,
}

impl Loss<'_> {
    fn is_lost(&self, id: &str) -> bool {
        self.collections.iter().any(|lost| lost == id)
    }

    fn is_known(&self, id: &str) -> bool {
        self.others.iter().any(|other| other.id() == id)
    }
}

impl Registrar<'_> {
    /// Makes the Copies called `names` Originals, several with the same syncs.
    ///
    /// Every collection that may hold the Original, by [`Registrar::holders`], has to be lost, or known not
    /// to hold it and to record where it went. A hand-over in progress between this collection and a lost one
    /// ends here.
    pub fn promote_all(
        &self,
        names: &[RepositoryName],
        loss: &Loss<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        self.change_all(names, &|name| self.decide_promotion(name, loss), report)
    }

    /// The ids of the collections that may hold the Original of a Copy, by all records: where the Copies were
    /// made, hand-overs in progress, and departures of the item. `None` if the item is not a Copy.
    pub fn holders(
        &self,
        name: &RepositoryName,
        others: &[Collection],
    ) -> Result<BTreeSet<String>, PromotionError> {
        let (item, read) = self.read(name)?;
        if read.sidecar.state != State::Copy {
            return Ok(BTreeSet::new());
        }
        let others: Vec<_> = others.iter().collect();
        Ok(self.trail(&read.sidecar, &others, &holdings(item.name(), &others))?.holders)
    }

    /// Where the Original of `copy` may be. The records of a lost collection are lost, but collections that
    /// have held the Original since have their own.
    fn trail(
        &self,
        copy: &Sidecar,
        others: &[&Collection],
        found: &Holdings,
    ) -> Result<Trail, PathError> {
        let own = HoldingRecord::of(copy, Seal::Intact);
        let mut start: BTreeSet<String> = own.sources().map(str::to_owned).collect();
        for collection in others.iter().copied().chain([self.collection]) {
            let departures = collection.departures(&copy.repository)?;
            start.extend(departures.into_iter().flatten().map(|to| to.id));
        }
        for holding in &found.all {
            let holder = others[holding.collection];
            match &holding.record {
                Ok(record) => start.extend(record.sources().map(str::to_owned)),
                Err(_) if holder.departures(&copy.repository)?.is_some() => {
                    start.insert(holder.id().to_owned());
                }
                Err(_) => {}
            }
        }
        follow(&copy.repository, start, self.collection, others, found)
    }

    fn decide_promotion<'l>(
        &self,
        name: &RepositoryName,
        loss: &Loss<'l>,
    ) -> Result<Option<Decision<'l>>, PromotionError> {
        let (item, read) = self.read(name)?;
        let found = holdings(name, loss.others);
        let event = self.event(EventKind::Promotion, item.name());
        let event = event.with_digest(read.sidecar.payload.digest);
        let event = Event { note: Some(loss.reason.to_owned()), ..event };
        let (step, event) = if was_promoted(&read.sidecar, loss) {
            self.refuse_put_back(&item, &read.sidecar)?;
            (Step::Nothing(State::Original), event)
        } else {
            let lost = self.lost_holder(&read.sidecar, loss, &found)?;
            let original = self.promoted(&read.sidecar, &lost, loss.reason);
            let event = Event { from: Some(lost), ..event };
            (Step::Replace(Box::new(original), Change::Promoted), event)
        };
        let holders = found.all.iter().map(|holding| &loss.others[holding.collection]).collect();
        Ok(Some(Decision { item, read, step, witness: None, holders, event }))
    }

    /// Makes sure that the inventory agrees with an Original here: a repeated promotion must not record one
    /// that was put back by hand.
    fn refuse_put_back(&self, item: &StoredItem, sidecar: &Sidecar) -> Result<(), PromotionError> {
        let name = item.name();
        let departure = self.collection.departure(name)?;
        let Some(line) = departure.or(self.collection.contradicted_by(name, sidecar)?) else {
            return Ok(());
        };
        let (name, path) = (name.clone(), self.collection.path().to_path_buf());
        Err(OriginalError::Departed { name, path, line: Box::new(line) }.into())
    }

    /// The lost collection whose Original the Copy is to become, if it may.
    fn lost_holder(
        &self,
        sidecar: &Sidecar,
        loss: &Loss<'_>,
        found: &Holdings,
    ) -> Result<String, PromotionError> {
        let name = || sidecar.repository.clone();
        let mark = sidecar.handover.as_ref().map(|mark| &mark.party);
        if sidecar.state != State::Copy || !mark.is_some_and(|party| loss.is_lost(party.id())) {
            refuse_handover(sidecar)?;
        }
        if sidecar.state != State::Copy {
            return Err(PromotionError::NotACopy { name: name(), state: sidecar.state });
        }
        let others: Vec<&Collection> = loss.others.iter().collect();
        refuse_second(&sidecar.repository, &others, found)?;
        refuse_deleted(&sidecar.repository, &others, found)?;
        for holding in &found.all {
            let path = || others[holding.collection].path().to_path_buf();
            let Ok(record) = &holding.record else { continue };
            let is_same = record.content == manifest::content_digest(&sidecar.files)
                && record.description == sidecar.description_digest();
            if record.timestamp > sidecar.timestamp {
                return Err(PromotionError::LaterCopy { name: name(), path: path() });
            }
            if record.timestamp == sidecar.timestamp && !is_same {
                return Err(PromotionError::OtherCopy { name: name(), path: path() });
            }
        }
        let trail = self.trail(sidecar, &others, found)?;
        let elsewhere = trail.holders.iter().find(|id| !loss.is_lost(id) && !loss.is_known(id));
        if let Some(holder) = elsewhere {
            return Err(PromotionError::Unseen { name: name(), holder: holder.clone() });
        }
        let own = mark.map(Party::id).or(sidecar.made_of());
        let mut ends = trail.ends.iter().map(|at| others[*at]);
        let end =
            ends.find(|end| !loss.is_lost(end.id())).or(own.is_none().then_some(self.collection));
        if let Some(end) = end.filter(|_| loss.untraced == UnseenRule::Refuse) {
            let path = end.path().to_path_buf();
            return Err(OriginalError::Untraced { name: name(), path }.into());
        }
        let own = own.filter(|id| loss.is_lost(id)).map(str::to_owned);
        // For an untraced Original, a person says where it was.
        let said = end.and_then(|_| loss.collections.first().cloned());
        own.or_else(|| trail.holders.into_iter().find(|id| loss.is_lost(id)))
            .or(said)
            .ok_or_else(|| PromotionError::OfAnother { name: name() })
    }

    /// The sidecar of the Original that `copy` becomes. Its later timestamp makes the other Copies
    /// follow it, and its history says where they come from.
    fn promoted(&self, copy: &Sidecar, lost: &str, reason: &str) -> Sidecar {
        let now = self.caller.clock.now();
        let later = copy.timestamp.checked_add(SECOND).unwrap_or(copy.timestamp);
        let timestamp = now.floor(SECOND).max(later);
        let mut original =
            Sidecar { state: State::Original, timestamp, handover: None, ..copy.clone() };
        original.remove_copy_keys();
        original.note_handover(lost, self.collection.id(), now, Some(reason));
        original
    }
}

/// Whether the Original was promoted because of one of the lost collections.
fn was_promoted(sidecar: &Sidecar, loss: &Loss<'_>) -> bool {
    sidecar.state == State::Original
        && sidecar.handover.is_none()
        && sidecar.handovers().iter().any(|entry| {
            entry.get("lost").and_then(Value::as_bool) == Some(true)
                && entry.get("from").and_then(Value::as_str).is_some_and(|id| loss.is_lost(id))
        })
}

//! A Copy becomes the Original, because the collection that held that is lost.

use toml::{Table, Value};

use super::{Change, OF_COPIES, PromotionError, Registrar, date};
use crate::collection::{Collection, Event, EventKind, ReadSidecar, StoredItem};
use crate::holdings::{Holdings, Standing, holdings};
use crate::identity::{RepositoryName, SECOND};
use crate::item::{State, manifest};
use crate::sidecar::Sidecar;

/// What a person says of a collection that is lost.
pub struct Loss<'a> {
    /// Its id.
    pub collection: &'a str,
    /// Why it counts as lost.
    pub reason: &'a str,
    /// All other collections that are known: none of them may hold the Original, or a later Copy.
    pub others: &'a [Collection],
}

impl Registrar<'_> {
    /// Makes the Copy called `name` the Original.
    pub fn promote(
        &self,
        name: &RepositoryName,
        loss: &Loss<'_>,
    ) -> Result<Change, PromotionError> {
        if self.interrupt.requested() {
            return Err(PromotionError::Interrupted);
        }
        let (item, read) = self.read(name)?;
        let found = holdings(name, loss.others);
        if !self.may_be_promoted(&item, &read, loss, &found)? {
            return self.done_before(item.name(), State::Original);
        }
        self.prove(self.collection, &item)?;
        let Some(writer) = self.writer else { return Ok(Change::Promoted) };
        let holders = found.all.iter().map(|holding| &loss.others[holding.collection]);
        let _locks = self.lock(name, holders)?;
        let (item, now) = self.read(name)?;
        if !self.may_be_promoted(&item, &now, loss, &holdings(name, loss.others))? {
            return self.done_before(item.name(), State::Original);
        }
        if now.text != read.text {
            return Err(self.changed(name));
        }
        self.replace(writer, &item, &now, &self.promoted(&now.sidecar, loss))?;
        let event = self.event(EventKind::Promotion, item.name());
        let event = event.with_digest(now.sidecar.payload.digest);
        self.collection.note(&[Event {
            from: Some(loss.collection.to_owned()),
            note: Some(loss.reason.to_owned()),
            ..event
        }]);
        Ok(Change::Promoted)
    }

    /// Whether it is to become the Original; not if an earlier run has made it that.
    fn may_be_promoted(
        &self,
        item: &StoredItem,
        read: &ReadSidecar,
        loss: &Loss<'_>,
        found: &Holdings,
    ) -> Result<bool, PromotionError> {
        let (sidecar, name) = (&read.sidecar, || item.name().clone());
        if let Some(handover) = &sidecar.handover {
            return Err(PromotionError::HandoverOpen {
                name: name(),
                party: handover.party.clone(),
            });
        }
        match sidecar.state {
            State::Copy => {}
            State::Original if was_promoted(sidecar, loss.collection) => return Ok(false),
            state => return Err(PromotionError::NotACopy { name: name(), state }),
        }
        let made_of = sidecar.origin.get("collection").and_then(Value::as_str);
        if made_of != Some(loss.collection) {
            let made_of = made_of.map(str::to_owned);
            return Err(PromotionError::OfAnother { name: name(), made_of });
        }
        for holding in &found.all {
            let path = || loss.others[holding.collection].path().to_path_buf();
            // What can not be read may be the Original.
            let Ok(record) = &holding.record else {
                return Err(PromotionError::Unreadable { name: name(), path: path() });
            };
            if record.handover.is_some() {
                return Err(PromotionError::HandedOverElsewhere { name: name(), path: path() });
            }
            if holding.standing == Standing::Original {
                return Err(PromotionError::OriginalElsewhere { name: name(), path: path() });
            }
            if record.state == State::Deleted {
                return Err(PromotionError::DeletedElsewhere { name: name(), path: path() });
            }
            let is_same = record.content == manifest::content_digest(&sidecar.files)
                && record.description == sidecar.description_digest();
            if record.timestamp > sidecar.timestamp {
                return Err(PromotionError::LaterCopy { name: name(), path: path() });
            }
            if record.timestamp == sidecar.timestamp && !is_same {
                return Err(PromotionError::OtherCopy { name: name(), path: path() });
            }
        }
        Ok(true)
    }

    /// The sidecar of the Original that `copy` becomes. Its later timestamp makes the other Copies
    /// follow it, and its history says where they come from.
    fn promoted(&self, copy: &Sidecar, loss: &Loss<'_>) -> Sidecar {
        let now = self.clock.now();
        let later = copy.timestamp.checked_add(SECOND).unwrap_or(copy.timestamp);
        let timestamp = now.floor(SECOND).max(later);
        let mut original = Sidecar { state: State::Original, timestamp, ..copy.clone() };
        for key in OF_COPIES {
            original.origin.remove(key);
        }
        let mut entry = Table::new();
        entry.insert("from".to_owned(), loss.collection.into());
        entry.insert("to".to_owned(), self.collection.id().into());
        entry.insert("date".to_owned(), date(now));
        entry.insert("lost".to_owned(), Value::Boolean(true));
        entry.insert("reason".to_owned(), loss.reason.into());
        let history =
            original.origin.entry("handovers").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(history) = history {
            history.push(Value::Table(entry));
        }
        original
    }
}

/// Whether the history of an Original says that it was promoted when the collection `lost` was lost.
fn was_promoted(original: &Sidecar, lost: &str) -> bool {
    let history = original.origin.get("handovers").and_then(Value::as_array);
    history.into_iter().flatten().any(|entry| {
        entry.get("lost").and_then(Value::as_bool) == Some(true)
            && entry.get("from").and_then(Value::as_str) == Some(lost)
    })
}

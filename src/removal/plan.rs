//! Options of deleting and restoring, and the plan of a deletion. Nothing is changed here.

use super::proof::{self, SecondHolding};
use super::{RemovalError, proof::Proof};
use crate::collection::{Collection, Event, ReadSidecar, StoredItem};
use crate::custody::{Deletion, Has, Holding, Permit, Refusal};
use crate::holdings::{Sight, line_in};
use crate::identity::{Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::progress::Progress;
use crate::sidecar::Seal;
use crate::verify::{Depth, ProofError, prove_as_read};

/// Options of a deletion.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// The user and the machine.
    pub by: String,
    /// The reason, if given.
    pub reason: Option<String>,
    /// The other collections in sight, which may hold the items, too.
    pub sight: &'a Sight<'a>,
    /// Whether the last holding may be deleted.
    pub last: LastRule,
    /// Whether a damaged item may be deleted.
    pub damage: DamageRule,
    /// Whether an Original that is not transferable may be deleted.
    pub permanent: PermanentRule,
}

/// Whether an Original that is marked as not transferable may be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PermanentRule {
    /// It stays, because it belongs to this collection.
    #[default]
    Refuse,
    /// It may be deleted or restored.
    Accept,
}

/// Whether an item may be deleted that no other collection is proven to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastRule {
    /// It stays.
    #[default]
    Keep,
    /// It may be deleted; other collections are not checked.
    Remove,
}

/// Whether a damaged item may be deleted or restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DamageRule {
    /// It stays: a person should inspect it first.
    #[default]
    Refuse,
    /// It may be deleted or restored.
    Accept,
}

/// Options of a restoration.
#[derive(Clone, Copy, Debug)]
pub struct Restoration<'a> {
    /// The other collections in sight: none of them may have a newer state.
    pub sight: &'a Sight<'a>,
    /// Whether a damaged item is restored.
    pub damage: DamageRule,
}

/// The step for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An Original becomes a tombstone.
    Delete,
    /// A Copy becomes a stub.
    Drop,
    /// The Original came back from its deletion, as by a backup, and becomes the same tombstone again.
    Repeat,
    /// The payload beside a tombstone goes to the trash: somebody has put it there.
    Clear,
}

/// The plan for deleting an item.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The item, spelt as it is on disk.
    pub name: RepositoryName,
    /// The step.
    pub step: Step,
    /// The collection that holds the same bytes, if checked.
    pub proven_by: Option<SecondHolding<'a>>,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Plans the deletion of the item `name` of `collection`.
pub fn plan<'a>(
    collection: &Collection,
    name: &RepositoryName,
    order: &Order<'a>,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Plan<'a>, RemovalError> {
    let item = collection.named_item(name)?;
    Planned::of(collection, &item, order, progress, interrupt).map(|planned| planned.plan)
}

/// A plan, with the data it was made from.
pub(super) struct Planned<'a> {
    pub(super) plan: Plan<'a>,
    pub(super) record: ReadSidecar,
    pub(super) proof: Option<Proof<'a>>,
    pub(super) permit: Permit,
    /// The date of the deletion that is repeated.
    pub(super) deleted: Option<Instant>,
    /// Whether the last line of the ledger says what the item is.
    pub(super) is_recorded: bool,
}

impl<'a> Planned<'a> {
    pub(super) fn of(
        collection: &Collection,
        item: &StoredItem,
        order: &Order<'a>,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Planned<'a>, RemovalError> {
        let record = item.read_sidecar()?;
        let recorded = collection.last_record_read(item.name())?;
        let (step, permit, deleted) =
            step(collection, item, (&record, recorded.as_ref()), order.sight)?;
        let is_recorded = recorded.is_some_and(|line| line.holding == Some(record.here()));
        let is_permanent = step == Step::Delete && !record.sidecar.transferable;
        if is_permanent && order.permanent == PermanentRule::Refuse {
            return Err(RemovalError::NotTransferable { name: item.name().clone() });
        }
        if order.damage == DamageRule::Refuse {
            check_whole(item, &record, step, progress, interrupt)?;
        }
        let proof = match (step, order.last) {
            (Step::Clear | Step::Repeat, _) | (_, LastRule::Remove) => None,
            (Step::Delete | Step::Drop, LastRule::Keep) => {
                let others = order.sight.neighbours();
                let own = (item, &record.sidecar);
                Some(proof::find(collection, own, others, Depth::FromDisk, progress, interrupt)?)
            }
        };
        let plan = Plan {
            name: item.name().clone(),
            step,
            proven_by: proof.as_ref().map(|proof| proof.holding),
            files: record.sidecar.payload.files,
            bytes: record.sidecar.payload.bytes,
        };
        Ok(Planned { plan, record, proof, permit, deleted, is_recorded })
    }
}

/// The step for an item [resolution standard 5.2], if the rule of custody allows its deletion, with the date of a deletion
/// that is repeated. Whether its bytes are elsewhere, and whether they are damaged here, is checked apart.
fn step(
    collection: &Collection,
    item: &StoredItem,
    (record, recorded): (&ReadSidecar, Option<&Event>),
    sight: &Sight<'_>,
) -> Result<(Step, Permit, Option<Instant>), RemovalError> {
    let name = item.name();
    match record.sidecar.state {
        State::Deleted if item.has_payload()? => {
            return Ok((Step::Clear, Permit::keep(&record.sidecar.custody), None));
        }
        State::Deleted => {
            return Err(RemovalError::AlreadyDeleted { name: name.clone() });
        }
        State::Elsewhere => {
            let holder = record.sidecar.custody.holder().to_owned();
            let refusal = sight.named(&[collection], Refusal::Elsewhere { holder });
            return Err(RemovalError::refused(name, refusal));
        }
        State::Original | State::Copy => {}
    }
    // Whether that is damaged is checked apart.
    let (has, custody, changed) =
        (Has::Payload, record.sidecar.custody.clone(), record.sidecar.changed());
    let own = Holding { at: collection.id().to_owned(), has, custody, changed };
    let line = line_in(recorded, (collection, name), Some(&own))?;
    let mut seen: Vec<_> = [own.clone()].into_iter().chain(line).collect();
    if own.is_own() {
        seen.extend(sight.look(name, &own));
    }
    match Permit::delete(&own, &seen, collection.custody_id()?) {
        Ok((Deletion::Delete, permit)) => Ok((Step::Delete, permit, None)),
        Ok((Deletion::Drop, permit)) => Ok((Step::Drop, permit, None)),
        Ok((Deletion::Repeat(date), permit)) => Ok((Step::Repeat, permit, Some(date))),
        Err(refusal) => Err(RemovalError::refused(name, sight.named(&[collection], refusal))),
    }
}

/// Makes sure that an item is not visibly damaged: a person should inspect it first.
fn check_whole(
    item: &StoredItem,
    record: &ReadSidecar,
    step: Step,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<(), RemovalError> {
    let damaged = |detail| RemovalError::Damaged { name: item.name().clone(), detail };
    if step == Step::Clear {
        let is_sealed = record.seal == Seal::Intact;
        return if is_sealed { Ok(()) } else { Err(damaged(BROKEN_SEAL.to_owned())) };
    }
    prove_as_read(item, record, Depth::Quick, progress, interrupt).map_err(|error| match error {
        ProofError::Damaged { summary, .. } => damaged(summary),
        ProofError::Disk(error) => error.into(),
        ProofError::Interrupted => RemovalError::Interrupted,
    })
}

/// The damage of a tombstone.
pub(super) const BROKEN_SEAL: &str = "its tombstone was changed by hand or damaged";

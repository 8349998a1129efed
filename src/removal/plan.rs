//! Options of deleting and restoring, and the plan of a deletion. Nothing is changed here.

use super::proof::{self, SecondHolding};
use super::{RemovalError, proof::Proof};
use crate::collection::{Collection, ReadSidecar, StoredItem};
use crate::custody::{self, Has, Refusal};
use crate::holdings::{Sight, with_line};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::progress::Progress;
use crate::verify::{Depth, ProofError, prove};

/// Options of a deletion.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// The user and the machine.
    pub by: String,
    /// The reason, if given.
    pub reason: Option<String>,
    /// Other collections, which may hold the items too.
    pub others: &'a [Collection],
    /// The depth of the check of the other holding.
    pub depth: Depth,
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
    pub others: &'a [Collection],
    /// Whether a damaged item is restored.
    pub damage: DamageRule,
}

/// The step for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An Original becomes a tombstone, its payload goes to the trash.
    Bury,
    /// The payload of a tombstone goes to the trash: an earlier run was killed before that.
    FinishBurial,
    /// The whole Copy goes to the trash.
    TakeAway,
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
        let step = step(&record, item.has_payload()?)?;
        check_custody(collection, item, &record, step, order.others)?;
        let is_permanent = step == Step::Bury && !record.sidecar.transferable;
        if is_permanent && order.permanent == PermanentRule::Refuse {
            return Err(RemovalError::NotTransferable { name: item.name().clone() });
        }
        if step != Step::FinishBurial && order.damage == DamageRule::Refuse {
            prove(item, Depth::Quick, progress, interrupt).map_err(|error| match error {
                ProofError::Damaged { summary: detail, .. } => {
                    RemovalError::Damaged { name: item.name().clone(), detail }
                }
                ProofError::Disk(error) => error.into(),
                ProofError::Interrupted => RemovalError::Interrupted,
            })?;
        }
        let proof = match (step, order.last) {
            (Step::FinishBurial, _) | (_, LastRule::Remove) => None,
            (Step::Bury | Step::TakeAway, LastRule::Keep) => {
                let (others, depth) = (order.others, order.depth);
                let own = (item, &record.sidecar);
                Some(proof::find(collection, own, others, depth, progress, interrupt)?)
            }
        };
        let plan = Plan {
            name: item.name().clone(),
            step,
            proven_by: proof.as_ref().map(|proof| proof.holding),
            files: record.sidecar.payload.files,
            bytes: record.sidecar.payload.bytes,
        };
        Ok(Planned { plan, record, proof })
    }
}

/// The step for the state of an item [resolution standard 5.2].
fn step(record: &ReadSidecar, has_payload: bool) -> Result<Step, RemovalError> {
    let sidecar = &record.sidecar;
    let name = || sidecar.repository.clone();
    match (sidecar.state, has_payload) {
        (State::Original, _) => Ok(Step::Bury),
        (State::Copy, _) => Ok(Step::TakeAway),
        (State::Deleted, true) => Ok(Step::FinishBurial),
        (State::Deleted, false) => Err(RemovalError::AlreadyDeleted { name: name() }),
        (State::Elsewhere, _) => {
            let holder = sidecar.custody.holder().to_owned();
            Err(RemovalError::refused(&name(), Refusal::Elsewhere { holder }))
        }
    }
}

/// Makes sure that the item may be deleted by the rule of custody. Whether its bytes are elsewhere, and whether they are
/// damaged here, is checked apart.
fn check_custody(
    collection: &Collection,
    item: &StoredItem,
    record: &ReadSidecar,
    step: Step,
    others: &[Collection],
) -> Result<(), RemovalError> {
    let refused = |refusal| Err(RemovalError::refused(item.name(), refusal));
    let mut own = item.holding(record, collection.id())?;
    if let Some(ceded) = own.custody.ceded() {
        return refused(Refusal::Ceded { at: ceded.to.clone() });
    }
    if own.has == Has::Damaged {
        own.has = Has::Payload;
    }
    let mut seen = with_line(collection, item.name(), &own)?;
    match step {
        Step::FinishBurial => Ok(()),
        // It lies in the place of the Original, and without it nothing shows that the Original is lost.
        Step::TakeAway => match custody::highest(&seen) {
            Some(top) if top.rank() > own.rank() && top.custody.holder() == own.at => {
                refused(Refusal::Newer { at: own.at.clone() })
            }
            _ => Ok(()),
        },
        Step::Bury => {
            for other in others {
                if !collection.is_same(other)? {
                    seen.extend(Sight::of(item.name(), &[other]).whole()?);
                }
            }
            custody::may_change(&own, &seen).or_else(refused)
        }
    }
}

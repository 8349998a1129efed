//! What has rotten in other collections, too: a sidecar there says that it has the item whole, and only its bytes tell more.

use super::decide::decide;
use super::facts::{DonorFacts, Facts};
use super::plan::{Damage, Decision, Plan};
use super::{RepairError, Repairer, as_found};
use crate::custody::remedy::{self, Act, Line, remedy};
use crate::custody::{CustodyId, Holding};
use crate::identity::{Instant, RepositoryName};
use crate::verify::{Depth, ProofError, prove};

impl Repairer<'_> {
    /// The decision, and whether it is about an item with bytes.
    pub(super) fn decide(
        &self,
        facts: &Facts,
        places: &mut [remedy::Place],
        (records, seen): (&[DonorFacts], &[Holding]),
        new: (CustodyId, Instant),
    ) -> Result<(Decision, bool), RepairError> {
        let own = self.collection.id();
        let (decided, has_bytes) = {
            let found = remedy(places, own);
            let act = found.as_ref().and_then(|it| it.act_at(own));
            let is_last = as_found::is_sealed_by(found.as_ref(), own);
            let decided = decide(facts, records, seen, (act, is_last), self.options, new);
            (decided, act != Some(Act::Repair))
        };
        match decided {
            // An older state that is believed to be whole is no donor, and may have rotten.
            Err(error @ RepairError::Outdated { .. }) => {
                let stub = self.stub(facts, places, (records, seen), new)?;
                Ok((stub.ok_or(error)?, false))
            }
            decided => Ok((decided?, has_bytes)),
        }
    }

    /// The stub of an item whose bytes have rotten in all `places`, also in those that were believed to have it whole; `None`
    /// where more than that is left.
    pub(super) fn stub(
        &self,
        facts: &Facts,
        places: &mut [remedy::Place],
        (records, seen): (&[DonorFacts], &[Holding]),
        new: (CustodyId, Instant),
    ) -> Result<Option<Decision>, RepairError> {
        self.judge_bytes(&facts.name, places)?;
        let found = remedy(places, self.collection.id());
        let act = found.as_ref().and_then(|it| it.act_at(self.collection.id()));
        let is_bare = act == Some(Act::Repair);
        is_bare.then(|| decide(facts, records, seen, (act, false), self.options, new)).transpose()
    }

    /// Makes sure that no part is brought back of an item that was given up: it would be damage that has to be given up again.
    pub(super) fn check_whole(
        &self,
        plan: &Plan,
        places: &[remedy::Place],
    ) -> Result<(), RepairError> {
        let own = self.collection.id();
        let is_given_up = |it: &remedy::Place| it.at == own && it.line == Some(Line::Loss);
        let lost: Vec<_> = plan.lost().cloned().collect();
        if plan.damage == Damage::Within || lost.is_empty() || !places.iter().any(is_given_up) {
            return Ok(());
        }
        Err(RepairError::Lost { name: plan.name.clone(), lost })
    }

    /// Looks at the bytes of the others, as verification does: what has rotten there is no reason to leave the payload here
    /// without a sidecar.
    pub(super) fn judge_bytes(
        &self,
        name: &RepositoryName,
        places: &mut [remedy::Place],
    ) -> Result<(), RepairError> {
        let own = self.collection.id();
        for place in places.iter_mut().filter(|it| it.at != own && it.has_payload()) {
            let Some(there) = self.others().find(|it| it.id() == place.at) else { continue };
            let (progress, interrupt) = (self.caller.progress, self.caller.interrupt);
            match prove(&there.item(name)?, Depth::FromDisk, progress, interrupt) {
                Ok(()) => {}
                Err(ProofError::Damaged { .. }) => place.damage(remedy::Damage::Payload),
                Err(ProofError::Disk(error)) => return Err(error.into()),
                Err(ProofError::Interrupted) => return Err(RepairError::Interrupted),
            }
        }
        Ok(())
    }
}

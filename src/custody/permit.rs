//! Permits: the custody of each holding that is written comes from here. Pure.

use super::{
    Custody, CustodyId, Deletion, Discard, Holding, Leaves, MigrationEnd, PROMOTION, Refusal,
    Speaking, Step, decide,
};

/// The right to write one holding, with its custody. Only this module makes one, and the engines put no sidecar and no line
/// of the ledger in place without: so no change goes round the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    custody: Custody,
}

impl Permit {
    /// The custody that is written.
    pub fn custody(&self) -> &Custody {
        &self.custody
    }

    /// A new item. The distributor's proof of issue, or the tree in which it was found, is all that is asked: no neighbour can
    /// have it. The holder of a Copy of an unknown archive is empty.
    pub fn issue(id: CustodyId, holder: &str) -> Permit {
        Permit { custody: Custody::first(id, holder) }
    }

    /// The Original `own` changes, with the holdings and lines `seen` in sight.
    pub fn amend(own: &Holding, seen: &[Holding], id: CustodyId) -> Result<Permit, Refusal> {
        decide::may_change(own, seen)?;
        Ok(Permit { custody: own.custody.amended(id) })
    }

    /// A person's word seals the Original with this custody as it lies there.
    pub fn seal(own: &Custody, id: CustodyId) -> Permit {
        Permit { custody: own.amended(id) }
    }

    /// The holding keeps the custody of its sidecar, or gets that of its donor: bytes, seals and the words of states are put
    /// right.
    pub fn keep(custody: &Custody) -> Permit {
        Permit { custody: custody.elsewhere() }
    }

    /// The holding gets the custody of `donor`, with all that is known of it among `seen`.
    pub fn follow(donor: &Holding, seen: &[Holding]) -> Permit {
        Permit { custody: donor.custody_among(seen) }
    }

    /// The stub or tombstone of what speaks, where the ledger has the lines `recorded` of the item.
    pub fn bare(top: &Speaking<'_>, recorded: &[CustodyId]) -> Permit {
        Permit { custody: top.custody().following_all(recorded.iter().copied()) }
    }

    /// Payload whose sidecar is lost, or lost its seal, goes on above all that is in sight and what `bare` follows. The collection
    /// `holder` has the Original.
    pub fn seal_as_found(bare: &Permit, holder: &str, seen: &[Holding], id: CustodyId) -> Permit {
        Permit { custody: bare.custody.promoted(holder, id, highest_epoch(seen), &[]) }
    }

    /// The holding `own` is deleted.
    pub fn delete(
        own: &Holding,
        seen: &[Holding],
        id: CustodyId,
    ) -> Result<(Deletion, Permit), Refusal> {
        if let Some((custody, deleted)) = decide::deleted_before(own, seen) {
            return Ok((Deletion::Repeat(deleted), Permit { custody }));
        }
        Ok(match decide::delete(own, seen)? {
            Deletion::Drop => (Deletion::Drop, Permit::keep(&own.custody)),
            deletion => (deletion, Permit { custody: own.custody.passed_to(&own.at, id) }),
        })
    }

    /// The tombstone `own` becomes the Original again.
    pub fn restore(own: &Holding, seen: &[Holding], id: CustodyId) -> Result<Permit, Refusal> {
        decide::restore(own, seen)?;
        Ok(Permit { custody: own.custody.passed_to(&own.at, id) })
    }

    /// The Copy `own` becomes the Original, by a person's word that the collections `lost` are lost, or that other lines are
    /// given up.
    pub fn promote(
        own: &Holding,
        seen: &[Holding],
        (lost, discard): (&[&str], Discard),
        id: CustodyId,
    ) -> Result<Permit, Refusal> {
        let taken = decide::promote(own, seen, lost, discard)?;
        Ok(Permit { custody: own.custody.promoted(&own.at, id, highest_epoch(seen), &taken) })
    }

    /// The collection `to` gets by `step` what the holding with the custody `from` is.
    pub fn transfer(step: Step, from: &Custody, to: &str, id: CustodyId) -> Permit {
        match step {
            Step::HandOver => Permit { custody: from.passed_to(to, id) },
            Step::Nothing | Step::Copy | Step::MoveCopy | Step::Bury => Permit::keep(from),
        }
    }

    /// The giver with the custody `own` says that the receiver gets `received`, and refuses every other change.
    pub fn cede(own: &Custody, received: &Permit, leaves: Leaves) -> Permit {
        Permit { custody: own.ceded_to(&received.custody, leaves) }
    }

    /// The giver withdraws its offer: the receiver did not get the item, or a person says so.
    pub fn withdraw(own: &Custody, id: CustodyId) -> Permit {
        Permit { custody: own.withdrawn(id, 0) }
    }

    /// The giver goes on above all that is in sight: what was made of its offer is lost, by a person's word.
    pub fn accept_loss(own: &Custody, seen: &[Holding], id: CustodyId) -> Permit {
        Permit { custody: own.withdrawn(id, highest_epoch(seen) + PROMOTION) }
    }

    /// The giver `own` of an interrupted migration ends it. `None` where nothing may be written yet.
    pub fn end(
        end: &MigrationEnd<'_>,
        own: &Custody,
        seen: &[Holding],
        id: CustodyId,
    ) -> Option<Permit> {
        let custody = match end {
            MigrationEnd::Finish(there, Leaves::Stub) | MigrationEnd::Bury(there) => {
                there.custody_among(seen)
            }
            // Its contents are those that were offered.
            MigrationEnd::Finish(_, Leaves::Copy) => own.offered()?,
            MigrationEnd::KeepAbove(there) => own.kept_above(&there.custody, id),
            // Behind, as an Original that was put back: repair brings it up.
            MigrationEnd::ComeUp(_) => own.elsewhere(),
            MigrationEnd::Withdraw => own.withdrawn(id, 0),
            MigrationEnd::Arrived(_) | MigrationEnd::Lost(_) | MigrationEnd::OutOfSight(_) => {
                return None;
            }
        };
        Some(Permit { custody })
    }
}

fn highest_epoch(seen: &[Holding]) -> u64 {
    seen.iter().map(|it| it.custody.epoch()).max().unwrap_or_default()
}

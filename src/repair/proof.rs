//! The sidecar that a broken seal belongs to, found with the text of a donor.
//!
//! The seal covers every byte before it. What rot has changed in a description is still in the sidecars of
//! other holdings: put together with the lines that only this holding has, they give the text that was
//! sealed, and its digest proves it.

use super::facts::{DonorFacts, Written};
use crate::item::State;
use crate::sidecar::{NewText, Seal, Sidecar, SidecarText};

/// The first text made of `own` and one of `donors` that has the digest which `own` was sealed with, and
/// the donor.
pub(super) fn as_sealed(own: &Written, donors: &[DonorFacts]) -> Option<(usize, Sidecar, NewText)> {
    let Seal::Broken { sealed, .. } = own.seal else { return None };
    let line = format!("\nsha256 = \"{sealed}\"\n");
    // A change of a text parses it, which takes long for many files: that comes last.
    [Spelling::Plain, Spelling::OfOwn, Spelling::OfDonor].into_iter().find_map(|spelling| {
        donors.iter().enumerate().find_map(|(at, donor)| {
            let donor = donor.record.as_ref()?;
            candidates(&own.sidecar, &donor.sidecar).find_map(|candidate| {
                let text = spelling.print(&candidate, own, donor)?;
                if !text.ends_with(&line) {
                    return None;
                }
                let text = match &own.text {
                    SidecarText::Held(_) => NewText::Held(text.into_bytes()),
                    SidecarText::Digested(_) => NewText::Printed(Box::new(candidate.clone())),
                };
                Some((at, candidate, text))
            })
        })
    })
}

/// What the sidecar may have said: all that holdings share as `donor` has it, the rest as it is in `own`,
/// or as it has to be where rot has struck that.
fn candidates(own: &Sidecar, donor: &Sidecar) -> impl Iterator<Item = Sidecar> {
    let mut of_original = donor.clone();
    of_original.remove_copy_keys();
    let origins = [own.origin.clone(), of_original.origin, donor.origin.clone()];
    let (own, donor) = (own.clone(), donor.clone());
    origins.into_iter().flat_map(move |origin| {
        let (own, donor) = (own.clone(), donor.clone());
        [own.state, State::Original, State::Copy].into_iter().flat_map(move |state| {
            let candidate = Sidecar {
                state,
                repository: own.repository.clone(),
                origin: origin.clone(),
                handover: own.handover.clone(),
                removal: own.removal.clone(),
                ..donor.clone()
            };
            // A removal has a date of its own.
            let own_date = Sidecar { timestamp: own.timestamp, ..candidate.clone() };
            [candidate, own_date]
        })
    })
}

/// How a text is spelt.
#[derive(Clone, Copy)]
enum Spelling {
    /// As urepo writes it.
    Plain,
    /// With the comments and other keys of the item's own sidecar.
    OfOwn,
    /// With those of the donor's.
    OfDonor,
}

impl Spelling {
    /// The sealed text of `candidate`.
    fn print(self, candidate: &Sidecar, own: &Written, donor: &Written) -> Option<String> {
        match self {
            Spelling::Plain => Some(candidate.to_text()),
            Spelling::OfOwn => spell_like(candidate, own),
            Spelling::OfDonor => spell_like(candidate, donor),
        }
    }
}

/// The text of `candidate` in place of `written`. A long text is as urepo prints it, or cannot be changed.
fn spell_like(candidate: &Sidecar, written: &Written) -> Option<String> {
    match &written.text {
        SidecarText::Held(text) => candidate.rewrite(text, &written.sidecar).ok(),
        SidecarText::Digested(_) => None,
    }
}

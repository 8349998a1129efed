//! `urepo recover`: unfinished hand-overs, recorded or not.

use urepo::collection::Collection;
use urepo::holdings::UnseenRule;
use urepo::identity::RepositoryName;
use urepo::transfer::{PeerLookup, finish_pending, has_pending, record_again, unrecorded};

use super::Recover;
use crate::cli::command::transfer::report_finished;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::force::Force;
use crate::cli::shell;

impl Recover {
    /// Finishes or withdraws the hand-overs from `collection`, and with `--inventory` those that only sidecars show.
    /// Returns how many were finished, and how many still are in progress.
    pub(super) fn finish_hand_overs(
        &self,
        context: &Context,
        collection: &Collection,
    ) -> Result<(u64, u64), Failure> {
        if !self.inventory && !has_pending(collection)? {
            return Ok((0, 0));
        }
        let known = context.known(&self.others)?;
        let others = known.peers(Force::Missing.rule(self.force.as_slice(), UnseenRule::Accept));
        let (agent, waiter) = (&context.agent, context.waiter());
        let (givers, mut finished) = if self.inventory {
            record_again(collection, others, agent, &waiter)?
        } else {
            Default::default()
        };
        let reach = PeerLookup { named: &[collection], others };
        let besides = givers.into_iter().filter(|giver| giver.id() != collection.id());
        for giver in std::iter::once(collection).chain(besides) {
            finished.extend(finish_pending(giver, reach, agent, &waiter)?);
        }
        let mut recover = format!("urepo -c {} recover", shell::word(collection.path()));
        recover += if self.inventory { " --inventory" } else { "" };
        for other in &self.others {
            recover = format!("{recover} --with {}", shell::word(other));
        }
        let open = report_finished(context, &recover, &finished);
        Ok((finished.len() as u64 - open, open))
    }

    /// The items whose hand-over only sidecars show.
    pub(super) fn unrecorded(
        &self,
        context: &Context,
        collection: &Collection,
    ) -> Result<Vec<RepositoryName>, Failure> {
        if !self.inventory {
            return Ok(Vec::new());
        }
        let known = context.known(&self.others)?;
        Ok(unrecorded(collection, known.peers(UnseenRule::Refuse))?)
    }
}

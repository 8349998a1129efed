//! The claims of a collection on its prefixes, and the takeover of prefixes that a person has decided on.

use super::issuer::{Issuer, LabelSource, no_subsystem};
use super::register::{Claimant, Takeover, keep};
use crate::collection::{Collection, CollectionError, Series};
use crate::disk::resolved;
use crate::distributor::{DistributorError, FutureDate, MissingDates, Notice, Unseen};

impl Issuer<'_> {
    /// Makes sure that the prefixes could be claimed, without writing anything.
    pub(super) fn check(&self) -> Result<(), CollectionError> {
        let (root, id) = (resolved(self.collection.path())?, self.collection.id());
        for LabelSource { distributor, names, .. } in &self.sources {
            let (prefix, memory) = (&distributor.prefix, &*names.memory);
            // An address that another collection has does not prevent issuing: the names then have no IBIps.
            let claimant = Claimant { prefix, ibips: None, id: Some(id), root: &root, memory };
            if !self.register.has(&claimant)? {
                self.register.check(&claimant, Takeover::Refuse)?;
            }
        }
        Ok(())
    }

    /// Makes sure that the register names this collection as the issuer of these prefixes and their IBIps.
    pub(super) fn claim(&mut self, takeover: Takeover) -> Result<(), CollectionError> {
        let (root, id) = (resolved(self.collection.path())?, self.collection.id());
        for LabelSource { distributor, names, .. } in &mut self.sources {
            let memory = names.memory.clone();
            let (prefix, ibips) = (&distributor.prefix, names.ibips.clone());
            let ibips = ibips.as_ref();
            let mut claimant =
                Claimant { prefix, ibips, id: Some(id), root: &root, memory: &memory };
            distributor.check_reserved(self.register.has_reserved(&claimant)?)?;
            while !self.register.has(&claimant)? {
                let (agent, clock) = (distributor.agent, distributor.clock);
                let claim = self.register.claim(&claimant, takeover, agent, clock, self.patience);
                match claim {
                    // Older collections may share an address: this one continues without IBIps.
                    Err(
                        error @ (CollectionError::PrefixInUse { series: Series::Ibips(_), .. }
                        | CollectionError::PrefixLost { series: Series::Ibips(_), .. }),
                    ) => {
                        let (prefix, cause) = (prefix.clone(), error.to_string());
                        self.notices.push(Notice::NoIbips { prefix, cause });
                        (claimant.ibips, names.ibips) = (None, None);
                    }
                    claim => {
                        self.notices.extend(keep(claim, id, &claimant)?);
                        break;
                    }
                }
            }
            if !memory.starts_with(&root) {
                match distributor.share(id, &root, self.patience) {
                    // The file beside the memory may be closed to this user, who can issue names even so.
                    Err(DistributorError::Disk(error)) if error.is_refusal() => {
                        let (prefix, cause) = (prefix.clone(), error.to_string());
                        self.notices.push(Notice::NotShared { prefix, cause });
                    }
                    shared => shared?,
                }
            }
            let (agent, clock) = (distributor.agent, distributor.clock);
            let reserved = distributor.has_reserved()?.unwrap_or(false);
            self.register.note_reserved(&claimant, reserved, agent, clock, self.patience)?;
        }
        Ok(())
    }

    /// Makes this machine and this collection the issuer.
    ///
    /// Names dated in the future that other collections have, `mirrors` included, are skipped.
    pub fn adopt(
        &mut self,
        future: FutureDate,
        unseen: Unseen,
        mirrors: &[Collection],
    ) -> Result<Vec<Notice>, CollectionError> {
        if self.sources.is_empty() && self.lost.is_empty() {
            return Err(no_subsystem(self.collection, None));
        }
        let (root, id) = (resolved(self.collection.path())?, self.collection.id());
        let mut all_names = Vec::new();
        let is_decided = !mirrors.is_empty() || unseen == Unseen::Accept;
        for LabelSource { distributor, names, .. } in &mut self.sources {
            distributor.unseen = unseen;
            if is_decided {
                distributor.missing_dates = MissingDates::Rebuild;
            }
            let (prefix, ibips, memory) =
                (&distributor.prefix, names.ibips.as_ref(), &*names.memory);
            let claimant = Claimant { prefix, ibips, id: Some(id), root: &root, memory };
            distributor.check_reserved(self.register.has_reserved(&claimant)?)?;
            let around = names.with_mirrors(mirrors, self.register.peers(&claimant)?);
            // Before the claim: it replaces the previous issuer in the register, whose names are not found afterwards.
            distributor.reserve_elsewhere(&around, future, self.patience)?;
            all_names.push(around);
        }
        self.claim(Takeover::Accept)?;
        let mut notices: Vec<_> = self.notices.drain(..).collect();
        for (source, names) in self.sources.iter().zip(&all_names) {
            notices.extend(source.distributor.adopt(names, future, self.patience)?);
        }
        Ok(notices)
    }
}

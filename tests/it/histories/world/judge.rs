//! What each step must leave true.

use super::super::adapter::Ended;
use super::super::oracle::{Edits, Holding};
use super::super::script::{Deed, Item, SITES, Site, Step, Verdict};
use super::{Broken, Known, PAYLOADS, Sight, World, broken, parts};

use urepo::disk::Watcher;

impl World {
    /// After a person's deed: what is gone was given up, and what is missing is reported.
    pub(super) fn judge_hand(&mut self, deed: Deed, before: &[Sight]) -> Result<(), Broken> {
        let after: Vec<_> = self.items.iter().map(|item| self.look(item)).collect();
        for (item, (before, after)) in self.items.iter_mut().zip(before.iter().zip(&after)) {
            item.given_up.extend(before.living.difference(&after.living));
            item.lost.extend(before.kept.difference(&after.kept));
        }
        let (Deed::PutBack(site, _, _) | Deed::Lose(site, _) | Deed::Rot(site, _)) = deed else {
            return Ok(());
        };
        if self.is_forgetful || !self.place(site).is_mounted {
            return Ok(());
        }
        for (at, after) in after.iter().enumerate() {
            let held = before[at].holdings[site.0].as_ref();
            let was_held =
                before[at].recorded[site.0] && held.is_some_and(|it| !it.state.is_empty());
            let is_gone = was_held && after.holdings[site.0].is_none();
            let is_rotten = matches!(deed, Deed::Rot(_, item) if item == Item(at))
                && after.holdings[site.0].as_ref().is_some_and(|it| it.payload && !it.whole);
            if is_gone || is_rotten {
                self.is_reported(Some(site), at, "damage is reported")?;
            }
        }
        Ok(())
    }

    pub(super) fn judge(
        &mut self,
        deed: Deed,
        ended: &Ended<Option<String>>,
        before: &[Sight],
    ) -> Result<(), Broken> {
        if let Ok(Some(printed)) = ended {
            if !self.printed.insert(printed.clone()) {
                return broken("no name twice", printed);
            }
            if let Deed::New(_) = deed {
                self.items.push(Known {
                    name: printed.parse().unwrap(),
                    bytes: PAYLOADS[self.deposits % PAYLOADS.len()],
                    given_up: Edits::new(),
                    lost: Edits::new(),
                    deleted: Edits::new(),
                    is_disturbed: false,
                });
            }
        }
        let (site, other, _) = parts(deed);
        for at in 0..self.items.len() {
            let after = self.look(&self.items[at]);
            if let Some(before) = before.get(at) {
                self.judge_bytes(deed, ended.is_ok(), at, before, &after)?;
            }
            if ended.is_ok() && concerns(deed, at, self.items.len()) {
                self.judge_success(deed, (site, other), before.get(at), &after)?;
            }
            if before.get(at).is_none_or(|before| before.holdings != after.holdings) {
                self.judge_originals(deed, at, &after)?;
            }
        }
        Ok(())
    }

    /// No edit is replaced by contents without it, unless a person gave it up.
    fn judge_bytes(
        &mut self,
        deed: Deed,
        is_done: bool,
        at: usize,
        before: &Sight,
        after: &Sight,
    ) -> Result<(), Broken> {
        let is_it = |item: Item| item.0 == at;
        let item = &mut self.items[at];
        match deed {
            // Also one that was killed or failed may have been carried out.
            Deed::Delete(site, it) if is_it(it) => {
                let held = before.holdings[site.0].as_ref();
                if let Some(held) = held.filter(|held| held.is_original()) {
                    // It concerns the Copies, too, even if its own bytes had rotted.
                    item.deleted.extend(held.named());
                }
            }
            Deed::Restore(site, it)
                if is_it(it)
                    && is_done
                    // What was an Original before, although it is deleted elsewhere, was not restored.
                    && before.holdings[site.0] != after.holdings[site.0]
                    && after.holdings[site.0].as_ref().is_some_and(Holding::is_original) =>
            {
                item.deleted.clear();
            }
            Deed::Purge(_) => {
                item.lost.extend(before.kept.difference(&after.kept));
            }
            _ => {}
        }
        let missing = |before: &Edits, after: &Edits, allowed: &[&Edits]| -> Edits {
            let gone = before.difference(after);
            gone.filter(|edit| allowed.iter().all(|set| !set.contains(edit))).copied().collect()
        };
        let replaced = missing(&before.living, &after.living, &[&item.given_up, &item.deleted]);
        if !replaced.is_empty() {
            return broken("no edit is replaced", format!("{}: {replaced:?}", Item(at)));
        }
        let lost = missing(&before.kept, &after.kept, &[&item.lost]);
        if !lost.is_empty() {
            return broken("no bytes are lost", format!("{}: {lost:?}", Item(at)));
        }
        item.given_up.extend(before.living.difference(&after.living));
        Ok(())
    }

    /// A reported success is true.
    fn judge_success(
        &self,
        deed: Deed,
        (site, other): (Site, Option<Site>),
        before: Option<&Sight>,
        after: &Sight,
    ) -> Result<(), Broken> {
        let held = |sight: &Sight, site: Site| sight.holdings[site.0].clone();
        let (here, there) = (held(after, site), other.and_then(|other| held(after, other)));
        let source = before.and_then(|before| held(before, site));
        let is_living = |held: &Option<Holding>| {
            held.as_ref().is_some_and(|held| held.whole && !held.living().is_empty())
        };
        let has_all = |held: &Option<Holding>| {
            source.as_ref().is_none_or(|source| {
                held.as_ref().is_some_and(|held| source.living().is_subset(&held.living()))
            })
        };
        // A command that has nothing to do does not read the files: rot is for `verify`.
        if self.is_damaged {
            return Ok(());
        }
        let is_true = match deed {
            Deed::New(_) | Deed::Restore(..) => is_living(&here),
            Deed::Meta(..) => {
                here.as_ref().is_some_and(|it| it.is_original() && it.edits.contains(&self.edits))
            }
            // A deletion travels.
            Deed::Copy(..) if here.as_ref().is_some_and(|it| it.state == "Deleted") => {
                there.as_ref().is_some_and(|it| it.state == "Deleted")
            }
            Deed::Copy(..) => is_living(&there) && has_all(&there),
            Deed::Migrate(..) => {
                let was_original = source.as_ref().is_some_and(Holding::is_original);
                is_living(&there)
                    && has_all(&there)
                    && (!was_original || there.as_ref().is_some_and(Holding::is_original))
                    && !here.as_ref().is_some_and(Holding::is_original)
            }
            Deed::Delete(..) => !is_living(&here),
            // A tombstone and a stub may be in order as well.
            Deed::Repair(..) => {
                let states = ["Deleted", "Elsewhere"];
                is_living(&here) || here.as_ref().is_some_and(|it| states.contains(&&*it.state))
            }
            Deed::Promote(..) => {
                is_living(&here) && here.as_ref().is_some_and(Holding::is_original)
            }
            _ => true,
        };
        if is_true {
            return Ok(());
        }
        broken("a reported success is true", format!("{deed}: here {here:?}, there {there:?}"))
    }

    /// At most one Original in sight, or a reported fork.
    fn judge_originals(&mut self, deed: Deed, at: usize, after: &Sight) -> Result<(), Broken> {
        if matches!(deed, Deed::Promote(..)) {
            self.items[at].is_disturbed = true;
        }
        let is_original = |site: &Site| {
            let held = after.holdings[site.0].as_ref();
            held.is_some_and(Holding::is_original) && self.place(*site).is_mounted
        };
        let originals: Vec<_> = SITES.into_iter().filter(is_original).collect();
        if originals.len() < 2 {
            return Ok(());
        }
        if !self.items[at].is_disturbed {
            return broken("one Original", format!("{} in {originals:?}", Item(at)));
        }
        self.is_reported(None, at, "a second Original is reported")
    }

    pub(super) fn verify(&self, site: Option<Site>) -> Result<(bool, Vec<String>), Broken> {
        let is_mounted = |site: &Site| self.place(*site).is_mounted;
        let Some(first) = site.or_else(|| SITES.into_iter().find(is_mounted)) else {
            return Ok((false, Vec::new()));
        };
        let mut command = self.command_at(first, Watcher::default());
        let seen = self.places.iter().filter(|place| place.is_mounted);
        command.others = seen.map(|place| &*place.root).collect();
        command.others.retain(|root| *root != command.own);
        command.verify(site.is_some()).or_else(|error| broken("verify answers", error))
    }

    fn is_reported(
        &self,
        site: Option<Site>,
        at: usize,
        promise: &'static str,
    ) -> Result<(), Broken> {
        let (damage, lines) = self.verify(site)?;
        let name = self.items[at].name.as_str();
        if damage && lines.iter().any(|line| line.contains(name)) {
            return Ok(());
        }
        broken(promise, format!("{} {damage} {lines:?}", Item(at)))
    }

    pub(super) fn expect(&self, site: Option<Site>, verdict: Verdict) -> Result<(), Broken> {
        let (damage, lines) = self.verify(site)?;
        if damage == (verdict == Verdict::Damage) {
            return Ok(());
        }
        broken("verify says it", format!("{verdict:?} expected: {lines:?}"))
    }

    pub(super) fn bring_into_sight(&mut self) -> Result<(), Broken> {
        SITES.into_iter().try_for_each(|site| {
            self.step(Step::of(Deed::Mount(site)))?;
            self.step(Step::of(Deed::Show(site)))
        })
    }

    /// The holdings that are ceded: where they are, and of which item.
    fn ceded(&self) -> Vec<(Site, usize)> {
        let is_ceded = |(site, at): &(Site, usize)| {
            let item = &self.items[*at];
            let held = Holding::read(&self.at(*site), item.name.as_str(), item.bytes);
            held.is_some_and(|held| held.ceded)
        };
        let items = || 0..self.items.len();
        let all = SITES.into_iter().flat_map(|site| items().map(move |at| (site, at)));
        all.filter(is_ceded).collect()
    }

    /// All collections are in sight again, and what was begun is ended.
    pub(in crate::histories) fn end(&mut self) -> Result<(), Broken> {
        self.bring_into_sight()?;
        let recover = if self.is_damaged { Deed::RecoverRestored } else { Deed::Recover };
        for site in SITES.into_iter().chain(SITES) {
            self.step(Step::of(recover(site)))?;
        }
        // By its line a receiver got the item, and lost it since: recovery waits until it is mended from the giver.
        let waiting = self.ceded();
        for (site, at) in &waiting {
            for receiver in SITES.into_iter().filter(|receiver| receiver != site) {
                self.step(Step::of(Deed::Repair(receiver, Item(*at), *site)))?;
            }
        }
        if !waiting.is_empty() {
            SITES.into_iter().try_for_each(|site| self.step(Step::of(recover(site))))?;
        }
        if let Some((site, _)) = self.ceded().first() {
            return broken("nothing is stuck", format!("{site}: {:?}", self.refusals));
        }
        for at in 0..self.items.len() {
            let (item, sight) = (&self.items[at], self.look(&self.items[at]));
            let held = sight.holdings.iter().flatten();
            let originals = held.clone().filter(|held| held.is_original()).count();
            let is_deleted = held.clone().any(|held| held.state == "Deleted");
            let states: Vec<_> = held.map(|held| &*held.state).collect();
            let is_right = originals == 1 || originals == 0 && is_deleted;
            if !item.is_disturbed && !is_right {
                return broken("one Original in the end", format!("{}: {states:?}", Item(at)));
            }
            if originals > 1 {
                self.is_reported(None, at, "a second Original is reported")?;
            }
            if sight.living.is_empty() && !is_deleted && !self.is_forgetful {
                self.is_reported(None, at, "a lost item is reported")?;
            }
        }
        if !self.is_damaged && self.items.iter().all(|item| !item.is_disturbed) {
            let (damage, lines) = self.verify(None)?;
            if damage {
                return broken("what nobody damaged is clean", format!("{lines:?}"));
            }
        }
        Ok(())
    }
}

/// Whether a command is about the item number `at` of `count`.
fn concerns(deed: Deed, at: usize, count: usize) -> bool {
    match (deed, parts(deed).2) {
        (Deed::New(_), _) => at + 1 == count,
        (_, item) => item == Some(Item(at)),
    }
}

//! Random histories of one item in four collections, over the functions of this module: kills at every step of a migration,
//! collections out of sight, clocks that jump, backups put back in silence, trash and purges, dropped Copies, lost
//! sidecars, promotions over collections that are not lost.
//!
//! Checked in every history: no automatic change replaces contents by contents that lack one of their edits, unless a person
//! gave those up; no stub is left where nothing in sight has the payload; no Copy and no stub points to its own
//! collection; with every collection in sight nothing stays ceded, whatever the receiver has by then, and no second Original is left that the highest custody
//! covers.

use super::*;

const COLLECTIONS: usize = 4;
const NAMES: [&str; COLLECTIONS] = ["A", "B", "C", "D"];
const STEPS: usize = 60;

/// A holding, and the edits that its contents have.
#[derive(Clone)]
struct Item {
    holding: Holding,
    edits: u64,
}

type Backup = (Option<Item>, (Option<Item>, Vec<CustodyId>), Vec<Item>);

struct World {
    /// Multiplied and shifted, as in a linear congruential generator.
    random: u64,
    items: [Option<Item>; COLLECTIONS],
    lines: [Option<Item>; COLLECTIONS],
    /// The ids of the lines before those.
    earlier: [Vec<CustodyId>; COLLECTIONS],
    trash: [Vec<Item>; COLLECTIONS],
    backups: [Vec<Backup>; COLLECTIONS],
    clock: i64,
    edits: u32,
    given_up: u64,
    ids: u64,
    broken: Option<&'static str>,
}

impl World {
    fn new(seed: u64) -> World {
        let mut world = World {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            items: Default::default(),
            lines: Default::default(),
            earlier: Default::default(),
            trash: Default::default(),
            backups: Default::default(),
            clock: 100,
            edits: 0,
            given_up: 0,
            ids: 0,
            broken: None,
        };
        let first = world.below(COLLECTIONS);
        let custody = Custody::first(world.id(), NAMES[first]);
        let changed = world.now();
        let at = NAMES[first].to_owned();
        world.write(first, Holding { at, has: Has::Payload, custody, changed }, 1);
        world
    }

    fn below(&mut self, count: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random >> 33).unwrap_or(0) % count
    }

    fn id(&mut self) -> CustodyId {
        self.ids += 1;
        CustodyId(self.ids.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn now(&mut self) -> Instant {
        self.clock += [0, 1, 3][self.below(3)];
        Instant::from_seconds(self.clock + [0, 0, 0, -50, 50][self.below(5)])
    }

    fn later(&mut self, than: Instant) -> Instant {
        let now = self.now();
        now.max(than.checked_add(1_000_000_000).unwrap_or(than))
    }

    /// The holdings and lines of these collections. A line lists no ids: it follows the contents that lie below it in its
    /// directory, if those have an earlier line, and no stub came in between: a stub is replaced by whatever comes.
    fn seen(&self, sight: &[usize]) -> Vec<Holding> {
        let of = |c: &usize| {
            let own = self.items[*c].as_ref().map(|it| it.holding.clone());
            let line = self.lines[*c].as_ref().map(|it| {
                let mut line = it.holding.clone();
                line.custody = line.custody.bare();
                let is_earlier = |own: &&Holding| {
                    own.has != Has::Stub && self.earlier[*c].contains(&own.custody.id())
                };
                if let Some(own) = own.as_ref().filter(is_earlier) {
                    line.custody = line.custody.following(&own.custody);
                }
                line
            });
            [own, line]
        };
        sight.iter().flat_map(of).flatten().collect()
    }

    fn with(&self, c: usize, sight: &[usize]) -> Vec<Holding> {
        let mut all = vec![c];
        all.extend(sight.iter().filter(|it| **it != c));
        self.seen(&all)
    }

    fn write(&mut self, c: usize, holding: Holding, edits: u64) {
        let is_kept = holding.has == Has::Payload;
        if let Some(old) = self.items[c].clone().filter(|it| it.holding.has_payload()) {
            let needed = old.edits & !self.given_up;
            if is_kept && needed & !edits != 0 {
                self.broken = Some("an edit was replaced");
            }
            let has_it = |d: usize| {
                self.items[d].as_ref().is_some_and(|it| {
                    it.holding.has_payload() && needed & !it.edits == 0
                        || it.holding.is_deletion() && it.holding.covers(&old.holding)
                })
            };
            if holding.has == Has::Stub && !(0..COLLECTIONS).any(|d| d != c && has_it(d)) {
                self.broken = Some("the last bytes lie in the trash");
            }
            self.trash[c].push(old);
        }
        let points_to_itself =
            holding.has == Has::Payload && !holding.is_original() || holding.has == Has::Stub;
        if points_to_itself && holding.is_own() && holding.custody.ceded().is_none() {
            self.broken = Some("a holding points to itself");
        }
        let has = if holding.is_deletion() { Has::LineOfDeletion } else { Has::Line };
        let line = Holding { has, custody: holding.custody.elsewhere(), ..holding.clone() };
        let is_highest = |old: &Item| line.rank() >= old.holding.rank();
        if self.lines[c].as_ref().is_none_or(is_highest) {
            let old = self.lines[c].replace(Item { holding: line, edits });
            self.earlier[c].extend(old.map(|old| old.holding.custody.id()));
        }
        if holding.has == Has::Stub {
            self.earlier[c].clear();
        }
        self.items[c] = Some(Item { holding, edits });
    }

    fn place(&mut self, c: usize, has: Has, custody: Custody, changed: Instant, edits: u64) {
        self.write(c, Holding { at: NAMES[c].to_owned(), has, custody, changed }, edits);
    }

    fn amend(&mut self, c: usize, sight: &[usize]) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        let id = self.id();
        let Ok(permit) = Permit::amend(&holding, &self.with(c, sight), id) else { return };
        self.edits += 1;
        let changed = self.later(holding.changed);
        let custody = permit.custody().clone();
        self.place(c, Has::Payload, custody, changed, edits | 1 << self.edits);
    }

    fn copy(&mut self, a: usize, b: usize) {
        let Some(Item { holding, edits }) = self.items[a].clone() else { return };
        let custody = holding.custody.elsewhere();
        match decide(Verb::Copy, &holding, NAMES[b], &self.seen(&[a, b])) {
            Ok(Step::Copy) => self.place(b, Has::Payload, custody, holding.changed, edits),
            Ok(Step::Bury) => self.place(b, Has::Tombstone, custody, holding.changed, edits),
            _ => {}
        }
    }

    fn migrate(&mut self, a: usize, b: usize, killed_after: usize, leaves: Leaves) {
        let Some(Item { holding, edits }) = self.items[a].clone() else { return };
        let step = decide(Verb::Migrate, &holding, NAMES[b], &self.seen(&[a, b]));
        if step == Ok(Step::MoveCopy) {
            let custody = holding.custody.elsewhere();
            self.place(b, Has::Payload, custody.clone(), holding.changed, edits);
            if killed_after > 0 {
                self.place(a, Has::Stub, custody, holding.changed, edits);
            }
        }
        if step != Ok(Step::HandOver) || killed_after == 0 {
            return;
        }
        let offered = holding.custody.passed_to(NAMES[b], self.id());
        let fenced = holding.custody.ceded_to(&offered, leaves);
        self.items[a] =
            Some(Item { holding: Holding { custody: fenced, ..holding.clone() }, edits });
        if killed_after > 1 {
            self.place(b, Has::Payload, offered.clone(), holding.changed, edits);
        }
        if killed_after > 2 {
            self.finish(a, &offered, holding.changed, edits, leaves);
        }
    }

    fn finish(
        &mut self,
        a: usize,
        custody: &Custody,
        changed: Instant,
        edits: u64,
        leaves: Leaves,
    ) {
        let has = if leaves == Leaves::Copy { Has::Payload } else { Has::Stub };
        self.place(a, has, custody.elsewhere(), changed, edits);
    }

    fn delete(&mut self, c: usize, sight: &[usize]) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        // The engine proves the bytes before it drops a Copy.
        let is_elsewhere = sight.iter().any(|other| {
            let there = self.items[*other].as_ref().filter(|_| *other != c);
            there.is_some_and(|it| it.holding.has_payload() && it.edits & edits == edits)
        });
        let id = self.id();
        let Ok((deletion, permit)) = Permit::delete(&holding, &self.with(c, sight), id) else {
            return;
        };
        let custody = permit.custody().clone();
        match deletion {
            Deletion::Drop if !is_elsewhere => {}
            Deletion::Drop => self.place(c, Has::Stub, custody, holding.changed, edits),
            Deletion::Repeat(date) => self.place(c, Has::Tombstone, custody, date, edits),
            Deletion::Delete => {
                let changed = self.later(holding.changed);
                self.place(c, Has::Tombstone, custody, changed, edits);
            }
        }
    }

    fn restore(&mut self, c: usize, sight: &[usize]) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        let id = self.id();
        let permit = Permit::restore(&holding, &self.with(c, sight), id);
        if let Ok(permit) = permit.as_ref()
            && !self.trash[c].is_empty()
        {
            self.place(c, Has::Payload, permit.custody().clone(), holding.changed, edits);
        }
    }

    fn promote(&mut self, c: usize, lost: usize, sight: &[usize]) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        if c == lost {
            return;
        }
        let seen = self.with(c, sight);
        let discard = if self.below(8) == 0 { Discard::Accept } else { Discard::Refuse };
        let Ok(taken) = decide::promote(&holding, &seen, &[NAMES[lost]], discard) else { return };
        let top = highest(seen.iter().filter(|it| it.at != NAMES[lost])).unwrap_or(&holding);
        if top.custody.id() == holding.custody.id() && holding.is_original() && taken.is_empty() {
            return;
        }
        let custody = holding.custody.promoted(NAMES[c], self.id(), top.custody.epoch(), &taken);
        for d in sight.iter().filter(|d| **d != lost && **d != c) {
            if let Some(other) = &self.items[*d]
                && other.holding.has_payload()
            {
                self.given_up |= other.edits & !edits;
            }
        }
        self.place(c, Has::Payload, custody, holding.changed, edits);
    }

    fn lose_sidecar(&mut self, c: usize, sight: &[usize]) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        if holding.custody.ceded().is_some() {
            return;
        }
        let mut items: Vec<_> = sight
            .iter()
            .filter(|d| **d != c)
            .flat_map(|d| [&self.items[*d], &self.lines[*d]])
            .flatten()
            .collect();
        items.extend(&self.lines[c]);
        let seen: Vec<_> = items.iter().map(|it| it.holding.clone()).collect();
        let Some(top) = highest(&seen) else { return };
        let top_edits = items
            .iter()
            .find(|it| it.holding.custody.id() == top.custody.id())
            .map_or(0, |it| it.edits);
        if holding.has_payload() {
            let fitting: Vec<_> =
                items.iter().filter(|it| it.edits == edits).map(|it| &it.holding).collect();
            let Some(found) = rebuild(NAMES[c], &fitting, &seen) else { return };
            let (custody, changed) = (found.custody.elsewhere(), found.changed);
            let at = NAMES[c].to_owned();
            self.items[c] =
                Some(Item { holding: Holding { at, has: Has::Payload, custody, changed }, edits });
        } else if top.custody.holder() != NAMES[c] {
            let has = if top.is_deletion() { Has::Tombstone } else { Has::Stub };
            let custody = top.custody.elsewhere();
            let at = NAMES[c].to_owned();
            let holding = Holding { at, has, custody, changed: top.changed };
            self.items[c] = Some(Item { holding, edits: top_edits });
        }
    }

    fn recover(&mut self, c: usize, sight: &[usize]) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        let seen = self.with(c, sight);
        let Some(ceded) = holding.custody.ceded().cloned() else {
            return self.come_up(c, sight);
        };
        let in_sight = |id: &str| sight.iter().any(|d| NAMES[*d] == id);
        match interrupted(&holding, &ceded, &seen, in_sight) {
            MigrationEnd::Finish(there, leaves) => {
                self.finish(
                    c,
                    &there.custody_among(&seen),
                    there.changed,
                    edits_at(self, &there.at).unwrap_or(edits),
                    leaves,
                );
            }
            end @ MigrationEnd::KeepAbove(_) => {
                let id = self.id();
                let permit =
                    Permit::end(&end, &holding.custody, &seen, id).expect("because it ends");
                let custody = permit.custody().clone();
                self.place(c, Has::Payload, custody, holding.changed, edits);
            }
            MigrationEnd::ComeUp(_) => {
                let custody = holding.custody.elsewhere();
                self.items[c] = Some(Item { holding: Holding { custody, ..holding }, edits });
                self.come_up(c, sight);
            }
            MigrationEnd::Withdraw => self.withdraw(c),
            MigrationEnd::Bury(grave) => {
                self.place(c, Has::Tombstone, grave.custody.elsewhere(), grave.changed, edits);
            }
            MigrationEnd::Arrived(_) | MigrationEnd::Lost(_) | MigrationEnd::OutOfSight(_) => {}
        }
    }

    /// A person repairs the item at the receiver, whose line says that it arrived, from a holding that has those contents.
    fn mend_receiver(&mut self, c: usize, sight: &[usize]) {
        let Some(Item { holding, .. }) = self.items[c].clone() else { return };
        let (seen, Some(ceded)) = (self.with(c, sight), holding.custody.ceded()) else { return };
        let in_sight = |id: &str| sight.iter().any(|d| NAMES[*d] == id);
        let MigrationEnd::Arrived(line) = interrupted(&holding, ceded, &seen, in_sight) else {
            return;
        };
        let receiver = NAMES.iter().position(|name| *name == line.at).unwrap_or(c);
        let has_it = |it: &&Holding| it.at != line.at && it.has_contents_of(line);
        let Some(donor) = highest(seen.iter().filter(has_it)) else { return };
        let edits = edits_at(self, &donor.at).unwrap_or(0);
        let custody = if line.custody.id() == ceded.id {
            holding.custody.offered().expect("because it is ceded")
        } else {
            line.custody_among(&seen)
        };
        self.place(receiver, Has::Payload, custody, line.changed, edits);
    }

    /// A person accepts that what the receiver made of the item is lost; it is named.
    fn accept_loss(&mut self, c: usize, sight: &[usize]) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        let (seen, Some(ceded)) = (self.with(c, sight), holding.custody.ceded()) else { return };
        let in_sight = |id: &str| sight.iter().any(|d| NAMES[*d] == id);
        let (MigrationEnd::Arrived(lost) | MigrationEnd::Lost(lost)) =
            interrupted(&holding, ceded, &seen, in_sight)
        else {
            return;
        };
        let edits_of = |it: &Item| it.holding.custody.id() == lost.custody.id();
        let all = self.items.iter().chain(&self.lines).flatten();
        let named = all.filter(|it| edits_of(it)).fold(0, |named, it| named | it.edits);
        self.given_up |= named & !edits;
        let highest = seen.iter().map(|it| it.custody.epoch()).max().unwrap_or_default();
        let custody = holding.custody.withdrawn(self.id(), highest + PROMOTION);
        self.place(c, Has::Payload, custody, holding.changed, edits);
    }

    fn come_up(&mut self, c: usize, sight: &[usize]) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        let seen = self.with(c, sight);
        let top = highest(&seen).unwrap_or(&holding).clone();
        let donor =
            |place: usize| (seen[place].clone(), edits_at(self, &seen[place].at).unwrap_or(0));
        match line_up(&holding, &seen, Authority::Person) {
            LineUp::Nothing => {}
            LineUp::Original(place) => {
                let (_, edits) = donor(place);
                self.place(c, Has::Payload, top.custody.elsewhere(), top.changed, edits);
            }
            LineUp::Copy(place) => {
                let (donor, edits) = donor(place);
                self.place(c, Has::Payload, donor.custody.elsewhere(), donor.changed, edits);
            }
            LineUp::Bury(place) => {
                let (grave, _) = donor(place);
                self.place(c, Has::Tombstone, grave.custody, grave.changed, edits);
            }
        }
    }

    /// A person withdraws a migration whose receiver is not in sight.
    fn withdraw_unseen(&mut self, c: usize) {
        let Some(Item { holding, .. }) = self.items[c].clone() else { return };
        let (seen, Some(ceded)) = (self.seen(&[c]), holding.custody.ceded()) else { return };
        if let MigrationEnd::OutOfSight(_) = interrupted(&holding, ceded, &seen, |_| false) {
            self.withdraw(c);
        }
    }

    fn withdraw(&mut self, c: usize) {
        let Some(Item { holding, edits }) = self.items[c].clone() else { return };
        if holding.custody.ceded().is_some() {
            let line = self.lines[c].as_ref().map(|it| &it.holding);
            let lowest = line.filter(|line| line.rank() > holding.rank());
            let lowest = lowest.map_or(0, |line| line.custody.epoch() + 1);
            let custody = holding.custody.withdrawn(self.id(), lowest);
            self.place(c, Has::Payload, custody, holding.changed, edits);
        }
    }

    fn put_back(&mut self, c: usize) {
        if self.backups[c].is_empty() {
            return;
        }
        let chosen = self.below(self.backups[c].len());
        let (item, line, trash) = self.backups[c][chosen].clone();
        if let Some(lost) = self.items[c].clone().filter(|it| it.holding.has_payload()) {
            // Edits that only this one had are gone by a person's deed.
            let others =
                (0..COLLECTIONS).filter(|d| *d != c).filter_map(|d| self.items[d].as_ref());
            let kept = others.chain(&item).filter(|it| it.holding.has_payload());
            self.given_up |= kept.fold(lost.edits, |left, it| left & !it.edits);
        }
        (self.items[c], self.trash[c]) = (item, trash);
        if self.below(2) == 0 {
            (self.lines[c], self.earlier[c]) = line;
        }
    }

    fn step(&mut self, restores: bool, promotions: bool) {
        let a = self.below(COLLECTIONS);
        let b = (a + 1 + self.below(COLLECTIONS - 1)) % COLLECTIONS;
        let sight: Vec<_> = (0..COLLECTIONS).filter(|c| *c == a || self.below(2) == 0).collect();
        let killed_after = [0, 1, 2, 3, 3, 3][self.below(6)];
        match self.below(20) {
            0..3 => self.amend(a, &sight),
            3..7 => self.copy(a, b),
            7..10 => self.migrate(a, b, killed_after, Leaves::Stub),
            10 => self.migrate(a, b, killed_after, Leaves::Copy),
            11..13 => self.recover(a, &sight),
            13 => self.withdraw_unseen(a),
            14 => self.delete(a, &sight),
            15 => self.restore(a, &sight),
            16 => {
                let line = (self.lines[a].clone(), self.earlier[a].clone());
                let backup = (self.items[a].clone(), line, self.trash[a].clone());
                self.backups[a].push(backup);
            }
            17 if self.below(2) == 0 => self.trash[a].clear(),
            17 => self.lose_sidecar(a, &sight),
            18 if restores => self.put_back(a),
            19 if promotions => self.promote(a, b, &sight),
            _ => {}
        }
    }

    /// The fault of the history, with every collection in sight.
    fn fault(&mut self) -> Option<&'static str> {
        let all: Vec<_> = (0..COLLECTIONS).collect();
        for c in all.iter().cycle().take(6 * COLLECTIONS) {
            self.recover(*c, &all);
            self.mend_receiver(*c, &all);
        }
        for c in all.iter().cycle().take(6 * COLLECTIONS) {
            self.accept_loss(*c, &all);
            self.recover(*c, &all);
            self.mend_receiver(*c, &all);
        }
        let seen = self.seen(&all);
        let verdict = judge(&seen);
        let top = speaking(&seen)?;
        for it in seen.iter().filter(|it| it.is_in_place()) {
            if it.custody.ceded().is_some() {
                return Some("stuck");
            }
            let has_original = verdict
                .original
                .is_some_and(|at| seen[at].custody.id() == top.highest.custody.id());
            if it.is_original()
                && it.custody.id() != top.highest.custody.id()
                && has_original
                && top.covers(it)
            {
                return Some("a silent second Original");
            }
        }
        self.broken
    }
}

fn edits_at(world: &World, at: &str) -> Option<u64> {
    let c = NAMES.iter().position(|name| *name == at)?;
    world.items[c].as_ref().map(|it| it.edits)
}

fn run(histories: u64, restores: bool, promotions: bool) {
    for seed in 0..histories {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step(restores, promotions);
            if world.broken.is_some() {
                break;
            }
        }
        assert_eq!(
            world.fault(),
            None,
            "seed {seed}, restores {restores}, promotions {promotions}"
        );
    }
}

#[test]
fn no_history_loses_an_edit_or_has_two_originals_in_silence() {
    for (restores, promotions) in [(false, false), (true, false), (false, true), (true, true)] {
        run(500, restores, promotions);
    }
}

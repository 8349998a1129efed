//! Random histories, from a seed.

use super::script::{Deed, ITEMS, Item, Kill, Leaves, Part, SITES, Site, Step};

/// What happens beside commands, kills, clocks and collections out of sight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Disturbances {
    /// Backups of any part are put back.
    pub(super) restores: bool,
    /// Copies become Originals.
    pub(super) promotions: bool,
}

/// Random numbers that a seed determines (splitmix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(super) fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// A history of 12 to 27 steps about one to three items.
    pub(super) fn history(mut self, with: Disturbances) -> Vec<Step> {
        let items = 1 + self.below(3);
        let length = 12 + self.below(16);
        let mut steps: Vec<Step> =
            (0..items).map(|_| Step::of(Deed::New(self.of(&SITES)))).collect();
        while steps.len() < length {
            let deed = self.deed(items, with);
            let is_killed = is_command(deed) && self.one_in(3);
            // Near the beginning most operations are the preparations of a run.
            let most = self.of(&[15, 40, 80]);
            let kill = if is_killed { Kill::At(1 + self.below(most)) } else { Kill::Never };
            steps.push(Step { kill, ..Step::of(deed) });
            if is_killed && self.one_in(2) {
                steps.push(Step::of(deed));
            }
        }
        steps
    }

    fn deed(&mut self, items: usize, with: Disturbances) -> Deed {
        let (item, site) = (self.of(&ITEMS[..items]), self.of(&SITES));
        let other = self.of(&[1, 2]);
        let other = SITES[(site.0 + other) % SITES.len()];
        match self.below(if with.restores || with.promotions { 100 } else { 76 }) {
            12..24 => Deed::Copy(site, other, item),
            24..36 => Deed::Migrate(site, other, item, Leaves::Nothing),
            36..42 => Deed::Migrate(site, other, item, Leaves::Copy),
            42..46 => Deed::Mirror(site, other),
            46..50 => Deed::Delete(site, item),
            50..53 => Deed::Restore(site, item),
            53..55 => Deed::Purge(site),
            55..61 => Deed::Recover(site),
            61..64 => Deed::Repair(site, item, other),
            64..66 => self.of(&[Deed::Mint(site), Deed::New(site)]),
            66..68 => Deed::Unmount(site),
            68..71 => Deed::Mount(site),
            71..73 => self.of(&[Deed::Hide(site), Deed::Show(site)]),
            73..76 => {
                Deed::Clock(site, self.of(&[-3_600_000, -183_005, -62_000, 90_000, 3_600_000]))
            }
            76..88 if with.restores => self.restore(site, item),
            88..92 if with.restores => Deed::RecoverRestored(site),
            92..100 if with.promotions => Deed::Promote(site, item, other),
            // 0..12, and the disturbances that are not wanted.
            _ => Deed::Meta(site, item),
        }
    }

    fn restore(&mut self, site: Site, item: Item) -> Deed {
        let item = Part::Item(item);
        let part =
            self.of(&[Part::Root, Part::Tree, Part::Urepo, Part::Memory, Part::Ledger, item]);
        match self.below(10) {
            0..5 => Deed::Backup(site),
            5..8 => Deed::PutBack(site, part, self.below(3)),
            8 => Deed::Lose(site, self.of(&[item, Part::Memory, Part::Ledger])),
            _ => match item {
                Part::Item(item) => Deed::Rot(site, item),
                _ => Deed::Backup(site),
            },
        }
    }
}

fn is_command(deed: Deed) -> bool {
    !matches!(
        deed,
        Deed::Backup(_)
            | Deed::PutBack(..)
            | Deed::Lose(..)
            | Deed::Rot(..)
            | Deed::Unmount(_)
            | Deed::Mount(_)
            | Deed::Hide(_)
            | Deed::Show(_)
            | Deed::Clock(..)
            | Deed::Verify(..)
    )
}

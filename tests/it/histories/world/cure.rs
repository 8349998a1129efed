//! The remedies that are printed are typed, until none is left: then nothing is damaged, and nothing was given up unnamed.

use urepo::custody::remedy::{Act, Row};
use urepo::disk::Watcher;

use super::super::oracle::Holding;
use super::super::random::Random;
use super::super::script::{Item, SITES, Site};
use super::{Broken, Edits, World, broken};

/// More remedies in turn need no item.
const ROUNDS: usize = 8;

/// Of so many remedies with a second line, one is replaced by that line.
const CHOICES: usize = 2;

impl World {
    /// Types each remedy where it is printed, or now and then what a person may choose instead, with all collections in sight,
    /// and judges the end.
    pub(in crate::histories) fn cure(&mut self, random: &mut Random) -> Result<(), Broken> {
        self.bring_into_sight()?;
        for at in 0..self.items.len() {
            let mut typed = Vec::new();
            for round in 0..=ROUNDS {
                let before = typed.len();
                for site in SITES {
                    if let Some(row) = self.remedy(site, at, random)? {
                        typed.push(format!("{site} {row}"));
                    }
                }
                if typed.len() == before {
                    break;
                }
                if round == ROUNDS {
                    return broken(
                        "the remedies come to an end",
                        format!("{}: {typed:?}", Item(at)),
                    );
                }
            }
            self.is_cured(at, &typed)?;
        }
        Ok(())
    }

    /// Types the remedy that is printed for an item in one collection, or another of its lines, and says its row.
    fn remedy(
        &mut self,
        site: Site,
        at: usize,
        random: &mut Random,
    ) -> Result<Option<String>, Broken> {
        let item = &self.items[at];
        let before = self.look(item);
        let command = self.command_at(site, Watcher::default());
        let Some((row, lines)) = command.remedy(&item.name) else { return Ok(None) };
        let is_chosen = lines.len() > 1 && random.one_in(CHOICES);
        let (id, act) = if is_chosen { random.of(&lines[1..]) } else { lines[0].clone() };
        let site = SITES.into_iter().find(|site| self.place(*site).id == id).unwrap();
        let command = self.command_at(site, Watcher::default());
        let number = if is_chosen { format!("{} or", row.number()) } else { row.number().into() };
        if let Err(reason) = command.type_in(&item.name, &act) {
            return broken(
                "a remedy is done",
                format!("{site} {}: {number} {act:?}: {reason}", Item(at)),
            );
        }
        let after = self.look(item);
        let mut gone: Edits = before.living.difference(&after.living).copied().collect();
        let is_given_up = matches!(act, Named::AcceptLoss | Named::Promote(..));
        let is_named =
            gone.iter().all(|edit| item.given_up.contains(edit) || item.deleted.contains(edit));
        if !is_given_up && !is_named && row != Row::Damaged {
            return broken(
                "no edit is replaced",
                format!("{site} {}: {number}: {gone:?}", Item(at)),
            );
        }
        if before.kept.difference(&after.kept).any(|edit| !item.lost.contains(edit)) {
            return broken("no bytes are lost", format!("{site} {}: {number}", Item(at)));
        }
        if is_given_up {
            // The command names what the others have and this one has not.
            let own = after.holdings[site.0].as_ref().map(Holding::living).unwrap_or_default();
            gone.extend(after.living.difference(&own));
        }
        self.items[at].given_up.extend(gone);
        self.chosen += usize::from(is_chosen);
        Ok(Some(number))
    }

    /// No damage is left, and there is one Original, or a tombstone, or a loss that a person accepted.
    fn is_cured(&self, at: usize, typed: &[String]) -> Result<(), Broken> {
        let name = self.items[at].name.as_str();
        let (_, lines) = self.verify(None)?;
        // The ledger itself is for other words.
        let codes = ["U109", "U114", "U401", "U405", "U407", "U409", "U108", "U113", "U112"];
        let is_damage =
            |line: &&String| line.contains(name) && codes.iter().any(|code| line.contains(code));
        let left: Vec<_> = lines.iter().filter(is_damage).collect();
        if !left.is_empty() {
            return broken("damage has a way out", format!("{}: {typed:?}: {left:?}", Item(at)));
        }
        let sight = self.look(&self.items[at]);
        let living = sight.holdings.iter().flatten().filter(|held| held.payload).count();
        let originals = sight.holdings.iter().flatten().filter(|held| held.is_original()).count();
        let is_deleted = sight.holdings.iter().flatten().any(|held| held.state == "Deleted");
        if living > 0 && originals != 1 && !is_deleted || originals > 1 {
            let states: Vec<_> = sight.holdings.iter().flatten().map(|held| &*held.state).collect();
            return broken(
                "one Original after all",
                format!("{}: {typed:?}: {states:?}", Item(at)),
            );
        }
        Ok(())
    }
}

/// A remedy, with the ids of collections as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::histories) enum Named {
    AcceptLedger,
    Recover,
    Withdraw,
    AcceptLoss,
    RecoverWith(String),
    Repair,
    RepairFrom(String),
    Reseal,
    CopyFrom(String),
    Delete,
    Promote(urepo::custody::Discard, Option<String>),
}

impl From<Act<'_>> for Named {
    fn from(act: Act<'_>) -> Named {
        match act {
            Act::AcceptLedger => Named::AcceptLedger,
            Act::Recover => Named::Recover,
            Act::Withdraw => Named::Withdraw,
            Act::AcceptLoss => Named::AcceptLoss,
            Act::RecoverWith(other) => Named::RecoverWith(other.to_owned()),
            Act::Repair => Named::Repair,
            Act::RepairFrom(other) => Named::RepairFrom(other.to_owned()),
            Act::Reseal => Named::Reseal,
            Act::CopyFrom(other) => Named::CopyFrom(other.to_owned()),
            Act::Delete => Named::Delete,
            Act::Promote(discard, lost) => Named::Promote(discard, lost.map(str::to_owned)),
        }
    }
}

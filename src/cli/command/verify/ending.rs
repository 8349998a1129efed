//! How a run ends: counts, what the next run will do, the exit code.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use urepo::collection::Collection;
use urepo::layout;
use urepo::verify::{Code, Comparison, Round, Severity, Summary};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Tally};
use crate::cli::{Done, human, record};

/// What came of comparing several roots.
pub(super) enum Compared {
    Yes(Comparison),
    NoTime,
}

/// The ends of all roots together.
pub(super) struct Ending<'a> {
    context: &'a Context,
    roots: &'a [Collection],
    older_than: Option<Duration>,
    each: Vec<(usize, Summary)>,
    total: Summary,
    pub compared: Option<Compared>,
    /// The codes of what was found.
    pub seen: BTreeSet<Code>,
}

impl<'a> Ending<'a> {
    pub(super) fn new(
        context: &'a Context,
        roots: &'a [Collection],
        older_than: Option<Duration>,
    ) -> Ending<'a> {
        let (each, total) = (Vec::new(), Summary::default());
        Ending { context, roots, older_than, each, total, compared: None, seen: BTreeSet::new() }
    }

    /// Adds how verifying a root ended.
    pub(super) fn add(&mut self, root: usize, summary: Summary) {
        self.each.push((root, summary));
        self.total += summary;
    }

    pub(super) fn tell(&self, tally: Tally<'_>) -> Done {
        let printer = &self.context.printer;
        let failed = tally.failed;
        let damage = self.damage();
        if printer.json {
            for record in self.of_each() {
                printer.record(&record)?;
            }
        }
        let partial = (failed > 0).then(|| {
            let items = human::count(failed, "item");
            Failure::new(Exit::Partial, format!("{items} could not be verified"))
        });
        let done = tally.finish(End {
            done: format!("{} verified", human::count(self.total.items, "item")),
            damage,
            partial,
            counts: self.counts(failed),
            closing: (failed == 0 || self.total.items > 0).then(|| self.praise()),
            ..End::default()
        });
        if !printer.json {
            let outlooks = self.each.iter().filter_map(|(root, it)| self.outlook(*root, it));
            outlooks.for_each(|outlook| printer.note(&outlook));
            if self.seen.contains(&Code::InventoryRotten) {
                printer.note("`urepo recover --inventory` removes damaged lines of the inventory");
            }
            if matches!(self.compared, Some(Compared::NoTime)) {
                printer.note("there was no time left to compare the collections");
            }
        }
        done
    }

    fn comparison(&self) -> Comparison {
        match self.compared {
            Some(Compared::Yes(comparison)) => comparison,
            Some(Compared::NoTime) | None => Comparison::default(),
        }
    }

    fn damage(&self) -> Option<Failure> {
        let total = &self.total;
        let disagreements = self.comparison().damage;
        if total.is_damage() || disagreements > 0 {
            let mut facts = Vec::new();
            if total.is_damage() {
                let items = human::count(total.damaged_items, "item");
                facts.push(format!("{items} of {} damaged", total.items));
            }
            if total.tree_damage > 0 {
                let places = human::count(total.tree_damage, "place");
                facts.push(format!("{places} that are no item"));
            }
            if disagreements > 0 {
                let contradictions = human::count(disagreements, "contradiction");
                facts.push(format!("{contradictions} between the collections"));
            }
            let message = facts.join(", and ");
            return Some(Failure::new(Exit::Damage, message).hint(self.remedy()));
        }
        None
    }

    fn remedy(&self) -> &'static str {
        let is_gone = |code: &Code| [Code::ItemVanished, Code::PerhapsVanished].contains(code);
        let mut damage = self.seen.iter().filter(|code| code.severity() == Severity::Damage);
        if self.seen.iter().any(is_gone) && damage.all(is_gone) {
            "`urepo repair ITEM --from COLLECTION` brings it back from a copy; where there is none, \
             `urepo recover --inventory` gives it up"
        } else if self.seen.iter().any(is_gone) {
            "`urepo repair ITEM --from COLLECTION` mends it from a good copy; `urepo recover --inventory` \
             gives up what is gone"
        } else if self.total.damaged_items > 0 {
            "`urepo repair ITEM --from COLLECTION` mends it from a good copy; nothing here was changed"
        } else if self.total.tree_damage > 0 {
            "`urepo man` says what the codes mean; nothing here was changed"
        } else {
            "`urepo show -c COLLECTION ITEM` shows what each of them holds; nothing here was changed"
        }
    }

    fn praise(&self) -> String {
        let Summary { items, files, bytes, skipped, .. } = self.total;
        let mut text = format!(
            "verified {}, {}, {}",
            human::count(items, "item"),
            human::count(files, "file"),
            human::bytes(bytes)
        );
        if let Some(Compared::Yes(comparison)) = self.compared {
            let names = human::count(comparison.names, "name");
            text += &format!(", and compared {names} in {} collections", self.roots.len());
        }
        text += ": no damage";
        if skipped > 0 {
            let items = human::count(skipped, "item");
            text += &match self.older_than {
                Some(_) => format!("; {items} skipped, verified recently"),
                None => format!("; {items} skipped, verified earlier in this round"),
            };
        }
        text
    }

    /// What the next run will do, if this one had a time limit.
    fn outlook(&self, root: usize, summary: &Summary) -> Option<String> {
        let root = &self.roots[root];
        let text = match summary.round? {
            // An interrupted run says so itself.
            _ if summary.interrupted => return None,
            // With dates of one's own there are no rounds.
            Round::Complete if self.older_than.is_some() => return None,
            Round::Complete => "the round is complete; the next run begins another".to_owned(),
            Round::Open => "time is up; the next run goes on from here".to_owned(),
            Round::Lost => {
                let dates = root.root().path_of(layout::OWN).join(layout::VERIFIED);
                let dates = dates.display();
                format!("time is up; no dates can be kept in `{dates}`: the next run begins anew")
            }
        };
        match self.roots {
            [_] => Some(text),
            _ => Some(format!("{}: {text}", root.path().display())),
        }
    }

    /// One record a collection where there are several.
    fn of_each(&self) -> Vec<Value> {
        if self.roots.len() < 2 {
            return Vec::new();
        }
        let of_one = |(root, summary): &(usize, Summary)| {
            let mut record = counts("collection_summary", summary);
            record::add_path(&mut record, "collection", self.roots[*root].path());
            record["collection_id"] = self.roots[*root].settings().id.as_str().into();
            record
        };
        self.each.iter().map(of_one).collect()
    }

    /// What the last record says.
    fn counts(&self, failed: u64) -> Value {
        let mut record = counts("summary", &self.total);
        if let [root] = self.roots {
            record::add_path(&mut record, "collection", root.path());
            record["collection_id"] = root.settings().id.as_str().into();
        }
        let Comparison { names, damage, warnings, interrupted } = self.comparison();
        let compared = matches!(self.compared, Some(Compared::Yes(_))) && !interrupted;
        let interrupted = self.total.interrupted || interrupted;
        record::extend(
            &mut record,
            json!({
                "collections": self.roots.len(), "compared": compared, "compared_names": names,
                "disagreements": damage, "warnings": self.total.warnings + warnings,
                "interrupted": interrupted, "failed": failed,
            }),
        );
        record
    }
}

fn counts(kind: &str, summary: &Summary) -> Value {
    let round = summary.round.map(|round| match round {
        Round::Complete => "complete",
        Round::Open => "open",
        Round::Lost => "lost",
    });
    json!({
        "type": kind, "version": 1, "items": summary.items, "files": summary.files,
        "bytes": summary.bytes, "skipped": summary.skipped,
        "damaged_items": summary.damaged_items, "tree_damage": summary.tree_damage,
        "warnings": summary.warnings, "notices": summary.notices,
        "interrupted": summary.interrupted, "out_of_time": summary.out_of_time, "round": round,
    })
}

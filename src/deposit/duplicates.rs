//! Duplicates: staged items that are withheld, because the collection has the same item.

use std::collections::{BTreeMap, VecDeque};

use super::group::{Group, LabeledItem, Staged, Withheld};
use super::{DepositError, Duplicate, DuplicateIndex, Existing, Outcome};
use crate::collection::{Departed, Writer};
use crate::identity::RepositoryName;
use crate::item::Shape;

/// Moves the duplicates of items of the collection, or of earlier requests, out of `staged` to the end of
/// `group`.
pub(super) fn take_out(
    staged: Vec<Staged>,
    known: &dyn DuplicateIndex,
    writer: &Writer,
    group: &mut Group,
) -> Vec<Staged> {
    let mut wanted = Vec::with_capacity(staged.len());
    for staged in staged {
        let item = staged.item.clone();
        let judged = judge(staged, known);
        if !matches!(judged, Judged::Wanted(_)) {
            writer.discard(&item);
        }
        match judged {
            Judged::Wanted(staged) => wanted.push(staged),
            Judged::Withheld(staged, number) => group.withheld.push((staged, number)),
            Judged::Ended(outcome) => group.ended.push(outcome),
        }
    }
    wanted
}

/// Moves the items that are duplicates of what was recorded since the group was prepared out of `items`, under the change
/// lock. Their data stays in the stage until the run ends.
pub(super) fn look_again(
    items: Vec<LabeledItem>,
    known: &dyn DuplicateIndex,
    outcomes: &mut Vec<Outcome>,
) -> Vec<LabeledItem> {
    let mut wanted = Vec::with_capacity(items.len());
    for LabeledItem { staged, label, here } in items {
        match judge(staged, known) {
            // Requests with the same content as an earlier one were withheld before this group got names.
            Judged::Wanted(staged) | Judged::Withheld(staged, _) => {
                wanted.push(LabeledItem { staged, label, here });
            }
            Judged::Ended(outcome) => outcomes.push(outcome),
        }
    }
    wanted
}

/// The result of the look for duplicates of a staged item.
enum Judged {
    Wanted(Staged),
    /// It is the same as the request of this number.
    Withheld(Staged, usize),
    Ended(Outcome),
}

fn judge(staged: Staged, known: &dyn DuplicateIndex) -> Judged {
    match known.holding(staged.number, &staged.content) {
        Ok(Duplicate::None) => Judged::Wanted(staged),
        Ok(Duplicate::Item(name)) => Judged::Ended(held(staged, name, None)),
        Ok(Duplicate::Left(line)) => Judged::Ended(held(staged, line.name.clone(), Some(line))),
        Ok(Duplicate::Request(number)) => Judged::Withheld(staged, number),
        Err(error) => Judged::Ended(staged.fails(error)),
    }
}

/// The names of new items, by the numbers of their requests, as long as later requests may be duplicates of
/// them.
#[derive(Default)]
pub(super) struct Names {
    /// The names of the last groups.
    groups: VecDeque<BTreeMap<usize, RepositoryName>>,
}

/// Groups whose names must be kept: this one and the two ahead of it in the pipeline.
const GROUPS: usize = 3;

impl Names {
    /// Takes the outcomes of the next group, and returns the outcome for each of its withheld items.
    pub(super) fn settle(&mut self, withheld: Withheld, outcomes: &mut Vec<Outcome>) {
        let name_of = |outcome: &Outcome| match &outcome.result {
            Ok(deposited) => Some((outcome.number, deposited.label.name.clone())),
            Err(DepositError::Held(same)) => Some((outcome.number, same.name.clone())),
            Err(_) => None,
        };
        self.groups.push_front(outcomes.iter().filter_map(name_of).collect());
        self.groups.truncate(GROUPS);
        outcomes.extend(withheld.into_iter().map(|(staged, number)| {
            match self.groups.iter().find_map(|names| names.get(&number)) {
                Some(name) => held(staged, name.clone(), None),
                None => staged.fails(DepositError::GroupFailed),
            }
        }));
    }
}

fn held(staged: Staged, name: RepositoryName, left: Option<Box<Departed>>) -> Outcome {
    let (shape, content) = (Shape::of(&staged.done.entries), staged.content);
    let same = Existing { name, left, shape, content, bytes: staged.payload.bytes };
    staged.fails(DepositError::Held(Box::new(same)))
}

//! Duplicates: staged items that are withheld, because the collection has the same item.

use std::collections::{BTreeMap, VecDeque};

use super::group::{Group, Staged, Withheld};
use super::{DepositError, Duplicate, DuplicateIndex, Existing, Outcome};
use crate::collection::{Departed, Writer};
use crate::identity::RepositoryName;
use crate::item::{Shape, content};

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
        let content = content(&staged.done.entries, &staged.payload);
        let holding = known.holding(staged.number, &content);
        if !matches!(holding, Ok(Duplicate::None)) {
            // Their data stays in the stage until the run ends.
            writer.discard(&staged.item);
        }
        match holding {
            Ok(Duplicate::None) => wanted.push(staged),
            Ok(Duplicate::Item(name)) => group.ended.push(held(staged, name, None)),
            Ok(Duplicate::Left(line)) => {
                group.ended.push(held(staged, line.name.clone(), Some(line)));
            }
            Ok(Duplicate::Request(number)) => group.withheld.push((staged, number)),
            Err(error) => group.ended.push(staged.fails(error)),
        }
    }
    wanted
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
        let name_of = |outcome: &Outcome| {
            Some((outcome.number, outcome.result.as_ref().ok()?.label.name.clone()))
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
    let (entries, payload) = (&staged.done.entries, &staged.payload);
    let (shape, content) = (Shape::of(entries), content(entries, payload));
    let same = Existing { name, left, shape, content, bytes: payload.bytes };
    staged.fails(DepositError::Held(Box::new(same)))
}

//! Staged items that are not published, because the collection has the same already.

use std::collections::BTreeMap;

use super::group::{Published, Staged};
use super::{DepositError, Holding, Known, Same};
use crate::collection::Writer;
use crate::identity::RepositoryName;
use crate::item::{Shape, content};

/// Items that are the same as one of their own group, by its number.
pub(super) type Withheld = Vec<(Staged, usize)>;

/// Takes out of `group` what the collection has, and what an earlier one of the group is going to be.
pub(super) fn from(
    group: Vec<Staged>,
    known: &dyn Known,
    writer: &Writer,
    results: &mut Vec<Published>,
) -> (Vec<Staged>, Withheld) {
    let (mut wanted, mut withheld) = (Vec::with_capacity(group.len()), Withheld::new());
    for staged in group {
        let content = content(&staged.done.entries, &staged.payload);
        let holding = known.holding(staged.number, &content);
        if !matches!(holding, Ok(Holding::None)) {
            // What is left in the stage goes with it when the run ends.
            let _ = writer.stage().remove_tree(&staged.item);
        }
        match holding {
            Ok(Holding::None) => wanted.push(staged),
            Ok(Holding::Item(name)) => results.push(held(staged, name)),
            Ok(Holding::Request(number)) => withheld.push((staged, number)),
            Err(error) => results.push((staged, Err(error))),
        }
    }
    (wanted, withheld)
}

/// Says of each withheld item what became of the one that it is the same as.
pub(super) fn settle(withheld: Withheld, results: &mut Vec<Published>) {
    let name_of = |(staged, result): &Published| {
        Some((staged.number, result.as_ref().ok()?.label.name.clone()))
    };
    if withheld.is_empty() {
        return;
    }
    let names: BTreeMap<_, _> = results.iter().filter_map(name_of).collect();
    results.extend(withheld.into_iter().map(|(staged, number)| match names.get(&number) {
        Some(name) => held(staged, name.clone()),
        None => (staged, Err(DepositError::GroupFailed)),
    }));
}

fn held(staged: Staged, name: RepositoryName) -> Published {
    let (entries, payload) = (&staged.done.entries, &staged.payload);
    let (shape, content) = (Shape::of(entries), content(entries, payload));
    let same = Same { name, shape, content, bytes: payload.bytes };
    (staged, Err(DepositError::Held(Box::new(same))))
}

//! Editions that follow each other in a circle.

use std::collections::HashSet;

use super::{End, EndKind};

/// One item of each circle of next editions, as its hash.
///
/// Each step marks an item, so that a chain of any length is walked once, and without recursion.
pub(super) fn first_of_each(ends: &[End]) -> HashSet<u64> {
    let next: Vec<(u64, u64)> = ends
        .iter()
        .filter(|end| end.kind == EndKind::NextEdition)
        .filter_map(|end| Some((end.from, end.to?)))
        .collect();
    let mut walk_of = vec![0_usize; next.len()];
    let mut found = HashSet::new();
    for start in 0..next.len() {
        let mut at = Some(start);
        while let Some(step) = at.filter(|step| walk_of[*step] == 0) {
            walk_of[step] = start + 1;
            let to = next[step].1;
            // Sorted by `from`, as all ends are.
            at = next.binary_search_by_key(&to, |(from, _)| *from).ok();
        }
        if let Some(met) = at.filter(|met| walk_of[*met] == start + 1) {
            found.insert(next[met].0);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(edges: &[(u64, u64)]) -> usize {
        let end = |(from, to): &(u64, u64)| End {
            from: *from,
            to: Some(*to),
            kind: EndKind::NextEdition,
        };
        let mut ends: Vec<_> = edges.iter().map(end).collect();
        ends.sort();
        first_of_each(&ends).len()
    }

    #[test]
    fn each_is_found_once() {
        assert_eq!(circles(&[(1, 2), (2, 3)]), 0);
        assert_eq!(circles(&[(1, 1)]), 1);
        assert_eq!(circles(&[(1, 2), (2, 3), (3, 1)]), 1);
        // Two circles, with a chain that leads into one.
        assert_eq!(circles(&[(9, 8), (8, 1), (1, 2), (2, 1), (4, 5), (5, 4)]), 2);
    }

    #[test]
    fn a_long_chain_is_walked_once() {
        let chain: Vec<_> = (0..200_000).map(|at| (at, at + 1)).collect();
        assert_eq!(circles(&chain), 0);
        let closed: Vec<_> = (0..200_000).map(|at| (at, (at + 1) % 200_000)).collect();
        assert_eq!(circles(&closed), 1);
    }
}

//! The places of a tree, from above.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::index::Seen;

/// The indexed directories, by path.
pub(super) type Marks = BTreeMap<String, Seen>;

/// The places right below `path` that are known.
pub(super) fn children(marks: &Marks, path: &str) -> BTreeSet<String> {
    let above = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut found = BTreeSet::new();
    let mut next = Bound::Excluded(above.clone());
    while let Some((known, _)) = marks.range((next, Bound::Unbounded)).next()
        && let Some(rest) = known.strip_prefix(&above)
    {
        let child = format!("{above}{}", rest.split('/').next().unwrap_or(rest));
        next = if *known == child {
            found.insert(child.clone());
            Bound::Excluded(child)
        } else {
            // Past all that is below it: `0` is the character after `/`.
            Bound::Included(format!("{child}0"))
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_those_right_below() {
        let places = ["", "a", "a-b", "a-b/x", "a/b", "a/b-c", "a/b/2026", "a/b0", "a0", "b/c/d"];
        let marks: Marks = places.map(|path| (path.to_owned(), Seen::default())).into();
        for path in ["", "a", "a/b", "a/b-c", "b", "b/c", "c"] {
            let is_child = |known: &&String| {
                let above = known.rsplit_once('/').map_or("", |(above, _)| above);
                !known.is_empty() && above == path
            };
            let expected: BTreeSet<String> = marks.keys().filter(is_child).cloned().collect();
            assert_eq!(children(&marks, path), expected, "{path}");
        }
    }
}

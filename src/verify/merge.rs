//! Merging sorted streams: what is equal in several of them comes together.

use std::cmp::Ordering;
use std::iter::Peekable;

/// Several streams, each sorted by `order`, one item of each held at a time.
pub(super) struct Merge<I: Iterator, F> {
    streams: Vec<Peekable<I>>,
    order: F,
}

impl<I: Iterator, F: Fn(&I::Item, &I::Item) -> Ordering> Merge<I, F> {
    pub(super) fn new(streams: impl IntoIterator<Item = I>, order: F) -> Merge<I, F> {
        Merge { streams: streams.into_iter().map(Iterator::peekable).collect(), order }
    }

    /// The stream whose next item comes first.
    fn first(&mut self) -> Option<usize> {
        let mut first: Option<usize> = None;
        for at in 0..self.streams.len() {
            let (before, from_here) = self.streams.split_at_mut(at);
            let Some(item) = from_here[0].peek() else { continue };
            let best = first.and_then(|first| before[first].peek());
            if best.is_none_or(|best| (self.order)(item, best).is_lt()) {
                first = Some(at);
            }
        }
        first
    }
}

/// The items of the streams in order; of those that are equal, the first of each stream, with the
/// number of the stream.
impl<I: Iterator, F: Fn(&I::Item, &I::Item) -> Ordering> Iterator for Merge<I, F> {
    type Item = Vec<(usize, I::Item)>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.first()?;
        let leader = self.streams[first].next()?;
        let order = &self.order;
        let equals = &|item: &I::Item| order(item, &leader).is_eq();
        let mut others = Vec::new();
        for (at, stream) in self.streams.iter_mut().enumerate() {
            let found = stream.next_if(equals);
            // The same again in one stream is not told twice.
            while stream.next_if(equals).is_some() {}
            others.extend(found.filter(|_| at != first).map(|item| (at, item)));
        }
        let mut group = vec![(first, leader)];
        group.extend(others);
        Some(group)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_what_sorting_everything_gives(
            streams in prop::collection::vec(prop::collection::vec(0_u8..20, 0..30), 0..5)
        ) {
            let mut naive: BTreeMap<u8, Vec<(usize, u8)>> = BTreeMap::new();
            let mut sorted = streams;
            for (at, stream) in sorted.iter_mut().enumerate() {
                stream.sort_unstable();
                let mut once = stream.clone();
                once.dedup();
                for item in once {
                    naive.entry(item).or_default().push((at, item));
                }
            }
            let merged: Vec<_> =
                Merge::new(sorted.into_iter().map(Vec::into_iter), u8::cmp).collect();
            prop_assert_eq!(merged, naive.into_values().collect::<Vec<_>>());
        }
    }
}

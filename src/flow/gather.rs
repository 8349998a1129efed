//! Results in the order of their jobs, gathered until they make a group.

use std::collections::{BTreeMap, VecDeque};

use super::{Flow, Message, Taken};

/// Limits at which a group is complete, in items, files and bytes. It is also complete when nothing else is
/// in flight.
pub(crate) const GROUP_ITEMS: usize = 2048;
pub(super) const GROUP_FILES: usize = 32 * 1024;
pub(super) const GROUP_BYTES: u64 = 512 * 1024 * 1024;

/// How much of a group a result takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    pub files: usize,
    pub bytes: u64,
}

/// Results put in order, and cut into groups.
#[derive(Debug)]
pub(crate) struct ReorderBuffer<R> {
    /// Arrived, not yet next in order.
    early: BTreeMap<usize, R>,
    next: usize,
    /// Complete groups.
    complete: VecDeque<Vec<R>>,
    /// The group that fills up next, and its size.
    begun: Vec<R>,
    size: Size,
}

impl<R> Default for ReorderBuffer<R> {
    fn default() -> ReorderBuffer<R> {
        ReorderBuffer {
            early: BTreeMap::new(),
            next: 0,
            complete: VecDeque::new(),
            begun: Vec::new(),
            size: Size::default(),
        }
    }
}

impl<R> ReorderBuffer<R> {
    /// Takes a result of this `size`.
    pub(crate) fn add(&mut self, (number, result): Message<R>, size: impl Fn(&R) -> Size) {
        self.early.insert(number, result);
        while let Some(result) = self.early.remove(&self.next) {
            self.next += 1;
            let Size { files, bytes } = size(&result);
            // A hostile sidecar may give any size.
            self.size.files = self.size.files.saturating_add(files);
            self.size.bytes = self.size.bytes.saturating_add(bytes);
            self.begun.push(result);
            if self.begun.len() >= GROUP_ITEMS
                || self.size.files >= GROUP_FILES
                || self.size.bytes >= GROUP_BYTES
            {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        self.size = Size::default();
        self.complete.push_back(std::mem::take(&mut self.begun));
    }

    /// Returns the next group if it is full, or if nothing else is in flight.
    pub(crate) fn take(&mut self, idle: bool) -> Option<Vec<R>> {
        if self.complete.is_empty() && idle && !self.begun.is_empty() {
            self.close();
        }
        self.complete.pop_front()
    }
}

/// The groups that come out of a flow, until nothing more is staged.
pub(crate) struct Groups<'a, R> {
    flow: &'a Flow<R>,
    gathered: ReorderBuffer<R>,
    size: fn(&R) -> Size,
    /// The groups taken need not wait for more results.
    idle: bool,
}

impl<R> Flow<R> {
    /// Takes staged results, in groups; `size` measures a result.
    pub(crate) fn groups(&self, size: fn(&R) -> Size) -> Groups<'_, R> {
        Groups { flow: self, gathered: ReorderBuffer::default(), size, idle: false }
    }
}

impl<R> Iterator for Groups<'_, R> {
    type Item = Vec<R>;

    fn next(&mut self) -> Option<Vec<R>> {
        loop {
            if let Some(group) = self.gathered.take(self.idle) {
                return Some(group);
            }
            let Some(Taken { messages, idle }) = self.flow.take() else {
                return self.gathered.take(true);
            };
            self.idle = idle;
            for message in messages {
                self.gathered.add(message, self.size);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_in_groups() {
        let mut gathered = ReorderBuffer::default();
        for number in [2, 0, 1, 4] {
            gathered.add((number, number), |_| Size { files: GROUP_FILES / 3 + 1, bytes: 0 });
        }
        assert_eq!(gathered.take(false), Some(vec![0, 1, 2]));
        assert_eq!(gathered.take(true), None, "the fourth is not there yet");
        gathered.add((3, 3), |_| Size::default());
        assert_eq!(gathered.take(false), None);
        assert_eq!(gathered.take(true), Some(vec![3, 4]));
    }

    #[test]
    fn no_group_is_larger_than_it_may_be() {
        let mut gathered = ReorderBuffer::default();
        for number in (0..=2 * GROUP_ITEMS).rev() {
            gathered.add((number, ()), |()| Size::default());
        }
        let mut sizes = std::iter::from_fn(|| gathered.take(true)).map(|group| group.len());
        assert!(sizes.by_ref().eq([GROUP_ITEMS, GROUP_ITEMS, 1]));
    }
}

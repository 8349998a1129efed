//! Results in the order of their jobs, gathered until they make a group.

use std::collections::BTreeMap;

use super::Message;

/// A group is complete when it has so many items, files or bytes, or when nothing else is under way.
pub(crate) const GROUP_ITEMS: usize = 2048;
const GROUP_FILES: usize = 32 * 1024;
const GROUP_BYTES: u64 = 512 * 1024 * 1024;

/// How much of a group a result takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    pub files: usize,
    pub bytes: u64,
}

/// What can be taken next.
#[derive(Debug)]
pub(crate) struct Gathered<R> {
    /// Arrived, not yet next in order.
    early: BTreeMap<usize, R>,
    /// Next in order.
    ready: Vec<R>,
    next: usize,
    size: Size,
}

impl<R> Default for Gathered<R> {
    fn default() -> Gathered<R> {
        Gathered { early: BTreeMap::new(), ready: Vec::new(), next: 0, size: Size::default() }
    }
}

impl<R> Gathered<R> {
    /// Takes a result in; `size` says how much it is.
    pub(crate) fn add(&mut self, (number, result): Message<R>, size: impl Fn(&R) -> Size) {
        self.early.insert(number, result);
        while let Some(result) = self.early.remove(&self.next) {
            self.next += 1;
            let Size { files, bytes } = size(&result);
            // Hostile sidecars may say anything.
            self.size.files = self.size.files.saturating_add(files);
            self.size.bytes = self.size.bytes.saturating_add(bytes);
            self.ready.push(result);
        }
    }

    /// Whether what is next in order makes a group.
    pub(crate) fn is_full(&self) -> bool {
        self.ready.len() >= GROUP_ITEMS
            || self.size.files >= GROUP_FILES
            || self.size.bytes >= GROUP_BYTES
    }

    /// Takes what is next in order.
    pub(crate) fn take(&mut self) -> Vec<R> {
        self.size = Size::default();
        std::mem::take(&mut self.ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_in_groups() {
        let mut gathered = Gathered::default();
        for number in [2, 0, 1, 4] {
            gathered.add((number, number), |_| Size { files: GROUP_FILES / 3 + 1, bytes: 0 });
        }
        assert!(gathered.is_full());
        assert_eq!(gathered.take(), [0, 1, 2]);
        assert!(!gathered.is_full(), "the fourth is not there yet");
        gathered.add((3, 3), |_| Size::default());
        assert_eq!(gathered.take(), [3, 4]);
    }
}

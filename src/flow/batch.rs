//! Sharing the files of one item between threads.

use std::ops::Range;

/// Limits of a batch of files for one thread, in files and in bytes.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: u64 = 1024 * 1024;

/// Ranges of entries: each is processed in order, and several at once.
///
/// An entry that is a file gives its size.
pub(crate) fn batches(sizes: impl Iterator<Item = Option<u64>>) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let (mut start, mut end, mut files, mut bytes) = (0, 0, 0, 0);
    for (at, size) in sizes.enumerate() {
        end = at + 1;
        if let Some(size) = size {
            files += 1;
            bytes += size;
        }
        if files == BATCH_FILES || bytes >= BATCH_BYTES {
            batches.push(start..end);
            (start, files, bytes) = (end, 0, 0);
        }
    }
    if start < end {
        batches.push(start..end);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_in_one_batch() {
        assert!(batches(std::iter::empty()).is_empty());
        assert_eq!(batches([None, Some(1), None].into_iter()), vec![0..3; 1]);
        assert_eq!(
            batches([Some(BATCH_BYTES), Some(1), Some(BATCH_BYTES)].into_iter()),
            [0..1, 1..3]
        );
        assert_eq!(batches((0..130).map(|_| Some(0))), [0..64, 64..128, 128..130]);
    }
}

//! Holes: parts of a file that read as zeros and take no room.
//!
//! Images of disks and databases are made of them: without holes, a copy of 4 KB in 300 MB fills 300 MB, and a restored disk
//! may not hold its own archive. Every block of zeros becomes a hole, without asking the source: `SEEK_HOLE` would cost each
//! file a call, FUSE servers often lack it, and a stream cannot answer. Digests do not depend on holes.

use super::PathError;
use super::file::StoredFile;

/// The block size of most file systems; a smaller hole saves nothing.
const BLOCK: usize = 4096;

static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Appends to a file, with holes for blocks of zeros.
#[derive(Debug, Default)]
#[must_use = "a file that ends with a hole is too short without `end`"]
pub(crate) struct HoleWriter {
    /// Number of zeros since the last byte that was written.
    zeros: u64,
}

impl HoleWriter {
    /// Appends `bytes` to `to`.
    pub(crate) fn write(&mut self, to: &mut StoredFile, bytes: &[u8]) -> Result<(), PathError> {
        let mut written = 0;
        for (start, block) in (0..).step_by(BLOCK).zip(bytes.chunks(BLOCK)) {
            if *block == ZEROS[..] {
                self.write_data(to, &bytes[written..start])?;
                written = start + BLOCK;
                self.zeros += BLOCK as u64;
            }
        }
        self.write_data(to, &bytes[written..])
    }

    fn write_data(&mut self, to: &mut StoredFile, bytes: &[u8]) -> Result<(), PathError> {
        if bytes.is_empty() {
            return Ok(());
        }
        to.skip(std::mem::take(&mut self.zeros))?;
        to.write_all(bytes)
    }

    /// Gives `to` its size. The last zero of a hole is written: not every FUSE server makes a file longer by `ftruncate`.
    pub(crate) fn end(self, to: &mut StoredFile) -> Result<(), PathError> {
        let Some(before) = self.zeros.checked_sub(1) else { return Ok(()) };
        to.skip(before)?;
        to.write_all(&[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Dir, Watcher};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test reads beside the library")]
    fn every_arrangement_of_zeros_is_written_as_it_is() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let (zeros, data) = (vec![0; BLOCK], vec![7; BLOCK]);
        let mixed = [&zeros[..BLOCK - 1], &[1]].concat();
        let patterns: [&[&[u8]]; 7] = [
            &[],
            &[b"a"],
            &[&zeros, &zeros],
            &[&data, &zeros, &mixed, &zeros, b"end"],
            &[&zeros, &data, &zeros, &[0; 100]],
            &[&mixed, &zeros, &[0; 1]],
            &[&zeros, &[0; 1], &zeros, &data],
        ];
        for (at, pieces) in patterns.iter().enumerate() {
            let name = at.to_string();
            let mut file = dir.create_file(&name).unwrap();
            let mut holes = HoleWriter::default();
            pieces.iter().for_each(|piece| holes.write(&mut file, piece).unwrap());
            // In one piece as well.
            holes.write(&mut file, &pieces.concat()).unwrap();
            holes.end(&mut file).unwrap();
            let expected = pieces.concat().repeat(2);
            assert!(std::fs::read(scratch.path().join(name)).unwrap() == expected, "{at}");
        }
    }
}

//! The manifest: one line a file, as `sha256sum` writes and checks them.

use super::{Content, Entry};
use crate::digest::{Digest, Hasher};

/// Appends the line of a file to `text`; links and empty directories have none.
///
/// `prefix` is put before the path. As in coreutils, a path with a backslash, a newline or a carriage
/// return is escaped and its line starts with a backslash.
pub fn append_line(text: &mut Vec<u8>, prefix: &[u8], entry: &Entry) {
    let Content::File { digest, .. } = &entry.content else { return };
    let path = entry.path.as_bytes();
    let odd = |byte: &u8| matches!(byte, b'\\' | b'\n' | b'\r');
    if !path.iter().any(odd) && !prefix.iter().any(odd) {
        text.extend_from_slice(digest.to_string().as_bytes());
        text.extend_from_slice(b"  ");
        text.extend_from_slice(prefix);
        text.extend_from_slice(path);
    } else {
        text.push(b'\\');
        text.extend_from_slice(digest.to_string().as_bytes());
        text.extend_from_slice(b"  ");
        for byte in prefix.iter().chain(path) {
            match byte {
                b'\\' => text.extend_from_slice(b"\\\\"),
                b'\n' => text.extend_from_slice(b"\\n"),
                b'\r' => text.extend_from_slice(b"\\r"),
                byte => text.push(*byte),
            }
        }
    }
    text.push(b'\n');
}

/// The digest of the whole manifest of `entries`, which are sorted by path.
pub fn digest(entries: &[Entry]) -> Digest {
    let mut hasher = Hasher::default();
    let mut line = Vec::new();
    for entry in entries {
        line.clear();
        append_line(&mut line, b"", entry);
        hasher.update(&line);
    }
    hasher.finish()
}

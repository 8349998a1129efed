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

/// The digest of `entries`, which are sorted by path, links and empty directories included. Times and modes
/// are left out, because not every disk keeps them.
pub fn content_digest(entries: &[Entry]) -> Digest {
    let mut hasher = Hasher::default();
    let mut line = Vec::new();
    for entry in entries {
        line.clear();
        let path = entry.path.as_bytes();
        match &entry.content {
            Content::File { .. } => append_line(&mut line, b"", entry),
            // No line of a file begins with a NUL, and neither a path nor a target has one.
            Content::Link { target } => {
                line = [b"\0link\0", path, b"\0", target, b"\0"].concat();
            }
            Content::EmptyDirectory { .. } => line = [b"\0directory\0", path, b"\0"].concat(),
        }
        hasher.update(&line);
    }
    hasher.finish()
}

//! Paths in records: as text, and exactly in base 64 where they are not UTF-8.

use std::path::Path;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A path under its key: as text, and exactly in base 64 where it is not UTF-8.
pub(crate) struct PathAt {
    key: &'static str,
    text: String,
    base64: Option<String>,
}

impl PathAt {
    pub(crate) fn new(key: &'static str, path: &Path) -> PathAt {
        use std::os::unix::ffi::OsStrExt;
        let text = path.to_string_lossy().into_owned();
        let base64 = path.to_str().is_none().then(|| base64(path.as_os_str().as_bytes()));
        PathAt { key, text, base64 }
    }

    pub(crate) fn text(key: &'static str, text: impl Into<String>) -> PathAt {
        PathAt { key, text: text.into(), base64: None }
    }
}

/// A path under the key `path`.
pub(crate) fn path(path: &Path) -> PathAt {
    PathAt::new("path", path)
}

impl Serialize for PathAt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.key, &self.text)?;
        if let Some(base64) = &self.base64 {
            map.serialize_entry(&format!("{}_b64", self.key), base64)?;
        }
        map.end()
    }
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for at in 0..4 {
            if at <= chunk.len() {
                let digit = group >> (18 - 6 * at) & 63;
                text.push(char::from(DIGITS[digit as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_of_the_rfc() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}

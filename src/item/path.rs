//! Paths below `doc/`.

use std::borrow::Cow;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use crate::identity::RepositoryName;

/// A path of a payload entry, relative to `doc/`.
///
/// Invariants: not empty, relative, without `.`, `..`, empty components and NUL. Any other bytes are
/// allowed. It orders by bytes, as the sidecar and the manifest do.
///
/// Its text form (`Display`, [`PayloadPath::from_text`]) is the path itself wherever that is valid
/// UTF-8 without a backslash; a backslash is written `\\` and a byte that is not UTF-8 `\xHH`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PayloadPath(Box<[u8]>);

/// Why a text is no path of a payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathTextError {
    /// It is absolute, climbs with `..`, or has an empty component.
    #[error("`{0}` is not a path below the payload")]
    NotBeneath(String),
    /// A backslash is not followed by another or by `x` and two hexadecimal digits.
    #[error("`{0}` has a backslash that starts no escape")]
    BadEscape(String),
}

impl PayloadPath {
    /// The payload path `path`, if it is one.
    pub fn new(path: &Path) -> Result<PayloadPath, PathTextError> {
        let bytes = path.as_os_str().as_bytes();
        let normal = bytes
            .split(|byte| *byte == b'/')
            .all(|name| !name.is_empty() && name != b"." && name != b".." && !name.contains(&0));
        if normal {
            Ok(PayloadPath(bytes.into()))
        } else {
            Err(PathTextError::NotBeneath(path.display().to_string()))
        }
    }

    /// Reads the text form.
    pub fn from_text(text: &str) -> Result<PayloadPath, PathTextError> {
        let bytes = unescape(text).ok_or_else(|| PathTextError::BadEscape(text.to_owned()))?;
        PayloadPath::new(Path::new(std::ffi::OsStr::from_bytes(&bytes)))
    }

    /// The path itself.
    pub fn as_path(&self) -> &Path {
        Path::new(std::ffi::OsStr::from_bytes(&self.0))
    }

    /// The bytes of the path.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text form; the path itself in all but odd cases.
    pub fn to_text(&self) -> Cow<'_, str> {
        escape(&self.0)
    }

    /// The directories above, nearest first, up to the one right below `doc/`.
    pub fn parents(&self) -> impl Iterator<Item = &Path> {
        self.as_path().ancestors().skip(1).filter(|path| !path.as_os_str().is_empty())
    }

    /// The destination below `doc/` of a link at this path with `target`; `None` if the link may leave the
    /// payload.
    ///
    /// Only `..` at the start of the target are followed: after a name, their meaning would depend on the
    /// target of that name.
    pub fn link_stays_inside(&self, target: &[u8]) -> bool {
        let mut depth = self.parents().count();
        let mut descended = false;
        for component in Path::new(std::ffi::OsStr::from_bytes(target)).components() {
            match component {
                Component::Normal(_) => descended = true,
                Component::CurDir => {}
                Component::ParentDir if !descended && depth > 0 => depth -= 1,
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
            }
        }
        true
    }
}

/// The destination of a relative link that leaves the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedPath {
    /// The item, as the link spells it.
    pub item: RepositoryName,
    /// The path below that item's directory; empty if the link leads to the directory itself.
    pub path: PathBuf,
}

impl PayloadPath {
    /// The destination of a link with `target` at this path in the item `own`, if it leaves the payload for
    /// an item of the same root, by the four levels of directories. The levels exist for such relative links
    /// between items [generation, 6].
    pub fn linked_path(&self, own: &RepositoryName, target: &[u8]) -> Option<LinkedPath> {
        let mut components = Path::new(std::ffi::OsStr::from_bytes(target)).components().peekable();
        let mut climbed = 0_usize;
        while let Some(step) =
            components.next_if(|it| matches!(it, Component::ParentDir | Component::CurDir))
        {
            climbed += usize::from(step == Component::ParentDir);
        }
        // Up to `doc/`, and out of it, are within the item.
        let above = climbed.checked_sub(self.parents().count() + 1)?;
        let mut levels: Vec<_> = own.components().map(std::ffi::OsStr::new).to_vec();
        levels.truncate(levels.len().checked_sub(above)?);
        for component in components {
            let Component::Normal(level) = component else { return None };
            levels.push(level);
        }
        let (item, path) = levels.split_at_checked(4)?;
        let item = item.iter().map(|level| level.to_str()).collect::<Option<Vec<_>>>()?;
        let (item, _) = RepositoryName::parse_as_found(&item.join("/")).ok()?;
        Some(LinkedPath { item, path: path.iter().collect() })
    }
}

/// Text from which `bytes` can be restored: valid UTF-8 is unchanged, except for backslashes.
pub fn escape(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.contains('\\')
    {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(text)
}

/// The bytes that [`escape`] made `text` of.
pub(crate) fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        if let Some(after) = escaped.strip_prefix('\\') {
            bytes.push(b'\\');
            rest = after;
        } else {
            let digits = escaped.strip_prefix('x')?.get(..2)?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &escaped[3..];
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

impl fmt::Display for PayloadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_text())
    }
}

impl fmt::Debug for PayloadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_text(), f)
    }
}

impl From<PayloadPath> for PathBuf {
    fn from(path: PayloadPath) -> PathBuf {
        std::ffi::OsString::from_vec(path.0.into()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> PayloadPath {
        PayloadPath::from_text(text).unwrap()
    }

    #[test]
    fn only_paths_below_the_payload_are_paths() {
        for bad in ["", "/", "/etc/passwd", "..", "a/../b", "a//b", "a/", "./a", "a/.", "a\0b"] {
            assert!(PayloadPath::new(Path::new(bad)).is_err(), "{bad:?}");
        }
        for path in ["a", "a/b", "...", " ", "a\nb", "..a/b..", "@reference.bib"] {
            assert!(PayloadPath::new(Path::new(path)).is_ok(), "{path:?}");
        }
    }

    #[test]
    fn text_gives_every_name_back() {
        for bytes in
            [&b"plain"[..], b"back\\slash", b"\xff\xfe", b"a\\xffb", b"\xc3\xa9\xc3", b"a\nb"]
        {
            let original = PayloadPath::new(Path::new(std::ffi::OsStr::from_bytes(bytes))).unwrap();
            assert_eq!(path(&original.to_text()), original);
        }
        assert_eq!(path("caf\\xe9").as_bytes(), b"caf\xe9");
        for bad in ["a\\", "a\\q", "a\\x4", "a\\xg0", "\\x2e\\x2e", "a\\x2f\\x2fb", "a\\x+1"] {
            assert!(PayloadPath::from_text(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn links_that_may_leave_are_told_from_those_that_stay() {
        for (link, target, stays) in [
            ("a", "b", true),
            ("a", "./b/c", true),
            ("sub/a", "../b", true),
            ("sub/a", "..", true),
            ("a", "..", false),
            ("sub/a", "../../b", false),
            ("a", "/etc/passwd", false),
            ("a", "b/../c", false),
            ("deep/er/a", "../../x", true),
        ] {
            assert_eq!(
                path(link).link_stays_inside(target.as_bytes()),
                stays,
                "{link} -> {target}"
            );
        }
    }

    #[test]
    fn links_that_leave_the_payload_lead_to_items_of_the_root() {
        let own: RepositoryName = "sid.inpe.br/MTC-m13@80/2005/07.02.15.03".parse().unwrap();
        for (link, target, item) in [
            (
                "l",
                "../../../../../sid.inpe.br/m/2005/06.02.15.03/doc/a",
                "sid.inpe.br/m/2005/06.02.15.03",
            ),
            ("s/l", "../../../06.02.15.03/doc/a", "sid.inpe.br/MTC-m13@80/2005/06.02.15.03"),
            ("l", "../../06.02.15.03", "sid.inpe.br/MTC-m13@80/2005/06.02.15.03"),
            ("l", "../service/x", own.as_str()),
            ("l", "../../07.02.15.03/doc/a", own.as_str()),
            ("l", "../../../../../../sid.inpe.br/m/2005/06.02.15.03/doc/a", ""),
            ("l", "../../../../../etc/passwd", ""),
            ("l", "../../../../../sid.inpe.br/m/2005", ""),
            ("l", "../../06.02.15.03/../../../../../etc", ""),
            ("l", "/sid.inpe.br/m/2005/06.02.15.03/doc/a", ""),
            ("l", "a", ""),
        ] {
            let found = path(link).linked_path(&own, target.as_bytes());
            let found = found.map(|it| it.item.to_string());
            assert_eq!(found.as_deref().unwrap_or_default(), item, "{link} -> {target}");
        }
    }
}

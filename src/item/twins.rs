//! Names that are the same name on some file systems: they differ only in case or in Unicode form.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;

use super::PayloadPath;

/// Two paths of one payload that would overwrite each other on a file system that folds names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twins {
    /// One of them.
    pub first: String,
    /// The other.
    pub second: String,
}

impl Twins {
    /// Names that look the same are distinguished by their characters.
    fn new(first: &Path, second: &Path) -> Twins {
        let [first, second] = [first, second].map(|path| path.display().to_string());
        if first.nfc().eq(second.nfc()) {
            let spell = |text: &str| text.chars().map(spelt).collect();
            return Twins { first: spell(&first), second: spell(&second) };
        }
        Twins { first, second }
    }
}

fn spelt(character: char) -> String {
    if character.is_ascii() { character.into() } else { character.escape_unicode().to_string() }
}

/// The first twins among `paths`, which are sorted, and the directories above them.
pub fn find<'a>(paths: impl Iterator<Item = &'a PayloadPath> + Clone) -> Option<Twins> {
    // A payload may have hundreds of thousands of names. So only a hash of each is kept; the paths are
    // compared only if two hashes are equal.
    let hashes = RandomState::new();
    let mut seen = HashSet::new();
    let mut last: Option<&PayloadPath> = None;
    let mut may_be_twins = |path: &'a PayloadPath| {
        let before = last.replace(path);
        // The entries of a directory are adjacent: a directory is new unless the path before lies in it, too.
        let is_new =
            |path: &&Path| !before.is_some_and(|before| before.as_path().starts_with(path));
        let mut new = std::iter::once(path.as_path()).chain(path.parents()).take_while(is_new);
        new.any(|path| !seen.insert(hashes.hash_one(folded(path))))
    };
    paths.clone().any(&mut may_be_twins).then(|| find_among(paths, &hashes)).flatten()
}

/// The same, but paths with equal hashes are compared.
fn find_among<'a>(
    paths: impl Iterator<Item = &'a PayloadPath>,
    hashes: &RandomState,
) -> Option<Twins> {
    let mut seen: HashMap<u64, &Path> = HashMap::new();
    for path in paths {
        // A directory is met once for each entry below it.
        for path in std::iter::once(path.as_path()).chain(path.parents()) {
            let spelling = folded(path);
            match seen.insert(hashes.hash_one(&spelling), path) {
                Some(other) if other == path => break,
                Some(other) if folded(other) == spelling => return Some(Twins::new(other, path)),
                None | Some(_) => {}
            }
        }
    }
    None
}

/// The common form of all spellings of `text` that differ only in case or in Unicode form, by Unicode's full
/// case folding: `STRASSE` and `straße`, the two small sigmas.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let composed: String = text.nfc().collect();
    UniCase::unicode(composed).to_folded_case().nfc().collect()
}

/// A spelling that twins share. A path that is not UTF-8 is folded in its ASCII letters only.
fn folded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    if let Some(text) = path.to_str() {
        return fold(text);
    }
    let lower = path.as_os_str().as_bytes().to_ascii_lowercase();
    super::path::escape(&lower).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twins(paths: &[&str]) -> Option<(String, String)> {
        let path = |text: &&str| PayloadPath::from_text(text).unwrap();
        let paths: Vec<_> = paths.iter().map(path).collect();
        find(paths.iter()).map(|twins| (twins.first, twins.second))
    }

    #[test]
    fn finds_names_that_fold_to_one() {
        assert_eq!(twins(&["a", "b", "sub/a", "sub/b", "sub2/a"]), None);
        assert_eq!(twins(&["Makefile", "makefile"]), Some(("Makefile".into(), "makefile".into())));
        assert_eq!(twins(&["Sub/a", "sub/b"]), Some(("Sub".into(), "sub".into())));
        let composed_and_decomposed = twins(&["caf\u{e9}", "cafe\u{301}"]);
        assert_eq!(composed_and_decomposed, Some(("caf\\u{e9}".into(), "cafe\\u{301}".into())));
        assert!(twins(&["É", "e\u{301}"]).is_some(), "case and form at once");
        assert_eq!(twins(&["lib", "lib-a", "lib/a", "lib/b"]), None, "met again as a directory");
        assert!(twins(&["lib", "lib-a", "lib/a", "lib/A"]).is_some());
        assert_eq!(twins(&["\\xe9", "\\xe8"]), None);
        for (one, other) in [("οδος", "οδοσ"), ("straße", "STRASSE"), ("ſun", "SUN"), ("ﬁn", "FIN")]
        {
            assert!(twins(&[one, other]).is_some(), "{one} and {other}");
        }
        assert_eq!(twins(&["ı", "i"]), None, "which are two letters everywhere but in Turkish");
    }
}

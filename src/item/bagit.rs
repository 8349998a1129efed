//! Paths as the manifests of BagIt bags write them: a line has one path, so a line end in it is written
//! `%0A` or `%0D`.

use std::borrow::Cow;

/// The characters to escape, which differ between the versions of bags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeRules {
    /// Line ends, and `%` as `%25` so that these can be told from names [RFC 8493, 2.1.3].
    Rfc,
    /// Line ends alone, as in the drafts before the RFC.
    Draft,
}

impl EscapeRules {
    /// The rules for a bag with these paths.
    ///
    /// Some readers, `bagit.py` among them, know only the rules of the drafts: in a bag of version 1.0 they
    /// do not find a file with `%` in its path. So a bag with such a path has the earlier version, unless the
    /// name looks like an escape.
    pub fn fit_for<'a>(mut paths: impl Iterator<Item = &'a str> + Clone) -> EscapeRules {
        let is_ambiguous = |path: &str| EscapeRules::Draft.unescape(path) != path;
        if !paths.clone().any(|path| path.contains('%')) || paths.any(is_ambiguous) {
            EscapeRules::Rfc
        } else {
            EscapeRules::Draft
        }
    }

    /// The version of a bag with these rules.
    pub fn version(self) -> &'static str {
        match self {
            EscapeRules::Rfc => "1.0",
            EscapeRules::Draft => "0.97",
        }
    }

    /// The path in the form of a manifest.
    pub fn escape(self, path: &str) -> Cow<'_, str> {
        if !path.contains(['%', '\n', '\r']) {
            return Cow::Borrowed(path);
        }
        let path = match self {
            EscapeRules::Rfc => path.replace('%', "%25"),
            EscapeRules::Draft => path.to_owned(),
        };
        Cow::Owned(path.replace('\n', "%0A").replace('\r', "%0D"))
    }

    /// The path that a manifest means by `text`.
    ///
    /// Escapes are read in upper and lower case. Any other `%` stands for itself, because some programs write
    /// it bare. Such a program also writes the name `50%25` unchanged. So if the unescaped file is missing, a
    /// reader of bags looks for the name as written.
    pub fn unescape(self, text: &str) -> Cow<'_, str> {
        if !text.contains('%') {
            return Cow::Borrowed(text);
        }
        let mut path = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((plain, escaped)) = rest.split_once('%') {
            path.push_str(plain);
            let meant = match escaped.get(..2).map(str::to_ascii_uppercase).as_deref() {
                Some("25") if self == EscapeRules::Rfc => Some('%'),
                Some("0A") => Some('\n'),
                Some("0D") => Some('\r'),
                _ => None,
            };
            path.push(meant.unwrap_or('%'));
            rest = if meant.is_some() { &escaped[2..] } else { escaped };
        }
        path.push_str(rest);
        Cow::Owned(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_comes_back() {
        for (path, text, rules) in [
            ("data/a b.txt", "data/a b.txt", EscapeRules::Rfc),
            ("data/100%", "data/100%", EscapeRules::Draft),
            ("data/50%25", "data/50%25", EscapeRules::Draft),
            ("data/a\nb\r\nc", "data/a%0Ab%0D%0Ac", EscapeRules::Rfc),
            ("data/5%\n", "data/5%%0A", EscapeRules::Draft),
            ("data/%0A", "data/%250A", EscapeRules::Rfc),
            ("data/50%25\n%0d", "data/50%2525%0A%250d", EscapeRules::Rfc),
            ("data/ação%", "data/ação%", EscapeRules::Draft),
        ] {
            assert_eq!(EscapeRules::fit_for([path].into_iter()), rules, "{path}");
            assert_eq!(rules.escape(path), text);
            assert_eq!(rules.unescape(text), path);
            assert_eq!(EscapeRules::Rfc.unescape(&EscapeRules::Rfc.escape(path)), path);
        }
        let both = ["data/100%", "data/%0A"].into_iter();
        assert_eq!(EscapeRules::fit_for(both), EscapeRules::Rfc);
    }

    #[test]
    fn what_others_write_is_read() {
        for (text, path) in
            [("a%0ab%0d", "a\nb\r"), ("100%", "100%"), ("5%é", "5%é"), ("a%20b", "a%20b")]
        {
            assert_eq!(EscapeRules::Rfc.unescape(text), path);
            assert_eq!(EscapeRules::Draft.unescape(text), path);
        }
    }
}

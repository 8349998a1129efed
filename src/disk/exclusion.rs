//! Exclusions from sources, by patterns that follow the rules of gitignore.
//!
//! Two rules differ from git's: a class such as `[!a]` matches `/` as well, and POSIX classes are refused.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::io::Errno;

use super::{Dir, FileStat, IoContext, Kind, PathError, StoredFile};

/// The file of a source with patterns for its directory and everything below it.
pub const PATTERN_FILE: &str = ".urepoignore";

/// Limit on the size of a file of patterns.
const MAX_PATTERN_BYTES: u64 = 1024 * 1024;

/// A pattern in the given form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its text: a line of a gitignore file.
    pub text: String,
    /// The file that contains it.
    pub from: Option<PathBuf>,
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a pattern: {reason}")]
pub struct PatternError {
    /// The pattern.
    pub text: String,
    /// Why.
    pub reason: String,
}

/// Why an entry was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExclusionRule {
    /// It matches a pattern.
    Pattern {
        /// The pattern.
        text: String,
        /// The file that contains it.
        from: Option<PathBuf>,
    },
    /// It is a file of patterns.
    PatternFile,
    /// It is a link, and links are skipped.
    Link,
}

impl fmt::Display for ExclusionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExclusionRule::Pattern { text, .. } => f.write_str(text),
            ExclusionRule::PatternFile => f.write_str(PATTERN_FILE),
            ExclusionRule::Link => f.write_str("links"),
        }
    }
}

/// The patterns that apply to a source or, once its directories are entered, below one of them.
///
/// The patterns of the caller win, then those of the nearest [`PATTERN_FILE`], and the usual ones come
/// last. By default, nothing is left out but what is left of other sources.
#[derive(Clone, Debug, Default)]
pub struct Exclusion {
    given: Option<Arc<Gitignore>>,
    usual: Option<Arc<Gitignore>>,
    reads_files: bool,
    nearest: Option<Arc<PatternLevel>>,
    /// The path of the source below the directory that patterns are relative to.
    base: PathBuf,
}

/// The patterns of one file, and those of the directories above.
#[derive(Debug)]
struct PatternLevel {
    /// Its directory.
    directory: PathBuf,
    patterns: Gitignore,
    above: Option<Arc<PatternLevel>>,
}

impl Pattern {
    /// A pattern of the command line or the settings.
    pub fn new(text: &str) -> Result<Pattern, PatternError> {
        let error =
            |reason: &str| PatternError { text: text.to_owned(), reason: reason.to_owned() };
        match text.trim_end() {
            "" => Err(error("it is empty")),
            comment if comment.starts_with('#') => Err(error("`#` begins a comment; write `\\#`")),
            _ => Ok(Pattern { text: text.to_owned(), from: None }),
        }
    }

    /// The patterns in the `bytes` of the file `path`, a line each.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Pattern>, PathError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut patterns = Vec::new();
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let text = str::from_utf8(line)
                .map_err(|_| unusable(path, format!("line {number} is not UTF-8")))?;
            if !text.starts_with('#') && !text.trim().is_empty() {
                // Without `.` on the way.
                let from = Some(path.components().collect());
                patterns.push(Pattern { text: text.to_owned(), from });
            }
        }
        Ok(patterns)
    }
}

impl Exclusion {
    /// The `given` patterns, with `usual` ones that they and files override. `reads_files` says whether
    /// [`PATTERN_FILE`]s of the source count.
    pub fn new(
        given: &[Pattern],
        usual: &[Pattern],
        reads_files: bool,
    ) -> Result<Exclusion, PatternError> {
        let some = |patterns: &[Pattern]| -> Result<_, PatternError> {
            Ok((!patterns.is_empty()).then_some(compile(patterns)?).map(Arc::new))
        };
        let (given, usual) = (some(given)?, some(usual)?);
        Ok(Exclusion { given, usual, reads_files, ..Exclusion::default() })
    }

    /// Whether patterns may leave anything out.
    pub fn may_leave_out(&self) -> bool {
        self.reads_files || self.given.is_some() || self.usual.is_some()
    }

    /// The same for a source at `relative` below the one that these patterns apply to.
    pub(crate) fn of_source(&self, relative: &Path) -> Exclusion {
        Exclusion { base: self.base.join(relative), ..self.clone() }
    }

    /// The same for the entries of the directory at `relative` below `root`: its own patterns are added.
    /// `follows` says whether links are followed.
    pub(crate) fn entered(
        &self,
        root: &Dir,
        relative: &Path,
        follows: bool,
    ) -> Result<Exclusion, PathError> {
        if !self.reads_files {
            return Ok(self.clone());
        }
        let file = relative.join(PATTERN_FILE);
        let stamp = if follows { followed(&root.path_of(&file)) } else { root.stat(&file) };
        let stamp = match stamp {
            // Nothing in such a directory can be read: the walk reports its entries.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => None,
            stamp => stamp?,
        };
        if stamp.is_none_or(|stamp| stamp.kind != Kind::File) {
            return Ok(self.clone());
        }
        let file = &mut if follows {
            StoredFile::open(&root.path_of(&file), root.watcher())?
        } else {
            root.open_file(&file)?
        };
        let bytes = file.read_all(MAX_PATTERN_BYTES)?;
        let patterns = compile(&Pattern::parse(file.path(), &bytes)?);
        let patterns = patterns.map_err(|error| unusable(file.path(), error.to_string()))?;
        let (directory, above) = (self.base.join(relative), self.nearest.clone());
        let nearest = Some(Arc::new(PatternLevel { directory, patterns, above }));
        Ok(Exclusion { nearest, ..self.clone() })
    }

    /// Why the entry of this kind at `relative` is left out, if it is.
    pub(crate) fn rule(&self, relative: &Path, kind: Kind) -> Option<ExclusionRule> {
        if !self.may_leave_out() {
            return None;
        }
        if self.reads_files && kind == Kind::File && relative.ends_with(PATTERN_FILE) {
            return Some(ExclusionRule::PatternFile);
        }
        let path = self.base.join(relative);
        let is_directory = kind == Kind::Directory;
        let mut decided = verdict(self.given.as_deref(), &path, is_directory);
        let mut level = self.nearest.as_deref();
        while let (Match::None, Some(here)) = (&decided, level) {
            let below = path.strip_prefix(&here.directory).unwrap_or(&path);
            decided = verdict(Some(&here.patterns), below, is_directory);
            level = here.above.as_deref();
        }
        if decided.is_none() {
            decided = verdict(self.usual.as_deref(), &path, is_directory);
        }
        match decided {
            Match::Ignore(rule) => Some(rule),
            Match::None | Match::Whitelist(_) => None,
        }
    }
}

/// The kind of `path`, links followed; `None` for a dangling link.
fn followed(path: &Path) -> Result<Option<FileStat>, PathError> {
    match rustix::fs::stat(path) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        stat => Ok(Some(FileStat::of(&stat.on("inspect", path)?))),
    }
}

/// The verdict of the patterns on a path.
fn verdict(patterns: Option<&Gitignore>, path: &Path, is_directory: bool) -> Match<ExclusionRule> {
    let Some(patterns) = patterns else { return Match::None };
    patterns.matched(path, is_directory).map(|glob| ExclusionRule::Pattern {
        text: glob.original().to_owned(),
        from: glob.from().map(Path::to_path_buf),
    })
}

fn compile(patterns: &[Pattern]) -> Result<Gitignore, PatternError> {
    // Paths are handed in relative to the directory of the patterns.
    let mut builder = GitignoreBuilder::new("");
    let mut last = "";
    let error = |text: &str, error: &ignore::Error| {
        let (text, reason) = (text.to_owned(), cause(error));
        PatternError { text, reason }
    };
    for Pattern { text, from } in patterns {
        // It would be read as a set of these characters.
        if text.split_once("[:").is_some_and(|(_, rest)| rest.contains(":]")) {
            let reason = "classes such as `[:digit:]` are not supported; write `[0-9]`".to_owned();
            return Err(PatternError { text: text.clone(), reason });
        }
        builder.add_line(from.clone(), text).map_err(|found| error(text, &found))?;
        last = text;
    }
    builder.build().map_err(|found| error(last, &found))
}

/// The innermost error: the outer ones repeat pattern and file.
fn cause(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithLineNumber { err, .. }
        | ignore::Error::WithDepth { err, .. } => cause(err),
        error => error.to_string(),
    }
}

fn unusable(path: &Path, reason: String) -> PathError {
    PathError::new("use the patterns of", path, std::io::Error::other(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Vec<Pattern> {
        texts.iter().map(|text| Pattern::new(text).unwrap()).collect()
    }

    #[test]
    fn patterns_follow_the_rules_of_gitignore() {
        let rules = |texts: &[&str]| Exclusion::new(&patterns(texts), &[], false).unwrap();
        for (texts, path, kind, left) in [
            (&["*.tmp"][..], "a/b.tmp", Kind::File, true),
            (&["*.tmp"], "a/b.tmpx", Kind::File, false),
            (&["/a.tmp"], "b/a.tmp", Kind::File, false),
            (&["/a.tmp"], "a.tmp", Kind::File, true),
            (&["b/*.tmp"], "b/a.tmp", Kind::File, true),
            (&["b/*.tmp"], "c/b/a.tmp", Kind::File, false),
            (&["build/"], "build", Kind::File, false),
            (&["build/"], "c/build", Kind::Directory, true),
            (&["build/"], "build", Kind::Link, false),
            (&["**/x"], "a/b/x", Kind::File, true),
            (&["*.tmp", "!keep.tmp"], "keep.tmp", Kind::File, false),
            (&["!keep.tmp", "*.tmp"], "keep.tmp", Kind::File, true),
            (&["\\#x"], "#x", Kind::File, true),
            (&["~$*"], "d/~$letter.docx", Kind::File, true),
            (&[".~lock.*#"], ".~lock.a.ods#", Kind::File, true),
            (&["ação*"], "ação.txt", Kind::File, true),
            (&["a[:]b"], "a:b", Kind::File, true),
        ] {
            let rule = rules(texts).rule(Path::new(path), kind);
            assert_eq!(rule.is_some(), left, "{texts:?} {path}");
        }
        // A source inside: patterns stay relative to where they began.
        let inside = rules(&["/a/x"]).of_source(Path::new("a"));
        assert!(inside.rule(Path::new("x"), Kind::File).is_some());
        assert!(inside.rule(Path::new("a/x"), Kind::File).is_none());
    }

    #[test]
    fn given_patterns_win_over_usual_ones() {
        let given = patterns(&["!a.part"]);
        let rules = Exclusion::new(&given, &patterns(&["*.part"]), true).unwrap();
        assert_eq!(rules.rule(Path::new("a.part"), Kind::File), None);
        let told = rules.rule(Path::new("d/b.part"), Kind::File).unwrap().to_string();
        assert_eq!(told, "*.part");
        let file = rules.rule(Path::new("d/.urepoignore"), Kind::File);
        assert_eq!(file, Some(ExclusionRule::PatternFile));
        assert_eq!(rules.rule(Path::new("d/.urepoignore"), Kind::Directory), None);
    }

    #[test]
    fn what_is_not_a_pattern_is_refused() {
        for text in ["", "  ", "#x"] {
            Pattern::new(text).unwrap_err();
        }
        for text in ["[z-a]", "a/[b-a]", "[[:digit:]]*", "x[^a[:space:]]"] {
            let refused = Exclusion::new(&patterns(&[text]), &[], false).unwrap_err();
            assert_eq!(refused.text, text);
            assert!(!refused.reason.contains('\n'), "{}", refused.reason);
        }
    }
}

//! A finding, and all findings about one item.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::{Code, Severity};
use crate::disk::{Kind, PathError, Shortage};
use crate::item::PayloadPath;
use crate::layout;

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The code.
    pub code: Code,
    /// The place.
    pub place: Place,
    /// The facts of this case, for people: a line without a period. It may quote names and sidecars
    /// from outside; escape it on a terminal.
    pub detail: String,
    /// The check ran short of descriptors or memory, so the finding means nothing.
    shortage: Option<Box<Shortage>>,
    /// Whether the place is closed to this user.
    is_denied: bool,
}

/// The place of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The item as a whole.
    Item,
    /// In the item's directory, but not below `doc/`.
    Beside(PathBuf),
    /// An entry of the payload, below `doc/`.
    Payload(PayloadPath),
    /// A path in the collection outside items, relative to its root.
    Tree(PathBuf),
}

impl Place {
    /// The path, relative to the item's directory, or to the root for a place outside items.
    pub fn to_path(&self) -> PathBuf {
        match self {
            Place::Item => PathBuf::new(),
            Place::Beside(path) | Place::Tree(path) => path.clone(),
            Place::Payload(path) => layout::in_payload(path.as_path()),
        }
    }
}

impl Finding {
    /// A finding of `code` at `place`.
    pub(super) fn new(code: Code, place: Place, detail: impl Into<String>) -> Finding {
        Finding { code, place, detail: detail.into(), shortage: None, is_denied: false }
    }

    /// The finding for a failed operation at `place`.
    ///
    /// Absence is a result and never reaches this function as an error.
    pub(super) fn of_error(place: Place, error: &PathError) -> Finding {
        let detail = match std::error::Error::source(error) {
            Some(cause) => cause.to_string(),
            None => error.to_string(),
        };
        Finding {
            shortage: error.shortage().map(Box::new),
            is_denied: error.kind() == ErrorKind::PermissionDenied,
            ..Finding::new(Code::Unreadable, place, detail)
        }
    }

    /// An error if the check ran short of descriptors or memory.
    pub(super) fn check_shortage(&self) -> Result<(), PathError> {
        self.shortage.as_ref().map_or(Ok(()), |shortage| Err(shortage.to_error()))
    }

    /// The finding for an entry of kind `found` in the place of `expected`.
    pub(super) fn of_kind(place: Place, expected: &str, found: Kind) -> Finding {
        let code = match (&place, found) {
            // A link in the payload is data; anywhere else it leads away from the collection.
            (Place::Payload(_), _) => Code::KindDiffers,
            (_, Kind::Link) => Code::LinkOnTheWay,
            _ => Code::KindDiffers,
        };
        Finding::new(code, place, format!("{} where {expected} belongs", describe(found)))
    }

    /// Its severity.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Whether it is damage that was seen, and not a place that this user may not read.
    pub fn is_seen_damage(&self) -> bool {
        self.severity() == Severity::Damage && !self.is_denied
    }

    /// The severity for people and programs: `unread` for a place that this user may not read, because its state is
    /// unknown.
    pub fn shown_severity(&self) -> String {
        if self.is_denied { "unread".to_owned() } else { self.severity().to_string() }
    }

    /// Its meaning, with the detail if there is one.
    pub fn in_words(&self) -> String {
        let meaning = self.code.meaning();
        match &*self.detail {
            "" => meaning.to_owned(),
            detail if self.code.is_of_two() => detail.to_owned(),
            detail => format!("{meaning}: {detail}"),
        }
    }

    /// The same without digests, dates and other values.
    pub fn in_short(&self) -> String {
        if self.code.has_values() { self.code.meaning().to_owned() } else { self.in_words() }
    }
}

/// A kind in words.
pub(super) fn describe(kind: Kind) -> String {
    match kind {
        Kind::File => "a file".to_owned(),
        Kind::Directory => "a directory".to_owned(),
        Kind::Link => "a symbolic link".to_owned(),
        Kind::Special(name) => format!("a {name}"),
    }
}

/// The findings of one item: the first thousand of each severity, and their numbers.
///
/// A directory stuffed with a million files must not fill the memory, and warnings must not push
/// out damage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    kept: Vec<Finding>,
    /// Number of findings of each code, kept or not. Most items have none.
    counts: Vec<(Code, u64)>,
    /// Number of those that this user may not read.
    denied: u64,
    /// The first finding of a check that ran short of descriptors or memory.
    shortage: Option<Box<Shortage>>,
}

impl Findings {
    /// Limit on findings of each severity for one item. More are only counted.
    pub const KEPT: u64 = 1000;

    /// Adds a finding.
    pub(super) fn push(&mut self, finding: Finding) {
        if self.shortage.is_none() {
            self.shortage.clone_from(&finding.shortage);
        }
        self.add(finding.code, 1);
        self.denied += u64::from(finding.is_denied);
        if self.count(finding.severity()) <= Self::KEPT {
            self.kept.push(finding);
        }
    }

    fn add(&mut self, code: Code, number: u64) {
        match self.counts.iter_mut().find(|(counted, _)| *counted == code) {
            Some((_, count)) => *count += number,
            None => self.counts.push((code, number)),
        }
    }

    /// Adds all findings of `other`.
    pub(super) fn append(&mut self, other: Findings) {
        self.shortage = self.shortage.take().or(other.shortage);
        let mut counts =
            [Severity::Notice, Severity::Warning, Severity::Damage].map(|it| self.count(it));
        for finding in other.kept {
            let count = &mut counts[finding.severity() as usize];
            *count += 1;
            if *count <= Self::KEPT {
                self.kept.push(finding);
            }
        }
        for (code, number) in other.counts {
            self.add(code, number);
        }
        self.denied += other.denied;
    }

    /// Sorts by place and code, because directories are listed in no fixed order.
    pub(super) fn sort(&mut self) {
        self.kept.sort_by(|a, b| (&a.place, a.code).cmp(&(&b.place, b.code)));
        self.counts.sort();
    }

    /// The kept findings, sorted by place.
    pub fn as_slice(&self) -> &[Finding] {
        &self.kept
    }

    /// Number of findings of `severity`, kept or not.
    pub fn count(&self, severity: Severity) -> u64 {
        let counts = self.counts.iter().filter(|(code, _)| code.severity() == severity);
        counts.map(|(_, count)| count).sum()
    }

    /// Number of findings of each code, kept or not.
    pub fn counts(&self) -> &[(Code, u64)] {
        &self.counts
    }

    /// Number of findings that were only counted.
    pub fn omitted(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum::<u64>() - self.kept.len() as u64
    }

    /// An error if any check ran short of descriptors or memory: then the findings say nothing about the
    /// item.
    pub(crate) fn check_shortage(&self) -> Result<(), PathError> {
        self.shortage.as_ref().map_or(Ok(()), |shortage| Err(shortage.to_error()))
    }

    /// Whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether there is damage, seen or suspected: an entry that could not be read counts.
    pub fn is_damage(&self) -> bool {
        self.count(Severity::Damage) > 0
    }

    /// Whether there is damage other than entries that this user may not read.
    pub fn is_seen_damage(&self) -> bool {
        self.count(Severity::Damage) > self.denied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(code: Code, count: u64) -> Findings {
        let mut findings = Findings::default();
        (0..count).for_each(|_| findings.push(Finding::new(code, Place::Item, "")));
        findings
    }

    #[test]
    fn damage_is_kept_however_many_warnings_there_are() {
        let mut findings = many(Code::AttributesDiffer, 5000);
        findings.append(many(Code::DigestDiffers, 1500));
        findings.append(many(Code::DigestDiffers, 1));
        assert_eq!(findings.as_slice().len(), 2000);
        assert_eq!(findings.count(Severity::Damage), 1501);
        assert_eq!(findings.count(Severity::Warning), 5000);
        assert_eq!(findings.omitted(), 4501);
        assert_eq!(
            findings.counts(),
            [(Code::AttributesDiffer, 5000), (Code::DigestDiffers, 1501)]
        );
    }
}

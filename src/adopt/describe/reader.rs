//! The fields of a reference, each as a term, a relation or a note.

use super::super::Note;
use super::super::bibtex::{Field, Reference, names, plain, to_text};
use super::super::labels::{Labels, label, words};
use super::super::words::{language, month_number, state, update};
use super::{Description, folded};
use crate::identity::{Identifier, Instant, RepositoryName};
use crate::sidecar::{RelationKind, edtf};

/// Limit on a piece of BibTeX that is kept unchanged; the file itself stays in place.
const MAX_RAW_BYTES: usize = 60 * 1024;

/// The reader of one reference, with its findings so far.
pub(super) struct ReferenceReader<'a> {
    item: &'a RepositoryName,
    pub(super) found: Description,
    labels: Labels,
    /// Fields that are not understood: the name of each, and the text.
    unclear: Vec<String>,
    raw: Vec<String>,
    urls: Vec<String>,
    date: [Option<String>; 3],
}

impl<'a> ReferenceReader<'a> {
    pub(super) fn new(item: &'a RepositoryName) -> ReferenceReader<'a> {
        ReferenceReader {
            item,
            found: Description::default(),
            labels: Labels::default(),
            unclear: Vec::new(),
            raw: Vec::new(),
            urls: Vec::new(),
            date: [None, None, None],
        }
    }

    pub(super) fn reference(&mut self, reference: &Reference) {
        let _ = self.found.metadata.add("type", &reference.kind);
        let _ = self.found.metadata.add("x.citationkey", &to_text(&reference.key).0);
        for field in &reference.fields {
            match &field.value {
                Some(value) if value.trim().is_empty() => {}
                Some(value) => self.field(field, value),
                None => self.unclear(field),
            }
        }
    }

    fn field(&mut self, field: &Field, value: &str) {
        match folded(&field.name).as_str() {
            "title" => self.prose(field, "title", value),
            "author" => self.people(field, "creator", value),
            "editor" => self.people(field, "contributor", value),
            "abstract" => self.prose(field, "abstract", value),
            "keywords" | "keyword" | "subject" => self.keywords(field, value),
            "publisher" => self.prose(field, "publisher", value),
            "note" | "notes" | "annote" => self.prose(field, "description", value),
            "copyright" | "rights" => self.prose(field, "rights", value),
            "license" | "licence" => self.prose(field, "license", value),
            "type" => self.prose(field, "type", value),
            "language" => self.language(field, value),
            "date" => self.date[0] = date(value),
            "year" => self.date[1] = date(value),
            "month" => self.date[2] = Some(to_text(value).0),
            "url" => self.urls.push(plain(value)),
            "doi" | "isbn" | "issn" => self.number(field, value),
            "ibi" | "ibip" | "identifier" | "oldibi" | "oldidentifier" | "alias" => {
                let unknown = self.labels.take(value, self.item);
                let field = || field.name.clone();
                let notes =
                    unknown.into_iter().map(|text| Note::NoIdentifier { field: field(), text });
                self.found.notes.extend(notes);
            }
            // The fields that name the item have been read before.
            "repository" | "rep" => {}
            "metadatarepository" => self.relation(field, &RelationKind::Metadata, value),
            "nextedition" => self.relation(field, &RelationKind::NextEdition, value),
            "previousedition" => self.relation(field, &RelationKind::PreviousEdition, value),
            "translationof" => self.relation(field, &RelationKind::TranslationOf, value),
            "metadataof" => self.relation(field, &RelationKind::MetadataOf, value),
            "nexthigherunit" => self.relation(field, &RelationKind::PartOf, value),
            "targetfile" | "target" => self.found.target = Some([plain(value), to_text(value).0]),
            "lastupdate" | "lastupdatedate" => match update(value) {
                Some(instant) => self.found.updated = Some(instant),
                None => self.unclear(field),
            },
            kind @ ("version" | "originalorcopy" | "state") => match (kind, state(value)) {
                (_, state @ Some(_)) => self.found.hold_as(state),
                // Books have versions as well.
                ("version", None) => {
                    self.found.is_clear = false;
                    self.own(field, value);
                }
                ("originalorcopy", None) => {
                    self.found.hold_as(None);
                    self.unclear(field);
                }
                _ => self.unclear(field),
            },
            _ => self.own(field, value),
        }
    }

    fn unclear(&mut self, field: &Field) {
        self.unclear.push(field.name.clone());
        self.raw.push(field.raw.clone());
    }

    /// Adds one text to a term; a text that a description cannot hold is kept unchanged.
    fn add(&mut self, field: &Field, term: &str, text: &str) {
        if !text.is_empty() && self.found.metadata.add_as_found(term, text).is_err() {
            self.unclear(field);
        }
    }

    fn prose(&mut self, field: &Field, term: &str, value: &str) {
        let (text, is_whole) = to_text(value);
        self.add(field, term, &text);
        if !is_whole {
            self.unclear(field);
        }
    }

    fn own(&mut self, field: &Field, value: &str) {
        let spelt = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let key: String = field.name.chars().map(spelt).collect();
        self.prose(field, &format!("x.{key}"), value);
    }

    fn people(&mut self, field: &Field, term: &str, value: &str) {
        let mut is_whole = true;
        for name in names(value) {
            // `{others}` in braces is a name.
            let (name, is_clear) = match name {
                "others" => ("et al.".to_owned(), true),
                name => to_text(name),
            };
            self.add(field, term, &name);
            is_whole &= is_clear;
        }
        if !is_whole {
            self.unclear(field);
        }
    }

    fn keywords(&mut self, field: &Field, value: &str) {
        let (text, is_whole) = to_text(value);
        let separator = if text.contains(';') { ';' } else { ',' };
        for word in text.trim_end_matches('.').split(separator) {
            self.add(field, "subject", word.trim());
        }
        if !is_whole {
            self.unclear(field);
        }
    }

    fn language(&mut self, field: &Field, value: &str) {
        let text = to_text(value).0;
        let tag = language(&text).unwrap_or(&text);
        if self.found.metadata.add("language", tag).is_err() {
            self.own(field, value);
        }
    }

    fn number(&mut self, field: &Field, value: &str) {
        let text = plain(value);
        let kind = folded(&field.name);
        let is_url = text.contains("://");
        let text = if is_url { text } else { format!("{kind}:{text}") };
        self.add(field, "identifier", &text);
    }

    /// Adds all identifiers of a field; other text is kept unchanged.
    fn relation(&mut self, field: &Field, kind: &RelationKind, value: &str) {
        let identifiers: Vec<_> = words(value).iter().filter_map(|word| label(word)).collect();
        let mut is_whole = true;
        for identifier in &identifiers {
            is_whole &= self.found.relations.add(kind, identifier, None).is_ok();
        }
        if identifiers.is_empty() {
            let (field, text) = (field.name.clone(), plain(value));
            self.found.notes.push(Note::NoIdentifier { field, text });
        }
        if identifiers.is_empty() || !is_whole {
            self.own(field, value);
        }
    }

    /// Completes the description after all fields have been read.
    pub(super) fn finish(mut self, unread: &[String]) -> Description {
        self.finish_date();
        let Labels { ibip, aliases } = self.labels;
        let mut found = self.found;
        let is_own = |url: &String| match Identifier::read(url) {
            Ok(Identifier::Repository(name)) => name == *self.item,
            Ok(Identifier::Ibip(other)) => ibip.as_ref() == Some(&other),
            _ => false,
        };
        let urls = self.urls.into_iter().filter(|url| !is_own(url));
        for alias in aliases.into_iter().chain(urls) {
            let _ = found.metadata.add("identifier", &alias);
        }
        if let Some(ibip) = &ibip {
            let differs = |date: Instant| date.seconds() != self.item.instant().seconds();
            if ibip.instant().is_ok_and(differs) {
                found.notes.push(Note::OtherDate(ibip.clone()));
            }
        }
        found.ibip = ibip;
        if !unread.is_empty() {
            self.unclear.push("what is no entry".to_owned());
            self.raw.extend(unread.iter().cloned());
        }
        for raw in &self.raw {
            let _ = found.metadata.add("x.bibtex", &keepable(raw));
        }
        if !self.unclear.is_empty() {
            self.unclear.dedup();
            found.notes.push(Note::NotUnderstood(self.unclear));
        }
        found
    }

    fn finish_date(&mut self) {
        let [date, year, month] = std::mem::take(&mut self.date);
        let number = month.as_deref().and_then(month_number);
        let text = match (date, year, number) {
            (Some(date), ..) => date,
            (None, Some(year), Some(number)) if year.len() == 4 => format!("{year}-{number:02}"),
            (None, Some(year), _) => year,
            (None, None, _) => String::new(),
        };
        let _ = self.found.metadata.add_as_found("date", &text);
        if let (Some(month), None) = (month, number) {
            let _ = self.found.metadata.add("x.month", &month);
        }
    }
}

/// The words of references for a date that nobody knows, without blanks, periods and brackets.
const NO_DATE: [&str; 4] = ["nd", "sd", "s/d", "nodate"];

/// The date in a field; `None` for one that only says that there is none. In a date, `~` and `%` are marks of EDTF.
fn date(value: &str) -> Option<String> {
    if edtf::check(value.trim()).is_ok() {
        return Some(value.trim().to_owned());
    }
    let text = to_text(value).0;
    let is_letter = |c: &char| !c.is_whitespace() && !['.', '[', ']', '(', ')'].contains(c);
    let letters: String = text.chars().filter(is_letter).collect();
    (!NO_DATE.iter().any(|it| it.eq_ignore_ascii_case(&letters))).then_some(text)
}

/// Text that a description can hold.
fn keepable(raw: &str) -> String {
    let raw = raw.replace("\r\n", "\n");
    let raw = raw.trim();
    let mut end = raw.len().min(MAX_RAW_BYTES);
    while !raw.is_char_boundary(end) {
        end -= 1;
    }
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    raw[..end].replace(is_control, "\u{fffd}")
}

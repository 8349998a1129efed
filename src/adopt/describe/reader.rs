//! The fields of a reference, each as a term, a relation or a note.

use super::super::Note;
use super::super::bibtex::{Field, Reference, names, plain, to_text};
use super::super::labels::{Labels, label, words};
use super::super::words::{language, month_number, state, update};
use super::person::name;
use super::{Description, folded};
use crate::identity::{Identifier, Instant, RepositoryName};
use crate::sidecar::license::spdx;
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
    /// The kind of the work, in lower case.
    kind: String,
}

/// Fields with the names of people, and their terms.
const ROLES: [(&str, &str); 9] = [
    ("author", "creator"),
    ("editor", "editor"),
    ("translator", "translator"),
    ("advisor", "advisor"),
    ("supervisor", "advisor"),
    ("orientador", "advisor"),
    ("illustrator", "illustrator"),
    ("recipient", "recipient"),
    ("contributor", "contributor"),
];

/// Fields with one text, and their terms.
const TEXTS: [(&str, &str); 29] = [
    ("title", "title"),
    ("abstract", "abstract"),
    ("publisher", "publisher"),
    ("annote", "description"),
    ("note", "description"),
    ("notes", "description"),
    ("rights", "rights"),
    ("license", "license"),
    ("licence", "license"),
    ("journal", "journal"),
    ("journaltitle", "journal"),
    ("booktitle", "booktitle"),
    ("conferencename", "event"),
    ("eventtitle", "event"),
    ("event", "event"),
    ("series", "series"),
    ("volume", "volume"),
    ("number", "number"),
    ("issue", "number"),
    ("edition", "edition"),
    ("address", "place"),
    ("location", "place"),
    ("city", "place"),
    ("place", "place"),
    ("school", "institution"),
    ("institution", "institution"),
    ("degree", "degree"),
    ("extent", "extent"),
    ("type", "type"),
];

/// Kinds of theses, whose field `type` is the degree; and of reports, of which it is the series.
const THESES: [&str; 4] = ["phdthesis", "mastersthesis", "thesis", "dissertation"];
const REPORTS: [&str; 2] = ["techreport", "report"];

/// The note of an entry that needs one, in exports.
const UNPUBLISHED: &str = "Unpublished manuscript";

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
            kind: String::new(),
        }
    }

    pub(super) fn reference(&mut self, reference: &Reference) {
        let is_misc = reference.kind.eq_ignore_ascii_case("misc");
        let subtype = reference.fields.iter().find(|field| is_misc && field.name == SUBTYPE);
        let subtype = subtype.and_then(|field| field.value.as_deref()).map(|text| to_text(text).0);
        let kind = subtype.unwrap_or_else(|| reference.kind.clone());
        self.kind = kind.to_lowercase();
        let _ = self.found.metadata.add("type", &kind);
        let _ = self.found.metadata.add("x.citationkey", &to_text(&reference.key).0);
        for field in &reference.fields {
            match &field.value {
                Some(value) if value.trim().is_empty() => {}
                Some(_) if is_misc && field.name == SUBTYPE => {}
                Some(value) => self.field(field, value),
                None => self.unclear(field),
            }
        }
    }

    fn field(&mut self, field: &Field, value: &str) {
        let folded = folded(&field.name);
        let term_in = |table: &[(&str, &'static str)]| {
            table.iter().find(|(name, _)| *name == folded).map(|(_, term)| *term)
        };
        if let Some(role) = term_in(&ROLES) {
            return self.people(field, role, value);
        }
        if let Some(term) = term_in(&TEXTS) {
            let is_of = |kinds: &[&str]| kinds.contains(&self.kind.as_str());
            let term = match term {
                "type" if is_of(&THESES) => "degree",
                "type" if is_of(&REPORTS) => "series",
                "description" if self.kind == "unpublished" && value == UNPUBLISHED => return,
                term => term,
            };
            return self.prose(field, term, value);
        }
        match folded.as_str() {
            "keywords" | "keyword" | "subject" => self.keywords(field, value),
            "copyright" => self.copyright(field, value),
            "pages" => {
                // The dash of a range is a hyphen in descriptions.
                let (text, is_whole) = to_text(value);
                self.add(field, "pages", &text.replace(['–', '—'], "-"));
                if !is_whole {
                    self.unclear(field);
                }
            }
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
                // Software has versions as well.
                ("version", None) => {
                    self.found.is_clear = false;
                    self.prose(field, "version", value);
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

    /// Adds one text to a term; a text that a description cannot hold is kept unchanged, and a mark of what is not known is no
    /// text.
    fn add(&mut self, field: &Field, term: &str, text: &str) {
        if !text.is_empty()
            && !is_unknown(term, text)
            && self.found.metadata.add_as_found(term, text).is_err()
        {
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
        for raw in names(value) {
            let (name, is_clear) = name(raw);
            self.add(field, term, &name);
            is_whole &= is_clear;
        }
        if !is_whole {
            self.unclear(field);
        }
    }

    /// Rights, and behind them or alone a licence by its name in the list of SPDX: exports have both in one field.
    fn copyright(&mut self, field: &Field, value: &str) {
        let (text, is_whole) = to_text(value);
        let (rights, license) = match text.rsplit_once(", ") {
            _ if spdx(&text).is_some() => ("", text.as_str()),
            Some((rights, license)) if spdx(license).is_some() => (rights, license),
            _ => (text.as_str(), ""),
        };
        self.add(field, "rights", rights);
        self.add(field, "license", license);
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
        let is_edtf = |date: &String| edtf::check(date).is_ok();
        // In refer, `%8 9 March` completes the year.
        let date = match (date, &year) {
            (Some(date), Some(year)) if !is_edtf(&date) && !date.contains(year.as_str()) => {
                let day = day_of(year, &date);
                if day.is_none() {
                    let _ = self.found.metadata.add("x.date", &date);
                }
                day
            }
            (date, _) => date,
        };
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

/// The field for the kind of an entry that is `@misc`.
const SUBTYPE: &str = "entrysubtype";

/// The day of `year` that a text such as `9 March` or `March` names.
fn day_of(year: &str, text: &str) -> Option<String> {
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_name = |word: &&str| word.starts_with(char::is_alphabetic);
    let month = words().filter(is_name).find_map(month_number)?;
    let day = words().find_map(|word| word.parse::<u32>().ok());
    let date = match day {
        Some(day) => format!("{year}-{month:02}-{day:02}"),
        None => format!("{year}-{month:02}"),
    };
    edtf::check(&date).is_ok().then_some(date)
}

/// Whether a text only says that a value is not known, as references do: `[S. l.]`, `[s. n.]`, `[Untitled]`, `:unav`.
fn is_unknown(term: &str, text: &str) -> bool {
    let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    let is_marked = text.contains(['[', '.']);
    let marks: &[&str] = match term {
        "title" if text.starts_with('[') => &["semtítulo", "untitled"],
        "publisher" | "institution" | "place" if is_marked => &["sl", "sn", "slsn"],
        _ => &[],
    };
    text == ":unav" || marks.contains(&letters.to_lowercase().as_str())
}

/// The words of references for a date that nobody knows, without blanks, periods and brackets.
const NO_DATE: [&str; 6] = ["nd", "sd", "s/d", "nodate", "0000", ":unav"];

/// The date in a field; `None` for one that only says that there is none. In a date, `~` and `%` are marks of EDTF.
fn date(value: &str) -> Option<String> {
    if edtf::check(value.trim()).is_ok() && value.trim() != "0000" {
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

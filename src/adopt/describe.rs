//! What a reference in BibTeX says of an item, as a description of urepo's.

use super::Note;
use super::bibtex::{Field, Library, Reference, names, plain, to_text};
use super::labels::{Labels, label, words};
use super::spoken::{language, month_number, state, update};
use crate::identity::{Ibip, Identifier, Instant, RepositoryName};
use crate::item::State;
use crate::sidecar::{Metadata, RelationKind, Relations};

/// The longest piece of BibTeX that is kept as it stands; the file itself stays where it is.
const MAX_RAW_BYTES: usize = 60 * 1024;

/// What is known of an item besides its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Description {
    pub metadata: Metadata,
    pub ibip: Option<Ibip>,
    /// The target of the bare identifier, as the reference gives it.
    pub target: Option<String>,
    pub state: Option<State>,
    /// The last update, as the reference gives it.
    pub updated: Option<Instant>,
    pub relations: Relations,
    /// Whether an entry was taken, and what it says of the state is understood.
    pub is_clear: bool,
    pub notes: Vec<Note>,
}

impl Description {
    /// What `library` says of `item`: the entry that names it, or the only one if that names no other.
    pub(super) fn of(library: &Library, item: &RepositoryName) -> Description {
        let references = &library.references;
        let names_it = |reference: &&Reference| named(reference).as_ref() == Some(item);
        let chosen = match (references.iter().find(names_it), references.as_slice()) {
            (Some(reference), _) => reference,
            (None, [only]) => match named(only) {
                Some(other) => return Description::noting(Note::OfAnother(other)),
                None => only,
            },
            (None, []) => return Reader::new(item).finish(&library.unread),
            (None, several) => return Description::noting(Note::Several(several.len())),
        };
        Description::of_reference(chosen, &library.unread, item)
    }

    /// What the only entry of `library` says of `item`, whatever it is of.
    pub(super) fn of_entry(library: &Library, item: &RepositoryName) -> Description {
        let only = library.references.first();
        only.map(|it| Description::of_reference(it, &[], item)).unwrap_or_default()
    }

    fn of_reference(
        reference: &Reference,
        unread: &[String],
        item: &RepositoryName,
    ) -> Description {
        let mut reader = Reader::new(item);
        reader.found.is_clear = true;
        reader.reference(reference);
        reader.finish(unread)
    }

    pub(super) fn noting(note: Note) -> Description {
        Description { notes: vec![note], ..Description::default() }
    }
}

/// The item that a reference says it is of.
fn named(reference: &Reference) -> Option<RepositoryName> {
    let fields = reference.fields.iter().filter(|field| {
        matches!(folded(&field.name).as_str(), "repository" | "rep" | "ibi" | "identifier")
    });
    let texts = fields.filter_map(|field| field.value.as_deref());
    texts.flat_map(words).find_map(|word| match label(&word) {
        Some(Identifier::Repository(name)) => Some(name),
        _ => None,
    })
}

/// Names of fields are spelt in many ways: `last-update`, `lastupdate`.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

struct Reader<'a> {
    item: &'a RepositoryName,
    found: Description,
    labels: Labels,
    /// What is not understood: in a word each, and as it stands.
    unclear: Vec<String>,
    raw: Vec<String>,
    urls: Vec<String>,
    date: [Option<String>; 3],
}

impl<'a> Reader<'a> {
    fn new(item: &'a RepositoryName) -> Reader<'a> {
        Reader {
            item,
            found: Description::default(),
            labels: Labels::default(),
            unclear: Vec::new(),
            raw: Vec::new(),
            urls: Vec::new(),
            date: [None, None, None],
        }
    }

    fn reference(&mut self, reference: &Reference) {
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
            "date" => self.date[0] = Some(to_text(value).0),
            "year" => self.date[1] = Some(to_text(value).0),
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
            // Whose reference this is has been looked at.
            "repository" | "rep" => {}
            "metadatarepository" => self.relation(field, &RelationKind::Metadata, value),
            "nextedition" => self.relation(field, &RelationKind::NextEdition, value),
            "previousedition" => self.relation(field, &RelationKind::PreviousEdition, value),
            "translationof" => self.relation(field, &RelationKind::TranslationOf, value),
            "metadataof" => self.relation(field, &RelationKind::MetadataOf, value),
            "nexthigherunit" => self.relation(field, &RelationKind::PartOf, value),
            "targetfile" | "target" => self.found.target = Some(plain(value)),
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

    /// Adds one text to a term; what a description does not take is kept as it stands.
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
            let (name, is_clear) = to_text(name);
            let name = if name == "others" { "et al." } else { &name };
            self.add(field, term, name);
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

    /// Adds all identifiers of a field; what does not fit is kept as it stands.
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

    /// What is left to be done when all fields have been read.
    fn finish(mut self, unread: &[String]) -> Description {
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

/// Text that a description takes.
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

#[cfg(test)]
mod tests {
    use super::super::bibtex::read;
    use super::*;

    const NAME: &str = "sid.inpe.br/mtc-m18@80/2009/02.16.17.46";

    fn describe(text: &str) -> Description {
        Description::of(&read(text), &NAME.parse().unwrap())
    }

    #[test]
    fn a_real_record_is_understood() {
        let found = describe(
            r#"@InProceedings{BanonBano:2009:OnIde,
              author = "Banon, Gerald Jean Francis and Ribeiro, Marcos and {INPE}",
               title = "Preserva{\c{c}}{\~a}o da mem{\'o}ria",
            booktitle = "Anais...",
                year = "2009", month = feb,
            keywords = "archive, identifier.", language = "Portugu{\^e}s",
           publisher = {INPE}, abstract = {One.
               Two.},
                 ibi = "8JMKD3MGP8W/34PGRBS, 83LX3pFwXQZeBBx/65ij",
                 url = "http://urlib.net/8JMKD3MGP8W/34PGRBS",
          targetfile = "paper\_1.pdf",
  metadatarepository = "sid.inpe.br/mtc-m18@80/2009/02.16.17.46.30",
         last-update = "2017:05.17.17.45.29 (UTC) banon",
                isbn = "85-1",
      nexthigherunit = {8JMKD3MGPCW/46KUATE 8JMKD3MGPCW/46KUBT5},
      originalorcopy = {Copy}
        }"#,
        );
        let expected = r#"
            type = "InProceedings"
            title = "Preservação da memória"
            creator = ["Banon, Gerald Jean Francis", "Ribeiro, Marcos", "INPE"]
            date = "2009-02"
            subject = ["archive", "identifier"]
            language = "pt"
            publisher = "INPE"
            abstract = "One. Two."
            identifier = ["isbn:85-1", "83LX3pFwXQZeBBx/65ij"]
            [x]
            booktitle = "Anais..."
            citationkey = "BanonBano:2009:OnIde"
        "#;
        assert_eq!(*found.metadata.table(), expected.parse::<toml::Table>().unwrap());
        assert_eq!(found.ibip, Some("8JMKD3MGP8W/34PGRBS".parse().unwrap()));
        assert_eq!(found.target.as_deref(), Some("paper_1.pdf"));
        assert_eq!(found.updated.unwrap().to_string(), "2017-05-17T17:45:29Z");
        assert_eq!(found.state, Some(State::Copy));
        let metadata = "sid.inpe.br/mtc-m18@80/2009/02.16.17.46.30".parse().unwrap();
        assert_eq!(found.relations.first(&RelationKind::Metadata), Some(metadata));
        let units: Vec<_> = found.relations.of(&RelationKind::PartOf).collect();
        assert_eq!(
            units,
            ["8JMKD3MGPCW/46KUATE", "8JMKD3MGPCW/46KUBT5"].map(|it| it.parse().unwrap())
        );
        assert_eq!(found.notes, []);
    }

    #[test]
    fn what_is_odd_is_told_and_kept() {
        let found = describe(
            "@misc{k, title = {A \\frob{b}}, ibip = {8JMKD3MGP8W/34PGRBT nonsense/??}, \
             language = {Klingon}, lastupdate = {yesterday}, tite {x}}",
        );
        let ibip: Ibip = "8JMKD3MGP8W/34PGRBT".parse().unwrap();
        assert_eq!(found.ibip.as_ref(), Some(&ibip));
        let unclear = ["title", "lastupdate", "what is no entry"].map(str::to_owned).to_vec();
        assert_eq!(
            found.notes,
            [
                Note::NoIdentifier { field: "ibip".into(), text: "nonsense/??".into() },
                Note::OtherDate(ibip),
                Note::NotUnderstood(unclear),
            ]
        );
        let own = found.metadata.table()["x"].as_table().unwrap();
        assert_eq!(own["language"].as_str(), Some("Klingon"));
        let raw = own["bibtex"].as_array().unwrap();
        assert_eq!(raw[0].as_str(), Some("title = {A \\frob{b}}"));
        assert_eq!(raw[2].as_str(), Some("tite {x}}"));
    }

    #[test]
    fn the_entry_of_the_item_is_chosen() {
        let other = "@misc{a, title={Other}, repository={dpi.inpe.br/banon/1995/08.08.00.00}}";
        let own = format!("@misc{{b, title={{Own}}, repository={{{NAME}}}}}");
        let found = describe(&format!("{other}\n{own}"));
        assert_eq!(found.metadata.title(), Some("Own"));
        let found = describe(other);
        assert_eq!(found.metadata, Metadata::default());
        assert!(matches!(found.notes[..], [Note::OfAnother(_)]));
        let found = describe("@misc{a, title={A}} @misc{b, title={B}}");
        assert_eq!(found.notes, [Note::Several(2)]);
    }
}

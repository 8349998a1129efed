//! The kind of a work by the term `type`, and its names in other formats: one table.

use super::terms::Terms;

/// The kind of a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Article,
    Book,
    Chapter,
    Paper,
    Proceedings,
    Thesis,
    Report,
    Dataset,
    Software,
    Photograph,
    Image,
    Map,
    Letter,
    Manuscript,
    Sound,
    Video,
    /// Another type, or none.
    Other,
}

/// A kind with its names.
pub(super) struct KindNames {
    pub kind: Kind,
    /// The values of `type`, in lower case and without blanks: those of BibTeX, of DataCite and of refer.
    types: &'static [&'static str],
    /// The general type and the type of DataCite.
    pub general: &'static str,
    pub resource: &'static str,
    /// The entry of BibTeX.
    pub entry: &'static str,
    pub ris: &'static str,
    pub csl: &'static str,
    /// The words in brackets in a reference by APA.
    pub bracket: &'static str,
}

const fn row(
    kind: Kind,
    types: &'static [&'static str],
    [general, resource]: [&'static str; 2],
    [entry, ris, csl]: [&'static str; 3],
    bracket: &'static str,
) -> KindNames {
    KindNames { kind, types, general, resource, entry, ris, csl, bracket }
}

#[rustfmt::skip]
const KINDS: [KindNames; 17] = [
    row(Kind::Article, &["article", "journalarticle"], ["JournalArticle", ""],
        ["article", "JOUR", "article-journal"], ""),
    row(Kind::Book, &["book", "manual", "booklet", "editedbook"], ["Book", ""],
        ["book", "BOOK", "book"], ""),
    row(Kind::Chapter, &["chapter", "incollection", "inbook", "bookchapter", "booksection"],
        ["BookChapter", ""], ["incollection", "CHAP", "chapter"], ""),
    row(Kind::Paper, &["paper", "inproceedings", "conference", "conferencepaper"],
        ["ConferencePaper", ""], ["inproceedings", "CPAPER", "paper-conference"], ""),
    row(Kind::Proceedings, &["proceedings", "conferenceproceeding", "conferenceproceedings"],
        ["ConferenceProceeding", ""], ["proceedings", "CONF", "book"], ""),
    row(Kind::Thesis, &["thesis", "phdthesis", "mastersthesis", "dissertation"],
        ["Dissertation", ""], ["misc", "THES", "thesis"], "Thesis"),
    row(Kind::Report, &["report", "techreport"], ["Report", ""],
        ["techreport", "RPRT", "report"], ""),
    row(Kind::Dataset, &["dataset"], ["Dataset", ""], ["misc", "DATA", "dataset"], "Data set"),
    row(Kind::Software, &["software", "computerprogram"], ["Software", ""],
        ["misc", "COMP", "software"], "Computer software"),
    row(Kind::Photograph, &["photograph"], ["Image", "Photograph"],
        ["misc", "FIGURE", "graphic"], "Photograph"),
    row(Kind::Image, &["image"], ["Image", ""], ["misc", "FIGURE", "graphic"], "Image"),
    row(Kind::Map, &["map"], ["Image", "Map"], ["misc", "MAP", "map"], "Map"),
    row(Kind::Letter, &["letter", "personalcommunication"], ["Text", "Letter"],
        ["misc", "PCOMM", "personal_communication"], "Letter"),
    row(Kind::Manuscript, &["manuscript", "unpublished"], ["Text", "Manuscript"],
        ["unpublished", "UNPB", "manuscript"], "Unpublished manuscript"),
    row(Kind::Sound, &["sound"], ["Sound", ""], ["misc", "SOUND", "song"], "Audio recording"),
    row(Kind::Video, &["video", "audiovisual", "audiovisualmaterial"], ["Audiovisual", ""],
        ["misc", "VIDEO", "motion_picture"], "Video"),
    row(Kind::Other, &[], ["Other", ""], ["misc", "GEN", "document"], ""),
];

impl Kind {
    /// The kind that `text` names, in any case.
    pub(super) fn named(text: &str) -> Kind {
        let folded = folded(text);
        let found = KINDS.iter().find(|row| row.types.contains(&folded.as_str()));
        found.map_or(Kind::Other, |row| row.kind)
    }

    pub(super) fn names(self) -> &'static KindNames {
        KINDS.iter().find(|row| row.kind == self).unwrap_or(&KINDS[KINDS.len() - 1])
    }

    /// Whether the work is a part of a book: a chapter, or a paper in proceedings.
    pub(super) fn is_part(self) -> bool {
        matches!(self, Kind::Chapter | Kind::Paper)
    }

    /// Whether the work has its pages in another one, whose volume and number are given.
    pub(super) fn is_within(self) -> bool {
        self == Kind::Article || self.is_part()
    }

    /// Whether a reference has the day of the work, and not only the year.
    pub(super) fn has_full_date(self) -> bool {
        matches!(self, Kind::Letter | Kind::Photograph | Kind::Image | Kind::Manuscript)
    }
}

/// The `type` of a description as it is compared: `Journal Article` is `journalarticle`.
pub(super) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<String>().to_lowercase()
}

/// The level of a thesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Doctoral,
    Master,
    Bachelor,
    Unknown,
}

/// Levels of theses: their entries in BibTeX, the beginnings of words of a degree, and whole words.
const LEVELS: [(Level, &str, &[&str], &[&str]); 3] = [
    (Level::Doctoral, "phdthesis", &["dout", "doct", "phd"], &[]),
    (Level::Master, "mastersthesis", &["mestr", "master"], &["msc", "ma"]),
    (Level::Bachelor, "", &["grad", "bach", "licenc"], &[]),
];

impl Level {
    /// The level by the type, else by the degree.
    pub(super) fn of(terms: &Terms<'_>) -> Level {
        let entry = folded(&terms.first("type").unwrap_or_default());
        let degree = terms.first("degree").unwrap_or_default().to_lowercase();
        let words: Vec<_> = degree
            .split_whitespace()
            .map(|word| word.chars().filter(|c| c.is_alphabetic()).collect::<String>())
            .collect();
        let by_entry = LEVELS.iter().find(|(_, name, ..)| *name == entry && !entry.is_empty());
        let by_degree = || {
            LEVELS.iter().find(|(_, _, starts, whole)| {
                words.iter().any(|word| {
                    starts.iter().any(|start| word.starts_with(start))
                        || whole.contains(&word.as_str())
                })
            })
        };
        by_entry.or_else(by_degree).map_or(Level::Unknown, |(level, ..)| *level)
    }

    /// The words of APA.
    pub(super) fn bracket(self) -> &'static str {
        match self {
            Level::Doctoral => "Doctoral dissertation",
            Level::Master => "Master's thesis",
            Level::Bachelor => "Bachelor's thesis",
            Level::Unknown => Kind::Thesis.names().bracket,
        }
    }

    /// The words of ABNT.
    pub(super) fn abnt(self) -> &'static str {
        match self {
            Level::Doctoral => "Tese",
            Level::Master => "Dissertação",
            Level::Bachelor => "Trabalho de Conclusão de Curso",
            Level::Unknown => "Trabalho acadêmico",
        }
    }

    /// The entry of BibTeX; a thesis of another level has none of its own.
    pub(super) fn entry(self) -> &'static str {
        match self {
            Level::Doctoral => "phdthesis",
            Level::Master | Level::Bachelor => "mastersthesis",
            Level::Unknown => "misc",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sidecar::Metadata;

    #[test]
    fn types_are_compared_without_case_and_blanks() {
        for (text, kind) in [
            ("JournalArticle", Kind::Article),
            ("Journal Article", Kind::Article),
            ("PHDTHESIS", Kind::Thesis),
            ("dataset", Kind::Dataset),
            ("Audiovisual", Kind::Video),
            ("herbarium", Kind::Other),
            ("", Kind::Other),
        ] {
            assert_eq!(Kind::named(text), kind, "{text}");
        }
        for row in &KINDS {
            assert!(row.types.iter().all(|text| *text == folded(text)));
        }
    }

    #[test]
    fn the_level_is_that_of_the_entry_or_of_the_degree() {
        for (kind, degree, level) in [
            ("phdthesis", "Mestrado", Level::Doctoral),
            ("thesis", "Doutorado em Física", Level::Doctoral),
            ("thesis", "Ph.D.", Level::Doctoral),
            ("thesis", "Mestrado", Level::Master),
            ("thesis", "M.Sc. in Physics", Level::Master),
            ("thesis", "Graduação em Letras", Level::Bachelor),
            ("thesis", "Manual arts", Level::Unknown),
        ] {
            let mut metadata = Metadata::default();
            metadata.add("type", kind).unwrap();
            metadata.add("degree", degree).unwrap();
            let relations = crate::sidecar::Relations::default();
            assert_eq!(Level::of(&Terms::new(&metadata, &relations)), level, "{kind} {degree}");
        }
    }
}

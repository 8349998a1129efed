//! A work as references describe it: the terms of a description, with the rules that all formats share.

use super::date::WorkDate;
use super::kind::{Kind, Level};
use super::mapping::TermMapping;
use super::names::People;
use super::terms::{Terms, doi, one_line};
use crate::collection::UrlBase;
use crate::identity::Instant;
use crate::sidecar::Sidecar;

/// The description of an item, read for a format.
pub(super) struct Work<'a> {
    pub sidecar: &'a Sidecar,
    pub terms: Terms<'a>,
    pub kind: Kind,
    pub date: WorkDate,
    pub doi: Option<String>,
    /// The persistent URL.
    pub url: String,
    /// The day of rendering, on which the reader has access.
    pub accessed: Instant,
}

/// The pages of a work in another one, or their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    Range(String, String),
    /// One page, or pages that are no range, as typed.
    Some(String),
    /// The number of all pages.
    Total(String),
}

impl<'a> Work<'a> {
    /// The work of `sidecar`, as read at `now`. Persistent URLs begin with `base`.
    pub(super) fn of(sidecar: &'a Sidecar, base: &UrlBase, now: Instant) -> Work<'a> {
        let terms = Terms::of(sidecar);
        let doi = terms.values("identifier").iter().find_map(|text| doi(text).map(one_line));
        Work {
            kind: Kind::named(&terms.first("type").unwrap_or_default()),
            date: WorkDate::of(&terms),
            doi,
            url: base.join(&sidecar.repository),
            accessed: now,
            sidecar,
            terms,
        }
    }

    /// The values of a term, each on one line.
    pub(super) fn texts(&self, term: &str) -> Vec<String> {
        let texts = self.terms.values(term).into_iter().map(|text| one_line(&text));
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// The first value of a term, on one line.
    pub(super) fn text(&self, term: &str) -> Option<String> {
        self.texts(term).into_iter().next()
    }

    /// The values of the terms that a format has, each on one line.
    pub(super) fn mapped(&self, is_wanted: impl Fn(&TermMapping) -> bool) -> Vec<String> {
        let texts = self.terms.mapped(is_wanted).into_iter().map(|text| one_line(&text));
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// The people with this role.
    pub(super) fn people(&self, role: &str) -> People {
        People::of(self.terms.values(role))
    }

    /// The publishers. An institution stands for one that is missing, and is that of a thesis.
    pub(super) fn publishers(&self) -> Vec<String> {
        let order = match self.kind {
            Kind::Thesis => ["institution", "publisher"],
            _ => ["publisher", "institution"],
        };
        order.map(|term| self.texts(term)).into_iter().find(|it| !it.is_empty()).unwrap_or_default()
    }

    pub(super) fn publisher(&self) -> Option<String> {
        self.publishers().into_iter().next()
    }

    /// The journal or book that has the work in it.
    pub(super) fn container(&self) -> Option<String> {
        let order = match self.kind {
            kind if kind.is_part() => ["booktitle", "journal"],
            _ => ["journal", "booktitle"],
        };
        order.iter().find_map(|term| self.text(term))
    }

    /// The pages. One number is that of all pages, unless the work stands in another one.
    pub(super) fn pages(&self) -> Option<Pages> {
        let text = self.text("pages")?;
        if !self.kind.is_within() && text.bytes().all(|it| it.is_ascii_digit()) {
            return Some(Pages::Total(text));
        }
        Some(Pages::read(&text))
    }

    /// The extents, or that of the `pages` with this unit.
    pub(super) fn extents(&self, unit: &str) -> Vec<String> {
        let extents = self.texts("extent");
        match self.pages() {
            Some(Pages::Total(number)) if extents.is_empty() => vec![format!("{number} {unit}")],
            _ => extents,
        }
    }

    pub(super) fn level(&self) -> Level {
        Level::of(&self.terms)
    }

    /// The language of the work without its region; none if it is not known.
    pub(super) fn language(&self) -> Option<String> {
        let tag = self.text("language")?.to_lowercase();
        tag.split(['-', '_']).next().map(str::to_owned)
    }

    /// Whether the words of a reference are Portuguese: those of ABNT are, unless the work is in another language.
    pub(super) fn is_portuguese(&self) -> bool {
        self.language().is_none_or(|language| language == "pt")
    }

    /// The kind in the words of APA, without names.
    pub(super) fn bracket(&self) -> Option<&'static str> {
        let bracket = match self.kind {
            Kind::Thesis => self.level().bracket(),
            kind => kind.names().bracket,
        };
        (!bracket.is_empty()).then_some(bracket)
    }

    /// Whether it is an article of a newspaper: one of a day, without a volume.
    pub(super) fn is_of_newspaper(&self) -> bool {
        self.kind == Kind::Article && self.date.is_day() && self.text("volume").is_none()
    }

    /// The name of a thesis by ABNT: `Tese (Doutorado em Física)`.
    pub(super) fn thesis(&self) -> String {
        let name = if self.is_portuguese() { self.level().abnt() } else { "Thesis" };
        match self.text("degree") {
            Some(degree) => format!("{name} ({degree})"),
            None => name.to_owned(),
        }
    }
}

impl Pages {
    fn read(text: &str) -> Pages {
        let is_dash = |c: char| ['-', '‐', '–', '—'].contains(&c);
        let range = text.find(is_dash).and_then(|at| {
            let (first, rest) = text.split_at(at);
            let (first, last) = (first.trim(), rest.trim_start_matches(is_dash).trim());
            let is_number = |part: &str| {
                let roman = |c: char| "ivxlcdmIVXLCDM".contains(c);
                let is_whole = part.chars().all(char::is_alphanumeric);
                let is_roman = !part.is_empty() && part.chars().all(roman);
                is_whole && (is_roman || part.contains(|c: char| c.is_ascii_digit()))
            };
            (is_number(first) && is_number(last)).then(|| (first.to_owned(), last.to_owned()))
        });
        match range {
            Some((first, last)) => Pages::Range(first, last),
            None => Pages::Some(text.to_owned()),
        }
    }

    /// The first page, and the last one if there are several.
    pub(super) fn ends(&self) -> (&str, Option<&str>) {
        match self {
            Pages::Range(first, last) => (first, Some(last)),
            Pages::Some(text) | Pages::Total(text) => (text, None),
        }
    }

    /// The pages with `dash` between the first and the last one.
    pub(super) fn text(&self, dash: &str) -> String {
        match self.ends() {
            (first, Some(last)) => format!("{first}{dash}{last}"),
            (text, None) => text.to_owned(),
        }
    }

    /// Whether they are several pages.
    pub(super) fn are_several(&self) -> bool {
        match self {
            Pages::Range(..) => true,
            Pages::Some(text) | Pages::Total(text) => text.contains([',', '-', '–', ' ']),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_a_range_or_as_typed() {
        for (text, first, last) in [
            ("7-16", "7", Some("16")),
            ("7--16", "7", Some("16")),
            ("7 – 16", "7", Some("16")),
            ("xii-xx", "xii", Some("xx")),
            ("e7-e16", "e7", Some("e16")),
            ("7", "7", None),
            ("A-3", "A-3", None),
            ("7-9, 12", "7-9, 12", None),
            ("-", "-", None),
            ("7-", "7-", None),
        ] {
            let pages = Pages::read(text);
            assert_eq!(pages.ends(), (first, last), "{text}");
        }
        assert!(Pages::read("7-9").are_several() && Pages::read("7, 9").are_several());
        assert!(!Pages::read("7").are_several());
    }
}

//! The date of a work in references.
//!
//! A reference says what is known of the date, and nothing else: a decade stays a decade, and the deposit dates no work. The
//! forms are those of ABNT NBR 6023:2018 (8.6) and of APA (7th edition, 9.14); those of DataCite are ISO 8601, those of CSL
//! and RIS their own.

use serde_json::{Value, json};

use super::terms::{Terms, one_line};
use crate::identity::Instant;
use crate::sidecar::edtf;

/// The date of a work.
#[derive(Debug)]
pub(super) enum WorkDate {
    /// There is none.
    Unknown,
    /// A text that is not EDTF, as adopted descriptions have.
    Text(String),
    /// One date.
    Single(Years),
    /// From one date to another.
    Between(Years, Years),
    /// It goes on (`1950/..`), or nobody knows whether it does (`1950/`).
    Since(Years, Continuation),
    /// The beginning is not known.
    Until(Years),
}

/// The end of an interval without a last date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continuation {
    Open,
    Unknown,
}

/// The years that a date may mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Years {
    first: i64,
    last: i64,
    /// `?` for an uncertain date, `~` for an approximate one, `%` for both.
    mark: Option<char>,
    detail: Detail,
}

/// The part of its year that a date names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Whole,
    /// Spring is the first one.
    Season(u32),
    Month(u32),
    Day(u32, u32),
}

/// Names of months, by ABNT and by APA.
const MONTHS: [(&str, &str); 12] = [
    ("jan.", "January"),
    ("fev.", "February"),
    ("mar.", "March"),
    ("abr.", "April"),
    ("maio", "May"),
    ("jun.", "June"),
    ("jul.", "July"),
    ("ago.", "August"),
    ("set.", "September"),
    ("out.", "October"),
    ("nov.", "November"),
    ("dez.", "December"),
];

/// Names of seasons, by ABNT and by APA.
const SEASONS: [(&str, &str); 4] =
    [("primavera", "Spring"), ("verão", "Summer"), ("outono", "Autumn"), ("inverno", "Winter")];

/// The day of `now` as ABNT writes it: `29 nov. 2026`.
pub(super) fn abnt_day(now: Instant) -> String {
    let civil = now.civil();
    format!("{} {} {}", civil.day, name_of(&MONTHS, civil.month).0, civil.year)
}

/// The day of `now` in CSL.
pub(super) fn csl_day(now: Instant) -> Value {
    let civil = now.civil();
    let year = i64::try_from(civil.year).unwrap_or_default();
    json!({ "date-parts": [[year, civil.month, civil.day]] })
}

/// The name of the month or season with this number, which is 1 for the first one.
fn name_of(names: &[(&'static str, &'static str)], number: u32) -> (&'static str, &'static str) {
    let at = usize::try_from(number).unwrap_or_default().wrapping_sub(1);
    names.get(at).copied().unwrap_or_default()
}

impl WorkDate {
    /// The date of the work that `terms` describe: `issued`, else `date`.
    pub(super) fn of(terms: &Terms<'_>) -> WorkDate {
        terms.all(&["issued", "date"]).first().map_or(WorkDate::Unknown, |it| WorkDate::read(it))
    }

    fn read(text: &str) -> WorkDate {
        let text = one_line(text);
        let text = text.as_str();
        let interval = || {
            let years = Years::of;
            Some(match text.split_once('/') {
                None => WorkDate::Single(years(text)?),
                Some((first, "..")) => WorkDate::Since(years(first)?, Continuation::Open),
                Some((first, "")) => WorkDate::Since(years(first)?, Continuation::Unknown),
                Some((".." | "", last)) => WorkDate::Until(years(last)?),
                Some((first, last)) => WorkDate::Between(years(first)?, years(last)?),
            })
        };
        let read = edtf::check(text).ok().and_then(|()| interval());
        read.unwrap_or_else(|| WorkDate::Text(text.to_owned()))
    }

    /// The year in a reference by ABNT.
    pub(super) fn abnt(&self) -> String {
        match self {
            WorkDate::Unknown => "[s. d.]".to_owned(),
            WorkDate::Text(text) => text.clone(),
            WorkDate::Single(years) => years.abnt(),
            WorkDate::Since(years, _) => format!("{}-", years.abnt()),
            WorkDate::Until(years) => format!("[até {}]", abnt_year(years.last)),
            WorkDate::Between(first, last) => match (first.known(), last.known()) {
                (Some(first), Some(last)) if first == last => abnt_year(first),
                (Some(first), Some(last)) => format!("{}-{}", abnt_year(first), abnt_year(last)),
                _ => between(first.first, last.last),
            },
        }
    }

    /// The year in a reference by APA, without its parentheses.
    pub(super) fn apa(&self) -> String {
        match self {
            WorkDate::Unknown => "n.d.".to_owned(),
            WorkDate::Text(text) => text.clone(),
            WorkDate::Single(years) => years.apa(),
            WorkDate::Since(years, Continuation::Open) => format!("{}–present", years.apa()),
            WorkDate::Since(years, Continuation::Unknown) => format!("{}–?", years.apa()),
            WorkDate::Until(years) => format!("before {}", apa_year(years.last + 1)),
            WorkDate::Between(first, last) => {
                let whole = Years { last: last.last, ..*first };
                match (first.known(), last.known()) {
                    (Some(_), Some(_)) => whole.apa_range(),
                    _ => format!("ca. {}", whole.apa_range()),
                }
            }
        }
    }

    /// The date in a reference by ABNT, with day and month if they are certain.
    pub(super) fn abnt_full(&self) -> String {
        let full = match self {
            WorkDate::Single(years) => years.abnt_full(),
            WorkDate::Between(first, last) => first.abnt_full_to(last),
            _ => None,
        };
        full.unwrap_or_else(|| self.abnt())
    }

    /// The date in a reference by APA, with day and month if they are certain.
    pub(super) fn apa_full(&self) -> String {
        let full = match self {
            WorkDate::Single(years) => years.known().zip(years.detail.apa()),
            _ => None,
        };
        full.map_or_else(|| self.apa(), |(year, detail)| format!("{}, {detail}", apa_year(year)))
    }

    /// Whether a day is all that the date says, as that of a newspaper.
    pub(super) fn is_day(&self) -> bool {
        matches!(self, WorkDate::Single(Years { detail: Detail::Day(..), mark: None, .. }))
    }

    /// The date in CSL: numbers where it has any, else the text of APA.
    pub(super) fn csl(&self) -> Option<Value> {
        let dates = match self {
            WorkDate::Unknown => return None,
            WorkDate::Single(years) => vec![*years],
            WorkDate::Between(first, last) => vec![*first, *last],
            _ => Vec::new(),
        };
        let parts: Option<Vec<_>> = dates.iter().map(Years::parts).collect();
        let Some(mut parts) = parts.filter(|parts| !parts.is_empty()) else {
            return Some(json!({ "literal": self.apa() }));
        };
        parts.dedup();
        let mut date = json!({ "date-parts": parts });
        if dates.iter().any(|years| years.mark.is_some()) {
            date["circa"] = true.into();
        }
        if let [Years { detail: Detail::Season(season), .. }] = dates.as_slice() {
            date["season"] = (*season).into();
        }
        Some(date)
    }

    /// The values of `PY` and `DA` in RIS: the year if it is certain, and the date if that is more than a year.
    pub(super) fn ris(&self) -> (Option<String>, Option<String>) {
        let certain = match self {
            WorkDate::Unknown => return (None, None),
            WorkDate::Single(years) => years.known().map(|year| (year, years.detail)),
            WorkDate::Between(first, last) => first
                .known()
                .filter(|year| last.known() == Some(*year))
                .map(|it| (it, Detail::Whole)),
            _ => None,
        };
        let Some((year, detail)) = certain.filter(|(year, _)| (1..=9999).contains(year)) else {
            return (None, Some(format!("///{}", self.apa())));
        };
        let date = match detail {
            Detail::Whole => None,
            Detail::Season(season) => Some(format!("{year:04}///{}", name_of(&SEASONS, season).1)),
            Detail::Month(month) => Some(format!("{year:04}/{month:02}//")),
            Detail::Day(month, day) => Some(format!("{year:04}/{month:02}/{day:02}/")),
        };
        (Some(format!("{year:04}")), date)
    }

    /// The year in four digits, if the date has one: that of publication in DataCite.
    pub(super) fn year(&self) -> Option<String> {
        let year = match self {
            WorkDate::Unknown | WorkDate::Text(_) | WorkDate::Until(_) => None,
            WorkDate::Single(years) | WorkDate::Since(years, _) => years.only(),
            WorkDate::Between(first, last) => last.known().and_then(|_| first.known()),
        };
        let year = year.filter(|year| (0..=9999).contains(year))?;
        Some(format!("{year:04}"))
    }
}

impl Years {
    /// The years of a date that is not an interval; `None` for a text that is not a date.
    fn of(text: &str) -> Option<Years> {
        let (first, last) = edtf::days(text)?;
        let year = |day: i64| day.div_euclid(edtf::DAYS_IN_YEAR);
        let mark = text.chars().next_back().filter(|it| ['?', '~', '%'].contains(it));
        Some(Years { first: year(first), last: year(last), mark, detail: Detail::of(text) })
    }

    /// The year, if there is only one.
    fn only(&self) -> Option<i64> {
        (self.first == self.last).then_some(self.first)
    }

    /// The year, if it is certain.
    fn known(&self) -> Option<i64> {
        self.only().filter(|_| self.mark.is_none())
    }

    /// The numbers of the date in CSL, if the year is one after Christ.
    fn parts(&self) -> Option<Vec<i64>> {
        let mut parts = vec![self.only().filter(|year| *year > 0)?];
        match self.detail {
            Detail::Whole | Detail::Season(_) => {}
            Detail::Month(month) => parts.push(month.into()),
            Detail::Day(month, day) => parts.extend([i64::from(month), i64::from(day)]),
        }
        Some(parts)
    }

    fn abnt_full(&self) -> Option<String> {
        Some(format!("{} {}", self.detail.abnt()?, abnt_year(self.known()?)))
    }

    /// The dates from this one to `last`: `jan./abr. 2014`, `12/14 maio 1911`.
    fn abnt_full_to(&self, last: &Years) -> Option<String> {
        let (whole, end) = (self.abnt_full()?, last.abnt_full()?);
        let begin = match (self.detail, last.detail) {
            _ if whole == end => return Some(end),
            _ if self.first != last.first => whole,
            (Detail::Day(month, day), Detail::Day(other, _)) if month == other => day.to_string(),
            (detail, _) => detail.abnt()?,
        };
        Some(format!("{begin}/{end}"))
    }

    fn abnt(&self) -> String {
        let question = if matches!(self.mark, Some('?' | '%')) { "?" } else { "" };
        let circa = if matches!(self.mark, Some('~' | '%')) { "ca. " } else { "" };
        match (self.only(), self.last - self.first) {
            (Some(year), _) if self.mark.is_none() => abnt_year(year),
            (Some(year), _) => format!("[{circa}{}{question}]", abnt_year(year)),
            (None, 9) if self.first >= 0 => {
                format!("[{circa}{:03}-{question}]", self.first / 10)
            }
            (None, 99) if self.first >= 0 => {
                format!("[{circa}{:02}--{question}]", self.first / 100)
            }
            (None, _) => between(self.first, self.last),
        }
    }

    fn apa(&self) -> String {
        let circa = if self.known().is_some() { "" } else { "ca. " };
        format!("{circa}{}", self.apa_range())
    }

    fn apa_range(&self) -> String {
        if self.only().is_some() {
            return apa_year(self.first);
        }
        format!("{}–{}", apa_year(self.first), apa_year(self.last))
    }
}

impl Detail {
    /// The detail of a date that is not an interval.
    fn of(text: &str) -> Detail {
        let day = text.split('T').next().unwrap_or_default();
        // The sign of a year is no hyphen between parts.
        let mut parts =
            day.trim_start_matches('-').trim_end_matches(['?', '~', '%']).split('-').skip(1);
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
        match (number(), number()) {
            (Some(season @ 21..=24), _) => Detail::Season(season - 20),
            (Some(month @ 1..=12), Some(day)) => Detail::Day(month, day),
            (Some(month @ 1..=12), None) => Detail::Month(month),
            _ => Detail::Whole,
        }
    }

    /// `12 maio`, `jan.`, `inverno`.
    fn abnt(self) -> Option<String> {
        match self {
            Detail::Whole => None,
            Detail::Season(season) => Some(name_of(&SEASONS, season).0.to_owned()),
            Detail::Month(month) => Some(name_of(&MONTHS, month).0.to_owned()),
            Detail::Day(month, day) => Some(format!("{day} {}", name_of(&MONTHS, month).0)),
        }
    }

    /// `May 12`, `January`, `Winter`.
    fn apa(self) -> Option<String> {
        match self {
            Detail::Whole => None,
            Detail::Season(season) => Some(name_of(&SEASONS, season).1.to_owned()),
            Detail::Month(month) => Some(name_of(&MONTHS, month).1.to_owned()),
            Detail::Day(month, day) => Some(format!("{} {day}", name_of(&MONTHS, month).1)),
        }
    }
}

fn between(first: i64, last: i64) -> String {
    format!("[entre {} e {}]", abnt_year(first), abnt_year(last))
}

fn abnt_year(year: i64) -> String {
    in_era(year, " a.C.")
}

fn apa_year(year: i64) -> String {
    in_era(year, " B.C.E.")
}

/// The year 0 of EDTF is the year 1 before Christ.
fn in_era(year: i64, before_christ: &str) -> String {
    if year > 0 { year.to_string() } else { format!("{}{before_christ}", 1 - year) }
}

/// The date `text` as DataCite takes dates, by ISO 8601, and whether that says something else than `text`; `None` for one
/// that it cannot take.
pub(super) fn iso(text: &str) -> Option<(String, bool)> {
    let text = text.trim();
    edtf::check(text).ok()?;
    let whole = match text.split_once('/') {
        None => iso_part(text)?,
        Some((first, ".." | "")) => format!("{}/", iso_part(first)?),
        Some((".." | "", last)) => format!("/{}", iso_part(last)?),
        Some((first, last)) => {
            let (first, last) = (iso_part(first)?, iso_part(last)?);
            // Decades are intervals themselves.
            let begin = first.split('/').next().unwrap_or_default();
            format!("{begin}/{}", last.rsplit('/').next().unwrap_or_default())
        }
    };
    let is_open = text.contains("..");
    let is_other = whole != text && !is_open;
    Some((whole, is_other))
}

fn iso_part(text: &str) -> Option<String> {
    let Years { first, last, mark, .. } = Years::of(text)?;
    let bare = mark.map_or(text, |mark| text.trim_end_matches(mark));
    // Seasons and years of more than four digits are of EDTF alone.
    let month = bare.get(5..7).and_then(|it| it.parse::<u32>().ok());
    if bare.starts_with('Y') || month.is_some_and(|it| it > 12) {
        return None;
    }
    if first == last {
        return Some(bare.trim_end_matches("-XX").to_owned());
    }
    (first >= 0).then(|| format!("{first:04}/{last:04}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms of ABNT, APA, the year and the date of DataCite.
    #[test]
    fn a_reference_says_what_is_known() {
        for (text, abnt, apa, year, date) in [
            ("1911", "1911", "1911", "1911", "1911"),
            ("1911-05-12", "1911", "1911", "1911", "1911-05-12"),
            ("1911-05-12T10:00:00Z", "1911", "1911", "1911", "1911-05-12T10:00:00Z"),
            ("1911?", "[1911?]", "ca. 1911", "1911", "1911 !"),
            ("1911~", "[ca. 1911]", "ca. 1911", "1911", "1911 !"),
            ("1911-03%", "[ca. 1911?]", "ca. 1911", "1911", "1911-03 !"),
            ("1911-XX-XX", "1911", "1911", "1911", "1911 !"),
            ("187X", "[187-]", "ca. 1870–1879", "", "1870/1879 !"),
            ("190X?", "[190-?]", "ca. 1900–1909", "", "1900/1909 !"),
            ("17XX", "[17--]", "ca. 1700–1799", "", "1700/1799 !"),
            ("09XX", "[09--]", "ca. 900–999", "", "0900/0999 !"),
            ("1926/1940", "1926-1940", "1926–1940", "1926", "1926/1940"),
            ("2014-01/2014-04", "2014", "2014", "2014", "2014-01/2014-04"),
            ("1906?/1912?", "[entre 1906 e 1912]", "ca. 1906–1912", "", "1906/1912 !"),
            ("187X/1912", "[entre 1870 e 1912]", "ca. 1870–1912", "", "1870/1912 !"),
            ("1950/..", "1950-", "1950–present", "1950", "1950/"),
            ("1950/", "1950-", "1950–?", "1950", "1950/"),
            ("../1911", "[até 1911]", "before 1912", "", "/1911"),
            ("/1899", "[até 1899]", "before 1900", "", "/1899"),
            ("1911-24", "1911", "1911", "1911", "-"),
            ("-0379", "380 a.C.", "380 B.C.E.", "", "-0379"),
            ("0000", "1 a.C.", "1 B.C.E.", "0000", "0000"),
            ("-0044/-0031", "45 a.C.-32 a.C.", "45 B.C.E.–32 B.C.E.", "", "-0044/-0031"),
            ("-00XX", "[entre 100 a.C. e 1 a.C.]", "ca. 100 B.C.E.–1 B.C.E.", "", "-"),
            ("Y17000", "17000", "17000", "", "-"),
            ("last spring", "last spring", "last spring", "", "-"),
            ("12/03/1911", "12/03/1911", "12/03/1911", "", "-"),
        ] {
            let found = WorkDate::read(text);
            assert_eq!((found.abnt(), found.apa()), (abnt.to_owned(), apa.to_owned()), "{text}");
            assert_eq!(found.year().unwrap_or_default(), year, "{text}");
            let iso = match iso(text) {
                Some((date, true)) => format!("{date} !"),
                Some((date, false)) => date,
                None => "-".to_owned(),
            };
            assert_eq!(iso, date, "{text}");
        }
        let unknown = [WorkDate::Unknown.abnt(), WorkDate::Unknown.apa()];
        assert_eq!(unknown, ["[s. d.]", "n.d."]);
    }

    /// The full forms of ABNT and APA, CSL, and `PY` and `DA` of RIS.
    #[test]
    #[expect(clippy::too_many_lines, reason = "it is a table")]
    fn days_months_and_seasons_are_kept_where_they_are_wanted() {
        for (text, abnt, apa, csl, ris) in [
            ("1911", "1911", "1911", r#"{"date-parts":[[1911]]}"#, "1911 "),
            (
                "1911-05-12",
                "12 maio 1911",
                "1911, May 12",
                r#"{"date-parts":[[1911,5,12]]}"#,
                "1911 1911/05/12/",
            ),
            (
                "1911-05-12T10:00:00Z",
                "12 maio 1911",
                "1911, May 12",
                r#"{"date-parts":[[1911,5,12]]}"#,
                "1911 1911/05/12/",
            ),
            (
                "1911-05-XX",
                "maio 1911",
                "1911, May",
                r#"{"date-parts":[[1911,5]]}"#,
                "1911 1911/05//",
            ),
            (
                "1911-24",
                "inverno 1911",
                "1911, Winter",
                r#"{"date-parts":[[1911]],"season":4}"#,
                "1911 1911///Winter",
            ),
            (
                "2014-01/2014-04",
                "jan./abr. 2014",
                "2014",
                r#"{"date-parts":[[2014,1],[2014,4]]}"#,
                "2014 ",
            ),
            (
                "2013-12/2014-01",
                "dez. 2013/jan. 2014",
                "2013–2014",
                r#"{"date-parts":[[2013,12],[2014,1]]}"#,
                " ///2013–2014",
            ),
            (
                "1911-05-12/1911-05-14",
                "12/14 maio 1911",
                "1911",
                r#"{"date-parts":[[1911,5,12],[1911,5,14]]}"#,
                "1911 ",
            ),
            (
                "1911-05?",
                "[1911?]",
                "ca. 1911",
                r#"{"circa":true,"date-parts":[[1911,5]]}"#,
                " ///ca. 1911",
            ),
            (
                "1906?/1912?",
                "[entre 1906 e 1912]",
                "ca. 1906–1912",
                r#"{"circa":true,"date-parts":[[1906],[1912]]}"#,
                " ///ca. 1906–1912",
            ),
            (
                "190X",
                "[190-]",
                "ca. 1900–1909",
                r#"{"literal":"ca. 1900–1909"}"#,
                " ///ca. 1900–1909",
            ),
            (
                "1950/..",
                "1950-",
                "1950–present",
                r#"{"literal":"1950–present"}"#,
                " ///1950–present",
            ),
            (
                "../1911",
                "[até 1911]",
                "before 1912",
                r#"{"literal":"before 1912"}"#,
                " ///before 1912",
            ),
            (
                "-0379-05",
                "maio 380 a.C.",
                "380 B.C.E., May",
                r#"{"literal":"380 B.C.E."}"#,
                " ///380 B.C.E.",
            ),
            (
                "last\nspring",
                "last spring",
                "last spring",
                r#"{"literal":"last spring"}"#,
                " ///last spring",
            ),
        ] {
            let date = WorkDate::read(text);
            assert_eq!(
                (date.abnt_full().as_str(), date.apa_full().as_str()),
                (abnt, apa),
                "{text}"
            );
            assert_eq!(date.csl().unwrap().to_string(), csl, "{text}");
            let (year, day) = date.ris();
            let found = format!("{} {}", year.unwrap_or_default(), day.unwrap_or_default());
            assert_eq!(found, ris, "{text}");
        }
        assert_eq!((WorkDate::Unknown.csl(), WorkDate::Unknown.ris()), (None, (None, None)));
    }
}

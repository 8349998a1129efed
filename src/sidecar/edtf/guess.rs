//! The probable meaning of dates in spreadsheets and letters.

use chrono::{Days, NaiveDate};

use super::months::month_number;
use super::{FIRST_SERIAL, is_edtf};

/// The order of day and month in a date of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// `31/12/2020`, as in most countries.
    DayFirst,
    /// `12/31/2020`, as in the United States.
    MonthFirst,
}

/// The last day that a spreadsheet can count to, in the year 9999.
const LAST_SERIAL: u64 = 2_958_465;

/// All dates that `text` probably means.
pub(super) fn meanings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(in_order(text, DateOrder::DayFirst));
    found.extend(in_order(text, DateOrder::MonthFirst));
    found.extend(serial(text));
    found.extend(compact(text));
    found.extend(about(text));
    found.extend(years(text));
    found.retain(|date| is_edtf(date));
    let mut kept: Vec<String> = Vec::new();
    for date in found {
        if !kept.contains(&date) {
            kept.push(date);
        }
    }
    kept
}

/// The date that numbers, or words with a year, mean in the given order.
pub(super) fn in_order(text: &str, order: DateOrder) -> Option<String> {
    numbers(text, order).or_else(|| words(text))
}

/// `31/12/2020`, `31.12.2020`, `2020/12/31` and `12/2020`.
fn numbers(text: &str, order: DateOrder) -> Option<String> {
    let separator = text.chars().find(|it| "/.-".contains(*it))?;
    let parts: Vec<&str> = text.split(separator).map(str::trim).collect();
    let is_number =
        |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|it| it.is_ascii_digit());
    if !parts.iter().all(is_number) {
        return None;
    }
    let (year, month, day) = match parts.as_slice() {
        [year, month, day] if year.len() == 4 => (*year, *month, Some(*day)),
        [first, second, year] if year.len() == 4 => match order {
            DateOrder::DayFirst => (*year, *second, Some(*first)),
            DateOrder::MonthFirst => (*year, *first, Some(*second)),
        },
        // Day or month may be first.
        [year, month] | [month, year] if year.len() == 4 && month.len() < 3 => {
            (*year, *month, None)
        }
        _ => return None,
    };
    date(year, month.parse().ok()?, day)
}

/// `31 de dezembro de 2020`, `December 31, 2020`, `31-dez-2020` and `março de 1911`.
fn words(text: &str) -> Option<String> {
    let (mut year, mut month, mut day) = (None, None, None);
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | '.' | '-' | '/');
    for word in text.split(is_between).filter(|word| !word.is_empty()) {
        let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        let is_digits = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        let ending = &word[digits.len()..];
        let before = if is_digits && digits.len() == 4 && ending.is_empty() {
            year.replace(digits)
        } else if is_digits && digits.len() < 3 && is_ordinal(ending) {
            day.replace(digits)
        } else if let Some(number) = month_number(word) {
            if month.replace(number).is_some() {
                return None;
            }
            continue;
        } else if matches!(word.to_lowercase().as_str(), "de" | "do" | "del" | "of") {
            continue;
        } else {
            return None;
        };
        if before.is_some() {
            return None;
        }
    }
    date(year?, month?, day)
}

/// The first day of a month is written `1º`, `1er`, `1st`.
fn is_ordinal(ending: &str) -> bool {
    matches!(ending, "" | "º" | "°" | "o" | "er" | "st" | "nd" | "rd" | "th")
}

fn date(year: &str, month: u32, day: Option<&str>) -> Option<String> {
    let text = match day {
        Some(day) => format!("{year}-{month:02}-{:02}", day.parse::<u32>().ok()?),
        None => format!("{year}-{month:02}"),
    };
    // A season is not the month 21 of a spreadsheet.
    (month <= 12 && is_edtf(&text)).then_some(text)
}

/// The day that a spreadsheet counts from the end of 1899, perhaps with a time: `45231` is 2023-11-01.
pub(super) fn serial(text: &str) -> Option<String> {
    let (days, rest) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    if days.len() > 7 || !rest.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let is_number = days.bytes().all(|it| it.is_ascii_digit());
    let days: u64 = is_number.then(|| days.parse().ok())??;
    let first = NaiveDate::from_ymd_opt(1899, 12, 30)?;
    let day = (FIRST_SERIAL..=LAST_SERIAL)
        .contains(&days)
        .then(|| first.checked_add_days(Days::new(days)))??;
    Some(day.format("%Y-%m-%d").to_string())
}

/// `19110312`, the short form of ISO 8601.
fn compact(text: &str) -> Option<String> {
    let is_compact = text.len() == 8 && text.bytes().all(|it| it.is_ascii_digit());
    is_compact.then(|| format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]))
}

/// `c. 1911`, `ca. 1911`, `cerca de 1911`.
fn about(text: &str) -> Option<String> {
    const WORDS: [&str; 9] =
        ["cerca de ", "circa ", "about ", "um ", "vers ", "hacia ", "ca. ", "ca ", "c. "];
    let lower = text.to_lowercase();
    let year = WORDS.iter().find_map(|word| lower.strip_prefix(word))?.trim();
    let is_year = year.len() == 4 && year.bytes().all(|it| it.is_ascii_digit());
    is_year.then(|| format!("{year}~"))
}

/// `1911-1912` and `1911 - 1912`.
fn years(text: &str) -> Option<String> {
    let (first, last) = text.split_once(['-', '–'])?;
    let (first, last) = (first.trim(), last.trim());
    let is_year = |it: &str| it.len() == 4 && it.bytes().all(|it| it.is_ascii_digit());
    (is_year(first) && is_year(last)).then(|| format!("{first}/{last}"))
}

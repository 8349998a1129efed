//! Numbers and durations for people, both ways.

use std::ops::Range;
use std::time::Duration;

use unicode_width::UnicodeWidthStr as _;
use urepo::identity::{Instant, RepositoryName};

use super::escape;

/// Bytes in the largest unit that leaves at least one before the point: `1.4 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let power = count.ilog2() / 10;
    let tenths = u128::from(count) * 10 / (1_u128 << (10 * power));
    let unit = UNITS[power as usize - 1];
    if tenths < 100 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix("ry")) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ries"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// `1 Copy`, `2 Copies`.
pub(crate) fn copies(number: u64) -> String {
    format!("{number} {}", if number == 1 { "Copy" } else { "Copies" })
}

/// An identifier: from the year on, if that is `short`.
pub(crate) fn identifier(name: &RepositoryName, is_short: bool) -> &str {
    let year = name.as_str().match_indices('/').nth(1).filter(|_| is_short);
    year.map_or(name.as_str(), |(slash, _)| &name.as_str()[slash + 1..])
}

/// The line on items of a list that are left out.
pub(crate) fn and_more(items: usize) -> String {
    format!("and {}; `-v` names each", count(items as u64, "more item"))
}

/// `1 of 2 links is`, `2 of 3 links are`: the verb that agrees with the number before `of`.
pub(crate) fn is_or_are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// `was` or `were`, likewise.
pub(crate) fn was_or_were(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

/// `it` or `them`, likewise.
pub(crate) fn it_or_them(number: u64) -> &'static str {
    if number == 1 { "it" } else { "them" }
}

/// Lines of keys and values, with aligned values.
pub(crate) fn fields(fields: &[(impl AsRef<str>, impl AsRef<str>)]) -> String {
    let width = fields.iter().map(|(key, _)| key.as_ref().width()).max().unwrap_or(0).max(9);
    let line = |(key, value): &(_, _)| {
        let (key, value) = (AsRef::<str>::as_ref(key), AsRef::<str>::as_ref(value));
        format!("{key}{:pad$}{}\n", "", escape::one_line(value), pad = width + 2 - key.width())
    };
    fields.iter().map(line).collect()
}

/// The lines of columns, of which those in `right` are aligned to the right. A row may be short.
pub(crate) fn columns<R: AsRef<[String]>>(rows: &[R], right: Range<usize>) -> Vec<String> {
    let cells: Vec<&[String]> = rows.iter().map(AsRef::as_ref).collect();
    let most = cells.iter().map(|row| row.len()).max().unwrap_or(0);
    // The last one of a row may be as wide as it likes.
    let width = |at: usize| {
        let inner = cells.iter().filter(|row| at + 1 < row.len());
        inner.map(|row| row[at].width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..most).map(width).collect();
    let line = |row: &[String]| {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[at].saturating_sub(cell.as_str().width()));
            line += &if right.contains(&at) { pad + cell } else { format!("{cell}{pad}") };
            line += "  ";
        }
        line.truncate(line.trim_end().len());
        line
    };
    cells.into_iter().map(line).collect()
}

/// A day: `2026-11-21`.
pub(crate) fn date(time: Instant) -> String {
    time.to_string()[..10].to_owned()
}

/// A minute: `2026-11-21 07:20`.
pub(crate) fn minute(time: Instant) -> String {
    time.to_string()[..16].replace('T', " ")
}

/// A day: `21 Nov`, or with the year if that is not the one of `now`.
pub(crate) fn day(time: Instant, now: Instant) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let civil = time.civil();
    match MONTHS.get(civil.month as usize - 1) {
        Some(month) if civil.year == now.civil().year => format!("{} {month}", civil.day),
        _ => date(time),
    }
}

/// Items and their size: `1 item, 2 files, 1.4 MiB`.
pub(crate) fn items(items: u64, files: u64, bytes: u64) -> String {
    format!("{}, {}", count(items, "item"), size(files, bytes))
}

/// Files and their size: `2 files, 1.4 MiB`.
pub(crate) fn size(files: u64, bytes: u64) -> String {
    format!("{}, {}", count(files, "file"), self::bytes(bytes))
}

/// A duration in its two largest units: `2 h 5 min`.
pub(crate) fn duration(time: Duration) -> String {
    // A part of a second counts as a whole one.
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let units = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")];
    let first = units.iter().position(|(size, _)| seconds >= *size).unwrap_or(3);
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (size, unit) in units.iter().skip(first).take(2) {
        if rest / size > 0 || parts.is_empty() {
            parts.push(format!("{} {unit}", rest / size));
        }
        rest %= size;
    }
    parts.join(" ")
}

/// Reads `0`, `30s`, `5m`, `4h`, `30d`, `2w`, `250ms`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number
        .parse()
        .map_err(|_| "expected a number and a unit, such as 30s, 5m, 4h or 30d".to_owned())?;
    let seconds = match unit {
        "ms" => return Ok(Duration::from_millis(number)),
        "s" => 1,
        // Zero is the same in every unit.
        "" if number == 0 => 1,
        "" => {
            return Err(format!("the unit is missing, as in {text}s, {text}m, {text}h or {text}d"));
        }
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(format!("`{unit}` is not a unit of time; expected s, m, h, d or w")),
    };
    number
        .checked_mul(seconds)
        .map(Duration::from_secs)
        .ok_or_else(|| "longer than time itself".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_long_keys_stand_below_the_others() {
        let short = fields(&[("state", "Copy"), ("path", "a\nb")]);
        assert_eq!(short, "state      Copy\npath       a\\nb\n");
        let long = fields(&[("state", "Copy"), ("translation.pt", "a")]);
        assert_eq!(long, "state           Copy\ntranslation.pt  a\n");
    }

    #[test]
    fn units() {
        for (count, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_500_000, "1.4 MiB"),
            (10_737_418_240, "10 GiB"),
            (u64::MAX, "15 EiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
        let text = |seconds| duration(Duration::from_secs(seconds));
        assert_eq!(
            [0, 59, 60, 7500, 90_000].map(text),
            ["0 s", "59 s", "1 min", "2 h 5 min", "1 d 1 h"]
        );
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_duration("0"), Ok(Duration::ZERO));
        assert_eq!(parse_duration("2w"), Ok(Duration::from_secs(14 * 86_400)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["", "m", "7", "5 minutes", "-1s", "1.5h", "99999999999999999999d"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}

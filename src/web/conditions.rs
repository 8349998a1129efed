//! Conditions and ranges of requests for files [RFC 9110, 13.2.2 and 14.2].

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{
    HeaderMap, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    IF_UNMODIFIED_SINCE, RANGE,
};
use hyper::{Method, StatusCode};

/// The validators of a version of a file.
#[derive(Clone, Debug)]
pub struct Validators {
    /// The strong tag, with its quotes.
    pub tag: String,
    /// The last change, in seconds since 1970.
    pub modified: i64,
}

/// The part of a file that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// These bytes of it.
    Part(Range<u64>),
    /// None: 304, 412 or 416.
    Nothing(StatusCode),
}

/// The part of a file of `size` bytes that the conditions and the range of a request select. A range is one of a GET only [RFC
/// 9110, 14.2]: who asks for the head learns the size of the whole.
pub fn evaluate(
    method: &Method,
    headers: &HeaderMap,
    validators: &Validators,
    size: u64,
) -> Extent {
    let tags = |name: &HeaderName| {
        let mut values = headers.get_all(name).iter().peekable();
        values.peek().is_some().then(|| {
            values
                .filter_map(|value| value.to_str().ok())
                .flat_map(|value| value.split(','))
                .map(str::trim)
                .collect::<Vec<_>>()
        })
    };
    if let Some(tags) = tags(&IF_MATCH) {
        if !tags.iter().any(|tag| *tag == "*" || *tag == validators.tag) {
            return Extent::Nothing(StatusCode::PRECONDITION_FAILED);
        }
    } else if let Some(date) = date(headers, &IF_UNMODIFIED_SINCE)
        && validators.modified > date
    {
        return Extent::Nothing(StatusCode::PRECONDITION_FAILED);
    }
    if let Some(tags) = tags(&IF_NONE_MATCH) {
        let is_known = |tag: &&str| *tag == "*" || tag.trim_start_matches("W/") == validators.tag;
        if tags.iter().any(is_known) {
            return Extent::Nothing(StatusCode::NOT_MODIFIED);
        }
    } else if let Some(date) = date(headers, &IF_MODIFIED_SINCE)
        && validators.modified <= date
    {
        return Extent::Nothing(StatusCode::NOT_MODIFIED);
    }
    match headers.get(RANGE).and_then(|range| range.to_str().ok()) {
        Some(text) if method == Method::GET && is_for(headers, validators) => range(text, size),
        _ => Extent::Whole,
    }
}

/// Whether `If-Range` allows a part of this version. A date is too weak to glue parts of files together.
fn is_for(headers: &HeaderMap, validators: &Validators) -> bool {
    headers.get(IF_RANGE).is_none_or(|tag| tag.as_bytes() == validators.tag.as_bytes())
}

/// The one range of `text`; the whole file for several ranges, or for what is no range.
fn range(text: &str, size: u64) -> Extent {
    let Some(spec) = text.strip_prefix("bytes=") else { return Extent::Whole };
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number beyond all sizes is beyond this one.
        is_number.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let range = match spec.split_once('-') {
        Some(("", length)) => number(length).map(|length| (size.saturating_sub(length), size)),
        Some((start, "")) => number(start).map(|start| (start, size)),
        Some((start, last)) => number(start)
            .zip(number(last))
            .filter(|(start, last)| start <= last)
            .map(|(start, last)| (start, last.saturating_add(1).min(size))),
        None => None,
    };
    match range {
        None => Extent::Whole,
        Some((start, end)) if start >= end => Extent::Nothing(StatusCode::RANGE_NOT_SATISFIABLE),
        Some((start, end)) => Extent::Part(start..end),
    }
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<i64> {
    let date = httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()?;
    date.duration_since(UNIX_EPOCH).ok()?.as_secs().try_into().ok()
}

/// A date, in seconds since 1970, as fields have it. HTTP knows none before 1970.
pub fn http_date(seconds: i64) -> String {
    let after = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + after)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of a file of 100 bytes, tag "a", last changed at 784111777.
    fn sent(fields: &[(&'static str, &str)]) -> Extent {
        sent_for(&Method::GET, fields)
    }

    fn sent_for(method: &Method, fields: &[(&'static str, &str)]) -> Extent {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        let validators = Validators { tag: "\"a\"".to_owned(), modified: 784_111_777 };
        evaluate(method, &headers, &validators, 100)
    }

    #[test]
    fn one_range_is_sent_and_anything_else_is_the_whole() {
        for (range, expected) in [
            ("bytes=0-0", Extent::Part(0..1)),
            ("bytes=10-", Extent::Part(10..100)),
            ("bytes=-10", Extent::Part(90..100)),
            ("bytes=-1000", Extent::Part(0..100)),
            ("bytes=90-1000", Extent::Part(90..100)),
            ("bytes=0-18446744073709551616", Extent::Part(0..100)),
            ("bytes=100-", Extent::Nothing(StatusCode::RANGE_NOT_SATISFIABLE)),
            ("bytes=-0", Extent::Nothing(StatusCode::RANGE_NOT_SATISFIABLE)),
            ("bytes=18446744073709551616-", Extent::Nothing(StatusCode::RANGE_NOT_SATISFIABLE)),
            ("bytes=0-1,5-6", Extent::Whole),
            ("bytes=5-1", Extent::Whole),
            ("bytes=+1-2", Extent::Whole),
            ("bytes=-", Extent::Whole),
            ("bytes=", Extent::Whole),
            ("lines=1-2", Extent::Whole),
        ] {
            assert_eq!(sent(&[("range", range)]), expected, "{range}");
            assert_eq!(sent_for(&Method::HEAD, &[("range", range)]), Extent::Whole, "{range}");
        }
    }

    #[test]
    fn conditions_come_in_the_order_of_the_standard() {
        let same = "Sun, 06 Nov 1994 08:49:37 GMT";
        let before = "Sun, 06 Nov 1994 08:49:36 GMT";
        let (stale, failed) = (
            Extent::Nothing(StatusCode::NOT_MODIFIED),
            Extent::Nothing(StatusCode::PRECONDITION_FAILED),
        );
        for (fields, expected) in [
            (vec![("if-none-match", "\"a\"")], stale.clone()),
            (vec![("if-none-match", "\"b\", W/\"a\"")], stale.clone()),
            (vec![("if-none-match", "*")], stale.clone()),
            (vec![("if-none-match", "\"b\""), ("if-modified-since", same)], Extent::Whole),
            (vec![("if-modified-since", same)], stale.clone()),
            (vec![("if-modified-since", before)], Extent::Whole),
            (vec![("if-modified-since", "yesterday")], Extent::Whole),
            (vec![("if-match", "\"b\"")], failed.clone()),
            (vec![("if-match", "W/\"a\"")], failed.clone()),
            (vec![("if-match", "\"b\""), ("if-match", "\"a\"")], Extent::Whole),
            (vec![("if-match", "\"b\""), ("if-none-match", "\"a\"")], failed.clone()),
            (vec![("if-unmodified-since", before)], failed),
            (vec![("if-none-match", "\"a\""), ("range", "bytes=0-1")], stale),
            (vec![("if-range", "\"a\""), ("range", "bytes=0-1")], Extent::Part(0..2)),
            (vec![("if-range", "\"b\""), ("range", "bytes=0-1")], Extent::Whole),
            (vec![("if-range", same), ("range", "bytes=0-1")], Extent::Whole),
        ] {
            assert_eq!(sent(&fields), expected, "{fields:?}");
        }
    }

    #[test]
    fn dates_are_those_of_http() {
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(http_date(-1), "Thu, 01 Jan 1970 00:00:00 GMT");
    }
}

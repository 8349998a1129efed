//! Finding an identifier in a word: a URL, a path, a reference.
//!
//! Each part of the text is read a fixed number of times, however long the text is.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::error::Fault;
use super::grammar::Rules;
use super::ibip::Ibip;
use super::identifier::Identifier;
use super::legacy::LegacyLabel;
use super::name::RepositoryName;

/// An identifier, and the byte after it and its report code.
pub(super) struct ScannedIdentifier {
    pub(super) identifier: Identifier,
    pub(super) end: usize,
}

/// The identifier in `word`; a fault if it has only a text that looks like a repository name.
pub(super) fn find(word: &str) -> Result<Option<ScannedIdentifier>, Fault> {
    // A question may contain identifiers other than its subject.
    let question = word.find('?').unwrap_or(word.len());
    let (before, after) = word.split_at(question);
    match find_in_part(before) {
        Ok(None) => {}
        found => return found,
    }
    match find_in_part(after) {
        Ok(found) => {
            Ok(found.map(|found| ScannedIdentifier { end: found.end + question, ..found }))
        }
        Err(fault) => Err(fault.shifted(question)),
    }
}

/// The identifier that `text` begins with, a repository name before an `IBIp` [resolution, E07].
pub(super) fn begins(text: &str) -> Result<Option<ScannedIdentifier>, Fault> {
    let part = &text[..text.find('?').unwrap_or(text.len())];
    let year = part.match_indices('/').nth(1).and_then(|(slash, _)| repository_around(part, slash));
    let near_miss = match year.filter(|span| span.start == 0).map(|span| repository(part, span)) {
        Some(Ok(found)) => return Ok(Some(found)),
        // A path that looks like a year and a date may follow an `IBIp`.
        Some(Err(fault)) => Some(fault),
        None => None,
    };
    // A path may follow that has other pairs of words.
    let pair = pairs(part).next().filter(|pair| pair.start == 0);
    let found = pair.and_then(|pair| opaque(&part[..pair.end])).map(|found| {
        let end = found.end + report_code(&part[found.end..]);
        ScannedIdentifier { end, ..found }
    });
    match (found, near_miss) {
        (None, Some(fault)) => Err(fault),
        (found, _) => Ok(found),
    }
}

fn find_in_part(part: &str) -> Result<Option<ScannedIdentifier>, Fault> {
    let mut near_miss = None;
    for span in part.match_indices('/').filter_map(|(slash, _)| repository_around(part, slash)) {
        match repository(part, span) {
            Ok(found) => return Ok(Some(found)),
            Err(fault) => near_miss = near_miss.or(Some(fault)),
        }
    }
    match (opaque(part), near_miss) {
        (None, Some(fault)) => Err(fault),
        (found, _) => Ok(found),
    }
}

/// The extent of a possible repository name whose year follows `slash`.
fn repository_around(part: &str, slash: usize) -> Option<Range<usize>> {
    let bytes = part.as_bytes();
    let digits = bytes[slash + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let year_end = slash + 1 + digits;
    if digits < 4 || bytes.get(year_end) != Some(&b'/') {
        return None;
    }
    bytes.get(year_end + 1).filter(|byte| byte.is_ascii_digit())?;
    let leaf = part[year_end + 1..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    // A dot at the end belongs to the sentence.
    let end = part[..part.len() - leaf.len()].trim_end_matches('.').len();
    let subdomain_end = part[..slash].rfind('/')?;
    let host = part[..subdomain_end]
        .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    let start =
        subdomain_end - part[host.len()..subdomain_end].trim_start_matches(['.', '-']).len();
    Some(start..end)
}

fn repository(part: &str, span: Range<usize>) -> Result<ScannedIdentifier, Fault> {
    // The end of another host's name is the name of another item.
    let above = part[..span.start].trim_end_matches(['.', '-']);
    if let Some(last) = above.chars().next_back()
        && (last.is_alphanumeric() || is_combining_mark(last))
    {
        let before = above.len() - last.len_utf8()..above.len();
        return Err(Fault::new(
            before,
            "expected a host name of ASCII letters, digits, `-` and `.`",
        ));
    }
    if let Some(next) = part[span.end..].chars().next()
        && (next.is_alphanumeric() || next == '_')
    {
        let after = span.end..span.end + next.len_utf8();
        return Err(Fault::new(after, "expected the end of the name"));
    }
    let (name, _) = RepositoryName::read(&part[span.clone()], Rules::AsFound)
        .map_err(|fault| fault.shifted(span.start))?;
    Ok(ScannedIdentifier {
        identifier: Identifier::Repository(name),
        end: span.end + report_code(&part[span.end..]),
    })
}

/// The best pair of words for an `IBIp` or an older label.
fn opaque(part: &str) -> Option<ScannedIdentifier> {
    let found = |identifier, span: &Range<usize>| ScannedIdentifier {
        identifier,
        end: span.end + report_code(&part[span.end..]),
    };
    let mut first: Option<ScannedIdentifier> = None;
    for span in pairs(part) {
        let Ok(ibip) = part[span.clone()].parse::<Ibip>() else { continue };
        if !ibip.has_separator() {
            continue;
        }
        // `max/data` could be an `IBIp`; an `IBIp` made of an address is not an accident.
        let is_certain = ibip.prefix().endpoint().is_ok();
        let ibip = found(Identifier::Ibip(ibip), &span);
        if is_certain {
            return Some(ibip);
        }
        first.get_or_insert(ibip);
    }
    first.or_else(|| {
        pairs(part).find_map(|span| {
            let label: LegacyLabel = part[span.clone()].parse().ok()?;
            label.is_likely().then(|| found(Identifier::Legacy(label), &span))
        })
    })
}

/// The pairs of words with a slash between them, each word bounded as a label is.
fn pairs(part: &str) -> impl Iterator<Item = Range<usize>> {
    part.match_indices('/').filter_map(|(slash, _)| {
        let is_word = |c: char| c.is_ascii_alphanumeric();
        let start = part[..slash].trim_end_matches(is_word).len();
        let end = part.len() - part[slash + 1..].trim_start_matches(is_word).len();
        let is_pair = start < slash && slash + 1 < end;
        (is_pair && begins_word(&part[..start]) && ends_word(&part[end..])).then_some(start..end)
    })
}

/// Whether a label can begin after `before`: not within a host name or a longer word.
fn begins_word(before: &str) -> bool {
    !before.ends_with(|c: char| {
        c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | '%' | '~' | '+')
    })
}

/// Whether a label can end before `after`: not within a file name or a longer word.
fn ends_word(after: &str) -> bool {
    let mut characters = after.chars();
    match characters.next() {
        Some('-') => report_code(after) > 0,
        Some('.') => !characters.next().is_some_and(char::is_alphanumeric),
        Some('_' | '@' | '%' | '~') => false,
        Some(next) => !next.is_alphanumeric(),
        None => true,
    }
}

/// The length of a report code at the beginning of `after`: `-TDI`, `-LN`, `-RPQ` and the like.
fn report_code(after: &str) -> usize {
    let Some(code) = after.strip_prefix('-') else { return 0 };
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let is_ended = !code[letters..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if (2..=4).contains(&letters) && is_ended { letters + 1 } else { 0 }
}

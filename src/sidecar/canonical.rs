//! Reading a sidecar table by table, as urepo writes it: beside the entries themselves, only one table is
//! held at a time.
//!
//! TOML is read from left to right. So a text that is complete TOML by itself, up to a line that begins with
//! a bracket, leaves nothing open at that line: the line opens a table in the whole text too. That is checked
//! for the head, as far as the line `[payload]`, and for each table after it. Any other shape is left to the
//! reader of all TOML; for every text that is read here, both give the same sidecar.

use serde::de::IgnoredAny;
use toml::{Table, Value};

use super::lines::{LONGEST, SidecarLines, Stop};
use super::plain::{instant, is_bare, number, pair, string};
use super::raw::{Raw, RawEntry, RawPayload, digest, mode, payload_path};
use super::{Seal, Sidecar, head, source_digests};
use crate::digest::Digest;
use crate::identity::Instant;
use crate::item::{Content, Entry, Totals};

/// Limit on tables of checksums, one for each algorithm; urepo writes no more.
const MOST_DIGEST_TABLES: usize = 8;

/// No entry of a file takes fewer bytes of text.
const SHORTEST_ENTRY: usize = 128;

/// Reads a sidecar of about `size` bytes.
pub(super) fn read<R, E>(
    lines: &mut SidecarLines<'_, R>,
    size: usize,
) -> Result<(Sidecar, Seal), Stop<E>>
where
    R: FnMut(&mut [u8]) -> Result<usize, E>,
{
    let raw = head(lines)?;
    let payload = totals(next_table(lines)?).ok_or(Stop::Unusual)?;
    let expected = usize::try_from(payload.files).unwrap_or(usize::MAX);
    let mut files = Vec::with_capacity(expected.min(size / SHORTEST_ENTRY));
    let seal = loop {
        match lines.peek()? {
            Some("[[file]]") => {
                lines.next()?;
                let text = next_table(lines)?;
                files.push(entry(text).or_else(|| any_entry(text)).ok_or(Stop::Unusual)?);
            }
            Some("[seal]") => break seal(lines)?,
            Some(_) => return Err(Stop::Unusual),
            None => break Seal::Missing,
        }
    };
    files.shrink_to_fit();
    Ok((raw.check(payload, files).map_err(|_| Stop::Unusual)?, seal))
}

/// Reads no further than the totals.
pub(super) fn totals_only<R, E>(lines: &mut SidecarLines<'_, R>) -> Result<Totals, Stop<E>>
where
    R: FnMut(&mut [u8]) -> Result<usize, E>,
{
    head(lines)?;
    totals(next_table(lines)?).ok_or(Stop::Unusual)
}

/// Everything before the payload, and the line that opens that.
fn head<R, E>(lines: &mut SidecarLines<'_, R>) -> Result<Raw, Stop<E>>
where
    R: FnMut(&mut [u8]) -> Result<usize, E>,
{
    let mut text = String::new();
    // A bag brings a checksum for each file: these are read line by line, too.
    let mut source_digests: Vec<(String, Table)> = Vec::new();
    loop {
        let is_read_alone = |line: &[u8]| {
            line == b"[payload]" || line.starts_with(source_digests::HEADER.as_bytes())
        };
        text.push_str(lines.until(is_read_alone)?);
        let line = lines.next()?.ok_or(Stop::Unusual)?;
        if line == "[payload]" {
            break;
        }
        text.push_str(line);
        text.push('\n');
        let algorithm =
            line.strip_prefix(source_digests::HEADER).and_then(|rest| rest.strip_suffix(']'));
        if let Some(algorithm) = algorithm.filter(|name| is_bare(name)) {
            let algorithm = algorithm.to_owned();
            if source_digests.len() == MOST_DIGEST_TABLES
                || toml::from_str::<IgnoredAny>(&text).is_err()
            {
                return Err(Stop::Unusual);
            }
            source_digests.push((algorithm, checksums(lines)?));
            text.push('\n');
        }
        if text.len() > LONGEST {
            return Err(Stop::Unusual);
        }
    }
    let as_written = if source_digests.is_empty() { head::read(&text) } else { None };
    let mut raw = match as_written {
        Some(raw) => raw,
        None => toml::from_str(&text).map_err(|_| Stop::Unusual)?,
    };
    if raw.has_payload() {
        return Err(Stop::Unusual);
    }
    for (algorithm, checksums) in source_digests {
        let digests = raw.origin.get_mut(source_digests::DIGESTS).and_then(Value::as_table_mut);
        let table = digests.and_then(|digests| digests.get_mut(&algorithm)?.as_table_mut());
        match table.filter(|table| table.is_empty()) {
            Some(table) => *table = checksums,
            None => return Err(Stop::Unusual),
        }
    }
    Ok(raw)
}

/// The pairs up to an empty line, each a text.
fn checksums<R, E>(lines: &mut SidecarLines<'_, R>) -> Result<Table, Stop<E>>
where
    R: FnMut(&mut [u8]) -> Result<usize, E>,
{
    let mut table = Table::new();
    loop {
        match lines.next()? {
            Some("") => return Ok(table),
            Some(line) => {
                let pair = key(line).and_then(|(key, rest)| {
                    Some((key, string(rest.strip_prefix(" = ")?)?.into_owned()))
                });
                let (key, checksum) = pair.ok_or(Stop::Unusual)?;
                if table.insert(key, Value::String(checksum)).is_some() {
                    return Err(Stop::Unusual);
                }
            }
            None => return Err(Stop::Unusual),
        }
    }
}

/// Takes the lines up to the next that may open a table.
fn next_table<'t, R, E>(lines: &'t mut SidecarLines<'_, R>) -> Result<&'t str, Stop<E>>
where
    R: FnMut(&mut [u8]) -> Result<usize, E>,
{
    lines.until(|line| line.iter().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'['))
}

/// The seal, whose header is the next line: only the line of the digest may follow.
fn seal<R, E>(lines: &mut SidecarLines<'_, R>) -> Result<Seal, Stop<E>>
where
    R: FnMut(&mut [u8]) -> Result<usize, E>,
{
    let found = lines.digest();
    lines.next()?;
    let line = lines.next()?.ok_or(Stop::Unusual)?;
    let sealed = line.strip_prefix("sha256 = \"").and_then(|rest| rest.strip_suffix('"'));
    let sealed: Digest = sealed.and_then(|text| text.parse().ok()).ok_or(Stop::Unusual)?;
    match lines.next()? {
        Some(_) => Err(Stop::Unusual),
        None if found == sealed => Ok(Seal::Intact),
        None => Ok(Seal::Broken { sealed, found }),
    }
}

fn totals(table: &str) -> Option<Totals> {
    let as_written = || {
        let (files, rest) = pair(table, "files")?;
        let (bytes, rest) = pair(rest, "bytes")?;
        let (sha256, rest) = pair(rest, "sha256")?;
        let digest = digest(&string(sha256)?).ok()?;
        is_end(rest).then_some(Totals { files: number(files)?, bytes: number(bytes)?, digest })
    };
    as_written().or_else(|| toml::from_str::<RawPayload>(table).ok()?.check().ok())
}

/// The entry in a table that is exactly as urepo writes it.
fn entry(table: &str) -> Option<Entry> {
    let (path, rest) = pair(table, "path")?;
    let path = payload_path("path", &string(path)?).ok()?;
    let (content, rest) = if let Some((bytes, rest)) = pair(rest, "bytes") {
        let (sha256, rest) = pair(rest, "sha256")?;
        let (modified, mode, rest) = attributes(rest)?;
        let digest = digest(&string(sha256)?).ok()?;
        (Content::File { bytes: number(bytes)?, digest, modified, mode }, rest)
    } else {
        let (kind, rest) = pair(rest, "kind")?;
        match kind {
            "\"link\"" => {
                let (target, rest) = pair(rest, "target")?;
                (Content::Link { target: crate::item::unescape(&string(target)?)? }, rest)
            }
            "\"directory\"" => {
                let (modified, mode, rest) = attributes(rest)?;
                (Content::EmptyDirectory { modified, mode }, rest)
            }
            _ => return None,
        }
    };
    is_end(rest).then_some(Entry { path, content })
}

/// The same for any other spelling, with comments and unknown keys.
fn any_entry(table: &str) -> Option<Entry> {
    toml::from_str::<RawEntry>(table).ok()?.check().ok()
}

fn attributes(text: &str) -> Option<(Instant, u32, &str)> {
    let (modified, rest) = pair(text, "modified")?;
    let (bits, rest) = pair(rest, "mode")?;
    Some((instant(modified)?, mode(&string(bits)?).ok()?, rest))
}

fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest == "\n"
}

/// The key at the start of a line, and what follows it.
fn key(line: &str) -> Option<(String, &str)> {
    if line.starts_with(['"', '\'']) {
        // A checksum cannot contain this separator.
        let at = line.rfind(" = ")?;
        return Some((string(&line[..at])?.into_owned(), &line[at..]));
    }
    let at = line.find(' ')?;
    is_bare(&line[..at]).then(|| (line[..at].to_owned(), &line[at..]))
}

//! The declaration and the description of a bag.

use std::path::Path;

use super::{BagError, DECLARATION, Version};
use crate::collection::{SidecarFileError, read_sidecar};
use crate::disk::{Dir, Kind};
use crate::sidecar::{Conditions, Metadata, MetadataError, Sidecar};

/// Limit on the size of a tag file.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

const INFO: &str = "bag-info.txt";

/// The directory of the sidecar, in a bag that `urepo export` made.
const METADATA: &str = "metadata";

/// Labels that may repeat a term.
const REPEATS: [&str; 3] = ["External-Description", "External-Identifier", "Source-Organization"];

/// Labels of `bag-info.txt` for terms of Dublin Core with other names.
const TERMS: [(&str, &str); 2] =
    [("External-Description", "description"), ("External-Identifier", "identifier")];

pub(super) fn text_of(dir: &Dir, file: &str) -> Result<String, BagError> {
    let mut opened = match dir.open_file(file) {
        Err(error) if error.is_link() => return Err(BagError::NotAFile { file: file.to_owned() }),
        outcome => outcome?,
    };
    if opened.stat()?.kind != Kind::File {
        return Err(BagError::NotAFile { file: file.to_owned() });
    }
    let mut bytes = opened.read_all(MAX_BYTES)?;
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        BagError::Line { file: file.to_owned(), line }
    })
}

/// The version that `bagit.txt` declares.
pub(super) fn declaration(dir: &Dir) -> Result<Version, BagError> {
    let text = text_of(dir, DECLARATION)?;
    let (mut version, mut is_utf8) = (None, false);
    for line in text.lines() {
        let Some((label, value)) = line.split_once(':') else { continue };
        match label.trim() {
            "BagIt-Version" => {
                let numbers = value.trim().split_once('.');
                version = numbers
                    .and_then(|(main, minor)| Some((main.parse().ok()?, minor.parse().ok()?)));
            }
            "Tag-File-Character-Encoding" => is_utf8 = value.trim().eq_ignore_ascii_case("UTF-8"),
            _ => {}
        }
    }
    version
        .filter(|version| is_utf8 && ((0, 93)..=(1, 0)).contains(version))
        .ok_or(BagError::Declaration)
}

/// The description in `bag-info.txt`, and the numbers of bytes and files.
pub(super) fn info(dir: &Dir) -> Result<(Metadata, Option<(u64, u64)>), BagError> {
    let (mut metadata, mut oxum) = (Metadata::default(), None);
    if dir.stat(INFO)?.is_none() {
        return Ok((metadata, oxum));
    }
    let mut pairs = pairs(&text_of(dir, INFO)?)?;
    // A value that bags of `urepo export` contain twice is taken once, as a term.
    pairs.sort_by_key(|(_, label, _)| term_of(label).is_none());
    for (at, label, value) in pairs {
        match label.as_str() {
            "Payload-Oxum" => {
                let numbers = value.split_once('.');
                let numbers = numbers
                    .and_then(|(bytes, files)| Some((bytes.parse().ok()?, files.parse().ok()?)));
                let wrong = || BagError::Line { file: INFO.to_owned(), line: at };
                oxum = Some(numbers.ok_or_else(wrong)?);
            }
            // It repeats the bytes for people.
            "Bag-Size" => {}
            _ if value.is_empty() => {}
            _ if REPEATS.iter().any(|it| it.eq_ignore_ascii_case(&label))
                && says(&metadata, &value) => {}
            _ => add(&mut metadata, &label, &value)?,
        }
    }
    Ok((metadata, oxum))
}

/// The conditions of the item of which `urepo export` made the bag: the one that the description names.
pub(super) fn conditions(dir: &Dir, metadata: &Metadata) -> Result<Option<Conditions>, BagError> {
    let is_directory = dir.stat(METADATA)?.is_some_and(|stamp| stamp.kind == Kind::Directory);
    let path = Path::new(METADATA).join(crate::layout::SIDECAR);
    if !is_directory || dir.stat(&path)?.is_none_or(|stamp| stamp.kind != Kind::File) {
        return Ok(None);
    }
    let Sidecar { repository, transferable, access, .. } =
        match read_sidecar(&mut dir.open_file(&path)?) {
            Ok((sidecar, ..)) => sidecar,
            Err(SidecarFileError::Disk(error)) => return Err(error.into()),
            // The item may be closed.
            Err(SidecarFileError::Sidecar(error)) => return Err(error.into()),
        };
    Ok(says(metadata, repository.as_str()).then_some(Conditions { transferable, access }))
}

/// Takes a term of Dublin Core as a term, and any other label as a key below `x`.
fn add(metadata: &mut Metadata, label: &str, value: &str) -> Result<(), MetadataError> {
    let known = TERMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(label));
    let term = known.map(|(_, term)| (*term).to_owned()).or_else(|| term_of(label));
    if metadata.add_as_found(term.as_deref().unwrap_or(label), value).is_ok() {
        return Ok(());
    }
    let own: String = label
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .collect();
    metadata.add(&format!("x.{own}"), value)
}

/// The term of a label such as `DC-Bibliographic-Citation`.
fn term_of(label: &str) -> Option<String> {
    let (prefix, term) = label.split_once('-')?;
    prefix.eq_ignore_ascii_case("DC").then(|| term.replace('-', ""))
}

/// Whether a value of `metadata` is `text`.
fn says(metadata: &Metadata, text: &str) -> bool {
    metadata.table().values().any(|value| match value {
        toml::Value::Array(values) => values.iter().any(|value| value.as_str() == Some(text)),
        value => value.as_str() == Some(text),
    })
}

/// Labels and values with their lines; lines that begin with a blank continue a value.
fn pairs(text: &str) -> Result<Vec<(usize, String, String)>, BagError> {
    let mut pairs: Vec<(usize, String, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let wrong = || BagError::Line { file: INFO.to_owned(), line: at + 1 };
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            let (_, _, value) = pairs.last_mut().ok_or_else(wrong)?;
            value.push(' ');
            value.push_str(line.trim());
            continue;
        }
        let (label, value) = line.split_once(':').ok_or_else(wrong)?;
        pairs.push((at + 1, label.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(pairs)
}

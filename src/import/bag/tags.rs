//! The declaration and the description of a bag.

use std::path::Path;

use encoding_rs::Encoding;

use super::{BagError, DECLARATION, TagFiles, Version};
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

impl TagFiles<'_> {
    /// The text of a tag file, in the encoding that the bag declares, without a byte order mark.
    pub(super) fn text_of(&self, file: &str) -> Result<String, BagError> {
        let bytes = bytes_of(self.dir, file)?;
        let encoding = self.encoding;
        let (text, is_malformed) =
            if [encoding_rs::UTF_16LE, encoding_rs::UTF_16BE].contains(&encoding) {
                // `UTF-16` leaves the order of the bytes to the mark.
                let (text, _, is_malformed) = encoding.decode(&bytes);
                (text, is_malformed)
            } else {
                encoding.decode_with_bom_removal(&bytes)
            };
        if is_malformed {
            return Err(not_text(file, &text, encoding.name()));
        }
        Ok(text.into_owned())
    }
}

fn bytes_of(dir: &Dir, file: &str) -> Result<Vec<u8>, BagError> {
    let mut opened = match dir.open_file(file) {
        Err(error) if error.is_link() => return Err(BagError::NotAFile { file: file.to_owned() }),
        outcome => outcome?,
    };
    if opened.stat()?.kind != Kind::File {
        return Err(BagError::NotAFile { file: file.to_owned() });
    }
    Ok(opened.read_all(MAX_BYTES)?)
}

/// The fault of a file that is not in the `encoding`, with the line of its first wrong character.
fn not_text(file: &str, decoded: &str, encoding: &str) -> BagError {
    let before = decoded.split(char::REPLACEMENT_CHARACTER).next().unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    BagError::NotText { file: file.to_owned(), line, encoding: encoding.to_owned() }
}

/// The version and the encoding that `bagit.txt` declares.
///
/// The file itself is UTF-8 without a byte order mark [RFC 8493, 2.1.1]: other programs refuse a bag with one, which must
/// not become a valid bag here.
pub(super) fn declaration(dir: &Dir) -> Result<(Version, &'static Encoding), BagError> {
    let bytes = bytes_of(dir, DECLARATION)?;
    if Encoding::for_bom(&bytes).is_some() {
        return Err(BagError::Mark);
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        not_text(DECLARATION, &String::from_utf8_lossy(&bytes), encoding_rs::UTF_8.name())
    })?;
    let (mut version, mut encoding, mut blank) = (None, None, None);
    for (at, line) in text.lines().enumerate() {
        let Some((label, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match label.trim() {
            "BagIt-Version" => {
                let numbers = value.split_once('.');
                version = numbers
                    .and_then(|(main, minor)| Some((main.parse().ok()?, minor.parse().ok()?)));
            }
            "Tag-File-Character-Encoding" => encoding = Some(value),
            _ => continue,
        }
        if label.trim() != label {
            blank = blank.or(Some(at + 1));
        }
    }
    let version = version.filter(|version| ((0, 93)..=(1, 0)).contains(version));
    let (Some(version), Some(encoding)) = (version, encoding) else {
        return Err(BagError::Declaration);
    };
    // The drafts before 1.0 say nothing about blanks, and bags with them exist.
    if let Some(line) = blank.filter(|_| version >= (1, 0)) {
        return Err(BagError::Blank { line });
    }
    let unknown = || BagError::Encoding { encoding: encoding.to_owned() };
    let encoding = Encoding::for_label_no_replacement(encoding.as_bytes()).ok_or_else(unknown)?;
    Ok((version, encoding))
}

/// The description in `bag-info.txt`, and the numbers of bytes and files.
pub(super) fn info(tags: &TagFiles<'_>) -> Result<(Metadata, Option<(u64, u64)>), BagError> {
    let (mut metadata, mut oxum) = (Metadata::default(), None);
    if tags.dir.stat(INFO)?.is_none() {
        return Ok((metadata, oxum));
    }
    let mut pairs = pairs(&tags.text_of(INFO)?)?;
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

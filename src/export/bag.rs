//! Bags: the payload in `data/`, and the tag files around it [RFC 8493].
//!
//! `metadata/item.toml` is the sidecar: it has the times, modes, links and empty directories, which a bag
//! cannot express. The payload also keeps its modes and times on disk.

use std::fmt::Display;
use std::path::Path;

use super::metadata::terms::Terms;
use super::outline::{Outline, descriptions};
use super::part::Parts;
use super::sink::{Take, Text, measure};
use super::{ExportError, Options};
use crate::digest::{Algorithm, Checksum};
use crate::disk::copy::BUFFER_BYTES;
use crate::identity::Instant;
use crate::item::bagit::EscapeRules;
use crate::sidecar::{Sidecar, TERMS, source_digests};

/// The directory of the payload in a bag.
const DATA: &str = "data";

/// Labels about this bag, as opposed to a bag from which the item was made.
const OF_EACH_BAG: [&str; 4] = ["Bag-Size", "Bag-Software-Agent", "Bagging-Date", "Payload-Oxum"];

/// The tag directory of the descriptions.
const METADATA: &str = "metadata";

impl Outline<'_> {
    /// A whole bag.
    pub(super) fn bag(&mut self, parts: &Parts<'_>, options: &Options) -> Result<(), ExportError> {
        let top = self.top;
        let options = Options { sidecar: true, ..options.clone() };
        self.own_directory(top)?;
        self.payload(&top.join(DATA), parts)?;
        let mut tags: Vec<(String, Box<dyn Text + '_>)> = Vec::new();
        for (file, text) in descriptions(self.source, &options, self.now)? {
            tags.push((format!("{METADATA}/{file}"), Box::new(text)));
        }
        let rules = EscapeRules::fit_for(parts.files().map(|(path, _)| utf8(path)));
        let info = info(self.source.sidecar(), parts, self.now);
        tags.push(("bag-info.txt".to_owned(), Box::new(info)));
        tags.push(("bagit.txt".to_owned(), Box::new(declaration(rules))));
        for manifest in manifests(self.source.sidecar(), parts, rules) {
            tags.push((manifest.file(), Box::new(manifest)));
        }
        self.own_directory(&top.join(METADATA))?;
        let mut of_tags = Vec::new();
        for (path, text) in &tags {
            self.text(&top.join(path), &**text)?;
            append_line(&mut of_tags, measure(&**text)?.1, &rules.escape(path));
        }
        self.text(&top.join("tagmanifest-sha256.txt"), &of_tags)?;
        self.sink.finish()
    }
}

fn declaration(rules: EscapeRules) -> Vec<u8> {
    let version = rules.version();
    format!("BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-8\n").into_bytes()
}

/// The digests of the payload by one algorithm, a line for each file.
struct BagManifest<'a> {
    parts: &'a Parts<'a>,
    algorithm: Algorithm,
    /// Checksums that came with the files; without them, the digests of the sidecar.
    brought: Option<Vec<Checksum>>,
    rules: EscapeRules,
}

/// The digests of the payload: those of the sidecar, with which every byte was compared, and those of the bag
/// from which the item was made.
fn manifests<'a>(
    sidecar: &Sidecar,
    parts: &'a Parts<'a>,
    rules: EscapeRules,
) -> Vec<BagManifest<'a>> {
    let own = BagManifest { parts, algorithm: Algorithm::Sha256, brought: None, rules };
    let files = parts.files().map(|(_, file)| file.from);
    let brought = source_digests::of_all(&sidecar.origin, &files).into_iter();
    let brought = brought.map(|(algorithm, checksums)| BagManifest {
        parts,
        algorithm,
        brought: Some(checksums),
        rules,
    });
    brought.chain([own]).collect()
}

impl BagManifest<'_> {
    fn file(&self) -> String {
        format!("manifest-{}.txt", self.algorithm.key())
    }
}

impl Text for BagManifest<'_> {
    fn write(&self, sink: &mut Take<'_>) -> Result<(), ExportError> {
        let mut lines = Vec::new();
        for (at, (path, file)) in self.parts.files().enumerate() {
            let path = format!("{DATA}/{}", self.rules.escape(utf8(path)));
            match self.brought.as_ref().and_then(|brought| brought.get(at)) {
                Some(checksum) => append_line(&mut lines, checksum, &path),
                None => append_line(&mut lines, file.digest, &path),
            }
            if lines.len() >= BUFFER_BYTES {
                sink(&lines)?;
                lines.clear();
            }
        }
        sink(&lines)
    }
}

fn append_line(text: &mut Vec<u8>, digest: impl Display, path: &str) {
    text.extend_from_slice(format!("{digest}  {path}\n").as_bytes());
}

/// The text of a path, which was found to be UTF-8 before.
fn utf8(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// `bag-info.txt`: the labels of the RFC, then the terms of Dublin Core as `DC-Title` and so on, then the
/// keys below `x`, which include other labels of the original bag.
fn info(sidecar: &Sidecar, parts: &Parts<'_>, now: Instant) -> Vec<u8> {
    let mut text = String::new();
    let mut add = |label: &str, value: &str| {
        let value = in_one_field(value);
        if !value.is_empty() {
            text.push_str(&format!("{label}: {value}\n"));
        }
    };
    let terms = Terms::of(sidecar);
    for publisher in terms.values("publisher") {
        add("Source-Organization", &publisher);
    }
    add("External-Identifier", sidecar.repository.as_str());
    if let Some(ibip) = &sidecar.ibip {
        add("External-Identifier", ibip.as_str());
    }
    let description = terms.first("description").or_else(|| terms.first("abstract"));
    if let Some(description) = description.or_else(|| terms.first("title")) {
        add("External-Description", &description);
    }
    let now = now.civil();
    add("Bagging-Date", &format!("{:04}-{:02}-{:02}", now.year, now.month, now.day));
    let (files, bytes) = parts.size();
    add("Payload-Oxum", &format!("{bytes}.{files}"));
    add("Bag-Software-Agent", concat!("urepo ", env!("CARGO_PKG_VERSION")));
    for term in TERMS {
        for value in terms.values(term) {
            add(&label(term), &value);
        }
    }
    for (key, value) in terms.own() {
        let key = in_one_label(&key);
        // Labels that the RFC reserves are compared without case.
        if !OF_EACH_BAG.iter().any(|label| label.eq_ignore_ascii_case(&key)) {
            add(&key, &value);
        }
    }
    text.into_bytes()
}

/// The label of a term: `DC-Bibliographic-Citation` for `bibliographicCitation`.
fn label(term: &str) -> String {
    let mut label = "DC-".to_owned();
    for (at, character) in term.char_indices() {
        if at > 0 && character.is_uppercase() {
            label.push('-');
        }
        label.push(if at == 0 { character.to_ascii_uppercase() } else { character });
    }
    label
}

/// A key as a label. The key is untrusted: characters that would end the label or the line become hyphens.
fn in_one_label(key: &str) -> String {
    let ends = |c: char| c.is_control() || c.is_whitespace() || c == ':';
    key.chars().map(|c| if ends(c) { '-' } else { c }).collect()
}

/// A value in which every possible line end becomes a continuation line of the RFC.
fn in_one_field(value: &str) -> String {
    let ends_line = |c: char| c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}');
    let lines = value.split(ends_line).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_never_begins_a_label_of_its_own() {
        assert_eq!(in_one_field("one\nPayload-Oxum: 0.0\r\n\n"), "one\n  Payload-Oxum: 0.0");
        assert_eq!(in_one_field("a\u{85}b\u{2028}c\td"), "a\n  b\n  c\td");
        assert_eq!(in_one_label("a\nPayload-Oxum: 9"), "a-Payload-Oxum--9");
        assert_eq!(label("title"), "DC-Title");
        assert_eq!(label("bibliographicCitation"), "DC-Bibliographic-Citation");
    }
}

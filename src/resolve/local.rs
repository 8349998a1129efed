//! A collection as an Archive.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::str::FromStr;

use super::holders::{HeldItem, Holders};
use super::list::{Archive, Part};
use super::record::{Destination, DestinationKind, Forms, ItemRecord, Items};
use super::walk::{languages, walk};
use crate::collection::{Collection, CollectionError, Scheme};
use crate::identity::{
    FormatName, HostPort, Identifier, LanguagePreferences, ParseError, Verb, Verbs, encode_path,
};
use crate::layout;

/// The properties of an Archive besides its items, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Announced {
    /// Its address. Without one, URLs are absolute paths.
    pub address: Option<HostPort>,
    /// The scheme of its URLs.
    pub scheme: Scheme,
    /// Whether its server runs the programs of metadata items, as that of the standard's examples does.
    pub runs_programs: bool,
    /// The identifier of its service.
    pub service: Forms,
    /// The identifier of its software.
    pub software: Forms,
    /// The URL key of its answers.
    pub key: Option<UrlKey>,
}

/// A URL key [resolution, Table 7.1]: one or two numbers of ten digits or more, with a hyphen between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlKey(String);

/// One collection as an Archive.
#[derive(Debug)]
pub struct LocalArchive<'a> {
    items: Holders<'a>,
    collection: &'a Collection,
    announced: &'a Announced,
    /// The last items that were looked up: one answer asks for the same few many times, and each time means a whole sidecar.
    known: RefCell<VecDeque<(Identifier, Option<HeldItem>)>>,
}

/// Number of items that are kept for an answer.
const KNOWN: usize = 8;

/// The relations that are answered for every item that has them; a translation without a language stands for
/// those into each language.
const RELATIONS: [&str; 8] = [
    "",
    ".lastedition",
    ".lastedition.metadata",
    ".lastedition.metadata(oai_dc)",
    ".metadata",
    ".metadata(oai_dc)",
    ".translation",
    ".translation.metadata",
];

impl Announced {
    /// The beginning of its URLs, without a slash.
    pub fn base(&self) -> Option<String> {
        Some(format!("{}://{}", self.scheme, self.address.as_ref()?))
    }
}

impl<'a> LocalArchive<'a> {
    /// `collection` as an Archive.
    pub fn new(collection: &'a Collection, announced: &'a Announced) -> LocalArchive<'a> {
        let items = Holders::new(std::slice::from_ref(collection));
        LocalArchive { items, collection, announced, known: RefCell::default() }
    }

    /// The relations that `verbs` mean for the item called `name`: one for each language if none is given.
    pub(crate) fn expanded(
        &self,
        name: &Identifier,
        verbs: &Verbs,
    ) -> Result<Vec<Verbs>, CollectionError> {
        let none = LanguagePreferences::default();
        let mut found = vec![Verbs::default()];
        for verb in verbs.steps() {
            let mut next = Vec::new();
            for before in found {
                let mut all = vec![verb.clone()];
                if *verb == Verb::Translation(None)
                    && let Ok(at) = walk(self, name, before.steps(), &none)
                    && !matches!(at.kind, DestinationKind::Description { .. })
                {
                    // A translation with a language is reached by that language.
                    if at.item.record.language.is_some() {
                        all.clear();
                    }
                    let tags = languages(self, &at.item.record)?.into_keys();
                    all.extend(tags.map(|tag| Verb::Translation(Some(tag))));
                }
                next.extend(all.into_iter().filter_map(|verb| before.followed_by(verb)));
            }
            found = next;
        }
        Ok(found)
    }

    /// The URL of a file of the payload; of the payload itself, if the path is empty.
    fn file(&self, item: &HeldItem, path: &[u8]) -> String {
        if let Some(base) = self.announced.base() {
            let (name, path) = (&item.sidecar.repository, encode_path(path));
            return format!("{base}/col/{name}/{}/{path}", layout::PAYLOAD);
        }
        local(&item.path.join(layout::PAYLOAD).join(std::ffi::OsStr::from_bytes(path)))
    }
}

/// A path as the value of a pair.
fn local(path: &std::path::Path) -> String {
    encode_path(path.as_os_str().as_bytes())
}

impl Items for LocalArchive<'_> {
    type Item = HeldItem;
    type Error = CollectionError;

    fn item(&self, identifier: &Identifier) -> Result<Option<HeldItem>, CollectionError> {
        let mut known = self.known.borrow_mut();
        if let Some((_, item)) = known.iter().find(|(of, _)| of == identifier) {
            return Ok(item.clone());
        }
        let item = self.items.item(identifier)?;
        known.push_back((identifier.clone(), item.clone()));
        if known.len() > KNOWN {
            known.pop_front();
        }
        Ok(item)
    }

    fn serves(&self, metadata: &ItemRecord, format: Option<&FormatName>) -> bool {
        self.items.serves(metadata, format) || (self.announced.runs_programs && metadata.is_program)
    }

    fn renders(&self, format: &FormatName) -> bool {
        self.items.renders(format)
    }
}

impl Archive for LocalArchive<'_> {
    fn address(&self) -> String {
        match &self.announced.address {
            Some(address) => address.to_string(),
            None => format!("file:{}", local(self.collection.path())),
        }
    }

    fn service(&self) -> Forms {
        self.announced.service.clone()
    }

    fn software(&self) -> Forms {
        self.announced.software.clone()
    }

    fn key(&self, _: &[&str]) -> Option<String> {
        self.announced.key.as_ref().map(ToString::to_string)
    }

    fn relations(&self, item: &ItemRecord, verbs: &Verbs) -> Result<Vec<Verbs>, CollectionError> {
        let name = Identifier::Repository(item.name.clone());
        let usual = RELATIONS.iter().filter_map(|relation| Verbs::of_relation(relation).ok());
        let mut all = Vec::new();
        for relation in usual.chain([verbs.before(verbs.steps().len())]) {
            all.extend(self.expanded(&name, &relation)?);
        }
        Ok(all)
    }

    fn url(
        &self,
        destination: &Destination<HeldItem>,
        part: Part<'_>,
    ) -> Result<Option<String>, CollectionError> {
        let item = &destination.item;
        let name = &item.sidecar.repository;
        let format = match &destination.kind {
            DestinationKind::Description { .. } if part != Part::Target => return Ok(None),
            DestinationKind::Description { format, .. } => {
                let format = format.as_ref().map_or(String::new(), |format| format!("({format})"));
                return Ok(Some(match self.announced.base() {
                    Some(base) => format!("{base}/{name}:{format}"),
                    None => local(&item.path.join(layout::SIDECAR)),
                }));
            }
            DestinationKind::MetadataItem(format) => format.as_ref(),
            DestinationKind::Data => None,
        };
        Ok(match part {
            Part::Target => {
                let target = item.sidecar.target.as_ref();
                let url = self.file(item, target.map_or(&[], |target| target.as_bytes()));
                // The programs of URLib have this extension.
                Some(url + &format.map_or(String::new(), |format| format!("?choice={format}")))
            }
            Part::File(_) if matches!(destination.kind, DestinationKind::MetadataItem(_)) => None,
            Part::File(path) => item.file(path).ok().map(|path| self.file(item, path.as_bytes())),
            Part::FileList => Some(match self.announced.base() {
                Some(base) => format!("{base}/{name}?ibiurl.verblist=GetFileList"),
                None => self.file(item, &[]),
            }),
        })
    }
}

impl fmt::Display for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for UrlKey {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<UrlKey, ParseError> {
        let is_number =
            |text: &str| text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
        let (first, second) = text.split_once('-').unwrap_or((text, "0000000000"));
        if is_number(first) && is_number(second) {
            return Ok(UrlKey(text.to_owned()));
        }
        let expected = "expected one or two numbers of ten digits or more, with `-` between";
        Err(ParseError::new("URL key", text, 0..text.len(), expected))
    }
}

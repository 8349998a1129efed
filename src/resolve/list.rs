//! The URLs of an item in an Archive [resolution, Algorithm 2], and which of them a request needs.

use std::borrow::Borrow;

use super::pairs::Pairs;
use super::record::{Destination, DestinationKind, Forms, ItemRecord, Items};
use super::walk::{Unresolved, walk};
use crate::identity::{Identifier, LanguagePreferences, SECOND, Verb, Verbs};

/// The properties that a pair can state of an item that a relation leads to.
const QUALIFIED: [&str; 5] = ["contenttype", "ibi", "state", "timestamp", "url"];

/// A part of an item that a URL leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The file that the item opens.
    Target,
    /// A file, by its path without the first `/`.
    File(&'a [u8]),
    /// The list of its files.
    FileList,
}

/// An Archive, which answers requests for the items that it holds.
pub trait Archive: Items {
    /// Its address: a host and port.
    fn address(&self) -> String;
    /// The identifier of its service.
    fn service(&self) -> Forms;
    /// The identifier of its software.
    fn software(&self) -> Forms;
    /// A new URL key for an answer with `urls`.
    fn key(&self, urls: &[&str]) -> Option<String>;
    /// The relations that it answers for an item and `verbs`, including the empty one.
    fn relations(&self, item: &ItemRecord, verbs: &Verbs) -> Result<Vec<Verbs>, Self::Error>;
    /// The destination that a client may have in place of this one. The pair `ibi` names the one before.
    fn admitted(&self, destination: Destination<Self::Item>) -> Destination<Self::Item> {
        destination
    }
    /// The URL of a part of a destination, if that is here.
    fn url(
        &self,
        destination: &Destination<Self::Item>,
        part: Part<'_>,
    ) -> Result<Option<String>, Self::Error>;
}

/// Everything that an Archive knows about an item, `MontarListaDeURL` of the standard; `None` if it does not
/// hold the item.
pub fn list_of_urls<A: Archive>(
    archive: &A,
    identifier: &Identifier,
    path: &[u8],
    verbs: &Verbs,
) -> Result<Pairs, A::Error> {
    let mut pairs = Pairs::default();
    let Some(item) = archive.item(identifier)? else { return Ok(pairs) };
    let record: &ItemRecord = item.borrow();
    pairs.insert("archiveaddress", archive.address());
    pairs.insert("ibi.archiveservice", archive.service());
    pairs.insert("ibi.platformsoftware", archive.software());
    if !record.state.has_payload() {
        pairs.insert("ibi", record.forms());
        pairs.insert("state", record.state);
        pairs.insert("timestamp", record.timestamp.floor(SECOND));
        return Ok(pairs);
    }
    if let Some(next) = record.relations.first(&crate::sidecar::RelationKind::NextEdition) {
        pairs.insert("ibi.nextedition", Forms::from(next));
    }
    let part = match (verbs.wants_file_list(), path) {
        (true, _) => Part::FileList,
        (false, []) => Part::Target,
        (false, path) => Part::File(path),
    };
    for relation in archive.relations(record, verbs)? {
        add(&mut pairs, archive, identifier, &relation, part)?;
    }
    let is_url = |name: &str| name == "url" || name.starts_with("url.");
    let urls: Vec<_> = pairs.iter().filter(|it| is_url(it.0)).map(|it| it.1).collect();
    if let Some(key) = archive.key(&urls) {
        pairs.insert("urlkey", key);
    }
    Ok(pairs)
}

/// Adds the pairs of one relation.
fn add<A: Archive>(
    pairs: &mut Pairs,
    archive: &A,
    identifier: &Identifier,
    relation: &Verbs,
    part: Part<'_>,
) -> Result<(), A::Error> {
    let qualifier = relation.relation();
    let none = LanguagePreferences::default();
    let destination = match walk(archive, identifier, relation.steps(), &none) {
        Ok(destination) => destination,
        Err(Unresolved::Items(error)) => return Err(error),
        Err(Unresolved::Elsewhere { to, .. }) => {
            let last = relation.steps().len().saturating_sub(1);
            let is_last = matches!(relation.steps().last(), Some(Verb::Translation(_)))
                && walk(archive, identifier, relation.before(last).steps(), &none).is_ok();
            // The place of a new edition is not known here: only `ibi.nextedition` names it.
            if is_last {
                pairs.insert(format!("ibi{qualifier}"), Forms::from(to));
            }
            return Ok(());
        }
        Err(_) => return Ok(()),
    };
    // So it is with one that was deleted here: another archive may have a Copy.
    let answers = |item: A::Item| item.borrow().state.has_payload();
    if let DestinationKind::Description { item: Some(named), .. } = &destination.kind
        && !archive.item(named)?.is_some_and(answers)
    {
        // A pointer. It is that item, and no translation of it, for which the resolver asks again.
        if matches!(relation.steps().last(), Some(Verb::Metadata(_))) {
            pairs.insert(format!("ibi{qualifier}"), Forms::from(named.clone()));
        }
        // If nobody has it, the description here stands in its place. It has no state: two archives that answered for one
        // metadata item would both seem to hold its Original.
        if let Some(url) = archive.url(&archive.admitted(destination), part)? {
            pairs.insert(format!("contenttype{qualifier}"), "Metadata");
            pairs.insert(format!("url{qualifier}"), url);
        }
        return Ok(());
    }
    if let Some(forms) = forms(&destination, relation) {
        pairs.insert(format!("ibi{qualifier}"), forms);
    }
    let destination = archive.admitted(destination);
    if let Some(url) = archive.url(&destination, part)? {
        let is_data = matches!(destination.kind, DestinationKind::Data);
        pairs.insert(format!("contenttype{qualifier}"), if is_data { "Data" } else { "Metadata" });
        let record = destination.item.borrow();
        pairs.insert(format!("state{qualifier}"), record.state);
        let timestamp = destination.kind.timestamp(record).floor(SECOND);
        pairs.insert(format!("timestamp{qualifier}"), timestamp);
        pairs.insert(format!("url{qualifier}"), url);
    }
    Ok(())
}

/// The forms of the identifier of a destination, if it has one.
fn forms<I: Borrow<ItemRecord>>(destination: &Destination<I>, relation: &Verbs) -> Option<Forms> {
    let forms = match &destination.kind {
        // It is the description of the item itself, not the item that its metadata would be.
        DestinationKind::Description { .. } => return None,
        _ => destination.item.borrow().forms(),
    };
    // Example 9.2 gives only the repository name of a translation, even if it is the item itself.
    let is_translation = matches!(relation.steps().last(), Some(Verb::Translation(_)));
    Some(if is_translation && forms.repository.is_some() {
        Forms { ibip: None, ..forms }
    } else {
        forms
    })
}

/// Keeps the pairs that an answer to a request with `verbs` needs, `FiltrarListaDeURL` of the standard.
pub fn filter(pairs: &mut Pairs, verbs: &Verbs) {
    if pairs.get("state") == Some("Deleted") {
        return;
    }
    let steps = verbs.steps();
    let relation = |name: &str| {
        let mut qualifiers = QUALIFIED.iter().filter_map(|property| name.strip_prefix(property));
        Verbs::of_relation(qualifiers.next()?).ok()
    };
    let urls = pairs.iter().filter(|(name, _)| name.starts_with("url"));
    let urls = urls.filter_map(|(name, _)| relation(name));
    let urls: Vec<Verbs> = urls.filter(|url| url.is_requested_by(steps)).collect();
    // One without a state stands in the place of another item, which comes first.
    let has_state = |url: &&Verbs| pairs.get(&format!("state{}", url.relation())).is_some();
    let sure: Vec<Verbs> = urls.iter().filter(has_state).cloned().collect();
    pairs.retain(|name| match name {
        "archiveaddress" | "ibi" | "ibi.archiveservice" | "ibi.platformsoftware" => true,
        "ibi.nextedition" => steps.contains(&Verb::LastEdition),
        "urlkey" => !urls.is_empty(),
        _ => relation(name).is_some_and(|relation| {
            let (length, most) = (relation.steps().len(), steps.len());
            let leads_to = |url: &Verbs| url.steps().starts_with(relation.steps());
            // From an item on the way the resolver can go on, if no URL is behind.
            let is_way = name.starts_with("ibi") && length > 0 && !sure.iter().any(leads_to);
            relation.is_requested_by(&steps[..length.min(most)]) && (length == most || is_way)
        }),
    });
}

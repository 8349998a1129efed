//! Lists of pairs, as each collection answers a resolver.

use urepo::collection::Scheme;
use urepo::identity::{Identifier, PersistentUrl};
use urepo::resolve::{Announced, Forms, LocalArchive, Pairs, filter, list_of_urls};

use super::Resolve;
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::known::Known;
use crate::cli::records;

impl Resolve {
    /// Prints the pairs of every collection that holds the item, with an empty line between.
    pub(super) fn tell_pairs(
        &self,
        context: &Context,
        known: &Known,
        text: &str,
        url: &PersistentUrl,
    ) -> Done {
        let forms = |identifier: &Option<Identifier>| {
            identifier.clone().map(Forms::from).unwrap_or_default()
        };
        let announced = Announced {
            address: self.archive.address.clone(),
            scheme: Scheme::Http,
            runs_programs: self.archive.address.is_some(),
            service: forms(&self.archive.service),
            software: forms(&self.archive.software),
            key: self.archive.urlkey.clone(),
        };
        let selection = &url.selection;
        let mut is_held = false;
        for collection in &known.collections {
            let archive = LocalArchive::new(collection, &announced);
            let mut pairs =
                list_of_urls(&archive, &url.identifier, &selection.path, &selection.verbs)?;
            if pairs.is_empty() {
                continue;
            }
            let gap = if std::mem::replace(&mut is_held, true) { "\n" } else { "" };
            if !self.archive.all_pairs {
                filter(&mut pairs, &selection.verbs);
            }
            if context.printer.json {
                context.printer.record(&record(text, collection, &pairs))?;
            } else {
                let lines: String = pairs.lines().map(|line| line + "\n").collect();
                context.printer.exact(format!("{gap}{lines}").as_bytes())?;
            }
        }
        if !is_held {
            return Err(known.no_item(url.identifier.as_str()));
        }
        Ok(())
    }
}

fn record<'a>(
    text: &'a str,
    collection: &urepo::collection::Collection,
    pairs: &Pairs,
) -> records::ArchiveAnswer<'a> {
    let settings = collection.settings();
    records::ArchiveAnswer {
        text,
        collection: settings.name.clone(),
        collection_id: collection.id().to_owned(),
        pairs: pairs.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    }
}

//! Lists of pairs, as each collection answers a resolver.

use urepo::identity::{ParseError, PersistentUrl};
use urepo::resolve::{Announced, Forms, LocalArchive, Pairs, UrlKey, filter, list_of_urls};

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::printer::Verbosity;
use crate::cli::records;

/// The pair of a URL's question with the key of an answer.
const URL_KEY: &str = "urlkey=";

/// Prints the pairs of every collection that holds the item, with an empty line between.
pub(super) fn tell(context: &Context, known: &Known, text: &str, url: &PersistentUrl) -> Done {
    let selection = &url.selection;
    let key = selection.question.iter().find_map(|pair| pair.strip_prefix(URL_KEY));
    let key: Option<UrlKey> = key.map(str::parse).transpose().map_err(|error: ParseError| {
        Failure::usage(format!("`{URL_KEY}` has a wrong value")).caused_by(error.expected())
    })?;
    let mut is_held = false;
    for collection in &known.collections {
        let settings = &collection.settings().archive;
        let announced = Announced {
            address: settings.address.clone(),
            scheme: settings.scheme,
            runs_programs: settings.address.is_some(),
            service: settings.service.clone().map(Forms::from).unwrap_or_default(),
            software: Forms::default(),
            key: key.clone(),
        };
        let archive = LocalArchive::new(collection, &announced);
        let mut pairs = list_of_urls(&archive, &url.identifier, &selection.path, &selection.verbs)?;
        if pairs.is_empty() {
            continue;
        }
        let gap = if std::mem::replace(&mut is_held, true) { "\n" } else { "" };
        if context.printer.verbosity != Verbosity::Verbose {
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

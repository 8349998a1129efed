//! `urepo resolve --explain TEXT`: the parts of an identifier in any spelling, and its other spellings.

use std::io::BufRead as _;
use std::path::Path;

use urepo::collection::Collection;
use urepo::identity::{
    Ibip, Identifier, LegacyLabel, Pasted, PersistentUrl, RepositoryName, Selection,
};

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::input::{is_stdin, unreadable};
use crate::cli::records::Spelled;
use crate::cli::report::for_each;
use crate::cli::{Done, human};

/// Explains each of `texts`; `-` reads more from standard input, one a line.
pub(super) fn run(context: &Context, texts: &[String]) -> Done {
    let texts = read(context, texts)?;
    let collection = context.collection().ok();
    let mut gap = "";
    for_each(context, &texts, |text| {
        // Within a collection, the end of an identifier is enough, as everywhere.
        let stored = || collection.as_ref()?.find(text).ok();
        let name;
        let pasted = match Pasted::read(text) {
            Ok(pasted) => pasted,
            Err(error) => {
                name = stored().ok_or(error)?.name().to_string();
                Pasted::read(&name)?
            }
        };
        let fields = fields(collection.as_ref(), &pasted);
        if context.printer.json {
            let exact = text.parse::<Identifier>().is_ok();
            let parts = fields.into_iter().collect();
            return context.printer.record(&Spelled { text: text.to_owned(), exact, parts });
        }
        let mut lines = std::mem::replace(&mut gap, "\n").to_owned();
        lines += &human::fields(&fields);
        context.printer.lines(&lines)
    })
}

/// The given texts, with those of standard input in place of `-`.
fn read(context: &Context, given: &[String]) -> Result<Vec<String>, Failure> {
    let mut texts = Vec::new();
    for text in given {
        if !is_stdin(Path::new(text)) {
            texts.push(text.clone());
            continue;
        }
        for line in context.lines_of(Path::new(text))?.lines() {
            let failure = |error| unreadable(&error, "cannot read standard input".to_owned());
            texts.push(line.map_err(failure)?);
            texts.pop_if(|text| text.trim().is_empty());
        }
    }
    Ok(texts)
}

fn fields(collection: Option<&Collection>, pasted: &Pasted<'_>) -> Vec<(&'static str, String)> {
    let mut fields = spelt(&pasted.identifier);
    fields.extend(pasted.twin.iter().flat_map(spelt));
    // Outside a collection there is less to print.
    let stored = collection.and_then(|it| it.find(pasted.identifier.as_str()).ok());
    if let Some(item) = stored {
        if !matches!(pasted.identifier, Identifier::Repository(_)) {
            fields.extend(repository(item.name()));
        }
        if let Ok((sidecar, _)) = item.sidecar() {
            let is_ibip = matches!(pasted.identifier, Identifier::Ibip(_));
            let ibip = sidecar.ibip.as_ref().filter(|_| !is_ibip);
            fields.extend(ibip.map(|ibip| ("ibip", ibip.to_string())));
            let aliases: Vec<_> = sidecar.aliases().collect();
            fields.extend((!aliases.is_empty()).then(|| ("aliases", aliases.join(" "))));
        }
        fields.push(("path", item.path().display().to_string()));
    }
    if !pasted.rest.is_empty() {
        fields.push(("rest", pasted.rest.to_owned()));
    }
    if let Ok(selection) = Selection::of(pasted)
        && !selection.verbs.is_empty()
    {
        fields.push(("verbs", selection.verbs.to_string()));
        let identifier = pasted.identifier.clone();
        fields.push(("persistent", PersistentUrl { identifier, selection }.to_string()));
    }
    let mut seen = Vec::new();
    fields.retain(|(key, _)| {
        let new = !seen.contains(key);
        seen.push(*key);
        new
    });
    fields
}

fn spelt(identifier: &Identifier) -> Vec<(&'static str, String)> {
    match identifier {
        Identifier::Repository(name) => repository(name),
        Identifier::Ibip(ibip) => opaque(ibip),
        Identifier::Legacy(label) => legacy(label),
    }
}

fn repository(name: &RepositoryName) -> Vec<(&'static str, String)> {
    let prefix = name.prefix();
    let mut fields = vec![
        ("repository", name.to_string()),
        ("host", prefix.host().to_string()),
        ("port", prefix.port().to_string()),
        ("date", name.date().to_string()),
        ("url", format!("http://urlib.net/{name}")),
    ];
    if !name.is_shortest() {
        fields.push(("shortest", format!("{prefix}/{}", name.date().suffix())));
    }
    if let Some(suffix) = name.date().ibip_suffix() {
        fields.push(("ibip_suffix", suffix));
    }
    if let Ok((_, oddities)) = RepositoryName::parse_as_found(name.as_str()) {
        let oddities: Vec<_> = oddities.iter().map(ToString::to_string).collect();
        fields.extend((!oddities.is_empty()).then(|| ("odd", oddities.join("; "))));
    }
    fields
}

fn opaque(ibip: &Ibip) -> Vec<(&'static str, String)> {
    let mut fields = vec![("ibip", ibip.to_string())];
    if let Ok(endpoint) = ibip.prefix().endpoint() {
        fields.push(("address", endpoint.ip().to_string()));
        fields.push(("address_port", endpoint.port().to_string()));
    }
    if let Ok(date) = ibip.date() {
        fields.push(("date", date.to_string()));
        fields.push(("suffix", date.suffix()));
    }
    fields.push(("url", format!("http://urlib.net/{ibip}")));
    fields
}

fn legacy(label: &LegacyLabel) -> Vec<(&'static str, String)> {
    let mut fields = vec![("legacy", label.to_string())];
    if let Ok(date) = label.instant() {
        fields.push(("date", date.to_string()));
        fields.push(("suffix", date.suffix()));
    }
    fields
}

//! `urepo resolve`: resolve persistent URLs.

mod explain;
mod locale;
mod pairs;
pub(super) mod report;

use std::cell::OnceCell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::str::FromStr;

use clap::builder::{OsStringValueParser, TypedValueParser};
use urepo::collection::Collection;
use urepo::identity::{
    Identifier, LanguagePreferences, ParseError, Pasted, PersistentUrl, RequiredStatus, Verbs,
    encode_path,
};
use urepo::resolve::{Alert, Holders, ResolveError, Resolved, Unresolved, resolve};

use super::file::item_and_file;
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::report::for_each;

/// Resolve persistent URLs without a server
///
/// Prints the absolute path of the destination of each URL: for an item, the file that its identifier opens,
/// or the payload if there is no such file; for metadata, the file of the metadata item or the sidecar.
/// Metadata in a format, such as `:(oai_dc)`, is printed itself.
///
/// URL is an identifier or an IBIp, with or without `http://urlib.net/` before it, then modifiers, then the
/// path of a file; or the end of an identifier in the collection at hand. The modifiers are applied from left to right: `!` leads to the last edition, `+` to the
/// translation into the language of the setting `languages` or else of the locale, `+(pt-BR)` to that translation, `:` to the metadata,
/// `:(oai_dc)`, `:(bibtex)`, `:(datacite)`, `:(abnt)`, `:(apa)`, `:(ris)` and `:(csl)` to the metadata in that format. Their
/// order is that of the resolution standard: editions and translations, at most one each, then metadata, then
/// a translation of it. `?ibiurl.verblist=GetFileList` leads to the list of files, and
/// `?ibiurl.requireditemstatus=Original` to the Original alone.
///
/// Items, their editions and translations are searched in the collections named in the settings, in the one
/// of -c or around the current directory, and in those of --with. The first collection with a current holding
/// answers. Two Originals of an item are a warning, with --original an error (exit code 23).
///
/// With --explain, URL is an identifier in any spelling: an identifier, an IBIp, a link or path that contains one, a host
/// and a time, or an address, its port and a time; in a collection also the end of an identifier. Its parts and its other
/// spellings are printed, and nothing is looked for elsewhere. An IBIp cannot be computed from an identifier, or the other way
/// round: it is stored with the item, and printed if the item is in the collection at hand.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it is typed")]
pub(crate) struct Resolve {
    /// The persistent URLs; put them in quotes
    #[arg(value_name = "URL", required = true, value_parser = text())]
    urls: Vec<String>,
    /// Look into this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
    /// Explain identifiers in any spelling; `-` reads more from standard input, one a line
    #[arg(long, conflicts_with_all = ["with", "original", "null", "pairs"])]
    explain: bool,
    /// Answer with the Original only
    #[arg(long)]
    original: bool,
    /// End each path with a NUL byte
    #[arg(short = '0', long, conflicts_with = "pairs")]
    null: bool,
    /// Print the list of pairs with which each collection answers a resolver, by `[archive]` of its `urepo.toml`; with -v all
    /// pairs, also those that the URL does not request
    #[arg(long)]
    pairs: bool,
}

/// Reads a value, and reports its fault.
pub(super) fn parse<T: FromStr<Err = ParseError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseError| error.expected().to_owned())
}

/// Reads a URL, in which bytes that are not UTF-8 have escapes.
fn text() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|typed| {
        typed.into_string().map_err(|typed| {
            let chunks = typed.as_bytes().utf8_chunks();
            let escaped = chunks.map(|it| it.valid().to_owned() + &encode_path(it.invalid()));
            format!("it is not UTF-8; write `{}`", escaped.collect::<String>())
        })
    })
}

impl Resolve {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.explain {
            return explain::run(context, &self.urls);
        }
        let resolver = Resolver::new(context, &self.with)?;
        for_each(context, &self.urls, |text| {
            let mut url = resolver.read(text)?;
            if self.original {
                url.selection.status = RequiredStatus::Original;
            }
            if self.pairs {
                return pairs::tell(context, &resolver.known, text, &url);
            }
            let found = resolver.resolve(&url)?;
            if context.printer.json {
                report::record(context, &resolver.known, (text, &url), &found)
            } else {
                let end = if self.null { b"\0" } else { b"\n" };
                report::paths(context, &resolver.known, end, &found)
            }
        })
    }
}

/// Resolves persistent URLs in the known collections.
pub(super) struct Resolver<'a> {
    context: &'a Context,
    known: Known,
    own: Option<Collection>,
    preferences: LanguagePreferences,
}

impl<'a> Resolver<'a> {
    fn new(context: &'a Context, with: &[OsString]) -> Result<Resolver<'a>, Failure> {
        let languages = context.config.languages.as_ref().and_then(|it| it.value.parse().ok());
        Ok(Resolver {
            context,
            known: context.known(with)?,
            own: context.collection().ok(),
            preferences: languages.unwrap_or_else(locale::preferences),
        })
    }

    /// The persistent URL that `text` is.
    fn read(&self, text: &str) -> Result<PersistentUrl, Failure> {
        let url = match (read(text), &self.own) {
            // Within a collection, the end of an identifier is enough, as everywhere.
            (Err(error), Some(own)) => of_end(self.context, own, text).ok_or(error)?,
            (read, _) => read?,
        };
        for name in &url.selection.unknown {
            self.context.printer.warning(&format!("`{name}` is not known and has no effect"));
        }
        Ok(url)
    }

    /// Where `url` leads.
    fn resolve(&self, url: &PersistentUrl) -> Result<Resolved, Failure> {
        let items = Holders::new(&self.known.collections);
        let found = resolve(&items, url, &self.preferences);
        let is_conflict = matches!(found, Err(ResolveError::TwoOriginals { .. }));
        for alert in items.alerts() {
            match alert {
                Alert::TwoOriginals { .. } if is_conflict => {}
                alert => self.context.printer.warning(&warning(&self.known, &alert)),
            }
        }
        found.map_err(|error| failure(&self.known, error))
    }

    /// Where `text` leads, if it is a persistent URL with modifiers or verbs: any other text names an item in the collection at
    /// hand.
    fn modified(&self, text: &str) -> Result<Option<Resolved>, Failure> {
        match read(text) {
            Ok(url) if url.selection.verbs != Verbs::default() => {
                self.resolve(&self.read(text)?).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Where `text` leads, with the known collections, if it is a persistent URL with modifiers.
pub(super) fn modified<'r, 'a>(
    context: &'a Context,
    resolver: &'r OnceCell<Resolver<'a>>,
    text: &str,
) -> Result<Option<(&'r Known, Resolved)>, Failure> {
    // An identifier or a path has none of the characters that begin a modifier or a question.
    if !text.contains(['!', '+', ':', '?']) {
        return Ok(None);
    }
    let resolver = if let Some(resolver) = resolver.get() {
        resolver
    } else {
        let new = Resolver::new(context, &[])?;
        resolver.get_or_init(|| new)
    };
    Ok(resolver.modified(text)?.map(|found| (&resolver.known, found)))
}

/// The persistent URL that `text` is, perhaps with a fragment, which is for a browser.
fn read(text: &str) -> Result<PersistentUrl, ParseError> {
    text.parse().or_else(|error| {
        let page = text.split_once('#').and_then(|(page, _)| page.parse().ok());
        page.or_else(|| pasted(text)).ok_or(error)
    })
}

/// The persistent URL of an item in `own`, and of a file in it, by the end of its identifier. A text with a whole identifier
/// is a persistent URL, or a wrong one.
fn of_end(context: &Context, own: &Collection, text: &str) -> Option<PersistentUrl> {
    if Pasted::read(text).is_ok() {
        return None;
    }
    let (item, file) = item_and_file(context, own, text).ok()?;
    let file = file.map_or_else(String::new, |it| format!("/{}", encode_path(it.as_bytes())));
    format!("{}{file}", item.name()).parse().ok()
}

/// The persistent URL of a pasted text, such as the path of a file in a collection. What follows it could belong to it, as the rest
/// of a path with a space: only punctuation, and the other form of the identifier, are left out.
fn pasted(text: &str) -> Option<PersistentUrl> {
    let Pasted { identifier, twin, rest, after } = Pasted::read(text).ok()?;
    let is_name = |word: &str| {
        let read = word.parse::<Identifier>();
        read.is_ok_and(|it| it == identifier || twin.as_ref() == Some(&it))
    };
    let is_left_out = |word: &str| {
        let word =
            word.trim_matches(['.', ',', ';', '\'', '’', '"', '”', '`', '»', '>', ')', ']', '}']);
        ["", "rep", "ibip"].contains(&word) || is_name(word)
    };
    if !after.split_whitespace().all(is_left_out) {
        return None;
    }
    let below = rest.strip_prefix("/doc").filter(|path| path.starts_with('/'));
    format!("{identifier}{}", below.unwrap_or(rest)).parse().ok()
}

/// Why a URL leads nowhere, in the known collections.
fn failure(known: &Known, error: ResolveError) -> Failure {
    match error {
        ResolveError::Unresolved(Unresolved::NotFound(identifier)) => {
            known.no_item(identifier.as_str())
        }
        ResolveError::TwoOriginals { name, collections } => match collections[..] {
            [first, second, ..] => known.two_originals(&name, [first, second]),
            _ => Failure::from(ResolveError::TwoOriginals { name, collections }),
        },
        error => {
            let elsewhere = matches!(error, ResolveError::Unresolved(Unresolved::Elsewhere { .. }));
            let missing = known.missing.iter().filter(|_| elsewhere);
            missing.fold(Failure::from(error), |failure, missing| {
                failure.caused_by(format!("`{}` is not opened and may hold it", missing.name))
            })
        }
    }
}

fn warning(known: &Known, alert: &Alert) -> String {
    let path = |at: &usize| format!("`{}`", known.collections[*at].path().display());
    match alert {
        Alert::TwoOriginals { name, collections } => {
            let paths: Vec<_> = collections.iter().map(path).collect();
            format!("`{name}` has two Originals: {} all say that they hold it", paths.join(", "))
        }
        Alert::Unreadable { name, collection, reason } => {
            format!("what {} holds of `{name}` cannot be read: {reason}", path(collection))
        }
        Alert::Deleted { name, date } => {
            format!("the Original of `{name}` was deleted on {date}; a Copy is left")
        }
        Alert::Unsealed { name, collection } => {
            format!("item.toml of `{name}` in {} was changed by hand or damaged", path(collection))
        }
    }
}

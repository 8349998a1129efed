//! `urepo resolve`: resolve persistent URLs.

mod explain;
mod locale;
mod pairs;
mod report;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::str::FromStr;

use clap::builder::{OsStringValueParser, TypedValueParser};
use urepo::collection::Collection;
use urepo::identity::{
    HostPort, Identifier, LanguagePreferences, ParseError, Pasted, PersistentUrl, RequiredStatus,
    encode_path,
};
use urepo::resolve::{Alert, Holders, ResolveError, Resolved, Unresolved, UrlKey, resolve};

use super::open::item_and_file;
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
/// translation into the language you prefer, `+(pt-BR)` to that translation, `:` to the metadata,
/// `:(oai_dc)`, `:(bibtex)`, `:(datacite)`, `:(abnt)` and `:(apa)` to the metadata in that format. Their
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
#[command(after_long_help = "\
Examples:
  urepo resolve http://urlib.net/example.org/archive/2026/11.21.02.13
  urepo resolve 'example.org/archive/2026/11.21.02.13!+'
  urepo resolve --cat example.org/archive/2026/11.21.02.13/data/table.csv
  urepo resolve 'example.org/archive/2026/11.21.02.13!:(oai_dc)'
  urepo resolve 'example.org/archive/2026/11.21.02.13:(abnt)'
  urepo resolve --explain http://urlib.net/sid.inpe.br/mtc-m18@80/2009/02.16.17.46
  urepo resolve --explain '150.163.34.243:800 2009-02-16T17:46Z'
  urepo resolve --pairs --address archive.example.org example.org/archive/2026/11.21.02.13")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it is typed")]
pub(crate) struct Resolve {
    /// The persistent URLs; put them in quotes
    #[arg(value_name = "URL", required = true, value_parser = text())]
    urls: Vec<String>,
    /// Look into this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
    /// Explain identifiers in any spelling; `-` reads more from standard input, one a line
    #[arg(long, conflicts_with_all = ["with", "original", "accept_language", "cat", "open", "null", "pairs", "all_pairs"])]
    explain: bool,
    /// Answer with the Original only
    #[arg(long)]
    original: bool,
    /// The languages you prefer, such as pt-BR,pt;q=0.8,en;q=0.5; those of the locale unless given
    #[arg(long, value_name = "LANGUAGES", value_parser = parse::<LanguagePreferences>)]
    accept_language: Option<LanguagePreferences>,
    /// Print the bytes of the file, checked on the way, or the description
    #[arg(long, conflicts_with_all = ["open", "pairs", "all_pairs"])]
    cat: bool,
    /// Open the file as `urepo open` does
    #[arg(long, conflicts_with_all = ["pairs", "all_pairs"])]
    open: bool,
    /// End each path with a NUL byte
    #[arg(short = '0', long, conflicts_with_all = ["cat", "open", "pairs", "all_pairs"])]
    null: bool,
    #[command(flatten)]
    archive: AsArchive,
}

/// Answering as an Archive, with properties that a collection does not record.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Answering as an Archive")]
struct AsArchive {
    /// Print the list of pairs with which each collection answers a resolver
    #[arg(long)]
    pairs: bool,
    /// Print all pairs, also those that the URL does not request
    #[arg(long)]
    all_pairs: bool,
    /// The address of the Archive, HOST[:PORT]; without it, URLs are paths
    #[arg(long, value_name = "ADDRESS", value_parser = parse::<HostPort>)]
    address: Option<HostPort>,
    /// The identifier of the Archive service
    #[arg(long, value_name = "ID", value_parser = parse::<Identifier>)]
    service: Option<Identifier>,
    /// The identifier of the software
    #[arg(long, value_name = "ID", value_parser = parse::<Identifier>)]
    software: Option<Identifier>,
    /// The URL key: one or two numbers of ten digits or more
    #[arg(long, value_name = "KEY", value_parser = parse::<UrlKey>)]
    urlkey: Option<UrlKey>,
}

impl AsArchive {
    fn is_asked(&self) -> bool {
        self.pairs || self.all_pairs
    }
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
        let known = context.known(&self.with)?;
        let own = context.collection().ok();
        let preferences = self.accept_language.clone().unwrap_or_else(locale::preferences);
        for_each(context, &self.urls, |text| {
            let mut url = match (read(text), &own) {
                // Within a collection, the end of an identifier is enough, as everywhere.
                (Err(error), Some(own)) => of_end(context, own, text).ok_or(error)?,
                (read, _) => read?,
            };
            if self.original {
                url.selection.status = RequiredStatus::Original;
            }
            for name in &url.selection.unknown {
                context.printer.warning(&format!("`{name}` is not known and has no effect"));
            }
            if self.archive.is_asked() {
                return self.tell_pairs(context, &known, text, &url);
            }
            let items = Holders::new(&known.collections);
            let found = resolve(&items, &url, &preferences);
            let is_conflict = matches!(found, Err(ResolveError::TwoOriginals { .. }));
            for alert in items.alerts() {
                match alert {
                    Alert::TwoOriginals { .. } if is_conflict => {}
                    alert => context.printer.warning(&warning(&known, &alert)),
                }
            }
            self.tell(context, &known, text, &url, &found.map_err(|error| failure(&known, error))?)
        })
    }

    fn tell(
        &self,
        context: &Context,
        known: &Known,
        text: &str,
        url: &PersistentUrl,
        found: &Resolved,
    ) -> Done {
        if self.cat {
            report::content(context, known, found)
        } else if self.open {
            report::open(context, known, text, found)
        } else if context.printer.json {
            report::record(context, known, (text, url), found)
        } else {
            report::paths(context, known, if self.null { b"\0" } else { b"\n" }, found)
        }
    }
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
            format!("the sidecar of `{name}` in {} does not match its seal", path(collection))
        }
    }
}

//! `urepo find`: search items.

use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use urepo::catalog::{Catalog, Hit};
use urepo::clock::Clock as _;
use urepo::collection::Collection;
use urepo::digest::{Digest, Hasher};
use urepo::disk::{PathError, Stream};
use urepo::identity::{Identifier, Prefix};
use urepo::index::Query;
use urepo::item::State;
use urepo::sidecar::{RELATION_KEYS, RelationKind};

use super::list::LONG;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Item};
use crate::cli::report::{End, Report};
use crate::cli::table::{HIT_KEYS, ITEMS, Table, TableArgs};
use crate::cli::when::When;
use crate::cli::{Done, escape, human, indexed};

/// Search items by metadata, file name, content, state and date
///
/// All words of TEXT have to occur in the description, in any order, whatever their case and accents. "two
/// words" in quotation marks occur in this order, word* is the beginning of a word, -word must not occur (put
/// -- before TEXT if it begins so), and title:word occurs in the title; so do creator, subject and every
/// other term. Prints identifiers and titles of the items that meet every condition, by date; the exit code
/// is 21 if there are none.
///
/// The answers come from the index, a private cache that is built on first use and then follows the ledger, also
/// with --dry-run. Every answer is compared with the sidecar, so it is never wrong.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo find annual
  urepo find 'title:\"annual\" -draft' --since 2020-01-01
  urepo find --file '*.csv' --state Original
  urepo find --source annual
  urepo find --content annual/report.pdf
  urepo find --related 11.21.02.13
  urepo find --related part_of=example.org/archive/2026/11.21.02.13
  urepo find annual --sort -created --limit 10 --columns created,title
  urepo find annual -0 | xargs -0 urepo show")]
pub(crate) struct Find {
    /// Words of the description
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Only items whose TERM, or x.KEY, has the words of TEXT, whole and in this order; may be repeated
    #[arg(long = "term", value_name = "TERM=TEXT", value_parser = parse_term)]
    terms: Vec<(String, String)>,
    /// Only items with a file of this name or path; * and ? stand for any characters
    #[arg(long, value_name = "NAME", value_parser = escape::argument_of(parse_text))]
    file: Vec<String>,
    /// Only items made from a source whose path contains TEXT; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = escape::argument_of(parse_text))]
    source: Vec<String>,
    /// Only items with a file that has the content of FILE
    #[arg(long, value_name = "FILE")]
    content: Option<PathBuf>,
    /// Only items with this digest, of a file or of the manifest
    #[arg(long, value_name = "DIGEST", value_parser = parse_digest)]
    sha256: Option<Digest>,
    /// Only items with this IBIp, or with this alias among the identifiers of their description
    #[arg(long, value_name = "TEXT", value_parser = parse_text)]
    identifier: Option<String>,
    /// Only items with a relation to this item; with KIND, only of this kind, such as `next_edition`, `translation` or `part_of`
    #[arg(long, value_name = "[KIND=]ITEM", value_parser = parse_related)]
    related: Vec<Related>,
    /// Only items in this state: Original, Copy or Deleted; without it, deleted items are not found
    #[arg(long)]
    state: Option<State>,
    /// Only identifiers of this prefix: subdomain/word[.port]
    #[arg(long)]
    prefix: Option<Prefix>,
    /// Only items named at or after this time: 2026, 2026-11, 2026-11-22, 2026-11-22T12:00:00Z, or an age: 7d, 12h
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    since: Option<When>,
    /// Only items named before the end of this year, month, day or time
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    until: Option<When>,
    /// Print state, size and number of files as well
    #[arg(short, long, conflicts_with_all = ["null", "columns"], help_heading = "Output")]
    long: bool,
    #[command(flatten)]
    table: TableArgs,
}

/// A search text. The empty text, from an unset shell variable, would be in every item.
fn parse_text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("the text is empty".to_owned()) } else { Ok(text.to_owned()) }
}

fn parse_term(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((term, text)) if !text.trim().is_empty() => Ok((term.to_owned(), text.to_owned())),
        _ => Err("expected TERM=TEXT, such as publisher=INPE".to_owned()),
    }
}

/// A relation to an item: its key in the sidecar, if one is wanted, and the item.
#[derive(Clone, Debug)]
struct Related {
    key: Option<&'static str>,
    item: String,
}

fn parse_related(text: &str) -> Result<Related, String> {
    let Some((kind, item)) = text.split_once('=') else {
        return Ok(Related { key: None, item: text.to_owned() });
    };
    let known = RELATION_KEYS.into_iter().find(|key| *key == kind);
    let key = known.or_else(|| Some(kind.parse::<RelationKind>().ok()?.key()));
    let key = key.ok_or_else(|| format!("expected a kind of {}", RELATION_KEYS.join(", ")))?;
    Ok(Related { key: Some(key), item: item.to_owned() })
}

fn parse_digest(text: &str) -> Result<Digest, String> {
    let text = text.strip_prefix("sha256:").unwrap_or(text);
    text.to_ascii_lowercase().parse().map_err(|_| "expected 64 hexadecimal digits".to_owned())
}

impl Find {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let columns = if self.long { &LONG[..] } else { &["id", "title"] };
        let mut table = Table::new(context, &self.table, &ITEMS, columns)?;
        let query = self.query(context, &collection)?;
        let mut catalog = context.catalog(&collection)?;
        let (mut unwritten, mut deleted) = (None, 0);
        catalog.find(&query, |item| {
            // Its files are not here.
            if self.state.is_none() && !item.state.is_some_and(State::has_payload) {
                deleted += 1;
                return Ok(ControlFlow::Continue(()));
            }
            Ok(tell(context, &collection, &mut table, &item).unwrap_or_else(|failure| {
                unwritten = Some(failure);
                ControlFlow::Break(())
            }))
        })?;
        unwritten.map_or(Ok(()), Err)?;
        let found = table.finish()?;
        self.finish(context, (found, deleted), &catalog)
    }

    fn query(&self, context: &Context, collection: &Collection) -> Result<Query, Failure> {
        let now = context.clock.now();
        let mut query = Query::default()
            .state(self.state)
            .prefix(self.prefix.clone())
            .named(self.since.map(|it| it.first(now)), self.until.map(|it| it.end(now)))
            .text(&self.text.join(" "))?;
        for (term, text) in &self.terms {
            query = query.term(term, text)?;
        }
        for name in &self.file {
            query = query.file(&escape::printed(name));
        }
        for text in &self.source {
            query = query.source(text);
        }
        if let Some(path) = &self.content {
            query = query.digest(&digest_of(context, &context.absolute(path))?);
        }
        if let Some(digest) = &self.sha256 {
            query = query.digest(digest);
        }
        if let Some(text) = &self.identifier {
            query = query.identifier(text);
        }
        for Related { key, item } in &self.related {
            query = query.related(*key, &identifiers(context, collection, item)?);
        }
        if query.is_empty() {
            return Err(Failure::usage("no search terms were given")
                .hint("`urepo find WORD…` searches descriptions; `urepo list` lists all items"));
        }
        Ok(query)
    }

    /// The next command to try after a search without results.
    fn hint(&self) -> String {
        let pairs = self.text.iter().flat_map(|text| text.split_whitespace());
        for (term, value) in pairs.filter_map(|word| word.split_once(':')) {
            // A URL has a colon, too, and finds what it is part of.
            let is_term = term.chars().all(char::is_alphabetic) && !value.starts_with('/');
            match Query::default().term(term, value).map_err(Failure::from) {
                Err(Failure { message, hint: Some(hint), .. }) if is_term => {
                    return format!("{message}; {hint}");
                }
                Ok(_) if value.contains("..") => {
                    return format!(
                        "`{term}:` takes words, not a range; a `*` at the end matches any ending, as in `date:191*`"
                    );
                }
                _ => {}
            }
        }
        let is_elsewhere =
            !self.file.is_empty() || !self.source.is_empty() || self.content.is_some();
        let hint = if !self.text.is_empty() && !is_elsewhere {
            "words are searched in descriptions; `--file`, `--source` and `--content` search elsewhere"
        } else if !self.file.is_empty() {
            "`--file` takes a whole name or path; in `--file '*.csv'`, `*` stands for any characters"
        } else {
            "an item has to match all of it; `urepo list` lists all items"
        };
        hint.to_owned()
    }

    fn finish(
        &self,
        context: &Context,
        (found, deleted): (u64, u64),
        catalog: &Catalog<'_>,
    ) -> Done {
        let unlisted = &catalog.report().unreadable;
        let partial = match (found, unlisted.is_empty()) {
            (0, true) => {
                let failure = Failure::new(Exit::NoItem, "no matching items");
                Some(match deleted {
                    0 => failure.hint(self.hint()),
                    _ => failure.hint(format!(
                        "{} matched: `--state Deleted` prints what remains",
                        human::count(deleted, "deleted item")
                    )),
                })
            }
            _ => indexed::judge(catalog.report()).err(),
        };
        let mut report = Report::reading(context, "found", false);
        report.summary.counts.items = found;
        report.count("unlisted_directories", unlisted.len() as u64);
        report.finish(End { partial, ..End::default() })
    }
}

/// Prints an item, from the index or from its sidecar.
fn tell(
    context: &Context,
    collection: &Collection,
    table: &mut Table<'_>,
    found: &Hit,
) -> Result<ControlFlow<()>, Failure> {
    if table.needs_only(&HIT_KEYS) {
        return table.row(found);
    }
    let item = collection.item(&found.name)?;
    match item.sidecar() {
        Ok((sidecar, _)) => table.row(&records::to_json(&Item::described(&item, &sidecar))),
        Err(error) if context.printer.json => {
            let error = Some((&Failure::from(error)).into());
            table.row(&records::to_json(&Item { error, ..Item::named(collection, &found.name) }))
        }
        Err(_) => table.row(found),
    }
}

/// The identifiers of the item that `text` refers to, which need not be in the collection.
fn identifiers(
    context: &Context,
    collection: &Collection,
    text: &str,
) -> Result<Vec<Identifier>, Failure> {
    match context.item(collection, text) {
        Ok(item) => Ok(item.sidecar()?.0.identifiers()),
        Err(failure) => Identifier::read(text).map(|it| vec![it]).map_err(|_| failure),
    }
}

/// The digest of a file outside the collection.
fn digest_of(context: &Context, path: &Path) -> Result<Digest, Failure> {
    let mut stream = Stream::open(path, &context.interrupt)?;
    let (mut buffer, mut hasher) = (vec![0; 256 * 1024], Hasher::default());
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(length) => hasher.update(&buffer[..length]),
            Err(_) if context.interrupt.requested() => {
                return Err(Failure::told(Exit::Interrupted));
            }
            Err(error) => return Err(PathError::new("read", path, error).into()),
        }
    }
}

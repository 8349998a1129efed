//! The search of `urepo list`.

use std::collections::{BTreeSet, HashSet};
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;

use urepo::catalog::{Catalog, Hit};
use urepo::collection::Collection;
use urepo::digest::{Digest, Hasher};
use urepo::disk::{PathError, Stream};
use urepo::identity::{Identifier, RepositoryName};
use urepo::index::{Form, Query, Word, relations_of};
use urepo::item::States;

use super::{List, tell_gone};
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::nearest::nearest;
use crate::cli::records::{self, Item};
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::table::{HIT_KEYS, ITEMS, Table};
use crate::cli::{Done, escape, explain, human, indexed, shell};

/// Limit on items whose values are looked at after a search without results, and on those that are shown.
const MOST_ASKED: usize = 1000;
const MOST_SHOWN: usize = 3;

/// Prints the items of `selection` that have all of `words`.
pub(super) fn run(
    context: &Context,
    collection: &Collection,
    list: &List,
    (selection, words): (&Selection, &[&String]),
) -> Done {
    let mut table = Table::new(context, &list.table, &ITEMS, list.columns(context))?;
    let words: Vec<Word> =
        words.iter().map(|text| Word::of_argument(text)).collect::<Result<Vec<_>, _>>()?.concat();
    let names = selection.filter(context);
    let query = words
        .iter()
        .try_fold(Query::default(), |query, word| with_word(context, collection, query, word))?;
    if query.has_no_words() {
        return Err(Failure::usage("no word has a letter or a digit")
            .hint("`urepo list WORD…` searches; `urepo list` lists all items"));
    }
    let query = query.prefix(names.prefix).named(names.since, names.until);
    let named = selection.of(context, collection)?.into_names()?;
    for name in named.iter().flatten() {
        if let Err(error) = collection.named_item(name) {
            context.note_unresolved(name.as_str(), error.into());
        }
    }
    let is_of_nothing = named.as_ref().is_some_and(Vec::is_empty);
    let named: Option<HashSet<_>> =
        named.map(|names| names.iter().map(RepositoryName::folded).collect());
    let states = list.flags.state.unwrap_or(States::WITH_PAYLOAD);
    let mut catalog = context.catalog(collection)?;
    let (mut unwritten, mut gone) = (None, 0);
    catalog.find(&query, |hit| {
        let is_named = named.as_ref().is_none_or(|named| named.contains(&hit.name.folded()));
        // An unreadable item is listed, unless --state asks for a state.
        let is_wanted =
            hit.state.map_or(list.flags.state.is_none(), |state| states.contains(state));
        if !is_named || !is_wanted {
            gone += u64::from(is_named && list.flags.state.is_none());
            return Ok(ControlFlow::Continue(()));
        }
        Ok(tell(context, collection, &mut table, &hit).unwrap_or_else(|failure| {
            unwritten = Some(failure);
            ControlFlow::Break(())
        }))
    })?;
    unwritten.map_or(Ok(()), Err)?;
    let found = table.finish()?;
    let unlisted = catalog.report().unreadable.len();
    let partial = if found == 0 && unlisted == 0 && !is_of_nothing {
        let failure = Failure::new(Exit::NoItem, format!("no item has {}", shown(&words)));
        Some(match gone {
            0 => {
                let near = values_there(collection, &mut catalog, &words);
                failure.hint(near.unwrap_or_else(|| hint(&words)))
            }
            _ => failure.hint(format!(
                "{} matched: `--state Deleted,Elsewhere` prints what remains",
                human::count(gone, "item that is deleted or elsewhere")
            )),
        })
    } else {
        tell_gone(context, gone);
        indexed::judge(catalog.report()).err()
    };
    let mut report = Report::reading(context, Did::Sound, false);
    report.summary.counts.items = found;
    report.count("unlisted_directories", unlisted as u64);
    report.finish(End { partial, ..End::default() })
}

/// The query with a word more. The value of a relation may be an item of the collection, by any spelling.
fn with_word(
    context: &Context,
    collection: &Collection,
    query: Query,
    word: &Word,
) -> Result<Query, Failure> {
    let key = word.key.as_deref().unwrap_or_default();
    let found = if key == "content" && word.form != Form::Any {
        Query::default().digest(&digest_of(context, &context.absolute(Path::new(&word.text)))?)
    } else if key == "file" {
        let text = escape::printed(&word.text);
        return Ok(query.word(&Word { text, ..word.clone() })?);
    } else if word.form != Form::Any
        && let Some(relations) = relations_of(key)
    {
        Query::default().related(&relations, &identifiers(context, collection, &word.text)?)
    } else {
        return Ok(query.word(word)?);
    };
    Ok(query.with(found, word.is_unwanted)?)
}

/// The searched words for a message: `"silva" in title`.
fn shown(words: &[Word]) -> String {
    let one = |word: &Word| {
        let text = escape::one_line(&word.text);
        let what = match (word.form, &word.key) {
            (Form::Any, Some(key)) => format!("the key {}", escape::one_line(key)),
            (Form::Beginning, Some(key)) => format!("\"{text}*\" in {}", escape::one_line(key)),
            (_, Some(key)) => format!("\"{text}\" in {}", escape::one_line(key)),
            (Form::Beginning, None) => format!("\"{text}*\""),
            (_, None) => format!("\"{text}\""),
        };
        if word.is_unwanted { format!("no {what}") } else { what }
    };
    words.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// The values that a key has which was searched without result: the nearest, or some of them.
fn values_there(
    collection: &Collection,
    catalog: &mut Catalog<'_>,
    words: &[Word],
) -> Option<String> {
    let is_searched = |it: &&Word| it.form != Form::Any && !it.is_unwanted;
    let word = words.iter().filter(is_searched).find(|it| it.key.is_some())?;
    let key = word.key.as_deref()?;
    let any = Word { form: Form::Any, text: String::new(), ..word.clone() };
    let (mut values, mut items) = (BTreeSet::new(), 0);
    let found = catalog.find(&Query::default().word(&any).ok()?, |hit| {
        let sidecar = collection.named_item(&hit.name).and_then(|item| item.sidecar());
        if let Ok((sidecar, _)) = sidecar {
            values.extend(sidecar.metadata.values(key).unwrap_or_default());
        }
        items += 1;
        Ok(if items == MOST_ASKED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    found.ok()?;
    let all: Vec<&str> = values.iter().map(String::as_str).collect();
    let quoted = |text: &str| format!("\"{}\"", escape::one_line(text));
    let shown: Vec<_> = match nearest(&word.text, &all) {
        Some(nearest) => vec![quoted(nearest)],
        None => all.iter().take(MOST_SHOWN).map(|it| quoted(it)).collect(),
    };
    let has = match all.len() - shown.len() {
        0 => shown.join(", "),
        _ => format!("{}, and others", shown.join(", ")),
    };
    let key = escape::one_line(key);
    (!shown.is_empty()).then(|| format!("{key} has {has}"))
}

/// The next command to try after a search without results.
fn hint(words: &[Word]) -> String {
    for word in words.iter().filter(|it| it.key.is_none()) {
        // As other programs compare.
        let Some((key, value)) = word.text.split_once(['<', '>', '=']) else { continue };
        let value = value.trim_start_matches('=');
        if ["date", "issued", "bytes"].contains(&key) && !value.is_empty() {
            let range = match word.text.as_bytes()[key.len()] {
                b'>' => format!("{value}.."),
                b'<' => format!("..{value}"),
                _ => value.to_owned(),
            };
            return format!("`urepo list {}`", shell::word(format!("{key}:{range}")));
        }
    }
    for word in words {
        let Some((term, value)) = word.text.split_once(':').filter(|_| word.key.is_none()) else {
            continue;
        };
        // A URL has a colon, too, and finds what it is part of.
        let is_term = term.chars().all(char::is_alphabetic) && !value.starts_with('/');
        if is_term {
            return format!("{}a key of your own is `x.{term}:`", explain::meant_term(term));
        }
    }
    if words.iter().any(|it| it.key.as_deref() == Some("file")) {
        return "`file:` takes a whole name or path; in `file:'*.csv'`, `*` stands for any characters"
            .to_owned();
    }
    if words.iter().any(|it| it.key.is_some()) {
        return "an item has to match all of it; `urepo list` lists all items".to_owned();
    }
    "words are whole: `silv*` is the beginning of one".to_owned()
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

//! `urepo show`: everything about an item, or one side of it.

mod document;
mod manifest;
mod path;

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;
use urepo::catalog::{Catalog, CatalogError, Hit};
use urepo::collection::{Collection, StoredItem};
use urepo::export::metadata::{DocumentFormat, MetadataFormat};
use urepo::holdings::{JudgedHolding, Standing};
use urepo::identity::Identifier;
use urepo::index::Query;
use urepo::item::{Content, Entry, PayloadPath, State, position};
use urepo::sidecar::{RELATION_KEYS, Seal, Sidecar};

use crate::cli::choice::{Choice, one_of};
use crate::cli::context::{Context, put_back};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Item, Referrer};
use crate::cli::select::Selection;
use crate::cli::{Done, escape, human, remedy, shell};

/// Show the metadata and files of items
///
/// ITEM is an identifier, an IBIp, a link or path that contains one, or the end of an identifier if it is
/// unambiguous.
///
/// Relations of other items to ITEM come from the index, if there is one: `urepo list WORD` builds it. Which collections hold an ITEM
/// that is named, and how, is shown where more than one is known: the settings name them, and --with. `urepo status ITEM` judges
/// the holdings.
///
/// --as prints the descriptions of any number of items as one document, instead. `urepo meta import` reads toml, jsonl, csv and
/// tsv back, and carries out your corrections. A table, csv or tsv, has a column `identifier` and a column for each term, for
/// each key of your own as x.KEY and for each kind of relation as relation.KIND; a term with several values has several
/// columns, in the other three a list. The items of a table are read twice, to find its columns first. The other formats have
/// fewer terms than the sidecar. --as manifest prints the digests of the files as `sha256sum -c` checks them: in the `doc` of
/// a single item, from the root of the collection for several.
///
/// --path prints the directory of each item instead, or the file of ITEM/FILE; `urepo resolve ITEM` prints the file that the
/// identifier opens.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    selection: Selection,
    /// Look for holdings of the item in this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION", conflicts_with_all = ["path", "format"])]
    with: Vec<OsString>,
    /// Show all files, however many
    #[arg(short = 'a', long)]
    all_files: bool,
    /// Print where it is on the disk: the directory, or the file of ITEM/FILE
    #[arg(long, conflicts_with_all = ["all_files", "format"])]
    path: bool,
    /// End each path with a NUL byte
    #[arg(short = '0', long, requires = "path")]
    null: bool,
    /// Print it in this format instead
    #[arg(long = "as", value_name = "FORMAT", conflicts_with = "all_files", value_parser = one_of(&FORMATS))]
    format: Option<Format>,
}

/// The output of `--as`.
#[derive(Clone, Copy, Debug)]
enum Format {
    Manifest,
    Document(DocumentFormat),
}

impl Format {
    const fn foreign(format: MetadataFormat) -> Format {
        Format::Document(DocumentFormat::Foreign(format))
    }
}

const FORMATS: [Choice<Format>; 11] = [
    ("abnt", "A reference by ABNT NBR 6023", Format::foreign(MetadataFormat::Abnt)),
    ("apa", "A reference by APA", Format::foreign(MetadataFormat::Apa)),
    ("bibtex|bib", "Entries for a bibliography", Format::foreign(MetadataFormat::Bibtex)),
    (
        "csv",
        "A table: commas, column names in the first line",
        Format::Document(DocumentFormat::Csv),
    ),
    ("datacite", "DataCite 4, in JSON", Format::foreign(MetadataFormat::Datacite)),
    ("json", "A list of objects", Format::Document(DocumentFormat::Json)),
    ("jsonl|ndjson", "One JSON object a line", Format::Document(DocumentFormat::Jsonl)),
    ("manifest", "Digests, for `sha256sum -c`", Format::Manifest),
    (
        "oai_dc|xml|dc",
        "Dublin Core in the XML of OAI-PMH",
        Format::foreign(MetadataFormat::DublinCore),
    ),
    ("toml", "[[item]] tables", Format::Document(DocumentFormat::Toml)),
    ("tsv", "A table: tabs, column names in the first line", Format::Document(DocumentFormat::Tsv)),
];

/// Number of relations of other items shown unless all are asked for.
const REFERRERS_SHOWN: usize = 20;

/// Number of files shown unless all are asked for.
const FILES_SHOWN: usize = 20;

impl Show {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("show ITEM…")?;
        match self.format {
            Some(Format::Manifest) => return manifest::run(context, &self.selection),
            Some(Format::Document(format)) => {
                return document::run(context, &self.selection, format);
            }
            None if self.path => {
                return path::run(context, &self.selection, if self.null { b'\0' } else { b'\n' });
            }
            None => {}
        }
        let collection = context.collection()?;
        let mut catalog = context.existing_catalog(&collection);
        let named = self.with.iter().map(|it| context.open_named(it));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        // All items have no neighbours looked at: that takes as long as `status`.
        let looks = self.selection.names_items() || !named.is_empty();
        let opened = looks.then(|| context.opened_in_sight(&[]).with(named));
        let in_sight = opened.as_ref().map(|opened| opened.in_sight(context));
        let mut gap = "";
        if context.is_put_back(&collection)? {
            context.printer.warning(&put_back(&collection));
        }
        context.for_each_selected(&self.selection, "show ITEM…", |_, item| {
            let (sidecar, seal) = item.sidecar()?;
            let related = catalog.as_mut().map(|catalog| referrers(catalog, &sidecar));
            let related = related.transpose()?;
            let in_sight = in_sight.as_ref();
            let remedies = in_sight.map_or(Vec::new(), |it| it.in_use_alone(item.name(), &[]));
            let holdings = in_sight.and_then(|it| it.holdings(item.name()));
            let written = if context.printer.json {
                context.printer.record(&Item {
                    sealed: Some(seal == Seal::Intact),
                    entries: Some(
                        sidecar.files.iter().map(|it| records::Entry::new(None, it)).collect(),
                    ),
                    referenced_by: related.map(|related| referrer_records(&related)),
                    held_by: holdings.map(|all| {
                        let record = |(at, it)| records::Holding::of(at, item.name(), &it);
                        all.into_iter().map(record).collect()
                    }),
                    remedies: remedies.clone(),
                    ..Item::described(item, &sidecar)
                })
            } else {
                let related = related.unwrap_or_default();
                let text = self.text(item, &sidecar, &related, &holdings.unwrap_or_default());
                context.printer.lines(&format!("{gap}{text}"))
            };
            written?;
            if seal != Seal::Intact {
                let more =
                    shell::pasted(&format!("`urepo repair {} --accept` shows it", item.name()));
                context.printer.warning(&format!(
                    "the sidecar of `{}` does not match its seal; if you edited it, {more}",
                    item.name()
                ));
            }
            if !context.printer.json {
                for line in remedy::lines(&remedies) {
                    context.printer.hint(&line);
                }
            }
            gap = "\n";
            Ok(())
        })
    }

    fn text(
        &self,
        item: &StoredItem,
        sidecar: &Sidecar,
        related: &[(&'static str, Hit)],
        holdings: &[(&Collection, JudgedHolding)],
    ) -> String {
        let mut text = Vec::new();
        line(&mut text, "identifier", item.name().as_str());
        if let Some(ibip) = &sidecar.ibip {
            line(&mut text, "ibip", ibip.as_str());
        }
        line(&mut text, "state", &sidecar.state.to_string());
        line(&mut text, "created", &sidecar.created.to_string());
        line(&mut text, "timestamp", &sidecar.timestamp.to_string());
        if let Some(described) = &sidecar.described {
            line(&mut text, "described", &described.to_string());
        }
        line(&mut text, "path", &item.path().display().to_string());
        for (at, (collection, holding)) in holdings.iter().enumerate() {
            let key = if at == 0 { "held by" } else { "" };
            line(&mut text, key, &held_by(collection, holding));
        }
        if let Some(target) = &sidecar.target {
            line(&mut text, "target", &target.to_text());
        }
        if !sidecar.transferable {
            line(&mut text, "transferable", "no");
        }
        if sidecar.access != urepo::sidecar::Access::default() {
            let allowed: Vec<_> = sidecar.access.allow.iter().map(ToString::to_string).collect();
            let but = if allowed.is_empty() { "" } else { "; open to " };
            let access = format!("{}{but}{}", sidecar.access.level, allowed.join(", "));
            line(&mut text, "access", &access);
        }
        for table in [sidecar.metadata.table(), sidecar.relations.table(), &sidecar.origin] {
            describe(&mut text, "", table);
        }
        let most = if self.all_files { usize::MAX } else { REFERRERS_SHOWN };
        list_referrers(&mut text, sidecar, related, most);
        if sidecar.state == State::Elsewhere {
            // It says nothing about the files.
            line(&mut text, "holder", sidecar.custody.holder());
            return human::fields(&text);
        }
        if let Some(ceded) = sidecar.custody.ceded() {
            line(&mut text, "migration", &format!("to {}, not finished", ceded.to));
        }
        if let Some(removal) = &sidecar.removal {
            line(&mut text, "removed", &sidecar.timestamp.to_string());
            line(&mut text, "removed by", &removal.by);
            if let Some(reason) = &removal.reason {
                line(&mut text, "reason", reason);
            }
            line(&mut text, "was", &removal.was.to_string());
        }
        let payload = &sidecar.payload;
        let mut totals = human::size(payload.files, payload.bytes);
        if payload.bytes >= 1024 {
            totals += &format!(" ({} bytes)", payload.bytes);
        }
        line(&mut text, "payload", &totals);
        line(&mut text, "sha256", &payload.digest.to_string());
        let mut text = human::fields(&text);
        self.list_files(&mut text, &sidecar.files);
        text
    }

    fn list_files(&self, text: &mut String, entries: &[Entry]) {
        let shown = if self.all_files { entries.len() } else { entries.len().min(FILES_SHOWN) };
        for entry in &entries[..shown] {
            let path = escape::one_line(&entry.path.to_text());
            let _ = match &entry.content {
                Content::File { bytes, .. } => {
                    writeln!(text, "  {:>9}  {path}", human::bytes(*bytes))
                }
                Content::Link { target } => {
                    let target = escape::one_line(&String::from_utf8_lossy(target));
                    writeln!(text, "       link  {path} -> {target}")
                }
                Content::EmptyDirectory { .. } => writeln!(text, "      empty  {path}/"),
            };
        }
        if shown < entries.len() {
            let _ =
                writeln!(text, "  … and {} more; `--all-files` shows them", entries.len() - shown);
        }
    }
}

/// At most `most` lines, one for each relation that leads here and is not the other end of one of its own.
fn list_referrers(
    text: &mut Vec<(String, String)>,
    sidecar: &Sidecar,
    related: &[(&'static str, Hit)],
    most: usize,
) {
    let own: Vec<_> = sidecar.relations.iter().map(|relation| relation.to).collect();
    let is_own = |name| own.contains(&Identifier::Repository(name));
    let related: Vec<_> = related.iter().filter(|(_, hit)| !is_own(hit.name.clone())).collect();
    let shown = related.len().min(most);
    for (key, hit) in &related[..shown] {
        let meaning = match *key {
            "next_edition" => "next edition of",
            "previous_edition" => "previous edition of",
            "translation" => "translation of",
            "translation_of" => "translated by",
            "metadata" => "metadata of",
            "metadata_of" => "described by",
            "next_higher_unit" => "has part",
            _ => "related to",
        };
        line(text, meaning, hit.name.as_str());
    }
    if shown < related.len() {
        line(
            text,
            "",
            &shell::pasted(&format!(
                "… and {} more; `urepo show --all-files` shows them",
                related.len() - shown
            )),
        );
    }
}

/// The same as records.
fn referrer_records(related: &[(&'static str, Hit)]) -> Vec<Referrer> {
    related.iter().map(|(key, hit)| Referrer::new(key, hit)).collect()
}

/// The items with relations to the item, each with the key of its relation.
fn referrers(
    catalog: &mut Catalog<'_>,
    sidecar: &Sidecar,
) -> Result<Vec<(&'static str, Hit)>, CatalogError> {
    let identifiers = sidecar.identifiers();
    let mut found = Vec::new();
    for key in RELATION_KEYS {
        catalog.find(&Query::default().related(&[key], &identifiers), |hit| {
            found.push((key, hit));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// `mirror: Copy, up to date`.
fn held_by(collection: &Collection, holding: &JudgedHolding) -> String {
    let name = &collection.settings().name;
    let Ok(record) = &holding.record else { return format!("{name}: cannot be read") };
    let standing = match holding.standing {
        Standing::Current => ", up to date",
        Standing::Behind => ", older than another holding",
        Standing::Fork => ", changed in two places",
        Standing::Orphan => ", of an Original that is in no collection in sight",
        Standing::Damaged => ", damaged",
        Standing::Original | Standing::Elsewhere | Standing::Deleted => "",
    };
    format!("{name}: {}{standing}", record.state)
}

/// One line of a key and its value.
fn line(text: &mut Vec<(String, String)>, key: &str, value: &str) {
    text.push((key.to_owned(), value.to_owned()));
}

/// A value in words: a table such as that of a hand-over is a list of its keys and values.
fn in_one_line(value: &toml::Value) -> String {
    let pair = |(key, value): (&String, &toml::Value)| match value {
        toml::Value::Boolean(true) => key.clone(),
        value => format!("{key} {}", in_one_line(value)),
    };
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Table(table) => table.iter().map(pair).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// One line a value; lists become several.
fn describe(text: &mut Vec<(String, String)>, prefix: &str, table: &toml::Table) {
    for (key, value) in table {
        let key = format!("{prefix}{key}");
        match value {
            toml::Value::String(value) => line(text, &key, value),
            toml::Value::Array(values) => {
                for value in values {
                    line(text, &key, &in_one_line(value));
                }
            }
            // A line a file; `--json` and the sidecar have them.
            toml::Value::Table(kinds)
                if key == "digests" && kinds.values().all(toml::Value::is_table) =>
            {
                let kinds: Vec<_> = kinds.keys().map(String::as_str).collect();
                line(text, &key, &kinds.join(", "));
            }
            toml::Value::Table(inner) => describe(text, &format!("{key}."), inner),
            other => line(text, &key, &other.to_string()),
        }
    }
}

/// The failure of asking for files of a tombstone or a stub.
pub(super) fn gone(collection: &Collection, item: &StoredItem, sidecar: &Sidecar) -> Failure {
    let name = item.name();
    if sidecar.state == State::Elsewhere {
        let holder = sidecar.custody.holder();
        let message = format!("`{name}` is in collection {holder}");
        return Failure::new(Exit::NoItem, message).elsewhere(name);
    }
    let failure = Failure::new(Exit::Deleted, format!("`{name}` is deleted"));
    match collection.kept_in_trash(name) {
        Ok(kept) if kept.is_empty() => failure
            .caused_by("its files are not in the trash")
            .hint(format!("`urepo status {name}` looks for a Copy in all known collections")),
        _ => failure.hint(format!("`urepo restore {name}` brings it back until it is purged")),
    }
}

/// The file that an item opens: `file`, or its target.
pub(super) fn file_of(
    item: &StoredItem,
    sidecar: &Sidecar,
    file: Option<&OsStr>,
) -> Result<PayloadPath, Failure> {
    let is_known = |path: &PayloadPath| position(&sidecar.files, path.as_path()).is_some();
    // Another Unicode form of a name is the same name: macOS types other forms than most systems write.
    let in_other_form = |path: &PayloadPath| {
        let wanted: String = path.as_path().to_str()?.nfc().collect();
        let is_it =
            |it: &&Entry| it.path.as_path().to_str().is_some_and(|it| it.nfc().eq(wanted.chars()));
        let mut found = sidecar.files.iter().filter(is_it);
        found.next().filter(|_| found.next().is_none()).map(|entry| entry.path.clone())
    };
    let path = match file {
        Some(typed) => {
            let as_it_is = PayloadPath::new(std::path::Path::new(typed));
            // Or spelt with escapes, as in the sidecar or by `show`. An unnecessary escape is part of a
            // literal name.
            let text_form = |text: &str| {
                PayloadPath::from_text(text).ok().filter(|path| path.to_text() == text)
            };
            let spellings = [
                typed.to_str().and_then(text_form),
                as_it_is.as_ref().ok().cloned(),
                typed.to_str().and_then(|text| text_form(&escape::printed(text))),
            ];
            match spellings.into_iter().flatten().find(is_known) {
                Some(path) => path,
                None => as_it_is.map_err(|error| Failure::of(Exit::Failure, &error))?,
            }
        }
        None => sidecar.target.clone().ok_or_else(|| {
            Failure::new(Exit::Failure, format!("`{}` has no target", item.name()))
                .hint(format!("name a file; `urepo show {}` lists them", item.name()))
        })?,
    };
    if !is_known(&path) {
        if let Some(path) = in_other_form(&path) {
            return Ok(path);
        }
        // An escape is not escaped again.
        let typed = file.and_then(OsStr::to_str).map_or_else(|| path.to_string(), str::to_owned);
        let message = format!("no file `{typed}` in `{}`", item.name());
        return Err(Failure::new(Exit::NoItem, message)
            .hint(format!("`urepo show --all-files {}` lists them", item.name())));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_shown_in_words() {
        let table: toml::Table =
            "known = [{ date = 2026-11-21T02:13:00Z, lost = true }]".parse().unwrap();
        let mut text = Vec::new();
        describe(&mut text, "", &table);
        let told = "date 2026-11-21T02:13:00Z, lost".to_owned();
        assert_eq!(text, [("known".to_owned(), told)]);
    }
}

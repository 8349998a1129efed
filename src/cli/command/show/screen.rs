//! The screen of an item: the answer of `urepo show` for people.

use urepo::catalog::Hit;
use urepo::clock::Clock as _;
use urepo::collection::{Collection, StoredItem};
use urepo::holdings::{JudgedHolding, Standing};
use urepo::identity::{Identifier, RepositoryName};
use urepo::item::{Content, Entry, State};
use urepo::sidecar::{Access, Sidecar};

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::in_sight::InSight;
use crate::cli::printer::Verbosity;

/// Number of files, and of relations of other items, that are shown without `-v`.
const SHOWN: usize = 20;

/// The terms that come first.
const FIRST: [&str; 3] = ["title", "creator", "date"];

/// The screens of the items of a run.
pub(super) struct Screen<'a> {
    pub(super) context: &'a Context,
    pub(super) collection: &'a Collection,
    /// The collections that are asked about items; none for a whole collection.
    pub(super) in_sight: Option<&'a InSight<'a>>,
    /// Whether the ledger is asked who deposited them, which reads it once for each.
    pub(super) names_depositors: bool,
}

type Rows = Vec<(String, String)>;

impl Screen<'_> {
    /// Everything about an item. `related` are the items with relations to it.
    pub(super) fn text(
        &self,
        item: &StoredItem,
        sidecar: &Sidecar,
        related: &[(&'static str, Hit)],
        holdings: &[(&Collection, JudgedHolding)],
    ) -> Result<String, Failure> {
        let is_verbose = self.is_verbose();
        let mut rows = Rows::new();
        // A stub says nothing of the item but where it is.
        let is_stub = sidecar.state == State::Elsewhere;
        let there = is_stub.then(|| receiver(sidecar, holdings)).flatten();
        let known = there.as_ref().unwrap_or(sidecar);
        let metadata = known.metadata.table();
        let (first, others): (Vec<_>, Vec<_>) =
            metadata.iter().partition(|(key, _)| FIRST.contains(&key.as_str()));
        for key in FIRST {
            first.iter().filter(|(it, _)| *it == key).for_each(|it| describe(&mut rows, "", *it));
        }
        for pair in others.into_iter().chain(known.relations.table()) {
            describe(&mut rows, "", pair);
        }
        list_referrers(&mut rows, known, related, if is_verbose { usize::MAX } else { SHOWN });
        let base = self.collection.settings().archive.cited_base();
        row(&mut rows, "link", base.join(item.name()));
        row(&mut rows, "deposited", self.deposited(item.name(), known, holdings));
        if is_verbose {
            exact(&mut rows, item, sidecar);
        }
        if let Some(target) = &known.target {
            row(&mut rows, "opens", target.to_text());
        }
        if !known.transferable {
            row(&mut rows, "transferable", "no");
        }
        if known.access != Access::default() {
            let allowed: Vec<_> = known.access.allow.iter().map(ToString::to_string).collect();
            let but = if allowed.is_empty() { "" } else { "; open to " };
            row(&mut rows, "access", format!("{}{but}{}", known.access.level, allowed.join(", ")));
        }
        let payload = &known.payload;
        if is_stub {
            row(&mut rows, "moved", self.moved(sidecar, there.as_ref())?);
        } else {
            row(&mut rows, "files", format!("{}, {}", payload.files, human::bytes(payload.bytes)));
            list_files(&mut rows, &sidecar.files, if is_verbose { usize::MAX } else { SHOWN });
        }
        if is_verbose && !is_stub {
            row(&mut rows, "bytes", payload.bytes.to_string());
            row(&mut rows, "sha256", payload.digest.to_string());
        }
        if let Some(ceded) = sidecar.custody.ceded() {
            let to = self.called_by_id(&ceded.to);
            row(&mut rows, "moves", format!("to {to}; not finished"));
        }
        if let Some(removal) = &sidecar.removal {
            let kept = self.collection.kept_in_trash(item.name()).map_err(Failure::from)?;
            let reason = removal.reason.as_ref().map_or(String::new(), |it| format!(": {it}"));
            let place = if kept.is_empty() { "not in the trash" } else { "in the trash" };
            let (date, by) = (human::date(sidecar.timestamp), &removal.by);
            row(&mut rows, "deleted", format!("{date} by {by}{reason}; {place}"));
            if is_verbose {
                row(&mut rows, "was", removal.was.to_string());
            }
        }
        self.held_by(&mut rows, item.name(), sidecar, holdings);
        Ok(format!("{}\n{}", item.name(), human::fields(&rows)))
    }

    fn is_verbose(&self) -> bool {
        self.context.printer.verbosity > Verbosity::Normal
    }

    /// When, by whom and from where it was deposited. The ledger of the collection that issued the name knows who.
    fn deposited(
        &self,
        name: &RepositoryName,
        sidecar: &Sidecar,
        holdings: &[(&Collection, JudgedHolding)],
    ) -> String {
        let others = holdings.iter().map(|(it, _)| *it);
        let mut asked =
            std::iter::once(self.collection).chain(others).filter(|_| self.names_depositors);
        let line = asked.find_map(|it| it.deposit_line(name).ok()?);
        let by =
            line.and_then(|line| line.user).map_or(String::new(), |user| format!(" by {user}"));
        let source = sidecar.origin.get("source").and_then(toml::Value::as_str);
        let from = source.map_or(String::new(), |source| format!(", from {source}"));
        format!("{} UTC{by}{from}", human::minute(sidecar.created))
    }

    /// Where the item of a stub has gone and when, and its size `there`.
    fn moved(&self, sidecar: &Sidecar, there: Option<&Sidecar>) -> Result<String, Failure> {
        let to = self.called_by_id(sidecar.custody.holder());
        let line = self.collection.last_record(&sidecar.repository).map_err(Failure::from)?;
        let on = line.map_or(String::new(), |line| format!(" on {}", human::date(line.date)));
        let size = there.map_or(String::new(), |it| {
            format!("; {}", human::size(it.payload.files, it.payload.bytes))
        });
        Ok(format!("to {to}{on}{size}"))
    }

    fn called_by_id(&self, id: &str) -> String {
        let opened = self.in_sight.map(|it| it.collections().collect::<Vec<_>>());
        self.context.called_by_id(id, opened.unwrap_or_default())
    }

    /// A line for each collection with the item.
    fn held_by(
        &self,
        rows: &mut Rows,
        name: &RepositoryName,
        sidecar: &Sidecar,
        holdings: &[(&Collection, JudgedHolding)],
    ) {
        let mut lines = Vec::new();
        for (collection, holding) in holdings {
            // Of a tombstone here, the lines above say more, and a stub holds nothing.
            let is_here = collection.id() == self.collection.id();
            let is_bare =
                |state: State| state == State::Elsewhere || is_here && !state.has_payload();
            if !holding.record.as_ref().is_ok_and(|it| is_bare(it.state)) {
                let called = self.context.called(collection, holdings.iter().map(|(it, _)| *it));
                lines.push([called, self.standing(collection, name, holding, holdings)]);
            }
        }
        if holdings.is_empty() && sidecar.state.has_payload() {
            lines.push([self.context.called(self.collection, []), sidecar.state.to_string()]);
        }
        for (at, row) in human::columns(&lines, 0..0).into_iter().enumerate() {
            rows.push((if at == 0 { "held by" } else { "" }.to_owned(), row));
        }
    }

    /// `Copy, up to date`.
    fn standing(
        &self,
        collection: &Collection,
        name: &RepositoryName,
        holding: &JudgedHolding,
        all: &[(&Collection, JudgedHolding)],
    ) -> String {
        let against = all.iter().find(|(_, it)| Some(it.collection) == holding.against);
        let newest = against.and_then(|(_, it)| it.record.as_ref().ok());
        let Ok(record) = &holding.record else {
            let remedy = self.in_sight.and_then(|it| it.command_in(collection, name));
            return format!("damaged{}", remedy.map_or(String::new(), |it| format!(": {it}")));
        };
        let standing = match (holding.standing, newest) {
            (Standing::Current, _) => "up to date".to_owned(),
            (Standing::Behind, Some(newest)) if newest.state == State::Deleted => {
                "of an item that was deleted".to_owned()
            }
            (Standing::Behind, newest) => {
                let (own, newest) =
                    (record.rule.custody.id(), newest.map(|it| it.rule.custody.follows()));
                let at =
                    newest.and_then(|ids| Some(ids.len() - ids.iter().position(|it| *it == own)?));
                match at {
                    Some(changes) => format!("older by {}", human::count(changes as u64, "change")),
                    None => "older than another state of the item".to_owned(),
                }
            }
            (Standing::Fork, _) => {
                let line = collection.last_record(name).ok().flatten();
                let by =
                    line.and_then(|it| it.user).map_or(String::new(), |it| format!(" by {it}"));
                format!(
                    "changed there {}{by}",
                    human::day(record.rule.changed, self.context.clock.now())
                )
            }
            (Standing::Orphan, _) => "its Original is in no collection in sight".to_owned(),
            (Standing::Deleted, _) => return "deleted".to_owned(),
            (Standing::Original | Standing::Elsewhere | Standing::Damaged, _) => {
                return record.state.to_string();
            }
        };
        format!("{}, {standing}", record.state)
    }
}

/// The sidecar of the item in the collection that a stub names, if that is in sight.
fn receiver(stub: &Sidecar, holdings: &[(&Collection, JudgedHolding)]) -> Option<Sidecar> {
    let at = holdings.iter().find(|(it, _)| it.id() == stub.custody.holder());
    at.and_then(|(it, _)| Some(it.item(&stub.repository).ok()?.sidecar().ok()?.0))
}

/// The details for `-v`: exact times, the path, the origin, the custody.
fn exact(rows: &mut Rows, item: &StoredItem, sidecar: &Sidecar) {
    if let Some(ibip) = &sidecar.ibip {
        row(rows, "ibip", ibip.to_string());
    }
    row(rows, "state", sidecar.state.to_string());
    row(rows, "created", sidecar.created.to_string());
    row(rows, "timestamp", sidecar.timestamp.to_string());
    if let Some(described) = &sidecar.described {
        row(rows, "described", described.to_string());
    }
    row(rows, "path", item.path().display().to_string());
    for pair in &sidecar.origin {
        describe(rows, "origin.", pair);
    }
    let custody = &sidecar.custody;
    let holder = custody.holder();
    row(rows, "custody", format!("{} {}, holder {holder}", custody.epoch(), custody.id()));
}

/// At most `most` lines, one for each file, link or empty directory.
fn list_files(rows: &mut Rows, entries: &[Entry], most: usize) {
    for entry in entries.iter().take(most) {
        let path = entry.path.to_text();
        match &entry.content {
            Content::File { bytes, .. } => row(rows, &format!("  {}", human::bytes(*bytes)), path),
            Content::Link { target } => {
                let target = String::from_utf8_lossy(target);
                row(rows, "  link", format!("{path} -> {target}"));
            }
            Content::EmptyDirectory { .. } => row(rows, "  empty", format!("{path}/")),
        }
    }
    and_more(rows, entries.len(), most);
}

/// At most `most` lines, one for each relation that leads here and is not the other end of one of its own.
fn list_referrers(
    rows: &mut Rows,
    sidecar: &Sidecar,
    related: &[(&'static str, Hit)],
    most: usize,
) {
    let own: Vec<_> = sidecar.relations.iter().map(|relation| relation.to).collect();
    let is_own = |name| own.contains(&Identifier::Repository(name));
    let related: Vec<_> = related.iter().filter(|(_, hit)| !is_own(hit.name.clone())).collect();
    for (key, hit) in related.iter().take(most) {
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
        row(rows, meaning, hit.name.as_str());
    }
    and_more(rows, related.len(), most);
}

fn and_more(rows: &mut Rows, all: usize, most: usize) {
    if let Some(more @ 1..) = all.checked_sub(most) {
        row(rows, "", format!("and {more} more; -v names each"));
    }
}

/// One line of a key and its value.
fn row(rows: &mut Rows, key: &str, value: impl Into<String>) {
    rows.push((key.to_owned(), value.into()));
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
fn describe(rows: &mut Rows, prefix: &str, (key, value): (&String, &toml::Value)) {
    let key = format!("{prefix}{key}");
    match value {
        toml::Value::Array(values) => {
            for value in values {
                row(rows, &key, in_one_line(value));
            }
        }
        // A line a file; `--json` and the sidecar have them.
        toml::Value::Table(kinds)
            if key == "origin.digests" && kinds.values().all(toml::Value::is_table) =>
        {
            let kinds: Vec<_> = kinds.keys().map(String::as_str).collect();
            row(rows, &key, kinds.join(", "));
        }
        toml::Value::Table(inner) => {
            inner.iter().for_each(|pair| describe(rows, &format!("{key}."), pair));
        }
        other => row(rows, &key, in_one_line(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_shown_in_words() {
        let table: toml::Table =
            "known = [{ date = 2026-11-21T02:13:00Z, lost = true }]".parse().unwrap();
        let mut rows = Rows::new();
        table.iter().for_each(|pair| describe(&mut rows, "", pair));
        let told = "date 2026-11-21T02:13:00Z, lost".to_owned();
        assert_eq!(rows, [("known".to_owned(), told)]);
    }
}

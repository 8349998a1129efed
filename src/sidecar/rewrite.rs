//! Changing a sidecar without losing additions of people and later versions.

use std::collections::HashMap;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike};

use super::read::SEAL_LINE;
use super::{Seal, Sidecar, SidecarError};
use crate::digest::Digest;

impl Sidecar {
    /// The text of this sidecar in place of `before`, whose text is `text`.
    ///
    /// If urepo wrote the head, the head is written again, and the payload, which may be long, stays
    /// unchanged. In any other text only the differences between the two sidecars are changed: comments,
    /// unknown keys and the order of keys stay, and the result is read back. The result is sealed.
    pub fn rewrite(&self, text: &[u8], before: &Sidecar) -> Result<String, SidecarError> {
        let text = std::str::from_utf8(text)
            .map_err(|error| SidecarError::NotUtf8 { offset: error.valid_up_to() })?;
        if self.payload == before.payload
            && self.files == before.files
            && let Some(rest) = payload_text(text, before)
        {
            let mut text = self.head();
            text.reserve(rest.len() + 128);
            text.push_str(rest);
            let text = sealed(text);
            self.check_writable(text.len() as u64)?;
            return Ok(text);
        }
        let mut document = parse(text)?;
        take_seal(&mut document)?;
        let (old, new) = (parse(&before.to_text())?, parse(&self.to_text())?);
        apply(document.as_table_mut(), Some(old.as_table()), new.as_table());
        let changed = sealed(document.to_string());
        self.check_writable(changed.len() as u64)?;
        match Sidecar::read(changed.as_bytes())? {
            (read, Seal::Intact) if read == *self => Ok(changed),
            _ => Err(SidecarError::value("sidecar", "it cannot be changed without loss")),
        }
    }
}

/// The payload in `text`, if the head has the form that urepo writes, and the seal follows directly.
fn payload_text<'a>(text: &'a str, sidecar: &Sidecar) -> Option<&'a str> {
    let rest = text.strip_prefix(&sidecar.head())?;
    let (payload, seal) = rest.rsplit_once(SEAL_LINE)?;
    let is_only_seal = seal.lines().count() == 1 && payload.ends_with("\n\n");
    // Other tables may follow the payload, and the head would repeat them.
    let mut tables = payload.lines().filter(|line| line.trim_start().starts_with('['));
    let is_only_payload =
        tables.next() == Some("[payload]") && tables.all(|table| table == "[[file]]");
    (rest.starts_with("\n[payload]\n") && is_only_seal && is_only_payload).then_some(payload)
}

fn parse(text: &str) -> Result<DocumentMut, SidecarError> {
    text.parse().map_err(|error: toml_edit::TomlError| SidecarError::Value {
        key: "sidecar",
        reason: error.message().to_owned(),
    })
}

/// Takes the seal out. Keys that were added below it become keys of the document; comments go to its end.
fn take_seal(document: &mut DocumentMut) -> Result<(), SidecarError> {
    let Some(Item::Table(mut seal)) = document.remove("seal") else { return Ok(()) };
    let mut beside = vec![seal.decor().prefix().cloned()];
    if let Some((key, value)) = seal.remove_entry("sha256") {
        beside.push(key.leaf_decor().prefix().cloned());
        beside.push(value.as_value().and_then(|value| value.decor().suffix().cloned()));
    }
    let names: Vec<_> = seal.iter().map(|(name, _)| name.to_owned()).collect();
    for (key, item) in names.iter().filter_map(|name| seal.remove_entry(name)) {
        if document.contains_key(key.get()) {
            let reason = format!("`{}` is a key of the sidecar, and is below it", key.get());
            return Err(SidecarError::value("seal", reason));
        }
        document.insert_formatted(&key, item);
    }
    let lines = beside.iter().flatten().filter_map(|text| text.as_str()).flat_map(str::lines);
    let comments = lines.map(str::trim).filter(|line| line.starts_with('#'));
    let mut end: String = comments.flat_map(|line| [line, "\n"]).collect();
    end.push_str(document.trailing().as_str().unwrap_or_default());
    document.set_trailing(end);
    Ok(())
}

fn sealed(mut text: String) -> String {
    if !text.ends_with("\n\n") {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    let seal = Digest::of(text.as_bytes());
    text.push_str(&format!("{SEAL_LINE}sha256 = \"{seal}\"\n"));
    text
}

/// Applies the differences between `old` and `new` to `target`.
fn apply(target: &mut dyn TableLike, old: Option<&dyn TableLike>, new: &dyn TableLike) {
    let gone = old.into_iter().flat_map(TableLike::iter).filter(|(key, _)| !new.contains_key(key));
    for (key, _) in gone {
        target.remove(key);
    }
    for (key, item) in new.iter() {
        // The seal is written after the change.
        if key == "seal" {
            continue;
        }
        let before = old.and_then(|old| old.get(key));
        if before.is_some_and(|before| printed(before) == printed(item)) {
            continue;
        }
        let present = target.get_mut(key);
        match (present, item) {
            (Some(Item::ArrayOfTables(present)), Item::ArrayOfTables(entries)) => {
                let old = before.and_then(Item::as_array_of_tables);
                *present = entries_of(present, old, entries);
            }
            (Some(present), item) => change(present, before, item),
            (None, item) => {
                target.insert(key, placed_anywhere(item));
            }
        }
    }
}

/// The text of `item` with its tables, which `to_string` leaves out.
fn printed(item: &Item) -> String {
    DocumentMut::from(Table::from_iter([("item", item.clone())])).to_string()
}

fn change(present: &mut Item, before: Option<&Item>, item: &Item) {
    if let (Some(present), Some(new)) = (present.as_table_like_mut(), item.as_table_like()) {
        apply(present, before.and_then(Item::as_table_like), new);
    } else if let (Some(present), Item::Value(value)) = (present.as_value_mut(), item) {
        // A comment behind a value belongs to its key.
        let decor = present.decor().clone();
        *present = value.clone();
        *present.decor_mut() = decor;
    } else {
        *present = placed_anywhere(item);
    }
}

/// The entries of `new`, each with what `present` has at the same path.
fn entries_of(
    present: &ArrayOfTables,
    old: Option<&ArrayOfTables>,
    new: &ArrayOfTables,
) -> ArrayOfTables {
    let by_path = |entries: &ArrayOfTables| -> HashMap<String, Table> {
        entries.iter().filter_map(|entry| Some((path_of(entry)?, entry.clone()))).collect()
    };
    let (mut present, old) = (by_path(present), old.map(by_path).unwrap_or_default());
    let mut entries = ArrayOfTables::new();
    for entry in new {
        let path = path_of(entry).unwrap_or_default();
        let mut kept = match present.remove(&path) {
            Some(mut kept) => {
                let before = old.get(&path).map(|table| table as &dyn TableLike);
                apply(&mut kept, before, entry);
                kept
            }
            None => entry.clone(),
        };
        kept.set_position(None);
        entries.push(kept);
    }
    entries
}

fn path_of(entry: &Table) -> Option<String> {
    entry.get("path").and_then(Item::as_str).map(str::to_owned)
}

/// A copy without its position in its own document.
fn placed_anywhere(item: &Item) -> Item {
    let mut item = item.clone();
    match &mut item {
        Item::Table(table) => table.set_position(None),
        Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| table.set_position(None)),
        _ => {}
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::State;
    use crate::sidecar::Metadata;

    const TEXT: &str = "# kept by hand\nformat = 1\nstate = \"Original\" # for now\n\
        shelf = 17\nrepository = \"example.org/a/2026/11.21.02.13\"\n\
        created = 2026-11-21T02:13:00Z\ntimestamp = 2026-11-21T02:13:05Z\n\n\
        [custody]\nepoch = 1\nid = \"00000000000000aa\"\nholder = \"60cb\"\n\n\
        [metadata]\ntitle = 'A'  # by the author\n\n[payload]\nfiles = 1\nbytes = 3\n\
        sha256 = \"3ca3f8e5d0a9cfe5ca85fa4ba2df16ff27a1dcf7a3a3d8b3bd1c1d3e9f2c0f11\"\n\n\
        [[file]]\npath = \"a\"\nbytes = 3\n\
        sha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n\
        modified = 2026-11-20T18:02:11Z\nmode = \"0644\"\nscanned = true\n";

    fn rewritten(change: impl FnOnce(&mut Sidecar)) -> String {
        let (before, _) = Sidecar::read(TEXT.as_bytes()).unwrap();
        let mut after = before.clone();
        change(&mut after);
        let text = after.rewrite(TEXT.as_bytes(), &before).unwrap();
        assert_eq!(Sidecar::read(text.as_bytes()).unwrap(), (after, Seal::Intact));
        text
    }

    #[test]
    fn comments_and_unknown_keys_survive() {
        let text = rewritten(|sidecar| {
            sidecar.state = State::Copy;
            sidecar.origin.insert("collection".into(), "0123".into());
            sidecar.files.clear();
        });
        for kept in
            ["# kept by hand", "state = \"Copy\" # for now", "shelf = 17", "# by the author"]
        {
            assert!(text.contains(kept), "{kept}\n{text}");
        }
        assert!(text.contains("[origin]\ncollection = \"0123\"\n"), "{text}");
        assert!(!text.contains("[[file]]"), "{text}");
    }

    #[test]
    fn an_entry_keeps_its_own_keys_and_gets_company() {
        let text = rewritten(|sidecar| {
            let mut other = sidecar.files[0].clone();
            other.path = crate::item::PayloadPath::from_text("b").unwrap();
            sidecar.files.push(other);
            sidecar.transferable = false;
        });
        assert_eq!(text.matches("scanned = true").count(), 1, "{text}");
        assert_eq!(text.matches("[[file]]").count(), 2, "{text}");
        assert!(text.contains("transferable = false"), "{text}");
    }

    #[test]
    fn tables_in_a_table_are_changed() {
        let own = |value: &str| format!("shelf = 1\n[x]\nbox = {value}\n").parse().unwrap();
        let text = rewritten(|sidecar| sidecar.metadata = Metadata::as_found(own("1")));
        let (before, _) = Sidecar::read(text.as_bytes()).unwrap();
        for table in [own("2"), "shelf = 1".parse().unwrap()] {
            let after = Sidecar { metadata: Metadata::as_found(table), ..before.clone() };
            let text = after.rewrite(text.as_bytes(), &before).unwrap();
            assert!(text.contains("# kept by hand"), "{text}");
        }
    }

    #[test]
    fn tables_behind_the_files_are_not_said_twice() {
        let text = format!("{TEXT}\n[origin]\n\n[x]\nshelf = 3\n");
        let (before, _) = Sidecar::read(text.as_bytes()).unwrap();
        let sealed =
            sealed(before.to_text().rsplit_once(SEAL_LINE).unwrap().0.to_owned() + "[origin]\n\n");
        let mut after = before.clone();
        after.origin.insert("collection".into(), "0123".into());
        let text = after.rewrite(sealed.as_bytes(), &before).unwrap();
        assert_eq!(Sidecar::read(text.as_bytes()).unwrap(), (after, Seal::Intact), "{text}");
    }

    #[test]
    fn what_people_add_behind_the_seal_survives() {
        let (before, _) = Sidecar::read(TEXT.as_bytes()).unwrap();
        for added in ["shelf = 18 # below the window\n", "# box 4\nbox.row = 4\n", "# box 4\n"] {
            let mut text = before.to_text() + added;
            for state in [State::Original, State::Copy, State::Deleted] {
                let (read, _) = Sidecar::read(text.as_bytes()).unwrap();
                let mut after = read.clone();
                after.state = state;
                text = after.rewrite(text.as_bytes(), &read).unwrap();
                assert_eq!(Sidecar::read(text.as_bytes()).unwrap(), (after, Seal::Intact));
                assert!(added.lines().all(|line| text.contains(line)), "{added}: {text}");
                assert_eq!(text.matches("[seal]").count(), 1, "{text}");
            }
        }
    }

    #[test]
    fn what_urepo_wrote_is_written_anew() {
        let (before, _) = Sidecar::read(TEXT.as_bytes()).unwrap();
        let mut after = before.clone();
        after.state = State::Deleted;
        assert_eq!(after.rewrite(before.to_text().as_bytes(), &before).unwrap(), after.to_text());
        after.files.clear();
        after.payload = crate::item::Totals::of(&[]);
        assert_eq!(after.rewrite(before.to_text().as_bytes(), &before).unwrap(), after.to_text());
    }
}

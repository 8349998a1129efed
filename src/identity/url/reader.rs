//! Reading a persistent URL from left to right.

use std::collections::HashSet;

use super::encoding::{decode, read_path};
use super::{PersistentUrl, RequiredStatus, STATUS, Selection, VERB_LIST, Verbs};
use crate::identity::error::Fault;
use crate::identity::scan;

/// The names of pairs that the resolver interprets.
const RESERVED: &str = "ibiurl.";
/// Path components between the host and the identifier in some archives.
const FOLDERS: [&str; 5] = ["ibi/", "rep/", "ibi-/", "rep-/", "goto-/"];

/// The whole of a persistent URL.
pub(super) fn url(text: &str) -> Result<PersistentUrl, Fault> {
    let start = base(text)?;
    let found = scan::begins(&text[start..]).map_err(|fault| fault.shifted(start))?;
    let found = found.ok_or_else(|| {
        let expected = "expected an identifier such as sid.inpe.br/mtc-m18/2009/02.16.17.46 \
                        or 8JMKD3MGP8W/34PGRBS";
        Fault::new(start..text.len(), expected)
    })?;
    let end = start + found.end;
    let selection = selection(&text[end..]).map_err(|fault| fault.shifted(end))?;
    Ok(PersistentUrl { identifier: found.identifier, selection })
}

/// The byte at which the identifier begins.
fn base(text: &str) -> Result<usize, Fault> {
    let begins = |start: &str| {
        text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    };
    let Some(scheme) = ["http://", "https://"].into_iter().find(|scheme| begins(scheme)) else {
        return Ok(if begins("ibi:") { "ibi:".len() } else { 0 });
    };
    let rest = &text[scheme.len()..];
    let length = rest.find('/').unwrap_or(rest.len());
    let is_in_host = |c: char| c.is_ascii_alphanumeric() || ".-[]:".contains(c);
    if length == 0 || !rest[..length].chars().all(is_in_host) {
        return Err(Fault::new(scheme.len()..scheme.len() + length, "expected a host"));
    }
    let Some(path) = rest.get(length + 1..) else {
        return Err(Fault::new(text.len()..text.len(), "expected `/` and an identifier"));
    };
    let folder = FOLDERS.into_iter().find(|folder| path.starts_with(folder)).unwrap_or_default();
    Ok(text.len() - path.len() + folder.len())
}

/// The text after the identifier: modifiers, path, question.
pub(super) fn selection(text: &str) -> Result<Selection, Fault> {
    let question = text.find('?').unwrap_or(text.len());
    let (verbs, path) = Verbs::of_modifiers(&text[..question])?;
    let mut selection = Selection { verbs, ..Selection::default() };
    if let Some(first) = text[path..question].chars().next() {
        if first != '/' {
            let expected = "expected `!`, `+`, `:`, `/`, `?` or the end";
            return Err(Fault::new(path..path + first.len_utf8(), expected));
        }
        let start = path + 1;
        if text[start..question].starts_with('/') {
            return Err(Fault::new(start..start + 1, "expected the name of a file"));
        }
        let decoded = read_path(&text[start..question]);
        selection.path = decoded.map_err(|fault| fault.shifted(start))?;
    }
    if let Some(text) = text.get(question + 1..) {
        selection.ask(text).map_err(|fault| fault.shifted(question + 1))?;
    }
    Ok(selection)
}

impl Selection {
    /// Takes the question.
    fn ask(&mut self, text: &str) -> Result<(), Fault> {
        let of_modifiers = self.verbs.steps().len();
        if text == "?" {
            return self.verbs.add("GetMetadata", of_modifiers).map_err(|fault| fault.at(0..1));
        }
        let mut names = HashSet::new();
        let mut start = 0;
        for pair in text.split('&').filter(|_| !text.is_empty()) {
            let shifted = |fault: Fault| fault.shifted(start);
            let value = value_of(pair).map_err(shifted)?;
            let name = &pair[..value - 1];
            if name.starts_with(RESERVED) && !names.insert(name) {
                return Err(shifted(Fault::new(0..name.len(), format!("a second `{name}`"))));
            }
            let shifted = |fault: Fault| fault.shifted(start + value);
            match name {
                STATUS => self.status = status(&pair[value..]).map_err(shifted)?,
                VERB_LIST => self.add(&pair[value..], of_modifiers).map_err(shifted)?,
                _ if name.starts_with(RESERVED) => self.unknown.push(name.into()),
                _ => self.question.push(pair.into()),
            }
            start += pair.len() + 1;
        }
        Ok(())
    }

    /// Adds a list of verbs; those of the modifiers, which are the first, are not repeated.
    fn add(&mut self, list: &str, of_modifiers: usize) -> Result<(), Fault> {
        let mut start = 0;
        while !list.is_empty() {
            let rest = &list[start..];
            let mut places = rest.char_indices().map(|(at, _)| at);
            let space =
                places.find(|at| rest[*at..].starts_with('+') || rest[*at..].starts_with("%20"));
            let end = start + space.unwrap_or(rest.len());
            let name = decode(&list[start..end]).map_err(|fault| fault.shifted(start))?;
            self.verbs
                .add(&String::from_utf8_lossy(&name), of_modifiers)
                // An escape is longer than its character.
                .map_err(
                    |fault| if name.len() < end - start { fault.at(0..end - start) } else { fault },
                )
                .map_err(|fault| fault.shifted(start))?;
            let Some(space) = space else { break };
            start = end + if rest[space..].starts_with('+') { 1 } else { 3 };
        }
        Ok(())
    }
}

/// The byte at which the value of a pair begins.
fn value_of(pair: &str) -> Result<usize, Fault> {
    if let Some((at, character)) = pair.char_indices().find(|(_, c)| !c.is_ascii_graphic()) {
        let expected = "expected printable ASCII; encode other characters as `%` and two digits";
        return Err(Fault::new(at..at + character.len_utf8(), expected));
    }
    match pair.find('=') {
        None | Some(0) => Err(Fault::new(0..pair.len(), "expected a pair such as `name=value`")),
        Some(at) => match pair[at + 1..].find('=') {
            Some(second) => {
                let second = at + 1 + second;
                Err(Fault::new(second..second + 1, "a value has `%3D` for this character"))
            }
            None => Ok(at + 1),
        },
    }
}

fn status(value: &str) -> Result<RequiredStatus, Fault> {
    if decode(value)?.eq_ignore_ascii_case(b"Original") {
        return Ok(RequiredStatus::Original);
    }
    Err(Fault::new(0..value.len(), "expected `Original`"))
}

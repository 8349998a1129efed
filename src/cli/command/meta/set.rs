//! `urepo meta set`: change values of keys.

use std::os::unix::ffi::OsStrExt as _;

use clap::builder::{OsStringValueParser, TypedValueParser};
use urepo::amend::{Amendment, Description, Edit};

use super::report::amend_selected;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::select::{Selection, SelectionFlags};
use crate::cli::{Done, escape};

/// Set, add and remove values of keys
///
/// KEY=VALUE replaces all values of a KEY; given several times, the KEY gets all these values. KEY+=VALUE adds a value, unless it
/// is there. KEY-=VALUE removes it, and KEY= removes them all. An argument with `=` before any `/` is such a change, and all
/// others are items.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta set 11.21.02.13 title='Annual report, corrected'
  urepo meta set 11.21.02.13 creator='A. Archivist' creator='B. Librarian'
  urepo meta set 11.21.02.13 creator-='B. Librarian' subject+=reports
  urepo meta set 11.21.02.13 subject=
  urepo meta set --all publisher='Example Press' --dry-run")]
pub(super) struct Set {
    /// Items, and the keys with their values
    #[arg(value_name = "ITEM|KEY=VALUE", required = true, value_parser = word())]
    words: Vec<String>,
    #[command(flatten)]
    flags: SelectionFlags,
    /// Do not ask if the items are not named one by one
    #[arg(short, long)]
    yes: bool,
}

impl Set {
    pub(super) fn run(&self, context: &Context) -> Done {
        let (mut items, mut edits) = (Vec::new(), Vec::new());
        for word in &self.words {
            match word.split_once('=') {
                Some((key, value)) if !key.contains('/') => add(&mut edits, key, value)?,
                _ => items.push(word.clone()),
            }
        }
        let selection = Selection::new(items, self.flags.clone())?;
        selection.check("meta set ITEM… KEY=VALUE…")?;
        if edits.is_empty() {
            return Err(Failure::usage("no key was given").hint(
                "`urepo meta set ITEM… KEY=VALUE…`; `KEY+=`, `KEY-=` and `KEY=` add and remove",
            ));
        }
        for edit in &edits {
            edit.check()?;
        }
        let amendment = |name| Amendment {
            name,
            change: Box::new(|description: &mut Description| {
                edits.iter().try_for_each(|edit| edit.apply(description))
            }),
        };
        amend_selected(context, &selection, self.yes, &amendment)
    }
}

/// Adds the change of `key` by `value`. The values of a key that is set several times belong together.
fn add(edits: &mut Vec<Edit>, key: &str, value: &str) -> Done {
    let value = value.to_owned();
    let edit = match (key.strip_suffix('+'), key.strip_suffix('-')) {
        (Some(key), _) => Edit::Add(key.to_owned(), value),
        (_, Some(key)) if value.is_empty() => {
            return Err(Failure::usage(format!("`{key}-=` says no value"))
                .hint(format!("`{key}=` removes all values")));
        }
        (_, Some(key)) => Edit::RemoveValue(key.to_owned(), value),
        _ if value.is_empty() => Edit::Remove(key.to_owned()),
        _ => {
            let mut values = edits.iter_mut().filter_map(|edit| match edit {
                Edit::Set(set, values) if set.eq_ignore_ascii_case(key) => Some(values),
                _ => None,
            });
            if let Some(values) = values.next() {
                values.push(value);
                return Ok(());
            }
            Edit::Set(key.to_owned(), vec![value])
        }
    };
    edits.push(edit);
    Ok(())
}

/// Reads a word. A file that is not UTF-8 may be the target, but such bytes are not in a text.
fn word() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|word| {
        let bytes = word.as_bytes();
        let is_text = bytes.contains(&b'=') && !bytes.starts_with(b"target=");
        if is_text && word.to_str().is_none() {
            return Err("it is not UTF-8");
        }
        Ok(escape::text_form(word))
    })
}

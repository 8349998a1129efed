//! `urepo meta set`, `add` and `unset`: change values of keys.

use std::os::unix::ffi::OsStrExt as _;

use clap::builder::{OsStringValueParser, TypedValueParser};
use urepo::amend::{Amendment, Description, Edit};

use super::Words;
use super::report::amend_selected;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::select::SelectionFlags;
use crate::cli::{Done, escape};

/// Set the values of keys
///
/// The values of a KEY are replaced. A KEY that is given several times gets all these values.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta set 11.21.02.13 title='Annual report, corrected'
  urepo meta set 11.21.02.13 creator='A. Archivist' creator='B. Librarian'
  urepo meta set --all publisher='Example Press' --dry-run")]
pub(super) struct Set {
    #[command(flatten)]
    items: Items,
    /// The Originals may migrate: the same as transferable=true
    #[arg(long, conflicts_with = "no_transferable")]
    transferable: bool,
    /// The Originals do not migrate: the same as transferable=false
    #[arg(long)]
    no_transferable: bool,
}

/// Add values to keys
///
/// An existing value is not added again.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta add 11.21.02.13 creator='B. Librarian' subject=reports")]
pub(super) struct Add {
    #[command(flatten)]
    items: Items,
}

/// Remove keys, or single values of them
///
/// KEY removes all its values, KEY=VALUE this one.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta unset 11.21.02.13 subject
  urepo meta unset 11.21.02.13 creator='B. Librarian'")]
pub(super) struct Unset {
    #[command(flatten)]
    items: Items,
}

/// The keys to change, and the items.
#[derive(Debug, clap::Args)]
struct Items {
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
        self.items.change(context, "set", |keys| {
            let mut edits: Vec<Edit> = Vec::new();
            for (key, value) in keys {
                let value = value.ok_or_else(|| without_value("set", &key))?;
                match edits.iter_mut().find(|edit| edit.key().eq_ignore_ascii_case(&key)) {
                    Some(Edit::Set(_, values)) => values.push(value),
                    _ => edits.push(Edit::Set(key, vec![value])),
                }
            }
            for (is_given, value) in [(self.transferable, "true"), (self.no_transferable, "false")]
            {
                let value = vec![value.to_owned()];
                edits.extend(is_given.then(|| Edit::Set("transferable".to_owned(), value)));
            }
            Ok(edits)
        })
    }
}

impl Add {
    pub(super) fn run(&self, context: &Context) -> Done {
        self.items.change(context, "add", |keys| {
            let add = |(key, value): (String, Option<String>)| {
                let value = value.ok_or_else(|| without_value("add", &key))?;
                Ok(Edit::Add(key, value))
            };
            keys.into_iter().map(add).collect()
        })
    }
}

impl Unset {
    pub(super) fn run(&self, context: &Context) -> Done {
        self.items.change(context, "unset", |keys| {
            let unset = |(key, value)| match value {
                Some(value) => Edit::RemoveValue(key, value),
                None => Edit::Remove(key),
            };
            Ok(keys.into_iter().map(unset).collect())
        })
    }
}

impl Items {
    fn change(
        &self,
        context: &Context,
        verb: &str,
        edits: impl FnOnce(Vec<(String, Option<String>)>) -> Result<Vec<Edit>, Failure>,
    ) -> Done {
        let words = Words::read(&self.words, &self.flags)?;
        words.check_selected(context, &format!("meta {verb} ITEM… KEY=VALUE…"))?;
        let Words { selection, keys } = words;
        let edits = edits(keys)?;
        if edits.is_empty() {
            return Err(Failure::usage("no key was given")
                .hint(format!("`urepo meta {verb} ITEM… KEY=VALUE…`")));
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

fn without_value(verb: &str, key: &str) -> Failure {
    Failure::usage(format!("`{key}` has no value"))
        .hint(format!("`urepo meta {verb} ITEM {key}=VALUE`; `urepo meta unset` removes a key"))
}

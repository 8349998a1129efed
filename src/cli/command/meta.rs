//! `urepo meta`: show and correct the descriptions of items.

use urepo::amend::SETTINGS;
use urepo::sidecar::Metadata;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::select::{Selection, SelectionFlags};

mod accept;
mod change;
mod edit;
mod export;
mod get;
mod import;
pub(super) mod report;

/// Show and correct the descriptions of items
///
/// Only Originals are changed. Their Copies are behind, and `urepo copy` brings them the new description
/// without the files. The files of an item stay unchanged, and so do comments and unknown keys in its
/// sidecar. `urepo log` shows every change with the old and the new values.
///
/// A KEY is a term of Dublin Core, such as `title` or `creator`, or a key of your own as x.KEY. These keys
/// are changed in the same way: `target`, the file that the bare identifier opens; `transferable`, whether
/// the Original may migrate; `access`, what a service lets everybody read (open, metadata or closed); and
/// `access.allow`, ranges of IP addresses that may read everything.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta get 11.21.02.13
  urepo meta set 11.21.02.13 title='Annual report, corrected' language=en
  urepo meta add 11.21.02.13 creator='A. Archivist' subject=reports
  urepo meta unset 11.21.02.13 subject
  urepo meta export --all --output descriptions.csv
  urepo meta import descriptions.csv")]
pub(crate) struct Meta {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Get(get::Get),
    Set(change::Set),
    Add(change::Add),
    Unset(change::Unset),
    Edit(edit::Edit),
    Export(export::Export),
    Import(import::Import),
    Accept(accept::Accept),
}

impl Meta {
    /// Whether it only answers.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self.action, Action::Get(_) | Action::Export(_))
    }

    pub(crate) fn run(&self, context: &Context) -> Done {
        match &self.action {
            Action::Get(it) => it.run(context),
            Action::Set(it) => it.run(context),
            Action::Add(it) => it.run(context),
            Action::Unset(it) => it.run(context),
            Action::Edit(it) => it.run(context),
            Action::Export(it) => it.run(context),
            Action::Import(it) => it.run(context),
            Action::Accept(it) => it.run(context),
        }
    }
}

/// The words of a command line: items, and keys with or without values.
struct Words {
    selection: Selection,
    /// Each key with the value behind `=`, if there is one.
    keys: Vec<(String, Option<String>)>,
}

impl Words {
    /// Distinguishes keys from items: a key begins with a letter and has neither `/` nor `:`; an item does
    /// not, or has one of them.
    fn read(words: &[String], flags: &SelectionFlags) -> Result<Words, Failure> {
        let (mut items, mut keys) = (Vec::new(), Vec::new());
        for word in words {
            let (key, value) = match word.split_once('=') {
                Some((key, value)) => (key, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let is_key = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | ' ');
            if key.starts_with(|it: char| it.is_alphabetic()) && key.chars().all(is_key) {
                keys.push((key.to_owned(), value));
            } else {
                items.push(word.clone());
            }
        }
        Ok(Words { selection: Selection::new(items, flags.clone())?, keys })
    }

    /// Makes sure that items are selected. A word without a value that is not a term was probably meant as an
    /// item.
    fn check_selected(&self, context: &Context, usage: &str) -> Done {
        if !self.selection.is_empty() {
            return Ok(());
        }
        let is_item = |(key, value): &&(String, Option<String>)| {
            let is_known =
                SETTINGS.contains(&key.as_str()) || Metadata::default().values(key).is_ok();
            value.is_none() && !is_known
        };
        if let Some((text, _)) = self.keys.iter().find(is_item) {
            context.item(&context.collection()?, text)?;
        }
        self.selection.check(usage)
    }
}

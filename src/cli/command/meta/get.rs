//! `urepo meta get`: show the description of an item, or some of its values.

use urepo::amend::{Description, EditError, values};
use urepo::collection::StoredItem;
use urepo::sidecar::Sidecar;

use super::Words;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::records::Item;
use crate::cli::report::{End, Report};
use crate::cli::select::SelectionFlags;
use crate::cli::{Done, escape};

/// Show the description of items
///
/// For one KEY of one item, only the values are printed, one on each line. Otherwise each line has the key
/// before the value, and several items are separated by empty lines.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta get 11.21.02.13
  urepo meta get 11.21.02.13 title
  urepo meta get --all title creator --json")]
pub(super) struct Get {
    /// Items, and keys: all keys unless given
    #[arg(value_name = "ITEM|KEY", required_unless_present_any = ["all", "prefix", "since", "until", "state", "items_from", "items_from0"])]
    words: Vec<String>,
    #[command(flatten)]
    flags: SelectionFlags,
}

impl Get {
    pub(super) fn run(&self, context: &Context) -> Done {
        let words = Words::read(&self.words, &self.flags)?;
        if let Some((key, Some(value))) = words.keys.iter().find(|(_, value)| value.is_some()) {
            return Err(Failure::usage(format!("`{key}={value}` is a change"))
                .hint("`urepo meta set` makes it; `urepo meta get ITEM KEY` shows the value"));
        }
        words.check_selected(context, "meta get ITEM… [KEY…]")?;
        let Words { selection, keys } = words;
        let keys: Vec<_> = keys.into_iter().map(|(key, _)| key).collect();
        let collection = context.collection()?;
        let mut report = Report::reading(context, "read", selection.is_single());
        let mut gap = "";
        let selected = selection.of(context, &collection)?;
        context.read_selected(selected, &collection, &mut report, |item| {
            let (sidecar, _) = item.sidecar()?;
            let is_single = selection.is_single();
            let written = tell(context, (item, &sidecar), &keys, (is_single, gap));
            gap = "\n";
            written
        })?;
        report.finish(End::default())
    }
}

fn tell(
    context: &Context,
    (item, sidecar): (&StoredItem, &Sidecar),
    keys: &[String],
    (is_single, gap): (bool, &str),
) -> Done {
    let described = Description::of(sidecar);
    let values = values(&described, keys).map_err(|error: EditError| Failure::from(error))?;
    if context.printer.json {
        let values = Some(values.into_iter().collect());
        return context.printer.record(&Item { values, ..Item::of(item.name()) });
    }
    let mut text = String::new();
    if let ([_], [(_, values)], true) = (keys, &values[..], is_single) {
        for value in values {
            text += &format!("{}\n", escape::one_line(value));
        }
        return context.printer.lines(&text);
    }
    text += gap;
    if !is_single {
        text += &format!("{}\n", item.name());
    }
    for (key, values) in values {
        for value in values {
            text += &format!("{key}: {}\n", escape::one_line(&value));
        }
    }
    context.printer.lines(&text)
}

//! `urepo open`: open items in programs of the desktop.

use std::ffi::OsStr;

use urepo::collection::{Collection, StoredItem};
use urepo::item::PayloadPath;
use urepo::sidecar::Sidecar;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::opener::open;
use crate::cli::report::for_each;
use crate::cli::{Done, escape};

/// Open items in desktop programs
///
/// Opens the file that the identifier opens, or FILE, a path in the payload; an item without such a file
/// opens as the directory of its payload. The program is `xdg-open`, on macOS `open`, or the one that
/// `UREPO_OPENER` names, which gets the path as its only argument. The program gets the item itself: save
/// changes under another name. A link that leads out of the item is not opened.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo open 11.21.02.13
  urepo open 11.21.02.13/data/table.csv
  UREPO_OPENER=less urepo open 11.21.02.13")]
pub(crate) struct Open {
    /// The items, each followed by a slash and the path of a file if not the target is to open
    #[arg(value_name = "ITEM[/FILE]", required = true, value_parser = escape::argument())]
    items: Vec<String>,
}

impl Open {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        for_each(context, &self.items, |text| {
            let (item, file) = item_and_file(context, &collection, text)?;
            let (sidecar, _) = item.sidecar()?;
            if !sidecar.state.has_payload() {
                return Err(super::show::gone(&collection, &item, &sidecar));
            }
            let mut path = item.payload_path();
            if file.is_some() || sidecar.target.is_some() {
                path.push(file_after(&item, &sidecar, file)?.as_path());
            }
            open(context, &path, &item, "`urepo show --path` prints the path")
        })
    }
}

/// The `file` typed after an item, or the target. A path in the collection has `doc/` before the file.
pub(super) fn file_after(
    item: &StoredItem,
    sidecar: &Sidecar,
    file: Option<&str>,
) -> Result<PayloadPath, Failure> {
    let find = |file: Option<&str>| super::show::file_of(item, sidecar, file.map(OsStr::new));
    let below = file.and_then(|file| file.strip_prefix("doc/"));
    find(file).or_else(|failure| match below {
        Some(below) => find(Some(below)),
        None => Err(failure),
    })
}

/// The item that `text` names, and the file after it: the shortest beginning that is an item counts. Longer ones
/// are that item as well, as every path in it is.
pub(super) fn item_and_file<'t>(
    context: &Context,
    collection: &Collection,
    text: &'t str,
) -> Result<(StoredItem, Option<&'t str>), Failure> {
    for (at, _) in text.match_indices('/') {
        let Ok(item) = context.item(collection, &text[..at]) else { continue };
        let file = &text[at + 1..];
        return Ok((item, Some(file).filter(|file| !file.is_empty())));
    }
    Ok((context.item(collection, text)?, None))
}

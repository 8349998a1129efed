//! `urepo open`: open items in programs of the desktop.

use std::cell::OnceCell;

use super::file;
use super::resolve::{modified, report};
use crate::cli::context::Context;
use crate::cli::opener::open;
use crate::cli::report::for_each;
use crate::cli::{Done, escape};

/// Open items in desktop programs
///
/// Opens the file that the identifier opens, or FILE, a path in the payload; an item without such a file
/// opens as the directory of its payload. The program is `xdg-open`, on macOS `open`, or the one that
/// the setting `opener` names, which gets the path as its only argument. The program gets the item itself: save
/// changes under another name. A link that leads out of the item is not opened. A
/// persistent URL with modifiers is resolved first.
#[derive(Debug, clap::Args)]
pub(crate) struct Open {
    /// The items, each followed by a slash and the path of a file if not the target is to open
    #[arg(value_name = "ITEM[/FILE]", required = true, value_parser = escape::argument())]
    items: Vec<String>,
}

impl Open {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let resolver = OnceCell::new();
        for_each(context, &self.items, |text| {
            if let Some((known, found)) = modified(context, &resolver, text)? {
                return report::open(context, known, text, &found);
            }
            let collection = context.collection()?;
            let (item, typed) = file::item_and_file(context, &collection, text)?;
            let (sidecar, _) = item.sidecar()?;
            if !sidecar.state.has_payload() {
                return Err(super::show::gone(&collection, &item, &sidecar));
            }
            let mut path = item.payload_path();
            if typed.is_some() || sidecar.target.is_some() {
                path.push(file::file_after(&item, &sidecar, typed)?.as_path());
            }
            open(context, &path, &item, "`urepo show --path` prints the path")
        })
    }
}

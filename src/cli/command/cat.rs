//! `urepo cat`: print the bytes of a file, and check its digest.

use std::cell::OnceCell;

use super::file;
use super::resolve::{modified, report};
use crate::cli::context::Context;
use crate::cli::report::for_each;
use crate::cli::{Done, escape};

/// Print a file of an item
///
/// Prints the file that the identifier opens, or FILE, a path in the payload. A file whose kind or size differs from the
/// sidecar is not printed at all. The digest is computed while the file is printed: if it differs, the command fails with exit
/// code 20 after the last byte, and the output is damaged.
///
/// A persistent URL with modifiers is resolved first, as `urepo resolve` does: `!` leads to the last edition, `+(pt)` to a
/// translation, `:(bibtex)` to the description in that format.
#[derive(Debug, clap::Args)]
pub(crate) struct Cat {
    /// The items, each followed by a slash and the path of a file if not the target is meant; or persistent URLs
    #[arg(value_name = "ITEM[/FILE]", required = true, value_parser = escape::argument())]
    items: Vec<String>,
}

impl Cat {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let resolver = OnceCell::new();
        let print_one = |text: &str| {
            if let Some((known, found)) = modified(context, &resolver, text)? {
                return report::content(context, known, &found);
            }
            let collection = context.collection()?;
            let (item, typed) = file::item_and_file(context, &collection, text)?;
            let (sidecar, _) = item.sidecar()?;
            if !sidecar.state.has_payload() {
                return Err(super::show::gone(&collection, &item, &sidecar));
            }
            file::print(context, &item, &sidecar, &file::file_after(&item, &sidecar, typed)?)
        };
        match &self.items[..] {
            // Nothing but its bytes goes to stdout.
            [only] => print_one(only),
            all => for_each(context, all, print_one),
        }
    }
}

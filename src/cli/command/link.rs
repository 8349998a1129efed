//! `urepo link`: the relative link from one item to another.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use urepo::collection::{Collection, StoredItem};
use urepo::identity::Pasted;
use urepo::item::PayloadPath;
use urepo::links::relative;

use super::show::file_of;
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Item};

/// Print the relative link from one item to another
///
/// Each item may be followed by `/` and a file of its payload: the file that contains the link, by default
/// one directly below `doc/`, and the file that the link leads to, by default the target of the item. The
/// link works in every collection that holds both items.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo link \"$NAME\" 11.21.02.13
  urepo link \"$NAME/chapters/one.tex\" \"$NAME/report.pdf\"")]
pub(crate) struct LinkTo {
    /// The item that contains the link, perhaps with a file
    #[arg(value_name = "ITEM")]
    from: String,
    /// The item that the link leads to, perhaps with a file
    #[arg(value_name = "OTHER")]
    to: String,
}

impl LinkTo {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let (from, file) = item_and_file(context, &collection, &self.from)?;
        // It need not exist yet.
        let file = file.unwrap_or_else(|| OsString::from("file"));
        let file = PayloadPath::new(Path::new(&file))
            .map_err(|error| Failure::of(Exit::Failure, &error))?;
        let (to, target) = item_and_file(context, &collection, &self.to)?;
        let (sidecar, _) = to.sidecar()?;
        let link = relative(&file, to.name(), &file_of(&to, &sidecar, target.as_deref())?);
        if context.printer.json {
            let path = Some(records::path(&link));
            return context.printer.record(&Item { path, ..Item::of(from.name()) });
        }
        context.printer.exact(&[link.as_os_str().as_bytes(), b"\n"].concat())
    }
}

/// The item that `text` means, and the file that follows the identifier.
fn item_and_file(
    context: &Context,
    collection: &Collection,
    text: &str,
) -> Result<(StoredItem, Option<OsString>), Failure> {
    match Pasted::read(text) {
        Ok(Pasted { identifier, rest, .. }) if rest.starts_with('/') => {
            let item = context.item(collection, identifier.as_str())?;
            let rest = rest.trim_start_matches('/');
            let file = rest.strip_prefix("doc/").unwrap_or(rest);
            Ok((item, (!file.is_empty()).then(|| file.into())))
        }
        _ => Ok((context.item(collection, text)?, None)),
    }
}

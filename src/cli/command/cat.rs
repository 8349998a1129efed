//! `urepo cat`: print the bytes of a file, and check its digest.

use urepo::collection::StoredItem;
use urepo::disk::Kind;
use urepo::disk::copy::read_and_digest;
use urepo::item::{Content, PayloadPath};
use urepo::progress::NoProgress;
use urepo::sidecar::Sidecar;

use super::open::{file_after, item_and_file};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::{Done, escape};

/// Print a file of an item
///
/// A file whose kind or size differs from the sidecar is not printed at all. The digest is computed while the
/// file is printed: if it differs, the command fails with exit code 20 after the last byte, and the output is
/// damaged.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo cat 11.21.02.13 > report.pdf
  urepo cat 11.21.02.13 data/table.csv | head
  urepo cat 11.21.02.13/data/table.csv | head")]
pub(crate) struct Cat {
    /// The item, or the path of one of its files after a slash
    #[arg(value_name = "ITEM[/FILE]", value_parser = escape::argument())]
    item: String,
    /// The file, below `doc/`; the item's target unless given
    #[arg(value_name = "FILE")]
    file: Option<std::ffi::OsString>,
}

impl Cat {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let (item, file) = match self.file {
            Some(_) => (context.item(&collection, &self.item)?, None),
            None => item_and_file(context, &collection, &self.item)?,
        };
        let (sidecar, _) = item.sidecar()?;
        if !sidecar.state.has_payload() {
            return Err(super::show::gone(&collection, &item, &sidecar));
        }
        let path = match &self.file {
            Some(file) => super::show::file_of(&item, &sidecar, Some(file))?,
            None => file_after(&item, &sidecar, file)?,
        };
        print(context, &item, &sidecar, &path)
    }
}

/// Prints the file at `path`, and compares it with the sidecar on the way.
pub(super) fn print(
    context: &Context,
    item: &StoredItem,
    sidecar: &Sidecar,
    path: &PayloadPath,
) -> Done {
    let entry = sidecar.files.iter().find(|entry| entry.path == *path);
    let Some(Content::File { bytes, digest, .. }) = entry.map(|entry| &entry.content) else {
        let message = format!("`{path}` of `{}` is not a file", item.name());
        return Err(Failure::new(Exit::Failure, message)
            .hint(format!("`urepo show --all-files {}` lists the files", item.name())));
    };
    let mut file = item.open(path).map_err(|error| {
        // An entry of the sidecar that is missing on disk is damage, whatever has taken its place.
        let exit = match error.kind() {
            std::io::ErrorKind::PermissionDenied => Exit::Failure,
            _ => Exit::Damage,
        };
        let message = format!("`{path}` of `{}` is not there as a file", item.name());
        Failure::new(exit, message)
            .caused_by(Failure::from(error).in_one_line())
            .hint(verify_hint(item))
    })?;
    // A device, or a file that has grown without end, would be streamed before its digest is known.
    let stamp = file.stat()?;
    if stamp.kind != Kind::File || stamp.bytes != *bytes {
        let found = match stamp.kind {
            Kind::File => format!("it has {} B, in the sidecar {bytes} B", stamp.bytes),
            _ => "it is not a file".to_owned(),
        };
        let message = format!("`{path}` of `{}` is damaged: {found}", item.name());
        return Err(Failure::new(Exit::Damage, message).hint(verify_hint(item)));
    }
    let (progress, interrupt) = (&NoProgress, &context.interrupt);
    let print = |piece: &[u8], _| context.printer.payload(piece);
    let found = read_and_digest(*bytes, &mut file, progress, interrupt, print)?;
    if found.digest != *digest {
        let message = format!("`{path}` of `{}` is damaged: its digest differs", item.name());
        return Err(Failure::new(Exit::Damage, message).hint(verify_hint(item)));
    }
    Ok(())
}

fn verify_hint(item: &StoredItem) -> String {
    format!("`urepo verify {}` says what else is wrong", item.name())
}

//! A file of an item: the one that is typed after the item, or its target; and its bytes, checked on the way.

use std::ffi::OsStr;

use urepo::collection::{Collection, StoredItem};
use urepo::disk::Kind;
use urepo::disk::copy::read_and_digest;
use urepo::item::{Content, PayloadPath};
use urepo::progress::NoProgress;
use urepo::sidecar::Sidecar;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

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
            .hint(format!("`urepo show -v {}` lists the files", item.name())));
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

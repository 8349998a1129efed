//! `urepo show --path`: where items are on the disk.

use std::os::unix::ffi::OsStrExt as _;

use urepo::collection::{Collection, StoredItem};
use urepo::layout;
use urepo::transfer::Tombstones;

use crate::cli::Done;
use crate::cli::command::file::{file_after, item_and_file};
use crate::cli::context::Context;
use crate::cli::records::{self, Item};
use crate::cli::report::for_each;
use crate::cli::select::Selection;

/// Prints the directory of each item, or the file of a typed ITEM/FILE, before the byte `end`.
pub(super) fn run(context: &Context, selection: &Selection, end: u8) -> Done {
    // A list and a state select whole items.
    if !selection.are_typed() {
        return context.for_each_selected(selection, "show --path ITEM…", |_, item| {
            tell(context, item, item.path(), end)
        });
    }
    let collection = context.collection()?;
    for_each(context, &selection.items, |text| {
        let (item, file) = item_and_file(context, &collection, text)?;
        match file {
            Some(file) => tell_file(context, &collection, selection, &item, file, end),
            // Also if the sidecar cannot be read, so that a person can inspect the files.
            None => tell(context, &item, item.path(), end),
        }
    })
}

fn tell_file(
    context: &Context,
    collection: &Collection,
    selection: &Selection,
    item: &StoredItem,
    file: &str,
    end: u8,
) -> Done {
    let (sidecar, _) = item.sidecar()?;
    if !sidecar.state.has_payload() {
        return match selection.tombstones() {
            Tombstones::Pass | Tombstones::Bring => Ok(()),
            Tombstones::Refuse => Err(super::gone(collection, item, &sidecar)),
        };
    }
    let path = match file_after(item, &sidecar, Some(file)) {
        Err(_) if file == layout::PAYLOAD => item.payload_path(),
        found => item.payload_path().join(found?.as_path()),
    };
    tell(context, item, &path, end)
}

fn tell(context: &Context, item: &StoredItem, path: &std::path::Path, end: u8) -> Done {
    if context.printer.json {
        let path = Some(records::path(path));
        return context.printer.record(&Item { path, ..Item::of(item.name()) });
    }
    context.printer.exact(&[path.as_os_str().as_bytes(), &[end]].concat())
}

//! `urepo show --as manifest`: digests in the form of `sha256sum`.

use std::os::unix::ffi::OsStrExt as _;

use urepo::collection::StoredItem;
use urepo::item::manifest::append_line;
use urepo::layout;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::records::Entry;
use crate::cli::select::Selection;

/// Prints the digests of the files of each item: with paths relative to the payload of a single one, to the root of the
/// collection of several. Links and empty directories have no digest.
pub(super) fn run(context: &Context, selection: &Selection) -> Done {
    let is_single = selection.is_single();
    context.for_each_selected(selection, "show --as manifest ITEM…", |_, item| {
        let (sidecar, _) = item.sidecar()?;
        if context.printer.json {
            return sidecar.files.iter().try_for_each(|entry| {
                context.printer.record(&Entry::new(Some(item.name().as_str()), entry))
            });
        }
        tell(context, item, &sidecar.files, is_single)
    })
}

fn tell(
    context: &Context,
    item: &StoredItem,
    entries: &[urepo::item::Entry],
    is_single: bool,
) -> Done {
    let mut prefix = Vec::new();
    if !is_single {
        let directory = layout::item_directory(item.name()).join(layout::PAYLOAD);
        prefix.extend_from_slice(directory.as_os_str().as_bytes());
        prefix.push(b'/');
    }
    let mut text = Vec::new();
    for entry in entries {
        append_line(&mut text, &prefix, entry);
        if text.len() > 64 * 1024 {
            context.printer.exact(&text)?;
            text.clear();
        }
    }
    context.printer.exact(&text)
}

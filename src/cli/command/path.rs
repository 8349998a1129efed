//! `urepo path`: print the path of an item.

use std::os::unix::ffi::OsStrExt;

use urepo::collection::{Collection, StoredItem};
use urepo::transfer::Tombstones;

use super::open::{file_after, item_and_file};
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::records::{self, Item};
use crate::cli::report::{End, Report, for_each};
use crate::cli::select::Selection;

/// Print where items are on the disk
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  ls -l \"$(urepo path --doc 11.21.02.13)\"
  xdg-open \"$(urepo path --target 11.21.02.13)\"
  wc -l \"$(urepo path --target 11.21.02.13/data/table.csv)\"")]
pub(crate) struct Path {
    #[command(flatten)]
    selection: Selection,
    /// The payload, `doc/`, instead of the item's directory
    #[arg(long, conflicts_with = "target")]
    doc: bool,
    /// The file that the bare identifier opens, or FILE of a typed ITEM/FILE
    #[arg(long)]
    target: bool,
    /// End each path with a NUL byte
    #[arg(short = '0', long)]
    null: bool,
}

impl Path {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let selection = &self.selection;
        // A list and a state select whole items.
        if self.target && selection.are_typed() {
            let collection = context.collection()?;
            return for_each(context, &selection.items, |text| {
                let (item, file) = item_and_file(context, &collection, text)?;
                self.tell(context, &collection, &item, file)
            });
        }
        let tell =
            |collection: &Collection, item: &StoredItem| self.tell(context, collection, item, None);
        if !(self.doc || self.target) || selection.are_typed() {
            return context.for_each_selected(selection, "path ITEM…", tell);
        }
        selection.check("path ITEM…")?;
        let collection = context.collection()?;
        let mut report = Report::reading(context, "read", false);
        let selected = selection.of(context, &collection)?.with_payload();
        context
            .read_selected(selected, &collection, &mut report, |item| tell(&collection, item))?;
        report.finish(End::default())
    }

    fn tell(
        &self,
        context: &Context,
        collection: &Collection,
        item: &StoredItem,
        file: Option<&str>,
    ) -> Done {
        // Also if the sidecar cannot be read, so that a person can inspect the files.
        let sidecar = if self.doc || self.target { item.sidecar().ok() } else { None };
        if let Some((gone, _)) = sidecar.filter(|(sidecar, _)| !sidecar.state.has_payload()) {
            return match self.selection.tombstones() {
                Tombstones::Pass | Tombstones::Bring => Ok(()),
                Tombstones::Refuse => Err(super::show::gone(collection, item, &gone)),
            };
        }
        let path = if self.target {
            let (sidecar, _) = item.sidecar()?;
            item.payload_path().join(file_after(item, &sidecar, file)?.as_path())
        } else if self.doc {
            item.payload_path()
        } else {
            item.path().to_path_buf()
        };

        if context.printer.json {
            let path = Some(records::path(&path));
            context.printer.record(&Item { path, ..Item::of(item.name()) })
        } else {
            let end: &[u8] = if self.null { b"\0" } else { b"\n" };
            context.printer.exact(&[path.as_os_str().as_bytes(), end].concat())
        }
    }
}

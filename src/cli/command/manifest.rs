//! `urepo manifest`: print digests in the form of `sha256sum`.

use std::os::unix::ffi::OsStrExt;

use urepo::collection::StoredItem;
use urepo::item::manifest::append_line;
use urepo::layout;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::records::Entry;
use crate::cli::select::Selection;

/// Print digests in the form that `sha256sum -c` checks
///
/// Paths are relative to the payload, `doc/`, of the item. With --root, which several items need, they are
/// relative to the root of the collection. Links and empty directories have no digest.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo manifest 11.21.02.13 | (cd \"$(urepo path --doc 11.21.02.13)\" && sha256sum -c)
  urepo -c archive manifest --all --root | (cd archive && sha256sum --quiet -c)")]
pub(crate) struct Manifest {
    #[command(flatten)]
    selection: Selection,
    /// Write paths relative to the root of the collection
    #[arg(long)]
    root: bool,
}

impl Manifest {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let is_single = self.selection.is_single() || self.selection.is_empty();
        if !is_single && !self.root {
            return Err(Failure::usage("several items need one root")
                .hint("add `--root`, and check from the root of the collection"));
        }
        context
            .for_each_selected(&self.selection, "manifest ITEM", |_, item| self.tell(context, item))
    }

    fn tell(&self, context: &Context, item: &StoredItem) -> Done {
        let (sidecar, _) = item.sidecar()?;
        if context.printer.json {
            return sidecar.files.iter().try_for_each(|entry| {
                context.printer.record(&Entry::new(Some(item.name().as_str()), entry))
            });
        }
        let mut prefix = Vec::new();
        if self.root {
            let directory = layout::item_directory(item.name()).join(layout::PAYLOAD);
            prefix.extend_from_slice(directory.as_os_str().as_bytes());
            prefix.push(b'/');
        }
        let mut text = Vec::new();
        for entry in &sidecar.files {
            append_line(&mut text, &prefix, entry);
            if text.len() > 64 * 1024 {
                context.printer.exact(&text)?;
                text.clear();
            }
        }
        context.printer.exact(&text)
    }
}

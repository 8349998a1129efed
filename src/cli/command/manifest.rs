//! `urepo manifest`: digests as `sha256sum` checks them.

use std::os::unix::ffi::OsStrExt;

use urepo::collection::{Names, StoredItem};
use urepo::item::manifest::append_line;
use urepo::layout;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::Entry;
use crate::cli::report::{End, Report, for_each};

/// Print digests in the form that `sha256sum -c` checks
///
/// Paths are relative to the payload, `doc/`, of the one item; with --root, which several items
/// need, to the root of the collection. Links and empty directories have no digest.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo manifest 11.21.02.13 | (cd \"$(urepo path --doc 11.21.02.13)\" && sha256sum -c)
  urepo -c archive manifest --all --root | (cd archive && sha256sum --quiet -c)")]
pub(crate) struct Manifest {
    /// The items
    #[arg(value_name = "ITEM", required_unless_present = "all")]
    items: Vec<String>,
    /// All items of the collection
    #[arg(long, requires = "root", conflicts_with = "items")]
    all: bool,
    /// Write paths relative to the root of the collection
    #[arg(long)]
    root: bool,
}

impl Manifest {
    pub(crate) fn run(&self, context: &Context) -> Done {
        if self.items.len() > 1 && !self.root {
            return Err(Failure::usage("several items have no payload in common")
                .hint("add `--root`, and check from the root of the collection"));
        }
        let collection = context.collection()?;
        if !self.all {
            return for_each(context, &self.items, |text| {
                self.tell(context, &context.item(&collection, text)?)
            });
        }
        let mut report = Report::reading(context, "read", false);
        let visited = collection.visit_names(&Names::default(), |name| {
            if context.interrupt.requested() {
                return Err(Failure::told(Exit::Interrupted));
            }
            let told = collection.item(&name).map_err(Failure::from);
            Ok(match told.and_then(|item| self.tell(context, &item)) {
                Ok(()) => report.succeeded(Ok(())),
                Err(failure) => report.failed(name.as_str(), failure),
            })
        });
        if let Err(stop) = visited {
            report.fatal(stop);
        }
        report.finish(End::default())
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
                write(context, &text)?;
                text.clear();
            }
        }
        write(context, &text)
    }
}

fn write(context: &Context, text: &[u8]) -> Done {
    context.printer.exact(text)
}

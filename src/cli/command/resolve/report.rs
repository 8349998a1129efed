//! Printing the destination of a persistent URL.

use std::os::unix::ffi::OsStrExt;

use urepo::clock::Clock as _;
use urepo::export::MetadataFormat;
use urepo::identity::PersistentUrl;
use urepo::resolve::{DestinationKind, Resolved, Target};

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::opener;
use crate::cli::records::{self, PathAt};

/// Prints the path, those of a list of files, or a rendered description.
pub(super) fn paths(context: &Context, known: &Known, end: &[u8], found: &Resolved) -> Done {
    let bytes = match &found.target {
        Target::Rendered(format) => {
            return context.printer.payload(&rendered(context, known, *format, found));
        }
        Target::Files(files) => {
            let path = |file: &urepo::item::PayloadPath| found.path().join(file.as_path());
            let paths = files.iter().map(path);
            paths.flat_map(|path| [path.as_os_str().as_bytes(), end].concat()).collect()
        }
        _ => [found.path().as_os_str().as_bytes(), end].concat(),
    };
    context.printer.exact(&bytes)
}

fn rendered(context: &Context, known: &Known, format: MetadataFormat, found: &Resolved) -> Vec<u8> {
    let archive = &known.collections[found.item.collection].settings().archive;
    format.render(&found.item.sidecar, &archive.cited_base(), context.clock.now())
}

/// Prints the bytes of the file, or the description.
pub(in super::super) fn content(context: &Context, known: &Known, found: &Resolved) -> Done {
    let sidecar = &found.item.sidecar;
    match &found.target {
        Target::File(path) => {
            let collection = &known.collections[found.item.collection];
            let item = collection.item(&found.item.record.name)?;
            crate::cli::command::file::print(context, &item, sidecar, path)
        }
        Target::Sidecar => context.printer.payload(sidecar.metadata.table().to_string().as_bytes()),
        Target::Payload => {
            let name = &found.item.record.name;
            Err(Failure::new(Exit::Failure, format!("`{name}` has no target")).hint(format!(
                "name a file: `urepo resolve '{name}?ibiurl.verblist=GetFileList'` lists them"
            )))
        }
        Target::Rendered(_) | Target::Files(_) => paths(context, known, b"\n", found),
    }
}

/// Opens the file or directory in its program on the desktop.
pub(in super::super) fn open(
    context: &Context,
    known: &Known,
    text: &str,
    found: &Resolved,
) -> Done {
    if let Target::Rendered(format) = &found.target {
        let message = format!("metadata in `{}` is not a file", format.name());
        return Err(Failure::new(Exit::Failure, message)
            .hint(format!("`urepo cat {}` prints it", crate::cli::shell::word(text))));
    }
    let item = known.collections[found.item.collection].item(&found.item.record.name)?;
    opener::open(context, &found.path(), &item, "`urepo resolve` prints the path")
}

/// Prints the record.
pub(super) fn record(
    context: &Context,
    known: &Known,
    (text, url): (&str, &PersistentUrl),
    found: &Resolved,
) -> Done {
    let item = &found.item;
    let collection = &known.collections[item.collection];
    let (mut format, mut files) = (None, None);
    let target = match &found.target {
        Target::File(_) => "file",
        Target::Payload => "payload",
        Target::Files(all) => {
            files = Some(all.iter().map(|file| records::path(file.as_path())).collect());
            "files"
        }
        Target::Sidecar => "description",
        Target::Rendered(rendered) => {
            format = Some(*rendered);
            "rendered"
        }
    };
    let text_of =
        |format| String::from_utf8_lossy(&rendered(context, known, format, found)).into_owned();
    context.printer.record(&records::Resolved {
        text,
        persistent: url.to_string(),
        id: item.record.name.to_string(),
        ibip: item.record.ibip.as_ref().map(ToString::to_string),
        path: PathAt::new("path", &found.path()),
        state: item.record.state.to_string(),
        standing: item.standing.to_string(),
        collection: collection.settings().name.clone(),
        collection_id: collection.id().to_owned(),
        content: if found.kind == DestinationKind::Data { "data" } else { "metadata" },
        target,
        format: format.map(MetadataFormat::name),
        rendered: format.map(text_of),
        files,
        timestamp: found.timestamp().to_string(),
    })
}

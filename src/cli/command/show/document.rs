//! `urepo show --as FORMAT`: descriptions in one document.

use std::ops::ControlFlow;

use urepo::amend::AmendError;
use urepo::clock::Clock as _;
use urepo::collection::Collection;
use urepo::export::metadata::{Document, DocumentFormat, Row, RowColumns};
use urepo::identity::RepositoryName;
use urepo::sidecar::Sidecar;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;

/// Prints the descriptions of the items as one document.
pub(super) fn run(context: &Context, selection: &Selection, format: DocumentFormat) -> Done {
    if context.printer.json {
        return Err(Failure::usage("the document and JSON records cannot both go to stdout")
            .hint("leave `--as` away: the records have the descriptions"));
    }
    let is_list = !selection.is_single();
    let collection = context.collection()?;
    let names =
        if format.is_table() { selection.of(context, &collection)?.into_names()? } else { None };
    let feed = |take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>| -> Done {
        if let Some(names) = &names {
            let _ = names.iter().cloned().try_for_each(take);
            return Ok(());
        }
        Ok(selection.of(context, &collection)?.into_feed()(take)?)
    };
    let mut columns = RowColumns::default();
    if format.is_table() {
        feed(&mut |name| {
            // An item that cannot be read is reported when it would be printed.
            if let Ok(Some(sidecar)) = described(selection, &collection, &name) {
                columns.add(&Row::of(&sidecar));
            }
            context.interrupt.flow()
        })?;
    }
    let mut report = Report::reading(context, Did::Sound, !is_list);
    let base = collection.settings().archive.cited_base();
    let mut document = Document::new(format, columns, is_list, base, context.clock.now());
    context.printer.exact(&document.head())?;
    let fed = feed(&mut |name| {
        context.interrupt.flow()?;
        let described = described(selection, &collection, &name).and_then(|found| {
            let Some(sidecar) = found else { return Ok(None) };
            let bytes = document.item(&sidecar).map_err(|error| {
                Failure::new(Exit::Failure, format!("`{name}` is not in the table"))
                    .caused_by(error.to_string())
                    .hint("`--as jsonl` has room for it")
            })?;
            Ok(Some(bytes))
        });
        match described {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(bytes)) => report.succeeded(context.printer.exact(&bytes)),
            Err(failure) => report.failed(name.as_str(), failure),
        }
    });
    if let Err(failure) = fed {
        report.fatal(failure);
    }
    if !context.interrupt.requested() {
        context.printer.exact(&document.tail())?;
    }
    report.finish(End::default())
}

/// The sidecar of an item; `None` for a tombstone that was not requested.
fn described(
    selection: &Selection,
    collection: &Collection,
    name: &RepositoryName,
) -> Result<Option<Sidecar>, Failure> {
    let (sidecar, _) = collection.named_item(name)?.sidecar()?;
    if !sidecar.state.has_payload() {
        if selection.names_items() {
            return Err(AmendError::Deleted { name: name.clone() }.into());
        }
        return Ok(None);
    }
    Ok(Some(sidecar))
}

//! The outcomes of several items: a bad one does not stop the others.

use std::ops::ControlFlow;

use urepo::identity::RepositoryName;
use urepo::removal::RemovalError;

use super::told::Told;
use crate::cli::context::Context;
use crate::cli::records::Item;
use crate::cli::report::Report;

/// Reports the outcome of an item. The run goes on unless that ends it.
pub(super) fn note(
    context: &Context,
    report: &mut Report<'_>,
    name: &RepositoryName,
    outcome: Result<Told, RemovalError>,
) -> ControlFlow<()> {
    match outcome {
        Err(error) => report.failed(name.as_str(), error.into()),
        Ok(Told { done, planned, detail, record }) => {
            let record = Item { dry_run: report.is_dry(), ..record };
            let flow = report.outcome(&record, &planned, &done);
            if !context.printer.json {
                context.printer.detail(&detail);
            }
            flow
        }
    }
}

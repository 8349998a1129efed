//! Rows whose items were imported before, or have relations.

use urepo::import::{Ledger, Summary, Update, Updated, relate, update};

use super::Import;
use super::sources::Sources;
use super::tell::Reporter;
use crate::cli::Done;
use crate::cli::context::Context;

impl Import {
    /// Compares rows with the items that they became before, and with `--update` corrects those.
    pub(super) fn update(
        &self,
        context: &Context,
        (ledger, sources): (&Ledger<'_>, &Sources<'_>),
        summary: &mut Summary,
        reporter: &mut Reporter<'_>,
    ) -> Done {
        let Some(rows) = sources.rows() else { return Ok(()) };
        if summary.there == 0 {
            return Ok(());
        }
        let mode = match (self.manifest.update, context.global.dry_run) {
            (false, _) => Update::Count,
            (true, true) => Update::Plan,
            (true, false) => Update::Act,
        };
        let rows = summary.without_refused(rows?);
        let done = update(ledger, rows, mode, (&context.agent, &context.waiter()), reporter)?;
        summary.rows = Updated { updated: done.updated + summary.rows.updated, ..done };
        summary.failed += summary.rows.failed.len() as u64;
        summary.refused.extend(summary.rows.failed.iter().cloned());
        Ok(())
    }

    /// Sets the relations of rows that their items lack, or in a dry run says which.
    pub(super) fn relate(
        &self,
        context: &Context,
        (ledger, sources): (&Ledger<'_>, &Sources<'_>),
        summary: &mut Summary,
        reporter: &mut Reporter<'_>,
    ) -> Done {
        let Some(rows) = sources.rows() else { return Ok(()) };
        let mode = if context.global.dry_run { Update::Plan } else { Update::Act };
        let rows = summary.without_refused(rows?);
        let acting = (&context.agent, &context.waiter());
        summary.add(relate(ledger, rows, mode, acting, reporter)?);
        Ok(())
    }
}

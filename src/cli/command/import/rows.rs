//! Rows whose items were imported before, or have relations.

use urepo::holdings::Sight;
use urepo::import::{KnownSources, Summary, Update, Updated, relate, update};

use super::Import;
use super::report::Reporter;
use super::sources::Sources;
use crate::cli::Done;
use crate::cli::context::Context;

/// A step with the rows of a manifest, after their items were made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowStep {
    /// Rows are compared with the items that they became before, and with `--update` those are corrected.
    Compare,
    /// Sets missing relations of rows.
    Relate,
}

impl Import {
    /// Does all steps with the rows, or reports them in a dry run.
    pub(super) fn finish_rows(
        &self,
        context: &Context,
        (known, sources): (&KnownSources<'_>, &Sources<'_>),
        summary: &mut Summary,
        reporter: &mut Reporter<'_>,
    ) -> Done {
        use RowStep::{Compare, Relate};
        let (is_dry, updates) = (context.global.dry_run, self.manifest.update);
        let steps = match (is_dry, updates) {
            // First the relations that are replaced, then those that are new.
            (false, true) => &[Compare, Relate][..],
            (false, false) => &[Relate, Compare],
            (true, true) => &[Compare],
            (true, false) => &[Compare, Relate],
        };
        let neighbours = context.neighbours(known.collection());
        let sight = Sight::of_many(&neighbours);
        let seen = (known, &sight);
        for step in steps {
            let goes_on = summary.fatal.is_none() && !context.interrupt.requested();
            if summary.there == 0 && (is_dry || *step == Compare) || !is_dry && !goes_on {
                continue;
            }
            let Some(rows) = sources.rows() else { return Ok(()) };
            let rows = summary.without_refused(rows?);
            let acting = (&context.agent, &context.waiter());
            let mode = match (step, is_dry) {
                (Compare, _) if !updates => Update::Count,
                (_, true) => Update::Plan,
                (_, false) => Update::Act,
            };
            if *step == Relate {
                summary.add(relate(seen, rows, mode, acting, reporter)?);
                continue;
            }
            let done = update(seen, rows, mode, acting, reporter)?;
            summary.rows = Updated { updated: done.updated + summary.rows.updated, ..done };
            summary.failed += summary.rows.failed.len() as u64;
            summary.refused.extend(summary.rows.failed.iter().cloned());
        }
        Ok(())
    }
}

//! Running a table: all rows are checked, then those that differ from their items are carried out.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use super::{DescribedError, DescribedRow, ItemFinder, ReadRow};
use crate::amend::{AmendError, Amender, Plan, plan};
use crate::correction::{
    CheckedRelations, CorrectionError, NewValues, RelatedCorrections, in_order,
};
use crate::digest::Digest;
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::relation::Correction;

/// Corrects the descriptions of items by the rows of a table.
pub struct DescriptionImport<'a, 'f> {
    /// Finds the items.
    pub finder: &'a ItemFinder<'f>,
    /// Corrects them.
    pub amender: Amender<'a>,
    /// Whether an empty cell removes the values of its column.
    pub clears: bool,
}

/// The outcome for a row, or for an item related to its item.
#[derive(Debug)]
pub enum RowOutcome {
    /// The item is changed as planned, also in a dry run; nothing changes if it agrees with its row.
    Item(Box<Plan>),
    /// The item agrees with its row.
    Unchanged(RepositoryName),
    /// The row changes nothing.
    Refused {
        /// Its line, unless the table ends there.
        line: Option<u64>,
        /// The item, if it is known.
        name: Option<RepositoryName>,
        /// Why.
        error: DescribedError,
    },
}

/// Receives the outcome for each row, and returns whether to go on.
pub type RowReport<'r> = dyn FnMut(RowOutcome) -> ControlFlow<()> + 'r;

/// The result of checking all rows.
#[derive(Debug, Default)]
pub struct CheckedRows {
    /// The number of rows.
    pub rows: u64,
    /// The rows that change nothing because of an error, by their numbers from 0.
    refused: BTreeSet<u64>,
    /// The corrections of relations, in steps.
    related: Vec<Vec<Correction>>,
}

impl CheckedRows {
    /// The number of refused rows.
    pub fn refused(&self) -> u64 {
        self.refused.len() as u64
    }
}

impl DescriptionImport<'_, '_> {
    /// Checks all rows. `report` receives the errors and the plans; nothing is changed.
    ///
    /// Besides some bytes for each row, corrections of relations are held in memory: they are checked together, after
    /// the last row.
    pub fn check(
        &self,
        rows: impl Iterator<Item = ReadRow>,
        interrupt: &Interrupt,
        report: &mut RowReport<'_>,
    ) -> CheckedRows {
        let mut checked = CheckedRows::default();
        let (mut seen, mut related, mut lines) =
            (HashMap::new(), RelatedCorrections::default(), Vec::new());
        for (number, row) in (0_u64..).zip(rows) {
            if interrupt.requested() {
                return checked;
            }
            checked.rows += 1;
            let mut known = None;
            let line = match &row {
                Ok(row) => Some(row.line),
                Err((line, _)) => *line,
            };
            let found = row.map_err(|(_, error)| error).and_then(|row| {
                let name = self.finder.name_of(&row.item)?;
                known = Some(name.clone());
                let key = Digest::of(name.folded().as_bytes()).half();
                if let Some(first) = seen.insert(key, row.line) {
                    return Err(DescribedError::Twice { name, first });
                }
                let (_, correction, wanted) = self.correction(&row, &name)?;
                related.note(&self.amender, &name, &wanted)?;
                let is_alone = !correction.is_empty() && !correction.has_relations();
                let plan = if is_alone { Some(self.amender.check(&correction)?) } else { None };
                Ok((correction, plan.filter(|plan| !plan.changes.is_empty())))
            });
            let flow = match found {
                Ok((correction, _)) if correction.has_relations() => {
                    related.push(correction.clone());
                    lines.push((number, line, correction.name));
                    ControlFlow::Continue(())
                }
                Ok((_, Some(plan))) => report(RowOutcome::Item(Box::new(plan))),
                Ok((correction, None)) => report(RowOutcome::Unchanged(correction.name)),
                Err(error) => {
                    checked.refused.insert(number);
                    report(RowOutcome::Refused { line, name: known, error })
                }
            };
            if flow.is_break() {
                return checked;
            }
        }
        for ((number, line, name), found) in lines.into_iter().zip(related.check(&self.amender)) {
            let flow = match found {
                Ok(CheckedRelations { plans, steps }) => {
                    checked.related.push(steps);
                    let mut plans = plans.into_iter().filter(|plan| !plan.changes.is_empty());
                    plans.try_for_each(|plan| report(RowOutcome::Item(Box::new(plan))))
                }
                Err(error) => {
                    checked.refused.insert(number);
                    let error = error.into();
                    report(RowOutcome::Refused { line, name: Some(name), error })
                }
            };
            if flow.is_break() {
                break;
            }
        }
        checked
    }

    /// Carries out the rows that were not refused.
    pub fn carry_out(
        &self,
        rows: impl Iterator<Item = ReadRow>,
        checked: &CheckedRows,
        report: &mut RowReport<'_>,
    ) -> ControlFlow<()> {
        let related = checked.related.iter().flatten();
        let related: BTreeSet<_> = related.map(|it| it.name.folded()).collect();
        let report = RefCell::new(report);
        let told = |outcome| (report.borrow_mut())(outcome);
        let corrections = (0_u64..).zip(rows).filter_map(|(number, row)| {
            // Rows that were added to the table since the check are not carried out.
            if checked.refused.contains(&number) || number >= checked.rows {
                return None;
            }
            let (line, found) = match row {
                Ok(row) => {
                    let name = self.finder.name_of(&row.item);
                    let found = name.and_then(|name| self.correction(&row, &name));
                    (Some(row.line), found)
                }
                Err((line, error)) => (line, Err(error)),
            };
            match found {
                Ok((_, correction, _)) if related.contains(&correction.name.folded()) => None,
                // An unchanged item may be a Copy, or edited by hand.
                Ok((false, correction, _)) if correction.is_empty() => {
                    Some(Err(RowOutcome::Unchanged(correction.name)))
                }
                Ok((_, correction, _)) => Some(Ok(correction)),
                Err(error) => Some(Err(RowOutcome::Refused { line, name: None, error })),
            }
        });
        // If the output is closed, the run ends with the next group.
        let corrections = corrections.filter_map(|it| match it {
            Ok(correction) => Some(correction),
            Err(outcome) => {
                let _ = told(outcome);
                None
            }
        });
        let mut outcome = |name: &RepositoryName, result: Result<Plan, AmendError>| {
            told(match result {
                Ok(plan) if plan.changes.is_empty() => RowOutcome::Unchanged(plan.name),
                Ok(plan) => RowOutcome::Item(Box::new(plan)),
                Err(error) => {
                    let error = CorrectionError::from(error).into();
                    RowOutcome::Refused { line: None, name: Some(name.clone()), error }
                }
            })
        };
        self.amender.describe(corrections, &mut outcome)?;
        for correction in in_order(&checked.related) {
            match self.amender.relate(correction, &mut outcome) {
                Ok(flow) => flow?,
                Err(error) => {
                    let (name, error) = (Some(correction.name.clone()), error.into());
                    told(RowOutcome::Refused { line: None, name, error })?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The differences between a row and its item, whether the item can be changed at all, and all values of
    /// the row.
    fn correction(
        &self,
        row: &DescribedRow,
        name: &RepositoryName,
    ) -> Result<(bool, Correction, NewValues), DescribedError> {
        let item = self.finder.collection().named_item(name).map_err(CorrectionError::from)?;
        let (sidecar, seal) = item.sidecar().map_err(CorrectionError::from)?;
        let wanted = row.new_values(self.finder, self.clears)?;
        let correction = self.amender.compare(&sidecar, &wanted)?;
        let is_changeable = plan(&sidecar, seal, &|_| Ok(())).is_ok();
        Ok((is_changeable, correction, wanted))
    }
}

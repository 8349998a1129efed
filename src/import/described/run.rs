//! All rows are checked, then those that differ from their items are carried out.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use super::resolve::ItemFinder;
use super::{DescribedError, DescribedRow, RowPlace};
use crate::amend::{AmendError, Plan, plan};
use crate::correction::{Correction, CorrectionError, Corrector};
use crate::digest::Digest;
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::sidecar::{Seal, Sidecar};

/// A row as it was read, or why there is none.
type ReadRow = Result<DescribedRow, (Option<RowPlace>, DescribedError)>;

/// Corrects the descriptions of items by the rows of a document.
pub struct DescriptionImport<'a, 'f> {
    /// Finds the items.
    pub finder: &'a ItemFinder<'f>,
    /// Corrects them.
    pub corrector: Corrector<'a>,
    /// Whether an empty cell removes the values of its column.
    pub clears: bool,
}

/// What becomes of a row, or of an item that it relates its own to.
#[derive(Debug)]
pub enum RowOutcome {
    /// The item is changed as planned, or would be; nothing changes in an item that is as its row says.
    Item(Box<Plan>),
    /// The item is as its row says.
    Unchanged(RepositoryName),
    /// The row changes nothing.
    Refused {
        /// Where it stands, unless the document ends there.
        place: Option<RowPlace>,
        /// The item, if it is known.
        name: Option<RepositoryName>,
        /// Why.
        error: DescribedError,
    },
}

/// Hears what becomes of each row, and says whether to go on.
pub type RowReport<'r> = dyn FnMut(RowOutcome) -> ControlFlow<()> + 'r;

/// What a check of all rows found.
#[derive(Debug, Default)]
pub struct CheckedRows {
    /// The number of rows.
    pub rows: u64,
    /// The rows that change nothing because of an error, by their numbers from 0.
    refused: BTreeSet<u64>,
    /// The rows that change relations, compared before anything changed.
    related: Vec<Correction>,
}

impl CheckedRows {
    /// How many rows are refused.
    pub fn refused(&self) -> u64 {
        self.refused.len() as u64
    }
}

impl DescriptionImport<'_, '_> {
    /// Checks all rows. `report` hears of the errors, and of the plans; nothing is changed.
    ///
    /// Besides some bytes a row, corrections of relations are held in memory.
    pub fn check(
        &self,
        rows: impl Iterator<Item = ReadRow>,
        interrupt: &Interrupt,
        report: &mut RowReport<'_>,
    ) -> CheckedRows {
        let mut checked = CheckedRows::default();
        let mut seen = HashMap::new();
        for (number, row) in (0_u64..).zip(rows) {
            if interrupt.requested() {
                break;
            }
            checked.rows += 1;
            let mut known = None;
            let place = match &row {
                Ok(row) => Some(row.place.clone()),
                Err((place, _)) => place.clone(),
            };
            let found = row.map_err(|(_, error)| error).and_then(|row| {
                let name = self.finder.name_of(&row.item)?;
                known = Some(name.clone());
                // Half a digest, which no two names share.
                let half = Digest::of(name.folded().as_bytes()).to_string()[..32].to_owned();
                let key = u128::from_str_radix(&half, 16).unwrap_or_default();
                if let Some(first) = seen.insert(key, row.place.clone()) {
                    return Err(DescribedError::Twice { name, first });
                }
                let (_, correction) = self.correction(&row, &name)?;
                let plans = if correction.is_empty() {
                    Vec::new()
                } else {
                    self.corrector.check(&correction)?
                };
                Ok((correction, plans))
            });
            let flow = match found {
                Ok((correction, plans)) => {
                    let is_changed = plans.iter().any(|plan| !plan.changes.is_empty());
                    let flow = if is_changed {
                        let changed = plans.into_iter().filter(|plan| !plan.changes.is_empty());
                        changed
                            .map(|plan| RowOutcome::Item(Box::new(plan)))
                            .try_for_each(&mut *report)
                    } else {
                        report(RowOutcome::Unchanged(correction.name.clone()))
                    };
                    if correction.has_relations() {
                        checked.related.push(correction);
                    }
                    flow
                }
                Err(error) => {
                    checked.refused.insert(number);
                    report(RowOutcome::Refused { place, name: known, error })
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
        let related: BTreeSet<_> = checked.related.iter().map(|it| it.name.folded()).collect();
        let report = RefCell::new(report);
        let told = |outcome| (report.borrow_mut())(outcome);
        let corrections = (0_u64..).zip(rows).filter_map(|(number, row)| {
            // What was added to the document since the check is not carried out.
            if checked.refused.contains(&number) || number >= checked.rows {
                return None;
            }
            let (place, found) = match row {
                Ok(row) => {
                    let name = self.finder.name_of(&row.item);
                    let found = name.and_then(|name| self.correction(&row, &name));
                    (Some(row.place), found)
                }
                Err((place, error)) => (place, Err(error)),
            };
            match found {
                Ok((_, correction)) if related.contains(&correction.name.folded()) => None,
                // One that nothing changes may be a Copy, or edited by hand.
                Ok((false, correction)) if correction.is_empty() => {
                    Some(Err(RowOutcome::Unchanged(correction.name)))
                }
                Ok((_, correction)) => Some(Ok(correction)),
                Err(error) => Some(Err(RowOutcome::Refused { place, name: None, error })),
            }
        });
        let mut flow = ControlFlow::Continue(());
        // A closed reader of reports ends the run with the next group.
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
                    RowOutcome::Refused { place: None, name: Some(name.clone()), error }
                }
            })
        };
        if self.corrector.describe(corrections, &mut outcome).is_break() {
            return ControlFlow::Break(());
        }
        for correction in &checked.related {
            flow = match self.corrector.relate(correction, &mut outcome) {
                Ok(flow) => flow,
                Err(error) => {
                    let (name, error) = (Some(correction.name.clone()), error.into());
                    told(RowOutcome::Refused { place: None, name, error })
                }
            };
            if flow.is_break() {
                break;
            }
        }
        flow
    }

    /// What differs between a row and its item, and whether the item could be changed at all.
    fn correction(
        &self,
        row: &DescribedRow,
        name: &RepositoryName,
    ) -> Result<(bool, Correction), DescribedError> {
        let item = self.finder.collection().named_item(name).map_err(CorrectionError::from)?;
        let (sidecar, seal) = item.sidecar().map_err(CorrectionError::from)?;
        let wanted = row.new_values(&sidecar, self.finder, self.clears)?;
        let correction = self.corrector.compare(&sidecar, &wanted)?;
        Ok((self.is_changeable(&sidecar, seal), correction))
    }

    fn is_changeable(&self, sidecar: &Sidecar, seal: Seal) -> bool {
        let now = self.corrector.amender.caller.clock.now();
        plan(sidecar, seal, now, &|_| Ok(())).is_ok()
    }
}

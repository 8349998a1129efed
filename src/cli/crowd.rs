//! Failures that many items have in common, such as a full disk: a few are told, the others counted.

use std::collections::BTreeMap;

use super::failure::Failure;
use super::printer::{Printer, Verbosity};

/// So many of a kind are told one by one.
const TOLD: u64 = 5;

/// How often each common failure was met.
#[derive(Default)]
pub(crate) struct Crowd {
    met: BTreeMap<&'static str, u64>,
}

impl Crowd {
    /// Whether this failure is told by itself: all are to those who want to hear more.
    pub(crate) fn tells(&mut self, failure: &Failure, printer: &Printer) -> bool {
        let Some(common) = failure.common else { return true };
        let met = self.met.entry(common).or_default();
        *met += 1;
        *met <= TOLD || printer.verbosity > Verbosity::Normal
    }

    /// Says how many were not told, if there are such.
    pub(crate) fn tell_rest(&self, printer: &Printer) {
        if printer.json || printer.verbosity > Verbosity::Normal {
            return;
        }
        for (common, met) in &self.met {
            if let Some(more @ 1..) = met.checked_sub(TOLD) {
                printer.error(&format!("{more} more {common}; `-v` names each"));
            }
        }
    }
}

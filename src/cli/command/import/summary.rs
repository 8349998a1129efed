//! Texts for the end of an import and of single sources.

use std::time::Duration;

use urepo::deposit::DepositError;
use urepo::disk::FileFault;
use urepo::import::{ImportError, Summary};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;

/// Why a completed import is not a success.
///
/// `passing` of the failures go away without a change of their sources.
pub(super) fn partial(summary: &Summary, passing: u64, is_planned: bool) -> Option<Failure> {
    // These are also counted among existing items.
    let (rows, unrelated) = (summary.rows.failed.len() as u64, summary.unrelated);
    let all = summary.imported + summary.there + summary.unsettled + summary.failed;
    let all = human::count((all - rows - unrelated).max(summary.failed), "source");
    match (summary.failed, summary.left) {
        (0, 0) => None,
        (0, left) => {
            let are = human::is_or_are(left);
            let message = format!("{left} of {all} {are} still in place");
            Some(Failure::new(Exit::Partial, message).hint("each is named above, with its reason"))
        }
        (failed, _) => {
            let be = if is_planned { "would not be" } else { human::was_or_were(failed) };
            let not = if is_planned { "" } else { " not" };
            let done = match (rows, unrelated) {
                (0, 0) => "imported",
                (_, 0) => "imported or updated",
                (0, _) => "imported or related",
                _ => "imported, updated or related",
            };
            let message = format!("{failed} of {all} {be}{not} {done}");
            let failure = Failure::new(Exit::Partial, message);
            Some(match failed - summary.deleted - passing {
                0 if passing > 0 => {
                    failure.hint("then repeat the command: nothing is imported twice")
                }
                0 => failure,
                _ => failure
                    .hint("correct the sources named above and repeat: nothing is imported twice"),
            })
        }
    }
}

/// The rest of the last line, after the items.
pub(super) fn besides(summary: &Summary, wait: Option<Duration>) -> Vec<String> {
    let deleted = summary.deleted;
    let counts = [
        (summary.rows.not_updated, "not updated".to_owned()),
        (deleted, format!("{} deleted here", human::was_or_were(deleted))),
        (summary.unsettled, "changed a moment ago".to_owned()),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let wait = wait.filter(|wait| !wait.is_zero());
    let wait = wait.map(|wait| format!("the identifiers take {}", human::duration(wait)));
    counts.map(|(count, what)| format!("{count} {what}")).chain(wait).collect()
}

/// The step that an error kept a source from, as a participle: a row whose relations fail has its item.
pub(super) fn missed(error: &ImportError) -> &'static str {
    use ImportError::{Amend, NoLanguage, NotOriginal, Relate, RelationLost};
    match error {
        RelationLost { .. } | NoLanguage { .. } | NotOriginal { .. } | Relate(_) | Amend(_) => {
            "related"
        }
        _ => "imported",
    }
}

/// Whether a failure goes away without a change of its source: a disk that is full, a file that grows.
pub(super) fn is_passing(error: &ImportError) -> bool {
    match error {
        ImportError::Disk(error) => error.is_full(),
        ImportError::Deposit(error) => match &**error {
            DepositError::NoRoom(_)
            | DepositError::GroupFailed
            | DepositError::File(FileFault::Changing(_)) => true,
            DepositError::Disk(error) => error.is_full(),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a source is refused by a rule, with a hint on how to override the rule.
pub(super) fn is_refused_by_rule(error: &ImportError) -> bool {
    match error {
        ImportError::TranslationLanguage { .. } | ImportError::OwnLanguage { .. } => true,
        ImportError::Deposit(error) => matches!(
            **error,
            DepositError::Link { .. }
                | DepositError::Links(_)
                | DepositError::Twins { .. }
                | DepositError::Original(_)
                | DepositError::DeletedHere { .. }
                | DepositError::Stray { .. }
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_corrected_only_if_that_helps() {
        let changing = DepositError::File(FileFault::Changing("a".into()));
        assert!(is_passing(&changing.into()));
        for (failed, deleted, passing, hint) in [
            (2, 0, 2, Some("then repeat the command: nothing is imported twice")),
            (2, 1, 1, Some("then repeat the command: nothing is imported twice")),
            (2, 2, 0, None),
            (
                2,
                1,
                0,
                Some("correct the sources named above and repeat: nothing is imported twice"),
            ),
        ] {
            let summary = Summary { failed, deleted, ..Summary::default() };
            let failure = partial(&summary, passing, false).unwrap();
            assert_eq!(failure.hint.as_deref(), hint);
        }
    }
}

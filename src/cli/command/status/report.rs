//! The lines and records of `urepo status`.

use urepo::identity::RepositoryName;

use super::fault::Fault;
use super::groups::Groups;
use super::tally::{Counts, Tally};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::known::Known;
use crate::cli::records::{self, ErrorText, OneCollection};
use crate::cli::report::Report;

/// The record of a fault.
pub(super) fn record(
    known: &Known,
    groups: &Groups<'_>,
    name: &RepositoryName,
    fault: &Fault,
) -> records::Finding {
    let remedies = groups.remedies(name);
    let hints = crate::cli::remedy::steps(&remedies).join("; ");
    let concerned = || fault.at.iter().chain(&fault.has).map(|at| &known.collections[*at]);
    records::Finding {
        id: Some(name.to_string()),
        kind: Some(fault.kind()),
        severity: fault.severity().to_owned(),
        message: format!("{}: {}", fault.label(), fault.in_words(1, &groups.called)),
        collections: concerned().map(|it| it.settings().name.clone()).collect(),
        collection_ids: concerned().map(|it| it.id().to_owned()).collect(),
        copies: fault.copies.map(|(current, _)| current.into()),
        copies_wanted: fault.copies.map(|(_, wanted)| wanted.into()),
        hint: (!hints.is_empty()).then_some(hints),
        remedies,
        ..records::Finding::default()
    }
}

/// The collections: in columns for a person, else with tabs and the exact bytes.
pub(super) fn table(
    context: &Context,
    known: &Known,
    tally: &Tally,
    called: &[String],
) -> Vec<String> {
    let is_drawn = context.printer.stdout_is_terminal();
    let counted = |number: u64, one: &str, many: &str| {
        format!("{number} {}", if number == 1 { one } else { many })
    };
    let mut rows = Vec::new();
    for ((collection, counts), called) in
        known.collections.iter().zip(&tally.collections).zip(called)
    {
        let bytes = if is_drawn { human::bytes(counts.bytes) } else { counts.bytes.to_string() };
        let mut row = vec![
            called.clone(),
            collection.path().display().to_string(),
            counted(counts.originals, "Original ", "Originals"),
            counted(counts.copies, "Copy  ", "Copies"),
            bytes,
        ];
        let more = [
            (counts.deleted > 0).then(|| format!("{} deleted", counts.deleted)),
            (counts.unreadable > 0).then(|| format!("{} unreadable", counts.unreadable)),
            counts.unlisted.as_ref().map(|_| "not listed to its end".to_owned()),
            Some(context.last_read(collection)),
        ];
        row.push(more.into_iter().flatten().collect::<Vec<_>>().join(", "));
        rows.push(row);
    }
    for missing in &known.missing {
        let path = missing.path.display().to_string();
        rows.push(vec![missing.name.clone(), path, "not opened".to_owned()]);
    }
    if is_drawn {
        return human::columns(&rows, 2..5);
    }
    rows.iter()
        .map(|row| row.iter().map(|it| it.trim_end()).collect::<Vec<_>>().join("\t"))
        .collect()
}

pub(super) fn collections(known: &Known, tally: &Tally) -> Vec<OneCollection> {
    let opened = known.collections.iter().zip(&tally.collections).map(|(collection, counts)| {
        let Counts { originals, copies, deleted, unreadable, bytes, unlisted } = counts;
        let counts = [
            ("originals", *originals),
            ("copies", *copies),
            ("deleted", *deleted),
            ("unreadable", *unreadable),
            ("bytes", *bytes),
        ];
        let error = unlisted.clone().map(|reason| error(Exit::Failure, reason));
        OneCollection {
            copies_wanted: Some(collection.settings().copies.into()),
            counts: Some(counts.into()),
            complete: Some(error.is_none()),
            error,
            ..OneCollection::from(collection)
        }
    });
    let missing = known.missing.iter().map(|missing| OneCollection {
        collection: Some(missing.name.clone()),
        path: Some(records::path(&missing.path)),
        error: Some(error(Exit::NoCollection, missing.reason.clone())),
        ..OneCollection::default()
    });
    opened.chain(missing).collect()
}

fn error(exit: Exit, message: String) -> ErrorText {
    (&Failure::new(exit, message)).into()
}

/// Fills in the last record.
pub(super) fn fill(report: &mut Report<'_>, known: &Known, tally: &Tally) {
    report.summary.complete = Some(tally.unseen.is_empty() && known.missing.is_empty());
    report.summary.missing = Some(known.missing_names.clone());
    report.summary.counts.items = tally.items;
    report.count("collections", known.collections.len() as u64);
    for (kind, count) in &tally.kinds {
        report.count(&kind.replace('-', "_"), *count);
    }
}

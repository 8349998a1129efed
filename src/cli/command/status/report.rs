//! The lines and records of `urepo status`.

use urepo::holdings::{Concern, Holdings, Weight};
use urepo::identity::RepositoryName;

use super::tally::{Contradiction, Counts, Tally};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::records::{self, ErrorText, OneCollection};
use crate::cli::report::Report;
use crate::cli::{escape, human};

/// A concern and its item: the name comes last.
pub(super) fn line(known: &Known, holdings: &Holdings, concern: &Concern) -> String {
    format!("{}: {}", message(known, holdings, concern), holdings.name)
}

fn message(known: &Known, holdings: &Holdings, concern: &Concern) -> String {
    let place = |at: usize| place(known, at);
    let places = |all: &[usize]| all.iter().map(|at| place(*at)).collect::<Vec<_>>().join(" and ");
    match concern {
        Concern::TwoOriginals(all) => format!("two Originals, in {}", places(all)),
        Concern::Migration(at) => format!("unfinished migration from {}", place(*at)),
        Concern::Lost { at, holder } => {
            format!("lost by {}, as {} shows", place(*holder), place(*at))
        }
        Concern::Unreadable(at) => {
            let reason = reason(holdings, *at);
            format!("unreadable in {}: {}", place(*at), escape::one_line(&reason))
        }
        Concern::Unsealed(at) => format!("broken seal in {}", place(*at)),
        Concern::FewCopies { current, wanted, .. } => match wanted {
            1 => format!("{current} of 1 Copy"),
            _ => format!("{current} of {wanted} Copies"),
        },
        Concern::Behind(at) => format!("{} in {} is behind", state(holdings, *at), place(*at)),
        Concern::Fork(at) => {
            format!("{} in {} is a line of its own", state(holdings, *at), place(*at))
        }
        Concern::Orphan(at) => format!("Copy in {}, no Original anywhere", place(*at)),
        Concern::Left { copy, deleted } => {
            format!("Copy in {}, deleted in {}", place(*copy), place(*deleted))
        }
    }
}

/// The state of the holding in a collection.
fn state(holdings: &Holdings, at: usize) -> String {
    let holding = holdings.all.iter().find(|holding| holding.collection == at);
    let record = holding.and_then(|holding| holding.record.as_ref().ok());
    record.map_or("item".to_owned(), |record| record.state.to_string())
}

pub(super) fn contradiction_record(
    known: &Known,
    at: usize,
    name: &RepositoryName,
    what: Contradiction,
) -> records::Concern {
    let collection = &known.collections[at];
    records::Concern {
        id: name.to_string(),
        kind: what.kind(),
        weight: "lack",
        collections: vec![collection.settings().name.clone()],
        collection_ids: vec![collection.id().to_owned()],
        message: contradiction_message(known, at, what),
        ..records::Concern::default()
    }
}

pub(super) fn contradiction_message(known: &Known, at: usize, what: Contradiction) -> String {
    let collection = place(known, at);
    match what {
        Contradiction::Returned => format!("given up in {collection}, and back there"),
        Contradiction::Vanished => format!("vanished from {collection}"),
    }
}

/// A collection, by its name, or by its path if another one has the same name.
fn place(known: &Known, at: usize) -> String {
    let name = &known.collections[at].settings().name;
    let is_its_own = known.collections.iter().filter(|it| it.settings().name == *name).count() == 1;
    let path = known.collections[at].path().display();
    format!("`{}`", escape::one_line(&if is_its_own { name.clone() } else { path.to_string() }))
}

/// Why a holding cannot be read.
fn reason(holdings: &Holdings, at: usize) -> String {
    let holding = holdings.all.iter().find(|holding| holding.collection == at);
    match holding.map(|holding| &holding.record) {
        Some(Err(error)) => Failure::of(Exit::Damage, error).in_one_line(),
        _ => String::new(),
    }
}

pub(super) fn record(known: &Known, holdings: &Holdings, concern: &Concern) -> records::Concern {
    let collections = concern.collections();
    let concerned = || collections.iter().map(|at| &known.collections[*at]);
    let (copies, copies_wanted) = match concern {
        Concern::FewCopies { current, wanted, .. } => {
            (Some((*current).into()), Some((*wanted).into()))
        }
        _ => (None, None),
    };
    records::Concern {
        id: holdings.name.to_string(),
        kind: concern.kind(),
        weight: match concern.weight() {
            Weight::Notice => "notice",
            Weight::Lack => "lack",
            Weight::Conflict => "conflict",
        },
        collections: concerned().map(|it| it.settings().name.clone()).collect(),
        collection_ids: concerned().map(|it| it.id().to_owned()).collect(),
        message: message(known, holdings, concern),
        copies,
        copies_wanted,
    }
}

/// One line for each collection, in columns.
pub(super) fn table(known: &Known, tally: &Tally) -> String {
    let mut rows = Vec::new();
    let digits = |of: fn(&Counts) -> u64| {
        tally.collections.iter().map(|it| of(it).to_string().len()).max().unwrap_or(0)
    };
    let (of_originals, of_copies) = (digits(|it| it.originals), digits(|it| it.copies));
    let of_deleted = digits(|it| it.deleted);
    for (collection, counts) in known.collections.iter().zip(&tally.collections) {
        let name = escape::one_line(&collection.settings().name);
        let path = escape::one_line(&collection.path().display().to_string());
        let [originals, copies, deleted] = [counts.originals, counts.copies, counts.deleted];
        let mut rest = format!(
            "{originals:>of_originals$} Original  {copies:>of_copies$} Copy  {deleted:>of_deleted$} Deleted  {:>9}",
            human::bytes(counts.bytes)
        );
        if counts.unreadable > 0 {
            rest += &format!("  {} unreadable", counts.unreadable);
        }
        if counts.unlisted.is_some() {
            rest += "  not listed to its end";
        }
        rows.push((name, path, rest));
    }
    for missing in &known.missing {
        let path = escape::one_line(&missing.path.display().to_string());
        rows.push((escape::one_line(&missing.name), path, "not opened".to_owned()));
    }
    let width = |of: fn(&(String, String, String)) -> &String| {
        rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0)
    };
    let (names, paths) = (width(|row| &row.0), width(|row| &row.1));
    let line = |(name, path, rest): &(String, String, String)| {
        format!("{name:<names$}  {path:<paths$}  {rest}\n")
    };
    rows.iter().map(line).collect()
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
    report.count("notices", tally.notices);
    for (kind, count) in &tally.concerns {
        report.count(&kind.name.replace('-', "_"), *count);
    }
}

//! The lines and records of `urepo status`.

use serde_json::{Value, json};
use urepo::holdings::{Concern, Holdings, Weight};
use urepo::identity::RepositoryName;

use super::tally::Tally;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::{escape, human, record as records};

/// A concern and the item that it is about: the name stands last.
pub(super) fn line(known: &Known, holdings: &Holdings, concern: &Concern) -> String {
    format!("{}: {}", message(known, holdings, concern), holdings.name)
}

fn message(known: &Known, holdings: &Holdings, concern: &Concern) -> String {
    let place =
        |at: usize| format!("`{}`", escape::one_line(&known.collections[at].settings().name));
    let places = |all: &[usize]| all.iter().map(|at| place(*at)).collect::<Vec<_>>().join(" and ");
    match concern {
        Concern::TwoOriginals(all) => format!("two originals, in {}", places(all)),
        Concern::Handover(all) => format!("hand-over under way, in {}", places(all)),
        Concern::Unreadable(at) => {
            let reason = reason(holdings, *at);
            format!("unreadable in {}: {}", place(*at), escape::one_line(&reason))
        }
        Concern::Unsealed(at) => format!("broken seal in {}", place(*at)),
        Concern::FewCopies { current, wanted, .. } => match wanted {
            1 => format!("{current} of 1 copy"),
            _ => format!("{current} of {wanted} copies"),
        },
        Concern::Stale(at) => format!("stale copy in {}", place(*at)),
        Concern::Different(at) => format!("different copy in {}", place(*at)),
        Concern::Orphan(at) => format!("copy in {}, no original anywhere", place(*at)),
        Concern::Left { copy, deleted } => {
            format!("copy in {}, deleted in {}", place(*copy), place(*deleted))
        }
    }
}

/// An item that the inventory of a collection lists and that is gone.
pub(super) fn vanished_line(known: &Known, at: usize, name: &RepositoryName) -> String {
    format!("vanished from `{}`: {name}", escape::one_line(&known.collections[at].settings().name))
}

pub(super) fn vanished_record(known: &Known, at: usize, name: &RepositoryName) -> Value {
    let settings = known.collections[at].settings();
    json!({
        "type": "concern", "version": 1, "id": name.as_str(), "kind": "vanished", "weight": "lack",
        "collections": [&settings.name], "collection_ids": [&settings.id],
        "message": format!("vanished from `{}`", escape::one_line(&settings.name)),
    })
}

/// Why a holding can not be read.
fn reason(holdings: &Holdings, at: usize) -> String {
    let holding = holdings.all.iter().find(|holding| holding.collection == at);
    match holding.map(|holding| &holding.record) {
        Some(Err(error)) => Failure::of(Exit::Damage, error).in_one_line(),
        _ => String::new(),
    }
}

pub(super) fn record(known: &Known, holdings: &Holdings, concern: &Concern) -> Value {
    let collections = concern.collections();
    let settings = || collections.iter().map(|at| known.collections[*at].settings());
    let mut fields = json!({
        "type": "concern", "version": 1, "id": holdings.name.as_str(), "kind": concern.kind(),
        "weight": match concern.weight() {
            Weight::Notice => "notice",
            Weight::Lack => "lack",
            Weight::Conflict => "conflict",
        },
        "collections": settings().map(|settings| &settings.name).collect::<Vec<_>>(),
        "collection_ids": settings().map(|settings| &settings.id).collect::<Vec<_>>(),
        "message": message(known, holdings, concern),
    });
    if let Concern::FewCopies { current, wanted, .. } = concern {
        records::extend(&mut fields, json!({ "copies": current, "copies_wanted": wanted }));
    }
    fields
}

/// One line a collection, in columns.
pub(super) fn table(known: &Known, tally: &Tally) -> String {
    let mut rows = Vec::new();
    for (collection, counts) in known.collections.iter().zip(&tally.collections) {
        let name = escape::one_line(&collection.settings().name);
        let path = escape::one_line(&collection.path().display().to_string());
        let [originals, copies, deleted] = [counts.originals, counts.copies, counts.deleted];
        let mut rest = format!(
            "{originals:>8} Original  {copies:>8} Copy  {deleted:>8} Deleted  {:>9}",
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

pub(super) fn collections(known: &Known, tally: &Tally) -> Vec<Value> {
    let mut told = Vec::new();
    for (collection, counts) in known.collections.iter().zip(&tally.collections) {
        let settings = collection.settings();
        let mut fields = json!({
            "type": "collection", "version": 1, "id": settings.id, "name": settings.name,
            "originals": counts.originals, "copies": counts.copies, "deleted": counts.deleted,
            "unreadable": counts.unreadable, "bytes": counts.bytes,
            "copies_wanted": settings.copies, "ok": counts.unlisted.is_none(),
        });
        records::add_path(&mut fields, "path", collection.path());
        if let Some(reason) = &counts.unlisted {
            let error = json!({ "code": Exit::Failure.code(), "message": reason });
            records::extend(&mut fields, json!({ "error": error }));
        }
        told.push(fields);
    }
    for missing in &known.missing {
        let mut fields = json!({
            "type": "collection", "version": 1, "name": missing.name, "ok": false,
            "error": { "code": Exit::NoCollection.code(), "message": missing.reason },
        });
        records::add_path(&mut fields, "path", &missing.path);
        told.push(fields);
    }
    told
}

pub(super) fn summary(known: &Known, tally: &Tally, exit: Exit) -> Value {
    let mut fields = json!({
        "type": "summary", "version": 1, "items": tally.items,
        "collections": known.collections.len(), "incomplete": tally.is_incomplete(),
        "missing": known.missing.iter().map(|missing| &missing.name).collect::<Vec<_>>(),
        "notices": tally.notices, "interrupted": exit == Exit::Interrupted,
        "exit_code": exit.code(),
    });
    for (kind, count) in &tally.concerns {
        fields[kind.name.replace('-', "_")] = (*count).into();
    }
    fields
}

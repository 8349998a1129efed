//! The table of remedies says what its model says: a program of its own, over one item and four collections.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use urepo::custody::remedy::{Act, Command, Damage, Line, Place, Row, Way, alternatives, remedy};
use urepo::custody::{Ceded, Custody, CustodyId, Discard, Has, Holding, Leaves};
use urepo::identity::Instant;

fn id(number: &Value) -> CustodyId {
    CustodyId::from(number.as_u64().unwrap().to_be_bytes())
}

fn holding(at: &str, value: &Value) -> Option<Holding> {
    let number = |key: &str| value[key].as_i64().unwrap();
    let (has, is_line) = (value["state"].as_str()?, value.get("follows").is_none());
    let has = match has {
        "Original" | "Copy" if !is_line => Has::Payload,
        "Elsewhere" if !is_line => Has::Stub,
        "Deleted" if is_line => Has::LineOfDeletion,
        "Deleted" => Has::Tombstone,
        _ => Has::Line,
    };
    let follows = value["follows"].as_array().into_iter().flatten().map(id).collect();
    let ceded = value.get("ceded").filter(|ceded| !ceded.is_null()).map(|ceded| Ceded {
        to: ceded["to"].to_string(),
        epoch: ceded["epoch"].as_u64().unwrap(),
        id: id(&ceded["id"]),
        leaves: if ceded["leaves"] == "copy" { Leaves::Copy } else { Leaves::Stub },
    });
    let epoch = value["epoch"].as_u64().unwrap();
    let holder = value["holder"].to_string();
    let custody = Custody::read(epoch, id(&value["id"]), follows, holder, ceded).unwrap();
    let changed = Instant::from_seconds(number("changed"));
    Some(Holding { at: at.to_owned(), has, custody, changed })
}

/// The place that a line of vectors describes. `None` for an accepted loss that has a directory of its own: here it is a
/// line alone.
fn place(at: &str, value: &Value) -> Option<Place> {
    let (here, line) = (&value["here"], &value["line"]);
    let is_loss = |value: &Value| value["state"] == "Lost";
    let standing = value["standing"].as_str().unwrap();
    if is_loss(here) != is_loss(line) && (is_loss(here) && standing != "missing" || here.is_null())
        || is_loss(here) && standing == "above its line"
    {
        return None;
    }
    let here = holding(at, here).filter(|_| !is_loss(here));
    let line = match line["state"].as_str() {
        None => None,
        Some("Lost") => Some(Line::Loss),
        Some(state) => {
            let mut found = holding(at, line)?;
            let follows = |here: &&Holding| {
                here.custody.id() != found.custody.id() && here.rank() <= found.rank()
            };
            if let Some(here) = here.as_ref().filter(follows) {
                found.custody = found.custody.following(&here.custody);
            }
            let is_bare = ["Elsewhere", "Deleted"].contains(&state);
            Some(if is_bare { Line::Bare(found) } else { Line::Payload(found) })
        }
    };
    let damage = value["damage"].as_str().map(|damage| match damage {
        "sidecar" => Damage::Sidecar,
        "bytes" => Damage::Payload,
        _ => Damage::Stranger,
    });
    let is_put_back = value["ledger_unknown"] == true;
    Some(Place { at: at.to_owned(), here, damage, line, is_put_back })
}

/// The words of a command, as the vectors have them, with the collection where it is run and the other one.
fn words(command: &Command<'_>) -> String {
    let (words, other) = match command.act {
        Act::AcceptLedger => ("recover --restored", None),
        Act::Recover => ("recover", None),
        Act::Withdraw => ("recover --withdraw", None),
        Act::AcceptLoss => ("recover --accept-loss", None),
        Act::RecoverWith(other) => ("recover --with", Some(other)),
        Act::Repair => ("repair", None),
        Act::RepairFrom(other) => ("repair --from", Some(other)),
        Act::Reseal => ("repair --accept", None),
        Act::CopyFrom(other) => ("copy --from", Some(other)),
        Act::Delete => ("delete", None),
        Act::Promote(Discard::Accept, None) => ("promote --discard", None),
        Act::Promote(Discard::Accept, lost) => ("promote --discard --lost", lost),
        Act::Promote(Discard::Refuse, lost) => ("promote --lost", lost),
    };
    format!("{words} at {} other {}", command.at, other.unwrap_or("null"))
}

/// The lines of vectors: the collections in sight, with what lies there, and the remedy of each.
fn views() -> impl Iterator<Item = (Value, Vec<Place>)> {
    include_str!("../../fixtures/remedies/views.jsonl").lines().filter_map(|text| {
        let vector: Value = serde_json::from_str(text).unwrap();
        let in_sight = vector["in_sight"].as_object().unwrap();
        let places: Option<Vec<_>> = in_sight.iter().map(|(at, value)| place(at, value)).collect();
        Some((vector, places?))
    })
}

/// The commands of a row, as the pages have them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    pub(crate) typed: BTreeSet<String>,
    /// Whether a collection has to be mounted first.
    pub(crate) waits: bool,
}

/// The commands of each row in all views, with those that a person may choose instead.
pub(crate) fn commands() -> BTreeMap<Row, Commands> {
    let mut rows: BTreeMap<Row, Commands> = BTreeMap::new();
    for (_, places) in views() {
        let found = places.iter().filter_map(|place| remedy(&places, &place.at));
        for found in found {
            let row = rows.entry(found.row).or_default();
            let mut all = alternatives(&places, &found);
            match &found.way {
                Way::Run(command) => all.push(command.clone()),
                Way::Wait(_, lost) => {
                    row.waits = true;
                    all.extend(lost.clone());
                }
                Way::Others => {}
            }
            row.typed.extend(all.iter().flat_map(|command| in_pages(command.act)).map(Into::into));
        }
    }
    rows
}

/// A command in the words of the pages. What gives something up comes after the repair from a collection that may have it.
fn in_pages(act: Act<'_>) -> Vec<&'static str> {
    let command = match act {
        Act::AcceptLedger => "recover --restored",
        Act::Recover => "recover",
        Act::Withdraw => "recover --withdraw",
        Act::AcceptLoss => "recover --accept-loss ITEM",
        Act::RecoverWith(_) => "recover --with COLLECTION",
        Act::Repair => "repair ITEM",
        Act::RepairFrom(_) => "repair ITEM --from COLLECTION",
        Act::Reseal => "repair ITEM --reseal",
        Act::CopyFrom(_) => "copy ITEM --from COLLECTION",
        Act::Delete => "delete ITEM",
        Act::Promote(Discard::Accept, None) => "promote ITEM --discard",
        Act::Promote(Discard::Accept, Some(_)) => "promote ITEM --discard --lost HOLDER",
        Act::Promote(Discard::Refuse, Some(_)) => "promote ITEM --lost HOLDER",
        Act::Promote(Discard::Refuse, None) => "promote ITEM",
    };
    let before = matches!(act, Act::AcceptLoss | Act::Reseal);
    before.then_some("repair ITEM --from COLLECTION").into_iter().chain([command]).collect()
}

#[test]
fn the_remedies_are_those_of_the_model() {
    let (mut rows, mut count) = (BTreeSet::new(), 0);
    for (vector, places) in views() {
        for Place { at, .. } in &places {
            let known = &vector["remedy"][at];
            let said = |value: &Value| {
                let text = |key: &str| value[key].to_string().replace('"', "");
                // The model deletes a payload without a sidecar again; `repair` does that, as with a tombstone elsewhere.
                if value["row"] == "6b" && value["command"] == "delete" {
                    return format!("repair at {} other null", text("at"));
                }
                format!("{} at {} other {}", text("command"), text("at"), text("other"))
            };
            let expected = (!known.is_null()).then(|| {
                let lost = &known["if_lost"];
                // The model has nothing for payload without a sealed sidecar whose holder is away; here it is sealed.
                let is_sidecar = |place: &&Place| place.damage == Some(Damage::Sidecar);
                let resealed = places.iter().find(is_sidecar).filter(|_| known["row"] == "8b");
                let lost = match (lost.is_null(), resealed) {
                    (false, _) => said(lost),
                    (true, Some(place)) => format!("repair --accept at {} other null", place.at),
                    (true, None) => String::new(),
                };
                (known["row"].as_str().unwrap().to_owned(), said(known), lost)
            });
            let found = remedy(&places, at).map(|found| {
                rows.insert(found.row);
                let (way, lost) = match &found.way {
                    Way::Run(command) => (words(command), String::new()),
                    Way::Wait(away, lost) => {
                        let lost = lost.as_ref().map(words).unwrap_or_default();
                        (format!("wait at {at} other {away}"), lost)
                    }
                    Way::Others => unreachable!(),
                };
                (found.row.number().to_owned(), way, lost)
            });
            assert_eq!(found, expected, "at {at} of {vector}");
            count += 1;
        }
    }
    let silent = [Row::ReceiverFirst, Row::OthersFirst, Row::ForkCeded, Row::DeleteFirst];
    let named: Vec<_> = Row::all().iter().filter(|row| !silent.contains(row)).collect();
    assert_eq!(rows.iter().collect::<Vec<_>>(), named, "in {count} views");
}

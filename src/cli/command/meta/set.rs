//! `urepo meta set`: change values of keys.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use clap::builder::{OsStringValueParser, TypedValueParser};
use urepo::amend::{Amendment, Description, Edit};
use urepo::identity::Identifier;
use urepo::relation::Correction;
use urepo::sidecar::{Relation, RelationError, RelationKind, Sidecar};

use super::report::{amend_selected, confirm_selected, correct_each};
use crate::cli::command::description::no_relation;
use crate::cli::command::relations::At;
use crate::cli::context::Context;
use crate::cli::explain::Explain as _;
use crate::cli::failure::Failure;
use crate::cli::select::{Selection, SelectionFlags};
use crate::cli::{Done, escape};

/// Set, add and remove values of keys, and relations to other items
///
/// KEY=VALUE replaces all values of a KEY; given several times, the KEY gets all these values. KEY+=VALUE adds a value, unless it
/// is there. KEY-=VALUE removes it, and KEY= removes them all. An argument with `=` before any `/` is such a change, and all
/// others are items.
///
/// The value of a relation is an ITEM: `edition_of` or `next_edition`, `translation_of` or `translation.TAG`, `metadata_of` or
/// `metadata`, `part_of`, and `relation.x.NAME` of your own. Both items get the relation if the Originals of both are in known
/// collections: with `edition_of=A`, A gets a next edition. Otherwise one item gets it, and the command for the other one is
/// printed. A unit does not store its parts. A relation that is there stays, so the repeated command completes the work of a
/// killed run.
#[derive(Debug, clap::Args)]
pub(super) struct Set {
    /// Items, and the keys with their values
    #[arg(value_name = "ITEM|KEY=VALUE", required = true, value_parser = word())]
    words: Vec<String>,
    #[command(flatten)]
    corrected: CorrectedArgs,
}

/// The items that are corrected, beside those named.
#[derive(Debug, clap::Args)]
pub(super) struct CorrectedArgs {
    #[command(flatten)]
    pub(super) flags: SelectionFlags,
    /// Look for the other ends of relations in this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    pub(super) with: Vec<OsString>,
    /// Do not ask where several items are changed
    #[arg(short, long)]
    pub(super) yes: bool,
}

/// The changes that were typed.
#[derive(Default)]
struct Changes {
    edits: Vec<Edit>,
    relations: Vec<RelationChange>,
}

/// A change of the relations of one kind to the items `to`.
struct RelationChange {
    kind: RelationKind,
    sign: Sign,
    to: Vec<String>,
}

/// The sign before `=`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Set,
    Add,
    Remove,
}

impl Set {
    pub(super) fn run(&self, context: &Context) -> Done {
        let (mut items, mut changes) = (Vec::new(), Changes::default());
        for word in &self.words {
            match word.split_once('=') {
                Some((key, value)) if !key.contains('/') => changes.add(key, value)?,
                _ => items.push(word.clone()),
            }
        }
        let selection = Selection::new(items, self.corrected.flags.clone())?;
        selection.check("meta set ITEM… KEY=VALUE…")?;
        let Changes { edits, relations } = changes;
        if edits.is_empty() && relations.is_empty() {
            return Err(Failure::usage("no key was given").hint(
                "`urepo meta set ITEM… KEY=VALUE…`; `KEY+=`, `KEY-=` and `KEY=` add and remove",
            ));
        }
        for other in &self.corrected.with {
            context.open_named(other)?;
        }
        edits.iter().try_for_each(|it| it.check().map_err(|it| it.explain_word()))?;
        if !relations.is_empty() {
            return self.relate(context, &selection, (&edits, &relations));
        }
        let amendment = |name| Amendment {
            name,
            change: Box::new(|description: &mut Description| {
                edits.iter().try_for_each(|edit| edit.apply(description))
            }),
        };
        amend_selected(context, &selection, self.corrected.yes, &amendment)
    }

    /// Changes items of which relations are among the changes.
    fn relate(
        &self,
        context: &Context,
        selection: &Selection,
        (edits, relations): (&[Edit], &[RelationChange]),
    ) -> Done {
        let home = context.collection()?;
        confirm_selected(context, selection, &home, self.corrected.yes)?;
        let at = At::new(context, &home, &self.corrected.with)?;
        let ends = |it: &RelationChange| it.to.iter().map(|text| at.other_end(text)).collect();
        let ends: Vec<Vec<Identifier>> =
            relations.iter().map(ends).collect::<Result<_, Failure>>()?;
        let correction = |sidecar: &Sidecar| -> Result<Correction, Failure> {
            let (mut unlink, mut link) = (Vec::new(), Vec::new());
            for (RelationChange { kind, sign, .. }, to) in relations.iter().zip(&ends) {
                let present = sidecar.relations.of(kind);
                // An alias names the same item.
                let is_wanted = |it: &Identifier| {
                    to.contains(it) || at.other_end(it.as_str()).is_ok_and(|it| to.contains(&it))
                };
                let relation = |to| Relation { kind: kind.clone(), to };
                match sign {
                    Sign::Set => unlink.extend(present.filter(|it| !is_wanted(it)).map(relation)),
                    Sign::Add => {}
                    Sign::Remove => unlink.extend(to.iter().cloned().map(relation)),
                }
                if *sign != Sign::Remove {
                    link.extend(to.iter().cloned().map(relation));
                }
            }
            let name = sidecar.repository.clone();
            Ok(Correction { name, edits: edits.to_vec(), unlink, link })
        };
        correct_each(context, selection, (&home, &at), correction)
    }
}

impl Changes {
    /// Adds the change of `key`, which ends in a sign, by `value`. The values of a key that is set several times belong
    /// together.
    fn add(&mut self, key: &str, value: &str) -> Done {
        let (key, sign) = match (key.strip_suffix('+'), key.strip_suffix('-')) {
            (Some(key), _) => (key, Sign::Add),
            (_, Some(key)) => (key, Sign::Remove),
            (None, None) => (key, Sign::Set),
        };
        let kind = RelationKind::of_description_key(key);
        if value.is_empty() && (sign == Sign::Remove || sign == Sign::Add && kind.is_some()) {
            let sign = if sign == Sign::Add { '+' } else { '-' };
            return Err(Failure::usage(format!("`{key}{sign}=` says no value"))
                .hint(format!("`{key}=` removes all values")));
        }
        if let Some(kind) = kind {
            return self.add_relation((key, kind), sign, value);
        }
        self.add_edit(key, sign, value.to_owned());
        Ok(())
    }

    fn add_edit(&mut self, key: &str, sign: Sign, value: String) {
        let edit = match sign {
            Sign::Add => Edit::Add(key.to_owned(), value),
            Sign::Remove => Edit::RemoveValue(key.to_owned(), value),
            Sign::Set if value.is_empty() => Edit::Remove(key.to_owned()),
            Sign::Set => {
                let mut values = self.edits.iter_mut().filter_map(|edit| match edit {
                    Edit::Set(set, values) if set.eq_ignore_ascii_case(key) => Some(values),
                    _ => None,
                });
                if let Some(values) = values.next() {
                    values.push(value);
                    return;
                }
                Edit::Set(key.to_owned(), vec![value])
            }
        };
        self.edits.push(edit);
    }

    fn add_relation(
        &mut self,
        (key, kind): (&str, Result<RelationKind, RelationError>),
        sign: Sign,
        value: &str,
    ) -> Done {
        let kind = kind.map_err(|_| no_relation(key))?;
        let to: Vec<_> = (!value.is_empty()).then(|| value.to_owned()).into_iter().collect();
        let mut known = self.relations.iter_mut();
        match known.find(|it| it.kind == kind && it.sign == sign) {
            Some(_) if kind.is_single() && sign == Sign::Set => {
                Err(Failure::usage(format!("`{key}` was given twice"))
                    .hint("an item has one such relation"))
            }
            Some(known) => {
                known.to.extend(to);
                Ok(())
            }
            None => {
                self.relations.push(RelationChange { kind, sign, to });
                Ok(())
            }
        }
    }
}

/// Reads a word. A file that is not UTF-8 may be the target, but such bytes are not in a text.
fn word() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|word| {
        let bytes = word.as_bytes();
        let is_text = bytes.contains(&b'=') && !bytes.starts_with(b"target=");
        if is_text && word.to_str().is_none() {
            return Err("it is not UTF-8");
        }
        Ok(escape::text_form(word))
    })
}

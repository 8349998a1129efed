//! `urepo new --edition-of …`: the relations of a new item, and the other ends of them.

use std::ops::ControlFlow;

use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::relation::{Correction, RelationAction, plan_for_new};
use urepo::sidecar::{Metadata, Relation, RelationKind, Relations};

use crate::cli::Done;
use crate::cli::command::relations::{At, edit, tell_left};
use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// The relations of the new item to others, which get them as well.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Relations")]
pub(super) struct RelationArgs {
    /// It is the next edition of this item
    #[arg(long, value_name = "ITEM")]
    edition_of: Option<String>,
    /// It is a translation of this item, into the language of --language
    #[arg(long, value_name = "ITEM")]
    translation_of: Option<String>,
}

/// The given relations, and the collections in which their other ends may be.
pub(super) struct NewRelations {
    at: At,
    relations: Vec<Relation>,
}

impl RelationArgs {
    /// The relations, if any. The changes of the other ends are checked before anything is deposited.
    pub(super) fn read(
        &self,
        context: &Context,
        collection: &Collection,
        (metadata, others): (&Metadata, Vec<(RelationKind, String)>),
        is_each: bool,
    ) -> Result<Option<NewRelations>, Failure> {
        let options = [
            (RelationKind::PreviousEdition, &self.edition_of),
            (RelationKind::TranslationOf, &self.translation_of),
        ];
        let options = options.into_iter().filter_map(|(kind, item)| Some((kind, item.clone()?)));
        let wanted: Vec<_> = options.chain(others).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        if let Some((kind, _)) = wanted.iter().find(|(kind, _)| is_each && kind.is_single()) {
            let key = kind.description_key();
            return Err(Failure::usage(format!("`{key}` leads back to one item, not to each"))
                .hint("leave `--each` out, or give each item its own relation afterwards"));
        }
        let language = metadata.language();
        let is_translation = |(kind, _): &_| *kind == RelationKind::TranslationOf;
        if wanted.iter().any(is_translation) && language.is_none() {
            return Err(Failure::usage("the language of the translation was not given")
                .hint("add `--language TAG`, such as `--language pt-BR`"));
        }
        let at = At::new(context, collection, &[])?;
        let relation = |(kind, text): (_, String)| Ok(Relation { kind, to: at.other_end(&text)? });
        let relations: Vec<_> = wanted.into_iter().map(relation).collect::<Result<_, Failure>>()?;
        at.check(context, &plan_for_new(at.collections(), &relations, language.as_ref())?)?;
        Ok(Some(NewRelations { at, relations }))
    }
}

impl NewRelations {
    /// The relations for the sidecars of the new items.
    pub(super) fn of_items(&self) -> Result<Relations, Failure> {
        let mut relations = Relations::default();
        for relation in &self.relations {
            let added = relations.add(&relation.kind, &relation.to, None);
            added.map_err(|error| Failure::usage(error.to_string()))?;
        }
        Ok(relations)
    }

    /// Changes the related items of the new item `name`.
    pub(super) fn complete(&self, context: &Context, name: &RepositoryName) -> Done {
        let correction = Correction {
            name: name.clone(),
            edits: Vec::new(),
            unlink: Vec::new(),
            link: self.relations.clone(),
        };
        let complete = || {
            let planned = self.at.plan(context, &correction)?;
            // No other item has, or would have, the other end of a relation.
            if planned.plan.ends.len() < 2 && planned.plan.left.is_empty() {
                return Ok(planned.plan);
            }
            let mut done = Ok(());
            let completed = self.at.carry_out(context, planned, &mut |_, result| match result {
                Ok(_) => ControlFlow::Continue(()),
                Err(error) => {
                    done = Err(Failure::from(error));
                    ControlFlow::Break(())
                }
            });
            done.and(completed)
        };
        let plan = complete().map_err(|failure| {
            let edits = self.relations.iter();
            let edits = edits.map(|it| edit(RelationAction::Link, &it.kind, it.to.as_str()));
            let edits = edits.collect::<Vec<_>>().join(" ");
            let message =
                format!("`{name}` was deposited, and the items that it leads to do not lead back");
            let command = format!("urepo meta set {name} {edits}");
            Failure::new(failure.exit, message)
                .caused_by(failure.in_one_line())
                .hint(format!("`{command}` completes it"))
        })?;
        plan.left.iter().for_each(|left| tell_left(context, name, left));
        Ok(())
    }
}

//! `urepo relate`: link editions, translations, descriptions and parts.

use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::amend::Amender;
use urepo::collection::{ChangeLocks, Collection, StoredItem, Writer, lock_changes_with};
use urepo::holdings::Sight;
use urepo::identity::{Identifier, Language, RepositoryName};
use urepo::relation::{
    LeftEnd, LeftReason, Misnamed, RelationAction, RelationPlan, RelationRequest, plan,
};
use urepo::sidecar::{Relation, RelationKind};

use super::meta::report::AmendReporter;
use super::show;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::records::Item;
use crate::cli::{Done, human, shell};

/// Link editions, translations, metadata and parts
///
/// Both items get the relation if the Originals of both are in known collections: `--next-edition B` gives A
/// a next edition, and B a previous one. Otherwise one item gets it, and the command for the other one is
/// printed. A unit does not store its parts.
///
/// An existing relation stays, so you can repeat the command; it then completes the work of a killed run. An
/// item has at most one next edition, one translation into a language, and so on: --unlink removes the
/// existing one.
///
/// Only Originals are changed, and their Copies are behind until `urepo copy`. Without a relation, the
/// command lists those of ITEM; relations of other items come from the index, if there is one.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo relate 11.21.02.13
  urepo relate 11.21.02.13 --next-edition SECOND
  urepo relate 11.21.02.13 --translation pt-BR=SECOND
  urepo relate 11.21.02.13 --part-of SECOND
  urepo relate 11.21.02.13 --part-of SECOND --unlink")]
pub(crate) struct Relate {
    /// The item
    #[arg(value_name = "ITEM")]
    item: String,
    /// The edition that follows it
    #[arg(long, value_name = "ITEM", help_heading = "Relations")]
    next_edition: Option<String>,
    /// The edition that it follows
    #[arg(long, value_name = "ITEM", alias = "previous-edition", help_heading = "Relations")]
    edition_of: Option<String>,
    /// Its translation into a language, such as pt or pt-BR; may be repeated
    #[arg(long, value_name = "TAG=ITEM", value_parser = parse_translation, help_heading = "Relations")]
    translation: Vec<(Language, String)>,
    /// The item that it is a translation of: the one that was written first
    #[arg(long, value_name = "ITEM", help_heading = "Relations")]
    translation_of: Option<String>,
    /// The item that describes it
    #[arg(long, value_name = "ITEM", help_heading = "Relations")]
    metadata: Option<String>,
    /// The item that it describes
    #[arg(long, value_name = "ITEM", help_heading = "Relations")]
    metadata_of: Option<String>,
    /// A unit that it is a part of, such as a journal; may be repeated
    #[arg(long, value_name = "ITEM", help_heading = "Relations")]
    part_of: Vec<String>,
    /// A relation of your own; may be repeated
    #[arg(long, value_name = "x.KEY=ITEM", value_parser = parse_own, help_heading = "Relations")]
    relation: Vec<(RelationKind, String)>,
    /// Remove these relations
    #[arg(long)]
    unlink: bool,
    /// The language of a translation, if its description does not say it
    #[arg(long, value_name = "TAG", value_parser = parse_language, requires = "translation_of")]
    language: Option<Language>,
    /// Search this collection as well, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
}

pub(super) fn parse_language(text: &str) -> Result<Language, String> {
    Language::normalised(text).map_err(|error| error.expected().to_owned())
}

fn parse_translation(text: &str) -> Result<(Language, String), String> {
    let (tag, item) = text.split_once('=').ok_or("expected TAG=ITEM, such as pt-BR=11.21.02.13")?;
    Ok((parse_language(tag)?, item.to_owned()))
}

fn parse_own(text: &str) -> Result<(RelationKind, String), String> {
    let expected = "expected x.KEY=ITEM, such as x.review=11.21.02.13";
    let (kind, item) = text.split_once('=').ok_or(expected)?;
    match kind.parse() {
        Ok(kind @ RelationKind::Own(_)) => Ok((kind, item.to_owned())),
        Ok(_) | Err(_) => Err(expected.to_owned()),
    }
}

impl Relate {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let home = context.collection()?;
        let item = context.item(&home, &self.item)?;
        let wanted = self.wanted();
        if wanted.is_empty() {
            if self.unlink {
                return Err(Failure::usage("no relation was given to remove")
                    .hint(format!("`urepo relate {}` lists them", self.item)));
            }
            return list(context, &home, &item);
        }
        let known = At::new(context, &home, &self.with)?;
        let request = RelationRequest {
            action: if self.unlink { RelationAction::Unlink } else { RelationAction::Link },
            relations: known.relations(wanted)?,
            language: self.language.clone(),
        };
        let planned = known.plan(context, item.name(), &request)?;
        let is_single = planned.plan.ends.len() == 1;
        let mut reporter = AmendReporter::new(context, is_single);
        let done =
            known.carry_out(context, planned, &mut |name, result| reporter.tell(name, result));
        let left = done.as_ref().map_or(Vec::new(), |plan| plan.left.clone());
        reporter.finish(done.map(drop))?;
        let told = |left| tell_left(context, item.name(), left, request.action);
        left.iter().for_each(told);
        Ok(())
    }

    /// The relations that were given, with the items as they were typed.
    fn wanted(&self) -> Vec<(RelationKind, &str)> {
        let plain = [
            (RelationKind::NextEdition, &self.next_edition),
            (RelationKind::PreviousEdition, &self.edition_of),
            (RelationKind::TranslationOf, &self.translation_of),
            (RelationKind::Metadata, &self.metadata),
            (RelationKind::MetadataOf, &self.metadata_of),
        ];
        let plain = plain.into_iter().filter_map(|(kind, item)| Some((kind, item.as_deref()?)));
        let translations = self
            .translation
            .iter()
            .map(|(language, item)| (RelationKind::Translation(language.clone()), item.as_str()));
        let parts = self.part_of.iter().map(|item| (RelationKind::PartOf, item.as_str()));
        let own = self.relation.iter().map(|(kind, item)| (kind.clone(), item.as_str()));
        plain.chain(translations).chain(parts).chain(own).collect()
    }
}

/// A plan, and the right to carry it out.
pub(super) struct Planned {
    pub(super) plan: RelationPlan,
    /// The writers of the collections that change; none in a dry run.
    writers: Vec<(usize, Writer)>,
    /// No other process changes the known collections.
    locks: Option<ChangeLocks>,
}

/// The known collections, and which one of them holds the item.
pub(super) struct At {
    known: Known,
    pub(super) home: usize,
}

impl At {
    pub(super) fn new(
        context: &Context,
        home: &Collection,
        with: &[OsString],
    ) -> Result<At, Failure> {
        let mut known = context.known(with)?;
        let is_home = |it: &Collection| it.id() == home.id();
        if let Some(home) = known.collections.iter().position(is_home) {
            return Ok(At { known, home });
        }
        known.collections.push(context.open(home.path())?);
        Ok(At { home: known.collections.len() - 1, known })
    }

    pub(super) fn collections(&self) -> &[Collection] {
        &self.known.collections
    }

    /// The relations to the items as they were typed: an identifier may be that of an item elsewhere.
    pub(super) fn relations(
        &self,
        wanted: Vec<(RelationKind, &str)>,
    ) -> Result<Vec<Relation>, Failure> {
        let relation = |(kind, text): (RelationKind, &str)| {
            let to = match (self.known.resolve(text), Identifier::read(text)) {
                (Ok(name), _) => name.into(),
                (Err(_), Ok(identifier)) => identifier,
                (Err(failure), Err(_)) => return Err(failure),
            };
            Ok(Relation { kind, to })
        };
        wanted.into_iter().map(relation).collect()
    }

    /// The plan for the item `name`. No other process changes the known collections until it is carried out; a dry run
    /// locks nothing.
    pub(super) fn plan(
        &self,
        context: &Context,
        name: &RepositoryName,
        request: &RelationRequest,
    ) -> Result<Planned, Failure> {
        let (mut writers, mut locks) = (Vec::new(), None);
        loop {
            let plan = plan(self.collections(), self.home, name, request)?;
            let changed = plan.collections();
            let has_writer = |at: &usize| writers.iter().any(|(of, _)| of == at);
            let is_ready = locks.is_some() && changed.iter().all(has_writer);
            if context.global.dry_run || is_ready {
                return Ok(Planned { plan, writers, locks });
            }
            // Another process changed a relation between this plan and the one before.
            drop(locks.take());
            writers.clear();
            for at in changed {
                writers.push((at, context.writer_to_change(&self.collections()[at])?));
            }
            let waiter = context.waiter();
            locks = Some(lock_changes_with([], self.collections(), &context.agent, &waiter)?);
        }
    }

    /// Makes sure that all ends of `plan` can be changed.
    pub(super) fn check(&self, context: &Context, plan: &RelationPlan) -> Done {
        let progress = context.progress();
        let checked = plan.check(self.collections(), context.caller(&*progress));
        checked.map_err(|error| {
            let mut failure = Failure::from(error);
            let roots: Vec<_> =
                self.collections().iter().map(|it| it.path().to_path_buf()).collect();
            context.opened_in_sight(&roots).advise(context, &mut failure);
            failure
        })
    }

    /// Changes the ends of a plan, none of them unless all of them can be.
    pub(super) fn carry_out(
        &self,
        context: &Context,
        Planned { plan, writers, locks }: Planned,
        report: &mut urepo::amend::Report<'_>,
    ) -> Result<RelationPlan, Failure> {
        self.check(context, &plan)?;
        for Misnamed { item, said, is } in &plan.misnamed {
            let what = format!(
                "`{item}` becomes a translation into `{said}`, and its description says `{is}`"
            );
            context.printer.warning(&what);
            context.printer.hint(&shell::pasted(&format!(
                "`urepo meta set {item} language={said}` corrects the description"
            )));
        }
        let progress = context.progress();
        let caller = context.caller(&*progress);
        let mut done = Vec::new();
        for at in plan.collections() {
            let writer = writers.iter().find(|(of, _)| *of == at).map(|(_, writer)| writer);
            let collection = &self.collections()[at];
            let others = self.collections().iter().filter(|other| other.id() != collection.id());
            let sight = Sight::of_one(others);
            let locks = locks.as_ref();
            let amender = Amender { collection, sight: &sight, writer, locks, caller };
            let before = done.len();
            let _ = amender.amend_all(plan.amendments(at), &mut |name, result| {
                done.push((name.clone(), result));
                ControlFlow::Continue(())
            });
            context.tell_unseen(&sight);
            if done[before..].iter().any(|(_, result)| result.is_err()) {
                break;
            }
        }
        // Nobody waits while the report is read.
        drop(locks);
        let finished: Result<Vec<()>, _> =
            writers.into_iter().map(|(_, writer)| writer.finish()).collect();
        let _ = done.into_iter().try_for_each(|(name, result)| report(&name, result));
        finished?;
        Ok(plan)
    }
}

/// Names the open end, and the command that completes it.
pub(super) fn tell_left(
    context: &Context,
    name: &RepositoryName,
    left: &LeftEnd,
    action: RelationAction,
) {
    let LeftEnd { item, kind, reason } = left;
    let unlink = if action == RelationAction::Unlink { " --unlink" } else { "" };
    let completes = match kind.as_ref().map(|kind| flag(kind, name.as_str()) + unlink) {
        Some(end) => format!("`urepo -c COLLECTION relate {item} {end}` does the same there"),
        None => "it keeps its relations".to_owned(),
    };
    let note = match reason {
        LeftReason::Elsewhere => format!("`{item}` is not in a known collection; {completes}"),
        LeftReason::CopyOnly => {
            format!("the Original of `{item}` is not in a known collection; {completes}")
        }
        LeftReason::Deleted => format!("`{item}` is deleted and stays as it is"),
        LeftReason::NoLanguage => shell::pasted(&format!(
            "`{item}` gets no relation to `{name}`, whose language is not known: `urepo relate {name} --translation-of \
             {item} --language TAG` completes it"
        )),
    };
    context.printer.note(&note);
}

/// A relation as it is typed.
pub(in crate::cli) fn flag(kind: &RelationKind, item: &str) -> String {
    match kind {
        RelationKind::NextEdition => format!("--next-edition {item}"),
        RelationKind::PreviousEdition => format!("--edition-of {item}"),
        RelationKind::Translation(language) => format!("--translation {language}={item}"),
        RelationKind::TranslationOf => format!("--translation-of {item}"),
        RelationKind::Metadata => format!("--metadata {item}"),
        RelationKind::MetadataOf => format!("--metadata-of {item}"),
        RelationKind::PartOf => format!("--part-of {item}"),
        RelationKind::Own(_) => format!("--relation {kind}={item}"),
    }
}

/// Prints the relations of an item, its own and those of others to it.
fn list(context: &Context, collection: &Collection, item: &StoredItem) -> Done {
    let (sidecar, _) = item.sidecar()?;
    let mut catalog = context.existing_catalog(collection);
    let related = catalog.as_mut().map(|catalog| show::referrers(catalog, &sidecar));
    let related = related.transpose()?;
    if context.printer.json {
        return context.printer.record(&Item {
            referenced_by: related.map(|related| show::referrer_records(&related)),
            ..Item::described(item, &sidecar)
        });
    }
    let mut text = Vec::new();
    for Relation { kind, to } in sidecar.relations.iter() {
        show::line(&mut text, &kind.to_string(), to.as_str());
    }
    show::list_referrers(&mut text, &sidecar, &related.unwrap_or_default(), usize::MAX);
    if text.is_empty() {
        context.printer.note(&format!("`{}` has no relations", item.name()));
        return Ok(());
    }
    context.printer.lines(&human::fields(&text))
}

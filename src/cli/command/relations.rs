//! Changes of relations, at both ends where both Originals are in known collections.

use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::amend::Amender;
use urepo::collection::{ChangeLocks, Collection, Writer, lock_changes_with};
use urepo::holdings::Sight;
use urepo::identity::{Identifier, RepositoryName};
use urepo::relation::{
    Correction, LeftEnd, LeftReason, Misnamed, RelationAction, RelationPlan, plan,
};
use urepo::sidecar::RelationKind;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::{Done, shell};

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

    /// The identifier of the item `text`, which may be elsewhere.
    pub(super) fn other_end(&self, text: &str) -> Result<Identifier, Failure> {
        match (self.known.resolve(text), Identifier::read(text)) {
            (Ok(name), _) => Ok(name.into()),
            (Err(_), Ok(identifier)) => Ok(identifier),
            (Err(failure), Err(_)) => Err(failure),
        }
    }

    /// The plan for a correction. No other process changes the known collections until it is carried out; a dry run
    /// locks nothing.
    pub(super) fn plan(
        &self,
        context: &Context,
        correction: &Correction,
    ) -> Result<Planned, Failure> {
        let (mut writers, mut locks) = (Vec::new(), None);
        loop {
            let plan = plan(self.collections(), self.home, correction)?;
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
            context.opened_in_sight().advise(context, &mut failure);
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
pub(super) fn tell_left(context: &Context, name: &RepositoryName, left: &LeftEnd) {
    let LeftEnd { item, kind, action, reason } = left;
    let completes = match kind {
        Some(kind) => {
            let edit = edit(*action, kind, name.as_str());
            format!("`urepo -c COLLECTION meta set {item} {edit}` does the same there")
        }
        None => "it keeps its relations".to_owned(),
    };
    let note = match reason {
        LeftReason::Elsewhere => format!("`{item}` is not in a known collection; {completes}"),
        LeftReason::CopyOnly => {
            format!("the Original of `{item}` is not in a known collection; {completes}")
        }
        LeftReason::Deleted => format!("`{item}` is deleted and stays as it is"),
        LeftReason::NoLanguage => shell::pasted(&format!(
            "`{item}` gets no relation to `{name}`, whose language is not known: `urepo meta set {name} \
             translation_of={item} language=TAG` completes it"
        )),
    };
    context.printer.note(&note);
}

/// The change of a relation as it is typed.
pub(in crate::cli) fn edit(action: RelationAction, kind: &RelationKind, item: &str) -> String {
    let sign = match action {
        RelationAction::Link => '+',
        RelationAction::Unlink => '-',
    };
    format!("{}{sign}={item}", kind.description_key())
}

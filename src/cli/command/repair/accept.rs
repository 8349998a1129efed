//! `urepo repair --accept`: take sidecars that were edited by hand as they are.

use std::ops::ControlFlow;

use urepo::amend::AmendError;
use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::progress::Progress;
use urepo::repair::{
    Accepted, Compared, LoggedItems, Options, Outcome, RepairError, Repairer, SidecarAction,
    Unsealed,
};
use urepo::sidecar::{KeyChange, Seal};

use super::Repair;
use crate::cli::command::meta::report::{line, present};
use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{Changed, Item};
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, human};

impl Repair {
    /// Seals the edited sidecars of the selected items, after their edits were shown.
    pub(super) fn accept(&self, context: &Context, selection: &Selection) -> Done {
        let collection = context.collection()?;
        let known = context.known_besides(&collection, &[])?;
        let donors: Vec<_> = known.collections.iter().collect();
        let mut report = Report::new(context, Did::Accepted, selection.is_single());
        let names = context.selected_names(selection, &collection, &mut report)?;
        let logged = LoggedItems::of(&names);
        let acceptance = Acceptance { context, collection: &collection, donors: &donors, logged };
        let edits = acceptance.edits(&names, selection.names_items(), &mut report);
        let done = if context.global.dry_run {
            let _ = edits.iter().try_for_each(|edit| tell(&mut report, edit));
            Ok(())
        } else if context.interrupt.requested() {
            // Items that were not read are not asked about.
            Ok(())
        } else {
            let answer = self.confirm(context, &collection, &edits);
            answer.and_then(|()| acceptance.seal(&edits, &mut report))
        };
        if let Err(failure) = done {
            report.fatal(failure);
        }
        report.finish(End::default())
    }

    /// Shows the `edits`, and asks about them.
    fn confirm(&self, context: &Context, collection: &Collection, edits: &[Edit]) -> Done {
        let question = match edits {
            [] => return Ok(()),
            [edit] => format!("accept `{}`?", edit.name),
            _ => {
                let count = human::count(edits.len() as u64, "edited sidecar");
                format!("accept {count} in `{}`?", collection.path().display())
            }
        };
        let lines = edits.iter().map(|edit| format!("{}: {}", edit.name, in_words(&edit.accepted)));
        confirm_listed(context, self.yes, lines, &question)
    }
}

/// A sidecar that was edited by hand.
struct Edit {
    name: RepositoryName,
    accepted: Accepted,
}

/// The collection whose edited sidecars are accepted, and what they are compared with.
struct Acceptance<'a> {
    context: &'a Context,
    collection: &'a Collection,
    donors: &'a [&'a Collection],
    logged: LoggedItems,
}

impl Acceptance<'_> {
    fn repairer<'r>(&'r self, progress: &'r dyn Progress) -> Repairer<'r> {
        Repairer {
            collection: self.collection,
            donors: self.donors,
            witnesses: &[],
            options: Options { unsealed: Unsealed::Seal },
            logged: &self.logged,
            caller: self.context.caller(progress),
        }
    }

    /// The edits among the items `names`. Those that cannot be accepted have failed.
    fn edits(
        &self,
        names: &[RepositoryName],
        are_named: bool,
        report: &mut Report<'_>,
    ) -> Vec<Edit> {
        let progress = self.context.progress();
        let repairer = self.repairer(&*progress);
        let mut edits = Vec::new();
        for name in names {
            let flow = match edited(&repairer, name) {
                Ok(Some(accepted)) => {
                    edits.push(Edit { name: name.clone(), accepted });
                    ControlFlow::Continue(())
                }
                Ok(None) if are_named => unchanged(report, name),
                Ok(None) => ControlFlow::Continue(()),
                Err(failure) => report.failed(name.as_str(), failure),
            };
            if flow.is_break() {
                break;
            }
        }
        edits
    }

    /// Seals the edited sidecars.
    fn seal(&self, edits: &[Edit], report: &mut Report<'_>) -> Done {
        if edits.is_empty() {
            return Ok(());
        }
        let progress = self.context.progress();
        let repairer = self.repairer(&*progress);
        let writer = self.context.writer(self.collection)?;
        for edit in edits {
            let flow = match repairer.repair(&edit.name, &writer) {
                Ok(Outcome::Sound) => unchanged(report, &edit.name),
                Ok(Outcome::Repaired(_)) => tell(report, edit),
                Err(error) => report.failed(edit.name.as_str(), error.into()),
            };
            if flow.is_break() || self.context.interrupt.requested() {
                break;
            }
        }
        drop(progress);
        Ok(writer.finish()?)
    }
}

/// The values that nothing confirms, in a sentence.
fn unproven_text(unproven: &[KeyChange]) -> String {
    let values: Vec<_> = unproven.iter().map(present).collect();
    format!("nothing shows what was sealed of {}", values.join(", "))
}

/// How the sidecar of the item was edited; `None` if its seal is intact.
fn edited(repairer: &Repairer<'_>, name: &RepositoryName) -> Result<Option<Accepted>, Failure> {
    let collection: &Collection = repairer.collection;
    let (sidecar, seal) = collection.named_item(name)?.sidecar()?;
    if seal == Seal::Intact {
        return Ok(None);
    }
    if sidecar.state != State::Original {
        let name = name.clone();
        let is_copy = sidecar.state == State::Copy;
        return Err(if is_copy {
            AmendError::Copy { name }.into()
        } else {
            AmendError::Deleted { name }.into()
        });
    }
    let Some(plan) = repairer.examine(name)? else { return Ok(None) };
    let more = || RepairError::MoreDiffers { name: name.clone() };
    let is_resealed = matches!(plan.action, SidecarAction::Reseal { .. }) && plan.steps.is_empty();
    // Nothing is accepted for a Copy, even if its edited sidecar says Original.
    let accepted = plan.accepted.filter(|it| is_resealed && !it.is_payload_in_doubt);
    let Some(accepted) = accepted else { return Err(more().into()) };
    if !accepted.damaged.is_empty() {
        let damaged = accepted.damaged.join(", ");
        return Err(Failure::new(Exit::Damage, format!("{}: {damaged}", more()))
            .hint(format!("`urepo repair {name} --from COLLECTION` repairs it from a good copy")));
    }
    Ok(Some(accepted))
}

fn unchanged(report: &mut Report<'_>, name: &RepositoryName) -> ControlFlow<()> {
    report.unchanged(Item::of(name), &format!("{name} is as it was sealed"))
}

fn tell(report: &mut Report<'_>, Edit { name, accepted }: &Edit) -> ControlFlow<()> {
    let record = Item {
        changes: accepted.changes.iter().map(Changed::of).collect(),
        unproven: accepted.unproven.iter().map(Changed::of).collect(),
        ..Item::became(name, Did::Accepted)
    };
    let values = format!(": {}", in_words(accepted));
    report.outcome(record, &values, &values)
}

/// The values that were edited, and those that nothing confirms.
fn in_words(Accepted { compared, changes, unproven, .. }: &Accepted) -> String {
    let against = match compared {
        Compared::Holding(path) => format!("compared with `{}`", path.display()),
        Compared::Log => {
            "compared with the log, which has the values that urepo changed".to_owned()
        }
        Compared::Nothing => "nothing shows what it was before".to_owned(),
    };
    let mut what = changes.iter().map(line).collect::<Vec<_>>().join(", ");
    if what.is_empty() && (*compared != Compared::Nothing || unproven.is_empty()) {
        what.push_str("no value differs");
    }
    let mut told = if what.is_empty() { String::new() } else { format!("{what} ({against})") };
    if !unproven.is_empty() {
        told.push_str(if told.is_empty() { "" } else { "; " });
        told.push_str(&unproven_text(unproven));
    }
    told
}

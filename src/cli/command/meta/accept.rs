//! `urepo meta accept`: accept sidecars that were edited by hand.

use std::ffi::OsString;
use std::ops::ControlFlow;

use urepo::amend::AmendError;
use urepo::collection::{Collection, Writer};
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::repair::{
    Accepted, Compared, LoggedItems, Options, Outcome, Plan, RepairError, Repairer, SidecarAction,
    Unsealed,
};
use urepo::sidecar::{KeyChange, Seal};

use super::report::{line, present};
use crate::cli::confirm::confirm;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{Changed, Item};
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, human};

/// Accept sidecars that were edited by hand
///
/// An edited sidecar does not match its seal, and `urepo verify` reports damage. This command shows the
/// differences from the sealed sidecar in another collection, or else from the values in the log, and seals
/// the edited sidecar. With --dry-run it only shows the differences. It asks about values that nothing
/// confirms, such as the origin of an item without a known Copy. Every file is read first and has to agree
/// with the sidecar. An item with other damage is refused: a date, IBIp or origin that differs from another
/// collection, or that contradicts the identifier, was not edited but has rotted. Afterwards the Copies are
/// stale.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo meta accept 11.21.02.13 --dry-run
  urepo meta accept 11.21.02.13 --from /mnt/mirror
  urepo meta accept --all -y")]
pub(super) struct Accept {
    #[command(flatten)]
    selection: Selection,
    /// A collection that may hold the item, by path or name; repeat it for several. The named collections of
    /// the settings unless given
    #[arg(long, value_name = "COLLECTION")]
    from: Vec<OsString>,
    /// Do not ask, neither about values that nothing confirms nor if the items are not named one by one
    #[arg(short, long)]
    yes: bool,
}

impl Accept {
    pub(super) fn run(&self, context: &Context) -> Done {
        self.selection.check("meta accept ITEM…")?;
        let collection = context.collection()?;
        let known = context.known_besides(&collection, &self.from)?;
        let donors: Vec<_> = known.collections.iter().collect();
        let is_dry = context.global.dry_run;
        let progress = context.progress();
        let mut report = Report::new(context, "accepted", self.selection.is_single());
        let names = context.selected_names(&self.selection, &collection, &mut report)?;
        if !self.selection.names_items() && !is_dry {
            let is_edited = |name: &&RepositoryName| {
                let read = collection.named_item(name).and_then(|item| item.sidecar());
                read.is_ok_and(|(it, seal)| it.state == State::Original && seal != Seal::Intact)
            };
            let edited = names.iter().filter(is_edited).count() as u64;
            let (edited, path) = (human::count(edited, "edited sidecar"), collection.path());
            confirm(context, self.yes, &format!("accept {edited} in `{}`?", path.display()))?;
        }
        let logged = LoggedItems::of(&names);
        let repairer = Repairer {
            collection: &collection,
            donors: &donors,
            witnesses: &[],
            options: Options { unsealed: Unsealed::Seal, ..Options::default() },
            logged: &logged,
            caller: context.caller(&*progress),
        };
        let mut writer: Option<Writer> = None;
        let mut accept = |name: &RepositoryName| {
            let Some(plan) = edited(&repairer, name)? else { return Ok(None) };
            if is_dry {
                return Ok(plan.accepted);
            }
            self.ask(context, name, &plan)?;
            let writer = match &mut writer {
                Some(writer) => writer,
                none => none.insert(context.writer(&collection)?),
            };
            match repairer.repair(name, writer)? {
                Outcome::Sound => Ok(None),
                Outcome::Repaired(plan) => Ok(plan.accepted),
            }
        };
        for name in &names {
            let flow = match accept(name) {
                Ok(accepted) => tell(context, &mut report, name, accepted),
                Err(failure) => report.failed(name.as_str(), failure),
            };
            if flow.is_break() {
                break;
            }
        }
        drop(progress);
        if let Some(writer) = writer {
            writer.finish()?;
        }
        report.finish(End::default())
    }

    /// Asks about values that nothing confirms.
    fn ask(&self, context: &Context, name: &RepositoryName, plan: &Plan) -> Done {
        let unproven = plan.accepted.as_ref().map(|it| &it.unproven[..]).unwrap_or_default();
        if unproven.is_empty() {
            return Ok(());
        }
        let told = unproven_text(unproven);
        confirm(context, self.yes, &format!("accept `{name}`? {told}")).map_err(|mut failure| {
            failure.message = format!("{}; {told}", failure.message);
            failure
        })
    }
}

/// The values that nothing confirms, in a sentence.
fn unproven_text(unproven: &[KeyChange]) -> String {
    let values: Vec<_> = unproven.iter().map(present).collect();
    format!("nothing shows what was sealed of {}", values.join(", "))
}

/// The plan that seals the edited item; `None` if its seal is intact.
fn edited(repairer: &Repairer<'_>, name: &RepositoryName) -> Result<Option<Box<Plan>>, Failure> {
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
    let is_resealed = matches!(plan.action, SidecarAction::Reseal { .. });
    // Nothing is accepted for a Copy, even if its edited sidecar says Original.
    let is_only_sealed = is_resealed && plan.accepted.is_some();
    let is_in_doubt = plan.accepted.as_ref().is_some_and(|it| it.is_payload_in_doubt);
    if !is_only_sealed || !plan.steps.is_empty() || is_in_doubt {
        return Err(RepairError::MoreDiffers { name: name.clone() }.into());
    }
    let damaged = plan.accepted.as_ref().map(|it| &it.damaged[..]).unwrap_or_default();
    if !damaged.is_empty() {
        let more = RepairError::MoreDiffers { name: name.clone() };
        return Err(Failure::new(Exit::Damage, format!("{more}: {}", damaged.join(", ")))
            .hint(format!("`urepo repair {name} --from COLLECTION` repairs it from a good copy")));
    }
    Ok(Some(Box::new(plan)))
}

fn tell(
    context: &Context,
    report: &mut Report<'_>,
    name: &RepositoryName,
    accepted: Option<Accepted>,
) -> ControlFlow<()> {
    let Some(Accepted { compared, changes, unproven, .. }) = accepted else {
        let told = format!("{name} is as it was sealed");
        return report.outcome(Item::became(name, "unchanged"), &told, &told);
    };
    let against = match &compared {
        Compared::Holding(path) => format!("compared with `{}`", path.display()),
        Compared::Log => {
            "compared with the log, which has the values that urepo changed".to_owned()
        }
        Compared::Nothing => "nothing shows what it was before".to_owned(),
    };
    let record = Item {
        changes: changes.iter().map(Changed::of).collect(),
        unproven: unproven.iter().map(Changed::of).collect(),
        ..Item::became(name, "accepted")
    };
    let lines = |changes: &[KeyChange]| changes.iter().map(line).collect::<Vec<_>>().join(", ");
    let mut what = lines(&changes);
    if what.is_empty() && (compared != Compared::Nothing || unproven.is_empty()) {
        what.push_str("no value differs");
    }
    let mut told = if what.is_empty() { String::new() } else { format!("{what} ({against})") };
    if !unproven.is_empty() {
        told.push_str(if told.is_empty() { "" } else { "; " });
        told.push_str(&unproven_text(&unproven));
    }
    let flow = report.outcome(
        record,
        &format!("would accept {name}: {told}"),
        &format!("accepted {name}: {told}"),
    );
    if context.interrupt.requested() { ControlFlow::Break(()) } else { flow }
}

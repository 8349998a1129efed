//! `urepo recover --accept-loss`: what is lost is given up, by the table of remedies.

use std::ops::ControlFlow;

use urepo::collection::{Collection, Event, Names, Writer};
use urepo::identity::RepositoryName;
use urepo::promotion::{GivenUp, LostPart, PromotionError, Registrar};

use super::Recover;
use crate::cli::at_odds::{items_at_odds, missing};
use crate::cli::command::given_up;
use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::explain::removal::copied_from_trash;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::records::{Item, path};
use crate::cli::report::{End, Report};
use crate::cli::salvage::Salvage;
use crate::cli::{Done, escape, human, shell};

/// The items of which something is lost, and what.
type Losses = Vec<(RepositoryName, GivenUp)>;

impl Recover {
    /// Gives up what is lost of the named items, after a person has seen what.
    pub(super) fn accept_losses(&self, context: &Context, collection: &Collection) -> Done {
        let mut names = self.named(collection)?;
        let mut report = Report::new(context, Did::GivenUp, names.len() == 1);
        let known = context.known_besides(collection, &self.others)?;
        for (name, failure) in saved(context, collection, &known, &mut names) {
            let _ = report.failed(name.as_str(), failure);
        }
        let Known { collections: others, missing_names, .. } = known;
        let losses = judged(context, (collection, &others), names, |name, error| {
            report.failed(name.as_str(), error.into())
        });
        if !losses.is_empty() {
            for away in &missing_names {
                context
                    .printer
                    .warning(&format!("`{away}` is not in sight, and may have what is given up"));
            }
        }
        self.agree(context, &losses)?;
        self.give_up(context, (collection, &others), losses, &mut report)?;
        report.finish(End::default())
    }

    /// The items of the whole collection of which something is lost. Nothing of them is given up but by a person who has seen
    /// them: a cron job would give up what lies on a disk that is only unmounted.
    pub(super) fn all_losses(
        &self,
        context: &Context,
        collection: &Collection,
        known: &Known,
    ) -> Result<(Losses, u64), Failure> {
        let others = &known.collections;
        let all: Vec<_> = std::iter::once(collection).chain(others).collect();
        let mut names = items_at_odds(context, &all, &Names::default())?;
        // What is in no directory is known by the ledgers alone.
        for other in others {
            missing(other, &Names::default(), &mut names)?;
        }
        let mut names: Vec<_> = names.into_iter().collect();
        let mut left = saved(context, collection, known, &mut names);
        let mut errors = Vec::new();
        let losses = judged(context, (collection, others), names, |name, error| {
            let is_lost = !matches!(error, PromotionError::NotLost { .. });
            errors.extend(is_lost.then(|| (name.clone(), error)));
            ControlFlow::Continue(())
        });
        left.extend(errors.into_iter().map(|(name, error)| (name, Failure::from(error))));
        let unread = left.len() as u64;
        for (name, failure) in left {
            let reason = failure.in_one_line();
            context.printer.warning(&format!("{name} stays as it is: {reason}"));
        }
        match &losses[..] {
            [(name, _), ..] if self.yes && !context.global.dry_run => {
                let items = human::count(losses.len() as u64, "item");
                let each = if losses.len() == 1 { "it" } else { "each" };
                let message =
                    format!("{items} would be given up, and `--yes` needs {each} by name");
                let others =
                    self.others.iter().map(|other| format!("--with {} ", shell::word(other)));
                let others: String = others.collect();
                Err(Failure::usage(message).hint(format!(
                    "`urepo recover --accept-loss {name} {others}--yes` gives one up"
                )))
            }
            _ => Ok((losses, unread)),
        }
    }

    /// Asks whether what is lost is to be given up.
    pub(super) fn agree(&self, context: &Context, losses: &[(RepositoryName, GivenUp)]) -> Done {
        if context.global.dry_run || losses.is_empty() {
            return Ok(());
        }
        let lines =
            losses.iter().map(|(name, what)| format!("to be given up: {name}: {}", words(what)));
        let items = human::count(losses.len() as u64, "item");
        confirm_listed(context, self.yes, lines, &format!("give up what is lost of {items}?"))
    }

    /// Gives up what is lost, or says in a dry run what would be. Returns these items.
    pub(super) fn give_up(
        &self,
        context: &Context,
        (collection, others): (&Collection, &[Collection]),
        losses: Losses,
        report: &mut Report<'_>,
    ) -> Result<Vec<RepositoryName>, Failure> {
        let is_dry = context.global.dry_run;
        let is_idle = is_dry || losses.is_empty();
        let writer = if is_idle { None } else { Some(context.writer(collection)?) };
        let progress = context.progress();
        let caller = context.caller(&*progress);
        let registrar = Registrar { collection, writer: writer.as_ref(), caller };
        let mut done = Vec::new();
        for (name, planned) in losses {
            let given_up = if is_dry { Ok(planned) } else { registrar.accept_loss(&name, others) };
            let flow = match given_up {
                Ok(what) => {
                    let text = format!(": {}", words(&what));
                    let was = what.line.as_ref().and_then(Event::state);
                    let was = was.as_ref().map(ToString::to_string);
                    let kept = what.kept.iter().map(|kept| path(kept)).collect();
                    let item = Item { kept, was, ..Item::became(&name, Did::GivenUp) };
                    let flow = report.outcome(item, &text, &text);
                    done.push(name);
                    flow
                }
                Err(error) => report.failed(name.as_str(), error.into()),
            };
            if flow.is_break() {
                break;
            }
        }
        writer.map_or(Ok(()), Writer::finish)?;
        Ok(done)
    }
}

/// What is lost of the items `names`, by the table of remedies. `refused` gets the others, and says whether to go on.
fn judged(
    context: &Context,
    (collection, others): (&Collection, &[Collection]),
    names: impl IntoIterator<Item = RepositoryName>,
    mut refused: impl FnMut(&RepositoryName, PromotionError) -> ControlFlow<()>,
) -> Losses {
    let progress = context.progress();
    let caller = context.caller(&*progress);
    let looking = Registrar { collection, writer: None, caller };
    let mut losses = Vec::new();
    for name in names {
        match looking.accept_loss(&name, others) {
            Ok(what) => losses.push((name, what)),
            Err(error) => {
                if refused(&name, error).is_break() {
                    break;
                }
            }
        }
    }
    losses
}

/// Takes the items out of `names` that a repair brings back whole: nothing of them is lost.
fn saved(
    context: &Context,
    collection: &Collection,
    known: &Known,
    names: &mut Vec<RepositoryName>,
) -> Vec<(RepositoryName, Failure)> {
    let roots: Vec<_> = std::iter::once(collection).chain(known.roots()).collect();
    let mut saved = Vec::new();
    names.retain(|name| {
        let refusal = match Salvage::find(context, name, collection, &roots) {
            Ok(None) => return true,
            Ok(Some(salvage)) => salvage.refusal(context, name),
            // It may have what would be given up.
            Err(error) => error.into(),
        };
        saved.push((name.clone(), refusal));
        false
    });
    saved
}

/// What is given up, with the values that a ledger has of it.
fn words(what: &GivenUp) -> String {
    let part = match what.part {
        LostPart::Changes => {
            "what was changed after the item had left; the Original stays here as it is"
        }
        LostPart::Newest => "its newest state; the older one here goes on as the Original",
        LostPart::Item => "the item; nothing in sight has it",
    };
    let remains = what.remains.as_ref().filter(|it| it.whole > 0).map(|it| {
        let first = it.first.as_ref().map(|path| escape::one_line(&path.to_string()));
        let such_as = if it.damaged == 1 { "" } else { "such as " };
        let first = first.map(|first| format!(" ({such_as}`{first}`)")).unwrap_or_default();
        let (damaged, are) = (human::count(it.damaged, "file"), human::is_or_are(it.damaged));
        let (whole, stay) = (it.whole, "all stay in the trash until `urepo purge`");
        format!("; {damaged} {are} damaged{first}, {whole} whole: {stay}")
    });
    let values = what.line.as_ref().map(|line| format!("; {}", given_up::of_line(line)));
    let kept = copied_from_trash(&what.kept).map(|hint| format!("; {hint}"));
    let more = [remains, values, kept].map(Option::unwrap_or_default).concat();
    format!("{part}{more}")
}

//! `urepo recover --accept-loss ITEM`: what is lost of these items is given up.

use urepo::collection::{Collection, Writer};
use urepo::promotion::{GivenUp, Registrar};

use super::Recover;
use crate::cli::Done;
use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::human;
use crate::cli::records::Item;
use crate::cli::report::{End, Report};

impl Recover {
    /// Gives up what is lost of the named items, after a person has seen what.
    pub(super) fn accept_losses(&self, context: &Context, collection: &Collection) -> Done {
        let names = self.named(collection)?;
        let others = context.known_besides(collection, &self.others)?.collections;
        let progress = context.progress();
        let caller = context.caller(&*progress);
        let looking = Registrar { collection, writer: None, caller };
        let mut report = Report::new(context, "given up", names.len() == 1);
        let mut lost = Vec::new();
        for name in names {
            match looking.accept_loss(&name, &others) {
                Ok(what) => lost.push((name, what)),
                Err(error) => {
                    if report.failed(name.as_str(), error.into()).is_break() {
                        break;
                    }
                }
            }
        }
        let is_dry = context.global.dry_run;
        if !is_dry && !lost.is_empty() {
            let lines =
                lost.iter().map(|(name, what)| format!("to be given up: {name}: {}", words(*what)));
            let question =
                format!("give up what is lost of {}?", human::count(lost.len() as u64, "item"));
            confirm_listed(context, self.yes, lines, &question)?;
        }
        let writer = if is_dry { None } else { Some(context.writer(collection)?) };
        let registrar = Registrar { writer: writer.as_ref(), ..looking };
        for (name, _) in lost {
            let given_up = registrar.accept_loss(&name, &others);
            let flow = match given_up {
                Ok(what) => {
                    let text = format!("{name}: {}", words(what));
                    let record = Item::became(&name, "given_up");
                    report.outcome(
                        record,
                        &format!("would give up: {text}"),
                        &format!("given up: {text}"),
                    )
                }
                Err(error) => report.failed(name.as_str(), error.into()),
            };
            if flow.is_break() {
                break;
            }
        }
        writer.map_or(Ok(()), Writer::finish)?;
        drop(progress);
        report.finish(End::default())
    }
}

fn words(what: GivenUp) -> &'static str {
    match what {
        GivenUp::Changes => {
            "what was changed after the item had left; the Original stays here as it is"
        }
        GivenUp::Newest => "its newest state; the older one here goes on as the Original",
        GivenUp::Item => "the item; nothing in sight has it",
    }
}

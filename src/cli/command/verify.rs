//! `urepo verify`: is the collection what its sidecars say it is?

use std::ops::ControlFlow;

use serde_json::{Value, json};
use urepo::collection::Names;
use urepo::identity::{Prefix, RepositoryName};
use urepo::layout;
use urepo::verify::{Depth, Finding, Options, Place, Report, Scope, Severity, Summary, verify};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::printer::Verbosity;
use crate::cli::{Done, escape, human, record};

/// Check items: structure, sidecars, and every byte against its digest
///
/// Prints one line a finding: its code, how much it matters, where it is and what is wrong. Damage
/// makes the exit code 20. Nothing is repaired, and nothing is written. The codes never change their
/// meaning; urepo(1) lists them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo verify
  urepo verify --quick
  urepo verify 11.21.02.13
  urepo -q verify || echo 'the archive needs a look'")]
pub(crate) struct Verify {
    /// The items; all of the collection unless given
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Do not read the files: only that they are there, with their sizes
    #[arg(long)]
    quick: bool,
    /// Only names of this prefix: subdomain/word[.port]
    #[arg(long, conflicts_with = "items")]
    prefix: Option<Prefix>,
}

impl Verify {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let names = Names { prefix: self.prefix.clone() };
        let scope = if self.items.is_empty() {
            Scope::All(&names)
        } else {
            let found = self.items.iter().map(|text| context.item(&collection, text));
            let names: Result<Vec<_>, _> =
                found.map(|item| item.map(|item| item.name().clone())).collect();
            Scope::Items(Box::new(names?.into_iter()))
        };
        if context.global.dry_run {
            context.printer.note("verify changes nothing; there is nothing to try dry");
            return Ok(());
        }
        let depth = if self.quick { Depth::Quick } else { Depth::Full };
        let options = Options { depth, jobs: context.config.jobs.value };
        let progress = context.progress();
        let mut unwritten = None;
        let summary = verify(
            &collection,
            scope,
            options,
            &*progress,
            &context.interrupt,
            |report| match tell(context, &report) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    unwritten = Some(Failure::of_stdout(&error));
                    ControlFlow::Break(())
                }
            },
        )?;
        drop(progress);
        if let Some(failure) = unwritten {
            return Err(failure);
        }
        finish(context, &summary)
    }
}

fn tell(context: &Context, report: &Report) -> std::io::Result<()> {
    let (name, findings) = match report {
        Report::Item(item) => {
            if context.printer.json {
                let mut fields = json!({
                    "type": "item", "version": 1, "id": item.name.as_str(),
                    "state": item.state.map(|state| state.to_string()),
                    "ok": !item.findings.is_damage(), "files": item.files, "bytes": item.bytes,
                    "findings": item.findings.as_slice().iter().map(finding).collect::<Vec<_>>(),
                });
                if item.findings.omitted() > 0 {
                    fields["findings_omitted"] = item.findings.omitted().into();
                }
                return context.printer.record(&fields);
            }
            (Some(&item.name), item.findings.as_slice())
        }
        Report::Tree(found) => {
            if context.printer.json {
                return context.printer.record(&finding(found));
            }
            (None, std::slice::from_ref(found))
        }
    };
    for found in findings {
        let wanted = match context.printer.verbosity {
            Verbosity::Quiet => found.severity() == Severity::Damage,
            Verbosity::Normal => found.severity() >= Severity::Warning,
            Verbosity::Verbose => true,
        };
        if wanted {
            context.printer.line(&line(name, found))?;
        }
    }
    if let Report::Item(item) = report
        && item.findings.omitted() > 0
    {
        let omitted = item.findings.omitted();
        context.printer.line(&format!("…  {}: {omitted} more findings", item.name))?;
    }
    Ok(())
}

fn line(name: Option<&RepositoryName>, found: &Finding) -> String {
    let path = match (name, &found.place) {
        (None, place) => place.to_path(),
        (Some(name), place) => layout::item_directory(name).join(place.to_path()),
    };
    let path = escape::one_line(&path.display().to_string());
    let path = path.trim_end_matches('/');
    let detail = escape::one_line(&found.detail);
    let meaning = found.code.meaning();
    let what = if detail.is_empty() { meaning.to_owned() } else { format!("{meaning}: {detail}") };
    format!("{}  {:<7}  {path}  {what}", found.code, found.severity())
}

fn finding(found: &Finding) -> Value {
    let mut fields = json!({
        "type": "finding", "version": 1, "code": found.code.to_string(),
        "severity": found.severity().to_string(), "meaning": found.code.meaning(),
        "detail": found.detail,
        "in": match found.place {
            Place::Item | Place::Beside(_) => "item",
            Place::Payload(_) => "payload",
            Place::Tree(_) => "tree",
        },
    });
    record::add_path(&mut fields, "path", &found.place.to_path());
    fields
}

fn finish(context: &Context, summary: &Summary) -> Done {
    let ended = if summary.is_damage() {
        let items = human::count(summary.damaged_items, "item");
        let message = match summary.tree_damage {
            0 => format!("{items} of {} damaged", summary.items),
            elsewhere => {
                let places = human::count(elsewhere, "place");
                format!("{items} of {} damaged, and {places} that are no item", summary.items)
            }
        };
        Err(Failure::new(Exit::Damage, message)
            .hint("bring damaged files back from another copy; nothing here was changed"))
    } else if summary.interrupted {
        let items = human::count(summary.items, "item");
        Err(Failure::new(Exit::Interrupted, format!("interrupted; {items} verified before it")))
    } else {
        Ok(())
    };
    if context.printer.json {
        let code = ended.as_ref().err().map_or(0, |failure| failure.exit.code());
        let record = json!({
            "type": "summary", "version": 1, "items": summary.items, "files": summary.files,
            "bytes": summary.bytes, "damaged_items": summary.damaged_items,
            "tree_damage": summary.tree_damage, "warnings": summary.warnings,
            "notices": summary.notices, "interrupted": summary.interrupted, "exit_code": code,
        });
        context.printer.record(&record).map_err(|error| Failure::of_stdout(&error))?;
    } else if ended.is_ok() {
        context.printer.note(&format!(
            "verified {}, {}, {}: no damage",
            human::count(summary.items, "item"),
            human::count(summary.files, "file"),
            human::bytes(summary.bytes)
        ));
    }
    ended
}

//! What is found, as lines for people and records for programs.

use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::layout;
use urepo::verify::{Disagreement, Finding, ItemReport, Place, Report, Severity};

use crate::cli::printer::{Printer, Verbosity};
use crate::cli::records::{self, Findings, Item};
use crate::cli::{Done, escape};

/// Tells what is found in one root.
pub(super) struct Teller<'a> {
    pub printer: &'a Printer,
    pub root: &'a Collection,
    /// Lines name the root only where there are several.
    pub is_one_of_several: bool,
}

impl Teller<'_> {
    pub(super) fn report(&self, report: &Report) -> Done {
        match report {
            Report::Item(item) if self.printer.json => self.printer.record(&self.item(item)),
            Report::Item(item) => {
                for found in item.findings.as_slice() {
                    self.line(Some(&item.name), found)?;
                }
                match item.findings.omitted() {
                    0 => Ok(()),
                    more => self.printer.line(&format!("…  {}: {more} more findings", item.name)),
                }
            }
            Report::Tree(found) if self.printer.json => self.record(None, found),
            Report::Tree(found) => self.line(None, found),
        }
    }

    pub(super) fn disagreement(&self, told: &Disagreement) -> Done {
        if self.printer.json {
            self.record(told.name.as_ref(), &told.finding)
        } else {
            self.line(told.name.as_ref(), &told.finding)
        }
    }

    fn record(&self, name: Option<&RepositoryName>, found: &Finding) -> Done {
        let (id, place) = (name.map(ToString::to_string), Some(self.root.into()));
        self.printer.record(&records::Finding { id, place, ..finding(found) })
    }

    fn item(&self, item: &ItemReport) -> Item<'_> {
        let is_damage = item.findings.is_damage();
        let omitted = item.findings.omitted();
        Item {
            state: item.state.map(|state| state.to_string()),
            outcome: Some(if is_damage { "damaged" } else { "sound" }),
            files: Some(item.files),
            bytes: Some(item.bytes),
            findings: Some(Findings {
                findings: item.findings.as_slice().iter().map(finding).collect(),
                findings_omitted: (omitted > 0).then_some(omitted),
            }),
            place: Some(self.root.into()),
            ..Item::named(self.root, &item.name)
        }
    }

    /// A line, for those who want to know that much.
    fn line(&self, name: Option<&RepositoryName>, found: &Finding) -> Done {
        let wanted = match self.printer.verbosity {
            Verbosity::Quiet => found.severity() == Severity::Damage,
            Verbosity::Normal => found.severity() >= Severity::Warning,
            Verbosity::Verbose => true,
        };
        if !wanted {
            return Ok(());
        }
        let mut path = found.place.to_path();
        if let Some(name) = name {
            path = layout::item_directory(name).join(path);
        }
        if self.is_one_of_several {
            path = self.root.path().join(path);
        }
        let path = escape::one_line(&path.display().to_string());
        let path = path.trim_end_matches('/');
        let detail = escape::one_line(&found.detail);
        let meaning = found.code.meaning();
        let what =
            if detail.is_empty() { meaning.to_owned() } else { format!("{meaning}: {detail}") };
        self.printer.line(&format!("{}  {:<7}  {path}  {what}", found.code, found.severity()))
    }
}

fn finding(found: &Finding) -> records::Finding {
    records::Finding {
        id: None,
        code: found.code.to_string(),
        severity: found.severity().to_string(),
        meaning: found.code.meaning(),
        detail: found.detail.clone(),
        part: match found.place {
            Place::Item | Place::Beside(_) => "item",
            Place::Payload(_) => "payload",
            Place::Tree(_) => "tree",
        },
        path: records::path(&found.place.to_path()),
        place: None,
    }
}

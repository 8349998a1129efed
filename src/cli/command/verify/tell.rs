//! What is found, as lines for people and records for programs.

use serde_json::{Value, json};
use urepo::collection::Collection;
use urepo::identity::RepositoryName;
use urepo::layout;
use urepo::verify::{Disagreement, Finding, ItemReport, Place, Report, Severity};

use crate::cli::printer::{Printer, Verbosity};
use crate::cli::{Done, escape, record};

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
            Report::Tree(found) if self.printer.json => {
                self.printer.record(&self.of_here(finding(found)))
            }
            Report::Tree(found) => self.line(None, found),
        }
    }

    pub(super) fn disagreement(&self, told: &Disagreement) -> Done {
        if !self.printer.json {
            return self.line(told.name.as_ref(), &told.finding);
        }
        let mut fields = finding(&told.finding);
        if let Some(name) = &told.name {
            fields["id"] = name.as_str().into();
        }
        self.printer.record(&self.of_here(fields))
    }

    fn item(&self, item: &ItemReport) -> Value {
        let mut fields = json!({
            "type": "item", "version": 1, "id": item.name.as_str(),
            "state": item.state.map(|state| state.to_string()),
            "ok": !item.findings.is_damage(), "files": item.files, "bytes": item.bytes,
            "findings": item.findings.as_slice().iter().map(finding).collect::<Vec<_>>(),
        });
        if item.findings.omitted() > 0 {
            fields["findings_omitted"] = item.findings.omitted().into();
        }
        self.of_here(fields)
    }

    /// A record that says which collection it is about.
    fn of_here(&self, mut fields: Value) -> Value {
        record::add_path(&mut fields, "collection", self.root.path());
        fields["collection_id"] = self.root.settings().id.as_str().into();
        fields
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

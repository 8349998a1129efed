//! Findings, as lines for people and records for programs.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use urepo::collection::Collection;
use urepo::identity::{Prefix, RepositoryName};
use urepo::verify::{self, Code, Disagreement, Finding, ItemReport, Place, Report, Severity};

use crate::cli::did::Did;
use crate::cli::printer::{Printer, Verbosity};
use crate::cli::records::{self, Findings, Item};
use crate::cli::report::REPEATED_PRINTED;
use crate::cli::{Done, escape, human};

/// Reports the findings in one root.
pub(super) struct Reporter<'a> {
    pub printer: &'a Printer,
    pub root: &'a Collection,
    /// What people call the root, if it is one of several.
    pub called: Option<&'a str>,
    /// The prefix of the item that was named first: identifiers of it are short on a terminal.
    pub first: &'a OnceCell<Prefix>,
}

impl Reporter<'_> {
    pub(super) fn report(&self, report: &Report) -> Done {
        match report {
            Report::Item(item) if self.printer.json => self.printer.record(&self.item(item)),
            Report::Item(item) => self.lines(item),
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
        let did = match &item.findings {
            found if found.is_seen_damage() => Did::Damaged,
            found if found.is_damage() => Did::Unread,
            _ => Did::Sound,
        };
        let omitted = item.findings.omitted();
        Item {
            state: item.state.map(|state| state.to_string()),
            did: Some(did),
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

    /// A line for each finding of an item; for warnings of one code, the first few and the number of the
    /// others.
    fn lines(&self, item: &ItemReport) -> Done {
        let mut printed = BTreeMap::new();
        for found in item.findings.as_slice() {
            let printed: &mut u64 = printed.entry(found.code).or_default();
            if *printed < self.most(found.code) {
                *printed += 1;
                self.line(Some(&item.name), found)?;
            }
        }
        for (code, count) in item.findings.counts() {
            let printed = printed.get(code).copied().unwrap_or_default();
            if *count > printed && self.is_wanted(*code) {
                let more = count - printed;
                let what = match printed {
                    0 => format!("{}: {count} in this item", code.meaning()),
                    _ if printed == self.most(*code) => {
                        let kept = verify::Findings::KEPT;
                        format!("and {more} more in this item; `-v` lists up to {kept}")
                    }
                    _ => format!("and {more} more in this item"),
                };
                let of_code = |found: &&Finding| found.code == *code;
                let alike = item.findings.as_slice().iter().find(of_code);
                let severity =
                    alike.map_or_else(|| code.severity().to_string(), Finding::shown_severity);
                self.print((*code, &severity), Some(&item.name), &Place::Item, &what)?;
            }
        }
        Ok(())
    }

    /// Limit on printed findings of `code` for an item.
    fn most(&self, code: Code) -> u64 {
        match (code.severity(), self.printer.verbosity) {
            (Severity::Warning, Verbosity::Normal) => REPEATED_PRINTED,
            _ => u64::MAX,
        }
    }

    /// Whether findings of `code` are printed.
    fn is_wanted(&self, code: Code) -> bool {
        match self.printer.verbosity {
            Verbosity::Quiet => code.severity() == Severity::Damage,
            Verbosity::Normal => code.severity() >= Severity::Warning,
            Verbosity::Verbose => true,
        }
    }

    fn line(&self, name: Option<&RepositoryName>, found: &Finding) -> Done {
        if !self.is_wanted(found.code) {
            return Ok(());
        }
        let kind = (found.code, &*found.shown_severity());
        let is_verbose = self.printer.verbosity > Verbosity::Normal;
        let words = if is_verbose { found.in_words() } else { found.in_short() };
        let words = match self.called.filter(|_| !found.code.is_of_two()) {
            Some(called) => format!("{called}: {words}"),
            None => words,
        };
        self.print(kind, name, &found.place, &escape::one_line(&words))
    }

    /// A finding: on a terminal as people read it, in a pipe whole and with tabs.
    fn print(
        &self,
        (code, severity): (Code, &str),
        name: Option<&RepositoryName>,
        place: &Place,
        what: &str,
    ) -> Done {
        let is_drawn = self.printer.stdout_is_terminal();
        let is_alike = |name: &RepositoryName| {
            let prefix = name.prefix();
            *self.first.get_or_init(|| prefix.clone()) == prefix
        };
        let is_short = is_drawn && name.is_some_and(is_alike);
        let name = name.map_or("", |name| human::identifier(name, is_short));
        let file = match place {
            Place::Payload(path) => path.as_path().display().to_string(),
            place => place.to_path().display().to_string(),
        };
        let file = escape::one_line(file.trim_end_matches('/'));
        let code = code.to_string();
        let severity = if is_drawn { format!("{severity:<7}") } else { severity.to_owned() };
        let fields = [&*severity, name, &file, what, &code];
        self.printer.line(&if is_drawn {
            let fields = fields.into_iter().filter(|field| !field.is_empty());
            fields.collect::<Vec<_>>().join("  ")
        } else {
            fields.join("\t")
        })
    }
}

fn finding(found: &Finding) -> records::Finding {
    records::Finding {
        code: Some(found.code.to_string()),
        severity: found.shown_severity(),
        message: found.in_words(),
        part: Some(match found.place {
            Place::Item | Place::Beside(_) => "item",
            Place::Payload(_) => "payload",
            Place::Tree(_) => "tree",
        }),
        path: Some(records::path(&found.place.to_path())),
        ..records::Finding::default()
    }
}

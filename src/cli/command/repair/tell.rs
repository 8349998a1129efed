//! What is told of a repair, item by item and at its end.

use std::path::Path;

use serde_json::{Value, json};
use urepo::identity::RepositoryName;
use urepo::repair::{Damage, EntrySource, Outcome, Plan, SidecarAction};
use urepo::verify::{Finding, Severity};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::printer::Verbosity;
use crate::cli::report::{End, Tally};
use crate::cli::{Done, escape, human, record};

/// A run over items: how they ended.
pub(super) struct Run<'a> {
    context: &'a Context,
    mended: u64,
    /// Items with nothing to mend.
    pub sound: u64,
    /// Items with damage that is left.
    pub left: u64,
    /// Places that are no item, with damage.
    places: u64,
    /// Items that were not looked at, besides those with damage that is left.
    failed: u64,
    pub interrupted: bool,
    pub tally: Tally<'a>,
}

impl<'a> Run<'a> {
    pub(super) fn new(context: &'a Context, is_single: bool) -> Run<'a> {
        let tally = Tally::new(context, is_single);
        let (mended, sound, left, places, failed) = (0, 0, 0, 0, 0);
        Run { context, mended, sound, left, places, failed, interrupted: false, tally }
    }

    /// Tells how an item ended; of an error, whether it means damage.
    pub(super) fn note(
        &mut self,
        name: &RepositoryName,
        done: Result<Outcome, (Failure, bool)>,
        partial: bool,
    ) -> Done {
        match done {
            Ok(Outcome::Sound) => {
                self.sound += 1;
                let fields = json!({ "ok": true, "outcome": "sound" });
                self.tell(name.as_str(), fields, || format!("nothing to mend in {name}"))
            }
            Ok(Outcome::Repaired(plan)) => {
                let lost = plan.lost().count();
                // What a run without `--partial` would refuse is told so without doing it as well.
                let outcome = match (lost > 0, partial && !plan.changes_nothing()) {
                    (false, _) => Told::Repaired,
                    (true, true) => Told::Partly,
                    (true, false) => Told::Not,
                };
                *if lost > 0 { &mut self.left } else { &mut self.mended } += 1;
                self.describe(name, &plan, outcome)
            }
            Err((failure, is_damage)) => {
                self.left += u64::from(is_damage);
                self.failed += u64::from(!is_damage);
                self.fail(name.as_str(), failure)
            }
        }
    }

    /// Tells of an item that was asked for and is not there.
    pub(super) fn missing(&mut self, text: &str, failure: Failure) -> Done {
        self.failed += 1;
        self.fail(text, failure)
    }

    /// Tells of damage that is no item's.
    pub(super) fn elsewhere(&mut self, finding: &Finding) {
        if finding.severity() == Severity::Damage {
            self.places += 1;
            let path = finding.place.to_path();
            self.context.printer.warning(&format!(
                "{} can not be mended: {}: {}",
                path.display(),
                finding.code.meaning(),
                finding.detail
            ));
        }
    }

    fn fail(&mut self, name: &str, failure: Failure) -> Done {
        let printer = &self.context.printer;
        let mut output = printer.output();
        let fields = json!({ "id": name, "outcome": "failed" });
        // A signal is met before the next item.
        let _ = self.tally.fails(&mut output, fields, failure, |it| printer.failure(it));
        printer.send(&output)
    }

    fn is_dry(&self) -> bool {
        self.context.global.dry_run
    }

    fn describe(&self, name: &RepositoryName, plan: &Plan, told: Told) -> Done {
        let printer = &self.context.printer;
        if let SidecarAction::Reseal { confirmed_by: Some(donor), differs } = &plan.action
            && !differs.is_empty()
        {
            printer.warning(&format!(
                "the sidecar of `{name}` has another {} than that in `{}`, and nothing proves which is \
                 right; its own was kept",
                differs.join(", "),
                plan.donors[*donor].display()
            ));
        }
        let damage = plan.damage;
        self.tell(name.as_str(), fields(plan, told), || {
            if self.is_dry() {
                let plan = plan.to_string();
                let lines: Vec<_> = plan.lines().map(|line| format!("\n  {line}")).collect();
                let heading = match (damage, told) {
                    (Damage::Within, Told::Repaired) => "would mend",
                    (Damage::Within, Told::Partly) => "would mend a part of",
                    (Damage::Within, Told::Not) => "could not mend",
                    (Damage::Vanished, Told::Repaired) => "would bring back",
                    (Damage::Vanished, Told::Partly) => "would bring back a part of",
                    (Damage::Vanished, Told::Not) => "could not bring back",
                };
                format!("{heading} {name}:{}", lines.concat())
            } else {
                let heading = match (damage, told) {
                    (Damage::Within, Told::Repaired) => "mended",
                    (Damage::Within, _) => "mended a part of",
                    (Damage::Vanished, Told::Repaired) => "brought back",
                    (Damage::Vanished, _) => "brought back a part of",
                };
                format!("{heading} {name}: {}", summary(plan))
            }
        })
    }

    fn tell(&self, id: &str, fields: Value, text: impl FnOnce() -> String) -> Done {
        let printer = &self.context.printer;
        if printer.json {
            let mut told = json!({ "type": "item", "version": 1, "id": id });
            record::extend(&mut told, fields);
            printer.record(&told)
        } else if printer.verbosity == Verbosity::Quiet {
            Ok(())
        } else {
            printer.lines(&format!("{}\n", text()))
        }
    }

    /// How the run ended.
    pub(super) fn finish(self) -> Done {
        let Run { mended, sound, left, places, failed, .. } = self;
        let items = mended + sound + left + failed;
        let partial = if left > 0 {
            let left = human::count(left, "item");
            let message = format!("{left} still damaged, {mended} mended");
            let hint = "`--from COLLECTION` names more collections with good copies";
            Some(Failure::new(Exit::Damage, message).hint(hint))
        } else if places > 0 {
            let places = human::count(places, "place");
            let message = format!("{places} with damage that are no item, {mended} mended");
            Some(Failure::new(Exit::Damage, message).hint("`urepo verify --quick` lists them"))
        } else {
            (failed > 0).then(|| {
                let failed = human::count(failed, "item");
                let message = format!("{failed} could not be looked at, {mended} mended");
                Failure::new(Exit::Partial, message)
            })
        };
        let is_single = self.tally.is_single();
        let is_told = partial.is_none() && mended == 0 && !is_single;
        let counts = json!({
            "items": items, "mended": mended, "sound": sound, "damaged": left, "places": places,
            "failed": failed, "interrupted": self.interrupted, "dry_run": self.is_dry(),
        });
        self.tally.finish(End {
            done: format!("{} mended", human::count(mended, "item")),
            partial,
            counts,
            closing: is_told.then(|| format!("nothing to mend in {}", human::count(items, "item"))),
            ..End::default()
        })
    }
}

fn counted(count: u64, noun: &str) -> String {
    match noun.strip_suffix("directory") {
        Some(before) if count != 1 => format!("{count} {before}directories"),
        _ => human::count(count, noun),
    }
}

/// How far an item is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Repaired,
    Partly,
    Not,
}

/// What was done, in one line.
fn summary(plan: &Plan) -> String {
    let mut parts = Vec::new();
    let root = |at: usize| escape::one_line(&plan.donors[at].display().to_string());
    match &plan.action {
        SidecarAction::Keep => {}
        SidecarAction::Restore { from } => {
            parts.push(format!("sidecar restored from {}, proven by its seal", root(*from)));
        }
        SidecarAction::Reseal { confirmed_by: None, .. } => {
            parts.push("sidecar sealed anew".to_owned());
        }
        SidecarAction::Reseal { confirmed_by: Some(donor), differs } => {
            let agrees = if differs.is_empty() { "confirmed by" } else { "with the same files as" };
            parts.push(format!("sidecar sealed anew, {agrees} {}", root(*donor)));
        }
        SidecarAction::Rebuild { from, state } => {
            parts.push(format!("sidecar built from {}, state {state}", root(*from)));
        }
    }
    for donor in 0..plan.donors.len() {
        let files = plan.count(EntrySource::Donor(donor));
        if files > 0 {
            parts.push(format!("{} from {}", human::count(files, "file"), root(donor)));
        }
    }
    let mut tell = |count: u64, before: &str, noun: &str, after: &str| {
        if count > 0 {
            parts.push(format!("{before}{}{after}", counted(count, noun)));
        }
    };
    tell(plan.count(EntrySource::Sidecar), "", "link or empty directory", " made");
    tell(plan.count(EntrySource::OwnAttributes), "mode and time of ", "file", " set");
    tell(plan.dropped.len() as u64, "", "stray", " taken out, kept in the trash");
    tell(plan.count(EntrySource::Lost), "no good copy of ", "file", "");
    if parts.is_empty() {
        parts.push("made anew".to_owned());
    }
    parts.join("; ")
}

fn fields(plan: &Plan, told: Told) -> Value {
    let outcome = match told {
        Told::Repaired => "mended",
        Told::Partly => "partial",
        Told::Not => "damaged",
    };
    let sidecar = match &plan.action {
        SidecarAction::Keep => json!({ "action": "keep" }),
        SidecarAction::Restore { from } => json!({
            "action": "restore", "from": plan.donors[*from].to_string_lossy(),
        }),
        SidecarAction::Reseal { confirmed_by, differs } => json!({
            "action": "reseal", "differs": differs,
            "from": confirmed_by.map(|at| plan.donors[at].to_string_lossy()),
        }),
        SidecarAction::Rebuild { from, state } => json!({
            "action": "rebuild", "state": state.to_string(),
            "from": plan.donors[*from].to_string_lossy(),
        }),
    };
    let mut files = Vec::new();
    for step in &plan.steps {
        let (action, from) = match step.source {
            EntrySource::OwnAttributes => ("set", None),
            EntrySource::Donor(at) => ("take", Some(plan.donors[at].to_string_lossy())),
            EntrySource::Sidecar => ("make", None),
            EntrySource::Lost => ("lost", None),
        };
        let mut file = json!({ "action": action, "from": from });
        record::add_path(&mut file, "path", step.path.as_path());
        files.push(file);
    }
    let taken_out = plan.dropped.iter().map(|path| {
        let mut record = json!({});
        record::add_path(&mut record, "path", Path::new(path));
        record
    });
    json!({
        "ok": plan.lost().next().is_none(), "outcome": outcome, "sidecar": sidecar,
        "vanished": plan.damage == Damage::Vanished,
        "files": files, "taken_out": taken_out.collect::<Vec<_>>(),
    })
}

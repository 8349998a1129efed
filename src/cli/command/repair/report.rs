//! The report on a repair, item by item and at its end.

use std::cell::OnceCell;
use std::path::Path;

use urepo::identity::RepositoryName;
use urepo::repair::{Damage, EntrySource, Outcome, Plan, SidecarAction};
use urepo::sidecar::KeyChange;
use urepo::verify::{Finding, Severity};

use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::explain::repair::lost;
use crate::cli::failure::Failure;
use crate::cli::in_sight::{MOST_PRINTED, Opened};
use crate::cli::printer::Verbosity;
use crate::cli::records::{self, Item, PathAt, Repair, RepairStep};
use crate::cli::remedy::{self, Advice};
use crate::cli::report::{End, Report};
use crate::cli::{Done, escape, human};

/// A run over items, with their outcomes.
pub(super) struct RepairRun<'a> {
    context: &'a Context,
    /// Items with nothing to repair.
    pub sound: u64,
    /// Items that are still damaged.
    pub left: u64,
    /// Damaged places outside items.
    places: u64,
    pub report: Report<'a>,
    /// The collections that are asked what is left.
    opened: OnceCell<Opened>,
    /// Number of items for which the table of remedies has another command.
    with_remedy: usize,
    /// Whether a part of an item was repaired: that line has no hint of its own.
    in_part: bool,
}

impl<'a> RepairRun<'a> {
    pub(super) fn new(context: &'a Context, is_single: bool) -> RepairRun<'a> {
        let report = Report::new(context, Did::Repaired, is_single);
        let opened = OnceCell::new();
        let (sound, left, places, with_remedy, in_part) = (0, 0, 0, 0, false);
        RepairRun { context, sound, left, places, report, opened, with_remedy, in_part }
    }

    /// Reports the outcome for an item; for an error, whether it means damage.
    pub(super) fn note(
        &mut self,
        name: &RepositoryName,
        done: Result<Outcome, (Failure, bool)>,
    ) -> Done {
        match done {
            Ok(Outcome::Sound) => {
                let opened = self.opened.get_or_init(|| self.context.opened_in_sight());
                let remedies = opened.in_sight(self.context).in_use_alone(name, &[]);
                if !remedies.is_empty() {
                    return self.remains(name, remedies);
                }
                let failed = self.report.errors();
                let _ = self.report.unresolved();
                if self.report.errors() > failed {
                    // Nobody knows whether another command brings it up.
                    return Ok(());
                }
                self.sound += 1;
                self.write(Item::became(name, Did::Sound), || {
                    format!("nothing to repair in {name}")
                })
            }
            Ok(Outcome::Repaired(plan)) => {
                let did = did(&plan);
                self.left += u64::from(!did.is_change());
                self.in_part |= !did.is_change();
                self.report.add(did, (0, 0));
                self.describe(name, &plan, did)
            }
            Err((failure, is_damage)) => {
                let failed = self.report.summary.counts.failed;
                // A signal is met before the next item.
                let did = is_damage.then_some(Did::Damaged);
                let _ = self.report.failed_with(Item { did, ..Item::of(name) }, failure);
                if is_damage {
                    // Counted as damaged instead.
                    self.left += 1;
                    self.report.summary.counts.failed = failed;
                }
                Ok(())
            }
        }
    }

    /// Reports that nothing here can be repaired of an item, which another command brings up.
    fn remains(&mut self, name: &RepositoryName, remedies: Vec<Advice>) -> Done {
        let is_damage = remedies.iter().any(|it| it.is_damage);
        *if is_damage { &mut self.left } else { &mut self.sound } += 1;
        self.with_remedy += 1;
        let printer = &self.context.printer;
        if printer.json {
            let did = if is_damage { Did::Damaged } else { Did::Sound };
            let dry_run = self.is_dry();
            return printer.record(&Item { dry_run, remedies, ..Item::became(name, did) });
        }
        if self.with_remedy > MOST_PRINTED && printer.verbosity <= Verbosity::Normal {
            return Ok(());
        }
        let mut lines = remedy::lines(&remedies).into_iter();
        lines.by_ref().take(1).for_each(|line| printer.hint(&format!("{name}: {line}")));
        lines.for_each(|line| printer.hint(&line));
        Ok(())
    }

    /// Reports damage outside items.
    pub(super) fn elsewhere(&mut self, finding: &Finding) {
        if finding.severity() == Severity::Damage {
            self.places += 1;
            let path = finding.place.to_path();
            self.context.printer.warning(&format!(
                "{} cannot be repaired: {}",
                path.display(),
                finding.in_words()
            ));
        }
    }

    fn is_dry(&self) -> bool {
        self.context.global.dry_run
    }

    fn describe(&self, name: &RepositoryName, plan: &Plan, did: Did) -> Done {
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
        let repair = Some(details(plan));
        self.write(Item { repair, ..Item::became(name, did) }, || {
            let heading = match (did, plan.damage) {
                (Did::Damaged, Damage::Within) => "cannot repair".to_owned(),
                (Did::Damaged, Damage::Vanished) => "cannot restore".to_owned(),
                _ => did.verb(self.is_dry()),
            };
            if self.is_dry() {
                let plan = plan.to_string();
                let lines: Vec<_> = plan.lines().map(|line| format!("\n  {line}")).collect();
                format!("{heading} {name}:{}", lines.concat())
            } else {
                format!("{heading} {name}: {}", summary(plan))
            }
        })
    }

    fn write(&self, item: Item<'_>, text: impl FnOnce() -> String) -> Done {
        let printer = &self.context.printer;
        if printer.json {
            printer.record(&Item { dry_run: self.is_dry(), ..item })
        } else if printer.verbosity == Verbosity::Quiet {
            Ok(())
        } else {
            printer.lines(&format!("{}\n", text()))
        }
    }

    /// The end of the run.
    pub(super) fn finish(self) -> Done {
        let RepairRun { sound, left, places, mut report, with_remedy, in_part, .. } = self;
        let _ = report.unresolved();
        let printer = &self.context.printer;
        if let Some(more @ 1..) = with_remedy.checked_sub(MOST_PRINTED)
            && printer.verbosity <= Verbosity::Normal
            && !printer.json
        {
            printer.hint(&human::and_more(more));
        }
        let has_remedy = with_remedy > 0;
        report.summary.counts.skipped = Some(sound);
        let repaired = report.summary.counts.items;
        let failed = report.errors();
        let items = repaired + sound + left + failed;
        let partial = if left > 0 {
            let left = human::count(left, "item");
            let message = format!("{left} still damaged, {repaired} repaired");
            let failure = Failure::new(Exit::Damage, message);
            Some(if in_part { failure.hint(lost("ITEM")) } else { failure })
        } else {
            (places > 0).then(|| {
                let places = human::count(places, "damaged place");
                let message = format!("{places} outside the items, {repaired} repaired");
                Failure::new(Exit::Damage, message).hint("list them with `urepo verify --quick`")
            })
        };
        let is_idle = partial.is_none() && failed == 0 && repaired == 0 && !report.is_single();
        let is_idle = is_idle && !has_remedy;
        report.count("damaged", left);
        report.count("damaged_places", places);
        let items = human::count(items, "item");
        let closing = is_idle.then(|| format!("nothing to repair in {items}"));
        // The line of a single one says the same.
        let is_silent = !is_idle && repaired < 2;
        report.finish(End { partial, closing, is_silent, ..End::default() })
    }
}

/// The outcome of a repair by this plan.
fn did(plan: &Plan) -> Did {
    let is_whole = plan.lost().next().is_none();
    match plan.damage {
        _ if !is_whole && plan.changes_nothing() => Did::Damaged,
        Damage::Within if is_whole => Did::Repaired,
        Damage::Within => Did::RepairedInPart,
        Damage::Vanished if is_whole => Did::Restored,
        Damage::Vanished => Did::RestoredInPart,
    }
}

/// The changes, in one line.
fn summary(plan: &Plan) -> String {
    let mut parts = Vec::new();
    let root = |at: usize| escape::one_line(&plan.donors[at].display().to_string());
    match &plan.action {
        SidecarAction::Keep => {}
        SidecarAction::State(state) => parts.push(format!("sidecar says {state}")),
        SidecarAction::Reseal { confirmed_by: None, .. } => {
            parts.push("sidecar sealed again".to_owned());
        }
        SidecarAction::Reseal { confirmed_by: Some(donor), differs } => {
            let agrees = if differs.is_empty() { "confirmed by" } else { "with the same files as" };
            parts.push(format!("sidecar sealed again, {agrees} {}", root(*donor)));
        }
        SidecarAction::AsFound { state, files } => {
            parts.push(format!("sidecar sealed as it was found, state {state}"));
            let accepted = plan.accepted.iter();
            parts.extend(accepted.flat_map(|it| it.changes.iter().map(change_text)));
            parts.extend(
                files.iter().take(MOST_PRINTED).map(|it| escape::one_line(&it.to_string())),
            );
            if let Some(more @ 1..) = files.len().checked_sub(MOST_PRINTED) {
                parts.push(format!("{} more", human::count(more as u64, "file")));
            }
            let unproven = plan.accepted.iter().flat_map(|it| &it.unproven);
            let keys: Vec<_> = unproven.map(|change| escape::one_line(&change.key)).collect();
            if !keys.is_empty() {
                parts.push(format!("nothing shows what was sealed of {}", keys.join(", ")));
            }
        }
        SidecarAction::Rebuild { from, state, changes } => {
            let keys: Vec<_> = changes.iter().map(change_text).collect();
            let changes =
                if keys.is_empty() { String::new() } else { format!(", with {}", keys.join(", ")) };
            parts.push(match from {
                Some(from) => {
                    format!("sidecar built from {}, state {state}{changes}", root(*from))
                }
                None => format!("sidecar written, state {state}{changes}"),
            });
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
            parts.push(format!("{before}{}{after}", human::count(count, noun)));
        }
    };
    let made = plan.count(EntrySource::Sidecar);
    let noun = if made == 1 { "link or empty directory" } else { "links and empty directory" };
    tell(made, "", noun, " made");
    tell(plan.count(EntrySource::OwnAttributes), "mode and time of ", "file", " set");
    tell(plan.dropped.len() as u64, "", "file", " taken out, kept in the trash");
    tell(plan.count(EntrySource::Lost), "no good copy of ", "file", "");
    if parts.is_empty() {
        parts.push("published again".to_owned());
    }
    parts.join("; ")
}

fn details(plan: &Plan) -> Repair {
    let from = |at: usize| Some(PathAt::new("from", &plan.donors[at]));
    let step = |action, from| RepairStep { action, from, ..RepairStep::default() };
    let sidecar = match &plan.action {
        SidecarAction::Keep => step("keep", None),
        SidecarAction::State(state) => {
            RepairStep { state: Some(state.to_string()), ..step("state", None) }
        }
        SidecarAction::Reseal { confirmed_by, differs } => {
            let differs = differs.clone();
            RepairStep { differs, ..step("reseal", confirmed_by.and_then(from)) }
        }
        SidecarAction::AsFound { state, .. } => {
            RepairStep { state: Some(state.to_string()), ..step("reseal", None) }
        }
        SidecarAction::Rebuild { from: at, state, .. } => {
            RepairStep { state: Some(state.to_string()), ..step("rebuild", at.and_then(from)) }
        }
    };
    let steps = plan.steps.iter().map(|planned| {
        let (action, from) = match planned.source {
            EntrySource::OwnAttributes => ("set", None),
            EntrySource::Donor(at) => ("take", from(at)),
            EntrySource::Sidecar => ("make", None),
            EntrySource::Lost => ("lost", None),
        };
        RepairStep { path: Some(records::path(planned.path.as_path())), ..step(action, from) }
    });
    let found = match &plan.action {
        SidecarAction::AsFound { files, .. } => &files[..],
        _ => &[],
    };
    let found = found.iter().map(|file| RepairStep {
        path: Some(records::path(file.path.as_path())),
        ..step("list", None)
    });
    Repair {
        sidecar,
        steps: steps.chain(found).collect(),
        removed: plan.dropped.iter().map(|path| records::path(Path::new(path))).collect(),
    }
}

/// A value that is taken back.
fn change_text(KeyChange { key, before, after }: &KeyChange) -> String {
    let value = |value: &Option<toml::Value>| {
        escape::one_line(&value.as_ref().map_or("nothing".to_owned(), ToString::to_string))
    };
    format!("{key} {} in place of {}", value(after), value(before))
}

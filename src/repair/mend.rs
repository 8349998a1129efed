//! From a look at an item to the mended one in its place: everything is read first, and locked last.

use std::path::PathBuf;

use super::build::Build;
use super::decide::{decide, is_deleted};
use super::facts::{self, DonorFacts, Facts, Record, is_of_the_item};
use super::inventory::{Inventory, Known, open_payload};
use super::plan::{Damage, Plan, wanted};
use super::{Outcome, Remainder, RepairError, Repairer, donor};
use crate::collection::{
    CollectionError, Event, EventKind, InventoryChange, Recorded, StoredItem, Writer, lock_items,
};
use crate::disk::Stamp;
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::layout;
use crate::progress::NoProgress;
use crate::verify::{Depth, Findings, Place, Severity, verify_item};

/// An item that was looked at, with all that is needed to mend it.
struct Examined {
    /// What there is of it; nothing of one that vanished.
    item: Option<StoredItem>,
    /// The sidecar that the plan goes by.
    stamp: Option<Stamp>,
    donors: Vec<StoredItem>,
    plan: Plan,
}

/// What there is of an item.
struct Found {
    /// The name, as it is spelt on disk or in the inventory.
    name: RepositoryName,
    item: Option<StoredItem>,
    record: Record,
    /// What the inventory says, where the sidecar is not sealed.
    recorded: Option<Recorded>,
}

impl Repairer<'_> {
    /// What would make the item `name` whole; nothing if it is.
    pub fn examine(&self, name: &RepositoryName) -> Result<Option<Plan>, RepairError> {
        Ok(self.look_at(name)?.map(|examined| examined.plan))
    }

    /// Mends the item `name`. Whatever goes wrong, and wherever the process is killed, there is the
    /// old item or the mended one.
    ///
    /// Everything is read and built without a lock: a lock is on many items, and reading takes long.
    pub fn repair(&self, name: &RepositoryName, writer: &Writer) -> Result<Outcome, RepairError> {
        let Some(examined) = self.look_at(name)? else { return Ok(Outcome::Sound) };
        let name = examined.plan.name.clone();
        let lost: Vec<_> = examined.plan.lost().cloned().collect();
        let is_refused = self.options.remainder == Remainder::Refuse;
        if !lost.is_empty() && (is_refused || examined.plan.changes_nothing()) {
            return Err(RepairError::Lost { name, lost });
        }
        let staged = writer.fresh_name();
        let replaced = self.replace(&examined, writer, &staged);
        if replaced.is_err() {
            // An item of any size need not wait in the stage for the end of a long run.
            let _ = writer.stage().remove_tree(&staged);
        }
        replaced?;
        let state = examined.plan.sidecar.state;
        let (change, note) = match examined.plan.damage {
            Damage::Within => (InventoryChange::Became(state), "mended"),
            Damage::Vanished => (InventoryChange::Entered(state), "brought back"),
        };
        self.collection.record([(name.clone(), change)], self.clock)?;
        self.check_in_place(&examined.plan)?;
        self.progress.finish_item(name.as_str());
        let event = Event::new(EventKind::Recovery, &name, self.clock.now(), self.agent);
        self.collection.note(&[Event { note: Some(note.to_owned()), ..event }]);
        Ok(Outcome::Mended(Box::new(examined.plan)))
    }

    /// Looks at the item and its donors.
    fn look_at(&self, name: &RepositoryName) -> Result<Option<Examined>, RepairError> {
        let Found { name, item, record, recorded } = self.find(name)?;
        let stamp = match &item {
            Some(item) => item.dir().stamp(layout::SIDECAR)?,
            None => None,
        };
        if let Record::Sealed(own) = &record
            && own.sidecar.state == State::Deleted
        {
            return Ok(None);
        }
        let mut found = self.find_donors(&name, &record)?;
        let is_deleted = is_deleted(&record, recorded.as_ref(), self.options);
        found.retain(|(_, donor)| donor.is_tombstone() == is_deleted);
        let (donors, records): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let (inventory, strays, damage) = match &item {
            Some(item) => {
                let inventory = self.take_inventory(item, &record, &records)?;
                (inventory, item.strays()?, Damage::Within)
            }
            None => (Inventory::default(), Vec::new(), Damage::Vanished),
        };
        let collection = self.collection.id().to_owned();
        let facts = Facts { name, collection, record, recorded, inventory, strays };
        let decision = decide(&facts, &records, self.options)?;
        let roots: Vec<PathBuf> = records.into_iter().map(|donor| donor.root).collect();
        let sources = donor::sources(
            wanted(&decision.sidecar),
            &facts.inventory,
            &donors,
            self.progress,
            self.interrupt,
        )?;
        let plan = Plan::new(&facts, damage, decision, roots, &sources);
        let is_complete = plan.changes_nothing() && plan.lost().next().is_none();
        let is_sound = match &item {
            Some(item) => is_complete && self.is_sound(item)?,
            None => false,
        };
        Ok((!is_sound).then_some(Examined { item, stamp, donors, plan }))
    }

    /// What there is of the item `name`, or what the inventory says of it.
    fn find(&self, name: &RepositoryName) -> Result<Found, RepairError> {
        match self.collection.item(name) {
            Ok(item) => {
                let name = item.name().clone();
                let record = Record::read(&name, item.dir())?;
                let recorded = match &record {
                    Record::Lost(_) | Record::Doubtful(_) => self.collection.last_record(&name)?,
                    Record::Sealed(_) => None,
                };
                Ok(Found { name, item: Some(item), record, recorded })
            }
            Err(CollectionError::NoSuchItem { .. }) => match self.collection.absent(name) {
                CollectionError::Vanished { recorded, .. } => {
                    let name = recorded.line.name.clone();
                    let record = Record::Lost("the item is missing".to_owned());
                    Ok(Found { name, item: None, record, recorded: Some(*recorded) })
                }
                error => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// The item in the collections that may help.
    fn find_donors(
        &self,
        name: &RepositoryName,
        record: &Record,
    ) -> Result<Vec<(StoredItem, DonorFacts)>, RepairError> {
        // Of a sealed item donors decide nothing: one that cannot be read is of no use, and no reason to stop.
        let has_say = !matches!(record, Record::Sealed(_));
        let mut found = Vec::new();
        for donor in self.donors {
            match facts::find(name, donor) {
                Err(error) if has_say || error.is_shortage() => return Err(error),
                Err(_) => {}
                Ok(donor) => found.extend(donor),
            }
        }
        Ok(found)
    }

    /// Reads the payload, as far as any sidecar knows it.
    fn take_inventory(
        &self,
        item: &StoredItem,
        record: &Record,
        donors: &[DonorFacts],
    ) -> Result<Inventory, RepairError> {
        let doc = match open_payload(item.dir()) {
            Ok(Some(doc)) => doc,
            Ok(None) => return Ok(Inventory::default()),
            Err(error) if is_of_the_item(&error) => return Ok(Inventory::unreadable()),
            Err(error) => return Err(error.into()),
        };
        let mut known = Known::default();
        if let Some(own) = record.written() {
            self.progress.expect(0, own.sidecar.payload.bytes);
            known.add(&own.sidecar.files);
        }
        // A sealed sidecar is the only one that counts.
        if !matches!(record, Record::Sealed(_)) {
            let records = donors.iter().filter_map(|donor| donor.record.as_ref());
            records.for_each(|record| known.add(&record.sidecar.files));
        }
        Ok(Inventory::take(&doc, &known, self.progress, self.interrupt)?)
    }

    /// Whether verification finds nothing wrong either; every byte was read just now.
    fn is_sound(&self, item: &StoredItem) -> Result<bool, RepairError> {
        let report = verify_item(item, Depth::Quick, &NoProgress, self.interrupt);
        let findings = report.ok_or(RepairError::Interrupted)?.findings;
        findings.check_shortage()?;
        Ok(findings.count(Severity::Damage) + findings.count(Severity::Warning) == 0)
    }

    fn replace(
        &self,
        examined: &Examined,
        writer: &Writer,
        staged: &std::path::Path,
    ) -> Result<(), RepairError> {
        let Examined { item, stamp, donors, plan } = examined;
        let (progress, interrupt) = (self.progress, self.interrupt);
        progress.expect(1, plan.sidecar.payload.bytes);
        Build { item: item.as_ref(), plan, donors, writer, progress, interrupt, staged }.run()?;
        let mended = StoredItem::at(plan.name.clone(), writer.stage().open_dir(staged)?);
        let report = verify_item(&mended, Depth::FromDisk, progress, interrupt);
        let findings = report.ok_or(RepairError::Interrupted)?.findings;
        findings.check_shortage()?;
        if let Some(finding) = unexpected(&findings, plan) {
            return Err(RepairError::NotWhole { name: plan.name.clone(), finding });
        }
        let items = [(self.collection, &plan.name)];
        let _locks = lock_items(items, self.agent, &self.waiter())?;
        let _changing = writer.changing(self.collection, vec![plan.name.clone()]);
        let Some(item) = item else {
            return match self.collection.named_item(&plan.name) {
                Err(CollectionError::Vanished { .. }) => {
                    Ok(writer.place_item(self.collection, staged, &plan.name)?)
                }
                Err(error) => Err(error.into()),
                Ok(item) => {
                    let path = item.dir().path().to_path_buf();
                    Err(RepairError::Changed { name: plan.name.clone(), path })
                }
            };
        };
        let now = self.collection.item(&plan.name)?;
        let is_same = now.dir().own_stamp()?.identity == item.dir().own_stamp()?.identity
            && now.dir().stamp(layout::SIDECAR)? == *stamp;
        if !is_same {
            let path = item.dir().path_of(layout::SIDECAR);
            return Err(RepairError::Changed { name: plan.name.clone(), path });
        }
        Ok(writer.replace_item(self.collection, staged, &plan.name)?)
    }

    /// Every byte was read back in the stage, so its place is looked at and not its bytes again.
    fn check_in_place(&self, plan: &Plan) -> Result<(), RepairError> {
        let item = self.collection.item(&plan.name)?;
        // It is mended: a stop that is asked for now changes nothing about that.
        let report = verify_item(&item, Depth::Quick, &NoProgress, &Interrupt::default());
        let findings = report.map(|report| report.findings).unwrap_or_default();
        findings.check_shortage()?;
        match unexpected(&findings, plan) {
            None => Ok(()),
            Some(finding) => Err(RepairError::NotWholeInPlace { name: plan.name.clone(), finding }),
        }
    }
}

/// The first thing found that is no file without a good copy.
fn unexpected(findings: &Findings, plan: &Plan) -> Option<String> {
    let lost: std::collections::BTreeSet<_> = plan.lost().collect();
    let is_lost = |place: &Place| matches!(place, Place::Payload(path) if lost.contains(path));
    let mut told = findings.as_slice().iter();
    let first = told.find(|it| it.severity() > Severity::Notice && !is_lost(&it.place));
    if let Some(finding) = first {
        let place = finding.place.to_path();
        return Some(format!("{}: {}: {}", finding.code, place.display(), finding.detail));
    }
    // More than are kept: as many as there are lost files, and not one more.
    (findings.count(Severity::Damage) > lost.len() as u64)
        .then(|| format!("{} problems", findings.count(Severity::Damage)))
}

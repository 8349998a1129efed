//! From the examination of an item to the repaired one in its place: read first, lock last.

use std::path::PathBuf;

use super::build::Build;
use super::decide::is_resealed;
use super::facts::{
    self, DonorFacts, Facts, SidecarStatus, SidecarVersion, Written, holding_of, seen,
};
use super::plan::{Damage, Decision, Plan, SidecarAction, wanted};
use super::scan::{KnownPaths, PayloadScan, is_of_the_item, open_payload};
use super::{Accepted, accepted, as_found};
use super::{Outcome, RepairError, Repairer, Unsealed, donor};
use crate::collection::{
    ChangeLocks, Collection, CollectionError, Draft, Event, EventKind, Here, LockedItem, Lookup,
    Stopped, StoredItem, Writer, Years, lock_changes_with,
};
use crate::custody::remedy::{self, Act, remedy};
use crate::custody::{self, CustodyId, Holding};
use crate::disk::PathError;
use crate::holdings::{Seen, line_of, places, with_line};
use crate::identity::{Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::layout;
use crate::progress::NoProgress;
use crate::verify::{Code, Depth, Finding, Findings, Place, Severity, verify_item};

/// An examined item, with everything that its repair needs.
struct Examined {
    /// Its remains; `None` if it vanished.
    item: Option<StoredItem>,
    /// The sidecar on which the plan is based.
    seen: Option<SidecarVersion>,
    /// Those of all other collections.
    seen_elsewhere: Vec<Option<SidecarVersion>>,
    donors: Vec<StoredItem>,
    plan: Plan,
}

/// The remains of an item.
struct LocatedItem {
    /// The name, as it is spelt on disk or in the ledger.
    name: RepositoryName,
    item: Option<StoredItem>,
    seen: Option<SidecarVersion>,
    record: SidecarStatus,
}

/// What the trash has of an item, and who deleted it, with the reason.
type Deleted = (Vec<Written>, Option<(String, Option<String>)>);

/// The part of a payload that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    /// What a sidecar lists.
    Listed,
    /// All, to make a sidecar of it.
    All,
}

impl Repairer<'_> {
    /// The plan for the item `name`; `None` if it is intact.
    pub fn examine(&self, name: &RepositoryName) -> Result<Option<Plan>, RepairError> {
        Ok(self.look_at(name)?.map(|examined| examined.plan))
    }

    /// Repairs the item `name`; what no donor has stays as it is. After any error or kill, the old item or the repaired one is in
    /// place.
    ///
    /// Everything is read and built without a lock: reading takes long.
    pub fn repair(&self, name: &RepositoryName, writer: &Writer) -> Result<Outcome, RepairError> {
        let Some(examined) = self.look_at(name)? else { return Ok(Outcome::Sound) };
        let name = examined.plan.name.clone();
        let lost: Vec<_> = examined.plan.lost().cloned().collect();
        if !lost.is_empty() && examined.plan.changes_nothing() {
            return Err(RepairError::Lost { name, lost });
        }
        let draft = writer.draft()?;
        let replaced = self.replace(&examined, writer, &draft);
        if replaced.is_err() {
            // Large items need not wait in the stage for the end of a long run.
            writer.discard(draft.staged());
        }
        match replaced {
            // Another repair was faster, perhaps.
            Err(RepairError::Changed { .. }) if self.look_at(&name)?.is_none() => {
                return Ok(Outcome::Sound);
            }
            outcome => outcome?,
        }
        self.check_in_place(&examined.plan)?;
        self.caller.progress.finish_item(name.as_str());
        Ok(Outcome::Repaired(Box::new(examined.plan)))
    }

    /// The events of a repair that leaves `here`.
    fn events(&self, plan: &Plan, here: Option<&Here>) -> Vec<Event> {
        let now = self.caller.clock.now();
        let event = |kind, note: &str| Event {
            note: Some(note.to_owned()),
            holding: here.cloned(),
            ..Event::new(kind, &plan.name, now, self.caller.agent)
        };
        let mut events = Vec::new();
        let lists_anew =
            matches!(&plan.action, SidecarAction::AsFound { files, .. } if !files.is_empty());
        // Nothing is repaired where the sidecar alone is sealed again.
        if plan.accepted.is_none() || !plan.steps.is_empty() || lists_anew {
            let note = match plan.damage {
                Damage::Within => "repaired",
                Damage::Vanished => "brought back",
            };
            events.push(event(EventKind::Recovery, note));
        }
        if let Some(accepted) = &plan.accepted {
            let event = event(EventKind::Description, "accepted as edited by hand");
            events.push(event.with_changes(accepted.changes.clone()));
        }
        events
    }

    /// Examines the item and its donors.
    fn look_at(&self, name: &RepositoryName) -> Result<Option<Examined>, RepairError> {
        let (mut places, unread) = self.places(name);
        let LocatedItem { name, item, seen, record } = self.find(name, &places)?;
        let own_id = self.collection.id();
        if self.options.unsealed == Unsealed::Seal && matches!(record, SidecarStatus::Lost(_)) {
            self.judge_bytes(&name, &mut places)?;
        }
        let found = remedy(&places, own_id);
        let found_here = found.as_ref().and_then(|it| it.act_at(own_id));
        let is_bare = found_here == Some(Act::Repair);
        let is_last = as_found::is_sealed_by(found.as_ref(), own_id);
        if let SidecarStatus::Sealed(own) = &record
            && own.sidecar.state == State::Deleted
            && found.is_none()
        {
            return unread.map_or(Ok(None), |error| Err(error.into()));
        }
        let seen_elsewhere = self.seen_elsewhere(&name)?;
        let is_sealed = matches!(record, SidecarStatus::Sealed(_));
        let found = self.find_donors(&name, is_sealed, is_bare)?;
        let (donors, records): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let (payload, strays, damage) = match &item {
            Some(item) => {
                let is_sealed_as_found = is_last
                    && matches!(record, SidecarStatus::Lost(_))
                    && self.options.unsealed == Unsealed::Seal;
                // What lies there is listed, whatever other sidecars say of it.
                let known = (!is_sealed_as_found).then_some(&*records);
                (self.scan(item, &record, known)?, item.strays()?, Damage::Within)
            }
            None => (PayloadScan::default(), Vec::new(), Damage::Vanished),
        };
        let collection = self.collection.id().to_owned();
        let own = match &record {
            SidecarStatus::Sealed(own) => Some(holding_of(&collection, &own.sidecar)),
            SidecarStatus::Doubtful(_) | SidecarStatus::Lost(_) => None,
        };
        let in_sight = self.in_sight(&name, own.as_ref(), &records)?;
        let recorded = self.collection.last_record(&name)?;
        let was_elsewhere = recorded.is_some_and(|line| line.state() == Some(State::Elsewhere));
        let (trashed, deletion) = self.deleted(&name, &in_sight)?;
        let mut facts = Facts {
            line: line_of(self.collection, &name)?,
            recorded: self.collection.recorded_ids(&name)?,
            name,
            collection,
            in_place: item.is_some(),
            record,
            own,
            trashed,
            deletion,
            was_elsewhere,
            payload,
            strays,
        };
        let now = self.caller.clock.now();
        let new = (self.collection.custody_id()?, now);
        if let Some(own) = facts.record.written()
            && own.sidecar.state.has_payload()
            && facts.own.is_some()
            && !facts.payload.matches_all(&own.sidecar.files)
            && let Some(place) = places.iter_mut().find(|place| place.at == self.collection.id())
        {
            place.damage(remedy::Damage::Payload);
        }
        if self.options.unsealed == Unsealed::Seal && as_found::is_needed(&facts) {
            self.judge_bytes(&facts.name, &mut places)?;
            if let Some(item) = &item
                && as_found::is_sealed_by(remedy(&places, own_id).as_ref(), own_id)
            {
                // Files that no sidecar lists are listed, too.
                facts.payload = self.scan(item, &SidecarStatus::Lost(String::new()), None)?;
            }
        }
        let (decision, has_bytes) = self.decide(&facts, &mut places, (&records, &in_sight), new)?;
        let accepted = self.accepted(&facts, &decision, &records, now)?;
        let roots: Vec<PathBuf> = records.iter().map(|donor| donor.root.clone()).collect();
        let sources = donor::sources(
            wanted(&decision.sidecar),
            &facts.payload,
            &donors,
            self.caller.progress,
            self.caller.interrupt,
        )?;
        let mut plan = Plan::new(&facts, damage, decision, roots.clone(), &sources);
        plan.accepted = accepted;
        if has_bytes
            && plan.lost().next().is_some()
            && let Some(stub) = self.stub(&facts, &mut places, (&records, &in_sight), new)?
        {
            plan = Plan::new(&facts, damage, stub, roots, &[]);
        }
        self.check_whole(&plan, &places)?;
        if let Some(item) = &item
            && self.is_sound(item, &plan)?
        {
            // What cannot be read may be what brings it up.
            return unread.map_or(Ok(None), |error| Err(error.into()));
        }
        Ok(Some(Examined { item, seen, seen_elsewhere, donors, plan }))
    }

    /// What a new seal accepts, if the item gets one.
    fn accepted(
        &self,
        facts: &Facts,
        decision: &Decision,
        records: &[DonorFacts],
        now: Instant,
    ) -> Result<Option<Accepted>, RepairError> {
        match facts.record.written() {
            Some(own) if is_resealed(&decision.action) => {
                let known = std::iter::once(self.collection).chain(self.others());
                accepted::check_ibip(known, &decision.sidecar)?;
                let sidecars = (own, &decision.sidecar);
                Ok(Some(accepted::compare(self.collection, sidecars, records, self.logged, now)?))
            }
            _ => Ok(None),
        }
    }

    /// The payload of `item`, as far as its sidecar or one of the `known` ones lists it, or all of it.
    fn scan(
        &self,
        item: &StoredItem,
        record: &SidecarStatus,
        known: Option<&[DonorFacts]>,
    ) -> Result<PayloadScan, RepairError> {
        let reads = if known.is_some() { Reads::Listed } else { Reads::All };
        let mut payload = self.scan_payload(item, record, known.unwrap_or_default(), reads)?;
        // A file that cannot be read says nothing about a sidecar that was edited.
        match payload.error.take_if(|_| self.options.unsealed == Unsealed::Seal) {
            Some(error) => Err(error.into()),
            None => Ok(payload),
        }
    }

    /// The sealed sidecars of the item `name` in the trash, and its deletion, if what speaks is one.
    fn deleted(&self, name: &RepositoryName, seen: &[Holding]) -> Result<Deleted, RepairError> {
        match custody::speaking(seen).filter(custody::Speaking::is_deletion) {
            Some(top) => Ok((self.trashed(name)?, self.deletion(name, top.highest.custody.id())?)),
            None => Ok((Vec::new(), None)),
        }
    }

    /// The sealed sidecars of the item `name` in the trash.
    fn trashed(&self, name: &RepositoryName) -> Result<Vec<Written>, RepairError> {
        let mut found = Vec::new();
        for trashed in self.collection.trashed_of(name)? {
            let Some(item) = self.collection.trashed_item(&trashed)? else { continue };
            if let SidecarStatus::Sealed(written) = SidecarStatus::read(name, item.dir())? {
                found.push(*written);
            }
        }
        Ok(found)
    }

    /// Who made the deletion `id` of the item `name`, and the reason, by the ledger.
    fn deletion(
        &self,
        name: &RepositoryName,
        id: CustodyId,
    ) -> Result<Option<(String, Option<String>)>, RepairError> {
        let is_it = |event: &Event| {
            event.event == EventKind::Deletion
                && event.holding.as_ref().is_some_and(|here| here.custody.id() == id)
        };
        let mut found = self.collection.last_record(name)?.filter(is_it);
        if found.is_none() {
            // Later lines are those of repairs.
            let folded = name.folded();
            self.collection.visit_events(None, |event| {
                if is_it(&event) && event.id.folded() == folded {
                    found = Some(event);
                }
                Ok::<_, PathError>(())
            })?;
        }
        Ok(found.map(|event| {
            let user = event.user.unwrap_or_else(|| "unknown".to_owned());
            (format!("{user}@{}", event.machine), event.note)
        }))
    }

    /// The item in all collections in sight, each once, and why the disk does not let one of them be read.
    fn places(&self, name: &RepositoryName) -> (Vec<remedy::Place>, Option<CollectionError>) {
        let mut all = vec![self.collection];
        for other in self.others() {
            if !all.iter().any(|known| known.id() == other.id()) {
                all.push(other);
            }
        }
        let mut unread = Vec::new();
        let places = places(name, &all, &mut unread);
        let mut unread = unread.into_iter().map(|(_, error)| error);
        (places, unread.find(|error| error.disk().is_some()))
    }

    /// The remains of the item `name`, or the ledger's record of it. One that is missing here has its remedy in `places`.
    fn find(
        &self,
        name: &RepositoryName,
        places: &[remedy::Place],
    ) -> Result<LocatedItem, RepairError> {
        match self.collection.item(name) {
            Ok(item) => {
                let name = item.name().clone();
                let seen = Some(seen(&item)?);
                let record = SidecarStatus::read(&name, item.dir())?;
                Ok(LocatedItem { name, item: Some(item), seen, record })
            }
            Err(CollectionError::NoSuchItem { .. }) => match self.collection.absent(name) {
                CollectionError::Vanished { line, .. } => {
                    let name = line.id.clone();
                    let record = SidecarStatus::Lost("the item is missing".to_owned());
                    Ok(LocatedItem { name, item: None, seen: None, record })
                }
                CollectionError::NoSuchItem { .. } | CollectionError::GivenUp { .. }
                    if self.is_expected(places) =>
                {
                    let record = SidecarStatus::Lost("the item is missing".to_owned());
                    Ok(LocatedItem { name: name.clone(), item: None, seen: None, record })
                }
                error => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a donor can bring the item back that is missing here.
    fn is_expected(&self, places: &[remedy::Place]) -> bool {
        let found = remedy(places, self.collection.id());
        let act = found.and_then(|it| it.act_at(self.collection.id()));
        matches!(act, Some(Act::Repair | Act::RepairFrom(_)))
    }

    /// The item in those donors that have it, or in all others in sight if `is_bare`: a stub takes no files. One whose
    /// sidecar cannot be read is no error if the item's own `is_sealed`.
    fn find_donors(
        &self,
        name: &RepositoryName,
        is_sealed: bool,
        is_bare: bool,
    ) -> Result<Vec<(StoredItem, DonorFacts)>, RepairError> {
        let mut found = Vec::new();
        for donor in self.donors.iter().chain(self.witnesses.iter().filter(|_| is_bare)) {
            found.extend(facts::find(name, donor, is_sealed)?);
        }
        let line = line_of(self.collection, name)?;
        for (_, donor) in &mut found {
            donor.as_received(line.as_ref());
        }
        Ok(found)
    }

    /// The holdings and lines in sight: here, of the donors, and of the collections that give no files.
    fn in_sight(
        &self,
        name: &RepositoryName,
        own: Option<&Holding>,
        donors: &[DonorFacts],
    ) -> Result<Vec<Holding>, RepairError> {
        let mut seen = match own {
            Some(own) => with_line(self.collection, name, own)?,
            None => line_of(self.collection, name)?.into_iter().collect(),
        };
        seen.extend(donors.iter().map(|donor| donor.rule.clone()));
        let sight = Seen::of(name, self.witnesses);
        // A holding that cannot be read is not seen; its line still speaks.
        seen.extend(sight.holdings);
        Ok(seen)
    }

    /// The collections that may decide.
    pub(super) fn others(&self) -> impl Iterator<Item = &Collection> {
        self.donors.iter().chain(self.witnesses).copied()
    }

    /// The present sidecars of the item in the collections that may decide.
    fn seen_elsewhere(
        &self,
        name: &RepositoryName,
    ) -> Result<Vec<Option<SidecarVersion>>, RepairError> {
        let seen = |donor: &Collection| match donor.item(name) {
            Err(error) if error.is_absence() => Ok(None),
            item => Ok(Some(seen(&item?)?)),
        };
        self.others().map(seen).collect()
    }

    /// Reads the part of the payload that any sidecar lists, or all of it.
    fn scan_payload(
        &self,
        item: &StoredItem,
        record: &SidecarStatus,
        donors: &[DonorFacts],
        reads: Reads,
    ) -> Result<PayloadScan, RepairError> {
        let doc = match open_payload(item.dir()) {
            Ok(Some(doc)) => doc,
            Ok(None) => return Ok(PayloadScan::default()),
            Err(error) if is_of_the_item(&error) => return Ok(PayloadScan::unreadable(error)),
            Err(error) => return Err(error.into()),
        };
        let mut known = match reads {
            Reads::Listed => KnownPaths::default(),
            Reads::All => KnownPaths::all(),
        };
        if let Some(own) = record.written() {
            self.caller.progress.expect(0, own.sidecar.payload.bytes);
            known.add(&own.sidecar.files);
        }
        let records = donors.iter().filter_map(|donor| donor.record.as_ref());
        records.for_each(|record| known.add(&record.sidecar.files));
        let sidecar = item.stat(layout::SIDECAR)?;
        let (progress, interrupt) = (self.caller.progress, self.caller.interrupt);
        Ok(PayloadScan::take(&doc, &known, sidecar, progress, interrupt)?)
    }

    /// Whether nothing is to be changed by the plan, and verification finds nothing either; every byte was read just now.
    fn is_sound(&self, item: &StoredItem, plan: &Plan) -> Result<bool, RepairError> {
        if !plan.changes_nothing() || plan.lost().next().is_some() {
            return Ok(false);
        }
        let report = verify_item(item, Depth::Quick, &NoProgress, self.caller.interrupt);
        let findings = report.ok_or(RepairError::Interrupted)?.findings;
        findings.check_shortage()?;
        let mut found = findings.as_slice().iter().filter(|it| is_mendable(it));
        let Some(first) = found.next() else { return Ok(true) };
        if first.code == Code::Unreadable && found.all(|it| it.code == Code::Unreadable) {
            let (name, finding) = (item.name().clone(), in_words(first));
            return Err(RepairError::Unread { name, finding });
        }
        Ok(false)
    }

    fn replace(
        &self,
        examined: &Examined,
        writer: &Writer,
        draft: &Draft<'_>,
    ) -> Result<(), RepairError> {
        let Examined { item, donors, plan, .. } = examined;
        let (progress, interrupt) = (self.caller.progress, self.caller.interrupt);
        progress.expect(1, plan.sidecar.payload.bytes);
        if plan.sidecar.state.has_payload() {
            Build { item: item.as_ref(), plan, donors, draft, progress, interrupt }.run()?;
        } else {
            draft.leave_out_payload()?;
        }
        draft.write_sidecar(&plan.text)?;
        let (year, _) = layout::item_place(&plan.name);
        writer.sync_staged(self.collection, [(&*year, draft.staged())])?;
        let repaired = writer.staged_item(&plan.name, draft.staged())?;
        let report = verify_item(&repaired, Depth::FromDisk, progress, interrupt);
        let findings = report.ok_or(RepairError::Interrupted)?.findings;
        findings.check_shortage()?;
        if let Some(finding) = unexpected(&findings, plan) {
            return Err(RepairError::NotWhole { name: plan.name.clone(), finding });
        }
        let locks = self.lock(examined)?;
        self.check_unchanged(examined)?;
        let announced = writer.announce([&plan.name])?;
        let item = locks.item(&Lookup::new(self.collection), &plan.name)?;
        match &item {
            Some(item) => {
                writer.replace_item(draft.staged(), item, &mut Years::of(self.collection))?;
            }
            None => writer.place_item(self.collection, draft.staged(), &plan.name)?,
        }
        let sync = |item: &LockedItem<'_>| self.collection.sync_swapped([item.name()].into_iter());
        let recorded = item.as_ref().map_or(Ok(()), sync).and_then(|()| {
            // One that stays below its line was put back: verification reports it until it is brought into line.
            let is_below = self.collection.contradicting_line(&plan.name)?.is_some();
            let here = Here::under(&plan.permit, plan.sidecar.state, plan.sidecar.changed());
            let events = self.events(plan, Some(&here).filter(|_| !is_below));
            self.collection.record(&locks, &events)
        });
        recorded.map_err(|error| CollectionError::from(Stopped::unconfirmed(&plan.name, error)))?;
        announced.settle();
        Ok(())
    }

    /// Locks the collection, and the others that may decide.
    fn lock(&self, examined: &Examined) -> Result<ChangeLocks, RepairError> {
        let seen = examined.seen_elsewhere.iter();
        let others = self.others().zip(seen).filter(|(_, seen)| seen.is_some());
        let others = others.map(|(donor, _)| donor);
        let waiter = self.caller.waiter();
        Ok(lock_changes_with([self.collection], others, self.caller.agent, &waiter)?)
    }

    /// Makes sure that all sidecars on which the plan is based are unchanged.
    fn check_unchanged(&self, examined: &Examined) -> Result<(), RepairError> {
        let name = &examined.plan.name;
        let changed = |root: &Collection| {
            let path = root.path().join(layout::item_directory(name)).join(layout::SIDECAR);
            Err(RepairError::Changed { name: name.clone(), path })
        };
        let now = match self.collection.named_item(name) {
            Err(
                CollectionError::Vanished { .. }
                | CollectionError::GivenUp { .. }
                | CollectionError::NoSuchItem { .. },
            ) => None,
            item => Some(seen(&item?)?),
        };
        if now != examined.seen {
            return changed(self.collection);
        }
        let now = self.seen_elsewhere(name)?;
        let mut pairs = self.others().zip(examined.seen_elsewhere.iter().zip(&now));
        pairs.find(|(_, (before, now))| before != now).map_or(Ok(()), |(donor, _)| changed(donor))
    }

    /// Every byte was read back in the stage, so only its place is checked.
    fn check_in_place(&self, plan: &Plan) -> Result<(), RepairError> {
        let name = || plan.name.clone();
        let item = match self.collection.item(&plan.name) {
            Err(error) if error.disk().is_some_and(|it| it.shortage().is_some()) => {
                return Err(error.into());
            }
            Err(error) => {
                let finding = error.to_string();
                return Err(RepairError::NotWholeInPlace { name: name(), finding });
            }
            Ok(item) => item,
        };
        // The item is repaired: a stop requested now does not change that.
        let report = verify_item(&item, Depth::Quick, &NoProgress, &Interrupt::default());
        let findings = report.map(|report| report.findings).unwrap_or_default();
        findings.check_shortage()?;
        match unexpected(&findings, plan) {
            None => Ok(()),
            Some(finding) => Err(RepairError::NotWholeInPlace { name: name(), finding }),
        }
    }
}

/// Whether a repair solves it. A migration under way, and a relation that is not understood, are part of
/// the sealed sidecar, and stay.
fn is_mendable(finding: &Finding) -> bool {
    finding.severity() > Severity::Notice
        && !matches!(
            finding.code,
            Code::MigrationPending | Code::ItemPutBack | Code::RelationUnclear
        )
}

/// The first finding other than a file without a good copy.
fn unexpected(findings: &Findings, plan: &Plan) -> Option<String> {
    let lost: std::collections::BTreeSet<_> = plan.lost().collect();
    let is_lost = |place: &Place| matches!(place, Place::Payload(path) if lost.contains(path));
    let mut told = findings.as_slice().iter();
    let first = told.find(|it| is_mendable(it) && !is_lost(&it.place));
    if let Some(finding) = first {
        return Some(in_words(finding));
    }
    // More findings than are kept: exactly as many as there are lost files.
    (findings.count(Severity::Damage) > lost.len() as u64)
        .then(|| format!("{} problems", findings.count(Severity::Damage)))
}

fn in_words(finding: &Finding) -> String {
    format!("{}: {}: {}", finding.code, finding.place.to_path().display(), finding.in_words())
}

//! The plan of a repair: the source of each entry.

use std::fmt;
use std::path::PathBuf;

use super::RepairError;
use super::accepted::Accepted;
use super::facts::{Facts, Written};
use super::scan::EntryStatus;
use crate::custody::Permit;
use crate::identity::RepositoryName;
use crate::item::{Content, PayloadPath, State};
use crate::layout;
use crate::sidecar::{KeyChange, NewText, Sidecar};

/// The steps that make an item whole again.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The item.
    pub name: RepositoryName,
    /// Its damage.
    pub damage: Damage,
    /// The repair of its sidecar.
    pub action: SidecarAction,
    /// One step for each changed entry of the sidecar, in the same order.
    pub steps: Vec<EntryStep>,
    /// Paths that are moved from the item to the trash, relative to its directory.
    pub dropped: Vec<PathBuf>,
    /// The differences, if the sidecar is accepted unchanged.
    pub accepted: Option<Accepted>,
    /// The collections that steps count.
    pub donors: Vec<PathBuf>,
    /// The new sidecar, and its text.
    pub(super) sidecar: Sidecar,
    pub(super) permit: Permit,
    pub(super) text: NewText,
}

/// The damage of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Something in it.
    Within,
    /// The item is missing.
    Vanished,
}

/// The repair of the sidecar. Donors are counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum SidecarAction {
    /// It stays unchanged.
    Keep,
    /// It gets the state of its custody.
    State(State),
    /// It gets a new seal; unknown keys and comments are kept.
    Reseal {
        /// The donor whose sidecar agrees about the payload.
        confirmed_by: Option<usize>,
        /// The keys in which that donor differs.
        differs: Vec<String>,
    },
    /// It gets a new seal with the description that it has and the files that lie there: nothing in sight has the item whole.
    AsFound {
        /// The state of the item in it.
        state: State,
        /// The files that are not as they were listed.
        files: Vec<FileFound>,
    },
    /// It is built from a donor's.
    Rebuild {
        /// The donor. `None` for a stub or a tombstone that only a ledger knows.
        from: Option<usize>,
        /// The state of the item in it.
        state: State,
        /// The values that are taken back, if its own sidecar can be read.
        changes: Vec<KeyChange>,
    },
}

/// A file that is listed as it lies there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFound {
    /// The file.
    pub path: PayloadPath,
    /// What the sidecar listed, in words such as `sha256 …`. `None` if it did not list the file.
    pub listed: Option<String>,
    /// What lies there. `None` if nothing does.
    pub found: Option<String>,
}

/// The sidecar of the repaired item.
#[derive(Debug)]
pub(super) struct Decision {
    pub sidecar: Sidecar,
    pub permit: Permit,
    pub text: NewText,
    pub action: SidecarAction,
}

/// The step for a changed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryStep {
    /// The entry.
    pub path: PayloadPath,
    /// Its source.
    pub source: EntrySource,
}

/// The source of an entry. Donors are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntrySource {
    /// The item's own entry is kept and gets its mode and time back.
    OwnAttributes,
    /// Its bytes come from a donor.
    Donor(usize),
    /// A link or an empty directory is created from the sidecar.
    Sidecar,
    /// No good copy exists; the present file stays.
    Lost,
}

impl Decision {
    /// The decision for the item of `facts`: `sidecar`, in the text of the one `before`.
    pub(super) fn written(
        facts: &Facts,
        (permit, sidecar): (Permit, Sidecar),
        before: &Written,
        action: SidecarAction,
    ) -> Result<Decision, RepairError> {
        let text = sidecar.rewritten(&before.text, &before.sidecar);
        let text =
            text.map_err(|cause| RepairError::Sidecar { name: facts.name.clone(), cause })?;
        Ok(Decision { sidecar, permit, text, action })
    }
}

impl fmt::Display for FileFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [found, listed] =
            [&self.found, &self.listed].map(|it| it.as_deref().unwrap_or("nothing"));
        write!(f, "doc/{} {found} in place of {listed}", self.path)
    }
}

impl Plan {
    /// The plan that carries out `decision` for the item of `facts`; `sources` has the donor of the bytes for
    /// each entry.
    pub(super) fn new(
        facts: &Facts,
        damage: Damage,
        decision: Decision,
        donors: Vec<PathBuf>,
        sources: &[Option<usize>],
    ) -> Plan {
        let Decision { sidecar, permit, text, action } = decision;
        let wanted = wanted(&sidecar);
        let step = |(entry, donor): (&crate::item::Entry, &Option<usize>)| {
            let is_file = matches!(entry.content, Content::File { .. });
            let source = match (facts.payload.status(entry), donor) {
                (EntryStatus::Good, _) => return None,
                (EntryStatus::Attributes, _) => EntrySource::OwnAttributes,
                (EntryStatus::Damaged | EntryStatus::Missing, _) if !is_file => {
                    EntrySource::Sidecar
                }
                (EntryStatus::Damaged | EntryStatus::Missing, Some(donor)) => {
                    EntrySource::Donor(*donor)
                }
                (EntryStatus::Damaged | EntryStatus::Missing, None) => EntrySource::Lost,
            };
            Some(EntryStep { path: entry.path.clone(), source })
        };
        let steps = wanted.iter().zip(sources).filter_map(step).collect();
        let added = facts.payload.added(wanted);
        let added = added.into_iter().map(layout::in_payload);
        let (left, strays): (Vec<_>, Vec<_>) =
            facts.strays.iter().cloned().partition(|it| sidecar.leaves_alone(it.as_os_str()));
        let dropped = strays.into_iter().chain(added).collect();
        let name = facts.name.clone();
        let accepted = None;
        let mut plan =
            Plan { name, damage, action, steps, dropped, accepted, donors, sidecar, permit, text };
        if !plan.changes_nothing() {
            // The directory that contains them is replaced.
            plan.dropped.extend(left);
            plan.dropped.sort();
        }
        plan
    }

    /// The state of the repaired item.
    pub fn state(&self) -> State {
        self.sidecar.state
    }

    /// Whether nothing changes, because every entry is good or has no good copy.
    pub fn changes_nothing(&self) -> bool {
        let kept = self.steps.iter().all(|step| step.source == EntrySource::Lost);
        self.action == SidecarAction::Keep && kept && self.dropped.is_empty()
    }

    /// The files without a good copy.
    pub fn lost(&self) -> impl Iterator<Item = &PayloadPath> {
        let steps = self.steps.iter().filter(|step| step.source == EntrySource::Lost);
        steps.map(|step| &step.path)
    }

    /// Number of entries from `source`.
    pub fn count(&self, source: EntrySource) -> u64 {
        self.steps.iter().filter(|step| step.source == source).count() as u64
    }
}

/// The entries that should be on disk: a deleted item has none.
pub(super) fn wanted(sidecar: &Sidecar) -> &[crate::item::Entry] {
    match sidecar.state {
        State::Elsewhere | State::Deleted => &[],
        State::Original | State::Copy => &sidecar.files,
    }
}

/// One line for each change.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = |at: usize| self.donors[at].display();
        match &self.action {
            SidecarAction::Keep => {}
            SidecarAction::State(state) => writeln!(f, "say {state} in item.toml")?,
            SidecarAction::Reseal { confirmed_by: None, .. } => writeln!(f, "seal item.toml")?,
            SidecarAction::Reseal { confirmed_by: Some(donor), differs } => {
                write!(f, "seal item.toml, confirmed by {}", root(*donor))?;
                if !differs.is_empty() {
                    write!(f, ", which has another {}", differs.join(", "))?;
                }
                writeln!(f)?;
            }
            SidecarAction::AsFound { state, files } => {
                writeln!(f, "seal item.toml as it is, as {state}")?;
                files.iter().try_for_each(|file| writeln!(f, "list {file}"))?;
            }
            SidecarAction::Rebuild { from, state, changes } => {
                match from {
                    Some(from) => write!(f, "build item.toml from {} as {state}", root(*from))?,
                    None => write!(f, "write item.toml as {state}")?,
                }
                let keys: Vec<_> = changes.iter().map(|change| change.key.as_str()).collect();
                if !keys.is_empty() {
                    write!(f, ", with its {}", keys.join(", "))?;
                }
                writeln!(f)?;
            }
        }
        for EntryStep { path, source } in &self.steps {
            match source {
                EntrySource::OwnAttributes => writeln!(f, "set mode and time of doc/{path}")?,
                EntrySource::Donor(donor) => writeln!(f, "take doc/{path} from {}", root(*donor))?,
                EntrySource::Sidecar => writeln!(f, "make doc/{path}")?,
                EntrySource::Lost => writeln!(f, "no good copy of doc/{path}")?,
            }
        }
        for path in &self.dropped {
            let path = path.as_os_str().as_encoded_bytes();
            writeln!(f, "take out {}", crate::item::escape(path))?;
        }
        Ok(())
    }
}

//! Outcomes: the one table of words for lines, records, counts and closing lines.

use serde::{Serialize, Serializer};

/// The outcome for an item or a source, in a dry run the planned one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Did {
    Deposited,
    Imported,
    Adopted,
    Minted,
    Copied,
    Refreshed,
    Migrated,
    /// A Copy went to another collection.
    Moved,
    /// The Copy of a deleted item became a tombstone.
    Buried,
    Promoted,
    Changed,
    Accepted,
    Repaired,
    /// Some of the damage is left.
    RepairedInPart,
    Restored,
    RestoredInPart,
    Deleted,
    /// A Copy was deleted, which leaves a stub.
    Dropped,
    /// A deletion or a migration that was interrupted.
    Finished,
    Purged,
    GivenUp,
    /// It has the state of another collection.
    LinedUp,
    /// The ledger got the line that it lacked.
    Recorded,
    /// The ledger got the line of another state.
    LineCorrected,
    Exported,
    Opened,
    /// There was nothing to do.
    Unchanged,
    /// By a rule, or because a listed item has no payload.
    LeftOut,
    /// A source that changed a moment ago.
    Unsettled,
    /// A source that is named twice.
    Repeated,
    /// A source whose item has left.
    Departed,
    /// A source that became an item by other rules.
    OtherRules,
    /// An item that differs from its row, and is no Original here.
    NotUpdated,
    Sound,
    Damaged,
    /// No damage in what may be read.
    Unread,
    Failed,
    /// Done, but the disk did not confirm that.
    Unconfirmed,
}

/// Of each: the word in a record, the verb of a plan, and that of a report, where something is done.
const WORDS: [(Did, [&str; 3]); 38] = [
    (Did::Deposited, ["deposited", "deposit", "deposited"]),
    (Did::Imported, ["imported", "import", "imported"]),
    (Did::Adopted, ["adopted", "adopt", "adopted"]),
    (Did::Minted, ["minted", "issue", "issued"]),
    (Did::Copied, ["copied", "copy", "copied"]),
    (Did::Refreshed, ["refreshed", "refresh", "refreshed"]),
    (Did::Migrated, ["migrated", "migrate", "migrated"]),
    (Did::Moved, ["moved", "move the Copy of", "moved the Copy of"]),
    (Did::Buried, ["buried", "record the deletion of", "recorded the deletion of"]),
    (Did::Promoted, ["promoted", "promote", "promoted"]),
    (Did::Changed, ["changed", "change", "changed"]),
    (Did::Accepted, ["accepted", "accept", "accepted"]),
    (Did::Repaired, ["repaired", "repair", "repaired"]),
    (Did::RepairedInPart, ["repaired_in_part", "repair a part of", "repaired a part of"]),
    (Did::Restored, ["restored", "restore", "restored"]),
    (Did::RestoredInPart, ["restored_in_part", "restore a part of", "restored a part of"]),
    (Did::Deleted, ["deleted", "delete", "deleted"]),
    (Did::Dropped, ["dropped", "delete the Copy of", "deleted the Copy of"]),
    (Did::Finished, ["finished", "finish", "finished"]),
    (Did::Purged, ["purged", "purge", "purged"]),
    (Did::GivenUp, ["given_up", "give up", "gave up"]),
    (Did::LinedUp, ["lined_up", "bring", "brought"]),
    (Did::Recorded, ["recorded", "record", "recorded"]),
    (Did::LineCorrected, ["line_corrected", "correct the line of", "corrected the line of"]),
    (Did::Exported, ["exported", "export", "exported"]),
    (Did::Opened, ["opened", "open", "opened"]),
    (Did::Unchanged, ["unchanged", "", ""]),
    (Did::LeftOut, ["left_out", "", ""]),
    (Did::Unsettled, ["unsettled", "", ""]),
    (Did::Repeated, ["repeated", "", ""]),
    (Did::Departed, ["departed", "", ""]),
    (Did::OtherRules, ["other_rules", "", ""]),
    (Did::NotUpdated, ["not_updated", "", ""]),
    (Did::Sound, ["sound", "read", "read"]),
    (Did::Damaged, ["damaged", "", ""]),
    (Did::Unread, ["unread", "", ""]),
    (Did::Failed, ["failed", "", ""]),
    (Did::Unconfirmed, ["unconfirmed", "", ""]),
];

impl Did {
    const fn words(self) -> [&'static str; 3] {
        WORDS[self as usize].1
    }

    /// The word in records and counts.
    pub(crate) const fn word(self) -> &'static str {
        self.words()[0]
    }

    /// The participle: `3 items could not be copied`.
    pub(crate) fn participle(self) -> String {
        if self == Did::Sound { "read".to_owned() } else { self.word().replace('_', " ") }
    }

    /// The verb of a plan: `copy`.
    pub(crate) const fn present(self) -> &'static str {
        self.words()[1]
    }

    /// `would copy` in a dry run, otherwise `copied`.
    pub(crate) fn verb(self, is_dry: bool) -> String {
        if is_dry { format!("would {}", self.present()) } else { self.words()[2].to_owned() }
    }

    /// The words for items with which nothing was to be done, where this was asked for.
    pub(crate) const fn unchanged(self) -> &'static str {
        match self {
            Did::Copied
            | Did::Migrated
            | Did::Imported
            | Did::Adopted
            | Did::Restored
            | Did::Exported => "there already",
            _ => "unchanged",
        }
    }

    /// Whether the item became what it was to become: the closing line counts that. One that is repaired in part is still
    /// damaged.
    pub(crate) const fn is_change(self) -> bool {
        let is_done = !matches!(self, Did::RepairedInPart | Did::RestoredInPart | Did::Sound);
        is_done && !self.present().is_empty()
    }
}

impl Serialize for Did {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page on records explains each word once.
    #[test]
    fn every_word_is_in_the_documentation() {
        let page = include_str!("../../docs/json.md");
        let table = page.split("| command | `did` |").nth(1).unwrap();
        let table = table.split("\n## ").next().unwrap();
        for (at, (did, [word, ..])) in WORDS.iter().enumerate() {
            assert_eq!(*did as usize, at);
            assert!(table.contains(&format!("`{word}`")), "{word} is not in docs/json.md");
        }
    }
}

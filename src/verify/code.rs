//! Finding codes: numbers that never change their meaning.

use std::fmt;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; the item is intact.
    Notice,
    /// A fault that does not endanger bytes.
    Warning,
    /// A broken promise: bytes, names or records differ from the sidecar.
    Damage,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Notice => "notice",
            Severity::Warning => "warning",
            Severity::Damage => "damage",
        })
    }
}

/// Defines [`Code`] with the texts of each code, so that none can be forgotten.
macro_rules! codes {
    ($($name:ident = $number:literal, $severity:ident, $meaning:literal;)+) => {
        /// The kind of a finding, as a number that never changes its meaning and is never reused.
        ///
        /// `U1…` is about the sidecar and the item as a whole, `U2…` about its payload, `U3…` about the
        /// surroundings of items, `U4…` about states, of one item over several collections, `U5…` about
        /// relations and links between items. Later versions may add codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum Code {
            $(#[doc = concat!("U", $number, ": ", $meaning, ".")] $name = $number,)+
        }

        impl Code {
            /// Every code, in order of its number.
            pub const fn all() -> &'static [Code] {
                &[$(Code::$name),+]
            }

            /// Its severity; only damage makes `verify` exit with 20.
            pub const fn severity(self) -> Severity {
                match self {
                    $(Code::$name => Severity::$severity,)+
                }
            }

            /// Its meaning, in one line.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Code::$name => $meaning,)+
                }
            }
        }
    };
}

codes! {
    SidecarMissing = 101, Damage, "the sidecar is missing";
    SidecarUnreadable = 102, Damage, "this urepo cannot read the sidecar";
    SealBroken = 103, Damage, "item.toml was changed by hand or damaged";
    // A flipped bit in the line of the seal must be more than a warning.
    SealMissing = 104, Damage, "item.toml has no seal, which a change by hand or damage removed";
    OtherItem = 105, Damage, "the sidecar names another item than the path";
    ItemMissing = 106, Damage, "a requested item is missing";
    ItemGone = 107, Notice, "an item was moved or removed while the collection was verified";
    ItemVanished = 108, Damage, "an item that should be here is gone";
    Unrecorded = 109, Warning, "an item, or its last change, is not in the ledger";
    ItemDisplaced = 110, Damage, "an item was displaced by an interrupted swap; the next write or `urepo recover` puts it back";
    ItemReturned = 112, Damage, "an item is here as the Original, though it was given up";
    // It was put back from a backup: another collection may have the Original.
    ItemPutBack = 113, Damage, "an item is older than what the ledger, or another collection, says of it";
    StateDiffers = 114, Warning, "item.toml says another state than the item has, because it was copied or edited by hand";
    FutureDate = 115, Warning, "an item was changed more than a day in the future, by the clock that dated it";

    FileMissing = 201, Damage, "a file is missing";
    Added = 202, Damage, "an entry of the payload is not in the sidecar";
    SizeDiffers = 203, Damage, "a file has another size";
    DigestDiffers = 204, Damage, "bytes are not those deposited";
    LinkDiffers = 205, Damage, "a link is missing or has another target";
    EmptyDirectoryMissing = 206, Damage, "an empty directory is missing";
    KindDiffers = 207, Damage, "an entry is of another kind: file, link, directory or FIFO";
    Unreadable = 208, Damage, "an entry cannot be read, so its state is unknown";
    TotalsDiffer = 209, Damage, "the totals of the sidecar do not agree with its entries";
    TargetMissing = 210, Damage, "the target is not a file or link of the payload";
    PayloadMissing = 211, Damage, "the payload directory is missing";
    PayloadLeft = 212, Warning, "a deleted item still has a payload directory";

    Stray = 301, Warning, "a stray entry lies where only items, or parts of items, belong";
    TwoSpellings = 302, Damage, "an identifier is in the collection twice, in two spellings";
    OddName = 303, Notice, "identifiers of a prefix depart from the grammar";
    Twins = 304, Notice, "two names in the payload are the same name on some file systems";
    // Fixity covers bytes. Copying by hand keeps items valid, but loses times and modes.
    AttributesDiffer = 305, Warning, "other time or mode than recorded";
    LinkOnTheWay = 306, Damage, "a link is in the place of a part of the tree; it was not followed";
    DoubleIbip = 307, Damage, "two items have one IBIp";
    FutureName = 308, Warning, "an identifier is dated in the future";
    LedgerBroken = 309, Damage, "lines of the ledger are damaged or missing, so vanished items may go unnoticed";
    LedgerMissing = 310, Warning, "the ledger is missing, so vanished items go unnoticed";
    LedgerGap = 311, Warning, "lines of the ledger are damaged or missing, which a person has accepted";
    LedgerPutBack = 312, Damage, "the ledger was cut or put back, so vanished items may go unnoticed";
    LedgerNote = 313, Warning, "the file in which this machine noted the end of the ledger is damaged or cannot be read: whether the ledger was put back is not known";

    TwoOriginals = 401, Damage, "two collections hold the Original";
    NoOriginal = 402, Warning, "the Original of a Copy is in no collection that was compared";
    StaleCopy = 403, Warning, "an item is older than in another collection";
    MigrationPending = 404, Warning, "a move of the Original is not finished";
    CopyDiffers = 405, Damage, "an item was changed in two places";
    SameCollection = 406, Warning, "two roots are one collection, copied by hand";
    DescriptionDiffers = 407, Damage, "an item was described differently in two places";
    DeletedElsewhere = 408, Warning, "an item is deleted in one collection, and another holds the Original";
    // It was handed over or copied, and the receiver was put back or has lost it.
    HolderLacks = 409, Damage, "an item is gone from the collection that others got it from, or older there";

    RelationUnclear = 501, Warning, "a relation in the sidecar is not understood";
    RelationNowhere = 502, Warning, "a relation leads to an identifier that was never issued to an item";
    OneSidedRelation = 503, Warning, "the item that a relation leads to does not lead back";
    EditionCircle = 504, Warning, "the next editions of an item lead back to it";
    RelationContested = 505, Warning, "two items claim the same place, such as the next edition of a third";
    // A resolver goes by the relation, a reader by the description.
    TranslationLanguage = 506, Warning, "a translation is in another language than the relation to it says";
    LinkBroken = 507, Warning, "a link to another item is broken";
}

impl Code {
    /// The number: 101 for `U101`.
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// Whether the detail of a finding is a digest, a date or another value, which says nothing to most people.
    pub const fn has_values(self) -> bool {
        matches!(
            self,
            Code::SealBroken
                | Code::SizeDiffers
                | Code::DigestDiffers
                | Code::TotalsDiffer
                | Code::AttributesDiffer
                | Code::FutureDate
                | Code::FutureName
        )
    }

    /// Whether the detail of a finding says all, with the names of the collections.
    pub const fn is_of_two(self) -> bool {
        matches!(
            self,
            Code::TwoOriginals
                | Code::NoOriginal
                | Code::StaleCopy
                | Code::CopyDiffers
                | Code::DescriptionDiffers
                | Code::DeletedElsewhere
                | Code::HolderLacks
        )
    }

    /// Whether the table of remedies has a row for it, though it is no damage.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            Code::Unrecorded | Code::StaleCopy | Code::MigrationPending | Code::DeletedElsewhere
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("U{}", self.number()))
    }
}

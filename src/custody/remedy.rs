//! The table of remedies: the one command that works for an item in one collection, given all that is in sight. Pure.
//!
//! The first row that fits wins. `top` is what speaks: the highest custody in sight, lines of the ledgers included, without
//! what is damaged or given up. A *donor* is another holding whose payload covers it. The rows are in the order of the
//! functions in `rows`; [`Row`] has their numbers and sentences.
//!
//! - What is in place speaks before a line of the same rank, and all that has one id speaks together.
//! - A fork is between payloads and tombstones in place. What a line or a stub names and nobody has is a loss.
//! - An accepted loss neither speaks nor blocks.
//! - A stub or tombstone that replaces no payload needs no bytes, so that it can be written at any time.

mod rows;

use std::fmt;

use super::{Discard, Has, Holding, MigrationEnd, Speaking, interrupted, speaking};

/// All that is known of the item in one collection in sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The id of the collection.
    pub at: String,
    /// The holding in the item's directory. `None` if there is none, or it is damaged.
    pub here: Option<Holding>,
    /// The damage to the directory.
    pub damage: Option<Damage>,
    /// The latest line of the ledger.
    pub line: Option<Line>,
    /// Whether the ledger is another than the one that this machine wrote last.
    pub is_put_back: bool,
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// That of payload.
    Payload(Holding),
    /// That of a stub or of a tombstone.
    Bare(Holding),
    /// The item was given up: a person accepted its loss.
    Loss,
}

/// What keeps a directory from being a holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Damage {
    /// Payload whose sidecar is lost, or is not as it was sealed.
    Sidecar,
    /// The payload is not what the sidecar lists.
    Payload,
    /// A directory with neither, or that of another item.
    Stranger,
}

/// The condition of an item in one collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// The ledger is another than the one that this machine wrote last.
    LedgerPutBack,
    /// Its directory is damaged.
    Damaged(Damage),
    /// A migration from here is under way.
    Ceded,
    /// The ledger lists it, and its directory is gone, or lies below that as an accepted loss.
    Missing,
    /// What speaks names this collection, which has nothing.
    HolderWithout,
    /// There is nothing, and nothing is expected.
    Nothing,
    /// The ledger lacks the line of its last change.
    AboveLine,
    /// A person accepted the loss.
    GivenUp,
    /// It has what speaks, or follows it.
    Current,
    /// What speaks follows it.
    Behind,
    /// Neither follows the other.
    Fork,
}

/// A remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy<'a> {
    /// The row of the table.
    pub row: Row,
    /// The way out.
    pub way: Way<'a>,
}

/// The way out of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way<'a> {
    /// A command.
    Run(Command<'a>),
    /// A collection that is not in sight may have what is needed, and has to be mounted first. If it can never be read again,
    /// the command goes on without it.
    Wait(&'a str, Option<Command<'a>>),
    /// Another collection comes first.
    Others,
}

/// A command on the item, in the collection with the id `at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// The collection.
    pub at: &'a str,
    /// What is run there.
    pub act: Act<'a>,
}

/// What a remedy runs. Collections are given by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act<'a> {
    /// `recover --restored`
    AcceptLedger,
    /// `recover`
    Recover,
    /// `recover --withdraw`
    Withdraw,
    /// `recover --accept-loss ITEM`
    AcceptLoss,
    /// `recover --with COLLECTION`
    RecoverWith(&'a str),
    /// `repair ITEM`
    Repair,
    /// `repair ITEM --from COLLECTION`
    RepairFrom(&'a str),
    /// `repair ITEM --reseal`
    Reseal,
    /// `copy ITEM --from COLLECTION`
    CopyFrom(&'a str),
    /// `delete ITEM`
    Delete,
    /// `promote ITEM`, with `--discard` and with `--lost COLLECTION` where these are needed.
    Promote(Discard, Option<&'a str>),
}

/// Defines [`Row`] with the number and the sentence of each row.
macro_rules! rows {
    ($($name:ident = $number:literal, $sentence:literal;)+) => {
        /// A row of the table of remedies. Its number never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Row {
            $(#[doc = concat!($number, ": ", $sentence, ".")] $name,)+
        }

        impl Row {
            /// Every row, in the order of the table.
            pub const fn all() -> &'static [Row] {
                &[$(Row::$name),+]
            }

            /// Its number in the table.
            pub const fn number(self) -> &'static str {
                match self {
                    $(Row::$name => $number,)+
                }
            }

            /// The state that it describes.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Row::$name => $sentence,)+
                }
            }
        }
    };
}

rows! {
    LedgerPutBack = "1", ".urepo/ledger was cut or put back";
    Interrupted = "2a", "a migration was interrupted";
    ReceiverAway = "2b", "a migration was interrupted, and the collection that may have the item is not in sight";
    CameBackLost = "2c", "the item came back from a migration and was changed, and nothing in sight has the change";
    ReceiverFirst = "2d", "the receiver of a migration has to be repaired first";
    ReceiverLost = "2e", "the receiver of a migration lost the item after it was changed there";
    AboveLine = "3", "the ledger lacks the line of the last change";
    OthersFirst = "4", "another collection comes first";
    Fork = "5a", "the item was changed in two places";
    ForkCeded = "5b", "the item was changed in two places, and a migration comes first";
    ForkAway = "5c", "the item was changed in two places, and the newest state is not in sight";
    Tombstone = "6a", "the tombstone is missing, damaged or older";
    PayloadOfDeleted = "6b", "payload without a sidecar lies in the place of a deleted item";
    DeletionUndone = "6c", "a deletion was undone, as by a backup that was put back";
    DeleteFirst = "6d", "the item was deleted elsewhere, where the tombstone is missing";
    CopyOfDeleted = "6e", "a Copy of an item that was deleted";
    OriginalOfDeleted = "6f", "an Original that was deleted elsewhere";
    StubDamaged = "7a", "the stub is missing or damaged";
    Damaged = "7b", "the item is missing or damaged here, and another collection has it";
    FoundAgain = "7c", "the item was given up as lost, and another collection has it";
    HolderBehind = "7d", "the Original is older, as after a backup was put back";
    StubBehind = "7e", "the stub or tombstone is older";
    OriginalBehind = "7f", "the Original was passed on, or another was promoted: it is older";
    CopyBehind = "7g", "the Copy is older than the Original";
    StubAway = "8a", "the stub is missing, damaged or older";
    HolderAway = "8b", "the collection that has the Original is not in sight";
    NewestLost = "9a", "the newest state is nowhere in sight, and an older one is there";
    OnlyPayload = "9b", "only payload without a sealed sidecar is left";
    Lost = "9c", "nothing in sight has the item whole";
    StubOfLost = "9d", "the stub of a lost item is damaged or older";
    Unknown = "9e", "something that cannot be read lies here, and nothing knows the item";
}

/// The remedy for the item in the collection with the id `at`, which is one of `places`: the collections in sight. `None` if
/// nothing is wrong there, or another collection comes first.
pub fn remedy<'a>(places: &'a [Place], at: &str) -> Option<Remedy<'a>> {
    let view = View::of(places);
    let place = places.iter().find(|place| place.at == at)?;
    let found = rows::ROWS.iter().find_map(|row| row(&view, place, view.condition(place)));
    found.filter(|found| found.way != Way::Others)
}

/// The holding or line that speaks in `places`.
pub fn speaks(places: &[Place]) -> Option<&Holding> {
    View::of(places).top.map(|top| top.highest)
}

/// What a person may choose instead of the command of `remedy`, each line of the item once: another line of a fork goes on, or
/// payload stays whose deletion was undone.
pub fn alternatives<'a>(places: &'a [Place], remedy: &Remedy<'_>) -> Vec<Command<'a>> {
    let (view, Way::Run(command)) = (View::of(places), &remedy.way) else { return Vec::new() };
    let promote = |at| Command { at, act: Act::Promote(Discard::Accept, None) };
    match remedy.row {
        Row::Fork => {
            let covers =
                |other: &Holding, payload: &Holding| other.custody.covers(&payload.custody);
            let chosen = view.payloads().find(|payload| payload.at == command.at);
            let mut lines: Vec<&Holding> = chosen.into_iter().collect();
            let mut payloads: Vec<_> = view.payloads().collect();
            payloads.sort_by(|one, other| other.rank().cmp(&one.rank()));
            for payload in payloads {
                if !lines.iter().any(|line| covers(line, payload)) {
                    lines.push(payload);
                }
            }
            lines.iter().skip(1).map(|line| promote(&*line.at)).collect()
        }
        Row::DeletionUndone => view.best().map(|best| promote(&*best.at)).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The condition of the item in the collection with the id `at`, which is one of `places`.
pub fn condition(places: &[Place], at: &str) -> Option<Condition> {
    let place = places.iter().find(|place| place.at == at)?;
    Some(View::of(places).condition(place))
}

impl<'a> Remedy<'a> {
    /// What is run in the collection with the id `at`, if that is where the remedy is.
    pub fn act_at(&self, at: &str) -> Option<Act<'a>> {
        match &self.way {
            Way::Run(command) if command.at == at => Some(command.act),
            _ => None,
        }
    }
}

/// The item in all collections in sight, and what speaks.
struct View<'a> {
    places: &'a [Place],
    top: Option<Speaking<'a>>,
}

impl Place {
    /// The line, unless the item was given up.
    fn live_line(&self) -> Option<&Holding> {
        match &self.line {
            Some(Line::Payload(line) | Line::Bare(line)) => Some(line),
            Some(Line::Loss) | None => None,
        }
    }

    /// The holding and the line, as far as they speak.
    fn speak(&self) -> impl Iterator<Item = &Holding> + Clone {
        self.here.iter().chain(self.live_line())
    }

    /// The holding with whole payload.
    fn payload(&self) -> Option<&Holding> {
        self.here.as_ref().filter(|here| here.has_payload())
    }

    /// Whether it has payload that its sidecar describes, as far as is known.
    pub fn has_payload(&self) -> bool {
        self.payload().is_some()
    }

    /// Notes that the directory is damaged: what it says no longer counts.
    pub fn damage(&mut self, damage: Damage) {
        (self.here, self.damage) = (None, Some(damage));
    }

    /// The tombstone.
    fn tombstone(&self) -> Option<&Holding> {
        self.here.as_ref().filter(|here| here.has == Has::Tombstone)
    }

    /// Whether the holding is below the line.
    fn is_below_line(&self) -> bool {
        let (here, line) = (self.here.as_ref(), self.live_line());
        here.zip(line).is_some_and(|(here, line)| line.rank() > here.rank())
    }
}

impl<'a> View<'a> {
    fn of(places: &'a [Place]) -> View<'a> {
        View { places, top: speaking(places.iter().flat_map(Place::speak)) }
    }

    fn condition(&self, place: &Place) -> Condition {
        if place.is_put_back {
            return Condition::LedgerPutBack;
        }
        if let Some(damage) = place.damage {
            return Condition::Damaged(damage);
        }
        if place.here.as_ref().is_some_and(|here| here.custody.ceded().is_some()) {
            return Condition::Ceded;
        }
        let Some(here) = &place.here else {
            let is_holder =
                |top: &Speaking<'_>| top.highest.custody.holder() == place.at && !top.is_deletion();
            return match &place.line {
                Some(Line::Payload(_) | Line::Bare(_)) => Condition::Missing,
                Some(Line::Loss) => Condition::GivenUp,
                None if self.top.as_ref().is_some_and(is_holder) => Condition::HolderWithout,
                None => Condition::Nothing,
            };
        };
        match (place.live_line(), &self.top) {
            (Some(line), Some(top)) if here.rank() <= line.rank() => {
                if here.covers_speaking(top) {
                    Condition::Current
                } else if top.covers(here) {
                    Condition::Behind
                } else {
                    Condition::Fork
                }
            }
            _ => Condition::AboveLine,
        }
    }

    fn place(&self, at: &str) -> Option<&'a Place> {
        self.places.iter().find(|place| place.at == at)
    }

    fn is_in_sight(&self, at: &str) -> bool {
        self.place(at).is_some()
    }

    /// The holdings with whole payload.
    fn payloads(&self) -> impl Iterator<Item = &'a Holding> {
        self.places.iter().filter_map(Place::payload)
    }

    /// The highest payload in sight.
    fn best(&self) -> Option<&'a Holding> {
        first_of_highest(self.payloads())
    }

    /// The collection with payload whose sidecar is lost: the `holder`, or else the first.
    fn only_payload(&self, holder: &str) -> Option<&'a str> {
        let mut all = self.places.iter().filter(|place| place.damage == Some(Damage::Sidecar));
        let own = all.clone().find(|place| place.at == holder);
        own.or_else(|| all.next()).map(|place| &*place.at)
    }

    /// Another collection with the contents that speak. A giver has those of what it offered, but they are for its receiver.
    fn donor(&self, place: &Place, top: &Speaking<'_>) -> Option<&'a str> {
        let is_for = |donor: &Holding| match donor.custody.ceded() {
            Some(ceded) => {
                ceded.id == top.highest.custody.id() && top.highest.custody.holder() == place.at
            }
            None => donor.covers_speaking(top),
        };
        let others = self.payloads().filter(|donor| donor.at != place.at && is_for(donor));
        first_of_highest(others).map(|donor| &*donor.at)
    }

    /// Another collection with the tombstone that speaks.
    fn grave(&self, place: &Place, top: &Speaking<'_>) -> Option<&'a str> {
        let is_it = |grave: &&Holding| grave.custody.id() == top.highest.custody.id();
        let others = self.places.iter().filter(|other| other.at != place.at);
        others.filter_map(Place::tombstone).find(is_it).map(|grave| &*grave.at)
    }

    /// Whether a payload in sight has the contents that speak.
    fn is_alive(&self, top: &Speaking<'_>) -> bool {
        self.payloads().any(|payload| payload.has_contents_of(top.highest))
    }

    /// The end of the migration that the holding `giver` began.
    fn end<R>(&self, giver: &Holding, use_end: impl FnOnce(MigrationEnd<'_>) -> R) -> Option<R> {
        let ceded = giver.custody.ceded()?;
        let seen: Vec<Holding> = self.places.iter().flat_map(Place::speak).cloned().collect();
        // A receiver whose ledger is not known may have had the item.
        let is_known =
            |at: &str| self.place(at).is_some_and(|place| at != ceded.to || !place.is_put_back);
        Some(use_end(interrupted(giver, ceded, &seen, is_known)))
    }
}

impl Holding {
    /// Whether its contents are those that speak, or follow them.
    fn covers_speaking(&self, top: &Speaking<'_>) -> bool {
        self.has != Has::Damaged && self.custody.covers(&top.highest.custody)
    }

    fn is_apart_from(&self, other: &Holding) -> bool {
        !self.custody.covers(&other.custody) && !other.custody.covers(&self.custody)
    }
}

/// The highest of `holdings`: of equal ones, the first, so that the order of the settings decides which donor is named.
fn first_of_highest<'a>(holdings: impl Iterator<Item = &'a Holding>) -> Option<&'a Holding> {
    holdings.reduce(|best, next| if next.rank() > best.rank() { next } else { best })
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::LedgerPutBack => "ledger put back",
            Condition::Damaged(Damage::Sidecar) => "sidecar",
            Condition::Damaged(Damage::Payload) => "bytes",
            Condition::Damaged(Damage::Stranger) => "impostor",
            Condition::Ceded => "ceded",
            Condition::Missing => "missing",
            Condition::HolderWithout => "holder without it",
            Condition::Nothing => "nothing",
            Condition::AboveLine => "above its line",
            Condition::GivenUp => "given up",
            Condition::Current => "current",
            Condition::Behind => "behind",
            Condition::Fork => "fork",
        })
    }
}

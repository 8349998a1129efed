//! The table of remedies: the one command that works for an item in one collection, given all that is in sight. Pure.
//!
//! The first row that fits wins. `top` is what speaks: the highest custody in sight, lines of the ledgers included, without
//! what is damaged or given up. A *donor* is another holding whose payload covers it. The rows are in the order of the
//! functions in [`ROWS`]; [`Row`] has their numbers and sentences.
//!
//! - What is in place speaks before a line of the same rank, and all that has one id speaks together.
//! - A fork is between payloads and tombstones in place. What a line or a stub names and nobody has is a loss.
//! - An accepted loss neither speaks nor blocks.
//! - A stub or tombstone that replaces no payload needs no bytes, so that it can be written at any time.

use std::fmt;

use super::{Discard, Has, Holding, Interrupted, Speaking, interrupted, speaking};

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
    LedgerPutBack = "1", "the ledger is not the one that this machine wrote last";
    Interrupted = "2a", "a migration was interrupted";
    ReceiverAway = "2b", "a migration was interrupted, and the collection that may have the item is not in sight";
    CameBackLost = "2c", "the item came back from a migration and was changed, and nothing in sight has the change";
    ReceiverFirst = "2d", "the receiver of a migration has to be repaired first";
    ReceiverLost = "2e", "the receiver of a migration lost the item after it was changed there";
    AboveLine = "3", "the ledger lacks the line of the last change";
    OthersFirst = "4", "another collection comes first";
    Fork = "5a", "the item was changed in two collections, and neither follows the other";
    ForkCeded = "5b", "the item was changed in two collections, and a migration comes first";
    ForkAway = "5c", "the item was changed in two collections, and the newest state is not in sight";
    Tombstone = "6a", "the tombstone is missing, damaged or behind";
    PayloadOfDeleted = "6b", "payload without a sidecar lies in the place of a deleted item";
    DeletionUndone = "6c", "a deletion was undone, as by a backup that was put back";
    DeleteFirst = "6d", "the item was deleted elsewhere, where the tombstone is missing";
    CopyOfDeleted = "6e", "a Copy of an item that was deleted";
    OriginalOfDeleted = "6f", "an Original that was deleted elsewhere";
    StubDamaged = "7a", "the stub is missing or damaged";
    Damaged = "7b", "the item is missing or damaged here, and another collection has it";
    FoundAgain = "7c", "the item was given up as lost, and another collection has it";
    HolderBehind = "7d", "the Original is behind, as after a backup was put back";
    StubBehind = "7e", "the stub or tombstone is behind";
    OriginalBehind = "7f", "the Original was passed on, or another was promoted: it is behind";
    CopyBehind = "7g", "the Copy is behind";
    StubAway = "8a", "the stub is missing, damaged or behind";
    HolderAway = "8b", "the collection that has the Original is not in sight";
    NewestLost = "9a", "the newest state of the item is lost, and an older one is there";
    OnlyPayload = "9b", "only payload without its sidecar is left";
    Lost = "9c", "the item is lost: nothing in sight has it";
    StubOfLost = "9d", "the stub of a lost item is damaged or behind";
    Unknown = "9e", "something that cannot be read lies here, and nothing knows the item";
}

/// The remedy for the item in the collection with the id `at`, which is one of `places`: the collections in sight. `None` if
/// nothing is wrong there, or another collection comes first.
pub fn remedy<'a>(places: &'a [Place], at: &str) -> Option<Remedy<'a>> {
    let view = View::of(places);
    let place = places.iter().find(|place| place.at == at)?;
    let found = ROWS.iter().find_map(|row| row(&view, place, view.condition(place)));
    found.filter(|found| found.way != Way::Others)
}

/// The remedies of the item in all `places`, each once, in the order of the table.
pub fn remedies(places: &[Place]) -> Vec<Remedy<'_>> {
    let mut found: Vec<Remedy<'_>> = Vec::new();
    for place in places {
        let next = remedy(places, &place.at);
        found.extend(next.filter(|next| !found.iter().any(|known| known.way == next.way)));
    }
    found.sort_by_key(|remedy| remedy.row);
    found
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

/// Decides by one group of rows.
type Decide = for<'a> fn(&View<'a>, &'a Place, Condition) -> Option<Remedy<'a>>;

const ROWS: [Decide; 10] = [
    ledger_put_back,
    ceded,
    above_line,
    others_first,
    fork,
    deletion,
    with_bytes,
    holder_away,
    loss,
    unknown,
];

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
    fn end<R>(&self, giver: &Holding, use_end: impl FnOnce(Interrupted<'_>) -> R) -> Option<R> {
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

fn run<'a>(row: Row, at: &'a str, act: Act<'a>) -> Option<Remedy<'a>> {
    Some(Remedy { row, way: Way::Run(Command { at, act }) })
}

fn others(row: Row) -> Option<Remedy<'static>> {
    Some(Remedy { row, way: Way::Others })
}

fn ledger_put_back<'a>(_: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let is_put_back = condition == Condition::LedgerPutBack;
    is_put_back.then(|| run(Row::LedgerPutBack, &place.at, Act::AcceptLedger))?
}

fn ceded<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let giver = place.here.as_ref().filter(|_| condition == Condition::Ceded)?;
    let here = &*place.at;
    view.end(giver, |end| match end {
        Interrupted::OutOfSight(away) if view.is_in_sight(&away) => others(Row::OthersFirst),
        Interrupted::OutOfSight(away) => {
            let named = |known: &&'a Holding| known.custody.holder() == away;
            let holder = || view.places.iter().flat_map(Place::speak).find(named);
            let receiver = giver.custody.ceded().map(|ceded| &*ceded.to).filter(|to| *to == away);
            let away = receiver.or_else(|| holder().map(|known| known.custody.holder()))?;
            let lost = Command { at: here, act: Act::Withdraw };
            Some(Remedy { row: Row::ReceiverAway, way: Way::Wait(away, Some(lost)) })
        }
        Interrupted::Arrived(line) => {
            let (receiver, top) = (view.place(&line.at)?, view.top.as_ref()?);
            match view.donor(receiver, top) {
                Some(_) => others(Row::ReceiverFirst),
                None => run(Row::ReceiverLost, here, Act::AcceptLoss),
            }
        }
        Interrupted::Lost(_) => run(Row::CameBackLost, here, Act::AcceptLoss),
        _ => run(Row::Interrupted, here, Act::Recover),
    })?
}

fn above_line<'a>(_: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let is_above = condition == Condition::AboveLine;
    is_above.then(|| run(Row::AboveLine, &place.at, Act::Recover))?
}

/// What speaks may be ceded, or stand in a ledger that has older lines than it wrote: that ends first.
fn others_first<'a>(view: &View<'a>, place: &'a Place, _: Condition) -> Option<Remedy<'a>> {
    let waits = |end: Interrupted<'_>| {
        matches!(end, Interrupted::OutOfSight(_) | Interrupted::Arrived(_) | Interrupted::Lost(_))
    };
    let comes_first = |other: &Place| {
        let ends = other.here.as_ref().and_then(|giver| view.end(giver, |end| !waits(end)));
        other.is_put_back || ends.unwrap_or(false)
    };
    let others_first = view.places.iter().any(|other| other.at != place.at && comes_first(other));
    others_first.then(|| others(Row::OthersFirst))?
}

/// Two lines. The best of them goes on; what it gives up is named by the command.
fn fork<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let (top, best) = (view.top.as_ref()?, view.best()?);
    let is_apart = view.payloads().any(|other| !best.custody.covers(&other.custody));
    let graves = || view.places.iter().filter_map(Place::tombstone);
    if !is_apart && !graves().any(|grave| grave.is_apart_from(best)) {
        return None;
    }
    let mut ceded = view.payloads().filter_map(|payload| payload.custody.ceded()).peekable();
    if ceded.peek().is_some() {
        let is_receiver = ceded.any(|ceded| ceded.to == place.at);
        // The receiver may have to be repaired before the giver's migration can end.
        let comes_first = match condition {
            Condition::Missing | Condition::HolderWithout | Condition::Damaged(_) => true,
            Condition::Behind => {
                is_receiver && place.is_below_line() && view.donor(place, top).is_some()
            }
            _ => false,
        };
        return if comes_first || condition == Condition::Ceded {
            None
        } else {
            others(Row::ForkCeded)
        };
    }
    let holder = top.highest.custody.holder();
    if view.is_alive(top) || view.is_in_sight(holder) || top.is_deletion() {
        return run(Row::Fork, &best.at, Act::Promote(Discard::Accept, None));
    }
    let away = top.highest.custody.holder();
    let lost = Command { at: &best.at, act: Act::Promote(Discard::Accept, Some(away)) };
    Some(Remedy { row: Row::ForkAway, way: Way::Wait(away, Some(lost)) })
}

/// What speaks is a deletion.
fn deletion<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    use Condition::{Behind, Current, GivenUp, Missing, Nothing};
    let top = view.top.as_ref().filter(|top| top.is_deletion())?;
    let (at, here) = (&*place.at, place.here.as_ref());
    let needs_no_bytes = |here: &Holding| {
        let is_stale = condition == Behind || here.has != Has::Tombstone || place.is_below_line();
        !here.has_payload() && is_stale
    };
    match condition {
        Nothing | Current | GivenUp => None,
        Missing | Condition::Damaged(Damage::Stranger | Damage::Payload) => {
            run(Row::Tombstone, at, Act::Repair)
        }
        _ if here.is_some_and(needs_no_bytes) => run(Row::Tombstone, at, Act::Repair),
        Condition::Damaged(Damage::Sidecar) => {
            let act = view.grave(place, top).map_or(Act::Repair, Act::RepairFrom);
            run(Row::PayloadOfDeleted, at, act)
        }
        Behind => {
            let is_its_line =
                place.live_line().is_some_and(|line| line.custody.id() == top.highest.custody.id());
            if top.highest.custody.holder() == at || is_its_line {
                return run(Row::DeletionUndone, at, Act::Delete);
            }
            match view.grave(place, top) {
                None => others(Row::DeleteFirst),
                Some(grave) if here.is_some_and(Holding::is_own) => {
                    run(Row::OriginalOfDeleted, at, Act::RecoverWith(grave))
                }
                Some(grave) => run(Row::CopyOfDeleted, at, Act::CopyFrom(grave)),
            }
        }
        _ => None,
    }
}

/// What speaks has bytes in sight.
fn with_bytes<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    use Condition::{Behind, Fork, GivenUp, HolderWithout, Missing};
    let top = view.top.as_ref().filter(|top| !top.is_deletion())?;
    let donor = view.donor(place, top)?;
    let (at, is_holder) = (&*place.at, top.highest.custody.holder() == place.at);
    match condition {
        Missing | Condition::Damaged(Damage::Stranger)
            if !is_holder && matches!(place.line, Some(Line::Bare(_))) =>
        {
            run(Row::StubDamaged, at, Act::Repair)
        }
        Missing | HolderWithout | Condition::Damaged(_) => {
            run(Row::Damaged, at, Act::RepairFrom(donor))
        }
        GivenUp if is_holder => run(Row::FoundAgain, at, Act::RepairFrom(donor)),
        Behind | Fork if is_holder => run(Row::HolderBehind, at, Act::RepairFrom(donor)),
        Behind | Fork if place.payload().is_none() => run(Row::StubBehind, at, Act::Repair),
        Behind | Fork if place.here.as_ref().is_some_and(Holding::is_original) => {
            run(Row::OriginalBehind, at, Act::RecoverWith(donor))
        }
        Behind | Fork => run(Row::CopyBehind, at, Act::CopyFrom(donor)),
        _ => None,
    }
}

/// What speaks has no bytes in sight, and its holder is away.
fn holder_away<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    use Condition::{Behind, Current, Damaged, Fork, GivenUp, Missing, Nothing};
    let top = view.top.as_ref().filter(|top| !top.is_deletion())?;
    let away = top.highest.custody.holder();
    if view.is_alive(top) || view.is_in_sight(away) {
        return None;
    }
    let is_stub =
        |here: &Holding| !here.has_payload() && (here.has != Has::Tombstone || top.covers(here));
    match condition {
        Nothing | GivenUp => return None,
        Current if place.payload().is_none() => return None,
        Missing | Damaged(Damage::Stranger) => return run(Row::StubAway, &place.at, Act::Repair),
        Behind | Fork if place.here.as_ref().is_some_and(is_stub) => {
            return run(Row::StubAway, &place.at, Act::Repair);
        }
        _ => {}
    }
    let best =
        first_of_highest(view.payloads().filter(|payload| payload.custody.ceded().is_none()));
    let lost = best.and_then(|best| {
        let is_given_up = |other: &&Holding| {
            (other.has_payload() || other.has == Has::Tombstone)
                && !best.custody.covers(&other.custody)
        };
        let mut given_up = view
            .places
            .iter()
            .filter_map(|other| other.here.as_ref())
            .filter(is_given_up)
            .peekable();
        let discard = if given_up.peek().is_some() { Discard::Accept } else { Discard::Refuse };
        let is_ceded = given_up.any(|other| other.custody.ceded().is_some());
        let act = Act::Promote(discard, Some(away));
        (!is_ceded).then_some(Command { at: &best.at, act })
    });
    Some(Remedy { row: Row::HolderAway, way: Way::Wait(away, lost) })
}

/// What speaks is nowhere, though its holder is in sight.
fn loss<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let top = view.top.as_ref().filter(|top| !top.is_deletion())?;
    let holder = view.place(top.highest.custody.holder()).filter(|_| !view.is_alive(top))?;
    if let Some(best) = view.best() {
        let is_apart = |other: &Holding| {
            other.custody.ceded().is_some() && !best.custody.covers(&other.custody)
        };
        if best.custody.ceded().is_some() || view.payloads().any(is_apart) {
            return others(Row::OthersFirst);
        }
        return run(Row::NewestLost, &best.at, Act::AcceptLoss);
    }
    let resealed = view.places.iter().find(|other| other.damage == Some(Damage::Sidecar));
    if let Some(resealed) = resealed {
        return run(Row::OnlyPayload, &resealed.at, Act::Reseal);
    }
    if view.condition(holder) != Condition::GivenUp {
        return run(Row::Lost, &holder.at, Act::AcceptLoss);
    }
    let is_left = matches!(
        condition,
        Condition::Missing
            | Condition::Damaged(Damage::Stranger | Damage::Payload)
            | Condition::Behind
            | Condition::Fork
    );
    is_left.then(|| run(Row::StubOfLost, &place.at, Act::Repair))?
}

/// Nothing speaks: all that knew the item is damaged or was given up.
fn unknown<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let is_left = matches!(condition, Condition::Missing | Condition::Damaged(_));
    (view.top.is_none() && is_left).then(|| run(Row::Unknown, &place.at, Act::AcceptLoss))?
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::custody::{Ceded, Custody, CustodyId, Leaves};
    use crate::identity::Instant;

    fn id(number: &Value) -> CustodyId {
        CustodyId::from(number.as_u64().unwrap().to_be_bytes())
    }

    fn holding(at: &str, value: &Value) -> Option<Holding> {
        let number = |key: &str| value[key].as_i64().unwrap();
        let (has, is_line) = (value["state"].as_str()?, value.get("follows").is_none());
        let has = match has {
            "Original" | "Copy" if !is_line => Has::Payload,
            "Elsewhere" if !is_line => Has::Stub,
            "Deleted" if is_line => Has::LineOfDeletion,
            "Deleted" => Has::Tombstone,
            _ => Has::Line,
        };
        let follows = value["follows"].as_array().into_iter().flatten().map(id).collect();
        let ceded = value.get("ceded").filter(|ceded| !ceded.is_null()).map(|ceded| Ceded {
            to: ceded["to"].to_string(),
            epoch: ceded["epoch"].as_u64().unwrap(),
            id: id(&ceded["id"]),
            leaves: if ceded["leaves"] == "copy" { Leaves::Copy } else { Leaves::Stub },
        });
        let epoch = value["epoch"].as_u64().unwrap();
        let holder = value["holder"].to_string();
        let custody = Custody::read(epoch, id(&value["id"]), follows, holder, ceded).unwrap();
        let changed = Instant::from_seconds(number("changed"));
        Some(Holding { at: at.to_owned(), has, custody, changed })
    }

    /// The place that a line of vectors describes. `None` for an accepted loss that has a directory of its own: here it is a
    /// line alone.
    fn place(at: &str, value: &Value) -> Option<Place> {
        let (here, line) = (&value["here"], &value["line"]);
        let is_loss = |value: &Value| value["state"] == "Lost";
        let standing = value["standing"].as_str().unwrap();
        if is_loss(here) != is_loss(line)
            && (is_loss(here) && standing != "missing" || here.is_null())
            || is_loss(here) && standing == "above its line"
        {
            return None;
        }
        let here = holding(at, here).filter(|_| !is_loss(here));
        let line = match line["state"].as_str() {
            None => None,
            Some("Lost") => Some(Line::Loss),
            Some(state) => {
                let mut found = holding(at, line)?;
                let follows = |here: &&Holding| {
                    here.custody.id() != found.custody.id() && here.rank() <= found.rank()
                };
                if let Some(here) = here.as_ref().filter(follows) {
                    found.custody = found.custody.following(&here.custody);
                }
                let is_bare = ["Elsewhere", "Deleted"].contains(&state);
                Some(if is_bare { Line::Bare(found) } else { Line::Payload(found) })
            }
        };
        let damage = value["damage"].as_str().map(|damage| match damage {
            "sidecar" => Damage::Sidecar,
            "bytes" => Damage::Payload,
            _ => Damage::Stranger,
        });
        let is_put_back = value["ledger_unknown"] == true;
        Some(Place { at: at.to_owned(), here, damage, line, is_put_back })
    }

    /// The words of a command, as the vectors have them, with the collection where it is run and the other one.
    fn words(command: &Command<'_>) -> String {
        let (words, other) = match command.act {
            Act::AcceptLedger => ("recover --restored", None),
            Act::Recover => ("recover", None),
            Act::Withdraw => ("recover --withdraw", None),
            Act::AcceptLoss => ("recover --accept-loss", None),
            Act::RecoverWith(other) => ("recover --with", Some(other)),
            Act::Repair => ("repair", None),
            Act::RepairFrom(other) => ("repair --from", Some(other)),
            Act::Reseal => ("repair --accept", None),
            Act::CopyFrom(other) => ("copy --from", Some(other)),
            Act::Delete => ("delete", None),
            Act::Promote(Discard::Accept, None) => ("promote --discard", None),
            Act::Promote(Discard::Accept, lost) => ("promote --discard --lost", lost),
            Act::Promote(Discard::Refuse, lost) => ("promote --lost", lost),
        };
        format!("{words} at {} other {}", command.at, other.unwrap_or("null"))
    }

    /// Each line has the collections in sight, with what lies there, and the remedy of each.
    #[test]
    fn the_remedies_are_those_of_the_model() {
        let (mut rows, mut count) = (BTreeSet::new(), 0);
        for text in include_str!("../../fixtures/remedies/views.jsonl").lines() {
            let vector: Value = serde_json::from_str(text).unwrap();
            let in_sight = vector["in_sight"].as_object().unwrap();
            let places = in_sight.iter().map(|(at, value)| place(at, value));
            let Some(places) = places.collect::<Option<Vec<_>>>() else { continue };
            for Place { at, .. } in &places {
                let known = &vector["remedy"][at];
                let said = |value: &Value| {
                    let text = |key: &str| value[key].to_string().replace('"', "");
                    // The model deletes a payload without a sidecar again; `repair` does that, as with a tombstone elsewhere.
                    if value["row"] == "6b" && value["command"] == "delete" {
                        return format!("repair at {} other null", text("at"));
                    }
                    format!("{} at {} other {}", text("command"), text("at"), text("other"))
                };
                let expected = (!known.is_null()).then(|| {
                    let lost = &known["if_lost"];
                    let lost = if lost.is_null() { String::new() } else { said(lost) };
                    (known["row"].as_str().unwrap().to_owned(), said(known), lost)
                });
                let found = remedy(&places, at).map(|found| {
                    rows.insert(found.row);
                    let (way, lost) = match &found.way {
                        Way::Run(command) => (words(command), String::new()),
                        Way::Wait(away, lost) => {
                            let lost = lost.as_ref().map(words).unwrap_or_default();
                            (format!("wait at {at} other {away}"), lost)
                        }
                        Way::Others => unreachable!(),
                    };
                    (found.row.number().to_owned(), way, lost)
                });
                assert_eq!(found, expected, "at {at} of {text}");
                count += 1;
            }
        }
        let silent = [Row::ReceiverFirst, Row::OthersFirst, Row::ForkCeded, Row::DeleteFirst];
        let named: Vec<_> = Row::all().iter().filter(|row| !silent.contains(row)).collect();
        assert_eq!(rows.iter().collect::<Vec<_>>(), named, "in {count} views");
    }
}

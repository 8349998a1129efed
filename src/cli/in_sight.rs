//! The collections in sight, which are asked for the remedies of an item.

use std::collections::BTreeMap;
use std::path::Path;

use urepo::clock::Clock as _;
use urepo::collection::Collection;
use urepo::custody::Holding;
use urepo::custody::remedy::{
    Act, Command, Condition, Damage, Place, Remedy, Row, Way, alternatives, condition,
    remedy as remedy_at,
};
use urepo::holdings::{JudgedHolding, Standing, holdings, places};
use urepo::identity::RepositoryName;
use urepo::item::State;

use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;
use super::human;
use super::printer::Verbosity;
use super::records;
use super::remedy::{self, Advice, CommandLine, Root, Word, is_damage};
use super::salvage::Salvage;

/// Limit on items whose remedies are printed, unless all are wanted.
pub(crate) const MOST_PRINTED: usize = 10;

/// Limit on items that are looked at for one command that mends them all.
const MOST_ASKED: usize = 1000;

/// The collections in sight, each id once.
pub(crate) struct InSight<'a> {
    context: &'a Context,
    /// The id of the collection in use, if there is one.
    in_use: Option<String>,
    collections: Vec<&'a Collection>,
    /// Other roots of these, such as backups: they do not speak, but may have what is lost.
    twins: Vec<&'a Collection>,
    /// The names of those in the settings that cannot be opened.
    missing: &'a [String],
}

/// The same, opened for this purpose.
pub(crate) struct Opened {
    in_use: Option<String>,
    collections: Vec<Collection>,
    missing: Vec<String>,
}

impl Context {
    /// The collection in use, those that the command line names and those of the settings, as far as they can be opened. Nothing is
    /// said of the others.
    pub(crate) fn opened_in_sight(&self) -> Opened {
        let in_use = match self.collection() {
            Ok(collection) => Some(collection),
            Err(failure) => {
                if failure.exit != Exit::NoCollection {
                    self.note_unresolved("", failure);
                }
                None
            }
        };
        let id = in_use.as_ref().map(|it| it.id().to_owned());
        let named = self.named_roots();
        let named = named.iter().filter_map(|root| {
            let opened = self.open(root);
            opened.inspect_err(|it| it.disk().into_iter().for_each(|it| self.note_unread(it))).ok()
        });
        let mut collections: Vec<_> = in_use.into_iter().chain(named).collect();
        let reachable = self.reachable();
        collections.extend(reachable.collections);
        collections.extend(reachable.twins);
        Opened { in_use: id, collections, missing: reachable.missing_names }
    }

    /// Gives a failure about an item the remedies of that item, unless it has them.
    pub(crate) fn advise(&self, failure: &mut Failure) {
        if failure.about.as_ref().is_some_and(|about| about.remedies.is_none()) {
            self.opened_in_sight().advise(self, failure);
        }
    }
}

impl Opened {
    pub(crate) fn in_sight<'a>(&'a self, context: &'a Context) -> InSight<'a> {
        let in_use = self.in_use.clone();
        InSight::of_all(context, in_use, &self.collections, &self.missing)
    }

    /// Gives a failure about an item the remedies of that item.
    pub(crate) fn advise(&self, context: &Context, failure: &mut Failure) {
        let Some(about) = &mut failure.about else { return };
        let in_sight = self.in_sight(context);
        let is_damaged = |it: &&Collection| about.damaged.as_deref() == Some(it.path());
        let damaged = self.collections.iter().filter(is_damaged);
        let damaged: Vec<_> = damaged.map(|it| it.id().to_owned()).collect();
        let remedies = in_sight.remedies_here(&about.name, &damaged);
        let original =
            (about.names_original && remedies.is_empty()).then(|| in_sight.original(&about.name));
        about.remedies = Some(remedies);
        if let Some(original) = original.flatten() {
            failure.hint = Some(original);
        }
    }
}

impl<'a> InSight<'a> {
    pub(crate) fn of_all(
        context: &'a Context,
        in_use: Option<String>,
        collections: impl IntoIterator<Item = &'a Collection>,
        missing: &'a [String],
    ) -> InSight<'a> {
        let (mut unique, mut twins): (Vec<&Collection>, Vec<_>) = Default::default();
        for collection in collections {
            match unique.iter().find(|known| known.id() == collection.id()) {
                None => unique.push(collection),
                Some(known) if known.path() != collection.path() => twins.push(collection),
                Some(_) => {}
            }
        }
        InSight { context, in_use, collections: unique, twins, missing }
    }

    /// The holdings of the item `name`, each with its collection; `None` where only one collection is in sight.
    pub(crate) fn holdings(
        &self,
        name: &RepositoryName,
    ) -> Option<Vec<(&'a Collection, JudgedHolding)>> {
        let found = (self.collections.len() > 1).then(|| holdings(name, &self.collections))?;
        Some(found.all.into_iter().map(|it| (self.collections[it.collection], it)).collect())
    }

    /// The remedies of the item `name`, in the order of the table. `damaged` are the ids of collections where its payload was
    /// found damaged.
    pub(crate) fn remedies(&self, name: &RepositoryName, damaged: &[String]) -> Vec<Advice> {
        let places = self.places(name, damaged);
        let all: Vec<_> = places.iter().map(|place| &*place.at).collect();
        self.advice(name, &places, &all)
    }

    /// The remedy in the collection in use, or else the remedies of all.
    fn remedies_here(&self, name: &RepositoryName, damaged: &[String]) -> Vec<Advice> {
        let here = self.in_use_alone(name, damaged);
        if here.is_empty() { self.remedies(name, damaged) } else { here }
    }

    /// The hint on the Original of the item `name`: the command that shows it, or the collection that has to come into sight.
    fn original(&self, name: &RepositoryName) -> Option<String> {
        let read = |it: &&Collection| Some(it.item(name).ok()?.sidecar().ok()?.0);
        let is_original =
            |it: &&&Collection| read(it).is_some_and(|sidecar| sidecar.state == State::Original);
        if let Some(found) = self.collections.iter().find(is_original) {
            let root = self.context.word_of(found.path());
            return Some(format!("`urepo -c {root} show {name}` shows its Original"));
        }
        let here = self.collections.iter().find(|it| Some(it.id()) == self.in_use.as_deref())?;
        let custody = read(here)?.custody;
        let holder = custody.holder();
        let called = self.context.called_by_id(holder, []);
        (holder != here.id()).then(|| match self.missing {
            [only] => format!("mount `{only}`, to which the Original belongs"),
            _ => format!(
                "the Original belongs to {called}: name it in the settings, below `[collections]`"
            ),
        })
    }

    /// All of them.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &'a Collection> + Clone + '_ {
        self.collections.iter().copied()
    }

    /// Whether `collection` is the one in use.
    pub(crate) fn is_in_use(&self, collection: &Collection) -> bool {
        self.in_use.as_deref() == Some(collection.id())
    }

    /// Whether the item `name` should be in `collection`, and is not.
    pub(crate) fn is_missing(&self, name: &RepositoryName, collection: &Collection) -> bool {
        let condition = condition(&self.places(name, &[]), collection.id());
        matches!(condition, Some(Condition::Missing | Condition::HolderWithout))
    }

    /// The command that mends the item `name` in `collection`.
    pub(crate) fn command_in(
        &self,
        collection: &Collection,
        name: &RepositoryName,
    ) -> Option<String> {
        let advice = self.advice(name, &self.places(name, &[]), &[collection.id()]);
        advice.first().and_then(|it| it.command.as_ref()).map(CommandLine::line)
    }

    /// The remedy in the collection in use.
    pub(crate) fn in_use_alone(&self, name: &RepositoryName, damaged: &[String]) -> Vec<Advice> {
        let places = self.places(name, damaged);
        let here: Vec<_> = self.in_use.as_deref().into_iter().collect();
        self.advice(name, &places, &here)
    }

    /// What mends the items of `found`, with the ids of the collections where their payload was found damaged, in lines: of ten
    /// items, unless all are wanted. With JSON, a record of each is written instead.
    pub(crate) fn steps(
        &self,
        found: &BTreeMap<RepositoryName, Vec<String>>,
    ) -> Result<Vec<String>, Failure> {
        let printer = &self.context.printer;
        let mut advised = Vec::new();
        for (name, damaged) in found {
            let remedies = self.remedies(name, damaged);
            if printer.json {
                records::remedy(name, remedies).map_or(Ok(()), |it| printer.record(&it))?;
            } else if !remedies.is_empty() {
                advised.push((name, remedies));
            }
            if advised.len() == MOST_ASKED && printer.verbosity <= Verbosity::Normal {
                break;
            }
        }
        let mut steps = remedy::steps_of_each(&advised, |_| false);
        if steps.len() > MOST_PRINTED && printer.verbosity <= Verbosity::Normal {
            advised.truncate(MOST_PRINTED);
            steps = remedy::steps_of_each(&advised, |_| false);
        }
        let told = advised.last().map_or(0, |(last, _)| found.range(..=*last).count());
        if let more @ 1.. = found.len() - told
            && !advised.is_empty()
        {
            steps.push(human::and_more(more));
        }
        Ok(steps)
    }

    /// How the ledger of `collection`, which is in sight and was put back, is accepted.
    pub(crate) fn accepted_ledger(&self, collection: &Collection) -> String {
        let words = vec![Word::Own("recover"), Word::Own("--restored")];
        let (at, is_in_use) = (self.root(collection.path()), self.is_in_use(collection));
        let command = CommandLine { at, is_in_use, is_of_future: false, words }.line();
        format!("{}: {command}", Row::LedgerPutBack.sentence())
    }

    fn places(&self, name: &RepositoryName, damaged: &[String]) -> Vec<Place> {
        // What cannot be read is out of sight.
        let mut unread = Vec::new();
        let mut places = places(name, &self.collections, &mut unread);
        unread.iter().filter_map(|(_, it)| it.disk()).for_each(|it| self.context.note_unread(it));
        for place in places.iter_mut().filter(|place| damaged.contains(&place.at)) {
            place.damage.get_or_insert(Damage::Payload);
            place.here = None;
        }
        places
    }

    fn advice(&self, name: &RepositoryName, places: &[Place], at: &[&str]) -> Vec<Advice> {
        let (mut found, mut ways) = (Vec::new(), Vec::new());
        for at in at {
            let Some((next, standing)) = remedy_at(places, at).zip(condition(places, at)) else {
                continue;
            };
            if next.row == Row::CopyBehind && self.is_current(name, at) {
                continue;
            }
            if !ways.contains(&next.way) {
                let is_damage = is_damage(standing, next.row);
                let standing = standing.to_string();
                found.push(Advice { standing, is_damage, ..self.printed(name, places, &next) });
                ways.push(next.way);
            }
        }
        found.sort_by_key(|advice| advice.row);
        found
    }

    fn printed(&self, name: &RepositoryName, places: &[Place], remedy: &Remedy<'_>) -> Advice {
        if let Some(advice) = self.salvage(name, remedy) {
            return advice;
        }
        let is_of_future = |at: &str| remedy.row == Row::Fork && self.is_of_future(places, at);
        let line = |command: &Command<'_>| CommandLine {
            is_of_future: is_of_future(command.at),
            ..self.command_line(name, remedy.row, command)
        };
        let (mut way, mut or) = (remedy.way.clone(), alternatives(places, remedy));
        if let Way::Run(best) = &mut way
            && is_of_future(best.at)
        {
            // A wrong clock chooses no line: of equal epochs, another is named first.
            let epoch = |at: &str| holding(places, at).map(|here| here.custody.epoch());
            let is_as_good =
                |it: &&mut Command<'_>| epoch(it.at) == epoch(best.at) && !is_of_future(it.at);
            if let Some(other) = or.iter_mut().find(is_as_good) {
                std::mem::swap(best, other);
            }
        }
        let mut or: Vec<_> = or.iter().map(line).collect();
        let (command, wait) = match &way {
            // `promote` asks every collection of the settings.
            Way::Run(command @ Command { act: Act::Promote(_, None), .. })
                if !self.missing.is_empty() =>
            {
                or.insert(0, line(command));
                for choice in &mut or {
                    for away in self.missing {
                        choice.words.extend([Word::Own("--lost"), Word::Value(away.into())]);
                    }
                }
                (None, self.missing.first().cloned())
            }
            Way::Run(command) => (Some(line(command)), None),
            Way::Wait(away, lost) => {
                or.extend(lost.as_ref().map(line));
                (None, Some(self.name_of(away)))
            }
            Way::Others => (None, None),
        };
        let standing = String::new();
        let unseen = self.missing.to_vec();
        Advice { standing, row: remedy.row, command, or, wait, is_damage: false, unseen }
    }

    /// Whether the Copy in the collection with the id `at` says the same as what speaks, though its custody is older.
    fn is_current(&self, name: &RepositoryName, at: &str) -> bool {
        let found = holdings(name, &self.collections);
        let is_it = |it: &&JudgedHolding| self.collections[it.collection].id() == at;
        found.all.iter().find(is_it).is_some_and(|it| it.standing == Standing::Current)
    }

    /// Whether the holding in the collection with the id `at` is dated more than a day in the future.
    fn is_of_future(&self, places: &[Place], at: &str) -> bool {
        let now = self.context.clock.now();
        holding(places, at).is_some_and(|here| here.changed.is_ahead_of(now))
    }

    /// The repair of an item of which the table, which knows holdings as a whole, has something given up.
    fn salvage(&self, name: &RepositoryName, remedy: &Remedy<'_>) -> Option<Advice> {
        let Way::Run(Command { at, act: Act::AcceptLoss | Act::Reseal }) = remedy.way else {
            return None;
        };
        let collection = self.collections.iter().find(|it| it.id() == at)?;
        let roots: Vec<_> = self.collections.iter().chain(&self.twins).copied().collect();
        let salvage = Salvage::find(self.context, name, collection, &roots)
            .inspect_err(|it| it.disk().into_iter().for_each(|it| self.context.note_unread(it)));
        let salvage = salvage.ok().flatten()?;
        let Salvage { at, from, .. } = salvage.is_whole().then_some(salvage)?;
        let from: Vec<_> = from.iter().map(|it| self.root(it)).collect();
        let words = CommandLine::words_of(Act::Repair, name, |_| Word::Own(""), (&[], &from));
        let is_in_use = self.in_use.as_deref() == Some(at.id());
        let command =
            CommandLine { at: self.root(at.path()), is_in_use, is_of_future: false, words };
        Some(Advice {
            standing: String::new(),
            row: Row::Damaged,
            command: Some(command),
            or: Vec::new(),
            wait: None,
            is_damage: false,
            unseen: Vec::new(),
        })
    }

    fn command_line(&self, name: &RepositoryName, row: Row, command: &Command<'_>) -> CommandLine {
        let root = |id: &str| {
            let known = self.collections.iter().find(|known| known.id() == id);
            self.root(known.map_or(Path::new(id), |known| known.path()))
        };
        // A command looks into the collections of the settings by itself.
        let is_unknown = |other: &&&Collection| {
            let mut known = self.context.config.collections.values();
            other.id() != command.at && !known.any(|known| *known.value == *other.path())
        };
        let unknown = self.collections.iter().filter(is_unknown);
        // Of these, the ledger says what is to be done.
        let looks_on = !matches!(row, Row::AboveLine | Row::LedgerPutBack | Row::Unknown);
        let others: Vec<_> =
            unknown.filter(|_| looks_on).map(|other| self.root(other.path())).collect();
        let lost = match command.act {
            Act::Promote(_, Some(away)) => self.names_of(away),
            _ => Vec::new(),
        };
        let of_id = |id: &str| Word::Root(root(id));
        let words = CommandLine::words_of(command.act, name, of_id, (&lost, &others));
        let is_in_use = self.in_use.as_deref() == Some(command.at);
        CommandLine { at: root(command.at), is_in_use, is_of_future: false, words }
    }

    fn root(&self, path: &Path) -> Root {
        Root { path: path.to_path_buf(), typed: self.context.word_of(path) }
    }

    /// The name of a collection that is not in sight: the only one of the settings that is missing, or its id.
    fn name_of(&self, away: &str) -> String {
        match self.missing {
            [only] => only.clone(),
            _ => away.to_owned(),
        }
    }

    /// The names by which a command knows that collection: nothing but the id is sure.
    fn names_of(&self, away: &str) -> Vec<String> {
        let only = match self.missing {
            [only] => Some(only.clone()),
            _ => None,
        };
        only.into_iter().chain([away.to_owned()]).collect()
    }
}

/// The holding in the collection with the id `at`.
fn holding<'p>(places: &'p [Place], at: &str) -> Option<&'p Holding> {
    places.iter().find(|place| place.at == at)?.here.as_ref()
}

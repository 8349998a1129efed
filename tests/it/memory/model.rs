//! No date twice, whatever is restored, lost or killed in whatever order, while real time goes forward.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// What happens to a collection, from its distributor's point of view.
#[derive(Clone, Debug)]
enum Event {
    /// Dates are given; of the last one, an item is made or not.
    Issue {
        setting: &'static str,
        count: usize,
        kept: bool,
    },
    /// All items go elsewhere.
    Migrate,
    Backup,
    /// The memory becomes what it was at a backup.
    RestoreMemory(usize),
    RestoreNames(usize),
    LoseMemory,
    /// The machine forgets: its other collections and backups with it.
    LoseHostState,
    /// The collection moves to another machine.
    Move,
    Recover,
    /// Milliseconds pass.
    Pass(u32),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let setting = prop_oneof![Just("auto"), Just("1"), Just("60"), Just("0.01")];
    let event = prop_oneof![
        6 => (setting, 1..4_usize, any::<bool>())
            .prop_map(|(setting, count, kept)| Event::Issue { setting, count, kept }),
        1 => Just(Event::Migrate),
        3 => Just(Event::Backup),
        3 => (0..8_usize).prop_map(Event::RestoreMemory),
        2 => (0..8_usize).prop_map(Event::RestoreNames),
        1 => Just(Event::LoseMemory),
        1 => Just(Event::LoseHostState),
        1 => Just(Event::Move),
        1 => Just(Event::Recover),
        3 => (0..70_000_u32).prop_map(Event::Pass),
    ];
    prop::collection::vec(event, 1..24)
}

/// A place, what was ever given there, and its backups.
struct Model {
    place: Place,
    given: BTreeSet<Instant>,
    backups: Vec<(Option<Vec<u8>>, Option<Instant>)>,
    /// Whether the memory is that of a backup, and only the machine knows the later dates.
    is_restored: bool,
    machines: u32,
}

impl Model {
    fn apply(&mut self, event: &Event) {
        let memory = self.place.memory();
        match event {
            Event::Issue { setting, count, kept } => {
                let issue = || {
                    let mut distributor = self.place.distributor(setting);
                    distributor.issue(*count, &self.place.names, PATIENCE)
                };
                let issued = match issue() {
                    Err(DistributorError::OtherMachine { .. }) => {
                        self.accept();
                        issue()
                    }
                    issued => issued,
                };
                let dates = issued.unwrap().dates;
                self.is_restored = false;
                for date in &dates {
                    assert!(self.given.insert(*date), "{date} is given twice");
                }
                if *kept {
                    *self.place.names.newest.borrow_mut() = dates.last().copied();
                }
            }
            Event::Migrate => *self.place.names.newest.borrow_mut() = None,
            Event::Backup => {
                let newest = *self.place.names.newest.borrow();
                self.backups.push((std::fs::read(&memory).ok(), newest));
            }
            Event::RestoreMemory(at) => {
                if let Some((Some(bytes), _)) = self.backup(*at) {
                    std::fs::write(&memory, bytes).unwrap();
                    self.is_restored = true;
                    // Without the memory of the machine, a person has to say so.
                    if !self.place.host_state.dir.as_ref().unwrap().exists() {
                        self.accept();
                    }
                }
            }
            Event::RestoreNames(at) => {
                if let Some((_, newest)) = self.backup(*at) {
                    *self.place.names.newest.borrow_mut() = newest;
                }
            }
            Event::LoseMemory => drop(std::fs::remove_file(&memory)),
            Event::LoseHostState => {
                let _ = std::fs::remove_dir_all(self.place.host_state.dir.as_ref().unwrap());
                // Then nothing here knows the later dates: a person has to say so.
                if self.is_restored {
                    self.accept();
                }
                self.backups.clear();
            }
            Event::Move => {
                self.machines += 1;
                self.place.agent.machine_id = format!("machine-{}", self.machines);
            }
            Event::Recover => {
                let caught_up =
                    self.place.distributor("auto").catch_up(&self.place.names, PATIENCE);
                if !matches!(caught_up, Err(DistributorError::OtherMachine { .. })) {
                    caught_up.unwrap();
                }
            }
            Event::Pass(milliseconds) => {
                urepo::clock::Clock::pause(
                    &self.place.clock,
                    Duration::from_millis(u64::from(*milliseconds) + 51),
                );
            }
        }
    }

    fn backup(&self, at: usize) -> Option<(Option<Vec<u8>>, Option<Instant>)> {
        self.backups.get(at % self.backups.len().max(1)).cloned()
    }

    /// A person says that the memory was restored or moved.
    fn accept(&self) {
        let distributor = self.place.distributor("auto");
        distributor.restored(&self.place.names, PATIENCE).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_date_is_given_twice(events in events()) {
        let place = Place::new();
        let host_state = HostState { dir: Some(place.scratch.path().join("state")) };
        let place = Place { host_state, ..place };
        let mut model =
            Model { place, given: BTreeSet::new(), backups: Vec::new(), is_restored: false, machines: 1 };
        for event in &events {
            model.apply(event);
        }
    }
}

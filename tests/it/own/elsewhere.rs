//! Names of the future that only another collection has: they are not given again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use urepo::clock::Clock;
use urepo::collection::{CollectionError, Subsystem, Takeover};
use urepo::distributor::{DistributorError, FutureDate, Notice, Unseen};
use urepo::identity::Instant;

use super::sites::{AHEAD, EARLY, LATER, Sites};
use crate::memory::restore_in_place;

fn is_unseen(error: &CollectionError) -> bool {
    matches!(error, CollectionError::Distributor(DistributorError::Unseen { .. }))
}

#[test]
fn a_shared_memory_that_is_taken_back_gives_no_name_of_the_other_collection() {
    let sites = Sites::new(true);
    for name in ["one", "two"] {
        sites.init(name, Takeover::Refuse, &[]);
    }
    sites.deposit("one", "2026-11-21T02:13:20Z");
    let given = sites.deposit("two", AHEAD);
    // The memory knows this one, which is the last, and is not in the way of the one before.
    let last = sites.deposit("two", "2026-11-21T03:15:20Z");
    sites.clock.set(EARLY);
    sites.take_over("one", FutureDate::Forget, Unseen::Refuse).unwrap();
    assert!(sites.deposit("one", EARLY) < given);
    for time in [LATER, "2026-11-21T03:15:30Z"] {
        let new = sites.deposit("one", time);
        assert!(new != given && new != last, "{new} is given twice");
    }
}

#[test]
fn a_memory_is_not_taken_back_beside_a_collection_that_cannot_be_looked_at() {
    let sites = Sites::new(true);
    for name in ["one", "two"] {
        sites.init(name, Takeover::Refuse, &[]);
        sites.deposit(name, AHEAD);
    }
    sites.clock.set(EARLY);
    std::fs::rename(sites.path("two"), sites.path("away")).unwrap();
    let error = sites.take_over("one", FutureDate::Forget, Unseen::Refuse).unwrap_err();
    assert!(is_unseen(&error), "{error}");
    sites.clock.set(EARLY);
    assert!(sites.try_deposit("one").is_err(), "the memory is as it was");
    // Nothing is set back, so nothing has to be known.
    sites.take_over("one", FutureDate::Keep, Unseen::Refuse).unwrap();
    sites.take_over("one", FutureDate::Forget, Unseen::Accept).unwrap();
    sites.deposit("one", EARLY);
}

#[test]
fn a_collection_made_from_a_mirror_gives_no_name_of_the_mirror() {
    for is_there in [true, false] {
        let sites = Sites::new(false);
        sites.init("one", Takeover::Refuse, &[]);
        sites.deposit("one", "2026-11-21T02:13:20Z");
        let given = sites.deposit("one", AHEAD);
        // The mirror has the item, or its inventory has recorded that it left.
        std::fs::rename(sites.path("one"), sites.path("mirror")).unwrap();
        if !is_there {
            std::fs::remove_dir_all(sites.path("mirror/example.org")).unwrap();
        }
        sites.clock.set(EARLY);
        sites.init("two", Takeover::Refuse, &[sites.open("mirror")]);
        assert!(sites.deposit("two", EARLY) < given);
        let new = sites.deposit("two", LATER);
        assert_ne!(new, given, "given twice; on disk: {is_there}");
    }
}

#[test]
fn a_collection_that_takes_a_prefix_gives_no_name_of_the_one_before() {
    let sites = Sites::new(false);
    sites.init("one", Takeover::Refuse, &[]);
    sites.deposit("one", "2026-11-21T02:13:20Z");
    let given = sites.deposit("one", AHEAD);
    sites.clock.set(EARLY);
    assert_eq!(sites.init("two", Takeover::Accept, &[]), []);
    assert!(sites.deposit("two", EARLY) < given);
    let second = sites.deposit("two", LATER);
    assert_ne!(second, given);
    // And back again.
    sites.clock.set("2026-11-21T02:15:20Z");
    sites.take_over("one", FutureDate::Forget, Unseen::Refuse).unwrap();
    let new = sites.deposit("one", LATER);
    assert!(new != given && new != second, "{new} is given twice");
}

#[test]
fn who_takes_a_prefix_of_a_collection_that_is_gone_learns_what_that_risks() {
    let sites = Sites::new(false);
    sites.init("one", Takeover::Refuse, &[]);
    std::fs::rename(sites.path("one"), sites.path("away")).unwrap();
    let notices = sites.init("two", Takeover::Accept, &[]);
    assert!(matches!(&notices[..], [Notice::Unseen { root, .. }] if root.ends_with("one")));
    assert!(notices[0].to_string().contains("can be issued a second time"), "{}", notices[0]);
    std::fs::rename(sites.path("away"), sites.path("one")).unwrap();
    std::fs::rename(sites.path("two"), sites.path("away")).unwrap();
    let error = sites.take_over("one", FutureDate::Keep, Unseen::Refuse).unwrap_err();
    assert!(is_unseen(&error), "{error}");
    sites.take_over("one", FutureDate::Keep, Unseen::Accept).unwrap();
    sites.deposit("one", EARLY);
}

/// By then only the memory knows who issued before.
#[test]
fn a_take_over_that_failed_and_is_repeated_gives_no_name_of_the_one_before() {
    let mut sites = Sites::new(false);
    sites.register.known.clear();
    sites.init("one", Takeover::Refuse, &[]);
    sites.deposit("one", "2026-11-21T02:13:20Z");
    sites.init("two", Takeover::Accept, &[]);
    let given = sites.deposit("two", AHEAD);
    // A clock without a battery.
    sites.clock.set("1970-01-01T00:00:10Z");
    let error = sites.take_over("one", FutureDate::Keep, Unseen::Refuse).unwrap_err();
    assert!(error.to_string().contains("the clock says 1970"), "{error}");
    sites.clock.set(EARLY);
    sites.take_over("one", FutureDate::Keep, Unseen::Refuse).unwrap();
    sites.deposit("one", EARLY);
    assert_ne!(sites.deposit("one", LATER), given);
}

#[test]
fn a_mirror_without_the_memory_that_was_shared_does_not_stop_init() {
    let mut sites = Sites::new(true);
    sites.init("one", Takeover::Refuse, &[]);
    let given = sites.deposit("one", AHEAD);
    std::fs::rename(sites.path("one"), sites.path("mirror")).unwrap();
    std::fs::remove_dir_all(sites.path("memory")).unwrap();
    (sites.is_shared, sites.register.known) = (false, Vec::new());
    sites.clock.set(EARLY);
    let notices = sites.init("two", Takeover::Refuse, &[sites.open("mirror")]);
    let unseen =
        |notice: &Notice| matches!(notice, Notice::Unseen { root, .. } if root.ends_with("mirror"));
    assert_eq!(notices.iter().filter(|notice| unseen(notice)).count(), 1, "{notices:?}");
    sites.deposit("two", EARLY);
    assert_ne!(sites.deposit("two", LATER), given);
}

#[test]
fn a_collection_that_takes_an_address_gives_no_ibip_of_the_one_before() {
    let mut sites = Sites::new(false);
    sites.register.known.clear();
    let subsystem = |host: &str| {
        let ip = Some("150.163.2.10".parse().unwrap());
        Subsystem { ip, ..Subsystem::new(host.parse().unwrap()) }
    };
    sites.init_of(subsystem("archive.example.org"), "one", Takeover::Refuse, &[]);
    sites.deposit("one", "2026-11-21T02:13:20Z");
    let given = sites.deposit("one", AHEAD).instant();
    sites.clock.set(EARLY);
    sites.init_of(subsystem("maps.example.org"), "two", Takeover::Accept, &[]);
    sites.deposit("two", EARLY);
    let second = sites.deposit("two", LATER).instant();
    assert_ne!(second, given);
    // And back again.
    sites.clock.set("2026-11-21T02:15:20Z");
    sites.take_over("one", FutureDate::Forget, Unseen::Refuse).unwrap();
    let new = sites.deposit("one", LATER).instant();
    assert!(new != given && new != second, "{new} is given twice");
}

/// What happens to two collections.
#[derive(Clone, Debug)]
enum Event {
    /// An item is deposited in the one or the other.
    Issue(bool),
    TakeOver(bool, FutureDate),
    /// The clock is set to so many minutes after the beginning.
    Clock(u8),
    /// The same, and the one or the other takes its memory back.
    SetBack(u8, bool),
    Backup,
    /// The memory of the one or the other becomes what it was at a backup.
    Restore(bool, usize),
    LoseMemory(bool),
    /// Only the file beside it is lost.
    LoseReserved(bool),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let future = prop_oneof![Just(FutureDate::Keep), Just(FutureDate::Forget)];
    let event = prop_oneof![
        8 => any::<bool>().prop_map(Event::Issue),
        6 => (0..4_u8).prop_map(Event::Clock),
        2 => (any::<bool>(), future).prop_map(|(at, future)| Event::TakeOver(at, future)),
        // A clock that was ahead is found out.
        3 => (0..4_u8, any::<bool>()).prop_map(|(minutes, at)| Event::SetBack(minutes, at)),
        1 => Just(Event::Backup),
        1 => (any::<bool>(), 0..4_usize).prop_map(|(at, backup)| Event::Restore(at, backup)),
        1 => any::<bool>().prop_map(Event::LoseMemory),
        1 => any::<bool>().prop_map(Event::LoseReserved),
    ];
    prop::collection::vec(event, 1..50)
}

/// The files of a directory and their bytes.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

pub(super) fn files(dir: &Path) -> Files {
    let paths = std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

pub(super) fn restore(dir: &Path, backup: &Files) {
    std::fs::create_dir_all(dir).unwrap();
    for path in files(dir).keys().filter(|path| !backup.contains_key(*path)) {
        std::fs::remove_file(path).unwrap();
    }
    for (path, bytes) in backup {
        if path.exists() {
            restore_in_place(path, bytes);
        } else {
            std::fs::write(path, bytes).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn two_collections_never_give_one_name(is_shared in any::<bool>(), events in events()) {
        let sites = Sites::new(is_shared);
        sites.init("one", Takeover::Refuse, &[]);
        sites.init("two", if is_shared { Takeover::Refuse } else { Takeover::Accept }, &[]);
        let name = |at: &bool| if *at { "one" } else { "two" };
        let beginning: Instant = sites.clock.now();
        let set = |minutes: u8| {
            let seconds = 60 * i128::from(minutes) * urepo::identity::SECOND;
            sites.clock.set(&beginning.checked_add(seconds).unwrap().to_string());
        };
        let (mut given, mut backups) = (Vec::new(), Vec::new());
        for event in &events {
            match event {
                Event::Issue(at) => if let Ok(new) = sites.try_deposit(name(at)) {
                    prop_assert!(!given.contains(&new), "{} is given twice", new);
                    given.push(new);
                },
                Event::Clock(minutes) => set(*minutes),
                Event::SetBack(minutes, at) => {
                    set(*minutes);
                    drop(sites.take_over(name(at), FutureDate::Forget, Unseen::Refuse));
                }
                // It is refused before the clock reaches what it counts.
                Event::TakeOver(at, future) => {
                    let mirrors = [sites.open(name(&!at))];
                    let (at, unseen) = (name(at), Unseen::Refuse);
                    drop(sites.take_over_from(&mirrors, at, *future, unseen));
                }
                Event::Backup => {
                    backups.push(["one", "two"].map(|name| files(&sites.memory(name))));
                }
                Event::Restore(at, backup) => {
                    if let Some(backup) = backups.get(backup % backups.len().max(1)) {
                        restore(&sites.memory(name(at)), &backup[usize::from(!at)]);
                    }
                }
                Event::LoseMemory(at) => {
                    std::fs::remove_dir_all(sites.memory(name(at))).unwrap();
                    std::fs::create_dir(sites.memory(name(at))).unwrap();
                }
                Event::LoseReserved(at) => drop(std::fs::remove_file(sites.reserved(name(at)))),
            }
        }
    }
}

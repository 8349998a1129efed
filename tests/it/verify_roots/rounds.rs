//! Going round a collection: what was verified is not verified again too soon, damage always is.

mod faults;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use urepo::collection::{Collection, Names};
use urepo::disk::{Operation, Watch, Watcher};
use urepo::interrupt::Interrupt;
use urepo::progress::NoProgress;
use urepo::verify::Code::{ItemVanished, Unreadable, Unrecorded};
use urepo::verify::{Depth, ItemReport, Options, Report, Round, Rounds, Summary, verify_in_rounds};

use super::Roots;
use crate::support::{PATIENCE, TestClock, agent, tree};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A collection of one item a minute, and the time.
struct Night {
    roots: Roots,
    collection: Collection,
    clock: TestClock,
}

fn name(minute: usize) -> String {
    format!("example.org/archive/2026/11.21.02.{minute:02}")
}

impl Night {
    fn new(items: usize) -> Night {
        let roots = Roots::new(["a"]);
        (0..items).for_each(|minute| roots.item("a", &name(minute), "content", |_| {}));
        let collection = roots.open().swap_remove(0);
        Night { roots, collection, clock: TestClock::at("2026-11-22T03:00:00Z") }
    }

    fn damage(&self, minute: usize) {
        let path = self.roots.path("a").join(name(minute)).join("doc/a.txt");
        std::fs::write(path, "CONTENT").unwrap();
    }

    /// The minutes of the items that a run verifies, and how it ends.
    fn run(&self, older_than: Option<Duration>, limit: Option<Duration>) -> (Vec<usize>, Summary) {
        self.run_until(older_than, limit, &Interrupt::default(), |_| ControlFlow::Continue(()))
    }

    fn run_until(
        &self,
        older_than: Option<Duration>,
        time_limit: Option<Duration>,
        interrupt: &Interrupt,
        mut go_on: impl FnMut(usize) -> ControlFlow<()>,
    ) -> (Vec<usize>, Summary) {
        let agent = agent();
        let clock = &self.clock;
        let rounds = Rounds { clock, agent: &agent, lock_wait: PATIENCE, older_than, time_limit };
        let options = Options { depth: Depth::Full, jobs: 1 };
        let mut verified = Vec::new();
        let names = Names::default();
        // What the ledger says has tests of its own: these items were put there by hand.
        let is_gone =
            |item: &ItemReport| item.findings.as_slice().iter().any(|it| it.code == ItemVanished);
        let report = |report| match report {
            Report::Tree(it) if [Unrecorded, Unreadable].contains(&it.code) => {
                ControlFlow::Continue(())
            }
            Report::Item(item) if is_gone(&item) => ControlFlow::Continue(()),
            Report::Item(item) => {
                let minute = item.name.as_str().rsplit('.').next().unwrap().parse().unwrap();
                verified.push(minute);
                go_on(minute)
            }
            Report::Tree(finding) => panic!("{finding:?}"),
        };
        let collection = &self.collection;
        let ran =
            verify_in_rounds(collection, &names, options, &rounds, &NoProgress, interrupt, report);
        (verified, ran.unwrap())
    }

    /// The items that have a date.
    fn dated(&self) -> Vec<usize> {
        let Ok(text) = std::fs::read_to_string(self.dates()) else { return Vec::new() };
        text.lines().map(|line| line[9..11].parse().unwrap()).collect()
    }

    fn dates(&self) -> std::path::PathBuf {
        self.roots.path("a/.urepo/verified/example.org+archive+2026")
    }

    fn round(&self) -> Option<String> {
        std::fs::read_to_string(self.roots.path("a/.urepo/verified/round")).ok()
    }
}

/// The time for one item, which every run has.
const NO_TIME: Option<Duration> = Some(Duration::ZERO);

#[test]
fn every_full_run_keeps_the_dates_of_what_is_whole() {
    let night = Night::new(3);
    night.damage(1);
    let (verified, summary) = night.run(None, None);
    assert_eq!(verified, [0, 1, 2]);
    assert_eq!((summary.damaged_items, summary.skipped, summary.round), (1, 0, None));
    assert_eq!(night.dated(), [0, 2]);
    let text = std::fs::read_to_string(night.dates()).unwrap();
    let (leaf, date) = text.lines().next().unwrap().split_once(' ').unwrap();
    assert_eq!(leaf, "11.21.02.00");
    assert!(date.starts_with("2026-11-22T03:00:00.") && date.ends_with('Z'), "{date}");
    // Nothing is left of the making of it.
    let kept: Vec<_> = tree(&night.roots.path("a/.urepo/verified")).into_iter().collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    // Without being asked for, nothing is skipped.
    assert_eq!(night.run(None, None).0, [0, 1, 2]);
}

#[test]
fn what_was_verified_recently_is_skipped() {
    let night = Night::new(3);
    night.damage(1);
    night.run(None, None);
    night.clock.set("2026-12-21T03:00:00Z");
    let (verified, summary) = night.run(Some(30 * DAY), None);
    assert_eq!((verified, summary.skipped, summary.items), (vec![1], 2, 1));
    assert!(summary.is_damage() && !summary.out_of_time);
    assert_eq!(night.dated(), [0, 2], "the dates of what is skipped stay");
    night.clock.set("2026-12-22T04:00:00Z");
    assert_eq!(night.run(Some(30 * DAY), None).0, [0, 1, 2]);
    assert_eq!(night.run(Some(30 * DAY), None).0, [1]);
    // A clock that was ahead once does not keep items from being verified.
    night.clock.set("2026-12-01T00:00:00Z");
    assert_eq!(night.run(Some(30 * DAY), None).0, [0, 1, 2]);
}

#[test]
fn runs_with_a_time_limit_go_round() {
    let night = Night::new(3);
    for (minute, skipped) in [(0, 0), (1, 1)] {
        let (verified, summary) = night.run(None, NO_TIME);
        assert_eq!((verified, summary.skipped), (vec![minute], skipped));
        assert_eq!((summary.round, summary.out_of_time), (Some(Round::Open), true));
        assert!(!summary.interrupted && !summary.is_damage());
        let begun = night.round().unwrap();
        assert!(begun.starts_with("2026-11-22T03:00:00."), "{begun}");
    }
    let (verified, summary) = night.run(None, NO_TIME);
    assert_eq!((verified, summary.skipped), (vec![2], 2));
    assert_eq!((summary.round, summary.out_of_time), (Some(Round::Complete), false));
    assert_eq!((night.round(), night.dated()), (None, vec![0, 1, 2]));
    // The next one begins anew, with items that came meanwhile in their place.
    night.roots.item("a", "example.org/archive/2025/01.01.00.59", "content", |_| {});
    for minute in [59, 0, 1, 2] {
        assert_eq!(night.run(None, NO_TIME).0, [minute]);
    }
    assert_eq!(night.round(), None);
}

#[test]
fn a_run_with_time_enough_ends_the_round() {
    let night = Night::new(3);
    night.run(None, NO_TIME);
    let (verified, summary) = night.run(None, Some(DAY));
    assert_eq!((verified, summary.round), (vec![1, 2], Some(Round::Complete)));
    assert_eq!(night.round(), None);
    let (verified, summary) = night.run(None, Some(DAY));
    assert_eq!((verified, summary.round), (vec![0, 1, 2], Some(Round::Complete)));
}

#[test]
fn a_time_limit_and_an_age_make_no_round() {
    let night = Night::new(3);
    for minute in [0, 1] {
        let (verified, summary) = night.run(Some(30 * DAY), NO_TIME);
        assert_eq!((verified, summary.round), (vec![minute], Some(Round::Open)));
        assert_eq!(night.round(), None);
    }
    assert_eq!(night.run(Some(30 * DAY), NO_TIME).0, [2]);
    let (verified, summary) = night.run(Some(30 * DAY), NO_TIME);
    assert_eq!((verified, summary.skipped), (vec![], 3));
    assert_eq!((summary.round, summary.out_of_time), (Some(Round::Complete), false));
}

#[test]
fn what_was_verified_before_a_stop_keeps_its_date() {
    let night = Night::new(5);
    night.run(None, None);
    night.clock.set("2026-12-24T03:00:00Z");
    let interrupt = Interrupt::default();
    let stop = |minute| {
        if minute == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (verified, summary) = night.run_until(None, None, &interrupt, stop);
    assert_eq!((verified, summary.interrupted), (vec![0, 1], true));
    // Those after it keep the dates that they had.
    assert_eq!(night.dated(), [0, 1, 2, 3, 4]);
    assert_eq!(night.run(Some(7 * DAY), None).0, [2, 3, 4]);
    // So does a round that is interrupted.
    night.clock.set("2027-01-24T03:00:00Z");
    let (verified, summary) = night.run_until(None, Some(DAY), &interrupt, stop);
    assert_eq!((verified, summary.round), (vec![0, 1], Some(Round::Open)));
    assert!(night.round().is_some());
    let (verified, summary) = night.run(None, Some(DAY));
    assert_eq!((verified, summary.skipped), (vec![2, 3, 4], 2));
}

#[test]
fn an_item_that_was_damaged_since_loses_its_date() {
    let night = Night::new(3);
    night.run(None, None);
    night.damage(1);
    night.run(None, None);
    assert_eq!(night.dated(), [0, 2]);
    // It is skipped by nothing, until it is whole again.
    assert_eq!(night.run(Some(DAY), None).0, [1]);
    night.roots.item("a", &name(1), "content", |_| {});
    assert_eq!(night.run(Some(DAY), None).0, [1]);
    assert_eq!(night.run(Some(DAY), None).0, [0; 0]);
}

/// A round that is in progress has the dates; what another run finds damaged meanwhile keeps none.
#[test]
fn what_is_found_damaged_during_a_round_is_not_skipped_later() {
    let night = Night::new(3);
    night.run(None, None);
    let (agent, clock) = (agent(), &night.clock);
    let rounds =
        Rounds { clock, agent: &agent, lock_wait: DAY, older_than: None, time_limit: None };
    let minutes = |it: &[usize]| it.iter().map(|it| name(*it).parse().unwrap()).collect::<Vec<_>>();
    let names = minutes(&[0]);
    let interrupt = Interrupt::default();
    let find = |minute| {
        if minute == 1 {
            night.damage(0);
            rounds.forget(&night.collection, &names, &interrupt);
        }
        ControlFlow::Continue(())
    };
    let (verified, summary) = night.run_until(None, None, &interrupt, find);
    assert_eq!((verified, summary.damaged_items), (vec![0, 1, 2], 0));
    assert_eq!(night.dated(), [1, 2]);
    let kept = tree(&night.roots.path("a/.urepo/verified"));
    assert_eq!(kept.len(), 2, "the note is gone: {kept:?}");
    // A run that is killed leaves the note to the next, also to one that writes no dates.
    rounds.forget(&night.collection, &names, &interrupt);
    let find = |_| {
        rounds.forget(&night.collection, &minutes(&[1, 2]), &interrupt);
        ControlFlow::Break(())
    };
    assert_eq!(night.run_until(None, None, &interrupt, find).0, [0]);
    let note = night.roots.path("a/.urepo/verified/+damaged-0000000000000000");
    std::fs::write(&note, format!("no name\n{}\n", name(2))).unwrap();
    assert_eq!(night.run(None, None).1.damaged_items, 1);
    std::fs::write(&note, format!("{}\n", name(2))).unwrap();
    assert_eq!(night.run(Some(DAY), None).0, [0, 2]);
    assert!(!note.exists());
}

#[test]
fn dates_of_items_that_are_gone_go() {
    let night = Night::new(3);
    night.run(None, None);
    std::fs::remove_dir_all(night.roots.path("a").join(name(1))).unwrap();
    assert_eq!(night.run(Some(DAY), None).1.skipped, 2);
    assert_eq!(night.dated(), [0, 2]);
    for minute in [0, 2] {
        std::fs::remove_dir_all(night.roots.path("a").join(name(minute))).unwrap();
    }
    night.roots.item("a", &name(7), "content", |_| {});
    night.damage(7);
    night.run(None, None);
    assert!(!night.dates().exists(), "a file without lines is none");
}

/// Prefixes and years have a file each; those that are cut off keep theirs as it was.
#[test]
fn each_year_of_a_prefix_has_its_dates() {
    let night = Night::new(2);
    for other in [
        "Example.org/Archive/2026/11.21.02.05",
        "example.org/archive/2027/11.21.02.06",
        "example.org/maps.8080/2026/11.21.02.07",
    ] {
        night.roots.item("a", other, "content", |_| {});
    }
    assert_eq!(night.run(None, None).0, [0, 1, 5, 6, 7]);
    assert_eq!(night.dated(), [0, 1, 5], "two spellings of a prefix are one");
    let kept = tree(&night.roots.path("a/.urepo/verified"));
    let files: Vec<_> = kept.iter().filter_map(|line| line.split_once(' ')).collect();
    let files: Vec<_> =
        files.iter().map(|(name, _)| *name).filter(|name| *name != "lock").collect();
    assert_eq!(
        files,
        ["example.org+archive+2026", "example.org+archive+2027", "example.org+maps.8080+2026"]
    );
    let stop = |minute| {
        if minute == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    night.run_until(None, None, &Interrupt::default(), stop);
    assert_eq!(night.run(Some(DAY), None).1.skipped, 5);
}

/// More than fits into a block, across runs that are cut short.
#[test]
fn many_dates_survive_many_runs() {
    let night = Night::new(0);
    let root = night.roots.path("a");
    let items = 2000;
    for second in 0..items {
        let name = format!("example.org/archive/2026/11.21.02.13.30.{second:06}");
        super::write_item(&root, &name, "", |_| {});
    }
    let interrupt = Interrupt::default();
    let mut left = 300;
    let stop = |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (first, _) = night.run_until(None, Some(DAY), &interrupt, stop);
    let (second, summary) = night.run(None, Some(DAY));
    assert_eq!((first.len(), second.len() as u64, summary.skipped), (300, items - 300, 300));
    assert_eq!(summary.round, Some(Round::Complete));
    assert_eq!(night.run(Some(DAY), None).1.skipped, items);
}

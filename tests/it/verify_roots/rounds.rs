//! Going round a collection: what was verified is not verified again too soon, damage always is.

use std::ops::ControlFlow;
use std::time::Duration;

use urepo::collection::{Collection, Names};
use urepo::interrupt::Interrupt;
use urepo::progress::NoProgress;
use urepo::verify::Code::{ItemVanished, Unreadable, Unrecorded};
use urepo::verify::{
    Depth, ItemReport, Options, Report, Round, Rounds, Summary, note_damaged, verify_in_rounds,
};

use super::Roots;
use crate::support::TestClock;

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
    fn run(&self, limit: Option<Duration>) -> (Vec<usize>, Summary) {
        self.run_until(limit, |_| ControlFlow::Continue(()))
    }

    fn run_until(
        &self,
        time_limit: Option<Duration>,
        mut go_on: impl FnMut(usize) -> ControlFlow<()>,
    ) -> (Vec<usize>, Summary) {
        let (rounds, interrupt) = (Rounds { clock: &self.clock, time_limit }, Interrupt::default());
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
            verify_in_rounds(collection, &names, options, &rounds, &NoProgress, &interrupt, report);
        (verified, ran.unwrap())
    }

    fn note(&self) -> std::path::PathBuf {
        self.roots.path("a/.urepo/round")
    }

    /// The lines of the note, with the minutes of the names.
    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.note()).unwrap_or_default();
        text.lines().map(|line| line.replace("example.org/archive/2026/11.21.02.", "")).collect()
    }
}

/// The time for one item, which every run has.
const NO_TIME: Option<Duration> = Some(Duration::ZERO);

#[test]
fn runs_with_a_time_limit_go_round() {
    let night = Night::new(3);
    for (minute, skipped) in [(0, 0), (1, 1)] {
        let (verified, summary) = night.run(NO_TIME);
        assert_eq!((verified, summary.skipped), (vec![minute], skipped));
        assert_eq!((summary.round, summary.out_of_time), (Some(Round::Open), true));
        assert!(!summary.interrupted && !summary.is_damage());
        assert_eq!(night.lines(), [format!("at * {minute:02}")]);
    }
    let (verified, summary) = night.run(NO_TIME);
    assert_eq!((verified, summary.skipped), (vec![2], 2));
    assert_eq!((summary.round, summary.out_of_time), (Some(Round::Complete), false));
    assert_eq!(night.lines(), [""; 0]);
    // The next one begins at the start, with items that came meanwhile in their place.
    night.roots.item("a", "example.org/archive/2025/01.01.00.59", "content", |_| {});
    for minute in [59, 0, 1, 2] {
        assert_eq!(night.run(NO_TIME).0, [minute]);
    }
    assert_eq!(night.lines(), [""; 0]);
}

#[test]
fn a_run_with_time_enough_ends_the_round() {
    let night = Night::new(3);
    night.run(NO_TIME);
    let (verified, summary) = night.run(Some(DAY));
    assert_eq!((verified, summary.round), (vec![1, 2], Some(Round::Complete)));
    let (verified, summary) = night.run(Some(DAY));
    assert_eq!((verified, summary.round), (vec![0, 1, 2], Some(Round::Complete)));
    // So does one without a limit, which skips nothing.
    night.run(NO_TIME);
    let (verified, summary) = night.run(None);
    assert_eq!((verified, summary.round), (vec![0, 1, 2], None));
    assert_eq!(night.lines(), [""; 0]);
}

#[test]
fn a_round_goes_on_after_a_stop() {
    let night = Night::new(5);
    let stop = |minute| {
        if minute == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (verified, summary) = night.run_until(Some(DAY), stop);
    assert_eq!((verified, summary.round), (vec![0, 1], Some(Round::Open)));
    // A run without a limit that is stopped leaves the round where it was.
    assert_eq!(night.run_until(None, stop).0, [0, 1]);
    let (verified, summary) = night.run(Some(DAY));
    assert_eq!((verified, summary.skipped), (vec![2, 3, 4], 2));
}

#[test]
fn damaged_items_are_read_in_each_run_until_they_are_whole() {
    let night = Night::new(4);
    night.damage(1);
    let stop = |minute| {
        if minute == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert_eq!(night.run_until(Some(DAY), stop).0, [0, 1, 2]);
    assert_eq!(night.lines(), ["at * 02", "damaged 01"]);
    let (verified, summary) = night.run_until(Some(DAY), |_| ControlFlow::Break(()));
    assert_eq!((verified, summary.damaged_items), (vec![1], 1));
    assert_eq!(night.lines(), ["at * 02", "damaged 01"]);
    night.roots.item("a", &name(1), "content", |_| {});
    assert_eq!(night.run(Some(DAY)).0, [1, 3]);
    assert_eq!(night.lines(), [""; 0]);
    // Damage that any other run has found is read again as well.
    night.run(NO_TIME);
    let names = [name(0).parse().unwrap()];
    note_damaged(&night.collection, &names);
    assert_eq!(night.run(Some(DAY)).0, [0, 1, 2, 3]);
}

/// Each part of a collection has rounds of its own.
#[test]
fn rounds_over_a_prefix() {
    let night = Night::new(3);
    night.run(NO_TIME);
    let names = Names::of(Some("example.org/archive".parse().unwrap()));
    let options = Options { depth: Depth::Full, jobs: 1 };
    let rounds = Rounds { clock: &night.clock, time_limit: NO_TIME };
    let interrupt = Interrupt::default();
    let summary = verify_in_rounds(
        &night.collection,
        &names,
        options,
        &rounds,
        &NoProgress,
        &interrupt,
        |_| ControlFlow::Continue(()),
    );
    assert_eq!(summary.unwrap().skipped, 0);
    assert_eq!(night.lines(), ["at * 00", "at example.org/archive 00"]);
}

#[test]
fn a_note_that_cannot_be_used() {
    let night = Night::new(2);
    for garbage in ["", "soon\n", "at *\n", "at * nonsense\ndamaged ../..\n", "\u{0}"] {
        std::fs::write(night.note(), garbage).unwrap();
        assert_eq!(night.run(NO_TIME).0, [0], "{garbage}: a round begins");
        std::fs::remove_file(night.note()).unwrap();
    }
    // Without a place for it, each run begins at the start, and says so.
    std::fs::create_dir_all(night.note().join("full")).unwrap();
    for _ in 0..2 {
        let (verified, summary) = night.run(NO_TIME);
        assert_eq!((verified, summary.round), (vec![0], Some(Round::Lost)));
    }
    assert_eq!(night.run(Some(DAY)).1.round, Some(Round::Complete));
}

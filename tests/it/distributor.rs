//! The temporal distributor: the standard's worked example, the algorithm against a second reading
//! of its definition, and the bytes of the memory.

#![expect(clippy::unwrap_used, reason = "the lint's exception does not know helpers of tests")]

mod granularities;
mod slots;

use std::time::Duration;

use proptest::prelude::*;
use serde::Deserialize;
use urepo::distributor::slot::{
    self, Contents, Damage, FILE, MemoryRecord, SLOT, SlotError, Token,
};
use urepo::distributor::{Granularity, NextDate, Setting, Verdict, issue, judge, step};
use urepo::identity::{Instant, SECOND};

/// An instant of so many seconds, as text with up to nine decimals.
fn seconds(text: &str) -> Instant {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    assert!(fraction.len() <= 9, "{text} is finer than a nanosecond");
    let nanoseconds: i128 = format!("{whole}{fraction:0<9}").parse().unwrap();
    Instant::from_nanoseconds(nanoseconds)
}

fn setting(text: &str) -> Setting {
    text.parse().unwrap()
}

fn granularity(text: &str) -> Granularity {
    match setting(text) {
        Setting::Fixed(granularity) => granularity,
        Setting::Auto => panic!("`auto` is no single granularity"),
    }
}

mod table_6_2 {
    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        distributor: Vec<Distributor>,
    }

    #[derive(Deserialize)]
    struct Distributor {
        granularity: Setting,
        steps: Vec<Row>,
    }

    #[derive(Deserialize)]
    struct Row {
        now: String,
        creation: i64,
        last: i64,
        chosen: Setting,
        date: i64,
        suffix: String,
    }

    #[test]
    fn is_reproduced() {
        let text = include_str!("../../fixtures/vectors/generation.toml");
        let vectors: Vectors = toml::from_str(text).unwrap();
        assert!(!vectors.distributor.is_empty());
        for distributor in vectors.distributor {
            let mut last = None;
            for row in distributor.steps {
                let now = seconds(&row.now);
                let step = issue(last, now, distributor.granularity);
                assert_eq!(step.creation, Instant::from_seconds(row.creation), "{}", row.now);
                assert_eq!(step.last, Instant::from_seconds(row.last), "{}", row.now);
                assert_eq!(Setting::Fixed(step.chosen), row.chosen, "{}", row.now);
                assert_eq!(step.date, Instant::from_seconds(row.date), "{}", row.now);
                assert_eq!(step.date.suffix(), row.suffix, "{}", row.now);
                last = Some(step.date);
            }
        }
    }
}

mod steps {
    use super::*;

    #[test]
    fn wait_for_the_next_second() {
        let step = step(Some(seconds("1287588115")), seconds("1287588115.99623"), Granularity::ONE);
        assert_eq!(step.creation, seconds("1287588116"));
        assert_eq!(step.wait, Duration::from_micros(3770));
    }

    #[test]
    fn stay_above_the_date_given_when_the_granularity_grows() {
        // last^(1) is 1287588060, before the date that was really given.
        let last = Some(seconds("1287588060.5"));
        let soon = step(last, seconds("1287588060.7"), Granularity::ONE);
        assert_eq!(soon.last, seconds("1287588060"));
        assert_eq!(soon.date, seconds("1287588061"));
        assert_eq!(soon.wait, Duration::from_millis(300));
        let coarser = step(last, seconds("1287588060.7"), Granularity::SIXTY);
        assert_eq!(coarser.date, seconds("1287588120"));
        assert_eq!(coarser.wait, Duration::from_millis(59_300));
    }

    #[test]
    fn do_not_shorten_the_first_date() {
        let first = step(None, seconds("1287587646.394023"), granularity("0.01"));
        assert_eq!(first.date, seconds("1287587646.39"));
        assert_eq!(first.chosen, granularity("0.01"));
        assert_eq!(first.wait, Duration::ZERO);
    }

    #[test]
    fn stay_short_under_auto_until_two_fall_in_one_second() {
        let mut last = None;
        let mut suffixes = Vec::new();
        for now in [
            "1287588115.3462",
            "1287588115.996",
            "1287588115.9962",
            "1287588115.9962",
            "1287588116.7",
            "1287588539.7",
        ] {
            let step = issue(last, seconds(now), Setting::Auto);
            suffixes.push((step.date.suffix(), step.wait));
            last = Some(step.date);
        }
        let expected = [
            ("2010/10.20.15.21.55", 0),
            ("2010/10.20.15.21.55.9", 0),
            ("2010/10.20.15.21.55.99", 0),
            ("2010/10.20.15.21.55.996", 0),
            ("2010/10.20.15.21.56", 0),
            ("2010/10.20.15.28", 0),
        ]
        .map(|(suffix, wait)| (suffix.to_owned(), Duration::from_nanos(wait)));
        assert_eq!(suffixes, expected);
    }

    #[test]
    fn wait_for_a_microsecond_under_auto() {
        let last = seconds("1287588115.996231");
        let step = issue(Some(last), seconds("1287588115.9962314"), Setting::Auto);
        assert_eq!(step.date, seconds("1287588115.996232"));
        assert_eq!(step.wait, Duration::from_nanos(600));
    }
}

mod verdicts {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    #[test]
    fn allow_a_little_delay() {
        let last = seconds("1287588115");
        assert_eq!(judge(Some(last), seconds("1287588110"), LIMIT), Verdict::Fine);
        let now = seconds("1287588109.999999999");
        let behind = Duration::new(5, 1);
        assert_eq!(judge(Some(last), now, LIMIT), Verdict::ClockBehind { last, now, behind });
    }

    #[test]
    fn stop_a_leap_ahead() {
        let days = |days: i64| Instant::from_seconds(1_287_588_115 + days * 86_400);
        let last = days(0);
        assert_eq!(judge(Some(last), days(400), LIMIT), Verdict::Fine);
        let ahead = Duration::from_secs(401 * 86_400);
        let now = days(401);
        assert_eq!(judge(Some(last), now, LIMIT), Verdict::TooFarAhead { last, now, ahead });
        assert_eq!(judge(None, now, LIMIT), Verdict::Fine);
    }

    #[test]
    fn know_the_standards_time() {
        let before = seconds("807235199.999999999");
        assert_eq!(judge(None, before, LIMIT), Verdict::BeforeStandard { now: before });
        assert_eq!(judge(None, seconds("807235200"), LIMIT), Verdict::Fine);
        let end = seconds("253402300800");
        assert_eq!(end.suffix(), "10000/01.01.00.00");
        assert_eq!(judge(None, end, LIMIT), Verdict::PastYear9999 { now: end });
        assert_eq!(judge(None, seconds("253402300799.9"), LIMIT), Verdict::Fine);
    }

    #[test]
    fn name_a_clock_that_is_behind_before_all_else() {
        let last = seconds("1287588115");
        let verdict = judge(Some(last), seconds("0"), LIMIT);
        assert!(matches!(verdict, Verdict::ClockBehind { .. }), "{verdict:?}");
    }
}

/// The algorithm once more, from the definition alone: instants are nanoseconds, and G is a list.
mod definition {
    const G: [i128; 11] = [
        60_000_000_000,
        1_000_000_000,
        100_000_000,
        10_000_000,
        1_000_000,
        100_000,
        10_000,
        1_000,
        100,
        10,
        1,
    ];

    /// The largest multiple of `r` that is not above `t`, by search from the truncated quotient.
    fn down(t: i128, r: i128) -> i128 {
        let mut multiple = t / r * r;
        while multiple > t {
            multiple -= r;
        }
        multiple
    }

    pub(super) struct Label {
        pub(super) creation: i128,
        pub(super) last: i128,
        pub(super) s: i128,
        pub(super) date: i128,
    }

    pub(super) fn label(last: Option<i128>, now: i128, r: i128) -> Label {
        let rounded = down(now, r);
        let last = down(last.unwrap_or(rounded - r), r);
        let creation = if last + r > rounded { last + r } else { rounded };
        let s = G
            .into_iter()
            .filter(|s| *s >= r)
            .find(|s| down(creation, *s) > last)
            .expect("r itself is one");
        Label { creation, last, s, date: down(creation, s) }
    }

    /// The shortest date by its meaning: the latest multiple, within (last, creation], of the
    /// coarsest granularity that has one there.
    pub(super) fn shortest(last: i128, creation: i128) -> i128 {
        G.into_iter().map(|s| down(creation, s)).find(|date| *date > last).expect("creation is one")
    }
}

/// Milliseconds to minutes between requests, a good part of them within one second, and a clock
/// that goes back now and then.
fn pauses() -> impl Strategy<Value = i128> {
    prop_oneof![
        4 => 0..2_000_i128,
        4 => 0..2 * SECOND,
        2 => 0..200 * SECOND,
        1 => -5 * SECOND..0,
        1 => (0..120_i128).prop_map(|pause| pause * SECOND),
    ]
}

fn granularities() -> impl Strategy<Value = Granularity> {
    (0..11_usize).prop_map(|index| Granularity::all().nth(index).unwrap())
}

fn settings() -> impl Strategy<Value = Setting> {
    prop_oneof![Just(Setting::Auto), granularities().prop_map(Setting::Fixed)]
}

/// The first request, and for each further one the pause before it and the setting then.
fn requests() -> impl Strategy<Value = (i128, Vec<(i128, Setting)>)> {
    let start = prop_oneof![
        807_235_200 * SECOND..4_000_000_000 * SECOND,
        // Whole minutes, and both sides of the year 1970.
        (0..60_000_000_i128).prop_map(|minutes| minutes * 60 * SECOND),
        -200 * SECOND..200 * SECOND,
    ];
    (start, prop::collection::vec((pauses(), settings()), 1..60))
}

/// Runs the requests; gives the date before, the request, the setting and the answer of each.
///
/// The clock goes on while a request waits, unless it goes back.
fn run(
    (start, requests): (i128, Vec<(i128, Setting)>),
) -> Vec<(Option<Instant>, Instant, Setting, NextDate)> {
    let mut clock = start;
    let mut last = None;
    requests
        .into_iter()
        .map(|(pause, setting)| {
            clock += pause;
            let now = Instant::from_nanoseconds(clock);
            let step = issue(last, now, setting);
            let answer = (last, now, setting, step);
            clock += i128::try_from(step.wait.as_nanos()).unwrap();
            last = Some(step.date);
            answer
        })
        .collect()
}

/// Does not write failures into the source tree.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn dates_strictly_increase_and_are_never_in_the_future(requests in requests()) {
        for (last, now, _, step) in run(requests) {
            prop_assert!(last.is_none_or(|last| step.date > last));
            prop_assert!(step.date <= step.creation.max(now));
            prop_assert!(step.date <= step.creation);
            prop_assert_eq!(
                i128::try_from(step.wait.as_nanos()).unwrap(),
                (step.creation.nanoseconds() - now.nanoseconds()).max(0)
            );
        }
    }

    #[test]
    fn dates_are_the_shortest(requests in requests()) {
        for (last, _, _, step) in run(requests) {
            // Against the date really given, not the rounded one.
            let last = last.unwrap_or(step.last);
            prop_assert_eq!(
                step.date.nanoseconds(),
                definition::shortest(last.nanoseconds(), step.creation.nanoseconds())
            );
        }
    }

    #[test]
    fn steps_are_those_of_the_definition(requests in requests(), granularity in granularities()) {
        for (last, now, _, _) in run(requests) {
            let expected = definition::label(
                last.map(Instant::nanoseconds),
                now.nanoseconds(),
                granularity.nanoseconds(),
            );
            let step = step(last, now, granularity);
            prop_assert_eq!(step.creation.nanoseconds(), expected.creation);
            prop_assert_eq!(step.last.nanoseconds(), expected.last);
            prop_assert_eq!(step.chosen.nanoseconds(), expected.s);
            prop_assert_eq!(step.date.nanoseconds(), expected.date);
        }
    }

    #[test]
    fn auto_refines_no_further_than_needed(requests in requests()) {
        for (last, now, setting, answer) in run(requests) {
            if setting != Setting::Auto {
                continue;
            }
            let tens: Vec<NextDate> = Granularity::all()
                .filter(|each| (Granularity::MICROSECOND..=Granularity::ONE).contains(each))
                .map(|each| step(last, now, each))
                .collect();
            prop_assert_eq!(tens.len(), 7);
            let at_once = tens.iter().find(|step| step.wait.is_zero());
            prop_assert_eq!(&answer, at_once.unwrap_or(&tens[6]));
            // It waits only if no multiple of a microsecond lies between the last date and now.
            let room = last.is_none_or(|last| now.floor(1_000) > last);
            prop_assert_eq!(answer.wait.is_zero(), room);
        }
    }

    #[test]
    fn extreme_instants_do_not_panic(
        last in any::<Option<i128>>(), now in any::<i128>(), setting in settings()
    ) {
        let last = last.map(Instant::from_nanoseconds);
        let now = Instant::from_nanoseconds(now);
        issue(last, now, setting);
        judge(last, now, Duration::ZERO);
    }
}

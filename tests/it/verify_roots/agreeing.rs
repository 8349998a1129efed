//! Whoever asks several collections about an item hears the same: who has its Original, what is stale.

use std::ops::ControlFlow;

use proptest::prelude::*;
use urepo::collection::{Collection, Names};
use urepo::holdings::{Concern, Holdings, Report, Standing, Survey, holdings};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::sidecar::{Handover, Party};
use urepo::verify::{Code, compare};

use super::{NAME, Roots, hour};

const ROOTS: [&str; 3] = ["a", "b", "c"];

/// What one root holds: a state, an hour, a content, and a hand-over with its token, whether it goes to
/// the other one, and which root that is.
#[derive(Clone, Debug)]
struct Held {
    state: State,
    hour: i64,
    content: u8,
    handover: Option<(u8, bool, usize)>,
}

fn held() -> impl Strategy<Value = Option<Held>> {
    let state =
        prop_oneof![1 => Just(State::Original), 3 => Just(State::Copy), 1 => Just(State::Deleted)];
    let handover = prop::option::weighted(0.6, (0_u8..2, any::<bool>(), 0_usize..2));
    let held = (state, 0_i64..2, 0_u8..2, handover);
    let held =
        held.prop_map(|(state, hour, content, handover)| Held { state, hour, content, handover });
    prop::option::weighted(0.8, held)
}

/// The roots that have the Original by the reader rule, as it is written.
fn originals(model: &[Option<Held>]) -> Vec<usize> {
    let is_given = |giver: usize, token: u8, receiver: usize| {
        model[giver].as_ref().is_some_and(|it| {
            it.state == State::Copy
                && it.handover.is_some_and(|(theirs, gives, other)| {
                    theirs == token && gives && root_of(giver, other) == receiver
                })
        })
    };
    let has_it = |at: &usize| match &model[*at] {
        Some(Held { state: State::Original, .. }) => true,
        Some(Held { state: State::Copy, handover: Some((token, false, other)), .. }) => {
            is_given(root_of(*at, *other), *token, *at)
        }
        _ => false,
    };
    (0..model.len()).filter(has_it).collect()
}

/// The first or the second of the roots that are not `own`.
fn root_of(own: usize, other: usize) -> usize {
    (0..ROOTS.len()).filter(|at| *at != own).nth(other).unwrap()
}

fn write(roots: &Roots, model: &[Option<Held>]) {
    for (at, held) in model.iter().enumerate() {
        let Some(held) = held else { continue };
        let handover = held.handover.map(|(token, gives, other)| {
            let id = roots.id(ROOTS[root_of(at, other)]);
            let party = if gives { Party::To(id) } else { Party::From(id) };
            Handover { token: token.to_string(), party }
        });
        roots.item(ROOTS[at], NAME, &held.content.to_string(), |sidecar| {
            (sidecar.state, sidecar.timestamp) = (held.state, hour(held.hour));
            sidecar.handover = handover;
        });
    }
}

/// What `status` goes by.
fn surveyed(collections: &[Collection]) -> Vec<Holdings> {
    let (names, interrupt) = (Names::default(), Interrupt::default());
    let survey = Survey { collections, names: &names, jobs: 1, interrupt: &interrupt };
    let mut all = Vec::new();
    let ended = survey.run(|report| {
        match report {
            Report::Item(holdings) => all.push(holdings),
            Report::Unlisted { error, .. } => panic!("{error}"),
        }
        ControlFlow::Continue(())
    });
    assert!(ended.unwrap().is_continue());
    all
}

/// The roots of which `verify` finds each code.
fn verified(collections: &[Collection], code: Code) -> Vec<usize> {
    let roots: Vec<_> = collections.iter().collect();
    let mut found = Vec::new();
    compare(&roots, &Names::default(), &Interrupt::default(), |told| {
        if told.finding.code == code {
            found.push(told.root);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    found
}

fn standing(holdings: &Holdings, standing: Standing) -> Vec<usize> {
    let all = holdings.all.iter().filter(|it| it.standing == standing);
    all.map(|it| it.collection).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn verify_status_and_whereis_agree(model in prop::collection::vec(held(), ROOTS.len())) {
        let roots = Roots::new(ROOTS);
        write(&roots, &model);
        let collections = roots.open();
        let name: RepositoryName = NAME.parse().unwrap();
        let whereis = holdings(&name, &collections);
        let originals = originals(&model);
        prop_assert_eq!(whereis.originals(), originals.clone());
        let others = originals.get(1..).unwrap_or_default();
        prop_assert_eq!(verified(&collections, Code::TwoOriginals), others);
        let stale = standing(&whereis, Standing::Stale);
        prop_assert_eq!(verified(&collections, Code::StaleCopy), stale.clone());
        let orphans = standing(&whereis, Standing::Orphan);
        prop_assert_eq!(verified(&collections, Code::NoOriginal), orphans);

        let status = surveyed(&collections);
        prop_assert_eq!(status.len(), usize::from(model.iter().any(Option::is_some)));
        for item in &status {
            prop_assert_eq!(item.originals(), originals.clone());
            let concerns = item.concerns(|_| 0);
            let two = concerns.iter().find_map(|concern| match concern {
                Concern::TwoOriginals(all) => Some(all.clone()),
                _ => None,
            });
            prop_assert_eq!(two, (originals.len() > 1).then(|| originals.clone()));
            let behind = concerns.iter().filter_map(|concern| match concern {
                Concern::Stale(at) => Some(*at),
                _ => None,
            });
            prop_assert_eq!(behind.collect::<Vec<_>>(), stale.clone());
        }
    }
}

//! Whoever asks several collections about an item hears the same: who has its Original, what is stale.

use std::ops::ControlFlow;

use proptest::prelude::*;
use urepo::collection::{Collection, Names};
use urepo::custody::{Custody, CustodyId};
use urepo::holdings::{
    Concern, HoldingRecord, Holdings, JudgedHolding, Report, Standing, Survey, holdings,
};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::verify::{Code, compare};

use super::{NAME, Roots, hour};

const ROOTS: [&str; 3] = ["a", "b", "c"];

/// The item in one root: the root with its Original, how often that changed, by whom, whether it was deleted, an hour
/// and a content.
#[derive(Clone, Debug)]
struct Held {
    holder: usize,
    amended: u64,
    by: u8,
    is_deleted: bool,
    hour: i64,
    content: u8,
}

fn held() -> impl Strategy<Value = Option<Held>> {
    let parts = (0..ROOTS.len(), 0_u64..3, 0_u8..2, prop::bool::weighted(0.2), 0_i64..2, 0_u8..2);
    let held = parts.prop_map(|(holder, amended, by, is_deleted, hour, content)| Held {
        holder,
        amended,
        by,
        is_deleted,
        hour,
        content,
    });
    prop::option::weighted(0.8, held)
}

impl Held {
    fn custody(&self, roots: &Roots) -> Custody {
        let mut custody = Custody::first(CustodyId::from([1; 8]), &roots.id(ROOTS[self.holder]));
        for change in 0..self.amended {
            custody = custody
                .amended(CustodyId::from((change * 2 + u64::from(self.by) + 9).to_be_bytes()));
        }
        custody
    }
}

/// The roots that say that they have the Original.
fn originals(model: &[Option<Held>]) -> Vec<usize> {
    let says_so =
        |at: &usize| model[*at].as_ref().is_some_and(|it| !it.is_deleted && it.holder == *at);
    (0..model.len()).filter(says_so).collect()
}

fn write(roots: &Roots, model: &[Option<Held>]) {
    for (at, held) in model.iter().enumerate() {
        let Some(held) = held else { continue };
        roots.item(ROOTS[at], NAME, &held.content.to_string(), |sidecar| {
            sidecar.timestamp = hour(held.hour);
            sidecar.custody = held.custody(roots);
            sidecar.state = match (held.is_deleted, held.holder == at) {
                (true, _) => State::Deleted,
                (false, true) => State::Original,
                (false, false) => State::Copy,
            };
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
        let stale = standing(&whereis, Standing::Behind);
        // One fault is one finding: an Original that is behind, or was changed in two places, is told as such.
        let apart: Vec<_> = originals.iter().copied().filter(|at| !stale.contains(at)).collect();
        let is_fork = |it: &JudgedHolding| it.standing == Standing::Fork && it.against.is_some();
        let has_fork =
            whereis.all.iter().any(|it| originals.contains(&it.collection) && is_fork(it));
        let others = apart.get(1..).filter(|_| !has_fork).unwrap_or_default();
        prop_assert_eq!(verified(&collections, Code::TwoOriginals), others);
        let codes = [Code::StaleCopy, Code::ItemPutBack, Code::DeletedElsewhere];
        let mut behind: Vec<_> =
            codes.into_iter().flat_map(|code| verified(&collections, code)).collect();
        behind.sort_unstable();
        // One fault is one finding: a holder that is behind what relies on it is told by U409.
        let holding = |at: usize| whereis.all.iter().find(|it| it.collection == at);
        let is_relied_on = |at: usize| {
            let against = holding(at).and_then(|it| holding(it.against?)).map(|it| &it.record);
            let names_it = |it: &HoldingRecord| {
                it.rule.custody.holder() == collections[at].id() && !it.rule.is_deletion()
            };
            whereis.all.iter().any(|it| it.relies_on == Some(at))
                && against.is_some_and(|it| it.as_ref().is_ok_and(names_it))
        };
        let told: Vec<_> = stale.iter().copied().filter(|at| !is_relied_on(*at)).collect();
        prop_assert_eq!(behind, told);
        let lost = |at: &usize| whereis.all.iter().any(|it| it.collection == *at && it.relies_on.is_some());
        let orphans = standing(&whereis, Standing::Orphan);
        let orphans: Vec<_> = orphans.into_iter().filter(|at| !lost(at)).collect();
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
                Concern::Behind(at) | Concern::Left { copy: at, .. } => Some(*at),
                _ => None,
            });
            prop_assert_eq!(behind.collect::<Vec<_>>(), stale.clone());
        }
    }
}

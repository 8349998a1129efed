//! Whatever is done, in any order, and whenever somebody asks.

use std::fs;

use proptest::prelude::*;

use super::support::{agrees, cache, items, with_index};
use crate::support::World;

#[derive(Clone, Debug)]
enum Step {
    Deposit(usize),
    Delete(usize),
    Restore(usize),
    Describe(usize),
    Purge,
    RemoveIndex,
    Ask,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1..4_usize).prop_map(Step::Deposit),
        3 => any::<usize>().prop_map(Step::Delete),
        2 => any::<usize>().prop_map(Step::Restore),
        2 => any::<usize>().prop_map(Step::Describe),
        1 => Just(Step::Purge),
        1 => Just(Step::RemoveIndex),
        4 => Just(Step::Ask),
    ]
}

fn run(world: &World, step: &Step) {
    let root = world.path("archive");
    let names: Vec<_> = items(&root).into_keys().collect();
    let pick = |at: usize| (!names.is_empty()).then(|| names[at % names.len()].clone());
    match *step {
        Step::Deposit(count) => {
            let files = (0..count).map(|at| world.write(&format!("in/{at}.txt"), at.to_string()));
            let files: Vec<_> = files.map(|path| path.to_str().unwrap().to_owned()).collect();
            let line = ["-c", "archive", "new", "--each"].map(str::to_owned);
            world.run_args(line.iter().chain(&files)).succeeded();
        }
        Step::Delete(at) => {
            let Some(name) = pick(at) else { return };
            world.run(&format!("-c archive delete --force last {name}"));
        }
        Step::Restore(at) => {
            let Some(name) = pick(at) else { return };
            world.run(&format!("-c archive restore {name}"));
        }
        Step::Describe(at) => {
            let Some(name) = pick(at) else { return };
            world.run(&format!("-c archive meta set {name} title=word{}", at % 7));
        }
        Step::Purge => {
            world.run("-c archive purge -y");
        }
        Step::RemoveIndex => fs::remove_dir_all(cache(&root)).unwrap_or_default(),
        Step::Ask => drop(agrees(&root, "")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_ledger_is_enough(steps in prop::collection::vec(step(), 1..20)) {
        let world = World::with_collection();
        with_index(&world.path("archive"));
        for step in &steps {
            run(&world, step);
        }
        agrees(&world.path("archive"), "");
    }
}

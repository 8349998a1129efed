//! Whatever is done, in any order, by urepo and by others.

use std::fs;

use proptest::prelude::*;
use urepo::catalog::RefreshDepth;

use super::support::{agrees, agrees_after, copy_tree, items, settle, with_index};
use crate::support::World;

#[derive(Clone, Debug)]
enum Step {
    Deposit(usize),
    Delete(usize),
    Revive(usize),
    Purge,
    CopyByHand(usize, u32),
    MoveByHand(usize, u32),
    RemoveByHand(usize),
    RemoveIndex,
    RemoveLog,
    Ask,
    LookCloser,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1..4_usize).prop_map(Step::Deposit),
        1 => (17..20_usize).prop_map(Step::Deposit),
        3 => any::<usize>().prop_map(Step::Delete),
        2 => any::<usize>().prop_map(Step::Revive),
        1 => Just(Step::Purge),
        2 => (any::<usize>(), 0..20_u32).prop_map(|(at, date)| Step::CopyByHand(at, date)),
        2 => (any::<usize>(), 0..20_u32).prop_map(|(at, date)| Step::MoveByHand(at, date)),
        2 => any::<usize>().prop_map(Step::RemoveByHand),
        1 => Just(Step::RemoveIndex),
        1 => Just(Step::RemoveLog),
        4 => Just(Step::Ask),
        1 => Just(Step::LookCloser),
    ]
}

fn run(world: &World, step: &Step) {
    let root = world.path("archive");
    let names: Vec<_> = items(&root).into_keys().collect();
    let pick = |at: usize| (!names.is_empty()).then(|| names[at % names.len()].clone());
    let other = |date: u32| {
        let other = format!("example.org/archive/{}/01.02.03.{date:02}", 2000 + date / 10);
        (!names.contains(&other)).then(|| root.join(other))
    };
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
        Step::Revive(at) => {
            let Some(name) = pick(at) else { return };
            world.run(&format!("-c archive restore {name}"));
        }
        Step::Purge => {
            world.run("-c archive purge -y");
        }
        Step::CopyByHand(at, date) => {
            let (Some(name), Some(to)) = (pick(at), other(date)) else { return };
            copy_tree(&root.join(name), &to);
        }
        Step::MoveByHand(at, date) => {
            let (Some(name), Some(to)) = (pick(at), other(date)) else { return };
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::rename(root.join(name), to).unwrap();
        }
        Step::RemoveByHand(at) => {
            let Some(name) = pick(at) else { return };
            fs::remove_dir_all(root.join(name)).unwrap();
        }
        Step::RemoveIndex => drop(fs::remove_file(root.join(".urepo/index.sqlite"))),
        Step::RemoveLog => drop(fs::remove_file(root.join(".urepo/index.sqlite-wal"))),
        Step::Ask => agrees(&root),
        Step::LookCloser => drop(agrees_after(&root, RefreshDepth::Sidecars, "")),
    }
    settle(&root);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_quick_look_is_enough(steps in prop::collection::vec(step(), 1..20)) {
        let world = World::with_collection();
        with_index(&world.path("archive"));
        for step in &steps {
            run(&world, step);
        }
        agrees(&world.path("archive"));
    }
}

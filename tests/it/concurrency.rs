//! Many processes at once: no name twice, none lost, no half item seen.

mod transfers;

use std::collections::BTreeSet;
use std::process::Stdio;

use urepo::collection::Collection;
use urepo::disk::Watcher;

use crate::support::{World, staged, whole_items};

#[test]
fn eight_processes_mint_ten_thousand_labels_each() {
    let world = World::with_collection();
    let minting: Vec<_> = (0..8)
        .map(|_| {
            let mut command =
                world.command("UREPO_LOCK_WAIT=5m -c archive mint --count 10000".split(' '));
            command.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut all = BTreeSet::new();
    let mut count = 0;
    for process in minting {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        for name in text.lines() {
            count += 1;
            all.insert(name.to_owned());
        }
    }
    assert_eq!((count, all.len()), (80_000, 80_000));
}

#[test]
fn four_processes_deposit_into_one_collection() {
    let world = World::with_collection();
    let mut line = "UREPO_LOCK_WAIT=5m -c archive new --each".to_owned();
    for at in 0..250 {
        world.write(&format!("source/{at:03}"), format!("file {at}"));
        line += &format!(" source/{at:03}");
    }
    let depositing: Vec<_> = (0..4)
        .map(|_| world.command(line.split(' ')).stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    let mut printed = BTreeSet::new();
    for process in depositing {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success());
        printed.extend(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned));
    }
    let root = world.path("archive");
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let found: BTreeSet<_> = whole_items(&collection).into_iter().collect();
    assert_eq!(found.len(), 1000);
    assert_eq!(found, printed);
    assert_eq!(staged(&root), [""; 0]);
}

/// A process killed for good (SIGKILL) in the middle of a deposit leaves nothing that counts.
#[test]
fn a_killed_process_leaves_no_lock_and_no_half_item() {
    let world = World::with_collection();
    let mut command = world.command("-c archive new - --stdin-name endless".split(' '));
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut stdin = process.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, &vec![b'x'; 1 << 20]).unwrap();
    // More than a pipe holds was taken, so the stage is there and the file is being written.
    let root = world.path("archive");
    assert_ne!(staged(&root), [""; 0]);
    process.kill().unwrap();
    process.wait().unwrap();
    drop(stdin);
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    assert_eq!(whole_items(&collection), [""; 0]);
    world.write("next", "next");
    let name = world.run("-c archive new next").line();
    assert_eq!(whole_items(&collection), [name]);
    assert_eq!(staged(&root), [""; 0], "the next run has cleared up");
}

/// Each of two items is to be the edition after the other, and one item is to have two next editions: one of the
/// two succeeds, and the other changes nothing.
#[test]
fn relations_that_exclude_each_other_are_made_once() {
    for _ in 0..8 {
        let world = World::with_collection();
        world.run("init other --host other.example.net").succeeded();
        world.write("f", "f");
        let new = |root: &str| world.run(&format!("-c {root} new f")).line();
        let [a, b, c] = [new("archive"), new("other"), new("archive")];
        for lines in [
            [
                format!("-c archive meta set {a} edition_of={b} --with other"),
                format!("-c other meta set {b} edition_of={a} --with archive"),
            ],
            [
                format!("-c archive meta set {c} edition_of={a} --with other"),
                format!("-c other meta set {b} edition_of={a} --with archive"),
            ],
        ] {
            let running = lines.each_ref().map(|line| {
                let mut command = world.command(line.split(' '));
                command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            });
            let ended = running.map(|process| process.wait_with_output().unwrap());
            let done = ended.iter().filter(|output| output.status.success()).count();
            assert_eq!(done, 1, "{lines:?}: {ended:?}");
            let verified = world.run("verify archive other");
            assert_eq!(verified.code, 0, "{}", verified.stdout);
            assert!(!verified.stdout.contains("U50"), "{}", verified.stdout);
            for line in &lines {
                let _ = world.run(&line.replace("edition_of=", "edition_of-="));
            }
        }
    }
}

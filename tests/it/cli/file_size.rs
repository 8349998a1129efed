//! A process may write files of some size only; writing beyond it is an error as others are.

use std::fs;

use super::records;
use crate::support::{Ran, World, copy_tree};

/// Runs the program in a process that writes files of `kib` at most. The shell counts in 512 bytes, or in
/// 1024.
fn run_with_file_size(world: &World, kib: u32, line: &str) -> Ran {
    let blocks = kib * 2;
    world.finish(world.shell(&format!("ulimit -f {blocks}; exec \"$0\" {line}")))
}

#[test]
fn a_file_beyond_the_limit_is_an_error_with_its_name() {
    let world = World::with_collection();
    world.write("small.txt", "alpha");
    world.write("large.bin", vec![7; 3 << 20]);
    let ran = run_with_file_size(&world, 512, "-c archive new large.bin");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("large.bin`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("File too large"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`ulimit -f` shows"), "{}", ran.stderr);
    let ran = run_with_file_size(&world, 512, "-c archive new small.txt");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(run_with_file_size(&world, 512, "-c archive verify").code, 0);
    assert_eq!(world.run("-c archive list").succeeded(), ran.stdout);
}

/// What only reads an archive does so whatever it may write.
#[test]
fn nothing_may_be_written_and_an_archive_is_verified() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.run("-c archive new a.txt").succeeded();
    let ran = run_with_file_size(&world, 0, "-c archive verify");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("no damage"), "{}", ran.stderr);
}

/// A change whose line the ledger does not take is made, and is counted so.
#[test]
fn what_was_changed_and_not_confirmed_is_no_failed_change() {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    let roots = ["archive", "mirror"].map(|it| format!("{it} = '{}'\n", world.path(it).display()));
    world.write(".config/urepo/config.toml", format!("[collections]\n{}", roots.concat()));
    for name in ["1.txt", "2.txt", "3.txt"] {
        world.write(name, name);
    }
    let made = world.run("-c archive new --each 1.txt 2.txt 3.txt");
    let names: Vec<_> = made.succeeded().lines().map(str::to_owned).collect();
    // The ledgers have reached the limit.
    for number in 0..12 {
        world.run(&format!("-c archive meta set --all title={number} -y")).succeeded();
        world.run("-c archive copy --all --to mirror").succeeded();
    }
    let relate = format!("-c archive meta set {} edition_of={}", names[1], names[0]);
    let commands = [
        ("", "-c archive meta set --all title=Last -y", "3 of 3 items were changed"),
        ("", &relate, "2 of 2 items were changed"),
        ("-c archive meta set --all title=A -y", "-c archive copy --all --to mirror", ""),
        ("", "-c archive delete --all --with mirror -y", "3 of 3 items were deleted"),
        (
            "-c archive delete --all --with mirror -y",
            "-c archive restore --all --from mirror",
            "3 of 3 items were restored",
        ),
        (
            "",
            "-c mirror promote --all --lost archive --reason fire -y",
            "3 of 3 items were promoted",
        ),
    ];
    for name in ["archive", "mirror", ".state"] {
        copy_tree(&world.path(name), &world.path("saved").join(name));
    }
    for (before, command, told) in commands {
        for json in ["", " --json"] {
            for name in ["archive", "mirror", ".state"] {
                let _ = fs::remove_dir_all(world.path(name));
                copy_tree(&world.path("saved").join(name), &world.path(name));
            }
            if !before.is_empty() {
                world.run(before).succeeded();
            }
            if command.contains("--lost archive") {
                fs::remove_dir_all(world.path("archive")).unwrap();
            }
            let ran = run_with_file_size(&world, 16, &format!("{command}{json}"));
            let all = format!("{command}{json}: {}{}", ran.stdout, ran.stderr);
            assert!(!all.contains("could not be"), "{all}");
            if json.is_empty() {
                let told = format!("error: {told}, but the disk did not confirm them");
                assert!(command.contains(" copy ") || ran.stderr.contains(&told), "{all}");
            } else {
                let summary = records(&ran).pop().unwrap();
                let number = if command == relate { 2 } else { 3 };
                assert_eq!(summary["counts"]["items"], number, "{all}");
                assert_eq!(summary["counts"]["unconfirmed"], number, "{all}");
                assert_eq!(summary["counts"]["failed"], 0, "{all}");
            }
        }
    }
}

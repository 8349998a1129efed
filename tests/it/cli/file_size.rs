//! A process may write files of some size only; writing beyond it is an error as others are.

use crate::support::{Ran, World};

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

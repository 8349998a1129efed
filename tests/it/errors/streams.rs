//! Output that nobody reads, or that is full.

use super::*;

#[test]
fn that_are_full() {
    let world = world_with_file();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let run = |line: &str| {
        let mut command = world.command(line.split_whitespace());
        command.stdout(full());
        world.finish(command)
    };
    let Ran { code, stderr, .. } = run("-c archive new a.txt");
    same(
        &stderr,
        str![[r#"
error: cannot write to stdout
caused by: No space left on device (os error 28)
hint: the work itself is done; only its report is lost

"#]],
    );
    assert_eq!(code, 1);
    assert_eq!(whole_items(&open(&world)).len(), 1, "the item stays");
    let Ran { code, stderr, .. } = run("-c archive --json new a.txt");
    same(
        &stderr,
        str![[r#"
{"error":{"causes":["No space left on device (os error 28)"],"code":1,"hint":"the work itself is done; only its report is lost","message":"cannot write to stdout"},"exit_code":1,"type":"error","version":1}

"#]],
    );
    assert_eq!(code, 1);
    let Ran { code, stderr, .. } = run("-c archive mint");
    same(
        &stderr,
        str![[r#"
error: cannot write to stdout
caused by: No space left on device (os error 28)
hint: the work itself is done; only its report is lost

"#]],
    );
    assert_eq!(code, 1);
    for line in
        ["-c archive list", "-c archive status --settings", "resolve --explain 8JMKD3MGP8W/34PGRBS"]
    {
        let Ran { code, stderr, .. } = run(line);
        assert_eq!(code, 1, "{line}: {stderr}");
    }
}

#[test]
fn that_nobody_reads() {
    let (world, _) = world_with_item();
    let run = |line: &str| {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut command = world.command(line.split_whitespace());
        command.stdout(writer);
        world.finish(command)
    };
    for line in [
        "list",
        "list --json",
        "show 11.21.02.13",
        "cat 11.21.02.13",
        "show --as manifest 11.21.02.13",
    ] {
        let Ran { code, stderr, .. } = run(&format!("-c archive {line}"));
        assert_eq!((code, stderr.as_str()), (0, ""), "{line}");
    }
}

/// A name that nobody has read is still given: that is said, and is no success.
#[test]
fn that_nobody_reads_a_new_name_from() {
    let world = world_with_file();
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut command = world.command(["-c", "archive", "new", "a.txt"]);
    command.stdout(writer);
    let Ran { code, stderr, .. } = world.finish(command);
    same(
        &stderr,
        str![[r#"
error: cannot write to stdout
caused by: Broken pipe (os error 32)
hint: the work itself is done; only its report is lost

"#]],
    );
    assert_eq!(code, 1);
    assert_eq!(whole_items(&open(&world)).len(), 1, "the item stays");
}

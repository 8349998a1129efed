//! Command lines that are wrong.

use super::*;

#[test]
fn that_is_empty() {
    let world = world_with_file();
    refuses(&world, "", 2).tells(str![[r#"
urepo keeps files as items. Each gets a permanent identifier, which is its path.

  urepo init archive --host archive.example.org        a collection
  urepo -c archive new letter.txt --title 'A letter'   prints the identifier
  urepo -c archive copy --all --to /mnt/mirror         checks every byte

Every day
  init      Create a collection, or take an existing tree in
  new       Deposit files and directories
  import    Deposit many: a drop folder, a table, bags; each only once
  list      List and search
  show      Describe an item: text, files, where it is; cite it
  meta      Correct descriptions and relations
  copy      Make and refresh Copies in another collection
  verify    Read every byte and compare it with its digest
  repair    Mend what is damaged or missing from a good copy
  status    What needs attention, in all collections
Sometimes
  cat, open                 A file to standard output; an item on the desktop
  export                    Directories, tar, bags
  delete, restore, purge    Into the trash; back; for ever
  migrate                   Move items, Originals with them
  log                       Who did what, and when
  mint, resolve             Identifiers alone; follow or explain one
When something is lost
  recover                   After a crash, a restored backup, a lost ledger
  promote                   A Copy becomes the Original
On the web
  serve, resolver           Your archive; a resolver of your own

With every command: -c COLLECTION  -n dry run  -q quiet  -v more  --json  -j N
More: urepo help COMMAND · man 7 urepo: exit codes, settings (colour, progress)

"#]]);
}

#[test]
fn that_is_wrong() {
    let world = world_with_file();
    refuses(&world, "frobnicate", 2).tells(str![[r#"
error: unrecognized subcommand 'frobnicate'
hint: Usage: urepo [OPTIONS] <COMMAND>

"#]]);
    // What other programs call it.
    refuses(&world, "undelete", 2).tells(str![[r#"
error: unrecognized subcommand 'undelete'
hint: `urepo restore ITEM`

"#]]);
    refuses(&world, "meta get", 2).tells(str![[r#"
error: unrecognized subcommand 'get'
hint: `urepo show ITEM`; one value: `urepo list ITEM --columns title`

"#]]);
    refuses(&world, "list --lonng", 2).tells(str![[r#"
error: unexpected argument '--lonng' found
hint: a similar argument exists: '--long'

"#]]);
    refuses(&world, "init", 2).tells(str![[r#"
error: the following required arguments were not provided: <ROOT>
hint: Usage: urepo init <ROOT>

"#]]);
    refuses(&world, "-q -v list", 2).tells(str![[r#"
error: the argument '--quiet' cannot be used with '--verbose...'
hint: Usage: urepo --quiet <COMMAND>

"#]]);
    refuses(&world, "list -j 0", 2).tells(str![[r#"
error: invalid value '0' for '--jobs <N>': expected a number from 1 to 1024

"#]]);
    refuses(&world, "UREPO_LOCK_WAIT=soon list", 2).tells(str![[r#"
error: the variable UREPO_LOCK_WAIT says `soon`
caused by: expected a number and a unit, such as 30s, 5m, 4h or 30d

"#]]);
    refuses(&world, "UREPO_LOCK_WAIT=5 list", 2).tells(str![[r#"
error: the variable UREPO_LOCK_WAIT says `5`
caused by: the unit is missing, as in 5s, 5m, 5h or 5d

"#]]);
    refuses(&world, "list --long -0", 2).tells(str![[r#"
error: the argument '--long' cannot be used with '--null'
hint: Usage: urepo list --long [WORD]...

"#]]);
    refuses(&world, "new -draft.txt", 2).tells(str![[r#"
error: unexpected argument '-d' found
hint: Usage: urepo new [OPTIONS] [PATH]...

"#]]);
    for paths in ["drop drop/b.txt", "drop/b.txt ./drop", "--each drop drop"] {
        world.write("drop/b.txt", "b");
        let ran = refuses(&world, &format!("new --remove-source {paths}"), 2);
        assert!(ran.0.contains("with which it would be removed\nhint: name each"), "{}", ran.0);
    }
    refuses(&world, "list --state Lost", 2).tells(str![[r#"
error: invalid value 'Lost' for '--state <STATE,…>': `Lost` is not a state; expected `Original`, `Copy`, `Elsewhere` or `Deleted`, with commas between them, or `any`

"#]]);
}

#[test]
fn of_commands_that_is_wrong() {
    let world = world_with_file();
    refuses(&world, "new a.txt --init", 2).tells(str![[r#"
error: the following required arguments were not provided: --host <FQDN[:PORT]>
hint: Usage: urepo new --init --host <FQDN[:PORT]> <PATH>...

"#]]);
    refuses(&world, "new a.txt --host archive.example.org", 2).tells(str![[r#"
error: the following required arguments were not provided: --init
hint: Usage: urepo new --host <FQDN[:PORT]> --init <PATH>...

"#]]);
    refuses(&world, "new a.txt --links perhaps", 2).tells(str![[r#"
error: invalid value 'perhaps' for '--links <RULE>'
hint: possible values: keep, follow, asis, skip, error

"#]]);
    refuses(&world, "-c archive mint --count 0", 2).tells(str![[r#"
error: `--count 0` asks for nothing
hint: leave `--count` out for one

"#]]);
    refuses(&world, "show", 2).tells(str![[r#"
error: no item was given
hint: `urepo show ITEM…`, or `--all` for every item

"#]]);
}

#[test]
fn of_variables_and_settings() {
    let world = world_with_file();
    let mut command = world.command(["-c", "archive", "list"]);
    command.env("UREPO_JOBS", "many");
    refuses_command(&world, command, 2).tells(str![[r#"
error: the variable UREPO_JOBS says `many`
caused by: expected a number from 1 to 1024

"#]]);
    world.write(".config/urepo/config.toml", "job = 3\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: line 1: unknown field `job`, expected one of `collection`, `jobs`, `lock_wait`, `peer_wait`, `max_wait`, `color`, `progress`, `languages`, `opener`, `subsystem`, `machine_id`, `state`, `exclude`, `collections`, `serve`, `resolver`
hint: the keys are collection, jobs, lock_wait, peer_wait, max_wait, color, progress, languages, opener, subsystem, machine_id, state, exclude and the tables [collections], [serve] and [resolver]

"#]]);
    world.write(".config/urepo/config.toml", "lock_wait = \"soon\"\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: `lock_wait` is `soon`: expected a number and a unit, such as 30s, 5m, 4h or 30d
hint: the keys are collection, jobs, lock_wait, peer_wait, max_wait, color, progress, languages, opener, subsystem, machine_id, state, exclude and the tables [collections], [serve] and [resolver]

"#]]);
    world.write(".config/urepo/config.toml", "[collections\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: line 1: unclosed table, expected `]`
hint: the keys are collection, jobs, lock_wait, peer_wait, max_wait, color, progress, languages, opener, subsystem, machine_id, state, exclude and the tables [collections], [serve] and [resolver]

"#]]);
    world.write(".config/urepo/config.toml", "jobs = 0\n");
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: `jobs` is `0`: expected a number from 1 to 1024
hint: the keys are collection, jobs, lock_wait, peer_wait, max_wait, color, progress, languages, opener, subsystem, machine_id, state, exclude and the tables [collections], [serve] and [resolver]

"#]]);
    world.write(".config/urepo/config.toml", b"# Jos\xe9\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: it is not UTF-8: invalid utf-8 sequence of 1 bytes from index 5
hint: the keys are collection, jobs, lock_wait, peer_wait, max_wait, color, progress, languages, opener, subsystem, machine_id, state, exclude and the tables [collections], [serve] and [resolver]

"#]]);
    std::fs::remove_file(world.path(".config/urepo/config.toml")).unwrap();
    let mut command = world.command(["-c", "archive", "list"]);
    command.env("UREPO_STATE", "here");
    refuses_command(&world, command, 2).tells(str![[r#"
error: the variable UREPO_STATE says `here`
caused by: expected an absolute path

"#]]);
}

#[test]
fn with_json() {
    let world = world_with_file();
    refuses(&world, "--json -c archive cat 11.21.02.13", 21).tells(str![[r#"
{"error":{"causes":[],"code":21,"hint":"`urepo -c archive list` lists the identifiers","message":"no item `11.21.02.13` in `[WORLD]/archive`"},"exit_code":21,"type":"error","version":1}

"#]]);
    refuses(&world, "--json -c nowhere list", 10).tells(str![[r#"
{"error":{"causes":[],"code":10,"hint":"is it mounted? `findmnt` lists mounted file systems","message":"`[WORLD]/nowhere` is not a collection"},"exit_code":10,"type":"error","version":1}

"#]]);
}

/// What a hint says to type can be typed where a path has a space and a quotation mark.
#[test]
fn hints_are_quoted_for_the_shell() {
    let world = World::new();
    world.write("a.txt", "alpha");
    let place = "ana's archive";
    let run = |words: &[&str]| world.run_args(words);
    assert_eq!(run(&["init", place, "--host", "archive.example.org"]).code, 0);
    let name = run(&["-c", place, "new", "a.txt"]).line();
    world.write(&format!("{place}/{name}/doc/a.txt"), "damage");
    std::fs::create_dir(world.path("no archive, ana's")).unwrap();
    let mut found = 0;
    world.write("ana's broken archive/urepo.toml", "format = ");
    for words in [
        &["-c", "no archive, ana's", "list"][..],
        &["init", place, "--host", "archive.example.org"],
        &["init", "ana's archive/inner", "--host", "archive.example.org"],
        &["-c", place, "new", "--each", "a.txt", "ana's missing file"],
        &["-c", place, "copy", "--all", "--to", "no archive, ana's"],
        &["-c", place, "verify"],
        &["-c", place, "cat", &name],
        &["-c", "ana's missing archive", "show", &name],
        &["-c", place, "export", &name, "--to", "a.txt/ana's"],
        &["verify", place, "no archive, ana's"],
        &["-c", "ana's broken archive", "list"],
    ] {
        let ran = run(words);
        assert_ne!(ran.code, 0, "{words:?}");
        let hints = ran.stderr.lines().filter_map(|line| line.strip_prefix("hint: "));
        for command in hints.flat_map(|hint| hint.split('`').skip(1).step_by(2).collect::<Vec<_>>())
        {
            if !command.contains("ana") {
                continue;
            }
            found += 1;
            // Each word on a line, as a shell reads them.
            let mut shell = world.shell(&format!("printf '%s\\n' {command}"));
            let output = shell.output().unwrap();
            let read = String::from_utf8(output.stdout).unwrap();
            let is_whole = |line: &str| line.ends_with("ana's") || line.contains("ana's ");
            let line = read.lines().find(|line| line.contains("ana"));
            assert!(output.status.success() && line.is_some_and(is_whole), "{command}: {read}");
        }
    }
    assert!(found > 1, "{found}");
}

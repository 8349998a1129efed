//! Command lines that are wrong.

use super::*;

#[test]
fn that_is_empty() {
    let world = world_with_file();
    refuses(&world, "", 2).tells(str![[r#"
Keeps files in uniform repositories: every item gets a permanent identifier (IBI), which is also its
path, needs no registry and no server, and is never issued twice

Usage: urepo [OPTIONS] <COMMAND>

Commands:
  init      Create a collection, or take an existing tree in
  new       Deposit files and directories as items [aliases: add, deposit]
  import    Import many sources as items, each once
  list      List and search items [aliases: ls, find, search]
  show      Show the metadata and files of items [alias: info]
  meta      Correct the descriptions of items
  cat       Print a file of an item
  open      Open items in desktop programs
  resolve   Resolve persistent URLs without a server
  verify    Check items: structure, sidecars, and every byte against its digest [aliases: check,
            fsck]
  status    Compare all known collections: Copies that are missing or stale, second Originals
  copy      Copy items to another collection [alias: cp]
  migrate   Move items to another collection, Originals with them [aliases: move, mv]
  promote   Turn Copies into Originals, because the collection that held those is lost
  export    Write items out as directories, tar or bags
  delete    Delete items [alias: rm]
  restore   Restore deleted items from the trash
  purge     Remove deleted and replaced items permanently
  repair    Repair damaged or missing items from good copies
  log       Show what happened to items, when, and by whom
  mint      Issue identifiers without depositing anything
  serve     Put collections on the web as archives
  resolver  Run a resolver, which leads persistent URLs to the archives that have the items
  recover   Clean up after interrupted runs, and bring distributors up to date
  help      Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help (see more with '--help')
  -V, --version  Print version

Global options:
  -c, --collection <COLLECTION>  The collection: a path, or a name from the settings; else the one
                                 around the current directory [env: UREPO_COLLECTION]
  -n, --dry-run                  Print what would be done, and do nothing
  -q, --quiet                    Print only errors
  -v, --verbose...               Print more
      --json                     Print JSON: one document, or one record a line
  -j, --jobs <N>                 How many files to work on at a time [env: UREPO_JOBS]
      --color <WHEN>             When to use colour [default: auto] [possible values: auto, always,
                                 never]
      --progress                 Show progress even where stderr is not a terminal
      --no-progress              Show no progress
      --lock-wait <TIME>         How long to wait for a lock, such as 30s or 5m [env:
                                 UREPO_LOCK_WAIT]

`urepo help COMMAND` says more, and urepo(7) has exit codes, finding codes and settings.

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
    refuses(&world, "list --colour", 2).tells(str![[r#"
error: unexpected argument '--colour' found
hint: a similar argument exists: '--color'

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
    refuses(&world, "list --lock-wait soon", 2).tells(str![[r#"
error: invalid value 'soon' for '--lock-wait <TIME>': expected a number and a unit, such as 30s, 5m, 4h or 30d

"#]]);
    refuses(&world, "list --lock-wait 5", 2).tells(str![[r#"
error: invalid value '5' for '--lock-wait <TIME>': the unit is missing, as in 5s, 5m, 5h or 5d

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
caused by: line 1: unknown field `job`, expected one of `collection`, `jobs`, `lock-wait`, `max-wait`, `machine-id`, `state`, `exclude`, `collections`
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, exclude and the table [collections]

"#]]);
    world.write(".config/urepo/config.toml", "lock-wait = \"soon\"\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: `lock-wait` is `soon`: expected a number and a unit, such as 30s, 5m, 4h or 30d
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, exclude and the table [collections]

"#]]);
    world.write(".config/urepo/config.toml", "[collections\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: line 1: unclosed table, expected `]`
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, exclude and the table [collections]

"#]]);
    world.write(".config/urepo/config.toml", "jobs = 0\n");
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: `jobs` is `0`: expected a number from 1 to 1024
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, exclude and the table [collections]

"#]]);
    world.write(".config/urepo/config.toml", b"# Jos\xe9\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: it is not UTF-8: invalid utf-8 sequence of 1 bytes from index 5
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, exclude and the table [collections]

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

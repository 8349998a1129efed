//! Command lines that are wrong.

use super::*;

#[test]
fn that_is_empty() {
    let world = world_with_file();
    refuses(&world, "", 2).tells(str![[r#"
Keeps files in uniform repositories: every item gets a permanent name (IBI) that is also its path,
needs no registry and no server, and is never given twice

Usage: urepo [OPTIONS] <COMMAND>

Commands:
  init         Create a collection
  adopt        Take an existing tree of items in, in place
  new          Deposit files and directories as items [aliases: add, deposit]
  import       Import many sources as items, each once
  list         List items [alias: ls]
  show         Show the metadata and files of items [alias: info]
  find         Search items by metadata, file name, content, state and date [alias: search]
  meta         Show and correct the descriptions of items
  relate       Link editions, translations, metadata and parts
  path         Print where items are on the disk
  cat          Print a file of an item
  resolve      Resolve persistent URLs without a server
  manifest     Print digests in the form that `sha256sum -c` checks
  links        Show the relative links from item to item, and which lead nowhere
  link         Print the relative link from one item to another
  verify       Check items: structure, sidecars, and every byte against its digest [aliases: check,
               fsck]
  status       Compare all known collections: Copies that are missing or stale, second Originals
  whereis      Show which collections hold items, and whether their Copies are current
  copy         Copy items to another collection [alias: cp]
  migrate      Move items to another collection, Originals with them [aliases: move, mv]
  refresh      Bring the Copies of a collection up to their Originals
  promote      Make Copies the Originals, because the collection that held these is lost
  demote       Make Originals Copies, where another collection holds the Originals too
  export       Write items out as directories, tar or bags
  delete       Delete items [alias: rm]
  restore      Restore deleted items from the trash
  purge        Remove the files of deleted items permanently
  repair       Repair damaged or missing items from good copies
  stats        Count items, files and bytes by state, prefix, year and format
  log          Show what happened to items, when, and by whom
  index        Build or update the index
  id           Explain an identifier in any spelling
  mint         Issue identifiers without depositing anything
  recover      Clean up after interrupted runs, and bring distributors up to date
  doctor       Show the identifier distributors, the clock and temporary files
  config       Show each setting and where it comes from
  completions  Print a completion script for a shell
  man          Print a page of the manual
  help         Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help (see more with '--help')
  -V, --version  Print version

Global options:
  -c, --collection <COLLECTION>  The collection: a path, or a name from the settings; else the one
                                 around the current directory [env: UREPO_COLLECTION]
  -n, --dry-run                  Say what would be done, and do nothing
  -q, --quiet                    Say nothing but errors
  -v, --verbose...               Say more
      --json                     Answer in JSON: one document, or one record a line
  -j, --jobs <N>                 How many files to work on at a time [env: UREPO_JOBS]
      --color <WHEN>             When to use colour [default: auto] [possible values: auto, always,
                                 never]
      --progress                 Show progress even where stderr is no terminal
      --no-progress              Show no progress
      --lock-wait <TIME>         How long to wait for a lock, such as 30s or 5m [env:
                                 UREPO_LOCK_WAIT]

`urepo help COMMAND` says more; the manual is in urepo(1).

"#]]);
}

#[test]
fn that_is_wrong() {
    let world = world_with_file();
    refuses(&world, "frobnicate", 2).tells(str![[r#"
error: unrecognized subcommand 'frobnicate'

Usage: urepo [OPTIONS] <COMMAND>

For more information, try '--help'.

"#]]);
    refuses(&world, "list --colour", 2).tells(str![[r#"
error: unexpected argument '--colour' found

  tip: a similar argument exists: '--color'

Usage: urepo list --color <WHEN> [ITEM]...

For more information, try '--help'.

"#]]);
    refuses(&world, "init archive2", 2).tells(str![[r#"
error: the following required arguments were not provided:
  --host <FQDN>

Usage: urepo init --host <FQDN> <ROOT>

For more information, try '--help'.

"#]]);
    refuses(&world, "-q -v list", 2).tells(str![[r#"
error: the argument '--quiet' cannot be used with '--verbose...'

Usage: urepo --quiet <COMMAND>

For more information, try '--help'.

"#]]);
    refuses(&world, "list -j 0", 2).tells(str![[r#"
error: invalid value '0' for '--jobs <N>': expected a number from 1 to 1024

For more information, try '--help'.

"#]]);
    refuses(&world, "list --lock-wait soon", 2).tells(str![[r#"
error: invalid value 'soon' for '--lock-wait <TIME>': expected a number and a unit, such as 30s, 5m, 4h or 30d

For more information, try '--help'.

"#]]);
    refuses(&world, "list --long -0", 2).tells(str![[r#"
error: the argument '--long' cannot be used with '--null'

Usage: urepo list --long [ITEM]...

For more information, try '--help'.

"#]]);
    refuses(&world, "list --state Lost", 2).tells(str![[r#"
error: invalid value 'Lost' for '--state <STATE>': `Lost` is no state; expected `Original`, `Copy` or `Deleted`

For more information, try '--help'.

"#]]);
}

#[test]
fn of_commands_that_is_wrong() {
    let world = world_with_file();
    refuses(&world, "new a.txt --init", 2).tells(str![[r#"
error: the following required arguments were not provided:
  --host <FQDN>

Usage: urepo new --init --host <FQDN> <PATH>...

For more information, try '--help'.

"#]]);
    refuses(&world, "new a.txt --host archive.example.org", 2).tells(str![[r#"
error: the following required arguments were not provided:
  --init

Usage: urepo new --host <FQDN> --init <PATH>...

For more information, try '--help'.

"#]]);
    refuses(&world, "new a.txt --links perhaps", 2).tells(str![[r#"
error: invalid value 'perhaps' for '--links <RULE>'
  [possible values: keep, follow, error]

For more information, try '--help'.

"#]]);
    refuses(&world, "-c archive mint --count 0", 2).tells(str![[r#"
error: `--count 0` asks for nothing
hint: urepo mint

"#]]);
    refuses(&world, "show", 2).tells(str![[r#"
error: no item was given
hint: `urepo show ITEM…`, or `--all` for every item

"#]]);
    refuses(&world, "manifest --all", 2).tells(str![[r#"
error: several items have no payload in common
hint: add `--root`, and check from the root of the collection

"#]]);
    refuses(&world, "man frobnicate", 2).tells(str![[r#"
error: there is no command `frobnicate`
hint: `urepo --help` lists the commands

"#]]);
    refuses(&world, "completions tcsh", 2).tells(str![[r#"
error: invalid value 'tcsh' for '<SHELL>'
  [possible values: bash, elvish, fish, powershell, zsh]

  tip: a similar value exists: 'zsh'

For more information, try '--help'.

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
caused by: unknown field `job`, expected one of `collection`, `jobs`, `lock-wait`, `max-wait`, `machine-id`, `state`, `distributors`, `exclude`, `collections`
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, distributors, exclude and the table [collections]

"#]]);
    world.write(".config/urepo/config.toml", "lock-wait = \"soon\"\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: expected a number and a unit, such as 30s, 5m, 4h or 30d
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, distributors, exclude and the table [collections]

"#]]);
    world.write(".config/urepo/config.toml", "[collections\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/.config/urepo/config.toml`
caused by: unclosed table, expected `]`
hint: the keys are collection, jobs, lock-wait, max-wait, machine-id, state, distributors, exclude and the table [collections]

"#]]);
}

#[test]
fn with_json() {
    let world = world_with_file();
    refuses(&world, "--json -c archive show 11.21.02.13", 21).tells(str![[r#"
{"error":{"causes":[],"code":21,"hint":"`urepo list` shows the names there are","message":"no item `11.21.02.13` in `[WORLD]/archive`"},"exit_code":21,"type":"error","version":1}

"#]]);
    refuses(&world, "--json -c nowhere list", 10).tells(str![[r#"
{"error":{"causes":[],"code":10,"hint":"`urepo init [WORLD]/nowhere --host FQDN` makes one","message":"`[WORLD]/nowhere` is not a collection"},"exit_code":10,"type":"error","version":1}

"#]]);
}

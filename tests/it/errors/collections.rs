//! Collections that cannot be used.

mod closed;

use super::*;

#[test]
fn that_are_not_there() {
    let world = World::new();
    world.write("a.txt", "a");
    refuses(&world, "new a.txt", 10).tells(str![[r#"
error: `[WORLD]` is not in a collection
hint: `-c archive --init --host FQDN` makes the collection `archive` first

"#]]);
    // What made the current directory a collection, and then refused.
    for line in [
        "new a.txt --init --host archive.example.org",
        "-c . new a.txt --init --host archive.example.org",
    ] {
        let code = if line.starts_with("-c") { 23 } else { 2 };
        let ran = world.run(line);
        assert_eq!(ran.code, code, "{}", ran.stderr);
        assert!(ran.stderr.contains("hint: `-c archive --init --host FQDN`"), "{}", ran.stderr);
    }
    world.write("thesis/a.txt", "a");
    let within = "-c thesis/archive new thesis --init --host archive.example.org";
    let ran = refuses(&world, within, 1);
    ran.tells(str![[r#"
error: `thesis` holds the collection `[WORLD]/thesis/archive` itself
hint: deposit what lies beside the collection

"#]]);
    for made in ["urepo.toml", ".urepo", "thesis/archive"] {
        assert!(!world.path(made).exists(), "{made}");
    }
    refuses(&world, "-c archive new a.txt", 10).tells(str![[r#"
error: `[WORLD]/archive` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems; `--init --host FQDN` creates it first

"#]]);
    refuses(&world, "-c a.txt list", 10).tells(str![[r#"
error: `[WORLD]/a.txt` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
    refuses(&world, "list", 10).tells(str![[r#"
error: `[WORLD]` is not in a collection
hint: name one with `-c PATH`, or make one with `urepo init PATH --host FQDN`

"#]]);
    refuses(&world, "status --machine -c nowhere/at/all", 10).tells(str![[r#"
error: `[WORLD]/nowhere/at/all` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
}

/// Only the settings are lost.
#[test]
fn without_settings() {
    let (world, _) = world_with_item();
    std::fs::remove_file(world.path("archive/urepo.toml")).unwrap();
    refuses(&world, "-c archive list", 10).tells(str![[r#"
error: the settings of the collection are missing: `[WORLD]/archive/urepo.toml`
hint: put it back from a backup; without one, `urepo -c [WORLD]/archive recover` writes it again

"#]]);
    refuses(&world, "verify archive", 10).tells(str![[r#"
error: the settings of the collection are missing: `[WORLD]/archive/urepo.toml`
hint: put it back from a backup; without one, `urepo -c [WORLD]/archive recover` writes it again

"#]]);
    refuses(&world, "init archive --host archive.example.org", 23).tells(str![[r#"
error: `[WORLD]/archive` has the ledger or the Originals of a collection, whose `urepo.toml` is missing
hint: `urepo -c [WORLD]/archive recover` writes it again

"#]]);
    world.run("-c archive recover").succeeded();
    world.run("-c archive verify").succeeded();
}

/// Commands over all known collections say what they looked for, and where.
#[test]
fn that_are_known() {
    let (world, name) = world_with_item();
    refuses(&world, "status", 10).tells(str![[r#"
error: `[WORLD]` is not in a collection
hint: name one with `-c PATH`, or make one with `urepo init PATH --host FQDN`

"#]]);
    refuses(&world, "-c archive status --with nowhere", 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
    refuses(&world, &format!("-c nowhere status {name}"), 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
    refuses(&world, "-c archive status 01.01.00.00", 21).tells(str![[r#"
error: no item `01.01.00.00` in 1 known collection
hint: `urepo status --settings` shows which are known; `--with COLLECTION` adds one

"#]]);
    let other = name.replace("archive", "maps");
    refuses(&world, &format!("-c archive status {other}"), 21).tells(str![[r#"
error: no item `example.org/maps/2026/11.21.02.13` in 1 known collection
hint: `urepo status --settings` shows which are known; `--with COLLECTION` adds one

"#]]);
    refuses_args(&world, ["-c", "archive", "status", "no such thing"], 1).tells(str![[r#"
error: invalid identifier `no such thing`
  no such thing
  ^^^^^^^^^^^^^ no identifier here; expected one such as sid.inpe.br/mtc-m18/2009/02.16.17.46 or 8JMKD3MGP8W/34PGRBS
hint: an identifier is subdomain/word/year/month.day.hour.minute[.second], in UTC

"#]]);
    world.write(".config/urepo/config.toml", "[collections]\nsafe = \"/no/disk\"\n");
    refuses(&world, "status 11.21.02.13", 21).tells(str![[r#"
warning: the collection `safe` cannot be opened: `/no/disk` is not a collection
error: no item `11.21.02.13` in 0 known collections
caused by: `safe` is not opened and may hold it
hint: `urepo status --settings` shows which are known; `--with COLLECTION` adds one

"#]]);
    refuses(&world, &format!("-c archive status {other}"), 21).tells(str![[r#"
warning: the collection `safe` cannot be opened: `/no/disk` is not a collection
error: no item `example.org/maps/2026/11.21.02.13` in 1 known collection
caused by: `safe` is not opened and may hold it
hint: `urepo status --settings` shows which are known; `--with COLLECTION` adds one

"#]]);
}

/// A disk may not be mounted, a name mistyped: nothing is to be made there.
#[test]
fn that_are_missing_by_path_and_name() {
    let world = world_with_file();
    let named = "[collections]\nmirror = \"/no/disk\"\n";
    world.write(".config/urepo/config.toml", named);
    refuses(&world, "-c archive copy --all --to mirrr", 10).tells(str![[r#"
error: `[WORLD]/mirrr` is not a collection
hint: did you mean `mirror`? `urepo status --settings` knows `mirror`

"#]]);
    refuses(&world, "-c archive copy --all --to elsewhere", 10).tells(str![[r#"
error: `[WORLD]/elsewhere` is not a collection
hint: `urepo status --settings` knows `mirror`

"#]]);
    refuses(&world, "-c archive copy --all --to mirror", 10).tells(str![[r#"
error: `/no/disk` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
    refuses(&world, "-c archive status --with no/disk", 10).tells(str![[r#"
warning: the collection `mirror` cannot be opened: `/no/disk` is not a collection
error: `[WORLD]/no/disk` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
    refuses(&world, "-c archive import -n no/drop", 1).tells(str![[r#"
error: cannot find `[WORLD]/no/drop`
caused by: No such file or directory (os error 2)
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
    refuses(&world, "-c archive import -n a.txt --reject-dir no/rejected", 1).tells(str![[r#"
error: cannot find `[WORLD]/no/rejected`
caused by: No such file or directory (os error 2)
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
}

#[test]
fn one_in_another() {
    let world = World::with_collection();
    refuses(&world, "init archive --host other.example.org", 23).tells(str![[r#"
error: `[WORLD]/archive` is a collection already
hint: deposit into it with `urepo -c ./archive new PATH`

"#]]);
    refuses(&world, "init archive/maps --host maps.example.org", 23).tells(str![[r#"
error: a collection cannot lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
    refuses(&world, "init archive/a/b/c --host maps.example.org", 23).tells(str![[r#"
error: a collection cannot lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
    refuses(&world, "init . --host maps.example.org", 23).tells(str![[r#"
error: a collection cannot lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
    symlink("archive", world.path("link")).unwrap();
    refuses(&world, "init link/maps --host maps.example.org", 23).tells(str![[r#"
error: a collection cannot lie in another: `[WORLD]/archive` is one
hint: choose a place beside it; collections stand side by side

"#]]);
    refuses(&world, "init link --host maps.example.org", 23).tells(str![[r#"
error: `[WORLD]/link` is a collection already
hint: deposit into it with `urepo -c ./link new PATH`

"#]]);
}

#[test]
fn where_none_can_be() {
    let world = World::new();
    world.write("file", "");
    refuses(&world, "init file --host archive.example.org", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/file`
caused by: Not a directory (os error 20)

"#]]);
    refuses(&world, "init file/archive --host archive.example.org", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/file/archive`
caused by: Not a directory (os error 20)

"#]]);
    symlink("nowhere", world.path("dangling")).unwrap();
    refuses(&world, "init dangling --host archive.example.org", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/dangling`
caused by: Not a directory (os error 20)

"#]]);
}

#[test]
fn asked_to_be_made_with_other_names() {
    let world = world_with_file();
    let line = "-c archive new a.txt --init --host other.example.org";
    refuses(&world, line, 23).tells(str![[r#"
error: `[WORLD]/archive` is a collection already, with other identifiers
caused by: it has no subsystem `example.org/other`
hint: leave `--init` away, or add the subsystem to `[WORLD]/archive/urepo.toml`

"#]]);
}

#[test]
fn with_damaged_settings() {
    let world = world_with_file();
    let settings = |text: &str| drop(world.write("archive/urepo.toml", text));
    let whole = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    settings("format = 1\nid = \n");
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 2: string values must be quoted, expected literal string
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&format!("colour = 3\n{whole}"));
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 1: unknown field `colour`, expected one of `format`, `id`, `name`, `network`, `copies`, `spread`, `archive`, `subsystem`
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&format!("copies = -1\n{whole}"));
    refuses(&world, "-c archive status", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 1: invalid value: integer `-1`, expected u32
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&format!("{whole}copies = 2\n"));
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 11: `copies` belongs above the first `[[subsystem]]`, as all below that is the subsystem's
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&whole.replace("host =", "hots ="));
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 8: unknown field `hots`, expected one of `name`, `host`, `port`, `ip`, `ip_port`, `granularity`, `machine`, `takes`
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&whole.replace("port = 80", "port = 0"));
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: subsystem of archive.example.org: port 0 does not exist; ports are 1 to 65535
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&whole.replace("archive.example.org", "archive"));
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: line 8: invalid host name `archive`: a host of one word has no subdomain; expected one such as `mtc.sid.inpe.br`
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings("format = 1\nid = \"x\"\nname = \"archive\"\n");
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: `id` is not 32 hexadecimal digits
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&whole.replace("format = 1", "format = 2"));
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: it has format 2; this urepo reads format 1
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&format!(
        "format = 2\nfrom_the_future = true\n{}",
        &whole[whole.find("id").unwrap()..]
    ));
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: it has format 2; this urepo reads format 1
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    let subsystem = &whole[whole.find("[[subsystem]]").unwrap()..];
    settings(&format!("{whole}\n{}", subsystem.replace("archive.", "ARCHIVE.")));
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: two subsystems have the prefix `example.org/archive`
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
    settings(&whole.replace(subsystem, ""));
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: no subsystem at all in `[WORLD]/archive/urepo.toml`
hint: `[WORLD]/archive/urepo.toml` names the subsystems: host, port and name

"#]]);
    refuses(&world, "-c archive mint", 1).tells(str![[r#"
error: no subsystem at all in `[WORLD]/archive/urepo.toml`
hint: `[WORLD]/archive/urepo.toml` names the subsystems: host, port and name

"#]]);
    settings(&whole);
    refuses(&world, "-c archive new a.txt --subsystem maps", 1).tells(str![[r#"
error: no subsystem `maps` in `[WORLD]/archive/urepo.toml`
hint: `[WORLD]/archive/urepo.toml` names the subsystems: host, port and name

"#]]);
    std::fs::write(world.path("archive/urepo.toml"), vec![b'#'; 1024 * 1024 + 1]).unwrap();
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot read `[WORLD]/archive/urepo.toml`
caused by: it is larger than 1048576 bytes

"#]]);
    std::fs::write(world.path("archive/urepo.toml"), b"name = \"\xff\"").unwrap();
    refuses(&world, "-c archive list", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: invalid utf-8 sequence of 1 bytes from index 8
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
}

//! What a person sees: the screens of `show`, `status` and `verify`.

use std::process::Stdio;

use snapbox::str;

use super::leaf;
use super::progress::read_until;
use crate::support::{Ran, World, wide_terminal};

/// A world whose settings name `archive`, with a field trip, and `mirror`, with nothing; and the item's name.
fn world() -> (World, String) {
    let world = World::new();
    for root in ["archive", "mirror"] {
        world.run(&format!("-q init {root} --host {root}.example.org")).succeeded();
    }
    let roots = ["archive", "mirror"].map(|root| world.path(root).display().to_string());
    let settings = format!("[collections]\narchive = '{}'\nmirror = '{}'\n", roots[0], roots[1]);
    world.write(".config/urepo/config.toml", settings);
    world.write("trip/diary.txt", "rain again\n");
    world.write("trip/photos/1.png", "PNG\n");
    let args = ["-c", "archive", "new", "trip", "--target", "diary.txt", "--title", "Field trip"];
    let more = ["--creator", "Silva, A.", "--meta", "date=1911~"];
    let ran = world.run_args(args.into_iter().chain(more));
    let name = ran.line();
    (world, name)
}

/// What was printed, with `ITEM` for the identifier.
#[track_caller]
fn shows(ran: &Ran, name: &str, expected: snapbox::data::Inline) {
    let assert = snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    let text = format!("{}{}", ran.stdout, ran.stderr).replace(name, "ITEM");
    assert.eq(text, expected);
}

#[test]
fn an_item() {
    let (world, name) = world();
    let show = |root: &str, item: &str| world.run(&format!("-c {root} show {item}"));
    world.run("-c archive copy --all --to mirror").succeeded();
    shows(
        &show("archive", leaf(&name)),
        &name,
        str![[r#"
ITEM
title      Field trip
creator    Silva, A.
date       1911~
link       http://urlib.net/ITEM
deposited  [..] UTC by [..], from [WORLD]/trip
opens      diary.txt
files      2, 15 B
  11 B     diary.txt
  4 B      photos/1.png
held by    archive  Original
           mirror   Copy, up to date

"#]],
    );
    world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
    let shown = show("mirror", &name);
    // The ledger of the archive knows who deposited it.
    assert!(shown.succeeded().contains(" UTC by "), "{}", shown.stdout);
    let held = "held by    mirror   Copy, older by 1 change\n           archive  Original\n";
    assert!(shown.stdout.ends_with(held), "{}", shown.stdout);
    // On its own, a collection knows less.
    std::fs::rename(world.path("archive"), world.path("away")).unwrap();
    let shown = show("mirror", &name);
    assert!(shown.stdout.ends_with("held by    mirror  Copy\n"), "{}", shown.stdout);
    let verbose = world.run(&format!("-c mirror show -v {name}"));
    for key in ["state", "created", "timestamp", "path", "origin.source", "custody", "sha256"] {
        let is_there = verbose.stdout.lines().any(|line| line.split(' ').next() == Some(key));
        assert!(is_there, "{key}: {}", verbose.stdout);
        assert!(!shown.stdout.contains(&format!("\n{key} ")), "{key}: {}", shown.stdout);
    }
}

#[test]
fn an_item_with_many_files() {
    let world = World::with_collection();
    (0..23).for_each(|at| drop(world.write(&format!("in/{at:02}"), "x")));
    let name = world.run("-c archive new in").line();
    let shown = world.run(&format!("-c archive show {name}"));
    assert_eq!(shown.succeeded().matches("  1 B  ").count(), 20, "{}", shown.stdout);
    assert!(shown.stdout.contains("and 3 more; -v names each\n"), "{}", shown.stdout);
    let shown = world.run(&format!("-c archive show -v {name}"));
    assert_eq!(shown.succeeded().matches("  1 B  ").count(), 23, "{}", shown.stdout);
}

#[test]
fn an_item_that_was_deleted_or_moved() {
    let (world, name) = world();
    world.run(&format!("-c archive migrate {name} --to mirror")).succeeded();
    shows(
        &world.run(&format!("-c archive show {name}")),
        &name,
        str![[r#"
ITEM
title      Field trip
creator    Silva, A.
date       1911~
link       http://urlib.net/ITEM
deposited  [..] UTC by [..], from [WORLD]/trip
opens      diary.txt
moved      to mirror on [..]; 2 files, 15 B
held by    mirror  Original

"#]],
    );
    let delete = format!("-c mirror delete {name} --force last --yes --reason again");
    world.run(&delete).succeeded();
    shows(
        &world.run(&format!("-c mirror show {name}")),
        &name,
        str![[r#"
ITEM
title      Field trip
creator    Silva, A.
date       1911~
link       http://urlib.net/ITEM
deposited  [..] UTC by [..], from [WORLD]/trip
opens      diary.txt
files      2, 15 B
  11 B     diary.txt
  4 B      photos/1.png
deleted    [..] by [..]: again; in the trash

"#]],
    );
}

/// What a person sees who types `line`: the answer on a terminal of 100 columns, then the rest.
fn seen(world: &World, line: &str) -> Option<Ran> {
    let (mut own, programs) = wide_terminal(100)?;
    let mut command = world.command(line.split_whitespace());
    command.stdout(programs).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    drop(command);
    let mut shown = String::new();
    read_until(&mut own, &mut shown, |_| false);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let here = world.path("").display().to_string();
    let [stdout, stderr] = [shown, stderr].map(|text| text.replace(&here, "[WORLD]/"));
    Some(Ran { code: output.status.code().unwrap(), stdout, stderr })
}

#[test]
fn collections() {
    let (world, name) = world();
    let Some(ran) = seen(&world, "status") else { return };
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    shows(
        &ran,
        name.rsplit_once("archive/").unwrap().1,
        str![[r#"
archive  [WORLD]/archive  1 Original   0 Copies  15 B  never read
mirror   [WORLD]/mirror   0 Originals  0 Copies   0 B  never read
no Copy: 1 item, of which there should be 1 Copy
  ITEM  Field trip
  -> urepo -c archive copy --all --to mirror
error: 1 of 1 item needs attention

"#]],
    );
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run("-c mirror verify").succeeded();
    shows(
        &seen(&world, "status").unwrap(),
        &name,
        str![[r#"
archive  [WORLD]/archive  1 Original   0 Copies  15 B  never read
mirror   [WORLD]/mirror   0 Originals  1 Copy    15 B  read today
1 item: each has its 1 Copy, and all agree

"#]],
    );
}

#[test]
fn items_in_groups_with_what_mends_them() {
    let (world, name) = world();
    for at in 0..22 {
        world.write("letter", format!("{at}"));
        world.run("-c archive new letter --title Letter").succeeded();
    }
    world.run("-c archive copy --all --to mirror").succeeded();
    let all = world.run("-c archive list");
    for name in all.succeeded().lines() {
        std::fs::remove_dir_all(world.path("archive").join(name)).unwrap();
    }
    let Some(ran) = seen(&world, "status") else { return };
    assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines[2], "missing: 23 items are gone from archive; mirror has them");
    let (_, short) = name.rsplit_once("archive/").unwrap();
    let is_it =
        |line: &&str| line.starts_with(&format!("  {short} ")) && line.ends_with("  Field trip");
    assert!(lines.iter().any(is_it), "{}", ran.stdout);
    let end = ["  and 3 more; -v names each", "  -> urepo -c archive repair --from mirror"];
    assert_eq!(lines[23..], end);
    assert_eq!(ran.stderr, "error: 23 of 23 items need attention\n");
    world.run(lines[24].trim_start_matches("  -> urepo ")).succeeded();
    assert_eq!(seen(&world, "status").unwrap().code, 0);
}

#[test]
fn an_item_that_was_changed_in_two_places() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    std::fs::rename(world.path("archive"), world.path("away")).unwrap();
    world.run(&format!("-c mirror promote {name} --lost archive -y")).succeeded();
    world.run(&format!("-c mirror meta set {name} title=Here")).succeeded();
    std::fs::rename(world.path("mirror"), world.path("hidden")).unwrap();
    std::fs::rename(world.path("away"), world.path("archive")).unwrap();
    world.run(&format!("-c archive meta set {name} title=There")).succeeded();
    std::fs::rename(world.path("hidden"), world.path("mirror")).unwrap();
    let Some(ran) = seen(&world, "status") else { return };
    assert_eq!(ran.code, 23, "{}{}", ran.stdout, ran.stderr);
    let (_, short) = name.rsplit_once("archive/").unwrap();
    let ran = Ran { stdout: ran.stdout.replace(&name, "ITEM"), ..ran };
    shows(
        &ran,
        short,
        str![[r#"
archive  [WORLD]/archive  1 Original   0 Copies  15 B  never read
mirror   [WORLD]/mirror   1 Original   0 Copies  15 B  never read
changed in two places: 1 item in archive and mirror
  ITEM  There
    archive  [..]  [..]  title: "There"  newer
    mirror   [..]  [..]  title: "Here"
  -> to keep that in mirror: urepo -c mirror promote ITEM --discard
     to keep that in archive: urepo -c archive promote ITEM --discard
error: 1 of 1 item needs attention

"#]],
    );
}

#[test]
fn findings() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.write(&format!("archive/{name}/doc/diary.txt"), "snow again\n");
    let Some(ran) = seen(&world, "-c archive verify") else { return };
    let (_, short) = name.rsplit_once("archive/").unwrap();
    let stderr = ran.stderr.replace(&name, "ITEM");
    shows(
        &Ran { stderr, ..ran },
        short,
        str![[r#"
damage   ITEM  diary.txt  bytes are not those deposited  U204
warning  ITEM  diary.txt  other time or mode than recorded  U305
error: 1 of 1 item damaged
hint: urepo -c archive repair ITEM --from mirror

"#]],
    );
    let piped = world.run("-c archive verify");
    let line = format!("damage\t{name}\tdiary.txt\tbytes are not those deposited\tU204\n");
    assert!(piped.stdout.starts_with(&line), "{}", piped.stdout);
    let verbose = world.run("-c archive verify -v");
    assert!(verbose.stdout.contains("deposited: sha256 "), "{}", verbose.stdout);
}

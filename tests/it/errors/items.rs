//! Items that are not in order.

use super::*;

#[test]
fn with_a_damaged_sidecar() {
    let (world, name) = world_with_item();
    let path = format!("archive/{name}/item.toml");
    let whole = std::fs::read_to_string(world.path(&path)).unwrap();
    world.write(&path, whole.replace("state = \"Original\"", "state = Original"));
    refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: line 2, column 9: string values must be quoted, expected literal string
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    refuses(&world, "-c archive cat 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: line 2, column 9: string values must be quoted, expected literal string
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    refuses(&world, "-c archive list --long", 3).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`: line 2, column 9: string values must be quoted, expected literal string
error: the sidecars of 1 item cannot be read
hint: `urepo -c archive verify --quick` lists what is wrong with them

"#]]);
    world.write(&path, whole.replace("format = 1", "format = 2"));
    refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: it has format 2; this urepo reads up to format 1
hint: `urepo -c archive verify --quick example.org/archive/2026/11.21.02.13` lists every problem of this item

"#]]);
    refuses(&world, "-c archive list --long", 3).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`: it has format 2; this urepo reads up to format 1
error: the sidecars of 1 item cannot be read
hint: `urepo -c archive verify --quick` lists what is wrong with them

"#]]);
    world.write(&path, whole.replace("Original", "Lost"));
    refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: `state`: `Lost` is not a state; expected `Original`, `Copy`, `Elsewhere` or `Deleted`
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    world.write(&path, b"\xff\xfe");
    refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: byte 0 is not UTF-8
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    world.write(&path, whole.replace("\"a.txt\"", "\"../a.txt\""));
    refuses(&world, "-c archive show --as manifest 11.21.02.13", 20).tells(str![[r#"
error: cannot read the sidecar of `example.org/archive/2026/11.21.02.13`
caused by: `path`: `../a.txt` is not a path below the payload
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    std::fs::remove_file(world.path(&path)).unwrap();
    refuses(&world, "-c archive show 11.21.02.13", 20).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    refuses(&world, "-c archive list --long", 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
error: the sidecars of 1 item cannot be read
hint: `urepo -c archive verify --quick` lists what is wrong with them

"#]]);
    refuses(&world, "-c archive cat 11.21.02.13", 20).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    refuses(&world, "-c archive show --as manifest 11.21.02.13", 20).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal

"#]]);
    refuses(&world, "-c archive show --as manifest --all", 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13` has no sidecar
hint: only payload without a sealed sidecar is left: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive repair example.org/archive/2026/11.21.02.13 --reseal
error: 1 of 1 item could not be read
hint: each is named above, with its reason

"#]]);
    std::fs::create_dir(world.path(&path)).unwrap();
    refuses(&world, "-c archive show 11.21.02.13", 1).tells(str![[r#"
error: cannot read `[WORLD]/archive/example.org/archive/2026/11.21.02.13/item.toml`
caused by: Is a directory (os error 21)

"#]]);
}

#[test]
fn with_the_sidecar_of_another() {
    let (world, name) = world_with_item();
    let path = format!("archive/{name}/item.toml");
    let whole = std::fs::read_to_string(world.path(&path)).unwrap();
    world.write(&path, whole.replace("11.21.02.13", "11.21.02.14"));
    let ran = world.run("-c archive show 11.21.02.13");
    same(
        &ran.stderr,
        str![[r#"
error: the sidecar of `example.org/archive/2026/11.21.02.13` is that of `example.org/archive/2026/11.21.02.14`
hint: nothing in sight has the item whole: urepo -c archive repair example.org/archive/2026/11.21.02.13 --from COLLECTION, from one that has it
hint: if none has it: urepo -c archive recover --accept-loss example.org/archive/2026/11.21.02.13

"#]],
    );
}

#[test]
fn whose_files_are_not_there() {
    let (world, name) = world_with_item();
    refuses(&world, "-c archive cat 11.21.02.13/b.txt", 21).tells(str![[r#"
error: no file `b.txt` in `example.org/archive/2026/11.21.02.13`
hint: `urepo -c archive show -v example.org/archive/2026/11.21.02.13` lists them

"#]]);
    refuses(&world, "-c archive cat 11.21.02.13/../item.toml", 1).tells(str![[r#"
error: `../item.toml` is not a path below the payload

"#]]);
    refuses(&world, "-c archive cat 11.21.02.14", 21).tells(str![[r#"
error: no item `11.21.02.14` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    std::fs::remove_file(world.path(format!("archive/{name}/doc/a.txt"))).unwrap();
    refuses(&world, "-c archive cat 11.21.02.13", 20).tells(str![[r#"
error: `a.txt` of `example.org/archive/2026/11.21.02.13` is not there as a file
caused by: cannot open `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt`: No such file or directory (os error 2)
hint: `urepo -c archive verify example.org/archive/2026/11.21.02.13` says what else is wrong

"#]]);
    symlink("/etc/hostname", world.path(format!("archive/{name}/doc/a.txt"))).unwrap();
    refuses(&world, "-c archive cat 11.21.02.13", 20).tells(str![[r#"
error: `a.txt` of `example.org/archive/2026/11.21.02.13` is not there as a file
caused by: cannot open `[WORLD]/archive/example.org/archive/2026/11.21.02.13/doc/a.txt`: it, or a directory on the way to it, is a symbolic link
hint: `urepo -c archive verify example.org/archive/2026/11.21.02.13` says what else is wrong

"#]]);
}

#[test]
fn that_are_several() {
    let (world, _) = world_with_item();
    for prefix in ["other.org/archive", "example.org/maps"] {
        let directory = world.path(format!("archive/{prefix}/2026/11.21.02.13"));
        std::fs::create_dir_all(directory).unwrap();
    }
    refuses(&world, "-c archive show 11.21.02.13", 21).sorted().tells(str![[r#"
  example.org/archive/2026/11.21.02.13
  example.org/maps/2026/11.21.02.13
  other.org/archive/2026/11.21.02.13
error: `11.21.02.13` is the end of 3 identifiers
hint: type more of the identifier
"#]]);
    refuses(&world, "-c archive show archive/2026/11.21.02.13", 21).sorted().tells(str![[r#"
  example.org/archive/2026/11.21.02.13
  other.org/archive/2026/11.21.02.13
error: `archive/2026/11.21.02.13` is the end of 2 identifiers
hint: type more of the identifier
"#]]);
}

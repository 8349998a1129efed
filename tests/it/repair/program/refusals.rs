//! Repairs that are refused.

use super::*;

#[test]
fn what_is_refused() {
    let (world, name) = world();
    refuses(
        &world,
        "-c archive repair --from archive",
        &name,
        1,
        str![[r#"
error: `archive` is the collection that is to be repaired
hint: name another one that holds the same items

"#]],
    );
    refuses(
        &world,
        "-c archive repair --from nowhere",
        &name,
        10,
        str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]],
    );
    fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    fs::remove_file(inventory_file(&world.path("archive"), &name)).unwrap();
    let line = format!("-c archive repair {name} --from backup");
    refuses(
        &world,
        &line,
        &name,
        21,
        str![[r#"
error: no item `[NAME]` in `[WORLD]/archive`
hint: `urepo -c [WORLD]/backup copy [NAME] --to [WORLD]/archive` brings it here

"#]],
    );
}

#[test]
fn sidecars_that_nobody_can_decide_on() {
    let (world, name) = world();
    let sidecar = in_item(&world, "archive", &name, "item.toml");
    let text = fs::read_to_string(&sidecar).unwrap();
    let line = format!("-c archive repair {name}");
    fs::write(&sidecar, text.replace("Letters", "My letters")).unwrap();
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: the sidecar of `[NAME]` does not match its seal, and no copy confirms it
hint: `--from COLLECTION` names a collection with a good copy; if you edited the sidecar, `urepo -c archive meta accept [NAME]`

"#]],
    );
    fs::write(&sidecar, "rot").unwrap();
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: the sidecar of `[NAME]` is lost and no copy has a sealed one: line 1, column 4: key with no value, expected `=`
hint: `--from COLLECTION` names a collection with a good copy

"#]],
    );
    fs::write(&sidecar, text.replace("format = 1", "format = 2")).unwrap();
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: the sidecar of `[NAME]` was written by a later urepo
caused by: it has format 2; this urepo reads up to format 1
hint: use that version, or a later one

"#]],
    );
    // The backup becomes a collection of its own.
    let settings = world.path("backup/urepo.toml");
    let own = fs::read_to_string(&settings).unwrap();
    let id = own.lines().find(|line| line.starts_with("id = ")).unwrap().to_owned();
    fs::write(&settings, own.replace(&id, "id = \"00000000000000000000000000000000\"")).unwrap();
    fs::remove_file(&sidecar).unwrap();
    let line = format!("-c archive repair {name} --from backup");
    refuses(
        &world,
        &format!("{line} --state original"),
        &name,
        23,
        str![[r#"
error: the Original of `[NAME]` is in `[WORLD]/backup`
hint: repair it with `--state copy`

"#]],
    );
    let theirs = in_item(&world, "backup", &name, "item.toml");
    let copy = {
        let (mut copy, _) = urepo::sidecar::Sidecar::read(text.as_bytes()).unwrap();
        copy.state = urepo::item::State::Copy;
        copy.origin.insert("collection".into(), "another".into());
        copy.to_text()
    };
    fs::write(&theirs, &copy).unwrap();
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: nothing tells whether `[NAME]` was an Original or a Copy here
hint: name the collection of the Original with `--from`, or say `--state original` or `--state copy`

"#]],
    );
    fs::remove_file(inventory_file(&world.path("archive"), &name)).unwrap();
    fs::rename(in_item(&world, "archive", &name, "doc"), world.path("archive/doc-elsewhere"))
        .unwrap();
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: `[NAME]` may have been deleted here: it has neither a sidecar nor a payload
hint: if it was not deleted, say what it was: `--state original` or `--state copy`

"#]],
    );
    world.run(&format!("{line} --state original")).succeeded();
    world.run("-c archive verify").succeeded();
}

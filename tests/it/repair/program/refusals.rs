//! Repairs that are refused.

use super::*;
use crate::support::forget;

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
    forget(&world.path("archive"), &name);
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
error: the sidecar of `[NAME]` is lost and no other is whole: it was changed by hand or damaged
hint: `--from COLLECTION` names a collection with a good copy; `urepo -c archive repair [NAME] --accept` takes what was edited by hand

"#]],
    );
    fs::write(&sidecar, "rot").unwrap();
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: the sidecar of `[NAME]` is lost and no other is whole: line 1, column 4: key with no value, expected `=`
hint: `--from COLLECTION` names a collection with a good copy; `urepo -c archive repair [NAME] --accept` takes what was edited by hand

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
    fs::remove_file(&sidecar).unwrap();
    forget(&world.path("archive"), &name);
    fs::rename(in_item(&world, "archive", &name, "doc"), world.path("archive/doc-elsewhere"))
        .unwrap();
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: the sidecar of `[NAME]` is lost and no other is whole: it is missing
hint: `--from COLLECTION` names a collection with a good copy; `urepo -c archive repair [NAME] --accept` takes what was edited by hand

"#]],
    );
    let line = format!("-c archive repair {name} --from backup");
    refuses(
        &world,
        &line,
        &name,
        20,
        str![[r#"
error: `[NAME]` may have been deleted here: it has neither a sidecar nor a payload
hint: bring `item.toml` back from a backup; if the item was not deleted, remove the directory and copy it

"#]],
    );
}

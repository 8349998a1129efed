//! Verifications that are refused.

use super::*;

#[test]
fn items_and_collections_together() {
    let (world, _) = world_with_item();
    world.run("init maps --host maps.example.org").succeeded();
    refuses(&world, "verify archive maps nowhere", 21).tells(str![[r#"
error: no item `nowhere` in `[WORLD]/archive`
caused by: `nowhere` is not a collection either
hint: `urepo list` lists the identifiers

"#]]);
    refuses(&world, "verify archive nowhere", 21).tells(str![[r#"
error: no item `nowhere` in `[WORLD]/archive`
caused by: `nowhere` is not a collection either
hint: `urepo list` lists the identifiers

"#]]);
    for line in ["verify --quick archive ./gone", "verify ITEM archive ./gone", "verify ./gone"] {
        refuses(&world, line, 10).tells(str![[r#"
error: `[WORLD]/gone` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
    }
    refuses(&world, "verify nowhere", 10).tells(str![[r#"
error: `[WORLD]` is not in a collection
hint: name one with `-c PATH`, or make one with `urepo init PATH --host FQDN`

"#]]);
    refuses(&world, "-c archive verify archive maps", 2).tells(str![[r#"
error: the collections are named twice, by `-c` and by their roots
hint: name all of them after `verify`

"#]]);
    world.write("maps/urepo.toml", "?");
    refuses(&world, "verify archive maps", 1).tells(str![[r#"
error: cannot use the settings `[WORLD]/maps/urepo.toml`
caused by: line 1: key with no value, expected `=`
hint: correct `[WORLD]/maps/urepo.toml`; `urepo status --settings` shows the settings

"#]]);
}

#[test]
fn with_flags_that_do_not_agree() {
    let (world, _) = world_with_item();
    refuses(&world, "-c archive verify --time-limit 5h 11.21.02.13", 2).tells(str![[r#"
error: `--time-limit` cannot be used with items
hint: items that are named are always verified, all of them

"#]]);
    refuses(&world, "-c archive verify --prefix example.org/archive 11.21.02.13", 2).tells(str![[
        r#"
error: `11.21.02.13` cannot be used with `--all` and the like
hint: name the items, or leave them out and select them all

"#
    ]]);
    refuses(&world, "-c archive verify --quick --time-limit 5h", 2).tells(str![[r#"
error: the argument '--quick' cannot be used with '--time-limit <TIME>'
hint: Usage: urepo verify --quick [ITEM|COLLECTION]...

"#]]);
    refuses(&world, "-c archive verify --time-limit tonight", 2).tells(str![[r#"
error: invalid value 'tonight' for '--time-limit <TIME>': expected a number and a unit, such as 30s, 5m, 4h or 30d

"#]]);
}

#[test]
fn directories_that_can_not_be_listed() {
    let (world, _) = world_with_item();
    world.write("archive/maps.example.org/archive/README", "a stray");
    let Some(user) = OrdinaryUser::of(world) else { return };
    let world = &user.world;
    user.closes("archive/example.org/archive");
    refuses_command(world, user.command("-c archive list"), 3).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org/archive`: Permission denied (os error 13)
error: 1 directory cannot be listed
hint: `urepo -c archive verify --quick` lists what is wrong with them

"#]]);
    let ran = world.finish(user.command("-c archive list --json"));
    assert_eq!(ran.code, 3);
    same(
        &ran.stdout,
        str![[r#"
{"hint":"`namei -l [WORLD]/archive/example.org/archive` shows who may do what on the way","kind":"unlisted","message":"cannot open the directory `[WORLD]/archive/example.org/archive`: Permission denied (os error 13)","path":"[WORLD]/archive/example.org/archive","severity":"unread","type":"finding","version":1}
{"counts":{"failed":0,"items":0,"unlisted_directories":1},"exit_code":3,"type":"summary","version":1}

"#]],
    );
    user.closes("archive/maps.example.org/archive");
    refuses_command(world, user.command("-c archive list"), 3).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org/archive`: Permission denied (os error 13)
error: cannot open the directory `[WORLD]/archive/maps.example.org/archive`: Permission denied (os error 13)
error: 2 directories cannot be listed
hint: `urepo -c archive verify --quick` lists what is wrong with them

"#]]);
    let ran = world.finish(user.command("-c archive verify"));
    assert_eq!(ran.code, 3);
    same(
        &format!("{}{}", ran.stdout, ran.stderr),
        str![[r#"
unread		example.org/archive	an entry cannot be read, so its state is unknown: Permission denied (os error 13); the items in it were not verified	U208
unread		maps.example.org/archive	an entry cannot be read, so its state is unknown: Permission denied (os error 13); the items in it were not verified	U208
error: 2 places outside the items could not be read
hint: make the paths named above readable, and repeat the command: their state is unknown

"#]],
    );
    user.owns_everything();
}

/// They are not known to be damaged, which others may be.
#[test]
fn files_that_may_not_be_read() {
    let (world, name) = world_with_item();
    world.write("b.txt", "b");
    let damaged = world.run("-c archive new b.txt").line();
    let Some(user) = OrdinaryUser::of(world) else { return };
    let world = &user.world;
    let file = std::fs::read_dir(world.path("archive").join(name).join("doc")).unwrap();
    let file = file.map(|entry| entry.unwrap().file_name().into_string().unwrap()).next().unwrap();
    user.closes(&format!("archive/{name}/doc/{file}"));
    let ran = world.finish(user.command("-c archive verify"));
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("unread\t"), "{}", ran.stdout);
    assert!(ran.stderr.contains("error: 1 of 2 items could not be read\n"), "{}", ran.stderr);
    let ran = world.finish(user.command("-c archive verify --json"));
    for part in [r#""did":"unread""#, r#""severity":"unread""#, r#""damaged":0"#, r#""unread":1"#] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    world.write(&format!("archive/{damaged}/doc/b.txt"), "c");
    let ran = world.finish(user.command("-c archive verify"));
    assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
    let told = "error: 1 of 2 items damaged, and 1 of 2 items could not be read\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    user.owns_everything();
}

/// A collection that can not be written to is verified all the same.
#[test]
fn read_only() {
    let script = "
            mount -t tmpfs tmpfs mount
            $UREPO init mount/archive --host archive.example.org 2>told
            $UREPO -q -c mount/archive new a.txt >told
            mount -o remount,bind,ro mount
            before=$(contents)
            code=0; $UREPO -c mount/archive verify 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive verify --time-limit 5h 2>told || code=$?; tell $code";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 0
verified 1 item, 1 file, 1 B: no damage
exit 0
verified 1 item, 1 file, 1 B: no damage
the round is complete; the next run begins another

"#]],
    );
}

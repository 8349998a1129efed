//! Collections that cannot be used.

use super::*;

#[test]
fn that_are_one() {
    let world = with_mirror();
    refuses(&world, "-c archive copy --all --to archive", 23).tells(str![[r#"
error: source and destination are one collection: `[WORLD]/archive`
hint: name another collection with `--to`

"#]]);
    symlink("archive", world.path("alias")).unwrap();
    refuses(&world, "-c archive migrate --all --to alias", 23).tells(str![[r#"
error: source and destination are one collection: `[WORLD]/archive`
hint: name another collection with `--to`

"#]]);
    let clone = std::fs::read(world.path("archive/urepo.toml")).unwrap();
    world.write("clone/urepo.toml", clone);
    std::fs::create_dir_all(world.path("clone/.urepo/staging")).unwrap();
    crate::support::copy_tree(
        &world.path("archive/.urepo/ledger"),
        &world.path("clone/.urepo/ledger"),
    );
    std::fs::create_dir_all(world.path("clone/.urepo/memory")).unwrap();
    world.write("clone/.urepo/lock", "");
    refuses(&world, "-c archive copy --all --to clone", 23).tells(str![[r#"
error: `[WORLD]/archive` and `[WORLD]/clone` have the same collection id
hint: if `[WORLD]/clone` is to be a collection of its own, `urepo -c [WORLD]/clone recover --new-id`

"#]]);
}

#[test]
fn that_are_not_there() {
    let world = with_mirror();
    refuses(&world, "-c archive copy --all --to nowhere", 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
    refuses(&world, "-c mirror copy --all --from nowhere", 10).tells(str![[r#"
error: `[WORLD]/nowhere` is not a collection
hint: is it mounted? `findmnt` lists mounted file systems

"#]]);
}

#[test]
fn that_are_full_or_read_only() {
    let script = "
            $UREPO -q init archive --host archive.example.org
            head -c 4000000 /dev/zero >large
            large=$($UREPO -c archive new large)
            mount -t tmpfs -o size=1m tmpfs mount
            $UREPO -q init mount/mirror --host mirror.example.org
            code=0; $UREPO -c archive copy $large --to mount/mirror 2>told || code=$?
            tell $code | sed \"s|$large|[NAME]|g\"
            mount -o remount,bind,ro mount
            code=0; $UREPO -c archive copy $large --to mount/mirror 2>told || code=$?; tell $code";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 1
error: no room for `[NAME]`: it takes 3.8 MiB, `[WORLD]/mount/mirror` has 992 KiB
hint: make room, and repeat the command
exit 1
error: cannot open `[WORLD]/mount/mirror/.urepo/lock`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T [WORLD]/mount/mirror` shows it

"#]],
    );
}

/// Items for which there is room arrive, confirmed. No migration is left open by one for which there is none.
#[test]
fn that_fill_up() {
    let script = r#"
            $UREPO -q init archive --host archive.example.org
            mkdir many; for i in $(seq 200); do seq $i 2000 >many/$i; done
            $UREPO -q -c archive new --each many/* >names
            fill() {
                mount -t tmpfs -o size=1m tmpfs mount
                $UREPO -q init mount/mirror --host mirror.example.org
                code=0; $UREPO -c archive "$@" --to mount/mirror 2>told || code=$?
                items=$($UREPO -c mount/mirror list | wc -l)
                # How many depends on how far the threads are.
                test $items -ge 20 && items=many
                echo "exit $code with $items of 200 items"
                sed -n 's/[0-9]\+ more/N more/p' told
                echo "$(grep -c 'confirm\|not finished' told) unconfirmed"
                find mount/mirror/.urepo archive/.urepo -path '*/staging/?*' -o -path '*/journal/?*'
                $UREPO -q verify archive mount/mirror >told 2>&1 || cat told
                umount mount
            }
            fill copy --all
            fill migrate --all"#;
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 3 with many of 200 items
error: N more for which there is no room; `-v` names each
0 unconfirmed
exit 3 with many of 200 items
error: N more for which there is no room; `-v` names each
0 unconfirmed

"#]],
    );
}

/// A source that can not be written to can be copied from, and does not give anything away.
#[test]
fn that_can_only_be_read() {
    let script = "
            mount -t tmpfs tmpfs mount
            $UREPO -q init mount/archive --host archive.example.org
            $UREPO -q init mirror --host mirror.example.org
            name=$($UREPO -c mount/archive new a.txt)
            mount -o remount,bind,ro mount
            code=0; $UREPO -c mount/archive migrate --all --to mirror 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive copy --all --to mirror 2>told || code=$?; tell $code";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 1
error: cannot open `[WORLD]/mount/archive/.urepo/lock`
caused by: Read-only file system (os error 30)
hint: the file system is mounted read-only; `findmnt -T [WORLD]/mount/archive` shows it
exit 0
copied 1 item, 1 file, 1 B

"#]],
    );
}

/// The hint is on the collection that lacks the item, not on the one in use.
#[test]
fn that_lost_an_item() {
    let world = with_copy(|_| ());
    std::fs::remove_dir_all(world.path("archive").join(NAME)).unwrap();
    refuses(&world, "-c mirror copy 11.21.02.13 --to archive", 21).tells(str![[r#"
error: no item `example.org/archive/2026/11.21.02.13` in `[WORLD]/archive`: it should be here, and is missing
hint: the item is missing or damaged here, and another collection has it: urepo -c [WORLD]/archive repair example.org/archive/2026/11.21.02.13 --from [WORLD]/mirror

"#]]);
}

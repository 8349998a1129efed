//! Destinations that are not directories or have no room.

use super::*;

/// Whoever can write into the collection can not make urepo write elsewhere.
#[test]
fn that_are_links() {
    let world = world_with_file();
    world.write("elsewhere/file", "");
    symlink("../elsewhere", world.path("archive/example.org")).unwrap();
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org`
caused by: Not a directory (os error 20)

"#]]);
    std::fs::remove_file(world.path("archive/example.org")).unwrap();
    std::fs::create_dir(world.path("archive/example.org")).unwrap();
    symlink("../../elsewhere", world.path("archive/example.org/archive")).unwrap();
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org/archive`
caused by: Not a directory (os error 20)

"#]]);
}

#[test]
fn that_are_links_at_the_year() {
    let world = world_with_file();
    world.write("elsewhere/file", "");
    let minted = world.run("-c archive mint").line();
    let year = minted.split('/').nth(2).unwrap();
    let prefix = world.path("archive/example.org/archive");
    std::fs::create_dir_all(&prefix).unwrap();
    // The run may fall into the new year.
    for year in [year.parse::<u32>().unwrap(), year.parse::<u32>().unwrap() + 1] {
        symlink("../../../elsewhere", prefix.join(year.to_string())).unwrap();
    }
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org/archive/20[..]`
caused by: Not a directory (os error 20)

"#]]);
}

#[test]
fn that_are_links_in_our_own_directory() {
    let world = world_with_file();
    world.write("elsewhere/file", "");
    let staging = world.path("archive/.urepo/staging");
    std::fs::remove_dir(&staging).unwrap();
    symlink("../../elsewhere", &staging).unwrap();
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/.urepo/staging`
caused by: Not a directory (os error 20)

"#]]);
    refuses(&world, "-c archive recover", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/.urepo/staging`
caused by: Not a directory (os error 20)

"#]]);
    std::fs::remove_file(&staging).unwrap();
    std::fs::create_dir(&staging).unwrap();
    std::fs::remove_file(world.path(MEMORY)).unwrap();
    symlink("../../elsewhere/lock", world.path(MEMORY)).unwrap();
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open `[WORLD]/archive/.urepo/memory/example.org+archive`
caused by: it, or a directory on the way to it, is a symbolic link
hint: links are not followed; put a directory in its place, or remove it

"#]]);
    refuses(&world, "-c archive mint", 1).tells(str![[r#"
error: cannot open `[WORLD]/archive/.urepo/memory/example.org+archive`
caused by: it, or a directory on the way to it, is a symbolic link
hint: links are not followed; put a directory in its place, or remove it

"#]]);
}

#[test]
fn that_are_files() {
    let world = world_with_file();
    world.write("archive/example.org", "");
    refuses(&world, "-c archive new a.txt", 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive/example.org`
caused by: Not a directory (os error 20)

"#]]);
}

#[test]
fn without_room() {
    let script = "
            mount -t tmpfs -o size=64k,nr_inodes=40 tmpfs mount
            $UREPO init mount/archive --host archive.example.org 2>told
            $UREPO -c mount/archive mint >told
            before=$(contents)
            head -c 100000 /dev/zero | tr '\\0' x >large
            code=0; $UREPO -c mount/archive new large 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive new - <large 2>told || code=$?; tell $code
            mkdir many; for i in $(seq 40); do : >many/$i; done
            code=0; $UREPO -c mount/archive new many 2>told || code=$?; tell $code
            code=0; $UREPO -c mount/archive new --each many/* >out 2>told || code=$?
            # How many there is room for depends on how far the threads are: but what has room is kept.
            items=$($UREPO -c mount/archive list | wc -l)
            some=few; test $items -ge 3 -a $items -eq $(wc -l <out) && some=some; test $some = some
            echo \"exit $code with $some of 40 items, $(ls mount/archive/.urepo/staging | wc -l) staged\"
            test $(grep -c 'was not deposited: no room for' told) -eq $((40 - items)) && echo all told
            code=0; $UREPO -c mount/archive import large 2>all || code=$?
            sed 's/has [0-9.]* [KMG]*i*B/has little/' all >told; before=; tell $code";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 1
error: no room for `large`: it takes 103 KiB, `[WORLD]/mount/archive` has 32 KiB
hint: make room, and repeat the command
exit 1
error: cannot write `[WORLD]/mount/archive/.urepo/staging/[STAGE]/doc/data`
caused by: No space left on device (os error 28)
hint: make room, `df -h [WORLD]/mount/archive` shows how much there is, and repeat the command
exit 1
error: no room for `many`: it takes 48 inodes, `[WORLD]/mount/archive` has 26 inodes
hint: make room, and repeat the command
exit 3 with some of 40 items, 0 staged
all told
exit 3
error: `[WORLD]/large` was not imported: no room for `[WORLD]/large`: it takes 103 KiB, `[WORLD]/mount/archive` has little
hint: make room, and repeat the command
error: 1 of 1 source was not imported
hint: then repeat the command: nothing is imported twice

"#]],
    );
}

/// Whatever the disk has room for, an item is whole or there is none.
#[test]
fn with_room_for_a_part() {
    let script = "
            mount -t tmpfs -o size=64k tmpfs mount
            $UREPO init mount/archive --host archive.example.org 2>told
            $UREPO -c mount/archive mint >told
            before=$(contents)
            free=$(stat -f -c %f mount)
            for pages in $(seq $free -1 0); do
                head -c $((pages * 4096)) /dev/zero >payload
                code=0; $UREPO -c mount/archive new payload >name 2>told || code=$?
                [ $code = 0 ] && break
                tell $code
            done
            echo $((free - pages)) pages beside the payload
            (cd mount/archive/$(cat name) && ls)";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 1
error: no room for `payload`: it takes 42 KiB, `[WORLD]/mount/archive` has 32 KiB
hint: make room, and repeat the command
exit 1
error: no room for `payload`: it takes 38 KiB, `[WORLD]/mount/archive` has 32 KiB
hint: make room, and repeat the command
exit 1
error: no room for `payload`: it takes 34 KiB, `[WORLD]/mount/archive` has 32 KiB
hint: make room, and repeat the command
3 pages beside the payload
doc
item.toml

"#]],
    );
}

#[test]
fn on_another_file_system() {
    let script = "
            mount -t tmpfs tmpfs mount
            $UREPO init archive --host archive.example.org 2>told
            cp -r archive/.urepo/. mount && mount --bind mount archive/.urepo
            code=0; $UREPO -c archive new a.txt 2>told || code=$?; tell $code";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 1
error: cannot use `[WORLD]/archive/.urepo`
caused by: it is on another file system than the items, so that nothing can be moved into place

"#]],
    );
}

//! Sources of a kind that cannot be kept.

use super::*;

#[test]
fn that_are_no_files() {
    let world = world_with_file();
    make_fifo(&world.path("fifo"));
    refuses(&world, "-c archive new fifo", 1).tells(str![[r#"
error: `fifo` is a FIFO, which cannot be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
    world.write("with-fifo/a/b.txt", "b");
    make_fifo(&world.path("with-fifo/a/c"));
    refuses(&world, "-c archive new with-fifo", 1).tells(str![[r#"
error: `with-fifo/a/c` is a FIFO, which cannot be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
    let _socket = std::os::unix::net::UnixListener::bind(world.path("socket")).unwrap();
    refuses(&world, "-c archive new a.txt socket", 1).tells(str![[r#"
error: `socket` is a socket, which cannot be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
    refuses(&world, "-c archive new /dev/null", 1).tells(str![[r#"
error: `/dev/null` is a character device, which cannot be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
    symlink("/dev/null", world.path("link")).unwrap();
    refuses(&world, "-c archive new --links follow link", 1).tells(str![[r#"
error: `link` is a character device, which cannot be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]);
    world.write("with-device/a.txt", "a");
    let null = rustix::fs::makedev(1, 3);
    let device = world.path("with-device/null");
    match rustix::fs::mknodat(CWD, &device, FileType::CharacterDevice, Mode::RUSR, null) {
        Ok(()) => refuses(&world, "-c archive new with-device", 1).tells(str![[r#"
error: `with-device/null` is a character device, which cannot be deposited
hint: move it out of the way: only files, directories and links inside the item are kept

"#]]),
        Err(_) => skipped("a device in a source: this user may not make one"),
    }
}

fn make_fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn with_links_that_lead_out() {
    let world = world_with_file();
    let link = |target: &str, name: &str| {
        world.write(&format!("{name}/b/file"), "");
        symlink(target, world.path(format!("{name}/link"))).unwrap();
    };
    link("../a.txt", "relative");
    refuses(&world, "-c archive new relative", 1).tells(str![[r#"
error: the link `relative/link` leads out of the item, to `../a.txt`
hint: `--links follow` deposits what links lead to, `--links asis` keeps them as they are

"#]]);
    link("/etc/passwd", "absolute");
    refuses(&world, "-c archive new absolute", 1).tells(str![[r#"
error: the link `absolute/link` leads out of the item, to `/etc/passwd`
hint: `--links follow` deposits what links lead to, `--links asis` keeps them as they are

"#]]);
    link("b/../file", "through");
    refuses(&world, "-c archive new through", 1).tells(str![[r#"
error: the link `through/link` leads out of the item and is dangling: no `b/../file`
hint: `--links asis` keeps links as they are, `--links skip` leaves them out

"#]]);
    link("nowhere", "dangling");
    refuses(&world, "-c archive new --links follow dangling", 1).tells(str![[r#"
error: the link `dangling/link` is dangling: no `nowhere`
hint: `--links asis` keeps links as they are, `--links skip` leaves them out

"#]]);
    refuses(&world, "-c archive new --links error dangling", 1).tells(str![[r#"
error: `dangling/link` is a symbolic link
hint: `--links follow` deposits what links lead to, `--links asis` keeps them as they are

"#]]);
    link(".", "loop");
    refuses(&world, "-c archive new --links follow loop", 1).tells(str![[r#"
error: the link `loop/link` leads in a circle, by `.`
hint: `--links asis` keeps links as they are, `--links skip` leaves them out

"#]]);
    link("\u{1b}[2J/../../x", "hostile");
    refuses(&world, "-c archive new hostile", 1).tells(str![[r#"
error: the link `hostile/link` leads out of the item and is dangling: no `\u{1b}[2J/../../x`
hint: `--links asis` keeps links as they are, `--links skip` leaves them out

"#]]);
    symlink("nowhere", world.path("dangling-link")).unwrap();
    refuses(&world, "-c archive new dangling-link", 1).tells(str![[r#"
error: `dangling-link` is a symbolic link
caused by: it is dangling: no `nowhere`
hint: remove it, or correct it

"#]]);
    symlink("a.txt", world.path("source-link")).unwrap();
    refuses(&world, "-c archive new source-link", 1).tells(str![[r#"
error: `source-link` is a symbolic link
hint: `--links follow` deposits what it points to

"#]]);
    refuses(&world, "-c archive new relative source-link", 1).tells(str![[r#"
error: `source-link` is a symbolic link
hint: `--links follow` deposits what it points to

"#]]);
    symlink("relative", world.path("directory-link")).unwrap();
    refuses(&world, "-c archive new directory-link", 1).tells(str![[r#"
error: `directory-link` is a symbolic link
hint: `--links follow` deposits what it points to

"#]]);
    // A link that dangles inside is data like any other.
    assert_eq!(world.run("-c archive new dangling").code, 0);
}

#[test]
fn with_names_that_are_one_elsewhere() {
    let world = World::with_collection();
    world.write("case/Map.tif", "1");
    world.write("case/map.tif", "2");
    refuses(&world, "-c archive new case", 1).tells(str![[r#"
error: `Map.tif` and `map.tif` in `case` are one name on some file systems
hint: rename one; `--force twins` keeps both as they are

"#]]);
    world.write("form/sub/caf\u{e9}", "1");
    world.write("form/sub/cafe\u{301}", "2");
    refuses(&world, "-c archive new form", 1).tells(str![[r#"
error: `sub/cafe\u{301}` and `sub/caf\u{e9}` in `form` are one name on some file systems
hint: rename one; `--force twins` keeps both as they are

"#]]);
    world.write("x/Data/one", "1");
    world.write("y/data/two", "2");
    refuses(&world, "-c archive new x/Data y/data", 1).tells(str![[r#"
error: `Data` and `data` in `x/Data` are one name on some file systems
hint: rename one; `--force twins` keeps both as they are

"#]]);
    world.write("x/a.txt", "1");
    world.write("y/a.txt", "2");
    refuses(&world, "-c archive new x/a.txt y/a.txt", 1).tells(str![[r#"
error: two of the sources are called `a.txt`
hint: deposit the directory that holds them, or one item each with `--each`

"#]]);
    refuses(&world, "-c archive new x/a.txt x/a.txt", 1).tells(str![[r#"
error: two of the sources are called `a.txt`
hint: deposit the directory that holds them, or one item each with `--each`

"#]]);
}

#[test]
fn without_a_name_or_content() {
    let world = world_with_file();
    std::fs::create_dir_all(world.path("sub/empty")).unwrap();
    let mut command = world.command(["-c", "../archive", "new", "../a.txt", ".."]);
    command.current_dir(world.path("sub"));
    refuses_command(&world, command, 1).tells(str![[r#"
error: `..` has no name to be kept under
hint: name it by its path

"#]]);
    refuses(&world, "-c archive new sub/empty", 1).tells(str![[r#"
error: `sub/empty` is an empty directory
hint: an item has at least one file or link

"#]]);
    refuses(&world, "-c archive new", 2).tells(str![[r#"
error: no path was given
hint: `urepo help new` says how it is used

"#]]);
    refuses(&world, "-c archive new --each", 2).tells(str![[r#"
error: no path was given
hint: `urepo help new` says how it is used

"#]]);
}

/// A hint that stands above is not repeated.
#[test]
fn several_that_fail_alike() {
    let world = world_with_file();
    for dir in ["one", "two"] {
        world.write(&format!("{dir}/x"), "x");
        std::os::unix::fs::symlink("/etc/passwd", world.path(format!("{dir}/out"))).unwrap();
    }
    let ran = world.run("-c archive new --each one two");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches(" leads out of the item, ").count(), 2, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("hint: `--links follow` ").count(), 1, "{}", ran.stderr);
}

#[test]
fn several_of_which_some_fail() {
    let world = world_with_file();
    world.write("b.txt", "b");
    let ran = world.run("-c archive new --each a.txt missing.txt b.txt empty");
    same(
        &ran.stderr,
        str![[r#"
error: `missing.txt` was not deposited: cannot inspect `missing.txt`: No such file or directory (os error 2)
hint: `ls -a .` lists what is there
error: `empty` was not deposited: cannot inspect `empty`: No such file or directory (os error 2)
error: 2 of 4 items could not be deposited
hint: the other paths are deposited; repeat the command with only the paths named above

"#]],
    );
    assert_eq!((ran.code, ran.stdout.lines().count()), (3, 2));
    assert_eq!(whole_items(&open(&world)).len(), 2);
    let ran = world.run("-c archive new --each -j 1 missing.txt");
    same(
        &ran.stderr,
        str![[r#"
error: `missing.txt` was not deposited: cannot inspect `missing.txt`: No such file or directory (os error 2)
hint: `ls -a .` lists what is there
error: 1 of 1 item could not be deposited
hint: each is named above, with its reason

"#]],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert_eq!(staged(&world.path("archive")), [""; 0]);
}

#[test]
fn whose_patterns_leave_nothing_or_are_none() {
    let world = world_with_file();
    world.write("dir/a.log", "a");
    refuses_args(&world, ["-c", "archive", "new", "dir", "--exclude", "*.log"], 1).tells(str![[
        r#"
error: nothing remains of `dir`: all that is in it is left out
hint: `--no-ignore` deposits what only `.urepoignore` files and the settings leave out

"#
    ]]);
    refuses_args(&world, ["-c", "archive", "new", "dir", "--exclude", "[z-a]"], 2).tells(str![[
        r#"
error: `[z-a]` is not a pattern: invalid range; 'z' > 'a'
caused by: it comes from `--exclude`
hint: patterns are those of gitignore, such as `*.tmp` or `/cache/`

"#
    ]]);
    refuses_args(&world, ["-c", "archive", "new", "dir", "--exclude", "#a"], 2).tells(str![[r#"
error: `#a` is not a pattern: `#` begins a comment; write `\#`
caused by: it comes from `--exclude`
hint: patterns are those of gitignore, such as `*.tmp` or `/cache/`

"#]]);
    world.write("dir/.urepoignore", "*.bak\n[z-a]\n");
    refuses(&world, "-c archive new dir", 1).tells(str![[r#"
error: cannot use the patterns of `dir/.urepoignore`
caused by: `[z-a]` is not a pattern: invalid range; 'z' > 'a'

"#]]);
    world.write(".config/urepo/config.toml", "exclude = [\"[z-a]\"]\n");
    refuses(&world, "-c archive import dir", 2).tells(str![[r#"
error: `[z-a]` is not a pattern: invalid range; 'z' > 'a'
caused by: it comes from the setting `exclude` of [WORLD]/.config/urepo/config.toml
hint: patterns are those of gitignore, such as `*.tmp` or `/cache/`

"#]]);
}

/// The path stands once in its error.
#[test]
fn one_of_several_that_is_a_link() {
    let world = world_with_file();
    std::os::unix::fs::symlink("a.txt", world.path("link")).unwrap();
    let ran = world.run("-c archive new --each link");
    assert!(
        ran.stderr.contains("`link` was not deposited: it is a symbolic link\n"),
        "{}",
        ran.stderr
    );
}

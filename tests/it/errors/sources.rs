//! Sources that cannot be deposited.

mod kinds;

use super::*;

#[test]
fn in_and_around_the_collection() {
    let world = world_with_file();
    refuses(&world, "-c archive new archive/urepo.toml", 1).tells(str![[r#"
error: `archive/urepo.toml` is in the collection `[WORLD]/archive` already
hint: what is in a collection has an identifier already

"#]]);
    refuses(&world, "-c archive new archive", 1).tells(str![[r#"
error: `archive` is in the collection `[WORLD]/archive` already
hint: what is in a collection has an identifier already

"#]]);
    refuses(&world, "-c archive new .", 1).tells(str![[r#"
error: `.` holds the collection `[WORLD]/archive` itself
hint: deposit what lies beside the collection

"#]]);
    symlink("archive/.urepo", world.path("link")).unwrap();
    refuses(&world, "-c archive new link/lock", 1).tells(str![[r#"
error: `link/lock` is in the collection `[WORLD]/archive` already
hint: what is in a collection has an identifier already

"#]]);
}

/// Following a link of the command line must not lead into the collection, least of all with
/// `--remove-source`, which would take its own items away.
#[test]
fn behind_a_link_that_is_followed() {
    let (world, name) = world_with_item();
    symlink("archive/example.org", world.path("link")).unwrap();
    refuses(&world, "-c archive new --links follow link", 1).tells(str![[r#"
error: `link` is in the collection `[WORLD]/archive` already
hint: what is in a collection has an identifier already

"#]]);
    refuses(&world, "-c archive new --remove-source --links follow link", 1).tells(str![[r#"
error: `link` is in the collection `[WORLD]/archive` already
hint: what is in a collection has an identifier already

"#]]);
    symlink(".", world.path("around")).unwrap();
    refuses(&world, "-c archive new --links follow around", 1).tells(str![[r#"
error: `around` holds the collection `[WORLD]/archive` itself
hint: deposit what lies beside the collection

"#]]);
    assert_eq!(whole_items(&open(&world)), [name]);
}

#[test]
fn that_are_not_there_or_not_readable() {
    let world = world_with_file();
    refuses(&world, "-c archive new missing.txt", 1).tells(str![[r#"
error: cannot inspect `missing.txt`
caused by: No such file or directory (os error 2)
hint: `ls -a .` lists what is there

"#]]);
    refuses(&world, "-c archive new a.txt missing.txt", 1).tells(str![[r#"
error: cannot inspect `missing.txt`
caused by: No such file or directory (os error 2)
hint: `ls -a .` lists what is there

"#]]);
    refuses(&world, "-c archive new nowhere/missing.txt", 1).tells(str![[r#"
error: cannot find `nowhere`
caused by: No such file or directory (os error 2)
hint: `ls -a .` lists what is there

"#]]);
    refuses(&world, "-c archive new a.txt/b", 1).tells(str![[r#"
error: cannot inspect `a.txt/b`
caused by: Not a directory (os error 20)

"#]]);
    refuses_args(&world, ["-c", "archive", "new", ""], 2).tells(str![[r#"
error: a value is required for '[PATH]...' but none was supplied

"#]]);
}

#[test]
fn that_an_ordinary_user_may_not_read() {
    let Some(user) = OrdinaryUser::of(world_with_file()) else { return };
    let world = &user.world;
    for name in ["dir/a.txt", "dir/b.txt", "dir/c.txt", "closed/a.txt"] {
        world.write(name, name);
    }
    user.owns_everything();
    user.closes("dir/b.txt");
    user.closes("closed");
    user.closes("a.txt");
    refuses_command(world, user.command("-c archive new a.txt"), 1).tells(str![[r#"
error: cannot open `a.txt`
caused by: Permission denied (os error 13)
hint: `namei -l a.txt` shows who may do what on the way

"#]]);
    refuses_command(world, user.command("-c archive new dir"), 1).tells(str![[r#"
error: cannot open `dir/b.txt`
caused by: Permission denied (os error 13)
hint: `namei -l dir/b.txt` shows who may do what on the way

"#]]);
    refuses_command(world, user.command("-c archive new closed"), 1).tells(str![[r#"
error: cannot open the directory `closed`
caused by: Permission denied (os error 13)
hint: `namei -l closed` shows who may do what on the way

"#]]);
    user.owns_everything();
    std::fs::create_dir(world.path("above")).unwrap();
    std::fs::rename(world.path("closed"), world.path("above/closed")).unwrap();
    user.owns_everything();
    user.closes("above/closed");
    refuses_command(world, user.command("-c archive new above"), 1).tells(str![[r#"
error: cannot walk `above/closed`
caused by: Permission denied (os error 13)
hint: `namei -l above/closed` shows who may do what on the way

"#]]);
    world.write("c.txt", "c");
    user.owns_everything();
    user.closes("archive");
    refuses_command(world, user.command("-c archive new c.txt"), 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive`
caused by: Permission denied (os error 13)
hint: `namei -l [WORLD]/archive` shows who may do what on the way

"#]]);
    refuses_command(world, user.command("-c archive list"), 1).tells(str![[r#"
error: cannot open the directory `[WORLD]/archive`
caused by: Permission denied (os error 13)
hint: `namei -l [WORLD]/archive` shows who may do what on the way

"#]]);
    user.owns_everything();
}

#[test]
fn that_can_not_be_read_in_the_middle() {
    for (operation, errno, expected) in [
        (
            Operation::Open,
            rustix::io::Errno::ACCESS,
            str![[r#"
cannot open `[WORLD]/dir/b.txt`
caused by: Permission denied (os error 13)
"#]],
        ),
        (
            Operation::Read,
            rustix::io::Errno::IO,
            str![[r#"
cannot read `[WORLD]/dir/b.txt`
caused by: Input/output error (os error 5)
"#]],
        ),
    ] {
        let told = deposit_watched(move |done, path| match path.file_name() {
            Some(name) if done == operation && name == "b.txt" => Err(errno.into()),
            _ => Ok(()),
        });
        same(&told, expected);
    }
}

#[test]
fn that_change_while_they_are_read() {
    let grow = |path: &Path| {
        use std::io::Write as _;
        File::options().append(true).open(path)?.write_all(b"more")
    };
    let shrink = |path: &Path| File::options().write(true).open(path)?.set_len(0);
    let replace = |path: &Path| {
        std::fs::write(path.with_extension("new"), "b")?;
        std::fs::rename(path.with_extension("new"), path)
    };
    let cases: [fn(&Path) -> io::Result<()>; 3] = [grow, shrink, replace];
    for change in cases {
        let told = deposit_watched(move |operation, path| {
            if operation == Operation::Read && path.ends_with("dir/b.txt") {
                change(path)?;
            }
            Ok(())
        });
        same(&told, str!["`[WORLD]/dir/b.txt` changed while it was read, 3 times in a row"]);
    }
}

/// Deposits a directory while `watch` looks on, which has to fail, and tells how.
fn deposit_watched(
    watch: impl Fn(Operation, &Path) -> io::Result<()> + Send + Sync + 'static,
) -> String {
    struct Closure<F>(F);
    impl<F: Fn(Operation, &Path) -> io::Result<()> + Send + Sync> Watch for Closure<F> {
        fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
            (self.0)(operation, path)
        }
    }
    let world = World::with_collection();
    for name in ["dir/a.txt", "dir/b.txt", "dir/c.txt"] {
        world.write(name, name);
    }
    let watcher = Watcher::new(Arc::new(Closure(watch)));
    let collection = Collection::open(&world.path("archive"), &watcher).unwrap();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let requests = vec![request(world.path("dir"))];
    let (mut outcomes, _) = deposit(&collection, requests, options(), &clock, |_| ()).unwrap();
    assert_eq!(whole_items(&collection), [""; 0]);
    assert_eq!(staged(&world.path("archive")), [""; 0]);
    let Outcome { result, .. } = outcomes.remove(0);
    chain(&result.unwrap_err()).replace(&world.path("").display().to_string(), "[WORLD]/")
}

/// A file that lies beside the items is not archived, though it is in the directory of the collection.
#[test]
fn of_people_in_the_collection() {
    let world = world_with_file();
    let (_, name) = world_with_item();
    world.write("archive/letter.txt", "not archived");
    world.write("archive/photos/2020/trip/1.png", "not archived");
    refuses(&world, "-c archive new archive/letter.txt", 1).tells(str![[r#"
error: `archive/letter.txt` lies in the collection `[WORLD]/archive`, but is not an item
hint: move it out of the collection, and repeat with its new path

"#]]);
    let is_stray = |path: &str| {
        let ran = world.run(&format!("-c archive new archive/{path}"));
        assert_eq!(ran.code, 1, "{path}: {}", ran.stderr);
        ran.stderr.contains("but is not an item")
    };
    std::fs::create_dir_all(world.path("archive").join(name)).unwrap();
    for stray in ["photos", "photos/2020", "photos/2020/trip/1.png", "example.org/a.txt"] {
        world.write("archive/example.org/a.txt", "not archived");
        assert!(is_stray(stray), "{stray}");
    }
    for own in [".urepo", "urepo.toml", "README", "example.org", name, &format!("{name}/doc")] {
        world.write(&format!("archive/{name}/doc/a.txt"), "archived");
        world.write("archive/README", "of urepo");
        assert!(!is_stray(own), "{own}");
    }
    let ran = world.run("-c archive import archive/photos");
    assert!(ran.stderr.contains("2020` was not imported: it lies in the"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: move it out of the collection"), "{}", ran.stderr);
}

#[test]
fn of_people_in_a_directory_that_becomes_a_collection() {
    let world = World::new();
    for file in ["letter.txt", "photos/1.png", "example.org/archive/2026/11.21.02.13/doc/a.txt"] {
        world.write(&format!("new/{file}"), "not archived");
    }
    let ran = world.run("init new --host new.example.org");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let warning = "warning: `letter.txt` and 1 more in `[WORLD]/new` are not items: no command copies \
                   or verifies them\nhint: move them out of the collection; `urepo new` or `urepo import` \
                   then deposits them\n";
    assert!(ran.stderr.starts_with(warning), "{}", ran.stderr);
}

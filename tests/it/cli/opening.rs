//! `urepo open`: the file or the payload of an item, in a program that gets its path.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{Ran, World};

/// A world with a program that notes what it gets.
fn world_with_opener() -> World {
    let world = World::with_collection();
    let opener = world.write("opener", "#!/bin/sh\nprintf '%s' \"$*\" > opened\n");
    std::fs::set_permissions(opener, PermissionsExt::from_mode(0o755)).unwrap();
    world.write("a b.txt", "alpha");
    world.write("dir/sub/b.txt", "beta");
    world.write("dir/c.txt", "gamma");
    world
}

fn open(world: &World, item: &str) -> Ran {
    let mut command = world.command(["-c", "archive", "open", item]);
    command.env("UREPO_OPENER", world.path("opener"));
    world.finish(command)
}

fn opened(world: &World) -> String {
    let told = std::fs::read_to_string(world.path("opened")).unwrap();
    std::fs::remove_file(world.path("opened")).unwrap();
    told.rsplit_once("/2026/").map_or(told.clone(), |(_, end)| end.to_owned())
}

#[test]
fn opens_the_target_a_file_or_the_payload() {
    let world = world_with_opener();
    let file = world.finish(world.command(["-c", "archive", "new", "a b.txt"])).line();
    let dir = world.run("-c archive new dir").line();
    let leaf = |name: &str| name.rsplit('/').next().unwrap().to_owned();
    for (item, expected) in [
        (file.clone(), format!("{}/doc/a b.txt", leaf(&file))),
        (dir.clone(), format!("{}/doc", leaf(&dir))),
        (format!("{dir}/"), format!("{}/doc", leaf(&dir))),
        (format!("{dir}/sub/b.txt"), format!("{}/doc/sub/b.txt", leaf(&dir))),
        (format!("archive/{dir}/doc/c.txt"), format!("{}/doc/c.txt", leaf(&dir))),
        (format!("{}/c.txt", leaf(&dir)), format!("{}/doc/c.txt", leaf(&dir))),
    ] {
        let ran = open(&world, &item);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{item}: {}", ran.stderr);
        assert_eq!(opened(&world), expected, "{item}");
    }
    for (item, code) in [(format!("{dir}/no.txt"), 21), ("2026/01.02.03.04/x".to_owned(), 21)] {
        let ran = open(&world, &item);
        assert_eq!(ran.code, code, "{item}: {}", ran.stderr);
        assert!(!world.path("opened").exists());
    }
    // `cat` prints the file that was asked for, not the target.
    for (item, text) in [
        (file.clone(), "alpha"),
        (format!("{dir}/sub/b.txt"), "beta"),
        (format!("archive/{dir}/doc/c.txt"), "gamma"),
    ] {
        let ran = world.finish(world.command(["-c", "archive", "cat", &item]));
        assert_eq!(ran.succeeded(), text, "{item}");
    }
    assert_eq!(world.run(&format!("-c archive cat {file}/no.txt")).code, 21);
    // So does `show --path`, of several items as well.
    let line = format!("-c archive show --path {dir}/sub/b.txt {dir}/c.txt");
    let found = world.run(&line);
    let found: Vec<_> =
        found.succeeded().lines().map(|it| it.rsplit_once("/doc/").unwrap().1).collect();
    assert_eq!(found, ["sub/b.txt", "c.txt"]);
    assert_eq!(world.run(&format!("-c archive show --path {dir}/no.txt")).code, 21);
    world.run(&format!("-c archive delete -y --force last {dir}")).succeeded();
    assert_eq!(open(&world, &dir).code, 22);
}

#[test]
fn opens_no_link_that_leads_out() {
    let world = world_with_opener();
    symlink("/etc/passwd", world.path("dir/out")).unwrap();
    symlink("c.txt", world.path("dir/in")).unwrap();
    symlink("circle", world.path("dir/circle")).unwrap();
    symlink("gone", world.path("dir/dangling")).unwrap();
    let name = world.run("-c archive new dir --links asis").line();
    let ran = open(&world, &format!("{name}/out"));
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("a link leads out of the item, to `/etc/passwd`"),
        "{}",
        ran.stderr
    );
    assert!(!world.path("opened").exists());
    assert_eq!(open(&world, &format!("{name}/in")).code, 0);
    std::fs::remove_file(world.path("opened")).unwrap();
    for (link, cause) in
        [("circle", "its links lead in a circle"), ("dangling", "it is a dangling link")]
    {
        let ran = open(&world, &format!("{name}/{link}"));
        let cause = format!("caused by: {cause}\n");
        assert!(ran.code == 1 && ran.stderr.contains(&cause), "{}", ran.stderr);
    }
    assert!(!world.path("opened").exists());
}

#[test]
fn tells_what_it_opens_in_json() {
    let world = world_with_opener();
    let name = world.run("-c archive new dir").line();
    for (line, dry_run) in [("open NAME/c.txt", false), ("open NAME/c.txt -n", true)] {
        let line = format!("--json -c archive {}", line.replace("NAME", &name));
        let mut command = world.command(line.split(' '));
        command.env("UREPO_OPENER", world.path("opener"));
        let told = &super::records(&world.finish(command))[0];
        assert_eq!((&told["id"], &told["did"]), (&name.clone().into(), &"opened".into()), "{told}");
        assert!(told["path"].as_str().unwrap().ends_with("/doc/c.txt"), "{told}");
        assert_eq!(told["dry_run"].as_bool().unwrap_or_default(), dry_run, "{told}");
    }
}

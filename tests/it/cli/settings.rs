//! Where a value comes from: the command line wins over variables, they over files.

use super::{records, world_with_item};
use crate::support::{Ran, World};

#[test]
fn global_flags_stand_before_and_after_the_command() {
    let (world, name) = world_with_item();
    for line in [
        "-c archive list",
        "list -c archive",
        "--collection archive list",
        "--collection=archive list",
        "list --collection archive",
        "-carchive list",
        "-q -j 1 list -c archive",
        "-v list -vv -c archive",
    ] {
        assert_eq!(world.run(line).line(), name, "{line}");
    }
}

fn run_with(world: &World, variables: &[(&str, &str)], line: &str) -> Ran {
    let mut command = world.command(line.split_whitespace());
    command.envs(variables.iter().copied());
    world.finish(command)
}

#[test]
fn the_collection_is_looked_for_in_order() {
    let (world, name) = world_with_item();
    world.run("init maps --host maps.example.org").succeeded();
    let map = world.run("-c maps new a.txt").line();
    // Around the current directory.
    let mut command = world.command(["list"]);
    command.current_dir(world.path(format!("archive/{name}/doc")));
    assert_eq!(world.finish(command).line(), name);
    // A name in the user's file, relative to it.
    world.write(
        ".config/urepo/config.toml",
        "collection = \"ours\"\n[collections]\nours = \"../../archive\"\nmaps2 = \"../../maps\"\n",
    );
    assert_eq!(world.run("list").line(), name);
    assert_eq!(world.run("list -c maps2").line(), map);
    // A variable wins over the file, the command line over both.
    assert_eq!(run_with(&world, &[("UREPO_COLLECTION", "maps")], "list").line(), map);
    assert_eq!(run_with(&world, &[("UREPO_COLLECTION", "maps2")], "list").line(), map);
    let ran = run_with(&world, &[("UREPO_COLLECTION", "maps")], "-c archive list");
    assert_eq!(ran.line(), name);
    // An empty variable says nothing.
    assert_eq!(run_with(&world, &[("UREPO_COLLECTION", "")], "list").line(), name);
    assert_eq!(run_with(&world, &[("UREPO_COLLECTION", "nowhere")], "list").code, 10);
}

/// A host state for each current directory would let two collections issue one name.
#[test]
fn the_host_state_does_not_depend_on_the_current_directory() {
    let world = World::new();
    world.write(".config/urepo/config.toml", "state = \"host\"\n");
    let mut names = Vec::new();
    for directory in ["here", "there", "here"] {
        let _ = std::fs::create_dir(world.path(directory));
        let run = |line: &str| {
            let mut command = world.command(line.split_whitespace());
            command.env_remove("UREPO_STATE").current_dir(world.path(directory));
            world.finish(command)
        };
        run("init archive --host example.org");
        names.push(run("-c archive mint").line());
    }
    assert!(world.path(".config/urepo/host/org+example").exists());
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn a_collection_by_path_in_a_file_does_not_depend_on_the_current_directory() {
    let (world, name) = world_with_item();
    world.write(".config/urepo/config.toml", "collection = \"../../archive\"\n");
    assert_eq!(world.run("list").line(), name);
    world.write(".config/urepo/config.toml", "collection = \"archive\"\n");
    assert_eq!(world.run("list").code, 10, "the one in the current directory is another");
}

#[test]
fn config_says_where_each_value_comes_from() {
    let (world, _) = world_with_item();
    world.write(
        ".config/urepo/config.toml",
        "jobs = 3\nlock_wait = \"2m\"\nmax_wait = \"9s\"\n[collections]\nours = \"/srv/ours\"\n",
    );
    let variables = [("UREPO_LOCK_WAIT", "30s"), ("UREPO_COLLECTION", "archive")];
    let ran = run_with(&world, &variables, "status --settings -j 2");
    let rows: Vec<Vec<_>> =
        ran.succeeded().lines().map(|line| line.split_whitespace().collect()).collect();
    let file = "[WORLD]/.config/urepo/config.toml";
    for row in [
        ["collection", "[WORLD]/archive", "#", "UREPO_COLLECTION"].as_slice(),
        &["jobs", "2", "#", "command", "line"],
        &["lock_wait", "30s", "#", "UREPO_LOCK_WAIT"],
        &["max_wait", "9s", "#", file],
        &["collections.ours", "/srv/ours", "#", file],
        &["name", "archive", "#", "[WORLD]/archive/urepo.toml"],
        &["copies", "0", "#", "default"],
    ] {
        assert!(rows.iter().any(|found| found == row), "{row:?}: {}", ran.stdout);
    }
}

#[test]
fn config_has_a_line_for_each_pattern_and_json_one_value() {
    let world = World::with_collection();
    world.write(".config/urepo/config.toml", "exclude = ['*.bak', '*.tmp']\n");
    let ran = world.run("-c archive status --settings");
    let column = |line: &str| line.find("  # ");
    let lines: Vec<_> = ran.succeeded().lines().filter(|it| it.starts_with("exclude ")).collect();
    let [first, second] = lines[..] else { panic!("{}", ran.stdout) };
    assert!(first.contains(" *.bak ") && second.contains(" *.tmp "), "{}", ran.stdout);
    let jobs = ran.stdout.lines().find(|it| it.starts_with("jobs ")).unwrap();
    assert_eq!([column(first), column(second)], [column(jobs); 2], "{}", ran.stdout);
    let told = records(&world.run("-c archive status --settings --json"));
    let excluded = told.iter().filter(|it| it["key"] == "exclude").map(|it| &it["value"]);
    assert_eq!(excluded.collect::<Vec<_>>(), ["*.bak", "*.tmp"]);
}

#[test]
fn quiet_says_nothing_but_the_answer() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let silent = |line: &str| {
        let ran = world.run(line);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{line}");
    };
    silent("-q init maps --host maps.example.org");
    silent("-q -c archive recover");
    silent("-q -c archive list");
    silent("-q -c archive verify");
    world.run("-q -c archive new a.txt").line();
    // Errors are told all the same.
    let ran = world.run("-q -c archive new missing.txt");
    assert!(ran.code == 1 && ran.stderr.starts_with("error:"), "{}", ran.stderr);
}

#[test]
fn colour_is_for_those_who_ask() {
    let world = World::new();
    let coloured = |line: &str, variables: &[(&str, &str)]| {
        let mut command = world.command(line.split_whitespace());
        command.env_remove("NO_COLOR").envs(variables.iter().copied());
        world.finish(command).stderr.contains('\u{1b}')
    };
    assert!(!coloured("list", &[]), "stderr is no terminal");
    assert!(coloured("list", &[("UREPO_COLOR", "always")]));
    assert!(coloured("list", &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured("list", &[("CLICOLOR_FORCE", "1"), ("UREPO_COLOR", "never")]));
    assert!(!coloured("list", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

/// The homes of daemons, of users without one, and of `sudo -u`.
#[test]
fn settings_that_cannot_be_reached_are_optional() {
    let (world, name) = world_with_item();
    world.write("file", "no directory");
    std::os::unix::fs::symlink("loop", world.path("loop")).unwrap();
    let long = "x".repeat(300);
    let run = |variable: &str, home: &std::path::Path, line: &str| {
        let mut command = world.command(line.split_whitespace());
        for unset in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            command.env_remove(unset);
        }
        world.finish({
            command.env(variable, home);
            command
        })
    };
    // There is no such file, as below a missing home.
    for home in ["/dev/null", "/dev/null/home", "/nonexistent"] {
        for variable in ["HOME", "XDG_CONFIG_HOME"] {
            let ran = run(variable, home.as_ref(), "-c archive list");
            assert_eq!((ran.line(), ran.stderr.as_str()), (name.clone(), ""), "{variable}={home}");
        }
    }
    let ran = run("XDG_CONFIG_HOME", &world.path("file"), "-c archive list");
    assert_eq!((ran.line(), ran.stderr.as_str()), (name.clone(), ""));
    // Here there may be one.
    for home in [world.path("loop"), world.path(&long)] {
        let ran = run("XDG_CONFIG_HOME", &home, "-c archive list");
        assert_eq!(ran.succeeded().trim_end(), name);
        let warned = ran.stderr.starts_with("warning: the settings `");
        assert!(warned && ran.stderr.lines().count() == 1, "{}", ran.stderr);
        assert_eq!(run("XDG_CONFIG_HOME", &home, "-q -c archive list").stderr, "");
    }
    // A file that is there has to be right.
    world.write("home/urepo/config.toml", "jobs = \"many\"\n");
    assert_eq!(run("XDG_CONFIG_HOME", &world.path("home"), "-c archive list").code, 1);
    std::fs::remove_file(world.path("home/urepo/config.toml")).unwrap();
    std::fs::create_dir(world.path("home/urepo/config.toml")).unwrap();
    assert_eq!(run("XDG_CONFIG_HOME", &world.path("home"), "-c archive list").code, 1);
    // Changes need no home either.
    let ran = run("HOME", "/dev/null".as_ref(), "-c archive new file");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

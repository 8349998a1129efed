//! One machine gives the names of a host from one place: the register of prefixes.

use std::os::unix::fs::PermissionsExt;

use urepo::clock::{Clock as _, SystemClock};
use urepo::identity::{Instant, SECOND};

use crate::support::{Ran, World, append, change_item, inventory_file, inventory_line};

/// A world with an archive and a mirror of it, each with a host of its own.
fn world() -> World {
    let world = World::new();
    world.run("init archive --host archive.example.org").succeeded();
    world.run("init mirror --host mirror.example.org").succeeded();
    world
}

/// What a run with another variable gives.
fn run_with(world: &World, variable: (&str, &str), line: &str) -> Ran {
    let mut command = world.command(line.split_whitespace());
    command.env(variable.0, variable.1);
    world.finish(command)
}

#[track_caller]
fn is_refused(ran: &Ran, code: i32, why: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
}

/// Makes a directory that stands for an item of the archive dated `seconds` from now.
fn item_of(world: &World, root: &str, prefix: &str, seconds: i128) -> Instant {
    let date = SystemClock.now().checked_add(seconds * SECOND).unwrap();
    std::fs::create_dir_all(world.path(format!("{root}/{prefix}/{}", date.suffix()))).unwrap();
    date
}

fn date_of(name: &str) -> Instant {
    name.parse::<urepo::identity::RepositoryName>().unwrap().instant()
}

#[test]
fn a_second_collection_of_one_host_is_refused() {
    let world = world();
    let why =
        "another collection issues the identifiers of `example.org/archive`: `[WORLD]/archive`";
    for line in [
        "init again --host archive.example.org",
        "init again --host ARCHIVE.example.org --port 80",
        "init -n again --host archive.example.org",
    ] {
        is_refused(&world.run(line), 23, why);
        assert!(!world.path("again").exists(), "{line}");
    }
    world.write("old/example.org/x/2001/01.01.01.01/doc/a", "a");
    is_refused(&world.run("adopt old --host archive.example.org"), 23, why);
    is_refused(&world.run("adopt -n old --host archive.example.org"), 23, why);
    world.write("a.txt", "a");
    is_refused(&world.run("-c again new a.txt --init --host archive.example.org"), 23, why);
    world.run("init again --host archive.example.org --port 8080").succeeded();
}

#[test]
fn collections_of_one_host_may_share_a_memory() {
    let world = World::new();
    for root in ["one", "two"] {
        let line = format!("init {root} --host a.example.org --distributor memory");
        world.run(&line).succeeded();
    }
    let mut names = Vec::new();
    for root in ["one", "two", "one", "two"] {
        names.push(world.run(&format!("-c {root} mint --granularity 0.000001")).line());
        assert!(!world.path(format!("{root}/.urepo/distributor/example.org+a.lock")).exists());
    }
    assert!(world.path("memory/example.org+a.lock").exists());
    assert!(names.is_sorted_by(|a, b| date_of(a) < date_of(b)), "{names:?}");
    is_refused(&world.run("init three --host a.example.org"), 23, "another collection");
}

#[test]
fn a_person_decides_which_of_two_collections_gives_names() {
    let world = world();
    let first = world.run("-c archive mint").line();
    world.run("init again --host archive.example.org --force prefix").succeeded();
    let second = world.run("-c again mint").line();
    is_refused(&world.run("-c archive mint"), 23, "another collection issues the identifiers");
    world.run("-c archive doctor --take-over").succeeded();
    let third = world.run("-c archive mint").line();
    is_refused(&world.run("-c again mint"), 23, "another collection issues the identifiers");
    assert!(date_of(&first) < date_of(&second) && date_of(&second) < date_of(&third));
}

#[test]
fn of_two_collections_made_at_once_one_gets_the_prefix() {
    let world = World::new();
    let start = |root: &str| {
        let mut command = world.command(["init", root, "--host", "race.example.org"]);
        command.stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let running: Vec<_> = (0..4).map(|number| start(&format!("c{number}"))).collect();
    let codes: Vec<_> = running.into_iter().map(|mut it| it.wait().unwrap().code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 23))), "{codes:?}");
}

#[test]
fn a_known_collection_counts_without_an_entry() {
    let world = world();
    std::fs::remove_dir_all(world.path(".state")).unwrap();
    world.write(".config/urepo/config.toml", "[collections]\nmain = '../../archive'\n");
    is_refused(&world.run("init again --host archive.example.org"), 23, "another collection");
    // It gets its entry with its next name.
    std::fs::remove_file(world.path(".config/urepo/config.toml")).unwrap();
    world.run("-c archive mint").line();
    is_refused(&world.run("init again --host archive.example.org"), 23, "another collection");
}

#[test]
fn two_collections_without_entries_do_not_both_give_names() {
    let world = world();
    world.run("init again --host archive.example.org --force prefix").succeeded();
    std::fs::remove_dir_all(world.path(".state")).unwrap();
    world.run("-c again mint").line();
    is_refused(&world.run("-c archive mint"), 23, "another collection issues the identifiers");
    assert_eq!(world.run("-c archive recover").code, 0, "only giving names is refused");
}

#[test]
fn a_collection_that_was_moved_goes_on() {
    let world = world();
    std::fs::rename(world.path("archive"), world.path("moved")).unwrap();
    is_refused(
        &world.run("init again --host archive.example.org"),
        23,
        "belong to a collection that is gone: `[WORLD]/archive`",
    );
    world.run("-c moved mint").line();
    is_refused(&world.run("init again --host archive.example.org"), 23, "`[WORLD]/moved`");
}

#[test]
fn a_lost_collection_is_followed_above_what_its_mirror_holds() {
    let world = world();
    let newest = item_of(&world, "mirror", "example.org/archive", 3);
    // The distributor of another time wrote the port.
    let newer = item_of(&world, "mirror", "example.org/archive@80", 4);
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    let line = "init archive --host archive.example.org";
    is_refused(&world.run(line), 23, "a collection that is gone");
    world.run(&format!("{line} --names-from mirror")).succeeded();
    let name = world.run("-c archive mint").line();
    assert!(date_of(&name) > newest && date_of(&name) > newer, "{name}");
}

/// What has left the mirror, or was deleted there, is in its inventory.
#[test]
fn names_count_that_a_mirror_no_longer_holds() {
    let world = world();
    let date = SystemClock.now().checked_add(3 * SECOND).unwrap();
    let name = format!("example.org/archive/{}", date.suffix());
    let file = inventory_file(&world.path("mirror"), &name);
    let line = inventory_line("2026-11-23T10:00:00Z", &format!("left {name} deleted"));
    std::fs::write(&file, &line).unwrap();
    let ran = world.run("-c archive recover --names-from mirror");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(date_of(&world.run("-c archive mint").line()) > date);
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    let date = SystemClock.now().checked_add(3 * SECOND).unwrap();
    let name = format!("example.org/archive/{}", date.suffix());
    append(&file, &inventory_line("2026-11-23T10:00:00Z", &format!("left {name} deleted")));
    world.run("init archive --host archive.example.org --names-from mirror").succeeded();
    assert!(date_of(&world.run("-c archive mint").line()) > date);
}

#[test]
fn recovery_goes_on_above_what_a_mirror_holds() {
    let world = world();
    let newest = item_of(&world, "mirror", "example.org/archive", 3);
    let ran = world.run("-c archive recover --names-from mirror");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(date_of(&world.run("-c archive mint").line()) > newest);
}

#[test]
fn a_name_of_the_future_in_a_mirror_does_not_count() {
    let world = world();
    item_of(&world, "mirror", "example.org/archive", 400_000_000);
    let ran = world.run("-c archive recover --names-from mirror");
    assert!(ran.code == 0 && ran.stderr.contains("is dated in the future"), "{}", ran.stderr);
    world.run("-c archive mint").line();
}

/// A collection that came from elsewhere does not decide where is written.
#[test]
fn a_memory_outside_of_the_collection_needs_the_users_word() {
    let world = world();
    let settings = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    let outside = world.path("outside");
    std::fs::create_dir(&outside).unwrap();
    let distributor = format!("{settings}distributor = \"{}\"\n", outside.display());
    world.write("archive/urepo.toml", distributor);
    world.write("a.txt", "a");
    for line in ["-c archive mint", "-c archive new a.txt", "-c archive doctor --take-over"] {
        is_refused(&world.run(line), 1, "is outside of the collection: `[WORLD]/outside`");
    }
    assert_eq!(world.run("-c archive recover").code, 0, "the rest is done");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    world.write(".config/urepo/config.toml", "distributors = ['../../outside']\n");
    assert_eq!(world.run("-c archive mint").code, 0);
    assert!(outside.join("example.org+archive.lock").exists());
}

#[test]
fn recovery_of_a_copied_collection_does_the_rest() {
    let world = world();
    let ran = run_with(&world, ("UREPO_MACHINE_ID", "clone"), "-c archive recover");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: no identifier was issued"), "{}", ran.stderr);
    assert!(ran.stderr.contains("is a copy"), "{}", ran.stderr);
}

/// A memory that may not be used is left alone; one that cannot be opened is not brought up to date.
#[test]
fn recovery_without_the_memory_is_not_whole() {
    let world = world();
    let lock = std::fs::read_dir(world.path("archive/.urepo/distributor")).unwrap();
    let lock = lock.map(|it| it.unwrap().path()).find(|it| it.extension() == Some("lock".as_ref()));
    std::fs::set_permissions(lock.unwrap(), PermissionsExt::from_mode(0o000)).unwrap();
    let ran = world.run_unprivileged("-c archive recover");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("warning: cannot open `[WORLD]/archive/.urepo"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("error: the memory of a distributor could not be"),
        "{}",
        ran.stderr
    );
}

/// A container has no machine id that lasts, but may be given one.
#[test]
fn the_identity_of_the_machine_is_a_setting() {
    let world = world();
    let clone = ("UREPO_MACHINE_ID", "clone");
    is_refused(&run_with(&world, clone, "-c archive mint"), 1, "such as a container");
    run_with(&world, clone, "-c archive doctor --take-over").succeeded();
    run_with(&world, clone, "-c archive mint").line();
    let shown = run_with(&world, clone, "config");
    assert!(shown.succeeded().contains("machine-id  clone"), "{}", shown.stdout);
    assert!(shown.stdout.contains("[WORLD]/.state"), "{}", shown.stdout);
    let wrong = run_with(&world, ("UREPO_MACHINE_ID", "two words"), "config");
    is_refused(&wrong, 2, "UREPO_MACHINE_ID");
}

/// Each of two machines issues the identifiers of one subsystem of a shared collection.
#[test]
fn a_machine_leaves_the_memory_of_another_subsystem_alone() {
    let world = World::new();
    world.run("init a --host a.example.org").succeeded();
    let settings = std::fs::read_to_string(world.path("a/urepo.toml")).unwrap();
    world.write("a/urepo.toml", settings + "\n[[subsystem]]\nhost = \"b.example.org\"\n");
    let other = ("UREPO_MACHINE_ID", "other");
    for text in ["1", "2"] {
        world.write("f", text);
        run_with(&world, other, "-c a new f --subsystem example.org/b").line();
        world.run("-c a new f --subsystem example.org/a").line();
    }
    is_refused(&world.run("-c a new f --subsystem example.org/b"), 1, "is a copy");
}

#[test]
fn a_damaged_entry_is_an_error() {
    let world = world();
    world.write(".state/prefixes/example.org+archive.toml", "?");
    is_refused(&world.run("-c archive mint"), 1, "example.org+archive.toml");
}

#[test]
fn two_subsystems_of_one_address_are_refused() {
    let world = World::new();
    world.run("init a --host a.example.org --ip 192.0.2.1").succeeded();
    let settings = std::fs::read_to_string(world.path("a/urepo.toml")).unwrap();
    let second = "\n[[subsystem]]\nhost = \"b.example.org\"\nip = \"192.0.2.1\"\n";
    world.write("a/urepo.toml", format!("{settings}{second}"));
    is_refused(&world.run("-c a mint"), 1, "two subsystems have the address 192.0.2.1");
    world.write("a/urepo.toml", format!("{settings}{second}ip_port = 802\n"));
    assert_eq!(world.run("-c a mint --subsystem example.org/b").code, 0);
}

#[test]
fn a_second_collection_of_one_address_is_refused() {
    let world = World::new();
    world.run("init a --host a.example.org --ip 192.0.2.1").succeeded();
    let why = "another collection issues the IBIps of `192.0.2.1:800`: `[WORLD]/a`";
    let second = "init b --host b.example.org --ip 192.0.2.1";
    // In one memory each prefix has dates of its own.
    for rest in ["", " --ip-port 800", " --distributor memory", " -n"] {
        is_refused(&world.run(&format!("{second}{rest}")), 23, why);
        assert!(!world.path("b/urepo.toml").exists(), "{rest}");
    }
    world.run(&format!("{second} --ip-port 801")).succeeded();
    world.run("init c --host c.example.org").succeeded();
    let line = "--host d.example.org --ip 192.0.2.2 --distributor memory";
    world.run(&format!("init d {line}")).succeeded();
    world.run(&format!("init e {line}")).succeeded();
    std::fs::rename(world.path("a"), world.path("moved")).unwrap();
    let again = "init f --host f.example.org --ip 192.0.2.1";
    is_refused(
        &world.run(again),
        23,
        "IBIps of `192.0.2.1:800` belong to a collection that is gone",
    );
    world.run("-c moved mint").line();
    is_refused(&world.run(again), 23, "`[WORLD]/moved`");
}

/// Two that shared an address before the register had IBIps go on, and never give one IBIp.
#[test]
fn of_collections_that_share_an_address_one_gives_ibips() {
    let world = World::new();
    for root in ["a", "b"] {
        world.run(&format!("init {root} --host {root}.example.org")).succeeded();
        let settings = std::fs::read_to_string(world.path(format!("{root}/urepo.toml"))).unwrap();
        world.write(&format!("{root}/urepo.toml"), format!("{settings}ip = \"192.0.2.1\"\n"));
    }
    world.write(".config/urepo/config.toml", "[collections]\na = '../../a'\nb = '../../b'\n");
    world.write("x.txt", "x");
    let deposit = |root: &str| {
        let ran = world.run(&format!("-c {root} new x.txt"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let shown = world.run(&format!("-c {root} show {}", ran.stdout.trim()));
        (shown.succeeded().contains("ibip"), ran.stderr)
    };
    let gives = || (true, String::new());
    let warns = |root: &str, other: &str| {
        let warning = format!(
            "warning: new identifiers of `example.org/{root}` have no IBIp: another collection issues the IBIps of \
             `192.0.2.1:800`: `[WORLD]/{other}`; set another `ip_port` in `urepo.toml`\n"
        );
        (false, warning)
    };
    assert_eq!(deposit("a"), gives());
    assert_eq!(deposit("b"), warns("b", "a"));
    assert_eq!(deposit("a"), gives());
    world.run("-c b doctor --take-over").succeeded();
    assert_eq!(deposit("b"), gives());
    assert_eq!(deposit("a"), warns("a", "b"));
    let settings = std::fs::read_to_string(world.path("a/urepo.toml")).unwrap();
    world.write("a/urepo.toml", format!("{settings}ip_port = 801\n"));
    assert_eq!(deposit("a"), gives());
}

/// What the settings refuse may have been given before, or by hand.
#[test]
fn verify_finds_items_of_one_ibip_and_names_of_the_future() {
    let world = World::new();
    world.run("init a --host a.example.org --ip 192.0.2.1").succeeded();
    world.write("x.txt", "x");
    let first = world.run("-c a new x.txt --granularity 1").line();
    let ran = world.run("-c a verify");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let second = first.replace("example.org/a/", "example.org/b/");
    let future = "example.org/a/2199/01.01.00.00".to_owned();
    for name in [&second, &future] {
        std::fs::create_dir_all(world.path("a").join(name).parent().unwrap()).unwrap();
        let copied = std::process::Command::new("cp")
            .args(["-a", &first, name])
            .current_dir(world.path("a"))
            .status();
        assert!(copied.unwrap().success());
        let sidecar = format!("a/{name}/item.toml");
        let text = std::fs::read_to_string(world.path(&sidecar)).unwrap();
        world.write(&sidecar, text.replace(&first, name));
        change_item(&world.path("a"), name, |_| ());
    }
    let ran = world.run("-c a verify");
    assert_eq!(ran.code, 20, "{}{}", ran.stdout, ran.stderr);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    let finds = |code: &str, name: &str| {
        told.lines().any(|line| line.contains(code) && line.contains(name))
    };
    assert!(finds("U307", &second) || finds("U307", &first), "{told}");
    assert!(finds("U308", &future), "{told}");
    assert_eq!(told.matches("U308").count(), 1, "{told}");
}

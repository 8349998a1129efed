//! Several collections of a host on one machine, and a host whose collection is lost.

use std::os::unix::fs::PermissionsExt;

use urepo::clock::{Clock as _, SystemClock};
use urepo::identity::{Instant, SECOND};

use crate::support::{Ran, World, add_lines, change_item, ledger_line};

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

/// Whatever was tried before, `init` just works, and no name is given twice.
#[test]
fn collections_of_one_host_never_give_one_name() {
    let world = world();
    world.write("a.txt", "a");
    let mut names = Vec::new();
    let mut mint = |root: &str| names.push(world.run(&format!("-c {root} mint")).line());
    mint("archive");
    let again = world.run("init again --host ARCHIVE.example.org:80");
    let note = "this machine has issued identifiers of `example.org/archive` before, the last 20";
    assert!(again.code == 0 && again.stderr.contains(note), "{}", again.stderr);
    mint("again");
    mint("archive");
    world.run("-c made new a.txt --init --host archive.example.org").succeeded();
    mint("made");
    let copied = world.shell("cp -a archive copied").status();
    assert!(copied.unwrap().success());
    mint("copied");
    mint("archive");
    // The first try is removed, and everything is tried again in another directory.
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    world.run("init archive --host archive.example.org").succeeded();
    mint("archive");
    assert!(names.is_sorted_by(|a, b| date_of(a) < date_of(b)), "{names:?}");
}

/// The two commands and the tour of the README, twice in a row on one machine: again in the same place, and in another
/// directory after the first was removed.
#[test]
fn the_first_steps_work_again() {
    let world = World::new();
    world.write("README.md", "urepo");
    let tour = |directory: &str| {
        std::fs::create_dir_all(world.path(directory)).unwrap();
        world.write(
            &format!("{directory}/letter.txt"),
            "Dear Ana, the maps of 1911 have arrived.\n",
        );
        let run = |line: &str| {
            let mut command = world.command(line.split_whitespace());
            command.current_dir(world.path(directory));
            world.finish(command)
        };
        for _ in 0..2 {
            let first = "-c target/first new ../README.md --init --host archive.example.org";
            let ran = run(first);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let name = ran.stdout.trim_end();
            run(&format!("-c target/first show {name}")).succeeded();
        }
        run("init archive --host archive.example.org").succeeded();
        let name = run("-c archive new letter.txt --language en").line();
        run("init mirror --host mirror.example.org").succeeded();
        run("-c archive copy --all --to mirror").succeeded();
        run("verify archive mirror").succeeded();
        name
    };
    let mut names = vec![tour("one")];
    std::fs::remove_dir_all(world.path("one")).unwrap();
    names.extend([tour("two"), tour("one")]);
    assert!(names.is_sorted_by(|a, b| date_of(a) < date_of(b)), "{names:?}");
}

/// Two collections at once, of one host.
#[test]
fn at_once_they_never_give_one_name() {
    let world = World::new();
    let roots = ["one", "two"];
    for root in roots {
        world.run(&format!("init {root} --host a.example.org")).succeeded();
    }
    let start = |number: usize| {
        let mut command = world.command(["-c", roots[number % 2], "mint", "--count", "20"]);
        command.stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..6).map(start).collect();
    let mut names: Vec<String> = Vec::new();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        names.extend(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned));
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!((names.len(), count), (120, 120));
}

/// Two hosts with one address.
#[test]
fn of_one_address_they_never_give_one_ibip() {
    let world = World::new();
    world.write("x.txt", "x");
    let mut ibips = Vec::new();
    for root in ["a", "b"] {
        world.run(&format!("init {root} --host {root}.example.org --ip 192.0.2.1")).succeeded();
        world.set_granularity(root, "0.1");
    }
    for root in ["a", "b", "a", "b"] {
        let name = world.run(&format!("-c {root} new x.txt")).line();
        let shown = world.run(&format!("-c {root} show -v {name}"));
        let ibip = shown.succeeded().lines().find(|line| line.starts_with("ibip")).unwrap();
        ibips.push(ibip.to_owned());
    }
    let count = ibips.len();
    ibips.sort();
    ibips.dedup();
    assert_eq!(ibips.len(), count, "{ibips:?}");
}

/// A user who may not write what the machine remembers is warned, and issues.
#[test]
fn without_host_state_a_person_is_warned() {
    let world = world();
    std::fs::remove_dir_all(world.path(".state")).unwrap();
    std::fs::create_dir(world.path(".state")).unwrap();
    std::fs::set_permissions(world.path(".state"), PermissionsExt::from_mode(0o555)).unwrap();
    let ran = world.run_unprivileged("-c archive mint");
    assert!(
        ran.code == 0 && ran.stderr.contains("another collection of this machine could"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_damaged_host_state_ends_nothing() {
    let world = world();
    let first = world.run("-c archive mint").line();
    world.write(".state/example.org+archive", "?".repeat(9000));
    let second = world.run("-c archive mint").line();
    assert!(date_of(&first) < date_of(&second));
}

/// A backup put back, with and without a person who says so.
#[test]
fn a_restored_collection_gives_no_name_again() {
    let world = world();
    world.write("a.txt", "a");
    let copied = world.shell("cp -a archive backup").status();
    assert!(copied.unwrap().success());
    let given = world.run("-c archive new a.txt").line();
    let restore = || {
        std::fs::remove_dir_all(world.path("archive")).unwrap();
        assert!(world.shell("cp -a backup archive").status().unwrap().success());
    };
    restore();
    let next = world.run("-c archive mint").succeeded().trim().to_owned();
    assert!(date_of(&given) < date_of(&next));
    restore();
    std::fs::remove_dir_all(world.path(".state")).unwrap();
    world.run("-c archive recover --restored").succeeded();
    assert!(date_of(&next) < date_of(&world.run("-c archive mint").line()));
}

#[test]
fn a_lost_collection_is_followed_above_what_its_mirror_holds() {
    let world = world();
    let newest = item_of(&world, "mirror", "example.org/archive", 3);
    // The distributor of another time wrote the port.
    let newer = item_of(&world, "mirror", "example.org/archive@80", 4);
    std::fs::remove_dir_all(world.path("archive")).unwrap();
    let line = "init archive --host archive.example.org";
    world.run(&format!("{line} --with mirror")).succeeded();
    let name = world.run("-c archive mint").line();
    assert!(date_of(&name) > newest && date_of(&name) > newer, "{name}");
}

/// What the mirror has lost is in its ledger.
#[test]
fn names_count_that_a_mirror_no_longer_holds() {
    let is_above = |line: &str, is_lost: bool| {
        let world = world();
        let date = SystemClock.now().checked_add(3 * SECOND).unwrap();
        let name = format!("example.org/archive/{}", date.suffix());
        add_lines(&world.path("mirror"), &[ledger_line("loss", &name, None)]);
        if is_lost {
            std::fs::remove_dir_all(world.path("archive")).unwrap();
        }
        world.run(line).succeeded();
        date_of(&world.run("-c archive mint").line()) > date
    };
    // Each waits until the date has come: both do it at the same time.
    std::thread::scope(|threads| {
        let recovered = threads.spawn(|| is_above("-c archive recover --with mirror", false));
        assert!(is_above("init archive --host archive.example.org --with mirror", true));
        assert!(recovered.join().unwrap());
    });
}

#[test]
fn recovery_goes_on_above_what_a_mirror_holds() {
    let world = world();
    let newest = item_of(&world, "mirror", "example.org/archive", 3);
    let ran = world.run("-c archive recover --with mirror");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(date_of(&world.run("-c archive mint").line()) > newest);
}

#[test]
fn a_name_of_the_future_in_a_mirror_does_not_count() {
    let world = world();
    item_of(&world, "mirror", "example.org/archive", 400_000_000);
    let ran = world.run("-c archive recover --with mirror");
    assert!(ran.code == 0 && ran.stderr.contains("is dated in the future"), "{}", ran.stderr);
    world.run("-c archive mint").line();
}

#[test]
fn recovery_of_a_copied_collection_does_the_rest() {
    let world = world();
    let ran = run_with(&world, ("UREPO_MACHINE_ID", "clone"), "-c archive recover");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: no identifier was issued"), "{}", ran.stderr);
    assert!(ran.stderr.contains("is that of another machine"), "{}", ran.stderr);
}

/// A memory that may not be used is left alone; one that cannot be opened is not brought up to date.
#[test]
fn recovery_without_the_memory_is_not_whole() {
    let world = world();
    let lock = std::fs::read_dir(world.path("archive/.urepo/memory")).unwrap();
    let lock = lock.map(|it| it.unwrap().path()).next().unwrap();
    std::fs::set_permissions(lock, PermissionsExt::from_mode(0o000)).unwrap();
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
    run_with(&world, clone, "-c archive recover --restored").succeeded();
    run_with(&world, clone, "-c archive mint").line();
    let shown = run_with(&world, clone, "status --settings");
    assert!(shown.succeeded().contains("machine_id  clone"), "{}", shown.stdout);
    assert!(shown.stdout.contains("[WORLD]/.state"), "{}", shown.stdout);
    let wrong = run_with(&world, ("UREPO_MACHINE_ID", "two words"), "status --settings");
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
    is_refused(&world.run("-c a new f --subsystem example.org/b"), 1, "of another machine");
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

/// What the settings refuse may have been given before, or by hand.
#[test]
fn verify_finds_items_of_one_ibip_and_names_of_the_future() {
    let world = World::new();
    world.run("init a --host a.example.org --ip 192.0.2.1").succeeded();
    world.write("x.txt", "x");
    world.set_granularity("a", "1");
    let first = world.run("-c a new x.txt").line();
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

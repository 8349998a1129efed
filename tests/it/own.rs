//! A collection that has lost urepo's own directory, or parts of it, answers, and the first change
//! rebuilds what is missing.

mod departed;
mod ids;
mod rebuilding;

use std::path::Path;
use std::sync::{Arc, Mutex};

use urepo::collection::{Collection, Rebuilt};
use urepo::disk::Watcher;

use crate::errors::with_mounts;
use crate::support::{
    Ran, TestClock, World, deposit, forget_head, make_collection, options, request, scratch, tree,
};

/// The parts that every collection has in urepo's own directory.
const PARTS: [&str; 4] = ["memory", "staging", "lock", "ledger"];

/// A collection, and what it reports as rebuilt.
pub(crate) fn listening(collection: Collection) -> (Collection, Arc<Mutex<Vec<Rebuilt>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    (collection.on_rebuild(move |rebuilt| hear.lock().unwrap().push(rebuilt.clone())), heard)
}

/// An archive with two items, one of them a tombstone, and an empty mirror.
fn world() -> (World, String, String) {
    let world = World::new();
    world.run("init archive --host archive.example.org").succeeded();
    world.run("init mirror --host mirror.example.org").succeeded();
    let kept = deposit_one(&world, "letter.txt");
    let deleted = deposit_one(&world, "draft.txt");
    world.run(&format!("-c archive delete {deleted} --force last --yes")).succeeded();
    (world, kept, deleted)
}

fn deposit_one(world: &World, file: &str) -> String {
    world.write(file, format!("the {file}\n"));
    world.run(&format!("-c archive new {file}")).succeeded().trim().to_owned()
}

fn lose(world: &World, part: &str) {
    let path = world.path("archive/.urepo").join(part);
    let removed = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
    removed.unwrap();
    forget_head(&world.path("archive"));
}

fn questions(kept: &str, deleted: &str) -> Vec<String> {
    let lines = [
        "list --long",
        "list --json",
        "show KEPT",
        "show DELETED",
        "list file:letter.txt",
        "show --path KEPT",
        "cat KEPT",
        "show --as manifest KEPT",
        "status KEPT",
        "status",
        "status --with mirror",
        "verify",
        "verify --time-limit 5m",
        "verify KEPT",
        "log",
        "log KEPT",
        "status --counts",
        "export KEPT --format tar --to -",
        "export KEPT --to out",
        "resolve --explain KEPT",
        "status --settings",
        "status --machine",
        "purge --dry-run",
        "recover --dry-run",
        "new letter.txt --dry-run",
        "mint --dry-run",
        "import letter.txt --dry-run",
        "copy KEPT --to mirror",
    ];
    let fill = |line: &str| line.replace("KEPT", kept).replace("DELETED", deleted);
    let of_one = lines.iter().map(|line| format!("-c archive {}", fill(line)));
    of_one.chain(["verify archive mirror".to_owned()]).collect()
}

#[test]
fn every_question_is_answered_without_it_and_changes_nothing() {
    let (world, kept, deleted) = world();
    for part in ["", "memory", "staging", "lock", "ledger", "trash", "change.lock"] {
        let archive = world.path("archive");
        let whole = world.path("whole");
        assert!(
            std::process::Command::new("cp")
                .arg("-a")
                .args([&archive, &whole])
                .status()
                .unwrap()
                .success()
        );
        lose(&world, part);
        let before = essentials(&archive);
        for line in questions(&kept, &deleted) {
            let ran = world.run(&line);
            // The mirror lacks what the archive has.
            let expected = if line.contains("status --with mirror") { 3 } else { 0 };
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, expected, "without `{part}`: {line}\n{told}");
            assert!(!ran.stderr.contains("rebuilt"), "{line}: {}", ran.stderr);
            assert_eq!(essentials(&archive), before, "without `{part}`: {line}");
        }
        assert_eq!(world.run(&format!("-c archive cat {kept}")).stdout, "the letter.txt\n");
        std::fs::remove_dir_all(&archive).unwrap();
        std::fs::rename(&whole, &archive).unwrap();
        for made in ["out", "mirror"] {
            std::fs::remove_dir_all(world.path(made)).unwrap();
        }
        world.run("init mirror --host mirror.example.org").succeeded();
    }
}

/// What is in urepo's own directory, without what questions keep there for the next.
fn essentials(root: &Path) -> Vec<String> {
    let derived = ["round"];
    let mut lines = tree(root);
    lines.retain(|line| {
        !derived.iter().any(|name| line.starts_with(&format!(".urepo/{name}")))
            // Its time and size say who holds it.
            && !line.starts_with(".urepo/lock ")
    });
    lines
}

#[test]
fn verify_says_once_that_the_ledger_is_missing() {
    let (world, ..) = world();
    for part in ["ledger", ""] {
        lose(&world, part);
        let ran = world.run("-c archive verify");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let told = ran.stdout.clone() + &ran.stderr;
        assert_eq!(told.matches("U310").count(), 1, "{told}");
        assert!(told.contains("\tU310\n"), "{told}");
        assert!(!world.path("archive/.urepo/ledger").exists());
    }
}

/// All items may have gone with it.
#[test]
fn that_the_ledger_is_missing_is_said_without_items_too() {
    let world = World::new();
    world.run("init archive --host archive.example.org").succeeded();
    assert!(!world.run("-c archive verify").succeeded().contains("U310"));
    lose(&world, "");
    assert!(world.run("-c archive verify").succeeded().contains("\tU310\n"));
    let told = world.run("-c archive status");
    assert!(told.stderr.contains("`archive` has no ledger"), "{}", told.stderr);
}

#[test]
fn the_first_change_rebuilds_it_and_says_so() {
    let (world, kept, deleted) = world();
    let changes = [
        "-c archive new draft.txt".to_owned(),
        "-c archive mint".to_owned(),
        "-c archive import draft.txt".to_owned(),
        format!("-c archive delete {kept} --force last --yes"),
        format!("-c archive restore {kept}"),
        "-c archive recover".to_owned(),
        "-c archive recover --restored".to_owned(),
        "init archive --adopt".to_owned(),
    ];
    let warned = |ran: &Ran, what: &str| {
        let count = ran.stderr.matches("missing and has been rebuilt").count();
        assert_eq!(count, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("warning: {what}")), "{}", ran.stderr);
    };
    for change in changes {
        // The trash goes along, so that nothing can be restored.
        let parts: &[&str] = if change.contains("restore") { &PARTS } else { &[""] };
        for part in parts {
            lose(&world, part);
        }
        let ran = world.run(&change);
        ran.succeeded();
        warned(
            &ran,
            "`[WORLD]/archive/.urepo` was missing and has been rebuilt; the ledger lists the ",
        );
        for part in PARTS {
            assert!(world.path("archive/.urepo").join(part).exists(), "{change}");
        }
        let told = world.run("-c archive verify --quick");
        assert!(!told.succeeded().contains("U310"), "{}", told.stdout);
    }
    for part in PARTS {
        lose(&world, part);
        let ran = world.run("-c archive new draft.txt");
        ran.succeeded();
        warned(&ran, &format!("`[WORLD]/archive/.urepo/{part}` was missing and has been rebuilt"));
    }
    let ran = world.run("-c archive new draft.txt");
    assert!(!ran.stderr.contains("rebuilt"), "{}", ran.stderr);
    assert_ne!(kept, deleted);
}

/// The memory is lost as well: no name that may have been given is given again.
#[test]
fn names_are_later_than_now_afterwards() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    let file = scratch.path().join("a.txt");
    std::fs::write(&file, "a").unwrap();
    make_collection(&root);
    let name_at = |time: &str| {
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let clock = TestClock::at(time);
        let (outcomes, _) =
            deposit(&collection, vec![request(&file)], options(), &clock, |_| ()).unwrap();
        outcomes[0].result.as_ref().unwrap().label.name.clone()
    };
    let given = name_at("2026-11-21T02:13:20Z");
    // It migrated, so that nothing on the disk tells that it was given.
    std::fs::remove_dir_all(root.join("example.org")).unwrap();
    std::fs::remove_dir_all(root.join(".urepo")).unwrap();
    let next = name_at("2026-11-21T02:13:40Z");
    assert!(given.instant() < next.instant());
    assert!(next.instant() > "2026-11-21T02:13:40Z".parse().unwrap(), "{next}");
}

/// Both have one id and one host; the machine remembers the last name.
#[test]
fn a_copy_and_its_model_never_give_one_name() {
    let (world, ..) = world();
    let copied = world.shell("cp -r archive twin && rm -r twin/.urepo").status();
    assert!(copied.unwrap().success());
    let names: Vec<_> = ["twin", "archive", "twin", "archive"]
        .iter()
        .map(|root| world.run(&format!("-c {root} new letter.txt")).succeeded().to_owned())
        .collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
}

#[test]
fn only_a_directory_is_taken_for_it() {
    let (world, kept, _) = world();
    std::fs::rename(world.path("archive/.urepo"), world.path("aside")).unwrap();
    let before = tree(&world.path("aside"));
    std::os::unix::fs::symlink("../aside", world.path("archive/.urepo")).unwrap();
    for line in ["-c archive list", "-c archive new letter.txt", "-c archive recover"] {
        assert_eq!(world.run(line).code, 1, "{line}");
    }
    std::fs::remove_file(world.path("archive/.urepo")).unwrap();
    std::fs::write(world.path("archive/.urepo"), "").unwrap();
    for line in ["-c archive list", "-c archive new letter.txt"] {
        assert_eq!(world.run(line).code, 1, "{line}");
    }
    assert_eq!(tree(&world.path("aside")), before);
    std::fs::remove_file(world.path("archive/.urepo")).unwrap();
    for part in ["ledger", "staging", "memory"] {
        std::fs::create_dir_all(world.path("archive/.urepo")).unwrap();
        std::os::unix::fs::symlink("../../aside", world.path("archive/.urepo").join(part)).unwrap();
        assert_eq!(world.run("-c archive new letter.txt").code, 1, "{part}");
        std::fs::remove_dir_all(world.path("archive/.urepo")).unwrap();
    }
    assert_eq!(tree(&world.path("aside")), before);
    world.run(&format!("-c archive show {kept}")).succeeded();
}

#[test]
fn a_read_only_collection_without_it_is_read() {
    let world = World::new();
    let script = "
        $UREPO init mount/archive --host archive.example.org 2>told
        $UREPO init mirror --host mirror.example.org 2>told
        name=$($UREPO -c mount/archive new a.txt)
        mount -t tmpfs tmpfs mount && $UREPO init mount/archive --host archive.example.org 2>told
        name=$($UREPO -c mount/archive new a.txt 2>told)
        rm -r mount/archive/.urepo $UREPO_STATE/ledger-* && mount -o remount,bind,ro mount
        for line in list \"show $name\" \"cat $name\" 'list file:a.txt' verify status \"show --as manifest $name\" \\
            log 'status --counts' 'status --machine' \"copy $name --to mirror\"; do
            code=0; $UREPO -c mount/archive $line >out 2>told || code=$?; echo \"$line: $code\"
        done
        code=0; $UREPO -c mount/archive new a.txt 2>told || code=$?; tell $code";
    let Some(told) = with_mounts(&world, script) else { return };
    let (answers, refusal) = told.split_once("exit").unwrap();
    assert_eq!(answers.lines().count(), 11, "{told}");
    assert!(answers.lines().all(|line| line.ends_with(": 0")), "{told}");
    assert!(refusal.starts_with(" 1") && refusal.contains("Read-only"), "{told}");
}

/// What a collection says of itself is true: its commands find an item as it was deposited.
#[test]
fn the_readme_of_a_collection_tells_how_to_check_it() {
    let world = World::new();
    world.write("trip/a b.txt", "a");
    world.write("trip/sub/b.bin", "b");
    std::fs::create_dir(world.path("trip/empty")).unwrap();
    std::os::unix::fs::symlink("a b.txt", world.path("trip/link")).unwrap();
    world.run("init archive --host archive.example.org").succeeded();
    let name = world.run("-c archive new trip --title path").line();
    let item = world.path("archive").join(name);
    let readme = std::fs::read_to_string(world.path("archive/README")).unwrap();
    assert!(readme.lines().count() <= 60);
    let commands: Vec<_> = readme.lines().filter_map(|line| line.strip_prefix("  sed ")).collect();
    let run = |at: usize| {
        let mut shell = world.shell(&format!("sed {}", commands[at]));
        world.finish({
            shell.current_dir(&item);
            shell
        })
    };
    assert_eq!(run(0).succeeded(), "doc/a b.txt: OK\ndoc/sub/b.bin: OK\n");
    let sidecar = std::fs::read_to_string(item.join("item.toml")).unwrap();
    let digest = |table: &str| {
        let (_, text) = sidecar.split_once(&format!("\n[{table}]\n")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("sha256 = "));
        line.unwrap().trim_matches('"').to_owned()
    };
    assert_eq!(run(1).succeeded(), format!("{}  -\n", digest("seal")));
    assert_eq!(run(2).succeeded(), format!("{}  -\n", digest("payload")));
    assert_eq!(commands.len(), 3);
    std::fs::write(item.join("doc/sub/b.bin"), "c").unwrap();
    assert_ne!(run(0).code, 0);
}

#[test]
fn the_readme_is_no_item_and_replaces_nothing() {
    let (world, kept, _) = world();
    let readme = world.path("archive/README");
    assert!(readme.exists());
    assert!(!world.run("-c archive verify").succeeded().contains("README"));
    assert_eq!(world.run("-c archive list --state any").succeeded().lines().count(), 2);
    world.run("-c archive copy --all --to mirror").succeeded();
    std::fs::write(&readme, "mine").unwrap();
    lose(&world, "");
    world.run("-c archive new letter.txt").succeeded();
    assert_eq!(std::fs::read_to_string(&readme).unwrap(), "mine");
    std::fs::remove_file(&readme).unwrap();
    lose(&world, "");
    world.run("-c archive new letter.txt").succeeded();
    assert!(std::fs::read_to_string(&readme).unwrap().contains("sha256sum"));
    world.write("tree/README", "theirs");
    world.write("tree/example.org/x/2001/01.01.01.01/doc/a", "a");
    world.run("init tree --adopt").succeeded();
    assert_eq!(std::fs::read_to_string(world.path("tree/README")).unwrap(), "theirs");
    world.run(&format!("-c archive show {kept}")).succeeded();
}

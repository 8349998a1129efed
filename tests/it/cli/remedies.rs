//! What to do about an item is one row of the table of remedies, whichever command is asked.

mod every_row;

use std::path::Path;

use serde_json::Value;

use super::records;
use crate::support::{Ran, World};

/// A world whose settings name `archive`, with one item, and `mirror`, with nothing; and the item's name.
fn world() -> (World, String) {
    let world = World::with_collection();
    world.run("-q init mirror --host mirror.example.org").succeeded();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let [archive, mirror] =
        ["archive", "mirror"].map(|root| world.path(root).display().to_string());
    let settings = format!("[collections]\narchive = '{archive}'\nmirror = '{mirror}'\n");
    world.write(".config/urepo/config.toml", settings);
    (world, name)
}

fn copy_tree(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(done.success());
}

/// The directory of the item in `root`, kept for later.
fn keep(world: &World, root: &str, name: &str) {
    copy_tree(&world.path(root).join(name), &world.path("night"));
}

/// Puts it back, as a person does with a backup.
fn put_back(world: &World, root: &str, name: &str) {
    let place = world.path(root).join(name);
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::rename(world.path("night"), place).unwrap();
}

/// The rows and the commands that a run names, each command without the world in its paths.
fn remedies(ran: &Ran) -> Vec<(String, String)> {
    let records = records(ran);
    let told = records.iter().filter_map(|record| record["remedies"].as_array()).flatten();
    let words = |it: &Value| {
        let words = it.as_array().into_iter().flatten().map(|word| word.as_str().unwrap());
        words.collect::<Vec<_>>().join(" ").replace("[WORLD]/", "")
    };
    told.map(|it| (it["row"].as_str().unwrap().to_owned(), words(&it["command"]))).collect()
}

/// Every command that tells of the item names this row and this command, and nothing else.
#[track_caller]
fn all_name(world: &World, name: &str, row: &str, command: &str) {
    let expected = [(row.to_owned(), command.replace("ITEM", name))];
    for line in [format!("status {name} --json"), "verify archive mirror --json".to_owned()] {
        let ran = world.run(&line);
        assert_eq!(remedies(&ran), expected, "{line}: {}{}", ran.stdout, ran.stderr);
    }
    let typed = command.replace("ITEM", name);
    for line in ["verify archive mirror".to_owned(), format!("status {name}")] {
        let ran = world.run(&line);
        assert_eq!(ran.stderr.matches(&format!("urepo {typed}")).count(), 1, "{}", ran.stderr);
        // What may be given up may be in a collection that nobody named.
        assert_eq!(ran.stderr.contains("COLLECTION"), row.starts_with('9'), "{}", ran.stderr);
    }
}

#[test]
fn an_item_that_was_put_back() {
    let (world, name) = world();
    keep(&world, "archive", &name);
    world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
    put_back(&world, "archive", &name);
    all_name(&world, &name, "9a", "-c archive recover --accept-loss ITEM");
    let command = format!("-c archive recover --accept-loss {name}");
    let repaired = world.run(&format!("-c archive repair {name}"));
    assert_eq!(repaired.code, 20, "{}", repaired.stderr);
    assert!(!repaired.stderr.contains("nothing to repair"), "{}", repaired.stderr);
    assert!(repaired.stderr.contains("recover --accept-loss"), "{}", repaired.stderr);
    for line in [
        format!("-c archive show {name}"),
        format!("-c archive meta set {name} title=Again"),
        format!("-c archive copy {name} --to mirror"),
        "-c archive recover".to_owned(),
        "-c archive recover --dry-run".to_owned(),
    ] {
        let ran = world.run(&line);
        assert!(ran.stderr.contains(&command), "{line}: {}", ran.stderr);
        assert!(!ran.stderr.contains("nothing to do"), "{line}: {}", ran.stderr);
    }
}

#[test]
fn an_item_that_was_put_back_while_a_copy_is_newer() {
    let (world, name) = world();
    keep(&world, "archive", &name);
    world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    put_back(&world, "archive", &name);
    all_name(&world, &name, "7d", "-c archive repair ITEM --from mirror");
    // One fault is one finding, of the holding that is behind.
    let ran = world.run("verify archive mirror");
    assert_eq!((ran.code, ran.stdout.lines().count()), (20, 1), "{}", ran.stdout);
    assert!(ran.stdout.starts_with(&format!("damage\t{name}\t\tarchive: ")), "{}", ran.stdout);
    let ran = world.run("-q status");
    let line =
        format!("behind\t{name}\ta.txt\t1 Original in archive is older than what mirror has\n");
    assert_eq!(ran.stdout, line, "{}", ran.stderr);
    world.run(&format!("-c archive repair {name} --from mirror")).succeeded();
    world.run("verify archive mirror").succeeded();
}

#[test]
fn a_receiver_that_was_put_back() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    keep(&world, "mirror", &name);
    world.run(&format!("-c archive migrate {name} --to mirror")).succeeded();
    put_back(&world, "mirror", &name);
    all_name(&world, &name, "9a", "-c mirror recover --accept-loss ITEM");
}

#[test]
fn an_item_that_was_given_up_and_that_a_mirror_has() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    std::fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    // While no other collection is known to have it.
    std::fs::rename(world.path("mirror"), world.path("away")).unwrap();
    world.run(&format!("-c archive recover --accept-loss -y {name}")).succeeded();
    std::fs::rename(world.path("away"), world.path("mirror")).unwrap();
    // A loss that was accepted is no damage, and is told all the same.
    assert_eq!(world.run("verify archive mirror").code, 0);
    all_name(&world, &name, "7c", "-c archive repair ITEM --from mirror");
    // Without the collection that gave it up, nothing is known of that.
    assert_eq!(remedies(&world.run("verify mirror mirror --json")), []);
    world.run(&format!("-c archive repair {name} --from mirror")).succeeded();
    world.run("verify archive mirror").succeeded();
}

/// Damaged bytes, which only `verify` finds.
#[test]
fn bytes_that_rot() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.write(&format!("archive/{name}/doc/a.txt"), "ALPHA");
    let ran = world.run("-c archive verify");
    assert_eq!(ran.code, 20, "{}", ran.stderr);
    let command = format!("urepo -c archive repair {name} --from mirror");
    assert!(ran.stderr.contains(&command), "{}", ran.stderr);
    std::fs::rename(world.path("mirror"), world.path("away")).unwrap();
    let ran = world.run("-c archive verify");
    assert!(ran.stderr.contains("recover --accept-loss"), "{}", ran.stderr);
}

/// Where nothing else is left, what lies there is sealed, whatever became of the sidecar.
#[test]
fn only_payload_is_left() {
    for text in [None, Some("rot\n")] {
        let (world, name) = world();
        let sidecar = world.path("archive").join(&name).join("item.toml");
        match text {
            None => std::fs::remove_file(sidecar).unwrap(),
            Some(text) => std::fs::write(sidecar, text).unwrap(),
        }
        let command = format!("-c archive repair {name} --reseal");
        let ran = world.run("verify archive mirror --json");
        assert_eq!(remedies(&ran), [("9b".to_owned(), command)], "{}", ran.stdout);
        let ran = world.run("-c archive verify");
        // The last of the two commands: nothing else has the item.
        let mut typed = ran.stderr.lines().filter_map(|it| Some(it.split_once("urepo ")?.1));
        let typed = typed.rfind(|it| it.ends_with("--reseal")).expect(&ran.stderr);
        world.run(typed).succeeded();
        let ran = world.run("verify archive mirror");
        assert_eq!((ran.code, &*ran.stdout), (0, ""), "{}", ran.stderr);
        assert_eq!(world.run(&format!("-c archive cat {name}/a.txt")).succeeded(), "alpha");
        world.run(&format!("-c archive meta set {name} title=Again")).succeeded();
    }
}

/// Without ITEM, the rows of the table with a loss are listed, and nothing is given up unless a person has seen them.
#[test]
fn every_loss_is_listed_and_none_is_given_up_unseen() {
    let (world, older) = world();
    world.write("b.txt", "beta");
    let gone = world.run("-c archive new b.txt").line();
    world.write("c.txt", "gamma");
    let copied = world.run("-c archive new c.txt").line();
    world.run(&format!("-c archive copy {copied} --to mirror")).succeeded();
    keep(&world, "archive", &older);
    world.run(&format!("-c archive meta set {older} title=Corrected")).succeeded();
    put_back(&world, "archive", &older);
    for name in [&gone, &copied] {
        std::fs::remove_dir_all(world.path("archive").join(name)).unwrap();
    }
    let ran = world.run("-c archive recover --accept-loss --dry-run");
    let listed: Vec<_> =
        ran.stdout.lines().filter_map(|line| line.strip_prefix("would give up ")).collect();
    assert_eq!(listed.len(), 2, "{}{}", ran.stdout, ran.stderr);
    assert!(listed[0].starts_with(&format!("{older}: its newest state")), "{}", ran.stdout);
    assert!(listed[0].contains("title \"Corrected\""), "{}", ran.stdout);
    assert!(listed[1].starts_with(&format!("{gone}: the item")), "{}", ran.stdout);
    for option in ["", " --yes"] {
        let ran = world.run(&format!("-c archive recover --accept-loss{option}"));
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{}", ran.stderr);
    }
    // What a mirror has is no loss.
    let ran = world.run("-c archive recover");
    let repair = format!("urepo -c archive repair {copied} --from mirror");
    assert!(ran.stderr.contains(&repair), "{}", ran.stderr);
    for name in [&older, &gone] {
        world.run(&format!("-c archive recover --accept-loss --yes {name}")).succeeded();
    }
    world.run(&format!("-c archive repair {copied} --from mirror")).succeeded();
    world.run("verify archive mirror").succeeded();
}

/// A fork is ended by `promote`. No command that is named buries a line of it.
#[test]
fn a_fork() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    std::fs::rename(world.path("archive"), world.path("away")).unwrap();
    world.run(&format!("-c mirror promote {name} --lost archive -y")).succeeded();
    world.run(&format!("-c mirror meta set {name} title=InMirror")).succeeded();
    std::fs::rename(world.path("mirror"), world.path("hidden")).unwrap();
    std::fs::rename(world.path("away"), world.path("archive")).unwrap();
    world.run(&format!("-c archive meta set {name} title=InArchive")).succeeded();
    std::fs::rename(world.path("hidden"), world.path("mirror")).unwrap();
    let ran = world.run("verify archive mirror --json");
    let command = format!("-c mirror promote {name} --discard");
    assert_eq!(remedies(&ran), [("5a".to_owned(), command)], "{}", ran.stdout);
    let refused = format!("-c archive copy {name} --to mirror");
    for line in ["verify archive mirror", "status", &format!("status {name}"), &refused] {
        let ran = world.run(line);
        assert!(!ran.stderr.contains(" delete "), "{line}: {}", ran.stderr);
        for root in ["archive", "mirror"] {
            let command = format!("{root} promote {name} --discard\n");
            assert!(ran.stderr.contains(&command), "{line}: {}", ran.stderr);
        }
    }
    // What is given up is named by its values.
    let ran = world.run(&format!("-c mirror promote {name} --discard -y"));
    let _ = ran.succeeded();
    let values = format!("to be given up: {name} in [WORLD]/archive: Original of ");
    assert!(ran.stderr.contains(&values), "{}", ran.stderr);
    assert!(ran.stderr.contains("title: \"InArchive\" -> \"InMirror\""), "{}", ran.stderr);
    let ran = world.run("-c archive recover --with mirror");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("title: \"InArchive\" -> \"InMirror\""), "{}", ran.stderr);
    let ran = world.run("-c archive recover --with mirror -y");
    assert!(ran.stderr.contains("brought 1 item into line"), "{}", ran.stderr);
    assert!(ran.stdout.starts_with(&format!("brought {name} into line")), "{}", ran.stdout);
    assert!(!ran.stderr.contains("nothing to do"), "{}", ran.stderr);
}

/// A collection that is not mounted is named as the settings name it; if it is lost, the command goes on without it.
#[test]
fn an_original_that_is_not_mounted() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    keep(&world, "mirror", &name);
    world.run(&format!("-c archive meta set {name} title=Corrected")).succeeded();
    world.run("-c archive copy --all --to mirror").succeeded();
    put_back(&world, "mirror", &name);
    std::fs::rename(world.path("archive"), world.path("away")).unwrap();
    let ran = world.run(&format!("-c mirror status {name}"));
    assert!(ran.stderr.contains("mount archive\n"), "{}", ran.stderr);
    let (_, command) = ran.stderr.split_once("if archive is lost: urepo ").unwrap();
    assert!(command.starts_with(&format!("-c mirror promote {name} --lost archive")), "{command}");
}

#[test]
fn nothing_is_wrong() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    for line in ["verify archive mirror", "status", "-c archive recover", &format!("status {name}")]
    {
        let ran = world.run(line);
        ran.succeeded();
        assert!(!ran.stderr.contains("hint"), "{line}: {}", ran.stderr);
    }
    assert_eq!(world.run("-c archive recover").stderr, "there is nothing to do\n");
}

/// Nothing is lost that another root of the collection has, which a person may have named as a backup.
#[test]
fn a_backup_in_the_settings_is_asked_before_anything_is_given_up() {
    let (world, name) = world();
    copy_tree(&world.path("archive"), &world.path("backup"));
    let roots =
        ["archive", "backup"].map(|root| format!("{root} = '{}'", world.path(root).display()));
    world.write(".config/urepo/config.toml", format!("[collections]\n{}\n", roots.join("\n")));
    std::fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    let ran = world.run(&format!("-c archive recover --accept-loss {name} --yes"));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    let hint = format!("repair {name} --from backup` brings it back");
    assert!(ran.stderr.contains(&hint), "{}", ran.stderr);
    let ran = world.run("-c archive recover --accept-loss --dry-run");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    world.run(&format!("-c archive repair {name} --from backup")).succeeded();
    world.run("-c archive verify").succeeded();
}

/// The description is lost with the sidecar, and so is who may read.
#[test]
fn a_sidecar_that_is_made_of_nothing_opens_no_item() {
    let (world, name) = world();
    world.run(&format!("-c archive meta set {name} access=closed")).succeeded();
    std::fs::remove_file(world.path("archive").join(&name).join("item.toml")).unwrap();
    world.run(&format!("-c archive repair {name} --reseal")).succeeded();
    let access = world.run(&format!("-c archive show {name}"));
    assert!(access.succeeded().contains("\naccess     closed\n"), "{}", access.stdout);
}

/// The payload is back from its deletion: it is deleted again, or kept by a person's word.
#[test]
fn a_deletion_that_was_undone_is_repeated_or_given_up() {
    for command in ["delete ITEM --yes", "promote ITEM --discard --yes"] {
        let (world, name) = world();
        world.run("-c archive copy --all --to mirror").succeeded();
        keep(&world, "archive", &name);
        world.run(&format!("-c archive delete {name} --yes")).succeeded();
        put_back(&world, "archive", &name);
        assert_eq!(world.run("-c archive verify").code, 20);
        assert_eq!(world.run(&format!("-c archive promote {name} --yes")).code, 23);
        world.run(&format!("-c archive {}", command.replace("ITEM", &name))).succeeded();
        world.run("-c archive copy --all --to mirror").succeeded();
        world.run("verify archive mirror").succeeded();
    }
}

/// A newest state of which a stub alone is left is given up by its name, and not by a promotion.
#[test]
fn a_state_that_a_stub_alone_knows_is_no_choice() {
    let (world, name) = world();
    world.run(&format!("-c archive migrate {name} --to mirror --leave-copy")).succeeded();
    keep(&world, "archive", &name);
    world.run(&format!("-c mirror meta set {name} title=Precious")).succeeded();
    world.run(&format!("-c mirror migrate {name} --to archive")).succeeded();
    put_back(&world, "archive", &name);
    let ran = world.run(&format!("-c archive promote {name} --yes"));
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("recover --accept-loss"), "{}", ran.stderr);
    world.run(&format!("-c archive recover --accept-loss {name} --yes")).succeeded();
    world.run("verify archive mirror").succeeded();
}

/// A sidecar was lost, and the only other one is of a Copy that has rotten: the payload here repairs that Copy, whose older
/// description comes back.
#[test]
fn a_payload_without_a_sidecar_repairs_a_rotten_copy() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run(&format!("-c archive meta set {name} title=Newest")).succeeded();
    world.write(&format!("archive/{name}/item.toml"), "rot\n");
    world.write(&format!("mirror/{name}/doc/a.txt"), "ALPHA");
    let mut typed = Vec::new();
    loop {
        let ran = world.run("verify archive mirror");
        if ran.code == 0 {
            break;
        }
        // Of the commands of a line, the last one needs no collection that is not there.
        let mut commands = ran.stderr.lines().filter_map(|it| Some(it.split_once("urepo ")?.1));
        let command = commands.next_back().expect(&ran.stderr).to_owned();
        let yes = if command.contains("--accept-loss") { " --yes" } else { "" };
        world.run(&format!("{command}{yes}")).succeeded();
        typed.push(command);
        assert!(typed.len() <= 3, "{typed:?}");
    }
    let expected = [
        format!("-c mirror repair {name} --from archive"),
        format!("-c mirror recover --accept-loss {name}"),
        format!("-c archive repair {name} --from mirror"),
    ];
    assert_eq!(typed, expected);
    assert_eq!(world.run(&format!("-c archive cat {name}/a.txt")).succeeded(), "alpha");
}

/// Commands that only the Original, or a payload, takes.
const OF_ORIGINALS: [(&str, &str); 11] = [
    ("meta set ITEM title=Two", "Copy stub"),
    ("meta edit ITEM", "Copy stub"),
    ("meta set ITEM part_of=OTHER", "Copy stub"),
    ("promote ITEM --yes", "Copy stub"),
    ("migrate ITEM --to third", "stub"),
    ("copy ITEM --to third", "stub"),
    ("delete ITEM --yes", "stub"),
    ("restore ITEM", "stub"),
    ("cat ITEM", "stub"),
    ("export ITEM --to out", "stub"),
    ("show --path ITEM/letter.txt", "stub"),
];

#[test]
fn a_copy_or_a_stub_is_refused_with_the_place_of_the_original() {
    let mut wrong = Vec::new();
    for (state, made) in
        [("Copy", "migrate ITEM --to mirror --leave-copy"), ("stub", "migrate ITEM --to mirror")]
    {
        let (world, name) = world();
        world.run("-q init third --host third.example.org").succeeded();
        world.write("b.txt", "beta");
        let other = world.run("-c archive new b.txt").line();
        world.run(&format!("-c archive {}", made.replace("ITEM", &name))).succeeded();
        let refused = |command: &str, json: &str| {
            let command = command.replace("ITEM", &name).replace("OTHER", &other);
            world.run(&format!("-c archive {command}{json}"))
        };
        let commands = OF_ORIGINALS.iter().filter(|(_, states)| states.contains(state));
        let commands: Vec<_> = commands.map(|(command, _)| *command).collect();
        let shows = format!("-c mirror show {name}");
        for command in &commands {
            for json in ["", " --json"] {
                let ran = refused(command, json);
                if ran.code == 0 || !(ran.stderr + &ran.stdout).contains(&shows) {
                    wrong.push(format!("{state}: {command}{json}: {}", ran.code));
                }
            }
        }
        assert!(world.run(&shows).succeeded().contains("Original"));
        std::fs::rename(world.path("mirror"), world.path("drawer")).unwrap();
        for command in &commands {
            let ran = refused(command, "");
            let names_it = ["mount mirror", "mount `mirror`", "`mirror` cannot be opened"];
            if ran.code == 0 || !names_it.iter().any(|it| ran.stderr.contains(it)) {
                wrong.push(format!("{state}, away: {command}: {} {}", ran.code, ran.stderr));
            }
        }
        std::fs::rename(world.path("drawer"), world.path("mirror")).unwrap();
        // Here, the table has a row.
        std::fs::remove_dir_all(world.path("mirror").join(&name)).unwrap();
        for command in commands {
            let ran = refused(command, "");
            if ran.code == 0
                || !ran.stderr.contains(" --accept-loss") && !ran.stderr.contains(" repair ")
            {
                wrong.push(format!("{state}, lost: {command}: {} {}", ran.code, ran.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A collection that the command line names, and the settings do not, is asked as those of the settings are, and what is
/// advised names that collection.
#[test]
fn a_collection_that_is_only_named_has_the_item() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.write(".config/urepo/config.toml", "");
    std::fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
    for (line, code) in [
        (format!("-c archive show {name} --with mirror"), 21),
        (format!("-c archive meta set {name} title=x --with mirror"), 21),
        (format!("-c archive recover --accept-loss {name} --with mirror -y"), 23),
    ] {
        let ran = world.run(&line);
        assert_eq!(ran.code, code, "{line}: {}", ran.stderr);
        assert!(!ran.stderr.contains("recover --accept-loss"), "{line}: {}", ran.stderr);
        let hint = format!("urepo -c archive repair {name} --from [WORLD]/mirror");
        assert!(ran.stderr.contains(&hint), "{line}: {}", ran.stderr);
    }
    world.run(&format!("-c archive repair {name} --from mirror")).succeeded();
    world.run("verify archive mirror").succeeded();
}

/// A Copy that lacks what its own ledger says is damage, although all that speak agree with its contents.
#[test]
fn a_copy_below_its_own_line_is_brought_up() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    keep(&world, "archive", &name);
    copy_tree(&world.path("mirror").join(&name), &world.path("before"));
    world.run(&format!("-c archive migrate {name} --to mirror")).succeeded();
    put_back(&world, "archive", &name);
    let place = world.path("mirror").join(&name);
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::rename(world.path("before"), place).unwrap();
    world.run(&format!("-c archive recover --accept-loss {name} -y")).succeeded();
    let verified = world.run("verify archive mirror");
    assert_eq!(verified.code, 20, "{}{}", verified.stdout, verified.stderr);
    let command = format!("urepo -c mirror copy {name} --from archive");
    for line in ["verify archive mirror", "-c mirror status", &format!("-c mirror show {name}")] {
        let ran = world.run(line);
        assert!(ran.stderr.contains(&command), "{line}: {}{}", ran.stdout, ran.stderr);
    }
    world.run(&command["urepo ".len()..]).succeeded();
    world.run("verify archive mirror").succeeded();
}

/// Another id would make Copies of nobody of all items.
#[test]
fn no_collection_is_made_of_one_that_lost_its_settings_and_its_ledger() {
    let (world, name) = world();
    std::fs::remove_dir_all(world.path("archive/.urepo")).unwrap();
    std::fs::remove_file(world.path("archive/urepo.toml")).unwrap();
    let ran = world.run("init archive --host archive.example.org");
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("urepo -c [WORLD]/archive recover` writes it again"),
        "{}",
        ran.stderr
    );
    // This machine knows that the ledger was longer.
    let ran = world.run("-c archive recover");
    assert!(ran.stderr.contains("`urepo -c archive recover --restored`"), "{}", ran.stderr);
    world.run("-c archive recover --restored").succeeded();
    assert!(world.run(&format!("-c archive show {name}")).succeeded().contains("Original"));
    world.run("-c archive verify").succeeded();
}

/// It would have nothing to say: both speak for one collection.
#[test]
fn a_copy_of_the_whole_collection_brings_nothing_into_line() {
    let (world, _) = world();
    copy_tree(&world.path("archive"), &world.path("copied"));
    let ran = world.run("-c archive recover --with copied");
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("has the id of this collection"), "{}", ran.stderr);
    assert!(ran.stderr.contains("recover --new-id"), "{}", ran.stderr);
}

/// A dry run plans what the run does, and ends as that does.
#[test]
fn what_recovery_would_record_is_its_plan() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    let other = world.path("by-hand");
    copy_tree(&world.path("mirror"), &other);
    std::fs::remove_dir_all(world.path("mirror/example.org")).unwrap();
    world.run(&format!("-c mirror recover --accept-loss {name} -y"));
    let planned = world.run("-c mirror recover -n");
    let done = world.run("-c mirror recover");
    assert_eq!(planned.code, done.code, "{}{}", planned.stderr, done.stderr);
    // An item in the tree that no line of the ledger tells of.
    world.write("b.txt", "beta");
    let second = world.run("-c archive new b.txt").line();
    let (kept, place) = (world.path("kept"), world.path("archive").join(&second));
    copy_tree(&place, &kept);
    world.run(&format!("-c archive migrate {second} --to mirror")).succeeded();
    let hand = world.path("hand");
    world.run("init hand").succeeded();
    std::fs::create_dir_all(hand.join(&second).parent().unwrap()).unwrap();
    std::fs::rename(kept, hand.join(&second)).unwrap();
    let planned = world.run("-c hand recover -n");
    assert!(planned.stdout.contains(&format!("would be taken in: {second}")), "{}", planned.stdout);
    assert!(!planned.stderr.contains("nothing to do"), "{}", planned.stderr);
}

/// A mass deletion reaches no mirror unseen.
#[test]
fn the_number_of_deletions_is_said_also_when_quiet() {
    let (world, name) = world();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.run(&format!("-c archive -q delete {name} -y")).succeeded();
    let ran = world.run("-q -c archive copy --all --to mirror");
    assert_eq!(ran.succeeded(), "recorded the deletion of 1 item\n");
    assert_eq!(world.run("-q -c archive copy --all --to mirror").succeeded(), "");
}

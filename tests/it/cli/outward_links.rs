//! An item whose links lead anywhere (`--links asis`): no command follows them out of the item.

use std::fs::{self, File, FileTimes, Permissions, set_permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::records;
use crate::support::{Ran, World, tree};

const SECRET: &str = "the secret";

/// What lies outside of all collections, and what links lead to.
const OUTSIDE: [&str; 4] =
    ["outside", "outside/secret.txt", "outside/private", "outside/private/key"];

/// A file and links that lead everywhere, in the directory `into`.
fn plant_links(world: &World, into: &str) {
    world.write(&format!("{into}/a.txt"), "alpha");
    world.write(&format!("{into}/sub/b.txt"), "beta");
    let link = |name: &str, target: &Path| {
        symlink(target, world.path(format!("{into}/{name}"))).unwrap();
    };
    for (name, target) in [
        ("etc", "/etc"),
        ("passwd", "/etc/passwd"),
        ("far", "../../../../../../../../../../../etc/passwd"),
        ("up", "../../.."),
        ("sidecar", "../item.toml"),
        ("itself", "."),
        ("nothing", "../no/such/thing"),
        ("loop", "loop"),
        ("to", "fro"),
        ("fro", "to"),
        ("control", "\u{1b}[31mred\nline\u{7}"),
        ("sub/good", "../a.txt"),
    ] {
        link(name, Path::new(target));
    }
    link("absolute", &world.path("outside/secret.txt"));
    // From the source, an item, a stage and the trash, the way out is of another length.
    for steps in 1..10 {
        let up = "../".repeat(steps);
        link(&format!("file{steps}"), Path::new(&format!("{up}outside/secret.txt")));
        link(&format!("dir{steps}"), Path::new(&format!("{up}outside/private")));
    }
}

fn world_with_outward_links() -> World {
    let world = World::with_collection();
    for root in ["mirror", "other"] {
        world.run(&format!("init {root} --host {root}.example.org")).succeeded();
    }
    world.write("outside/secret.txt", SECRET);
    world.write("outside/private/key", SECRET);
    plant_links(&world, "in");
    for (path, mode) in OUTSIDE.into_iter().zip([0o755, 0o600, 0o700, 0o400]) {
        let path = world.path(path);
        // Reading what was never read since it was changed leaves a trace.
        let never_read = FileTimes::new().set_accessed(UNIX_EPOCH);
        File::open(&path).unwrap().set_times(never_read).unwrap();
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    world
}

/// What changes when something outside is read, written, or given another mode or time.
fn traces(world: &World) -> Vec<(u32, u64, u64, [i64; 6])> {
    let trace = |path: &str| {
        let it = fs::symlink_metadata(world.path(path)).unwrap();
        let times =
            [it.atime(), it.atime_nsec(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec()];
        (it.mode(), it.ino(), it.nlink(), times)
    };
    OUTSIDE.into_iter().map(trace).collect()
}

/// Runs commands, each of which has to end with the same code and to leave what is outside alone.
#[track_caller]
fn leaves_alone(world: &World, code: i32, lines: &[&str]) -> Vec<Ran> {
    let before = traces(world);
    let run = |line: &&str| {
        let ran = world.run(line);
        assert_eq!(ran.code, code, "{line}: {}", ran.stderr);
        assert_eq!(traces(world), before, "{line}");
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(SECRET), "{line}");
        ran
    };
    lines.iter().map(run).collect()
}

/// No file below any of `places` has bytes from outside.
fn hold_no_secret(world: &World, places: &[&str]) {
    for entry in places.iter().flat_map(|place| walkdir::WalkDir::new(world.path(place))) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let bytes = fs::read(entry.path()).unwrap();
            let is_secret = bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
            assert!(!is_secret, "{}", entry.path().display());
        }
    }
}

#[test]
fn are_kept_by_all_commands_and_followed_by_none() {
    let world = world_with_outward_links();
    let before = tree(&world.path("in"));
    let name = leaves_alone(&world, 0, &["-c archive new in --links asis"]).remove(0).line();
    let run = |code, lines: &[&str]| {
        let lines: Vec<_> = lines.iter().map(|line| line.replace("ITEM", &name)).collect();
        leaves_alone(&world, code, &lines.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let holds = |place: &str| {
        let doc = world.path(format!("{place}/{name}/doc"));
        assert_eq!(tree(&doc), before, "{place}");
        doc
    };
    run(0, &["-c archive show ITEM -v", "-c archive show --as manifest ITEM", "-c archive verify"]);
    run(0, &["-c archive cat ITEM/a.txt", "-c archive show --path ITEM"]);
    run(21, &["-c archive list secret"]);
    for file in ["file6", "absolute", "passwd", "far", "sidecar", "loop", "to", "nothing"] {
        run(1, &[&format!("-c archive cat ITEM/{file}")]);
    }
    for file in ["dir6/key", "etc/passwd", "up/in/a.txt", "itself/a.txt"] {
        run(21, &[&format!("-c archive cat ITEM/{file}")]);
    }
    let broken = world.run("-c archive verify --json --all");
    assert!(broken.stdout.contains("U507") && !broken.stdout.contains(SECRET), "{}", broken.stdout);
    run(0, &["-c archive copy --all --to mirror", "verify archive mirror ITEM"]);

    // Links in place of other links, of files and of directories.
    let doc = holds("mirror");
    fs::remove_dir_all(doc.join("sub")).unwrap();
    for (link, target) in [("file6", "dir6"), ("a.txt", "file6"), ("sub", "dir6")] {
        let _ = fs::remove_file(doc.join(link));
        symlink(fs::read_link(world.path("in").join(target)).unwrap(), doc.join(link)).unwrap();
    }
    run(20, &["-c mirror verify"]);
    run(0, &["-c mirror repair --dry-run --from archive", "-c mirror repair --from archive"]);
    run(0, &["verify archive mirror", "-c archive migrate ITEM --to other", "verify other mirror"]);
    holds("mirror");

    fs::write(holds("other").join("a.txt"), "rotten").unwrap();
    run(0, &["-c other repair ITEM --from mirror", "verify other"]);
    for out in ["plain", "tar", "bag"] {
        fs::create_dir(world.path(out)).unwrap();
    }
    run(
        0,
        &[
            "-c other export ITEM --format dir --to plain",
            "-c other export ITEM --format tar --to tar",
        ],
    );
    // A bag cannot have links: it refuses them, or leaves those out that lead nowhere inside.
    run(
        1,
        &[
            "-c other export ITEM --format bag --to bag",
            "-c other export ITEM --format bag --links follow --to bag",
        ],
    );
    run(0, &["-c other export ITEM --format bag --links skip --to bag"]);
    run(0, &["-c other delete ITEM --force last --yes", "-c other restore ITEM --from mirror"]);
    run(0, &["verify other", "-c other delete ITEM --force last --yes"]);
    let trash = fs::read_dir(world.path("other/.urepo/trash")).unwrap().next().unwrap().unwrap();
    symlink(world.path("outside/private"), trash.path().join("link")).unwrap();
    run(
        0,
        &["-c other purge --yes", "-c other verify", "-c mirror delete ITEM --force last --yes"],
    );
    run(0, &["-c mirror purge --yes"]);
    hold_no_secret(&world, &["archive", "other", "mirror", "plain", "tar", "bag"]);
    let read = |path| fs::read_to_string(world.path(path)).unwrap();
    assert_eq!([read("outside/secret.txt"), read("outside/private/key")], [SECRET, SECRET]);
}

#[test]
fn of_an_adopted_tree_are_not_followed() {
    let world = world_with_outward_links();
    let item = "sid.inpe.br/mtc-m18/2009/02.16.17.46";
    plant_links(&world, &format!("col/{item}/doc"));
    let before = tree(&world.path(format!("col/{item}/doc")));
    let traces_before = traces(&world);
    let lines =
        ["init col --adopt --dry-run", "init col --adopt", "-c col verify", "-c col show --all"];
    let ran = lines.map(|line| world.run(line));
    assert_eq!(ran.each_ref().map(|it| it.code), [0; 4]);
    for ran in &ran {
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(SECRET), "{}", ran.stdout);
    }
    assert_eq!(traces(&world), traces_before);
    assert_eq!(tree(&world.path(format!("col/{item}/doc"))), before);
    hold_no_secret(&world, &["col"]);
}

/// What a link says reaches a terminal escaped, and a program as it is.
#[test]
fn texts_of_links_are_escaped() {
    let world = world_with_outward_links();
    let name = world.run("-c archive new in --links asis").line();
    for line in ["show -v", "show --as manifest", "verify", "verify -v"] {
        let ran = world.run(&format!("-c archive {line} {name}"));
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            !text.contains(['\u{1b}', '\u{7}']) && !text.contains("red\nline"),
            "{line}: {text}"
        );
    }
    let told = records(&world.run(&format!("-c archive show --as manifest --json {name}")));
    let link = told.iter().find(|it| it["path"] == "control").unwrap();
    assert_eq!(link["target"], "\u{1b}[31mred\nline\u{7}");
}

/// A disk was full, and somebody moved a part of the tree to another one and left a link there: links are not
/// followed, and no command takes what is behind it for nothing.
#[test]
fn in_place_of_a_level_of_the_tree_are_reported_by_every_command() {
    for levels in 1..=3 {
        let world = World::with_collection();
        world.run("init mirror --host mirror.example.net").succeeded();
        world.write("f", "f");
        let name = world.run("-c archive new f").line();
        let level = name.split('/').take(levels).collect::<Vec<_>>().join("/");
        let (level, moved) = (world.path("archive").join(level), world.path("moved"));
        std::fs::rename(&level, &moved).unwrap();
        std::os::unix::fs::symlink(&moved, &level).unwrap();
        // This one is somebody's own.
        std::os::unix::fs::symlink("/", world.path("archive/other.example.net")).unwrap();
        if levels > 1 {
            let beside = world.path("archive").join(name.split('/').next().unwrap()).join("maps");
            std::os::unix::fs::symlink("/", beside).unwrap();
        }
        for line in [
            "list",
            "list --long",
            "status --counts",
            "recover --index",
            "list f",
            "copy --all --to mirror",
            "migrate --all --to mirror",
            "export --all --to out",
            "delete --all --yes",
            "status",
            "verify",
        ] {
            let ran = world.run(&format!("-c archive {line}"));
            assert!(
                ![0, 2].contains(&ran.code),
                "{line} at {levels}: {} {}",
                ran.stdout,
                ran.stderr
            );
            let told = ran.stdout + &ran.stderr;
            assert!(told.contains("link"), "{line} at {levels}: {told}");
            assert!(!told.contains("other.example.net"), "{line} at {levels}: {told}");
        }
        // Nothing is given up.
        let _ = world.run("-c archive recover --accept-loss --yes");
        std::fs::remove_file(&level).unwrap();
        std::fs::rename(&moved, &level).unwrap();
        world.run("-c archive copy --all --to mirror").succeeded();
        let verified = world.run("-c archive verify");
        assert!(!verified.stdout.contains("U1"), "{}", verified.stdout);
    }
}

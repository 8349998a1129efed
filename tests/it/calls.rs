//! What an item costs in system calls, command by command. The numbers do not depend on the load or the speed of a
//! machine, and they only fall: those of today are in the tables of `docs/benchmarks.md`.
//!
//! The calls are counted by `strace`: of the operations that a [`Watch`](urepo::disk::Watch) sees, it does not see the calls
//! that open what is on the way, close, or ask what is known already. Waits of threads and memory are left out: they depend on
//! the moment.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::support::World;

/// Items of a run.
const ITEMS: usize = 256;

/// Commands on 256 items, in this order: what it is called, and how it is run.
const ROWS: [(&str, &str); 14] = [
    ("new --each", "-c a new --each in/*"),
    ("list", "-c a list"),
    ("verify --quick", "-c a verify --quick"),
    ("verify", "-c a verify"),
    ("meta set --all", "-c a meta set --all title=Letter -y"),
    ("copy --all", "-c a copy --all --to b"),
    ("copy --all again", "-c a copy --all --to b"),
    ("delete --all", "-c b delete --all --force last -y"),
    ("restore --all", "-c b restore --all"),
    ("import", "-c c import in"),
    ("import again", "-c c import in"),
    ("migrate --all", "-c c migrate --all --to d"),
    ("delete --all of Originals", "-c d delete --all --force last -y"),
    ("purge", "-c d purge -y"),
];

/// Commands on one item.
const ONE: [(&str, &str); 8] = [
    ("new", "-c a new in/1"),
    ("meta set", "-c a meta set {} title=Letter"),
    ("copy", "-c a copy {} --to b"),
    ("delete", "-c b delete {} --force last -y"),
    ("restore", "-c b restore {}"),
    ("import", "-c c import in"),
    ("migrate", "-c c migrate --all --to d"),
    ("list", "-c a list"),
];

/// The columns of a table, and the calls that each counts.
type Columns = [(&'static str, &'static [&'static str])];

/// The calls for each item, but for those that only a group needs.
const KINDS: &Columns = &[
    ("open", &["open", "openat", "openat2"]),
    ("close", &["close"]),
    (
        "stat",
        &[
            "stat",
            "lstat",
            "fstat",
            "newfstatat",
            "statx",
            "statfs",
            "fstatfs",
            "access",
            "faccessat2",
        ],
    ),
    ("list", &["getdents64"]),
    ("read", &["read", "pread64", "readlink", "readlinkat", "flistxattr"]),
    (
        "write",
        &[
            "write",
            "pwrite64",
            "ftruncate",
            "utimensat",
            "fchmod",
            "fchmodat",
            "fchmodat2",
            "ioctl",
        ],
    ),
    ("make", &["mkdir", "mkdirat", "symlinkat", "linkat"]),
    ("rename, remove", &["rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir"]),
];

/// The calls that wait for the disk.
const SYNCS: &Columns = &[("syncfs", &["syncfs"]), ("fsync", &["fsync", "fdatasync"])];

/// The calls of a run, by name.
type Calls = BTreeMap<String, u64>;

fn count(calls: &Calls, names: &[&str]) -> u64 {
    names.iter().filter_map(|name| calls.get(*name)).sum()
}

/// Runs `line` under `strace`. `{}` stands for the item of the collection `a`.
fn run(world: &World, line: &str) -> Calls {
    let item = line.contains("{}").then(|| world.run("-c a list").succeeded().trim().to_owned());
    let line = line.replace("{}", item.as_deref().unwrap_or_default());
    // An architecture may lack some of the calls.
    let names = KINDS.iter().chain(SYNCS).flat_map(|(_, names)| *names);
    let names: Vec<_> = names.map(|name| format!("?{name}")).collect();
    let counts = world.path("counts");
    let options = format!("-f --seccomp-bpf -c -U calls,name -e trace={}", names.join(","));
    let script = format!("exec strace {options} -o {} \"$0\" {line}", counts.display());
    let mut command = world.shell(&script);
    // Cargo's, in which the loader would look for each library first.
    command.env_remove("LD_LIBRARY_PATH");
    let ran = world.finish(command);
    assert_eq!(ran.code, 0, "{line}: {}{}", ran.stdout, ran.stderr);
    let counts = std::fs::read_to_string(counts).unwrap();
    let counted = counts.lines().filter_map(|line| {
        let (calls, name) = line.trim().split_once(' ')?;
        Some((name.trim().to_owned(), calls.parse().ok()?))
    });
    counted.filter(|(name, _)| name != "total").collect()
}

fn world(items: usize) -> World {
    let world = World::new();
    for (number, collection) in ["a", "b", "c", "d"].iter().enumerate() {
        world.run(&format!("init {collection} --host archive{number}.example.org")).succeeded();
    }
    for number in 1..=items {
        world.write(&format!("in/{number}"), format!("Dear {number}"));
    }
    world
}

/// A number in tenths.
fn tenths(text: &str) -> Option<u64> {
    let (whole, tenth) = text.split_once('.').unwrap_or((text, "0"));
    Some(10 * whole.parse::<u64>().ok()? + tenth.parse::<u64>().ok()?)
}

/// The lines of a table in a text: those after the one that begins with `head`.
fn table<'t>(text: &'t str, head: &str) -> Vec<&'t str> {
    let lines = text.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    lines.take_while(|line| line.starts_with('|')).collect()
}

/// A row of a table: its name, and its numbers in tenths.
type Row = (&'static str, Vec<u64>);

/// Arrangements that are measured at most. On a busy machine a group becomes several (`flow::gather`), and each costs calls of
/// its own: the lowest number of an item is what it needs.
const MOST_MEASURED: usize = 3;

/// Measures rows and compares them with the table after `head` in the benchmarks: no sum may be higher by more than `noise`
/// tenths, and no number of syncs by more than theirs. The kinds of a sum are for the reader: which of two ways a thread goes
/// to a directory depends on the moment. With `SNAPSHOTS=overwrite` the table is written.
fn compare(head: &str, measure: impl Fn() -> Vec<Row>, noise: u64, syncs: [u64; SYNCS.len()]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let noted = table(&text, head);
    let mut rows = measure();
    if std::env::var("SNAPSHOTS").is_ok_and(|it| it == "overwrite") {
        let measured: Vec<_> = rows.iter().map(print).collect();
        let text = text.replace(&noted.join("\n"), &measured.join("\n"));
        return std::fs::write(path, text).unwrap();
    }
    assert_eq!(noted.len(), rows.len(), "rows of the table `{head}`");
    let most: Vec<_> = noted.iter().zip(&rows).map(|(noted, row)| most(noted, row)).collect();
    // The sum and the syncs, each with the noted number and how far it may be off.
    let bounds: Vec<_> = [noise].into_iter().chain(syncs.map(|it| 10 * it)).collect();
    let bounded = |(row, most): (&Row, &Vec<u64>)| -> Vec<[u64; 3]> {
        let cells = row.1.iter().zip(most).skip(most.len() - bounds.len()).zip(&bounds);
        cells.map(|((number, most), bound)| [*number, *most, *bound]).collect()
    };
    let is_over = |pair: (&Row, &Vec<u64>)| {
        bounded(pair).iter().any(|[number, most, bound]| *number > most + bound)
    };
    let is_below = |pair: (&Row, &Vec<u64>)| {
        bounded(pair).iter().any(|[number, most, bound]| number + bound < *most)
    };
    let mut measured = 1;
    while measured < MOST_MEASURED && rows.iter().zip(&most).any(is_over) {
        measured += 1;
        for (row, again) in rows.iter_mut().zip(measure()) {
            for (number, again) in row.1.iter_mut().zip(again.1) {
                *number = again.min(*number);
            }
        }
    }
    let risen = rows.iter().zip(&most).zip(&noted).filter(|(pair, _)| is_over(*pair));
    let risen: Vec<_> =
        risen.map(|((row, _), noted)| format!("{}, at most\n{noted}", print(row))).collect();
    assert!(risen.is_empty(), "more system calls than before:\n{}", risen.join("\n"));
    if rows.iter().zip(&most).any(is_below) {
        tell(
            "fewer system calls than before: `SNAPSHOTS=overwrite` notes them in docs/benchmarks.md",
        );
    }
}

/// A row as a line of the table.
fn print((name, numbers): &Row) -> String {
    let numbers = numbers.iter().map(|it| format!(" {}.{} |", it / 10, it % 10));
    format!("| {name} |{}", numbers.collect::<String>().replace(".0 |", " |"))
}

/// The numbers of a noted line of the table, which is that of `row`.
fn most(noted: &str, (name, numbers): &Row) -> Vec<u64> {
    let cells: Vec<_> = noted.trim_matches('|').split('|').map(str::trim).collect();
    let most: Vec<_> = cells[1..].iter().map(|it| tenths(it).expect("a number")).collect();
    assert_eq!((cells[0], most.len()), (*name, numbers.len()), "row `{noted}`");
    most
}

/// Said on a terminal, not only with `--nocapture`.
fn tell(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Whether calls can be counted here.
fn has_strace() -> bool {
    let counts = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    let counts = counts.is_ok_and(|ran| ran.status.success());
    if !counts {
        tell("SKIPPED: system calls are counted by `strace`, which is not there or not permitted");
    }
    counts
}

#[test]
fn of_many_items_do_not_rise() {
    if !has_strace() {
        return;
    }
    let measure = || {
        let world = world(ITEMS);
        let row = |(name, line): (&'static str, &str)| {
            let calls = run(&world, line);
            let an_item = |calls: u64| (10 * calls).div_ceil(ITEMS as u64);
            let mut counts: Vec<_> = KINDS.iter().map(|(_, names)| count(&calls, names)).collect();
            counts.push(counts.iter().sum());
            let mut numbers: Vec<_> = counts.into_iter().map(an_item).collect();
            numbers.extend(SYNCS.iter().map(|(_, names)| 10 * count(&calls, names)));
            (name, numbers)
        };
        ROWS.map(row).to_vec()
    };
    // Each thread that begins makes a few calls, some 50, and an idle one may begin or not. A small group syncs its files and
    // directories one by one.
    compare("| 256 items |", measure, 5, [2, 48]);
}

#[test]
fn of_one_item_do_not_rise() {
    if !has_strace() {
        return;
    }
    let measure = || {
        let world = world(1);
        let row = |(name, line): (&'static str, &str)| {
            let calls = run(&world, line);
            let all = KINDS.iter().map(|(_, names)| count(&calls, names)).sum::<u64>();
            let syncs = SYNCS.iter().map(|(_, names)| count(&calls, names));
            (name, [all].into_iter().chain(syncs).map(|it| 10 * it).collect())
        };
        ONE.map(row).to_vec()
    };
    compare("| one item |", measure, 60, [0, 0]);
}

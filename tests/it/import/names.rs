//! Names that sources bring with them are looked at once more when the items are put in place.

use std::sync::Mutex;

use urepo::disk::{Operation, Watch};
use urepo::identity::{Ibip, IbipPrefix, Instant, RepositoryName, SECOND};

use super::*;
use crate::support::{World, add_lines, ledger_line, make_collection, scratch};

const NAME: &str = "sid.inpe.br/mtc-m18/2009/02.16.17.46";
const OTHER: &str = "sid.inpe.br/mtc-m19/2009/02.16.17.46";
const IBIP: &str = "8JMKD3MGP8W/34PGRBS";

type Act = Box<dyn FnOnce(&Path) + Send>;

/// Does something to a collection when the first sidecar is staged there: names are looked at before that.
struct Meanwhile {
    root: PathBuf,
    act: Mutex<Option<Act>>,
}

impl Watch for Meanwhile {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::CreateFile
            && path.starts_with(&self.root)
            && path.ends_with("item.toml")
            && let Some(act) = self.act.lock().unwrap().take()
        {
            act(&self.root);
        }
        Ok(())
    }
}

/// Imports a file under `NAME`, and tells what became of it and what is there.
fn import_while(act: Option<Act>, name: &str) -> (Vec<String>, Vec<String>, tempfile::TempDir) {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    write(&sources, "a", "bytes");
    write(&sources, "list", format!("path,identifier,ibip\na,{name},{IBIP}\n"));
    let meanwhile = Arc::new(Meanwhile { root: root.clone(), act: Mutex::new(act) });
    let watcher = Watcher::new(Arc::clone(&meanwhile) as Arc<dyn Watch>);
    let collection = Collection::open(&root, &watcher).unwrap();
    let rows = super::manifests::read(&sources, "list", Format::Csv, Columns::default()).unwrap();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let told = import(&collection, rows, import_options(), &clock).unwrap().0;
    assert!(meanwhile.act.lock().unwrap().is_none());
    let names = whole_items(&Collection::open(&root, &Watcher::default()).unwrap());
    (words(&told), names, scratch)
}

/// It was brought here by a copy or an adoption, and given up: a second Original would be in the world.
#[test]
fn one_that_left_meanwhile_is_not_given_again() {
    let act = |root: &Path| {
        let came = ledger_line("ingestion", NAME, Some("Original"));
        add_lines(root, &[came, ledger_line("loss", NAME, None)]);
    };
    let (told, names, _scratch) = import_while(Some(Box::new(act)), NAME);
    assert!(told[0].contains("given up as lost"), "{told:?}");
    assert_eq!(names, [""; 0]);
}

#[test]
fn an_opaque_name_that_came_meanwhile_is_not_given_twice() {
    let (_, made, other) = import_while(None, OTHER);
    assert_eq!(made, [OTHER]);
    let from = other.path().join("archive").join(OTHER);
    let act = move |root: &Path| {
        std::fs::create_dir_all(root.join(OTHER).parent().unwrap()).unwrap();
        std::fs::rename(&from, root.join(OTHER)).unwrap();
    };
    let (told, names, _scratch) = import_while(Some(Box::new(act)), NAME);
    assert!(told[0].contains(&format!("`{IBIP}` is the IBIp of `{OTHER}` already")), "{told:?}");
    assert_eq!(names, [OTHER]);
}

/// A world where `archive` and `mine` are known, and an item of `archive`.
fn two_known() -> (World, String) {
    let world = World::with_collection();
    for root in ["mine", "mirror"] {
        world.run(&format!("init {root} --host {root}.example.org")).succeeded();
    }
    world.write("a", "first");
    let name = world.run("-c archive new a").line();
    world.write("b", "other content");
    world.write("list.csv", format!("path,identifier\nb,{name}\n"));
    know(&world, &["archive", "mine"]);
    (world, name)
}

fn know(world: &World, roots: &[&str]) {
    let lines = roots.iter().map(|root| format!("{root} = \"{}\"\n", world.path(root).display()));
    let text = format!("[collections]\n{}", lines.collect::<String>());
    world.write(".config/urepo/config.toml", text);
}

const IMPORT: &str = "-c mine import list.csv";

/// It would be a second Original, or the name of other content.
#[test]
fn one_that_another_collection_has_or_had_is_not_given_again() {
    let rows: [(&[&str], &[&str], &str); 5] = [
        (&[], &["archive"], "`[WORLD]/archive` holds the Original of `{}`"),
        (
            &["-c archive delete {} --force last --yes", "-c archive purge --yes"],
            &["archive"],
            "`{}` was deleted in `[WORLD]/archive`",
        ),
        (
            &["-c archive migrate {} --to mirror"],
            &["archive"],
            "`[WORLD]/archive` has a Copy or a stub of `{}`",
        ),
        (
            &["-c archive copy {} --to mirror"],
            &["mirror"],
            "`[WORLD]/mirror` has a Copy or a stub of `{}`",
        ),
        (&[], &["gone"], "the collection `gone` may have `{}`, and cannot be opened"),
    ];
    for (before, known, refusal) in rows {
        let (world, name) = two_known();
        for line in before {
            world.run(&line.replace("{}", &name)).succeeded();
        }
        know(&world, known);
        let refusal = refusal.replace("{}", &name);
        for line in [format!("{IMPORT} -n"), IMPORT.to_owned()] {
            let ran = world.run(&line);
            assert_eq!(ran.code, 3, "{line}: {}", ran.stderr);
            assert!(ran.stderr.contains(&refusal), "{refusal}: {}", ran.stderr);
        }
        assert_eq!(
            whole_items(&Collection::open(&world.path("mine"), &Watcher::default()).unwrap()),
            [""; 0]
        );
    }
}

/// Imports a name into `mine` when one into `archive` has looked for it everywhere and is about to place it.
struct AtPlacing {
    world: World,
    code: Mutex<Option<i32>>,
}

impl Watch for AtPlacing {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Rename && path.ends_with(NAME) {
            let ran = self.world.run(&format!("UREPO_LOCK_WAIT=1s {IMPORT}"));
            assert!(ran.stderr.contains("is locked"), "{}", ran.stderr);
            *self.code.lock().unwrap() = Some(ran.code);
        }
        Ok(())
    }
}

#[test]
fn one_that_comes_to_two_collections_at_a_time_comes_to_one() {
    let world = World::with_collection();
    world.run("init mine --host mine.example.org").succeeded();
    know(&world, &["archive", "mine"]);
    world.write("a", "bytes");
    world.write("list.csv", format!("path,identifier\na,{NAME}\n"));
    let (root, sources) = (world.path("archive"), world.path(""));
    let placing = Arc::new(AtPlacing { world, code: Mutex::default() });
    let watcher = Watcher::new(Arc::clone(&placing) as Arc<dyn Watch>);
    let collection = Collection::open(&root, &watcher).unwrap();
    let rows =
        super::manifests::read(&sources, "list.csv", Format::Csv, Columns::default()).unwrap();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let told = import(&collection, rows, import_options(), &clock).unwrap().0;
    assert_eq!(words(&told), ["a imported"]);
    assert_eq!(*placing.code.lock().unwrap(), Some(11));
    let ran = placing.world.run(IMPORT);
    let refusal = format!("`[WORLD]/archive` holds the Original of `{NAME}`");
    assert!(ran.code == 3 && ran.stderr.contains(&refusal), "{}", ran.stderr);
}

#[test]
fn one_that_a_lost_collection_may_have_is_taken_if_a_person_says_so() {
    let (world, name) = two_known();
    know(&world, &["gone"]);
    let refused = world.run(IMPORT);
    let hint = "hint: mount it, and repeat; if it is lost permanently, `--force missing`\n";
    assert!(refused.code == 3 && refused.stderr.contains(hint), "{}", refused.stderr);
    world.run(&format!("{IMPORT} --force missing")).succeeded();
    assert_eq!(
        whole_items(&Collection::open(&world.path("mine"), &Watcher::default()).unwrap()),
        [name]
    );
    // Nobody is asked about sources without an identifier.
    world.write("list.csv", "path\na\n");
    let ran = world.run(IMPORT);
    assert!(!ran.stderr.contains("gone"), "{}", ran.stderr);
    ran.succeeded();
}

fn now() -> Instant {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Instant::from_seconds(i64::try_from(now.as_secs()).unwrap())
}

/// Imports the rows into `root`, which refuses them, also in a dry run.
fn is_refused(world: &World, root: &str, rows: &str, refusal: &str) {
    world.write("list.csv", rows);
    for more in ["-n", ""] {
        let ran = world.run(&format!("-c {root} import list.csv {more}"));
        assert!(ran.code == 3 && ran.stderr.contains(refusal), "{rows}: {}", ran.stderr);
    }
}

/// Its issuer, known or not, comes to that date; a known one rounds to it, and sees nothing of the item here.
#[test]
fn one_that_another_collection_has_yet_to_issue_is_not_taken() {
    let (world, name) = two_known();
    let prefix = name.parse::<RepositoryName>().unwrap().prefix();
    // The date of `now` may be that of the name.
    for (seconds, known) in [(1, "archive"), (365 * 86_400, "mirror")] {
        know(&world, &[known]);
        let date = now().checked_add(seconds * SECOND).unwrap();
        let name = RepositoryName::new(&prefix, date).unwrap();
        let refusal = format!("`{name}` may still be issued for another item");
        is_refused(&world, "mine", &format!("path,identifier\nb,{name}\n"), &refusal);
    }
}

/// The prefix of an IBIp is that of an address: whoever has it issues the same ones.
#[test]
fn an_opaque_name_that_a_collection_has_yet_to_issue_is_not_taken() {
    let (world, _) = two_known();
    world.run("init ours --host ours.example.org --ip 150.163.34.243").succeeded();
    know(&world, &["ours", "mine"]);
    let prefix = IbipPrefix::new("150.163.34.243".parse().unwrap(), 800).unwrap();
    let ibip = Ibip::new(&prefix, now()).unwrap();
    let name = RepositoryName::new(&"old.example.org/x".parse().unwrap(), now()).unwrap();
    let rows = format!("path,identifier,ibip\nb,{name},{ibip}\n");
    for root in ["ours", "mine"] {
        is_refused(&world, root, &rows, &format!("`{ibip}` may still be issued for another item"));
    }
    // One of long ago has been issued, or never is.
    world.write("list.csv", format!("path,identifier,ibip\nb,{NAME},{IBIP}\n"));
    world.run("-c ours import list.csv").succeeded();
}

#[test]
fn an_opaque_name_is_given_to_one_item_of_all_known_collections() {
    for name in [NAME, "old.example.org/x/2020/01.02.03.01"] {
        let (world, _) = two_known();
        world.write("list.csv", format!("path,identifier,ibip\na,{name},{IBIP}\n"));
        world.run("-c mine import list.csv").succeeded();
        // An IBIp of another date than the identifier is found by the index only.
        world.run("-c mine list nothing");
        let refusal = format!("`{IBIP}` is the IBIp of `{name}` already");
        for other in [OTHER, "old.example.org/x/2020/01.02.03.02"] {
            let rows = format!("path,identifier,ibip\nb,{other},{IBIP}\n");
            for root in ["mine", "archive"] {
                is_refused(&world, root, &rows, &refusal);
            }
        }
    }
}

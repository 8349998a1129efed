//! Repair: whatever verification finds is mended from a good copy, and no byte is lost on the way.

mod codes;
mod faults;
mod outdated;
mod program;
mod sealing;
mod unreadable;
mod vanished;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use urepo::collection::Collection;
use urepo::custody::Custody;
use urepo::digest::Digest;
use urepo::disk::Watcher;
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::progress::NoProgress;
use urepo::repair::{LoggedItems, Options, Outcome, Plan, RepairError, Repairer};
use urepo::sidecar::Sidecar;
use urepo::verify::{Code, Depth, Severity, verify_item};

use crate::support::{
    TestClock, add_lines, agent, caller, copy_tree, deposit, line_with, make_collection, options,
    request, scratch, waiter,
};

/// Two collections that hold the same item: its Original in `a`, its Copy in `b`.
struct Pair {
    scratch: tempfile::TempDir,
    name: RepositoryName,
    witnesses: Vec<&'static str>,
}

impl Pair {
    fn new() -> Pair {
        let scratch = scratch();
        let source = scratch.path().join("report");
        std::fs::create_dir_all(source.join("sub/empty")).unwrap();
        std::fs::write(source.join("a.txt"), "alpha").unwrap();
        std::fs::write(source.join("c.txt"), "gamma, which stays good").unwrap();
        std::fs::write(source.join("sub/b.bin"), vec![7; 300_000]).unwrap();
        std::os::unix::fs::symlink("sub/b.bin", source.join("link")).unwrap();
        let a = make_collection(&scratch.path().join("a"));
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let mut asked = request(&source);
        asked.target = Some(urepo::item::PayloadPath::from_text("a.txt").unwrap());
        asked.metadata.add("title", "A report").unwrap();
        let (mut outcomes, _) = deposit(&a, vec![asked], options(), &clock, |_| ()).unwrap();
        let name = outcomes.remove(0).result.unwrap().label.name;
        let pair = Pair { scratch, name, witnesses: Vec::new() };
        pair.add_copy("b");
        pair
    }

    /// Another collection with a Copy of the item.
    fn add_copy(&self, root: &str) {
        make_collection(&self.root(root));
        let (from, to) = (self.item("a"), self.item(root));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        copy_tree(&from, &to);
        self.change(root, |sidecar| sidecar.state = State::Copy);
    }

    fn root(&self, root: &str) -> PathBuf {
        self.scratch.path().join(root)
    }

    fn item(&self, root: &str) -> PathBuf {
        self.root(root).join(self.name.as_str())
    }

    fn open(&self, root: &str) -> Collection {
        Collection::open(&self.root(root), &Watcher::default()).unwrap()
    }

    fn sidecar(&self, root: &str) -> Sidecar {
        self.open(root).item(&self.name).unwrap().sidecar().unwrap().0
    }

    /// Changes a sidecar and seals it anew.
    fn change(&self, root: &str, change: impl FnOnce(&mut Sidecar)) {
        let mut sidecar = self.sidecar(root);
        change(&mut sidecar);
        std::fs::write(self.item(root).join("item.toml"), sidecar.to_text()).unwrap();
    }

    /// Adds a line about the item to the ledger of `a`.
    fn record(&self, state: State, custody: &Custody, changed: &str) {
        let holding = serde_json::json!({
            "state": state.to_string(), "epoch": custody.epoch(), "id": custody.id().to_string(),
            "changed": changed, "holder": custody.holder(),
        });
        let line = line_with("modification", self.name.as_str(), Some(holding));
        add_lines(&self.root("a"), &[line]);
    }

    /// Repairs the item in `a` from `donors`.
    fn repair(&self, donors: &[&str]) -> Result<Outcome, RepairError> {
        self.repair_with(donors, Options::default(), &Watcher::default())
    }

    fn repair_with(
        &self,
        donors: &[&str],
        options: Options,
        watcher: &Watcher,
    ) -> Result<Outcome, RepairError> {
        self.with_repairer(donors, options, watcher, |repairer| {
            let writer = repairer.collection.writer(&agent(), &waiter(repairer.caller.clock))?;
            repairer.repair(&self.name, &writer)
        })
    }

    fn plan(&self, donors: &[&str]) -> Option<Plan> {
        let before = everything(self.scratch.path());
        let (options, watcher) = (Options::default(), Watcher::default());
        let plan = self
            .with_repairer(donors, options, &watcher, |repairer| repairer.examine(&self.name))
            .unwrap();
        assert_eq!(everything(self.scratch.path()), before, "a plan has changed something");
        plan
    }

    fn with_repairer<T>(
        &self,
        donors: &[&str],
        options: Options,
        watcher: &Watcher,
        act: impl FnOnce(&Repairer<'_>) -> Result<T, RepairError>,
    ) -> Result<T, RepairError> {
        let open = |root: &&str| Collection::open(&self.root(root), watcher);
        let donors = donors.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let witnesses = self.witnesses.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let collection = Collection::open(&self.root("a"), watcher)?;
        act(&Repairer {
            collection: &collection,
            donors: &donors.iter().collect::<Vec<_>>(),
            witnesses: &witnesses.iter().collect::<Vec<_>>(),
            options,
            logged: &LoggedItems::default(),
            caller: caller(&agent(), &TestClock::at("2026-11-22T00:00:00Z"), &Interrupt::default()),
        })
    }

    /// What verification finds of the item in `a`, notices left out.
    fn codes(&self) -> Vec<Code> {
        self.codes_with(&Watcher::default())
    }

    fn codes_with(&self, watcher: &Watcher) -> Vec<Code> {
        let collection = Collection::open(&self.root("a"), watcher).unwrap();
        let item = collection.item(&self.name).unwrap();
        let report = verify_item(&item, Depth::Full, &NoProgress, &Interrupt::default()).unwrap();
        let findings = report.findings.as_slice().iter();
        let findings = findings.filter(|it| it.severity() > Severity::Notice);
        let mut codes: Vec<_> = findings.map(|it| it.code).collect();
        codes.dedup();
        codes
    }

    /// The damaged item is as it was, however it was refused.
    #[track_caller]
    fn refuses(&self, donors: &[&str], options: Options) -> RepairError {
        let before = [everything(&self.item("a")), everything(&self.root("b"))];
        let error = self.repair_with(donors, options, &Watcher::default()).unwrap_err();
        let after = [everything(&self.item("a")), everything(&self.root("b"))];
        assert_eq!(after, before, "{error}");
        assert_eq!(crate::support::staged(&self.root("a")), [""; 0], "{error}");
        error
    }

    /// Digests of all files of `a` but what is in a stage.
    fn kept(&self) -> BTreeSet<Digest> {
        let staging = self.root("a").join(".urepo/staging");
        digests_below(&self.root("a"), |path| !path.starts_with(&staging))
    }

    /// Digests of all that is in the trash of `a`.
    fn trashed(&self) -> BTreeSet<Digest> {
        digests_below(&self.root("a").join(".urepo/trash"), |_| true)
    }
}

fn lose_sidecar(pair: &Pair, root: &str) {
    std::fs::remove_file(pair.item(root).join("item.toml")).unwrap();
}

/// Everything below a directory with what is in the files, but locks and memories.
fn everything(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
        let entry = entry.unwrap();
        let own = ["/.urepo/lock", "/.urepo/change.lock", "/.urepo/memory"];
        if own.iter().any(|own| entry.path().display().to_string().contains(own)) {
            continue;
        }
        let mut line = entry.path().display().to_string();
        if entry.file_type().is_file() {
            line += &format!(" {}", Digest::of(&std::fs::read(entry.path()).unwrap()));
        }
        lines.push(line);
    }
    lines
}

fn digests_below(root: &Path, counts: impl Fn(&Path) -> bool) -> BTreeSet<Digest> {
    let files = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap);
    let files = files.filter(|it| it.file_type().is_file() && counts(it.path()));
    files.map(|it| Digest::of(&std::fs::read(it.path()).unwrap())).collect()
}

/// Changes a byte of a file and keeps its size, mode and time.
fn flip(path: &Path) {
    let time = std::fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    bytes[1] ^= 1;
    std::fs::write(path, bytes).unwrap();
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[track_caller]
fn mended(outcome: Result<Outcome, RepairError>) -> Plan {
    match outcome.unwrap() {
        Outcome::Repaired(plan) => *plan,
        Outcome::Sound => panic!("nothing was mended"),
    }
}

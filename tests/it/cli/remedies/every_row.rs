//! Every row of the table of remedies, from commands and ordinary file operations: the state is made, what is printed is typed,
//! and nothing is left.

mod states;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use urepo::clock::SystemClock;
use urepo::collection::Collection;
use urepo::custody::remedy::Row;
use urepo::disk::Watcher;
use urepo::holdings::Sight;
use urepo::interrupt::Interrupt;
use urepo::transfer::{Leaves, NameFeed, Options, RunMode, Tombstones, Transfer, Verb};

use super::super::records;
use super::copy_tree;
use crate::support::{Faults, Mode, World, agent, caller, waiter};
use states::STATES;

/// The collections of the settings.
const ROOTS: [&str; 3] = ["archive", "mirror", "third"];

/// More commands in turn need no item.
const MOST: usize = 6;

/// What a run prints of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Printed {
    row: String,
    command: Vec<String>,
    or: Vec<Vec<String>>,
    wait: Option<String>,
}

/// A world with three collections, and an item in `archive`.
struct Told {
    world: World,
    item: String,
    /// A name that nobody has.
    next: String,
}

impl Told {
    fn new() -> Told {
        let world = World::with_collection();
        for root in &ROOTS[1..] {
            world.run(&format!("-q init {root} --host {root}.example.org")).succeeded();
        }
        let roots = ROOTS.map(|root| format!("{root} = '{}'\n", world.path(root).display()));
        world.write(".config/urepo/config.toml", format!("[collections]\n{}", roots.concat()));
        world.write("a.txt", "alpha");
        let item = world.run("-c archive new a.txt").line();
        let next = world.run("-c archive mint").line();
        Told { world, item, next }
    }

    fn roots(&self) -> impl Iterator<Item = &'static str> {
        ROOTS.into_iter().filter(|root| self.world.path(root).is_dir())
    }

    /// Does what the lines say.
    #[track_caller]
    fn tell(&self, lines: &str) {
        for line in lines.lines() {
            let line = line.trim().replace("ITEM", &self.item).replace("NEXT", &self.next);
            let words: Vec<_> = line.split(' ').collect();
            let path = |at: usize| self.world.path(words[at]);
            match words[0] {
                "" => {}
                "cp" => copy_tree(&path(1), &path(2)),
                "mv" => fs::rename(path(1), path(2)).unwrap(),
                "rm" if path(1).is_dir() => fs::remove_dir_all(path(1)).unwrap(),
                "rm" => fs::remove_file(path(1)).unwrap(),
                "write" => fs::write(path(1), "other").unwrap(),
                "kill" => self.kill(&path(1), &path(2), words[3] == "arrived"),
                "type" => self.follow(),
                "or" => {
                    let printed = self.printed();
                    let or = printed.iter().find_map(|it| it.or.first());
                    self.type_in(or.unwrap_or_else(|| panic!("{printed:?}")));
                }
                _ => drop(self.world.run(&line).succeeded().to_owned()),
            }
        }
    }

    /// A migration of the item that is killed before the first change after which the giver has offered it, or the receiver has
    /// recorded it.
    fn kill(&self, from: &Path, to: &Path, arrived: bool) {
        let before = self.world.path("before");
        fs::create_dir(&before).unwrap();
        let roots = [(from, before.join("from")), (to, before.join("to"))];
        for (root, kept) in &roots {
            copy_tree(root, kept);
        }
        for at in 1.. {
            let faults = Faults::new(&self.world.path(""), at, Mode::Killed).of_changes();
            let faults = Arc::new(faults);
            let _ = self.migrate(from, to, &Watcher::new(Arc::clone(&faults) as _));
            assert!(faults.struck().is_some(), "no change came after it");
            let sidecar = fs::read_to_string(from.join(&self.item).join("item.toml")).unwrap();
            let is_recorded = has_line(to, &self.item);
            let is_there = to.join(&self.item).exists();
            if sidecar.contains("\nceded = ") && is_recorded == arrived && is_there == arrived {
                break;
            }
            for (root, kept) in &roots {
                fs::remove_dir_all(root).unwrap();
                copy_tree(kept, root);
            }
        }
        fs::remove_dir_all(before).unwrap();
    }

    fn migrate(&self, from: &Path, to: &Path, watcher: &Watcher) -> Option<()> {
        let [from, to] = [from, to].map(|root| Collection::open(root, watcher).ok());
        let (from, to) = from.zip(to)?;
        let (agent, clock, interrupt) = (agent(), SystemClock, Interrupt::default());
        let waiter = waiter(&clock);
        let transfer = Transfer {
            from: &from,
            to: &to,
            writer: Some(to.writer(&agent, &waiter).ok()?),
            source_writer: Some(from.writer_to_delete(&agent, &waiter).ok()?),
            options: Options {
                verb: Verb::Migrate,
                leaves: Leaves::Stub,
                mode: RunMode::Act,
                state: None,
                tombstones: Tombstones::Refuse,
                line_up: None,
                jobs: 1,
                resume_bytes: u64::MAX,
            },
            sight: Sight::alone(),
            caller: caller(&agent, &clock, &interrupt),
        };
        let feed: Box<NameFeed<'_>> = Box::new(|take| {
            let _ = take(self.item.parse().unwrap());
            Ok(())
        });
        transfer.run(feed, |_| Ok(()));
        Some(())
    }

    /// What the commands that look at the item print for programs, each remedy once.
    fn printed(&self) -> Vec<Printed> {
        let roots: Vec<_> = self.roots().collect();
        let mut lines = vec!["status --json".to_owned(), format!("status {} --json", self.item)];
        lines.push(format!("verify {} --json", roots.join(" ")));
        lines.extend(roots.iter().map(|root| format!("-c {root} show {} --json", self.item)));
        let mut found = Vec::new();
        for line in lines {
            let ran = self.world.run(&line);
            for record in records(&ran) {
                let listed = record["remedies"].as_array().into_iter().flatten();
                found.extend(listed.map(Printed::of));
            }
        }
        let mut unique: Vec<Printed> = Vec::new();
        for it in found {
            if !unique.contains(&it) {
                unique.push(it);
            }
        }
        unique.sort_by_key(|it| Row::all().iter().position(|row| row.number() == it.row));
        unique
    }

    /// What `verify` finds, with the collection of each finding.
    fn findings(&self) -> Vec<(String, String)> {
        let roots: Vec<_> = self.roots().collect();
        let ran = self.world.run(&format!("verify {} --json", roots.join(" ")));
        let mut found = Vec::new();
        for record in records(&ran) {
            let listed = record["findings"].as_array().into_iter().flatten();
            let codes = std::iter::once(&record).chain(listed).filter_map(|it| it["code"].as_str());
            let at = record["collection"].as_str().unwrap_or_default();
            found.extend(codes.map(|it| (at.to_owned(), it.to_owned())));
        }
        found
    }

    /// One fault is one finding: of the ledger and of the comparison, a holding has one, and beside that which was put back no
    /// other is behind.
    #[track_caller]
    fn each_fault_is_told_once(&self) {
        let mut found = self.findings();
        // An open migration and the missing line of a change are faults of their own.
        let is_own = |code: &str| code == "U404" || code == "U109";
        found.retain(|(_, code)| code.starts_with("U1") || code.starts_with("U4"));
        found.retain(|(_, code)| !is_own(code));
        let at: BTreeSet<_> = found.iter().map(|(at, _)| at).collect();
        assert_eq!(at.len(), found.len(), "{found:?}");
        let has = |codes: &[&str]| found.iter().any(|(_, code)| codes.contains(&&**code));
        assert!(!has(&["U113"]) || !has(&["U401", "U403", "U408", "U409"]), "{found:?}");
    }

    /// What is printed for programs is printed for people, too, as it is typed.
    #[track_caller]
    fn is_told_to_people(&self, printed: &Printed) {
        let roots: Vec<_> = self.roots().collect();
        let mut lines = vec!["status".to_owned(), format!("status {}", self.item)];
        lines.push(format!("verify {}", roots.join(" ")));
        lines.extend(roots.iter().map(|root| format!("-c {root} show {}", self.item)));
        let text: String = lines.iter().map(|line| self.world.run(line).stderr).collect();
        let commands = [&printed.command].into_iter().chain(&printed.or);
        for command in commands.filter(|command| !command.is_empty()) {
            // `show` names the collection as it was named there.
            let words = if command[0] == "-c" { &command[2..] } else { &command[..] };
            let typed = format!(" {}", words.join(" ")).replace("[WORLD]/", "");
            assert!(text.contains(&typed), "{printed:?}: {text}");
        }
        if printed.wait.is_some() {
            assert!(text.contains("mount "), "{printed:?}: {text}");
        }
    }

    /// Types a command as it is printed, with the consent of a person where it asks for that.
    #[track_caller]
    fn type_in(&self, command: &[String]) {
        let (own, with_consent) = (|word: &str| command.iter().any(|it| it == word), "--yes");
        let asks = own("promote") || own("delete") || (own("recover") && command.len() > 3);
        let asks = asks && !own("--restored");
        let world = self.world.path("").display().to_string();
        let words = command.iter().map(|word| word.replace("[WORLD]/", &world));
        let ran = self.world.run_args(words.chain(asks.then(|| with_consent.to_owned())));
        assert_eq!(ran.code, 0, "{command:?}: {}{}", ran.stdout, ran.stderr);
    }

    /// Types what is printed, until nothing is.
    #[track_caller]
    fn follow(&self) {
        let mut typed = Vec::new();
        while let Some(it) = self.printed().into_iter().next() {
            assert!(typed.len() < MOST && !it.command.is_empty(), "{typed:?}: {it:?}");
            assert!(!typed.contains(&it), "typed before: {it:?}");
            self.type_in(&it.command);
            typed.push(it);
        }
    }

    /// What each collection has of the item.
    fn holdings(&self) -> String {
        let state = |root: &str| {
            let text = fs::read_to_string(self.world.path(root).join(&self.item).join("item.toml"));
            let text = text.unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("state = "));
            line.unwrap_or("-").trim_matches('"').to_owned()
        };
        ROOTS.map(state).join(" ")
    }
}

impl Printed {
    fn of(record: &Value) -> Printed {
        let words = |it: &Value| -> Vec<String> {
            let words = it.as_array().into_iter().flatten();
            words.map(|word| word.as_str().unwrap().to_owned()).collect()
        };
        let or = record["or"].as_array().into_iter().flatten().map(words).collect();
        Printed {
            row: record["row"].as_str().unwrap().to_owned(),
            command: words(&record["command"]),
            or,
            wait: record["wait"].as_str().map(str::to_owned),
        }
    }

    /// In the form of the table of states.
    fn told(&self, told: &Told) -> String {
        let way = match &self.wait {
            Some(away) => format!("wait {away}"),
            None => self.command.join(" ").replace("[WORLD]/", ""),
        };
        let way = way.replace(&told.next, "NEXT").replace(&told.item, "ITEM");
        format!("{} {way}", self.row)
    }
}

/// Whether a ledger names the item: half a line is none.
fn has_line(root: &Path, name: &str) -> bool {
    let files = fs::read_dir(root.join(".urepo/ledger")).into_iter().flatten().flatten();
    let mut texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.any(|text| text.rfind('\n').is_some_and(|end| text[..end].contains(name)))
}

/// The states of some rows, so that they run side by side.
fn follow(rows: impl Fn(&str) -> bool) {
    for state in STATES.iter().filter(|state| rows(state.row)) {
        for (next, ends) in state.ends {
            let what = format!("row {}: {}\n{next}", state.row, state.made);
            println!("{what}");
            let told = Told::new();
            told.tell(state.made);
            let printed = told.printed();
            let first = printed.first().map(|it| it.told(&told)).unwrap_or_default();
            assert_eq!(first, state.prints, "{what}: {printed:?}");
            told.each_fault_is_told_once();
            for it in &printed {
                told.is_told_to_people(it);
            }
            told.tell(next);
            told.follow();
            let roots: Vec<_> = told.roots().collect();
            let ran = told.world.run(&format!("verify {}", roots.join(" ")));
            assert_eq!(ran.code, 0, "{what}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(told.holdings(), *ends, "{what}");
        }
    }
}

#[test]
fn ledgers_and_migrations() {
    follow(|row| row < "5");
}

#[test]
fn forks() {
    follow(|row| row.starts_with('5'));
}

#[test]
fn deletions() {
    follow(|row| row.starts_with('6'));
}

#[test]
fn what_is_missing_or_behind() {
    follow(|row| row.starts_with('7'));
}

#[test]
fn what_is_away_or_lost() {
    follow(|row| row > "8");
}

#[test]
fn no_row_is_left_out() {
    let made: BTreeSet<_> = STATES.iter().map(|state| state.row).collect();
    let rows: BTreeSet<_> = Row::all().iter().map(|row| row.number()).collect();
    assert_eq!(made, rows);
}

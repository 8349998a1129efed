//! Descriptions of Originals are corrected: what changes, what stays, and what is refused.

mod accepting;
mod by_hand;
mod conditions;
mod documents;
mod editing;
mod faults;
mod meanwhile;
mod rotten;
mod undo;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use urepo::amend::{AmendError, Amender, Amendment, Description, Plan};
use urepo::collection::{Collection, Event};
use urepo::disk::Watcher;
use urepo::identity::{Civil, Instant};
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::sidecar::{Seal, Sidecar};

use crate::support::{
    TestClock, World, agent, caller, change_item, copy_item, deposit, make_collection, options,
    request, waiter, whole_items,
};

/// An archive with one item.
struct Archive {
    world: World,
    name: String,
}

impl Archive {
    fn new() -> Archive {
        let world = World::new();
        let archive = make_collection(&world.path("archive"));
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let file = world.write("letter.txt", "Dear all");
        deposit(&archive, vec![request(file)], options(), &clock, |_| ()).unwrap();
        let name = whole_items(&archive).remove(0);
        Archive { world, name }
    }

    fn open(&self) -> Collection {
        Collection::open(&self.world.path("archive"), &Watcher::default()).unwrap()
    }

    fn file(&self) -> PathBuf {
        self.world.path("archive").join(&self.name).join("item.toml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn sidecar(&self) -> Sidecar {
        let (sidecar, seal) = Sidecar::read(self.text().as_bytes()).unwrap();
        assert_eq!(seal, Seal::Intact);
        sidecar
    }

    fn amend(
        &self,
        change: impl Fn(&mut Description) -> Result<(), AmendError>,
    ) -> Result<Plan, AmendError> {
        let amendment = Amendment { name: self.name.parse().unwrap(), change: Box::new(change) };
        amend(&self.open(), "2026-12-01T00:00:00Z", amendment)
    }

    /// Gives the item a title.
    fn entitle(&self, title: &str) -> Result<Plan, AmendError> {
        self.amend(entitled(title))
    }

    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        self.open()
            .visit_events(None, |event| {
                events.push(event);
                Ok::<_, urepo::disk::PathError>(())
            })
            .unwrap();
        events
    }
}

fn entitled(title: &str) -> impl Fn(&mut Description) -> Result<(), AmendError> + use<> {
    let title = title.to_owned();
    move |description| {
        description.metadata.set("title", &[&title]).unwrap();
        Ok(())
    }
}

fn amend(collection: &Collection, now: &str, amendment: Amendment<'_>) -> Result<Plan, AmendError> {
    let (agent, clock) = (agent(), TestClock::at(now));
    let writer = collection.writer(&agent, &waiter(&clock))?;
    let interrupt = Interrupt::default();
    let caller = caller(&agent, &clock, &interrupt);
    Amender {
        collection,
        sight: urepo::holdings::Sight::alone(),
        writer: Some(&writer),
        locks: None,
        caller,
    }
    .amend(amendment)
}

fn instant(text: &str) -> Instant {
    text.parse().unwrap()
}

#[test]
fn a_title_is_corrected_and_nothing_else() {
    let archive = Archive::new();
    let before = archive.sidecar();
    assert_eq!(before.described, None);
    let plan = archive.entitle("Letter").unwrap();
    let [change] = &plan.changes[..] else { panic!("{plan:?}") };
    assert_eq!(
        (change.key.as_str(), &change.before, change.after.as_ref().unwrap().as_str()),
        ("metadata.title", &None, Some("Letter"))
    );
    let after = archive.sidecar();
    assert_eq!(after.metadata.title(), Some("Letter"));
    let date = instant("2026-12-01T00:00:00Z");
    assert_eq!((after.timestamp, after.described), (before.timestamp, Some(date)));
    let restored = Sidecar {
        metadata: before.metadata.clone(),
        described: None,
        custody: before.custody.clone(),
        ..after.clone()
    };
    assert!(after.custody.covers(&before.custody));
    assert_eq!(restored, before);
    assert_eq!(whole_items(&archive.open()), std::slice::from_ref(&archive.name));
    archive.entitle("Letters").unwrap();
    let again = archive.sidecar();
    assert_eq!(again.timestamp, before.timestamp);
    assert!(again.changed() > after.changed(), "it rises though the clock stands still");
    let events = archive.events();
    let last = events.last().unwrap();
    let [change] = &last.changes[..] else { panic!("{last:?}") };
    let values = (change.before.clone().unwrap(), change.after.clone().unwrap());
    assert_eq!(values, ("Letter".into(), "Letters".into()));
    assert_eq!(serde_json::to_value(last).unwrap()["event"], "metadata modification");
}

/// A date that stood still would leave two states without an order.
#[test]
fn a_date_that_cannot_rise_is_an_error() {
    let archive = Archive::new();
    let year = Instant::MAX_YEAR.into();
    let (month, day, hour, minute, second, nanosecond) = (12, 31, 23, 59, 59, 999_999_999);
    let last = Civil { year, month, day, hour, minute, second, nanosecond };
    let last = Instant::from_civil(last).unwrap();
    change_item(&archive.world.path("archive"), &archive.name, |sidecar| {
        sidecar.described = Some(last);
    });
    let before = archive.text();
    let error = archive.entitle("Letter").unwrap_err();
    assert!(format!("{error:?}").contains("LastDate"), "{error:?}");
    assert_eq!(archive.text(), before);
}

#[test]
fn comments_and_keys_of_others_stay() {
    let archive = Archive::new();
    let text = archive.text();
    let (head, _) = text.rsplit_once("[seal]\n").unwrap();
    let head =
        head.replacen("[payload]", "[metadata]\ntitle = 'A' # ours\nshade = 'red'\n\n[payload]", 1);
    let head = format!("# by hand\n{head}");
    let seal = urepo::digest::Digest::of(head.as_bytes());
    fs::write(archive.file(), format!("{head}[seal]\nsha256 = \"{seal}\"\n")).unwrap();
    archive.entitle("B").unwrap();
    let text = archive.text();
    for kept in
        ["# by hand\n", "title = \"B\" # ours\n", "shade = 'red'\n", "described = 2026-12-01"]
    {
        assert!(text.contains(kept), "{kept}\n{text}");
    }
    archive.sidecar();
}

#[test]
fn what_stays_as_it_is_is_not_written() {
    let archive = Archive::new();
    archive.entitle("Letter").unwrap();
    let stat = |archive: &Archive| {
        let stat = fs::metadata(archive.file()).unwrap();
        (stat.ino(), stat.ctime(), stat.ctime_nsec(), archive.events().len())
    };
    let before = stat(&archive);
    assert_eq!(archive.entitle("Letter").unwrap().changes, []);
    assert_eq!(stat(&archive), before);
}

#[test]
fn a_target_is_a_file_of_the_item() {
    let archive = Archive::new();
    let to = |target: &str| {
        let target = urepo::item::PayloadPath::from_text(target).unwrap();
        move |description: &mut Description| {
            description.target = Some(target.clone());
            Ok(())
        }
    };
    let error = archive.amend(to("other.txt")).unwrap_err();
    assert!(error.to_string().contains("no file or link `other.txt`"), "{error}");
    archive
        .amend(|description| {
            description.target = None;
            Ok(())
        })
        .unwrap();
    assert_eq!(archive.sidecar().target, None);
    let plan = archive.amend(to("letter.txt")).unwrap();
    assert_eq!(plan.changes[0].key, "target");
    archive
        .amend(|description| {
            description.conditions.transferable = false;
            Ok(())
        })
        .unwrap();
    assert!(!archive.sidecar().transferable);
}

#[test]
fn a_dry_run_changes_nothing() {
    let archive = Archive::new();
    let before = crate::support::tree(&archive.world.path("archive"));
    let (agent, clock, interrupt) =
        (agent(), TestClock::at("2026-12-01T00:00:00Z"), Interrupt::default());
    let caller = caller(&agent, &clock, &interrupt);
    let collection = archive.open();
    let amender = Amender {
        collection: &collection,
        sight: urepo::holdings::Sight::alone(),
        writer: None,
        locks: None,
        caller,
    };
    let name = archive.name.parse().unwrap();
    let plan = amender.amend(Amendment { name, change: Box::new(entitled("Letter")) }).unwrap();
    assert_eq!(plan.sidecar.metadata.title(), Some("Letter"));
    assert_eq!(crate::support::tree(&archive.world.path("archive")), before);
}

/// The Copy is behind, and a refresh brings the sidecar; its files stay the ones that are there.
#[test]
fn copies_follow_without_their_files() {
    let archive = Archive::new();
    let world = &archive.world;
    make_collection(&world.path("mirror"));
    copy_item(&world.path("archive"), &world.path("mirror"), &archive.name, |_| ());
    world.run("-c mirror copy --all --to archive");
    archive.entitle("Letter").unwrap();
    let status = world.run(&format!("-c mirror status {} --with archive", archive.name));
    assert!(status.stdout.contains("behind"), "{}", status.stdout);
    let file = world.path("mirror").join(&archive.name).join("doc/letter.txt");
    let inode = fs::metadata(&file).unwrap().ino();
    world.run("-c mirror copy --all --from archive").succeeded();
    assert_eq!(fs::metadata(&file).unwrap().ino(), inode);
    let text = fs::read(world.path("mirror").join(&archive.name).join("item.toml")).unwrap();
    let (copy, seal) = Sidecar::read(&text).unwrap();
    assert_eq!((copy.metadata.title(), seal), (Some("Letter"), Seal::Intact));
    assert_eq!(copy.described, archive.sidecar().described);
    world.run("verify archive mirror").succeeded();
}

/// A change too long for a line of the log leaves a line that can be read.
#[test]
fn large_values_are_logged_by_their_digests() {
    let archive = Archive::new();
    archive
        .amend(|description| {
            for number in 0..3000 {
                let key = format!("x.key-{number}");
                description.metadata.set(&key, &["value ".repeat(30)]).unwrap();
            }
            description.metadata.set("title", &["long ".repeat(10_000)]).unwrap();
            Ok(())
        })
        .unwrap();
    let events = archive.events();
    let changes = &events.last().unwrap().changes;
    let title = changes.iter().find(|it| it.key == "metadata.title").unwrap();
    assert_eq!(title.after.as_ref().unwrap()["bytes"], 50_002);
    assert!(changes.len() >= 1000);
}

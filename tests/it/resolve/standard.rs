//! Example 9.2 by the engines of the commands, under the clocks of its years: what they deposit, relate and describe has
//! the dates that the standard prints.

use std::ops::ControlFlow;
use std::path::Path;

use urepo::amend::{Amender, Amendment};
use urepo::collection::{Collection, Label, Scheme};
use urepo::disk::Watcher;
use urepo::identity::{Identifier, RepositoryName};
use urepo::interrupt::Interrupt;
use urepo::relation::Correction;
use urepo::resolve::{Announced, LocalArchive, list_of_urls};
use urepo::sidecar::{Relation, RelationKind, Sidecar};

use crate::identity::read;
use crate::support::{
    TestClock, World, agent, caller, deposit, make_collection, options, request_of_stream, waiter,
};

const TEXT: &str = "sid.inpe.br/mtc-m18@80/2009/07.21.13.23";
const TRANSLATION: &str = "sid.inpe.br/mtc-m18@80/2009/08.25.19.43";
const METADATA: &str = "sid.inpe.br/mtc-m18@80/2009/07.21.13.23.47";

/// The relations of the example.
const RELATIONS: [&str; 9] = [
    "",
    ".lastedition",
    ".lastedition.metadata",
    ".lastedition.metadata(oai_dc)",
    ".metadata",
    ".metadata(oai_dc)",
    ".metadata.translation",
    ".translation(en)",
    ".translation(pt)",
];

/// The archive of the example, in the collection `a`: each item is deposited under its name when the example dates it.
/// The relations, and a title, come in May 2014.
pub(crate) fn standard() -> World {
    let world = World::new();
    let collection = make_collection(&world.path("a"));
    let clock = TestClock::at("2009-01-01T00:00:00Z");
    for (date, name, ibip, file, language) in [
        ("2009-07-21T13:23:45Z", TEXT, "8JMKD3MGP8W/35MME4E", "CCSDS 643.0-B-1.pdf", "en"),
        ("2011-09-22T14:45:11Z", TRANSLATION, "", "RTC-07.pdf", "pt"),
        ("2014-04-04T17:39:54Z", METADATA, "", "metadata.cgi", ""),
    ] {
        clock.set(date);
        let mut request = request_of_stream(file, b"bytes");
        let name: RepositoryName = name.parse().unwrap();
        let (ibip, date) = (ibip.parse().ok(), name.instant());
        request.given.label = Some(Label { name, ibip, date });
        if !language.is_empty() {
            request.metadata.add("language", language).unwrap();
        }
        let (outcomes, _) = deposit(&collection, vec![request], options(), &clock, |_| ()).unwrap();
        outcomes[0].result.as_ref().unwrap();
    }
    clock.set("2014-05-01T09:00:00Z");
    relate(&collection, &clock);
    world
}

fn relate(collection: &Collection, clock: &TestClock) {
    let relation = |kind, to: &str| Relation { kind, to: to.parse().unwrap() };
    let text: RepositoryName = TEXT.parse().unwrap();
    let correction = Correction {
        name: text.clone(),
        edits: Vec::new(),
        unlink: Vec::new(),
        link: vec![
            relation(RelationKind::Metadata, METADATA),
            relation(RelationKind::Translation("pt".parse().unwrap()), TRANSLATION),
        ],
    };
    let plan = urepo::relation::plan(&[collection], 0, &correction).unwrap();
    let title = Amendment {
        name: text,
        change: Box::new(|description| {
            description.metadata.set("title", &["Report concerning space data"]).unwrap();
            Ok(())
        }),
    };
    let (agent, interrupt) = (agent(), Interrupt::default());
    let writer = collection.writer(&agent, &waiter(clock)).unwrap();
    let caller = caller(&agent, clock, &interrupt);
    let amender = Amender {
        collection,
        sight: urepo::holdings::Sight::alone(),
        writer: Some(&writer),
        locks: None,
        caller,
    };
    let _ = amender.amend_all(plan.amendments(0).chain([title]), &mut |name, result| {
        assert!(!result.unwrap().changes.is_empty(), "{name}");
        ControlFlow::Continue(())
    });
}

fn sidecar(root: &Path, name: &str) -> Sidecar {
    Sidecar::read(&std::fs::read(root.join(name).join("item.toml")).unwrap()).unwrap().0
}

/// The nine relations, of which our archives answer more.
#[test]
fn the_49_pairs_of_example_9_2_come_of_the_commands() {
    let world = standard();
    let collection = Collection::open(&world.path("a"), &Watcher::default()).unwrap();
    let form = |name: &str| name.parse::<Identifier>().unwrap().into();
    let announced = Announced {
        address: Some("mtc-m16c.sid.inpe.br".parse().unwrap()),
        scheme: Scheme::Http,
        runs_programs: true,
        service: form("sid.inpe.br/mtc-m18@80/2008/03.17.15.17"),
        software: form("dpi.inpe.br/banon/1998/08.02.08.56"),
        key: Some("1426387214-9164566186556927".parse().unwrap()),
    };
    let archive = LocalArchive::new(&collection, &announced);
    let identifier = "8JMKD3MGP8W/35MME4E".parse().unwrap();
    let verbs = "GetMetadata GetTranslation".parse().unwrap();
    let pairs = list_of_urls(&archive, &identifier, b"", &verbs).unwrap();
    let is_printed = |name: &str| {
        let whole = ["archiveaddress", "ibi.archiveservice", "ibi.platformsoftware", "urlkey"];
        let property = name.find('.').unwrap_or(name.len());
        whole.contains(&name) || RELATIONS.contains(&&name[property..])
    };
    let lines: Vec<_> =
        pairs.lines().filter(|line| is_printed(line.split(' ').next().unwrap())).collect();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors/example-9.2.txt");
    assert_eq!(lines.join("\n") + "\n", read(fixture));
    assert_eq!(lines.len(), 49);
}

/// The files are those of 2009, 2011 and 2014; what is said of them is of May 2014.
#[test]
fn a_relation_moves_the_date_of_the_description_alone() {
    let world = standard();
    for (name, timestamp) in [
        (TEXT, "2009-07-21T13:23:45Z"),
        (TRANSLATION, "2011-09-22T14:45:11Z"),
        (METADATA, "2014-04-04T17:39:54Z"),
    ] {
        let sidecar = sidecar(&world.path("a"), name);
        assert_eq!(sidecar.timestamp.to_string(), timestamp);
        assert_eq!(sidecar.created, sidecar.repository.instant(), "an existing name");
        let described = sidecar.described.unwrap().to_string();
        assert!(described.starts_with("2014-05-01T09:00:00"), "{described}");
    }
}

/// The sidecar has one reading of the clock, not the minute of the name beside it.
#[test]
fn a_new_item_was_created_when_its_files_came() {
    let world = World::new();
    let collection = make_collection(&world.path("a"));
    let clock = TestClock::at("2031-11-21T02:13:32Z");
    let requests = vec![request_of_stream("a.txt", b"bytes")];
    let (outcomes, _) = deposit(&collection, requests, options(), &clock, |_| ()).unwrap();
    let name = outcomes[0].result.as_ref().unwrap().label.name.to_string();
    let sidecar = sidecar(&world.path("a"), &name);
    assert_eq!(sidecar.created.to_string(), "2031-11-21T02:13:32Z", "{name}");
    assert_eq!((sidecar.timestamp, sidecar.described), (sidecar.created, None));
}

//! Links: kept as they are, followed, left out or refused; wherever they lead, nothing outside an item is read.

use urepo::deposit::{LinkFault, RefusedLinks};

use super::*;

const LINKS: [(&str, &str); 7] = [
    ("absolute", "/etc/passwd"),
    ("dangling", "nowhere"),
    ("inside", "sub/f"),
    ("out", "../secret"),
    ("out-dangling", "../../nothing"),
    ("self", "self"),
    ("sub/up", ".."),
];

fn make_source(place: &Place) -> PathBuf {
    let source = place.source("dir");
    std::fs::write(place.source("secret"), "secret").unwrap();
    std::fs::create_dir_all(source.join("sub")).unwrap();
    std::fs::write(source.join("sub/f"), "f").unwrap();
    for (name, target) in LINKS {
        symlink(target, source.join(name)).unwrap();
    }
    source
}

fn with(links: Links) -> Options {
    Options { links, ..options() }
}

#[test]
fn every_link_is_kept_as_it_is() {
    let place = Place::new();
    let source = make_source(&place);
    let deposited = place.deposit_with(&source, with(Links::AsIs)).unwrap();
    assert_eq!(tree(&place.payload(&deposited)), tree(&source));
    assert_eq!((deposited.payload.files, deposited.payload.bytes), (1, 1));
    let (sidecar, _) = place.collection.item(&deposited.label.name).unwrap().sidecar().unwrap();
    assert_eq!(sidecar.files.len(), LINKS.len() + 1);
    // Removing the source removes the links and nothing that they lead to.
    let remove = Options { sources: SourceRule::Remove, ..with(Links::AsIs) };
    let removed = place.deposit_with(&source, remove).unwrap();
    assert_eq!((removed.left, source.exists()), (Vec::new(), false));
    assert_eq!(std::fs::read_to_string(place.source("secret")).unwrap(), "secret");
}

#[test]
fn links_are_left_out_and_counted() {
    let place = Place::new();
    let source = make_source(&place);
    let deposited = place.deposit_with(&source, with(Links::Skip)).unwrap();
    assert_eq!(tree(&place.payload(&deposited)), ["sub/", "sub/f 1"]);
    let left_out: Vec<_> = deposited.left_out.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(left_out, LINKS.map(|it| it.0));
}

#[test]
fn all_refused_links_are_counted_and_the_first_named() {
    let place = Place::new();
    let source = make_source(&place);
    let faults = |links| match place.deposit_with(&source, with(links)).unwrap_err() {
        DepositError::Links(RefusedLinks { named, count, lead_nowhere, .. }) => {
            let mut faults: Vec<_> = named
                .iter()
                .map(|it| {
                    (it.path.strip_prefix(&source).unwrap().to_str().unwrap().to_owned(), it.fault)
                })
                .collect();
            faults.sort_by(|a, b| a.0.cmp(&b.0));
            (faults, count, lead_nowhere)
        }
        error => panic!("{error}"),
    };
    let (named, count, lead_nowhere) = faults(Links::Keep);
    let expected = [
        ("absolute", LinkFault::Leaves),
        ("out", LinkFault::Leaves),
        ("out-dangling", LinkFault::LeavesDangling),
    ];
    assert_eq!(named, expected.map(|(name, fault)| (name.to_owned(), fault)));
    assert_eq!((count, lead_nowhere), (3, 1));
    let (named, count, lead_nowhere) = faults(Links::Follow);
    let expected = [
        ("dangling", LinkFault::Dangling),
        ("out-dangling", LinkFault::Dangling),
        ("self", LinkFault::Loop),
        ("sub/up", LinkFault::Loop),
    ];
    assert_eq!(named, expected.map(|(name, fault)| (name.to_owned(), fault)));
    assert_eq!((count, lead_nowhere), (4, 4));
    let (named, count, _) = faults(Links::Refuse);
    assert_eq!((named.len(), count), (5, 7));
    assert!(named.iter().all(|it| it.1 == LinkFault::Refused));
    assert_eq!(whole_items(&place.collection), [""; 0]);
}

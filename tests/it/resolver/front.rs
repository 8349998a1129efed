//! The resolver behind a front server.

use super::inclusion::{INCLUSION, registered, scripted};
use super::scripted::{ITEM, Resolving, SERVICE};
use crate::serve::{Front, refuses_ambiguous_requests};

#[test]
fn a_resolver_answers_through_the_server_of_the_guide() {
    let Some(place) = Front::place() else { return };
    let archive = scripted();
    let hosts = format!("{} mtc-m21.sid.inpe.br", archive.address);
    let resolving = Resolving::at(&place.1, &registered(), &hosts);
    let front = Front::start(place, resolving.site.address);
    let included = front.ask("GET", &format!("/{SERVICE}?{INCLUSION}"), &[], "");
    let status = "status.archive included status.confirmation successful";
    assert_eq!((included.status, included.text().as_str()), (200, status));
    archive.next_target();
    // A reader's own word about an address does not reach the archives.
    let found = front.ask("GET", &format!("/{ITEM}"), &["X-Forwarded-For: 198.51.100.7"], "");
    assert_eq!(found.status, 302, "{found:?}");
    assert!(found.field("location").starts_with("http://mtc-m21.sid.inpe.br/col/"), "{found:?}");
    let target = archive.next_target();
    assert!(target.contains("?clientinformation.ipaddress=127.0.0.1&"), "{target}");
    refuses_ambiguous_requests(&front, &format!("GET /{ITEM} HTTP/1.1"));
    let log = front.end();
    assert!(log.contains(ITEM) && log.contains("inclusionRequest"), "{log}");
    assert!(!log.contains("1234567890"), "{log}");
}

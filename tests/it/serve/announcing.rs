//! Announcing to a resolver: registration, inclusion, exclusion, against a scripted resolver [resolution, 5].

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use urepo::collection::{Collection, Scheme};
use urepo::disk::Watcher;
use urepo::identity::Identifier;
use urepo::serve::{Archive, Exposure, ServiceItem};

use super::program::Running;
use super::site::Answered;
use crate::support::World;

const KEY: &str = "1234567890-1234567890";

/// A resolver that gives scripted answers, and the targets that it was asked for.
struct Resolver {
    url: String,
    targets: Receiver<String>,
}

/// An answer with this body.
fn plain(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

impl Resolver {
    /// Answers each request with the next of `answers`; before `confirmed`, it asks the archive for the confirmation.
    fn answering(answers: Vec<String>) -> Resolver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/J8LNKB5R7W/3FUQHC5", listener.local_addr().unwrap());
        let (send, targets) = channel();
        std::thread::spawn(move || {
            for answer in answers {
                let Ok((mut stream, _)) = listener.accept() else { return };
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let target = line.split(' ').nth(1).unwrap().to_owned();
                let value = |name: &str| {
                    let pair = target.split(['?', '&']).find_map(|pair| pair.strip_prefix(name));
                    pair.unwrap().trim_start_matches('=').to_owned()
                };
                let answer = if answer == "confirmed" {
                    let (address, service) = (value("archiveaddress"), value("archiveserviceibi"));
                    let mut archive = std::net::TcpStream::connect(&address).unwrap();
                    let query = "servicesubject=inclusionConfirmationRequest";
                    write!(archive, "GET /{service}?{query} HTTP/1.1\r\nHost: {address}\r\n\r\n")
                        .unwrap();
                    let confirmation = Answered::read(&mut archive, false).unwrap();
                    assert_eq!(confirmation.text(), "confirmation yes");
                    plain("200 OK", "status.archive included status.confirmation successful")
                } else {
                    answer
                };
                let _ = send.send(target);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Resolver { url, targets }
    }
}

/// A collection with this resolver in its settings, and a file with the key.
fn world(resolver: &str) -> World {
    let world = World::with_collection();
    let settings = world.path("archive/urepo.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let archive = format!(
        "[archive]\nresolver = \"{resolver}\"\nip = \"192.0.2.7\"\nemail = \"keeper@example.org\"\n"
    );
    std::fs::write(&settings, format!("{text}\n{archive}")).unwrap();
    world.write("key", KEY);
    close(&world, 0o600);
    world
}

fn close(world: &World, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(world.path("key"), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Example 7.1, letter by letter.
#[test]
fn the_registration_is_the_mail_of_the_standard() {
    let world = World::with_collection();
    let collection = Collection::open(&world.path("archive"), &Watcher::default()).unwrap();
    let name: Identifier = "dpi.inpe.br/banon/1999/01.09.22.14".parse().unwrap();
    let exposed = Exposure {
        address: "mtc-m21.sid.inpe.br".parse().unwrap(),
        scheme: Scheme::Http,
        email: None,
        ip: None,
        resolver_from: Vec::new(),
    };
    let service = ServiceItem { registered: name.clone().into(), names: vec![name], is_new: false };
    let archive = Archive::new(collection, exposed, service).unwrap();
    let (subject, text) = archive.registration(&"1234567890".parse().unwrap());
    assert_eq!(subject, "Solicitação de cadastro de um novo Arquivo");
    let expected = "IBI do serviço de Arquivo:\narchiveserviceibi = dpi.inpe.br/banon/1999/01.09.22.14\n\n\
                    Chave de cadastro:\nregistrationkey = 1234567890\n";
    assert_eq!(text, expected);
}

/// Figure 7.1: inclusion, confirmation, status; then exclusion, status. The pairs are those of Table 7.2.
#[test]
fn a_server_is_included_while_it_runs_and_excluded_at_its_end() {
    let excluded = plain("200 OK", "status.archive excluded");
    let resolver = Resolver::answering(vec!["confirmed".to_owned(), excluded]);
    let world = world(&resolver.url);
    let server = Running::start(&world, "-c archive serve --listen 127.0.0.1:0 --key-file key");
    let included = resolver.targets.recv().unwrap();
    let settings = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    let service =
        settings.split("service = \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let expected = |subject: &str| {
        format!(
            "/J8LNKB5R7W/3FUQHC5?servicesubject={subject}&archiveaddress={}&archiveserviceibi={service}\
             &archiveip=192.0.2.7&archiveprotocol=HTTP&archiveplatformversion=urepo-{}\
             &archiveadmemailaddress=keeper@example.org&registrationkey={KEY}",
            server.1,
            env!("CARGO_PKG_VERSION"),
        )
    };
    assert_eq!(included, expected("inclusionRequest"));
    let end = expected("exclusionRequest");
    let (code, text) = server.stop();
    assert_eq!(resolver.targets.recv().unwrap(), end);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("has included the archive at") && text.contains("any more"), "{text}");
    assert!(!text.contains("1234567890"), "{text}");
}

#[test]
fn a_check_says_what_the_resolver_answers() {
    let included = "status.archive included status.confirmation";
    let redirect = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n";
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n";
    let packed = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx";
    for (answer, code, text) in [
        ("confirmed".to_owned(), 0, "has included the archive at"),
        (plain("200 OK", &format!("{included} unsuccessful")), 1, "could not reach"),
        (plain("403 Forbidden", "status.archive refused"), 1, "is it registered with this key?"),
        (
            plain("400 Bad Request", "status.archive refused status.reason archiveip"),
            1,
            "refuses `archiveip`",
        ),
        (plain("200 OK", "{{"), 1, "answers with 200 OK"),
        (redirect.to_owned(), 1, "answers with 302 Found"),
        (page.to_owned(), 1, "another type than text/plain"),
        (packed.to_owned(), 1, "another type than text/plain"),
        ("garbage".to_owned(), 1, "as a server of HTTP does"),
    ] {
        let resolver = Resolver::answering(vec![answer.clone(), answer.clone()]);
        let world = world(&resolver.url);
        let check = "-c archive serve --listen 127.0.0.1:0 --key-file key --check";
        let ran = world.run(check);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, code, "{answer}: {told}");
        assert!(told.contains(text) && !told.contains("1234567890"), "{answer}: {told}");
        let ran = world.run(&format!("{check} --json"));
        let record: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&record["kind"], ran.code), (&"announcement".into(), code), "{record}");
        assert_eq!(record["resolver"], resolver.url);
        let is_included = answer == "confirmed" || answer.contains("unsuccessful");
        assert_eq!(record["included"], is_included, "{answer}");
        assert_eq!(record["confirmed"], code == 0, "{answer}");
        let message = record["error"]["message"].as_str();
        assert_eq!(message.is_some_and(|it| !it.is_empty()), code != 0, "{record}");
    }
    let nobody = world("http://127.0.0.1:1/J8LNKB5R7W/3FUQHC5");
    let ran = nobody.run("-c archive serve --listen 127.0.0.1:0 --key-file key --check");
    assert!(
        ran.code == 1 && ran.stderr.contains("cannot connect to 127.0.0.1:1"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_key_is_kept_from_others() {
    let world = world("http://127.0.0.1:1/J8LNKB5R7W/3FUQHC5");
    close(&world, 0o640);
    let check = "-c archive serve --listen 127.0.0.1:0 --key-file key --check";
    let ran = world.run(check);
    assert!(ran.code == 1 && ran.stderr.contains("others can read"), "{}", ran.stderr);
    close(&world, 0o600);
    world.write("key", "short");
    let ran = world.run(check);
    assert!(ran.code == 1 && !ran.stderr.contains("short"), "{}", ran.stderr);
    assert_eq!(world.run("-c archive serve --listen 127.0.0.1:0 --check").code, 2);
    // A registration makes a key once.
    let line = "-c archive serve --listen 127.0.0.1:0 --print-registration --key-file new";
    let (first, second) = (world.run(line), world.run(line));
    assert_eq!(first.succeeded(), second.succeeded());
    let key = std::fs::read_to_string(world.path("new")).unwrap();
    let json = world.run(&format!("{line} --json"));
    let mail: serde_json::Value = serde_json::from_str(json.succeeded()).unwrap();
    let (subject, text) = (mail["subject"].as_str().unwrap(), mail["text"].as_str().unwrap());
    assert_eq!(
        (&mail["kind"], format!("{subject}\n\n{text}")),
        (&"mail".into(), first.stdout.clone())
    );
    assert!(first.stdout.ends_with(&format!("\nregistrationkey = {key}")), "{}", first.stdout);
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(std::fs::metadata(world.path("new")).unwrap().permissions().mode() & 0o777, 0o600);
    for resolver in ["urlib.net", "https://urlib.net/J8LNKB5R7W/3FUQHC5"] {
        let settings = world.path("archive/urepo.toml");
        let text = std::fs::read_to_string(&settings).unwrap();
        let changed = text.replace("http://127.0.0.1:1/J8LNKB5R7W/3FUQHC5", resolver);
        std::fs::write(&settings, changed).unwrap();
        let ran = world.run("-c archive serve --listen 127.0.0.1:0");
        assert!(ran.code == 1 && ran.stderr.contains("expected a URL such as"), "{}", ran.stderr);
        std::fs::write(&settings, text).unwrap();
    }
}

//! The services behind a front server: Caddy, with the file in the guide. Without that program, these tests end at once.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use urepo::web::listen::Limits;

use super::labels::issuing_at;
use super::site::{Answered, SERVICE, Site};
use crate::support::{TestClock, World, change_item};

/// A front server, until it is dropped.
pub(crate) struct Front {
    program: Child,
    /// The host and port that it answers for.
    pub(crate) host: String,
    log: PathBuf,
    _dir: tempfile::TempDir,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The text of the block of the guide that begins with `begin`.
fn of_the_guide(begin: &str) -> String {
    let guide = std::fs::read_to_string("docs/guide.md").unwrap();
    let at = guide.find(begin).unwrap();
    guide[at..].split("```").next().unwrap().to_owned()
}

impl Front {
    /// A port for it, and the host that its services have to answer for; `None` without the program.
    pub(crate) fn place() -> Option<(u16, String)> {
        let program = Command::new("caddy").arg("version").stdout(Stdio::null()).status();
        if !program.is_ok_and(|status| status.success()) {
            eprintln!("skipped: there is no Caddy");
            return None;
        }
        let free = free_port();
        Some((free, format!("archive.example.org:{free}")))
    }

    /// Starts it at `place`, before the service at `behind`.
    pub(crate) fn start((port, host): (u16, String), behind: SocketAddr) -> Front {
        let dir = tempfile::tempdir().unwrap();
        let (log, data) = (dir.path().join("access.log"), dir.path().join("data"));
        let file = of_the_guide("http://archive.example.org, https://archive.example.org {")
            .replace(
                "https://archive.example.org",
                &format!("https://archive.example.org:{}", free_port()),
            )
            .replace("http://archive.example.org,", &format!("http://{host},"))
            .replace("127.0.0.1:8080", &behind.to_string())
            .replace(
                "log {",
                &format!("tls internal\n    log {{\n        output file {}", log.display()),
            );
        let options = format!(
            "{{\n admin off\n skip_install_trust\n storage file_system {}\n}}\n",
            data.display()
        );
        let config = dir.path().join("Caddyfile");
        std::fs::write(&config, options + &file).unwrap();
        let mut command = Command::new("caddy");
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(&config);
        let errors = std::fs::File::create(dir.path().join("errors")).unwrap();
        let mut program = command.stdout(Stdio::null()).stderr(errors).spawn().unwrap();
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let errors = || std::fs::read_to_string(dir.path().join("errors")).unwrap();
            assert!(program.try_wait().unwrap().is_none(), "{}", errors());
            assert!(begin.elapsed().as_secs() < 60, "{}", errors());
        }
        Front { program, host, log, _dir: dir }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let port = self.host.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    pub(crate) fn ask(&self, method: &str, target: &str, fields: &[&str], body: &str) -> Answered {
        let fields = fields.iter().fold(String::new(), |text, field| text + field + "\r\n");
        let length = if body.is_empty() {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let mut stream = self.connect();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\n{fields}{length}\r\n{body}",
            self.host
        );
        stream.write_all(head.as_bytes()).unwrap();
        Answered::read(&mut stream, false).unwrap()
    }

    /// Ends it, and returns its log.
    pub(crate) fn end(mut self) -> String {
        let id = rustix::process::Pid::from_child(&self.program);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.program.wait().unwrap();
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn behind() -> Limits {
    Limits { trusted: vec!["127.0.0.1".parse().unwrap()], ..Limits::default() }
}

/// Requests whose end two readers could see in two places: the server in front, or ours, refuses each, and what follows in the
/// same connection is never an answer to somebody else.
const AMBIGUOUS: [&str; 7] = [
    "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "Content-Length: 5\r\n\r\nhello",
    "X-Any: a\rX-Other: b\r\n\r\n",
];

#[test]
fn an_archive_answers_through_the_server_of_the_guide() {
    let Some(place) = Front::place() else { return };
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let closed = world.run("-c archive new a.txt").line();
    change_item(&world.path("archive"), &closed, |sidecar| {
        sidecar.access.level = urepo::sidecar::AccessLevel::Closed;
        sidecar.access.allow = vec!["10.0.0.0/8".parse().unwrap()];
    });
    let root = world.path("archive");
    let site = Site::with(&[(&root, &place.1)], behind(), |_| {});
    let front = Front::start(place, site.address);
    let get = |target: &str| front.ask("GET", target, &[], "");
    // Resolvers follow no redirect: port 80 answers for the service, and for readers.
    let service = format!(
        "/{SERVICE}?servicesubject=inclusionConfirmationRequest&registrationkey=1234567890"
    );
    assert_eq!((get(&service).status, get(&service).text().as_str()), (200, "confirmation yes"));
    let location = format!("http://{}/col/{name}/doc/a.txt", front.host);
    assert_eq!(
        (get(&format!("/{name}")).status, get(&format!("/{name}")).field("location")),
        (302, &*location)
    );
    let file = get(&format!("/col/{name}/doc/a.txt?urlkey=1234567890"));
    assert_eq!((file.status, file.text().as_str()), (200, "alpha"));
    assert!(file.field("etag").starts_with('"'), "{file:?}");
    assert_eq!(
        front.ask("GET", &format!("/col/{name}/doc/a.txt"), &["Range: bytes=1-2"], "").text(),
        "lp"
    );
    // A reader cannot claim an address that is let in.
    for field in [
        "X-Forwarded-For: 10.0.0.1",
        "X-Forwarded-For: 10.0.0.1, 127.0.0.1",
        "Forwarded: for=10.0.0.1",
    ] {
        assert_eq!(
            front.ask("GET", &format!("/col/{closed}/doc/a.txt"), &[field], "").status,
            403,
            "{field}"
        );
    }
    assert_eq!(front.ask("GET", "/", &["X-Forwarded-Host: evil.example.net"], "").status, 200);
    refuses_ambiguous_requests(&front, "GET / HTTP/1.1");
    let log = front.end();
    assert!(log.contains(&format!("/col/{name}/doc/a.txt")), "{log}");
    assert!(!log.contains("1234567890"), "{log}");
}

/// Sends each ambiguous request, and after it one that would be served if its begin were taken for the body.
pub(crate) fn refuses_ambiguous_requests(front: &Front, line: &str) {
    for rest in AMBIGUOUS {
        let mut stream = front.connect();
        let host = &front.host;
        let next = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(format!("{line}\r\nHost: {host}\r\n{rest}{next}").as_bytes()).unwrap();
        let mut all = String::new();
        let _ = stream.read_to_string(&mut all);
        // 502: ours has closed the connection while the body was on its way.
        let is_refused =
            [400, 501, 502].iter().any(|it| all.starts_with(&format!("HTTP/1.1 {it} ")));
        assert!(is_refused, "{rest}: {all}");
        // The connection ends, or goes on with the next request of this client.
        assert!(all.matches("HTTP/1.1 ").count() <= 2, "{rest}: {all}");
        // No connection between the two servers has an answer too many.
        for _ in 0..4 {
            let other = front.ask("GET", "/robots.txt", &[], "").text();
            assert!(other.starts_with("User-agent"), "{rest}: {other}");
        }
    }
}

#[test]
fn labels_are_issued_through_the_server_of_the_guide() {
    let Some(place) = Front::place() else { return };
    let world = World::with_collection();
    let clock = std::sync::Arc::new(TestClock::at("2026-12-01T12:00:00Z"));
    let (site, [secret, ..]) = issuing_at(&world, &clock, &place.1);
    let front = Front::start(place, site.address);
    let token = format!("Authorization: Bearer {secret}");
    let form = "Content-Type: application/x-www-form-urlencoded";
    let answer = front.ask("POST", "/issue", &[&token, form], "count=2");
    assert_eq!((answer.status, answer.text().lines().count()), (200, 2), "{answer:?}");
    assert_eq!(front.ask("POST", "/issue", &[form], "count=2").status, 401);
    refuses_ambiguous_requests(&front, &format!("POST /issue HTTP/1.1\r\n{token}"));
    let log = front.end();
    assert!(log.contains("/issue") && !log.contains(&secret), "{log}");
}

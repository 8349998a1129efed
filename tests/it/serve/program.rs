//! `urepo serve` as a program: its first run, its end, its refusals.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use urepo::catalog::RefreshContext;
use urepo::collection::{Collection, Scheme};
use urepo::disk::Watcher;
use urepo::identity::Identifier;
use urepo::interrupt::Interrupt;
use urepo::serve::{Archive, Exposure, ServiceItem};

use super::site::{Answered, SERVICE};
use crate::support::{TestClock, World, agent, change_item};

/// A running server, and the address that it printed.
pub(crate) struct Running(Child, pub(crate) String);

impl Running {
    pub(crate) fn start(world: &World, arguments: &str) -> Running {
        let mut command = world.shell(&format!("exec \"$0\" {arguments}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("http://").map(|it| it.trim_end_matches('/').to_owned());
        let Some(address) = address else {
            let mut error = String::new();
            child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
            panic!("{line}{error}");
        };
        Running(child, address)
    }

    pub(crate) fn get(&self, target: &str) -> Answered {
        let mut stream = TcpStream::connect(&self.1).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.1).unwrap();
        Answered::read(&mut stream, false).unwrap()
    }

    /// Kills it: it has no time for anything.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Stops it with a signal: its exit code, and what it has written to stderr.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        let id = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        let status = self.0.wait().unwrap();
        let mut text = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (status.code(), text)
    }
}

#[test]
fn the_first_run_deposits_the_service_and_the_second_finds_it() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let settings = || std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    let before = settings();
    let dry = world.run("-n -c archive serve --listen 127.0.0.1:0");
    assert_eq!((dry.succeeded(), settings()), ("", before.clone()));
    let mut services = Vec::new();
    for round in 0..3 {
        let server = Running::start(&world, "-c archive serve --listen 127.0.0.1:0");
        assert_eq!(server.get(&format!("/col/{name}/doc/a.txt")).body, b"alpha");
        let (code, text) = server.stop();
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(text.contains("deposited the archive service"), round == 0, "{text}");
        let after = settings();
        assert!(after.starts_with(&before), "what people wrote is kept: {after}");
        services.push(after.lines().last().unwrap().to_owned());
        // As a kill between the deposit and the settings would leave it.
        std::fs::write(world.path("archive/urepo.toml"), &before).unwrap();
        if round == 0 {
            std::fs::write(world.path("archive/urepo.toml"), &after).unwrap();
        }
    }
    assert!(
        services[0].starts_with("service = \"") && services.iter().all(|it| *it == services[0]),
        "{services:?}"
    );
    let listed = world.run("-c archive list");
    assert_eq!(listed.succeeded().lines().count(), 2, "{}", listed.stdout);
    let service = services[0].split('"').nth(1).unwrap();
    std::fs::write(
        world.path("archive/urepo.toml"),
        format!("{before}\n[archive]\nservice = \"{service}\"\n"),
    )
    .unwrap();
    let server = Running::start(&world, "serve archive --listen 127.0.0.1:0");
    let query = "servicesubject=urlRequest&clientinformation.ipaddress=192.0.2.7";
    let answer = server.get(&format!("/{service}?{query}&parsedibiurl.ibi={name}")).text();
    assert!(answer.contains(&format!("ibi.archiveservice {{rep {service}}}")), "{answer}");
    assert!(answer.contains(&format!("archiveaddress {}", server.1)), "{answer}");
    assert_eq!(server.stop().0, Some(0));
    // The service cannot migrate.
    world.run("init other --host other.example.org").succeeded();
    assert_eq!(world.run(&format!("-c archive migrate {service} --to other")).code, 23);
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_is_made() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    world.run("init other --host other.example.org").succeeded();
    world.run("init copies --host copies.example.org").succeeded();
    let settings = world.path("copies/urepo.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.split("[[subsystem]]").next().unwrap()).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    for (arguments, code, text) in [
        (format!("serve archive --listen {taken}"), 1, "cannot listen on"),
        ("serve archive --listen 0.0.0.0:0".to_owned(), 2, "has no address"),
        ("serve archive --listen nowhere".to_owned(), 2, "invalid"),
        ("serve archive other --listen 127.0.0.1:0 --issue".to_owned(), 2, "of one archive"),
        ("serve copies --listen 127.0.0.1:0".to_owned(), 1, "has no archive service"),
        ("serve nothing --listen 127.0.0.1:0".to_owned(), 10, "nothing"),
    ] {
        let ran = world.run(&arguments);
        assert_eq!(ran.code, code, "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{arguments}: {}", ran.stderr);
        assert_eq!(world.run("-c archive list").succeeded().lines().count(), 1, "{arguments}");
    }
    let settings = world.path("archive/urepo.toml");
    let own = std::fs::read_to_string(&settings).unwrap();
    let item = format!("service = \"{name}\"");
    for (line, code, text) in [
        (&*item, 23, "is transferable"),
        ("service = \"a.org/b/2026/01.01.00.00\"", 23, "is not an Original"),
        ("address = \"a:b:c\"", 1, "expected"),
    ] {
        std::fs::write(&settings, format!("{own}\n[archive]\n{line}\n")).unwrap();
        let ran = world.run("serve archive --listen 127.0.0.1:0");
        assert!(ran.code == code && ran.stderr.contains(text), "{line}: {}", ran.stderr);
    }
    std::fs::write(&settings, own).unwrap();
    let settings = world.path("other/urepo.toml");
    let own = std::fs::read_to_string(&settings).unwrap();
    for (wrong, text) in [
        ("address = \"a:b:c\"", "expected"),
        ("port = 1", "unknown field"),
        ("scheme = \"ftp\"", "ftp"),
    ] {
        std::fs::write(&settings, format!("{own}\n[archive]\n{wrong}\n")).unwrap();
        let ran = world.run("serve other --listen 127.0.0.1:0");
        assert!(ran.code == 1 && ran.stderr.contains(text), "{wrong}: {}", ran.stderr);
    }
}

#[test]
fn several_archives_have_an_address_each() {
    let world = World::with_collection();
    world.run("init other --host other.example.org").succeeded();
    let ran = world.run("serve archive other --listen 127.0.0.1:0");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("two archives have the address"), "{}", ran.stderr);
    for (root, address) in [("archive", "a.example.org"), ("other", "b.example.org")] {
        let path = world.path(root).join("urepo.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        let archive = if text.contains("[archive]") { "" } else { "\n[archive]\n" };
        std::fs::write(
            &path,
            format!("{text}{archive}address = \"{address}\"\nscheme = \"https\"\n"),
        )
        .unwrap();
    }
    crate::support::copy_tree(&world.path("archive"), &world.path("clone"));
    let path = world.path("clone/urepo.toml");
    let text = std::fs::read_to_string(&path).unwrap().replace("a.example.org", "c.example.org");
    std::fs::write(&path, text).unwrap();
    let ran = world.run("serve archive clone --listen 127.0.0.1:0");
    assert!(ran.code == 23 && ran.stderr.contains("cannot be two archives"), "{}", ran.stderr);
    let mut command = world.shell("exec \"$0\" serve archive other --listen 127.0.0.1:0 --json");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next =
        || serde_json::from_str::<serde_json::Value>(&lines.next().unwrap().unwrap()).unwrap();
    let (a, b) = (next(), next());
    assert_eq!((&a["kind"], &a["url"]), (&"archive".into(), &"https://a.example.org/".into()));
    assert_eq!(b["url"], "https://b.example.org/");
    assert_eq!(a["listen"], b["listen"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The page of a failure says that the log has the reason.
#[test]
fn the_log_has_the_reason_of_a_failure() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let server = Running::start(&world, "-c archive serve --listen 127.0.0.1:0");
    std::fs::write(world.path("archive").join(&name).join("item.toml"), "{{bad").unwrap();
    assert_eq!(server.get(&format!("/{name}")).text(), "alert {archive failed}");
    let (_, text) = server.stop();
    assert!(text.contains("an answer failed") && text.contains("error.sources=["), "{text}");
}

/// A hang that a user reports can be looked at.
#[test]
fn what_happens_is_written_if_it_is_asked_for() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let ran = world.finish(world.shell("UREPO_LOG=trace \"$0\" -c archive new a.txt"));
    assert!(ran.stderr.contains("urepo::disk::watch"), "{}", ran.stderr);
    ran.succeeded();
    let ran = world.finish(world.shell("UREPO_LOG=urepo=loud \"$0\" -c archive list"));
    assert!(ran.stderr.contains("`UREPO_LOG=urepo=loud` has no effect"), "{}", ran.stderr);
    assert_eq!(world.run("-c archive list").stderr, "");
}

/// Keys that are altered, replayed or somebody else's, and URLs of others, count nothing [resolution, 7.7].
#[test]
fn accesses_are_counted() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    world.write("b.txt", "beta");
    let other = world.run("-c archive new b.txt").line();
    let settings = world.path("archive/urepo.toml");
    for (networks, acknowledged) in [("", 1), ("resolver_from = [\"192.0.2.0/24\"]\n", 1)] {
        let text = std::fs::read_to_string(&settings).unwrap();
        let text = if text.contains("[archive]") { text } else { text + "\n[archive]\n" };
        std::fs::write(&settings, text.replace("[archive]\n", &format!("[archive]\n{networks}")))
            .unwrap();
        let server = Running::start(&world, "-c archive serve --listen 127.0.0.1:0");
        let settings = std::fs::read_to_string(&settings).unwrap();
        let service = settings.split("service = \"").nth(1).unwrap().split('"').next().unwrap();
        let client = "clientinformation.ipaddress=198.51.100.7";
        let query = format!("{client}&parsedibiurl.ibi={name}&servicesubject=urlRequest");
        let pairs = server.get(&format!("/{service}?{query}")).text();
        let value = |name: &str| {
            let mut lines = pairs.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap().to_owned()
        };
        let (url, key) = (value("url"), value("urlkey"));
        let altered = format!("{}{}", &key[..key.len() - 1], i32::from(key.ends_with('0')));
        for (client, url, key) in [
            (client, url.as_str(), &*altered),
            ("clientinformation.ipaddress=198.51.100.8", &url, &key),
            (client, &url.replace("127.0.0.1", "127.0.0.2"), &key),
            // The key of one item counts for no other.
            (client, &url.replace(&name, &other).replace("a.txt", "b.txt"), &key),
            (client, &url, &key),
            (client, &url, &key),
        ] {
            let query = format!(
                "{client}&contenttype=Data&servicesubject=acknowledgment&state=Original&url={url}\
                 &url.persistent=http://urlib.net:80/{name}&urlkey={key}"
            );
            let answer = server.get(&format!("/{service}?{query}"));
            assert_eq!(answer.text(), "notice {acknowledgment received}");
        }
        for _ in 0..2 {
            server.get(&format!("/col/{name}/doc/a.txt"));
        }
        assert_eq!(server.stop().0, Some(0));
        let fetched = if networks.is_empty() { 1 } else { 2 };
        let line = format!("{fetched}\t0\t{acknowledged}\t{}\t{name}\n", 10 * fetched);
        assert_eq!(world.run("-c archive status --access").succeeded(), line);
    }
    let by_day = world.run(&format!("-c archive status --access {name} --json"));
    assert!(by_day.succeeded().contains("\"fetched\":2"), "{}", by_day.stdout);
}

/// Addresses of readers are personal data: nothing is written unless it is asked for, and never a query.
#[test]
fn the_access_log_has_the_part_of_addresses_that_is_set() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    Running::start(&world, "-c archive serve --listen 127.0.0.1:0").stop();
    let settings = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    for (line, address) in [
        ("", None),
        ("access_log = \"none\"\n", None),
        ("access_log = \"network\"\n", Some("127.0.0.0")),
        ("access_log = \"full\"\n", Some("127.0.0.1")),
    ] {
        std::fs::write(world.path("archive/urepo.toml"), format!("{settings}{line}")).unwrap();
        let server = Running::start(&world, "-c archive serve --listen 127.0.0.1:0");
        let host = server.1.clone();
        server.get(&format!("/{name}?secret=1"));
        server.get("/gone?servicesubject=acknowledgment&urlkey=1234567890");
        let (_, text) = server.stop();
        let lines: Vec<_> = text.lines().filter(|line| line.contains("urepo::access")).collect();
        let Some(address) = address else {
            assert_eq!(lines, [""; 0]);
            continue;
        };
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].ends_with(&format!("{host} {address} GET /{name} 302")), "{text}");
        assert!(lines[1].ends_with(&format!("{host} {address} GET /gone 404")), "{text}");
        assert!(!text.contains("secret") && !text.contains("urlkey"), "{text}");
    }
}

/// Only the index has them; the server keeps it.
#[test]
fn labels_of_another_date_lead_to_their_items() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let label: urepo::identity::Ibip = "8JMKD3MGP8W/34CP87H".parse().unwrap();
    change_item(&world.path("archive"), &name, |sidecar| sidecar.ibip = Some(label.clone()));
    let server = Running::start(&world, "-c archive serve --listen 127.0.0.1:0");
    let leads = |label: &str| {
        let begin = std::time::Instant::now();
        while server.get(&format!("/{label}")).status != 302 {
            assert!(begin.elapsed().as_secs() < 60, "{label}");
        }
    };
    leads(label.as_str());
    let other = world.run("-c archive new a.txt").line();
    assert_eq!(server.get("/83LX3pFwXQZeBBx/65ij").status, 404);
    world.run(&format!("-c archive meta set {other} identifier=83LX3pFwXQZeBBx/65ij")).succeeded();
    leads("83LX3pFwXQZeBBx/65ij");
    assert_eq!(server.stop().0, Some(0));
}

/// A server looks again in a second where all went well, and in a minute where the next time reads everything again; it builds
/// no index that it cannot keep.
#[test]
fn an_index_that_is_not_whole_is_said_and_one_without_a_place_is_not_built() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.run("-c archive new a.txt").succeeded();
    world.write("file", "");
    let follow = |cache: &str| {
        let root = world.path("archive");
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let collection = collection.with_cache(&world.path(cache));
        let exposed = Exposure {
            address: "a.example.org".parse().unwrap(),
            scheme: Scheme::Http,
            email: None,
            ip: None,
            resolver_from: Vec::new(),
        };
        let name: Identifier = SERVICE.parse().unwrap();
        let service =
            ServiceItem { registered: name.clone().into(), names: vec![name], is_new: false };
        let archive = Archive::new(collection, exposed, service).unwrap();
        let (agent, clock) = (agent(), TestClock::at("2026-12-01T12:00:00Z"));
        let interrupt = Interrupt::default();
        let caller = crate::support::caller(&agent, &clock, &interrupt);
        archive.follow_ledger(&RefreshContext { caller, jobs: 1 }).unwrap()
    };
    assert_eq!([follow("cache"), follow("cache")], [Some(0); 2]);
    assert_eq!(follow("file"), None);
    std::os::unix::fs::symlink("/tmp", world.path("archive/example.org/archive/2025")).unwrap();
    assert_eq!([follow("cache"), follow("other")], [Some(0), Some(1)]);
}

//! Labels over HTTP: tokens, batches, and none given twice [generation, 4 to 7].

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use urepo::clock::Clock;
use urepo::collection::{Collection, IssueOptions, IssuePurpose, Scheme};
use urepo::disk::Watcher;
use urepo::distributor::{ClockTrust, HostState, Patience};
use urepo::identity::{Ibip, Identifier, Instant, RepositoryName};
use urepo::interrupt::Interrupt;
use urepo::serve::{
    Archive, Exposure, LabelServer, Server, ServiceItem, TOKENS, Token, Tokens, TokensFile,
};
use urepo::web::listen::Limits;

use super::program::Running;
use super::site::{Answered, SERVICE, Site};
use crate::identity::{generation, text};
use crate::support::{TestClock, World, agent};

fn issuing(world: &World, clock: &Arc<TestClock>) -> (Site, [String; 3]) {
    issuing_at(world, clock, "a.example.org")
}

/// A server of the collection `archive` at `address` that issues labels by this clock, and the secrets of three tokens.
pub(super) fn issuing_at(
    world: &World,
    clock: &Arc<TestClock>,
    address: &str,
) -> (Site, [String; 3]) {
    let open = || Collection::open(&world.path("archive"), &Watcher::default()).unwrap();
    let name: Identifier = SERVICE.parse().unwrap();
    let service = ServiceItem { registered: name.clone().into(), names: vec![name], is_new: false };
    let exposed = Exposure {
        address: address.parse().unwrap(),
        scheme: Scheme::Http,
        email: None,
        resolver_from: Vec::new(),
        ip: None,
    };
    let prefix = open().settings().subsystems[0].prefix().unwrap();
    let mut tokens = Tokens::default();
    let secrets = [("all", None, None), ("one", Some(prefix), None), ("few", None, Some(3))].map(
        |(name, prefix, daily)| {
            let (token, secret) = Token::draw(name, prefix, daily, clock.now()).unwrap();
            tokens.add(token).unwrap();
            secret
        },
    );
    let file = TokensFile::within(&world.path("state"), TOKENS, "").unwrap();
    let caller = urepo::agent::Caller {
        agent: &agent(),
        clock: clock.as_ref(),
        wait: Duration::from_secs(10),
        progress: &urepo::progress::NoProgress,
        interrupt: &Interrupt::default(),
    };
    let change = |all: &mut Tokens| {
        *all = tokens;
        Ok::<_, urepo::serve::TokenError>(())
    };
    file.change(&caller, change).unwrap();
    let options = IssueOptions {
        subsystem: None,
        granularity: None,
        patience: Patience { lock: Duration::from_secs(10), date: Some(Duration::from_secs(5)) },
        trust: ClockTrust::Accept,
        interrupt: Interrupt::default(),
        host_state: HostState::default(),
        purpose: IssuePurpose::Issue,
    };
    let issuing = (agent(), Arc::clone(clock) as _);
    let labels = LabelServer::start(open(), file, issuing, options).unwrap();
    let archive = Archive::new(open(), exposed, service).unwrap();
    let limits = Arc::new(Limits::default());
    let server = Server::new(vec![archive], Arc::clone(&limits), Arc::clone(clock) as _);
    let server = Arc::new(server.with_labels(Some(labels)));
    (Site::run(TcpListener::bind("127.0.0.1:0").unwrap(), server, limits), secrets)
}

fn post(site: &Site, fields: &[&str], body: &str) -> Answered {
    let fields = fields.iter().fold(String::new(), |text, field| text + field + "\r\n");
    let head = format!(
        "POST /issue HTTP/1.1\r\nHost: a.example.org\r\nConnection: close\r\n{fields}Content-Length: {}\r\n\r\n",
        body.len()
    );
    site.send(head + body).unwrap()
}

fn bearer(secret: &str) -> String {
    format!("Authorization: Bearer {secret}")
}

#[test]
fn labels_are_for_those_who_have_a_token() {
    let world = World::with_collection();
    let clock = Arc::new(TestClock::at("2026-12-01T12:00:00Z"));
    let (site, secrets) = issuing(&world, &clock);
    let [all, one, few] = secrets.each_ref().map(|secret| bearer(secret));
    let nobody = bearer(&"0".repeat(64));
    let basic = all.replace("Bearer", "Basic");
    // The name of a scheme is in any case [RFC 9110, 11.1].
    let lower = all.replace("Bearer", "bearer");
    let prefix = "prefix=example.org/archive";
    for (token, body, status) in [
        ("X: y", "", 401),
        (&*nobody, "", 401),
        (&basic, "", 401),
        (&all, "count=0", 400),
        (&all, "count=1000000000", 400),
        (&lower, "count=x", 400),
        (&lower, "count=1", 200),
        (&all, "count=1&count=2", 400),
        (&all, "prefix=example.org/other", 400),
        (&all, &"x".repeat(5000), 413),
        (&one, "prefix=example.org/other", 403),
        (&one, prefix, 200),
        (&few, "count=2", 200),
        (&few, "count=2", 429),
        (&few, "count=1", 200),
        (&few, "", 429),
    ] {
        let answer = post(&site, &[token], body);
        assert_eq!(answer.status, status, "{token} {body:.40}: {}", answer.text());
        let retries = !answer.field("retry-after").is_empty();
        assert_eq!(retries, status == 429, "{body:.40}");
    }
    // The next day.
    clock.set("2026-12-02T00:00:01Z");
    assert_eq!(post(&site, &[&few], "count=3").status, 200);
    for (method, status) in [("GET", 405), ("PUT", 405), ("OPTIONS", 204)] {
        let answer = site.ask(method, "a.example.org", "/issue", &[&all]);
        assert_eq!((answer.status, answer.field("allow")), (status, "POST, OPTIONS"));
    }
    let chunked = "POST /issue HTTP/1.1\r\nHost: a.example.org\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(site.send(chunked).unwrap().status, 400);
    // Without the flag there is no such path.
    assert_eq!(Site::of(&world.path("archive")).get("/issue").status, 404);
}

/// What a client wants of its labels is answered or refused, and never left out in silence.
#[test]
fn a_pair_that_is_not_known_or_wrong_is_refused_by_its_name() {
    let world = World::with_collection();
    let clock = Arc::new(TestClock::at("2026-12-01T12:00:00Z"));
    let (site, [secret, ..]) = issuing(&world, &clock);
    let token = bearer(&secret);
    for (body, name) in [
        ("takes", "takes"),
        ("takes=", "takes"),
        ("takes=Map", "takes"),
        ("takes=type%3DMap", "takes"),
        ("takes=%zz", "takes"),
        ("takes=%ff", "takes"),
        ("takes=%", "takes"),
        ("takes=Map&takes=Map", "takes"),
        ("count=1&takes=Map", "takes"),
        ("takes=Map&count=1", "takes"),
        ("TAKES=Map", "TAKES"),
        ("takes%3DMap", "takes3DMap"),
        ("count=1;takes=Map", "count"),
        ("count=%zz", "count"),
        ("count=-1", "count"),
        ("count=1001", "count"),
        ("ibip=maybe", "ibip"),
        ("prefix=%zz", "prefix"),
        ("=1", ""),
        ("\r\ntakes=Map", "takes"),
    ] {
        let answer = post(&site, &[&token], body);
        let told = format!("notice {{invalid pair {name}}}");
        assert_eq!((answer.status, answer.text().trim_end()), (400, &*told), "{body}");
    }
}

#[test]
fn labels_have_both_forms_and_are_in_order() {
    let world = World::with_collection();
    let settings = world.path("archive/urepo.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replacen("host = ", "ip = \"192.0.2.1\"\nhost = ", 1)).unwrap();
    let clock = Arc::new(TestClock::at("2026-12-01T12:00:00Z"));
    let (site, [secret, ..]) = issuing(&world, &clock);
    let token = bearer(&secret);
    let answer = post(&site, &[&token], "count=1000&ibip=yes");
    let mut names = Vec::new();
    for line in answer.text().lines() {
        let (name, ibip) = line.split_once(' ').unwrap();
        let name: RepositoryName = name.parse().unwrap();
        assert_eq!(ibip.parse::<Ibip>().unwrap().date(), Ok(name.date()), "{line}");
        names.push(name);
    }
    assert_eq!(names.len(), 1000);
    assert!(names.is_sorted_by(|one, other| one < other));
    let plain = post(&site, &[&token], "");
    assert!(plain.text().trim_end().parse::<RepositoryName>().is_ok(), "{}", plain.text());
    let json = post(&site, &[&token, "Accept: application/json"], "count=2&ibip=yes");
    let records: serde_json::Value = serde_json::from_slice(&json.body).unwrap();
    assert_eq!(
        (json.field("content-type"), records.as_array().unwrap().len()),
        ("application/json", 2)
    );
    assert!(records[1]["name"].is_string() && records[1]["ibip"].is_string(), "{records}");
    // The ledger has a line for each batch.
    let log = world.run("-c archive log --json");
    assert_eq!(log.succeeded().matches("\"event\":\"mint\"").count(), 3, "{}", log.stdout);
}

/// Table 6.2 of the generation standard over HTTP: requests at these times get these labels, in both forms; with the
/// prefixes of Algorithms 1 and 5.
#[test]
fn labels_are_those_of_the_worked_example() {
    let rows = generation("ip");
    for (at, row) in rows.iter().enumerate() {
        let world = World::new();
        let (host, prefix) = [
            ("mtc-m18.sid.inpe.br", "sid.inpe.br/mtc-m18"),
            ("mtc-m18.sid.inpe.br:8080", "sid.inpe.br/mtc-m18.8080"),
        ][at % 2];
        let address = text(row, "address");
        let init = format!("init archive --host {host} --ip {address}");
        world.run(&init).succeeded();
        world.set_granularity("archive", "1");
        let clock = Arc::new(TestClock::at("2010-10-20T15:00:00Z"));
        let (site, [secret, ..]) = issuing(&world, &clock);
        let [example] = &generation("distributor")[..] else { panic!() };
        for step in example["steps"].as_array().unwrap() {
            let (seconds, fraction) = step["now"].as_str().unwrap().split_once('.').unwrap();
            let date = Instant::from_nanoseconds(seconds.parse::<i128>().unwrap() * 1_000_000_000);
            clock.set(&date.to_string().replace('Z', &format!(".{fraction}Z")));
            let answer = post(&site, &[&bearer(&secret)], "ibip=yes").text();
            let (name, ibip) = answer.trim_end().split_once(' ').unwrap();
            assert_eq!(name, format!("{prefix}/{}", step["suffix"].as_str().unwrap()));
            let ibip: Ibip = ibip.parse().unwrap();
            assert_eq!(ibip.prefix().to_string(), text(row, "prefix"));
            let seconds = step["date"].as_integer().unwrap();
            assert_eq!(ibip.instant().unwrap().seconds(), i128::from(seconds));
        }
    }
}

/// Clients at a time, and a clock that jumps.
#[test]
fn no_label_is_given_twice_whatever_the_clock_does() {
    let world = World::with_collection();
    let clock = Arc::new(TestClock::at("2026-12-01T12:00:00Z"));
    let (site, [secret, ..]) = issuing(&world, &clock);
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..8_i64 {
            let (site, seen, token, clock) = (&site, &seen, bearer(&secret), &clock);
            scope.spawn(move || {
                for turn in 0..20_i64 {
                    clock.jump(
                        [3, -2500, 900, -7, 61_000, -4000]
                            [usize::try_from((number + turn) % 6).unwrap()],
                    );
                    let answer = post(site, &[&token], "count=7");
                    // A clock that has gone back too far issues nothing.
                    assert!([200, 503].contains(&answer.status), "{}", answer.text());
                    let lines = answer.text();
                    if answer.status == 200 {
                        seen.lock().unwrap().extend(lines.lines().map(str::to_owned));
                    }
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert!(seen.len() > 70, "{}", seen.len());
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
}

/// Two servers of one collection, each of which is killed and started again.
#[test]
fn no_label_is_given_twice_by_servers_that_are_killed() {
    let world = World::with_collection();
    let added = world.run("-c archive serve token add machines --json");
    let added: serde_json::Value = serde_json::from_str(added.succeeded()).unwrap();
    assert_eq!((&added["kind"], &added["name"]), (&"token".into(), &"machines".into()));
    let secret = added["token"].as_str().unwrap().to_owned();
    let seen = Mutex::new(Vec::new());
    let serve = || Running::start(&world, "-c archive serve --issue --listen 127.0.0.1:0");
    drop(serve().stop());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let server = serve();
                    let (address, answers) = (server.1.clone(), AtomicUsize::new(0));
                    std::thread::scope(|scope| {
                        for _ in 0..4 {
                            scope.spawn(|| ask_until_killed(&address, &secret, &seen, &answers));
                        }
                        while answers.load(Ordering::Relaxed) < 20 {
                            std::thread::yield_now();
                        }
                        server.kill();
                    });
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
    let last = world.run("-c archive mint").line();
    assert!(!seen.contains(&last));
}

fn ask_until_killed(address: &str, secret: &str, seen: &Mutex<Vec<String>>, answers: &AtomicUsize) {
    while let Ok(mut stream) = TcpStream::connect(address) {
        let request = format!(
            "POST /issue HTTP/1.1\r\nHost: {address}\r\n{}\r\nConnection: close\r\nContent-Length: 7\r\n\r\ncount=3",
            bearer(secret)
        );
        if stream.write_all(request.as_bytes()).is_err() {
            return;
        }
        let Some(answer) = Answered::read(&mut stream, false) else { return };
        if answer.status == 200 && answer.is_whole {
            seen.lock().unwrap().extend(answer.text().lines().map(str::to_owned));
        }
        answers.fetch_add(1, Ordering::Relaxed);
    }
}

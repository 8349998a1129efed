//! What a stranger can take up is bounded, and others are answered meanwhile.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use urepo::web::listen::Limits;

use super::site::{Answered, Site};
use crate::support::World;

fn site(world: &World, limits: Limits) -> Site {
    Site::with(&[(&world.path("archive"), "a.example.org")], limits, |_| {})
}

/// Whether the server has closed the connection, without or after an answer.
fn is_closed(stream: &mut impl Read) -> bool {
    let ended = stream.read_to_end(&mut Vec::new());
    // The kernel resets a connection whose bytes the server has not read.
    ended.map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |_| true)
}

#[test]
fn slow_heads_are_cut_and_a_good_client_is_answered() {
    let world = World::with_collection();
    let limits = Limits { head: Duration::from_millis(200), ..Limits::default() };
    let site = site(&world, limits);
    let mut silent = site.connect();
    let mut slow = site.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: a.exa").unwrap();
    let mut idle = site.connect();
    idle.write_all(b"GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n").unwrap();
    assert_eq!(Answered::read(&mut idle, false).unwrap().status, 200);
    assert_eq!(site.get("/").status, 200);
    assert!(is_closed(&mut silent) && is_closed(&mut slow) && is_closed(&mut idle));
}

#[test]
fn heads_and_targets_beyond_the_limits_are_refused() {
    let world = World::with_collection();
    let site = site(&world, Limits::default());
    let status = |target: &str, fields: &str| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: a.example.org\r\n{fields}\r\n");
        site.send(head).map(|answer| answer.status)
    };
    assert_eq!(status(&format!("/{}", "a".repeat(20_000)), ""), Some(431));
    assert_eq!(status(&format!("/{}", "a".repeat(8 * 1024)), ""), Some(414));
    assert_eq!(status(&format!("/?{}", "a".repeat(8 * 1024 - 2)), ""), Some(200));
    assert_eq!(status("/", &format!("X: {}\r\n", "a".repeat(20_000))), Some(431));
    assert_eq!(status("/", &"X: a\r\n".repeat(100)), Some(431));
    assert_eq!(status("/", &"X: a\r\n".repeat(50)), Some(200));
}

#[test]
fn connections_of_one_address_and_of_all_are_limited() {
    let world = World::with_collection();
    world.write("file.bin", vec![7; 64 << 20]);
    let name = world.run("-c archive new file.bin").line();
    let file = format!("GET /col/{name}/doc/file.bin HTTP/1.1\r\nHost: a.example.org\r\n\r\n");
    for (limits, begin) in [
        (Limits { of_an_address: 3, ..Limits::default() }, HEALTH),
        // None of them is idle: each has an answer on its way.
        (Limits { connections: 3, ..Limits::default() }, &*file),
    ] {
        let site = site(&world, limits);
        let begins = |stream: &mut std::net::TcpStream| {
            let _ = stream.write_all(begin.as_bytes());
            stream.read_exact(&mut [0; 100]).is_ok()
        };
        let mut open: Vec<_> = (0..3).map(|_| site.connect()).collect();
        assert!(open.iter_mut().all(begins));
        assert!(!asks(&mut site.connect()));
        // A place that is given back is taken again, as soon as the server has seen the end.
        drop(open.pop());
        while !asks(&mut site.connect()) {}
    }
}

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

fn asks(stream: &mut std::net::TcpStream) -> bool {
    let _ = stream.write_all(HEALTH.as_bytes());
    Answered::read(stream, false).is_some()
}

/// One request does not keep a place for good.
#[test]
fn the_connection_that_has_been_idle_longest_makes_room() {
    let world = World::with_collection();
    let site = site(&world, Limits { connections: 3, ..Limits::default() });
    let mut open: Vec<_> = (0..3).map(|_| site.connect()).collect();
    assert!(open.iter_mut().all(asks) && asks(&mut open[0]));
    let mut next = site.connect();
    assert!(asks(&mut next));
    assert!(is_closed(&mut open[1]));
    assert!(asks(&mut open[0]) && asks(&mut open[2]) && asks(&mut next));
    // An address that has its own places full takes none from others.
    let limits = Limits { connections: 3, of_an_address: 3, ..Limits::default() };
    let site = self::site(&world, limits);
    let mut open: Vec<_> = (0..3).map(|_| site.connect()).collect();
    assert!(open.iter_mut().all(asks));
    assert!(!asks(&mut site.connect()));
    assert!(open.iter_mut().all(asks));
}

/// Clients that send nothing do not keep others out.
#[test]
fn silent_connections_make_room() {
    let world = World::with_collection();
    let site = site(&world, Limits { connections: 3, ..Limits::default() });
    let mut busy = site.connect();
    busy.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    assert!(Answered::read(&mut busy, false).is_some());
    let mut silent: Vec<_> = (0..20).map(|_| site.connect()).collect();
    for stream in &mut silent {
        let _ = stream.write_all(b"GET /he");
    }
    for _ in 0..20 {
        assert_eq!(site.get("/healthz").status, 200);
    }
    // The first to be closed is the oldest, and not one that has sent a request.
    assert!(is_closed(&mut silent[0]));
    busy.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    assert!(Answered::read(&mut busy, false).is_some());
}

/// A client that closes its side after the request still takes the answer.
#[test]
fn a_client_that_sends_nothing_more_is_answered() {
    let world = World::with_collection();
    let site = site(&world, Limits::default());
    for _ in 0..20 {
        let mut stream = site.connect();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(Answered::read(&mut stream, false).unwrap().status, 200);
        assert!(is_closed(&mut stream));
    }
}

#[test]
fn a_reader_that_stops_is_cut() {
    let world = World::with_collection();
    world.write("file.bin", vec![7; 64 << 20]);
    let name = world.run("-c archive new file.bin").line();
    let limits = Limits { stalled: Duration::from_millis(200), ..Limits::default() };
    let site = site(&world, limits);
    let mut stream = site.connect();
    let head = format!("GET /col/{name}/doc/file.bin HTTP/1.1\r\nHost: a.example.org\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // Nothing is read until the server has given up: then its end of the connection takes no more.
    while stream.write_all(b"GET /healthz HTTP/1.1\r\n\r\n").is_ok() {
        std::thread::yield_now();
    }
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    assert!(all.len() < 64 << 20, "{}", all.len());
}

/// A stop lets a running download end, and takes nothing new.
#[test]
fn a_stop_lets_running_answers_end() {
    let world = World::with_collection();
    world.write("file.bin", vec![7; 8 << 20]);
    let name = world.run("-c archive new file.bin").line();
    let site = site(&world, Limits::default());
    let mut stream = site.connect();
    let head = format!("GET /col/{name}/doc/file.bin HTTP/1.1\r\nHost: a.example.org\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 100];
    stream.read_exact(&mut first).unwrap();
    let address = site.address;
    let ended = std::thread::spawn(move || drop(site));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > (8 << 20) - 100, "{}", rest.len());
    ended.join().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err());
}

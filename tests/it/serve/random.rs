//! Random hostile requests: no panic, no failure of the server, and no byte from outside of `doc/`.

use std::io::Write as _;

use super::site::{Answered, SERVICE, Site};
use crate::support::World;

const REQUESTS: usize = 10_000;

/// Pieces that targets are made of.
pub(crate) const PIECES: [&str; 44] = [
    "/",
    "//",
    ".",
    "..",
    "/..",
    "/../",
    "%2e",
    "%2E%2e",
    "%2f",
    "%2F",
    "%00",
    "%",
    "%zz",
    "%25",
    "%252e",
    "%5c",
    "\\",
    "?",
    "&",
    "=",
    "#",
    ":",
    "!",
    "+",
    "(",
    ")",
    "(pt-BR)",
    "(oai_dc)",
    "col",
    "doc",
    "item.toml",
    "urepo.toml",
    ".urepo",
    "ledger",
    "000001.jsonl",
    "a.txt",
    "sub",
    "GetFileList",
    "ibiurl.verblist=",
    "servicesubject=urlRequest",
    "@",
    "~",
    "\u{e9}",
    "{x}",
];

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

#[test]
fn no_request_reaches_anything_but_listed_files() {
    let world = World::with_collection();
    world.write("d/a.txt", "a listed file");
    world.write("d/sub/b.txt", "another listed file");
    let name = world
        .run("-c archive new d --title secret-of-the-sidecar -m access=metadata -m access.allow=127.0.0.0/8")
        .line();
    let item = world.path("archive").join(&name);
    std::fs::write(item.join("doc/unlisted.txt"), "secret-of-the-directory").unwrap();
    let settings = world.path("archive/urepo.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("# secret-of-the-settings\n{text}")).unwrap();
    let id = text.lines().find_map(|line| line.strip_prefix("id = \"")).unwrap()[..32].to_owned();
    let site = Site::of(&world.path("archive"));
    let starts = [
        format!("/col/{name}"),
        format!("/col/{name}/doc"),
        format!("/col/{name}/doc/a.txt"),
        format!("/{name}"),
        format!("/{SERVICE}?"),
        "/col/".to_owned(),
        "/".to_owned(),
    ];
    let mut random = Random(20_261_128);
    let mut tally = std::collections::BTreeMap::<u16, usize>::new();
    let mut stream = None;
    for number in 0..REQUESTS {
        let mut target = starts[random.next(starts.len())].clone();
        for _ in 0..random.next(8) {
            target.push_str(PIECES[random.next(PIECES.len())]);
        }
        let accept = ["*/*", "text/html"][random.next(2)];
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: a.example.org\r\nAccept: {accept}\r\nRange: bytes={}-\r\n\r\n",
            random.next(40)
        );
        let connection = stream.get_or_insert_with(|| site.connect());
        let sent = connection.write_all(head.as_bytes());
        let Some(answer) = sent.ok().and_then(|()| Answered::read(connection, false)) else {
            stream = None;
            continue;
        };
        *tally.entry(answer.status).or_default() += 1;
        let body = answer.text();
        assert!(answer.status < 500, "{number} {target}: {answer:?}");
        assert!(
            !body.contains("secret-of-the-settings") && !body.contains("secret-of-the-directory"),
            "{number} {target}"
        );
        assert!(!body.contains(&id) && !body.contains("\"sum\""), "{number} {target}: {body}");
        if !answer.field("location").is_empty() {
            assert!(
                answer.field("location").starts_with("http://a.example.org/"),
                "{number} {target}: {answer:?}"
            );
        }
        if answer.status == 400 || answer.field("connection") == "close" {
            stream = None;
        }
    }
    for status in [200, 302, 400, 404] {
        assert!(tally.contains_key(&status), "{tally:?}");
    }
}

//! Archives that answer by a script, and a resolver of them in this process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use urepo::collection::{ClientAddress, Scheme};
use urepo::resolver::{Addresses, AskLimits, Exposure, RegistryFile, Resolver};
use urepo::web::listen::Limits;

use crate::serve::{Answered, Site};
use crate::support::{TestClock, agent, scratch};

/// The service of the resolver.
pub(super) const SERVICE: &str = "J8LNKB5R7W/3FUQHC5";
/// The item that most tests ask for.
pub(super) const ITEM: &str = "example.org/items/2026/02.02.02.02";
/// Other items.
pub(super) const OTHER: &str = "example.org/items/2026/03.03.03.03";
pub(super) const THIRD: &str = "example.org/items/2026/04.04.04.04";

/// The reaction of an archive to a request.
pub(super) enum Act {
    /// A list of pairs.
    Pairs(String),
    /// These bytes, and then the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes without an end.
    Endless(Vec<u8>),
    /// Nothing, while the connection stays open.
    Hang,
}

/// The item and the verbs that an archive was asked for.
pub(super) struct Asked {
    pub(super) item: String,
    pub(super) verbs: String,
}

type Script = Arc<dyn Fn(&Asked) -> Act + Send + Sync>;

/// An archive with a script.
pub(super) struct Scripted {
    pub(super) name: &'static str,
    pub(super) address: SocketAddr,
    targets: Mutex<Receiver<String>>,
}

/// The identifier of the service of the archive called `name`.
pub(super) fn service(name: &str) -> String {
    format!("example.org/{name}/2026/01.01.01.01")
}

/// An answer of the archive called `name` about an item: the pairs that all have, and `more`.
pub(super) fn pairs(name: &str, item: &str, more: &str) -> Act {
    Act::Pairs(format!(
        "archiveaddress {name}.example.org ibi {{rep {item}}} ibi.archiveservice {{rep {}}} ibi.platformsoftware {{}} {more}",
        service(name)
    ))
}

/// The pairs of a URL of the archive called `name`.
pub(super) fn url(name: &str, relation: &str, state: &str) -> String {
    format!(
        "contenttype{relation} Data state{relation} {state} timestamp{relation} 2026-02-02T02:02:02Z \
         url{relation} http://{name}.example.org/col/{state}{relation} urlkey 1796126400-1234567890"
    )
}

/// A head of plain text.
pub(super) fn plain(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n")
}

impl Scripted {
    pub(super) fn new(
        name: &'static str,
        script: impl Fn(&Asked) -> Act + Send + Sync + 'static,
    ) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (send, targets) = channel();
        let script: Script = Arc::new(script);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (script, send) = (Arc::clone(&script), send.clone());
                std::thread::spawn(move || {
                    converse(&stream.unwrap(), &script, |target| drop(send.send(target)));
                });
            }
        });
        Scripted { name, address, targets: Mutex::new(targets) }
    }

    /// The targets that it was asked for since the last call.
    pub(super) fn targets(&self) -> Vec<String> {
        self.targets.lock().unwrap().try_iter().collect()
    }

    /// The next target, once it is asked for one.
    pub(super) fn next_target(&self) -> String {
        self.targets.lock().unwrap().recv().unwrap()
    }
}

/// Answers the requests of one connection.
fn converse(stream: &TcpStream, script: &Script, record: impl Fn(String)) {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let target = line.split(' ').nth(1).unwrap().to_owned();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        let value = |name: &str| {
            let mut pairs = target.split(['?', '&']);
            let value = pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            value.unwrap_or_default().replace("%20", " ")
        };
        let act = match value("servicesubject").as_str() {
            "inclusionConfirmationRequest" => Act::Pairs("confirmation yes".to_owned()),
            "acknowledgment" => Act::Pairs("notice {acknowledgment received}".to_owned()),
            _ => script(&Asked {
                item: value("parsedibiurl.ibi"),
                verbs: value("parsedibiurl.verblist"),
            }),
        };
        record(target);
        let written = match act {
            Act::Pairs(text) => writer.write_all((plain(text.len()) + &text).as_bytes()),
            Act::Bytes(bytes) => {
                let _ = writer.write_all(&bytes);
                return;
            }
            Act::Endless(bytes) => loop {
                if let Err(error) = writer.write_all(&bytes) {
                    break Err(error);
                }
            },
            Act::Hang => loop {
                std::thread::park();
            },
        };
        if written.is_err() {
            return;
        }
    }
}

/// A resolver of scripted archives, which are included.
pub(super) struct Resolving {
    pub(super) site: Site,
    pub(super) registry: std::path::PathBuf,
    pub(super) clock: Arc<TestClock>,
    _dir: tempfile::TempDir,
}

/// Limits of time that no test reaches; without pauses.
pub(super) fn patient() -> AskLimits {
    let long = std::time::Duration::from_secs(3600);
    AskLimits {
        connect: long,
        answer: long,
        round: long,
        whole: long,
        pause: long,
        acknowledgment: long,
        ..AskLimits::default()
    }
}

/// Limits of time that are reached at once.
pub(super) fn hasty() -> AskLimits {
    let short = std::time::Duration::from_millis(200);
    AskLimits { connect: short, answer: short, round: short, ..patient() }
}

/// A registry with these archives, all included.
pub(super) fn registry(names: &[&str]) -> String {
    let archive = |name: &&str| {
        format!(
            "[[archive]]\nservice = \"{}\"\nsalt = \"00\"\nrounds = 1\nkey = \"00\"\n\
             [archive.included]\naddress = \"{name}.example.org\"\nip = \"192.0.2.1\"\nplatform = \"x\"\n\
             email = \"{name}@example.org\"\nsince = \"2026-01-01T00:00:00Z\"\nconfirmed = true\n",
            service(name)
        )
    };
    names.iter().map(archive).collect()
}

/// Writes a registry that only its owner can read.
pub(super) fn write_registry(path: &std::path::Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let staged = path.with_extension("staged");
    std::fs::write(&staged, text).unwrap();
    std::fs::set_permissions(&staged, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::rename(&staged, path).unwrap();
}

impl Resolving {
    /// A resolver with this registry, whose hosts have the addresses in `hosts`.
    pub(super) fn with(registry: &str, hosts: &str, limits: AskLimits) -> Resolving {
        Resolving::knowing(hosts.parse().unwrap(), registry, limits)
    }

    /// A resolver that finds hosts in this way.
    pub(super) fn knowing(hosts: Addresses, registry: &str, limits: AskLimits) -> Resolving {
        let addresses = ["urlib.net", "www.urlib.net"];
        Resolving::new(&addresses, registry, hosts, limits, ClientAddress::Full)
    }

    /// A resolver whose archives learn so much about readers.
    pub(super) fn with_client(client: ClientAddress, registry: &str, hosts: &str) -> Resolving {
        Resolving::new(&["urlib.net"], registry, hosts.parse().unwrap(), patient(), client)
    }

    /// A resolver with another address.
    pub(super) fn at(address: &str, registry: &str, hosts: &str) -> Resolving {
        let hosts = hosts.parse().unwrap();
        Resolving::new(&[address], registry, hosts, patient(), ClientAddress::Full)
    }

    fn new(
        addresses: &[&str],
        registry: &str,
        hosts: Addresses,
        limits: AskLimits,
        client: ClientAddress,
    ) -> Resolving {
        let dir = scratch();
        let path = dir.path().join("registry.toml");
        write_registry(&path, registry);
        let exposed = Exposure {
            addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
            scheme: Scheme::Http,
            service: SERVICE.parse().unwrap(),
            email: Some("keeper@urlib.net".to_owned()),
            client,
        };
        let clock = Arc::new(TestClock::at("2026-12-01T12:00:00Z"));
        let trusted = ["127.0.0.1", "150.163.68.1", "2001:db8:1::/48"];
        let trusted = trusted.map(|text| text.parse().unwrap()).to_vec();
        let server_limits = Arc::new(Limits { trusted, ..Limits::default() });
        let resolver = Resolver::new(
            exposed,
            RegistryFile::at(&path, "").unwrap(),
            hosts,
            (Arc::clone(&server_limits), limits),
            (agent(), Arc::clone(&clock) as _),
        );
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let site = Site::run(listener, Arc::new(resolver.unwrap()), server_limits);
        Resolving { site, registry: path, clock, _dir: dir }
    }

    /// A resolver of these archives.
    pub(super) fn of(archives: &[Scripted], limits: AskLimits) -> Resolving {
        let names: Vec<&str> = archives.iter().map(|it| it.name).collect();
        Resolving::with(&registry(&names), &hosts(archives), limits)
    }

    pub(super) fn get(&self, target: &str) -> Answered {
        self.site.ask("GET", "urlib.net", target, &[])
    }

    pub(super) fn get_with(&self, target: &str, fields: &[&str]) -> Answered {
        self.site.ask("GET", "urlib.net", target, fields)
    }
}

/// The addresses of archives, as a file of hosts.
pub(super) fn hosts(archives: &[Scripted]) -> String {
    let line = |it: &Scripted| format!("{} {}.example.org", it.address, it.name);
    archives.iter().map(line).collect::<Vec<_>>().join("\n")
}

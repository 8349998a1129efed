//! A server in this process, and a client that sends exactly what it is told to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use urepo::collection::{Collection, Scheme};
use urepo::disk::Watcher;
use urepo::identity::Identifier;
use urepo::serve::{Archive, Exposure, Server, ServiceItem};
use urepo::web::listen::{Limits, Service, listen};

use crate::support::TestClock;

/// The service of all archives of tests: an item that need not be there.
pub(crate) const SERVICE: &str = "example.org/x/2026/01.01.09.09";

/// A server of some collections, until it is dropped.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// The fields, in lower case.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the body is as long as the head says.
    pub(crate) is_whole: bool,
}

impl Answered {
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Reads an answer to a GET, or to a HEAD.
    pub(crate) fn read(stream: &mut impl Read, is_head: bool) -> Option<Answered> {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return None,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let field = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_lowercase(), value.to_owned())
        };
        let fields: Vec<_> = lines.map(field).collect();
        let length = fields.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(0, |(_, value)| value.parse().unwrap());
        let mut body = Vec::new();
        if !is_head && status != 304 {
            let _ = stream.take(length).read_to_end(&mut body);
        }
        let is_whole = is_head || status == 304 || body.len() as u64 == length;
        Some(Answered { status, fields, body, is_whole })
    }
}

impl Site {
    /// Serves the collections at `roots`, each at the address after it, as `change` says.
    pub(crate) fn with(
        roots: &[(&Path, &str)],
        limits: Limits,
        change: impl Fn(&mut Exposure),
    ) -> Site {
        Site::with_service(SERVICE, roots, limits, change)
    }

    /// The same, where the service of each has this name.
    pub(crate) fn with_service(
        service: &str,
        roots: &[(&Path, &str)],
        limits: Limits,
        change: impl Fn(&mut Exposure),
    ) -> Site {
        Site::watched(&Watcher::default(), service, roots, limits, change)
    }

    /// The same, whose operations on files are watched.
    pub(crate) fn watched(
        watcher: &Watcher,
        service: &str,
        roots: &[(&Path, &str)],
        limits: Limits,
        change: impl Fn(&mut Exposure),
    ) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let archives = roots.iter().map(|(root, at)| {
            let collection = Collection::open(root, watcher).unwrap();
            let mut exposed = Exposure {
                address: at.parse().unwrap(),
                scheme: Scheme::Http,
                email: None,
                ip: None,
                resolver_from: Vec::new(),
            };
            change(&mut exposed);
            let name: Identifier = service.parse().unwrap();
            let service = ServiceItem {
                registered: name.clone().into(),
                names: vec![name, "LK47B6W/362SFKH".parse().unwrap()],
                is_new: false,
            };
            Archive::new(collection, exposed, service).unwrap()
        });
        let clock = Arc::new(TestClock::at("2026-12-01T12:00:00Z"));
        let limits = Arc::new(limits);
        let server = Arc::new(Server::new(archives.collect(), Arc::clone(&limits), clock));
        Site::run(listener, server, limits)
    }

    /// Runs a service until the site is dropped.
    pub(crate) fn run<S: Service>(
        listener: TcpListener,
        service: Arc<S>,
        limits: Arc<Limits>,
    ) -> Site {
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let threads = (stopped, vec![tokio::runtime::Handle::current()]);
                listen(listener, service, limits, threads).await;
            });
            // What still runs for nobody ends here.
            runtime.shutdown_background();
        });
        Site { address, stop, thread: Some(thread) }
    }

    /// Serves one collection at `a.example.org`.
    pub(crate) fn of(root: &Path) -> Site {
        Site::with(&[(root, "a.example.org")], Limits::default(), |_| {})
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        // A fault of the server should fail a test, and not hang it.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends `bytes`, and reads one answer.
    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) -> Option<Answered> {
        let mut stream = self.connect();
        let bytes = bytes.as_ref();
        stream.write_all(bytes).unwrap();
        Answered::read(&mut stream, bytes.starts_with(b"HEAD "))
    }

    /// Asks the archive at `host`.
    pub(crate) fn ask(&self, method: &str, host: &str, target: &str, fields: &[&str]) -> Answered {
        let fields = fields.iter().fold(String::new(), |text, field| text + field + "\r\n");
        let text = format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n"
        );
        self.send(text).expect(target)
    }

    /// Gets a target of `a.example.org`.
    pub(crate) fn get(&self, target: &str) -> Answered {
        self.ask("GET", "a.example.org", target, &[])
    }

    /// The same for a browser.
    pub(crate) fn browse(&self, target: &str) -> Answered {
        self.ask("GET", "a.example.org", target, &["Accept: text/html", "Accept-Language: en"])
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take()
            && !std::thread::panicking()
        {
            thread.join().unwrap();
        }
    }
}

//! The common parts of `serve` and `resolver`: threads, listeners, registration keys.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::{Handle, Runtime};
use urepo::disk::{LockError, StoredFile, Watcher};
use urepo::identity::ParseError;
use urepo::sidecar::Network;
use urepo::web::announcement::RegistrationKey;
use urepo::web::listen::Limits;
use urepo::web::private_file::PrivateFileError;

pub(super) use super::resolve::parse;
use crate::cli::Done;
use crate::cli::config::Listening;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::explain::Explain;
use crate::cli::failure::Failure;
use crate::cli::records::web::{Mail, Service};
use crate::cli::shell;

/// Blocking work at a time, such as reads of disks.
const BLOCKING: usize = 64;

/// The default limits on connections, in all and of one address that is not trusted.
const CONNECTIONS: usize = 1024;
const OF_AN_ADDRESS: usize = 64;

/// How often a signal is looked for.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// The flags of all servers. What they do not say is in `[serve]` or `[resolver]` of the settings.
#[derive(Debug, clap::Args)]
pub(super) struct ListenArgs {
    /// The address and port to listen on; port 0 is any free one
    #[arg(long, value_name = "ADDR", env = "UREPO_LISTEN")]
    listen: Option<SocketAddr>,
    /// The addresses of proxies in front, which name their clients; may be repeated
    #[arg(long, value_name = "NETWORK", env = "UREPO_TRUST", value_delimiter = ',')]
    trust: Vec<Network>,
}

impl ListenArgs {
    /// The address to listen on; by default `port` of this machine.
    pub(super) fn listen(&self, settings: &Listening, port: u16) -> Result<SocketAddr, Failure> {
        let usual = SocketAddr::from(([127, 0, 0, 1], port));
        let set = settings.listen.as_deref().map(|text| {
            text.parse().map_err(|_| unusable("listen", text, "an address and a port"))
        });
        Ok(self.listen.or(set.transpose()?).unwrap_or(usual))
    }

    pub(super) fn limits(&self, settings: &Listening) -> Result<Limits, Failure> {
        let network = |text: &String| {
            text.parse().map_err(|_| unusable("trust", text, "a network such as 10.0.0.0/8"))
        };
        let set = || settings.trust.iter().flatten().map(network).collect::<Result<Vec<_>, _>>();
        let trusted = if self.trust.is_empty() { set()? } else { self.trust.clone() };
        let count = |number: Option<u32>, usual| {
            number.map_or(usual, |it| usize::try_from(it).unwrap_or(usize::MAX).max(1))
        };
        let usual = Limits::default();
        Ok(Limits {
            connections: count(settings.connections, CONNECTIONS),
            of_an_address: count(settings.address_connections, OF_AN_ADDRESS),
            trusted,
            ..usual
        })
    }
}

fn unusable(key: &str, text: &str, expected: &str) -> Failure {
    Failure::usage(format!("the setting `{key}` is `{text}`"))
        .caused_by(format!("expected {expected}"))
}

/// The thread of a server that accepts connections, and does what no request waits for.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().map_err(|error| no_threads(&error))
}

/// The threads that serve connections, each with a runtime of its own. They end with the program.
pub(super) fn workers(context: &Context) -> Result<Vec<Handle>, Failure> {
    let count = context.config.jobs.value;
    let worker = |_| {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.max_blocking_threads((BLOCKING / count).max(1)).enable_all();
        let runtime = builder.build()?;
        let handle = runtime.handle().clone();
        let serve = move || runtime.block_on(std::future::pending::<()>());
        std::thread::Builder::new().spawn(serve)?;
        Ok(handle)
    };
    (0..count).map(worker).collect::<io::Result<_>>().map_err(|error| no_threads(&error))
}

fn no_threads(error: &io::Error) -> Failure {
    Failure::new(Exit::Failure, "cannot start threads").caused_by(error.to_string())
}

/// A listener, and its address.
pub(super) fn bind(
    runtime: &Runtime,
    address: SocketAddr,
) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = runtime.block_on(TcpListener::bind(address))?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Why there is no listener.
pub(super) fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    Failure::new(Exit::Failure, format!("cannot listen on {address}"))
        .caused_by(error.to_string())
        .hint("`--listen 127.0.0.1:0` takes any free port; `ss -ltnp` shows who has this one")
}

/// Prints a mail.
pub(super) fn print_mail(context: &Context, subject: &str, text: &str) -> Done {
    if context.printer.json {
        return context.printer.record(&Service::new("mail", Mail { subject, text }));
    }
    context.printer.exact(format!("{subject}\n\n{text}").as_bytes())
}

/// The registration key in a file that only its owner can read.
pub(super) fn key_in(context: &Context, file: &Path) -> Result<RegistrationKey, Failure> {
    let path = context.absolute(file);
    let mut opened = StoredFile::open(&path, Watcher::default())?;
    if opened.stat()?.mode & 0o077 != 0 {
        let message = format!("others can read the registration key in `{}`", path.display());
        return Err(Failure::new(Exit::Failure, message)
            .hint(format!("`chmod 600 {}` closes it", shell::word(&path))));
    }
    let text = String::from_utf8_lossy(&opened.read_all(1024)?).into_owned();
    text.parse().map_err(|error| no_key(&format!("`{}`", path.display()), &error))
}

/// The failure of a place that should have a registration key.
pub(super) fn no_key(place: &str, error: &ParseError) -> Failure {
    Failure::new(Exit::Failure, format!("{place} has no registration key"))
        .caused_by(error.expected())
        .hint("`urepo serve --print-registration --key-file FILE` makes one")
}

impl Explain for PrivateFileError {
    fn explain(&self) -> Failure {
        match self {
            Self::Disk(error) | Self::Lock(LockError::Disk(error)) => error.explain(),
            Self::Lock(LockError::Held { .. }) => {
                Failure::of(Exit::Locked, self).hint("`UREPO_LOCK_WAIT=1m` waits longer")
            }
            Self::Lock(LockError::Interrupted { .. }) => Failure::of(Exit::Interrupted, self),
            Self::Content(..) => Failure::of(Exit::Failure, self)
                .hint("put it back from a backup, or name the file that urepo wrote"),
            Self::Open(path) => Failure::of(Exit::Failure, self)
                .hint(format!("`chmod 600 {}` closes it", shell::word(path))),
        }
    }
}

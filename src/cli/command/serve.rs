//! `urepo serve`: collections on the web.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use urepo::clock::SystemClock;
use urepo::collection::Collection;
use urepo::distributor::ClockTrust;
use urepo::identity::{HostPort, Identifier, ParseError};
use urepo::progress::NoProgress;
use urepo::serve::{Archive, Exposed, Server, ServiceItem, ensure_service, service_of};
use urepo::sidecar::Network;
use urepo::web::listen::{Limits, listen};

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records;

/// Put collections on the web as archives
///
/// Each ROOT is an archive with an address of its own; the host in a request chooses it. An item is at its
/// identifier, with the modifiers of persistent URLs: `/example.org/archive/2026/11.21.02.13!+:`. Its files are below
/// `/col/`, exactly those that its sidecar lists, and never bytes that are known to be damaged. `[access]` of an item
/// decides what a client at an address may read. At the identifier of its archive service, an archive answers the
/// resolver of the IBI standard; the first run deposits that item and writes its identifier into `urepo.toml`.
///
/// The address of each archive, its scheme, its administrator and the base of persistent URLs are read from `[archive]` in
/// `urepo.toml`; flags win over it. TLS is that of a server in front. A first signal lets running downloads end.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo serve
  urepo serve archive --listen 127.0.0.1:8081
  urepo serve archive --address archive.example.org --email keeper@example.org")]
pub(crate) struct Serve {
    /// The collections; the one of -c or around the current directory unless given
    #[arg(value_name = "ROOT")]
    roots: Vec<OsString>,
    /// The address and port to listen on; port 0 is any free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", env = "UREPO_LISTEN")]
    listen: SocketAddr,
    /// The address at which readers reach the archive, HOST[:PORT]; only with one ROOT
    #[arg(long, value_name = "ADDRESS", value_parser = parse::<HostPort>)]
    address: Option<HostPort>,
    /// The item that is the archive service; only with one ROOT
    #[arg(long, value_name = "ID", value_parser = parse::<Identifier>)]
    service: Option<Identifier>,
    /// The mail address of the administrator; only with one ROOT
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// The addresses of proxies in front, which name their clients; may be repeated
    #[arg(long, value_name = "NETWORK", env = "UREPO_TRUSTED_PROXIES", value_delimiter = ',')]
    trust: Vec<Network>,
}

/// Blocking reads of disks at a time.
const READS: usize = 64;

/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(100);

fn parse<T: std::str::FromStr<Err = ParseError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseError| error.expected().to_owned())
}

impl Serve {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collections = self.collections(context)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(context.config.jobs.value)
            .max_blocking_threads(READS)
            .enable_all()
            .build()
            .map_err(|error| {
                Failure::new(Exit::Failure, "cannot start threads").caused_by(error.to_string())
            })?;
        let listener = runtime.block_on(TcpListener::bind(self.listen)).and_then(|listener| {
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, bound) = listener.map_err(|error| {
            Failure::new(Exit::Failure, format!("cannot listen on {}", self.listen))
                .caused_by(error.to_string())
                .hint(
                    "`--listen 127.0.0.1:0` takes any free port; `ss -ltnp` shows who has this one",
                )
        })?;
        let mut archives: Vec<Archive> = Vec::new();
        for collection in collections {
            let exposed = self.exposed(&collection, bound)?;
            if let Some(other) = archives.iter().find(|it| it.exposed().address == exposed.address)
            {
                let path = other.collection().path().display().to_string();
                let message = format!(
                    "two archives have the address {}: `{path}` and `{}`",
                    exposed.address,
                    collection.path().display()
                );
                return Err(Failure::usage(message)
                    .hint("set `address` in `[archive]` of each `urepo.toml`"));
            }
            let Some(service) = self.service(context, &collection)? else { continue };
            if service.is_new {
                let name = service.names.first().map(ToString::to_string).unwrap_or_default();
                context.printer.note(&format!(
                    "deposited the archive service `{name}`, which is now in `urepo.toml`"
                ));
            }
            let archive = Archive::new(collection, exposed, service);
            archives.push(archive.map_err(|error| {
                Failure::new(Exit::Failure, "cannot read random bytes").caused_by(error.to_string())
            })?);
        }
        if context.global.dry_run {
            context.printer.note(&format!("would listen on {bound}"));
            return Ok(());
        }
        let limits = Arc::new(Limits { trusted: self.trust.clone(), ..Limits::default() });
        let server = Arc::new(Server::new(archives, Arc::clone(&limits), Arc::new(SystemClock)));
        announce(context, &server, bound)?;
        runtime.block_on(async {
            let (stop, stopped) = watch::channel(false);
            let listening = tokio::spawn(listen(listener, Arc::clone(&server), limits, stopped));
            while !context.interrupt.requested() && !listening.is_finished() {
                tokio::time::sleep(LOOK).await;
            }
            server.stop();
            context.printer.note("stopping; running downloads may end");
            let _ = stop.send(true);
            let _ = listening.await;
        });
        // A disk that still reads for nobody does not keep the program.
        runtime.shutdown_background();
        Ok(())
    }

    fn collections(&self, context: &Context) -> Result<Vec<Collection>, Failure> {
        let is_of_one = self.address.is_some() || self.service.is_some() || self.email.is_some();
        if self.roots.len() > 1 && is_of_one {
            return Err(Failure::usage(
                "`--address`, `--service` and `--email` are those of one archive",
            )
            .hint("write them into `[archive]` of each `urepo.toml`"));
        }
        if self.roots.is_empty() {
            return Ok(vec![context.collection()?]);
        }
        self.roots.iter().map(|root| context.open_named(root)).collect()
    }

    /// How a collection is exposed by a server that listens on `bound`.
    fn exposed(&self, collection: &Collection, bound: SocketAddr) -> Result<Exposed, Failure> {
        let settings = &collection.settings().archive;
        let named = self.address.clone().or_else(|| settings.address.clone());
        if named.is_none() && bound.ip().is_unspecified() {
            let message = format!(
                "`{}` has no address, and {} is none",
                collection.path().display(),
                bound.ip()
            );
            return Err(Failure::usage(message).hint(
                "`--address archive.example.org`, or `address` in `[archive]` of `urepo.toml`",
            ));
        }
        Ok(Exposed {
            address: named.unwrap_or_else(|| HostPort::of_socket(bound)),
            scheme: settings.scheme,
            email: self.email.clone().or_else(|| settings.email.clone()),
            url_base: settings.url_base.clone(),
        })
    }

    /// The service of an archive; `None` if a dry run would make it.
    fn service(
        &self,
        context: &Context,
        collection: &Collection,
    ) -> Result<Option<ServiceItem>, Failure> {
        let named = self.service.as_ref().or(collection.settings().archive.service.as_ref());
        match named {
            Some(named) => Ok(Some(service_of(collection, named)?)),
            None if context.global.dry_run => {
                context
                    .printer
                    .note("would deposit the archive service, and write it into `urepo.toml`");
                Ok(None)
            }
            None => {
                let issue = context.issue_options(ClockTrust::default());
                Ok(Some(ensure_service(collection, &context.caller(&NoProgress), &issue)?))
            }
        }
    }
}

/// Prints the URL of each archive, once it answers.
fn announce(context: &Context, server: &Server, bound: SocketAddr) -> Done {
    for archive in server.archives() {
        let exposed = archive.exposed();
        let url = format!("{}://{}/", exposed.scheme, exposed.address);
        if context.printer.json {
            context.printer.record(&records::Served {
                url: &url,
                service: &archive.service_url(),
                listen: bound.to_string(),
                collection: &archive.collection().settings().name,
                collection_id: archive.collection().id(),
            })?;
        } else {
            context.printer.line(&url)?;
        }
    }
    Ok(())
}

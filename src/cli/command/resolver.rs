//! `urepo resolver`: persistent URLs lead to the archive that has the item.

mod registration;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use urepo::clock::SystemClock;
use urepo::collection::{ClientAddress, Scheme};
use urepo::disk::{StoredFile, Watcher};
use urepo::identity::{HostPort, Identifier};
use urepo::resolver::{Addresses, AskLimits, Exposure, Resolver};
use urepo::web::listen::listen;

use super::server::{self, ListenArgs, parse};
use crate::cli::Done;
use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::records;
use crate::cli::records::web::Service;

/// Run a resolver, which leads persistent URLs to the archives that have the items
///
/// An archive is registered once, with `urepo resolver register` and the key that its administrator chose, and announces
/// itself while it runs, as `urepo serve` does. The resolver puts each persistent URL to all archives that are included, and
/// redirects the reader to the URL that one of them gives. It stores no item and no answer.
///
/// An archive is asked only at public addresses, unless it is registered with --allow-private, and a redirect leads only to
/// the host that it announced. TLS is that of a server in front. A change of the registry counts at once.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ResolverCommand {
    #[command(subcommand)]
    action: Option<Action>,
    /// The file of the registered archives, which need not exist yet
    #[arg(long, value_name = "FILE", required = true)]
    registry: Option<PathBuf>,
    /// The identifier of the resolver service, which archives send their announcements to
    #[arg(long, value_name = "ID", required = true, value_parser = parse::<Identifier>)]
    service: Option<Identifier>,
    #[command(flatten)]
    listening: ListenArgs,
    /// The address at which readers reach the resolver, HOST[:PORT], for its URLs; further ones are answered, too
    #[arg(long, value_name = "ADDRESS", value_parser = parse::<HostPort>, value_delimiter = ',')]
    address: Vec<HostPort>,
    /// Its URLs begin with https, since a server in front has the certificate
    #[arg(long)]
    https: bool,
    /// The mail address of the administrator, for pages
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// A file of addresses, optionally with a port, and the names of archives that have them
    #[arg(long, value_name = "FILE")]
    hosts: Option<PathBuf>,
    /// The part of a reader's address that archives get
    #[arg(long, value_name = "PART", default_value = "full", value_parser = one_of(&PARTS))]
    client_address: ClientAddress,
}

/// The parts of an address.
const PARTS: [Choice<ClientAddress>; 3] = [
    ("full", "The address", ClientAddress::Full),
    ("network", "Its first 24 bits, or 48 of IPv6", ClientAddress::Network),
    ("none", "Nothing: 0.0.0.0", ClientAddress::None),
];

#[derive(Debug, clap::Subcommand)]
enum Action {
    Register(registration::Register),
    List(registration::List),
    Remove(registration::Remove),
}

/// Most bytes of a file of hosts.
const MOST_HOSTS: u64 = 1024 * 1024;

impl ResolverCommand {
    /// Whether it only answers.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self.action, Some(Action::List(_)))
    }

    pub(crate) fn run(&self, context: &Context) -> Done {
        match &self.action {
            Some(Action::Register(it)) => it.run(context),
            Some(Action::List(it)) => it.run(context),
            Some(Action::Remove(it)) => it.run(context),
            None => self.serve(context),
        }
    }

    fn serve(&self, context: &Context) -> Done {
        let (Some(registry), Some(service)) = (&self.registry, &self.service) else {
            return Err(Failure::usage("`--registry` and `--service` are needed"));
        };
        let registry = registration::registry(context, registry)?;
        let hosts = self.hosts(context)?;
        let runtime = server::runtime()?;
        let settings = &context.config.resolver;
        let address = self.listening.listen(settings, 8081)?;
        let (listener, bound) = server::bind(&runtime, address)
            .map_err(|error| server::cannot_listen(address, &error))?;
        if self.address.is_empty() && bound.ip().is_unspecified() {
            return Err(Failure::usage(format!(
                "the resolver has no address, and {} is none",
                bound.ip()
            ))
            .hint("`--address resolver.example.org`"));
        }
        let usual = vec![HostPort::of_socket(bound)];
        let exposed = Exposure {
            addresses: if self.address.is_empty() { usual } else { self.address.clone() },
            scheme: if self.https { Scheme::Https } else { Scheme::Http },
            service: service.clone(),
            email: self.email.clone(),
            client: self.client_address,
        };
        let limits = Arc::new(self.listening.limits(settings)?);
        let of_server = (Arc::clone(&limits), AskLimits::default());
        let of_process = (context.agent.clone(), Arc::new(SystemClock) as _);
        let resolver = Arc::new(Resolver::new(exposed, registry, hosts, of_server, of_process)?);
        if context.global.dry_run {
            context.printer.note(&format!("would listen on {bound}"));
            return Ok(());
        }
        let (stop, stopped) = watch::channel(false);
        let threads = (stopped, server::workers(context)?);
        let listening = runtime.spawn(listen(listener, Arc::clone(&resolver), limits, threads));
        self.print_address(context, &resolver, bound)?;
        runtime.block_on(async {
            while !context.interrupt.requested() && !listening.is_finished() {
                tokio::time::sleep(server::LOOK).await;
            }
            resolver.stop();
            context.printer.note("stopping");
            let _ = stop.send(true);
            let _ = listening.await;
        });
        runtime.shutdown_background();
        Ok(())
    }

    fn hosts(&self, context: &Context) -> Result<Addresses, Failure> {
        let Some(file) = &self.hosts else { return Ok(Addresses::default()) };
        let path = context.absolute(file);
        let bytes = StoredFile::open(&path, Watcher::default())?.read_all(MOST_HOSTS)?;
        String::from_utf8_lossy(&bytes).parse().map_err(|error: urepo::resolver::HostsError| {
            Failure::usage(format!("`{}` is not a file of hosts", path.display()))
                .caused_by(error.to_string())
        })
    }

    /// Prints the URL of the resolver, once it answers.
    fn print_address(&self, context: &Context, resolver: &Resolver, bound: SocketAddr) -> Done {
        let url = format!("{}/", resolver.base());
        if context.printer.json {
            let service = resolver.service_url();
            let listen = bound.to_string();
            return context.printer.record(&Service::new(
                "resolver",
                records::web::ResolverAddress { url: &url, service: &service, listen },
            ));
        }
        context.printer.line(&url)
    }
}

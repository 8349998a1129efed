//! `urepo serve`: collections on the web.

mod registration;
mod token;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};
use urepo::agent::{Agent, Caller};
use urepo::catalog::RefreshContext;
use urepo::clock::SystemClock;
use urepo::collection::{Collection, IssueOptions, Subsystem};
use urepo::distributor::{ClockTrust, DEFAULT_MAX_WAIT, Patience};
use urepo::identity::HostPort;
use urepo::interrupt::Interrupt;
use urepo::progress::NoProgress;
use urepo::serve::{
    Archive, Exposure, LabelServer, ResolverService, Server, ServiceItem, Status, ensure_service,
    service_of,
};
use urepo::sidecar::ConditionError;
use urepo::wait::Waiter;
use urepo::web::announcement::{RegistrationKey, Subject};
use urepo::web::listen::listen;

use super::server::{self, ListenArgs};
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records;
use crate::cli::records::web::Service;

/// Put collections on the web as archives
///
/// Each ROOT is an archive with an address of its own; the host in a request chooses it. An item is at its
/// identifier, with the modifiers of persistent URLs: `/example.org/archive/2026/11.21.02.13!+:`. Its files are below
/// `/col/`, exactly those that its sidecar lists, and never bytes that are known to be damaged. `[access]` of an item
/// decides what a client at an address may read. At the identifier of its archive service, an archive answers the
/// resolver of the IBI standard; the first run deposits that item and writes its identifier into `urepo.toml`.
///
/// The address of each archive, its scheme, its administrator and the base of persistent URLs are read from `[archive]` in
/// `urepo.toml`. TLS is that of a server in front. A first signal lets running downloads end.
///
/// If `[archive]` names a `resolver`, the archive is announced to it while the server runs, with the key that it is
/// registered with, and withdrawn at the end.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Serve {
    #[command(subcommand)]
    action: Option<Action>,
    /// The collections; the one of -c or around the current directory unless given
    #[arg(value_name = "ROOT")]
    roots: Vec<OsString>,
    #[command(flatten)]
    listening: ListenArgs,
    /// The file with the registration key; only its owner may be able to read it
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Issue identifiers to clients with a token, at `/issue`; only with one ROOT
    #[arg(long)]
    issue: bool,
    /// Announce the archives to their resolver, print what that answers, and stop
    #[arg(long)]
    check: bool,
    /// Print the mail that registers the archive at a resolver, and stop; a missing file of --key-file gets a new key
    #[arg(long, conflicts_with = "check")]
    print_registration: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Token(token::TokenCommand),
}

impl Serve {
    /// Whether it only answers.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(&self.action, Some(Action::Token(it)) if it.is_answer())
    }

    pub(crate) fn run(&self, context: &Context) -> Done {
        if let Some(Action::Token(it)) = &self.action {
            return it.run(context);
        }
        let collections = self.collections(context)?;
        let runtime = server::runtime()?;
        let (listener, bound) = self.listener(context, &runtime)?;
        let (archives, resolvers) = self.archives(context, collections, bound)?;
        if self.print_registration {
            let key = registration::key_or_new(context, self.key_file.as_ref())?;
            return archives.iter().try_for_each(|it| registration::print(context, it, &key));
        }
        let key = registration::key(context, self.key_file.as_deref())?;
        if key.is_none() && resolvers.iter().any(Option::is_some) {
            context.printer.warning(
                "there is no registration key, so nothing is announced: `--key-file` names its file",
            );
        }
        if context.global.dry_run {
            context.printer.note(&format!("would listen on {bound}"));
            return Ok(());
        }
        let limits = Arc::new(self.listening.limits(&context.config.serve)?);
        let labels = self.labels(context, &archives)?;
        let server = Server::new(archives, Arc::clone(&limits), Arc::new(SystemClock));
        let server = Arc::new(server.with_labels(labels));
        let announced: Vec<_> = server
            .archives()
            .iter()
            .zip(resolvers)
            .filter_map(|(archive, resolver)| {
                Some((Arc::clone(archive), (resolver?, key.clone()?)))
            })
            .collect();
        let (stop, stopped) = watch::channel(false);
        let workers = server::workers(context)?;
        let listening = listener.map(|listener| {
            let threads = (stopped.clone(), workers);
            runtime.spawn(listen(listener, Arc::clone(&server), limits, threads))
        });
        if self.check {
            return runtime.block_on(check(context, &announced));
        }
        print_addresses(context, &server, bound)?;
        let Some(listening) = listening else { return Ok(()) };
        runtime.block_on(async {
            let (reports, mut received) = mpsc::unbounded_channel();
            for (archive, at) in announced {
                let reports = reports.clone();
                let report = move |archive: &Archive, outcome| {
                    // At the very end nobody listens any more.
                    let _ = reports.send((archive.exposed().address.clone(), outcome));
                };
                tokio::spawn(archive.keep_announced(at, stopped.clone(), report));
            }
            drop(reports);
            tokio::spawn(follow_ledgers(
                server.archives().to_vec(),
                (context.agent.clone(), context.interrupt.clone()),
                stopped,
            ));
            let mut minutes = tokio::time::interval(MINUTE);
            while !context.interrupt.requested() && !listening.is_finished() {
                tokio::select! {
                    _ = minutes.tick() => write_accesses(context, &server),
                    Some((address, outcome)) = received.recv() => {
                        registration::report(context, &address, &outcome);
                    }
                    () = tokio::time::sleep(server::LOOK) => {}
                }
            }
            server.stop();
            context.printer.note("stopping; running downloads may end");
            let _ = stop.send(true);
            while let Some((address, outcome)) = received.recv().await {
                registration::report(context, &address, &outcome);
            }
            let _ = listening.await;
            write_accesses(context, &server);
        });
        // A disk that still reads for nobody does not keep the program.
        runtime.shutdown_background();
        Ok(())
    }

    /// The label server of the only archive, if one is requested.
    fn labels(
        &self,
        context: &Context,
        archives: &[Archive],
    ) -> Result<Option<LabelServer>, Failure> {
        let [archive] = archives else { return Ok(None) };
        if !self.issue || self.check {
            return Ok(None);
        }
        let own = archive.collection();
        let address = &archive.exposed().address;
        // The standard wants the host and port of a prefix to be those at which its server is reached.
        let is_at = |it: &Subsystem| {
            it.host.to_string() == address.host() && it.port == address.port().unwrap_or(80)
        };
        if !own.settings().subsystems.iter().any(is_at) {
            context.printer.warning(&format!(
                "identifiers are issued at {address}, which is the host of none of their prefixes"
            ));
        }
        let wait = context.config.max_wait.as_ref().map_or(DEFAULT_MAX_WAIT, |found| found.value);
        let options = IssueOptions {
            patience: Patience { lock: wait, date: Some(wait) },
            ..context.issue_options(ClockTrust::default())
        };
        let collection = context.open_named(own.path().as_os_str())?;
        context.check_twins(&collection)?;
        let issuing = (context.agent.clone(), Arc::new(SystemClock) as _);
        let tokens = token::tokens_of(context, own)?;
        Ok(Some(LabelServer::start(collection, tokens, issuing, options)?))
    }

    /// The listener, and its address. A check needs none where a server already runs.
    fn listener(
        &self,
        context: &Context,
        runtime: &Runtime,
    ) -> Result<(Option<TcpListener>, SocketAddr), Failure> {
        let address = self.listening.listen(&context.config.serve, 8080)?;
        if self.print_registration {
            return Ok((None, address));
        }
        match server::bind(runtime, address) {
            Ok((listener, bound)) => Ok((Some(listener), bound)),
            // The server that runs there answers the resolver.
            Err(error) if error.kind() == ErrorKind::AddrInUse && self.check => Ok((None, address)),
            Err(error) => Err(server::cannot_listen(address, &error)),
        }
    }

    /// The archives, and the resolvers that they are announced to.
    fn archives(
        &self,
        context: &Context,
        collections: Vec<Collection>,
        bound: SocketAddr,
    ) -> Result<(Vec<Archive>, Vec<Option<ResolverService>>), Failure> {
        let mut archives: Vec<Archive> = Vec::new();
        let mut resolvers = Vec::new();
        for collection in collections {
            let exposed = exposed(&collection, bound)?;
            let resolver: Option<ResolverService> =
                collection.settings().archive.resolver.as_deref().map(str::parse).transpose()?;
            if resolver.is_some() && exposed.email.is_none() {
                let path = collection.path().display();
                let message =
                    format!("`{path}` has no administrator, and its resolver requires one");
                return Err(
                    Failure::usage(message).hint("set `email` in `[archive]` of its `urepo.toml`")
                );
            }
            if let Some(other) = archives.iter().find(|it| it.exposed().address == exposed.address)
            {
                let both = paths(other.collection(), &collection);
                let message = format!("two archives have the address {}: {both}", exposed.address);
                return Err(Failure::usage(message)
                    .hint("set `address` in `[archive]` of each `urepo.toml`"));
            }
            if let Some(other) = archives.iter().find(|it| it.collection().id() == collection.id())
            {
                let both = paths(other.collection(), &collection);
                let message = format!("one collection cannot be two archives: {both} have one id");
                return Err(Failure::new(Exit::Conflict, message)
                    .hint("give the clone an `id` of its own in its `urepo.toml`"));
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
            resolvers.push(resolver);
        }
        Ok((archives, resolvers))
    }

    fn collections(&self, context: &Context) -> Result<Vec<Collection>, Failure> {
        if self.roots.len() > 1 && self.issue {
            return Err(Failure::usage("`--issue` is that of one archive")
                .hint("start a server for each archive that issues"));
        }
        if self.roots.is_empty() {
            return Ok(vec![context.collection()?]);
        }
        self.roots.iter().map(|root| context.open_named(root)).collect()
    }

    /// The service of an archive; `None` if a dry run would make it.
    fn service(
        &self,
        context: &Context,
        collection: &Collection,
    ) -> Result<Option<ServiceItem>, Failure> {
        let named = collection.settings().archive.service.as_ref();
        match named {
            Some(named) => Ok(Some(service_of(collection, named)?)),
            None if context.global.dry_run => {
                context
                    .printer
                    .note("would deposit the archive service, and write it into `urepo.toml`");
                Ok(None)
            }
            None => {
                context.check_twins(collection)?;
                let issue = context.issue_options(ClockTrust::default());
                Ok(Some(ensure_service(collection, &context.caller(&NoProgress), &issue)?))
            }
        }
    }
}

/// How a collection is exposed by a server that listens on `bound`.
fn exposed(collection: &Collection, bound: SocketAddr) -> Result<Exposure, Failure> {
    let settings = &collection.settings().archive;
    let named = &settings.address;
    if named.is_none() && bound.ip().is_unspecified() {
        let message =
            format!("`{}` has no address, and {} is none", collection.path().display(), bound.ip());
        return Err(
            Failure::usage(message).hint("set `address` in `[archive]` of its `urepo.toml`")
        );
    }
    let resolver_from = settings.resolver_from.iter().map(|text| text.parse());
    let resolver_from = resolver_from.collect::<Result<_, _>>().map_err(|error| {
        let place = format!("`resolver_from` in `{}`", collection.path().display());
        Failure::usage(format!("{place} has a wrong entry"))
            .caused_by(ConditionError::to_string(&error))
    })?;
    Ok(Exposure {
        resolver_from,
        address: named.clone().unwrap_or_else(|| HostPort::of_socket(bound)),
        scheme: settings.scheme,
        email: settings.email.clone(),
        ip: settings.ip,
    })
}

/// The pause between two looks at the ledgers.
const FOLLOWING: Duration = Duration::from_secs(1);

/// Lets the indexes of `archives` follow their ledgers, until `stop` is true.
async fn follow_ledgers(
    mut archives: Vec<Arc<Archive>>,
    (agent, interrupt): (Agent, Interrupt),
    mut stop: watch::Receiver<bool>,
) {
    while !*stop.borrow() && !archives.is_empty() {
        let (agent, interrupt) = (agent.clone(), interrupt.clone());
        let followed = tokio::task::spawn_blocking(move || {
            let (agent, interrupt) = (&agent, &interrupt);
            let (clock, progress, wait) = (&SystemClock, &NoProgress, Duration::ZERO);
            let caller = Caller { agent, clock, wait, progress, interrupt };
            let context = RefreshContext { caller, jobs: 1 };
            let mut pause = FOLLOWING;
            archives.retain(|archive| match archive.follow_ledger(&context) {
                Ok(None) => false,
                Ok(Some(0)) => true,
                outcome => {
                    tracing::debug!(
                        archive = archive.service_url(),
                        ?outcome,
                        "its index is not whole"
                    );
                    // The next time may read all items again.
                    pause = MINUTE;
                    true
                }
            });
            (archives, pause)
        });
        let pause;
        (archives, pause) = followed.await.unwrap_or_default();
        let _ = tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await;
    }
}

/// How often the statistics are written: a kill loses as much.
const MINUTE: Duration = Duration::from_secs(60);

/// Writes the statistics of each archive; what cannot be written is kept for the next time.
fn write_accesses(context: &Context, server: &Server) {
    let state = context.absolute(&context.config.state.value);
    for archive in server.archives() {
        if let Err(error) = archive.write_accesses(&state, &Waiter::default()) {
            let failure = Failure::of(Exit::Failure, &error);
            let text = format!("the access statistics were not written: {}", failure.in_one_line());
            context.printer.warning(&text);
        }
    }
}

/// The paths of two collections.
fn paths(one: &Collection, other: &Collection) -> String {
    format!("`{}` and `{}`", one.path().display(), other.path().display())
}

/// Announces each archive once, and prints the outcomes.
async fn check(
    context: &Context,
    announced: &[(Arc<Archive>, (ResolverService, RegistrationKey))],
) -> Done {
    if announced.is_empty() {
        return Err(Failure::usage("no archive is announced: `[archive]` names no `resolver`, or there is no key")
            .hint("write `resolver = \"http://urlib.net/J8LNKB5R7W/3FUQHC5\"`, and name the key with `--key-file`"));
    }
    let mut failed = None;
    for (archive, (resolver, key)) in announced {
        let found = archive.announce(Subject::Inclusion, resolver, key).await;
        let outcome = registration::outcome(&archive.exposed().address, &found);
        if context.printer.json {
            let announcement = records::web::AnnouncementRecord {
                url: &archive.url(),
                service: &archive.service_url(),
                resolver: resolver.to_string(),
                included: matches!(found, Ok(Status::Included | Status::Unreachable)),
                confirmed: matches!(found, Ok(Status::Included)),
                error: outcome.as_ref().err().map(Into::into),
            };
            context.printer.record(&Service::new("announcement", announcement))?;
        }
        match outcome {
            Ok(_) if context.printer.json => {}
            Ok(text) => context.printer.line(&text)?,
            Err(failure) => {
                if let Some(earlier) = failed.replace(failure) {
                    context.printer.failure(&earlier);
                }
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Prints the URL of each archive, once it answers.
fn print_addresses(context: &Context, server: &Server, bound: SocketAddr) -> Done {
    for archive in server.archives() {
        let url = archive.url();
        if context.printer.json {
            let address = records::web::ArchiveAddress {
                url: &url,
                service: &archive.service_url(),
                listen: bound.to_string(),
                collection: &archive.collection().settings().name,
                collection_id: archive.collection().id(),
            };
            context.printer.record(&Service::new("archive", address))?;
        } else {
            context.printer.line(&url)?;
        }
    }
    Ok(())
}

//! `urepo new`: deposit files and directories.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use urepo::collection::{Collection, Issuer};
use urepo::deposit::{
    DepositError, Depositor, OnError, Options, Outcome, Place, Plan, Request, Source, SourceRule,
    Summary, TwinRule,
};
use urepo::disk::Links;
use urepo::distributor::{ClockTrust, Setting};
use urepo::item::PayloadPath;
use urepo::sidecar::Metadata;

use super::init::SubsystemArgs;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::{Done, human, record};

mod sources;

/// Deposit files and directories as items
///
/// Makes one item of all paths, or one item of each with --each, and prints its permanent name:
/// nothing else is on stdout, so a script can take it. A directory that is the only path becomes the
/// item: its content is kept, not its name. Several paths are kept side by side under their own
/// names. `-` is standard input. When a name is printed, the item is on the disk, whole and synced.
///
/// What is kept: bytes, names, modification times, permission bits, empty directories, and symbolic
/// links that stay inside the item. What is not kept: owners, special permission bits, extended
/// attributes and access control lists; the last three are counted and told.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo new report.pdf --title 'Annual report' --creator 'A. Archivist' --language en
  urepo new --each scans/*.tif
  find incoming -type f -print0 | urepo new --each --files-from0 -
  pg_dump library | urepo new - --as library.sql
  urepo new --move --each /srv/drop/*
  urepo -c archive new thesis/ --init --host archive.example.org")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it is typed")]
pub(crate) struct New {
    /// Files and directories; - is standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Make one item of each path
    #[arg(long)]
    each: bool,
    /// Read more paths from FILE, or standard input (-), each ended by a NUL byte
    #[arg(long, value_name = "FILE")]
    files_from0: Option<PathBuf>,
    /// What the file is called that standard input becomes
    #[arg(long = "as", value_name = "NAME", default_value = "data")]
    stream_name: String,
    #[command(flatten)]
    description: Description,
    /// The file that the bare name opens, below `doc/`; the only file unless given
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Remove the source after the item was read back from the disk and found whole
    #[arg(long = "move")]
    remove: bool,
    /// What to do with symbolic links
    #[arg(long, value_name = "RULE", default_value = "keep")]
    links: LinkRule,
    /// Override a rule: `twins` keeps names that differ in case or Unicode form only
    #[arg(long, value_name = "RULE")]
    force: Vec<Rule>,
    /// After a failed item, go on with the others or stop
    #[arg(long, value_name = "RULE", default_value = "continue")]
    on_error: OnErrorRule,
    /// The subsystem that gives the names, by name or prefix
    #[arg(long, value_name = "NAME", help_heading = "Names")]
    subsystem: Option<String>,
    /// How long to wait for a name, such as 5s or 2m [env: `UREPO_MAX_WAIT`]
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration, help_heading = "Names")]
    pub(crate) max_wait: Option<Duration>,
    /// The clock is right, though it is far ahead of the last name
    #[arg(long, help_heading = "Names")]
    accept_clock: bool,
    /// Make the collection first if it is missing; needs --host, and -c for another place than here
    #[arg(long, requires = "host", help_heading = "Names")]
    init: bool,
    #[command(flatten)]
    made: MadeWith,
}

/// The description of the items.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Description")]
struct Description {
    /// The title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Who made it; may be repeated
    #[arg(long, value_name = "NAME")]
    creator: Vec<String>,
    /// The language of the content, such as en or pt-BR
    #[arg(long, value_name = "TAG")]
    language: Option<String>,
    /// A term of Dublin Core, or a key of your own as x.KEY; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
    /// A TOML file with terms; flags win over it
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,
}

/// The subsystem of the collection that `--init` makes, or the granularity of this run.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Names")]
struct MadeWith {
    /// With --init: the fully qualified host name that names are built from
    #[arg(long, value_name = "FQDN", requires = "init")]
    host: Option<String>,
    /// With --init: the port that names are built from [default: 80]
    #[arg(long, requires = "init")]
    port: Option<u32>,
    /// With --init: the address that opaque names are built from
    #[arg(long, requires = "init")]
    ip: Option<std::net::IpAddr>,
    /// With --init: the port that opaque names are built from [default: 800]
    #[arg(long, requires = "init")]
    ip_port: Option<u32>,
    /// What dates are rounded to: auto, or seconds such as 60, 1, 0.1
    #[arg(long)]
    granularity: Option<Setting>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LinkRule {
    /// Keep links that stay inside the item, refuse those that leave it
    Keep,
    /// Deposit what links point to
    Follow,
    /// Refuse every link
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// Keep names that some file systems take for one
    Twins,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnErrorRule {
    /// Go on with the others
    Continue,
    /// Start nothing more
    Stop,
}

impl New {
    pub(crate) fn run(self: Box<Self>, context: &Context) -> Done {
        let metadata = self.description.metadata()?;
        let target = self.target.as_deref().map(payload_path).transpose()?;
        let options = self.options(context);
        let single = !self.each;
        let requests = sources::Requests::new(&self, metadata, target)?;
        let collection = self.collection(context)?;
        let Some(collection) = collection else {
            return dry_run_without_collection(context);
        };
        if context.global.dry_run {
            return dry_run(context, &collection, &options, requests);
        }
        deposit(context, &collection, &self, options, requests, single)
    }

    fn options(&self, context: &Context) -> Options {
        Options {
            links: match self.links {
                LinkRule::Keep => Links::Keep,
                LinkRule::Follow => Links::Follow,
                LinkRule::Error => Links::Refuse,
            },
            twins: if self.force.contains(&Rule::Twins) {
                TwinRule::Keep
            } else {
                TwinRule::Refuse
            },
            sources: if self.remove { SourceRule::Remove } else { SourceRule::Keep },
            jobs: context.config.jobs.value,
            on_error: match self.on_error {
                OnErrorRule::Continue => OnError::Continue,
                OnErrorRule::Stop => OnError::Stop,
            },
        }
    }

    /// The collection, made on the way if that was asked for; none in a dry run that would make it.
    fn collection(&self, context: &Context) -> Result<Option<Collection>, Failure> {
        let found = context.collection();
        match found {
            Err(failure) if self.init && failure.exit == Exit::NoCollection => {}
            Err(failure) if failure.exit == Exit::NoCollection => {
                return Err(failure.hint("`--init --host FQDN` makes it on the way"));
            }
            Ok(collection) if self.init => {
                self.check_host(&collection)?;
                return Ok(Some(collection));
            }
            found => return found.map(Some),
        }
        let root = match &context.config.collection {
            Some(named) => context.collection_path(&named.value),
            None => context.current.clone(),
        };
        let subsystem = self.made.subsystem().subsystem()?;
        if context.global.dry_run {
            return Ok(None);
        }
        let collection = super::init::make(None, &root, subsystem)?;
        context.printer.note(&format!("made the collection `{}`", collection.path().display()));
        Ok(Some(collection))
    }

    /// A repeated `--init` must mean the collection that is there.
    fn check_host(&self, collection: &Collection) -> Done {
        let wanted = self.made.subsystem().subsystem()?.prefix()?;
        let subsystems = &collection.settings().subsystems;
        if subsystems.iter().any(|subsystem| subsystem.prefix().is_ok_and(|it| it == wanted)) {
            return Ok(());
        }
        let path = collection.path().display();
        Err(Failure::new(
            Exit::Conflict,
            format!("`{path}` is a collection already, of other names"),
        )
        .caused_by(format!("it has no subsystem `{wanted}`"))
        .hint(format!("leave `--init` away, or add the subsystem to `{path}/urepo.toml`")))
    }

    fn trust(&self) -> ClockTrust {
        if self.accept_clock { ClockTrust::Accept } else { ClockTrust::Judge }
    }
}

impl MadeWith {
    fn subsystem(&self) -> SubsystemArgs {
        SubsystemArgs {
            host: self.host.clone(),
            port: self.port.unwrap_or(80),
            ip: self.ip,
            ip_port: self.ip_port.unwrap_or(800),
            granularity: self.granularity.unwrap_or_default(),
        }
    }
}

impl Description {
    fn metadata(&self) -> Result<Metadata, Failure> {
        let mut given = Metadata::default();
        if let Some(title) = &self.title {
            given.add("title", title)?;
        }
        for creator in &self.creator {
            given.add("creator", creator)?;
        }
        if let Some(language) = &self.language {
            given.add("language", language)?;
        }
        for pair in &self.meta {
            let (key, value) = pair.split_once('=').ok_or_else(|| {
                Failure::usage(format!("`--meta {pair}` has no `=`"))
                    .hint("write `--meta key=value`")
            })?;
            given.add(key, value)?;
        }
        let Some(path) = &self.metadata else { return Ok(given) };
        let mut metadata = sources::read_metadata(path)?;
        metadata.override_with(given);
        Ok(metadata)
    }
}

fn payload_path(text: &str) -> Result<PayloadPath, Failure> {
    PayloadPath::new(std::path::Path::new(text)).map_err(|error| {
        Failure::of(Exit::Failure, &error).hint("a path below `doc/`, such as `img/map.png`")
    })
}

fn deposit(
    context: &Context,
    collection: &Collection,
    new: &New,
    options: Options,
    requests: sources::Requests,
    single: bool,
) -> Done {
    let issue = context.issue_options(new.subsystem.as_deref(), new.made.granularity, new.trust());
    let issuer = Issuer::new(collection, &context.agent, &context.clock, &issue)?;
    let writer =
        collection.writer(&context.agent, &context.clock, context.config.lock_wait.value)?;
    let progress = context.progress();
    let depositor = Depositor {
        collection,
        issuer,
        writer,
        options,
        clock: &context.clock,
        progress: &*progress,
        interrupt: &context.interrupt,
    };
    let broken = requests.failure();
    let mut teller = Teller { context, collection, single, alone: None };
    let summary = depositor.run(requests, |outcomes| teller.tell_all(outcomes));
    drop(progress);
    let alone = teller.alone;
    finish(context, summary, alone, broken.take(), single)
}

/// Tells each outcome as it comes.
struct Teller<'a> {
    context: &'a Context,
    collection: &'a Collection,
    single: bool,
    /// The failure of the one item that was asked for: it is told at the end, in full.
    alone: Option<Failure>,
}

impl Teller<'_> {
    /// One write for a whole group: the names leave together.
    fn tell_all(&mut self, outcomes: Vec<Outcome>) -> Result<(), DepositError> {
        let mut text = String::new();
        for Outcome { source, result } in outcomes {
            let line = match result {
                Ok(deposited) => {
                    self.warn(&source, &deposited);
                    if self.context.printer.json {
                        self.record(&source, &deposited).to_string()
                    } else {
                        deposited.label.name.to_string()
                    }
                }
                Err(error) => {
                    let failure = Failure::from(error);
                    let Some(record) = self.tell_failure(&source, failure) else { continue };
                    record
                }
            };
            text += &line;
            text.push('\n');
        }
        let written = self.context.printer.bytes(text.as_bytes());
        let flushed = written.and_then(|()| self.context.printer.flush());
        flushed.map_err(|error| urepo::disk::PathError::new("write to", "stdout", error).into())
    }

    /// Tells a failed item, or gives the record of it for stdout.
    fn tell_failure(&mut self, source: &str, failure: Failure) -> Option<String> {
        let printer = &self.context.printer;
        let record = printer.json.then(|| {
            let message = failure.in_one_line();
            let error = serde_json::json!({ "code": failure.exit.code(), "message": message });
            serde_json::json!({
                "type": "item", "version": 1, "ok": false, "source": source, "error": error,
            })
            .to_string()
        });
        if record.is_none() && !self.single && failure.exit != Exit::Interrupted {
            printer.error(&format!("`{source}` was not deposited: {}", failure.in_one_line()));
        }
        if self.single {
            self.alone = Some(failure);
        }
        record
    }

    fn warn(&self, source: &str, deposited: &urepo::deposit::Deposited) {
        let printer = &self.context.printer;
        let lost = deposited.lost;
        if lost.special_modes > 0 {
            let count = human::count(lost.special_modes, "file");
            printer.warning(&format!("special permission bits of {count} in `{source}` not kept"));
        }
        if lost.extended_attributes > 0 {
            let count = human::count(lost.extended_attributes, "file");
            printer.warning(&format!("extended attributes of {count} in `{source}` not kept"));
        }
        for left in &deposited.left {
            printer.warning(&format!("`{source}` was deposited but not removed: {left}"));
        }
    }

    fn record(&self, source: &str, deposited: &urepo::deposit::Deposited) -> serde_json::Value {
        let name = &deposited.label.name;
        let ibip = deposited.label.ibip.as_ref().map(ToString::to_string);
        let path = self.collection.root().path_of(urepo::layout::item_directory(name));
        let mut record = record::item(name.as_str(), ibip.as_deref(), &path, Some("Original"));
        let fields = serde_json::json!({
            "source": source, "files": deposited.payload.files, "bytes": deposited.payload.bytes,
            "digest": format!("sha256:{}", deposited.payload.digest),
            "source_left": deposited.left,
        });
        record::extend(&mut record, fields);
        record
    }
}

/// Says how the run ended and with which code.
fn finish(
    context: &Context,
    summary: Summary,
    alone: Option<Failure>,
    broken: Option<Failure>,
    single: bool,
) -> Done {
    let printer = &context.printer;
    for notice in &summary.notices {
        printer.warning(&notice.to_string());
    }
    let Summary { deposited, failed, bytes, fatal, .. } = summary;
    let ended = if context.interrupt.requested() {
        let message = format!("interrupted; {} deposited", human::count(deposited, "item"));
        Err(Failure::new(Exit::Interrupted, message)
            .hint("every printed name is whole and on the disk; the others were not begun"))
    } else if let Some(failure) = broken {
        Err(failure)
    } else if let Some(error) = fatal {
        Err(explain_fatal(error, deposited))
    } else if let Some(failure) = alone {
        Err(failure)
    } else if failed > 0 {
        let of = deposited + failed;
        Err(Failure::new(Exit::Partial, format!("{failed} of {of} items were not deposited"))
            .hint("the others are; mend what is named above and repeat with those paths only"))
    } else {
        Ok(())
    };
    if printer.json {
        let code = ended.as_ref().err().map_or(0, |failure| failure.exit.code());
        let record = serde_json::json!({
            "type": "summary", "version": 1, "deposited": deposited, "failed": failed,
            "bytes": bytes, "exit_code": code,
        });
        printer.record(&record).map_err(|error| Failure::of_stdout(&error))?;
    } else if !single {
        let size = human::bytes(bytes);
        printer.detail(&format!("deposited {}, {size}", human::count(deposited, "item")));
    }
    ended
}

/// What ended the whole run before its time.
fn explain_fatal(error: DepositError, deposited: u64) -> Failure {
    let failure = Failure::from(error);
    if deposited == 0 {
        failure
    } else {
        let before = human::count(deposited, "item");
        failure.caused_by(format!("{before} deposited before it are whole and on the disk"))
    }
}

fn dry_run(
    context: &Context,
    collection: &Collection,
    options: &Options,
    requests: sources::Requests,
) -> Done {
    let broken = requests.failure();
    let place = Place::new(collection)?;
    let mut failed = 0_u64;
    for request in requests {
        match Plan::of(&request.source, request.target.as_ref(), options, &place) {
            Ok(plan) => tell_plan(context, &request, &plan)?,
            Err(error) => {
                failed += 1;
                Failure::from(error).tell(&context.printer);
            }
        }
    }
    match broken.take() {
        Some(failure) => Err(failure),
        None if failed > 0 => Err(Failure::told(Exit::Partial)),
        None => Ok(()),
    }
}

fn tell_plan(context: &Context, request: &Request, plan: &Plan) -> Done {
    let source = request.source.describe();
    let printer = &context.printer;
    let told = if printer.json {
        printer.record(&serde_json::json!({
            "type": "plan", "version": 1, "source": source, "files": plan.files(),
            "bytes": plan.bytes, "ok": true,
        }))
    } else {
        let size = match request.source {
            Source::Stream { .. } => "as many bytes as come".to_owned(),
            _ => format!(
                "{}, {}",
                human::count(plan.files() as u64, "file"),
                human::bytes(plan.bytes)
            ),
        };
        for entry in &plan.entries {
            printer.detail(&format!("  doc/{}", entry.path));
        }
        printer.line(&format!("would deposit {source}: {size}"))
    };
    told.map_err(|error| Failure::of_stdout(&error))
}

fn dry_run_without_collection(context: &Context) -> Done {
    context.printer.note("would make the collection first, then deposit into it");
    Ok(())
}

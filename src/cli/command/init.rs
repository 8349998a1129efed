//! `urepo init`: create a collection.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use urepo::collection::{Collection, Subsystem, check_place, check_subsystem, init};
use urepo::disk::Watcher;
use urepo::distributor::Setting;
use urepo::identity::Host;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::OneCollection;
use crate::cli::{Done, shell};

/// Create a collection
///
/// A collection is a directory that holds items. At first it has one identification subsystem: the host name
/// and port that its identifiers are built from. You can add more in `urepo.toml`. Choose a host name that
/// you control: it becomes part of every identifier, but it need not stay online or belong to this machine.
///
/// Several collections of this machine may issue identifiers of one host: each goes on above the last one that any of
/// them issued, which the machine remembers. If the collections of another machine are lost, --with continues
/// above the identifiers that their mirrors hold, or that their ledgers record, and above the present.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo init archive --host archive.example.org
  urepo init maps --host maps.example.org --port 8080 --ip 192.0.2.7
  urepo init again --host lost.example.org --with mirror")]
pub(crate) struct Init {
    /// The directory: created if missing
    pub(crate) root: PathBuf,
    /// Its name for people; the directory's name unless given
    #[arg(long)]
    name: Option<String>,
    /// The fully qualified host name that identifiers are built from
    #[arg(long, value_name = "FQDN", help_heading = "New collection")]
    host: String,
    #[command(flatten)]
    subsystem: SubsystemArgs,
    /// Granularity of dates: auto, or seconds such as 60, 1, 0.1
    #[arg(long, default_value_t = Setting::Auto, help_heading = "New collection")]
    granularity: Setting,
    #[command(flatten)]
    past: PastArgs,
}

/// Options about lost collections of the same host.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "New collection")]
pub(crate) struct PastArgs {
    /// Issue only identifiers later than those in this mirror of a lost collection; may be repeated
    #[arg(long = "with", value_name = "COLLECTION", requires = "host")]
    mirrors: Vec<String>,
}

/// The subsystem of a new collection, besides its host.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "New collection")]
pub(crate) struct SubsystemArgs {
    /// The port that identifiers are built from; 80 is not written
    #[arg(long, default_value_t = 80, requires = "host")]
    port: u32,
    /// The address that IBIps are built from; without it, items get none
    #[arg(long, requires = "host")]
    ip: Option<IpAddr>,
    /// The port that IBIps are built from; 800 is not written
    #[arg(long, default_value_t = 800, requires = "host")]
    ip_port: u32,
}

impl SubsystemArgs {
    pub(super) fn subsystem(&self, host: &str, granularity: Setting) -> Result<Subsystem, Failure> {
        let host: Host = host.parse()?;
        // Each machine has this address, and an IBIp says which machine of the world it is of.
        let is_own = |ip: &IpAddr| ip.is_loopback() || ip.is_unspecified() || ip.is_multicast();
        if let Some(ip) = self.ip.filter(is_own) {
            let what = format!(
                "{ip} is the address of no single machine, so no IBIp can be built from it"
            );
            return Err(Failure::new(Exit::Failure, what).hint(
                "leave `--ip` away: items then have no IBIp; one that is public may be added later",
            ));
        }
        Ok(Subsystem {
            port: port(self.port)?,
            ip: self.ip,
            ip_port: port(self.ip_port)?,
            granularity,
            ..Subsystem::new(host)
        })
    }
}

fn port(number: u32) -> Result<u16, Failure> {
    match u16::try_from(number) {
        Ok(port @ 1..) => Ok(port),
        _ => Err(Failure::new(Exit::Failure, format!("port {number} is not from 1 to 65535"))
            .hint("leave the port away for 80, the port of the Web")),
    }
}

impl Init {
    pub(crate) fn run(&self, context: &Context) -> Done {
        // Without the dot of `init .`.
        let root: PathBuf = context.absolute(&self.root).components().collect();
        let subsystem = self.subsystem.subsystem(&self.host, self.granularity)?;
        let prefix = subsystem.prefix()?;
        if context.global.dry_run {
            self.past.check(context, &root, &subsystem)?;
            context.printer.note(&format!(
                "would create the collection `{}` for identifiers of `{prefix}`",
                root.display()
            ));
            return Ok(());
        }
        let collection = self.past.make(context, self.name.clone(), &root, subsystem)?;
        warn_of_strays(context, &collection)?;
        if context.printer.json {
            return context.printer.record(&OneCollection {
                prefix: Some(prefix.to_string()),
                ..OneCollection::from(&collection)
            });
        }
        context.printer.note(&format!(
            "created the collection `{}`; its identifiers begin with {prefix}/",
            collection.path().display()
        ));
        Ok(())
    }
}

/// A person who makes a collection of a directory with files may think that these are archived.
fn warn_of_strays(context: &Context, collection: &Collection) -> Done {
    let strays = collection.strays()?;
    let Some(first) = strays.first() else { return Ok(()) };
    let (first, root) = (first.display(), collection.path().display());
    let (others, are, them) = match strays.len() - 1 {
        0 => (String::new(), "is not an item", "it"),
        others => (format!(" and {others} more"), "are not items", "them"),
    };
    let printer = &context.printer;
    printer.warning(&format!(
        "`{first}`{others} in `{root}` {are}: no command copies or verifies {them}"
    ));
    printer.hint(&format!(
        "move {them} out of the collection; `urepo new` or `urepo import` then deposits {them}"
    ));
    Ok(())
}

impl PastArgs {
    /// Makes sure that a collection can be made at `root`.
    pub(crate) fn check(&self, context: &Context, root: &Path, subsystem: &Subsystem) -> Done {
        check_place(root)?;
        context.opened(&self.mirrors)?;
        Ok(check_subsystem(subsystem)?)
    }

    /// Makes a collection at `root`, named like its directory unless `name` is given.
    pub(crate) fn make(
        &self,
        context: &Context,
        name: Option<String>,
        root: &Path,
        subsystem: Subsystem,
    ) -> Result<Collection, Failure> {
        let name = name.unwrap_or_else(|| name_of(root));
        let mirrors = context.opened(&self.mirrors)?;
        let founder = context.founder(&mirrors);
        let (collection, notices) = init(root, &name, subsystem, &founder, &Watcher::default())?;
        context.warn_of(&notices);
        Ok(context.attended(collection))
    }
}

/// The default name of a collection.
pub(super) fn name_of(root: &Path) -> String {
    root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned())
}

/// Makes sure that `collection` has the subsystem of `flag`.
pub(super) fn check_host(collection: &Collection, wanted: &Subsystem, flag: &str) -> Done {
    let wanted = wanted.prefix()?;
    let subsystems = &collection.settings().subsystems;
    if subsystems.iter().any(|subsystem| subsystem.prefix().is_ok_and(|it| it == wanted)) {
        return Ok(());
    }
    let path = collection.path().display();
    let settings = shell::word(collection.settings_path());
    Err(Failure::new(
        Exit::Conflict,
        format!("`{path}` is a collection already, with other identifiers"),
    )
    .caused_by(format!("it has no subsystem `{wanted}`"))
    .hint(format!("leave `{flag}` away, or add the subsystem to `{settings}`")))
}

//! `urepo init`: create a collection, of an existing tree if there is one.

mod adopt;
mod report;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use urepo::collection::{
    Collection, Subsystem, check_place, check_subsystem, init, init_without_names,
};
use urepo::disk::Watcher;
use urepo::holdings::UnseenRule;
use urepo::identity::Host;

use crate::cli::choice::{Choice, one_of};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::force::Force;
use crate::cli::records::OneCollection;
use crate::cli::{Done, shell};

/// Create a collection, or take an existing tree in
///
/// A collection is a directory that holds items. At first it has one identification subsystem: the host name
/// and port that its identifiers are built from. You can add more in `urepo.toml`. Choose a host name that
/// you control: it becomes part of every identifier, but it need not stay online or belong to this machine. Without --host
/// the collection issues no identifiers: a mirror needs none.
///
/// Several collections of this machine may issue identifiers of one host: each goes on above the last one that any of
/// them issued, which the machine remembers. If the collections of another machine are lost, --with continues
/// above the identifiers that their mirrors hold, or that their ledgers record, and above the present.
///
/// --adopt turns an existing tree into a collection, in place. The tree has the four levels of identifiers,
/// subdomain/word/year/date, and the files of each item in its `doc`: such as the `col` of a URLib archive, or a tree made
/// by hand. Nothing in it is moved, renamed or changed. Each item gets a sidecar, `item.toml`, with the digests of its
/// files. Other entries are reported and left alone. A repeated run adopts new items only; nothing is ever overwritten. Title,
/// authors and other terms are read from BibTeX, `doc/@reference.bib`, `@reference.bib` and `.reserved/@`; so is the IBIp,
/// without a check. `version = {copy}` in any of them makes the item a Copy; a warning names items whose references
/// contradict each other, and they become Copies. An item does not become an Original if a collection of the settings has, or
/// had, it as the Original, or as a Copy that names its collection. Try --dry-run first: it prints the same lines and writes
/// nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// The directory: created if missing
    pub(crate) root: PathBuf,
    /// Its name for people; the directory's name unless given
    #[arg(long)]
    name: Option<String>,
    /// The fully qualified host name that identifiers are built from, and its port if it is not 80; without it none are issued
    #[arg(long, value_name = "FQDN[:PORT]", help_heading = "New collection")]
    host: Option<String>,
    /// The address that IBIps are built from, and its port if it is not 800; without it, items get none
    #[arg(long, value_name = "IP[:PORT]", requires = "host", help_heading = "New collection")]
    ip: Option<String>,
    #[command(flatten)]
    past: PastArgs,
    /// Take the tree of items at ROOT in, in place
    #[arg(long, help_heading = "Existing tree")]
    adopt: bool,
    /// Its items are Copies, whatever their BibTeX says: of the collection with this id, or `unknown`
    #[arg(long, value_name = "ID", requires = "adopt", value_parser = origin, help_heading = "Existing tree")]
    copy_of: Option<String>,
    /// Override a rule: `missing` takes Originals in though a known collection cannot be opened
    #[arg(long, value_name = "RULE", requires = "adopt", value_parser = one_of(&FORCE), help_heading = "Existing tree")]
    force: Vec<Force>,
}

/// The rules that `--force` overrides here.
const FORCE: [Choice<Force>; 1] =
    [("missing", "Take Originals in though a known collection cannot be opened", Force::Missing)];

/// The id of a collection; empty for an unknown one.
fn origin(text: &str) -> Result<String, String> {
    let is_digit = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    match text {
        "unknown" => Ok(String::new()),
        id if id.len() == 32 && id.bytes().all(is_digit) => Ok(id.to_owned()),
        _ => Err("expected the `id` in the `urepo.toml` of a collection, or `unknown`".to_owned()),
    }
}

/// Options about lost collections of the same host.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "New collection")]
pub(crate) struct PastArgs {
    /// Issue only identifiers later than those in this mirror of a lost collection; may be repeated
    #[arg(long = "with", value_name = "COLLECTION", requires = "host")]
    mirrors: Vec<String>,
}

/// The port of a host that is not written.
const HOST_PORT: u16 = 80;

/// The port of an address that is not written.
const IP_PORT: u16 = 800;

/// The subsystem of a new collection, of `HOST[:PORT]` and `IP[:PORT]`.
pub(super) fn subsystem(host: &str, address: Option<&str>) -> Result<Subsystem, Failure> {
    let (host, port) = match host.rsplit_once(':') {
        Some((host, number)) if number.bytes().all(|it| it.is_ascii_digit()) => {
            (host, port(number, HOST_PORT)?)
        }
        _ => (host, HOST_PORT),
    };
    let host: Host = host.parse()?;
    let (ip, ip_port) = match address.map(ip_and_port).transpose()? {
        Some((ip, port)) => (Some(ip), port),
        None => (None, IP_PORT),
    };
    // Each machine has this address, and an IBIp says which machine of the world it is of.
    let is_own = |ip: &IpAddr| ip.is_loopback() || ip.is_unspecified() || ip.is_multicast();
    if let Some(ip) = ip.filter(is_own) {
        let what =
            format!("{ip} is the address of no single machine, so no IBIp can be built from it");
        return Err(Failure::new(Exit::Failure, what).hint(
            "leave `--ip` away: items then have no IBIp; one that is public may be added later",
        ));
    }
    Ok(Subsystem { port, ip, ip_port, ..Subsystem::new(host) })
}

/// `192.0.2.7`, `192.0.2.7:8000`, `2001:db8::7` or `[2001:db8::7]:8000`.
fn ip_and_port(text: &str) -> Result<(IpAddr, u16), Failure> {
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
    if let Ok(ip) = bare.parse() {
        return Ok((ip, IP_PORT));
    }
    let unknown = || {
        Failure::usage(format!("`{text}` is no IP address"))
            .hint("`192.0.2.7`, `192.0.2.7:8000`, `2001:db8::7` or `[2001:db8::7]:8000`")
    };
    let (ip, number) = text.rsplit_once(':').ok_or_else(unknown)?;
    let ip = ip.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(ip);
    Ok((ip.parse().map_err(|_| unknown())?, port(number, IP_PORT)?))
}

/// The port `text`; `usual` is the one that is not written.
fn port(text: &str, usual: u16) -> Result<u16, Failure> {
    match text.parse() {
        Ok(port @ 1..) => Ok(port),
        _ => Err(Failure::usage(format!("port `{text}` is not from 1 to 65535"))
            .hint(format!("leave it away for {usual}"))),
    }
}

impl Init {
    pub(crate) fn run(&self, context: &Context) -> Done {
        // Without the dot of `init .`.
        let root: PathBuf = context.absolute(&self.root).components().collect();
        let host = self.host.as_deref();
        let wanted = host.map(|host| subsystem(host, self.ip.as_deref())).transpose()?;
        let prefix = wanted.as_ref().map(Subsystem::prefix).transpose()?;
        let name = self.name.as_deref();
        if self.adopt {
            let (root, past, copies_of) = (&*root, &self.past, self.copy_of.as_deref());
            let unseen = Force::Missing.rule(&self.force, UnseenRule::Accept);
            let adoption = adopt::Adoption { root, name, wanted, past, copies_of, unseen };
            return adoption.run(context);
        }
        if context.global.dry_run {
            match &wanted {
                Some(wanted) => self.past.check(context, &root, wanted)?,
                None => check_place(&root)?,
            }
            let which =
                prefix.map_or(NO_NAMES.to_owned(), |it| format!(" for identifiers of `{it}`"));
            let root = root.display();
            context.printer.note(&format!("would create the collection `{root}`{which}"));
            return Ok(());
        }
        let collection = match wanted {
            Some(wanted) => self.past.make(context, name, &root, wanted)?,
            None => make_without_names(context, name, &root)?,
        };
        warn_of_strays(context, &collection)?;
        if context.printer.json {
            let prefix = prefix.map(|it| it.to_string());
            let record = OneCollection { prefix, ..OneCollection::from(&collection) };
            return context.printer.record(&record);
        }
        tell_made(context, &collection);
        Ok(())
    }
}

/// Said of a collection without a subsystem.
const NO_NAMES: &str = ", which issues no identifiers";

/// Says that `collection` was made, and what its identifiers begin with.
fn tell_made(context: &Context, collection: &Collection) {
    let path = collection.path().display();
    let subsystem = collection.settings().subsystems.first();
    let prefix = subsystem.and_then(|it| it.prefix().ok());
    let which =
        prefix.map_or(NO_NAMES.to_owned(), |it| format!("; its identifiers begin with {it}/"));
    context.printer.note(&format!("created the collection `{path}`{which}"));
}

/// Makes a collection at `root` that issues no identifiers, named like its directory unless `name` is given.
fn make_without_names(
    context: &Context,
    name: Option<&str>,
    root: &Path,
) -> Result<Collection, Failure> {
    let name = name.map_or_else(|| name_of(root), str::to_owned);
    Ok(context.attended(init_without_names(root, &name, &context.watcher())?))
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
        name: Option<&str>,
        root: &Path,
        subsystem: Subsystem,
    ) -> Result<Collection, Failure> {
        let name = name.map_or_else(|| name_of(root), str::to_owned);
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

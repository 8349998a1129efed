//! `urepo promote`: Copies become Originals, because the collection of the Originals is lost, or to end a fork.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::Path;

use urepo::collection::{Collection, CollectionError, Writer};
use urepo::custody::Discard;
use urepo::custody::remedy::speaks;
use urepo::disk::Watcher;
use urepo::holdings::{Sight, places};
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::promotion::{Change, Loss, Registrar};
use urepo::sidecar::Sidecar;

use super::given_up;
use crate::cli::confirm::confirm_listed;
use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::known::{Known, Missing};
use crate::cli::records::Item;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, shell};

/// Turn Copies into Originals, because the collection that held those is lost
///
/// An item has one Original. If the collection that held it can never be read again, a Copy takes its place: it is verified
/// byte by byte, the log records when, from which collection and why, and other Copies follow it with the next `urepo copy`.
/// With --all, every Copy from the lost collection is promoted; other items are skipped.
///
/// An item that was changed in two collections has two lines. Promoted in the collection whose line is to go on, without
/// --lost and with --discard, it is the Original, and what the other collection has is behind.
///
/// Nothing is promoted while the lost collection exists, even if it cannot be read, nor while a collection of the settings
/// cannot be opened, nor while another one has a newer state. Name every other mirror with --with: only known mirrors are
/// checked. If a lost collection comes back after all, its Originals are behind: `urepo recover --with COLLECTION` there
/// makes them Copies.
#[derive(Debug, clap::Args)]
pub(crate) struct Promote {
    #[command(flatten)]
    selection: Selection,
    /// A lost collection: its id, its name in the settings, or the path where it was; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    lost: Vec<OsString>,
    /// Why, for the log
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Another mirror, by path or name; may be repeated
    #[arg(long, value_name = "COLLECTION")]
    with: Vec<OsString>,
    /// Give up other contents of the item that a known collection has
    #[arg(long)]
    discard: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Promote {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("promote ITEM… --lost COLLECTION")?;
        if self.lost.is_empty() && !self.selection.names_items() {
            return Err(Failure::usage("without `--lost`, name the items")
                .hint("`urepo status` lists the items that were changed in two collections"));
        }
        let collection = context.collection()?;
        let mut known = context.known(&self.with)?;
        self.refuse_missing(context, &known)?;
        known.collections.retain(|other| other.id() != collection.id());
        let chosen = self.choose(context, &collection)?;
        let lost = self.lost_ids(context, &collection, &known.collections, &chosen)?;
        let is_meant = |name: &RepositoryName| {
            let holders = holders(&collection, &known.collections, name, &lost)?;
            Ok(holders.is_none_or(|it| it.iter().any(|holder| lost.contains(holder))))
        };
        let (mut chosen, mut unread) = (chosen, Vec::new());
        if !self.selection.names_items() {
            chosen.retain(|name| {
                is_meant(name).unwrap_or_else(|error: CollectionError| {
                    unread.push((name.clone(), error));
                    false
                })
            });
        }
        let given_up = self.given_up(&collection, &known.collections, &chosen);
        self.confirm(context, chosen.len(), given_up)?;
        let sight = Sight::of_many(&known.collections);
        let loss = Loss {
            collections: &lost,
            reason: self.reason.as_deref().unwrap_or_default().trim(),
            sight: &sight,
            discard: if self.discard { Discard::Accept } else { Discard::Refuse },
        };
        let is_dry = context.global.dry_run;
        let writer = if is_dry { None } else { Some(context.writer_to_change(&collection)?) };
        let mut report = Report::new(context, Did::Promoted, self.selection.is_single());
        let progress = context.progress();
        let caller = context.caller(&*progress);
        let registrar = Registrar { collection: &collection, writer: writer.as_ref(), caller };
        let told = report.unresolved();
        let mut unread = unread.into_iter();
        let told = told.is_continue()
            && unread.all(|(name, error)| report.failed(name.as_str(), error.into()).is_continue());
        if told {
            // The tally has the reason of an early end.
            let _ = registrar.promote_all(&chosen, &loss, &mut |name, result| match result {
                Ok(Change::Promoted) => {
                    let becomes = ", which becomes the Original";
                    report.outcome(Item::became(name, Did::Promoted), becomes, becomes)
                }
                Ok(Change::Nothing) => {
                    let text = format!("{name} needs no change");
                    report.unchanged(Item::of(name), &text)
                }
                Err(error) => report.failed(name.as_str(), error.into()),
            });
        }
        writer.map_or(Ok(()), Writer::finish)?;
        drop(progress);
        context.tell_unseen(&sight);
        report.finish(End::default())
    }

    /// The selected items.
    fn choose(
        &self,
        context: &Context,
        collection: &Collection,
    ) -> Result<Vec<RepositoryName>, Failure> {
        let mut names = Vec::new();
        self.selection.of(context, collection)?.into_feed()(&mut |name| {
            context.interrupt.flow()?;
            names.push(name);
            ControlFlow::Continue(())
        })?;
        if context.interrupt.requested() {
            return Err(Failure::told(Exit::Interrupted));
        }
        Ok(names)
    }

    /// Refuses while a collection of the settings cannot be opened that is not given as lost: it may have a newer state.
    fn refuse_missing(&self, context: &Context, known: &Known) -> Done {
        let is_lost = |missing: &&Missing| {
            let mut lost = self.lost.iter();
            lost.any(|it| *it == *missing.name || context.collection_path(it) == missing.path)
        };
        let Some(missing) = known.missing.iter().find(|missing| !is_lost(missing)) else {
            return Ok(());
        };
        let message = format!("`{}` cannot be opened and may hold Originals", missing.name);
        let hint = format!(
            "mount it; if it is the lost one, `--lost {}`; if it is gone permanently, take it out of the \
             settings",
            shell::word(&missing.name)
        );
        Err(Failure::new(Exit::Conflict, message).caused_by(missing.reason.clone()).hint(hint))
    }

    /// The ids of the lost collections. For one given by name or path, the holder of the chosen Copies that is not known.
    fn lost_ids(
        &self,
        context: &Context,
        own: &Collection,
        others: &[Collection],
        chosen: &[RepositoryName],
    ) -> Result<Vec<String>, Failure> {
        let (mut lost, mut unnamed) = (Vec::new(), 0);
        for given in &self.lost {
            let is_it = |it: &&Collection| *given == *it.id() || *given == *it.settings().name;
            let at_path =
                there(&context.collection_path(given)).or_else(|failure| match id(given) {
                    // The current directory may be closed to the user.
                    Some(_) => Ok(None),
                    None => Err(failure),
                })?;
            let named = || others.iter().chain([own]).find(is_it).map(|it| it.path().to_path_buf());
            let there = at_path.or_else(named);
            if let Some(path) = there {
                let there = shell::word(&path);
                let message = format!("the collection in {there} is not lost: it can be opened");
                return Err(Failure::new(Exit::Conflict, message).hint(format!(
                    "`urepo -c {there} migrate` hands its Originals over; what is lost there, `urepo -c {there} repair \
                     --from` brings back"
                )));
            }
            match id(given) {
                Some(id) => lost.push(id.to_owned()),
                None => unnamed += 1,
            }
        }
        if unnamed == 0 {
            return Ok(lost);
        }
        let is_known = |id: &str| others.iter().chain([own]).any(|it| it.id() == id);
        let (mut ids, mut unread) = (Vec::new(), None);
        for name in chosen {
            match holders(own, others, name, &[]) {
                Ok(found) => {
                    let mut found = found.into_iter().flatten();
                    ids.extend(found.find(|id| !is_known(id) && !lost.contains(id)));
                }
                Err(error) => unread = Some(error),
            }
        }
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty()
            && let Some(error) = unread
        {
            return Err(error.into());
        }
        match ids.len() {
            1 => {
                lost.extend(ids);
                Ok(lost)
            }
            // One that is named twice, by its id as well.
            0 if !lost.is_empty() || chosen.iter().any(|name| is_original(own, name)) => Ok(lost),
            0 => Err(Failure::new(
                Exit::NoItem,
                "none of these items is a Copy from a collection that cannot be reached",
            )
            .hint("`urepo status` lists Copies without an Original")),
            count => Err(Failure::new(
                Exit::Conflict,
                format!("the Copies are from {count} collections that cannot be reached"),
            )
            .caused_by(ids.join(", "))
            .hint("give the ids of the lost ones with `--lost`")),
        }
    }

    /// What other collections have of the items, and nobody has when the lines here go on.
    fn given_up(
        &self,
        own: &Collection,
        others: &[Collection],
        chosen: &[RepositoryName],
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for name in chosen.iter().filter(|_| self.discard) {
            let read = |it: &Collection| Some(it.item(name).ok()?.sidecar().ok()?.0);
            let Some(kept) = read(own) else { continue };
            for other in others {
                let is_given_up = |lost: &Sidecar| {
                    let is_there = lost.state.has_payload() || lost.state == State::Deleted;
                    is_there && !kept.custody.covers(&lost.custody)
                };
                if let Some(lost) = read(other).filter(is_given_up) {
                    let (root, values) =
                        (shell::word(other.path()), given_up::of_sidecar(&lost, &kept));
                    lines.push(format!("to be given up: {name} in {root}: {values}"));
                }
            }
        }
        lines
    }

    fn confirm(&self, context: &Context, count: usize, given_up: Vec<String>) -> Done {
        if context.global.dry_run || self.yes {
            for line in &given_up {
                context.printer.note(line);
            }
        }
        if context.global.dry_run || count == 0 {
            return Ok(());
        }
        let (copies, originals) = match count {
            1 => ("1 item".to_owned(), "the Original"),
            count => (format!("{count} items"), "Originals"),
        };
        let lost: Vec<_> = self.lost.iter().map(|it| format!("`{}`", it.display())).collect();
        let from = match lost.len() {
            0 => String::new(),
            1 => format!(" from the lost collection {}", lost[0]),
            _ => format!(" from the lost collections {}", lost.join(", ")),
        };
        let question = format!("make {copies} here{from} {originals}?");
        confirm_listed(context, self.yes, given_up, &question)
    }
}

/// The root of the collection at `path`, if there is one. One that cannot be read is not lost.
fn there(path: &Path) -> Result<Option<std::path::PathBuf>, Failure> {
    let error = match Collection::open(path, &Watcher::default()) {
        Ok(collection) => return Ok(Some(collection.path().to_path_buf())),
        Err(CollectionError::NotACollection { .. } | CollectionError::NoSettings { .. }) => {
            return Ok(None);
        }
        Err(error) => Failure::from(error),
    };
    let path = path.display();
    let message = format!("the collection in `{path}` is not lost: it is there and cannot be read");
    let mut failure = Failure::new(Exit::Conflict, message).caused_by(error.message);
    failure.causes.extend(error.causes);
    let remedy = error.hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
    Err(failure.hint(format!(
        "{remedy}if it can never be read again, unmount it or move it away, and repeat"
    )))
}

/// `lost` itself, if it has the form of an id.
fn id(lost: &OsStr) -> Option<&str> {
    let is_id = |text: &&str| text.len() == 32 && text.bytes().all(|it| it.is_ascii_hexdigit());
    lost.to_str().filter(is_id)
}

/// The ids of the collection that has the Original of a Copy here: by all that is in sight, since the Original may have moved on,
/// and by its own sidecar, which alone is asked if it names one of `lost`. `None` for one that is damaged. What the disk does not
/// let be read is not known.
fn holders(
    own: &Collection,
    others: &[Collection],
    name: &RepositoryName,
    lost: &[String],
) -> Result<Option<Vec<String>>, CollectionError> {
    let sidecar = match own.item(name).and_then(|item| item.sidecar()) {
        Ok((sidecar, _)) if sidecar.state.has_payload() => sidecar,
        Ok(_) => return Ok(Some(Vec::new())),
        Err(error) if error.disk().is_some() => return Err(error),
        Err(_) => return Ok(None),
    };
    let named = sidecar.custody.holder().to_owned();
    if lost.contains(&named) {
        return Ok(Some(vec![named]));
    }
    let all: Vec<_> = std::iter::once(own).chain(others).collect();
    let mut unread = Vec::new();
    let places = places(name, &all, &mut unread);
    if let Some((_, error)) = unread.into_iter().find(|(_, error)| error.disk().is_some()) {
        return Err(error);
    }
    let top = speaks(&places).map(|top| top.custody.holder().to_owned());
    Ok(Some(top.into_iter().chain([named]).collect()))
}

/// Whether it is known to be.
fn is_original(collection: &Collection, name: &RepositoryName) -> bool {
    let read = collection.item(name).and_then(|item| item.sidecar());
    read.is_ok_and(|(sidecar, _)| sidecar.state == State::Original)
}

//! `urepo list`: list and search items.

mod search;

use std::ops::ControlFlow;

use urepo::catalog::{CachedLookup, Hit, Lookahead};
use urepo::collection::{Collection, CollectionError, LeftAlone, Listed, Payloads};
use urepo::disk::PathError;
use urepo::identity::{Identifier, RepositoryName};
use urepo::index::Word;
use urepo::item::{State, States};

use crate::cli::context::Context;
use crate::cli::did::Did;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Finding, Item};
use crate::cli::report::{End, Report};
use crate::cli::select::{LIST, Selection, SelectionFlags};
use crate::cli::table::{HIT_KEYS, ITEMS, Table, TableArgs};
use crate::cli::{Done, escape, human};

/// List and search items
///
/// Prints the identifiers of the items that have all WORDS, by date; without WORDS, of all that the collection holds. A word is
/// looked for in descriptions, names of files, paths of sources and identifiers, whatever its case and accents. An argument with
/// a blank is a phrase. The exit code is 21 if no item has all of them.
///
/// `silv*` is the beginning of a word, `not:silva` must not occur. `title:word` and `x.box:'Box 2'` are words in that key,
/// `x.box:=2` is its whole value, `x.box:` any value, and `-x.box:` none. `date:1905..1915`, `date:191X` and `issued:..1915` find
/// dates that may overlap; --since and --until are dates of deposit. Also `file:'*.tif'`, `origin:trip` (the path deposited),
/// `bytes:1M..`, `sha256:9f41c0de`, `content:FILE` (its bytes), `related:ITEM`, and `part_of:ITEM` and the other relations. A
/// whole identifier is that item; other words narrow several of them.
///
/// Items that are deleted or have moved are counted; --state lists them. On a terminal, each has its date and title, and columns are
/// cut to its width. In a pipe, values are complete, separated by tabs, and sizes are bytes.
///
/// Answers to WORDS come from the index, a private cache that is built on first use and then follows the ledger, also with
/// --dry-run. Every item found is compared with its sidecar. `urepo recover --index` builds
/// an index again that the disk has damaged.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Words, or the identifiers of items
    #[arg(value_name = "WORD", value_parser = escape::argument())]
    words: Vec<String>,
    #[command(flatten)]
    flags: SelectionFlags,
    /// Print state, size, number of files and title as well
    #[arg(short, long, conflicts_with_all = ["null", "columns"], help_heading = "Output")]
    long: bool,
    #[command(flatten)]
    table: TableArgs,
}

/// The columns of `--long`.
const LONG: [&str; 5] = ["state", "bytes", "files", "id", "title"];

impl List {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let is_item = |it: &&String| is_item(context, &collection, it);
        let (items, words): (Vec<_>, Vec<_>) = self.words.iter().partition(is_item);
        let selection = Selection::new(items.into_iter().cloned().collect(), self.flags.clone())?;
        if !words.is_empty() {
            return search::run(context, &collection, self, (&selection, &words));
        }
        let table = Table::new(context, &self.table, &ITEMS, self.columns(context))?;
        let depth = match () {
            () if table.needs_only(&["id"]) && self.flags.state.is_none() => Depth::Name,
            () if table.needs_only(&HIT_KEYS) => Depth::Index,
            () => Depth::Sidecar,
        };
        // A named item is listed in any state.
        let held = (!selection.names_items()).then_some(States::WITH_PAYLOAD);
        CachedLookup::new(&collection, context.config.jobs.value).ahead(|known| {
            let mut out = Listing {
                selection: &selection,
                context,
                collection: &collection,
                left_alone: collection.left_alone(),
                payloads: collection.payloads(),
                table,
                depth,
                states: self.flags.state.or(held).unwrap_or(States::ANY),
                known,
                page: Vec::new(),
                gone: 0,
                unreadable: 0,
                unlisted: 0,
            };
            let listed = if selection.names_items() { out.list_named() } else { out.list_all() };
            listed.and_then(|()| out.tell_rest().map(drop)).and_then(|()| out.finish())
        })
    }
}

impl List {
    /// The columns of a table for which none are named.
    fn columns(&self, context: &Context) -> &'static [&'static str] {
        match () {
            () if self.long => &LONG,
            () if context.printer.stdout_width().is_some() => &["id", "date", "title"],
            () => &["id"],
        }
    }
}

/// Whether an argument is the identifier of an item, and no word.
fn is_item(context: &Context, collection: &Collection, text: &str) -> bool {
    if text == LIST {
        return true;
    }
    let words = Word::of_argument(text).unwrap_or_default();
    if words.iter().any(|word| word.key.is_some() || word.is_unwanted) {
        return false;
    }
    match Identifier::read(text) {
        Ok(Identifier::Repository(_)) => true,
        // A search may have such words.
        Ok(_) => context.item(collection, text).is_ok(),
        Err(_) => false,
    }
}

/// Says how many items were left out because their files are not here.
fn tell_gone(context: &Context, gone: u64) {
    if gone > 0 {
        let items = human::count(gone, "item");
        let was = if gone == 1 { "is" } else { "are" };
        context.printer.note(&format!(
            "{items} {was} deleted or elsewhere: `--state Deleted,Elsewhere` lists what remains"
        ));
    }
}

/// Number of items looked up in the index at a time.
const PAGE: usize = 4096;

/// The part of an item that has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    Name,
    /// The data in the index.
    Index,
    Sidecar,
}

struct Listing<'a> {
    selection: &'a Selection,
    context: &'a Context,
    collection: &'a Collection,
    left_alone: LeftAlone<'a>,
    payloads: Payloads<'a>,
    table: Table<'a>,
    depth: Depth,
    /// The wanted states.
    states: States,
    /// The items whose sidecars need not be read.
    known: &'a mut Lookahead,
    /// Names to print, with their records.
    page: Vec<RepositoryName>,
    /// Items left out because their files are not here.
    gone: u64,
    /// Items whose sidecars cannot be read.
    unreadable: u64,
    /// Directories that cannot be listed.
    unlisted: u64,
}

impl Listing<'_> {
    /// The items named one by one, in that order.
    fn list_named(&mut self) -> Done {
        let feed = self.selection.of(self.context, self.collection)?.into_feed();
        let mut stopped = None;
        let fed = feed(&mut |name| {
            let item = match self.collection.named_item(&name) {
                Ok(item) => item,
                Err(error) => {
                    self.context.note_unresolved(name.as_str(), error.into());
                    return ControlFlow::Continue(());
                }
            };
            self.next(item.name().clone()).unwrap_or_else(|failure| {
                stopped = Some(failure);
                ControlFlow::Break(())
            })
        });
        stopped.map_or(Ok(()), Err)?;
        Ok(fed?)
    }

    fn list_all(&mut self) -> Done {
        let names = self.selection.filter(self.context);
        let visited = self.collection.visit_all(&names, |listed| match listed {
            Listed::Item(name) => self.next(name),
            Listed::Stray(_) => Ok(ControlFlow::Continue(())),
            Listed::Link(_, error) | Listed::Unreadable(error) => {
                let flow = self.tell_rest()?;
                self.tell_unlisted(error)?;
                Ok(flow)
            }
        });
        visited.map(drop)
    }

    fn next(&mut self, name: RepositoryName) -> Result<ControlFlow<()>, Failure> {
        if self.context.interrupt.requested() {
            return Err(Failure::told(Exit::Interrupted));
        }
        match self.depth {
            Depth::Name => {
                if self.is_left_alone(&name) || self.is_gone(&name) {
                    return Ok(ControlFlow::Continue(()));
                }
                self.table.row(&name)
            }
            Depth::Sidecar => self.tell_record(&name),
            Depth::Index => {
                self.page.push(name);
                if self.page.len() < PAGE {
                    return Ok(ControlFlow::Continue(()));
                }
                self.look_up()
            }
        }
    }

    /// Looks up the waiting items, and prints those that have been looked up.
    fn look_up(&mut self) -> Result<ControlFlow<()>, Failure> {
        match self.known.add(std::mem::take(&mut self.page)) {
            Some(page) => self.tell_page(page),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// Reports all items that were visited so far.
    fn tell_rest(&mut self) -> Result<ControlFlow<()>, Failure> {
        let mut flow = self.look_up()?;
        while flow.is_continue()
            && let Some(page) = self.known.next()
        {
            flow = self.tell_page(page)?;
        }
        Ok(flow)
    }

    fn tell_page(
        &mut self,
        (names, known): (Vec<RepositoryName>, Vec<Option<Hit>>),
    ) -> Result<ControlFlow<()>, Failure> {
        for (name, known) in names.into_iter().zip(known) {
            if self.tell_described(name, known)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reports an item by its sidecar.
    fn tell_record(&mut self, name: &RepositoryName) -> Result<ControlFlow<()>, Failure> {
        match self.collection.named_item(name).and_then(|item| Ok((item.sidecar()?.0, item))) {
            Ok((sidecar, _)) if !self.wants(sidecar.state) => Ok(ControlFlow::Continue(())),
            Ok((sidecar, item)) => {
                self.table.row(&records::to_json(&Item::described(&item, &sidecar)))
            }
            // One bad item does not end the list; its name is still one.
            Err(error) => self.tell_unreadable(name, error),
        }
    }

    /// Reports an item by its record in the index, which is as good as the sidecar.
    fn tell_described(
        &mut self,
        name: RepositoryName,
        known: Option<Hit>,
    ) -> Result<ControlFlow<()>, Failure> {
        let found = match known {
            Some(found) => found,
            None => match self.collection.named_item(&name).and_then(|item| item.sidecar()) {
                Ok((sidecar, _)) => Hit::in_sidecar(name, &sidecar),
                Err(error) => return self.tell_unreadable(&name, error),
            },
        };
        if !found.state.is_some_and(|state| self.wants(state)) {
            return Ok(ControlFlow::Continue(()));
        }
        self.table.row(&found)
    }

    /// Whether nobody asked for this directory, which an adoption left alone.
    fn is_left_alone(&mut self, name: &RepositoryName) -> bool {
        !self.selection.names_items() && self.left_alone.has(name)
    }

    /// Whether an item in `state` is wanted; one whose files are not here is counted.
    fn wants(&mut self, state: State) -> bool {
        let is_wanted = self.states.contains(state);
        self.gone += u64::from(!is_wanted && self.states == States::WITH_PAYLOAD);
        is_wanted
    }

    /// Whether only what remains of an item is here. One without files is asked for its state: it may be damaged.
    fn is_gone(&mut self, name: &RepositoryName) -> bool {
        if self.states == States::ANY || self.payloads.has(name) {
            return false;
        }
        let read = self.collection.named_item(name).and_then(|item| item.sidecar());
        read.is_ok_and(|(sidecar, _)| !self.wants(sidecar.state))
    }

    fn tell_unreadable(
        &mut self,
        name: &RepositoryName,
        error: CollectionError,
    ) -> Result<ControlFlow<()>, Failure> {
        if self.is_left_alone(name) {
            return Ok(ControlFlow::Continue(()));
        }
        self.unreadable += 1;
        self.table.flush()?;
        let failure = Failure::from(error);
        if self.context.printer.json {
            let error = Some((&failure).into());
            let item = Item::named(self.collection, name);
            self.context.printer.record(&Item { error, ..item })?;
        } else {
            self.context.printer.error(&failure.in_one_line());
        }
        Ok(ControlFlow::Continue(()))
    }

    /// A directory that cannot be listed does not end the list.
    fn tell_unlisted(&mut self, error: PathError) -> Done {
        self.unlisted += 1;
        self.table.flush()?;
        let path = records::path(error.path());
        let failure = Failure::from(error);
        if self.context.printer.json {
            return self.context.printer.record(&Finding {
                path: Some(path),
                kind: Some("unlisted"),
                severity: "unread".to_owned(),
                message: failure.in_one_line(),
                hint: failure.hint,
                ..Finding::default()
            });
        }
        self.context.printer.error(&failure.in_one_line());
        Ok(())
    }

    /// The result of the list.
    fn finish(mut self) -> Done {
        let listed = self.table.finish()?;
        let is_single = self.selection.is_single();
        let mut failed = Vec::new();
        if self.unreadable > 0 {
            let items = human::count(self.unreadable, "item");
            failed.push(format!("the sidecars of {items} cannot be read"));
        }
        if self.unlisted > 0 {
            failed.push(format!("{} cannot be listed", human::count(self.unlisted, "directory")));
        }
        let wanted = self.selection.filter(self.context);
        let displaced = if self.selection.names_items() {
            0
        } else {
            self.collection.displaced(&wanted)?.len() as u64
        };
        if displaced > 0 {
            failed.push(format!("interrupted swaps displaced {}", human::count(displaced, "item")));
        }
        let partial = (!failed.is_empty()).then(|| {
            Failure::new(Exit::Partial, failed.join(", and ")).hint(if displaced > 0 {
                "`urepo recover` puts displaced items back; `urepo verify --quick` lists what is wrong"
            } else {
                "`urepo verify --quick` lists what is wrong with them"
            })
        });
        tell_gone(self.context, self.gone);
        let mut report = Report::reading(self.context, Did::Sound, is_single);
        report.summary.counts.items = listed;
        report.summary.counts.failed = self.unreadable;
        report.count("unlisted_directories", self.unlisted);
        let is_dated = wanted.since.is_some() || wanted.until.is_some();
        let closing = (listed == 0 && is_dated).then(|| {
            "no item was deposited then: `urepo list date:1905..1915` searches the dates of documents"
                .to_owned()
        });
        report.finish(End { partial, closing, ..End::default() })
    }
}

//! `urepo list`: the names there are.

use std::ops::ControlFlow;

use urepo::catalog::{CachedLookup, Hit};
use urepo::collection::{Collection, CollectionError, Listed, Names};
use urepo::disk::PathError;
use urepo::identity::{Instant, Prefix, RepositoryName};
use urepo::item::State;

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human::parse_time;
use crate::cli::records::{self, Directory, Item};
use crate::cli::report::{End, Report};
use crate::cli::{Done, escape, human};

/// List the items of a collection
///
/// Prints the names in order of prefix and date, as they are read: a collection may hold millions.
/// Without --long, --state and --json the sidecars are not opened; with --long and --state only those
/// are that the index (`urepo index`), where there is one, does not know as they are now.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo list
  urepo list --long --since 2026-01-01
  urepo list --prefix example.org/archive -0 | xargs -0 urepo show")]
pub(crate) struct List {
    /// Show state, size and title as well
    #[arg(short, long)]
    long: bool,
    /// Only identifiers of this prefix: subdomain/word[.port]
    #[arg(long)]
    prefix: Option<Prefix>,
    /// Only items in this state: Original, Copy or Deleted
    #[arg(long)]
    state: Option<State>,
    /// Only items named at or after this time, such as 2026-01-31 or 2026-01-31T12:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Instant>,
    /// End each name with a NUL byte
    #[arg(short = '0', long, conflicts_with = "long")]
    null: bool,
}

impl List {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let wanted = Names { prefix: self.prefix.clone() };
        let mut out = Listing {
            list: self,
            context,
            collection: &collection,
            known: CachedLookup::new(&collection),
            page: Vec::new(),
            unreadable: 0,
            unlisted: 0,
            listed: 0,
        };
        let visited = collection.visit_all(&wanted, |listed| {
            if context.interrupt.requested() {
                return Err(Failure::told(Exit::Interrupted));
            }
            match listed {
                Listed::Item(name) => out.tell(&name)?,
                Listed::Stray(_) => {}
                Listed::Unreadable(error) => {
                    out.tell_page()?;
                    out.tell_unlisted(error)?;
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        visited.and_then(|_| out.tell_page()).and_then(|()| out.finish())
    }
}

/// Number of items looked up in the index at a time.
const PAGE: usize = 512;

struct Listing<'a> {
    list: &'a List,
    context: &'a Context,
    collection: &'a Collection,
    /// What need not be read.
    known: CachedLookup<'a>,
    /// Names that are to be told with what is known of them.
    page: Vec<RepositoryName>,
    /// Items whose sidecars cannot be read.
    unreadable: u64,
    /// Directories that cannot be listed.
    unlisted: u64,
    listed: u64,
}

/// State, size, number of files, name and title.
pub(crate) fn in_columns(found: &Hit) -> String {
    let Hit { name, state, files, bytes, title } = found;
    let state = state.map_or("unread".to_owned(), |state| state.to_string());
    let title = escape::one_line(title.as_deref().unwrap_or_default());
    let line = format!("{state:<8}  {:>9}  {files:>6}  {name}  {title}", human::bytes(*bytes));
    line.trim_end().to_owned()
}

impl Listing<'_> {
    fn tell(&mut self, name: &RepositoryName) -> Done {
        if self.list.since.is_some_and(|since| name.instant() < since) {
            return Ok(());
        }
        if self.context.printer.json {
            return self.tell_record(name);
        }
        if !self.list.long && self.list.state.is_none() {
            return self.tell_written(self.tell_name(name.as_str()));
        }
        self.page.push(name.clone());
        if self.page.len() < PAGE { Ok(()) } else { self.tell_page() }
    }

    fn tell_written(&mut self, written: Done) -> Done {
        self.listed += 1;
        written
    }

    /// Tells the items that wait for it.
    fn tell_page(&mut self) -> Done {
        let names = std::mem::take(&mut self.page);
        let known = self.known.of(&names);
        for (name, known) in names.into_iter().zip(known) {
            self.tell_described(name, known)?;
        }
        Ok(())
    }

    /// Tells everything of an item.
    fn tell_record(&mut self, name: &RepositoryName) -> Done {
        match self.collection.item(name).and_then(|item| Ok((item.sidecar()?.0, item))) {
            Ok((sidecar, _)) if !self.is_wanted(sidecar.state) => Ok(()),
            Ok((sidecar, item)) => {
                self.tell_written(self.context.printer.record(&Item::described(&item, &sidecar)))
            }
            // One bad item does not end the list; its name is still one.
            Err(error) => self.tell_unreadable(name, error),
        }
    }

    /// Tells an item in one line. What the index knows is as good as the sidecar.
    fn tell_described(&mut self, name: RepositoryName, known: Option<Hit>) -> Done {
        let found = match known {
            Some(found) => found,
            None => match self.collection.item(&name).and_then(|item| item.sidecar()) {
                Ok((sidecar, _)) => Hit::in_sidecar(name, &sidecar),
                Err(error) => return self.tell_unreadable(&name, error),
            },
        };
        if !found.state.is_some_and(|state| self.is_wanted(state)) {
            return Ok(());
        }
        self.tell_written(if self.list.long {
            self.context.printer.line(&in_columns(&found))
        } else {
            self.tell_name(found.name.as_str())
        })
    }

    fn is_wanted(&self, state: State) -> bool {
        self.list.state.is_none_or(|wanted| wanted == state)
    }

    fn tell_name(&self, name: &str) -> Done {
        if self.list.null {
            return self.context.printer.exact(format!("{name}\0").as_bytes());
        }
        self.context.printer.line(name)
    }

    fn tell_unreadable(&mut self, name: &RepositoryName, error: CollectionError) -> Done {
        self.unreadable += 1;
        let failure = Failure::from(error);
        if self.context.printer.json {
            let error = Some((&failure).into());
            let item = Item::named(self.collection, name);
            return self.context.printer.record(&Item { error, ..item });
        }
        self.context.printer.error(&failure.in_one_line());
        Ok(())
    }

    /// A directory that cannot be listed does not end the list.
    fn tell_unlisted(&mut self, error: PathError) -> Done {
        self.unlisted += 1;
        let path = records::path(error.path());
        let failure = Failure::from(error);
        if self.context.printer.json {
            return self.context.printer.record(&Directory { path, error: (&failure).into() });
        }
        self.context.printer.error(&failure.in_one_line());
        Ok(())
    }

    /// How the list ended.
    fn finish(&self) -> Done {
        let mut failed = Vec::new();
        if self.unreadable > 0 {
            let items = human::count(self.unreadable, "item");
            failed.push(format!("the sidecars of {items} cannot be read"));
        }
        match self.unlisted {
            0 => {}
            1 => failed.push("1 directory cannot be listed".to_owned()),
            count => failed.push(format!("{count} directories cannot be listed")),
        }
        let wanted = Names { prefix: self.list.prefix.clone() };
        let displaced = self.collection.displaced(&wanted)?.len() as u64;
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
        let mut report = Report::reading(self.context, "listed", false);
        report.summary.counts.items = self.listed;
        report.summary.counts.failed = self.unreadable;
        report.count("unlisted_directories", self.unlisted);
        report.finish(End { partial, ..End::default() })
    }
}

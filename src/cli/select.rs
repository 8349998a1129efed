//! The selection of items for a command: named one by one, in a list, or by filters.

mod list;
mod selected;

use urepo::clock::Clock as _;
use urepo::collection::{Collection, Names};
use urepo::identity::{Prefix, RepositoryName};
use urepo::item::States;
use urepo::transfer::Tombstones;

pub(crate) use self::selected::Selected;
use super::context::Context;
use super::failure::Failure;
use super::when::When;
use super::{Done, escape};

/// The ITEM that stands for the list on standard input.
pub(crate) const LIST: &str = "-";

/// The selected items.
#[derive(Debug, clap::Args)]
pub(crate) struct Selection {
    /// The items: identifiers, IBIps, links, paths in the collection, or the ends of identifiers; - reads them from standard
    /// input, ended by line breaks or NUL bytes, each up to the first tab
    #[arg(value_name = "ITEM", value_parser = escape::argument(), conflicts_with_all = ["all", "prefix", "since", "until"])]
    pub(crate) items: Vec<String>,
    #[command(flatten)]
    pub(crate) flags: SelectionFlags,
}

/// The selected items, without those named one by one.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SelectionFlags {
    #[command(flatten)]
    pub(crate) names: NameFlags,
    /// Only items in these states: Original, Copy, Elsewhere, Deleted, with commas between them, or any
    #[arg(long, value_name = "STATE,…", help_heading = "Selection")]
    pub(crate) state: Option<States>,
}

/// The selection flags for items without a reliable state: those in the trash, and damaged ones.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct NameFlags {
    /// All items
    #[arg(long, help_heading = "Selection")]
    all: bool,
    /// Only items of this prefix: subdomain/word[.port]
    #[arg(long, help_heading = "Selection")]
    prefix: Option<Prefix>,
    /// Only items named at or after this time: 2026, 2026-11, 2026-11-22, 2026-11-22T12:00:00Z, or an age: 7d, 12h
    #[arg(long, value_name = "TIME", value_parser = When::parse, help_heading = "Selection")]
    since: Option<When>,
    /// Only items named before the end of this year, month, day or time
    #[arg(long, value_name = "TIME", value_parser = When::parse, help_heading = "Selection")]
    until: Option<When>,
}

impl From<NameFlags> for SelectionFlags {
    fn from(names: NameFlags) -> SelectionFlags {
        SelectionFlags { names, state: None }
    }
}

impl NameFlags {
    /// Whether items are selected by filters.
    fn is_listing(&self) -> bool {
        self.all || self.prefix.is_some() || self.since.is_some() || self.until.is_some()
    }
}

impl Selection {
    /// The items named `items`, or those of `flags`.
    pub(crate) fn new(
        items: Vec<String>,
        flags: impl Into<SelectionFlags>,
    ) -> Result<Selection, Failure> {
        let flags = flags.into();
        if !items.is_empty() && flags.names.is_listing() {
            let item = &items[0];
            return Err(Failure::usage(format!(
                "`{item}` cannot be used with `--all` and the like"
            ))
            .hint("name the items, or leave them out and select them all"));
        }
        Ok(Selection { items, flags })
    }

    /// The selected listing, if it is not single items: its size is known beforehand.
    pub(crate) fn listing(&self, context: &Context) -> Option<Names> {
        (!self.names_items() && self.flags.state.is_none()).then(|| self.filter(context))
    }

    /// The selected items if none are named.
    pub(crate) fn filter(&self, context: &Context) -> Names {
        let now = context.clock.now();
        Names {
            prefix: self.flags.names.prefix.clone(),
            since: self.flags.names.since.map(|it| it.first(now)),
            until: self.flags.names.until.map(|it| it.end(now)),
        }
    }

    /// Makes sure that something is meant; `usage` is how the command is typed.
    pub(crate) fn check(&self, usage: &str) -> Done {
        if !self.is_empty() {
            return Ok(());
        }
        Err(Failure::usage("no item was given")
            .hint(format!("`urepo {usage}`, or `--all` for every item")))
    }

    /// Whether any items are selected.
    pub(crate) fn is_empty(&self) -> bool {
        let is_listing = self.flags.names.is_listing() || self.flags.state.is_some();
        self.items.is_empty() && !is_listing
    }

    /// Whether a single item was named, which ends with its own failure.
    pub(crate) fn is_single(&self) -> bool {
        self.items.len() == 1 && !self.has_list()
    }

    /// All items do not include deleted ones, unless these are selected.
    pub(crate) fn tombstones(&self) -> Tombstones {
        let asked = self.names_items() || self.flags.state.is_some();
        if asked { Tombstones::Refuse } else { Tombstones::Pass }
    }

    /// Whether the items are named on the command line alone, whatever their state.
    pub(crate) fn are_typed(&self) -> bool {
        !self.items.is_empty() && !self.has_list() && self.flags.state.is_none()
    }

    /// Whether the items are named, one by one or in a list.
    pub(crate) fn names_items(&self) -> bool {
        !self.items.is_empty()
    }

    /// Whether standard input names items.
    fn has_list(&self) -> bool {
        self.items.iter().any(|it| it == LIST)
    }

    /// The items of `collection` that are meant. The context notes what means none.
    pub(crate) fn of<'a>(
        &'a self,
        context: &'a Context,
        collection: &'a Collection,
    ) -> Result<Selected<'a>, Failure> {
        let find = |text: &str| Ok(collection.find(text)?.name().clone());
        let selected = self.named(context, find)?;
        Ok(Selected { collection: Some(collection), ..selected })
    }

    /// The named items; `find` finds those whose text is not a whole identifier.
    pub(crate) fn named<'a>(
        &'a self,
        context: &'a Context,
        find: impl Fn(&str) -> Result<RepositoryName, Failure> + Send + 'a,
    ) -> Result<Selected<'a>, Failure> {
        Ok(Selected {
            selection: self,
            collection: None,
            find: Box::new(find),
            listing: self.filter(context),
            list: self.has_list().then(|| context.list()).transpose()?,
            context,
            leaves_out_gone: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::cli::args::definitions;

    const FLAGS: [&str; 5] = ["all", "prefix", "since", "state", "until"];

    /// Commands that select items by all flags but --state, with the reason.
    const WITHOUT_STATE: [(&str, &str); 4] = [
        ("purge", "items in the trash have no state"),
        ("repair", "a damaged item has no reliable state"),
        ("restore", "items in the trash have no state"),
        ("verify", "no state of an item that is damaged or gone can be trusted"),
    ];

    /// Commands about items without selection flags, with the reason.
    const EXCEPTIONS: [(&str, &str); 6] = [
        ("cat", "one file of one item"),
        ("log", "its dates are those of events"),
        ("meta edit", "one description in an editor"),
        ("open", "items on the screen, a few at a time"),
        ("recover", "a loss is given up item by item"),
        ("serve token add", "its --prefix is that of new identifiers"),
    ];

    /// The commands that take items, each with its selection flags.
    fn commands(command: &clap::Command, path: &str, found: &mut BTreeMap<String, Vec<String>>) {
        for part in command.get_subcommands().filter(|it| it.get_name() != "help") {
            let path = format!("{path} {}", part.get_name()).trim().to_owned();
            commands(part, &path, found);
            let names =
                part.get_positionals().flat_map(|it| it.get_value_names().unwrap_or_default());
            let takes_items = names.into_iter().any(|name| name.contains("ITEM"));
            let shown = part.get_arguments().filter(|it| !it.is_hide_set());
            let longs = shown.filter_map(clap::Arg::get_long);
            let mut flags: Vec<_> =
                longs.filter(|it| FLAGS.contains(it)).map(str::to_owned).collect();
            flags.sort();
            if takes_items || !flags.is_empty() {
                found.insert(path, flags);
            }
        }
    }

    #[test]
    fn every_command_that_takes_items_has_the_same_flags_to_select_them() {
        let mut found = BTreeMap::new();
        commands(&definitions(), "", &mut found);
        assert!(found.len() > 15, "{found:?}");
        for (command, flags) in &found {
            let find =
                |list: &'static [(&str, &str)]| list.iter().find(|(name, _)| name == command);
            let (exception, stateless) = (find(&EXCEPTIONS), find(&WITHOUT_STATE));
            let is_wanted = |flag: &&str| *flag != "state" || stateless.is_none();
            // The --state of `repair` means something else.
            let found = flags.iter().map(String::as_str).filter(is_wanted);
            let is_whole = found.eq(FLAGS.into_iter().filter(is_wanted));
            assert!(is_whole != exception.is_some(), "{command}: {flags:?} {exception:?}");
        }
        for (name, reason) in EXCEPTIONS.into_iter().chain(WITHOUT_STATE) {
            assert!(found.contains_key(name), "{name} needs no exception: {reason}");
        }
    }
}

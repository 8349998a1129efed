//! `urepo config`: each setting and where it comes from.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use urepo::collection::discover;
use urepo::distributor::DEFAULT_MAX_WAIT;

use crate::cli::Done;
use crate::cli::config::{Origin, StateDirectory, files};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::{self, Setting};

/// Show each setting and where it comes from
///
/// The command line wins over UREPO_* variables, they over the collection's `urepo.toml`, that over
/// the user's file and the machine's.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo config
  urepo config --json")]
pub(crate) struct Config {}

impl Config {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let mut rows = Vec::new();
        let config = &context.config;
        match &config.collection {
            Some(found) => {
                let path = context.collection_path(&found.value).display().to_string();
                rows.push(("collection".to_owned(), path, found.origin.to_string()));
            }
            None => {
                if let Ok(path) = discover::enclosing(&context.current) {
                    let path = path.display().to_string();
                    rows.push(("collection".to_owned(), path, "current directory".to_owned()));
                }
            }
        }
        let jobs = &config.jobs;
        rows.push(("jobs".to_owned(), jobs.value.to_string(), jobs.origin.to_string()));
        let wait = &config.lock_wait;
        rows.push(("lock-wait".to_owned(), format!("{:?}", wait.value), wait.origin.to_string()));
        let (wait, origin) = match &config.max_wait {
            Some(found) => (found.value, found.origin.clone()),
            None => (DEFAULT_MAX_WAIT, Origin::Default),
        };
        rows.push(("max-wait".to_owned(), format!("{wait:?}"), origin.to_string()));
        let machine = config.machine_id.as_ref();
        let origin = machine.map_or(Origin::Default, |found| found.origin.clone());
        rows.push(("machine-id".to_owned(), context.agent.machine_id.clone(), origin.to_string()));
        let (StateDirectory::Chosen(state) | StateDirectory::Usual(state)) = &config.state.value;
        let state = state.display().to_string();
        rows.push(("state".to_owned(), state, config.state.origin.to_string()));
        for found in &config.distributors {
            let path = found.value.display().to_string();
            rows.push(("distributors".to_owned(), path, found.origin.to_string()));
        }
        let exclude = &config.exclude;
        for pattern in &exclude.value {
            rows.push(("exclude".to_owned(), pattern.clone(), exclude.origin.to_string()));
        }
        if exclude.value.is_empty() {
            rows.push(("exclude".to_owned(), String::new(), exclude.origin.to_string()));
        }
        for (name, found) in &config.collections {
            let path = found.value.display().to_string();
            rows.push((format!("collections.{name}"), path, found.origin.to_string()));
        }
        // The settings of a broken collection are often asked for: show the others, and the reason.
        let broken = match context.collection() {
            Ok(collection) => {
                rows.extend(of_collection(&collection)?);
                None
            }
            Err(failure) => Some(failure),
        };
        tell(context, &rows)?;
        match broken {
            // Outside every collection there is none to be shown.
            Some(failure) if config.collection.is_some() || failure.exit != Exit::NoCollection => {
                Err(failure)
            }
            _ => Ok(()),
        }
    }
}

type Row = (String, String, String);

fn of_collection(collection: &urepo::collection::Collection) -> Result<Vec<Row>, Failure> {
    let settings = collection.settings();
    let origin = collection.settings_path().display().to_string();
    let mut rows = vec![
        ("id".to_owned(), settings.id.clone(), origin.clone()),
        ("name".to_owned(), settings.name.clone(), origin.clone()),
        (
            "copies".to_owned(),
            settings.copies.to_string(),
            if settings.copies == 0 { Origin::Default.to_string() } else { origin.clone() },
        ),
    ];
    for subsystem in &settings.subsystems {
        let prefix = subsystem.prefix()?;
        let name = subsystem.name.clone().unwrap_or_else(|| prefix.to_string());
        let value = format!("{prefix}, granularity {}", subsystem.granularity);
        rows.push((format!("subsystem.{name}"), value, origin.clone()));
    }
    Ok(rows)
}

fn tell(context: &Context, rows: &[Row]) -> Done {
    let printer = &context.printer;

    if printer.json {
        let mut settings = BTreeMap::<&str, Setting<'_>>::new();
        for (key, value, origin) in rows {
            match settings.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(Setting { value: value.clone(), origin });
                }
                Entry::Occupied(mut entry) => entry.get_mut().value += &format!(", {value}"),
            }
        }
        let files = files().iter().map(|path| path.display().to_string()).collect();
        printer.record(&records::Config { settings, files })
    } else {
        let width = |of: fn(&Row) -> &String| rows.iter().map(|row| of(row).len()).max();
        let key_width = width(|row| &row.0).unwrap_or(0);
        let value_width = width(|row| &row.1).unwrap_or(0).min(40);
        let mut text = String::new();
        for (key, value, origin) in rows {
            text += &format!("{key:<key_width$}  {value:<value_width$}  # {origin}\n");
        }
        for path in files() {
            let reads = if path.exists() { "was read" } else { "does not exist" };
            text += &format!("# {} {reads}\n", path.display());
        }
        printer.lines(&text)
    }
}

//! `urepo status --settings`: each setting and where it comes from.

use std::fmt::Display;
use std::path::Path;

use urepo::collection::discover;
use urepo::distributor::DEFAULT_MAX_WAIT;

use crate::cli::Done;
use crate::cli::config::{Listening, Origin, Sourced, files};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::Setting;

pub(super) fn run(context: &Context) -> Done {
    let mut rows = Vec::new();
    let mut row = |key: &str, value: String, origin: &dyn Display| {
        rows.push((key.to_owned(), value, origin.to_string()));
    };
    let config = &context.config;
    let path = |path: &Path| path.display().to_string();
    match &config.collection {
        Some(found) => {
            row("collection", path(&context.collection_path(&found.value)), &found.origin);
        }
        None => {
            if let Ok(root) = discover::enclosing(&context.current) {
                row("collection", path(&root), &"current directory");
            }
        }
    }
    row("jobs", config.jobs.value.to_string(), &config.jobs.origin);
    row("lock_wait", format!("{:?}", config.lock_wait.value), &config.lock_wait.origin);
    row("peer_wait", format!("{:?}", config.peer_wait.value), &config.peer_wait.origin);
    let wait = Sourced { value: DEFAULT_MAX_WAIT, origin: Origin::Default };
    let wait = config.max_wait.as_ref().unwrap_or(&wait);
    row("max_wait", format!("{:?}", wait.value), &wait.origin);
    row("color", config.color.value.to_string(), &config.color.origin);
    row("progress", config.progress.value.to_string(), &config.progress.origin);
    let texts = [
        ("languages", &config.languages),
        ("opener", &config.opener),
        ("subsystem", &config.subsystem),
    ];
    for (key, found) in texts {
        if let Some(found) = found {
            row(key, found.value.clone(), &found.origin);
        }
    }
    let machine = config.machine_id.as_ref().map_or(&Origin::Default, |found| &found.origin);
    row("machine_id", context.agent.machine_id.clone(), machine);
    row("state", path(&config.state.value), &config.state.origin);
    let exclude = &config.exclude;
    for pattern in &exclude.value {
        row("exclude", pattern.clone(), &exclude.origin);
    }
    if exclude.value.is_empty() {
        row("exclude", String::new(), &exclude.origin);
    }
    for (name, found) in &config.collections {
        row(&format!("collections.{name}"), path(&found.value), &found.origin);
    }
    for (name, found) in [("serve", &config.serve), ("resolver", &config.resolver)] {
        let Listening { listen, trust, connections, address_connections } = found;
        let values = [
            ("listen", listen.clone()),
            ("trust", trust.as_ref().map(|it| it.join(", "))),
            ("connections", connections.map(|it| it.to_string())),
            ("address_connections", address_connections.map(|it| it.to_string())),
        ];
        for (key, value) in values {
            if let Some(value) = value {
                row(&format!("{name}.{key}"), value, &"config.toml");
            }
        }
    }
    // For a collection with broken settings, the others are shown, with the reason.
    let broken = match context.collection() {
        Ok(collection) => {
            rows.extend(of_collection(&collection)?);
            None
        }
        Err(failure) => Some(failure),
    };
    tell(context, &rows)?;
    match broken {
        // Outside every collection there is none to show.
        Some(failure) if config.collection.is_some() || failure.exit != Exit::NoCollection => {
            Err(failure)
        }
        _ => Ok(()),
    }
}

type Row = (String, String, String);

fn of_collection(collection: &urepo::collection::Collection) -> Result<Vec<Row>, Failure> {
    let settings = collection.settings();
    let origin = collection.settings_path().display().to_string();
    let mut rows = vec![
        ("id".to_owned(), collection.id().to_owned(), origin.clone()),
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
        rows.iter().try_for_each(|(key, value, from)| printer.record(&Setting { key, value, from }))
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

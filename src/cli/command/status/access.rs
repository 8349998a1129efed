//! How often items were fetched from the archive service.

#![cfg(feature = "serve")]

use std::collections::BTreeMap;

use urepo::serve::{AccessLine, Accesses, access_lines};

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::human;
use crate::cli::records::web::{AccessRecord, Service};
use crate::cli::table::{Cell, Grid};

/// Access statistics.
#[derive(Debug, clap::Args)]
pub(super) struct Access {
    /// Print how often items were fetched from `urepo serve` on this machine, the most often last; of an ITEM, by day
    #[arg(
        long,
        value_name = "ITEM",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["with", "View"]
    )]
    access: Option<String>,
}

impl Access {
    pub(super) fn is_requested(&self) -> bool {
        self.access.is_some()
    }

    pub(super) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let text = self.access.as_deref().unwrap_or_default();
        let item = match text {
            "" => None,
            text => Some(context.item(&collection, text)?.name().clone()),
        };
        let state = context.absolute(&context.config.state.value);
        let lines = access_lines(&state.join(collection.id()))?;
        let rows: Vec<(String, Accesses)> = if let Some(item) = &item {
            let of_item = lines.into_iter().filter(|line| line.id == *item);
            of_item.map(|AccessLine { day, accesses, .. }| (day, accesses)).collect()
        } else {
            let mut all: BTreeMap<_, Accesses> = BTreeMap::new();
            for line in lines {
                all.entry(line.id).or_default().add(line.accesses);
            }
            let all = all.into_iter().map(|(id, accesses)| (id.to_string(), accesses));
            let mut rows: Vec<_> = all.collect();
            rows.sort_by_key(|(_, accesses)| accesses.fetched);
            rows
        };
        if context.printer.json {
            return rows.iter().try_for_each(|(subject, accesses)| {
                let (id, day) = match &item {
                    Some(item) => (item.to_string(), Some(subject.as_str())),
                    None => (subject.clone(), None),
                };
                context.printer.record(&Service::new("access", AccessRecord { id, day, accesses }))
            });
        }
        let terminal = context.printer.stdout_width();
        let size = |bytes: u64| match terminal {
            Some(_) => human::bytes(bytes),
            None => bytes.to_string(),
        };
        let cells = |(subject, accesses): (String, Accesses)| {
            let Accesses { acknowledged, fetched, robots, bytes } = accesses;
            let numbers = [fetched, robots, acknowledged].map(|it| Cell::number(it.to_string()));
            let mut row = numbers.to_vec();
            row.extend([Cell::number(size(bytes)), Cell::whole(&subject)]);
            row
        };
        let subject = if item.is_some() { "day" } else { "id" };
        let headings = ["fetched", "robots", "acknowledged", "bytes", subject].map(str::to_owned);
        let rows = rows.into_iter().map(cells).collect();
        let lines = Grid::new(headings.to_vec(), terminal).lines(rows);
        lines.iter().try_for_each(|line| context.printer.line(line))
    }
}

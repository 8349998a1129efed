//! Work on each of the items that a command line selects.

use std::ops::ControlFlow;

use urepo::collection::{Collection, StoredItem};
use urepo::identity::RepositoryName;
use urepo::transfer::Tombstones;

use super::Done;
use super::context::Context;
use super::did::Did;
use super::failure::Failure;
use super::report::{End, Report, for_one};
use super::select::{Selected, Selection};

impl Context {
    /// Does `act` with each selected item. A single item ends with its own failure; `usage` is the command as
    /// typed.
    pub(crate) fn for_each_selected(
        &self,
        selection: &Selection,
        usage: &str,
        mut act: impl FnMut(&Collection, &StoredItem) -> Done,
    ) -> Done {
        selection.check(usage)?;
        let collection = self.collection()?;
        if selection.is_single() && selection.flags.state.is_none() {
            let only = &selection.items[0];
            return for_one(self, only, || act(&collection, &self.item(&collection, only)?));
        }
        let mut report = Report::reading(self, Did::Sound, false);
        let selected = selection.of(self, &collection)?;
        self.read_selected(selected, &collection, &mut report, |item| act(&collection, item))?;
        report.finish(End::default())
    }

    /// Does `act` with each selected item of `collection`, and reports the failures.
    pub(crate) fn read_selected(
        &self,
        selected: Selected<'_>,
        collection: &Collection,
        report: &mut Report<'_>,
        mut act: impl FnMut(&StoredItem) -> Done,
    ) -> Done {
        let fed = selected.into_feed()(&mut |name| {
            self.interrupt.flow()?;
            let read = collection.named_item(&name).map_err(Failure::from);
            match read.and_then(|item| act(&item)) {
                Ok(()) => report.succeeded(Ok(())),
                Err(failure) => report.failed(name.as_str(), failure),
            }
        });
        if let Err(error) = fed {
            report.fatal(error.into());
        }
        Ok(())
    }

    /// The selected items of `collection`, each once. All items do not include deleted ones, unless these are
    /// selected. A text that is not an item counts as failed.
    pub(crate) fn selected_names(
        &self,
        selection: &Selection,
        collection: &Collection,
        report: &mut Report<'_>,
    ) -> Result<Vec<RepositoryName>, Failure> {
        let passes_tombstones = matches!(selection.tombstones(), Tombstones::Pass);
        let (mut names, mut payloads) = (Vec::new(), collection.payloads());
        selection.of(self, collection)?.with_payload().into_feed()(&mut |name| {
            self.interrupt.flow()?;
            // An unreadable item is reported in its turn.
            if !passes_tombstones || payloads.is_gone(&name) != Some(true) {
                names.push(name);
            }
            ControlFlow::Continue(())
        })?;
        let _ = report.unresolved();
        Ok(names)
    }
}

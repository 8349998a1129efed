//! Writing the sidecars of staged items.

use super::group::{LabeledItem, Staged};
use super::{DepositError, LeftOut, PayloadPath};
use crate::collection::Writer;
use crate::item::Content;
use crate::sidecar::{Files, Sidecar};

/// Writes sidecars into the stage.
pub(super) struct SidecarWriter<'a> {
    pub writer: &'a Writer,
    /// How many are written at a time: creating files is most of the work on small items.
    pub jobs: usize,
}

impl SidecarWriter<'_> {
    /// Writes all sidecars, with a result for each.
    pub(super) fn write_all(&self, named: &[LabeledItem]) -> Vec<Result<(), DepositError>> {
        let share = named.len().div_ceil(self.jobs).max(LEAST_SHARE);
        let write =
            |share: &[LabeledItem]| share.iter().map(|named| self.write(named)).collect::<Vec<_>>();
        if named.len() <= share {
            return write(named);
        }
        std::thread::scope(|threads| {
            let shares = named.chunks(share);
            let shares: Vec<_> = shares.map(|share| threads.spawn(move || write(share))).collect();
            shares.into_iter().flat_map(join).collect()
        })
    }

    fn write(&self, named: &LabeledItem) -> Result<(), DepositError> {
        let LabeledItem { staged, label, here } = named;
        let sidecar = Sidecar {
            state: here.state,
            repository: label.name.clone(),
            ibip: label.ibip.clone(),
            // One reading of the clock, unless the name is older than the item.
            created: staged.given.label.as_ref().map_or(here.changed, |given| given.date),
            timestamp: here.changed,
            described: None,
            target: staged.target.clone().or_else(|| only_file(staged)),
            transferable: staged.given.conditions.transferable,
            access: staged.given.conditions.access.clone(),
            custody: here.custody.clone(),
            metadata: staged.metadata.clone(),
            relations: staged.given.relations.clone(),
            origin: origin(staged),
            removal: None,
            payload: staged.payload,
            files: Files::default(),
        };
        let mut file = self.writer.create_sidecar(&staged.item)?;
        let mut bytes = 0;
        sidecar.write_with(&staged.done.entries, |piece| {
            bytes += piece.len() as u64;
            file.write_all(piece)
        })?;
        if sidecar.check_writable(bytes).is_err() {
            return Err(DepositError::TooManyFiles { path: staged.source.clone().into() });
        }
        Ok(())
    }
}

/// The key of `[origin]` with the paths left out of the source, relative to `doc/`.
pub(crate) const LEFT_OUT: &str = "left_out";

/// The key of `[origin]` with the number of paths left out, if [`LEFT_OUT`] does not list all.
const LEFT_OUT_TOTAL: &str = "left_out_total";

/// The most paths that [`LEFT_OUT`] lists.
const MOST_LEFT_OUT: usize = 1_000;

/// Limit on the bytes of those paths, so that the room for entries does not depend on them.
const MOST_LEFT_OUT_BYTES: usize = 64 * 1024;

/// Minimum number of sidecars worth another thread.
const LEAST_SHARE: usize = 32;

/// The result of a thread; its panic continues in this one.
fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The file that the bare identifier opens if there is only one.
fn only_file(staged: &Staged) -> Option<PayloadPath> {
    let mut files = staged
        .done
        .entries
        .iter()
        .filter(|entry| matches!(entry.content, Content::File { .. }))
        .map(|entry| &entry.path);
    match (files.next(), files.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

fn origin(staged: &Staged) -> toml::Table {
    use std::os::unix::ffi::OsStrExt;
    let mut origin = toml::Table::new();
    if let Some(source) = &staged.origin {
        let text = crate::item::escape(source.as_os_str().as_bytes()).into_owned();
        origin.insert("source".to_owned(), toml::Value::String(text));
    }
    if !staged.left_out.is_empty() {
        let mut bytes = 0;
        let is_listed = |it: &&LeftOut| {
            bytes += it.path.as_bytes().len();
            bytes <= MOST_LEFT_OUT_BYTES
        };
        let listed = staged.left_out.iter().take(MOST_LEFT_OUT).take_while(is_listed);
        let listed: Vec<_> = listed.map(|it| it.path.to_text().into_owned().into()).collect();
        if listed.len() < staged.left_out.len() {
            let total = i64::try_from(staged.left_out.len()).unwrap_or(i64::MAX);
            origin.insert(LEFT_OUT_TOTAL.to_owned(), total.into());
        }
        origin.insert(LEFT_OUT.to_owned(), toml::Value::Array(listed));
    }
    origin.extend(staged.given.origin.clone());
    origin
}

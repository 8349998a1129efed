//! The tables, for one reader or within one transaction.

use rusqlite::{Connection, TransactionBehavior};

use super::{Index, IndexError};

/// The tables, for one reader or in one transaction.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a>(pub(super) &'a Connection);

impl Index {
    /// The tables, to be read.
    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables(&self.connection)
    }

    /// Reads the tables as they are at one moment, whatever is written meanwhile.
    pub(crate) fn read<T, E: From<IndexError>>(
        &mut self,
        act: impl FnOnce(Tables<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = self.connection.transaction().map_err(IndexError::from)?;
        act(Tables(&transaction))
    }

    /// The same as [`Index::write`], but the change survives a power cut.
    pub(crate) fn write_durably<T, E: From<IndexError>>(
        &mut self,
        act: impl FnOnce(Tables<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let set = |index: &Index, how| {
            index.connection.pragma_update(None, "synchronous", how).map_err(IndexError::from)
        };
        set(self, "FULL")?;
        let done = self.write(act);
        set(self, "NORMAL")?;
        done
    }

    /// Changes the tables, all or nothing, with no other writer beside.
    ///
    /// Read the data from the disk within `act`: so the last writer is also the last reader.
    pub(crate) fn write<T, E: From<IndexError>>(
        &mut self,
        act: impl FnOnce(Tables<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let behaviour = TransactionBehavior::Immediate;
        let transaction =
            self.connection.transaction_with_behavior(behaviour).map_err(IndexError::from)?;
        let done = act(Tables(&transaction))?;
        transaction.commit().map_err(IndexError::from)?;
        Ok(done)
    }
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

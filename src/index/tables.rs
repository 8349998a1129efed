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

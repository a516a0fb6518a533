//! Tables that are not in the host's memory.

use std::any::Any;
use std::fmt;

use super::tables::GroupTables;
use crate::Error;

/// Tables that were left where they were made.
pub(crate) trait RemoteTables: Any + fmt::Debug + Send + Sync {
    /// Bytes of the tables.
    fn bytes(&self) -> u64;

    /// Copies the tables to the host, by group, then part.
    ///
    /// # Errors
    /// If they cannot be read.
    fn download(&self) -> Result<Vec<GroupTables>, Error>;
}

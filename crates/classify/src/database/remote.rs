//! Tables outside the host's memory.

use std::any::Any;
use std::fmt;

use super::tables::GroupTables;
use crate::Error;

/// Tables that stayed where they were built, for example on a device.
pub(crate) trait RemoteTables: Any + fmt::Debug + Send + Sync {
    /// Returns the bytes of the tables.
    fn bytes(&self) -> u64;

    /// Copies the tables to the host, by group, then part.
    ///
    /// # Errors
    /// If they cannot be copied.
    fn download(&self) -> Result<Vec<GroupTables>, Error>;
}

//! The CUDA backend (MetaCache-GPU §4, §5): tables lie in device memory as they do in the file;
//! workers send batches of reads, and only candidates come back. Of a reference, they send stretches, and
//! its tables come back as the file has them, or stay where they are.
//!
//! Parts of the database for which there is no room take turns with the others; single reads for which
//! there is none the worker that sent the batch looks up itself, with the same answer.

mod answers;
mod budget;
mod collector;
mod kernels;
mod layout;
mod long;
mod near;
mod query;
mod set;
mod short;
mod start;
mod table;
mod times;

pub(crate) use collector::Collector;
pub(crate) use layout::{DeviceLayout, Resident, Rules};
pub(crate) use near::NearRead;
pub(crate) use query::{Flight, GpuQuery};
pub(crate) use start::Starting;
pub use times::GpuTimes;

use merganser_gpu::DeviceInfo;

/// What devices are, and what of a query they had no room for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuNotes {
    /// What they are, in the order in which they were asked for.
    pub devices: Vec<DeviceInfo>,
    /// How often devices were filled with parts of the database, at most, for one run.
    pub rounds: usize,
    /// Parts of the database that the host asked.
    pub parts_on_host: usize,
    /// Reads whose candidates the host found.
    pub reads_on_host: u64,
    /// What the devices' clocks say.
    pub times: GpuTimes,
}

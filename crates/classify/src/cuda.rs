//! The CUDA backend (MetaCache-GPU §4, §5).
//!
//! Tables have the same layout in device memory as in the file. For queries, workers send batches of reads and
//! receive only candidates. For builds, they send stretches of the references; the finished tables are copied back
//! as the file has them, or stay on the device.
//!
//! Parts of the database that do not fit into device memory at the same time take turns. Single reads that do not fit
//! are looked up by the worker that sent the batch, with the same result.

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

/// Information on devices and on the work of a query that did not fit into their memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuNotes {
    /// The devices, in the order of the request.
    pub devices: Vec<DeviceInfo>,
    /// The largest number of times that the devices were filled with parts of the database in one run.
    pub rounds: usize,
    /// The number of parts of the database that the host queried.
    pub parts_on_host: usize,
    /// The number of reads whose candidates the host found.
    pub reads_on_host: u64,
    /// Times by the devices' clocks.
    pub times: GpuTimes,
}

//! Storage that several jobs share: the container of the program's own file formats, the shards of a job, and items
//! scattered by their leading bits, in memory or on disk.

mod bins;
mod bytes;
mod order;
mod scatter;
pub mod sealed;
pub mod shard;

pub use bins::{Bins, BlockPool, Contents, Spilling, Storage, Writer};
pub use bytes::{ByteReader, ByteWriter};
pub use order::{begins, distribute, place};
pub use scatter::{RangeContents, Records, Scatter, Scattering, worker_bytes};

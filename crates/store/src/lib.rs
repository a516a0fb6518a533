//! Files and collections that several jobs keep: the container of the program's own formats, shards of a job, and items
//! scattered by their leading bits.

mod bytes;
pub mod sealed;
pub mod shard;

pub use bytes::{Reading, Writing};

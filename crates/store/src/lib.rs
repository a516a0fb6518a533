//! Files and collections that several jobs keep: the container of the program's own formats, shards of a job, and items
//! scattered by their leading bits.

mod bins;
mod order;
mod scatter;

pub use bins::{Bins, Contents, Pool, Spilling, Storage, Writer};
pub use order::{begins, distribute, place};
pub use scatter::{RangeContents, Records, Scatter, Scattering, worker_bytes};

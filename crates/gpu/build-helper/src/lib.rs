//! A helper for build scripts of crates with CUDA sources: finds `nvcc`, compiles `.cu` files into a static
//! library, and compares the registers and memory of the kernels with a snapshot.
//!
//! A build script needs only this:
//!
//! ```no_run
//! if std::env::var_os("CARGO_FEATURE_CUDA").is_some() {
//!     merganser_gpu_build::Kernels::new("merganser_count_cuda").file("cuda/expand.cu").compile();
//! }
//! ```

#![forbid(unsafe_code)]

mod arch;
mod compile;
mod error;
mod layout;
mod resources;
mod search;

pub use arch::{Arch, Archs};
pub use compile::{Built, Kernels};
pub use error::Error;
pub use search::{Machine, Search, Toolkit};

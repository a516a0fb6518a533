//! What definitions of options are made of: each is a field of a job's `Config`, which is the library's type, the command
//! line's arguments (feature `cli`), and the parameters of the JSON summary.

#[cfg(feature = "cli")]
pub use clap;
pub use serde::{Serialize, Serializer};

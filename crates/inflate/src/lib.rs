//! Parallel reading and writing of gzip and BGZF (RFC 1951, RFC 1952, SAM specification section 4.1).
//!
//! - [`parallel`] inflates a single gzip file with any number of workers.
//! - [`bgzf`] finds the blocks of a BGZF file without inflating them, and inflates each block independently.
//! - [`GzipStream`] inflates gzip of any number of members sequentially.
//! - [`BgzfBlocks`] and [`GzipMember`] compress. Their output depends only on the text and the level, not on the
//!   pieces in which the text is passed.
//!
//! This crate starts no threads: the workers are the caller's.
//!
//! # One gzip file, several threads
//!
//! ```
//! use std::fs::File;
//! use std::sync::Mutex;
//! use std::sync::atomic::{AtomicBool, AtomicU64};
//!
//! use merganser_inflate::parallel::{Cutter, Plan, Sizes};
//! use merganser_inflate::{Error, GzipMember, Text};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("text.gz");
//! let text = b"ACGTTGCA\n".repeat(10_000);
//! let mut packed = Vec::new();
//! GzipMember::new().pack(&text, &mut packed);
//! std::fs::write(&path, &packed)?;
//!
//! let file = File::open(&path)?;
//! let length = file.metadata()?.len();
//! // `Plan::new` chooses the size of ranges for large files.
//! let cutter = Cutter::new(file, length, Plan::of(64));
//! // The cutter, the number of pieces taken, and whether there are more.
//! let cutter = Mutex::new((cutter, 0, true));
//! let sizes = Sizes { text: 1 << 16, headroom: 0 };
//! let (stopped, read) = (AtomicBool::new(false), AtomicU64::new(0));
//! let work = || -> Result<Vec<_>, Error> {
//!     let mut done = Vec::new();
//!     loop {
//!         let mut text = Text::default();
//!         // Workers take pieces one at a time.
//!         let mut next = cutter.lock().unwrap();
//!         let (cutter, number, more) = &mut *next;
//!         if !*more {
//!             return Ok(done);
//!         }
//!         let (mut piece, last) = cutter.next(&mut text, sizes, &stopped, &read)?;
//!         *more = !last;
//!         *number += 1;
//!         let number = *number;
//!         drop(next);
//!         // They expand pieces in parallel.
//!         piece.expand(&mut text, sizes, &stopped, |_| {})?;
//!         done.push((number, piece, text));
//!     }
//! };
//! let mut done = std::thread::scope(|scope| {
//!     let other = scope.spawn(&work);
//!     let own = work()?;
//!     Ok::<_, Error>([own, other.join().unwrap()?].into_iter().flatten().collect::<Vec<_>>())
//! })?;
//!
//! // Check and concatenate the pieces in order.
//! done.sort_by_key(|(number, ..)| *number);
//! let mut found = Vec::new();
//! for (_, piece, mut part) in done {
//!     piece.check(&mut part)?;
//!     found.extend_from_slice(part.bytes());
//! }
//! assert!(found == text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod ahead;
pub mod bgzf;
mod blocks;
mod deflate;
mod error;
mod fast_deflate;
mod gzip;
mod gzip_member;
pub mod parallel;
mod remote;
mod text;

pub use ahead::{Ahead, InflateAhead, TextsAhead};
pub use blocks::BgzfBlocks;
pub use error::Error;
pub use gzip::GzipStream;
pub use gzip_member::GzipMember;
pub use remote::{RemoteRoom, RemoteText};
pub use text::Text;

//! Inflates a gzip file from any position in it (RFC 1951, RFC 1952), so that several workers can inflate one file.
//!
//! The method is that of pugz (Kerbiriou and Chikhi 2019) and rapidgzip (Knespel and Brunst 2023). The file is cut
//! into ranges. In each range, [`find`](find()) searches the first position at which a deflate block seems to begin,
//! and [`Inflate`] decodes from there. The preceding 32 KiB of text are still unknown. Bytes that are copied from
//! there are stored as *markers*: the position of the copied byte, in symbols of two bytes. When the ranges before
//! have been decoded, [`Window`] replaces the markers with bytes.
//!
//! A block really begins at the found position only if decoding of the range before ends at exactly this bit.
//! Otherwise, or if no position was found, the range is decoded again from the end of the range before. So a wrong
//! guess never changes the text. The checksums of the members are compared as well ([`Sums`]).

mod bits;
mod copy;
mod find;
mod inflate;
mod lengths;
mod member;
mod sums;
mod table;
mod window;

pub(crate) use find::find;
pub(crate) use inflate::{Inflate, Input, Output, Stop};
pub(crate) use sums::{MemberEnd, MemberText, Sums, parts};
pub(crate) use window::{WINDOW, Window, markers};

/// The number of zero bytes that must follow the compressed bytes in a buffer, so that 8 bytes can be read at a time.
/// They are never taken as data.
pub(crate) const PADDING: usize = 64;

/// The number of bytes of free space that must follow the capacity of an output. One step writes at most 6 literals
/// and one match of 258 symbols, in symbols of 2 bytes, rounded up to whole copies.
pub(crate) const SLACK: usize = 1024;

/// The maximum size of a block header in bytes (17 bits, 19 code lengths, 316 code lengths of up to 14 bits), rounded
/// up. To decide whether a block can begin at a position, this many bytes must be available.
pub(crate) const BLOCK_HEADER: usize = 1024;

/// The reason why decoding cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The input has ended.
    Input,
    /// The input is invalid, for this reason.
    Invalid(&'static str),
}

/// The error for invalid data, with the message of flate2.
pub(crate) const CORRUPT: Fault = Fault::Invalid("corrupt deflate stream");

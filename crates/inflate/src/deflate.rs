//! Inflating a gzip file from any place in it (RFC 1951, RFC 1952), so that one file keeps many
//! workers busy.
//!
//! The idea is that of pugz (Kerbiriou and Chikhi 2019) and rapidgzip (Knespel and Brunst 2023).
//! The file is cut into ranges. In each, [`find`](find()) looks for the first place where a
//! deflate block seems to begin, and [`Inflate`] decodes from there. What stands in the 32 KiB of
//! text before is not known yet: copies of it are kept as *markers*, the number of the byte copied,
//! in symbols of two bytes. Once the ranges before are decoded, [`Window`] turns markers into bytes.
//!
//! Whether a place really was the beginning of a block shows when the range before has been decoded
//! to that very bit; if it was not, or none was found, the range is decoded again from where the
//! one before ended. So no guess ever decides about the text, and what the members' checksums say
//! is compared as always ([`Sums`]).

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

/// Zero bytes that must follow the compressed bytes in a buffer, so that they can be read eight at
/// a time; what is read there is never taken for data.
pub(crate) const PADDING: usize = 64;

/// The room that must follow the capacity of an output, in bytes: what is written in one step, at
/// most 6 literals and one match of 258 in symbols of 2 bytes, rounded up to whole copies.
pub(crate) const SLACK: usize = 1024;

/// How many bytes a block's header takes at most (17 bits, 19 code lengths, 316 code lengths of up
/// to 14 bits), rounded up: so many must be known to tell whether a block can begin somewhere.
pub(crate) const BLOCK_HEADER: usize = 1024;

/// Why decoding cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end.
    Input,
    /// They are not valid, for this reason.
    Invalid(&'static str),
}

/// As flate2 says it.
pub(crate) const CORRUPT: Fault = Fault::Invalid("corrupt deflate stream");

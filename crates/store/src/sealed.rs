//! The container of the program's own file formats.
//!
//! A file begins with its [`magic`] and a header that is covered by a CRC-32. There are two kinds of headers:
//!
//! - fields of fixed size, described by a [`Format`]: `.mgk`, `.mgdb`, `.mgi`, `.mgd`. The version comes first, but it
//!   is trusted only if the header is complete and its checksum is right. So truncated, damaged, foreign and newer
//!   files can be distinguished;
//! - JSON after its length ([`put_json`], [`open_json`]): `.mgx`, `.mgq`.
//!
//! The header is followed either by sections, whose checksums are in the header or in a directory, or by a [`Summed`]
//! stream that ends with its checksum: `.mgx`, `.mgq`. A `.partial` file is one such stream from its magic on.

mod json;
mod summed;

pub use json::{open_json, put_json};
pub use summed::{SEALED, Summed};

use std::ops::RangeInclusive;

use crate::{ByteReader, ByteWriter};

/// Returns the first bytes of a file of the program's own formats: a byte with the high bit set, a name, and line ends
/// that a copy in text mode would change.
pub const fn magic(letter: u8) -> [u8; 8] {
    [0x89, b'M', b'G', letter, b'\r', b'\n', 0x1a, b'\n']
}

/// A format whose header has fields of fixed size, with the messages for invalid files.
///
/// The header consists of the magic, the version (u32), its own length (u32, only if [stated](Self::states_length)),
/// the fields of the format, zeros up to [`used`](Self::used) bytes minus 4, the CRC-32 of everything before it, and
/// zeros up to its end. Numbers are little-endian.
#[derive(Debug)]
pub struct Format {
    /// The magic number: the first bytes of a file.
    pub magic: [u8; 8],
    /// The size of the header in bytes.
    pub bytes: usize,
    /// Returns the number of bytes of a header of the given version up to the end of its checksum.
    pub used: fn(u32) -> usize,
    /// Whether the header states its own length.
    pub states_length: bool,
    /// The versions that this program can read.
    pub versions: RangeInclusive<u32>,
    /// Returns the message for a file of another version.
    pub other_version: fn(u32) -> String,
    /// The message for a file of another kind.
    pub foreign: &'static str,
    /// The name of the file in messages, followed by a space; may be empty.
    pub name: &'static str,
    /// The remedy for a truncated header.
    pub if_cut: &'static str,
    /// The remedy for a damaged header.
    pub if_damaged: &'static str,
    /// The remedy for a file whose length differs from that in its header.
    pub if_changed: &'static str,
}

impl Format {
    /// Encodes a header. `fields` follow the version and the length.
    pub fn header(&self, version: u32, fields: &[u8]) -> Vec<u8> {
        let mut bytes = self.magic.to_vec();
        bytes.put_u32(version);
        if self.states_length {
            bytes.put_u32(self.bytes as u32);
        }
        bytes.extend_from_slice(fields);
        debug_assert!(bytes.len() + 4 <= (self.used)(version));
        bytes.resize((self.used)(version) - 4, 0);
        bytes.put_u32(crc32fast::hash(&bytes));
        bytes.resize(self.bytes, 0);
        bytes
    }

    /// Checks the header at the beginning of `file`, and returns its version and its fields.
    ///
    /// # Errors
    /// If the file is of another kind or version, or if its header is truncated or damaged; the error is the message.
    pub fn read<'f>(&self, file: &'f [u8]) -> Result<(u32, ByteReader<'f>), String> {
        if !file.starts_with(&self.magic) {
            return Err(self.foreign.into());
        }
        if file.len() < self.bytes {
            return Err(format!("{}is truncated within its header: {}", self.name, self.if_cut));
        }
        let mut fields = ByteReader(&file[self.magic.len()..]);
        let damaged = || format!("the header is damaged (checksum): {}", self.if_damaged);
        let version = fields.u32().ok_or_else(damaged)?;
        let (checked, mut behind) = file.split_at((self.used)(version) - 4);
        fields.0 = &checked[self.magic.len() + 4..];
        let is_whole = !self.states_length || fields.u32() == Some(self.bytes as u32);
        let sum = behind.split_off(..4).map(|sum| ByteReader(sum).u32());
        if sum != Some(Some(crc32fast::hash(checked))) || !is_whole {
            return Err(damaged());
        }
        match self.versions.contains(&version) {
            true => Ok((version, fields)),
            false => Err((self.other_version)(version)),
        }
    }

    /// Returns the message for a header whose numbers are inconsistent.
    pub fn senseless(&self) -> String {
        format!("the header is inconsistent: {}", self.if_damaged)
    }

    /// Checks that the size of a file in bytes, `found`, is the size that its header states.
    ///
    /// # Errors
    /// If the sizes differ; the error is the message.
    pub fn check_length(&self, found: u64, stated: u64) -> Result<(), String> {
        match found == stated {
            true => Ok(()),
            false => Err(format!(
                "{}is truncated or was changed: {found} bytes instead of {stated}; {}",
                self.name, self.if_changed
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format {
        magic: magic(b'T'),
        bytes: 64,
        used: |version| if version == 1 { 40 } else { 48 },
        states_length: true,
        versions: 1..=2,
        other_version: |version| format!("version {version}"),
        foreign: "foreign",
        name: "the test ",
        if_cut: "cut",
        if_damaged: "damaged",
        if_changed: "changed",
    };

    #[test]
    fn headers_come_back_and_damage_is_seen() {
        for version in 1..=2 {
            let header = FORMAT.header(version, &[7; 20]);
            assert_eq!((header.len(), &header[..4]), (64, &b"\x89MGT"[..]));
            let (read, fields) = FORMAT.read(&header).unwrap();
            assert_eq!((read, &fields.0[..20]), (version, &[7; 20][..]));
            for at in 0..(FORMAT.used)(version) {
                let mut other = header.clone();
                other[at] ^= 4;
                assert!(FORMAT.read(&other).is_err(), "byte {at}");
            }
            for at in 0..header.len() {
                let said = FORMAT.read(&header[..at]).unwrap_err();
                let expected = if at < 8 { "foreign" } else { "the test is truncated" };
                assert!(said.starts_with(expected), "{said}");
            }
        }
    }

    #[test]
    fn versions_are_believed_behind_checksums_alone() {
        let mut header = FORMAT.header(2, &[]);
        header[8] = 3;
        assert_eq!(FORMAT.read(&header).unwrap_err(), "the header is damaged (checksum): damaged");
        assert_eq!(FORMAT.read(&FORMAT.header(3, &[])).unwrap_err(), "version 3");
        // A header of another length is not one that this program knows, whatever its version.
        header[12] = 65;
        let sum = crc32fast::hash(&header[..44]);
        header[44..48].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(FORMAT.read(&header).unwrap_err(), "the header is damaged (checksum): damaged");
    }

    #[test]
    fn lengths_are_compared() {
        assert_eq!(FORMAT.check_length(5, 5), Ok(()));
        let said = FORMAT.check_length(5, 6).unwrap_err();
        assert_eq!(said, "the test is truncated or was changed: 5 bytes instead of 6; changed");
    }
}

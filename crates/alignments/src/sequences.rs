//! The reference sequences that a header names.

use std::num::NonZero;

use noodles_sam::header::record::value::{Map, map::ReferenceSequence};

use crate::record::bam_header;

/// The maximum length of a sequence (SAM specification, section 1.3).
const MAX_LENGTH: usize = i32::MAX as usize;

/// A reference sequence of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) name: Vec<u8>,
    pub(crate) length: NonZero<usize>,
    /// The MD5, in hexadecimal.
    pub(crate) md5: Option<Vec<u8>>,
}

impl Sequence {
    /// Parses the `@SQ` lines of a header.
    pub(crate) fn all_of(header: &[u8]) -> Result<Vec<Sequence>, String> {
        let lines = header.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"@SQ\t"));
        let of = |line: &[u8]| {
            let length = std::str::from_utf8(field(line, b"LN:")?).ok()?.parse();
            let length =
                length.ok().filter(|length: &NonZero<usize>| length.get() <= MAX_LENGTH)?;
            let md5 = field(line, b"M5:").map(<[u8]>::to_vec);
            Some(Sequence { name: field(line, b"SN:")?.to_vec(), length, md5 })
        };
        lines.map(of).collect::<Option<_>>().ok_or_else(|| {
            "an @SQ line of the header has no name, or no length from 1 to 2147483647".to_owned()
        })
    }
}

/// Returns the header of noodles with these sequences and nothing else.
pub(crate) fn header_of(sequences: &[Sequence]) -> noodles_sam::Header {
    let add = |header: noodles_sam::header::Builder, sequence: &Sequence| {
        let map = Map::<ReferenceSequence>::new(sequence.length);
        header.add_reference_sequence(sequence.name.clone(), map)
    };
    sequences.iter().fold(noodles_sam::Header::builder(), add).build()
}

/// Adds the read groups of header lines to a header of noodles: records of CRAM refer to them by their numbers.
#[cfg(feature = "cram")]
pub(crate) fn with_read_groups(
    mut header: noodles_sam::Header,
    text: &[u8],
) -> noodles_sam::Header {
    use noodles_sam::header::record::value::map::ReadGroup;
    for id in read_groups(text) {
        header.read_groups_mut().insert(id.into(), Map::<ReadGroup>::default());
    }
    header
}

/// Returns the IDs of the read groups of header lines.
pub(crate) fn read_groups(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = header.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"@RG\t"));
    lines.filter_map(|line| field(line, b"ID:"))
}

/// Returns a header of BAM with this text and these sequences.
pub(crate) fn bam_header_of(text: &[u8], sequences: &[Sequence]) -> Vec<u8> {
    let named = sequences.iter();
    bam_header(text, named.map(|found| (&found.name[..], found.length.get() as u32)))
}

/// Returns the value of the first field of a header line that begins with `name`, such as `SN:`.
pub(crate) fn field<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let mut fields = line.trim_ascii_end().split(|&byte| byte == b'\t');
    fields.find_map(|field| field.strip_prefix(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_no_sequence_has_are_refused() {
        let of = |length: &str| {
            Sequence::all_of(format!("@HD\tVN:1.6\n@SQ\tSN:c\tLN:{length}\n").as_bytes())
        };
        let Sequence { name, length, md5 } = of("2147483647").unwrap().remove(0);
        assert_eq!((&name[..], length.get(), md5), (&b"c"[..], 0x7fff_ffff, None));
        for length in ["0", "2147483648", "18446744073709551615", "-1", ""] {
            let error = of(length).unwrap_err();
            assert!(error.contains("no length from 1 to 2147483647"), "{length}: {error}");
        }
    }
}

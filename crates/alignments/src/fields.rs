//! Access to the fields of BAM records.

/// A view of the fields of a BAM record (SAM specification, section 4.2).
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// Returns the size of the record in bytes, including its length field.
    pub(crate) fn len(&self) -> usize {
        self.number(0) as usize + 4
    }

    /// Returns whether the record is long enough for its name, CIGAR, bases and qualities. The fixed fields (36
    /// bytes) must be present.
    pub fn are_whole(&self) -> bool {
        let bases = u32::try_from(self.number(20)).map(|bases| bases as usize);
        let needed = |bases: usize| {
            36 + usize::from(self.0[12])
                + 4 * usize::from(self.short(16))
                + bases.div_ceil(2)
                + bases
        };
        self.0[12] > 0 && bases.is_ok_and(|bases| needed(bases) <= self.0.len())
    }

    /// Returns the number of the contig; -1 if there is no contig.
    pub fn contig(&self) -> i32 {
        self.number(4)
    }

    /// Returns the position of the first aligned base, from 0; -1 if there is no position.
    pub fn at(&self) -> i32 {
        self.number(8)
    }

    pub(crate) fn flags(&self) -> u16 {
        self.short(18)
    }

    /// Returns the number of reference bases that the alignment covers; 1 without an alignment.
    pub(crate) fn span(&self) -> u32 {
        (on_reference(self.cigar()) as u32).max(1)
    }

    pub(crate) fn quality(&self) -> u8 {
        self.0[13]
    }

    /// Returns the name, with the terminating zero.
    pub(crate) fn name(&self) -> &[u8] {
        &self.0[36..self.cigar_at()]
    }

    /// Returns the operations, with the numbers that BAM gives them, and their lengths.
    pub(crate) fn cigar(&self) -> impl Iterator<Item = (u32, usize)> {
        operations(&self.0[self.cigar_at()..self.bases_at()])
    }

    /// Returns the number of stored bases.
    pub(crate) fn bases(&self) -> usize {
        self.number(20) as usize
    }

    /// Returns the bases, two per byte.
    pub(crate) fn packed_bases(&self) -> &[u8] {
        let from = self.bases_at();
        &self.0[from..from + self.bases().div_ceil(2)]
    }

    pub(crate) fn qualities(&self) -> &[u8] {
        let from = self.bases_at() + self.bases().div_ceil(2);
        &self.0[from..from + self.bases()]
    }

    /// Returns the contig and position (from 0) of the mate, and the length of the template.
    pub(crate) fn mate(&self) -> [i32; 3] {
        [self.number(24), self.number(28), self.number(32)]
    }

    /// Returns the tags with their types, and their values. Texts include the terminating zero.
    pub(crate) fn tags(&self) -> impl Iterator<Item = ([u8; 3], &'a [u8])> + use<'a> {
        let mut rest = &self.0[self.tags_at()..self.len()];
        std::iter::from_fn(move || {
            let (key, value) = split_tag(rest)?;
            rest = &rest[key.len() + value.len()..];
            Some((key, value))
        })
    }

    /// Returns the offset of the tags.
    pub(crate) fn tags_at(&self) -> usize {
        self.bases_at() + self.bases().div_ceil(2) + self.bases()
    }

    /// Returns the offset of the operations.
    pub(crate) fn cigar_at(&self) -> usize {
        36 + usize::from(self.0[12])
    }

    /// Returns the offset of the bases, which follow the operations.
    pub(crate) fn bases_at(&self) -> usize {
        self.cigar_at() + 4 * usize::from(self.short(16))
    }

    fn number(&self, from: usize) -> i32 {
        let bytes = &self.0[from..from + 4];
        i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    fn short(&self, from: usize) -> u16 {
        u16::from_le_bytes([self.0[from], self.0[from + 1]])
    }
}

/// Divides records of BAM, which must be whole.
pub(crate) fn records(mut records: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if records.is_empty() {
            return None;
        }
        let (record, others) = records.split_at(Fields(records).len());
        records = others;
        Some(record)
    })
}

/// Returns the operations of a CIGAR, with the numbers that BAM gives them, and their lengths.
pub(crate) fn operations(cigar: &[u8]) -> impl Iterator<Item = (u32, usize)> + use<'_> {
    cigar.chunks_exact(4).map(|bytes| {
        let number = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        (number & 15, (number >> 4) as usize)
    })
}

/// Returns the number of reference bases that operations cover.
pub(crate) fn on_reference(operations: impl Iterator<Item = (u32, usize)>) -> usize {
    // The operations M, D, N, = and X.
    lengths(operations, 0b1_1000_1101)
}

/// Returns the number of bases of a read with these operations.
pub(crate) fn in_read(operations: impl Iterator<Item = (u32, usize)>) -> usize {
    // The operations M, I, S, = and X.
    lengths(operations, 0b1_1001_0011)
}

/// Returns the sum of the lengths of the operations whose bits are set in `which`.
fn lengths(operations: impl Iterator<Item = (u32, usize)>, which: u32) -> usize {
    operations.filter(|&(operation, _)| which >> operation & 1 == 1).map(|(_, len)| len).sum()
}

/// Returns the first tag with its type, and its value; `None` if it is not whole.
pub(crate) fn split_tag(tags: &[u8]) -> Option<([u8; 3], &[u8])> {
    let (&key, values) = tags.split_first_chunk()?;
    let len = match key[2] {
        b'B' => 5 + items_len(values)?,
        b'Z' | b'H' => values.iter().position(|&byte| byte == 0)? + 1,
        kind => item_len(kind)?,
    };
    Some((key, values.get(..len)?))
}

/// Returns the size of the items of an array, which begins with their type and number.
fn items_len(array: &[u8]) -> Option<usize> {
    let (&[kind, number @ ..], _) = array.split_first_chunk::<5>()?;
    item_len(kind)?.checked_mul(u32::from_le_bytes(number) as usize)
}

/// Returns the size of a value of this type (SAM specification, section 4.2.4).
fn item_len(kind: u8) -> Option<usize> {
    match kind {
        b'A' | b'c' | b'C' => Some(1),
        b's' | b'S' => Some(2),
        b'i' | b'I' | b'f' => Some(4),
        _ => None,
    }
}

//! CIGARs of as few operations as possible: the decoder returns an operation for each difference from the reference.

use crate::cram::Stored;
use crate::{Fields, MAX_OPERATIONS};

/// The offset of the number of operations in a record of BAM.
const NUMBER_AT: usize = 16;

/// Returns a record of BAM whose neighbouring operations of the same kind are joined; `None` if it has no such ones.
pub(super) fn with_merged_cigar(record: &[u8]) -> Option<Vec<u8>> {
    let stored = Stored::new(record);
    let mut joined: Vec<(u32, usize)> = Vec::new();
    let mut number = 0;
    for (operation, len) in stored.operations() {
        number += 1;
        match joined.last_mut() {
            Some(last) if last.0 == operation => last.1 += len,
            _ => joined.push((operation, len)),
        }
    }
    if joined.len() == number {
        return None;
    }
    let cigar: Vec<u8> = joined.iter().flat_map(|&operation| to_bytes(operation)).collect();
    Some(with_cigar(record, &cigar))
}

fn to_bytes((operation, len): (u32, usize)) -> [u8; 4] {
    ((len as u32) << 4 | operation).to_le_bytes()
}

/// Returns a record with another CIGAR, which is in the tag CG if it is too long for its field.
fn with_cigar(record: &[u8], cigar: &[u8]) -> Vec<u8> {
    let fields = Fields(record);
    let is_long = cigar.len() / 4 > MAX_OPERATIONS;
    let own = match is_long {
        true => &record[fields.cigar_at()..fields.bases_at()],
        false => cigar,
    };
    let mut out = record[..fields.cigar_at()].to_vec();
    out.extend_from_slice(own);
    out.extend_from_slice(&record[fields.bases_at()..fields.tags_at()]);
    for (key, value) in fields.tags().filter(|(key, _)| key != b"CGB") {
        out.extend_from_slice(&key);
        out.extend_from_slice(value);
    }
    if is_long {
        out.extend_from_slice(b"CGBI");
        out.extend_from_slice(&(cigar.len() as u32 / 4).to_le_bytes());
        out.extend_from_slice(cigar);
    }
    let size = out.len() as u32 - 4;
    out[..4].copy_from_slice(&size.to_le_bytes());
    out[NUMBER_AT..NUMBER_AT + 2].copy_from_slice(&((own.len() / 4) as u16).to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Record, RecordStyle};

    /// Returns a record of BAM of `bases` bases with these operations.
    fn record(bases: usize, operations: &[(u32, usize)]) -> Vec<u8> {
        let letters = vec![b'A'; bases];
        let mut record = Vec::new();
        let unmapped = Record::unmapped(b"r", 0, None, Some([&letters, b""]));
        RecordStyle::without_contigs(Format::Bam(0)).write(&unmapped, &mut record);
        record.extend(b"XXA!");
        let size = record.len() as u32 - 4;
        record[..4].copy_from_slice(&size.to_le_bytes());
        let cigar: Vec<u8> = operations.iter().flat_map(|&one| to_bytes(one)).collect();
        match operations.len() > MAX_OPERATIONS {
            false => with_cigar(&record, &cigar),
            true => {
                let placeholder = [to_bytes((4, bases)), to_bytes((3, bases))].concat();
                with_cigar(&with_cigar(&record, &placeholder), &cigar)
            }
        }
    }

    #[test]
    fn neighbours_of_the_same_kind_are_joined() {
        assert_eq!(with_merged_cigar(&record(5, &[(0, 3), (4, 2)])), None);
        let merged = with_merged_cigar(&record(9, &[(0, 3), (0, 1), (1, 1), (0, 2), (0, 2)]));
        assert_eq!(merged.unwrap(), record(9, &[(0, 4), (1, 1), (0, 4)]));
    }

    #[test]
    fn long_cigars_are_joined_too() {
        let long = record(70_000, &[(0, 1)].repeat(70_000));
        assert_eq!(with_merged_cigar(&long).unwrap(), record(70_000, &[(0, 70_000)]));
        let turns = |matches: &[(u32, usize)]| [matches, &[(2, 1)]].concat().repeat(40_000);
        let long = record(80_000, &turns(&[(0, 1), (0, 1)]));
        assert_eq!(with_merged_cigar(&long).unwrap(), record(80_000, &turns(&[(0, 2)])));
    }
}

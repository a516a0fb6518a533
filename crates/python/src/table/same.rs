//! Compares the contents of tables.

use merganser_kmers::Error;
use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::opened::Opened;

/// k-mers and counts in memory.
type Rows<'a, K> = &'a [(K, u32)];

/// Whether two tables have the same k, strands, k-mers and counts.
pub(super) fn are_same(one: &Opened, other: &Opened, cancel: &Cancel) -> Result<bool, Error> {
    let key = |opened: &Opened| {
        let header = &opened.header;
        (header.k, header.canonical, header.kmers, header.occurrences)
    };
    if key(one) != key(other) {
        return Ok(false);
    }
    with_kmer!(one.header.k, K => have_same_rows::<K>(one, other, cancel))
}

fn have_same_rows<K: Kmer>(one: &Opened, other: &Opened, cancel: &Cancel) -> Result<bool, Error> {
    let (Some(first), Some(second)) = (one.table.as_mgk(), other.table.as_mgk()) else {
        return Ok(false);
    };
    let (mut first, mut second) = (first.blocks::<K>(), second.blocks::<K>());
    let (mut left, mut right): (Rows<'_, K>, Rows<'_, K>) = (&[], &[]);
    loop {
        if left.is_empty() {
            left = first.next()?.unwrap_or_default();
        }
        if right.is_empty() {
            right = second.next()?.unwrap_or_default();
        }
        cancel.check()?;
        let shared = left.len().min(right.len());
        if shared == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        if left[..shared] != right[..shared] {
            return Ok(false);
        }
        (left, right) = (&left[shared..], &right[shared..]);
    }
}

//! k-mers straight from the paper's encoding of super-k-mers, without an array of codes between.

use merganser_seq::kmer::Kmer;

/// Bases of a full byte.
const FULL: u8 = 3;

/// Gives `visit` the canonical k-mers of super-k-mers that `superkmer::gkc` encoded. k is at
/// least 5.
#[inline(always)]
pub(crate) fn kmers<K: Kmer>(data: &[u8], k: usize, mut visit: impl FnMut(K)) {
    let mask = K::mask(k);
    let mut at = 0;
    while at < data.len() {
        // The first byte's bases are at its low end once those that were cut off are gone.
        let mut held = usize::from(data[at] >> 6);
        let mut forward = K::from_low(u64::from((data[at] & 0x3f) >> (6 - 2 * held)));
        at += 1;
        // Full bytes as long as no k-mer is complete.
        while held + usize::from(FULL) <= k {
            forward = forward.shl(6).or(K::from_low(u64::from(data[at] & 0x3f)));
            held += usize::from(FULL);
            at += 1;
        }
        let mut reverse = forward.reverse_complement(k);
        if held == k {
            visit(forward.least(reverse));
        }
        // Base by base to the byte that is not full.
        let mut last = false;
        while !last {
            let byte = data[at];
            last = byte >> 6 != FULL;
            for i in 0..byte >> 6 {
                let code = byte >> (4 - 2 * i) & 3;
                forward = forward.push(code, mask);
                reverse = reverse.push_complement(code, k);
                held += 1;
                if held >= k {
                    visit(forward.least(reverse));
                }
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_count::superkmer::gkc;

    #[test]
    fn kmers_are_those_of_the_codes() {
        let codes: Vec<u8> = (0..200u32).map(|i| (i * i * 7 % 11 % 4) as u8).collect();
        let (mut read, mut data, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        gkc::encode_read(&codes, &mut read);
        let k = 17;
        for at in 0..40 {
            for len in k..k + 30 {
                gkc::append(&read, at, len, &mut data);
                for window in codes[at..at + len].windows(k) {
                    let kmer = window.iter().fold(0u64, |kmer, &c| kmer << 2 | u64::from(c));
                    expected.push(kmer.least(kmer.reverse_complement(k)));
                }
            }
        }
        let mut found = Vec::new();
        kmers::<u64>(&data, k, |kmer| found.push(kmer));
        assert_eq!(found, expected);
    }
}

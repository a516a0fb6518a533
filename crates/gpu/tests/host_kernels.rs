//! The shared CUDA headers compiled for the host, compared with `merganser-seq`: no GPU, no nvcc.

use merganser_gpu_host_kernels::{HostKmer, letter, norm};
use merganser_seq::base;
use merganser_seq::kmer::Kmer;
use merganser_seq::signature::Rule;
use proptest::prelude::*;

#[test]
fn letters_have_rusts_codes() {
    for byte in 0..=255 {
        let (is_base, code) = letter(byte);
        assert_eq!(is_base.then_some(code), base::code(byte), "letter {byte}");
    }
}

fn check<K: Kmer + HostKmer>(codes: &[u8]) {
    let k = codes.len().min(<K as Kmer>::MAX_K);
    let mask = K::mask(k);
    assert_eq!(K::host_mask(k), mask);
    let (mut kmer, mut complement) = (K::default(), K::default());
    for &code in codes {
        let next = (kmer.push(code, mask), complement.push_complement(code, k));
        assert_eq!((kmer.host_push(code, k), complement.host_push_complement(code, k)), next);
        (kmer, complement) = next;
    }
    assert_eq!(kmer.host_reverse_complement(k), kmer.reverse_complement(k));
    assert_eq!(kmer.host_canonical(k), kmer.least(kmer.reverse_complement(k)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn kmers_of_every_width_and_k_are_rusts(codes in proptest::collection::vec(0u8..4, 1..80)) {
        check::<u32>(&codes);
        check::<u64>(&codes);
        check::<u128>(&codes);
    }

    #[test]
    fn norms_are_rusts_for_every_rule(any in any::<u32>(), p in 3usize..=15) {
        let pmer = any & ((1 << (2 * p)) - 1);
        for (number, rule) in (0..).zip(Rule::ALL) {
            for canonical in [false, true] {
                let (cpp, rust) = (norm(number, pmer, p, canonical), rule.norm(pmer, p, canonical));
                prop_assert_eq!(cpp, rust, "{:?} p {} pmer {:x}", rule, p, pmer);
            }
        }
    }
}

#[test]
fn norms_of_all_short_pmers_are_rusts() {
    for p in 3..=6 {
        for pmer in 0..1 << (2 * p) {
            for (number, rule) in (0..).zip(Rule::ALL) {
                let (cpp, rust) = (norm(number, pmer, p, true), rule.norm(pmer, p, true));
                assert_eq!(cpp, rust, "{rule:?} p {p} pmer {pmer:x}");
            }
        }
    }
}

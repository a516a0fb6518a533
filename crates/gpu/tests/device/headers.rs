use crate::{device, random};
use merganser_gpu::primitives::Key;
use merganser_gpu::{Device, Stream};
use merganser_seq::kmer::Kmer;
use merganser_seq::signature::Rule;

fn check_kmers<K: Kmer + Key>(device: &Device, stream: &Stream, wide: impl Fn(u64, u64) -> K) {
    for k in (1..=<K as Kmer>::MAX_K).step_by(3).chain([<K as Kmer>::MAX_K]) {
        let mut numbers = random(k as u64);
        let mask = K::mask(k);
        let mut next = || Some(wide(numbers.next()?, numbers.next()?).and(mask));
        let kmers: Vec<K> = std::iter::from_fn(&mut next).take(5000).collect();
        let mut here = device.alloc(kmers.len()).unwrap();
        let mut there = device.alloc(kmers.len()).unwrap();
        stream.upload_now(&kmers, here.view_mut()).unwrap();
        stream.canonicalize_kmers(here.view(), k, there.view_mut()).unwrap();
        let canonical = stream.download_vec(there.view()).unwrap();
        for (kmer, canonical) in kmers.iter().zip(canonical) {
            assert_eq!(canonical, kmer.least(kmer.reverse_complement(k)), "k {k}");
        }
    }
}

#[test]
fn kmers_are_canonical_as_in_rust() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    check_kmers::<u32>(&device, &stream, |a, _| a as u32);
    check_kmers::<u64>(&device, &stream, |a, _| a);
    check_kmers::<u128>(&device, &stream, |a, b| u128::from(a) << 64 | u128::from(b));
}

#[test]
fn norms_are_rusts_for_every_rule() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    for p in 3..=15 {
        let mask = (1u32 << (2 * p)) - 1;
        let pmers: Vec<u32> = random(p as u64).take(20_000).map(|n| n as u32 & mask).collect();
        let mut here = device.alloc(pmers.len()).unwrap();
        let mut norms = device.alloc(pmers.len()).unwrap();
        stream.upload_now(&pmers, here.view_mut()).unwrap();
        for (number, rule) in (0..).zip(Rule::ALL) {
            for canonical in [false, true] {
                stream.norm_pmers(number, here.view(), p, canonical, norms.view_mut()).unwrap();
                let norms = stream.download_vec(norms.view()).unwrap();
                for (&pmer, norm) in pmers.iter().zip(norms) {
                    assert_eq!(norm, rule.norm(pmer, p, canonical), "{rule:?} p {p} {pmer:x}");
                }
            }
        }
    }
}

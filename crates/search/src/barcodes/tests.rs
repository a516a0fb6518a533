use std::path::Path;

use merganser_filter::Threshold;
use merganser_run::Context;
use proptest::prelude::*;

use super::*;
use crate::letters::{bases, reverse_complement, text_bases};
use crate::naive;

/// Returns the fewest edits of a barcode in a window, and the last end of such an alignment; `None` if more than `most`.
fn best(barcode: &[u8], window: &[u8], most: usize) -> Option<(usize, usize)> {
    let ends = naive::ends(barcode, window, most);
    ends.into_iter().map(|(end, edits)| (edits, end)).min_by_key(|&(e, end)| (e, usize::MAX - end))
}

/// The literal definition: the sample (or why there is none), and the letters that trimming removes at each end.
fn oracle(
    e: usize,
    options: &BarcodeOptions,
    samples: &[Sample],
    read: &[u8],
) -> Result<(usize, [usize; 2]), &'static str> {
    let sets: Vec<u8> = read.iter().map(|&letter| text_bases(letter, false)).collect();
    let turned: Vec<u8> = reverse_complement(&sets);
    let length = read.len().min(options.window);
    let windows = [&sets[..length], &turned[..length]];
    let directions = |sample: &Sample, limit: usize| {
        let front: Vec<u8> = sample.front.letters().iter().map(|&l| bases(l)).collect();
        let rear = sample.rear.as_ref().map(|one| one.letters().iter().map(|&l| bases(l)).collect());
        let rear: Option<Vec<u8>> = rear.or(options.both_ends.then(|| front.clone()));
        let find = |barcode: &[u8], end: usize| best(barcode, windows[end], limit.min(barcode.len() - 1));
        let mut all: Vec<(usize, [usize; 2])> = Vec::new();
        match rear {
            None => {
                let found = [find(&front, 0), find(&front, 1)];
                let cuts = found.map(|one| one.map_or(0, |(_, end)| end));
                all.extend(found.into_iter().flatten().map(|(edits, _)| (edits, cuts)));
            }
            Some(rear) => {
                for (first, last, swapped) in [(0, 1, false), (1, 0, true)] {
                    if let (Some(a), Some(b)) = (find(&front, first), find(&rear, last)) {
                        let cuts = if swapped { [b.1, a.1] } else { [a.1, b.1] };
                        all.push((a.0 + b.0, cuts));
                    }
                }
            }
        }
        all.into_iter().min_by_key(|(edits, _)| *edits)
    };
    let eligible = |number: usize| directions(&samples[number], e);
    let fewest = (0..samples.len()).filter_map(|n| Some((eligible(n)?, n))).min_by_key(|one| (one.0.0, one.1));
    let Some(((edits, cuts), number)) = fewest else { return Err("none") };
    let is_far = |other: &Sample, n: usize| {
        let rival = eligible(n).or_else(|| directions(other, e + options.margin - 1));
        rival.is_none_or(|(rival, _)| rival >= edits + options.margin)
    };
    match samples.iter().enumerate().all(|(n, other)| n == number || is_far(other, n)) {
        false => Err("ambiguous"),
        true if options.trim && cuts[0] + cuts[1] >= read.len() => Err("empty"),
        true => Ok((number, cuts)),
    }
}

fn letters(range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(b"ACGTACGTACGTN".to_vec()), range)
}

/// A read: letters, a barcode to put in, how it is changed, and more letters.
type Made = (Vec<u8>, usize, usize, bool, Vec<u8>);

fn made() -> impl Strategy<Value = Made> {
    (letters(0..25), 0usize..8, 0usize..30, any::<bool>(), letters(1..60))
}

fn read_of(samples: &[Sample], (before, sample, change, turned, after): &Made) -> Vec<u8> {
    let sample = &samples[sample % samples.len()];
    let mut front = sample.front.letters().to_vec();
    if *change < front.len() {
        front[*change] = b'A';
    }
    let rear = sample.rear.as_ref().map(|rear| rear.letters().to_vec()).unwrap_or_default();
    let rear = crate::searcher::reverse_complement(&rear);
    let read = [&before[..], &front, after, &rear, &before[before.len() / 2..]].concat();
    if *turned { crate::searcher::reverse_complement(&read) } else { read }
}

fn run(
    folder: &Path,
    threads: usize,
    e: usize,
    options: &BarcodeOptions,
    suffix: &str,
) -> (Samples, Demultiplexed, Vec<Vec<u8>>) {
    let samples = Samples::read(&folder.join("samples.tsv")).unwrap();
    let out = folder.join(format!("out{threads}"));
    std::fs::create_dir_all(&out).unwrap();
    let paths = SamplePaths {
        template: out.join(format!("{{}}{suffix}")).display().to_string(),
        unassigned: Some(out.join(format!(".refused{suffix}"))),
    };
    let context = Context::new().threads(threads);
    let reads = [folder.join("reads.fq")];
    let outcome =
        demultiplex(Threshold::Edits(e as u32), options, &samples, reads, &paths, &context).unwrap();
    let files = paths.all(&samples).unwrap();
    let files = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
    (samples, outcome, files)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn reads_are_assigned_as_defined(
        barcodes in proptest::collection::btree_set(proptest::collection::vec(proptest::sample::select(b"ACGTACGTR".to_vec()), 6..14), 4..9),
        made in proptest::collection::vec(made(), 1..40),
        dual: bool, e in 0usize..4, margin in 1usize..4, window in 14usize..60, both_ends: bool, trim: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let barcodes: Vec<String> = barcodes.into_iter().map(|one| String::from_utf8(one).unwrap()).collect();
        let rows: Vec<String> = match dual {
            false => barcodes.iter().enumerate().map(|(n, one)| format!("s{n}\t{one}\n")).collect(),
            true => barcodes.chunks_exact(2).enumerate().map(|(n, two)| format!("s{n}\t{}\t{}\n", two[0], two[1])).collect(),
        };
        std::fs::write(folder.join("samples.tsv"), rows.concat()).unwrap();
        let samples = Samples::read(&folder.join("samples.tsv")).unwrap();
        let reads: Vec<Vec<u8>> = made.iter().map(|one| read_of(samples.all(), one)).collect();
        let quality = |read: &[u8]| -> String { (0..read.len()).map(|at| (b'!' + (at % 90) as u8) as char).collect() };
        let record = |n: usize, range: std::ops::Range<usize>| {
            let letters = String::from_utf8_lossy(&reads[n][range.clone()]).into_owned();
            format!("@r{n} a comment\n{letters}\n+\n{}\n", &quality(&reads[n])[range])
        };
        let text: String = (0..reads.len()).map(|n| record(n, 0..reads[n].len())).collect();
        std::fs::write(folder.join("reads.fq"), text).unwrap();
        let options = BarcodeOptions { window, margin, both_ends, trim };
        let mut expected = vec![String::new(); samples.all().len() + 1];
        let mut refused = std::collections::HashMap::from([("none", 0), ("ambiguous", 0), ("empty", 0)]);
        for (n, read) in reads.iter().enumerate() {
            match oracle(e, &options, samples.all(), read) {
                Ok((sample, cuts)) => {
                    let kept = if trim { cuts[0]..read.len() - cuts[1] } else { 0..read.len() };
                    expected[sample] += &record(n, kept);
                }
                Err(reason) => {
                    *refused.get_mut(reason).unwrap() += 1;
                    *expected.last_mut().unwrap() += &record(n, 0..read.len());
                }
            }
        }
        for threads in [1, 3] {
            let (_, outcome, files) = run(folder, threads, e, &options, ".fq");
            for (file, expected) in files.iter().zip(&expected) {
                prop_assert_eq!(&String::from_utf8_lossy(file), expected);
            }
            prop_assert_eq!(outcome.reads(), reads.len() as u64);
            let counts = [outcome.none, outcome.ambiguous, outcome.empty].map(|one| one.reads);
            prop_assert_eq!(counts, [refused["none"], refused["ambiguous"], refused["empty"]]);
        }
        prop_assert_eq!(run(folder, 1, e, &options, ".fq.gz").2, run(folder, 3, e, &options, ".fq.gz").2);
    }
}

fn read_samples(text: &str) -> Result<Samples, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b");
    std::fs::write(&path, text).unwrap();
    Samples::read(&path).map_err(|error| error.to_string().replace(&*path.to_string_lossy(), "b"))
}

#[test]
fn errors_of_samples_name_the_line() {
    for (text, expected) in [
        ("# x\n", "b: it has no samples"),
        ("a\tACGT\nb\tACXT\n", "b: line 2: barcode of b: 'X' at letter 3"),
        ("a\tACGT\nb\n", "b: line 2: write SAMPLE<TAB>BARCODE"),
        ("a\tACGT\na\tACGA\n", "b: line 2: sample a is on line 1, too"),
        ("a\tACGT\nb\tacgt\n", "b: line 2: line 1 has the same barcode"),
        ("a\tAC\tGT\nb\tGT\tAC\n", "b: line 2: line 1 has the same barcode"),
        ("a\tAC\tGT\nb\tGT\n", "b: line 2: 1 barcode(s), and line 1 has 2"),
        ("../a\tACGT\n", "b: line 1: the name '../a' has /"),
        (".a\tACGT\n", "b: line 1: the name '.a' has /"),
        ("\tACGT\n", "b: line 1: a name is empty"),
        (">a\n>b\nACGT\n", "b: line 1: barcode of a: it has no letters"),
    ] {
        let error = read_samples(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let samples = read_samples(">a x\nAC\nGT\n>b\nTTTT\n").unwrap();
    assert_eq!(samples.all()[0].front.letters(), b"ACGT");
}

#[test]
fn barcodes_and_outputs_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("r.fa"), ">1\nACGTACGTTTGACA\n").unwrap();
    std::fs::write(path("empty.fa"), "").unwrap();
    let template = path("{}.fa").display().to_string();
    let samples = read_samples("a\tACGTAC\nb\tACGTAG\n").unwrap();
    let context = Context::new().threads(1);
    let fails = |edits: u32, window: usize, template: &str, reads: &str| {
        let options = BarcodeOptions { window, ..BarcodeOptions::default() };
        let paths = SamplePaths { template: template.to_owned(), unassigned: None };
        let threshold = Threshold::Edits(edits);
        demultiplex(threshold, &options, &samples, [path(reads)], &paths, &context)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(fails(6, 150, &template, "r.fa").contains("match everywhere"));
    assert!(fails(1, 5, &template, "r.fa").contains("more than the window of 5"));
    assert!(fails(1, 0, &template, "r.fa").contains("`window` is out of range"));
    assert!(fails(1, 150, "x.fa", "r.fa").contains("no {} for the sample's name"));
    assert!(fails(1, 150, "{}.bam", "r.fa").contains("as FASTQ or FASTA"));
    assert!(!path("a.fa").exists());
    let error = fails(1, 150, &template, "empty.fa");
    assert!(error.contains("empty") || error.contains("no reads"), "{error}");
    assert!(!path("a.fa").exists());
    let warnings = context.warnings.all();
    assert!(warnings[0].contains("barcodes of a and b differ by 1 edits"), "{warnings:?}");
}

#[test]
fn many_samples_have_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let code = |n: usize| -> String { (0..12).map(|at| b"ACGT"[(n * 7919 >> (2 * (at % 8)) ^ at) & 3] as char).collect() };
    let names: std::collections::BTreeMap<String, usize> = (0..1536).map(|n| (code(n), n)).collect();
    let rows: String = names.iter().map(|(code, n)| format!("s{n}\t{code}\n")).collect();
    let reads: String = names.iter().map(|(code, n)| format!("@{n}\n{code}\n+\n{code}\n")).collect();
    std::fs::write(folder.path().join("samples.tsv"), rows).unwrap();
    std::fs::write(folder.path().join("reads.fq"), reads).unwrap();
    let (samples, outcome, files) = run(folder.path(), 2, 0, &BarcodeOptions::default(), ".fq.gz");
    assert_eq!((files.len(), outcome.reads()), (names.len() + 1, names.len() as u64));
    let mut table = Vec::new();
    write_sample_counts(&outcome, &samples, &mut table).unwrap();
    let table = String::from_utf8(table).unwrap();
    assert!(table.starts_with("category\tsample\treads\tbases\tmean_edits\nassigned\ts"), "{table}");
    assert!(table.contains("\nempty\tNA\t0\t0\tNA\n"));
}

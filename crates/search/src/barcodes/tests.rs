use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use merganser_filter::Threshold;
use merganser_io::{Input, OutputSet};
use merganser_run::Context;
use proptest::prelude::*;

use super::adapters::Trimmer;
use super::assign::Assigner;
use super::demultiplex::Demultiplexer;
use super::divide::{Fate, Rule};
use super::finder::{Barcode, Finder};
use super::*;
use crate::letters::{bases, reverse_complement, text_bases};
use crate::searcher::reverse_complement as turned;
use crate::tile::Stretch;
use crate::{Error, Pattern, naive};

/// The best place of a barcode: (edits, last end).
type Best = Option<(usize, usize)>;

/// Returns the best place of a barcode in a window; `None` if it has more than `most` edits.
fn best(barcode: &[u8], window: &[u8], most: usize) -> Best {
    let barcode: Vec<u8> = barcode.iter().map(|&letter| bases(letter)).collect();
    let ends = naive::ends(&barcode, window, most.min(barcode.len() - 1));
    ends.into_iter().map(|(end, edits)| (edits, end)).min_by_key(|&(e, end)| (e, usize::MAX - end))
}

/// Returns the sets of bases of the windows at the start of a read and of its reverse complement.
fn windows(read: &[u8], window: usize) -> [Vec<u8>; 2] {
    let sets: Vec<u8> = read.iter().map(|&letter| text_bases(letter, false)).collect();
    let length = read.len().min(window);
    [&sets, &reverse_complement(&sets)].map(|sets| sets[..length].to_vec())
}

/// The literal definition of demultiplexing: the sample and the letters that are written, or the reason of a refusal.
fn oracle(
    e: usize,
    options: &BarcodeOptions,
    samples: &[Sample],
    read: &[u8],
) -> Result<(usize, Range<usize>), &'static str> {
    let windows = windows(read, options.window);
    let rear_of = |sample: &Sample| {
        let both = options.both_ends.then(|| sample.front.clone());
        sample.rear.clone().or(both).map(|one| one.letters().to_vec())
    };
    // Returns (edits, cuts) of a sample whose barcodes have at most `most` edits each.
    let find = |sample: &Sample, most: usize| -> Option<(usize, [usize; 2])> {
        let at = |barcode: &[u8], end: usize| best(barcode, &windows[end], most);
        let front = sample.front.letters();
        let Some(rear) = rear_of(sample) else {
            let both = [at(front, 0), at(front, 1)];
            let edits = both.iter().flatten().map(|place| place.0).min()?;
            return Some((edits, both.map(|place| place.map_or(0, |place| place.1))));
        };
        let forward = at(front, 0).zip(at(&rear, 1)).map(|(a, b)| (a.0 + b.0, [a.1, b.1]));
        let reverse = at(front, 1).zip(at(&rear, 0)).map(|(a, b)| (a.0 + b.0, [b.1, a.1]));
        forward.into_iter().chain(reverse).min_by_key(|found| found.0)
    };
    let found: Vec<_> = samples.iter().map(|sample| find(sample, e)).collect();
    let numbered = found.iter().enumerate().filter_map(|(n, one)| Some((n, (*one)?)));
    let Some((number, (edits, cuts))) = numbered.min_by_key(|(n, one)| (one.0, *n)) else {
        let has = |barcode: &[u8]| windows.iter().any(|window| best(barcode, window, e).is_some());
        let has_one = samples.iter().any(|sample| {
            has(sample.front.letters()) || rear_of(sample).is_some_and(|rear| has(&rear))
        });
        return Err(if has_one { "one_of_two" } else { "none" });
    };
    for (n, sample) in samples.iter().enumerate().filter(|(n, _)| *n != number) {
        let rival = found[n].or_else(|| find(sample, e + options.margin - 1));
        if rival.is_some_and(|rival| rival.0 < edits + options.margin) {
            return Err("ambiguous");
        }
    }
    match options.trim {
        false => Ok((number, 0..read.len())),
        true if cuts[0] + cuts[1] >= read.len() => Err("empty"),
        true => Ok((number, cuts[0]..read.len() - cuts[1])),
    }
}

/// The literal definition of trimming: the letters that are left, if any.
fn trimmed(e: usize, window: usize, adapters: &[Pattern], read: &[u8]) -> Option<Range<usize>> {
    let cuts = windows(read, window).map(|window| {
        let found = adapters.iter().filter_map(|adapter| best(adapter.letters(), &window, e));
        found.map(|place| place.1).max().unwrap_or(0)
    });
    (cuts[0] + cuts[1] < read.len()).then(|| cuts[0]..read.len() - cuts[1])
}

fn letters(range: Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(b"ACGTACGTACGTN".to_vec()), range)
}

/// A read: letters, the sample whose barcodes follow, a letter of the front one that is changed, whether the rear one is
/// there, whether the read is reversed, and more letters.
type Made = (Vec<u8>, usize, usize, bool, bool, Vec<u8>);

fn made() -> impl Strategy<Value = Made> {
    (letters(0..25), 0usize..8, 0usize..30, any::<bool>(), any::<bool>(), letters(0..60))
}

fn read_of(barcodes: &[[Vec<u8>; 2]], made: &Made) -> Vec<u8> {
    let (before, sample, change, has_rear, is_turned, after) = made;
    let [mut front, rear] = barcodes[sample % barcodes.len()].clone();
    if let Some(letter) = front.get_mut(*change) {
        *letter = b'A';
    }
    let rear = if *has_rear { turned(&rear) } else { Vec::new() };
    let read = [&before[..], &front, after, &rear, &before[before.len() / 2..]].concat();
    if *is_turned { turned(&read) } else { read }
}

/// Reads with their letters and qualities, as a FASTQ file has them.
#[derive(Debug)]
struct Reads(Vec<Vec<u8>>);

impl Reads {
    fn record(&self, n: usize, range: Range<usize>) -> String {
        let letters = text(&self.0[n][range.clone()]);
        let quality = range.map(|at| char::from(b'!' + (at % 90) as u8)).collect::<String>();
        format!("@r{n} a comment\n{letters}\n+\n{quality}\n")
    }

    fn write(&self, folder: &Path) -> [Input; 1] {
        let text: String = (0..self.0.len()).map(|n| self.record(n, 0..self.0[n].len())).collect();
        std::fs::write(folder.join("reads.fq"), text).unwrap();
        [folder.join("reads.fq").into()]
    }
}

/// Runs a job with outputs of these names, and returns its results and their texts.
fn run<T>(
    folder: &Path,
    reads: &[Input],
    names: &[String],
    job: impl FnOnce(ReadFiles<'_>) -> Result<T, Error>,
) -> (T, Vec<Vec<u8>>) {
    let outputs: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    let set = OutputSet::new();
    let outcome = job(ReadFiles { reads, outputs: &outputs, set: &set }).unwrap();
    set.commit().unwrap();
    let texts = outputs.iter().map(|path| std::fs::read(path).unwrap()).collect();
    (outcome, texts)
}

fn samples_of(folder: &Path, text: &str) -> Result<Samples, String> {
    let path = folder.join("samples.tsv");
    std::fs::write(&path, text).unwrap();
    Samples::read(&path).map_err(|error| error.to_string().replace(&*path.to_string_lossy(), "b"))
}

fn names(samples: usize, suffix: &str) -> Vec<String> {
    (0..=samples).map(|n| format!("o{n}{suffix}")).collect()
}

fn barcodes() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let letters = proptest::sample::select(b"ACGTACGTR".to_vec());
    let barcode = proptest::collection::vec(letters, 6..14);
    proptest::collection::btree_set(barcode, 4..9).prop_map(|set| set.into_iter().collect())
}

/// The barcodes of samples and reads that have some of them.
#[derive(Debug)]
struct Case {
    rows: String,
    reads: Reads,
    e: usize,
    options: BarcodeOptions,
}

fn case() -> impl Strategy<Value = Case> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let numbers = (0usize..4, 1usize..4, 14usize..60);
    let made = proptest::collection::vec(made(), 1..40);
    (barcodes(), made, flags, numbers).prop_map(|(barcodes, made, flags, (e, margin, window))| {
        let (is_dual, shares, both_ends, trim) = flags;
        // Pairs may share their front barcode.
        let pairs: Vec<[Vec<u8>; 2]> = match is_dual {
            false => barcodes.iter().map(|one| [one.clone(), one.clone()]).collect(),
            true if shares => {
                barcodes[1..].iter().map(|one| [barcodes[0].clone(), one.clone()]).collect()
            }
            true => barcodes.chunks_exact(2).map(|two| [two[0].clone(), two[1].clone()]).collect(),
        };
        let rows = pairs.iter().enumerate().map(|(n, [front, rear])| match is_dual {
            false => format!("s{n}\t{}\n", text(front)),
            true => format!("s{n}\t{}\t{}\n", text(front), text(rear)),
        });
        let reads = Reads(made.iter().map(|one| read_of(&pairs, one)).collect());
        let options =
            BarcodeOptions { window, margin, both_ends, trim, ..BarcodeOptions::default() };
        Case { rows: rows.collect(), reads, e, options }
    })
}

fn text(letters: &[u8]) -> String {
    String::from_utf8_lossy(letters).into_owned()
}

/// Returns the decisions of a rule about reads.
fn fates(rule: &mut dyn Rule, barcodes: &[Barcode], window: usize, reads: &Reads) -> Vec<Fate> {
    let mut finder = Finder::new(barcodes);
    let decide = |read: &Vec<u8>| {
        let length = read.len().min(window);
        let ends = [read[..length].to_vec(), turned(read)[..length].to_vec()];
        finder.find(&ends.each_ref().map(|letters| Stretch { letters, begins: true }));
        rule.decide([0, 1].map(|end| finder.places(end)), read.len())
    };
    reads.0.iter().map(decide).collect()
}

/// Returns the expected texts of all outputs, that of refused reads last, and the number of refused reads by reason.
fn expected(case: &Case, samples: &Samples) -> (Vec<String>, BTreeMap<&'static str, u64>) {
    let count = samples.all().len();
    let mut texts = vec![String::new(); count + 1];
    let mut refused: BTreeMap<_, _> =
        ["none", "one_of_two", "ambiguous", "empty"].map(|one| (one, 0)).into();
    for (n, read) in case.reads.0.iter().enumerate() {
        match oracle(case.e, &case.options, samples.all(), read) {
            Ok((sample, kept)) => texts[sample] += &case.reads.record(n, kept),
            Err(reason) => {
                *refused.get_mut(reason).unwrap() += 1;
                texts[count] += &case.reads.record(n, 0..read.len());
            }
        }
    }
    (texts, refused)
}

proptest! {
    #[test]
    fn reads_are_assigned_as_defined(case in case()) {
        let folder = tempfile::tempdir().unwrap();
        let samples = samples_of(folder.path(), &case.rows).unwrap();
        let Case { e, options, reads, .. } = &case;
        let assigner = Assigner::new(Threshold::Edits(*e as u32), options, &samples).unwrap();
        let mut rule = Demultiplexer::new(&assigner, options.trim);
        let fates = fates(&mut rule, &assigner.barcodes, options.window, reads);
        for (read, fate) in reads.0.iter().zip(fates) {
            let expected = oracle(*e, options, samples.all(), read).unwrap_or((samples.all().len(), 0..read.len()));
            prop_assert_eq!(fate, Some(expected));
        }
    }

    #[test]
    fn reads_are_trimmed_as_defined(case in case()) {
        let Case { e, options, reads, rows } = &case;
        let adapters = rows.lines().map(|row| Pattern::new("a", row.split('\t').nth(1).unwrap().as_bytes()).unwrap());
        let adapters: Vec<Pattern> = adapters.collect();
        let barcode = |adapter| Barcode::new(adapter, Threshold::Edits(*e as u32), options.window, 0).unwrap();
        let barcodes: Vec<Barcode> = adapters.iter().map(barcode).collect();
        let mut rule = Trimmer { counts: Trimmed::of_adapters(adapters.len()), keep_empty: false };
        for (read, fate) in reads.0.iter().zip(fates(&mut rule, &barcodes, options.window, reads)) {
            prop_assert_eq!(fate, trimmed(*e, options.window, &adapters, read).map(|kept| (0, kept)));
        }
    }
}

proptest! {
    // These cases take files.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn files_of_samples_are_those_of_the_definition(case in case()) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let samples = samples_of(folder, &case.rows).unwrap();
        let (texts, refused) = expected(&case, &samples);
        let inputs = case.reads.write(folder);
        let run = |threads: usize, suffix: &str| {
            let context = Context::new().threads(threads);
            let (threshold, names) = (Threshold::Edits(case.e as u32), names(samples.all().len(), suffix));
            run(folder, &inputs, &names, |files| {
                demultiplex_in(threshold, &case.options, &samples, files, &context)
            })
        };
        for threads in [1, 3] {
            let (outcome, written) = run(threads, ".fq");
            let written: Vec<String> = written.iter().map(|one| text(one)).collect();
            prop_assert_eq!(&written, &texts);
            prop_assert_eq!(outcome.reads(), case.reads.0.len() as u64);
            let counted = outcome.refused().map(|(reason, counts)| (reason, counts.reads));
            prop_assert_eq!(BTreeMap::from(counted), refused.clone());
        }
        prop_assert_eq!(run(1, ".fq.gz").1, run(3, ".fq.gz").1);
    }

    #[test]
    fn trimmed_files_are_those_of_the_definition(case in case(), pattern in barcodes()) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let adapters: Vec<Pattern> = pattern.iter().map(|one| Pattern::new("a", one).unwrap()).collect();
        let Case { e, options, reads, .. } = &case;
        let inputs = reads.write(folder);
        let kept: Vec<_> = reads.0.iter().map(|read| trimmed(*e, options.window, &adapters, read)).collect();
        let numbered = || kept.iter().enumerate().filter_map(|(n, one)| Some((n, one.clone()?)));
        let expected: String = numbered().map(|(n, kept)| reads.record(n, kept)).collect();
        for threads in [1, 3] {
            let context = Context::new().threads(threads);
            let threshold = Threshold::Edits(*e as u32);
            let (outcome, texts) = run(folder, &inputs, &["o.fq".to_owned()], |files| {
                trim_in(threshold, options, &adapters, files, &context)
            });
            prop_assert_eq!(&text(&texts[0]), &expected);
            prop_assert_eq!(outcome.reads, reads.0.len() as u64);
            prop_assert_eq!(outcome.kept_reads, numbered().count() as u64);
            prop_assert_eq!(outcome.kept_bases, numbered().map(|(_, kept)| kept.len() as u64).sum::<u64>());
        }
    }
}

#[test]
fn errors_of_samples_name_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let read_samples = |text: &str| samples_of(folder.path(), text);
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
        ("unassigned\tACGT\n", "b: line 1: unassigned is the name of the reads without"),
        (">a\n>b\nACGT\n", "b: line 1: barcode of a: it has no letters"),
        ("a\tACGT\n>b\nACGT\n", "b: line 2: a header of FASTA after lines of"),
    ] {
        let error = read_samples(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let many: String = (0..=1 << 16)
        .map(|n| {
            let letters: String =
                (0..9).map(|at| ['A', 'C', 'G', 'T'][n >> (2 * at) & 3]).collect();
            format!("s{n}\t{letters}\n")
        })
        .collect();
    let error = read_samples(&many).unwrap_err();
    assert!(error.starts_with("b: line 65537: these are more than 65,536 samples"), "{error}");
    let samples = read_samples(">a x\nAC\nGT\n>b\nTTTT\n").unwrap();
    assert_eq!(samples.all()[0].front.letters(), b"ACGT");
}

#[test]
fn options_and_outputs_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("r.fa"), ">1\nACGTACGTTTGACA\n").unwrap();
    let (samples, context) =
        (samples_of(folder, "a\tACGTAC\nb\tACGTAG\n").unwrap(), Context::new());
    let reads: [Input; 1] = [folder.join("r.fa").into()];
    let fails = |edits: u32, options: BarcodeOptions, suffix: &str| {
        let outputs: Vec<PathBuf> = names(2, suffix).iter().map(|name| folder.join(name)).collect();
        let set = OutputSet::new();
        let files = ReadFiles { reads: &reads, outputs: &outputs, set: &set };
        let ran = demultiplex_in(Threshold::Edits(edits), &options, &samples, files, &context);
        ran.map(|_| ()).unwrap_err().to_string()
    };
    let usual = BarcodeOptions::default();
    let of = |window: usize, margin: usize| BarcodeOptions { window, margin, ..usual.clone() };
    let error = fails(6, usual.clone(), ".fa");
    assert!(error.contains(": line 1: pattern a: ") && error.contains("match everywhere"));
    assert!(fails(1, of(5, 1), ".fa").contains("6 letters, more than the `window` of 5"));
    assert!(fails(1, of(0, 1), ".fa").contains("`window` is out of range"));
    assert!(fails(1, of(9, 0), ".fa").contains("`margin` is out of range"));
    assert!(fails(1, usual.clone(), ".bam").contains("as FASTQ or FASTA"));
    assert!(!folder.join("o0.fa").exists());
    assert!(context.warnings.all().is_empty());
    let job = |margin: usize| {
        run(folder, &reads, &names(2, ".fa"), |files| {
            demultiplex_in(Threshold::Edits(1), &of(150, margin), &samples, files, &context)
        })
    };
    assert_eq!(job(1).1, [&b">1\nACGTACGTTTGACA\n"[..], b"", b""]);
    assert!(context.warnings.all().is_empty());
    assert_eq!(job(2).0.ambiguous.reads, 1);
    assert!(context.warnings.all()[0].contains("all reads of a are ambiguous"));
}

#[test]
fn many_samples_have_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The reverse complement of a code is no code.
    let code = |n: usize| -> String {
        (0..12).map(|at| if n >> at & 1 == 1 { 'C' } else { 'A' }).collect()
    };
    let count = 1 << 10;
    let rows: String = (0..count).map(|n| format!("s{n}\t{}\n", code(n))).collect();
    let reads = Reads((0..count).map(|n| code(n).into_bytes()).collect());
    let samples = samples_of(folder, &rows).unwrap();
    let (threshold, options, context) =
        (Threshold::Edits(0), BarcodeOptions::default(), Context::new());
    let (outcome, texts) = run(folder, &reads.write(folder), &names(count, ".fq"), |files| {
        demultiplex_in(threshold, &options, &samples, files, &context)
    });
    assert_eq!(outcome.assigned().reads, count as u64);
    for (n, text) in texts[..count].iter().enumerate() {
        assert_eq!(String::from_utf8_lossy(text), reads.record(n, 0..12));
    }
    let mut table = Vec::new();
    write_sample_counts(&outcome, &samples, &mut table).unwrap();
    let table = String::from_utf8(table).unwrap();
    assert!(table.starts_with("category\tsample\treads\tbases\tedits\nassigned\ts0\t1\t12\t0\n"));
    assert!(table.ends_with("\nempty\tNA\t0\t0\tNA\n"), "{table}");
}

//! Tests of batches of reads and pairs, independent of how the text is cut and which worker parses it.

use crate::batches::{ALL, AnyError, Batch, RecordOptions, listed, read_all, warned, write};
use crate::common::{Record, naive};
use merganser_io::{
    Error, Header, Input, Keep, ReadInput, RecordBatch, Records, Unmated, batch_starts,
};
use merganser_run::{Silent, run_workers};
use merganser_test_forms::bgzf_block;
use proptest::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the records of a segment, with mates alternating.
fn expected(segment: &ReadInput) -> Vec<Record> {
    let of = |input: &Input| naive(&std::fs::read(input.path().unwrap()).unwrap());
    let mut files = segment.inputs().map(of);
    let (first, second) = (files.next().unwrap(), files.next());
    match second {
        None => first,
        Some(second) => first.into_iter().zip(second).flat_map(|(one, two)| [one, two]).collect(),
    }
}

/// Returns the batches that a plain loop makes.
fn cut(segments: &[ReadInput], options: &RecordOptions) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    let mut reads = 0;
    for segment in segments {
        let mates = 1 + usize::from(segment.is_paired());
        let (mut bytes, mut open) = (0, false);
        for unit in expected(segment).chunks(mates) {
            if !options.reads.contains(&reads) {
                (reads, open) = (reads + 1, false);
                continue;
            }
            if !open {
                let number = batches.len() as u64;
                batches.push((number, reads, segment.is_paired(), Vec::new()));
                bytes = 0;
            }
            let batch = &mut batches.last_mut().unwrap().3;
            for record in unit {
                let quality = record.quality.as_ref().map_or(0, String::len);
                bytes += record.header.len() + record.sequence.len() + quality;
                batch.push(record.clone());
            }
            reads += 1;
            open = batch.len() < options.batch_records && bytes < options.batch_bytes;
        }
    }
    batches
}

/// Formats reads as FASTQ, or as FASTA of the given width.
fn laid_out(reads: &[String], width: Option<usize>, mate: &str) -> String {
    let mut text = String::new();
    for (number, letters) in reads.iter().enumerate() {
        match width {
            None => {
                let quality: String = letters.bytes().map(|b| char::from(b % 90 + 33)).collect();
                text += &format!("@r{number}{mate} x\n{letters}\n+\n{quality}\n");
            }
            Some(width) => {
                text += &format!(">r{number}{mate} x\n");
                for line in letters.as_bytes().chunks(width) {
                    text += &format!("{}\n", String::from_utf8_lossy(line));
                }
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn batches_do_not_depend_on_chunks_and_workers(
        reads in prop::collection::vec("[ACGTN]{0,60}", 0..40),
        mates in prop::collection::vec("[ACGTN]{0,60}", 40..41),
        widths in [prop::option::of(1..30usize), prop::option::of(1..30usize)],
        batch_records in 1..12usize, batch_bytes in 1..600usize,
        chunk_bytes in 1..700usize, workers in 1..5usize, wanted in [0..170u64, 0..170],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let one = laid_out(&reads, widths[0], "/1");
        let two = laid_out(&mates[..reads.len()], widths[1], "/2");
        let both: Vec<String> =
            reads.iter().zip(&mates).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        let interleaved = laid_out(&both, widths[0], "").replace("x\n", "y\n");
        // Adjacent mates have the same name.
        let mut number = 0;
        let interleaved: String = interleaved
            .split_inclusive('\n')
            .map(|line| {
                if !line.ends_with(" y\n") {
                    return line.to_owned();
                }
                number += 1;
                format!("{}r{} y\n", &line[..1], (number - 1) / 2)
            })
            .collect();
        let [one, two, interleaved] = [("1", one), ("2", two), ("i", interleaved)]
            .map(|(name, text)| Input::File(write(folder.path(), name, &text)));
        let segments = [
            ReadInput::Pair(one.clone(), two.clone()),
            ReadInput::Single(two),
            ReadInput::Interleaved(interleaved),
            ReadInput::Single(one),
        ];
        let options = RecordOptions {
            keep: ALL, batch_records, batch_bytes, chunk_bytes, workers,
            ..RecordOptions::default()
        };
        let (batches, failed) = read_all(&segments, &options).unwrap();
        prop_assert!(failed.is_none(), "{:?}", failed);
        let expected = cut(&segments, &options);
        prop_assert_eq!(&batches, &expected);
        let mut starts: Vec<u64> = expected.iter().map(|batch| batch.1).collect();
        starts.push(4 * reads.len() as u64);
        let found = batch_starts::<AnyError, _>(&segments, options.clone(), &Silent).unwrap();
        prop_assert_eq!(found, if reads.is_empty() { vec![0] } else { starts });

        let [from, to] = wanted;
        let options = RecordOptions { reads: from.min(to)..from.max(to), ..options };
        let (batches, failed) = read_all(&segments, &options).unwrap();
        prop_assert!(failed.is_none(), "{:?}", failed);
        prop_assert_eq!(batches, cut(&segments, &options));
    }

    #[test]
    fn the_first_fault_is_the_one_however_chunks_are_cut(
        count in 1..40usize, bad in 0..40usize, kind in 0..5usize,
        batch_records in 1..9usize, chunk_bytes in 1..500usize, workers in 1..5usize,
        fasta in any::<bool>(),
    ) {
        let bad = bad % count;
        let reads = vec!["ACGTACGTAC".to_owned(); count];
        let width = fasta.then_some(7);
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (laid_out(&reads, width, "/1"), laid_out(&reads, width, "/2"));
        let mut paired = true;
        let expected = match kind {
            // One file ends early.
            0 => {
                two = laid_out(&reads[..bad], width, "/2");
                format!("2: ends after {bad} records, but DIR/1 has more: mates must come in pairs")
            }
            1 => {
                one = laid_out(&reads[..bad], width, "/1");
                format!("1: ends after {bad} records, but DIR/2 has more: mates must come in pairs")
            }
            // The names differ at this read and later.
            2 => {
                for number in bad..count {
                    two = two.replace(&format!("r{number}/2"), &format!("s{number}/2"));
                }
                format!("1: record {} is r{bad}/1, but its mate in DIR/2 is s{bad}/2: {}",
                    bad + 1, Unmated::Names)
            }
            // The last record has no mate.
            3 => {
                paired = false;
                let last = 2 * (count / 2) + 1;
                one = laid_out(&vec!["ACGT".to_owned(); last], width, "");
                for number in 0..last {
                    one = one.replace(&format!("r{number} "), &format!("q{} ", number / 2));
                }
                format!("1: record {last}, the last one, has no mate: interleaved files have an \
                    even number of records")
            }
            // A record is malformed, and so are all records after it; the names differ later.
            _ if fasta => return Ok(()),
            _ => {
                let at = two.find(&format!("@r{bad}/2")).unwrap();
                two.replace_range(at..=at, "!");
                for number in bad + 1..count {
                    one = one.replace(&format!("r{number}/1"), &format!("s{number}/1"));
                }
                format!("2: record {}, line {}: a record should begin with '@', but this line begins \
                    with '!'; is a line missing or doubled above?", bad + 1, 4 * bad + 1)
            }
        };
        let dir = folder.path().display().to_string();
        let expected = format!("{dir}/{}", expected.replace("DIR", &dir));
        let [one, two] = [("1", one), ("2", two)]
            .map(|(name, text)| Input::File(write(folder.path(), name, &text)));
        let segment = if paired { ReadInput::Pair(one, two) } else { ReadInput::Interleaved(one) };
        let options = RecordOptions {
            batch_records, chunk_bytes, workers, ..RecordOptions::default()
        };
        let (batches, failed) = read_all(&[segment], &options).unwrap();
        let (number, error) = failed.expect("an error");
        // An unknown format is found before any record of the file.
        if kind > 3 && bad == 0 {
            prop_assert!(error.to_string().contains("not FASTA or FASTQ"), "{error}");
        } else {
            prop_assert_eq!(error.to_string(), expected);
        }
        // All batches before the error are there.
        prop_assert_eq!(batches.len() as u64, number);
    }
}

#[test]
fn names_alone_are_kept_if_nothing_else_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "r", "@a b\nAC\n+\nII\n@c\n\n+\n\n");
    let segment = ReadInput::Single(Input::File(path.clone()));
    let (batches, _) = read_all(std::slice::from_ref(&segment), &RecordOptions::default()).unwrap();
    let headers: Vec<_> = batches[0].3.iter().map(|record| record.header.as_str()).collect();
    assert_eq!(headers, ["a", "c"]);
    assert!(batches[0].3.iter().all(|record| record.quality.is_none()));
    let missing = ReadInput::Single(Input::File(folder.path().join("none")));
    assert!(Records::open(&[segment, missing], RecordOptions::default()).is_err());
}

#[test]
fn names_that_are_not_kept_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = [("1", ">a x\nAC\n>b\nG\n"), ("2", "@c\nT\n+\nI\n@d\nN\n+\nI\n")]
        .map(|(name, text)| Input::File(write(folder.path(), name, text)));
    let keep = Keep { header: Header::Nothing, qualities: false };
    let options = RecordOptions { keep, ..RecordOptions::default() };
    let (batches, failed) = read_all(&[ReadInput::Pair(one, two)], &options).unwrap();
    assert!(failed.is_none(), "{failed:?}");
    let records: Vec<_> =
        batches[0].3.iter().map(|record| (&record.header[..], &record.sequence[..])).collect();
    assert_eq!(records, [("", "AC"), ("", "T"), ("", "G"), ("", "N")]);
}

#[test]
fn a_record_longer_than_chunks_and_batches_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let long = "ACGT".repeat(100_000);
    let text = format!(
        ">a\n{}\n>b\nAC\n",
        long.as_bytes()
            .chunks(60)
            .map(|line| { format!("{}\n", String::from_utf8_lossy(line)) })
            .collect::<String>()
    );
    let segment = ReadInput::Single(Input::File(write(folder.path(), "long", &text)));
    for workers in [1, 3] {
        let options = RecordOptions { chunk_bytes: 1000, workers, ..RecordOptions::default() };
        let (batches, _) = read_all(std::slice::from_ref(&segment), &options).unwrap();
        let records: Vec<_> = batches.into_iter().flat_map(|batch| batch.3).collect();
        assert_eq!(records[0].sequence, long);
        assert_eq!((records.len(), records[1].sequence.as_str()), (2, "AC"));
    }
}

/// Whichever worker is faster, a malformed record is reported instead of data after it that cannot be inflated.
#[test]
fn a_malformed_record_comes_before_a_damaged_end() {
    let folder = tempfile::tempdir().unwrap();
    let reads = vec!["ACGTACGTACGTACGTTTACG".to_owned(); 3000];
    let text = laid_out(&reads, None, "").replace("@r2900 ", "!r2900 ");
    let mut bytes = text.as_bytes().chunks(5000).flat_map(bgzf_block).collect::<Vec<u8>>();
    // The checksum of the last block is wrong.
    let last = bytes.len() - 5;
    bytes[last] ^= 1;
    let path = folder.path().join("damaged.gz");
    std::fs::write(&path, bytes).unwrap();
    for run in 0..50 {
        // Small batches leave time between finding the first fault and reporting it.
        let options = RecordOptions {
            chunk_bytes: 5000,
            workers: 4,
            batch_records: 10,
            ..RecordOptions::default()
        };
        let segment = ReadInput::Single(Input::File(path.clone()));
        let (_, failed) = read_all(&[segment], &options).unwrap();
        let (_, error) = failed.expect("an error");
        assert!(error.to_string().contains("record 2901, line 11601"), "run {run}: {error}");
    }
}

/// A FASTA sequence is complete only if the text after it could be read.
#[test]
fn a_sequence_cut_off_by_damage_is_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let text: String =
        (0..40).map(|read| format!(">r{read}\n{}\n", "ACGTTGCATT\n".repeat(100))).collect();
    let mut bytes = text.as_bytes().chunks(3000).flat_map(bgzf_block).collect::<Vec<u8>>();
    let last = bytes.len() - 5;
    bytes[last] ^= 1;
    let path = folder.path().join("damaged.gz");
    std::fs::write(&path, bytes).unwrap();
    for workers in [1, 3] {
        let options = RecordOptions { chunk_bytes: 1000, workers, ..RecordOptions::default() };
        let records =
            Records::open(&[ReadInput::Single(Input::File(path.clone()))], options).unwrap();
        let mut batch = RecordBatch::default();
        let mut found = 0;
        while let Ok(Some(_)) = records.next(&mut batch) {
            found += batch.len();
            (0..batch.len()).for_each(|at| assert_eq!(batch.record(at).letters.len(), 1000));
        }
        assert_eq!(found, 37, "with {workers} workers");
    }
}

/// Long FASTA sequences are returned in overlapping stretches; the numbers of reads do not change.
#[test]
fn long_sequences_come_in_stretches() {
    let dir = tempfile::tempdir().unwrap();
    let letters = |length: usize| "ACGTTGCA".repeat(length / 8 + 1)[..length].to_owned();
    let reads = [letters(50), letters(5000), letters(7), letters(1234), letters(999)];
    let path = write(dir.path(), "a.fa", &laid_out(&reads, Some(70), ""));
    for workers in [1, 3] {
        let options = RecordOptions {
            keep: ALL,
            chunk_bytes: 256,
            batch_bytes: 300,
            workers,
            stretches: Some((400, 20)),
            ..RecordOptions::default()
        };
        let records =
            Records::open(&[ReadInput::Single(Input::File(path.clone()))], options.clone())
                .unwrap();
        let found = Mutex::new(Vec::new());
        run_workers::<Error, _>(workers, |_| {
            let mut batch = RecordBatch::default();
            while records.next(&mut batch)?.is_some() {
                let (stretch, place) = (batch.stretch(), batch.place(0).1);
                assert!(stretch.is_none() || batch.len() == 1);
                let (number, _, _, all) = listed(&batch);
                found.lock().unwrap().push((number, place, stretch, all));
            }
            Ok(())
        })
        .unwrap();
        let mut found = found.into_inner().unwrap();
        found.sort_by_key(|one| one.0);
        let mut whole: Vec<Record> = Vec::new();
        for (_, place, stretch, all) in found {
            let Some(stretch) = stretch.filter(|stretch| !stretch.begins) else {
                assert_eq!(place, whole.len() as u64 + 1);
                whole.extend(all);
                continue;
            };
            assert_eq!(place, whole.len() as u64);
            let last = whole.last_mut().unwrap();
            assert!(last.sequence.ends_with(&all[0].sequence[..20]));
            last.sequence += &all[0].sequence[20..];
            assert!(stretch.ends || all[0].sequence.len() == 400);
        }
        assert_eq!(whole, naive(&std::fs::read(&path).unwrap()));
    }
}

/// A record that is too long is refused as soon as its limit has been read, and the records before it are returned.
#[test]
fn records_that_are_too_long_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let reads = ["ACGT".to_owned(), "ACGTTGCA".repeat(4000)];
    for width in [None, Some(60)] {
        let path = write(dir.path(), "a", &laid_out(&reads, width, ""));
        for workers in [1, 3] {
            let options = RecordOptions {
                keep: ALL,
                chunk_bytes: 1000,
                workers,
                max_record: 20_000,
                ..RecordOptions::default()
            };
            let segments = [ReadInput::Single(Input::File(path.clone()))];
            let (batches, failed) = read_all(&segments, &options).unwrap();
            assert_eq!(batches.iter().map(|batch| batch.3.len()).sum::<usize>(), 1);
            let message = failed.unwrap().1.to_string();
            assert!(message.contains("record 2: longer than 19.5 KiB"), "{message}");
        }
    }
}

/// While one worker has a long record, no other worker receives one.
#[test]
fn long_records_come_one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let reads: Vec<String> = (0..40).map(|_| "ACGTTGCA".repeat(2000)).collect();
    for width in [None, Some(60)] {
        let path = write(dir.path(), "a", &laid_out(&reads, width, ""));
        let options = RecordOptions {
            keep: ALL,
            chunk_bytes: 1000,
            batch_bytes: 1000,
            workers: 4,
            ..RecordOptions::default()
        };
        let records = Records::open(&[ReadInput::Single(Input::File(path))], options).unwrap();
        let (here, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
        run_workers::<Error, _>(4, |_| {
            let mut batch = RecordBatch::default();
            while records.next(&mut batch)?.is_some() {
                assert!(batch.is_long());
                assert_eq!(here.fetch_add(1, Ordering::SeqCst), 0);
                std::thread::sleep(std::time::Duration::from_millis(1));
                seen.fetch_add(batch.len(), Ordering::SeqCst);
                here.fetch_sub(1, Ordering::SeqCst);
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(seen.into_inner(), 40);
    }
}

#[test]
fn pairs_among_single_reads_are_warned_of() {
    let fastq = |names: &[String]| -> String {
        names.iter().map(|name| format!("@{name}\nACGT\n+\nIIII\n")).collect()
    };
    let pairs = |count: usize, mates: [&str; 2]| -> Vec<String> {
        (0..count).flat_map(|pair| mates.map(|mate| format!("r{pair}{mate}"))).collect()
    };
    for (count, mates) in [
        (1, ["/1", "/2"]),
        (1, [" 1:N:0:A", " 2:N:0:A"]),
        (2, ["", ""]),
        (8, [".1", ".2"]),
        (40, ["_1", "_2"]),
    ] {
        let found = warned(&fastq(&pairs(count, mates)));
        let shown = format!("its first {} records are pairs", 2 * count.min(16));
        assert!(found.len() == 1 && found[0].contains(&shown), "{mates:?}: {found:?}");
    }
    // Single reads, some of which may look like mates.
    let singles = [
        pairs(1, ["", ""]),
        pairs(7, [".1", ".2"]),
        pairs(20, [".1", ".3"]),
        pairs(20, ["/1", "/1"]),
        (1..40).map(|number| format!("SRR1.{number}")).collect(),
        (1..40).map(|number| format!("r/{number}")).collect(),
        [pairs(6, ["", ""]), vec!["x".into(), "y".into()]].concat(),
        pairs(20, [" 1:N:0:A", "x 1:N:0:A"]),
    ];
    for names in singles {
        assert!(warned(&fastq(&names)).is_empty(), "{names:?}");
    }
    // Two haplotypes of each chromosome.
    let fasta = fastq(&pairs(20, ["_1", "_2"])).replace("@", ">").replace("+\nIIII\n", "");
    assert!(warned(&fasta).is_empty());
}

#[test]
fn any_names_and_files_that_are_not_mates() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| Input::File(write(folder.path(), name, text));
    let (one, two) = (file("1", ">a\nAC\n"), file("2", ">b\nGT\n"));
    let pair = [ReadInput::Pair(one.clone(), two)];
    let failed = |options: &RecordOptions| read_all(&pair, options).unwrap().1;
    assert!(failed(&RecordOptions::default()).is_some());
    assert!(failed(&RecordOptions { any_names: true, ..RecordOptions::default() }).is_none());
    let own = [ReadInput::Pair(one.clone(), one)];
    let message = Records::open(&own, RecordOptions::default()).err().unwrap().to_string();
    assert!(message.contains("the same file as first and as second mates"), "{message}");
    let options = RecordOptions { unrelated: true, ..RecordOptions::default() };
    assert!(read_all(&own, &options).unwrap().1.is_none());
}

//! SAM and BAM files in any form of compression, read in chunks of any size, return the reads. CRAM is tested with
//! files of samtools in the tests of the program.

use crate::common::{Collector, Dribble, Record, options, reader_of, record};
use merganser_io::{Chunk, Error, Input, Reader, Sink};
use merganser_run::run_workers_collect;
use merganser_test_forms::{WITHOUT_END, all_forms, bgzf_block, gzip};
use proptest::prelude::*;
use std::io::Cursor;

/// A read as it was sequenced, and the flags of its record.
#[derive(Clone, Debug)]
struct Read {
    name: String,
    flags: u16,
    sequence: String,
    quality: Option<String>,
}

const LETTERS: &str = "=ACMGRSVTWYHKDBN";

fn reads() -> impl Strategy<Value = Vec<Read>> {
    let flags = prop::sample::select(vec![0u16, 4, 16, 0x41, 0x91, 0x51, 0x100, 0x810, 0x900, 77]);
    let read = ("[a-z][!-?A-~]{0,19}", flags, "[ACGTNRY]{0,150}", any::<bool>());
    let read = read.prop_map(|(name, flags, sequence, has_quality)| {
        let quality = sequence
            .bytes()
            .enumerate()
            .map(|(at, base)| char::from((usize::from(base) * 7 + at * 3) as u8 % 60 + 43));
        let quality = (has_quality && sequence.len() > 1).then(|| quality.collect());
        Read { name, flags, sequence, quality }
    });
    prop::collection::vec(read, 0..20)
}

fn turned(sequence: &str) -> String {
    let other = |letter| match letter {
        'A' => 'T',
        'C' => 'G',
        'G' => 'C',
        'T' => 'A',
        'R' => 'Y',
        'Y' => 'R',
        other => other,
    };
    sequence.chars().rev().map(other).collect()
}

impl Read {
    /// Letters and qualities on the strand of the reference.
    fn aligned(&self) -> (String, Option<String>) {
        match self.flags & 16 {
            0 => (self.sequence.clone(), self.quality.clone()),
            _ => {
                let quality = self.quality.as_ref().map(|quality| quality.chars().rev().collect());
                (turned(&self.sequence), quality)
            }
        }
    }

    fn sam(&self) -> String {
        let (sequence, quality) = self.aligned();
        let column = |text: String| if text.is_empty() { "*".into() } else { text };
        let (sequence, quality) = (column(sequence), quality.unwrap_or_else(|| "*".into()));
        format!(
            "{}\t{}\tc\t5\t60\t*\t=\t7\t-9\t{sequence}\t{quality}\tXX:Z:a b\n",
            self.name, self.flags
        )
    }

    fn bam(&self) -> Vec<u8> {
        let (sequence, quality) = self.aligned();
        let mut out = vec![0; 12];
        out[8] = self.name.len() as u8 + 1;
        out.extend([0, 0]);
        out.extend(self.flags.to_le_bytes());
        out.extend((sequence.len() as u32).to_le_bytes());
        out.extend([0xff; 8]);
        out.extend([0; 4]);
        out.extend(self.name.bytes());
        out.push(0);
        let code = |letter: &u8| LETTERS.bytes().position(|other| other == *letter).unwrap() as u8;
        for pair in sequence.as_bytes().chunks(2) {
            out.push(code(&pair[0]) << 4 | pair.get(1).map_or(0, code));
        }
        match quality {
            Some(quality) => out.extend(quality.bytes().map(|letter| letter - 33)),
            None => out.extend(vec![0xff; sequence.len()]),
        }
        out.extend(b"XXZab\0");
        [&(out.len() as u32).to_le_bytes(), &out[..]].concat()
    }

    fn record(&self) -> Record {
        let mate = match self.flags & 0xc0 {
            0x40 => "/1",
            0x80 => "/2",
            _ => "",
        };
        let quality = self.quality.clone().unwrap_or_else(|| "~".repeat(self.sequence.len()));
        record(&format!("{}{mate}", self.name), &self.sequence, Some(&quality))
    }
}

const HEADER: &str = "@HD\tVN:1.6\n@SQ\tSN:c\tLN:9\n@CO\tany text\n";

fn sam(reads: &[Read], header: bool) -> Vec<u8> {
    let lines: String = reads.iter().map(Read::sam).collect();
    format!("{}{lines}", if header { HEADER } else { "" }).into_bytes()
}

fn bam(reads: &[Read]) -> Vec<u8> {
    let mut out = b"BAM\x01".to_vec();
    out.extend((HEADER.len() as u32).to_le_bytes());
    out.extend(HEADER.bytes());
    out.extend([1, 0, 0, 0, 2, 0, 0, 0, b'c', 0, 9, 0, 0, 0]);
    reads.iter().for_each(|read| out.extend(read.bam()));
    out
}

/// Returns the reads in the order of their chunks, and the number of skipped records.
fn read(reader: &Reader, workers: usize) -> Result<(Vec<Record>, u64), Error> {
    let parts = run_workers_collect(workers, |_| {
        let (mut chunk, mut parts) = (Chunk::default(), Vec::new());
        while reader.next_chunk(&mut chunk)? {
            let mut sink = Collector::new(0);
            chunk.parse(&mut sink).inspect_err(|_| reader.stop())?;
            parts.push((chunk.ordinal(), sink.records));
        }
        Ok(parts)
    });
    let mut parts = parts.map_err(|error| reader.earliest_error(error))?.concat();
    parts.sort();
    assert!(parts.iter().enumerate().all(|(at, (ordinal, _))| at as u64 == *ordinal));
    let records = parts.into_iter().flat_map(|(_, records)| records).collect();
    Ok((records, reader.skipped_alignments()))
}

fn expected(reads: &[Read]) -> (Vec<Record>, u64) {
    let primary = |read: &&Read| read.flags & 0x900 == 0;
    let records: Vec<_> = reads.iter().filter(primary).map(Read::record).collect();
    let skipped = (reads.len() - records.len()) as u64;
    (records, skipped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn each_read_comes_once_as_it_was_sequenced(
        reads in reads(), chunk in 1..3000usize, workers in 1..4usize,
    ) {
        let expected = expected(&reads);
        let mut texts = vec![("SAM", sam(&reads, true)), ("BAM", bam(&reads))];
        if !reads.is_empty() {
            texts.push(("SAM without header", sam(&reads, false)));
        }
        for (what, text) in texts {
            for (form, bytes) in all_forms(&text) {
                let found = read(&reader_of(&bytes, options(chunk, 8, workers)), workers);
                if what == "BAM" && form == WITHOUT_END {
                    let error = found.unwrap_err().to_string();
                    prop_assert_eq!(error, CUT);
                    continue;
                }
                let found = found
                    .map_err(|error| TestCaseError::fail(format!("{what}, {form}: {error}")))?;
                prop_assert_eq!(&found, &expected, "{}, {}", what, form);
            }
        }
    }

    #[test]
    fn damage_is_an_error_or_nothing(
        reads in reads(), at in any::<prop::sample::Index>(), byte: u8, chunk in 1..3000usize,
    ) {
        for mut text in [sam(&reads, true), bam(&reads)] {
            let at = at.index(text.len());
            text[at] = byte;
            let _ = read(&reader_of(&text, options(chunk, 8, 1)), 1);
        }
    }
}

const CUT: &str = "test: truncated: the BAM data end without their end-of-file block; copy or download \
                   the file again (if it is whole, samtools view -b writes one that has it)";

/// The error occurs when the file is opened, not after half of it has been processed.
#[test]
fn a_bam_file_that_is_cut_between_blocks_is_refused_at_once() {
    let one = Read { name: "r".into(), flags: 0, sequence: "ACGT".repeat(50), quality: None };
    let text = bam(&vec![one; 5000]);
    let blocks: Vec<u8> = text.chunks(20_000).flat_map(bgzf_block).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("test");
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Reader::open(&[Input::File(path.clone())], options(1000, 0, 1)).unwrap()
    };
    let error = open(&blocks).next_chunk(&mut Chunk::default()).unwrap_err().to_string();
    assert_eq!(error, CUT.replacen("test", &path.display().to_string(), 1));
    let whole = [&blocks[..], &bgzf_block(b"")].concat();
    assert_eq!(read(&open(&whole), 1).unwrap().0.len(), 5000);
    // With zeros after the last block, the error occurs only at the end.
    let padded = [&blocks[..], &[0; 40]].concat();
    assert!(matches!(read(&open(&padded), 1), Err(Error::NoEndBlock { .. })));
    let padded = [&whole[..], &[0; 40]].concat();
    assert_eq!(read(&open(&padded), 1).unwrap().0.len(), 5000);
}

#[test]
fn files_are_read_by_all_workers() {
    let dir = tempfile::tempdir().unwrap();
    let one = Read {
        name: "r".into(),
        flags: 16,
        sequence: "ACGTTGCAAC".repeat(20),
        quality: Some("ABCDEFGHIJ".repeat(20)),
    };
    let reads: Vec<_> = (0..2000)
        .map(|number| Read { name: format!("r{number}"), flags: number % 3 * 16, ..one.clone() })
        .collect();
    let expected = expected(&reads);
    for (name, bytes) in [("a.sam", sam(&reads, true)), ("b.sam", sam(&reads, false))] {
        for (name, bytes) in
            [(name.to_owned(), bytes.clone()), (format!("{name}.gz"), gzip(&bytes))]
        {
            let input = Input::File(dir.path().join(name));
            std::fs::write(input.path().unwrap(), bytes).unwrap();
            let inputs = [input];
            let reader = Reader::open_in_ranges(&inputs, options(20_000, 0, 3), 9000).unwrap();
            assert_eq!(read(&reader, 3).unwrap(), expected);
        }
    }
}

/// CRAM is rejected if it is not built in.
#[test]
fn other_formats() {
    let reader = reader_of(b"CRAM\x02\x01aaaaaaaaaaaaaaaaaaaa", options(1 << 16, 0, 1));
    let expected = if cfg!(feature = "cram") {
        "test: CRAM: version 2.1 is not supported, only 3.0 and 3.1: write the file again with \
         samtools view -C"
    } else {
        "test: CRAM: it is not built into this program: build it with the feature `cram`, \
         or write the file as BAM with samtools view -b"
    };
    assert_eq!(read(&reader, 1).unwrap_err().to_string(), expected);
}

#[test]
fn what_is_wrong_is_said() {
    let message = |text: &[u8]| {
        let reader = reader_of(text, options(1 << 16, 0, 1));
        read(&reader, 1).unwrap_err().to_string()
    };
    let good = "r\t0\tc\t5\t60\t2M\t*\t0\t0\tAC\tII\n";
    let after = |line: &str| message(format!("{HEADER}{good}{line}\n").as_bytes());
    let cases = [
        ("r\t0\tc\t5\t60\t2M\t*\t0\t0\tAC", "test: line 5: 10 columns: an alignment has 11; "),
        ("r\tx\tc\t5\t60\t2M\t*\t0\t0\tAC\tII", "test: line 5: the second column, 'x', should be "),
        ("r\t0\tc\t5\t60\t2M\t*\t0\t0\tAC\tIII", "test: line 5: 3 qualities for 2 letters: "),
        (
            "r\t0\tc\t5\t60\t2M\t*\t0\t0\tA\u{7}\tII",
            "test: line 5: binary data (byte 0x07) in its ",
        ),
        ("r s\t0\tc\t5\t60\t2M\t*\t0\t0\tAC\tII", "test: line 5: its name has the byte 0x20: "),
    ];
    for (line, expected) in cases {
        let message = after(line);
        assert!(message.starts_with(expected), "{message}");
    }
    let whole = bam(&[Read { name: "r".into(), flags: 0, sequence: "ACGT".into(), quality: None }]);
    for length in [6, 30, whole.len() - 1] {
        assert_eq!(
            message(&whole[..length]),
            "test: truncated: the BAM data end before they are complete; copy or download the file again"
        );
    }
    assert_eq!(
        message(&[&whole[..], &[1, 0, 0, 0, 0]].concat()),
        "test: record 2: its size is invalid: is the file damaged?"
    );
}

#[test]
fn other_text_is_not_taken_for_sam() {
    let cases = [
        ("@SQ\nACGT\n+\nIIII\n", 1),
        ("@HD comment\nACGT\n+\nIIII\n", 1),
        ("@SQ\tcomment\nACGT\n+\nIIII\n", 1),
        ("@HD\tVN\nACGT\n+\nIIII\n", 1),
        (">r\t0\tc\t5\t60\t2M\t*\t0\t0\tAC\tII\nACGT\n", 1),
    ];
    for (text, records) in cases {
        for chunk in [1, 3, 1000] {
            let reader = reader_of(text.as_bytes(), options(chunk, 0, 1));
            let mut sink = Records(0);
            let mut chunk = Chunk::default();
            while reader.next_chunk(&mut chunk).unwrap() {
                chunk.parse(&mut sink).unwrap();
            }
            assert_eq!(sink.0, records, "{text}");
        }
    }
    // Lines with 11 columns that are not alignments.
    for line in [
        "a\tb\tc\td\te\tf\tg\th\ti\tj\tk\n",
        "r\t0\tc\tx\t60\t2M\t*\t0\t0\tAC\tII\n",
        "r\t0\tc\t5\t60\tM2\t*\t0\t0\tAC\tII\n",
        "r\t0\tc\t5\t60\t2\t*\t0\t0\tAC\tII\n",
        "r\t70000\tc\t5\t60\t2M\t*\t0\t0\tAC\tII\n",
        "chr1\t0\t5\n",
    ] {
        for chunk in [1, 1000] {
            let bytes = Dribble(Cursor::new(line.as_bytes().to_vec()), 0);
            let readers = vec![("t".to_owned(), Box::new(bytes) as Box<dyn std::io::Read + Send>)];
            let reader = Reader::from_readers(readers, options(chunk, 0, 1));
            let error = reader.next_chunk(&mut Chunk::default()).unwrap_err().to_string();
            assert!(error.starts_with("t: not FASTA or FASTQ: starts with "), "{error}");
        }
    }
}

struct Records(u64);

impl Sink for Records {
    fn begin(&mut self, _: &[u8]) {
        self.0 += 1;
    }

    fn resume(&mut self) {}

    fn sequence(&mut self, _: &[u8], _: Option<&[u8]>) {}

    fn end(&mut self) {}
}

//! `merganser index` and `merganser map`, compared with the naive oracle, samtools and RazerS3.

mod circular;
mod discordant;
mod hits;
mod inputs;
mod pairs;
mod recipes;
mod samples;
mod shards;
mod sorted;

use std::collections::BTreeMap;
use std::io::Write as _;

use merganser_filter::Threshold;
use merganser_map::{Config, NMode, Strand};

use merganser_test_support::oracles::map::naive;
use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, Ran};

/// The name and the letters of a read.
pub(crate) type Read = (String, Vec<u8>);

/// Returns contigs with diverged copies of a repeat on both strands, a microsatellite and a run of N.
pub(crate) fn contigs(random: &mut Random) -> Vec<Vec<u8>> {
    let repeat = random.bases(220);
    let contig = |random: &mut Random, pieces: usize| {
        let mut contig = Vec::new();
        for _ in 0..pieces {
            match random.below(6) {
                0 => contig.extend(b"CA".repeat(10 + random.below(40))),
                1 => contig.extend(b"N".repeat(1 + random.below(9))),
                2 | 3 => {
                    let copy = edited(random, &repeat, 12);
                    let reverse = random.below(2) == 0;
                    contig.extend(if reverse { naive::reverse_complement(&copy) } else { copy });
                }
                _ => {
                    let bases = 100 + random.below(400);
                    contig.extend(random.bases(bases));
                }
            }
        }
        contig.extend(b"ACGTTGCAACGT");
        contig
    };
    [18, 7, 1].map(|pieces| contig(random, pieces)).to_vec()
}

fn edited(random: &mut Random, letters: &[u8], most: usize) -> Vec<u8> {
    let mut letters = letters.to_vec();
    for _ in 0..random.below(most + 1) {
        let at = random.below(letters.len());
        match random.below(9) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, b"ACGT"[random.below(4)]),
            2 if random.below(3) == 0 => letters[at] = b'N',
            _ => letters[at] = b"ACGT"[random.below(4)],
        }
    }
    letters
}

/// Returns reads of both strands and of various lengths with at most `most` edits; some are random.
pub(crate) fn reads(
    random: &mut Random,
    contigs: &[Vec<u8>],
    number: usize,
    most: usize,
) -> Vec<Read> {
    let read = |at| {
        let contig = &contigs[random.below(2)];
        let len = ([30, 75, 100, 100, 151][random.below(5)]).min(contig.len());
        let from = random.below(contig.len() - len + 1);
        let read = match random.below(12) {
            0 => random.bases(len),
            _ => edited(random, &contig[from..from + len], most),
        };
        let read = if random.below(2) == 0 { read } else { naive::reverse_complement(&read) };
        (format!("read{at}"), read)
    };
    (0..number).map(read).collect()
}

pub(crate) fn fasta(contigs: &[Vec<u8>]) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, contig) in contigs.iter().enumerate() {
        // Real names are long and contain bars and asterisks.
        writeln!(text, ">gi|{number}|HLA*A:0{number}_{} description", "x".repeat(300)).unwrap();
        for line in contig.chunks(70) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    text
}

pub(crate) fn fastq(reads: &[Read]) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, letters) in reads {
        let quality: Vec<u8> = (0..letters.len()).map(|at| 33 + (at % 40) as u8).collect();
        writeln!(text, "@{name} comment\n{}", String::from_utf8_lossy(letters)).unwrap();
        writeln!(text, "+\n{}", String::from_utf8_lossy(&quality)).unwrap();
    }
    text
}

/// A SAM record.
#[derive(Clone, Debug)]
struct Sam {
    name: String,
    flags: u16,
    contig: Option<usize>,
    /// The first base, from 0.
    start: usize,
    /// The last base, inclusive.
    end: usize,
    quality: u8,
    cigar: String,
    mate: String,
    mate_start: usize,
    template: i64,
    letters: String,
    qualities: String,
    tags: BTreeMap<String, String>,
}

impl Sam {
    fn number(&self, tag: &str) -> usize {
        self.tags[tag].parse().unwrap()
    }

    fn reverse(&self) -> bool {
        self.flags & 16 != 0
    }
}

/// Returns the operations of a CIGAR with their lengths.
fn operations(cigar: &str) -> Vec<(usize, char)> {
    let mut number = 0;
    let mut operations = Vec::new();
    for letter in cigar.chars().filter(|&letter| letter != '*') {
        match letter.to_digit(10) {
            Some(digit) => number = 10 * number + digit as usize,
            None => operations.push((std::mem::take(&mut number), letter)),
        }
    }
    operations
}

fn records(sam: &str) -> Vec<Sam> {
    let names: Vec<&str> =
        sam.lines().filter_map(|line| line.strip_prefix("@SQ\tSN:")?.split('\t').next()).collect();
    let record = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let start = fields[3].parse::<usize>().unwrap().wrapping_sub(1);
        let bases = |of: &str| -> usize {
            let all = operations(fields[5]);
            all.iter().filter(|(_, letter)| of.contains(*letter)).map(|(len, _)| len).sum()
        };
        let tag = |field: &&str| (field[..2].to_owned(), field[5..].to_owned());
        Sam {
            name: fields[0].to_owned(),
            flags: fields[1].parse().unwrap(),
            contig: names.iter().position(|&name| name == fields[2]),
            start,
            end: start.wrapping_add(bases("MD=X")).wrapping_sub(1),
            quality: fields[4].parse().unwrap(),
            cigar: fields[5].to_owned(),
            mate: fields[6].to_owned(),
            mate_start: fields[7].parse::<usize>().unwrap().wrapping_sub(1),
            template: fields[8].parse().unwrap(),
            letters: fields[9].to_owned(),
            qualities: fields[10].to_owned(),
            tags: fields[11..].iter().map(tag).collect(),
        }
    };
    sam.lines().filter(|line| !line.starts_with('@')).map(record).collect()
}

/// Scores an alignment only by its CIGAR and letters, and checks the reference that its MD encodes.
fn score(record: &Sam, read: &[u8], contig: &[u8]) -> usize {
    let (mut i, mut j, mut edits) = (0, record.start, 0);
    let mut aligned = Vec::new();
    for (len, operation) in operations(&record.cigar) {
        match operation {
            'I' => (i, edits) = (i + len, edits + len),
            'S' => i += len,
            'D' => (j, edits) = (j + len, edits + len),
            _ => {
                for _ in 0..len {
                    // NM counts ambiguous letters even if they match everything.
                    let differs = !naive::letters_match(NMode::Mismatch, read[i], contig[j]);
                    assert!(operation != if differs { '=' } else { 'X' }, "{}", record.cigar);
                    edits += usize::from(differs);
                    aligned.push(read[i]);
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
    }
    assert_eq!((i, j), (read.len(), record.end + 1), "{record:?}");
    assert_eq!(from_md(&record.tags["MD"], &aligned), contig[record.start..j].to_vec());
    edits
}

/// Reconstructs the reference under an alignment from MD and the aligned letters of the read.
fn from_md(md: &str, aligned: &[u8]) -> Vec<u8> {
    let (mut reference, mut at, mut deleted, mut number) = (Vec::new(), 0, false, String::new());
    for letter in md.bytes().chain([b'.']) {
        if letter.is_ascii_digit() {
            number.push(char::from(letter));
            continue;
        }
        if !number.is_empty() {
            let run: usize = number.parse().unwrap();
            reference.extend_from_slice(&aligned[at..at + run]);
            at += run;
            deleted = false;
            number.clear();
        }
        match letter {
            b'^' => deleted = true,
            b'.' => {}
            _ => {
                reference.push(letter);
                at += usize::from(!deleted);
            }
        }
    }
    assert_eq!(at, aligned.len(), "{md}");
    reference
}

/// Returns SAM without the line that names the command, in which the files have the names that were given.
pub(crate) fn without_command(sam: &str) -> String {
    let lines = sam.lines().filter(|line| !line.starts_with("@PG\t"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[track_caller]
fn sam(ran: Ran) -> String {
    ran.ok()
}

/// Asserts that the records of single reads match the oracle's hits.
fn check(text: &str, config: &Config, contigs: &[Vec<u8>], reads: &[Read], wanted: Wanted) {
    let mut records = records(text).into_iter().peekable();
    let is_early = matches!(wanted, Wanted::Best | Wanted::BestStrata);
    for (name, letters) in reads {
        let letters = &letters[..letters.len().min(config.crop.unwrap_or(u32::MAX) as usize)];
        let all = naive::hits(config, contigs, letters);
        let first = all.first().map_or(0, |hit| hit.edits);
        let most = match wanted {
            Wanted::All => usize::MAX,
            Wanted::Most(most) => most,
            Wanted::Best => 1,
            Wanted::BestStrata => all.iter().filter(|hit| hit.edits == first).count(),
        };
        let hits = &all[..all.len().min(most)];
        let mut own = Vec::new();
        while records.peek().is_some_and(|record| record.name == *name) {
            own.extend(records.next());
        }
        if hits.is_empty() {
            assert_eq!((own.len(), own[0].flags, &own[0].cigar[..]), (1, 4, "*"), "{name}");
            assert_eq!(own[0].letters.as_bytes(), letters);
            continue;
        }
        assert_eq!(own.len(), hits.len(), "{name}");
        for (number, (record, hit)) in own.iter().zip(hits).enumerate() {
            let found = (record.contig, record.reverse());
            assert_eq!(found, (Some(hit.contig), hit.reverse), "{name}");
            assert_eq!(record.number("NH"), hits.len());
            assert_eq!(record.number("HI"), number + 1);
            assert_eq!(record.flags & !16, if number == 0 { 0 } else { 256 });
            let query =
                if hit.reverse { naive::reverse_complement(letters) } else { letters.to_vec() };
            let edits = score(record, &query, &contigs[hit.contig]);
            assert_eq!(edits, record.number("NM"), "{name}");
            match config.n_mode {
                NMode::Match => assert!(edits >= hit.edits, "{name}"),
                _ => assert_eq!(edits, hit.edits, "{name}"),
            }
            if !config.hamming {
                let contig = &contigs[hit.contig];
                let expected = naive::align(&query, contig, hit.end, config.n_mode);
                assert_eq!((record.start, record.end), (expected.start, expected.end), "{name}");
                assert_eq!(plain(&record.cigar), cigar(&expected.operations), "{name}");
            } else {
                assert_eq!(record.end, hit.end, "{name}");
            }
            if number == 0 {
                let most = config.threshold.edits(letters.len());
                let quality = if is_early { early_quality(&all, most) } else { quality(&all) };
                assert_eq!(usize::from(record.quality), quality, "{name}");
                assert_eq!(record.letters.as_bytes(), query);
                let mut qualities: Vec<u8> =
                    (0..letters.len()).map(|at| 33 + (at % 40) as u8).collect();
                if hit.reverse {
                    qualities.reverse();
                }
                assert_eq!(record.qualities.as_bytes(), qualities);
            } else {
                assert_eq!((record.quality, &record.letters[..]), (0, "*"));
            }
        }
    }
    assert!(records.next().is_none());
}

/// Returns the mapping quality of the first hit of a read when all hits are requested.
fn quality(all: &[naive::NaiveHit]) -> usize {
    all.get(1).map_or(60, |next| (10 * (next.edits - all[0].edits)).min(50))
}

/// Returns the mapping quality when only the best hits, with at most `most` edits, are requested.
fn early_quality(all: &[naive::NaiveHit], most: usize) -> usize {
    let with = |edits| all.iter().filter(|hit| hit.edits == edits).count();
    match (with(all[0].edits), with(all[0].edits + 1)) {
        (1, 0) => (30 + 10 * (most - all[0].edits)).min(60),
        (1, rivals) => 25usize.saturating_sub(3 * rivals.ilog2() as usize).max(1),
        _ => 0,
    }
}

/// Returns a CIGAR with M instead of = and X.
fn plain(cigar: &str) -> String {
    let of = |(len, letter): (usize, char)| match letter {
        '=' | 'X' => "=".repeat(len),
        letter => letter.to_string().repeat(len),
    };
    self::cigar(operations(cigar).into_iter().map(of).collect::<String>().as_bytes())
}

/// Returns the CIGAR of single operations, with M instead of = and X.
fn cigar(operations: &[u8]) -> String {
    let letter = |byte: &u8| if b"=XM".contains(byte) { 'M' } else { char::from(*byte) };
    let runs = operations.chunk_by(|a, b| letter(a) == letter(b));
    runs.map(|run| format!("{}{}", run.len(), letter(&run[0]))).collect()
}

#[derive(Clone, Copy)]
enum Wanted {
    All,
    Best,
    BestStrata,
    Most(usize),
}

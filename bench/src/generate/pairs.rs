//! `merganser-bench gen pairs`: simulates pairs of a read and a segment that differ by a known number of edits.
//!
//! Pairs of the mixed kind have the bytes of the generator used for the published measurements (`gen pairs FILE
//! LENGTH PAIRS MAXEDITS SEED`): each block of 16,384 pairs has its own stream of random numbers.

use super::ordered::ordered;
use super::output::Output;
use crate::rng::Rng;
use anyhow::{Result, ensure};
use std::path::PathBuf;

/// `merganser-bench gen pairs …`
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    set: Set,
    #[command(flatten)]
    threads: super::Threads,
    /// Output file; - for stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Parameters of the pairs.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Set {
    /// Bases of reads, and of segments without --spare
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) length: usize,
    /// Additional bases of segments; the read is at a random position in its segment
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) spare: usize,
    /// Number of pairs
    #[arg(long, value_name = "N")]
    pub(crate) pairs: u64,
    /// Pair i has i mod (N + 1) edits
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) max_edits: usize,
    /// Seed: the same seed and options give the same bytes
    #[arg(long, value_name = "S", default_value_t = 5)]
    pub(crate) seed: u64,
    /// Kind of sequences and edits
    #[arg(long, value_enum, default_value_t = Kind::Mixed)]
    pub(crate) kind: Kind,
}

/// Kinds of sequences and edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Random bases; 70 % of the edits are substitutions
    Mixed,
    /// Random bases; insertions and deletions only
    Indels,
    /// Tandem repeats of a unit of one to six bases; edits as in mixed
    Repeats,
    /// Like mixed, with one letter in fifty replaced by N
    N,
}

/// Pairs per block.
const BLOCK: u64 = 1 << 14;

/// Writes the pairs.
///
/// # Errors
/// If options contradict each other, or the output cannot be written.
pub(crate) fn run(args: &Args) -> Result<()> {
    args.set.check()?;
    let mut output = Output::create(&args.output)?;
    let blocks = args.set.pairs.div_ceil(BLOCK);
    ordered(args.threads.get(), blocks, |block| args.set.block(block), |text| output.write(&text))?;
    output.finish()
}

impl Set {
    fn check(&self) -> Result<()> {
        ensure!(
            self.length > 0 && self.max_edits <= self.length,
            "--max-edits must not exceed --length"
        );
        Ok(())
    }

    /// Returns all lines.
    pub(crate) fn text(&self) -> Vec<u8> {
        (0..self.pairs.div_ceil(BLOCK)).flat_map(|block| self.block(block)).collect()
    }

    fn block(&self, block: u64) -> Vec<u8> {
        let mut rng = Rng::published(self.seed, 8_000_000_000 + block);
        let pairs = block * BLOCK..self.pairs.min((block + 1) * BLOCK);
        let mut text =
            Vec::with_capacity(pairs.clone().count() * (2 * self.length + self.spare + 2));
        let (mut window, mut edits, mut spare) = (Vec::new(), Vec::new(), Vec::new());
        for index in pairs {
            let wanted = (index % (self.max_edits as u64 + 1)) as usize;
            self.window(&mut rng, &mut window);
            self.edits(&mut rng, wanted, &mut edits);
            let at = text.len();
            read(&mut rng, &window, &edits, &mut text);
            text.push(b'\t');
            let before = self.spare(&mut rng, &mut spare);
            text.extend_from_slice(&spare[..before]);
            text.extend_from_slice(&window[..self.length]);
            text.extend_from_slice(&spare[before..]);
            if self.kind == Kind::N {
                for letter in &mut text[at..] {
                    if *letter != b'\t' && rng.below(50) == 0 {
                        *letter = b'N';
                    }
                }
            }
            text.push(b'\n');
        }
        text
    }

    /// Draws the segment and the bases after it.
    fn window(&self, rng: &mut Rng, window: &mut Vec<u8>) {
        window.clear();
        let length = self.length + self.max_edits + 8;
        if self.kind == Kind::Repeats {
            let unit = 1 + rng.below(6) as usize;
            rng.bases(unit, window);
            for i in unit..length {
                window.push(window[i - unit]);
            }
        } else {
            rng.bases(length, window);
        }
    }

    /// Draws the additional bases of a segment; returns how many of them come before the read's.
    fn spare(&self, rng: &mut Rng, spare: &mut Vec<u8>) -> usize {
        spare.clear();
        if self.spare == 0 {
            return 0;
        }
        rng.bases(self.spare, spare);
        rng.below(self.spare as u64 + 1) as usize
    }

    /// Draws the edits: for each base of the read 0, or a substitution, insertion or deletion.
    fn edits(&self, rng: &mut Rng, wanted: usize, edits: &mut Vec<u8>) {
        edits.clear();
        edits.resize(self.length, 0);
        let mut made = 0;
        while made < wanted {
            let at = rng.below(self.length as u64) as usize;
            if edits[at] != 0 {
                continue;
            }
            edits[at] = match rng.below(100) {
                0..70 if self.kind != Kind::Indels => 1,
                70..85 => 2,
                0..35 => 2,
                _ => 3,
            };
            made += 1;
        }
    }
}

fn read(rng: &mut Rng, window: &[u8], edits: &[u8], text: &mut Vec<u8>) {
    let mut from = 0;
    for edit in edits {
        match edit {
            1 => text.push(rng.other_base(window[from])),
            2 => {
                text.push(b"ACGT"[(rng.next() & 3) as usize]);
                continue;
            }
            3 => {
                from += 1;
                text.push(window[from]);
            }
            _ => text.push(window[from]),
        }
        from += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(kind: Kind) -> Set {
        Set { length: 100, spare: 0, pairs: 20_000, max_edits: 20, seed: 5, kind }
    }

    #[test]
    fn longer_segments_hold_their_reads_anywhere() {
        let text = Set { spare: 30, max_edits: 0, ..set(Kind::Mixed) }.text();
        let mut places = [0; 31];
        for line in text.chunks(232) {
            let (read, segment) = (&line[..100], &line[101..231]);
            let place = segment.windows(100).position(|part| part == read);
            places[place.expect("without edits, the read is in its segment")] += 1;
        }
        assert!(places.iter().all(|&reads| reads > 400), "{places:?}");
    }

    /// The first pair of the published program, and one of its second block.
    #[test]
    fn mixed_pairs_are_the_published_ones() {
        let text = set(Kind::Mixed).text();
        assert_eq!(text.len(), 20_000 * 202);
        let lines: Vec<&[u8]> = text.chunks(202).collect();
        line_is(lines[3], FIRST);
        line_is(lines[16_400], SECOND);
    }

    const FIRST: &str = "AATGGACGCATTCTCTGTAGAAGCACTGCAAACGTCAGCCACCCAGCGGTGGAAACCTTGGTAATTTGGTCGGTCCATGGTGACTATGTGCATTACTACA\tAATGGACGCATTCTCTGTAGAAGCACTGCAAACGTCAGCGACCCAGCGGTGGAAACCTTAGGTAATTTGGTCGGTCCATGGTGACTATGTGCATTACTTC";
    const SECOND: &str = "AATGTTCCGGTTTTACTACGGATGATCAAATACCCTATGTCCGTATCCTTGCTTACCGTTCCGGCTATACATAGATTGCTGCCGCATTGTGAGTGCTCAT\tTATGTTCCGGTTTTACTAATGATGATCAAATACGCTATGTCCGGATCCTAGCTTACGGTTGCAGCTATCACTAACTAATTGCTCTTATGTGAGTGCTCAT";

    fn line_is(line: &[u8], expected: &str) {
        assert_eq!(String::from_utf8_lossy(line).trim_end(), expected);
    }

    #[test]
    fn every_kind_has_whole_lines() {
        for kind in [Kind::Indels, Kind::Repeats, Kind::N] {
            let text = set(kind).text();
            assert!(text.chunks(202).all(|line| line[100] == b'\t' && line[201] == b'\n'));
            assert_eq!(text.contains(&b'N'), kind == Kind::N);
        }
    }
}

//! Reproducible simulated reads.

pub use merganser_test_random::Random;

use super::oracle::complement;

/// A read or a sequence.
#[derive(Clone, Debug)]
pub struct Record {
    pub sequence: Vec<u8>,
    /// Qualities as Phred+33 letters.
    pub quality: Option<Vec<u8>>,
}

impl From<&[u8]> for Record {
    fn from(sequence: &[u8]) -> Record {
        Record { sequence: sequence.to_vec(), quality: None }
    }
}

/// Simulates reads of 1 to 300 letters with qualities, from both strands of a genome of 2,000 bases, with errors, N,
/// IUPAC codes, lower case and U.
pub fn untidy(number: usize, seed: u64) -> Vec<Record> {
    let mut random = Random(seed);
    let genome = random.bases(2000);
    let read = |_| {
        let length = 1 + random.below(300);
        let start = random.below(genome.len() - length);
        let mut sequence = genome[start..start + length].to_vec();
        if random.below(2) == 0 {
            sequence = complement(&sequence);
        }
        for letter in &mut sequence {
            match random.below(400) {
                0 => *letter = b"NRYKM*-"[random.below(7)],
                1 => *letter = b"ACGT"[random.below(4)],
                2 => *letter = b"Uu"[random.below(2)],
                3..40 => letter.make_ascii_lowercase(),
                _ => {}
            }
        }
        let quality = sequence.iter().map(|_| 33 + random.below(42) as u8).collect();
        Record { sequence, quality: Some(quality) }
    };
    (0..number).map(read).collect()
}

/// Formats records as FASTQ with these line ends.
pub fn fastq(records: &[Record], end: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, record) in records.iter().enumerate() {
        text.extend(format!("@read{number} of a test{end}").as_bytes());
        text.extend(&record.sequence);
        text.extend(format!("{end}+{end}").as_bytes());
        match &record.quality {
            Some(quality) => text.extend(quality),
            None => text.extend(vec![b'I'; record.sequence.len()]),
        }
        text.extend(end.as_bytes());
    }
    text
}

/// Formats records as FASTA with `width` letters per line and these line ends.
pub fn fasta(records: &[Record], width: usize, end: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, record) in records.iter().enumerate() {
        text.extend(format!(">sequence{number} of a test{end}").as_bytes());
        for line in record.sequence.chunks(width) {
            text.extend(line);
            text.extend(end.as_bytes());
        }
    }
    text
}

/// Returns `megabytes` of FASTA reads of 150 bases from a random genome; each k-mer occurs about three times.
pub fn many(megabytes: usize) -> Vec<u8> {
    let mut random = Random(7);
    let genome = random.bases(megabytes << 18);
    let mut text = Vec::with_capacity((megabytes << 20) + 200);
    while text.len() < megabytes << 20 {
        let start = random.below(genome.len() - 150);
        text.extend_from_slice(b">r\n");
        text.extend_from_slice(&genome[start..start + 150]);
        text.push(b'\n');
    }
    text
}

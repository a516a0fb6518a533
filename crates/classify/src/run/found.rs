//! Batches with the candidates of their reads, and their encoding as bytes for runs that decide after all reads
//! have been seen.

use merganser_io::{Record, RecordBatch};

use crate::candidates::Seen;
use crate::{Candidate, Error};
use merganser_store::{ByteReader, ByteWriter};
use merganser_taxreport::by_database::DatabaseSet;

/// A batch with the results for its reads.
#[derive(Debug, Default)]
pub(super) struct FoundBatch {
    pub(super) batch: RecordBatch,
    pub(super) candidates: Vec<Candidate>,
    /// The end of each read's candidates.
    pub(super) ends: Vec<usize>,
    /// Pooled features from the parts of the database that have been queried.
    pub(super) seen: Seen,
    /// The databases that support the taxon of each read; empty if they were not looked up.
    pub(super) databases: Vec<DatabaseSet>,
}

/// A borrowed batch with its candidates.
#[derive(Clone, Copy)]
pub(super) struct Found<'b> {
    pub(super) batch: &'b RecordBatch,
    pub(super) candidates: &'b [Candidate],
    pub(super) ends: &'b [usize],
    /// The letters of each read's mates that are classified; may be empty unless
    /// [needed](super::passes::RunContext::needs_letters).
    pub(super) views: &'b [[&'b [u8]; 2]],
    /// The databases that support the taxon of each read; empty if they have yet to be looked up.
    pub(super) databases: &'b [DatabaseSet],
}

/// The length of missing qualities.
const NO_QUALITY: u32 = u32::MAX;

impl Found<'_> {
    /// Encodes the batch, without the views, and with `seen`.
    pub(super) fn store(&self, seen: &Seen) -> Vec<u8> {
        let batch = self.batch;
        let letters: usize = (0..batch.len()).map(|at| batch.letter_count(at)).sum();
        let mut bytes = Vec::with_capacity(2 * letters + 60 * batch.len());
        bytes.put_u64(batch.first());
        bytes.put_u32(u32::from(batch.is_paired()));
        for file in batch.files() {
            bytes.put_u32(file.len() as u32);
            bytes.extend_from_slice(file.as_bytes());
        }
        bytes.put_u64(batch.place(0).1);
        bytes.put_u32(batch.len() as u32);
        for at in 0..batch.len() {
            let Record { name, header, letters, quality } = batch.record(at);
            let alignments = batch.alignments(at);
            bytes.put_u32(name.len() as u32);
            bytes.put_u32(header.len() as u32);
            bytes.put_u64(letters.len() as u64);
            bytes.put_u32(quality.map_or(NO_QUALITY, |_| 0));
            bytes.put_u64(alignments.len() as u64);
            bytes.extend_from_slice(header);
            bytes.extend_from_slice(letters);
            // Qualities have the length of the letters.
            bytes.extend_from_slice(quality.unwrap_or_default());
            bytes.extend_from_slice(alignments);
        }
        bytes.put_u32(self.ends.len() as u32);
        self.ends.iter().for_each(|&end| bytes.put_u32(end as u32));
        for &Candidate { target, taxon, hits, pooled, window, last, nodes } in self.candidates {
            let values = [target, taxon, hits, pooled, window, last, nodes[0], nodes[1]];
            values.iter().for_each(|&value| bytes.put_u32(value));
        }
        bytes.put_u32(seen.ends.len() as u32);
        seen.ends.iter().for_each(|&end| bytes.put_u32(end as u32));
        seen.bits.iter().for_each(|&bits| bytes.put_u64(bits));
        bytes.put_u32(self.databases.len() as u32);
        self.databases.iter().for_each(|&databases| bytes.put_u32(databases));
        bytes
    }
}

impl FoundBatch {
    pub(super) fn found<'b>(&'b self, views: &'b [[&'b [u8]; 2]]) -> Found<'b> {
        let FoundBatch { batch, candidates, ends, databases, .. } = self;
        Found { batch, candidates, ends, views, databases }
    }

    pub(super) fn load(bytes: &[u8]) -> Result<FoundBatch, Error> {
        let lost = || Error::Input("temporary data is damaged: it is not what was written".into());
        FoundBatch::parse(&mut ByteReader(bytes)).ok_or_else(lost)
    }

    fn parse(bytes: &mut ByteReader<'_>) -> Option<FoundBatch> {
        let (first, paired) = (bytes.u64()?, bytes.u32()? != 0);
        let mut file = || {
            let length = bytes.u32()? as usize;
            std::str::from_utf8(bytes.bytes(length)?).ok()
        };
        let files = [file()?, file()?];
        let mut batch = RecordBatch::of(paired, first).from(files, bytes.u64()?);
        for _ in 0..bytes.u32()? {
            let (name, header) = (bytes.u32()? as usize, bytes.u32()? as usize);
            let (letters, quality) = (bytes.u64()? as usize, bytes.u32()?);
            let alignments = bytes.u64()? as usize;
            let (header, letters) = (bytes.bytes(header)?, bytes.bytes(letters)?);
            let quality = match quality {
                NO_QUALITY => None,
                _ => Some(bytes.bytes(letters.len())?),
            };
            let record = Record { name: header.get(..name)?, header, letters, quality };
            batch.push_with(&record, bytes.bytes(alignments)?);
        }
        let mut ends = Vec::new();
        for _ in 0..bytes.u32()? {
            ends.push(bytes.u32()? as usize);
        }
        let mut candidates = Vec::new();
        for _ in 0..ends.last().copied().unwrap_or(0) {
            let mut value = || bytes.u32();
            let (target, taxon, hits, pooled) = (value()?, value()?, value()?, value()?);
            let (window, last, nodes) = (value()?, value()?, [value()?, value()?]);
            candidates.push(Candidate { target, taxon, hits, pooled, window, last, nodes });
        }
        let mut seen = Seen::default();
        for _ in 0..bytes.u32()? {
            seen.ends.push(bytes.u32()? as usize);
        }
        for _ in 0..seen.ends.last().copied().unwrap_or(0) {
            seen.bits.push(bytes.u64()?);
        }
        let mut databases = Vec::new();
        for _ in 0..bytes.u32()? {
            databases.push(bytes.u32()?);
        }
        Some(FoundBatch { batch, candidates, ends, seen, databases })
    }
}

/// Removes the candidates of targets that are not to be kept.
pub(super) fn keep(candidates: &mut Vec<Candidate>, ends: &mut [usize], targets: &[bool]) {
    let (mut start, mut kept) = (0, Vec::with_capacity(candidates.len()));
    for end in ends {
        let own = candidates[start..*end].iter();
        start = *end;
        kept.extend(own.filter(|candidate| targets[candidate.target as usize]));
        *end = kept.len();
    }
    *candidates = kept;
}

/// Merges the candidates of further parts into those of each read, up to `most` for each read: ordered by hits,
/// then target, with one for each taxon.
pub(super) fn merge(
    candidates: &mut Vec<Candidate>,
    ends: &mut [usize],
    others: &[Candidate],
    other_ends: &[usize],
    most: usize,
) {
    let (mut start, mut other_start) = (0, 0);
    let mut merged = Vec::with_capacity(candidates.len() + others.len());
    let mut own: Vec<Candidate> = Vec::new();
    for (end, &other_end) in ends.iter_mut().zip(other_ends) {
        own.clear();
        own.extend(&candidates[start..*end]);
        own.extend(&others[other_start..other_end]);
        (start, other_start) = (*end, other_end);
        own.sort_by_key(|one| (std::cmp::Reverse(one.hits), one.target));
        let from = merged.len();
        for one in &own {
            let known: &mut [Candidate] = &mut merged[from..];
            let room = known.len() < most;
            match known.iter_mut().find(|other| other.taxon == one.taxon) {
                Some(other) if other.hits == one.hits => other.widen(one),
                None if room => merged.push(*one),
                _ => {}
            }
        }
        *end = merged.len();
    }
    *candidates = merged;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_come_back_as_they_were() {
        let record = Record { name: b"a", header: b"a bc", letters: b"ACGT", quality: None };
        let mut batch = RecordBatch::of(true, 9).from(["1.sam", "2.sam"], 5);
        batch.push_with(&record, b"a\t4\n");
        batch.push(&Record { quality: Some(b"IIII"), ..record });
        let candidate = |target| Candidate {
            target,
            taxon: 7,
            hits: 3,
            pooled: 4,
            window: 2,
            last: 4,
            nodes: [5, 9],
        };
        let seen = Seen { bits: vec![1, 2, 3], ends: vec![1, 3] };
        let candidates = vec![candidate(0), candidate(1), candidate(0)];
        let databases = vec![1, 0, 1 << 31];
        let found = FoundBatch { batch, candidates, ends: vec![2, 2, 3], seen, databases };
        let bytes = found.found(&[]).store(&found.seen);
        let mut again = FoundBatch::load(&bytes).unwrap();
        assert_eq!(again.found(&[]).store(&again.seen), bytes);
        assert_eq!((&again.seen, &again.databases), (&found.seen, &found.databases));
        assert_eq!(again.batch.record(0), record);
        assert_eq!(again.batch.record(1).quality, Some(&b"IIII"[..]));
        assert_eq!((again.batch.first(), again.batch.is_paired()), (9, true));
        assert_eq!([0, 1].map(|at| again.batch.place(at)), [("1.sam", 5), ("2.sam", 5)]);
        assert_eq!([0, 1].map(|at| again.batch.alignments(at)), [&b"a\t4\n"[..], b""]);
        assert_eq!((&again.candidates, &again.ends), (&found.candidates, &found.ends));
        assert!(FoundBatch::load(&bytes[..bytes.len() - 1]).is_err());
        keep(&mut again.candidates, &mut again.ends, &[false, true]);
        assert_eq!((again.candidates, again.ends), (vec![candidate(1)], vec![1, 1, 1]));
    }
}

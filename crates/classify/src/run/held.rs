//! Batches with their candidates as bytes, for runs that decide when all reads have been seen.

use super::reads::{Batch, Ends};
use crate::bytes::{Reading, Writing};
use crate::{Candidate, Error};

/// A batch and what was found for its reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeldBatch {
    pub(super) batch: Batch,
    pub(super) candidates: Vec<Candidate>,
    /// Where the candidates of each read end.
    pub(super) ends: Vec<usize>,
}

impl HeldBatch {
    pub(super) fn store(&self) -> Vec<u8> {
        let Batch { text, ends, paired, first } = &self.batch;
        let mut bytes = Vec::with_capacity(text.len() + 33 * ends.len());
        bytes.put_u64(*first);
        bytes.put_u32(u32::from(*paired));
        bytes.put_u64(text.len() as u64);
        bytes.extend_from_slice(text);
        bytes.put_u32(ends.len() as u32);
        for &Ends { name, header, letters, quality, fastq } in ends {
            [name, header, letters, quality].iter().for_each(|&end| bytes.put_u64(end as u64));
            bytes.put_u32(u32::from(fastq));
        }
        bytes.put_u32(self.ends.len() as u32);
        self.ends.iter().for_each(|&end| bytes.put_u32(end as u32));
        for &Candidate { target, taxon, hits, window, last } in &self.candidates {
            [target, taxon, hits, window, last].iter().for_each(|&value| bytes.put_u32(value));
        }
        bytes
    }

    pub(super) fn load(bytes: &[u8]) -> Result<HeldBatch, Error> {
        let lost = || Error::Input("temporary data is not what was written to it".into());
        HeldBatch::parse(&mut Reading(bytes)).ok_or_else(lost)
    }

    fn parse(bytes: &mut Reading<'_>) -> Option<HeldBatch> {
        let (first, paired) = (bytes.u64()?, bytes.u32()? != 0);
        let length = bytes.u64()? as usize;
        let text = bytes.bytes(length)?.to_vec();
        let mut ends = Vec::new();
        for _ in 0..bytes.u32()? {
            let mut end = || bytes.u64().map(|end| end as usize);
            let (name, header, letters, quality) = (end()?, end()?, end()?, end()?);
            ends.push(Ends { name, header, letters, quality, fastq: bytes.u32()? != 0 });
        }
        let mut candidate_ends = Vec::new();
        for _ in 0..bytes.u32()? {
            candidate_ends.push(bytes.u32()? as usize);
        }
        let mut candidates = Vec::new();
        for _ in 0..candidate_ends.last().copied().unwrap_or(0) {
            let mut value = || bytes.u32();
            let (target, taxon, hits) = (value()?, value()?, value()?);
            candidates.push(Candidate { target, taxon, hits, window: value()?, last: value()? });
        }
        let batch = Batch { text, ends, paired, first };
        Some(HeldBatch { batch, candidates, ends: candidate_ends })
    }

    /// Leaves out the candidates of targets that are not to be kept.
    pub(super) fn keep(&mut self, targets: &[bool]) {
        let (mut start, mut kept) = (0, Vec::with_capacity(self.candidates.len()));
        for end in &mut self.ends {
            let own = self.candidates[start..*end].iter();
            start = *end;
            kept.extend(own.filter(|candidate| targets[candidate.target as usize]));
            *end = kept.len();
        }
        self.candidates = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_come_back_as_they_were() {
        let ends = Ends { name: 1, header: 4, letters: 8, quality: 12, fastq: true };
        let candidate = |target| Candidate { target, taxon: 7, hits: 3, window: 2, last: 4 };
        let held = HeldBatch {
            batch: Batch {
                text: b"a bcACGTIIII".to_vec(),
                ends: vec![ends; 2],
                paired: true,
                first: 9,
            },
            candidates: vec![candidate(0), candidate(1), candidate(0)],
            ends: vec![2, 2, 3],
        };
        assert_eq!(HeldBatch::load(&held.store()).unwrap(), held);
        let bytes = held.store();
        assert!(HeldBatch::load(&bytes[..bytes.len() - 1]).is_err());
        let mut kept = held;
        kept.keep(&[false, true]);
        assert_eq!((kept.candidates, kept.ends), (vec![candidate(1)], vec![1, 1, 1]));
    }
}

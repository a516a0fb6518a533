//! Mapping of reads in memory.

use std::ops::Range;

use merganser_run::{Context, each_in_order};

use crate::cpu::{Mapper, Strata};
use crate::hits::{Hit, strata};
use crate::output::selected;
use crate::trace::Alignment;
use crate::{Config, Error, Index, MAX_READ, Operation, Prefilter};

/// A hit of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadHit {
    /// The number of the contig in [`Index::contigs`].
    pub contig: usize,
    /// The position of the first aligned base in the contig, from 0.
    ///
    /// An alignment over the junction of a circular contig goes on at the contig's first base.
    pub position: u32,
    /// Whether the read's reverse complement is aligned.
    pub reverse: bool,
    /// The number of edits, the fewest of any alignment at this place. With [`Config::clip`], the number of
    /// edits that are left after clipping.
    pub edits: u32,
    /// The alignment from the first base in the contig to the last: operations with their lengths in bases.
    /// Neighbouring operations differ, and matches are distinguished from mismatches.
    pub cigar: Vec<(Operation, u32)>,
}

/// The number of reads that a thread maps at a time.
const AT_ONCE: usize = 512;

/// Maps reads on the threads of `context`, and returns the hits of each, in the order of the reads.
///
/// Hits of a read are ordered by edits, contig and last position; [`Config::select`] and [`Config::max_hits`]
/// limit them to the first ones. [`Config::filter`] is ignored. Threads may share an index.
///
/// ```
/// use merganser_filter::Threshold;
/// use merganser_map::{Config, Operation, build_in_memory, run_in_memory};
/// use merganser_run::Context;
///
/// let folder = tempfile::tempdir()?;
/// let fasta = folder.path().join("reference.fa");
/// std::fs::write(&fasta, ">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")?;
/// let context = Context::new();
/// let (index, _) = build_in_memory(fasta, &context)?;
///
/// // The reverse complement of GATTACAGATCCCGTAA, with its fifth base changed.
/// let config = Config::new(Threshold::Edits(1));
/// let hits = run_in_memory(&config, &index, &["TTACCGGATCTGTAATC"], &context)?;
/// let [hit] = &hits[0][..] else { panic!("{hits:?}") };
/// assert_eq!((hit.contig, hit.position, hit.reverse, hit.edits), (0, 10, true, 1));
/// let cigar = [(Operation::Match, 12), (Operation::Mismatch, 1), (Operation::Match, 4)];
/// assert_eq!(hit.cigar, cigar);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the configuration is invalid, the index is damaged, a read is longer than [`MAX_READ`] bases or has a
/// byte that is not an IUPAC letter (the message has the read's number, from 1), or the run is cancelled.
pub fn run_in_memory<R: AsRef<[u8]> + Sync>(
    config: &Config,
    index: &Index,
    reads: &[R],
    context: &Context,
) -> Result<Vec<Vec<ReadHit>>, Error> {
    config.validate()?;
    context.validate()?;
    index.check(context.threads, &context.cancel)?;
    // Other filters need a copy of the reference in their own form, and find the same hits.
    let config = Config { filter: Prefilter::Exact, ..config.clone() };
    let (view, cancel) = (index.view(), &context.cancel);
    let gaps = view.gaps(config.n_mode);
    let begin = || {
        let mapper = Mapper::new(view, &config, &gaps, None, cancel);
        (mapper, Strata::new(view, &config, cancel))
    };
    let parts = 0..reads.len().div_ceil(AT_ONCE);
    let done = each_in_order(context.threads, parts, cancel, begin, |(mapper, strata), part| {
        let first = part * AT_ONCE;
        map_part(mapper, strata, &reads[first..reads.len().min(first + AT_ONCE)], first)
    })?;
    Ok(done.into_iter().flatten().collect())
}

/// Maps some reads; `first` is the number of reads before them.
fn map_part<R: AsRef<[u8]>>(
    mapper: &mut Mapper<'_>,
    strata: &mut Strata<'_>,
    reads: &[R],
    first: usize,
) -> Result<Vec<Vec<ReadHit>>, Error> {
    mapper.clear(1);
    for (read, number) in reads.iter().zip(first + 1..) {
        push(mapper, read.as_ref())
            .map_err(|problem| Error::Input(format!("read {number}: {problem}")))?;
    }
    let (mut mapped, mut hits, mut bounds) =
        (Vec::with_capacity(reads.len()), Vec::new(), Vec::new());
    while mapped.len() < reads.len() {
        let from = mapped.len();
        let to = strata.map(mapper, from..reads.len(), 1, &mut hits, &mut bounds)?;
        take(mapper, from..to, &hits, &bounds, &mut mapped);
    }
    // Alignments that were traced after a cancellation are invalid.
    mapper.cancel.check()?;
    Ok(mapped)
}

/// Adds a read to the queries, or returns what is wrong with it.
fn push(mapper: &mut Mapper<'_>, read: &[u8]) -> Result<(), String> {
    if read.len() > MAX_READ {
        return Err(format!("{} bases: reads may have up to {MAX_READ}", read.len()));
    }
    mapper.push(read)
}

/// Appends the selected hits of each read.
fn take(
    mapper: &Mapper<'_>,
    reads: Range<usize>,
    hits: &[Hit],
    bounds: &[usize],
    mapped: &mut Vec<Vec<ReadHit>>,
) {
    let (text, config) = (&mapper.view.text, mapper.config);
    let mut alignment = Alignment::of_run(&mapper.cancel);
    let mut start = 0;
    for (read, &end) in reads.zip(bounds) {
        let own = &hits[start..end];
        start = end;
        let (count, _) = selected(config, strata(own));
        let described = own[..count as usize].iter().map(|hit| {
            alignment.of_hit(&mapper.queries, read, hit, text, config.n_mode, &[]);
            let edits = alignment.finish(&mapper.queries, read, hit, text, config);
            let contig = &text.contigs[hit.contig as usize];
            ReadHit {
                contig: hit.contig as usize,
                position: (alignment.start - contig.start) % contig.len,
                reverse: hit.reverse,
                edits,
                cigar: alignment.operations.clone(),
            }
        });
        mapped.push(described.collect());
    }
}

#[cfg(test)]
mod tests {
    use merganser_filter::Threshold;
    use merganser_run::Context;

    use super::*;
    use crate::Select;
    use crate::reference::Reference;
    use crate::run::build_of;
    use merganser_seq::base::COMPLEMENT;
    use merganser_test_random::Random;

    fn bases(count: usize) -> Vec<u8> {
        Random(7).bases(count)
    }

    fn index(contigs: &[Vec<u8>]) -> Index {
        let context = Context::new().threads(1).memory(1 << 30);
        let reference = Reference::of(contigs);
        build_of(reference, &context, None, None).unwrap().0
    }

    fn map(index: &Index, config: &Config, reads: &[&[u8]]) -> Result<Vec<Vec<ReadHit>>, Error> {
        run_in_memory(config, index, reads, &Context::new().threads(2))
    }

    #[test]
    fn many_reads_at_once_have_the_hits_that_each_has_alone() {
        let text = bases(5000);
        let contigs = [text[..2000].to_vec(), text[2000..].to_vec()];
        let index = index(&contigs);
        let config = Config::new(Threshold::Edits(2));
        let forward = contigs[1].windows(60).step_by(27);
        let reverse = |read: &[u8]| -> Vec<u8> {
            read.iter().rev().map(|&base| COMPLEMENT[usize::from(base)]).collect()
        };
        let reads: Vec<Vec<u8>> = forward.flat_map(|read| [read.to_vec(), reverse(read)]).collect();
        let reads: Vec<&[u8]> = reads.iter().map(Vec::as_slice).collect();
        let all = map(&index, &config, &reads).unwrap();
        for (number, (read, hits)) in reads.iter().zip(&all).enumerate() {
            assert_eq!(*hits, map(&index, &config, &[read]).unwrap()[0]);
            let expected = ReadHit {
                contig: 1,
                position: 27 * (number as u32 / 2),
                reverse: number % 2 == 1,
                edits: 0,
                cigar: vec![(Operation::Match, 60)],
            };
            assert_eq!(hits[0], expected);
        }
    }

    #[test]
    fn positions_outside_of_the_reference_are_no_hits() {
        let text = bases(200);
        let mut index = index(std::slice::from_ref(&text));
        let config = Config::new(Threshold::Edits(2));
        let read = &text[50..110];
        for forged in [199, 200, 5000, u32::MAX - 1, u32::MAX] {
            index.forge_positions(forged);
            for hit in &map(&index, &config, &[read]).unwrap()[0] {
                assert_eq!((hit.position, hit.edits), (50, 0));
            }
        }
    }

    #[test]
    fn the_configuration_selects_hits() {
        let repeat = bases(100);
        let index = index(&[repeat.clone(), repeat.clone(), repeat.clone()]);
        let read = &repeat[20..80];
        let count = |config: &Config| map(&index, config, &[read]).unwrap()[0].len();
        let config = Config::new(Threshold::Edits(1));
        assert_eq!(count(&config), 3);
        assert_eq!(count(&Config { max_hits: 2, ..config.clone() }), 2);
        assert_eq!(count(&Config { select: Select::Best, ..config }), 1);
    }

    #[test]
    fn what_is_wrong_with_a_read_is_said_with_its_number() {
        let index = index(&[bases(100)]);
        let config = Config::new(Threshold::Edits(1));
        let message = |read: &[u8]| map(&index, &config, &[b"ACGT", read]).unwrap_err().to_string();
        assert_eq!(message(b"AC-T"), "read 2: '-' at base 3 is no letter of DNA");
        let long = vec![b'A'; MAX_READ + 1];
        assert_eq!(message(&long), "read 2: 16385 bases: reads may have up to 16384");
        assert!(map(&index, &config, &[]).unwrap().is_empty());
    }
}

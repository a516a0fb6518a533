//! Phase 3: all workers sort and encode ranges of k-mers; the results are written in the order of the ranges.

use std::marker::PhantomData;
use std::time::Duration;

use merganser_kmers::formats::{EncodedSection, Encoder, MgkBlocks, Sink};
use merganser_kmers::scattered::{KmerContents, sort_range};
use merganser_run::engine::{Engine, NumberSource, Turn, Work};
use merganser_run::{Cancel, InOrderSink, Silent};
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::results::Results;

/// A source of the k-mers of a table.
pub(crate) trait TableContents<K>: Sync {
    /// Returns a reader of sections for one worker.
    fn sections(&self) -> Box<dyn Sections<K> + Send + '_>;
}

/// Produces sections of a table.
pub(crate) trait Sections<K> {
    /// Passes to `each` the k-mers whose first `section_bits` bits are `section`, in order: as one
    /// stretch, or as several if they are too many to be in memory at once. The flag is `true` for the last.
    fn section(
        &mut self,
        section: usize,
        section_bits: u32,
        each: Stretches<'_, K>,
    ) -> Result<(), Error>;
}

/// Sorted k-mers of a section.
pub(crate) enum Stretch<'s, K> {
    /// k-mers in memory; a section may have any number of such stretches.
    Kmers(&'s [(K, u32)]),
    /// Encoded blocks; such a stretch is always the only one of its section.
    Blocks(MgkBlocks<'s, K>),
}

/// A callback that takes the stretches of a section.
pub(crate) type Stretches<'s, K> = &'s mut dyn FnMut(Stretch<'_, K>, bool) -> Result<(), Error>;

/// The workers that write a table.
#[derive(Clone, Copy)]
pub(crate) struct Workers {
    /// The number of threads.
    pub(crate) threads: usize,
    /// The number of k-mers that may wait, encoded, because their section is divided and it is not yet its turn. Without them,
    /// divided sections would be sorted one after the other.
    pub(crate) waiting: u64,
}

/// Sorts, encodes and writes all results, in 2^`section_bits` sections (at most as many as there are ranges).
pub(crate) fn emit<K: Kmer, E: Encoder<K>, S: Sink<E::Encoded>>(
    source: &dyn TableContents<K>,
    section_bits: u32,
    workers: Workers,
    cancel: &Cancel,
    encoder: &E,
    sink: S,
) -> Result<Duration, Error> {
    let Workers { threads, waiting } = workers;
    let numbers = NumberSource::up_to(1 << section_bits);
    // Twice the number of threads: each thread can encode one section while another waits to be written.
    let ahead = 2 * threads.max(1) as u64;
    let engine = Engine::new(&numbers, Written(sink), ahead, &Silent, cancel).with_waiting(waiting);
    engine.run(threads, || Emitting {
        sections: source.sections(),
        section_bits,
        encoder,
        kmer: PhantomData,
    })?;
    Ok(engine.finish()?.0.finish()?)
}

/// The sink that writes encoded sections in their order in the table.
struct Written<S>(S);

impl<P, S: Sink<P>> InOrderSink<P> for Written<S> {
    type Error = Error;

    fn write(&mut self, part: P) -> Result<Option<P>, Error> {
        Ok(self.0.write(part).map(|()| None)?)
    }
}

/// A worker that makes and encodes sections.
struct Emitting<'e, K, E> {
    sections: Box<dyn Sections<K> + Send + 'e>,
    section_bits: u32,
    encoder: &'e E,
    kmer: PhantomData<K>,
}

impl<K: Kmer, E: Encoder<K>> Work for Emitting<'_, K, E> {
    type Batch = u64;
    type Output = E::Encoded;
    type Error = Error;

    fn work(
        &mut self,
        section: &mut u64,
        turn: &Turn<'_, E::Encoded, Error>,
    ) -> Result<E::Encoded, Error> {
        let mut encoded = EncodedSection::new(self.encoder);
        let mut last_part = None;
        self.sections.section(*section as usize, self.section_bits, &mut |stretch, last| {
            match stretch {
                Stretch::Blocks(blocks) => last_part = Some(self.encoder.encode_blocks(&blocks)),
                Stretch::Kmers(kmers) => encoded.add(kmers, last, |part, kmers, ends| {
                    if ends {
                        last_part = Some(part);
                    } else {
                        // A refused part means that the run has failed; the engine notices that before the next section.
                        turn.hand_over_early(part, kmers as u64);
                    }
                }),
            }
            Ok(())
        })?;
        Ok(last_part.expect("every section has a last part"))
    }
}

impl<K: Kmer> TableContents<K> for Results<'_, K> {
    fn sections(&self) -> Box<dyn Sections<K> + Send + '_> {
        Box::new(Sorting::new(self))
    }
}

/// A worker's buffers.
pub(crate) struct Sorting<'s, 'p, K> {
    results: &'s Results<'p, K>,
    buffer: Vec<u8>,
    range: Vec<(K, u32)>,
    swap: Vec<(K, u32)>,
    section: Vec<(K, u32)>,
}

impl<'s, 'p, K> Sorting<'s, 'p, K> {
    pub(crate) fn new(results: &'s Results<'p, K>) -> Sorting<'s, 'p, K> {
        let (buffer, range, swap, section) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Sorting { results, buffer, range, swap, section }
    }
}

/// Bits by which a range with too many k-mers to sort at once is divided, per pass.
const DIVIDING_BITS: u32 = 12;

impl<K: Kmer> Sections<K> for Sorting<'_, '_, K> {
    /// Sorts the k-mers of the ranges of `section`.
    fn section(
        &mut self,
        section: usize,
        section_bits: u32,
        each: Stretches<'_, K>,
    ) -> Result<(), Error> {
        let (results, most) = (self.results.scattered(), self.results.max_at_once());
        let (k, bits) = (results.records().k(), results.records().range_bits());
        let finer = bits - section_bits;
        self.section.clear();
        for range in section << finer..(section + 1) << finer {
            let kmers = results.len(range);
            if kmers > 0 && self.section.len() as u64 + kmers > most {
                if !self.section.is_empty() {
                    each(Stretch::Kmers(&self.section), false)?;
                }
                self.section = Vec::new();
            }
            if kmers > most {
                let contents = results.contents(range);
                self.divide(&contents, bits, K::from_low(range as u64), each)?;
                continue;
            }
            results.take(range, &mut self.buffer, &mut self.range)?;
            sort_range(&mut self.range, &mut self.swap, 2 * k as u32 - bits);
            if self.section.is_empty() {
                std::mem::swap(&mut self.section, &mut self.range);
            } else {
                self.section.append(&mut self.range);
            }
        }
        each(Stretch::Kmers(&self.section), true)
    }
}

impl<K: Kmer> Sorting<'_, '_, K> {
    /// Sorts the k-mers of a range whose first `bits` bits are `prefix`, at most as many at a time as
    /// allowed. The range is read again for each group.
    fn divide(
        &mut self,
        contents: &KmerContents<'_, K>,
        bits: u32,
        prefix: K,
        each: Stretches<'_, K>,
    ) -> Result<(), Error> {
        let (k, most) = (self.results.scattered().records().k(), self.results.max_at_once());
        let rest = 2 * k as u32 - bits;
        let next = rest.min(DIVIDING_BITS);
        let place = |kmer: K| {
            let part = kmer.shr(rest - next).low();
            (kmer.shr(rest) == prefix).then_some((part & ((1 << next) - 1)) as usize)
        };
        let mut numbers = vec![0u64; 1 << next];
        let buffer = &mut self.buffer;
        contents.each(buffer, |(kmer, _)| {
            if let Some(place) = place(kmer) {
                numbers[place] += 1;
            }
        })?;
        let mut groups: Vec<(std::ops::Range<usize>, u64)> = Vec::new();
        for (place, &number) in numbers.iter().enumerate() {
            match groups.last_mut() {
                Some((group, sum)) if *sum + number <= most => {
                    group.end = place + 1;
                    *sum += number;
                }
                _ => groups.push((place..place + 1, number)),
            }
        }
        for (group, number) in groups {
            let Sorting { buffer, range, swap, .. } = &mut *self;
            if number > most {
                let more = prefix.shl(next).or(K::from_low(group.start as u64));
                self.divide(contents, bits + next, more, each)?;
                continue;
            }
            range.clear();
            range.reserve_exact(number as usize);
            contents.each(buffer, |(kmer, count)| {
                if place(kmer).is_some_and(|place| group.contains(&place)) {
                    range.push((kmer, count));
                }
            })?;
            sort_range(range, swap, rest);
            each(Stretch::Kmers(range), false)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Format};
    use merganser_seq::kmer::Wide;
    use merganser_store::{BlockPool, Spilling, Storage};
    use proptest::prelude::*;

    /// Distinct k-mers in order.
    fn distinct<K: Kmer>(k: usize, values: &[u64], shift: u32) -> Vec<K> {
        let kmers = values.iter().map(|&value| K::from_low(value).shl(shift).and(K::mask(k)));
        let mut all: Vec<K> = kmers.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Passes results with these k-mers, of which a worker sorts up to `most` at a time, to `read`.
    fn with_results<K: Kmer>(k: usize, kmers: &[K], most: u64, read: impl FnOnce(&Results<'_, K>)) {
        let spilling =
            Spilling { storage: Storage::Auto, limit: 1 << 12, directory: std::env::temp_dir() };
        let pool = BlockPool::new(256, spilling);
        let config = Config { min_count: Some(1), format: Format::Mgk, ..Config::new(k) };
        let results = Results::<K>::new(&config, &pool).sorting(most);
        let mut writer = results.writer();
        kmers.iter().for_each(|&kmer| writer.keep(kmer, 7).unwrap());
        writer.finish().unwrap();
        read(&results);
    }

    fn check<K: Kmer>(k: usize, values: &[u64], shift: u32, most: u64) {
        let expected = distinct::<K>(k, values, shift);
        let mut found = Vec::new();
        with_results(k, &expected, most, |results| {
            let mut sections = results.sections();
            for section in 0..1 << 3 {
                let mut ended = false;
                sections
                    .section(section, 3, &mut |stretch, last| {
                        let Stretch::Kmers(kmers) = stretch else {
                            panic!("the host has no blocks")
                        };
                        assert!(!ended && kmers.len() as u64 <= most);
                        ended = last;
                        found.extend(kmers.iter().map(|&(kmer, _)| kmer));
                        Ok(())
                    })
                    .unwrap();
                assert!(ended);
            }
        });
        assert_eq!(found, expected);
    }

    /// An encoder that copies the k-mers, and marks parts that continue a section.
    struct Copies;

    type Copied<K> = (Vec<(K, u32)>, bool);

    impl<K: Kmer> Encoder<K> for Copies {
        type Encoded = Copied<K>;
        const UNIT: usize = 4;

        fn encode(&self, kmers: &[(K, u32)]) -> Copied<K> {
            (kmers.to_vec(), false)
        }

        fn encode_more(&self, kmers: &[(K, u32)]) -> Copied<K> {
            (kmers.to_vec(), true)
        }
    }

    struct Parts<'p, K>(&'p mut Vec<Copied<K>>);

    impl<K: Send> Sink<Copied<K>> for Parts<'_, K> {
        fn write(&mut self, part: Copied<K>) -> Result<(), merganser_kmers::Error> {
            self.0.push(part);
            Ok(())
        }

        fn finish(self) -> Result<Duration, merganser_kmers::Error> {
            Ok(Duration::ZERO)
        }
    }

    proptest! {
        #[test]
        fn no_more_are_sorted_at_once_than_allowed(
            values in proptest::collection::vec(0u64..1 << 20, 1..400),
            shift in 0u32..60,
            most in 1u64..50,
        ) {
            check::<u32>(13, &values, shift % 7, most);
            check::<u64>(31, &values, shift, most);
            check::<u128>(50, &values, shift, most);
            check::<Wide>(100, &values, 3 * shift, most);
        }

        #[test]
        fn parts_are_whole_units_in_order_whatever_may_wait(
            values in proptest::collection::vec(0u64..1 << 20, 0..400),
            // From few k-mers in each range to all in one section.
            shift in 30u32..43,
            most in 1u64..50,
            threads in 1usize..5,
            waiting in 0u64..100,
        ) {
            let expected = distinct::<u64>(31, &values, shift);
            let mut parts = Vec::new();
            with_results(31, &expected, most, |results| {
                let workers = Workers { threads, waiting };
                emit(results, 3, workers, &Cancel::default(), &Copies, Parts(&mut parts)).unwrap();
            });
            prop_assert_eq!(parts.iter().filter(|(_, more)| !more).count(), 1 << 3);
            for pair in parts.windows(2).filter(|pair| pair[1].1) {
                prop_assert!(!pair[0].0.is_empty() && pair[0].0.len().is_multiple_of(4));
            }
            let found: Vec<u64> = parts.into_iter().flat_map(|(kmers, _)| kmers).map(|it| it.0).collect();
            prop_assert_eq!(found, expected);
        }
    }
}

//! Phase 3 on devices: the kept k-mers become a table, some sections at a time.

use std::sync::{Arc, Condvar, Mutex};

use merganser_gpu::{BufferPool, Device, Pooled};
use merganser_run::OnFailure;
use merganser_run::locks::{lock, wait};

use super::encoding::{Encoding, Made, SectionGroup, Waiting};
use super::kernels::GpuKmer;
use super::packing::PackedKmers;
use super::table_kernels::Layout;
use crate::Error;
use crate::emit::{Sections, Sorting, Stretch, Stretches, TableContents};
use crate::job::Job;
use crate::results::Results;

/// The number of encoding buffers of a device: one batch is made while others are written.
const ENCODINGS: usize = 3;
/// The smallest number of k-mers of a batch, enough to occupy a device.
const MIN_KMERS: u64 = 1 << 20;
/// The largest number of k-mers of a batch, few enough that the first is written soon.
const MAX_KMERS: u64 = 16 << 20;
/// The least number of batches of a large table.
const BATCHES: u64 = 32;
/// The host's memory divided by this number is for encoded batches.
const HOST_SHARE: u64 = 8;

/// The kept k-mers as a source of encoded blocks.
pub(crate) struct DeviceTable<'t, 'p, K: GpuKmer> {
    waiting: Waiting<'t, 'p, K>,
    batches: Vec<SectionGroup>,
    /// The batch of each section; `None` for sections that are empty or too large for a device.
    batch_of: Vec<Option<usize>>,
    state: Mutex<EncodingSlots<K>>,
    changed: Condvar,
    encodings: Vec<BufferPool<Encoding<K>>>,
}

/// The batches, made in the order in which they are written, each by one of the threads that wait for a batch.
///
/// The order ensures that the buffers belong to the batches that are written first. A thread whose batch is
/// ready does not wait for later ones.
struct EncodingSlots<K: GpuKmer> {
    slots: Vec<Slot<K>>,
    /// The batch that is made next, or is being made.
    next: usize,
    /// Whether a thread is making batch `next`.
    making: bool,
}

/// The state of a batch until all its sections are taken.
struct Slot<K: GpuKmer> {
    ready: Option<Arc<Ready<K>>>,
    /// The number of sections that are still to be taken.
    left: usize,
}

impl<K: GpuKmer> Slot<K> {
    /// Returns the batch for one section; the last such call releases it.
    fn take(&mut self) -> Option<Arc<Ready<K>>> {
        let ready = self.ready.clone()?;
        self.left -= 1;
        if self.left == 0 {
            self.ready = None;
        }
        Some(ready)
    }
}

struct Ready<K: GpuKmer> {
    encoding: Pooled<Encoding<K>>,
    made: Made<K>,
}

impl<'t, 'p, K: GpuKmer> DeviceTable<'t, 'p, K> {
    /// Returns a table in 2^`section_bits` sections. Moves sections that no device can encode to the results.
    ///
    /// # Errors
    /// An error of a device or of the results.
    pub(crate) fn new(
        job: Job<'_>,
        devices: &[Device],
        segments: &'t [PackedKmers],
        results: &'t Results<'p, K>,
        section_bits: u32,
    ) -> Result<Self, Error> {
        let (k, layout) = (results.scattered().records().k(), Layout::of(results.scattered()));
        let waiting = Waiting { segments, results, layout };
        let finer = results.scattered().records().range_bits() - section_bits;
        let ranges: Vec<u64> = (0..1 << (section_bits + finer)).map(|r| waiting.len(r)).collect();
        let sections: Vec<u64> = ranges.chunks(1 << finer).map(|of| of.iter().sum()).collect();
        let most = max_kmers::<K>(job, devices, layout, sections.iter().sum(), k)?;
        // A host thread decodes the k-mers of a section at most once, and does not sort them.
        let max_of_one = results.max_at_once().saturating_mul(2);
        let (batches, batch_of) = divide(&sections, finer, most, max_of_one);
        for (section, &kmers) in sections.iter().enumerate() {
            if kmers > 0 && batch_of[section].is_none() {
                waiting.move_to_results(section << finer..(section + 1) << finer)?;
            }
        }
        let taken = |batch: &SectionGroup| batch.kmers.iter().filter(|&&kmers| kmers > 0).count();
        let slots = batches.iter().map(|batch| Slot { ready: None, left: taken(batch) }).collect();
        let state = Mutex::new(EncodingSlots { slots, next: 0, making: false });
        let (most, sections) = (most as usize, 1 << section_bits);
        let encodings = devices.iter().cloned().map(|device| {
            let make = move || Encoding::new(&device, (k, layout), most, sections);
            BufferPool::new(ENCODINGS, make)
        });
        let encodings = encodings.collect();
        Ok(DeviceTable { waiting, batches, batch_of, state, changed: Condvar::new(), encodings })
    }

    /// Returns a batch once it is ready; makes batches up to it unless another thread does.
    fn ready(&self, batch: usize) -> Result<Arc<Ready<K>>, Error> {
        let mut state = lock(&self.state);
        loop {
            if let Some(ready) = state.slots[batch].take() {
                return Ok(ready);
            }
            if state.making {
                state = wait(&self.changed, state);
                continue;
            }
            state.making = true;
            let next = state.next;
            drop(state);
            let failed = OnFailure::new(|| self.made_none());
            let ready = self.make(next)?;
            failed.disarm();
            state = lock(&self.state);
            state.slots[next].ready = Some(Arc::new(ready));
            (state.next, state.making) = (next + 1, false);
            self.changed.notify_all();
        }
    }

    /// Releases the right to make batches after a failure; waiting threads then try, and fail too.
    fn made_none(&self) {
        lock(&self.state).making = false;
        self.changed.notify_all();
    }

    fn make(&self, batch: usize) -> Result<Ready<K>, Error> {
        let mut encoding = self.encodings[batch % self.encodings.len()].take()?;
        let made = encoding.encode(&self.waiting, &self.batches[batch])?;
        Ok(Ready { encoding, made })
    }
}

/// Returns the largest number of k-mers of a batch.
fn max_kmers<K: GpuKmer>(
    job: Job<'_>,
    devices: &[Device],
    layout: Layout,
    kmers: u64,
    k: usize,
) -> Result<u64, Error> {
    let wanted = (kmers / BATCHES).clamp(MIN_KMERS, MAX_KMERS);
    let free = devices.iter().map(Device::available).collect::<Result<Vec<_>, _>>()?;
    let free = free.into_iter().min().unwrap_or(0).saturating_sub(8 << 20);
    let encodings = ENCODINGS as u64;
    let there = free / 16 * 15 / encodings / Encoding::<K>::kmer_bytes(k, layout);
    let here = job.memory / HOST_SHARE / encodings / Encoding::<K>::table_bytes(k);
    Ok(wanted.min(there).min(here))
}

/// Groups neighbouring sections into batches of up to `most` k-mers; a section with more than that, or
/// with more than `max_of_one`, gets no batch.
fn divide(
    sections: &[u64],
    finer: u32,
    most: u64,
    max_of_one: u64,
) -> (Vec<SectionGroup>, Vec<Option<usize>>) {
    let (mut batches, mut batch_of) = (Vec::<SectionGroup>::new(), vec![None; sections.len()]);
    let mut sum = 0;
    for (section, &kmers) in sections.iter().enumerate() {
        if kmers > most.min(max_of_one) {
            continue;
        }
        match batches.last_mut() {
            None if kmers == 0 => continue,
            Some(last) if last.sections.end < section && kmers == 0 => continue,
            Some(last) if last.sections.end == section && sum + kmers <= most => {
                last.sections.end += 1;
                last.kmers.push(kmers);
                sum += kmers;
            }
            _ => {
                let sections = section..section + 1;
                batches.push(SectionGroup { sections, kmers: vec![kmers], finer });
                sum = kmers;
            }
        }
        batch_of[section] = (kmers > 0).then(|| batches.len() - 1);
    }
    (batches, batch_of)
}

impl<K: GpuKmer> TableContents<K> for DeviceTable<'_, '_, K> {
    fn sections(&self) -> Box<dyn Sections<K> + Send + '_> {
        Box::new(FromDevice { table: self, here: Sorting::new(self.waiting.results) })
    }
}

/// One writer's access to the sections.
struct FromDevice<'s, 'p, K: GpuKmer> {
    table: &'s DeviceTable<'s, 'p, K>,
    /// The sorter of sections that no device encodes.
    here: Sorting<'s, 'p, K>,
}

impl<K: GpuKmer> Sections<K> for FromDevice<'_, '_, K> {
    fn section(
        &mut self,
        section: usize,
        section_bits: u32,
        each: Stretches<'_, K>,
    ) -> Result<(), Error> {
        let Some(batch) = self.table.batch_of[section] else {
            return self.here.section(section, section_bits, each);
        };
        let Ready { encoding, made } = &*self.table.ready(batch)?;
        each(Stretch::Blocks(made.section(encoding, section)?), true)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use merganser_gpu::Arena;
    use merganser_kmers::formats::{Encoder, Sink as TableSink};
    use merganser_run::{Cancel, Context};
    use merganser_seq::kmer::{Kmer, Wide};
    use merganser_store::{BlockPool, Spilling, Storage};

    use super::*;
    use crate::cuda::host_writers::with_writers;
    use crate::cuda::packing::{Packing, Sink};
    use crate::emit::{Workers, emit};
    use crate::{Config, Format};

    /// An encoder that copies the k-mers.
    struct AsTheyAre;

    impl<K: Kmer> Encoder<K> for AsTheyAre {
        type Encoded = Vec<(K, u32)>;
        fn encode(&self, kmers: &[(K, u32)]) -> Vec<(K, u32)> {
            kmers.to_vec()
        }
    }

    struct Gathered<'g, K>(&'g mut Vec<(K, u32)>);

    impl<K: Send> TableSink<Vec<(K, u32)>> for Gathered<'_, K> {
        fn write(&mut self, part: Vec<(K, u32)>) -> Result<(), merganser_kmers::Error> {
            self.0.extend(part);
            Ok(())
        }
        fn finish(self) -> Result<Duration, merganser_kmers::Error> {
            Ok(Duration::ZERO)
        }
    }

    /// Returns distinct k-mers in shuffled order, some close to each other, with counts of all sizes.
    fn kmers<K: Kmer>(k: usize, number: u64) -> Vec<(K, u32)> {
        let value = |i: u64| {
            let spread = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // One in four shares its first bits with many others.
            if i.is_multiple_of(4) {
                K::from_low(spread >> 44)
            } else {
                let high = K::from_low(spread).shl((2 * k as u32).saturating_sub(64));
                high.or(K::from_low(spread.rotate_left(23) >> 40)).and(K::mask(k))
            }
        };
        let count = |i: u64| match i % 50 {
            0 => 255,
            1 => u32::MAX,
            2 => 254,
            3 => 70_000,
            n => n as u32,
        };
        let mut kmers: Vec<(K, u32)> = (0..number).map(|i| (value(i), count(i))).collect();
        kmers.sort_unstable();
        kmers.dedup_by_key(|&mut (kmer, _)| kmer);
        kmers.sort_unstable_by_key(|&(kmer, _)| kmer.low().wrapping_mul(0xd6e8_feb8_6659_fd93));
        kmers
    }

    /// Packs k-mers in groups, of which a device keeps up to `arena_bytes`, and makes a table in which devices
    /// encode the sections of up to `most` k-mers; checks the table's content.
    fn check<K: GpuKmer>(device: &Device, k: usize, arena_bytes: u64, (most, memory): (u64, u64)) {
        let kmers = kmers::<K>(k, 30_000);
        let directory = std::env::temp_dir();
        let pool =
            BlockPool::new(4096, Spilling { storage: Storage::Auto, limit: 1 << 17, directory });
        let config = Config { min_count: Some(1), format: Format::Mgk, ..Config::new(k) };
        let results = Results::<K>::new(&config, &pool).sorting(most);
        let (here, there) = kmers.split_at(1000);
        let mut writer = results.writer();
        here.iter().for_each(|&(kmer, count)| writer.keep(kmer, count).unwrap());
        writer.finish().unwrap();
        let arena = Arena::new(device, 1 << 12, arena_bytes);
        let layout = Layout::of(results.scattered());
        let segments = with_writers(&results, 2, device, |to_host| {
            let mut sink = Sink { arena: &arena, to_host, segments: Vec::new() };
            for group in there.chunks(7777) {
                pack(device, (k, layout), group, &mut sink);
            }
            Ok(sink.segments)
        });
        let segments = segments.unwrap();
        assert_eq!(segments.is_empty(), arena_bytes == 0);
        let context = Context::new().threads(2).memory(memory);
        let job = Job::new(&config, &context, &[]);
        let bits = 3;
        let table =
            DeviceTable::new(job, std::slice::from_ref(device), &segments, &results, bits).unwrap();
        let mut found = Vec::new();
        let sink = Gathered(&mut found);
        let workers = Workers { threads: 2, waiting: most };
        emit(&table, bits, workers, &Cancel::default(), &AsTheyAre, sink).unwrap();
        let mut expected = kmers;
        expected.sort_unstable();
        assert!(found == expected, "k {k}, {arena_bytes} bytes, {most} k-mers");
    }

    fn pack<K: GpuKmer>(
        device: &Device,
        (k, layout): (usize, Layout),
        group: &[(K, u32)],
        sink: &mut Sink<'_>,
    ) {
        let stream = device.stream().unwrap();
        let mut buffers = [0, 1].map(|_| device.alloc(2 * group.len()).unwrap());
        let mut counts = device.alloc(group.len()).unwrap();
        let mut words = vec![0; K::BYTES * group.len()];
        for (word, &(kmer, _)) in words.chunks_exact_mut(K::BYTES).zip(group) {
            kmer.store(word);
            // The widest keys have their high half first.
            word.rotate_left(if K::BYTES == 32 { 16 } else { 0 });
        }
        let numbers: Vec<u32> = group.iter().map(|&(_, count)| count).collect();
        stream.upload_now(&words, buffers[0].slice_mut(..group.len()).cast::<u8>()).unwrap();
        stream.upload_now(&numbers, counts.view_mut()).unwrap();
        let mut packing = Packing::<K>::new(device, group.len(), k, layout).unwrap();
        let buffers = buffers.each_mut().map(|buffer| buffer.view_mut());
        packing.keep(&stream, buffers, counts.view_mut(), sink).unwrap();
        stream.synchronize().unwrap();
    }

    #[test]
    fn tables_are_made_of_what_waits_anywhere() {
        let device = match Device::open(0) {
            Ok(device) => device,
            Err(error) => {
                assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "{error}");
                return eprintln!("skipped: {error}");
            }
        };
        let all = (u64::MAX, 1 << 30);
        for arena in [0, 100_000, 1 << 30] {
            check::<u32>(&device, 16, arena, all);
            check::<u64>(&device, 28, arena, all);
        }
        check::<u32>(&device, 11, 1 << 30, all);
        check::<u64>(&device, 17, 1 << 30, all);
        check::<u64>(&device, 32, 100_000, all);
        check::<u128>(&device, 55, 100_000, all);
        check::<u128>(&device, 33, 1 << 30, all);
        check::<Wide>(&device, 128, 300_000, all);
        check::<Wide>(&device, 65, 1 << 30, all);
        // Many batches; some sections, then all, are too large for a device.
        check::<u64>(&device, 28, 100_000, (u64::MAX, 1 << 20));
        check::<u64>(&device, 28, 100_000, (4000, 1 << 30));
        check::<u64>(&device, 28, 100_000, (100, 1 << 30));
    }

    #[test]
    fn batches_are_of_neighbours_that_fit() {
        let (batches, batch_of) = divide(&[0, 3, 0, 4, 9, 2, 0, 0, 20, 5, 5, 1], 2, 10, 9);
        let sections: Vec<_> = batches.iter().map(|batch| batch.sections.clone()).collect();
        assert_eq!(sections, [1..4, 4..5, 5..8, 9..11, 11..12]);
        let expected = [None, Some(0), None, Some(0), Some(1), Some(2), None, None, None];
        assert_eq!(batch_of[..9], expected);
        assert_eq!(batch_of[9..], [Some(3), Some(3), Some(4)]);
        assert_eq!(batches[0].kmers, [3, 0, 4]);
    }
}

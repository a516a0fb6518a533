//! The division of the memory budget, decided once before work starts.

use merganser_kmers::scattered;
use merganser_seq::kmer::Kmer;

use merganser_run::{Budget, least_memory};

use crate::config::{MAX_BINS, Storage};
use crate::cpu::Width;
use crate::job::Job;
use crate::{Config, Error};

/// The target number of k-mers in a bin: few enough that at usual depth the bin's hash map stays in the
/// second-level cache, enough that the overhead of a bin does not matter (`docs/evidence/speed.md`).
const KMERS_PER_BIN: u64 = 200_000;
/// The range of the number of bins with this target.
const USUAL_BINS: std::ops::RangeInclusive<u64> = 16..=4096;
/// The target for larger inputs. More bins make counting faster but partitioning slower.
const MANY_KMERS_PER_BIN: u64 = 1_500_000;
/// The largest automatic number of bins.
const MAX_AUTO_BINS: u64 = 16384;
/// The number of bins if the size of the input is unknown (standard input).
const UNKNOWN_BINS: usize = 1024;

/// Bytes of text that a worker parses at a time.
const CHUNK_BYTES: u64 = 4 << 20;
/// The smallest chunk, used if memory is tight.
const MIN_CHUNK_BYTES: u64 = 256 << 10;
/// The largest size of a worker's buffer for a bin, in bytes.
const MAX_STRIDE: usize = 1024;
/// The largest size of a worker's buffers for all bins.
const STRIDES_BYTES: usize = 4 << 20;
/// Bytes of a bin's block, unless open blocks would then take more than an eighth of the memory.
const BLOCK_BYTES: u64 = 32 << 10;
/// The smallest block, used if memory is tight.
const MIN_BLOCK_BYTES: u64 = 4 << 10;
/// The largest block, used as far as open blocks take no more than a 32nd of the memory. Large blocks save
/// calls to the system allocator, each of which blocks all threads.
const LARGE_BLOCK_BYTES: u64 = 256 << 10;
/// The least memory for full blocks; a run with less would do little except spill.
const MIN_FULL_BYTES: u64 = 8 << 20;
/// The memory of the super-k-mers that wait to be looked up in a panel, in bytes, if the panel takes less.
const MIN_WAITING_BYTES: u64 = 32 << 20;
/// The smallest size of a worker's hash maps, in bytes.
const MIN_TABLE_BYTES: u64 = 6 << 20;
/// The largest size of a worker's hash maps, in bytes.
const MAX_TABLE_BYTES: u64 = 1 << 29;

/// The sizes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) bins: usize,
    pub(crate) block_bytes: usize,
    /// Bytes of full blocks that stay in memory; the rest is spilled.
    pub(crate) full_bytes: u64,
    /// Bytes of one worker's hash maps.
    pub(crate) table_bytes: u64,
}

impl Plan {
    /// Returns the plan for about `kmers` k-mers, which may be few: blocks no larger than a range of results needs. Larger
    /// ones would stay nearly empty, and the first bytes of each take a huge page.
    pub(crate) fn for_kmers<K: Width>(self, k: usize, kmers: Option<u64>) -> Plan {
        // An estimate of 0 means that the input begins with N.
        let Some(kmers) = kmers.filter(|&kmers| kmers > 0) else { return self };
        let results = kmers.saturating_mul(size_of::<(K, u32)>() as u64);
        let of_range = (results / scattered::ranges(k) as u64).max(MIN_BLOCK_BYTES);
        let block_bytes = of_range.div_ceil(MAX_STRIDE as u64).saturating_mul(MAX_STRIDE as u64);
        Plan { block_bytes: self.block_bytes.min(block_bytes as usize), ..self }
    }
}

/// Returns the number of bytes of text that a worker reads at a time, reduced if memory is tight.
pub(crate) fn chunk_bytes(job: Job<'_>) -> usize {
    let share = job.memory / 16 / job.threads as u64;
    share.clamp(MIN_CHUNK_BYTES, CHUNK_BYTES) as usize
}

/// Returns the length in bytes of the longest record that cannot be cut: one such record for each worker
/// and one that is being collected take no more memory than the hash maps need after reading.
pub(crate) fn longest_record(job: Job<'_>) -> usize {
    merganser_io::longest_record(job.memory / 8, job.threads as u64 + 1)
}

/// Returns the number of bins for about `kmers` k-mers.
pub(crate) fn bins(config: &Config, kmers: Option<u64>) -> usize {
    config.bins.0.unwrap_or_else(|| {
        kmers.map_or(UNKNOWN_BINS, |kmers| {
            let usual = (kmers / KMERS_PER_BIN).clamp(*USUAL_BINS.start(), *USUAL_BINS.end());
            let many = (kmers / MANY_KMERS_PER_BIN).min(MAX_AUTO_BINS);
            usual.max(many).next_power_of_two() as usize
        })
    })
}

/// Returns the number of bases of a signature for this number of bins. More bins than usual need longer signatures to
/// be even: the smallest signatures of most k-mers are a small part of all.
pub(crate) fn signature_bases(config: &Config, bins: usize) -> usize {
    let usual = Config::default_signature_len(config.k);
    let longer = usual + usize::from(bins as u64 > *USUAL_BINS.end());
    config.minimizer_len.0.unwrap_or(longer.min(config.k))
}

/// Returns the bytes of a worker's buffer for each bin.
pub(crate) fn stride(bins: usize) -> usize {
    (STRIDES_BYTES / bins).min(MAX_STRIDE)
}

/// Returns the bytes of one worker's hash maps.
fn table_bytes(job: Job<'_>) -> u64 {
    (job.memory / 16 / job.threads as u64).clamp(MIN_TABLE_BYTES, MAX_TABLE_BYTES)
}

/// Returns the number of k-mers that a worker may sort at a time, in the memory that its hash maps had
/// before: each k-mer is in memory twice, and a third time while ranges are put together.
pub(crate) fn sorted_at_once<K: Kmer>(job: Job<'_>) -> u64 {
    table_bytes(job) / (3 * size_of::<(K, u32)>() as u64)
}

/// Returns the budget of reading.
pub(crate) fn reading(job: Job<'_>) -> Budget {
    Budget::new(job.memory).with_files(1).with(job.threads as u64 * chunk_bytes(job) as u64 * 9 / 4)
}

/// Returns the budget after everything except full blocks, and the bytes of a block.
fn budget<K: Width>(job: Job<'_>, bins: usize) -> (Budget, u64) {
    let threads = job.threads as u64;
    // Chunks of compressed input take twice the memory of their text.
    let reading = threads * (chunk_bytes(job) as u64 * 9 / 4 + (bins * stride(bins)) as u64);
    let counting = threads * scattered::WORKER_BYTES;
    let open_blocks = (bins + scattered::ranges(job.config.k)) as u64;
    let block_bytes = (job.memory / 8 / open_blocks)
        .clamp(MIN_BLOCK_BYTES, BLOCK_BYTES)
        .max((job.memory / 32 / open_blocks).min(LARGE_BLOCK_BYTES));
    // A worker's buffer goes to a block as a whole: in a block of any other size, up to a buffer's size would stay empty.
    let block_bytes = block_bytes / MAX_STRIDE as u64 * MAX_STRIDE as u64;
    let budget = Budget::new(job.memory)
        .with_files(1)
        .with(reading.max(counting))
        .with(open_blocks * block_bytes)
        .with(threads * table_bytes(job));
    (budget, block_bytes)
}

/// Returns the smallest amount of memory, `job.memory` or more, that leaves `full_bytes` for full blocks.
fn least<K: Width>(job: Job<'_>, bins: usize, full_bytes: u64) -> Option<u64> {
    least_memory(job.memory, |memory| {
        let more = Job { memory, ..job };
        // With more memory the sampled chunk is larger, and the estimate may give up to twice the bins.
        let is_sure = job.config.bins.0.is_some() || chunk_bytes(more) == chunk_bytes(job);
        let bins = if is_sure { bins } else { (2 * bins).min(MAX_AUTO_BINS as usize) };
        budget::<K>(more, bins).0.left() >= full_bytes
    })
}

/// Returns the least memory in bytes that a run with this number of bins needs, to within a MiB.
pub(crate) fn needed<K: Width>(job: Job<'_>, bins: usize) -> Option<u64> {
    least::<K>(Job { memory: 1 << 20, ..job }, bins, MIN_FULL_BYTES)
}

/// Divides the budget.
///
/// # Errors
/// [`Error::Memory`] with the number of bytes needed if the budget is too small.
pub(crate) fn plan<K: Width>(job: Job<'_>, bins: usize) -> Result<Plan, Error> {
    debug_assert!(bins <= MAX_BINS);
    let (budget, block_bytes) = budget::<K>(job, bins);
    if budget.left() < MIN_FULL_BYTES {
        // With more memory, blocks and hash maps grow too.
        let needed = least::<K>(job, bins, MIN_FULL_BYTES).unwrap_or(u64::MAX);
        let what = format_args!("{} threads and {bins} bins need", job.threads);
        let budget = Budget::of_part(job.memory).with(needed);
        return Err(budget.shortage(what, "or lower `threads` or `bins`").into());
    }
    let full_bytes = match job.config.storage {
        Storage::Disk => 0,
        Storage::Auto | Storage::Ram => budget.left(),
    };
    Ok(Plan { bins, block_bytes: block_bytes as usize, full_bytes, table_bytes: table_bytes(job) })
}

/// Returns the budget of counting the k-mers of a panel, without the panel and what waits to be looked up.
pub(crate) fn panel_counting(job: Job<'_>) -> Budget {
    let threads = job.threads as u64;
    reading(job).with(threads * STRIDES_BYTES as u64).with(2 * MIN_FULL_BYTES)
}

/// Plans the memory of the super-k-mers that wait, beside a panel of `bytes` bytes in `sections` sections: twice the panel,
/// of which half is used ([`Waiting`](crate::panel::Waiting)), so that its lines are read from memory a few times less often
/// than k-mers are looked up.
pub(crate) fn panel(job: Job<'_>, bytes: u64, sections: usize) -> Plan {
    let left = panel_counting(job).with(bytes).left() + 2 * MIN_FULL_BYTES;
    let (block_bytes, full) = blocks(left, sections as u64);
    let full_bytes = full.min(2 * bytes.max(MIN_WAITING_BYTES));
    Plan { bins: sections, block_bytes, full_bytes, table_bytes: 0 }
}

/// Plans the memory of the results of a panel of `bytes` bytes, which is released while they are stored.
pub(crate) fn panel_results<K: Width>(job: Job<'_>, bytes: u64) -> Plan {
    let sorting = job.threads as u64 * (scattered::WORKER_BYTES + table_bytes(job));
    let left = reading(job).with(sorting).left().max(bytes);
    let (block_bytes, full_bytes) = blocks(left, scattered::ranges(job.config.k) as u64);
    let full_bytes = if job.config.storage == Storage::Disk { 0 } else { full_bytes };
    Plan { bins: 0, block_bytes, full_bytes, table_bytes: table_bytes(job) }
}

/// Returns the memory in bytes with which a panel's run would not have spilled `spilled` bytes; `None` if the configuration
/// keeps them on disk.
pub(crate) fn memory_for_panel(job: Job<'_>, spilled: u64) -> Option<u64> {
    // With more memory, chunks and hash maps grow too.
    let growing = job.threads as u64 * CHUNK_BYTES * 9 / 4 + spilled / 4;
    let may_stay = job.config.storage != Storage::Disk;
    may_stay.then(|| job.memory + spilled + growing)
}

/// Returns the size of each of `open` open blocks, and what they leave of `bytes` for full ones.
fn blocks(bytes: u64, open: u64) -> (usize, u64) {
    let block_bytes = (bytes / 8 / open).clamp(MIN_BLOCK_BYTES, BLOCK_BYTES);
    let block_bytes = block_bytes / MAX_STRIDE as u64 * MAX_STRIDE as u64;
    (block_bytes as usize, bytes.saturating_sub(open * block_bytes).max(MIN_FULL_BYTES))
}

/// Returns the memory in bytes, `job.memory` or more, with which full blocks may take `full_bytes`; `None` if
/// the configuration keeps them on disk.
pub(crate) fn memory_for<K: Width>(job: Job<'_>, bins: usize, full_bytes: u64) -> Option<u64> {
    if job.config.storage == Storage::Disk {
        return None;
    }
    // Blocks of another size or in another order hold slightly more or less.
    let needed = full_bytes + full_bytes / 32;
    least::<K>(job, bins, needed.max(MIN_FULL_BYTES))
}

#[cfg(test)]
mod tests {
    use merganser_run::Context;
    use merganser_store::Storage;

    use super::*;

    #[test]
    fn a_plan_has_no_limit_but_the_memory() {
        let (config, context) = (Config::new(31), Context::new().threads(2));
        for memory in [100 << 20, 12 << 30, 600 << 30, 1 << 50, u64::MAX] {
            let context = context.clone().memory(memory);
            let plan = plan::<u64>(Job::new(&config, &context, &[]), 512).unwrap();
            assert!(plan.full_bytes <= memory && plan.full_bytes >= memory / 8);
            let most = if memory > 1 << 30 { LARGE_BLOCK_BYTES } else { BLOCK_BYTES };
            assert!(plan.table_bytes <= MAX_TABLE_BYTES && plan.block_bytes as u64 <= most);
        }
    }

    #[test]
    fn few_kmers_have_small_blocks() {
        let (config, context) = (Config::new(31), Context::new().threads(2).memory(12 << 30));
        let plan = plan::<u64>(Job::new(&config, &context, &[]), 16).unwrap();
        let of = |kmers| plan.for_kmers::<u64>(31, kmers).block_bytes as u64;
        assert_eq!([of(Some(1)), of(Some(1_000))], [MIN_BLOCK_BYTES; 2]);
        let unknown_or_many = [None, Some(0), Some(1 << 40), Some(u64::MAX)];
        assert_eq!(unknown_or_many.map(of), [plan.block_bytes as u64; 4]);
        let ranges = scattered::ranges(31) as u64;
        let some = of(Some(20_000 * ranges / size_of::<(u64, u32)>() as u64));
        assert!((20_000 - 1024..20_000 + 1024).contains(&some) && some % MAX_STRIDE as u64 == 0);
    }

    #[test]
    fn the_memory_that_is_said_to_be_needed_is_enough() {
        let config = Config::new(31);
        for (threads, bins) in [(1, 16), (2, 512), (4, 16), (16, 64)] {
            for memory in [1 << 20, 30 << 20, 60 << 20, 80 << 20] {
                let context = Context::new().threads(threads).memory(memory);
                let job = Job::new(&config, &context, &[]);
                let Err(Error::Memory(error)) = plan::<u64>(job, bins) else { continue };
                let enough = Job { memory: error.needed, ..job };
                assert!(plan::<u64>(enough, bins).is_ok(), "{threads} {bins}: {error}");
            }
        }
    }

    #[test]
    fn the_memory_for_full_blocks_is_enough_and_not_much_more() {
        let (config, context) = (Config::new(31), Context::new().threads(2));
        for memory in [80 << 20, 100 << 20, 400 << 20, 12 << 30] {
            let context = context.clone().memory(memory);
            let job = Job::new(&config, &context, &[]);
            let before = plan::<u64>(job, 64).unwrap().full_bytes;
            for full in [before + (1 << 20), 3 * before, before + (40 << 30)] {
                let enough = memory_for::<u64>(job, 64, full).unwrap();
                let plan = plan::<u64>(Job { memory: enough, ..job }, 64).unwrap();
                assert!(plan.full_bytes >= full && enough > memory, "{memory} {full}");
                assert!(enough - memory <= 2 * (full - before) + full / 16 + (8 << 20));
            }
        }
        let disk = Config { storage: Storage::Disk, ..config.clone() };
        assert_eq!(memory_for::<u64>(Job::new(&disk, &context, &[]), 64, 1 << 30), None);
    }
}

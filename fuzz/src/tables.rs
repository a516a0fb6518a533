//! Tables: made from fuzzed reads, changed, and read in every way there is.

use std::path::Path;

use merganser_count::{Config, Format, count};
use merganser_io::{Input, OutputSet};
use merganser_kmers::Table;
use merganser_run::{Resources, Silent};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

/// A configuration that is quick to run again and again.
pub fn config(k: usize) -> Config {
    Config::new(k).bins(Some(4)).min_count(1)
}

/// Counts `reads` into the table `to`.
pub fn make(config: &Config, reads: &[u8], to: &Path) -> Result<u64, merganser_count::Error> {
    let from = to.with_extension("fa");
    std::fs::write(&from, reads).expect("a temporary file");
    let (inputs, outputs) = ([Input::File(from)], OutputSet::alone());
    let resources = Resources::new().memory(192 << 20).threads(1);
    let cancel = Default::default();
    let outcome = count(config, &resources, &inputs, Some(to), &outputs, &Silent, &cancel)?;
    assert!(config.format != Format::None);
    Ok(outcome.kept_kmers)
}

/// Opens `path` and reads it in every way, none of which may panic; if `as_written`, all must find
/// the same.
pub fn walk(path: &Path, as_written: bool) {
    let Ok(table) = Table::open(path) else {
        assert!(!as_written, "a table that cannot be opened");
        return;
    };
    let verified = table.verify();
    assert!(!as_written || verified.is_ok(), "{verified:?}");
    with_kmer!(table.header().k, K => walk_as::<K>(&table, as_written));
}

fn walk_as<K: Kmer>(table: &Table, as_written: bool) {
    let (mut blocks, mut space) = (table.blocks::<K>(), Vec::new());
    let mut some: Vec<(K, u32)> = Vec::new();
    while let Ok(Some(kmers)) = blocks.next() {
        some.extend(kmers.iter().take(1000).step_by(97));
    }
    let mask = K::mask(table.header().k);
    for (kmer, count) in some {
        // A forged table may hold k-mers that are none; a caller's are always of k bases.
        let found = table.get(kmer.and(mask), &mut space);
        assert!(!as_written || found.is_ok_and(|found| found == count), "a look-up misses a k-mer");
    }
    for kmer in [K::default(), mask] {
        let _ = table.get(kmer, &mut space);
    }
}

/// Makes all checksums of a changed table right, so that the change reaches what lies behind them.
pub fn mend(bytes: &mut [u8]) {
    let u64_at = |bytes: &[u8], at: usize| {
        let number = bytes.get(at..at.saturating_add(8))?.first_chunk().copied()?;
        usize::try_from(u64::from_le_bytes(number)).ok()
    };
    let Some(index) = u64_at(bytes, 72).filter(|&at| (128..bytes.len()).contains(&at)) else {
        return;
    };
    let sections = u64_at(bytes, 80).map_or(index, |at| at.clamp(index, bytes.len()));
    let kmer_bytes = usize::from(bytes[16]).div_ceil(4);
    let entries: Vec<usize> = (index..sections)
        .step_by(kmer_bytes + 14)
        .take_while(|e| e + kmer_bytes + 14 <= sections)
        .collect();
    for (i, entry) in entries.iter().enumerate() {
        let start = u64_at(bytes, entry + kmer_bytes).unwrap_or(0);
        let end = entries.get(i + 1).and_then(|next| u64_at(bytes, next + kmer_bytes));
        if let Some(block) = bytes.get(start..end.unwrap_or(index)) {
            let crc = crc32fast::hash(block);
            bytes[entry + kmer_bytes + 10..][..4].copy_from_slice(&crc.to_le_bytes());
        }
    }
    let crc = crc32fast::hash(&bytes[index..]);
    bytes[104..108].copy_from_slice(&crc.to_le_bytes());
    let crc = crc32fast::hash(&bytes[..124]);
    bytes[124..128].copy_from_slice(&crc.to_le_bytes());
}

/// Opens a table of any format and computes all its k-mers, in one way and another that must find the
/// same; neither may panic.
pub fn compute(path: &Path) {
    use merganser_kmers::algebra::{
        Calculation, Cut, Expression, Operation, calculate, open_tables,
    };
    use merganser_kmers::formats::TableFormat;
    let cancel = Default::default();
    let run = |expression: Expression, threads: usize| {
        let tables = open_tables(&[path], false, &cancel).ok()?;
        let calculation = Calculation {
            expression,
            cut: Cut::NONE,
            ceiling: u32::MAX,
            output: None,
            format: TableFormat::None,
        };
        let resources = Resources::new().threads(threads).memory(256 << 20);
        calculate(&calculation, &tables, &resources, &OutputSet::alone(), &Silent, &cancel).ok()
    };
    let alone = run(Expression::Table(0), 1).map(|done| done.kmers);
    let operation = Operation::Intersect;
    let operands = vec![Expression::Table(0), Expression::Table(0)];
    let twice = Expression::Of { operation, mode: operation.default_mode(), operands };
    assert_eq!(alone, run(twice, 2).map(|done| done.kmers), "two ways, two results");
}

//! Tables: counted from fuzzed reads, changed, and read in every way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use merganser_count::{Config, Format, run_with};
use merganser_io::{Input, OutputSet};
use merganser_kmers::algebra::{Calculation, CountLimits, Expression, Operation, calculate_with, open_tables};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::tables::{AnyTable, Kind};
use merganser_kmers::{Error, Table};
use merganser_run::options::Auto;
use merganser_run::Context;
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::databases::{self, letters};
use crate::files::{folder, write};
pub use crate::mend::table as mend;

/// Returns a configuration whose runs are short.
pub fn config(k: usize) -> Config {
    // Each run makes tables of all signatures, which are small if signatures are short.
    Config { bins: Auto(Some(4)), min_count: Some(1), minimizer_len: Auto((k > 2).then_some(k.min(4))), ..Config::new(k) }
}

/// Counts `reads` into the table `to`.
pub fn make(config: &Config, reads: &[u8], to: &Path) -> Result<u64, merganser_count::Error> {
    let from = to.with_extension("fa");
    write(&from, reads);
    let (inputs, outputs) = ([Input::File(from)], OutputSet::alone());
    let context = databases::context().memory(192 << 20);
    let outcome = run_with(config, &inputs, Some(to), &outputs, &context)?;
    assert!(config.format != Format::None);
    Ok(outcome.kept_kmers)
}

/// Returns the bytes of a table of k-mers of `k` bases: of no reads, a few, many, or a few with large counts. Each
/// table is made once.
pub fn written(k: usize, reads: u8) -> &'static Vec<u8> {
    static TABLES: Mutex<BTreeMap<(usize, u8), &'static Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut tables = TABLES.lock().expect("one thread");
    tables.entry((k, reads % 4)).or_insert_with(|| {
        let reads = match reads % 4 {
            0 => ">\n".to_owned(),
            1 => format!(">\n{}\n", letters(200, 1)),
            2 => format!(">\n{}\n", letters(900, 2)),
            _ => format!(">\n{}\n>\n{}\n", "ACGTT".repeat(90), letters(150, 3)),
        };
        let folder = folder();
        let path = folder.path().join("table.mgk");
        make(&config(k), reads.as_bytes(), &path).expect("valid reads");
        Box::leak(Box::new(std::fs::read(path).expect("the table")))
    })
}

/// Opens the table at `path` and reads it in every way, none of which may panic. If `as_written`, all must find the
/// same.
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
        // A forged table may contain invalid k-mers; those of callers always have k bases.
        let found = table.get(kmer.and(mask), &mut space);
        assert!(!as_written || found.is_ok_and(|found| found == count), "a look-up misses a k-mer");
    }
    for kmer in [K::default(), mask] {
        let _ = table.get(kmer, &mut space);
    }
}

/// Reads all k-mers of a table of any format, in two ways if it is sorted or its k-mers are short. The ways must
/// agree and must not panic. Returns the lines `KMER<TAB>COUNT`; `None` if the table is rejected.
pub fn compute(path: &Path) -> Option<String> {
    let tables = open_tables(&[path], true, &Context::new()).ok()?;
    let sound = tables[0].verify(&Context::new()).is_ok();
    let lines = write_lines(&tables, Expression::Table(0), path);
    if tables[0].description().k > QUICK_K && !is_in_order(&tables[0]) {
        return lines;
    }
    // A text can be read only once.
    let tables = open_tables(&[path], true, &Context::new()).expect("a table that opened before");
    let operation = Operation::Intersect;
    let operands = vec![Expression::Table(0), Expression::Table(0)];
    let twice = Expression::Of { operation, mode: operation.default_mode(), operands };
    let counted = calculate_none(&tables, twice);
    let number = lines.as_ref().map(|lines| lines.lines().count() as u64);
    let found = counted.as_ref().ok().copied();
    assert_eq!(number, found, "the two ways differ (sound: {sound}, {counted:?})");
    lines
}

/// The maximum k for which unsorted tables are read in two ways. Their k-mers are collected in 4^k slots, at most
/// 4^6, which takes a worker milliseconds.
const QUICK_K: usize = 4;

fn is_in_order(table: &AnyTable) -> bool {
    matches!(table.description().kind, Kind::Mgk | Kind::Kmc1 | Kind::Kmc2 | Kind::FastK)
}

/// Writes the lines of a calculation and returns them; `None` if it fails.
pub fn write_lines(tables: &[AnyTable], expression: Expression, beside: &Path) -> Option<String> {
    let to = beside.with_extension("lines");
    let calculation = calculation(expression, Some(to.clone()), TableFormat::Tsv);
    run(&calculation, tables).ok()?;
    let lines = std::fs::read_to_string(&to).expect("the written file");
    std::fs::remove_file(&to).expect("the written file");
    Some(lines)
}

fn calculate_none(tables: &[AnyTable], expression: Expression) -> Result<u64, Error> {
    run(&calculation(expression, None, TableFormat::None), tables)
}

/// Returns a calculation without limits of counts.
pub fn calculation(
    expression: Expression,
    output: Option<PathBuf>,
    format: TableFormat,
) -> Calculation {
    Calculation { expression, limits: CountLimits::default(), output, format }
}

fn run(calculation: &Calculation, tables: &[AnyTable]) -> Result<u64, Error> {
    let (context, outputs) = (context(), OutputSet::alone());
    let done = calculate_with(calculation, tables, &outputs, &context);
    done.map(|done| done.kmers)
}

/// Returns the resources for calculations.
pub fn context() -> Context {
    databases::context().memory(256 << 20)
}

//! Safe functions for the kernels of Kraken 2's rules. This is the only unsafe code of the CUDA backend.
#![allow(unsafe_code, reason = "foreign functions")]

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};

/// A sequence: the position of its first letter, a multiple of 8, and the number of its letters.
pub(crate) type Sequence = [u32; 2];
/// A run of entries in the host's encoding, its node, and the number of consecutive minimizers with that node.
pub(crate) type FoundRun = [u32; 3];

merganser_gpu::shared! {
    /// The parameters of minimizers.
    pub(crate) struct Rule = "mgpu::kraken2_rule" {
        pub(crate) k: u32,
        pub(crate) l: u32,
        pub(crate) lmer: u64,
        pub(crate) spaced: u64,
        pub(crate) toggle: u64,
        pub(crate) minimum_hash: u64,
        pub(crate) old_complement: u64,
    }

    struct RawTable = "mgpu::kraken2_table" {
        cells: *const u8,
        nodes: *const u32,
        capacity: u64,
        reciprocal: u64,
        key_bits: u32,
        value_bits: u32,
        cell_bytes: u32,
        node_count: u32,
    }

    struct RawTables = "mgpu::kraken2_tables" {
        table: [RawTable; 16],
        parents: *const u32,
        count: u64,
    }

    struct RunsArguments = "mgpu::kraken2_arguments" {
        rule: Rule,
        tables: RawTables,
        letters: *const u8,
        sequences: *const Sequence,
        count: u64,
        runs: *mut FoundRun,
        minimizers: *mut u64,
        databases: *mut u32,
        counts: *mut u32,
        join: u64,
    }

    struct SearchArguments = "mgpu::kraken2_searches" {
        table: RawTable,
        first: u64,
        end: u64,
        hashes: *const u64,
        values: *mut u32,
        count: u64,
    }

    struct GatherArguments = "mgpu::kraken2_gathering" {
        sequences: *const Sequence,
        count: u64,
        runs: *const FoundRun,
        minimizers: *const u64,
        databases: *const u32,
        counts: *const u32,
        offsets: *const u64,
        runs_out: *mut FoundRun,
        minimizers_out: *mut u64,
        databases_out: *mut u32,
    }
}

merganser_gpu::foreign! {
    fn merganser_kraken2_runs(arguments: *const RunsArguments, stream: RawStream);
    fn merganser_kraken2_search(arguments: *const SearchArguments, stream: RawStream);
    fn merganser_kraken2_gather(arguments: *const GatherArguments, stream: RawStream);
}

/// The parameters of minimizers, and whether consecutive minimizers with the same node form one run.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) rule: Rule,
    pub(crate) join: bool,
}

/// The layout of a table's cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellRule {
    /// The number of cells.
    pub(crate) capacity: u64,
    /// ⌊(2⁶⁴ − 1) / capacity⌋.
    pub(crate) reciprocal: u64,
    pub(crate) key_bits: u32,
    pub(crate) value_bits: u32,
    /// 4 or 5.
    pub(crate) cell_bytes: u32,
    /// Values must be less than this.
    pub(crate) nodes: u32,
}

/// A table in device memory.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'t> {
    pub(crate) rule: CellRule,
    pub(crate) bytes: DeviceSlice<'t, u64>,
    /// The joint node of each value, if there are several tables.
    pub(crate) nodes: Option<DeviceSlice<'t, u32>>,
}

/// Tables in device memory that are looked up together, at least one.
pub(crate) struct AllCells<'t> {
    pub(crate) tables: Vec<Cells<'t>>,
    /// The parent of each joint node, if there are several tables.
    pub(crate) parents: Option<DeviceSlice<'t, u32>>,
}

/// The maximum number of tables that are looked up together.
pub(crate) const MAX_TABLES: usize = 16;

/// A range of a table's cells in device memory.
#[derive(Clone, Copy)]
pub(crate) struct CellRange<'t> {
    pub(crate) rule: CellRule,
    pub(crate) bytes: DeviceSlice<'t, u64>,
    /// The number of the first cell, and of the one after the last.
    pub(crate) cells: [u64; 2],
}

impl Cells<'_> {
    /// Returns the whole table.
    fn raw(&self) -> RawTable {
        self.raw_of(self.rule.capacity)
    }

    /// Returns the table, of which `cells` cells are on the device.
    fn raw_of(&self, cells: u64) -> RawTable {
        let CellRule { capacity, reciprocal, key_bits, value_bits, cell_bytes, nodes } = self.rule;
        assert!(
            cells * u64::from(cell_bytes) <= 8 * self.bytes.len() as u64,
            "cells of {cell_bytes} bytes"
        );
        let joint = self.nodes.map_or(std::ptr::null(), |joint| {
            assert!(joint.len() >= nodes as usize, "{nodes} nodes");
            joint.as_ptr()
        });
        RawTable {
            cells: self.bytes.as_ptr().cast(),
            nodes: joint,
            capacity,
            reciprocal,
            key_bits,
            value_bits,
            cell_bytes,
            node_count: nodes,
        }
    }
}

impl AllCells<'_> {
    fn raw(&self) -> RawTables {
        let count = self.tables.len();
        let are_joint = self.parents.is_some() && self.tables.iter().all(|one| one.nodes.is_some());
        assert!(count == 1 || (are_joint && count <= MAX_TABLES), "{count} tables");
        let at = |number: usize| self.tables[if number < count { number } else { 0 }].raw();
        RawTables {
            table: std::array::from_fn(at),
            parents: self.parents.map_or(std::ptr::null(), |parents| parents.as_ptr()),
            count: count as u64,
        }
    }
}

/// Sequences on a device: their letters, 8 per word, and the position of each sequence among them.
#[derive(Clone, Copy)]
pub(crate) struct Sequences<'t> {
    pub(crate) letters: DeviceSlice<'t, u64>,
    pub(crate) places: DeviceSlice<'t, Sequence>,
}

/// Buffers for runs and, if requested, for the minimizers of runs that have a new one, and for the databases that have
/// the minimizers of each run.
pub(crate) struct Runs<'t> {
    pub(crate) runs: DeviceSliceMut<'t, FoundRun>,
    pub(crate) minimizers: Option<DeviceSliceMut<'t, u64>>,
    pub(crate) databases: Option<DeviceSliceMut<'t, u32>>,
}

/// The pointers of [`Runs`].
type RawRuns = (*mut FoundRun, *mut u64, *mut u32);

impl Runs<'_> {
    fn check(&self, runs: usize) {
        let minimizers = self.minimizers.as_ref().map_or(runs, DeviceSliceMut::len);
        let databases = self.databases.as_ref().map_or(runs, DeviceSliceMut::len);
        assert!(self.runs.len().min(minimizers).min(databases) >= runs, "room for {runs} runs");
    }

    fn raw(&mut self) -> RawRuns {
        let minimizers = self.minimizers.as_mut().map(DeviceSliceMut::as_mut_ptr);
        let databases = self.databases.as_mut().map(DeviceSliceMut::as_mut_ptr);
        (
            self.runs.as_mut_ptr(),
            minimizers.unwrap_or(std::ptr::null_mut()),
            databases.unwrap_or(std::ptr::null_mut()),
        )
    }
}

/// Finds the runs of sequences and counts them. The runs of a sequence begin at the position of its first
/// letter. The sequences must be within the letters, one after the other, as the host has placed them.
pub(crate) fn runs(
    stream: &Stream,
    rule: &Asked,
    cells: &AllCells<'_>,
    sequences: Sequences<'_>,
    out: &mut Runs<'_>,
    mut counts: DeviceSliceMut<'_, u32>,
) -> Result<()> {
    let count = sequences.places.len();
    if count == 0 {
        return Ok(());
    }
    out.check(8 * sequences.letters.len());
    assert!(counts.len() >= count, "room for {count} numbers");
    assert!(out.databases.is_none() || cells.parents.is_some(), "databases of a single table");
    let (runs, minimizers, databases) = out.raw();
    let arguments = RunsArguments {
        rule: rule.rule,
        tables: cells.raw(),
        letters: sequences.letters.as_ptr().cast(),
        sequences: sequences.places.as_ptr(),
        count: count as u64,
        runs,
        minimizers,
        databases,
        counts: counts.as_mut_ptr(),
        join: rule.join.into(),
    };
    let run = |raw| {
        // SAFETY: the host has placed all sequences within the letters, and a sequence has at most as many
        // runs as letters; the capacity of the other buffers was checked above. Joint nodes are nodes of one taxonomy,
        // whose parents are smaller numbers.
        unsafe { merganser_kraken2_runs(&arguments, raw) }
    };
    stream.launch("looking up minimizers", run)
}

/// Performs the searches for `hashes`, which must begin in the range, and writes their values;
/// `u32::MAX` for those that leave it.
pub(crate) fn search(
    stream: &Stream,
    range: CellRange<'_>,
    hashes: DeviceSlice<'_, u64>,
    mut values: DeviceSliceMut<'_, u32>,
) -> Result<()> {
    let [first, end] = range.cells;
    assert!(first <= end && end <= range.rule.capacity, "cells {first} to {end}");
    assert!(values.len() >= hashes.len(), "room for {} values", hashes.len());
    let cells = Cells { rule: range.rule, bytes: range.bytes, nodes: None };
    let arguments = SearchArguments {
        table: cells.raw_of(end - first),
        first,
        end,
        hashes: hashes.as_ptr(),
        values: values.as_mut_ptr(),
        count: hashes.len() as u64,
    };
    if hashes.is_empty() {
        return Ok(());
    }
    let run = |raw| {
        // SAFETY: all cells of the range are in the buffer, there is room for all values, and the caller's searches
        // begin in the range.
        unsafe { merganser_kraken2_search(&arguments, raw) }
    };
    stream.launch("searching a range of cells", run)
}

/// Copies the runs of sequences so that there are no gaps between them. `counts` are the numbers of runs,
/// `offsets` the sums of the counts before each sequence.
pub(crate) fn gather(
    stream: &Stream,
    sequences: Sequences<'_>,
    from: &mut Runs<'_>,
    (counts, offsets): (DeviceSlice<'_, u32>, DeviceSlice<'_, u64>),
    out: &mut Runs<'_>,
) -> Result<()> {
    let count = sequences.places.len();
    if count == 0 {
        return Ok(());
    }
    let room = 8 * sequences.letters.len();
    from.check(room);
    out.check(room);
    let (runs, minimizers, databases) = from.raw();
    let (runs_out, minimizers_out, databases_out) = out.raw();
    assert!(counts.len() >= count && offsets.len() >= count, "numbers of {count} sequences");
    let arguments = GatherArguments {
        sequences: sequences.places.as_ptr(),
        count: count as u64,
        runs,
        minimizers,
        databases,
        counts: counts.as_ptr(),
        offsets: offsets.as_ptr(),
        runs_out,
        minimizers_out,
        databases_out,
    };
    let run = |raw| {
        // SAFETY: as for `runs`, which wrote the counts; their sum is at most the number of letters.
        unsafe { merganser_kraken2_gather(&arguments, raw) }
    };
    stream.launch("gathering minimizers", run)
}

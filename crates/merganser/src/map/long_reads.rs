//! A warning before long reads are mapped, which takes long and finds few of them.

use merganser_alignments::RecordOptions;
use merganser_io::{Input, ReadInput, RecordBatch, Records};
use merganser_run::thousands;

use crate::console::Console;

/// The number of reads that are looked at.
const READS: usize = 100;
/// The longest record that is looked at, in bytes: long lines must not take memory here.
const MAX_RECORD: usize = 1 << 20;
/// Reads that are longer than this on average, in bases, are long reads.
const LONG: usize = 1000;

/// Warns if the first reads of an input are long, of which `crop` bases are mapped. Inputs that can be read only once are not
/// looked at.
pub(super) fn warn<'i>(
    inputs: impl Iterator<Item = &'i Input>,
    crop: Option<u32>,
    console: &Console,
) {
    let limit = crop.map_or(usize::MAX, |crop| crop as usize);
    let long = inputs.filter(|input| input.is_file()).find_map(|input| {
        let mean = mean_length(input)?.min(limit);
        (mean > LONG).then_some((input, mean))
    });
    if let Some((input, mean)) = long {
        console.warn(format_args!(
            "{input}: the first reads have {} bases on average: map is for short reads with few errors, takes long for others, \
             and finds few of them; use a mapper of long reads",
            thousands(mean as u64)
        ));
    }
}

/// Returns the mean length of the first reads; `None` without reads, or if they cannot be read, which the run reports.
fn mean_length(input: &Input) -> Option<usize> {
    let options =
        RecordOptions { batch_records: READS, max_record: MAX_RECORD, ..RecordOptions::default() };
    let records = Records::open([ReadInput::Single(input.clone())], options).ok()?;
    let mut batch = RecordBatch::default();
    records.next(&mut batch).ok()??;
    let bases: usize = (0..batch.len()).map(|at| batch.letter_count(at)).sum();
    bases.checked_div(batch.len())
}

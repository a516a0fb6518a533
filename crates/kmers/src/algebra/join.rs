//! Joining tables over machines: shards of a count, each of a piece of the input, are joined by ranges
//! of k-mers, and ranges are put together. The result has the bytes of a count in one run.

use merganser_io::OutputSet;
use merganser_run::{Cancel, Progress, Resources, Shard};

use super::calculation::{Calculation, CountLimits};
use super::expression::{Expression, Mode, Operation};
use super::joined::Joined;
use super::run::{Calculated, calculate_joined};
use crate::Error;
use crate::tables::AnyTable;

/// Computes an expression of tables, of which none or all are shards of one count
/// ([`AnyTable::open_piece`]); of all its k-mers, or of a range of them, which is a piece that
/// [`concat()`] takes. Without a range, or when all ranges are put together, a union of shards has the
/// bytes that a count of the whole input has with the cut of this calculation. The histogram of shards
/// is that before the cut.
///
/// Progress stages are those of [`calculate`](super::calculate()).
///
/// # Errors
/// Shards that are not all there, or of several counts, or that anything else is computed of than
/// their union; a range of tables that are not `.mgk`, or in another format than that; and as
/// [`calculate`](super::calculate()).
pub fn join(
    calculation: &Calculation,
    range: Option<Shard>,
    tables: &[AnyTable],
    resources: &Resources,
    outputs: &OutputSet,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Calculated, Error> {
    let joined = Joined::of_shards(calculation, range, tables)?;
    calculate_joined(calculation, joined.as_ref(), tables, resources, outputs, progress, cancel)
}

/// Puts the ranges together that [`join`] made, given in any order; the calculation's expression and
/// cut are not looked at. The histogram is that before the cut of the ranges.
///
/// # Errors
/// Tables that are no ranges, not all there, or of several jobs; and as
/// [`calculate`](super::calculate()).
pub fn concat(
    calculation: &Calculation,
    tables: &[AnyTable],
    resources: &Resources,
    outputs: &OutputSet,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Calculated, Error> {
    let joined = Joined::of_ranges(tables)?;
    let operands = (0..tables.len()).map(Expression::Table).collect();
    let expression = Expression::Of { operation: Operation::Union, mode: Mode::Sum, operands };
    let CountLimits { counter_max, .. } = calculation.limits;
    let limits = CountLimits { counter_max, ..CountLimits::default() };
    let calculation = Calculation { expression, limits, ..calculation.clone() };
    calculate_joined(&calculation, Some(&joined), tables, resources, outputs, progress, cancel)
}

//! Joins tables from several machines: shards of a count, each of a part of the input, are joined by ranges of
//! k-mers, and the ranges are concatenated. The result has the bytes of a count in one run.

use merganser_io::OutputSet;
use merganser_run::{Context, Shard};

use super::calculation::{Calculation, CountLimits};
use super::expression::{Expression, Mode, Operation};
use super::joined::Joined;
use super::run::{Calculated, calculate_joined};
use crate::Error;
use crate::tables::AnyTable;

/// Computes an expression of tables, either for all k-mers or for a range of them. The result for a range is a
/// piece for [`concat()`].
///
/// Either none or all of the tables are shards of one count ([`AnyTable::open_piece`]). The union of shards, or
/// the concatenation of all its ranges, has the bytes of a count of the whole input with the cut of this
/// calculation. The histogram of shards is that before the cut.
///
/// The progress stages are those of [`calculate`](super::calculate()).
///
/// # Errors
/// If shards are missing or belong to several counts, or the expression is not their union; if a range is
/// computed from tables that are not `.mgk`, or in another format; otherwise as
/// [`calculate`](super::calculate()).
pub fn join(
    calculation: &Calculation,
    range: Option<Shard>,
    tables: &[AnyTable],
    outputs: &OutputSet,
    context: &Context,
) -> Result<Calculated, Error> {
    let joined = Joined::of_shards(calculation, range, tables)?;
    calculate_joined(calculation, joined.as_ref(), tables, outputs, context)
}

/// Concatenates the ranges that [`join`] wrote, given in any order. The expression and the cut of the
/// calculation are ignored. The histogram is that before the cut of the ranges.
///
/// # Errors
/// If the tables are not ranges, if ranges are missing, or if they belong to several jobs; otherwise as
/// [`calculate`](super::calculate()).
pub fn concat(
    calculation: &Calculation,
    tables: &[AnyTable],
    outputs: &OutputSet,
    context: &Context,
) -> Result<Calculated, Error> {
    let joined = Joined::of_ranges(tables)?;
    let operands = (0..tables.len()).map(Expression::Table).collect();
    let expression = Expression::Of { operation: Operation::Union, mode: Mode::Sum, operands };
    let CountLimits { counter_max, .. } = calculation.limits;
    let limits = CountLimits { counter_max, ..CountLimits::default() };
    let calculation = Calculation { expression, limits, ..calculation.clone() };
    calculate_joined(&calculation, Some(&joined), tables, outputs, context)
}

//! Joined pieces of tables: which pieces belong together, and the header of the result.

use std::path::Path;

use merganser_run::{ConfigError, Shard};
use merganser_seq::kmer::Kmer;
use merganser_store::shard::{JobShard, Words, check_all};

use super::calculation::Calculation;
use super::expression::{Cut, Expression, Mode, Operation};
use crate::error::bad;
use crate::formats::TableFormat;
use crate::formats::mgk::{JobHash, Piece, PieceKind, section_bits};
use crate::tables::AnyTable;
use crate::tables::clipped::{AllRanges, clipped};
use crate::{Error, Header, Histogram};

/// The known properties of a result that is joined from pieces, or is itself a piece.
pub(super) struct Joined {
    /// The range of k-mers to compute.
    range: Option<Shard>,
    /// The piece that the result will be.
    piece: Option<Piece>,
    /// The cut of the result.
    cut: Cut,
    min_quality: Option<u8>,
    /// The total number of k-mers of the input according to the pieces; `None` if it is computed from the counts.
    total_kmers: Option<u64>,
    /// The properties of ranges before their cut.
    ranges: Option<Ranged>,
    /// Whether the number of k-mers must be known before writing, which takes a calculation of its own.
    pub(super) needs_number: bool,
}

struct Ranged {
    distinct_kmers: u64,
    saturated: bool,
    histogram: Histogram,
}

impl Joined {
    /// Returns the properties of a union of shards or of a range; `None` if the result is neither.
    pub(super) fn of_shards(
        calculation: &Calculation,
        range: Option<Shard>,
        tables: &[AnyTable],
    ) -> Result<Option<Joined>, Error> {
        let pieces = pieces(tables, PieceKind::Shard)?;
        if pieces.is_none() && range.is_none() {
            return Ok(None);
        }
        if pieces.is_some() && !is_plain_union(&calculation.expression, tables.len()) {
            let first = tables[0].path();
            return Err(bad(
                first,
                "it is a shard of a count: only the union of all shards, with summed counts, can be computed from it",
            ));
        }
        if range.is_some() && calculation.format != TableFormat::Mgk {
            return Err(config(
                "`range`: ranges of k-mers are .mgk tables: convert the whole table instead",
            ));
        }
        if range.is_some() && calculation.limits.ceiling() < u32::MAX {
            return Err(config("`counter_max` requires whole tables: use it without `range`"));
        }
        let headers = pieces.as_deref().unwrap_or_default();
        let total: u64 = sum(headers.iter().map(|header| header.total_kmers));
        let piece = range.map(|shard| {
            let job = job(calculation, shard, tables);
            Piece { kind: PieceKind::Range, shard, job }
        });
        // The total is the same for all ranges: only the first one records it.
        let says = range.is_none_or(|range| range.number() == 1);
        Ok(Some(Joined {
            range,
            piece,
            cut: calculation.limits.cut(),
            min_quality: headers.first().and_then(|header| header.min_quality),
            total_kmers: pieces.is_some().then_some(if says { total } else { 0 }),
            ranges: None,
            needs_number: range.is_none() && calculation.format == TableFormat::Mgk,
        }))
    }

    /// Returns the properties of the concatenation of ranges.
    pub(super) fn of_ranges(tables: &[AnyTable]) -> Result<Joined, Error> {
        let Some(headers) = pieces(tables, PieceKind::Range)? else {
            let path = tables.first().map(AnyTable::path).unwrap_or(Path::new(""));
            let reason = "not a range of k-mers, which merganser kmers union --range writes";
            return Err(bad(path, reason));
        };
        let mut histogram = Histogram::default();
        tables
            .iter()
            .filter_map(AnyTable::as_mgk)
            .for_each(|t| histogram.merge(t.uncut_histogram()));
        Ok(Joined {
            range: None,
            piece: None,
            cut: Cut { least: headers[0].min_count, most: headers[0].max_count },
            min_quality: headers[0].min_quality,
            total_kmers: Some(sum(headers.iter().map(|header| header.total_kmers))),
            ranges: Some(Ranged {
                distinct_kmers: sum(headers.iter().map(|header| header.distinct_kmers)),
                saturated: headers.iter().any(|header| header.saturated),
                histogram,
            }),
            needs_number: false,
        })
    }

    /// Returns the k-mers of the tables that lie in the range, or `None` without a range.
    pub(super) fn ranges<'t, K: Kmer>(
        &self,
        tables: &'t [AnyTable],
        k: usize,
    ) -> Result<Option<AllRanges<'t, K>>, Error> {
        self.range.map(|range| clipped(tables, k, range)).transpose()
    }

    /// Writes the properties into a header.
    pub(super) fn put(&self, header: &mut Header) {
        header.min_count = self.cut.least;
        header.max_count = self.cut.most;
        header.min_quality = self.min_quality;
        header.piece = self.piece;
        if let Some(range) = self.range {
            // A range has k-mers in only some of the sections.
            let finer = (range.of() - 1).checked_ilog2().map_or(0, |bits| bits + 1);
            let bits = section_bits(header.kmers, header.k) + finer;
            header.section_bits = bits.min(16).min(2 * header.k as u32);
        }
    }

    /// Returns the histogram before any cut; `before` is that before the cut of this calculation.
    pub(super) fn uncut<'h>(&'h self, before: &'h Histogram) -> &'h Histogram {
        self.ranges.as_ref().map_or(before, |ranges| &ranges.histogram)
    }

    /// Returns the numbers of all and of distinct k-mers of the input, and whether a count was too large, as
    /// far as the pieces record them.
    pub(super) fn numbers(&self) -> (Option<u64>, Option<u64>, Option<bool>) {
        let ranges = self.ranges.as_ref();
        (self.total_kmers, ranges.map(|of| of.distinct_kmers), ranges.map(|of| of.saturated))
    }
}

/// Returns the sum of numbers from headers, which can be arbitrary.
fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// Whether the expression is the union of all tables, each once, with summed counts.
fn is_plain_union(expression: &Expression, tables: usize) -> bool {
    match expression {
        Expression::Table(0) => tables == 1,
        Expression::Of { operation: Operation::Union, mode: Mode::Sum, operands } => {
            operands.len() == tables
                && operands.iter().all(|operand| matches!(operand, Expression::Table(_)))
        }
        _ => false,
    }
}

/// Returns the headers of tables that are all pieces of one job; `None` if no table is a piece.
fn pieces(tables: &[AnyTable], kind: PieceKind) -> Result<Option<Vec<&Header>>, Error> {
    let piece =
        |table: &AnyTable| table.description().header.as_ref().and_then(|header| header.piece);
    let Some((first, one)) = tables.iter().find_map(|table| Some((piece(table)?, table))) else {
        return Ok(None);
    };
    let (name, remedy) = match kind {
        PieceKind::Shard => ("shard", "give all shards of one count to merganser kmers union"),
        PieceKind::Range => ("range", "give all ranges of one union to merganser kmers concat"),
    };
    let mut pieces = Vec::with_capacity(tables.len());
    for table in tables {
        let path = table.path();
        let Some(other) = piece(table) else {
            let what = format!("a whole table, but {} is {first}: {remedy}", one.path().display());
            return Err(bad(path, what));
        };
        if other.kind != kind {
            return Err(bad(path, format!("it is {other}: {remedy}")));
        }
        pieces.push((path, JobShard { shard: other.shard, job: other.job }));
    }
    let other_job = " belongs to another job (other inputs or parameters) than";
    check_all(pieces, Words::Named { name, other_job, remedy })
        .map_err(|(at, what)| bad(tables[at].path(), what))?;
    Ok(Some(tables.iter().filter_map(|table| table.description().header.as_ref()).collect()))
}

/// Returns a hash of everything that ranges depend on: the expression, and the contents of the tables,
/// regardless of their order if the result does not depend on it.
fn job(calculation: &Calculation, range: Shard, tables: &[AnyTable]) -> u64 {
    let Calculation { expression, limits, .. } = calculation;
    let cut = limits.cut();
    let headers = tables.iter().filter_map(|table| table.description().header.as_ref());
    let mut contents: Vec<u64> =
        headers.map(|header| JobHash::new().with_header(header).finish()).collect();
    let what = match is_plain_union(expression, tables.len()) {
        true => {
            contents.sort_unstable();
            String::new()
        }
        false => format!("{expression:?}"),
    };
    let hash = JobHash::new().with(what.as_bytes()).with(&range.of().to_le_bytes());
    let hash = hash.with(&cut.least.to_le_bytes()).with(&cut.most.to_le_bytes());
    contents.iter().fold(hash, |hash, content| hash.with(&content.to_le_bytes())).finish()
}

fn config(message: &str) -> Error {
    Error::Config(ConfigError::new(message))
}

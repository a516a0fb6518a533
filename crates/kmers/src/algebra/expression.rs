//! Expressions: calculations as trees.

use std::path::PathBuf;

/// An operation on sets of k-mers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The k-mers of any operand.
    Union,
    /// The k-mers of all operands.
    Intersect,
    /// The k-mers of the first operand that no other has, with their counts.
    Subtract,
    /// The k-mers of the first operand, with their counts less those of the others, if any count is left.
    CountersSubtract,
}

merganser_run::named! {
    /// The rule for the count of a k-mer that two operands have, named as by `kmc_tools -oc`.
    pub enum Mode {
        /// The smaller of both counts.
        Min = "min",
        /// The larger of both counts.
        Max = "max",
        /// The sum, at most `u32::MAX`.
        Sum = "sum",
        /// The first count less the second; the k-mer is dropped if nothing is left.
        Diff = "diff",
        /// The first count.
        Left = "left",
        /// The second count.
        Right = "right",
    }
}

impl Operation {
    /// Returns the default mode, which is that of kmc_tools.
    pub fn default_mode(self) -> Mode {
        match self {
            Operation::Union => Mode::Sum,
            Operation::Intersect => Mode::Min,
            Operation::Subtract => Mode::Left,
            Operation::CountersSubtract => Mode::Diff,
        }
    }

    /// Returns whether k-mers that only the left operand has are kept, and whether those that only the right
    /// one has are.
    pub(super) fn keeps(self) -> (bool, bool) {
        match self {
            Operation::Union => (true, true),
            Operation::Intersect => (false, false),
            Operation::Subtract | Operation::CountersSubtract => (true, false),
        }
    }
}

/// Inclusive bounds of counts; k-mers with other counts are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The smallest count that is kept.
    pub least: u32,
    /// The largest count that is kept.
    pub most: u32,
}

impl Cut {
    /// The cut that keeps all k-mers.
    pub const NONE: Cut = Cut { least: 1, most: u32::MAX };

    /// Whether k-mers with this count are kept.
    #[inline(always)]
    pub fn keeps(&self, count: u32) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

/// An expression over tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A table, by its index in a list.
    Table(usize),
    /// An operation on one or more operands, applied from left to right.
    Of {
        /// The operation.
        operation: Operation,
        /// The rule for the count of k-mers that two operands have.
        mode: Mode,
        /// The operands; at least one.
        operands: Vec<Expression>,
    },
    /// The k-mers of an expression that a cut keeps.
    Within(Box<Expression>, Cut),
    /// The k-mers of an expression, all with this count, which is at least 1.
    SetCounts(Box<Expression>, u32),
}

/// Bounds of a result that are known before it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// An upper bound of the number of k-mers.
    pub(super) kmers: u64,
    /// A lower bound of the counts.
    pub(super) least: u32,
    /// An upper bound of the largest count.
    pub(super) largest: u32,
}

impl Expression {
    /// The k-mers of any of these tables, which are numbered in a list; their counts are added.
    pub fn union(tables: impl IntoIterator<Item = usize>) -> Expression {
        Expression::of(Operation::Union, tables)
    }

    /// The k-mers of all of these tables, which are numbered in a list, with their smallest count.
    pub fn intersection(tables: impl IntoIterator<Item = usize>) -> Expression {
        Expression::of(Operation::Intersect, tables)
    }

    /// The k-mers of the first of these tables, which are numbered in a list, that are in no other one.
    pub fn difference(tables: impl IntoIterator<Item = usize>) -> Expression {
        Expression::of(Operation::Subtract, tables)
    }

    fn of(operation: Operation, tables: impl IntoIterator<Item = usize>) -> Expression {
        let operands = tables.into_iter().map(Expression::Table).collect();
        Expression::Of { operation, mode: operation.default_mode(), operands }
    }

    /// Whether the result has only given k-mers of the reads, if tables of which `tables` says so do. An intersection has
    /// only k-mers of its operands; a union lacks the k-mers that any operand lacks. Subtraction leaves out given k-mers,
    /// for instance those of an organelle, and all others are there.
    pub(super) fn is_only_given(&self, tables: &[bool]) -> bool {
        match self {
            Expression::Table(table) => tables[*table],
            Expression::Within(operand, _) | Expression::SetCounts(operand, _) => {
                operand.is_only_given(tables)
            }
            Expression::Of { operation, operands, .. } => {
                let mut of = operands.iter().map(|operand| operand.is_only_given(tables));
                match operation {
                    Operation::Intersect => operands.len() > 1 || of.any(|is_given| is_given),
                    Operation::Union => of.any(|is_given| is_given),
                    Operation::Subtract | Operation::CountersSubtract => of.next().unwrap_or(false),
                }
            }
        }
    }

    /// Returns the number of times that each table occurs in the expression.
    pub(super) fn uses(&self, tables: usize) -> Vec<usize> {
        let mut uses = vec![0; tables];
        self.visit(&mut |table| uses[table] += 1);
        uses
    }

    fn visit(&self, see: &mut impl FnMut(usize)) {
        match self {
            Expression::Table(table) => see(*table),
            Expression::Of { operands, .. } => operands.iter().for_each(|one| one.visit(see)),
            Expression::Within(operand, _) | Expression::SetCounts(operand, _) => {
                operand.visit(see);
            }
        }
    }

    /// Returns the table if the expression is a single table, possibly with cuts.
    pub(super) fn only_table(&self) -> Option<usize> {
        match self {
            Expression::Table(table) => Some(*table),
            Expression::Within(operand, _) => operand.only_table(),
            _ => None,
        }
    }

    /// Returns the largest number of intermediate results that are in memory at the same time.
    pub(super) fn width(&self) -> usize {
        match self {
            Expression::Table(_) => 1,
            Expression::Of { operands, .. } => 2 + operands.iter().map(Self::width).sum::<usize>(),
            Expression::Within(operand, _) | Expression::SetCounts(operand, _) => operand.width(),
        }
    }

    pub(super) fn bounds(&self, tables: &[Bounds]) -> Bounds {
        match self {
            Expression::Table(table) => tables[*table],
            Expression::Within(operand, cut) => {
                let of = operand.bounds(tables);
                Bounds { least: of.least.max(cut.least), largest: of.largest.min(cut.most), ..of }
            }
            Expression::SetCounts(operand, count) => {
                Bounds { least: *count, largest: *count, ..operand.bounds(tables) }
            }
            Expression::Of { operation, mode, operands } => {
                let mut all = operands.iter().map(|operand| operand.bounds(tables));
                let first = all.next().unwrap_or(Bounds { kmers: 0, least: 1, largest: 0 });
                all.fold(first, |a, b| fold(*operation, *mode, a, b))
            }
        }
    }
}

fn fold(operation: Operation, mode: Mode, a: Bounds, b: Bounds) -> Bounds {
    let kmers = match operation {
        Operation::Union => a.kmers.saturating_add(b.kmers),
        Operation::Intersect => a.kmers.min(b.kmers),
        Operation::Subtract | Operation::CountersSubtract => a.kmers,
    };
    let both = match mode {
        Mode::Min => (a.least.min(b.least), a.largest.min(b.largest)),
        Mode::Max => (a.least.max(b.least), a.largest.max(b.largest)),
        Mode::Sum => (a.least.saturating_add(b.least), a.largest.saturating_add(b.largest)),
        Mode::Diff => (1, a.largest),
        Mode::Left => (a.least, a.largest),
        Mode::Right => (b.least, b.largest),
    };
    let (mut least, mut largest) = both;
    match operation {
        Operation::Union => {
            least = least.min(a.least).min(b.least);
            largest = largest.max(a.largest).max(b.largest);
        }
        Operation::Intersect => {}
        Operation::Subtract => (least, largest) = (a.least, a.largest),
        Operation::CountersSubtract => {
            (least, largest) = (least.min(a.least), largest.max(a.largest));
        }
    }
    Bounds { kmers, least: least.max(1), largest }
}

/// The paths of tables, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names(pub(super) Vec<PathBuf>);

impl Names {
    pub(super) fn place(&mut self, path: PathBuf) -> usize {
        self.0.iter().position(|known| *known == path).unwrap_or_else(|| {
            self.0.push(path);
            self.0.len() - 1
        })
    }
}

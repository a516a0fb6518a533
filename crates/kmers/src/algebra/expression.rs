//! What to compute, as a tree.

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
    /// The k-mers of the first operand, their counts less those of the others, where any is left.
    CountersSubtract,
}

merganser_run::named! {
    /// The count of a k-mer that two operands have, as `kmc_tools -oc` names it.
    pub enum Mode {
        /// The smaller of both.
        Min = "min",
        /// The larger of both.
        Max = "max",
        /// The sum; what is beyond `u32::MAX` stands as that.
        Sum = "sum",
        /// The first less the second; a k-mer of which nothing is left goes.
        Diff = "diff",
        /// The first.
        Left = "left",
        /// The second.
        Right = "right",
    }
}

impl Operation {
    /// The mode if none is given: kmc_tools' own.
    pub fn default_mode(self) -> Mode {
        match self {
            Operation::Union => Mode::Sum,
            Operation::Intersect => Mode::Min,
            Operation::Subtract => Mode::Left,
            Operation::CountersSubtract => Mode::Diff,
        }
    }

    /// Whether k-mers of the left, and of the right, operand alone stay.
    pub(super) fn keeps(self) -> (bool, bool) {
        match self {
            Operation::Union => (true, true),
            Operation::Intersect => (false, false),
            Operation::Subtract | Operation::CountersSubtract => (true, false),
        }
    }
}

/// Bounds of counts, both inclusive: k-mers outside of them go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The least count that stays.
    pub least: u32,
    /// The largest count that stays.
    pub most: u32,
}

impl Cut {
    /// Nothing goes.
    pub const NONE: Cut = Cut { least: 1, most: u32::MAX };

    /// Whether k-mers of this count stay.
    #[inline(always)]
    pub fn keeps(&self, count: u32) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

/// What to compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A table, by its place in a list.
    Table(usize),
    /// An operation on one operand or more, taken from left to right.
    Of {
        /// The operation.
        operation: Operation,
        /// The count of k-mers that two operands have.
        mode: Mode,
        /// What it is of; at least one.
        operands: Vec<Expression>,
    },
    /// What stays after a cut.
    Within(Box<Expression>, Cut),
    /// The same k-mers, each with this count, at least 1.
    SetCounts(Box<Expression>, u32),
}

/// What can be said of a result before it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// No fewer than its k-mers.
    pub(super) kmers: u64,
    /// No greater than its least count.
    pub(super) least: u32,
    /// No less than its largest count.
    pub(super) largest: u32,
}

impl Expression {
    /// How often each table stands in it.
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

    /// The table, if it is one and nothing else but cuts.
    pub(super) fn only_table(&self) -> Option<usize> {
        match self {
            Expression::Table(table) => Some(*table),
            Expression::Within(operand, _) => operand.only_table(),
            _ => None,
        }
    }

    /// The most results that are in memory at the same time while it is computed.
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

/// Tables by their paths, each once.
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

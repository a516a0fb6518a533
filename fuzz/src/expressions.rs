//! Evaluates expressions of tables with maps of k-mers.

use std::collections::BTreeMap;

use merganser_kmers::algebra::{Expression, Mode, Operation};

use crate::kmers::Counts;

/// Returns the k-mers of an expression of these tables.
pub fn evaluate(expression: &Expression, tables: &[Counts]) -> Counts {
    match expression {
        Expression::Table(place) => tables[*place].clone(),
        Expression::Within(inner, cut) => {
            let mut inner = evaluate(inner, tables);
            inner.retain(|_, count| cut.keeps(*count));
            inner
        }
        Expression::SetCounts(inner, count) => {
            evaluate(inner, tables).into_keys().map(|kmer| (kmer, *count)).collect()
        }
        Expression::Of { operation, mode, operands } => {
            let mut operands = operands.iter().map(|operand| evaluate(operand, tables));
            let first = operands.next().expect("an operand");
            operands.fold(first, |left, right| both(*operation, *mode, &left, &right))
        }
    }
}

fn both(operation: Operation, mode: Mode, left: &Counts, right: &Counts) -> Counts {
    let mut result = BTreeMap::new();
    for (kmer, &a) in left {
        let count = match (operation, right.get(kmer)) {
            (Operation::Intersect, None) | (Operation::Subtract, Some(_)) => 0,
            (_, None) => a,
            (_, Some(&b)) => shared(mode, a, b),
        };
        result.insert(kmer.clone(), count);
    }
    if operation == Operation::Union {
        for (kmer, &count) in right {
            result.entry(kmer.clone()).or_insert(count);
        }
    }
    result.retain(|_, count| *count > 0);
    result
}

fn shared(mode: Mode, a: u32, b: u32) -> u32 {
    match mode {
        Mode::Min => a.min(b),
        Mode::Max => a.max(b),
        Mode::Sum => a.saturating_add(b),
        Mode::Diff => a.saturating_sub(b),
        Mode::Left => a,
        Mode::Right => b,
    }
}

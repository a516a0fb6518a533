//! Hap-mers: k-mers that only one parent passed on (Rhie et al. 2020, "Haplotype phasing and trio evaluation").

use std::path::PathBuf;

use merganser_io::OutputSet;
use merganser_kmers::Histogram;
use merganser_kmers::algebra::{
    Cut, Expression, Mode, Operation, Visitor, calculate_with, join, visit,
};
use merganser_kmers::tables::AnyTable;
use merganser_run::{Budget, Shard, Shortage};

use crate::Error;
use crate::family::{CHILD, Family, PARENTS, Room, valley};
use crate::stages::{RunContext, own_table};

/// The results about both parents' k-mers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trio {
    /// The names of the parents.
    pub names: [String; 2],
    /// The count threshold of each parent: its own k-mers occur more often than this in its reads.
    pub own: [u32; 2],
    /// The count threshold of hap-mers: those of each parent occur more often than this in the child's reads.
    pub inherited: [u32; 2],
    /// The count threshold of k-mers that both parents have.
    pub shared: u32,
    /// The numbers of k-mers with each count in the child's reads, for four classes: k-mers of neither parent, of
    /// the first parent only, of the second only, and of both.
    pub spectra: [Histogram; 4],
    /// The number of distinct hap-mers of each parent.
    pub hapmers: [u64; 2],
    /// The number of distinct hap-mers of each parent that each assembly has.
    pub found: Vec<[u64; 2]>,
    /// The number of distinct hap-mers of each parent that at least one of the assemblies has.
    pub found_in_both: [u64; 2],
    /// The copy-number spectra of each parent's hap-mers in each assembly.
    pub spectra_of_hapmers: Vec<[HapmerSpectra; 2]>,
    /// The lengths in bases of each assembly's contigs: its sequences, divided at runs of N.
    pub contigs: Vec<Vec<u64>>,
    /// The reasons why switch and Hamming error rates cannot be determined, each naming a parent; empty if they can.
    pub doubts: Vec<String>,
}

/// The numbers of one parent's hap-mers with each count in the child's reads, for each class of
/// [`Copies`](crate::Copies) in an assembly.
pub type HapmerSpectra = [Histogram; 6];

/// Returns the numbers of all k-mers of a family: the child, the mother and the father. With a range, only its k-mers
/// are counted.
pub(crate) fn family(
    run: &RunContext<'_>,
    tables: &[AnyTable],
    range: Option<Shard>,
) -> Result<Family, Error> {
    let visited = |known: Option<[u32; 2]>| -> Result<Family, Error> {
        let room = Room::of_bytes(run.beside.budget() / ROOM_SHARE);
        let parts = visit(tables, range, run.beside, || Family::within(&room, known))?;
        let mut parts = parts.into_iter();
        let mut family = parts.next().unwrap_or_default();
        parts.for_each(|part| family.merge(&part));
        Ok(family)
    };
    let family = visited(None)?;
    // A second visit needs less memory: the thresholds of the first one are those of all k-mers. Those of a range are not.
    let family = match family.limit.is_full && range.is_none() {
        true => visited(Some(family.own_thresholds()))?,
        false => family,
    };
    if !family.limit.is_full {
        return Ok(family);
    }
    let budget = run.beside.budget();
    let budget = Budget::of_part(budget).with(budget.saturating_mul(2));
    Err(budget.shortage("the counts of the parents' k-mers need", Shortage::FEWER_THREADS).into())
}

/// The memory for the numbers of a family's k-mers is the budget divided by this number. Visits leave a quarter unused, as
/// they write no table.
const ROOM_SHARE: u64 = 16;

/// Finds hap-mers and writes them as a table whose counts are the number of the parent (1 or 2). `tables` are those of
/// the child, the mother and the father, which have at least the k-mers that the child and exactly one parent have, and
/// `assemblies` have at least these, too. The child's k-mers with a larger count than `solid` belong to its genome.
pub(crate) fn find(
    run: &RunContext<'_>,
    names: [String; 2],
    family: &Family,
    tables: &[AnyTable],
    assemblies: &[AnyTable],
    solid: u32,
) -> Result<(AnyTable, Trio), Error> {
    let context = run.beside;
    let (own, spectra) = (family.own_thresholds(), family.spectra());
    let [_, first, second, shared] = spectra.each_ref().map(valley);
    let inherited = [first, second];

    let expression = Expression::Of {
        operation: Operation::Union,
        mode: Mode::Sum,
        operands: (0..2).map(|parent| hapmers_of(parent, own[parent], inherited[parent])).collect(),
    };
    let path = run.path("hapmers")?;
    let calculation = own_table(expression, &path);
    calculate_with(&calculation, tables, &OutputSet::alone(), context)?;
    let hapmers_table = run.open(&path)?;
    let mut all = vec![hapmers_table.reopen(context)?];
    for table in [&tables[CHILD]].into_iter().chain(assemblies) {
        all.push(table.reopen(context)?);
    }
    let make = || Found::new(assemblies.len());
    let mut of = make();
    visit(&all, None, context, make)?.iter().for_each(|part| of.add(part));
    let Found { hapmers, found, found_in_both, spectra: spectra_of_hapmers } = of;
    let doubts = family.parentage(solid).doubts(&names, hapmers, &spectra);
    let trio = Trio {
        names,
        own,
        inherited,
        shared,
        spectra,
        hapmers,
        found,
        found_in_both,
        spectra_of_hapmers,
        contigs: Vec::new(),
        doubts,
    };
    Ok((hapmers_table, trio))
}

/// Returns the expression for the hap-mers of a parent, each with the number of the parent as its count.
fn hapmers_of(parent: usize, own: u32, inherited: u32) -> Expression {
    let above = |operand: Expression, solid: u32| {
        Expression::Within(
            Box::new(operand),
            Cut { least: solid.saturating_add(1), most: u32::MAX },
        )
    };
    let own = above(only_of(parent), own);
    let child = above(Expression::Table(CHILD), inherited);
    Expression::SetCounts(Box::new(left(Operation::Intersect, child, own)), parent as u32 + 1)
}

/// Returns the expression for the k-mers that a parent has and the other one lacks.
fn only_of(parent: usize) -> Expression {
    let [this, other] = [parent, 1 - parent].map(|parent| Expression::Table(PARENTS[parent]));
    left(Operation::Subtract, this, other)
}

fn left(operation: Operation, one: Expression, other: Expression) -> Expression {
    Expression::Of { operation, mode: Mode::Left, operands: vec![one, other] }
}

/// Writes the tables from which the hap-mers of a range follow once the thresholds are known, and returns their paths:
/// the k-mers that the child and exactly one parent have, with their counts in the child, the mother, the father and
/// each assembly. `family` are the tables of the child, the mother and the father.
pub(crate) fn candidates(
    run: &RunContext<'_>,
    family: &[AnyTable],
    assemblies: &[AnyTable],
    range: Shard,
) -> Result<Vec<PathBuf>, Error> {
    let child = Expression::Table(CHILD);
    let of_one = Expression::Of {
        operation: Operation::Union,
        mode: Mode::Sum,
        operands: (0..2).map(only_of).collect(),
    };
    let inherited = left(Operation::Intersect, child.clone(), of_one);
    let mut paths = Vec::new();
    let mut write = |expression: &Expression, tables: &[AnyTable]| -> Result<(), Error> {
        let path = run.path(&format!("candidates-{}", paths.len()))?;
        let calculation = own_table(expression.clone(), &path);
        join(&calculation, Some(range), tables, &OutputSet::alone(), run.beside)?;
        paths.push(path);
        Ok(())
    };
    write(&inherited, family)?;
    for parent in 0..2 {
        write(&left(Operation::Intersect, only_of(parent), child.clone()), family)?;
    }
    for assembly in assemblies {
        let mut tables = Vec::new();
        for table in family.iter().chain([assembly]) {
            tables.push(table.reopen(run.beside)?);
        }
        let this = Expression::Table(family.len());
        write(&left(Operation::Intersect, this, inherited.clone()), &tables)?;
    }
    Ok(paths)
}

/// The numbers of hap-mers, in all and in the assemblies.
struct Found {
    hapmers: [u64; 2],
    found: Vec<[u64; 2]>,
    found_in_both: [u64; 2],
    spectra: Vec<[HapmerSpectra; 2]>,
}

impl Found {
    fn new(assemblies: usize) -> Found {
        Found {
            hapmers: [0; 2],
            found: vec![[0; 2]; assemblies],
            found_in_both: [0; 2],
            spectra: vec![Default::default(); assemblies],
        }
    }

    fn add(&mut self, other: &Found) {
        for parent in 0..2 {
            self.hapmers[parent] += other.hapmers[parent];
            self.found_in_both[parent] += other.found_in_both[parent];
            let found = self.found.iter_mut().zip(&other.found);
            found.for_each(|(sum, more)| sum[parent] += more[parent]);
            for (sum, more) in self.spectra.iter_mut().zip(&other.spectra) {
                let classes = sum[parent].iter_mut().zip(&more[parent]);
                classes.for_each(|(sum, more)| sum.merge(more));
            }
        }
    }
}

impl Visitor for Found {
    /// Adds a k-mer: the number of its parent if it is a hap-mer, its count in the child's reads, and those in the
    /// assemblies.
    fn kmer(&mut self, counts: &[u32]) {
        let [parent @ 1..=2, child, assemblies @ ..] = counts else { return };
        let parent = *parent as usize - 1;
        self.hapmers[parent] += 1;
        for (found, &count) in self.found.iter_mut().zip(assemblies) {
            found[parent] += u64::from(count > 0);
        }
        for (spectra, &count) in self.spectra.iter_mut().zip(assemblies) {
            spectra[parent][count.min(5) as usize].add(*child);
        }
        self.found_in_both[parent] += u64::from(assemblies.iter().any(|&count| count > 0));
    }
}

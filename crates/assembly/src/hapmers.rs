//! Hap-mers: k-mers that only one parent passed on (Rhie et al. 2020, "Haplotype phasing and trio evaluation").

use merganser_io::OutputSet;
use merganser_kmers::Histogram;
use merganser_kmers::algebra::{Cut, Expression, Mode, Operation, Visitor, calculate_with, visit};
use merganser_kmers::tables::AnyTable;
use merganser_spectrum::first_valley;

use crate::Error;
use crate::parentage::Parentage;
use crate::run::{RunContext, own_table};

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
    /// The number of distinct hap-mers of each parent that at least one of two assemblies has.
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

/// The index of the child's table among those that hap-mers are computed from.
const CHILD: usize = 0;
/// The indexes of the parents' tables.
const PARENTS: [usize; 2] = [1, 2];

/// Finds hap-mers and writes them as a table whose counts are the number of the parent (1 or 2). The first of `tables`
/// is the child's, and the assemblies' follow. The child's k-mers with a larger count than `solid` belong to its
/// genome.
pub(crate) fn find(
    run: &RunContext<'_>,
    names: [String; 2],
    parents: [AnyTable; 2],
    tables: &[AnyTable],
    solid: u32,
) -> Result<(AnyTable, Trio), Error> {
    let [one, other] = parents;
    let family = [tables[CHILD].reopen(run.beside)?, one, other];
    let own = own_thresholds(run, &family)?;
    let context = run.beside;
    let make = || Inherited::new(own, solid);
    let mut inherited = make();
    for part in visit(&family, None, context, make)? {
        inherited.merge(&part);
    }
    let Inherited { spectra, parentage, .. } = inherited;
    let [_, first, second, shared] = spectra.each_ref().map(valley);
    let inherited = [first, second];

    let expression = Expression::Of {
        operation: Operation::Union,
        mode: Mode::Sum,
        operands: (0..2).map(|parent| hapmers_of(parent, own[parent], inherited[parent])).collect(),
    };
    let path = run.path("hapmers")?;
    let calculation = own_table(expression, &path);
    calculate_with(&calculation, &family, &OutputSet::alone(), context)?;
    drop(family);
    let hapmers_table = run.open(&path)?;
    let mut all = vec![hapmers_table.reopen(context)?];
    for table in tables {
        all.push(table.reopen(context)?);
    }
    let make = || Found::new(tables.len() - 1);
    let mut of = make();
    visit(&all, None, context, make)?.iter().for_each(|part| of.add(part));
    let Found { hapmers, found, found_in_both, spectra: spectra_of_hapmers } = of;
    let doubts = parentage.doubts(&names, hapmers, &spectra);
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
    let of = |operation, operands| Expression::Of { operation, mode: Mode::Left, operands };
    let tables = PARENTS.map(Expression::Table);
    let [this, other] = if parent == 0 { tables } else { [tables[1].clone(), tables[0].clone()] };
    let own = above(of(Operation::Subtract, vec![this, other]), own);
    let child = above(Expression::Table(CHILD), inherited);
    Expression::SetCounts(Box::new(of(Operation::Intersect, vec![child, own])), parent as u32 + 1)
}

/// Returns the valley of the histogram of the k-mers that only one parent has, for each parent.
fn own_thresholds(run: &RunContext<'_>, family: &[AnyTable]) -> Result<[u32; 2], Error> {
    let mut own = Own::default();
    for part in visit(family, None, run.beside, Own::default)? {
        own.0.iter_mut().zip(&part.0).for_each(|(sum, more)| sum.merge(more));
    }
    Ok(own.0.each_ref().map(valley))
}

/// Returns the end of the valley between errors and genome, or 0 if there is no valley. Merqury's rule misses flat
/// valleys and returns a far later one, which discards hap-mers; in other cases the two rules agree.
fn valley(rows: &Histogram) -> u32 {
    first_valley(&rows.iter().collect::<Vec<_>>()).unwrap_or(0)
}

/// Histograms of the k-mers that only one parent has.
#[derive(Default)]
struct Own([Histogram; 2]);

impl Visitor for Own {
    fn kmer(&mut self, counts: &[u32]) {
        match PARENTS.map(|parent| counts[parent]) {
            [count, 0] if count > 0 => self.0[0].add(count),
            [0, count] if count > 0 => self.0[1].add(count),
            _ => {}
        }
    }
}

/// The child's k-mers, classified by their parents.
struct Inherited {
    own: [u32; 2],
    solid: u32,
    spectra: [Histogram; 4],
    parentage: Parentage,
}

impl Inherited {
    fn new(own: [u32; 2], solid: u32) -> Inherited {
        Inherited { own, solid, spectra: Default::default(), parentage: Parentage::default() }
    }

    fn merge(&mut self, other: &Inherited) {
        self.spectra.iter_mut().zip(&other.spectra).for_each(|(sum, more)| sum.merge(more));
        self.parentage.merge(&other.parentage);
    }
}

impl Visitor for Inherited {
    fn kmer(&mut self, counts: &[u32]) {
        let [first, second] = PARENTS.map(|parent| counts[parent]);
        let class = match (first > 0, second > 0) {
            (true, true) => 3,
            (true, false) if first > self.own[0] => 1,
            (false, true) if second > self.own[1] => 2,
            _ => 0,
        };
        if counts[CHILD] > 0 {
            self.spectra[class].add(counts[CHILD]);
        }
        self.parentage.add(counts[CHILD], [first, second], self.solid);
    }
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

//! k-mers that one parent alone passed on: hap-mers (Rhie et al. 2020, "Haplotype phasing and trio evaluation").

use merganser_io::OutputSet;
use merganser_kmers::Histogram;
use merganser_kmers::algebra::{Cut, Expression, Mode, Operation, Visitor, calculate, visit};
use merganser_kmers::tables::AnyTable;
use merganser_spectrum::first_valley;

use crate::Error;
use crate::parentage::Parentage;
use crate::run::{RunContext, own_table};

/// What was found of both parents' k-mers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trio {
    /// The parents' names.
    pub names: [String; 2],
    /// A parent's own k-mers have a larger count than this in its reads,
    pub own: [u32; 2],
    /// and hap-mers one larger than this in the child's.
    pub inherited: [u32; 2],
    /// The same of what both parents have.
    pub shared: u32,
    /// How many k-mers have each count in the child: those of neither parent, of the first alone, of the second alone, of
    /// both.
    pub spectra: [Histogram; 4],
    /// Different hap-mers of each parent,
    pub hapmers: [u64; 2],
    /// those that each assembly has,
    pub found: Vec<[u64; 2]>,
    /// and those that either of two has.
    pub found_in_both: [u64; 2],
    /// Why switches and markers on the wrong sequence cannot be told, naming the parent; empty if they can.
    pub doubts: Vec<String>,
}

/// The tables in which hap-mers are looked for.
const CHILD: usize = 0;
const PARENTS: [usize; 2] = [1, 2];

/// Finds hap-mers, writes them as a table whose counts say whose they are (1 or 2), and tells what there is of them. The
/// assemblies' tables are those behind the child's, whose k-mers with a larger count than `solid` are the genome's.
pub(crate) fn find(
    run: &RunContext<'_>,
    names: [String; 2],
    parents: [AnyTable; 2],
    tables: &[AnyTable],
    solid: u32,
) -> Result<(AnyTable, Trio), Error> {
    let k = tables[CHILD].description().k;
    let [one, other] = parents;
    let family = [tables[CHILD].reopen(run.cancel)?, one, other];
    let own = own_thresholds(run, &family)?;
    let (resources, progress, cancel) = (run.beside, run.progress, run.cancel);
    let make = || Inherited::new(own, solid);
    let mut inherited = make();
    for part in visit(&family, None, resources, make, progress, cancel)? {
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
    calculate(&calculation, &family, resources, &OutputSet::alone(), progress, cancel)?;
    drop(family);
    let mut all = vec![run.open(&path)?];
    for table in &tables[1..] {
        all.push(table.reopen(run.cancel)?);
    }
    let mut found = Found::new(tables.len() - 1);
    for part in visit(&all, None, resources, || Found::new(tables.len() - 1), progress, cancel)? {
        found.add(&part);
    }
    let table = all.swap_remove(0);
    debug_assert_eq!(table.description().k, k);
    let Found { hapmers, found, found_in_both } = found;
    let doubts = parentage.doubts(&names, hapmers, &spectra);
    Ok((
        table,
        Trio { names, own, inherited, shared, spectra, hapmers, found, found_in_both, doubts },
    ))
}

/// Those of a parent, each with the parent's number.
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

/// Where the valleys of k-mers that one parent alone has are.
fn own_thresholds(run: &RunContext<'_>, family: &[AnyTable]) -> Result<[u32; 2], Error> {
    let mut own = Own::default();
    for part in visit(family, None, run.beside, Own::default, run.progress, run.cancel)? {
        own.0.iter_mut().zip(&part.0).for_each(|(sum, more)| sum.merge(more));
    }
    Ok(own.0.each_ref().map(valley))
}

/// Returns the end of the valley between errors and genome, 0 without a valley. Merqury's rule misses a flat valley and takes
/// a far later one, which leaves out hap-mers; elsewhere both agree.
fn valley(rows: &Histogram) -> u32 {
    first_valley(&rows.iter().collect::<Vec<_>>()).unwrap_or(0)
}

/// k-mers of one parent alone, by their count there.
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

/// The child's k-mers by their parents.
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

/// Hap-mers that assemblies have.
struct Found {
    hapmers: [u64; 2],
    found: Vec<[u64; 2]>,
    found_in_both: [u64; 2],
}

impl Found {
    fn new(assemblies: usize) -> Found {
        Found { hapmers: [0; 2], found: vec![[0; 2]; assemblies], found_in_both: [0; 2] }
    }

    fn add(&mut self, other: &Found) {
        for parent in 0..2 {
            self.hapmers[parent] += other.hapmers[parent];
            self.found_in_both[parent] += other.found_in_both[parent];
            let found = self.found.iter_mut().zip(&other.found);
            found.for_each(|(sum, more)| sum[parent] += more[parent]);
        }
    }
}

impl Visitor for Found {
    fn kmer(&mut self, counts: &[u32]) {
        let [parent @ 1..=2, assemblies @ ..] = counts else { return };
        let parent = *parent as usize - 1;
        self.hapmers[parent] += 1;
        for (found, &count) in self.found.iter_mut().zip(assemblies) {
            found[parent] += u64::from(count > 0);
        }
        self.found_in_both[parent] += u64::from(assemblies.iter().any(|&count| count > 0));
    }
}

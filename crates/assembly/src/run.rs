//! The stages of an evaluation.

use std::time::Instant;

use merganser_kmers::reads::Mark;
use merganser_kmers::tables::AnyTable;
use merganser_run::{Context, Stages, give_back_freed_memory};
use merganser_spectrum::{error_rate, first_valley, quality, solid_threshold};

use crate::doubts;
use crate::hapmers::{self, Trio};
use crate::stages::{Room, RunContext};
use crate::{Assembly, Config, Error, Only, Parent, Spectra, Subject};

/// The results of one assembly, or of all together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssemblyQuality {
    /// The k-mers that are in no read.
    pub only: Only,
    /// The number of k-mers, each counted as often as it occurs.
    pub kmers: u64,
    /// The rate of wrong bases, 0 to 1.
    pub error_rate: f64,
    /// The error rate as a Phred quality; infinite for a rate of 0.
    pub quality: f64,
    /// The number of distinct k-mers of the genome, according to the reads, that the assembly has.
    pub found: u64,
    /// The number of distinct k-mers of the genome, according to the reads.
    pub solid: u64,
}

impl AssemblyQuality {
    /// Returns the percentage of the genome's k-mers that the assembly has; `None` if the genome has no
    /// k-mers.
    pub fn completeness(&self) -> Option<f64> {
        (self.solid > 0).then(|| 100.0 * self.found as f64 / self.solid as f64)
    }
}

/// The results of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The length of k-mers.
    pub k: usize,
    /// The threshold: k-mers with a larger count in the reads belong to the genome.
    pub solid: u32,
    /// The results of each assembly, in their order.
    pub assemblies: Vec<AssemblyQuality>,
    /// The results of two or more assemblies together; `None` for a single one.
    pub both: Option<AssemblyQuality>,
    /// The spectra: k-mers by their counts.
    pub spectra: Spectra,
    /// The results about the parents, if they are known.
    pub trio: Option<Trio>,
    /// Warnings about the results, one sentence each.
    pub doubts: Vec<String>,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The largest resident size so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

/// A receiver of k-mers that are found along assemblies: those in no read, and hap-mers.
pub trait Tracks: Send {
    /// Takes a mark of an assembly, numbered from 0. Its sequences come in the order of the input; `k` is the length of
    /// k-mers.
    ///
    /// # Errors
    /// If an output cannot be written.
    fn mark(&mut self, assembly: usize, k: usize, mark: Mark<'_>) -> Result<(), Error>;

    /// Takes a mark of hap-mers; the count of a run is the number of the parent, 1 or 2.
    ///
    /// # Errors
    /// If an output cannot be written.
    fn hapmer(&mut self, assembly: usize, mark: Mark<'_>) -> Result<(), Error>;
}

/// Evaluates one or more assemblies of one genome by the k-mers of the reads and, if given, of both parents.
/// Intermediate tables are in the temporary folder of `context`.
///
/// The progress stages are those of counting and of computations with tables.
///
/// # Errors
/// If a setting or a table is unsuitable, an input is missing or invalid, an assembly has no k-mers, memory or
/// disk space is too small, or the run was cancelled.
pub fn run(config: &Config, subject: Subject, context: &Context) -> Result<Outcome, Error> {
    run_with(config, subject, &mut NoTracks, context)
}

/// Ignores all marks.
struct NoTracks;

impl Tracks for NoTracks {
    fn mark(&mut self, _assembly: usize, _k: usize, _mark: Mark<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn hapmer(&mut self, _assembly: usize, _mark: Mark<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Evaluates like [`run()`], and passes the positions of k-mers that are in no read and of hap-mers to `tracks`.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_with(
    config: &Config,
    subject: Subject,
    tracks: &mut dyn Tracks,
    context: &Context,
) -> Result<Outcome, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    config.validate(&subject)?;
    let room = Room::new(context)?;
    let (k, compressed) = (subject.k(), config.hpc || subject.is_homopolymer_compressed());
    let Subject { reads, parents, assemblies } = subject;
    let config = &Config { hybrid: config.hybrid || reads.is_hybrid(), ..config.clone() };
    let run = room.run(compressed, progress, cancel);
    let mut stages = Stages::default();

    let begun = Instant::now();
    let mut doubts = Vec::new();
    let k = match k.or(config.k) {
        Some(k) => k,
        None => run.fitting_k(&assemblies)?,
    };
    let reads_name = reads.to_string();
    let (table, letters) = run.table(k, reads, "reads")?;
    let mut tables = vec![table];
    doubts.extend(letters.and_then(doubts::of_long_reads));
    let parents = parents.map(|parents| {
        let mut names = ["mother", "father"].into_iter();
        parents.map(|Parent { name, reads }| {
            let file = names.next().unwrap_or_default();
            run.table(k, reads, file).map(|(table, _)| (name, table))
        })
    });
    stages.since("count reads", begun);
    give_back_freed_memory();

    let begun = Instant::now();
    // Open tables hold their indexes in memory.
    let open = parents.iter().flatten().flatten().map(|(_, table)| table);
    let held = open.map(|table| table.resident(context.threads)).sum();
    let letters = run.count_assemblies(&assemblies, held, &mut tables)?;
    stages.since("count assemblies", begun);
    give_back_freed_memory();

    let begun = Instant::now();
    let spectra = run.spectra(&tables, None)?;
    doubts::refuse_no_reads(&spectra, &reads_name, k)?;
    let of_assemblies = assemblies.iter().zip(&spectra.assemblies).zip(letters);
    doubts.extend(of_assemblies.filter_map(|((assembly, of), letters)| {
        doubts::of_reads_as_assembly(assembly, of, letters, k)
    }));
    stages.since("compare", begun);
    give_back_freed_memory();

    let begun = Instant::now();
    for (number, assembly) in assemblies.iter().enumerate() {
        let only = run.only(&tables, number, None)?;
        let only = run.open(&only)?;
        give_back_freed_memory();
        run.walk(only, &assembly.input, &mut |k, mark| tracks.mark(number, k, mark))?;
    }
    stages.since("walk", begun);

    let begun = Instant::now();
    let trio = match parents {
        None => None,
        Some([one, other]) => {
            let ((one, mother), (other, father)) = (one?, other?);
            let family = [tables[0].reopen(run.beside)?, mother, father];
            let numbers = hapmers::family(&run, &family, None)?;
            let solid = solid_in_child(config, &spectra);
            let names = [one, other];
            let found = hapmers::find(&run, names, &numbers, &family, &tables[1..], solid)?;
            drop(family);
            let trio = haplotypes(&run, found, &assemblies, tracks)?;
            doubts.extend_from_slice(&trio.doubts);
            stages.since("haplotypes", begun);
            Some(trio)
        }
    };
    Ok(Outcome { trio, ..Outcome::of(config, k, spectra, doubts, stages) })
}

/// Passes the hap-mers on the sequences of all assemblies to `tracks`, and adds the lengths of contigs.
pub(crate) fn haplotypes(
    run: &RunContext<'_>,
    (hapmers, mut trio): (AnyTable, Trio),
    assemblies: &[Assembly],
    tracks: &mut dyn Tracks,
) -> Result<Trio, Error> {
    for (number, assembly) in assemblies.iter().enumerate() {
        let hapmers = hapmers.reopen(run.beside)?;
        run.walk(hapmers, &assembly.input, &mut |_, mark| tracks.hapmer(number, mark))?;
        trio.contigs.push(run.contigs(&assembly.input)?);
    }
    Ok(trio)
}

/// Returns the count in the reads above which a k-mer belongs to the child's genome. k-mers that occur once are errors,
/// whatever the valley.
pub(crate) fn solid_in_child(config: &Config, spectra: &Spectra) -> u32 {
    config.solid.or_else(|| first_valley(&spectra.rows())).unwrap_or(0).max(1)
}

impl Outcome {
    /// Returns the name of all assemblies together, if there are several: `both` or `all`.
    pub fn together(&self) -> Option<&'static str> {
        together(self.assemblies.len())
    }

    /// Returns the results that follow from the spectra, without those about the parents.
    pub(crate) fn of(
        config: &Config,
        k: usize,
        spectra: Spectra,
        mut doubts: Vec<String>,
        stages: Stages,
    ) -> Outcome {
        let rows = spectra.rows();
        let solid = config.solid.or_else(|| solid_threshold(&rows)).unwrap_or(0);
        doubts.extend(doubts::of_spectra(config, k, &rows, &spectra));
        let judged = |of: &crate::spectra::OfAssembly| {
            let (found, solid) = of.found(solid);
            let error_rate = error_rate(of.only.instances, of.kmers, k).unwrap_or(f64::NAN);
            let quality = quality(error_rate);
            AssemblyQuality { only: of.only, kmers: of.kmers, error_rate, quality, found, solid }
        };
        Outcome {
            k,
            solid,
            assemblies: spectra.assemblies.iter().map(judged).collect(),
            both: together(spectra.assemblies.len()).map(|_| judged(&spectra.both)),
            spectra,
            trio: None,
            doubts,
            stages,
            peak_memory: merganser_run::peak_rss(),
        }
    }
}

/// Returns the name of all of these assemblies together, if there are several: Merqury's for two, `all` for more.
pub(crate) fn together(assemblies: usize) -> Option<&'static str> {
    match assemblies {
        0 | 1 => None,
        2 => Some("both"),
        _ => Some("all"),
    }
}

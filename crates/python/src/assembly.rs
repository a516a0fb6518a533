//! `merganser.qv`: the quality of assemblies by the k-mers of reads.

use std::path::{Path, PathBuf};

use arrow_array::UInt32Array;
use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use merganser_assembly::output::{Files, Names, Phasing};
use merganser_assembly::{
    Assembly, AssemblyQuality, BlockRule, Config, Error, Outcome, Parent, Reads, Subject, run_with,
};
use merganser_io::{Input, OutputSet, TemporaryFolder};
use merganser_kmers::tables::AnyTable;
use merganser_run::Context;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call;
use crate::columns::Columns;
use crate::errors::{Arguments, OrRaise, wrong};
use crate::keywords::Keywords;
use crate::outputs::check;
use crate::rows::Rows;
use crate::sequences::{Inputs, inputs, paths};
use crate::table::Table;

/// Evaluates one or more assemblies of one genome by the k-mers of reads, as Merqury does.
///
/// Args:
///     reads: The reads of the genome: a `Table` or the file of one, with all k-mers, including those that occur once; or
///         files of reads or sequences, as for `count`.
///     assemblies: The FASTA file of the assembly, or several of them.
///     output: The beginning of the names of Merqury's files, which are written as by `merganser kmers qv`; None for no
///         files.
///     maternal: The mother's reads, as `reads`; with `paternal`.
///     paternal: The father's reads, as `reads`; with `maternal`.
///     k: The length of a k-mer, if `reads` is not a table; None for one that fits the size of the largest assembly.
///     solid: k-mers that occur more often in the reads belong to the genome; None for the valley of the histogram.
///     hybrid: Accept a table without low counts: the union of the tables of two sequencing technologies.
///     hpc: Compress homopolymers of reads and assemblies.
///     block_markers: Consecutive markers of the other haplotype that end a phase block.
///     block_bases: Markers of the other haplotype that span more than this many bases also end a phase block.
///     device: As for `count`.
///     threads: As for `count`.
///     memory: As for `count`.
///     tmp_dir: As for `count`.
///     progress: As for `count`.
///
/// Returns:
///     `Rows` with one row per assembly, and a row "both" for two of them, "all" for more: `assembly` (its name), `k` (uint32), `only_kmers` (those
///     in no read, each as often as it occurs) and `kmers` (uint64), `qv` and `error_rate` (float64, null if the assembly
///     has no errors or no k-mers), `solid_found` and `solid` (uint64, distinct k-mers of the genome that the assembly
///     has, and all of them) and `completeness` (float64, per cent). With parents also `phase_blocks` (uint64),
///     `switch_rate` and `hamming_rate` (float64), null for "both" and "all".
///
/// Raises:
///     ArgumentError: If an argument is out of range, or does not fit the table.
///     InputError: If a file is invalid, or has no k-mers.
///     OutputError: If an output cannot be written.
///
/// >>> import merganser, random, tempfile, os
/// >>> genome = bytes(random.Random(1).choices(b"ACGT", k=2000))
/// >>> table = merganser.count([genome[at : at + 100] for at in range(0, 1901, 5)], k=21, min_count=1)
/// >>> path = os.path.join(tempfile.mkdtemp(), "assembly.fa")
/// >>> _ = open(path, "wb").write(b">c\n" + genome[:1000] + b"ACGTACGT" + genome[1000:] + b"\n")
/// >>> rows = merganser.qv(table, path, solid=1)
/// >>> rows["assembly"], rows["only_kmers"].tolist(), rows["qv"].round(1).tolist()
/// (['assembly'], [28], [31.7])
#[pyfunction]
#[pyo3(
    signature = (reads, assemblies, **options),
    text_signature = "(reads, assemblies, *, output=None, maternal=None, paternal=None, k=None, solid=None, hybrid=False, \
        hpc=False, block_markers=100, block_bases=20000, device=None, threads=None, memory=None, tmp_dir=None, \
        progress=None)"
)]
pub(crate) fn qv(
    py: Python<'_>,
    reads: &Bound<'_, PyAny>,
    assemblies: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Rows> {
    let keywords = Keywords::new(py, "qv", options)?;
    let (context, progress) = (keywords.context()?, keywords.object("progress")?);
    let config = config(&keywords)?;
    let output = keywords.path("output")?;
    let assemblies = paths("assemblies", assemblies)?;
    if assemblies.is_empty() {
        return Err(wrong(py, "assemblies", "give at least one file"));
    }
    let (mother, father) = (keywords.object("maternal")?, keywords.object("paternal")?);
    keywords.finish()?;
    let source = |argument: &str, reads: &Bound<'_, PyAny>| {
        Source::of(argument, reads, config.hpc, &context)
    };
    let reads = source("reads", reads)?;
    let parents = match (mother, father) {
        (Some(mother), Some(father)) => {
            Some([source("maternal", &mother)?, source("paternal", &father)?])
        }
        (None, None) => None,
        (Some(_), None) => return Err(wrong(py, "maternal", "requires paternal")),
        (None, Some(_)) => return Err(wrong(py, "paternal", "requires maternal")),
    };
    let mut arguments = Arguments::default().with("reads", reads.files());
    if let Some([mother, father]) = &parents {
        arguments = arguments.with("maternal", mother.files()).with("paternal", father.files());
    }
    let arguments = arguments.with("assemblies", &assemblies).with("output", &output);
    let mut files: Vec<PathBuf> = assemblies.clone();
    files.extend([&reads].into_iter().chain(parents.iter().flatten()).flat_map(Source::files));
    let assemblies: Vec<Assembly> = assemblies.into_iter().map(Assembly::of).collect();
    let names: Vec<String> = assemblies.iter().map(|assembly| assembly.name.clone()).collect();
    let (reads_name, reads, _reads_kept) = reads.into_parts();
    let mut kept = Vec::new();
    let parents = parents.map(|parents| {
        parents.map(|source| {
            let (name, reads, inputs) = source.into_parts();
            kept.push(inputs);
            Parent { name, reads }
        })
    });
    let parent_names =
        parents.as_ref().map(|parents| parents.each_ref().map(|parent| parent.name.clone()));
    let subject = Subject { reads, parents, assemblies };
    config.validate(&subject).map_err(|error| arguments.name(error)).or_raise(py)?;
    let folder = TemporaryFolder::create(&context.temp_dir).or_raise(py)?;
    // Without an output, the files never appear.
    let prefix = output.clone().map_or_else(|| folder.file("qv"), Ok).or_raise(py)?;
    let file_names = Names::new(&prefix, &reads_name, names.clone());
    let file_names = file_names.parents(parent_names, config.blocks);
    let written = file_names.all();
    check(py, &files, written.iter().map(|path| ("output", path.as_path())))?;
    let run = |context: &Context| {
        let set = OutputSet::new();
        let mut files = Files::create(file_names, &set)?;
        let judged = run_with(&config, subject, &mut files, context)?;
        let phasings = files.finish(&judged)?;
        if output.is_some() {
            set.commit()?;
        }
        judged.doubts.iter().for_each(|doubt| context.warnings.push(doubt));
        Ok::<_, Error>((judged, phasings))
    };
    let (judged, phasings) = call::run(py, &context, progress.as_ref(), |context| {
        run(context).map_err(|error| arguments.name(error))
    })?;
    rows(&names, &judged, &phasings)
}

fn config(keywords: &Keywords<'_>) -> PyResult<Config> {
    let of = BlockRule::default();
    let blocks = BlockRule {
        markers: keywords.within("block_markers", 1..=i64::MAX)?.unwrap_or(of.markers),
        bases: keywords.int_or("block_bases", of.bases)?,
    };
    Ok(Config {
        k: keywords.int("k")?,
        solid: keywords.int("solid")?,
        hybrid: keywords.flag("hybrid")?,
        hpc: keywords.flag("hpc")?,
        blocks,
    })
}

/// The reads of the genome or of a parent.
enum Source {
    Table { name: String, table: Box<AnyTable> },
    Reads { name: String, inputs: Inputs },
}

impl Source {
    /// Returns the reads of an argument: a table, unless a file has sequences or is a list of such files.
    fn of(
        argument: &str,
        given: &Bound<'_, PyAny>,
        hpc: bool,
        context: &Context,
    ) -> PyResult<Source> {
        let py = given.py();
        if let Ok(table) = given.cast::<Table>() {
            let table = Box::new(table.get().again(py)?);
            let name = Reads::name(table.path());
            return Ok(Source::Table { name, table });
        }
        if given.len().is_ok_and(|len| len == 0) {
            return Err(wrong(py, argument, "give at least one file or sequence"));
        }
        let given = inputs(argument, given, &context.temp_dir)?;
        let first = given.inputs.first().and_then(Input::path).map(Path::to_owned);
        let names = || Arguments::default().with(argument, &first);
        let name = match given.are_files() {
            true => first.as_deref().map_or_else(|| "reads".to_owned(), Reads::name),
            false => argument.to_owned(),
        };
        if let ([_], Some(path)) = (&given.inputs[..], &first)
            && let Some(table) = py
                .detach(|| Reads::table(path, hpc, context))
                .map_err(|error| names().name(error))
                .or_raise(py)?
        {
            return Ok(Source::Table { name, table });
        }
        Ok(Source::Reads { name, inputs: given })
    }

    /// Returns the files that are read.
    fn files(&self) -> Vec<PathBuf> {
        match self {
            Source::Table { table, .. } => table.files(),
            Source::Reads { inputs, .. } => inputs.inputs.iter().flat_map(Input::files).collect(),
        }
    }

    /// Returns the name and the reads, and what must exist as long as these.
    fn into_parts(self) -> (String, Reads, Option<Inputs>) {
        match self {
            Source::Table { name, table } => (name, Reads::Table(table), None),
            Source::Reads { name, inputs } => {
                (name, Reads::Inputs(inputs.inputs.clone()), Some(inputs))
            }
        }
    }
}

/// Returns the results as rows.
fn rows(names: &[String], judged: &Outcome, phasings: &[Phasing]) -> PyResult<Rows> {
    let both = judged.together().zip(judged.both.as_ref());
    let all = names.iter().map(String::as_str).zip(&judged.assemblies).chain(both);
    let all: Vec<(&str, &AssemblyQuality)> = all.collect();
    let mut assemblies = StringBuilder::new();
    all.iter().for_each(|(name, _)| assemblies.append_value(name));
    let numbers = |number: fn(&AssemblyQuality) -> u64| {
        let mut numbers = UInt64Builder::new();
        all.iter().for_each(|(_, quality)| numbers.append_value(number(quality)));
        numbers.finish()
    };
    let fractions = |fraction: fn(&AssemblyQuality) -> Option<f64>| {
        let mut fractions = Float64Builder::new();
        let values = all.iter().map(|(_, quality)| fraction(quality).filter(|of| of.is_finite()));
        values.for_each(|value| fractions.append_option(value));
        fractions.finish()
    };
    let k = all.iter().map(|_| judged.k as u32);
    let columns = Columns::new()
        .with("assembly", assemblies.finish())
        .with("k", UInt32Array::from_iter_values(k))
        .with("only_kmers", numbers(|of| of.only.instances))
        .with("kmers", numbers(|of| of.kmers))
        .optional("qv", fractions(|of| Some(of.quality)))
        .optional("error_rate", fractions(|of| Some(of.error_rate)))
        .with("solid_found", numbers(|of| of.found))
        .with("solid", numbers(|of| of.solid))
        .optional("completeness", fractions(AssemblyQuality::completeness));
    match phasings.is_empty() {
        true => columns.rows(),
        false => with_phasings(columns, phasings, all.len()).rows(),
    }
}

/// Adds the columns of phase blocks to those of `rows` rows.
fn with_phasings(columns: Columns, phasings: &[Phasing], rows: usize) -> Columns {
    let (mut blocks, mut switches, mut hamming) =
        (UInt64Builder::new(), Float64Builder::new(), Float64Builder::new());
    for row in 0..rows {
        let phasing = phasings.get(row);
        blocks.append_option(phasing.map(|phasing| phasing.blocks.len() as u64));
        switches.append_option(phasing.and_then(Phasing::switch_rate));
        hamming.append_option(phasing.and_then(Phasing::hamming_rate));
    }
    columns
        .optional("phase_blocks", blocks.finish())
        .optional("switch_rate", switches.finish())
        .optional("hamming_rate", hamming.finish())
}

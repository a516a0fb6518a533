//! Building of an index: the order of the stages, and the choice of the backend.

use std::path::Path;
use std::time::Instant;

use merganser_alignments::warn_of_names;
use merganser_gpu::DeviceInfo;
use merganser_io::{AtomicFile, Input, OutputSet, text_bytes};
use merganser_run::{Context, Stages, Unit, Work, peak_rss};

use crate::cpu::sort;
use crate::index::Growing;
use crate::reference::{Reference, load};
use crate::{Error, Index, Topology, cuda};

/// The results of building an index.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildOutcome {
    /// The number of contigs of the reference.
    pub records: u64,
    /// The number of skipped alignments of the inputs: always 0, because a reference is FASTA.
    pub skipped_alignments: u64,
    /// Times of the stages. `load`: reading the reference. `index`: sorting its positions, and writing the
    /// index if there is an output.
    pub stages: Stages,
    /// The GPU that sorted the positions, if one did.
    pub devices: Vec<DeviceInfo>,
    /// The peak memory of the process so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

/// Builds the index of a reference in FASTA, and writes it to the file `output`.
///
/// The returned index is mapped from the file, whose bytes depend only on the reference. Letters may be in either
/// case; ambiguous IUPAC letters are kept as N. If there are several GPUs, the first one sorts. The progress has two
/// stages: `load`, in bytes of input, and `index`, in bases.
///
/// ```
/// use merganser_map::{Index, build, build_with};
/// use merganser_run::Context;
///
/// let folder = tempfile::tempdir()?;
/// let fasta = folder.path().join("reference.fa");
/// std::fs::write(&fasta, ">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")?;
///
/// let output = folder.path().join("reference.mgi");
/// let (index, outcome) = build(fasta, &output, &Context::new())?;
/// assert_eq!((index.bases(), outcome.records), (37, 1));
/// assert_eq!(Index::open(&output)?.bases(), 37);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a requested GPU cannot be used or has too little memory; if the input cannot be read, holds reads, or has
/// no sequence; if a contig is empty, has no name or the same name as another one, has more than 2^31 - 1
/// bases, or has a letter that is not of DNA; if all contigs together have more than 2^32 - 2^17 bases; if
/// there is too little memory, the file cannot be written or read back, or the run is cancelled.
pub fn build(
    reference: impl Into<Input>,
    output: impl AsRef<Path>,
    context: &Context,
) -> Result<(Index, BuildOutcome), Error> {
    let outputs = OutputSet::new();
    let built = build_with(
        &reference.into(),
        &Topology::Stated,
        Some(outputs.file(output.as_ref())?),
        context,
    )?;
    outputs.commit()?;
    Ok(built)
}

/// Builds the index of a reference in memory, like [`build`].
///
/// # Errors
/// Fails as [`build`] does.
pub fn build_in_memory(
    reference: impl Into<Input>,
    context: &Context,
) -> Result<(Index, BuildOutcome), Error> {
    build_with(&reference.into(), &Topology::Stated, None, context)
}

/// Builds an index like [`build`], in memory or, if `output` is given, in that file, which appears together with the
/// other files of its set. `topology` says which contigs are circular.
///
/// # Errors
/// Fails as [`build`] does, and if `topology` names a contig that is not there.
pub fn build_with(
    input: &Input,
    topology: &Topology,
    output: Option<AtomicFile>,
    context: &Context,
) -> Result<(Index, BuildOutcome), Error> {
    context.validate()?;
    output.as_ref().map_or(Ok(()), AtomicFile::refuse_direct)?;
    let size = text_bytes([input]);
    let gpus = context.choose_gpus(Work::Index, size, merganser_gpu::usable)?;
    let begun = Instant::now();
    let reference = context.cancel.over_error(load(input, topology, context))?;
    if output.is_some() {
        warn_of_names(&reference.contigs, &context.warnings);
    }
    let loaded = begun.elapsed();
    let gpu = gpus.first().copied();
    let in_memory = output.is_none();
    let (mut index, mut outcome) = build_of(reference, context, gpu, output)?;
    if in_memory {
        index.set_source(input.path().unwrap_or(Path::new("-")), topology);
    }
    outcome.stages.add("load", loaded);
    outcome.stages.add("index", begun.elapsed() - loaded);
    outcome.records = index.contigs().len() as u64;
    outcome.peak_memory = peak_rss();
    index.warn_of_none(&context.warnings);
    Ok((index, outcome))
}

/// Builds the index of a loaded reference, on the GPU with this ordinal or on all threads.
pub(crate) fn build_of(
    reference: Reference,
    context: &Context,
    gpu: Option<u32>,
    output: Option<AtomicFile>,
) -> Result<(Index, BuildOutcome), Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let mut outcome = BuildOutcome::default();
    let (text, threads) = (reference.text(), context.threads);
    progress.stage("index", Unit::Bases, Some(text.bases()));
    let unsorted = sort::unsorted(text, threads)?;
    let groups = match gpu {
        None => sort::groups(&unsorted, context, output.is_none())?,
        // The device makes its own groups.
        Some(_) => Vec::new(),
    };
    let mut growing = Growing::new(&unsorted, &reference, output)?;
    if let Some(ordinal) = gpu {
        let memory = context.gpu_memory;
        let growing = &mut growing;
        let device = cuda::sort_positions(&unsorted, ordinal, memory, growing, progress, cancel)?;
        outcome.devices.push(device);
    } else {
        let unsorted = &unsorted;
        sort::Sorting { unsorted, threads, progress, cancel }.sort(&groups, &mut growing)?;
    }
    progress.finish();
    Ok((growing.finish(reference)?, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_build_is_no_fault_of_the_reference() {
        let folder = tempfile::tempdir().unwrap();
        // Reading compressed data fails when it is cancelled.
        let genome = "../../tests/data/genomes/Escherichia_phage_lambda.fna.gz";
        let context = Context::new();
        context.cancel.cancel();
        let done = build(genome, folder.path().join("reference.mgi"), &context);
        assert!(matches!(done, Err(Error::Cancelled)), "{:?}", done.err());
        assert!(!folder.path().join("reference.mgi").exists());
    }
}

//! Building an index: the order of the stages, and who sorts.

use std::time::Instant;

use merganser_alignments::warn_of_names;
use merganser_gpu::DeviceInfo;
use merganser_io::{AtomicFile, Input, text_bytes};
use merganser_run::{Cancel, Progress, Resources, Stages, Unit, Work, peak_rss};

use crate::cpu::sort;
use crate::index::{Growing, Unsorted, k_of, pieces};
use crate::reference::{Reference, load};
use crate::{Error, Index, cuda};

/// What building an index found and did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildOutcome {
    /// Contigs of the reference.
    pub records: u64,
    /// Secondary and supplementary alignments of the inputs: none, as a reference is FASTA.
    pub skipped_alignments: u64,
    /// `load`: reading the reference. `index`: sorting its positions, and writing the index if that is
    /// asked for.
    pub stages: Stages,
    /// The GPU that sorted, if one did.
    pub devices: Vec<DeviceInfo>,
    /// The most memory that the process had so far, in bytes, if the system tells.
    pub peak_memory: Option<u64>,
}

/// Builds the index of a reference in FASTA, in memory or, given one, as a file, which appears as its
/// set does and is mapped already; its bytes depend on the reference alone. Letters may be in either
/// case; IUPAC letters that are no bases are kept as N. Of several GPUs the first one sorts. Calls
/// `progress` with two stages: `load`, in bytes of input, and `index`, in positions.
///
/// ```
/// use merganser_io::Input;
/// use merganser_map::build;
/// use merganser_run::{Cancel, Resources, Silent};
///
/// let folder = tempfile::tempdir()?;
/// let fasta = folder.path().join("reference.fa");
/// std::fs::write(&fasta, ">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")?;
///
/// let input = Input::File(fasta);
/// let (index, outcome) = build(&Resources::new(), &input, None, &Silent, &Cancel::default())?;
/// assert_eq!((index.bases(), outcome.records), (37, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a GPU is asked for and cannot be used, or has too little memory; if the input cannot be read,
/// holds reads, or has no sequence; if a contig is empty, has no name or that of another one, more
/// than 2^31 - 1 bases, or a letter that is none of DNA; if all contigs together have more than
/// 2^32 - 2^17 bases; if there is too little memory, the file cannot be written or read again, or the run was
/// cancelled.
pub fn build(
    resources: &Resources,
    input: &Input,
    output: Option<AtomicFile>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<(Index, BuildOutcome), Error> {
    resources.validate()?;
    output.as_ref().map_or(Ok(()), AtomicFile::refuse_direct)?;
    let size = text_bytes([input]);
    let gpus = resources.choose_gpus(Work::Index, size, merganser_gpu::usable, progress)?;
    let begun = Instant::now();
    let reference = load(input, resources, progress, cancel)?;
    if output.is_some() {
        warn_of_names(&reference.contigs, &resources.warnings);
    }
    let loaded = begun.elapsed();
    let gpu = gpus.first().copied();
    let (index, mut outcome) = build_of(reference, resources, gpu, output, progress, cancel)?;
    outcome.stages.add("load", loaded);
    outcome.stages.add("index", begun.elapsed() - loaded);
    outcome.records = index.contigs().len() as u64;
    outcome.peak_memory = peak_rss();
    index.warn_of_none(&resources.warnings);
    Ok((index, outcome))
}

/// Builds the index of a reference that is there, by the GPU of this number or by all threads.
pub(crate) fn build_of(
    reference: Reference,
    resources: &Resources,
    gpu: Option<u32>,
    output: Option<AtomicFile>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<(Index, BuildOutcome), Error> {
    let mut outcome = BuildOutcome::default();
    let (text, threads) = (reference.text(), resources.threads);
    let bases: u64 = text.contigs.iter().map(|contig| u64::from(contig.len)).sum();
    progress.stage("index", Unit::Bases, Some(bases));
    let pieces = pieces(text);
    let totals = sort::totals(text, &pieces, threads)?;
    let unsorted = Unsorted { text, k: k_of(bases), pieces, totals };
    let groups = match gpu {
        None => sort::groups(&unsorted, resources, output.is_none())?,
        // The device has groups of its own.
        Some(_) => Vec::new(),
    };
    let mut growing = Growing::new(&unsorted, &reference, output)?;
    if let Some(ordinal) = gpu {
        let memory = resources.gpu_memory;
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

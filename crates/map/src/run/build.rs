//! Building an index: the order of the stages, and who sorts.

use merganser_io::{AtomicFile, Input, text_bytes};
use merganser_run::{Cancel, Progress, Resources, Unit, Work};

use crate::cpu::sort;
use crate::index::{Growing, Unsorted, k_of, pieces};
use crate::reference::{Reference, load};
use crate::{Error, Index, cuda};

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
/// let index = build(&Resources::new(), &input, None, &Silent, &Cancel::default())?;
/// assert_eq!((index.bases(), index.contigs().len()), (37, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a GPU is asked for and cannot be used, or has too little memory; if the input cannot be read,
/// holds reads, or has no sequence; if a contig is empty, has no name or that of another one, more
/// than 2^31 - 1 bases, or a letter that is none of DNA; if all contigs together have more than
/// 2^32 - 2^17 bases; if there is too little memory, the file cannot be written, or the run was
/// cancelled.
pub fn build(
    resources: &Resources,
    input: &Input,
    output: Option<AtomicFile>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Index, Error> {
    resources.validate()?;
    let size = text_bytes([input]);
    let gpus = resources.choose_gpus(Work::Index, size, merganser_gpu::usable, progress)?;
    let reference = load(input, progress, cancel)?;
    build_of(reference, resources, gpus.first().copied(), output, progress, cancel)
}

/// Builds the index of a reference that is there, by the GPU of this number or by all threads.
pub(crate) fn build_of(
    reference: Reference,
    resources: &Resources,
    gpu: Option<u32>,
    output: Option<AtomicFile>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Index, Error> {
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
        cuda::sort_positions(&unsorted, ordinal, memory, &mut growing, progress, cancel)?;
    } else {
        let unsorted = &unsorted;
        sort::Sorting { unsorted, threads, progress, cancel }.sort(&groups, &mut growing)?;
    }
    progress.finish();
    growing.finish(reference)
}

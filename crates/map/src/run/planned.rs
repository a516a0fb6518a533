//! The plan of a run, without the run.

use merganser_alignments::IndexKind;
use merganser_io::{Input, ReadInput, text_bytes};
use merganser_run::{Context, JobPlan, Work};

use super::memory::{IndexSize, Memory};
use super::{check, choose_gpus, learn};
use crate::cpu::sort;
use crate::groups::KeptTags;
use crate::index::Index;
use crate::output::Letters;
use crate::reference::load;
use crate::{Config, Contig, Error, Format, Topology};

/// Determines how [`run`](super::run()) would map `reads` with `index`: on which devices, and with how much memory. `kind`
/// is the kind of the index of sorted records, if one is written. The headers of the inputs are read if their read groups
/// are kept, and the reference's file if CRAM needs its letters; nothing is written.
///
/// ```
/// use merganser_filter::Threshold;
/// use merganser_map::{Config, build_in_memory, plan_run};
/// use merganser_run::Context;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = |name: &str| folder.path().join(name);
/// # std::fs::write(path("reference.fa"), ">c\nTTTTTTTTTTGATTACAGATCCCGTAATTTTTTTTTT\n")?;
/// # std::fs::write(path("reads.fq"), "@r\nGATTACAGATCCCGTAA\n+\nIIIIIIIIIIIIIIIII\n")?;
/// let context = Context::new();
/// let (index, _) = build_in_memory(path("reference.fa"), &context)?;
/// let config = Config::new(Threshold::Edits(1));
/// let plan = plan_run(&config, &index, [path("reads.fq")], None, &context)?;
/// println!("at least {} bytes of memory", plan.memory.unwrap_or(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors that a run would report before it reads a read.
///
/// # Panics
/// If the index is that of a file and was not [checked](Index::check).
pub fn plan_run(
    config: &Config,
    index: &Index,
    reads: impl IntoIterator<Item = impl Into<ReadInput>>,
    kind: Option<IndexKind>,
    context: &Context,
) -> Result<JobPlan, Error> {
    let inputs: &[ReadInput] = &reads.into_iter().map(Into::into).collect::<Vec<_>>();
    check(config, index.contigs(), inputs, kind, context)?;
    let gaps = index.view().gaps(config.n_mode);
    let devices = choose_gpus(context, index, &gaps, inputs)?;
    if config.format == Format::Cram {
        Letters::new(index, config.fasta.as_deref(), &context.cancel)?;
    }
    let least = least_memory(config, &IndexSize::of(index), inputs, context)?;
    index.warn_of_none(&context.warnings);
    Ok(JobPlan::on(devices).with_memory(least))
}

/// The plan of building an index, and what the plan of a run with this index depends on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuildPlan {
    /// How the index would be built.
    pub job: JobPlan,
    /// The contigs of the reference.
    pub contigs: Vec<Contig>,
    size: IndexSize,
}

/// Determines how [`build`](super::build()) would build the index of a reference in FASTA: on which devices, and with how much
/// memory. The reference is read, but its positions are not sorted. `in_memory` says whether the index would not be
/// written to a file.
///
/// # Errors
/// The errors that building would report before it sorts.
pub fn plan_build(
    reference: &Input,
    topology: &Topology,
    in_memory: bool,
    context: &Context,
) -> Result<BuildPlan, Error> {
    context.validate()?;
    let devices =
        context.choose_gpus(Work::Index, text_bytes([reference]), merganser_gpu::usable)?;
    let reference = context.cancel.over_error(load(reference, topology, context))?;
    let unsorted = sort::unsorted(reference.text(), context.threads)?;
    let size = IndexSize::of_unsorted(&unsorted);
    let contigs = reference.contigs.clone();
    // Devices sort with their own memory.
    if !devices.is_empty() {
        return Ok(BuildPlan { job: JobPlan::on(devices), contigs, size });
    }
    sort::groups(&unsorted, context, in_memory)?;
    let needed = sort::needed(&unsorted, context, in_memory);
    Ok(BuildPlan { job: JobPlan::on(devices).with_memory(needed), contigs, size })
}

impl BuildPlan {
    /// Determines the memory of [`run`](super::run()) with this index, as [`plan_run`] does for an index that exists. The
    /// devices are those that build the index; a run chooses its own when the index exists.
    ///
    /// # Errors
    /// The errors that a run would report before it reads a read.
    pub fn plan_run(
        &self,
        config: &Config,
        reads: impl IntoIterator<Item = impl Into<ReadInput>>,
        kind: Option<IndexKind>,
        context: &Context,
    ) -> Result<JobPlan, Error> {
        let inputs: &[ReadInput] = &reads.into_iter().map(Into::into).collect::<Vec<_>>();
        check(config, &self.contigs, inputs, kind, context)?;
        let least = least_memory(config, &self.size, inputs, context)?;
        Ok(JobPlan::on(self.job.devices.clone()).with_memory(least))
    }
}

/// Checks what is read before the first read, and returns the least memory of a run.
fn least_memory(
    config: &Config,
    index: &IndexSize,
    inputs: &[ReadInput],
    context: &Context,
) -> Result<u64, Error> {
    let kept = KeptTags::new(config, inputs, context)?;
    let paired = config.may_have_pairs(inputs);
    let held = learn::held_bytes(learn::is_wanted(config, paired), inputs);
    let memory = Memory::new(config, context, index, paired, held)?;
    // Streams state their read groups only when they are read.
    if inputs.iter().flat_map(ReadInput::inputs).all(Input::is_file) {
        kept.groups()?;
    }
    Ok(memory.least)
}

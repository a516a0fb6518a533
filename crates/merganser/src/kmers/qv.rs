//! `merganser kmers qv`.

mod pictures;
mod range;
mod reads;
mod sheet;

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use merganser_assembly::output::{Files, Names, Phasing};
use merganser_assembly::{
    Assembly, AssemblyQuality, Config, Error, Outcome, Parent, Ranges, Reads, Subject, run_with,
};
use merganser_io::{Input, OutputSet, is_read_once};
use merganser_kmers::tables::AnyTable;
use merganser_report::data::{Assembly as Results, Data};
use merganser_report::multiqc::Kind;
use merganser_run::{Context, Summary};
use serde_json::{Value, json};

use crate::args::kmers::QvArgs;
use crate::common::{self, check_cells, describe_inputs, tell_time, write_summary};
use crate::console::Console;
use crate::failure::{usage, with_flags};
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::pages::{Pages, assembly as assembly_page, frame, parameter};
use crate::samples::run::check_resume;
use crate::{devices, interrupt};

pub(super) fn run(args: &QvArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    check_resume(args.resume.as_deref(), args.sample_sheet.as_deref())?;
    merganser_run::raise_open_file_limit();
    let limits = &args.limits;
    let (threads, folder) = (limits.threads.number(), args.tmp_dir.as_deref());
    let context = common::context(threads, limits.memory, folder, Some(&args.device));
    interrupt::cancel_on_interrupt();
    if let Some(path) = &args.sample_sheet {
        return sheet::run(args, path, &context, (console, started));
    }
    evaluate(args, &context, (console, started), OutputSet::commit_last)?;
    Ok(ExitCode::SUCCESS)
}

/// Evaluates assemblies, writes all outputs, and prints the results, whose summary is returned. `commit` makes the outputs
/// appear. A range has no summary.
fn evaluate(
    args: &QvArgs,
    context: &Context,
    (console, started): (&Console, Instant),
    commit: impl Fn(&OutputSet) -> Result<(), merganser_io::Error>,
) -> Result<Option<Summary>> {
    let (reads_path, paths) = args.files();
    if paths.is_empty() {
        return usage(match args.union.is_empty() {
            true => "an assembly is missing: give the one that was evaluated in ranges",
            false => "an assembly is missing: give it after the reads (--reads)",
        });
    }
    if args.output.file_name().is_none() || args.output.as_os_str().as_bytes().ends_with(b"/") {
        return usage(format!(
            "-o {}: this is a folder: give the beginning of the names of files, such as {}",
            args.output.display(),
            args.output.join("sample").display()
        ));
    }
    let assemblies = paths.iter().map(|path| assembly(path)).collect::<Result<Vec<_>>>()?;
    let config = &args.config;
    let operands = reads::operands(&args.union)?;
    let lists = args.reads.iter().chain(&args.maternal).chain(&args.paternal);
    let lists = lists.chain(operands.iter().map(|(path, _)| path));
    let mut files = RunFiles::new().lists(lists).read(&paths).read(&args.ranges);
    let (source, reads_name) = if args.ranges.is_empty() {
        let parents = parents(args, context)?;
        check_cells(parents.iter().flatten().map(|parent| &parent.name))?;
        let (reads, name) = match &args.of_sample {
            Some(of) => (reads::of_sample(of, args.config.hpc, context)?, of.name.clone()),
            None => reads::open(reads_path, &operands, args.config.hpc, context)?,
        };
        let subject = Subject { reads, parents, assemblies: assemblies.clone() };
        config.validate(&subject)?;
        files = files_of(&subject, files);
        (EvaluationInput::Reads(subject), name)
    } else {
        let ranges = Ranges::open(&args.ranges, &context.cancel)?;
        let name = ranges.reads().to_owned();
        (EvaluationInput::Ranges(ranges), name)
    };
    check_cells(assemblies.iter().map(|assembly| &assembly.name).chain([&reads_name]))?;
    let subject = match (args.range, source) {
        (Some(range), EvaluationInput::Reads(subject)) => {
            let job = range::Job { config, range, reads: &reads_name, output: &args.output };
            job.run(subject, files, context, console)?;
            return Ok(None);
        }
        (_, source) => source,
    };
    let names = assemblies.iter().map(|assembly| assembly.name.clone()).collect();
    let names = Names::new(&args.output, &reads_name, names);
    let names = names.parents(subject.parents(), config.blocks);
    let set = files.write_each(written(args, &names)).write(Holds::JSON, &args.json).check()?;
    let mut files = Files::create(names.clone(), &set)?;
    let pages = Pages::create(&args.pages, Kind::Assembly, None, &set).map_err(Error::from)?;
    let modes = subject.modes(config);
    let judgement = match subject {
        EvaluationInput::Reads(subject) => run_with(config, subject, &mut files, context),
        EvaluationInput::Ranges(ranges) => {
            ranges.run_with(config, &assemblies, &mut files, context)
        }
    }?;
    let sequences = files.largest();
    let phasings = files.finish(&judgement)?;
    let results = assembly_page::of(&names, &judgement, &sequences, &phasings);
    if !args.no_plots {
        let contigs = judgement.trio.as_ref().map_or(&[][..], |trio| &trio.contigs);
        pictures::write(&names, &results, &phasings, contigs, &set)?;
    }
    if Pages::is_wanted(&args.pages) {
        let data = page(args, modes, &judgement, results);
        pages.write(Kind::Assembly, data)?;
    }
    for doubt in &judgement.doubts {
        console.warn(with_flags(doubt));
    }
    let (assemblies, phasings) = (&assemblies[..], &phasings[..]);
    let of_run = OfRun { args, context, assemblies, phasings, started };
    let mut summary = of_run.summary(&judgement);
    if let Some(path) = &args.json {
        write_summary(&mut summary, set.output(path).map_err(Error::from)?).map_err(Error::from)?;
    }
    commit(&set).map_err(Error::from)?;
    for (assembly, judged) in assemblies.iter().zip(&judgement.assemblies) {
        console.info(format_args!("{}: {}", assembly.name, words(judged)));
    }
    for (assembly, phasing) in assemblies.iter().zip(phasings) {
        if let (Some(switches), Some(hamming)) = (phasing.switch_rate(), phasing.hamming_rate()) {
            let [switches, hamming] = [switches, hamming].map(|rate| 100.0 * rate);
            console.info(format_args!(
                "{}: {switches:.3} % switches within blocks, {hamming:.3} % of the markers on the wrong sequence",
                assembly.name
            ));
        }
    }
    if let (Some(both), Some(name)) = (&judgement.both, judgement.together()) {
        console.info(format_args!("{name}: {}", words(both)));
    }
    tell_time(started, context.threads, judgement.peak_memory, console);
    Ok(Some(summary))
}

/// Returns the outputs for results, with their formats.
fn written(args: &QvArgs, names: &Names) -> Vec<(Holds, PathBuf)> {
    let pictures = if args.no_plots { Vec::new() } else { pictures::paths(names) };
    let results = names.all().into_iter().chain(pictures).map(|path| (Holds::ANYTHING, path));
    results.chain(Pages::paths(&args.pages, Kind::Assembly, None)).collect()
}

/// The input of an evaluation.
enum EvaluationInput {
    Reads(Subject),
    Ranges(Ranges),
}

impl EvaluationInput {
    /// Returns the names of the parents.
    fn parents(&self) -> Option<[String; 2]> {
        match self {
            EvaluationInput::Reads(subject) => {
                let parents = subject.parents.as_ref()?;
                Some(parents.each_ref().map(|parent| parent.name.clone()))
            }
            EvaluationInput::Ranges(ranges) => ranges.parents(),
        }
    }

    fn modes(&self, config: &Config) -> Modes {
        let (hybrid, hpc) = match self {
            EvaluationInput::Reads(subject) => {
                (subject.reads.is_hybrid(), subject.is_homopolymer_compressed())
            }
            EvaluationInput::Ranges(ranges) => {
                (ranges.is_hybrid(), ranges.is_homopolymer_compressed())
            }
        };
        Modes { hybrid: config.hybrid || hybrid, hpc: config.hpc || hpc }
    }
}

/// The modes of an evaluation, given as options or recorded in tables or ranges.
#[derive(Clone, Copy)]
struct Modes {
    hybrid: bool,
    hpc: bool,
}

/// Adds the files of the reads and of the parents' reads.
fn files_of(subject: &Subject, mut files: RunFiles) -> RunFiles {
    let parents = subject.parents.iter().flatten().map(|parent| &parent.reads);
    for reads in [&subject.reads].into_iter().chain(parents) {
        files = files.read(reads.tables().into_iter().flat_map(AnyTable::files));
        files = files.inputs(reads.inputs());
    }
    files
}

/// Returns the data of a page for an evaluation.
fn page(args: &QvArgs, modes: Modes, judgement: &Outcome, results: Results) -> Data {
    let (reads, assemblies) = args.files();
    // The sample is named after the assembly, unless a name is given.
    let files = assemblies.into_iter().chain(reads).map(Path::to_owned);
    let of_sample = args.of_sample.iter().flat_map(|of| of.files.clone());
    let files = files.chain(args.union.iter().map(PathBuf::from)).chain(of_sample);
    let files = files.chain(args.ranges.iter().cloned());
    let inputs: Vec<Input> = files.map(Input::File).collect();
    let mut data = frame("kmers qv", &args.pages, None, inputs.iter());
    data.parameters = vec![parameter("k", judgement.k), parameter("solid", judgement.solid)];
    let modes = [("hybrid", modes.hybrid), ("hpc", modes.hpc)];
    let modes = modes.into_iter().filter(|mode| mode.1).map(|(name, _)| parameter(name, true));
    data.parameters.extend(modes);
    data.warnings = judgement.doubts.iter().map(|doubt| with_flags(doubt)).collect();
    data.assembly = Some(results);
    data
}

/// Formats QV and completeness.
fn words(judged: &AssemblyQuality) -> String {
    let complete = judged.completeness().map(|part| format!(", {part:.2} % complete"));
    format!("QV {:.2}{}", judged.quality, complete.unwrap_or_default())
}

/// Checks that an assembly can be read more than once.
fn assembly(path: &Path) -> Result<Assembly> {
    if is_read_once(path) {
        bail!("{}: an assembly is read more than once: give a file", path.display());
    }
    Ok(Assembly::of(path.to_owned()))
}

/// Opens the reads of the mother and the father.
fn parents(args: &QvArgs, context: &Context) -> Result<Option<[Parent; 2]>> {
    let (Some(mother), Some(father)) = (&args.maternal, &args.paternal) else { return Ok(None) };
    let parent = |path: &Path| {
        Ok(Parent { name: Reads::name(path), reads: Reads::open(path, args.config.hpc, context)? })
    };
    let [mother, father]: [Result<Parent>; 2] = [mother, father].map(|path| parent(path));
    Ok(Some([mother?, father?]))
}

/// A run, with what its summary needs.
struct OfRun<'r> {
    args: &'r QvArgs,
    context: &'r Context,
    assemblies: &'r [Assembly],
    phasings: &'r [Phasing],
    started: Instant,
}

impl OfRun<'_> {
    fn summary(&self, judgement: &Outcome) -> Summary {
        let mut summary = Summary::new("kmers qv");
        summary.version(env!("CARGO_PKG_VERSION"));
        let inputs: Vec<Input> =
            self.assemblies.iter().map(|assembly| assembly.input.clone()).collect();
        describe_inputs(&inputs, &mut summary);
        let union = self.args.union.iter().map(|operand| operand.display().to_string());
        let union: Vec<String> = union.collect();
        match self.args.files().0 {
            Some(reads) => summary.set("inputs", "reads", reads.display().to_string()),
            None if !union.is_empty() => summary.set("inputs", "reads", union),
            None => {
                let ranges = self.args.ranges.iter().map(|path| path.display().to_string());
                summary.set("inputs", "ranges", ranges.collect::<Vec<_>>());
            }
        }
        for (key, value) in [
            ("k", judgement.k.into()),
            ("solid", judgement.solid.into()),
            ("output", Value::from(self.args.output.display().to_string())),
            ("threads", self.context.threads.into()),
            ("memory", self.context.budget().into()),
        ] {
            summary.set("parameters", key, value);
        }
        let names = self.assemblies.iter().map(|assembly| assembly.name.as_str());
        let names = names.chain(judgement.together());
        let judged = judgement.assemblies.iter().chain(&judgement.both);
        let mut judged: Vec<Value> = names.zip(judged).map(|(name, of)| value(name, of)).collect();
        for (of, phasing) in judged.iter_mut().zip(self.phasings) {
            of["phase_blocks"] = phasing.blocks.len().into();
            of["switch_rate"] = phasing.switch_rate().into();
            of["hamming_rate"] = phasing.hamming_rate().into();
        }
        summary.set("results", "assemblies", judged);
        devices::clocks(self.started, &mut summary);
        for (stage, time) in judgement.stages.iter() {
            summary.stage(stage, time);
        }
        summary
    }
}

/// Describes an assembly as JSON; NaN and infinity become null.
fn value(name: &str, of: &AssemblyQuality) -> Value {
    json!({
        "name": name,
        "only_kmers": of.only.instances,
        "only_distinct": of.only.distinct,
        "kmers": of.kmers,
        "qv": of.quality.is_finite().then_some(of.quality),
        "error_rate": of.error_rate.is_finite().then_some(of.error_rate),
        "solid_found": of.found,
        "solid": of.solid,
        "completeness": of.completeness(),
    })
}

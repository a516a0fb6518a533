//! `merganser kmers track`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_assembly::Error;
use merganser_assembly::track::{
    self, Class, ClassSum, Files, Paths, TrackOutcome, TrackTable, ValueFormat,
};
use merganser_io::{Input, OutputSet};
use merganser_kmers::algebra;
use merganser_kmers::tables::AnyTable;
use merganser_run::{Context, Summary, format_size, thousands};
use serde_json::{Map, Value, json};

use crate::args::kmers::TrackArgs;
use crate::common::{self, describe_inputs, write_summary};
use crate::console::Console;
use crate::failure::{usage, with_flags};
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::{devices, interrupt};

pub(super) fn run(args: &TrackArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    merganser_run::raise_open_file_limit();
    let limits = &args.limits;
    let (threads, folder) = (limits.threads.number(), args.tmp_dir.as_deref());
    let context = common::context(threads, limits.memory, folder, Some(&args.device));
    let cancel = interrupt::cancel_on_interrupt();
    let (path, cut) = match algebra::parse_operand(&args.table) {
        Ok(operand) => operand,
        Err(what) => return usage(format!("{}: {what}", args.table.display())),
    };
    let inputs = args.inputs.expand(&args.sequences).map_err(Error::from)?;
    let stdin = path.as_os_str() == "-";
    if stdin && inputs.iter().any(Input::is_stdin) {
        return Err(merganser_io::Error::StdinTwice.into());
    }
    let table = AnyTable::open_with(&path, !args.forward_only, &context)?;
    let paths = args.paths();
    let files = RunFiles::new().lists(&args.sequences).inputs(&inputs).read(table.files());
    let files = files.write(Holds::LINES, &paths.summary).write(Holds::JSON, &args.json);
    let files = files.write(Holds::INTERVALS, paths.intervals());
    let set = files.write(Holds::VALUES, paths.values()).check()?;
    args.config.validate(paths.wanted(), &table, cut != algebra::Cut::NONE)?;
    let mut files = Files::create(&paths, &set)?;
    let table = TrackTable { table, cut };
    let done = track::run(&args.config, table, &inputs, &mut files, &context);
    let done = cancel.over_error(done)?;
    files.finish()?;
    for doubt in &done.doubts {
        console.warn(with_flags(doubt));
    }
    if let Some(path) = &args.json {
        OfRun { args, inputs: &inputs, paths: &paths, context: &context, started }
            .write(path, &done, &set)?;
    }
    set.commit_last().map_err(Error::from)?;
    describe(&done, console);
    Ok(ExitCode::SUCCESS)
}

/// Prints the sums of all sequences.
fn describe(done: &TrackOutcome, console: &Console) {
    let [sequences, kmers, found] = [done.sequences, done.kmers, done.found].map(thousands);
    console
        .info(format_args!("{sequences} sequences; the table has {found} of their {kmers} k-mers"));
    if let (Some(coverage), Some(solid)) = (done.coverage, done.solid) {
        console.info(format_args!(
            "one copy has a count of {coverage:.2}; counts up to {solid} are low"
        ));
    }
    for (class, sum) in Class::ALL.iter().zip(done.classes.iter().flatten()) {
        let [bases, intervals] = [sum.bases, sum.intervals].map(thousands);
        console.info(format_args!("{}: {bases} bases in {intervals} intervals", class.name()));
    }
    if let Some(peak) = done.peak_memory {
        console.debug(format_args!("peak memory {}", format_size(peak)));
    }
}

/// A run, with what its summary needs.
struct OfRun<'r> {
    args: &'r TrackArgs,
    inputs: &'r [Input],
    paths: &'r Paths,
    context: &'r Context,
    started: Instant,
}

impl OfRun<'_> {
    fn write(&self, path: &Path, done: &TrackOutcome, set: &OutputSet) -> Result<()> {
        let mut summary = Summary::new("kmers track");
        summary.version(env!("CARGO_PKG_VERSION"));
        describe_inputs(self.inputs, &mut summary);
        summary.set("inputs", "table", self.args.table.display().to_string());
        for (key, value) in [
            ("k", done.k.into()),
            ("coverage", done.coverage.into()),
            ("solid", done.solid.into()),
            ("outputs", self.outputs()),
            ("threads", self.context.threads.into()),
            ("memory", self.context.budget().into()),
        ] {
            summary.set("parameters", key, value);
        }
        for (key, value) in [
            ("sequences", done.sequences),
            ("bases", done.bases),
            ("kmers", done.kmers),
            ("found", done.found),
        ] {
            summary.set("results", key, value);
        }
        let of_class = |(class, sum): (&Class, &ClassSum)| {
            let ClassSum { kmers, intervals, bases } = *sum;
            let sums = json!({ "intervals": intervals, "bases": bases, "kmers": kmers });
            (class.name().to_owned(), sums)
        };
        let classes = done.classes.as_ref();
        let classes = classes.map(|sums| Class::ALL.iter().zip(sums).map(of_class).collect());
        summary.set("results", "classes", classes.map_or(Value::Null, Value::Object));
        devices::clocks(self.started, &mut summary);
        for (stage, time) in done.stages.iter() {
            summary.stage(stage, time);
        }
        write_summary(&mut summary, set.output(path).map_err(Error::from)?).map_err(Error::from)?;
        Ok(())
    }

    /// Describes the tracks: their files and formats.
    fn outputs(&self) -> Value {
        let Paths { summary, classes, present, counts, expected, copies, .. } = self.paths;
        let format = |path: &Path| match ValueFormat::of_name(path) {
            ValueFormat::BedGraph => "bedGraph",
            ValueFormat::Wig => "wig",
        };
        let mut outputs = Map::new();
        let mut add = |name: &str, path: &Option<std::path::PathBuf>, given: Option<&str>| {
            if let Some(path) = path {
                let format = given.unwrap_or_else(|| format(path));
                let file = path.display().to_string();
                outputs.insert(name.to_owned(), json!({ "file": file, "format": format }));
            }
        };
        add("summary", summary, Some("tsv"));
        add("classes", classes, Some("bed"));
        add("present", present, Some("bed"));
        add("counts", counts, None);
        add("expected", expected, None);
        add("copies", copies, None);
        outputs.into()
    }
}

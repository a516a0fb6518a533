//! Many samples in one run.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use merganser_io::{Input, OutputSet, Segment};
use merganser_run::Summary;
use serde_json::{Map, Value};

use super::Environment;
use super::outputs::has_place_for_sample;
use super::query::Query;
use crate::args::classify::{LineArgs, QueryArgs};
use crate::common::{text_of, write_summary};
use crate::failure;
use crate::files::RunFiles;

/// A sample and its reads.
pub(super) type Sample = (OsString, Vec<Segment>);

/// Reads a sample sheet: a line for each file or pair of files, `SAMPLE<TAB>READS` or
/// `SAMPLE<TAB>MATES1<TAB>MATES2`, or with commas; a first line whose first cell is `sample` is a
/// header, empty lines and those that begin with `#` say nothing. Lines of the same sample belong
/// together; samples are in the order of their first lines.
///
/// # Errors
/// What is wrong, and in which line.
pub(super) fn read(path: &Path, args: &QueryArgs) -> Result<Vec<Sample>> {
    let text = merganser_io::read_table(path)
        .map_err(|error| anyhow::anyhow!("{}: {}", path.display(), merganser_io::reason(&error)))?;
    let reads = &args.inputs;
    let samples = parse(&text, args.interleaved)
        .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    let segment = |segment| match segment {
        Segment::Single(input) => Segment::Single(reads.input(input)),
        Segment::Interleaved(input) => Segment::Interleaved(reads.input(input)),
        Segment::Pair(one, two) => Segment::Pair(reads.input(one), reads.input(two)),
    };
    let sample = |(name, segments): Sample| (name, segments.into_iter().map(segment).collect());
    Ok(samples.into_iter().map(sample).collect())
}

fn parse(text: &[u8], interleaved: bool) -> Result<Vec<Sample>> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut first = true;
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let (at, line) = (number + 1, line.trim_ascii());
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let separator = if line.contains(&b'\t') { b'\t' } else { b',' };
        let cells: Vec<&[u8]> =
            line.split(|&byte| byte == separator).map(<[u8]>::trim_ascii).collect();
        if std::mem::take(&mut first) && cells[0].eq_ignore_ascii_case(b"sample") {
            continue;
        }
        let file = |cell: &[u8]| Input::File(OsStr::from_bytes(cell).into());
        let (name, segment) = match cells[..] {
            [name, reads] | [name, reads, b""] if !reads.is_empty() => match interleaved {
                true => (name, Segment::Interleaved(file(reads))),
                false => (name, Segment::Single(file(reads))),
            },
            [name, one, two] if !one.is_empty() => (name, Segment::Pair(file(one), file(two))),
            _ => bail!(
                "line {at}: not SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2 (or with commas)"
            ),
        };
        let name = OsStr::from_bytes(name);
        if name.is_empty() || name.as_bytes().contains(&b'/') || name.as_bytes()[0] == b'.' {
            let name = name.display();
            bail!("line {at}: `{name}` cannot be a sample's name, as files are named after it");
        }
        if segment.inputs().any(|input| *input == file(b"-")) {
            bail!("line {at}: the reads of a sheet come from files, not from stdin");
        }
        match samples.iter_mut().find(|(known, _)| known == name) {
            Some((_, segments)) => segments.push(segment),
            None => samples.push((name.to_owned(), vec![segment])),
        }
    }
    if samples.is_empty() {
        bail!("no sample in this sheet");
    }
    Ok(samples)
}

/// Sees to it that each sample has outputs of its own.
fn check_names(args: &QueryArgs) -> Result<()> {
    let lines = (!args.lines.no_map).then_some(("-o", &args.lines.output));
    let named = [
        ("--report", &args.reports.report),
        ("--mpa", &args.reports.mpa),
        ("--krona", &args.reports.krona),
        ("--abundance", &args.reports.abundance),
        ("--cami", &args.reports.cami),
        ("--bracken-output", &args.reports.bracken_output),
        ("--bracken-report", &args.reports.bracken_report),
        ("--hits-per-ref", &args.lines.hits_per_ref),
        ("--partial", &args.lines.partial),
        ("--classified-out", &args.lines.classified_out),
        ("--unclassified-out", &args.lines.unclassified_out),
    ];
    let named = named.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
    for (option, path) in lines.into_iter().chain(named) {
        if !has_place_for_sample(path) && path != Path::new("/dev/null") {
            return failure::usage(format!(
                "{option} {}: with --sample-sheet, put {{}} where the sample's name belongs",
                path.display()
            ));
        }
    }
    if args.reports.sample_id.is_some() {
        return failure::usage("--sample-id: the samples' names are those of the sheet");
    }
    Ok(())
}

/// Sees to it, before any work, that the inputs of all samples are there and no output takes the
/// place of an input or of another output, whichever samples they are of. Gives the set of the
/// outputs that are no sample's.
///
/// # Errors
/// What does not go together.
pub(super) fn check(
    args: &QueryArgs,
    samples: &[Sample],
    mut files: RunFiles,
) -> Result<OutputSet> {
    check_names(args)?;
    let own = QueryArgs { lines: LineArgs { json: None, ..args.lines.clone() }, ..args.clone() };
    let queries = samples.iter().map(|(name, segments)| (name, segments.clone()));
    let queries: Vec<Query<'_>> =
        queries.map(|(name, segments)| Query::of_sample(&own, name, segments)).collect();
    for query in &queries {
        query.check_alone()?;
        files = query.declare(files);
    }
    let outputs = files.write(&args.lines.json).check()?;
    queries.iter().try_for_each(Query::check_inputs)?;
    Ok(outputs)
}

/// Classifies one sample after the other. The outputs of a sample appear together, as soon as it is
/// classified; `outputs`, with the summary, at the end. One that fails leaves no outputs and does not keep the
/// others from being classified; the exit code is then 1.
pub(super) fn run(
    environment: &Environment<'_>,
    args: &QueryArgs,
    samples: Vec<Sample>,
    outputs: &OutputSet,
) -> Result<ExitCode> {
    let mut args = args.clone();
    let json = args.lines.json.take();
    let json = json.as_deref().map(|path| outputs.output(path)).transpose()?;
    let mut summaries = Map::new();
    let mut failed = Vec::new();
    for (name, segments) in &samples {
        let query = Query::of_sample(&args, name, segments.clone());
        match query.run(environment, &OutputSet::new(), Instant::now()) {
            Ok(classified) => {
                summaries.insert(text_of(name), classified.summary.to_value()["results"].clone());
            }
            Err(error) if environment.cancel.is_cancelled() => return Err(error),
            Err(error) => {
                environment.console.error(format_args!(
                    "{}: {}",
                    name.display(),
                    failure::message(&error)
                ));
                summaries.insert(text_of(name), Value::Null);
                failed.push(text_of(name));
            }
        }
    }
    if let Some(output) = json {
        let mut summary = Summary::new("classify");
        summary.version(env!("CARGO_PKG_VERSION"));
        summary.set("parameters", "threads", environment.resources.threads);
        summary.set("results", "samples", summaries);
        summary.set("results", "failed", &failed);
        summary.set("seconds", "wall", environment.started.elapsed().as_secs_f64());
        summary.stage("open", environment.opened);
        write_summary(&summary, output)?;
    }
    outputs.commit()?;
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, interleaved: bool) -> Result<Vec<Sample>> {
        super::parse(text.as_bytes(), interleaved)
    }

    #[test]
    fn names_may_have_any_bytes() {
        let samples = super::parse(b"s\xff\t\xe9.fq\n", false).unwrap();
        let file = Input::File(OsStr::from_bytes(b"\xe9.fq").into());
        let expected = (OsStr::from_bytes(b"s\xff").to_owned(), vec![Segment::Single(file)]);
        assert_eq!(samples, [expected]);
    }

    #[test]
    fn lines_of_a_sample_belong_together() {
        let file = |name: &str| Input::File(name.into());
        let text =
            "sample,fastq_1,fastq_2\n# lanes\nb,1.fq,2.fq\r\na,x.fq,\n\nb,3.fq,4.fq\na\ty.fq\n";
        let pair = |one, two| Segment::Pair(file(one), file(two));
        assert_eq!(
            parse(text, false).unwrap(),
            [
                ("b".into(), vec![pair("1.fq", "2.fq"), pair("3.fq", "4.fq")]),
                ("a".into(), vec![Segment::Single(file("x.fq")), Segment::Single(file("y.fq"))]),
            ]
        );
        assert_eq!(parse("a\tb c.fq", true).unwrap()[0].1, [Segment::Interleaved(file("b c.fq"))]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text| parse(text, false).unwrap_err().to_string();
        let shape = "not SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2 (or with commas)";
        assert_eq!(message("a\n"), format!("line 1: {shape}"));
        assert_eq!(message("a,b\n\na,b,c,d\n"), format!("line 3: {shape}"));
        assert_eq!(
            message("x/y\tb.fq"),
            "line 1: `x/y` cannot be a sample's name, as files are named after it"
        );
        assert_eq!(message("a\t-"), "line 1: the reads of a sheet come from files, not from stdin");
        assert_eq!(message("# nothing\nsample\treads\n"), "no sample in this sheet");
    }
}

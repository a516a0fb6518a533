//! Compares our own parsers and writers with crates for the same formats, in CPU seconds of one thread:
//! `cargo run --release -- fastx FILE`, `kff FILE`, `bam FILE`.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use noodles_sam::alignment::RecordBuf;
use noodles_sam::alignment::io::Write as _;
use paraseq::Record as _;

const RUNS: usize = 5;

/// Totals over a file, which show that all parsers read the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    items: u64,
    letters: u64,
}

type Way<'w> = (&'w str, &'w dyn Fn() -> Result<Sum>);

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, path] = &args[..] else { bail!("usage: fastx FILE, kff FILE or bam FILE") };
    let path = Path::new(path);
    match what.as_str() {
        "fastx" => compare(&[
            ("merganser-io", &|| ours(path)),
            ("needletail", &|| needletail(path)),
            ("paraseq", &|| paraseq(path)),
        ]),
        "kff" => compare(&[
            ("merganser-kmers", &|| our_kff(path)),
            ("kff", &|| kff_crate(path)),
        ]),
        "bam" => encode_bam(path),
        _ => bail!("{what}: the formats are fastx, kff and bam"),
    }
}

/// Runs all parsers in turn and prints the median time of each.
fn compare(ways: &[Way<'_>]) -> Result<()> {
    let mut seconds = vec![Vec::new(); ways.len()];
    let mut first = None;
    for _ in 0..RUNS {
        for (seconds, (name, way)) in seconds.iter_mut().zip(ways) {
            let begun = cpu_seconds()?;
            let sum = way().with_context(|| (*name).to_owned())?;
            seconds.push(cpu_seconds()? - begun);
            let expected = *first.get_or_insert(sum);
            anyhow::ensure!(sum == expected, "{name} read {sum:?} instead of {expected:?}");
        }
    }
    println!("{:?}", first.unwrap_or_default());
    for (seconds, (name, _)) in seconds.iter_mut().zip(ways) {
        seconds.sort_by(f64::total_cmp);
        println!("{name}\t{:.3}", seconds[RUNS / 2]);
    }
    Ok(())
}

fn cpu_seconds() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(micros as f64 / 1e6)
}

fn ours(path: &Path) -> Result<Sum> {
    use merganser_alignments::RecordOptions;
    use merganser_io::{Header, Input, Keep, RecordBatch, Records, ReadInput};
    let keep = Keep { header: Header::Whole, qualities: true };
    let options = RecordOptions { keep, workers: 1, ..RecordOptions::default() };
    let records = Records::open(&[ReadInput::Single(Input::File(path.into()))], options)?;
    let (mut sum, mut batch) = (Sum::default(), RecordBatch::default());
    while records.next(&mut batch)?.is_some() {
        for at in 0..batch.len() {
            sum.items += 1;
            sum.letters += black_box(batch.record(at).letters).len() as u64;
        }
    }
    Ok(sum)
}

fn needletail(path: &Path) -> Result<Sum> {
    let mut sum = Sum::default();
    let mut reader = needletail::parse_fastx_file(path)?;
    while let Some(record) = reader.next() {
        sum.items += 1;
        sum.letters += black_box(record?.seq()).len() as u64;
    }
    Ok(sum)
}

fn paraseq(path: &Path) -> Result<Sum> {
    let mut sum = Sum::default();
    let mut reader = paraseq::ReaderBuilder::path(path).build_fastq()?;
    let mut records = reader.new_record_set();
    while records.fill(&mut reader)? {
        for record in records.iter() {
            sum.items += 1;
            sum.letters += black_box(record?.seq()).len() as u64;
        }
    }
    Ok(sum)
}

/// Counts the k-mers and adds their counts.
fn our_kff(path: &Path) -> Result<Sum> {
    use merganser_kmers::algebra::{Calculation, CountLimits, Expression, calculate, open_tables};
    use merganser_kmers::formats::TableFormat;
    let cancel = merganser_run::Cancel::default();
    let tables = open_tables(&[path], true, &cancel)?;
    let calculation = Calculation {
        expression: Expression::Table(0),
        limits: CountLimits::default(),
        output: None,
        format: TableFormat::None,
    };
    let context = merganser_run::Context::new().threads(1);
    let outputs = merganser_io::OutputSet::alone();
    let silent = merganser_run::Silent;
    let done = calculate(&calculation, &tables, &context, &outputs, &silent, &cancel)?;
    Ok(Sum { items: done.kmers, letters: done.occurrences })
}

fn kff_crate(path: &Path) -> Result<Sum> {
    let mut sum = Sum::default();
    for kmer in kff::Kff::<std::io::BufReader<std::fs::File>>::open(path)?.kmers() {
        let kmer = kmer?;
        sum.items += 1;
        let count = kmer.data().iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        sum.letters += count;
    }
    Ok(sum)
}

/// Prints the time that noodles takes to encode the records of a file again, without compression.
fn encode_bam(path: &Path) -> Result<()> {
    let mut reader = noodles_bam::io::reader::Builder.build_from_path(path)?;
    let header = reader.read_header()?;
    let records: Vec<RecordBuf> = reader.record_bufs(&header).collect::<Result<_, _>>()?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begun = cpu_seconds()?;
        let mut writer = noodles_bam::io::Writer::from(Vec::new());
        for record in &records {
            writer.write_alignment_record(&header, record)?;
        }
        black_box(writer.into_inner());
        times.push(cpu_seconds()? - begun);
    }
    times.sort_by(f64::total_cmp);
    let nanoseconds = times[RUNS / 2] * 1e9 / records.len().max(1) as f64;
    println!("{} records\nnoodles-bam\t{nanoseconds:.0} ns a record", records.len());
    Ok(())
}

//! `merganser kmers query`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Error, Result};
use merganser_io::{Input, Output, text_bytes};
use merganser_kmers::algebra::Cut;
use merganser_kmers::lookup::{LookupOptions, Use, open_lookup};
use merganser_kmers::reads::{Job, query, query_lines};
use merganser_run::Silent;

use super::tables;
use crate::args::kmers::QueryArgs;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::interrupt;

/// Memory for the k-mers that are looked up, in bytes.
const RESERVED: u64 = 192 << 20;

pub(super) fn run(args: &QueryArgs) -> Result<ExitCode> {
    if let Some(file) = args.kmers.iter().find(|word| Path::new(word).is_file()) {
        return usage(format!("{file}: is a file, not a k-mer: give --file {file}"));
    }
    interrupt::cancel_on_interrupt();
    let mut opened = tables::open(&[&args.table], &args.tables)?;
    let files =
        RunFiles::new().read(tables::files(&opened)).read(&args.file).write(Holds::LINES, ["-"]);
    let outputs = files.check()?;
    let table = opened.remove(0);
    let context = tables::context(&args.tables, Some(&args.device));
    let reserved = RESERVED.min(context.budget() / 8);
    let options = LookupOptions {
        context: &context,
        cut: Cut::NONE,
        purpose: Use::Kmers(expected(args, table.description().k)),
        reserved,
        input: text_bytes(&inputs(args)),
    };
    let homopolymer_compressed = table.description().homopolymer_compressed;
    let lookup = open_lookup(table, &options)?;
    let mut output = outputs.output(Path::new("-")).map_err(merganser_kmers::Error::from)?;
    // Answers and a bar would be mixed on a terminal.
    let (lookup, context) = (lookup.as_ref(), &context.clone().progress(Silent));
    let job = Job { lookup, homopolymer_compressed, context, record_bytes: 0 };
    let done = answer(args, job, reserved, &mut output);
    // Also after an error: the answers before it are valid.
    output.finish().map_err(merganser_kmers::Error::from)?;
    done?;
    Ok(ExitCode::SUCCESS)
}

fn answer(args: &QueryArgs, job: Job<'_>, bytes: u64, output: &mut Output) -> Result<()> {
    let Some(file) = &args.file else {
        return query(job, &args.kmers, output)?.map_err(Error::msg);
    };
    let input = match file.as_os_str() == "-" {
        true => Input::Stdin,
        false => Input::File(file.clone()),
    };
    Ok(query_lines(job, &input, bytes, output)?)
}

/// Returns the input for the choice of devices; k-mers on the command line do not count.
fn inputs(args: &QueryArgs) -> Vec<Input> {
    args.file.iter().filter(|file| file.as_os_str() != "-").cloned().map(Input::File).collect()
}

/// Returns the approximate number of k-mers to look up, if it is known.
fn expected(args: &QueryArgs, k: usize) -> Option<u64> {
    let Some(file) = &args.file else { return Some(args.kmers.len() as u64) };
    let at = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    Some(at.len() / (k as u64 + 1))
}

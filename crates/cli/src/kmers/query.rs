//! `merganser kmers query`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Error, Result, anyhow, bail};
use merganser_count::algebra::Cut;
use merganser_count::lookup::{Lookup, LookupOptions, Use, open_lookup};
use merganser_io::Input;
use merganser_seq::base;

use super::tables;
use crate::args::kmers::QueryArgs;
use crate::console::Console;
use crate::{devices, interrupt};

/// k-mers that are looked up together.
const BATCH: usize = 1 << 20;
/// The first of them fewer, so that a pipe gets its first answers soon.
const FIRST_BATCH: usize = 1 << 10;
/// Bytes of k-mers from which on a GPU answers faster than 16 cores, its start and the loading of the
/// table included (docs/benchmarks.md).
const GPU_BREAK_EVEN: u64 = 100_000_000;
/// Bytes that a batch takes.
const RESERVED: u64 = 192 << 20;

pub(super) fn run(args: &QueryArgs, console: &Console) -> Result<ExitCode> {
    let cancel = interrupt::cancel_on_interrupt()?;
    let table = tables::open(&[&args.table], &args.tables, &cancel)?.remove(0);
    let resources = tables::resources(&args.tables);
    let gpus = devices::choose(&args.device.device, &inputs(args), GPU_BREAK_EVEN, console)?;
    let options = LookupOptions {
        resources: &resources,
        cut: Cut::NONE,
        purpose: Use::Kmers(expected(args, table.description().k)),
        reserved: RESERVED.min(resources.memory / 8),
        gpus: &gpus,
        gpu_memory: args.device.gpu_memory,
        say: &|what| console.info(format_args!("{what}")),
    };
    let lookup = open_lookup(table, &options, &merganser_run::Silent, &cancel)?;
    let mut query = Query { lookup: lookup.as_ref(), letters: Vec::new(), counts: Vec::new() };
    let mut output = BufWriter::new(io::stdout().lock());
    let done = query.answer_all(args, &mut output);
    // Also after an error: what was answered before it stands.
    output.flush()?;
    done?;
    Ok(ExitCode::SUCCESS)
}

/// What is read, for the choice of devices; k-mers on the command line are nothing.
fn inputs(args: &QueryArgs) -> Vec<Input> {
    args.file.iter().filter(|file| file.as_os_str() != "-").cloned().map(Input::File).collect()
}

/// About how many k-mers are asked for, if that can be known.
fn expected(args: &QueryArgs, k: usize) -> Option<u64> {
    let Some(file) = &args.file else { return Some(args.kmers.len() as u64) };
    let at = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    Some(at.len() / (k as u64 + 1))
}

struct Query<'q> {
    lookup: &'q dyn Lookup,
    /// k-mers that wait to be looked up, a line each.
    letters: Vec<u8>,
    counts: Vec<u32>,
}

impl Query<'_> {
    fn answer_all(&mut self, args: &QueryArgs, output: &mut impl Write) -> Result<()> {
        if let Some(file) = &args.file {
            return self.file(file, output);
        }
        let added = args.kmers.iter().try_for_each(|kmer| self.add(kmer.as_bytes()));
        self.answer(output)?;
        added
    }

    /// Answers for the first word of each line.
    fn file(&mut self, path: &Path, output: &mut impl Write) -> Result<()> {
        let name =
            if path.as_os_str() == "-" { "stdin".into() } else { path.display().to_string() };
        let mut lines: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::with_capacity(1 << 20, open(path)?))
        };
        let (mut line, mut most) = (Vec::new(), FIRST_BATCH);
        for number in 1u64.. {
            line.clear();
            let read = lines.read_until(b'\n', &mut line).map_err(Error::from);
            let added = match read {
                Ok(0) => break,
                Ok(_) => match line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()) {
                    None => continue,
                    Some(kmer) => self.add(kmer),
                },
                Err(error) => Err(error),
            };
            if added.is_err() || self.letters.len() >= most * self.line() {
                self.answer(output)?;
                most = BATCH;
            }
            added.with_context(|| format!("{name}: line {number}"))?;
        }
        self.answer(output)
    }

    /// Bytes of a k-mer and its line end.
    fn line(&self) -> usize {
        self.lookup.k() + 1
    }

    /// Looks up what waits.
    fn answer(&mut self, output: &mut impl Write) -> Result<()> {
        let line = self.line();
        self.lookup.counts(&self.letters, line, &mut self.counts)?;
        for (kmer, count) in self.letters.chunks(line).zip(&self.counts) {
            output.write_all(&kmer[..line - 1])?;
            writeln!(output, "\t{count}")?;
        }
        self.letters.clear();
        Ok(())
    }

    /// Lets a k-mer wait.
    fn add(&mut self, text: &[u8]) -> Result<()> {
        let k = self.lookup.k();
        if text.len() == k && text.iter().all(|&letter| base::is_base(letter)) {
            self.letters.extend_from_slice(text);
            self.letters.push(b'\n');
            return Ok(());
        }
        let text = String::from_utf8_lossy(text);
        if let Some(letter) = text.chars().find(|&letter| !is_base(letter)) {
            bail!("'{text}' has the letter '{letter}': k-mers are made of A C G T (or U)");
        }
        let letters = text.len();
        bail!("'{text}' has {letters} letters: the k-mers of this table have {k}");
    }
}

fn open(path: &Path) -> Result<File> {
    let reason =
        |error| anyhow!("{}: cannot open: {}", path.display(), merganser_io::reason(&error));
    File::open(path).map_err(reason)
}

fn is_base(letter: char) -> bool {
    u8::try_from(letter).is_ok_and(base::is_base)
}

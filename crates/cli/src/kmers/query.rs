//! `merganser kmers query`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use merganser_count::Table;
use merganser_seq::base;
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::args::kmers::QueryArgs;

pub(super) fn run(args: &QueryArgs) -> Result<ExitCode> {
    let table = Table::open(&args.table)?;
    let mut output = BufWriter::new(io::stdout().lock());
    let done = with_kmer!(table.header().k, K => query::<K>(&table, args, &mut output));
    // Also after an error: what was answered before it stands.
    output.flush()?;
    done?;
    Ok(ExitCode::SUCCESS)
}

fn query<K: Kmer>(table: &Table, args: &QueryArgs, output: &mut impl Write) -> Result<()> {
    let mut lookup = Lookup::<K> { table, kmers: Vec::new() };
    match &args.file {
        Some(file) => lookup.file(file, output),
        None => args.kmers.iter().try_for_each(|kmer| lookup.answer(kmer, output)),
    }
}

struct Lookup<'t, K> {
    table: &'t Table,
    /// Working space of the look-ups.
    kmers: Vec<(K, u32)>,
}

impl<K: Kmer> Lookup<'_, K> {
    /// Answers for the first word of each line.
    fn file(&mut self, path: &Path, output: &mut impl Write) -> Result<()> {
        let name =
            if path.as_os_str() == "-" { "stdin".into() } else { path.display().to_string() };
        let lines: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::new(open(path)?))
        };
        for (number, line) in (1u64..).zip(lines.lines()) {
            let line = line.with_context(|| format!("{name}: line {number}"))?;
            if let Some(kmer) = line.split_whitespace().next() {
                self.answer(kmer, output).with_context(|| format!("{name}: line {number}"))?;
            }
        }
        Ok(())
    }

    fn answer(&mut self, text: &str, output: &mut impl Write) -> Result<()> {
        let header = self.table.header();
        let kmer = parse::<K>(text, header.k)?;
        let kmer =
            if header.canonical { kmer.least(kmer.reverse_complement(header.k)) } else { kmer };
        let count = self.table.get(kmer, &mut self.kmers)?;
        writeln!(output, "{text}\t{count}")?;
        Ok(())
    }
}

fn open(path: &Path) -> Result<File> {
    let reason =
        |error| anyhow!("{}: cannot open: {}", path.display(), merganser_io::reason(&error));
    File::open(path).map_err(reason)
}

fn parse<K: Kmer>(text: &str, k: usize) -> Result<K> {
    let letters = text.chars().count();
    if let Some(letter) = text.chars().find(|&letter| !is_base(letter)) {
        bail!("'{text}' has the letter '{letter}': k-mers are made of A C G T (or U)");
    }
    if letters != k {
        bail!("'{text}' has {letters} letters: the k-mers of this table have {k}");
    }
    K::from_letters(text.as_bytes()).with_context(|| format!("'{text}' is no k-mer"))
}

fn is_base(letter: char) -> bool {
    u8::try_from(letter).is_ok_and(|letter| base::code(letter).is_some())
}

//! `merganser kmers query`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Error, Result, anyhow, bail};
use merganser_count::algebra::Cut;
use merganser_count::reads::{Lookup, open_lookup};
use merganser_count::tables::AnyTable;
use merganser_run::Cancel;
use merganser_seq::base;

use super::tables;
use crate::args::kmers::QueryArgs;
use crate::interrupt;

/// k-mers that are looked up together.
const BATCH: usize = 1 << 20;
/// The first of them fewer, so that a pipe gets its first answers soon.
const FIRST_BATCH: usize = 1 << 10;

pub(super) fn run(args: &QueryArgs) -> Result<ExitCode> {
    let cancel = interrupt::cancel_on_interrupt()?;
    let opened = tables::open(&[&args.table], &args.tables, &cancel)?;
    let resources = tables::resources(&args.tables);
    let silent = merganser_run::Silent;
    // Our own tables are read where a k-mer may be; others as a whole.
    let lookup = match opened[0].as_mgk() {
        Some(_) => None,
        None => Some(open_lookup(&opened[0], Cut::NONE, &resources, &silent, &cancel)?),
    };
    let threads = resources.threads;
    let query = Query { table: &opened[0], lookup, threads, cancel: &cancel };
    let mut output = BufWriter::new(io::stdout().lock());
    let done = query.answer_all(args, &mut output);
    // Also after an error: what was answered before it stands.
    output.flush()?;
    done?;
    Ok(ExitCode::SUCCESS)
}

struct Query<'q> {
    table: &'q AnyTable,
    lookup: Option<Box<dyn Lookup>>,
    threads: usize,
    cancel: &'q Cancel,
}

impl Query<'_> {
    fn answer_all(&self, args: &QueryArgs, output: &mut impl Write) -> Result<()> {
        if let Some(file) = &args.file {
            return self.file(file, output);
        }
        let mut batch = Vec::new();
        let wrong = args.kmers.iter().find_map(|kmer| match self.check(kmer) {
            Ok(()) => {
                batch.push(kmer.clone());
                None
            }
            Err(error) => Some(error),
        });
        self.answer(&batch, output)?;
        wrong.map_or(Ok(()), Err)
    }

    /// Answers for the first word of each line.
    fn file(&self, path: &Path, output: &mut impl Write) -> Result<()> {
        let name =
            if path.as_os_str() == "-" { "stdin".into() } else { path.display().to_string() };
        let lines: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::new(open(path)?))
        };
        let (mut batch, mut most) = (Vec::new(), FIRST_BATCH);
        for (number, line) in (1u64..).zip(lines.lines()) {
            let wrong = match line {
                Ok(line) => match line.split_whitespace().next() {
                    None => continue,
                    Some(kmer) => match self.check(kmer) {
                        Ok(()) => {
                            batch.push(kmer.to_owned());
                            None
                        }
                        Err(error) => Some(error),
                    },
                },
                Err(error) => Some(Error::from(error)),
            };
            if wrong.is_some() || batch.len() == most {
                self.answer(&batch, output)?;
                batch.clear();
                most = BATCH;
            }
            if let Some(error) = wrong {
                return Err(error).with_context(|| format!("{name}: line {number}"));
            }
        }
        self.answer(&batch, output)
    }

    fn answer(&self, kmers: &[String], output: &mut impl Write) -> Result<()> {
        let counts = match (&self.lookup, self.table.as_mgk()) {
            (None, Some(table)) => table.counts(kmers, self.threads, self.cancel)?,
            (lookup, _) => {
                let mut one = Vec::new();
                let count = |kmer: &String| {
                    lookup.as_ref().map_or(0, |lookup| {
                        lookup.counts(kmer.as_bytes(), &mut one);
                        one.first().copied().unwrap_or(0)
                    })
                };
                kmers.iter().map(count).collect()
            }
        };
        for (kmer, count) in kmers.iter().zip(counts) {
            writeln!(output, "{kmer}\t{count}")?;
        }
        Ok(())
    }

    fn check(&self, text: &str) -> Result<()> {
        let k = self.table.description().k;
        if let Some(letter) = text.chars().find(|&letter| !is_base(letter)) {
            bail!("'{text}' has the letter '{letter}': k-mers are made of A C G T (or U)");
        }
        if text.len() != k {
            let letters = text.len();
            bail!("'{text}' has {letters} letters: the k-mers of this table have {k}");
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<File> {
    let reason =
        |error| anyhow!("{}: cannot open: {}", path.display(), merganser_io::reason(&error));
    File::open(path).map_err(reason)
}

fn is_base(letter: char) -> bool {
    u8::try_from(letter).is_ok_and(|letter| base::code(letter).is_some())
}

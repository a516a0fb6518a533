//! `merganser kmers dump`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use merganser_count::text::{write_number, write_tsv};
use merganser_count::{Error, Table};
use merganser_io::Output;
use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::args::kmers::{DumpArgs, DumpFormat};
use crate::failure::usage;
use crate::interrupt;

pub(super) fn run(args: &DumpArgs) -> Result<ExitCode> {
    let most = args.max_count.unwrap_or(u32::MAX);
    if args.min_count > most {
        let least = args.min_count;
        return usage(format!("--min-count {least} is larger than --max-count {most}"));
    }
    let table = Table::open(&args.table)?;
    let cancel = interrupt::cancel_on_interrupt()?;
    let mut output = Output::create(&args.output).map_err(Error::from)?;
    with_kmer!(table.header().k, K => dump::<K>(&table, args, &cancel, &mut output))?;
    output.finish().map_err(Error::from)?;
    Ok(ExitCode::SUCCESS)
}

fn dump<K: Kmer>(
    table: &Table,
    args: &DumpArgs,
    cancel: &Cancel,
    output: &mut Output,
) -> Result<(), Error> {
    let k = table.header().k;
    let counts = args.min_count..=args.max_count.unwrap_or(u32::MAX);
    let write = match args.format {
        DumpFormat::Tsv => write_tsv::<K>,
        DumpFormat::Fasta => write_fasta::<K>,
        DumpFormat::Jellyfish => write_jellyfish::<K>,
    };
    let mut text = Vec::new();
    let mut blocks = table.blocks::<K>();
    while let Some(kmers) = blocks.next()? {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        text.clear();
        for &(kmer, count) in kmers.iter().filter(|(_, count)| counts.contains(count)) {
            write(kmer, k, count, &mut text);
        }
        output.write_all(&text)?;
    }
    Ok(())
}

/// As `jellyfish dump`: the count is the record's name.
fn write_fasta<K: Kmer>(kmer: K, k: usize, count: u32, out: &mut Vec<u8>) {
    out.push(b'>');
    write_number(count, out);
    out.push(b'\n');
    kmer.write_letters(k, out);
    out.push(b'\n');
}

/// As `jellyfish dump -c`.
fn write_jellyfish<K: Kmer>(kmer: K, k: usize, count: u32, out: &mut Vec<u8>) {
    kmer.write_letters(k, out);
    out.push(b' ');
    write_number(count, out);
    out.push(b'\n');
}

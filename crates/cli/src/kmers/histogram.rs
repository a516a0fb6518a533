//! `merganser kmers histogram`.

use std::process::ExitCode;

use anyhow::Result;
use merganser_count::{Error, Header, Histogram, Table};
use merganser_io::Output;
use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use crate::args::kmers::HistogramArgs;
use crate::console::Console;
use crate::interrupt;

pub(super) fn run(args: &HistogramArgs, console: &Console) -> Result<ExitCode> {
    let table = Table::open(&args.table)?;
    let cancel = interrupt::cancel_on_interrupt()?;
    let mut output = Output::create(&args.output).map_err(Error::from)?;
    let histogram = with_kmer!(table.header().k, K => collect::<K>(&table, &cancel))?;
    let most = args.max.unwrap_or(u32::MAX);
    let beyond = histogram.write(most, &mut output).map_err(Error::from)?;
    output.finish().map_err(Error::from)?;
    if table.header().kmers < table.header().distinct_kmers {
        console.warn(format_args!("{}: {}", args.table.display(), cut(table.header())));
    }
    if beyond > 0 {
        console.warn(format_args!(
            "the histogram leaves out {beyond} distinct k-mers that occur more than {most} times \
             (--max)"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn collect<K: Kmer>(table: &Table, cancel: &Cancel) -> Result<Histogram, Error> {
    let mut histogram = Histogram::default();
    let mut blocks = table.blocks::<K>();
    while let Some(kmers) = blocks.next()? {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        kmers.iter().for_each(|&(_, count)| histogram.add(count));
    }
    Ok(histogram)
}

/// What the table does not have, and how to get it.
fn cut(header: &Header) -> String {
    let (least, most) = (header.min_count, header.max_count);
    let missing = header.distinct_kmers - header.kmers;
    let holds = if most == u32::MAX {
        format!("{least} times or more")
    } else {
        format!("{least} to {most} times")
    };
    format!(
        "the table holds only k-mers that occur {holds}: {missing} others are missing from this \
         histogram; count with --histogram for the whole one"
    )
}

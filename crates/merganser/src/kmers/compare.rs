//! `merganser kmers compare`.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use anyhow::Result;
use merganser_kmers::Error;
use merganser_kmers::algebra;

use super::tables;
use crate::args::kmers::CompareArgs;
use crate::common::check_cells;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::interrupt;

const HEADER: &str = "table_a\ttable_b\tkmers_a\tkmers_b\tshared\tjaccard\tweighted_jaccard\t\
                      in_b_of_a\tin_a_of_b\tmash_distance\n";

pub(super) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let (paths, cuts) = tables::operands(&args.operands)?;
    check_cells(&args.operands)?;
    interrupt::cancel_on_interrupt();
    let opened = tables::open(&paths, &args.tables)?;
    let outputs =
        RunFiles::new().read(tables::files(&opened)).write(Holds::LINES, [&args.output]).check()?;
    let mut output = outputs.output(&args.output).map_err(Error::from)?;
    let context = tables::context(&args.tables, None);
    let all = algebra::compare_with(&opened, &cuts, &context)?;
    output.write_all(HEADER.as_bytes()).map_err(Error::from)?;
    for pair in &all.pairs {
        let (a, b) = pair.tables;
        let (of_a, of_b) = all.containment(pair);
        for table in [a, b] {
            output.write_all(args.operands[table].as_bytes()).map_err(Error::from)?;
            output.write_all(b"\t").map_err(Error::from)?;
        }
        writeln!(
            output,
            "{}\t{}\t{}\t{:.6}\t{:.6}\t{of_a:.6}\t{of_b:.6}\t{:.6}",
            all.kmers[a],
            all.kmers[b],
            pair.shared,
            all.jaccard(pair),
            all.weighted_jaccard(pair),
            all.mash_distance(pair)
        )
        .map_err(Error::from)?;
    }
    output.finish().map_err(Error::from)?;
    outputs.commit_last().map_err(Error::from)?;
    Ok(ExitCode::SUCCESS)
}

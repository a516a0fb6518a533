//! `merganser db taxa`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use merganser_classify::{Target, TargetSum, TargetSums};
use merganser_io::Output;
use merganser_taxonomy::Taxonomy;

use crate::args::db::DbTaxaArgs;
use crate::database::{self, AnyDatabase};
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;

pub(super) fn run(args: &DbTaxaArgs) -> Result<ExitCode> {
    let database = AnyDatabase::open(&args.database)?;
    let outputs = RunFiles::new()
        .read(database::files(&args.database)?)
        .write(Holds::LINES, [&args.output])
        .check()?;
    let mut output = outputs.output(&args.output)?;
    let (tree, targets) = match &database {
        AnyDatabase::Own(database) => (database.taxonomy(), Some(database.targets())),
        AnyDatabase::Kraken2(_) => (database.taxonomy(), None),
    };
    match (args.sequences, targets) {
        (false, targets) => taxa(tree, targets, args, &mut output)?,
        (true, Some(targets)) => sequences(tree, targets, &mut output)?,
        (true, None) => {
            return failure::usage(
                "--sequences: databases of Kraken 2 do not contain the names of sequences",
            );
        }
    }
    output.finish()?;
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}

fn sequences(tree: &Taxonomy, targets: &[Target], output: &mut Output) -> Result<()> {
    writeln!(output, "sequence\ttaxid\trank\tname\tbases\twindows")?;
    for target in targets {
        let (node, bases, windows) = (target.node, target.bases, target.windows);
        let (taxid, rank, name) = (tree.taxid(node), tree.rank_name(node), tree.name(node));
        writeln!(output, "{}\t{taxid}\t{rank}\t{name}\t{bases}\t{windows}", target.name)?;
    }
    Ok(())
}

/// Writes the taxa in the order of the tree, which is depth first. Databases of Kraken 2 have no `targets`, and no columns
/// for their numbers.
fn taxa(
    tree: &Taxonomy,
    targets: Option<&[Target]>,
    args: &DbTaxaArgs,
    output: &mut Output,
) -> Result<()> {
    let sums = targets.map(|targets| TargetSums::of(tree, targets));
    let more = if sums.is_some() { SUMS } else { "" };
    writeln!(output, "taxid\trank\tname\tparent{more}")?;
    for node in 0..tree.len() as u32 {
        if args.rank.is_some_and(|rank| tree.rank(node) != rank) {
            continue;
        }
        let (taxid, rank, name) = (tree.taxid(node), tree.rank_name(node), tree.name(node));
        let parent = tree.taxid(tree.parent(node));
        write!(output, "{taxid}\t{rank}\t{name}\t{parent}")?;
        for sums in sums.iter().flat_map(|sums| [&sums.own, &sums.clades]) {
            let TargetSum { sequences, bases } = sums[node as usize];
            write!(output, "\t{sequences}\t{bases}")?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// The headings of the numbers of sequences and bases.
const SUMS: &str = "\tsequences\tbases\tclade_sequences\tclade_bases";

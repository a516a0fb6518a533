//! `merganser db taxa`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use merganser_classify::Target;
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
    let targets = match &database {
        AnyDatabase::Own(database) => database.targets(),
        AnyDatabase::Kraken2(_) if args.sequences => {
            return failure::usage(
                "--sequences: databases of Kraken 2 do not contain the names of sequences",
            );
        }
        AnyDatabase::Kraken2(_) => &[],
    };
    match args.sequences {
        true => sequences(database.taxonomy(), targets, &mut output)?,
        false => taxa(database.taxonomy(), targets, args, &mut output)?,
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

/// Writes the taxa in the order of the tree, which is depth first.
fn taxa(tree: &Taxonomy, targets: &[Target], args: &DbTaxaArgs, output: &mut Output) -> Result<()> {
    let mut own = vec![(0u64, 0u64); tree.len()];
    for target in targets {
        let (sequences, bases) = &mut own[target.node as usize];
        *sequences += 1;
        *bases += target.bases;
    }
    let mut clades = own.clone();
    for node in (1..tree.len()).rev() {
        let (sequences, bases) = clades[node];
        let above = &mut clades[tree.parent(node as u32) as usize];
        *above = (above.0 + sequences, above.1 + bases);
    }
    writeln!(output, "taxid\trank\tname\tparent\tsequences\tbases\tclade_sequences\tclade_bases")?;
    for node in 0..tree.len() as u32 {
        if args.rank.is_some_and(|rank| tree.rank(node) != rank) {
            continue;
        }
        let (taxid, rank, name) = (tree.taxid(node), tree.rank_name(node), tree.name(node));
        let parent = tree.taxid(tree.parent(node));
        let ((sequences, bases), (all, all_bases)) = (own[node as usize], clades[node as usize]);
        writeln!(
            output,
            "{taxid}\t{rank}\t{name}\t{parent}\t{sequences}\t{bases}\t{all}\t{all_bases}"
        )?;
    }
    Ok(())
}

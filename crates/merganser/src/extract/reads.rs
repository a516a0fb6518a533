//! `merganser extract reads`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use merganser_alignments::{ReadFormat, put_files, quoted};
use merganser_io::{Input, QualityOffset, ReadInput};
use merganser_report::multiqc::Kind;
use merganser_taxonomy::{Dump, TaxonomySource};
use merganser_taxreport::extract::{
    ExtractConfig, ExtractOutcome, ExtractPaths, relatives_in_report, relatives_in_taxonomy, run_in,
};
use merganser_taxreport::report::KrakenReport;

use super::{outputs, page};
use crate::args::extract::{ExtractFormat, ExtractReadsArgs};
use crate::args::taxon::{TaxonArg, has_names, taxids};
use crate::common::{self, tell_skipped, unit};
use crate::console::{self, Console};
use crate::database::{self, AnyDatabase};
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds, note_interleaved, refuse_other_reads};
use crate::interrupt;
use crate::pages::Pages;
use crate::taxa_by_name::{taxids_in_report, taxids_in_taxonomy};
use merganser_run::thousands;

pub(super) fn run(args: &ExtractReadsArgs, console: &Console) -> Result<ExitCode> {
    check(args)?;
    let segments = segments(args)?;
    let inputs: Vec<Input> = segments.iter().flat_map(ReadInput::inputs).cloned().collect();
    args.reads.hint_at_mates(&segments, "extracted", console);
    let paths = outputs::paths(args, &segments)?;
    let is_fasta = args.format() == ExtractFormat::Fasta;
    let (format, command) = (args.given_format.map(ReadFormat::from), command(args, &segments));
    let tags = args.tags.clone().unwrap_or_default();
    let paths = ExtractPaths { reads: paths, format, command, tags };
    let are_alignments = paths.are_alignments()?;
    let names: Vec<PathBuf> = paths.reads.all().map(Path::to_owned).collect();
    let set = RunFiles::new()
        .lists(args.reads.lists())
        .inputs(&inputs)
        .read(others(args)?)
        .write(ExtractFormat::holds(args.given_format, Holds::ANY_READS), &names)
        .write_each(Pages::paths(&args.pages, Kind::Selection, None))
        .check()?;
    let mut pages = Pages::create(&args.pages, Kind::Selection, None, &set)?;
    if !is_fasta {
        refuse_other_reads(&names, &inputs)?;
    }
    interrupt::cancel_on_interrupt();
    pages.profile(inputs.iter(), QualityOffset::default());
    let config = ExtractConfig {
        exclude: args.exclude,
        any_names: args.reads.pairs.any_names,
        fasta: is_fasta,
        ..taxa(args)?
    };
    let context = common::context(args.threads.number(), args.memory, None, None);
    let outcome = run_in(&config, &args.lines, &segments, (&paths, &set), &context)?;
    if Pages::is_wanted(&args.pages) {
        pages.write(Kind::Selection, page::of(args, &segments, &outcome))?;
    }
    set.commit_last()?;
    ExtractFormat::note(args.given_format, &args.output, console);
    let pairs = !are_alignments && segments.iter().any(ReadInput::is_paired);
    note_interleaved(&names, pairs, "a # in its name, or --output2, makes two files", console);
    tell(args, &outcome, unit(&segments), console);
    Ok(ExitCode::SUCCESS)
}

/// Returns the command that headers of alignments name: what decides the records, and the reads.
fn command(args: &ExtractReadsArgs, segments: &[ReadInput]) -> String {
    let taxa: Vec<String> = args.taxid.iter().map(TaxonArg::to_string).collect();
    let mut command = format!("merganser extract reads --taxid {}", quoted(&taxa.join(",")));
    for (given, option) in [
        (args.include_children, " --include-children"),
        (args.include_parents, " --include-parents"),
        (args.exclude, " --exclude"),
        (args.reads.pairs.any_names, " --any-names"),
    ] {
        command.push_str(if given { option } else { "" });
    }
    for (option, path) in [
        ("--lines", Some(&args.lines)),
        ("--report", args.report.as_ref()),
        ("--taxonomy", args.taxonomy.as_ref()),
        ("--database", args.database.as_ref()),
    ] {
        if let Some(path) = path {
            command += &format!(" {option} {}", quoted(&path.display().to_string()));
        }
    }
    put_files(None, segments, &mut command);
    command
}

/// Checks that the arguments are compatible.
fn check(args: &ExtractReadsArgs) -> Result<()> {
    let relatives = args.include_children || args.include_parents;
    let tree = args.report.is_some() || args.taxonomy.is_some() || args.database.is_some();
    if relatives && !tree {
        return usage(
            "--include-children and --include-parents need a taxonomy: give --report, \
             --taxonomy or --database",
        );
    }
    if has_names(&args.taxid) && !tree {
        return usage(
            "--taxid: the names of taxa are unknown: give taxids, or --report, --taxonomy or --database",
        );
    }
    if args.report.is_some() && !relatives && !has_names(&args.taxid) {
        return usage(
            "--report requires --include-children, --include-parents, or names in --taxid",
        );
    }
    Ok(())
}

/// Returns the files that are read in addition to the reads.
fn others(args: &ExtractReadsArgs) -> Result<Vec<PathBuf>> {
    let mut files = vec![args.lines.clone()];
    files.extend(args.report.clone());
    files.extend(args.taxonomy.iter().flat_map(|path| TaxonomySource::from(path).files()));
    if let Some(path) = &args.database {
        files.extend(database::files(path)?);
    }
    Ok(files)
}

/// Returns the reads. Stdin can have either one file of reads or the lines.
fn segments(args: &ExtractReadsArgs) -> Result<Vec<ReadInput>> {
    let lines = Input::Stdin;
    args.reads.segments((args.lines.as_os_str() == "-").then_some(&lines))
}

/// Returns the selected taxa, including relatives if requested, and all known taxa.
fn taxa(args: &ExtractReadsArgs) -> Result<ExtractConfig> {
    let (children, parents) = (args.include_children, args.include_parents);
    let found = if let Some(path) = &args.report {
        let report = KrakenReport::read(path, &console::warnings())?;
        let taxids = taxids_in_report(&args.taxid, &report, path)?;
        relatives_in_report(&report, &taxids, children, parents)
    } else if let Some(folder) = &args.taxonomy {
        let dump = Dump::read(folder)?;
        let taxids = taxids_in_taxonomy(&args.taxid, &dump.taxonomy, folder)?;
        relatives_in_taxonomy(&dump.taxonomy, &taxids, children, parents)
    } else if let Some(path) = &args.database {
        let database = AnyDatabase::open(path)?;
        let taxids = taxids_in_taxonomy(&args.taxid, database.taxonomy(), path)?;
        relatives_in_taxonomy(database.taxonomy(), &taxids, children, parents)
    } else {
        return Ok(ExtractConfig::new(taxids(&args.taxid, &[], "no taxonomy")?));
    };
    found.warn(&console::warnings());
    Ok(found.into())
}

/// Prints the results; `unit` is the word for the reads, of which a pair is one.
fn tell(args: &ExtractReadsArgs, outcome: &ExtractOutcome, unit: &str, console: &Console) {
    if let Some(read) = &outcome.out_of_order {
        console.info(format_args!(
            "reads and lines are in different orders from read {read} on: names were kept in memory"
        ));
    }
    tell_skipped(outcome.skipped_alignments, console);
    let [extracted, all] = [outcome.extracted, outcome.records].map(thousands);
    console.info(format_args!("{extracted} of {all} {unit} were extracted"));
    if outcome.extracted == 0 && outcome.records > 0 {
        let strains = match args.report {
            Some(_) => {
                ". Lines of a .mgdb name species by default, and only its reports have strains"
            }
            None => "",
        };
        console.warn(format_args!(
            "no read was extracted: no line has a taxon that was asked for{strains}"
        ));
    }
    if let Some(peak) = outcome.peak_memory {
        console.debug(format_args!("peak memory {}", merganser_run::format_size(peak)));
    }
}

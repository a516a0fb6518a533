//! `merganser report merge` of partial results.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use merganser_classify::partial::{JoinedResults, join};
use merganser_io::{FileKind, Output, is_read_once, open_file, reason};

use crate::args::name_of;
use crate::args::report::{MergedFormat, ReportMergeArgs};
use crate::console::{self, Console};
use crate::failure::{refuse_given, usage};
use crate::interrupt;
use merganser_run::thousands;

fn is_partial(path: &Path) -> bool {
    FileKind::of_path(path) == Some(FileKind::Partial)
}

/// Whether the inputs are partial results. They can be mixed with reports only in a table, where each is a sample.
/// Missing files are ignored here; reading them reports the error.
///
/// # Errors
/// If only some of them are partial results, and the format is not a table.
pub(super) fn are_partial(args: &ReportMergeArgs) -> Result<bool> {
    let is_other =
        |path: &&PathBuf| !is_partial(path) && (path.as_os_str() == "-" || path.exists());
    let partial = args.reports.iter().find(|path| is_partial(path));
    match (partial, args.reports.iter().find(is_other)) {
        (Some(_), Some(other)) if args.format != MergedFormat::Table && is_read_once(other) => {
            // It may have partial results, but cannot be checked without reading from it.
            let why = open_file(other).err().map(|error| reason(&error)).unwrap_or_default();
            bail!("{}: {why}", other.display())
        }
        (Some(partial), Some(other)) if args.format != MergedFormat::Table => bail!(
            "{} has partial results, and {} is something else: only results of the same kind can be \
             joined",
            partial.display(),
            other.display()
        ),
        (_, other) => Ok(other.is_none()),
    }
}

/// Checks that the options are compatible with the format.
///
/// # Errors
/// Names the option that is not.
pub(super) fn check(args: &ReportMergeArgs, are_partial: bool) -> Result<()> {
    use MergedFormat::{Abundance, Cami, Kreport, Krona, Mpa, Table};
    let format = args.format;
    if !are_partial && !matches!(format, Table | Kreport) {
        return usage(format!(
            "--format {}: requires partial results (classify --partial), and these are reports",
            name_of(&format)
        ));
    }
    let of = |formats: &[MergedFormat]| are_partial && formats.contains(&format);
    let given = [
        (args.report_zero_counts && !of(&[Kreport, Mpa]), "--report-zero-counts"),
        (args.bases && !of(&[Kreport, Mpa, Krona, Abundance]), "--bases"),
        (args.min_reads.is_some() && !of(&[Abundance, Cami]), "--min-reads"),
        (args.sample_id.is_some() && !of(&[Cami]), "--sample-id"),
    ];
    refuse_given(&given, |option| {
        format!("{option} cannot be used with --format {} of these files", name_of(&format))
    })
}

/// Joins all files, and writes the requested format.
///
/// # Errors
/// Returns the errors of joining and of writing.
pub(super) fn write(args: &ReportMergeArgs, output: &mut Output, console: &Console) -> Result<()> {
    let joined = join(&args.reports, &interrupt::cancel_on_interrupt())?;
    let bases = args.bases.then(|| joined.in_bases()).transpose()?;
    let shown = bases.as_ref().unwrap_or(&joined);
    let (zeros, least) = (args.report_zero_counts, args.min_reads.unwrap_or(0));
    match args.format {
        MergedFormat::Table | MergedFormat::Kreport => {
            shown.warn(&console::warnings());
            shown.write_report(zeros, output)?;
        }
        MergedFormat::Mpa => shown.write_mpa(zeros, output)?,
        MergedFormat::Krona => shown.write_krona(output)?,
        MergedFormat::Abundance => {
            let abundance = joined.abundance(least);
            match &bases {
                Some(bases) => {
                    let bases = abundance.of_bases(bases.tally(), joined.targets());
                    abundance.write_with_bases(&bases, output)?;
                }
                None => abundance.write(output)?,
            }
        }
        MergedFormat::Cami => {
            let sample = args.sample_id.as_deref().unwrap_or("sample");
            joined.abundance(least).write_cami(sample, output)?;
        }
    }
    tell(&joined, args.reports.len(), console);
    Ok(())
}

/// Prints the numbers of files, of reads, and of reads that have a taxon.
pub(crate) fn tell(joined: &JoinedResults, files: usize, console: &Console) {
    let (classified, reads) = (joined.classified(), joined.reads());
    let percent = 100.0 * classified as f64 / reads.max(1) as f64;
    console.info(format_args!(
        "{files} files: classified {} of {} reads ({percent:.2} %)",
        thousands(classified),
        thousands(reads)
    ));
}

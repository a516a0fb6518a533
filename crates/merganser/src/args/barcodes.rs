//! The options of `merganser search` that concern the ends of reads.

use std::path::PathBuf;

use clap::Args;
use merganser_search::BarcodeOptions;

/// The options of other searches, which have no meaning for the ends of reads.
pub(super) const OTHERS: [&str; 19] = [
    "primers",
    "hamming",
    "strand",
    "n_matches",
    "all_ends",
    "overhang",
    "pam",
    "pam_first",
    "seed",
    "given_format",
    "off_targets",
    "score",
    "report_html",
    "report_data",
    "multiqc",
    "sample_name",
    "explain",
    "device",
    "gpu_memory",
];

#[derive(Args, Debug)]
#[group(skip)]
pub(crate) struct BarcodeArgs {
    /// File of samples, lines of SAMPLE<TAB>BARCODE or SAMPLE<TAB>FRONT<TAB>REAR, or FASTA: divides reads among the
    /// samples; {} in the name of -o is replaced by the sample, or by unassigned
    #[arg(long, value_name = "FILE", help_heading = "Barcodes", display_order = 0)]
    #[arg(conflicts_with_all = ["pattern", "patterns"])]
    pub(crate) demultiplex: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: BarcodeOptions,
}

impl BarcodeArgs {
    /// Whether reads are written, and not hits.
    pub(crate) fn writes_reads(&self) -> bool {
        self.demultiplex.is_some() || self.options.trim
    }
}

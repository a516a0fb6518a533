//! Options for pages and plots of results.

use std::path::PathBuf;

use clap::Args;

/// What people look at.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct PageArgs {
    /// Write a page with the results as charts and tables, for a browser: one file, no network
    #[arg(long, value_name = "FILE", value_parser = file, help_heading = "Pages")]
    pub(crate) report_html: Option<PathBuf>,
    /// Write what the page is made of, for `merganser report html` and `report plot` of several
    /// samples
    #[arg(long, value_name = "FILE", value_parser = file, help_heading = "Pages")]
    pub(crate) report_data: Option<PathBuf>,
    /// Write sections of MultiQC's report: PREFIX.merganser_*
    #[arg(long, value_name = "PREFIX", value_parser = file, help_heading = "Pages")]
    pub(crate) multiqc: Option<PathBuf>,
    /// The sample's name in these [default: that of the first input]
    #[arg(long, value_name = "NAME", help_heading = "Pages")]
    pub(crate) sample_name: Option<String>,
}

/// A file's name: other outputs have stdout.
fn file(text: &str) -> Result<PathBuf, String> {
    match text {
        "" | "-" => Err("give the name of a file".to_owned()),
        name => Ok(name.into()),
    }
}

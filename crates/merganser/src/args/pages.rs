//! The options for pages and plots of results.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::common::text_of;
use crate::pages::shared::SampleResults;
use crate::samples::of_sample;

/// Outputs for people to look at.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(group = ArgGroup::new("page").args(["report_html", "report_data", "multiqc"]).multiple(true))]
pub(crate) struct PageArgs {
    /// Write an HTML page with charts and tables of the results; a single file, readable offline
    #[arg(long, value_name = "FILE", value_parser = file, help_heading = "Pages")]
    pub(crate) report_html: Option<PathBuf>,
    /// Write the data of the page, to show several samples with `report html` or `report plot`
    #[arg(long, value_name = "FILE", value_parser = file, help_heading = "Pages")]
    pub(crate) report_data: Option<PathBuf>,
    /// Write sections for a MultiQC report, as files named PREFIX.merganser_*
    #[arg(long, value_name = "PREFIX", value_parser = file, help_heading = "Pages")]
    pub(crate) multiqc: Option<PathBuf>,
    /// Name of the sample in these files [default: the name of the first input]
    #[arg(long, value_name = "NAME", help_heading = "Pages", requires = "page")]
    pub(crate) sample_name: Option<String>,
    /// The results of a sample of a sheet, for the page of all samples.
    #[arg(skip)]
    pub(crate) results: SampleResults,
}

impl PageArgs {
    /// Returns the options that name files, with the files.
    pub(crate) fn places(&self) -> [(&'static str, Option<&PathBuf>); 3] {
        [
            ("--report-html", self.report_html.as_ref()),
            ("--report-data", self.report_data.as_ref()),
            ("--multiqc", self.multiqc.as_ref()),
        ]
    }

    /// Returns the options of one sample, with its own files.
    pub(crate) fn of_sample(&self, name: &OsStr) -> PageArgs {
        let own = |path: &Option<PathBuf>| path.as_deref().map(|path| of_sample(path, Some(name)));
        PageArgs {
            report_html: own(&self.report_html),
            report_data: own(&self.report_data),
            multiqc: own(&self.multiqc),
            sample_name: Some(text_of(name)),
            results: self.results.clone(),
        }
    }
}

/// Parses a file's name. It cannot be `-`, because other outputs use stdout.
pub(super) fn file(text: &str) -> Result<PathBuf, String> {
    match text {
        "" | "-" => Err("give the name of a file".to_owned()),
        name => Ok(name.into()),
    }
}

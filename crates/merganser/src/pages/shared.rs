//! One page for all samples of a sheet.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use merganser_io::{Output, OutputSet};
use merganser_report::data::Data;
use merganser_report::html::PageWriter;
use merganser_run::Shard;
use merganser_run::locks::lock;

use crate::args::pages::PageArgs;
use crate::failure;
use crate::holds::Holds;
use crate::samples::has_place_for_sample;

/// The place where a sample leaves its results, as a line of JSON, for the page of all samples.
#[derive(Clone, Default)]
pub(crate) struct SampleResults(Option<Arc<Mutex<Option<String>>>>);

impl SampleResults {
    /// Whether the results are wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Leaves the results of a sample, if they are wanted.
    ///
    /// # Errors
    /// If they cannot be written as JSON.
    pub(super) fn put(&self, data: &Data) -> serde_json::Result<()> {
        if let Some(place) = &self.0 {
            *lock(place) = Some(data.to_line()?);
        }
        Ok(())
    }

    /// Takes the results that were left here.
    fn take(&self) -> Option<String> {
        lock(self.0.as_ref()?).take()
    }
}

/// Writes nothing that depends on the value: the key of a sample in the journal has this text, and its outputs are the same
/// with and without a page of all samples.
impl fmt::Debug for SampleResults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SampleResults")
    }
}

impl PartialEq for SampleResults {
    fn eq(&self, other: &SampleResults) -> bool {
        self.is_wanted() == other.is_wanted()
    }
}

/// The files of `--report-html` and `--report-data` whose names have no `{}`, so that they are for all samples of a sheet.
#[derive(Debug, Default)]
pub(crate) struct SharedPaths {
    html: Option<PathBuf>,
    data: Option<PathBuf>,
    results: SampleResults,
}

impl SharedPaths {
    /// Takes the files for all samples from the options of a run; the options that remain are those of each sample. Without
    /// a sheet, there are no such files.
    pub(crate) fn take(args: &mut PageArgs, sheet: Option<&Path>) -> SharedPaths {
        if sheet.is_none() {
            return SharedPaths::default();
        }
        let take = |path: &mut Option<PathBuf>| path.take_if(|path| !has_place_for_sample(path));
        let (html, data) = (take(&mut args.report_html), take(&mut args.report_data));
        let results = SampleResults((html.is_some() || data.is_some()).then(Arc::default));
        args.results = results.clone();
        SharedPaths { html, data, results }
    }

    /// Refuses files for all samples if the run has only some of them: every shard would write the same files.
    ///
    /// # Errors
    /// A usage error.
    pub(crate) fn refuse_shard(&self, shard: Option<Shard>) -> Result<()> {
        match self.results.is_wanted() && shard.is_some() {
            true => failure::usage(
                "--shard: each shard has a page of its own samples: put {} into the names of --report-data, and show all with `report html`",
            ),
            false => Ok(()),
        }
    }

    /// Returns the paths with their formats.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (Holds, PathBuf)> {
        let html = self.html.iter().map(|path| (Holds::PAGE, path.clone()));
        html.chain(self.data.iter().map(|path| (Holds::JSON, path.clone())))
    }

    /// Creates the files; `samples` are the names of all samples. Returns `None` if there are no files.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub(crate) fn create<'n>(
        self,
        command: &'static str,
        samples: impl Iterator<Item = &'n str>,
        set: &OutputSet,
    ) -> Result<Option<SharedPages>> {
        let SharedPaths { html, data, results } = self;
        if !results.is_wanted() {
            return Ok(None);
        }
        let open = |path: Option<PathBuf>| path.map(|path| set.output(path)).transpose();
        let samples: Vec<&str> = samples.collect();
        let begin = |output| PageWriter::begin(output, &samples);
        let html = open(html)?.map(begin).transpose()?;
        Ok(Some(SharedPages { command, html, data: open(data)?, results }))
    }
}

/// The page and the data of all samples, to which the samples are added one after the other.
#[derive(Debug)]
pub(crate) struct SharedPages {
    command: &'static str,
    html: Option<PageWriter<Output>>,
    data: Option<Output>,
    results: SampleResults,
}

impl SharedPages {
    /// Takes the results that the last sample left, as a line of JSON.
    pub(crate) fn take(&self) -> Option<String> {
        self.results.take()
    }

    /// Adds the results of a sample, as a line of JSON.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn add(&mut self, line: &str) -> Result<()> {
        if let Some(page) = &mut self.html {
            page.add(line)?;
        }
        if let Some(data) = &mut self.data {
            writeln!(data, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Adds a sample that failed, which has no results.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn add_failed(&mut self, sample: &str) -> Result<()> {
        let mut data = Data::new(env!("CARGO_PKG_VERSION"), self.command, sample);
        data.warnings.push("This sample failed, and has no results here.".to_owned());
        self.add(&data.to_line()?)
    }

    /// Finishes the files, which then only need to be committed.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn finish(self) -> Result<()> {
        let html = self.html.map(PageWriter::end).transpose()?;
        for output in html.into_iter().chain(self.data) {
            output.finish()?;
        }
        Ok(())
    }
}

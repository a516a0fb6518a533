//! The pages of a run: `--report-html`, `--report-data` and `--multiqc`.

pub(crate) mod assembly;
pub(crate) mod decisions;
pub(crate) mod mapping;
mod profile;
pub(crate) mod shared;
pub(crate) mod spectrum;
pub(crate) mod taxa;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use merganser_io::{Input, Output, OutputFormat, OutputSet, QualityOffset, ReadInput};
use merganser_report::data::Data;
use merganser_report::multiqc::{self, Kind};
use merganser_report::{Picture, html};

use crate::args::pages::PageArgs;
use crate::common::text_of;
use crate::holds::Holds;
use crate::samples::of_sample;
use profile::Profiles;
use shared::SampleResults;

/// Outputs that are open, so that one that cannot be written ends the run at its start.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    html: Option<Output>,
    data: Option<Output>,
    multiqc: Vec<Output>,
    results: SampleResults,
    profiles: Option<Profiles>,
}

impl Pages {
    /// Returns the paths of all files with their formats; `{}` is replaced by the sample's name.
    pub(crate) fn paths(
        args: &PageArgs,
        kind: Kind,
        sample: Option<&OsStr>,
    ) -> Vec<(Holds, PathBuf)> {
        let html = args.report_html.iter().map(|path| (Holds::PAGE, of_sample(path, sample)));
        let data = args.report_data.iter().map(|path| (Holds::JSON, of_sample(path, sample)));
        let sections = sections(args, kind, sample).into_iter();
        html.chain(data).chain(sections.map(|path| (Holds::ANYTHING, path))).collect()
    }

    /// Creates all files.
    ///
    /// # Errors
    /// If one cannot be created.
    pub(crate) fn create(
        args: &PageArgs,
        kind: Kind,
        sample: Option<&OsStr>,
        set: &OutputSet,
    ) -> Result<Pages, merganser_io::Error> {
        let open = |path: &Option<PathBuf>| {
            path.as_deref().map(|path| set.output(of_sample(path, sample))).transpose()
        };
        let sections = sections(args, kind, sample);
        let multiqc = sections.iter().map(|path| set.output(path)).collect::<Result<_, _>>()?;
        Ok(Pages {
            html: open(&args.report_html)?,
            data: open(&args.report_data)?,
            multiqc,
            results: args.results.clone(),
            profiles: None,
        })
    }

    /// Begins to take profiles of the reads beside the run, if a page shows them.
    pub(crate) fn profile<'i>(
        &mut self,
        inputs: impl Iterator<Item = &'i Input>,
        offset: QualityOffset,
    ) {
        if self.html.is_some() || self.data.is_some() || self.results.is_wanted() {
            self.profiles = Some(Profiles::begin(inputs, offset));
        }
    }

    /// Whether any page was requested.
    pub(crate) fn is_wanted(args: &PageArgs) -> bool {
        Pages::has_own(args) || args.results.is_wanted()
    }

    /// Whether a page was requested that is not one of all samples.
    pub(crate) fn has_own(args: &PageArgs) -> bool {
        args.report_html.is_some() || args.report_data.is_some() || args.multiqc.is_some()
    }

    /// Writes and finishes all files, with the profiles of the reads.
    ///
    /// # Errors
    /// If one cannot be written.
    pub(crate) fn write(self, kind: Kind, mut data: Data) -> anyhow::Result<()> {
        let Pages { html, data: line, multiqc, results, profiles } = self;
        if let Some(profiles) = profiles {
            profiles.add_to(&mut data)?;
        }
        let data = &data;
        results.put(data)?;
        let put = |output: Option<Output>, text: &dyn Fn() -> io::Result<String>| {
            let Some(mut output) = output else { return anyhow::Ok(()) };
            output.write_all(text()?.as_bytes())?;
            output.finish()?;
            Ok(())
        };
        put(html, &|| html::page(std::slice::from_ref(data)).map_err(io::Error::other))?;
        put(line, &|| data.to_line().map_err(io::Error::other))?;
        let texts = if multiqc.is_empty() { Vec::new() } else { multiqc::files(kind, data) };
        for (output, text) in multiqc.into_iter().zip(texts) {
            put(Some(output), &|| Ok(text.clone()))?;
        }
        Ok(())
    }
}

/// Returns the paths of MultiQC's sections.
fn sections(args: &PageArgs, kind: Kind, sample: Option<&OsStr>) -> Vec<PathBuf> {
    let Some(prefix) = &args.multiqc else { return Vec::new() };
    let prefix = of_sample(prefix, sample);
    let path = |suffix: &String| {
        let mut name: OsString = prefix.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    kind.suffixes().iter().map(path).collect()
}

/// Returns the data of a page without results: the command, the sample and the inputs.
pub(crate) fn frame<'a>(
    command: &str,
    args: &PageArgs,
    sample: Option<&OsStr>,
    inputs: impl Iterator<Item = &'a Input>,
) -> Data {
    let inputs: Vec<String> = inputs.map(name_of).collect();
    let sample = args.sample_name.clone().or_else(|| sample.map(text_of));
    let sample = sample.unwrap_or_else(|| sample_of(&inputs));
    Data { inputs, ..Data::new(env!("CARGO_PKG_VERSION"), command, &sample) }
}

/// Returns all files of these reads.
pub(crate) fn inputs_of(segments: &[ReadInput]) -> impl Iterator<Item = &Input> {
    segments.iter().flat_map(ReadInput::inputs)
}

/// Returns an input's name without its folder.
fn name_of(input: &Input) -> String {
    input.path().and_then(Path::file_name).map_or_else(|| "stdin".to_owned(), text_of)
}

/// Returns the first input's name up to the first dot; if there are several inputs, without the mate's number.
fn sample_of(inputs: &[String]) -> String {
    let Some(first) = inputs.first() else { return "sample".to_owned() };
    let stem = first.split('.').find(|part| !part.is_empty()).unwrap_or(first);
    let mates = if inputs.len() > 1 { &["_R1_001", "_R1", "_1"][..] } else { &[] };
    mates.iter().find_map(|mate| stem.strip_suffix(mate)).unwrap_or(stem).to_owned()
}

/// Draws a plot in the format that a file's name asks for: PNG, PDF or, for any other name, SVG.
///
/// # Errors
/// If it would have too many pixels.
pub(crate) fn drawn(picture: &Picture, path: &Path, dpi: u32) -> anyhow::Result<Vec<u8>> {
    Ok(match OutputFormat::of_name(path) {
        Some(OutputFormat::Png) => picture.png(dpi)?,
        Some(OutputFormat::Pdf) => picture.pdf()?,
        _ => picture.svg().into_bytes(),
    })
}

/// Makes a parameter of a name and a value.
pub(crate) fn parameter(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

#[cfg(test)]
mod tests {
    use super::sample_of;

    #[test]
    fn samples_have_the_names_of_their_files() {
        for (inputs, sample) in [
            (&["a_1.fq.gz", "a_2.fq.gz"][..], "a"),
            (&["s_L001_R1_001.fastq", "s_L001_R2_001.fastq"], "s_L001"),
            (&["x_1.fq"], "x_1"),
            (&[".hidden.fa"], "hidden"),
            (&["stdin"], "stdin"),
            (&[], "sample"),
        ] {
            let inputs: Vec<String> = inputs.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(sample_of(&inputs), sample);
        }
    }
}

//! Reading of results of runs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use merganser_io::is_read_once;
use merganser_report::data::Data;
use merganser_report::taxa;
use merganser_taxreport::report::KrakenReport;

use super::sample_of;
use crate::common::text_of;
use crate::console;

/// The maximum size of a file of results in bytes; a page of more data would be unusable.
const LARGEST: u64 = 1 << 30;

/// Reads files of `--report-data` and Kraken-style reports, in order.
///
/// # Errors
/// Names the first file that is neither, or cannot be read.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<Data>> {
    let mut all = Vec::new();
    for path in paths {
        match lines(path)? {
            Some(text) => match Data::parse(&text) {
                Ok(data) => all.extend(data),
                Err((line, why)) => bail!("{}: line {line}: {why}", path.display()),
            },
            None => all.push(of_report(path)?),
        }
    }
    Ok(all)
}

/// Returns the text of a file of results; `None` if the file begins otherwise, or is a pipe, from which nothing must
/// be read here.
fn lines(path: &Path) -> Result<Option<String>> {
    let at = |error| anyhow!("{}: {}", path.display(), merganser_io::reason(&error));
    if is_read_once(path) {
        return Ok(None);
    }
    let file = File::open(path).map_err(at)?;
    let mut text = Vec::new();
    (&file).take(1).read_to_end(&mut text).map_err(at)?;
    if text != b"{" {
        return Ok(None);
    }
    file.take(LARGEST).read_to_end(&mut text).map_err(at)?;
    if text.len() as u64 > LARGEST {
        bail!("{}: more than 1 GiB of results: no page can show them", path.display());
    }
    match String::from_utf8(text) {
        Ok(text) => Ok(Some(text)),
        Err(_) => bail!("{}: not results of a run: not a text", path.display()),
    }
}

/// Reads a report's taxa; the sample is named after the file.
fn of_report(path: &Path) -> Result<Data> {
    let report = KrakenReport::read(path, &console::warnings())?;
    let input = path.file_name().map_or_else(|| "stdin".to_owned(), text_of);
    Ok(taxa::data(&text_of(&sample_of(path)), input, &report))
}

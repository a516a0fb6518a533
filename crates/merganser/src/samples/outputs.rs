//! Names of outputs, in which `{}` is replaced by a sample's name.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::args::pages::PageArgs;
use crate::failure;

/// Returns the path of an output for a sample, whose name replaces `{}`; without a sample, `path` as it is.
pub(crate) fn of_sample(path: &Path, sample: Option<&OsStr>) -> PathBuf {
    let Some(sample) = sample else { return path.to_owned() };
    let mut rest = path.as_os_str().as_bytes();
    let mut name = Vec::new();
    while let Some(place) = find(rest, b"{}") {
        name.extend_from_slice(&rest[..place]);
        name.extend_from_slice(sample.as_bytes());
        rest = &rest[place + 2..];
    }
    name.extend_from_slice(rest);
    OsString::from_vec(name).into()
}

/// Whether the path of an output contains `{}` for a sample's name.
pub(crate) fn has_place_for_sample(path: &Path) -> bool {
    find(path.as_os_str().as_bytes(), b"{}").is_some()
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|part| part == wanted)
}

/// Checks the options of outputs of a sheet: the names of `outputs` and pages must have a place for the sample's name,
/// that of the summary `json`, which is of all samples, has none, and pages get no name of a sample.
///
/// # Errors
/// Names the option that does not fit.
pub(crate) fn check_places<'o>(
    outputs: impl IntoIterator<Item = (&'o str, Option<&'o PathBuf>)>,
    pages: &'o PageArgs,
    json: Option<&PathBuf>,
) -> Result<()> {
    for (option, path) in outputs.into_iter().chain(pages.places()) {
        if let Some(path) = path
            && !has_place_for_sample(path)
            && path != Path::new("/dev/null")
        {
            return failure::usage(format!(
                "{option} {}: with --sample-sheet, put {{}} where the sample's name belongs",
                path.display()
            ));
        }
    }
    if let Some(path) = json.filter(|path| has_place_for_sample(path)) {
        return failure::usage(format!(
            "--json {}: the summary is of all samples: leave {{}} out of its name",
            path.display()
        ));
    }
    match pages.sample_name {
        Some(_) => failure::usage("--sample-name: the samples' names are those of the sheet"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_may_have_any_bytes() {
        let bytes = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let sample = OsString::from_vec(b"s\xff".to_vec());
        let of = |name: &[u8]| of_sample(&bytes(name), Some(&sample));
        assert_eq!(of(b"\xe9/{}.{}.tsv"), bytes(b"\xe9/s\xff.s\xff.tsv"));
        assert_eq!(of(b"\xe9{.tsv"), bytes(b"\xe9{.tsv"));
    }
}

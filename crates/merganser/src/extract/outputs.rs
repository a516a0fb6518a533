//! The files that extracted reads go to.

use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_io::{Output, OutputCompression, OutputSet, ReadInput};
use merganser_taxreport::extract::{ExtractOutputs, ExtractStream};

use crate::args::extract::ExtractReadsArgs;
use crate::classify::ReadPaths;
use crate::failure::usage;

/// The names of the files.
///
/// # Errors
/// If `--output2` has no mates to take, or single reads nowhere to go.
pub(super) fn paths(args: &ExtractReadsArgs, segments: &[ReadInput]) -> Result<ReadPaths> {
    let Some(second) = &args.output2 else {
        return Ok(ReadPaths::new(&args.output, segments));
    };
    if !segments.iter().all(ReadInput::is_paired) {
        return usage(
            "--output2 is for pairs alone: a # in the name of -o makes files for all reads",
        );
    }
    Ok(ReadPaths { single: None, mates: Some([args.output.clone(), second.clone()]) })
}

/// Begun files.
pub(super) struct Files {
    single: Option<File>,
    mates: Option<[File; 2]>,
}

struct File {
    output: Output,
    gzip: bool,
}

impl File {
    /// A file that is compressed before it is written, if its name says so.
    fn create(path: &Path, set: &OutputSet) -> Result<File> {
        let gzip = OutputCompression::of_name(path) == Some(OutputCompression::Gzip);
        let output = if gzip { Output::File(set.file(path)?) } else { set.output(path)? };
        Ok(File { output, gzip })
    }

    fn stream(&mut self) -> ExtractStream<'_> {
        ExtractStream { output: &mut self.output, gzip: self.gzip }
    }
}

impl Files {
    pub(super) fn create(paths: &ReadPaths, set: &OutputSet) -> Result<Files> {
        let create = |path: &PathBuf| File::create(path, set);
        let single = paths.single.as_ref().map(create).transpose()?;
        let mates = match &paths.mates {
            Some([one, two]) => Some([create(one)?, create(two)?]),
            None => None,
        };
        Ok(Files { single, mates })
    }

    pub(super) fn streams(&mut self) -> ExtractOutputs<'_> {
        ExtractOutputs {
            single: self.single.as_mut().map(File::stream),
            mates: self.mates.as_mut().map(|[one, two]| [one.stream(), two.stream()]),
        }
    }

    /// Writes all to disk, so that the files need but to appear.
    pub(super) fn finish(self) -> Result<()> {
        for file in self.single.into_iter().chain(self.mates.into_iter().flatten()) {
            file.output.finish()?;
        }
        Ok(())
    }
}

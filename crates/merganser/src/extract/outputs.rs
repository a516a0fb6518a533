//! The outputs for extracted reads.

use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_io::{Output, OutputCompression, OutputSet, ReadInput};
use merganser_taxreport::extract::{ExtractOutputs, ExtractStream};

use crate::args::extract::ExtractReadsArgs;
use crate::classify::ReadPaths;
use crate::failure::usage;

/// Returns the paths of the outputs.
///
/// # Errors
/// If `--output2` is given, but some reads are not paired.
pub(super) fn paths(args: &ExtractReadsArgs, segments: &[ReadInput]) -> Result<ReadPaths> {
    let Some(second) = &args.output2 else {
        return Ok(ReadPaths::new(&args.output, segments));
    };
    if !segments.iter().all(ReadInput::is_paired) {
        return usage(
            "--output2 is only for pairs: use a # in the name of -o, which makes files for all reads",
        );
    }
    Ok(ReadPaths { single: None, mates: Some([args.output.clone(), second.clone()]) })
}

/// Open outputs.
pub(super) struct Files {
    single: Option<File>,
    mates: Option<[File; 2]>,
}

struct File {
    output: Output,
    gzip: bool,
}

impl File {
    /// Creates a file. If its name asks for compression, data are compressed before they are written to it.
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

    /// Finishes all files, which then only need to be committed.
    pub(super) fn finish(self) -> Result<()> {
        for file in self.single.into_iter().chain(self.mates.into_iter().flatten()) {
            file.output.finish()?;
        }
        Ok(())
    }
}

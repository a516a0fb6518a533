//! The files of extracted reads.

use std::path::{Path, PathBuf};

use merganser_io::{Output, OutputCompression, OutputSet};

use super::{ExtractOutputs, ExtractStream};
use crate::Error;
use crate::output::ReadPaths;

/// The open files of extracted reads.
#[derive(Debug)]
pub(super) struct ExtractFiles {
    single: Option<File>,
    mates: Option<[File; 2]>,
}

#[derive(Debug)]
struct File {
    output: Output,
    gzip: bool,
}

impl File {
    /// Creates a file. If its name asks for compression, data are compressed before they are written to it.
    fn create(path: &Path, set: &OutputSet) -> Result<File, Error> {
        let gzip = OutputCompression::of_name(path) == Some(OutputCompression::Gzip);
        let output = if gzip { Output::File(set.file(path)?) } else { set.output(path)? };
        Ok(File { output, gzip })
    }

    fn stream(&mut self) -> ExtractStream<'_> {
        ExtractStream { output: &mut self.output, gzip: self.gzip }
    }
}

impl ExtractFiles {
    /// Creates the files as members of `set`. Names in `.gz` are compressed.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub(super) fn create(paths: &ReadPaths, set: &OutputSet) -> Result<ExtractFiles, Error> {
        let create = |path: &PathBuf| File::create(path, set);
        let single = paths.single.as_ref().map(create).transpose()?;
        let mates = match &paths.mates {
            Some([one, two]) => Some([create(one)?, create(two)?]),
            None => None,
        };
        Ok(ExtractFiles { single, mates })
    }

    /// Returns the outputs that a run writes to.
    pub(super) fn streams(&mut self) -> ExtractOutputs<'_> {
        ExtractOutputs {
            single: self.single.as_mut().map(File::stream),
            mates: self.mates.as_mut().map(|[one, two]| [one.stream(), two.stream()]),
        }
    }

    /// Finishes all files, which then only need to be committed.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn finish(self) -> Result<(), Error> {
        for file in self.single.into_iter().chain(self.mates.into_iter().flatten()) {
            file.output.finish()?;
        }
        Ok(())
    }
}

//! What all commands that take reads have.

use std::path::PathBuf;

use clap::Args;
use merganser_io::{Error, Input, expand_inputs};

/// The options of how reads are read.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadsArgs {
    /// The FASTA file that the reads of CRAM inputs were aligned to
    // Its own id, as `map` has another reference.
    #[arg(long = "reference", value_name = "FASTA", id = "cram-reference")]
    pub(crate) reference: Option<PathBuf>,
}

impl ReadsArgs {
    /// Turns arguments into inputs.
    ///
    /// # Errors
    /// As [`expand_inputs`].
    pub(crate) fn expand(&self, paths: &[PathBuf]) -> Result<Vec<Input>, Error> {
        let inputs = expand_inputs(paths)?;
        Ok(inputs.into_iter().map(|input| self.input(input)).collect())
    }

    /// An input, with what is needed to read it.
    pub(crate) fn input(&self, input: Input) -> Input {
        match &self.reference {
            Some(reference) => input.with_reference(reference),
            None => input,
        }
    }
}

//! The outputs for extracted reads.

use anyhow::Result;
use merganser_io::ReadInput;
use merganser_taxreport::output::ReadPaths;

use crate::args::extract::ExtractReadsArgs;
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

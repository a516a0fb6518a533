//! The command that headers of SAM and BAM name.

use merganser_alignments::{put_files, quoted};
use merganser_io::{Input, ReadInput};

use crate::args::SearchArgs;

/// Returns the command of a run, without options that do not change the hits.
pub(super) fn command(args: &SearchArgs, inputs: &[Input]) -> String {
    let config = &args.config;
    let mut command = format!("merganser search -e {}", config.threshold);
    let flags = [
        (config.hamming, "--hamming"),
        (config.n_matches, "--match-n"),
        (config.all_ends, "--all-ends"),
        (config.pam_first, "--pam-first"),
    ];
    for (_, flag) in flags.into_iter().filter(|(given, _)| *given) {
        command += &format!(" {flag}");
    }
    let values = [
        ("--strand", Some(config.strand.to_string())),
        ("--overhang", config.overhang.map(|cost| cost.to_string())),
        ("--pam", config.pam.as_ref().map(ToString::to_string)),
        ("--seed", config.seed.map(|seed| seed.to_string())),
    ];
    let values = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let patterns = args.pattern.iter().map(|letters| ("-p", letters.clone()));
    let files = args.patterns.iter().map(|path| ("--patterns", path.display().to_string()));
    for (name, value) in values.chain(patterns).chain(files) {
        command += &format!(" {name} {}", quoted(&value));
    }
    let inputs: Vec<ReadInput> = inputs.iter().cloned().map(ReadInput::Single).collect();
    put_files(None, &inputs, &mut command);
    command
}

//! The command in the header (@PG, CL): the options that decide the records, the reference and the reads.
//!
//! It is the same for every number of threads, device, amount of memory and shard. File names are those that were
//! given.

use merganser_alignments::{put_files, quoted};
use merganser_io::{QualityOffset, ReadInput};

use crate::index::Index;
use crate::{Config, NMode, Orientation, Strand};

/// The beginnings of the list of files, which follows the options.
const FILES: [&str; 3] = [" -1 ", " --interleaved ", " -- "];

/// Returns the command that maps these reads.
pub(super) fn command(config: &Config, index: &Index, inputs: &[ReadInput]) -> String {
    let mut command = "merganser map".to_owned();
    options(config, config.may_have_pairs(inputs), &mut command);
    circles(index, &mut command);
    put_files(Some(index.source()), inputs, &mut command);
    command
}

/// Returns a line of a header without the names of files, which may differ between the shards of a job.
pub(crate) fn without_files(line: &str) -> &str {
    if !line.starts_with("@PG\tID:merganser\t") {
        return line;
    }
    place_of_files(line).map_or(line, |begin| &line[..begin])
}

/// Returns the position of the list of files in a command. A quoted option may have the same words.
fn place_of_files(line: &str) -> Option<usize> {
    let mut in_quotes = false;
    let mut bytes = line.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\'' => in_quotes = !in_quotes,
            b'\\' if !in_quotes => drop(bytes.next()),
            b' ' if !in_quotes && FILES.iter().any(|files| line[at..].starts_with(files)) => {
                return Some(at);
            }
            _ => {}
        }
    }
    None
}

fn options(config: &Config, paired: bool, command: &mut String) {
    let mut add = |option: String| {
        command.push(' ');
        command.push_str(&option);
    };
    add(format!("-e {}", config.threshold));
    add(format!("--{}", config.select));
    if config.max_hits > 0 {
        add(format!("--max-hits {}", config.max_hits));
    }
    if config.xa > 0 {
        add(format!("--xa {}", config.xa));
    }
    if config.hamming {
        add("--hamming".to_owned());
    }
    if config.echoes {
        add("--echoes".to_owned());
    }
    if config.strand != Strand::default() {
        add(format!("--strand {}", config.strand));
    }
    if config.n_mode != NMode::default() {
        add(format!("--n-mode {}", config.n_mode));
    }
    if config.quality_offset != QualityOffset::default() {
        add(format!("--quality-offset {}", config.quality_offset));
    }
    if let Some(crop) = config.crop {
        add(format!("--crop {crop}"));
    }
    if paired {
        of_pairs(config, &mut add);
    }
    if config.single {
        add("--single".to_owned());
    }
    if let Some(tags) = &config.tags {
        add(format!("--tags {}", quoted(&tags.to_string())));
    }
    for group in &config.read_groups {
        add(format!("-R {}", quoted(&group.line().replace('\t', "\\t"))));
    }
    for (given, option) in [
        (config.clip, "--clip"),
        (config.eqx, "--eqx"),
        (config.secondary_seq, "--secondary-seq"),
        (config.no_unmapped, "--no-unmapped"),
        (config.sort, "--sort"),
    ] {
        if given {
            add(option.to_owned());
        }
    }
}

/// Adds the contigs that are circular.
fn circles(index: &Index, command: &mut String) {
    let names = index.contigs().iter().filter(|contig| contig.is_circular());
    let names: Vec<&str> = names.map(|contig| &*contig.name).collect();
    if index.is_kept_linear() {
        command.push_str(" --circular none");
    }
    if !names.is_empty() {
        *command += &format!(" --circular {}", quoted(&names.join(",")));
    }
}

fn of_pairs(config: &Config, add: &mut impl FnMut(String)) {
    if config.orientation != Orientation::default() {
        add(format!("--orientation {}", config.orientation));
    }
    let [least, most] = config.inserts();
    let learns = config.learn_insert && config.max_insert.is_none();
    if !learns || config.min_insert.is_some() {
        add(format!("--min-insert {least}"));
    }
    add(if learns { "--learn-insert".to_owned() } else { format!("--max-insert {most}") });
    if let Some(edits) = config.rescue {
        add(format!("--rescue {edits}"));
    }
    if config.any_names {
        add("--any-names".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_left_out_of_comparisons() {
        let line = "@PG\tID:merganser\tCL:merganser map -e 5 --all";
        for files in [" -- ref.fa a.fq", " -1 a -2 b -- ref.fa", " --interleaved -- r -1 x"] {
            assert_eq!(without_files(&format!("{line}{files}")), line);
        }
        assert_eq!(without_files("@RG\tID:a -- b"), "@RG\tID:a -- b");
    }
}

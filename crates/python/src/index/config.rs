//! The options of mapping.

use std::ffi::OsStr;
use std::path::PathBuf;

use merganser_filter::Threshold;
use merganser_io::{CommentTags, ReadInput};
use merganser_map::{Config, NMode, Orientation, Prefilter, ReadGroup, Select, Strand};
use merganser_run::ConfigError;
use pyo3::prelude::*;

use super::files::Files;
use crate::errors::{raise, wrong};
use crate::keywords::Keywords;
use crate::reads::Reads;

/// The place in a read group that is replaced by the name of an input.
const PLACE: &str = "{}";

/// Takes the options that select hits.
pub(super) fn of(threshold: Threshold, reads: &Reads, keywords: &Keywords<'_>) -> PyResult<Config> {
    if !reads.are_paired() {
        let reason = "is for pairs: give mates, or interleaved=True";
        let of_pairs = ["orientation", "min_insert", "max_insert", "learn_insert", "rescue"];
        keywords.refuse(&of_pairs, reason)?;
    }
    let of = Config::new(threshold);
    Ok(Config {
        hamming: keywords.flag("hamming")?,
        echoes: keywords.flag("echoes")?,
        strand: strand(reads, keywords)?,
        n_mode: keywords.named::<NMode>("n_mode")?.unwrap_or_default(),
        filter: keywords.named::<Prefilter>("filter")?.unwrap_or_default(),
        select: select(keywords)?,
        max_hits: keywords.int_or("max_hits", of.max_hits)?,
        orientation: keywords.named::<Orientation>("orientation")?.unwrap_or_default(),
        learn_insert: keywords.flag("learn_insert")?,
        min_insert: keywords.int("min_insert")?,
        max_insert: keywords.int("max_insert")?,
        rescue: keywords.edits("rescue")?,
        crop: keywords.int("crop")?,
        quality_offset: keywords.quality_offset()?,
        clip: keywords.flag("clip")?,
        any_names: reads.any_names,
        ..of
    })
}

fn strand(reads: &Reads, keywords: &Keywords<'_>) -> PyResult<Strand> {
    let strand = keywords.named::<Strand>("strand")?.unwrap_or_default();
    if strand != Strand::Both && reads.are_paired() {
        let problem = "cannot be used with pairs: mates are on opposite strands";
        return Err(wrong(keywords.py(), "strand", problem));
    }
    Ok(strand)
}

fn select(keywords: &Keywords<'_>) -> PyResult<Select> {
    match (keywords.flag("best")?, keywords.flag("best_strata")?) {
        (false, false) => Ok(Select::All),
        (true, false) => Ok(Select::Best),
        (false, true) => Ok(Select::BestStrata),
        (true, true) => {
            Err(wrong(keywords.py(), "best", "cannot be used together with best_strata"))
        }
    }
}

/// Adds the options of records in files. `reference` is the FASTA file of the reference.
pub(super) fn to_file(
    config: Config,
    files: &Files,
    reads: &Reads,
    reference: Option<PathBuf>,
    keywords: &Keywords<'_>,
) -> PyResult<Config> {
    Ok(Config {
        format: files.format,
        sort: files.sort,
        fasta: reference,
        read_groups: read_groups(reads, keywords)?,
        eqx: keywords.flag("eqx")?,
        xa: keywords.int_or("xa", config.xa)?,
        tags: tags(keywords)?,
        secondary_seq: keywords.flag("secondary_seq")?,
        no_unmapped: keywords.flag("no_unmapped")?,
        ..config
    })
}

/// Takes the tags of reads that records keep.
fn tags(keywords: &Keywords<'_>) -> PyResult<Option<CommentTags>> {
    let Some(given) = keywords.take::<String>("tags")? else { return Ok(None) };
    given.parse().map(Some).map_err(|problem: String| wrong(keywords.py(), "tags", &problem))
}

/// Takes the read groups: none, one for all reads, or one for each input.
fn read_groups(reads: &Reads, keywords: &Keywords<'_>) -> PyResult<Vec<ReadGroup>> {
    let Some(given) = keywords.object("read_group")? else { return Ok(Vec::new()) };
    let lines = match given.extract::<String>() {
        Ok(line) => vec![line],
        Err(_) => given.extract::<Vec<String>>()?,
    };
    let groups = match &lines[..] {
        [line] if line.contains(PLACE) => filled(line, reads),
        lines => lines.iter().map(|line| ReadGroup::parse(line)).collect(),
    };
    groups.map_err(|error| raise(keywords.py(), &error))
}

/// Makes a read group for each input. Names are inserted into parsed fields, so that they cannot end a field.
fn filled(line: &str, reads: &Reads) -> Result<Vec<ReadGroup>, ConfigError> {
    let group = ReadGroup::parse(line)?;
    let one = |input: &ReadInput| {
        let name = name_of(input);
        group.filled(|_, value| value.replace(PLACE, &name))
    };
    reads.segments.iter().map(one).collect()
}

/// Returns the name of an input: the name of its first file up to the first dot, for pairs without the mate's number.
fn name_of(input: &ReadInput) -> String {
    let path = input.inputs().next().and_then(|input| input.path());
    let name = path.and_then(|path| path.file_name()).unwrap_or(OsStr::new("reads"));
    let name = name.to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    match input {
        ReadInput::Pair(..) => {
            let mates = ["_R1_001", "_R1", "_1"];
            mates.iter().find_map(|mate| stem.strip_suffix(mate)).unwrap_or(stem).to_owned()
        }
        _ => stem.to_owned(),
    }
}

//! Warnings about results that may be wrong, one sentence each.

use merganser_run::counted;
use merganser_spectrum::{is_flat_valley, least_k, solid_threshold};

use crate::stages::Letters;
use crate::{Assembly, Config, Error, OfAssembly, Spectra};

/// Reads that are longer than this on average, in bases, are long reads.
const LONG: u64 = 1000;
/// Below this coverage, some k-mers of the genome are likely to be in no read.
const LOW_COVERAGE: u32 = 8;
/// Completeness is worthless if an assembly has more than this many times the k-mers that count as the genome's.
const MAX_ASSEMBLED_PER_SOLID: u64 = 10;
/// A file is taken for reads only if its sequences are shorter than this on average, in bases.
const MAX_READ: u64 = 1000;
/// A file is taken for reads only if its k-mers occur more often than this on average.
const MIN_READ_COVERAGE: u64 = 2;
/// In a histogram without a maximum count, the last row has at most this number of k-mers, or at most this fraction of
/// all solid k-mers.
const MAX_LAST_ROW: (u64, f64) = (100, 0.002);

/// The largest counts of counters of 8, 15 (FastK), 16 and 32 bits.
const COUNTER_MAXIMA: [u32; 4] = [255, 32_767, 65_535, u32::MAX];

/// Returns an error if the reads have no k-mers.
pub(crate) fn refuse_no_reads(spectra: &Spectra, reads: &str, k: usize) -> Result<(), Error> {
    match spectra.reads.max() {
        0 => Err(Error::NoReads { reads: reads.to_owned(), k }),
        _ => Ok(()),
    }
}

/// Returns a warning if the reads are long.
pub(crate) fn of_long_reads(reads: Letters) -> Option<String> {
    let mean = reads.mean();
    (mean > LONG).then(|| {
        format!(
            "the reads have {mean} bases on average: if the assembly was made from them, it shares their errors and QV is too \
             high; use reads of another technology"
        )
    })
}

/// Returns a warning if a file looks like reads: its sequences are short and its k-mers occur many times. If k is too small for
/// the number of k-mers, this cannot be told.
pub(crate) fn of_reads_as_assembly(
    assembly: &Assembly,
    of: &OfAssembly,
    letters: Letters,
    k: usize,
) -> Option<String> {
    let distinct = of.distinct();
    let is_deep = letters.mean() < MAX_READ
        && of.kmers > MIN_READ_COVERAGE * distinct
        && least_k(distinct, 4) <= k as f64;
    is_deep.then(|| {
        format!(
            "{}: has {} sequences of {} bases on average, and each of its k-mers {:.1} times: this looks like reads, not like \
             an assembly (the reads come first)",
            assembly.input,
            letters.records,
            letters.mean(),
            of.kmers as f64 / distinct as f64
        )
    })
}

/// Returns all warnings that follow from the spectra; `rows` are those of the reads.
pub(crate) fn of_spectra(
    config: &Config,
    k: usize,
    rows: &[(u32, u64)],
    spectra: &Spectra,
) -> Vec<String> {
    let mut doubts = Vec::new();
    if k.is_multiple_of(2) {
        doubts.push(format!("k is {k}: with an odd k, no k-mer is its own reverse complement"));
    }
    let found = solid_threshold(rows);
    if config.solid.is_none() {
        match found {
            None => doubts.push(
                "the reads' histogram has no valley between errors and genome (low coverage, or reads of one k-mer each): \
                 all k-mers count as the genome's, and completeness is too low; set the threshold with `solid`"
                    .into(),
            ),
            Some(solid) if is_flat_valley(rows) => doubts.push(format!(
                "the valley of the reads' histogram is flat, and {solid} was taken as its end, as in Merqury: look at the \
                 histogram, and set the threshold with `solid` if that is too high"
            )),
            Some(_) => {}
        }
    }
    let solid = config.solid.or(found).unwrap_or(0);
    let peak = rows.iter().filter(|row| row.0 > solid).max_by_key(|row| row.1).map(|row| row.0);
    if let Some(peak) = peak.filter(|&peak| peak < LOW_COVERAGE) {
        doubts.push(format!(
            "the genome's k-mers occur {} in the reads: at such a low coverage, correct k-mers of the assembly \
             are in no read, and QV is too low",
            counted(peak.into(), "time")
        ));
    }
    doubts.extend(of_few_solid(rows, solid, spectra));
    doubts.extend(of_cuts(config, rows));
    doubts.extend(of_identical_assemblies(spectra));
    if spectra.assemblies.iter().any(is_foreign) {
        doubts.push(
            "most k-mers of an assembly are in no read: it may be of another genome, or only the reads or only the assembly is \
             homopolymer-compressed (`hpc`)"
                .into(),
        );
    }
    if spectra.assemblies.iter().any(|of| of.only.distinct == 0) {
        doubts.push(
            "no k-mer of an assembly is missing in the reads: QV is infinite; k may be too small, or the assembly may have \
             been polished with these reads"
                .into(),
        );
    }
    doubts
}

/// Returns a warning if far fewer k-mers count as the genome's than an assembly has.
fn of_few_solid(rows: &[(u32, u64)], solid: u32, spectra: &Spectra) -> Option<String> {
    let number = of_more_than(solid, rows);
    let assembled = spectra.assemblies.iter().map(OfAssembly::distinct).max()?;
    (number < assembled / MAX_ASSEMBLED_PER_SOLID).then(|| {
        format!(
            "only {number} k-mers of the reads count as the genome's (more than {solid} times), and an assembly has {assembled}: \
             completeness is worthless; the coverage is too low, or `solid` too high"
        )
    })
}

/// Returns warnings if counts seem to have been cut off. Some formats do not record a minimum or maximum count.
fn of_cuts(config: &Config, rows: &[(u32, u64)]) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Some(&(least, _)) = rows.first()
        && least > 1
        && !config.hybrid
    {
        doubts.push(format!(
            "no k-mer of the reads occurs less than {least} times: if low counts were cut off, correct k-mers of the assembly \
             count as errors, and QV is too low; count with a minimum of 1 (`hybrid` accepts a union of cut tables)"
        ));
    }
    if let Some((last, number)) = cut_above(rows) {
        doubts.push(format!(
            "no k-mer of the reads occurs more than {last} times, and {number} occur that often: if higher counts were cut off, \
             k-mers of repeats count as errors, and QV is too low; count without a maximum"
        ));
    }
    doubts
}

/// Returns a warning for tracks if counts seem to have been cut off or to have a maximum.
pub(crate) fn of_cut_counts(rows: &[(u32, u64)]) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Some(&(least, _)) = rows.first()
        && least > 1
    {
        doubts.push(format!(
            "no k-mer of the reads occurs less than {least} times: if low counts were cut off, correct k-mers of the sequences \
             look missing; count with a minimum of 1"
        ));
    }
    if let Some((last, number)) = cut_above(rows) {
        doubts.push(format!(
            "no k-mer of the reads occurs more than {last} times, and {number} occur that often: if higher counts were cut off or \
             reduced, k-mers of repeats look missing or duplicated; count without a maximum"
        ));
    }
    doubts
}

/// Returns a warning for tracks if the counter of the reads' k-mers seems to have ended at a maximum, such as 255 in KMC's
/// databases by default: repeats then have fewer copies according to the reads than in the sequences.
pub(crate) fn of_saturated_counts(rows: &[(u32, u64)]) -> Option<String> {
    let (last, number) = saturated_at(rows)?;
    Some(format!(
        "{number} k-mers of the reads occur {last} times, and none more often: if the counter ended there, k-mers of repeats look \
         duplicated and have too few copies; count with a larger maximum (KMC: -cs1000000000)"
    ))
}

/// Returns the last count and its number of k-mers if higher counts seem to be stored as it.
fn saturated_at(rows: &[(u32, u64)]) -> Option<(u32, u64)> {
    let &[.., (before, fewer), (last, number)] = rows else { return None };
    let is_counters = COUNTER_MAXIMA.contains(&last);
    let is_saturated = number > MAX_LAST_ROW.0
        && number / 2 > fewer
        && (before + 1 == last || is_counters)
        && last > 2 * solid_threshold(rows).unwrap_or(0);
    is_saturated.then_some((last, number))
}

/// Returns the last count and its number of k-mers if higher counts seem to have been cut off.
fn cut_above(rows: &[(u32, u64)]) -> Option<(u32, u64)> {
    let &[.., (before, fewer), (last, number)] = rows else { return None };
    let is_cut = before + 1 == last
        && number <= 2 * fewer
        && number > MAX_LAST_ROW.0
        && number as f64 > MAX_LAST_ROW.1 * of_solid(rows) as f64;
    is_cut.then_some((last, number))
}

/// Returns the number of k-mers above the valley.
fn of_solid(rows: &[(u32, u64)]) -> u64 {
    of_more_than(solid_threshold(rows).unwrap_or(0), rows)
}

/// Returns the number of k-mers that occur more than `count` times.
fn of_more_than(count: u32, rows: &[(u32, u64)]) -> u64 {
    rows.iter().filter(|row| row.0 > count).map(|row| row.1).fold(0, u64::saturating_add)
}

/// Returns a warning if all assemblies have the same k-mers and the same number of them.
fn of_identical_assemblies(spectra: &Spectra) -> Option<String> {
    let [one, others @ ..] = &spectra.assemblies[..] else { return None };
    let which = match others.len() {
        0 => return None,
        1 => "both assemblies",
        _ => "all assemblies",
    };
    let [_, partly @ .., _] = &spectra.sources[..] else { return None };
    let [only_partly @ .., _] = &spectra.only[..] else { return None };
    let same = others.iter().all(|other| one.kmers == other.kmers)
        && partly.iter().all(|rows| rows.max() == 0)
        && only_partly.iter().all(|&kmers| kmers == 0);
    same.then(|| format!("{which} have the same k-mers: is one of them given twice?"))
}

/// Whether most k-mers of an assembly are in no read.
fn is_foreign(of: &OfAssembly) -> bool {
    2 * of.only.instances > of.kmers
}

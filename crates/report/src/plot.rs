//! Figures for publication, from the same results as pages: `merganser report plot`.

mod bars;
#[cfg(test)]
mod boxes;
mod evidence;
mod frame;
pub(crate) mod lines;
mod taxa;

use crate::classes::{self, Style};
use crate::data::{Assembly, Contig, Data, Decisions, Mapping, Rows};
use crate::draw::Picture;
use crate::haplotypes::{self, Blob, Stretch};

merganser_run::named! {
    /// A chart.
    pub enum Chart {
        // Several samples share the plot.
        Spectrum = "spectrum" ("k-mers by count, with the model of a single sample"),
        Taxa = "taxa" ("Shares of the largest taxa of a rank"),
        Evidence = "evidence" ("Species by reads and distinct k-mers"),
        // By copies or by assembly; of one evaluation.
        Spectra = "spectra" ("k-mers of reads by copies in an assembly"),
        Quality = "quality" ("QV of assemblies"),
        // Of one evaluation.
        Blobs = "blobs" ("Contigs by the parents' k-mers"),
        // By length; of one evaluation.
        Blocks = "blocks" ("Phase blocks"),
        Hits = "hits" ("Reads by number of hits"),
        Edits = "edits" ("Reads or pairs by edits"),
        // Of concordant pairs.
        Inserts = "inserts" ("Pairs by insert size"),
        // The longest contigs; of one mapping.
        Depth = "depth" ("Depths of contigs"),
    }
}

/// The options of a chart.
// These comments are the help texts of the command line.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Options {
    /// Use a logarithmic x axis (spectrum, inserts)
    #[cfg_attr(feature = "cli", arg(long))]
    pub log_x: bool,
    /// Use a logarithmic y axis (spectrum, hits, edits, inserts)
    #[cfg_attr(feature = "cli", arg(long))]
    pub log_y: bool,
    /// Largest value on the x axis (spectrum, inserts) [default: chosen from the data]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u64).range(1..)))]
    pub most: Option<u64>,
    /// Rank of the taxa to show, e.g. genus or G (taxa)
    #[cfg_attr(feature = "cli", arg(long, value_name = "RANK", default_value = "S"))]
    pub rank: String,
    /// Name of the spectrum to show (spectra), e.g. spectra-asm [default: the first]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub spectrum: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        let rank = "S".to_owned();
        Options { log_x: false, log_y: false, most: None, rank, spectrum: None }
    }
}

/// An error of plotting unsuitable results.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// No results were given.
    #[error("there are no results to plot")]
    Nothing,
    /// A sample's results are not of the kind that the chart needs.
    #[error("{sample}: these results ({command}) have no {what}")]
    Other {
        /// The sample.
        sample: String,
        /// The command that made the results.
        command: String,
        /// The missing part.
        what: &'static str,
    },
    /// The chart shows one run, but there are several.
    #[error("this chart shows one run: give one file of results, not {0}")]
    Several(usize),
    /// No spectrum has this name.
    #[error("no spectrum is named {wanted}: there are {there}")]
    Name {
        /// The name.
        wanted: String,
        /// The names of all spectra.
        there: String,
    },
}

/// Plots the results of some runs; long names are shortened.
///
/// # Errors
/// If a run has no data for the chart, or the chart shows only one run and there are several.
pub fn plot(data: &[Data], chart: Chart, options: &Options) -> Result<Picture, Unfit> {
    if data.is_empty() {
        return Err(Unfit::Nothing);
    }
    match chart {
        Chart::Spectrum => {
            let spectra = all(data, "spectrum of k-mers", |data| data.spectrum.as_ref())?;
            Ok(lines::spectra(&spectra, options))
        }
        Chart::Taxa => Ok(taxa::shares(&all(data, "taxa", |data| data.taxa.as_ref())?, options)),
        Chart::Evidence => Ok(evidence::evidence(&all(data, "taxa", |data| data.taxa.as_ref())?)),
        Chart::Spectra => {
            spectra(one(data, "evaluated assembly", |data| data.assembly.as_ref())?, options)
        }
        Chart::Quality => {
            let judged = all(data, "evaluated assembly", |data| data.assembly.as_ref())?;
            let bars = judged.iter().flat_map(|(_, assembly)| &assembly.judged);
            let bars: Vec<_> = bars.map(|judged| (judged.name.clone(), judged.quality)).collect();
            Ok(bars::lying("Quality of assemblies", "QV", "no error found", &bars))
        }
        Chart::Blobs | Chart::Blocks => haplotypes(data, chart),
        Chart::Hits => {
            let rows = all(data, "mapped reads", |data| data.mapping.as_ref())?;
            let few: Vec<Rows> = rows.iter().map(|(_, mapping)| gathered(&mapping.hits)).collect();
            let rows: Vec<_> = rows.iter().zip(&few).map(|((name, _), few)| (*name, few)).collect();
            let along = format!("Hits ({MANY}: {MANY} or more)");
            Ok(lines::histogram("Hits of reads", [&along, "Reads"], &rows, options))
        }
        Chart::Inserts => {
            let rows = all(data, "mapped reads", |data| Some(&data.mapping.as_ref()?.inserts))?;
            Ok(lines::histogram("Insert sizes", ["Bases", "Concordant pairs"], &rows, options))
        }
        Chart::Edits => {
            let of = |data: &Data| match (&data.mapping, &data.decisions) {
                (Some(Mapping { edits, .. }), _) | (_, Some(Decisions { edits, .. })) => {
                    Some(edits.clone())
                }
                _ => None,
            };
            let rows = all(data, "edits", of)?;
            let rows: Vec<_> = rows.iter().map(|(name, rows)| (*name, rows)).collect();
            Ok(lines::histogram("Edits", ["Edits", "Reads or pairs"], &rows, options))
        }
        Chart::Depth => {
            let mapping: &Mapping = one(data, "mapped reads", |data| data.mapping.as_ref())?;
            let mut contigs: Vec<_> = mapping.contigs.iter().collect();
            contigs.sort_by_key(|contig| std::cmp::Reverse(contig.length));
            let depth = |bases: u64, length: u64| bases as f64 / length.max(1) as f64;
            let bar = |it: &&Contig| (it.name.clone(), Some(depth(it.bases, it.length)));
            let bars: Vec<_> = contigs.iter().map(bar).collect();
            Ok(bars::lying("Depth of the longest contigs", "Depth", "", &bars))
        }
    }
}

/// Returns a part of each run, with the sample's name.
fn all<'d, T>(
    data: &'d [Data],
    what: &'static str,
    of: impl Fn(&'d Data) -> Option<T>,
) -> Result<Vec<(&'d str, T)>, Unfit> {
    let part = |data: &'d Data| match of(data) {
        Some(part) => Ok((data.sample.as_str(), part)),
        None => {
            let (sample, command) = (data.sample.clone(), data.command.clone());
            Err(Unfit::Other { sample, command, what })
        }
    };
    data.iter().map(part).collect()
}

/// Returns the part of the only run.
fn one<'d, T>(
    data: &'d [Data],
    what: &'static str,
    of: impl Fn(&'d Data) -> Option<T>,
) -> Result<T, Unfit> {
    let mut all = all(data, what, of)?;
    match (all.pop(), all.len()) {
        (Some((_, part)), 0) => Ok(part),
        _ => Err(Unfit::Several(data.len())),
    }
}

/// Numbers of hits from this one are combined in one bar.
const MANY: u64 = 20;

/// Combines the reads with many hits.
fn gathered(rows: &Rows) -> Rows {
    let (mut few, many): (Rows, Rows) = rows.iter().partition(|row| row.0 < MANY);
    if !many.is_empty() {
        few.push((MANY, many.iter().map(|row| row.1).sum()));
    }
    few
}

fn spectra(assembly: &Assembly, options: &Options) -> Result<Picture, Unfit> {
    let named = |wanted: &String| {
        let found = assembly.spectra.iter().find(|spectrum| spectrum.title == *wanted);
        let titles = assembly.spectra.iter().map(|spectrum| spectrum.title.as_str());
        let there = titles.collect::<Vec<_>>().join(", ");
        found.ok_or(Unfit::Name { wanted: wanted.clone(), there })
    };
    let spectrum = match &options.spectrum {
        Some(wanted) => named(wanted)?,
        None => assembly.spectra.first().ok_or(Unfit::Nothing)?,
    };
    Ok(classes::picture(spectrum, Style::Filled))
}

fn haplotypes(data: &[Data], chart: Chart) -> Result<Picture, Unfit> {
    let of = |data: &'_ Data| data.assembly.as_ref()?.haplotypes.clone();
    let of_parents = one(data, "parents' k-mers", of)?;
    let parents = of_parents.parents.each_ref().map(String::as_str);
    if chart == Chart::Blocks {
        let blocks = of_parents.blocks.iter();
        let blocks = blocks.map(|&(_, bases, haplotype)| Stretch { bases, haplotype });
        return Ok(haplotypes::blocks("Phase blocks", parents, &blocks.collect::<Vec<_>>()));
    }
    let judged = data.iter().flat_map(|data| &data.assembly).flat_map(|assembly| &assembly.judged);
    let names: Vec<&str> = judged.map(|judged| judged.name.as_str()).collect();
    let blobs = of_parents.contigs.iter().map(|&(assembly, one, other, size)| {
        let markers = [one, other];
        Blob { markers, size, assembly }
    });
    let names = &names[..names.len().min(2)];
    Ok(haplotypes::blobs("k-mers of the parents", parents, names, &blobs.collect::<Vec<_>>()))
}

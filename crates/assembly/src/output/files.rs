//! The output files of an evaluation.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use merganser_io::{Output, OutputSet, finish_all};
use merganser_kmers::Histogram;
use merganser_kmers::reads::Mark;
use merganser_spectrum::{error_rate, peaks, quality};

use super::haplotypes::{Haplotypes, Phasing};
use super::number::general;
use super::track::Track;
use crate::run::together;
use crate::spectra::OfAssembly;
use crate::{
    AssemblyQuality, BlockRule, Copies, Error, HapmerSpectra, Membership, Outcome, Tracks, Trio,
};

/// The names of the output files.
#[derive(Clone, Debug)]
pub struct Names {
    prefix: PathBuf,
    reads: String,
    assemblies: Vec<String>,
    /// The names of the parents and the rule for phase blocks.
    parents: Option<([String; 2], BlockRule)>,
}

/// The suffix of the file with the switch rate.
const SWITCHES: &str = "switches.txt";
/// The largest number of peaks of the reads' histogram that are listed.
const MAX_PEAKS: usize = 6;

impl Names {
    /// Creates the names of files that begin with `prefix`, for the given names of reads and assemblies.
    pub fn new(prefix: &Path, reads: &str, assemblies: Vec<String>) -> Names {
        Names { prefix: prefix.to_owned(), reads: reads.to_owned(), assemblies, parents: None }
    }

    /// Adds the files about the parents with these names.
    #[must_use]
    pub fn parents(self, parents: Option<[String; 2]>, blocks: BlockRule) -> Names {
        Names { parents: parents.map(|names| (names, blocks)), ..self }
    }

    /// Returns the part of file names about an assembly's phase blocks between the prefix and the suffix, if the
    /// parents are known.
    pub fn phase_blocks(&self, assembly: &str) -> Option<String> {
        let BlockRule { markers, bases } = self.parents.as_ref()?.1;
        Some(format!("{assembly}.{markers}_{bases}.phased_block"))
    }

    /// Returns the files about an assembly's phase blocks.
    fn blocks(&self, assembly: &str, rule: BlockRule) -> [PathBuf; 4] {
        let BlockRule { markers, bases } = rule;
        ["phased_block.bed", "phased_block.counts", "phased_block.stats", SWITCHES]
            .map(|end| self.path(&format!("{assembly}.{markers}_{bases}.{end}")))
    }

    /// Returns the file with the copy-number spectrum of each parent's hap-mers in an assembly.
    fn hapmer_spectra(&self, assembly: &str) -> Vec<PathBuf> {
        let parents = self.haplotypes().into_iter().flatten();
        parents.map(|name| self.path(&format!("{assembly}.{name}.spectra-hap-cn.hist"))).collect()
    }

    /// Returns the two files about the parents and the file about the sequences.
    fn of_parents(&self) -> [PathBuf; 3] {
        ["cutoffs.txt", "inherited_hapmers.hist", "hapmers.count"].map(|end| self.path(end))
    }

    /// Returns the name of the file that ends in a period and `suffix`.
    pub fn path(&self, suffix: &str) -> PathBuf {
        let mut path = OsString::from(&self.prefix);
        path.push(".");
        path.push(suffix);
        path.into()
    }

    /// Returns the names of the assemblies.
    pub fn assemblies(&self) -> &[String] {
        &self.assemblies
    }

    /// Returns the names of the parents, if they are known.
    pub fn haplotypes(&self) -> Option<&[String; 2]> {
        self.parents.as_ref().map(|parents| &parents.0)
    }

    /// Returns the name of all assemblies together, if there are several.
    pub fn together(&self) -> Option<&'static str> {
        together(self.assemblies.len())
    }

    /// Returns the names of the classes of an assembly spectrum, those of [`Membership::classes`].
    pub fn sources(&self) -> Vec<String> {
        let several = self.assemblies.len() > 2;
        let name = |source: Membership| match (source, &self.assemblies[..]) {
            (Membership::ReadOnly, _) => "read-only".to_owned(),
            (Membership::Only(_), [one]) => one.clone(),
            (Membership::Only(number), all) => format!("{}-only", all[number]),
            (Membership::SharedBySome, _) => "shared-some".to_owned(),
            (Membership::SharedByAll, _) if several => "shared-all".to_owned(),
            (Membership::SharedByAll, _) => "shared".to_owned(),
        };
        Membership::classes(self.assemblies.len()).into_iter().map(name).collect()
    }

    fn sequences(&self, assembly: &str) -> [PathBuf; 3] {
        [".qv", "_only.bed", "_only.wig"].map(|end| self.path(&format!("{assembly}{end}")))
    }

    fn tables(&self) -> Vec<PathBuf> {
        let of_reads =
            ["hist", "hist.ploidy", "filt"].map(|end| self.path(&format!("{}.{end}", self.reads)));
        let mut suffixes: Vec<String> =
            ["qv", "completeness.stats", "spectra-asm.hist", "dist_only.hist"]
                .map(str::to_owned)
                .to_vec();
        for assembly in &self.assemblies {
            suffixes
                .extend(["spectra-cn.hist", "only.hist"].map(|end| format!("{assembly}.{end}")));
        }
        if self.together().is_some() {
            suffixes.extend(["spectra-cn.hist", "only.hist"].map(str::to_owned));
        }
        of_reads.into_iter().chain(suffixes.iter().map(|suffix| self.path(suffix))).collect()
    }

    /// Returns the names of all files.
    pub fn all(&self) -> Vec<PathBuf> {
        let sequences = self.assemblies.iter().flat_map(|assembly| self.sequences(assembly));
        let mut all: Vec<PathBuf> = sequences.chain(self.tables()).collect();
        if let Some((_, rule)) = &self.parents {
            all.extend(self.assemblies.iter().flat_map(|assembly| self.blocks(assembly, *rule)));
            all.extend(self.assemblies.iter().flat_map(|name| self.hapmer_spectra(name)));
            all.extend(self.of_parents());
        }
        all
    }
}

/// The output files of an evaluation, which appear when their [`OutputSet`] is committed.
pub struct Files<'s> {
    names: Names,
    set: &'s OutputSet,
    /// The files about the sequences of each assembly.
    sequences: Vec<Sequences>,
    /// The files about the haplotypes of each assembly; empty without parents.
    haplotypes: Vec<Haplotypes>,
    /// The file with the number of markers of each sequence.
    contigs: Option<Output>,
}

/// The files about the sequences of an assembly.
struct Sequences {
    qualities: Output,
    bed: Output,
    wig: Output,
    track: Track,
    name: String,
    missing: u64,
    /// The sequences with the most k-mers.
    largest: Vec<SequenceQuality>,
}

/// The quality of a sequence of an assembly.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceQuality {
    /// The sequence's name.
    pub name: String,
    /// The number of k-mers in the sequence.
    pub kmers: u64,
    /// The number of these k-mers that are in no read.
    pub missing: u64,
    /// The quality on the Phred scale; infinite if all k-mers are in the reads, not a number without k-mers.
    pub quality: f64,
}

/// The maximum number of sequences of an assembly that are kept for tables.
const MAX_SEQUENCES: usize = 2000;

/// Keeps the sequences with the most k-mers, in their order.
fn keep_largest(all: &mut Vec<SequenceQuality>) {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(all[at].kmers), at));
    let kept: std::collections::HashSet<usize> = order.into_iter().take(MAX_SEQUENCES).collect();
    let mut at = 0..;
    all.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
}

impl<'s> Files<'s> {
    /// Opens the files that are written while sequences are read.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(names: Names, set: &'s OutputSet) -> Result<Files<'s>, Error> {
        let open = |assembly: &String| {
            let [qualities, bed, wig] = names.sequences(assembly);
            Ok(Sequences {
                qualities: set.output(&qualities)?,
                bed: set.output(&bed)?,
                wig: set.output(&wig)?,
                track: Track::default(),
                name: String::new(),
                missing: 0,
                largest: Vec::new(),
            })
        };
        let sequences = names.assemblies.iter().map(open).collect::<Result<_, Error>>()?;
        let (mut haplotypes, mut contigs) = (Vec::new(), None);
        if let Some((parents, rule)) = &names.parents {
            for assembly in &names.assemblies {
                let [bed, counts, ..] = names.blocks(assembly, *rule);
                let (bed, counts) = (set.output(&bed)?, set.output(&counts)?);
                haplotypes.push(Haplotypes::new(assembly, parents, *rule, bed, counts)?);
            }
            let [_, _, path] = names.of_parents();
            let mut output = set.output(&path)?;
            let [one, other] = parents;
            writeln!(output, "Assembly\tContig\t{one}\t{other}\tSize")?;
            contigs = Some(output);
        }
        Ok(Files { names, set, sequences, haplotypes, contigs })
    }

    /// Returns the sequences with the most k-mers of each assembly, in their order.
    pub fn largest(&self) -> Vec<Vec<SequenceQuality>> {
        let mut all: Vec<_> = self.sequences.iter().map(|of| of.largest.clone()).collect();
        all.iter_mut().for_each(keep_largest);
        all
    }

    /// Writes the other files, and returns the phasing of each assembly if the parents are known.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(self, judgement: &Outcome) -> Result<Vec<Phasing>, Error> {
        let Files { names, set, sequences, haplotypes, contigs } = self;
        let mut outputs: Vec<Output> =
            sequences.into_iter().flat_map(|of| [of.qualities, of.bed, of.wig]).collect();
        outputs.extend(contigs);
        let texts = Texts { names: &names, judgement };
        let mut all: Vec<(PathBuf, String)> = names.tables().into_iter().zip(texts.all()).collect();
        let mut phasings = Vec::new();
        if let (Some((_, rule)), Some(trio)) = (&names.parents, &judgement.trio) {
            let [cutoffs, inherited, _] = names.of_parents();
            all.extend([(cutoffs, texts.cutoffs(trio)), (inherited, inherited_by(trio))]);
            for (assembly, spectra) in names.assemblies.iter().zip(&trio.spectra_of_hapmers) {
                let texts =
                    trio.names.iter().zip(spectra).map(|(name, of)| hapmer_copies(name, of));
                all.extend(names.hapmer_spectra(assembly).into_iter().zip(texts));
            }
            for (assembly, mut of) in names.assemblies.iter().zip(haplotypes) {
                of.phasing.is_doubtful = !trio.doubts.is_empty();
                let [_, _, stats, switches] = names.blocks(assembly, *rule);
                all.push((stats, of.phasing.line(assembly)));
                let title = switches.file_name().unwrap_or_default().to_string_lossy();
                let title = title.trim_end_matches(SWITCHES).trim_end_matches('.');
                all.push((switches.clone(), of.phasing.switches(title)));
                outputs.extend([of.bed, of.counts]);
                phasings.push(of.phasing);
            }
        }
        for (path, text) in all {
            let mut output = set.output(&path)?;
            output.write_all(text.as_bytes())?;
            outputs.push(output);
        }
        finish_all(outputs)?;
        Ok(phasings)
    }
}

impl Tracks for Files<'_> {
    fn mark(&mut self, assembly: usize, k: usize, mark: Mark<'_>) -> Result<(), Error> {
        let of = &mut self.sequences[assembly];
        let files = [&mut of.bed, &mut of.wig];
        match mark {
            Mark::Begin { name } => {
                of.name = String::from_utf8_lossy(name).into_owned();
                of.missing = 0;
                of.track.begin(name);
            }
            Mark::Run { start, kmers, bases, .. } => {
                of.missing += kmers;
                of.track.run(start, kmers, bases, files)?;
            }
            Mark::End { kmers, .. } => {
                of.track.flush(files)?;
                let rate = error_rate(of.missing, kmers, k).unwrap_or(f64::NAN);
                let line = row(&of.name, of.missing, kmers, quality(rate), rate);
                of.qualities.write_all(line.as_bytes())?;
                let (name, missing, quality) = (of.name.clone(), of.missing, quality(rate));
                of.largest.push(SequenceQuality { name, kmers, missing, quality });
                if of.largest.len() >= 2 * MAX_SEQUENCES {
                    keep_largest(&mut of.largest);
                }
            }
        }
        Ok(())
    }

    fn hapmer(&mut self, assembly: usize, mark: Mark<'_>) -> Result<(), Error> {
        match (self.haplotypes.get_mut(assembly), &mut self.contigs) {
            (Some(of), Some(contigs)) => of.mark(mark, contigs),
            _ => Ok(()),
        }
    }
}

/// Returns the text with the histograms of the child's k-mers by their parents.
fn inherited_by(trio: &Trio) -> String {
    let [one, other] = &trio.names;
    let names = ["child-only", one, other, "shared"];
    classes("k-mer", names.into_iter().zip(&trio.spectra))
}

/// Returns a line: name, k-mers that are in no read, all k-mers, quality, error rate.
fn row(name: &str, missing: u64, kmers: u64, quality: f64, rate: f64) -> String {
    format!("{name}\t{missing}\t{kmers}\t{}\t{}\n", general(quality), general(rate))
}

/// Makes the texts of the files that are written at the end.
struct Texts<'t> {
    names: &'t Names,
    judgement: &'t Outcome,
}

impl Texts<'_> {
    /// Returns the texts in the order of [`Names::tables`].
    fn all(&self) -> Vec<String> {
        let spectra = &self.judgement.spectra;
        let mut texts = vec![
            histogram(&spectra.reads),
            self.ploidy(),
            format!("{}\n", self.judgement.solid),
            self.qualities(),
            self.completeness(),
            self.sources(),
            self.only_by_source(),
        ];
        for of in &spectra.assemblies {
            texts.extend([copies(of), only(of)]);
        }
        if self.judgement.both.is_some() {
            texts.extend([copies(&spectra.both), only(&spectra.both)]);
        }
        texts
    }

    /// Returns the name and the quality of each assembly and, if there are several, of all together.
    fn each(&self) -> impl Iterator<Item = (&str, &AssemblyQuality)> {
        let names = self.names.assemblies.iter().map(String::as_str).chain(self.names.together());
        names.zip(self.judgement.assemblies.iter().chain(&self.judgement.both))
    }

    fn qualities(&self) -> String {
        let row = |(number, (name, of)): (usize, (&str, &AssemblyQuality))| {
            // Merqury capitalises the name of both here.
            let name = match (name, number < self.names.assemblies.len()) {
                ("both", false) => "Both",
                ("all", false) => "All",
                (name, _) => name,
            };
            row(name, of.only.instances, of.kmers, of.quality, of.error_rate)
        };
        self.each().enumerate().map(row).collect()
    }

    /// Returns the completeness of solid k-mers, then that of each parent's hap-mers.
    fn completeness(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, set: &str, found: u64, all: u64| {
            let part = if all > 0 { 100.0 * found as f64 / all as f64 } else { f64::NAN };
            let _ = writeln!(text, "{name}\t{set}\t{found}\t{all}\t{}", general(part));
        };
        self.each().for_each(|(name, of)| line(name, "all", of.found, of.solid));
        if let Some(trio) = &self.judgement.trio {
            let found = trio.found.iter().chain([&trio.found_in_both]);
            for ((name, _), found) in self.each().zip(found) {
                let parents = trio.names.iter().zip(found).zip(trio.hapmers);
                parents.for_each(|((parent, &found), all)| line(name, parent, found, all));
            }
        }
        text
    }

    fn cutoffs(&self, trio: &Trio) -> String {
        let mut text = format!("{}\t{}\n", self.names.reads, self.judgement.solid);
        for parent in 0..2 {
            let name = &trio.names[parent];
            let _ = writeln!(text, "{name}.only\t{}", trio.own[parent]);
            let _ = writeln!(text, "{name}.inherited\t{}", trio.inherited[parent]);
        }
        let _ = writeln!(text, "shared\t{}", trio.shared);
        text
    }

    fn ploidy(&self) -> String {
        let solid = self.judgement.solid;
        let mut text = format!("ploidy\tdepth\tboundary\n0\t0\t{solid}\n");
        let peaks = peaks(&self.judgement.spectra.rows(), solid, MAX_PEAKS);
        for (ploidy, (depth, boundary)) in (1..).zip(peaks) {
            let _ = writeln!(text, "{ploidy}\t{depth}\t{boundary}");
        }
        text
    }

    fn sources(&self) -> String {
        let names = self.names.sources();
        let sources = names.iter().zip(&self.judgement.spectra.sources);
        classes("Assembly", sources.map(|(name, histogram)| (name.as_str(), histogram)))
    }

    fn only_by_source(&self) -> String {
        let mut text = String::new();
        let names = self.names.sources();
        for (name, number) in names[1..].iter().zip(&self.judgement.spectra.only) {
            let _ = writeln!(text, "{name}\t0\t{number}");
        }
        text
    }
}

fn histogram(rows: &Histogram) -> String {
    let mut text = String::new();
    for (count, number) in rows.iter() {
        let _ = writeln!(text, "{count}\t{number}");
    }
    text
}

/// Returns the text of a copy-number spectrum.
fn copies(of: &OfAssembly) -> String {
    let names = Copies::ALL.map(Copies::name);
    classes("Copies", names.iter().map(String::as_str).zip(&of.copies))
}

/// Returns the text of the copy-number spectrum of a parent's hap-mers.
fn hapmer_copies(parent: &str, spectrum: &HapmerSpectra) -> String {
    let names = Copies::ALL.map(|copies| copies.name_of_hapmers(parent));
    classes("Copies", names.iter().map(String::as_str).zip(spectrum))
}

fn classes<'c>(what: &str, all: impl Iterator<Item = (&'c str, &'c Histogram)>) -> String {
    let mut text = format!("{what}\tkmer_multiplicity\tCount\n");
    for (class, rows) in all {
        for (count, number) in rows.iter() {
            let _ = writeln!(text, "{class}\t{count}\t{number}");
        }
    }
    text
}

/// Returns the text about k-mers that are in no read: those that occur once in the assembly, and all further copies.
fn only(of: &OfAssembly) -> String {
    let of = of.only;
    format!("1\t0\t{}\n2\t0\t{}\n", of.distinct, of.instances - of.distinct)
}

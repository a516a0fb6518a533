//! The files of a judgement.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use merganser_io::{Output, OutputSet, finish_all};
use merganser_kmers::Histogram;
use merganser_kmers::reads::Mark;
use merganser_spectrum::{error_rate, peaks, quality};

use super::number::general;
use super::track::Track;
use crate::spectra::OfAssembly;
use crate::{Copies, Error, Judged, Judgement, Source, Tracks};

/// What the files of a judgement are called.
#[derive(Clone, Debug)]
pub struct Names {
    prefix: PathBuf,
    reads: String,
    assemblies: Vec<String>,
}

/// Peaks of the reads' histogram that are listed.
const MOST_PEAKS: usize = 6;

impl Names {
    /// Files that begin with `prefix`, of assemblies of these names and reads of that.
    pub fn new(prefix: &Path, reads: &str, assemblies: Vec<String>) -> Names {
        Names { prefix: prefix.to_owned(), reads: reads.to_owned(), assemblies }
    }

    /// One that begins with the prefix.
    pub fn path(&self, suffix: &str) -> PathBuf {
        let mut path = OsString::from(&self.prefix);
        path.push(".");
        path.push(suffix);
        path.into()
    }

    /// The assemblies' names.
    pub fn assemblies(&self) -> &[String] {
        &self.assemblies
    }

    /// The names of the classes of an assembly spectrum: those of [`Source::ALL`] that there can be.
    pub fn sources(&self) -> Vec<String> {
        let name = |source: &Source| match (source, &self.assemblies[..]) {
            (Source::ReadOnly, _) => Some("read-only".to_owned()),
            (Source::First, [one]) => Some(one.clone()),
            (Source::First, [one, ..]) => Some(format!("{one}-only")),
            (Source::Second, [_, other]) => Some(format!("{other}-only")),
            (Source::Shared, [_, _]) => Some("shared".to_owned()),
            _ => None,
        };
        Source::ALL.iter().filter_map(name).collect()
    }

    /// One beside those.
    fn beside(&self, name: &str) -> PathBuf {
        self.prefix.with_file_name(name)
    }

    fn sequences(&self, assembly: &str) -> [PathBuf; 3] {
        let only = |suffix: &str| self.beside(&format!("{assembly}_only.{suffix}"));
        [self.path(&format!("{assembly}.qv")), only("bed"), only("wig")]
    }

    fn tables(&self) -> Vec<PathBuf> {
        let of_reads = ["hist", "hist.ploidy", "filt"]
            .map(|end| self.beside(&format!("{}.{end}", self.reads)));
        let mut suffixes: Vec<String> =
            ["qv", "completeness.stats", "spectra-asm.hist", "dist_only.hist"]
                .map(str::to_owned)
                .to_vec();
        for assembly in &self.assemblies {
            suffixes
                .extend(["spectra-cn.hist", "only.hist"].map(|end| format!("{assembly}.{end}")));
        }
        if self.assemblies.len() == 2 {
            suffixes.extend(["spectra-cn.hist", "only.hist"].map(str::to_owned));
        }
        of_reads.into_iter().chain(suffixes.iter().map(|suffix| self.path(suffix))).collect()
    }

    /// All of them.
    pub fn all(&self) -> Vec<PathBuf> {
        let sequences = self.assemblies.iter().flat_map(|assembly| self.sequences(assembly));
        sequences.chain(self.tables()).collect()
    }
}

/// The files of a judgement, which appear with their [`OutputSet`].
pub struct Files<'s> {
    names: Names,
    set: &'s OutputSet,
    /// Of each assembly.
    sequences: Vec<Sequences>,
}

/// Of the sequences of an assembly.
struct Sequences {
    qualities: Output,
    bed: Output,
    wig: Output,
    track: Track,
    name: String,
    missing: u64,
}

impl<'s> Files<'s> {
    /// Opens those that are written on the way.
    ///
    /// # Errors
    /// If one cannot be made.
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
            })
        };
        let sequences = names.assemblies.iter().map(open).collect::<Result<_, Error>>()?;
        Ok(Files { names, set, sequences })
    }

    /// Writes the others.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn finish(self, judgement: &Judgement) -> Result<(), Error> {
        let Files { names, set, sequences } = self;
        let mut outputs: Vec<Output> =
            sequences.into_iter().flat_map(|of| [of.qualities, of.bed, of.wig]).collect();
        let texts = Texts { names: &names, judgement };
        for (path, text) in names.tables().into_iter().zip(texts.all()) {
            let mut output = set.output(&path)?;
            output.write_all(text.as_bytes())?;
            outputs.push(output);
        }
        finish_all(outputs)?;
        Ok(())
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
            Mark::Run { start, kmers, .. } => {
                of.missing += kmers;
                of.track.run(start, kmers, k as u64, files)?;
            }
            Mark::End { kmers, .. } => {
                of.track.flush(k as u64, files)?;
                let rate = error_rate(of.missing, kmers, k).unwrap_or(f64::NAN);
                let line = row(&of.name, of.missing, kmers, quality(rate), rate);
                of.qualities.write_all(line.as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Name, k-mers that no read has, all, quality, rate of errors.
fn row(name: &str, missing: u64, kmers: u64, quality: f64, rate: f64) -> String {
    format!("{name}\t{missing}\t{kmers}\t{}\t{}\n", general(quality), general(rate))
}

/// The texts of the files that are written at the end.
struct Texts<'t> {
    names: &'t Names,
    judgement: &'t Judgement,
}

impl Texts<'_> {
    /// In the order of [`Names::tables`].
    fn all(&self) -> Vec<String> {
        let spectra = &self.judgement.spectra;
        let mut texts = vec![
            histogram(&spectra.reads),
            self.ploidy(),
            format!("{}\n", self.judgement.solid),
            self.each("Both", |of| {
                (
                    of.only.instances,
                    of.kmers,
                    format!("{}\t{}", general(of.quality), general(of.error_rate)),
                )
            }),
            self.each("both\tall", |of| {
                (of.found, of.solid, general(of.completeness().unwrap_or(f64::NAN)))
            }),
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

    /// A line for each assembly, and one for both.
    fn each(&self, both: &str, line: impl Fn(&Judged) -> (u64, u64, String)) -> String {
        let set = if both.contains('\t') { "\tall" } else { "" };
        let names = self.names.assemblies.iter().map(|name| format!("{name}{set}"));
        let judged = self.judgement.assemblies.iter().chain(&self.judgement.both);
        let mut text = String::new();
        for (name, judged) in names.chain([both.to_owned()]).zip(judged) {
            let (one, other, rest) = line(judged);
            let _ = writeln!(text, "{name}\t{one}\t{other}\t{rest}");
        }
        text
    }

    fn ploidy(&self) -> String {
        let solid = self.judgement.solid;
        let mut text = format!("ploidy\tdepth\tboundary\n0\t0\t{solid}\n");
        let peaks = peaks(&self.judgement.spectra.rows(), solid, MOST_PEAKS);
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
        for (name, number) in names[1..].iter().zip(self.judgement.spectra.only) {
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

/// A copy-number spectrum.
fn copies(of: &OfAssembly) -> String {
    let names = Copies::ALL.map(Copies::name);
    classes("Copies", names.iter().map(String::as_str).zip(&of.copies))
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

/// k-mers that no read has: those that stand in the assembly once, and what is beyond.
fn only(of: &OfAssembly) -> String {
    let of = of.only;
    format!("1\t0\t{}\n2\t0\t{}\n", of.distinct, of.instances - of.distinct)
}

//! Input files of the tools.

use crate::generate::genome::{Genome, Options};
use crate::generate::reads::{self, Format, Model};
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Files to count, all in one format.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// The name in the report.
    pub(crate) name: String,
    /// Coverage of simulated reads.
    pub(crate) coverage: Option<f64>,
    /// Absolute paths.
    pub(crate) files: Vec<PathBuf>,
    /// Format of all files.
    pub(crate) format: Format,
    /// Whether they are gzipped.
    pub(crate) gz: bool,
    /// Total size of the files in bytes, compressed if they are.
    pub(crate) bytes: u64,
}

/// Programs that make .gz files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Compressor {
    /// One member, like sequencing software, with several threads
    Pigz,
    /// One member
    Gzip,
    /// BGZF: many small members, like htslib
    Bgzip,
}

/// Parameters of simulated reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulated {
    pub(crate) genome_bases: u64,
    pub(crate) coverage: f64,
    pub(crate) substitutions: f64,
    pub(crate) seed: u64,
}

impl Inputs {
    /// Uses files given by the user.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or files differ in format or compression, which not all tools accept.
    pub(crate) fn given(files: &[PathBuf]) -> Result<Self> {
        let name = files.iter().map(|file| file.file_name().unwrap_or(file.as_os_str()));
        let name = name.map(|name| name.display().to_string()).collect::<Vec<_>>().join(" ");
        Self::new(name, None, files)
    }

    fn new(name: String, coverage: Option<f64>, files: &[PathBuf]) -> Result<Self> {
        let mut kinds = Vec::new();
        let mut paths = Vec::new();
        let mut bytes = 0;
        for file in files {
            let path = file.canonicalize();
            let path = path.with_context(|| format!("cannot find {}", file.display()))?;
            kinds.push(kind(&path)?);
            bytes += path.metadata()?.len();
            paths.push(path);
        }
        ensure!(kinds.windows(2).all(|pair| pair[0] == pair[1]), "files differ in format");
        let &(format, gz) = kinds.first().context("no input file")?;
        Ok(Self { name, coverage, files: paths, format, gz, bytes })
    }

    /// Uses two files of simulated pairs, made under `dir` unless they exist.
    pub(crate) fn simulated(spec: &Simulated, dir: &Path, threads: usize) -> Result<Self> {
        let Simulated { genome_bases, coverage, substitutions, seed } = *spec;
        let stem = format!("g{genome_bases}-c{coverage}-e{substitutions}-s{seed}.fq");
        let files = reads::mates(&dir.join(&stem))?;
        if !files.iter().all(|file| file.exists()) {
            eprintln!("creating {}", stem);
            let genome = Genome::new(genome_bases, seed, &bacterium())?.sequences(threads)?;
            reads::write(&Model::pairs(coverage, substitutions), genome, seed, threads, &files)?;
            sync(&files)?;
        }
        let megabases = genome_bases as f64 / 1e6;
        let errors = substitutions * 100.0;
        let name = format!(
            "simulated pairs of 150 bases, {coverage}× of {megabases} Mb, {errors} % substitutions"
        );
        Self::new(name, Some(coverage), &files)
    }

    /// Uses .gz files with these reads, made under `dir` unless they exist.
    pub(crate) fn compressed(
        self,
        compressor: Compressor,
        dir: &Path,
        threads: usize,
    ) -> Result<Self> {
        if self.gz {
            return Ok(self);
        }
        let mut files = Vec::new();
        for file in &self.files {
            let target = dir.join(compressed_name(file, self.format, compressor)?);
            if !is_newer(&target, file) {
                eprintln!("creating {}", target.display());
                compressor.run(file, &target, threads)?;
            }
            files.push(target);
        }
        sync(&files)?;
        let name = format!("{} ({})", self.name, compressor.program());
        Self::new(name, self.coverage, &files)
    }

    /// Reads all files once, so that they are in the page cache.
    pub(crate) fn warm(&self) -> Result<()> {
        if super::machine::available_memory().is_some_and(|available| available < self.bytes) {
            eprintln!("warning: the files exceed the free memory: runs will read the disk");
        }
        let mut buffer = vec![0; 1 << 20];
        for path in &self.files {
            let mut file = File::open(path)?;
            while file.read(&mut buffer)? > 0 {}
        }
        Ok(())
    }
}

/// Returns the options of a bacterial genome, which has few repeats: insertion sequences and ribosomal genes.
fn bacterium() -> Options {
    Options {
        repeat_fraction: 0.02,
        repeat_length: 1500,
        repeat_divergence: 0.01,
        repeat_families: 16,
        n_runs: 0,
        n_run_length: 0,
    }
}

/// Returns the name of the compressed copy of a file, with a hash of its path, because files in other folders may
/// have the same name.
fn compressed_name(file: &Path, format: Format, compressor: Compressor) -> Result<String> {
    let stem = file.file_stem().context("an input has no name")?.display();
    let mut hasher = std::hash::DefaultHasher::new();
    file.hash(&mut hasher);
    // FastK recognizes formats by these suffixes.
    let extension = if format == Format::Fastq { "fq" } else { "fa" };
    let (hash, program) = (hasher.finish() as u32, compressor.program());
    Ok(format!("{stem}-{hash:08x}.{program}.{extension}.gz"))
}

/// Whether `file` exists and is not older than `source`.
fn is_newer(file: &Path, source: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|data| data.modified());
    matches!((modified(file), modified(source)), (Ok(made), Ok(from)) if made >= from)
}

/// Writes the files to disk, so that this does not happen during a measurement.
fn sync(files: &[PathBuf]) -> Result<()> {
    files.iter().try_for_each(|file| Ok(File::open(file)?.sync_all()?))
}

/// Returns the format of a file and whether it is gzipped, from its first bytes.
fn kind(path: &Path) -> Result<(Format, bool)> {
    let open = || File::open(path).with_context(|| format!("cannot open {}", path.display()));
    let mut magic = Vec::new();
    open()?.take(2).read_to_end(&mut magic)?;
    let gz = magic == [0x1f, 0x8b];
    if gz {
        let mut child = Command::new("gzip")
            .args(["-dc"])
            .stdin(open()?)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run gzip")?;
        magic.clear();
        // After one byte the pipe is closed, which ends gzip.
        child.stdout.take().context("no pipe")?.take(1).read_to_end(&mut magic)?;
        child.wait()?;
    }
    match magic.first() {
        Some(b'@') => Ok((Format::Fastq, gz)),
        Some(b'>') => Ok((Format::Fasta, gz)),
        _ => bail!("{} is neither FASTA nor FASTQ, plain or gzipped", path.display()),
    }
}

impl Compressor {
    /// Returns pigz if it is installed: it writes the same format as gzip, but faster.
    pub(crate) fn best() -> Self {
        let found = super::peer::find_program(Self::Pigz.program()).is_some();
        if found { Self::Pigz } else { Self::Gzip }
    }

    fn program(self) -> &'static str {
        match self {
            Self::Pigz => "pigz",
            Self::Gzip => "gzip",
            Self::Bgzip => "bgzip",
        }
    }

    fn run(self, source: &Path, target: &Path, threads: usize) -> Result<()> {
        let part = target.with_extension("part");
        let mut command = Command::new(self.program());
        match self {
            Self::Pigz => command.args(["-6", "-p", &threads.to_string()]),
            Self::Gzip => command.arg("-6"),
            Self::Bgzip => command.args(["-@", &threads.to_string()]),
        };
        let status = command
            .args(["-c"])
            .arg(source)
            .stdout(File::create(&part)?)
            .status()
            .with_context(|| format!("cannot run {}", self.program()))?;
        ensure!(status.success(), "{} failed on {}", self.program(), source.display());
        Ok(std::fs::rename(&part, target)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Simulated =
        Simulated { genome_bases: 2000, coverage: 3.0, substitutions: 0.01, seed: 4 };

    #[test]
    fn simulated_files_are_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = Inputs::simulated(&SMALL, dir.path(), 2).unwrap();
        assert_eq!((inputs.files.len(), inputs.format, inputs.gz), (2, Format::Fastq, false));
        let modified = |path: &Path| path.metadata().unwrap().modified().unwrap();
        let before = modified(&inputs.files[0]);
        let again = Inputs::simulated(&SMALL, dir.path(), 2).unwrap();
        assert_eq!(modified(&again.files[0]), before);
        again.warm().unwrap();
    }

    #[test]
    fn compressed_files_keep_the_format() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = Inputs::simulated(&SMALL, dir.path(), 2).unwrap();
        let plain = inputs.bytes;
        let inputs = inputs.compressed(Compressor::Gzip, dir.path(), 2).unwrap();
        assert!(inputs.gz && inputs.format == Format::Fastq && inputs.bytes < plain / 2);
        assert!(inputs.files[0].display().to_string().ends_with(".gzip.fq.gz"));
        assert_ne!(inputs.files[0], inputs.files[1]);
    }

    #[test]
    fn other_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "ACGT\n").unwrap();
        assert!(Inputs::given(&[path]).is_err());
        assert!(Inputs::given(&[dir.path().join("missing")]).is_err());
        assert!(Inputs::given(&[]).is_err());
    }
}

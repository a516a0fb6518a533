//! Genomes with taxids, and simulated reads with true taxids.

use crate::generate::reads::{Model, write};
use crate::generate::sequences::Sequences;
use anyhow::{Context, Result, ensure};
use merganser_io::decompress;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Genomes in a folder, and the taxon of each sequence.
#[derive(Clone, Debug)]
pub(crate) struct Genomes {
    pub(crate) files: Vec<PathBuf>,
    /// A file with lines `sequence<TAB>taxid`.
    pub(crate) map: PathBuf,
    taxids: HashMap<String, String>,
}

impl Genomes {
    /// Lists the FASTA files of a folder, sorted by name, and reads the map of their sequences.
    pub(crate) fn open(folder: &Path, map: &Path) -> Result<Genomes> {
        let entries = fs::read_dir(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()?;
        let is_fasta = |path: &PathBuf| {
            let name = path.to_string_lossy();
            name.trim_end_matches(".gz").ends_with(".fna")
        };
        let mut files: Vec<PathBuf> = entries.into_iter().filter(is_fasta).collect();
        files.sort();
        ensure!(!files.is_empty(), "no *.fna or *.fna.gz in {}", folder.display());
        let text =
            fs::read_to_string(map).with_context(|| format!("cannot read {}", map.display()))?;
        let pairs = text.lines().filter_map(|line| line.split_once('\t'));
        let taxids = pairs.map(|(name, taxid)| (name.to_owned(), taxid.trim().to_owned()));
        Ok(Genomes { files, map: map.to_owned(), taxids: taxids.collect() })
    }

    /// Splits off the genomes whose file names begin with one of `stems`; returns these and the others.
    ///
    /// # Errors
    ///
    /// If no name begins with one of them.
    pub(crate) fn split(&self, stems: &[String]) -> Result<(Genomes, Genomes)> {
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for stem in stems {
            let known = self.files.iter().any(|path| name(path).starts_with(stem));
            ensure!(known, "no genome's name begins with {stem}");
        }
        let chosen = |path: &PathBuf| stems.iter().any(|stem| name(path).starts_with(stem));
        let (left_out, others) = self.files.iter().cloned().partition(chosen);
        Ok((Genomes { files: left_out, ..self.clone() }, Genomes { files: others, ..self.clone() }))
    }

    /// Writes all genomes to one FASTA file; `header` returns a sequence's header from its name and taxid.
    pub(crate) fn write(&self, path: &Path, header: impl Fn(&str, &str) -> String) -> Result<()> {
        let file =
            File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        let mut output = BufWriter::new(file);
        for genome in &self.files {
            let mut text = Vec::new();
            let file =
                File::open(genome).with_context(|| format!("cannot open {}", genome.display()))?;
            decompress(file)?.read_to_end(&mut text)?;
            for line in text.split_inclusive(|&byte| byte == b'\n') {
                let Some(old) = line.strip_prefix(b">") else {
                    output.write_all(line)?;
                    continue;
                };
                let old = String::from_utf8_lossy(old);
                let name = old.split_ascii_whitespace().next().unwrap_or_default();
                writeln!(output, ">{}", header(name, self.taxid(name)?))?;
            }
        }
        Ok(output.flush()?)
    }

    fn taxid(&self, name: &str) -> Result<&str> {
        let found = self.taxids.get(name).map(String::as_str);
        found.with_context(|| format!("{name} is not in {}", self.map.display()))
    }

    /// Simulates reads from all genomes with uniform coverage, and writes them to `PREFIX.fq` and their taxids to
    /// `PREFIX.tsv`, unless both files exist.
    pub(crate) fn reads(
        &self,
        model: &Model,
        seed: u64,
        threads: usize,
        prefix: &Path,
    ) -> Result<Reads> {
        let reads =
            Reads { file: prefix.with_extension("fq"), truth: prefix.with_extension("tsv") };
        if reads.truth.exists() {
            return Ok(reads);
        }
        let all = prefix.with_extension("fna");
        self.write(&all, |name, _| name.to_owned())?;
        write(model, Sequences::read(&all)?, seed, threads, std::slice::from_ref(&reads.file))?;
        fs::remove_file(&all)?;
        let mut truth = BufWriter::new(File::create(&reads.truth)?);
        // Headers are `r7 SEQUENCE:place`.
        for line in BufReader::new(File::open(&reads.file)?).lines().step_by(4) {
            let line = line?;
            let words = line.trim_start_matches('@').split_once(' ');
            let (read, place) = words.context("a simulated read without its position")?;
            let sequence = place.rsplit_once(':').map_or(place, |(sequence, _)| sequence);
            writeln!(truth, "{read}\t{}", self.taxid(sequence)?)?;
        }
        truth.flush()?;
        Ok(reads)
    }
}

/// Simulated reads.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    pub(crate) file: PathBuf,
    pub(crate) truth: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_come_with_their_taxids() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.fna"), format!(">s1 words\n{}\n", "ACGTTGCAGG".repeat(40))).unwrap();
        fs::write(at("b.fna"), format!(">s2\n{}\n", "TTGACCATGA".repeat(40))).unwrap();
        fs::write(at("map"), "s1\t11\ns2\t12\n").unwrap();
        let genomes = Genomes::open(folder.path(), &at("map")).unwrap();
        let (b, a) = genomes.split(&["b".into()]).unwrap();
        assert_eq!((a.files, b.files.clone()), (vec![at("a.fna")], vec![at("b.fna")]));
        assert!(genomes.split(&["c".into()]).is_err());
        let model = Model::single(50, 40, 0.0);
        let reads = genomes.reads(&model, 1, 1, &at("r")).unwrap();
        let truth = fs::read_to_string(&reads.truth).unwrap();
        let letters = fs::read_to_string(&reads.file).unwrap();
        assert_eq!((truth.lines().count(), letters.lines().count()), (40, 160));
        for (line, letters) in truth.lines().zip(letters.lines().skip(1).step_by(4)) {
            let first = letters.contains("GTTGC") || letters.contains("GCAAC");
            assert_eq!(line.ends_with("\t11"), first, "{line} {letters}");
        }
        b.write(&at("k"), |name, taxid| format!("{name}|kraken:taxid|{taxid}")).unwrap();
        assert!(fs::read_to_string(at("k")).unwrap().starts_with(">s2|kraken:taxid|12\nTTG"));
    }
}

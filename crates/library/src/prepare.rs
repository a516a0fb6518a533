//! Preparation of a library from downloads: selects genomes, reuses earlier results, and reads the rest.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use merganser_io::Chunk;
use merganser_run::{Cancel, Context, Numbers, Progress, Stages, Unit, each, peak_rss};

use super::check::{Checked, check};
use super::checksums::Checksums;
use super::config::LibraryConfig;
use super::downloads::Downloads;
use super::journal::{self, Journal};
use super::manifest::Manifest;
use super::row::{Content, Md5Sum, Row, Stamp, Status};
use super::selection::{Selection, select};
use crate::Error;
use merganser_taxonomy::Dump;

/// A library that was checked but not yet written.
#[derive(Debug)]
pub struct Library {
    rows: Vec<Row>,
    /// The path of the journal, computed in advance: no memory is allocated between the appearance of the manifest
    /// and the removal of the journal.
    journal: PathBuf,
    /// Facts about the library.
    pub outcome: LibraryOutcome,
}

/// Facts about a checked library.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LibraryOutcome {
    /// The number of sequences of the library's genomes.
    pub records: u64,
    /// The number of secondary and supplementary alignments; always 0 for genomes.
    pub skipped_alignments: u64,
    /// The duration of each stage.
    pub stages: Stages,
    /// The peak resident size of the process so far in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// The number of genome files in the library.
    pub genomes: u64,
    /// The number of bases of these files.
    pub bases: u64,
    /// The number of these files with a listed checksum.
    pub with_checksum: u64,
    /// The number of files that were not read again, because they have not changed since an earlier run.
    pub known: u64,
    /// Files that would belong to the library but are damaged.
    pub damaged: Passed,
    /// Files of older versions of an assembly.
    pub superseded: Passed,
    /// Files of a version that an earlier file has as well.
    pub duplicates: Passed,
    /// Files without a taxon.
    pub without_taxon: Passed,
    /// Files whose level or category was not requested.
    pub excluded: Passed,
    /// The number of genomes whose version is on no list although another one is, and the accession of the first.
    pub other_versions: (u64, Option<String>),
    /// The number of listed genomes without a file.
    pub missing: u64,
}

/// Files that were left out: their number, and the first one with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// The number of files.
    pub number: u64,
    /// The path of the first file in the manifest, and the reason.
    pub first: Option<(PathBuf, String)>,
}

impl Passed {
    fn add(&mut self, row: &Row) {
        self.number += 1;
        let first = || (row.path.clone(), row.status.reason().to_owned());
        self.first.get_or_insert_with(first);
    }
}

impl Library {
    /// Selects genomes among downloads, and reads those that are not known to be sound from an earlier manifest of
    /// this name or from the journal of a run that was killed. Listed genomes without a file are written to
    /// `missing` as ACCESSION, TAXON and URL, separated by tabs. The only other output is the journal, which
    /// exists until [`finish`](Self::finish).
    ///
    /// # Errors
    /// If lists, checksums or the taxonomy cannot be read or are malformed; if there is no list, or no list has
    /// any of the genomes; if an earlier manifest is damaged or not a manifest; if writing fails; if cancelled.
    /// Damaged genomes are not errors: their rows have the reason.
    pub fn prepare(
        config: &LibraryConfig,
        downloads: &Downloads,
        manifest: &Path,
        missing: &mut dyn Write,
        context: &Context,
    ) -> Result<Library, Error> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        context.validate()?;
        let started = Instant::now();
        let earlier = Earlier::read(manifest)?;
        let paths = paths_from(downloads, manifest)?;
        let selection = {
            // A taxonomy may be large, and is only needed here.
            let read = |source| Dump::read_within(source, context.budget(), 0);
            let taxonomy = config.taxonomy.as_ref().map(read).transpose()?;
            select(config, &paths, &downloads.lists, taxonomy.as_ref(), missing)?
        };
        let genomes = downloads.genomes.iter().map(PathBuf::as_path);
        let checksums = Checksums::read(&config.md5, &downloads.checksums, genomes)?;
        let mut outcome = LibraryOutcome {
            missing: selection.missing,
            other_versions: selection.other_versions.clone(),
            ..LibraryOutcome::default()
        };
        outcome.stages.since("lists", started);
        let mut files = files(downloads, paths, selection, &checksums);
        if !config.verify {
            files.iter_mut().for_each(|file| file.take_known(&earlier));
        }
        outcome.known = files.iter().filter(|file| file.is_known).count() as u64;
        let checking = Instant::now();
        let threads = context.threads;
        let work = Work { files: &files, earlier: &earlier, manifest, threads, progress, cancel };
        for (at, row) in work.check()? {
            files[at].row = row;
        }
        outcome.stages.since("check", checking);
        for file in &files {
            outcome.add(&file.row, file.listed.is_some());
        }
        outcome.peak_memory = peak_rss();
        let rows = files.into_iter().map(|file| file.row).collect();
        Ok(Library { rows, journal: Journal::path(manifest), outcome })
    }

    /// Returns the rows of the manifest, one for each genome that was found, in the order in which they were found.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Writes the manifest.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        Manifest::write(&self.rows, output)
    }

    /// Removes the journal; call it after the manifest has appeared.
    ///
    /// # Errors
    /// If the journal cannot be removed.
    pub fn finish(self) -> Result<LibraryOutcome, Error> {
        journal::remove(self.journal)?;
        Ok(self.outcome)
    }

    /// Returns the path of the journal of a manifest.
    pub fn journal(manifest: &Path) -> PathBuf {
        Journal::path(manifest)
    }
}

impl LibraryOutcome {
    fn add(&mut self, row: &Row, is_listed: bool) {
        match (&row.status, &row.content) {
            (Status::Sound, Some(content)) => {
                self.genomes += 1;
                self.records += content.sequences;
                self.bases += content.bases;
                self.with_checksum += u64::from(is_listed);
            }
            (Status::Superseded(_), _) => self.superseded.add(row),
            (Status::Duplicate(_), _) => self.duplicates.add(row),
            (Status::NoTaxon(_), _) => self.without_taxon.add(row),
            (Status::Excluded(_), _) => self.excluded.add(row),
            (Status::Damaged(_) | Status::Sound, _) => self.damaged.add(row),
        }
    }
}

/// The results of earlier runs, by path.
struct Earlier(HashMap<PathBuf, Known>);

/// The result of an earlier run for one file.
struct Known {
    stamp: Stamp,
    content: Content,
    is_sound: bool,
}

impl Earlier {
    /// Reads the manifest that will be replaced, and then its journal, whose rows are newer.
    fn read(manifest: &Path) -> Result<Earlier, Error> {
        let mut rows: Vec<Row> = match fs::metadata(manifest) {
            Ok(there) if there.is_file() => Manifest::read(manifest)
                .map_err(|error| in_the_way(manifest, &error))?
                .into_rows()
                .collect(),
            Ok(_) => return Err(Error::content(manifest, "a manifest must be a regular file")),
            Err(_) => Vec::new(),
        };
        rows.extend(Journal::read(manifest)?);
        let known = |row: Row| {
            let is_sound = row.status == Status::Sound;
            Some((row.path, Known { stamp: row.stamp?, content: row.content?, is_sound }))
        };
        Ok(Earlier(rows.into_iter().filter_map(known).collect()))
    }

    /// Returns the result for a file that has not changed since.
    fn of(&self, path: &Path, stamp: Stamp) -> Option<&Known> {
        self.0.get(path).filter(|known| known.stamp == stamp)
    }
}

/// Returns the error about a file that would be replaced.
fn in_the_way(manifest: &Path, error: &Error) -> Error {
    match error {
        Error::Content { reason, .. } => Error::content(
            manifest,
            format!(
                "would be replaced, but it is not a whole manifest ({reason}): remove it, or name \
                     another file with `output`"
            ),
        ),
        other => Error::content(manifest, other.to_string()),
    }
}

/// A genome, and its row in the manifest.
struct File<'d> {
    path: &'d Path,
    listed: Option<Md5Sum>,
    row: Row,
    is_known: bool,
}

/// Returns all genomes with the facts that are known before they are read.
fn files<'d>(
    downloads: &'d Downloads,
    paths: Vec<PathBuf>,
    selection: Selection,
    checksums: &Checksums,
) -> Vec<File<'d>> {
    let choices = selection.choices.into_iter();
    let all = downloads.genomes.iter().zip(paths).zip(choices);
    all.map(|((path, shown), choice)| {
        let stamp = fs::metadata(path).ok().map(|metadata| Stamp::of(&metadata));
        let (accession, taxon, status) = (choice.accession, choice.taxon, choice.status);
        let row = Row { path: shown, accession, taxon, content: None, stamp, status };
        File { path, listed: checksums.of(path), row, is_known: false }
    })
    .collect()
}

impl File<'_> {
    /// Reuses the result of an earlier run if the file is unchanged and was sound.
    fn take_known(&mut self, earlier: &Earlier) {
        let Some(stamp) = self.row.stamp.filter(|_| self.row.status == Status::Sound) else {
            return;
        };
        let is_listed = |md5: Md5Sum| self.listed.is_none_or(|listed| listed == md5);
        let known = earlier.of(&self.row.path, stamp);
        let known = known.filter(|known| known.is_sound && is_listed(known.content.md5));
        self.row.content = known.map(|known| known.content);
        self.is_known = known.is_some();
    }

    fn is_to_be_read(&self) -> bool {
        self.row.status == Status::Sound && !self.is_known
    }

    /// Returns the row of a file after it was read; `None` if it was not read to its end.
    fn read(&self, checked: Checked, earlier: &Earlier) -> Option<Row> {
        let row = self.row.clone();
        match checked {
            Checked::Sound(content, stamp) => {
                let stamp_now = Some(stamp);
                let before = earlier.of(&row.path, stamp).map(|known| known.content);
                let Some(before) = before.filter(|_| self.listed.is_none()) else {
                    return Some(Row { content: Some(content), stamp: stamp_now, ..row });
                };
                // The earlier checksum is kept, so that the next run detects the change as well.
                let status = match before.md5 == content.md5 {
                    true => Status::Sound,
                    false => Status::Damaged(format!(
                        "its MD5 is {}, and was {} when it was checked before, though its size and time \
                         are the same",
                        content.md5, before.md5
                    )),
                };
                Some(Row { content: Some(before), stamp: stamp_now, status, ..row })
            }
            Checked::Damaged(reason) => Some(Row { status: Status::Damaged(reason), ..row }),
            Checked::Stopped => None,
        }
    }
}

/// The inputs of reading the files.
struct Work<'a> {
    files: &'a [File<'a>],
    earlier: &'a Earlier,
    manifest: &'a Path,
    threads: usize,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
}

impl Work<'_> {
    /// Reads all files that need it with all threads, the largest first, so that no large file is left to a
    /// single thread at the end. Adds sound files to the journal.
    fn check(&self) -> Result<Vec<(usize, Row)>, Error> {
        let size = |at: usize| self.files[at].row.stamp.map_or(0, |stamp| stamp.size);
        let to_read = |&at: &usize| self.files[at].is_to_be_read();
        let mut order: Vec<usize> = (0..self.files.len()).filter(to_read).collect();
        if order.is_empty() {
            return Ok(Vec::new());
        }
        order.sort_by_key(|&at| std::cmp::Reverse(size(at)));
        let journal = Journal::open(self.manifest)?;
        let total = order.iter().map(|&at| size(at)).sum();
        self.progress.stage("check", Unit::Bytes, Some(total));
        let found = each(self.threads, 0..order.len(), self.cancel, |numbers| {
            let mut chunk = Chunk::default();
            let mut found = Vec::new();
            while let Some(number) = numbers.next() {
                let at = order[number];
                let checked = self.check_one(at, &mut chunk, numbers);
                let Some(row) = self.files[at].read(checked, self.earlier) else { break };
                if row.status == Status::Sound {
                    journal.add(&row)?;
                }
                found.push((at, row));
            }
            Ok::<_, Error>(found)
        })?;
        self.progress.finish();
        Ok(found.into_iter().flatten().collect())
    }

    fn check_one(&self, at: usize, chunk: &mut Chunk, numbers: &Numbers<'_>) -> Checked {
        let File { path, listed, .. } = &self.files[at];
        check(path, *listed, chunk, &|bytes| {
            self.progress.advance(bytes);
            !numbers.is_stopped()
        })
    }
}

/// Returns the paths of genomes for the manifest: absolute if the folder was given so, otherwise relative to the
/// folder of the manifest, so that it can be used from any directory.
fn paths_from(downloads: &Downloads, manifest: &Path) -> Result<Vec<PathBuf>, Error> {
    let here = |path: &Path| match path.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => path.to_owned(),
    };
    let real = |path: &Path| {
        fs::canonicalize(path).map_err(|source| Error::File { path: path.to_owned(), source })
    };
    let base = real(&here(manifest.parent().unwrap_or(Path::new(""))))?;
    let is_here = base == real(Path::new("."))?;
    let mut paths = Vec::with_capacity(downloads.genomes.len());
    for (folder, end) in &downloads.folders {
        let genomes = &downloads.genomes[paths.len()..*end];
        if folder.is_absolute() || is_here {
            paths.extend_from_slice(genomes);
            continue;
        }
        let folder_there = relative(&base, &real(folder)?);
        let there = |path: &PathBuf| match path.strip_prefix(folder) {
            Ok(rest) => folder_there.join(rest),
            Err(_) => path.clone(),
        };
        paths.extend(genomes.iter().map(there));
    }
    Ok(paths)
}

/// Returns the relative path from one folder to another; both must be absolute and without links.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    up.chain(to[common..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_between_folders() {
        for (from, to, way) in [
            ("/a/b", "/a/b/c", "c"),
            ("/a/b", "/a/c/d", "../c/d"),
            ("/a/b", "/a", ".."),
            ("/a", "/a", ""),
            ("/", "/x", "x"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(way), "{from} {to}");
        }
    }
}

//! Files of sets: Merganser's format (`.mgd`) and Deacon's (`.idx`), recognized by content.

mod idx;
mod mgd;

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::sync::Mutex;

use merganser_io::{AtomicFile, FileKind, OutputFormat, OutputSet};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Budget, Cancel, Context, run_workers};

use crate::host::{LineLookup, Section};
use crate::sections::{SECTIONS, each_section, sorted};
use crate::sorted::SortedLookup;
use crate::word::{ByWord, Word};
use crate::{Error, MinimizerLookup, MinimizerSet, Params};

/// A format of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Merganser's format, with checksums.
    Mgd,
    /// Deacon's format, version 3.
    Idx,
}

impl Format {
    /// Returns the format for a file of this name: Deacon's if it ends in `.idx`.
    pub fn of(path: &Path) -> Format {
        match OutputFormat::of_name(path) {
            Some(OutputFormat::Deacon) => Format::Idx,
            _ => Format::Mgd,
        }
    }
}

/// The properties of a set, from its file's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// The format of the file.
    pub format: Format,
    /// The parameters of the minimizers.
    pub params: Params,
    /// The number of minimizers.
    pub count: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// An open file whose header was read.
struct Opened<'p> {
    path: &'p Path,
    description: Description,
    reader: Reader,
}

enum Reader {
    Mgd(mgd::Reader<BufReader<File>>),
    Idx(idx::Reader<BufReader<File>>),
}

/// Returns a message about a file of another known kind.
fn foreign(path: &Path) -> Option<String> {
    let maker = "merganser deplete index makes one of the host's genome";
    let kind = FileKind::of_path(path)?;
    Some(kind.instead_of("a set of minimizers (.mgd, or Deacon's .idx)", Some(maker)))
}

impl<'p> Opened<'p> {
    fn open(path: &'p Path) -> Result<Opened<'p>, Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let file = merganser_io::open_file(path).map_err(at)?;
        let metadata = file.metadata().map_err(at)?;
        if metadata.is_dir() {
            return Err(Error::set(path, "is a folder: give a file that `deplete index` wrote"));
        }
        let bytes = metadata.len();
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut first = Vec::new();
        file.by_ref().take(8).read_to_end(&mut first).map_err(at)?;
        let problem = |problem| Error::set(path, problem);
        let (format, params, count, reader) = if first == mgd::FORMAT.magic {
            let reader = mgd::Reader::open(file, bytes).map_err(problem)?;
            (Format::Mgd, reader.params, reader.count, Reader::Mgd(reader))
        } else {
            let reader = idx::Reader::open(&first, file, bytes);
            let reader = reader.map_err(|text| problem(foreign(path).unwrap_or(text)))?;
            (Format::Idx, reader.params, reader.count, Reader::Idx(reader))
        };
        let description = Description { format, params, count, bytes };
        Ok(Opened { path, description, reader })
    }

    /// Returns the number of minimizers to reserve memory for in a section.
    fn room(&self, section: usize) -> usize {
        match &self.reader {
            Reader::Mgd(reader) => reader.sections[section].0 as usize,
            Reader::Idx(reader) => reader.count as usize / SECTIONS,
        }
    }

    /// Returns the memory that a thread needs to decode, in bytes.
    fn piece_bytes(&self) -> u64 {
        match &self.reader {
            Reader::Mgd(reader) => {
                reader.sections.iter().map(|section| section.1).max().unwrap_or(0)
            }
            Reader::Idx(_) => 4 * self.description.params.word_bytes() * idx::STRETCH as u64,
        }
    }

    /// Checks that the minimizers, which take this many bytes, fit into memory. Warns of an empty set.
    fn check(&self, bytes: u64, context: &Context) -> Result<(), Error> {
        let path = self.path.display();
        if self.description.count == 0 {
            context.warnings.push(format!(
                "{path}: there are no minimizers in it, so no read matches: build it again from \
                 nucleotide sequences"
            ));
        }
        let needed = bytes + context.threads as u64 * self.piece_bytes();
        let budget = Budget::new(context.budget()).with_files(1).with(needed);
        budget.check(format_args!("{path} needs"), "or use a smaller set")?;
        Ok(())
    }

    /// Calls `take` on `threads` threads with a section and some of its numbers, until all numbers were passed.
    fn each<W: Word>(
        self,
        threads: usize,
        cancel: &Cancel,
        take: impl Fn(usize, &[W]) + Sync,
    ) -> Result<(), Error> {
        let (path, params) = (self.path, self.description.params);
        let problem = |problem| Error::set(path, problem);
        match self.reader {
            Reader::Mgd(reader) => {
                let sections = reader.sections.clone();
                pieces(
                    threads,
                    cancel,
                    reader,
                    |reader, bytes| reader.section(bytes),
                    |section, bytes| {
                        let count = sections[section].0;
                        mgd::decode(params, section, count, bytes, |numbers| take(section, numbers))
                    },
                    problem,
                )
            }
            Reader::Idx(reader) => pieces(
                threads,
                cancel,
                reader,
                |reader, bytes| {
                    reader.stretch(bytes)?;
                    Ok((!bytes.is_empty()).then_some(()))
                },
                |(), bytes| {
                    let mut numbers = each_section(|_| Vec::new());
                    idx::decode(params, bytes, |number: W| {
                        numbers[params.section(number)].push(number)
                    })?;
                    numbers
                        .iter()
                        .enumerate()
                        .for_each(|(section, numbers)| take(section, numbers));
                    Ok(())
                },
                problem,
            ),
        }
    }
}

/// Reads pieces of a file one after the other and decodes them on `threads` threads.
fn pieces<R: Send, P>(
    threads: usize,
    cancel: &Cancel,
    reader: R,
    read: impl Fn(&mut R, &mut Vec<u8>) -> Result<Option<P>, String> + Sync,
    decode: impl Fn(P, &[u8]) -> Result<(), String> + Sync,
    problem: impl Fn(String) -> Error + Sync,
) -> Result<(), Error> {
    let reader = Mutex::new(Some(reader));
    let work = |bytes: &mut Vec<u8>| -> Result<bool, String> {
        let mut open = lock(&reader);
        let Some(piece) = open.as_mut().map(|reader| read(reader, bytes)).transpose()?.flatten()
        else {
            *open = None;
            return Ok(false);
        };
        drop(open);
        decode(piece, bytes)?;
        Ok(true)
    };
    run_workers(threads, |_| {
        let mut bytes = Vec::new();
        loop {
            cancel.check()?;
            match work(&mut bytes) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => {
                    // Other threads stop when they find no reader.
                    *lock(&reader) = None;
                    return Err(problem(error));
                }
            }
        }
    })
}

/// Reads a set's properties from the header of its file.
///
/// # Errors
/// If the file cannot be read, or is not a set.
pub fn describe(path: impl AsRef<Path>) -> Result<Description, Error> {
    let path = path.as_ref();
    Ok(Opened::open(path)?.description)
}

/// Reads a set, within the memory of `context` less `reserved` bytes.
///
/// # Errors
/// If the file cannot be read, is not a set or is damaged, the set needs more memory, or the run is cancelled.
pub fn read(path: &Path, context: &Context, reserved: u64) -> Result<MinimizerSet, Error> {
    let opened = Opened::open(path)?;
    let params = opened.description.params;
    let numbers = match params.are_long() {
        false => ByWord::Short(read_numbers(opened, context, reserved)?),
        true => ByWord::Long(read_numbers(opened, context, reserved)?),
    };
    Ok(MinimizerSet::of_sorted(params, numbers))
}

/// Reads the sorted numbers of a set, like [`read`].
fn read_numbers<W: Word>(
    opened: Opened<'_>,
    context: &Context,
    reserved: u64,
) -> Result<Vec<W>, Error> {
    let count = opened.description.count;
    opened.check(reserved + W::BYTES as u64 * count, context)?;
    let sections = each_section(|section| Mutex::new(Vec::with_capacity(opened.room(section))));
    let take = |section: usize, numbers: &[W]| lock(&sections[section]).extend_from_slice(numbers);
    opened.each(context.threads, &context.cancel, take)?;
    sorted(sections, context.threads)
}

impl MinimizerLookup {
    /// Checks that the set at `path` fits into the memory of `context`, without reading it. Returns the bytes that its
    /// look-ups take.
    ///
    /// # Errors
    /// If the file is not a set, or needs more memory.
    pub(crate) fn check_room(path: &Path, context: &Context) -> Result<(Params, u64), Error> {
        let opened = Opened::open(path)?;
        let Description { params, count, .. } = opened.description;
        let bytes = match params.are_long() {
            false => LineLookup::bytes_for(params, count as usize),
            true => {
                let starts = SortedLookup::bytes_of_starts(params, count as usize);
                starts + params.word_bytes() * count
            }
        };
        opened.check(bytes, context)?;
        Ok((params, bytes))
    }

    /// Reads a set for look-ups on all threads of `context`, within its memory.
    ///
    /// # Errors
    /// Returns the errors of [`read`].
    pub fn read(path: impl AsRef<Path>, context: &Context) -> Result<MinimizerLookup, Error> {
        let opened = Opened::open(path.as_ref())?;
        let Description { params, count, .. } = opened.description;
        Ok(MinimizerLookup(match params.are_long() {
            false => ByWord::Short(read_lines(opened, context)?),
            true => {
                let starts = SortedLookup::bytes_of_starts(params, count as usize);
                let numbers = read_numbers(opened, context, starts)?;
                ByWord::Long(SortedLookup::new(params, numbers))
            }
        }))
    }
}

/// Reads a set of short minimizers for look-ups, like [`MinimizerLookup::read`].
fn read_lines(opened: Opened<'_>, context: &Context) -> Result<LineLookup, Error> {
    let Description { params, count, .. } = opened.description;
    opened.check(LineLookup::bytes_for(params, count as usize), context)?;
    let room = |section| Mutex::new(Section::with_room(params, opened.room(section)));
    let sections = each_section(room);
    // The minimizers of an `.mgd` file are distinct, and its sections have as many as its header says.
    let are_distinct = opened.description.format == Format::Mgd;
    opened.each(context.threads, &context.cancel, |section, numbers: &[u64]| {
        let mut section = lock(&sections[section]);
        let numbers = numbers.iter().map(|&number| number << params.unused_bits::<u64>());
        if are_distinct {
            section.append(params, numbers);
        } else {
            section.add_all(params, &numbers.collect::<Vec<u64>>());
        }
    })?;
    Ok(LineLookup::of_sections(params, sections.into_iter().map(into_inner).collect()))
}

impl MinimizerSet {
    /// Reads a set of either format, with the threads and within the memory of `context`.
    ///
    /// # Errors
    /// Returns the errors of [`read`].
    pub fn open(path: impl AsRef<Path>, context: &Context) -> Result<MinimizerSet, Error> {
        read(path.as_ref(), context, 0)
    }

    /// Writes the set to a file, with the threads of `context`, in [the format of its name](Format::of).
    ///
    /// # Errors
    /// If the file cannot be written. Then no file is left.
    pub fn save(&self, path: impl AsRef<Path>, context: &Context) -> Result<(), Error> {
        let path = path.as_ref();
        let outputs = OutputSet::new();
        write(self, Format::of(path), context.threads, outputs.file(path)?)?;
        outputs.commit()?;
        Ok(())
    }
}

/// Writes a set, using `threads` threads; its bytes do not depend on their number.
///
/// # Errors
/// If the file cannot be written. Then no file is left.
pub fn write(
    set: &MinimizerSet,
    format: Format,
    threads: usize,
    mut file: AtomicFile,
) -> Result<(), Error> {
    match format {
        Format::Mgd => mgd::write(set, threads, &mut file)?,
        Format::Idx => idx::write(set, &mut file)?,
    }
    file.flush()?;
    file.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_test_random::Random;

    fn sets() -> Vec<MinimizerSet> {
        let mut random = Random(1);
        let mut set = |k, count| {
            let params = Params::new(k, 15).unwrap();
            let mut number = || u128::from(random.next()) << 64 | u128::from(random.next());
            MinimizerSet::of_values(params, (0..count).map(|_| number() & params.mask::<u128>()))
        };
        vec![
            set(31, 0),
            set(31, 1),
            set(31, 50_000),
            set(5, 900),
            set(1, 3),
            set(21, 256),
            set(21, 257),
            set(33, 257),
            set(41, 50_000),
            set(61, 0),
            set(61, 900),
        ]
    }

    fn written(set: &MinimizerSet, format: Format, folder: &Path) -> Vec<u8> {
        let path = folder.join("set");
        let bytes = [1, 3].map(|threads| {
            write(set, format, threads, AtomicFile::create(&path).unwrap()).unwrap();
            std::fs::read(&path).unwrap()
        });
        assert_eq!(bytes[0], bytes[1]);
        bytes.into_iter().next().unwrap()
    }

    fn read_back(bytes: &[u8], folder: &Path) -> Result<(MinimizerSet, MinimizerLookup), Error> {
        let path = folder.join("back");
        std::fs::write(&path, bytes).unwrap();
        let context = Context::new().threads(3).memory(1 << 30);
        Ok((read(&path, &context, 0)?, MinimizerLookup::read(&path, &context)?))
    }

    #[test]
    fn sets_come_back() {
        let folder = tempfile::tempdir().unwrap();
        for set in sets() {
            for format in [Format::Mgd, Format::Idx] {
                let bytes = written(&set, format, folder.path());
                let (back, host) = read_back(&bytes, folder.path()).unwrap();
                assert_eq!(back, set);
                assert_eq!(host.len(), set.len());
                assert!(set.values().all(|value| host.contains(value)));
                let description = describe(folder.path().join("back")).unwrap();
                let expected = Description {
                    format,
                    params: set.params(),
                    count: set.len() as u64,
                    bytes: bytes.len() as u64,
                };
                assert_eq!(description, expected);
            }
        }
        for large in [2, 8] {
            let large = &sets()[large];
            let [own, deacons] = [Format::Mgd, Format::Idx]
                .map(|format| written(large, format, folder.path()).len());
            assert!(own < deacons * 9 / 10, "{own} {deacons}");
        }
    }

    /// Every changed byte and every cut is detected; of long minimizers, every fifth is tried.
    #[test]
    fn damage_is_met() {
        let folder = tempfile::tempdir().unwrap();
        for (set, step) in [(5, 1), (7, 5)] {
            let set = &sets()[set];
            let bytes = written(set, Format::Mgd, folder.path());
            for at in (0..bytes.len()).step_by(step) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 4;
                assert!(read_back(&damaged, folder.path()).is_err(), "byte {at}");
                assert!(read_back(&bytes[..at], folder.path()).is_err(), "cut at {at}");
            }
            let longer = [&bytes[..], b"x"].concat();
            assert!(read_back(&longer, folder.path()).is_err());
            let bytes = written(set, Format::Idx, folder.path());
            for at in (0..bytes.len()).step_by(step) {
                assert!(read_back(&bytes[..at], folder.path()).is_err(), "cut at {at}");
            }
        }
    }

    #[test]
    fn foreign_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (bytes, part) in [
            (&b""[..], "is empty"),
            (b">genome\nACGT\n", "not a set of minimizers"),
            (b"DBF\x20\x01\x1f\x0f", "binary fuse"),
            (b"\x02\x1f\x0f\0\0\0\0\0\0\0\0", "version 2"),
            (b"\x03\x1e\x0f\0\0\0\0\0\0\0\0", "k"),
            (b"\x03\x3f\x0f\0\0\0\0\0\0\0\0", "k must be up to 61"),
            (b"\x03\x20\x0f\0\0\0\0\0\0\0\0", "not a set of minimizers"),
            (b"\x04\x29\x0f\0\0\0\0\0\0\0\0", "version 4"),
        ] {
            let message = read_back(bytes, folder.path()).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn too_little_memory_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        write(&sets()[2], Format::Mgd, 1, AtomicFile::create(&path).unwrap()).unwrap();
        let context = Context::new().memory(20 << 20);
        let message = MinimizerLookup::read(&path, &context).unwrap_err().to_string();
        assert!(message.contains("`memory` gives 20.0 MiB: raise it"), "{message}");
    }
}

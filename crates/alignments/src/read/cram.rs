//! CRAM: containers of records that are encoded as differences from a reference.
//!
//! Containers are read one after the other and decoded by the workers. A sequence of the reference is loaded when a
//! container needs it, compared with the length and the MD5 in the header, and shared by the workers.

mod block;
mod container;
mod corrected;
mod merged;

use self::corrected::{correct, has_no_qualities, wrong_signs};
use self::merged::with_merged_cigar;
use super::comments::put_fields;
use super::reference::Reference;
use super::templates::Templates;
use super::{Alignment, BEST_QUALITY};
use crate::flag;
use crate::sequences::{Sequence, bam_header_of, header_of, with_read_groups};
use md5::{Digest, Md5};
use merganser_io::{AlignmentBytes, AlignmentHeader, CommentTags, Problem, Reads, WhichAlignments};
use noodles_cram::io::reader::Container;
use noodles_fasta::{self as fasta, Repository};
use noodles_sam::alignment::Record as _;
use noodles_sam::alignment::io::Write as _;
use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once};

/// The place of the mapping quality in a record of BAM.
const QUALITY_AT: usize = 13;

/// The maximum number of loaded reference bases. If more are in memory, they are dropped before the next container is
/// decoded: neighbouring containers of sorted alignments need the same few sequences.
const MAX_BASES: u64 = 512 << 20;

/// The data that are needed to decode any container.
struct Cram {
    header: noodles_sam::Header,
    repository: Repository,
    shared: Arc<Shared>,
}

/// State that the loader of sequences shares with the threads that decode.
#[derive(Default)]
struct Shared {
    /// The number of bases loaded since the loaded sequences were last dropped. A thread that loads at that moment may count
    /// for nothing, so each thread may keep one sequence more.
    bases: AtomicU64,
    /// Whether a sequence was requested although no reference was given.
    missing: AtomicBool,
}

/// The containers of a file.
struct Containers<R> {
    reader: noodles_cram::io::Reader<R>,
    /// The header lines.
    text: Vec<u8>,
    sequences: Arc<Vec<Sequence>>,
    cram: Arc<Cram>,
    /// The bytes of a container, before it is passed to the decoder.
    bytes: Vec<u8>,
}

impl<R: Read> Containers<R> {
    /// Reads the header of a file.
    fn open(input: R, reference: Option<&Path>) -> io::Result<Containers<R>> {
        let opened = without_panic(|| Containers::begin(input, reference));
        opened.unwrap_or_else(|| Err(invalid(format!("its header: {DAMAGED}"))))
    }

    fn begin(input: R, reference: Option<&Path>) -> io::Result<Containers<R>> {
        let mut reader = noodles_cram::io::Reader::new(input);
        let definition = reader.read_file_definition()?;
        let version = definition.version();
        if version.major() != 3 {
            return Err(invalid(format!(
                "version {}.{} is not supported, only 3.0 and 3.1: write the file again with \
                 samtools view -C",
                version.major(),
                version.minor()
            )));
        }
        let text = header_text(&mut reader)?;
        let sequences = Arc::new(Sequence::all_of(&text).map_err(invalid)?);
        let header = with_read_groups(header_of(&sequences), &text);
        let open = |path| Reference::open(path).map_err(|error| unreadable(path, &error));
        let reference = reference.map(open).transpose()?;
        let shared = Arc::<Shared>::default();
        let loader =
            Loader { reference, sequences: Arc::clone(&sequences), shared: Arc::clone(&shared) };
        let repository = Repository::new(loader);
        Ok(Containers {
            reader,
            text,
            sequences,
            cram: Arc::new(Cram { header, repository, shared }),
            bytes: Vec::new(),
        })
    }

    /// Returns the next container; `None` after the last.
    fn next(&mut self) -> io::Result<Option<(Arc<Cram>, Container)>> {
        let mut container = Container::default();
        container::read(self.reader.get_mut(), &mut self.bytes)?;
        let mut reader = noodles_cram::io::Reader::new(&self.bytes[..]);
        let read = without_panic(|| reader.read_container(&mut container));
        let bytes = read.unwrap_or_else(|| Err(invalid(format!("a container: {DAMAGED}"))))?;
        Ok((bytes > 0).then(|| (Arc::clone(&self.cram), container)))
    }
}

/// The size in bytes of the read buffer.
const BUFFER: usize = 256 << 10;

/// Opens a file.
///
/// # Errors
/// If its header or the reference cannot be read.
pub(crate) fn open(
    input: Box<dyn Read + Send>,
    reference: Option<&Path>,
) -> io::Result<Box<dyn merganser_io::Containers>> {
    let input = BufReader::with_capacity(BUFFER, input);
    Ok(Box::new(Containers::open(input, reference)?))
}

impl<R: Read + Send> merganser_io::Containers for Containers<R> {
    fn next(&mut self) -> io::Result<Option<Box<dyn merganser_io::Container>>> {
        let next = Containers::next(self)?;
        Ok(next.map(|(cram, container)| Box::new(Decoding { cram, container }) as _))
    }

    fn header(&self) -> AlignmentHeader {
        AlignmentHeader::Bam(bam_header_of(&self.text, &self.sequences))
    }
}

/// A container and the data that are needed to decode it.
struct Decoding {
    cram: Arc<Cram>,
    container: Container,
}

impl merganser_io::Container for Decoding {
    fn read(&self, reads: &mut Reads) -> Result<(), Problem> {
        self.cram.read(&self.container, reads)
    }
}

/// The message for input on which the decoder panics.
const CONTRADICTION: &str = "it contradicts itself";
const DAMAGED: &str = "it contradicts itself: is the file damaged?";

thread_local! {
    /// Whether the thread runs inside [`without_panic`].
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `decode` and returns its result; `None` if it panics. The decoder panics on inconsistent input, even if all
/// checksums are right. The message of such a panic is suppressed.
fn without_panic<T>(decode: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !EXPECTED.get() {
                others(panic);
            }
        }));
    });
    EXPECTED.set(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    EXPECTED.set(false);
    done.ok()
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Returns the text of the header, which is in a container of its own.
fn header_text<R: Read>(reader: &mut noodles_cram::io::Reader<R>) -> io::Result<Vec<u8>> {
    let mut header = reader.header_reader();
    let mut container = header.container_reader()?;
    let mut text = Vec::new();
    {
        let mut sam = container.raw_sam_header_reader()?;
        sam.read_to_end(&mut text)?;
        sam.discard_to_end()?;
    }
    container.discard_to_end()?;
    Ok(text)
}

/// A loader of reference sequences for the decoder.
struct Loader {
    reference: Option<Reference>,
    sequences: Arc<Vec<Sequence>>,
    shared: Arc<Shared>,
}

/// The placeholder for the bases of a reference that was not given. It occurs in no file.
const NO_BASE: u8 = 0;

/// The remedy if the reference is not that of the alignments.
const REMEDY: &str = "`reference` must be the FASTA file that the reads were aligned to";

/// The start of the message if the reference cannot be read.
const UNREADABLE: &str = "cannot read ";

/// Returns the error of a reference that cannot be read, which is not an error of the alignment file.
fn unreadable(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("{UNREADABLE}{}: {}", path.display(), merganser_io::reason(error)))
}

impl fasta::repository::Adapter for Loader {
    fn get(&mut self, name: &[u8]) -> Option<io::Result<fasta::Record>> {
        let definition = fasta::record::Definition::new(name, None);
        let letters = self.load(name);
        Some(letters.map(|letters| fasta::Record::new(definition, letters.into())))
    }
}

impl Loader {
    fn load(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        let shown = String::from_utf8_lossy(name);
        let known = self.sequences.iter().find(|known| known.name == name);
        let Some(Sequence { length, md5, .. }) = known else {
            return Err(invalid(format!("aligned to '{shown}', which is not in the header")));
        };
        let Some(reference) = &self.reference else {
            // The decoder also requests sequences for files that do not need a reference.
            self.shared.missing.store(true, Ordering::Relaxed);
            return Ok(vec![NO_BASE; length.get()]);
        };
        let letters = reference.sequence(name);
        let letters = letters.map_err(|error| unreadable(reference.path(), &error))?;
        let path = reference.path().display();
        let Some(letters) = letters else {
            return Err(invalid(format!(
                "aligned to '{shown}', which {path} does not have; {REMEDY}"
            )));
        };
        if letters.len() != length.get() {
            return Err(invalid(format!(
                "aligned to '{shown}' of {length} bases, which has {} in {path}; {REMEDY}",
                letters.len()
            )));
        }
        if md5.as_ref().is_some_and(|md5| !md5.eq_ignore_ascii_case(digest(&letters).as_bytes())) {
            return Err(invalid(format!(
                "aligned to a sequence other than '{shown}' of {path} (MD5); {REMEDY}"
            )));
        }
        self.shared.bases.fetch_add(letters.len() as u64, Ordering::Relaxed);
        Ok(letters)
    }
}

fn digest(letters: &[u8]) -> String {
    Md5::digest(letters).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Cram {
    /// Adds the reads of a container. The error has the number of the invalid record, from 0, or of the first record
    /// of a slice that cannot be decoded.
    fn read(&self, container: &Container, reads: &mut Reads) -> Result<(), Problem> {
        let many = container.header().reference_sequence_context().is_many();
        if !many && self.shared.bases.load(Ordering::Relaxed) > MAX_BASES {
            self.shared.bases.store(0, Ordering::Relaxed);
            self.repository.clear();
        }
        let mut number = container.header().record_counter();
        let decoded = without_panic(|| self.decode(container, reads, &mut number));
        let result = decoded.unwrap_or_else(|| Err(CONTRADICTION.to_owned()));
        result.map_err(|problem| {
            let missing = self.shared.missing.load(Ordering::Relaxed);
            let problem = match problem {
                _ if missing => {
                    "the file omits bases that equal the reference: give the FASTA file of the \
                     reference with --reference"
                        .to_owned()
                }
                problem if problem.starts_with("aligned to ") => problem,
                problem if problem.starts_with(UNREADABLE) => problem,
                problem if problem.starts_with("reference sequence checksum") => {
                    format!(
                        "aligned to a sequence other than that of the reference (MD5); {REMEDY}"
                    )
                }
                problem => format!("{problem}: is the file damaged?"),
            };
            (number, problem)
        })
    }

    fn decode(
        &self,
        container: &Container,
        reads: &mut Reads,
        number: &mut u64,
    ) -> Result<(), String> {
        let said = |error: io::Error| error.to_string();
        let mut templates = Templates::default();
        let compression = container.compression_header().map_err(said)?;
        for slice in container.slices() {
            let slice = slice.map_err(said)?;
            let (core, external) = slice.decode_blocks().map_err(said)?;
            let repository = self.repository.clone();
            let records = slice.records(repository, &self.header, &compression, &core, &external);
            let records = records.map_err(said)?;
            let wrong_signs = match reads.which {
                WhichAlignments::None => vec![false; records.len()],
                _ => wrong_signs(&records, &self.header),
            };
            for (record, wrong_sign) in records.iter().zip(wrong_signs) {
                let put =
                    |kept: &mut AlignmentBytes| self.put(record, wrong_sign, kept).map_err(said);
                templates.add(reads, record, put)?;
                *number += 1;
            }
        }
        templates.end(reads)
    }

    /// Appends a record in the form of BAM.
    fn put(
        &self,
        record: &noodles_cram::Record<'_>,
        has_wrong_sign: bool,
        kept: &mut AlignmentBytes,
    ) -> io::Result<()> {
        let mut writer = noodles_bam::io::Writer::from(Vec::new());
        writer.write_alignment_record(&self.header, record)?;
        let mut bytes = writer.into_inner();
        correct(&mut bytes, record, has_wrong_sign);
        if Alignment::flags(record) & flag::UNMAPPED != 0 {
            // CRAM stores no mapping quality of unmapped reads. It is 0, as in samtools, and not 255 (missing).
            bytes[QUALITY_AT] = 0;
        }
        kept.extend(&with_merged_cigar(&bytes).unwrap_or(bytes));
        Ok(())
    }
}

impl Alignment for noodles_cram::Record<'_> {
    fn name(&self) -> Option<&[u8]> {
        noodles_sam::alignment::Record::name(self).map(|name| -> &[u8] { name })
    }

    fn flags(&self) -> u16 {
        noodles_sam::alignment::Record::flags(self).map_or(0, |flags| flags.bits())
    }

    fn letters(&self, text: &mut Vec<u8>) -> Result<(), String> {
        let start = text.len();
        text.extend(self.sequence().iter());
        match text[start..].contains(&NO_BASE) {
            true => Err("a base is missing".to_owned()),
            false => Ok(()),
        }
    }

    fn qualities(&self, text: &mut Vec<u8>) -> Result<(), String> {
        if has_no_qualities(self) {
            return Ok(());
        }
        let start = text.len();
        for score in self.quality_scores().iter() {
            text.push(b'!' + score.map_err(|error| error.to_string())?.min(BEST_QUALITY));
        }
        if text.len() - start != self.sequence().len() {
            // A file may have the qualities of only some bases.
            text.truncate(start);
        }
        Ok(())
    }

    fn tags(&self, tags: &CommentTags, text: &mut Vec<u8>) -> Result<(), String> {
        put_fields(self, tags, text)
    }
}

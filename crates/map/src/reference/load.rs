//! Loading a reference from FASTA.

use std::collections::HashSet;

use merganser_alignments::ReaderOptions;
use merganser_io::{Chunk, Input, Reader, Sink};
use merganser_run::{Context, Shortage, Unit};
use merganser_seq::planes::{BASES_PER_WORD, Encoded, encode};
use merganser_seq::simd::Level;

use super::{MAX_POSITIONS, PADDING, Reference, Topology};
use crate::cpu::sort::{indexing, least_memory};
use crate::index::k_of;
use crate::{Contig, Error, MAX_READ};

/// The maximum length of a record outside its sequence: sequences are read in pieces, and nothing else is long.
const LONGEST_RECORD: usize = 16 << 20;
/// The maximum number of bases of a circular contig that are repeated: a read is at most half as long, and has fewer
/// edits than bases.
pub(crate) const MAX_REPEATED: usize = 2 * MAX_READ;

/// The maximum length of a circular contig, so that positions can be shifted by its length.
pub(crate) const MAX_CIRCULAR: u32 = 1 << 30;

/// The number of letters that are packed at a time, a multiple of 64.
const STRETCH: usize = 1 << 16;

/// Loads a reference from FASTA. Letters may be in either case; ambiguous IUPAC letters are kept as N. The progress has
/// one stage, in bytes of input.
///
/// # Errors
/// If the file cannot be read, holds reads or has no sequence; if a contig is empty, has no name or the same
/// name as another one, or has a letter that is not of DNA; if a contig has more than 2^31 - 1 bases, or all
/// together more than 2^32 - 2^17; if a circular contig is named that is not there; if the index of what has been
/// read so far would not fit into memory.
pub(crate) fn load(
    input: &Input,
    topology: &Topology,
    context: &Context,
) -> Result<Reference, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let options = ReaderOptions {
        max_record: LONGEST_RECORD,
        cancel: cancel.clone(),
        warnings: context.warnings.clone(),
        ..ReaderOptions::default()
    };
    let reader = Reader::open(std::slice::from_ref(input), options)?;
    progress.stage("load", Unit::Bytes, reader.bytes_total());
    let reference = from_reader(&reader, &input.to_string(), topology, context)?;
    progress.finish();
    Ok(reference)
}

#[cfg(test)]
pub(super) fn read(
    name: String,
    text: Box<dyn std::io::Read + Send>,
    topology: &Topology,
) -> Result<Reference, Error> {
    let reader = Reader::from_readers(vec![(name.clone(), text)], ReaderOptions::default());
    let context = Context::new();
    from_reader(&reader, &name, topology, &context)
}

fn from_reader(
    reader: &Reader,
    name: &str,
    topology: &Topology,
    context: &Context,
) -> Result<Reference, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let (input, topology) = (name.to_owned(), topology.clone());
    let mut loader = Loader { input, topology, ..Loader::default() };
    let mut chunk = Chunk::default();
    while reader.next_chunk(&mut chunk)? {
        chunk.parse(&mut loader)?;
        progress.advance(chunk.source_bytes());
        if loader.holds_reads {
            return Err(Error::ReadsAsReference(loader.input));
        }
        if let Some(problem) = loader.problem.take() {
            return Err(Error::Input(problem));
        }
        loader.check_memory(context)?;
    }
    cancel.check()?;
    loader.finish()
}

/// A sink that collects the records of a FASTA file.
#[derive(Default)]
struct Loader {
    input: String,
    topology: Topology,
    reference: Reference,
    names: HashSet<String>,
    /// Letters of the open contig that are not packed yet.
    letters: Vec<u8>,
    packed: u64,
    open: bool,
    /// Whether the open contig is circular.
    is_circular: bool,
    words: Vec<u64>,
    /// Whether a record has qualities, which a reference never has.
    holds_reads: bool,
    problem: Option<String>,
}

impl Loader {
    fn fail(&mut self, problem: impl std::fmt::Display) {
        let input = &self.input;
        self.problem.get_or_insert_with(|| format!("{input}: {problem}"));
    }

    fn name(&self) -> &str {
        self.reference.contigs.last().map_or("", |contig| &contig.name)
    }

    /// Fails early if no index of the reference read so far can fit into memory. Small shortages are left to
    /// the check after loading, whose message has the exact number; this one is only for references that would
    /// exceed the budget while they are loaded.
    fn check_memory(&self, context: &Context) -> Result<(), Shortage> {
        let words = self.reference.low.len();
        let planes = 8 * (2 * words + self.reference.others.len()) as u64;
        let budget = least_memory(context, planes, k_of((words * BASES_PER_WORD) as u64));
        if planes > context.budget() / 2 {
            budget.check(indexing(context.threads), "or give a smaller reference")?;
        }
        Ok(())
    }

    /// Packs all pending letters, or only whole words of them.
    fn pack(&mut self, all: bool) {
        let whole = self.letters.len() / BASES_PER_WORD * BASES_PER_WORD;
        let end = if all { self.letters.len() } else { whole };
        let reference = &mut self.reference;
        let before = reference.low.len();
        let plane = end.div_ceil(BASES_PER_WORD);
        self.words.clear();
        let encoded = encode(Level::best(), &self.letters[..end], &mut self.words);
        if let Encoded::Foreign(at) = encoded {
            let place = self.packed + at as u64 + 1;
            let shown = merganser_io::shown_byte(self.letters[at]);
            let name = self.name().to_owned();
            self.fail(format_args!("contig {name}: {shown} at base {place} is no letter of DNA"));
            self.letters.clear();
            return;
        }
        reference.low.extend_from_slice(&self.words[..plane]);
        reference.high.extend_from_slice(&self.words[plane..2 * plane]);
        if encoded == Encoded::Others {
            reference.others.resize(before, 0);
            reference.others.extend_from_slice(&self.words[2 * plane..]);
        } else if !reference.others.is_empty() {
            reference.others.resize(before + plane, 0);
        }
        self.letters.drain(..end);
        self.packed += end as u64;
        if (self.reference.low.len() * BASES_PER_WORD) as u64 > MAX_POSITIONS {
            self.fail(format_args!(
                "more than {MAX_POSITIONS} bases: split the reference and map to each part"
            ));
        }
    }

    fn close(&mut self) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let bases = self.packed + self.letters.len() as u64;
        let repeated = if self.is_circular { self.repeat() } else { 0 };
        self.pack(true);
        if let Some(contig) = self.reference.contigs.last_mut() {
            contig.len = u32::try_from(bases).unwrap_or(u32::MAX);
            contig.repeated = repeated;
        }
        if let Some(problem) = self.reference.contigs.last().and_then(Contig::too_long) {
            self.fail(problem);
        }
        if self.is_circular && bases > MAX_CIRCULAR.into() {
            let name = self.name().to_owned();
            self.fail(format_args!(
                "contig {name} has more than {MAX_CIRCULAR} bases, the maximum of a circular contig: map to it as a \
                 linear one"
            ));
        }
        if bases == 0 {
            let name = self.name().to_owned();
            self.fail(format_args!("contig {name} has no bases: remove it"));
        }
    }

    /// Appends the first bases of the open contig, whose last letters are not packed yet, once more; returns their number.
    fn repeat(&mut self) -> u32 {
        let (packed, pending) = (self.packed as usize, self.letters.len());
        let repeated = (packed + pending).saturating_sub(1).min(MAX_REPEATED);
        let start = self.reference.contigs.last().map_or(0, |contig| contig.start as usize);
        let text = self.reference.text();
        let code = |at: usize| b"ACGTN"[usize::from(text.code(start + at))];
        let first: Vec<u8> = (0..repeated.min(packed)).map(code).collect();
        self.letters.extend(first);
        self.letters.extend_from_within(..repeated.saturating_sub(packed));
        repeated as u32
    }

    fn finish(mut self) -> Result<Reference, Error> {
        self.close();
        if let Topology::Named(names) = &self.topology {
            let missing = names.iter().find(|&name| !self.names.contains(name)).cloned();
            if let Some(name) = missing {
                self.fail(format_args!("has no contig {name}, which should be circular"));
            }
        }
        if self.reference.contigs.is_empty() {
            self.fail("has no sequences: a reference in FASTA is needed");
        }
        let bases = |contig: &Contig| u64::from(contig.end() - contig.start);
        let all: u64 = self.reference.contigs.iter().map(bases).sum();
        let others = self.reference.others.iter().map(|word| u64::from(word.count_ones()));
        if others.sum::<u64>() == all {
            self.fail("has only N and other ambiguous letters: no read can be mapped to it");
        }
        if let Some(problem) = self.problem {
            return Err(Error::Input(problem));
        }
        let words = self.reference.low.len() + PADDING;
        self.reference.low.resize(words, 0);
        self.reference.high.resize(words, 0);
        if !self.reference.others.is_empty() {
            self.reference.others.resize(words, 0);
        }
        Ok(self.reference)
    }
}

impl Sink for Loader {
    fn begin(&mut self, header: &[u8]) {
        self.close();
        // Skips the rest of the chunk, which may have half a million names.
        if self.problem.is_some() {
            return;
        }
        let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
        let name = String::from_utf8_lossy(&header[..end]).into_owned();
        let number = self.reference.contigs.len() + 1;
        let contig = Contig { name: name.clone(), start: 0, len: 0, repeated: 0 };
        if let Some(problem) = contig.unnameable() {
            self.fail(format_args!("record {number}: {problem}"));
        } else if std::str::from_utf8(&header[..end]).is_err() {
            self.fail(format_args!("record {number}: the name {name} is not UTF-8: rename it"));
        } else if !self.names.insert(name.clone()) {
            self.fail(format_args!(
                "record {number}: {name} is the name of two contigs: rename one"
            ));
        }
        let start = (self.reference.low.len() * BASES_PER_WORD).min(u32::MAX as usize) as u32;
        self.is_circular = self.topology.is_circular(&name, header);
        self.reference.contigs.push(Contig { name, start, len: 0, repeated: 0 });
        self.packed = 0;
        self.open = true;
    }

    fn resume(&mut self) {
        self.open = true;
    }

    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        if quality.is_some() {
            self.holds_reads = true;
            return;
        }
        self.letters.extend_from_slice(line);
        if self.letters.len() >= STRETCH {
            self.pack(false);
        }
    }

    /// Does nothing: the contig may continue in the next chunk and is closed when the next one begins.
    fn end(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(text: &str) -> Result<Reference, Error> {
        loaded_with(text, &Topology::Stated)
    }

    fn loaded_with(text: &str, topology: &Topology) -> Result<Reference, Error> {
        read("r.fa".into(), Box::new(std::io::Cursor::new(text.as_bytes().to_vec())), topology)
    }

    #[test]
    fn circular_contigs_repeat_their_first_bases() {
        let reference = loaded(">a [topology=circular]\nACGTN\n>b\nTTT\n").unwrap();
        let [a, b] = &reference.contigs[..] else { panic!() };
        assert_eq!([a.len, a.repeated, b.start, b.repeated], [5, 4, 64, 0]);
        let codes: Vec<u8> = (0..9).map(|at| reference.text().code(at)).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 0, 1, 2, 3]);
        // All letters count, also those that are repeated.
        assert!(loaded(">c topology=circular\nNNNNNACGTA\n").is_ok());
        assert!(loaded(">c topology=circular\nNNNN\n").is_err());
        // Most of the contig is packed when it ends.
        let letters: Vec<u8> = (0..200_001usize).map(|i| b"ACGTTGNA"[i * i % 7 + i % 2]).collect();
        let text = format!(">a\n{}\n>b\nAC\n", String::from_utf8(letters.clone()).unwrap());
        let reference = loaded_with(&text, &Topology::Named(vec!["a".into()])).unwrap();
        let [a, b] = &reference.contigs[..] else { panic!() };
        assert_eq!(
            [a.len as usize, a.repeated as usize, b.repeated as usize],
            [200_001, MAX_REPEATED, 0]
        );
        for at in 0..a.end() as usize {
            let letter = letters[at % letters.len()];
            assert_eq!(reference.text().code(at), merganser_seq::base::code(letter).unwrap_or(4));
        }
        let missing = loaded_with(">a\nACGT\n", &Topology::Named(vec!["A".into()])).unwrap_err();
        assert!(missing.to_string().contains("r.fa: has no contig A"), "{missing}");
    }

    #[test]
    fn contigs_begin_at_words_and_keep_their_letters() {
        let reference = loaded(">a x\nACGTN\nacgu\n>b\nTTT\n").unwrap();
        let contig = |name: &str, start, len| Contig { name: name.into(), start, len, repeated: 0 };
        assert_eq!(reference.contigs, [contig("a", 0, 9), contig("b", 64, 3)]);
        let text = reference.text();
        let codes: Vec<u8> = (0..9).map(|at| text.code(at)).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 0, 1, 2, 3]);
        assert_eq!((text.code(66), text.end()), (3, 67));
        assert_eq!(text.gaps(), [[4, 5]]);
        assert_eq!([63, 64, 66].map(|at| text.contig_at(at)), [0, 1, 1]);
        assert!(text.has_others(0, 5) && !text.has_others(5, 67));
    }

    #[test]
    fn long_contigs_are_packed_piece_by_piece() {
        let letters: Vec<u8> = (0..200_000usize).map(|i| b"ACGTTGNA"[i * i % 7 + i % 2]).collect();
        let reference = Reference::of(&[letters.clone(), b"AC".to_vec()]);
        for (at, &letter) in letters.iter().enumerate() {
            assert_eq!(reference.text().code(at), merganser_seq::base::code(letter).unwrap_or(4));
        }
        assert_eq!(reference.contigs[1].start as usize, 200_000usize.next_multiple_of(64));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text: &str| loaded(text).unwrap_err().to_string();
        assert_eq!(message(""), "r.fa: has no sequences: a reference in FASTA is needed");
        assert_eq!(
            message(">a\nA\n>a\nC\n"),
            "r.fa: record 2: a is the name of two contigs: rename one"
        );
        assert_eq!(message(">a\n>b\nC\n"), "r.fa: contig a has no bases: remove it");
        assert_eq!(message(">a\nAC-T\n"), "r.fa: contig a: '-' at base 3 is no letter of DNA");
        assert_eq!(
            message("@a\nACGT\n+\nIIII\n@a\nACGT\n+\nIIII\n"),
            "r.fa: holds reads with qualities, and the reference must be FASTA or an index: give \
             the reference first, then the reads"
        );
        assert!(message(">=\nA\n").contains("'=' cannot be the name"));
        let n_alone = "r.fa: has only N and other ambiguous letters: no read can be mapped to it";
        assert_eq!(message(">a\nNNn\n>b\nRYN\n"), n_alone);
        assert_eq!(message(&format!(">a\n{}\n", "N".repeat(200_000))), n_alone);
        assert!(loaded(">a\nNNN\n>b\nRYA\n").is_ok());
    }
}

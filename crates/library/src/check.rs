//! Check of a single file: reads it to its end, computes its checksum and counts its sequences.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

use md5::{Digest, Md5};
use merganser_alignments::ReaderOptions;
use merganser_io::{Chunk, Reader, Sink, check_letters};
use merganser_run::locks::lock;

use super::row::{Content, Md5Sum, Stamp};

/// The number of bytes of text that are processed at a time.
const CHUNK: usize = 1 << 20;

/// The result of checking a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    Sound(Content, Stamp),
    Damaged(String),
    /// The check was stopped before the end of the file.
    Stopped,
}

/// Reads a file and compares it with the checksum that is `listed` for it. Calls `advance` with the number of
/// bytes read; it stops the check by returning `false`.
pub(super) fn check(
    path: &Path,
    listed: Option<Md5Sum>,
    chunk: &mut Chunk,
    advance: &dyn Fn(u64) -> bool,
) -> Checked {
    let damaged = |error: &io::Error| Checked::Damaged(merganser_io::reason(error));
    let opened = File::open(path).and_then(|file| Ok((Stamp::of(&file.metadata()?), file)));
    let (stamp, file) = match opened {
        Ok(opened) => opened,
        Err(error) => return damaged(&error),
    };
    let name = path.display().to_string();
    let bytes = Summed(Arc::new(Mutex::new((file, Md5::new()))));
    let found = count(&name, bytes.clone(), chunk, advance);
    let found = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Checked::Stopped,
        Err(error) => {
            let text = error.to_string();
            return Checked::Damaged(
                text.strip_prefix(&format!("{name}: ")).unwrap_or(&text).into(),
            );
        }
    };
    let md5 = match bytes.finish() {
        Ok(md5) => md5,
        Err(error) => return damaged(&error),
    };
    match (found.problem(), listed) {
        (Some(problem), _) => return Checked::Damaged(problem.to_owned()),
        (None, Some(listed)) if listed != md5 => {
            return Checked::Damaged(format!("its MD5 is {md5}, but {listed} is listed for it"));
        }
        _ => {}
    }
    match fs::metadata(path) {
        Ok(now) if Stamp::of(&now) == stamp => {
            let Counts { sequences, bases, .. } = found;
            Checked::Sound(Content { sequences, bases, md5 }, stamp)
        }
        Ok(_) => Checked::Damaged("it was changed while it was read".into()),
        Err(error) => damaged(&error),
    }
}

/// Counts the content of a file; returns `None` if it was stopped.
fn count(
    name: &str,
    bytes: Summed,
    chunk: &mut Chunk,
    advance: &dyn Fn(u64) -> bool,
) -> Result<Option<Counts>, merganser_io::Error> {
    let options = ReaderOptions { chunk_bytes: CHUNK, workers: 1, ..ReaderOptions::default() };
    let reader = Reader::from_readers(vec![(name.to_owned(), Box::new(bytes))], options);
    let mut counts = Counts::default();
    while reader.next_chunk(chunk)? {
        let stats = chunk.parse(&mut counts)?;
        if counts.has_binary {
            chunk.check()?;
        }
        counts.sequences += stats.records;
        counts.bases += stats.bases;
        if !advance(chunk.source_bytes()) {
            return Ok(None);
        }
    }
    Ok(Some(counts))
}

/// The content of a file.
#[derive(Default)]
struct Counts {
    sequences: u64,
    bases: u64,
    /// Whether any record has qualities, which means that the file has reads.
    has_qualities: bool,
    has_binary: bool,
}

impl Counts {
    /// Returns why the file is not a genome, if so.
    fn problem(&self) -> Option<&'static str> {
        match () {
            () if self.has_qualities => Some("it has reads with qualities, not a genome"),
            () if self.sequences == 0 => Some("there is no sequence in it"),
            () if self.bases == 0 => Some("there is no base in it"),
            () => None,
        }
    }
}

impl Sink for Counts {
    fn begin(&mut self, _header: &[u8]) {}

    fn resume(&mut self) {}

    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        self.has_qualities |= quality.is_some();
        self.has_binary |= check_letters(line).is_some();
    }

    fn end(&mut self) {}
}

/// A file whose checksum is computed while it is read.
#[derive(Clone)]
struct Summed(Arc<Mutex<(File, Md5)>>);

impl Summed {
    /// Reads the rest of the file and returns its checksum.
    fn finish(mut self) -> io::Result<Md5Sum> {
        io::copy(&mut self, &mut io::sink())?;
        let sum = lock(&self.0).1.clone().finalize();
        Ok(Md5Sum(sum.into()))
    }
}

impl Read for Summed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut inner = lock(&self.0);
        let read = inner.0.read(buffer)?;
        inner.1.update(&buffer[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gz(text: &[u8]) -> Vec<u8> {
        let mut blocks = merganser_io::BgzfBlocks::new(4);
        let mut bytes = Vec::new();
        for text in text.chunks(merganser_io::BgzfBlocks::TEXT) {
            blocks.compress(text, true, &mut bytes);
        }
        bytes.extend(merganser_io::BgzfBlocks::END);
        bytes
    }

    fn checked(bytes: &[u8], listed: Option<Md5Sum>) -> Checked {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.fna.gz");
        fs::write(&path, bytes).unwrap();
        check(&path, listed, &mut Chunk::default(), &|_| true)
    }

    fn damage(bytes: &[u8]) -> String {
        match checked(bytes, None) {
            Checked::Damaged(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    const GENOME: &[u8] = b">a\nACGT\nNNacgt\n>b\n\n>c\nA\n";

    #[test]
    fn sound_files_are_counted() {
        for bytes in [GENOME.to_vec(), gz(GENOME)] {
            let sum = Md5Sum(Md5::digest(&bytes).into());
            let Checked::Sound(content, stamp) = checked(&bytes, Some(sum)) else { panic!() };
            assert_eq!(content, Content { sequences: 3, bases: 11, md5: sum });
            assert_eq!(stamp.size, bytes.len() as u64);
        }
        let long = [b">x\n".to_vec(), b"ACGTTGCAAC\n".repeat(500_000)].concat();
        let Checked::Sound(content, _) = checked(&gz(&long), None) else { panic!() };
        assert_eq!((content.sequences, content.bases), (1, 5_000_000));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let whole = gz(&GENOME.repeat(1000));
        for (bytes, reason) in [
            (&b""[..], "there is no sequence in it"),
            (b">a\n>b\n", "there is no base in it"),
            (b"@r\nACGT\n+\nIIII\n", "it has reads with qualities, not a genome"),
            (b"<!DOCTYPE html>\n<html>\n", "not FASTA or FASTQ"),
            (b">a\nAC\x01GT\n", "line 2: "),
            (&whole[..whole.len() / 2], "truncated: the BGZF data end before they are complete"),
            (&[&whole[..], b"more"].concat(), "corrupt"),
        ] {
            let said = damage(bytes);
            assert!(said.contains(reason), "{reason}: {said}");
            assert!(!said.contains("x.fna.gz"), "{said}");
        }
        let Checked::Damaged(said) = checked(GENOME, Some(Md5Sum([0xab; 16]))) else { panic!() };
        let (own, listed) = (Md5Sum(Md5::digest(GENOME).into()), "ab".repeat(16));
        assert_eq!(said, format!("its MD5 is {own}, but {listed} is listed for it"));
        let none = check(Path::new("/none"), None, &mut Chunk::default(), &|_| true);
        assert_eq!(none, Checked::Damaged("no such file or directory".into()));
    }

    #[test]
    fn it_can_be_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        fs::write(&path, GENOME).unwrap();
        let stopped = check(&path, None, &mut Chunk::default(), &|_| false);
        assert_eq!(stopped, Checked::Stopped);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// A compressed file with a changed byte or a missing end is damaged, or has the same text and another
        /// checksum.
        #[test]
        fn damage_is_seen(at in any::<u32>(), change in 1..=255u8, is_cut in any::<bool>()) {
            let mut bytes = gz(&GENOME.repeat(50));
            let at = at as usize % bytes.len();
            let sum = Md5Sum(Md5::digest(&bytes).into());
            match is_cut {
                true => bytes.truncate(at),
                false => bytes[at] ^= change,
            }
            prop_assert!(matches!(checked(&bytes, Some(sum)), Checked::Damaged(_)));
            if let Checked::Sound(content, _) = checked(&bytes, None) {
                prop_assert_eq!(content.bases, 11 * 50, "{}", at);
            }
        }
    }
}

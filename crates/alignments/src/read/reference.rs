//! Access to the sequences of a FASTA file by name, for reads that are encoded as differences from them.

use memchr::{memchr, memchr_iter};
use merganser_io::{decompress, each_table_line, index_of_reference, is_compressed, uninterrupted};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A FASTA file with reference sequences.
pub(super) struct Reference {
    path: PathBuf,
    /// The byte range of the lines of each sequence. `None` for a compressed file, which is read from its start for
    /// each sequence.
    places: Option<HashMap<Vec<u8>, Range<u64>>>,
}

impl Reference {
    /// Opens the file. Its index (`.fai`) is used if there is one; otherwise one is made in memory by reading the
    /// whole file.
    pub(super) fn open(path: &Path) -> io::Result<Reference> {
        let places = match is_compressed(&File::open(path)?)? {
            false => Some(places(path)?),
            true => None,
        };
        Ok(Reference { path: path.to_owned(), places })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the letters of a sequence, in upper case; `None` if the file has no sequence of this name.
    pub(super) fn sequence(&self, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut letters = Vec::new();
        match &self.places {
            Some(places) => {
                let Some(place) = places.get(name) else { return Ok(None) };
                letters.resize((place.end - place.start) as usize, 0);
                File::open(&self.path)?.read_exact_at(&mut letters, place.start)?;
            }
            None => {
                let text = BufReader::with_capacity(1 << 18, decompress(File::open(&self.path)?)?);
                if !find(text, name, &mut letters)? {
                    return Ok(None);
                }
            }
        }
        letters.retain(|byte| !byte.is_ascii_whitespace());
        letters.make_ascii_uppercase();
        Ok(Some(letters))
    }
}

/// Appends the lines of the sequence `name`; returns whether there is such a sequence.
fn find(mut text: impl BufRead, name: &[u8], letters: &mut Vec<u8>) -> io::Result<bool> {
    let (mut line, mut found) = (Vec::new(), false);
    loop {
        line.clear();
        if text.read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        match line.strip_prefix(b">") {
            Some(_) if found => return Ok(true),
            Some(header) => found = first_word(header) == name,
            None if found => letters.extend_from_slice(&line),
            None => {}
        }
    }
}

fn first_word(header: &[u8]) -> &[u8] {
    header.split(u8::is_ascii_whitespace).next().unwrap_or_default()
}

/// Returns the byte range of each sequence, from the index (`.fai`) if there is one, otherwise from the file.
fn places(path: &Path) -> io::Result<HashMap<Vec<u8>, Range<u64>>> {
    let index = index_of_reference(path);
    // Only a regular file is read: a pipe or device may have no end.
    match index.is_file().then(|| of_index(&index)) {
        Some(Ok(places)) => Ok(places),
        Some(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
            let index = index.display();
            let problem = format!("its index {index} is damaged: remove it, or make it again");
            Err(io::Error::other(problem))
        }
        _ => scan(&File::open(path)?),
    }
}

/// Reads the byte ranges from an index.
fn of_index(index: &Path) -> io::Result<HashMap<Vec<u8>, Range<u64>>> {
    let mut places = HashMap::new();
    each_table_line(index, |_, line| {
        if !line.is_empty() {
            let (name, place) = place(line).ok_or(io::ErrorKind::InvalidData)?;
            places.insert(name, place);
        }
        Ok::<(), io::Error>(())
    })?;
    Ok(places)
}

/// Parses a line of an index: name, letters, offset, letters per line, bytes per line.
fn place(line: &[u8]) -> Option<(Vec<u8>, Range<u64>)> {
    let mut columns = line.split(|&byte| byte == b'\t');
    let name = columns.next()?.to_vec();
    let mut number = || std::str::from_utf8(columns.next()?).ok()?.trim().parse::<u64>().ok();
    let (letters, offset, in_line, line_bytes) = (number()?, number()?, number()?, number()?);
    let lines = letters.checked_div(in_line).unwrap_or(0);
    let bytes = lines.checked_mul(line_bytes)?.checked_add(letters - lines * in_line)?;
    Some((name, offset..offset.checked_add(bytes)?))
}

/// Finds the byte ranges by reading the whole file.
fn scan(file: &File) -> io::Result<HashMap<Vec<u8>, Range<u64>>> {
    let mut places = HashMap::new();
    let mut open: Option<(Vec<u8>, u64)> = None;
    let mut close = |open: &mut Option<(Vec<u8>, u64)>, end: u64| {
        if let Some((name, start)) = open.take() {
            places.entry(name).or_insert(start..end);
        }
    };
    let mut buffer = vec![0; 1 << 20];
    // A header may continue in the next buffer. `at_line`: whether a line begins at the current position.
    let (mut header, mut in_header, mut at_line): (Vec<u8>, bool, bool) = (Vec::new(), false, true);
    let mut offset = 0;
    loop {
        let read = uninterrupted(|| file.read_at(&mut buffer, offset))?;
        if read == 0 {
            break;
        }
        let text = &buffer[..read];
        let mut at = 0;
        while at < read {
            if in_header {
                let end = memchr(b'\n', &text[at..]);
                header.extend_from_slice(&text[at..end.map_or(read, |end| at + end)]);
                at = end.map_or(read, |end| at + end + 1);
                if end.is_some() {
                    open = Some((first_word(&header).to_vec(), offset + at as u64));
                    (in_header, at_line) = (false, true);
                }
            } else if at_line && text[at] == b'>' {
                close(&mut open, offset + at as u64);
                header.clear();
                (in_header, at) = (true, at + 1);
            } else {
                // Skip to the next line that is a header.
                let next = memchr_iter(b'\n', &text[at..])
                    .map(|end| at + end + 1)
                    .find(|&start| text.get(start).is_none_or(|&byte| byte == b'>'));
                at_line = next.is_some();
                at = next.unwrap_or(read);
            }
        }
        offset += read as u64;
    }
    if in_header {
        open = Some((first_word(&header).to_vec(), offset));
    }
    close(&mut open, offset);
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    proptest! {
        #[test]
        fn sequences_are_found_in_any_layout(
            sequences in proptest::collection::vec("[ACGTNacgt]{0,200}", 1..6),
            width in 1usize..90,
            line_end in proptest::sample::select(vec!["\n", "\r\n"]),
            packed: bool,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("r.fa");
            let mut text = String::new();
            for (number, sequence) in sequences.iter().enumerate() {
                text += &format!(">s{number} and more{line_end}");
                for line in sequence.as_bytes().chunks(width) {
                    text += &format!("{}{line_end}", String::from_utf8_lossy(line));
                }
            }
            if packed {
                let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                gz.write_all(text.as_bytes()).unwrap();
                std::fs::write(&path, gz.finish().unwrap()).unwrap();
            } else {
                std::fs::write(&path, &text).unwrap();
            }
            let reference = Reference::open(&path).unwrap();
            for (number, sequence) in sequences.iter().enumerate() {
                let found = reference.sequence(format!("s{number}").as_bytes()).unwrap();
                prop_assert_eq!(found, Some(sequence.to_ascii_uppercase().into_bytes()));
            }
            prop_assert_eq!(reference.sequence(b"s").unwrap(), None);
        }
    }

    #[test]
    fn an_index_is_used_and_a_damaged_one_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.fa");
        std::fs::write(&path, ">a\nACGT\nAC\n>b\nGG\n").unwrap();
        let index = dir.path().join("r.fa.fai");
        // The index swaps the names, so that the test sees whether it is used.
        std::fs::write(&index, "b\t6\t3\t4\t5\na\t2\t14\t2\t3\n").unwrap();
        let reference = Reference::open(&path).unwrap();
        assert_eq!(reference.sequence(b"b").unwrap().unwrap(), b"ACGTAC");
        assert_eq!(reference.sequence(b"a").unwrap().unwrap(), b"GG");
        std::fs::write(&index, "b\t6\n").unwrap();
        let error = Reference::open(&path).err().unwrap().to_string();
        assert!(error.contains("r.fa.fai is damaged"), "{error}");
    }

    #[test]
    fn sequences_lie_over_the_ends_of_buffers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.fa");
        let long = "ACGTTGCA".repeat(1 << 17);
        for shift in [0, 1, 2, 3, 5] {
            let first = "A".repeat((1 << 20) - 6 - shift);
            std::fs::write(&path, format!(">a\n{first}\n>bc d\n{long}\n>e\nC")).unwrap();
            let reference = Reference::open(&path).unwrap();
            assert_eq!(reference.sequence(b"a").unwrap().unwrap(), first.as_bytes());
            assert_eq!(reference.sequence(b"bc").unwrap().unwrap(), long.as_bytes());
            assert_eq!(reference.sequence(b"e").unwrap().unwrap(), b"C");
        }
    }
}

//! Recognition of files of mates by their names and first reads.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::records::{FirstMate, Sureness, likely_mates};
use crate::{Input, decompress};

/// The bytes that are read to find the headers of the first reads.
const BEGINNING: u64 = 64 << 10;

/// A file and what its first reads say about mates.
struct Beginning<'a> {
    path: &'a Path,
    /// The headers of the first reads, at least one, without their `@` or `>`.
    headers: Vec<Vec<u8>>,
    is_fasta: bool,
}

/// Returns two inputs that are files of mates by their first reads: these have the same name and the numbers 1 and 2,
/// or the names of mates in files whose names differ only in a 1 and a 2. Some first reads of one file may be missing from the
/// other. The file of first mates comes first, whichever was given first.
pub fn find_files_of_mates<'a>(inputs: impl Iterator<Item = &'a Input>) -> Option<[&'a Path; 2]> {
    let files: Vec<Beginning<'_>> =
        inputs.filter_map(Input::path).filter_map(Beginning::of).collect();
    // Mates may be adjacent, or all first mates may precede all second ones, as in `*_1.fq *_2.fq`.
    let beside = files.windows(2).map(|pair| [&pair[0], &pair[1]]);
    let behind = files.iter().zip(&files[files.len() / 2..]).map(|(one, two)| [one, two]);
    let differ = |[one, two]: &[&Beginning<'_>; 2]| one.path != two.path;
    let candidates: Vec<[&Beginning<'_>; 2]> = beside.chain(behind).filter(differ).collect();
    let named = || candidates.iter().find_map(|files| in_order(*files, true));
    named().or_else(|| candidates.iter().find_map(|files| in_order(*files, false)))
}

/// Returns two files in the order of their mates if they are files of mates: by names and first reads if `named`,
/// otherwise by first reads alone.
fn in_order<'a>([one, two]: [&Beginning<'a>; 2], named: bool) -> Option<[&'a Path; 2]> {
    let (sureness, first) = first_mates(one, two);
    let by_names = || {
        let name = |file: &Beginning<'a>| Some(file.path.file_name()?.as_encoded_bytes().to_vec());
        // Sequences of two haplotypes, in files such as hap1.fa and hap2.fa, often have the same names.
        let of_parts = one.is_fasta || two.is_fasta;
        name(one).zip(name(two)).and_then(|(one, two)| named_as_mates(&one, &two, of_parts))
    };
    let first = match (named, sureness) {
        (_, Sureness::No) => return None,
        (true, _) => match (by_names()?, first) {
            (by_names, FirstMate::Either) => by_names,
            (_, by_reads) => by_reads,
        },
        (false, Sureness::Numbered) => first,
        (false, _) => return None,
    };
    Some(if first == FirstMate::InSecond { [two.path, one.path] } else { [one.path, two.path] })
}

/// Compares the first read of each file with those of the other, until two are mates.
fn first_mates(one: &Beginning<'_>, two: &Beginning<'_>) -> (Sureness, FirstMate) {
    let of_first = two.headers.iter().map(|header| [&one.headers[0], header]);
    let pairs = of_first.chain(one.headers.iter().map(|header| [header, &two.headers[0]]));
    let mut compared = pairs.map(|headers| likely_mates(headers.map(|header| &header[..])));
    compared
        .find(|(sureness, _)| *sureness != Sureness::No)
        .unwrap_or((Sureness::No, FirstMate::Either))
}

/// Returns which of two names is that of first mates if they differ only in a 1 and a 2, as in `x_1.fq` or
/// `x_R1_001.fastq.gz`. With `of_parts`, the number must be a part of the name, unlike in `x1.fq`.
fn named_as_mates(one: &[u8], two: &[u8], of_parts: bool) -> Option<FirstMate> {
    let mut differ = one.iter().zip(two).enumerate().filter(|(_, (one, two))| one != two);
    let (Some((at, letters)), None) = (differ.next(), differ.next()) else { return None };
    let first = match letters {
        (b'1', b'2') => FirstMate::InFirst,
        (b'2', b'1') => FirstMate::InSecond,
        _ => return None,
    };
    let ends = |letter: Option<&u8>| letter.is_some_and(|letter| b"_.-".contains(letter));
    let before = one[..at].strip_suffix(b"R").unwrap_or(&one[..at]);
    let is_part = || ends(before.last()) && ends(one.get(at + 1));
    (one.len() == two.len() && (!of_parts || is_part())).then_some(first)
}

impl<'a> Beginning<'a> {
    /// Reads the headers of the first reads of a regular file; `None` if it is not FASTA or FASTQ.
    fn of(path: &'a Path) -> Option<Beginning<'a>> {
        if !fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let mut text = Vec::new();
        let file = File::open(path).ok()?;
        decompress(file).ok()?.take(BEGINNING).read_to_end(&mut text).ok()?;
        let mut lines: Vec<&[u8]> =
            text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
        // The last line may be cut.
        lines.truncate((lines.len() - 1).max(1));
        let (kind, header) = lines[0].split_first()?;
        // A header line of SAM.
        if let [b'A'..=b'Z', b'A'..=b'Z', b'\t', ..] = header {
            return None;
        }
        let (is_fasta, step) = match kind {
            b'>' => (true, 1),
            b'@' => (false, 4),
            _ => return None,
        };
        let headers = lines.iter().step_by(step).filter_map(|line| line.strip_prefix(&[*kind]));
        let headers = headers.map(<[u8]>::to_vec).collect();
        Some(Beginning { path, headers, is_fasta })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mates() {
        let mates = |one: &str, two: &str, of_parts: bool| {
            named_as_mates(one.as_bytes(), two.as_bytes(), of_parts)
        };
        for (one, two) in [
            ("reads_1.fq.gz", "reads_2.fq.gz"),
            ("s_L001_R1_001.fastq.gz", "s_L001_R2_001.fastq.gz"),
            ("s1.1.fq", "s1.2.fq"),
        ] {
            assert_eq!(mates(one, two, true), Some(FirstMate::InFirst), "{one} {two}");
            assert_eq!(mates(two, one, true), Some(FirstMate::InSecond), "{one} {two}");
        }
        assert_eq!(mates("s1.fq", "s2.fq", true), None);
        assert_eq!(mates("s1.fq", "s2.fq", false), Some(FirstMate::InFirst));
        for of_parts in [false, true] {
            assert_eq!(mates("reads_1.fq", "reads_2.fastq", of_parts), None);
            assert_eq!(mates("reads_1.fq", "reads_1.fq", of_parts), None);
            assert_eq!(mates("a_1.fq", "b_2.fq", of_parts), None);
        }
    }

    /// Files of mates are found by their first reads, in any order and with any names.
    #[test]
    fn first_reads_of_mates() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, header: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("{header}\nACGT\n+\nIIII\n")).unwrap();
            Input::File(path)
        };
        let found = |files: [(&str, &str); 2]| {
            let inputs = files.map(|(name, header)| file(name, header));
            let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
            find_files_of_mates(inputs.iter()).map(|pair| pair.map(name))
        };
        let some = |one: &str, two: &str| Some([one.to_owned(), two.to_owned()]);
        assert_eq!(found([("a", "@r/1"), ("b", "@r/2")]), some("a", "b"));
        assert_eq!(found([("b", "@r/2"), ("a", "@r/1")]), some("a", "b"));
        assert_eq!(found([("x", "@r 2:N:0:A"), ("y", "@r 1:N:0:A")]), some("y", "x"));
        assert_eq!(found([("k2.fq", "@ERR1.1"), ("k1.fq", "@ERR1.1")]), some("k1.fq", "k2.fq"));
        // The first read of one file is missing from the other.
        let more = "@q\nACGT\n+\nIIII\n@r";
        assert_eq!(found([("k1.fq", more), ("k2.fq", "@r")]), some("k1.fq", "k2.fq"));
        assert_eq!(found([("k1.fq", "@r"), ("k2.fq", more)]), some("k1.fq", "k2.fq"));
        assert_eq!(found([("s", &format!("{more}/2")), ("t", "@r/1")]), some("t", "s"));
        assert_eq!(found([("s", more), ("t", "@r")]), None);
        // Swapped numbers in the names of the files: the reads are right.
        assert_eq!(found([("k1.fq", "@r/2"), ("k2.fq", "@r/1")]), some("k2.fq", "k1.fq"));
        assert_eq!(found([("run_11.fq", "@a"), ("run_12.fq", "@b")]), None);
        assert_eq!(found([("s.fq", "@read1"), ("t.fq", "@read1")]), None);
        assert_eq!(found([("a", "@r/1"), ("b", "@r/1")]), None);
        assert_eq!(found([("hap1.fa", ">chr1"), ("hap2.fa", ">chr1")]), None);
        assert_eq!(found([("x_1.sam", "@HD\tVN:1.6"), ("x_2.sam", "@HD\tVN:1.6")]), None);
    }
}

//! Recognition of files of mates by their names and first reads.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::{Input, are_mates, decompress};

/// The bytes that are read to find the name of the first read.
const BEGINNING: u64 = 1000;

/// Returns two inputs whose names and first reads are those of mates.
pub fn find_files_of_mates<'a>(inputs: impl Iterator<Item = &'a Input>) -> Option<[&'a Path; 2]> {
    let paths: Vec<&Path> = inputs.filter_map(Input::path).collect();
    // Mates may be adjacent, or all first mates may precede all second ones, as in `*_1.fq *_2.fq`.
    let beside = paths.windows(2).map(|pair| [pair[0], pair[1]]);
    let behind = paths.iter().zip(&paths[paths.len() / 2..]).map(|(one, two)| [*one, *two]);
    beside.chain(behind).find(|[one, two]| are_files_of_mates(one, two))
}

fn are_files_of_mates(one: &Path, two: &Path) -> bool {
    let name = |path: &Path| Some(path.file_name()?.as_encoded_bytes().to_vec());
    name(one).zip(name(two)).is_some_and(|(one, two)| named_as_mates(&one, &two))
        && first_name(one).zip(first_name(two)).is_some_and(|(one, two)| are_mates(&one, &two))
}

/// Whether two names differ only in a 1 and a 2, as in `x_1.fq` or `x_R1_001.fastq.gz`.
fn named_as_mates(one: &[u8], two: &[u8]) -> bool {
    let mut differ = one.iter().zip(two).enumerate().filter(|(_, (one, two))| one != two);
    let (Some((at, letters)), None) = (differ.next(), differ.next()) else { return false };
    let part = |letter: Option<&u8>| letter.is_some_and(|letter| b"_.-".contains(letter));
    let before = one[..at].strip_suffix(b"R").unwrap_or(&one[..at]);
    one.len() == two.len()
        && letters == (&b'1', &b'2')
        && part(before.last())
        && part(one.get(at + 1))
}

/// Returns the name of the first read of a regular file.
fn first_name(path: &Path) -> Option<Vec<u8>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let file = File::open(path).ok()?;
    decompress(file).ok()?.take(BEGINNING).read_to_end(&mut text).ok()?;
    let header = text.strip_prefix(b"@").or_else(|| text.strip_prefix(b">"))?;
    header.split(u8::is_ascii_whitespace).next().map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::named_as_mates;

    #[test]
    fn names_of_mates() {
        let mates = |one: &str, two: &str| named_as_mates(one.as_bytes(), two.as_bytes());
        assert!(mates("reads_1.fq.gz", "reads_2.fq.gz"));
        assert!(mates("s_L001_R1_001.fastq.gz", "s_L001_R2_001.fastq.gz"));
        assert!(mates("s1.1.fq", "s1.2.fq"));
        assert!(!mates("s1.fq", "s2.fq"));
        assert!(!mates("reads_2.fq", "reads_1.fq"));
        assert!(!mates("reads_1.fq", "reads_2.fastq"));
        assert!(!mates("reads_1.fq", "reads_1.fq"));
        assert!(!mates("run_11.fq", "run_12.fq"));
    }
}

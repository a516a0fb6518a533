//! Detection of the kind of a file, so that a message can name a file that is not of the expected kind.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::alignment::{Sniffed, sniff};
use crate::beginning::{self, BYTE_ORDER_MARK};
use crate::compress::decompress;
use crate::there::{is_of_system, look_up};

/// The number of bytes that suffice to detect every kind; the magic of a tar archive is at offset 257.
const HEAD: u64 = 4096;

/// A kind of file or folder that users are likely to give by mistake. It is displayed with its article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A table of k-mers of this program.
    Table,
    /// A database for classification of this program.
    Database,
    /// An index for mapping of this program.
    Index,
    /// Partial results of classification of this program.
    Partial,
    /// A minimizer set of a host, of this program.
    HostSet,
    /// A matrix of k-mers and samples of this program.
    Matrix,
    /// One of the two files of a KMC database.
    Kmc,
    /// k-mers in KFF.
    Kff,
    /// The output of `jellyfish count`.
    Jellyfish,
    /// Lines with a k-mer and its count.
    Counts,
    /// Lines with a read, a tab and a segment.
    Pairs,
    /// A table in the Parquet format.
    Parquet,
    /// Sequences.
    Fasta,
    /// Reads with qualities.
    Fastq,
    /// Alignments in SAM, as text.
    Sam,
    /// Alignments in BAM.
    Bam,
    /// Alignments in CRAM, compressed with a reference.
    Cram,
    /// A minimap2 index.
    Minimap2,
    /// A folder with a Kraken 2 database, or the hash table of one.
    Kraken2,
    /// A folder with the NCBI taxonomy.
    Taxonomy,
    /// A manifest of genomes.
    Library,
    /// Any other folder.
    Folder,
    /// Reads in the SRA format of NCBI.
    Sra,
    /// A ZIP archive.
    Zip,
    /// A tar archive.
    Tar,
    /// A PDF document.
    Pdf,
    /// A web page.
    Html,
    /// A pointer that Git LFS stores instead of a large file.
    LfsPointer,
}

/// The magic numbers of the kinds that have one.
const MAGICS: &[(&[u8], FileKind)] = &[
    (b"\x89MGK\r\n\x1a\n", FileKind::Table),
    (b"\x89MGD\r\n\x1a\n", FileKind::Database),
    (b"\x89MGI\r\n\x1a\n", FileKind::Index),
    (b"\x89MGP\r\n\x1a\n", FileKind::Partial),
    (b"\x89MGS\r\n\x1a\n", FileKind::HostSet),
    (b"\x89MGX\r\n\x1a\n", FileKind::Matrix),
    (b"KMCP", FileKind::Kmc),
    (b"KMCS", FileKind::Kmc),
    (b"KFF", FileKind::Kff),
    (b"PAR1", FileKind::Parquet),
    (b"CRAM", FileKind::Cram),
    (b"MMI\x02", FileKind::Minimap2),
    (b"NCBI.sra", FileKind::Sra),
    (b"##merganser-library\t", FileKind::Library),
    (b"PK\x03\x04", FileKind::Zip),
    (b"%PDF", FileKind::Pdf),
    (b"version https://git-lfs", FileKind::LfsPointer),
    (b">", FileKind::Fasta),
    (b"@", FileKind::Fastq),
];

impl FileKind {
    /// Detects the kind of a file from its first bytes, which must be decompressed.
    pub fn of_bytes(head: &[u8]) -> Option<FileKind> {
        let head = match head.starts_with(BYTE_ORDER_MARK) || head.starts_with(b";") {
            true => beginning::records(head),
            false => head,
        };
        match sniff(head) {
            Sniffed::Bam => return Some(FileKind::Bam),
            Sniffed::Sam => return Some(FileKind::Sam),
            Sniffed::Other | Sniffed::Short => {}
        }
        if head.get(257..262) == Some(b"ustar") {
            return Some(FileKind::Tar);
        }
        let magic = MAGICS.iter().find(|(magic, _)| head.starts_with(magic));
        magic.map(|(_, kind)| *kind).or_else(|| of_first_line(head))
    }

    /// Detects the kind of a file, compressed or not, or of a folder. Returns `None` if the kind is unknown, if the
    /// path cannot be read, or if it is a pipe, whose data must not be consumed.
    pub fn of_path(path: &Path) -> Option<FileKind> {
        FileKind::read(path).ok().flatten()
    }

    /// Detects the kind as [`of_path`](Self::of_path) does, but returns errors of the system. Use it where the kind
    /// decides how the file is read.
    ///
    /// # Errors
    ///
    /// If the system cannot read the path.
    pub fn read(path: &Path) -> io::Result<Option<FileKind>> {
        let Some(metadata) = look_up(path)? else { return Ok(None) };
        if metadata.is_dir() {
            let holds = |name| path.join(name).exists();
            return Ok(Some(match () {
                () if holds("hash.k2d") => FileKind::Kraken2,
                () if holds("nodes.dmp") => FileKind::Taxonomy,
                () => FileKind::Folder,
            }));
        }
        if !metadata.is_file() {
            return Ok(None);
        }
        if path.extension().is_some_and(|end| end == "k2d") {
            return Ok(Some(FileKind::Kraken2));
        }
        let mut head = Vec::new();
        let text = decompress(File::open(path)?);
        match text.and_then(|text| text.take(HEAD).read_to_end(&mut head)) {
            Err(error) if is_of_system(&error) => Err(error),
            // After an error of the data, the bytes before it may suffice.
            _ => Ok(FileKind::of_bytes(&head)),
        }
    }

    /// Whether the kind holds sequences of reads or references.
    pub fn is_sequences(self) -> bool {
        use FileKind::{Bam, Cram, Fasta, Fastq, Sam};
        matches!(self, Fasta | Fastq | Sam | Bam | Cram)
    }

    /// Whether the kind holds alignments, which may be unmapped reads.
    pub fn is_alignments(self) -> bool {
        matches!(self, FileKind::Sam | FileKind::Bam | FileKind::Cram)
    }

    /// Whether the kind holds reads that may have qualities; FASTA never has.
    pub fn is_reads(self) -> bool {
        self.is_sequences() && self != FileKind::Fasta
    }

    /// Whether the kind is text in lines.
    pub fn is_text(self) -> bool {
        use FileKind::{Counts, Fasta, Fastq, Library, Pairs, Sam};
        matches!(self, Counts | Fasta | Fastq | Library | Pairs | Sam)
    }

    /// Whether the kind needs random access and so can be read only from files.
    pub(crate) fn is_of_files(self) -> bool {
        use FileKind::{Database, HostSet, Index, Jellyfish, Kff};
        use FileKind::{Kmc, Matrix, Parquet, Partial, Table};
        matches!(
            self,
            Table | Kmc | Kff | Jellyfish | Parquet | Database | Index | Partial | HostSet | Matrix
        )
    }

    /// Returns the advice on how a file of this kind can be used.
    fn advice(self) -> &'static str {
        match self {
            FileKind::Table
            | FileKind::Kmc
            | FileKind::Kff
            | FileKind::Jellyfish
            | FileKind::Counts
            | FileKind::Parquet => "merganser kmers reads it",
            FileKind::Database => "merganser classify and db read it",
            FileKind::Index => "merganser map and search read it",
            FileKind::Partial => "merganser report merge reads it",
            FileKind::HostSet => "merganser deplete filter reads it",
            FileKind::Matrix => "no merganser command reads it",
            FileKind::Pairs => "merganser filter reads it",
            FileKind::Fasta | FileKind::Fastq | FileKind::Sam | FileKind::Bam | FileKind::Cram => {
                "merganser count, classify and map read it"
            }
            FileKind::Minimap2 => "give the FASTA file that it was made from",
            FileKind::Kraken2 => "merganser classify and db take its folder",
            FileKind::Taxonomy => "`taxonomy` takes it",
            FileKind::Library => "merganser build reads it",
            FileKind::Folder => "name a file in it",
            FileKind::Sra => "convert it to FASTQ with fasterq-dump",
            FileKind::Zip | FileKind::Tar => "unpack it, and name the files",
            FileKind::Pdf => "is the name right?",
            FileKind::Html => "did the download fail? Look at it in a browser",
            FileKind::LfsPointer => "get the file with git lfs pull",
        }
    }

    /// Returns a message that a file is of this kind instead of the one `wanted`, with advice: `maker` if this is a
    /// kind of sequence file, from which the wanted kind can be made, otherwise how to use this kind.
    pub fn instead_of(self, wanted: &str, maker: Option<&str>) -> String {
        let advice = maker.filter(|_| self.is_sequences()).unwrap_or(self.advice());
        format!("not {wanted}, but {self}: {advice}")
    }
}

/// Returns a message about a file that does not begin with `magic`, or about a folder. Returns `None` if the magic
/// is right, or if the path cannot be opened or is neither file nor folder.
pub fn foreign(path: &Path, magic: &[u8], wanted: &str, maker: &str) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    if metadata.is_file() {
        let mut head = Vec::new();
        File::open(path).ok()?.take(magic.len() as u64).read_to_end(&mut head).ok()?;
        if head == magic {
            return None;
        }
    } else if !metadata.is_dir() {
        return None;
    }
    Some(match FileKind::of_path(path) {
        Some(kind) => kind.instead_of(wanted, Some(maker)),
        None => format!("not {wanted}: {maker}"),
    })
}

/// Detects text formats that have no magic number.
fn of_first_line(head: &[u8]) -> Option<FileKind> {
    let line = head.split(|&byte| byte == b'\n').next()?;
    let tag: Vec<u8> = line.iter().take(9).map(u8::to_ascii_lowercase).collect();
    if [&b"<!doctype"[..], b"<html", b"<head"].iter().any(|begin| tag.starts_with(begin)) {
        return Some(FileKind::Html);
    }
    if line.first().is_some_and(u8::is_ascii_digit) && line.contains(&b'{') {
        return Some(FileKind::Jellyfish);
    }
    let bases = |word: &[u8]| {
        word.len() > 1 && word.iter().all(|letter| b"ACGTUN".contains(&letter.to_ascii_uppercase()))
    };
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    match (words.next()?, words.next()?) {
        (first, second) if bases(first) && bases(second) => Some(FileKind::Pairs),
        (first, second) if bases(first) && second.iter().all(u8::is_ascii_digit) => {
            Some(FileKind::Counts)
        }
        _ => None,
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            FileKind::Table => "a table of k-mers (.mgk)",
            FileKind::Database => "a database of merganser build (.mgdb)",
            FileKind::Index => "an index of merganser index (.mgi)",
            FileKind::Partial => "partial results of merganser classify",
            FileKind::HostSet => "a set of merganser deplete index (.mgd)",
            FileKind::Matrix => "a matrix of merganser kmers matrix (.mgx)",
            FileKind::Kmc => "a KMC database",
            FileKind::Kff => "a KFF file",
            FileKind::Jellyfish => "a Jellyfish database",
            FileKind::Counts => "KMER COUNT lines",
            FileKind::Pairs => "READ SEGMENT lines",
            FileKind::Parquet => "a Parquet file",
            FileKind::Fasta => "FASTA",
            FileKind::Fastq => "FASTQ",
            FileKind::Sam => "SAM",
            FileKind::Bam => "BAM",
            FileKind::Cram => "CRAM",
            FileKind::Minimap2 => "an index of minimap2",
            FileKind::Kraken2 => "a database of Kraken 2",
            FileKind::Taxonomy => "a folder with a taxonomy",
            FileKind::Library => "a manifest of merganser db prepare",
            FileKind::Folder => "a folder",
            FileKind::Sra => "an SRA archive",
            FileKind::Zip => "a ZIP archive",
            FileKind::Tar => "a tar archive",
            FileKind::Pdf => "a PDF document",
            FileKind::Html => "a web page (HTML)",
            FileKind::LfsPointer => "a Git LFS pointer",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_tell() {
        let mut tar = vec![b'r'; 257];
        tar.extend(b"ustar\0");
        let cases: [(&[u8], Option<FileKind>); 22] = [
            (b"PK\x03\x04\x14\0\r", Some(FileKind::Zip)),
            (b"<!DOCTYPE html>\n", Some(FileKind::Html)),
            (b"<HTML><head>", Some(FileKind::Html)),
            (b"version https://git-lfs.github.com/spec/v1\n", Some(FileKind::LfsPointer)),
            (b"\xef\xbb\xbf@HD\tVN:1.6\n", Some(FileKind::Sam)),
            (b";comment\n>a\nACGT\n", Some(FileKind::Fasta)),
            (b"##merganser-library\t1\n", Some(FileKind::Library)),
            (b"\x89MGK\r\n\x1a\n\x01", Some(FileKind::Table)),
            (b"\x89PNG\r\n\x1a\n", None),
            (b"BAM\x01", Some(FileKind::Bam)),
            (b"@HD\tVN:1.6\n", Some(FileKind::Sam)),
            (b"@CO\tx\n@CO\n@SQ\tSN:a\tLN:5\n", Some(FileKind::Sam)),
            (b"@CO\tx\na\t4\t*\t0\t0\t*\t*\t0\t0\tCAT\t*\n", Some(FileKind::Sam)),
            (b"@read\nACGT\n", Some(FileKind::Fastq)),
            (b"@CO\tBC:Z:x\nACGT\n", Some(FileKind::Fastq)),
            (b">1\n", Some(FileKind::Fasta)),
            (b"000001234{\"alignment\":8", Some(FileKind::Jellyfish)),
            (b"ACGT\t12\n", Some(FileKind::Counts)),
            (b"ACGT\tACGA\n", Some(FileKind::Pairs)),
            (b"ACGT\n", None),
            (b"", None),
            (&tar, Some(FileKind::Tar)),
        ];
        for (head, kind) in cases {
            assert_eq!(FileKind::of_bytes(head), kind, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn folders_and_foreign_files_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let say = |path: &Path| foreign(path, b"\x89MGD\r\n\x1a\n", "a database", "build one");
        assert_eq!(
            say(dir.path()).as_deref(),
            Some("not a database, but a folder: name a file in it")
        );
        std::fs::write(dir.path().join("hash.k2d"), "").unwrap();
        assert_eq!(FileKind::of_path(dir.path()), Some(FileKind::Kraken2));
        let file = dir.path().join("f");
        for (text, said) in [
            (&b"\x89MGD\r\n\x1a\n..."[..], None),
            (b">x\nA\n", Some("not a database, but FASTA: build one")),
            (b"KFF", Some("not a database, but a KFF file: merganser kmers reads it")),
            (b"", Some("not a database: build one")),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(say(&file).as_deref(), said);
        }
        assert_eq!(say(&dir.path().join("none")), None);
    }
}

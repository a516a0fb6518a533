//! Accessions of genomes, derived from the names of files and folders.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::file_names::without_suffixes;
use merganser_taxonomy::{assembly, stem};

/// An accession, split into stem and version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Accession {
    /// The accession without its version.
    pub(super) stem: Box<[u8]>,
    /// The version; 0 for an accession without one.
    pub(super) version: u64,
}

impl Accession {
    /// Parses the cell of a list, which may also be the name of a file.
    pub(super) fn of(text: &[u8]) -> Accession {
        let text = without_suffixes(text);
        let found = assembly(text).filter(|found| text.starts_with(found)).unwrap_or_default();
        let version =
            |stem: &[u8]| std::str::from_utf8(&found[stem.len() + 1..]).ok()?.parse().ok();
        match stem(found).and_then(|stem| Some((stem, version(stem)?))) {
            Some((stem, version)) => Accession { stem: stem.into(), version },
            None => Accession { stem: text.into(), version: 0 },
        }
    }

    /// Returns the accession of the genome in a file: the accession in the file's name; otherwise the one in the
    /// name of its folder, as for a folder with a file per chromosome; otherwise the name of the file itself. Also
    /// returns whether the accession comes from the folder.
    pub(super) fn of_file(path: &Path) -> (Accession, bool) {
        let name = |path: &Path| path.file_name().unwrap_or_default().as_bytes().to_vec();
        let file = name(path);
        if let Some(found) = assembly(&file) {
            return (Accession::of(found), false);
        }
        let folder = path.parent().map(name).unwrap_or_default();
        match assembly(&folder).filter(|found| folder.starts_with(found)) {
            Some(found) => (Accession::of(found), true),
            None => (Accession::of(&file), false),
        }
    }

    /// Returns the accession as in lists, with its version.
    pub(super) fn text(&self) -> String {
        let stem = String::from_utf8_lossy(&self.stem);
        match self.version {
            0 => stem.into_owned(),
            version => format!("{stem}.{version}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_accessions() {
        for (path, text, of_folder) in [
            ("x/GCF_000005845.2_ASM584v2_genomic.fna.gz", "GCF_000005845.2", false),
            ("GCA/000/001/405/GCA_000001405.29_genomic.fna.gz", "GCA_000001405.29", false),
            ("GCF_000005845.2/chr1.fna", "GCF_000005845.2", true),
            ("GCF_000005845.2_ASM584v2/a.fa.gz", "GCF_000005845.2", true),
            ("my_GCF_000005845.2/mine.v2.fa.gz", "mine.v2", false),
            ("GCF_00000584.2.fa", "GCF_00000584.2", false),
            ("U_77.fna", "U_77", false),
        ] {
            let (found, from) = Accession::of_file(Path::new(path));
            assert_eq!((found.text().as_str(), from), (text, of_folder), "{path}");
        }
        let of = |text: &str| Accession::of(text.as_bytes());
        assert_eq!(of("GCF_000005845.2").version, 2);
        assert_eq!(of("GCF_000005845").stem, of("GCF_000005845.2").stem);
        assert_eq!(of("mine.fa.gz"), of("mine"));
        assert_eq!(of("GCF_000005845.2_ASM584v2_genomic.fna.gz"), of("GCF_000005845.2"));
        assert_eq!(of("my_GCF_000005845.2.fa").stem.as_ref(), b"my_GCF_000005845.2");
        // A version of too many digits.
        assert_eq!(of(&format!("GCF_000005845.{}", "9".repeat(40))).version, 0);
    }
}

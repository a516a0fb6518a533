//! The format and the parameters of a table, known before its k-mers are read.

use crate::Header;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A `.mgk` table.
    Mgk,
    /// A KMC database, version 0.
    Kmc1,
    /// A KMC database, version 0x200.
    Kmc2,
    /// A table of FastK.
    FastK,
    /// A database of meryl.
    Meryl,
    /// A KFF file (K-mer File Format), version 1.
    Kff,
    /// A file of Jellyfish 2 (`binary/sorted`).
    Jellyfish,
    /// `KMER COUNT` lines with a tab or blanks between them.
    Columns,
    /// FASTA whose headers are counts, as `jellyfish dump` writes.
    Fasta,
    /// Parquet with the columns `kmer` and `count`.
    Parquet,
}

impl Kind {
    /// Returns the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mgk => "mgk",
            Kind::Kmc1 => "KMC1",
            Kind::Kmc2 => "KMC2",
            Kind::FastK => "FastK",
            Kind::Meryl => "meryl",
            Kind::Kff => "KFF",
            Kind::Jellyfish => "Jellyfish",
            Kind::Columns => "text",
            Kind::Fasta => "FASTA",
            Kind::Parquet => "Parquet",
        }
    }
}

/// The parameters of a table, as far as its format records them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The format.
    pub kind: Kind,
    /// The length of k-mers.
    pub k: usize,
    /// Whether k-mers and their reverse complements were counted together.
    pub canonical: bool,
    /// Whether the reads were homopolymer-compressed, according to the format or to the caller that opened the table.
    pub homopolymer_compressed: bool,
    /// The smallest count in the table.
    pub min_count: u32,
    /// The largest count that the table may have.
    pub max_count: u32,
    /// The number of distinct k-mers, if the format records it.
    pub kmers: Option<u64>,
    /// An upper bound of the counts, if the format records one.
    pub largest_count: Option<u32>,
    /// The header of a `.mgk` table.
    pub header: Option<Header>,
}

/// The reason why a table of k-mers of the forward strand cannot be used.
pub(crate) const FORWARD_ONLY: &str =
    "it has k-mers of the forward strand: count without `forward_only`";

impl Description {
    /// Returns the description of a `.mgk` table.
    pub(crate) fn of_header(header: &Header) -> Description {
        Description {
            kind: Kind::Mgk,
            k: header.k,
            canonical: header.canonical,
            homopolymer_compressed: header.homopolymer_compressed,
            min_count: header.min_count,
            max_count: header.max_count,
            kmers: Some(header.kmers),
            largest_count: Some(header.largest_count),
            header: Some(header.clone()),
        }
    }

    /// Whether the table has only given k-mers of the reads, those of a panel or of another table, according to the
    /// format. Only `.mgk` records it.
    pub fn is_only_given(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.only_given)
    }

    /// Returns why no model of a genome fits the histogram of the table; `None` if one may.
    pub fn why_no_model(&self) -> Option<&'static str> {
        if self.is_only_given() {
            return Some(
                "it has only given k-mers (of a panel or an intersection), and a model needs all of the reads: count \
                 without `panel`",
            );
        }
        (!self.canonical).then_some(FORWARD_ONLY)
    }

    /// Returns the description of a table of which nothing else is known before it is read.
    pub(crate) fn unread(kind: Kind, k: usize, canonical: bool) -> Description {
        Description {
            kind,
            k,
            canonical,
            homopolymer_compressed: false,
            min_count: 1,
            max_count: u32::MAX,
            kmers: None,
            largest_count: None,
            header: None,
        }
    }
}

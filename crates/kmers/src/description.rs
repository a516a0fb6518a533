//! What is known of a table before its k-mers are read: its format and parameters.

use crate::Header;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Our own.
    Mgk,
    /// A KMC database, version 0.
    Kmc1,
    /// A KMC database, version 0x200.
    Kmc2,
    /// A table of FastK.
    FastK,
    /// A database of meryl.
    Meryl,
    /// K-mer file format, version 1.
    Kff,
    /// `KMER COUNT` lines with a tab or blanks between them.
    Columns,
    /// FASTA whose headers are counts, as `jellyfish dump` writes.
    Fasta,
    /// Parquet with the columns `kmer` and `count`.
    Parquet,
}

impl Kind {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mgk => "mgk",
            Kind::Kmc1 => "KMC1",
            Kind::Kmc2 => "KMC2",
            Kind::FastK => "FastK",
            Kind::Meryl => "meryl",
            Kind::Kff => "KFF",
            Kind::Columns => "text",
            Kind::Fasta => "FASTA",
            Kind::Parquet => "Parquet",
        }
    }
}

/// What a table says of itself, as far as its format can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The format.
    pub kind: Kind,
    /// Bases of a k-mer.
    pub k: usize,
    /// k-mers and their reverse complements were counted together.
    pub canonical: bool,
    /// Its k-mers are those of homopolymer-compressed reads, by what the format says or whoever opened it.
    pub homopolymer_compressed: bool,
    /// The least count in the table.
    pub min_count: u32,
    /// The largest count that the table may hold.
    pub max_count: u32,
    /// Distinct k-mers, where the format says.
    pub kmers: Option<u64>,
    /// No count is larger, where the format says.
    pub largest_count: Option<u32>,
    /// What only a `.mgk` table says.
    pub header: Option<Header>,
}

impl Description {
    /// Describes a table of ours.
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

    /// Of a table of which no more is known before it is read.
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

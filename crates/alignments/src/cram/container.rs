//! Converts BAM records to data series, and these to the blocks of a container.

use std::collections::HashMap;
use std::sync::Arc;

use md5::{Digest, Md5};

use super::ReferenceLetters;
use super::block::{Kind, Packer, put_long, put_number, put_numbers, put_raw_block};
use super::record::{Stored, operation};
use super::series::{AllSeries, Preserved, Series, TagKey};
use crate::fields::records;
use crate::{Fields, flag};

/// A container and its entry in the index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Container {
    /// The number of the contig; -1 for records without a position, -2 for records with several contigs.
    pub(super) contig: i32,
    /// The first base that the records cover, from 1.
    pub(super) first: i32,
    /// The number of bases that the records cover.
    pub(super) span: i32,
    pub(super) records: i32,
    /// The number of records before the container.
    pub(super) counter: u64,
    pub(super) bases: u64,
    pub(super) blocks: i32,
    /// The offset of the slice after the container's header, and the size of the slice, both in bytes.
    pub(super) slice: [usize; 2],
    /// The container as written to the file.
    pub(crate) bytes: Vec<u8>,
}

/// Appends the header of a container whose blocks take `bytes` bytes.
pub(super) fn put_header(
    container: &Container,
    bytes: usize,
    landmarks: &[i32],
    out: &mut Vec<u8>,
) {
    let begin = out.len();
    out.extend_from_slice(&(bytes as i32).to_le_bytes());
    for number in [container.contig, container.first, container.span, container.records] {
        put_number(number, out);
    }
    put_long(container.counter, out);
    put_long(container.bases, out);
    put_number(container.blocks, out);
    put_numbers(landmarks, out);
    let sum = crc32fast::hash(&out[begin..]);
    out.extend_from_slice(&sum.to_le_bytes());
}

/// The CRAM flag of a record that stores all its qualities.
const ALL_QUALITIES: i32 = 1;
/// The CRAM flag of a record that stores its mate fields explicitly.
const MATE_AS_IT_IS: i32 = 2;
/// The CRAM flag of a record without bases.
const NO_BASES: i32 = 8;

/// The quality of bases without a quality. As in samtools, it is stored: decoders differ where nothing is.
const NO_QUALITY: u8 = 0xff;
/// The contig number of a slice whose records have several contigs.
const SEVERAL: i32 = -2;

/// The letters of bases, by their numbers in BAM.
const LETTERS: &[u8; 16] = b"=ACMGRSVTWYHKDBN";

/// An encoder of containers, with the buffers of one thread.
pub(crate) struct Encoder<'r> {
    /// The reference; without it, all bases are stored.
    letters: Option<&'r dyn ReferenceLetters>,
    /// The number of each read group, by its ID.
    groups: Arc<Groups>,
    series: AllSeries,
    packer: Packer,
    /// The part of the reference that the slice covers.
    reference: Vec<u8>,
    read: Vec<u8>,
    tags: Vec<TagKey>,
}

/// The numbers of read groups, by their IDs.
pub(crate) type Groups = HashMap<Vec<u8>, i32>;

impl<'r> Encoder<'r> {
    /// Creates an encoder. Without `letters`, the containers need no reference.
    pub(crate) fn new(
        letters: Option<&'r dyn ReferenceLetters>,
        groups: Arc<Groups>,
    ) -> Encoder<'r> {
        Encoder {
            letters,
            groups,
            series: AllSeries::new(),
            packer: Packer::new(),
            reference: Vec::new(),
            read: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// Encodes records as a container. If there is a reference, they must all have the same contig or all have no
    /// position.
    pub(crate) fn encode(&mut self, records: &[u8]) -> OpenContainer {
        let (container, is_sorted) = measure(records);
        self.reference.clear();
        if let (Some(letters), 0..) = (self.letters, container.contig) {
            let (from, bases) = (container.first as u32 - 1, container.span as u32);
            letters.put(container.contig as usize, from, bases, &mut self.reference);
        }
        self.series.clear();
        let mut last = container.first;
        for record in split(records) {
            let at = record.fields.at() + 1;
            if container.contig == SEVERAL {
                self.series.put(Series::Ri, record.fields.contig());
            }
            self.series.put(Series::Ap, if is_sorted { at - last } else { at });
            self.put(&record, at - container.first);
            last = at;
        }
        self.finish(container, is_sorted)
    }

    /// Appends a record, which begins `offset` bases after the start of the slice, to the data series.
    fn put(&mut self, record: &Stored<'_>, offset: i32) {
        let fields = &record.fields;
        let flags = fields.flags();
        let qualities = fields.qualities();
        let has_bases = fields.bases() > 0;
        let series = &mut self.series;
        series.put(Series::Bf, flags.into());
        let missing = if has_bases { 0 } else { NO_BASES };
        series.put(Series::Cf, ALL_QUALITIES | missing | MATE_AS_IT_IS);
        series.put(Series::Rl, record.read_bases() as i32);
        let group = record.group(&self.groups);
        series.put(Series::Rg, group.unwrap_or(-1));
        series.of(Series::Rn).extend_from_slice(fields.name());
        series.put(Series::Mf, mate_flags(flags));
        let [contig, at, template] = fields.mate();
        series.put(Series::Ns, contig);
        series.put(Series::Np, at + 1);
        series.put(Series::Ts, template);
        self.put_tags(record, group.is_some());
        self.read.clear();
        let letters =
            |byte: &u8| [LETTERS[usize::from(byte >> 4)], LETTERS[usize::from(byte & 15)]];
        self.read.extend(fields.packed_bases().iter().flat_map(letters));
        self.read.truncate(fields.bases());
        if record.is_mapped() {
            self.put_differences(record, offset as usize, has_bases);
            self.series.put(Series::Mq, fields.quality().into());
        } else if has_bases {
            self.series.of(Series::Ba).extend_from_slice(&self.read);
        }
        self.series.of(Series::Qs).extend_from_slice(qualities);
        if !has_bases {
            let series = self.series.of(Series::Qs);
            series.resize(series.len() + record.read_bases(), NO_QUALITY);
        }
    }

    fn put_tags(&mut self, record: &Stored<'_>, has_group: bool) {
        self.tags.clear();
        for (key, value) in record.tags(has_group) {
            self.tags.push(key);
            self.series.put_tag(key, value);
        }
        let list = self.series.list(&self.tags);
        self.series.put(Series::Tl, list);
    }

    /// Appends the differences of a record from the reference, starting at base `at` of the slice's reference.
    fn put_differences(&mut self, record: &Stored<'_>, mut at: usize, has_bases: bool) {
        let mut differences = Differences { series: &mut self.series, number: 0, last: 0 };
        let mut from = 0;
        for (operation, len) in record.operations().filter(|&(_, len)| len > 0) {
            match operation {
                operation::INSERTION | operation::SOFT_CLIP => {
                    let bases = has_bases.then(|| &self.read[from..from + len]);
                    differences.put_inserted(operation, bases, len, from);
                    from += len;
                }
                operation::DELETION => {
                    differences.put_length((b'D', Series::Dl), len, from);
                    at += len;
                }
                operation::SKIP => {
                    differences.put_length((b'N', Series::Rs), len, from);
                    at += len;
                }
                operation::HARD_CLIP => differences.put_length((b'H', Series::Hc), len, from),
                operation::PADDING => differences.put_length((b'P', Series::Pd), len, from),
                _ => {
                    let bases = &self.read[if has_bases { from..from + len } else { 0..0 }];
                    match self.letters {
                        _ if !has_bases => {}
                        Some(_) => {
                            differences.put_bases(&self.reference[at..at + len], bases, from)
                        }
                        None => differences.put_all_bases(bases, from),
                    }
                    (from, at) = (from + len, at + len);
                }
            }
        }
        let number = differences.number;
        self.series.put(Series::Fn, number);
    }

    /// Assembles the container from the data series.
    fn finish(&mut self, container: Container, is_sorted: bool) -> OpenContainer {
        let preserved = Preserved { differences: is_sorted, reference: self.letters.is_some() };
        let mut compression = Vec::new();
        let header = self.series.compression_header(preserved);
        put_raw_block(Kind::Compression, 0, &header, &mut compression);
        let mut data = Vec::new();
        put_raw_block(Kind::Core, 0, &[], &mut data);
        let mut ids = self.series.put_blocks(&mut self.packer, &mut data);
        ids.insert(0, 0);
        let reference = match (self.letters, container.contig) {
            (Some(_), 0..) => Md5::digest(&self.reference).into(),
            _ => [0; 16],
        };
        OpenContainer { container, compression, ids, data, reference }
    }
}

/// Returns the CRAM flags of a mate. For an unpaired read they are 0: it would become a paired one. Its BAM flags, which
/// have the same bits, are stored as they are.
fn mate_flags(flags: u16) -> i32 {
    let reverse = if flags & flag::MATE_REVERSE != 0 { 1 } else { 0 };
    let unmapped = if flags & flag::MATE_UNMAPPED != 0 { 2 } else { 0 };
    if flags & flag::PAIRED != 0 { reverse | unmapped } else { 0 }
}

/// Returns views of records.
fn split(all: &[u8]) -> impl Iterator<Item = Stored<'_>> {
    records(all).map(Stored::new)
}

/// Returns a container without blocks, with the range and the number of the records, and whether positions are stored
/// as differences.
fn measure(records: &[u8]) -> (Container, bool) {
    let mut container = Container { contig: Fields(records).contig(), ..Container::default() };
    let (mut first, mut last, mut end, mut is_sorted) = (i32::MAX, i32::MIN, 0, true);
    for record in split(records) {
        let at = record.fields.at() + 1;
        // Only slices with several contigs can have records with a contig and no position.
        if record.fields.contig() != container.contig || (container.contig >= 0 && at < 1) {
            container.contig = SEVERAL;
        }
        is_sorted &= at >= last;
        (first, last) = (first.min(at), at);
        end = end.max(i64::from(at) + record.span() as i64);
        container.records += 1;
        container.bases += record.read_bases() as u64;
    }
    if container.contig >= 0 {
        container.first = first;
        container.span = (end - i64::from(first)).try_into().unwrap_or(i32::MAX);
    }
    let is_sorted = is_sorted && container.contig != SEVERAL;
    (container, is_sorted)
}

/// A container without the number of records before it, which is in two of its headers.
pub(crate) struct OpenContainer {
    container: Container,
    /// The block with the encodings.
    compression: Vec<u8>,
    /// The content IDs of the blocks of the slice.
    ids: Vec<i32>,
    /// The blocks of the slice.
    data: Vec<u8>,
    /// The MD5 of the part of the reference that the slice covers; zeros without a reference.
    reference: [u8; 16],
}

impl OpenContainer {
    /// Completes the container, which follows `counter` records.
    pub(crate) fn close(self, counter: u64) -> Container {
        let OpenContainer { mut container, mut compression, ids, data, reference } = self;
        container.counter = counter;
        let mut header = Vec::new();
        for number in [container.contig, container.first, container.span, container.records] {
            put_number(number, &mut header);
        }
        put_long(container.counter, &mut header);
        put_number(ids.len() as i32, &mut header);
        put_numbers(&ids, &mut header);
        // The reference is not embedded in a block.
        put_number(-1, &mut header);
        header.extend_from_slice(&reference);
        let landmark = compression.len();
        let blocks = &mut compression;
        put_raw_block(Kind::Slice, 0, &header, blocks);
        blocks.extend_from_slice(&data);
        container.slice = [landmark, blocks.len() - landmark];
        container.blocks = ids.len() as i32 + 2;
        let mut bytes = Vec::with_capacity(blocks.len() + 64);
        put_header(&container, blocks.len(), &[landmark as i32], &mut bytes);
        bytes.extend_from_slice(blocks);
        container.bytes = bytes;
        container
    }

    /// Returns the number of records.
    pub(crate) fn records(&self) -> u64 {
        self.container.records as u64
    }

    /// Appends the container in the form that [`take`](Self::take) reads.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let Container { contig, first, span, records, bases, .. } = self.container;
        for number in [contig, first, span, records] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&bases.to_le_bytes());
        out.extend_from_slice(&self.reference);
        for len in [self.ids.len(), self.compression.len(), self.data.len()] {
            out.extend_from_slice(&(len as u64).to_le_bytes());
        }
        self.ids.iter().for_each(|id| out.extend_from_slice(&id.to_le_bytes()));
        out.extend_from_slice(&self.compression);
        out.extend_from_slice(&self.data);
    }

    /// Takes the first container of `bytes`; `None` if it is not whole.
    pub(crate) fn take(bytes: &mut &[u8]) -> Option<OpenContainer> {
        let mut number = || take(bytes).map(i32::from_le_bytes);
        let [contig, first, span, records] = [number()?, number()?, number()?, number()?];
        let bases = u64::from_le_bytes(take(bytes)?);
        let container = Container { contig, first, span, records, bases, ..Container::default() };
        let reference = take(bytes)?;
        let mut len = || take(bytes).map(|len| u64::from_le_bytes(len) as usize);
        let [ids, compression, data] = [len()?, len()?, len()?];
        let ids = (0..ids).map(|_| take(bytes).map(i32::from_le_bytes)).collect::<Option<_>>()?;
        let mut part = |len: usize| {
            let (part, rest) = bytes.split_at_checked(len)?;
            *bytes = rest;
            Some(part.to_vec())
        };
        let (compression, data) = (part(compression)?, part(data)?);
        Some(OpenContainer { container, compression, ids, data, reference })
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// The differences of a read, in the order of the read's bases.
struct Differences<'s> {
    series: &'s mut AllSeries,
    number: i32,
    /// The read position of the previous difference, from 1.
    last: usize,
}

impl Differences<'_> {
    /// Adds the kind and the position of a difference at the read base with index `base`.
    fn begin(&mut self, kind: u8, base: usize) {
        self.series.of(Series::Fc).push(kind);
        self.series.put(Series::Fp, (base + 1 - self.last) as i32);
        self.last = base + 1;
        self.number += 1;
    }

    /// Appends the mismatches between `bases` and `reference`. `from` is the index of the first base in the read.
    fn put_bases(&mut self, reference: &[u8], bases: &[u8], from: usize) {
        for (at, (&one, &base)) in reference.iter().zip(bases).enumerate() {
            if one == base {
                continue;
            }
            match (code(one), code(base)) {
                (Some(known), Some(other)) => {
                    self.begin(b'X', from + at);
                    // The number counts only the letters that differ from the reference.
                    let number = other - u8::from(other > known);
                    self.series.of(Series::Bs).push(number);
                }
                _ => self.put_all_bases(&[base], from + at),
            }
        }
    }

    /// Appends bases as they are. `from` is the index of the first base in the read.
    fn put_all_bases(&mut self, bases: &[u8], from: usize) {
        self.begin(b'b', from);
        self.series.of(Series::Bb).extend_from_slice(bases);
        self.series.put(Series::BbLengths, bases.len() as i32);
    }

    /// Appends the bases of an insertion or a soft clip; `N` if the record has no bases.
    fn put_inserted(&mut self, operation: u32, bases: Option<&[u8]>, len: usize, from: usize) {
        let (kind, series) = match operation {
            operation::INSERTION => (b'I', Series::In),
            _ => (b'S', Series::Sc),
        };
        self.begin(kind, from);
        let out = self.series.of(series);
        match bases {
            Some(bases) => out.extend_from_slice(bases),
            None => out.resize(out.len() + len, b'N'),
        }
        out.push(0);
    }

    /// Appends an operation that stores only its length.
    fn put_length(&mut self, (kind, series): (u8, Series), len: usize, from: usize) {
        self.begin(kind, from);
        self.series.put(series, len as i32);
    }
}

/// Returns the number of a letter in the table of substitutions.
fn code(letter: u8) -> Option<u8> {
    b"ACGTN".iter().position(|&one| one == letter).map(|at| at as u8)
}

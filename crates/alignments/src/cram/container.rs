//! Converts BAM records to data series, and these to the blocks of a container.

use std::collections::HashMap;

use md5::{Digest, Md5};

use super::ReferenceLetters;
use super::block::{Kind, Packer, put_block, put_long, put_number, put_numbers};
use super::series::{AllSeries, Series, TagKey};
use crate::{Fields, flag};

/// A container and its entry in the index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Container {
    /// The number of the contig; -1 for records without a position.
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

/// The letters of bases, by their numbers in BAM.
const LETTERS: &[u8; 16] = b"=ACMGRSVTWYHKDBN";

/// An encoder of containers, with the buffers of one thread.
pub(crate) struct Encoder<'r> {
    letters: &'r dyn ReferenceLetters,
    /// The number of each read group, by its ID.
    groups: &'r HashMap<Vec<u8>, i32>,
    series: AllSeries,
    packer: Packer,
    /// The part of the reference that the slice covers.
    reference: Vec<u8>,
    read: Vec<u8>,
    tags: Vec<TagKey>,
}

impl<'r> Encoder<'r> {
    pub(crate) fn new(
        letters: &'r dyn ReferenceLetters,
        groups: &'r HashMap<Vec<u8>, i32>,
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

    /// Encodes sorted records as a container. They must all have the same contig or all have no position. `counter`
    /// is the number of records before them.
    pub(crate) fn encode(&mut self, records: &[u8], counter: u64) -> Container {
        let mut container = self.measure(records, counter);
        self.reference.clear();
        if container.contig >= 0 {
            let (from, bases) = (container.first as u32 - 1, container.span as u32);
            self.letters.put(container.contig as usize, from, bases, &mut self.reference);
        }
        self.series.clear();
        let (mut rest, mut last) = (records, container.first);
        while !rest.is_empty() {
            let (record, others) = rest.split_at(Fields(rest).len());
            rest = others;
            let at = Fields(record).at() + 1;
            self.series.put(Series::Ap, at - last);
            self.put(record, at - container.first);
            last = at;
        }
        self.finish(&mut container);
        container
    }

    /// Returns a container without blocks, with the range and the number of the records.
    fn measure(&self, records: &[u8], counter: u64) -> Container {
        let mut container =
            Container { contig: Fields(records).contig(), counter, ..Container::default() };
        let (mut rest, mut end) = (records, 0);
        while !rest.is_empty() {
            let fields = Fields(rest);
            if container.records == 0 {
                container.first = fields.at() + 1;
            }
            end = end.max(fields.at() + fields.span() as i32);
            container.records += 1;
            container.bases += fields.read_bases() as u64;
            rest = &rest[fields.len()..];
        }
        container.span = if container.contig < 0 { 0 } else { end - container.first + 1 };
        container
    }

    /// Appends a record, which begins `offset` bases after the start of the slice, to the data series.
    fn put(&mut self, record: &[u8], offset: i32) {
        let fields = Fields(record);
        let flags = fields.flags();
        let is_mapped = flags & flag::UNMAPPED == 0;
        let qualities = fields.qualities();
        let has_bases = fields.bases() > 0;
        let has_qualities = has_bases && qualities.first() != Some(&0xff);
        let series = &mut self.series;
        series.put(Series::Bf, flags.into());
        let kept = if has_qualities { ALL_QUALITIES } else { 0 };
        let missing = if has_bases { 0 } else { NO_BASES };
        series.put(Series::Cf, kept | missing | MATE_AS_IT_IS);
        series.put(Series::Rl, fields.read_bases() as i32);
        let group = fields.tags().find(|(key, _)| key == b"RGZ");
        // The ID is stored without its terminating zero.
        let group = group.and_then(|(_, id)| self.groups.get(&id[..id.len() - 1])).copied();
        series.put(Series::Rg, group.unwrap_or(-1));
        series.of(Series::Rn).extend_from_slice(fields.name());
        let reverse = if flags & flag::MATE_REVERSE != 0 { 1 } else { 0 };
        let unmapped = if flags & flag::MATE_UNMAPPED != 0 { 2 } else { 0 };
        series.put(Series::Mf, reverse | unmapped);
        let [contig, at, template] = fields.mate();
        series.put(Series::Ns, contig);
        series.put(Series::Np, at + 1);
        series.put(Series::Ts, template);
        self.put_tags(&fields, group.is_some());
        self.read.clear();
        let letters =
            |byte: &u8| [LETTERS[usize::from(byte >> 4)], LETTERS[usize::from(byte & 15)]];
        self.read.extend(fields.packed_bases().iter().flat_map(letters));
        self.read.truncate(fields.bases());
        if is_mapped {
            self.put_differences(&fields, offset as usize, has_bases);
            self.series.put(Series::Mq, fields.quality().into());
        } else if has_bases {
            self.series.of(Series::Ba).extend_from_slice(&self.read);
        }
        if has_qualities {
            self.series.of(Series::Qs).extend_from_slice(qualities);
        }
    }

    /// Appends the tags. A read group of the header has a data series of its own.
    fn put_tags(&mut self, fields: &Fields<'_>, has_group: bool) {
        self.tags.clear();
        for (key, value) in fields.tags().filter(|(key, _)| !has_group || key != b"RGZ") {
            self.tags.push(key);
            self.series.put_tag(key, value);
        }
        let list = self.series.list(&self.tags);
        self.series.put(Series::Tl, list);
    }

    /// Appends the differences of a record from the reference, starting at base `at` of the slice's reference.
    fn put_differences(&mut self, fields: &Fields<'_>, mut at: usize, has_bases: bool) {
        let mut differences = Differences { series: &mut self.series, number: 0, last: 0 };
        let mut from = 0;
        for (operation, len) in fields.cigar() {
            match operation {
                1 | 4 => {
                    let (kind, series) =
                        if operation == 1 { (b'I', Series::In) } else { (b'S', Series::Sc) };
                    differences.begin(kind, from);
                    let out = differences.series.of(series);
                    match has_bases {
                        true => out.extend_from_slice(&self.read[from..from + len]),
                        false => out.resize(out.len() + len, b'N'),
                    }
                    out.push(0);
                    from += len;
                }
                2 => {
                    differences.begin(b'D', from);
                    differences.series.put(Series::Dl, len as i32);
                    at += len;
                }
                _ => {
                    if has_bases {
                        let reference = &self.reference[at..at + len];
                        differences.put_bases(reference, &self.read[from..from + len], from);
                    }
                    (from, at) = (from + len, at + len);
                }
            }
        }
        let number = differences.number;
        self.series.put(Series::Fn, number);
    }

    /// Assembles the container from the data series.
    fn finish(&mut self, container: &mut Container) {
        let mut blocks = Vec::new();
        put_block(
            Kind::Compression,
            0,
            &self.series.compression_header(),
            &mut self.packer,
            &mut blocks,
        );
        let landmark = blocks.len();
        let mut data = Vec::new();
        put_block(Kind::Core, 0, &[], &mut self.packer, &mut data);
        let mut ids = self.series.put_blocks(&mut self.packer, &mut data);
        ids.insert(0, 0);
        let mut header = Vec::new();
        for number in [container.contig, container.first, container.span, container.records] {
            put_number(number, &mut header);
        }
        put_long(container.counter, &mut header);
        put_number(ids.len() as i32, &mut header);
        put_numbers(&ids, &mut header);
        // The reference is not embedded in a block.
        put_number(-1, &mut header);
        match container.contig {
            0.. => header.extend_from_slice(&Md5::digest(&self.reference)),
            _ => header.extend_from_slice(&[0; 16]),
        }
        put_block(Kind::Slice, 0, &header, &mut self.packer, &mut blocks);
        blocks.extend_from_slice(&data);
        container.slice = [landmark, blocks.len() - landmark];
        container.blocks = ids.len() as i32 + 2;
        let mut bytes = Vec::with_capacity(blocks.len() + 64);
        put_header(container, blocks.len(), &[landmark as i32], &mut bytes);
        bytes.extend_from_slice(&blocks);
        container.bytes = bytes;
    }
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
                _ => {
                    self.begin(b'b', from + at);
                    self.series.of(Series::Bb).push(base);
                }
            }
        }
    }
}

/// Returns the number of a letter in the table of substitutions.
fn code(letter: u8) -> Option<u8> {
    b"ACGTN".iter().position(|&one| one == letter).map(|at| at as u8)
}

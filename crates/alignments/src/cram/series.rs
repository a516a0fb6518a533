//! The data series of records and their encodings (CRAM specification, section 8.4).

use std::collections::BTreeMap;

use super::block::{Kind, Packer, put_block, put_bytes, put_number};

/// The data series that are written, with the names of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Series {
    /// The BAM flags.
    Bf,
    /// The CRAM flags.
    Cf,
    /// The length of the read.
    Rl,
    /// The position, minus that of the record before.
    Ap,
    /// The read group.
    Rg,
    /// The read name.
    Rn,
    /// The flags of the mate.
    Mf,
    /// The contig of the mate.
    Ns,
    /// The position of the mate.
    Np,
    /// The length of the template.
    Ts,
    /// The number of the list of tags.
    Tl,
    /// The number of differences.
    Fn,
    /// The kind of a difference.
    Fc,
    /// The distance of a difference from the one before.
    Fp,
    /// The length of a deletion.
    Dl,
    /// The code of a substitution.
    Bs,
    /// Inserted bases.
    In,
    /// Clipped bases.
    Sc,
    /// Bases that have no substitution code, or no reference.
    Bb,
    /// The mapping quality.
    Mq,
    /// The bases of a read without a position.
    Ba,
    /// The qualities.
    Qs,
    /// The contig, if the records of the slice have several.
    Ri,
    /// The length of a skipped part of the reference.
    Rs,
    /// The length of a padding.
    Pd,
    /// The number of bases that a hard clip removed.
    Hc,
    /// The numbers of bases of [`Bb`](Series::Bb), which are no data series of the specification.
    BbLengths,
}

impl Series {
    const ALL: [(Series, &'static [u8]); 27] = [
        (Series::Bf, b"BF"),
        (Series::Cf, b"CF"),
        (Series::Rl, b"RL"),
        (Series::Ap, b"AP"),
        (Series::Rg, b"RG"),
        (Series::Rn, b"RN"),
        (Series::Mf, b"MF"),
        (Series::Ns, b"NS"),
        (Series::Np, b"NP"),
        (Series::Ts, b"TS"),
        (Series::Tl, b"TL"),
        (Series::Fn, b"FN"),
        (Series::Fc, b"FC"),
        (Series::Fp, b"FP"),
        (Series::Dl, b"DL"),
        (Series::Bs, b"BS"),
        (Series::In, b"IN"),
        (Series::Sc, b"SC"),
        (Series::Bb, b"BB"),
        (Series::Mq, b"MQ"),
        (Series::Ba, b"BA"),
        (Series::Qs, b"QS"),
        (Series::Ri, b"RI"),
        (Series::Rs, b"RS"),
        (Series::Pd, b"PD"),
        (Series::Hc, b"HC"),
        (Series::BbLengths, b""),
    ];

    /// Returns the content ID of the block.
    fn id(self) -> i32 {
        self as i32 + 1
    }

    fn put_encoding(self, out: &mut Vec<u8>) {
        match self {
            Series::Rn | Series::In | Series::Sc => put_stopped(0, self.id(), out),
            Series::Bb => put_measured(Series::BbLengths.id(), self.id(), out),
            _ => put_external(self.id(), out),
        }
    }

    /// Whether the series has an encoding only where it is used.
    fn is_rare(self) -> bool {
        matches!(self, Series::Ri | Series::Rs | Series::Pd | Series::Hc)
    }
}

/// The terminator of a text tag's value: no such value contains a tab.
const TAB: u8 = b'\t';

/// Appends the encoding EXTERNAL: numbers or bytes in a block.
fn put_external(id: i32, out: &mut Vec<u8>) {
    let mut of = Vec::new();
    put_number(id, &mut of);
    put_number(1, out);
    put_bytes(&of, out);
}

/// Appends the encoding BYTE_ARRAY_STOP: byte arrays that end with `stop`.
fn put_stopped(stop: u8, id: i32, out: &mut Vec<u8>) {
    let mut of = vec![stop];
    put_number(id, &mut of);
    put_number(5, out);
    put_bytes(&of, out);
}

/// Appends the encoding BYTE_ARRAY_LEN of arrays of `bytes` bytes: a Huffman code with a single codeword of no bits
/// gives the length.
fn put_counted(bytes: i32, id: i32, out: &mut Vec<u8>) {
    let mut code = vec![1];
    put_number(bytes, &mut code);
    code.extend_from_slice(&[1, 0]);
    let mut of = Vec::new();
    put_number(3, &mut of);
    put_bytes(&code, &mut of);
    put_external(id, &mut of);
    put_number(4, out);
    put_bytes(&of, out);
}

/// Appends the encoding BYTE_ARRAY_LEN of arrays whose lengths are in a block, which may be that of the arrays.
fn put_measured(lengths: i32, id: i32, out: &mut Vec<u8>) {
    let mut of = Vec::new();
    put_external(lengths, &mut of);
    put_external(id, &mut of);
    put_number(4, out);
    put_bytes(&of, out);
}

/// The two letters of a tag and its type.
pub(super) type TagKey = [u8; 3];

/// The type of arrays.
const ARRAY: u8 = b'B';

/// Returns the size in bytes of a value of this type; `None` for texts and arrays.
pub(super) fn width_of(kind: u8) -> Option<usize> {
    match kind {
        b'A' | b'c' | b'C' => Some(1),
        b's' | b'S' => Some(2),
        b'i' | b'I' | b'f' => Some(4),
        _ => None,
    }
}

/// How the records of a container are stored.
#[derive(Clone, Copy)]
pub(super) struct Preserved {
    /// Whether positions are stored as differences from those of the records before.
    pub(super) differences: bool,
    /// Whether the reference is needed to decode them.
    pub(super) reference: bool,
}

/// The data series of a slice.
pub(super) struct AllSeries {
    series: [Vec<u8>; Series::ALL.len()],
    tags: BTreeMap<TagKey, Vec<u8>>,
    /// The distinct lists of tags of the records.
    lists: Vec<Vec<TagKey>>,
}

impl AllSeries {
    pub(super) fn new() -> AllSeries {
        AllSeries { series: Default::default(), tags: BTreeMap::new(), lists: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.series.iter_mut().for_each(Vec::clear);
        self.tags.clear();
        self.lists.clear();
    }

    /// Returns the bytes of a series.
    pub(super) fn of(&mut self, series: Series) -> &mut Vec<u8> {
        &mut self.series[series as usize]
    }

    pub(super) fn put(&mut self, series: Series, value: i32) {
        put_number(value, self.of(series));
    }

    /// Appends the value of a tag. A text must include its terminating zero, and have no tab, which is its terminator
    /// in the series.
    pub(super) fn put_tag(&mut self, key: TagKey, value: &[u8]) {
        let series = self.tags.entry(key).or_default();
        if key[2] == ARRAY {
            put_number(value.len() as i32, series);
        }
        series.extend_from_slice(value);
        if key[2] != ARRAY && width_of(key[2]).is_none() {
            series.push(TAB);
        }
    }

    /// Returns the number of a list of tags, and adds the list if it is new.
    pub(super) fn list(&mut self, tags: &[TagKey]) -> i32 {
        let known = self.lists.iter().position(|list| list == tags);
        let number = known.unwrap_or_else(|| {
            self.lists.push(tags.to_vec());
            self.lists.len() - 1
        });
        number as i32
    }

    /// Returns the content of the compression header.
    pub(super) fn compression_header(&self, preserved: Preserved) -> Vec<u8> {
        let mut out = Vec::new();
        put_map(5, &self.preservation(preserved), &mut out);
        let (mut encodings, mut number) = (Vec::new(), 0);
        let is_used = |series: Series| !series.is_rare() || !self.series_of(series).is_empty();
        for (series, name) in Series::ALL {
            if name.is_empty() || !is_used(series) {
                continue;
            }
            encodings.extend_from_slice(name);
            series.put_encoding(&mut encodings);
            number += 1;
        }
        put_map(number, &encodings, &mut out);
        encodings.clear();
        for key in self.tags.keys() {
            let id = id_of(*key);
            put_number(id, &mut encodings);
            match width_of(key[2]) {
                Some(width) => put_counted(width as i32, id, &mut encodings),
                None if key[2] == ARRAY => put_measured(id, id, &mut encodings),
                None => put_stopped(TAB, id, &mut encodings),
            }
        }
        put_map(self.tags.len(), &encodings, &mut out);
        out
    }

    /// Returns the preservation map: read names are kept, and substitution codes are in the order of the letters. The
    /// map ends with the lists of tags.
    fn preservation(&self, Preserved { differences, reference }: Preserved) -> Vec<u8> {
        let mut map = b"RN\x01AP".to_vec();
        map.push(differences.into());
        map.extend_from_slice(b"RR");
        map.push(reference.into());
        map.extend_from_slice(b"SM\x1b\x1b\x1b\x1b\x1bTD");
        let mut lists = Vec::new();
        for list in &self.lists {
            list.iter().for_each(|key| lists.extend_from_slice(key));
            lists.push(0);
        }
        put_bytes(&lists, &mut map);
        map
    }

    /// Appends the blocks, and returns their content IDs. Empty ones are left out, except those that noodles-cram needs
    /// to decode a read without bases.
    pub(super) fn put_blocks(&self, packer: &mut Packer, out: &mut Vec<u8>) -> Vec<i32> {
        let is_needed = |series| matches!(series, Series::Ba | Series::Qs);
        let series = Series::ALL.iter().map(|&(series, _)| (series, self.series_of(series)));
        let series = series.filter(|&(series, content)| is_needed(series) || !content.is_empty());
        let series = series.map(|(series, content)| (series.id(), content));
        let tags = self.tags.iter().map(|(key, values)| (id_of(*key), &values[..]));
        let mut ids = Vec::new();
        for (id, content) in series.chain(tags) {
            put_block(Kind::External, id, content, packer, out);
            ids.push(id);
        }
        ids
    }

    fn series_of(&self, series: Series) -> &[u8] {
        &self.series[series as usize]
    }
}

/// Returns the ID of a tag, which is also the content ID of its block.
fn id_of(key: TagKey) -> i32 {
    i32::from_be_bytes([0, key[0], key[1], key[2]])
}

/// Appends a map with `entries` entries.
fn put_map(entries: usize, content: &[u8], out: &mut Vec<u8>) {
    let mut map = Vec::new();
    put_number(entries as i32, &mut map);
    map.extend_from_slice(content);
    put_bytes(&map, out);
}

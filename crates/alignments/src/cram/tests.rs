//! Any records of BAM come back from CRAM as they were, through the reader of this crate.

#![allow(clippy::unwrap_used, reason = "tests panic on failure")]

use std::sync::Arc;

use merganser_io::{Input, KeepAlignments, ReadInput, RecordBatch, Records, WhichAlignments};
use proptest::prelude::*;

use super::{END, Encoder, Groups, OpenContainer, Stored, head};
use crate::{RecordOptions, flag};

/// The header: contigs of these lengths, and two read groups.
const LENGTHS: [usize; 3] = [5000, 300, 70_000];
const HEADER: &str = "@HD\tVN:1.6\n@SQ\tSN:a\tLN:5000\n@SQ\tSN:b\tLN:300\n@SQ\tSN:c\tLN:70000\n\
                      @RG\tID:one\n@RG\tID:two\tSM:x\n";

/// An operation of a CIGAR, with the number of BAM.
type Operation = (u32, u32);

/// A record before it is written.
#[derive(Clone, Debug)]
struct Draft {
    name: String,
    flags: u16,
    place: (i32, i32),
    quality: u8,
    operations: Vec<Operation>,
    /// Whether the bases, and their qualities, are there.
    has: [bool; 2],
    seed: u64,
    mate: [i32; 3],
    tags: Vec<([u8; 2], Value)>,
}

/// The type of a tag, and its value in BAM.
type Value = (u8, Vec<u8>);

impl Draft {
    fn is_mapped(&self) -> bool {
        self.flags & flag::UNMAPPED == 0
    }

    /// Appends the record. It has nothing that CRAM cannot store.
    fn write(&self, out: &mut Vec<u8>) {
        let (operations, quality) = match self.is_mapped() {
            true => (&self.operations[..], self.quality),
            false => (&[][..], 0),
        };
        let in_read = |&&(operation, _): &&Operation| matches!(operation, 0 | 1 | 4);
        let all = if self.operations.is_empty() { 7 } else { 0 };
        let bases: u32 = self.operations.iter().filter(in_read).map(|one| one.1).sum::<u32>() + all;
        let bases = if self.has[0] { bases as usize } else { 0 };
        let begin = out.len();
        out.extend([0; 4]);
        out.extend(self.place.0.to_le_bytes());
        out.extend(self.place.1.to_le_bytes());
        // The bin is that of any alignment; readers compute it again.
        out.extend([self.name.len() as u8 + 1, quality, 0, 0]);
        let is_long = operations.len() > crate::MAX_OPERATIONS;
        let number = if is_long { 2 } else { operations.len() as u16 };
        out.extend(number.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
        out.extend((bases as u32).to_le_bytes());
        self.mate.iter().for_each(|number| out.extend(number.to_le_bytes()));
        out.extend(self.name.as_bytes());
        out.push(0);
        let cigar: Vec<u8> =
            operations.iter().flat_map(|(kind, len)| (len << 4 | kind).to_le_bytes()).collect();
        let on_reference = |&&(operation, _): &&Operation| matches!(operation, 0 | 2 | 3);
        match is_long {
            false => out.extend(&cigar),
            true => {
                let span: u32 = operations.iter().filter(on_reference).map(|one| one.1).sum();
                out.extend([(bases as u32) << 4 | 4, span << 4 | 3].map(u32::to_le_bytes).concat());
            }
        }
        let mut random = self.seed;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 40) as u8
        };
        out.extend((0..bases / 2).map(|_| next()));
        out.extend((bases % 2 == 1).then(|| next() & 0xf0));
        out.extend((0..bases).map(|_| if self.has[1] { next() % 94 } else { 0xff }));
        for (name, (kind, value)) in &self.tags {
            out.extend(name);
            out.push(*kind);
            out.extend(value);
        }
        if is_long {
            out.extend(b"CGBI");
            out.extend((operations.len() as u32).to_le_bytes());
            out.extend(cigar);
        }
        let size = (out.len() - begin - 4) as u32;
        out[begin..begin + 4].copy_from_slice(&size.to_le_bytes());
    }
}

/// Clips, then operations of which no neighbours have the same kind, then clips.
fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let middle =
        prop::collection::vec((prop::sample::select(&[0u32, 1, 2, 3, 6][..]), 1..30u32), 0..8);
    (prop::array::uniform4(prop::option::of(1..9u32)), middle).prop_map(|(clips, middle)| {
        let clip = |kind: u32, len: Option<u32>| len.map(|len| (kind, len));
        let mut all: Vec<Operation> =
            clip(5, clips[0]).into_iter().chain(clip(4, clips[1])).collect();
        all.push((0, 5));
        all.extend(middle);
        all.push((0, 4));
        all.extend(clip(4, clips[2]).into_iter().chain(clip(5, clips[3])));
        all.dedup_by_key(|one| one.0);
        all
    })
}

fn value() -> impl Strategy<Value = Value> {
    let bytes = |kind: u8, len: usize| {
        prop::collection::vec(any::<u8>(), len).prop_map(move |bytes| (kind, bytes))
    };
    let array = |kind: u8, width: usize| {
        let items = prop::collection::vec(prop::collection::vec(any::<u8>(), width), 0..20);
        items.prop_map(move |items| {
            let head = [&[kind][..], &(items.len() as u32).to_le_bytes()].concat();
            (b'B', [head, items.concat()].concat())
        })
    };
    // Floating-point numbers that are not NaN: such have no unique text.
    let real = any::<f32>().prop_filter("a number", |real| !real.is_nan());
    prop_oneof![
        (b'!'..=b'~').prop_map(|letter| (b'A', vec![letter])),
        prop::sample::select(
            &[(b'c', 1), (b'C', 1), (b's', 2), (b'S', 2), (b'i', 4), (b'I', 4)][..]
        )
        .prop_flat_map(move |(kind, width)| bytes(kind, width)),
        real.prop_map(|real| (b'f', real.to_le_bytes().to_vec())),
        "[ -~]{0,40}".prop_map(|text| (b'Z', [text.as_bytes(), &[0]].concat())),
        "([0-9A-F][0-9A-F]){0,9}".prop_map(|text| (b'H', [text.as_bytes(), &[0]].concat())),
        prop::sample::select(
            &[(b'c', 1), (b'C', 1), (b's', 2), (b'S', 2), (b'i', 4), (b'I', 4)][..]
        )
        .prop_flat_map(move |(kind, width)| array(kind, width)),
    ]
}

/// Tags of different names, and a read group that the header has or not, at any position.
fn tags() -> impl Strategy<Value = Vec<([u8; 2], Value)>> {
    let others = prop::collection::btree_map("[A-Za-z][A-Za-z0-9]", value(), 0..6);
    let group = prop::option::of((prop::sample::select(&["one", "two", "none"][..]), 0..7usize));
    (others, group).prop_map(|(others, group)| {
        // Readers take `cF` for a tag of the encoder.
        let others =
            others.into_iter().filter(|(name, _)| !["RG", "CG", "cF"].contains(&&name[..]));
        let of = |(name, value): (String, Value)| ([name.as_bytes()[0], name.as_bytes()[1]], value);
        let mut tags: Vec<_> = others.map(of).collect();
        if let Some((id, at)) = group {
            let value = (b'Z', [id.as_bytes(), &[0]].concat());
            tags.insert(at.min(tags.len()), (*b"RG", value));
        }
        tags
    })
}

/// Places from which no alignment ends behind the contig.
fn place() -> impl Strategy<Value = (i32, i32)> {
    let on = |contig: usize| (Just(contig as i32), 0..LENGTHS[contig] as i32 - 250);
    prop_oneof![on(0), on(0), on(1), on(2)]
}

fn draft() -> impl Strategy<Value = Draft> {
    let flags = any::<u16>().prop_map(|flags| flags & 0xfff);
    let mate = (-1..3i32, -1..5000i32, any::<i32>())
        .prop_map(|(contig, at, template)| [contig, at, template]);
    // `*` means that there is no name: the decoder returns the number of the record in its place.
    let name = "[!-?A-~]{1,254}".prop_filter("no name", |name| name != "*");
    let texts = (name, tags());
    let numbers = (flags, place(), any::<bool>(), any::<u8>(), any::<u64>());
    (texts, numbers, operations(), any::<[bool; 2]>(), mate).prop_map(
        |((name, tags), (flags, place, is_placed, quality, seed), operations, has, mate)| {
            let is_mapped = flags & flag::UNMAPPED == 0;
            let place = if is_mapped || is_placed { place } else { (-1, -1) };
            Draft { name, flags, place, quality, operations, has, seed, mate, tags }
        },
    )
}

/// Returns a file of the records, in containers of at most `most` records.
fn file(records: &[Vec<u8>], most: usize) -> Vec<u8> {
    let groups: Groups = [(b"one".to_vec(), 0), (b"two".to_vec(), 1)].into();
    let mut encoder = Encoder::new(None, Arc::new(groups));
    let (mut bytes, mut number) = (head(HEADER.as_bytes()), 0);
    for group in records.chunks(most) {
        let mut open = Vec::new();
        encoder.encode(&group.concat()).put(&mut open);
        let mut open = &open[..];
        bytes.extend(OpenContainer::take(&mut open).unwrap().close(number).bytes);
        assert!(open.is_empty());
        number += group.len() as u64;
    }
    bytes.extend(END);
    bytes
}

/// Returns the records of a file, as BAM.
fn read(file: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.cram");
    std::fs::write(&path, file).unwrap();
    let keep = KeepAlignments { which: WhichAlignments::All, ..KeepAlignments::default() };
    let options = RecordOptions { keep_alignments: keep, ..RecordOptions::whole() };
    let records = Records::open([ReadInput::Single(Input::File(path))], options).unwrap();
    let (mut batch, mut found) = (RecordBatch::default(), Vec::new());
    while records.next(&mut batch).unwrap().is_some() {
        (0..batch.len()).for_each(|at| found.extend(batch.alignments(at)));
    }
    found
}

/// Returns the records without their bins.
fn without_bins(mut records: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while !records.is_empty() {
        let (record, others) = records.split_at(crate::Fields(records).len());
        records = others;
        let mut record = record.to_vec();
        record[14..16].fill(0);
        all.push(record);
    }
    all
}

fn check(drafts: &[Draft], most: usize) {
    let records: Vec<Vec<u8>> = drafts
        .iter()
        .map(|draft| {
            let mut record = Vec::new();
            draft.write(&mut record);
            assert_eq!(Stored::new(&record).problem(LENGTHS.len() as i32), None);
            record
        })
        .collect();
    let found = without_bins(&read(&file(&records, most)));
    for (at, (found, record)) in found.iter().zip(&records).enumerate() {
        assert_eq!(found, record, "{at}: {:?}", drafts[at]);
    }
    assert_eq!(found.len(), records.len());
}

proptest! {
    #[test]
    fn any_record_comes_back(
        mut drafts in prop::collection::vec(draft(), 1..30), most in 1..30usize, is_sorted: bool,
    ) {
        if is_sorted {
            drafts.sort_by_key(|draft| (draft.place.0 as u32, draft.place.1));
        }
        check(&drafts, most);
    }
}

/// Returns a record without clips and with a tag.
fn plain(place: (i32, i32), operations: Vec<Operation>) -> Draft {
    Draft {
        name: "x".to_owned(),
        flags: 0,
        place,
        quality: 9,
        operations,
        has: [true; 2],
        seed: 3,
        mate: [-1, -1, 0],
        tags: vec![(*b"XX", (b'A', vec![b'x']))],
    }
}

#[test]
fn a_long_cigar_comes_back() {
    check(&[plain((2, 5), [(0, 1), (1, 1)].repeat(40_000))], 1);
}

#[test]
fn an_alignment_behind_its_contig_comes_back() {
    check(&[plain((1, 290), vec![(0, 50), (2, 3), (0, 9), (4, 5)])], 1);
}

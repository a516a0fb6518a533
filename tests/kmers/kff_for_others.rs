//! KFF files as other programs read them. The reader below follows the specification (KFF 1.0) and the C++ library of the
//! format, with which `vg haplotypes` reads KFF: sections in order, variables that the next section of variables replaces,
//! raw sections, an index, and a footer that is found from the end of the file.

use std::collections::BTreeMap;

use merganser_test_support::Dir;
use merganser_test_support::reads::{fastq, untidy};

/// A cursor in a file.
struct Bytes<'b>(&'b [u8], usize);

impl Bytes<'_> {
    fn take(&mut self, number: usize) -> &[u8] {
        self.1 += number;
        &self.0[self.1 - number..self.1]
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }

    fn variables(&mut self) -> BTreeMap<String, u64> {
        let number = self.number(8);
        let variable = |_| {
            let end = self.0[self.1..].iter().position(|&byte| byte == 0).unwrap();
            let name = String::from_utf8(self.take(end).to_vec()).unwrap();
            self.take(1);
            (name, self.number(8))
        };
        (0..number).map(variable).collect()
    }
}

/// Returns `KMER<TAB>COUNT` lines of a file, in its order, and whether it declares canonical k-mers.
fn read(file: &[u8]) -> (String, bool) {
    let mut at = Bytes(file, 0);
    assert_eq!(at.take(5), b"KFF\x01\x00");
    let encoding = at.take(1)[0];
    let mut letters = [b'?'; 4];
    for (base, letter) in b"ACGT".iter().enumerate() {
        letters[usize::from(encoding >> (6 - 2 * base) & 3)] = *letter;
    }
    // vg reads this encoding without a conversion.
    assert_eq!(letters, *b"ACGT");
    assert_eq!(at.number(1), 1, "each k-mer occurs once");
    let canonical = at.number(1) == 1;
    let free = at.number(4) as usize;
    at.take(free);
    let (mut variables, mut sections, mut lines) = (BTreeMap::new(), Vec::new(), String::new());
    let (mut index, mut indexed) = (0, Vec::new());
    while at.1 < file.len() - 3 {
        let start = at.1;
        let kind = at.number(1) as u8;
        sections.push((start, kind));
        match kind {
            b'v' => variables = at.variables(),
            b'r' => raw(&mut at, &variables, letters, &mut lines),
            b'i' => {
                index = start;
                let number = at.number(8);
                indexed = (0..number).map(|_| (at.number(1) as u8, at.number(8))).collect();
                assert_eq!(at.number(8), 0, "the only index");
                let place = |distance: u64| (at.1 as u64).wrapping_add(distance) as usize;
                indexed.iter_mut().for_each(|(_, distance)| *distance = place(*distance) as u64);
            }
            other => panic!("a section {other}"),
        }
    }
    assert_eq!(at.take(3), b"KFF");
    assert!(indexed.iter().all(|&(kind, place)| sections.contains(&(place as usize, kind))));
    // The footer: its size is its last variable, 11 bytes before the end.
    let size_at = file.len() - 3 - 8;
    assert_eq!(&file[size_at - 12..size_at], b"footer_size\0");
    let size = Bytes(file, size_at).number(8) as usize;
    let mut footer = Bytes(file, file.len() - 3 - size);
    assert_eq!(footer.take(1), b"v");
    assert_eq!(footer.variables()["first_index"], index as u64);
    (lines, canonical)
}

/// Reads a raw section.
fn raw(
    at: &mut Bytes<'_>,
    variables: &BTreeMap<String, u64>,
    letters: [u8; 4],
    lines: &mut String,
) {
    let value = |name: &str| variables[name] as usize;
    let (k, data_size) = (value("k"), value("data_size"));
    // A block of at most one k-mer has no number of k-mers.
    assert_eq!(value("max"), 1);
    for _ in 0..at.number(8) {
        let packed = at.take(k.div_ceil(4)).to_vec();
        let padding = 4 * packed.len() - k;
        let letter =
            |base: usize| letters[usize::from(packed[base / 4] >> (6 - 2 * (base % 4)) & 3)];
        lines.extend((padding..padding + k).map(|base| char::from(letter(base))));
        // Counts have up to 8 bytes, of which vg takes all.
        *lines += &format!("\t{}\n", at.number(data_size));
    }
}

#[test]
fn a_reader_of_the_specification_reads_our_files() {
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(200, 7), "\n"));
    dir.write("a.fa", format!(">a\n{}\n", "A".repeat(70_200)));
    // vg haplotypes uses k = 29 by default and at most 31.
    for k in [1, 2, 3, 4, 21, 29, 31, 32, 33, 64, 128] {
        for strands in ["", "--forward-only"] {
            for reads in ["r.fq", "r.fq a.fa"] {
                dir.run(&format!("count -q -k {k} {strands} --min-count 1 -o x.kff {reads}")).ok();
                let (lines, canonical) = read(&dir.read("x.kff"));
                assert!(lines == dir.run("kmers dump x.kff").ok(), "k {k} {strands} {reads}");
                assert_eq!(canonical, strands.is_empty());
            }
        }
    }
    dir.write("t.tsv", "AAAAC\t1\nACGTA\t4294967295\nCCCCC\t65536\n");
    dir.run("kmers convert -q -o x.kff t.tsv").ok();
    assert_eq!(read(&dir.read("x.kff")).0.into_bytes(), dir.read("t.tsv"));
    dir.write("n.fa", ">n\nNNNN\n");
    dir.run("count -q -k 5 -o x.kff n.fa").ok();
    assert_eq!(read(&dir.read("x.kff")), (String::new(), true));
}

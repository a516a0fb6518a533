//! RazerS3's tests (`apps/razers3/tests`): reads of an adenovirus, mapped with many options. Every place of RazerS3 must
//! have one of ours with at most as many edits, whose ends are at most the allowed edits away.

use std::collections::HashMap;
use std::path::Path;

use merganser_test_support::Dir;

use super::data::{Cases, peer};

/// A place of a read: its strand, its first and last base, and its edits.
#[derive(Clone, Copy, Debug)]
struct Place {
    reverse: bool,
    from: usize,
    to: usize,
    edits: usize,
}

impl Place {
    fn near(self, other: Place, within: usize) -> bool {
        let ends = [self.from.abs_diff(other.from), self.to.abs_diff(other.to)];
        self.reverse == other.reverse && ends.iter().any(|&bases| bases <= within)
    }
}

/// Places by read; reads of pairs are named `READ/L` and `READ/R`.
type Places = HashMap<String, Vec<Place>>;

/// Returns the places in RazerS3's own format: read, 0, length, strand, contig, first base, end, identity.
fn theirs(file: &Path) -> Places {
    let mut places = Places::new();
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| -> usize { fields[at].parse().unwrap() };
        let identity: f64 = fields[7].parse().unwrap();
        let edits = ((100.0 - identity) / 100.0 * number(2) as f64).round() as usize;
        let (from, to) = (number(5), number(6));
        let place = Place { reverse: fields[3] == "R", from, to, edits };
        places.entry(fields[0].to_owned()).or_default().push(place);
    }
    places
}

/// Returns the number of reference bases of a CIGAR.
fn span(cigar: &str) -> usize {
    let mut bases = 0;
    let mut number = 0;
    for letter in cigar.bytes() {
        match letter {
            b'0'..=b'9' => number = number * 10 + usize::from(letter - b'0'),
            b'I' | b'S' | b'H' => number = 0,
            _ => bases += std::mem::take(&mut number),
        }
    }
    bases
}

/// Returns the places of SAM records that have all of `flags`.
fn ours(sam: &str, flags: u16) -> Places {
    let mut places = Places::new();
    for line in sam.lines().filter(|line| !line.starts_with('@')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let flag: u16 = fields[1].parse().unwrap();
        if flag & 4 != 0 || flag & flags != flags {
            continue;
        }
        let from = fields[3].parse::<usize>().unwrap() - 1;
        let edits = fields.iter().find_map(|field| field.strip_prefix("NM:i:")).unwrap();
        let (to, edits) = (from + span(fields[5]), edits.parse().unwrap());
        let mate = if flag & 1 == 0 { "" } else { ["/R", "/L"][usize::from(flag & 64 != 0)] };
        let place = Place { reverse: flag & 16 != 0, from, to, edits };
        places.entry(fields[0].to_owned() + mate).or_default().push(place);
    }
    places
}

/// Returns how many places of `one` have no place of `other` nearby with at most as many edits.
fn missing(one: &Places, other: &Places, within: usize) -> usize {
    let found = |name: &String, place: &Place| {
        let of_read = other.get(name).map_or(&[][..], Vec::as_slice);
        of_read.iter().any(|own| own.near(*place, within) && own.edits <= place.edits)
    };
    one.iter()
        .flat_map(|(name, places)| places.iter().filter(move |place| !found(name, place)))
        .count()
}

/// The names of RazerS3's outputs after the reads, with its identity and our other options.
fn runs() -> Vec<(String, u32, &'static str)> {
    let mut runs = vec![
        (String::new(), 95, ""),
        ("-f".to_owned(), 95, "--strand forward"),
        ("-r".to_owned(), 95, "--strand reverse"),
        ("-ng".to_owned(), 95, "--hamming"),
    ];
    runs.extend((90..=100).map(|identity| (format!("-i{identity}"), identity, "")));
    runs
}

#[test]
fn places_of_single_reads_are_ours() {
    let Some(folder) = peer("seqan/apps/razers3/tests") else { return };
    let mut cases = Cases::of("RazerS3, single reads");
    let mut additional = 0;
    for length in [36, 100] {
        for (run, identity, options) in runs() {
            let name = format!("se-adeno-reads{length}_1{run}");
            let theirs = theirs(&folder.join(format!("{name}-tc1.razers")));
            let reads = folder.join(format!("adeno-reads{length}_1.fa"));
            let ours = ours(&map(&folder, identity, &format!("{options} {}", reads.display())), 0);
            let within = length * (100 - identity as usize) / 100;
            cases.add(&name, missing(&theirs, &ours, within) == 0);
            additional += missing(&ours, &theirs, within);
        }
    }
    eprintln!("RazerS3: {additional} more places");
    cases.end(&[]);
}

/// Maps reads to RazerS3's reference, and returns SAM.
fn map(folder: &Path, identity: u32, reads: &str) -> String {
    let reference = folder.join("adeno-genome.fa");
    let edits = 100 - identity;
    let args = format!("map -q {} -e {edits}% --echoes {reads}", reference.display());
    Dir::new().run(&args).ok()
}

/// Pairs have 220 ± 50 bases.
#[test]
fn places_of_pairs_are_ours() {
    let Some(folder) = peer("seqan/apps/razers3/tests") else { return };
    let mut cases = Cases::of("RazerS3, pairs");
    for length in [36, 100] {
        let reads = [1, 2].map(|mate| folder.join(format!("adeno-reads{length}_{mate}.fa")));
        let reads = format!("-1 {} -2 {}", reads[0].display(), reads[1].display());
        for (run, identity, _) in runs().into_iter().filter(|(_, _, options)| options.is_empty()) {
            let name = format!("pe-adeno-reads{length}_2{run}");
            let theirs = theirs(&folder.join(format!("{name}-tc1.razers")));
            let inserts = format!("--min-insert 170 --max-insert 270 {reads}");
            let ours = ours(&map(&folder, identity, &inserts), 2);
            let within = length * (100 - identity as usize) / 100;
            cases.add(&name, missing(&theirs, &ours, within) == 0);
        }
    }
    cases.end(&[]);
}

//! Simulated genomes with a taxonomy, and reads of them.

use std::fmt::Write;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

/// taxid, parent, rank, name
pub(super) const TAXA: [(u32, u32, &str, &str); 13] = [
    (1, 1, "no rank", "root"),
    (2, 1, "superkingdom", "Bacteria"),
    (3, 2, "phylum", "Pseudomonadota"),
    (4, 3, "class", "Gammaproteobacteria"),
    (5, 4, "order", "Enterobacterales"),
    (6, 5, "family", "Enterobacteriaceae"),
    (10, 6, "genus", "Escherichia"),
    (11, 10, "species", "Escherichia coli"),
    (12, 10, "species", "Escherichia fergusonii"),
    (13, 11, "strain", "Escherichia coli K-12"),
    (20, 6, "genus", "Salmonella"),
    (21, 20, "species", "Salmonella enterica"),
    (30, 20, "species", "Salmonella bongori"),
];

pub(super) fn nodes() -> String {
    let line = |(taxid, parent, rank, _): &(u32, u32, &str, &str)| {
        format!("{taxid}\t|\t{parent}\t|\t{rank}\t|\t\t|\t0\t|\n")
    };
    TAXA.iter().map(line).collect()
}

pub(super) fn names() -> String {
    let line = |(taxid, _, _, name): &(u32, u32, &str, &str)| {
        format!("{taxid}\t|\t{name}\t|\t\t|\tscientific name\t|\n")
    };
    TAXA.iter().map(line).collect()
}

/// Genomes for simulated reads. The second one has the first half of the first one, so that reads from there belong
/// to the genus; the last one is in no database.
pub(super) struct World {
    pub(super) dir: Dir,
    pub(super) genomes: Vec<Vec<u8>>,
}

pub(super) const GENOMES: [(&str, u32); 3] = [("a", 13), ("b", 12), ("c", 21)];
pub(super) const BASES: usize = 30_000;

impl World {
    /// Returns a world with a taxonomy in `tax` and genomes a, b and c in `genomes`, without a database.
    pub(super) fn new() -> World {
        let dir = Dir::new();
        std::fs::create_dir(dir.path("tax")).unwrap();
        std::fs::create_dir(dir.path("genomes")).unwrap();
        dir.write("tax/nodes.dmp", nodes());
        dir.write("tax/names.dmp", names());
        let mut random = Random(11);
        let mut genomes: Vec<Vec<u8>> = (0..4).map(|_| random.bases(BASES)).collect();
        let shared = genomes[0][..BASES / 2].to_vec();
        genomes[1][..BASES / 2].copy_from_slice(&shared);
        for ((name, taxid), letters) in GENOMES.iter().zip(&genomes) {
            let letters = String::from_utf8_lossy(letters);
            let text = format!(">{name}.1|kraken:taxid|{taxid} of a test\n{letters}\n");
            dir.write(&format!("genomes/{name}.fa"), text);
        }
        World { dir, genomes }
    }

    /// Returns a world with a database, `refs.mgdb`, and 700 pairs in `1.fq` and `2.fq`.
    pub(super) fn built() -> World {
        let world = World::new();
        world.dir.run("build -q --taxonomy tax -o refs.mgdb genomes").ok();
        let [one, two] = world.pairs(700, 1);
        world.dir.write("1.fq", one);
        world.dir.write("2.fq", two);
        world
    }

    /// Returns pairs of 100 bases from fragments of 250 to 350 bases, in rotation three, one and two of the genomes
    /// in the database and one of the genome outside it; some reads are too short for a k-mer, some have N.
    pub(super) fn pairs(&self, number: usize, seed: u64) -> [String; 2] {
        let mut random = Random(seed);
        let mut text = [String::new(), String::new()];
        for read in 0..number {
            let genome = [0, 0, 0, 1, 2, 2, 3][read % 7];
            let begin = random.below(BASES - 400);
            for (mate, text) in text.iter_mut().enumerate() {
                let length = if read % 50 == 49 { 10 } else { 100 };
                let start = begin + mate * (150 + random.below(100));
                let letters = String::from_utf8_lossy(&self.genomes[genome][start..start + length]);
                let mut letters = letters.into_owned();
                if read % 30 == 29 {
                    letters = letters.replacen("AC", "NN", 3);
                }
                let qualities: String =
                    (0..length).map(|_| (b'5' + random.below(20) as u8) as char).collect();
                writeln!(text, "@r{read}/{} from g{genome}\n{letters}\n+\n{qualities}", mate + 1)
                    .unwrap();
            }
        }
        text
    }
}

/// A parsed line of a read in Kraken's format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) taxid: u32,
    pub(super) length: String,
    pub(super) candidates: Vec<(u32, u32)>,
}

pub(super) fn lines(text: &str) -> Vec<Line> {
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(line).collect()
}

fn line(text: &str) -> Line {
    let cells: Vec<&str> = text.split('\t').collect();
    let [state, id, taxid, length, found] = cells[..] else { panic!("{text}") };
    let taxid: u32 = taxid.parse().unwrap();
    assert_eq!(state, if taxid == 0 { "U" } else { "C" }, "{text}");
    for mate in length.split('|') {
        mate.parse::<u32>().unwrap();
    }
    let pair = |text: &str| {
        let (taxid, hits) = text.split_once(':').unwrap();
        (taxid.parse().unwrap(), hits.parse().unwrap())
    };
    let mut candidates: Vec<(u32, u32)> = found.split(' ').map(pair).collect();
    if candidates == [(0, 0)] {
        candidates.clear();
    }
    assert!(candidates.windows(2).all(|two| two[0].1 >= two[1].1), "{text}");
    Line { id: id.to_owned(), taxid, length: length.to_owned(), candidates }
}

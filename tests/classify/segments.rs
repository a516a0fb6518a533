//! Long reads: taxa of their segments and chimeric reads (`classify --segments-out`), and the fraction of their windows
//! that hit the clade of their taxon (`--min-fraction`).

use std::collections::HashMap;
use std::fmt::Write as _;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

use super::several::write_taxonomy;

/// The segments of a read: its mate, start and end, taxid, hits, the read's taxid, and whether it looks chimeric.
type Rows = Vec<(u32, usize, usize, u64, usize, u64, bool)>;

/// Writes genomes of species 21 and 22 (genus 11) and 24 (genus 12), builds both databases of them, and returns the
/// genomes, with an unrelated one.
fn prepared(dir: &Dir) -> Vec<Vec<u8>> {
    write_taxonomy(dir);
    let mut random = Random(8);
    let genomes: Vec<Vec<u8>> = (0..4).map(|_| random.bases(30_000)).collect();
    for (genome, taxid) in genomes.iter().zip([21, 22, 24]) {
        let text = String::from_utf8(genome.clone()).unwrap();
        dir.write(&format!("g{taxid}.fa"), format!(">g{taxid}|kraken:taxid|{taxid}\n{text}\n"));
    }
    dir.run("build -q --taxonomy tax -o refs.mgdb g21.fa g22.fa g24.fa").ok();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g21.fa g22.fa g24.fa").ok();
    genomes
}

/// Returns reads by name: each is made of pieces (the number of a genome, and bases), with a substitution or N in a
/// fiftieth of the letters.
fn reads(genomes: &[Vec<u8>]) -> Vec<(&'static str, Vec<u8>)> {
    let mut random = Random(21);
    let pieces: [(&str, &[(usize, usize)]); 10] = [
        ("whole", &[(0, 6_000)]),
        ("chimera", &[(0, 3_000), (2, 3_000)]),
        ("late", &[(1, 9_500), (2, 2_600)]),
        ("relatives", &[(0, 3_000), (1, 3_000)]),
        ("half", &[(0, 3_000), (3, 3_000)]),
        ("island", &[(0, 3_000), (2, 1_000), (0, 3_000)]),
        ("apart", &[(0, 2_500), (3, 2_000), (2, 2_500)]),
        ("unknown", &[(3, 5_000)]),
        ("short", &[(1, 400)]),
        ("tiny", &[(1, 12)]),
    ];
    let mut read = |pieces: &[(usize, usize)]| {
        let mut letters = Vec::new();
        for &(genome, length) in pieces {
            let start = random.below(genomes[genome].len() - length);
            letters.extend(&genomes[genome][start..start + length]);
        }
        for letter in &mut letters {
            if random.below(50) == 0 {
                *letter = b"ACGTN"[random.below(5)];
            }
        }
        letters
    };
    pieces.into_iter().map(|(name, pieces)| (name, read(pieces))).collect()
}

const CHIMERAS: [&str; 3] = ["chimera", "late", "apart"];

fn rows(table: &str) -> HashMap<String, Rows> {
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("read\tmate\tstart\tend\ttaxid\tname\thits\tread_taxid\tchimeric")
    );
    let mut rows: HashMap<String, Rows> = HashMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| cells[at].parse::<usize>().unwrap();
        let taxid = number(4) as u64;
        let name = if taxid == 0 { "unclassified".to_owned() } else { format!("Taxon {taxid}") };
        assert_eq!(cells[5], name, "{line}");
        let chimeric = ["no", "yes"].iter().position(|&word| word == cells[8]).unwrap() == 1;
        let (mate, read) = (number(1) as u32, number(7) as u64);
        let row = (mate, number(2), number(3), taxid, number(6), read, chimeric);
        rows.entry(cells[0].to_owned()).or_default().push(row);
    }
    rows
}

fn fasta(reads: &[(&str, Vec<u8>)]) -> String {
    let mut text = String::new();
    for (name, letters) in reads {
        writeln!(text, ">{name}\n{}", String::from_utf8_lossy(letters)).unwrap();
    }
    text
}

#[test]
fn chimeric_reads_are_told() {
    let dir = Dir::new();
    let reads = reads(&prepared(&dir));
    dir.write("r.fa", fasta(&reads));
    for database in ["refs.mgdb", "k2"] {
        let run = format!("classify -q {database} r.fa --segments-out");
        let lines = dir.run(&format!("{run} one -t 1")).ok();
        assert_eq!(dir.run(&format!("{run} three.gz -t 3")).ok(), lines);
        let table = String::from_utf8(dir.read("one")).unwrap();
        let found = rows(&table);
        for (line, (name, letters)) in lines.lines().zip(&reads) {
            let own = &found[*name];
            assert_eq!(own.len(), (letters.len() / 1000).max(1), "{name}");
            assert!(own[0].1 == 0 && own[own.len() - 1].2 == letters.len(), "{name}");
            assert!(own.windows(2).all(|two| two[0].2 == two[1].1), "{name}");
            let taxid: u64 = line.split('\t').nth(2).unwrap().parse().unwrap();
            let chimeric = CHIMERAS.contains(name);
            assert!(own.iter().all(|row| (row.5, row.6) == (taxid, chimeric)), "{table}");
        }
        let taxa = |name: &str| found[name].iter().map(|row| row.3).collect::<Vec<_>>();
        assert_eq!(taxa("chimera"), [21, 21, 21, 24, 24, 24], "{database}");
        assert_eq!(taxa("relatives"), [21, 21, 21, 22, 22, 22], "{database}");
        assert_eq!(taxa("half"), [21, 21, 21, 0, 0, 0], "{database}");
        assert_eq!(taxa("unknown"), [0; 5], "{database}");
        let unpacked = merganser_test_support::tools::shell(dir.root(), "gzip -dc three.gz");
        assert_eq!(unpacked, dir.read("one"), "{database}");
        // The tables of shards, one after the other, are that of all reads.
        for shard in [1, 2] {
            let outputs = format!("s{shard} --shard {shard}/2 --partial p{shard} -o l{shard}");
            dir.run(&format!("{run} {outputs}")).ok();
        }
        assert_eq!([dir.read("s1"), dir.read("s2")].concat(), dir.read("one"), "{database}");
    }
    let refused = dir.run("classify k2 r.fa --segments-out x --quick -o y").fails(2);
    assert!(refused.contains("--quick cannot be used with --segments-out"), "{refused}");
}

/// A segment has the taxon and the hits of a read of its letters.
#[test]
fn segments_are_classified_like_reads() {
    let dir = Dir::new();
    let reads = reads(&prepared(&dir));
    dir.write("r.fa", fasta(&reads));
    for options in ["", "--confidence 0.2", "--hitmin 40 --max-cand 3"] {
        let run = format!("classify -q refs.mgdb {options}");
        dir.run(&format!("{run} r.fa --no-map --segments-out s.tsv --segment-length 700")).ok();
        let found = rows(&String::from_utf8(dir.read("s.tsv")).unwrap());
        let mut cut = Vec::new();
        for (name, letters) in &reads {
            cut.extend(found[*name].iter().map(|row| ("s", letters[row.1..row.2].to_vec())));
        }
        dir.write("cut.fa", fasta(&cut));
        let lines = dir.run(&format!("{run} cut.fa")).ok();
        let mut lines = lines.lines();
        for row in reads.iter().flat_map(|(name, _)| &found[*name]) {
            let cells: Vec<&str> = lines.next().unwrap().split('\t').collect();
            assert_eq!(cells[2], row.3.to_string(), "{options}");
            let best = cells[4].split(' ').next().unwrap().split(':').nth(1).unwrap();
            assert_eq!(best, row.4.to_string(), "{options}");
        }
        assert_eq!(lines.next(), None);
    }
}

/// The hits of segments are those of the k-mers in the read's line.
#[test]
fn segments_have_the_kmers_of_the_line() {
    let dir = Dir::new();
    let reads = reads(&prepared(&dir));
    dir.write("r.fa", fasta(&reads));
    let above = |taxid: u64| match taxid {
        21 | 22 => 11,
        24 => 12,
        11 | 12 => 10,
        10 => 2,
        2 => 1,
        _ => 0,
    };
    let is_in = |taxid: u64, clade: u64| {
        std::iter::successors(Some(taxid), |&taxid| Some(above(taxid)).filter(|&up| up > 0))
            .any(|taxid| taxid == clade)
    };
    for confidence in ["0", "0.3"] {
        let lines = dir
            .run(&format!("classify -q k2 r.fa --segments-out s.tsv --confidence {confidence}"))
            .ok();
        let found = rows(&String::from_utf8(dir.read("s.tsv")).unwrap());
        for (line, (name, letters)) in lines.lines().zip(&reads) {
            let mut kmers: Vec<u64> = Vec::new();
            for run in line.split('\t').nth(4).unwrap().split_whitespace() {
                let (taxid, number) = run.split_once(':').unwrap();
                let taxid = taxid.parse().unwrap_or(0);
                kmers.extend(std::iter::repeat_n(taxid, number.parse().unwrap()));
            }
            assert_eq!(kmers.len(), letters.len().saturating_sub(34), "{name}");
            let own = &found[*name];
            for (at, row) in own.iter().enumerate() {
                let end = if at + 1 == own.len() { kmers.len() } else { row.2.min(kmers.len()) };
                let kmers = &kmers[row.1.min(end)..end];
                let hits = |clade: u64| kmers.iter().filter(|&&one| is_in(one, clade)).count();
                let least = (confidence.parse::<f64>().unwrap() * kmers.len() as f64).ceil();
                let least = (least as usize).max(10);
                if row.3 == 0 {
                    assert!(row.4 == 0 && hits(1) < least, "{name} {row:?}");
                } else {
                    assert!(row.4 == hits(row.3) && row.4 >= least, "{name} {row:?}");
                }
            }
        }
    }
}

/// Each window of a read, as a read by itself, shows all sequences that it hits.
#[test]
fn reads_have_the_fraction_of_windows_that_hit_their_clade() {
    const WINDOWS: usize = 20;
    let dir = Dir::new();
    let genomes = prepared(&dir);
    let mut random = Random(4);
    let mut all = Vec::new();
    for number in 0..30 {
        // Stride 256 and windows of 274 bases: whole windows only.
        let length = 256 * WINDOWS + 18;
        let known = 300 + random.below(length - 300);
        let start = random.below(20_000);
        let mut letters = genomes[number % 3][start..start + known].to_vec();
        letters.extend(&genomes[3][start..start + length - known]);
        for letter in &mut letters {
            if random.below(12) == 0 {
                *letter = b"ACGT"[random.below(4)];
            }
        }
        all.push(("r", letters));
    }
    dir.write("r.fa", fasta(&all));
    let window = |letters: &[u8], at: usize| letters[256 * at..256 * at + 274].to_vec();
    let windows = all.iter().flat_map(|(_, own)| (0..WINDOWS).map(|at| ("w", window(own, at))));
    dir.write("w.fa", fasta(&windows.collect::<Vec<_>>()));
    let shown = "--format metacache --allhits --separator TAB".replace("TAB", "\\t");
    let table = dir.run(&format!("classify -q refs.mgdb w.fa {shown}")).ok();
    let hits: Vec<&str> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').nth(1).unwrap())
        .collect();
    assert_eq!(hits.len(), WINDOWS * all.len());
    let taxids = |options: &str| -> Vec<u64> {
        let lines = dir.run(&format!("classify -q refs.mgdb r.fa {options}")).ok();
        let taxid = |line: &str| line.split('\t').nth(2).unwrap().parse().unwrap();
        lines.lines().map(taxid).collect()
    };
    let plain = taxids("");
    assert!(plain.iter().all(|&taxid| taxid > 20), "{plain:?}");
    let of_clade = |read: usize| {
        let name = format!("g{}|", plain[read]);
        let own = &hits[WINDOWS * read..WINDOWS * (read + 1)];
        own.iter().filter(|hits| hits.split(',').any(|hit| hit.starts_with(&name))).count()
    };
    let mut removed = 0;
    for (percent, threads) in [(0, 1), (5, 3), (20, 1), (50, 3), (70, 2), (100, 1)] {
        let fraction = f64::from(percent) / 100.0;
        let found = taxids(&format!("--min-fraction {fraction} -t {threads}"));
        let least = (fraction * WINDOWS as f64).ceil() as usize;
        for (read, &taxid) in found.iter().enumerate() {
            let expected = if of_clade(read) >= least { plain[read] } else { 0 };
            assert_eq!(taxid, expected, "read {read}: {} windows, {percent} %", of_clade(read));
            removed += usize::from(expected == 0);
        }
    }
    assert!((20..150).contains(&removed), "{removed}");
    let refused = dir.run("classify k2 r.fa --min-fraction 0.2").fails(2);
    assert!(refused.contains("--min-fraction requires a database of merganser"), "{refused}");
    dir.run("classify refs.mgdb r.fa --min-fraction 1.2").fails(2);
}

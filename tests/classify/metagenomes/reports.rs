//! Reports, parsed as Bracken, Pavian, Krona and OPAL do, and compared with counts of the lines.

use std::collections::BTreeMap;

use super::world::{World, lines};
use merganser_test_support::Dir;
use merganser_test_support::tools::{installed, shell};

/// A row of a Kraken-style report.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) percent: f64,
    pub(super) clade: u64,
    pub(super) own: u64,
    pub(super) minimizers: Option<(u64, u64)>,
    pub(super) code: String,
    pub(super) taxid: u32,
    pub(super) depth: usize,
    pub(super) name: String,
}

/// Parses a report as strictly as its readers: Bracken uses the indentation of names and the rank codes, Pavian
/// builds the tree from both, and all require numbers.
pub(super) fn kreport(text: &str) -> Vec<Row> {
    let rows = parse(text);
    check_tree(&rows, true);
    rows
}

/// Parses a report of Kraken 2, which may lack rank codes (kraken2#991; Debian's 2.1.2 has none for high ranks) and
/// has children with equally many reads in any order.
pub(super) fn kraken2_report(text: &str) -> Vec<Row> {
    let rows = parse(text);
    check_tree(&rows, false);
    rows
}

fn parse(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        assert!(cells.len() == 6 || cells.len() == 8, "{line}");
        let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{line}"));
        let rest = &cells[cells.len() - 3..];
        let name = rest[2].trim_start();
        let blanks = rest[2].len() - name.len();
        assert!(blanks.is_multiple_of(2) && cells[0].len() == 6, "{line}");
        let minimizers = (cells.len() == 8).then(|| (number(cells[3]), number(cells[4])));
        rows.push(Row {
            percent: cells[0].trim().parse().unwrap(),
            clade: number(cells[1]),
            own: number(cells[2]),
            minimizers,
            code: rest[0].to_owned(),
            taxid: rest[1].parse().unwrap(),
            depth: blanks / 2,
            name: name.to_owned(),
        });
    }
    rows
}

fn check_tree(rows: &[Row], ours: bool) {
    let tree: Vec<&Row> = rows.iter().filter(|row| row.code != "U").collect();
    assert!(rows.iter().skip(1).all(|row| row.code != "U"));
    assert!(tree.iter().enumerate().all(|(at, row)| (row.depth == 0) == (at == 0)));
    let total: u64 = rows.iter().filter(|row| row.depth == 0).map(|row| row.clade).sum();
    for (at, row) in tree.iter().enumerate() {
        let below: Vec<&&Row> =
            tree[at + 1..].iter().take_while(|other| other.depth > row.depth).collect();
        assert!(below.first().is_none_or(|first| first.depth == row.depth + 1), "{row:?}");
        let children: Vec<_> = below.iter().filter(|other| other.depth == row.depth + 1).collect();
        assert_eq!(row.clade, row.own + children.iter().map(|c| c.clade).sum::<u64>(), "{row:?}");
        let order = |two: &[&&&Row]| {
            (two[1].clade, two[0].taxid) < (two[0].clade, two[1].taxid)
                || (two[0].clade == two[1].clade && two[0].taxid < two[1].taxid)
        };
        assert!(!ours || children.windows(2).all(order), "{row:?}");
        let percent = 100.0 * row.clade as f64 / total.max(1) as f64;
        assert!((row.percent - percent).abs() < 0.0051, "{row:?}");
        if !ours && row.code.is_empty() {
            continue;
        }
        let (letter, digits) = row.code.split_at(1);
        assert!("RDKPCOFGS".contains(letter), "{row:?}");
        assert!(digits.is_empty() || digits.parse::<u32>().unwrap() > 0, "{row:?}");
    }
}

/// Asserts that the report has as many reads as the lines, which end at species: reads of a strain count for its
/// species.
fn check_counts(rows: &[Row], text: &str) {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    lines(text).iter().for_each(|line| *counts.entry(line.taxid).or_default() += 1);
    let mut own: BTreeMap<u32, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.own > 0) {
        let taxid = if row.taxid == 13 { 11 } else { row.taxid };
        *own.entry(taxid).or_default() += row.own;
    }
    assert_eq!(own, counts);
}

const ALL: &str = "--report r.kreport --mpa r.mpa --krona r.krona --abundance r.tsv --cami r.cami \
                   --hits-per-ref r.refs --report-minimizer-data";

#[test]
fn the_kraken_report_is_a_tree_of_the_reads() {
    let world = World::built();
    let dir = &world.dir;
    for options in ["", "--report-zero-counts", "--report-minimizer-data"] {
        let run = format!("classify refs.mgdb -1 1.fq -2 2.fq --report r.kreport {options} -q");
        let text = dir.run(&run).ok();
        let report = String::from_utf8(dir.read("r.kreport")).unwrap();
        let rows = kreport(&report);
        check_counts(&rows, &text);
        let codes: Vec<&str> = rows.iter().map(|row| &row.code[..]).collect();
        assert_eq!(codes[..9], ["U", "R", "D", "P", "C", "O", "F", "G", "S"], "{report}");
        // The genus has reads of its own, because its species share half a genome.
        assert!(rows.iter().any(|row| row.taxid == 10 && row.own > 20), "{report}");
        // Salmonella bongori has no genome, and therefore no row.
        assert!(rows.iter().all(|row| row.taxid != 30));
        if options.contains("minimizer") {
            let all = rows[1].minimizers.unwrap();
            assert!(all.0 > all.1 && all.1 > 1000, "{report}");
            let species = rows.iter().find(|row| row.taxid == 12).unwrap().minimizers.unwrap();
            assert!(species.0 >= species.1 && species.1 > 100, "{report}");
            assert_eq!(rows[0].minimizers, Some((0, 0)));
        }
    }
    dir.write("own.fa", format!(">x\n{}\n", "ACGTTGCA".repeat(20)));
    dir.run("classify refs.mgdb own.fa --no-map --report z --report-zero-counts --mpa m -q").ok();
    let rows = kreport(&String::from_utf8(dir.read("z")).unwrap());
    assert_eq!(rows.len(), 13, "all taxa of the database and the unclassified reads");
    assert_eq!((rows[0].percent, rows[1].clade), (100.0, 0));
    let mpa = String::from_utf8(dir.read("m")).unwrap();
    assert_eq!(mpa.lines().count(), 10 - usize::from(mpa.contains("K-12")), "{mpa}");
    assert!(mpa.lines().all(|line| line.ends_with("\t0")), "{mpa}");
}

#[test]
fn mpa_and_krona_have_the_clades_of_the_report() {
    let world = World::built();
    let dir = &world.dir;
    dir.run(&format!("classify refs.mgdb -1 1.fq -2 2.fq --no-map {ALL} -q")).ok();
    let read = |name: &str| String::from_utf8(dir.read(name)).unwrap();
    let rows = kreport(&read("r.kreport"));
    let mpa = read("r.mpa");
    let mut seen = 0;
    for line in mpa.lines() {
        let (path, count) = line.split_once('\t').unwrap();
        let last = path.rsplit('|').next().unwrap();
        let (letter, name) = last.split_once("__").unwrap();
        let row = rows.iter().find(|row| row.name == name).unwrap();
        assert_eq!(
            (row.clade, row.code.to_ascii_lowercase()),
            (count.parse().unwrap(), letter.into())
        );
        let letters: Vec<&str> = path.split('|').map(|part| &part[..3]).collect();
        let order = ["d__", "k__", "p__", "c__", "o__", "f__", "g__", "s__"];
        let places: Vec<_> = letters.iter().map(|l| order.iter().position(|o| o == l)).collect();
        assert!(places.windows(2).all(|two| two[0] < two[1]) && places[0] == Some(0), "{path}");
        seen += 1;
    }
    assert_eq!(
        seen,
        rows.iter().filter(|row| row.code.len() == 1 && !"UR".contains(&row.code)).count()
    );
    let mut sum = 0;
    for line in read("r.krona").lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        sum += cells.next().unwrap().parse::<u64>().unwrap();
        let names: Vec<&str> = cells.collect();
        assert!(names.iter().all(|name| !name.is_empty()), "{line}");
        if names[0] != "Unclassified" {
            let row = rows.iter().find(|row| row.name == names[names.len() - 1]).unwrap();
            assert_eq!((row.depth, names[0]), (names.len(), "Bacteria"), "{line}");
        }
    }
    assert_eq!(sum, 700);
    if installed(&["ktImportText"]) {
        shell(dir.root(), "ktImportText -o krona.html r.krona");
        let page = read("krona.html");
        let clade = rows.iter().find(|row| row.taxid == 21).unwrap().clade;
        let node = page.split("<node name=\"Salmonella enterica\"").nth(1).unwrap();
        assert!(node.contains(&format!("<val>{clade}</val>")), "{node}");
    }
}

/// Parses a table of abundances: for each rank, rows of (taxid, reads, estimated, per cent).
pub(super) fn abundance(text: &str) -> BTreeMap<String, Vec<(u32, u64, u64, f64)>> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("rank\ttaxid\tname\treads\testimated\tpercent"));
    let mut ranks: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let [rank, taxid, _, reads, estimated, percent] = cells[..] else { panic!("{line}") };
        let row = (
            taxid.parse().unwrap(),
            reads.parse().unwrap(),
            estimated.parse().unwrap(),
            percent.parse().unwrap(),
        );
        ranks.entry(rank.to_owned()).or_default().push(row);
    }
    ranks
}

/// Each rank has all classified reads, and the composition of the sample: three of seven reads from the first
/// genome, one from the second, two from the third, one unclassified.
#[test]
fn abundances_are_those_of_the_mixture() {
    let world = World::built();
    let dir = &world.dir;
    let [one, two] = world.pairs(7000, 3);
    dir.write("1.fq", one);
    dir.write("2.fq", two);
    for (preset, ranks) in [("sensitive", 7), ("metacache", 8)] {
        dir.run(&format!("build -q --taxonomy tax --preset {preset} -o refs.mgdb genomes")).ok();
        dir.run(&format!("classify refs.mgdb -1 1.fq -2 2.fq --no-map {ALL} -q")).ok();
        let text = String::from_utf8(dir.read("r.tsv")).unwrap();
        let found = abundance(&text);
        assert_eq!(found.len(), ranks + 1, "{text}");
        let lost = found["unclassified"][0].2;
        for (rank, rows) in found.iter().filter(|(rank, _)| *rank != "unclassified") {
            assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), 7000 - lost, "{rank} {text}");
            let percent: f64 = rows.iter().map(|row| row.3).sum();
            assert!(percent <= 100.01, "{rank}");
        }
        let truth = [(11, 3.0 / 6.0), (12, 1.0 / 6.0), (21, 2.0 / 6.0)];
        let species = &found["species"];
        assert_eq!(species.len(), 3, "no false species: {text}");
        let deviation: f64 = truth
            .iter()
            .map(|(taxid, share)| {
                let row = species.iter().find(|row| row.0 == *taxid).unwrap();
                (row.2 as f64 / (7000 - lost) as f64 - share).abs()
            })
            .sum();
        assert!(deviation < 0.02, "{deviation} {text}");
        // Without distributing reads to lower ranks, half of the second species would be missing.
        let fergusonii = species.iter().find(|row| row.0 == 12).unwrap();
        assert!(fergusonii.1 < 700 && fergusonii.2 > 900, "{text}");
    }
    // Taxa below the limit are omitted.
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --abundance few --min-reads 1200 -q").ok();
    let found = abundance(&String::from_utf8(dir.read("few")).unwrap());
    assert_eq!(found["species"].iter().map(|row| row.0).collect::<Vec<_>>(), [11, 21]);
}

#[test]
fn the_cami_profile_follows_its_format() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("build -q --taxonomy tax --preset metacache -o m.mgdb genomes").ok();
    dir.run(&format!("classify m.mgdb -1 1.fq -2 2.fq --no-map {ALL} --sample-id s7 -q")).ok();
    let text = String::from_utf8(dir.read("r.cami")).unwrap();
    check_cami(&text, "s7");
    let strain = text.lines().last().unwrap();
    assert!(strain.starts_with("13\tstrain\t2|3|4|5|6|10|11|13\tBacteria|Pseudo"), "{text}");
}

/// Checks strictly: header, columns, lengths of paths by rank, paths that end in their taxon, and sums of at most
/// 100.
pub(super) fn check_cami(text: &str, sample: &str) {
    let ranks =
        ["superkingdom", "phylum", "class", "order", "family", "genus", "species", "strain"];
    let head = format!(
        "@SampleID:{sample}\n@Version:0.10.0\n@Ranks:{}\n\n\
         @@TAXID\tRANK\tTAXPATH\tTAXPATHSN\tPERCENTAGE\n",
        ranks.join("|")
    );
    let rows = text.strip_prefix(&head).unwrap_or_else(|| panic!("{text}"));
    let mut sums = [0.0; 8];
    for line in rows.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [taxid, rank, path, names, percent] = cells[..] else { panic!("{line}") };
        let place = ranks.iter().position(|known| *known == rank).unwrap();
        let path: Vec<&str> = path.split('|').collect();
        assert_eq!((path.len(), path[place]), (place + 1, taxid), "{line}");
        assert_eq!(names.split('|').count(), place + 1, "{line}");
        sums[place] += percent.parse::<f64>().unwrap();
    }
    assert!(sums.iter().all(|sum| *sum <= 100.0 + 1e-9), "{text}");
}

#[test]
fn hits_by_reference_and_the_coverage_filter() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --hits-per-ref refs.tsv -q").ok();
    let text = String::from_utf8(dir.read("refs.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 4, "{text}");
    for row in &rows[1..] {
        let number = |at: usize| row[at].parse::<u64>().unwrap();
        let (windows, covered, reads, hits) = (number(4), number(5), number(6), number(7));
        assert!(covered <= windows && covered * 10 > windows * 5, "{text}");
        assert!(hits >= 2 * reads && reads > 90, "{text}");
    }
    // Six reads from one position of the third genome: a much lower coverage than that of the others.
    let text = String::from_utf8(dir.read("1.fq")).unwrap();
    let all: Vec<&str> = text.lines().collect();
    let others = all.chunks(4).filter(|record| !record[0].ends_with("g2"));
    let mut some = others.flatten().fold(String::new(), |text, line| text + line + "\n");
    let place = String::from_utf8_lossy(&world.genomes[2][900..1000]).into_owned();
    for number in 0..6 {
        some += &format!("@low{number}\n{place}\n+\n{}\n", "I".repeat(100));
    }
    dir.write("some.fq", some);
    let all = dir.run("classify refs.mgdb some.fq -q").ok();
    for threads in [1, 3] {
        let run = format!("classify refs.mgdb some.fq --cov-percentile 10 --threads {threads}");
        let kept = dir.run(&run);
        assert!(kept.stderr.contains("1 sequences were left out because of their coverage"));
        let kept = kept.ok();
        let (all, kept) = (lines(&all), lines(&kept));
        assert_eq!(all.len(), kept.len());
        for (before, after) in all.iter().zip(&kept) {
            assert_eq!(before.id, after.id);
            let expected = if before.taxid == 21 { 0 } else { before.taxid };
            assert_eq!(after.taxid, expected, "{}", before.id);
        }
    }
    assert_eq!(lines(&all).iter().filter(|line| line.taxid == 21).count(), 6);
    let none = dir.run("classify refs.mgdb some.fq --cov-percentile 0 -q").ok();
    assert_eq!(none, all);
}

/// No output depends on the number of threads.
#[test]
fn every_output_is_the_same_for_any_threads() {
    let world = World::built();
    let dir = &world.dir;
    let [one, two] = world.pairs(20_000, 5);
    dir.write("1.fq", one);
    dir.write("2.fq", two);
    let outputs = |threads: usize, options: &str| {
        let lines = dir
            .run(&format!(
                "classify refs.mgdb -1 1.fq -2 2.fq {ALL} {options} --threads {threads} -q \
                 --classified-out c#.fq.gz --unclassified-out u#.fq"
            ))
            .ok();
        let files = ["r.kreport", "r.mpa", "r.krona", "r.tsv", "r.cami", "r.refs", "c_1.fq.gz"];
        let more = ["c_2.fq.gz", "u_1.fq", "u_2.fq"];
        let files = files.iter().chain(&more).map(|name| dir.read(name));
        files.chain([lines.into_bytes()]).collect::<Vec<_>>()
    };
    for options in ["", "--cov-percentile 5", "--format metacache --queryids --allhits"] {
        let expected = outputs(1, options);
        assert!(expected.iter().all(|bytes| !bytes.is_empty()));
        for threads in [2, 5, 16] {
            assert!(outputs(threads, options) == expected, "{options}, {threads} threads");
        }
    }
}

/// An empty sample has valid outputs.
#[test]
fn an_empty_sample_has_valid_outputs() {
    let world = World::built();
    let dir = &world.dir;
    dir.write("empty.fq", "");
    dir.write("empty_2.fq", "");
    for reads in ["empty.fq", "-1 empty.fq -2 empty_2.fq", "--interleaved empty.fq"] {
        let ran = dir.run(&format!("classify refs.mgdb {reads} -o o.tsv {ALL}"));
        assert_eq!(ran.warnings(), ["warning: there are no reads in the input"]);
        ran.ok();
        let read = |name: &str| String::from_utf8(dir.read(name)).unwrap();
        assert_eq!(read("o.tsv"), "");
        assert_eq!(
            read("r.kreport"),
            "  0.00\t0\t0\t0\t0\tU\t0\tunclassified\n  0.00\t0\t0\t0\t0\tR\t1\troot\n"
        );
        assert_eq!(read("r.mpa"), "");
        assert_eq!(abundance(&read("r.tsv"))["unclassified"], [(0, 0, 0, 0.0)]);
        check_cami(&read("r.cami"), "sample");
        assert_eq!(read("r.refs").lines().count(), 1);
    }
}

/// A gz suffix compresses reports.
#[test]
fn a_report_can_be_written_compressed() {
    let world = World::built();
    let dir: &Dir = &world.dir;
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --report r.gz --krona k.gz -q").ok();
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --report r --krona k -q").ok();
    for name in ["r", "k"] {
        assert!(merganser_test_support::gunzip(&dir.path(&format!("{name}.gz"))) == dir.read(name));
    }
}

//! Reports and distributions for Bracken, also with genomes of strains.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::reports::{Row, kreport};
use super::world::{BASES, World};
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{by_chance, shell};
use merganser_test_support::{Dir, MERGANSER};

/// The distribution (`databaseNmers.kmer_distrib`): for each taxon that reads of genomes are assigned to, the
/// fraction of each genome's reads.
type Distribution = BTreeMap<u32, BTreeMap<u32, f64>>;

/// Returns the rows of the report of a run with these options.
fn report(dir: &Dir, options: &str) -> Vec<Row> {
    dir.run(&format!("classify {options} --no-map --report r.kreport -q")).ok();
    kreport(&String::from_utf8(dir.read("r.kreport")).unwrap())
}

/// Returns the distribution of error-free reads of 100 bases from every position of the genomes.
fn distribution(dir: &Dir, database: &str, genomes: &[(u32, Vec<u8>)]) -> Distribution {
    let mut mapped: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut totals: BTreeMap<u32, u64> = BTreeMap::new();
    for (genome, letters) in genomes {
        let mut text = String::new();
        for read in letters.windows(100).step_by(7) {
            writeln!(text, ">r\n{}", String::from_utf8_lossy(read)).unwrap();
        }
        dir.write("one.fa", text);
        let rows = report(dir, &format!("{database} one.fa"));
        for row in rows.iter().filter(|row| row.own > 0) {
            *mapped.entry(row.taxid).or_default().entry(*genome).or_default() += row.own;
            *totals.entry(*genome).or_default() += row.own;
        }
    }
    let parts = |genomes: BTreeMap<u32, u64>| {
        let part = |(genome, reads)| (genome, reads as f64 / totals[&genome] as f64);
        genomes.into_iter().map(part).collect()
    };
    mapped.into_iter().map(|(taxid, genomes)| (taxid, parts(genomes))).collect()
}

/// Returns Bracken's estimates of the reads of each species (its `est_abundance.py -l S -t 10`).
fn bracken(rows: &[Row], distribution: &Distribution) -> BTreeMap<u32, u64> {
    // Rows at species level or below count for their species; the others are above.
    let (mut species_of, mut above) = (BTreeMap::new(), Vec::new());
    let mut estimates: BTreeMap<u32, f64> = BTreeMap::new();
    let mut species: Option<&Row> = None;
    for row in rows.iter().filter(|row| row.code != "U") {
        if species.is_some_and(|species| row.depth <= species.depth) {
            species = None;
        }
        if row.code == "S" {
            species = Some(row);
            if row.clade >= 10 {
                estimates.insert(row.taxid, row.clade as f64);
            }
        }
        match species {
            Some(species) if species.clade >= 10 => {
                species_of.insert(row.taxid, (species.taxid, row.own as f64));
            }
            Some(_) => {}
            None => above.push(row),
        }
    }
    for row in above {
        let Some(genomes) = distribution.get(&row.taxid) else { continue };
        let known = genomes.iter().filter_map(|(genome, part)| {
            let &(species, own) = species_of.get(genome)?;
            let unique = distribution.get(genome).and_then(|it| it.get(genome)).unwrap_or(&1.0);
            Some((species, part * own / unique))
        });
        let known: Vec<(u32, f64)> = known.collect();
        let sum: f64 = known.iter().map(|(_, weight)| weight).sum();
        for (species, weight) in known.into_iter().filter(|_| sum > 0.0) {
            *estimates.get_mut(&species).unwrap() += row.own as f64 * weight / sum;
        }
    }
    estimates.into_iter().map(|(taxid, reads)| (taxid, reads as u64)).collect()
}

/// Bracken returns all reads to their species, whether genomes have taxids of strains or of species. Two strains of
/// one species are mostly alike, and another species shares a half with one of them.
#[test]
fn reads_of_strains_come_back_to_their_species() {
    let world = World::new();
    let dir = &world.dir;
    let strains = "14\t|\t11\t|\tstrain\t|\t\t|\t0\t|\n15\t|\t12\t|\tno rank\t|\t\t|\t0\t|\n";
    dir.write("tax/nodes.dmp", super::world::nodes() + strains);
    // The genome of strain 14 of E. coli differs from that of K-12 at one base in 50.
    let mut random = Random(21);
    let mut second = world.genomes[0].clone();
    second.iter_mut().step_by(50).for_each(|base| *base = b"ACGT"[random.below(4)]);
    let genomes = [world.genomes[0].clone(), second, world.genomes[1].clone()];
    let mut reads = String::new();
    let mut truth = BTreeMap::from([(11, 0u64), (12, 0)]);
    for read in 0..9000 {
        let which = [0, 1, 2, 2][read % 4];
        let start = random.below(BASES - 100);
        let letters = String::from_utf8_lossy(&genomes[which][start..start + 100]).into_owned();
        writeln!(reads, ">r{read}\n{letters}").unwrap();
        *truth.entry(if which == 2 { 12 } else { 11 }).or_default() += 1;
    }
    dir.write("sample.fa", reads);
    for taxids in [[13, 14, 15], [11, 11, 12]] {
        std::fs::create_dir(dir.path("of")).unwrap();
        let with_taxids: Vec<(u32, Vec<u8>)> = taxids.into_iter().zip(genomes.clone()).collect();
        for (number, (taxid, letters)) in with_taxids.iter().enumerate() {
            let letters = String::from_utf8_lossy(letters);
            let text = format!(">s{number}|kraken:taxid|{taxid}\n{letters}\n");
            dir.write(&format!("of/{number}.fa"), text);
        }
        dir.run("build -q --taxonomy tax -o s.mgdb --parts 2 of").ok();
        let expected = report(dir, "s.mgdb sample.fa");
        if taxids[0] == 13 {
            let of = |taxid: u32| expected.iter().find(|row| row.taxid == taxid).unwrap();
            assert!(of(13).own > 500 && of(14).own > 500 && of(15).own > 500, "{expected:?}");
            assert_eq!((&*of(13).code, &*of(11).code, &*of(10).code), ("S1", "S", "G"));
            assert_eq!(of(11).clade, of(11).own + of(13).own + of(14).own);
        }
        for options in ["--lowest genus", "--lowest sequence", "--threads 3 --cov-percentile 0.1"] {
            assert_eq!(report(dir, &format!("s.mgdb {options} sample.fa")), expected, "{options}");
        }
        let found = bracken(&expected, &distribution(dir, "s.mgdb", &with_taxids));
        assert_eq!(found.keys().collect::<BTreeSet<_>>(), truth.keys().collect());
        for (taxid, reads) in &truth {
            let found = found[taxid];
            assert!(found.abs_diff(*reads) * 50 < *reads, "{taxid}: {found} {expected:?}");
        }
        std::fs::remove_dir_all(dir.path("of")).unwrap();
    }
}

/// Assemblers give contigs of all genomes the same names. A contig has its own taxid, also if one without a taxon is left
/// out, and in any order of the genomes.
#[test]
fn contigs_of_the_same_name_keep_their_taxids() {
    let world = World::new();
    let dir = &world.dir;
    let contig = |genome: usize, from: usize, bases: usize| {
        String::from_utf8_lossy(&world.genomes[genome][from..from + bases]).into_owned()
    };
    let (one, two) = (contig(0, 0, 3000), contig(1, 0, 2000));
    let (lost, further) = (contig(0, 5000, 4000), contig(0, 9000, 1000));
    dir.write("0.fa", format!(">contig_1\n{lost}\n"));
    dir.write("1.fa", format!(">contig_1 taxid|11\n{one}\n>contig_2 taxid|11\n{further}\n"));
    dir.write("2.fa", format!(">contig_1 taxid|12\n{two}\n"));
    dir.write(
        "own.fa",
        format!(">a taxid|11\n{one}\n>b taxid|11\n{further}\n>c taxid|12\n{two}\n"),
    );
    dir.run("build --taxonomy tax -o own.mgdb own.fa --bracken 100").ok();
    let expected = dir.read("own.mgdb.100mers.kmer_distrib");
    dir.run("build --taxonomy tax -o all.mgdb 0.fa 1.fa 2.fa --bracken 100").ok();
    assert!(dir.read("all.mgdb.100mers.kmer_distrib") == expected);
    dir.run("db bracken all.mgdb --read-lengths 100 1.fa 0.fa 2.fa -o other").ok();
    assert!(dir.read("other.100mers.kmer_distrib") == expected);
    // Which of two contigs of one name and length was left out cannot be told.
    dir.write("0.fa", format!(">contig_1\n{}\n", &lost[..2000]));
    dir.write("1.fa", format!(">contig_1 taxid|11\n{}\n", &one[..2000]));
    dir.run("build --taxonomy tax -o all.mgdb 1.fa 2.fa").ok();
    let failed = dir.run("db bracken all.mgdb --read-lengths 100 0.fa 1.fa 2.fa -o other").fails(1);
    assert!(failed.contains("3 sequences are named contig_1 and have 2000 bases"), "{failed}");
}

/// Parses and checks a distribution: for each taxid, the genomes with their reads there and their total reads.
fn distrib(text: &str) -> BTreeMap<u32, BTreeMap<u32, (u64, u64)>> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers"));
    let number = |text: &str| text.parse::<u64>().unwrap();
    let share = |text: &str| {
        let cells: Vec<u64> = text.split(':').map(number).collect();
        (cells[0] as u32, (cells[1], cells[2]))
    };
    let row = |line: &str| {
        let (taxid, shares) = line.split_once('\t').unwrap();
        (number(taxid) as u32, shares.split_whitespace().map(share).collect())
    };
    lines.map(row).collect()
}

fn text(dir: &Dir, name: &str) -> String {
    String::from_utf8(dir.read(name)).unwrap()
}

#[test]
fn distributions_stand_beside_databases() {
    let world = World::new();
    let dir = &world.dir;
    let of_build = "--taxonomy tax --bracken 60,100 -q";
    dir.run(&format!("build {of_build} -o refs.mgdb genomes")).ok();
    dir.run(&format!("build --format kraken2 {of_build} -o k2 genomes")).ok();
    for (database, names) in [
        ("refs.mgdb", ["refs.mgdb.60mers.kmer_distrib", "refs.mgdb.100mers.kmer_distrib"]),
        ("k2", ["k2/database60mers.kmer_distrib", "k2/database100mers.kmer_distrib"]),
    ] {
        for (name, length) in names.into_iter().zip([60, 100]) {
            let built = text(dir, name);
            let rows = distrib(&built);
            // No read is lost, and reads of the half that two genomes share belong to the genus.
            for genome in [13, 12, 21] {
                let all = rows.values().filter_map(|row| row.get(&genome));
                let reads = (BASES - length + 1) as u64;
                assert_eq!(all.clone().map(|share| share.0).sum::<u64>(), reads, "{built}");
                assert!(all.clone().all(|share| share.1 == reads), "{built}");
            }
            let [of_genus, _] = rows[&10][&13].into();
            assert!(of_genus.abs_diff(BASES as u64 / 2) < 100, "{built}");
            std::fs::remove_file(dir.path(name)).unwrap();
            for threads in [1, 3] {
                dir.run(&format!(
                    "db bracken {database} --read-lengths {length} -t {threads} genomes -q"
                ))
                .ok();
                assert_eq!(text(dir, name), built);
            }
        }
    }
    // Taxids of a Kraken 2 database come from its own map and from a given one.
    let expected = text(dir, "k2/database60mers.kmer_distrib");
    for name in ["a", "b", "c"] {
        let plain = text(dir, &format!("genomes/{name}.fa"));
        let letters = plain.lines().nth(1).unwrap();
        dir.write(&format!("genomes/{name}.fa"), format!(">{name}.1\n{letters}\n"));
    }
    let map = "a.1\t13\nb.1\t12\nc.1\t21\n";
    let none = dir.run("db bracken k2 --read-lengths 60 genomes");
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("the distribution would have no rows"), "{}", none.stderr);
    assert_eq!(text(dir, "k2/database60mers.kmer_distrib"), expected);
    let strict = dir.run("db bracken k2 --read-lengths 60 genomes --strict --unmapped u").fails(1);
    assert!(strict.contains("3 sequences have no taxon (--strict), first a.1"), "{strict}");
    dir.write("own", map);
    dir.run("db bracken k2 --read-lengths 60 genomes --map own --strict -q").ok();
    assert_eq!(text(dir, "k2/database60mers.kmer_distrib"), expected);
    dir.write("k2/seqid2taxid.map", map);
    dir.run("db bracken k2 --read-lengths 60 genomes --strict -q").ok();
    assert_eq!(text(dir, "k2/database60mers.kmer_distrib"), expected);
}

#[test]
fn distributions_that_cannot_be() {
    let world = World::built();
    let dir = &world.dir;
    let said = |args: &str, code: i32| {
        let said = dir.run(args).fails(code);
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    };
    let range = "error: a read length of 18 is out of range: 19, the database's k, to 524288";
    for args in [
        "db bracken refs.mgdb --read-lengths 100,18 genomes",
        "build --taxonomy tax --bracken 100,18 -o new genomes",
    ] {
        assert!(said(args, 2).starts_with(range));
    }
    let kraken = "build --format kraken2 --taxonomy tax --bracken 34 -o new genomes";
    assert!(said(kraken, 2).contains("a read length of 34 is out of range: 35"));
    assert!(!dir.path("new").exists());
    let map = said("db bracken refs.mgdb --read-lengths 100 --map x genomes", 2);
    assert!(map.contains("--taxonomy and --map require a database of Kraken 2"), "{map}");
    let twice = said("db bracken refs.mgdb --read-lengths 100,100 genomes", 1);
    assert!(twice.contains("two outputs cannot go to the same file"), "{twice}");
    for args in
        ["db bracken refs.mgdb --read-lengths 100 -", "build --taxonomy tax --bracken 100 -o new -"]
    {
        assert!(said(args, 1).contains("the genomes are read once for each length"), "{args}");
    }
    let little = "build --taxonomy tax --bracken 100 -t 1 --memory 160M -o new genomes";
    dir.run(&format!("{little} -q")).ok();
    dir.write("other.fa", format!(">other\n{}\n", "ACGTTGCATT".repeat(30)));
    let other = dir.run("db bracken refs.mgdb --read-lengths 100 other.fa");
    assert_eq!(other.code, Some(1));
    assert!(other.stderr.contains("are left out, first other"), "{}", other.stderr);
    assert!(other.stderr.contains("the distribution would have no rows"), "{}", other.stderr);
    assert!(!dir.path("refs.mgdb.100mers.kmer_distrib").exists());
}

/// Makes distributions of a world's databases in both formats; returns their names.
fn with_distributions(dir: &Dir) -> [(&'static str, &'static str); 2] {
    dir.run("db bracken refs.mgdb --read-lengths 100 genomes -q").ok();
    dir.run("build --format kraken2 --taxonomy tax --bracken 100 -o k2 genomes -q").ok();
    [("refs.mgdb", "refs.mgdb.100mers.kmer_distrib"), ("k2", "k2/database100mers.kmer_distrib")]
}

#[test]
fn estimates_are_those_of_the_report() {
    let world = World::built();
    let dir = &world.dir;
    for (database, file) in with_distributions(dir) {
        for options in ["", "--report-minimizer-data", "--report-zero-counts"] {
            for (level, threshold) in [("S", 10), ("G", 0)] {
                let own = format!("--bracken-level {level} --bracken-threshold {threshold}");
                let out = "--bracken-output o.tsv --bracken-report o.kreport --report r.kreport";
                let of = format!("classify {database} 1.fq --no-map -q {options} --bracken {file}");
                dir.run(&format!("{of} {own} {out}")).ok();
                let own = format!("--level {level} --threshold {threshold} -q --out-report b");
                let table = dir.run(&format!("report bracken -d {file} r.kreport {own}")).ok();
                assert_eq!(text(dir, "o.tsv"), table, "{database} {options} {level}");
                assert_eq!(text(dir, "o.kreport"), text(dir, "b"), "{database} {options} {level}");
                if by_chance("est_abundance.py") {
                    let run = format!("est_abundance.py -i r.kreport -k {file} -o t -l {level}");
                    shell(dir.root(), &format!("{run} -t {threshold} --out-report t.kreport"));
                    assert_eq!(text(dir, "t"), table);
                    assert_eq!(text(dir, "t.kreport"), text(dir, "b"));
                }
            }
        }
    }
}

/// Estimates follow the formulas and the mixture: three reads of the first genome to one and two of the others.
#[test]
fn estimates_are_those_of_the_formulas() {
    let world = World::built();
    let dir = &world.dir;
    for (database, file) in with_distributions(dir) {
        let rows = report(dir, &format!("{database} 1.fq"));
        let parts = |shares: BTreeMap<u32, (u64, u64)>| {
            shares.into_iter().map(|(it, (reads, all))| (it, reads as f64 / all as f64)).collect()
        };
        let distribution: Distribution =
            distrib(&text(dir, file)).into_iter().map(|(it, shares)| (it, parts(shares))).collect();
        let table = dir.run(&format!("report bracken -d {file} r.kreport -q")).ok();
        let found: BTreeMap<u32, u64> = table
            .lines()
            .skip(1)
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .map(|cells| (cells[1].parse().unwrap(), cells[5].parse().unwrap()))
            .collect();
        assert_eq!(found, bracken(&rows, &distribution));
        for (taxid, reads) in [(11, 300), (12, 100), (21, 200)] {
            assert!(found[&taxid].abs_diff(reads) < 15, "{table}");
        }
    }
}

#[test]
fn samples_and_sessions_have_estimates() {
    let world = World::built();
    let dir = &world.dir;
    for (database, file) in with_distributions(dir) {
        let of = format!("--no-map -q --bracken {file}");
        dir.run(&format!("classify {database} 1.fq {of} --bracken-output o.tsv")).ok();
        dir.write("sheet.tsv", "s1\t1.fq\ns2\t2.fq\n");
        let sheet = format!("classify {database} --sample-sheet sheet.tsv {of}");
        dir.run(&format!("{sheet} --bracken-output {{}}.bracken")).ok();
        assert_eq!(text(dir, "s1.bracken"), text(dir, "o.tsv"));
        let no_place = dir.run(&format!("{sheet} --bracken-output x")).fails(2);
        assert!(no_place.contains("--bracken-output x: with --sample-sheet"), "{no_place}");
        let line = format!("1.fq --no-map --bracken {file} --bracken-output i.tsv");
        let session = format!("classify {database} --interactive -q");
        shell(dir.root(), &format!("echo '{line}' | {MERGANSER} {session}"));
        assert_eq!(text(dir, "i.tsv"), text(dir, "o.tsv"));
        // Joined lines have Bracken's table, too.
        if database == "refs.mgdb" {
            dir.run("classify refs.mgdb 1.fq -q -o lines").ok();
            let merge = "db merge-results -d refs.mgdb lines -q -o joined --bracken";
            dir.run(&format!("{merge} {file} --bracken-output m.tsv")).ok();
            assert_eq!(text(dir, "m.tsv").lines().count(), 4);
        }
    }
}

#[test]
fn estimates_that_cannot_be() {
    let dir = Dir::new();
    let heading = "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n";
    dir.write("d", format!("{heading}5\t5:3:3\n"));
    dir.write("empty_d", heading);
    dir.write("r", "50.00\t5\t5\tU\t0\tunclassified\n50.00\t5\t5\tR\t1\troot\n");
    dir.write("bad_r", "50.00\t5\t5\tU\t0\n");
    dir.write("bad_d", format!("{heading}5\t7:9:3\n"));
    dir.write("odd", "50.00\t5\t0\tR\t1\troot\n50.00\t5\t5\tX\t9\t  x\n");
    for (args, code, message) in [
        ("-d d bad_r -o o", 1, "bad_r: line 1: 5 columns"),
        (
            "-d bad_d r -o o",
            1,
            "bad_d: line 2: `7:9:3`: 9 of 3 reads cannot be assigned to the taxon",
        ),
        ("-d empty_d r -o o", 1, "empty_d: the distribution is a heading without rows"),
        ("-d r r -o o", 1, "r: not a distribution of Bracken (*.kmer_distrib)"),
        ("-d none r -o o", 1, "none: "),
        ("-d d odd -o o", 1, "the report has taxid 9 with rank code X"),
        ("-d d r --out-report -", 2, "only one output can be stdout"),
    ] {
        let said = dir.run(&format!("report bracken {args}")).fails(code);
        assert!(said.contains(message), "{args}: {said}");
        assert!(!dir.path("o").exists());
    }
    let foreign = dir.run("report bracken -d d r --level X");
    assert_eq!(foreign.code, Some(2));
    assert!(foreign.stderr.contains("give one of D, K, P, C, O, F, G, S, or steps below one"));
    let empty = dir.run("report bracken -d d r");
    assert!(empty.warnings()[0].contains("no taxon of level S has 10 reads or more"));
    assert_eq!(empty.ok().lines().count(), 1);
}

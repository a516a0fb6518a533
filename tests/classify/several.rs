//! `classify` with several databases of Kraken 2 at once.

use std::fmt::Write as _;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

/// Species 21 to 26: three of genus 11 and three of genus 12, in family 10 of domain 2.
pub(crate) fn write_taxonomy(dir: &Dir) {
    std::fs::create_dir(dir.path("tax")).unwrap();
    let mut taxa = vec![(1, 1, "no rank"), (2, 1, "domain"), (10, 2, "family")];
    taxa.extend([(11, 10, "genus"), (12, 10, "genus")]);
    taxa.extend((21..27).map(|species| (species, 11 + (species - 21) / 3, "species")));
    let (mut nodes, mut names) = (String::new(), String::new());
    for (taxid, parent, rank) in taxa {
        writeln!(nodes, "{taxid}\t|\t{parent}\t|\t{rank}\t|").unwrap();
        writeln!(names, "{taxid}\t|\tTaxon {taxid}\t|\t\t|\tscientific name\t|").unwrap();
    }
    dir.write("tax/nodes.dmp", nodes);
    dir.write("tax/names.dmp", names);
}

/// Writes genomes that share sequences within species, genus and family, and reads of them and of nothing.
fn write_genomes_and_reads(dir: &Dir) {
    let mut random = Random(3);
    let of_family = random.bases(3_000);
    let of_genus = [random.bases(3_000), random.bases(3_000)];
    let mut genomes = Vec::new();
    for species in 0..6 {
        let own = random.bases(10_000);
        let genome = [&of_family[..], &own, &of_genus[species / 3]].concat();
        let text = String::from_utf8(genome.clone()).unwrap();
        dir.write(
            &format!("g{species}.fa"),
            format!(">g{species}|kraken:taxid|{}\n{text}\n", 21 + species),
        );
        genomes.push(genome);
    }
    genomes.push(random.bases(10_000));
    let mut reads = [String::new(), String::new()];
    for number in 0..1_400 {
        let genome = &genomes[number % 7];
        for (mate, text) in reads.iter_mut().enumerate() {
            let start = random.below(genome.len() - 120);
            let mut letters = genome[start..start + 120].to_vec();
            for letter in &mut letters {
                if random.below(60) == 0 {
                    *letter = b"ACGTN"[random.below(5)];
                }
            }
            let letters = String::from_utf8(letters).unwrap();
            writeln!(text, "@r{number}/{}\n{letters}\n+\n{}", mate + 1, "I".repeat(120)).unwrap();
        }
    }
    dir.write("1.fq", &reads[0]);
    dir.write("2.fq", &reads[1]);
}

fn build(dir: &Dir, name: &str, genomes: &str, options: &str) {
    dir.run(&format!("build -q --format kraken2 --taxonomy tax {options} -o {name} {genomes}"))
        .ok();
}

/// Tables of this size have enough bits for keys that no minimizers of these genomes collide.
#[test]
fn a_database_in_parts_gives_the_results_of_the_whole() {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    build(&dir, "all", "g0.fa g1.fa g2.fa g3.fa g4.fa g5.fa", "");
    // Genus 11 is in all parts.
    for (part, genomes) in [("a", "g0.fa g3.fa"), ("b", "g1.fa g4.fa g5.fa"), ("c", "g2.fa")] {
        build(&dir, part, genomes, "");
    }
    for options in [
        "1.fq 2.fq",
        "-1 1.fq -2 2.fq --confidence 0.1",
        "-1 1.fq -2 2.fq --use-names --report-minimizer-data --report-zero-counts",
        "1.fq --quick --minimum-hit-groups 1",
    ] {
        let mut of_databases = Vec::new();
        for databases in ["all", "a b c", "c b a", "a a b c"] {
            for threads in [1, 3] {
                let outputs = "-o l.tsv --report r.tsv --classified-out yes.fq";
                dir.run(&format!("classify -q {databases} {options} {outputs} -t {threads}")).ok();
                of_databases.push(["l.tsv", "r.tsv", "yes.fq"].map(|name| dir.read(name)));
            }
        }
        let whole = &of_databases[0];
        assert!(of_databases.iter().all(|parts| parts == whole), "{options}");
        let lines = String::from_utf8(whole[0].clone()).unwrap();
        let expected = ["0", "11", "12", "21", "26", "10"];
        for taxid in &expected[..if options.contains("--quick") { 1 } else { 6 }] {
            let is = |line: &&str| {
                let found = line.split('\t').nth(2).unwrap();
                found == *taxid || found.ends_with(&format!("(taxid {taxid})"))
            };
            assert!(lines.lines().any(|line| is(&line)), "{options} {taxid}");
        }
    }
    // A part alone knows less.
    dir.run("classify -q a 1.fq -o a.tsv").ok();
    dir.run("classify -q a b c 1.fq -o abc.tsv").ok();
    let classified = |name: &str| {
        let lines = String::from_utf8(dir.read(name)).unwrap();
        lines.lines().filter(|line| line.starts_with('C')).count()
    };
    assert!(classified("a.tsv") + 300 < classified("abc.tsv"));
}

/// A database of further genomes is built with the parameters of another, and its taxonomy: both together are the whole.
#[test]
fn a_database_is_built_beside_another() {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    let parameters = "-k 33 --minimizer-len 29 --minimizer-spaces 5";
    build(&dir, "public", "g0.fa g1.fa g4.fa g5.fa", parameters);
    build(&dir, "all", "g0.fa g1.fa g2.fa g3.fa g4.fa g5.fa", parameters);
    // Species 23 and 24 are not in the taxonomy of the first database.
    let message = dir.run("build --beside public -o no g2.fa").fails(1);
    assert!(message.contains("taxid 23"), "{message}");
    dir.run("build -q --beside public --taxonomy tax -o own g2.fa g3.fa").ok();
    // No read has a minimizer of this one.
    let more = String::from_utf8(Random(9).bases(200)).unwrap();
    dir.write("more.fa", format!(">x|kraken:taxid|21\n{more}\n"));
    dir.run("build -q --beside public -o more more.fa").ok();
    dir.run("classify -q all 1.fq -o all.tsv --report all.kreport").ok();
    dir.run("classify -q public own 1.fq -o both.tsv --report both.kreport").ok();
    dir.run("classify -q more own public 1.fq -o three.tsv --report three.kreport").ok();
    for [one, other] in [["both.tsv", "both.kreport"], ["three.tsv", "three.kreport"]] {
        assert!(dir.read(one) == dir.read("all.tsv") && dir.read(other) == dir.read("all.kreport"));
    }
    for (args, code, said) in [
        ("--beside public -k 31 -o x g2.fa", 2, "cannot be used with"),
        ("--beside public --format merganser -o x g2.fa", 2, "--beside requires --format kraken2"),
        ("--beside missing -o x g2.fa", 1, "missing"),
        ("--beside public -o public g0.fa", 1, "public"),
    ] {
        let message = dir.run(&format!("build -q {args}")).fails(code);
        assert!(message.contains(said), "{args}: {message}");
        assert!(!dir.path("x").exists(), "{args}");
    }
}

/// Minimizers that a table of limited size leaves out are looked up in no table: otherwise those of several genera that are
/// in the other table only would seem to be of one species.
#[test]
fn a_table_of_limited_size_decides_for_all() {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    let limit = "--max-db-size 150K";
    build(&dir, "all", "g0.fa g1.fa g2.fa g3.fa g4.fa g5.fa", limit);
    build(&dir, "limited", "g0.fa g1.fa g3.fa g4.fa g5.fa", limit);
    build(&dir, "own", "g2.fa", "");
    dir.run("classify -q all 1.fq -o all.tsv").ok();
    dir.run("classify -q limited own 1.fq -o both.tsv").ok();
    let species = |name: &str| {
        let lines = String::from_utf8(dir.read(name)).unwrap();
        let of = |line: &str| line.split('\t').nth(2).unwrap().parse::<usize>().unwrap();
        lines.lines().map(of).collect::<Vec<_>>()
    };
    let (all, both) = (species("all.tsv"), species("both.tsv"));
    // Reads of other genomes than that of species 23 are never of it, although all share sequences with it.
    let is_of_23 = |number: usize| number % 7 == 2;
    assert!((0..both.len()).all(|number| is_of_23(number) || both[number] != 23));
    assert!((0..both.len()).filter(|&number| both[number] == 23).count() > 50);
    assert!(all.iter().filter(|&&taxid| taxid == 10).count() > 10);
}

#[test]
fn partial_results_of_shards_are_joined() {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    build(&dir, "a", "g0.fa g3.fa", "");
    build(&dir, "b", "g1.fa g2.fa g4.fa", "");
    dir.run("classify -q a b -1 1.fq -2 2.fq -o all.tsv --report all.kreport").ok();
    for shard in [1, 2] {
        let options = format!("--shard {shard}/2 --partial {shard}.partial -o {shard}.tsv");
        dir.run(&format!("classify -q a b -1 1.fq -2 2.fq {options}")).ok();
    }
    dir.run("classify join -q 1.partial 2.partial --report joined.kreport").ok();
    assert_eq!(dir.read("joined.kreport"), dir.read("all.kreport"));
    assert_eq!([dir.read("1.tsv"), dir.read("2.tsv")].concat(), dir.read("all.tsv"));
    // Results of other databases are not joined with them.
    dir.run("classify -q a -1 1.fq -2 2.fq --shard 2/2 --partial other.partial -o x.tsv").ok();
    dir.run("classify join -q 1.partial other.partial --report x.kreport").fails(1);
}

#[test]
fn databases_that_do_not_belong_together_are_refused() {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    build(&dir, "a", "g0.fa", "");
    build(&dir, "k", "g1.fa", "-k 31");
    build(&dir, "s", "g1.fa", "--minimizer-spaces 3");
    dir.run("build -q --taxonomy tax -o own.mgdb g1.fa").ok();
    std::fs::rename(dir.path("tax"), dir.path("tax1")).unwrap();
    write_taxonomy(&dir);
    let names = String::from_utf8(dir.read("tax/names.dmp")).unwrap();
    dir.write("tax/names.dmp", names.replace("Taxon", "Other"));
    build(&dir, "n", "g1.fa", "");
    let nodes = String::from_utf8(dir.read("tax/nodes.dmp")).unwrap();
    dir.write("tax/names.dmp", names);
    dir.write("tax/nodes.dmp", nodes.replace("11\t|\t10\t|\tgenus", "11\t|\t2\t|\tgenus"));
    build(&dir, "p", "g1.fa", "");
    for (databases, code, said) in [
        ("a k", 1, "a and k cannot be used together: k is 35 and 31"),
        ("a s", 1, "a and s cannot be used together: the spaced seed is"),
        (
            "a n",
            1,
            "a and n have different taxonomies: 3 of 3 taxids that both have are other taxa",
        ),
        ("a own.mgdb", 2, "own.mgdb: several databases in one run must be folders of Kraken 2"),
        ("own.mgdb a", 2, "own.mgdb: several databases in one run must be folders of Kraken 2"),
        ("a missing", 1, "missing: cannot open"),
    ] {
        let message = dir.run(&format!("classify -q {databases} 1.fq -o x.tsv")).fails(code);
        assert!(message.contains(said), "{databases}: {message}");
        assert!(!dir.path("x.tsv").exists());
    }
    let ran = dir.run("classify a p 1.fq -o x.tsv");
    let warnings = ran.warnings().join("\n");
    ran.ok();
    assert!(
        warnings.contains(
            "p: 1 of the 2 taxids that earlier databases have too differ in parent or rank"
        ),
        "{warnings}"
    );
    assert!(warnings.contains("taxid 11: its parent is '10' and '2'"), "{warnings}");
}

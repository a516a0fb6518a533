//! `classify` with several databases at once: of Kraken 2 here, of merganser in `own`.

mod own;

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
    // Bracken's distribution of all parts is that of the whole.
    let genomes = "--read-lengths 80 g0.fa g1.fa g2.fa g3.fa g4.fa g5.fa -q";
    dir.run(&format!("db bracken all {genomes}")).ok();
    dir.run(&format!("db bracken b --beside a --beside c {genomes} -o parts")).ok();
    dir.run(&format!("db bracken a {genomes} -o part")).ok();
    let of_parts = dir.read("parts.80mers.kmer_distrib");
    assert!(of_parts == dir.read("all/database80mers.kmer_distrib"));
    assert!(of_parts != dir.read("part.80mers.kmer_distrib"));
    let bracken = "--bracken parts.80mers.kmer_distrib --bracken-output estimates";
    let message = dir.run(&format!("classify a b c 1.fq -o l.tsv {bracken}")).stderr;
    assert!(message.contains("a distribution of all databases together"), "{message}");
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
        ("a own.mgdb", 2, "a is a database of Kraken 2, and own.mgdb is of another kind"),
        ("own.mgdb a", 2, "a is a database of Kraken 2, and own.mgdb is of another kind"),
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

/// `db info` with several databases says what `classify` says.
#[test]
fn databases_are_compared() {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    build(&dir, "a", "g0.fa g1.fa", "");
    build(&dir, "b", "g0.fa", "");
    build(&dir, "c", "g3.fa", "");
    build(&dir, "k", "g1.fa", "-k 31 --minimizer-len 29 --minimizer-spaces 3");
    dir.run("build -q --taxonomy tax -o own.mgdb g1.fa").ok();
    let names = String::from_utf8(dir.read("tax/names.dmp")).unwrap();
    dir.write("tax/names.dmp", names.replace("Taxon", "Other"));
    build(&dir, "n", "g1.fa", "");
    let nodes = String::from_utf8(dir.read("tax/nodes.dmp")).unwrap();
    dir.write("tax/names.dmp", names);
    dir.write("tax/nodes.dmp", nodes.replace("11\t|\t10\t|\tgenus", "11\t|\t2\t|\tfamily"));
    build(&dir, "p", "g1.fa", "");
    let databases = ["a", "b", "c", "k", "n", "p", "own.mgdb"];
    let info = |databases: &str, together: bool| -> serde_json::Value {
        let ran = dir.run(&format!("db info --json {databases}"));
        assert_eq!(ran.code, Some(if together { 0 } else { 1 }), "{databases}");
        serde_json::from_slice(&ran.stdout).unwrap()
    };
    // Each pair, and one of three: the same verdict and message as those of `classify`.
    let pairs = databases.iter().flat_map(|one| databases.map(|two| format!("{one} {two}")));
    for databases in pairs.chain(["a b c".to_owned(), "a c k".to_owned()]) {
        let ran = dir.run(&format!("classify {databases} 1.fq -o x.tsv"));
        let together = ran.code == Some(0);
        let said = info(&databases, together);
        assert_eq!(said["all"]["together"], together, "{databases}");
        assert_eq!(said["all"]["reason"].is_null(), together, "{databases}");
        if together {
            let is_other = |warning: &&str| !warning.contains("this database is given twice");
            let warnings: Vec<&str> = ran.warnings().into_iter().filter(is_other).collect();
            let differences = said["all"]["differences"].as_array().unwrap();
            assert_eq!(differences.len(), warnings.len(), "{databases}");
            for (difference, warning) in differences.iter().zip(&warnings) {
                assert!(warning.contains(difference.as_str().unwrap()), "{databases}: {warning}");
            }
        } else {
            let reason = said["all"]["reason"].as_str().unwrap().to_owned();
            assert_eq!(ran.stderr.trim_end(), format!("error: {reason}"));
            let ran = dir.run(&format!("db info {databases}"));
            assert_eq!(ran.stderr.trim_end(), format!("error: {reason}"));
        }
    }
    let pair = |databases: &str, together| info(databases, together)["pairs"][0].clone();
    let fields = ["shared_taxa", "only_first", "only_second", "other_parent", "other_rank"];
    let numbers = |pair: &serde_json::Value| fields.map(|field| pair[field].as_u64().unwrap());
    // Without the root, the first database has taxa 2, 10, 11, 21, 22.
    let ab = pair("a b", true);
    assert_eq!((numbers(&ab), ab["extension"].as_str()), ([4, 1, 0, 0, 0], Some("first")));
    let ba = pair("b a", true);
    assert_eq!((numbers(&ba), ba["extension"].as_str()), ([4, 0, 1, 0, 0], Some("second")));
    let ac = pair("a c", true);
    assert_eq!((numbers(&ac), ac["extension"].as_str()), ([2, 3, 2, 0, 0], Some("both")));
    let aa = pair("a a", true);
    assert_eq!((numbers(&aa), aa["extension"].as_str()), ([5, 0, 0, 0, 0], Some("none")));
    // Taxon 11 of this one is a family of taxon 2, and taxon 10 is missing.
    let ap = pair("a p", true);
    assert_eq!(numbers(&ap), [3, 2, 0, 1, 1]);
    assert_eq!(ap["example"], "taxid 11: its parent is '10' and '2'");
    let ak = pair("a k", false);
    let parameters = ak["parameters"].as_array().unwrap();
    assert_eq!((parameters.len(), &parameters[0]), (4, &"k is 35 and 31".into()));
    let an = pair("a n", false);
    assert_eq!((an["other_name"].as_u64(), an["shared_taxa"].as_u64()), (Some(4), Some(4)));
    let text = dir.run("db info a b").ok();
    assert!(text.starts_with("database        a\nformat          kraken2\n"), "{text}");
    assert!(text.contains("\n\ndatabase        b\n"), "{text}");
    assert!(text.contains("\n\nfirst           a\nsecond          b\ntogether        yes\n"));
    assert!(text.contains("\n\ntogether        yes\nreason          -\ntaxa            6\n"));
    dir.run("db info a missing").fails(1);
    assert_eq!(dir.run("db info").code, Some(2));
    let ran = dir.run("db merge a b -o ab");
    assert_eq!(ran.code, Some(2));
    let tip = "tip: classify with several databases at once, or build one of all genomes";
    assert!(ran.stderr.contains(tip), "{}", ran.stderr);
}

/// Whether a taxon of [`write_taxonomy`] is in a clade.
fn is_within(mut taxid: u32, clade: u32) -> bool {
    let parent = |taxid| match taxid {
        21..=26 => 11 + (taxid - 21) / 3,
        11 | 12 => 10,
        10 => 2,
        2 => 1,
        _ => 0,
    };
    while taxid != 0 && taxid != clade {
        taxid = parent(taxid);
    }
    taxid != 0
}

/// The taxid of a read, and those of its k-mers; 0 for k-mers without one.
type Call = (u32, Vec<u32>);

/// Returns the taxid of each read of the lines of `classify`, and those of its k-mers.
fn parse_lines(dir: &Dir, name: &str) -> Vec<Call> {
    let lines = String::from_utf8(dir.read(name)).unwrap();
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let runs = fields[4].split_whitespace().filter(|run| *run != "|:|");
        let k_mers = runs.flat_map(|run| {
            let (taxid, count) = run.split_once(':').unwrap();
            vec![taxid.parse().unwrap_or(0); count.parse().unwrap()]
        });
        (fields[2].parse().unwrap(), k_mers.collect())
    };
    lines.lines().map(parse).collect()
}

/// Makes the table of reads by database of the lines of a run with all databases, of runs with each by itself, and of the
/// report `r.tsv`.
fn table_by_database(dir: &Dir, databases: &[&str], names: &[&str], reads: &str) -> String {
    let all = parse_lines(dir, "l.tsv");
    let supported = databases.iter().map(|database| {
        dir.run(&format!("classify -q {database} {reads} -o each.tsv")).ok();
        let each = parse_lines(dir, "each.tsv");
        let is_supported = |((call, joint), (_, own)): (&Call, &Call)| {
            assert_eq!(joint.len(), own.len());
            *call != 0
                && joint.iter().zip(own).any(|(&k_mer, &own)| own != 0 && is_within(k_mer, *call))
        };
        all.iter().zip(&each).map(is_supported).collect::<Vec<bool>>()
    });
    let supported: Vec<Vec<bool>> = supported.collect();
    let mut table = "taxid\trank\tname\treads\town_reads".to_owned();
    names.iter().for_each(|name| write!(table, "\t{name}_reads\t{name}_own_reads").unwrap());
    let report = String::from_utf8(dir.read("r.tsv")).unwrap();
    for row in report.lines().filter(|row| !row.contains("unclassified")) {
        let fields: Vec<&str> = row.split('\t').map(str::trim).collect();
        let taxid: u32 = fields[4].parse().unwrap();
        write!(table, "\n{taxid}\t{}\t{}\t{}\t{}", fields[3], fields[5], fields[1], fields[2])
            .unwrap();
        for supported in &supported {
            let of = |is_counted: &dyn Fn(u32) -> bool| {
                let reads = all.iter().zip(supported);
                reads
                    .filter(|((call, _), is_supported)| **is_supported && is_counted(*call))
                    .count()
            };
            let clade = of(&|call| is_within(call, taxid));
            write!(table, "\t{clade}\t{}", of(&|call| call == taxid)).unwrap();
        }
    }
    table + "\n"
}

#[test]
fn reads_are_counted_by_database() {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    build(&dir, "a", "g0.fa g3.fa", "");
    build(&dir, "b", "g1.fa g4.fa g5.fa", "");
    build(&dir, "c", "g2.fa", "");
    for (databases, names) in [
        (&["a", "b", "c"][..], &["a", "b", "c"][..]),
        (&["c", "./a/"], &["c", "a"]),
        (&["a", "b", "a"], &["a", "b", "a_2"]),
        (&["b"], &["b"]),
    ] {
        for (reads, options) in [
            ("1.fq 2.fq", ""),
            ("-1 1.fq -2 2.fq", "--confidence 0.1"),
            ("2.fq", "--confidence 0.6"),
        ] {
            let all = databases.join(" ");
            let run = format!("classify -q {all} {reads} {options} --report r.tsv");
            dir.run(&format!("{run} -o l.tsv")).ok();
            let expected = table_by_database(&dir, databases, names, reads);
            for threads in [1, 3] {
                dir.run(&format!("{run} --database-report d.tsv -t {threads} -o m.tsv")).ok();
                let found = String::from_utf8(dir.read("d.tsv")).unwrap();
                assert_eq!(found, expected, "{all} {reads} {options}");
                assert!(dir.read("m.tsv") == dir.read("l.tsv"), "{all} {reads} {options}");
            }
        }
    }
    // No database has all of the evidence.
    dir.run("classify -q a b c 1.fq --no-map --database-report d.tsv").ok();
    let table = String::from_utf8(dir.read("d.tsv")).unwrap();
    let root: Vec<u64> =
        table.lines().nth(1).unwrap().split('\t').skip(3).map(|n| n.parse().unwrap()).collect();
    assert!([2, 4, 6].iter().all(|&at| root[at] > 0 && root[at] < root[0]), "{root:?}");
}

#[test]
fn counts_by_database_are_joined() {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    build(&dir, "a", "g0.fa g3.fa", "");
    build(&dir, "b", "g1.fa g2.fa g4.fa", "");
    let run = "classify -q a b -1 1.fq -2 2.fq --no-map";
    dir.run(&format!("{run} --database-report all.tsv --report all.kreport")).ok();
    for shard in [1, 2] {
        let options = format!("--shard {shard}/2 --partial {shard}.partial");
        dir.run(&format!("{run} {options} --database-report {shard}.tsv")).ok();
        dir.run(&format!("{run} --shard {shard}/2 --partial {shard}.without")).ok();
    }
    let join = "classify join -q 1.partial 2.partial";
    dir.run(&format!("{join} --database-report joined.tsv --report joined.kreport")).ok();
    assert_eq!(dir.read("joined.tsv"), dir.read("all.tsv"));
    assert_eq!(dir.read("joined.kreport"), dir.read("all.kreport"));
    assert_ne!(dir.read("1.tsv"), dir.read("all.tsv"));
    // Whole runs over some of the reads.
    dir.run("classify -q a b 1.fq --no-map --database-report 1.tsv --partial 1.run").ok();
    dir.run("classify -q a b 2.fq --no-map --database-report 2.tsv --partial 2.run").ok();
    dir.run("classify -q a b 1.fq 2.fq --no-map --database-report all.tsv").ok();
    dir.run("classify join -q 1.run 2.run --database-report joined.tsv").ok();
    assert_eq!(dir.read("joined.tsv"), dir.read("all.tsv"));
    dir.run("report merge -q --format kreport 1.run 2.run -o merged.kreport").ok();
    std::fs::rename(dir.path("b"), dir.path("d")).unwrap();
    dir.run("classify -q a d 2.fq --no-map --database-report 2.tsv --partial other.run").ok();
    for (args, code, said) in [
        ("classify join 1.without 2.without", 1, "classify with --database-report"),
        ("classify join 1.partial 2.without", 1, "lacks the reads by database"),
        ("classify join 1.run other.run", 1, "is of the databases a, d, and others are of a, b"),
    ] {
        let message = dir.run(&format!("{args} -q --database-report x.tsv")).fails(code);
        assert!(message.contains(said), "{args}: {message}");
        assert!(!dir.path("x.tsv").exists(), "{args}");
    }
}

//! Several databases of merganser at once: their results are those of one of all genomes, in the order of the databases.

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

use super::{write_genomes_and_reads, write_taxonomy};

/// The genomes of the databases a, b and c. Genus 11 is in all of them.
const PARTS: [(&str, &str); 3] =
    [("a.mgdb", "g0.fa g3.fa"), ("b.mgdb", "g1.fa g4.fa g5.fa"), ("c.mgdb", "g2.fa")];

fn build(dir: &Dir, name: &str, genomes: &str, options: &str) {
    dir.run(&format!("build -q --taxonomy tax {options} -o {name} {genomes}")).ok();
}

/// Returns a directory with genomes, reads and the databases a, b and c.
fn prepared(options: &str) -> Dir {
    let dir = Dir::new();
    write_taxonomy(&dir);
    write_genomes_and_reads(&dir);
    for (name, genomes) in PARTS {
        build(&dir, name, genomes, options);
    }
    dir
}

/// Builds the database of all genomes, in the order of some databases. Returns the names of these.
fn build_all(dir: &Dir, order: [usize; 3], options: &str) -> String {
    let genomes = order.map(|at| PARTS[at].1).join(" ");
    build(dir, "all.mgdb", &genomes, options);
    order.map(|at| PARTS[at].0).join(" ")
}

#[test]
fn databases_of_merganser_give_the_results_of_one_of_all_genomes() {
    for preset in ["", "--preset metacache", "--parts 2 --lowest sequence"] {
        let (build, classify) = match preset.split_once("--lowest") {
            Some((build, rank)) => (build, format!("--lowest{rank}")),
            None => (preset, String::new()),
        };
        let dir = prepared(build);
        for order in [[0, 1, 2], [2, 1, 0]] {
            let databases = build_all(&dir, order, build);
            for options in [
                "1.fq 2.fq --report-minimizer-data",
                "-1 1.fq -2 2.fq --confidence 0.3",
                "-1 1.fq -2 2.fq --cov-percentile 20 --hits-per-ref hits.tsv",
                "1.fq --format metacache --tophits --allhits --locations --abundance abundance.tsv",
            ] {
                let run = |databases: &str, threads: usize| {
                    let outputs =
                        "-o l.tsv --report r.tsv --mpa m.tsv --krona k.tsv --classified-out yes.fq";
                    let run = format!("classify -q {databases} {options} {classify} {outputs}");
                    dir.run(&format!("{run} -t {threads}")).ok();
                    let other = ["hits.tsv", "abundance.tsv"].into_iter();
                    let other = other.filter(|name| options.contains(name));
                    let names = ["l.tsv", "r.tsv", "m.tsv", "k.tsv", "yes.fq"].into_iter();
                    names.chain(other).map(|name| dir.read(name)).collect::<Vec<_>>()
                };
                let whole = run("all.mgdb", 2);
                for threads in [1, 3] {
                    assert!(run(&databases, threads) == whole, "{preset} {order:?} {options}");
                }
            }
        }
        // One of them alone knows less.
        let classified = |databases: &str| {
            let lines = dir.run(&format!("classify -q {databases} 1.fq")).ok();
            lines.lines().filter(|line| line.starts_with('C')).count()
        };
        assert!(classified("a.mgdb") + 300 < classified("a.mgdb b.mgdb c.mgdb"));
    }
}

/// Databases that do not fit into memory together take turns.
#[test]
fn databases_of_merganser_take_turns_within_the_memory() {
    let options = "--preset metacache --sketch 128 --stride 2 --max-locations 1000";
    let dir = prepared(options);
    let databases = build_all(&dir, [1, 0, 2], options);
    let run = |databases: &str, options: &str| {
        dir.run(&format!(
            "classify -t 1 {databases} -1 1.fq -2 2.fq --near 12 --max-cand 5 -o l.tsv --report r.tsv {options}"
        ))
    };
    let message = run(&databases, "-q --memory 1M").fails(1);
    let mebibytes = |after: &str| -> f64 {
        let text = message.split_once(after).unwrap_or_else(|| panic!("{message}")).1;
        text.split(' ').next().unwrap().parse().unwrap()
    };
    let (least, whole) = (mebibytes("needs at least "), mebibytes("by this database ("));
    assert!(least + 1.0 < whole, "{message}");
    let memory = format!("-q --memory {}K", (1024.0 * (least + 0.1)).ceil());
    run("all.mgdb", &memory).fails(1);
    run("all.mgdb", "-q").ok();
    let expected = ["l.tsv", "r.tsv"].map(|name| dir.read(name));
    for memory in [&*memory, "-q"] {
        run(&databases, memory).ok();
        assert!(["l.tsv", "r.tsv"].map(|name| dir.read(name)) == expected, "{memory}");
    }
    // The databases that support reads are found in turn, too; with ignored sequences, as well.
    for options in ["", "--cov-percentile 20"] {
        let options = format!("{options} --database-report d.tsv");
        run(&databases, &format!("-q {options}")).ok();
        let expected = ["l.tsv", "r.tsv", "d.tsv"].map(|name| dir.read(name));
        run(&databases, &format!("{memory} {options}")).ok();
        assert!(["l.tsv", "r.tsv", "d.tsv"].map(|name| dir.read(name)) == expected, "{options}");
    }
    // Minimizers are counted one by one.
    run(&databases, &format!("{memory} --report-minimizer-data")).fails(1);
}

/// The locations of the parts that `db split` writes were chosen over all genomes, so together they are the whole, also
/// where features have more locations than are kept.
#[test]
fn the_parts_of_a_split_database_are_the_whole() {
    let options = "--parts 3 --max-locations 2";
    let dir = prepared(options);
    let databases = build_all(&dir, [0, 1, 2], options);
    dir.run("db split -q all.mgdb -o p{}.mgdb").ok();
    let run = |databases: &str| {
        dir.run(&format!("classify -q {databases} -1 1.fq -2 2.fq -o l.tsv --report r.tsv")).ok();
        [dir.read("l.tsv"), dir.read("r.tsv")]
    };
    let whole = run("all.mgdb");
    for parts in ["p1.mgdb p2.mgdb p3.mgdb", "p3.mgdb p1.mgdb p2.mgdb"] {
        assert!(run(parts) == whole, "{parts}");
    }
    // Databases that were built by themselves keep more.
    let lines = |text: &[Vec<u8>; 2]| -> Vec<String> {
        String::from_utf8(text[0].clone()).unwrap().lines().map(str::to_owned).collect()
    };
    let (whole, several) = (lines(&whole), lines(&run(&databases)));
    let different = whole.iter().zip(&several).filter(|(one, other)| one != other).count();
    assert!(different > 100, "{different}");
    // These are features of the family and of a genus: reads of sequences of a single genome are the same.
    let unique = whole.iter().zip(&several).filter(|(one, _)| {
        let found = one.split('\t').nth(4).unwrap();
        !found.contains(' ') && found != "0:0"
    });
    assert!(unique.clone().count() > 300);
}

#[test]
fn partial_results_of_databases_of_merganser_are_joined() {
    let dir = prepared("");
    let databases = build_all(&dir, [0, 1, 2], "");
    let reads = "-1 1.fq -2 2.fq --report-minimizer-data";
    dir.run(&format!("classify -q all.mgdb {reads} -o all.tsv --report all.kreport")).ok();
    for shard in [1, 2] {
        let options = format!("--shard {shard}/2 --partial {shard}.partial -o {shard}.tsv");
        dir.run(&format!("classify -q {databases} {reads} {options}")).ok();
    }
    dir.run("classify join -q 1.partial 2.partial --report joined.kreport").ok();
    assert_eq!(dir.read("joined.kreport"), dir.read("all.kreport"));
    assert_eq!([dir.read("1.tsv"), dir.read("2.tsv")].concat(), dir.read("all.tsv"));
    // Results of other databases are not joined with them, nor those in another order.
    for others in ["a.mgdb b.mgdb", "b.mgdb a.mgdb c.mgdb", "all.mgdb"] {
        let options = "--shard 2/2 --partial other.partial -o x.tsv";
        dir.run(&format!("classify -q {others} {reads} {options}")).ok();
        let joined = "classify join -q 1.partial other.partial --report x.kreport";
        dir.run(joined).fails(1);
    }
}

#[test]
fn species_are_estimated_with_several_databases() {
    let dir = prepared("");
    let databases = build_all(&dir, [0, 1, 2], "--bracken 100");
    let estimate = |databases: &str| {
        let bracken = "--bracken all.mgdb.100mers.kmer_distrib --bracken-output b.tsv";
        let ran = dir.run(&format!("classify {databases} 1.fq --no-map {bracken}"));
        let warned = ran.stderr.contains("a distribution of all databases together");
        ran.ok();
        (dir.read("b.tsv"), warned)
    };
    let (whole, warned) = estimate("all.mgdb");
    assert!(!warned);
    assert!(estimate(&databases) == (whole, true));
}

#[test]
fn samples_of_a_sheet_use_several_databases() {
    let dir = prepared("");
    dir.write("sheet", "one\t1.fq\ntwo\t1.fq\t2.fq\n");
    dir.run("classify -q a.mgdb b.mgdb c.mgdb --sample-sheet sheet -o {}.tsv --resume journal")
        .ok();
    dir.run("classify -q a.mgdb b.mgdb c.mgdb -1 1.fq -2 2.fq -o two").ok();
    assert_eq!(dir.read("two.tsv"), dir.read("two"));
    // The journal has all databases.
    let again = "classify a.mgdb b.mgdb --sample-sheet sheet -o {}.tsv --resume journal";
    dir.run(again).ok();
    assert_ne!(dir.read("two.tsv"), dir.read("two"));
}

#[test]
fn databases_of_merganser_that_do_not_belong_together_are_refused() {
    let dir = prepared("");
    build(&dir, "k.mgdb", "g1.fa", "-k 21");
    build(&dir, "m.mgdb", "g1.fa", "--preset metacache");
    build(&dir, "low.mgdb", "g1.fa", "--masked low-complexity");
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g1.fa").ok();
    let names = String::from_utf8(dir.read("tax/names.dmp")).unwrap();
    dir.write("tax/names.dmp", names.replace("Taxon", "Other"));
    build(&dir, "n.mgdb", "g1.fa", "");
    for (databases, code, said) in [
        ("a.mgdb k.mgdb", 1, "a.mgdb and k.mgdb cannot be used together: k is 19 and 21"),
        ("a.mgdb b.mgdb m.mgdb", 1, "together: the preset is sensitive and metacache, k is 19"),
        ("a.mgdb low.mgdb", 1, "cannot be used together: the masking"),
        (
            "a.mgdb n.mgdb",
            1,
            "a.mgdb and n.mgdb have different taxonomies: 3 of 3 taxids that both",
        ),
        ("a.mgdb k2", 2, "k2 is a database of Kraken 2, and a.mgdb is of another kind"),
        ("k2 b.mgdb a.mgdb", 2, "k2 is a database of Kraken 2, and b.mgdb is of another kind"),
        ("a.mgdb missing.mgdb", 1, "missing.mgdb: cannot open"),
        ("a.mgdb b.mgdb c.mgdb --quick", 2, "--quick requires a database of Kraken 2"),
    ] {
        let message = dir.run(&format!("classify -q {databases} 1.fq -o x.tsv")).fails(code);
        assert!(message.contains(said), "{databases}: {message}");
        assert!(!dir.path("x.tsv").exists());
    }
}

#[test]
fn differences_and_repeated_sequences_of_databases_of_merganser_are_warned_of() {
    let dir = prepared("");
    build(&dir, "again.mgdb", "g0.fa g2.fa", "");
    let nodes = String::from_utf8(dir.read("tax/nodes.dmp")).unwrap();
    dir.write("tax/nodes.dmp", nodes.replace("11\t|\t10\t|\tgenus", "11\t|\t2\t|\tgenus"));
    build(&dir, "p.mgdb", "g2.fa", "");
    let warnings = |databases: &str| {
        let ran = dir.run(&format!("classify {databases} 1.fq -o x.tsv"));
        let warnings = ran.warnings().join("\n");
        ran.ok();
        warnings
    };
    assert_eq!(warnings("a.mgdb b.mgdb c.mgdb"), "");
    let said = warnings("a.mgdb p.mgdb");
    let expected =
        "p.mgdb: 1 of the 2 taxids that earlier databases have too differ in parent or rank";
    assert!(
        said.contains(expected) && said.contains("taxid 11: its parent is '10' and '2'"),
        "{said}"
    );
    let said = warnings("a.mgdb again.mgdb c.mgdb");
    let expected = "2 sequences have the name and the length of a sequence of another database and count as further \
         sequences, first g0|kraken:taxid|21 in a.mgdb and again.mgdb";
    assert!(said.contains(expected), "{said}");
    let said = warnings("c.mgdb c.mgdb");
    assert!(
        said.contains("c.mgdb: this database is given twice, and is looked up twice"),
        "{said}"
    );
    // Genomes without reads do not change the results.
    let more = String::from_utf8(Random(9).bases(500)).unwrap();
    dir.write("more.fa", format!(">x|kraken:taxid|21\n{more}\n"));
    build(&dir, "more.mgdb", "more.fa", "");
    dir.run("classify -q a.mgdb 1.fq -o a.tsv").ok();
    dir.run("classify -q --near 0 a.mgdb 1.fq -o a.tsv").ok();
    dir.run("classify -q --near 0 a.mgdb more.mgdb 1.fq -o b.tsv").ok();
    assert_eq!(dir.read("a.tsv"), dir.read("b.tsv"));
}

/// Reads by database: of threads, shards, and runs over some of the reads, and with one database by itself.
#[test]
fn reads_are_counted_by_database() {
    let dir = prepared("");
    let run = "classify -q a.mgdb b.mgdb c.mgdb -1 1.fq -2 2.fq --no-map";
    dir.run(&format!("{run} -t 1 --database-report all.tsv --report all.kreport")).ok();
    dir.run(&format!("{run} -t 3 --database-report d.tsv")).ok();
    assert_eq!(dir.read("d.tsv"), dir.read("all.tsv"));
    let table = |name: &str| String::from_utf8(dir.read(name)).unwrap();
    let all = table("all.tsv");
    let head = "taxid\trank\tname\treads\town_reads\ta_reads\ta_own_reads\tb_reads\tb_own_reads\tc_reads\tc_own_reads";
    assert_eq!(all.lines().next(), Some(head));
    // The rows are those of the report.
    let report = table("all.kreport");
    let rows = report.lines().filter(|row| !row.contains("unclassified")).map(|row| {
        let cells: Vec<&str> = row.split('\t').map(str::trim).collect();
        [cells[4], cells[3], cells[5], cells[1], cells[2]].join("\t") + "\t"
    });
    let rows: Vec<String> = rows.collect();
    assert_eq!(rows.len(), all.lines().count() - 1);
    assert!(all.lines().skip(1).zip(&rows).all(|(line, row)| line.starts_with(row)), "{all}");
    // Species have one genome, so one database supports all of their reads, and the others none; above, all do.
    let mut species = 0;
    for line in all.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let numbers: Vec<u64> = cells[3..].iter().map(|cell| cell.parse().unwrap()).collect();
        let by_clade = [numbers[2], numbers[4], numbers[6]];
        if cells[1] == "S" {
            let taxid: usize = cells[0].parse().unwrap();
            let of = [0, 1, 2, 0, 1, 1][taxid - 21];
            let expected: [u64; 3] =
                std::array::from_fn(|at| if at == of { numbers[0] } else { 0 });
            assert_eq!(by_clade, expected, "{line}");
            species += 1;
        } else {
            assert!(by_clade.iter().all(|&reads| reads <= numbers[0]), "{line}");
            assert!(by_clade.iter().sum::<u64>() >= numbers[0], "{line}");
        }
    }
    assert_eq!(species, 6);
    for shard in [1, 2] {
        let options = format!("--shard {shard}/2 --partial {shard}.partial");
        dir.run(&format!("{run} {options} --database-report {shard}.tsv")).ok();
    }
    let join = "classify join -q 1.partial 2.partial";
    dir.run(&format!("{join} --database-report joined.tsv --report joined.kreport")).ok();
    assert_eq!(dir.read("joined.tsv"), dir.read("all.tsv"));
    assert_eq!(dir.read("joined.kreport"), dir.read("all.kreport"));
    assert_ne!(dir.read("1.tsv"), dir.read("all.tsv"));
    // Whole runs over some of the reads.
    for mate in [1, 2] {
        let options = format!("--no-map --database-report {mate}.tsv --partial {mate}.run");
        dir.run(&format!("classify -q a.mgdb b.mgdb {mate}.fq {options}")).ok();
    }
    dir.run("classify -q a.mgdb b.mgdb 1.fq 2.fq --no-map --database-report all.tsv").ok();
    dir.run("classify join -q 1.run 2.run --database-report joined.tsv").ok();
    assert_eq!(dir.read("joined.tsv"), dir.read("all.tsv"));
    dir.run("report merge -q --format kreport 1.run 2.run -o merged.kreport").ok();
    dir.run("classify -q a.mgdb b.mgdb 2.fq --no-map --partial without.run").ok();
    let message = dir.run("classify join -q 1.run without.run --database-report x.tsv").fails(1);
    assert!(message.contains("lacks the reads by database"), "{message}");
    // One database supports all classified reads; features are looked up again for other options, too.
    let options = "--confidence 0.2 --min-fraction 0.1 --database-report one.tsv";
    dir.run(&format!("classify -q a.mgdb 1.fq --no-map {options}")).ok();
    for line in table("one.tsv").lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!((cells[3], cells[4]), (cells[5], cells[6]), "{line}");
    }
}

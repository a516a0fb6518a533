//! `merganser report`: conversion, merging and filtering of reports, ours and those of other programs.

use std::collections::BTreeMap;

use super::reports::kreport;
use super::world::World;
use merganser_test_support::Dir;
use merganser_test_support::tools::installed;

const ALL: &str = "--no-map --report r.kreport --mpa r.mpa --krona r.krona -q";

/// Returns a world whose genomes have no strains, so that reports contain no more than the lines.
fn without_strains() -> World {
    let world = World::built();
    world.dir.write("ids", "a.1|kraken:taxid|13\t11\n");
    world.dir.run("build -q --taxonomy tax --map ids -o refs.mgdb genomes").ok();
    world
}

/// Every output of `classify` can also be made from its report, with the same bytes.
#[test]
fn conversions_are_those_of_classify() {
    let world = without_strains();
    let dir = &world.dir;
    let [one, _] = merganser_test_support::small_reads();
    let kraken = merganser_test_support::root().join("tests/data/kraken2").display().to_string();
    let genomes =
        merganser_test_support::root().join("tests/data/genomes/SARS-CoV-2_Wuhan-Hu-1.fna.gz");
    let genomes = genomes.display().to_string();
    let of_kraken = format!("{kraken} {} {genomes}", one.display());
    for run in [
        format!("refs.mgdb -1 1.fq -2 2.fq {ALL}"),
        format!("refs.mgdb 1.fq {ALL} --report-zero-counts --report-minimizer-data"),
        format!("{of_kraken} {ALL}"),
        format!("{of_kraken} {ALL} --report-zero-counts"),
    ] {
        dir.run(&format!("classify {run}")).ok();
        dir.run("report krona r.kreport -o k").ok();
        dir.run("report mpa r.kreport -o m").ok();
        assert!(dir.read("k") == dir.read("r.krona"), "{run}");
        assert!(dir.read("m") == dir.read("r.mpa") && !dir.read("m").is_empty(), "{run}");
    }
    // With strains, the report has more detail than the lines, but the same clades.
    dir.run("build -q --taxonomy tax -o refs.mgdb genomes").ok();
    dir.run(&format!("classify refs.mgdb -1 1.fq -2 2.fq {ALL}")).ok();
    assert_eq!(dir.run("report mpa r.kreport").ok().into_bytes(), dir.read("r.mpa"));
    let krona = dir.run("report krona r.kreport").ok();
    assert!(krona.contains("\tEscherichia coli\tEscherichia coli K-12\n"), "{krona}");
}

/// Every kind of input and output: plain, compressed, stdin, stdout.
#[test]
fn reports_come_compressed_and_from_stdin() {
    let world = World::built();
    let dir = &world.dir;
    dir.run(&format!("classify refs.mgdb -1 1.fq -2 2.fq {ALL}")).ok();
    let expected = dir.run("report mpa r.kreport").ok();
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --report r.kreport.gz -q").ok();
    assert_eq!(dir.run("report mpa r.kreport.gz").ok(), expected);
    let report = dir.read("r.kreport");
    assert_eq!(dir.run_with(["report", "mpa", "-"], &report).ok(), expected);
    dir.run("report mpa r.kreport -o m.gz").ok();
    assert_eq!(merganser_test_support::gunzip(&dir.path("m.gz")), expected.as_bytes());
    dir.run("report krona r.kreport r.kreport.gz -o {}.krona").fails(1);
    std::fs::copy(dir.path("r.kreport"), dir.path("s.kreport")).unwrap();
    dir.run("report krona r.kreport s.kreport -o of_{}.krona").ok();
    assert!(dir.read("of_r.krona") == dir.read("of_s.krona"));
    let message = dir.run("report krona r.kreport s.kreport").fails(2);
    assert!(message.contains("{}"), "{message}");
    std::fs::create_dir(dir.path("other")).unwrap();
    std::fs::copy(dir.path("r.kreport"), dir.path("other/r.kreport")).unwrap();
    let message = dir.run("report mpa r.kreport other/r.kreport").fails(2);
    assert!(message.contains("two reports are named r.kreport, "), "{message}");
    let message = dir.run_with(["report", "mpa", "-"], b"no report\n").fails(1);
    assert!(message.starts_with("error: stdin: line 1: 1 column where"), "{message}");
    let message = dir.run("report mpa - -").fails(1);
    assert!(message.contains("standard input"), "{message}");
}

/// Reports of Debian's Kraken 2.1.2, which lack rank codes of root and domains, are accepted.
#[test]
fn reports_of_kraken_2_are_read() {
    if !installed(&["kraken2"]) {
        return;
    }
    let dir = Dir::new();
    let data = merganser_test_support::root().join("tests/data");
    let [database, genome] = ["kraken2", "genomes/SARS-CoV-2_Wuhan-Hu-1.fna.gz"]
        .map(|name| data.join(name).display().to_string());
    for options in ["", "--report-zero-counts", "--report-minimizer-data"] {
        merganser_test_support::tools::shell(
            dir.root(),
            &format!(
                "kraken2 --db {database} --output - --report theirs {options} {genome} 2> /dev/null"
            ),
        );
        dir.run(&format!("classify {database} {genome} --no-map --report ours {options} -q")).ok();
        for verb in ["mpa", "krona"] {
            let theirs = dir.run(&format!("report {verb} theirs")).ok();
            assert_eq!(theirs, dir.run(&format!("report {verb} ours")).ok(), "{verb} {options}");
        }
    }
}

/// A damaged report, or another file, is refused in one line that says what is wrong and where.
#[test]
fn damaged_reports_are_refused() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq -o lines.tsv --report r.kreport -q").ok();
    let sound = String::from_utf8(dir.read("r.kreport")).unwrap();
    let mut said = String::new();
    let mut refuse = |bytes: &[u8]| {
        dir.write("bad.kreport", bytes);
        for verb in
            ["mpa bad.kreport -o o", "krona bad.kreport -o o", "mpa r.kreport bad.kreport -o o"]
        {
            let message = dir.run(&format!("report {verb}")).fails(1);
            assert!(message.starts_with("error: bad.kreport: "), "{message}");
            assert!(!dir.path("o").exists(), "{message}");
            if verb.starts_with("mpa bad") {
                said += &message;
            }
        }
    };
    refuse(&dir.read("lines.tsv"));
    refuse(&dir.read("1.fq"));
    refuse(&dir.read("refs.mgdb"));
    refuse(sound.replace("      ", "     ").as_bytes());
    refuse(sound.replace("\tG\t", "\tgenus\t").as_bytes());
    refuse(format!("{sound}{}", sound.lines().last().unwrap()).as_bytes());
    refuse(&sound.as_bytes()[..sound.len() / 2]);
    refuse(sound.trim_end().as_bytes());
    let run = "classify refs.mgdb -1 1.fq -2 2.fq --no-map --report whole.gz -q";
    dir.run(run).ok();
    let gz = dir.read("whole.gz");
    refuse(&gz[..gz.len() - 40]);
    insta::assert_snapshot!(said);
}

/// Returns the table of `combine_kreports`, computed row by row from the reports.
fn combined(reports: &[&str]) -> Vec<String> {
    let mut rows: Vec<(String, usize, [String; 2])> = Vec::new();
    let mut reads: BTreeMap<(String, usize), [u64; 2]> = BTreeMap::new();
    let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (sample, report) in reports.iter().enumerate() {
        let mut path: Vec<String> = Vec::new();
        for line in report.lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            let name = cells[cells.len() - 1];
            let depth = (name.len() - name.trim_start().len()) / 2;
            let taxid = cells[cells.len() - 2].to_owned();
            reads.insert((taxid.clone(), sample), [cells[1], cells[2]].map(|n| n.parse().unwrap()));
            path.truncate(depth);
            if !rows.iter().any(|row| row.0 == taxid) {
                let above = path.last().cloned().unwrap_or_default();
                children.entry(above).or_default().push(taxid.clone());
                let rank = cells[cells.len() - 3].to_owned();
                rows.push((taxid.clone(), depth, [rank, name.to_owned()]));
            }
            path.push(taxid);
        }
    }
    let sum = |taxid: &str, which: usize| -> u64 {
        (0..reports.len())
            .filter_map(|sample| reads.get(&(taxid.to_owned(), sample)))
            .map(|reads| reads[which])
            .sum()
    };
    let total: u64 = rows.iter().map(|row| sum(&row.0, 1)).sum();
    let mut text = Vec::new();
    let mut stack = vec!["1".to_owned(), "0".to_owned()];
    while let Some(taxid) = stack.pop() {
        let (_, _, [rank, name]) = rows.iter().find(|row| row.0 == taxid).unwrap();
        let (clade, own) = (sum(&taxid, 0), sum(&taxid, 1));
        let mut line = format!("{:.4}\t{clade}\t{own}", clade as f64 / total as f64 * 100.0);
        for sample in 0..reports.len() {
            let [clade, own] = reads.get(&(taxid.clone(), sample)).copied().unwrap_or_default();
            line += &format!("\t{clade}\t{own}");
        }
        text.push(format!("{line}\t{rank}\t{taxid}\t{name}"));
        let mut next = children.remove(&taxid).unwrap_or_default();
        next.sort_by_key(|taxid| sum(taxid, 0));
        stack.extend(next);
    }
    text
}

/// Returns a world and the reports of three samples; the second one lacks most taxa.
fn samples() -> (World, [String; 3]) {
    let world = World::built();
    let dir = &world.dir;
    let [one, two] = world.pairs(300, 9);
    dir.write(
        "few.fq",
        two.lines().take(4 * 5).fold(String::new(), |text, line| text + line + "\n"),
    );
    dir.write("c.fq", one);
    for (reads, name) in [("1.fq", "a"), ("few.fq", "b"), ("c.fq", "c")] {
        dir.run(&format!("classify refs.mgdb {reads} --no-map --report {name}.kreport -q")).ok();
    }
    let read = |name| String::from_utf8(dir.read(&format!("{name}.kreport"))).unwrap();
    let reports = ["a", "b", "c"].map(read);
    (world, reports)
}

const THREE: &str = "a.kreport b.kreport c.kreport";

#[test]
fn merged_reports_are_the_table_of_combine_kreports() {
    let (world, reports) = samples();
    let dir = &world.dir;
    let rows = combined(&reports.each_ref().map(|text| &text[..]));
    assert!(rows.len() > 10 && rows.iter().any(|row| row.contains("\t0\t0\t")), "{rows:?}");
    let total: u64 = 700 + 5 + 300;
    let head = format!("#Number of Samples: 3\n#Total Number of Reads: {total}\n");
    let files = "#S1\ta.kreport\n#S2\tb.kreport\n#S3\tc.kreport\n";
    let columns = "#perc\ttot_all\ttot_lvl\tS1_all\tS1_lvl\tS2_all\tS2_lvl\tS3_all\tS3_lvl\t\
                   lvl_type\ttaxid\tname\n";
    let rows = rows.join("\n") + "\n";
    let merge = |options: &str| dir.run(&format!("report merge {THREE} {options}")).ok();
    assert_eq!(merge(""), format!("{head}{files}{columns}{rows}"));
    assert_eq!(merge("--no-headers"), rows);
    let named = merge("--sample-names x,y,z");
    assert!(named.contains("#x\ta.kreport\n#y\tb.kreport\n#z\tc.kreport\n#perc\ttot_all\ttot_lvl\tx_all\tx_lvl\ty_all"), "{named}");
    let short = merge("--only-combined --no-headers");
    let cut = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        [&cells[..3], &cells[9..]].concat().join("\t")
    };
    assert_eq!(short, rows.lines().map(|line| cut(line) + "\n").collect::<String>());
    // The order of samples does not change the rows, except that of taxa with equally many reads.
    dir.run(&format!("report merge {THREE} -o t.gz")).ok();
    assert_eq!(merganser_test_support::gunzip(&dir.path("t.gz")), merge("").into_bytes());
}

/// The merged report is that of all reads as one sample.
#[test]
fn the_merged_report_is_that_of_all_reads() {
    let (world, reports) = samples();
    let dir = &world.dir;
    dir.run("classify refs.mgdb 1.fq few.fq c.fq --no-map --report all --krona k --mpa m -q").ok();
    dir.run(&format!("report merge {THREE} --format kreport -o sum")).ok();
    assert_eq!(String::from_utf8(dir.read("sum")), String::from_utf8(dir.read("all")));
    kreport(&String::from_utf8(dir.read("sum")).unwrap());
    assert_eq!(dir.run("report mpa sum").ok().into_bytes(), dir.read("m"));
    dir.run("report merge a.kreport --format kreport -o same").ok();
    assert_eq!(dir.read("same"), reports[0].as_bytes());
    let minimizers = "--no-map --report-minimizer-data -q";
    dir.run(&format!("classify refs.mgdb c.fq {minimizers} --report d.kreport")).ok();
    let ran = dir.run("report merge c.kreport d.kreport --format kreport");
    assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("warning: minimizers are left out: "), "{}", ran.stderr);
    assert!(kreport(&ran.ok()).iter().all(|row| row.minimizers.is_none()));
}

#[test]
fn reports_that_do_not_go_together_are_refused() {
    let (world, reports) = samples();
    let dir = &world.dir;
    let moved = reports[0].replace("\t12\t", "\t0\t").replace("\t21\t", "\t12\t");
    let moved = moved.replace("S\t0\t", "S\t21\t");
    dir.write("moved", moved);
    let message = dir.run("report merge a.kreport moved -o o").fails(1);
    assert!(message.contains("reports of different taxonomies cannot be added up"), "{message}");
    dir.write("renamed", reports[0].replace("Pseudomonadota", "Proteobacteria"));
    let ran = dir.run("report merge --no-headers a.kreport renamed");
    assert!(ran.stderr.contains("taxid 3 is Pseudomonadota and Proteobacteria"), "{}", ran.stderr);
    assert!(!ran.ok().contains("Proteobacteria"));
    for args in [
        "merge a.kreport --sample-names x,y",
        "merge a.kreport --format kreport --no-headers",
        "filter a.kreport",
        "filter a.kreport --exclude --min-reads 3",
        "filter a.kreport --min-percent 101",
    ] {
        dir.run(&format!("report {args}")).fails(2);
    }
}

#[test]
fn filtered_reports_are_reports_of_their_reads() {
    let (world, _) = samples();
    let dir = &world.dir;
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --report r --report-minimizer-data -q")
        .ok();
    let whole = kreport(&String::from_utf8(dir.read("r")).unwrap());
    let of = |taxid: u32| whole.iter().find(|row| row.taxid == taxid).unwrap();
    let filter = |options: &str| {
        let text = dir.run(&format!("report filter r {options}")).ok();
        kreport(&text)
    };
    let genus = filter("--taxid 10");
    assert!((genus[0].taxid, genus[0].clade, genus[0].own) == (1, of(10).clade, 0));
    assert!(genus.iter().all(|row| ![0, 20, 21].contains(&row.taxid)));
    let rest = filter("--taxid 0,10 --exclude");
    assert_eq!(rest[0].clade, of(1).clade - of(10).clade);
    assert!(rest.iter().any(|row| row.taxid == 21) && rest[0].percent == 100.0);
    let species = filter("--rank S1 --exclude --min-reads 1");
    assert!(species.iter().all(|row| row.code != "S1"));
    let folded = filter("--min-percent 20");
    assert_eq!(folded[0].clade, of(0).clade);
    assert!(folded.iter().all(|row| row.percent >= 20.0 || row.depth == 0));
    assert_eq!(folded.iter().map(|row| row.own).sum::<u64>(), 700);
    assert!(folded.iter().all(|row| row.minimizers.is_some()));
    let ran = dir.run("report filter r --taxid 12,999");
    assert_eq!(ran.warnings().len(), 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("r: not in the report: 1 taxid, first 999"), "{}", ran.stderr);
    let [by_name, by_code] =
        ["genus", "G"].map(|rank| dir.run(&format!("report filter r --rank {rank}")).ok());
    assert_eq!(by_name, by_code);
    let unknown = dir.run("report filter r --rank X");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("'X' for '--rank <RANK>': give a name"), "{}", unknown.stderr);
    let ran = dir.run("report filter r --rank K");
    assert!(ran.stderr.contains("r: no taxon of the report has rank K"), "{}", ran.stderr);
    for rank in ["genus", "G"] {
        dir.run(&format!("report plot --chart taxa --rank {rank} r -o {rank}.svg")).ok();
    }
    assert!(dir.read("genus.svg") == dir.read("G.svg"));
    let unknown = dir.run("report plot --chart taxa --rank x r -o x.svg").fails(2);
    assert!(unknown.contains("--rank x: give a name"), "{unknown}");
    let none = dir.run("report filter a.kreport --taxid 999").ok();
    assert_eq!(none, "  0.00\t0\t0\tR\t1\troot\n");
    dir.write("none", none);
    dir.run("report merge none a.kreport").ok();
}

/// Names of taxa are bytes.
#[test]
fn names_of_taxa_survive_everything() {
    let dir = Dir::new();
    let report = b"100.00\t4\t1\tR\t1\troot\n 75.00\t3\t3\tD\t2\t  B\xe9 | \xff\n".to_vec();
    dir.write("r.kreport", &report);
    let run = |args: &str| {
        let ran = dir.run(&format!("report {args}"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    assert_eq!(run("filter r.kreport --taxid 1"), report);
    assert_eq!(run("merge --format kreport r.kreport"), report);
    assert_eq!(run("mpa r.kreport"), b"d__B\xe9 | \xff\t3\n");
    let krona = run("krona r.kreport");
    assert!(krona.ends_with(b"\n1\n3\tB\xe9 | \xff\n"));
    assert!(run("merge r.kreport r.kreport --sample-names a,b").ends_with(b"\t  B\xe9 | \xff\n"));
}

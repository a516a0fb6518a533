//! `merganser report`: what becomes of reports, ours and those of other programs.

use super::world::World;
use crate::support::Dir;
use crate::support::tools::installed;

const ALL: &str = "--no-map --report r.kreport --mpa r.mpa --krona r.krona -q";

/// A world whose genomes have no strains, so that reports say no more than the lines.
fn without_strains() -> World {
    let world = World::built();
    world.dir.write("ids", "a.1\t11\n");
    world.dir.run("build -q --taxonomy tax --map ids -o refs.mgdb genomes").ok();
    world
}

/// Every byte that `classify` writes comes of its report, too.
#[test]
fn conversions_are_those_of_classify() {
    let world = without_strains();
    let dir = &world.dir;
    let [one, _] = crate::support::small_reads();
    let kraken = crate::support::root().join("tests/data/kraken2").display().to_string();
    let genomes = crate::support::root().join("tests/data/genomes/SARS-CoV-2_Wuhan-Hu-1.fna.gz");
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
    // With strains, the report says more of single reads than the lines do, and as much of clades.
    dir.run("build -q --taxonomy tax -o refs.mgdb genomes").ok();
    dir.run(&format!("classify refs.mgdb -1 1.fq -2 2.fq {ALL}")).ok();
    assert_eq!(dir.run("report mpa r.kreport").ok().into_bytes(), dir.read("r.mpa"));
    let krona = dir.run("report krona r.kreport").ok();
    assert!(krona.contains("\tEscherichia coli\tEscherichia coli K-12\n"), "{krona}");
}

/// By any way in, and any way out.
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
    assert_eq!(crate::support::gunzip(&dir.path("m.gz")), expected.as_bytes());
    dir.run("report krona r.kreport r.kreport.gz -o {}.krona").fails(1);
    std::fs::copy(dir.path("r.kreport"), dir.path("s.kreport")).unwrap();
    dir.run("report krona r.kreport s.kreport -o of_{}.krona").ok();
    assert!(dir.read("of_r.krona") == dir.read("of_s.krona"));
    let message = dir.run("report krona r.kreport s.kreport").fails(2);
    assert!(message.contains("{}"), "{message}");
    let message = dir.run("report mpa - -").fails(1);
    assert!(message.contains("standard input"), "{message}");
}

/// Kraken 2.1.2 of Debian leaves the letters of root and domain out.
#[test]
fn reports_of_kraken_2_are_read() {
    if !installed(&["kraken2"]) {
        return;
    }
    let dir = Dir::new();
    let data = crate::support::root().join("tests/data");
    let [database, genome] = ["kraken2", "genomes/SARS-CoV-2_Wuhan-Hu-1.fna.gz"]
        .map(|name| data.join(name).display().to_string());
    for options in ["", "--report-zero-counts", "--report-minimizer-data"] {
        crate::support::tools::shell(
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

/// What is damaged, or no report, is one line that says what and where.
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
    refuse(b"");
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

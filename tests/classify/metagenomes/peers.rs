//! Reports of Kraken 2 and ours for the same reads.

use super::reports::{Row, kraken2_report, kreport};
use super::world::{GENOMES, World, lines};
use merganser_test_support::tools::{installed, shell};

/// Both reports have the same structure, and for easy reads the numbers agree.
#[test]
fn reports_have_the_shape_of_kraken2s() {
    if !installed(&["kraken2", "kraken2-build"]) {
        return;
    }
    let world = World::built();
    let dir = &world.dir;
    shell(
        dir.root(),
        "mkdir -p k2/taxonomy && cp tax/*.dmp k2/taxonomy && \
           touch k2/taxonomy/x.accession2taxid",
    );
    for (name, _) in GENOMES {
        shell(
            dir.root(),
            &format!("kraken2-build --db k2 --no-masking --add-to-library genomes/{name}.fa 2>&1"),
        );
    }
    shell(dir.root(), "kraken2-build --db k2 --build --threads 1 2>&1");
    let out = "--report k --report-minimizer-data --output k.tsv";
    let theirs = |options: &str| {
        shell(dir.root(), &format!("kraken2 --db k2 --paired {options} 1.fq 2.fq 2>&1"));
        String::from_utf8(dir.read("k")).unwrap()
    };
    let ours = |options: &str| {
        dir.run(&format!("classify refs.mgdb -1 1.fq -2 2.fq -q -o o.tsv --report o {options}"))
            .ok();
        String::from_utf8(dir.read("o")).unwrap()
    };
    for (theirs, ours) in [
        (theirs("--report k --output k.tsv"), ours("")),
        (theirs(out), ours("--report-minimizer-data")),
        (theirs("--report k --output k.tsv --report-zero-counts"), ours("--report-zero-counts")),
    ] {
        let (theirs, ours) = (kraken2_report(&theirs), kreport(&ours));
        let shape = |rows: &[Row]| -> Vec<(u32, usize, String, bool)> {
            let shape =
                |row: &Row| (row.taxid, row.depth, row.name.clone(), row.minimizers.is_some());
            // A strain has a row only if reads belong to it alone.
            let mut rows: Vec<_> = rows.iter().map(shape).filter(|row| row.0 != 13).collect();
            rows.sort();
            rows
        };
        assert_eq!(shape(&theirs), shape(&ours));
        for row in &theirs {
            let Some(own) = ours.iter().find(|other| other.taxid == row.taxid) else { continue };
            assert!(row.code.is_empty() || row.code == own.code, "{row:?} {own:?}");
            let clade = if row.taxid == 13 { row.clade } else { own.clade };
            assert!(row.clade.abs_diff(clade) <= 35, "{row:?} and ours {clade}");
        }
    }
    // Lines have the same five columns, reads and lengths.
    let texts = ["k.tsv", "o.tsv"].map(|name| String::from_utf8(dir.read(name)).unwrap());
    let heads = texts.each_ref().map(|text| -> Vec<(String, String)> {
        let cells = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        cells.map(|cells| (cells[1].to_owned(), cells[3].to_owned())).collect()
    });
    assert_eq!(heads[0], heads[1]);
    assert_eq!(lines(&texts[1]).len(), 700);
    // The mpa table has the same lineages.
    let mpa = |text: &str| -> Vec<String> {
        let mut paths: Vec<String> =
            text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect();
        paths.sort();
        paths
    };
    let theirs = theirs("--report k --output k.tsv --use-mpa-style");
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq -q --no-map --mpa o.mpa").ok();
    assert_eq!(mpa(&theirs), mpa(&String::from_utf8(dir.read("o.mpa")).unwrap()));
}

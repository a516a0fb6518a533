//! Kraken 2 databases.

use std::fs;

use super::{Small, cases, record, run, sound, warned};
use merganser_test_support::Dir;
use merganser_test_support::tools::{installed, shell};

/// Nodes of taxo.k2d that kraken2-build does not write are ignored (case 01).
#[test]
fn unreached_nodes_of_kraken2() {
    let Some(cases) = cases("classify/01-k2-orphan-taxids") else { return };
    let dir = Dir::new();
    let ran = run(&dir, &cases, "classify $C $C/z1.fa --report k");
    assert!(
        ran.stderr.contains("nodes of taxo.k2d are ignored, as Kraken 2 does"),
        "{}",
        ran.stderr
    );
    assert!(ran.warnings().is_empty(), "{}", ran.stderr);
    assert_eq!(ran.ok(), "C\tr1\t64320\t150\t64320:116 \n".replace("116 ", "116"));
    let found = run(&dir, &cases, "db info $C").ok();
    assert!(!found.contains("unreached       0"), "{found}");
    run(&dir, &cases, "db taxa $C").ok();
    run(&dir, &cases, "db verify $C").ok();
    // A cell that refers to such a node is damage, which both a read with this minimizer and `verify` reveal.
    fs::create_dir(dir.path("k2")).unwrap();
    for name in ["opts.k2d", "taxo.k2d", "hash.k2d"] {
        fs::copy(cases.join(name), dir.path(&format!("k2/{name}"))).unwrap();
    }
    let mut table = dir.read("k2/hash.k2d");
    let value_bits = u32::from_le_bytes(table[24..28].try_into().unwrap());
    let mask = (1u32 << value_bits) - 1;
    for cell in table[32..].chunks_exact_mut(4) {
        let word = u32::from_le_bytes((&*cell).try_into().unwrap());
        if word & mask != 0 {
            cell.copy_from_slice(&(word | mask).to_le_bytes());
        }
    }
    dir.write("k2/hash.k2d", table);
    for command in ["classify -q k2 $C/z1.fa", "db verify k2"] {
        let said = run(&dir, &cases, command).fails(1);
        assert!(said.contains("hash.k2d: a cell has taxon "), "{said}");
    }
}

/// Missing and duplicate names in a taxonomy are reported; Kraken 2 databases are those of kraken2-build.
#[test]
fn names_that_are_missing_or_doubled() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a|kraken:taxid|101", 0), ("b|kraken:taxid|102", 1)]);
    let names = String::from_utf8(dir.read("tax/names.dmp")).unwrap();
    let second = record(&["102", "Second", "", "scientific name"]);
    let cut: String = names.lines().take(4).map(|line| format!("{line}\n")).collect();
    let missing = |count: &str, first: &str| {
        format!(
            "warning: tax/names.dmp: {count} of 5 taxa have no scientific name in it, first taxid {first}: is \
             the file truncated? Download it again"
        )
    };
    let doubled = "warning: tax/names.dmp: 1 lines have a further scientific name of a taxon, first line 6 \
                   (taxid 102): the last one is used, as Kraken 2 does; remove the wrong lines";
    let kraken = "build --format kraken2 --masked none --taxonomy tax -o k2 a.fa";
    let own = "build --taxonomy tax -o x.mgdb a.fa";
    for (text, warning) in [
        (String::new(), missing("5", "1")),
        (cut, missing("1", "102")),
        (format!("{names}{second}"), doubled.to_owned()),
    ] {
        dir.write("tax/names.dmp", &text);
        assert_eq!(warned(dir, kraken), warning);
        if warning == doubled {
            let said = dir.run(own).fails(1);
            assert!(
                said.contains(
                    "tax/names.dmp: line 6: taxid 102 has a second scientific name: remove the wrong line"
                ),
                "{said}"
            );
            let taxa = dir.run("db taxa k2").ok();
            assert!(taxa.contains("\tSecond\t") && !taxa.contains("\tt102\t"), "{taxa}");
        } else {
            assert_eq!(warned(dir, own), warning);
        }
        if installed(&["kraken2-build"]) {
            shell(
                dir.root(),
                "rm -rf kraken; mkdir kraken; cp -r tax kraken/taxonomy; \
                 kraken2-build --db kraken --no-masking --add-to-library a.fa >log 2>&1; \
                 kraken2-build --db kraken --build --threads 1 >log 2>&1",
            );
            // The options contain bytes that kraken2-build leaves uninitialized, so they are not compared.
            for file in ["taxo.k2d", "hash.k2d"] {
                let [ours, theirs] = ["k2", "kraken"].map(|db| dir.read(&format!("{db}/{file}")));
                assert!(ours == theirs, "{file}: {warning}");
            }
        }
    }
    // Synonyms are not duplicate names.
    dir.write("tax/names.dmp", format!("{names}{}", record(&["102", "Second", "", "synonym"])));
    sound(dir, kraken);
    sound(dir, own);
}

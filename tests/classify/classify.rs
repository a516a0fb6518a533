//! `build`, `classify` and `db` on simulated genomes.

use merganser_test_support::two_species::prepared;

#[test]
fn reads_get_their_taxa_in_order_for_any_threads() {
    let dir = prepared();
    let lines = dir.run("classify refs.mgdb -1 1.fq -2 2.fq --report one --threads 1").ok();
    assert_eq!(lines.lines().count(), 600);
    for (number, line) in lines.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        let (state, taxid) = [("C", "11"), ("C", "12"), ("U", "0")][number % 3];
        assert_eq!(cells[..4], [state, &format!("r{number}"), taxid, "100|100"], "{line}");
        assert_eq!(cells[4] == "0:0", state == "U", "{line}");
    }
    let again = dir.run("classify refs.mgdb -1 1.fq -2 2.fq --report two --threads 3").ok();
    assert_eq!(lines, again);
    assert_eq!(dir.read("one"), dir.read("two"));
    let report = String::from_utf8(dir.read("one")).unwrap();
    assert!(report.contains(" 33.33\t200\t200\tU\t0\tunclassified\n"), "{report}");
    assert!(report.contains(" 33.33\t200\t200\tS\t11\t      One\n"), "{report}");
    assert_eq!(dir.run("db verify refs.mgdb").ok(), "refs.mgdb: ok\n");
}

#[test]
fn mates_out_of_step_and_damage_are_errors() {
    let dir = prepared();
    let short = String::from_utf8(dir.read("2.fq")).unwrap();
    let lines: Vec<&str> = short.lines().collect();
    dir.write("short.fq", lines[..2396].join("\n") + "\n");
    dir.write("shifted.fq", lines[4..].join("\n") + "\n");
    dir.write("empty.fq", "");
    let step = dir.run("classify refs.mgdb -1 1.fq -2 short.fq -o out").fails(1);
    assert!(step.contains("short.fq: ends after 599 records"), "{step}");
    let names = dir.run("classify refs.mgdb -1 1.fq -2 shifted.fq -o out").fails(1);
    assert!(names.contains("record 1 is r0/1"), "{names}");
    dir.run("build --taxonomy none -o x.mgdb g0.fa").fails(1);
    assert_eq!(dir.run("classify refs.mgdb empty.fq").ok(), "");
    let mut bytes = dir.read("refs.mgdb");
    dir.write("cut.mgdb", &bytes[..bytes.len() - 1]);
    dir.run("classify cut.mgdb 1.fq -o out").fails(1);
    bytes[4100] ^= 1;
    dir.write("bad.mgdb", &bytes);
    dir.run("db verify bad.mgdb").fails(1);
    assert!(!dir.path("out").exists() && !dir.path("x.mgdb").exists());
}

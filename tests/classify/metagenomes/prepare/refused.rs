//! Inputs that `db prepare` refuses, and manifests that builds refuse.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::{HEPATITIS, LAMBDA, downloads, known, summary, summary_line};
use merganser_test_support::tools::shell;

#[test]
fn what_is_wrong_is_named() {
    let dir = downloads();
    fs::create_dir_all(dir.path("bare/empty")).unwrap();
    fs::copy(dir.path(LAMBDA), dir.path("bare/GCF_000840245.1_genomic.fna.gz")).unwrap();
    dir.write("list", summary() + "GCF_000000003.1\tx\n");
    dir.write("page", "<!DOCTYPE html>\n");
    dir.write("sums", "# MD5\nno sum\n");
    dir.write("precious", "mine\n");
    dir.write("other", "x\n");
    dir.write("other.part", "x\n");
    let before = dir.names();
    for (args, code, message) in [
        (
            "bare -o o",
            2,
            "no list of assemblies (assembly_summary*.txt, assembly_data_report.jsonl)",
        ),
        ("bare --assembly-summary list -o o", 1, "list: line 7: no taxid in column 6"),
        (
            "bare --assembly-summary page -o o",
            1,
            "page: not a text of lines, but a web page (HTML)",
        ),
        ("bare --assembly-summary none -o o", 1, "none: no such file or directory"),
        ("refseq --md5 sums -o o", 1, "sums: line 2: not MD5<blank><blank>FILE"),
        ("refseq --taxonomy none -o o", 1, "none: no such folder or file"),
        ("refseq -o -", 2, "a manifest cannot be written to stdout: give -o FILE"),
        (
            "refseq -o precious",
            1,
            "precious: would be replaced, but it is not a whole manifest (no",
        ),
        ("refseq -o other", 1, "other: would be replaced, but"),
        ("refseq -o none/o", 1, "none: no such file or directory"),
        ("refseq -o /dev/full", 1, "/dev/full: a manifest must be a regular file"),
        ("none -o o", 1, "none: no such file or directory"),
        ("list -o o", 1, "list: not a folder: name the one that the genomes were downloaded to"),
        ("bare/empty -o o", 1, "bare/empty: no genome in this folder"),
        (
            "refseq ./refseq/viral -o o",
            1,
            "./refseq/viral: is in refseq, which is given as well: give",
        ),
        ("refseq -o o --missing o", 1, "o: two outputs cannot go to the same file"),
        ("refseq -o o --missing o.part", 1, "o.part: two outputs cannot go to the same file"),
    ] {
        let said = dir.run(&format!("db prepare {args} -q")).fails(code);
        assert!(said.starts_with(&format!("error: {message}")), "{args}: {said}");
        assert_eq!(dir.names(), before, "{args}");
    }
    // The journal stays, so that genomes need not be read again.
    let said = dir.run("db prepare refseq -q -o o --missing /dev/full").fails(1);
    assert_eq!(said, "error: /dev/full: cannot write: no space left on device\n");
    fs::remove_file(dir.path("o.part")).unwrap();
    assert_eq!(dir.names(), before);
    dir.write("bare/assembly_summary.txt", summary_line("GCF_000000003.1", 5, 5, "", ""));
    let said = dir.run("db prepare bare -o o").fails(1);
    let start =
        "error: none of the 1 genomes has a taxon, first bare/GCF_000840245.1_genomic.fna.gz: on";
    assert!(said.starts_with(start), "{said}");
    dir.run("db prepare refseq -q -o o.tsv").ok();
    dir.write("o.tsv.part", "mine\n");
    let said = dir.run("db prepare refseq -q -o o.tsv").fails(1);
    assert!(said.starts_with("error: o.tsv.part: is where db prepare keeps its journal"), "{said}");
}

/// Names may have any bytes except tabs and line ends; cycles of links and pipes without a writer are skipped.
#[test]
fn odd_names() {
    let dir = downloads();
    fs::create_dir_all(dir.path("d/sub")).unwrap();
    let mut list = "#assembly_accession\ttaxid\n".to_owned();
    let names: [&[u8]; 4] = [
        b"GCF_000000001.1_\xe9 x",
        b"#GCF_000000002.1",
        b"sub/GCF_000000003.1 \"q'\xc3\x9f",
        b"#end 4",
    ];
    for name in names {
        let path = [b"d/", name, b".fna.gz"].concat();
        fs::copy(dir.path(LAMBDA), dir.root().join(OsStr::from_bytes(&path))).unwrap();
    }
    for key in ["GCF_000000001.1", "GCF_000000002.1", "GCF_000000003.1", "x", "#end 4"] {
        list += &format!("{key}\t2681611\n");
    }
    // A line that begins with # is a comment.
    dir.write("d/assembly_summary.txt", list.replace("#end", "\"end"));
    dir.write("own.txt", "#name\ttaxid\tassembly_accession\nx\t2681611\t#end 4.fna.gz\n");
    shell(dir.root(), "ln -s .. d/sub/up && mkfifo d/assembly_summary_x.txt d/MD5SUMS d/x.fna");
    let prepare = "db prepare d --assembly-summary own.txt";
    let ran = dir.run(&format!("{prepare} -o d/library.tsv"));
    assert_eq!((ran.code, ran.warnings()), (Some(0), vec![]), "{}", ran.stderr);
    let text = dir.read("d/library.tsv");
    let paths: Vec<&[u8]> = text.split(|&byte| byte == b'\n').skip(2).take(4).collect();
    let order = [1, 3, 0, 2].map(|at| [names[at], b".fna.gz\t"].concat());
    assert!(paths.iter().zip(&order).all(|(line, start)| line.starts_with(start)), "{paths:?}");
    dir.run("build --taxonomy tax --strict -q -o a.mgdb d/library.tsv").fails(1);
    dir.run("build --taxonomy tax -q -o a.mgdb d/library.tsv").ok();
    let taxa = dir.run("db taxa a.mgdb --sequences").ok();
    assert_eq!(taxa.matches("\t2681611\t").count(), 4, "{taxa}");
    assert_eq!(known(&dir.run(&format!("{prepare} -o d/library.tsv")).stderr), 4);
}

/// A manifest is accepted only if it is complete and unchanged, and its genomes are, too.
#[test]
fn manifests_that_no_database_is_built_of() {
    let dir = downloads();
    dir.run("db prepare refseq -q -o library.tsv").ok();
    let text = String::from_utf8(dir.read("library.tsv")).unwrap();
    for (text, message) in [
        (text.replace("#end\n", ""), "x.tsv: cut after line 5: its last line is not #end"),
        (text.replace("library\t1", "library\t2"), "x.tsv: a manifest of version 2"),
        (
            text.replacen("\t12092\t", "\tyes\t", 1),
            "x.tsv: line 3: `yes` is not valid in the column taxon",
        ),
        (text.replace("\tok\n", "\tdamaged: so\n"), "x.tsv: line 3: refseq/ncbi_dataset"),
        (text.replace("\tok\n", "\tno taxon: so\n"), "x.tsv: no genome in it has the status ok"),
        (text.replace("refseq/viral", "elsewhere"), "x.tsv: line 4: elsewhere/GCF_009858895.2/"),
    ] {
        dir.write("x.tsv", text);
        for command in
            ["build --taxonomy tax -o x.mgdb", "build --format kraken2 --taxonomy tax -o x"]
        {
            let said = dir.run(&format!("{command} -q x.tsv")).fails(1);
            assert!(said.starts_with(&format!("error: {message}")), "{said}");
            assert!(!dir.path("x.mgdb").exists() && !dir.path("x").exists());
        }
    }
    // The manifest is an input, and so are its genomes.
    let before = dir.read("library.tsv");
    for output in ["library.tsv", HEPATITIS] {
        let said = dir.run(&format!("build --taxonomy tax -q -o {output} library.tsv")).fails(1);
        assert!(said.contains("is an input, and will not be replaced"), "{said}");
    }
    assert!(dir.read("library.tsv") == before);
    let said = dir.run("count -k 21 -o x library.tsv").fails(1);
    assert!(said.contains("a manifest of merganser db prepare"), "{said}");
}

//! Taxonomies as users have them: unusual ranks, byte order marks, comments, truncated lines.

use std::fs;

use super::{Small, cases, record, run, sound, taxids};
use merganser_test_support::Dir;

/// With unusual names of ranks, taxa are those of Kraken 2's rule (case 04).
#[test]
fn ranks_of_other_words() {
    let Some(cases) = cases("classify") else { return };
    let dir = Dir::new();
    for (taxonomy, unranked) in [("flat", 3), ("flatlineage", 3), ("Caps", 0)] {
        let maps = "--map $C/m.map";
        let build = format!("--taxonomy $C/04-ranks/{taxonomy} {maps} $C/g.fa");
        run(&dir, &cases, &format!("build -q --format kraken2 {build} -o k2-{taxonomy}")).ok();
        let expected = run(&dir, &cases, &format!("classify -q k2-{taxonomy} $C/r.fa")).ok();
        assert_eq!(taxids(&expected), ["101", "102", "103"]);
        for preset in ["sensitive", "metacache"] {
            let built = run(&dir, &cases, &format!("build --preset {preset} {build} -o c.mgdb"));
            let warned = built.warnings().iter().any(|line| {
                line.contains(&format!("{unranked} sequences have lineages without a main rank"))
            });
            assert_eq!(warned, unranked > 0, "{}", built.stderr);
            built.ok();
            let lines = run(&dir, &cases, "classify -q c.mgdb $C/r.fa").ok();
            assert_eq!(taxids(&lines), ["101", "102", "103"], "{taxonomy} {preset}");
        }
    }
    let univec = "build --taxonomy $C/04-ranks/univec --map $C/04-ranks/univec.map -o g.mgdb";
    let built = run(&dir, &cases, &format!("{univec} $C/04-ranks/univec.fa"));
    let warning = "1 sequences have lineages without a main rank (species to domain), first ";
    assert!(built.warnings()[0].contains(warning), "{}", built.stderr);
    built.ok();
    let lines = run(&dir, &cases, "classify g.mgdb $C/r.fa -q").ok();
    assert_eq!(taxids(&lines)[2], "28384", "{lines}");
}

/// Lineages without any main rank: taxa of various unusual ranks and their lowest common ancestor.
#[test]
fn lineages_without_a_main_rank() {
    let small = Small::new();
    let dir = &small.dir;
    small.write_reads();
    // The first half of the third genome is that of the second.
    let mixed = format!("{}{}", &small.genomes[1][..3000], &small.genomes[2][3000..]);
    dir.write("g.fa", format!(">a\n{}\n>b\n{}\n>c\n{mixed}\n", small.genomes[0], small.genomes[1]));
    dir.write("m", "a\t5\nb\t7\nc\t8\n");
    for rank in ["no rank", "strain", "S", "lineage", "clade", "", "subspecies", "Isolate"] {
        let nodes = [
            record(&["1", "1", "no rank", ""]),
            record(&["5", "1", rank, ""]),
            record(&["6", "1", rank, ""]),
            record(&["7", "6", rank, ""]),
            record(&["8", "6", rank, ""]),
        ];
        dir.write("tax/nodes.dmp", nodes.concat());
        dir.write("tax/names.dmp", record(&["1", "root", "", "scientific name"]));
        for preset in ["sensitive", "metacache"] {
            let build = format!("build --taxonomy tax --map m --preset {preset} -o x.mgdb g.fa");
            let built = dir.run(&build);
            let warning = "3 sequences have lineages without a main rank";
            assert!(built.warnings().iter().any(|line| line.contains(warning)), "{}", built.stderr);
            built.ok();
            let ran = dir.run("classify x.mgdb r.fa --report k").ok();
            assert_eq!(taxids(&ran)[..2], ["5", "6"], "{rank} {preset}");
            let own = format!(">own\n{}\n", &mixed[4000..4150]);
            dir.write("own.fa", own);
            assert_eq!(taxids(&dir.run("classify -q x.mgdb own.fa").ok()), ["8"], "{rank}");
        }
    }
    // The common ancestor of both species has no main rank: shared reads stay without a taxon.
    dir.write(
        "tax/nodes.dmp",
        [
            record(&["1", "1", "no rank", ""]),
            record(&["6", "1", "no rank", ""]),
            record(&["70", "6", "superkingdom", ""]),
            record(&["7", "70", "species", ""]),
            record(&["80", "6", "superkingdom", ""]),
            record(&["8", "80", "species", ""]),
        ]
        .concat(),
    );
    let name = |taxid| record(&[taxid, &format!("t{taxid}"), "", "scientific name"]);
    dir.write("tax/names.dmp", ["1", "6", "7", "8", "70", "80"].map(name).concat());
    dir.write("m", "b\t7\nc\t8\n");
    let built = dir.run("build --taxonomy tax --map m -o x.mgdb g.fa");
    assert_eq!(built.warnings().len(), 1, "{}", built.stderr);
    assert_eq!(taxids(&dir.run("classify -q x.mgdb r.fa").ok()), ["0", "0", "0"]);
}

/// Files of taxonomies and maps in many forms (cases 13, 14, 17b, 18, 19).
#[test]
fn taxonomies_and_maps_as_people_have_them() {
    let Some(cases) = cases("classify") else { return };
    let dir = Dir::new();
    let build = |taxonomy: &str, rest: &str| {
        run(&dir, &cases, &format!("build --taxonomy $C/{taxonomy} {rest} -o p.mgdb"))
    };
    let taxon_of = |sequence: &str| {
        let text = dir.run("db taxa --sequences p.mgdb").ok();
        let row = text.lines().find(|line| line.starts_with(&format!("{sequence}\t"))).unwrap();
        row.split('\t').nth(1).unwrap().to_owned()
    };
    build("13-names-pipe/taxonomy", "--map $C/m.map $C/g.fa").ok();
    assert!(dir.run("db taxa p.mgdb").ok().contains("\n102\tspecies\tPipe|name 'x' µ-β\t"));
    for taxonomy in ["14-merged/t_badfmt", "14-merged/t_chain"] {
        build(taxonomy, "--map $C/14-merged/m.map $C/g.fa").ok();
        assert_eq!(taxon_of("g1"), "101", "{taxonomy}");
    }
    build("13-names-pipe/taxonomy", "--map $C/17-bom/bom.map $C/17-bom/one.fa").ok();
    assert_eq!(taxon_of("NC_1.1"), "101");
    let large = build("18-taxid-big/b32", "--map $C/m.map $C/g.fa").fails(1);
    assert!(
        large.contains(
            "nodes.dmp: line 8: taxid 4294967301 is too large: 4294967295 is the largest"
        ),
        "{large}"
    );
    let large = build("13-names-pipe/taxonomy", "--map $C/18-taxid-big/b32.map $C/g.fa").fails(1);
    assert!(large.contains("b32.map: line 1: taxid 4294967301 is too large"), "{large}");
    for header in ["notaxid", "hosttaxid"] {
        let rest = format!("$C/19-header-map/{header}.fa");
        let said = build("13-names-pipe/taxonomy", &rest).fails(1);
        assert!(
            said.contains("none of 1 sequences has a taxon, first NC_1.1: no taxid found"),
            "{said}"
        );
    }
    let conflict = "--map $C/19-header-map/conflict.map $C/19-header-map/one.fa";
    for format in ["", "--format kraken2"] {
        let ran =
            build("13-names-pipe/taxonomy", &format!("{conflict} {format}").replace("p.mgdb", "k"));
        let _ = fs::remove_dir_all(dir.path("p.mgdb"));
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        assert!(
            ran.warnings()[0].ends_with(
                "conflict.map: 1 ids have two taxids, first NC_1.1: 101, which comes first, is used and not \
                 102; remove the wrong lines"
            ),
            "{}",
            ran.stderr
        );
        ran.ok();
        let _ = fs::remove_file(dir.path("p.mgdb"));
    }
}

/// Byte order marks, comments and blank lines are accepted in all files of a taxonomy dump.
#[test]
fn marks_and_comments_in_tables() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a", 0)]);
    small.write("GCF_000000007.1.fa", &[("x", 1)]);
    for file in ["nodes.dmp", "names.dmp"] {
        let text = String::from_utf8(dir.read(&format!("tax/{file}"))).unwrap();
        dir.write(&format!("tax/{file}"), format!("\u{feff}# mine\n{text}\n  \n"));
    }
    dir.write("tax/merged.dmp", "\u{feff}9\t|\t8\t|\n#x\n8\t|\t7\t|\n7\t|\t9\t|\n5\t|\t101\t|\n");
    dir.write("tax/delnodes.dmp", "#\n77\t|\n");
    dir.write(
        "tax/x.accession2taxid",
        "\u{feff}accession\taccession.version\ttaxid\tgi\na\ta\t5\t0\n",
    );
    dir.write("assembly_summary.txt", "\u{feff}#assembly_accession\ttaxid\nGCF_000000007.1\t102\n");
    dir.write("list", "\u{feff}a.fa\nGCF_000000007.1.fa\n");
    let built = dir.run("build --taxonomy tax -o x.mgdb @list");
    assert!(built.warnings().is_empty(), "{}", built.stderr);
    built.ok();
    let text = dir.run("db taxa --sequences x.mgdb").ok();
    assert!(text.contains("\na\t101\t") && text.contains("\nx\t102\t"), "{text}");
    // A cycle of merged taxids is detected.
    dir.write("m", "a\t9\n");
    let said = dir.run("build --taxonomy tax --map m -o y.mgdb a.fa").fails(1);
    assert!(said.contains("taxid 9 is not in the taxonomy"), "{said}");
}

/// A table of taxids whose last line is cut within the taxid is refused.
#[test]
fn last_lines_of_tables_of_taxids_that_are_cut() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a", 0)]);
    let build = "build --taxonomy tax --map m -o x.mgdb a.fa";
    for (heading, whole, columns) in [
        ("accession\taccession.version\ttaxid\tgi\n", "a\ta\t101\t7", 4),
        ("#accession\taccession.version\ttaxid\tgi\n", "a\ta\t101\t7", 4),
        ("", "b\tb\t101\t7\na\ta\t101\t7", 4),
        ("#assembly_accession\ttaxid\tftp_path\n", "a\t101\thttps://a/a", 3),
    ] {
        dir.write("m", format!("{heading}{whole}"));
        sound(dir, build);
        let cut = &whole[..whole.rfind("101").unwrap() + 2];
        dir.write("m", format!("{heading}{cut}"));
        let said = dir.run(build).fails(1);
        let of = format!("of {columns} columns and no line end: the file is cut short\n");
        assert!(said.starts_with("error: m: line 2 has ") && said.ends_with(&of), "{said}");
    }
}

/// The heading of a table may be a comment, with any name for the first column.
#[test]
fn headings_of_tables_of_taxids_may_be_comments() {
    let small = Small::new();
    small.write("a.fa", &[("a", 0)]);
    for heading in ["#seqid\ttaxid", "# seqid\ttaxid", "# taxids of my genomes"] {
        small.dir.write("m", format!("{heading}\na\t101\n"));
        sound(&small.dir, "build --taxonomy tax --map m -o x.mgdb a.fa");
    }
}

/// A comment may be the last line, also without a line end.
#[test]
fn comments_at_the_end_of_tables_of_taxids() {
    let small = Small::new();
    small.write("a.fa", &[("a", 0)]);
    small.dir.write("m", "a\t101\n# the end");
    sound(&small.dir, "build --taxonomy tax --map m -o x.mgdb a.fa");
}

/// A last line that is truncated within a number or a name is refused.
#[test]
fn last_lines_of_a_taxonomy_that_are_cut() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a taxid|99", 0)]);
    let build = "build --taxonomy tax -o x.mgdb a.fa";
    dir.write("tax/merged.dmp", "99\t|\t101\t|");
    dir.write("tax/delnodes.dmp", "7\t|");
    sound(dir, build);
    let [nodes, names] = ["nodes.dmp", "names.dmp"]
        .map(|file| String::from_utf8(dir.read(&format!("tax/{file}"))).unwrap());
    for (file, text, line) in [
        ("merged.dmp", "99\t|\t10".to_owned(), 1),
        ("merged.dmp", "98\t|\t101\t|\n99\t|\t10".to_owned(), 2),
        ("delnodes.dmp", "7".to_owned(), 1),
        ("delnodes.dmp", "7\t|\n9".to_owned(), 2),
        ("nodes.dmp", nodes.trim_end_matches("|\n").to_owned(), 5),
        ("names.dmp", names.trim_end_matches("\t|\n").to_owned(), 5),
    ] {
        let before = dir.read(&format!("tax/{file}"));
        dir.write(&format!("tax/{file}"), text);
        for command in [build, "build --format kraken2 --taxonomy tax -o k2 a.fa"] {
            let said = dir.run(command).fails(1);
            let expected =
                format!("error: tax/{file}: line {line}: ends without `|`: the file is truncated");
            assert!(said.starts_with(&expected), "{said}");
        }
        dir.write(&format!("tax/{file}"), before);
    }
    sound(dir, build);
}

/// A taxid that is missing from the taxonomy has a remedy; every field of `db info` has a blank before its value.
#[test]
fn remedies_and_fields_are_readable() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("g.fa", &[("a taxid|9", 0)]);
    small.write("k.fa", &[("a taxid|101", 0)]);
    let said = dir.run("build --taxonomy tax -o x.mgdb g.fa").fails(1);
    assert!(
        said.ends_with("first a: taxid 9 is not in the taxonomy; give a taxonomy that has it\n"),
        "{said}"
    );
    sound(dir, "build --taxonomy tax -o x.mgdb k.fa");
    let said = dir.run("db add --taxonomy tax x.mgdb g.fa k.fa -o y.mgdb").fails(1);
    assert!(
        said.contains("give a taxonomy that has it, or leave them out with --allow-unmapped"),
        "{said}"
    );
    let info = sound(dir, "db info x.mgdb");
    assert!(info.lines().all(|line| line.contains(' ')), "{info}");
    assert!(info.contains("\nhitmin_contested 1\n"), "{info}");
}

//! Reports, distributions, sheets and lines in the forms of other programs, versions and spreadsheets.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use super::cases;
use merganser_test_support::tools::shell;
use merganser_test_support::{Dir, Ran};

/// Returns a directory with the files of a case.
fn case(folder: &str) -> Option<Dir> {
    let path = cases(&format!("classify/{folder}"))?;
    let dir = Dir::new();
    shell(dir.root(), &format!("cp -r '{}'/. .", path.display()));
    Some(dir)
}

/// Like [`case`], with a database of three genomes and reads of them.
fn case_with_database(folder: &str) -> Option<Dir> {
    let (dir, all) = (case(folder)?, cases("classify")?);
    copy(&all, "g.fa m.map r.fa 13-names-pipe/taxonomy", &dir);
    dir.run("build -q --taxonomy taxonomy --map m.map -o n.mgdb g.fa").ok();
    Some(dir)
}

fn copy(from: &Path, names: &str, dir: &Dir) {
    for name in names.split(' ') {
        shell(dir.root(), &format!("cp -r '{}' .", from.join(name).display()));
    }
}

/// The report of a sample, down to species.
const BASE: &str = " 20.00\t200\t200\tU\t0\tunclassified\n 80.00\t800\t0\tR\t1\troot\n \
                     80.00\t800\t0\tR1\t131567\t  cellular organisms\n \
                     80.00\t800\t10\tD\t2\t    Bacteria\n \
                     79.00\t790\t0\tP\t1239\t      Bacillota\n \
                     79.00\t790\t40\tG\t1301\t        Streptococcus\n \
                     50.00\t500\t500\tS\t1313\t          Streptococcus pneumoniae\n \
                     25.00\t250\t250\tS\t28037\t          Streptococcus mitis\n";
/// Commands that read a report `r`, or several.
const READERS: [&str; 7] = [
    "report merge r",
    "report merge --format kreport r",
    "report mpa r",
    "report krona r",
    "report filter --min-reads 1 r",
    "report html r -o o.html",
    "report plot --chart taxa r -o o.svg",
];
const HEADING: &str = "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n";

/// Returns two columns of a table, by number, without the heading.
fn columns(table: &str, wanted: [usize; 2]) -> Vec<[String; 2]> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| wanted.map(|at| row.split('\t').nth(at).unwrap().to_owned())).collect()
}

/// Runs a command that succeeds with exactly one warning; returns the warning and stdout.
#[track_caller]
fn warned(dir: &Dir, command: &str) -> (String, String) {
    let ran = dir.run(command);
    let warnings = ran.warnings();
    assert_eq!(warnings.len(), 1, "{command}: {}", ran.stderr);
    let warning = warnings[0].to_owned();
    (warning, ran.ok())
}

/// Runs a command that succeeds without a warning, and returns stdout.
#[track_caller]
fn sound(dir: &Dir, command: &str) -> String {
    let ran = dir.run(command);
    assert_eq!(ran.warnings(), Vec::<&str>::new(), "{command}");
    ran.ok()
}

/// Reports whose names lost their indentation are refused (case 06).
#[test]
fn names_that_lost_their_indents_are_refused() {
    let dir = Dir::new();
    let stripped: String = BASE.lines().map(|line| line.replace("  ", "") + "\n").collect();
    dir.write("r", &stripped);
    dir.write("d", format!("{HEADING}1301\t1313:30:1000 28037:20:900 \n"));
    for command in READERS.into_iter().chain(["report bracken -d d r"]) {
        let message = dir.run(command).fails(1);
        assert!(
            message.starts_with("error: r: line 3: its name is not indented, as "),
            "{message}"
        );
    }
    let Some(dir) = case("06-indent-lost") else { return };
    dir.run("report filter --min-reads 1 stripped.kreport").fails(1);
    dir.run("report bracken -d d.kmer stripped.kreport").fails(1);
    dir.run("report krona stripped.kreport").fails(1);
    assert!(
        sound(&dir, "report filter --min-reads 1 base.kreport")
            .contains("\n 80.00\t800\t0\tR\t1\t")
    );
    let table = sound(&dir, "report bracken -d d.kmer base.kreport");
    let estimated = columns(&table, [1, 5])[1..].to_vec();
    assert_eq!(estimated, [["1313", "529"], ["28037", "260"]].map(|row| row.map(str::to_owned)));
}

/// Indentation by tabs or of another width, or with missing rows above, is refused.
#[test]
fn indents_that_lead_nowhere_are_refused() {
    let dir = Dir::new();
    let tabs = BASE.replace("    ", "\t\t").replace("  ", "\t");
    let wide: String = BASE
        .lines()
        .map(|line| {
            let (row, name) = line.rsplit_once('\t').unwrap();
            let bare = name.trim_start();
            format!("{row}\t{}{bare}\n", " ".repeat(2 * (name.len() - bare.len())))
        })
        .collect();
    let headless: String = BASE.lines().skip(2).map(|line| format!("{line}\n")).collect();
    for (text, expected) in [
        (&tabs, "line 3: its name is indented by tabs: each level has two blanks"),
        (&wide, "line 3: its name is indented for level 2, and the line above leads to level 1"),
        (&headless, "line 1: its name is indented, and there is no taxon above it"),
    ] {
        dir.write("r", text);
        for command in READERS {
            let message = dir.run(command).fails(1);
            assert!(message.contains(&format!("r: {expected}")), "{command}: {message}");
        }
    }
}

/// Reads that belong to a clade but to none of its rows are counted, with a warning (case 07).
#[test]
fn reads_that_no_row_has_are_counted_and_told() {
    let dir = Dir::new();
    let cut: String = BASE.lines().take(4).map(|line| format!("{line}\n")).collect();
    let wrong = BASE.replace("80.00\t800\t0\tR\t", "90.00\t900\t0\tR\t");
    for (text, total, what) in [
        (
            &cut,
            1000,
            "1 clade has more reads than its rows add up to, the first in line 4 (Bacteria); rows hold 210 reads, clades 1,000",
        ),
        (
            &wrong,
            1100,
            "1 clade has more reads than its rows add up to, the first in line 2 (root); rows hold 1,000 reads, clades 1,100",
        ),
    ] {
        dir.write("r", text);
        for command in READERS {
            let (warning, printed) = warned(&dir, command);
            assert!(warning.starts_with(&format!("warning: r: {what}")), "{command}: {warning}");
            if command == READERS[0] {
                assert!(
                    printed.contains(&format!("#Total Number of Reads: {total}\n")),
                    "{printed}"
                );
                let own: u64 = columns(&printed, [0, 2])
                    .iter()
                    .map(|row| row[1].parse::<u64>().unwrap())
                    .sum();
                assert_eq!(own, total);
                assert!(
                    columns(&printed, [0, 1])
                        .iter()
                        .all(|row| row[0].parse::<f64>().unwrap() <= 100.0)
                );
            }
        }
    }
    // A clade with fewer reads than the clades below it is an error.
    dir.write("r", BASE.replace("790", "690"));
    let message = dir.run("report merge r").fails(1);
    assert!(
        message.contains("line 6: the clade has 690 reads, fewer than the 790 of"),
        "{message}"
    );

    let Some(dir) = case("07-own-zero") else { return };
    let table = sound(&dir, "report merge s.G.breport");
    assert!(table.contains("\n100.0000\t2250\t2250\t2250\t2250\tG\t1301\t"), "{table}");
    let krona = sound(&dir, "report krona s.G.breport");
    assert!(krona.contains("\n2250\tcellular organisms\t") && krona.ends_with("\tStreptococcus\n"));
    let (warning, _) = warned(&dir, "report merge sumwrong.kreport");
    assert!(warning.contains("rows hold 1,000 reads, clades 1,100"), "{warning}");
    let (warning, _) = warned(&dir, "report merge head.kreport");
    assert!(warning.contains("rows hold 210 reads, clades 1,000"), "{warning}");
    sound(&dir, "report merge s.kreport");
}

/// Bracken rounds estimates down; the small differences have no warning.
#[test]
fn reports_that_bracken_rewrites_are_sound() {
    let dir = Dir::new();
    dir.write("r", BASE);
    dir.write("d", format!("{HEADING}1301\t1313:30:1000 28037:20:900 \n1313\t1313:970:1000 \n28037\t28037:880:900 \n"));
    sound(&dir, "report bracken -d d r --out-report b -o t");
    let whole = dir.read("d");
    dir.write("cut", &whole[..whole.len() - 5]);
    let error = dir.run("report bracken -d cut r -o cut.tsv").fails(1);
    assert_eq!(error, "error: cut: line 4: it has no line end: the file is cut short\n");
    let total = sound(&dir, "report merge b --no-headers --only-combined");
    assert!(total.contains("\n100.0000\t789\t") || total.contains("\n100.0000\t790\t"), "{total}");
    assert!(columns(&total, [0, 1]).iter().all(|row| row[0].parse::<f64>().unwrap() <= 100.0));
    sound(&dir, "report mpa b");
}

/// Standard input is read from its position, also if it is a file.
#[test]
fn standard_input_is_not_read_again() {
    let dir = Dir::new();
    let line = "read by another program\n";
    dir.write("r", BASE);
    dir.write("more", format!("{line}{BASE}"));
    let mut file = File::open(dir.path("more")).unwrap();
    file.seek(SeekFrom::Start(line.len() as u64)).unwrap();
    let output = dir.start("report krona -", file.into()).wait_with_output().unwrap();
    assert_eq!(Ran::new(&output, dir.root()).ok(), sound(&dir, "report krona r"));
}

/// An empty report is a sample of 0 reads, with a warning (case 11).
#[test]
fn an_empty_report_is_a_sample_of_no_reads() {
    let dir = Dir::new();
    dir.write("r", "");
    dir.write("base", BASE);
    for command in READERS {
        let (warning, _) = warned(&dir, command);
        assert!(
            warning
                .starts_with("warning: r: the report is empty: it counts as a sample of 0 reads")
        );
    }
    let (_, table) = warned(&dir, "report merge r base");
    assert!(table.contains("\n20.0000\t200\t200\t0\t0\t200\t200\tU\t0\tunclassified\n"), "{table}");
    assert!(table.contains("\n50.0000\t500\t500\t0\t0\t500\t500\tS\t1313\t"), "{table}");
    let (_, table) = warned(&dir, "report mpa r base");
    assert!(table.starts_with("#Classification\tr\tbase\nd__Bacteria\t0\t800\n"), "{table}");
    let (_, table) = warned(&dir, "report merge r");
    assert!(table.ends_with("\n0.0000\t0\t0\t0\t0\tU\t0\tunclassified\n"), "{table}");
    let Some(dir) = case("11-empty-report") else { return };
    warned(&dir, "report merge empty.kreport base.kreport");
}

/// Reports of KrakenUniq are accepted (case 12).
#[test]
fn reports_of_krakenuniq_are_read() {
    let dir = Dir::new();
    dir.write(
        "k.tsv",
        "# KrakenUniq v1.0.4 DATE:2026-01-01T00:00:00Z DB:db DB_SIZE:1 WD:.\n# CL:krakenuniq x.fq\n\n\
         %\treads\ttaxReads\tkmers\tdup\tcov\ttaxID\trank\ttaxName\n\
         20\t20\t20\t900\t1.1\tNA\t0\tno rank\tunclassified\n80\t80\t0\t800\t1.2\t0.001\t1\tno rank\troot\n\
         80\t80\t10\t800\t1.2\t0.001\t2\tsuperkingdom\t  Bacteria\n\
         70\t70\t70\t700\t1.2\t0.01\t562\tspecies\t    Escherichia coli\n",
    );
    let expected = "20.0000\t20\t20\t20\t20\tU\t0\tunclassified\n80.0000\t80\t0\t80\t0\tR\t1\troot\n\
                    80.0000\t80\t10\t80\t10\tD\t2\t  Bacteria\n70.0000\t70\t70\t70\t70\tS\t562\t    Escherichia coli\n";
    assert_eq!(sound(&dir, "report merge --no-headers k.tsv"), expected);
    assert_eq!(
        sound(&dir, "report mpa k.tsv"),
        "d__Bacteria\t80\nd__Bacteria|s__Escherichia coli\t70\n"
    );
    let Some(dir) = case("12-krakenuniq") else { return };
    assert_eq!(sound(&dir, "report merge --no-headers k.tsv"), expected);
}

/// Genera of animals and of bacteria may have one name.
#[test]
fn taxa_of_one_name_have_bars_of_their_own() {
    let dir = Dir::new();
    let report = "100.00\t10\t0\tR\t1\troot\n60.00\t6\t6\tG\t1386\t  Bacillus\n\
                  40.00\t4\t4\tG\t55206\t  Bacillus\n";
    dir.write("r.kreport", report);
    dir.run("report plot --chart taxa --rank G r.kreport -o r.svg").ok();
    let picture = String::from_utf8(dir.read("r.svg")).unwrap();
    for name in ["Bacillus (1386)", "Bacillus (55206)"] {
        assert!(picture.contains(name), "{name}");
    }
}

/// Domains have the right rank in reports of new taxonomies and of old versions (case 16).
#[test]
fn domains_of_new_taxonomies_and_old_versions_are_domains() {
    let Some(dir) = case("16-new-ranks") else { return };
    assert_eq!(
        sound(&dir, "report mpa new.kreport"),
        "d__Bacteria\t500\nd__Bacteria|k__Pseudomonadati\t480\n\
         d__Bacteria|k__Pseudomonadati|p__Pseudomonadota\t480\n\
         d__Bacteria|k__Pseudomonadati|p__Pseudomonadota|s__Escherichia coli\t480\n\
         d__Viruses\t400\nd__Viruses|s__Influenza A virus\t400\n"
    );
    let domains = sound(&dir, "report filter --rank D new.kreport");
    assert!(domains.contains("\t500\t20\tR2\t2\t") && domains.contains("\t400\t0\tR1\t10239\t"));
    let table = sound(&dir, "report bracken --level D -d d.k new.kreport");
    assert!(table.contains("Bacteria\t2\tD\t500\t") && table.contains("Viruses\t10239\tD\t400\t"));
    dir.run("report plot --chart taxa --rank D new.kreport -o d.svg").ok();
    let picture = String::from_utf8(dir.read("d.svg")).unwrap();
    assert!(picture.contains("Bacteria") && picture.contains("Viruses"));
    // Rank codes are preserved.
    assert_eq!(
        sound(&dir, "report merge --format kreport new.kreport").into_bytes(),
        dir.read("new.kreport")
    );
}

/// A byte order mark is not part of a report (case 17).
#[test]
fn a_byte_order_mark_is_no_part_of_a_report() {
    let dir = Dir::new();
    dir.write("base", BASE);
    let mut all =
        vec![format!("\u{feff}{BASE}"), BASE.replace('\n', "\r\n"), format!("{BASE}\n\n")];
    all.push(format!("\u{feff}{}", BASE.replace('\n', "\r\n")));
    for text in all {
        dir.write("r", text);
        for command in &READERS[..5] {
            let expected = sound(&dir, &command.replace(" r", " base"));
            assert_eq!(
                sound(&dir, command).replace("#S1\tr\n", "#S1\tbase\n"),
                expected,
                "{command}"
            );
        }
    }
    let wide: Vec<u8> =
        std::iter::once(0xfeff).chain(BASE.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    dir.write("r", wide);
    let message = dir.run("report mpa r").fails(1);
    assert!(message.starts_with("error: r: line 1: this is UTF-16"), "{message}");
    let Some(dir) = case("17-bom") else { return };
    assert!(sound(&dir, "report mpa bom.kreport").starts_with("d__Bacteria\t800\n"));
}

#[test]
fn files_of_other_forms_are_named() {
    let dir = Dir::new();
    for (text, form) in [
        (
            "name\ttaxonomy_id\ttaxonomy_lvl\tkraken_assigned_reads\nE\t562\tS\t1\n",
            "Bracken's table",
        ),
        ("d__Bacteria\t78\nd__Bacteria|p__x\t70\n", "an mpa table"),
        ("C\tr1\t562\t150\t562:116\n", "lines of reads"),
        ("100.0\t5\t0\tno rank\t1\troot\n", "Metabuli's report"),
        ("percentage\tcladeReads\ttaxonReads\ttaxRank\ttaxID\tname\n", "a table of pavian"),
        ("name\ttaxID\ttaxRank\tgenomeSize\tnumReads\n", "Centrifuge's"),
        ("#mpa_v\n#clade_name\tNCBI_tax_id\n", "MetaPhlAn's profile"),
        ("@SampleID:x\n@Version:0.9.1\n", "a CAMI profile"),
        ("target_id\tlength\teff_length\test_counts\ttpm\n", "kallisto's table"),
        ("80.00,800,0,R,1,root\n", "a table with commas"),
        ("#Number of Samples: 1\n#Total Number of Reads: 5\n", "the table of report merge"),
    ] {
        dir.write("r", text);
        for command in READERS {
            let message = dir.run(command).fails(1);
            let expected = format!("error: r: line 1: not a report in Kraken's style, but {form}");
            assert!(message.starts_with(&expected), "{command}: {message}");
        }
    }
    dir.write("r", "{\"id\": null, \"format\": \"Biological Observation Matrix 1.0.0\"}\n");
    assert!(dir.run("report merge r").fails(1).contains("but JSON (biom"));
    dir.run("report html r -o o.html").fails(1);
}

/// Distributions that do not fit the report are named (case 08).
#[test]
fn distributions_that_do_not_fit_are_told() {
    let dir = Dir::new();
    dir.write("r", BASE);
    let own = "1313\t1313:970:1000 \n28037\t28037:880:900 \n";
    dir.write("zero", format!("{HEADING}1301\t1313:0:1000 28037:20:900 \n{own}"));
    let table = sound(&dir, "report bracken -d zero r");
    let added = columns(&table, [3, 4])[1..].to_vec();
    assert_eq!(added, [["500", "0"], ["250", "40"]].map(|row| row.map(str::to_owned)));
    dir.write("other", format!("{HEADING}77\t77:30:1000 \n"));
    let (warning, _) = warned(&dir, "report bracken -d other r");
    assert_eq!(
        warning,
        "warning: other: no genome of the report's 2 taxa of level S (750 reads) is in it: give that of the \
         database that the reads were classified with"
    );
    for (text, what) in [
        (HEADING.to_owned(), "a heading without rows"),
        (format!("{HEADING}{own}1301\t1313:30\n"), "line 4: not TAXID<TAB>GENOME:READS:TOTAL"),
        (format!("{HEADING}{own}1301\t\n"), "line 4: not TAXID<TAB>GENOME:READS:TOTAL"),
        (format!("{HEADING}1301\t1313:5:4 \n"), "line 2: `1313:5:4`: 5 of 4 reads cannot be"),
    ] {
        dir.write("bad", text);
        let message = dir.run("report bracken -d bad r").fails(1);
        assert!(message.starts_with("error: bad: ") && message.contains(what), "{message}");
    }
    let Some(dir) = case("08-dist-zero") else { return };
    sound(&dir, "report bracken -d zero.kmer base.kreport");
    warned(&dir, "report bracken -d other.kmer base.kreport");
    dir.run("report bracken -d hdronly.kmer base.kreport").fails(1);
}

/// Sample sheets from spreadsheets and pipelines are accepted (case 10).
#[test]
fn sheets_of_spreadsheets_and_pipelines_are_read() {
    let Some(dir) = case_with_database("10-sheets") else { return };
    let classify = |sheet: &str| {
        let _ = std::fs::remove_file(dir.path("A.tsv"));
        let command = format!("classify n.mgdb --sample-sheet {sheet} -o {{}}.tsv --json j.json");
        let ran = dir.run(&command);
        let warnings: Vec<String> =
            ran.warnings().iter().map(|&warning| warning.to_owned()).collect();
        ran.ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
        assert_eq!(json["warnings"].as_array().map_or(0, Vec::len), warnings.len(), "{json}");
        assert_eq!(json["results"]["samples"]["A"]["reads"], 1, "{json}");
        (String::from_utf8(dir.read("A.tsv")).unwrap(), warnings)
    };
    let expected = "C\tr1\t101\t150|150\t101:124\n";
    for sheet in ["bom.csv", "quoted.csv", "taxprofiler.csv"] {
        assert_eq!(classify(sheet), (expected.to_owned(), Vec::new()), "{sheet}");
    }
    let (lines, warnings) = classify("duprow.csv");
    assert_eq!(lines, expected);
    assert_eq!(
        warnings,
        [
            "warning: duprow.csv: 1 row is repeated: line 3, which has the reads of line 2: left out, so that \
          reads count once"
        ]
    );
    // Repeated rows are recognized under other file names and with exchanged mates.
    shell(dir.root(), "ln -s s_1.fq link.fq");
    dir.write("same.csv", "A,s_1.fq,s_2.fq\nA,./link.fq,s_2.fq\nA,s_2.fq,s_1.fq\n");
    assert_eq!(classify("same.csv").1.len(), 1);
    // Rows for several runs of a sample are not repeats.
    shell(dir.root(), "cp s_1.fq t_1.fq; cp s_2.fq t_2.fq");
    dir.write("runs.csv", "sample,run,fastq_1,fastq_2\nA,1,s_1.fq,s_2.fq\nA,2,t_1.fq,t_2.fq\n");
    let ran = dir.run("classify n.mgdb --sample-sheet runs.csv -o {}.tsv");
    assert_eq!((ran.warnings().len(), dir.read("A.tsv").len()), (0, 2 * expected.len()));
    dir.write("copied.csv", "A,s_1.fq,s_2.fq\nB,s_1.fq,s_2.fq\n");
    let ran = dir.run("classify n.mgdb --sample-sheet copied.csv -o {}.tsv");
    assert_eq!(
        ran.warnings(),
        [
            "warning: copied.csv: 1 row belongs to two samples: line 2, which has the reads of line 1: does each \
          sample have its own files?"
        ]
    );
    let message = dir.run("classify n.mgdb --sample-sheet samefile.tsv -o {}.tsv").fails(1);
    assert_eq!(
        message,
        "error: samefile.tsv: line 2: s_1.fq is given as first and as second mates\n"
    );
    // `map` accepts such sheets, too.
    dir.run("map -q g.fa --sample-sheet quoted.csv -e 5 -o {}.sam").ok();
    assert!(!dir.read("A.sam").is_empty());
}

/// Merged taxids in lines are replaced by their new taxids (case 15).
#[test]
fn merged_taxids_of_lines_are_those_they_were_merged_into() {
    let Some(dir) = case("15-old-lines") else { return };
    let Some(all) = cases("classify") else { return };
    copy(&all, "r.fa", &dir);
    let names = |text: String| -> Vec<String> {
        let names = text.lines().filter_map(|line| line.strip_prefix('>'));
        names.map(|name| name.split(' ').next().unwrap().to_owned()).collect()
    };
    let run = |args: &str| names(sound(&dir, &format!("extract reads {args} r.fa")));
    assert_eq!(
        run("--taxid 14 --include-children --taxonomy tax --lines lold.tsv"),
        ["rg1", "rg2", "rg3"]
    );
    assert_eq!(run("--taxid 101 --taxonomy tax --lines lold.tsv"), ["rg1"]);
    assert_eq!(run("--taxid 99 --taxonomy tax --lines lold.tsv"), ["rg1"]);
    assert_eq!(run("--taxid 101 --exclude --taxonomy tax --lines lold.tsv"), ["rg2", "rg3"]);
    let none = dir.run("extract reads --taxid 101 --lines lold.tsv r.fa");
    assert_eq!(none.warnings().len(), 1, "nothing tells of merged ones: {}", none.stderr);
    assert_eq!(none.ok(), "");
    let marked = format!(
        "\u{feff}{}",
        String::from_utf8(dir.read("lold.tsv")).unwrap().replace('\n', "\r\n")
    );
    dir.write("marked.tsv", marked);
    assert_eq!(run("--taxid 101 --taxonomy tax --lines marked.tsv"), ["rg1"]);
    // Also if the order differs from that of the reads.
    dir.write("odd.tsv", "C\trg3\t103\t150\t\nC\trg2\t777\t150\t\nC\trg1\t99\t150\t\n");
    dir.write(
        "few",
        " 100.00\t3\t0\tR\t1\troot\n100.00\t3\t2\tG\t14\t  G\n33.33\t1\t1\tS\t103\t    S\n",
    );
    for (tree, count, first) in
        [("--taxonomy tax", 1, "777 (read rg2)"), ("--report few", 2, "777 (read rg2)")]
    {
        let run =
            format!("extract reads --taxid 14 --include-children {tree} --lines odd.tsv r.fa");
        let (warning, text) = warned(&dir, &run);
        let expected =
            format!("warning: odd.tsv: {count} lines have unknown taxids, first {first}");
        assert!(warning.starts_with(&expected), "{warning}");
        let found = names(text);
        assert!(
            found.contains(&"rg3".to_owned()) && !found.contains(&"rg2".to_owned()),
            "{found:?}"
        );
    }
    dir.run("extract reads --taxid 14 --report few --lines odd.tsv r.fa").fails(2);
}

/// A report that is given twice, under any names, has a warning where reports are added or shown side by side.
#[test]
fn reports_that_are_given_twice_are_told() {
    let dir = Dir::new();
    dir.write("r", BASE);
    dir.write("copy", BASE);
    shell(dir.root(), "ln -s r link");
    for (command, effect) in [
        ("report merge", "its reads count twice"),
        ("report merge --format kreport", "its reads count twice"),
        ("report mpa", "its sample is shown twice"),
        ("report html -o o.html", "its sample is shown twice"),
        ("report plot --chart taxa -o o.svg", "its sample is shown twice"),
    ] {
        let (warning, _) = warned(&dir, &format!("{command} r r"));
        assert_eq!(
            warning,
            format!("warning: r: is given more than once, and {effect}: give it once")
        );
        let (warning, _) = warned(&dir, &format!("{command} copy r ./link r"));
        assert_eq!(
            warning,
            format!(
                "warning: r and ./link: are the same file, and {effect} (and 1 more of the inputs are files that \
                 were given before): give it once"
            )
        );
        sound(&dir, &format!("{command} r copy"));
    }
    let Some(dir) = case("06-indent-lost") else { return };
    warned(&dir, "report merge --format kreport base.kreport base.kreport");
}

/// A distribution that lacks some of the genomes has a warning.
#[test]
fn distributions_that_lack_taxa_are_told() {
    let dir = Dir::new();
    dir.write("r", BASE);
    let half = format!("{HEADING}1301\t1313:30:1000 \n1313\t1313:970:1000 \n");
    dir.write("half", &half);
    let (warning, table) = warned(&dir, "report bracken -d half r");
    assert_eq!(
        warning,
        "warning: half: 1 of the report's 2 taxa of level S, with 250 of 750 reads, have no genome in it, and get \
         no reads of higher taxa: give that of the database that the reads were classified with"
    );
    let estimated = columns(&table, [1, 5])[1..].to_vec();
    assert_eq!(estimated, [["1313", "540"], ["28037", "250"]].map(|row| row.map(str::to_owned)));
    // No warning for a small difference: one short genome.
    let few = BASE.replace("500\t500\tS", "745\t745\tS").replace("250\t250\tS", "5\t5\tS");
    dir.write("few", few);
    sound(&dir, "report bracken -d half --threshold 1 few");
    let Some(dir) = case("06-indent-lost") else { return };
    dir.write("half", half);
    warned(&dir, "report bracken -d half base.kreport");
    sound(&dir, "report bracken -d d.kmer base.kreport");
}

/// Several reads have one name, and the lines are in another order than the reads.
#[test]
fn reads_of_one_name_in_another_order_than_lines() {
    let dir = Dir::new();
    let reads = |names: &[&str]| {
        let text = names.iter().enumerate();
        text.map(|(at, name)| format!(">{name} {at}\n{}\n", "ACGT".repeat(20))).collect::<String>()
    };
    let lines = |lines: &[(&str, u32)]| {
        let line = |(name, taxid): &(&str, u32)| format!("C\t{name}\t{taxid}\t80\t\n");
        lines.iter().map(line).collect::<String>()
    };
    let extract = "extract reads --taxid 101 --lines l r.fa";
    // The first line belongs to the third read.
    dir.write("r.fa", reads(&["a", "b", "a", "c"]));
    dir.write("l", lines(&[("a", 102), ("a", 101), ("c", 101), ("b", 101)]));
    let (warning, _) = warned(&dir, extract);
    assert!(
        warning.starts_with(
            "warning: l: 1 lines have another line of the same read with another taxon, first read a, and \
             reads and lines are in different orders: "
        ),
        "{warning}"
    );
    // Both lines come after the first read that is out of order.
    dir.write("l", lines(&[("b", 101), ("a", 102), ("a", 101), ("c", 101)]));
    dir.run(extract).fails(1);
    // The lines of one name have the same taxon, or are in the order of the reads.
    dir.write("l", lines(&[("a", 101), ("a", 101), ("c", 101), ("b", 102)]));
    sound(&dir, extract);
    dir.write("l", lines(&[("a", 101), ("b", 101), ("a", 102), ("c", 101)]));
    assert!(sound(&dir, extract).matches('>').count() == 3);
    // A read that takes the line of its predecessor, like a mate, leaves its own line unused.
    dir.write("r.fa", reads(&["a", "a", "b"]));
    dir.write("l", lines(&[("a", 101), ("b", 101), ("a", 102)]));
    let (warning, _) = warned(&dir, extract);
    assert_eq!(warning, "warning: l: 1 line of this file is not of these reads");
    dir.write("l", lines(&[("a", 101), ("b", 101)]));
    sound(&dir, extract);
}

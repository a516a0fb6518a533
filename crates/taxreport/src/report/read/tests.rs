use super::rows::MAX_READS;
use super::*;
use proptest::prelude::*;

fn parse(text: &[u8]) -> Result<KrakenReport, String> {
    KrakenReport::parse(text).map(|(report, _)| report)
}

const PLAIN: &str = " 10.00\t10\t10\tU\t0\tunclassified\n \
                     90.00\t90\t1\tR\t1\troot\n \
                     89.00\t89\t0\tR1\t131567\t  cellular organisms\n \
                     80.00\t80\t20\tD\t2\t    Bacteria\n \
                     60.00\t60\t60\tP\t1224\t      Pseudomonadota\n  \
                      9.00\t9\t9\tD\t2157\t    Archaea\n";

#[test]
fn reports_come_back_as_they_were() {
    let report = parse(PLAIN.as_bytes()).unwrap();
    let mut text = Vec::new();
    report.write(&mut text).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), PLAIN);
    assert_eq!((report.total(), report.unclassified()), (100, 10));
    let parents: Vec<_> = report.rows().iter().map(|row| row.parent).collect();
    assert_eq!(parents, [None, None, Some(1), Some(2), Some(3), Some(2)]);
    assert_eq!(report.children()[2], [3, 5]);
    assert!(!report.has_minimizers());
    let more = PLAIN.replace("\t20\tD", "\t20\t7\t5\tD");
    assert_eq!(
        parse(more.as_bytes()).unwrap_err(),
        "line 4: the number of columns differs from the lines above"
    );
}

#[test]
fn columns_of_minimizers_and_odd_names_survive() {
    let text = b"100.00\t2\t0\t7\t5\tR\t1\troot\n100.00\t2\t2\t7\t5\tS\t9\t  a\xff b \n";
    let report = parse(text).unwrap();
    assert_eq!(report.rows()[1].name, b"a\xff b ");
    let minimizers = Some(ReportMinimizers { found: 7, distinct: 5 });
    assert_eq!(report.rows()[1].minimizers, minimizers);
    let mut back = Vec::new();
    report.write(&mut back).unwrap();
    assert_eq!(back, text);
}

/// The codes are those of Debian's Kraken 2.1.2 and of Kraken 1.
#[test]
fn rank_codes_are_made_whole() {
    let codes = |codes: [&str; 6]| {
        let row = |(depth, code): (usize, &&str)| {
            format!("0\t5\t0\t{code}\t{}\t{}x\n", depth + 1, "  ".repeat(depth))
        };
        let text: String = codes.iter().enumerate().map(row).collect();
        let report = parse(text.as_bytes()).unwrap();
        report.rows().iter().map(|row| row.rank.clone()).collect::<Vec<_>>()
    };
    let whole = ["R", "R1", "D", "D1", "K", "K1"];
    assert_eq!(codes(["", "1", "", "1", "K", "K1"]), whole);
    assert_eq!(codes(["-", "-", "D", "-", "K", "-"]), whole);
    assert_eq!(codes(whole), whole);
}

/// Debian's Kraken 2.1.2 leaves out the letters of the upper three levels, whatever their ranks.
#[test]
fn missing_letters_are_those_that_the_rows_below_ask_for() {
    let text = "100.00\t9\t0\t\t1\troot\n90.00\t8\t0\t\t2\t  Bacteria\n50.00\t4\t0\t\t3\t    P1\n\
                50.00\t4\t4\tC\t4\t      C1\n10.00\t1\t0\t\t5\t    F1\n10.00\t1\t0\tG\t6\t      G1\n\
                10.00\t1\t1\tS\t7\t        S1\n10.00\t1\t0\t\t8\t    S two\n10.00\t1\t1\tS1\t9\t      strain\n\
                10.00\t2\t2\t\t10\t    leaf\n10.00\t1\t1\t\t11\t  S three\n";
    let (report, doubts) = KrakenReport::parse(text.as_bytes()).unwrap();
    let ranks: Vec<&str> = report.rows().iter().map(|row| &*row.rank).collect();
    assert_eq!(ranks, ["R", "D", "P", "C", "F", "G", "S", "S", "S1", "D1", "R1"]);
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    assert!(doubts[0].starts_with("line 10: the rank of leaf has no letter"), "{doubts:?}");
    assert!(doubts[0].contains("(2 rows like this)"), "{doubts:?}");
}

#[test]
fn what_is_damaged_is_refused() {
    let bad = |from: &str, to: &str| {
        let text = PLAIN.replacen(from, to, 1);
        assert_ne!(text, PLAIN, "{from}");
        parse(text.as_bytes()).unwrap_err()
    };
    for (from, to, message) in [
        (
            "\t      Pseudo",
            "\t        Pseudo",
            "line 5: its name is indented for level 4, and the line above leads to level 3 at \
             most: each level has two blanks; are lines missing?",
        ),
        ("\t  cell", "\t cell", "line 3: its name is indented by 1 blanks: each level has two"),
        ("\t90\t1", "\t9o\t1", "line 2: '9o' is not a number of reads"),
        ("\t90\t1", "\t-90\t1", "line 2: '-90' is not a number of reads"),
        ("\t90\t1", "\t90\t91", "line 2: the clade has 90 reads, fewer than the 91 of its taxon"),
        (
            "\t90\t1",
            "\t87\t1",
            "line 2: the clade has 87 reads, fewer than the 90 of its taxon and the clades below it",
        ),
        ("\t2157", "\t2", "line 6: taxid 2 is in line 4 already"),
        ("\t2157", "\t", "line 6: '' is not a taxid"),
        ("    Archaea", "    ", "line 6: there is no name: is the file cut?"),
        (" 90.00", "ninety", "line 2: 'ninety' is not a percentage"),
        (" 90.00", "-1.00", "line 2: '-1.00' is not a percentage"),
        ("\tD\t2\t", "\td\t2\t", "line 4: 'd' is not a rank code"),
        (
            "\tD\t2\t",
            "\t2\t",
            "line 4: 5 columns where a Kraken-style report has 6 columns, or 8, with tabs between",
        ),
        ("\t2\t", "\t0\t", "line 4: unclassified reads (taxid 0) are below a taxon"),
        (
            "1\troot",
            "1\t  root",
            "line 2: its name is indented, and there is no taxon above it: are the first lines missing?",
        ),
    ] {
        assert_eq!(bad(from, to), message);
    }
    let huge = format!("0\t{}\t0\tR\t1\troot\n", MAX_READS);
    assert!(parse(huge.as_bytes()).unwrap_err().ends_with("is not a number of reads"));
}

#[test]
fn reports_of_no_reads_and_of_two_decimals_are_reports() {
    let none = parse(b"  -nan\t0\t0\tU\t0\tunclassified\n  -nan\t0\t0\tR\t1\troot\n").unwrap();
    assert!(none.rows()[1].percent == 0.0 && none.total() == 0);
    let bracken = parse(b"100.00\t9\t0\tR\t1\troot\n33.33\t3\t0\tG\t5\t  x\n").unwrap();
    assert_eq!(bracken.total(), 9);
}

#[test]
fn rows_are_put_into_our_order() {
    let text = "0\t3\t0\tR\t1\troot\n0\t1\t1\tD\t9\t  a\n0\t1\t1\tD\t8\t  b\n\
                0\t1\t1\tD\t7\t  c\n0\t4\t4\tU\t0\tunclassified\n";
    let report = parse(text.as_bytes()).unwrap();
    let taxids: Vec<u64> =
        report.in_order().into_iter().map(|at| report.rows()[at].taxid).collect();
    assert_eq!(taxids, [0, 1, 7, 8, 9]);
}

/// Returns the warnings about a report, without the part after the numbers.
fn doubts(text: &str) -> Vec<String> {
    let (_, doubts) = KrakenReport::parse(text.as_bytes()).unwrap();
    let cut = |doubt: &String| doubt.split(": reads that").next().unwrap().to_owned();
    doubts.iter().map(cut).collect()
}

/// Returns the reads of each row's clade and of its taxon itself.
fn numbers(text: &str) -> Vec<(u64, u64)> {
    parse(text.as_bytes()).unwrap().rows().iter().map(|row| (row.clade, row.own)).collect()
}

#[test]
fn reads_that_no_row_has_are_of_the_clades_taxon() {
    // A report of Bracken at level G: no row has reads of its own.
    let genus = "100.00\t2250\t0\tR\t1\troot\n100.00\t2250\t0\tD\t2\t  B\n\
                 80.00\t1800\t0\tG\t3\t    g\n20.00\t450\t0\tG\t4\t    h\n";
    assert_eq!(numbers(genus), [(2250, 0), (2250, 0), (1800, 1800), (450, 450)]);
    assert!(doubts(genus).is_empty());
    // Bracken writes this if a genus has no taxa below it in the report.
    assert!(doubts(&genus.replace("\t450\t0\t", "\t450\t450\t")).is_empty());
    // Bracken writes neither unclassified reads nor lowest rows of two ranks.
    let more = format!("10.00\t250\t250\tU\t0\tunclassified\n{genus}");
    assert_eq!(doubts(&more).len(), 1);
    assert_eq!(doubts(&genus.replace("\tG\t4", "\tF\t4")).len(), 1);
    assert_eq!(doubts(genus.split_inclusive('\n').take(1).collect::<String>().as_str()).len(), 1);
    let part = genus.replace("\t450\t0\t", "\t450\t10\t");
    let (_, doubt) = KrakenReport::parse(part.as_bytes()).unwrap();
    assert!(doubt[0].ends_with("is the report cut or filtered?"), "{doubt:?}");
    // The file was cut between two lines.
    let cut = PLAIN.split_inclusive('\n').take(4).collect::<String>();
    assert_eq!(numbers(&cut), [(10, 10), (90, 1), (89, 9), (80, 80)]);
    assert_eq!(
        doubts(&cut),
        ["2 clades have more reads than their rows add up to, the first in line 3 (cellular \
          organisms); rows hold 31 reads, clades 100"]
    );
    // The unclassified reads are a clade as well.
    let unclassified = "100.00\t7\t0\tU\t0\tunclassified\n";
    assert_eq!((numbers(unclassified), doubts(unclassified).len()), (vec![(7, 7)], 1));
    assert_eq!(doubts(PLAIN), Vec::<String>::new());
}

#[test]
fn rounded_numbers_are_no_doubt() {
    // Bracken truncates estimates to whole numbers.
    let report = |root: u64, species: [u64; 3]| {
        let row = |(at, reads): (usize, &u64)| format!("0\t{reads}\t{reads}\tS\t{}\t  s\n", at + 2);
        let rows: String = species.iter().enumerate().map(row).collect();
        format!("0\t{root}\t0\tR\t1\troot\n{rows}")
    };
    for (root, own) in [(30, 0), (33, 3)] {
        let text = report(root, [10, 10, 10]);
        assert_eq!((numbers(&text)[0], doubts(&text).len()), ((root, own), 0));
    }
    assert_eq!(doubts(&report(34, [10, 10, 10])).len(), 1);
    // The numbers below the clade were rounded up.
    assert_eq!(numbers(&report(27, [10, 10, 10]))[0], (30, 0));
    let error = parse(report(26, [10, 10, 10]).as_bytes()).unwrap_err();
    assert!(error.starts_with("line 1: the clade has 26 reads, fewer than the 30 "), "{error}");
    // If taxa have reads of their own, a single missing row is detected among many.
    let many: String = (0..300).map(|at| format!("0\t1\t1\tS\t{}\t  s\n", at + 2)).collect();
    assert_eq!(doubts(&format!("0\t560\t10\tR\t1\troot\n{many}")).len(), 1);
}

#[test]
fn names_without_indents_are_refused() {
    let stripped = PLAIN.replace("\t  ", "\t").replace("  ", "");
    let error = parse(stripped.as_bytes()).unwrap_err();
    assert!(error.starts_with("line 3: its name is not indented, as is required below"), "{error}");
    // A single name without indent is an error; a report without a root, or of domains only, is valid.
    let one = PLAIN.replace("    Archaea", "Archaea");
    assert!(parse(one.as_bytes()).unwrap_err().starts_with("line 6: its name is not indented"));
    let rootless = "0\t5\t0\tD\t2\tB\n0\t5\t5\tP\t3\tp\n";
    assert!(parse(rootless.as_bytes()).unwrap_err().starts_with("line 2: its name is not"));
    let flat = "0\t5\t5\tS\t2\ts\n0\t5\t5\tS\t3\tt\n";
    assert!(parse(flat.as_bytes()).unwrap_err().starts_with("line 2: its name is not"));
    let domains = "0\t5\t0\tD\t2\tB\n0\t5\t5\tP\t3\t  p\n0\t4\t4\tD\t4\tA\n";
    assert_eq!(parse(domains.as_bytes()).unwrap().total(), 9);
    // Any number of tabs, in reports with and without minimizers.
    for tabs in ["\t", "\t\t", "\t\t\t", "\t\t\t\t"] {
        for columns in ["", "\t7\t5"] {
            let text = format!("0\t5\t0{columns}\tR\t1\troot\n0\t5\t5{columns}\tD\t2\t{tabs}B\n");
            assert_eq!(
                parse(text.as_bytes()).unwrap_err(),
                "line 2: its name is indented by tabs: each level has two blanks"
            );
        }
    }
}

#[test]
fn percentages_are_those_of_the_reads() {
    let odd =
        PLAIN.replace(" 90.00", "225000.00").replace("80.00", "80,00%").replace("60.00", "nan");
    let percents = |text: &str| -> Vec<f64> {
        parse(text.as_bytes()).unwrap().rows().iter().map(|row| row.percent).collect()
    };
    assert_eq!(percents(&odd), percents(PLAIN));
    assert_eq!(percents(PLAIN), [10.0, 90.0, 89.0, 80.0, 60.0, 9.0]);
}

#[test]
fn empty_reports_are_samples_of_no_reads() {
    for text in ["", "\n", " \r\n\n", "\u{feff}"] {
        let (report, doubts) = KrakenReport::parse(text.as_bytes()).unwrap();
        assert!(report.rows().is_empty() && report.total() == 0);
        assert!(doubts.len() == 1 && doubts[0].starts_with("the report is empty"), "{doubts:?}");
    }
    let marked = format!("\u{feff}{}", PLAIN.replace('\n', "\r\n"));
    assert_eq!(parse(marked.as_bytes()), parse(PLAIN.as_bytes()));
}

#[test]
fn reports_of_krakenuniq_are_read_by_their_columns_of_reads() {
    let text = "# KrakenUniq v1.0.4 DATE:2026\n# CL:krakenuniq --db db x.fq\n\n\
                %\treads\ttaxReads\tkmers\tdup\tcov\ttaxID\trank\ttaxName\n\
                20\t20\t20\t900\t1.1\tNA\t0\tno rank\tunclassified\n\
                80\t80\t0\t800\t1.2\t0.001\t1\tno rank\troot\n\
                80\t80\t10\t800\t1.2\t0.001\t131567\tno rank\t  cellular organisms\n\
                70\t70\t5\t700\t1.2\t0.01\t2\tsuperkingdom\t    Bacteria\n\
                65\t65\t65\t700\t1.2\t0.01\t562\tspecies\t      E\n";
    let report = parse(text.as_bytes()).unwrap();
    let row = |row: &ReportRow| (row.clade, row.own, row.rank.clone(), row.taxid, row.depth);
    assert_eq!(
        report.rows().iter().map(row).collect::<Vec<_>>(),
        [
            (20, 20, "U".to_owned(), 0, 0),
            (80, 0, "R".to_owned(), 1, 0),
            (80, 10, "R1".to_owned(), 131567, 1),
            (70, 5, "D".to_owned(), 2, 2),
            (65, 65, "S".to_owned(), 562, 3),
        ]
    );
    assert_eq!(doubts(text), Vec::<String>::new());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(parse(lines[4..].join("\n").as_bytes()).unwrap(), report, "without the heading");
    assert_eq!(doubts(&lines[..4].join("\n")).len(), 1, "a sample without reads");
    let error = parse(text.replace("\t562\t", "\tE\t").as_bytes()).unwrap_err();
    assert_eq!(error, "line 9: 'E' is not a taxid");
}

/// Kraken 2 before 2.17 writes no domain codes for a taxonomy of 2025.
#[test]
fn domains_are_known_by_their_names() {
    let text = "0\t9\t0\tR\t1\troot\n0\t5\t0\tR1\t131567\t  cellular organisms\n\
                0\t5\t0\tR2\t2\t    Bacteria\n0\t5\t5\tR3\t7\t      x\n\
                0\t4\t4\tR1\t10239\t  Viruses\n";
    let letters: Vec<_> =
        parse(text.as_bytes()).unwrap().rows().iter().map(ReportRow::letter).collect();
    assert_eq!(letters, [None, None, Some('D'), None, Some('D')]);
    let genus = parse(text.replace("\tR2\t", "\tG\t").as_bytes()).unwrap();
    assert_eq!(genus.rows()[2].letter(), Some('G'), "the stick insect");
}

#[test]
fn other_forms_are_named() {
    let error = |text: &str| parse(text.as_bytes()).unwrap_err();
    assert_eq!(
        error("d__Bacteria\t7\nd__Bacteria|p__x\t7\n"),
        "line 1: not a report in Kraken's style, but an mpa table (MetaPhlAn's, or kraken2 \
         --use-mpa-style)"
    );
    let metabuli = "100.0\t5\t0\tno rank\t1\troot\n100.0\t5\t5\tsuperkingdom\t2\t  B\n";
    assert!(
        error(metabuli).contains("line 1: not a report in Kraken's style, but Metabuli's report")
    );
    // In later lines, other formats are not considered: the line is damaged.
    let error = error(&PLAIN.replace("\tD\t2157\t", "\tdomain\t2157\t"));
    assert_eq!(error, "line 6: 'domain' is not a rank code");
}

proptest! {
    /// Any changed report is either refused or can be written and read back.
    #[test]
    fn any_bytes_are_a_report_or_refused(
        changes in proptest::collection::vec((0usize..400, any::<u8>(), 0u8..3), 0..6),
    ) {
        let mut text = PLAIN.as_bytes().to_vec();
        for (at, byte, what) in changes {
            let at = at % text.len();
            match what {
                0 => text[at] = byte,
                1 => text.insert(at, b" \t\n0.UD"[usize::from(byte) % 7]),
                _ => drop(text.remove(at)),
            }
        }
        if let Ok(report) = parse(&text) {
            let mut back = Vec::new();
            report.write(&mut back).unwrap();
            let again = parse(&back).unwrap();
            let bare = |report: KrakenReport| {
                let mut rows = report.rows;
                rows.iter_mut().for_each(|row| row.percent = 0.0);
                rows
            };
            let sorted = report.sorted();
            prop_assert_eq!(sorted.rows.len(), report.rows.len());
            prop_assert_eq!(bare(again), bare(report));
        }
    }
}

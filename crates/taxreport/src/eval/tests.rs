use std::io::Write;

use super::*;
use merganser_taxonomy::NodeInfo;

/// Genera 10 and 20 of domain 2; species 11, 12 and 21; strain 110 of species 11; family 5 above genus 10.
fn tree() -> Taxonomy {
    let node = |taxid, parent, rank: &str, name: &str| NodeInfo {
        taxid,
        parent,
        rank: rank.into(),
        name: name.into(),
    };
    Taxonomy::new(
        vec![
            node(1, 1, "no rank", "root"),
            node(2, 1, "superkingdom", "Bacteria"),
            node(5, 2, "family", "Anatidae"),
            node(10, 5, "genus", "Mergus"),
            node(20, 2, "genus", "Lone"),
            node(11, 10, "species", "Mergus merganser"),
            node(110, 11, "strain", "Mergus merganser M1"),
            node(12, 10, "species", "Mergus serrator, var."),
            node(13, 10, "species", "Mergus virus (2)"),
            node(14, 10, "species", "serovar 9,12:2"),
            node(21, 20, "species", "Twin"),
            node(22, 20, "species", "Twin"),
        ],
        vec![(99, 12)],
    )
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn evaluate(truth: &str, results: &str) -> Result<Evaluation, Error> {
    let tree = tree();
    let sequences = HashMap::from([("NC_1.2".to_owned(), 110), ("2".to_owned(), 12)]);
    let names = Names { taxonomy: &tree, sequences: &sequences };
    Truth::read(file(truth).path(), &tree)?.evaluate(file(results).path(), &names)
}

/// (rank, with rank, assigned, right)
fn scores(evaluation: &Evaluation) -> Vec<(&'static str, u64, u64, u64)> {
    let row = |at: &RankScore| (at.rank.name(), at.with_rank, at.assigned, at.right);
    evaluation.ranks.iter().map(row).collect()
}

const TRUTH: &str = "# read\ttaxid\na\t110\nb\t12\nc\t21\nd\t99\ne\t11\n";
/// Read a is right at the strain, b has another species of its genus, c only the domain, d is unclassified, and e is
/// right at the genus.
const EXPECTED: [(&str, u64, u64, u64); 4] =
    [("species", 5, 2, 1), ("genus", 5, 3, 3), ("family", 4, 3, 3), ("domain", 5, 4, 4)];

#[test]
fn krakens_columns() {
    let plain = "C\ta\t110\t100\t110:5\nC\tb\t11\t100\t11:3\nC\tc\t2\t100\t2:9\nU\td\t0\t100\t0:0\n\
        C\te\t10\t100|100\t10:3 |:| 10:4\n";
    let found = evaluate(TRUTH, plain).unwrap();
    assert_eq!(scores(&found), EXPECTED);
    assert_eq!((found.reads, found.classified, found.missing), (5, 4, 0));
    let species = found.ranks[0];
    assert_eq!(species.precision(), Some(0.5));
    assert_eq!(species.sensitivity(found.reads), 0.2);
    // Shares at the rank of species: true 2/5 for 11, 2/5 for 12, 1/5 for 21; assigned 2/2 for 11.
    assert!((species.deviation - 1.2).abs() < 1e-9 && species.false_share == 0.0);
    let named = "C\ta\tMergus merganser M1 (taxid 110)\t9\t\nC\tb\tMergus merganser (taxid 11)\t9\t\n\
        C\tc\tBacteria (taxid 2)\t9\t\nU\td\tunclassified (taxid 0)\t9\t\nC\te\tMergus (taxid 10)\t9\t\n";
    assert_eq!(evaluate(TRUTH, named).unwrap(), found);
}

#[test]
fn a_pair_counts_for_each_mate_of_the_truth() {
    let pairs = "C\ta\t11\t9|9\t\nC\tb\t12\t9|9\t\n";
    let both = evaluate("a/1\t11\na/2\t11\nb/1\t12\nb/2\t11\n", pairs).unwrap();
    assert_eq!((both.reads, both.classified, both.missing), (4, 4, 0));
    assert_eq!(scores(&both)[0], ("species", 4, 4, 3));
    let first = evaluate("a/1\t11\nb/1\t12\n", pairs).unwrap();
    assert_eq!((first.reads, first.missing, scores(&first)[0]), (2, 0, ("species", 2, 2, 2)));
    let twice = evaluate("a/1\t11\na/2\t11\n", "C\ta\t11\t9|9\t\nC\ta/2\t11\t9\t\n");
    assert!(twice.unwrap_err().to_string().contains("line 2: a/2 is in an earlier line already"));
    let cut = evaluate("a\t110\n", "C\ta\t11").unwrap_err().to_string();
    assert!(cut.ends_with("the file is cut short"), "{cut}");
}

#[test]
fn metacaches_table() {
    let expected =
        scores(&evaluate(TRUTH, "C\ta\t110\t\nC\tb\t11\t\nC\tc\t2\t\nC\te\t10\t\n").unwrap());
    assert_eq!(expected, EXPECTED);
    let tables = [
        "# TABLE_LAYOUT: query_header\t|\trank:taxname\na words\t|\tsequence:NC_1.2\nb\t|\t\
            species:Mergus merganser\nc\t|\tdomain:Bacteria\nd\t|\t--\ne\t|\tgenus:Mergus\n",
        "# TABLE_LAYOUT: query_id | query_header | top_hits | rank:taxname(taxid)\n\
            0\t|\ta\t|\tNC_1.2:9\t|\tsequence:NC_1.2(-3)\n1\t|\tb\t|\tx:1\t|\tspecies:M(11)\n\
            2\t|\tc\t|\t\t|\tdomain:B(2)\n3\t|\td\t|\t\t|\t--(0)\n4\t|\te\t|\t\t|\tgenus:M(10)\n",
        "a\t|\t110\nb\t|\tspecies:11\nc\t|\t2\nd\t|\t0\ne\t|\tgenus:10,family:5,domain:2\n",
        "# TABLE_LAYOUT: query_header | rank | taxname | taxid\na\t|\tx\t|\ty\t|\t110\n\
            b\t|\tspecies\t|\tMergus merganser\t|\t11\nc\t|\tdomain\t|\tBacteria\t|\t2\n\
            d\t|\t--\t|\t--\t|\t0\ne\t|\tgenus\t|\tMergus\t|\t10\n",
    ];
    for table in tables {
        assert_eq!(scores(&evaluate(TRUTH, table).unwrap()), EXPECTED, "{table}");
    }
    let comma = evaluate("a\t12\n", "a\t|\tspecies:Mergus serrator, var.\n").unwrap();
    assert_eq!(comma.ranks[0].right, 1);
}

#[test]
fn names_that_look_like_taxids() {
    let layout = |taxon: &str| format!("# TABLE_LAYOUT: query_header\t|\t{taxon}\n");
    let (plain, beside) = (layout("rank:taxname"), layout("rank:taxname(taxid)"));
    let lineage = layout("species:taxname(taxid),genus:taxname(taxid),domain:taxname(taxid)");
    for (taxid, head, taxon) in [
        (13, &plain, "species:Mergus virus (2)"),
        (14, &plain, "species:serovar 9,12:2"),
        (12, &plain, "sequence:2"),
        (12, &String::new(), "sequence:2"),
        (13, &beside, "species:Mergus virus (2)(13)"),
        (12, &beside, "sequence:2(-7)"),
        (12, &lineage, "species:Mergus serrator, var.(12),genus:Mergus(10),domain:Bacteria(2)"),
        (14, &lineage, "species:serovar 9,12:2(14),genus:Mergus(10),domain:Bacteria(2)"),
    ] {
        let found = evaluate(&format!("a\t{taxid}\n"), &format!("{head}a\t|\t{taxon}\n")).unwrap();
        assert_eq!(found.ranks[0].right, 1, "{head}{taxon}");
    }
}

#[test]
fn reads_that_only_one_side_has() {
    let found = evaluate("a/1\t11\nb\t11\n", "C\ta\t11\t\nC\tz\t12\t\nU\ty\t0\t\n").unwrap();
    assert_eq!((found.reads, found.classified, found.missing), (2, 1, 1));
    assert_eq!(found.unknown, (2, Some("z".to_owned())));
    assert_eq!(scores(&found)[0], ("species", 2, 1, 1));
    let wrong = evaluate("a\t11\nb\t11\n", "C\ta\t11\t\nC\tb\t12\t\n").unwrap();
    assert_eq!((wrong.ranks[0].deviation, wrong.ranks[0].false_share), (1.0, 0.5));
}

#[test]
fn other_reads_are_not_judged() {
    let error = evaluate("a\t11\n", "C\tz\t11\t\nU\ty\t0\t\n").unwrap_err().to_string();
    assert!(
        error.ends_with("none of the reads of the truth is in it: it is of other reads"),
        "{error}"
    );
    // A file may have only the lines of classified reads, and none were classified.
    assert_eq!(evaluate("a\t11\n", "").unwrap().missing, 1);
}

#[test]
fn marks_and_line_ends_of_other_systems_are_no_part_of_names() {
    let truth = format!("\u{feff}{}", TRUTH.replace('\n', "\r\n"));
    let results = "\u{feff}C\ta\t110\r\nC\tb\t11\r\nC\tc\t2\r\nU\td\t0\r\nC\te\t10\r\n";
    assert_eq!(scores(&evaluate(&truth, results).unwrap()), EXPECTED);
    // Taxid 99 was merged into 12.
    let merged = evaluate("a\t12\n", "C\ta\t99\t\n").unwrap();
    assert_eq!(merged.ranks[0].right, 1);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let message = |truth, results| match evaluate(truth, results) {
        Ok(found) => panic!("{found:?}"),
        Err(error) => {
            let text = error.to_string();
            text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned())
        }
    };
    let cases = [
        ("a\n", "", "line 1: not a read name, a tab and a taxid"),
        (
            "a\t11\nb\t7\n",
            "",
            "line 2: taxid 7 is not in the taxonomy, or deleted: give the taxonomy that the truth is from, or \
             remove the line",
        ),
        ("a\t0\n", "", "line 1: taxid 0 is no taxon: remove reads without a true taxon"),
        ("a\t11\na\t12\n", "", "line 2: a has another taxid in an earlier line"),
        ("a\t11\n", "C\ta\t11\t\nC\ta\t12\t\n", "line 2: a is in an earlier line already"),
        ("a\t11\n", "C\ta\n", "line 1: fewer than three columns"),
        ("a\t11\n", "C\ta\tx\n", "line 1: \"x\" is not a taxid"),
        (
            "a\t11\n",
            "C\ta\t7\n",
            "line 1: taxid 7 is not in the taxonomy, or deleted: give the taxonomy that the results were made \
             with",
        ),
        ("a\t11\n", "@a\nACGT\n", "line 1: neither Kraken's columns nor MetaCache's table"),
        (
            "a\t11\n",
            "a\t|\tspecies:Twin\n",
            "line 1: Twin is the name of several taxa: write results with taxids",
        ),
        ("a\t11\n", "a\t|\tspecies:Nothing\n", "line 1: Nothing: no such name in the taxonomy"),
        (
            "a\t11\n",
            "a\t|\tsequence:NC_9\n",
            "line 1: NC_9: the taxon of a sequence is only in the database: give it with `database`",
        ),
    ];
    for (truth, results, expected) in cases {
        assert_eq!(message(truth, results), expected);
    }
}

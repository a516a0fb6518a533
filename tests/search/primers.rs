//! Amplicons of primer pairs, and hits as FASTA.

use merganser_test_support::Dir;
use merganser_test_support::oracle::complement;
use merganser_test_support::reads::Random;

/// Returns a folder with a pair of primers, and a text that has its amplicon of 62 bases from base 100 of each contig on,
/// in the second one as the reverse complement.
fn planted() -> (Dir, String) {
    let dir = Dir::new();
    let mut random = Random(7);
    let mut bases = |count| String::from_utf8(random.bases(count)).unwrap();
    let (forward, reverse, inner) = ("GTGYCAGCMGCCGCGGTAA", "GGACTACNVGGGTWTCTAAT", bases(23));
    let amplicon = format!("GTGCCAGCAGCCGCGGTAA{inner}ATTAGATACCCTGGTAGTCC");
    let turned = String::from_utf8(complement(amplicon.as_bytes())).unwrap();
    let contigs = [&amplicon, &turned].map(|middle| bases(100) + middle + &bases(100));
    dir.write("t.fa", format!(">a\n{}\n>b\n{}\n", contigs[0], contigs[1]));
    dir.write("pairs.tsv", format!("# 16S\nV4\t{forward}\t{reverse}\n"));
    (dir, amplicon)
}

fn text(dir: &Dir, name: &str) -> String {
    String::from_utf8(dir.read(name)).unwrap()
}

#[test]
fn amplicons_are_found_on_both_strands() {
    let (dir, amplicon) = planted();
    let ran = dir.run("search --primers pairs.tsv -e 2 t.fa -o o.tsv --counts c.tsv --json j.json");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[1].starts_with("2 amplicons, 4 hits: 4 with 0 edits"), "{lines:?}");
    ran.ok();
    let header =
        "sequence\tstart\tend\tpair\tstrand\tlength\tforward_edits\treverse_edits\tamplicon\n";
    let line =
        |contig: &str, strand| format!("{contig}\t100\t162\tV4\t{strand}\t62\t0\t0\t{amplicon}\n");
    assert_eq!(text(&dir, "o.tsv"), format!("{header}{}{}", line("a", '+'), line("b", '-')));
    assert_eq!(
        text(&dir, "c.tsv"),
        "pattern\tletters\tedits_0\tedits_1\tedits_2\ttotal\n\
         V4_F\tGTGYCAGCMGCCGCGGTAA\t2\t0\t0\t2\nV4_R\tGGACTACNVGGGTWTCTAAT\t2\t0\t0\t2\n"
    );
    assert!(text(&dir, "j.json").contains("\"amplicons\": 2"));
    dir.run("search -q --primers pairs.tsv -e 2 t.fa -o o.fa").ok();
    let record = |contig: &str, strand| format!(">V4 {contig}:101-162({strand})\n{amplicon}\n");
    assert_eq!(text(&dir, "o.fa"), record("a", '+') + &record("b", '-'));
    let bed = dir.run("search -q --primers pairs.tsv -e 2 t.fa --format bed").ok();
    assert_eq!(bed, "a\t100\t162\tV4\t0\t+\nb\t100\t162\tV4\t0\t-\n");
    for (limits, count) in
        [("--min-amplicon 63", 0), ("--max-amplicon 61", 0), ("--max-amplicon 62", 2)]
    {
        let args = format!("search -q --primers pairs.tsv -e 2 t.fa --format bed {limits}");
        assert_eq!(dir.run(&args).ok().lines().count(), count, "{limits}");
    }
}

#[test]
fn hits_are_written_in_the_direction_of_the_pattern() {
    let (dir, _) = planted();
    let hits = dir.run("search -q -p GTGYCAGCMGCCGCGGTAA -e 1 t.fa --format fasta").ok();
    let record = |place: &str| format!(">GTGYCAGCMGCCGCGGTAA {place}\nGTGCCAGCAGCCGCGGTAA\n");
    assert_eq!(hits, record("a:101-119(+)") + &record("b:144-162(-)"));
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let (dir, _) = planted();
    dir.write("bad.tsv", "V4\tACGT\n");
    for (args, code, problem) in [
        ("--primers bad.tsv -e 0 t.fa", 1, "bad.tsv: line 1: 2 columns: write NAME<TAB>FORWARD"),
        ("--primers none.tsv -e 0 t.fa", 1, "none.tsv"),
        ("--primers pairs.tsv -e 0 t.fa -o x.bam", 2, "cannot be BAM: end its name in .tsv, .bed"),
        (
            "--primers pairs.tsv -e 0 t.fa --format sam",
            2,
            "amplicons are written as TSV, BED or FASTA",
        ),
        ("--primers pairs.tsv -e 0 t.fa --min-amplicon 9 --max-amplicon 8", 2, "is larger than"),
        ("--primers pairs.tsv -e 0 t.fa --max-amplicon 0", 2, "out of range: 1 to 10000000"),
    ] {
        let error = dir.run(&format!("search {args}")).fails(code);
        assert!(error.contains(problem), "{args}: {error}");
    }
}

//! A table of texts and their records, which are read in every form.

use crate::common::{Record, Sums, naive, options, read_alone, read_together, reader_of, record};
use merganser_io::{Input, Reader};
use merganser_test_forms::all_forms;

type Expected = Vec<Record>;

fn fasta(header: &str, sequence: &str) -> Record {
    record(header, sequence, None)
}

fn fastq(header: &str, sequence: &str, quality: &str) -> Record {
    record(header, sequence, Some(quality))
}

fn fasta_cases() -> Vec<(&'static str, String, Expected)> {
    let long = "ACGTTGCAAC".repeat(2000);
    let wrapped: String = long
        .as_bytes()
        .chunks(60)
        .map(|line| format!("{}\n", String::from_utf8_lossy(line)))
        .collect();
    vec![
        ("nothing", String::new(), vec![]),
        ("blank lines", "\n\r\n  \n\n".into(), vec![]),
        ("one", ">a b\nACGT\n".into(), vec![fasta("a b", "ACGT")]),
        ("no last line end", ">a\nACGT".into(), vec![fasta("a", "ACGT")]),
        (
            "CRLF",
            ">a\r\nAC\r\nGT\r\n>b\r\nTT\r\n".into(),
            vec![fasta("a", "ACGT"), fasta("b", "TT")],
        ),
        ("lower case, N, U", ">a\nacgtNNu\n".into(), vec![fasta("a", "acgtNNu")]),
        ("blank lines before", "\n\r\n\n>a\nAC\n".into(), vec![fasta("a", "AC")]),
        (
            "blank lines within",
            ">a\n\nAC\n\n\nGT\n\n>b\n\n".into(),
            vec![fasta("a", "ACGT"), fasta("b", "")],
        ),
        ("only headers", ">a\n>b\n>c".into(), vec![fasta("a", ""), fasta("b", ""), fasta("c", "")]),
        ("no name", ">\nAC\n>\nGT".into(), vec![fasta("", "AC"), fasta("", "GT")]),
        ("greater-than in header", ">a>b\nACGT\n".into(), vec![fasta("a>b", "ACGT")]),
        ("carriage return in line", ">a\nAC\rGT\n\r\r\nA".into(), vec![fasta("a", "ACGTA")]),
        (
            "blanks",
            "> a b\nACGT \nAC GT\t\r\n \n\t \nTT\n>\tb \n   A\n \n".into(),
            vec![fasta("a b", "ACGTACGTTT"), fasta("b ", "A")],
        ),
        ("byte order mark", "\u{feff}>a\nACGT\n".into(), vec![fasta("a", "ACGT")]),
        ("byte order mark, blank line", "\u{feff}\r\n>a\nAC\n".into(), vec![fasta("a", "AC")]),
        (
            "comments",
            ";x\n\n;>y\n>a\nACGT\n; TTTT > @\nTT;\n;\n>b\n;GG\nG\n;end".into(),
            vec![fasta("a", "ACGTTT;"), fasta("b", "G")],
        ),
        (
            "long comment",
            format!(";{0}\n>a\nAC\n;{0}\nGT\n", "acgt ".repeat(50)),
            vec![fasta("a", "ACGT")],
        ),
        ("letters that are not bases", ">a\nAC-G*T.5\n".into(), vec![fasta("a", "AC-G*T.5")]),
        (
            "one base per line",
            format!(">a\n{}", "A\nC\nG\nT\n".repeat(30)),
            vec![fasta("a", &"ACGT".repeat(30))],
        ),
        (
            "one long line",
            format!(">a\n{long}\n>b\n{long}"),
            vec![fasta("a", &long), fasta("b", &long)],
        ),
        (
            "wrapped",
            format!(">a\n{wrapped}>b\n{wrapped}"),
            vec![fasta("a", &long), fasta("b", &long)],
        ),
        (
            "long header",
            format!(">{}\nACGT\n", "h ".repeat(300)),
            vec![fasta(&"h ".repeat(300), "ACGT")],
        ),
    ]
}

fn fastq_cases() -> Vec<(&'static str, String, Expected)> {
    let long = "ACGTTGCAAC".repeat(1000);
    let quality = "I@+>F".repeat(2000);
    vec![
        ("one", "@a b\nACGT\n+\nIIII\n".into(), vec![fastq("a b", "ACGT", "IIII")]),
        ("no last line end", "@a\nACGT\n+\nIIII".into(), vec![fastq("a", "ACGT", "IIII")]),
        (
            "CRLF",
            "@a\r\nAC\r\n+\r\nII\r\n@b\r\nG\r\n+\r\nI\r\n".into(),
            vec![fastq("a", "AC", "II"), fastq("b", "G", "I")],
        ),
        ("CRLF, no last line end", "@a\r\nAC\r\n+\r\nII".into(), vec![fastq("a", "AC", "II")]),
        (
            "header again",
            "@a\nAC\n+a\nII\n@b\nG\n+x\nI\n".into(),
            vec![fastq("a", "AC", "II"), fastq("b", "G", "I")],
        ),
        (
            "quality like headers",
            "@a\nACGT\n+\n@@@@\n@b\nACGT\n+\n++++\n@c\nAC\n+\n>@\n".into(),
            vec![fastq("a", "ACGT", "@@@@"), fastq("b", "ACGT", "++++"), fastq("c", "AC", ">@")],
        ),
        (
            "empty sequence",
            "@a\n\n+\n\n@b\nA\n+\nI\n".into(),
            vec![fastq("a", "", ""), fastq("b", "A", "I")],
        ),
        ("empty sequence at the end", "@a\n\n+\n".into(), vec![fastq("a", "", "")]),
        ("blank lines after", "@a\nAC\n+\nII\n\n\r\n\n".into(), vec![fastq("a", "AC", "II")]),
        (
            "many blank lines after",
            format!("@a\nAC\n+\nII\n{}", "\n".repeat(50)),
            vec![fastq("a", "AC", "II")],
        ),
        ("blank lines before", "\n\n\n@a\nAC\n+\nII\n".into(), vec![fastq("a", "AC", "II")]),
        ("lines of blanks after", "@a\nAC\n+\nII\n \n\t\r\n".into(), vec![fastq("a", "AC", "II")]),
        (
            "blanks",
            "@ a b\nAC \t\n+ \nII \n@\tc\nACGT  \r\n+\nIIII\n@d\n A\n+\nI \n".into(),
            vec![fastq("a b", "AC", "II"), fastq("c", "ACGT", "IIII"), fastq("d", "A", "I")],
        ),
        ("byte order mark", "\u{feff}@a\nAC\n+\nII\n".into(), vec![fastq("a", "AC", "II")]),
        (
            "long",
            format!("@a\n{long}\n+\n{quality}\n@b\nA\n+\nI\n@c\n{long}\n+\n{quality}"),
            vec![fastq("a", &long, &quality), fastq("b", "A", "I"), fastq("c", &long, &quality)],
        ),
    ]
}

fn all_cases() -> Vec<(&'static str, String, Expected)> {
    fasta_cases().into_iter().chain(fastq_cases()).collect()
}

const CHUNKS: [usize; 7] = [1, 2, 7, 16, 64, 4096, 1 << 20];

#[test]
fn the_naive_parser_agrees_with_the_table() {
    for (name, text, expected) in all_cases() {
        if name != "blank lines" {
            assert_eq!(naive(text.as_bytes()), expected, "{name}");
        }
    }
}

#[test]
fn every_case_at_every_chunk_size() {
    for (name, text, expected) in all_cases() {
        for chunk in CHUNKS {
            for overlap in [0, 1, 4, 30] {
                let reader = reader_of(text.as_bytes(), options(chunk, overlap, 1));
                let sink = read_alone(&reader, overlap + 1).unwrap();
                assert_eq!(sink.records, expected, "{name}, chunks of {chunk}, overlap {overlap}");
                let kmers = crate::common::kmers_of(&expected, overlap + 1);
                assert_eq!(sink.kmers, kmers, "{name}, chunks of {chunk}, overlap {overlap}");
            }
        }
    }
}

#[test]
fn every_case_in_every_form_by_several_workers() {
    for (name, text, expected) in all_cases() {
        let expected = Sums::of(&expected, 5);
        for (form, bytes) in all_forms(text.as_bytes()) {
            for (chunk, workers) in [(7, 2), (16, 3), (64, 1), (4096, 2)] {
                let reader = reader_of(&bytes, options(chunk, 4, workers));
                let sums = read_together(&reader, workers, 5).unwrap();
                assert_eq!(sums, expected, "{name}, {form}, chunks of {chunk}, {workers} workers");
            }
        }
    }
}

#[test]
fn plain_files_are_read_by_ranges() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    for (name, text, expected) in all_cases() {
        std::fs::write(&path, &text).unwrap();
        let inputs = [Input::File(path.clone()), Input::File(path.clone())];
        let twice = [expected.clone(), expected].concat();
        for (chunk, workers) in [(7, 1), (16, 3), (4096, 2)] {
            let open = || Reader::open(&inputs, options(chunk, 4, workers)).unwrap();
            if workers == 1 {
                assert_eq!(read_alone(&open(), 5).unwrap().records, twice, "{name}");
            }
            let sums = read_together(&open(), workers, 5).unwrap();
            assert_eq!(sums, Sums::of(&twice, 5), "{name}, chunks of {chunk}, {workers} workers");
        }
    }
}

//! Patterns, texts and options: the hits are those of the literal definition, and those of the same texts in a file.
#![no_main]

use std::fmt::Write;

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::databases::context;
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::search::Case;
use merganser_io::Output;
use merganser_search::{Format, Hit, Writer, find, run_with};

/// Returns the table of the texts in a file.
fn table_of_file(case: &Case) -> String {
    let folder = folder();
    let (from, to) = (folder.path().join("texts.fa"), folder.path().join("hits.tsv"));
    let mut fasta = Vec::new();
    for (number, text) in case.texts.iter().enumerate() {
        fasta.extend_from_slice(format!(">t{number} x\n").as_bytes());
        fasta.extend_from_slice(text);
        fasta.push(b'\n');
    }
    write(&from, fasta);
    let writer = Writer::new(Format::Tsv, Output::create(&to).expect("a temporary file"));
    run_with(&case.config, &case.patterns, &[from.into()], writer, &context()).expect("a run");
    std::fs::read_to_string(to).expect("a table")
}

/// Returns the table of hits.
fn table(case: &Case, hits: &[Vec<Hit>]) -> String {
    let mut table = "sequence\tstart\tend\tpattern\tedits\tstrand\tcigar\tletters\n".to_owned();
    for (number, hits) in hits.iter().enumerate() {
        for hit in hits {
            let strand = if hit.reverse { '-' } else { '+' };
            let (place, pattern) = (&hit.alignment, case.patterns[hit.pattern].name());
            write!(table, "t{number}\t{}\t{}\t{pattern}\t", place.start, place.end).expect("text");
            write!(table, "{}\t{strand}\t", hit.edits).expect("text");
            for (operation, count) in &place.operations {
                write!(table, "{count}{}", operation.letter()).expect("text");
            }
            table += &format!("\t{}\n", String::from_utf8_lossy(&hit.letters));
        }
    }
    table
}

fuzz_target!(|input: &[u8]| {
    let Some(case) = Case::of(input) else { return };
    let Ok(hits) = find(&case.config, &case.patterns, &case.texts) else { return };
    case.texts.iter().zip(&hits).for_each(|(text, hits)| case.check(text, hits));
    if !case.texts.is_empty() {
        assert_eq!(table_of_file(&case), table(&case, &hits));
    }
});

//! Tests with random texts that are cut anywhere.

use crate::common::{
    Record, Sums, kmers_of, naive, options, read_alone, read_together, reader_of, record,
};
use merganser_test_forms::all_forms;
use proptest::prelude::*;

/// The layout of a text.
#[derive(Clone, Debug)]
struct Layout {
    width: usize,
    line_end: &'static str,
    last_line_end: bool,
    /// Whether the text begins with a byte order mark.
    mark: bool,
    /// The blanks after each line of a sequence.
    blanks: &'static str,
    /// A FASTA comment line after each header.
    comment: &'static str,
}

fn layouts() -> impl Strategy<Value = Layout> {
    let ends = prop::sample::select(vec!["\n", "\r\n"]);
    let blanks = prop::sample::select(vec!["", "", " ", "\t ", "\r"]);
    let comments = prop::sample::select(vec!["", "", ";", ";ACGT >x acgt"]);
    (1..80usize, ends, any::<bool>(), any::<bool>(), blanks, comments).prop_map(
        |(width, line_end, last_line_end, mark, blanks, comment)| Layout {
            width,
            line_end,
            last_line_end,
            mark,
            blanks,
            comment,
        },
    )
}

fn sequences() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(("[a-z0-9 >@+]{0,20}", "[ACGTNacgtu]{0,200}"), 0..8)
}

fn finish(mut text: String, layout: &Layout) -> String {
    if !layout.last_line_end && text.ends_with(layout.line_end) {
        text.truncate(text.len() - layout.line_end.len());
    }
    if layout.mark {
        text.insert(0, '\u{feff}');
    }
    text
}

/// Removes the blanks before the name.
fn name(header: &str) -> &str {
    header.trim_start_matches(' ')
}

fn fasta(records: &[(String, String)], layout: &Layout) -> String {
    let mut text = String::new();
    for (header, sequence) in records {
        text += &format!(">{header}{}{}{}", layout.line_end, layout.comment, layout.line_end);
        for line in sequence.as_bytes().chunks(layout.width) {
            text += &String::from_utf8_lossy(line);
            text += layout.blanks;
            text += layout.line_end;
        }
    }
    finish(text, layout)
}

fn fastq(records: &[(String, String)], layout: &Layout) -> String {
    let mut text = String::new();
    for (header, sequence) in records {
        let quality: String = sequence.bytes().map(|base| char::from(base % 90 + 33)).collect();
        let sequence = format!("{sequence}{}", layout.blanks);
        for line in [&format!("@{header}"), &sequence, "+", &quality] {
            text += line;
            text += layout.line_end;
        }
    }
    // An empty last quality without a line end is a missing line, which is valid, too.
    finish(text, layout)
}

fn check(
    text: &str,
    expected: &[Record],
    chunk: usize,
    overlap: usize,
) -> Result<(), TestCaseError> {
    let sink = read_alone(&reader_of(text.as_bytes(), options(chunk, overlap, 1)), overlap + 1)
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&sink.records, expected);
    prop_assert_eq!(sink.kmers, kmers_of(expected, overlap + 1));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_fasta(
        records in sequences(), layout in layouts(), chunk in 1..100usize, overlap in 0..40usize,
    ) {
        let expected: Vec<_> =
            records.iter().map(|(header, sequence)| record(name(header), sequence, None)).collect();
        check(&fasta(&records, &layout), &expected, chunk, overlap)?;
    }

    #[test]
    fn random_fastq(records in sequences(), layout in layouts(), chunk in 1..1000usize) {
        let text = fastq(&records, &layout);
        let expected: Vec<_> = records
            .iter()
            .map(|(header, sequence)| {
                let quality: String =
                    sequence.bytes().map(|base| char::from(base % 90 + 33)).collect();
                record(name(header), sequence, Some(&quality))
            })
            .collect();
        check(&text, &expected, chunk, 3)?;
    }

    /// For any text, the result is the same for every chunk size: the same records, or an error.
    #[test]
    fn any_lines_give_the_same_at_every_chunk_size(
        lines in prop::collection::vec("[>@+A\r; ]{0,4}", 0..12), chunk in 1..40usize,
        format in prop::sample::select(vec!['>', '@']),
    ) {
        let text = format!("{format}{}", lines.join("\n"));
        let read = |chunk| {
            read_alone(&reader_of(text.as_bytes(), options(chunk, 2, 1)), 3)
                .map(|sink| (sink.records, sink.kmers))
                .map_err(|error| error.to_string())
        };
        let (small, whole) = (read(chunk), read(1 << 16));
        // The chunk size may decide which of two errors is reported, but not whether there is one.
        prop_assert_eq!(small.as_ref().ok(), whole.as_ref().ok(), "{:?}, {:?}", &small, &whole);
    }

    #[test]
    fn random_forms_by_several_workers(
        records in sequences(), layout in layouts(), chunk in 1..200usize, workers in 1..4usize,
        quality in any::<bool>(),
    ) {
        let text = if quality { fastq(&records, &layout) } else { fasta(&records, &layout) };
        let expected = Sums::of(&naive(text.as_bytes()), 9);
        for (form, bytes) in all_forms(text.as_bytes()) {
            let reader = reader_of(&bytes, options(chunk, 8, workers));
            let sums = read_together(&reader, workers, 9)
                .map_err(|error| TestCaseError::fail(format!("{form}: {error}")))?;
            prop_assert_eq!(&sums, &expected, "{}", form);
        }
    }
}

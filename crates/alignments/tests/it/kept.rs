//! Alignments that are kept beside their reads.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::batches::{ALL, RecordOptions};
use merganser_alignments::{Format, KeptWriter};
use merganser_io::{
    Error, Input, KeepAlignments, ReadInput, RecordBatch, Records, WhichAlignments,
};
use proptest::prelude::*;

/// Flags of templates whose alignments may lie side by side.
const WHOLE: [&[u16]; 6] =
    [&[77, 141], &[4], &[65, 385, 129, 2177], &[16, 256], &[2048, 0], &[65, 2113, 137]];
/// Flags of templates that a header must declare to lie side by side: mates without their mate.
const LONE: [&[u16]; 2] = [&[77], &[137, 385]];

fn line(name: usize, flags: u16) -> String {
    let place = if flags & 4 == 0 { "c\t7\t9\t8M" } else { "*\t0\t0\t*" };
    let letters = &"ACGTACGTTTGA"[..8];
    format!("r{name}\t{flags}\t{place}\t*\t0\t0\t{letters}\tIIIIIIII\tBC:Z:x{name}\n")
}

fn sam(templates: &[&[u16]], grouped: bool) -> String {
    let says = if grouped { "\tGO:query" } else { "" };
    let mut text = format!("@HD\tVN:1.6{says}\n@SQ\tSN:c\tLN:900\n");
    for (number, flags) in templates.iter().enumerate() {
        flags.iter().for_each(|&flags| text += &line(number, flags));
    }
    text
}

/// The alignments of each batch, read for read, and whether it has pairs.
type Found = Vec<(bool, Vec<Vec<u8>>)>;

/// Reads a file with one worker, and returns what was kept, and all of it as `format`.
fn read(
    path: &Path,
    which: WhichAlignments,
    chunk_bytes: usize,
    format: Format,
) -> Result<(Found, Vec<u8>), Error> {
    let keep = KeepAlignments { which, ..KeepAlignments::default() };
    let writer = KeptWriter::new(format, &keep, "x");
    let options = RecordOptions {
        keep: ALL,
        batch_records: 7,
        chunk_bytes,
        find_pairs: true,
        keep_alignments: keep,
        ..RecordOptions::default()
    };
    let records = Records::open([ReadInput::Single(Input::File(path.to_owned()))], options)?;
    let (mut found, mut batch, mut records_of) = (Found::new(), RecordBatch::default(), Vec::new());
    while records.next(&mut batch)?.is_some() {
        let kept = (0..batch.len()).map(|at| batch.alignments(at).to_vec()).collect();
        found.push((batch.is_paired(), kept));
        (0..batch.len()).for_each(|at| writer.put(&batch, at, &mut records_of).unwrap());
    }
    let mut text = writer.head().unwrap();
    text.extend(records_of);
    Ok((found, text))
}

/// Returns SAM without the line of this program.
fn without_program(text: &[u8]) -> String {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("@PG"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

proptest! {
    #[test]
    fn templates_stay_together_however_a_file_is_cut(
        kinds in prop::collection::vec(0..8usize, 0..60), chunk_bytes in 1..900usize,
    ) {
        let all: Vec<&[u16]> = WHOLE.into_iter().chain(LONE).collect();
        let templates: Vec<&[u16]> = kinds.iter().map(|&kind| all[kind]).collect();
        let folder = tempfile::tempdir().unwrap();
        let [sam_at, bam_at] = ["a.sam", "a.bam"].map(|name| folder.path().join(name));
        let text = sam(&templates, true);
        fs::write(&sam_at, &text).unwrap();
        let (each, bam) = read(&sam_at, WhichAlignments::All, 1 << 20, Format::Bam(0)).unwrap();
        fs::write(&bam_at, &bam).unwrap();
        prop_assert_eq!(each.iter().map(|batch| batch.1.len()).sum::<usize>(), text.lines().count() - 2);
        for path in [&sam_at, &bam_at] {
            for which in [WhichAlignments::All, WhichAlignments::OfTemplates] {
                let (found, again) = read(path, which, chunk_bytes, Format::Sam).unwrap();
                prop_assert_eq!(without_program(&again), &text[..]);
                if which == WhichAlignments::All {
                    continue;
                }
                // Each batch has whole templates.
                let mut templates = templates.iter();
                for (is_paired, kept) in &found {
                    for _ in kept.chunks(1 + usize::from(*is_paired)) {
                        let flags = templates.next().unwrap();
                        let reads = flags.iter().filter(|&&flags| flags & 0x900 == 0).count();
                        prop_assert_eq!(reads == 2, *is_paired);
                    }
                }
                prop_assert!(templates.next().is_none());
            }
            let (found, _) = read(path, WhichAlignments::OfReads, chunk_bytes, Format::Sam).unwrap();
            let primary = templates.iter().flat_map(|flags| flags.iter());
            let count = primary.filter(|&&flags| flags & 0x900 == 0).count();
            prop_assert_eq!(found.iter().map(|batch| batch.1.len()).sum::<usize>(), count);
        }
    }

    #[test]
    fn templates_that_are_apart_are_found(
        kinds in prop::collection::vec(0..6usize, 1..40), chunk_bytes in 1..900usize, at in any::<prop::sample::Index>(),
    ) {
        let mut templates: Vec<&[u16]> = kinds.iter().map(|&kind| WHOLE[kind]).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sam");
        let check = |text: &str| {
            fs::write(&path, text).unwrap();
            read(&path, WhichAlignments::OfTemplates, chunk_bytes, Format::Sam).map(drop)
        };
        prop_assert!(check(&sam(&templates, false)).is_ok());
        let at = at.index(templates.len());
        templates[at] = LONE[at % 2];
        prop_assert!(check(&sam(&templates, true)).is_ok());
        for (flags, grouped) in
            [(LONE[at % 2], false), (&[256][..], true), (&[4, 4], true), (&[141, 77], true), (&[77, 141, 77], true)]
        {
            templates[at] = flags;
            let failed = check(&sam(&templates, grouped)).unwrap_err();
            let is_ungrouped = matches!(failed, Error::Ungrouped { .. });
            prop_assert!(is_ungrouped, "{failed}");
            let message = failed.to_string();
            prop_assert!(message.contains(&format!("read 'r{at}' ")), "{message}");
        }
    }
}

#[test]
fn reads_of_other_files_become_unmapped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fq");
    let mut text = String::new();
    for (name, comment) in
        [("a", " BC:Z:AC\tXX:i:5"), ("b", " 1:N:0:ACGT"), ("c", "\tML:B:C,7\tno")]
    {
        writeln!(text, "@{name}{comment}\nACGT\n+\nIII!").unwrap();
    }
    fs::write(&path, text).unwrap();
    let head = format!(
        "@HD\tVN:1.6\tSO:unsorted\tGO:query\n@PG\tID:merganser\tPN:merganser\tVN:{}\tCL:x\n",
        env!("CARGO_PKG_VERSION")
    );
    let read_of =
        |name: &str, tags: &str| format!("{name}\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIII!{tags}\n");
    let lines = read_of("a", "\tBC:Z:AC\tXX:i:5") + &read_of("b", "") + &read_of("c", "\tML:B:C,7");
    let (_, found) = read(&path, WhichAlignments::OfTemplates, 1 << 20, Format::Sam).unwrap();
    assert_eq!(String::from_utf8(found).unwrap(), head.clone() + &lines);
    let (_, bam) = read(&path, WhichAlignments::OfTemplates, 1 << 20, Format::Bam(0)).unwrap();
    let path = folder.path().join("a.bam");
    fs::write(&path, bam).unwrap();
    let (_, again) = read(&path, WhichAlignments::OfTemplates, 1 << 20, Format::Sam).unwrap();
    let again = String::from_utf8(again).unwrap();
    assert!(again.ends_with(&lines) && again.starts_with(&head), "{again}");
    assert!(again.contains("\n@PG\tID:merganser.1\tPN:merganser\tPP:merganser\t"), "{again}");
}

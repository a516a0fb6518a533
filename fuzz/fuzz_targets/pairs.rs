//! Arbitrary text as pairs for the filter, in one file or in two: rejected, or decided like the same pairs in memory.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use merganser_filter::{Decision, Config, Filter, Format, Method, NMode, Threshold, Writer, run_with};
use merganser_fuzz::databases::context;
use merganser_fuzz::fastx::naive;
use merganser_fuzz::files::{folder, write};
use merganser_io::{BYTE_ORDER_MARK, Input, Output};

type Pairs<'t> = Vec<(&'t [u8], &'t [u8])>;

/// Returns the decisions on the pairs of files, as lines; `None` if the files are rejected.
fn decided(config: &Config, files: &[&Path], to: &Path) -> Option<String> {
    let inputs: Vec<Input> = files.iter().map(|&path| Input::File(path.to_owned())).collect();
    let writer = Writer::new(Format::Tsv, vec![Output::create(to).expect("a temporary file")]);
    run_with(config, &inputs, writer, &context()).ok()?;
    Some(std::fs::read_to_string(to).expect("decisions"))
}

/// Returns the decisions on pairs in memory, as lines.
fn expected(config: &Config, pairs: &Pairs<'_>) -> Option<String> {
    let filter = Filter::new(*config).expect("a filter");
    let decisions = filter.run_pairs(pairs.iter().copied()).ok()?;
    let mut lines = "index\taccept\tedits\n".to_owned();
    for (index, decision) in decisions.iter().enumerate() {
        let accept = u8::from(decision.is_accepted());
        let edits = match decision {
            Decision::Accepted { edits } => i64::from(*edits),
            Decision::Rejected => -1,
            Decision::Undefined => -2,
        };
        lines += &format!("{index}\t{accept}\t{edits}\n");
    }
    Some(lines)
}

/// Returns the pairs of text that the reader has accepted.
fn pairs_of_lines(text: &[u8]) -> Pairs<'_> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    // Empty lines at the end are ignored.
    let end = text.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |at| at + 1);
    let lines = text[..end].split(|&byte| byte == b'\n');
    let mut lines: Vec<&[u8]> =
        lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    if end == 0 {
        lines.clear();
    }
    if text.first() == Some(&b'>') {
        return lines.chunks(2).map(|two| (&two[0][1..], &two[1][1..])).collect();
    }
    lines.iter().map(|line| columns(line)).collect()
}

/// Returns the first two columns of a line.
fn columns(line: &[u8]) -> (&[u8], &[u8]) {
    let mut columns = line.split(|&byte| byte == b'\t');
    let first = columns.next().expect("a line");
    (first, columns.next().expect("accepted without a tab"))
}

fuzz_target!(|input: &[u8]| {
    let [options, edits, text @ ..] = input else { return };
    let methods = [Method::Exact, Method::GateKeeper, Method::Snake, Method::Exact];
    let modes = [NMode::Mismatch, NMode::Match, NMode::Pass, NMode::Mismatch];
    let config = Config { method: methods[usize::from(options & 3)], n_mode: modes[usize::from(options >> 2 & 3)], ..Config::new(Threshold::Edits(u32::from(edits % 16))) };
    let folder = folder();
    let [reads, segments, to] = ["reads", "segments", "to"].map(|name| folder.path().join(name));
    if options & 16 == 0 {
        write(&reads, text);
        if let Some(lines) = decided(&config, &[&reads], &to) {
            assert_eq!(Some(lines), expected(&config, &pairs_of_lines(text)));
        }
        return;
    }
    let middle = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let (one, other) = text.split_at(middle);
    let other = other.get(1..).unwrap_or_default();
    write(&reads, one);
    write(&segments, other);
    let Some(lines) = decided(&config, &[&reads, &segments], &to) else { return };
    // Only FASTA is compared with the naive parser.
    let plain = |text: &[u8]| text.trim_ascii_start().starts_with(b">");
    if plain(one) && plain(other) {
        let (one, other) = (naive(one), naive(other));
        let pairs = one.iter().zip(&other).map(|(one, other)| (&one.0[..], &other.0[..])).collect();
        assert_eq!(Some(lines), expected(&config, &pairs));
    }
});

//! Arbitrary text as an expression of tables: rejected, or evaluated to the same result as with maps of k-mers.
#![no_main]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::expressions::evaluate;
use merganser_fuzz::fastk::write as table;
use merganser_fuzz::files::{folder, write};
use merganser_fuzz::kmers::{Counts, counts, lines};
use merganser_fuzz::tables::write_lines;
use merganser_kmers::algebra::{Expression, open_tables, parse, parse_operand};

const K: usize = 8;
/// The maximum number of tables: more exceed the memory that calculations have in this test.
const MAX_TABLES: usize = 20;
/// The maximum number of operands, to limit the time.
const MAX_OPERANDS: usize = 100;

/// Returns three tables that share k-mers, and their files.
fn tables() -> &'static [(Counts, Vec<Vec<u8>>)] {
    static TABLES: OnceLock<Vec<(Counts, Vec<Vec<u8>>)>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let table = |first: u64| {
            let entry =
                |at: u64| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15), (7 * first + at) as u16 % 5);
            let entries: Vec<(u64, u16)> = (first..first + 9).map(entry).collect();
            let counts = counts(K, &entries);
            let files = table(&counts, K, 1);
            (counts, files)
        };
        [1, 4, 8].map(table).into()
    })
}

/// Returns the number of tables in an expression, with repetitions.
fn width(expression: &Expression) -> usize {
    match expression {
        Expression::Table(_) => 1,
        Expression::Within(inner, _) | Expression::SetCounts(inner, _) => width(inner),
        Expression::Of { operands, .. } => operands.iter().map(width).sum(),
    }
}

fuzz_target!(|input: &[u8]| {
    let text = OsStr::from_bytes(input);
    if let Ok((path, cut)) = parse_operand(text) {
        assert!(input.is_empty() || !path.as_os_str().is_empty());
        assert!(cut.least <= cut.most);
    }
    let Ok((expression, names)) = parse(text) else { return };
    assert!(!names.is_empty() && parse(text) == Ok((expression.clone(), names.clone())));
    if names.len() > MAX_TABLES || width(&expression) > MAX_OPERANDS {
        return;
    }
    let folder = folder();
    // Each name made by the fuzzer selects one of the tables.
    let which =
        |name: &PathBuf| name.as_os_str().as_bytes().iter().map(|&b| b as usize).sum::<usize>();
    let chosen = names.iter().map(|name| &tables()[which(name) % tables().len()]);
    let (counts, files): (Vec<Counts>, Vec<Vec<Vec<u8>>>) = chosen.cloned().unzip();
    let mut paths = Vec::new();
    for (number, files) in files.iter().enumerate() {
        paths.push(folder.path().join(format!("{number}.ktab")));
        write(&paths[number], &files[0]);
        write(folder.path().join(format!(".{number}.ktab.1")), &files[1]);
    }
    let tables = open_tables(&paths, true, &merganser_run::Context::new()).expect("tables");
    let expected = lines(&evaluate(&expression, &counts));
    let found = write_lines(&tables, expression, &folder.path().join("result"));
    assert_eq!(found, Some(expected));
});

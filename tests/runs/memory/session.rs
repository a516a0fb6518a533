//! Memory of lines in `classify --interactive`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Stdio;

use super::hostile::measured_with;

/// An endless line and a line with too many words are refused early; earlier lines have been processed.
#[test]
fn endless_lines_of_sessions_stay_within_the_promise() {
    let dir = merganser_test_support::two_species::prepared();
    let before = dir.names();
    let endless = "x".repeat(1 << 20);
    let many = "a ".repeat(500_000) + "\n";
    let queries = "1.fq -o a.tsv\n";
    for (pieces, more, said) in [
        (
            200,
            "",
            "error: stdin: line 2: a line of more than 1.00 MiB, which no such file has: is this the right file?\n",
        ),
        (
            0,
            many.as_str(),
            "error: a line has 500000 words, more than 65536: write the names of files to a list, and give it as @LIST\n",
        ),
    ] {
        let mut file = BufWriter::new(File::create(dir.path("session")).unwrap());
        file.write_all(queries.as_bytes()).unwrap();
        (0..pieces).for_each(|_| file.write_all(endless.as_bytes()).unwrap());
        file.write_all(more.as_bytes()).unwrap();
        file.into_inner().unwrap();
        let stdin = Stdio::from(File::open(dir.path("session")).unwrap());
        let args = "classify refs.mgdb --memory 100M --interactive -q";
        let (ran, peak) = measured_with(&dir, args, stdin);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), said));
        assert!(peak <= 110 << 20, "{peak} bytes");
        for name in ["session", "a.tsv"] {
            std::fs::remove_file(dir.path(name)).unwrap();
        }
        assert_eq!(dir.names(), before);
    }
}

//! Output on a terminal.

use merganser_test_support::reads::{fastq, untidy};
use merganser_test_support::tools::{by_chance, shell};
use merganser_test_support::{Dir, MERGANSER};

/// Returns the lines that a terminal of `columns` columns shows at any time while `command` runs, without escape
/// sequences.
fn lines_on_a_terminal(dir: &Dir, columns: usize, command: &str) -> Vec<String> {
    // Progress is shown only if TERM is set.
    let command = format!("export TERM=xterm; stty rows 24 cols {columns}; {command}");
    dir.write("command", command);
    let output = shell(dir.root(), "script -qec 'sh command' /dev/null < /dev/null");
    let text = String::from_utf8(output).unwrap();
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // An escape sequence ends with a letter.
            '\u{1b}' => {
                letters.find(char::is_ascii_alphabetic);
                plain.push('\n');
            }
            '\r' => plain.push('\n'),
            _ => plain.push(letter),
        }
    }
    plain.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// Progress lines fit the terminal. Input comes from a slow pipe, so that progress is shown.
#[test]
fn progress_is_never_wider_than_the_terminal() {
    if !by_chance("script") {
        return;
    }
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(2000, 1), "\n"));
    for columns in [80, 40, 20] {
        for slow in ["(cat r.fq; sleep 1; cat r.fq; sleep 1) |", ""] {
            let input = if slow.is_empty() { "r.fq" } else { "-" };
            let command = format!("{slow} {MERGANSER} count -k 21 --format none {input} 2>&1");
            let lines = lines_on_a_terminal(&dir, columns, &command);
            let bars: Vec<&String> =
                lines.iter().filter(|line| line.starts_with("reading")).collect();
            assert!(slow.is_empty() || bars.len() > 3, "{columns}: {lines:?}");
            for line in bars {
                assert!(line.chars().count() <= columns, "{columns}: {line:?}");
            }
        }
    }
}

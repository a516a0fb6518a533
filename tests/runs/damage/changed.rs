//! Files that are truncated or written to while a run uses them.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

use merganser_test_support::reads::{Random, fasta, untidy};
use merganser_test_support::signals::wait;
use merganser_test_support::two_species::prepared;
use merganser_test_support::{Dir, Ran};

/// Starts a command that reads `fifo`, runs `act` while the command waits for it, and then sends the reads.
fn meanwhile(dir: &Dir, args: &str, reads: &[u8], act: impl FnOnce()) -> Ran {
    let _ = fs::remove_file(dir.path("fifo"));
    assert!(Command::new("mkfifo").arg(dir.path("fifo")).status().unwrap().success());
    let child = dir.start(args, Stdio::null());
    // This blocks until the program opens the pipe; by then it has opened all other inputs.
    let mut fifo = File::options().write(true).open(dir.path("fifo")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    act();
    // The program may have ended before it has read everything.
    let _ = fifo.write_all(reads);
    drop(fifo);
    wait(dir, child)
}

fn cut(dir: &Dir, name: &str, length: u64) {
    OpenOptions::new().write(true).open(dir.path(name)).unwrap().set_len(length).unwrap();
}

/// Adds 1 to the byte at `at`.
fn change(dir: &Dir, name: &str, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(dir.path(name)).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0].wrapping_add(1)], at).unwrap();
}

/// Asserts that each kind of change ends the run with one line, without outputs and without temporary files.
fn ends(dir: &Dir, file: &str, command: &str, reads: &[u8]) {
    let sound = dir.read(file);
    let before = dir.names();
    let (most, middle) = (sound.len() as u64 - 1, sound.len() as u64 / 2);
    let actions: [&dyn Fn(); 5] = [
        &|| cut(dir, file, 4096),
        &|| cut(dir, file, 0),
        &|| cut(dir, file, most),
        &|| change(dir, file, middle),
        &|| drop(dir.write(file, vec![1; sound.len() + 5])),
    ];
    for (number, act) in actions.into_iter().enumerate() {
        dir.write(file, &sound);
        let ran = meanwhile(dir, command, reads, act);
        assert_eq!(ran.code, Some(1), "{number}: {}", ran.stderr);
        let message = ran.fails(1);
        assert!(message.starts_with(&format!("error: {file}: ")), "{number}: {message}");
        fs::remove_file(dir.path("fifo")).unwrap();
        assert_eq!(dir.names(), before, "{number}");
    }
    // A file with a new modification time but the same content is accepted.
    dir.write(file, &sound);
    let touch = || {
        let file = File::options().write(true).open(dir.path(file)).unwrap();
        file.set_modified(std::time::SystemTime::now()).unwrap();
    };
    assert_eq!(meanwhile(dir, command, reads, touch).code, Some(0));
}

#[test]
fn a_database_that_changes_during_a_run() {
    let dir = prepared();
    let reads = dir.read("1.fq");
    ends(&dir, "refs.mgdb", "classify -q refs.mgdb fifo -o o.tsv --report r --threads 2", &reads);
}

#[test]
fn an_index_that_changes_during_a_run() {
    let dir = Dir::new();
    let letters = String::from_utf8(Random(5).bases(50_000)).unwrap();
    dir.write("x.fa", format!(">a\n{letters}\n"));
    dir.run("index x.fa -o x.mgi").ok();
    let read = |at: usize| format!("@r{at}\n{}\n+\n{}\n", &letters[at..at + 100], "I".repeat(100));
    let reads: String = (0..400).map(|number| read(number * 100)).collect();
    ends(
        &dir,
        "x.mgi",
        "map -q -e 3 x.mgi fifo -o o.sam --unmapped u.fq --threads 2",
        reads.as_bytes(),
    );
}

/// Tables are read, not mapped: truncation is a read error, or harmless if the end is no longer needed.
#[test]
fn a_table_that_is_cut_during_a_run() {
    let dir = Dir::new();
    let reads = fasta(&untidy(200, 3), 80, "\n");
    dir.write("r.fa", &reads);
    dir.run("count -k 21 -o t.mgk r.fa").ok();
    let sound = dir.read("t.mgk");
    let expected = dir.run("kmers profile t.mgk r.fa").ok();
    for length in [0, 128, sound.len() as u64 / 2] {
        dir.write("t.mgk", &sound);
        let ran =
            meanwhile(&dir, "kmers profile -q t.mgk fifo", &reads, || cut(&dir, "t.mgk", length));
        match ran.code {
            Some(0) => assert_eq!(ran.ok(), expected),
            _ => assert!(ran.fails(1).starts_with("error: t.mgk: ")),
        }
    }
}

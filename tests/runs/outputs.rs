//! Outputs appear whole or not at all; a closed pipe is not an error; a full disk is one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use merganser_test_support::commands::{ROWS, Row};
use merganser_test_support::reads::{fastq, many, untidy};
use merganser_test_support::world::{self, SMALL, Size};
use merganser_test_support::{Dir, MERGANSER, gunzip, names, program, small_reads};

#[test]
fn an_existing_table_stays_as_it_is_after_an_error() {
    let dir = Dir::new();
    dir.write("bad.fq", "@1\nACGT\n+\nIII\n");
    dir.write("out.mgk", "precious");
    dir.write("hist", "also");
    dir.run("count -k 3 -o out.mgk --histogram hist bad.fq").fails(1);
    assert_eq!(dir.read("out.mgk"), b"precious");
    assert_eq!(dir.read("hist"), b"also");
    assert_eq!(dir.names(), ["bad.fq", "hist", "out.mgk"]);
}

#[test]
fn an_existing_table_is_replaced_after_success() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACGTACGTA\n");
    dir.write("out.tsv", "old");
    dir.run("count -k 8 --format tsv -o out.tsv --min-count 1 r.fa").ok();
    assert_eq!(dir.read("out.tsv"), b"ACGTACGT\t1\nCGTACGTA\t1\n");
}

#[test]
fn text_tables_are_compressed_by_suffix() {
    let dir = Dir::new();
    let [reads, _] = small_reads().map(|path| path.display().to_string());
    let plain = dir.run(&format!("count -k 21 --format tsv -o - {reads}")).ok();
    dir.run(&format!("count -k 21 --format tsv -o t.tsv.gz {reads}")).ok();
    assert!(gunzip(&dir.path("t.tsv.gz")) == plain.as_bytes());
    dir.run(&format!("count -k 21 --format none --histogram h.gz {reads}")).ok();
    let histogram = dir.run(&format!("count -k 21 --format none --histogram - {reads}")).ok();
    assert!(gunzip(&dir.path("h.gz")) == histogram.as_bytes());
}

/// Reads one line of the output of a command and closes the pipe, like `| head -1`.
fn head(dir: &Dir, args: &str) {
    let mut child = program()
        .args(args.split_whitespace())
        .current_dir(dir.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args}");
    assert_eq!(output.status.code(), Some(0), "{args}");
    assert!(line.ends_with('\n'), "{args}: {line:?}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let dir = Dir::new();
    let [one, two] = small_reads().map(|path| path.display().to_string());
    dir.run(&format!("count -k 31 --min-count 1 -o t.mgk {one} {two}")).ok();
    head(&dir, "kmers dump t.mgk");
    head(&dir, "kmers dump --format fasta t.mgk");
    head(&dir, &format!("count -k 31 --min-count 1 --format tsv -o - {one} {two}"));
    let kmers = dir.run("kmers dump t.mgk").ok();
    dir.write("kmers", kmers);
    head(&dir, "kmers query t.mgk --file kmers");
}

/// A small file system, mounted for one test and unmounted when dropped.
struct SmallDisk<'d>(&'d Path);

impl<'d> SmallDisk<'d> {
    fn mount(at: &'d Path) -> Option<SmallDisk<'d>> {
        std::fs::create_dir(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "none"])
            .arg(at)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("skipped: this user may not mount a small file system");
        }
        mounted.then_some(SmallDisk(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// A full disk is reported, and no files are left.
#[test]
fn a_full_disk() {
    let dir = Dir::new();
    let disk = dir.path("disk");
    dir.write("r.fa", many(8));
    let Some(_disk) = SmallDisk::mount(&disk) else { return };
    for (options, message) in [
        ("-o disk/out.mgk", "error: disk/out.mgk: cannot write: no space left on device\n"),
        (
            "--format tsv -o disk/out.tsv",
            "error: disk/out.tsv: cannot write: no space left on device\n",
        ),
        (
            "--format kmc -o disk/out",
            "error: disk/out.kmc_suf: cannot write: no space left on device\n",
        ),
        (
            "-o out.mgk --storage disk --tmp-dir disk",
            "error: disk: cannot write a temporary file: no space left on device; make room or \
             choose a larger disk with --tmp-dir\n",
        ),
    ] {
        let ran = dir.run(&format!("count -k 31 --min-count 1 {options} r.fa"));
        assert_eq!(ran.fails(1), message);
        assert_eq!(names(&disk), [""; 0], "{options}");
        assert_eq!(dir.names(), ["disk", "r.fa"], "{options}");
    }
}

/// Temporary files are removed after the run, and so is a temporary directory that the run created.
#[test]
fn the_temporary_directory_is_made_and_removed() {
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(500, 1), "\n"));
    dir.run("count -k 21 -o x.mgk --storage disk --tmp-dir a/b/c r.fq").ok();
    assert_eq!(dir.names(), ["r.fq", "x.mgk"]);
    dir.write("bad.fq", "@1\nACGT\n+\nIII\n");
    dir.run("count -k 3 -o y.mgk --storage disk --tmp-dir a/b/c bad.fq").fails(1);
    assert_eq!(dir.names(), ["bad.fq", "r.fq", "x.mgk"]);
    std::fs::create_dir(dir.path("mine")).unwrap();
    dir.run("count -k 21 -o x.mgk --storage disk --tmp-dir mine r.fq").ok();
    assert_eq!(names(&dir.path("mine")), [""; 0]);
}

/// A table appears only together with its histogram, and vice versa.
#[test]
fn table_and_histogram_appear_together() {
    let dir = Dir::new();
    dir.write("r.fa", ">r\nACGTACGTACGTTTGCATCAG\n");
    dir.run("count -q -k 5 --min-count 1 -o t.mgk r.fa").ok();
    for command in ["count -k 5 --min-count 1 r.fa", "count -k 13 r.fa", "kmers reduce t.mgk"] {
        for (output, histogram) in [("o.mgk", "/dev/full"), ("/dev/full", "h.txt")] {
            let args = format!("{command} -q -o {output} --histogram {histogram}");
            let message = dir.run(&args).fails(1);
            assert!(message.contains("/dev/full: cannot write"), "{message}");
            assert_eq!(dir.names(), ["r.fa", "t.mgk"], "{args}");
        }
        dir.run(&format!("{command} -q -o o.mgk --histogram h.txt")).ok();
        assert_eq!(dir.names(), ["h.txt", "o.mgk", "r.fa", "t.mgk"]);
        std::fs::remove_file(dir.path("h.txt")).unwrap();
        std::fs::remove_file(dir.path("o.mgk")).unwrap();
    }
}

/// Returns the command line with `--json`, if the command accepts it.
fn with_summary(row: &Row, summary: &str) -> String {
    let json = if row.takes_json() { format!(" --json {summary}") } else { String::new() };
    format!("{}{json} -q", row.line)
}

/// No output appears if one of them cannot be written. Tested for all outputs except the first, which may require a
/// regular file, and for the summary, which is written last.
#[test]
fn all_outputs_of_a_run_appear_together() {
    let writes = |row: &&Row| {
        let prints = row.prints_alone() || row.prints_beside_files();
        !prints && !row.is_apart() && !row.has_samples() && row.stdin().is_none()
    };
    let rows: Vec<&Row> = ROWS.iter().filter(writes).collect();
    let dir = world::prepared(SMALL, rows.iter().copied());
    let before = dir.names();
    let refused = |row: &Row, args: &str| {
        let ran = dir.run(args);
        assert_eq!(ran.code, Some(1), "{args}");
        let message = ran.fails(1);
        assert!(message.ends_with(": cannot write: no space left on device\n"), "{message}");
        assert_eq!(dir.names(), before, "{args}");
        let mut left = names(&dir.path("out"));
        if row.keeps_a_journal() {
            assert_eq!(left, ["o.tsv.part"]);
            fs::remove_file(dir.path("out/o.tsv.part")).unwrap();
            left.clear();
        }
        assert_eq!(left, [""; 0], "{args}");
    };
    for row in rows {
        if row.takes_json() {
            refused(row, &with_summary(row, "/dev/full"));
        }
        let first = row.words().skip_while(|word| *word != "-o").nth(1);
        let others = row.outputs().into_iter().filter(|&output| Some(output) != first);
        // These outputs are empty: no sequence is missing, and the map names all sequences.
        let is_empty =
            |output| output == "out/m.tsv" || output == "out/u.tsv" && row.line.contains("--map");
        for output in others.filter(|output| !is_empty(*output)) {
            refused(row, &format!("{} -q", row.with(output, "/dev/full")));
        }
    }
}

/// No output appears if one of a set of files with a common prefix cannot be written, or one that replaces a file.
#[test]
fn outputs_of_a_set_appear_together() {
    let dir = merganser_test_support::two_species::prepared();
    for name in ["full.kmc_pre", "full.edits"] {
        symlink("/dev/full", dir.path(name)).unwrap();
    }
    // Its second sequence has no known taxon.
    let text = String::from_utf8(dir.read("g0.fa")).unwrap();
    dir.write("n.fa", text.clone() + &text.replace("kraken:taxid|11", "x"));
    let (before, database) = (dir.names(), dir.read("refs.mgdb"));
    for args in [
        "count -k 21 --format kmc -o full 1.fq",
        "filter -e 5 --format gatekeeper 1.fq 2.fq -o full",
        "db add --allow-unmapped refs.mgdb n.fa --unmapped /dev/full",
        "db add --allow-unmapped refs.mgdb n.fa --unmapped u --json /dev/full",
    ] {
        let message = dir.run(&format!("{args} -q")).fails(1);
        assert!(message.ends_with(": cannot write: no space left on device\n"), "{message}");
        assert_eq!(dir.names(), before, "{args}");
        assert!(dir.read("refs.mgdb") == database, "{args}");
    }
}

/// Returns command lines that print results beside other outputs, and a directory with their inputs. With many
/// reads, the results exceed the capacity of a pipe.
fn prepared(reads: usize) -> (Dir, impl Iterator<Item = &'static Row>) {
    let rows = ROWS.iter().filter(|row| row.prints_beside_files());
    (world::prepared(Size { bases: 20_000, reads }, rows.clone()), rows)
}

/// No output appears if stdout cannot be written.
#[test]
fn a_full_stdout_leaves_no_other_output() {
    let (dir, rows) = prepared(600);
    let before = dir.names();
    for args in rows.map(|row| with_summary(row, "out/json")) {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let run = program()
            .args(args.split_whitespace())
            .current_dir(dir.root())
            .stdout(full)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(1), "{message}");
        assert_eq!(message, "error: stdout: cannot write: no space left on device\n");
        assert_eq!(dir.names(), before, "{args}");
        assert_eq!(names(&dir.path("out")), [""; 0], "{args}");
    }
}

/// Two outputs never go to the same file, even under different paths.
#[test]
fn two_outputs_never_go_to_one_file() {
    let dir = Dir::new();
    dir.write("r.fa", ">r\nACGTACGTACGTTTGCATCAG\n");
    let args = "count -q -k 5 --min-count 1 -o o.mgk --histogram ./o.mgk r.fa";
    let message = dir.run(args).fails(1);
    assert_eq!(message, "error: ./o.mgk: two outputs cannot go to the same file\n");
    assert_eq!(dir.names(), ["r.fa"]);
}

/// If the reader of stdout closes the pipe, the other outputs are still completed.
#[test]
fn a_closed_pipe_takes_no_file_with_it() {
    let (dir, rows) = prepared(18_000);
    let outputs = || {
        let all: BTreeMap<String, Vec<u8>> = names(&dir.path("out"))
            .into_iter()
            .map(|name| (name.clone(), dir.read(&format!("out/{name}"))))
            .collect();
        all.keys().for_each(|name| fs::remove_file(dir.path(&format!("out/{name}"))).unwrap());
        all
    };
    for args in rows.map(|row| with_summary(row, "out/json")) {
        dir.run(&args).ok();
        let mut whole = outputs();
        assert!(!whole.is_empty(), "{args}");
        head(&dir, &args);
        let mut left = outputs();
        // The summary contains times.
        assert_eq!(left.remove("json").is_some(), whole.remove("json").is_some(), "{args}");
        assert!(left == whole, "{args}: {:?}", left.keys());
    }
}

/// Without other outputs, a run ends as soon as it notices the closed pipe, even if its input is endless.
#[test]
fn a_closed_pipe_alone_ends_the_run() {
    let dir = merganser_test_support::two_species::prepared();
    dir.run("index -q g0.fa -o ref.mgi").ok();
    for args in ["classify -q refs.mgdb -", "map -q -e 3 ref.mgi -"] {
        let mut child = dir.start(args, Stdio::piped());
        let (mut stdin, reads) = (child.stdin.take().unwrap(), dir.read("1.fq"));
        let feeder = std::thread::spawn(move || while stdin.write_all(&reads).is_ok() {});
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args}");
        assert_eq!(output.status.code(), Some(0), "{args}");
    }
}

/// A session whose reader has closed the pipe ends without an error.
#[test]
fn a_session_ends_with_its_reader() {
    let dir = merganser_test_support::two_species::prepared();
    let reads = dir.read("1.fq");
    dir.write("many.fq", reads.repeat(30));
    dir.write("queries", "many.fq\n".repeat(50));
    let line = format!(
        "{MERGANSER} classify -q refs.mgdb --interactive < queries | head -1 > line; \
         echo ${{PIPESTATUS[0]}}"
    );
    let run = Command::new("bash").args(["-c", &line]).current_dir(dir.root()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stderr), "");
    assert_eq!(String::from_utf8_lossy(&run.stdout), "0\n");
}

/// The temporary table made from a table in another format has an unpredictable name, so that it does not follow a
/// prepared link.
#[test]
fn a_temporary_table_goes_through_no_link() {
    let dir = merganser_test_support::two_species::prepared();
    dir.run("count -q -k 31 --min-count 1 --format kff -o t.kff g0.fa g1.fa 1.fq 2.fq").ok();
    dir.write("precious", "mine");
    let modes = fs::Permissions::from_mode(0o4755);
    fs::set_permissions(dir.path("precious"), modes).unwrap();
    fs::create_dir(dir.path("tmp")).unwrap();
    // `exec` keeps the shell's process number, which `$$` is.
    let line = format!(
        "for n in 0 1 2; do ln -s ../precious tmp/merganser-$$-$n.mgk; done; \
         exec {MERGANSER} kmers profile --memory 48M --threads 1 --tmp-dir tmp t.kff 1.fq"
    );
    let run = Command::new("sh").args(["-c", &line]).current_dir(dir.root()).output().unwrap();
    // There is too little memory to do without the table, and then too little for the rest.
    let says = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(says.contains("a temporary .mgk table"), "{says}");
    assert_eq!(dir.read("precious"), b"mine");
    let mode = fs::metadata(dir.path("precious")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o4755);
    assert_eq!(names(&dir.path("tmp")).len(), 3, "only the links are left");
}

#[test]
fn links_and_long_names_are_outputs_as_others() {
    let dir = Dir::new();
    dir.write("r.fa", ">r\nACGTACGTACGTTTGCATCAG\n");
    symlink("real.mgk", dir.path("link.mgk")).unwrap();
    dir.run("count -q -k 5 --min-count 1 -o link.mgk r.fa").ok();
    assert!(dir.path("link.mgk").is_symlink() && !dir.path("real.mgk").is_symlink());
    dir.run("kmers verify real.mgk").ok();
    let long = "x".repeat(255);
    dir.run(&format!("count -q -k 5 --min-count 1 -o {long} r.fa")).ok();
    dir.run(&format!("kmers verify {long}")).ok();
    let message = dir.run(&format!("count -q -k 5 -o {long}x r.fa")).fails(1);
    assert!(
        message.ends_with(": cannot create this output file: file name too long\n"),
        "{message}"
    );
    // Two paths of the same file, which does not exist yet.
    symlink("new", dir.path("way")).unwrap();
    let message = dir.run("count -q -k 5 -o way --json ./new r.fa").fails(1);
    assert_eq!(message, "error: ./new: two outputs cannot go to the same file\n");
}

//! Limits of the process (`ulimit`): reaching one is an error as any other.

use std::process::{Command, Stdio};

use merganser_test_support::{Dir, MERGANSER, Ran, names};

/// Runs the binary with limits, and temporary files in `tmp`.
pub(crate) fn limited(dir: &Dir, limits: &str, args: &str) -> Ran {
    let output = Command::new("sh")
        .args(["-c", &format!("{limits} && exec \"$0\" \"$@\""), &MERGANSER])
        .args(args.split_whitespace())
        .current_dir(dir.root())
        .env("TMPDIR", dir.path("tmp"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran::new(&output, dir.root())
}

/// Inputs for all commands, and an empty `tmp`.
pub(crate) fn prepared() -> Dir {
    let dir = merganser_test_support::two_species::prepared();
    dir.run("count -q -k 21 --min-count 1 -o t.mgk 1.fq").ok();
    dir.run("count -q -k 21 --min-count 1 -o u.mgk 2.fq").ok();
    dir.run("index -q g0.fa -o ref.mgi").ok();
    dir.run("classify -q refs.mgdb 1.fq -o l.tsv").ok();
    std::fs::create_dir(dir.path("tmp")).unwrap();
    dir
}

/// Commands that write files of more than a few KB, all named `o…`.
pub(crate) const COMMANDS: [&str; 21] = [
    "count -k 21 --min-count 1 -o o.mgk 1.fq",
    "count -k 21 --min-count 1 --storage disk -o o.mgk 1.fq",
    "count -k 21 --min-count 1 --format kmc -o o 1.fq",
    "count -k 21 --min-count 1 --format tsv -o o.tsv.gz 1.fq",
    "kmers dump t.mgk -o o.tsv",
    "kmers union t.mgk u.mgk -o o.mgk",
    "kmers convert --format kff t.mgk -o o.kff",
    "kmers filter-reads t.mgk -1 1.fq -2 2.fq -o o.fq --output2 o2.fq",
    "kmers profile t.mgk 1.fq -o o.tsv",
    "build --taxonomy tax -o o.mgdb g0.fa g1.fa",
    "db add refs.mgdb --taxonomy tax g1.fa -o o.mgdb",
    "classify refs.mgdb 1.fq -o o.tsv --report o.report",
    "classify refs.mgdb 1.fq --no-map --classified-out o.fq",
    "classify --references g0.fa --taxonomy tax 1.fq -o o.tsv",
    "extract reads --taxid 0 --exclude --lines l.tsv 1.fq -o o.fq",
    "extract reads --taxid 0 --exclude --lines l.tsv 1.fq -o o.fq.gz",
    "index g0.fa -o o.mgi",
    "map -e 5 ref.mgi 1.fq -o o.sam",
    "map -e 5 g0.fa 1.fq -o o.bam --unmapped o.fq",
    "filter -e 30 1.fq 2.fq -o o.tsv",
    "filter -e 30 --format gatekeeper 1.fq 2.fq -o o",
];

/// A file that may not become as large as it would is like a full disk.
#[test]
fn files_that_would_be_too_large() {
    let dir = prepared();
    let before = dir.names();
    for args in COMMANDS {
        // One or two blocks of 512 bytes.
        let message = limited(&dir, "ulimit -f 1", &format!("{args} -q")).fails(1);
        assert!(
            message.ends_with("is allowed (ulimit -f)\n") || message.contains("--tmp-dir"),
            "{args}: {message}"
        );
        assert_eq!(dir.names(), before, "{args}");
        assert_eq!(names(&dir.path("tmp")), [""; 0], "{args}");
    }
}

/// Takes away the outputs of a run that went well.
pub(crate) fn remove_outputs(dir: &Dir) {
    for name in dir.names().iter().filter(|name| name.starts_with('o')) {
        std::fs::remove_file(dir.path(name)).unwrap();
    }
}

/// However little address space there is, a run ends well or says in a line why not, and then leaves
/// nothing.
#[test]
fn little_address_space() {
    let dir = prepared();
    let before = dir.names();
    for megabytes in [40, 70, 100, 180, 350, 800] {
        for args in COMMANDS {
            let limit = format!("ulimit -v {}", megabytes << 10);
            let ran = limited(&dir, &limit, &format!("{args} -q --threads 3"));
            let what = format!("{megabytes} MiB: {args}: {ran:?}");
            match ran.code {
                Some(0) => {
                    assert_eq!(ran.stderr, "", "{what}");
                    remove_outputs(&dir);
                }
                Some(1) => {
                    assert!(ran.stderr.starts_with("error: "), "{what}");
                    assert_eq!(ran.stderr.lines().count(), 1, "{what}");
                }
                _ => panic!("{what}"),
            }
            // The small jobs of this test need less.
            assert!(megabytes < 800 || ran.code == Some(0), "{what}");
            assert_eq!(dir.names(), before, "{what}");
            assert_eq!(names(&dir.path("tmp")), [""; 0], "{what}");
        }
    }
}

/// Memory that is asked for with --memory and is not there.
#[test]
fn an_allocation_that_fails() {
    let dir = prepared();
    dir.write("r.fa", merganser_test_support::reads::many(16));
    let before = dir.names();
    let args = "count -q -k 31 --min-count 1 --memory 4G --threads 2 --tmp-dir tmp/a -o o.mgk r.fa";
    let message = limited(&dir, "ulimit -v 110000", args).fails(1);
    // The allocation that is one too many may be that of a thread which is just being started.
    let of_allocation = message.starts_with("error: out of memory: ")
        && message.contains("(ulimit -v) is 110000 KiB: lower --memory or --threads");
    let of_thread = message
        .starts_with("error: cannot start another thread: there is no memory left for it; lower");
    assert!(of_allocation || of_thread, "{message}");
    assert_eq!(dir.names(), before);
    assert_eq!(names(&dir.path("tmp")), [""; 0]);
    // What may be used by default is what is there.
    limited(&dir, "ulimit -v 300000", "count -q -k 31 --min-count 1 --threads 2 -o o.mgk r.fa")
        .ok();
}

/// Threads that cannot be started, as there is no room for their stacks.
#[test]
fn threads_that_cannot_start() {
    let dir = prepared();
    let before = dir.names();
    for args in [
        "kmers filter-reads t.mgk 1.fq -o o.fq",
        "classify refs.mgdb 1.fq -o o.tsv",
        "build --taxonomy tax -o o.mgdb g0.fa g1.fa",
    ] {
        let args = format!("{args} -q --threads 1000 --memory 100G");
        let message = limited(&dir, "ulimit -v 1000000", &args).fails(1);
        assert!(message.starts_with("error: cannot start another thread: "), "{args}: {message}");
        assert_eq!(dir.names(), before, "{args}");
    }
    // Threads that would have nothing to do are not started.
    for args in ["kmers union t.mgk u.mgk -o o.mgk", "index g0.fa -o o.mgi"] {
        let args = format!("{args} -q --threads 1000 --memory 100G");
        limited(&dir, "ulimit -v 1000000", &args).ok();
    }
}

/// Nor if the user may have no more of them. That does not hold for root, and so takes another user.
#[test]
fn a_user_with_few_processes() {
    let dir = prepared();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(dir.root(), open).unwrap();
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups bash -c";
    let run = |args: &str| {
        let limits = format!("exec {nobody} 'ulimit -u 2; exec \"$0\" \"$@\"' \"$0\" \"$@\"");
        limited(&dir, &limits, args)
    };
    if run("--help").code != Some(0) {
        eprintln!("skipped: this user may not become another one, who may run the program");
        return;
    }
    let before = dir.names();
    for args in ["count -k 21 -o o.mgk 1.fq", "map -e 5 ref.mgi 1.fq -o o.sam"] {
        let message = run(&format!("{args} -q --threads 4")).fails(1);
        let why = "error: cannot start another thread: resource temporarily unavailable; ";
        assert!(message.starts_with(why), "{args}: {message}");
        assert_eq!(dir.names(), before, "{args}");
    }
}

/// Few files may be open.
#[test]
fn few_open_files() {
    let dir = prepared();
    let before = dir.names();
    for files in [4, 5, 7] {
        for args in COMMANDS {
            let ran =
                limited(&dir, &format!("ulimit -n {files}"), &format!("{args} -q --threads 3"));
            let what = format!("{files} files: {args}: {ran:?}");
            match ran.code {
                Some(0) => remove_outputs(&dir),
                Some(1) => assert_eq!(ran.stderr.lines().count(), 1, "{what}"),
                _ => panic!("{what}"),
            }
            assert_eq!(dir.names(), before, "{what}");
            assert_eq!(names(&dir.path("tmp")), [""; 0], "{what}");
        }
    }
}

//! File names are bytes and need not be valid in any encoding.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;

use merganser_test_support::{Dir, Ran};

/// Returns an argument in which each `~` is replaced by a byte that is not valid UTF-8.
fn foreign(text: &str) -> OsString {
    let letters = text.bytes().map(|letter| if letter == b'~' { 0xe9 } else { letter });
    OsString::from_vec(letters.collect())
}

fn run(dir: &Dir, args: &str, stdin: &[u8]) -> Ran {
    dir.run_with(args.split_whitespace().map(foreign), stdin)
}

/// Returns all files whose names begin with `start`, by the rest of their names.
fn contents(dir: &Dir, start: &OsStr) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let entries = std::fs::read_dir(dir.root()).unwrap().map(Result::unwrap);
    let of = |name: OsString| {
        let rest = name.as_bytes().strip_prefix(start.as_bytes())?.to_vec();
        Some((rest, std::fs::read(dir.root().join(name)).unwrap()))
    };
    entries.filter_map(|entry| of(entry.file_name())).collect()
}

/// Leaves the names of inputs out of the command in headers of SAM (@PG, CL), where they follow the options.
fn without_inputs(files: &BTreeMap<Vec<u8>, Vec<u8>>) -> BTreeMap<&[u8], Vec<u8>> {
    let line = |line: &[u8]| match line.starts_with(b"@PG\tID:merganser\t") {
        true => line[..line.windows(4).position(|part| part == b" -- ").unwrap()].to_vec(),
        false => line.to_vec(),
    };
    let text = |text: &[u8]| text.split_inclusive(|&byte| byte == b'\n').flat_map(line).collect();
    files.iter().map(|(name, contents)| (&name[..], text(contents))).collect()
}

fn prepared() -> Dir {
    let dir = merganser_test_support::two_species::prepared();
    dir.run("count -q -k 21 --min-count 1 -o t.mgk 1.fq").ok();
    dir.run("index -q g0.fa -o ref.mgi").ok();
    dir.run("classify -q refs.mgdb 1.fq -o l.tsv --report r.kreport").ok();
    for name in [
        "1.fq",
        "2.fq",
        "g0.fa",
        "g1.fa",
        "t.mgk",
        "refs.mgdb",
        "ref.mgi",
        "r.kreport",
        "l.tsv",
        "tax",
    ] {
        symlink(dir.path(name), dir.root().join(foreign(&format!("~{name}")))).unwrap();
    }
    dir.write("list", foreign("~1.fq\n~2.fq\n").as_bytes());
    symlink(dir.path("list"), dir.root().join(foreign("~list"))).unwrap();
    dir.write("ids", "g0\t11\ng1\t12\n");
    symlink(dir.path("ids"), dir.root().join(foreign("~ids"))).unwrap();
    dir
}

/// Inputs and outputs may have names that are not UTF-8.
#[test]
fn names_that_are_no_text_are_taken_as_they_are() {
    let dir = prepared();
    for args in [
        "count -k 21 -o O.mgk --histogram O.hist I1.fq I2.fq",
        "count -k 21 --format kmc -o O @Ilist",
        "kmers dump It.mgk -o O.tsv",
        "kmers union It.mgk:1..9 It.mgk -o O.mgk",
        "kmers eval union(It.mgk,'It.mgk':2..) -o O.mgk",
        "kmers reduce It.mgk:2.. -o O.mgk",
        "kmers filter-reads It.mgk:2.. -1 I1.fq -2 I2.fq -o O1.fq --output2 O2.fq",
        "kmers profile It.mgk I1.fq -o O.tsv",
        "kmers histogram It.mgk -o O.hist",
        "build --taxonomy Itax --map Iids --unmapped Ou -o O.mgdb Ig0.fa Ig1.fa",
        "db taxa Irefs.mgdb -o O.tsv",
        "classify Irefs.mgdb -1 I1.fq -2 I2.fq -o O.tsv --report Or --classified-out Oc#.fq",
        "report merge --no-headers Ir.kreport -o O.tsv",
        "report filter Ir.kreport --taxid 2 -o O.kreport",
        "report mpa Ir.kreport --sample-names x -o O.mpa",
        "report krona Ir.kreport -o O.krona",
        "extract reads --taxid 11 --lines Il.tsv I1.fq -o O.fq.gz",
        "extract reads --taxid 11 --lines Il.tsv -1 I1.fq -2 I2.fq -o O#.fq",
        "index Ig0.fa -o O.mgi",
        "map -e 5 Iref.mgi I1.fq -o O.sam --unmapped Ou.fq",
        "filter -e 30 I1.fq I2.fq -o O.tsv",
    ] {
        // Capital I and O mark inputs and outputs.
        let plain = args.replace('I', "").replace('O', "out_");
        let odd = args.replace('I', "~").replace('O', "~out_");
        run(&dir, &plain, b"").ok();
        run(&dir, &odd, b"").ok();
        let plain = contents(&dir, OsStr::new("out_"));
        assert!(!plain.is_empty(), "{args}");
        let odd = contents(&dir, &foreign("~out_"));
        assert!(without_inputs(&odd) == without_inputs(&plain), "{args}");
        for (name, _) in plain {
            let name = OsStr::from_bytes(&name);
            for start in ["out_", "~out_"] {
                let mut whole = foreign(start);
                whole.push(name);
                std::fs::remove_file(dir.root().join(whole)).unwrap();
            }
        }
    }
}

/// Samples and their files may have such names in sample sheets and in file names.
#[test]
fn sheets_and_sessions_name_any_file() {
    let dir = prepared();
    let expected = dir.run("classify -q refs.mgdb 1.fq").ok();
    dir.write("sheet", foreign("s~\t~1.fq\nt\t~2.fq\n").as_bytes());
    let args = "classify -q refs.mgdb --sample-sheet sheet -o ~{}.tsv --json ~j";
    run(&dir, args, b"").ok();
    let read = |name: &str| std::fs::read(dir.root().join(foreign(name))).unwrap();
    assert!(read("~s~.tsv") == expected.as_bytes());
    assert!(dir.root().join(foreign("~t.tsv")).exists());
    let json: serde_json::Value = serde_json::from_slice(&read("~j")).unwrap();
    assert!(json["results"]["samples"]["s\\xe9"].is_object(), "{json}");
    // A line that names a missing file does not end the session.
    let lines = foreign("~none.fq -o a\n~1.fq -o ~session\n--hitmin ~ 1.fq -o b\n1.fq -o c\n");
    let ran = run(&dir, "classify -q refs.mgdb --interactive", lines.as_bytes());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    assert!(read("~session") == expected.as_bytes());
    assert!(dir.path("c").exists() && !dir.path("a").exists() && !dir.path("b").exists());
}

/// Messages about such names are one line on stderr.
#[test]
fn messages_show_names_that_are_no_text() {
    let dir = prepared();
    let message = run(&dir, "count -k 21 -o o.mgk ~none.fq", b"").fails(1);
    assert_eq!(message, "error: \u{fffd}none.fq: cannot open: no such file or directory\n");
    let message = run(&dir, "count -k 21 -o ~1.fq ~1.fq", b"").fails(1);
    assert!(message.starts_with("error: \u{fffd}1.fq: is an input"), "{message}");
    // Other arguments that are not UTF-8 are usage errors.
    for args in [
        "count -k 2~ -o o.mgk 1.fq",
        "count -k 21 --memory ~G -o o.mgk 1.fq",
        "map -e ~ ref.mgi 1.fq",
        "kmers query t.mgk ~",
        "classify refs.mgdb 1.fq --lowest ~species",
    ] {
        let message = run(&dir, args, b"").fails(2);
        assert!(message.contains("not UTF-8: \"") && message.contains("\\xE9"), "{message}");
    }
}

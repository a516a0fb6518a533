//! `--dry-run`: a good call changes nothing and exits with 0; a bad call has the error and the exit code of the run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use merganser_test_support::{Dir, two_species};

/// Commands that take long, without outputs, with the options for these.
const GOOD: [(&str, &str); 26] = [
    ("count -k 21 1.fq 2.fq", "-o x.mgk --histogram x.hist --json x.json --report-html x.html"),
    ("count -k 5 1.fq --tmp-dir new/folder", "-o x.kmc --format kmc"),
    ("count -k 21 --panel t.mgk 1.fq", "-o x.mgk"),
    ("count -k 21 --sample-sheet sheet.tsv --resume journal", "-o {}.mgk --json x.json"),
    ("count -k 21 --storage ram 1.fq --tmp-dir text/new", "-o x.mgk"),
    ("filter -e 5 pairs.tsv", "-o x.tsv --json x.json --report-html x.html"),
    ("filter -e 30 --method snake 1.fq 2.fq", "-o x --format gatekeeper"),
    ("index g0.fa", "-o x.mgi"),
    ("map ref.mgi -1 1.fq -2 2.fq -e 4", "-o x.bam --sort --unmapped x.fq --multiqc x_mqc.json"),
    ("map g0.fa 1.fq", "-o x.sam"),
    ("map g0.fa -1 1.fq -2 2.fq --tmp-dir new/folder", "-o x.bam --sort"),
    ("map iupac.fa 1.fq", "-o x.cram --sort"),
    ("map iupac.mgi 1.fq --reference iupac.fa", "-o x.cram --sort"),
    ("map ref.mgi --sample-sheet sheet.tsv", "-o {}.sam"),
    ("classify refs.mgdb -1 1.fq -2 2.fq", "-o x.tsv --report x.kreport"),
    ("classify k2 1.fq", "-o x.tsv --report x.kreport"),
    (
        "classify refs.mgdb r.cram --reference g0.fa --bracken distribution",
        "-o x.tsv --bracken-output x.bracken",
    ),
    ("classify refs.mgdb --sample-sheet sheet.tsv --resume journal", "-o {}.tsv"),
    ("classify --references g0.fa --taxonomy tax --map ids 1.fq", "-o x.tsv --unmapped x.none"),
    ("classify refs.mgdb --interactive", ""),
    ("build --taxonomy tax --map ids g0.fa g1.fa", "-o x.mgdb --json x.json"),
    ("build --format kraken2 --taxonomy tax --map ids g0.fa g1.fa", "-o new/x"),
    ("deplete index g0.fa g1.fa", "-o x.mgd"),
    ("deplete filter host.mgd -1 1.fq -2 2.fq", "-o x_#.fq.gz --summary x.json"),
    ("deplete filter host.mgd 1.fq --confirm ref.mgi -e 3", "-o x.fq --certificate x.json"),
    ("deplete filter host.mgd --sample-sheet sheet.tsv", "-o {}.fq --json x.json"),
];

/// Calls that fail.
const BAD: [&str; 89] = [
    // Inputs that are missing, or whose first record is malformed.
    "count -k 21 -o x.mgk gone.fq",
    "count -k 21 -o x.mgk 1.fq bad.fq",
    "count -k 21 -o x.mgk text",
    "count -k 21 -o x.mgk tax",
    "index gone.fa -o x.mgi",
    "index text -o x.mgi",
    "index 1.fq -o x.mgi",
    "map 1.fq 2.fq -o x.sam",
    "map ref.mgi gone.fq -o x.sam",
    "map ref.mgi bad.fq -o x.sam",
    "map gone.fa 1.fq -o x.sam",
    "map ref.mgi -1 1.fq -2 other.fq -o x.sam",
    "classify refs.mgdb gone.fq -o x.tsv",
    "classify refs.mgdb bad.fq -o x.tsv",
    "classify k2 bad.fq -o x.tsv",
    "classify refs.mgdb -1 1.fq -2 other.fq -o x.tsv",
    "build --taxonomy tax -o x.mgdb gone.fa",
    "build --taxonomy tax -o x.mgdb text",
    "build --taxonomy gone -o x.mgdb g0.fa",
    "build --format kraken2 --taxonomy gone -o x g0.fa",
    "deplete index -o x.mgd gone.fa",
    "deplete filter host.mgd gone.fq -o x.fq",
    "deplete filter host.mgd bad.fq -o x.fq",
    "deplete filter host.mgd -1 1.fq -2 other.fq -o x#.fq",
    "index letters.fa -o x.mgi",
    "map double.fa 1.fq -o x.sam",
    "filter -e 5 gone.tsv -o x.tsv",
    "filter -e 5 1.fq -o x.tsv",
    "filter -e 5 text -o x.tsv",
    "filter -e 5 1.fq gone.fq -o x.tsv",
    "filter -e 5 1.fq bad.fq -o x.tsv",
    "filter -e 5 1.fq letters.fa -o x.tsv",
    // Other files that the run needs.
    "build --taxonomy tax --map gone -o x.mgdb g0.fa",
    "build --taxonomy tax --map text -o x.mgdb g0.fa",
    "build --taxonomy tax --map tax -o x.mgdb g0.fa",
    "build --format kraken2 --taxonomy tax --map gone -o x g0.fa",
    "build --format kraken2 --taxonomy tax --map text -o x g0.fa",
    "classify --references g0.fa --taxonomy tax --map gone 1.fq -o x.tsv",
    "classify --references g0.fa --taxonomy tax --map text 1.fq -o x.tsv",
    "classify refs.mgdb 1.fq -o x.tsv --bracken gone --bracken-output x.bracken",
    "classify refs.mgdb 1.fq -o x.tsv --bracken text --bracken-output x.bracken",
    "classify k2 1.fq -o x.tsv --bracken text --bracken-output x.bracken",
    "classify refs.mgdb r.cram --reference gone.fa -o x.tsv",
    "count -k 21 r.cram --reference gone.fa -o x.mgk",
    "map iupac.mgi 1.fq --sort -o x.cram",
    "map iupac.mgi 1.fq --reference gone.fa --sort -o x.cram",
    "map iupac.mgi 1.fq --reference g0.fa --sort -o x.cram",
    // Outputs that cannot be written, or replace an input.
    "count -k 21 -o gone/x.mgk 1.fq",
    "count -k 21 -o x.mgk --json tax 1.fq",
    "count -k 21 -o x.mgk --histogram 1.fq 1.fq",
    "count -k 21 -o x.mgk --tmp-dir text/new 1.fq",
    "count -k 21 -o x.mgk --tmp-dir text 1.fq",
    "map ref.mgi 1.fq --sort --tmp-dir text/new -o x.bam",
    "map g0.fa 1.fq --sort --tmp-dir text -o x.bam",
    "filter -e 5 pairs.tsv -o gone/x.tsv",
    "filter -e 5 pairs.tsv -o pairs.tsv",
    "map ref.mgi 1.fq -o gone/x.sam",
    "map ref.mgi 1.fq -o ref.mgi",
    "classify refs.mgdb 1.fq -o gone/x.tsv",
    "classify refs.mgdb 1.fq -o x.tsv --report x.tsv",
    "build --taxonomy tax --map ids -o gone/x.mgdb g0.fa",
    "build --format kraken2 --taxonomy tax --map ids -o text/x g0.fa",
    "deplete index -o gone/x.mgd g0.fa",
    "deplete filter host.mgd 1.fq -o gone/x.fq",
    // Options that do not belong together, or do not fit the database, index or set.
    "count -k 21 --min-count 5 --max-count 2 -o x.mgk 1.fq",
    "count -k 31 --panel t.mgk -o x.mgk 1.fq",
    "filter -e 5 pairs.tsv --format none -o x.tsv",
    "map ref.mgi 1.fq --max-insert 100 -o x.sam",
    "map refs.mgdb 1.fq -o x.sam",
    "map ref.mgi 1.fq -R @RG\\tID:a -R @RG\\tID:b -o x.sam",
    "classify refs.mgdb --quick 1.fq -o x.tsv",
    "classify host.mgd 1.fq -o x.tsv",
    "classify k2 --hits-per-ref x.hits 1.fq -o x.tsv",
    "deplete filter ref.mgi 1.fq -o x.fq",
    // Too little memory.
    "count -k 21 --memory 1M -o x.mgk 1.fq",
    "map ref.mgi --memory 1M 1.fq -o x.sam",
    "classify refs.mgdb --memory 1M 1.fq -o x.tsv",
    "classify k2 --memory 1M 1.fq -o x.tsv",
    "deplete filter host.mgd --memory 1M 1.fq -o x.fq",
    "deplete index --memory 1M g0.fa -o x.mgd",
    "index --memory 1M g0.fa -o x.mgi",
    "map g0.fa --memory 1M 1.fq -o x.sam",
    "map g0.fa --memory 90M --threads 2 1.fq -o x.sam",
    "map g0.fa --memory 90M --threads 2 1.fq --sort -o x.bam",
    "filter -e 5 --memory 1M pairs.tsv -o x.tsv",
    // Sheets.
    "count -k 21 --sample-sheet broken.tsv -o {}.mgk",
    "count -k 21 --sample-sheet sheet.tsv -o x.mgk",
    "classify refs.mgdb --sample-sheet absent.tsv -o {}.tsv",
    "map ref.mgi --sample-sheet sheet.tsv --resume text -o {}.sam",
];

fn prepared() -> Dir {
    let dir = two_species::prepared();
    dir.write("ids", "g0\t11\ng1\t12\n");
    dir.write("text", "no sequences\n");
    dir.write("bad.fq", "@a\nACGT\n+\nII\n");
    let second = String::from_utf8(dir.read("2.fq")).unwrap();
    dir.write("other.fq", second.replacen("@", "@z", 1));
    dir.write("sheet.tsv", "one\t1.fq\nboth\t1.fq\t2.fq\n");
    dir.write("broken.tsv", "one\t1.fq\ntwo\n");
    dir.write("absent.tsv", "one\t1.fq\ntwo\tgone.fq\n");
    dir.write("pairs.tsv", "ACGTACGTAA\tACGTACGTAA\nACGTACGTAA\tACGAACGTAA\n");
    let genome = String::from_utf8(dir.read("g0.fa")).unwrap();
    let name = genome.lines().next().unwrap();
    dir.write("iupac.fa", format!("{genome}RYACGT\n"));
    dir.write("letters.fa", format!("{name}\nACGT!\n"));
    dir.write("double.fa", format!("{genome}{name}\nACGT\n"));
    dir.write(
        "distribution",
        "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n11\t11:9:9\n",
    );
    for line in [
        "index g0.fa -o ref.mgi",
        "index iupac.fa -o iupac.mgi",
        "map ref.mgi 1.fq --sort -o r.cram",
        "deplete index -o host.mgd g0.fa",
        "count -k 21 -o t.mgk 1.fq",
        "build --format kraken2 --taxonomy tax --map ids -o k2 g0.fa g1.fa",
    ] {
        dir.run(line).ok();
    }
    dir
}

/// Returns the content and the time of the last change of everything in a folder.
fn state(folder: &Path) -> BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let at = fs::metadata(&path).unwrap();
        if at.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let content = at.is_file().then(|| fs::read(&path).unwrap());
        found.insert(path, (content, at.modified().unwrap()));
    }
    found
}

/// Checks everything else before the run: it must neither create nor change anything.
#[test]
fn good_calls_change_nothing() {
    let dir = prepared();
    let before = state(dir.root());
    for (command, outputs) in GOOD {
        let line = format!("{command} {outputs} --dry-run");
        let text = dir.run(&line).ok();
        assert!(state(dir.root()) == before, "{line}");
        assert!(text.starts_with("dry run     merganser ") && text.contains("threads"), "{text}");
        for name in outputs.split(' ').filter(|word| word.starts_with("x.")) {
            assert!(text.contains(name), "{line}: {name}: {text}");
        }
        if !outputs.is_empty() && !command.contains("interactive") {
            dir.run(&format!("{command} {outputs} -q")).ok();
            restore(dir.root(), &before);
        }
    }
}

/// Removes what a run has written, so that the state is as before.
fn restore(root: &Path, before: &BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)>) {
    for path in state(root).into_keys().rev() {
        match before.get(&path) {
            Some((_, time)) => {
                fs::File::open(&path).unwrap().set_modified(*time).unwrap();
            }
            None if path.is_dir() => fs::remove_dir(&path).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
}

#[test]
fn bad_calls_fail_as_the_run_does() {
    let dir = prepared();
    let before = state(dir.root());
    for line in BAD {
        let dry = dir.run(&format!("{line} -q --dry-run"));
        assert!(state(dir.root()) == before, "{line}");
        let run = dir.run(&format!("{line} -q"));
        assert_eq!((dry.code, &dry.stderr), (run.code, &run.stderr), "{line}");
        let code = run.code.unwrap();
        assert!(dry.fails(code).starts_with("error: "), "{line}");
        restore(dir.root(), &before);
    }
}

/// A device that cannot be used is an error in both, unless this machine has one.
#[test]
fn devices_are_checked() {
    let dir = prepared();
    for command in [
        "count -k 21 1.fq -o x.mgk",
        "index g0.fa -o x.mgi",
        "map ref.mgi 1.fq -o x.sam",
        "classify refs.mgdb 1.fq -o x.tsv",
        "classify k2 1.fq -o x.tsv",
        "build --taxonomy tax --map ids g0.fa -o x.mgdb",
        "map g0.fa 1.fq -o x.sam",
        "filter -e 5 pairs.tsv -o x.tsv",
    ] {
        for device in ["cuda", "cuda:99"] {
            let line = format!("{command} --device {device} -q");
            let [dry, run] = ["--dry-run", ""].map(|option| dir.run(&format!("{line} {option}")));
            assert_eq!((dry.code, dry.stderr), (run.code, run.stderr), "{line}");
        }
    }
}

/// A run in memory has no temporary files.
#[test]
fn temporary_directories_are_named() {
    let dir = prepared();
    for (command, is_named) in [
        ("count -k 21 1.fq -o x.mgk", true),
        ("count -k 21 --storage ram 1.fq -o x.mgk", false),
        ("map ref.mgi 1.fq --sort -o x.bam", true),
        ("map ref.mgi 1.fq -o x.bam", false),
    ] {
        let text = dir.run(&format!("{command} --dry-run")).ok();
        assert_eq!(text.contains("\ntemporary "), is_named, "{command}: {text}");
    }
}

/// Pipes are not read, because the run could not read them again.
#[test]
fn pipes_are_left_to_the_run() {
    let dir = prepared();
    for command in [
        "count -k 21 - -o x.mgk",
        "map ref.mgi - -o x.sam",
        "classify refs.mgdb - -o x.tsv",
        "deplete filter host.mgd - -o x.fq",
    ] {
        let text = dir.run_with(format!("{command} --dry-run").split(' '), b"no reads").ok();
        assert!(text.contains("stdin (not read)"), "{text}");
    }
}

/// An existing output is named as one that would be replaced.
#[test]
fn replaced_outputs_are_named() {
    let dir = prepared();
    let text = dir.run("count -k 21 1.fq -o t.mgk --dry-run").ok();
    assert!(text.contains("output      t.mgk (replaces the existing file)\n"), "{text}");
    assert!(text.contains("reads       1.fq ("), "{text}");
}

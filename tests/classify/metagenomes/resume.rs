//! `classify --resume`: a sample counts as done only if every file that it depends on is unchanged.

use std::fs::{self, File};
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::world::World;
use merganser_test_support::Dir;
use merganser_test_support::tools::{installed, shell};

/// A finished run of one sample, `s`.
struct Case {
    world: World,
    run: String,
}

impl Case {
    /// Classifies the sample for the first time; `reads` is its line in the sheet.
    fn new(world: World, database: &str, reads: &str, options: &str) -> Case {
        world.dir.write("sheet", format!("s\t{reads}\n"));
        let run =
            format!("classify {database} --sample-sheet sheet -o {{}}.tsv --resume j {options}");
        let case = Case { world, run };
        assert!(!case.is_done());
        case
    }

    fn dir(&self) -> &Dir {
        &self.world.dir
    }

    /// Runs again and returns whether the sample counted as done.
    fn is_done(&self) -> bool {
        let ran = self.dir().run(&self.run);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(ran.warnings(), Vec::<&str>::new());
        let done = ran.stderr.contains("1 of 1 samples were skipped");
        assert_ne!(done, ran.stderr.contains("0 of 1 samples were skipped"), "{}", ran.stderr);
        done
    }

    /// Returns the lines of the journal.
    fn journal(&self) -> Vec<serde_json::Value> {
        let text = String::from_utf8(self.dir().read("j")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Returns the reads with equally many but different letters in the middle third.
fn other_middle(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let other = "T".repeat(1000);
    let middle = lines.len() / 3 / 4 * 4..lines.len() / 3 * 2 / 4 * 4;
    for record in lines[middle].chunks_mut(4) {
        record[1] = &other[..record[1].len()];
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn modified(dir: &Dir, name: &str) -> SystemTime {
    fs::metadata(dir.path(name)).unwrap().modified().unwrap()
}

fn set_modified(dir: &Dir, name: &str, at: SystemTime) {
    File::options().write(true).open(dir.path(name)).unwrap().set_modified(at).unwrap();
}

/// Replaces a file, keeping the modification time, like `cp -p` or `mv`.
fn replace_with_time(dir: &Dir, name: &str, bytes: &[u8]) {
    let at = modified(dir, name);
    dir.write("new", bytes);
    set_modified(dir, "new", at);
    fs::rename(dir.path("new"), dir.path(name)).unwrap();
}

#[test]
fn reads_of_other_content_and_the_same_size_are_classified_again() {
    let world = World::built();
    let [text, _] = world.pairs(4000, 5);
    world.dir.write("r.fq", &text);
    let case = Case::new(world, "refs.mgdb", "r.fq", "");
    let dir = case.dir();
    assert!(case.is_done());
    let before = dir.read("s.tsv");
    let other = other_middle(&text);
    assert_eq!(other.len(), text.len());
    dir.write("r.fq", &other);
    assert!(!case.is_done());
    let after = dir.read("s.tsv");
    assert!(before != after && after == dir.run("classify -q refs.mgdb r.fq").ok().as_bytes());
    assert!(case.is_done());
    // With the same time, only the inode differs.
    replace_with_time(dir, "r.fq", text.as_bytes());
    assert!(!case.is_done());
    assert!(dir.read("s.tsv") == before);
    // Another size.
    dir.write("r.fq", text[..text.len() / 8 * 4].rsplit_once("\n@").unwrap().0);
    assert!(!case.is_done());
}

/// The outputs of a sample are the same with and without a page of all samples.
#[test]
fn a_sample_is_done_also_without_the_page_of_all() {
    let option = " --report-html all.html";
    let mut case = Case::new(World::built(), "refs.mgdb", "1.fq\t2.fq", option);
    assert!(case.is_done());
    case.run = case.run.replace(option, "");
    assert!(case.is_done());
}

/// A file with the same content at a new time counts as unchanged; its new time is noted, so that it is read only
/// once.
#[test]
fn the_same_content_at_another_time_is_done() {
    let case = Case::new(World::built(), "refs.mgdb", "1.fq\t2.fq", "");
    let dir = case.dir();
    assert_eq!(case.journal().len(), 1);
    for name in ["1.fq", "2.fq", "refs.mgdb"] {
        let bytes = dir.read(name);
        fs::remove_file(dir.path(name)).unwrap();
        dir.write("other", "occupies the inode");
        dir.write(name, bytes);
        set_modified(dir, name, UNIX_EPOCH + Duration::from_nanos(1_234_567_890_123_456_789));
    }
    assert!(case.is_done());
    let lines = case.journal();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["inputs"][0]["path"], "refs.mgdb");
    assert_eq!(lines[1]["inputs"][1]["modified_ns"], 1_234_567_890_123_456_789u64);
    for (before, after) in
        lines[0]["inputs"].as_array().unwrap().iter().zip(lines[1]["inputs"].as_array().unwrap())
    {
        assert_eq!(before["crc32"], after["crc32"]);
        assert_ne!(before["modified_ns"], after["modified_ns"]);
    }
    assert!(case.is_done());
    assert_eq!(case.journal().len(), 2);
    // If size, times and inode are unchanged, the file is not read.
    shell(dir.root(), "touch -r refs.mgdb time && printf X | dd of=1.fq conv=notrunc 2> log");
    shell(dir.root(), "touch -r time 1.fq");
    assert!(case.is_done());
}

#[test]
fn links_are_followed() {
    let world = World::built();
    shell(world.dir.root(), "cp 1.fq copy.fq && ln -s 1.fq link.fq");
    let case = Case::new(world, "refs.mgdb", "link.fq", "");
    let dir = case.dir();
    let link = |to: &str| shell(dir.root(), &format!("ln -sfn {to} link.fq"));
    link("copy.fq");
    assert!(case.is_done());
    link("2.fq");
    assert!(!case.is_done());
    link("gone.fq");
    let said = dir.run(&case.run).fails(1);
    assert!(said.contains("link.fq: cannot open: no such file"), "{said}");
    fs::remove_file(dir.path("link.fq")).unwrap();
    let said = dir.run(&case.run).fails(1);
    assert!(said.contains("link.fq: cannot open: no such file"), "{said}");
}

/// All three files of a Kraken 2 database, and its Bracken distribution, are checked.
#[test]
fn databases_of_other_content_and_the_same_size() {
    let world = World::built();
    let build = "build -q --format kraken2 --taxonomy tax -o k2 --bracken 100 genomes";
    world.dir.run(build).ok();
    let distribution = "k2/database100mers.kmer_distrib";
    let options = format!("--bracken {distribution} --bracken-output {{}}.b");
    let case = Case::new(world, "k2", "1.fq\t2.fq", &options);
    let dir = case.dir();
    assert!(case.is_done());
    let noted: Vec<String> = case.journal()[0]["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| input["path"].as_str().unwrap().to_owned())
        .collect();
    let expected = ["k2/opts.k2d", "k2/taxo.k2d", "k2/hash.k2d", "1.fq", "2.fq", distribution];
    assert_eq!(noted, expected);
    // Half of the table is overwritten in place.
    let whole = dir.read("k2/hash.k2d");
    let mut zeroed = whole.clone();
    let quarter = whole.len() / 4;
    zeroed[quarter..3 * quarter].fill(0);
    let before = dir.read("s.tsv");
    dir.write("k2/hash.k2d", &zeroed);
    assert!(!case.is_done());
    assert!(dir.read("s.tsv") != before);
    dir.write("k2/hash.k2d", &whole);
    assert!(!case.is_done());
    assert!(dir.read("s.tsv") == before && case.is_done());
    // Another name of a taxon with the same length; other numbers in a distribution.
    for (name, from, to) in [("k2/taxo.k2d", "enterica", "entericb"), (distribution, ":", ":")] {
        let bytes = dir.read(name);
        let mut changed = bytes.clone();
        match from == to {
            true => {
                let last = changed.iter().rposition(u8::is_ascii_digit).unwrap();
                changed[last] = b'0' + (changed[last] - b'0' + 1) % 10;
            }
            false => {
                let at = bytes.windows(from.len()).position(|word| word == from.as_bytes());
                changed[at.unwrap()..][..to.len()].copy_from_slice(to.as_bytes());
            }
        }
        replace_with_time(dir, name, &changed);
        assert!(!case.is_done(), "{name}");
        assert!(case.is_done(), "{name}");
        replace_with_time(dir, name, &bytes);
        assert!(!case.is_done(), "{name}");
    }
}

#[test]
fn references_of_cram_and_their_indexes() {
    if !installed(&["samtools"]) {
        return;
    }
    let world = World::built();
    shell(
        world.dir.root(),
        "cp genomes/a.fa ref.fa && samtools faidx ref.fa && letters=$(sed 1d ref.fa | cut -c 101-200) &&
         printf '@SQ\\tSN:a.1\\tLN:30000\\nr\\t0\\ta.1\\t101\\t60\\t100M\\t*\\t0\\t0\\t%s\\t*\\n' $letters > a.sam &&
         samtools view -C -T ref.fa -o a.cram a.sam 2> log && rm ref.fa.fai",
    );
    let case = Case::new(world, "refs.mgdb", "a.cram", "--reference ref.fa");
    let dir = case.dir();
    assert!(case.is_done());
    // A base that no read covers, so that the run does not fail.
    let mut text = dir.read("ref.fa");
    let last = text.len() - 2;
    text[last] = if text[last] == b'A' { b'C' } else { b'A' };
    replace_with_time(dir, "ref.fa", &text);
    assert!(!case.is_done());
    assert!(case.is_done());
    shell(dir.root(), "samtools faidx ref.fa");
    assert!(!case.is_done());
    assert!(case.is_done());
}

/// A sample with inputs that cannot be read twice is classified every time, and not noted.
#[test]
fn pipes_and_stdin_are_never_done() {
    let world = World::built();
    let dir = &world.dir;
    shell(dir.root(), "mkfifo pipe");
    let reads = dir.read("1.fq");
    for name in ["pipe", "/dev/stdin"] {
        dir.write("sheet", format!("s\t{name}\n"));
        for _ in 0..2 {
            let run = "classify refs.mgdb --sample-sheet sheet -o {}.tsv --resume j";
            let writer = (name == "pipe").then(|| {
                let (path, reads) = (dir.path("pipe"), reads.clone());
                std::thread::spawn(move || fs::write(path, reads).unwrap())
            });
            let ran = dir.run_with(run.split(' '), &reads);
            writer.into_iter().for_each(|writer| writer.join().unwrap());
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            assert!(ran.stderr.contains("0 of 1 samples were skipped"), "{}", ran.stderr);
            let said = format!("warning: s: not noted as done: {name} is not a regular file");
            assert!(ran.stderr.contains(&said), "{}", ran.stderr);
            assert!(dir.read("s.tsv") == dir.run("classify -q refs.mgdb 1.fq").ok().as_bytes());
            assert_eq!(dir.read("j"), b"");
        }
    }
}

/// Inputs that are overwritten while the run waits for a reader of its output.
#[test]
fn a_sample_whose_reads_change_during_the_run_is_not_noted() {
    let world = World::built();
    let dir = &world.dir;
    shell(dir.root(), "mkfifo s.tsv");
    dir.write("r.fq", &world.pairs(4000, 5)[0]);
    dir.write("sheet", "s\tr.fq\n");
    let run = "classify refs.mgdb --sample-sheet sheet -o {}.tsv --resume j";
    for changed in ["r.fq", "refs.mgdb", ""] {
        let child = dir.start(run, Stdio::null());
        let mut lines = File::open(dir.path("s.tsv")).unwrap();
        if !changed.is_empty() {
            set_modified(dir, changed, UNIX_EPOCH + Duration::from_secs(1 << 30));
        }
        let mut text = Vec::new();
        lines.read_to_end(&mut text).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && text.ends_with(b"\n"));
        let said = String::from_utf8_lossy(&output.stderr);
        let warning = format!("warning: s: not noted as done: {changed} was changed meanwhile");
        assert_eq!(said.contains(&warning), !changed.is_empty(), "{said}");
        assert_eq!(dir.read("j").is_empty(), !changed.is_empty(), "{said}");
    }
}

#[test]
fn options_that_change_results() {
    let world = World::built();
    shell(world.dir.root(), "cp 1.fq r.fq");
    let case = Case::new(world, "refs.mgdb", "r.fq", "");
    assert!(case.is_done());
    let dir = case.dir();
    let runs = |options: &str| {
        let ran = dir.run(&format!("{} {options}", case.run));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stderr.contains("0 of 1 samples were skipped")
    };
    for options in
        ["--hitmin 30", "--near 0", "--min-read-len 50", "--any-names", "--interleaved --any-names"]
    {
        assert!(runs(options), "{options}");
        assert!(!runs(options), "{options}: now it is done");
    }
    assert!(runs(""), "the outputs have other options");
    for options in ["--threads 1", "--memory 300M", "--device cpu"] {
        assert!(!runs(options), "{options}");
    }
    // Pages contain the names of files.
    let page = "--report-data {}.json";
    assert!(runs(page) && !runs(page));
    shell(dir.root(), "mv r.fq q.fq");
    dir.write("sheet", "s\tq.fq\n");
    assert!(!runs(""));
    assert!(runs(page) && !runs(page));
}

/// Lines of earlier versions without inputs, truncated lines, and a truncated first line.
#[test]
fn lines_of_earlier_versions_and_half_lines() {
    let case = Case::new(World::built(), "refs.mgdb", "1.fq", "");
    let dir = case.dir();
    let line = String::from_utf8(dir.read("j")).unwrap();
    let (head, rest) = line.split_once("\"inputs\":[").unwrap();
    let earlier = format!("{head}\"files\":{}", rest.split_once("],\"files\":").unwrap().1);
    let note = "DIR/j: samples that are done again, because an earlier version noted them without \
                fingerprints of their inputs: 1";
    let runs = |journal: &str| {
        dir.write("j", journal);
        let run = case.run.replace("--resume j", &format!("--resume {}", dir.path("j").display()));
        let ran = dir.run(&run);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let notes = ran.stderr.lines().filter(|line| *line == note).count();
        (ran.stderr.contains("0 of 1 samples were skipped"), notes)
    };
    assert_eq!(runs(&earlier), (true, 1));
    assert_eq!(runs(&format!("{earlier}{earlier}")), (true, 1));
    let now = String::from_utf8(dir.read("j")).unwrap();
    assert_eq!(now.lines().count(), 3);
    assert_eq!(runs(&now), (false, 0));
    for cut in [&line[..5], &line[..40], &line[..line.len() - 2], "{\"sample\":7}\n", "\n"] {
        if cut != "\n" {
            assert_eq!(runs(cut), (true, 0), "{cut}");
            assert_eq!(runs(&format!("{line}{cut}")), (false, 0), "{cut}");
        }
    }
    assert_eq!(runs(&line[..line.len() - 1]), (false, 0), "only the line end is missing");
    assert!(dir.read("j").ends_with(b"\n"));
}

#[test]
fn what_is_no_journal_is_refused_at_once() {
    let world = World::built();
    let dir = &world.dir;
    shell(dir.root(), "mkfifo pipe && mkdir folder");
    dir.write("sheet", "s\t1.fq\n");
    dir.write("long", format!("{{\"sample\":\"{}", "x".repeat(70 << 20)));
    for (name, reason) in [
        ("/dev/zero", "is not a regular file"),
        ("/dev/null", "is not a regular file"),
        ("/dev/full", "is not a regular file"),
        ("-", "is not a regular file"),
        ("pipe", "is not a regular file"),
        ("folder", "is not a regular file"),
        ("1.fq", "is an input"),
        ("2.fq", "is not a journal of --resume"),
        ("long", "line 1 is longer than 64.0 MiB"),
    ] {
        let before = dir.names();
        let run = format!("classify refs.mgdb --sample-sheet sheet -o {{}}.tsv --resume {name}");
        let said = dir.run(&run).fails(1);
        assert!(said.contains(&format!("{name}: {reason}")), "{name}: {said}");
        assert_eq!(dir.names(), before);
    }
    let run = "classify refs.mgdb --sample-sheet sheet -o {}.tsv --memory 60M --resume long";
    let said =
        "error: long: line 1 is longer than 10.0 MiB: it is damaged, or needs more --memory\n";
    assert_eq!(dir.run(run).fails(1), said);
}

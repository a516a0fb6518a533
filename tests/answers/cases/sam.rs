//! SAM that cannot be misread.

use std::fs::File;
use std::process::{Command, Stdio};

use super::cases;
use merganser_test_support::tools::installed;
use merganser_test_support::{Dir, program};

const GENOME: &str = "GATTACAGATCCCGTAAGCTTGCATGCCTGCAGGTCGACTCTAGAGGATCCCCGGGTACCGAGCTCGAATTCACTGGCCGTCGTTTTACAACGTCGTGACTGG";

/// Returns a directory with a reference and reads with these names, which map with one edit.
fn world(contigs: &[&str], names: &[&str]) -> Dir {
    let dir = Dir::new();
    let contig = |name: &&str| format!(">{name}\n{GENOME}\n");
    dir.write("g.fa", contigs.iter().map(contig).collect::<String>());
    let read = |name: &&str| format!("@{name}\n{}\n+\n{}\n", &GENOME[..50], "I".repeat(50));
    dir.write("r.fq", names.iter().map(read).collect::<String>());
    dir
}

#[test]
fn no_line_of_sam_begins_with_an_at_that_is_no_header() {
    for name in ["@CO", "@x", "@HD\tVN:1.6", "@"] {
        let dir = world(&["c"], &["ok", name]);
        let shown = name.split('\t').next().unwrap();
        let line = dir.run("map -e 1 g.fa r.fq -o x.sam").fails(1);
        assert_eq!(
            line,
            format!(
                "error: r.fq: record 2: the name {shown} begins with @, which would make its line of SAM a \
                 header line: write BAM (-o FILE.bam), or rename the read\n"
            )
        );
        // BAM has no lines.
        dir.run("map -q -e 1 g.fa r.fq -o x.bam").ok();
        if !shown.eq("@") && installed(&["samtools"]) {
            let count = Command::new("samtools")
                .args(["view", "-c", "x.bam"])
                .current_dir(dir.root())
                .output();
            assert_eq!(String::from_utf8(count.unwrap().stdout).unwrap().trim(), "2");
        }
    }
    for name in ["a\u{1}b", "\u{1b}[2J", "x\u{7f}"] {
        let dir = world(&["c"], &[name]);
        for output in ["x.sam", "x.bam"] {
            let line = dir.run(&format!("map -e 1 g.fa r.fq -o {output}")).fails(1);
            assert!(line.contains("has control characters: rename the read"), "{line}");
        }
    }
    // Other names are accepted.
    let dir = world(&["c"], &["a@b", "é", "#x"]);
    dir.run("map -q -e 1 g.fa r.fq").ok();
}

/// Reads of FASTQ that become alignments have the names of those that are mapped.
#[test]
fn reads_that_are_written_as_alignments_have_names_of_sam() {
    let long = "n".repeat(255);
    for (name, outputs, expected) in [
        ("@CO", &["x.sam"][..], "the name @CO begins with @"),
        (&long, &["x.sam", "x.bam", "x.cram"], "a name of 255 bytes: SAM, BAM and CRAM allow 254"),
    ] {
        let dir = world(&["c"], &["ok", name]);
        let host: String = GENOME.chars().rev().collect();
        dir.write("host.fa", format!(">h\n{host}\n"));
        dir.run("deplete index -q host.fa -o host.mgd").ok();
        for output in outputs {
            let line = dir.run(&format!("deplete filter host.mgd r.fq -o {output}")).fails(1);
            assert!(line.starts_with(&format!("error: r.fq: record 2: {expected}")), "{line}");
            assert!(!dir.path(output).exists());
        }
    }
    let dir = world(&["c"], &[&long[1..]]);
    dir.run("count -q -k 21 --min-count 1 -o t.mgk g.fa").ok();
    dir.run("kmers filter-reads -q t.mgk r.fq -o x.bam").ok();
}

#[test]
fn tags_name_no_contig_that_is_not_told_from_what_follows() {
    for (names, has_tag, warns) in [
        (["c1", "c2"], true, false),
        (["HLA:A*01:01", "gi|7|ref|"], true, false),
        (["c1", "c;2"], false, false),
        (["chr,1", "chr,2"], false, true),
        (["chr(1)", "chr\"2"], true, true),
    ] {
        let dir = world(&names, &["r"]);
        let ran = dir.run("map -q -e 1 --best --xa 5 g.fa r.fq");
        let text = ran.ok();
        assert_eq!(text.contains("\tXA:Z:"), has_tag, "{text}");
        assert!(text.contains(&format!("SN:{}\t", names[1])));
        let ran = dir.run("map -e 1 g.fa r.fq -o x.bam");
        let warned: Vec<&str> = ran.warnings();
        assert_eq!(warned.len(), usize::from(warns), "{warned:?}");
        assert!(!warns || warned[0].starts_with(&format!(
            "warning: 2 contigs have names that SAM does not allow (first: {}), and some programs reject them", names[0]
        )));
        assert_eq!(dir.run("index g.fa -o g.mgi").warnings(), warned);
        assert_eq!(dir.run("map -e 1 g.mgi r.fq -o x.bam").warnings(), warned);
    }
    for name in ["a\u{1}", "\u{1b}[2J", "=x", "*"] {
        let dir = world(&[name], &["r"]);
        let line = dir.run("map -e 1 g.fa r.fq").fails(1);
        assert!(line.contains("cannot be the name of a contig in SAM: rename it"), "{line}");
    }
}

/// Runs a command with stdout and stderr in one file; returns its content and whether the command succeeded.
fn to_one_file(dir: &Dir, command: &str) -> (String, bool) {
    let file = File::create(dir.path("both")).unwrap();
    let done = program()
        .args(command.split(' '))
        .current_dir(dir.root())
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .status()
        .unwrap();
    (String::from_utf8(dir.read("both")).unwrap(), done.success())
}

#[test]
fn messages_are_not_among_records() {
    let dir = world(&["c"], &["r"]);
    dir.run("deplete index -q -k 11 -w 5 g.fa -o h.mgd").ok();
    dir.run("count -q -k 11 --min-count 1 g.fa -o t.mgk").ok();
    for (command, output) in [
        ("map -e 1 g.fa r.fq", "-o -"),
        ("map -e 1 g.fa r.fq", "-o /dev/stdout --log-level debug"),
        ("deplete filter --keep h.mgd r.fq", "-o -"),
        ("kmers filter-reads t.mgk r.fq", "-o -"),
    ] {
        let quiet = dir.run(&format!("{command} -q")).ok();
        assert_eq!(to_one_file(&dir, &format!("{command} {output}")), (quiet, true), "{command}");
        // With results in another file, messages are printed.
        let (text, done) = to_one_file(&dir, &format!("{command} -o elsewhere"));
        assert!(done && text.contains("reads"), "{text}");
    }
    // Warnings and errors are printed in any case.
    let (text, done) = to_one_file(&dir, "map -e 1 g.fa r.fq r.fq");
    let said: Vec<&str> = text.lines().filter(|line| !line.contains('\t')).collect();
    assert!(
        done && said.len() == 1 && said[0].starts_with("warning: r.fq: is given more than once"),
        "{text}"
    );
    let (text, done) = to_one_file(&dir, "map -e 1 g.fa none.fq");
    assert_eq!(
        (&text[..], done),
        ("error: none.fq: cannot open: no such file or directory\n", false)
    );
}

#[test]
fn the_cases_of_sam() {
    let (Some(map), Some(attack)) = (cases("map"), cases("attack")) else { return };
    let dir = Dir::new();
    let path = |name: &str| match name.strip_prefix("attack/") {
        Some(name) => attack.join(name).display().to_string(),
        None => map.join(name).display().to_string(),
    };
    let run = |options: &str, files: &[&str]| {
        let files = files
            .iter()
            .map(|name| if name.starts_with('-') { (*name).to_owned() } else { path(name) });
        dir.run_with(
            ["map", "-q"]
                .map(String::from)
                .into_iter()
                .chain(options.split(' ').map(String::from))
                .chain(files),
            b"",
        )
    };
    for files in [["v.fa", "at.fq"], ["attack/n4.fa", "attack/atco.fq"]] {
        assert!(run("-e 5", &files).fails(1).contains("would make its line of SAM a header line"));
    }
    let text = run("-e 5 --best --xa 5", &["names.fa", "names.fq"]).ok();
    assert!(text.contains("\tchr,1\t101\t") && !text.contains("XA:Z"), "{text}");
    let line = run("-e 5 --best", &["v.fa", "-1", "v350_1.fq.gz", "-2", "v350_1.fq.gz"]).fails(1);
    assert!(line.contains("the same file as first and as second mates"), "{line}");
    let flags = |text: &str| -> Vec<(String, u16)> {
        let records = text.lines().filter(|line| !line.starts_with('@'));
        let columns = records.map(|line| line.split('\t').take(2).collect::<Vec<_>>());
        columns.map(|two| (two[0].to_owned(), two[1].parse().unwrap())).collect()
    };
    let text = run("-e 5 --best", &["v.fa", "-1", "sra_1.fq", "-2", "sra_2.fq"]).ok();
    assert_eq!(flags(&text), [("SRR1.1".to_owned(), 99), ("SRR1.1".to_owned(), 147)]);
    let found = flags(&run("-e 5 --best", &["v.fa", "pairs.u.bam"]).ok());
    assert_eq!(found.len(), 2000);
    for (number, pair) in found.chunks(2).enumerate() {
        let [one, two] = [0, 1].map(|at| (&pair[at].0, pair[at].1 & 0xc1));
        let name = format!("p{number}");
        assert_eq!([one, two], [(&name, 0x41), (&name, 0x81)]);
    }
}

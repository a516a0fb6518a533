//! Files of hts-specs and htslib: SAM, BAM and CRAM that pass through `deplete filter`, compared with `samtools view`.

use std::path::{Path, PathBuf};

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};

use super::data::{Cases, files, peer};

/// Returns a directory with a set that matches nothing.
fn with_set() -> Option<Dir> {
    if !installed(&["samtools"]) {
        return None;
    }
    let dir = Dir::new();
    let host = String::from_utf8(Random(5).bases(500)).unwrap();
    dir.write("host.fa", format!(">host\n{host}\n"));
    dir.run("deplete index -q host.fa -o host.mgd").ok();
    Some(dir)
}

/// Passes all records of a file through the program; returns whether it accepted the file.
fn pass(dir: &Dir, file: &Path, reference: Option<&Path>, output: &str) -> bool {
    let mut args =
        ["deplete", "filter", "-q", "host.mgd", "-o", output].map(str::to_owned).to_vec();
    args.push(file.display().to_string());
    if let Some(reference) = reference {
        args.extend(["--reference".to_owned(), reference.display().to_string()]);
    }
    let ran = dir.run_with(args, b"");
    assert!(matches!(ran.code, Some(0 | 1)), "{}: {}", file.display(), ran.stderr);
    ran.code == Some(0)
}

/// Returns the records by samtools, without tags that it computes; `None` if it refuses the file.
fn view(dir: &Dir, file: &Path, reference: Option<&Path>) -> Option<Vec<u8>> {
    let reference = reference.map_or(String::new(), |path| format!("-T {}", path.display()));
    let options = format!("--input-fmt-option decode_md=0 {reference}");
    // The output is in a file because shell() asserts success.
    let run = format!("samtools view {options} '{}' > view 2> log || rm view", file.display());
    shell(dir.root(), &run);
    dir.path("view").exists().then(|| dir.read("view"))
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

/// Adds a case: the records that samtools reads from the file are those that it reads from our copy.
fn add(cases: &mut Cases, dir: &Dir, file: &Path, reference: Option<&Path>) {
    let passed = pass(dir, file, reference, "o.sam");
    let equal = || view(dir, file, reference) == view(dir, &dir.path("o.sam"), None);
    cases.add(&name(file), passed && equal());
}

#[test]
fn valid_sam_of_hts_specs_passes() {
    let Some(folder) = peer("hts-specs/test") else { return };
    let Some(dir) = with_set() else { return };
    let mut cases = Cases::of("hts-specs, SAM and BAM");
    for sub in ["sam/passed", "SAMtags", "bam/passed"] {
        for file in ["sam", "bam"].map(|suffix| files(&folder.join(sub), suffix)).concat() {
            add(&mut cases, &dir, &file, None);
        }
    }
    cases.end(&["hdr.CO.sam"]);
}

/// Files of the specification's tests that differ on purpose; `docs/evidence/peers-tests.md` has the reasons.
const CRAM: [&str; 9] = [
    "1001_name.cram",
    "1003_qual.cram",
    "1004_qual.cram",
    "1005_qual.cram",
    "1200_overflow.cram",
    "level-1.cram",
    "level-2.cram",
    "level-3.cram",
    "level-4.cram",
];

#[test]
fn cram_of_hts_specs_is_decoded() {
    let Some(folder) = peer("hts-specs/test/cram") else { return };
    let Some(dir) = with_set() else { return };
    let mut cases = Cases::of("hts-specs, CRAM");
    let reference = folder.join("ce.fa");
    for version in ["3.0", "3.1"] {
        for file in files(&folder.join(version).join("passed"), ".cram") {
            add(&mut cases, &dir, &file, Some(&reference));
        }
    }
    let failed = folder.join("3.0/failed/0000_empty_noeof.cram");
    cases.add("0000_empty_noeof.cram", !pass(&dir, &failed, Some(&reference), "o.sam"));
    cases.end(&CRAM);
}

/// Invalid SAM that is passed on as SAM, because the invalid fields are not read. As BAM, fewer are accepted.
#[test]
fn invalid_sam_of_hts_specs_is_refused_or_unchanged() {
    let Some(folder) = peer("hts-specs/test/sam/failed") else { return };
    let Some(dir) = with_set() else { return };
    let (mut refused, mut refused_as_bam, mut both) = (0, 0, 0);
    let mut cases = Cases::of("hts-specs, invalid SAM");
    for file in files(&folder, ".sam") {
        let by_samtools = view(&dir, &file, None).is_none();
        let accepted = pass(&dir, &file, None, "o.sam");
        refused += usize::from(!accepted);
        refused_as_bam += usize::from(!pass(&dir, &file, None, "o.bam"));
        both += usize::from(!accepted && by_samtools);
        let records = |path: &Path| {
            let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
            text.lines()
                .filter(|line| !line.starts_with('@') && !line.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let unchanged = || records(&file) == records(&dir.path("o.sam"));
        cases.add(&name(&file), !accepted || unchanged());
    }
    eprintln!("refused: {refused}, also by samtools: {both}; if written as BAM: {refused_as_bam}");
    cases.end(&[]);
}

/// Files of htslib's tests that are refused or differ; `docs/evidence/peers-tests.md` has the reasons. `tlen` has its own test.
const HTSLIB: [&str; 8] = [
    "auxf#values_java.cram",
    "ce#5b_java.cram",
    "longref.sam",
    "longref_itr.expected.sam",
    "longref_multi.expected.sam",
    "small.bam",
    "xx#blank.sam",
    "xx#large_aux_java.cram",
];

/// Returns the reference of a file of htslib's tests, which its name begins with.
fn reference(folder: &Path, file: &Path) -> Option<PathBuf> {
    let name = name(file);
    let reference = folder.join(format!("{}.fa", name.split('#').next().unwrap()));
    reference.exists().then_some(reference)
}

#[test]
fn alignments_of_htslib_pass() {
    let Some(folder) = peer("htslib/test") else { return };
    let Some(dir) = with_set() else { return };
    let mut cases = Cases::of("htslib");
    for file in ["sam", "bam", "cram"].map(|suffix| files(&folder, &format!(".{suffix}"))).concat()
    {
        let is_cram_of_tlen =
            file.starts_with(folder.join("tlen")) && name(&file).ends_with(".cram");
        if file.starts_with(folder.join("fuzz")) || is_cram_of_tlen {
            continue;
        }
        let reference = reference(&folder, &file).unwrap_or_else(|| folder.join("ce.fa"));
        add(&mut cases, &dir, &file, Some(&reference));
    }
    cases.end(&HTSLIB);
}

/// Files in which the reads of a template begin at the same base: the sign of the length is arbitrary.
const TLEN: [&str; 18] = [
    "b7.cram", "b7b.cram", "b8.cram", "b8b.cram", "d4.cram", "d4b.cram", "d4c.cram", "d4d.cram",
    "d4e.cram", "d4f.cram", "d5.cram", "d5b.cram", "d5c.cram", "d5d.cram", "d5e.cram", "d5f.cram",
    "d7.cram", "d7b.cram",
];

#[test]
fn template_lengths_of_htslib_have_its_values() {
    let Some(folder) = peer("htslib/test/tlen") else { return };
    let Some(dir) = with_set() else { return };
    let mut cases = Cases::of("htslib, TLEN");
    let reference = folder.parent().unwrap().join("ce.fa");
    for file in files(&folder, ".cram") {
        add(&mut cases, &dir, &file, Some(&reference));
    }
    cases.end(&TLEN);
}

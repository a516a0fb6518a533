//! Variants of a simulated genome, pairs of unusual libraries, and records for OptiType.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::cases;
use merganser_test_support::examples::of_help;
use merganser_test_support::tools::shell;
use merganser_test_support::{Dir, MERGANSER};

/// Returns a directory with the reference, the true variants, and the pairs of one case.
fn world(cases: &Path, pairs: &str) -> Dir {
    let dir = Dir::new();
    for name in ["v.fa", "v.truth.vcf"] {
        fs::copy(cases.join(name), dir.path(name)).unwrap();
    }
    for mate in [1, 2] {
        let end = if ["rf", "p362"].contains(&pairs) { "fq" } else { "fq.gz" };
        let from = cases.join(format!("{pairs}_{mate}.{end}"));
        fs::copy(from, dir.path(&format!("{mate}.{end}"))).unwrap();
    }
    dir
}

/// Maps the pairs with these options; returns the warnings and the records.
fn map(dir: &Dir, options: &str) -> (Vec<String>, String) {
    let ran = dir.run(&format!("map v.fa -1 1.fq.gz -2 2.fq.gz -e 10% --best --clip {options}"));
    (ran.warnings().into_iter().map(str::to_owned).collect(), ran.ok())
}

/// Returns the sequence of a FASTA file with one contig.
fn sequence(dir: &Dir) -> String {
    let text = String::from_utf8(dir.read("v.fa")).unwrap();
    text.lines().filter(|line| !line.starts_with('>')).collect()
}

/// Returns the reference with all true variants.
fn haplotype(dir: &Dir) -> String {
    let (reference, truth) = (sequence(dir), String::from_utf8(dir.read("v.truth.vcf")).unwrap());
    let (mut haplotype, mut from) = (String::new(), 0);
    for line in truth.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let at = fields[1].parse::<usize>().unwrap() - 1;
        haplotype += &reference[from..at];
        haplotype += fields[4];
        from = at + fields[3].len();
    }
    haplotype + &reference[from..]
}

/// Returns the operations of a CIGAR with their lengths.
fn operations(cigar: &str) -> Vec<(char, usize)> {
    let runs = cigar.split_inclusive(|letter: char| letter.is_ascii_alphabetic());
    runs.map(|run| {
        let (len, operation) = run.split_at(run.len() - 1);
        (operation.chars().next().unwrap(), len.parse().unwrap())
    })
    .collect()
}

/// Returns the sequence that most primary records of proper pairs have: for each base of the reference the same base,
/// another one, none, or a base with an insertion after it.
fn consensus(reference: &str, sam: &str) -> String {
    let mut seen: Vec<HashMap<String, usize>> = vec![HashMap::new(); reference.len()];
    for line in sam.lines().filter(|line| !line.starts_with('@')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let flags: u16 = fields[1].parse().unwrap();
        if flags & 0x2 == 0 || flags & 0x900 != 0 {
            continue;
        }
        let (mut at, mut from) = (fields[3].parse::<usize>().unwrap() - 1, 0);
        let mut columns: Vec<(usize, String)> = Vec::new();
        for (operation, len) in operations(fields[5]) {
            let letters = || &fields[9][from..from + len];
            match operation {
                'M' => {
                    let bases = letters().chars().map(String::from);
                    columns.extend((at..).zip(bases));
                }
                'D' => columns.extend((at..at + len).map(|at| (at, String::new()))),
                'I' => columns.last_mut().unwrap().1 += letters(),
                _ => {}
            }
            at += if matches!(operation, 'M' | 'D') { len } else { 0 };
            from += if operation == 'D' { 0 } else { len };
        }
        for (at, letters) in columns {
            *seen[at].entry(letters).or_default() += 1;
        }
    }
    let most = |(at, seen): (usize, &HashMap<String, usize>)| {
        let best = seen.iter().max_by_key(|(letters, count)| (**count, letters.as_str()));
        best.map_or_else(|| reference[at..=at].to_owned(), |(letters, _)| letters.clone())
    };
    seen.iter().enumerate().map(most).collect()
}

/// The command in the help for bcftools finds exactly the variants of a genome.
#[test]
fn the_recipe_for_callers_finds_all_variants() {
    let Some(cases) = cases("map") else { return };
    let dir = world(&cases, "v350");
    let recipe = of_help("map").into_iter().find(|it| it.command.contains("@RG")).unwrap().command;
    let mut command = recipe.replacen("merganser", &format!("{MERGANSER} -q"), 1);
    for (from, to) in [
        ("-q map", "map -q"),
        ("ref.fa", "v.fa"),
        ("reads_1", "1"),
        ("reads_2", "2"),
        ("--sort ", ""),
        ("out.bam", "out.sam"),
    ] {
        assert!(command.contains(from), "{command}");
        command = command.replace(from, to);
    }
    shell(dir.root(), &command);
    let sam = String::from_utf8(dir.read("out.sam")).unwrap();
    assert!(consensus(&sequence(&dir), &sam) == haplotype(&dir));
    // Without `--rescue`, too. The limit of edits that the help once recommended is not enough.
    let (_, sam) = map(&dir, "-q");
    assert!(consensus(&sequence(&dir), &sam) == haplotype(&dir));
    let sam = dir.run("map -q v.fa -1 1.fq.gz -2 2.fq.gz -e 4% --best --max-insert 600").ok();
    assert!(consensus(&sequence(&dir), &sam) != haplotype(&dir));
}

#[test]
fn fragments_longer_than_allowed_are_warned_of_with_a_remedy() {
    let Some(cases) = cases("map") else { return };
    let dir = world(&cases, "v750");
    let (warnings, sam) = map(&dir, "--max-insert 600");
    assert_eq!(
        warnings,
        [
            "warning: 1.fq.gz and 2.fq.gz: 1,000 of 1,000 pairs with hits of both mates are discordant because \
             their mates are farther apart than --max-insert 600 allows (about 679 to 815 bases from end to end in nine \
             of ten of them, the median is 751); raise --max-insert, for example to 900"
        ]
    );
    assert_eq!(consensus(&sequence(&dir), &sam), sequence(&dir));
    let (warnings, sam) = map(&dir, "--max-insert 900");
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(consensus(&sequence(&dir), &sam) == haplotype(&dir));
}

#[test]
fn dovetailed_mates_are_proper() {
    let Some(cases) = cases("map") else { return };
    let dir = world(&cases, "dovetail");
    let (warnings, sam) = map(&dir, "--max-insert 600");
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(consensus(&sequence(&dir), &sam) == haplotype(&dir));
}

/// A base inserted in the second mate moves its end beyond that of the first mate.
#[test]
fn a_mate_that_ends_beyond_the_other_one_is_proper() {
    let Some(cases) = cases("map") else { return };
    let dir = world(&cases, "p362");
    fs::copy(cases.join("p362.fa"), dir.path("p362.fa")).unwrap();
    let sam = dir.run("map -q p362.fa 1.fq 2.fq").ok();
    let flags = sam.lines().filter(|line| !line.starts_with('@'));
    let flags: Vec<&str> = flags.map(|line| line.split('\t').nth(1).unwrap()).collect();
    assert_eq!(flags, ["99", "147"]);
}

/// Adapters of untrimmed reads are clipped, as BWA-MEM clips them, and so are reads over the junction of a circle.
#[test]
fn ends_that_do_not_align_are_clipped() {
    let Some(cases) = cases("map") else { return };
    let dir = Dir::new();
    for name in ["v.fa", "adapter_1.fq", "adapter_2.fq", "circle.fa", "circle.fq"] {
        fs::copy(cases.join(name), dir.path(name)).unwrap();
    }
    let cigars = |args: &str| {
        let sam = dir.run(&format!("map -q {args}")).ok();
        let lines = sam.lines().filter(|line| !line.starts_with('@'));
        lines.map(|line| line.split('\t').nth(5).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(cigars("v.fa adapter_1.fq adapter_2.fq"), ["181M69S", "70S180M"]);
    let circle = cigars("circle.fa circle.fq");
    assert!(circle.len() == 5 && circle.iter().all(|cigar| cigar.contains('S')), "{circle:?}");
}

#[test]
fn an_echo_of_a_hit_is_no_hit_of_its_own() {
    let Some(cases) = cases("map") else { return };
    let dir = world(&cases, "v350");
    fs::copy(cases.join("echo.fq"), dir.path("echo.fq")).unwrap();
    let cigars = |options: &str| {
        let sam = dir.run(&format!("map -q v.fa echo.fq -e 5 {options}")).ok();
        let lines = sam.lines().filter(|line| !line.starts_with('@'));
        lines.map(|line| line.split('\t').nth(5).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(cigars(""), ["93M1D7M"]);
    assert_eq!(cigars("--echoes"), ["93M1D7M", "93M4I3M"]);
}

/// NM counts a base aligned to N as a difference (SAM specification), even if N matches everything.
#[test]
fn edits_at_n_are_counted_as_in_the_specification() {
    let Some(cases) = cases("map") else { return };
    let dir = Dir::new();
    for name in ["n.fa", "n.fq"] {
        fs::copy(cases.join(name), dir.path(name)).unwrap();
    }
    let sam = dir.run("map -q n.fa n.fq -e 3 --n-mode match").ok();
    let record = sam.lines().find(|line| !line.starts_with('@')).unwrap();
    assert!(record.contains("\tNM:i:1\t"), "{record}");
    let fields: Vec<&str> = record.split('\t').collect();
    dir.write("own.sam", &sam);
    let calmd = shell(dir.root(), "samtools calmd own.sam n.fa 2>/dev/null");
    let calmd = String::from_utf8(calmd).unwrap();
    let theirs = calmd.lines().find(|line| !line.starts_with('@')).unwrap();
    for tag in ["NM:i:", "MD:Z:"] {
        let of = |record: &str| {
            record.split('\t').find(|field| field.starts_with(tag)).map(str::to_owned)
        };
        assert_eq!(of(record), of(theirs), "{fields:?}");
    }
}

#[test]
fn outward_mates_are_warned_of() {
    let Some(cases) = cases("map") else { return };
    let dir = world(&cases, "rf");
    let ran = dir.run("map v.fa -1 1.fq -2 2.fq -e 4 --best");
    assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
    let warning = ran.warnings()[0];
    assert!(warning.contains("50 of 50 pairs"), "{warning}");
    assert!(warning.contains("give --orientation rf"), "{warning}");
    let ran = dir.run("map v.fa -1 1.fq -2 2.fq -e 4 --best --orientation rf --max-insert 4000");
    assert_eq!(ran.warnings(), [""; 0]);
    let sam = ran.ok();
    let records = sam.lines().filter(|line| !line.starts_with('@'));
    let flags = records.map(|line| line.split('\t').nth(1).unwrap().parse::<u16>().unwrap());
    assert!(flags.clone().count() == 100 && flags.clone().all(|flags| flags & 2 != 0));
}

/// OptiType requires the tag NM in every record and a contig of the reference.
#[test]
fn records_for_optitype_have_nm() {
    let Some(cases) = cases("map") else { return };
    let dir = Dir::new();
    fs::copy(cases.join("v.fa"), dir.path("hla.fa")).unwrap();
    fs::copy(cases.join("opti.fq"), dir.path("reads.fq")).unwrap();
    shell(dir.root(), "gzip reads.fq");
    let page = merganser_test_support::examples::of_page(
        &merganser_test_support::root().join("docs/guide/map.md"),
    );
    let recipes = of_help("map").into_iter().chain(page);
    let recipes = recipes.filter(|it| it.command.contains("hla.fa"));
    let recipes: Vec<String> = recipes.map(|it| it.command).collect();
    assert_eq!(recipes.len(), 2);
    for recipe in recipes {
        let command = recipe.replace("out.bam", "out.sam");
        dir.run_with(command.split_whitespace().skip(1), b"").ok();
        let sam = String::from_utf8(dir.read("out.sam")).unwrap();
        let records: Vec<&str> = sam.lines().filter(|line| !line.starts_with('@')).collect();
        assert_eq!(records.len(), 1, "{sam}");
        for record in records {
            let fields: Vec<&str> = record.split('\t').collect();
            assert!(fields[2] == "v" && fields[11].starts_with("NM:i:"), "{record}");
        }
    }
}

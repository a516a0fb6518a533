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
        let end = if pairs == "rf" { "fq" } else { "fq.gz" };
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
fn dovetailed_mates_are_warned_of() {
    let Some(cases) = cases("map") else { return };
    let dir = world(&cases, "dovetail");
    let (warnings, _) = map(&dir, "--max-insert 600");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    for part in
        ["986 of 1,000 pairs", "dovetailed", "111 to 141 bases", "median is 125", "mpileup", "-A"]
    {
        assert!(warnings[0].contains(part), "{part}: {}", warnings[0]);
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
    assert!(warning.contains("point away from each other"), "{warning}");
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

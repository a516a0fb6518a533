//! With documented commands for variant calling, callers find as many variants as with BWA-MEM.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use merganser_test_support::diploid::Diploid;
use merganser_test_support::examples::{Example, of_help, of_page};
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, MERGANSER, root};

/// Parts of commands that are not for variant calling, each with its purpose.
const OTHER_JOBS: [(&str, &str); 4] = [
    ("reads.fq.gz -e 5 -o", "every place of single reads"),
    ("hla.fa", "every best place of single reads, for OptiType"),
    ("--unmapped rest.fq.gz", "reads of a host are taken away"),
    ("--device", "speed"),
];

/// Maximum loss of recall and precision compared with BWA-MEM.
const TOLERANCE: f64 = 0.01;

/// Returns a directory with the files that the commands name, made from a simulated diploid.
fn world() -> Dir {
    let dir = Dir::new();
    let mut diploid = Diploid::new(5);
    dir.write("ref.fa", diploid.fasta());
    dir.write("truth.vcf", diploid.vcf());
    let [first, second] = diploid.pairs();
    dir.write("reads_1.fq", first);
    dir.write("reads_2.fq", second);
    dir.write("run.tsv", "s1\treads_1.fq.gz\treads_2.fq.gz\n");
    let real = "tests/data/streptococcus";
    shell(
        dir.root(),
        &format!(
            "gzip -1 -k reads_1.fq reads_2.fq && mkdir -p {real} \
             && gzip -1 -c ref.fa > {real}/Streptococcus_pneumoniae_NCTC7465.fna.gz \
             && for mate in 1 2; do cp reads_$mate.fq.gz r_$mate.fq.gz; \
             cp reads_$mate.fq.gz tests/data/ERR1438863_$mate.fastq.gz; done; \
             samtools import -r ID:a -r SM:s1 -1 reads_1.fq -2 reads_2.fq -o sample.bam 2>>log"
        ),
    );
    dir.run("index -q ref.fa -o ref.mgi").ok();
    dir
}

/// Returns the documented mapping commands for variant calling, and those that join their shards.
fn recipes() -> Vec<Example> {
    let pages = ["README.md", "docs/guide/map.md", "docs/guide/quickstart.md"];
    let pages = pages.iter().flat_map(|page| of_page(&root().join(page)));
    let maps = |example: &Example| {
        let command = &example.command;
        command.starts_with("merganser map")
            && OTHER_JOBS.iter().all(|(part, _)| !command.contains(part))
    };
    let helps = ["", "map", "map join"].into_iter().flat_map(of_help);
    pages.chain(helps).filter(maps).collect()
}

/// Returns the output of a command, for the only sample of the sheet; `None` for a shard.
fn output(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let value = |option: &str| words.windows(2).find(|pair| pair[0] == option).map(|pair| pair[1]);
    (value("--shard").is_none()).then(|| value("-o").unwrap().replace("{}", "s1"))
}

/// SNPs, and insertions and deletions: position and both alleles.
type Variants = [BTreeSet<String>; 2];

/// Returns the variants that a shell command prints as VCF.
fn variants(dir: &Path, command: &str) -> Variants {
    let vcf = shell(dir, &format!("{command} 2>>log"));
    let mut variants = Variants::default();
    for line in String::from_utf8(vcf).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let is_indel = fields[3].len() != fields[4].len();
        variants[usize::from(is_indel)].insert([fields[1], fields[3], fields[4]].join(" "));
    }
    variants
}

/// Returns the variants that bcftools calls from sorted records.
fn called(dir: &Path, records: &str) -> Variants {
    let mpileup = format!("bcftools mpileup -f ref.fa {records} 2>>log | bcftools call -mv 2>>log");
    variants(dir, &format!("{mpileup} | bcftools norm -f ref.fa -m -any"))
}

/// Returns recall and precision of SNPs, then of insertions and deletions.
fn accuracy(called: &Variants, truth: &Variants) -> [f64; 4] {
    let of = |kind: usize| {
        let found = called[kind].intersection(&truth[kind]).count() as f64;
        [found / truth[kind].len() as f64, found / called[kind].len().max(1) as f64]
    };
    let [snps, indels] = [of(0), of(1)];
    [snps[0], snps[1], indels[0], indels[1]]
}

#[test]
fn recipes_are_as_good_as_bwa() {
    if !installed(&["bcftools", "samtools", "bwa"]) {
        return;
    }
    let dir = world();
    let root = dir.root();
    let truth = variants(root, "bcftools norm -f ref.fa -m -any truth.vcf");
    assert!(truth[0].len() > 150 && truth[1].len() > 80, "{truth:?}");
    shell(
        root,
        "bwa index ref.fa 2>>log && samtools faidx ref.fa \
         && bwa mem ref.fa reads_1.fq reads_2.fq 2>>log | samtools sort -o bwa.bam - 2>>log",
    );
    let bwa = accuracy(&called(root, "bwa.bam"), &truth);
    assert!(bwa.iter().all(|part| *part > 0.97), "{bwa:?}");
    let (recipes, mut failures, mut places) = (recipes(), Vec::new(), BTreeSet::new());
    for Example { place, command } in &recipes {
        let own = command.replacen("merganser", &MERGANSER, 1);
        shell(root, &format!("{own} 2>>log"));
        let Some(output) = output(command) else { continue };
        let accuracy = accuracy(&called(root, &output), &truth);
        eprintln!("{place}: {accuracy:.4?}, BWA-MEM {bwa:.4?}");
        if accuracy.iter().zip(bwa).any(|(own, bwa)| *own < bwa - TOLERANCE) {
            failures.push(format!("{place}: {command}\n  {accuracy:.3?}, BWA-MEM {bwa:.3?}"));
        }
        fs::remove_file(dir.path(&output)).unwrap();
        places.insert(place.split(':').next().unwrap().to_owned());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let expected = [
        "README.md",
        "map.md",
        "merganser  --help",
        "merganser map --help",
        "merganser map join --help",
        "quickstart.md",
    ];
    assert_eq!(places.iter().collect::<Vec<_>>(), expected);
    assert!(recipes.len() >= 12, "{}", recipes.len());
}

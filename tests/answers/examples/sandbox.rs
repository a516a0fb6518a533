//! A directory with small files of the right kind for every name in the examples.

use std::fmt::Write;
use std::os::unix::fs::symlink;

use merganser_test_support::reads::Random;
use merganser_test_support::tools::{by_chance, shell};
use merganser_test_support::{Dir, root};

const BASES: usize = 20_000;

/// Returns a directory with the genomes of two strains, pairs of the first at 40×, and files made from these.
pub(super) fn fill() -> Dir {
    let dir = Dir::new();
    shell(
        dir.root(),
        "mkdir -p taxonomy genomes more scratch home/.local/share/man/man1 tests \
         home/.local/share/bash-completion/completions",
    );
    symlink(root().join("tests/data"), dir.path("tests/data")).unwrap();
    // A Kraken 2 database and GTDB genomes. The files beside the database are removed again.
    shell(
        dir.root(),
        "mkdir kraken_db own_kraken_db genomes_reps && cp tests/data/kraken2/*.k2d kraken_db && cp kraken_db/* own_kraken_db \
         && cp -r tests/data/genomes kraken_db/library && cp kraken_db/library/*.map kraken_db \
         && cp tests/data/genomes/Hep*.fna.gz genomes_reps/GCF_000860505.1_genomic.fna.gz \
         && printf 'RS_GCF_000860505.1\\td__Viruses;p__One\\n' | gzip > bac120_taxonomy.tsv.gz \
         && printf 'RS_GCF_000000001.1\\td__Others\\n' | gzip > ar53_taxonomy.tsv.gz",
    );
    // NCBI downloads, with a genome whose taxid is in the taxonomy.
    shell(
        dir.root(),
        "mkdir -p refseq/GCF_000001405.1 \
         && cp tests/data/genomes/Hep*.fna.gz refseq/GCF_000001405.1/GCF_000001405.1_genomic.fna.gz \
         && cp tests/data/genomes/Hep*.fna.gz human.fna.gz \
         && printf '#assembly_accession\\ttaxid\\tassembly_level\\n' > refseq/assembly_summary.txt \
         && printf 'GCF_000001405.1\\t562\\tComplete Genome\\n' >> refseq/assembly_summary.txt",
    );
    sequences(&dir);
    tables(&dir);
    databases(&dir);
    alignments(&dir);
    sets(&dir);
    dir
}

/// Writes genomes and reads, and lists of them.
fn sequences(dir: &Dir) {
    let mut random = Random(8);
    let one = String::from_utf8(random.bases(BASES)).unwrap();
    let two = String::from_utf8(random.bases(BASES)).unwrap();
    for name in ["genome.fa", "host.fa"] {
        dir.write(name, format!(">chr1\n{one}\n"));
    }
    for name in ["ref.fa", "hla.fa", "assembly.fa", "hap1.fa"] {
        dir.write(name, format!(">chr1\n{one}\n"));
    }
    dir.write("hap2.fa", format!(">chr1b\n{}\n", &one[..BASES / 2]));
    dir.write("genomes/a.fa", format!(">a|kraken:taxid|562\n{one}\n"));
    dir.write("genomes/b.fa", format!(">b|kraken:taxid|12\n{two}\n"));
    dir.write("more/c.fa", ">c|kraken:taxid|562\nACGTTGCAACGTTGCAACGTTGCAACGTTGCAACCA\n");
    dir.write("mine.fa", ">mine taxid|562\nTCGATTGCAGCGTTGCAACTTTGCAACGTTGCAACGA\n");
    dir.write("ids.tsv", "mine\t562\n");
    let (mut mates, mut segments, mut pairs) =
        ([String::new(), String::new()], String::new(), String::new());
    for read in 0..BASES * 40 / 200 {
        let at = random.below(BASES - 300);
        let ends = [one[at..at + 100].to_owned(), complement(&one[at + 200..at + 300])];
        for (mate, mut letters) in ends.into_iter().enumerate() {
            if random.below(4) == 0 {
                let place = random.below(100);
                letters.replace_range(place..=place, ["A", "C", "G", "T"][random.below(4)]);
            }
            let quality = "I".repeat(100);
            writeln!(mates[mate], "@r{read}/{}\n{letters}\n+\n{quality}", mate + 1).unwrap();
            if mate == 0 {
                writeln!(segments, ">s{read}\n{}", &one[at..at + 100]).unwrap();
                writeln!(pairs, "{letters}\t{}", &one[at..at + 100]).unwrap();
            }
        }
    }
    for name in ["reads_1", "r_1", "reads", "child", "sample_reads", "a", "a_1"] {
        dir.write(&format!("{name}.fq"), &mates[0]);
    }
    for name in ["reads_2", "r_2", "b", "a_2"] {
        dir.write(&format!("{name}.fq"), &mates[1]);
    }
    let records = |mate: usize| -> Vec<String> {
        let lines: Vec<&str> = mates[mate].lines().collect();
        lines.chunks(4).map(|record| record.join("\n") + "\n").collect()
    };
    let both = records(0).into_iter().zip(records(1));
    dir.write("both.fq", both.map(|(one, two)| one + &two).collect::<String>());
    for name in ["r1.fq", "r100.fq"] {
        dir.write(name, &mates[0]);
    }
    shell(dir.root(), "cp reads_1.fq reads_1.fastq; cp reads_2.fq reads_2.fastq");
    dir.write("segments.fa", segments);
    dir.write("pairs.tsv", pairs);
    for name in ["files.txt", "reads.txt"] {
        dir.write(name, "reads_1.fq.gz\nreads_2.fq.gz\n");
    }
    dir.write("genomes.txt", "genomes/a.fa\ngenomes/b.fa\n");
    dir.write("run.tsv", "s1\treads.fq.gz\ns2\treads_1.fq.gz\treads_2.fq.gz\n");
    let sheet = "sample,fastq_1,fastq_2,assembly\ns1,reads_1.fq.gz,reads_2.fq.gz,assembly.fa.gz\n";
    dir.write("assemblies.csv", sheet);
    dir.write("run.csv", "sample,fastq_1,fastq_2\ns1,reads_1.fq.gz,reads_2.fq.gz\n");
    let pair = complement(&two[400..420]);
    dir.write("primers.tsv", format!("one\t{}\t{pair}\n", &two[200..220]));
    dir.write("primers.fa", format!(">one\n{}\n>two\nGTGYCAGCMGCCGCGGTAA\n", &one[100..120]));
    dir.write("adapters.fa", ">adapter\nGCTCTTCCGATCT\n");
    dir.write("barcodes.tsv", format!("s1\t{}\ns2\t{}\n", &one[300..324], &two[200..224]));
    dir.write("guides.txt", format!("{}\n{}\n", &one[500..520], &one[900..920]));
    dir.write("markers.txt", format!("{}\n{}\n", &one[..31], &two[..31]));
    shell(
        dir.root(),
        "cp host.fa human.fa; cp genomes/b.fa wanted_genomes.fa; \
         for f in *.fq *.fastq mine.fa ref.fa assembly.fa host.fa human.fa wanted_genomes.fa pairs.tsv; \
         do gzip -1 -k $f; done",
    );
}

/// Makes tables of k-mers with all names that examples use.
fn tables(dir: &Dir) {
    let count = "count -q --min-count 1";
    dir.run(&format!("{count} -k 31 --histogram h31 -o all31.mgk reads_1.fq reads_2.fq")).ok();
    dir.run(&format!("{count} -k 31 -o host.mgk genomes/b.fa")).ok();
    dir.run(&format!(
        "{count} -k 21 --histogram sample.hist -o bacterium.mgk reads_1.fq reads_2.fq"
    ))
    .ok();
    dir.run(&format!("{count} -k 31 --format tsv -o panel.tsv genome.fa")).ok();
    let same = [
        "sample",
        "a",
        "b",
        "c",
        "child",
        "mother",
        "child_only",
        "all",
        "t1",
        "t2",
        "host (1)",
        "hifi",
        "illumina",
        "plant",
    ];
    for name in same {
        std::fs::copy(dir.path("all31.mgk"), dir.path(&format!("{name}.mgk"))).unwrap();
    }
    for name in ["father", "contaminants", "panel", "vectors"] {
        std::fs::copy(dir.path("host.mgk"), dir.path(&format!("{name}.mgk"))).unwrap();
    }
    dir.run("kmers convert -q --format kmc -o b host.mgk").ok();
    dir.run("kmers convert -q --format kmc -o other host.mgk").ok();
    dir.run("kmers convert -q --format kff -o c.kff host.mgk").ok();
    dir.run("kmers convert -q --format kmc -o sample sample.mgk").ok();
}

/// Writes a taxonomy, builds databases and classifies reads.
fn databases(dir: &Dir) {
    let taxa = [
        (1, 1, "no rank", "root"),
        (2, 1, "genus", "One"),
        (562, 2, "species", "Escherichia coli"),
        (12, 2, "species", "One b"),
    ];
    let line = |fields: [&str; 4]| format!("{}\t|\n", fields.join("\t|\t"));
    let nodes: String = taxa
        .iter()
        .map(|(id, up, rank, _)| line([&id.to_string(), &up.to_string(), rank, ""]))
        .collect();
    let names: String = taxa
        .iter()
        .map(|(id, _, _, name)| line([&id.to_string(), name, "", "scientific name"]))
        .collect();
    dir.write("taxonomy/nodes.dmp", nodes);
    dir.write("taxonomy/names.dmp", names);
    dir.run("build -q --taxonomy taxonomy --bracken 100,150 -o refs.mgdb genomes").ok();
    dir.run("build -q --taxonomy taxonomy -o a.mgdb genomes/a.fa").ok();
    dir.run("build -q --taxonomy taxonomy -o b.mgdb genomes/b.fa").ok();
    for (database, lines) in [("refs", "reads"), ("refs", "kraken2"), ("a", "a"), ("b", "b")] {
        dir.run(&format!("classify -q {database}.mgdb reads.fq -o {lines}.tsv")).ok();
    }
    shell(
        dir.root(),
        "mv kraken2.tsv kraken2.out; cut -f 2 reads.tsv | sed 's/$/\\t562/' > truth.tsv",
    );
    dir.run("classify -q refs.mgdb reads.fq --format metacache --taxids -o metacache.txt").ok();
    let pairs = "-1 reads_1.fq -2 reads_2.fq -o sample.tsv";
    dir.run(&format!("classify -q refs.mgdb {pairs}")).ok();
    for piece in ["a", "b"] {
        let run = format!("classify -q refs.mgdb {piece}.fq --no-map --report-minimizer-data");
        dir.run(&format!("{run} --partial {piece}.partial")).ok();
    }
    for sample in ["sample", "a", "b"] {
        dir.run(&format!("classify -q refs.mgdb reads.fq --no-map --report {sample}.kreport")).ok();
    }
}

/// Makes indexes of the reference, and alignments to it.
fn alignments(dir: &Dir) {
    for name in ["ref", "host", "ecoli"] {
        dir.run(&format!("index -q ref.fa -o {name}.mgi")).ok();
    }
    dir.run("map -q ref.fa reads_1.fq -2 reads_2.fq -e 3 -o sample.bam").ok();
    if by_chance("samtools") {
        shell(dir.root(), "samtools view -C -T genome.fa -o sample.cram sample.bam");
    }
}

/// Makes minimizer sets.
fn sets(dir: &Dir) {
    dir.run("deplete index -q -o host.mgd host.fa").ok();
    dir.run("deplete index -q -o pathogens.mgd genomes/b.fa").ok();
    for name in ["human", "mouse", "a", "b", "c"] {
        std::fs::copy(dir.path("host.mgd"), dir.path(&format!("{name}.mgd"))).unwrap();
    }
    for name in ["panhuman", "panhuman-1.k31w15"] {
        dir.run(&format!("deplete union -q -o {name}.idx host.mgd")).ok();
    }
}

fn complement(letters: &str) -> String {
    let turned = letters.chars().rev().map(|letter| match letter {
        'A' => 'T',
        'C' => 'G',
        'G' => 'C',
        _ => 'A',
    });
    turned.collect()
}

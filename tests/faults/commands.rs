//! A small run of each command, and what these runs read.

use std::io::Write;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::two_species::{write_genomes, write_pairs, write_taxonomy};

/// Commands whose outputs all have names that begin with `o`. Most tables have short k-mers: of longer ones a
/// table asks the allocator thousands of times, once for each range of k-mers.
pub(crate) const COMMANDS: [&str; 82] = [
    "count -k 21 --min-count 1 -o o.mgk --histogram oh --json oj 1.fq",
    "count -k 21 -o o.mgk 1.fq.gz 2.fq.gz",
    "count -k 5 --min-count 1 --storage disk -o o.mgk 1.fq",
    "count -k 5 --min-count 1 --format kmc -o o 1.fq",
    "count -k 5 --min-count 1 --format kff -o o.kff r.bam",
    "count -k 5 --min-count 1 --format tsv -o o.tsv.gz 1.fq",
    "count -k 5 --min-count 1 --format tsv -o - 1.fq",
    "count -k 5 --shard 2/3 -o o.mgk 1.fq.gz 2.fq",
    "count -k 55 --min-count 1 -o o.mgk --reference g0.fa r.cram",
    "kmers union t.mgk u.mgk -o o.mgk --histogram oh",
    "kmers subtract t.mgk k --format kmc -o o",
    "kmers union --range 1/2 t.mgk u.mgk -o o.mgk",
    "kmers concat r1.mgk r2.mgk -o o.mgk",
    "kmers dump t.mgk -o o.tsv",
    "kmers dump k -o -",
    "kmers convert --format kff t.mgk -o o.kff",
    "kmers convert --format mgk t.tsv -o o.mgk",
    "kmers matrix t.mgk u.mgk -o o.tsv",
    "kmers histogram t.mgk -o o",
    "kmers compare t.mgk u.mgk -o o.tsv",
    "kmers query t.mgk --file kmers",
    "kmers filter-reads t.mgk -1 1.fq -2 2.fq -o o.fq --output2 o2.fq.gz",
    "kmers profile t.mgk 1.fq -o o.tsv",
    "kmers hetmers h.mgk -o o.tsv",
    "kmers qv -k 5 --no-plots -o o oreads.fq ogenome.fa",
    "kmers qv --range 1/2 -o o.mgq t5.mgk g0.fa",
    "kmers qv --no-plots -o o g0.fa --ranges q1.mgq q2.mgq",
    "kmers verify t.mgk",
    "kmers info t.mgk",
    "build --taxonomy tax -o o.mgdb g0.fa g1.fa --json oj",
    "build --taxonomy tax --parts 2 -o o.mgdb g0.fa g1.fa",
    "build --format kraken2 --taxonomy tax -o ok2 g0.fa g1.fa",
    "db add refs.mgdb --taxonomy tax g1.fa -o o.mgdb",
    "db add own.mgdb --taxonomy tax g1.fa",
    "db split two.mgdb -o o{}.mgdb",
    "db merge-results -d p1.mgdb -d p2.mgdb 1.tsv 2.tsv -o o.tsv --report or",
    "db prepare downloads --assembly-summary list.txt --md5 sums --taxonomy tax -o o.tsv",
    "db bracken --read-lengths 60 own.mgdb g0.fa g1.fa",
    "db verify refs.mgdb",
    "db taxa refs.mgdb -o o.tsv",
    "classify refs.mgdb 1.fq -o o.tsv --report or --mpa ompa --json oj",
    "classify refs.mgdb -1 1.fq -2 2.fq -o - --report or --partial op",
    "classify refs.mgdb -1 1.fq -2 2.fq --no-map --classified-out oc#.fq.gz --unclassified-out ou#.fq",
    "classify --references g0.fa --taxonomy tax 1.fq -o o.tsv",
    "classify refs.mgdb --sample-sheet sheet -o o{}.tsv --report or{} --json oj",
    "classify refs.mgdb --sample-sheet sheet -o o{}.tsv --resume oj",
    "classify refs.mgdb --shard 1/2 1.fq -o o.tsv --partial op",
    "classify join p1 p2 --lines s1 s2 -o o.tsv --report or",
    "classify k2 1.fq -o o.tsv --report or",
    "classify k2 -1 1.fq -2 2.fq -o o.tsv --report or --classified-out oc#.fq --partial op",
    "extract reads --taxid 0 --exclude --lines l.tsv 1.fq -o o.fq",
    "extract reads --taxid 0 --exclude --lines l.tsv -1 1.fq -2 2.fq -o o#.fq.gz",
    "eval truth l.tsv --taxonomy tax",
    "filter -e 5 pairs.tsv -o o.tsv --json oj",
    "filter -e 30 1.fq 2.fq -o -",
    "filter -e 30 --format gatekeeper 1.fq 2.fq -o o",
    "deplete index -o o.mgd g0.fa",
    "deplete filter host.mgd -1 1.fq -2 2.fq -o o_#.fq.gz --json oj",
    "deplete filter host.mgd 1.fq -o -",
    "deplete union host.mgd host2.mgd -o o.mgd",
    "index g0.fa -o o.mgi",
    "map -e 5 ref.mgi 1.fq -o o.sam",
    "map -e 5 g0.fa 1.fq -o o.bam --unmapped o.fq",
    "map -e 5 ref.mgi -1 1.fq -2 2.fq -o o.bam --sort",
    "map -e 5 --best --rescue 9 ref.mgi -1 1.fq -2 2.fq -o o.bam",
    "map -e 5 g0.fa 1.fq -o o.cram --sort",
    "map -e 5 ref.mgi 1.fq -o -",
    "map -e 5 ref.mgi --sample-sheet sheet -o o{}.bam --json oj",
    "map -e 5 ref.mgi 1.fq --sort --shard 1/2 -o o.bam",
    "map join m1.bam m2.bam -o o.bam",
    "report html a.kreport b.kreport -o o.html",
    "report plot --chart taxa a.kreport -o o.png",
    "report plot --chart taxa a.kreport b.kreport -o o.pdf",
    "report merge a.kreport b.kreport -o o.tsv",
    "report mpa a.kreport -o o.mpa",
    "report krona a.kreport -o o.txt",
    "report filter a.kreport --taxid 11 -o o.kreport",
    "count -k 5 --format none --report-data od --report-html o.html 1.fq",
    "devices",
    // These ask the allocator most often, and so are last where all of that fails.
    "man om",
    "kmers histogram --model -k 21 hist -o o --plot o.svg",
    "kmers qv -k 5 -o o oreads.fq ogenome.fa",
];

/// Runs that make what those read, in this order.
const INPUTS: [&str; 27] = [
    "build --taxonomy tax -o refs.mgdb g0.fa g1.fa",
    "build --taxonomy tax --parts 2 -o two.mgdb g0.fa g1.fa",
    "build --format kraken2 --taxonomy tax -o k2 g0.fa g1.fa",
    "db split two.mgdb -o p{}.mgdb",
    "classify p1.mgdb --near 0 1.fq -o 1.tsv",
    "classify p2.mgdb --near 0 1.fq -o 2.tsv",
    "classify refs.mgdb 1.fq -o l.tsv --report a.kreport",
    "classify refs.mgdb 2.fq --no-map --report b.kreport",
    "classify refs.mgdb --shard 1/2 1.fq -o s1 --partial p1",
    "classify refs.mgdb --shard 2/2 1.fq -o s2 --partial p2",
    "count -k 21 --min-count 1 -o t.mgk 1.fq",
    "count -k 21 --min-count 1 -o u.mgk 2.fq",
    "count -k 21 --min-count 1 -o h.mgk h.fa",
    "count -k 5 --min-count 1 -o t5.mgk 1.fq",
    "kmers qv --range 1/2 -o q1.mgq t5.mgk g0.fa",
    "kmers qv --range 2/2 -o q2.mgq t5.mgk g0.fa",
    "kmers convert --format kmc t.mgk -o k",
    "kmers dump t.mgk -o t.tsv",
    "kmers union --range 1/2 t.mgk u.mgk -o r1.mgk",
    "kmers union --range 2/2 t.mgk u.mgk -o r2.mgk",
    "deplete index -o host.mgd g0.fa",
    "deplete index -o host2.mgd g1.fa",
    "index g0.fa -o ref.mgi",
    "map -e 5 ref.mgi 1.fq -o r.bam",
    "map -e 5 g0.fa 1.fq -o r.cram --sort",
    "map -e 5 ref.mgi 1.fq --sort --shard 1/2 -o m1.bam",
    "map -e 5 ref.mgi 1.fq --sort --shard 2/2 -o m2.bam",
];

/// Two genomes, 200 pairs of reads of them, taxa, and what is made of these.
pub(crate) fn prepared() -> Dir {
    let dir = Dir::new();
    let mut random = Random(5);
    write_taxonomy(&dir);
    let genomes = write_genomes(&dir, 6_000, &mut random);
    let pairs = write_pairs(&dir, &genomes, 200, &mut random);
    write_forms(&dir, &pairs);
    write_haplotypes(&dir, &mut random);
    write_texts(&dir);
    for args in INPUTS {
        dir.run(&format!("{args} -q")).ok();
    }
    std::fs::create_dir(dir.path("om")).unwrap();
    dir.write("om/other.1", "a page of something else");
    // What stands where outputs do, as it is replaced, or names them.
    for (from, to) in [("refs.mgdb", "own.mgdb"), ("g0.fa", "ogenome.fa")] {
        std::fs::copy(dir.path(from), dir.path(to)).unwrap();
    }
    // So few that the genome has k-mers that they have not.
    let reads = String::from_utf8(dir.read("1.fq")).unwrap();
    dir.write("oreads.fq", reads.split_inclusive('\n').take(4 * 5).collect::<String>());
    dir
}

/// The same in other forms: a genome in a folder, reads compressed, pairs for the filter.
fn write_forms(dir: &Dir, pairs: &[[String; 2]]) {
    std::fs::create_dir(dir.path("downloads")).unwrap();
    std::fs::copy(dir.path("g0.fa"), dir.path("downloads/GCF_000000001.1.fa")).unwrap();
    for name in ["1.fq", "2.fq"] {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&dir.read(name)).unwrap();
        dir.write(&format!("{name}.gz"), packed.finish().unwrap());
    }
    let lines = pairs.iter().flatten().map(|letters| format!("{letters}\t{letters}\n"));
    dir.write("pairs.tsv", lines.collect::<String>());
}

/// Reads of a diploid, a few with an error.
fn write_haplotypes(dir: &Dir, random: &mut Random) {
    let one = random.bases(2_000);
    let mut other = one.clone();
    other.iter_mut().step_by(100).for_each(|base| *base = if *base == b'A' { b'C' } else { b'A' });
    let mut reads = String::new();
    for read in 0..30 {
        let mut letters = [&one, &other][read % 2].clone();
        letters[random.below(2_000)] = b'G';
        reads += &format!(">h{read}\n{}\n", String::from_utf8(letters).unwrap());
    }
    dir.write("h.fa", reads);
}

fn write_texts(dir: &Dir) {
    let truth: String =
        (0..200).map(|read| format!("r{read}/1\t{}\n", [11, 12, 10][read % 3])).collect();
    // Errors, and a peak.
    let number = |count: i32| 400_000 / count.pow(5) + 20_000 / (1 + (count - 25).pow(2) / 20);
    let hist: String = (1..60).map(|count| format!("{count}\t{}\n", number(count))).collect();
    for (name, text) in [
        ("list.txt", "#assembly_accession\ttaxid\nGCF_000000001.1\t11\n"),
        ("sums", ""),
        ("sheet", "a\t1.fq\nb\t2.fq\n"),
        ("kmers", "ACGTACGTACGTACGTACGTA\nTTTTTTTTTTTTTTTTTTTTT\n"),
        ("truth", &truth),
        ("hist", &hist),
    ] {
        dir.write(name, text);
    }
}

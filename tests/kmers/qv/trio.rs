//! `kmers qv` with parents, compared with the definitions and with switches that are known in advance.

use std::collections::BTreeMap;

use super::{Counts, K, canonical, count, fasta, general, lines, mutate};
use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

/// A mother, a father, their child, and two assemblies of the child's genome.
struct Family {
    mother: Vec<Vec<u8>>,
    father: Vec<Vec<u8>>,
    child: Vec<Vec<u8>>,
    /// The child's two haplotypes: the mother's and the father's.
    genome: [Vec<u8>; 2],
}

impl Family {
    fn new(seed: u64) -> Family {
        let mut random = Random(seed);
        let ancestor = random.bases(40_000);
        let mut haplotype = || {
            let mut letters = ancestor.clone();
            for at in 0..letters.len() / 200 {
                let at = 200 * at + random.below(200);
                letters[at] = b"ACGT"[random.below(4)];
            }
            letters
        };
        let [m1, m2, f1, f2] = std::array::from_fn(|_| haplotype());
        let mut reads = |genome: [&Vec<u8>; 2]| {
            let read = |_| {
                let from = random.below(genome[0].len() - 100);
                let mut read = genome[random.below(2)][from..from + 100].to_vec();
                if random.below(3) == 0 {
                    mutate(&mut random, &mut read, 1);
                }
                read
            };
            (0..16_000).map(read).collect::<Vec<_>>()
        };
        let (mother, father) = (reads([&m1, &m2]), reads([&f1, &f2]));
        let child = reads([&m1, &f1]);
        Family { mother, father, child, genome: [m1, f1] }
    }

    fn write(&self, dir: &Dir) {
        for (name, reads) in
            [("mother", &self.mother), ("father", &self.father), ("child", &self.child)]
        {
            dir.write(&format!("{name}.fa"), fasta(reads));
            dir.run(&format!("count -q -k {K} --min-count 1 {name}.fa -o {name}.mgk")).ok();
        }
    }
}

/// Returns the counts, ascending, with their numbers.
fn histogram(counts: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
    counts.for_each(|count| *rows.entry(count).or_default() += 1);
    rows.into_iter().collect()
}

/// Returns the count before the first one that has at least as many k-mers as its predecessor.
fn valley(counts: impl Iterator<Item = u64>) -> u64 {
    let rows = histogram(counts);
    rows.windows(2).find(|two| two[1].1 >= two[0].1).map_or(0, |two| two[1].0 - 1)
}

/// Returns the k-mers inherited only from the first parent, and the thresholds.
fn hapmers(child: &Counts, one: &Counts, other: &Counts) -> (Vec<Vec<u8>>, [u64; 2]) {
    let own = one.iter().filter(|(kmer, _)| !other.contains_key(*kmer));
    let own_valley = valley(own.clone().map(|(_, &count)| count));
    let own = own.filter(|(_, count)| **count > own_valley).map(|(kmer, _)| kmer);
    let inherited = own.filter_map(|kmer| child.get(kmer).map(|count| (kmer.clone(), *count)));
    let inherited: Vec<(Vec<u8>, u64)> = inherited.collect();
    let inherited_valley = valley(inherited.iter().map(|(_, count)| *count));
    let passed = inherited.into_iter().filter(|(_, count)| *count > inherited_valley);
    (passed.map(|(kmer, _)| kmer).collect(), [own_valley, inherited_valley])
}

/// A phase block: its bases, its parent, the markers of the other parent, and all markers.
struct Block {
    start: usize,
    end: usize,
    whose: usize,
    switches: usize,
    markers: usize,
}

/// Finds phase blocks by Merqury's rule, from the positions of markers and their parents: a run of the other parent's
/// markers ends a block once it has `most` markers, or two that span more than `bases` bases. Otherwise it belongs to
/// the block if a marker of the block's parent follows.
fn blocks(markers: &[(usize, usize)], most: usize, bases: usize) -> Vec<Block> {
    let (mut blocks, mut from) = (Vec::new(), 0);
    while from < markers.len() {
        let whose = markers[from].1;
        let mut last = from;
        // The index after the last marker of the block.
        let mut to = from + 1;
        let mut at = from + 1;
        while at < markers.len() {
            if markers[at].1 == whose {
                (last, to) = (at, at + 1);
            } else {
                let run = at + 1 - to;
                let span = markers[at].0 + K - markers[to].0;
                if run > 1 && (run >= most || span > bases) {
                    break;
                }
            }
            at += 1;
        }
        let here = &markers[from..to];
        if here.len() > 1 {
            blocks.push(Block {
                start: here[0].0,
                end: markers[last].0 + K,
                whose,
                switches: here.iter().filter(|marker| marker.1 != whose).count(),
                markers: here.len(),
            });
        }
        from = to;
    }
    blocks
}

#[test]
fn a_trio_is_as_defined_and_its_switches_are_the_true_ones() {
    let family = Family::new(21);
    let dir = Dir::new();
    family.write(&dir);
    let [mothers, fathers] = &family.genome;
    // A short switch, a long one, and then the rest of the father's haplotype.
    let mixed =
        [&mothers[..9000], &fathers[9000..9900], &mothers[9900..20_000], &fathers[20_000..]]
            .concat();
    let assemblies =
        [vec![mixed.clone(), mothers[..3000].to_vec()], vec![fathers.clone(), b"ACGT".to_vec()]];
    dir.write("one.fa", fasta(&assemblies[0]));
    dir.write("other.fa", fasta(&assemblies[1]));
    let options =
        "--maternal mother.mgk --paternal father.mgk --block-markers 150 --block-bases 5000";
    dir.run(&format!("kmers qv -q -o t child.mgk one.fa other.fa {options} --json j.json")).ok();

    let [child, mother, father] = [&family.child, &family.mother, &family.father].map(count);
    let (first, first_valleys) = hapmers(&child, &mother, &father);
    let (second, second_valleys) = hapmers(&child, &father, &mother);
    assert!(first.len() > 500 && second.len() > 500);
    let cutoffs = lines(&dir, "t.cutoffs.txt");
    let expected = [
        format!("mother.only\t{}", first_valleys[0]),
        format!("mother.inherited\t{}", first_valleys[1]),
        format!("father.only\t{}", second_valleys[0]),
        format!("father.inherited\t{}", second_valleys[1]),
    ];
    assert_eq!(cutoffs[1..5], expected);
    assert!(first_valleys[1] > 0);

    // The parent of each marker.
    let whose = |kmer: &[u8]| {
        let kmer = canonical(kmer)?;
        first
            .binary_search(&kmer)
            .map(|_| 0)
            .or_else(|_| second.binary_search(&kmer).map(|_| 1))
            .ok()
    };
    let markers = |sequence: &Vec<u8>| -> Vec<(usize, usize)> {
        let places = sequence.windows(K).enumerate();
        places.filter_map(|(at, kmer)| whose(kmer).map(|whose| (at, whose))).collect()
    };
    let mut expected = vec!["Assembly\tContig\tmother\tfather\tSize".to_owned()];
    for (name, sequences) in ["one", "other"].iter().zip(&assemblies) {
        for (number, sequence) in sequences.iter().enumerate() {
            let markers = markers(sequence);
            let of = |whose: usize| markers.iter().filter(|marker| marker.1 == whose).count();
            let size = (sequence.len() + 1).saturating_sub(K);
            expected.push(format!("{name}\ts{number}\t{}\t{}\t{size}", of(0), of(1)));
        }
    }
    assert_eq!(lines(&dir, "t.hapmers.count"), expected);

    let completeness = lines(&dir, "t.completeness.stats");
    for (name, sequences) in [("one", &assemblies[0]), ("other", &assemblies[1])] {
        let here = count(sequences);
        for (parent, all) in [("mother", &first), ("father", &second)] {
            let found = all.iter().filter(|kmer| here.contains_key(*kmer)).count();
            let part = general(100.0 * found as f64 / all.len() as f64);
            let line = format!("{name}\t{parent}\t{found}\t{}\t{part}", all.len());
            assert!(completeness.contains(&line), "{line}: {completeness:?}");
        }
    }

    // Spectra of hap-mers: by the copies in the assembly and the count in the child.
    for (name, sequences) in [("one", &assemblies[0]), ("other", &assemblies[1])] {
        let here = count(sequences);
        for (parent, all) in [("mother", &first), ("father", &second)] {
            let mut expected = vec!["Copies\tkmer_multiplicity\tCount".to_owned()];
            let read_only = format!("{parent}-only");
            for (class, title) in [&read_only, "1", "2", "3", "4", ">4"].iter().enumerate() {
                let copies = |kmer: &Vec<u8>| here.get(kmer).map_or(0, |&copies| copies.min(5));
                let of = all.iter().filter(|kmer| copies(kmer) == class as u64);
                let rows = histogram(of.map(|kmer| child[kmer]));
                expected.extend(rows.iter().map(|(at, number)| format!("{title}\t{at}\t{number}")));
            }
            assert!(expected.len() > 20);
            let file = format!("t.{name}.{parent}.spectra-hap-cn.hist");
            assert_eq!(lines(&dir, &file), expected);
        }
    }

    // All blocks and the sums of switches, by the plain rule.
    for (name, sequences) in ["one", "other"].iter().zip(&assemblies) {
        let (mut expected, mut sums) = (Vec::new(), [0; 2]);
        let mut counts = vec!["Block\tRange\tmother\tfather\tSize".to_owned()];
        for (number, sequence) in sequences.iter().enumerate() {
            for block in blocks(&markers(sequence), 150, 5000) {
                let Block { start, end, whose, switches, markers } = block;
                let (parent, part) =
                    (["mother", "father"][whose], switches as f64 / markers as f64);
                let part = general(part);
                expected.push(format!(
                    "s{number}\t{start}\t{end}\t{parent}\t{part}\t{switches}\t{markers}"
                ));
                let mut of = [markers - switches, switches];
                of.rotate_left(whose);
                let ([one, other], size) = (of, end - start);
                counts.push(format!("{parent}\ts{number}_{start}_{end}\t{one}\t{other}\t{size}"));
                sums = [sums[0] + switches, sums[1] + markers];
            }
        }
        assert_eq!(lines(&dir, &format!("t.{name}.150_5000.phased_block.bed")), expected);
        assert_eq!(lines(&dir, &format!("t.{name}.150_5000.phased_block.counts")), counts);
        let [switches, markers] = sums;
        let expected = format!(
            "t.{name}.150_5000 switch error rate (%) (Num. switches / Total markers found): \
             {switches}\t{markers}\t{}%",
            general(100.0 * switches as f64 / markers as f64)
        );
        assert_eq!(lines(&dir, &format!("t.{name}.150_5000.switches.txt")), [expected]);
    }

    // Expected blocks: the mother's with the short switch and the father's in the first sequence, then the mother's
    // piece.
    let all = markers(&mixed);
    let between = |from: usize, to: usize, whose: usize| {
        all.iter().filter(|marker| (from..to).contains(&marker.0) && marker.1 == whose).count()
    };
    let piece = markers(&assemblies[0][1]).len();
    let blocks = lines(&dir, "t.one.150_5000.phased_block.bed");
    let fields = |line: &String| {
        let fields: Vec<&str> = line.split('\t').collect();
        format!("{} {} {} {}", fields[0], fields[3], fields[5], fields[6])
    };
    let half = 20_000 - K + 1;
    let expected = [
        format!("s0 mother {} {}", between(0, half, 1), between(0, half, 0) + between(0, half, 1)),
        format!("s0 father 0 {}", between(half, mixed.len(), 1)),
        format!("s1 mother 0 {piece}"),
    ];
    assert_eq!(blocks.iter().map(fields).collect::<Vec<_>>(), expected);
    assert!(between(8000, 11_000, 1) > 20);
    for name in [
        "t.hapmers.blob",
        "t.one.block.N",
        "t.other.continuity.N",
        "t.one.spectra-cn.fl",
        "t.other.father.spectra-cn.st",
        "t.one.150_5000.phased_block.blob",
    ] {
        assert!(dir.read(&format!("{name}.png")).starts_with(b"\x89PNG"));
        assert!(dir.read(&format!("{name}.svg")).ends_with(b"</svg>\n"));
    }
    let stats = lines(&dir, "t.other.150_5000.phased_block.stats");
    assert!(stats[0].starts_with("other\t1\t") && stats[0].ends_with("\t0%"), "{stats:?}");
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
    assert_eq!(json["results"]["assemblies"][1]["switch_rate"], 0.0);
}

#[test]
fn scaffolds_are_drawn_beside_contigs_where_there_are_gaps() {
    let family = Family::new(22);
    let dir = Dir::new();
    family.write(&dir);
    let mut scaffold = family.genome[0].clone();
    scaffold[5000..5300].fill(b'N');
    scaffold[9000] = b'n';
    dir.write("gaps.fa", fasta(&[scaffold.clone()]));
    let pieces = [&scaffold[..5000], &scaffold[5300..9000], &scaffold[9001..]];
    dir.write("contigs.fa", fasta(&pieces.map(<[u8]>::to_vec)));
    dir.run(
        "kmers qv -q -o t child.mgk gaps.fa contigs.fa --maternal mother.mgk --paternal father.mgk",
    )
    .ok();
    let drawn = |name: &str| String::from_utf8(dir.read(&format!("t.{name}.svg"))).unwrap();
    let [with, without] = ["gaps.continuity.N", "contigs.continuity.N"].map(drawn);
    let is_named = |drawn: &str| {
        ["block", "contig", "scaffold"].map(|name| drawn.contains(&format!(">{name}<")))
    };
    assert_eq!((is_named(&with), is_named(&without)), ([true; 3], [true, true, false]));
    // The three contigs are the same line in both plots, but the axis is that of the scaffold in the first.
    let count = |drawn: &str, colour: &str| drawn.matches(colour).count();
    assert_eq!(count(&without, "#4DAF4A"), 0);
    assert!(count(&with, "#4DAF4A") > 0);
}

#[test]
fn ranges_with_parents_have_the_files_of_one_run() {
    let family = Family::new(23);
    let dir = Dir::new();
    family.write(&dir);
    let [mothers, fathers] = &family.genome;
    dir.write("one.fa", fasta(&[[&mothers[..9000], &fathers[9000..]].concat()]));
    dir.write("other.fa", fasta(&[fathers[..30_000].to_vec(), mothers[35_000..].to_vec()]));
    let parents = "--maternal mother.mgk --paternal father.mgk";
    let rule = "--block-markers 50 --block-bases 900";
    for (assemblies, ranges, solid) in [("one.fa other.fa", 3, ""), ("other.fa", 1, "--solid 9")] {
        let options = format!("-o s {rule} {solid} --report-data s.page --sample-name a");
        dir.run(&format!("kmers qv -q child.mgk {assemblies} {parents} {options}")).ok();
        let names: Vec<String> =
            dir.names().into_iter().filter(|name| name.starts_with("s.")).collect();
        assert!(names.len() > 50 || ranges == 1, "{names:?}");
        let expected: Vec<Vec<u8>> = names.iter().map(|name| dir.read(name)).collect();
        names.iter().for_each(|name| std::fs::remove_file(dir.path(name)).unwrap());
        let mut files = String::new();
        for number in (1..=ranges).rev() {
            let range = format!("--range {number}/{ranges} -t {number} -o r{number}.mgq");
            dir.run(&format!("kmers qv -q child.mgk {assemblies} {parents} {range}")).ok();
            files += &format!(" r{number}.mgq");
        }
        dir.run(&format!("kmers qv -q {assemblies} {options} --ranges{files}")).ok();
        let found: Vec<String> =
            dir.names().into_iter().filter(|name| name.starts_with("s.")).collect();
        assert_eq!(found, names);
        for (name, expected) in names.iter().zip(&expected) {
            // The page contains the names of the inputs.
            let page = |bytes: &[u8]| -> serde_json::Value {
                let mut page: serde_json::Value = serde_json::from_slice(bytes).unwrap();
                page.as_object_mut().unwrap().remove("inputs");
                page
            };
            match &name[..] {
                "s.page" => assert_eq!(page(&dir.read(name)), page(expected)),
                name => assert!(dir.read(name) == *expected, "{ranges} {name}"),
            }
        }
        names.iter().for_each(|name| std::fs::remove_file(dir.path(name)).unwrap());
    }
    // Ranges of other parents, of no parents, and parents that are not tables.
    dir.run("kmers qv -q child.mgk other.fa --range 1/2 -o a.mgq --maternal father.mgk --paternal mother.mgk").ok();
    dir.run(&format!("kmers qv -q child.mgk other.fa --range 2/2 -o b.mgq {parents}")).ok();
    dir.run("kmers qv -q child.mgk other.fa --range 2/2 -o c.mgq").ok();
    for other in ["b.mgq", "c.mgq"] {
        let message = dir.run(&format!("kmers qv -o s other.fa --ranges a.mgq {other}")).fails(1);
        assert!(message.contains("was made from other reads or assemblies"), "{message}");
    }
    let run = "kmers qv child.mgk other.fa --range 1/2 -o d.mgq --maternal mother.fa --paternal father.mgk";
    let message = dir.run(run).fails(2);
    assert!(message.contains("--range: the parents' reads must be tables"), "{message}");
    // Every damaged bit of the tables is found.
    let b = dir.read("b.mgq");
    for at in [b.len() - 5, b.len() / 2] {
        let mut changed = b.clone();
        changed[at] ^= 1;
        dir.write("changed.mgq", changed);
        let message = dir.run("kmers qv -o s other.fa --ranges a.mgq changed.mgq").fails(1);
        assert!(message.contains("damaged"), "{message}");
    }
}

#[test]
fn parents_with_other_k_mers_are_refused_before_any_work() {
    let family = Family::new(29);
    let dir = Dir::new();
    family.write(&dir);
    dir.write("one.fa", fasta(&[family.genome[0][..9000].to_vec()]));
    let other = K + 2;
    dir.run(&format!("count -q -k {other} --min-count 1 mother.fa -o long.mgk")).ok();
    dir.run(&format!("count -q -k {K} --min-count 1 --hpc mother.fa -o hpc.mgk")).ok();
    dir.run("kmers convert -q --format kff long.mgk -o long.kff").ok();
    for (mother, what) in
        [("long.mgk", "its k is"), ("long.kff", "its k is"), ("hpc.mgk", "compressed")]
    {
        for range in ["", "--range 1/2"] {
            // The assembly does not exist: it would be read first.
            let line = format!(
                "kmers qv child.mgk none.fa {range} --maternal {mother} --paternal father.mgk -o s"
            );
            let message = dir.run(&line).fails(1);
            assert!(
                message.contains(&format!("{mother}: ")) && message.contains(what),
                "{message}"
            );
        }
    }
    // The k of reads that are sequences is that of a parent's table.
    let run = |child: &str, options: &str, output: &str| {
        let parents = "--maternal mother.mgk --paternal father.mgk --no-plots";
        dir.run(&format!("kmers qv -q {child} one.fa {parents} {options} -o {output}")).ok();
    };
    run("child.mgk", "", "a");
    run("child.fa", "", "b");
    for name in ["qv", "hapmers.count"] {
        let [one, other] = ["a", "b"].map(|prefix| dir.read(&format!("{prefix}.{name}")));
        assert!(one == other, "{name}");
    }
}

//! Common complaints about other classifiers: a test for each.

use super::world::{World, lines, names, nodes};
use merganser_test_support::forms::gzip;
use merganser_test_support::{MERGANSER, mend, tools::shell};

/// Compression is recognized by content, not by name, also with several members; a truncated file is an error.
#[test]
fn compressed_reads() {
    let world = World::built();
    let dir = &world.dir;
    let text = dir.read("1.fq");
    let expected = dir.run("classify refs.mgdb 1.fq -q").ok();
    let (head, tail) = text.split_at(text.len() / 3);
    dir.write("no_suffix", gzip(&text));
    dir.write("members.gz", [gzip(head), gzip(tail)].concat());
    dir.write("plain.gz", &text);
    for reads in ["no_suffix", "members.gz", "plain.gz"] {
        assert_eq!(dir.run(&format!("classify refs.mgdb {reads} -q")).ok(), expected, "{reads}");
    }
    let whole = gzip(&text);
    dir.write("cut.fq.gz", &whole[..whole.len() / 2]);
    let message = dir.run("classify refs.mgdb cut.fq.gz -o out --report r").fails(1);
    assert!(message.contains("cut.fq.gz") && !dir.path("out").exists() && !dir.path("r").exists());
}

/// Inputs are read once: stdin, pipes and process substitutions work.
#[test]
fn pipes() {
    let world = World::built();
    let dir = &world.dir;
    let expected = dir.run("classify refs.mgdb -1 1.fq -2 2.fq -q").ok();
    shell(dir.root(), "mkfifo p1 p2");
    let piped = format!(
        "cat 1.fq > p1 & gzip -c 2.fq > p2 & {MERGANSER} classify refs.mgdb -1 p1 -2 p2 -q"
    );
    assert!(shell(dir.root(), &piped) == expected.as_bytes());
    let stdin = dir.run_with("classify refs.mgdb - -q".split(' '), &dir.read("1.fq")).ok();
    assert_eq!(stdin, dir.run("classify refs.mgdb 1.fq -q").ok());
    dir.write("list", "1.fq\n# more\n2.fq\n");
    let both = dir.run("classify refs.mgdb @list -q").ok();
    assert_eq!(both, dir.run("classify refs.mgdb 1.fq 2.fq -q").ok());
}

/// Memory does not grow with the input, because the number of batches in flight is limited.
#[test]
fn memory_does_not_grow_with_the_reads() {
    let world = World::built();
    let dir = &world.dir;
    dir.write("many.fa", merganser_test_support::reads::many(150));
    let run = "classify refs.mgdb many.fa -o /dev/null --threads 4 --json -";
    let json: serde_json::Value = serde_json::from_str(&dir.run(run).ok()).unwrap();
    let peak = json["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak < 100 << 20, "{peak} bytes for 150 MiB of reads");
    assert!(json["results"]["reads"].as_u64().unwrap() > 900_000);
}

/// A sequence without a taxon is never ignored silently: each one is listed with the reason.
#[test]
fn sequences_without_a_taxon() {
    let world = World::new();
    let dir = &world.dir;
    let letters = |genome: usize| String::from_utf8_lossy(&world.genomes[genome]).into_owned();
    dir.write(
        "m.fa",
        format!(">NC_1.2 by a map\n{}\n>AB123456.1 by accession\n{}\n", letters(0), letters(1)),
    );
    dir.write(
        "n.fa",
        format!(
            ">lost\n{}\n>old|taxid|77\n{}\n>gone|kraken:taxid|99\n{}\n",
            letters(2),
            letters(2),
            letters(3)
        ),
    );
    dir.write("tax/merged.dmp", "77\t|\t21\t|\n");
    dir.write("tax/delnodes.dmp", "99\t|\n");
    dir.write("ids.tsv", "NC_1\t13\n");
    let accessions = "accession\taccession.version\ttaxid\tgi\nX53318\tX53318.\t9\tna\n\
                      AB123456\tAB123456.1\t12\t5\nZZ9\tZZ9.1\t0\t1\n";
    dir.write("tax/nucl_gb.accession2taxid.gz", gzip(accessions.as_bytes()));
    let ran = dir
        .run("build --taxonomy tax --map ids.tsv -o refs.mgdb m.fa n.fa --unmapped u.tsv --json j");
    assert_eq!(
        ran.warnings(),
        ["warning: 2 sequences have no taxon and are left out, first lost: no taxid found"]
    );
    ran.ok();
    assert_eq!(
        String::from_utf8(dir.read("u.tsv")).unwrap(),
        "lost\tno taxid found\ngone|kraken:taxid|99\ttaxid 99 is deleted from the taxonomy\n"
    );
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["results"]["unmapped"], 2);
    let taxids: Vec<String> = dir
        .run("db taxa refs.mgdb --sequences")
        .ok()
        .lines()
        .skip(1)
        .map(|line| line.split('\t').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(taxids, ["13", "12", "21"]);
    let strict =
        dir.run("build -q --taxonomy tax --map ids.tsv -o x.mgdb m.fa n.fa --strict").fails(1);
    assert!(strict.contains("2 sequences have no taxon (--strict), first lost"), "{strict}");
    // A read of a sequence without a taxon is unclassified.
    let read = &letters(3)[100..300];
    dir.write("r.fa", format!(">r\n{read}\n"));
    assert!(dir.run("classify refs.mgdb r.fa -q").ok().starts_with("U\tr\t0\t200\t"));
}

/// Columns of assembly_summary.txt are found by name, in the old and the new layout, also with `na` paths.
#[test]
fn assembly_summaries() {
    for (head, rows) in [
        (
            "#   See ftp://ftp.ncbi.nlm.nih.gov/README\n# assembly_accession\tbioproject\ttaxid\t\
             species_taxid\tftp_path\n",
            "GCF_000005845.2\tPRJ\t13\t11\thttps://x/GCF_000005845.2_ASM584v2\n\
             GCF_000009999.1\tPRJ\t12\t12\tna\nGCF_9\tP\t1\t1\tna\n",
        ),
        (
            "#assembly_accession\trefseq\ttaxid\tname\tftp_path\n",
            "GCF_000005845.2\tx\t13\tE\tna\nGCF_000009999.1\tx\t12\tE\tna\n",
        ),
    ] {
        let world = World::new();
        let dir = &world.dir;
        std::fs::create_dir(dir.path("g")).unwrap();
        let files = ["GCF_000005845.2_ASM584v2_genomic.fna", "GCF_000009999.1_genomic.fna"];
        for (name, genome) in files.iter().zip(&world.genomes) {
            let letters = String::from_utf8_lossy(genome);
            dir.write(&format!("g/{name}"), format!(">{}\n{letters}\n", &name[4..13]));
        }
        dir.write("g/assembly_summary.txt", format!("{head}{rows}"));
        dir.run("build --taxonomy tax --strict -o refs.mgdb g").ok();
        let table = dir.run("db taxa refs.mgdb --sequences").ok();
        assert!(table.contains("\t13\tstrain") && table.contains("\t12\tspecies"), "{table}");
    }
}

/// NCBI's names of ranks of 2024 and of 2025 give the same report.
#[test]
fn old_and_new_taxonomies() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --report old --mpa old.mpa -q").ok();
    dir.write("tax/nodes.dmp", nodes().replace("superkingdom", "domain"));
    dir.run("build -q --taxonomy tax -o refs.mgdb genomes").ok();
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --report new --mpa new.mpa -q").ok();
    assert!(dir.read("old") == dir.read("new") && dir.read("old.mpa") == dir.read("new.mpa"));
    let report = String::from_utf8(dir.read("new")).unwrap();
    assert!(report.contains("\tD\t2\t  Bacteria\n"), "{report}");
    // Cellular organisms have no rank letter; the root of viruses has that of a domain.
    let nodes = nodes().replace(
        "2\t|\t1\t|\tsuperkingdom",
        "131567\t|\t1\t|\tcellular root\t|\n2\t|\t131567\t|\tdomain",
    );
    dir.write(
        "tax/nodes.dmp",
        nodes.replace(
            "20\t|\t6\t|\tgenus",
            "10239\t|\t1\t|\tacellular root\t|\n20\t|\t10239\t|\tgenus",
        ),
    );
    dir.write(
        "tax/names.dmp",
        names()
            + "131567\t|\tcellular organisms\t|\t\t|\tscientific name\t|\n\
        10239\t|\tViruses\t|\t\t|\tscientific name\t|\n",
    );
    dir.run("build -q --taxonomy tax -o refs.mgdb genomes").ok();
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --report r -q").ok();
    let report = String::from_utf8(dir.read("r")).unwrap();
    assert!(report.contains("\tR1\t131567\t  cellular organisms\n"), "{report}");
    assert!(report.contains("\tD\t2\t    Bacteria\n"), "{report}");
    assert!(report.contains("\tD\t10239\t  Viruses\n"), "{report}");
}

/// Mates with different names are reported; a pair counts once.
#[test]
fn mates() {
    let world = World::built();
    let dir = &world.dir;
    let text = String::from_utf8(dir.read("2.fq")).unwrap();
    let all: Vec<&str> = text.lines().collect();
    let without = [&all[..1200], &all[1204..]].concat().join("\n") + "\n";
    dir.write("without.fq", without);
    dir.write("short.fq", all[..all.len() - 4].join("\n") + "\n");
    let first = String::from_utf8(dir.read("1.fq")).unwrap();
    let first: Vec<&str> = first.lines().collect();
    dir.write("short_1.fq", first[..first.len() - 4].join("\n") + "\n");
    dir.write("empty.fq", "");
    let run = |args: &str| dir.run(&format!("classify refs.mgdb {args} -o x --report r")).fails(1);
    let names = run("-1 1.fq -2 without.fq");
    assert!(
        names.contains("record 301 is r300/1, but its mate in without.fq is r301/2"),
        "{names}"
    );
    assert!(
        run("-1 1.fq -2 short.fq").contains("short.fq: ends after 699 records, but 1.fq has more")
    );
    assert!(run("-1 short_1.fq -2 2.fq").contains("short_1.fq: ends after 699 records"));
    assert!(run("-1 1.fq -2 empty.fq").contains("empty.fq: ends after 0 records"));
    assert!(!dir.path("x").exists() && !dir.path("r").exists());
    dir.run("classify refs.mgdb -1 1.fq 2.fq").code.filter(|&code| code == 2).unwrap();
    let uneven = dir.run("classify refs.mgdb -1 1.fq -1 1.fq -2 2.fq").fails(2);
    assert!(uneven.contains("-1 has 2 files and -2 has 1"), "{uneven}");
    let json = dir.run("classify refs.mgdb -1 1.fq -2 2.fq -U 1.fq -o x --json - -q").ok();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["results"]["reads"], 1400);
}

/// A missing file is an error before any work. (Empty samples are tested in `reports`.)
#[test]
fn missing_files() {
    let world = World::built();
    let dir = &world.dir;
    std::fs::create_dir(dir.path("empty")).unwrap();
    let before = dir.names();
    for (args, what) in [
        ("classify refs.mgdb gone.fq -o x", "gone.fq: cannot open"),
        ("classify gone.mgdb 1.fq -o x", "gone.mgdb: "),
        ("classify refs.mgdb empty -o x", "empty: cannot open: it is a directory without files"),
        ("build --taxonomy gone -o x genomes", "gone: no such folder"),
        ("build --taxonomy tax -o x gone.fa", "gone.fa: "),
        ("build --taxonomy tax --map gone.tsv -o x genomes", "gone.tsv: "),
        ("db add gone.mgdb genomes", "gone.mgdb: "),
    ] {
        let message = dir.run(args).fails(1);
        assert!(message.contains(what), "{args}: {message}");
    }
    std::fs::remove_file(dir.path("tax/nodes.dmp")).unwrap();
    let nodes = dir.run("build --taxonomy tax -o x genomes").fails(1);
    assert!(nodes.contains("tax: no nodes.dmp in this folder: give the folder of NCBI's taxdump"));
    std::fs::create_dir(dir.path("nothing")).unwrap();
    let none = dir.run("build --taxonomy tax -o x nothing").fails(1);
    assert!(none.contains("nothing: no FASTA file in this folder"), "{none}");
    std::fs::remove_dir(dir.path("nothing")).unwrap();
    assert_eq!(dir.names(), before);
    // A reference without a k-mer is refused.
    dir.write("short.fa", ">x\nACGT\n");
    dir.write("tax/nodes.dmp", super::world::nodes());
    assert!(dir.run("build --taxonomy tax -o x short.fa").fails(1).contains("nothing to build"));
    // Only N, enough of them for windows and chunks, and bases interrupted by N are refused, too.
    let parted = "ACGTTGCAACNNGATTACA".repeat(20_000);
    for letters in ["N".repeat(500), "nnRY".repeat(2_000_000), parted] {
        dir.write("n.fa", format!(">n1\n{letters}\n>n2\nACGT\n"));
        let nothing = dir.run("build --taxonomy tax -o x n.fa").fails(1);
        assert!(nothing.contains("no sequence in the 1 input files has 19 bases in a row"));
        let nothing = dir.run("classify --references n.fa --taxonomy tax short.fa -o y").fails(1);
        assert!(nothing.contains("nothing to build"), "{nothing}");
        assert!(!dir.path("x").exists() && !dir.path("y").exists());
        // Together with other references, such files have a warning.
        let ran = dir.run("build --taxonomy tax -o x n.fa genomes");
        let warning =
            "input files have no sequence with 19 bases in a row, first n.fa: protein letters";
        assert!(ran.warnings().iter().any(|line| line.contains(warning)), "{}", ran.stderr);
        ran.ok();
        std::fs::remove_file(dir.path("x")).unwrap();
    }
    // The only k-mers of a sequence come after many Ns and cross a boundary of chunks.
    let late =
        format!(">n1 taxid|21\n{}{}\n", "N".repeat(3 << 20), "ACGTTGCAACGTGATTACATT".repeat(30));
    dir.write("n.fa", late);
    let ran = dir.run("build --taxonomy tax -o x n.fa");
    assert!(!ran.stderr.contains("no k-mer"), "{}", ran.stderr);
    ran.ok();
    dir.write("few.fa", format!(">x taxid|21\n{}\n", &"ACGTTGCAACGTGATTACATT"[..20]));
    let nothing = dir.run("build --taxonomy tax --density 1 -o y few.fa").fails(1);
    assert!(nothing.contains("a density of 1 keeps none: raise --density"), "{nothing}");
}

/// The effective thresholds are printed, and options are checked against the database.
#[test]
fn thresholds_are_said() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("build -q --taxonomy tax --preset metacache -o m.mgdb genomes").ok();
    let ran = dir.run("classify m.mgdb 1.fq -o x --json j");
    assert!(ran.stderr.contains("hitmin 5, hitdiff 100, lowest sequence"), "{}", ran.stderr);
    ran.ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["parameters"]["hitmin"], 5);
    assert_eq!(json["parameters"]["max_cand"], 2);
    let info = dir.run("db info m.mgdb").ok();
    assert!(info.contains("hitmin          5\n"), "{info}");
    let usage = dir.run("classify m.mgdb 1.fq --lowest genus --highest species").fails(2);
    assert!(usage.contains("--lowest is above --highest"), "{usage}");
    let built = dir.run("classify m.mgdb 1.fq --sketch 32").fails(2);
    assert!(built.contains("require --references"), "{built}");
    // Two thresholds with different results.
    let count = |options: &str| {
        let text = dir.run(&format!("classify m.mgdb -1 1.fq -2 2.fq -q {options}")).ok();
        lines(&text).iter().filter(|line| line.taxid > 0).count()
    };
    assert!(count("--hitmin 30") < count("--hitmin 1"));
    let at_highest = dir.run("classify m.mgdb -1 1.fq -2 2.fq -q --highest species").ok();
    assert!(lines(&at_highest).iter().all(|line| line.taxid != 10));
}

/// All reports can be written in one run, without negative taxids. (The parsers of `reports` accept only non-negative
/// numbers.)
#[test]
fn all_reports_at_once() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("build -q --taxonomy tax --preset metacache -o m.mgdb genomes").ok();
    let out = "-o o.gz --report k.gz --mpa m.gz --krona r.gz --abundance a.gz --cami c.gz \
               --hits-per-ref h.gz --json j";
    dir.run_with(format!("classify m.mgdb - -q {out}").split_whitespace(), &dir.read("1.fq")).ok();
    for name in ["o.gz", "k.gz", "m.gz", "r.gz", "a.gz", "c.gz", "h.gz"] {
        let text = String::from_utf8(merganser_test_support::gunzip(&dir.path(name))).unwrap();
        assert!(!text.is_empty() && !text.contains("\t-") && !text.contains("|-"), "{name}");
    }
    let table = String::from_utf8(merganser_test_support::gunzip(&dir.path("a.gz"))).unwrap();
    let widths: Vec<usize> = table.lines().map(|line| line.split('\t').count()).collect();
    assert!(widths.iter().all(|&width| width == 6), "every row has the same columns");
    assert!(table.contains("\nsequence\t13\ta.1|kraken:taxid|13\t"), "{table}");
}

/// Truncated, damaged, foreign and newer databases are named and refused.
#[test]
fn damaged_databases() {
    let world = World::built();
    let dir = &world.dir;
    let bytes = dir.read("refs.mgdb");
    let mut newer = bytes.clone();
    newer[8] = 200;
    mend::database(&mut newer);
    let mut header = bytes.clone();
    header[20] ^= 1;
    let mut names = bytes.clone();
    let at = names.len() - 3;
    names[at] ^= 1;
    let cases: [(&str, &[u8], &str); 7] = [
        ("empty", b"", "not a merganser database"),
        ("short", &bytes[..2000], "truncated"),
        ("cut", &bytes[..bytes.len() - 9], "truncated or was changed"),
        ("longer", &[&bytes[..], b"x"].concat(), "truncated or was changed"),
        ("newer", &newer, "database format 200"),
        ("header", &header, "checksum"),
        ("names", &names, "checksum"),
    ];
    for (name, bytes, what) in cases {
        dir.write(name, bytes);
        let message = dir.run(&format!("classify {name} 1.fq -o x")).fails(1);
        assert!(message.contains(&format!("{name}: ")) && message.contains(what), "{message}");
        dir.run(&format!("db verify {name}")).fails(1);
        dir.run(&format!("db info {name}")).fails(1);
    }
    dir.run("classify 1.fq 2.fq -o x").fails(1);
    assert!(!dir.path("x").exists());
}

/// A duplicate id has a warning, or is refused with --strict; the id is the first word of the header.
#[test]
fn exit_codes_and_duplicate_ids() {
    let world = World::new();
    let dir = &world.dir;
    let ran = dir.run("build --taxonomy tax -o refs.mgdb genomes genomes/a.fa");
    assert_eq!(
        ran.warnings(),
        [
            "warning: genomes/a.fa: is given more than once, and all that it holds counts twice: give it once",
            "warning: 1 sequences have an id that an earlier one has, first a.1|kraken:taxid|13; all \
          are kept"
        ]
    );
    ran.ok();
    let strict =
        dir.run("build -q --taxonomy tax --strict -o x.mgdb genomes genomes/a.fa").fails(1);
    assert!(strict.contains("first a.1|kraken:taxid|13"), "{strict}");
    dir.run("build --taxonomy tax --sketch 129 -o x.mgdb genomes").fails(2);
    dir.run("build --taxonomy tax --parts 0 -o x.mgdb genomes").fails(2);
    dir.run("build --taxonomy tax -o - genomes").fails(2);
    assert!(!dir.path("x.mgdb").exists());
    let own = dir.run("classify refs.mgdb genomes/a.fa -o genomes/a.fa").fails(1);
    assert!(own.contains("is an input, and will not be replaced"), "{own}");
    let two = dir.run("classify refs.mgdb genomes/a.fa -o y --report y").fails(1);
    assert!(two.contains("two outputs cannot go to the same file"), "{two}");
    dir.run("classify refs.mgdb genomes/a.fa --report -").fails(2);
    assert_eq!(dir.run("classify refs.mgdb").code, Some(2));
    assert_eq!(dir.run("classify").code, Some(2));
    // Long reads: a whole genome as one read.
    let long = lines(&dir.run("classify refs.mgdb genomes -q").code.map_or(String::new(), |_| {
        dir.run("classify refs.mgdb genomes/a.fa genomes/b.fa genomes/c.fa -q").ok()
    }));
    assert_eq!(long.iter().map(|line| line.taxid).collect::<Vec<_>>(), [11, 12, 21]);
}

//! `db prepare`: manifests of downloaded folders, and databases built from them.

mod again;
mod refused;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use merganser_test_support::tools::shell;
use merganser_test_support::{Dir, root};

const LAMBDA: &str = "refseq/viral/Lambda/latest_assembly_versions/GCF_000840245.1_ViralProj14204/\
                      GCF_000840245.1_ViralProj14204_genomic.fna.gz";
const CORONA: &str = "refseq/viral/GCF_009858895.2/GCF_009858895.2_ASM985889v3_genomic.fna.gz";
const HEPATITIS: &str = "refseq/ncbi_dataset/data/GCF_000860505.1/GCF_000860505.1_x_genomic.fna";
/// Genomes in the order of their paths, with the ids of their sequences and their taxids.
const GENOMES: [(&str, &str, u32); 3] = [
    (HEPATITIS, "NC_001489.1", 12092),
    (CORONA, "MN908947", 2_697_049),
    (LAMBDA, "NC_001416.1", 2_681_611),
];

/// Returns a line of assembly_summary.txt in the format of 2024.
fn summary_line(accession: &str, taxid: u32, species: u32, level: &str, category: &str) -> String {
    let mut cells = vec!["na".to_owned(); 38];
    (cells[0], cells[4], cells[11]) = (accession.into(), category.into(), level.into());
    (cells[5], cells[6]) = (taxid.to_string(), species.to_string());
    cells[19] = format!("https://ftp.ncbi.nlm.nih.gov/genomes/all/{accession}");
    cells.join("\t") + "\n"
}

fn summary() -> String {
    let mut names = vec!["x"; 38];
    (names[0], names[4], names[11]) = ("#assembly_accession", "refseq_category", "assembly_level");
    (names[5], names[6], names[19]) = ("taxid", "species_taxid", "ftp_path");
    let heading = format!("##  See ftp://x/README.txt\n{}\n", names.join("\t"));
    let reference = "reference genome";
    heading
        + &summary_line("GCF_000840245.1", 2_681_611, 10710, "Complete Genome", reference)
        + &summary_line("GCF_009858895.2", 2_697_049, 694_009, "Complete Genome", "na")
        + &summary_line("GCF_000001234.1", 562, 562, "Complete Genome", "na")
        + &summary_line("GCF_000001235.1", 562, 562, "Contig", "na")
}

/// Returns a directory with genomes in the folders of rsync, ncbi-genome-download and `datasets`, NCBI's taxonomy of
/// them in `tax`, and a map of their sequences.
fn downloads() -> Dir {
    let dir = Dir::new();
    let data = root().join("tests/data");
    for (path, _, _) in GENOMES {
        fs::create_dir_all(dir.path(path).parent().unwrap()).unwrap();
    }
    fs::copy(data.join("genomes/Escherichia_phage_lambda.fna.gz"), dir.path(LAMBDA)).unwrap();
    fs::copy(data.join("genomes/SARS-CoV-2_Wuhan-Hu-1.fna.gz"), dir.path(CORONA)).unwrap();
    let plain = merganser_test_support::gunzip(&data.join("genomes/Hepatitis_A_virus.fna.gz"));
    dir.write(HEPATITIS, plain);
    dir.write(&LAMBDA.replace("_genomic", "_cds_from_genomic"), "no genome");
    dir.write(&HEPATITIS.replace("GCF_000860505.1_x_", "cds_from_"), "no genome");
    shell(
        dir.root(),
        &format!(
            "cp -r {}/taxonomy tax && cp {}/genomes/seqid2taxid.map ids \
             && cd $(dirname {LAMBDA}) && md5sum ./*.gz > md5checksums.txt && cd - \
             && cd $(dirname {CORONA}) && md5sum ./*.gz > MD5SUMS && cd - \
             && cd refseq && md5sum ncbi_dataset/data/*/*.fna > md5sum.txt",
            data.display(),
            data.display()
        ),
    );
    dir.write("refseq/assembly_summary_refseq.txt", summary());
    dir.write(
        "refseq/ncbi_dataset/data/assembly_data_report.jsonl",
        "{\"accession\":\"GCF_000860505.1\",\"organism\":{\"taxId\":12092,\"organismName\":\"x\"},\
         \"assemblyInfo\":{\"assemblyLevel\":\"Scaffold\"}}\n",
    );
    dir
}

/// Returns the rows of a manifest by path, each as cells by column.
fn rows(dir: &Dir, manifest: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let text = String::from_utf8(dir.read(manifest)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("##merganser-library\t1"));
    let heading = lines.next().unwrap().strip_prefix('#').unwrap();
    let names: Vec<&str> = heading.split('\t').collect();
    let lines: Vec<&str> = lines.collect();
    let (end, lines) = lines.split_last().unwrap();
    assert_eq!(*end, "#end");
    let row = |line: &&str| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        let cells = names.iter().zip(&cells);
        let row: BTreeMap<String, String> =
            cells.map(|(name, cell)| ((*name).to_owned(), (*cell).to_owned())).collect();
        (row["path"].clone(), row)
    };
    lines.iter().map(row).collect()
}

/// Returns the status of each file, by the last component of its path.
fn statuses(dir: &Dir, manifest: &str) -> Vec<(String, String)> {
    let name = |path: &str| Path::new(path).file_name().unwrap().to_str().unwrap().to_owned();
    let rows = rows(dir, manifest);
    rows.iter().map(|(path, row)| (name(path), row["status"].clone())).collect()
}

/// Returns the number of files that, according to stderr, were not read again.
fn known(stderr: &str) -> usize {
    let line = stderr.lines().find(|line| line.contains(" known from an earlier run"));
    line.map_or(0, |line| line.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn manifests_tell_what_is_there() {
    let dir = downloads();
    let ran = dir.run("db prepare refseq -o library.tsv --missing missing.tsv --json j");
    assert_eq!(ran.warnings(), [""; 0], "{}", ran.stderr);
    assert!(ran.stderr.contains("3 genomes with 3 sequences and "), "{}", ran.stderr);
    assert!(ran.stderr.contains(" 3 of them with a listed MD5"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("2 genomes of the lists are not in the folders\n"),
        "{}",
        ran.stderr
    );
    ran.ok();
    let rows = rows(&dir, "library.tsv");
    assert_eq!(rows.len(), 3);
    for (path, id, taxid) in GENOMES {
        let row = &rows[path];
        let reader = if path.ends_with(".gz") { "zcat" } else { "cat" };
        let bases = format!("{reader} {path} | grep -v '>' | tr -d '\\n' | wc -c");
        let ask = |command: &str| {
            String::from_utf8(shell(dir.root(), command)).unwrap().trim().to_owned()
        };
        assert!(ask(&format!("{reader} {path} | head -1")).contains(id));
        assert_eq!(row["bases"], ask(&bases));
        assert_eq!(row["md5"], ask(&format!("md5sum < {path} | cut -d ' ' -f 1")));
        assert_eq!(row["size"], ask(&format!("stat -c %s {path}")));
        assert_eq!(row["mtime"], ask(&format!("stat -c %.9Y {path}")));
        assert_eq!((&row["taxon"], &row["sequences"]), (&taxid.to_string(), &"1".to_owned()));
        assert_eq!(row["status"], "ok");
        assert!(path.contains(&row["accession"]), "{row:?}");
    }
    let url = "https://ftp.ncbi.nlm.nih.gov/genomes/all/";
    let missing = ["GCF_000001234.1", "GCF_000001235.1"];
    let missing = missing.map(|name| format!("{name}\t562\t{url}{name}\n")).concat();
    assert_eq!(String::from_utf8(dir.read("missing.tsv")).unwrap(), missing);
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!((&json["results"]["genomes"], &json["results"]["missing"]), (&3.into(), &2.into()));
    assert!(!dir.path("library.tsv.part").exists());
    // The bytes do not depend on the number of threads, or on an existing manifest.
    let before = dir.read("library.tsv");
    for threads in [1, 2, 5] {
        dir.run(&format!("db prepare refseq -q -o library.tsv -t {threads}")).ok();
        dir.run(&format!("db prepare refseq -q -o new.tsv -t {threads}")).ok();
        assert!(dir.read("library.tsv") == before && dir.read("new.tsv") == before);
        fs::remove_file(dir.path("new.tsv")).unwrap();
    }
}

/// A manifest as an input is equivalent to its genomes with a map of them.
#[test]
fn databases_of_a_manifest_are_those_of_its_genomes() {
    let dir = downloads();
    fs::create_dir(dir.path("out")).unwrap();
    dir.run("db prepare refseq -q -o library.tsv").ok();
    dir.run("db prepare refseq -q -o out/library.tsv").ok();
    dir.run(&format!("db prepare {} -q -o out/absolute.tsv", dir.path("refseq").display())).ok();
    let list: String = GENOMES.iter().map(|(path, _, _)| format!("{path}\n")).collect();
    dir.write("list", list);
    // Reading this file would be an error; it is not needed.
    dir.write(
        "tax/nucl_gb.accession2taxid",
        "accession\taccession.version\ttaxid\tgi\nx\ty\tz\t0\n",
    );
    let strict = "--taxonomy tax --strict -q --bracken 100";
    let map = "--map ids @list";
    dir.run(&format!("build {strict} -o a.mgdb {map}")).ok();
    dir.run(&format!("build --format kraken2 {strict} -o a {map}")).ok();
    for manifest in ["library.tsv", "out/library.tsv", "out/absolute.tsv"] {
        dir.run(&format!("build {strict} -o b.mgdb {manifest}")).ok();
        assert!(dir.read("a.mgdb") == dir.read("b.mgdb"), "{manifest}");
        let distribution = "mgdb.100mers.kmer_distrib";
        assert!(dir.read(&format!("a.{distribution}")) == dir.read(&format!("b.{distribution}")));
        dir.run(&format!("build --format kraken2 {strict} -o b {manifest}")).ok();
        for file in ["hash.k2d", "taxo.k2d", "opts.k2d", "database100mers.kmer_distrib"] {
            assert!(dir.read(&format!("a/{file}")) == dir.read(&format!("b/{file}")), "{file}");
        }
    }
    let reads = root().join("tests/data/genomes/Escherichia_phage_lambda.fna.gz");
    let reads = reads.display();
    let lines = dir.run(&format!("classify a.mgdb {reads} -q")).ok();
    assert!(lines.starts_with("C\t"), "{lines}");
    let on_the_fly = "classify --references library.tsv --taxonomy tax --strict";
    assert_eq!(dir.run(&format!("{on_the_fly} {reads} -q")).ok(), lines);
    // A manifest together with other references, and added to a database.
    dir.run(&format!("build {strict} -o b.mgdb --map ids {HEPATITIS}")).ok();
    let rest = String::from_utf8(dir.read("library.tsv")).unwrap();
    let rest: Vec<&str> = rest.lines().filter(|line| !line.starts_with(HEPATITIS)).collect();
    dir.write("rest.tsv", rest.join("\n") + "\n");
    dir.run("db add b.mgdb --taxonomy tax --strict -q rest.tsv").ok();
    assert!(dir.read("a.mgdb") == dir.read("b.mgdb"));
    dir.run(&format!("build {strict} -o b.mgdb --map ids {HEPATITIS} rest.tsv")).ok();
    assert!(dir.read("a.mgdb") == dir.read("b.mgdb"));
    dir.run("db bracken a --read-lengths 100 --taxonomy tax -q library.tsv --strict").ok();
    assert!(
        dir.read("a/database100mers.kmer_distrib") == dir.read("b/database100mers.kmer_distrib")
    );
}

#[test]
fn damaged_genomes_are_named() {
    let dir = downloads();
    shell(dir.root(), "mkdir keep && cp -pr refseq keep");
    let fresh = || shell(dir.root(), "rm -rf refseq && cp -pr keep/refseq .");
    let cut = |path: &str| {
        let bytes = dir.read(path);
        dir.write(path, &bytes[..bytes.len() / 2]);
    };
    let cases: [(&str, &str, &dyn Fn()); 5] = [
        (LAMBDA, "truncated: the gzip data end", &|| cut(LAMBDA)),
        (CORONA, "not FASTA or FASTQ", &|| {
            dir.write(CORONA, "<!DOCTYPE html>\n");
        }),
        (CORONA, "there is no sequence in it", &|| {
            dir.write(CORONA, "");
        }),
        (HEPATITIS, "its MD5 is ", &|| cut(HEPATITIS)),
        (HEPATITIS, "no such file or directory", &|| {
            fs::remove_file(dir.path(HEPATITIS)).unwrap();
            std::os::unix::fs::symlink("nowhere", dir.path(HEPATITIS)).unwrap();
        }),
    ];
    for (path, reason, damage) in cases {
        fresh();
        damage();
        if !dir.path(path).is_file() {
            // A dangling link counts as a missing file.
            let ran = dir.run("db prepare refseq -o library.tsv");
            assert!(
                ran.stderr.contains("3 genomes of the lists are not in the folders"),
                "{}",
                ran.stderr
            );
            continue;
        }
        let said = dir.run("db prepare refseq -q -o library.tsv").fails(1);
        let start = format!("error: 1 genomes are damaged, first {path}: ");
        assert!(said.starts_with(&start) && said.contains(reason), "{said}");
        let status = &rows(&dir, "library.tsv")[path]["status"];
        assert!(status.starts_with("damaged: ") && status.contains(reason), "{status}");
        let refused = dir.run("build --taxonomy tax -o x.mgdb library.tsv").fails(1);
        assert!(refused.contains(&format!(": {path}: it is damaged (")), "{refused}");
        assert!(refused.contains("or delete this line"), "{refused}");
        shell(dir.root(), "grep -v '\tdamaged: ' library.tsv > others.tsv");
        dir.run("build --taxonomy tax -q --strict -o x.mgdb others.tsv").ok();
        assert_eq!(dir.run("db taxa x.mgdb --sequences").ok().lines().count(), 3);
        // The genome is downloaded again.
        fresh();
        let ran = dir.run("db prepare refseq -o library.tsv");
        assert_eq!(known(&ran.stderr), 2, "{}", ran.stderr);
        ran.ok();
        assert!(!dir.path("library.tsv.part").exists());
    }
}

#[test]
fn versions_lists_and_choices() {
    let dir = downloads();
    let copy = |from: &str, to: &str| {
        fs::create_dir_all(dir.path(to).parent().unwrap()).unwrap();
        fs::copy(dir.path(from), dir.path(to)).unwrap();
    };
    // An older and a newer version, a copy, and a genome without a list entry.
    copy(LAMBDA, "refseq/old/GCF_009858895.1_genomic.fna.gz");
    copy(LAMBDA, "refseq/new/GCF_000840245.2_genomic.fna.gz");
    copy(HEPATITIS, "refseq/z/GCF_000860505.1_genomic.fna");
    copy(HEPATITIS, "refseq/z/mine.fa");
    let ran = dir.run("db prepare refseq -o library.tsv");
    let warned = ran.warnings().join("\n");
    for part in [
        "2 files are older versions of genomes that are in these folders and are left out, first refseq/old/",
        "1 files have genomes that another file has and are left out, first refseq/z/GCF_000860505.1",
        "1 files have no taxon and are left out, first refseq/z/mine.fa: on no list",
        "1 genomes have another version than in the lists, first GCF_000840245.2",
    ] {
        assert!(warned.contains(part), "{part}: {warned}");
    }
    ran.ok();
    let status = |name: &str| {
        let all = statuses(&dir, "library.tsv");
        all.into_iter().filter(|(one, _)| one.contains(name)).map(|(_, status)| status).collect()
    };
    let of = |name: &str| -> Vec<String> { status(name) };
    assert_eq!(of("GCF_009858895.1"), ["superseded: by GCF_009858895.2"]);
    assert_eq!(of("GCF_000840245.2"), ["ok"]);
    assert_eq!(of("GCF_000840245.1"), ["superseded: by GCF_000840245.2"]);
    assert_eq!(of("GCF_000860505.1"), ["ok", &format!("duplicate: of {HEPATITIS}")]);
    assert_eq!(of("mine.fa"), ["no taxon: on no list"]);
    // The user's own list has the genome.
    dir.write("own.txt", "# file\ttaxid\nmine.fa\t12092\n");
    dir.run("db prepare refseq -q --assembly-summary own.txt -o library.tsv").ok();
    assert_eq!(status("mine.fa") as Vec<String>, ["ok"]);
    // Selection by assembly level and category.
    let chosen = |options: &str| -> Vec<String> {
        dir.run(&format!("db prepare refseq -q {options} -o chosen.tsv --missing m")).ok();
        let all = statuses(&dir, "chosen.tsv").into_iter();
        all.filter(|(_, status)| status == "ok").map(|(name, _)| name[..15].to_owned()).collect()
    };
    let (h, c, l) = ("GCF_000860505.1", "GCF_009858895.2", "GCF_000840245.2");
    assert_eq!(chosen(""), [h, l, c].map(str::to_owned));
    assert_eq!(chosen("--level scaffold"), [h, l, c].map(str::to_owned));
    assert_eq!(chosen("--level chromosome"), [l, c].map(str::to_owned));
    assert_eq!(dir.read("m").iter().filter(|&&byte| byte == b'\n').count(), 1);
    assert_eq!(chosen("--level complete --category representative"), [l].map(str::to_owned));
    assert_eq!(of("GCF_000840245.1"), ["superseded: by GCF_000840245.2"]);
    let none = dir.run("db prepare refseq/ncbi_dataset -q --category reference -o x.tsv").fails(1);
    assert!(none.contains("no genome has the requested --level and --category"), "{none}");
    // A taxid that is missing from the taxonomy is replaced by that of the species, if it exists.
    dir.write(
        "strains.txt",
        summary().replace("\t2697049\t", "\t99\t").replace("\t10710\t", "\t98\t"),
    );
    let list = dir.read("strains.txt");
    dir.write("strains.txt", String::from_utf8(list).unwrap().replace("\t2681611\t", "\t97\t"));
    let options = "--taxonomy tax --assembly-summary strains.txt";
    dir.run(&format!("db prepare refseq -q {options} -o library.tsv")).ok();
    assert_eq!(rows(&dir, "library.tsv")[CORONA]["taxon"], "694009");
    assert_eq!(of("GCF_000840245.2"), ["no taxon: taxid 97 is not in the taxonomy"]);
    dir.run("build --taxonomy tax --strict -q -o x.mgdb library.tsv").ok();
}

#[test]
fn genomes_of_gtdb() {
    let dir = downloads();
    let genomes = [
        (LAMBDA, "reps/database/GCA/000/840/245/GCA_000840245.1_genomic.fna.gz"),
        (CORONA, "reps/database/GCF/009/858/895/GCF_009858895.2_genomic.fna.gz"),
        (HEPATITIS, "reps/U_77.fna"),
    ];
    for (from, to) in genomes {
        fs::create_dir_all(dir.path(to).parent().unwrap()).unwrap();
        fs::copy(dir.path(from), dir.path(to)).unwrap();
    }
    let table = "GB_GCA_000840245.1\td__Viruses;p__A;c__B;o__C;f__D;g__Lambda;s__Lambda one\n\
                 RS_GCF_009858895.2\td__Viruses;p__A;c__B;o__C;f__D;g__E;s__\n\
                 U_77\td__Viruses;p__B\nRS_GCF_000000077.1\td__Archaea;p__A\n";
    dir.write("t.tsv", table);
    let ran = dir.run("db prepare reps --taxonomy t.tsv -o library.tsv --missing m");
    assert!(ran.stderr.contains("1 genomes of the lists are not in the folders"), "{}", ran.stderr);
    assert_eq!(ran.ok(), "");
    assert_eq!(dir.read("m"), b"GCF_000000077.1\td__Archaea;p__A\t-\n");
    let rows = rows(&dir, "library.tsv");
    assert_eq!(rows[genomes[1].1]["taxon"], "d__Viruses;p__A;c__B;o__C;f__D;g__E");
    assert_eq!(rows[genomes[2].1]["accession"], "U_77");
    // `build` finds the same taxa by file names alone.
    for format in ["merganser", "kraken2"] {
        let build = format!("build --format {format} --taxonomy t.tsv --strict -q");
        dir.run(&format!("{build} -o {format}.a library.tsv")).ok();
        dir.run(&format!("{build} -o {format}.b reps")).ok();
    }
    assert!(dir.read("merganser.a") == dir.read("merganser.b"));
    assert!(dir.read("kraken2.a/hash.k2d") == dir.read("kraken2.b/hash.k2d"));
    // Other taxonomies do not fit the manifest.
    dir.write("other.tsv", table.replace("p__B\n", "p__C\n"));
    dir.run("db prepare refseq -q -o ncbi.tsv").ok();
    for (taxonomy, manifest, message) in [
        ("other.tsv", "library.tsv", "line 3: its lineage is not in the tables of --taxonomy"),
        ("tax", "library.tsv", "line 3: its taxon is a lineage of GTDB: give its tables with"),
        (
            "t.tsv",
            "ncbi.tsv",
            "line 3: its taxon is a taxid of NCBI: give the folder of its taxdump",
        ),
    ] {
        for format in ["merganser", "kraken2"] {
            let build = format!("build --format {format} --taxonomy {taxonomy} -q -o x {manifest}");
            let said = dir.run(&build).fails(1);
            assert!(said.starts_with(&format!("error: {manifest}: {message}")), "{said}");
        }
    }
    // Only NCBI's lists have assembly levels.
    let said = dir.run("db prepare reps --taxonomy t.tsv --level complete -o x.tsv").fails(2);
    assert!(said.starts_with("error: --level and --category are in NCBI's lists"), "{said}");
    let list = "--assembly-summary refseq/assembly_summary_refseq.txt --level complete";
    let ran = dir.run(&format!("db prepare reps --taxonomy t.tsv {list} -o x.tsv"));
    assert!(
        ran.stderr.contains("2 files of another level or category are left out"),
        "{}",
        ran.stderr
    );
}

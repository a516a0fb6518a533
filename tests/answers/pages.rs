//! HTML reports, plots and MultiQC sections have the data of the outputs, and appear together with the outputs.

use std::collections::BTreeMap;

use serde_json::Value;

use merganser_test_support::{Dir, root, small_reads, two_species};

/// Returns a directory with reads, the genomes of two streptococci, and a database of them.
fn streptococci() -> Dir {
    let dir = Dir::new();
    let [first, second] = small_reads();
    std::fs::copy(first, dir.path("r_1.fastq.gz")).unwrap();
    std::fs::copy(second, dir.path("r_2.fastq.gz")).unwrap();
    let from = root().join("tests/data/streptococcus");
    for name in ["Streptococcus_pneumoniae_NCTC7465.fna.gz", "Streptococcus_mitis_NCTC12261.fna.gz"]
    {
        std::fs::copy(from.join(name), dir.path(&name[14..])).unwrap();
    }
    let from = from.display();
    dir.run(&format!(
        "build --taxonomy {from}/taxonomy --map {from}/taxids.tsv -o s.mgdb \
         pneumoniae_NCTC7465.fna.gz mitis_NCTC12261.fna.gz"
    ))
    .ok();
    dir
}

/// Returns the only line of a results file.
fn data(dir: &Dir, name: &str) -> Value {
    let text = String::from_utf8(dir.read(name)).unwrap();
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(&text).unwrap()
}

/// Returns rows of a value and a number.
fn rows(value: &Value) -> BTreeMap<u64, u64> {
    let pair = |row: &Value| (row[0].as_u64().unwrap(), row[1].as_u64().unwrap());
    value.as_array().unwrap().iter().map(pair).collect()
}

/// Returns rows of a table of two numbers.
fn table(text: &str) -> BTreeMap<u64, u64> {
    let pair = |line: &str| {
        let (value, number) = line.split_once('\t').unwrap();
        (value.parse().unwrap(), number.parse().unwrap())
    };
    text.lines().map(pair).collect()
}

#[test]
fn spectra_are_the_histogram() {
    let dir = streptococci();
    let pages = "--report-data c.json --report-html c.html";
    dir.run(&format!(
        "count -k 21 --min-count 1 -o t.mgk --histogram t.hist {pages} r_1.fastq.gz r_2.fastq.gz"
    ))
    .ok();
    let count = data(&dir, "c.json");
    let histogram = String::from_utf8(dir.read("t.hist")).unwrap();
    assert_eq!(rows(&count["spectrum"]["rows"]), table(&histogram));
    assert_eq!((&count["sample"], &count["command"]), (&"r".into(), &"count".into()));
    assert_eq!(count["inputs"], serde_json::json!(["r_1.fastq.gz", "r_2.fastq.gz"]));
    // The coverage is a fifth, so that there is no peak.
    assert!(count["spectrum"]["model"].is_null());
    assert!(count["notes"][0].as_str().unwrap().starts_with("No model is drawn: "));
    dir.run("kmers histogram t.mgk -o h --report-data h.json --sample-name x").ok();
    let of_table = data(&dir, "h.json");
    assert_eq!(of_table["spectrum"]["rows"], count["spectrum"]["rows"]);
    assert_eq!(of_table["sample"], "x");
}

/// A model has the numbers that the command prints, and the page has the command's warnings.
#[test]
fn models_are_drawn() {
    let dir = Dir::new();
    let peak = |count: f64, at: f64| (-(count - at).powi(2) / (2.0 * at)).exp();
    let rows = (1..120).map(f64::from).map(|count| {
        let kmers = 5e5 * (-count).exp() + 3e4 * peak(count, 20.0) + 1e5 * peak(count, 40.0);
        format!("{count}\t{kmers:.0}\n")
    });
    dir.write("s.hist", rows.collect::<String>());
    let text = dir.run("kmers histogram --model -k 21 s.hist --report-data s.json").ok();
    let model = &data(&dir, "s.json")["spectrum"]["model"];
    let printed = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key}\t")));
        line.unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(model["genome_size"].as_f64().unwrap().round(), printed("genome_size"));
    assert!((model["coverage"].as_f64().unwrap() - printed("kmer_coverage")).abs() < 0.001);
    assert_eq!(model["ploidy"], 2);
    let expected = model["expected"].as_array().unwrap();
    assert!(expected[40].as_f64().unwrap() > 5e4, "{}", expected[40]);
}

#[test]
fn taxa_are_those_of_the_report() {
    let dir = streptococci();
    let pages = "--report-data t.json --report-html t.html";
    dir.run(&format!(
        "classify s.mgdb -1 r_1.fastq.gz -2 r_2.fastq.gz -o t.tsv --report t.kreport \
         --report-minimizer-data --abundance t.abundance {pages}"
    ))
    .ok();
    let taxa = &data(&dir, "t.json")["taxa"];
    let report = String::from_utf8(dir.read("t.kreport")).unwrap();
    let mut lines = report.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    assert_eq!(taxa["unclassified"].to_string(), lines.next().unwrap()[1]);
    assert_eq!(taxa["reads"], 2500);
    let all: Vec<_> = lines.collect();
    assert_eq!(taxa["rows"].as_array().unwrap().len(), all.len());
    for (line, row) in all.iter().zip(taxa["rows"].as_array().unwrap()) {
        let of = ["c", "o", "k", "u"].map(|key| row[key].to_string());
        assert_eq!(of[..], line[1..5]);
        assert_eq!((row["r"].as_str(), row["t"].to_string()), (Some(line[5]), line[6].to_owned()));
        let name = "  ".repeat(row["d"].as_u64().unwrap() as usize) + row["n"].as_str().unwrap();
        assert_eq!(name, line[7]);
    }
    // The estimates of species include all classified reads.
    let species = taxa["rows"].as_array().unwrap().iter().filter(|row| row["r"] == "S");
    let sum: f64 = species.map(|row| row["a"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn mappings_are_those_of_the_records() {
    let dir = streptococci();
    let pages = "--report-data m.json --report-html m.html";
    dir.run(&format!(
        "map pneumoniae_NCTC7465.fna.gz -1 r_1.fastq.gz -2 r_2.fastq.gz -e 5 -o m.sam {pages}"
    ))
    .ok();
    let mapping = &data(&dir, "m.json")["mapping"];
    let sam = String::from_utf8(dir.read("m.sam")).unwrap();
    let (mut hits, mut edits, mut inserts) = <[BTreeMap<u64, u64>; 3]>::default().into();
    let (mut reads, mut bases, mut records) = (0, 0, BTreeMap::<(&str, u32), u64>::new());
    for line in sam.lines().filter(|line| !line.starts_with('@')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let flags: u32 = fields[1].parse().unwrap();
        let of = records.entry((fields[0], flags & 0x40)).or_default();
        if flags & 4 != 0 {
            continue;
        }
        *of += 1;
        if flags & 0x100 != 0 {
            continue;
        }
        reads += 1;
        bases += fields[9].len() as u64;
        let own = fields.iter().find_map(|field| field.strip_prefix("NM:i:")).unwrap();
        *edits.entry(own.parse().unwrap()).or_default() += 1;
        if flags & 0x42 == 0x42 {
            let length: i64 = fields[8].parse().unwrap();
            *inserts.entry(length.unsigned_abs()).or_default() += 1;
        }
    }
    records.values().for_each(|&number| *hits.entry(number).or_default() += 1);
    assert_eq!(rows(&mapping["hits"]), hits);
    assert_eq!(rows(&mapping["edits"]), edits);
    assert_eq!(rows(&mapping["inserts"]), inserts);
    assert_eq!((&mapping["reads"], &mapping["mapped"]), (&5000.into(), &reads.into()));
    let contig = &mapping["contigs"][0];
    assert_eq!((&contig["n"], &contig["l"]), (&"NZ_LN831051.1".into(), &2_110_968.into()));
    assert_eq!((&contig["r"], &contig["b"]), (&reads.into(), &bases.into()));
}

#[test]
fn decisions_are_those_of_the_file() {
    let dir = Dir::new();
    let pair = |other: &str| format!("ACGTACGTAAGGTTCC\t{other}\n");
    let others = ["ACGTACGTAAGGTTCC", "ACGTACGTAAGGTTCA", "ACGTACGTAAGGTTCA", "TTTTTTTTTTTTTTTT"];
    dir.write("p.tsv", others.map(pair).concat());
    dir.run("filter -e 3 p.tsv -o d.tsv --report-data f.json").ok();
    let decisions = &data(&dir, "f.json")["decisions"];
    assert_eq!(rows(&decisions["edits"]), BTreeMap::from([(0, 1), (1, 2)]));
    assert_eq!((&decisions["pairs"], &decisions["accepted"]), (&4.into(), &3.into()));
}

#[test]
fn assemblies_are_judged_as_in_the_files() {
    let dir = streptococci();
    dir.run("count -k 21 --min-count 1 -o t.mgk r_1.fastq.gz r_2.fastq.gz").ok();
    let pages = "--report-data q.json --report-html q.html";
    dir.run(&format!("kmers qv -o q --no-plots t.mgk pneumoniae_NCTC7465.fna.gz {pages}")).ok();
    let assembly = &data(&dir, "q.json")["assembly"];
    let text = String::from_utf8(dir.read("q.qv")).unwrap();
    let fields: Vec<&str> = text.trim_end().split('\t').collect();
    let judged = &assembly["judged"][0];
    assert_eq!([judged["only"].to_string(), judged["kmers"].to_string()], fields[1..3]);
    let quality: f64 = fields[3].parse().unwrap();
    assert!((judged["quality"].as_f64().unwrap() - quality).abs() < 1e-4);
    let spectrum = String::from_utf8(dir.read("q.spectra-asm.hist")).unwrap();
    let numbers: u64 = spectrum
        .lines()
        .skip(1)
        .map(|line| line.split('\t').nth(2).unwrap().parse::<u64>().unwrap())
        .sum();
    let classes = assembly["spectra"].as_array().unwrap().last().unwrap();
    let of_class = |class: &Value| rows(&class["rows"]).values().sum::<u64>();
    let drawn: u64 = classes["classes"].as_array().unwrap().iter().map(of_class).sum();
    assert_eq!(drawn, numbers);
    // Numbers that are read again have the same digits.
    dir.run("report html q.json -o again.html").ok();
    assert!(dir.read("again.html") == dir.read("q.html"));
}

/// Pages, data and sections do not depend on threads; sections are MultiQC custom content.
#[test]
fn bytes_do_not_depend_on_threads() {
    let dir = streptococci();
    let inputs = "-1 r_1.fastq.gz -2 r_2.fastq.gz";
    let mut all = Vec::new();
    for threads in [1, 3] {
        let of = |name: &str| {
            let pages = "--report-html {}.html --report-data {}.json --multiqc {}";
            format!("{} --threads {threads}", pages.replace("{}", &format!("{threads}{name}")))
        };
        dir.run(&format!("count -k 21 --format none r_1.fastq.gz r_2.fastq.gz {}", of("c"))).ok();
        dir.run(&format!("classify s.mgdb {inputs} -o x {}", of("t"))).ok();
        dir.run(&format!("map mitis_NCTC12261.fna.gz {inputs} -e 5 -o x.sam {}", of("m"))).ok();
        let mut names = dir.names();
        names.retain(|name| name.starts_with(&threads.to_string()));
        assert_eq!(names.len(), 3 * 2 + 3 + 3 + 4, "{names:?}");
        let bytes = names.iter().map(|name| (name[1..].to_owned(), dir.read(name)));
        all.push(bytes.collect::<Vec<_>>());
    }
    assert_eq!(all[0], all[1]);
    for (name, bytes) in &all[0] {
        if name.ends_with("_mqc.json") {
            let section: Value = serde_json::from_slice(bytes).unwrap();
            assert_eq!(
                section["data"].as_object().unwrap().keys().collect::<Vec<_>>(),
                ["r"],
                "{name}"
            );
            assert!(section["id"].as_str().unwrap().starts_with("merganser_"));
        }
        if name.ends_with("_versions.yml") {
            let version = env!("CARGO_PKG_VERSION");
            assert_eq!(String::from_utf8_lossy(bytes), format!("merganser: \"{version}\"\n"));
        }
    }
}

/// Each sample of a sheet has its own files.
#[test]
fn sheets() {
    let dir = streptococci();
    dir.write("sheet.tsv", "one\tr_1.fastq.gz\ntwo\tr_2.fastq.gz\n");
    let pages = "--report-data {}.json --report-html {}.html --multiqc {}";
    dir.run(&format!("classify s.mgdb --sample-sheet sheet.tsv -o {{}}.tsv {pages}")).ok();
    assert_eq!(data(&dir, "two.json")["sample"], "two");
    dir.run(
        "map mitis_NCTC12261.fna.gz --sample-sheet sheet.tsv -e 3 -o {}.sam --report-data {}.m",
    )
    .ok();
    assert_eq!(data(&dir, "one.m")["mapping"]["reads"], 2500);
    dir.run("report html one.json two.json two.m -o all.html").ok();
    let page = String::from_utf8(dir.read("all.html")).unwrap();
    assert!(
        page.starts_with("<!doctype html>") && page.contains("\"one\"") && page.contains("\"two\"")
    );
    for (options, message) in [
        ("--multiqc all", "put {} where the sample's name belongs"),
        ("--sample-name x --report-data {}.json", "the samples' names are those of the sheet"),
    ] {
        for command in ["classify s.mgdb -o {}.tsv", "map mitis_NCTC12261.fna.gz -e 3 -o {}.sam"] {
            let said = dir.run(&format!("{command} --sample-sheet sheet.tsv {options}")).fails(2);
            assert!(said.contains(message), "{said}");
        }
    }
}

/// Pages have the first reads of each input, counted by their definition.
#[test]
fn first_reads_of_inputs_are_profiled() {
    let dir = two_species::prepared();
    dir.run("deplete index -o host.mgd g0.fa").ok();
    let letters: Vec<String> = (0..40)
        .map(|at| "ACGTNACCTGTTAGCATCGATTTACGACGACTACGACTTTACGCATCGAC"[at % 7..10 + at].to_owned())
        .collect();
    let quality = |at: usize, base: usize| char::from(b'!' + ((7 * at + 3 * base) % 41) as u8);
    let record = |(at, letters): (usize, &String)| {
        let quality: String = (0..letters.len()).map(|base| quality(at, base)).collect();
        format!("@r{at}\n{letters}\n+\n{quality}\n")
    };
    let text: String = letters.iter().enumerate().map(record).collect();
    dir.write("r.fq", &text);
    let mut profiles = Vec::new();
    for command in [
        "count -k 5 --format none r.fq g0.fa",
        "classify refs.mgdb -o x.tsv r.fq g0.fa",
        "map g0.fa -U -e 2 -o x.sam r.fq g0.fa",
        "deplete filter host.mgd -o x.fq r.fq",
    ] {
        dir.run(&format!("{command} --report-data d.json")).ok();
        let reads = data(&dir, "d.json")["reads"].clone();
        // FASTA has no qualities.
        assert!(reads[1].is_null() || reads[1]["qualities"].is_null(), "{command}");
        profiles.push(reads[0].clone());
    }
    assert!(profiles.iter().all(|profile| profile == &profiles[0]));
    let profile = &profiles[0];
    assert_eq!((&profile["n"], &profile["records"]), (&"r.fq".into(), &letters.len().into()));
    assert_eq!((&profile["step"], &profile["is_whole"]), (&1.into(), &true.into()));
    let mut lengths = BTreeMap::new();
    letters.iter().for_each(|read| *lengths.entry(read.len() as u64).or_default() += 1);
    assert_eq!(rows(&profile["lengths"]), lengths);
    for position in [0, 9, 30] {
        let here = || letters.iter().enumerate().filter(|(_, read)| read.len() > position);
        let of = |base: u8| here().filter(|(_, read)| read.as_bytes()[position] == base).count();
        let bases = [b'A', b'C', b'G', b'T', b'N'].map(of);
        assert_eq!(profile["letters"][position], serde_json::json!(bases));
        let mut scores: Vec<u32> =
            here().map(|(at, _)| u32::from(quality(at, position)) - 33).collect();
        scores.sort_unstable();
        let mean = f64::from(scores.iter().sum::<u32>()) / scores.len() as f64;
        let quartile = |quarter: usize| scores[(quarter * scores.len()).div_ceil(4) - 1];
        let summary = &profile["qualities"][position];
        assert!((summary[0].as_f64().unwrap() - mean).abs() < 0.0051, "{summary} {mean}");
        let quartiles = [1, 2, 3].map(|at| summary[at].as_u64().unwrap());
        assert_eq!(quartiles, [1, 2, 3].map(|quarter| u64::from(quartile(quarter))));
    }
    // A pipe can be read only once.
    dir.run_with("count -k 5 --format none --report-data d.json -".split(' '), text.as_bytes())
        .ok();
    let piped = data(&dir, "d.json");
    assert!(piped["reads"].is_null());
    let note = "stdin has no profile of reads: a pipe can be read only once.";
    assert!(piped["notes"].as_array().unwrap().contains(&note.into()), "{piped}");
}

/// Returns the data of a page.
fn data_of_page(dir: &Dir, name: &str) -> Value {
    let page = String::from_utf8(dir.read(name)).unwrap();
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The page of a database has the numbers of `db info` and `db taxa`.
#[test]
fn databases_have_pages() {
    let dir = streptococci();
    let from = root().join("tests/data/streptococcus");
    dir.run(&format!(
        "build --format kraken2 --taxonomy {0}/taxonomy --map {0}/taxids.tsv -o k2 \
         pneumoniae_NCTC7465.fna.gz mitis_NCTC12261.fna.gz",
        from.display()
    ))
    .ok();
    for (name, references, stored) in
        [("s.mgdb", "sequences", "features"), ("k2", "unreached", "minimizers")]
    {
        let text = dir.run(&format!("db info {name} --json --report-html d.html")).ok();
        let info: Value = serde_json::from_str(&text).unwrap();
        let page = &data_of_page(&dir, "d.html")[0];
        assert_eq!((&page["command"], &page["sample"]), (&"db info".into(), &name.into()));
        let database = &page["database"];
        assert_eq!((&database["stored"], &database["bytes"]), (&info[stored], &info["bytes"]));
        let top = &database["rows"][0];
        assert_eq!(top["n"], "root");
        if name == "s.mgdb" {
            assert_eq!(
                (&database["references"], &top["c"]),
                (&info[references], &info[references])
            );
            assert_eq!((&database["bases"], &top["b"]), (&info["bases"], &info["bases"]));
        } else {
            assert_eq!((&database["cells"], &top["c"]), (&info["cells"], &info["minimizers"]));
        }
        let species = database["rows"].as_array().unwrap().iter().filter(|row| row["r"] == "S");
        assert_eq!(species.count(), 2);
        assert!(page["parameters"].as_array().unwrap().len() > 8);
    }
    let ran = dir.run("db info s.mgdb k2 --report-html d.html");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let warning = &data_of_page(&dir, "d.html")[0]["warnings"][0];
    assert!(warning.as_str().unwrap().starts_with("These databases cannot be used"), "{warning}");
    let said = dir.run("db info s.mgdb --report-html s.mgdb").fails(1);
    assert!(said.contains("is an input, and will not be replaced"), "{said}");
}

/// Untrusted names never become part of a page's markup.
#[test]
fn hostile_names() {
    let dir = Dir::new();
    let name = "</script><script>alert(1)</script>\u{2028}<!--";
    dir.write("p.tsv", "ACGTACGT\tACGTACGT\n");
    let args = ["filter", "-e", "1", "p.tsv", "-o", "d.tsv", "--report-html", "p.html"];
    let more = ["--report-data", "p.json", "--multiqc", "p", "--sample-name", name];
    dir.run_with(args.into_iter().chain(more), b"").ok();
    assert_eq!(data(&dir, "p.json")["sample"], name);
    let page = String::from_utf8(dir.read("p.html")).unwrap();
    assert!(
        !page.contains("alert(1)</script>")
            && !page.contains("<!--\"")
            && !page.contains('\u{2028}')
    );
    dir.run("report html p.json -o again.html").ok();
    assert_eq!(dir.read("again.html"), dir.read("p.html"));
}

/// Kraken-style reports are samples, too.
#[test]
fn pages_of_reports() {
    let dir = Dir::new();
    dir.write(
        "a.kreport",
        " 50.00\t1\t1\tU\t0\tunclassified\n 50.00\t1\t0\tR\t1\troot\n 50.00\t1\t1\tS\t562\t  E\n",
    );
    dir.write("empty.kreport", "");
    dir.run("report html a.kreport -o a.html").ok();
    let page = String::from_utf8(dir.read("a.html")).unwrap();
    assert!(page.contains("\"a\"") && page.contains("a.kreport"));
    dir.write("newer.json", "{\"format\": 99, \"version\": \"9.9.9\"}\n");
    dir.write("cut.json", "{\"format\": 1, \"version\": \"0.2.0\", \"comm");
    dir.write("other.json", "{\"a\": 1}\n");
    let mut text = String::new();
    for name in ["newer.json", "cut.json", "other.json", "gone.json"] {
        text += &dir.run(&format!("report html {name} -o x.html")).fails(1);
        assert!(!dir.path("x.html").exists());
    }
    // A sample without reads.
    let ran = dir.run("report html empty.kreport a.kreport -o x.html");
    assert!(
        ran.stderr.starts_with("warning: empty.kreport: the report is empty"),
        "{}",
        ran.stderr
    );
    ran.ok();
    text += &dir.run("report html a.kreport -o a.kreport").fails(1);
    text += dir.run("filter -e 1 p.tsv --report-html -").stderr.lines().next().unwrap();
    insta::assert_snapshot!(text);
}

/// Data of earlier versions are read, and a newer version is named.
#[test]
fn data_of_other_versions() {
    let dir = Dir::new();
    dir.write("p.tsv", "ACGT\tACGT\n");
    dir.run("filter -e 1 p.tsv -o d.tsv --report-data p.json --report-html p.html").ok();
    let text = String::from_utf8(dir.read("p.json")).unwrap();
    assert!(text.starts_with("{\"format\":2,"), "{text}");
    dir.write("earlier.json", text.replace("\"format\":2,", "\"format\":1,"));
    dir.run("report html earlier.json -o earlier.html").ok();
    let newer = text.replace("\"format\":2,", "\"format\":3,\"more\":1,");
    dir.write("newer.json", newer.replace(env!("CARGO_PKG_VERSION"), "9.0.0"));
    let said = dir.run("report html newer.json -o x.html").fails(1);
    assert!(said.contains("written by merganser 9.0.0: use that version or a newer one"), "{said}");
}

/// Plots are written in the formats for papers and for terminals.
#[test]
fn plots() {
    let dir = streptococci();
    let pages = "--report-data t.json --report t.kreport";
    let ran = dir.run(&format!("classify s.mgdb r_1.fastq.gz -o t.tsv {pages} --plot -"));
    assert!(ran.stderr.starts_with("Streptococcus pneumoniae "), "{}", ran.stderr);
    ran.ok();
    dir.run("count -k 21 --min-count 1 -o t.mgk r_1.fastq.gz --report-data c.json").ok();
    let ran = dir.run("kmers histogram t.mgk -o h --plot -");
    assert!(ran.stderr.contains('█') && ran.stderr.contains("distinct 21-mers"), "{}", ran.stderr);
    ran.ok();
    dir.run("kmers histogram t.mgk -o h --plot h.svg").ok();
    dir.run("report plot --chart taxa t.json t.kreport -o t.svg").ok();
    dir.run("report plot --chart spectrum c.json -o c.pdf").ok();
    dir.run("report plot --chart spectrum --log-y --dpi 72 c.json -o c.png").ok();
    for (name, start) in
        [("h.svg", "<svg"), ("t.svg", "<svg"), ("c.pdf", "%PDF"), ("c.png", "\u{89}PNG")]
    {
        let start: Vec<u8> = start.chars().map(|letter| letter as u32 as u8).collect();
        assert!(dir.read(name).starts_with(&start), "{name}");
    }
    let mut text = dir.run("report plot --chart depth t.json -o x.svg").fails(1);
    text += &dir.run("report plot --chart spectrum c.json -o x.jpg").fails(2);
    text += &dir.run("report plot --chart taxa gone.json -o x.svg").fails(1);
    assert_eq!(
        text,
        "error: r_1: these results (classify) have no mapped reads\n\
         error: x.jpg: this output cannot be JPEG: end its name in .svg, .png, .pdf\n\
         error: gone.json: no such file or directory\n"
    );
    assert!(dir.names().iter().all(|name| !name.starts_with("x.")));
}

/// Pages appear only together with the other outputs.
#[test]
fn pages_appear_with_the_outputs() {
    let dir = Dir::new();
    dir.write("p.tsv", "ACGT\tACGT\nACGT\n");
    dir.run("filter -e 1 p.tsv -o d.tsv --report-html p.html --report-data p.json --multiqc p")
        .fails(1);
    assert_eq!(dir.names(), ["p.tsv"]);
    let said = dir.run("filter -e 1 p.tsv -o d.tsv --report-html d.tsv").fails(1);
    assert!(said.contains("two outputs cannot go to the same file"), "{said}");
    let said = dir.run("filter -e 1 p.tsv -o d.tsv --report-data p.tsv").fails(1);
    assert!(said.contains("is an input"), "{said}");
}

//! Guides: several PAMs, tables of off-targets, scores, and pages.

use std::collections::BTreeMap;

use merganser_test_support::Dir;
use merganser_test_support::oracle::complement;
use merganser_test_support::reads::Random;

/// Returns a folder with random bases in `t.fa`, an ambiguous PAM among them, and guides from it in `g.txt`, one of them
/// with fewer letters.
fn world() -> Dir {
    let dir = Dir::new();
    let mut random = Random(5);
    let mut bases = |count| String::from_utf8(random.bases(count)).unwrap();
    let (first, second) = (bases(60_000), bases(20_000));
    let guide = |at: usize| first[at..at + 20].to_owned();
    let planted = format!("{}ARG{}TRG{}CAG", guide(100), guide(700), guide(100));
    dir.write("t.fa", format!(">a\n{first}\n>b\n{second}{planted}\n"));
    dir.write(
        "g.txt",
        format!("one\t{}\ntwo\t{}\nshort\t{}\n", guide(100), guide(700), &first[900..910]),
    );
    dir.write("g20.txt", format!("one\t{}\ntwo\t{}\n", guide(100), guide(700)));
    dir
}

fn text(dir: &Dir, name: &str) -> String {
    String::from_utf8(dir.read(name)).unwrap()
}

/// Returns the table of off-targets that the hits of a file give.
fn expected(hits: &str, guides: &str, pam: (usize, bool), columns: &[usize]) -> String {
    let names: Vec<&str> = guides.lines().map(|line| line.split('\t').next().unwrap()).collect();
    let mut counts: BTreeMap<(usize, String), Vec<u64>> = BTreeMap::new();
    for line in hits.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = names.iter().position(|name| *name == fields[3]).unwrap();
        let mut site = fields[7].as_bytes().to_vec();
        if fields[5] == "-" {
            let turned: Vec<u8> = site
                .iter()
                .rev()
                .map(|letter| match letter {
                    b'R' => b'Y',
                    b'Y' => b'R',
                    base => complement(&[*base])[0],
                })
                .collect();
            site = turned;
        }
        let letters = if pam.1 { &site[..pam.0] } else { &site[site.len() - pam.0..] };
        let letters = String::from_utf8(letters.to_vec()).unwrap();
        let row = counts.entry((number, letters)).or_insert_with(|| vec![0; columns[number]]);
        row[fields[4].parse::<usize>().unwrap()] += 1;
    }
    let most = *columns.iter().max().unwrap();
    let mut table = "pattern\tpam".to_owned();
    (0..most).for_each(|edits| table += &format!("\tedits_{edits}"));
    table += "\ttotal\n";
    for ((number, pam), row) in counts {
        table += &format!("{}\t{pam}", names[number]);
        for edits in 0..most {
            table += &row.get(edits).map_or("\tNA".to_owned(), |count| format!("\t{count}"));
        }
        table += &format!("\t{}\n", row.iter().sum::<u64>());
    }
    table
}

#[test]
fn off_targets_are_those_of_the_hits() {
    let dir = world();
    for (options, pam, columns) in [
        ("--pam NGG -e 40% --hamming", (3, false), [9, 9, 5]),
        ("--pam NGG,NAG -e 30%", (3, false), [7, 7, 4]),
        ("--pam TTTV --pam-first -e 40% --hamming --strand reverse", (4, true), [9, 9, 5]),
        ("--pam TTN,CTA --pam-first -e 2", (3, true), [3, 3, 3]),
    ] {
        let run = format!("search -q --guides g.txt {options} t.fa -o h.tsv --off-targets o.tsv");
        dir.run(&run).ok();
        let (hits, table) = (text(&dir, "h.tsv"), text(&dir, "o.tsv"));
        assert!(hits.lines().count() > 3, "{options}: {hits}");
        assert_eq!(table, expected(&hits, &text(&dir, "g.txt"), pam, &columns), "{options}");
        // Neither threads nor the format of the hits change it.
        let run =
            format!("search -q --guides g.txt {options} t.fa -o h.bam --off-targets o.tsv -t 4");
        dir.run(&run).ok();
        assert_eq!(text(&dir, "o.tsv"), table, "{options}");
    }
}

#[test]
fn a_site_matches_if_a_pam_does() {
    let dir = world();
    let hits = |pam: &str| {
        let run = format!("search -q --guides g.txt --pam {pam} -e 5 --hamming t.fa");
        let mut lines: Vec<String> =
            dir.run(&run).ok().lines().skip(1).map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let mut both = [hits("AGG"), hits("CAG")].concat();
    both.sort_unstable();
    assert!(both.len() > 4, "{both:?}");
    assert_eq!(hits("AGG,CAG"), both);
    // The union of the letters alone would also match CGG and AAG.
    assert!(hits("MRG").len() > both.len());
    let error = dir.run("search --guides g.txt --pam NGG,NG -e 1 t.fa").stderr;
    assert!(error.contains("give PAMs of the same length, e.g. NGG,NAG"), "{error}");
    // Guides that include the PAM, all of them or one of the usual length.
    for (guides, warns) in [
        ("a\tACGTTGCAACGTTGCAACGTTGG\n", true),
        ("a\tACGTTGCAACGTTGCAATGG\nb\tCCGTTGCAACGTTGCAACGG\nc\tGCGTTGCAACGTTGCAAAGG\n", true),
        ("a\tACGTTGCAACGTTGCAATGG\n", false),
        ("a\tACGTTGCAACGTTGCAACGTTGG\nb\tACGTTGCAACGTTGCAACGTTGA\n", false),
    ] {
        dir.write("own.txt", guides);
        let said = dir.run("search --guides own.txt --pam NGG -e 1 t.fa -o own.tsv").stderr;
        assert_eq!(said.contains("all patterns end with the PAM NGG"), warns, "{said}");
    }
    // SAM has the common letters.
    let sam =
        dir.run("search -q --guides g.txt --pam AGG,CAG -e 5 --hamming t.fa --format sam").ok();
    let forward = sam.lines().find(|line| line.contains("\t0\t") && line.starts_with("one"));
    assert!(forward.is_some_and(|line| line.contains("MRG\t*")), "{sam}");
}

#[test]
fn scores_are_the_last_column() {
    let dir = Dir::new();
    // Examples of CRISPOR (crispor.py, calcCfdScore): guides, sites and scores.
    let sites = [
        ("GGGGGGGGGGGGGGGGGGGG", "GGGGGGGGGGGGGGGGGAAAGGG", "0.463599"),
        ("ATGGTCGGACTCCCTGCCAG", "ATGGTGGGACTCCCTGCCAGAGG", "0.500000"),
        ("ATGGTCGGACTCCCTGCCAG", "ATGATCCAAATCCCTGCCAGAGG", "0.536250"),
        ("ATGTGGAGATTGCCACCTAC", "ATCTGGAGATTGCCACCTACAGG", "0.384615"),
    ];
    let turned = String::from_utf8(complement(sites[3].1.as_bytes())).unwrap();
    let texts = [sites[0].1, sites[1].1, sites[2].1, &turned];
    let records = texts.iter().enumerate().map(|(at, text)| format!(">s{at}\n{text}\n"));
    dir.write("t.fa", records.collect::<String>());
    dir.write("g.txt", format!("{}\n{}\n{}\n", sites[0].0, sites[1].0, sites[3].0));
    let ran = dir.run("search -q --guides g.txt --pam NGG -e 4 --hamming --score cfd t.fa").ok();
    let mut lines = ran.lines();
    assert_eq!(lines.next().unwrap().split('\t').next_back(), Some("cfd"));
    let found: Vec<[&str; 3]> = lines
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|fields| [fields[0], fields[3], fields[8]])
        .collect();
    let wanted = |at: usize| [["s0", "s1", "s2", "s3"][at], sites[at].0, sites[at].2];
    for at in 0..4 {
        assert!(found.contains(&wanted(at)), "{at}: {found:?}");
    }
    for (options, problem) in [
        ("--pam NGG -e 4 --hamming --format bed", "--score is a column of TSV"),
        ("--pam GG --pam-first -e 4 --hamming", "--score cfd requires --hamming and a --pam"),
        ("--pam G -e 4 --hamming", "--score cfd requires --hamming and a --pam"),
    ] {
        let error =
            dir.run(&format!("search -q --guides g.txt {options} --score cfd t.fa")).fails(2);
        assert!(error.contains(problem), "{error}");
    }
    let error = dir.run("search -q -p ACGT --pam NGG -e 1 --hamming --score cfd t.fa").fails(1);
    assert!(
        error.contains("pattern ACGT: the score cfd is defined for guides of 20 letters"),
        "{error}"
    );
}

#[test]
fn pages_have_the_counts() {
    let dir = world();
    dir.run(
        "search -q --guides g.txt --pam NGG -e 30% --hamming t.fa -o h.tsv --counts c.tsv \
         --report-data d.json --report-html p.html --multiqc m --sample-name x",
    )
    .ok();
    let data: serde_json::Value = serde_json::from_str(&text(&dir, "d.json")).unwrap();
    let search = &data["search"];
    assert_eq!((&data["sample"], &search["texts"]), (&"x".into(), &2.into()));
    let counts = text(&dir, "c.tsv");
    let mut sums = [0; 7];
    for (line, pattern) in counts.lines().skip(1).zip(search["patterns"].as_array().unwrap()) {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!((&pattern["n"], &pattern["l"]), (&fields[0].into(), &fields[1].into()));
        let hits = fields[2..9].iter().map_while(|field| field.parse::<u64>().ok());
        let hits: Vec<u64> = hits.collect();
        hits.iter().zip(&mut sums).for_each(|(hits, sum)| *sum += hits);
        assert_eq!(pattern["h"], serde_json::to_value(&hits).unwrap());
    }
    let rows: Vec<(usize, u64)> = sums.into_iter().enumerate().collect();
    assert_eq!(search["edits"], serde_json::to_value(&rows).unwrap());
    assert!(text(&dir, "p.html").contains("\"search\":{\"texts\":2"));
    let names = dir.names();
    for name in ["m.merganser_search_stats_mqc.json", "m.merganser_pattern_hits_mqc.json"] {
        assert!(names.iter().any(|other| other == name), "{names:?}");
    }
    dir.run("report html d.json -o q.html").ok();
    assert!(text(&dir, "q.html") == text(&dir, "p.html"));
}

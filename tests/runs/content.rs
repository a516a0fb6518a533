//! Untrusted content of files: it never becomes a path, another row of a table, another field of a header, a version
//! or a taxon.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};

use serde_json::{Value, json};

use merganser_test_support::reads::Random;
use merganser_test_support::tools::{by_chance, shell};
use merganser_test_support::{Dir, mend, root, two_species};

/// Returns a directory with reads, their table, and an assembly.
fn assembled() -> Dir {
    let dir = Dir::new();
    let mut random = Random(3);
    let genomes = two_species::write_genomes(&dir, 3000, &mut random);
    two_species::write_pairs(&dir, &genomes, 200, &mut random);
    dir.run("count -q -k 21 --min-count 1 -o t.mgk 1.fq").ok();
    dir
}

/// Returns all files below a folder.
fn files(dir: &Dir) -> BTreeSet<String> {
    let (mut all, mut folders) = (BTreeSet::new(), vec![dir.root().to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    all.insert(path.strip_prefix(dir.root()).unwrap().display().to_string());
                }
            }
        }
    }
    all
}

/// Changes the header of a range of `kmers qv` or of a matrix; `mend` corrects the checksum.
fn forge(dir: &Dir, name: &str, mend: fn(&mut [u8]), change: impl Fn(&mut Value)) {
    let mut bytes = dir.read(name);
    let end = 16 + u64::from_le_bytes(*bytes[8..].first_chunk().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[16..end]).unwrap();
    change(&mut header);
    let header = header.to_string().into_bytes();
    bytes[8..16].copy_from_slice(&(header.len() as u64).to_le_bytes());
    bytes.splice(16..end, header);
    mend(&mut bytes);
    dir.write(name, bytes);
}

#[test]
fn names_in_ranges_are_no_paths() {
    let dir = assembled();
    for folder in ["o", "victim"] {
        fs::create_dir(dir.path(folder)).unwrap();
    }
    for field in ["reads_name", "assembly"] {
        for name in [
            "/../victim/v",
            "../victim/v",
            "",
            ".",
            "..",
            ".v",
            "v/w",
            "v\0",
            "v\tw",
            "v\u{1b}[31m",
        ] {
            for at in 1..=2 {
                dir.run(&format!("kmers qv -q --range {at}/2 -o {at}.mgq t.mgk g0.fa")).ok();
                forge(&dir, &format!("{at}.mgq"), mend::whole, |header| match field {
                    "assembly" => header["assemblies"][0]["name"] = json!(name),
                    field => header[field] = json!(name),
                });
            }
            let before = files(&dir);
            let said = dir.run("kmers qv -q -o o/s g0.fa --ranges 1.mgq 2.mgq").fails(1);
            assert!(said.starts_with("error: 1.mgq: ") && said.contains("name"), "{said}");
            assert_eq!(files(&dir), before, "{field} {name:?}");
        }
    }
}

/// The parents' part of a range file can have any names and numbers: no name becomes a path, and no sum overflows.
#[test]
fn the_parents_in_ranges_can_be_anything() {
    let dir = assembled();
    dir.run("count -q -k 21 --min-count 1 -o m.mgk 2.fq").ok();
    dir.run("count -q -k 21 --min-count 1 -o f.mgk g0.fa").ok();
    let made = "kmers qv -q --range 1/1 -o q.mgq t.mgk g0.fa --maternal m.mgk --paternal f.mgk";
    let judge = "kmers qv -q --no-plots -o s g0.fa --ranges q.mgq";
    dir.run(made).ok();
    let sound = dir.read("q.mgq");
    dir.run(judge).ok();
    let most = json!([[1, u64::MAX], [2, u64::MAX], [u32::MAX, u64::MAX]]);
    let pairs = json!([[1, 1, u64::MAX], [2, 9, u64::MAX], [u32::MAX, u32::MAX, 1]]);
    for (field, value, works) in [
        ("both", most.clone(), true),
        ("neither", most.clone(), true),
        ("own", json!([most, most]), true),
        ("inherited", json!([pairs, pairs]), false),
        ("names", json!(["../m", "f"]), false),
        ("tables", json!([1, 2, 3]), false),
        ("tables", json!([u64::MAX, u64::MAX, 3, 4]), false),
    ] {
        dir.write("q.mgq", &sound);
        forge(&dir, "q.mgq", mend::whole, |header| header["parents"][field] = value.clone());
        let run = dir.run(judge);
        match works {
            true => assert_eq!(run.code, Some(0), "{field}: {}", run.stderr),
            false => assert!(run.fails(1).starts_with("error: q.mgq: "), "{field}"),
        }
    }
    dir.write("q.mgq", &sound);
    forge(&dir, "q.mgq", mend::whole, |header| header["sources"] = json!([[]]));
    assert!(dir.run(judge).fails(1).contains("it is not a range of an evaluation"));
}

/// Damage in a table within a range file is reported with the name of the range file: the table has only a temporary
/// name.
#[test]
fn damage_within_ranges_is_that_of_the_range() {
    let dir = assembled();
    dir.run("kmers qv -q --range 1/1 -o q.mgq t.mgk g0.fa").ok();
    let sound = dir.read("q.mgq");
    let start = 16 + u64::from_le_bytes(*sound[8..].first_chunk().unwrap()) as usize;
    // The version of the table, its k, and a block.
    for at in [8, 16, 140] {
        let mut bytes = sound.clone();
        bytes[start + at] ^= 4;
        mend::whole(&mut bytes);
        dir.write("q.mgq", bytes);
        let said = dir.run("kmers qv -q -o s g0.fa --ranges q.mgq").fails(1);
        let expected = "its table of g0 is damaged: copy it again, or make this range again";
        assert_eq!(said, format!("error: q.mgq: {expected}\n"));
    }
}

#[test]
fn names_in_matrices_are_no_cells() {
    let dir = assembled();
    for name in ["t\tu", "t\nu", "t\u{1b}[2J"] {
        dir.run("kmers matrix -q --range 1/1 --format dense -o m.mgx t.mgk").ok();
        forge(&dir, "m.mgx", mend::matrix, |header| header["samples"][0] = json!(name));
        let said = dir.run("kmers matrix -q --concat m.mgx -o o.tsv").fails(1);
        let shown = name.escape_default();
        let what = "has control characters, which tables cannot hold: rename it";
        assert_eq!(said, format!("error: m.mgx: the name '{shown}' {what}\n"));
        assert!(!dir.path("o.tsv").exists());
    }
}

/// Range files with path traversal, found in an earlier attack, are refused. Skipped where they are missing.
#[test]
fn ranges_of_the_attack_are_refused() {
    let dir = Dir::new();
    let cases = root().join("../shared/cases/attack");
    let Ok(packed) = fs::read(cases.join("g0.fa.gz")) else { return };
    let mut genome = Vec::new();
    flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut genome).unwrap();
    dir.write("g0.fa", genome);
    for name in ["traversal_1.mgq", "traversal_2.mgq"] {
        dir.write(name, fs::read(cases.join(name)).unwrap());
    }
    fs::create_dir(dir.path("o")).unwrap();
    let before = files(&dir);
    let said =
        dir.run("kmers qv -q -o o/s g0.fa --ranges traversal_1.mgq traversal_2.mgq").fails(1);
    assert_eq!(
        said,
        "error: traversal_1.mgq: the name '../victim/v' has / or NUL in it or . at its beginning, and files are \
         named after it\n"
    );
    assert_eq!(files(&dir), before);
}

#[test]
fn names_in_sheets_are_no_paths() {
    let dir = assembled();
    dir.run("index -q g0.fa -o ref.mgi").ok();
    for name in ["../s", ".s", "s/t", "\"s\tt\"", "s\u{1b}[2J", "\"\""] {
        dir.write("sheet.tsv", format!("a\t1.fq\n{name}\t2.fq\n"));
        let before = dir.names();
        let said = dir.run("map -q -e 3 ref.mgi --sample-sheet sheet.tsv -o {}.bam").fails(1);
        assert!(said.starts_with("error: sheet.tsv: line 2: ") && said.contains("name"), "{said}");
        assert_eq!(dir.names(), before);
    }
}

/// File names with letters that end cells or lines, or that control terminals.
const ODD: [&str; 4] = ["x\ty", "x\ny", "x\u{1b}[2Jy", "x\ry"];

#[test]
fn tables_refuse_names_with_control_characters() {
    let dir = assembled();
    dir.run("count -q -k 21 --min-count 1 -o u.mgk 2.fq").ok();
    dir.write("a.kreport", "100.00\t3\t3\tU\t0\tunclassified\n");
    for odd in ODD {
        let mut names = Vec::new();
        for (plain, end) in [("u.mgk", ".mgk"), ("g0.fa", ".fa"), ("a.kreport", ".kreport")] {
            names.push(format!("{odd}{end}"));
            fs::copy(dir.path(plain), dir.path(&format!("{odd}{end}"))).unwrap();
        }
        let before = dir.names();
        for (words, at) in [
            ("kmers compare -q t.mgk @", 0),
            ("kmers matrix -q t.mgk @ -o o.tsv", 0),
            ("kmers qv -q t.mgk @ -o o", 1),
            ("kmers qv -q @ g0.fa -o o", 0),
            ("report merge -q a.kreport @ -o o.tsv", 2),
            ("report mpa -q a.kreport @ -o o.mpa", 2),
        ] {
            let args = words.split(' ').map(|word| if word == "@" { &names[at] } else { word });
            let said = dir.run_with(args, b"").fails(1);
            assert!(said.contains("has control characters, which tables cannot hold"), "{said}");
            assert_eq!(dir.names(), before, "{words}");
        }
        names.iter().for_each(|name| fs::remove_file(dir.path(name)).unwrap());
    }
}

/// Output for people has one line per file, whatever the file's name.
#[test]
fn lines_for_people_are_escaped() {
    let dir = assembled();
    two_species::write_taxonomy(&dir);
    dir.run("build -q --taxonomy tax -o d.mgdb g0.fa g1.fa").ok();
    for odd in ODD {
        let shown: String = odd.escape_default().collect();
        for (command, plain) in [("kmers verify", "t.mgk"), ("db verify", "d.mgdb")] {
            let name = format!("{odd}-{plain}");
            fs::copy(dir.path(plain), dir.path(&name)).unwrap();
            let args = command.split(' ').chain([&name[..]]);
            assert_eq!(dir.run_with(args, b"").ok(), format!("{shown}-{plain}: ok\n"));
        }
        let index = format!("{odd}.mgi");
        let ran = dir.run_with(["index", "g0.fa", "-o", &index], b"");
        assert!(ran.stderr.contains(&format!("{shown}.mgi: ")), "{}", ran.stderr);
        let ran = dir.run_with(["index", "--verify", &index], b"");
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn read_groups_of_names_keep_their_fields() {
    let dir = assembled();
    for name in ["a\\tSM:evil", "a\tSM:evil", "a\nb", "a\u{1b}[2J"] {
        let file = format!("{name}.fq");
        fs::copy(dir.path("1.fq"), dir.path(&file)).unwrap();
        let args = ["map", "-q", "-e", "3", "g0.fa", &file, "-R", "@RG\\tID:{}\\tPL:x"];
        let sam = dir.run_with(args, b"").ok();
        let groups: Vec<&str> = sam.lines().filter(|line| line.starts_with("@RG")).collect();
        let [group] = &groups[..] else { panic!("{groups:?}") };
        let fields: Vec<&str> = group.split('\t').collect();
        assert_eq!((fields.len(), fields[2]), (3, "PL:x"), "{group}");
        assert!(!group.replace('\t', "").contains(char::is_control), "{group:?}");
        let records = sam.lines().filter(|line| !line.starts_with('@'));
        let id = fields[1].strip_prefix("ID:").unwrap();
        assert!(records.clone().count() > 0);
        records.for_each(|line| assert!(line.ends_with(&format!("RG:Z:{id}")), "{line}"));
        fs::remove_file(dir.path(&file)).unwrap();
    }
    // The command line accepts the two letters \t for a tab.
    let sam = dir
        .run_with(["map", "-q", "-e", "3", "g0.fa", "1.fq", "-R", "@RG\\tID:i\\tSM:s"], b"")
        .ok();
    assert!(sam.contains("@RG\tID:i\tSM:s\n"));
    let said =
        dir.run_with(["map", "-e", "3", "g0.fa", "1.fq", "-R", "@RG\\tID:i\u{1b}"], b"").fails(2);
    assert!(said.contains("give one line, without control characters"), "{said}");
}

#[test]
fn sections_of_multiqc_hold_no_markup() {
    let dir = assembled();
    let name = "<script>alert(1)<!--&\u{2028}";
    let args = [
        "count",
        "-q",
        "-k",
        "21",
        "--format",
        "none",
        "--multiqc",
        "m",
        "--sample-name",
        name,
        "1.fq",
    ];
    dir.run_with(args, b"").ok();
    for file in dir.names().iter().filter(|name| name.ends_with("_mqc.json")) {
        let text = String::from_utf8(dir.read(file)).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let section: Value = serde_json::from_str(&text).unwrap();
        assert!(!section["data"][name].is_null(), "{section}");
    }
}

/// The bytes `yxwx` as a little-endian number.
const VERSION: &str = "2021095545";

/// An unknown version is reported only if the checksum of the header is right: not for a file of 15 bytes, nor for a
/// damaged header.
#[test]
fn versions_are_believed_behind_checksums_alone() {
    let dir = assembled();
    two_species::write_taxonomy(&dir);
    for args in [
        "build -q --taxonomy tax -o x.mgdb g0.fa g1.fa",
        "index -q g0.fa -o x.mgi",
        "deplete index -q g0.fa -o x.mgd",
        "classify -q x.mgdb 1.fq --no-map --partial x.partial",
        "kmers qv -q --range 1/1 -o x.mgq t.mgk g0.fa",
        "kmers matrix -q --range 1/1 -o x.mgx t.mgk",
    ] {
        dir.run(args).ok();
    }
    fs::copy(dir.path("t.mgk"), dir.path("x.mgk")).unwrap();
    type Mend = fn(&mut [u8]);
    let all: [(&str, &str, Option<Mend>); 7] = [
        ("x.mgk", "kmers info x.mgk", Some(mend::table)),
        ("x.mgdb", "db info x.mgdb", Some(mend::database)),
        ("x.mgi", "index --verify x.mgi", Some(mend::index)),
        ("x.mgd", "deplete info x.mgd", Some(mend::minimizers)),
        ("x.partial", "classify join x.partial --report o", Some(mend::whole)),
        ("x.mgq", "kmers qv g0.fa -o o --ranges x.mgq", None),
        ("x.mgx", "kmers matrix --concat x.mgx -o o.tsv", None),
    ];
    for (name, command, mend) in all {
        let sound = dir.read(name);
        let mut other = sound.clone();
        // The position of the version, or of the length of the JSON header.
        other[8..12].copy_from_slice(b"yxwx");
        for bytes in [&other[..15], &other[..sound.len() / 2], &other] {
            dir.write(name, bytes);
            let said = dir.run(command).fails(1);
            assert!(!said.contains(VERSION), "{said}");
            assert!(said.starts_with(&format!("error: {name}: ")), "{said}");
        }
        if let Some(mend) = mend {
            mend(&mut other);
            dir.write(name, other);
            let said = dir.run(command).fails(1);
            assert!(said.contains(&format!("format {VERSION}")), "{said}");
        }
    }
}

#[test]
fn taxa_are_no_zero_and_not_their_own_parents() {
    let dir = assembled();
    two_species::write_taxonomy(&dir);
    for (line, what) in [
        ("0\t|\t1\t|\tgenus\t|\n", "line 6: taxid 0 is not a taxon: remove this line"),
        ("13\t|\t13\t|\tgenus\t|\n", "line 6: taxid 13 is its own parent: correct this line"),
    ] {
        dir.write("tax/nodes.dmp", format!("{}{line}", two_species::NODES));
        let before = dir.names();
        for format in ["-o d.mgdb", "--format kraken2 -o d"] {
            let said = dir.run(&format!("build -q --taxonomy tax g0.fa {format}")).fails(1);
            assert_eq!(said, format!("error: tax/nodes.dmp: {what}\n"));
        }
        dir.write("truth", "a\t11\n");
        let said = dir.run("eval --taxonomy tax truth truth").fails(1);
        assert_eq!(said, format!("error: tax/nodes.dmp: {what}\n"));
        fs::remove_file(dir.path("truth")).unwrap();
        assert_eq!(dir.names(), before);
    }
}

/// Maps reads in two shards, joins these, and also maps them in one run.
fn sharded(sort: &str) -> Dir {
    let dir = assembled();
    for (name, shard) in [("1", "--shard 1/2"), ("2", "--shard 2/2"), ("whole", "")] {
        dir.run(&format!("map -q -e 3 {sort} {shard} g0.fa 1.fq -o {name}.bam")).ok();
    }
    dir.run("map join -q 1.bam 2.bam -o joined.bam").ok();
    assert!(dir.read("joined.bam") == dir.read("whole.bam"));
    fs::remove_file(dir.path("joined.bam")).unwrap();
    dir
}

/// Compresses texts as BGZF; each text begins a block.
fn bgzf(texts: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    for block in texts.iter().flat_map(|text| text.chunks(0xff00)).chain([&[][..]]) {
        let mut deflate =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        deflate.write_all(block).unwrap();
        let data = deflate.finish().unwrap();
        all.extend([31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, b'B', b'C', 2, 0]);
        all.extend((data.len() as u16 + 25).to_le_bytes());
        all.extend(data);
        all.extend(crc32fast::hash(block).to_le_bytes());
        all.extend((block.len() as u32).to_le_bytes());
    }
    all
}

#[test]
fn shards_that_lost_records_are_refused() {
    for sort in ["", "--sort"] {
        let dir = sharded(sort);
        // The first shard has all reads: they are fewer than a batch.
        let sound = dir.read("1.bam");
        let mut text = Vec::new();
        flate2::read::MultiGzDecoder::new(&sound[..]).read_to_end(&mut text).unwrap();
        let number = |at: usize| u32::from_le_bytes(*text[at..].first_chunk().unwrap()) as usize;
        let mut at = 8 + number(4);
        let contigs = number(at);
        at += 4;
        for _ in 0..contigs {
            at += 8 + number(at);
        }
        let (head, records) = text.split_at(at);
        let (mut count, mut next) = (0, at);
        while next < text.len() {
            count += 1;
            next += 4 + number(next);
        }
        let first = 4 + number(at);
        let [one, rest] = [&records[..first], &records[first..]];
        let has = |found: usize| format!("has {found} records, and {count} were written to it");
        let other = "does not have the bytes that were written to it".to_owned();
        for (what, kept) in [
            (has(0), vec![head]),
            (has(count - 1), vec![head, rest]),
            (has(count + 1), vec![head, one, records]),
            (other, vec![head, rest, one]),
        ] {
            dir.write("1.bam", bgzf(&kept));
            let said = dir.run("map join 1.bam 2.bam -o o.bam").fails(1);
            assert!(said.starts_with(&format!("error: 1.bam: {what}")), "{said}");
            assert!(!dir.path("o.bam").exists() && !dir.path("o.bam.bai").exists());
        }
        dir.write("1.bam", &sound);
        if by_chance("samtools") {
            shell(dir.root(), "samtools quickcheck 1.bam 2.bam && samtools view -c 1.bam");
            shell(dir.root(), "samtools view --no-PG -b -F 4 1.bam >f.bam");
            let said = dir.run("map join f.bam 2.bam -o o.bam").fails(1);
            assert!(said.contains("give it as map --shard wrote it"), "{said}");
        }
    }
}

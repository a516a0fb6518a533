//! Results are the same for any number of threads, storage, memory, number of bins and minimizer rule.

use merganser_test_support::{Dir, small_reads};

/// Returns the table in each format and the histogram.
fn outputs(dir: &Dir, options: &str) -> Vec<(&'static str, Vec<u8>)> {
    let [one, two] = small_reads().map(|path| path.display().to_string());
    for format in ["mgk", "kmc", "tsv"] {
        dir.run(&format!(
            "count {options} --format {format} -o out.{format} --histogram hist {one} {two} -q"
        ))
        .ok();
    }
    ["out.mgk", "out.kmc.kmc_pre", "out.kmc.kmc_suf", "out.tsv", "hist"]
        .map(|name| (name, dir.read(name)))
        .to_vec()
}

fn all_same(k: usize, variants: impl IntoIterator<Item = String>) {
    let dir = Dir::new();
    let expected = outputs(&dir, &format!("-k {k}"));
    assert!(expected.iter().all(|(_, bytes)| !bytes.is_empty()));
    for variant in variants {
        let found = outputs(&dir, &format!("-k {k} {variant}"));
        for ((name, expected), (_, found)) in expected.iter().zip(&found) {
            assert!(expected == found, "{name} differs with -k {k} {variant}");
        }
    }
}

#[test]
fn any_threads_storage_and_memory() {
    let mut variants = Vec::new();
    for threads in [1, 2, 3, 8] {
        for storage in ["auto", "ram", "disk"] {
            for memory in ["1G", "12G"] {
                variants.push(format!("--threads {threads} --storage {storage} --memory {memory}"));
            }
        }
    }
    all_same(31, variants);
}

#[test]
fn any_rule_and_bins() {
    for k in [21, 55] {
        let mut variants = Vec::new();
        for rule in ["gkc", "kmc2", "minimizer", "hash"] {
            for bins in ["auto", "1", "7", "300"] {
                variants.push(format!("--signature {rule} --bins {bins} --threads 2"));
            }
            variants.push(format!("--signature {rule} --minimizer-len 6 --storage disk"));
        }
        all_same(k, variants);
    }
}

#[test]
fn little_memory() {
    all_same(28, ["--threads 2 --memory 200M".into(), "--threads 1 --memory 150M".into()]);
}

#[test]
fn every_simd_level() {
    let dir = Dir::new();
    let [one, _] = small_reads();
    let count = |level: &str| {
        let output = merganser_test_support::program()
            .env("MERGANSER_SIMD", level)
            .current_dir(dir.root())
            .args(["count", "-k", "31", "--format", "tsv", "-o", "-"])
            .arg(&one)
            .output()
            .unwrap();
        assert!(output.status.success());
        output.stdout
    };
    let expected = count("portable");
    assert!(!expected.is_empty());
    // A level that this machine lacks is its best one.
    assert!(count("neon") == expected);
    assert!(count("avx2") == expected);
    assert!(count("avx512") == expected);
}

/// Counts do not depend on the order of the inputs.
#[test]
fn any_order_of_inputs() {
    let dir = Dir::new();
    let [one, two] = small_reads().map(|path| path.display().to_string());
    dir.run(&format!("count -k 31 -o a.mgk {one} {two}")).ok();
    dir.run(&format!("count -k 31 -o b.mgk {two} {one}")).ok();
    assert!(dir.read("a.mgk") == dir.read("b.mgk"));
}

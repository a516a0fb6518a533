//! Runs keep to `--memory`.

mod classify;
mod hostile;
mod repeats;
mod session;
mod spilled;

use merganser_test_support::Dir;
use merganser_test_support::reads::{Random, many};

fn peak(dir: &Dir, options: &str) -> u64 {
    let args = format!("count --threads 2 --min-count 1 -o out.mgk --json - {options} r.fa");
    let json: serde_json::Value = serde_json::from_str(&dir.run(&args).ok()).unwrap();
    json["peak_memory_bytes"].as_u64().unwrap()
}

/// The peak resident size, as the kernel measured it, is within the budget plus a tenth.
#[test]
fn the_peak_stays_within_the_promise() {
    let dir = Dir::new();
    dir.write("r.fa", many(80));
    for (options, megabytes) in [
        ("-k 31 --memory 280M", 280),
        ("-k 55 --memory 200M", 200),
        ("-k 28 --memory 200M --storage disk", 200),
    ] {
        let (peak, promise) = (peak(&dir, options), (megabytes * 11 / 10) << 20);
        assert!(peak <= promise, "{options}: {peak} bytes, more than {promise}");
    }
}

/// The peak is within the budget even if nearly all k-mers have the same first bases, because sorting such a range is
/// divided further.
#[test]
fn the_peak_stays_within_the_promise_if_kmers_begin_alike() {
    let dir = Dir::new();
    let mut random = Random(3);
    let mut text = Vec::new();
    for _ in 0..1_500_000 {
        text.extend_from_slice(b">\nAAAAAA");
        text.extend(random.bases(25));
        text.push(b'\n');
    }
    dir.write("r.fa", text);
    let table = |options: &str| (peak(&dir, &format!("-k 31 {options}")), dir.read("out.mgk"));
    let (_, expected) = table("--memory 2G");
    let (peak, found) = table("--memory 80M --tmp-dir .");
    assert!(found == expected);
    assert!(peak <= 88 << 20, "{peak} bytes");
}

/// The peak is within the budget for input tables in any format whose k-mers all begin with the same twenty bases.
#[test]
fn tables_of_kmers_that_begin_alike_take_no_more() {
    let dir = Dir::new();
    let text = |numbers: std::ops::Range<u32>| {
        let letter = |bits: u32| b"ACGT"[(bits & 3) as usize];
        let mut text = Vec::new();
        for number in numbers {
            // All 11-mers in a scrambled order.
            let end = number.wrapping_mul(2_654_435_761) & 0x3f_ffff;
            text.extend_from_slice(b"AAAAAAAAAAAAAAAAAAAA");
            text.extend((0..11).rev().map(|place| letter(end >> (2 * place))));
            text.extend_from_slice(b"\t1\n");
        }
        text
    };
    dir.write("a.tsv", text(0..600_000));
    dir.write("b.tsv", text(300_000..900_000));
    for name in ["a", "b"] {
        dir.run(&format!("kmers convert -q -o {name}.mgk {name}.tsv")).ok();
        dir.run(&format!("kmers convert -q --format kmc -o {name} {name}.tsv")).ok();
    }
    let union = |tables: &str| {
        let args = format!("kmers union -q --threads 2 --memory 60M --json - -o u.mgk {tables}");
        let json: serde_json::Value = serde_json::from_str(&dir.run(&args).ok()).unwrap();
        assert_eq!(json["results"]["kmers"], 900_000);
        let peak = json["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= 66 << 20, "{tables}: {peak} bytes");
        dir.read("u.mgk")
    };
    let expected = union("a.mgk b.mgk");
    assert_eq!(dir.run("kmers verify u.mgk").ok(), "u.mgk: ok\n");
    assert!(union("a b") == expected);
    assert!(union("a.tsv b.tsv --tmp-dir .") == expected);
}

//! `index` and `map` on real or emulated GPUs have the same bytes as on the CPU. Skipped with a message without a
//! GPU, or a failure with `MERGANSER_REQUIRE_GPU=1`.

use crate::map::{Read, contigs, fasta, fastq, reads};
use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

/// Returns a directory with a reference, its index, and single reads and pairs of it, some with unknown letters.
fn prepared() -> Dir {
    let dir = Dir::new();
    let mut random = Random(21);
    let contigs = contigs(&mut random);
    dir.write("ref.fa", fasta(&contigs));
    let mut singles = reads(&mut random, &contigs, 60, 6);
    singles[3].1[5] = b'N';
    singles.push(("long".into(), contigs[0][..contigs[0].len().min(1200)].to_vec()));
    singles.push(("short".into(), contigs[0][20..40].to_vec()));
    dir.write("reads.fq", fastq(&singles));
    let (mut first, mut second): (Vec<Read>, Vec<Read>) = (Vec::new(), Vec::new());
    for number in 0..30 {
        let contig = &contigs[random.below(contigs.len())];
        let from = random.below(contig.len().saturating_sub(300) + 1);
        let fragment = &contig[from..contig.len().min(from + 300)];
        let mate = merganser_test_support::oracles::map::naive::reverse_complement(fragment);
        let len = 80.min(fragment.len());
        first.push((format!("p{number}"), fragment[..len].to_vec()));
        second.push((format!("p{number}"), mate[..len].to_vec()));
    }
    dir.write("1.fq", fastq(&first));
    dir.write("2.fq", fastq(&second));
    dir.run("index ref.fa -o ref.mgi -q --device cpu").ok();
    dir
}

/// Whether this build can use a GPU of this machine.
fn usable(dir: &Dir) -> bool {
    let usable = dir.run("map ref.mgi reads.fq -e 2 -o - -q --device cuda").code == Some(0);
    if !usable {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no GPU");
        eprintln!("skipped: this machine has no GPU");
    }
    usable
}

/// Returns the outputs of a run and the results in its summary.
fn mapped(dir: &Dir, args: &str) -> ([Vec<u8>; 2], serde_json::Value) {
    dir.run(&format!("map {args} -o out.sam --unmapped un.fq --json json -q")).ok();
    let mut summary: serde_json::Value = serde_json::from_slice(&dir.read("json")).unwrap();
    let on_gpu = summary["results"]["gpu_reads"].as_u64().unwrap() > 0;
    assert_eq!(on_gpu, summary["machine"]["device"] != "cpu", "{args}");
    summary["results"]["gpu_reads"].take();
    if args.contains("--best") || args.contains("--preset variants") {
        // The CPU stops early, whereas a device examines all candidates.
        for key in ["candidates", "rejected", "verified", "reads_without_seeds"] {
            summary["results"][key].take();
        }
    }
    ([dir.read("out.sam"), dir.read("un.fq")], summary["results"].take())
}

#[test]
fn map_writes_the_same_on_cuda() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    for options in [
        "-e 0 reads.fq",
        "-e 3 --filter gatekeeper reads.fq",
        "-e 4 --filter snake --best-strata reads.fq",
        "-e 5 --eqx reads.fq",
        "-e 6% --filter none --strand forward reads.fq",
        "-e 9 --strand reverse --max-hits 3 reads.fq",
        "-e 3 --hamming --best reads.fq",
        "-e 2 --crop 60 --no-unmapped reads.fq",
        "-e 4 1.fq -2 2.fq --max-insert 400",
        "-e 5 1.fq -2 2.fq --max-insert 400 --best",
        "-e 7 1.fq -2 2.fq --max-insert 350 --best-strata",
        "-e 7 --best reads.fq",
        "-e 5 --best --xa 4 reads.fq",
        "-e 6 1.fq -2 2.fq --max-insert 400 --best --xa 4",
        "-e 3 1.fq -2 2.fq --max-insert 350 --rescue 12% --clip",
        "-e 2 1.fq -2 2.fq --max-insert 400 --best --rescue 9 --clip --xa 4",
        "-1 1.fq -2 2.fq --preset variants",
        "-e 2 reads.fq --clip",
        "-e 5 reads.fq --echoes",
        "-e 20 reads.fq",
    ] {
        let expected = mapped(&dir, &format!("ref.mgi {options} --device cpu"));
        for device in ["cuda --threads 3", "cuda:0,0", "cuda --gpu-memory 50M --threads 1"] {
            let found = mapped(&dir, &format!("ref.mgi {options} --device {device}"));
            assert!(found == expected, "{options} {device}: {} and {}", found.1, expected.1);
        }
    }
    for options in ["--n-mode match", "--circular all", "--circular all --best"] {
        let args = format!("ref.fa reads.fq -e 3 {options} --device");
        let expected = mapped(&dir, &format!("{args} cpu"));
        assert!(mapped(&dir, &format!("{args} cuda")) == expected, "{options}");
    }
}

#[test]
fn index_writes_the_same_on_cuda() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    for options in ["", "--gpu-memory 20M", "--threads 1"] {
        dir.run(&format!("index ref.fa -o gpu.mgi -q --device cuda {options}")).ok();
        assert!(dir.read("gpu.mgi") == dir.read("ref.mgi"), "{options}");
    }
}

#[test]
fn a_small_cuda_device_is_refused() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    let said = dir.run("map ref.mgi reads.fq -e 2 --device cuda:0 --gpu-memory 1M").fails(1);
    assert!(said.contains("cuda:0 has") && said.contains("--gpu-memory"), "{said}");
    let said = dir.run("index ref.fa -o x.mgi --device cuda:0 --gpu-memory 100K").fails(1);
    assert!(said.contains("for building this index and at least"), "{said}");
    let said = dir.run("map ref.mgi reads.fq -e 2 --device cuda:9").fails(1);
    assert!(said.contains("cuda:9"), "{said}");
}

//! `classify` on real or emulated GPUs has the same bytes as on the CPU. Skipped with a message without a GPU, or a
//! failure with `MERGANSER_REQUIRE_GPU=1`.

use merganser_test_forms::{bgzf_block, stored_bgzf_block};
use merganser_test_support::gpus::two_devices;
use merganser_test_support::reads::{Random, Record, fasta};
use merganser_test_support::two_species::write_taxonomy;
use merganser_test_support::{Dir, program};

/// Returns a directory with strains of two species, databases of each preset in one part and in several, 40 pairs
/// and long reads.
fn prepared() -> Dir {
    let dir = Dir::new();
    write_taxonomy(&dir);
    let mut random = Random(6);
    let mut genomes = vec![random.bases(12_000)];
    for _ in 1..6 {
        let mut genome = genomes[0].clone();
        (0..400).for_each(|_| genome[random.below(12_000)] = b"ACGTN"[random.below(5)]);
        genomes.push(genome);
    }
    for (number, genome) in genomes.iter().enumerate() {
        let text = String::from_utf8(fasta(&[Record::from(&genome[..])], 80, "\n")).unwrap();
        let header = format!(">g{number}|kraken:taxid|{}", 11 + number % 2);
        dir.write(&format!("g{number}.fa"), text.replacen(">sequence0", &header, 1));
    }
    let piece = |random: &mut Random, bases: usize| {
        let start = random.below(12_000 - bases);
        String::from_utf8_lossy(&genomes[random.below(6)][start..start + bases]).into_owned()
    };
    let mut text = [String::new(), String::new()];
    for read in 0..40 {
        for text in &mut text {
            let bases = [100, 151, 250, 7][random.below(4)];
            *text += &format!(">r{read}\n{}\n", piece(&mut random, bases));
        }
    }
    let long: String = (0..2).map(|n| format!(">l{n}\n{}\n", piece(&mut random, 5000))).collect();
    dir.write("1.fa", &text[0]);
    dir.write("2.fa", &text[1]);
    dir.write("long.fa", long + ">none\n\n>n\nNNNNNNNNNNNNNNNNNNNNNNNNNNN\n");
    let genomes = "g0.fa g1.fa g2.fa g3.fa g4.fa g5.fa";
    dir.run(&format!("build --taxonomy tax -o s1 {genomes}")).ok();
    dir.run(&format!("build --taxonomy tax --parts 3 -o s3 {genomes}")).ok();
    dir.run(&format!("build --taxonomy tax --preset metacache -o m1 {genomes}")).ok();
    dir.run(&format!("build --taxonomy tax --preset metacache --parts 3 -o m3 {genomes}")).ok();
    dir
}

/// Whether this build can use a GPU of this machine.
fn usable(dir: &Dir) -> bool {
    let args = ["classify", "m1", "--device", "cuda", "-q", "g0.fa"];
    let tried = program().current_dir(dir.root()).args(args).output();
    let usable = tried.unwrap().status.success();
    if !usable {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no GPU");
        eprintln!("skipped: this machine has no GPU");
    }
    usable
}

#[test]
fn classify_writes_the_same_on_cuda() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    let classify = |options: &str| {
        let outputs = "--report report --report-bases bases --segments-out segments";
        let lines = dir.run(&format!("classify {options} {outputs} -q")).ok();
        (lines, ["report", "bases", "segments"].map(|name| dir.read(name)))
    };
    let reads = "-1 1.fa -2 2.fa long.fa";
    let two = format!("--device {} --threads 3", two_devices());
    for (databases, options) in [
        (["s1", "s3"], ""),
        (["s1", "s3"], "--min-fraction 0.6"),
        (["m1", "m3"], ""),
        (["m1", "m3"], "--lowest species --max-cand 9"),
    ] {
        let expected = classify(&format!("{} {reads} {options} --device cpu", databases[0]));
        assert_eq!(expected.0.lines().count(), 44);
        for (database, device) in [
            (databases[0], "--device cuda:0"),
            (databases[1], two.as_str()),
            (databases[1], "--device cuda:0 --gpu-memory 4M"),
        ] {
            let found = classify(&format!("{database} {reads} {options} {device}"));
            assert!(found == expected, "{database} {options} {device} differs");
        }
    }
    for database in ["s3", "m1"] {
        let partial = |device: &str| {
            let options = format!("--no-map --report-minimizer-data --partial p --device {device}");
            dir.run(&format!("classify {database} {reads} {options} -q")).ok();
            dir.read("p")
        };
        assert!(partial("cpu") == partial("cuda:0"), "{database}");
    }
    // The length of a pipe is unknown: auto uses the GPU, unless its memory is too small.
    let expected = dir.run("classify m1 1.fa -q --device cpu").ok();
    for options in ["", " --gpu-memory 1M"] {
        let args = format!("classify m1 - -q --device auto{options} --json json");
        assert!(dir.run_with(args.split(' '), &dir.read("1.fa")).ok() == expected, "{options}");
        let json: serde_json::Value = serde_json::from_slice(&dir.read("json")).unwrap();
        let device = json["machine"]["device"].as_str().unwrap().to_owned();
        assert_eq!(device == "cpu", !options.is_empty(), "{device}");
    }
    let on_the_fly =
        "classify --references g0.fa --references g1.fa --taxonomy tax --preset metacache 1.fa -q";
    let expected = dir.run(&format!("{on_the_fly} --device cpu")).ok();
    assert!(dir.run(&format!("{on_the_fly} --device cuda:0")).ok() == expected);
    let args = "classify m1 1.fa --device cuda:0,0 --gpu-memory 100M -o out --json json";
    dir.run(args).ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("json")).unwrap();
    assert_eq!(json["machine"]["device"], "cuda:0,cuda:0");
    assert_eq!(json["machine"]["gpus"].as_array().unwrap().len(), 2);
    assert_eq!(json["machine"]["gpu_memory"], 100 << 20);
    assert_eq!(json["results"]["parts_on_host"], 0);
    assert_eq!(json["results"]["reads_on_host"], 0);
    let device = &json["device_seconds"];
    let seconds = |stage: &str| device[stage].as_f64().unwrap();
    assert!(seconds("upload") > 0.0 && seconds("kernels") > 0.0 && seconds("download") > 0.0);
    assert!(seconds("busy") >= seconds("kernels") && device["batches"].as_u64().unwrap() > 0);
    assert!(json["thread_seconds"]["parsing"].as_f64().unwrap() > 0.0);
}

/// Large BGZF files are inflated on the device ahead of the reader, in pairs and in each kind of database.
#[test]
fn a_device_inflates_for_the_reader() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    dir.run("build --format kraken2 --taxonomy tax -o k2 g0.fa g1.fa g2.fa").ok();
    // Few reads with long comments.
    let comment = "comment ".repeat(4000);
    let mates = ["1", "2"].map(|mate| {
        let text = String::from_utf8(dir.read(&format!("{mate}.fa"))).unwrap().repeat(14);
        let text = text.replace('\n', &format!(" {comment}\n"));
        let lines: Vec<&str> = text.lines().collect();
        // Sequences have no comments.
        let lines = lines.iter().map(|line| match line.strip_prefix('>') {
            Some(_) => line,
            None => line.split(' ').next().unwrap_or_default(),
        });
        let text = lines.collect::<Vec<_>>().join("\n") + "\n";
        let blocks = text.as_bytes().chunks(60_000).flat_map(stored_bgzf_block);
        dir.write(&format!("{mate}.fa.gz"), blocks.chain(bgzf_block(b"")).collect::<Vec<u8>>());
        format!("{mate}.fa.gz")
    });
    let [first, second] = mates;
    for database in ["m1", "k2"] {
        let classify = |device: &str| {
            let args =
                format!("classify {database} -1 {first} -2 {second} -q --memory 6G --threads 2");
            let ran = program()
                .current_dir(dir.root())
                // An emulated device has less by default.
                .env("MERGANSER_EMULATED_MEMORY", (10u64 << 30).to_string())
                .args(format!("{args} --device {device} --json json").split(' '))
                .output()
                .unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            ran.stdout
        };
        assert!(classify("cuda:0") == classify("cpu"), "{database}");
        classify("cuda:0");
        let json: serde_json::Value = serde_json::from_slice(&dir.read("json")).unwrap();
        assert!(json["machine"]["inflated_bytes"].as_u64().unwrap() > 30 << 20, "{json}");
    }
}

/// Small batches, so that each thread has several of them on the devices.
#[test]
fn many_batches_come_back_in_order() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    let text = String::from_utf8(dir.read("1.fa")).unwrap();
    let many: String = (0..20).map(|copy| text.replace(">r", &format!(">c{copy}r"))).collect();
    dir.write("many.fa", &many);
    dir.write("mates.fa", &many);
    let queryids = "-q --format metacache --queryids";
    for options in ["-U many.fa", "-1 many.fa -2 mates.fa"] {
        let run = |device: &str| {
            dir.run(&format!("classify m1 {options} {queryids} --threads 3 --device {device}")).ok()
        };
        let expected = run("cpu");
        for device in ["cuda:0 --gpu-memory 5M", "cuda:0,0 --gpu-memory 6M"] {
            assert!(run(device) == expected, "{options} {device}");
        }
    }
    // The first error in the input is reported, whichever batch returns first.
    dir.write("bad.fa", many.replacen(">c19r3", ">d19r3", 1));
    let run = dir.run("classify m1 -1 many.fa -2 bad.fa -q --device cuda:0 --gpu-memory 5M -o x");
    let message = run.fails(1);
    assert!(message.contains("record 764 is c19r3") && !dir.path("x").exists(), "{message}");
}

/// Several databases are the parts of one, on one device, on two, and in turns.
#[test]
fn several_databases_are_queried_on_cuda() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    let sketches = "--preset metacache --sketch 64 --stride 20";
    let build = |name: &str, genomes: &str| {
        dir.run(&format!("build --taxonomy tax {sketches} -o {name} {genomes}")).ok();
    };
    build("all", "g0.fa g1.fa g2.fa g3.fa g4.fa g5.fa");
    for number in 0..6 {
        build(&format!("d{number}"), &format!("g{number}.fa"));
    }
    let several = "d0 d1 d2 d3 d4 d5";
    let near = "--max-cand 5 --lowest species --near 12 --confidence 0.1";
    for options in ["", "--max-cand 5 --lowest sequence", near] {
        let classify = |databases: &str, device: &str| {
            let args = format!("classify {databases} -1 1.fa -2 2.fa long.fa -q {options}");
            let args = format!("{args} --report report --json json {device}");
            let lines = dir.run(&args).ok();
            let json: serde_json::Value = serde_json::from_slice(&dir.read("json")).unwrap();
            ((lines, dir.read("report")), json["results"]["rounds"].as_u64())
        };
        let (expected, _) = classify("all", "--device cpu");
        assert!(classify(several, "--device cpu").0 == expected, "{options}");
        for (device, rounds) in [
            ("--device cuda:0", 1..=1),
            ("--device cuda:0,0 --threads 3", 1..=1),
            ("--device cuda:0 --gpu-memory 4200K", 2..=12),
        ] {
            let (found, needed) = classify(several, device);
            assert!(found == expected, "{options} {device}");
            assert!(rounds.contains(&needed.unwrap()), "{options} {device}: {needed:?}");
        }
    }
}

/// A database larger than the device's memory is queried part by part.
#[test]
fn parts_take_turns_on_cuda() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    let options = "--preset metacache --sketch 64 --stride 20";
    dir.run(&format!(
        "build --taxonomy tax {options} --parts 6 -o m6 g0.fa g1.fa g2.fa g3.fa g4.fa g5.fa"
    ))
    .ok();
    // With --near, every part is loaded twice; with --lowest sequence, no taxon has several targets, and once is
    // enough.
    let none = "--max-cand 5 --lowest sequence --near 12";
    let near = "--max-cand 5 --lowest species --near 12 --cov-percentile 30 --confidence 0.1";
    let mut rounds = Vec::new();
    for options in ["", none, near] {
        let classify = |device: &str| {
            let args = format!("classify m6 -1 1.fa -2 2.fa long.fa -q {options} --json json");
            let lines = dir.run(&format!("{args} {device} --report report")).ok();
            let json: serde_json::Value = serde_json::from_slice(&dir.read("json")).unwrap();
            ((lines, dir.read("report")), json["results"].clone())
        };
        let (expected, _) = classify("--device cpu");
        for device in ["cuda:0 --gpu-memory 4200K", "cuda:0,0 --gpu-memory 4200K --threads 3"] {
            let (found, results) = classify(&format!("--device {device}"));
            assert!(found == expected, "{options} {device}");
            rounds.push(results["rounds"].as_u64().unwrap());
            assert_eq!(results["parts_on_host"], 0, "{results}");
        }
    }
    let (once, twice) = rounds.split_at(4);
    assert!(once.iter().all(|&rounds| rounds > 1), "{rounds:?}");
    assert!(twice.iter().zip(once).all(|(twice, once)| twice > once), "{rounds:?}");
}

#[test]
fn build_writes_the_same_on_cuda() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    let genomes = "g0.fa g1.fa g2.fa g3.fa g4.fa g5.fa";
    let two = format!("{} --threads 3", two_devices());
    for (database, options, device) in [
        ("s1", "", "cuda:0"),
        ("s3", "--parts 3", two.as_str()),
        ("m1", "--preset metacache", "cuda:0,0 --gpu-memory 60M"),
    ] {
        dir.run(&format!(
            "build --taxonomy tax {options} -o db --device {device} --json json {genomes}"
        ))
        .ok();
        assert!(dir.read("db") == dir.read(database), "{options} {device}");
        let json: serde_json::Value = serde_json::from_slice(&dir.read("json")).unwrap();
        let named = device.split(' ').next().unwrap().replace(',', ",cuda:");
        assert_eq!(json["machine"]["device"], named);
    }
    let small = "build --taxonomy tax -o none --device cuda:0 --gpu-memory 3M g0.fa";
    let message = dir.run(small).fails(1);
    assert!(message.contains("raise --gpu-memory") && !dir.path("none").exists(), "{message}");
}

#[test]
fn failures_of_classify_on_cuda_are_one_line_and_leave_nothing() {
    let dir = prepared();
    if !usable(&dir) {
        return;
    }
    let refused = |options: &str, says: &str, failing: &str| {
        let output = program()
            .current_dir(dir.root())
            .env("MERGANSER_TEST_FAIL_GPU_ALLOCATION", failing)
            .args(format!("classify m1 1.fa -q {options} -o out --report report").split(' '))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(says) && text.lines().count() == 1, "{text}");
        assert!(!dir.path("out").exists() && !dir.path("report").exists());
    };
    refused("--device cuda:7", "no device cuda:7", "0");
    refused("--device cuda:0 --gpu-memory 1M", "raise --gpu-memory", "0");
    for nth in ["1", "3", "5", "8", "12", "15"] {
        refused("--device cuda:0 --threads 1", "memory", nth);
    }
}

//! References with masked regions of low complexity.

use super::world::{GENOMES, World};
use merganser_test_support::tools::{installed, shell};

/// Returns a world whose genomes have repeats, also in lower case.
fn repeats() -> World {
    let world = World::new();
    for ((name, taxid), letters) in GENOMES.iter().zip(&world.genomes) {
        let mut text = format!(">{name}.1|kraken:taxid|{taxid} of a test\n");
        for (number, letters) in letters.chunks(500).enumerate() {
            let unit = &letters[..1 + number % 6];
            let unit = String::from_utf8_lossy(unit).into_owned();
            let repeat = if number % 2 == 0 { unit } else { unit.to_ascii_lowercase() };
            text += &format!("{}\n{}\n", String::from_utf8_lossy(letters), repeat.repeat(30));
        }
        world.dir.write(&format!("genomes/{name}.fa"), text);
    }
    world
}

#[test]
fn databases_know_that_they_are_masked() {
    let world = repeats();
    let dir = &world.dir;
    let masked = "--masked low-complexity --taxonomy tax";
    for (name, options) in [("plain", "--taxonomy tax"), ("masked", masked)] {
        dir.run(&format!("build -q {options} -o {name}.mgdb genomes")).ok();
    }
    let info = |name: &str| -> serde_json::Value {
        let text = dir.run(&format!("db info --json {name}.mgdb")).ok();
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(info("plain")["masked"], "none");
    assert_eq!(info("masked")["masked"], "low-complexity");
    let [plain, fewer] = ["plain", "masked"].map(|name| info(name)["locations"].as_u64().unwrap());
    assert!(fewer < plain, "{fewer} {plain}");
    // Added genomes are masked like the others, without an option.
    dir.run(&format!("build -q {masked} -o grown.mgdb genomes/a.fa genomes/b.fa")).ok();
    dir.run("db add -q --taxonomy tax grown.mgdb genomes/c.fa").ok();
    assert!(dir.read("grown.mgdb") == dir.read("masked.mgdb"));
    // References of a single run can be masked, too.
    let [one, two] = world.pairs(200, 1);
    dir.write("1.fq", one);
    dir.write("2.fq", two);
    let lines = dir.run("classify masked.mgdb -q -1 1.fq -2 2.fq").ok();
    let run = format!("classify --references genomes {masked} -q -1 1.fq -2 2.fq");
    assert_eq!(dir.run(&run).ok(), lines);
    let refused = dir.run("classify masked.mgdb --masked none 1.fq").fails(2);
    assert!(refused.contains("require --references"), "{refused}");
}

#[test]
fn the_default_is_that_of_kraken2_build() {
    let world = repeats();
    let dir = &world.dir;
    let to = "build --format kraken2 -q --taxonomy tax";
    for (folder, options) in
        [("default", ""), ("masked", "--masked low-complexity"), ("plain", "--masked none")]
    {
        dir.run(&format!("{to} {options} -o {folder} genomes")).ok();
    }
    let table = |folder: &str| dir.read(&format!("{folder}/hash.k2d"));
    assert!(table("default") == table("masked") && table("default") != table("plain"));
    if !installed(&["kraken2-build", "dustmasker"]) {
        return;
    }
    let root = dir.root();
    shell(root, "mkdir -p k2/taxonomy && cp tax/*.dmp k2/taxonomy");
    shell(root, "touch k2/taxonomy/x.accession2taxid");
    for (name, _) in GENOMES {
        shell(root, &format!("kraken2-build --db k2 --add-to-library genomes/{name}.fa 2>&1"));
    }
    shell(root, "kraken2-build --db k2 --build --threads 1 2>&1");
    // kraken2-build may read the genomes in another order, so that cells can be in other positions.
    let cells = |folder: &str| {
        let mut cells: Vec<[u8; 4]> =
            table(folder)[32..].chunks_exact(4).map(|cell| cell.try_into().unwrap()).collect();
        cells.sort_unstable();
        cells
    };
    assert!(cells("k2") == cells("default"));
    assert!(cells("k2") != cells("plain"));
}

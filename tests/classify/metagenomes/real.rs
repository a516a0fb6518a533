//! Real reads, genomes and taxonomies.

use super::reports::{abundance, check_cami, kreport};
use merganser_test_support::{Dir, shared, small_reads};

/// Reads of Streptococcus pneumoniae (ERR1438863) and human reads, with 62 genomes.
#[test]
fn real_reads_on_real_genomes() {
    let Some(genomes) = shared("genomes") else { return };
    let (Some(taxonomy), Some(human)) =
        (shared("taxonomy"), shared("reads/human_chr22_HiSeqX_R1.fastq.gz"))
    else {
        return;
    };
    let dir = Dir::new();
    let names = std::fs::read_dir(&genomes).unwrap().map(|entry| entry.unwrap().path());
    let mut chosen: Vec<String> = names.map(|path| path.display().to_string()).collect();
    // Streptococci, some others and all viruses: a quick but realistic selection.
    let size = |path: &String| std::fs::metadata(path).unwrap().len();
    chosen.retain(|path| {
        path.ends_with(".fna.gz") && (path.contains("Streptococcus") || size(path) < 300_000)
    });
    chosen.sort();
    dir.write("list", chosen.join("\n"));
    let map = genomes.join("seqid2taxid.map");
    let run = format!(
        "build -q --taxonomy {} --map {} --strict -o refs.mgdb @list",
        taxonomy.display(),
        map.display()
    );
    dir.run(&run).ok();
    let [one, two] = small_reads().map(|path| path.display().to_string());
    dir.write("sheet", format!("pneumonia\t{one}\t{two}\nhuman\t{}\n", human.display()));
    dir.run(
        "classify refs.mgdb --sample-sheet sheet -q -o {}.out --report {}.kreport \
         --abundance {}.tsv --cami {}.cami --krona {}.krona --mpa {}.mpa",
    )
    .ok();
    let read = |name: &str| String::from_utf8(dir.read(name)).unwrap();
    let rows = kreport(&read("pneumonia.kreport"));
    let of = |taxid: u32| rows.iter().find(|row| row.taxid == taxid).map_or(0, |row| row.clade);
    let total = 2500;
    assert!(of(1) > total * 85 / 100, "{}", read("pneumonia.kreport"));
    assert!(of(1313) * 100 > of(1) * 90 && of(1301) * 1000 > of(1) * 990);
    let species = &abundance(&read("pneumonia.tsv"))["species"];
    assert_eq!(species[0].0, 1313);
    check_cami(&read("pneumonia.cami"), "pneumonia");
    // Human reads match none of these genomes.
    let human = kreport(&read("human.kreport"));
    assert!(human[0].code == "U" && human[0].percent > 99.0, "{human:?}");
}

//! Databases in memory (`--references`).

use super::world::World;

/// Results have the same bytes as with a database on disk, and no database is written.
#[test]
fn on_the_fly() {
    let world = World::built();
    let dir = &world.dir;
    let out =
        "-1 1.fq -2 2.fq -q --report r --abundance a --hits-per-ref h --report-minimizer-data";
    for preset in ["sensitive", "metacache"] {
        dir.run(&format!("build -q --taxonomy tax --preset {preset} -o refs.mgdb genomes")).ok();
        let lines = dir.run(&format!("classify refs.mgdb {out}")).ok();
        let files = ["r", "a", "h"].map(|name| dir.read(name));
        let names = dir.names();
        for references in [
            "--references genomes",
            "--references genomes/a.fa --references \
                           genomes/b.fa --references genomes/c.fa",
        ] {
            let run = format!("classify {references} --taxonomy tax --preset {preset} {out}");
            assert_eq!(dir.run(&run).ok(), lines);
            assert!(["r", "a", "h"].map(|name| dir.read(name)) == files);
            assert_eq!(dir.names(), names);
        }
    }
    let missing = dir.run("classify --references genomes --taxonomy tax gone.fq -o x").fails(1);
    assert!(missing.contains("gone.fq: cannot open"), "{missing}");
    dir.run("classify --references genomes 1.fq").code.filter(|&code| code == 2).unwrap();
    let built = dir.run("classify refs.mgdb 1.fq --preset metacache").fails(2);
    assert!(built.contains("require --references"), "{built}");
    dir.write("d.fa", ">d\nACGTACGTTGCATGCATGCATTGCATGACTGACTAGCATGCATCGACTAGCTAGC\n");
    let strict =
        "classify --references genomes --references d.fa --taxonomy tax --strict 1.fq -o x";
    assert!(dir.run(strict).fails(1).contains("1 sequences have no taxon (--strict), first d"));
    let loose = dir.run(
        "classify --references genomes --references d.fa --taxonomy tax 1.fq -o x --unmapped list",
    );
    assert_eq!(loose.warnings().len(), 1);
    assert_eq!(dir.read("list"), b"d\tno taxid found\n");
}

//! Pipes as inputs that need random access or are read several times.

use crate::streams::bash;
use merganser_test_support::tools::shell;

/// Pipes are refused with a message that asks for a file; they are not reported as damaged.
#[test]
fn pipes_are_named_where_files_are_needed() {
    let dir = merganser_test_support::two_species::prepared();
    dir.run("count -q -k 21 --min-count 1 -o t.mgk 1.fq").ok();
    dir.run("count -q -k 21 --min-count 1 -o u.mgk 2.fq").ok();
    dir.run("kmers convert -q --format kmc -o k t.mgk").ok();
    dir.run("kmers convert -q --format kff -o t.kff t.mgk").ok();
    dir.run("kmers convert -q -o t.jf t.mgk").ok();
    dir.run("index -q g0.fa -o ref.mgi").ok();
    dir.run("deplete index -q g0.fa -o host.mgd").ok();
    dir.run("deplete index -q g0.fa -o host.idx").ok();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g0.fa").ok();
    dir.run("classify -q refs.mgdb 1.fq --no-map --partial p.partial").ok();
    dir.run("kmers matrix -q --range 1/1 --format dense t.mgk u.mgk -o m.mgx").ok();
    dir.run("map -q -e 3 ref.mgi 1.fq --sort --shard 1/1 -o m.bam").ok();
    let before = dir.names();
    for (line, kind) in [
        ("kmers dump <(cat t.mgk)", "a table of k-mers (.mgk)"),
        ("kmers dump - < <(cat t.mgk)", "a table of k-mers (.mgk)"),
        ("kmers union -o o.mgk t.mgk <(cat t.kff)", "a KFF file"),
        ("kmers dump <(cat t.jf)", "a Jellyfish database"),
        ("kmers info <(cat k.kmc_suf)", "a KMC database"),
        ("kmers filter-reads <(cat t.mgk) 1.fq", "a table of k-mers (.mgk)"),
        ("count -k 21 -o o.mgk <(cat t.mgk)", "a table of k-mers (.mgk)"),
        ("classify <(cat refs.mgdb) 1.fq", "this"),
        ("db info <(cat refs.mgdb)", "this"),
        ("db add <(cat refs.mgdb) g1.fa -t tax -o o.mgdb", "this"),
        ("map -e 3 <(cat ref.mgi) 1.fq", "an index of merganser index (.mgi)"),
        ("index --verify <(cat ref.mgi)", "this"),
        ("deplete filter <(cat host.mgd) 1.fq", "this"),
        ("deplete info <(cat host.idx)", "this"),
        ("report merge <(cat p.partial)", "partial results of merganser classify"),
        ("kmers matrix --concat <(cat m.mgx) m.mgx -o o.tsv", "this"),
        ("map join <(cat m.bam) m.bam -o o.bam", "this"),
        ("count -k 21 -o o.mgk --reference <(cat g0.fa) 1.fq", "this"),
    ] {
        let (code, message) = bash(&dir, &format!("$M {line} {}", quiet(line)));
        assert_eq!(code, Some(1), "{line}: {message}");
        let what = if line.contains(" - ") { "stream" } else { "pipe" };
        let end = format!(
            "it is a {what}, and {kind} must be read from a file: write it to a file first, and name that\n"
        );
        assert!(message.starts_with("error: ") && message.ends_with(&end), "{line}: {message}");
        assert_eq!(dir.names(), before, "{line}");
    }
    // Files of a set that are pipes are refused, too, without waiting for a writer.
    for (member, line) in [
        ("k.kmc_pre", "kmers dump k"),
        ("k.kmc_suf", "kmers dump k"),
        ("k2/hash.k2d", "classify k2 1.fq"),
        ("k2/taxo.k2d", "classify k2 1.fq"),
        ("k2/opts.k2d", "classify k2 1.fq"),
    ] {
        shell(dir.root(), &format!("mv {member} kept; mkfifo {member}"));
        let message = dir.run(&format!("{line} -q")).fails(1);
        assert!(
            message.starts_with(&format!("error: {member}: it is a pipe, and this ")),
            "{message}"
        );
        shell(dir.root(), &format!("mv kept {member}"));
    }
}

fn quiet(line: &str) -> &str {
    if line.contains(" info ") || line.contains("report merge") { "" } else { "-q" }
}

//! Arbitrary text as lineage tables of GTDB: an error, or a valid tree. Two tables give the same as one with the
//! lines of both.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};
use merganser_taxonomy::Dump;

fuzz_target!(|input: &[u8]| {
    let folder = folder();
    let [both, one, other] = ["both.tsv", "1.tsv", "2.tsv"].map(|name| folder.path().join(name));
    write(&both, input);
    let dump = Dump::read(&both);
    if let Ok(dump) = &dump {
        let tree = &dump.taxonomy;
        for node in 0..tree.len() as u32 {
            assert_eq!(tree.lineage(node).last(), Some(tree.root()));
            assert_eq!(tree.node(tree.taxid(node)), Some(node));
            assert!(node == 0 || tree.parent(node) < node);
            assert_eq!(tree.lca(node, tree.parent(node)), tree.parent(node));
        }
    }
    // The start of a file determines its kind, so half of a text may seem to be something else.
    let Some(middle) = input.iter().position(|&byte| byte == b'\n') else { return };
    let (first, rest) = input.split_at(middle + 1);
    write(&one, first);
    write(&other, rest);
    let parts = Dump::read(&[one, other][..]);
    if let (Ok(dump), Ok(parts)) = (&dump, &parts) {
        let taxa = |dump: &Dump| {
            let tree = &dump.taxonomy;
            let taxon = |node| (tree.taxid(node), tree.parent(node), tree.name(node).to_owned());
            (0..tree.len() as u32).map(taxon).collect::<Vec<_>>()
        };
        assert_eq!(taxa(dump), taxa(parts));
    }
});

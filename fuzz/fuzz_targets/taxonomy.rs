//! Arbitrary text as nodes.dmp and names.dmp: an error, or a valid tree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};
use merganser_taxonomy::Dump;

fuzz_target!(|input: &[u8]| {
    let folder = folder();
    let at = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
    let (nodes, rest) = input.split_at(at);
    let names = rest.get(1..).unwrap_or_default();
    write(folder.path().join("nodes.dmp"), nodes);
    write(folder.path().join("names.dmp"), names);
    write(folder.path().join("merged.dmp"), names);
    let Ok(dump) = Dump::read(folder.path()) else { return };
    let tree = &dump.taxonomy;
    for node in 0..tree.len() as u32 {
        assert_eq!(tree.lineage(node).last(), Some(tree.root()));
        assert_eq!(tree.node(tree.taxid(node)), Some(node));
        assert!(node == 0 || tree.parent(node) < node);
        assert_eq!(tree.lca(node, tree.parent(node)), tree.parent(node));
    }
});

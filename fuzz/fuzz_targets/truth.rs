//! Arbitrary texts as true taxa and as results: rejected, or scores within their bounds.
#![no_main]

use std::collections::HashMap;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::databases::write_taxonomy;
use merganser_fuzz::files::{folder, write};
use merganser_taxonomy::Dump;
use merganser_taxreport::eval::{Names, Truth};

fn tree() -> &'static Dump {
    static TREE: OnceLock<Dump> = OnceLock::new();
    TREE.get_or_init(|| {
        let folder = folder();
        write_taxonomy(folder.path());
        Dump::read(folder.path()).expect("a taxonomy")
    })
}

fuzz_target!(|input: &[u8]| {
    let Some(at) = input.iter().position(|&byte| byte == 0) else { return };
    let folder = folder();
    let [truth, results] = ["truth", "results"].map(|name| folder.path().join(name));
    write(&truth, &input[..at]);
    write(&results, &input[at + 1..]);
    let taxonomy = &tree().taxonomy;
    let Ok(truth) = Truth::read(&truth, taxonomy) else { return };
    let sequences = HashMap::from([("a".to_owned(), 3), ("b".to_owned(), 4)]);
    let names = Names { taxonomy, sequences: &sequences };
    let Ok(found) = truth.evaluate(&results, &names) else { return };
    assert!(found.classified + found.missing <= found.reads, "{found:?}");
    for rank in &found.ranks {
        assert!(rank.right <= rank.assigned && rank.right <= rank.with_rank, "{rank:?}");
        assert!((0.0..=2.0001).contains(&rank.deviation), "{rank:?}");
        assert!((0.0..=1.0001).contains(&rank.false_share), "{rank:?}");
    }
});

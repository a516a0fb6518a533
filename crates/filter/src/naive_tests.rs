//! Checks the literal definitions on cases worked out by hand.

use crate::naive::{self, distance, letters_match};
use crate::{Align, Config, Method, NMode, REJECTED, Threshold};

fn plain(a: u8, b: u8) -> bool {
    letters_match(NMode::Mismatch, a, b)
}

#[test]
fn distances_known_by_heart() {
    for (a, b, global, semi) in [
        ("", "", 0, 0),
        ("ACGT", "", 4, 4),
        ("", "ACGT", 4, 0),
        ("ACGT", "ACGT", 0, 0),
        ("ACGT", "TTACGTTT", 4, 0),
        ("GATTACA", "GCATGCA", 3, 3),
        ("ANA", "ANA", 1, 1),
    ] {
        let of = |align| distance(a.as_bytes(), b.as_bytes(), align, plain);
        assert_eq!(of(Align::Global), global, "{a} {b}");
        assert_eq!(of(Align::SemiGlobal), semi, "{a} {b}");
    }
}

/// A pair that the published rule rejects: it counts some groups twice, the corrected rule counts each once.
#[test]
fn the_pair_that_the_published_rule_rejects() {
    let read = "ACCTAGATAAGCCCATCTATCGACGATTGTCAATCCCTGAGATGACTCGTCCCCTGTGAAAGTCCAGCTCAGGAGCTCCACCCCGGCAAACTAGTG";
    let segment = format!("{}CAAGCTGAGG", &read[..read.len() - 10]);
    let (read, segment) = (read.as_bytes(), segment.as_bytes());
    let decide = |method| {
        let config = Config { method, ..Config::new(Threshold::Edits(3)) };
        naive::decide(&config, read, segment)
    };
    assert_eq!(distance(read, segment, Align::Global, plain), 3);
    assert_eq!(decide(Method::Exact), 3);
    assert_ne!(decide(Method::GateKeeper), REJECTED);
    assert_ne!(decide(Method::Snake), REJECTED);
    assert_eq!(decide(Method::GateKeeperOriginal), REJECTED);
}

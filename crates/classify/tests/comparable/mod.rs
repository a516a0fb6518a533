//! Candidates that can be compared.

use merganser_classify::Candidate;

/// The candidates of a read without the nodes of those that others are as good as.
pub(crate) fn comparable(found: &[Candidate]) -> Vec<Candidate> {
    let alone = found.get(1).is_none_or(|second| second.hits < found[0].hits);
    let one = |(at, &one): (usize, &Candidate)| match at {
        0 if alone => one,
        _ => Candidate { nodes: [0; 2], ..one },
    };
    found.iter().enumerate().map(one).collect()
}

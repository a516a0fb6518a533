//! Makes candidates comparable.

use merganser_classify::Candidate;

/// Clears the nodes of all candidates of a read that do not have more hits than all others, as they may be
/// incomplete.
pub(crate) fn comparable(found: &[Candidate]) -> Vec<Candidate> {
    let alone = found.get(1).is_none_or(|second| second.hits < found[0].hits);
    let one = |(at, &one): (usize, &Candidate)| match at {
        0 if alone => one,
        _ => Candidate { nodes: [0; 2], ..one },
    };
    found.iter().enumerate().map(one).collect()
}
